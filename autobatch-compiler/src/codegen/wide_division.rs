//! Divisions of 64-bit integers by constants in lane code: products that LLVM makes vectors of.
//!
//! ```text
//! n % 10            ──▶   __rt::remainder_by::<10, _>(n)
//! n /= BASE;        ──▶   n = __rt::quotient_by::<{ BASE as u64 }, _>(n);
//! n.rem_euclid(7)   ──▶   __rt::rem_euclid_by::<7, _>(n)
//! ```
//!
//! What is the same for all lanes stays: there is nothing to gain.
//!
//! **Invariant:** quotients and remainders are those of the division. Where the operand is no such integer after all, it is a compile error.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{BinOp, Expr, Lit, parse_quote};

use crate::admission::receivers::Receivers;
use crate::codegen::value_origins::Origins;
use crate::std_models::number_methods::Primitives;
use crate::syntax::mentions::{bare, name};
use crate::syntax::walk::{self, AtMut, Code};

/// Rewrites divisions in a function's code, which has its variables' names.
pub(super) struct WideDivisions<'e> {
    pub(super) origins: &'e Origins<'e>,
    pub(super) rt: &'e TokenStream,
}

impl WideDivisions<'_> {
    pub(super) fn rewrite(&self, code: &mut impl Code) {
        // From the outside, as what is rewritten has no type that is known.
        walk::map(code, |at| {
            if let AtMut::Expr(expr) = at
                && let Some(division) = self.division(expr)
            {
                *expr = division;
            }
        });
    }

    fn division(&self, expr: &Expr) -> Option<Expr> {
        let rt = self.rt;
        let (number, by, function, is_stored) = match expr {
            Expr::Binary(e) => {
                let (function, is_stored) = match e.op {
                    BinOp::Div(_) => (quote!(quotient_by), false),
                    BinOp::Rem(_) => (quote!(remainder_by), false),
                    BinOp::DivAssign(_) => (quote!(quotient_by), true),
                    BinOp::RemAssign(_) => (quote!(remainder_by), true),
                    _ => return None,
                };
                (&*e.left, &*e.right, function, is_stored)
            }
            Expr::MethodCall(e) if e.args.len() == 1 => {
                let function = match e.method.to_string().as_str() {
                    "rem_euclid" => quote!(rem_euclid_by),
                    "is_multiple_of" => quote!(is_multiple_of_by),
                    _ => return None,
                };
                (&*e.receiver, &e.args[0], function, false)
            }
            _ => return None,
        };
        let by = divisor(by, self.origins.receivers())?;
        let is_wide = |of: Primitives| of.are_among(Primitives::WIDE);
        let fits = (!is_stored || name(number).is_some())
            && self.origins.varies(number)
            && self.origins.receivers().number(number).is_some_and(is_wide);
        let quotient = quote!(#rt::#function::<#by, _>(#number));
        fits.then(|| if is_stored { parse_quote!(#number = #quotient) } else { parse_quote!(#quotient) })
    }
}

/// A divisor that is known when the code is compiled, as an argument of that kind.
pub(super) fn divisor(by: &Expr, receivers: &Receivers<'_>) -> Option<TokenStream> {
    match bare(by) {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(number) => {
                let number = proc_macro2::Literal::u64_unsuffixed(number.base10_parse().ok()?);
                Some(quote!(#number))
            }
            _ => None,
        },
        Expr::Path(path) if receivers.is_constant(path) => Some(quote!({ #path as u64 })),
        _ => None,
    }
}
