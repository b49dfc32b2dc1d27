//! Helpers whose loops run as often as the data say: whether these are better loops of the program, or stay a call.
//!
//! ```text
//! while (x - before).abs() > 1e-13 * x { … }       the program's: rounds of blocks are vectors
//! loop { … s.ln() … }                              a call, unless under `vector_math`
//! ```
//!
//! Rounds of blocks cost more than those of a call. Only vectors make up for that.
//!
//! **Invariant:** only speed depends on the answer.

use syn::{Block, Expr};

use crate::item::model::Function;
use crate::std_models::elementary::calls_library;
use crate::std_models::pure::literal;
use crate::std_models::trip_count::SHORT;
use crate::syntax::walk::{self, At, Code};

/// Whether code has some.
pub(super) fn has_any(code: &impl Code) -> bool {
    walk::any(code, |at| matches!(at, At::Expr(Expr::While(_) | Expr::Loop(_))))
}

/// Whether vectors gain: no library is called, and there are no arrays that each round would move.
pub(super) fn gain(helper: &Function, vector_math: bool) -> bool {
    (vector_math || !calls_library(&helper.body)) && !has_long_arrays(&helper.body)
}

/// Whether code makes arrays that are not taken apart.
fn has_long_arrays(body: &Block) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Array(e)) => e.elems.len() as u64 > SHORT,
        At::Expr(Expr::Repeat(e)) => literal(&e.len).is_none_or(|len| len > SHORT),
        _ => false,
    })
}
