use std::sync::Mutex;
use std::time::Duration;

use super::super::launcher::Launch;
use super::super::phase::{Parts, Took, members_in};
use super::super::tests::SCALAR;
use crate::api::options::{CancelToken, Defaults, Executor, Options, Schedule};
use crate::api::program::{Call, Program};

static PLAIN: Program = Program { whole_scalar: false, ..SCALAR };
static RECURSIVE: Program = Program { whole_scalar: false, recursive: true, ..SCALAR };
static CALLING: Program = Program {
    whole_scalar: false,
    calls: &[Call { function: 0, callee: 0, group: 0, entry: 0, cont: 0, line: 0, recursive: false }],
    ..SCALAR
};

/// Runs a batch by `Auto` with executors that take so many microseconds per phase and per member, the
/// scalar one first, then both machines, on a clock of their own; the choice, and who ran how many members.
fn chosen(
    launch: &Launch<'_>,
    instance: Option<&'static str>,
    costs: [(f64, f64); 2],
) -> (Executor, [usize; 2]) {
    let cost = |machine: usize, _, members| {
        let (phase, member) = costs[machine];
        phase + member * members as f64
    };
    chosen_by(launch, instance, &cost)
}

/// The same, where a phase takes so long for a machine or not, members of its kind that have run before, and members.
fn chosen_by(
    launch: &Launch<'_>,
    instance: Option<&'static str>,
    cost: &(dyn Fn(usize, usize, usize) -> f64 + Sync),
) -> (Executor, [usize; 2]) {
    let tried = Mutex::new((vec![false; launch.members], [0, 0]));
    let best = launch.autotune(instance, &|executor, parts, _| {
        let machine = usize::from(executor != Executor::Scalar);
        let mut tried = tried.lock().unwrap();
        let time = cost(machine, tried.1[machine], members_in(&parts));
        let time = Duration::from_nanos((time * 1e3) as u64);
        tried.1[machine] += members_in(&parts);
        for member in parts.into_iter().flatten() {
            assert!(!std::mem::replace(&mut tried.0[member], true), "member {member} runs once");
        }
        Took { work: time, wall: time }
    });
    let (ran, counts) = tried.into_inner().unwrap();
    assert!(ran.into_iter().all(|ran| ran), "every member runs");
    (best, counts)
}

fn launch<'a>(
    program: &'static Program,
    defaults: Defaults,
    options: &'a Options,
    members: usize,
) -> Launch<'a> {
    Launch::new(program, defaults, options, members)
}

const SIZES: [usize; 8] = [1, 2, 5, 63, 64, 100, 1000, 5000];

#[test]
fn auto_never_takes_the_scalar_code_where_it_would_show() {
    let plain = Options::default().threads(1);
    let token = CancelToken::new();
    let native = Defaults { native_depth: true, ..Defaults::NONE };
    for members in SIZES {
        let scalar = |program, defaults, options: &Options| {
            chosen(&launch(program, defaults, options, members), None, [(0.0, 0.0), (1.0, 0.1)]).1[0]
        };
        for (program, defaults, options) in [
            (&PLAIN, Defaults::NONE, plain.clone().max_steps(9)),
            (&PLAIN, Defaults::NONE, plain.clone().cancel(&token)),
            (&RECURSIVE, native, plain.clone()),
            (&CALLING, native, plain.clone().max_depth(9)),
        ] {
            assert_eq!(scalar(program, defaults, &options), 0);
        }
        assert!(scalar(&RECURSIVE, Defaults::NONE, &plain.clone().max_depth(9)) > 0);
        assert!(scalar(&PLAIN, native, &plain) > 0, "without calls there is no depth");
    }
}

#[test]
fn auto_takes_the_faster_and_gives_the_slower_few() {
    let options = Options::default().threads(1);
    for program in [&PLAIN, &RECURSIVE] {
        for members in SIZES {
            let launch = launch(program, Defaults::NONE, &options, members);
            // A machine that is far behind runs next to nothing.
            let (best, [_, machine]) = chosen(&launch, None, [(0.0, 0.5), (10.0, 10.0)]);
            assert_eq!(best, Executor::Scalar);
            let few = if program.recursive { 22 } else { 256.min(members / 8) };
            assert!(machine <= few, "{machine} of {members}");
            // One that is ahead is found where there are enough members.
            let (best, [scalar, _]) = chosen(&launch, None, [(0.0, 5.0), (1.0, 0.5)]);
            if members >= if program.recursive { 256 } else { 64 } {
                assert_ne!(best, Executor::Scalar);
                assert!(scalar <= 2 + members / 4, "{scalar} of {members}");
            } else {
                assert_eq!(best, Executor::Scalar);
            }
        }
    }
}

#[test]
fn what_costs_less_than_a_machine_to_set_up_is_not_tried_at_once() {
    let options = Options::default().threads(1);
    for program in [&PLAIN, &RECURSIVE] {
        let launch = launch(program, Defaults::NONE, &options, 100);
        let name: &'static str = format!("set up {}", program.recursive).leak();
        // Ten microseconds in all, a quarter of which may be lost.
        let machine: Vec<usize> =
            (0..12).map(|_| chosen(&launch, Some(name), [(0.0, 0.1), (0.0, 0.01)]).1[1]).collect();
        assert_eq!(machine[..3], [0; 3], "{machine:?}");
        assert!(machine[11] >= 80, "{machine:?}");
    }
}

#[test]
fn trials_become_rare() {
    let options = Options::default().threads(1);
    let launch = launch(&PLAIN, Defaults::NONE, &options, 2000);
    let runs = |costs| (0..40).map(|_| chosen(&launch, Some("rare"), costs).1).collect::<Vec<_>>();
    let pure = |runs: &[[usize; 2]], of: usize| runs.iter().filter(|counts| counts[1 - of] == 0).count();
    let slow_machine = runs([(0.0, 0.2), (5.0, 1.0)]);
    assert!(pure(&slow_machine, 0) >= 33, "{slow_machine:?}");
    // Members that take far longer than before are a reason to try again.
    let slow_scalar = runs([(0.0, 8.0), (5.0, 0.2)]);
    assert!(pure(&slow_scalar, 1) >= 30, "{slow_scalar:?}");
}

#[test]
fn what_was_found_holds_for_runs_of_its_kind_only() {
    let plain = Options::default().threads(1);
    let (slow, fast) = ([(0.0, 0.2), (5.0, 1.0)], [(0.0, 0.2), (5.0, 0.02)]);
    // Machines that keep counts, or run otherwise, cost something else.
    for (name, other) in [
        ("with a report", plain.clone().count_blocks(true)),
        ("without refill", plain.clone().refill(false)),
        ("another schedule", plain.clone().schedule(Schedule::EarliestBlock)),
        ("other lanes", plain.clone().lanes(40)),
    ] {
        let run = |options, costs| {
            chosen(&launch(&PLAIN, Defaults::NONE, options, 2000), Some(name), costs).0 == Executor::Scalar
        };
        let found = (0..20).map(|_| run(&other, slow)).filter(|scalar| *scalar).count();
        assert_eq!(found, 20, "{name}");
        assert!(!run(&plain, fast), "{name}");
        assert!(run(&other, slow), "{name}: what was found is kept");
    }
}

/// Runs a batch on a clock on which `cost` says the microseconds of a phase, on one thread and on any number of them; the
/// microseconds of the run.
fn time(launch: &Launch<'_>, instance: &'static str, cost: impl Fn(bool, usize) -> f64 + Sync) -> f64 {
    let sum = Mutex::new(0.0);
    launch.autotune(Some(instance), &|executor, parts, _| {
        let time = cost(executor != Executor::Scalar, members_in(&parts));
        *sum.lock().unwrap() += time;
        let time = Duration::from_nanos((1e3 * time) as u64);
        Took { work: time, wall: time }
    });
    sum.into_inner().unwrap()
}

#[test]
fn trials_lose_a_small_part_of_the_time() {
    let options = Options::default().threads(1);
    for (program, instance) in [(&PLAIN, "plain"), (&RECURSIVE, "recursive")] {
        for (members, part) in [(64, 0.3), (300, 0.3), (4096, 0.08), (100_000, 0.08)] {
            // The machine is behind by what a trial does not see at once.
            for slow in [1.2, 2.5, 4.0, 9.0] {
                let launch = launch(program, Defaults::NONE, &options, members);
                let name: &'static str = format!("{instance} {slow}").leak();
                let runs = 30;
                let cost = |machine: bool, n: usize| n as f64 * if machine { slow } else { 1.0 };
                let all: f64 = (0..runs).map(|_| time(&launch, name, cost)).sum();
                let best = (runs * members) as f64;
                assert!(all < best * (1.0 + part), "{name}, {members} members: {all} of {best}");
            }
        }
    }
}

#[test]
fn whole_runs_correct_what_trials_say() {
    let options = Options::default().threads(1);
    for members in [1000, 20_000] {
        let launch = launch(&PLAIN, Defaults::NONE, &options, members);
        // The machine is ahead on few members and behind on many.
        let cost = |machine: bool, n: usize| {
            n as f64 * if machine { if 4 * n < members { 0.5 } else { 2.0 } } else { 1.0 }
        };
        let name: &'static str = format!("whole {members}").leak();
        let all: f64 = (0..100).map(|_| time(&launch, name, cost)).sum();
        assert!(all < 1.15 * (100 * members) as f64, "{all}");
    }
}

#[test]
fn an_unlucky_trial_is_contradicted_soon() {
    let options = Options::default().threads(1);
    for (program, members) in [(&PLAIN, 4096), (&PLAIN, 400_000), (&RECURSIVE, 40_000)] {
        let launch = launch(program, Defaults::NONE, &options, members);
        let name: &'static str = format!("unlucky {members}").leak();
        // Another program is in the way of the machine in the first run.
        let mut times = Vec::new();
        for n in 0..20 {
            let late = if n == 0 { 30.0 } else { 1.0 };
            times.push(time(&launch, name, |machine, n| n as f64 * if machine { 0.3 * late } else { 1.0 }));
        }
        let soon = times.iter().position(|time| *time < 0.5 * members as f64);
        assert!(soon.is_some_and(|soon| soon <= 6), "{members} members: {times:?}");
    }
}

#[test]
fn each_executor_is_found_where_it_is_ahead() {
    let options = Options::default().threads(1);
    let launch = launch(&RECURSIVE, Defaults::NONE, &options, 40_000);
    for costs in [[1.0, 0.8, 0.5], [1.0, 1.05, 0.7], [1.0, 0.7, 2.0], [1.0, 3.0, 6.0]] {
        let instance: &'static str = format!("found {costs:?}").leak();
        let phase = |executor: Executor, parts: Parts, _: usize| {
            let cost = match executor {
                Executor::ProgramCounter => 40.0 + costs[2] * members_in(&parts) as f64,
                Executor::Masked => costs[1] * members_in(&parts) as f64,
                _ => costs[0] * members_in(&parts) as f64,
            };
            let time = Duration::from_nanos((1e3 * cost) as u64);
            Took { work: time, wall: time }
        };
        let chosen: Vec<_> = (0..60).map(|_| launch.autotune(Some(instance), &phase)).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let best = [Executor::Scalar, Executor::Masked, Executor::ProgramCounter]
            [costs.iter().position(|cost| *cost == least).unwrap()];
        let hits = chosen[30..].iter().filter(|executor| **executor == best).count();
        assert!(hits >= 25, "{costs:?}: {chosen:?}");
    }
}

#[test]
fn frames_that_gain_by_their_width_are_found() {
    let options = Options::default().threads(1);
    let launch = launch(&RECURSIVE, Defaults::NONE, &options, 4096);
    // Few lanes run as scalar code. At the last trial frames are behind by a fifth, in whole runs ahead by a third.
    let cost = |machine: bool, members: usize| match machine {
        false => members as f64,
        true if members < 256 => 1.5 * members as f64,
        true => 350.0 + 0.51 * members as f64,
    };
    let runs: Vec<f64> = (0..40).map(|_| time(&launch, "wide", cost)).collect();
    assert!(runs[30..].iter().filter(|run| **run < 3000.0).count() >= 9, "{runs:?}");
}

/// Trials of a search that can't be afforded at once go on in the next runs: they were made after 1, 2, 4, 8, … runs.
#[test]
fn a_search_goes_on_until_it_has_an_end() {
    let options = Options::default().threads(1);
    let launch = launch(&RECURSIVE, Defaults::NONE, &options, 1500);
    // As measured for Fibonacci's numbers: a member costs 4.3 µs in scalar code, 6.4 µs in narrow frames.
    let cost = |machine: bool, members: usize| match machine {
        false => 4.3 * members as f64,
        true if members < 256 => 6.4 * members as f64,
        true => 0.9 * members as f64,
    };
    let runs: Vec<f64> = (0..12).map(|_| time(&launch, "search", cost)).collect();
    assert!(runs[7..].iter().all(|run| *run < 0.5 * 4.3 * 1500.0), "{runs:?}");
}

/// The first members of scalar code find cold memory. That is not what it costs.
#[test]
fn cold_code_is_not_taken_at_its_word() {
    for threads in [1, 2] {
        let options = Options::default().threads(threads);
        let launch = launch(&PLAIN, Defaults::NONE, &options, 1 << 20);
        let cost = |machine: usize, before: usize, members: usize| match machine {
            0 => 1.0 + 3.0 * members.min(5_usize.saturating_sub(before)) as f64 + 0.04 * members as f64,
            _ => 1.0 + 0.08 * members as f64,
        };
        let (best, [scalar, machine]) = chosen_by(&launch, None, &cost);
        assert_eq!(best, Executor::Scalar, "{threads} threads: {scalar} members, {machine} by the machine");
        // One that is ahead is found all the same.
        let cost = |machine: usize, before: usize, members: usize| match machine {
            0 => cost(0, before, members),
            _ => 1.0 + 0.01 * members as f64,
        };
        let (best, [scalar, _]) = chosen_by(&launch, None, &cost);
        assert_ne!(best, Executor::Scalar);
        assert!(scalar < (1 << 20) / 2, "{threads} threads: {scalar}");
    }
}

/// A machine's first whole run finds cold memory: more lanes than its trials had.
#[test]
fn cold_lanes_are_not_taken_at_their_word() {
    let options = Options::default().threads(1);
    for members in [4096, 8000] {
        let launch = launch(&PLAIN, Defaults::NONE, &options, members);
        let warm = Mutex::new(512);
        let cost = |machine: bool, n: usize| {
            let mut warm = warm.lock().unwrap();
            let cold = if machine { n.saturating_sub(*warm) } else { 0 };
            *warm += cold;
            0.12 * cold as f64 + n as f64 * if machine { 0.03 } else { 0.07 }
        };
        let name: &'static str = format!("cold lanes {members}").leak();
        let times: Vec<f64> = (0..6).map(|_| time(&launch, name, cost)).collect();
        assert!(times[3..].iter().all(|time| *time < 0.04 * members as f64), "{members} members: {times:?}");
    }
}

/// Whole runs of other data say nothing against a trial of both on these.
#[test]
fn data_that_take_longer_are_not_compared_with_earlier_ones() {
    let options = Options::default().threads(1);
    let launch = launch(&PLAIN, Defaults::NONE, &options, 20_000);
    let run = |costs| chosen(&launch, Some("other data"), costs).0;
    let before: Vec<Executor> = (0..3).map(|_| run([(0.0, 1.0), (1.0, 0.4)])).collect();
    assert_eq!(before, [Executor::Masked; 3]);
    let after: Vec<Executor> = (0..12).map(|_| run([(0.0, 0.6), (1.0, 1.2)])).collect();
    assert_eq!(after[4..], [Executor::Scalar; 8], "{after:?}");
}
