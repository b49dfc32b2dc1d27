//! How the regions of vector frames run: once for the lanes of a set, or as a loop until all have left.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::codegen::instruction_sets::Engine;
use crate::codegen::lane_interchange::{Interchanged, turns, turns_left};
use crate::codegen::lookups::Lookups;
use crate::codegen::loop_distribution::{Loops, pieces};
use crate::codegen::names::{name, numbered};
use crate::codegen::region::{self, Chooser, Region, column, here, lane, next};
use crate::codegen::strip::{self, ARGUMENTS, LaneStorage};
use crate::codegen::vector::columns::{set, work};
use crate::codegen::vector::frames::{Stop, Writer};
use crate::ir::VarId;
use crate::ir::effects::HEAVY;

impl Writer<'_, '_> {
    /// Runs a region once, on every strip in which a lane is in `set`.
    pub(crate) fn strips(
        &self,
        region: &Region,
        set: &TokenStream,
        next_stops: &[&Stop<'_>],
        home: &dyn Fn(VarId) -> Ident,
    ) -> TokenStream {
        let (rt, word, strip) = (&self.emitter.rt, &self.emitter.word, self.emitter.width.strip);
        let (l, next, here) = (lane(), next(), here());
        let touched = region.touched();
        let open = touched.iter().map(|v| {
            let (home, column) = (home(*v), column(*v));
            match region.outs.contains(v) {
                true => quote!(let #column = #rt::vector::strips_mut::<_, #strip>(&mut *#home, __strips);),
                false => quote!(let #column = #rt::vector::strips::<_, #strip>(&*#home, __strips);),
            }
        });
        let place = |v: VarId| LaneStorage::Column(column(v)).of(rt, region, v);
        let (columns, places) = strip::columns(region, place);
        let run_strips = |run: TokenStream| {
            quote! {
                let __strips = #rt::vector::LaneSet::strips::<#strip>(&#set);
                #(#open)*
                for __i in 0..__strips {
                    let __bits = #rt::vector::LaneSet::strip::<#strip>(&#set, __i);
                    if __bits == 0 {
                        continue;
                    }
                    #run
                }
            }
        };
        if let Some(code) = self.interchanged.get(&region.head) {
            let run = run_strips(self.interchanged(code, &columns, &places, next_stops));
            let turns = turns();
            return match code.counts_turns {
                true => quote! {
                    let mut #turns = #rt::vector::Turns::of(&__arena);
                    #run
                    #rt::vector::Turns::end(#turns);
                },
                false => run,
            };
        }
        let points: Vec<u32> = next_stops.iter().map(|s| self.point(s)).collect();
        let parts = region.successors.len() > 1;
        let bits: Vec<Ident> = match parts {
            true => points.iter().map(|point| numbered("bits", point)).collect(),
            false => vec![],
        };
        let all = quote!((#(#bits,)*));
        let level = self.level();
        let (none, collect, found) = match bits.is_empty() {
            true => (quote!(), quote!(), quote!(())),
            false => (
                quote!(let mut __words = #rt::vector::Points::<#word, #strip>::new();),
                quote!(#rt::vector::Points::put(&mut __words, #l, #next);),
                quote!((#(#rt::vector::Points::at(&__words, #points, #level),)*)),
            ),
        };
        let pieces = pieces(self.emitter, region, Engine::Vector(self.isa));
        // Where it pays to have several vectors under way.
        let long = pieces.is_some() || self.weight(|b| b.region == region.head) > HEAVY;
        let run = |mask: Option<TokenStream>, pieces: Option<Loops>| {
            let (chooser, word, is_here) = match mask {
                None => (Chooser::Nobody, None, None),
                Some(_) => (Chooser::Value, Some(quote!(__m)), Some(quote!(let #here = __m[#l] != 0;))),
            };
            let with = format_ident!("noalias{}", columns.len() + usize::from(mask.is_some()));
            let Loops { before, gets, last } = match &pieces {
                Some(pieces) => pieces,
                None => &Loops { before: quote!(), gets: quote!(), last: region.clone() },
            };
            let round = region::round(self.emitter, last, chooser, |_| true, gets, &quote!(!0));
            let lanes = match long && mask.is_none() {
                true => quote!(#rt::vector::interleaved(#strip)),
                false => quote!(0..#strip),
            };
            let lookups = std::iter::once(&last.lookups);
            let (lists, faults) = (
                Lookups::before(lookups.clone(), self.emitter, &level),
                Lookups::behind(lookups, self.emitter),
            );
            quote! {
                #rt::vector::#with(#(#places,)* #mask |#(#columns,)* #word| {
                    #before
                    #none
                    #lists
                    for #l in #lanes {
                        #is_here
                        #round
                        #collect
                    }
                    #faults
                    #found
                })
            }
        };
        let full = run(None, pieces);
        let masked = run(Some(quote!(&#rt::vector::spread::<#word, #strip>(__bits, #level),)), None);
        let arrive = match (&points[..], parts) {
            ([only], false) => {
                let to = self::set(*only);
                quote!(#rt::vector::LaneSet::add::<#strip>(&mut #to, __i, __bits);)
            }
            (all, _) => {
                let sets = all.iter().map(|point| self::set(*point));
                quote!(#(#rt::vector::LaneSet::add::<#strip>(&mut #sets, __i, __bits & #bits);)*)
            }
        };
        run_strips(quote! {
            let #all = if #rt::vector::LaneSet::is_full::<#strip>(__bits) { #full } else { #masked };
            #arrive
        })
    }

    /// Runs a region whose loops run for all lanes of a strip.
    fn interchanged(
        &self,
        code: &Interchanged,
        columns: &[Ident],
        places: &[TokenStream],
        next_stops: &[&Stop<'_>],
    ) -> TokenStream {
        let Interchanged { left: _, transpose, rows, strips, check, code, next, returns, counts_turns } =
            code;
        let (rt, word, strip, level) =
            (&self.emitter.rt, &self.emitter.word, self.emitter.width.strip, self.level());
        let (with, here) = (format_ident!("noalias{}", columns.len()), here());
        let going = returns
            .as_ref()
            .map(|(_, unreturned)| quote!(& #rt::lane_interchange::Remaining::lanes(&#unreturned, #level)));
        let next = self.emitter.point_at(*next);
        let arrive = next_stops.iter().filter(|stop| self.point(stop) == next).map(|_| {
            let to = set(next);
            quote!(#rt::vector::LaneSet::add::<#strip>(&mut #to, __i, __going);)
        });
        let (turns, left) = (turns(), turns_left());
        let count = |does| counts_turns.then_some(does);
        let begin = count(quote!(let mut #left = #rt::vector::Turns::begin_strip(&mut #turns);));
        let end = count(quote!(#rt::vector::Turns::end_strip(&mut #turns, #left);));
        let run = quote!(#strips #rt::vector::give_up_unless(#check); #code #end __bits #going);
        // Lists that lanes look into may be anywhere, but for the arrays.
        let (names, rows): (Vec<&Ident>, Vec<&TokenStream>) =
            rows.iter().map(|(name, at)| (name, at)).unzip();
        let run = match names.len() {
            0 => run,
            n if n > ARGUMENTS => quote!(#(let #names = #rows;)* #run),
            n => {
                let with = format_ident!("noalias{n}");
                quote!(#rt::vector::#with(#(#rows,)* |#(#names),*| { #run }))
            }
        };
        quote! {
            let __going = #rt::vector::#with(#(#places,)* |#(#columns),*| {
                let #here = #rt::lane_interchange::ActiveLanes::<#word, #strip>::of(__bits, #level);
                #transpose
                #begin
                #run
            });
            #(#arrive)*
        }
    }

    /// Runs a loop until all lanes have left it.
    pub(crate) fn sweep(&self, region: &Region, stops: &[Stop<'_>]) -> TokenStream {
        let (emitter, rt, word) = (self.emitter, &self.emitter.rt, &self.emitter.word);
        let strip = emitter.width.strip;
        let (l, next, here, stay) = (lane(), next(), here(), name("__stay"));
        let point = emitter.point(region.head);
        let set_here = set(point);
        let touched = region.touched();
        let works: Vec<Ident> = touched.iter().map(|v| work(*v)).collect();
        let gather = touched.iter().map(|v| {
            let (work, home) = (work(*v), self.home(*v));
            let (takes, of) = (region.takes.contains(v), quote!(&__work, &mut __sub));
            let column = if self.is_result(*v) {
                let option = quote!(::core::option::Option);
                let values = if takes { quote!(#option::Some(&#set_here)) } else { quote!(#option::None) };
                quote!(apart(#of, &mut *#home, #values))
            } else if !takes {
                quote!(empty(#of, &mut *#home))
            } else if self.is_lent(*v) {
                quote!(lent(#of, &*#home, &#set_here))
            } else if region.plainly_stored.contains(v) {
                quote!(known(#of, &mut *#home, &#set_here))
            } else {
                quote!(new(#of, &mut *#home, &#set_here))
            };
            quote!(let mut #work = #rt::vector::LoopColumn::#column;)
        });
        let columns: Vec<Ident> = touched.iter().map(|v| column(*v)).collect();
        let open = strip::opened(rt, region);
        let level = self.level();
        let exits: Vec<u32> = region.successors.iter().copied().filter(|p| *p != point).collect();
        // Nobody reads it behind the loop: lanes that have left may hold junk in it.
        let fades = |v: &VarId| !region.live_out.contains(v);
        let stores = region::stores();
        let (chooser, make_stores, keep_stores) = match region.plainly_stored.is_empty() {
            true => (Chooser::Branches, None, None),
            false => (
                Chooser::BranchesOfKnownBits,
                Some(region::make_stores(emitter)),
                Some(quote!(let #stores = #stores;)),
            ),
        };
        let round = region::round(emitter, region, chooser, fades, &quote!(), &quote!(#stay));
        let lane_code =
            quote!(#[inline(always)] |#l: usize, #here: bool, #stay: #word| { #round #rt::next(#next) });
        let run = match &exits[..] {
            [exit] => quote! {
                (__bits & !#rt::vector::repeat::<#word, #strip>(__bits, #exit, #level, __rounds, #lane_code),)
            },
            exits => quote! {{
                let mut __words = #rt::vector::Points::<#word, #strip>::new();
                #rt::vector::repeat_exits::<#word, #strip>(__bits, #point, &mut __words, #level, __rounds, #lane_code);
                (#(__bits & #rt::vector::Points::at(&__words, #exits, #level),)*)
            }},
        };
        let lookups = std::iter::once(&region.lookups);
        let (lists, faults) =
            (Lookups::before(lookups.clone(), emitter, &level), Lookups::behind(lookups, emitter));
        let apart = format_ident!("outlined{}", columns.len());
        let uniforms: Vec<&Ident> = region.uniforms.iter().map(|v| &emitter.program.var(*v).ident).collect();
        let gone: Vec<Ident> = exits.iter().map(|exit| numbered("gone", exit)).collect();
        let leave = exits.iter().zip(&gone).map(|(exit, gone)| {
            let to = stops.iter().find(|s| self.point(s) == *exit);
            let enter = to.map(|_| {
                let to = set(*exit);
                quote!(#rt::vector::LaneSet::insert(&mut #to, __lane);)
            });
            let live = to.map(|to| self.live(to));
            let outs = region.outs.iter().filter(|v| match &live {
                Some(live) => live.contains(v),
                None => self.is_result(**v),
            });
            let outs: Vec<&VarId> = outs.collect();
            let put = |v: &&VarId| {
                let work = work(**v);
                quote!(#rt::vector::LoopColumn::put(&mut #work, __lane, __at);)
            };
            let (all, results): (Vec<_>, Vec<_>) =
                (outs.iter().map(put).collect(), outs.iter().filter(|v| self.is_result(***v)).map(put).collect());
            // In place the values of lanes that leave are where they belong.
            let put_results = (!results.is_empty()).then(|| {
                quote!(#rt::vector::LoopLanes::each::<#strip>(&__work, __i, #gone, |__at, __lane| { #(#results)* });)
            });
            let enter_in_place = to.map(|_| {
                let to = set(*exit);
                quote!(#rt::vector::LaneSet::add::<#strip>(&mut #to, __i, #gone);)
            });
            quote! {
                if #gone != 0 {
                    if #rt::vector::LoopLanes::are_in_place(&__work) {
                        #put_results
                        #enter_in_place
                    } else {
                        #rt::vector::LoopLanes::each::<#strip>(&__work, __i, #gone, |__at, __lane| {
                            #(#all)*
                            #enter
                        });
                    }
                    #rt::vector::LoopLanes::leave::<#strip>(&mut __work, __i, #gone);
                }
            }
        });
        quote! {
            #rt::vector::LaneSet::trim(&mut #set_here);
            #make_stores
            let mut __sub = #rt::vector::Arena::sub(&mut __arena);
            let mut __work = #rt::vector::LoopLanes::new::<#strip>(&mut __sub, &#set_here);
            #(#gather)*
            #rt::vector::LaneSet::clear(&mut #set_here);
            while #rt::vector::LoopLanes::any(&__work) {
                let __rounds = #rt::vector::LoopLanes::rounds::<#strip>(&mut __work);
                for __i in 0..#rt::vector::LoopLanes::strips::<#strip>(&__work) {
                    let __bits = #rt::vector::LoopLanes::strip::<#strip>(&__work, __i);
                    if __bits == 0 {
                        continue;
                    }
                    let (#(#gone,)*) = #rt::vector::#apart(
                        #(&mut #rt::vector::strips_mut::<_, #strip>(#rt::vector::LoopColumn::slots(&mut #works), __i + 1)[__i],)*
                        |#(#columns),*| {
                            #rt::vector::align();
                            // Not by the reference that a closure holds, behind which they could change.
                            #(let #uniforms = #uniforms;)*
                            #keep_stores
                            #open
                            #lists
                            let __left = #run;
                            #faults
                            __left
                        },
                    );
                    #(#leave)*
                }
                if #rt::vector::LoopLanes::sparse(&__work) {
                    #(#rt::vector::LoopColumn::compact(&mut #works, &__work, &mut __sub);)*
                    #rt::vector::LoopLanes::close(&mut __work, &__sub);
                }
            }
        }
    }
}
