//! The states of members in vector code: values, which the entry function hands back behind its result (see
//! [`crate::desugar::state_passing`]).
//!
//! ```text
//! let __states0 = rng; let rng = &StateValues(__states0);      // before parameters are loaded
//! …
//! put_states(__states0, __members, __results, |all| &all.1);   // when the tile has ended
//! Out::store_parts(__out, #members, __results, |all| &all.0);
//! ```
//!
//! **Invariant:** a state is put down when its member has its result, and not before: who unwinds finds it as it was.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Index;

use crate::codegen::emitter::Emitter;
use crate::codegen::names::name;

/// What a tile does with its members' states.
pub(crate) struct StatesOfMembers {
    /// Makes columns of the sources.
    pub(crate) values: TokenStream,
    /// Puts them down for the members of a tile.
    pub(crate) put: TokenStream,
    /// Stores the results of these.
    pub(crate) store: TokenStream,
}

fn source(nth: usize) -> Ident {
    format_ident!("__states{}", nth, span = Span::mixed_site())
}

/// The sources of states, and where each is in what the entry function yields.
fn of_entry(emitter: &Emitter<'_>) -> Vec<(Ident, Index)> {
    let states = emitter.written(emitter.program.entry).states();
    states.enumerate().map(|(at, (nth, _))| (source(nth), Index::from(at + 1))).collect()
}

impl StatesOfMembers {
    pub(crate) fn of(emitter: &Emitter<'_>) -> StatesOfMembers {
        let (rt, program) = (&emitter.rt, emitter.program);
        let params = &program.func(program.entry).params;
        let values = emitter.written(program.entry).states().map(|(nth, _)| {
            let (source, ident) = (source(nth), &program.var(params[nth]).ident);
            quote!(let #source = #ident; let #ident = &#rt::StateValues(#source);)
        });
        let (states, members) = (of_entry(emitter), name("__members"));
        let put = states.iter().map(|(source, at)| {
            quote!(#rt::vector::put_states(#source, #members, __results, #[inline(always)] |__all| &__all.#at);)
        });
        let store = match states.is_empty() {
            true => quote!(#rt::Out::store(__out, #members, __results);),
            false => {
                quote!(#rt::Out::store_parts(__out, #members, __results, #[inline(always)] |__all| &__all.0);)
            }
        };
        StatesOfMembers { values: quote!(#(#values)*), put: quote!(#(#put)*), store }
    }
}

/// Gives `__member` its result, and its states, of which `value` is an expression.
pub(crate) fn finish(emitter: &Emitter<'_>, value: &TokenStream) -> TokenStream {
    let rt = &emitter.rt;
    let states = of_entry(emitter);
    if states.is_empty() {
        return quote!(#rt::Out::set(__out, __member, #value););
    }
    let put = states.iter().map(|(source, at)| quote!(#rt::StateSource::put(#source, __member, __all.#at);));
    quote!(let __all = #value; #(#put)* #rt::Out::set(__out, __member, __all.0);)
}
