//! A pure program, and what must hold of the types in it.

use proc_macro2::{Ident, Span};
use syn::{Expr, Type};

use crate::syntax::mentions::bare_type;

/// What must be primitive for a program to only compute.
#[derive(Clone, Default)]
pub struct PureProgram {
    /// Types of parameters and results.
    pub types: Vec<Type>,
    /// Values read from shared data.
    pub leaves: Vec<Leaf>,
}

/// A value read from shared data.
#[derive(Clone)]
pub struct Leaf {
    /// The parameter it is read from, with its type; none for a constant.
    pub root: Option<(Ident, Type)>,
    /// The expression; indices are [`index`].
    pub value: Expr,
    /// What it certainly is, as far as that decides whether it can be indexed by a number.
    pub(super) list: List,
}

impl Leaf {
    /// The same place behind an operator.
    pub(super) fn with(self, operator: impl FnOnce(Expr) -> Expr) -> Leaf {
        Leaf { value: operator(self.value), ..self }
    }
}

/// What is known of a place in shared data.
#[derive(Clone)]
pub(crate) enum List {
    /// It has this type.
    Of(Box<Type>),
    /// It is a constant or an element of one: by custom an array if it is indexed.
    Constant,
    /// Nothing.
    Unknown,
}

impl List {
    /// What is known of its elements, if it certainly is a list.
    pub(super) fn element(&self) -> Option<List> {
        let ty = match self {
            List::Of(ty) => bare_type(ty),
            List::Constant => return Some(List::Constant),
            List::Unknown => return None,
        };
        match ty {
            Type::Reference(r) => List::Of(r.elem.clone()).element(),
            Type::Slice(t) => Some(List::Of(t.elem.clone())),
            Type::Array(t) => Some(List::Of(t.elem.clone())),
            Type::Path(p) => {
                let last = p.path.segments.last().filter(|last| last.ident == "Vec")?;
                let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
                let Some(syn::GenericArgument::Type(ty)) = args.args.first() else { return None };
                Some(List::Of(Box::new(ty.clone())))
            }
            _ => None,
        }
    }
}

/// `__at`: any index.
pub fn index() -> Ident {
    Ident::new("__at", Span::mixed_site())
}
