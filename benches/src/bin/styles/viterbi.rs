//! Viterbi's decoder: the likeliest way through six hidden states, for each member's observations.

#![allow(clippy::needless_range_loop)] // written as users write

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::peer::{Rows, stateless_against};
use crate::style::{AnyStyle, stateless};

const MEMBERS: usize = 8_192;
const STATES: usize = 6;
const LONGEST: usize = 48;

/// Logarithms of probabilities.
#[derive(Clone, Debug)]
struct Model {
    start: [f32; STATES],
    change: [[f32; STATES]; STATES],
    /// For each symbol, what each state gives it.
    emit: [[f32; STATES]; 4],
}

/// The score alone, by indices.
#[autobatch]
fn score(#[each] seen: &[u8], model: &Model) -> f32 {
    let mut best = [0.0f32; STATES];
    for s in 0..STATES {
        best[s] = model.start[s] + model.emit[seen[0] as usize][s];
    }
    for t in 1..seen.len() {
        let mut next = [0.0f32; STATES];
        for s in 0..STATES {
            let mut most = f32::NEG_INFINITY;
            for p in 0..STATES {
                let score = best[p] + model.change[p][s];
                if score > most {
                    most = score;
                }
            }
            next[s] = most + model.emit[seen[t] as usize][s];
        }
        best = next;
    }
    let mut most = f32::NEG_INFINITY;
    for s in 0..STATES {
        most = most.max(best[s]);
    }
    most
}

/// The score alone, by iterators.
#[autobatch]
fn score_by_iterators(#[each] seen: &[u8], model: &Model) -> f32 {
    let first = &model.emit[seen[0] as usize];
    let mut best: [f32; STATES] = std::array::from_fn(|s| model.start[s] + first[s]);
    for symbol in &seen[1..] {
        let emit = &model.emit[*symbol as usize];
        best = std::array::from_fn(|s| {
            let most = (0..STATES).map(|p| best[p] + model.change[p][s]).fold(f32::NEG_INFINITY, f32::max);
            most + emit[s]
        });
    }
    best.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// The path too: where each state came from is kept, and followed back. The result is a hash of it.
#[autobatch]
fn path(#[each] seen: &[u8], model: &Model) -> u32 {
    let mut from = [[0u8; STATES]; LONGEST];
    let mut best = [0.0f32; STATES];
    for s in 0..STATES {
        best[s] = model.start[s] + model.emit[seen[0] as usize][s];
    }
    for t in 1..seen.len() {
        let mut next = [0.0f32; STATES];
        for s in 0..STATES {
            let mut most = f32::NEG_INFINITY;
            for p in 0..STATES {
                let score = best[p] + model.change[p][s];
                if score > most {
                    most = score;
                    from[t][s] = p as u8;
                }
            }
            next[s] = most + model.emit[seen[t] as usize][s];
        }
        best = next;
    }
    let mut state = 0;
    for s in 1..STATES {
        if best[s] > best[state] {
            state = s;
        }
    }
    let mut hash = state as u32;
    for t in (1..seen.len()).rev() {
        state = from[t][state] as usize;
        hash = hash.wrapping_mul(31).wrapping_add(state as u32);
    }
    hash
}

impl Model {
    /// The next scores.
    fn step(&self, best: &[f32; STATES], symbol: u8) -> [f32; STATES] {
        let mut next = [f32::NEG_INFINITY; STATES];
        for s in 0..STATES {
            for p in 0..STATES {
                next[s] = next[s].max(best[p] + self.change[p][s]);
            }
            next[s] += self.emit[symbol as usize][s];
        }
        next
    }
}

/// The score alone, by a method of the model.
#[autobatch]
fn score_by_method(#[each] seen: &[u8], model: &Model) -> f32 {
    let mut best = model.start;
    for s in 0..STATES {
        best[s] += model.emit[seen[0] as usize][s];
    }
    for symbol in &seen[1..] {
        best = model.step(&best, *symbol);
    }
    let mut most = best[0];
    for s in 1..STATES {
        most = most.max(best[s]);
    }
    most
}

/// Scores in place, the loop by `while`.
#[autobatch]
fn score_by_while(#[each] seen: &[u8], model: &Model) -> f32 {
    let mut best = model.start;
    let mut t = 0;
    loop {
        for (b, e) in best.iter_mut().zip(&model.emit[seen[t] as usize]) {
            *b += e;
        }
        t += 1;
        if t == seen.len() {
            break;
        }
        let old = best;
        for (s, b) in best.iter_mut().enumerate() {
            *b = old[0] + model.change[0][s];
            for p in 1..STATES {
                *b = b.max(old[p] + model.change[p][s]);
            }
        }
    }
    best.iter().fold(f32::NEG_INFINITY, |most, b| most.max(*b))
}

struct Inputs {
    seen: Vec<Vec<u8>>,
    rows: Rows,
    model: Model,
}

fn inputs(members: usize) -> Inputs {
    let mut numbers = Numbers::new(61);
    let half = LONGEST as u64 / 2;
    let seen: Vec<Vec<u8>> = (0..members)
        .map(|_| (0..half + numbers.below(half + 1)).map(|_| numbers.below(4) as u8).collect())
        .collect();
    let mut logarithm = || numbers.within(-4.0, 0.0) as f32;
    let model = Model {
        start: std::array::from_fn(|_| logarithm()),
        change: std::array::from_fn(|_| std::array::from_fn(|_| logarithm())),
        emit: std::array::from_fn(|_| std::array::from_fn(|_| logarithm())),
    };
    Inputs { rows: Rows::of(&seen), seen, model }
}

counterpart! {
    fn ispc_viterbi(
        columns(starts: u32, lengths: u32), shared(seen: u8, start: f32, change: f32, emit: f32)
    ) -> f32
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    macro_rules! style {
        ($name:literal, $scalar:ident, $batched:ident) => {
            stateless(
                $name,
                inputs(n),
                n,
                |i, m, ()| $scalar(&i.seen[m], &i.model),
                |i, _, options| $batched(&i.seen, &i.model, options),
            )
        };
    }
    vec![
        stateless_against(
            "viterbi/indices",
            inputs(n),
            n,
            |i, m, ()| score(&i.seen[m], &i.model),
            |i, _, options| score_batched_with(&i.seen, &i.model, options),
            Agreement::Close { tolerance: 1e-5, except: 0.0 },
            |Inputs { rows, model, .. }, target, first, out| {
                let (change, emit) = (model.change.as_flattened(), model.emit.as_flattened());
                let (starts, seen) = (&rows.starts, &rows.elements);
                ispc_viterbi(target, first, starts, &rows.lengths, out, seen, &model.start, change, emit);
            },
        ),
        style!("viterbi/iterators", score_by_iterators, score_by_iterators_batched_with),
        style!("viterbi/method", score_by_method, score_by_method_batched_with),
        style!("viterbi/while", score_by_while, score_by_while_batched_with),
        style!("viterbi/path", path, path_batched_with),
    ]
}
