//! Scalar code that reaches batched primitives: members wait for each other on fibers, wherever the call is, with the
//! scalar function's results.

#![forbid(unsafe_code)]
// What the vectors lend keeps their functions out of blocks.
#![allow(clippy::useless_vec, clippy::needless_lifetimes, clippy::while_immutable_condition)]

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Bits, agree_at, column};
use autobatch::{
    BatchError, CancelToken, Executor, FaultKind, Options, Outcome, Program, Schedule, autobatch, join,
};
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;

thread_local! {
    /// The rows of each call of a kernel on this thread.
    static CALLS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn called(rows: usize) {
    CALLS.with_borrow_mut(|calls| calls.push(rows));
}

/// A batch on this thread by the executor that is the default, and the rows of the kernels' calls.
#[track_caller]
fn counted<R>(f: impl Fn(&Options) -> Outcome<R>) -> (Vec<R>, Vec<usize>) {
    CALLS.take();
    let outcome = f(&Options::default().threads(1));
    (outcome.into_values().expect("no faults"), CALLS.take())
}

#[track_caller]
fn is_in_no_blocks(program: &Program) {
    assert!(program.whole_scalar, "{program}");
}

#[autobatch::primitive(batched = halves)]
fn half(x: f64) -> f64 {
    x / 2.0
}

fn halves(x: &[f64]) -> Vec<f64> {
    called(x.len());
    x.iter().map(|x| half(*x)).collect()
}

/// A model with state of its own.
struct Bowl {
    scale: f64,
}

#[autobatch::primitive(batched = slopes)]
fn slope(bowl: &Bowl, q: &Array1<f64>) -> (f64, Array1<f64>) {
    (q.iter().map(|x| bowl.scale * x * x).sum(), q.mapv(|x| 2.0 * bowl.scale * x))
}

fn slopes(bowl: &Bowl, q: ArrayView2<'_, f64>) -> (Vec<f64>, Array2<f64>) {
    called(q.nrows());
    let energy = q.rows().into_iter().map(|q| q.iter().map(|x| bowl.scale * x * x).sum());
    (energy.collect(), q.mapv(|x| 2.0 * bowl.scale * x))
}

/// What a program knows of a model; how it computes is out of sight.
trait Density: Sync {
    fn energy(&self, q: &Array1<f64>) -> (f64, Array1<f64>);
}

impl Density for Bowl {
    fn energy(&self, q: &Array1<f64>) -> (f64, Array1<f64>) {
        slope(self, q)
    }
}

#[autobatch]
fn descend(density: &dyn Density, start: f64, steps: u32) -> (f64, Vec<f64>) {
    let mut q = Array1::from(vec![start, 1.0]);
    let mut energy = 0.0;
    for _ in 0..steps {
        let (now, slope) = density.energy(&q);
        energy = now;
        q.scaled_add(-0.25, &slope);
    }
    (energy, q.to_vec())
}

/// A trait object hides the call: the first run finds out, those behind it are on fibers.
#[test]
fn primitives_behind_a_trait_object() {
    let bowl = Bowl { scale: 0.7 };
    let density: &dyn Density = &bowl;
    let inputs: Vec<(f64, u32)> = (0..60).map(|i| (f64::from(i) / 7.0, i % 9)).collect();
    let batched = |batch: &[(f64, u32)], options: &Options| {
        descend_batched_with(density, column(batch, |b| b.0), column(batch, |b| b.1), options)
    };
    agree_at(&[60, 211], &inputs, |&(start, steps)| descend(density, start, steps), batched);
    let (_, calls) = counted(|options| batched(&inputs, options).unwrap());
    assert_eq!(calls, (0..8).map(|i| inputs.iter().filter(|input| input.1 > i).count()).collect::<Vec<_>>());
}

/// A program of several blocks, none of which shows a primitive.
#[autobatch]
fn descend_in_blocks(density: &dyn Density, start: f64, steps: u32) -> f64 {
    if steps == 0 {
        return start;
    }
    let slope = density.energy(&Array1::from(vec![start])).1[0];
    descend_in_blocks(density, start - 0.25 * slope, steps - 1)
}

/// The first run of a program in blocks finds out on fibers too, and does not call the kernel for each member meanwhile.
#[test]
fn blocks_that_hide_a_primitive() {
    let program = descend_in_blocks_batched::program();
    assert!(!program.whole_scalar && !program.blocks.iter().any(|block| block.primitive), "{program}");
    let bowl = Bowl { scale: 0.7 };
    let (start, steps): (Vec<f64>, Vec<u32>) = (0..900).map(|i| (f64::from(i) / 7.0, 1 + i % 5)).unzip();
    let want: Vec<usize> = (0..5).map(|round| (5 - round) * 180).collect();
    for run in ["first", "second"] {
        let (values, calls) =
            counted(|options| descend_in_blocks_batched_with(&bowl, &start, &steps, options).unwrap());
        assert_eq!(calls, want, "{run} run");
        let one = |(start, steps): (&f64, &u32)| descend_in_blocks(&bowl, *start, *steps);
        assert!(values.same(&start.iter().zip(&steps).map(one).collect()), "{run} run");
    }
}

/// Where the first members reach none, the others run in blocks or without fibers, and those that reach one late call the
/// kernel for one row.
#[test]
fn a_primitive_that_is_reached_late() {
    #[autobatch]
    fn late(density: &dyn Density, start: f64, steps: u32) -> f64 {
        if steps == 0 {
            return start;
        }
        late(density, density.energy(&Array1::from(vec![start])).0.sqrt(), steps - 1)
    }
    let bowl = Bowl { scale: 0.7 };
    let start: Vec<f64> = (0..3000).map(f64::from).collect();
    let steps: Vec<u32> = (0..3000).map(|i| if i < 2000 { 0 } else { 2 }).collect();
    let want: Vec<f64> = start.iter().zip(&steps).map(|(start, steps)| late(&bowl, *start, *steps)).collect();
    for run in ["first", "second"] {
        let (values, calls) = counted(|options| late_batched_with(&bowl, &start, &steps, options).unwrap());
        assert_eq!(calls.iter().sum::<usize>(), 2000, "each is the kernel's in the {run} run");
        assert!(values.same(&want), "{run} run");
        if run == "second" {
            assert_eq!(calls, [1000, 1000]);
        }
    }
}

/// Whether another function yields a value is nothing that is written here.
fn outside(x: f64) -> f64 {
    half(x) + 1.0
}

fn at_most<F: Fn(f64) -> f64>(f: F, mut x: f64, bound: f64) -> (f64, u32) {
    let mut rounds = 0;
    while x > bound {
        x = f(x);
        rounds += 1;
    }
    (x, rounds)
}

macro_rules! halved {
    ($x:expr) => {
        half($x)
    };
}

#[autobatch(strict = "fibers")]
fn everywhere(mut x: f64, n: u32) -> Vec<f64> {
    let values = vec![x, 3.0];
    let first = &values[0];
    let mut seen = Vec::new();
    while seen.len() < n as usize {
        // A closure that is kept, one that is handed on, a macro, a function out of sight, a comparison.
        let keeps: [Box<dyn Fn(f64) -> f64>; 2] = [Box::new(half), Box::new(|x| half(x) + *first)];
        x = keeps[seen.len() % 2](x);
        seen.push(at_most(|x| half(x) + 0.25, x, 1.0).0);
        seen.push(halved!(x) + outside(x));
        let mut both = values.repeat(2);
        both.sort_by(|a, b| half(*b).total_cmp(&half(*a)));
        seen.extend(both);
    }
    seen
}

#[test]
fn primitives_are_called_from_anywhere() {
    is_in_no_blocks(everywhere_batched::program());
    let inputs: Vec<(f64, u32)> = (0..50).map(|i| (f64::from(i * i % 37), i % 4 * 5)).collect();
    agree_at(
        &[1, 50, 400],
        &inputs,
        |&(x, n)| everywhere(x, n),
        |batch, options| everywhere_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
    // Members that are all alike make one call each time.
    let (values, calls) =
        counted(|options| everywhere_batched_with(&[8.0; 100], &[6; 100], options).unwrap());
    assert!(values.iter().all(|value| value.same(&everywhere(8.0, 6))));
    assert!(calls.len() > 10 && calls.iter().all(|rows| *rows == 100), "{calls:?}");
}

#[autobatch]
fn with_two_models(a: &Bowl, b: &Bowl, x: f64, n: u32) -> f64 {
    let models = vec![a, b];
    let first = &models[0];
    let (mut sum, mut i) = (0.0, 0);
    while i < n {
        let q = Array1::from(vec![x; 1 + i as usize % 2]);
        let other = models.repeat(1)[i as usize % 2];
        sum += slope(first, &q).0 + slope(other, &q).1[0] + half(sum);
        i += 1;
    }
    sum
}

/// Members make a call together if they share the model, and their vectors are of one length.
#[test]
fn several_primitives_and_models() {
    is_in_no_blocks(with_two_models_batched::program());
    let (a, b) = (Bowl { scale: 0.7 }, Bowl { scale: 1.3 });
    let inputs: Vec<(f64, u32)> = (0..40).map(|i| (f64::from(i) / 3.0, i % 7)).collect();
    let batched = |batch: &[(f64, u32)], options: &Options| {
        with_two_models_batched_with(&a, &b, column(batch, |x| x.0), column(batch, |x| x.1), options)
    };
    agree_at(&[40, 300], &inputs, |&(x, n)| with_two_models(&a, &b, x, n), batched);
    let alike = [(1.5, 5); 30];
    let (_, calls) = counted(|options| batched(&alike, options).unwrap());
    assert_eq!(calls, [30; 15]);
}

/// What it yields it borrows from the model.
#[autobatch::primitive(batched = nearest_of_all)]
fn nearest<T: Copy + PartialOrd>(all: &[T], x: T, #[shared] least: usize) -> &T {
    all.iter().skip(least).find(|y| **y >= x).unwrap_or(&all[0])
}

fn nearest_of_all<'a, T: Copy + PartialOrd>(all: &'a [T], x: &[T], least: usize) -> Vec<&'a T> {
    called(x.len());
    x.iter().map(|x| nearest(all, *x, least)).collect()
}

/// Each member's own, but borrowed: such are not gathered, as the kernel might hand one member's to another.
#[autobatch::primitive(batched = lengths)]
fn length<'a>(#[each] word: &&'a str, count: &mut [u32; 2]) -> usize {
    count[0] += 1;
    word.len()
}

fn lengths(words: &[&str], counts: &mut [[u32; 2]]) -> Vec<usize> {
    called(words.len());
    counts.iter_mut().for_each(|count| count[0] += 1);
    words.iter().map(|word| word.len()).collect()
}

#[autobatch]
fn by_reference(all: &[f64], some: &[(f64, u8)], x: f64, n: u32) -> (f64, u8, u32) {
    let text = format!("{x} {n}");
    let words = vec![text.as_str(), "word"];
    let first = &words[0];
    let (mut at, mut best, mut count) = (x, &some[0], [0; 2]);
    let mut i = 0;
    while i < n {
        at = at.max(*nearest(all, at + 1.0, 0)).min(50.0);
        best = nearest(some, (at, 3), i as usize % 2);
        at += length(first, &mut count) as f64 + length(&words.repeat(1)[1], &mut count) as f64;
        i += 1;
    }
    (at, best.1, count[0])
}

#[test]
fn arguments_and_results_that_borrow() {
    is_in_no_blocks(by_reference_batched::program());
    let all: Vec<f64> = (0..20).map(|i| f64::from(i) * 1.5).collect();
    let some: Vec<(f64, u8)> = (0..20).map(|i| (f64::from(i) * 2.5, i as u8)).collect();
    let inputs: Vec<(f64, u32)> = (0..40).map(|i| (f64::from(i) / 3.0, i % 7)).collect();
    let batched = |batch: &[(f64, u32)], options: &Options| {
        by_reference_batched_with(&all, &some, column(batch, |x| x.0), column(batch, |x| x.1), options)
    };
    agree_at(&[40, 300], &inputs, |&(x, n)| by_reference(&all, &some, x, n), batched);
    let (_, calls) = counted(|options| batched(&[(1.5, 1); 30], options).unwrap());
    // A number is gathered; a tuple in the place of `T` may hold anything.
    let mut want = vec![30];
    want.extend([1; 90]);
    assert_eq!(calls, want);
}

/// Counts what lives.
struct Token<'a>(&'a AtomicUsize);

impl<'a> Token<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Token(count)
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Goes down to the bottom, and asks there.
#[autobatch]
fn deep<'a>(count: &'a AtomicUsize, n: u64, x: f64) -> (f64, Token<'a>) {
    let token = Token::new(count);
    let values = vec![x, 1.0];
    let first = &values[0];
    if n == 0 {
        assert!(x >= 0.0, "a negative number");
        return (outside(x) + outside(*first), token);
    }
    let (below, _) = deep(count, n - 1, values.repeat(1)[0]);
    (below + *first, token)
}

#[test]
fn a_hundred_thousand_deep() {
    is_in_no_blocks(deep_batched::program());
    let run = || {
        let count = AtomicUsize::new(0);
        let n: Vec<u64> = (0..10).map(|i| 100_000 - i).collect();
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        let (values, calls) = counted(|options| {
            let outcome = deep_batched_with(&count, &n, &x, options).unwrap();
            assert_eq!(count.load(Ordering::Relaxed), 10);
            outcome
        });
        assert_eq!(calls, [10, 10]);
        for (value, (n, x)) in values.iter().zip(n.iter().zip(&x)) {
            let want = (0..*n).fold(2.0 * outside(*x), |sum, _| sum + x);
            assert!(value.0.same(&want), "{} {want}", value.0);
        }
        drop(values);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_failing_member_ends_alone() {
    let count = AtomicUsize::new(0);
    let (n, x) = ([10, 500, 7, 20, 501], [1.0, 2.0, -3.0, 4.0, 5.0]);
    for executor in [Executor::Auto, Executor::Masked, Executor::ProgramCounter] {
        for threads in [1, 2] {
            let options = Options::default().executor(executor).threads(threads).max_depth(500);
            let outcome = deep_batched_with(&count, &n, &x, &options).unwrap();
            let faults: Vec<_> = outcome.faults().iter().map(|f| (f.member, f.kind, &*f.message)).collect();
            let want = [
                (2, FaultKind::Panic, "a negative number"),
                (4, FaultKind::DepthExceeded, "more than 500 nested calls"),
            ];
            assert_eq!(faults, want);
            assert_eq!(count.load(Ordering::Relaxed), 3);
            let results = outcome.into_results();
            assert!([0, 1, 3].iter().all(|i| results[*i].is_ok()));
            drop(results);
            assert_eq!(count.load(Ordering::Relaxed), 0);
        }
    }
}

/// Steps for ever, unless it is small.
#[autobatch(primitives(half))]
fn endless<'a>(count: &'a AtomicUsize, token: &CancelToken, x: f64) -> Token<'a> {
    let live = Token::new(count);
    let values = vec![x, 1.0];
    let first = &values[0];
    let (mut rounds, mut sum) = (0, 0.0);
    while *first > 10.0 {
        rounds += 1;
        sum += outside(*first + values.repeat(1)[0]);
        assert!(sum > 0.0);
        if rounds == 50 && *first == 77.0 {
            token.cancel();
        }
    }
    live
}

#[test]
fn members_that_do_not_end_are_cancelled() {
    is_in_no_blocks(endless_batched::program());
    let count = AtomicUsize::new(0);
    for threads in [1, 2] {
        let token = CancelToken::new();
        let options = Options::default().threads(threads).cancel(&token).lanes(4);
        let x = [1.0, 20.0, 2.0, 30.0, 3.0, 77.0, 4.0, 50.0, 60.0, 5.0];
        let outcome = endless_batched_with(&count, &token, &x, &options).unwrap();
        assert!(outcome.faults().iter().all(|fault| fault.kind == FaultKind::Cancelled));
        let results = outcome.into_results();
        assert!(x.iter().zip(&results).all(|(x, result)| *x < 10.0 || result.is_err()));
        assert!([0, 2, 4].iter().all(|i| results[*i].is_ok()), "they had ended");
        drop(results);
        assert_eq!(count.load(Ordering::Relaxed), 0);
        // A limit on steps counts calls of primitives.
        let options = Options::default().threads(threads).max_steps(30);
        let never = CancelToken::new();
        let outcome = endless_batched_with(&count, &never, &x, &options).unwrap();
        let exceeded = x.iter().enumerate().filter(|(_, x)| **x > 10.0).map(|(member, _)| member);
        assert!(outcome.faults().iter().all(|fault| fault.kind == FaultKind::StepsExceeded));
        assert!(outcome.faults().iter().map(|fault| fault.member).eq(exceeded));
        drop(outcome);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }
}

/// Nothing in it shows that it reaches a primitive, and it borrows.
#[autobatch]
fn reaches_late(x: f64, turns: u32) -> f64 {
    let mut values = vec![x, 1.0];
    let (first, rest) = values.split_at_mut(1);
    let mut turn = 0;
    while turn < turns {
        first[0] = outside(first[0]) + rest[0];
        turn += 1;
    }
    first[0]
}

/// The same, but the attribute says so.
#[autobatch(primitives(half))]
fn says_that_it_reaches(x: f64, turns: u32) -> f64 {
    let mut values = vec![x, 1.0];
    let (first, rest) = values.split_at_mut(1);
    let mut turn = 0;
    while turn < turns {
        first[0] = outside(first[0]) + rest[0];
        turn += 1;
    }
    first[0]
}

/// Steps of scalar code are calls of primitives. Whether it makes some is read off the program, whatever has run before.
#[test]
fn steps_of_scalar_code_are_calls_of_primitives_that_it_names() {
    let (x, turns) = ([1.0, 2.0, 3.0, 4.0], [5, 100, 3, 40]);
    let limited = Options::default().max_steps(30);
    for _ in 0..2 {
        let error = reaches_late_batched_with(&x, &turns, &limited).unwrap_err();
        assert_eq!(error, BatchError::Limit { option: "max_steps", function: "reaches_late" });
        let outcome = says_that_it_reaches_batched_with(&x, &turns, &limited).unwrap();
        assert!(outcome.faults().iter().all(|fault| fault.kind == FaultKind::StepsExceeded));
        assert!(outcome.faults().iter().map(|fault| fault.member).eq([1, 3]));
        let values = reaches_late_batched(&x, &turns);
        assert_eq!([0, 2].map(|member| outcome.get(member)), [Some(&values[0]), Some(&values[2])]);
    }
    // The scalar function is scalar code as ever.
    let scalar = says_that_it_reaches_batched_with(&x, &turns, &limited.executor(Executor::Scalar));
    assert!(matches!(scalar, Err(BatchError::Limit { .. })));
}

#[autobatch::primitive(batched = roots)]
fn root(x: f64) -> f64 {
    x.sqrt()
}

fn roots(x: &[f64]) -> Vec<f64> {
    assert!(x.iter().all(|x| *x >= 0.0), "a negative number");
    if x.iter().any(|x| *x > 1e6) { Vec::new() } else { x.iter().map(|x| x.sqrt()).collect() }
}

#[autobatch]
fn rooted<'a>(count: &'a AtomicUsize, x: f64, late: bool) -> (f64, Token<'a>) {
    let live = Token::new(count);
    let values = vec![x, 1.0];
    let first = &values[0];
    let mut rounds = u32::from(late);
    while rounds > 0 {
        rounds -= root(values.repeat(1)[1]) as u32;
    }
    (root(*first), live)
}

#[test]
fn a_failing_kernel_is_the_fault_of_the_members_in_the_call() {
    is_in_no_blocks(rooted_batched::program());
    let count = AtomicUsize::new(0);
    let options = Options::default().threads(1);
    let late = [false, true, false, true, false];
    let run = |x: [f64; 5]| rooted_batched_with(&count, &x, &late, &options).unwrap();
    let good = run([0.0, 1.0, 4.0, 9.0, 16.0]).into_values().unwrap();
    assert!(good.iter().map(|good| good.0).eq([0.0, 1.0, 2.0, 3.0, 4.0]));
    drop(good);
    for (x, message) in [
        (-3.0, "the batched kernel `roots` panicked: a negative number"),
        (2e6, "the batched kernel `roots` was called for 2 members and returned a vector of length 0"),
    ] {
        // All come to the primitive in the first round, and those that are late once more.
        let outcome = run([9.0, x, 16.0, 4.0, 1.0]);
        let faults: Vec<_> = outcome.faults().iter().map(|f| (f.member, f.kind, &*f.message)).collect();
        assert_eq!(faults, [(1, FaultKind::Panic, message), (3, FaultKind::Panic, message)]);
        drop(outcome);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }
}

/// A binary tree, each member's own.
enum Tree {
    Leaf(f64),
    Node(Box<[Tree; 2]>),
}

impl Tree {
    /// One of some shape that depends on the seed.
    fn of(seed: u32, height: u32) -> Tree {
        if height == 0 || seed % 5 == 4 {
            return Tree::Leaf(f64::from(seed % 100) / 50.0 - 1.0);
        }
        let below = |by: u32| Tree::of(seed.wrapping_mul(by) >> 3, height - 1);
        Tree::Node(Box::new([below(2_654_435_761), below(40_503)]))
    }

    fn height(&self) -> usize {
        match self {
            Tree::Leaf(_) => 1,
            Tree::Node(below) => 1 + below[0].height().max(below[1].height()),
        }
    }
}

#[autobatch::primitive(batched = cells)]
fn cell(#[shared] weights: &[[f64; 2]; 2], below: [f64; 2], x: f64) -> f64 {
    let [a, b] = weights.map(|w| w[0] * below[0] + w[1] * below[1]);
    (a + x).tanh() * (b - x)
}

fn cells(weights: &[[f64; 2]; 2], below: &[[f64; 2]], x: &[f64]) -> Vec<f64> {
    called(x.len());
    below.iter().zip(x).map(|(below, x)| cell(weights, *below, *x)).collect()
}

/// A recursive network over a tree.
#[autobatch]
fn network(#[shared] weights: &[[f64; 2]; 2], #[each] tree: &Tree) -> f64 {
    match tree {
        Tree::Leaf(x) => cell(weights, [0.0, 1.0], *x),
        Tree::Node(below) => {
            let [left, right] = &**below;
            let (left, right) = join(|| network(weights, left), || network(weights, right));
            cell(weights, [left, right], 0.5)
        }
    }
}

#[test]
fn a_tree_takes_one_call_for_each_level() {
    let weights = [[0.3, -0.8], [1.1, 0.4]];
    let trees: Vec<Tree> = (0..60).map(|seed| Tree::of(seed * 7919 + 1, 1 + seed % 8)).collect();
    let scalar: Vec<f64> = trees.iter().map(|tree| network(&weights, tree)).collect();
    let (values, calls) = counted(|options| network_batched_with(&weights, &trees, options).unwrap());
    assert!(values.same(&scalar));
    assert_eq!(calls.len(), trees.iter().map(Tree::height).max().unwrap());
    for executor in [Executor::Scalar, Executor::Masked, Executor::ProgramCounter, Executor::Auto] {
        for (threads, lanes) in [(1, 7), (2, 100), (3, 1)] {
            let options = Options::default().executor(executor).threads(threads).lanes(lanes);
            let options = options.schedule(Schedule::EarliestBlock);
            let values = network_batched_with(&weights, &trees, &options).unwrap().into_values().unwrap();
            assert!(values.same(&scalar), "{executor:?}, {threads} threads, {lanes} lanes");
        }
    }
}

#[test]
fn join_is_sequential_in_scalar_code() {
    let order = RefCell::new(Vec::new());
    let both = join(|| order.borrow_mut().push(1), || order.borrow_mut().push(2));
    assert_eq!((both, order.take()), (((), ()), vec![1, 2]));
    let seen = Cell::new(0);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        join(|| panic!("first"), || seen.set(1));
    }));
    assert!(panicked.is_err() && seen.get() == 0);
}

/// Parts share what the member has, and end before it goes on.
#[autobatch]
fn sums(x: f64, n: u32) -> (f64, Vec<f64>) {
    let mut log = Vec::new();
    let total = Cell::new(0.0);
    let (left, right) = {
        let part = |from: f64| {
            let mut x = from;
            for _ in 0..n {
                x = half(x) + 0.1;
                total.set(total.get() + 1.0);
            }
            x
        };
        let log = &mut log;
        join(
            || part(x),
            || {
                log.push(part(x + 1.0));
                let (a, b) = join(|| part(x + 2.0), || part(x + 3.0));
                log.push(a - b);
                a + b
            },
        )
    };
    (left + right + total.get(), log)
}

#[test]
fn parts_borrow_from_their_member() {
    let inputs: Vec<(f64, u32)> = (0..40).map(|i| (f64::from(i) / 3.0, i % 6)).collect();
    let batched = |batch: &[(f64, u32)], options: &Options| {
        sums_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), options)
    };
    agree_at(&[40, 200], &inputs, |&(x, n)| sums(x, n), batched);
    let (_, calls) = counted(|options| batched(&[(2.0, 3); 20], options).unwrap());
    // First both parts, then the two of the second.
    assert_eq!(calls, [40, 40, 40, 40, 40, 40]);
}

fn squares(n: u32) -> u64 {
    (0..n).into_par_iter().with_max_len(4).map(|i| u64::from(i) * u64::from(i)).sum()
}

/// Has other threads help, and runs a batch of its own.
#[autobatch]
fn with_help(x: f64, n: u32) -> f64 {
    let values = vec![x, 1.0];
    let first = &values[0];
    let (mut sum, mut i) = (0.0, 0);
    while i < n {
        sum += half(*first + values.repeat(1)[1]) + squares(100 * n) as f64;
        let inner: Vec<f64> = sums_batched(&values, &[i, n]).into_iter().map(|(sum, _)| sum).collect();
        sum += half(inner[0]) + inner[1];
        i += 1;
    }
    sum
}

#[test]
fn a_member_may_use_other_threads() {
    is_in_no_blocks(with_help_batched::program());
    let (x, n): (Vec<f64>, Vec<u32>) = (0..60).map(|i| (f64::from(i) / 3.0, i % 5)).unzip();
    let scalar: Vec<f64> = x.iter().zip(&n).map(|(x, n)| with_help(*x, *n)).collect();
    for (threads, lanes) in [(1, 60), (2, 8), (3, 100)] {
        let options = Options::default().threads(threads).lanes(lanes);
        let values = with_help_batched_with(&x, &n, &options).unwrap().into_values().unwrap();
        assert!(values.same(&scalar), "{threads} threads");
    }
}
