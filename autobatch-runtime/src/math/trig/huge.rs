//! Arguments so large that the reduction needs many digits of 2/π (Payne & Hanek 1983; Muller et al.,
//! Handbook of Floating-Point Arithmetic, 11.4).
//!
//! This is the rare case of loops that must vectorise, and a vectorised `if` computes both sides. The
//! loop vectoriser makes an exception for what may trap, of which only the division of integers is at
//! hand: that it leaves scalar, behind a branch per lane, and with it all that is computed for its sake
//! alone. So below every value that is used more than once is divided by an opaque one, which makes the
//! whole computation scalar code behind never-taken branches. The results don't depend on it: code that
//! isn't vectorised has an ordinary branch, and no optimisation could make more than the speed differ.
//! For the same reason there is no table in memory (conditional loads would not vectorise), but a chain
//! of selects between constants, and whoever calls this marks the branch with [`cold`], without which
//! the divisions would make the vectoriser's cost model reject the loop.

use std::hint::select_unpredictable;
use std::num::NonZero;

/// The name of a branch that is never taken, as far as the optimiser is concerned.
#[cold]
pub(super) fn cold() {}

/// 1, without the optimiser's knowledge.
#[cfg_attr(optimised, inline(always))]
fn opaque_one(bits: u64) -> NonZero<u64> {
    let one = (bits | 3) % ((bits & !1) | 2);
    // SAFETY: the dividend is the divisor plus one, and the divisor is at least 2.
    unsafe { NonZero::new_unchecked(one) }
}

/// `hi` and `lo` as one number, shifted left by `by` < 64: the upper half.
#[cfg_attr(optimised, inline(always))]
fn funnel(hi: u64, lo: u64, by: u64) -> u64 {
    hi.wrapping_shl(by as u32) | (lo >> 1).wrapping_shr(63 ^ by as u32)
}

/// The upper half of the product.
#[cfg_attr(optimised, inline(always))]
fn mul_high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// 64 binary digits of 2/π, from index 64 `i` on, where index 1077 has the digit worth 1/2. Then the
/// digits before index e make multiples of 4 of a number with the biased exponent e. For `i` from 16 to
/// 19, which `f32` needs.
#[cfg_attr(optimised, inline(always))]
fn first_digits(i: u64) -> u64 {
    let w = 0x0000_0000_0000_0517;
    let w = select_unpredictable(i >= 17, 0xcc1b_7272_20a9_4fe1, w);
    let w = select_unpredictable(i >= 18, 0x3abe_8fa9_a6ee_06db, w);
    select_unpredictable(i >= 19, 0x14ac_c9e2_1c82_0ff2, w)
}

/// The same for `i` up to 34, which `f64` needs.
#[cfg_attr(optimised, inline(always))]
fn digits(i: u64) -> u64 {
    let w = first_digits(i);
    let w = select_unpredictable(i >= 20, 0x8b1d_5ef5_de2b_0db9, w);
    let w = select_unpredictable(i >= 21, 0x2371_d212_6e97_0032, w);
    let w = select_unpredictable(i >= 22, 0x4977_504e_8c90_e7f0, w);
    let w = select_unpredictable(i >= 23, 0xef58_e589_4d39_f744, w);
    let w = select_unpredictable(i >= 24, 0x11af_a975_da24_274c, w);
    let w = select_unpredictable(i >= 25, 0xe381_35a2_fbf2_09cc, w);
    let w = select_unpredictable(i >= 26, 0x8eb1_cc1a_99cf_a4e4, w);
    let w = select_unpredictable(i >= 27, 0x22fc_5def_c941_d8ff, w);
    let w = select_unpredictable(i >= 28, 0xc4bf_fef0_2cc0_7f79, w);
    let w = select_unpredictable(i >= 29, 0x788c_5ad0_5368_fb69, w);
    let w = select_unpredictable(i >= 30, 0xb3f6_793e_584d_ba7a, w);
    let w = select_unpredictable(i >= 31, 0x31fb_34f2_ff51_6ba9, w);
    let w = select_unpredictable(i >= 32, 0x3dd6_3f5f_2f8b_d9e8, w);
    let w = select_unpredictable(i >= 33, 0x39cf_bc52_9497_535f, w);
    select_unpredictable(i >= 34, 0xdafd_88fc_6ae8_42b0, w)
}

/// π/2 in units of the last of 64 fractional digits.
const HALF_PI: f64 = 8.515303950216386e-20;

/// |x| as (r + low) + k π/2 with |r| <= π/4, modulo 2π, for 2 <= |x| <= ∞. `bits` are those of |x|.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce_f64(bits: u64) -> (f64, f64, u64) {
    /// The same in two parts, the first of 26 bits.
    const HALF_PI_HIGH: f64 = 8.515303944838236e-20;
    const HALF_PI_LOW: f64 = 5.378150071992814e-29;
    /// 2^-64
    const UNIT: f64 = 1.0 / (u64::MAX as f64);

    let one = opaque_one(bits);
    let bits = bits / one;
    let i0 = (bits >> 58) / one;
    let i1 = i0.wrapping_add(1) / one;
    let i2 = i0.wrapping_add(2) / one;
    let i3 = i0.wrapping_add(3) / one;
    let s0 = ((bits >> 52) & 63) / one;
    let s1 = s0 / one;
    let s2 = s1 / one;
    let m = ((bits & ((1 << 52) - 1)) | (1 << 52)) / one;
    let n = m / one;

    // x 2/π modulo 4: m times 192 digits, of which the upper two thirds of the product are kept.
    let (d1, d2) = (digits(i1) / one, digits(i2) / one);
    let w0 = funnel(digits(i0), d1, s0);
    let w1 = funnel(d1, d2, s1) / one;
    let w2 = funnel(d2, digits(i3), s2);
    let carry = mul_high(m, w2) / one;
    let low = m.wrapping_mul(w1).wrapping_add(carry) / one;
    let carry = u64::from(low < carry);
    let high = m.wrapping_mul(w0).wrapping_add(mul_high(n, w1)).wrapping_add(carry) / one;

    // Two binary digits are the integer part; the fraction, signed, to be multiplied by π/2: its first
    // 26 significant bits, and all others.
    let k = (high.wrapping_add(1 << 61) >> 62) / one;
    let fraction = ((high << 2) | (low >> 62)) / one;
    let head = ((fraction as i64 as f64).to_bits() & (!0 << 27)) / one;
    let rest = fraction.wrapping_sub(f64::from_bits(head) as i64 as u64) as i64 as f64;
    let tail = rest + (low << 2) as f64 * UNIT;
    let head1 = head / one;
    let head2 = head1 / one;
    let y0 = (f64::from_bits(head1) * HALF_PI_HIGH).to_bits() / one;
    let y1 = y0 / one;
    // NaN for an infinity.
    let z = f64::from_bits(head2) * HALF_PI_LOW + (tail * HALF_PI + f64::from_bits(bits) * 0.0);
    let z0 = z.to_bits() / one;
    let z1 = z0 / one;
    // The sum, and its error.
    let sum = (f64::from_bits(y0) + f64::from_bits(z0)).to_bits() / one;
    let error = (f64::from_bits(y1) - f64::from_bits(sum / one)) + f64::from_bits(z1);
    (f64::from_bits(sum), f64::from_bits(error.to_bits() / one), k)
}

/// The same for |x| below 2^128 or infinite that have no more than 24 bits, where one number suffices.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce_f32(bits: u64) -> (f64, u64) {
    let one = opaque_one(bits);
    let bits = bits / one;
    let i0 = (bits >> 58) / one;
    let i1 = i0.wrapping_add(1) / one;
    let i2 = i0.wrapping_add(2) / one;
    let s0 = ((bits >> 52) & 63) / one;
    let s1 = s0 / one;
    let m = ((bits & ((1 << 52) - 1)) | (1 << 52)) / one;

    let d1 = first_digits(i1) / one;
    let w0 = funnel(first_digits(i0), d1, s0);
    let w1 = funnel(d1, first_digits(i2), s1);
    let product = m.wrapping_mul(w0).wrapping_add(mul_high(m, w1)) / one;

    let k = (product.wrapping_add(1 << 61) >> 62) / one;
    // NaN for an infinity.
    let r = (product << 2) as i64 as f64 * HALF_PI + f64::from_bits(bits) * 0.0;
    (f64::from_bits(r.to_bits() / one), k)
}
