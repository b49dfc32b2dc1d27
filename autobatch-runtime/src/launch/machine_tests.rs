//! Runs a program with one loop through both batching executors, its body written by hand as the
//! compiler would.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::run::run;
use super::tests::ways;
use crate::api::column::{Column, Source};
use crate::api::fault::FaultKind;
use crate::api::options::CancelToken;
use crate::api::options::{Defaults, Executor, Options};
use crate::api::outcome::Outcome;
use crate::api::output::Out;
use crate::api::program::{Block, Function, Group, Program};
use crate::machine::Core;
use crate::machine::Step;
use crate::simd::Isa;
use crate::storage::Store;
use crate::storage::{self, Slots};

const W: usize = 16;

/// `while n != 1 { n = …; steps += 1 }`: block 0 returns to itself or to the return point, 1.
static COLLATZ: Program = Program {
    name: "collatz",
    functions: &[Function { name: "collatz", group: 0, recursive: false }],
    blocks: &[Block {
        function: 0,
        label: "while",
        line: 1,
        successors: &[0, 1],
        again: true,
        primitive: false,
        step: true,
    }],
    groups: &[Group { functions: &[0], ret: 1 }],
    word64: true,
    strip: W,
    ..Program::EMPTY
};

fn next(n: u64) -> u64 {
    assert!(n != 0, "no zeros");
    if n.is_multiple_of(2) { n / 2 } else { n.checked_mul(3).expect("a small number") + 1 }
}

fn collatz(n: u64) -> u64 {
    let (mut n, mut steps) = (n, 0);
    while n != 1 {
        n = next(n);
        steps += 1;
    }
    steps
}

fn body(
    source: &impl Source<u64>,
    next: impl Fn(u64) -> u64,
    core: &mut Core<'_>,
    store: &Store,
    out: &Out<'_, u64>,
) {
    let mut n = store.column::<u64>(0);
    let mut steps = store.column::<u64>(1);
    loop {
        match core.next() {
            Step::Load => {
                core.load(|lane, member| {
                    let value = source.get(member);
                    n.put(lane, value);
                    steps.put(lane, 0);
                });
            }
            Step::Block(0) => {
                for i in 0..core.strips() {
                    let at = core.strip(i);
                    let (mut n, mut steps) = (n.edit::<W>(at).open_rows(), steps.edit::<W>(at).open_rows());
                    let (n, steps) = (n.lanes(), steps.lanes());
                    core.open::<u64, W>(i).repeat(0, |l, here, stay| {
                        let (n0, steps0) = (n.bits(l), steps.bits(l));
                        let (word, n1, steps1) = if here {
                            'lane: {
                                let (value, count) = (n.take(l, &n0), steps.take(l, &steps0));
                                if value != 1 {
                                    let value = next(value);
                                    break 'lane (0, n.leave(l, value), steps.leave(l, count + 1));
                                }
                                break 'lane (1, n0, steps.leave(l, count));
                            }
                        } else {
                            (stay, n0, steps0)
                        };
                        n.settle(l, n1);
                        steps.settle(l, steps1);
                        storage::next(word)
                    });
                }
            }
            Step::Store => out.receive(core.stores(), &mut steps),
            Step::Compact => {
                let transfer = core.transfer();
                transfer.compact(&mut n);
                transfer.compact(&mut steps);
            }
            // Numbers own nothing.
            Step::Abandon => core.abandoned().for_each(drop),
            Step::Done => break,
            step => core.unexpected(step),
        }
    }
}

fn batched(n: &[u64], options: &Options) -> Outcome<u64> {
    let source = Column::<u64>::into_source(n, "n").unwrap();
    let lens = [("n", source.len())];
    let scalar = |member, _| collatz(source.get(member));
    let tile = |core: &mut Core<'_>, store: &Store, out: &Out<'_, u64>| body(&source, next, core, store, out);
    run(&COLLATZ, Defaults::NONE, options, &lens, ways(scalar, tile)).unwrap()
}

const BOTH: [Executor; 2] = [Executor::Masked, Executor::ProgramCounter];

#[test]
fn every_executor_gives_the_scalar_results() {
    for members in [0, 1, 97, 3000] {
        let n: Vec<u64> = (1..=members).collect();
        let want: Vec<u64> = n.iter().map(|&n| collatz(n)).collect();
        for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto] {
            for (threads, lanes) in [(1, 1), (1, 64), (2, 16), (3, 1000)] {
                let options = Options::default().executor(executor).threads(threads).lanes(lanes);
                assert_eq!(
                    batched(&n, &options).into_values().unwrap(),
                    want,
                    "{executor:?} {threads} {lanes}"
                );
                let options = options.refill(false).isa(Isa::Baseline);
                assert_eq!(
                    batched(&n, &options).into_values().unwrap(),
                    want,
                    "{executor:?} {threads} {lanes}"
                );
            }
        }
    }
}

#[test]
fn faulty_members_end_alone() {
    let mut n: Vec<u64> = (1..=500).collect();
    n[99] = 0;
    n[300] = u64::MAX;
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto] {
        for threads in [1, 2] {
            let outcome = batched(&n, &Options::default().executor(executor).threads(threads).lanes(64));
            let seen: Vec<_> =
                outcome.faults().iter().map(|f| (f.member, f.kind, f.message.as_str())).collect();
            assert_eq!(seen, [(99, FaultKind::Panic, "no zeros"), (300, FaultKind::Panic, "a small number")]);
            for (member, result) in outcome.into_results().into_iter().enumerate() {
                match result {
                    Ok(steps) => assert_eq!(steps, collatz(n[member])),
                    Err(fault) => assert_eq!(fault.member, member),
                }
            }
        }
    }
}

#[test]
fn steps_are_limited_per_member() {
    let n: Vec<u64> = (1..=200).collect();
    for executor in BOTH {
        let options = Options::default().executor(executor).threads(2).lanes(32).max_steps(50);
        for (member, result) in batched(&n, &options).into_results().into_iter().enumerate() {
            // Every round of the loop is a step, and so is the round that leaves it.
            match collatz(n[member]) {
                steps if steps < 50 => assert_eq!(result, Ok(steps)),
                _ => assert_eq!(result.unwrap_err().kind, FaultKind::StepsExceeded),
            }
        }
    }
}

#[test]
fn cancelling_ends_endless_members() {
    for executor in BOTH {
        for threads in [1, 2] {
            let token = CancelToken::new();
            let n = vec![2u64; 100];
            let source = Column::<u64>::into_source(&n[..], "n").unwrap();
            let rounds = AtomicUsize::new(0);
            let endless = |value: u64| {
                if rounds.fetch_add(1, Ordering::Relaxed) == 10_000 {
                    token.cancel();
                }
                value
            };
            let tile = |core: &mut Core<'_>, store: &Store, out: &Out<'_, u64>| {
                body(&source, endless, core, store, out)
            };
            let options = Options::default().executor(executor).threads(threads).lanes(16).cancel(&token);
            let outcome =
                run(&COLLATZ, Defaults::NONE, &options, &[("n", Some(100))], ways(|_, _| 0, tile)).unwrap();
            assert_eq!(outcome.faults().len(), 100);
            assert!(outcome.faults().iter().all(|fault| fault.kind == FaultKind::Cancelled));
        }
    }
}

#[test]
fn progress_counts_values_and_faults() {
    let mut n: Vec<u64> = (1..=1000).collect();
    n[5] = 0;
    for executor in BOTH {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let calls = Arc::clone(&seen);
        let options = Options::default().executor(executor).threads(2).lanes(64);
        batched(&n, &options.progress(move |p| calls.lock().unwrap().push(p.done)));
        let seen = seen.lock().unwrap();
        assert_eq!(seen.iter().filter(|done| **done == 1000).count(), 1, "{seen:?}");
    }
}

#[test]
fn reports_count_blocks() {
    let n: Vec<u64> = (1..=400).collect();
    let rounds = n.iter().map(|&n| collatz(n) + 1);
    for executor in BOTH {
        let options = Options::default().executor(executor).threads(1).lanes(64).count_blocks(true);
        let outcome = batched(&n, &options);
        let report = outcome.report();
        assert_eq!((report.executor, report.members, report.threads), (executor, 400, 1));
        let [block] = &report.blocks[..] else { panic!("one block") };
        assert_eq!((block.function, block.label), ("collatz", "while"));
        assert_eq!(block.active, rounds.clone().sum::<u64>());
        assert_eq!(block.lower_bound, rounds.clone().max().unwrap());
        assert!(block.executions >= block.lower_bound && block.offered >= block.active);
        assert!(report.refills > 0, "400 members on 64 lanes");
        assert!(batched(&n, &options.count_blocks(false)).report().blocks.is_empty());
    }
}
