//! Functions that call themselves several times, where no call needs another's result: all calls are made at once.

#![allow(clippy::many_single_char_names, clippy::manual_is_multiple_of, clippy::too_many_arguments)] // written as users write

use crate::common::{agree_at, column};
use autobatch::{Executor, FaultKind, Isa, Options, autobatch, same};

/// Variables made before, between and behind the calls, parameters that change between them, three calls.
#[autobatch(strict)]
mod trees {
    pub(super) fn weigh(mut depth: u32, mut seed: u64, scale: f32, #[shared] base: u64) -> (u64, f32) {
        seed = seed.wrapping_mul(base).wrapping_add(1);
        let turn = seed >> 60;
        if depth == 0 || turn == 3 {
            return (turn, scale + 0.25);
        }
        depth -= 1;
        let low = weigh(depth, seed ^ 1, scale * 0.5, base);
        if_needed();
        let half = scale / 3.0;
        depth /= 2;
        let middle = weigh(depth, seed.rotate_left(17), half, base);
        seed = !seed;
        let high = weigh(depth, seed >> turn, half + 1.0, base);
        let sum = low.0 * 31 + middle.0 * 7 + high.0 + turn + u64::from(depth);
        (sum % 1_000_003 + (seed & 1), low.1 - middle.1 * half + high.1)
    }

    fn if_needed() {}
}

fn shapes(count: u64) -> Vec<(u32, u64)> {
    (0..count).map(|i| ((i * 7 % 13) as u32, i * 0x9e37_79b9)).collect()
}

#[test]
fn three_calls_and_the_code_between() {
    agree_at(
        &[1, 2, 33, 500, 3000],
        &shapes(89),
        |&(depth, seed)| trees::weigh(depth, seed, 1.5, 6_364_136_223_846_793_005),
        |batch, options| {
            let (depth, seed) = (column(batch, |x| x.0), column(batch, |x| x.1));
            trees::weigh_batched_with(&depth, &seed, same(1.5), 6_364_136_223_846_793_005, options)
        },
    );
}

/// Values of all sizes, a result wider than a vector's lane, and a function that enters the recursion.
#[autobatch(strict)]
mod mixed {
    pub(super) fn start(n: u8, x: i16) -> [u32; 3] {
        let from = split(n, x, (1, 2.5), n % 2 == 0);
        [from[0] + 1, from[1], from[2] ^ u32::from(n)]
    }

    fn split(n: u8, x: i16, pair: (u64, f64), flag: bool) -> [u32; 3] {
        if n < 2 {
            return [u32::from(n), x as u32, pair.0 as u32 ^ pair.1.to_bits() as u32];
        }
        let left = split(n - 1, x.wrapping_mul(3), (pair.0 ^ 5, pair.1 * 0.5), !flag);
        let right = split(n - 2, x ^ 77, (pair.0 << 1, pair.1 + 1.0), flag & (x > 0));
        [left[0].wrapping_add(right[1]), left[1] ^ right[2], if flag { left[2] } else { right[0] }]
    }
}

#[test]
fn values_of_all_sizes() {
    let inputs: Vec<(u8, i16)> = (0..77).map(|i| ((i % 14) as u8, i * 411)).collect();
    agree_at(
        &[1, 64, 1100],
        &inputs,
        |&(n, x)| mixed::start(n, x),
        |batch, options| mixed::start_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), options),
    );
}

/// Sums that stand between the calls.
#[autobatch(strict)]
fn paths(n: u32, x: f64, #[shared] by: f64) -> (u64, f64) {
    if n < 3 {
        return (u64::from(n), x);
    }
    let (one, two) = (paths(n - 1, x * by, by), paths(n - 2, x + by, by));
    let of_both = one.0 * 3 + two.0;
    let factor = of_both as f64 * 0.125 + one.1;
    let three = paths(n - 3, x - f64::from(n), by);
    (of_both % 1_000_003 + three.0 + paths(n / 2, by, by).0, factor * two.1 - three.1)
}

#[test]
fn sums_between_calls() {
    let inputs: Vec<(u32, f64)> = (0..70).map(|i| (i % 11, f64::from(i) * 0.37)).collect();
    agree_at(
        &[1, 100, 900],
        &inputs,
        |&(n, x)| paths(n, x, 0.75),
        |batch, options| paths_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), 0.75, options),
    );
}

/// A call that needs what another has returned: one after the other.
#[autobatch(strict)]
fn chained(n: u32, x: u32) -> u32 {
    if n == 0 {
        return x % 1009;
    }
    let first = chained(n - 1, x + 3);
    let second = chained(n / 2, first);
    first * 2 + second
}

#[test]
fn calls_that_need_each_other() {
    let inputs: Vec<(u32, u32)> = (0..50).map(|i| (i % 9, i * 13)).collect();
    agree_at(
        &[1, 300, 2000],
        &inputs,
        |&(n, x)| chained(n, x),
        |batch, options| chained_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), options),
    );
}

#[autobatch(strict)]
fn guarded(n: u64, seed: u64) -> u64 {
    assert!(seed % 1024 != 1000, "seed {seed}");
    if n < 2 {
        return seed;
    }
    let left = guarded(n - 1, seed / 2);
    let right = guarded(n - 2, seed / 3);
    left ^ right.rotate_left(5)
}

fn ways() -> Vec<Options> {
    let mut all = Vec::new();
    for isa in [Isa::Avx512, Isa::Avx2] {
        for lanes in [1, 40, 2048] {
            for threads in [1, 2] {
                let options = Options::default().executor(Executor::Masked).isa(isa);
                all.push(options.lanes(lanes).threads(threads));
            }
        }
    }
    all
}

#[test]
fn a_member_that_panics_ends_alone() {
    let n: Vec<u64> = (0..2500).map(|i| i % 14).collect();
    let seeds: Vec<u64> = (0..2500).map(|i| i * 37).collect();
    let want: Vec<Option<u64>> = n
        .iter()
        .zip(&seeds)
        .map(|(&n, &seed)| {
            fn fails(n: u64, seed: u64) -> bool {
                seed % 1024 == 1000 || n >= 2 && (fails(n - 1, seed / 2) || fails(n - 2, seed / 3))
            }
            (!fails(n, seed)).then(|| guarded(n, seed))
        })
        .collect();
    assert!(want.iter().filter(|value| value.is_none()).count() > 10);
    for options in ways() {
        let outcome = guarded_batched_with(&n, &seeds, &options).unwrap();
        let values: Vec<Option<u64>> = outcome.into_results().into_iter().map(Result::ok).collect();
        assert_eq!(values, want, "{options:?}");
    }
}

#[autobatch(strict)]
fn sparse(n: u64, arms: u64) -> u64 {
    if n == 0 {
        return arms;
    }
    // One call returns at once, the other goes on: as deep as a list.
    sparse(n - 1, arms / 2).wrapping_mul(3) ^ sparse(if arms > 0 { n - 1 } else { 0 }, 0)
}

#[test]
fn the_depth_is_what_it_is_in_scalar_code() {
    // A few members that are far deeper than the others, and one arm that is.
    let n: Vec<u64> = (0..900).map(|i| if i % 300 == 7 { 3000 } else { i % 40 }).collect();
    let arms: Vec<u64> = (0..900).map(|i| i % 5).collect();
    let run = |options: &Options| sparse_batched_with(&n, &arms, options).unwrap().into_results();
    let scalar = run(&Options::default().executor(Executor::Scalar));
    assert!(scalar.iter().all(Result::is_ok));
    for options in ways() {
        let values = run(&options);
        assert!(values.iter().zip(&scalar).all(|(a, b)| a.as_ref().ok() == b.as_ref().ok()), "{options:?}");
        for most in [0, 1, 2, 38, 39, 2999] {
            for (member, result) in run(&options.clone().max_depth(most)).into_iter().enumerate() {
                match result {
                    Ok(value) => {
                        assert!(n[member] <= most as u64 && Some(&value) == scalar[member].as_ref().ok())
                    }
                    Err(fault) => assert!(
                        n[member] > most as u64 && fault.kind == FaultKind::DepthExceeded,
                        "{options:?}: {fault}"
                    ),
                }
            }
        }
    }
}

/// Enough work in each activation for lanes to recurse together where they agree.
#[autobatch(strict)]
mod quadrature {
    fn bump(x: f64, k: f64) -> f64 {
        1.0 / (1.0 + k * x * x) + x * x
    }

    fn split(k: f64, a: f64, fa: f64, b: f64, fb: f64, m: f64, fm: f64, whole: f64, depth: u8) -> (f64, u32) {
        let (lm, rm) = (0.5 * (a + m), 0.5 * (m + b));
        let (flm, frm) = (bump(lm, k), bump(rm, k));
        let left = (m - a) * (fa + 4.0 * flm + fm) * (1.0 / 6.0);
        let right = (b - m) * (fm + 4.0 * frm + fb) * (1.0 / 6.0);
        if depth == 0 || (left + right - whole).abs() < 1e-7 {
            return (left + right, 1);
        }
        let left = split(k, a, fa, m, fm, lm, flm, left, depth - 1);
        let right = split(k, m, fm, b, fb, rm, frm, right, depth - 1);
        (left.0 + right.0, left.1 + right.1)
    }

    pub(super) fn integral(k: f64, depth: u8) -> (f64, u32) {
        split(k, -1.0, bump(-1.0, k), 1.0, bump(1.0, k), 0.0, bump(0.0, k), 0.0, depth)
    }

    /// Narrow numbers, what is changed before a call and needed behind it, and a division that must not be made twice by
    /// zero.
    pub(super) fn bits(mut seed: u32, by: i32, scale: f32, left: u8) -> (u32, f32) {
        let mut spread = seed.wrapping_mul(2_654_435_761).rotate_left(7) ^ (seed >> 3);
        spread = (spread ^ spread >> 15).wrapping_mul(0x2c1b_3c6d).rotate_left(spread % 32);
        spread = (spread ^ spread >> 12).wrapping_mul(0x297a_2d39).rotate_left(spread % 32) ^ seed << 5;
        let near = (spread & 63) as f32 * 0.5 + (seed & 31) as f32 * scale - (spread >> 9 & 15) as f32;
        let far = (near * near + scale) / (1.0 + near * scale) - (spread >> 3 & 7) as f32 * near;
        let third =
            (far * near - scale * far) * 0.125 + (near - far) / (2.0 + far * far) - near * scale * far;
        let share =
            (spread % 97) as f32 * scale + (seed % 13) as f32 / (spread % 7 + 1) as f32 + third * 0.001;
        if left == 0 || spread % 16 == 5 {
            return (spread, share);
        }
        let low = bits(spread, by + 1, share * 0.25, left - 1);
        seed = (spread as i32 / by) as u32;
        let high = bits(seed, by + 2, scale + 0.5, left - 1);
        let again = bits(seed ^ 1, by, share, left / 2);
        (low.0 ^ high.0.wrapping_mul(3) ^ again.0 ^ seed, low.1 - high.1 * 0.5 + again.1)
    }
}

/// Arguments that are passed on, swapped, copied under another name, chosen, and made for one of the calls only.
#[autobatch(strict)]
fn passed_on(a: f64, b: f64, mut c: f64, k: u64, left: u8) -> (f64, u64) {
    let near = 1.0 / (1.0 + a * a + b * b) + (a - b) * c * 0.125 - a * b * 0.25;
    let far = (near * near + c) / (2.0 + near * a) - (a + near) * (b - near) * 0.5;
    let (low, high) = ((near + far) * 0.5 - c * 0.03125, (near * far - a * c) / (1.5 + far * far));
    let bits =
        k.wrapping_mul(6_364_136_223_846_793_005) ^ k >> 13 ^ (low.to_bits() >> 40) ^ high.to_bits() >> 50;
    if left == 0 || bits % 8 == 3 {
        return (low * 0.5 + high, bits);
    }
    let mid = (a + b) * 0.5 + low * 0.125;
    let first = passed_on(a, mid, c, k ^ 5, left - 1);
    let same = b;
    c += 0.5;
    let second = passed_on(mid, same, c, k, left - 1);
    let chosen = if bits % 3 == 0 { a } else { high };
    let third = passed_on(same, chosen, a, bits, left / 2);
    (first.0 - second.0 * 0.5 + third.0 * c, first.1 ^ second.1.rotate_left(9) ^ third.1 ^ mid.to_bits())
}

/// What is so cheap that it is made again for each call.
#[autobatch(strict)]
fn made_again(a: f64, b: f64, k: u64, left: u8) -> (f64, u64) {
    let one = 1.5;
    let next = k ^ 9;
    let sum = a * a;
    let near = one / (1.0 + a * a + b * b) + (a - b) * 0.125 - a * b * 0.25;
    let far = (near * near + b) / (2.0 + near * a) - (a + near) * (b - near) * 0.5;
    let (low, high) = ((near + far) * 0.5 - b * 0.03125, (near * far - a * b) / (1.5 + far * far));
    let bits =
        k.wrapping_mul(6_364_136_223_846_793_005) ^ k >> 13 ^ (low.to_bits() >> 40) ^ high.to_bits() >> 50;
    if left == 0 || bits % 8 == 3 {
        return (low * 0.5 + high, bits);
    }
    let first = made_again(one, low, next, left - 1);
    let again = sum;
    let second = made_again(again, sum, next, left - 1);
    let third = made_again(a, one, k, left / 2);
    (first.0 - second.0 * 0.5 + third.0 * one, first.1 ^ second.1.rotate_left(9) ^ third.1)
}

#[test]
fn cheap_arguments_are_recomputed() {
    for apart in [0.0, 0.37] {
        let inputs: Vec<(f64, u64, u8)> =
            (0..70).map(|i| (0.5 + f64::from(i) * apart, i as u64 % 3, 5 - (i / 60) as u8)).collect();
        agree_at(
            &[64],
            &inputs,
            |&(a, k, left)| made_again(a, 2.0 - a, k, left),
            |batch, options| {
                let (a, b) = (column(batch, |x| x.0), column(batch, |x| 2.0 - x.0));
                made_again_batched_with(a, b, column(batch, |x| x.1), column(batch, |x| x.2), options)
            },
        );
    }
}

#[test]
fn arguments_are_passed_on_or_computed() {
    for apart in [0.0, 1e-9, 0.37] {
        let inputs: Vec<(f64, u64, u8)> =
            (0..70).map(|i| (0.5 + f64::from(i) * apart, i as u64 % 3, 5 - (i / 60) as u8)).collect();
        agree_at(
            &[64, 300],
            &inputs,
            |&(a, k, left)| passed_on(a, 2.0 - a, 0.25, k, left),
            |batch, options| {
                let (a, b) = (column(batch, |x| x.0), column(batch, |x| 2.0 - x.0));
                let (k, left) = (column(batch, |x| x.1), column(batch, |x| x.2));
                passed_on_batched_with(a, b, same(0.25), k, left, options)
            },
        );
    }
}

#[test]
fn lanes_that_agree_and_lanes_that_do_not() {
    // All alike, neighbours alike, and none; whole gangs and parts of them.
    let like: [fn(u32) -> f64; 3] =
        [|_| 50.0, |i| 50.0 + f64::from(i) * 0.01, |i| f64::from(i * 7919 % 1000) * f64::from(i % 5)];
    for like in like {
        let inputs: Vec<(f64, u8)> = (0..48).map(|i| (like(i), 6 - (i / 40) as u8)).collect();
        agree_at(
            &[200],
            &inputs,
            |&(k, depth)| quadrature::integral(k, depth),
            |batch, options| {
                quadrature::integral_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), options)
            },
        );
    }
    for apart in [0, 1, 9973] {
        let inputs: Vec<(u32, u8)> =
            (0..48).map(|i| (7 + i * apart, 4 - (i % 3 * (apart % 2)) as u8)).collect();
        agree_at(
            &[64, 300],
            &inputs,
            |&(seed, left)| quadrature::bits(seed, 1, 1.5, left),
            |batch, options| {
                let (seed, left) = (column(batch, |x| x.0), column(batch, |x| x.1));
                quadrature::bits_batched_with(seed, same(1), same(1.5), left, options)
            },
        );
    }
}

/// A level has no longer what a scalar call needs, however few go up: `seed` is another one behind the first lines.
#[autobatch(strict)]
fn list(n: u32, mut seed: u64) -> u64 {
    seed = seed.wrapping_mul(31) ^ u64::from(n);
    if n == 0 || seed % 1000 == 7 {
        return seed;
    }
    list(n - 1, seed).wrapping_add(list(0, seed))
}

#[test]
fn task_blocks_may_be_deeper_than_the_arena() {
    let n = [100_000, 3, 40, 70_000, 11];
    let run = |options: &Options| list_batched_with(&n, same(5), options).unwrap().into_values().unwrap();
    let scalar = run(&Options::default().executor(Executor::Scalar));
    for options in ways() {
        assert_eq!(run(&options), scalar, "{options:?}");
    }
}

/// More variables before a call and in the callee together than a loop over the lanes can be given.
#[autobatch(strict)]
fn wide(n: u32, x: [u64; 2], a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> u64 {
    let (p, q, r, s) = (a ^ b, b + c % 5, c.rotate_left(3), d * 3 % 1001);
    let (t, u, v, w) = (e ^ f, f % 77 + g, g & h, h >> 1);
    if n == 0 || p % 16 == 3 {
        return p ^ q ^ r ^ s ^ t ^ u ^ v ^ w ^ x[0];
    }
    let left = wide(n - 1, [x[1], x[0]], q, r, s, t, u, v, w, p);
    let (i, j, k, l) = (p ^ a, q ^ b, r ^ c, s ^ d);
    let right = wide(n / 2, x, i, j, k, l, e ^ t, f ^ u, g ^ v, h ^ w);
    (left ^ right).wrapping_add(i ^ j ^ k ^ l ^ t ^ u ^ v ^ w)
}

#[test]
fn many_variables() {
    let inputs: Vec<(u32, u64)> = (0..60).map(|i| (i % 8, u64::from(i) * 0x1234_5678_9ABC % 9973)).collect();
    agree_at(
        &[1, 300],
        &inputs,
        |&(n, a)| wide(n, [a, 1], a, a / 2, a / 3, a / 4, a / 5, a / 6, a / 7, a / 8),
        |batch, options| {
            let part = |by: u64| column(batch, |x| x.1 / by);
            let x = column(batch, |x| [x.1, 1]);
            let n = column(batch, |x| x.0);
            wide_batched_with(
                &n,
                &x,
                part(1),
                part(2),
                part(3),
                part(4),
                part(5),
                part(6),
                part(7),
                part(8),
                options,
            )
        },
    );
}

/// What all that return at once return is a literal, of several types.
#[autobatch(strict)]
mod literals {
    pub(super) fn paths(right: u32, down: u32) -> u64 {
        if right == 0 || down == 0 { 1 } else { paths(right - 1, down) + paths(right, down - 1) }
    }

    pub(super) fn less(n: u8, step: u8) -> i8 {
        match n {
            0 => -1,
            n if n < step => -1,
            _ => less(n - step, step).wrapping_mul(3) ^ less(n / 2, step).wrapping_sub(less(n / 3, step)),
        }
    }

    pub(super) fn volume(n: u32, x: f64) -> f64 {
        if n < 3 {
            return 0.5;
        }
        let left = volume(n - 2, x);
        let y = x * f64::from(n);
        left * x + volume(n - 3, x + 1.0) / y
    }

    pub(super) fn odd(n: u32) -> bool {
        if n < 2 { true } else { odd(n - 1) != odd(n - 2) }
    }
}

#[test]
fn literals_that_are_returned_at_once() {
    let inputs: Vec<(u32, u32)> = (0..70).map(|i| (i * 5 % 7, i % 4)).collect();
    let sizes = [1, 33, 200];
    agree_at(
        &sizes,
        &inputs,
        |x| literals::paths(x.0, x.1),
        |b, o| literals::paths_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
    agree_at(
        &sizes,
        &inputs,
        |x| literals::less(x.0 as u8 * 4, x.1 as u8 + 3),
        |b, o| literals::less_batched_with(column(b, |x| x.0 as u8 * 4), column(b, |x| x.1 as u8 + 3), o),
    );
    agree_at(
        &sizes,
        &inputs,
        |x| literals::volume(x.0 * 2, f64::from(x.1) + 0.3),
        |b, o| literals::volume_batched_with(column(b, |x| x.0 * 2), column(b, |x| f64::from(x.1) + 0.3), o),
    );
    agree_at(
        &sizes,
        &inputs,
        |x| literals::odd(x.0 + x.1),
        |b, o| literals::odd_batched_with(column(b, |x| x.0 + x.1), o),
    );
}

/// Where members differ in one number only, a tile runs them in its order: results and faults are those of the caller's.
#[autobatch(strict)]
mod sorted_lanes {
    /// As deep as `x` says.
    pub(super) fn halve(scale: u8, x: f32, from: i16) -> f64 {
        if x.abs() < 1.0 {
            return f64::from(x) + f64::from(from) / f64::from(scale);
        }
        halve(scale, x * 0.5, from - 1) * 3.0 - halve(scale, x * -0.25, from + 2)
    }

    pub(super) fn count(n: i8) -> i64 {
        assert!(n > -9, "{n} is too small");
        if n < 2 { i64::from(n) } else { count(n - 1) - 3 * count(n - 2) }
    }
}

#[test]
fn sorted_lanes_show_nowhere() {
    let xs: Vec<f32> = (0..301u32).map(|i| (i * 7919 % 601) as f32 * 0.37 - 111.0).collect();
    let run =
        |batch: &[f32], options: &Options| sorted_lanes::halve_batched_with(same(3), batch, same(4), options);
    agree_at(&[1, 2, 33, 64, 301], &xs, |x| sorted_lanes::halve(3, *x, 4), run);
    // Several parameters differ, and one that is no float.
    let pairs: Vec<(f32, i16)> = xs.iter().map(|x| (*x, (*x as i16).wrapping_mul(77) % 9)).collect();
    let run = |batch: &[(f32, i16)], options: &Options| {
        let (x, from) = (column(batch, |pair| pair.0), column(batch, |pair| pair.1));
        sorted_lanes::halve_batched_with(same(5), &x, &from, options)
    };
    agree_at(&[33, 301], &pairs, |(x, from)| sorted_lanes::halve(5, *x, *from), run);
    let ns: Vec<i8> = (0..500).map(|i| (i * 37 % 23 - 8) as i8).collect();
    agree_at(
        &[1, 40, 500],
        &ns,
        |n| sorted_lanes::count(*n),
        |n, options| sorted_lanes::count_batched_with(n, options),
    );
    // Faults name the member, and the others have their results.
    let ns: Vec<i8> = (0..500).map(|i| (i * 37 % 25 - 10) as i8).collect();
    let outcome =
        sorted_lanes::count_batched_with(&ns, &Options::default().executor(Executor::Masked)).unwrap();
    for (member, result) in outcome.into_results().into_iter().enumerate() {
        match result {
            Ok(value) => assert_eq!(value, sorted_lanes::count(ns[member])),
            Err(fault) => assert!(ns[member] <= -9 && fault.member == member, "{fault}"),
        }
    }
}
