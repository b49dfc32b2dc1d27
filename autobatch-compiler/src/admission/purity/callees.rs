//! The functions that code calls, and what names mean to them.

use std::collections::BTreeSet;

use syn::{Ident, Type};

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::resolve::types::FunctionType;
use crate::syntax::mentions::spelled_out;

/// What the names of functions mean to code.
#[derive(Clone)]
pub(crate) struct Callees<'a> {
    /// The functions of the item.
    pub(super) functions: &'a [Function],
    /// Those beside it.
    pub(super) helpers: &'a [Function],
    /// The types and constants of the file.
    pub(super) definitions: &'a Definitions,
    /// The types that stand beside the item, whose names mean there what they mean to the code.
    pub(super) beside: &'a Definitions,
    /// What `Self` is.
    pub(super) own: Option<&'a Type>,
    /// No types.
    pub(super) nothing: &'a Definitions,
    /// The macros that the file defines.
    pub(super) macros: &'a BTreeSet<String>,
    /// What the functions yield.
    pub(super) outputs: &'a [FunctionType],
    /// The names of those that are being looked at, outermost first.
    pub(super) around: Vec<&'a Ident>,
}

/// Functions that have been looked at, by name, and which of their parameters are lent a value of the member's.
pub(super) type Seen = BTreeSet<(String, Vec<bool>)>;

impl<'a> Callees<'a> {
    /// The function that a call names, and what names mean to it.
    pub(super) fn find(&self, name: &str, associated: bool) -> Option<(&'a Function, Callees<'a>)> {
        let named = |f: &&Function| f.sig.ident == name && f.associated == associated;
        let own = self.functions.iter().find(named);
        let (function, functions) = match own {
            Some(own) => (own, self.functions),
            None => (self.helpers.iter().find(named)?, &[][..]),
        };
        // How deep it calls itself nobody counts.
        let again = self.around.iter().any(|around| **around == function.sig.ident);
        let around = self.around.iter().copied().chain([&function.sig.ident]).collect();
        (!again).then(|| (function, Callees { functions, around, ..*self }.seen_by(function)))
    }

    /// The same to the code of a function, whose own names may hide types.
    pub(super) fn seen_by(self, function: &Function) -> Callees<'a> {
        let beside = if function.may_hide_types(self.beside) { self.nothing } else { self.beside };
        Callees { beside, ..self }
    }

    /// Whether a type is a structure that does not say that it is `Copy`.
    pub(super) fn is_owned(&self, ty: &Type) -> bool {
        self.beside.record(ty).is_some() && !self.beside.says_copy(ty)
    }

    /// A type that is a structure of the file's, of numbers, tuples and arrays of them, and structures of such; or a tuple with one in it.
    pub(super) fn structure(&self, ty: &Type) -> Option<Type> {
        let ty = self.beside.plain(spelled_out(ty, self.own));
        let is_one = match &ty {
            Type::Tuple(tuple) => tuple.elems.iter().any(|ty| self.structure(ty).is_some()),
            ty => self.beside.record(ty).is_some(),
        };
        is_one.then_some(ty)
    }
}
