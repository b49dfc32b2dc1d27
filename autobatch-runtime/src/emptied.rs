//! Parts of values that are taken while a call has them: `x.part = f(x.part)`. For generated code only.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::hash::BuildHasher;

/// Collections, which may own nothing. The macro knows them by name only: whatever else has such a name is an error.
pub trait Collection: Default {}

impl<T> Collection for Vec<T> {}
impl Collection for String {}
impl<K, V> Collection for BTreeMap<K, V> {}
impl<T> Collection for BTreeSet<T> {}
impl<T: Ord> Collection for BinaryHeap<T> {}
impl<K, V, S: BuildHasher + Default> Collection for HashMap<K, V, S> {}
impl<T, S: BuildHasher + Default> Collection for HashSet<T, S> {}

/// Takes the part.
#[inline(always)]
pub fn emptied<T: Collection>(part: &mut T) -> T {
    std::mem::take(part)
}
