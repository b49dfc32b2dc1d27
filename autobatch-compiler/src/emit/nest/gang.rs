//! Gangs: activations of a fork that agree recurse together, natively.
//!
//! ```text
//! let body = body(kind(|| (Strip::of(h1, 0), …)), |gang, columns, here, depth| {
//!     let (s1, …) = columns;                         // what is live behind the entry region
//!     …the first call's arguments…                   // as on a level (see `fork`), for as many lanes as a vector has
//!     let up = …the callee's entry region on them…;  // who returns at once has its result in o0
//!     if up.any() {
//!         merge(&mut o0, if gang.agrees() { gang.call(&(y1, …), …) } else { …scalar clones… }, &up);
//!     }
//!     …the second call's…
//!     …the region behind the calls…
//! });
//! ```
//!
//! A strip of a level whose lanes all go up does so in gangs ("gang": Pharr and Mark, "ispc: A SPMD compiler for
//! high-performance CPU programming", InPar 2012). What one computes stays in registers: LLVM knows how many lanes there
//! are, and keeps their arrays out of memory. A level costs a store and a load for each column of each activation that
//! calls; but lanes of a gang that disagree wait for each other. How many do is counted (the runtime's `Gang::agrees`): where they are
//! too many, levels do it all. The body is a closure because it is called with variables whose types only rustc knows.
//!
//! Invariant: lanes that do not count are copies of some that do, so that whatever they compute is harmless.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use super::Writer;
use super::called::Called;
use super::fork::Fork;
use crate::emit::numbered;
use crate::emit::region::Region;
use crate::emit::strip::{self, Part, Place};
use crate::ir::{VarId, VarSet};

/// With less work (see [`crate::ir::Op::weight`]) a level costs no more than a gang, whose lanes wait for each other, and
/// the loops over a gang's lanes are so short that LLVM unrolls them before it makes vectors of them. Measured: 25 is too
/// little, 85 and 150 are enough.
const LEAST: u32 = 64;

/// The code of a function's gangs.
pub(super) struct Gang {
    /// The lanes of one.
    pub(super) size: usize,
    /// Statements that declare `__gang`.
    pub(super) code: TokenStream,
}

impl Writer<'_, '_> {
    /// How gangs run a fork, if they are worth it.
    pub(super) fn gang(&self, fork: &Fork<'_>, state: &VarSet) -> Option<Gang> {
        let (emitter, rt, entry) = (self.emitter, &self.emitter.rt, self.entry_region());
        // Two registers a variable where there are enough of them: the fewer calls.
        let size = if emitter.width.word64 && self.isa == "avx2" { 8 } else { 16 };
        let work = |before: &Region| self.weight(|b| [before.head, entry.head].contains(&b.region));
        if self.isa.is_empty() || fork.calls.iter().any(|(before, _)| work(before) < LEAST) {
            return None;
        }
        let here = |v: VarId| Place::Strip(fork.named(v));
        let columns: Vec<Ident> = state.iter().map(|v| numbered("s", v.0)).collect();
        let homes = state.iter().map(|v| self.home(*v));
        let scratch = fork.written.iter().map(|v| {
            let (x, ty) = (fork.named(*v), emitter.element(*v));
            match state.contains(v) {
                true => {
                    let s = numbered("s", v.0);
                    quote!(let mut #x = #rt::nest::Strip::<#ty, #size>::copied(#s.lanes());)
                }
                false => quote!(let mut #x = #rt::nest::Strip::<#ty, #size>::new();),
            }
        });
        let results = fork.results();
        let calls = fork.calls.iter().zip(&results).map(|((before, call), result)| {
            let called = Called { writer: self, call, here: &here, result: Place::Strip(result.clone()) };
            self.together(before, &called, state, size)
        });
        let calls = calls.collect::<Option<Vec<_>>>()?;
        let place = |v: VarId| {
            if let Some(nth) = fork.dests.iter().position(|dest| *dest == v) {
                return Place::Strip(results[nth].clone()).read();
            }
            match self.is_result(v) {
                true => quote!(__res.lanes_mut()),
                false => here(v).read(),
            }
        };
        let (join, _) = strip::once(emitter, fork.join, place, &size.to_token_stream(), &quote!());
        let output = self.output();
        let code = quote! {
            let __kind = #rt::nest::kind(|| (#(#rt::nest::Strip::<_, #size>::of(&*#homes, 0),)*));
            let __body = #rt::nest::body(
                __kind,
                |__gang: &_, (#(#columns,)*): &_, __here: &#rt::nest::Flags<#size>, __depth: #rt::Depth| {
                    #(#scratch)*
                    #(let mut #results = #rt::nest::Strip::<_, #size>::new();)*
                    #(#calls)*
                    let mut __res = #rt::nest::Strip::<#output, #size>::new();
                    #join
                    __res
                },
            );
            let __gang = #rt::nest::Gang::new(&__body);
        };
        Some(Gang { size, code })
    }

    /// A call, for all lanes of a gang; `None` if it can't be made for one lane alone, or has too many variables.
    fn together(
        &self,
        before: &Region,
        called: &Called<'_>,
        state: &VarSet,
        size: usize,
    ) -> Option<TokenStream> {
        let (emitter, rt, entry) = (self.emitter, &self.emitter.rt, self.entry_region());
        // A scalar call has its arguments from a copy: what stays in registers has no address.
        let a = |v: VarId| numbered("a", v.0);
        let (_, clone) = self.few(&quote!(__depth), &|v| Place::Strip(a(v)).read())?;
        let params: Vec<VarId> = super::columns(emitter, self.func).collect();
        let names: Vec<Ident> = params.iter().map(|v| a(*v)).collect();
        let args = params.iter().map(|v| Some(called.arg(*v)?.read())).collect::<Option<Vec<_>>>()?;
        let inside = |v| called.inside(v);
        let parts = [
            Part { region: before, place: called.here, begin: vec![] },
            Part { region: entry, place: &inside, begin: called.begin() },
        ];
        let back = emitter.return_point(self.func);
        let up = *entry.successors.iter().find(|point| **point != back)?;
        let flags = strip::flags(emitter, &parts, size, up)?;
        let (declare, values) = (called.declare(size), called.values(state));
        let next: Vec<Ident> = state.iter().map(|v| numbered("n", v.0)).collect();
        let (Place::Strip(strip) | Place::Column(strip)) = &called.result;
        // Lanes that all go up are by far the most frequent case: it has a path of its own.
        Some(quote! {{
            #declare
            let __up = #flags;
            if __up.any() {
                let __live = __up.and(__here);
                if !__gang.agrees() {
                    let __args = (#(#rt::nest::Strip::<_, #size>::copied(#args),)*);
                    let __results = #rt::nest::alone(&__args, &__live, |(#(#names,)*), __lane| #clone);
                    #rt::nest::merge(&mut #strip, &__results, &__up);
                } else if __up.is_full() {
                    let __columns = (#(#rt::nest::Strip::copied(#values),)*);
                    #strip = __gang.call(&__columns, &__live, __depth);
                } else {
                    let mut __columns = (#(#rt::nest::Strip::copied(#values),)*);
                    let (__from, (#(#next,)*)) = (__live.first(), &mut __columns);
                    #(#rt::nest::fill(#next, &__up, __from);)*
                    #rt::nest::merge(&mut #strip, &__gang.call(&__columns, &__live, __depth), &__up);
                }
            }
        }})
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    /// Whether lanes of `f` recurse in gangs.
    fn gangs(item: proc_macro2::TokenStream) -> bool {
        crate::driver::autobatch(quote!(), item).to_string().contains("Gang :: new")
    }

    #[test]
    fn forks_with_work_to_do_have_gangs() {
        assert!(gangs(quote!(
            fn f(a: f64, b: f64, whole: f64) -> f64 {
                let m = (a + b) * 0.5;
                let (l, r) = (1.0 / (a * m + 1.0) + a * a * m, 1.0 / (b * m + 1.0) + b * b * m);
                let (p, q) = ((l * a + m) * (r * b - m) + l * l * r, (r * a + m) * (l * b - m) + r * r * l);
                let (s, t) = (p * p * 0.25 + q * l - a * b, q * q * 0.25 - p * r + a * b);
                let u = (s * s + t * t) / (1.0 + p * p + q * q) + (s - t) * (p - q) * m;
                let v = (u * u - s) * (u + t) / (2.0 + s * s) + (l * u - r) * (p + u) * (q - u) * 0.5;
                if (l * u + r * v - whole).abs() < 1e-3 * (u - v) { u + v } else { f(a, m, u) + f(m, b, v) }
            }
        )));
    }

    #[test]
    fn others_do_not() {
        assert!(!gangs(quote!(
            fn fib(n: u32) -> u32 {
                if n < 2 { 1 } else { fib(n - 2) + fib(n - 1) }
            }
        )));
        // No fork: the second call needs the first one's result.
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
