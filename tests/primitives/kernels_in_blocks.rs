//! A function with a batched kernel is called once for all members that are there, with the scalar function's results.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{agree, agree_at, column};
use autobatch::{Executor, FaultKind, Options, Schedule, autobatch};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Zip};

/// A quadratic form, as a model with state.
struct Bowl {
    scale: f64,
    shift: f64,
}

#[autobatch::primitive(batched = slopes)]
fn slope(bowl: &Bowl, q: &Array1<f64>) -> (f64, Array1<f64>) {
    let energy = q.iter().map(|x| bowl.scale * x * x).sum();
    (energy, q.mapv(|x| 2.0 * bowl.scale * x + bowl.shift))
}

fn slopes(bowl: &Bowl, q: ArrayView2<'_, f64>) -> (Array1<f64>, Array2<f64>) {
    let energy = q.rows().into_iter().map(|q| q.iter().map(|x| bowl.scale * x * x).sum()).collect();
    (energy, q.mapv(|x| 2.0 * bowl.scale * x + bowl.shift))
}

#[autobatch(strict)]
fn descend(bowl: &Bowl, mut q: Array1<f64>, rate: f64, tolerance: f64) -> (u32, Vec<f64>) {
    let mut steps = 0;
    loop {
        let (energy, grad) = slope(bowl, &q);
        if energy < tolerance || steps == 60 {
            return (steps, q.to_vec());
        }
        q.scaled_add(-rate, &grad);
        steps += 1;
    }
}

#[test]
fn vectors_in_a_loop() {
    let bowl = Bowl { scale: 0.7, shift: 0.01 };
    let inputs: Vec<(Vec<f64>, f64, f64)> = (0..40)
        .map(|i| {
            let q = (0..4).map(|k| f64::from(i * 7 % 11 + k) - 4.0).collect();
            (q, 0.05 + f64::from(i % 5) / 20.0, 10.0_f64.powi(-(i % 6)))
        })
        .collect();
    agree_at(
        &[1, 60, 211],
        &inputs,
        |(q, rate, tolerance)| descend(&bowl, Array1::from(q.clone()), *rate, *tolerance),
        |batch, options| {
            let q = Array2::from_shape_fn((batch.len(), 4), |(i, k)| batch[i].0[k]);
            descend_batched_with(&bowl, q.view(), column(batch, |b| b.1), column(batch, |b| b.2), options)
        },
    );
}

/// Everything that can be asked of one program: recursion, several results, several forms of parameters.
#[autobatch(strict)]
mod tree {
    use super::{KERNEL_CALLS, KERNEL_ROWS, Ordering};
    use ndarray::{ArrayView1, ArrayView2};

    #[autobatch::primitive(batched = weights)]
    pub(super) fn weight(
        table: &[f64],
        x: u32,
        at: &[f64; 3],
        #[shared] power: i32,
        #[each] half: &f64,
    ) -> ([f64; 3], f64, u32) {
        let w = table[x as usize % table.len()];
        (at.map(|a| (a + w).powi(power)), w * *half, x.rotate_left(3))
    }

    fn weights(
        table: &[f64],
        x: &[u32],
        at: ArrayView2<'_, f64>,
        power: i32,
        half: ArrayView1<'_, f64>,
    ) -> (Vec<[f64; 3]>, Vec<f64>, Vec<u32>) {
        KERNEL_CALLS.fetch_add(1, Ordering::Relaxed);
        KERNEL_ROWS.fetch_add(x.len(), Ordering::Relaxed);
        let w: Vec<f64> = x.iter().map(|x| table[*x as usize % table.len()]).collect();
        let at = at.rows().into_iter().zip(&w);
        (
            at.map(|(at, w)| std::array::from_fn(|i| (at[i] + w).powi(power))).collect(),
            w.iter().zip(half).map(|(w, half)| w * *half).collect(),
            x.iter().map(|x| x.rotate_left(3)).collect(),
        )
    }

    pub(super) struct Node {
        pub(super) at: [f64; 3],
        pub(super) name: String,
    }

    pub(super) fn grow(table: &[f64], node: Node, depth: u32, seed: u32) -> (f64, String) {
        if depth == 0 || seed.is_multiple_of(7) {
            let (at, share, _) = weight(table, seed, &node.at, 2, &0.5);
            return (at.iter().sum::<f64>() + share, node.name);
        }
        let half = 1.0 / f64::from(depth);
        let (at, share, next) = weight(table, seed ^ depth, &node.at, 1 + (depth % 2) as i32, &half);
        let Node { at: here, name } = node;
        let (left, name) = grow(table, Node { at, name: name + "l" }, depth - 1, next);
        if share > 1.5 {
            return (left, name);
        }
        let (right, name) = grow(&table[1..], Node { at: here, name }, depth - 1, next / 3);
        (left - right * share, name)
    }
}

static KERNEL_CALLS: AtomicUsize = AtomicUsize::new(0);
static KERNEL_ROWS: AtomicUsize = AtomicUsize::new(0);

#[test]
fn every_form_in_a_recursion() {
    let table: Vec<f64> = (0..17).map(|i| f64::from(i % 6) * 0.7 - 1.0).collect();
    let inputs: Vec<(u32, u32)> = (0..50).map(|i| (i % 7, i * 77 + 5)).collect();
    let node = |i: u32| tree::Node { at: [0.1 * f64::from(i), -0.3, 0.2], name: format!("{i}") };
    let batched = |batch: &[(u32, u32)], options: &Options| {
        let nodes: Vec<_> = batch.iter().map(|(depth, _)| node(*depth)).collect();
        let (depth, seed) = (column(batch, |b| b.0), column(batch, |b| b.1));
        tree::grow_batched_with(&table, nodes, &depth, &seed, options)
    };
    agree_at(&[1, 50, 211], &inputs, |&(depth, seed)| tree::grow(&table, node(depth), depth, seed), batched);
    // Gathered, not called for each: a shared slice differs between members in a recursion.
    let many: Vec<_> = inputs.iter().cycle().take(1000).copied().collect();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        KERNEL_CALLS.store(0, Ordering::Relaxed);
        KERNEL_ROWS.store(0, Ordering::Relaxed);
        batched(&many, &Options::default().executor(executor)).expect("columns of one length");
        let (calls, rows) = (KERNEL_CALLS.load(Ordering::Relaxed), KERNEL_ROWS.load(Ordering::Relaxed));
        assert!(calls * 4 < rows, "{executor:?}: {calls} calls for {rows} members");
    }
}

thread_local! {
    static SCALAR: Cell<usize> = const { Cell::new(0) };
    static BATCHED: Cell<usize> = const { Cell::new(0) };
}

#[autobatch::primitive(batched = thirds)]
fn third(x: u64) -> u64 {
    SCALAR.set(SCALAR.get() + 1);
    x / 3
}

fn thirds(x: &[u64]) -> Array1<u64> {
    BATCHED.set(BATCHED.get() + 1);
    x.iter().map(|x| x / 3).collect()
}

#[autobatch]
fn thirds_to_one(mut x: u64, delay: u32) -> u32 {
    let mut wait = 0;
    while wait < delay {
        wait += 1;
    }
    let mut steps = 0;
    while x > 1 {
        x = third(x);
        steps += 1;
    }
    steps
}

#[test]
fn one_call_for_all_members_that_are_there() {
    let x: Vec<u64> = (0..300).map(|i| 3_u64.pow(1 + i % 20)).collect();
    let delay: Vec<u32> = (0..300).map(|i| i * 13 % 97).collect();
    let want: Vec<u32> = (0..300).map(|i| 1 + i % 20).collect();
    let line =
        include_str!("kernels_in_blocks.rs").lines().position(|line| line.contains("x = third(x)")).unwrap();
    for executor in [Executor::Auto, Executor::Masked, Executor::ProgramCounter] {
        for schedule in [Schedule::EarliestBlock, Schedule::MostLanes] {
            SCALAR.set(0);
            BATCHED.set(0);
            let options =
                Options::default().executor(executor).schedule(schedule).threads(1).count_blocks(true);
            let outcome = thirds_to_one_batched_with(&x, &delay, &options).unwrap();
            let blocks = &outcome.report().blocks;
            let block = blocks.iter().find(|block| block.label == "primitive").unwrap();
            // As often as the member needs it that needs it most: who comes late is waited for.
            assert_eq!((block.executions, block.active), (20, 15 * (1..=20).sum::<u64>()), "{executor:?}");
            assert_eq!(block.line as usize, line + 1);
            assert_eq!(outcome.into_values().unwrap(), want);
            assert_eq!((SCALAR.get(), BATCHED.get()), (0, 20), "{executor:?}, {schedule:?}");
        }
    }
    SCALAR.set(0);
    BATCHED.set(0);
    let options = Options::default().executor(Executor::Scalar).threads(1);
    assert_eq!(thirds_to_one_batched_with(&x, &delay, &options).unwrap().into_values().unwrap(), want);
    assert_eq!((SCALAR.get(), BATCHED.get()), (15 * (1..=20).sum::<usize>(), 0));
}

mod models {
    use super::{Array1, ArrayView2};
    use std::ops::Mul;

    pub(super) trait Model {
        type Number: Copy + PartialOrd + Mul<Output = Self::Number>;
        fn double(&self, x: Self::Number) -> Self::Number;
    }

    pub(super) struct Plain;

    impl Model for Plain {
        type Number = f32;
        fn double(&self, x: f32) -> f32 {
            x + x
        }
    }

    #[autobatch::primitive(batched = many)]
    pub(super) fn one<M: Model, const D: usize>(model: &M, x: &[M::Number; D]) -> [M::Number; D] {
        x.map(|x| model.double(x) * x)
    }

    fn many<M: Model>(model: &M, x: ArrayView2<'_, M::Number>) -> ndarray::Array2<M::Number> {
        x.mapv(|x| model.double(x) * x)
    }

    #[autobatch::primitive(batched = alone)]
    pub(super) fn lone(x: Array1<f32>) -> f32 {
        x.iter().product()
    }

    #[allow(clippy::needless_pass_by_value)]
    fn alone(x: ArrayView2<'_, f32>) -> Vec<f32> {
        x.rows().into_iter().map(|x| x.iter().product()).collect()
    }
}

use models::one;

#[autobatch(primitives(one, models::lone))]
fn generic<M: models::Model<Number = f32> + Sync, const D: usize>(model: &M, x: [f32; D], limit: f32) -> f32 {
    let mut total = 1.0;
    // Temporaries, nested calls, turbofish, conditions: all are calls like any other.
    while models::lone(Array1::from(one::<M, D>(model, &[total; D]).to_vec())) < limit && total < 20.0 {
        total += one(model, &one(model, &[total, x[0]]))[1].abs().clamp(1.0, 5.0);
    }
    total + models::lone(Array1::from(vec![total; D]))
}

#[test]
fn generic_primitives_by_any_path() {
    let inputs: Vec<([f32; 3], f32)> = (0..30_u8)
        .map(|i| ([f32::from(i) * 0.1 - 1.0, 0.5, f32::from(i % 4)], f32::from(i) * 40.0))
        .collect();
    agree_at(
        &[1, 211],
        &inputs,
        |(x, limit)| generic(&models::Plain, *x, *limit),
        |batch, options| {
            generic_batched_with(&models::Plain, column(batch, |b| b.0), column(batch, |b| b.1), options)
        },
    );
}

#[autobatch::primitive(batched = sums)]
fn sum(x: &Array1<i64>) -> i64 {
    x.sum()
}

fn sums(x: ArrayView2<'_, i64>) -> Array1<i64> {
    x.rows().into_iter().map(|row| row.sum()).collect()
}

#[autobatch(strict)]
fn ragged(x: Array1<i64>, n: i64) -> i64 {
    let longer = Array1::from_iter(x.iter().copied().chain(0..n));
    sum(&longer) + sum(&x)
}

#[test]
fn vectors_of_different_lengths_are_called_for_apart() {
    let inputs: Vec<(Array1<i64>, i64)> = (0..20).map(|i| (Array1::from_iter(0..i % 5), i % 3)).collect();
    agree(
        &inputs,
        |(x, n)| ragged(x.clone(), *n),
        |batch, options| ragged_batched_with(column(batch, |b| b.0.clone()), column(batch, |b| b.1), options),
    );
}

#[autobatch::primitive(batched = roots)]
fn root(x: f64) -> f64 {
    assert!(x >= 0.0, "no root of {x}");
    x.sqrt()
}

fn roots(x: ArrayView1<'_, f64>) -> Vec<f64> {
    assert!(x.iter().all(|x| *x >= 0.0), "a negative number");
    if x.iter().any(|x| *x > 1e6) { Vec::new() } else { x.iter().map(|x| x.sqrt()).collect() }
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

#[autobatch]
fn rooted(count: &AtomicUsize, x: f64, rounds: u32) -> f64 {
    let token = Token::new(count);
    let argument = (x - f64::from(rounds), Token::new(count));
    let value = root(argument.0);
    if rounds > 0 {
        let deeper = rooted(count, value, rounds - 1);
        let twice = root(deeper);
        drop(token);
        return twice;
    }
    value
}

#[test]
fn a_failing_kernel_is_the_fault_of_the_members_in_the_call() {
    let count = AtomicUsize::new(0);
    let run = |x: &[f64], rounds: &[u32], options: &Options| {
        rooted_batched_with(&count, x, rounds, options).unwrap()
    };
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        for threads in [1, 2] {
            let options = Options::default().executor(executor).threads(threads);
            let (x, rounds) = ([9.0; 6], [0, 1, 2, 0, 1, 2]);
            let want: Vec<f64> = (0..6).map(|i| rooted(&count, x[i], rounds[i])).collect();
            assert_eq!(run(&x, &rounds, &options).into_values().unwrap(), want);

            let outcome = run(&[9.0, 16.0, 3.0, 25.0], &[0, 0, 10, 0], &options.clone().threads(1));
            let faults = outcome.faults();
            assert_eq!(faults.len(), 4, "all of them were in the call");
            for (member, fault) in faults.iter().enumerate() {
                assert_eq!((fault.member, fault.kind), (member, FaultKind::Panic));
                assert_eq!(fault.message, "the batched kernel `roots` panicked: a negative number");
            }
            assert_eq!(count.load(Ordering::Relaxed), 0, "{executor:?}: what they owned is dropped once");

            // Members that are somewhere else go on.
            let outcome = run(&[2e6, 16.0], &[0, 0], &options.clone().threads(1).lanes(1));
            let short =
                "the batched kernel `roots` was called for 1 member and returned a vector of length 0";
            assert_eq!(outcome.faults()[0].message, short);
            assert_eq!(outcome.into_results().swap_remove(1).unwrap(), 4.0);
            assert_eq!(count.load(Ordering::Relaxed), 0);
        }
    }
    let options = Options::default().executor(Executor::Scalar);
    let outcome = run(&[9.0, -16.0], &[0, 0], &options);
    assert_eq!(outcome.faults()[0].message, "no root of -16");
    assert_eq!(outcome.faults().len(), 1, "the scalar function fails alone");
}

#[test]
#[should_panic(expected = "the batched kernel `roots` panicked: a negative number")]
fn the_plain_call_panics() {
    rooted_batched(&AtomicUsize::new(0), &[9.0, 4.0, -1.0], &[0, 1, 0]);
}

#[autobatch]
fn in_a_closure(x: u64, n: u64) -> u64 {
    let values = [x, n];
    let later: [fn(u64, u64) -> u64; 1] = [|x, i| third(x + i)];
    later[0](x, n) + third(values[0])
}

#[autobatch(strict)]
fn in_an_adaptor(x: u64, n: u64) -> u64 {
    let found = (0..n).filter(|i| third(x + i) > 4).map(|i| third(x * i)).max();
    found.map_or(x, third)
}

#[test]
fn calls_that_cannot_be_seen_run_the_scalar_function() {
    let inputs: Vec<(u64, u64)> = (0..20).map(|i| (i * 5, i % 4)).collect();
    agree(
        &inputs,
        |&(x, n)| in_a_closure(x, n),
        |batch, options| in_a_closure_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
    agree(
        &inputs,
        |&(x, n)| in_an_adaptor(x, n),
        |batch, options| in_an_adaptor_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
    assert_eq!(in_an_adaptor_batched::program().blocks.iter().filter(|b| b.primitive).count(), 3);
    let program = in_a_closure_batched::program().to_string();
    assert!(program.contains("note:") && program.contains("inside a closure"), "{program}");
    assert_eq!(in_a_closure_batched::program().blocks.iter().filter(|b| b.primitive).count(), 1);
}

struct Line {
    slope: f64,
}

#[autobatch::primitive(batched = lines)]
fn line(line: &Line, x: &[f64; 2]) -> [f64; 2] {
    x.map(|x| line.slope * x)
}

fn lines(line: &Line, x: &[[f64; 2]]) -> Vec<[f64; 2]> {
    x.iter().map(|x| x.map(|x| line.slope * x)).collect()
}

struct Walker<T> {
    line: Line,
    tag: T,
}

#[autobatch(strict)]
impl<T: Copy + Into<f64> + Send + Sync> Walker<T> {
    /// Walks until it is far.
    pub(crate) fn walk(&self, at: [f64; 2], budget: u32) -> f64 {
        if budget == 0 || at[0] > 100.0 {
            return at[1] + self.tag.into();
        }
        let to = line(&self.line, &at);
        self.walk([to[0] + 1.0, to[1]], budget - 1) + self.part(to, budget / 2)
    }

    fn part(&self, mut at: [f64; 2], rounds: u32) -> f64 {
        for _ in 0..rounds {
            at = line(&self.line, &at);
        }
        at[0] - at[1]
    }
}

#[test]
fn calls_in_methods() {
    let walker = Walker { line: Line { slope: 1.25 }, tag: 3_u8 };
    let inputs: Vec<([f64; 2], u32)> = (0..30).map(|i| ([f64::from(i), 2.0 - f64::from(i)], i % 9)).collect();
    agree(
        &inputs,
        |(at, budget)| walker.walk(*at, *budget),
        |batch, options| walker.walk_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
}

#[autobatch::primitive(batched = products)]
fn product(matrix: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
    matrix.dot(x)
}

fn products(matrix: &Array2<f64>, x: ArrayView2<'_, f64>) -> Array2<f64> {
    // Row by row, so that it rounds as the scalar function does.
    let mut all = Array2::zeros((x.nrows(), matrix.nrows()));
    Zip::from(all.rows_mut()).and(x.rows()).for_each(|mut to, x| to.assign(&matrix.dot(&x)));
    all
}

#[autobatch(strict)]
fn power(matrix: &Array2<f64>, x: Array1<f64>, n: u32) -> Vec<f64> {
    let mut x = x;
    for _ in 0..n {
        x = product(matrix, &x);
    }
    x.to_vec()
}

#[test]
fn more_members_than_lanes() {
    let matrix = Array2::from_shape_fn((5, 5), |(i, j)| 0.1 * (i * 3 + j * j) as f64 - 0.4);
    let inputs: Vec<(Array1<f64>, u32)> =
        (0..25).map(|i| (Array1::from_iter((0..5).map(|k| f64::from(i - k))), (i % 6) as u32)).collect();
    agree_at(
        &[2500],
        &inputs,
        |(x, n)| power(&matrix, x.clone(), *n),
        |batch, options| {
            power_batched_with(&matrix, column(batch, |b| b.0.clone()), column(batch, |b| b.1), options)
        },
    );
}

/// Borrows what it works with.
struct Ruler<'a, T> {
    marks: &'a [T],
}

#[autobatch::primitive(batched = all_measured)]
fn measured<T: Copy + Into<f64>>(ruler: &Ruler<'_, T>, marks: &&[T], x: f64) -> f64 {
    ruler.marks.iter().zip(*marks).map(|(a, b)| (*a).into() * x - (*b).into()).sum()
}

fn all_measured<T: Copy + Into<f64>>(ruler: &Ruler<'_, T>, marks: &&[T], x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| measured(ruler, marks, *x)).collect()
}

#[autobatch(strict)]
impl<'a, T: Copy + Into<f64> + Send + Sync> Ruler<'a, T> {
    pub(crate) fn long(&self, mut x: f64, until: f64) -> (u32, f64) {
        let mut steps = 0;
        while x < until {
            x = measured(self, &self.marks, x).max(x + 1.0);
            steps += 1;
        }
        (steps, x)
    }
}

/// Lifetimes inside of what a reference leads to, elided and named.
#[test]
fn shared_arguments_may_borrow() {
    let marks = [1_i32, -2, 3];
    let ruler = Ruler { marks: &marks };
    let inputs: Vec<(f64, f64)> = (0..50).map(|i| (f64::from(i % 7), f64::from(i))).collect();
    agree_at(
        &[50],
        &inputs,
        |(x, until)| ruler.long(*x, *until),
        |batch, options| ruler.long_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
}

/// A particle, whose force is computed in place.
#[derive(Clone, Debug, PartialEq)]
struct Particle {
    at: Array1<f64>,
    force: Array1<f64>,
    weights: [i32; 2],
    name: String,
}

#[autobatch::primitive(batched = pulls)]
fn pull(
    bowl: &Bowl,
    at: &Array1<f64>,
    force: &mut Array1<f64>,
    weights: &mut [i32; 2],
    calls: &mut u8,
) -> f64 {
    *calls += 1;
    weights[1] = weights[0] - weights[1];
    for (force, at) in force.iter_mut().zip(at) {
        // What was there counts.
        *force = *force / 4.0 - bowl.scale * at;
    }
    at.iter().map(|x| x * x).sum()
}

fn pulls(
    bowl: &Bowl,
    at: ArrayView2<'_, f64>,
    mut force: ndarray::ArrayViewMut2<'_, f64>,
    weights: &mut [[i32; 2]],
    mut calls: ndarray::ArrayViewMut1<'_, u8>,
) -> Vec<f64> {
    assert!(calls.iter().all(|calls| *calls < 200), "called too often");
    calls.map_inplace(|calls| *calls += 1);
    weights.iter_mut().for_each(|w| w[1] = w[0] - w[1]);
    Zip::from(&mut force).and(&at).for_each(|force, at| *force = *force / 4.0 - bowl.scale * at);
    at.rows().into_iter().map(|at| at.iter().map(|x| x * x).sum()).collect()
}

#[autobatch::primitive(batched = restarts)]
fn restart(calls: &mut u8, #[shared] to: u8) {
    *calls = to;
}

fn restarts(calls: &mut [u8], to: u8) {
    calls.fill(to);
}

#[autobatch]
fn fall(bowl: &Bowl, particle: &mut Particle, mut calls: u8, depth: u32) -> (f64, u8, String) {
    let mut unread = [3, 1];
    let mut spare = Array1::from(vec![1.0; particle.at.len()]);
    let mut energy = pull(bowl, &particle.at, &mut particle.force, &mut particle.weights, &mut calls);
    particle.at.scaled_add(0.1, &particle.force);
    if energy > 0.5 && depth > 0 {
        let (deeper, more, name) = fall(bowl, particle, calls, depth - 1);
        // Of these only the result is read again.
        energy += deeper + pull(bowl, &particle.at, &mut spare, &mut unread, &mut calls);
        if more % 3 == 0 {
            restart(&mut calls, 7);
        }
        return (energy, calls.wrapping_add(more), name + &particle.name);
    }
    (energy, calls, particle.name.clone())
}

/// `&mut` arguments: fields of the member's state, locals that live on, locals that do not.
#[test]
fn exclusive_arguments_are_changed() {
    let bowl = Bowl { scale: 0.7, shift: 0.0 };
    let inputs: Vec<(usize, u32)> = (0..60).map(|i| (1 + i % 3, i as u32 * 7 % 11)).collect();
    let particle = |&(len, depth): &(usize, u32)| Particle {
        at: Array1::from_iter((0..len).map(|i| i as f64 - 0.3 * f64::from(depth))),
        // Not in standard layout.
        force: backwards((0..len).map(|i| i as f64).collect()),
        weights: [depth as i32, 1],
        name: format!("{len}"),
    };
    type Out = ((f64, u8, String), Particle);
    let scalar = |input: &(usize, u32)| -> Out {
        let mut state = particle(input);
        (fall(&bowl, &mut state, 2, input.1), state)
    };
    for members in [1, 60, 211] {
        let batch: Vec<_> = inputs.iter().cycle().take(members).copied().collect();
        let want: Vec<Out> = batch.iter().map(scalar).collect();
        for executor in [Executor::Scalar, Executor::Masked, Executor::ProgramCounter] {
            for (lanes, threads) in [(256, 1), (7, 2), (1, 1)] {
                let options = Options::default().executor(executor).lanes(lanes).threads(threads);
                let mut states: Vec<Particle> = batch.iter().map(particle).collect();
                let depths: Vec<u32> = batch.iter().map(|b| b.1).collect();
                let out =
                    fall_batched_with(&bowl, &mut states, autobatch::same(2), &depths, &options).unwrap();
                let got: Vec<Out> = out.into_values().unwrap().into_iter().zip(states).collect();
                assert!(got == want, "{executor:?}, {members} members, {lanes} lanes, {threads} threads");
            }
        }
    }
    assert_eq!(fall_batched::program().blocks.iter().filter(|block| block.primitive).count(), 3);
}

fn backwards(mut x: Array1<f64>) -> Array1<f64> {
    x.invert_axis(ndarray::Axis(0));
    x
}

#[autobatch]
fn counted<'a>(count: &'a AtomicUsize, bowl: &Bowl, calls: u8) -> (u8, Token<'a>) {
    let token = Token::new(count);
    let mut dies = (calls, Token::new(count));
    let mut lives = (0, Token::new(count));
    let (mut force, mut weights) = (Array1::from(vec![1.0]), [1, 2]);
    let at = force.clone();
    pull(bowl, &at, &mut force, &mut weights, &mut dies.0);
    pull(bowl, &at, &mut force, &mut weights, &mut lives.0);
    drop(token);
    (lives.0 + weights[1] as u8, lives.1)
}

#[test]
fn changed_arguments_are_dropped_once() {
    let (count, bowl) = (AtomicUsize::new(0), Bowl { scale: 1.0, shift: 0.0 });
    for executor in [Executor::Scalar, Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor).threads(1);
        let good = counted_batched_with(&count, &bowl, &[0, 1, 2, 3], &options).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 4);
        for (calls, token) in good.into_values().unwrap() {
            assert_eq!((calls, token.0.load(Ordering::Relaxed) > 0), (3, true));
        }
        assert_eq!(count.load(Ordering::Relaxed), 0, "{executor:?}");
        let bad = counted_batched_with(&count, &bowl, &[0, 250, 2, 3], &options).unwrap();
        if executor != Executor::Scalar {
            assert_eq!(bad.faults().len(), 4);
            assert_eq!(bad.faults()[2].message, "the batched kernel `pulls` panicked: called too often");
        }
        drop(bad);
        assert_eq!(count.load(Ordering::Relaxed), 0, "{executor:?}");
    }
}

macro_rules! made {
    ($name:ident, $primitive:path) => {
        #[autobatch(strict, primitives($primitive))]
        fn $name(x: u64) -> u64 {
            let mut x = x;
            while x > 2 {
                x = $primitive(x) + x / 7;
            }
            x
        }
    };
}
made!(made, third);

/// What a macro has made, or stands in another file, is named.
#[test]
fn primitives_can_be_named() {
    let inputs: Vec<u64> = (0..1000).map(|i| i * i).collect();
    agree_at(&[211], &inputs, |x| made(*x), |batch, options| made_batched_with(batch, options));
    assert!(made_batched::program().blocks.iter().any(|block| block.primitive));
}
