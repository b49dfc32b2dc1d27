//! The types that are known: of the functions, of their variables, and what a type of the library holds.

use std::collections::BTreeMap;

use syn::{Type, parse_quote};

use crate::index::definitions::{Definitions, is_open, named};

/// The types of local variables, innermost scope last; `None` hides a variable of the same name.
pub(crate) type Scopes = Vec<BTreeMap<String, Option<Type>>>;

/// What a call of a function of the item yields.
pub(crate) struct FunctionType {
    /// The type it is associated with.
    pub(super) owner: Option<Type>,
    pub(super) name: String,
    pub(super) output: Type,
}

/// What types are looked up in.
pub(crate) struct Types<'a> {
    pub(crate) definitions: &'a Definitions,
    pub(crate) functions: &'a [FunctionType],
    /// What `Self` is.
    pub(crate) own: Option<Type>,
}

pub(crate) fn is_number(ty: &Type) -> bool {
    crate::std_models::pure::is_primitive(ty) || is_open(ty)
}

pub(super) fn is_iterator(ty: &Type) -> bool {
    named(ty, "__Iterator")
}

/// An iterator, whatever its type, over items of this type.
pub(super) fn iterator(item: &Type) -> Type {
    parse_quote!(__Iterator<#item>)
}

/// What a type of the library holds.
pub(super) enum Holds {
    /// An array, a slice, a vector: its elements.
    Sequence(Type),
    /// A map: keys and values.
    Map(Type, Type),
    /// A set or a heap.
    Set(Type),
    /// An `Option` or a `Result`: its value, and a `Result`'s error.
    Maybe(Type, Option<Type>),
    /// What an iterator yields.
    Iterator(Type),
    /// An entry of a map: the value.
    Entry(Type),
}
