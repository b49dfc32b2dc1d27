//! Who has no result when a run is ended from outside, and how long the run goes on.

#![allow(clippy::useless_vec)] // written as users write

use std::thread;
use std::time::{Duration, Instant};

use autobatch::{CancelToken, Executor, FaultKind, Options, Outcome, autobatch, same};

use crate::Wanted;

const MEMBERS: u64 = 1000;
const AFTER: Duration = Duration::from_millis(300);
/// Every tenth member is endless.
const ENDLESS: u64 = 10;

/// Numbers below [`ENDLESS`] times some: those that are 3 more than a multiple don't end.
#[autobatch]
fn spin(n: u64) -> u64 {
    let mut k = 0u64;
    while k < n * 20 || n % 10 == 3 {
        k = k.wrapping_mul(5).wrapping_add(k ^ 1) >> 1 | 1 << 40 | k & 1;
        if k > 1 << 63 {
            break;
        }
        k = k.wrapping_add(1) & 0xffff;
        if k == 0xffff && n % 10 != 3 {
            break;
        }
    }
    k
}

#[autobatch]
fn tail(n: u64, ends: bool, sum: u64) -> u64 {
    if n == 0 && ends { sum } else { tail(n.saturating_sub(1), ends, sum.wrapping_add(n)) }
}

#[autobatch]
fn twice(n: u64, depth: u32) -> u64 {
    if depth == 0 {
        return n;
    }
    let first = twice(n / 2, depth - 1);
    first.wrapping_add(twice(n + 1, depth - 1))
}

#[autobatch]
fn twice_with_state(n: u64, depth: u32, calls: &mut u64) -> u64 {
    *calls += 1;
    if depth == 0 {
        return n;
    }
    let first = twice_with_state(n / 2, depth - 1, calls);
    first.wrapping_add(twice_with_state(n + 1, depth - 1, calls))
}

#[autobatch]
fn texts(depth: u32, text: String) -> usize {
    if depth == 0 { text.len() } else { texts(depth - 1, text.clone()) + texts(depth - 1, text) }
}

/// The same number of turns for all members of a batch.
#[autobatch]
fn uniform(x: u64, turns: &u64) -> u64 {
    let mut sum = x;
    for i in 0..*turns {
        sum = sum.wrapping_mul(31) ^ i;
    }
    sum
}

/// A function that runs per member: it borrows from a local across its loop.
#[autobatch]
fn per_member(n: u64, turns: u64) -> u64 {
    let values = vec![n, 2];
    let lent = values.iter();
    let (mut sum, mut i) = (0u64, 0);
    while i < turns {
        sum = lent.clone().fold(sum, |sum, value| sum.wrapping_mul(3) ^ value);
        i += 1;
    }
    sum
}

#[autobatch::primitive(batched = doubled_all)]
fn doubled(n: u64) -> u64 {
    2 * n
}

fn doubled_all(n: &[u64]) -> Vec<u64> {
    n.iter().map(|n| 2 * n).collect()
}

/// Primitives in blocks.
#[autobatch(primitives(doubled))]
fn with_primitive(n: u64) -> u64 {
    let mut k = n;
    let mut turns = 0u64;
    while turns < 20 || n % 10 == 3 {
        k = doubled(k) >> 1;
        turns = turns.wrapping_add(1);
    }
    k
}

/// Primitives on fibers.
#[autobatch(primitives(doubled))]
fn on_fibers(n: u64) -> u64 {
    let values = vec![n, 2];
    let lent = values.iter();
    let (mut sum, mut turns) = (0u64, 0u64);
    while turns < 20 || n % 10 == 3 {
        sum = lent.clone().fold(sum, |sum, value| sum ^ value);
        sum = doubled(sum) >> 1;
        turns = turns.wrapping_add(1);
    }
    sum
}

/// How many finite members have no result, whether another has one, and milliseconds from the call of `cancel` to the end of the run.
struct Ended {
    lost: usize,
    wrong: bool,
    late: f64,
}

fn end<R>(
    options: &Options,
    is_endless: impl Fn(u64) -> bool,
    run: impl FnOnce(&Options) -> Outcome<R>,
) -> Ended {
    let token = CancelToken::new();
    let ender = token.clone();
    let timer = thread::spawn(move || {
        thread::sleep(AFTER);
        ender.cancel();
        Instant::now()
    });
    let outcome = run(&options.clone().cancel(&token));
    let end = Instant::now();
    let cancelled = timer.join().expect("a thread that sleeps");
    let late = end.saturating_duration_since(cancelled).as_secs_f64() * 1e3;
    let (mut lost, mut wrong) = (0, false);
    for (member, result) in (0..).zip(outcome.into_results()) {
        match result {
            Ok(_) => wrong |= is_endless(member),
            Err(fault) => {
                wrong |= fault.kind != FaultKind::Cancelled;
                lost += usize::from(!is_endless(member));
            }
        }
    }
    Ended { lost, wrong, late }
}

type Case = (&'static str, Box<dyn Fn(&Options) -> Ended>);

fn cases() -> Vec<Case> {
    let third = |member: u64| member % ENDLESS == 3;
    let n = || (0..MEMBERS).collect::<Vec<u64>>();
    let depths = move || (0..MEMBERS).map(|m| if third(m) { 60 } else { m as u32 % 6 }).collect::<Vec<u32>>();
    let turns = move || (0..MEMBERS).map(|m| if third(m) { u64::MAX } else { m }).collect::<Vec<u64>>();
    fn case(name: &'static str, run: impl Fn(&Options) -> Ended + 'static) -> Case {
        (name, Box::new(run))
    }
    vec![
        case("loop", move |o| end(o, third, |o| spin_batched_with(n(), o).unwrap())),
        case("tail calls", move |o| {
            let ends: Vec<bool> = (0..MEMBERS).map(|member| !third(member)).collect();
            end(o, third, |o| tail_batched_with(n(), &ends, same(0), o).unwrap())
        }),
        case("two calls", move |o| end(o, third, |o| twice_batched_with(n(), depths(), o).unwrap())),
        case("two calls with a state", move |o| {
            let mut calls = vec![0; MEMBERS as usize];
            end(o, third, |o| twice_with_state_batched_with(n(), depths(), &mut calls, o).unwrap())
        }),
        case("owned texts", move |o| {
            end(o, third, |o| texts_batched_with(depths(), same("text".to_owned()), o).unwrap())
        }),
        case("uniform loop", move |o| end(o, |_| true, |o| uniform_batched_with(n(), &u64::MAX, o).unwrap())),
        case("per member", move |o| end(o, third, |o| per_member_batched_with(n(), turns(), o).unwrap())),
        case("primitives in blocks", move |o| {
            end(o, third, |o| with_primitive_batched_with(n(), o).unwrap())
        }),
        case("primitives on fibers", move |o| end(o, third, |o| on_fibers_batched_with(n(), o).unwrap())),
    ]
}

pub(crate) fn print(wanted: &Wanted) {
    println!(
        "\n100 of 1 000 members endless, `cancel` after 300 ms, two threads: finite members lost, and the end in ms behind the call"
    );
    println!("| | masked | pc | scalar | auto |\n|---|--:|--:|--:|--:|");
    let executors = [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto];
    for (name, run) in cases() {
        if !wanted.row("endings", name) {
            continue;
        }
        let cells = executors.map(|executor| {
            let Ended { lost, wrong, late } = run(&Options::default().executor(executor).threads(2));
            format!("{lost}, {late:.1}{}", if wrong { ", WRONG" } else { "" })
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}
