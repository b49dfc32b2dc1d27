//! Members that never end are ended by a limit, and take no other member along.

#![allow(clippy::useless_vec)] // written as users write

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::common::{cancelled_after, cancelled_with_results};
use autobatch::{
    BatchError, CancelToken, Engine, Executor, Fault, FaultKind, Options, Outcome, Schedule, autobatch, same,
};

const BATCHING: [Executor; 3] = [Executor::Auto, Executor::Masked, Executor::ProgramCounter];

/// Every member of whom `is_endless` says so has a fault of this kind, every other one its result.
#[track_caller]
fn only<R: PartialEq + std::fmt::Debug>(
    how: &str,
    outcome: Outcome<R>,
    kind: FaultKind,
    is_endless: impl Fn(usize) -> bool,
    scalar: impl Fn(usize) -> R,
) {
    for (member, result) in outcome.into_results().into_iter().enumerate() {
        match result {
            Ok(value) => {
                assert!(!is_endless(member), "{how}: member {member} has a result");
                assert_eq!(value, scalar(member), "{how}: member {member}");
            }
            Err(fault) => {
                assert_eq!((is_endless(member), fault.kind), (true, kind), "{how}: member {member}: {fault}");
            }
        }
    }
}

/// A loop that all members run equally often.
#[autobatch]
fn uniform(x: u64, turns: &u64) -> u64 {
    let mut sum = x;
    for i in 0..*turns {
        sum = sum.wrapping_mul(31) ^ i;
    }
    sum
}

/// One in another, over an array: lanes are interchanged.
#[autobatch]
fn interchanged(x: f64, turns: &usize) -> f64 {
    let mut v = [x; 16];
    for i in 0..*turns {
        for k in 0..15 {
            v[k + 1] = v[k] * 0.5 + v[k + 1] * 0.25 + i as f64;
        }
    }
    v[15]
}

/// Code that is not pure, so that the machine runs it: lane by lane.
#[autobatch]
fn with_text(x: u64, turns: &u64, text: &mut String) -> u64 {
    let mut sum = x;
    for i in 0..*turns {
        sum = sum.wrapping_mul(31) ^ i;
    }
    text.push('x');
    sum
}

#[test]
fn uniform_loops_end() {
    let x: Vec<u64> = (0..50).collect();
    let y: Vec<f64> = (0..50).map(f64::from).collect();
    for executor in BATCHING {
        let options = Options::default().executor(executor).threads(1);
        let how = format!("{executor:?}");
        let all = |_: usize| true;
        let long = options.clone().max_steps(10);
        let steps = FaultKind::StepsExceeded;
        only(&how, uniform_batched_with(&x, &(1 << 40), &long).unwrap(), steps, all, |_| 0);
        only(&how, interchanged_batched_with(&y, &(1 << 40), &long).unwrap(), steps, all, |_| 0.0);
        let mut texts = vec![String::new(); 50];
        only(&how, with_text_batched_with(&x, &(1 << 40), &mut texts, &long).unwrap(), steps, all, |_| 0);
        let kind = FaultKind::Cancelled;
        let run = |o: &Options| uniform_batched_with(&x, &(1 << 40), o).unwrap();
        only(&how, cancelled_with_results(0, &options, run), kind, all, |_| 0);
        let run = |o: &Options| interchanged_batched_with(&y, &(1 << 40), o).unwrap();
        only(&how, cancelled_with_results(0, &options, run), kind, all, |_| 0.0);
        let run = |o: &Options| with_text_batched_with(&x, &(1 << 40), &mut texts, o).unwrap();
        only(&how, cancelled_with_results(0, &options, run), kind, all, |_| 0);
        let options = options.deadline(Duration::from_millis(10));
        let outcome = uniform_batched_with(&x, &(1 << 40), &options).unwrap();
        only(&how, outcome, FaultKind::DeadlineExceeded, all, |_| 0);
    }
}

#[test]
fn uniform_loops_within_limits_have_their_results() {
    let x: Vec<u64> = (0..50).collect();
    let y: Vec<f64> = (0..50).map(f64::from).collect();
    let token = CancelToken::new();
    for executor in BATCHING {
        let options = Options::default().executor(executor).max_steps(100_000).cancel(&token);
        let how = format!("{executor:?}");
        let none = |_: usize| false;
        let kind = FaultKind::Panic;
        let outcome = uniform_batched_with(&x, &20_000, &options).unwrap();
        only(&how, outcome, kind, none, |m| uniform(x[m], &20_000));
        let outcome = interchanged_batched_with(&y, &3_000, &options).unwrap();
        only(&how, outcome, kind, none, |m| interchanged(y[m], &3_000));
        let mut texts = vec![String::new(); 50];
        let outcome = with_text_batched_with(&x, &20_000, &mut texts, &options).unwrap();
        only(&how, outcome, kind, none, |m| uniform(x[m], &20_000));
        assert!(texts.iter().all(|text| text == "x"), "{how}");
    }
}

/// A loop that one member in ten never leaves.
#[autobatch(strict)]
fn spin(n: u64) -> u64 {
    let (mut i, mut sum) = (0u64, 0u64);
    while i < n % 300 || n % 10 == 3 {
        sum = sum.wrapping_mul(3) ^ i;
        i = i.wrapping_add(1);
    }
    sum + n
}

/// The same by a tail call.
#[autobatch(strict)]
fn tail(n: u64, i: u64) -> u64 {
    if i >= n % 300 && n % 10 != 3 { i + n } else { tail(n, i.wrapping_add(1)) }
}

/// A recursion of two calls, endless for one member in ten.
#[autobatch(strict)]
fn twice(n: u64, depth: u32) -> u64 {
    if depth == 0 { n } else { twice(n / 2, depth - 1).wrapping_add(twice(n + 1, depth - 1)) }
}

/// A call in a loop, and a loop in the callee that one member in ten does not leave.
#[autobatch(strict)]
mod calls {
    pub(crate) fn outer(n: u64) -> u64 {
        let (mut i, mut sum) = (0, 0u64);
        while i < n % 7 {
            sum = sum.wrapping_add(inner(n, i));
            i += 1;
        }
        sum
    }
    fn inner(n: u64, i: u64) -> u64 {
        let mut k = 0u64;
        while k < n % 40 || (n % 10 == 3 && i == 2) {
            k = k.wrapping_add(1);
        }
        k + i
    }
}

/// Values that own memory: the machine alone runs it.
#[autobatch(strict)]
mod owned {
    pub(crate) fn outer(n: u64, text: String) -> usize {
        let (mut i, mut len) = (0, 0);
        while i < n % 7 {
            len += inner(n, i, text.clone());
            i += 1;
        }
        len + text.len()
    }
    fn inner(n: u64, i: u64, text: String) -> usize {
        let mut k = 0u64;
        while k < n % 40 || (n % 10 == 3 && i == 2) {
            k = k.wrapping_add(1);
        }
        text.len() + (k + i) as usize
    }
}

/// Runs in every way that a batch can be run on lanes.
fn ways(mut each: impl FnMut(&str, Options)) {
    for executor in BATCHING {
        for (lanes, threads) in [(None, 2), (Some(8), 1)] {
            for schedule in [Schedule::MostLanes, Schedule::EarliestBlock] {
                let options = Options::default().executor(executor).schedule(schedule).threads(threads);
                let options = lanes.into_iter().fold(options, Options::lanes);
                each(&format!("{executor:?}, {schedule:?}, {lanes:?} lanes"), options);
            }
        }
    }
}

/// Few enough that each of them is told of when it is done (`Options::progress`), which the tests wait for.
const MEMBERS: u64 = 150;

/// No finite member is lost when a run is cancelled in which one in ten members never ends.
#[test]
fn finite_members_have_their_results_when_a_run_is_cancelled() {
    let n: Vec<u64> = (0..MEMBERS).collect();
    let cancelled = FaultKind::Cancelled;
    let third = |member: usize| member % 10 == 3;
    let late = |member: usize| member % 10 == 3 && member % 7 > 2;
    let finite = |is_endless: &dyn Fn(usize) -> bool| (0..n.len()).filter(|m| !is_endless(*m)).count();
    let (few, most) = (finite(&third), finite(&late));
    ways(|how, options| {
        let outcome = cancelled_after(few, &options, |o| spin_batched_with(&n, o).unwrap());
        only(&format!("spin, {how}"), outcome, cancelled, third, |m| spin(n[m]));
        let outcome = cancelled_after(few, &options, |o| tail_batched_with(&n, same(0), o).unwrap());
        only(&format!("tail, {how}"), outcome, cancelled, third, |m| tail(n[m], 0));
        let depth: Vec<u32> = n.iter().map(|n| if n % 10 == 3 { 60 } else { (n % 6) as u32 }).collect();
        let outcome = cancelled_after(few, &options, |o| twice_batched_with(&n, &depth, o).unwrap());
        only(&format!("twice, {how}"), outcome, cancelled, third, |m| twice(n[m], depth[m]));
        let outcome = cancelled_after(most, &options, |o| calls::outer_batched_with(&n, o).unwrap());
        only(&format!("calls, {how}"), outcome, cancelled, late, |m| calls::outer(n[m]));
        let text = || "text".to_owned();
        let run = |o: &Options| owned::outer_batched_with(&n, same(text()), o).unwrap();
        let outcome = cancelled_after(most, &options, run);
        only(&format!("owned, {how}"), outcome, cancelled, late, |m| owned::outer(n[m], text()));
    });
}

/// A few members share one strip with an endless one.
#[test]
fn a_small_batch_loses_nobody() {
    for members in [2, 3, 5] {
        let n: Vec<u64> = (1..=members).map(|n| n + 1).collect();
        let endless = |member: usize| member == 1;
        for executor in BATCHING {
            let options = Options::default().executor(executor);
            let how = format!("{members} members, {executor:?}");
            let finite = n.len() - 1;
            let outcome = cancelled_after(finite, &options, |o| spin_batched_with(&n, o).unwrap());
            only(&how, outcome, FaultKind::Cancelled, endless, |m| spin(n[m]));
            let outcome = cancelled_after(finite, &options, |o| tail_batched_with(&n, same(0), o).unwrap());
            only(&how, outcome, FaultKind::Cancelled, endless, |m| tail(n[m], 0));
        }
    }
}

/// A limit of steps ends the endless ones, and nobody else.
#[test]
fn finite_members_have_their_results_when_steps_are_limited() {
    let n: Vec<u64> = (0..MEMBERS).collect();
    let exceeded = FaultKind::StepsExceeded;
    let third = |member: usize| member % 10 == 3;
    let late = |member: usize| member % 10 == 3 && member % 7 > 2;
    ways(|how, options| {
        let options = options.max_steps(5_000);
        let outcome = spin_batched_with(&n, &options).unwrap();
        only(&format!("spin, {how}"), outcome, exceeded, third, |m| spin(n[m]));
        let outcome = tail_batched_with(&n, same(0), &options).unwrap();
        only(&format!("tail, {how}"), outcome, exceeded, third, |m| tail(n[m], 0));
        let depth: Vec<u32> = n.iter().map(|n| if n % 10 == 3 { 60 } else { (n % 6) as u32 }).collect();
        let outcome = twice_batched_with(&n, &depth, &options).unwrap();
        only(&format!("twice, {how}"), outcome, exceeded, third, |m| twice(n[m], depth[m]));
        let outcome = calls::outer_batched_with(&n, &options).unwrap();
        only(&format!("calls, {how}"), outcome, exceeded, late, |m| calls::outer(n[m]));
        let outcome = owned::outer_batched_with(&n, same("text".to_owned()), &options).unwrap();
        only(&format!("owned, {how}"), outcome, exceeded, late, |m| owned::outer(n[m], "text".to_owned()));
    });
}

/// A function whose locals borrow from each other: members run one by one.
#[autobatch]
fn per_member(n: u64, turns: u64) -> u64 {
    let mut values = vec![n, 2, 3];
    let (first, rest) = values.split_at_mut(1);
    let mut i = 0;
    while i < turns {
        first[0] = first[0].wrapping_mul(3) ^ rest[(i % 2) as usize];
        i += 1;
    }
    first[0]
}

/// A limit that can't be kept is said before anything runs.
#[test]
fn scalar_code_counts_no_steps() {
    let n: Vec<u64> = (0..20).collect();
    let limit = |function| BatchError::Limit { option: "max_steps", function };
    for executor in BATCHING {
        let options = Options::default().executor(executor).max_steps(10);
        let error = per_member_batched_with(&n, same(u64::MAX), &options).unwrap_err();
        assert_eq!(error, limit("per_member"), "{executor:?}");
    }
    let options = Options::default().executor(Executor::Scalar).max_steps(10);
    let error = interchanged_batched_with(&[1.0; 4], &4, &options).unwrap_err();
    assert_eq!(error, limit("interchanged"), "its loops are no blocks");
    // Between members the time is looked at.
    let options = Options::default().executor(Executor::Scalar).threads(1).deadline(Duration::ZERO);
    let outcome = per_member_batched_with(&n, same(3), &options).unwrap();
    assert!(outcome.faults().iter().all(|fault| fault.kind == FaultKind::DeadlineExceeded));
    assert_eq!(outcome.faults().len(), 20);
}

/// An endless recursion in which every second member takes part.
#[autobatch(strict)]
fn bottomless(n: u64) -> u64 {
    if n == 2 { 3 } else { bottomless(n).wrapping_mul(3).wrapping_add(n) }
}

/// The same with values that own memory.
#[autobatch(strict)]
fn bottomless_text(n: u64, text: String) -> usize {
    if n == 2 { text.len() } else { bottomless_text(n, text.clone()) + text.len() }
}

#[test]
fn endless_recursion_ends_by_itself() {
    let n = [2, 1, 2, 3];
    for executor in [Executor::Scalar, Executor::Auto, Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor);
        let outcome = bottomless_batched_with(&n, &options).unwrap();
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            match result {
                Ok(value) => assert_eq!((value, member % 2), (3, 0), "{executor:?}"),
                Err(fault) => {
                    let kinds = [FaultKind::DepthExceeded, FaultKind::MemoryExceeded];
                    assert!(kinds.contains(&fault.kind) && member % 2 == 1, "{executor:?}: {fault}");
                }
            }
        }
        // Less memory than the depth takes.
        let options = options.max_memory(4 << 20);
        let outcome = bottomless_text_batched_with(&n, same("a".to_owned()), &options).unwrap();
        let results = outcome.into_results();
        for member in [1, 3] {
            let kind = results[member].as_ref().unwrap_err().kind;
            assert_eq!(kind, FaultKind::MemoryExceeded, "{executor:?}");
        }
        assert_eq!((&results[0], &results[2]), (&Ok(1), &Ok(1)), "{executor:?}");
    }
}

/// Limits and reports leave the engine as it is, and the report names it.
#[test]
fn the_engine_is_the_same_with_limits() {
    let n: Vec<u64> = (0..500).map(|i| 10 * i).collect();
    let depth = vec![4; 500];
    let token = CancelToken::new();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let plain = Options::default().executor(executor);
        let with = [
            plain.clone().cancel(&token),
            plain.clone().deadline(Duration::from_secs(600)),
            plain.clone().max_steps(1 << 40),
            plain.clone().report(true),
        ];
        let engines = |options: &Options| {
            let spin = spin_batched_with(&n, options).unwrap();
            let twice = twice_batched_with(&n, &depth, options).unwrap();
            let calls = calls::outer_batched_with(&n, options).unwrap();
            let owned = owned::outer_batched_with(&n, same("text".to_owned()), options).unwrap();
            [spin.report(), twice.report(), calls.report(), owned.report()].map(|report| report.engine)
        };
        let expected = engines(&plain);
        assert_eq!(expected[3], Engine::Machine);
        for options in &with {
            assert_eq!(engines(options), expected, "{executor:?}, {options:?}");
        }
        let counted = spin_batched_with(&n, &plain.clone().report(true)).unwrap();
        let blocks = spin_batched_with(&n, &plain.clone().count_blocks(true)).unwrap();
        assert!(counted.report().steps > 0 && !counted.report().blocks.is_empty());
        assert!(blocks.report().engine == Engine::Machine && blocks.report().counted == n.len());
    }
}

/// Queens: a call in a loop.
#[autobatch(strict)]
fn queens(all: u32, columns: u32, left: u32, right: u32) -> u32 {
    if columns == all {
        return 1;
    }
    let mut free = all & !(columns | left | right);
    let mut count = 0;
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        count += queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    count
}

/// Calls that need the results of others.
#[autobatch(strict)]
fn tak(x: i32, y: i32, z: i32) -> i32 {
    if y >= x { z } else { tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) }
}

/// Two calls with work in them: gangs.
#[autobatch(strict)]
fn bisect(a: f64, b: f64, depth: u32) -> f64 {
    let m = (a + b) * 0.5;
    let (l, r) = (1.0 / (a * m + 1.0) + a * a * m, 1.0 / (b * m + 1.0) + b * b * m);
    let (p, q) = ((l * a + m) * (r * b - m) + l * l * r, (r * a + m) * (l * b - m) + r * r * l);
    let (s, t) = (p * p * 0.25 + q * l - a * b, q * q * 0.25 - p * r + a * b);
    let u = (s * s + t * t) / (1.0 + p * p + q * q) + (s - t) * (p - q) * m;
    if depth == 0 || u.abs() < 1e-9 { u + p } else { bisect(a, m, depth - 1) + bisect(m, b, depth - 1) }
}

/// The same members are over a limit of steps in vector code and in the machine.
#[test]
fn steps_are_the_same_in_every_engine() {
    type Results<R> = Vec<Result<R, Fault>>;
    type Run<'r> = &'r dyn Fn(&Options) -> Results<u64>;
    fn map<R>(outcome: Outcome<R>, as_bits: impl Fn(R) -> u64) -> Results<u64> {
        outcome.into_results().into_iter().map(|result| result.map(&as_bits)).collect()
    }
    let n: Vec<u64> = (0..200).map(|i| 10 * i + i % 3).collect();
    let depth: Vec<u32> = (0..200).map(|i| i % 9).collect();
    let all: Vec<u32> = (0..200).map(|i| (1 << (i % 6)) - 1).collect();
    let (x, y): (Vec<i32>, Vec<i32>) = (0..200).map(|i| (i % 9, i % 4)).unzip();
    let ends: Vec<f64> = (0..200).map(|i| 1.0 + f64::from(i) * 0.01).collect();
    let runs: [(&str, Run<'_>); 6] = [
        ("spin", &|o| map(spin_batched_with(&n, o).unwrap(), |x| x)),
        ("tail", &|o| map(tail_batched_with(&n, same(0), o).unwrap(), |x| x)),
        ("calls", &|o| map(calls::outer_batched_with(&n, o).unwrap(), |x| x)),
        ("queens", &|o| map(queens_batched_with(&all, same(0), same(0), same(0), o).unwrap(), u64::from)),
        ("tak", &|o| map(tak_batched_with(&x, &y, same(0), o).unwrap(), |z| z as u64)),
        ("bisect", &|o| map(bisect_batched_with(same(0.0), &ends, &depth, o).unwrap(), f64::to_bits)),
    ];
    for (name, run) in runs {
        for steps in [1, 3, 10, 40, 150, 700, 3000, 20_000, 1 << 40] {
            let options = Options::default().max_steps(steps).threads(2);
            let machine = options.clone().executor(Executor::Masked).count_blocks(true);
            let expected = run(&machine);
            for executor in BATCHING {
                let found = run(&options.clone().executor(executor));
                assert_eq!(found, expected, "{name}, {executor:?}, {steps} steps");
            }
        }
    }
}

/// Recursion with a state, endless for one member in ten as good as: scalar code and the machine run it.
#[autobatch(strict)]
fn twice_with_state(n: u64, depth: u32, calls: &mut u64) -> u64 {
    *calls += 1;
    assert!(n != 1_000_077, "a member that is at fault");
    if depth == 0 {
        return n;
    }
    let first = twice_with_state(n / 2, depth - 1, calls);
    first.wrapping_add(twice_with_state(n + 2, depth - 1, calls))
}

/// The same with a loop in the callee, and values that own memory.
#[autobatch(strict)]
fn loops_with_state(n: u64, depth: u32, text: String, calls: &mut u64) -> usize {
    let mut k = 0u64;
    while k < n % 40 || n % 10 == 3 && depth == 1 {
        k = k.wrapping_add(1);
    }
    *calls += k;
    if depth == 0 { text.len() } else { loops_with_state(n, depth - 1, text.clone(), calls) + text.len() }
}

/// Functions that call each other, and one that they call in a loop; a state and values that own memory.
#[autobatch(strict)]
mod several_with_state {
    pub(crate) fn even(n: u64, text: String, calls: &mut u64) -> usize {
        *calls += 1;
        let (mut i, mut len) = (0, 0);
        while i < 3 {
            len += spinning(n, i, text.clone(), calls);
            i += 1;
        }
        if n < 3 { len } else { odd(n - 3, text.clone(), calls) + text.len() + len }
    }
    fn odd(n: u64, text: String, calls: &mut u64) -> usize {
        *calls += 1;
        let halves = if n < 40 { 0 } else { even(n / 2, text.clone(), calls) };
        if n < 1 { halves } else { even(n - 1, text, calls) + halves }
    }
    fn spinning(n: u64, i: u64, text: String, calls: &mut u64) -> usize {
        let mut k = 0u64;
        while k < n % 7 || n == 203 && i == 1 {
            k = k.wrapping_add(1);
        }
        *calls += k;
        text.len() + i as usize
    }
}

const ALL: [Executor; 4] = [Executor::Auto, Executor::Masked, Executor::ProgramCounter, Executor::Scalar];

#[test]
fn recursion_with_states_loses_nobody_when_it_is_cancelled() {
    let n: Vec<u64> = (0..MEMBERS).map(|n| 2 * n).collect();
    let third = |member: usize| member % 10 == 3;
    let finite = (0..n.len()).filter(|member| !third(*member)).count();
    let depth: Vec<u32> = (0..n.len()).map(|m| if third(m) { 60 } else { m as u32 % 6 }).collect();
    let odd: Vec<u64> = (0..MEMBERS).collect();
    let depths: Vec<u32> = (1..=MEMBERS as u32).map(|n| 1 + n % 4).collect();
    for executor in ALL {
        for threads in [1, 2] {
            let options = Options::default().executor(executor).threads(threads);
            let how = format!("{executor:?}, {threads} threads");
            let mut calls = vec![0; n.len()];
            let run = |o: &Options| twice_with_state_batched_with(&n, &depth, &mut calls, o).unwrap();
            let outcome = cancelled_after(finite, &options, run);
            let mut wanted = vec![0; n.len()];
            for member in (0..n.len()).filter(|member| !third(*member)) {
                twice_with_state(n[member], depth[member], &mut wanted[member]);
                assert_eq!(calls[member], wanted[member], "{how}: member {member}");
            }
            let scalar = |m: usize| twice_with_state(n[m], depth[m], &mut 0);
            only(&how, outcome, FaultKind::Cancelled, third, scalar);

            let text = || "text".to_owned();
            let mut calls = vec![0; n.len()];
            let run = |o: &Options| {
                loops_with_state_batched_with(&odd, &depths, same(text()), &mut calls, o).unwrap()
            };
            let outcome = cancelled_after(finite, &options, run);
            let scalar = |m: usize| loops_with_state(odd[m], depths[m], text(), &mut 0);
            only(&how, outcome, FaultKind::Cancelled, third, scalar);

            // Those at 203 don't end.
            let n: Vec<u64> = (0..50).map(|n| if n % 10 == 3 { 203 + 4 * (n % 3) } else { n }).collect();
            let mut calls = vec![0; n.len()];
            let run =
                |o: &Options| several_with_state::even_batched_with(&n, same(text()), &mut calls, o).unwrap();
            let outcome = cancelled_after(45, &options, run);
            let scalar = |m: usize| several_with_state::even(n[m], text(), &mut 0);
            only(&how, outcome, FaultKind::Cancelled, third, scalar);
            let (mut wanted, m) = (0, 49);
            several_with_state::even(n[m], text(), &mut wanted);
            assert_eq!(calls[m], wanted, "{how}");
        }
    }
}

/// Panics, depth, and deep recursion are as without limits.
#[test]
fn a_run_that_is_not_cancelled_is_as_one_that_can_not_be() {
    let n: Vec<u64> = (0..300).map(|n| if n % 50 == 7 { 1_000_077 } else { 2 * n }).collect();
    let depth: Vec<u32> = (0..300).map(|n| n % 9).collect();
    let token = CancelToken::new();
    for executor in ALL {
        let plain = Options::default().executor(executor).max_depth(7).quiet(true);
        for limited in [plain.clone().cancel(&token), plain.clone().deadline(Duration::from_secs(600))] {
            let [found, wanted] = [&limited, &plain].map(|options| {
                let mut calls = vec![0; n.len()];
                let outcome = twice_with_state_batched_with(&n, &depth, &mut calls, options).unwrap();
                let results = outcome.into_results();
                for (calls, _) in calls.iter_mut().zip(&results).filter(|(_, result)| result.is_err()) {
                    *calls = 0;
                }
                (results, calls)
            });
            assert!(
                wanted.0.iter().any(|result| matches!(result, Err(fault) if fault.kind == FaultKind::Panic))
            );
            assert_eq!(found, wanted, "{executor:?}");
        }
    }
}

/// Goes deep, and runs a batch of its own at the bottom, which can be ended too.
#[autobatch]
fn nested(n: u64, token: &CancelToken, calls: &mut u64) -> u64 {
    *calls += 1;
    if n == 0 {
        let options = Options::default().executor(Executor::Scalar).threads(1).cancel(token);
        let depth = [4, 3, 2];
        let outcome = twice_with_state_batched_with(&[2, 4, 6], &depth, &mut [0; 3], &options).unwrap();
        return outcome.into_values().unwrap().iter().sum();
    }
    nested(n - 1, token, calls) + 1
}

#[test]
fn deep_members_and_batches_in_batches_take_turns_too() {
    let (token, small) = (CancelToken::new(), thread::Builder::new().stack_size(160 << 10));
    let test = move || {
        let n = [3, 100_000, 0, 7];
        for executor in [Executor::Auto, Executor::Scalar] {
            let options = Options::default().executor(executor).threads(1).cancel(&token);
            let mut calls = [0; 4];
            let outcome = nested_batched_with(&n, &token, &mut calls, &options).unwrap();
            let bottom = nested(0, &token, &mut 0);
            assert_eq!(outcome.into_values().unwrap(), n.map(|n| n + bottom), "{executor:?}");
            assert_eq!(calls, n.map(|n| n + 1), "{executor:?}");
        }
    };
    small.spawn(test).unwrap().join().unwrap();
}

/// Scalar code that runs per member ends inside a member.
#[autobatch]
fn recursion_per_member(n: u64, depth: u32) -> u64 {
    let values = vec![n, 2];
    let mut sum = 0;
    for value in values.iter().rev() {
        sum += value + if depth == 0 { 0 } else { recursion_per_member(n, depth - 1) };
    }
    let last = values;
    sum + last[0]
}

/// The same in a loop.
#[autobatch]
fn loop_per_member(n: u64, turns: u64) -> u64 {
    let values = vec![n, 2];
    let lent = values.iter();
    let (mut sum, mut i) = (0u64, 0);
    while i < turns {
        sum = lent.clone().fold(sum, |sum, value| sum.wrapping_mul(3) ^ value);
        i += 1;
    }
    sum
}

#[test]
fn loops_of_scalar_code_end_too() {
    let second = |member: usize| member == 1;
    for executor in ALL {
        let options = Options::default().executor(executor).threads(1);
        let how = format!("{executor:?}");
        let run = |o: &Options| loop_per_member_batched_with(&[1, 2], &[3, u64::MAX], o).unwrap();
        only(&how, cancelled_with_results(1, &options, run), FaultKind::Cancelled, second, |_| {
            loop_per_member(1, 3)
        });
        let run = |o: &Options| spin_batched_with(&[1, 3], o).unwrap();
        only(&how, cancelled_with_results(1, &options, run), FaultKind::Cancelled, second, |_| spin(1));
        let run = |o: &Options| twice_batched_with(&[1, 3], &[3, 60], o).unwrap();
        only(&how, cancelled_with_results(1, &options, run), FaultKind::Cancelled, second, |_| twice(1, 3));
        let run = |o: &Options| calls::outer_batched_with(&[1, 3], o).unwrap();
        only(&how, cancelled_with_results(1, &options, run), FaultKind::Cancelled, second, |_| {
            calls::outer(1)
        });
    }
}

#[test]
fn members_of_scalar_code_end_too() {
    for executor in [Executor::Auto, Executor::Scalar] {
        let options = Options::default().executor(executor).threads(1);
        let run = |o: &Options| recursion_per_member_batched_with(&[1, 2], &[3, 60], o).unwrap();
        let outcome = cancelled_with_results(1, &options, run);
        let scalar = |_: usize| recursion_per_member(1, 3);
        only(&format!("{executor:?}"), outcome, FaultKind::Cancelled, |member| member == 1, scalar);
    }
}

/// Scalar code that runs per member, and holds a lock for longer than it may run at a time.
#[autobatch]
fn locks(n: u64, turns: u64, lock: &Mutex<u64>) -> u64 {
    let values = vec![n, 2];
    let lent = values.iter();
    let (mut sum, mut i) = (0u64, 0);
    while i < turns {
        let held = (i < 2).then(|| lock.lock().unwrap_or_else(PoisonError::into_inner));
        for _ in 0..20_000u32 {
            sum = lent.clone().fold(sum, |sum, value| sum.wrapping_mul(3) ^ value);
        }
        held.into_iter().for_each(|mut held| *held += 1);
        i = i.saturating_add(1);
    }
    sum
}

#[test]
fn scalar_code_loses_nobody_when_it_is_cancelled() {
    let third = |member: usize| member % 10 == 3;
    let turns: Vec<u64> = (0..150).map(|m| if third(m) { u64::MAX } else { m as u64 % 50 }).collect();
    let n: Vec<u64> = (0..150).collect();
    let finite = (0..n.len()).filter(|member| !third(*member)).count();
    for executor in ALL {
        for threads in [1, 2] {
            let options = Options::default().executor(executor).threads(threads);
            let how = format!("{executor:?}, {threads} threads");
            let run = |o: &Options| loop_per_member_batched_with(&n, &turns, o).unwrap();
            let outcome = cancelled_after(finite, &options, run);
            only(&how, outcome, FaultKind::Cancelled, third, |m| loop_per_member(n[m], turns[m]));
        }
    }
}

#[test]
fn members_that_wait_let_others_have_what_they_hold() {
    let third = |member: usize| member % 10 == 3;
    let turns: Vec<u64> = (0..30).map(|m| if third(m) { u64::MAX } else { 1 + m as u64 % 3 }).collect();
    let n: Vec<u64> = (0..30).collect();
    for executor in ALL {
        let options = Options::default().executor(executor).threads(2);
        let lock = Mutex::new(0);
        let run = |o: &Options| locks_batched_with(&n, &turns, &lock, o).unwrap();
        let outcome = cancelled_after(27, &options, run);
        let alone = Mutex::new(0);
        let scalar = |m: usize| locks(n[m], turns[m], &alone);
        only(&format!("{executor:?}"), outcome, FaultKind::Cancelled, third, scalar);
    }
}
