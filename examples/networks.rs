//! Neural networks over data of no fixed shape: sequences of any length, trees, and a beam search that stops when a word ends. All members
//! of a batch that wait at a layer are one call of its kernel.
//!
//! Checked by the scalar loops. `cargo run --release --example networks`

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use autobatch::{BatchError, Executor, Options, Outcome, autobatch, join, same};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, aview1, concatenate, s};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Numbers in a state.
const WIDTH: usize = 96;

/// A layer's weights, and how often its kernel was called.
struct Layer {
    weights: Array2<f64>,
    calls: AtomicUsize,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, random: &mut StdRng) -> Layer {
        let weights = Array2::from_shape_fn((inputs, outputs), |_| random.random_range(-0.2..0.2));
        Layer { weights, calls: AtomicUsize::new(0) }
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// One step of a gated recurrent unit, without biases: Cho et al. 2014.
#[autobatch::primitive(batched = gru_steps)]
fn gru_step(gru: &Layer, x: f64, state: &Array1<f64>) -> Array1<f64> {
    gru_steps(gru, aview1(&[x]), state.view().insert_axis(Axis(0))).row(0).to_owned()
}

fn gru_steps(gru: &Layer, x: ArrayView1<'_, f64>, state: ArrayView2<'_, f64>) -> Array2<f64> {
    gru.calls.fetch_add(1, Relaxed);
    let (inner, outer) = gru.weights.view().split_at(Axis(0), WIDTH);
    let products = state.dot(&inner);
    Array2::from_shape_fn(state.raw_dim(), |(row, i)| {
        let from_x = |gate: usize| x[row] * outer[[0, gate * WIDTH + i]];
        let from_state = |gate: usize| products[[row, gate * WIDTH + i]];
        let update = sigmoid(from_x(0) + from_state(0));
        let reset = sigmoid(from_x(1) + from_state(1));
        let new = (from_x(2) + reset * from_state(2)).tanh();
        (1.0 - update) * new + update * state[[row, i]]
    })
}

/// The state behind a sequence.
#[autobatch]
fn encode(gru: &Layer, #[each] sequence: &[f64]) -> Array1<f64> {
    let mut state = Array1::zeros(WIDTH);
    for x in sequence {
        state = gru_step(gru, *x, &state);
    }
    state
}

/// A sentence's tree.
enum Tree {
    Word(f64),
    Phrase(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn random(words: usize, random: &mut StdRng) -> Tree {
        if words == 1 {
            return Tree::Word(random.random_range(-1.0..1.0));
        }
        let left = random.random_range(1..words);
        Tree::Phrase(Box::new(Tree::random(left, random)), Box::new(Tree::random(words - left, random)))
    }
}

/// A phrase's state from those of its parts: Socher et al. 2011.
#[autobatch::primitive(batched = phrases)]
fn phrase(layer: &Layer, left: &Array1<f64>, right: &Array1<f64>) -> Array1<f64> {
    phrases(layer, left.view().insert_axis(Axis(0)), right.view().insert_axis(Axis(0))).row(0).to_owned()
}

fn phrases(layer: &Layer, left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
    layer.calls.fetch_add(1, Relaxed);
    concatenate![Axis(1), left, right].dot(&layer.weights).mapv_into(f64::tanh)
}

/// The state of a tree. Both parts of a phrase are computed side by side.
#[autobatch]
fn read(layer: &Layer, #[each] tree: &Tree) -> Array1<f64> {
    match tree {
        Tree::Word(x) => Array1::from_shape_fn(WIDTH, |i| (x * (i + 1) as f64).sin()),
        Tree::Phrase(left, right) => {
            let (left, right) = join(|| read(layer, left), || read(layer, right));
            phrase(layer, &left, &right)
        }
    }
}

/// How often a letter follows up to three others, in a text.
struct Letters {
    counts: HashMap<String, [f64; 27]>,
    calls: AtomicUsize,
}

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz ";

impl Letters {
    fn of(text: &str) -> Letters {
        let text = text.to_lowercase().replace(|c: char| !c.is_ascii_lowercase(), " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut counts = HashMap::new();
        for (at, letter) in text.char_indices() {
            let letter = ALPHABET.find(letter).expect("a letter or a space");
            for known in 0..=at.min(3) {
                counts.entry(text[at - known..at].to_owned()).or_insert([0.0; 27])[letter] += 1.0;
            }
        }
        Letters { counts, calls: AtomicUsize::new(0) }
    }

    /// Logarithms of the next letter's chances: contexts count ever more, the longer they are.
    fn chances(&self, before: [u8; 3]) -> [f64; 27] {
        let before = before.map(char::from).iter().collect::<String>();
        let mut weights = [1e-9; 27];
        for known in 0..=3 {
            let Some(counts) = self.counts.get(&before[3 - known..]) else { break };
            let all: f64 = counts.iter().sum();
            weights = std::array::from_fn(|i| 0.05 * weights[i] + counts[i] / all);
        }
        let all: f64 = weights.iter().sum();
        weights.map(|weight| (weight / all).ln())
    }
}

#[autobatch::primitive(batched = all_following)]
fn following(letters: &Letters, before: [u8; 3]) -> [f64; 27] {
    all_following(letters, &[before])[0]
}

fn all_following(letters: &Letters, before: &[[u8; 3]]) -> Vec<[f64; 27]> {
    letters.calls.fetch_add(1, Relaxed);
    before.iter().map(|before| letters.chances(*before)).collect()
}

/// The likeliest end of a word, among those that a search with so many candidates finds.
#[autobatch]
fn complete(letters: &Letters, #[each] begin: &str, beams: usize) -> String {
    let mut best = vec![(0.0, format!("  {begin}"))];
    while !best[0].1.ends_with(' ') && best[0].1.len() < 24 {
        let mut next = Vec::new();
        for (chance, text) in &best {
            if text.ends_with(' ') {
                next.push((*chance, text.clone()));
                continue;
            }
            let before = std::array::from_fn(|i| text.as_bytes()[text.len() - 3 + i]);
            for (letter, more) in ALPHABET.chars().zip(following(letters, before)) {
                next.push((chance + more, format!("{text}{letter}")));
            }
        }
        next.sort_by(|a, b| b.0.total_cmp(&a.0));
        next.truncate(beams);
        best = next;
    }
    best[0].1.trim().to_owned()
}

/// Runs a batch and the scalar loop, and prints a line of the table.
fn compare<R>(
    name: &str,
    calls: &AtomicUsize,
    run: impl Fn(&Options) -> Result<Outcome<R>, BatchError>,
) -> Result<(Vec<R>, Vec<R>), Box<dyn std::error::Error>> {
    let measured = |executor: Executor| -> Result<_, Box<dyn std::error::Error>> {
        calls.store(0, Relaxed);
        let clock = Instant::now();
        let values = run(&Options::default().executor(executor))?.into_values()?;
        Ok((values, calls.load(Relaxed), 1e3 * clock.elapsed().as_secs_f64()))
    };
    let (scalar, scalar_calls, scalar_ms) = measured(Executor::Scalar)?;
    let (batched, batched_calls, batched_ms) = measured(Executor::Auto)?;
    println!("{name:<12} {scalar_calls:>9} {scalar_ms:>9.1} {batched_calls:>9} {batched_ms:>9.1}");
    Ok((scalar, batched))
}

/// Kernels may add in another order for many rows than for one.
fn assert_near(a: &[Array1<f64>], b: &[Array1<f64>]) {
    let apart = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    let worst = apart.fold(0.0, f64::max);
    assert!(a.len() == b.len() && worst < 1e-12, "{worst}");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let random = &mut StdRng::seed_from_u64(1);
    println!("{:<12} {:^19} {:^19}", "", "scalar code", "batched");
    println!("{:<12} {:>9} {:>9} {:>9} {:>9}", "network", "calls", "ms", "calls", "ms");

    let gru = Layer::new(WIDTH + 1, 3 * WIDTH, random);
    let mut sequence = || (0..random.random_range(1..40)).map(|i| (0.3 * f64::from(i)).sin()).collect();
    let sequences: Vec<Vec<f64>> = (0..400).map(|_| sequence()).collect();
    let (scalar, batched) = compare("GRU", &gru.calls, |o| encode_batched_with(&gru, &sequences, o))?;
    assert_near(&scalar, &batched);

    let layer = Layer::new(2 * WIDTH, WIDTH, random);
    let trees: Vec<Tree> = (0..400).map(|i| Tree::random(1 + i % 40, random)).collect();
    let (scalar, batched) = compare("tree", &layer.calls, |o| read_batched_with(&layer, &trees, o))?;
    assert_near(&scalar, &batched);
    println!("{}", batched[0].slice(s![..3]));

    let letters = Letters::of(include_str!("../README.md"));
    let begins = ["ve", "me", "instr", "prog", "sca", "thr", "docu", "fun", "recu", "exec", "ma", "bat"];
    let (scalar, batched) =
        compare("beam search", &letters.calls, |o| complete_batched_with(&letters, &begins, same(8), o))?;
    assert_eq!(scalar, batched);
    for (begin, word) in begins.iter().zip(batched) {
        println!("{begin:>12}… {word}");
    }
    Ok(())
}
