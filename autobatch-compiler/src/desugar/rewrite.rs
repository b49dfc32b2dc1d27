//! The state of the rewriting of one function.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Path, Type};

use crate::desugar::callees::Callees;
use crate::resolve::types::{Scopes, Types};

/// The rewriting of one body.
pub(crate) struct Rewrite<'a> {
    pub(super) callees: &'a Callees,
    pub(super) types: &'a Types<'a>,
    /// The variables whose types are known.
    pub(super) variables: Scopes,
    pub(super) bindings: BTreeSet<String>,
    pub(super) krate: &'a Path,
    pub(super) strict: bool,
    /// The parameters of generic functions whose types are parameters too.
    pub(super) generic: Option<BTreeSet<String>>,
    /// The types of locals that have none at their `let`, by what becomes of them.
    pub(super) wanted: BTreeMap<String, Type>,
    pub(super) output: Type,
    /// The number of closures around the current place.
    pub(super) closures: usize,
    pub(super) names: usize,
    pub(super) changed: bool,
}
