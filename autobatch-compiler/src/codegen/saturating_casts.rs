//! Floats that become integers in lane code: a conversion that LLVM makes vectors of.
//!
//! ```text
//! (x * 8.0) as usize   ──▶   __rt::saturated::<usize>(x * 8.0)
//! ```
//!
//! What is the same for all lanes stays: there is nothing to gain, and it may have to be a constant.
//!
//! **Invariant:** the integer is that of `as`. Where the operand is no float after all, it is a compile error: such types convert by no `as`.

use proc_macro2::TokenStream;
use syn::{Expr, parse_quote};

use crate::codegen::value_origins::Origins;
use crate::std_models::number_methods::Primitives;
use crate::syntax::walk::{self, AtMut, Code};

/// Rewrites casts in a function's code, which has its variables' names.
pub(super) struct Casts<'e> {
    pub(super) origins: &'e Origins<'e>,
    pub(super) rt: &'e TokenStream,
}

impl Casts<'_> {
    pub(super) fn rewrite(&self, code: &mut impl Code) {
        let rt = self.rt;
        walk::map(code, |at| {
            if let AtMut::Expr(expr) = at
                && let Expr::Cast(cast) = &*expr
                && self.saturates(cast)
            {
                let (float, ty) = (&cast.expr, &cast.ty);
                *expr = parse_quote!(#rt::saturated::<#ty>(#float));
            }
        });
    }

    /// Whether a float of a lane's own becomes an integer for which there are vectors.
    fn saturates(&self, cast: &syn::ExprCast) -> bool {
        let wanted = Primitives::of_type(&cast.ty);
        wanted.is_some_and(|wanted| {
            let is_integer = wanted.are_among(Primitives::INTEGERS) && !wanted.are_among(Primitives::HUGE);
            let of = || self.origins.receivers().number(&cast.expr);
            is_integer
                && self.origins.varies(&cast.expr)
                && of().is_some_and(|of| of.are_among(Primitives::FLOATS))
        })
    }
}
