//! Methods of the library and of `ndarray` that are known by name, and take their receivers by reference.

use syn::Ident;

use crate::signatures::{Method, Methods, Takes};

/// Those that read their receiver, and yield what may borrow from it.
const LENDS: [&str; 49] = [
    "as_bytes",
    "as_deref",
    "as_ref",
    "as_slice",
    "as_str",
    "borrow",
    "borrow_mut",
    "bytes",
    "char_indices",
    "chars",
    "chunks",
    "chunks_exact",
    "first",
    "first_key_value",
    "get",
    "get_key_value",
    "iter",
    "keys",
    "last",
    "last_key_value",
    "lines",
    "lock",
    "matches",
    "peek",
    "range",
    "rchunks",
    "rsplit",
    "rsplit_once",
    "split",
    "split_ascii_whitespace",
    "split_at",
    "split_first",
    "split_last",
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
    "try_borrow",
    "try_borrow_mut",
    "values",
    "windows",
];

/// Those that may change their receiver, and yield what may borrow from it.
const LENDS_MUT: [&str; 16] = [
    "as_deref_mut",
    "as_mut",
    "as_mut_slice",
    "chunks_exact_mut",
    "chunks_mut",
    "drain",
    "entry",
    "first_mut",
    "get_mut",
    "iter_mut",
    "last_mut",
    "peek_mut",
    "split_at_mut",
    "split_first_mut",
    "split_last_mut",
    "values_mut",
];

/// Those that only read their receiver.
const READS: [&str; 28] = [
    "all",
    "any",
    "binary_search",
    "capacity",
    "clone",
    "concat",
    "contains",
    "contains_key",
    "ends_with",
    "find",
    "is_empty",
    "is_none",
    "is_some",
    "is_sorted",
    "join",
    "len",
    "ncols",
    "nrows",
    "parse",
    "partition_point",
    "position",
    "rfind",
    "starts_with",
    "to_lowercase",
    "to_owned",
    "to_string",
    "to_uppercase",
    "to_vec",
];

/// Those that change their receiver.
const WRITES: [&str; 33] = [
    "append",
    "clear",
    "copy_from_slice",
    "copy_within",
    "dedup",
    "extend",
    "extend_from_slice",
    "fill",
    "insert",
    "pop",
    "pop_back",
    "pop_first",
    "pop_front",
    "pop_last",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "resize",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "split_off",
    "swap",
    "swap_remove",
    "truncate",
];

// The same of arrays.
const ARRAYS_LEND: [&str; 19] = [
    "axis_chunks_iter",
    "axis_iter",
    "axis_windows",
    "broadcast",
    "column",
    "columns",
    "diag",
    "exact_chunks",
    "index_axis",
    "indexed_iter",
    "lanes",
    "outer_iter",
    "reborrow",
    "row",
    "rows",
    "slice",
    "slice_axis",
    "t",
    "view",
];

const ARRAYS_LEND_MUT: [&str; 16] = [
    "axis_chunks_iter_mut",
    "axis_iter_mut",
    "column_mut",
    "columns_mut",
    "diag_mut",
    "exact_chunks_mut",
    "index_axis_mut",
    "indexed_iter_mut",
    "lanes_mut",
    "multi_slice_mut",
    "outer_iter_mut",
    "row_mut",
    "rows_mut",
    "slice_axis_mut",
    "slice_mut",
    "view_mut",
];

const ARRAYS_READ: [&str; 9] =
    ["dim", "dot", "is_square", "len_of", "mapv", "ndim", "raw_dim", "shape", "strides"];

const ARRAYS_WRITE: [&str; 8] = [
    "assign",
    "invert_axis",
    "map_inplace",
    "mapv_inplace",
    "push_column",
    "push_row",
    "scaled_add",
    "swap_axes",
];

/// What is known of the library's methods of a name. (Some of those that borrow yield no reference.)
pub(crate) fn method(name: &Ident) -> Option<Method> {
    let method = find(name, [&LENDS, &LENDS_MUT, &READS, &WRITES])?;
    Some(Method { refers: method.borrows, ..method })
}

impl Methods {
    /// What is known of the methods of a name that are not the user's: arrays have some too, where the code mentions arrays.
    pub(crate) fn of_libraries(&self, name: &Ident) -> Option<Method> {
        let arrays = || find(name, [&ARRAYS_LEND, &ARRAYS_LEND_MUT, &ARRAYS_READ, &ARRAYS_WRITE]);
        method(name).or_else(|| arrays().filter(|_| self.arrays && self.of(name).is_none()))
    }

    /// What is known of the methods of a name: the user's, else the libraries'.
    pub(crate) fn known(&self, name: &Ident) -> Option<Method> {
        self.of(name).or_else(|| self.of_libraries(name))
    }

    /// Whether what the user's methods of a name yield borrows nothing from their receivers. One of the library's of the same name
    /// may borrow, whatever the user's does.
    pub(crate) fn borrow_nothing(&self, name: &Ident) -> bool {
        self.of(name).is_some_and(|own| !own.borrows) && method(name).is_none_or(|other| !other.borrows)
    }

    /// Whether methods of a type take shared references, though they may change something: those of the library, if the file has no
    /// such type.
    pub(crate) fn is_shared_to_change(&self, ty: &str) -> bool {
        const TYPES: [&str; 7] = ["Arc", "Cell", "Mutex", "OnceCell", "Rc", "RefCell", "RwLock"];
        (TYPES.contains(&ty) || ty.starts_with("Atomic")) && !self.has_type(ty)
    }

    /// Whether what a method yields certainly is a value, which is dropped at the end of its statement.
    pub(crate) fn yields_value(&self, name: &Ident) -> bool {
        const OWNED: [&str; 8] = [
            "clone",
            "collect",
            "into_boxed_slice",
            "to_owned",
            "to_string",
            "to_vec",
            "into_iter",
            "repeat",
        ];
        OWNED.iter().any(|known| name == known) || self.known(name).is_some_and(|method| !method.refers)
    }
}

fn find(name: &Ident, [lends, lends_mut, reads, writes]: [&[&str]; 4]) -> Option<Method> {
    let name = name.to_string();
    let is_in = |names: &[&str]| names.contains(&name.as_str());
    let (takes, borrows) = match () {
        () if is_in(lends) => (Takes::Ref, true),
        () if is_in(lends_mut) => (Takes::Mut, true),
        () if is_in(reads) => (Takes::Ref, false),
        () if is_in(writes) => (Takes::Mut, false),
        () => return None,
    };
    Some(Method { takes: Some(takes), borrows, refers: false })
}
