//! Primitives in other files of the crate are named where blocks are to know them; else fibers find them.

mod model;

use crate::common::agree_at;
use autobatch::{Options, autobatch};
use model::inner::cube as cubed;

#[autobatch(strict, primitives(model::slope, cubed))]
fn descend(x: f64, steps: u32) -> f64 {
    let mut at = x;
    for step in 0..steps {
        at -= 0.1 * model::slope(at) + cubed(f64::from(step));
    }
    at
}

/// The same, whose primitives nobody has named.
#[autobatch]
fn unnamed(x: f64, steps: u32) -> f64 {
    let mut at = x;
    for step in 0..steps {
        at -= 0.1 * model::slope(at) + cubed(f64::from(step));
    }
    at
}

#[test]
fn named_primitives_are_in_blocks_and_others_on_fibers() {
    let xs: Vec<(f64, u32)> = (0..30).map(|i| (f64::from(i) * 0.3, i as u32 % 7)).collect();
    agree_at(
        &[0, 1, 97],
        &xs,
        |(x, n)| descend(*x, *n),
        |b, o| descend_batched_with(crate::common::column(b, |b| b.0), crate::common::column(b, |b| b.1), o),
    );
    assert_eq!(descend_batched::program().blocks.iter().filter(|b| b.primitive).count(), 2);
    agree_at(
        &[0, 1, 97],
        &xs,
        |(x, n)| unnamed(*x, *n),
        |b, o| unnamed_batched_with(crate::common::column(b, |b| b.0), crate::common::column(b, |b| b.1), o),
    );
    assert!(unnamed_batched::program().blocks.iter().all(|b| !b.primitive));
    // The first run finds them.
    let options = Options::default().threads(1);
    for first in [true, false] {
        model::CALLS.set(0);
        unnamed_batched_with(&[1.0; 50], &[9; 50], &options).unwrap();
        assert!(first || model::CALLS.get() == 9, "{}", model::CALLS.get());
    }
}
