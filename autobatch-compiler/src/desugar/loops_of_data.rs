//! Helpers whose loops run as often as the data say: whether these are better loops of the program, or stay a call.
//!
//! ```text
//! while (x - before).abs() > 1e-13 * x { … }       the program's: rounds of blocks are vectors
//! while bits >= zone { … } bits / n                a call: 64-bit integers are divided
//! loop { … s.ln() … }                              a call, unless under `vector_math`
//! ```
//!
//! Rounds of blocks cost more than those of a call. Only vectors make up for that.
//!
//! **Invariant:** only speed depends on the answer.

use syn::{BinOp, Block, Expr, Ident};

use crate::item::model::Function;
use crate::resolve::resolution::VariableTypes;
use crate::resolve::types::{Scopes, Types};
use crate::resolve::variables;
use crate::std_models::elementary::calls_library;
use crate::std_models::pure::literal;
use crate::std_models::trip_count::SHORT;
use crate::syntax::mentions::{bare, name, text};
use crate::syntax::walk::{self, At, Code};

/// Whether code has some.
pub(super) fn has_any(code: &impl Code) -> bool {
    walk::any(code, |at| matches!(at, At::Expr(Expr::While(_) | Expr::Loop(_))))
}

/// Whether vectors gain: no library is called, no integers are divided that have no vector instruction for it, and there are no arrays that
/// each round would move. The parameters `numbers` are literals.
pub(super) fn gain(helper: &Function, numbers: &[&Ident], types: &Types<'_>, vector_math: bool) -> bool {
    let scopes = variables::types(helper, &VariableTypes::new(), types);
    let operands = Operands { types, scopes: &scopes, numbers };
    (vector_math || !calls_library(&helper.body))
        && !has_long_arrays(&helper.body)
        && !walk::any(&helper.body, |at| matches!(at, At::Expr(e) if operands.are_divided(e)))
}

/// What is known of operands.
struct Operands<'a> {
    types: &'a Types<'a>,
    scopes: &'a Scopes,
    numbers: &'a [&'a Ident],
}

impl Operands<'_> {
    /// Whether an operation is a division, or a remainder, without a vector instruction.
    fn are_divided(&self, e: &Expr) -> bool {
        match e {
            Expr::Binary(e) => match e.op {
                BinOp::Div(_) | BinOp::DivAssign(_) => self.are_integers(&e.left, &e.right),
                BinOp::Rem(_) | BinOp::RemAssign(_) => {
                    self.are_integers(&e.left, &e.right) || self.is_of(&e.left, &["f32", "f64"])
                }
                _ => false,
            },
            Expr::MethodCall(e) => e.method == "rem_euclid" || e.method == "div_euclid",
            _ => false,
        }
    }

    /// Whether they are integers whose quotient is no shift and no product. Only narrow ones have products as wide as that takes.
    fn are_integers(&self, left: &Expr, right: &Expr) -> bool {
        let is_wide = |e: &Expr| self.is_of(e, &["u64", "i64", "usize", "isize", "u128", "i128"]);
        let is_narrow = self.is_of(left, &["u8", "u16", "u32", "i8", "i16", "i32"]);
        let is_shift = literal(bare(right)).is_some_and(u64::is_power_of_two);
        !is_shift && (is_wide(left) || is_wide(right) || is_narrow && !self.is_number(right))
    }

    fn is_number(&self, e: &Expr) -> bool {
        let is_known = |name: String| self.numbers.iter().any(|number| **number == name);
        matches!(bare(e), Expr::Lit(_)) || name(bare(e)).is_some_and(is_known)
    }

    fn is_of(&self, e: &Expr, wanted: &[&str]) -> bool {
        let ty = self.types.of(self.scopes, e).map(|ty| text(&ty));
        ty.is_some_and(|ty| wanted.contains(&ty.as_str()))
    }
}

/// Whether code makes arrays that are not taken apart.
fn has_long_arrays(body: &Block) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Array(e)) => e.elems.len() as u64 > SHORT,
        At::Expr(Expr::Repeat(e)) => literal(&e.len).is_none_or(|len| len > SHORT),
        _ => false,
    })
}
