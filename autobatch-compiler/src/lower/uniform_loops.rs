//! Uniform loops that become blocks.
//!
//! A `for` that all members run equally often may stay whole inside the lane code, where lane interchange may turn it inside out
//! ([`crate::analysis::lane_interchange`]). Where that can't be, it would run lane by lane, as LLVM makes no vectors of a loop around a loop.
//! As blocks its body is lane code of its own, which runs for all lanes in each round:
//!
//! ```text
//! for each lane {                      until all are through {
//!     for _ in 0..n {                      for each lane {
//!         state.step(h);          ──▶          state.step(h);              // a vector loop
//!     }                                    }
//! }                                    }
//! ```
//!
//! **Invariant:** only speed depends on the choice, so types may be guessed.

use syn::{Expr, ExprForLoop, Stmt, Type};

use crate::analysis::lane_interchange::{Plan, Scope, breaks, gain};
use crate::ir::effects::{self, bound, variable};
use crate::ir::{Role, VarId, VarSet};
use crate::lower::lane_interchange::{UNKNOWN_INSIDE, WORTH_INSIDE};
use crate::lower::lowering::Lowering;
use crate::resolve::types::is_number;
use crate::std_models::elementary::is_library;
use crate::std_models::pure::{is_constant, literal};
use crate::syntax::mentions::{bare, base};
use crate::syntax::walk::{self, At, Next};

/// The words of the largest variable that lane code keeps split: the runtime's `Slots` know the same bound.
const WORDS: u64 = 8;

/// Whether a loop that all members run equally often, and that lane interchange does not take, is worth blocks.
pub(super) fn is_worth_blocks(lower: &Lowering<'_>, e: &ExprForLoop) -> bool {
    let body = Body::new(lower, e);
    lower.names.trip_counts().short(&e.expr).is_none()
        && !body.calls_library()
        && !body.picks_elements()
        && body.state().all(|words| words.is_some_and(|words| words <= WORDS))
}

/// Whether lane interchange takes a loop that runs to its end.
pub(super) fn is_interchanged(lower: &Lowering<'_>, e: &ExprForLoop) -> bool {
    looks_up(lower, e) && plan(lower, e).is_some_and(|(_, plan)| !plan.returns)
}

/// Whether it takes one that members leave early. Then the others go on, so it has to be worth that: elements that all look at together
/// are one access, those that members look at in rounds of their own are one for each.
pub(super) fn is_interchanged_search(lower: &Lowering<'_>, e: &ExprForLoop) -> bool {
    let leaves = |plan: &Plan| plan.returns || breaks(&e.body);
    looks_up(lower, e) && plan(lower, e).is_some_and(|(gain, plan)| leaves(&plan) && gain >= WORTH_INSIDE)
}

/// The plan for a loop, and what it gains.
fn plan(lower: &Lowering<'_>, e: &ExprForLoop) -> Option<(u32, Plan)> {
    let stmt = Stmt::Expr(Expr::ForLoop(e.clone()), None);
    let scope = Scope::new(&lower.program, lower.func);
    let gain = gain(&scope.names, &stmt, UNKNOWN_INSIDE);
    let op = effects::op(&scope.names, stmt);
    Plan::of(&scope, &[op]).map(|plan| (gain, plan))
}

/// Whether each loop that members leave at different times looks at elements by its counter, or goes through a list.
fn looks_up(lower: &Lowering<'_>, e: &ExprForLoop) -> bool {
    let (mut leaves, mut all_inner, mut indices) = (false, true, VarSet::new());
    walk::each(&e.body, |at| match at {
        At::Expr(Expr::ForLoop(inner)) => {
            all_inner &= looks_up(lower, inner);
            Next::Past
        }
        At::Expr(Expr::Return(_) | Expr::Break(_)) => {
            leaves = true;
            Next::On
        }
        At::Expr(Expr::Index(e)) => {
            indices.extend(effects::of(&lower.names, &e.index).mentions);
            Next::On
        }
        _ => Next::On,
    });
    let is_range = matches!(bare(&e.expr), Expr::Range(_));
    all_inner && (!leaves || !is_range || !indices.is_disjoint(&bound(&lower.names, &e.pat)))
}

/// The body of a loop, as blocks would have it.
struct Body<'a, 'b> {
    lower: &'a Lowering<'b>,
    code: &'a ExprForLoop,
    /// Variables of the body alone.
    own: VarSet,
    /// Those of them that are constants once LLVM has unrolled short loops.
    counters: VarSet,
}

impl<'a, 'b> Body<'a, 'b> {
    fn new(lower: &'a Lowering<'b>, code: &'a ExprForLoop) -> Self {
        let mut body = Body { lower, code, own: bound(&lower.names, &code.pat), counters: VarSet::new() };
        walk::each(&code.body, |at| match at {
            At::Pat(pat) => body.own.extend(bound(&lower.names, pat)),
            At::Expr(Expr::ForLoop(e)) if lower.names.trip_counts().short(&e.expr).is_some() => {
                body.counters.extend(bound(&lower.names, &e.pat));
            }
            At::Expr(Expr::Closure(e)) => {
                body.counters.extend(e.inputs.iter().flat_map(|pat| bound(&lower.names, pat)));
            }
            _ => {}
        });
        body
    }

    /// The words of each variable that lives from one round to the next; `None` if it is more than numbers, or not known.
    fn state(&self) -> impl Iterator<Item = Option<u64>> {
        let mentions = effects::of(&self.lower.names, &self.code.body).mentions;
        let shared = |v: &VarId| self.lower.program.var(*v).shared;
        let state = mentions.into_iter().filter(move |v| !self.own.contains(v) && !shared(v));
        state.map(|v| self.words_of(v))
    }

    fn words_of(&self, var: VarId) -> Option<u64> {
        let ty = self.lower.type_of(var)?;
        match (ty, self.lower.program.var(var).role) {
            // A state, of which lane code is lent a copy.
            (Type::Reference(r), Role::Param(_)) if r.mutability.is_some() => self.words_in(&r.elem, 0),
            _ => self.words_in(ty, 0),
        }
    }

    /// The numbers that a value consists of, so deep in others.
    fn words_in(&self, ty: &Type, depth: usize) -> Option<u64> {
        let definitions = &self.lower.facts.item.declared.definitions;
        let ty = definitions.plain(ty);
        if is_number(&ty) {
            return Some(1);
        }
        match &ty {
            Type::Array(t) => {
                Some(self.lower.names.trip_counts().length(&ty)? * self.words_in(&t.elem, depth)?)
            }
            Type::Tuple(t) => t.elems.iter().map(|ty| self.words_in(ty, depth)).sum(),
            Type::Path(_) if depth < 4 => {
                let fields = definitions.fields(&ty, None)?;
                fields.iter().map(|(_, ty)| self.words_in(ty, depth + 1)).sum()
            }
            _ => None,
        }
    }

    /// Whether it calls functions that are no vector code.
    fn calls_library(&self) -> bool {
        !self.lower.facts.options.vector_math
            && walk::any(&self.code.body, |at| match at {
                At::Expr(Expr::MethodCall(e)) if is_library(&e.method) => Next::Found,
                At::PathSegment(segment) if is_library(&segment.ident) => Next::Found,
                _ => Next::On,
            })
    }

    /// Whether it picks elements of an array by numbers that it computes: the array would have to be in memory for each lane.
    fn picks_elements(&self) -> bool {
        walk::any(&self.code.body, |at| match at {
            At::Expr(Expr::Index(e)) => {
                let name = base(&e.expr).and_then(|path| path.path.get_ident()).map(ToString::to_string);
                let var = name.and_then(|name| self.lower.names.get(&name));
                let shared = var.is_none_or(|v| self.lower.program.var(*v).shared);
                if shared || self.is_fixed(&e.index) { Next::On } else { Next::Found }
            }
            _ => Next::On,
        })
    }

    /// Whether an index is a constant once short loops are unrolled.
    fn is_fixed(&self, index: &Expr) -> bool {
        match bare(index) {
            Expr::Path(p) => match variable(&self.lower.names, index) {
                Some(var) if self.counters.contains(&var) => true,
                Some(_) => self.lower.names.trip_counts().number(index).is_some(),
                None => is_constant(p),
            },
            Expr::Binary(e) => self.is_fixed(&e.left) && self.is_fixed(&e.right),
            other => literal(other).is_some(),
        }
    }
}
