//! Task blocks: a function that either returns at once, or calls itself some times and makes its result of the results.
//! Where the calls don't need each other's results, all are made at once.
//!
//! ```text
//! let mut strip1 = BlockColumns::new();  …  strip1.begin(frame1);             // what is live behind the entry region, by task block
//! let mut blocks = TaskBlocks::new(…);
//! loop {
//!     if blocks.descends() {
//!         while i < strips && blocks.has_room(at) {          // for each strip of this block
//!             …the first call's arguments…                  //   the code before the call
//!             …the callee's entry region on them…           //   who returns at once has its result in outcome0
//!             append(&mut to1, at, …those who do not…)       //   the others go up, side by side
//!             …the second call's…
//!         }
//!         if few { …scalar clones, one by one… } else if at > 0 { blocks.enter(at); continue; }
//!     }
//!     for i in … { expand(&mut outcome0[i], results); …the region behind the calls… }
//!     if !blocks.leave() { break; }
//! }
//! ```
//!
//! A task block holds activations that do call, side by side, whatever call they come from. It is run piece by piece,
//! so that the calls of a piece fit into the next task block: depth first, in blocks (Ren, Jo, Krishnamoorthy, Agrawal, Kulkarni,
//! "Efficient execution of recursive programs on commodity vector hardware", PLDI 2015). There is no native recursion.
//!
//! **Invariant:** columns `strip…` of a task block hold values for its activations, and copies of the last one's up to whole strips.
//!
//! **Invariant:** the activations of the next task block belong to the strips between the block's `first` and `next`.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprAssign, ExprUnary, Local, Macro, Pat, UnOp};

use crate::codegen::names::{name, numbered};
use crate::codegen::region::{Region, SMALL};
use crate::codegen::strip::{self, LaneStorage, Part, Ways};
use crate::codegen::vector::entry_call::Called;
use crate::codegen::vector::frames::Writer;
use crate::codegen::vector::self_calls::{Gang, SelfCalls};
use crate::ir::{VarId, VarSet};
use crate::syntax::macro_tokens::mentions;
use crate::syntax::visit::{self, Visit};

impl SelfCalls<'_> {
    /// The name that the column or strip of a variable of the caller has.
    pub(crate) fn named(&self, v: VarId) -> Ident {
        let prefix = match (self.written.contains(&v), self.kept.contains(&v)) {
            (true, false) => "scratch",
            (true, true) => "copied",
            (false, _) => "strip",
        };
        numbered(prefix, v.0)
    }

    /// The columns that a task block has beside the variables that are live behind the entry region.
    fn own(&self) -> impl Iterator<Item = Ident> {
        let results = if self.settled.is_some() { vec![] } else { self.results() };
        results.into_iter().chain(self.kept.iter().map(|v| self.named(*v)))
    }

    /// The names of what holds the calls' results.
    pub(crate) fn results(&self) -> Vec<Ident> {
        (0..self.calls.len()).map(|nth| numbered("outcome", nth)).collect()
    }
}

/// `__gone`: which lanes have gone up, call by call.
fn gone() -> Ident {
    Ident::new("__gone", Span::call_site())
}

/// What the result is given.
struct Given<'v> {
    result: &'v Ident,
    values: Vec<&'v Expr>,
    /// Whether it is mentioned otherwise.
    others: bool,
}

impl<'v> Visit<'v> for Given<'v> {
    fn visit_local(&mut self, local: &'v Local) {
        let bound = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pat => pat,
        };
        match (bound, &local.init) {
            (Pat::Ident(p), Some(init)) if p.ident == *self.result => {
                self.values.push(&init.expr);
                self.visit_expr(&init.expr);
            }
            _ => visit::visit_local(self, local),
        }
    }

    fn visit_expr_assign(&mut self, assign: &'v ExprAssign) {
        match &*assign.left {
            Expr::Path(p) if p.path.is_ident(self.result) => self.values.push(&assign.right),
            left => self.visit_expr(left),
        }
        self.visit_expr(&assign.right);
    }

    fn visit_ident(&mut self, ident: &'v Ident) {
        self.others |= ident == self.result;
    }

    fn visit_macro(&mut self, mac: &'v Macro) {
        // A macro's tokens may be anything.
        self.others |= mentions(mac.tokens.clone(), &|word| self.result == word);
    }
}

/// Whether an expression is the same everywhere and costs nothing.
pub(crate) fn literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) => true,
        Expr::Paren(paren) => literal(&paren.expr),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => matches!(**expr, Expr::Lit(_)),
        _ => false,
    }
}

impl Writer<'_, '_> {
    /// Its calls of itself, if it is such a function.
    pub(crate) fn self_calls(&self) -> Option<SelfCalls<'_>> {
        let (emitter, program) = (self.emitter, self.emitter.program);
        let (entry, back) = (self.entry_region(), emitter.return_point(self.func));
        let only = |successors: &BTreeSet<u32>| match Vec::from_iter(successors)[..] {
            [only] => Some(*only),
            _ => None,
        };
        let region_at = |point: u32| self.regions.iter().find(|r| emitter.point(r.head) == point);
        let mut on = entry.successors.clone();
        if !self.entry_first() || !on.remove(&back) {
            return None;
        }
        let mut region = region_at(only(&on)?)?;
        let (mut calls, mut dests) = (Vec::new(), Vec::new());
        loop {
            let point = only(&region.successors)?;
            if dests.iter().any(|dest| region.touched().contains(dest)) {
                return None;
            }
            if point == back {
                break;
            }
            let (_, call) = emitter.calls.iter().find(|(_, call)| emitter.call_point(call.id) == point)?;
            let takes_result = call.args.iter().any(|arg| dests.contains(&emitter.column_of(*arg)));
            if call.callee != self.func || takes_result || program.is_exit(call.cont) {
                return None;
            }
            calls.push((region, *call));
            region = region_at(emitter.point(call.cont))?;
            let dest = emitter.column_of(call.dest);
            if !emitter.has_column(dest) || dests.contains(&dest) {
                return None;
            }
            dests.push(dest);
            // The last of them is what the region behind all calls is there for.
            if only(&region.successors) == Some(back) {
                break;
            }
        }
        let plain = |v: &VarId| !program.var(*v).is_uniform();
        if calls.len() < 2 || !region.outs.iter().all(|v| self.is_result(*v) && plain(v)) {
            return None;
        }
        let written: VarSet = calls.iter().flat_map(|(region, _)| region.outs.iter().copied()).collect();
        let touched = region.touched();
        let kept = written.iter().copied().filter(|v| touched.contains(v) && !dests.contains(v)).collect();
        let settled = self.settled(entry);
        Some(SelfCalls { calls, join: region, written, kept, dests, settled })
    }

    /// The literal that a region gives to the result wherever it gives it a value.
    fn settled(&self, region: &Region) -> Option<Expr> {
        let program = self.emitter.program;
        let result = &program.var(program.func(self.func).result).ident;
        let mut given = Given { result, values: vec![], others: false };
        let blocks = program.blocks.iter().filter(|b| b.region == region.head);
        blocks.flat_map(|b| &b.ops).flat_map(|op| &op.code).for_each(|stmt| given.visit_stmt(stmt));
        let value = given.values.pop()?;
        (!given.others && literal(value) && given.values.iter().all(|v| *v == value)).then(|| value.clone())
    }

    /// Runs the `__count` members of a frame, results into `__own`. Their `state`, what is live behind the entry region, is in
    /// columns of `__lanes`.
    pub(crate) fn task_blocks(&self, mut self_calls: SelfCalls<'_>, state: &VarSet) -> TokenStream {
        let (rt, strip) = (&self.emitter.rt, self.emitter.width.strip);
        let sites = self_calls.calls.len();
        let s = |v: &VarId| numbered("strip", v.0);
        let begin = state.iter().map(|v| (s(v), self.home(*v)));
        let begin = begin.map(|(s, home)| quote!(#rt::vector::BlockColumns::begin(&mut #s, #home);));
        let state_columns: Vec<Ident> = state.iter().map(s).collect();
        let gang = self.gang(&self_calls, state);
        // What gangs return is not settled.
        self_calls.settled = self_calls.settled.filter(|_| gang.is_none());
        // Of the words of `gone` there are few.
        let values: Vec<Ident> = self_calls.own().collect();
        let own: Vec<Ident> = values.iter().cloned().chain([gone()]).collect();
        let declare = |columns: &[Ident]| quote!(#(let mut #columns = #rt::vector::BlockColumns::new();)*);
        let (declare_state, declare_own) = (declare(&state_columns), declare(&own));
        let descend = self.descend(&self_calls, state, gang.as_ref());
        let gang = gang.map(|gang| gang.code);
        let join = self.join(&self_calls, state);
        let level = self.level();
        quote! {
            #gang
            #declare_state
            #declare_own
            let mut __results = #rt::vector::BlockColumns::new();
            let __bytes = [
                #(#rt::vector::BlockColumns::bytes(&#state_columns),)*
                #(#rt::vector::BlockColumns::bytes(&#values),)*
                #rt::vector::BlockColumns::bytes(&__results)
            ];
            let mut __blocks = #rt::vector::TaskBlocks::new::<#strip>(&__arena, __depth, __count, #sites, &__bytes);
            #(#begin)*
            #rt::vector::BlockColumns::begin(&mut __results, __own);
            let __base = #rt::vector::TaskBlocks::base(&__blocks);
            #(#rt::vector::BlockColumns::grow(&mut #own, &mut __arena, __base);)*
            let __level = #level;
            loop {
                if #rt::vector::TaskBlocks::descends(&__blocks) {
                    if let ::core::option::Option::Some(__above) = #rt::vector::TaskBlocks::grows::<#strip>(&mut __blocks) {
                        #(#rt::vector::BlockColumns::grow(&mut #state_columns, &mut __arena, __above);)*
                        #(#rt::vector::BlockColumns::grow(&mut #own, &mut __arena, __above);)*
                        #rt::vector::BlockColumns::grow(&mut __results, &mut __arena, __above);
                    }
                    #descend
                }
                #join
                if !#rt::vector::TaskBlocks::leave::<#strip>(&mut __blocks) {
                    break;
                }
            }
        }
    }

    /// Runs strips of a task block until the next one is full.
    fn descend(&self, self_calls: &SelfCalls<'_>, state: &VarSet, gang: Option<&Gang>) -> TokenStream {
        let (rt, strip) = (&self.emitter.rt, self.emitter.width.strip);
        let SelfCalls { calls, written, kept, .. } = self_calls;
        let sites = calls.len();
        // Where a variable of this task block is.
        let here = |v: VarId| match written.contains(&v) && !kept.contains(&v) {
            true => LaneStorage::Strip(self_calls.named(v)),
            false => LaneStorage::Column(self_calls.named(v)),
        };
        let open_state = state.iter().map(|v| {
            let (s, t) = (numbered("strip", v.0), numbered("to", v.0));
            quote! {
                let (#s, #t) = #rt::vector::BlockColumns::both(&mut #s, &__blocks);
                let #s = #rt::vector::strips::<_, #strip>(&*#s, __strips);
            }
        });
        let open_own = self_calls.own().map(|o| {
            quote! {
                let #o = #rt::vector::BlockColumns::here(&mut #o, &__blocks);
                let #o = #rt::vector::strips_mut::<_, #strip>(&mut *#o, __strips);
            }
        });
        // What a region writes and had a value before.
        let scratch = written.iter().map(|v| {
            let (x, s, ty) = (numbered("scratch", v.0), numbered("strip", v.0), self.emitter.element(*v));
            match (kept.contains(v), state.contains(v)) {
                (false, false) => quote!(let mut #x = #rt::Strip::<#ty, #strip>::cleared();),
                (false, true) => quote!(let mut #x = #rt::Strip::<#ty, #strip>::copied(&#s[__i]);),
                (true, false) => quote!(),
                (true, true) => {
                    let k = numbered("copied", v.0);
                    quote!(#rt::vector::append_strip(&mut #k[__i], &#s[__i]);)
                }
            }
        });
        let calls =
            calls.iter().zip(self_calls.results()).enumerate().map(|(nth, ((region, call), result))| {
                let here: &dyn Fn(VarId) -> LaneStorage = &here;
                // Nobody reads a result that is settled.
                let unread = self_calls.settled.is_some().then(|| {
                    let output = self.output();
                    quote!(let mut #result = #rt::Strip::<#output, #strip>::cleared();)
                });
                let result =
                    if unread.is_some() { LaneStorage::Strip(result) } else { LaneStorage::Column(result) };
                let called = Called { writer: self, call, nth, here, result };
                let enter = self.enter(region, &called, state, gang);
                quote!({
                    #unread
                    #enter
                    #rt::vector::give(&mut *__gone, #sites * __i + #nth, __up);
                })
            });
        let pads = state.iter().map(|v| numbered("to", v.0));
        let pads =
            pads.map(|t| quote!(#rt::vector::pad(&mut #t[..#rt::vector::width::<#strip>(__at)], __at);));
        let results = name("__up_results");
        let few = self.few_up(state, &results);
        quote! {
            let (__first, __strips) = #rt::vector::TaskBlocks::strips::<#strip>(&__blocks);
            #(#open_state)*
            #(#open_own)*
            let __gone = #rt::vector::BlockColumns::here(&mut __gone, &__blocks);
            let (mut __i, mut __at) = (__first, 0usize);
            while __i < __strips && #rt::vector::TaskBlocks::has_room::<#strip>(&__blocks, __at) {
                let __bits = #rt::vector::TaskBlocks::members::<#strip>(&__blocks, __i);
                let __wide = #rt::vector::TaskBlocks::wide::<#strip>(&__blocks);
                #(#scratch)*
                #(#calls)*
                __i += 1;
            }
            #rt::vector::TaskBlocks::expanded::<#strip>(&mut __blocks, __i);
            if __at > 0 {
                #(#pads)*
                let (_, #results) = #rt::vector::BlockColumns::both(&mut __results, &__blocks);
                if !#few {
                    #rt::vector::TaskBlocks::enter(&mut __blocks, __at);
                    continue;
                }
            }
        }
    }

    /// The region before a call and the callee's entry region, for all lanes of a strip; those that do not return go
    /// up: `__up`. Or in gangs of so many.
    fn enter(
        &self,
        before: &Region,
        called: &Called<'_>,
        state: &VarSet,
        gang: Option<&Gang>,
    ) -> TokenStream {
        let (emitter, rt, strip) = (self.emitter, &self.emitter.rt, self.emitter.width.strip);
        let entry = self.entry_region();
        let (declare, begin) = (called.declare(strip), called.begin());
        let inside = |v| called.inside(v);
        let heads = [before.head, entry.head];
        let parts = [
            Part { region: before, place: called.here, begin: vec![] },
            Part { region: entry, place: &inside, begin: begin.clone() },
        ];
        // Such regions run one after the other, others in one loop, which LLVM makes vectors of.
        let small = self.weight(|b| heads.contains(&b.region)) <= SMALL;
        // AVX-512 has masks of any vectors. Without AVX2 LLVM finds no vectors where bytes are made of the lanes' comparisons;
        // with it those of wide words would be put together.
        let (ways, apart) = match self.isa {
            "" => (Ways::Words, Ways::Words),
            "avx512" => (Ways::Points, Ways::FlagsByParts),
            _ => (Ways::Flags, Ways::FlagsByParts),
        };
        let one_loop = if small { None } else { strip::lanes(emitter, &parts, &quote!(__wide), apart) };
        let (run, exits) = one_loop.unwrap_or_else(|| {
            let once = |region, place: &dyn Fn(VarId) -> LaneStorage| {
                let place = |v| place(v).of(rt, region, v);
                strip::once(emitter, region, place, &quote!(__wide), &quote!(), ways)
            };
            let ((first, _), (second, exits)) = (once(before, called.here), once(entry, &inside));
            let begin = begin.iter().map(|(to, from)| {
                let (to, from) = (to.write(rt), from.read(rt));
                quote!(#rt::vector::append_strip(#to, #from);)
            });
            (quote!(#first #(#begin)* #second), exits)
        });
        let back = emitter.return_point(self.func);
        let (_, up) =
            exits.iter().find(|(point, _)| *point != back).expect("a self_calls does not always return");
        let values = called.values(state);
        let to: Vec<Ident> = state.iter().map(|v| numbered("to", v.0)).collect();
        let together = gang.map(|gang| {
            let (size, result) = (gang.size, called.result.write(rt));
            let columns = gang.columns(|v| {
                let value = called.inside(v).read(rt);
                quote!(#rt::Strip::of(#value, __part * #size))
            });
            quote! {
                for __part in 0..#strip / #size {
                    let __bits = #rt::vector::part_bits::<#size>(__part);
                    if __up & __bits == __bits && #rt::vector::Gang::begins(&__gang, &__blocks) {
                        let __depth = #rt::vector::TaskBlocks::depth(&__blocks);
                        let __parts = #rt::vector::Gang::begin(&__gang, &#columns, __depth);
                        #rt::vector::append_strip(&mut (#result)[__part * #size..], #rt::Strip::lanes(&__parts));
                        __up &= !__bits;
                    }
                }
            }
        });
        let changes = gang.map(|_| quote!(mut));
        quote! {
            #declare
            #run
            let #changes __up = #up;
            #together
            if #rt::vector::LaneSet::is_full::<#strip>(__up) {
                #(#rt::vector::append_strip(&mut #to[__at..], #values);)*
                __at += #strip;
            } else if __up != 0 {
                #(#rt::vector::append(&mut #to[__at..], #values, __up, __level);)*
                __at += __up.count_ones() as usize;
            }
        }
    }

    /// Whether those that go up are so few that they have been run as scalar code.
    fn few_up(&self, state: &VarSet, results: &Ident) -> TokenStream {
        let t = |v: VarId| numbered("to", v.0).into_token_stream();
        // A task block may no longer have all that a call needs, or something else under its name.
        let mut params = crate::codegen::vector::columns::columns(self.emitter, self.func);
        let made = &self.entry_region().outs;
        let has_all = params.all(|v| state.contains(&v) && !made.contains(&v));
        let rt = &self.emitter.rt;
        let (counts, blocks) = self.counts();
        let clone =
            has_all.then(|| self.few(&quote!(#rt::vector::TaskBlocks::depth(&__blocks)), &t)).flatten();
        match clone {
            Some((most, call)) => quote! {
                if #rt::vector::is_few(&__arena, __at, #most, #counts) {
                    let __limited = #rt::vector::Arena::is_limited(&__arena);
                    for __lane in 0..__at {
                        #rt::vector::give(&mut *#results, __lane, #call);
                    }
                    #rt::vector::Arena::few_have_run(&__arena, #blocks);
                    true
                } else {
                    false
                }
            },
            None => quote!({ let _ = #results; false }),
        }
    }

    /// What makes the results of the strips whose calls have theirs.
    fn join(&self, self_calls: &SelfCalls<'_>, state: &VarSet) -> TokenStream {
        let (emitter, rt, strip) = (self.emitter, &self.emitter.rt, self.emitter.width.strip);
        let SelfCalls { calls, kept, dests, .. } = self_calls;
        let (sites, results) = (calls.len(), self_calls.results());
        let mut read = self_calls.join.touched();
        read.retain(|v| !self.is_result(*v) && !dests.contains(v) && !kept.contains(v));
        debug_assert!(read.iter().all(|v| state.contains(v)));
        let place = |v: VarId| {
            if let Some(nth) = dests.iter().position(|dest| *dest == v) {
                let o = &results[nth];
                return quote!(#rt::Strip::lanes(&#o));
            }
            let from = numbered(if kept.contains(&v) { "copied" } else { "strip" }, v.0);
            match self.is_result(v) {
                true => quote!(&mut __res[__i]),
                false => quote!(&#from[__i]),
            }
        };
        let (run, _) = strip::once(emitter, self_calls.join, place, &quote!(__wide), &quote!(), Ways::Flags);
        let open_read = read.iter().map(|v| numbered("strip", v.0));
        let open_read = open_read.map(|s| {
            quote! {
                let (#s, _) = #rt::vector::BlockColumns::both(&mut #s, &__blocks);
                let #s = #rt::vector::strips::<_, #strip>(&*#s, __end);
            }
        });
        let open_own = self_calls.own().map(|o| {
            quote! {
                let #o = #rt::vector::BlockColumns::here(&mut #o, &__blocks);
                let #o = #rt::vector::strips::<_, #strip>(&*#o, __end);
            }
        });
        let fetch = results.iter().enumerate().map(|(nth, o)| {
            let at_once = match &self_calls.settled {
                Some(value) => {
                    let output = self.output();
                    quote!(#rt::Strip::<#output, #strip>::filled(#value))
                }
                None => quote!(#rt::Strip::copied(&#o[__i])),
            };
            quote! {
                let mut #o = #at_once;
                let __up = #rt::vector::value(&*__gone, #sites * __i + #nth);
                #rt::vector::fetch(#rt::Strip::lanes_mut(&mut #o), &__done[__at..], __up, __level);
                __at += __up.count_ones() as usize;
            }
        });
        quote! {
            let (__first, __end) = #rt::vector::TaskBlocks::joins(&__blocks);
            #(#open_read)*
            #(#open_own)*
            let __gone = #rt::vector::BlockColumns::here(&mut __gone, &__blocks);
            let (__res, __done) = #rt::vector::BlockColumns::both(&mut __results, &__blocks);
            let __res = #rt::vector::strips_mut::<_, #strip>(&mut *__res, __end);
            let mut __at = 0usize;
            for __i in __first..__end {
                let __wide = #rt::vector::TaskBlocks::wide::<#strip>(&__blocks);
                #(#fetch)*
                #run
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    /// Whether the calls of `f` are made at once.
    fn task_blocks(item: proc_macro2::TokenStream) -> bool {
        crate::driver::autobatch(quote!(), item).to_string().contains("TaskBlocks")
    }

    #[test]
    fn calls_that_need_no_result_fork() {
        assert!(task_blocks(quote!(
            fn f(n: u32) -> u32 {
                if n < 2 { 1 } else { f(n - 2) + f(n - 1) }
            }
        )));
        assert!(task_blocks(quote!(
            fn f(n: u32) -> u32 {
                if n < 3 { 1 } else { f(n - 3) + f(n - 2) * n + f(n - 1) + n }
            }
        )));
        assert!(task_blocks(quote!(
            fn f(mut n: u32, x: u32) -> u32 {
                if n < 2 {
                    return x;
                }
                let a = f(n - 2, x);
                n -= 1;
                let y = x * 2;
                let (b, c) = (f(n, y), f(n, x));
                a + b * y + c + n
            }
        )));
    }

    #[test]
    fn forks_have_no_rooms() {
        let queues = |body: proc_macro2::TokenStream| {
            let item = quote!(fn f(n: u32) -> u32 { if n < 2 { return 1; } #body });
            crate::driver::autobatch(quote!(), item).to_string().contains("_wavefront")
        };
        assert!(!queues(quote!(f(n - 2) + f(n - 1))));
        assert!(queues(quote!(f(f(n - 1) % n))));
        // Behind the one call that a member makes there is nothing to wait for; a second one may have to.
        let queues = |calls: proc_macro2::TokenStream| {
            let item = quote!(mod m {
                pub fn g(n: u32) -> u32 { #calls }
                fn f(n: u32) -> u32 { if n < 2 { 1 } else { f(n - 2) + f(n - 1) } }
            });
            crate::driver::autobatch(quote!(), item).to_string().contains("g_batched_vector_avx2_wavefront")
        };
        assert!(!queues(quote!(f(n))));
        assert!(!queues(quote!(if n > 3 { f(n) } else { f(n + 1) * 2 })));
        assert!(queues(quote!(f(n) + f(n * 2))));
        assert!(queues(quote!(let mut a = n; while a < 9 { a = f(a); } a)));
    }

    #[test]
    fn results_that_are_settled_have_no_column() {
        let settled = |item| crate::driver::autobatch(quote!(), item).to_string().contains(":: filled (");
        let rest = quote!(f(n - 2) + f(n - 1));
        assert!(settled(quote!(fn f(n: i32) -> i32 { if n < 2 { 1 } else { #rest } })));
        assert!(settled(quote!(fn f(n: i32) -> i32 { if n < 2 || n == 7 { return -1; } #rest })));
        assert!(settled(quote!(fn f(n: i32) -> i32 { match n { 0 => 1, 1 => 1, _ => #rest } })));
        assert!(!settled(quote!(fn f(n: i32) -> i32 { if n < 2 { n } else { #rest } })));
        assert!(!settled(quote!(fn f(n: i32) -> i32 { match n { 0 => 0, 1 => 1, _ => #rest } })));
        assert!(!settled(quote!(fn f(n: i32) -> i32 { if n < 2 { 1 + 1 } else { #rest } })));
    }

    #[test]
    fn other_calls_do_not() {
        // One call; one that needs another; one that only some make; a loop behind; another function.
        let bodies = [
            quote!(if n < 2 { 1 } else { 1 + f(n - 1) }),
            quote!(if n < 2 {
                1
            } else {
                let a = f(n - 1);
                f(a % n) + a
            }),
            quote!(if n < 2 {
                1
            } else {
                let a = f(n - 1);
                if n > 5 { a + f(n - 2) } else { a }
            }),
            quote!(if n < 2 { return 1; } let mut a = f(n - 2) + f(n - 1); while a > n { a /= 2; } a),
            quote!(let mut n = n; while n > 9 { n /= 3; } if n < 2 { 1 } else { f(n - 2) + f(n - 1) }),
        ];
        for body in bodies {
            assert!(!task_blocks(quote!(fn f(n: u32) -> u32 { #body })), "{body}");
        }
        assert!(!task_blocks(quote!(
            mod m {
                pub fn f(n: u32) -> u32 {
                    if n < 2 { 1 } else { g(n - 1) + f(n - 1) }
                }
                fn g(n: u32) -> u32 {
                    if n < 2 { 2 } else { f(n - 1) + g(n - 2) }
                }
            }
        )));
    }
}
