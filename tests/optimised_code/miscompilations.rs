//! Programs that LLVM has compiled wrongly. Only optimised code shows it: `cargo test --release --test optimised_code`.

// Written as users write.
#![allow(clippy::manual_swap)]

use autobatch::{Executor, Isa, Options, autobatch};

/// Members at several program points of a frame at once: whether somebody is at a point was a flag, and LLVM 22 made a
/// vector of bits of four such flags.
#[autobatch(strict)]
mod flags {
    pub(super) fn kept(n: u32, on: bool, x: i64) -> i64 {
        if x < 0 {
            fork(n);
        } else if on {
        } else {
            if n > 0 {
                fork(n - 1);
            }
            let mut k = 0u32;
            while k < 1 {
                k += 1;
            }
        }
        x
    }

    fn fork(n: u32) -> f64 {
        if n == 0 {
            return 0.5;
        }
        fork(n - 1) + fork(n - 1)
    }
}

#[test]
fn members_at_several_program_points() {
    for members in [1, 2, 3, 7, 40] {
        for bits in 0..64u32 {
            let n: Vec<u32> = (0..members).map(|i| bits >> (2 * i % 6) & 1).collect();
            let on: Vec<bool> = (0..members).map(|i| bits >> ((2 * i + 1) % 6) & 1 == 1).collect();
            let x: Vec<i64> = (0..members).map(|i| 100 + i64::from(i)).collect();
            // One way only: where LLVM compiles others beside it, the flags stay apart.
            let options = Options::default().executor(Executor::Masked).isa(Isa::Avx512);
            let options = options.lanes(members as usize).threads(1);
            let got = flags::kept_batched_with(&n, &on, &x, &options).expect("columns of one length");
            assert_eq!(got.into_values().expect("nobody fails"), x, "{n:?} {on:?}");
        }
    }
}

/// A division whose operands all lanes share, under a condition: LLVM 22 makes it for the first lane only.
#[autobatch(strict)]
fn picked(x: u64, on: bool, xs: &[u64]) -> u64 {
    if on && !xs.is_empty() { x ^ xs[8 % xs.len()] } else { x }
}

#[test]
fn divisions_by_some_members() {
    let x: Vec<u64> = (0..200).map(|i| i * 7 + 1).collect();
    let on: Vec<bool> = (0..200).map(|i| i % 3 == 1).collect();
    for xs in [vec![], vec![9, 8, 7, 6, 5]] {
        let want: Vec<u64> = (0..200).map(|i| picked(x[i], on[i], &xs)).collect();
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let options = Options::default().executor(Executor::Masked).isa(isa);
            let got = picked_batched_with(&x, &on, &xs, &options).expect("columns of one length");
            assert_eq!(got.into_values().expect("nobody fails"), want, "{isa:?}");
        }
    }
}

/// Elements that are stored under a condition behind a look at them: LLVM 22 moves the look behind the store.
#[autobatch(strict)]
fn kept_smallest(seed: u32, rounds: &u32) -> u32 {
    let mut row = [0u32; 16];
    for j in 0..16 {
        row[j as usize] = seed.wrapping_mul(0x9E37_79B9 + 2 * j) >> 20;
    }
    let mut last = seed;
    for i in 0..*rounds {
        for j in 1..16 {
            let next = if row[j] & 3 == i & 3 { last } else { last.min(row[j]).min(row[j - 1]) + 1 };
            if next & 1 == 0 {
                last = row[j];
                row[j] = next;
            }
            if row[j] < row[j - 1] {
                let smaller = row[j];
                row[j] = row[j - 1];
                row[j - 1] = smaller;
            }
        }
    }
    row.iter().fold(last, |sum, x| sum.rotate_left(3) ^ x)
}

/// The same where members have different numbers of rounds.
#[autobatch(strict)]
fn distance(#[each] a: &[u8], #[each] b: &[u8]) -> u32 {
    let mut row = [0u32; 33];
    for (j, _) in b.iter().enumerate() {
        row[j + 1] = j as u32 + 1;
    }
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        for (j, y) in b.iter().enumerate() {
            let next = if x == y { diagonal } else { diagonal.min(row[j]).min(row[j + 1]) + 1 };
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

#[test]
fn looks_before_stores_under_a_condition() {
    let seeds: Vec<u32> = (0..300).map(|i| i * 977 + 5).collect();
    let want: Vec<u32> = seeds.iter().map(|seed| kept_smallest(*seed, &9)).collect();
    let words = |salt: usize| -> Vec<Vec<u8>> {
        let letter = |i: usize, k: usize| ((i * 31 + k * k * salt) / 3 % 4) as u8;
        (0..300).map(|i| (0..(i * salt) % 33).map(|k| letter(i, k)).collect()).collect()
    };
    let (a, b) = (words(7), words(5));
    let distances: Vec<u32> = a.iter().zip(&b).map(|(a, b)| distance(a, b)).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let options = Options::default().executor(executor).isa(isa);
            let got = kept_smallest_batched_with(&seeds, &9, &options).expect("columns of one length");
            assert_eq!(got.into_values().expect("nobody fails"), want, "{isa:?}");
            let got = distance_batched_with(&a, &b, &options).expect("columns of one length");
            assert_eq!(got.into_values().expect("nobody fails"), distances, "{isa:?}");
        }
    }
}
