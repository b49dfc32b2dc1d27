//! Loops of a few rounds in others: how many rounds each has, given the counters of those around, and what all of them come to.
//!
//! **Invariant:** a number of rounds says how code is written, never what it does: constants are known by their names.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{BinOp, Expr, ExprBreak, ExprContinue, ExprForLoop, Pat, RangeLimits};

use crate::std_models::trip_count::{SHORT, TripCounts};
use crate::syntax::mentions::{bare, name};
use crate::syntax::walk::{self, At, Next};

/// What counters are known to be.
pub(crate) type Counters = BTreeMap<String, u64>;

/// The most that the rounds of a loop may come to, in tokens.
const MOST: usize = 2500;

/// Whether a loop around others is straight code if all its rounds are written one after the other, and that is not too much.
pub(crate) fn is_short_nest(e: &ExprForLoop, counts: &TripCounts) -> bool {
    has_loop(&e.body) && size(e, counts, &Counters::new()).is_some_and(|size| size <= MOST)
}

fn has_loop(body: &syn::Block) -> bool {
    walk::any(body, |at| matches!(at, At::Expr(Expr::ForLoop(_))))
}

/// The counter of a loop and what it counts through, if it has a few rounds and nothing ends one early.
pub(crate) fn rounds(e: &ExprForLoop, counts: &TripCounts, known: &Counters) -> Option<(String, Range<u64>)> {
    let (Pat::Ident(pat), Expr::Range(range)) = (&*e.pat, bare(&e.expr)) else { return None };
    let is_plain =
        e.label.is_none() && e.attrs.is_empty() && pat.mutability.is_none() && pat.by_ref.is_none();
    let start = number(range.start.as_ref()?, counts, known)?;
    let end = number(range.end.as_ref()?, counts, known)?;
    let end = end + u64::from(matches!(range.limits, RangeLimits::Closed(_)));
    let is_short = end.saturating_sub(start) <= SHORT;
    (is_plain && is_short && !jumps(&e.body)).then(|| (pat.ident.to_string(), start..end))
}

/// The tokens of all rounds; `None` if a loop in it has more than a few.
fn size(e: &ExprForLoop, counts: &TripCounts, known: &Counters) -> Option<usize> {
    let (counter, rounds) = rounds(e, counts, known)?;
    let mut all = 0;
    for round in rounds {
        let mut known = known.clone();
        known.insert(counter.clone(), round);
        let (mut inner, mut loops) = (0, 0);
        let refused = walk::any(&e.body, |at| match at {
            At::Expr(Expr::ForLoop(e)) => match size(e, counts, &known) {
                Some(size) => {
                    (inner, loops) = (inner + size, loops + tokens(e));
                    Next::Past
                }
                None => Next::Found,
            },
            At::Expr(Expr::While(_) | Expr::Loop(_)) => Next::Found,
            _ => Next::On,
        });
        all += inner + tokens(&e.body) - loops;
        if refused || all > MOST {
            return None;
        }
    }
    Some(all)
}

fn number(expr: &Expr, counts: &TripCounts, known: &Counters) -> Option<u64> {
    match bare(expr) {
        Expr::Binary(e) => {
            let (a, b) = (number(&e.left, counts, known)?, number(&e.right, counts, known)?);
            match e.op {
                BinOp::Add(_) => a.checked_add(b),
                BinOp::Sub(_) => a.checked_sub(b),
                BinOp::Mul(_) => a.checked_mul(b),
                _ => None,
            }
        }
        other => match name(other).and_then(|name| known.get(&name)) {
            Some(number) => Some(*number),
            None => counts.number(other),
        },
    }
}

/// How many tokens code has, inside of groups too.
fn tokens(code: &impl ToTokens) -> usize {
    fn of(tokens: TokenStream) -> usize {
        let all = tokens.into_iter().map(|tree| match tree {
            TokenTree::Group(group) => 2 + of(group.stream()),
            _ => 1,
        });
        all.sum()
    }
    of(code.to_token_stream())
}

/// Whether a round may be left early, for the next one or for what is behind the loop.
fn jumps(body: &syn::Block) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Break(ExprBreak { label, .. }) | Expr::Continue(ExprContinue { label, .. })) => {
            if label.is_none() {
                Next::Found
            } else {
                Next::On
            }
        }
        At::Macro(_) | At::Expr(Expr::Return(_)) => Next::Found,
        At::Expr(Expr::Closure(_)) => Next::Past,
        _ => Next::On,
    })
}
