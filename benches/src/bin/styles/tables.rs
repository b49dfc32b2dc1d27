//! Tables that all members share: value noise, and a checksum. The styles differ in what their loops go through.

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::peer::{Rows, stateless_against};
use crate::style::{AnyStyle, stateless};

const MEMBERS: usize = 16_384;

/// Value noise on a lattice, four octaves of it.
#[autobatch]
fn noise_for(x: f64, y: f64, table: &[u8]) -> f64 {
    let (mut sum, mut size, mut scale) = (0.0, 1.0, 1.0);
    for _ in 0..4 {
        let (px, py) = (x * scale, y * scale);
        let (fx, fy) = (px.floor(), py.floor());
        let (ix, iy) = (fx as i32 as usize & 255, fy as i32 as usize & 255);
        let (tx, ty) = (px - fx, py - fy);
        let (left, right) = (table[ix] as usize, table[(ix + 1) & 255] as usize);
        let (a, b) = (f64::from(table[(left + iy) & 255]), f64::from(table[(right + iy) & 255]));
        let (c, d) = (f64::from(table[(left + iy + 1) & 255]), f64::from(table[(right + iy + 1) & 255]));
        let (u, v) = (tx * tx * (3.0 - 2.0 * tx), ty * ty * (3.0 - 2.0 * ty));
        let (low, high) = (a + (b - a) * u, c + (d - c) * u);
        sum += size * (low + (high - low) * v);
        (size, scale) = (size * 0.5, scale * 2.0);
    }
    sum
}

/// The same until the octaves are too small to be seen.
#[autobatch]
fn noise_while(x: f64, y: f64, table: &[u8]) -> f64 {
    let (mut sum, mut size, mut scale) = (0.0, 1.0, 1.0);
    while size > 0.1 {
        let (px, py) = (x * scale, y * scale);
        let (fx, fy) = (px.floor(), py.floor());
        let (ix, iy) = (fx as i32 as usize & 255, fy as i32 as usize & 255);
        let (tx, ty) = (px - fx, py - fy);
        let (left, right) = (table[ix] as usize, table[(ix + 1) & 255] as usize);
        let (a, b) = (f64::from(table[(left + iy) & 255]), f64::from(table[(right + iy) & 255]));
        let (c, d) = (f64::from(table[(left + iy + 1) & 255]), f64::from(table[(right + iy + 1) & 255]));
        let (u, v) = (tx * tx * (3.0 - 2.0 * tx), ty * ty * (3.0 - 2.0 * ty));
        let (low, high) = (a + (b - a) * u, c + (d - c) * u);
        sum += size * (low + (high - low) * v);
        (size, scale) = (size * 0.5, scale * 2.0);
    }
    sum
}

/// The remainders of all bytes.
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut rest, mut bit) = (byte as u32, 0);
        while bit < 8 {
            rest = if rest & 1 == 1 { 0xedb8_8320 ^ (rest >> 1) } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

#[autobatch]
fn crc_of_bytes(#[each] bytes: &[u8]) -> u32 {
    let mut rest = !0;
    for byte in bytes {
        rest = CRC[((rest ^ u32::from(*byte)) & 255) as usize] ^ (rest >> 8);
    }
    !rest
}

/// The same of a number's digits.
#[autobatch]
fn crc_of_digits(number: u64) -> u32 {
    let (mut rest, mut left) = (!0, number);
    while left > 0 {
        rest = CRC[((rest ^ (left % 256) as u32) & 255) as usize] ^ (rest >> 8);
        left >>= 8;
    }
    !rest
}

struct Lattice {
    table: Vec<u8>,
    x: Vec<f64>,
    y: Vec<f64>,
}

fn lattice(members: usize) -> Lattice {
    let mut numbers = Numbers::new(7);
    let table = (0..256).map(|_| numbers.below(256) as u8).collect();
    let mut column = || (0..members).map(|_| numbers.within(0.0, 40.0)).collect();
    Lattice { table, x: column(), y: column() }
}

fn messages(members: usize) -> Vec<Vec<u8>> {
    let mut numbers = Numbers::new(8);
    (0..members).map(|_| (0..64 + numbers.below(192)).map(|_| numbers.below(256) as u8).collect()).collect()
}

counterpart! {
    fn ispc_noise(columns(x: f64, y: f64), shared(table: u8)) -> f64
}

counterpart! {
    fn ispc_crc(columns(starts: u32, lengths: u32), shared(bytes: u8, table: u32)) -> u32
}

pub(crate) fn noise(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    vec![
        stateless_against(
            "noise/for",
            lattice(n),
            n,
            |l, i, ()| noise_for(l.x[i], l.y[i], &l.table),
            |l, _, options| noise_for_batched_with(&l.x, &l.y, &l.table, options),
            Agreement::Close { tolerance: 1e-12, except: 0.0 },
            |l, target, first, out| ispc_noise(target, first, &l.x, &l.y, out, &l.table),
        ),
        stateless(
            "noise/while",
            lattice(n),
            n,
            |l, i, ()| noise_while(l.x[i], l.y[i], &l.table),
            |l, _, options| noise_while_batched_with(&l.x, &l.y, &l.table, options),
        ),
    ]
}

pub(crate) fn checksums(members: Option<usize>) -> Vec<AnyStyle> {
    let (n, few) = (members.unwrap_or(MEMBERS), members.unwrap_or(MEMBERS / 4));
    vec![
        stateless_against(
            "crc/bytes",
            (messages(few), Rows::of(&messages(few))),
            few,
            |m, i, ()| crc_of_bytes(&m.0[i]),
            |m, _, options| crc_of_bytes_batched_with(&m.0, options),
            Agreement::Exact,
            |(_, rows), target, first, out| {
                ispc_crc(target, first, &rows.starts, &rows.lengths, out, &rows.elements, &CRC);
            },
        ),
        stateless(
            "crc/digits",
            lattice(n),
            n,
            |l, i, ()| crc_of_digits(l.x[i].to_bits()),
            |l, _, options| {
                let numbers: Vec<u64> = l.x.iter().map(|x| x.to_bits()).collect();
                crc_of_digits_batched_with(&numbers, options)
            },
        ),
    ]
}
