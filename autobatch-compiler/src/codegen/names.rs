//! The names that generated code has.
//!
//! Variables of generated code begin with two underscores, a word for their kind, and the number of the program's variable:
//!
//! | name | what it is |
//! |---|---|
//! | `__column3`, `__stack3` | a column and a stack of the machine; inside a region `__column3` is the strip that is being run |
//! | `__loan3` | a strip that a column lends to a step |
//! | `__old3`, `__new3` | the bits of a slot before and behind lane code |
//! | `__source0` | the column of a parameter that the caller gave |
//! | `__frame3`, `__caller3`, `__loop3` | a variable of a vector frame: in the frame, where the caller has it, in a loop's own columns |
//! | `__lanes_at4` | the lanes of a frame at a program point |
//! | `__strip3`, `__to3`, `__scratch3` | a variable on a strip, where it goes, where it is not kept |
//! | `__queue4`, `__queued4_3`, `__saved2` | a continuation queue, a column of it, what a call site saves |
//! | `__element3`, `__rows3`, `__divisor3` | lane interchange: an element of an array, its rows, a divisor |
//! | `__list4_0`, `__fault`, `__faults` | a list that a region looks up, whether a lane is out of bounds, whether any lane is |
//! | `__shape3`, `__asked3`, `__answer0` | the type witness: the type of a variable, what rustc says of it |

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{GenericParam, Generics, Ident};

use crate::ir::VarId;
use crate::item::model::Function;
use crate::syntax::arguments::Args;
use crate::syntax::turbofish::turbofish;

/// An identifier of our own, which the user's code does not see.
pub(crate) fn name(text: &str) -> Ident {
    Ident::new(text, Span::mixed_site())
}

/// `__strip3`: one of many.
pub(crate) fn numbered(prefix: &str, number: impl Display) -> Ident {
    name(&format!("__{prefix}{number}"))
}

/// The names of everything generated for one function.
pub(crate) struct Family {
    pub(crate) batched: Ident,
    pub(crate) into: Ident,
    pub(crate) with: Ident,
    pub(crate) program: Ident,
    pub(crate) body: Ident,
    pub(crate) vector: Ident,
}

impl Family {
    pub(crate) fn new(function: &Function, args: &Args) -> Family {
        let span = function.sig.ident.span();
        let base = match &args.name {
            Some(name) if !function.associated => Ident::new(&name.value(), name.span()),
            _ => format_ident!("{}_batched", function.sig.ident, span = span),
        };
        Family {
            into: format_ident!("{base}_into", span = span),
            with: format_ident!("{base}_with", span = span),
            program: format_ident!("{base}_program", span = span),
            body: format_ident!("__{base}_body", span = span),
            vector: format_ident!("__{base}_vector", span = span),
            batched: base,
        }
    }
}

/// The type arguments of a function's clone, which takes the parameters of the `impl` block too if it stands outside of it, behind its own.
pub(crate) fn turbofish_of_clone(
    function: &Function,
    generics: &Generics,
    clone: &TokenStream,
) -> TokenStream {
    let mut all = generics.clone();
    let inside = clone.clone().into_iter().next().is_some_and(|first| first.to_string() == "Self");
    if !inside && all.params.iter().any(|p| !matches!(p, GenericParam::Lifetime(_))) {
        all.params.extend(function.outer.params.clone());
    }
    turbofish(&all)
}

/// What stands before the name of the scalar function.
pub(crate) fn scalar_path(function: &Function) -> TokenStream {
    match &function.implements {
        Some(path) => quote!(<Self as #path>::),
        None if function.associated => quote!(Self::),
        None => quote!(),
    }
}

/// `__source0`: what the parameter at this position comes from.
pub(crate) fn source(index: usize) -> Ident {
    format_ident!("__source{}", index, span = Span::mixed_site())
}

/// `__shape3`: the type of a variable.
pub(crate) fn shape(var: VarId) -> Ident {
    format_ident!("__shape{}", var.0, span = Span::mixed_site())
}

/// `__asked3`: what the witness has asked about the type of a variable, which has a closure in it.
pub(crate) fn asked(var: VarId) -> Ident {
    format_ident!("__asked{}", var.0, span = Span::mixed_site())
}
