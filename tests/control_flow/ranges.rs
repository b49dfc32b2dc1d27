//! `for` loops over ranges whose ends differ from member to member: every form, at the limits of the types.

#![allow(clippy::reversed_empty_ranges, clippy::needless_range_loop)] // written as users write

use std::net::Ipv4Addr;

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 4] = [0, 1, 211, 1013];

#[autobatch(strict)]
fn open(a: u32, b: u32) -> u32 {
    let mut s = 0u32;
    for i in a..b {
        s = s.wrapping_mul(31).wrapping_add(i ^ (s >> 3));
    }
    for i in (a..b).rev() {
        if i % 7 == 3 {
            continue;
        }
        s = s.wrapping_mul(29) ^ i;
        if s % 97 == 5 {
            break;
        }
    }
    s
}

#[autobatch(strict)]
fn closed(a: u8, b: u8) -> (u32, u8) {
    let (mut s, mut last) = (0u32, 0);
    for i in a..=b {
        s = s.wrapping_mul(31).wrapping_add(i as u32);
        last = i;
    }
    for i in (a..=b).rev() {
        s = s.wrapping_mul(29) ^ i as u32;
        for mut j in (0..=i % 5).rev().rev() {
            j /= 2;
            s = s.wrapping_add(j as u32);
            if s & 15 == 3 {
                break;
            }
        }
    }
    (s, last)
}

#[test]
fn integer_ranges_at_the_limits_of_their_types() {
    let inputs: Vec<(u32, u32)> = (0..61).map(|i| (i * 31 % 60, i * 37 % 90)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(a, b)| open(a, b),
        |m, o| open_batched_with(column(m, |i| i.0), column(m, |i| i.1), o),
    );
    let inputs: Vec<(u8, u8)> = vec![
        (0, 255),
        (255, 255),
        (250, 255),
        (9, 3),
        (0, 0),
        (255, 0),
        (17, 40),
        (1, 0),
        (100, 101),
        (254, 255),
    ];
    agree_at(
        &[0, 1, 97, 211],
        &inputs,
        |&(a, b)| closed(a, b),
        |m, o| closed_batched_with(column(m, |i| i.0), column(m, |i| i.1), o),
    );
}

/// The literal decides nothing about the type, the other end and the use do.
#[autobatch(strict)]
fn inferred(n: i64, weights: &[f64], m: usize) -> f64 {
    let mut s = 0.5;
    for k in 0..m {
        s = s * 0.5 + weights[k];
    }
    for k in -3..=n {
        s += k as f64;
    }
    for _ in 0..(n * 2 % 5).abs() {
        s *= 0.75;
    }
    let span = 1..m;
    for k in span {
        s -= weights[k - 1];
    }
    s
}

#[test]
fn ends_have_the_inferred_type() {
    let weights: Vec<f64> = (0..20).map(|i| i as f64 * 0.37).collect();
    let inputs: Vec<(i64, usize)> = (0..41).map(|i| (i % 13 - 6, (i * 7 % 20) as usize)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(n, m)| inferred(n, &weights, m),
        |b, o| inferred_batched_with(column(b, |i| i.0), &weights, column(b, |i| i.1), o),
    );
}

#[autobatch(strict)]
fn letters(from: char, to: char, a: Ipv4Addr, b: Ipv4Addr) -> u64 {
    let mut s = 0u64;
    for c in from..=to {
        s = s.wrapping_mul(31).wrapping_add(c as u64);
    }
    for c in (from..to).rev() {
        s = s.wrapping_mul(37).wrapping_add(c as u64);
    }
    for x in a..b {
        s = s.wrapping_mul(41).wrapping_add(x.octets()[3] as u64);
    }
    s
}

#[test]
fn ranges_of_characters_and_addresses() {
    let address = |n: u32| Ipv4Addr::from_bits(0x0102_0300 + n);
    let inputs: Vec<(char, char, Ipv4Addr, Ipv4Addr)> = vec![
        ('a', 'z', address(250), address(260)),
        ('\u{d7f0}', '\u{e003}', address(3), address(3)),
        ('z', 'a', address(9), address(7)),
        ('\u{10fff0}', char::MAX, address(0), address(30)),
    ];
    agree_at(
        &[0, 1, 97],
        &inputs,
        |&(a, b, c, d)| letters(a, b, c, d),
        |m, o| {
            let ends = (column(m, |i| i.2), column(m, |i| i.3));
            letters_batched_with(column(m, |i| i.0), column(m, |i| i.1), ends.0, ends.1, o)
        },
    );
}

/// Calls in the ends and in the body, an end that fails, a loop that a call interrupts.
#[autobatch(strict)]
fn calls(n: u32, d: u32) -> u32 {
    let mut s = d;
    if n == 0 {
        return 1;
    }
    for i in calls(n / 3, 1)..100 / d {
        s = s.wrapping_add(calls(n / 2, i + 1)) ^ i;
        if i > 4 {
            return s;
        }
    }
    s
}

#[test]
fn calls_in_ends_and_bodies() {
    let n: Vec<u32> = (0..90).map(|i| i % 9).collect();
    let d: Vec<u32> = (0..90).map(|i| if i == 40 { 0 } else { 1 + i % 60 }).collect();
    for (how, options) in crate::common::executors() {
        let outcome = calls_batched_with(&n, &d, &options).unwrap();
        assert_eq!(outcome.faults().iter().map(|f| f.member).collect::<Vec<_>>(), [40], "{how}");
        for (member, result) in outcome.into_results().into_iter().enumerate().filter(|(i, _)| *i != 40) {
            assert_eq!(result.unwrap(), calls(n[member], d[member]), "{how}, member {member}");
        }
    }
}
