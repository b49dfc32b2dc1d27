//! The shapes of a function's arrays: which of its variables certainly are arrays, or arrays of arrays, and how long.
//!
//! **Invariant:** a shape follows from a type or a literal that is written, so rustc finds the same.

use std::collections::BTreeMap;

use syn::{Expr, Pat, Type, parse_quote};

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::syntax::mentions::{bare, bare_type, behind_references, name, untyped};
use crate::syntax::walk::{self, At};

/// The lengths of an array and of the arrays in it, the outermost first: `[[f64; 4]; 3]` has 3 and 4.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) lengths: Vec<Expr>,
}

/// The shapes of a function's variables, by name.
pub(crate) type Shapes = BTreeMap<String, Shape>;

impl Shape {
    /// Of a type.
    fn of_type(ty: &Type, definitions: &Definitions) -> Option<Shape> {
        // An alias with arguments may have lengths in them.
        let plain = |ty: &Type| match bare_type(ty) {
            Type::Path(p) if p.path.segments.iter().any(|s| !s.arguments.is_none()) => ty.clone(),
            ty => definitions.plain(ty),
        };
        let (mut ty, mut lengths) = (plain(ty), Vec::new());
        while let Type::Array(array) = ty {
            lengths.push(array.len);
            ty = plain(&array.elem);
        }
        (!lengths.is_empty()).then_some(Shape { lengths })
    }

    /// Of a value, given those of variables and the types of places.
    fn of_value(value: &Expr, known: &Shapes, places: &Places<'_>) -> Option<Shape> {
        let (length, element) = match bare(value) {
            Expr::Repeat(e) => ((*e.len).clone(), Some(&*e.expr)),
            Expr::Array(e) => {
                let length = e.elems.len();
                (parse_quote!(#length), e.elems.first())
            }
            // Part of an array, or all of it.
            Expr::Index(e) if !matches!(*e.index, Expr::Range(_)) => {
                let whole = Shape::of_value(&e.expr, known, places)?;
                let lengths = whole.lengths[1..].to_vec();
                return (!lengths.is_empty()).then_some(Shape { lengths });
            }
            Expr::Field(_) => return Shape::of_type(&places.ty(value)?, places.definitions),
            // Arrays have the method themselves.
            Expr::MethodCall(e) if e.method == "map" && e.args.len() == 1 => {
                (known.get(&name(bare(&e.receiver))?)?.lengths[0].clone(), None)
            }
            other => return known.get(&name(other)?).cloned(),
        };
        let inner = element.and_then(|element| Shape::of_value(element, known, places));
        let lengths = std::iter::once(length).chain(inner.into_iter().flat_map(|inner| inner.lengths));
        Some(Shape { lengths: lengths.collect() })
    }
}

/// Where the types of places are found.
struct Places<'a> {
    function: &'a Function,
    definitions: &'a Definitions,
}

impl Places<'_> {
    /// The type of a parameter, or of a field of it.
    fn ty(&self, place: &Expr) -> Option<Type> {
        let ty = match bare(place) {
            Expr::Field(e) => self.definitions.field(&self.ty(&e.base)?, &e.member)?,
            other => {
                let variable = name(other)?;
                let param = self.function.params.iter().find(|param| param.ident == variable)?;
                behind_references(&param.ty).clone()
            }
        };
        (!self.function.hides(&ty)).then_some(ty)
    }
}

/// Those of a function whose bindings have unique names.
pub(crate) fn of(function: &Function, definitions: &Definitions) -> Shapes {
    let (mut shapes, places) = (Shapes::new(), Places { function, definitions });
    for param in &function.params {
        let shape = Shape::of_type(&param.ty, definitions);
        shapes.extend(shape.map(|shape| (param.ident.to_string(), shape)));
    }
    walk::each(&function.body, |at| {
        if let At::Local(local) = at
            && let Pat::Ident(p) = untyped(&local.pat)
        {
            let of_type = match &local.pat {
                Pat::Type(t) => Shape::of_type(&t.ty, definitions),
                _ => None,
            };
            let init = local.init.as_ref();
            let shape = of_type.or_else(|| Shape::of_value(&init?.expr, &shapes, &places));
            shapes.extend(shape.map(|shape| (p.ident.to_string(), shape)));
        }
    });
    shapes
}
