//! Scalar code counts its depth: members of the scalar executor, and of functions that run per member, need no native stack,
//! end at the same depth as in the machine, and are otherwise the function as written.

#![allow(clippy::needless_return, clippy::never_loop, clippy::manual_is_multiple_of)] // written as users write
#![allow(
    clippy::let_and_return,
    clippy::needless_borrows_for_generic_args,
    clippy::toplevel_ref_arg,
    clippy::useless_vec
)]

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::thread;

use crate::common::{agree_at, executors};
use autobatch::{Executor, Fault, FaultKind, Options, Outcome, autobatch, same};

fn scalar() -> Options {
    Options::default().executor(Executor::Scalar)
}

/// Runs a test on the calling thread, on one with a stack of 2 MiB, and on a tiny one.
fn on_small_stacks(test: impl Fn() + Send + Sync) {
    test();
    for kib in [2048, 160] {
        thread::scope(|scope| {
            let small = thread::Builder::new().stack_size(kib << 10);
            small.spawn_scoped(scope, &test).unwrap().join().unwrap();
        });
    }
}

#[autobatch(strict)]
fn sum(n: u64, step: u64) -> u64 {
    if n == 0 { 0 } else { n + sum(n - step, step) }
}

#[autobatch(strict)]
mod mutual {
    pub(crate) fn down(n: u64) -> u64 {
        if n == 0 { 0 } else { 1 + over(n - 1) }
    }
    pub(crate) fn over(n: u64) -> u64 {
        if n == 0 { 7 } else { down(n - 1) + 1 }
    }
    pub(crate) fn even(n: u64) -> bool {
        if n == 0 { true } else { odd(n - 1) }
    }
    fn odd(n: u64) -> bool {
        n != 0 && even(n - 1)
    }
}

struct Tree {
    weight: u64,
}

#[autobatch(strict)]
impl Tree {
    pub(crate) fn walk(&self, n: u64) -> u64 {
        if n == 0 { self.weight } else { 1 + self.walk(n - 1) }
    }
    pub(crate) fn hop(&self, n: u64) -> u64 {
        if n < 2 { Self::skip(n, self.weight) } else { self.hop(n - 2) + 1 }
    }
    fn skip(n: u64, by: u64) -> u64 {
        if n == 0 { by } else { Tree::skip(n - 1, by) + 1 }
    }
}

#[test]
fn a_million_deep_on_small_stacks() {
    let n = [2, 1_000_000, 0, 1_000_001];
    let ones = |outcome: Outcome<u64>| outcome.into_values().unwrap();
    on_small_stacks(|| {
        let options = scalar().threads(1);
        let sums = ones(sum_batched_with(&n, same(1), &options).unwrap());
        assert_eq!(sums, n.map(|n| n * (n + 1) / 2));
        let steps = ones(mutual::down_batched_with(&n, &options).unwrap());
        assert_eq!(steps, n.map(|n| n + 7 * (n % 2)));
        let even = mutual::even_batched_with(&n, &options).unwrap().into_values().unwrap();
        assert_eq!(even, n.map(|n| n % 2 == 0));
        let tree = Tree { weight: 3 };
        assert_eq!(ones(tree.walk_batched_with(&n, &options).unwrap()), n.map(|n| n + 3));
        assert_eq!(ones(tree.hop_batched_with(&n, &options).unwrap()), n.map(|n| n / 2 + n % 2 + 3));
    });
}

#[test]
fn a_million_deep_in_a_pool() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).stack_size(2 << 20).build().unwrap();
    let n: Vec<u64> = (0..40).map(|i| if i % 8 == 3 { 1_000_000 } else { i }).collect();
    let outcome = sum_batched_with(&n, same(1), &scalar().pool(pool)).unwrap();
    assert_eq!(outcome.into_values().unwrap(), n.iter().map(|n| n * (n + 1) / 2).collect::<Vec<_>>());
}

/// Every executor ends the same members, with the same words.
fn same_faults<R: PartialEq + Debug>(depth: usize, run: impl Fn(&Options) -> Outcome<R>) -> Vec<Fault> {
    let wanted = run(&Options::default().executor(Executor::ProgramCounter).max_depth(depth));
    let faults = wanted.faults().to_vec();
    let wanted = wanted.into_results();
    for (how, options) in executors() {
        for threads in [1, 3] {
            let found = run(&options.clone().max_depth(depth).threads(threads)).into_results();
            assert_eq!(found, wanted, "{how}, {threads} threads, depth {depth}");
        }
    }
    faults
}

#[autobatch(strict)]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

#[autobatch(strict)]
fn ack(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ack(m - 1, 1),
        (m, n) => ack(m - 1, ack(m, n - 1)),
    }
}

/// Tail calls out of loops, labelled blocks and `return`s, and calls that only look like them.
#[autobatch(strict)]
fn tails(n: u32, kind: u32) -> u32 {
    if n == 0 {
        return kind;
    }
    match kind % 6 {
        0 => return tails(n - 1, kind),
        1 => loop {
            if n % 2 == 0 {
                break tails(n - 1, kind);
            }
            return tails(n - 1, kind);
        },
        2 => {
            let value = tails(n - 1, kind);
            value
        }
        3 => {
            let label = 'block: {
                if n == 2 {
                    break 'block tails(n - 1, kind);
                }
                tails(n / 2, kind)
            };
            label
        }
        4 => 1 + tails(n - 1, kind),
        _ => {
            if n > 3 {
                tails(n - 1, kind)
            } else {
                let last = tails(n - 1, kind);
                last + 1
            }
        }
    }
}

/// Tail calls of the function itself beside a call that is none: out of loops and `return`s, with parameters that change
/// places and hide each other.
#[autobatch(strict)]
fn rounds(mut n: u32, other: u32, at: f32) -> u32 {
    if n == 0 {
        return other;
    }
    while n % 3 > 0 {
        if n % 5 == 4 {
            return rounds(n - 1, n, -at);
        }
        n -= 1;
    }
    match n % 4 {
        0 => rounds(n / 2, rounds(n / 3, other + 1, at), at + 1.0),
        1 if at > 1.5 => n + other,
        _ => {
            let n = n.max(1) - 1;
            rounds(n, (n + other) % 50, at * 0.5)
        }
    }
}

#[test]
fn tail_calls_beside_others_are_loops() {
    let n: Vec<u32> = (0..300).collect();
    let at = |n: u32| n as f32 * 0.01;
    let ats = |ns: &[u32]| ns.iter().map(|n| at(*n)).collect::<Vec<_>>();
    agree_at(
        &[0, 1, 20, 300],
        &n,
        |n| rounds(*n, 3, at(*n)),
        |n, o| rounds_batched_with(n, same(3), &ats(n), o),
    );
    for depth in [0, 1, 2, 3] {
        same_faults(depth, |o| rounds_batched_with(&n, same(3), &ats(&n), o).unwrap());
    }
    on_small_stacks(|| {
        let outcome = rounds_batched_with(&[3_000_001], same(3), &[0.0], &scalar()).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [rounds(3_000_001, 3, 0.0)]);
    });
}

#[test]
fn the_same_members_are_too_deep_in_every_executor() {
    let n: Vec<u64> = (0..24).collect();
    let kinds: Vec<u32> = (0..120).map(|i| i % 6).collect();
    let ns: Vec<u32> = (0..120).map(|i| i / 6).collect();
    for depth in [0, 1, 2, 3, 7, 11, 19] {
        let faults = same_faults(depth, |o| fib_batched_with(&n, o).unwrap());
        let too_deep: Vec<usize> = faults.iter().map(|f| f.member).collect();
        assert_eq!(too_deep, (depth + 2..24).collect::<Vec<_>>());
        assert!(faults.iter().all(|f| f.kind == FaultKind::DepthExceeded));
        assert!(faults.iter().all(|f| f.message == format!("more than {depth} nested calls")));
        same_faults(depth, |o| ack_batched_with(same(2), &n, o).unwrap());
        same_faults(depth, |o| tails_batched_with(&ns, &kinds, o).unwrap());
        same_faults(depth, |o| mutual::down_batched_with(&n, o).unwrap());
        same_faults(depth, |o| mutual::even_batched_with(&n, o).unwrap());
        let tree = Tree { weight: 3 };
        same_faults(depth, |o| tree.hop_batched_with(&n, o).unwrap());
    }
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

#[derive(Debug)]
struct Counted(u32);

impl Counted {
    fn new(n: u32) -> Counted {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Counted(n)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[autobatch]
fn dive(n: u32, held: Counted, end: u32) -> Result<Counted, u32> {
    let mine = Counted::new(n);
    if n == 0 {
        assert!(end != 1, "the bottom of {}", held.0);
        return if end == 2 { Err(held.0) } else { Ok(mine) };
    }
    let below = dive(n - 1, held.clone(), end)?;
    drop(held);
    Ok(Counted::new(below.0 + mine.0))
}

#[test]
fn panics_deep_down_are_faults_and_everything_is_dropped() {
    let n = [60_000, 2, 50_000, 3, 70_000, 0];
    let end = [1, 1, 2, 2, 0, 0];
    for (depth, too_deep) in [(1_000_000, false), (40_000, true)] {
        let held: Vec<Counted> = (0..6).map(Counted::new).collect();
        let options = scalar().threads(1).max_depth(depth);
        let outcome = dive_batched_with(&n, held, &end, &options).unwrap();
        let results = outcome.into_results();
        let fault = |member: usize| results[member].as_ref().unwrap_err();
        assert_eq!((fault(1).kind, &*fault(1).message), (FaultKind::Panic, "the bottom of 1"));
        assert_eq!(results[3].as_ref().unwrap().as_ref().unwrap_err(), &3);
        if too_deep {
            for member in [0, 2, 4] {
                assert_eq!(fault(member).kind, FaultKind::DepthExceeded);
                assert_eq!(fault(member).message, "more than 40000 nested calls");
            }
        } else {
            assert_eq!((fault(0).kind, &*fault(0).message), (FaultKind::Panic, "the bottom of 0"));
            assert_eq!(results[2].as_ref().unwrap().as_ref().unwrap_err(), &2);
            assert!(results[4].is_ok());
        }
        drop(results);
        assert_eq!(ALIVE.load(Ordering::SeqCst), 0);
    }
}

/// Falls back as a whole: what the loop goes over may borrow a local that is moved behind it.
#[autobatch]
fn fallen(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let values = vec![n as u8 | 1, 3];
    let mut sum = n % 7;
    for value in values.escape_ascii().take(1) {
        sum += fallen(n - 1) % 1000 + u64::from(value);
    }
    let last = values;
    sum + u64::from(last[0])
}

#[test]
fn per_member_programs_are_deep_and_limited_too() {
    let program = fallen_batched::program();
    assert!(program.whole_scalar || program.asks);
    on_small_stacks(|| {
        let outcome = fallen_batched_with(&[5, 400_000, 0], &Options::default().threads(1)).unwrap();
        let values = outcome.into_values().unwrap();
        assert_eq!((values[0], values[2]), (fallen(5), 1));
        let outcome = fallen_batched_with(&[5, 400_000, 0], &Options::default().max_depth(6)).unwrap();
        assert_eq!(outcome.faults().len(), 1);
        let fault = &outcome.faults()[0];
        assert_eq!((fault.member, fault.kind), (1, FaultKind::DepthExceeded));
    });
}

#[autobatch]
fn nested(n: u64, width: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    (0..width).map(|i| if i == 0 { nested(n - 1, width) } else { i }).sum::<u64>() % 1_000_003
}

#[autobatch]
fn stored(n: u64) -> u64 {
    let boxed: Box<dyn Fn(u64) -> u64> = Box::new(|n| stored(n) + 1);
    let plain: fn(u64) -> u64 = |n| stored(n) + 1;
    if n == 0 { 0 } else { [boxed(n - 1), 0].map(|n| n)[0].max(if n % 64 == 0 { plain(n - 1) } else { 0 }) }
}

#[autobatch]
fn joined(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| joined(n - 1), || joined(n - 2));
    a + b
}

#[test]
fn closures_go_deep_wherever_they_run() {
    on_small_stacks(|| {
        let options = scalar().threads(1);
        let outcome = nested_batched_with(&[3, 200_000], same(2), &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [4, 200_001]);
        let outcome = stored_batched_with(&[10], &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [10]);
        let outcome = joined_batched_with(&[3, 12], &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [2, 144]);
    });
    let outcome = nested_batched_with(&[4, 5, 6], same(2), &scalar().max_depth(5)).unwrap();
    assert_eq!(outcome.faults().iter().map(|f| f.member).collect::<Vec<_>>(), [2]);
}

#[autobatch(strict)]
fn generic<T: Copy + Into<u64> + PartialEq, const STEP: u64>(n: u64, x: T) -> u64 {
    if n < STEP { x.into() } else { 1 + generic::<T, STEP>(n - STEP, x) }
}

#[autobatch]
mod helpers {
    fn twice<T: Clone>(x: &T, n: u32, all: &mut Vec<T>) -> usize {
        all.push(x.clone());
        if n == 0 { all.len() } else { twice(x, n - 1, all) + 1 }
    }
    pub(crate) fn grow(n: u32) -> usize {
        let mut all = Vec::new();
        let mut total = 0;
        for i in 0..2 {
            total += twice(&i, n, &mut all);
        }
        total
    }
}

#[test]
fn generic_functions_go_deep() {
    on_small_stacks(|| {
        let options = scalar().threads(1);
        let outcome = generic_batched_with::<u8, 2>(&[5, 600_001], &[9, 8], &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [11, 300_008]);
        let outcome = helpers::grow_batched_with(&[3, 100_000], &options).unwrap();
        assert_eq!(outcome.into_values().unwrap()[0], helpers::grow(3));
    });
}

/// What is evaluated and dropped, in order.
static TRACE: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Noted(&'static str, u32);

impl Drop for Noted {
    fn drop(&mut self) {
        note(&format!("drop {}{}", self.0, self.1));
    }
}

fn note(what: &str) -> u32 {
    TRACE.lock().unwrap().push(what.to_owned());
    1
}

impl Clone for Noted {
    fn clone(&self) -> Noted {
        Noted(self.0, self.1)
    }
}

#[autobatch]
fn traced((a, _): (Noted, Noted), _: Noted, n: u32, mut last: Noted, ref held: Noted) -> u32 {
    let here = Noted("here", n);
    if n == 0 {
        return held.1;
    }
    if last.1 < 5 {
        last = Noted("last", n);
    }
    let args = |name| (Noted(name, n), Noted("unbound", n));
    let below =
        traced(args("pair"), Noted("wild", note("second")), n - note("third"), a, Noted("held", n)) + here.1;
    drop(last);
    below
}

#[test]
fn order_of_evaluation_and_drops_is_that_of_the_function() {
    let args = || ((Noted("a", 9), Noted("b", 9)), Noted("c", 9), Noted("d", 9), Noted("e", 9));
    let trace = || std::mem::take(&mut *TRACE.lock().unwrap());
    let (a, c, d, e) = args();
    let want = traced(a, c, 3, d, e);
    let expected = trace();
    let (a, c, d, e) = args();
    let outcome = traced_batched_with(vec![a], vec![c], vec![3], vec![d], vec![e], &scalar().threads(1));
    assert_eq!(outcome.unwrap().into_values().unwrap(), [want]);
    assert_eq!(trace(), expected);
}

/// Constant positions and attributes.
#[autobatch(strict)]
mod constants {
    #[inline]
    #[must_use]
    const fn size(n: usize) -> usize {
        if n == 0 { 0 } else { 1 + size(n - 1) }
    }
    #[expect(clippy::needless_return, reason = "an expectation is met once")]
    pub(crate) fn room(n: usize) -> usize {
        const FOUR: usize = size(4);
        let cells = [0u8; size(4) + FOUR];
        let more: [u8; size(2)] = [size(1) as u8; size(1) + 1];
        if n > 9 { room(n - 9) } else { return cells.len() + more.len() + size(n) }
    }
}

/// A local of the function's name.
#[autobatch]
fn shadowed(n: u32) -> u32 {
    let shadowed = |n: u32| n + 1;
    if n > 5 { shadowed(n) } else { n }
}

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Its static must not exist twice, so the function has no clone.
#[autobatch]
fn with_static(n: u32) -> u32 {
    static HERE: AtomicU32 = AtomicU32::new(0);
    CALLS.store(HERE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    if n == 0 { 0 } else { with_static(n - 1) + 1 }
}

#[test]
fn constants_statics_and_shadowed_names() {
    let ns: Vec<u32> = (0..9).collect();
    let sizes: Vec<usize> = (0..20).collect();
    agree_at(&[0, 1, 20], &sizes, |n| constants::room(*n), |n, o| constants::room_batched_with(n, o));
    agree_at(&[0, 1, 20], &ns, |n| shadowed(*n), |n, o| shadowed_batched_with(n, o));
    let _ = with_static(4);
    with_static_batched_with(&[2], &scalar()).unwrap().into_values().unwrap();
    assert_eq!(CALLS.load(Ordering::SeqCst), 8);
}

#[test]
fn auto_is_deep_limited_and_equal() {
    let n: Vec<u64> = (0..5000).map(|i| if i % 1000 == 999 { 100_000 } else { i % 9 }).collect();
    let sums = sum_batched(&n, same(1));
    assert!(n.iter().zip(&sums).all(|(n, sum)| *sum == n * (n + 1) / 2));
    for members in [1, 15, 64, 700, 4096] {
        let n: Vec<u64> = (0..members).map(|i| i % 17).collect();
        let outcome = fib_batched_with(&n, &Options::default().max_depth(12)).unwrap();
        for (n, result) in n.iter().zip(outcome.into_results()) {
            match result {
                Ok(value) => assert_eq!(value, fib(*n)),
                Err(fault) => assert!(*n > 13 && fault.kind == FaultKind::DepthExceeded),
            }
        }
    }
}

/// A loop by tail calls that may call a small function.
#[autobatch]
mod last_level {
    pub(crate) fn down(n: u64, at: u64, acc: u64) -> u64 {
        if n == 0 {
            return acc;
        }
        let acc = if n == at { acc ^ few(n % 5) } else { acc.rotate_left(1) };
        if n % 2 == 0 { down(n - 1, at, acc) } else { odd(n - 1, at, acc) }
    }

    fn odd(n: u64, at: u64, acc: u64) -> u64 {
        down(n, at, acc.wrapping_add(1))
    }

    fn few(n: u64) -> u64 {
        if n <= 1 { 1 } else { few(n - 2) + few(n - 1) }
    }
}

#[test]
fn at_the_last_level_tail_calls_still_are_jumps() {
    let inputs = [(9_000, 0), (7, 6), (7, 4), (0, 0), (9_005, 9_004)];
    let (n, at) = (inputs.map(|i| i.0), inputs.map(|i| i.1));
    for (depth, faults) in [(0, &[1, 2, 4][..]), (1, &[2, 4]), (3, &[2, 4]), (4, &[])] {
        let found =
            same_faults(depth, |options| last_level::down_batched_with(&n, &at, same(1), options).unwrap());
        assert_eq!(found.iter().map(|f| f.member).collect::<Vec<_>>(), faults, "depth {depth}");
    }
}

/// A call in tail position is no tail call where it borrows a local: every executor counts it.
#[autobatch]
mod tail_calls_with_borrows {
    pub(super) fn own(n: u64, xs: &[u64]) -> u64 {
        if n == 0 {
            return xs.iter().sum();
        }
        let mine = [n, xs[0]];
        own(n - 1, &mine)
    }

    pub(super) fn of_a_loop(n: u64) -> u64 {
        let values = vec![n, n + 1];
        let rest = &values[1..];
        let mut sum = 0;
        for x in rest {
            sum += x;
        }
        if n < 2 {
            return sum;
        }
        on(n, rest)
    }

    fn on(n: u64, xs: &[u64]) -> u64 {
        if xs.is_empty() { n } else { of_a_loop(n - xs.len() as u64) }
    }

    pub(super) fn none(n: u64, xs: &[u64]) -> u64 {
        if n == 0 { xs.len() as u64 } else { none(n - 1, &xs[1..]) }
    }
}

#[test]
fn calls_that_borrow_a_local_count() {
    use tail_calls_with_borrows::{none_batched_with, of_a_loop_batched_with, own_batched_with};
    let deep = |options: &Options| -> [bool; 3] {
        let shared = vec![1; 40];
        let own = own_batched_with(&[30], &shared, options).unwrap();
        let of_a_loop = of_a_loop_batched_with(&[31], options).unwrap();
        let none = none_batched_with(&[30], &shared, options).unwrap();
        [own, of_a_loop, none].map(|outcome| outcome.faults().is_empty())
    };
    for (name, options) in crate::common::executors() {
        assert_eq!(deep(&options.clone().max_depth(29)), [false, false, true], "{name}");
        assert_eq!(deep(&options.clone().max_depth(30)), [true; 3], "{name}");
        assert_eq!(deep(&options.max_depth(100)), [true; 3], "{name}");
    }
}
