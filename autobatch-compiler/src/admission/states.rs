//! Of which states lane code is lent a copy: `&mut` parameters of which nothing leaves a region.
//!
//! ```text
//! #[autobatch]
//! fn walk(rng: &mut Xorshift, width: f64) -> u32 {       // lane code of a region, shortened:
//!     let mut x = 0.0f64;                                //     let mut lent = states.lend(lane);
//!     for step in 0..400 {                               //     if here {
//!         x += rng.uniform() - 0.5;                      //         let rng = lent.state();
//!         …                                              //         x += rng.uniform() - 0.5; …
//! ```
//!
//! What lane code is lent ends with the lane, so a value that leaves the region must not refer to it. Whether one may is found by what is
//! written: a value that is made in a statement that mentions the state may hold a reference to it, unless its type says that it
//! holds none. That type is written, or known by admission, which asks rustc. A state that one such value may refer to is not lent: lane
//! code then has the reference itself.
//!
//! **Invariant:** a state is lent only if no value that crosses a block boundary may refer to it. Soundness does not depend on it: rustc
//! checks that nothing outlives what it is lent.

use syn::{Expr, GenericArgument, Lifetime, PathArguments, PathSegment, Type, parse_quote};

use crate::analysis::reference_flow::{ReferenceFlow, is_number_type};
use crate::index::declarations::Declared;
use crate::ir::effects;
use crate::ir::questions::{Need, Questions};
use crate::ir::{FuncId, Program, Role, Terminator, VarId, VarSet};
use crate::item::model::Function;
use crate::passes::Analyses;
use crate::std_models::facts;
use crate::std_models::pure::is_primitive;
use crate::syntax::elision::nameless;
use crate::syntax::walk::{self, At};

/// What is known of a function's variables.
pub(super) struct Facts<'a> {
    pub(super) program: &'a Program,
    pub(super) analyses: &'a Analyses,
    pub(super) func: FuncId,
    pub(super) function: &'a Function,
    /// The function that the batched call enters: its states are of types that have a size.
    pub(super) entry: &'a Function,
    pub(super) flow: &'a ReferenceFlow,
    pub(super) questions: &'a Questions,
    pub(super) declared: &'a Declared,
}

/// The states of a function that its lane code may be lent copies of.
pub(super) fn lent(facts: &Facts<'_>) -> VarSet {
    // Such code may rely on a state's address.
    let relies =
        walk::any(&facts.function.body, |at| matches!(at, At::Expr(Expr::Unsafe(_) | Expr::RawAddr(_))));
    if relies {
        return VarSet::new();
    }
    let params = facts.program.func(facts.func).params.iter().copied();
    let states: VarSet = params.filter(|v| facts.is_state(*v)).collect();
    match referring(facts, &states).iter().any(|v| leaves(facts, *v)) {
        true => VarSet::new(),
        false => states,
    }
}

/// Variables that may hold a reference to one of the states.
fn referring(facts: &Facts<'_>, states: &VarSet) -> VarSet {
    let names = effects::names(facts.program, facts.func);
    let mut together: Vec<VarSet> = Vec::new();
    for block in facts.program.blocks_of(facts.func) {
        together.extend(block.code().map(|stmt| effects::of(&names, stmt).mentions));
        match &block.term {
            Terminator::Branch { uses, binds, .. } => together.push(uses | binds),
            Terminator::Switch { uses, arms, .. } => {
                let bound = arms.iter().flat_map(|arm| &arm.binds);
                together.push(uses.iter().chain(bound).copied().collect());
            }
            _ => {}
        }
    }
    let mut referring = VarSet::new();
    loop {
        let before = referring.len();
        for mentioned in &together {
            if !mentioned.is_disjoint(states) || !mentioned.is_disjoint(&referring) {
                referring.extend(mentioned.iter().filter(|v| !states.contains(v) && !facts.is_free(**v)));
            }
        }
        if referring.len() == before {
            return referring;
        }
    }
}

/// Whether a variable's value goes from one region to another, or out of the function.
fn leaves(facts: &Facts<'_>, var: VarId) -> bool {
    let handed = facts.program.blocks_of(facts.func).any(|block| match &block.term {
        Terminator::TailCall { args, .. } => args.contains(&var),
        _ => false,
    });
    facts.analyses.needs_column(var) || handed || facts.program.var(var).role == Role::Result
}

impl Facts<'_> {
    /// Whether a parameter is a state that can be lent: a `&mut` that stays what it is, whose lifetime nothing else has, to what certainly
    /// has a size.
    fn is_state(&self, var: VarId) -> bool {
        let var = self.program.var(var);
        let Some(Type::Reference(r)) = &var.ty else { return false };
        let named = r.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident != "_");
        let in_column = |ty: &Type| match ty {
            Type::Reference(of) => of.mutability.is_some() && nameless(&of.elem) == nameless(&r.elem),
            _ => false,
        };
        let is_sized = is_number_type(&r.elem) || self.entry.params.iter().any(|param| in_column(&param.ty));
        let is_slice = matches!(&*r.elem, Type::Slice(_) | Type::TraitObject(_)) || is_str(&r.elem);
        r.mutability.is_some() && !var.mutable && !named && is_sized && !is_slice
    }

    /// Whether a variable certainly holds no reference to a state.
    fn is_free(&self, id: VarId) -> bool {
        let var = self.program.var(id);
        let name = var.ident.to_string();
        let of_type = |ty: &Type| is_number_type(ty) || !self.may_refer(ty);
        match var.role {
            // A parameter's lifetimes are its facts.
            Role::Param(_) => true,
            Role::Result => of_type(&self.program.func(self.func).output),
            Role::Local | Role::Temp => {
                let asked =
                    |(v, need): &(VarId, Need)| *v == id && matches!(need, Need::Whole | Need::Copied);
                self.flow.is_number(&name)
                    || self.flow.is_outer(&name)
                    || var.ty.as_ref().is_some_and(of_type)
                    || self.questions.variables.iter().any(asked)
            }
        }
    }

    /// Whether a type may have a state's lifetime, which has no name: one that is left out, be it by the name of a type.
    fn may_refer(&self, ty: &Type) -> bool {
        let nameless = |lifetime: Option<&Lifetime>| lifetime.is_none_or(|lifetime| lifetime.ident == "_");
        walk::any(ty, |at| match at {
            At::Type(Type::Reference(r)) => nameless(r.lifetime.as_ref()),
            At::Lifetime(lifetime) => nameless(Some(lifetime)),
            At::Type(Type::Path(p)) => p.path.segments.last().is_none_or(|last| self.may_hide(last)),
            At::Type(ty) => {
                matches!(ty, Type::TraitObject(_) | Type::ImplTrait(_) | Type::Infer(_) | Type::Macro(_))
            }
            _ => false,
        })
    }

    /// Whether a type that is named may have a lifetime that is not written.
    fn may_hide(&self, segment: &PathSegment) -> bool {
        let name = &segment.ident;
        let generics = [&self.function.sig.generics, &self.function.outer];
        let given = generics.iter().flat_map(|g| g.type_params()).any(|param| param.ident == *name);
        let written = match &segment.arguments {
            PathArguments::AngleBracketed(of) => {
                of.args.iter().any(|arg| matches!(arg, GenericArgument::Lifetime(_)))
            }
            _ => false,
        };
        let known = given
            || written
            || name == "Self"
            || facts::is_type(&name.to_string())
            || is_primitive(&parse_quote!(#name))
            || self.declared.lifetimes.certain(name) == Some(0);
        !known
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|last| last.ident == "str"))
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use crate::admission::admit;
    use crate::ir::testing::{functions, names};
    use crate::item::model;
    use crate::lower::{LowerOptions, lower};
    use crate::passes::{self, PassOptions};
    use crate::resolve::resolution::Resolution;

    /// The parameters of which copies are lent.
    fn lent(item: TokenStream) -> Vec<String> {
        let item = model::Item { functions: functions(item), ..Default::default() };
        let options = LowerOptions {
            krate: syn::parse_quote!(::autobatch),
            fuse: true,
            primitives: vec![],
            split_entry: false,
            vector_math: false,
        };
        let (mut lowered, questions) = lower(&item, &Resolution::default(), 0, &options);
        let analyses = passes::run(&mut lowered.program, &PassOptions::default());
        let admitted = admit(lowered, questions, analyses, &item);
        names(&admitted.lowered.program, &admitted.states)
    }

    #[test]
    fn states_that_only_numbers_are_made_of_are_lent() {
        let all = lent(quote! {
            fn walk(rng: &mut Xorshift, s: &mut [f64; 3], width: f64) -> u32 {
                let mut x = 0.0f64;
                let first = rng.uniform();
                for step in 0..400 {
                    let more = helper(rng);
                    x += rng.uniform() - first + more.abs();
                    s[1] = x;
                    if x.abs() > width { return step; }
                }
                400
            }
        });
        assert_eq!(all, ["rng", "s"]);
    }

    #[test]
    fn what_the_result_borrows_elsewhere_does_not_refer_to_the_state() {
        let all = lent(quote! {
            fn read<'a>(cursor: &mut Cursor<'a>, n: u64) -> Option<&'a u64> {
                let mut sum = 0;
                for _ in 0..n { sum += cursor.next().copied().unwrap_or(0); }
                if sum > 9 { None } else { cursor.next() }
            }
        });
        assert_eq!(all, ["cursor"]);
    }

    #[test]
    fn states_that_calls_are_handed_are_lent_to_both() {
        let all = lent(quote! {
            mod program {
                pub fn f(rng: &mut Own, n: u64) -> u64 { if n == 0 { rng.next() } else { f(rng, n - 1) + g(rng, n / 2) } }
                fn g(own: &mut Own, n: u64) -> u64 { if n == 0 { own.next() } else { f(own, n - 1) + 1 } }
            }
        });
        assert_eq!(all, ["own", "rng"]);
    }

    #[test]
    fn states_to_which_something_may_refer_are_not() {
        let none: [&str; 0] = [];
        for item in [
            // A closure holds it across the loop.
            quote!(
                fn f(s: &mut Own, n: u64) -> u64 {
                    let mut next = move || s.next();
                    let mut sum = 0;
                    for _ in 0..n {
                        sum += next();
                    }
                    sum
                }
            ),
            // The result has it.
            quote!(
                fn f<'a>(s: &'a mut Own, n: u64) -> &'a mut u64 {
                    for _ in 0..n {
                        s.next();
                    }
                    &mut s.0
                }
            ),
            quote!(
                fn f(s: &mut Own, n: u64) -> Foreign {
                    for _ in 0..n {
                        s.next();
                    }
                    Foreign::of(s)
                }
            ),
            quote!(
                fn f(s: &mut Own, n: u64) -> Option<&u64> {
                    for _ in 0..n {
                        s.next();
                    }
                    s.last()
                }
            ),
            quote!(
                fn f(s: &mut Own, n: u64) -> Pair<'_> {
                    for _ in 0..n {
                        s.next();
                    }
                    Pair(s)
                }
            ),
            // It may come to be another.
            quote!(
                fn f(mut s: &mut Own, n: u64) -> u64 {
                    for _ in 0..n {
                        s = s.other();
                    }
                    s.next()
                }
            ),
            // It has no size.
            quote!(
                fn f(s: &mut [f64], n: u64) -> f64 {
                    for _ in 0..n {
                        s[0] += 1.0;
                    }
                    s[0]
                }
            ),
            quote!(
                fn f(s: &mut str, n: u64) -> u64 {
                    for _ in 0..n {
                        s.make_ascii_uppercase();
                    }
                    n
                }
            ),
            // The code may rely on where it is.
            quote!(
                fn f(s: &mut Own, n: u64) -> u64 {
                    for _ in 0..n {
                        unsafe { s.next_in_place() };
                    }
                    s.next()
                }
            ),
        ] {
            assert_eq!(lent(item.clone()), none, "{item}");
        }
    }
}
