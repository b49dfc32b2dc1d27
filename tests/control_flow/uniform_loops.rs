//! `for` loops that all members run equally often, around a state of a few numbers: structs, arrays and references, written in
//! several styles.

#![allow(clippy::needless_range_loop)] // written as users write

use crate::common::{agree, agree_at, column, executors};
use autobatch::{Isa, autobatch};

const SIZES: [usize; 3] = [1, 67, 700];
const DIM: usize = 3;

/// A population of hares and lynxes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Animals {
    prey: f64,
    hunters: f64,
}

impl Animals {
    fn rate(self) -> Animals {
        Animals {
            prey: self.prey * (1.1 - 0.4 * self.hunters),
            hunters: self.hunters * (0.1 * self.prey - 0.4),
        }
    }

    fn plus(self, h: f64, rate: Animals) -> Animals {
        Animals { prey: self.prey + h * rate.prey, hunters: self.hunters + h * rate.hunters }
    }

    fn step(&mut self, h: f64) {
        let middle = self.plus(0.5 * h, self.rate());
        *self = self.plus(h, middle.rate());
    }
}

#[autobatch(strict)]
fn structure(start: Animals, limit: f64) -> (f64, u32) {
    let mut s = start;
    let (mut highest, mut above) = (f64::NEG_INFINITY, 0);
    for i in 0..50 {
        s.step(0.05);
        if s.prey < limit {
            continue;
        }
        above += i;
        highest = highest.max(s.prey);
    }
    (highest, above)
}

fn field(y: &[f64; DIM], mu: f64) -> [f64; DIM] {
    [y[1], mu * (1.0 - y[0] * y[0]) * y[1] - y[0], y[0]]
}

#[autobatch(strict)]
fn iterators(mu: f64, steps: &usize) -> f64 {
    let mut y = [1.0, 0.0, 0.0];
    let h = 0.01;
    for _ in 0..*steps {
        let k1 = field(&y, mu);
        let z: [f64; DIM] = std::array::from_fn(|i| y[i] + h * k1[i]);
        let k2 = field(&z, mu);
        for (y, (a, b)) in y.iter_mut().zip(k1.iter().zip(&k2)) {
            *y += 0.5 * h * (a + b);
        }
    }
    y.iter().sum()
}

#[autobatch(strict)]
fn indices(mu: f64, steps: &usize) -> f64 {
    let mut y = [1.0, 0.0, 0.0];
    let h = 0.01;
    for _ in (0..*steps).rev() {
        let k1 = field(&y, mu);
        let mut z = [0.0; DIM];
        for i in 0..DIM {
            z[i] = y[i] + h * k1[i];
        }
        let k2 = field(&z, mu);
        for i in 0..DIM {
            y[i] += 0.5 * h * (k1[i] + k2[i]);
        }
    }
    y[0] + y[1] + y[2]
}

#[autobatch(strict)]
fn reference(y: &mut [f64; DIM], mu: f64) -> f64 {
    let h = 0.01;
    let mut length = 0.0;
    for _ in 0..40 {
        let k = field(y, mu);
        for (y, k) in y.iter_mut().zip(k) {
            *y += h * k;
        }
        length += h * (k[0] * k[0] + k[1] * k[1]).sqrt();
    }
    length
}

#[autobatch(strict)]
fn list(weights: &[f64], x: f64) -> f64 {
    let mut s = (0.0, 1.0);
    for &w in weights {
        let pair = [s.0 * w, s.1 + x];
        s = (pair.iter().sum::<f64>().sin(), pair.iter().product::<f64>().cos());
    }
    for (i, w) in weights.iter().enumerate() {
        let pair = [s.0 * w, s.1 + i as f64];
        s = (pair.iter().sum(), pair.iter().fold(x, |a, b| 0.5 * (a - b)));
    }
    s.0 - s.1
}

/// Loops inside loops, of which the inner one can be interchanged.
#[autobatch(strict)]
fn nested(x: u32, rows: &u32) -> u32 {
    let mut s = [x, 1];
    for r in 0..*rows {
        let mut sum = 0u32;
        for c in 0..30 {
            sum = sum.wrapping_mul(5).wrapping_add(x ^ c ^ r);
        }
        s = s.map(|v| v.rotate_left(3) ^ sum);
        for i in 0..2u32 {
            if (s[0] ^ i) & 3 == r & 3 {
                s[1] = s[1].wrapping_add(s[0]);
            }
        }
    }
    s[0] ^ s[1]
}

/// A local that refers to another lives from round to round: such a loop stays in one piece.
#[autobatch]
fn borrowed(x: f64) -> f64 {
    let mut all = [x, 0.5, 0.25];
    let last = &mut all[2];
    for i in 0..20 {
        let pair = [*last, f64::from(i)];
        *last = pair.iter().sum::<f64>() * 0.5;
    }
    all[0] + all[2]
}

/// Elements that are picked by what a member computes.
#[autobatch(strict)]
fn picked(x: u32) -> u32 {
    let mut bins = [0u32; 8];
    let mut s = x;
    for i in 0..100 {
        s = s.wrapping_mul(1_664_525).wrapping_add(i);
        bins[(s >> 29) as usize] += 1;
    }
    bins.iter().enumerate().map(|(i, n)| i as u32 * n).sum()
}

/// A panic in a round is the member's.
#[autobatch]
fn faulty(x: u32) -> u32 {
    let mut s = [x, 7];
    for i in 0..12u32 {
        let [a, b] = s;
        assert!(a != 1000 + i, "no {a}");
        s = [a + 1, b ^ a];
    }
    s[0] ^ s[1]
}

fn numbers() -> Vec<f64> {
    (0..97).map(|i| 0.2 + f64::from(i) * 0.03).collect()
}

#[test]
fn states_of_structs_and_arrays() {
    let animals: Vec<(Animals, f64)> = (0..89)
        .map(|i| (Animals { prey: 5.0 + f64::from(i) * 0.1, hunters: 1.0 + f64::from(i % 7) }, 6.0))
        .collect();
    agree_at(
        &SIZES,
        &animals,
        |&(start, limit)| structure(start, limit),
        |m, o| structure_batched_with(column(m, |i| i.0), column(m, |i| i.1), o),
    );
    for steps in [0, 1, 25] {
        agree(&numbers(), |&mu| iterators(mu, &steps), |m, o| iterators_batched_with(m, &steps, o));
        agree(&numbers(), |&mu| indices(mu, &steps), |m, o| indices_batched_with(m, &steps, o));
    }
}

#[test]
fn states_behind_references() {
    let starts: Vec<([f64; DIM], f64)> =
        numbers().into_iter().map(|x| ([x, 1.0 - x, 0.5], 0.3 + x)).collect();
    for (name, options) in executors() {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let mut states = column(&starts, |i| i.0);
            let outcome =
                reference_batched_with(&mut states, column(&starts, |i| i.1), &options.clone().isa(isa));
            let lengths = outcome.expect("a batch").into_values().expect("no faults");
            for (member, &(start, mu)) in starts.iter().enumerate() {
                let mut y = start;
                assert_eq!(
                    lengths[member].to_bits(),
                    reference(&mut y, mu).to_bits(),
                    "{name}, {isa:?}: {member}"
                );
                assert_eq!(
                    states[member].map(f64::to_bits),
                    y.map(f64::to_bits),
                    "{name}, {isa:?}: {member}"
                );
            }
        }
    }
}

#[test]
fn a_panic_in_a_round_is_its_members() {
    let seeds: Vec<u32> = (0..300).map(|i| 900 + i % 150).collect();
    let fails = |x: u32| x == 1000;
    for (name, options) in executors() {
        let outcome = faulty_batched_with(&seeds, &options.quiet(true)).expect("a batch");
        let results = outcome.into_results();
        for (&x, result) in seeds.iter().zip(&results) {
            match fails(x) {
                true => {
                    assert!(result.as_ref().is_err_and(|fault| fault.message.contains("no 1000")), "{name}")
                }
                false => assert_eq!(result.as_ref().ok(), Some(&faulty(x)), "{name}: {x}"),
            }
        }
    }
}

#[test]
fn lists_and_nests() {
    let weights: Vec<f64> = (0..23).map(|i| (f64::from(i) * 0.7).sin()).collect();
    for weights in [&weights[..], &[]] {
        agree(&numbers(), |&x| list(weights, x), |m, o| list_batched_with(weights, m, o));
    }
    let seeds: Vec<u32> = (0..83).map(|i| i * 2_654_435).collect();
    agree(&seeds, |&x| nested(x, &9), |m, o| nested_batched_with(m, &9, o));
    agree(&seeds, |&x| picked(x), |m, o| picked_batched_with(m, o));
    agree(&numbers(), |&x| borrowed(x), |m, o| borrowed_batched_with(m, o));
}
