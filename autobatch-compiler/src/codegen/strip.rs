//! A region run on one strip: a loop over the lanes, without a mask.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::codegen::emitter::Emitter;
use crate::codegen::lookups::Lookups;
use crate::codegen::names::{name, numbered};
use crate::codegen::region::{self, Chooser, Region, column, lane, next};
use crate::ir::VarId;

/// Columns and words that a closure of the runtime's `noalias…` can be given.
pub(crate) const ARGUMENTS: usize = 28;

/// The points where a region leads, and the lanes that go there.
pub(crate) type Exits = Vec<(u32, TokenStream)>;

/// What says which of two ways a lane goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ways {
    /// Bytes.
    Flags,
    /// The same, read in parts: a vector that is wider than what has just been stored has to wait for it.
    FlagsByParts,
    /// The point where it goes, as wide as the data.
    Points,
    /// All bits of a word as wide as the data, or none.
    Words,
}

/// Runs a region once, on the first `lanes` lanes of a strip, of which those in `__bits` count. `place` is where
/// a variable is; `before` stands before all of it.
pub(crate) fn once(
    emitter: &Emitter<'_>,
    region: &Region,
    place: impl Fn(VarId) -> TokenStream,
    lanes: &TokenStream,
    before: &TokenStream,
    ways: Ways,
) -> (TokenStream, Exits) {
    let (rt, strip, word) = (&emitter.rt, emitter.width.strip, &emitter.word);
    let (l, next) = (lane(), next());
    let (columns, places) = columns(region, place);
    let with = format_ident!("noalias{}", columns.len());
    let round = region::round(emitter, region, Chooser::Nobody, |_| true, &quote!(), &quote!(!0));
    let (lists, faults) = lookups(emitter, &[region]);
    let (points, bits) = exits(region);
    if let [exit] = points[..] {
        let run = quote! {
            #rt::vector::#with(#(#places,)* |#(#columns),*| {
                #before
                #lists
                for #l in 0..#lanes { #round }
                #faults
            });
        };
        return (run, vec![(exit, quote!(__bits))]);
    }
    if ways != Ways::Points
        && let [_, _] = points[..]
    {
        let before = quote!(#before #lists);
        let round = Lanes { region, before, code: round, faults, with, places, names: columns };
        return round.two_ways(emitter, lanes, ways);
    }
    let run = quote! {
        let (#(#bits,)*) = #rt::vector::#with(#(#places,)* |#(#columns),*| {
            let mut __words = #rt::vector::Points::<#word, #strip>::new();
            #before
            #lists
            for #l in 0..#lanes {
                #round
                #rt::vector::Points::put(&mut __words, #l, #next);
            }
            #faults
            (#(__bits & #rt::vector::Points::at(&__words, #points, __level),)*)
        });
    };
    (run, points.into_iter().zip(bits.into_iter().map(|b| quote!(#b))).collect())
}

/// Where the lanes of a strip are.
#[derive(Clone)]
pub(crate) enum LaneStorage {
    /// In a column that has been taken apart into strips: in number `__i`.
    Column(Ident),
    /// In a `Strip`.
    Strip(Ident),
}

impl LaneStorage {
    /// The lanes, to be read.
    pub(crate) fn read(&self, rt: &TokenStream) -> TokenStream {
        match self {
            LaneStorage::Column(strips) => quote!(&#strips[__i]),
            LaneStorage::Strip(strip) => quote!(#rt::Strip::lanes(&#strip)),
        }
    }

    /// The lanes, as `region` needs those of `v`.
    pub(crate) fn of(&self, rt: &TokenStream, region: &Region, v: VarId) -> TokenStream {
        if region.outs.contains(&v) { self.write(rt) } else { self.read(rt) }
    }

    /// The lanes, to be written.
    pub(crate) fn write(&self, rt: &TokenStream) -> TokenStream {
        match self {
            LaneStorage::Column(strips) => quote!(&mut #strips[__i]),
            LaneStorage::Strip(strip) => quote!(#rt::Strip::lanes_mut(&mut #strip)),
        }
    }

    /// The lanes, inside the loop over them.
    fn inside(&self) -> Ident {
        let (LaneStorage::Column(name) | LaneStorage::Strip(name)) = self;
        format_ident!("{}_lanes", name)
    }
}

/// A region that is run for a lane, behind others.
pub(crate) struct Part<'p> {
    pub(crate) region: &'p Region,
    pub(crate) place: &'p dyn Fn(VarId) -> LaneStorage,
    /// What gets the values of what before.
    pub(crate) begin: Vec<(LaneStorage, LaneStorage)>,
}

/// What is done for each lane of a strip. It ends in a region that leads to two points.
struct Lanes<'p> {
    region: &'p Region,
    /// Stands before the loop over the lanes.
    before: TokenStream,
    code: TokenStream,
    /// Stands behind the loop.
    faults: TokenStream,
    /// Calls a closure with `places` as `names`.
    with: Ident,
    places: Vec<TokenStream>,
    names: Vec<Ident>,
}

impl<'p> Lanes<'p> {
    /// Regions one behind the other, of which only the last leads to more than one point. What one of them leaves for
    /// the next need not leave its register. `None` if they have too many variables.
    fn parts(emitter: &Emitter<'_>, parts: &[Part<'p>]) -> Option<Lanes<'p>> {
        let (rt, l) = (&emitter.rt, lane());
        // By name, whether it is written.
        let mut places: BTreeMap<Ident, (LaneStorage, bool)> = BTreeMap::new();
        let mut touch = |place: LaneStorage, written: bool| {
            let name = place.inside();
            places.entry(name.clone()).or_insert((place, false)).1 |= written;
            name
        };
        let mut code = Vec::new();
        for Part { region, place, begin } in parts {
            let begin = begin.iter().map(|(to, from)| {
                let (to, from) = (touch(to.clone(), true), touch(from.clone(), false));
                quote!(#to[#l] = #rt::vector::copy_slot(&#from[#l]);)
            });
            let begin: Vec<TokenStream> = begin.collect();
            let open = region.touched().into_iter().map(|v| {
                let written = region.outs.contains(&v);
                let (column, place) = (column(v), touch(place(v), written));
                if written { quote!(let #column = &mut *#place;) } else { quote!(let #column = &*#place;) }
            });
            let open: Vec<TokenStream> = open.collect();
            let round = region::round(emitter, region, Chooser::Nobody, |_| true, &quote!(), &quote!(!0));
            code.push(quote!(#(#begin)* #(#open)* #round));
        }
        let last = code.pop().expect("a region at least");
        let with = format_ident!("noalias{}", places.len());
        let (names, places) = places
            .iter()
            .map(|(name, (place, written))| {
                (name.clone(), if *written { place.write(rt) } else { place.read(rt) })
            })
            .unzip();
        let regions: Vec<&Region> = parts.iter().map(|part| part.region).collect();
        let (before, faults) = lookups(emitter, &regions);
        let region = regions.last().expect("a region at least");
        let all = Lanes { region, before, code: quote!(#({ #code })* #last), faults, with, places, names };
        (all.names.len() <= ARGUMENTS).then_some(all)
    }

    /// Runs a strip and sets the bits of its exits.
    fn two_ways(&self, emitter: &Emitter<'_>, lanes: &TokenStream, ways: Ways) -> (TokenStream, Exits) {
        let (points, bits) = exits(self.region);
        let ([one, other], [to_one, to_other]) = (&points[..], &bits[..]) else { unreachable!("two ways") };
        let (rt, width, word, l, next) = (&emitter.rt, emitter.width.strip, &emitter.word, lane(), next());
        let Lanes { before, code, faults, with, places, names, .. } = self;
        let (kind, put, read) = match ways {
            Ways::Flags => (quote!(Flags::<#width>), quote!(Flags::put), quote!(Flags::set)),
            Ways::FlagsByParts => (quote!(Flags::<#width>), quote!(Flags::put), quote!(Flags::set_by_parts)),
            Ways::Points | Ways::Words => {
                (quote!(Points::<#word, #width>), quote!(Points::note), quote!(Points::all_noted))
            }
        };
        // The closure makes bits of them where LLVM still has them in a register.
        let run = quote! {
            let #to_other = #rt::vector::#with(#(#places,)* |#(#names),*| {
                let mut __ways = #rt::vector::#kind::new();
                #before
                for #l in 0..#lanes {
                    #code
                    #rt::vector::#put(&mut __ways, #l, #next, #other);
                }
                #faults
                __bits & #rt::vector::#read(&__ways, __level)
            });
            let #to_one = __bits & !#to_other;
        };
        (run, vec![(*one, quote!(#to_one)), (*other, quote!(#to_other))])
    }
}

/// Runs regions for each of the first `lanes` lanes of a strip.
pub(crate) fn lanes(
    emitter: &Emitter<'_>,
    parts: &[Part<'_>],
    lanes: &TokenStream,
    ways: Ways,
) -> Option<(TokenStream, Exits)> {
    Some(Lanes::parts(emitter, parts)?.two_ways(emitter, lanes, ways))
}

/// The same for all lanes of a gang; an expression: those that go to `point`.
pub(crate) fn gang_lanes(
    emitter: &Emitter<'_>,
    parts: &[Part<'_>],
    gang: usize,
    point: u32,
) -> Option<TokenStream> {
    let (rt, word, l, next) = (&emitter.rt, &emitter.word, lane(), next());
    let Lanes { before, code, faults, with, places, names, .. } = Lanes::parts(emitter, parts)?;
    Some(quote! {
        #rt::vector::#with(#(#places,)* |#(#names),*| {
            let mut __words = #rt::vector::Points::<#word, #gang>::new();
            #before
            for #l in 0..#gang {
                #code
                #rt::vector::Points::note(&mut __words, #l, #next, #point);
            }
            #faults
            #rt::vector::GangMask::noted(&__words, __level)
        })
    })
}

/// What stands before and behind a loop over the lanes that run regions.
pub(crate) fn lookups(emitter: &Emitter<'_>, regions: &[&Region]) -> (TokenStream, TokenStream) {
    let all = regions.iter().map(|region| &region.lookups);
    (Lookups::before(all.clone(), emitter, &quote!(__level)), Lookups::behind(all, emitter))
}

/// Opens copies of the strips that a region works on, to which nothing points: they may stay in registers.
pub(crate) fn opened(rt: &TokenStream, region: &Region) -> TokenStream {
    let open = region.copied().into_iter().map(|v| {
        let (guard, column) = (numbered("loan", v.0), column(v));
        let open = name(if region.outs.contains(&v) { "open" } else { "open_to_read" });
        quote! {
            let mut #guard = #rt::vector::#open(#column).open();
            let #column = #rt::Local::<_, _, _, true>::lanes(&mut #guard);
        }
    });
    open.collect()
}

/// The columns that a region works on, and where they are.
pub(crate) fn columns(
    region: &Region,
    place: impl Fn(VarId) -> TokenStream,
) -> (Vec<Ident>, Vec<TokenStream>) {
    region.touched().into_iter().map(|v| (column(v), place(v))).unzip()
}

/// The points where a region leads, and the names of the lanes that go there.
pub(crate) fn exits(region: &Region) -> (Vec<u32>, Vec<Ident>) {
    region.successors.iter().map(|point| (*point, numbered("bits", point))).unzip()
}
