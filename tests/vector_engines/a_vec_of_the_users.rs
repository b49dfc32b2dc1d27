//! A user's type with the name of std's list keeps its effects.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::executors;
use autobatch::autobatch;

static LOOKS: AtomicUsize = AtomicUsize::new(0);

mod own {
    /// It counts who goes through it, and has no index.
    pub(super) struct Vec<T>(pub(super) [T; 30]);

    impl<T> Vec<T> {
        pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
            super::LOOKS.fetch_add(1, super::Ordering::Relaxed);
            self.0.iter()
        }
    }
}

use own::Vec;

#[autobatch(strict)]
fn watched(x: f64, list: &Vec<f64>) -> f64 {
    let mut sum = x;
    for w in list.iter() {
        sum += w * x + sum * 0.5 - x * x;
    }
    sum
}

#[test]
fn each_member_goes_through_it() {
    let x: [f64; 131] = std::array::from_fn(|i| i as f64 / 64.0 - 1.0);
    let list = Vec(std::array::from_fn(|i| i as f64 * 0.0625));
    let want = x.map(|x| watched(x, &list));
    for (how, options) in executors() {
        LOOKS.store(0, Ordering::Relaxed);
        let got = watched_batched_with(&x, &list, &options).unwrap().into_values().unwrap();
        assert_eq!(LOOKS.load(Ordering::Relaxed), 131, "{how}");
        assert_eq!(got, want, "{how}");
    }
}
