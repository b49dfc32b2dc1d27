//! Places that certainly are lists of std: parameters, their fields, and constants, by the types that the file has for them.
//!
//! **Invariant:** a place in it may be indexed by a number, whatever its elements are; rustc finds the same, as the types are written.

use std::collections::BTreeSet;

use syn::{Expr, Type};

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::std_models::pure::is_constant;
use crate::syntax::mentions::{bare, behind_references, name, text};
use crate::syntax::walk::{self, At};

/// The places, as they are written.
pub(crate) type Lists = BTreeSet<String>;

/// Those of a function; `own` is what `Self` is.
pub(crate) fn of(function: &Function, own: Option<&Type>, definitions: &Definitions) -> Lists {
    let places = Places { function, own, definitions };
    let mut lists = Lists::new();
    walk::each(&function.body, |at| {
        if let At::Expr(place @ (Expr::Path(_) | Expr::Field(_))) = at
            && places.type_of(place).is_some_and(|ty| definitions.list(&ty).is_some())
        {
            lists.insert(text(place));
        }
    });
    lists
}

struct Places<'a> {
    function: &'a Function,
    own: Option<&'a Type>,
    definitions: &'a Definitions,
}

impl Places<'_> {
    fn type_of(&self, place: &Expr) -> Option<Type> {
        match bare(place) {
            Expr::Field(e) => self.definitions.field(&self.type_of(&e.base)?, &e.member),
            Expr::Path(path) => {
                let variable = name(place)?;
                let param = self.function.params.iter().find(|param| param.ident == variable);
                param.map(|param| self.of_param(&param.ty)).or_else(|| {
                    let stands_beside = is_constant(path) && self.function.sees(path.path.get_ident()?);
                    let constant = self.definitions.constant(path).filter(|_| stands_beside)?;
                    Some(constant.ty.clone())
                })
            }
            _ => None,
        }
    }

    fn of_param(&self, ty: &Type) -> Type {
        let is_own = matches!(behind_references(ty), Type::Path(p) if p.path.is_ident("Self"));
        self.own.filter(|_| is_own).unwrap_or(ty).clone()
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;
    use crate::ir::testing::functions;

    #[test]
    fn lists_are_known_by_what_is_written() {
        let file: syn::File = parse_quote! {
            struct Model { points: Vec<Point>, inner: Inner, own: Own, set: BTreeSet<u8> }
            struct Inner { weights: [f64; 4] }
            struct Own(Vec<f64>);
            const TABLE: [u8; 3] = [1, 2, 3];
            const HIDDEN: [u8; 3] = [1, 2, 3];
        };
        let mut definitions = Definitions::default();
        definitions.add(&file.items);
        definitions.add_constants(&file.items);
        let function = functions(quote! {
            fn f(x: f64, xs: &[f64], model: &Model, inner: &Self) -> f64 {
                const HIDDEN: u8 = 4;
                let own = [x; 4];
                xs[0] + model.points[1].x + model.inner.weights[2] + model.own[3] + TABLE[0] + HIDDEN + OTHER[0] + own[0] + inner.weights[0];
                for s in &model.set { x + s; }
                x
            }
        })
        .remove(0);
        let found: Vec<String> =
            of(&function, Some(&parse_quote!(Inner)), &definitions).into_iter().collect();
        assert_eq!(found, ["TABLE", "inner . weights", "model . inner . weights", "model . points", "xs"]);
    }
}
