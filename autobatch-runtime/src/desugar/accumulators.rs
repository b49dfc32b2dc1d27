//! What chains of iterators collect element by element: halves of `partition`, the best so far of `min_by_key`. For generated code only.

/// What `partition` makes of the elements for which its closure says yes, and the others.
pub fn partition<T, B: Default + Extend<T>>(yes: Vec<T>, no: Vec<T>) -> (B, B) {
    let mut parts = (B::default(), B::default());
    parts.0.extend(yes);
    parts.1.extend(no);
    parts
}

/// Nothing but the types.
#[cfg_attr(optimised, inline(always))]
pub fn holds<T>(_: &Option<T>, _: &T) {}

/// Nothing but the types.
#[cfg_attr(optimised, inline(always))]
pub fn holds_keyed<K, T>(_: &Option<(K, T)>, _: &K, _: &T) {}
