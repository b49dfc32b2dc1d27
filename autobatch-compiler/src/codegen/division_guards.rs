//! Divisions in lane code whose operands no lane has for itself: LLVM 22 must not make vectors around them.
//!
//! A division that only some lanes make, because it stands under a condition, LLVM makes lane by lane. Where it sees that the operands are
//! the same for all lanes it then keeps the first lane's only (the loop vectoriser's narrowing to single scalars), and
//! if that lane does not divide, what the others get is junk, or an index into nowhere. Safe code is compiled wrongly in just the same way
//! (rustc 1.95, `-C target-cpu=znver4`):
//!
//! ```text
//! for l in 0..64 { if on[l] && !xs.is_empty() { out[l] ^= xs[8 % xs.len()] } }
//! ```
//!
//! So their divisors go through the runtime's `same_for_all`: a loop with it has no vectors, unless the numbers are floats, of which no
//! division has to be left out. The compiler does not see into other functions, which LLVM inlines. What they yield matters only where it is an
//! index: in values LLVM keeps every lane's. Slices that they are given may be indexed there. Both go through `same_for_all` too.

use proc_macro2::TokenStream;
use syn::{Expr, parse_quote};

use crate::codegen::value_origins::Origins;
use crate::syntax::mentions::{self, bare, name};
use crate::syntax::walk::{self, AtMut, Code};

/// The guards of a function's divisions.
pub(super) struct Divisions<'e> {
    pub(super) origins: &'e Origins<'e>,
    pub(super) rt: &'e TokenStream,
}

impl Divisions<'_> {
    pub(super) fn rewrite(&self, code: &mut impl Code) {
        let rt = self.rt;
        walk::map_after(code, |at| {
            let AtMut::Expr(expr) = at else { return };
            if let Some(divisor) = self.same(expr) {
                *divisor = parse_quote!(#rt::same_for_all(#divisor));
            }
            if let Some(index) = self.index(expr) {
                *index = parse_quote!(#rt::same_for_all(#index));
            }
            for slice in self.slices(expr) {
                *slice = parse_quote!(#rt::same_slice_for_all(#slice));
            }
        });
    }

    /// The divisor of a division that may be the same for all lanes.
    fn same<'x>(&self, expr: &'x mut Expr) -> Option<&'x mut Expr> {
        let (dividend, divisor) = match expr {
            Expr::Binary(e) if mentions::divides(&e.op) => (&e.left, &mut *e.right),
            Expr::MethodCall(e) if divides(&e.method.to_string()) => (&e.receiver, e.args.first_mut()?),
            _ => return None,
        };
        (!is_literal(divisor) && !self.origins.varies(dividend) && !self.origins.varies(divisor))
            .then_some(divisor)
    }

    /// The index into something that all lanes share, if another function may have divided for it.
    fn index<'x>(&self, expr: &'x mut Expr) -> Option<&'x mut Expr> {
        let (of, index) = match expr {
            Expr::Index(e) => (&e.expr, &mut *e.index),
            Expr::MethodCall(e) if e.method == "get" || e.method == "get_mut" => {
                (&e.receiver, e.args.first_mut()?)
            }
            _ => return None,
        };
        let made = self.origins.mentioned(index);
        let others = made.others || !made.names.is_disjoint(&self.origins.others);
        (others && !self.origins.varies(of) && !self.origins.varies(index)).then_some(index)
    }

    /// The slices, of those that all lanes share, that another function gets with nothing of the lane's own.
    fn slices<'x>(&self, expr: &'x mut Expr) -> Vec<&'x mut Expr> {
        if !self.origins.is_other(expr) || self.origins.varies(expr) {
            return vec![];
        }
        let values: Vec<&mut Expr> = match expr {
            Expr::Call(e) => e.args.iter_mut().collect(),
            Expr::MethodCall(e) => std::iter::once(&mut *e.receiver).chain(&mut e.args).collect(),
            _ => vec![],
        };
        let is_shared = |value: &Expr| match value {
            Expr::Reference(e) => e.mutability.is_none(),
            value => name(value).is_some_and(|name| self.origins.shared.contains(&name)),
        };
        values.into_iter().filter(|value| is_shared(value)).collect()
    }
}

/// Whether a number's method of that name divides by its argument.
pub(super) fn divides(method: &str) -> bool {
    method.split('_').any(|word| matches!(word, "div" | "rem" | "multiple" | "ilog"))
}

/// A literal is not 0, or rustc says so.
fn is_literal(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) => true,
        Expr::Unary(e) => is_literal(&e.expr),
        Expr::Cast(e) => is_literal(&e.expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    fn is_guarded(body: proc_macro2::TokenStream) -> bool {
        let item = quote!(
            fn f(x: u64, on: bool, #[shared] n: u64, xs: &[u64]) -> u64 { if on { #body } else { x } }
        );
        crate::driver::autobatch(quote!(), item).to_string().contains("_for_all")
    }

    #[test]
    fn divisions_of_what_all_lanes_have_are() {
        for body in [
            quote!(if xs.is_empty() { 0 } else { xs[8 % xs.len()] }),
            quote!(if n == 0 { x } else { x + 7 / n }),
            quote!(x + n.checked_rem(n - 1).unwrap_or(3)),
            quote!({
                let mut m = n;
                m %= n;
                x + m
            }),
            quote!(match x {
                0 => 4,
                _ if n == 3 => x,
                y => y + 8 / n,
            }),
        ] {
            assert!(is_guarded(body.clone()), "{body}");
        }
    }

    #[test]
    fn what_other_functions_say_or_get_is() {
        for body in [
            quote!(xs[slot(n, xs.len())]),
            quote!({
                let at = 1 + model::slot(n);
                xs.get(at as usize).copied().unwrap_or(x)
            }),
            quote!(entry(xs, n)),
            quote!(x + xs.cell(n)),
        ] {
            assert!(is_guarded(body.clone()), "{body}");
        }
    }

    #[test]
    fn other_calls_are_not() {
        for body in [
            quote!(xs[slot(x, xs.len())]),
            quote!(x + weight(n)),
            quote!(entry(xs, x)),
            quote!(x + xs[xs.len() - 1]),
            quote!(x + xs.iter().sum::<u64>()),
        ] {
            assert!(!is_guarded(body.clone()), "{body}");
        }
    }

    #[test]
    fn others_are_not() {
        for body in [
            quote!(if n == 0 { x } else { x / n }),
            quote!(if x == 0 { x } else { n / x }),
            quote!(x + n / 10 + n % (2 as u64)),
            quote!(if xs.is_empty() { 0 } else { xs[x as usize % xs.len()] }),
        ] {
            assert!(!is_guarded(body.clone()), "{body}");
        }
    }
}
