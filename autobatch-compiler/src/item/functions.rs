//! The functions of an item, in source order, and those that are left out.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, ItemFn, Signature};

use crate::diagnostics::reasons::{self, Reason};
use crate::diagnostics::sink::Diagnostics;
use crate::item::methods;
use crate::item::model::Function;
use crate::item::parse::{check_signature, function};
use crate::syntax::annotated::{Input, methods_of};
use crate::syntax::attributes::is_primitive;
use crate::syntax::tail_positions;

/// The functions of a module or `impl` that can be part of the program, in source order.
pub fn functions_of(input: &Input, diag: &mut Diagnostics) -> Vec<Function> {
    partition(input, &[], diag).0
}

/// The same, and those that are excluded, with the reason. `inner` are those that stood in a body.
pub(crate) fn partition(
    input: &Input,
    inner: &[ItemFn],
    diag: &mut Diagnostics,
) -> (Vec<Function>, Vec<(Function, Reason)>) {
    let (mut all, mut excluded) = (Vec::new(), Vec::new());
    match input {
        Input::Function(f) => {
            let mut parsed = |f: &ItemFn| function(&f.attrs, &f.vis, &f.sig, &f.block, None, diag);
            if let Some(outer) = parsed(f) {
                all.push(outer);
                all.extend(inner.iter().filter_map(parsed));
            }
        }
        Input::Module(m) => {
            for item in m.content.iter().flat_map(|(_, items)| items) {
                if let Item::Fn(f) = item
                    && quiet(&f.sig)
                    && !is_primitive(&f.attrs)
                {
                    all.extend(function(&f.attrs, &f.vis, &f.sig, &f.block, None, diag));
                }
            }
            let (methods, others) = methods::of_module(m);
            all.extend(methods);
            excluded = others;
        }
        Input::Impl(i) => {
            for f in methods_of(i).filter(|f| quiet(&f.sig)) {
                let f = methods::of_trait(i, f);
                let function = function(&f.attrs, &f.vis, &f.sig, &f.block, Some(&i.generics), diag);
                let implements = i.trait_.as_ref().map(|(path, _)| path.clone());
                let owner = Some((*i.self_ty).clone());
                all.extend(function.map(|function| Function { implements, owner, ..function }));
            }
        }
    }
    // Which of several under conditions is there, only rustc knows: calls of them are plain calls.
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().for_each(|f| *names.entry(f.sig.ident.to_string()).or_default() += 1);
    let once = |f: &Function| {
        names[&f.sig.ident.to_string()] == 1 || !f.attrs.iter().any(|attr| attr.path().is_ident("cfg"))
    };
    let (mut all, several): (Vec<Function>, Vec<Function>) = all.into_iter().partition(once);
    excluded.extend(several.into_iter().map(|f| (f, reasons::SEVERAL)));
    number_tails(&mut all);
    (all, excluded)
}

/// Whether a function of a module or `impl` can be batched at all; one that can't is left alone
/// there, because the user did not ask for it by name.
fn quiet(sig: &Signature) -> bool {
    check_signature(sig, &mut Diagnostics::default())
}

/// Numbers the calls in tail position of functions of an item.
fn number_tails(functions: &mut [Function]) {
    let names: BTreeSet<String> = functions.iter().map(|f| f.shown().sig.ident.to_string()).collect();
    for function in functions {
        tail_positions::number(&mut function.written, &names);
        function.tail_calls = tail_positions::number(&mut function.body, &names);
    }
}
