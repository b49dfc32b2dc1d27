//! The states of members where they are values, which the entry function hands back behind its result (see
//! [`crate::desugar::state_passing`]): always in vector code, and in the machine where it could not run the program otherwise.
//!
//! ```text
//! let __states0 = rng; let rng = &StateValues(__states0);      // before parameters are loaded
//! …
//! put_states(__states0, __members, __results, |all| &all.1);   // when a tile has ended
//! Out::store_parts(__out, __members, __results, |all| &all.0);
//! ```
//!
//! **Invariant:** a state is put down when its member has its result, and not before: who unwinds finds it as it was.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Index;

use crate::codegen::emitter::Emitter;
use crate::codegen::names::name;

fn source(nth: usize) -> Ident {
    format_ident!("__states{}", nth, span = Span::mixed_site())
}

/// The sources of states, and where each is in what the entry function yields.
fn of_entry(emitter: &Emitter<'_>) -> Vec<(Ident, Index)> {
    let states = emitter.passed_states(emitter.program.entry).into_iter();
    states.enumerate().map(|(at, nth)| (source(nth), Index::from(at + 1))).collect()
}

/// Makes columns of values of the sources.
pub(crate) fn values(emitter: &Emitter<'_>) -> TokenStream {
    let (rt, program) = (&emitter.rt, emitter.program);
    let params = &program.func(program.entry).params;
    let values = emitter.passed_states(program.entry).into_iter().map(|nth| {
        let (source, ident) = (source(nth), &program.var(params[nth]).ident);
        quote!(let #source = #ident; let #ident = &#rt::StateValues(#source);)
    });
    quote!(#(#values)*)
}

/// Stores the results of a tile's members, `__results`, and puts their states down.
pub(crate) fn store(emitter: &Emitter<'_>) -> TokenStream {
    let rt = &emitter.rt;
    let (states, members) = (of_entry(emitter), name("__members"));
    if states.is_empty() {
        return quote!(#rt::Out::store(__out, #members, __results););
    }
    let put = states.iter().map(|(source, at)| {
        quote!(#rt::vector::put_states(#source, #members, __results, #[inline(always)] |__all| &__all.#at);)
    });
    quote! {
        #(#put)*
        #rt::Out::store_parts(__out, #members, __results, #[inline(always)] |__all| &__all.0);
    }
}

/// Gives `member` its result, and puts its states down: `value` is an expression of both.
pub(crate) fn finish(emitter: &Emitter<'_>, member: &Ident, value: &TokenStream) -> TokenStream {
    let rt = &emitter.rt;
    let states = of_entry(emitter);
    if states.is_empty() {
        return quote!(#rt::Out::set(__out, #member, #value););
    }
    let put = states.iter().map(|(source, at)| quote!(#rt::StateSource::put(#source, #member, __all.#at);));
    quote!(let __all = #value; #(#put)* #rt::Out::set(__out, #member, __all.0);)
}
