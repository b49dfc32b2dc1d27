//! Matrices, bodies, blocks of words and searches, as they are written with arrays and loops over indices.

#![allow(clippy::needless_range_loop)] // this is the style

use autobatch::autobatch;
use autobatch_bench::inputs::Numbers;

use crate::style::{AnyStyle, stateless};

const MEMBERS: usize = 8_192;

type Matrix = [[f64; 4]; 4];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

fn transposed(a: &Matrix) -> Matrix {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            c[i][j] = a[j][i];
        }
    }
    c
}

/// A Kalman filter: a place and a velocity in the plane, of which one coordinate is seen.
#[autobatch]
fn filter(q: f64, r: f64, seen: &[f64]) -> f64 {
    let dt = 0.1;
    let f: Matrix = [[1.0, 0.0, dt, 0.0], [0.0, 1.0, 0.0, dt], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let mut x = [0.0; 4];
    let mut p: Matrix = [[0.0; 4]; 4];
    for i in 0..4 {
        p[i][i] = 1.0;
    }
    for &z in seen {
        let mut moved = [0.0; 4];
        for i in 0..4 {
            for j in 0..4 {
                moved[i] += f[i][j] * x[j];
            }
        }
        p = product(&product(&f, &p), &transposed(&f));
        for i in 0..4 {
            p[i][i] += q;
        }
        let s = p[0][0] + r;
        let gain = [p[0][0] / s, p[1][0] / s, p[2][0] / s, p[3][0] / s];
        for i in 0..4 {
            x[i] = moved[i] + gain[i] * (z - moved[0]);
        }
        let row = p[0];
        for i in 0..4 {
            for j in 0..4 {
                p[i][j] -= gain[i] * row[j];
            }
        }
    }
    x[0] + p[0][0]
}

/// The diagonal's product of Cholesky's factor; -1 if there is none.
#[autobatch]
fn cholesky(a: [[f64; 6]; 6]) -> f64 {
    let mut l = [[0.0; 6]; 6];
    for i in 0..6 {
        for j in 0..=i {
            let mut s = a[i][j];
            for k in 0..j {
                s -= l[i][k] * l[j][k];
            }
            if i == j {
                if s <= 0.0 {
                    return -1.0;
                }
                l[i][j] = s.sqrt();
            } else {
                l[i][j] = s / l[j][j];
            }
        }
    }
    let mut d = 1.0;
    for i in 0..6 {
        d *= l[i][i];
    }
    d
}

/// Four bodies that attract each other, for twenty steps.
#[autobatch]
fn bodies(start: [[f64; 3]; 4]) -> f64 {
    let mut p = start;
    let mut v = [[0.0; 3]; 4];
    for _ in 0..20 {
        for i in 0..4 {
            let mut a = [0.0; 3];
            for j in 0..4 {
                if i == j {
                    continue;
                }
                let d = [p[j][0] - p[i][0], p[j][1] - p[i][1], p[j][2] - p[i][2]];
                let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
                let s = 1.0 / (r2 * r2.sqrt());
                for k in 0..3 {
                    a[k] += s * d[k];
                }
            }
            for k in 0..3 {
                v[i][k] += 0.01 * a[k];
            }
        }
        for i in 0..4 {
            for k in 0..3 {
                p[i][k] += 0.01 * v[i][k];
            }
        }
    }
    p[0][0] + p[3][2]
}

/// The constants of SHA-256 (FIPS 180-4, section 4.2.2).
const K: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The first word of SHA-256 of one block.
#[autobatch]
fn sha256(block: [u32; 16]) -> u32 {
    let mut w = [0u32; 64];
    w[..16].copy_from_slice(&block);
    for i in 16..64 {
        let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
        let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
    }
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    for i in 0..64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(K[i]).wrapping_add(w[i]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d.wrapping_add(t1);
        d = c;
        c = b;
        b = a;
        a = t1.wrapping_add(s0.wrapping_add(majority));
    }
    for (s, v) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *s = s.wrapping_add(v);
    }
    state[0]
}

/// The first two numbers with a sum.
#[autobatch]
fn first_pair(xs: &[i32], target: i32) -> u32 {
    for i in 0..xs.len() {
        for j in i + 1..xs.len() {
            if xs[i] + xs[j] == target {
                return (i * xs.len() + j) as u32;
            }
        }
    }
    u32::MAX
}

/// A gated recurrent cell of four numbers over a member's sequence.
#[autobatch]
fn cell(w: &[[f32; 4]; 4], u: &[[f32; 4]; 4], #[each] xs: &[f32]) -> f32 {
    let mut h = [0.0f32; 4];
    for &x in xs {
        let mut n = [0.0f32; 4];
        for i in 0..4 {
            let mut s = w[i][0] * x + w[i][1];
            for j in 0..4 {
                s += u[i][j] * h[j];
            }
            let z = s / (1.0 + s.abs());
            n[i] = 0.5 * h[i] + 0.5 * z;
        }
        h = n;
    }
    h.iter().sum()
}

/// A matrix with Cholesky's factor.
fn definite(numbers: &mut Numbers) -> [[f64; 6]; 6] {
    let b: [[f64; 6]; 6] = std::array::from_fn(|_| std::array::from_fn(|_| numbers.within(0.0, 1.0)));
    let entry = |i: usize, j: usize| (0..6).map(|k| b[i][k] * b[j][k]).sum::<f64>();
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j) + if i == j { 0.5 } else { 0.0 }))
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let members = members.unwrap_or(MEMBERS);
    let mut numbers = Numbers::new(17);
    let mut column = |low, high| -> Vec<f64> { (0..members).map(|_| numbers.within(low, high)).collect() };
    let noise = (column(0.1, 3.0), column(0.1, 3.0), column(0.0, 1.0)[..members.min(40)].to_vec());
    let matrices: Vec<[[f64; 6]; 6]> = (0..members).map(|_| definite(&mut numbers)).collect();
    let starts: Vec<[[f64; 3]; 4]> = (0..members)
        .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| numbers.within(0.0, 1.0))))
        .collect();
    let blocks: Vec<[u32; 16]> =
        (0..members).map(|_| std::array::from_fn(|_| numbers.bits() as u32)).collect();
    let list: Vec<i32> = (0..40).map(|_| numbers.below(1000) as i32).collect();
    let targets: Vec<i32> = (0..members).map(|_| numbers.below(2000) as i32).collect();
    let mut weights = || std::array::from_fn(|_| std::array::from_fn(|_| numbers.within(0.0, 1.0) as f32));
    let (w, u): ([[f32; 4]; 4], [[f32; 4]; 4]) = (weights(), weights());
    let sequences: Vec<Vec<f32>> = (0..members)
        .map(|_| (0..10 + numbers.below(40)).map(|_| numbers.within(0.0, 1.0) as f32).collect())
        .collect();
    vec![
        stateless(
            "arrays, Kalman filter",
            noise,
            members,
            |(q, r, seen), m, ()| filter(q[m], r[m], seen),
            |(q, r, seen), _, options| filter_batched_with(q, r, seen, options),
        ),
        stateless(
            "arrays, Cholesky 6x6",
            matrices,
            members,
            |a, m, ()| cholesky(a[m]),
            |a, _, options| cholesky_batched_with(a, options),
        ),
        stateless(
            "arrays, four bodies",
            starts,
            members,
            |starts, m, ()| bodies(starts[m]),
            |starts, _, options| bodies_batched_with(starts, options),
        ),
        stateless(
            "arrays, SHA-256",
            blocks,
            members,
            |blocks, m, ()| sha256(blocks[m]),
            |blocks, _, options| sha256_batched_with(blocks, options),
        ),
        stateless(
            "arrays, first pair",
            (list, targets),
            members,
            |(list, targets), m, ()| first_pair(list, targets[m]),
            |(list, targets), _, options| first_pair_batched_with(list, targets, options),
        ),
        stateless(
            "arrays, GRU cell",
            (w, u, sequences),
            members,
            |(w, u, xs), m, ()| cell(w, u, &xs[m]),
            |(w, u, xs), _, options| cell_batched_with(w, u, xs, options),
        ),
    ]
}
