//! Tail calls of a function to itself as rounds of a loop, for its inlined clone.
//!
//! ```text
//! let mut next = (m, n);
//! 'round: loop {
//!     let (m, n) = next;
//!     return { …body, with `{ next = (a, b); continue 'round; }` for `f(a, b)`… };
//! }
//! ```

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Block, Expr, FnArg, Lifetime, Pat, PatIdent, Token, parse_quote};

use crate::analysis::reference_flow::is_number_type;
use crate::item::model::Function;
use crate::syntax::mentions::idents;

/// Whether calls of a function to itself in tail position can be rounds of a loop: arguments may not borrow what a round
/// has made, nor be of other types than the parameters, and nothing may ask for the caller.
pub(crate) fn can_loop(function: &Function) -> bool {
    let sig = &function.sig;
    let mut words = function.attrs.iter().flat_map(|attr| idents(attr.to_token_stream()));
    let tracks = words.any(|word| word == "track_caller");
    let plain = function.params.iter().all(|p| p.pattern.is_none() && is_number_type(&p.ty));
    sig.receiver().is_none() && sig.generics.params.is_empty() && plain && !tracks
}

/// The body as a loop, of which each tail call is a round ([`again`]).
pub(crate) fn looped(function: &Function, body: &Block) -> Block {
    let (next, round) = (next_ident(), round());
    let params = function.sig.inputs.iter().filter_map(|input| {
        let FnArg::Typed(param) = input else { return None };
        let Pat::Ident(pat) = &*param.pat else { return None };
        Some((pat, &pat.ident))
    });
    let (params, given): (Vec<&PatIdent>, Vec<&Ident>) = params.unzip();
    parse_quote!({
        let mut #next = (#(#given,)*);
        #round: loop {
            let (#(#params,)*) = #next;
            return #body;
        }
    })
}

/// A tail call in a body that is a loop.
pub(crate) fn again(args: &Punctuated<Expr, Token![,]>) -> Expr {
    let (next, round, args) = (next_ident(), round(), args.iter());
    parse_quote!({
        #next = (#(#args,)*);
        continue #round;
    })
}

/// What the next round gets.
fn next_ident() -> Ident {
    Ident::new("__next", Span::mixed_site())
}

fn round() -> Lifetime {
    Lifetime::new("'__round", Span::mixed_site())
}
