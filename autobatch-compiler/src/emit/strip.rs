//! A region run on one strip: a loop over the lanes, without a mask.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::Emitter;
use super::region::{self, Chooser, Region, column, lane, next};
use crate::ir::VarId;

/// The points where a region leads, and the lanes that go there.
pub(super) type Exits = Vec<(u32, TokenStream)>;

/// Runs a region once, on the first `lanes` lanes of a strip, of which those in `__bits` count. `place` is where
/// a variable is; `before` stands before each lane's code.
pub(super) fn once(
    emitter: &Emitter<'_>,
    region: &Region,
    place: impl Fn(VarId) -> TokenStream,
    lanes: &TokenStream,
    before: &TokenStream,
) -> (TokenStream, Exits) {
    let (rt, strip, word) = (&emitter.rt, emitter.width.strip, &emitter.word);
    let (l, next) = (lane(), next());
    let (columns, places) = columns(region, place);
    let with = format_ident!("with{}", columns.len());
    let round = region::round(emitter, region, Chooser::Nobody, |_| true, before, &quote!(!0));
    let (points, bits) = exits(region);
    if let [exit] = points[..] {
        let run = quote! {
            #rt::nest::#with(#(#places,)* |#(#columns),*| for #l in 0..#lanes { #round });
        };
        return (run, vec![(exit, quote!(__bits))]);
    }
    if let [one, other] = points[..] {
        let [to_one, to_other] = &bits[..] else { unreachable!("as many as points") };
        let run = quote! {
            let #to_other = #rt::nest::#with(#(#places,)* |#(#columns),*| {
                let mut __flags = #rt::nest::Flags::<#strip>::new();
                for #l in 0..#lanes {
                    #round
                    __flags.put(#l, #next, #other);
                }
                __bits & __flags.set(__level)
            });
            let #to_one = __bits & !#to_other;
        };
        return (run, vec![(one, quote!(#to_one)), (other, quote!(#to_other))]);
    }
    let run = quote! {
        let (#(#bits,)*) = #rt::nest::#with(#(#places,)* |#(#columns),*| {
            let mut __words = #rt::nest::Words::<#word, #strip>::new();
            for #l in 0..#lanes {
                #round
                __words.put(#l, #next);
            }
            (#(__bits & __words.at(#points, __level),)*)
        });
    };
    (run, points.into_iter().zip(bits.into_iter().map(|b| quote!(#b))).collect())
}

/// The columns that a region works on, and where they are.
pub(super) fn columns(
    region: &Region,
    place: impl Fn(VarId) -> TokenStream,
) -> (Vec<Ident>, Vec<TokenStream>) {
    region.touched().into_iter().map(|v| (column(v), place(v))).unzip()
}

/// The points where a region leads, and the names of the lanes that go there.
pub(super) fn exits(region: &Region) -> (Vec<u32>, Vec<Ident>) {
    region
        .successors
        .iter()
        .map(|point| (*point, format_ident!("__b{}", point, span = Span::mixed_site())))
        .unzip()
}
