//! How the rounds of each loop run, and what stops those that run lane by lane: what `program()` says.
//!
//! ```text
//! while x > tol { … }                        in blocks
//! for i in 0..64 { v[i] *= p; }              interchanged
//! for j in 0..b.len() { row[j] += 1; }       predicated
//! for k in 0..3 { s += a[k] * b[k]; }        unrolled
//! for w in &weights { s += other(w); }       lane by lane: `other` is called, of which …
//! while x > tol { x = x.exp(); }             in blocks, which may be no vectors: `exp` is a library call …
//! ```

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, Stmt};

use crate::admission::receivers::Receivers;
use crate::analysis::lane_interchange::{Plan, Refusal, Scope, breaks, gain, steps, unrolls};
use crate::analysis::short_loops::is_short_nest;
use crate::codegen::explained_calls::{Obstacles, asks_iterator, unknown_call};
use crate::diagnostics::reasons::{LOOP_INNER, LOOP_IS_BORROWED, LOOP_IS_SMALL, LOOP_ITEMS};
use crate::ir::Program;
use crate::ir::effects;
use crate::ir::flow::Flow;
use crate::lower::lane_interchange::{UNKNOWN, WORTH};
use crate::syntax::walk::{self, At, Next};

/// How the rounds of a loop run: a variant of the runtime's `Rounds`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounds {
    Blocks,
    Interchanged,
    Predicated,
    Unrolled,
    LaneByLane,
}

/// A loop.
pub(crate) struct Loop {
    /// The name of the function that it is in.
    pub(crate) function: Ident,
    pub(crate) span: Span,
    pub(crate) rounds: Rounds,
    /// What keeps the rounds from being vectors.
    pub(crate) obstacle: Option<Refusal>,
}

/// The loops of a program, block by block; of those that run lane by lane the outermost. With `vector_math` no elementary function is
/// a library call. In a program that may do more than compute, calls of what is not `known` keep loops from vectors.
pub(crate) fn loops(
    program: &Program,
    receivers: &[&Receivers<'_>],
    vector_math: bool,
    known: Option<&BTreeSet<String>>,
) -> Vec<Loop> {
    let flow = Flow::compute(program);
    let mut loops = Vec::new();
    for (func, order) in program.func_ids().zip(&flow.order) {
        let scope = Scope::new(program, func);
        let function = || program.func(func).name.clone();
        let obstacles = Obstacles::new(program, func, receivers[func.0], vector_math);
        for id in order {
            let block = program.block(*id);
            if flow.loop_headers.contains(id) && ["for", "while", "loop"].contains(&block.label) {
                let blocks = flow.natural_loop(*id);
                let inside = || blocks.iter().map(|id| program.block(*id));
                let call = inside().find_map(|block| obstacles.of_block(block));
                let items = || Refusal { span: block.span, name: None, reason: LOOP_ITEMS };
                let unknown = || inside().find_map(|block| unknown_call(block, known?));
                // A loop over a range would be interchanged, were it not for a loop in it.
                let inner = || blocks.iter().find(|b| **b != *id && flow.loop_headers.contains(b));
                let inner = || inner().filter(|_| block.label == "for").map(|id| program.block(*id).span);
                let nested = || Some(Refusal { span: inner()?, name: None, reason: LOOP_INNER });
                let obstacle = call.or_else(|| asks_iterator(block).then(items)).or_else(unknown);
                let obstacle = obstacle.or_else(nested);
                loops.push(Loop { function: function(), span: block.span, rounds: Rounds::Blocks, obstacle });
            }
            for stmt in block.code() {
                walk::each(stmt, |at| {
                    let At::Expr(Expr::ForLoop(e)) = at else { return Next::On };
                    if !block.interchanged && is_short_nest(e, scope.names.trip_counts()) {
                        let obstacle = obstacles.of(&e.body);
                        let unrolled = |span| {
                            let function = function();
                            Loop { function, span, rounds: Rounds::Unrolled, obstacle: None }
                        };
                        loops.push(Loop { obstacle, ..unrolled(e.for_token.span()) });
                        walk::each(&e.body, |at| {
                            if let At::Expr(Expr::ForLoop(e)) = at {
                                loops.push(unrolled(e.for_token.span()));
                            }
                        });
                        return Next::Past;
                    }
                    let (mut rounds, refusal) = rounds(&scope, e, block.interchanged);
                    if rounds == Rounds::Interchanged && (steps(&e.expr).is_some() || breaks(&e.body)) {
                        rounds = Rounds::Predicated;
                    }
                    let next = if rounds == Rounds::LaneByLane { Next::Past } else { Next::On };
                    let obstacle = refusal.or_else(|| obstacles.of(&e.body));
                    loops.push(Loop { function: function(), span: e.for_token.span(), rounds, obstacle });
                    next
                });
            }
        }
    }
    loops
}

/// How the rounds of a loop run that is whole in a block, and what stops it from more than lane by lane.
fn rounds(scope: &Scope<'_>, e: &ExprForLoop, interchanged: bool) -> (Rounds, Option<Refusal>) {
    let is_short = scope.names.trip_counts().short(&e.expr).is_some();
    let has_loops = || walk::any(&e.body, |at| matches!(at, At::Expr(Expr::ForLoop(_))));
    if is_short && (!interchanged || !has_loops() && unrolls(&scope.names, e)) {
        return (Rounds::Unrolled, None);
    }
    if interchanged {
        return (Rounds::Interchanged, None);
    }
    let stmt = Stmt::Expr(Expr::ForLoop(e.clone()), None);
    let does_little = gain(&scope.names, &stmt, UNKNOWN) < WORTH;
    let refusal = match Plan::or_refusal(scope, &[effects::op(&scope.names, stmt)]) {
        Err(refusal) => refusal,
        Ok(_) => {
            let reason = if does_little { LOOP_IS_SMALL } else { LOOP_IS_BORROWED };
            Some(Refusal { span: e.for_token.span(), name: None, reason })
        }
    };
    (Rounds::LaneByLane, refusal)
}

impl Loop {
    /// The runtime's table of it, in a program.
    pub(crate) fn table(&self, program: &Program, p: &TokenStream) -> TokenStream {
        let function =
            program.functions.iter().position(|f| f.name == self.function).unwrap_or_default() as u16;
        let rounds = match self.rounds {
            Rounds::Blocks => quote!(Blocks),
            Rounds::Interchanged => quote!(Interchanged),
            Rounds::Predicated => quote!(Predicated),
            Rounds::Unrolled => quote!(Unrolled),
            Rounds::LaneByLane => quote!(LaneByLane),
        };
        let obstacle = match &self.obstacle {
            None => quote!(::core::option::Option::None),
            Some(refusal) => {
                let (line, why) = (line(refusal.span), refusal.why());
                let instead = refusal.reason.instead;
                let obstacle = quote!(#p::Obstacle { line: #line, why: #why, instead: #instead });
                quote!(::core::option::Option::Some(#obstacle))
            }
        };
        let line = line(self.span);
        quote!(#p::Loop { function: #function, line: #line, rounds: #p::Rounds::#rounds, obstacle: #obstacle })
    }
}

fn line(span: Span) -> TokenStream {
    quote_spanned!(span=> ::core::line!())
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::{functions, lowered};
    use crate::item::model::Function;

    /// The loops of a program of one function.
    fn all(function: &Function, known: Option<&BTreeSet<String>>) -> Vec<Loop> {
        let program = lowered(std::slice::from_ref(function), 0, true).program;
        let definitions = Definitions::default();
        let receivers = Receivers::of_program(&program, program.entry, function, &definitions, &[]);
        loops(&program, &[&receivers], false, known)
    }

    /// The loops of a function: how their rounds run, and what stops them.
    fn explained(item: TokenStream) -> Vec<String> {
        let shown = |one: Loop| {
            let rounds = match one.rounds {
                Rounds::Blocks => "in blocks",
                Rounds::Interchanged => "interchanged",
                Rounds::Predicated => "predicated",
                Rounds::Unrolled => "unrolled",
                Rounds::LaneByLane => "lane by lane",
            };
            one.obstacle.map_or(rounds.to_owned(), |refusal| format!("{rounds}: {}", refusal.why()))
        };
        all(&functions(item)[0], Some(&BTreeSet::new())).into_iter().map(shown).collect()
    }

    /// What stops a loop over the weights of a function.
    fn stopped(body: TokenStream) -> String {
        let found = explained(quote! {
            fn f(weights: &[f64], x: f64, n: usize, list: Vec<f64>) -> f64 {
                let mut s = x;
                let mut own = [x; 20];
                let point = Point { x, y: x };
                for w in weights.iter() { s += w * x; s *= x; s -= w; #body }
                s
            }
        });
        let [one] = &found[..] else { panic!("{found:?}") };
        one.clone()
    }

    #[test]
    fn ways_that_rounds_run() {
        let found = explained(quote! {
            fn f(x: f64, n: usize) -> f64 {
                let mut v = [x; 20];
                for i in 0..20 {
                    for k in 0..3 { v[i] = 0.5 * v[i] + x; }
                }
                for j in 1..n { v[j] += x * v[j - 1]; }
                let mut y = x;
                for i in 0..20 { y += v[i] * v[i] * x - y * x; v[i] -= y * x + v[i] * y; if y > 4.0 { break; } }
                while y < 1.0 { for i in 0..3 { for j in 0..=i { y += x * y + x; } } }
                for k in 0..4 { y += 1.0; }
                y
            }
        });
        let nest = ["in blocks", "unrolled", "unrolled"];
        let expected =
            [&["interchanged", "unrolled", "predicated", "predicated"], &nest[..], &["unrolled"]].concat();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_stops_a_loop_is_named() {
        let says = |body, words: &str| {
            let found = stopped(body);
            assert!(found.contains(words), "{found}");
        };
        says(quote!(s += other(s);), "`other` is called");
        says(quote!(s += s.unknown(x);), "`unknown` is no method of numbers");
        assert_eq!(stopped(quote!(s += own[n];)), "interchanged");
        says(quote!(s += list[3];), "no array of this function");
        says(quote!(let [a, ..] = own; s += a;), "a pattern takes a value apart");
        says(quote!(s += point.x;), "used in parts");
        says(quote!(s += f64::from(own);), "an array is used as a whole");
        says(quote!(let r = &s; s = *r;), "a reference is made");
        says(quote!(s += match n { 0 => 1.0, _ => 2.0 };), "more than numbers need");
        let rows = explained(quote! {
            fn f(x: f64, n: usize) -> f64 {
                let mut rows = [[x; 20]; 20];
                for i in 0..20 { rows[n] = [x * 2.0; 20]; rows[i][3] += x; rows[i][4] *= x; rows[i][5] -= x; }
                rows[3][3]
            }
        });
        assert!(rows[0].contains("indexed by what each member computes"), "{rows:?}");
    }

    #[test]
    fn library_calls_stop_vectors_in_any_loop() {
        let found = explained(quote! {
            fn f(x: f64, n: u32) -> f64 {
                let (mut y, mut k) = (x, n);
                while y > 1.0 { y = y.ln(); }
                while k > 1 { for i in 0..3 { y += f64::from(i).sqrt(); } k -= 1; }
                let mut v = [x; 20];
                for i in 0..20 { v[i] = v[i].sin() + x; v[i] *= y; v[i] -= x; }
                for i in 0..3 { y += f64::exp(v[i]); }
                while y > 1.0 { y -= y % 7.0; k %= 2; }
                for c in "letters".chars() { if c == 'r' { break; } y += 1.0; }
                y
            }
        });
        let stopped = |name: &str| format!("`{name}` is a library call");
        assert!(found[0].starts_with(&format!("in blocks: {}", stopped("ln"))), "{found:?}");
        assert_eq!(found[1..3], ["in blocks", "unrolled"]);
        assert!(found[3].starts_with(&format!("interchanged: {}", stopped("sin"))), "{found:?}");
        assert!(found[4].starts_with(&format!("unrolled: {}", stopped("exp"))), "{found:?}");
        assert_eq!(found[5], "in blocks");
        assert!(found[6].starts_with("in blocks: it goes through something else than a range"), "{found:?}");
    }

    #[test]
    fn what_has_no_vector_instruction_stops_any_loop() {
        let found = explained(quote! {
            fn f(x: f64, n: u64, #[shared] m: u64, list: &[f64], point: Point) -> f64 {
                let (mut y, mut k, mut sum) = (x, n + 3, 0);
                let mut v = [x; 20];
                while k > 1 { k = k / 5; }
                while k > 1 { k /= n; }
                while k > 1 { k /= point.n; }
                while k > 1 { k = if k < u64::MAX / 5 { k + 3 } else { 0 }; }
                while y > 1.0 { y = y.rem_euclid(3.0); }
                while y > 1.0 { sum += (y * 2.0) as i32; y *= 0.9; }
                while y > 1.0 { y -= x.powi(sum); }
                while y > 1.0 { y -= x.powi(3) + y / x; k = k / 8 + (k as u32 / 7) as u64; }
                let mut huge = n as u128;
                while huge > 1 { huge -= 1; }
                let mut other = i128::from(m);
                while other > 1 { other -= 1; }
                for i in 0..m { while y > 1.0 { y *= 0.5; } y += x; }
                for i in 0..20 { let j = i + 1; v[j] += x; v[j] *= y; v[i] -= 1.0; }
                for i in 0..20 { let j = (x as usize + i) % 4; v[j] += x; v[j] *= y; v[i] -= 1.0; }
                y
            }
        });
        let words = [
            "in blocks",
            "in blocks",
            "in blocks: a number is divided, and the type of an operand",
            "in blocks",
            "in blocks",
            "in blocks",
            "in blocks: `powi` is a library call",
            "in blocks",
            "in blocks: integers of 128 bits",
            "in blocks: integers of 128 bits",
            "in blocks: a loop is inside",
            "in blocks",
            "interchanged",
            "interchanged: an array is indexed by what each member computes",
        ];
        assert_eq!(found.len(), words.len(), "{found:?}");
        for (found, words) in found.iter().zip(words) {
            assert!(found.starts_with(words) && (found == words || words.contains(':')), "{found}: {words}");
        }
    }

    #[test]
    fn unknown_calls_stop_loops_of_programs_that_may_do_more_than_compute() {
        let item = || {
            quote! {
                fn f(x: f64) -> f64 {
                    let mut list = Vec::new();
                    let mut y = x;
                    while y > 1.0 { y *= list.get(0).copied().unwrap_or(0.9); }
                    while y > 0.5 { y -= helper(x); }
                    while y > 0.1 { y -= other(x); }
                    y
                }
            }
        };
        let function = functions(item()).remove(0);
        let known = BTreeSet::from(["helper".to_owned()]);
        let names = |known| -> Vec<Option<String>> {
            all(&function, known).into_iter().map(|one| one.obstacle?.name).collect()
        };
        assert_eq!(names(Some(&known)), [Some("get".to_owned()), None, Some("other".to_owned())]);
        assert_eq!(names(None), [None, None, None]);
    }

    #[test]
    fn loops_that_would_run_are_left_for_a_reason() {
        let found = explained(quote! {
            fn f(x: f64) -> f64 {
                let mut s = x;
                for i in 0..12 { s += x; }
                for (i, c) in "text".chars().enumerate() { s += i as f64 + x; s *= x; }
                s
            }
        });
        assert!(found[0].contains("do too little"), "{found:?}");
        assert!(found[1].contains("something else than a range"), "{found:?}");
    }
}
