//! Gangs: activations of a function that calls itself recurse together, natively.
//!
//! ```text
//! let body = body(kind, |gang, &(strip1, …), (strip2, …), here, depth| {  // what is live behind the entry region
//!     …the first call's arguments…                    // as in a task block (see [`super::task_blocks`]), for as many lanes as a vector has
//!     let up0 = …the callee's entry region on them…;  // who returns at once has its result in outcome0
//!     let calls0 = up0.any() && …;                    // what the call is made with is kept, in own0
//!     …the second call's…
//!     if calls1 { gang.call((strip1, …), &own1, up1, here, depth, &mut outcome1) }
//!     if calls0 { gang.call((strip1, …), &own0, up0, here, depth, &mut outcome0) }
//!     …the region behind the calls…
//! });
//! ```
//!
//! A strip of a task block whose lanes all go up does so in gangs ("gang": Pharr and Mark, "ispc: A SPMD compiler for
//! high-performance CPU programming", InPar 2012). What one computes stays in registers: LLVM knows how many lanes there
//! are, and keeps their arrays out of memory. A task block costs a store and a load for each column of each activation that
//! calls; a gang does not copy what a call passes on unchanged, but borrows it. Entry regions come before calls, so that the
//! processor has something to do while it waits for the first one's branch and divisions (measured: quadrature 1.07 times as fast
//! as with each call behind its entry region). But lanes of a gang that disagree wait for each other. How many do is counted (the
//! runtime's `Gang::agrees`): where they are too many, task blocks do it all. The body is a closure because it is called with
//! variables whose types only rustc knows.
//!
//! Invariants: lanes that do not count are copies of some that do, so that whatever they compute is harmless; a strip that is
//! borrowed does not change while the body runs.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Local, LocalInit, Stmt};

use crate::codegen::names::numbered;
use crate::codegen::region::Region;
use crate::codegen::strip::{self, LaneStorage, Part, Ways};
use crate::codegen::vector::entry_call::Called;
use crate::codegen::vector::frames::Writer;
use crate::codegen::vector::self_calls::{Gang, SelfCalls};
use crate::ir::{Op, Program, VarId, VarSet};

/// With less work (see [`crate::ir::Op::weight`]) a task block costs no more than a gang, whose lanes wait for each other, and
/// the loops over a gang's lanes are so short that LLVM unrolls them before it makes vectors of them. Measured: 25 is too
/// little, 85 and 150 are enough.
const LEAST: u32 = 64;

impl Gang {
    /// The columns, each as said.
    pub(crate) fn columns(&self, column: impl Fn(VarId) -> TokenStream) -> TokenStream {
        let [borrowed, own] = [&self.borrowed, &self.own].map(|vars| pairs(vars.iter().map(|v| column(*v))));
        quote!((#borrowed, #own))
    }
}

/// The variables of the caller's state that a call passes on, by parameter.
type PassedOn = BTreeMap<VarId, VarId>;

/// Pairs of one and the others, which end in `()`.
fn pairs(all: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    all.rfold(quote!(()), |others, one| quote!((#one, #others)))
}

impl Writer<'_, '_> {
    /// How gangs run self calls, if that is worth it.
    pub(crate) fn gang(&self, self_calls: &SelfCalls<'_>, state: &VarSet) -> Option<Gang> {
        let (emitter, rt, entry) = (self.emitter, &self.emitter.rt, self.entry_region());
        // Two registers a variable where there are enough of them: the fewer calls.
        let size = if emitter.width.word64 && self.isa != "avx512" { 8 } else { 16 };
        let work = |before: &Region| self.weight(|b| [before.head, entry.head].contains(&b.region));
        let little = self_calls.calls.iter().any(|(before, _)| work(before) < LEAST);
        if little || state.len() > strip::ARGUMENTS {
            return None;
        }
        let here = |v: VarId| LaneStorage::Strip(self_calls.named(v));
        let results = self_calls.results();
        let calls =
            self_calls.calls.iter().zip(&results).enumerate().map(|(nth, ((before, call), result))| {
                let result = LaneStorage::Strip(result.clone());
                let called = Called { writer: self, call, nth, here: &here, result };
                let passed_on = state.iter().filter(|v| !entry.outs.contains(v));
                let passed_on = passed_on
                    .filter_map(|v| Some((*v, self.passed_on(state, self_calls, (before, &called), *v)?)));
                (*before, passed_on.collect(), called)
            });
        let calls: Vec<(&Region, PassedOn, Called<'_>)> = calls.collect();
        let (borrowed, own) = state.iter().partition(|v| calls.iter().any(|(_, on, _)| on.contains_key(v)));
        let mut gang = Gang { size, borrowed, own, code: quote!() };
        let scratch = self_calls.written.iter().map(|v| {
            let (x, ty) = (self_calls.named(*v), emitter.element(*v));
            match state.contains(v) {
                true => {
                    let s = numbered("strip", v.0);
                    quote!(let mut #x = #rt::Strip::<#ty, #size>::copied(#rt::Strip::lanes(#s));)
                }
                false => quote!(let mut #x = #rt::Strip::<#ty, #size>::new();),
            }
        });
        let calls =
            calls.iter().map(|(before, on, called)| self.together(&gang, self_calls, before, on, called));
        let (enters, calls): (Vec<_>, Vec<_>) = calls.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let calls = calls.iter().rev();
        let place = |v: VarId| {
            if let Some(nth) = self_calls.dests.iter().position(|dest| *dest == v) {
                return LaneStorage::Strip(results[nth].clone()).read(rt);
            }
            match self.is_result(v) {
                true => quote!(#rt::Strip::lanes_mut(&mut __res)),
                false => here(v).read(rt),
            }
        };
        let (join, _) =
            strip::once(emitter, self_calls.join, place, &size.to_token_stream(), &quote!(), Ways::Flags);
        let (output, word, level) = (self.output(), &emitter.word, self.level());
        let sites = self_calls.calls.len();
        let kind = gang.columns(|v| {
            let home = self.home(v);
            quote!(#rt::Strip::<_, #size>::of(&*#home, 0))
        });
        let s = |v: VarId| numbered("strip", v.0).into_token_stream();
        let [borrowed, own] = [&gang.borrowed, &gang.own].map(|vars| pairs(vars.iter().map(|v| s(*v))));
        gang.code = quote! {
            let __kind = #rt::vector::kind(|| #kind);
            let __body = #rt::vector::body(__kind, |__gang, &#borrowed, #own, __here, __depth| {
                let __level = #level;
                #(#scratch)*
                #(let mut #results = #rt::Strip::<_, #size>::new();)*
                #(#enters)*
                #(#calls)*
                let mut __res = #rt::Strip::<#output, #size>::new();
                #join
                __res
            });
            let __part = #rt::vector::part(__kind, |__gang, __borrowed, __own, __lanes, __depth| {
                #rt::vector::Gang::filled::<#word>(__gang, __borrowed, __own, __lanes, __depth, #level)
            });
            let __gang = #rt::vector::Gang::new::<#word>(&__arena, #sites, &__body, &__part, #level);
        };
        Some(gang)
    }

    /// A call, for all lanes of a gang: what is done before any of the calls is made, and the call. `None` if it can't be made
    /// for one lane alone, or has too many variables.
    fn together(
        &self,
        gang: &Gang,
        self_calls: &SelfCalls<'_>,
        before: &Region,
        passed_on: &PassedOn,
        called: &Called<'_>,
    ) -> Option<(TokenStream, TokenStream)> {
        let (emitter, rt, entry, size) = (self.emitter, &self.emitter.rt, self.entry_region(), gang.size);
        // A scalar call has its arguments from a copy: what stays in registers has no address.
        let a = |v: VarId| numbered("given", v.0);
        let (_, clone) = self.few(&quote!(__depth), &|v| LaneStorage::Strip(a(v)).read(rt))?;
        let params: Vec<VarId> = crate::codegen::vector::columns::columns(emitter, self.func).collect();
        let names: Vec<Ident> = params.iter().map(|v| a(*v)).collect();
        let args = params
            .iter()
            .map(|v| Some((called.here)(called.arg(*v)?).read(rt)))
            .collect::<Option<Vec<_>>>()?;
        let inside = |v| called.inside(v);
        let parts = [
            Part { region: before, place: called.here, begin: vec![] },
            Part { region: entry, place: &inside, begin: called.begin() },
        ];
        let back = emitter.return_point(self.func);
        let up = *entry.successors.iter().find(|point| **point != back)?;
        let lanes = strip::gang_lanes(emitter, &parts, size, up)?;
        let in_place = |v: &VarId| self.isa.is_empty() && called.made(*v).is_some();
        let (LaneStorage::Strip(result) | LaneStorage::Column(result)) = &called.result;
        let nth = called.nth;
        let [up, own, calls] = ["up", "own", "calls"].map(|name| numbered(name, nth));
        // Short vectors don't stay in registers: what the entry region makes lies where the call reads it.
        let declare = match self.isa {
            "" => {
                let made: Vec<Ident> = gang.own.iter().filter_map(|v| called.made(*v)).collect();
                let places =
                    pairs(gang.own.iter().map(|v| called.made(*v).map_or(quote!(_), |y| quote!(#y))));
                quote! {
                    let mut #own = #rt::vector::Gang::own(__gang);
                    let #places = &mut #own;
                    #(let mut #made = #made;)*
                }
            }
            _ => {
                let made = called.declare(size);
                quote!(#made let mut #own = #rt::vector::Gang::own(__gang);)
            }
        };
        let copied = |v: VarId| {
            let lanes = called.inside(v).read(rt);
            quote!(#rt::Strip::<_, #size>::copied(#lanes))
        };
        // Arguments that are made for the call are borrowed from here.
        let hold = |v: VarId| numbered(&format!("borrowed{nth}_"), v.0);
        let held = gang.borrowed.iter().filter(|v| !passed_on.contains_key(v));
        let (holds, values): (Vec<_>, Vec<_>) = held.map(|v| (hold(*v), copied(*v))).unzip();
        let borrowed = pairs(gang.borrowed.iter().map(|v| match passed_on.get(v) {
            Some(arg) => self_calls.named(*arg).into_token_stream(),
            None => {
                let hold = hold(*v);
                quote!(&#hold)
            }
        }));
        let made = gang.own.iter().scan(quote!(#own), |rest, v| {
            let (place, value) = (quote!(#rest.0), copied(*v));
            *rest = quote!(#rest.1);
            Some((!in_place(v)).then(|| quote!(#place = #value;)))
        });
        let made = made.flatten();
        Some((
            quote! {
                #declare
                let #up = #lanes;
                #(let mut #holds = #rt::Strip::<_, #size>::new();)*
                let #calls = #rt::vector::GangMask::any(#up) && {
                    let __agrees = #rt::vector::Gang::agrees(__gang);
                    if __agrees {
                        #(#holds = #values;)*
                        #(#made)*
                    } else {
                        let __args = (#(#rt::Strip::<_, #size>::copied(#args),)*);
                        let __results =
                            #rt::vector::lane_by_lane(&__args, #rt::vector::CountedLanes::and(__here, #up), |(#(#names,)*), __lane| {
                                // With limits gangs agree.
                                let __limited = false;
                                #clone
                            });
                        #rt::vector::merge(&mut #result, &__results, #up);
                    }
                    __agrees
                };
            },
            quote! {
                if #calls {
                    #rt::vector::Gang::call(__gang, #borrowed, &#own, #up, __here, __depth, &mut #result);
                }
            },
        ))
    }

    /// The variable of the caller's state that a call passes on for a parameter, if the argument is not made for the call.
    fn passed_on(
        &self,
        state: &VarSet,
        self_calls: &SelfCalls<'_>,
        (before, called): (&Region, &Called<'_>),
        param: VarId,
    ) -> Option<VarId> {
        let program = self.emitter.program;
        let arg = called.arg(param)?;
        let source = if self_calls.written.contains(&arg) {
            let blocks = program.blocks.iter().filter(|b| b.region == before.head);
            let ops: Vec<&Op> = blocks.flat_map(|b| &b.ops).collect();
            let mut mentions = ops.iter().filter(|op| op.defs.contains(&arg) || op.uses.contains(&arg));
            let (Some(only), None) = (mentions.next(), mentions.next()) else { return None };
            // What is made again is another variable of its name.
            copied(program, only).filter(|v| !ops.iter().any(|op| op.defs.contains(v)))?
        } else {
            arg
        };
        (state.contains(&source) && !self_calls.written.contains(&source)).then_some(source)
    }
}

/// The variable that a statement copies, if it does nothing else.
fn copied(program: &Program, op: &Op) -> Option<VarId> {
    let [Stmt::Local(Local { init: Some(LocalInit { expr, diverge: None, .. }), .. })] = &op.code[..] else {
        return None;
    };
    let source = *op.uses.first()?;
    matches!(&**expr, Expr::Path(path) if path.path.is_ident(&program.var(source).ident)).then_some(source)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    /// Whether lanes of `f` recurse in gangs.
    fn gangs(item: proc_macro2::TokenStream) -> bool {
        crate::driver::autobatch(quote!(), item).to_string().contains("Gang :: new")
    }

    /// A function with enough work, and what it returns where it does not return at once.
    fn self_calls(goes_on: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
        quote!(
            fn f(a: f64, b: f64, c: f64) -> f64 {
                let m = (a + b) * 0.5;
                let (l, r) = (1.0 / (a * m + 1.0) + a * a * m, 1.0 / (b * m + 1.0) + b * b * m);
                let (p, q) = ((l * a + m) * (r * b - m) + l * l * r, (r * a + m) * (l * b - m) + r * r * l);
                let (s, t) = (p * p * 0.25 + q * l - a * b, q * q * 0.25 - p * r + a * b);
                let u = (s * s + t * t) / (1.0 + p * p + q * q) + (s - t) * (p - q) * m;
                let v = (u * u - s) * (u + t) / (2.0 + s * s) + (l * u - r) * (p + u) * (q - u) * 0.5;
                if (l * u + r * v - c).abs() < 1e-3 * (u - v) { u + v } else { #goes_on }
            }
        )
    }

    #[test]
    fn forks_with_work_to_do_have_gangs() {
        assert!(gangs(self_calls(quote!(f(a, m, u) + f(m, b, v)))));
    }

    #[test]
    fn what_a_call_passes_on_is_borrowed() {
        let item = self_calls(quote!(f(a, m, c) + f(m * 0.5, b, u)));
        let code = crate::driver::autobatch(quote!(), item).to_string();
        // The last call comes first: `b` and `u`, and what is made for it. Then all three.
        let calls: Vec<&str> = code
            .split("Gang :: call (__gang , ")
            .skip(1)
            .map(|call| &call[..call.find("& __own").unwrap()])
            .collect();
        let borrowed = |call: &str| [call.matches("__strip").count(), call.matches("& __borrowed").count()];
        assert_eq!(
            calls.iter().map(|call| borrowed(call)).collect::<Vec<_>>()[..2],
            [[2, 1], [3, 0]],
            "{calls:?}"
        );
    }

    #[test]
    fn others_do_not() {
        assert!(!gangs(quote!(
            fn fib(n: u32) -> u32 {
                if n < 2 { 1 } else { fib(n - 2) + fib(n - 1) }
            }
        )));
        // No self calls: the second call needs the first one's result.
        assert!(!gangs(quote!(
            fn f(a: f64, b: f64) -> f64 {
                let m = (a + b) * 0.5;
                let (l, r) = (1.0 / (a * m + 1.0) + a * a * m, 1.0 / (b * m + 1.0) + b * b * m);
                if (l * l + r * r).abs() < 1e-3 * (l - r) {
                    l + r
                } else {
                    let l = f(a, m);
                    f(m, b * l) + l
                }
            }
        )));
    }
}
