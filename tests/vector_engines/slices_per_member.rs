//! Slices that each member has of its own are read in vector frames: of any length, by counters, by iterators, from
//! several places, and out of bounds.

// Written as users write.
#![allow(clippy::needless_range_loop, clippy::indexing_slicing, clippy::manual_is_multiple_of)]

use crate::common::agree_at;
use crate::lookups::{noise, same_outcomes};
use autobatch::{Engine, Executor, Options, Ragged, autobatch, same};

const SIZES: &[usize] = &[1, 33, 300];

/// The mean and spread of a series that forgets.
#[autobatch(strict)]
fn forgetting(#[each] xs: &[f64], alpha: f64) -> (f64, f64) {
    let (mut mean, mut spread) = (0.0, 0.0);
    for &x in xs {
        let d = x - mean;
        mean += alpha * d;
        spread = (1.0 - alpha) * (spread + alpha * d * d);
    }
    (mean, spread)
}

/// The largest fall from a peak; it is enough to know that nearly all is lost.
#[autobatch(strict)]
fn fall(#[each] xs: &[f64]) -> f64 {
    let (mut peak, mut worst, mut i) = (f64::MIN, 0.0f64, 0);
    while i < xs.len() {
        if xs[i] > peak {
            peak = xs[i];
        }
        worst = worst.max((peak - xs[i]) / peak);
        if worst > 0.8 {
            return worst;
        }
        i += 1;
    }
    worst
}

#[autobatch(strict)]
fn checksum(#[each] bytes: &[u8], table: &[u32; 256]) -> u32 {
    let mut crc = !0u32;
    for (i, byte) in bytes.iter().enumerate() {
        crc = table[((crc ^ *byte as u32) & 0xff) as usize] ^ (crc >> 8) ^ i as u32;
    }
    !crc
}

#[derive(Clone, Copy, Debug)]
struct Trade {
    price: f32,
    amount: i32,
}

/// Buys and sells, until nothing is left.
#[autobatch(strict)]
fn held(#[each] trades: &[Trade], #[each] fees: &[f32], start: &f32) -> (i32, f32) {
    let (mut amount, mut cash) = (0, *start);
    for i in 0..trades.len() {
        let trade = &trades[i];
        if trade.amount < 0 && amount + trade.amount < 0 {
            continue;
        }
        amount += trade.amount;
        cash -= trade.price * trade.amount as f32 + fees[i % fees.len()];
        if cash < 0.0 {
            break;
        }
    }
    (amount, cash)
}

/// How often a word stands in a text.
#[autobatch(strict)]
fn occurrences(#[each] text: &[u8], #[each] word: &[u8]) -> u32 {
    let mut found = 0;
    for at in 0..text.len() {
        let mut k = 0;
        while k < word.len() && at + k < text.len() && text[at + k] == word[k] {
            k += 1;
        }
        if k == word.len() {
            found += 1;
        }
    }
    found
}

/// A sum over numbers of all widths that no instruction gathers, by counters that run up, down, and over another list.
#[autobatch(strict)]
fn narrow(#[each] signs: &[i8], #[each] steps: &[u16], #[each] marks: &[bool], heights: &[i16]) -> i64 {
    let (mut sum, mut i) = (0i64, signs.len());
    while i > 0 {
        i -= 1;
        let step = steps[i % steps.len()] as i64;
        sum = sum % 100_000 * 3 + signs[i] as i64 * step;
        if marks[i] {
            sum ^= heights[step as usize % heights.len()] as i64;
        }
        if sum > 6_000_000 {
            break;
        }
    }
    sum
}

/// Follows the bytes of a text through a table that is too short for some.
#[autobatch(strict)]
fn steps_through(#[each] text: &[u8], next: &[u8], from: u8) -> u32 {
    let (mut at, mut sum) = (from, 0u32);
    for byte in text {
        at = next[at as usize] ^ byte;
        sum = sum.wrapping_mul(31) + at as u32;
    }
    sum
}

/// References to narrow elements that are kept, from one round to the next.
#[autobatch]
fn largest(#[each] text: &[u8], heights: &[i16]) -> i64 {
    let mut best = &text[0];
    let mut height = &heights[0];
    for byte in text {
        if *byte > *best {
            best = byte;
        }
        let other = &heights[*byte as usize % heights.len()];
        if *other > *height {
            height = &heights[*best as usize % heights.len()];
        }
        if let Some(next) = Some(&text[*byte as usize % text.len()])
            && *next == 7
        {
            break;
        }
    }
    *best as i64 * 1000 + *height as i64
}

/// Follows links until one leads out.
#[autobatch(strict)]
fn followed(#[each] links: &[usize], from: usize) -> usize {
    let (mut at, mut sum) = (from, 0);
    while at != 0 {
        sum = sum * 3 + at;
        at = links[at];
    }
    sum
}

/// A settings object per member, and a recursion that is given it as it is.
struct Settings {
    tolerance: f64,
    most: u32,
}

#[autobatch(strict)]
fn halves(x: f64, depth: u32, #[each] settings: &Settings) -> f64 {
    if depth >= settings.most || x < settings.tolerance {
        return x;
    }
    halves(x / 2.0, depth + 1, settings) + halves(x / 3.0, depth + 1, settings)
}

fn series(next: &mut impl FnMut() -> u64, most: u64) -> Vec<f64> {
    let mut x = 100.0;
    let step = |n: u64| 1.0 + ((n % 1000) as f64 - 520.0) / 1500.0;
    (0..next() % most)
        .map(|_| {
            x *= step(next());
            x
        })
        .collect()
}

#[test]
fn series_of_any_length_agree() {
    let mut next = noise(3);
    let rows: Vec<(Vec<f64>, f64)> =
        (0..700).map(|n| (series(&mut next, 1 + n % 90), (next() % 100) as f64 / 200.0)).collect();
    agree_at(
        SIZES,
        &rows,
        |(xs, alpha)| forgetting(xs, *alpha),
        |rows, options| {
            let xs: Vec<&[f64]> = rows.iter().map(|row| &row.0[..]).collect();
            let alpha: Vec<f64> = rows.iter().map(|row| row.1).collect();
            forgetting_batched_with(&xs, &alpha, options)
        },
    );
    agree_at(
        SIZES,
        &rows,
        |(xs, _)| fall(xs),
        |rows, options| {
            let values: Vec<f64> = rows.iter().flat_map(|row| row.0.clone()).collect();
            let ends = rows.iter().scan(0, |end, row| {
                *end += row.0.len();
                Some(*end)
            });
            let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
            fall_batched_with(Ragged::new(&values, &offsets), options)
        },
    );
}

#[test]
fn bytes_agree() {
    let mut next = noise(5);
    let table: [u32; 256] = std::array::from_fn(|n| (n as u32).wrapping_mul(0x9E37_79B9));
    let texts: Vec<Vec<u8>> =
        (0..700).map(|_| (0..next() % 60).map(|_| b'a' + (next() % 3) as u8).collect()).collect();
    agree_at(
        SIZES,
        &texts,
        |text| checksum(text, &table),
        |texts, options| checksum_batched_with(texts, &table, options),
    );
    let words: Vec<(Vec<u8>, Vec<u8>)> =
        texts.iter().map(|t| (t.clone(), t[..t.len() % 4].to_vec())).collect();
    agree_at(
        SIZES,
        &words,
        |(text, word)| occurrences(text, word),
        |rows, options| {
            let (texts, words): (Vec<_>, Vec<_>) = rows.iter().cloned().unzip();
            occurrences_batched_with(&texts, &words, options)
        },
    );
}

/// A list of fewer bytes than a word has is a fault, behind which scalar code runs; so there are none of these here.
#[test]
fn numbers_that_are_not_gathered_agree() {
    let mut next = noise(11);
    let mut bytes = |least: u64, more: u64| -> Vec<u8> {
        let len = least + next() % more;
        (0..len).map(|_| next() as u8).collect()
    };
    let heights: Vec<i16> = bytes(31, 1).iter().map(|b| *b as i16 * 99 - 9000).collect();
    let rows: Vec<(Vec<i8>, Vec<u16>, Vec<bool>)> = (0..700)
        .map(|_| {
            let signs: Vec<i8> = bytes(4, 60).iter().map(|b| *b as i8).collect();
            let marks = signs.iter().map(|s| s % 3 == 0).collect();
            (signs, bytes(2, 9).iter().map(|b| *b as u16 * 200).collect(), marks)
        })
        .collect();
    agree_at(
        SIZES,
        &rows,
        |(signs, steps, marks)| narrow(signs, steps, marks, &heights),
        |rows, options| {
            let signs: Vec<&[i8]> = rows.iter().map(|row| &row.0[..]).collect();
            let steps: Vec<&[u16]> = rows.iter().map(|row| &row.1[..]).collect();
            let marks: Vec<&[bool]> = rows.iter().map(|row| &row.2[..]).collect();
            narrow_batched_with(&signs, &steps, &marks, &heights, options)
        },
    );
    let texts: Vec<Vec<u8>> = (0..700).map(|_| bytes(4, 60)).collect();
    agree_at(
        SIZES,
        &texts,
        |text| largest(text, &heights),
        |texts, options| largest_batched_with(texts, &heights, options),
    );
    let table: Vec<u8> = (0..256).map(|n| (n * 7 + 3) as u8).collect();
    agree_at(
        SIZES,
        &texts,
        |text| steps_through(text, &table, 9),
        |texts, options| steps_through_batched_with(texts, &table, same(9), options),
    );
    let texts: Vec<Vec<u8>> = texts.iter().map(|text| text.iter().map(|b| b % 16).collect()).collect();
    let table: Vec<u8> = (0..250).map(|n| if n == 13 { 253 } else { n as u8 }).collect();
    same_outcomes(
        &texts[..200],
        |text| steps_through(text, &table, 9),
        |texts, options| steps_through_batched_with(texts, &table, same(9), options),
    );
}

#[test]
fn fields_of_elements_agree() {
    let mut next = noise(7);
    let mut trade = || Trade { price: (next() % 90) as f32 / 7.0, amount: (next() % 9) as i32 - 4 };
    let rows: Vec<(Vec<Trade>, Vec<f32>)> = (0..700usize)
        .map(|n| ((0..n % 50).map(|_| trade()).collect(), (0..1 + n % 3).map(|k| k as f32 / 4.0).collect()))
        .collect();
    agree_at(
        SIZES,
        &rows,
        |(trades, fees)| held(trades, fees, &250.0),
        |rows, options| {
            let (trades, fees): (Vec<_>, Vec<_>) = rows.iter().cloned().unzip();
            held_batched_with(&trades, &fees, &250.0, options)
        },
    );
    let settings: Vec<Settings> =
        (0..300).map(|n| Settings { tolerance: (n % 7) as f64 / 5.0, most: n % 6 }).collect();
    let of = |n: usize| (20.0 + n as f64, &settings[n % settings.len()]);
    let rows: Vec<usize> = (0..700).collect();
    agree_at(
        SIZES,
        &rows,
        |n| halves(of(*n).0, 0, of(*n).1),
        |rows, options| {
            let x: Vec<f64> = rows.iter().map(|n| of(*n).0).collect();
            let own: Vec<Settings> = rows
                .iter()
                .map(|n| of(*n).1)
                .map(|s| Settings { tolerance: s.tolerance, most: s.most })
                .collect();
            halves_batched_with(&x, same(0), &own, options)
        },
    );
}

#[test]
fn what_is_out_of_bounds_is_the_members_fault() {
    let mut next = noise(9);
    let inputs: Vec<(Vec<usize>, usize)> = (0..200usize)
        .map(|n| {
            let len = 1 + n % 12;
            // Links lead down; now and then one leads out.
            let links =
                (0..len).map(|at| if next() % 40 == 0 { 50 + n } else { (next() as usize) % at.max(1) });
            (links.collect(), (next() as usize) % (len + usize::from(n % 17 == 0)))
        })
        .collect();
    same_outcomes(
        &inputs,
        |(links, from)| followed(links, *from),
        |inputs, options| {
            let (links, from): (Vec<_>, Vec<_>) = inputs.iter().cloned().unzip();
            followed_batched_with(&links, &from, options)
        },
    );
}

#[test]
fn series_run_in_vector_frames() {
    let rows: Vec<Vec<f64>> = (0..500).map(|n| vec![n as f64; n % 40]).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor).isa(autobatch::Isa::Avx2).report(true);
        let outcome = forgetting_batched_with(&rows, same(0.1), &options).expect("a batch");
        if cfg!(target_arch = "x86_64") {
            assert_eq!(outcome.report().engine, Engine::VectorFrames, "{executor:?}");
        }
    }
}
