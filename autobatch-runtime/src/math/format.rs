//! The two binary formats behind one trait, so that each algorithm is written once.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Evaluates a polynomial, coefficients in ascending order, as two interleaved Horner chains: half the
/// latency of one for a single extra multiplication.
macro_rules! poly {
    ($x:expr, $x2:expr; $($even:literal, $odd:literal),+ $(,)?) => {
        poly!(@horner $x2; $($even),+) + $x * poly!(@horner $x2; $($odd),+)
    };
    ($x:expr, $x2:expr; $($even:literal, $odd:literal),+ ; $last:literal) => {
        poly!(@horner $x2; $($even,)+ $last) + $x * poly!(@horner $x2; $($odd),+)
    };
    (@horner $x:expr; $c:literal) => { $c };
    (@horner $x:expr; $c:literal, $($rest:literal),+) => { $c + $x * (poly!(@horner $x; $($rest),+)) };
}
pub(super) use poly;

/// What the algorithms need to know of `f32` and `f64`: arithmetic, the layout of the bits, and the
/// polynomials, whose degree depends on the precision.
///
/// Everything here compiles to a handful of instructions that SSE2 has for vectors: no conversions
/// between 64-bit integers and floats, no arithmetic shifts or comparisons of 64-bit integers.
pub trait Format:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The unsigned integer of the same size.
    type Bits;

    const INFINITY: Self;
    const MIN_POSITIVE: Self;
    /// 2^(mantissa bits): from here on every number is an integer.
    const INTEGERS: Self;
    /// Where `exp` and `exp2` certainly underflow to zero, by a power of two that is 0, and overflow to infinity.
    const EXP_RANGE: (Self, Self);
    const EXP2_RANGE: (Self, Self);
    /// Below this `exp_m1` is -1.
    const EXP_M1_LOW: Self;
    /// ln 2 in two parts, the first so short that its products with exponents are exact.
    const LN_2: (Self, Self);
    /// log10 2 likewise.
    const LOG10_2: (Self, Self);
    /// ln 2, 1 / ln 2 and 1 / ln 10, the first part as short as [`Format::short`] makes it.
    const LN_2_SHORT: (Self, Self);
    const LOG2_E: (Self, Self);
    const LOG10_E: (Self, Self);
    /// Where `sinh` and `cosh` certainly overflow.
    const SINH_HIGH: Self;
    /// From here on `tanh` and `erf` are 1.
    const TANH_HIGH: Self;
    const ERF_HIGH: Self;
    /// Squares are safe from underflow and overflow between these, after scaling by the second of the pairs
    /// beyond them, too.
    const SQUARE_LOW: (Self, Self);
    const SQUARE_HIGH: (Self, Self);
    /// A bound for |y| from which on x^y is 0, 1 or infinite for every x.
    const POW_LIMIT: Self;

    /// The nearest number of the format. Of constants only, so that it costs nothing.
    fn lit(x: f64) -> Self;
    fn abs(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn sqrt(self) -> Self;
    /// NaN where `invalid`, else `self`. Like the next two a mask and one operation, which is less than a
    /// choice costs.
    fn or_nan(self, invalid: bool) -> Self;
    /// `self` where `wanted`, else 0.
    fn or_zero(self, wanted: bool) -> Self;
    /// With the sign of `sign` too where `wanted`.
    fn mul_sign(self, sign: Self, wanted: bool) -> Self;
    /// A positive number times a power of two if it is subnormal, else as it is, and the exponent of that
    /// power.
    fn lift(self) -> (Self, Self);
    /// Half of the mantissa: products of two such numbers are exact, and so is `self - self.short()`.
    fn short(self) -> Self;
    /// Rounded to a third of the mantissa: cubes of such numbers are exact.
    fn third(self) -> Self;
    /// The nearest integer n to `self`, and two powers of two whose product is 2^n: one alone may be out of
    /// the format's range. For the powers `self` has to lie between `EXP2_RANGE` and a little above.
    fn round_exponent(self) -> (Self, (Self, Self));
    /// 2^n for an integer n that is the exponent of a normal number.
    fn exp2_integer(self) -> Self;
    /// `self` = 2^k m with m from sqrt(1/2) to sqrt(2), for positive normal numbers.
    fn decompose(self) -> (Self, Self);
    /// `self` = 2^k m with m from 1 to 2, for positive normal numbers.
    fn exponent(self) -> (Self, Self);

    /// The exponent of a positive number with these bits, as a number.
    fn exponent_field(bits: Self::Bits) -> Self;

    /// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, accurate relative to e^r.
    fn exp_tail(r: Self) -> Self;
    /// (e^r - 1 - r - r^2 / 2) / r^3, accurate relative to e^r - 1.
    fn exp_m1_tail(r: Self) -> Self;
    /// (2 atanh(s) - 2 s) / s^3 of z = s^2 for |s| <= (sqrt 2 - 1) / (sqrt 2 + 1).
    fn log_tail(z: Self) -> Self;
    /// (cosh(r) - 1) / r^2 of z = r^2 for |r| <= ln 2 / 2.
    fn cosh_tail(z: Self) -> Self;
    /// (sinh(r) - r) / r^3 likewise.
    fn sinh_tail(z: Self) -> Self;
    /// (tanh(x) - x) / x^3 of z = x^2 for |x| <= 5/8.
    fn tanh_tail(z: Self) -> Self;
    /// erf(x) / x - 1 of z = x^2 for |x| <= 3/4.
    fn erf_tail(z: Self) -> Self;
    /// ln(1 - erf(3/4 + u)) + 1.2421875 for u >= 0 up to `ERF_HIGH`.
    fn ln_erfc(u: Self) -> Self;
}

macro_rules! format {
    (
        $float:ident, $bits:ident,
        mantissa: $mantissa:literal, bias: $bias:literal, short: $short:literal, third: $third:literal,
        sqrt_half: $sqrt_half:literal,
        { $($rest:tt)* }
    ) => {
        impl Format for $float {
            type Bits = $bits;

            const INFINITY: $float = $float::INFINITY;
            const MIN_POSITIVE: $float = $float::MIN_POSITIVE;
            const INTEGERS: $float = (1u64 << $mantissa) as $float;
            $($rest)*

            #[cfg_attr(optimised, inline(always))]
            fn lit(x: f64) -> $float {
                x as $float
            }

            #[cfg_attr(optimised, inline(always))]
            fn abs(self) -> $float {
                self.abs()
            }

            #[cfg_attr(optimised, inline(always))]
            fn copysign(self, sign: $float) -> $float {
                self.copysign(sign)
            }

            #[cfg_attr(optimised, inline(always))]
            fn sqrt(self) -> $float {
                self.sqrt()
            }

            #[cfg_attr(optimised, inline(always))]
            fn or_nan(self, invalid: bool) -> $float {
                $float::from_bits(self.to_bits() | if invalid { !0 } else { 0 })
            }

            #[cfg_attr(optimised, inline(always))]
            fn or_zero(self, wanted: bool) -> $float {
                $float::from_bits(self.to_bits() & if wanted { !0 } else { 0 })
            }

            #[cfg_attr(optimised, inline(always))]
            fn mul_sign(self, sign: $float, wanted: bool) -> $float {
                let sign = sign.to_bits() & !(!0 >> 1);
                $float::from_bits(self.to_bits() ^ sign & if wanted { !0 } else { 0 })
            }

            #[cfg_attr(optimised, inline(always))]
            fn lift(self) -> ($float, $float) {
                const EXPONENT: $float = $mantissa as $float;
                let small = self < $float::MIN_POSITIVE;
                let lifted = if small { self * Self::INTEGERS } else { self };
                (lifted, EXPONENT.or_zero(small))
            }

            #[cfg_attr(optimised, inline(always))]
            fn short(self) -> $float {
                $float::from_bits(self.to_bits() & (!0 << $short))
            }

            #[cfg_attr(optimised, inline(always))]
            fn third(self) -> $float {
                $float::from_bits(self.to_bits().wrapping_add(1 << ($third - 1)) & (!0 << $third))
            }

            #[cfg_attr(optimised, inline(always))]
            fn round_exponent(self) -> ($float, ($float, $float)) {
                // The sum's last mantissa bit is worth 1, so that adding rounds to an integer and the
                // low bits are that integer plus the offset: 1 where 2^n is below all numbers.
                const OFFSET: $bits = $bias + $mantissa + 2;
                const MAGIC: $float = (3u64 << ($mantissa - 1)) as $float + OFFSET as $float;
                let sum = self + MAGIC;
                // What is left of the bits above the integer's, the shifts drop. There the second power is 0:
                // underflow to 0 takes processors longer than a product of 0.
                let biased = sum.to_bits();
                let half = biased >> 1;
                let rest = biased.wrapping_sub(half).wrapping_add(2 * $bias - OFFSET);
                let scale = ($float::from_bits(rest << $mantissa), $float::from_bits(half << $mantissa));
                (sum - MAGIC, scale)
            }

            #[cfg_attr(optimised, inline(always))]
            fn exp2_integer(self) -> $float {
                const MAGIC: $float = (3u64 << ($mantissa - 1)) as $float + $bias as $float;
                $float::from_bits((self + MAGIC).to_bits() << $mantissa)
            }

            #[cfg_attr(optimised, inline(always))]
            fn decompose(self) -> ($float, $float) {
                const SQRT_HALF: $bits = $sqrt_half;
                // Moves sqrt(1/2) to 1, where the exponent changes.
                let moved = self.to_bits().wrapping_add(($bias << $mantissa) - SQRT_HALF);
                let m = $float::from_bits((moved & ((1 << $mantissa) - 1)).wrapping_add(SQRT_HALF));
                (Self::exponent_field(moved), m)
            }

            #[cfg_attr(optimised, inline(always))]
            fn exponent(self) -> ($float, $float) {
                let bits = self.to_bits();
                let m = $float::from_bits((bits & ((1 << $mantissa) - 1)) | ($bias << $mantissa));
                (Self::exponent_field(bits), m)
            }

            #[cfg_attr(optimised, inline(always))]
            fn exponent_field(bits: $bits) -> $float {
                // As the low bits of a number whose last bit is worth 1.
                const BIAS: $float = $float::INTEGERS + $bias as $float;
                $float::from_bits((bits >> $mantissa) | $float::INTEGERS.to_bits()) - BIAS
            }
        }
    };
}

format! {
    f32, u32,
    mantissa: 23, bias: 127, short: 12, third: 16, sqrt_half: 0x3f35_04f3,
    {
        const EXP_RANGE: (f32, f32) = (-104.7, 89.0);
        const EXP2_RANGE: (f32, f32) = (-151.0, 129.0);
        const EXP_M1_LOW: f32 = -17.5;
        const LN_2: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
        const LOG10_2: (f32, f32) = (0.301_025_4, 4.605_039e-6);
        const LN_2_SHORT: (f32, f32) = (0.693_115_23, 3.194_618_3e-5);
        const LOG2_E: (f32, f32) = (1.442_382_8, 3.122_284e-4);
        const LOG10_E: (f32, f32) = (0.434_204_1, 9.038_034e-5);
        const SINH_HIGH: f32 = 90.0;
        const TANH_HIGH: f32 = 10.0;
        const ERF_HIGH: f32 = 4.0;
        const SQUARE_LOW: (f32, f32) = (1.0 / (1u64 << 40) as f32, (1u128 << 90) as f32);
        const SQUARE_HIGH: (f32, f32) = ((1u64 << 60) as f32, 1.0 / (1u128 << 80) as f32);
        const POW_LIMIT: f32 = (1u64 << 40) as f32;

        #[cfg_attr(optimised, inline(always))]
        fn exp_tail(r: f32) -> f32 {
            let z = r * r;
            poly!(r, z; 0.5, 1.666_651_8e-1, 4.166_643_7e-2, 8.368_955e-3; 1.393_749_6e-3)
        }

        #[cfg_attr(optimised, inline(always))]
        fn exp_m1_tail(r: f32) -> f32 {
            let z = r * r;
            poly!(r, z; 1.666_666_7e-1, 4.166_648e-2, 8.333_188_5e-3, 1.393_334_9e-3; 1.996_190_7e-4)
        }

        #[cfg_attr(optimised, inline(always))]
        fn log_tail(z: f32) -> f32 {
            poly!(@horner z; 6.666_677_6e-1, 3.997_758_3e-1, 2.987_08e-1)
        }

        #[cfg_attr(optimised, inline(always))]
        fn cosh_tail(z: f32) -> f32 {
            poly!(@horner z; 0.5, 4.166_645_6e-2, 1.393_576_3e-3)
        }

        #[cfg_attr(optimised, inline(always))]
        fn sinh_tail(z: f32) -> f32 {
            poly!(@horner z; 1.666_666_7e-1, 8.333_191e-3, 1.995_932_1e-4)
        }

        #[cfg_attr(optimised, inline(always))]
        fn tanh_tail(z: f32) -> f32 {
            poly!(@horner z; -3.333_328_4e-1, 1.333_147_9e-1, -5.374_218e-2, 2.064_563_3e-2, -5.710_926e-3)
        }

        #[cfg_attr(optimised, inline(always))]
        fn erf_tail(z: f32) -> f32 {
            let w = z * z;
            poly!(
                z, w;
                1.283_791_7e-1, -3.761_262_3e-1, 1.128_342_9e-1, -2.683_702_3e-2, 5.118_946e-3, -6.780_876e-4
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn ln_erfc(u: f32) -> f32 {
            let w = u * u;
            poly!(
                u, w;
                3.202_404_2e-4, -2.225_873_7, -8.078_501e-1, -5.291_445_6e-2, 1.276_775e-2, -2.406_591_3e-3,
                2.973_732e-4, -1.651_146e-5
            )
        }
    }
}

format! {
    f64, u64,
    mantissa: 52, bias: 1023, short: 27, third: 36, sqrt_half: 0x3fe6_a09e_667f_3bcd,
    {
        const EXP_RANGE: (f64, f64) = (-745.9, 710.0);
        const EXP2_RANGE: (f64, f64) = (-1076.0, 1025.0);
        const EXP_M1_LOW: f64 = -37.5;
        const LN_2: (f64, f64) = (0.693_147_180_559_208_2, 7.371_002_565_167_799e-13);
        const LOG10_2: (f64, f64) = (0.301_029_995_663_611_77, 3.694_239_077_158_931e-13);
        const LN_2_SHORT: (f64, f64) = (0.693_147_167_563_438_4, 1.299_650_689_388_988_9e-8);
        const LOG2_E: (f64, f64) = (1.442_695_021_629_333_5, 1.925_962_991_126_617_5e-8);
        const LOG10_E: (f64, f64) = (0.434_294_477_105_140_7, 4.798_111_141_615_973e-9);
        const SINH_HIGH: f64 = 711.0;
        const TANH_HIGH: f64 = 20.0;
        const ERF_HIGH: f64 = 5.95;
        const SQUARE_LOW: (f64, f64) = (f64::from_bits(0x26f0 << 48), f64::from_bits(0x6570 << 48));
        const SQUARE_HIGH: (f64, f64) = (f64::from_bits(0x5f30 << 48), f64::from_bits(0x1a70 << 48));
        const POW_LIMIT: f64 = (1u128 << 70) as f64;

        #[cfg_attr(optimised, inline(always))]
        fn exp_tail(r: f64) -> f64 {
            let z = r * r;
            poly!(
                r, z;
                0.5000000000000013, 0.16666666666666688, 0.04166666666651157, 0.008333333333313757,
                0.00138888889478692, 0.00019841269904037528, 2.4801489164953283e-5, 2.7557227670335313e-6,
                2.7631530472992147e-7, 2.5114396610574343e-8
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn exp_m1_tail(r: f64) -> f64 {
            let z = r * r;
            poly!(
                r, z;
                0.16666666666666677, 0.041666666666666685, 0.008333333333321452, 0.001388888888887294,
                0.00019841269886525714, 2.4801587350447604e-5, 2.7557243844151314e-6, 2.7557250386026265e-7,
                2.5109154604354662e-8, 2.0922298904648507e-9
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn log_tail(z: f64) -> f64 {
            let w = z * z;
            poly!(
                z, w;
                0.6666666666666734, 0.3999999999941669, 0.2857142874200723, 0.22222198607567978,
                0.18183562718775206, 0.15314088133476242; 0.14795601491912644
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn cosh_tail(z: f64) -> f64 {
            poly!(
                @horner z;
                0.5000000000000013, 0.04166666666651153, 0.0013888888947884588, 2.480148914694011e-5,
                2.763153722768477e-7
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn sinh_tail(z: f64) -> f64 {
            poly!(
                @horner z;
                0.16666666666666677, 0.008333333333321449, 0.00019841269886538518, 2.7557243829183737e-6,
                2.5109160210510952e-8
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn tanh_tail(z: f64) -> f64 {
            let w = z * z;
            poly!(
                z, w;
                -0.3333333333333286, 0.13333333333262581, -0.05396825393143043, 0.021869487578337597,
                -0.00886322101397003, 0.0035919891330154887, -0.0014549580546295946,
                0.0005863120239434069, -0.00022855173461841836, 7.712670423573003e-5;
                -1.6062371063956098e-5
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn erf_tail(z: f64) -> f64 {
            let w = z * z;
            poly!(
                z, w;
                0.1283791670955126, -0.3761263890318389, 0.11283791670959398, -0.026866170645632407,
                0.005223977627116047, -0.000854832687109455, 0.000120553145036678,
                -1.4924771479143118e-5, 1.643881559159846e-6, -1.600438878628556e-7;
                1.1690516979179545e-8
            )
        }

        #[cfg_attr(optimised, inline(always))]
        fn ln_erfc(u: f64) -> f64 {
            let w = u * u;
            poly!(
                u, w;
                0.00032023932111296054, -2.2258736679806868, -0.8078515419193386, -0.05289998957857447,
                0.01270562523640284, -0.0022704470891104496, 0.00012961863367859567,
                0.00010588783295869755, -5.428402609613152e-5, 1.4301516085798113e-5,
                -1.3711536498278762e-6, -7.651316988056304e-7, 5.142259624493441e-7,
                -1.8479643363000722e-7, 4.739398652468777e-8, -9.080998375345465e-9,
                1.282071074239814e-9, -1.2645374876676288e-10, 7.784030640982578e-12,
                -2.2480263456262572e-13
            )
        }
    }
}
