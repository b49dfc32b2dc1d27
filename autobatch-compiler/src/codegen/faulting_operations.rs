//! What may fail in lane code that may run again: divisions of integers by variables and remainders of floats, for which floats are divided,
//! and assertions.
//!
//! ```text
//! n / m               ──▶   __rt::vector::divided(n, m, &__fault)
//! n %= m;             ──▶   { let __divisor = m; n = __rt::vector::remainder(n, __divisor, &__fault); }
//! x.rem_euclid(2.5)   ──▶   __rt::vector::rem_euclid(x, 2.5, &__fault)
//! assert!(x > 0.0);   ──▶   __rt::vector::Fault::note(&__fault, !(x > 0.0));
//! ```
//!
//! What panics is noted, as lookups out of bounds are ([`lookups`](super::lookups)), and the tile runs as scalar code.
//!
//! **Invariant:** a tile that stores results has divided as the scalar function does. Where an operand is another type after all, it is a compile
//! error.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::{BinOp, Expr, Lit, parse_quote};

use crate::codegen::lookups::fault;
use crate::codegen::names;
use crate::codegen::value_origins::Origins;
use crate::codegen::wide_division::divisor;
use crate::std_models::number_methods::Primitives;
use crate::std_models::pure::is_assertion;
use crate::syntax::mentions::{bare, name};
use crate::syntax::walk::{self, AtMut, Code};

/// Rewrites such operations in a function's code, which has its variables' names.
pub(super) struct FaultingOperations<'e> {
    pub(super) origins: &'e Origins<'e>,
    pub(super) rt: &'e TokenStream,
    /// Whether divisions gain.
    pub(super) divides: bool,
    /// Whether those of 64 bits do, too.
    pub(super) wide: bool,
}

/// A division as it is written.
struct Division<'x> {
    number: &'x Expr,
    by: &'x Expr,
    function: Ident,
    /// Whether the number is a variable that becomes the result.
    is_stored: bool,
}

impl FaultingOperations<'_> {
    /// Whether there is any.
    pub(super) fn rewrite(&self, code: &mut impl Code) -> bool {
        let (rt, fault, mut any) = (self.rt, fault(), false);
        // From the outside, as what is rewritten has no type that is known.
        walk::map(code, |at| {
            let AtMut::Expr(expr) = at else { return };
            if let Some(condition) = asserted(expr) {
                *expr = parse_quote!(#rt::vector::Fault::note(&#fault, !(#condition)));
                any = true;
                return;
            }
            let Some(Division { number, by, function, is_stored }) = division(expr) else { return };
            if self.divides && self.gains(&function, number, by) && (!is_stored || name(number).is_some()) {
                *expr = match is_stored {
                    // The divisor comes first, as it may change the number.
                    true => {
                        let divisor = names::name("__divisor");
                        parse_quote!({
                            let #divisor = #by;
                            #number = #rt::vector::#function(#number, #divisor, &#fault);
                        })
                    }
                    false => parse_quote!(#rt::vector::#function(#number, #by, &#fault)),
                };
                any = true;
            }
        });
        any
    }

    /// Whether operands are of one lane, and of types that gain.
    fn gains(&self, function: &Ident, number: &Expr, by: &Expr) -> bool {
        let receivers = self.origins.receivers();
        let Some(operands) = receivers.operands(number, by) else { return false };
        let gains = match function.to_string().as_str() {
            // LLVM has products of its own for powers of two.
            "remainder" | "rem_euclid" if operands.are_among(Primitives::FLOATS) => !is_power_of_two(by),
            function => {
                let wide = self.wide && operands.are_among(Primitives::WIDE);
                let is_constant = divisor(by, receivers).is_some() && function != "div_euclid";
                (operands.are_among(Primitives::NARROW) || wide) && !is_constant
            }
        };
        gains && (self.origins.varies(number) || self.origins.varies(by))
    }
}

/// The condition that is looked at, in the place of an assertion.
fn asserted(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if is_assertion(path) => call.args.first(),
            _ => None,
        },
        _ => None,
    }
}

fn division(expr: &Expr) -> Option<Division<'_>> {
    match expr {
        Expr::Binary(e) => {
            let (function, is_stored) = match e.op {
                BinOp::Div(_) => ("divided", false),
                BinOp::Rem(_) => ("remainder", false),
                BinOp::DivAssign(_) => ("divided", true),
                BinOp::RemAssign(_) => ("remainder", true),
                _ => return None,
            };
            Some(Division { number: &e.left, by: &e.right, function: format_ident!("{function}"), is_stored })
        }
        Expr::MethodCall(e) if e.args.len() == 1 => {
            let function = match e.method.to_string().as_str() {
                "wrapping_div" => format_ident!("divided"),
                "wrapping_rem" => format_ident!("remainder"),
                "rem_euclid" | "wrapping_rem_euclid" => format_ident!("rem_euclid"),
                "div_euclid" | "wrapping_div_euclid" => format_ident!("div_euclid"),
                "is_multiple_of" => format_ident!("is_multiple_of"),
                _ => return None,
            };
            Some(Division { number: &e.receiver, by: &e.args[0], function, is_stored: false })
        }
        _ => None,
    }
}

fn is_power_of_two(by: &Expr) -> bool {
    let Expr::Lit(by) = bare(by) else { return false };
    let Lit::Float(by) = &by.lit else { return false };
    let bits = by.base10_parse::<f64>().map(f64::to_bits);
    bits.is_ok_and(|bits| bits.trailing_zeros() >= f64::MANTISSA_DIGITS - 1)
}
