//! What patterns bind to references, as values: where nobody can tell.
//!
//! ```text
//! match self { Shape::Ball(r) => p - r, Shape::Plane => q }   ──▶   match *self { Shape::Ball(r) => p - r, Shape::Plane => q }
//! ```
//!
//! A pattern that is no reference binds parts of what a reference leads to as references (the Rust Reference, "Binding modes"). A number is as good
//! where operators, methods of numbers and `*` are all that is done with the variable, and another value that is
//! `Copy` where only its fields and `*` are.
//!
//! **Invariant:** what is done with each variable is the same with the value. rustc checks the types.

use std::collections::BTreeMap;

use syn::{Block, Expr, Ident, Pat, Type, UnOp, parse_quote};

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::resolve::types::Types;
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_float, is_primitive};
use crate::syntax::mentions::{idents, is_truth, is_variable};
use crate::syntax::walk::{self, At, AtMut, Next};

/// Has patterns take parts of what parameters refer to, in place of references to these.
pub(super) fn by_value(function: &mut Function, types: &Types<'_>) {
    let (body, bindings) = (&mut function.body, &function.bindings);
    for param in &function.params {
        let is_lent = match &param.ty {
            Type::Reference(r) => {
                r.mutability.is_none() && !matches!(types.plain(&r.elem), Type::Reference(_))
            }
            _ => false,
        };
        if !is_lent || param.mutable {
            continue;
        }
        let Some(mut bound) = bound(body, &param.ident, &param.ty, types) else { continue };
        // The others name variants.
        bound.retain(|(name, _)| bindings.contains_key(&name.to_string()));
        let is_as_good = |(variable, ty): &(Ident, Option<Type>)| match ty {
            Some(Type::Reference(r)) if is_primitive(&r.elem) => is_used_as_number(body, variable, &r.elem),
            Some(Type::Reference(r)) => {
                is_copy(&r.elem, types.definitions) && is_used_as_place(body, variable)
            }
            _ => false,
        };
        if bound.iter().all(is_as_good) {
            bound.iter().for_each(|(variable, _)| without_stars(body, variable));
            let reference = &param.ident;
            walk::map(&mut *body, |at| match at {
                AtMut::Expr(
                    Expr::Match(syn::ExprMatch { expr, .. }) | Expr::Let(syn::ExprLet { expr, .. }),
                ) if is(expr, reference) => **expr = parse_quote!((*#reference)),
                _ => {}
            });
        }
    }
}

/// The variables that patterns bind of a reference of this type.
fn bound(
    body: &Block,
    reference: &Ident,
    ty: &Type,
    types: &Types<'_>,
) -> Option<Vec<(Ident, Option<Type>)>> {
    let mut scopes = vec![BTreeMap::new()];
    let mut note = |value: &Expr, pat: &Pat| {
        if is(value, reference) {
            types.bind(&mut scopes, pat, Some(ty.clone()));
        }
    };
    walk::each(body, |at| match at {
        At::Expr(Expr::Match(e)) => e.arms.iter().for_each(|arm| note(&e.expr, &arm.pat)),
        At::Expr(Expr::Let(e)) => note(&e.expr, &e.pat),
        _ => {}
    });
    scopes.into_iter().flatten().map(|(name, ty)| Some((syn::parse_str(&name).ok()?, ty))).collect()
}

/// Whether what is done with a reference to a number is the same with the number: operators other than comparisons, methods of numbers, and `*`.
pub(super) fn is_used_as_number(body: &Block, variable: &Ident, ty: &Type) -> bool {
    // References to what is `Ord` have these methods, too, and find them first.
    let of_references = |method: &Ident| ["max", "min", "clamp"].iter().any(|name| method == name);
    let is_float = is_float(ty);
    uses(body, variable, |at| match at {
        Expr::Unary(e) => is(&e.expr, variable),
        Expr::MethodCall(e) => {
            is_pure_method(&e.method) && (is_float || !of_references(&e.method)) && is(&e.receiver, variable)
        }
        Expr::Binary(e) if is_truth(&e.op) => false,
        Expr::Binary(e) => is(&e.left, variable) || is(&e.right, variable),
        _ => false,
    })
}

/// Whether a type is certainly `Copy`.
fn is_copy(ty: &Type, definitions: &Definitions) -> bool {
    match ty {
        Type::Tuple(t) => t.elems.iter().all(|ty| is_copy(ty, definitions)),
        Type::Array(t) => is_copy(&t.elem, definitions),
        ty => is_primitive(ty) || definitions.says_copy(ty),
    }
}

/// Whether nothing is done with a reference but to take what is behind it, or a field of that.
fn is_used_as_place(body: &Block, variable: &Ident) -> bool {
    uses(body, variable, |at| match at {
        Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)) && is(&e.expr, variable),
        Expr::Field(e) => is(&e.base, variable),
        _ => false,
    })
}

/// `*x` is `x`.
pub(super) fn without_stars(body: &mut Block, variable: &Ident) {
    walk::map(body, |at| {
        if let AtMut::Expr(expr) = at
            && let Expr::Unary(e) = &*expr
            && matches!(e.op, UnOp::Deref(_))
            && is(&e.expr, variable)
        {
            *expr = (*e.expr).clone();
            return Next::Past;
        }
        Next::On
    });
}

pub(super) fn is(expr: &Expr, variable: &Ident) -> bool {
    is_variable(expr, &variable.to_string())
}

/// Whether each use of a variable is a part of an expression that fits; of macros nothing is known.
pub(super) fn uses(body: &Block, variable: &Ident, fits: impl Fn(&Expr) -> bool) -> bool {
    let (mut all, mut fitting) = (0usize, 0usize);
    walk::each(body, |at| match at {
        At::Macro(mac) => {
            all += idents(mac.tokens.clone()).iter().filter(|i| *i == variable).count();
        }
        At::Expr(path @ Expr::Path(_)) => all += usize::from(is(path, variable)),
        At::Expr(expr) if fits(expr) => fitting += parts(expr, variable),
        _ => {}
    });
    all == fitting
}

/// How many of an expression's parts are the variable.
fn parts(expr: &Expr, variable: &Ident) -> usize {
    let of = |expr: &Expr| usize::from(is(expr, variable));
    match expr {
        Expr::Unary(e) => of(&e.expr),
        Expr::MethodCall(e) => of(&e.receiver),
        Expr::Binary(e) => of(&e.left) + of(&e.right),
        Expr::Index(e) => of(&e.expr),
        Expr::Field(e) => of(&e.base),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::ir::testing::functions;
    use crate::syntax::mentions::text;

    /// The body of a function of a `&Shape`, with these types beside it.
    fn taken(body: TokenStream) -> String {
        let file: syn::File = parse_quote!(
            #[derive(Clone, Copy)]
            struct Hit {
                t: f64,
            }
            struct Words {
                weight: f64,
            }
            #[derive(Clone, Copy)]
            enum Shape {
                Ball(f64),
                Cells(u32),
                Seen(Hit, (f64, u32)),
                Named(Words),
                Plane,
            }
        );
        let mut definitions = Definitions::default();
        definitions.add(&file.items);
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let mut function = functions(quote!(fn f(s: &Shape, p: f64) -> f64 { #body })).remove(0);
        by_value(&mut function, &types);
        text(&function.body)
    }

    #[test]
    fn what_is_used_as_a_value_is_one() {
        let body = quote!({
            match s {
                Shape::Ball(r) if *r > p => p - r,
                Shape::Cells(n) => f64::from(*n),
                Shape::Seen(hit, pair) => hit.t * pair.0,
                _ => p,
            }
        });
        let by_value = quote!({
            match (*s) {
                Shape::Ball(r) if r > p => p - r,
                Shape::Cells(n) => f64::from(n),
                Shape::Seen(hit, pair) => hit.t * pair.0,
                _ => p,
            }
        });
        assert_eq!(taken(body), text(&quote!({ #by_value })));
        let asked = taken(quote!(if let Shape::Ball(r) = s { *r } else { p }));
        assert_eq!(asked, text(&quote!({ if let Shape::Ball(r) = (*s) { r } else { p } })));
    }

    #[test]
    fn what_may_be_more_than_a_value_stays_a_reference() {
        let bodies = [
            // References are compared, or handed on.
            quote!(match s {
                Shape::Ball(r) if r > &p => p,
                _ => 0.0,
            }),
            quote!(match s {
                Shape::Ball(r) => half(r),
                _ => 0.0,
            }),
            // The smaller reference.
            quote!(match s {
                Shape::Cells(n) => f64::from(*n.min(&3)),
                _ => 0.0,
            }),
            // Nobody knows that it is `Copy`.
            quote!(match s {
                Shape::Named(words) => words.weight,
                _ => 0.0,
            }),
            // A method may take a reference.
            quote!(match s {
                Shape::Seen(hit, _) => hit.weight(),
                _ => 0.0,
            }),
        ];
        for body in bodies {
            assert_eq!(taken(body.clone()), text(&quote!({ #body })));
        }
    }
}
