//! Functions of a module or `impl` block that are no part of its program, although they loop or recurse: calls of them
//! stay as they are, and leave a note.

use std::collections::BTreeSet;

use syn::{Expr, ExprCall, Type};

use crate::diagnostics::reasons::Reason;
use crate::index::definitions::Definitions;
use crate::item::model::{Excluded, Function};
use crate::item::selection;
use crate::syntax::mentions::type_name;

/// Those of `excluded` that would be worth it.
pub(crate) fn of(
    functions: &[Function],
    excluded: Vec<(Function, Reason)>,
    own: Option<&Type>,
    primitives: &[syn::Path],
    definitions: &Definitions,
) -> Vec<Excluded> {
    let all: Vec<Function> = functions.iter().chain(excluded.iter().map(|(f, _)| f)).cloned().collect();
    let worth: BTreeSet<usize> = selection::by_shown_name(&all, primitives, definitions);
    let excluded = excluded.into_iter().enumerate().filter(|(i, _)| worth.contains(&(functions.len() + i)));
    let excluded = excluded.map(|(_, (f, reason))| {
        let owner = f.method.as_ref().map(|m| &m.owner).or(own.filter(|_| f.associated)).and_then(type_name);
        Excluded { owner, name: f.shown().sig.ident.to_string(), params: f.params.len(), reason }
    });
    excluded.collect()
}

/// Why a call by a path is none of the program's. `own` is what `Self` is.
pub(crate) fn called(excluded: &[Excluded], call: &ExprCall, own: Option<&str>) -> Option<Reason> {
    let Expr::Path(path) = &*call.func else { return None };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let (name, before) = (names.next()?, names.next());
    let owner = match (&path.qself, before) {
        (Some(qself), _) => type_name(&qself.ty),
        (None, Some(ty)) if ty == "Self" => own.map(String::from),
        (None, before) => before,
    };
    let found =
        excluded.iter().find(|a| a.name == name && a.owner == owner && a.params == call.args.len())?;
    Some(found.reason)
}
