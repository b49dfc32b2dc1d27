//! Reachability in any graph.

use std::collections::BTreeSet;

/// What steps lead to from `start`; that itself only if one leads back to it.
pub(crate) fn reached<T: Ord + Copy, I: IntoIterator<Item = T>>(
    start: T,
    next: impl Fn(T) -> I,
) -> BTreeSet<T> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
    while let Some(at) = todo.pop() {
        todo.extend(next(at).into_iter().filter(|to| seen.insert(*to)));
    }
    seen
}
