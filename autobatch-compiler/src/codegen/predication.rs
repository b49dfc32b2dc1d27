//! Rounds that only some lanes have, in code that runs lane-interchanged: what they change become choices.
//!
//! ```text
//! row[j] = f(row[j - 1]);          let value = f(row[j - 1][l]);
//! if a[i] == b[j] { n += 1; }  ──▶ choose(&mut row[j][l], is_in, value);
//!                                  { let is_in = is_in & (a[i] == b[j]); choose(&mut n, is_in, n + 1); }
//! ```
//!
//! **Invariant:** a lane changes nothing, and notes no fault, in a round or branch that is not its own.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprForLoop, Stmt, parse_quote};

use crate::analysis::lane_interchange::{indexed, steps};
use crate::codegen::lane_interchange::Writer;
use crate::codegen::lookups::fault;
use crate::codegen::loop_distribution::strip;
use crate::codegen::names::{name, numbered};
use crate::codegen::region::lane;
use crate::ir::effects;
use crate::ir::{VarId, VarSet};
use crate::syntax::mentions::{bare, is_compound};

/// The head of a loop that runs as often as the lane with the most rounds.
pub(super) struct PredicatedHead {
    /// Finds how many rounds each lane has.
    pub(super) count: TokenStream,
    /// What the loop goes over.
    pub(super) steps: TokenStream,
    /// What it binds: the round, and what the user's loop binds.
    pub(super) pat: TokenStream,
    /// The variable that counts a lane's rounds.
    pub(super) counted: VarId,
}

/// `__rounds3`: how many rounds of a loop each lane has, which a variable counts.
fn rounds(counted: VarId) -> Ident {
    numbered("rounds", counted.0)
}

/// `__round3`: which round of it this is.
fn round(counted: VarId) -> Ident {
    numbered("round", counted.0)
}

/// `__is_in_round`: whether the lane has it.
fn is_in_round() -> Ident {
    name("__is_in_round")
}

impl Writer<'_, '_> {
    /// The head of a loop whose rounds are counted.
    pub(super) fn predicated_head(&self, head: &ExprForLoop) -> Option<PredicatedHead> {
        let (range, count) = steps(&head.expr)?;
        let start = range.start.as_ref()?;
        let var = |expr: &Expr| effects::variable(&self.scope.names, expr);
        let (end, counted) = (var(range.end.as_ref()?)?, var(count)?);
        let (rt, width, vector, l) = (&self.rt, self.width, &self.emitter.rt, lane());
        let (rounds, round, of_lanes, pat) = (rounds(counted), round(counted), strip(counted), &head.pat);
        let is_in = self.is_in().unwrap_or(quote!(true));
        let count = quote! {
            let #rounds = #rt::Rounds::<#width>::of(&#of_lanes, |#l| #is_in);
            #vector::vector::give_up_unless(#rt::Rounds::fit(&#rounds));
        };
        let end = if self.uniforms.contains(&end) {
            self.ident(end).to_token_stream()
        } else {
            let end = strip(end);
            quote!(#rt::get(&#end, 0))
        };
        let steps = quote!(#rt::Rounds::steps(&#rounds, #start, &#end));
        Some(PredicatedHead { count, steps, pat: quote!((#round, #pat)), counted })
    }

    /// Predicates a piece in the innermost loop whose rounds are counted, if there is one: finds whether the lane has the round.
    pub(super) fn predicated_piece(&self, stmts: &mut [Stmt]) -> Option<(TokenStream, Ident)> {
        let is_in = self.is_in()?;
        self.predicate(stmts);
        let ident = is_in_round();
        Some((quote!(let #ident = #is_in;), ident))
    }

    /// Whether the round is one of the lane's, if it need not be.
    pub(super) fn is_in(&self) -> Option<TokenStream> {
        let (rt, l) = (&self.rt, lane());
        self.rounds.get().map(|counted| {
            let (rounds, round) = (rounds(counted), round(counted));
            quote!(#rt::Rounds::has(&#rounds, #l, #round))
        })
    }

    /// Has code change only what it may in a round that need not be the lane's: assignments become choices.
    fn predicate(&self, stmts: &mut [Stmt]) {
        let (rt, is_in, value, new) = (&self.rt, is_in_round(), name("__value"), name("__new"));
        for stmt in stmts {
            let Stmt::Expr(expr, _) = stmt else { continue };
            let predicated: Expr = match bare(expr) {
                Expr::Assign(e) if self.is_total(&e.left) => {
                    let (place, set) = (&e.left, &e.right);
                    parse_quote!({ let #value = #set; #rt::choose(&mut #place, #is_in, #value); })
                }
                Expr::Binary(e) if is_compound(&e.op) && self.is_total(&e.left) => {
                    let (place, op, by) = (&e.left, &e.op, &e.right);
                    parse_quote!({
                        let #value = #by;
                        let mut #new = #rt::copied(&#place);
                        #new #op #value;
                        #rt::choose(&mut #place, #is_in, #new);
                    })
                }
                Expr::If(e) => self.predicated_if(e.clone()),
                _ => parse_quote!(if #is_in { #expr }),
            };
            *stmt = Stmt::Expr(predicated, Some(Default::default()));
        }
    }

    /// Both branches, each for its lanes. A condition that is the same for all lanes stays a branch.
    fn predicated_if(&self, mut e: syn::ExprIf) -> Expr {
        let (vector, is_in, holds) = (&self.emitter.rt, is_in_round(), name("__holds"));
        self.predicate(&mut e.then_branch.stmts);
        let otherwise = e.else_branch.take().map(|(_, otherwise)| {
            let mut stmts = match *otherwise {
                Expr::Block(e) => e.block.stmts,
                other => vec![Stmt::Expr(other, None)],
            };
            self.predicate(&mut stmts);
            stmts
        });
        let (cond, then) = (&e.cond, &e.then_branch.stmts);
        if self.is_uniform(cond) {
            let otherwise = otherwise.map(|stmts| quote!(else { #(#stmts)* }));
            return parse_quote!(if #cond { #(#then)* } #otherwise);
        }
        // What a branch looks up in vain counts for its lanes.
        self.lookups.note();
        let branch = |is_its: TokenStream, stmts: &[Stmt]| {
            let (fault, around) = (fault(), name("__around"));
            quote!({
                let #is_in = #is_in & #is_its;
                let #around = &#fault;
                let #fault = #vector::vector::Fault::new();
                #(#stmts)*
                #vector::vector::Fault::add(#around, #vector::vector::Fault::of_round(#fault, #is_in));
            })
        };
        let then = branch(quote!(#holds), then);
        let otherwise = otherwise.map(|stmts| branch(quote!(!#holds), &stmts));
        parse_quote!({ let #holds = #cond; #then #otherwise })
    }

    /// Whether a place is there for every lane if it is for one.
    fn is_total(&self, place: &Expr) -> bool {
        match indexed(place) {
            (_, indices) if indices.is_empty() => true,
            (array, indices) => {
                self.rows(array).is_some() || indices.into_iter().all(|index| self.is_uniform(index))
            }
        }
    }

    /// Whether the variables in an expression are the same for all lanes.
    pub(super) fn is_uniform(&self, expr: &Expr) -> bool {
        effects::of(&self.scope.names, expr).mentions.is_subset(self.uniforms)
    }

    /// Has all that a predicated piece accesses under a condition checked before: inside, a panic would be a branch. One that no lane
    /// comes to gives up a strip for nothing. The piece declares `own`.
    pub(super) fn checks(&self, own: &VarSet) -> TokenStream {
        let mut places = self.checked.take();
        places.retain(|place| effects::of(&self.scope.names, place).mentions.is_disjoint(own));
        let mut known = BTreeSet::new();
        places.retain(|place| known.insert(place.to_token_stream().to_string()));
        quote!(#(let _ = &#places;)*)
    }
}
