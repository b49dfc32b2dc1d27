//! What random programs (`fuzz/`) have found, each as small as the shrinker made it.

#![allow(unused, clippy::all)] // as the generator writes

mod common;

use autobatch::autobatch;
use common::agree_at;

const SIZES: [usize; 3] = [0, 1, 97];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    value: u32,
}

#[autobatch(strict)]
fn struct_literal_in_a_condition(n: u32) -> u32 {
    let unit = Unit { value: 3 };
    if (Unit { value: n } != unit) {
        n
    } else {
        let mut k = 0;
        while k < n {
            k += 1;
        }
        k + 10
    }
}

#[autobatch(strict)]
fn unused_value_of_a_loop(fuel: u32) -> u32 {
    let mut unused: u32 = {
        let mut k = 0;
        loop {
            if k >= 1 {
                break 3;
            }
            k += 1;
            while k % 3 > 0 {
                k += 1;
            }
            if fuel > 2 {
                break 4;
            }
        }
    };
    fuel
}

#[test]
fn conditions() {
    let ns: Vec<u32> = (0..7).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| struct_literal_in_a_condition(*n),
        |n, o| struct_literal_in_a_condition_batched_with(n, o),
    );
    agree_at(&SIZES, &ns, |n| unused_value_of_a_loop(*n), |n, o| unused_value_of_a_loop_batched_with(n, o));
}
