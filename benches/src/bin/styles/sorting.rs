//! Sorting 32 numbers of each member: by insertion, merging, partitioning, exchanging.

#![allow(clippy::needless_range_loop, clippy::manual_swap)] // written as users write

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::peer::stateless_against;
use crate::style::{AnyStyle, stateless};

const MEMBERS: usize = 16_384;
const LENGTH: usize = 32;

/// So that results are short: the sum of numbers times their places.
fn digest(numbers: &[f32; LENGTH]) -> f32 {
    let mut sum = 0.0;
    for i in 0..LENGTH {
        sum += numbers[i] * i as f32;
    }
    sum
}

#[autobatch]
fn insertion(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    for i in 1..LENGTH {
        let x = a[i];
        let mut j = i;
        while j > 0 && a[j - 1] > x {
            a[j] = a[j - 1];
            j -= 1;
        }
        a[j] = x;
    }
    digest(&a)
}

#[autobatch]
fn insertion_by_swaps(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    for i in 1..LENGTH {
        let mut j = i;
        while j > 0 && a[j - 1] > a[j] {
            a.swap(j - 1, j);
            j -= 1;
        }
    }
    digest(&a)
}

/// From runs of one to the whole.
#[autobatch]
fn merging(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    let mut width = 1;
    while width < LENGTH {
        let mut b = [0.0; LENGTH];
        let mut start = 0;
        while start < LENGTH {
            let (middle, end) = (start + width, start + 2 * width);
            let (mut i, mut j) = (start, middle);
            for k in start..end {
                if i < middle && (j >= end || a[i] <= a[j]) {
                    b[k] = a[i];
                    i += 1;
                } else {
                    b[k] = a[j];
                    j += 1;
                }
            }
            start = end;
        }
        a = b;
        width *= 2;
    }
    digest(&a)
}

/// Quicksort with a stack of its own.
#[autobatch]
fn partitioning(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    let mut stack = [(0usize, 0usize); LENGTH];
    stack[0] = (0, LENGTH);
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let (low, high) = stack[top];
        if high - low < 2 {
            continue;
        }
        let pivot = a[high - 1];
        let mut store = low;
        for i in low..high - 1 {
            if a[i] < pivot {
                a.swap(i, store);
                store += 1;
            }
        }
        a.swap(store, high - 1);
        stack[top] = (low, store);
        stack[top + 1] = (store + 1, high);
        top += 2;
    }
    digest(&a)
}

#[autobatch]
fn selection(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    for i in 0..LENGTH {
        let mut least = i;
        for j in i + 1..LENGTH {
            if a[j] < a[least] {
                least = j;
            }
        }
        a.swap(i, least);
    }
    digest(&a)
}

/// Neighbours are exchanged, even and odd places in turns.
#[autobatch]
fn exchanging(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    for round in 0..LENGTH {
        let mut i = round % 2;
        while i + 1 < LENGTH {
            if a[i] > a[i + 1] {
                let x = a[i];
                a[i] = a[i + 1];
                a[i + 1] = x;
            }
            i += 2;
        }
    }
    digest(&a)
}

counterpart! {
    fn ispc_insertion(columns(numbers: [f32; LENGTH])) -> f32
}

counterpart! {
    fn ispc_merging(columns(numbers: [f32; LENGTH])) -> f32
}

counterpart! {
    fn ispc_exchanging(columns(numbers: [f32; LENGTH])) -> f32
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    let rows = || -> Vec<[f32; LENGTH]> {
        let mut numbers = Numbers::new(53);
        (0..n).map(|_| std::array::from_fn(|_| numbers.within(0.0, 1.0) as f32)).collect()
    };
    macro_rules! style {
        ($name:literal, $scalar:ident, $batched:ident) => {
            stateless($name, rows(), n, |i, m, ()| $scalar(i[m]), |i, _, options| $batched(i, options))
        };
        ($name:literal, $scalar:ident, $batched:ident, $peer:ident) => {
            stateless_against(
                $name,
                rows(),
                n,
                |i, m, ()| $scalar(i[m]),
                |i, _, options| $batched(i, options),
                Agreement::Close { tolerance: 1e-5, except: 0.0 },
                |i, target, first, out| $peer(target, first, i, out),
            )
        };
    }
    vec![
        style!("sort/insertion", insertion, insertion_batched_with, ispc_insertion),
        style!("sort/insertion by swaps", insertion_by_swaps, insertion_by_swaps_batched_with),
        style!("sort/merging", merging, merging_batched_with, ispc_merging),
        style!("sort/partitioning", partitioning, partitioning_batched_with),
        style!("sort/selection", selection, selection_batched_with),
        style!("sort/exchanging", exchanging, exchanging_batched_with, ispc_exchanging),
    ]
}
