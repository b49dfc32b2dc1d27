//! Vector frames: for each function of a program that only computes (see [`crate::admission::purity`]) a native function
//! over columns, once per instruction set. Calls are native calls.
//!
//! ```text
//! fn fib_avx2(mut arena: Arena, depth: Depth, here: &LaneSet, out: &mut [_], caller0: &[_]) {
//!     let frame… = arena.column(lanes);  let lanes_at… = arena.set(lanes, …);
//!     for i in 0..lanes / W { … }                    // the entry region, in the caller's lanes: who returns at
//!                                                    // once has its result in `out`
//!     if few { …scalar clone for each…  return }
//!     let dense = is_sparse(…);                      // from here on in the caller's lanes, or in a dense frame
//!     let frame0 = if dense { gather(…) } else { caller0 };  …
//!     loop {                                         // the earliest point first; what stands behind a loop
//!         if lanes_at1.any() { …region…; continue }         // stands behind it here too
//!         if lanes_at4.any() { fib_avx2(arena.sub(), depth.next(), &lanes_at4, &mut frame2, &frame1); lanes_at2.absorb(&mut lanes_at4); continue }
//!         …
//!         break
//!     }
//!     if dense { scatter(out, …) }
//! }
//! ```
//!
//! Behind the entry region, functions whose calls can be made at once go on as [`super::task_blocks`] says.
//!
//! Invariants: `lanes_at…` are the lanes at a program point, `frame…` the columns of a frame; a set has pads only with
//! the last member (see the runtime's `vector`); parameters are read where the caller has them until a region
//! writes them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::codegen::emitter::{Emitter, Width};
use crate::codegen::instruction_sets::Engine;
use crate::codegen::lane_interchange::{Interchanged, interchange};
use crate::codegen::named_lifetimes::Named;
use crate::codegen::names::{Family, name, turbofish_of_clone};
use crate::codegen::parts::VectorVariant;
use crate::codegen::passed_states;
use crate::codegen::region::{self, Region};
use crate::codegen::strip::ARGUMENTS;
use crate::codegen::vector::columns::{argument, columns, level, set, uniforms};
use crate::codegen::wavefront;
use crate::ir::{Block, BlockId, Call, FuncId, Role, Terminator, VarId, VarSet};
use crate::item::model::Function;
use crate::syntax::arguments::Args;
use crate::syntax::turbofish::turbofish;

/// What a frame costs, whatever its lanes, and a scalar call, in units of [`crate::ir::Op::weight`]. Measured: a
/// frame takes as long as 50 to 200 scalar calls.
const FRAME: u32 = 1000;
const CALL: u32 = 4;
/// Frames of at most so many lanes never pay.
const FEW: u32 = 128;
/// The part of it in task_blocks, where they become many on the way up. Measured: from a strip on.
const MANY: usize = 16;

/// How the functions are named.
pub(crate) struct Naming {
    /// `fib_batched`.
    family: Ident,
    /// The type arguments to pass on.
    fish: TokenStream,
    /// The same for the entry's clone.
    clone_fish: TokenStream,
    /// `Self::` in an `impl` block.
    this: TokenStream,
}

impl Naming {
    /// The function for `func` and an instruction set.
    fn function(&self, emitter: &Emitter<'_>, func: FuncId, isa: &str) -> Ident {
        let name = &emitter.program.func(func).name;
        let suffix = if isa.is_empty() { String::new() } else { format!("_{isa}") };
        format_ident!("__{}_frame_{}{}", self.family, name, suffix, span = Span::mixed_site())
    }

    /// Calls it: `first` are the arena, the depth, the set of lanes and the column of results.
    fn call(
        &self,
        emitter: &Emitter<'_>,
        func: FuncId,
        isa: &str,
        first: &TokenStream,
        columns: &[TokenStream],
        uniforms: &[&Ident],
    ) -> TokenStream {
        let (this, fish, name) = (&self.this, &self.fish, self.function(emitter, func, isa));
        quote!(#this #name #fish(#first, #(#columns,)* #(#uniforms,)*);)
    }
}

/// Where lanes of a function can be.
pub(crate) enum Stop<'a> {
    Region(&'a Region),
    Call(&'a Call),
    Tail(FuncId, &'a [VarId]),
}

/// One function.
pub(crate) struct Writer<'e, 'a> {
    pub(crate) emitter: &'e Emitter<'a>,
    naming: &'e Naming,
    pub(crate) isa: &'e str,
    pub(crate) func: FuncId,
    pub(crate) regions: Vec<Region>,
    /// Those whose loops run for all lanes of a strip, by their heads.
    pub(crate) interchanged: BTreeMap<BlockId, Interchanged>,
}

/// The functions for one instruction set; `None` if one has too many variables.
pub(crate) fn variant(
    emitter: &Emitter<'_>,
    function: &Function,
    args: &Args,
    isa: &str,
) -> Option<VectorVariant> {
    let generics = Named::new(function).generics;
    let clone = emitter.clone_path(emitter.program.entry).unwrap_or_default();
    let naming = &Naming {
        family: Family::new(function, args).batched,
        fish: turbofish(&generics),
        clone_fish: turbofish_of_clone(function, &generics, &clone),
        this: if function.associated { quote!(Self::) } else { quote!() },
    };
    let (mut functions, mut waits, mut task_blocks, mut short) = (Vec::new(), false, false, true);
    for func in emitter.program.func_ids() {
        let heads = emitter.heads_in_source_order();
        let heads = heads.into_iter().filter(|head| emitter.program.block(*head).func == func);
        let regions: Vec<Region> =
            heads.map(|head| region::region(emitter, head, Engine::Vector(isa))).collect();
        let code =
            regions.iter().filter_map(|r| Some((r.head, interchange(emitter, r, Engine::Vector(isa))?)));
        let interchanged = code.collect();
        let writer = Writer { emitter, naming, isa, func, regions, interchanged };
        let fits = |r: &Region| r.touched().len() + 2 <= ARGUMENTS;
        if !writer.regions.iter().all(fits) {
            return None;
        }
        waits |= writer.waits();
        task_blocks |= writer.self_calls().is_some();
        short &= writer.is_for_short_vectors();
        functions.push((naming.function(emitter, func, isa), writer.params(), writer.body()));
    }
    let wavefront = match waits {
        true => Some(wavefront::tile(emitter, isa, ARGUMENTS)?),
        false => None,
    };
    Some(VectorVariant {
        functions,
        tile: tile(emitter, naming, isa, task_blocks),
        short,
        wavefront,
        task_blocks,
    })
}

/// Runs a tile. In `task_blocks` lanes should agree about their calls.
pub(crate) fn tile(emitter: &Emitter<'_>, naming: &Naming, isa: &str, task_blocks: bool) -> TokenStream {
    let (rt, program) = (&emitter.rt, emitter.program);
    let strip = emitter.width.strip;
    let (lanes, members, arena) = (name("__lanes"), name("__members"), name("__arena"));
    let params = columns(emitter, program.entry);
    let (values, store) = (passed_states::values(emitter), passed_states::store(emitter));
    let loads = params.clone().map(|v| {
        let (column, var) = (argument(v), program.var(v));
        let ident = &var.ident;
        if var.shared {
            quote!(let #column = #rt::vector::load_same(&mut #arena, #ident, #lanes);)
        } else {
            quote!(let #column = #rt::vector::load(&mut #arena, #ident, #members, #lanes);)
        }
    });
    let own = params.clone().filter(|v| !program.var(*v).shared);
    let own: Vec<Ident> = own.map(argument).filter(|_| task_blocks).collect();
    let nth = 0..own.len();
    let nth = || nth.clone().map(|nth| quote!(__decides == ::core::option::Option::Some(#nth)));
    let (this, of_this) = (nth(), nth());
    let order = quote! {
        let __decides = #rt::vector::sort_key(&[#(#rt::vector::differs(#own, __len)),*]);
        let mut __order = ::core::option::Option::None;
        #(if #this { __order = #rt::vector::LaneOrder::by(#own, __len); })*
        #(let #own = if #of_this { #rt::vector::sorted(&mut #arena, #own, #lanes, &__order) } else { #own };)*
    };
    let back = quote!(let __results = #rt::vector::unsorted(&mut #arena, __results, &__order););
    let (order, back) = if own.is_empty() { (quote!(), quote!()) } else { (order, back) };
    let columns: Vec<TokenStream> = params.map(|v| argument(v).into_token_stream()).collect();
    let first = quote!(#rt::vector::Arena::sub(&mut #arena), __depth, &__all, &mut *__results);
    let call = naming.call(emitter, program.entry, isa, &first, &columns, &uniforms(emitter, program.entry));
    quote! {
        let #members = #rt::vector::Tile::members(__tile);
        let __len = #rt::vector::Members::len(#members);
        let __depth = #rt::vector::Tile::depth(__tile);
        let #lanes = #rt::vector::width::<#strip>(__len);
        let mut #arena = #rt::vector::Tile::arena(__tile);
        #values
        #(#loads)*
        #order
        let __results = #rt::vector::Arena::column(&mut #arena, #lanes);
        let __all = #rt::vector::full(&mut #arena, #lanes, __len);
        #call
        #back
        #rt::vector::Arena::step(&#arena, 1);
        #store
    }
}

impl<'e> Writer<'e, '_> {
    /// Whether members may wait for the path of others: a call comes behind another one, and they are not made at once.
    fn waits(&self) -> bool {
        let (emitter, program) = (self.emitter, self.emitter.program);
        if program.func(self.func).recursive {
            return self.self_calls().is_none();
        }
        // Queues would run their loops lane by lane.
        if program.blocks.iter().any(|b| b.interchanged) {
            return false;
        }
        let is_call = |point: u32| emitter.calls.iter().any(|(_, call)| emitter.call_point(call.id) == point);
        let goes_on = |call: &Call| !program.is_exit(call.cont) && program.block(call.cont).func == self.func;
        emitter.calls.iter().filter(|(_, call)| goes_on(call)).any(|(_, call)| {
            let (mut seen, mut queue) = (BTreeSet::new(), vec![emitter.point(call.cont)]);
            while let Some(point) = queue.pop() {
                let region = self.regions.iter().find(|r| emitter.point(r.head) == point);
                let next = region.into_iter().flat_map(|r| &r.successors);
                queue.extend(next.filter(|next| seen.insert(**next)));
            }
            seen.into_iter().any(is_call)
        })
    }

    /// Whether vectors of 16 bytes pay: four lanes, or two of 64 bits. Measured with SSE2, which neither compares nor multiplies integers
    /// of 64 bits. Recursion pays in task blocks of four lanes, or in gangs. LLVM counts what a condition guards by half, so that
    /// with two lanes it finds no gain in loops that these leave at different times.
    fn is_for_short_vectors(&self) -> bool {
        let Width { word64, floats, .. } = self.emitter.width;
        let recursion = self.emitter.program.func(self.func).recursive;
        let loops = self.regions.iter().any(|region| region.again);
        match word64 {
            true => floats && !loops && (!recursion || self.has_gang()),
            false => !recursion || self.self_calls().is_some(),
        }
    }

    fn params(&self) -> TokenStream {
        let (emitter, rt) = (self.emitter, &self.emitter.rt);
        let function = emitter.program.func(self.func);
        let output = &function.output;
        let columns = columns(emitter, self.func).map(|v| {
            let (ident, ty) = (argument(v), &emitter.program.var(v).ty);
            quote!(#ident: &[::core::mem::MaybeUninit<#ty>])
        });
        let params = function.params.iter().map(|v| emitter.program.var(*v));
        let uniforms = params.filter(|v| v.is_uniform()).map(|v| {
            let (ident, ty) = (&v.ident, &v.ty);
            quote!(#ident: #ty)
        });
        quote! {
            __arena: #rt::vector::Arena<'_>,
            __depth: #rt::Depth,
            __here: &#rt::vector::LaneSet<'_>,
            __out: &mut [::core::mem::MaybeUninit<#output>],
            #(#columns,)*
            #(#uniforms,)*
        }
    }

    /// Where a variable of a frame is.
    pub(crate) fn home(&self, var: VarId) -> Ident {
        match self.emitter.program.var(var).role {
            Role::Result => Ident::new("__res", Span::call_site()),
            _ => format_ident!("__frame{}", var.0, span = Span::mixed_site()),
        }
    }

    pub(crate) fn is_result(&self, var: VarId) -> bool {
        self.emitter.program.var(var).role == Role::Result
    }

    /// The type of the function's result.
    pub(crate) fn output(&self) -> &syn::Type {
        &self.emitter.program.func(self.func).output
    }

    fn entry(&self) -> BlockId {
        self.emitter.program.func(self.func).entry
    }

    pub(crate) fn entry_region(&self) -> &Region {
        self.regions.iter().find(|r| r.head == self.entry()).expect("the entry heads a region")
    }

    /// Whether the entry region runs once, in the caller's lanes.
    pub(crate) fn entry_first(&self) -> bool {
        let point = self.emitter.point(self.entry());
        !self.regions.iter().any(|r| r.successors.contains(&point))
    }

    /// Where lanes can be, in source order.
    fn stops(&self) -> Vec<Stop<'_>> {
        let program = self.emitter.program;
        let mut stops = Vec::new();
        let mut tails = BTreeSet::new();
        for region in &self.regions {
            if !(region.head == self.entry() && self.entry_first()) {
                stops.push(Stop::Region(region));
            }
            for (block, call) in &self.emitter.calls {
                if program.block(*block).region == region.head {
                    stops.push(Stop::Call(call));
                }
            }
            for block in program.blocks.iter().filter(|b| b.region == region.head) {
                if let Terminator::TailCall { callee, args, .. } = &block.term
                    && *callee != self.func
                    && tails.insert(*callee)
                {
                    stops.push(Stop::Tail(*callee, args));
                }
            }
        }
        stops
    }

    pub(crate) fn point(&self, stop: &Stop<'_>) -> u32 {
        match stop {
            Stop::Region(r) => self.emitter.point(r.head),
            Stop::Call(call) => self.emitter.call_point(call.id),
            Stop::Tail(callee, _) => self.emitter.point(self.emitter.program.func(*callee).entry),
        }
    }

    /// Variables with a column whose values are needed at a stop.
    pub(crate) fn live(&self, stop: &Stop<'_>) -> VarSet {
        let emitter = self.emitter;
        let mut live = match stop {
            Stop::Region(r) => emitter.live_at(r.head),
            Stop::Call(call) => emitter.live_at_call(call),
            Stop::Tail(callee, _) => emitter.program.func(*callee).params.iter().copied().collect(),
        };
        live.retain(|v| emitter.has_column(*v) && !self.is_result(*v));
        live
    }

    /// The points among `stops` where a region leads.
    fn successors<'s>(&self, region: &Region, stops: &'s [Stop<'s>]) -> Vec<&'s Stop<'s>> {
        stops.iter().filter(|s| region.successors.contains(&self.point(s))).collect()
    }

    /// Those of the stops at which a frame begins.
    fn begin<'s>(&self, stops: &'s [Stop<'s>]) -> Vec<&'s Stop<'s>> {
        let entry = self.entry_region();
        match self.entry_first() {
            true => self.successors(entry, stops),
            false => stops.iter().filter(|s| self.point(s) == self.emitter.point(entry.head)).collect(),
        }
    }

    /// Whether lanes recurse in gangs.
    fn has_gang(&self) -> bool {
        let Some(self_calls) = self.self_calls() else { return false };
        let stops = self.stops();
        let live = self.begin(&stops).into_iter().flat_map(|s| self.live(s)).collect();
        self.gang(&self_calls, &live).is_some()
    }

    fn body(&self) -> TokenStream {
        let (emitter, rt, strip) = (self.emitter, &self.emitter.rt, self.emitter.width.strip);
        let stops = self.stops();
        let (entry, first) = (self.entry_region(), self.entry_first());
        let begin = self.begin(&stops);
        // The columns with which a frame begins.
        let live: VarSet = begin.iter().flat_map(|s| self.live(s)).collect();
        let params: VarSet = emitter.program.func(self.func).params.iter().copied().collect();
        let new: VarSet = entry.outs.iter().copied().filter(|v| first && !self.is_result(*v)).collect();
        let columns = new.iter().map(|v| {
            let home = self.home(*v);
            match entry.takes.contains(v) {
                true => {
                    let from = argument(*v);
                    quote!(let mut #home = #rt::vector::copied(&mut __arena, #from);)
                }
                false => self.column(*v),
            }
        });
        let begin_sets: Vec<Ident> = begin.iter().map(|s| set(self.point(s))).collect();
        let run = first.then(|| self.run_entry(entry, &begin));
        let rows: BTreeMap<&VarId, &TokenStream> =
            self.interchanged.values().flat_map(|loops| &loops.left).collect();
        let rows = rows.values();
        let enter = self.emitter.program.func(self.func).recursive.then(|| self.elsewhere());
        let level = self.level();
        let start = quote! {
            #enter
            // For the time of this call only: its columns may hold what does not outlive it.
            let mut __arena = #rt::vector::Arena::at(__arena, #level);
            let (mut __lanes, mut __count) = (<[_]>::len(__out), #rt::vector::LaneSet::count(__here));
            #(let mut #begin_sets = #rt::vector::Arena::set(&mut __arena, __lanes, __count);)*
            #(#columns)*
            #(#rows)*
        };
        if begin.is_empty() {
            return quote!(#start #run);
        }
        let join = match first {
            true => quote!(#(#rt::vector::LaneSet::include(&mut __going, &#begin_sets);)*),
            false => quote! {
                #rt::vector::LaneSet::include(&mut __going, __here);
                #(#rt::vector::LaneSet::include(&mut #begin_sets, __here);)*
            },
        };
        let (counts, blocks) = self.counts();
        let few = self.few(&quote!(__depth), &|v| argument(v).into_token_stream()).map(|(most, call)| {
            quote! {
                if #rt::vector::is_few(&__arena, __some, #most, #counts) {
                    let __limited = #rt::vector::Arena::is_limited(&__arena);
                    for __lane in #rt::vector::LaneSet::lanes(&__going) {
                        #rt::vector::give(&mut *__out, __lane, #call);
                    }
                    #rt::vector::Arena::few_have_run(&__arena, #blocks);
                    #rt::vector::pad(__out, #rt::vector::LaneSet::count(__here));
                    return;
                }
            }
        });
        // The lanes that do not return at once, `__going`.
        let start = quote! {
            #start
            #run
            let mut __going = #rt::vector::Arena::set(&mut __arena, __lanes, __count);
            #join
            let __some = #rt::vector::LaneSet::trim(&mut __going);
            if __some == 0 {
                return;
            }
            #few
        };
        let from = |v: VarId| if new.contains(&v) { self.home(v) } else { argument(v) };
        let gather = |v: VarId| {
            let from = from(v);
            quote!(#rt::vector::gather(&mut __arena, &*#from, &__going, __lanes, __count))
        };
        if let Some(self_calls) = self.self_calls() {
            let frame = live.iter().map(|v| {
                let (home, gather) = (self.home(*v), gather(*v));
                quote!(let #home = #gather;)
            });
            let task_blocks = self.task_blocks(self_calls, &live);
            return quote! {
                #start
                __count = __some;
                __lanes = #rt::vector::width::<#strip>(__count);
                #(#frame)*
                let __own = #rt::vector::Arena::column(&mut __arena, __lanes);
                #task_blocks
                #rt::vector::scatter(&mut *__out, #rt::vector::BlockColumns::first(&__results), &__going, &__arena);
                #rt::vector::pad(__out, #rt::vector::LaneSet::count(__here));
            };
        }
        let sets = match &begin_sets[..] {
            [one] => quote! {
                let mut #one = if __dense { #rt::vector::full(&mut __arena, __lanes, __count) } else { #one };
            },
            _ => quote!(#(
                let mut #begin_sets = if __dense {
                    #rt::vector::squeeze(&mut __arena, &#begin_sets, &__going, __lanes, __count)
                } else {
                    #begin_sets
                };
            )*),
        };
        let frame = live.iter().map(|v| {
            let (home, from, gather) = (self.home(*v), from(*v), gather(*v));
            match (new.contains(v), self.is_lent(*v)) {
                (true, _) => quote!(let mut #home = if __dense { #gather } else { #home };),
                (false, true) => quote!(let mut #home = if __dense { &*#gather } else { #from };),
                (false, false) => quote! {
                    let mut #home = if __dense { #gather } else { #rt::vector::copied(&mut __arena, #from) };
                },
            }
        });
        // Columns and sets that nothing has been put in yet.
        let mut more = VarSet::new();
        for region in &self.regions {
            more.extend(region.takes.iter().chain(&region.outs));
        }
        for stop in &stops {
            more.extend(self.live(stop));
            if let Stop::Call(call) = stop {
                more.insert(emitter.column_of(call.dest));
            }
        }
        more.retain(|v| {
            let gone = params.contains(v) && self.unread(*v, first);
            !(live.contains(v) || self.is_result(*v) || gone)
        });
        let more = more.iter().map(|v| self.column(*v));
        let more_sets: Vec<Ident> =
            stops.iter().map(|s| set(self.point(s))).filter(|s| !begin_sets.contains(s)).collect();
        let outer_loop = self.outer_loop(&stops);
        let arms = stops.iter().map(|stop| {
            let (set, code) = (set(self.point(stop)), self.stop(stop, &stops));
            let code = match outer_loop == Some(self.point(stop)) {
                true => self.close_gaps(stop, &stops, &code),
                false => quote!(#code continue;),
            };
            quote!(if #rt::vector::LaneSet::any(&#set) { #code })
        });
        let (moved, apart) = match outer_loop {
            Some(_) => (
                quote!(let mut __moved = ::core::option::Option::None;),
                quote!(#rt::vector::Moved::apart(__moved, __res, __count);),
            ),
            None => Default::default(),
        };
        quote! {
            #start
            let __dense = #rt::vector::is_sparse(__some, __lanes);
            if __dense {
                __count = __some;
                __lanes = #rt::vector::width::<#strip>(__count);
            }
            #sets
            #(#frame)*
            #(#more)*
            #(let mut #more_sets = #rt::vector::Arena::set(&mut __arena, __lanes, __count);)*
            let __own = if __dense { #rt::vector::Arena::column(&mut __arena, __lanes) } else { &mut [] };
            let mut __res = if __dense { &mut *__own } else { &mut *__out };
            #moved
            loop {
                #rt::vector::Arena::step(&__arena, __lanes);
                #(#arms)*
                break;
            }
            #apart
            if __dense {
                #rt::vector::scatter(&mut *__out, &*__own, &__going, &__arena);
            }
            #rt::vector::pad(__out, #rt::vector::LaneSet::count(__here));
        }
    }

    /// Whether a parameter has no use behind the entry region.
    fn unread(&self, var: VarId, first: bool) -> bool {
        let used = |r: &Region| r.takes.contains(&var) || r.outs.contains(&var);
        !self.regions.iter().filter(|r| !(first && r.head == self.entry())).any(used)
    }

    /// Whether a variable is a parameter that is read where the caller has it.
    pub(crate) fn is_lent(&self, var: VarId) -> bool {
        let (first, entry) = (self.entry_first(), self.entry_region());
        let params = &self.emitter.program.func(self.func).params;
        params.contains(&var) && !(first && entry.outs.contains(&var)) && !self.is_written(var, first)
    }

    /// Whether a variable is written in a frame, behind an entry region that runs first.
    fn is_written(&self, var: VarId, first: bool) -> bool {
        let regions = self.regions.iter().filter(|r| !(first && r.head == self.entry()));
        let by_call = |(block, call): &(BlockId, &Call)| {
            self.emitter.program.block(*block).func == self.func && call.dest == var
        };
        regions.into_iter().any(|r| r.outs.contains(&var)) || self.emitter.calls.iter().any(by_call)
    }

    fn column(&self, var: VarId) -> TokenStream {
        let (rt, home) = (&self.emitter.rt, self.home(var));
        match &self.emitter.program.var(var).ty {
            Some(ty) => quote!(let mut #home = #rt::vector::Arena::column::<#ty>(&mut __arena, __lanes);),
            None => quote!(let mut #home = #rt::vector::Arena::column(&mut __arena, __lanes);),
        }
    }

    /// The level that the function is compiled for.
    pub(crate) fn level(&self) -> TokenStream {
        level(self.emitter, self.isa)
    }

    /// Goes on where there is native stack.
    fn elsewhere(&self) -> TokenStream {
        let emitter = self.emitter;
        let columns: Vec<TokenStream> =
            columns(emitter, self.func).map(|v| argument(v).into_token_stream()).collect();
        let first = quote!(__arena, __depth, __here, __out);
        let call =
            self.naming.call(emitter, self.func, self.isa, &first, &columns, &uniforms(emitter, self.func));
        quote! {
            if __depth.stops() {
                return __depth.elsewhere(move |__depth| { #call });
            }
        }
    }

    /// The work of some blocks.
    pub(crate) fn weight(&self, of: impl Fn(&Block) -> bool) -> u32 {
        let blocks = self.emitter.program.blocks.iter().filter(|b| of(b));
        blocks.flat_map(|b| &b.ops).map(|op| op.weight).sum()
    }

    /// Whether there is scalar code that counts, and the steps of a tick at most: blocks that run once each.
    pub(crate) fn counts(&self) -> (bool, u64) {
        let program = self.emitter.program;
        (self.emitter.counted_path(self.func).is_some(), program.blocks.len() as u64)
    }

    /// A scalar call for `__lane`, of which `column` has the arguments; up to how many lanes are best run so. `None`
    /// if they can't be.
    pub(crate) fn few(
        &self,
        depth: &TokenStream,
        column: &dyn Fn(VarId) -> TokenStream,
    ) -> Option<(usize, TokenStream)> {
        let (emitter, rt) = (self.emitter, &self.emitter.rt);
        let function = emitter.program.func(self.func);
        let clone = emitter.clone_path(self.func).filter(|_| function.recursive)?;
        let states = emitter.passed_states(self.func);
        let state = |nth: usize| format_ident!("__state{}", nth, span = Span::mixed_site());
        let (mut args, mut lent) = (Vec::new(), Vec::new());
        for (nth, v) in function.params.iter().enumerate() {
            let variable = emitter.program.var(*v);
            let ident = &variable.ident;
            args.push(match (variable.is_uniform(), emitter.has_column(*v)) {
                (true, _) => quote!(#ident),
                (_, true) => {
                    let from = column(*v);
                    let value = quote!(#rt::vector::value(#from, __lane));
                    match states.contains(&nth) {
                        true => {
                            let state = state(nth);
                            lent.push(quote!(let mut #state = #value;));
                            quote!(&mut #state)
                        }
                        false => value,
                    }
                }
                // Nothing reads it, so nobody has it.
                (_, false) => return None,
            });
        }
        let fish = (self.func == emitter.program.entry).then_some(&self.naming.clone_fish);
        let weight = self.weight(|b| b.func == self.func);
        let most = (FRAME / (CALL + weight)).max(FEW) as usize;
        let most = if self.self_calls().is_some() { most / MANY } else { most };
        let call = match emitter.counted_path(self.func) {
            Some(counted) => {
                quote!(if __limited { #counted #fish(#(#args,)* #depth) } else { #clone #fish(#(#args,)* #depth) })
            }
            None => quote!(#clone #fish(#(#args,)* #depth)),
        };
        let states = states.into_iter().map(state);
        let call = match lent.is_empty() {
            true => call,
            false => quote!({ #(#lent)* (#call, #(#states),*) }),
        };
        Some((most, call))
    }

    fn run_entry(&self, entry: &Region, begin: &[&Stop<'_>]) -> TokenStream {
        let from = |v: VarId| match entry.outs.contains(&v) {
            true if self.is_result(v) => Ident::new("__out", Span::call_site()),
            true => self.home(v),
            false => argument(v),
        };
        self.strips(entry, &quote!(__here), begin, &from)
    }

    fn stop(&self, stop: &Stop<'_>, stops: &[Stop<'_>]) -> TokenStream {
        let rt = &self.emitter.rt;
        match stop {
            Stop::Region(region) if region.again => self.sweep(region, stops),
            Stop::Region(region) => {
                let set = set(self.point(stop));
                let next = self.successors(region, stops);
                let strips = self.strips(region, &quote!(#set), &next, &|v| self.home(v));
                quote!(#strips #rt::vector::LaneSet::clear(&mut #set);)
            }
            Stop::Call(call) => self.call(call),
            Stop::Tail(callee, args) => self.tail(*callee, args),
        }
    }

    /// Calls the callee for the lanes at a call.
    fn call(&self, call: &Call) -> TokenStream {
        let (emitter, program, rt) = (self.emitter, self.emitter.program, &self.emitter.rt);
        let from = set(emitter.call_point(call.id));
        let dest = self.home(emitter.column_of(call.dest));
        let (mut copies, mut columns, mut uniforms) = (TokenStream::new(), Vec::new(), Vec::new());
        for (nth, (param, arg)) in program.func(call.callee).params.iter().zip(&call.args).enumerate() {
            if program.var(*param).is_uniform() {
                uniforms.push(&program.var(*arg).ident);
            } else if emitter.has_column(*param) {
                let mut column = self.home(emitter.column_of(*arg));
                if column == dest {
                    let copy = format_ident!("__copy{}", nth, span = Span::mixed_site());
                    copies.extend(quote!(let #copy = #rt::vector::copied(&mut __arena, &*#column);));
                    column = copy;
                }
                columns.push(quote!(&*#column));
            }
        }
        let first = quote!(#rt::vector::Arena::sub(&mut __arena), __depth.next(), &#from, &mut *#dest);
        let run = self.naming.call(emitter, call.callee, self.isa, &first, &columns, &uniforms);
        let after = match program.is_exit(call.cont) {
            true => quote!(#rt::vector::LaneSet::clear(&mut #from);),
            false => {
                let to = set(emitter.point(call.cont));
                quote!(#rt::vector::LaneSet::absorb(&mut #to, &mut #from);)
            }
        };
        quote! {
            #copies
            #run
            #after
        }
    }

    /// Calls the function that takes over, whose parameters have been set.
    fn tail(&self, callee: FuncId, args: &[VarId]) -> TokenStream {
        let (emitter, program, rt) = (self.emitter, self.emitter.program, &self.emitter.rt);
        let function = program.func(callee);
        let from = set(emitter.point(function.entry));
        let columns = columns(emitter, callee).map(|v| self.home(v));
        let columns: Vec<TokenStream> = columns.map(|home| quote!(&*#home)).collect();
        let uniforms = function.params.iter().zip(args).filter(|(p, _)| program.var(**p).is_uniform());
        let uniforms: Vec<&Ident> = uniforms.map(|(_, arg)| &program.var(*arg).ident).collect();
        let first = quote!(#rt::vector::Arena::sub(&mut __arena), __depth, &#from, &mut *__res);
        let run = self.naming.call(emitter, callee, self.isa, &first, &columns, &uniforms);
        quote!(#run #rt::vector::LaneSet::clear(&mut #from);)
    }
}
