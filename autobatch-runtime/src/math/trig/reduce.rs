//! |x| as r + k π/2 with |r| <= π/4, r as the unevaluated sum of two numbers.
//!
//! In the usual range by Cody & Waite (Software Manual for the Elementary Functions, 1980): π/2 is taken
//! in parts so short that their products with the quotient are exact.

use super::huge;

/// `r`, `low` and k; |`low`| is at most about half an ulp of `r`, and all but the last two bits of `k`
/// are junk.
pub(super) struct Reduced<T> {
    pub(super) r: T,
    pub(super) low: T,
    pub(super) k: u32,
}

/// The sum's last mantissa bit is worth 1, so that adding rounds to an integer.
const MAGIC: f64 = (3u64 << 51) as f64;
const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// For x >= 0 or NaN.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce_f64(x: f64) -> Reduced<f64> {
    /// Products of the parts, of 30 bits each, with quotients are exact below this.
    const HUGE: f64 = (1u64 << 23) as f64;
    const PART1: f64 = 1.570796325802803;
    const PART2: f64 = 9.920935791635221e-10;
    const PART3: f64 = 5.17018297889025e-19;
    const PART4: f64 = 2.9038559739793605e-28;

    let sum = x * TWO_OVER_PI + MAGIC;
    let q = sum - MAGIC;
    // The first difference is exact. The other two have errors, which are exact in turn: either there
    // is cancellation and the difference is exact, or the minuend is larger.
    let r0 = x - q * PART1;
    let p = q * PART2;
    let r1 = r0 - p;
    let e1 = (r0 - r1) - p;
    let p = q * PART3;
    let r = r1 - p;
    let e2 = (r1 - r) - p;
    let low = (e1 + e2) - q * PART4;
    let (mut r, mut low, mut k) = (r, low, sum.to_bits());
    if x >= HUGE {
        huge::cold();
        (r, low, k) = huge::reduce_f64(x.to_bits());
    }
    Reduced { r, low, k: k as u32 }
}

/// For x >= 0 or NaN. In `f64`: there the remainder has enough bits after one step, while in `f32`
/// arithmetic it would take five parts of π/2 to do it for arguments up to no more than 2^12.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce_f32(x: f32) -> Reduced<f32> {
    const HUGE: f32 = (1u32 << 24) as f32;
    /// 29 bits.
    const PART1: f64 = 1.570796325802803;
    const PART2: f64 = 9.920935796805404e-10;

    let y = f64::from(x);
    let sum = y * TWO_OVER_PI + MAGIC;
    let q = sum - MAGIC;
    let (mut r, mut k) = ((y - q * PART1) - q * PART2, sum.to_bits());
    if x >= HUGE {
        huge::cold();
        (r, k) = huge::reduce_f32(y.to_bits());
    }
    let short = r as f32;
    Reduced { r: short, low: (r - f64::from(short)) as f32, k: k as u32 }
}
