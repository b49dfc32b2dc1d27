//! What is known of the library by the names of its types, traits and methods. A name is no proof: who decides by it asks rustc, or keeps
//! to what is right for other things of that name too.

use self::Fact::{Collection, Filled, Foreign, Holder, Map, Maybe, Pointer, Sequence, Set};

/// What may be known of a type.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fact {
    /// Method calls look through it, and `new` makes it of what it points to.
    Pointer,
    /// An iteration over it yields its elements, which have numbers.
    Sequence,
    /// One over keys and values.
    Map,
    /// A set or a heap.
    Set,
    /// `Option` or `Result`.
    Maybe,
    /// It is no pointer, and has no methods of the program.
    Collection,
    /// It certainly is another crate's.
    Foreign,
    /// It is made of what is in a `Vec`.
    Filled,
    /// It holds what it is given, and needs nothing of it.
    Holder,
}

/// Types: how collections are written anywhere, their arguments left open, and what is known.
const TYPES: [(&str, &str, &[Fact]); 20] = [
    ("Arc", "", &[Pointer, Foreign, Filled, Holder]),
    ("Array", "", &[Holder]),
    ("Array1", "", &[Foreign, Filled, Holder]),
    ("Array2", "", &[Foreign, Holder]),
    ("BTreeMap", "::std::collections::BTreeMap<_, _>", &[Map, Collection, Foreign, Filled, Holder]),
    ("BTreeSet", "::std::collections::BTreeSet<_>", &[Set, Collection, Filled, Holder]),
    ("BinaryHeap", "::std::collections::BinaryHeap<_>", &[Set, Collection, Filled, Holder]),
    ("Box", "", &[Pointer, Foreign, Filled, Holder]),
    ("Cell", "", &[Holder]),
    ("HashMap", "::std::collections::HashMap<_, _, _>", &[Map, Collection, Foreign, Filled, Holder]),
    ("HashSet", "::std::collections::HashSet<_, _>", &[Set, Collection, Filled, Holder]),
    ("LinkedList", "", &[Filled]),
    ("Option", "", &[Maybe, Foreign, Holder]),
    ("Range", "", &[Holder]),
    ("Rc", "", &[Pointer, Foreign, Filled, Holder]),
    ("RefCell", "", &[Holder]),
    ("Result", "", &[Maybe, Foreign, Holder]),
    ("String", "::std::string::String", &[Collection, Foreign, Filled]),
    ("Vec", "::std::vec::Vec<_>", &[Sequence, Collection, Foreign, Filled, Holder]),
    ("VecDeque", "::std::collections::VecDeque<_>", &[Sequence, Collection, Foreign, Filled, Holder]),
];

/// Whether something is known of the type of a name.
pub(crate) fn is(name: &str, fact: Fact) -> bool {
    TYPES.iter().any(|(own, _, facts)| *own == name && facts.contains(&fact))
}

/// Whether the library has a type of that name, without a lifetime.
pub(crate) fn is_type(name: &str) -> bool {
    TYPES.iter().any(|(own, ..)| *own == name)
}

/// A collection as it can be written anywhere.
pub(crate) fn collection(name: &str) -> Option<syn::Type> {
    let (_, written, _) = TYPES.iter().find(|(own, _, facts)| *own == name && facts.contains(&Collection))?;
    syn::parse_str(written).ok()
}

/// The type of a variant with a value, and which of its arguments that has.
pub(crate) fn variant(name: &str) -> Option<(&'static str, usize)> {
    match name {
        "Some" => Some(("Option", 0)),
        "Ok" => Some(("Result", 0)),
        "Err" => Some(("Result", 1)),
        _ => None,
    }
}

/// What else names stand for.
#[derive(PartialEq)]
pub(crate) enum Named {
    /// A trait in scope everywhere, or one that operators and macros stand for.
    Trait,
    /// A type that has a lifetime.
    Borrower,
    Other,
}

/// What a name of a type or a trait stands for, other than [`TYPES`].
pub(crate) fn named(name: &str) -> Named {
    match name {
        "Add" | "AddAssign" | "AsMut" | "AsRef" | "BitAnd" | "BitOr" | "BitXor" | "Borrow" | "Clone"
        | "Copy" | "Debug" | "Default" | "Deref" | "DerefMut" | "Display" | "Div" | "DivAssign" | "Drop"
        | "Eq" | "ExactSizeIterator" | "Extend" | "From" | "FromIterator" | "FromStr" | "Hash" | "Index"
        | "IndexMut" | "Into" | "IntoIterator" | "Iterator" | "Mul" | "MulAssign" | "Neg" | "Not" | "Ord"
        | "PartialEq" | "PartialOrd" | "Product" | "Rem" | "Shl" | "Shr" | "Sub" | "SubAssign" | "Sum"
        | "ToString" | "TryFrom" => Named::Trait,
        // By itself: in a list with so long a name each would have a line of its own.
        "DoubleEndedIterator" => Named::Trait,
        "Arguments" | "ArrayView" | "ArrayView1" | "ArrayView2" | "ArrayViewMut" | "ArrayViewMut1"
        | "ArrayViewMut2" | "Bytes" | "CharIndices" | "Chars" | "Chunks" | "Context" | "Cow" | "Drain"
        | "Formatter" | "Iter" | "IterMut" | "Keys" | "Lines" | "MutexGuard" | "Ref" | "RefMut" | "Split"
        | "SplitWhitespace" | "Values" | "Windows" => Named::Borrower,
        _ => Named::Other,
    }
}

/// What methods do.
#[derive(PartialEq)]
pub(crate) enum Does {
    /// It starts an iteration.
    Start,
    /// It makes an iterator of an iterator.
    Adapt,
    /// It takes an iterator, an `Option` or a `Result` by value, or gives nothing of it.
    End,
    /// It is one of a trait that many types have.
    Common,
    Other,
}

/// What a method of that name does.
pub(crate) fn does(method: &str) -> Does {
    match method {
        "ancestors" | "axis_iter" | "bytes" | "char_indices" | "chars" | "chunks" | "chunks_exact"
        | "columns" | "drain" | "into_iter" | "into_keys" | "into_values" | "iter" | "iter_mut" | "keys"
        | "lines" | "match_indices" | "matches" | "outer_iter" | "range" | "rchunks" | "rsplit" | "split"
        | "split_inclusive" | "split_terminator" | "split_whitespace" | "splitn" | "successors"
        | "values" | "values_mut" | "windows" => Does::Start,
        // By itself for the same reason.
        "split_ascii_whitespace" => Does::Start,
        "by_ref" | "chain" | "cloned" | "copied" | "cycle" | "enumerate" | "filter" | "filter_map"
        | "flat_map" | "flatten" | "fuse" | "inspect" | "map" | "map_while" | "peekable" | "rev" | "scan"
        | "skip" | "skip_while" | "step_by" | "take" | "take_while" | "zip" => Does::Adapt,
        "count" | "fold" | "last" | "ok" | "expect" | "find_map" => Does::End,
        name if ["map_or", "max", "min", "unwrap"].iter().any(|start| name.starts_with(start)) => Does::End,
        "borrow" | "borrow_mut" | "clone" | "cmp" | "eq" | "fmt" | "ge" | "gt" | "hash" | "into" | "le"
        | "lt" | "ne" | "partial_cmp" | "to_owned" | "to_string" | "try_into" | "type_id" => Does::Common,
        _ => Does::Other,
    }
}

/// Methods that look at a collection or an `Option`, change it, or iterate: a few instructions.
const ACCESSES: &str = "all and_then any as_bytes as_deref as_mut as_mut_slice as_ref as_slice as_str contains filter find first for_each \
                        get get_mut insert is_empty is_err is_none is_ok is_some last len or or_else pop position product push remove \
                        rposition split_at split_first split_last sum swap then then_some";

/// Whether a method of that name is such an access.
pub(crate) fn is_access(method: &str) -> bool {
    does(method) != Does::Other || ACCESSES.split(' ').any(|name| name == method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_written_by_their_own_names() {
        for (name, _, facts) in &TYPES {
            let written = collection(name).and_then(|ty| crate::syntax::mentions::type_name(&ty));
            assert_eq!(written.as_deref(), facts.contains(&Collection).then_some(*name));
        }
    }
}
