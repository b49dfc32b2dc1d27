//! Owned values are moved, never cloned, and dropped exactly once: in every executor, also where members panic, are too deep,
//! or run out of steps.

#![forbid(unsafe_code)]
#![allow(clippy::manual_is_multiple_of, clippy::while_immutable_condition, clippy::useless_vec)]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::executors;
use autobatch::{BatchError, FaultKind, Options, Outcome, autobatch};

/// Knows which tokens are alive.
#[derive(Default)]
struct Ledger {
    made: AtomicU64,
    alive: Mutex<BTreeSet<u64>>,
    /// Drops and uses of what is not alive.
    wrong: AtomicU64,
}

/// Counts constructions and drops.
struct Token<'a> {
    ledger: &'a Ledger,
    id: u64,
    value: u32,
}

impl Ledger {
    fn token(&self, value: u32) -> Token<'_> {
        let id = self.made.fetch_add(1, Ordering::Relaxed);
        self.alive.lock().unwrap().insert(id);
        Token { ledger: self, id, value }
    }

    /// What was made since; nothing may be alive.
    fn settle(&self, how: &str) -> u64 {
        assert_eq!(self.wrong.swap(0, Ordering::Relaxed), 0, "{how}: dropped or used twice");
        let alive = std::mem::take(&mut *self.alive.lock().unwrap());
        assert_eq!(alive.len(), 0, "{how}: {} tokens were never dropped", alive.len());
        self.made.swap(0, Ordering::Relaxed)
    }
}

impl Token<'_> {
    fn get(&self) -> u32 {
        if !self.ledger.alive.lock().unwrap().contains(&self.id) {
            self.ledger.wrong.fetch_add(1, Ordering::Relaxed);
        }
        self.value
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        if !self.ledger.alive.lock().unwrap().remove(&self.id) {
            self.ledger.wrong.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// For columns that are cloned from; some can't be.
impl Clone for Token<'_> {
    fn clone(&self) -> Self {
        assert!(self.value != 77, "no clone of 77");
        self.ledger.token(self.get())
    }
}

/// Ways to run a batch.
fn ways() -> Vec<(String, Options)> {
    let mut all = Vec::new();
    for (name, options) in executors() {
        for (threads, lanes) in [(1, 64), (1, 1), (2, 7)] {
            let options = options.clone().threads(threads).lanes(lanes).max_depth(40);
            all.push((format!("{name}, {threads} threads, {lanes} lanes"), options));
        }
    }
    all
}

/// Runs the batch in all ways. Without faults it makes exactly as many tokens as the scalar function.
fn come_out_even<'a, R>(
    ledger: &'a Ledger,
    members: usize,
    faults: &[(usize, FaultKind)],
    scalar: impl Fn(usize) -> Option<R>,
    batched: impl Fn(&Options) -> Result<Outcome<R>, BatchError>,
    look: impl Fn(&R) -> u32,
) where
    R: 'a,
{
    let mut want = Vec::new();
    for member in 0..members {
        want.push(scalar(member).map(|result| look(&result)));
    }
    let made = ledger.settle("scalar function");
    for (how, options) in ways() {
        let outcome = batched(&options).unwrap_or_else(|error| panic!("{how}: {error}"));
        let found: Vec<_> = outcome.faults().iter().map(|fault| (fault.member, fault.kind)).collect();
        assert_eq!(found, faults, "{how}");
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            assert_eq!(result.ok().map(|result| look(&result)), want[member], "{how}, member {member}");
        }
        let count = ledger.settle(&how);
        if faults.is_empty() {
            assert_eq!(count, made, "{how}: what is owned is not cloned");
        }
    }
}

/// Members that panic, as faults.
fn panics(members: impl IntoIterator<Item = usize>) -> Vec<(usize, FaultKind)> {
    members.into_iter().map(|member| (member, FaultKind::Panic)).collect()
}

/// Panics at one of many places.
fn mine(at: u32, place: u32) -> u32 {
    assert!(at != place, "place {place}");
    place
}

/// Tokens before, across, in and after recursive calls; in temporaries; handed on and back.
#[autobatch]
fn descend<'a>(ledger: &'a Ledger, token: Token<'a>, depth: u32, at: u32) -> (Token<'a>, u32) {
    let local = ledger.token(depth + 3);
    if depth == 0 {
        mine(at, 1);
        return (local, token.get());
    }
    let across = (ledger.token(3), ledger.token(4));
    let moved = if depth % 2 == 0 { token } else { ledger.token(token.get() + mine(at, 2 + depth)) };
    let (back, sum) = descend(ledger, moved, depth - 1, at);
    let sum = sum + ledger.token(mine(at, 20)).get() + ledger.token(5).get();
    let (first, second) = across;
    drop(first);
    let (other, more) = descend(ledger, second, (depth - 1) / 2, if depth == 3 { at } else { 0 });
    if back.get() > 2 && mine(at, 30 + depth) > 32 {
        return (other, sum + more + local.get());
    }
    (back, sum + more)
}

#[test]
fn in_a_recursion() {
    let ledger = Ledger::default();
    let depth: Vec<u32> = (0..50).map(|i| i % 5).collect();
    let tokens = || (0..50).map(|i| ledger.token(i)).collect::<Vec<_>>();
    let scalar = |at: u32, member: usize| {
        let call = || descend(&ledger, ledger.token(member as u32), depth[member], at);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).ok()
    };
    let look = |(token, sum): &(Token<'_>, u32)| token.get() + 1000 * sum;
    come_out_even(
        &ledger,
        50,
        &[],
        |member| scalar(0, member),
        |options| descend_batched_with(&ledger, tokens(), &depth, autobatch::same(0), options),
        look,
    );
    for at in [1, 3, 5, 20, 31, 33] {
        // Of every five members three panic at the place, if they get there.
        let places: Vec<u32> = (0..50).map(|i| if i % 5 < 3 || i % 7 == 0 { at } else { 0 }).collect();
        let failing = (0..50).filter(|&member| scalar(places[member], member).is_none());
        let failing = panics(failing);
        assert!(!failing.is_empty() && failing.len() < 50, "{at}: {}", failing.len());
        come_out_even(
            &ledger,
            50,
            &failing,
            |member| scalar(places[member], member),
            |options| descend_batched_with(&ledger, tokens(), &depth, &places, options),
            look,
        );
    }
}

enum Shape<'a> {
    Leaf(Token<'a>),
    Pair(Box<(Shape<'a>, Token<'a>)>),
    Bare,
}

/// Containers, patterns by move and by reference, partial moves, shadowing, reassignment in loops, labelled breaks, `?`.
#[autobatch]
fn handle<'a>(ledger: &'a Ledger, rounds: u32, at: u32) -> Option<Vec<Token<'a>>> {
    let mut kept = Vec::new();
    let mut spare = Some(ledger.token(1));
    let mut shape = Shape::Bare;
    let mut round = 0;
    let last = 'rounds: loop {
        let token = ledger.token(round);
        let token = if round % 3 == 1 { Box::new(token) } else { Box::new(ledger.token(mine(at, 1))) };
        shape = match shape {
            Shape::Bare => Shape::Leaf(*token),
            Shape::Leaf(inner) if inner.get() % 2 == 0 => {
                Shape::Pair(Box::new((Shape::Leaf(inner), ledger.token(mine(at, 2)))))
            }
            Shape::Leaf(inner) => {
                kept.push(inner);
                Shape::Leaf(*token)
            }
            Shape::Pair(pair) => {
                let (shape, token) = *pair;
                mine(at, 3);
                drop(shape);
                kept.push(token);
                Shape::Bare
            }
        };
        if let Some(token) = spare.take() {
            kept.push(token);
        } else if round % 4 == 3 {
            spare = Some(ledger.token(kept.len() as u32));
        }
        while kept.len() > 4 {
            let old = kept.swap_remove(1);
            if old.get() == 9 {
                break 'rounds old;
            }
            mine(at, 4);
        }
        round += 1;
        if round >= rounds {
            break spare?;
        }
    };
    kept.push(last);
    let mut out = Vec::new();
    for (nth, token) in kept.into_iter().enumerate() {
        if nth == 2 {
            mine(at, 30);
            continue;
        }
        if nth as u32 == mine(at, 31) {
            break;
        }
        out.push(token);
    }
    Some(out)
}

#[test]
fn in_containers_and_patterns() {
    let ledger = Ledger::default();
    let rounds: Vec<u32> = (0..60).map(|i| i * 7 % 19).collect();
    let scalar = |at: u32, member: usize| {
        let call = || handle(&ledger, rounds[member], at);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).ok()
    };
    let look = |out: &Option<Vec<Token<'_>>>| match out {
        Some(out) => out.iter().fold(1, |sum, token| sum * 31 % 65_537 + token.get()),
        None => 0,
    };
    for at in [0, 1, 2, 3, 4, 30, 31] {
        let places: Vec<u32> = (0..60).map(|i| if i % 3 > 0 { at } else { 0 }).collect();
        let failing = panics((0..60).filter(|&member| scalar(places[member], member).is_none()));
        assert_eq!(failing.is_empty(), at == 0, "{at}");
        ledger.settle("scalar function");
        come_out_even(
            &ledger,
            60,
            &failing,
            |member| scalar(places[member], member),
            |options| handle_batched_with(&ledger, &rounds, &places, options),
            look,
        );
    }
}

/// In place for some statements only, and moved on behind them; members panic in the run, between runs and behind.
#[autobatch]
fn borrowed_for_some_statements<'a>(ledger: &'a Ledger, rounds: u32, place: u32) -> Token<'a> {
    let mut pair = (ledger.token(rounds), vec![ledger.token(1), ledger.token(2)]);
    let (first, rest) = &mut pair;
    let mut i = 0;
    while i < rounds {
        rest.push(ledger.token(i));
        *first = ledger.token(first.get() + 1);
        assert!(place != 1 || i != 2, "in a run");
        if place == 4 && i == 3 {
            return ledger.token(100);
        }
        i += 1;
    }
    let (first, mut rest) = pair;
    assert!(place != 2, "between");
    if let Some(last) = rest.last_mut() {
        while last.get() < 12 + first.get() {
            *last = ledger.token(last.get() + 5);
            assert!(place != 5 || last.get() < 20, "in another");
        }
    }
    let sum = rest.into_iter().map(|token| token.get()).sum();
    assert!(place != 3, "behind");
    ledger.token(sum)
}

#[test]
fn in_locals_borrowed_for_some_statements() {
    let ledger = Ledger::default();
    let scalar = |place: u32, member: usize| {
        let call = || borrowed_for_some_statements(&ledger, member as u32 % 7, place);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).ok()
    };
    for failing in [false, true] {
        let places: Vec<u32> =
            (0..60).map(|member| if failing { member % 6 } else { member % 2 * 4 }).collect();
        let faults = panics((0..60).filter(|&member| scalar(places[member], member).is_none()));
        ledger.settle("scalar function");
        assert_eq!(faults.is_empty(), !failing);
        let rounds: Vec<u32> = (0..60).map(|member| member % 7).collect();
        come_out_even(
            &ledger,
            60,
            &faults,
            |member| scalar(places[member], member),
            |options| borrowed_for_some_statements_batched_with(&ledger, &rounds, &places, options),
            Token::get,
        );
    }
}

/// Lends a token that it holds.
struct Holder<'a>(Token<'a>);

impl<'a> Holder<'a> {
    fn new(ledger: &'a Ledger, value: u32) -> Self {
        Holder(ledger.token(value))
    }
    fn token(&self) -> &Token<'a> {
        &self.0
    }
}

fn heavier(token: &Token<'_>, more: u32) -> u32 {
    token.get() + more
}

/// Temporaries that operands borrow from, kept while later operands make calls, in which members panic.
#[autobatch]
fn across_calls(ledger: &Ledger, depth: u32, at: u32) -> u32 {
    if depth == 0 {
        return mine(at, 1);
    }
    let mut sum = heavier(Holder::new(ledger, depth).token(), across_calls(ledger, depth - 1, at));
    for k in 0..depth {
        if heavier(Holder::new(ledger, k).token(), across_calls(ledger, k / 2, at)) > 3 {
            sum += mine(at, 10 + k);
            continue;
        }
        let both = (&Holder::new(ledger, 3), across_calls(ledger, k / 2, if depth == 2 { at } else { 0 }));
        sum += match k {
            1 => heavier(Holder::new(ledger, k).token(), across_calls(ledger, 0, at) + mine(at, 20)),
            _ => both.1 + both.0.token().get(),
        };
    }
    heavier(Holder::new(ledger, sum).token(), across_calls(ledger, depth / 2, 0) + mine(at, 30 + depth))
}

#[test]
fn in_temporaries_across_calls() {
    let ledger = Ledger::default();
    let scalar = |depth: u32, at: u32| {
        let call = || across_calls(&ledger, depth, at);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).ok()
    };
    for failing in [false, true] {
        let ats: Vec<u32> = (0..66).map(|member| if failing { member % 34 } else { 0 }).collect();
        let depths: Vec<u32> = (0..66).map(|member| member % 5).collect();
        let faults = panics((0..66).filter(|&member| scalar(depths[member], ats[member]).is_none()));
        ledger.settle("scalar function");
        assert_eq!(faults.is_empty(), !failing);
        come_out_even(
            &ledger,
            66,
            &faults,
            |member| scalar(depths[member], ats[member]),
            |options| across_calls_batched_with(&ledger, &depths, &ats, options),
            |sum| *sum,
        );
    }
}

/// Parameters of all kinds: owned, cloned from a borrowed column, the same for all, state that is changed.
#[autobatch]
fn given<'a>(
    owned: Token<'a>,
    cloned: Token<'a>,
    same: Token<'a>,
    state: &mut Vec<Token<'a>>,
    n: u32,
) -> Token<'a> {
    let mut best = owned;
    let mut at = 0;
    while at < n {
        if state.len() < 2 {
            state.push(same.clone());
        } else if let Some(token) = state.pop()
            && token.get() > best.get()
        {
            best = token;
        }
        assert!(at != 13, "thirteen");
        at += 1;
    }
    if best.get() % 2 == 0 { cloned } else { best }
}

#[test]
fn in_columns() {
    let ledger = Ledger::default();
    let n: Vec<u32> = (0..40).map(|i| if i % 9 == 5 { 14 } else { i % 6 }).collect();
    let value = |i: usize| if i == 3 || i == 22 { 77 } else { i as u32 % 10 };
    for (kind, sick) in [("well", false), ("sick", true)] {
        let cloned = |i: usize| if sick { value(i) } else { value(i) % 7 };
        let n: Vec<u32> = n.iter().map(|n| if sick { *n } else { n % 6 }).collect();
        let mut failing = Vec::new();
        for (how, options) in ways() {
            let column: Vec<Token<'_>> = (0..40).map(|i| ledger.token(cloned(i))).collect();
            let mut states: Vec<Vec<Token<'_>>> =
                (0..40).map(|i| (0..i % 3).map(|k| ledger.token(k)).collect()).collect();
            let owned: Vec<Token<'_>> = (0..40).map(|i| ledger.token(i % 10)).collect();
            let same = autobatch::same(ledger.token(8));
            let outcome = given_batched_with(owned, &column, same, &mut states, &n, &options).unwrap();
            let faults: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
            if failing.is_empty() {
                failing.clone_from(&faults);
            }
            assert_eq!(faults, failing, "{kind}, {how}");
            assert_eq!(!faults.is_empty(), sick, "{kind}, {how}");
            for (member, result) in outcome.into_results().into_iter().enumerate() {
                let Ok(token) = result else { continue };
                let mut state: Vec<_> = (0..member as u32 % 3).map(|k| ledger.token(k)).collect();
                let (owned, cloned) = (ledger.token(member as u32 % 10), ledger.token(cloned(member)));
                let want = given(owned, cloned, ledger.token(8), &mut state, n[member]);
                assert_eq!(token.get(), want.get(), "{kind}, {how}, member {member}");
                let values = |state: &[Token<'_>]| state.iter().map(Token::get).collect::<Vec<_>>();
                assert_eq!(values(&states[member]), values(&state), "{kind}, {how}, member {member}");
            }
            for state in &states {
                state
                    .iter()
                    .for_each(|token| assert!(token.get() < 100, "{kind}, {how}: valid after a fault"));
            }
            drop((column, states));
            ledger.settle(&format!("{kind}, {how}"));
        }
    }
}

/// Goes too deep.
#[autobatch]
fn endless<'a>(ledger: &'a Ledger, token: Token<'a>, way: u32, depth: u32) -> u32 {
    let mine = (ledger.token(depth), vec![ledger.token(1)]);
    if way == 2 {
        return endless(ledger, token, way, depth + 1) + mine.0.get();
    }
    if depth < 5 {
        endless(ledger, ledger.token(depth), way, depth + 1) + mine.1[0].get()
    } else {
        token.get()
    }
}

#[test]
fn where_limits_are_exceeded() {
    let ledger = Ledger::default();
    let way: Vec<u32> = (0..30).map(|i| if i % 10 == 3 { 2 } else { 0 }).collect();
    for (how, options) in ways() {
        let tokens: Vec<_> = (0..30).map(|i| ledger.token(i)).collect();
        let outcome = endless_batched_with(&ledger, tokens, &way, autobatch::same(0), &options).unwrap();
        let faults: Vec<_> = outcome.faults().iter().map(|fault| (fault.member, fault.kind)).collect();
        assert_eq!(faults, [3, 13, 23].map(|member| (member, FaultKind::DepthExceeded)), "{how}");
        drop(outcome);
        ledger.settle(&how);
    }
}

/// Goes on for ever: a block program, whose values count themselves.
#[autobatch(strict)]
fn endless_loop(token: Arc<u32>, way: u32) -> u32 {
    let mut kept = vec![token.clone()];
    while way == 1 {
        kept[0] = token.clone();
    }
    *token + kept.len() as u32
}

#[test]
fn where_steps_are_exceeded() {
    let token = Arc::new(3);
    let way: Vec<u32> = (0..30).map(|i| u32::from(i % 10 == 3)).collect();
    for (how, options) in ways() {
        // The scalar function itself has no step to stop it at.
        if how.starts_with("scalar") || how.starts_with("auto") {
            continue;
        }
        let tokens = vec![token.clone(); 30];
        let outcome = endless_loop_batched_with(tokens, &way, &options.max_steps(20_000)).unwrap();
        let faults: Vec<_> = outcome.faults().iter().map(|fault| (fault.member, fault.kind)).collect();
        assert_eq!(faults, [3, 13, 23].map(|member| (member, FaultKind::StepsExceeded)), "{how}");
        assert_eq!(Arc::strong_count(&token), 1, "{how}");
    }
}
