//! `match` on numbers, in loops, as `if`: a choice that lanes make each for itself.
//!
//! ```text
//! match n & 3 {                             let __matched1 = n & 3;
//!     0 => s += 0.5,                        if __matched1 == 0 { s += 0.5; }
//!     m @ 1..=2 if s > x => s *= m,   ──▶   else if __matched1 >= 1 && __matched1 <= 2 && (s > x) { let m = __matched1; s *= m; }
//!     _ => s -= y,                          else { s -= y; }
//! }
//! ```
//!
//! So is one on a tuple of numbers.
//!
//! **Invariant:** what is matched is evaluated once, before all else; its types are certainly numbers, so that a pattern is a comparison. rustc has
//! checked that the arms take all values, so the last one takes the rest.

use proc_macro2::Span;
use syn::{
    Arm, Block, Expr, ExprForLoop, ExprMatch, Ident, Lit, Pat, PatIdent, RangeLimits, Stmt, parse_quote,
};

use crate::desugar::enumerations::{chosen, without_guard};
use crate::desugar::variant_patterns::{is_binding, way};
use crate::resolve::types::{Scopes, Types};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_plain_literal, is_primitive};
use crate::syntax::mentions::{assignment, bare, is_compound, is_truth, name};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

/// Rewrites the loops of a body. Whether there are any.
pub(super) fn rewrite(body: &mut Block, scopes: &Scopes, types: &Types<'_>) -> bool {
    let mut matches = Matches { scopes, types, loops: 0, counters: vec![], names: 0 };
    matches.visit_block_mut(body);
    matches.names > 0
}

struct Matches<'a> {
    scopes: &'a Scopes,
    types: &'a Types<'a>,
    /// How many loops stand around.
    loops: usize,
    /// What counts their rounds.
    counters: Vec<String>,
    names: usize,
}

/// What a pattern takes.
#[derive(Default)]
struct Taken {
    /// What must hold; nothing if it takes all values.
    test: Option<Expr>,
    lets: Vec<(PatIdent, Expr)>,
}

impl Matches<'_> {
    /// What a `match` becomes: declarations of what is matched, and a choice. A statement's arms have no values.
    fn choice(&mut self, e: &ExprMatch, is_statement: bool) -> Option<(Vec<Stmt>, Expr)> {
        let (parts, is_tuple): (Vec<&Expr>, bool) = match bare(&e.expr) {
            Expr::Tuple(tuple) => (tuple.elems.iter().collect(), true),
            other => (vec![other], false),
        };
        let is_plain = |arm: &Arm| arm.attrs.is_empty();
        let has_guard = |arm: &Arm| matches!(arm.pat, Pat::Guard(_));
        let are_plain = e.attrs.is_empty() && e.arms.iter().all(is_plain);
        if !are_plain || e.arms.last().is_none_or(has_guard) || !parts.iter().all(|part| self.is_number(part))
        {
            return None;
        }
        let first = self.names;
        let mut places: Vec<Expr> = Vec::new();
        let mut lets: Vec<Stmt> = Vec::new();
        for part in &parts {
            self.names += 1;
            let ident = Ident::new(&format!("__matched_{}", self.names), Span::mixed_site());
            lets.push(parse_quote!(let #ident = #part;));
            places.push(parse_quote!(#ident));
        }
        let taken: Option<Vec<Taken>> =
            e.arms.iter().map(|arm| self.taken(without_guard(&arm.pat), &places, is_tuple)).collect();
        let Some(taken) = taken else {
            self.names = first;
            return None;
        };
        let last = e.arms.len() - 1;
        let ways = e.arms.iter().zip(taken).enumerate().map(|(nth, (arm, taken))| {
            let guard = match &arm.pat {
                Pat::Guard(p) => Some((*p.guard).clone()),
                _ => None,
            };
            let (test, mut block) = way(taken.test, guard, &taken.lets, &arm.body);
            if let Some(Stmt::Expr(e, semicolon @ None)) = block.stmts.last_mut()
                && is_statement
                && !matches!(e, Expr::If(_) | Expr::Match(_) | Expr::Block(_))
            {
                *semicolon = Some(Default::default());
            }
            (test.filter(|_| nth < last), block)
        });
        Some((lets, chosen(ways.collect())))
    }

    /// Whether a value is certainly a number, or a truth value, and nothing is held until the arms end: a guard in the value would be.
    fn is_number(&self, value: &Expr) -> bool {
        let holds = |at: At<'_>| match at {
            At::Expr(Expr::MethodCall(e)) => !is_pure_method(&e.method),
            At::Expr(Expr::Call(_) | Expr::Macro(_) | Expr::Block(_) | Expr::Unsafe(_)) => true,
            At::Expr(Expr::If(_) | Expr::Match(_) | Expr::Closure(_)) => true,
            _ => false,
        };
        if walk::any(value, holds) {
            return false;
        }
        let is_integer = |e: &Expr| matches!(bare(e), Expr::Lit(e) if matches!(e.lit, Lit::Int(_)));
        match bare(value) {
            Expr::Path(_) if name(bare(value)).is_some_and(|name| self.counters.contains(&name)) => true,
            // No other type takes a literal there.
            Expr::Binary(e) if is_integer(&e.right) && !is_truth(&e.op) && !is_compound(&e.op) => {
                self.is_number(&e.left)
            }
            value => self.types.certain(self.scopes, value).is_some_and(|ty| is_primitive(&ty)),
        }
    }

    /// What counts the rounds of a loop over a range of numbers.
    fn counter(&self, e: &ExprForLoop) -> Option<String> {
        let (Pat::Ident(p), Expr::Range(range)) = (&*e.pat, bare(&e.expr)) else { return None };
        let is_end = |end: &Option<Box<Expr>>| {
            end.as_deref().is_some_and(|end| matches!(bare(end), Expr::Lit(_)) || self.is_number(end))
        };
        (is_end(&range.start) || is_end(&range.end)).then(|| p.ident.to_string())
    }

    /// What a pattern takes of the numbers.
    fn taken(&self, pat: &Pat, places: &[Expr], is_tuple: bool) -> Option<Taken> {
        match (pat, places) {
            (Pat::Paren(p), _) => self.taken(&p.pat, places, is_tuple),
            (Pat::Wild(_), _) => Some(Taken::default()),
            (Pat::Or(p), _) => {
                let mut tests = Vec::new();
                for case in &p.cases {
                    let case = self.taken(case, places, is_tuple)?;
                    if !case.lets.is_empty() {
                        return None;
                    }
                    tests.push(case.test);
                }
                let all: Option<Vec<Expr>> = tests.into_iter().collect();
                Some(Taken { test: all.map(|all| parse_quote!((#(#all)||*))), lets: vec![] })
            }
            (Pat::Tuple(p), _) if is_tuple && p.elems.len() == places.len() => {
                let mut taken = Taken::default();
                for (pat, place) in p.elems.iter().zip(places) {
                    let part = self.part(pat, place)?;
                    taken.test =
                        taken.test.into_iter().chain(part.test).reduce(|a, b| parse_quote!(#a && #b));
                    taken.lets.extend(part.lets);
                }
                Some(taken)
            }
            (pat, [place]) if !is_tuple => self.part(pat, place),
            _ => None,
        }
    }

    /// What a pattern takes of one number.
    fn part(&self, pat: &Pat, place: &Expr) -> Option<Taken> {
        let test = |test: Expr| Some(Taken { test: Some(test), lets: vec![] });
        match pat {
            Pat::Paren(p) => self.part(&p.pat, place),
            Pat::Ident(p) if is_binding(p) => {
                Some(Taken { test: None, lets: vec![(p.clone(), place.clone())] })
            }
            Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() => match &p.subpat {
                Some((_, pat)) => {
                    let mut taken = self.part(pat, place)?;
                    taken.lets.push((PatIdent { subpat: None, ..p.clone() }, place.clone()));
                    Some(taken)
                }
                None => {
                    let constant = &p.ident;
                    self.types.definitions.constant(&parse_quote!(#constant))?;
                    test(parse_quote!(#place == #constant))
                }
            },
            Pat::Path(p) if p.path.segments.len() > 1 => test(parse_quote!(#place == #p)),
            Pat::Lit(e) if is_plain_literal(&e.lit) => test(parse_quote!(#place == #e)),
            Pat::Range(e) => {
                let from = e.start.iter().map(|from| parse_quote!(#place >= #from));
                let to = e.end.iter().map(|to| match e.limits {
                    RangeLimits::Closed(_) => parse_quote!(#place <= #to),
                    RangeLimits::HalfOpen(_) => parse_quote!(#place < #to),
                });
                let both: Option<Expr> = from.chain(to).reduce(|a: Expr, b| parse_quote!((#a && #b)));
                both.and_then(test)
            }
            Pat::Wild(_) | Pat::Or(_) => self.taken(pat, std::slice::from_ref(place), false),
            _ => None,
        }
    }

    /// Puts a choice in the place of a `match` that a statement begins with.
    fn statement(&mut self, stmt: &mut Stmt, before: &mut Vec<Stmt>, is_last: bool) {
        let (expr, is_statement) = match stmt {
            Stmt::Expr(e @ Expr::Match(_), semicolon) => (e, semicolon.is_some() || !is_last),
            Stmt::Expr(e, _) if assignment(e).is_some_and(|(place, _)| name(bare(place)).is_some()) => {
                match e {
                    Expr::Assign(e) => (&mut *e.right, false),
                    Expr::Binary(e) => (&mut *e.right, false),
                    _ => return,
                }
            }
            Stmt::Local(local) => match &mut local.init {
                Some(init) if init.diverge.is_none() => (&mut *init.expr, false),
                _ => return,
            },
            _ => return,
        };
        if let Expr::Match(e) = &*expr
            && let Some((lets, choice)) = self.choice(e, is_statement)
        {
            before.extend(lets);
            *expr = choice;
        }
    }
}

impl VisitMut for Matches<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let count = block.stmts.len();
        let mut stmts = Vec::new();
        for (nth, mut stmt) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
            if self.loops > 0 {
                self.statement(&mut stmt, &mut stmts, nth + 1 == count);
            }
            self.visit_stmt_mut(&mut stmt);
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let body = match expr {
            Expr::ForLoop(e) => Some(&mut e.body),
            Expr::While(e) => Some(&mut e.body),
            Expr::Loop(e) => Some(&mut e.body),
            _ => None,
        };
        let is_loop = body.is_some();
        // Its last expression is a statement, too.
        if let Some(Stmt::Expr(Expr::Match(_), semicolon)) = body.and_then(|body| body.stmts.last_mut()) {
            *semicolon = Some(Default::default());
        }
        self.loops += usize::from(is_loop);
        let counters = self.counters.len();
        if let Expr::ForLoop(e) = &*expr {
            self.counters.extend(self.counter(e));
        }
        if let Expr::Match(e) = &*expr
            && self.loops > 0
            && let Some((lets, choice)) = self.choice(e, false)
        {
            *expr = parse_quote!({ #(#lets)* #choice });
        }
        visit_mut::visit_expr_mut(self, expr);
        self.counters.truncate(counters);
        self.loops -= usize::from(is_loop);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};

    use super::*;
    use crate::index::definitions::Definitions;

    fn is(body: proc_macro2::TokenStream, expected: proc_macro2::TokenStream) {
        let mut body: Block = parse_quote!({ #body });
        let definitions = Definitions::default();
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let known = [("n", parse_quote!(u32)), ("on", parse_quote!(bool)), ("x", parse_quote!(f64))];
        let scope = known.map(|(name, ty)| (name.to_owned(), Some(ty)));
        rewrite(&mut body, &vec![scope.into_iter().collect()], &types);
        assert_eq!(body.to_token_stream().to_string(), quote!({ #expected }).to_string());
    }

    #[test]
    fn arms_are_comparisons() {
        let arms = quote!(0 => x += 1.0, m @ (1 | 4..=5) if m > 1 => y = m, 3.. if on => break, _ => {});
        is(
            quote!(loop { match n { #arms } }),
            quote!(loop {
                let __matched_1 = n;
                if __matched_1 == 0 {
                    x += 1.0;
                } else if (__matched_1 == 1 || (__matched_1 >= 4 && __matched_1 <= 5)) && (__matched_1 > 1) {
                    let m = __matched_1;
                    y = m;
                } else if __matched_1 >= 3 && (on) {
                    break;
                } else {
                };
            }),
        );
    }

    #[test]
    fn tuples_are_compared_by_parts() {
        is(
            quote!(for k in 0..9 {
                let v = match (k % 2, on) {
                    (0, true) => 1.0,
                    (_, false) => x,
                    _ => 2.0,
                };
            }),
            quote!(for k in 0..9 {
                let __matched_1 = k % 2;
                let __matched_2 = on;
                let v = if __matched_1 == 0 && __matched_2 == true {
                    1.0
                } else if __matched_2 == false {
                    x
                } else {
                    2.0
                };
            }),
        );
    }

    #[test]
    fn what_may_be_no_number_stays() {
        // Of no known type; a name that may be bound or a constant; a name in one of two patterns; names that refer to the number, or change.
        for stays in [
            quote!(loop {
                match other {
                    0 => x = 1.0,
                    _ => break,
                };
            }),
            quote!(loop {
                match n {
                    FEW => {}
                    _ => break,
                };
            }),
            quote!(loop {
                match n {
                    m @ 1 | m => y = m,
                };
            }),
            quote!(loop {
                match n {
                    ref m => y = *m,
                };
            }),
            quote!(loop {
                match n {
                    mut m @ 1..=2 => m += 1,
                    _ => break,
                };
            }),
        ] {
            is(stays.clone(), stays);
        }
    }

    #[test]
    fn a_guard_is_held_until_the_arms_end() {
        let held = quote!(loop {
            match n.max(lock.lock().unwrap().len() as u32) {
                0 => x = 1.0,
                _ => break,
            };
        });
        is(held.clone(), held);
    }

    #[test]
    fn outside_of_loops_a_match_stays() {
        let outside = quote!(match n {
            0 => x = 1.0,
            _ => {}
        });
        is(outside.clone(), outside);
    }
}
