//! Lists that all members share are looked up in lanes. What is out of bounds is the member's fault, with the scalar
//! function's message; lanes that don't look fault nobody.

// Written as users write.
#![allow(clippy::needless_range_loop, clippy::indexing_slicing, clippy::manual_is_multiple_of)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{Bits, agree_at, column, executors};
use autobatch::{BatchError, FaultKind, Isa, Options, Outcome, autobatch, same};

const SIZES: &[usize] = &[1, 33, 700];

/// Compares results and faults with those of the scalar function.
#[track_caller]
pub(crate) fn same_outcomes<I: Clone, R: Bits>(
    inputs: &[I],
    scalar: impl Fn(&I) -> R,
    batched: impl Fn(&[I], &Options) -> Result<Outcome<R>, BatchError>,
) {
    let expected: Vec<Result<R, String>> = inputs
        .iter()
        .map(|input| {
            catch_unwind(AssertUnwindSafe(|| scalar(input))).map_err(|payload| {
                match payload.downcast::<String>() {
                    Ok(message) => *message,
                    Err(payload) => (*payload.downcast::<&str>().expect("a message")).to_owned(),
                }
            })
        })
        .collect();
    assert!(expected.iter().any(Result::is_ok) && expected.iter().any(Result::is_err));
    for size in [1, 70, 300] {
        let batch: Vec<I> = inputs.iter().cycle().take(size).cloned().collect();
        for (name, options) in executors() {
            for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                let outcome = batched(&batch, &options.clone().isa(isa)).expect("a batch");
                for (member, result) in outcome.into_results().into_iter().enumerate() {
                    let want = &expected[member % inputs.len()];
                    let result = result.map_err(|fault| {
                        assert_eq!((fault.member, fault.kind), (member, FaultKind::Panic), "{name}");
                        fault.message.to_string()
                    });
                    assert!(
                        result.same(want),
                        "{name}, {isa:?}: member {member} is {result:?}, not {want:?}"
                    );
                }
            }
        }
    }
}

/// Some numbers without order.
pub(crate) fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Indices below `below`, and some that are beyond if `beyond`.
fn indices(below: u64, beyond: bool) -> Vec<u64> {
    let mut next = noise(88_172_645_463_325_252);
    let mut all: Vec<u64> = (0..97).map(|_| next() % below).collect();
    if beyond {
        (all[40], all[41], all[90]) = (below, u64::MAX, below + 7);
    }
    all
}

struct Split {
    feature: usize,
    threshold: f64,
    left: u32,
    right: u32,
    value: f64,
    is_leaf: bool,
}

/// Trees one behind the other, each node with what it is compared with and where to go.
#[autobatch(strict)]
fn forest(x: [f64; 3], roots: &[u32], nodes: &[Split]) -> f64 {
    let mut sum = 0.0;
    for root in roots {
        let mut at = *root as usize;
        while !nodes[at].is_leaf {
            let node = &nodes[at];
            at = if x[node.feature] < node.threshold { node.left } else { node.right } as usize;
        }
        sum += nodes[at].value;
    }
    sum / roots.len() as f64
}

fn grown(depth: u32, next: &mut impl FnMut() -> u64, nodes: &mut Vec<Split>) -> u32 {
    let (at, number) = (nodes.len(), next());
    let part = |shift: u32| (number >> shift) as u16 as f64 / 65_536.0;
    let is_leaf = depth == 0 || number % 11 == 0;
    let feature = (number % 3) as usize;
    nodes.push(Split { feature, threshold: part(8), left: 0, right: 0, value: part(24), is_leaf });
    if !is_leaf {
        nodes[at].left = grown(depth - 1, next, nodes);
        nodes[at].right = grown(depth - 1, next, nodes);
    }
    at as u32
}

fn points() -> Vec<[f64; 3]> {
    let mut next = noise(17);
    let mut number = move || next() as u16 as f64 / 65_536.0;
    (0..97).map(|_| [number(), number(), number()]).collect()
}

#[test]
fn forests() {
    let (mut nodes, mut next) = (Vec::new(), noise(3));
    let roots: Vec<u32> = (0..7).map(|_| grown(6, &mut next, &mut nodes)).collect();
    for roots in [&roots[..], &roots[..1], &[]] {
        agree_at(
            SIZES,
            &points(),
            |x| forest(*x, roots, &nodes),
            |batch, options| forest_batched_with(batch, roots, &nodes, options),
        );
    }
    // A feature that no member has, and a child that no tree has.
    let spoilt = nodes.iter().position(|n| !n.is_leaf).expect("a split") + 1;
    nodes[spoilt].feature = 3;
    nodes[spoilt].is_leaf = false;
    same_outcomes(
        &points(),
        |x| forest(*x, &roots, &nodes),
        |batch, options| forest_batched_with(batch, &roots, &nodes, options),
    );
    nodes[spoilt].feature = 0;
    nodes[spoilt].threshold = 0.5;
    nodes[spoilt].right = 1 << 30;
    same_outcomes(
        &points(),
        |x| forest(*x, &roots, &nodes),
        |batch, options| forest_batched_with(batch, &roots, &nodes, options),
    );
}

struct Place {
    at: [f64; 2],
    axis: u8,
    below: u32,
    above: u32,
}

const NOWHERE: u32 = u32::MAX;

/// The square of the distance to the nearest place of a tree.
#[autobatch(strict)]
fn nearest(tree: &[Place], at: u32, x: f64, y: f64, best: f64) -> f64 {
    if at == NOWHERE {
        return best;
    }
    let place = &tree[at as usize];
    let (dx, dy) = (x - place.at[0], y - place.at[1]);
    let mut best = best.min(dx * dx + dy * dy);
    let side = if place.axis == 0 { dx } else { dy };
    let (near, far) = if side < 0.0 { (place.below, place.above) } else { (place.above, place.below) };
    best = nearest(tree, near, x, y, best);
    if side * side < best {
        best = nearest(tree, far, x, y, best);
    }
    best
}

fn planted(places: &mut [[f64; 2]], axis: usize, tree: &mut Vec<Place>) -> u32 {
    if places.is_empty() {
        return NOWHERE;
    }
    places.sort_by(|a, b| a[axis].total_cmp(&b[axis]));
    let (middle, at) = (places.len() / 2, tree.len());
    tree.push(Place { at: places[middle], axis: axis as u8, below: 0, above: 0 });
    tree[at].below = planted(&mut places[..middle], 1 - axis, tree);
    tree[at].above = planted(&mut places[middle + 1..], 1 - axis, tree);
    at as u32
}

#[test]
fn trees_by_recursion() {
    let mut places: Vec<[f64; 2]> = points().iter().map(|p| [p[0], p[2]]).collect();
    let mut tree = Vec::new();
    let root = planted(&mut places, 0, &mut tree);
    let run = |tree: &[Place], root: u32, batch: &[[f64; 3]], options: &Options| {
        let (x, y) = (column(batch, |p| p[0]), column(batch, |p| p[1]));
        nearest_batched_with(tree, same(root), &x, &y, same(f64::MAX), options)
    };
    for (tree, root) in [(&tree[..], root), (&[], NOWHERE)] {
        agree_at(
            SIZES,
            &points(),
            |p| nearest(tree, root, p[0], p[1], f64::MAX),
            |batch, options| run(tree, root, batch, options),
        );
    }
    tree[5].below = 97;
    same_outcomes(
        &points(),
        |p| nearest(&tree, root, p[0], p[1], f64::MAX),
        |batch, options| run(&tree, root, batch, options),
    );
}

/// Where one goes from each place; out of bounds element 0 leads back to itself for ever.
#[autobatch(strict)]
fn steps(next: &[usize], start: usize) -> u32 {
    let (mut at, mut steps) = (start, 0);
    while next[at] != 7 {
        at = next[at];
        steps += 1;
    }
    steps
}

#[test]
fn a_lane_that_is_out_of_bounds_does_not_run_on() {
    let next = [0, 4, 9, 5, 7, 4, 3, 7, 6, 77];
    let starts: Vec<usize> = vec![1, 3, 4, 5, 2, 6, 8, 9, 10, 4];
    same_outcomes(
        &starts,
        |at| steps(&next, *at),
        |batch, options| steps_batched_with(&next, batch, options),
    );
    let starts = vec![1, 3, 4, 5, 6, 7, 8];
    agree_at(
        SIZES,
        &starts,
        |at| steps(&next, *at),
        |batch, options| steps_batched_with(&next, batch, options),
    );
}

/// Rows of one length, rows of many, and references to rows.
#[autobatch(strict)]
fn rows(k: u64, fixed: &[[f64; 3]], vectors: &[Vec<u32>], slices: &[&[f32]]) -> f64 {
    let mut sum = 0.0;
    let mut k = k;
    while k > 0 {
        let row = &fixed[k as usize % 5];
        sum += row[k as usize % 3] + fixed[0][(k / 3) as usize % 3];
        sum = sum * 0.5 + f64::from(vectors[k as usize % 4][k as usize % 2]);
        sum -= slices[(k % 3) as usize][(k % 7) as usize] as f64;
        k /= 2;
    }
    sum
}

#[test]
fn lists_of_lists() {
    let fixed: Vec<[f64; 3]> = points()[..5].to_vec();
    let vectors = vec![vec![3, 4], vec![5, 6, 7], vec![8, 9], vec![1, 2]];
    let mut slices: Vec<&[f32]> = vec![&[0.5; 7], &[0.25; 9], &[1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]];
    let inputs = indices(10_000, false);
    agree_at(
        SIZES,
        &inputs,
        |k| rows(*k, &fixed, &vectors, &slices),
        |batch, options| rows_batched_with(batch, &fixed, &vectors, &slices, options),
    );
    slices[1] = &[];
    let inputs = [0, 3, 6, 8, 9, 10, 0, 3, 12];
    same_outcomes(
        &inputs,
        |k| rows(*k, &fixed, &vectors, &slices),
        |batch, options| rows_batched_with(batch, &fixed, &vectors, &slices, options),
    );
}

#[autobatch(strict)]
fn guarded(i: u64, xs: &[f64], ys: &[u32; 4]) -> f64 {
    let at = i as usize;
    let mut sum = if at < xs.len() { xs[at] } else { -1.0 };
    if !xs.is_empty() {
        sum += xs[at % xs.len()];
    }
    if i < 4 && ys[at] > 1 {
        sum += f64::from(ys[at]) * 0.5;
    }
    let mut n = at;
    while n < xs.len() && xs[n] < 0.9 {
        sum += xs[n];
        n += 3;
    }
    sum
}

#[test]
fn lanes_that_do_not_look_fault_nobody() {
    let all: Vec<f64> = points().iter().map(|p| p[1]).collect();
    for xs in [&all[..], &all[..7], &all[..1], &[]] {
        agree_at(
            SIZES,
            &indices(9, true),
            |i| guarded(*i, xs, &[1, 2, 0, 3]),
            |batch, options| guarded_batched_with(batch, xs, &[1, 2, 0, 3], options),
        );
    }
}

#[autobatch(strict)]
fn chosen(i: u64, j: u64, xs: &[f32], #[shared] k: usize) -> f32 {
    let first = xs[i as usize];
    if i % 2 == 0 { first + xs[j as usize] } else { first * xs[k] }
}

#[test]
fn faults_are_the_scalar_functions() {
    let xs: Vec<f32> = points().iter().map(|p| p[1] as f32).collect();
    let inputs: Vec<(u64, u64)> = indices(96, true).into_iter().zip((0..97).map(|j| j * 5)).collect();
    for (xs, k) in [(&xs[..], 3), (&xs[..], 97), (&xs[..20], 7)] {
        same_outcomes(
            &inputs,
            |&(i, j)| chosen(i, j, xs, k),
            |batch, options| {
                chosen_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), xs, k, options)
            },
        );
    }
    let outcome = chosen_batched_with(&[0, 1, 2], &[1, 2, 3], &[], 0, &Options::default()).unwrap();
    assert_eq!(outcome.faults().len(), 3, "an empty list has no element");
}

const SQUARES: [u16; 8] = [0, 1, 4, 9, 16, 25, 36, 49];
static ODD: &[f64] = &[1.0, 3.0, 5.0];
const PAIRS: [(u8, f64); 3] = [(1, 0.5), (2, 0.25), (7, -1.0)];

struct Letters([char; 26]);

/// A list to whoever wrote it.
const LETTERS: Letters = Letters([
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u',
    'v', 'w', 'x', 'y', 'z',
]);

impl std::ops::Index<i64> for Letters {
    type Output = char;
    fn index(&self, at: i64) -> &char {
        &self.0[at.rem_euclid(26) as usize]
    }
}

mod tables {
    pub(super) const CUBES: [[u64; 2]; 3] = [[0, 1], [8, 27], [64, 125]];
    pub(super) const WORD: super::Letters = super::LETTERS;
}

#[autobatch(strict)]
fn constants(k: u64) -> f64 {
    use tables::CUBES;
    let at = k as usize;
    let cube = CUBES[at % 3][at % 2] + tables::CUBES[2][(at + 1) % 2];
    f64::from(SQUARES[at]) + ODD[at % 3] * PAIRS[at % 3].1 + cube as f64 + f64::from(PAIRS[(at + 1) % 3].0)
}

#[autobatch(strict)]
fn letters(k: i64) -> char {
    let mut k = k;
    while LETTERS[k % 26] > 'm' {
        k = k / 2 + 1;
    }
    if k > 5 { tables::WORD[k - 1] } else { LETTERS[k] }
}

#[test]
fn constant_lists() {
    agree_at(
        SIZES,
        &indices(8, false),
        |k| constants(*k),
        |batch, options| constants_batched_with(batch, options),
    );
    same_outcomes(
        &indices(8, true),
        |k| constants(*k),
        |batch, options| constants_batched_with(batch, options),
    );
    let inputs: Vec<i64> = (-40..97).collect();
    agree_at(SIZES, &inputs, |k| letters(*k), |batch, options| letters_batched_with(batch, options));
}

struct Layer {
    weights: Vec<f64>,
    bias: [f64; 3],
    links: Box<[u32]>,
}

struct Model {
    layers: Vec<Layer>,
    first: usize,
}

#[autobatch(strict)]
impl Model {
    fn run(&self, k: u64, x: f64) -> f64 {
        let (mut at, mut x) = (self.first, x);
        for turn in 0..4 {
            let layer = &self.layers[at];
            x = x * layer.weights[(k >> turn) as usize] + layer.bias[turn];
            at = layer.links[k as usize % 2] as usize;
        }
        x
    }
}

#[test]
fn lists_behind_fields() {
    let layer = |i: u32| Layer {
        weights: points().iter().map(|p| p[0] - f64::from(i)).collect(),
        bias: points()[i as usize],
        links: Box::new([(i + 1) % 3, (i + 2) % 3]),
    };
    let model = Model { layers: vec![layer(0), layer(1), layer(2)], first: 1 };
    // In the last round `bias` is out of bounds.
    let outcome = model.run_batched_with(&[3, 4], &[0.5, 1.5], &Options::default()).unwrap();
    assert_eq!(outcome.faults().len(), 2);
}

#[autobatch(strict)]
fn behind_fields(model: &Model, k: u64, x: f64) -> f64 {
    let (mut at, mut x, mut turn) = (model.first, x, 0);
    while turn < 3 {
        let layer = &model.layers[at];
        x = x * layer.weights[(k >> turn) as usize] + layer.bias[turn];
        at = layer.links[k as usize % 2] as usize;
        turn += 1;
    }
    x
}

#[test]
fn lists_behind_fields_of_a_parameter() {
    let layer = |i: u32| Layer {
        weights: points().iter().map(|p| p[0] - f64::from(i)).collect(),
        bias: points()[i as usize],
        links: Box::new([(i + 1) % 3, (i + 2) % 3]),
    };
    let mut model = Model { layers: vec![layer(0), layer(1), layer(2)], first: 1 };
    let run = |model: &Model, batch: &[u64], options: &Options| {
        let x = column(batch, |k| *k as f64 * 0.01);
        behind_fields_batched_with(model, batch, &x, options)
    };
    let inputs = indices(97, false);
    agree_at(
        SIZES,
        &inputs,
        |k| behind_fields(&model, *k, *k as f64 * 0.01),
        |batch, options| run(&model, batch, options),
    );
    model.layers[0].links[1] = 3;
    same_outcomes(
        &inputs,
        |k| behind_fields(&model, *k, *k as f64 * 0.01),
        |batch, options| run(&model, batch, options),
    );
}

/// The ways to go through a list that all members share.
#[autobatch(strict)]
fn through_lists(k: u64, xs: &[f64], pairs: &[(u64, f32)], four: &[u32; 4]) -> f64 {
    let mut sum = 0.0;
    for x in xs {
        let mut n = k;
        while n > 0 {
            sum += x * (n % 3) as f64;
            n /= 3;
        }
    }
    'pairs: for (n, by) in pairs.iter() {
        let mut m = k;
        while m > *n {
            if m % 13 == 5 {
                continue 'pairs;
            }
            if m % 17 == 3 {
                break 'pairs;
            }
            m -= *n + 1;
        }
        sum += f64::from(*by) * m as f64;
    }
    for &y in four {
        let mut n = u64::from(y);
        while n < k {
            n = n * 2 + 1;
        }
        sum -= n as f64;
    }
    for (at, x) in xs.iter().enumerate() {
        let mut n = k;
        while n > at as u64 * 40 {
            sum -= x * (n % 3) as f64;
            n /= 2;
        }
    }
    for &(n, by) in pairs {
        let mut m = n;
        while m < k {
            m += 1 + n;
            sum *= 0.5;
        }
        sum += f64::from(by);
    }
    sum
}

#[test]
fn loops_over_lists() {
    let xs: Vec<f64> = points().iter().map(|p| p[1]).collect();
    let pairs: Vec<(u64, f32)> = points().iter().map(|p| ((p[0] * 9.0) as u64, p[1] as f32)).collect();
    for n in [0, 1, 5] {
        agree_at(
            SIZES,
            &indices(60, false),
            |k| through_lists(*k, &xs[..n], &pairs[..n], &[3, 1, 0, 9]),
            |batch, options| through_lists_batched_with(batch, &xs[..n], &pairs[..n], &[3, 1, 0, 9], options),
        );
    }
}

/// Lists of members that own what they hold.
#[autobatch]
fn joined(n: u64, words: &[String]) -> String {
    let mut all = String::new();
    for word in words {
        let mut k = n;
        while k > 0 {
            all.push_str(&word[..1]);
            k /= 4;
        }
        all += word;
    }
    all
}

#[test]
fn loops_over_lists_of_owners() {
    let words: Vec<String> = ["ash", "beech", "elm"].map(str::to_owned).to_vec();
    for n in 0..4 {
        agree_at(
            &[1, 97],
            &indices(40, false),
            |k| joined(*k, &words[..n]),
            |batch, options| joined_batched_with(batch, &words[..n], options),
        );
    }
}

/// Arrays of a member's own, read and written where it says.
#[autobatch(strict)]
fn own_arrays(k: u64, start: [u32; 5]) -> u32 {
    let mut counts = [0u32; 6];
    let (mut k, mut sum) = (k, start[k as usize % 5]);
    while k > 0 {
        let at = (k % 7) as usize;
        counts[at] += start[(k / 7) as usize % 5] + 1;
        sum = sum.wrapping_mul(31) ^ counts[(k % 5) as usize];
        k /= 3;
    }
    sum
}

#[test]
fn arrays_of_members() {
    let starts = |batch: &[u64]| column(batch, |k| [1, 2, 3, 4, *k as u32]);
    same_outcomes(
        &indices(5000, false),
        |k| own_arrays(*k, [1, 2, 3, 4, *k as u32]),
        |batch, options| own_arrays_batched_with(batch, starts(batch), options),
    );
}

/// Loops that all members run equally often, with lookups in them.
#[autobatch(strict)]
fn uniform_loops(
    k: u64,
    x: f64,
    table: &[u8],
    weights: &[[f64; 2]; 3],
    nodes: &[Place],
    #[shared] n: usize,
) -> f64 {
    let mut sum = x;
    let mut at = k as usize;
    for turn in 0..n {
        sum += weights[at % 3][turn % 2] * f64::from(table[at]);
        at = at / 2 + nodes[turn % 2].axis as usize;
        sum = sum * 0.5 + f64::from(SQUARES[(at + turn) % 8]);
    }
    sum
}

/// Loops of the same kind over a list to whoever wrote it.
#[autobatch(strict)]
fn uniform_letters(k: i64, #[shared] n: i64) -> u32 {
    let mut sum = 0;
    for turn in 0..n {
        sum = sum * 7 % 1009 + LETTERS[k * turn] as u32;
    }
    sum
}

#[test]
fn lookups_in_uniform_loops() {
    let table: Vec<u8> = (0..90).map(|i| (i * 7 % 251) as u8).collect();
    let weights = [[0.5, 0.25], [1.0, -2.0], [0.125, 3.0]];
    let place = |axis| Place { at: [0.0; 2], axis, below: 0, above: 0 };
    let nodes = [place(0), place(1)];
    let run = |batch: &[u64], n: usize, nodes: &[Place], options: &Options| {
        let x = column(batch, |k| *k as f64 * 0.5);
        uniform_loops_batched_with(batch, &x, &table, &weights, nodes, n, options)
    };
    let scalar =
        |k: u64, n: usize, nodes: &[Place]| uniform_loops(k, k as f64 * 0.5, &table, &weights, nodes, n);
    for n in [0, 1, 9, 70] {
        agree_at(
            SIZES,
            &indices(90, false),
            |k| scalar(*k, n, &nodes),
            |batch, options| run(batch, n, &nodes, options),
        );
    }
    agree_at(SIZES, &indices(90, true), |k| scalar(*k, 0, &[]), |batch, options| run(batch, 0, &[], options));
    same_outcomes(
        &indices(90, true),
        |k| scalar(*k, 9, &nodes),
        |batch, options| run(batch, 9, &nodes, options),
    );
    let inputs: Vec<i64> = (-40..57).collect();
    agree_at(
        SIZES,
        &inputs,
        |k| uniform_letters(*k, 40),
        |batch, options| uniform_letters_batched_with(batch, 40, options),
    );
}
