//! Wavefront execution: a program that only computes (see [`crate::admission::purity`]) for the program-counter executor, once per
//! instruction set.
//!
//! ```text
//! let mut queue2 = wavefront.queue(…);  let queued2_0 = wavefront.column(…);  …        // a queue per program point, a column per live variable
//! let saved0 = SavedFrame::new();  let mut stack = wavefront.stack(…);           // what calls of a site save, on one stack for all
//! loop {
//!     if let Some(load) = wavefront.load(&mut queue0) { …parameters into queued0_… }
//!     if wavefront.is_low() { wavefront.grow(…) }
//!     match wavefront.next(&[queue0.len(), queue2.len(), …]) {
//!         Some(1) => for strip in the records of queue2 {
//!             let strip0 = Strip::of(queued2_0, …);  let keys = queue2.keys(…);
//!             …region…                                             // every lane, without a mask
//!             put(queued3_0, &queue3, &strip0, those that go to 3); queue3.enter(&keys, …);
//!         }
//!         …
//!         None => break,
//!     }
//! }
//! ```
//!
//! Where records go from a region:
//! * to another region: into its queue;
//! * to a call: into the call's queue, or at once if all go there. The callee's entry region runs in the same
//!   strip. Who returns from it goes on behind the call; the others save what is live there and enter the
//!   callee's queues, one level up;
//! * back from a function: what the call site has saved is fetched, and they enter the queue behind it. At the
//!   bottom the member has its result.
//!
//! Invariants: `queued…` of a queue hold the values of its records for every variable that is live there and has a column;
//! a record is in one queue; a record has been called from the site that its key names, which has saved a frame
//! under that key.

mod region_runs;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::emitter::Emitter;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::names::{name, numbered, source};
use crate::codegen::passed_states;
use crate::codegen::region::{self, Region};
use crate::codegen::strip::LaneStorage;
use crate::codegen::vector::columns;
use crate::ir::{BlockId, Call, FuncId, VarId, VarSet};

/// Numbers of queues that are no program point's begin here.
const EXITS: u32 = 1 << 16;

/// Where records wait.
#[derive(Clone, Copy)]
pub(crate) enum Stop<'a> {
    /// New members, before the entry function's first region.
    Begin,
    Region(&'a Region),
    Call(&'a Call),
    /// Behind a call whose result is the function's.
    Exit(FuncId),
}

/// Where the values of a strip of records are: slices of its lanes.
type Values = BTreeMap<VarId, TokenStream>;

/// Records of a strip that go the same way.
struct Going<'v> {
    values: &'v Values,
    /// The function that they are in.
    func: FuncId,
    places: TokenStream,
    /// The lanes.
    here: TokenStream,
}

pub(crate) struct Writer<'e, 'a> {
    emitter: &'e Emitter<'a>,
    isa: &'e str,
    regions: BTreeMap<BlockId, Region>,
}

/// Statements that run a tile, given `__begin`, `__tile` and the parameters of the entry function; `None` if there are
/// too many call sites or variables.
pub(crate) fn tile(emitter: &Emitter<'_>, isa: &str, most: usize) -> Option<TokenStream> {
    let heads = emitter.heads_in_source_order().into_iter();
    let regions: BTreeMap<BlockId, Region> =
        heads.map(|head| (head, region::region(emitter, head, Engine::Vector(isa)))).collect();
    let writer = Writer { emitter, isa, regions };
    let fits = |r: &Region| r.touched().len() <= most;
    let sites = emitter.calls.len() < usize::from(u8::MAX);
    (sites && writer.regions.values().all(fits)).then(|| writer.tile())
}

impl Writer<'_, '_> {
    /// Whether the function's entry region has a queue: because it is a loop, or tail calls lead there.
    fn entry_has_room(&self, func: FuncId) -> bool {
        let point = self.emitter.point(self.emitter.program.func(func).entry);
        self.regions.values().any(|r| r.successors.contains(&point))
    }

    /// Whether records wait for a call: if others of their region go elsewhere.
    fn call_has_room(&self, block: BlockId, call: &Call) -> bool {
        let program = self.emitter.program;
        let region = &self.regions[&program.block(block).region];
        let is_entry = region.head == program.func(program.block(block).func).entry;
        is_entry || region.again || region.successors.len() > 1 || {
            debug_assert!(region.successors.contains(&self.emitter.call_point(call.id)));
            false
        }
    }

    /// Where new members wait: the entry region may have a queue for others too.
    fn begin(&self) -> Stop<'_> {
        let entry = self.emitter.program.entry;
        match self.entry_has_room(entry) {
            true => Stop::Region(&self.regions[&self.emitter.program.func(entry).entry]),
            false => Stop::Begin,
        }
    }

    /// All queues: that of new members, then as their code stands in the source.
    fn stops(&self) -> Vec<Stop<'_>> {
        let (emitter, program) = (self.emitter, self.emitter.program);
        let mut stops = Vec::new();
        if let begin @ Stop::Begin = self.begin() {
            stops.push(begin);
        }
        let mut exits = BTreeSet::new();
        for (head, region) in &self.regions {
            let func = program.block(*head).func;
            if *head != program.func(func).entry || self.entry_has_room(func) {
                stops.push(Stop::Region(region));
            }
            for (block, call) in &emitter.calls {
                if program.block(*block).region == *head {
                    if self.call_has_room(*block, call) {
                        stops.push(Stop::Call(call));
                    }
                    if program.is_exit(call.cont) && exits.insert(func) {
                        stops.push(Stop::Exit(func));
                    }
                }
            }
        }
        stops
    }

    /// The number in the names of a queue and its columns.
    fn number(&self, stop: &Stop<'_>) -> u32 {
        let emitter = self.emitter;
        match stop {
            Stop::Begin => emitter.point(emitter.program.func(emitter.program.entry).entry),
            Stop::Region(region) => emitter.point(region.head),
            Stop::Call(call) => emitter.call_point(call.id),
            Stop::Exit(func) => EXITS + func.0 as u32,
        }
    }

    /// The variables with a value in a queue.
    fn live(&self, stop: &Stop<'_>) -> VarSet {
        let (emitter, program) = (self.emitter, self.emitter.program);
        let mut live = match stop {
            Stop::Begin => program.func(program.entry).params.iter().copied().collect(),
            Stop::Region(region) => emitter.live_at(region.head),
            Stop::Call(call) => emitter.live_at_call(call),
            Stop::Exit(func) => VarSet::from([program.func(*func).result]),
        };
        live.retain(|v| emitter.has_column(*v) && !program.var(*v).is_uniform());
        live
    }

    fn queue(&self, stop: &Stop<'_>) -> Ident {
        numbered("queue", self.number(stop))
    }

    fn column(&self, stop: &Stop<'_>, var: VarId) -> Ident {
        numbered("queued", format_args!("{}_{}", self.number(stop), var.0))
    }

    /// What calls of a site save.
    fn saved(&self, call: &Call) -> Ident {
        numbered("saved", self.emitter.call_index(call.id))
    }

    /// The number of a call site in places; 0 is for a member's first activation.
    fn site(&self, call: &Call) -> u8 {
        self.emitter.call_index(call.id) as u8 + 1
    }

    /// The variables that are live behind a call and have a column.
    fn across(&self, call: &Call) -> VarSet {
        let mut live = self.emitter.live_across(call);
        live.retain(|v| self.emitter.has_column(*v));
        live
    }

    /// Where a call's result goes.
    fn behind<'s>(&'s self, call: &Call) -> Stop<'s> {
        let program = self.emitter.program;
        match program.is_exit(call.cont) {
            true => Stop::Exit(program.block(call.cont).func),
            false => Stop::Region(&self.regions[&call.cont]),
        }
    }

    fn tile(&self) -> TokenStream {
        let (emitter, rt) = (self.emitter, &self.emitter.rt);
        let program = emitter.program;
        let strip = emitter.width.strip;
        let stops = self.stops();
        let entry = program.func(program.entry);
        let sources = (0..entry.params.len()).map(source);
        let idents = entry.params.iter().map(|v| &program.var(*v).ident);
        let declare = stops.iter().map(|stop| {
            let queue = self.queue(stop);
            let columns = self.live(stop).into_iter().map(|v| {
                let (column, ty) = (self.column(stop, v), self.emitter.element(v));
                quote!(let #column = #rt::wavefront::Wavefront::column::<#ty, #strip>(&__wavefront, &mut __arena);)
            });
            quote!(let mut #queue = #rt::wavefront::Wavefront::queue::<#strip>(&__wavefront, &mut __arena); #(#columns)*)
        });
        let saved: Vec<Ident> = emitter.calls.iter().map(|(_, call)| self.saved(call)).collect();
        let queues: Vec<Ident> = stops.iter().map(|stop| self.queue(stop)).collect();
        let load = self.load();
        let arms = stops.iter().enumerate().map(|(nth, stop)| {
            let step = self.step(stop);
            quote!(::core::option::Option::Some(#nth) => { #step })
        });
        let restored = emitter.calls.iter().map(|(_, call)| {
            let (stop, saved, across) = (self.behind(call), self.saved(call), self.across(call));
            let values: Vec<Ident> = across.iter().map(|v| numbered("loaded", v.0)).collect();
            let columns = across.iter().map(|v| self.column(&stop, *v));
            quote! {
                #rt::wavefront::SavedFrame::restores(&#saved, |(#(#values,)*)| { #(#rt::wavefront::put_one(#columns, 0, #values);)* });
            }
        });
        let level = columns::level(emitter, self.isa);
        let values = passed_states::values(emitter);
        quote! {
            let __level = #level;
            #values
            let mut __arena = #rt::vector::Arena::at(#rt::vector::Tile::arena(__tile), __level);
            #(let #saved = #rt::wavefront::SavedFrame::new();)*
            let __size = #rt::wavefront::largest(&[#(#rt::wavefront::SavedFrame::size(&#saved)),*]);
            let mut __wavefront = #rt::wavefront::Wavefront::new(&mut __arena, __begin, __size);
            let mut __stack = #rt::wavefront::Wavefront::stack(&mut __wavefront, &mut __arena, __size);
            #(#declare)*
            #(#restored)*
            #(let #sources = #idents;)*
            loop {
                #load
                if #rt::wavefront::Wavefront::is_low(&__wavefront) {
                    #rt::wavefront::Wavefront::grow(&mut __wavefront, &mut __arena, &mut __stack);
                }
                match #rt::wavefront::Wavefront::next(&__wavefront, &[#(#rt::wavefront::ContinuationQueue::len(&#queues)),*]) {
                    #(#arms)*
                    _ => break,
                }
            }
        }
    }

    /// New members, into the queue where they begin.
    fn load(&self) -> TokenStream {
        let (program, rt) = (self.emitter.program, &self.emitter.rt);
        let begin = self.begin();
        let live = self.live(&begin);
        let params = program.func(program.entry).params.iter().enumerate().filter(|(_, v)| live.contains(v));
        let fill = params.map(|(nth, v)| {
            let (column, source) = (self.column(&begin, *v), source(nth));
            match program.var(*v).shared {
                true => quote!(for __slot in #rt::wavefront::Load::slots(&__load, #column) {
                    *__slot = ::core::mem::MaybeUninit::new(#source);
                }),
                false => quote!(#rt::wavefront::Load::fill(&__load, #source, #column);),
            }
        });
        let queue = self.queue(&begin);
        quote! {
            if let ::core::option::Option::Some(__load) = #rt::wavefront::Wavefront::load(&mut __wavefront, &mut #queue) {
                #(#fill)*
            }
        }
    }

    /// The lanes of a strip, to be read.
    fn lanes(&self, strip: &Ident) -> TokenStream {
        LaneStorage::Strip(strip.clone()).read(&self.emitter.rt)
    }

    /// The lanes of a strip, to be written.
    fn lanes_mut(&self, strip: &Ident) -> TokenStream {
        LaneStorage::Strip(strip.clone()).write(&self.emitter.rt)
    }

    /// What the records of a queue do.
    fn step(&self, stop: &Stop<'_>) -> TokenStream {
        let (rt, strip) = (&self.emitter.rt, self.emitter.width.strip);
        let program = self.emitter.program;
        let queue = self.queue(stop);
        let live = self.live(stop);
        let columns: Vec<Ident> = live.iter().map(|v| self.column(stop, *v)).collect();
        let strips: Vec<Ident> = live.iter().map(|v| numbered("strip", v.0)).collect();
        let values: Values = live.iter().zip(&strips).map(|(v, s)| (*v, self.lanes(s))).collect();
        let going =
            |func: FuncId| Going { values: &values, func, places: quote!(__keys), here: quote!(__bits) };
        let code = match stop {
            Stop::Begin => self.enter(None, &going(program.entry)),
            Stop::Call(call) => self.enter(Some(call), &going(program.var(call.dest).func)),
            Stop::Exit(func) => self.leave(&going(*func)),
            Stop::Region(region) => self.region(region, &values),
        };
        quote! {
            let __step = #rt::wavefront::ContinuationQueue::take::<#strip>(&mut #queue);
            if #rt::wavefront::Wave::is_short::<#strip>(__step) {
                #(#rt::wavefront::Wave::pad::<_, #strip>(__step, #columns);)*
            }
            for __i in 0..#rt::wavefront::Wave::strips::<#strip>(__step) {
                let __first = #rt::wavefront::Wave::first::<#strip>(__step, __i);
                let __bits = #rt::wavefront::Wave::bits::<#strip>(__step, __i);
                let __lanes = #rt::wavefront::Wave::lanes::<#strip>(__step, __i);
                let __keys = #rt::wavefront::ContinuationQueue::keys::<#strip>(&#queue, __first);
                #(let mut #strips = #rt::Strip::<_, #strip>::of(#columns, __first);)*
                #code
            }
        }
    }

    /// Records go to a program point.
    fn go(&self, point: u32, going: &Going<'_>) -> TokenStream {
        let (emitter, program) = (self.emitter, self.emitter.program);
        if point == emitter.return_point(going.func) {
            return self.leave(going);
        }
        if let Some((block, call)) = emitter.calls.iter().find(|(_, c)| emitter.call_point(c.id) == point) {
            return match self.call_has_room(*block, call) {
                true => self.wait(&Stop::Call(call), going),
                false => self.enter(Some(call), going),
            };
        }
        let head = program.order.iter().find(|head| emitter.point(**head) == point).expect("a region's head");
        self.wait(&Stop::Region(&self.regions[head]), going)
    }

    /// Records enter a queue.
    fn wait(&self, stop: &Stop<'_>, going: &Going<'_>) -> TokenStream {
        let rt = &self.emitter.rt;
        let Going { values, places, here, .. } = going;
        let queue = self.queue(stop);
        let put = self.live(stop).into_iter().map(|v| {
            let column = self.column(stop, v);
            let value = &values[&v];
            quote!(#rt::wavefront::put(#column, &#queue, #value, #here, __level);)
        });
        quote! {
            if #here != 0 {
                #(#put)*
                #rt::wavefront::ContinuationQueue::enter(&mut #queue, &#places, #here, __level);
            }
        }
    }

    /// Records are called: all that `going` names, and no others of the strip. Without a call site they are new members.
    fn enter(&self, call: Option<&Call>, going: &Going<'_>) -> TokenStream {
        let (emitter, program, rt) = (self.emitter, self.emitter.program, &self.emitter.rt);
        let strip = emitter.width.strip;
        let callee = call.map_or(program.entry, |call| call.callee);
        let function = program.func(callee);
        let arg = |nth: usize| call.map_or(function.params[nth], |call| emitter.column_of(call.args[nth]));
        let Going { values, places, here, .. } = going;
        let check = call.map(|_| quote!(#rt::wavefront::Wavefront::check(&mut __wavefront, &#places);));
        // The arguments, under the parameters' names.
        let mut inside = Values::new();
        let mut declare = Vec::new();
        let entry = &self.regions[&function.entry];
        let has_room = self.entry_has_room(callee);
        for (nth, param) in function.params.iter().enumerate() {
            if program.var(*param).is_uniform() || !emitter.has_column(*param) {
                continue;
            }
            let (from, to) = (&values[&arg(nth)], numbered("to", param.0));
            let ty = self.emitter.element(*param);
            if !has_room && entry.outs.contains(param) {
                declare.push(quote!(let mut #to = #rt::Strip::<#ty, #strip>::copied(#from);));
                inside.insert(*param, self.lanes(&to));
            } else {
                declare.push(quote!(let #to: &[::core::mem::MaybeUninit<#ty>; #strip] = #from;));
                inside.insert(*param, quote!(#to));
            }
        }
        let up_places = call.map(|call| {
            let site = self.site(call);
            quote!(let __up = #rt::wavefront::Keys::callee(&#places, &__wavefront, #site);)
        });
        if has_room {
            let stop = Stop::Region(entry);
            let inside = Going { values: &inside, func: callee, places: quote!(__up), here: here.clone() };
            let wait = self.wait(&stop, &inside);
            let save = call.map(|call| self.save(call, going, here));
            return quote!(#check #(#declare)* #up_places #wait #save);
        }
        for v in &entry.outs {
            if inside.contains_key(v) {
                continue;
            }
            let (to, ty) = (numbered("to", v.0), self.emitter.element(*v));
            declare.push(quote!(let mut #to = #rt::Strip::<#ty, #strip>::new();));
            inside.insert(*v, self.lanes(&to));
        }
        let (run, exits) = self.once(entry, |v| {
            let to = numbered("to", v.0);
            if entry.outs.contains(&v) { self.lanes_mut(&to) } else { quote!(#to) }
        });
        let run = quote! { let __bits = #here; #run };
        let point = emitter.return_point(callee);
        let back = exits.iter().find(|(exit, _)| *exit == point).map(|(_, bits)| {
            let result = &inside[&function.result];
            match call {
                None => self.finish(result, &quote!(#places), bits),
                Some(call) => {
                    let mut values = (*values).clone();
                    values.insert(call.dest, result.clone());
                    let (here, places) = (bits.clone(), places.clone());
                    self.wait(&self.behind(call), &Going { values: &values, here, places, ..*going })
                }
            }
        });
        let others: Vec<&(u32, TokenStream)> = exits.iter().filter(|(exit, _)| *exit != point).collect();
        let on = others.iter().map(|(_, bits)| bits);
        let up = match call {
            Some(_) => quote!(__up),
            None => places.clone(),
        };
        let save = call.map(|call| self.save(call, going, &quote!((0 #(| #on)*))));
        let go = others.iter().map(|(exit, bits)| {
            let inside = Going { values: &inside, func: callee, places: up.clone(), here: bits.clone() };
            self.go(*exit, &inside)
        });
        quote!(#check #(#declare)* #run #back #up_places #(#go)* #save)
    }

    /// Records leave what is live behind a call on the stacks: `__up` are their places in the callee.
    fn save(&self, call: &Call, going: &Going<'_>, here: &TokenStream) -> TokenStream {
        let rt = &self.emitter.rt;
        let (saved, places) = (self.saved(call), &going.places);
        let values = self.across(call).into_iter().map(|v| &going.values[&v]);
        quote! {
            #rt::wavefront::SavedFrame::save(
                &#saved, &mut __stack, __size, (&#places, &__up), #here,
                #[inline(always)] |__lane| (#(#rt::vector::copy_slot(&#values[__lane]),)*),
            );
        }
    }

    /// Records return, to wherever they have been called from.
    fn leave(&self, going: &Going<'_>) -> TokenStream {
        let (emitter, program, rt) = (self.emitter, self.emitter.program, &self.emitter.rt);
        let group = program.func(going.func).group;
        let Going { values, places, here, .. } = going;
        let result = &values[&program.func(going.func).result];
        let calls = emitter.calls.iter().filter(|(_, call)| program.func(call.callee).group == group);
        let back = calls.map(|(_, call)| {
            let (stop, saved, site) = (self.behind(call), self.saved(call), self.site(call));
            let queue = self.queue(&stop);
            let across = self.across(call);
            let values: Vec<Ident> = across.iter().map(|v| numbered("loaded", v.0)).collect();
            let columns = across.iter().map(|v| self.column(&stop, *v));
            let dest = self.live(&stop).contains(&call.dest).then(|| {
                let column = self.column(&stop, call.dest);
                quote!(#rt::wavefront::put(#column, &#queue, #result, __back, __level);)
            });
            quote! {
                let __back = #rt::wavefront::Sites::of(&__sites, #site, #here, __level);
                if __back != 0 {
                    #dest
                    #rt::wavefront::SavedFrame::fetch(
                        &#saved, &mut __stack, __size, &#places, __back, &mut #queue, __level,
                        #[inline(always)] |__at, (#(#values,)*)| { #(#rt::wavefront::put_one(#columns, __at, #values);)* },
                    );
                }
            }
        });
        let finish = (group == program.func(program.entry).group).then(|| {
            let finish = self.finish(result, places, &quote!(__back));
            quote!(let __back = #rt::wavefront::Sites::of(&__sites, 0, #here, __level); #finish)
        });
        quote! {
            if #here != 0 {
                let __sites = #rt::wavefront::Keys::sites(&#places);
                #(#back)*
                #finish
            }
        }
    }

    /// Members have their results.
    fn finish(&self, result: &TokenStream, places: &TokenStream, here: &TokenStream) -> TokenStream {
        let rt = &self.emitter.rt;
        let member = name("__member");
        let finish =
            passed_states::finish(self.emitter, &member, &quote!(#rt::vector::value(#result, __lane)));
        quote! {
            #rt::wavefront::Wavefront::finish(&mut __wavefront, &#places, #here, #[inline(always)] |__lane, #member| {
                #finish
            });
        }
    }
}
