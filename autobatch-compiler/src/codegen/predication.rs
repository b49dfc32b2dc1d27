//! Rounds that only some lanes have, in code that runs lane-interchanged: what they change become choices.
//!
//! ```text
//! row[j] = f(row[j - 1]);          let value = f(row[j - 1][l]);
//! if a[i] == b[j] { n += 1; }  ──▶ zero.choose(&mut row[j][l], is_in, value);
//!                                  { let is_in = is_in & (a[i] == b[j]); zero.choose(&mut n, is_in, n + 1); }
//! ```
//!
//! **Invariant:** a lane changes nothing, and notes no fault, in a round or branch that is not its own.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprForLoop, ExprRange, Stmt, parse_quote};

use crate::analysis::lane_interchange::{Node, breaks, indexed, steps};
use crate::codegen::lane_interchange::Writer;
use crate::codegen::lookups::fault;
use crate::codegen::loop_distribution::strip;
use crate::codegen::names::{name, numbered};
use crate::codegen::region::lane;
use crate::ir::effects;
use crate::ir::{VarId, VarSet};
use crate::syntax::mentions::{bare, is_compound};

/// A loop that lanes leave at different times, or any other.
pub(super) struct PredicatedLoop {
    /// Finds how many rounds each lane has, and which lanes are in the loop.
    pub(super) count: TokenStream,
    /// What it binds: the round, if it is counted, and what the user's loop binds.
    pub(super) pat: TokenStream,
    /// What it goes over, if that is not what the user's loop does.
    pub(super) of_all: Option<TokenStream>,
    /// Ends it when all lanes have left.
    pub(super) leave: TokenStream,
    /// What was known of the rounds of the loop around.
    pub(super) around: (Option<TokenStream>, Option<Ident>),
}

/// `__rounds3`: how many rounds of a loop each lane has, which a variable counts.
fn rounds(counted: VarId) -> Ident {
    numbered("rounds", counted.0)
}

/// `__round3`: which round of it this is.
fn round(counted: VarId) -> Ident {
    numbered("round", counted.0)
}

/// `__remaining3`: which lanes have not left a loop by `break`.
fn remaining(nth: usize) -> Ident {
    numbered("remaining", nth)
}

/// `__has_left`: whether the lane has.
fn has_left() -> Ident {
    name("__has_left")
}

/// `__zero`: a zero that LLVM does not know, by which choices are made.
fn zero() -> Ident {
    name("__zero")
}

/// `__is_in_round`: whether the lane has it.
pub(super) fn is_in_round() -> Ident {
    name("__is_in_round")
}

impl Writer<'_, '_> {
    /// Begins a loop: its body is code of rounds that need not be the lane's, if lanes leave it at different times.
    pub(super) fn enter(&self, head: &ExprForLoop, body: &[Node]) -> PredicatedLoop {
        let (rt, vector, width, l) = (&self.rt, &self.emitter.rt, self.width, lane());
        let around = (self.is_in(), self.remaining.take());
        let is_in_around = around.0.clone().unwrap_or(quote!(true));
        let pat = &head.pat;
        let (mut count, mut pat, mut of_all, mut leave) = (quote!(), quote!(#pat), None, quote!());
        let mut is_in = None;
        if let Some((range, counted, is_reversed)) = self.counted(head) {
            let (rounds, round, of_lanes) = (rounds(counted), round(counted), strip(counted));
            count = quote! {
                let #rounds = #rt::Rounds::<#width>::of(&#of_lanes, |#l| #is_in_around);
                #vector::vector::give_up_unless(#rt::Rounds::fit(&#rounds));
            };
            of_all = Some(match is_reversed {
                false => {
                    let (start, end) = (&range.start, self.end_of(range, quote!(0)));
                    quote!(#rt::Rounds::steps(&#rounds, #start, &#end))
                }
                true => {
                    let (start, limits) = (&range.start, &range.limits);
                    let end = self.end_of(range, quote!(#rt::Rounds::longest(&#rounds)));
                    quote!(#rt::Rounds::steps_back(&#rounds, #start #limits #end))
                }
            });
            pat = quote!((#round, #pat));
            is_in = Some(quote!(#rt::Rounds::has(&#rounds, #l, #round)));
        }
        if body.iter().any(|node| self.leaves(node)) {
            let (remaining, word) =
                (remaining(self.breaking.replace(self.breaking.get() + 1)), &self.emitter.word);
            count.extend(match &around.0 {
                None => quote!(let mut #remaining = #rt::Remaining::<#word, #width>::new();),
                Some(is_in) => quote!(let mut #remaining = #rt::Remaining::<#word, #width>::of(|#l| #is_in);),
            });
            leave = quote!(if #rt::Remaining::is_none(&#remaining) { break; });
            let remains = quote!(!#rt::Remaining::has_left(&#remaining, #l));
            is_in = Some(is_in.map_or(remains.clone(), |has_round| quote!((#has_round & #remains))));
            *self.remaining.borrow_mut() = Some(remaining);
        }
        if is_in.is_some() {
            *self.is_in.borrow_mut() = is_in;
        }
        PredicatedLoop { count, pat, of_all, leave, around }
    }

    /// Whether lanes leave the innermost loop around a node by `break` there.
    pub(super) fn leaves(&self, node: &Node) -> bool {
        matches!(node, Node::Lanes(stmts) if breaks(&stmts[..]))
    }

    /// Ends it.
    pub(super) fn leave_loop(&self, around: (Option<TokenStream>, Option<Ident>)) {
        (*self.is_in.borrow_mut(), *self.remaining.borrow_mut()) = around;
    }

    /// The range of a loop whose rounds are counted, the variable that counts a lane's, and whether the last comes first.
    fn counted<'e>(&self, head: &'e ExprForLoop) -> Option<(&'e ExprRange, VarId, bool)> {
        let steps = steps(&head.expr)?;
        let counted = effects::variable(&self.scope.names, steps.rounds)?;
        Some((steps.range, counted, steps.is_reversed()))
    }

    /// Where such a range ends in a lane.
    fn end_of(&self, range: &ExprRange, lane: TokenStream) -> Option<TokenStream> {
        let (rt, end) = (&self.rt, range.end.as_ref()?);
        let var = effects::variable(&self.scope.names, end)?;
        Some(match self.uniforms.contains(&var) {
            true => self.ident(var).to_token_stream(),
            false => {
                let end = strip(var);
                quote!(#rt::get(&#end, #lane))
            }
        })
    }

    /// What a piece in which lanes leave the innermost loop begins and ends with.
    pub(super) fn breaks(&self, stmts: &[Stmt]) -> (TokenStream, TokenStream) {
        let (rt, l, has_left) = (&self.rt, lane(), has_left());
        match &*self.remaining.borrow() {
            Some(remaining) if breaks(stmts) => (
                quote!(let mut #has_left = #rt::Remaining::has_left(&#remaining, #l);),
                quote!(#rt::Remaining::note(&mut #remaining, #l, #has_left);),
            ),
            _ => Default::default(),
        }
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
        self.is_in.borrow().clone()
    }

    /// Has code change only what it may in a round that need not be the lane's: assignments become choices.
    pub(super) fn predicate(&self, stmts: &mut [Stmt]) {
        let (rt, is_in, value, new) = (&self.rt, is_in_round(), name("__value"), name("__new"));
        for stmt in stmts {
            let Stmt::Expr(expr, _) = stmt else { continue };
            let predicated: Expr = match bare(expr) {
                Expr::Assign(e) if self.is_total(&e.left) => {
                    let (place, set) = (&e.left, &e.right);
                    let choice = self.choice(&quote!(#place), &is_in, &quote!(#value));
                    parse_quote!({ let #value = #set; #choice; })
                }
                Expr::Binary(e) if is_compound(&e.op) && self.is_total(&e.left) => {
                    let (place, op, by) = (&e.left, &e.op, &e.right);
                    let choice = self.choice(&quote!(#place), &is_in, &quote!(#new));
                    parse_quote!({
                        let #value = #by;
                        let mut #new = #rt::copied(&#place);
                        #new #op #value;
                        #choice;
                    })
                }
                Expr::If(e) => self.predicated_if(e.clone()),
                // All lanes have as many rounds of it.
                Expr::ForLoop(e) => {
                    let mut e = e.clone();
                    self.predicate(&mut e.body.stmts);
                    Expr::ForLoop(e)
                }
                Expr::Break(_) => {
                    let has_left = has_left();
                    let choice = self.choice(&has_left.to_token_stream(), &is_in, &quote!(true));
                    parse_quote!(#choice)
                }
                _ => parse_quote!(if #is_in { #expr }),
            };
            *stmt = Stmt::Expr(predicated, Some(Default::default()));
        }
    }

    /// Assigns a value if the lane does so.
    pub(super) fn choice(&self, place: &TokenStream, is_in: &Ident, value: &TokenStream) -> TokenStream {
        let (rt, zero) = (&self.rt, self.zero());
        quote!(#rt::UnknownZero::choose(#zero, &mut #place, #is_in, #value))
    }

    /// What choices are made by; the code declares it then.
    pub(super) fn zero(&self) -> Ident {
        self.chooses.set(true);
        zero()
    }

    /// Declares it, if code that has been written makes choices.
    pub(super) fn declare_zero(&self) -> Option<TokenStream> {
        let (rt, zero) = (&self.rt, zero());
        self.chooses.get().then(|| quote!(let #zero = #rt::UnknownZero::new();))
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
