//! Which method calls yield something that borrows from their receiver.

use syn::ExprMethodCall;

use super::Lowering;
use super::scan::is_owned_local;
use crate::effects::variable;
use crate::resolve;

/// Whether a method plainly borrows from the local that it is called on.
pub(super) fn starts_borrow(lower: &Lowering<'_>, call: &ExprMethodCall) -> bool {
    const BORROWING: [&str; 60] = [
        "as_bytes",
        "as_deref",
        "as_deref_mut",
        "as_mut",
        "as_mut_slice",
        "as_ref",
        "as_slice",
        "as_str",
        "bytes",
        "char_indices",
        "chars",
        "chunks",
        "chunks_exact",
        "chunks_exact_mut",
        "chunks_mut",
        "drain",
        "entry",
        "first",
        "first_key_value",
        "first_mut",
        "get",
        "get_key_value",
        "get_mut",
        "iter",
        "iter_mut",
        "keys",
        "last",
        "last_key_value",
        "last_mut",
        "lines",
        "matches",
        "peek",
        "peek_mut",
        "range",
        "rchunks",
        "rsplit",
        "rsplit_once",
        "split",
        "split_ascii_whitespace",
        "split_at",
        "split_at_mut",
        "split_first",
        "split_first_mut",
        "split_last",
        "split_last_mut",
        "split_once",
        "split_terminator",
        "split_whitespace",
        "splitn",
        "strip_prefix",
        "strip_suffix",
        "trim",
        "trim_end",
        "trim_end_matches",
        "trim_matches",
        "trim_start",
        "trim_start_matches",
        "values",
        "values_mut",
        "windows",
    ];
    if !is_owned_local(lower, &call.receiver) {
        return false;
    }
    let own = lower.functions[lower.current].methods.of(&call.method);
    let on_self = variable(&lower.names, &call.receiver)
        .is_some_and(|var| resolve::is_self(&lower.program.var(var).ident));
    match own {
        Some(method) if on_self || method.borrows => return method.borrows,
        _ => {}
    }
    BORROWING.contains(&call.method.to_string().as_str())
}
