//! How the records of a step run a region: once, or some rounds of a loop.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::codegen::region::{self, Chooser, Region, here, lane, next};
use crate::codegen::strip::{self, Exits, Ways};
use crate::codegen::wavefront::{Going, Values, Writer, name, numbered};
use crate::ir::VarId;

/// How often a strip runs a loop before those that have left it go on.
const ROUNDS: usize = 16;

impl Writer<'_, '_> {
    /// A region, and where its records go.
    pub(crate) fn region(&self, region: &Region, values: &Values) -> TokenStream {
        let (rt, strip) = (&self.emitter.rt, self.emitter.width.strip);
        let func = self.emitter.program.block(region.head).func;
        let mut values = values.clone();
        let mut new = TokenStream::new();
        for v in &region.outs {
            values.entry(*v).or_insert_with(|| {
                let (s, ty) = (numbered("strip", v.0), self.emitter.element(*v));
                new.extend(quote!(let mut #s = #rt::Strip::<#ty, #strip>::new();));
                self.lanes(&s)
            });
        }
        let place = |v: VarId| {
            let s = numbered("strip", v.0);
            match region.again || region.outs.contains(&v) {
                true => self.lanes_mut(&s),
                false => self.lanes(&s),
            }
        };
        let (run, exits) = match region.again {
            true => self.rounds(region, place),
            false => self.once(region, place),
        };
        let go = exits.into_iter().map(|(point, here)| {
            self.go(point, &Going { values: &values, func, places: quote!(__keys), here })
        });
        quote!(#new #run #(#go)*)
    }

    /// Runs a region on a strip, all lanes of it. `place` is where a variable is.
    pub(crate) fn once(&self, region: &Region, place: impl Fn(VarId) -> TokenStream) -> (TokenStream, Exits) {
        let uniforms = region::uniforms(self.emitter, region);
        strip::once(self.emitter, region, place, &quote!(__lanes), &quote!(#(#uniforms)*), Ways::Flags)
    }

    /// Runs some rounds of a loop on a strip.
    fn rounds(&self, region: &Region, place: impl Fn(VarId) -> TokenStream) -> (TokenStream, Exits) {
        let (rt, width, word) = (&self.emitter.rt, self.emitter.width.strip, &self.emitter.word);
        let (l, next, here, stay) = (lane(), next(), here(), name("__stay"));
        let point = self.emitter.point(region.head);
        let (columns, places) = strip::columns(region, place);
        // Copies that nothing points to stay in registers.
        let open = strip::opened(rt, region);
        let apart = format_ident!("outlined{}", columns.len());
        let uniforms = region::uniforms(self.emitter, region);
        let round =
            region::round(self.emitter, region, Chooser::Branches, |_| false, &quote!(), &quote!(#stay));
        let (points, bits) = strip::exits(region);
        let (lists, faults) = strip::lookups(self.emitter, &[region]);
        let run = quote! {
            let (#(#bits,)*) = #rt::vector::#apart(#(#places,)* |#(#columns),*| {
                #rt::vector::align();
                #(#uniforms)*
                #open
                #lists
                let mut __words = #rt::vector::Points::<#word, #width>::new();
                #rt::vector::repeat_exits::<#word, #width>(
                    __bits, #point, &mut __words, __level, #ROUNDS,
                    #[inline(always)] |#l: usize, #here: bool, #stay: #word| { #round #rt::next(#next) },
                );
                #faults
                (#(__bits & #rt::vector::Points::at(&__words, #points, __level),)*)
            });
        };
        (run, points.into_iter().zip(bits.into_iter().map(|b| quote!(#b))).collect())
    }
}
