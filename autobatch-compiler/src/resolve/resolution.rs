//! What resolution finds out, by the positions of functions.

use std::collections::BTreeMap;

use syn::Type;

use crate::diagnostics::reasons::Reason;
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
    Excluded(Reason),
}

/// Types and calls, as far as they follow from what is written.
#[derive(Clone, Default)]
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

    /// The same with other types of the variables of some functions.
    pub(crate) fn with_types(mut self, types: Vec<(usize, VariableTypes)>) -> Resolution {
        for (function, types) in types {
            self.types[function] = types;
        }
        self
    }

    /// What rustc has to check.
    pub(crate) fn checks(&self) -> &Checks {
        &self.checks
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::Expr;

    use super::*;
    use crate::ir::testing::functions;
    use crate::item::model::Item;
    use crate::resolve::method_calls::resolve;
    use crate::syntax::call_sites;
    use crate::syntax::mentions::text;
    use crate::syntax::walk::{self, At};

    #[test]
    fn each_call_in_doubt_has_an_answer_of_its_own() {
        let tokens = quote!(impl Tree {
            fn sum(&self, x: f64) -> f64 {
                let rows: Vec<f64> = vec![];
                let open = made();
                rows.sum(x) * 2.0 - open.sum(x) - rows.sum(x)
            }
        });
        let own = Some(syn::parse_quote!(Tree));
        let mut item = Item { functions: functions(tokens.clone()), own, ..Item::default() };
        let resolution = resolve(&mut item, |_| true);
        let body = &mut item.functions[0].body;
        let mut answers = Vec::new();
        walk::each(body, |at| {
            if let At::Expr(Expr::MethodCall(call)) = at {
                answers.push(resolution.call(0, call_sites::marked(&call.attrs)));
            }
        });
        assert_eq!(answers, [Some(Answer::Other), Some(Answer::Unknown), Some(Answer::Other)]);
        assert_eq!(resolution.calls.len(), 3);
        call_sites::unmark(body);
        assert_eq!(text(body), text(&functions(tokens)[0].body));
    }
}
