//! How the records of a step run a region: once, or some rounds of a loop.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{Going, Values, Writer, name, numbered};
use crate::emit::body;
use crate::emit::region::{self, Chooser, Region, column, here, lane, next};
use crate::ir::VarId;

/// How often a strip runs a loop before those that have left it go on.
const ROUNDS: usize = 16;

/// The points where a region leads, and the lanes that go there.
type Exits = Vec<(u32, TokenStream)>;

impl Writer<'_, '_> {
    /// A region, and where its records go.
    pub(super) fn region(&self, region: &Region, values: &Values) -> TokenStream {
        let (rt, strip) = (&self.emitter.rt, self.emitter.width.strip);
        let func = self.emitter.program.block(region.head).func;
        let mut values = values.clone();
        let mut new = TokenStream::new();
        for v in &region.outs {
            values.entry(*v).or_insert_with(|| {
                let (s, ty) = (numbered("s", v.0), self.element(*v));
                new.extend(quote!(let mut #s = #rt::rooms::Strip::<#ty, #strip>::new();));
                quote!(#s.lanes())
            });
        }
        let place = |v: VarId| {
            let s = numbered("s", v.0);
            match region.again || region.outs.contains(&v) {
                true => quote!(#s.lanes_mut()),
                false => quote!(#s.lanes()),
            }
        };
        let (run, exits) = match region.again {
            true => self.rounds(region, place),
            false => self.once(region, place),
        };
        let go = exits.into_iter().map(|(point, here)| {
            self.go(point, &Going { values: &values, func, places: quote!(__places), here })
        });
        let go: Vec<TokenStream> = go.collect();
        quote!(#new #run #(#go)*)
    }

    /// Runs a region on a strip, all lanes of it. `place` is where a variable is.
    pub(super) fn once(&self, region: &Region, place: impl Fn(VarId) -> TokenStream) -> (TokenStream, Exits) {
        let (rt, strip, word) = (&self.emitter.rt, self.emitter.width.strip, &self.emitter.word);
        let (l, next) = (lane(), next());
        let (columns, places) = columns(region, place);
        let with = format_ident!("with{}", columns.len());
        let uniforms = body::uniforms(self.emitter, region);
        let before = quote!(#(#uniforms)*);
        let round = region::round(self.emitter, region, Chooser::Nobody, |_| true, &before, &quote!(!0));
        let (points, bits) = exits(region);
        if let [exit] = points[..] {
            let run = quote! {
                #rt::nest::#with(#(#places,)* |#(#columns),*| for #l in 0..__lanes { #round });
            };
            return (run, vec![(exit, quote!(__bits))]);
        }
        let run = quote! {
            let (#(#bits,)*) = #rt::nest::#with(#(#places,)* |#(#columns),*| {
                let mut __words = #rt::nest::Words::<#word, #strip>::new();
                for #l in 0..__lanes {
                    #round
                    __words.put(#l, #next);
                }
                (#(__bits & __words.at(#points, __level),)*)
            });
        };
        (run, points.into_iter().zip(bits.into_iter().map(|b| quote!(#b))).collect())
    }

    /// Runs some rounds of a loop on a strip.
    fn rounds(&self, region: &Region, place: impl Fn(VarId) -> TokenStream) -> (TokenStream, Exits) {
        let (rt, strip, word) = (&self.emitter.rt, self.emitter.width.strip, &self.emitter.word);
        let (l, next, here, stay) = (lane(), next(), here(), name("__stay"));
        let point = self.emitter.point(region.head);
        let (columns, places) = columns(region, place);
        // Copies that nothing points to stay in registers.
        let open = region.touched().into_iter().map(|v| {
            let (guard, column) = (numbered("g", v.0), column(v));
            quote!(let mut #guard = #rt::nest::open(#column).open(); let #column = #guard.lanes();)
        });
        let apart = format_ident!("apart{}", columns.len());
        let uniforms = body::uniforms(self.emitter, region);
        let round =
            region::round(self.emitter, region, Chooser::Branches, |_| false, &quote!(), &quote!(#stay));
        let (points, bits) = exits(region);
        let run = quote! {
            let (#(#bits,)*) = #rt::nest::#apart(#(#places,)* |#(#columns),*| {
                #rt::nest::align();
                #(#uniforms)*
                #(#open)*
                let mut __words = #rt::nest::Words::<#word, #strip>::new();
                #rt::nest::rounds_of::<#word, #strip>(
                    __bits, #point, &mut __words, __level, #ROUNDS,
                    #[inline(always)] |#l: usize, #here: bool, #stay: #word| { #round #next },
                );
                (#(__bits & __words.at(#points, __level),)*)
            });
        };
        (run, points.into_iter().zip(bits.into_iter().map(|b| quote!(#b))).collect())
    }
}

/// The columns that a region works on, and where they are.
fn columns(region: &Region, place: impl Fn(VarId) -> TokenStream) -> (Vec<Ident>, Vec<TokenStream>) {
    region.touched().into_iter().map(|v| (column(v), place(v))).unzip()
}

/// The points where a region leads, and the names of the lanes that go there.
fn exits(region: &Region) -> (Vec<u32>, Vec<Ident>) {
    region.successors.iter().map(|point| (*point, numbered("b", point))).unzip()
}
