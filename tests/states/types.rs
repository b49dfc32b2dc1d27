//! States of every type: numbers, tuples, arrays, structs; of no size, small and large ones, and those that own memory.

use autobatch::autobatch;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::Bits;
use crate::common::promises::states_agree;
use crate::{Xorshift, generators, seeds};

/// A random walk that ends where it leaves a strip.
#[autobatch(strict)]
fn walk(rng: &mut Xorshift, n: u64) -> u32 {
    let mut x = 0.0f64;
    let width = 0.5 + (n % 7) as f64;
    for step in 0..60 {
        x += rng.uniform() - 0.5;
        if x.abs() > width {
            return step;
        }
    }
    60 + n as u32
}

/// Rejection in a loop inside the loop.
#[autobatch]
fn rejected(rng: &mut Xorshift, n: u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..n % 9 + 1 {
        let mut x = rng.uniform();
        let y = rng.uniform();
        while x * x + y * y > 1.0 {
            x = rng.uniform() * y;
        }
        sum += x - y;
    }
    sum
}

#[autobatch(strict)]
fn indexed(s: &mut [f64; 3], n: u64) -> f64 {
    let mut t = 0.0;
    while t < (n % 11) as f64 {
        let a = [10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 2.5 * s[2]];
        for i in 0..3 {
            s[i] += 0.01 * a[i];
        }
        t += if s[0] > s[1] { 0.5 } else { 0.25 };
    }
    s[0] + n as f64
}

#[autobatch(strict)]
fn tupled(s: &mut (u32, f64), n: u64) -> f64 {
    for i in 0..n % 13 {
        s.0 = s.0.wrapping_mul(17).wrapping_add(i as u32);
        if s.0 % 3 == 0 {
            s.1 = s.1 * 0.5 + f64::from(s.0 % 1000);
        }
    }
    s.1 - n as f64
}

/// With bytes that no field has.
#[autobatch(strict)]
fn padded(s: &mut (u8, u64), n: u64) -> u64 {
    for i in 0..n % 10 + 1 {
        *s = (s.0.wrapping_add(3), s.1.rotate_left(u32::from(s.0 % 64)) ^ i);
    }
    s.1 ^ u64::from(s.0)
}

#[autobatch]
fn iterated(s: &mut [f64; 8], n: u64) -> f64 {
    for round in 0..n % 6 + 1 {
        for (i, x) in s.iter_mut().enumerate() {
            *x = *x * 0.75 + (i as u64 + round) as f64;
        }
    }
    s.iter().sum()
}

/// Larger than what is copied.
#[autobatch]
fn large(s: &mut [u64; 40], n: u64) -> u64 {
    let mut sum = n;
    for i in 0..n as usize % 50 {
        s[i % 40] = s[(i + 7) % 40].wrapping_mul(5).wrapping_add(sum);
        sum ^= s[i % 40];
    }
    sum
}

#[autobatch(strict)]
fn single(s: &mut u64, n: u64) -> u64 {
    while *s % 16 != n % 16 {
        *s = s.wrapping_mul(3).wrapping_add(1) >> 1;
        *s += 1;
    }
    *s / 2 + n
}

#[autobatch(strict)]
fn byte(s: &mut u8, n: u64) -> u64 {
    for i in 0..n % 20 {
        *s = s.wrapping_mul(7) ^ i as u8;
    }
    u64::from(*s) + n
}

#[autobatch(strict)]
fn wide(s: &mut u128, n: u64) -> u64 {
    for _ in 0..n % 8 + 1 {
        *s = s.wrapping_mul(0x1_0000_0001_b3).wrapping_add(u128::from(n));
    }
    (*s >> 64) as u64
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Weather {
    Dry { days: u32 },
    Wet(f64),
    Unknown,
}

impl Bits for Weather {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch]
fn forecast(s: &mut Weather, n: u64) -> u32 {
    let mut changes = 0;
    for i in 0..n % 12 + 1 {
        *s = match *s {
            Weather::Dry { days } if days > 2 => Weather::Wet(f64::from(days)),
            Weather::Dry { days } => Weather::Dry { days: days + 1 },
            Weather::Wet(rain) if rain < 1.0 => Weather::Unknown,
            Weather::Wet(rain) => Weather::Wet(rain * 0.5),
            Weather::Unknown => Weather::Dry { days: (i + n) as u32 % 3 },
        };
        changes += u32::from(matches!(*s, Weather::Unknown));
    }
    changes + n as u32
}

fn weathers() -> Vec<Weather> {
    let weather = |i: u32| match i % 3 {
        0 => Weather::Dry { days: i % 4 },
        1 => Weather::Wet(f64::from(i)),
        _ => Weather::Unknown,
    };
    (0..37).map(weather).collect()
}

#[autobatch(strict)]
fn optional(s: &mut Option<u32>, n: u64) -> u32 {
    let mut taken = 0;
    for i in 0..n as u32 % 9 + 1 {
        match s.take() {
            Some(x) if x > 3 => taken += x,
            Some(x) => *s = Some(x * 2 + 1),
            None => *s = Some(i % 5),
        }
    }
    taken + n as u32
}

#[autobatch(strict)]
fn flag(s: &mut bool, n: u64) -> u64 {
    let mut count = 0;
    for i in 0..n % 30 {
        *s = !*s && i % 3 != n % 3;
        count += u64::from(*s);
    }
    count
}

/// Nothing is there to be copied.
#[derive(Clone, Debug)]
struct Empty;

impl Empty {
    fn next(&mut self) -> u64 {
        3
    }
}

#[autobatch(strict)]
fn empty(s: &mut Empty, n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n % 10 {
        sum += s.next() * i;
    }
    sum + n
}

#[test]
fn a_state_of_no_size() {
    let numbers = crate::common::promises::numbers();
    let expected: Vec<u64> = numbers.iter().map(|&n| empty(&mut Empty, n)).collect();
    for (name, options) in crate::common::executors() {
        let mut states = vec![Empty; numbers.len()];
        let outcome = empty_batched_with(&mut states, &numbers, &options).expect("a batch");
        assert_eq!(outcome.into_values().expect("no faults"), expected, "{name}");
    }
}

/// Owns memory.
#[autobatch]
fn grown(s: &mut Vec<u64>, n: u64) -> u64 {
    for i in 0..n % 9 {
        if s.len() > 5 {
            s.remove(2);
        }
        s.push(i * n);
    }
    s.iter().sum::<u64>() + s.len() as u64
}

#[autobatch]
fn spelled(s: &mut String, n: u64) -> usize {
    for i in 0..n % 9 {
        s.push((b'a' + (i * n % 26) as u8) as char);
    }
    s.len()
}

/// A library's small generator.
#[autobatch]
fn xoshiro(rng: &mut Xoshiro256PlusPlus, n: u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..n % 20 {
        sum += rng.random::<f64>();
        if sum > 4.0 {
            break;
        }
    }
    sum - n as f64
}

impl Bits for Xoshiro256PlusPlus {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// A library's large one.
#[autobatch]
fn standard(rng: &mut StdRng, n: u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..n % 20 {
        sum += rng.random::<f64>();
        if sum > 4.0 {
            return sum;
        }
    }
    sum - n as f64
}

#[test]
fn a_large_generator_of_a_library() {
    let numbers = crate::common::promises::numbers();
    let fresh = || seeds().map(StdRng::seed_from_u64);
    let next = |states: [StdRng; 37]| states.map(|mut rng| rng.random::<u64>());
    let mut changed = fresh();
    let expected: Vec<f64> = changed.iter_mut().zip(&numbers).map(|(rng, &n)| standard(rng, n)).collect();
    let changed = next(changed);
    for (name, options) in crate::common::executors() {
        let mut states = fresh();
        let outcome = standard_batched_with(&mut states, &numbers, &options).expect("a batch");
        assert!(outcome.into_values().expect("no faults").same(&expected), "{name}");
        assert_eq!(next(states), changed, "{name}");
    }
}

/// Any generator.
#[autobatch]
fn any<R: rand::Rng>(rng: &mut R, n: u64) -> u64 {
    let mut most = 0;
    for _ in 0..n % 20 {
        most = most.max(rng.next_u64() >> 3);
    }
    most ^ n
}

fn vectors() -> Vec<[f64; 3]> {
    (0..37).map(|i| [f64::from(i) - 7.0, f64::from(i * i % 17), 20.0 - f64::from(i % 5)]).collect()
}

states_agree! {
    a_generator_of_ones_own: walk, walk_batched_with, generators();
    a_loop_in_the_loop: rejected, rejected_batched_with, generators();
    an_array_with_indices: indexed, indexed_batched_with, vectors();
    a_tuple: tupled, tupled_batched_with, (0..37).map(|i| (i * 7919, f64::from(i))).collect();
    bytes_without_a_meaning: padded, padded_batched_with, seeds().map(|s| (s as u8, s)).to_vec();
    an_array_with_iterators: iterated, iterated_batched_with, seeds().map(|s| std::array::from_fn(|k| (s >> (k + 40)) as f64)).to_vec();
    a_large_array: large, large_batched_with, seeds().map(|s| std::array::from_fn(|k| s >> k)).to_vec();
    a_number: single, single_batched_with, seeds().map(|s| s >> 32).to_vec();
    a_byte: byte, byte_batched_with, seeds().map(|s| (s >> 9) as u8).to_vec();
    a_wide_number: wide, wide_batched_with, seeds().map(u128::from).to_vec();
    an_enumeration: forecast, forecast_batched_with, weathers();
    an_option: optional, optional_batched_with, (0..37).map(|i| (i % 3 > 0).then_some(i % 6)).collect();
    a_truth: flag, flag_batched_with, (0..37).map(|i| i % 2 == 0).collect();
    a_list: grown, grown_batched_with, (0..37).map(|i| vec![i; i as usize % 7]).collect();
    a_text: spelled, spelled_batched_with, (0..37).map(|i| "x".repeat(i % 4)).collect();
    a_small_generator_of_a_library: xoshiro, xoshiro_batched_with, seeds().map(Xoshiro256PlusPlus::seed_from_u64).to_vec();
    a_type_parameter: any, any_batched_with, seeds().map(Xoshiro256PlusPlus::seed_from_u64).to_vec();
}
