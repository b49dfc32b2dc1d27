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

use syn::{Expr, Type};

use crate::analysis::reference_flow::{Travel, is_number_type};
use crate::index::declarations::Declared;
use crate::ir::effects;
use crate::ir::questions::{Need, Questions};
use crate::ir::{FuncId, Program, Role, Terminator, VarId, VarSet};
use crate::item::model::Function;
use crate::lower::call_arguments::may_borrow;
use crate::passes::Analyses;
use crate::std_models::facts;
use crate::std_models::pure::is_primitive;
use crate::syntax::elision::nameless;
use crate::syntax::walk::{self, At, Next};

/// What is known of a function's variables.
pub(super) struct Facts<'a> {
    pub(super) program: &'a Program,
    pub(super) analyses: &'a Analyses,
    pub(super) func: FuncId,
    pub(super) function: &'a Function,
    /// The function that the batched call enters: its states are of types that have a size.
    pub(super) entry: &'a Function,
    pub(super) travel: &'a Travel,
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
                self.travel.is_number(&name)
                    || self.travel.is_outer(&name)
                    || var.ty.as_ref().is_some_and(of_type)
                    || self.questions.variables.iter().any(asked)
            }
        }
    }

    /// Whether a type may have a lifetime of the function's, written or not.
    fn may_refer(&self, ty: &Type) -> bool {
        let generics = [&self.function.sig.generics, &self.function.outer];
        may_borrow(ty)
            || walk::any(ty, |at| match at {
                At::Type(Type::Path(p)) => {
                    let Some(name) = p.path.segments.last().map(|segment| &segment.ident) else {
                        return Next::On;
                    };
                    let given =
                        generics.iter().flat_map(|g| g.type_params()).any(|param| param.ident == *name);
                    let library = facts::is_type(&name.to_string());
                    let own = self.declared.lifetimes.certain(name) == Some(0);
                    (!(given || library || own || name == "Self" || is_primitive(&Type::Path(p.clone()))))
                        .into()
                }
                At::Type(ty) => matches!(ty, Type::Infer(_) | Type::Macro(_)).into(),
                _ => Next::On,
            })
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|last| last.ident == "str"))
}
