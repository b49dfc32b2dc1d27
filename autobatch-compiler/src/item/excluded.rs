//! Functions of a module or `impl` block that are no part of its program, although they loop or recurse: calls of them
//! stay as they are, and leave a note.

use std::collections::BTreeSet;

use syn::{Expr, ExprCall, Type};

use crate::item::model::{Excluded, Function};
use crate::item::worth;
use crate::syntax::mentions::type_name;

/// Which of several functions is there, only rustc knows.
pub(crate) const SEVERAL: &str =
    "several functions have this name, under conditions, and the macro can't know which is there";
/// A method of the library's traits.
pub(crate) const OF_THE_LIBRARY: &str =
    "a method of a trait of the library is batched only with the attribute on the `impl` block itself";
/// Two methods of a type.
pub(crate) const SAME_NAME: &str = "two methods of the type have this name";
/// A type of other code.
pub(crate) const OF_ANOTHER_TYPE: &str =
    "methods in a module are batched for types of the crate only, by their names";
/// A function for other types than its caller's.
pub(crate) const OF_OTHER_TYPES: &str =
    "a generic function is batched only where it is the one that is called";

/// Those of `excluded` that would be worth it.
pub(crate) fn of(
    functions: &[Function],
    excluded: Vec<(Function, &'static str)>,
    own: Option<&Type>,
    primitives: &[syn::Path],
) -> Vec<Excluded> {
    let all: Vec<Function> = functions.iter().chain(excluded.iter().map(|(f, _)| f)).cloned().collect();
    let worth: BTreeSet<usize> = worth::by_shown_name(&all, primitives);
    let excluded = excluded.into_iter().enumerate().filter(|(i, _)| worth.contains(&(functions.len() + i)));
    let excluded = excluded.map(|(_, (f, why))| {
        let owner = f.method.as_ref().map(|m| &m.owner).or(own.filter(|_| f.associated)).and_then(type_name);
        Excluded { owner, name: f.shown().sig.ident.to_string(), params: f.params.len(), why }
    });
    excluded.collect()
}

/// Why a call by a path is none of the program's. `own` is what `Self` is.
pub(crate) fn called(excluded: &[Excluded], call: &ExprCall, own: Option<&str>) -> Option<&'static str> {
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
    Some(found.why)
}
