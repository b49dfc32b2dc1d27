//! A pure program, and what must hold of the types in it.

use proc_macro2::{Ident, Span};
use syn::{Expr, Type, parse_quote};

use crate::index::definitions::Definitions;

/// What must be primitive for a program to only compute.
#[derive(Clone, Default)]
pub struct PureProgram {
    /// Types of parameters and results.
    pub types: Vec<Type>,
    /// Structures of the file's that don't say that they are `Copy`. They must not need drop.
    pub structures: Vec<Type>,
    /// The types of their fields that have the names of numbers. The others are among `types`.
    pub fields: Vec<Type>,
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

/// What is known of a place in shared data.
#[derive(Clone)]
pub(crate) enum List {
    /// It has this type.
    Of(Box<Type>),
    /// It is a constant whose type the file does not show, or what these steps lead to from there: rustc is asked.
    Asked(Box<syn::ExprPath>, Vec<Step>),
    /// Nothing.
    Unknown,
}

/// A step from a place to another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Element,
    Reference,
    Dereference,
}

impl Leaf {
    /// A constant.
    pub(super) fn constant(path: &syn::ExprPath, definitions: &Definitions) -> Leaf {
        let list = match definitions.constant(path) {
            Some(constant) => List::Of(Box::new(constant.ty.clone())),
            None => List::Asked(Box::new(path.clone()), vec![]),
        };
        Leaf { root: None, value: Expr::Path(path.clone()), list }
    }

    /// A reference to it, what it refers to, or an element of it; `None` if it may not be a list.
    pub(super) fn step(self, step: Step, definitions: &Definitions) -> Option<Leaf> {
        let Leaf { root, value, list } = self;
        let list = match (list, step) {
            (List::Of(ty), Step::Reference) => List::Of(parse_quote!(&#ty)),
            (List::Of(ty), Step::Dereference) => {
                definitions.target(&ty).map(Box::new).map_or(List::Unknown, List::Of)
            }
            (List::Of(ty), Step::Element) => List::Of(Box::new(definitions.list(&ty)?.1)),
            (List::Asked(path, mut steps), step) => {
                steps.push(step);
                List::Asked(path, steps)
            }
            (List::Unknown, Step::Element) => return None,
            (List::Unknown, _) => List::Unknown,
        };
        let at = index();
        let value = match step {
            Step::Reference => parse_quote!((&#value)),
            Step::Dereference => parse_quote!((*#value)),
            Step::Element => parse_quote!((#value)[#at]),
        };
        Some(Leaf { root, value, list })
    }

    /// A field of it; `None` if only rustc knows what it is a field of.
    pub(super) fn field(self, member: &syn::Member, definitions: &Definitions) -> Option<Leaf> {
        let Leaf { root, value, list } = self;
        let list = match list {
            List::Of(ty) => definitions.field(&ty, member).map(Box::new).map_or(List::Unknown, List::Of),
            List::Asked(_, steps) if steps.contains(&Step::Element) => return None,
            List::Asked(..) | List::Unknown => List::Unknown,
        };
        Some(Leaf { root, value: parse_quote!((#value).#member), list })
    }

    /// Its type, as far as it is written.
    pub(super) fn ty(&self) -> Option<&Type> {
        match &self.list {
            List::Of(ty) => Some(ty),
            _ => None,
        }
    }

    /// The constant, and the steps from there, if rustc is asked about each.
    pub(crate) fn asked(&self) -> Option<(&syn::ExprPath, &[Step])> {
        match &self.list {
            List::Asked(path, steps) if steps.contains(&Step::Element) => Some((path, steps)),
            _ => None,
        }
    }
}

/// `__at`: any index.
pub fn index() -> Ident {
    Ident::new("__at", Span::mixed_site())
}
