//! How a family reaches the runtime: by its functions, or, where nobody has asked for the family, through what says whether its
//! types may go to other threads (`crossing.rs` in the runtime).

use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

use super::name;
use super::named::Named;
use crate::input::{Function, Passing};
use crate::unasked;

/// What stands before the names of the runtime's functions.
pub(super) struct Door {
    /// What asks, at the start of a function.
    pub(super) question: Option<TokenStream>,
    /// What `run` and `run_into` are called on.
    pub(super) run: TokenStream,
    /// What makes a source of states.
    pub(super) states: TokenStream,
}

impl Door {
    pub(super) fn of(function: &Function, named: &Named, rt: &TokenStream) -> Door {
        if !unasked::is(function) {
            return Door { question: None, run: quote!(#rt::), states: quote!(#rt::States::new) };
        }
        let crossing = name("__crossing");
        let types = named.params.iter().filter_map(|p| match (p.passing, &p.ty) {
            // What may be shared can be recognised by its references.
            (Passing::Shared, ty) => Some(quote!(&#ty)),
            (Passing::State, Type::Reference(r)) => {
                let ty = &r.elem;
                Some(quote!(#ty))
            }
            _ => None,
        });
        let output = &named.output;
        Door {
            question: Some(quote!(let #crossing = #rt::Crossing::<(#output, #(#types,)*)>::new().check();)),
            run: quote!(#crossing.),
            states: quote!(#crossing.states),
        }
    }
}
