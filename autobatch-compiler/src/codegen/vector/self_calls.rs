//! A function that either returns at once, or calls itself and makes its result of the results.

use proc_macro2::TokenStream;
use syn::Expr;

use crate::codegen::region::Region;
use crate::ir::{Call, VarId, VarSet};

/// The calls of a function, and what surrounds them.
pub(crate) struct SelfCalls<'w> {
    /// For each call the region that leads to it.
    pub(super) calls: Vec<(&'w Region, &'w Call)>,
    /// What makes the result.
    pub(super) join: &'w Region,
    /// What the regions before the calls write.
    pub(super) written: VarSet,
    /// What of it is read behind them.
    pub(super) kept: VarSet,
    /// The variables that hold the calls' results.
    pub(super) dests: Vec<VarId>,
    /// What all that return at once return, if it is a literal: it need not be kept.
    pub(super) settled: Option<Expr>,
}

/// A function's gangs.
pub(crate) struct Gang {
    /// The lanes of one.
    pub(super) size: usize,
    /// Parameters that the entry region does not change, and some call passes on: a call borrows the caller's strips.
    pub(super) borrowed: Vec<VarId>,
    /// What else is live behind the entry region: each call makes strips of its own.
    pub(super) own: Vec<VarId>,
    /// Statements that declare `__gang`.
    pub(super) code: TokenStream,
}
