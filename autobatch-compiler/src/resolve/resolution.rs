//! What resolution finds out, by the positions of functions.

use std::collections::BTreeMap;

use syn::Type;

use crate::resolve::method_checks::Checks;
use crate::syntax::call_sites::CallSite;

/// The types of variables, by their unique names.
pub(crate) type VariableTypes = BTreeMap<String, Type>;

/// What is known of a call that has the name of a function of the item. A call that becomes one by path says itself what it calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The program's function at this position.
    Own(usize),
    /// Another function of the same name.
    Other,
    /// The type of the receiver is not known.
    Unknown,
    /// A function that is no part of the program, for this reason.
    Excluded(&'static str),
}

/// Types and calls, as far as they follow from what is written.
#[derive(Default)]
pub struct Resolution {
    /// Calls of the bodies that are lowered.
    pub(super) calls: BTreeMap<(usize, CallSite), Answer>,
    /// Calls of the bodies as written.
    pub(super) written: BTreeMap<(usize, CallSite), Answer>,
    pub(super) types: Vec<VariableTypes>,
    pub(super) checks: Checks,
}

impl Resolution {
    /// What is known of a call in the body of a function.
    pub(crate) fn call(&self, function: usize, site: Option<CallSite>) -> Option<Answer> {
        self.calls.get(&(function, site?)).copied()
    }

    /// Whether a call in the body of a function, as written, is known to be one of the program.
    pub(crate) fn is_own(&self, function: usize, site: Option<CallSite>) -> bool {
        let answer = site.and_then(|site| self.written.get(&(function, site)));
        matches!(answer, Some(Answer::Own(_)))
    }

    /// The types of the variables of a function's body.
    pub(crate) fn types(&self, function: usize) -> &VariableTypes {
        const NONE: &VariableTypes = &VariableTypes::new();
        self.types.get(function).unwrap_or(NONE)
    }

    /// What rustc has to check.
    pub(crate) fn checks(&self) -> &Checks {
        &self.checks
    }
}
