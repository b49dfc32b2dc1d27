//! asin, acos, atan and atan2: a polynomial of a reduced argument, added to a multiple of π/4. The larger
//! terms of that sum are added with their errors.

use super::quotient;
use crate::math::format::{Format, poly};

macro_rules! inverse {
    (
        $float:ident, $bits:ident,
        pi_4: ($pi_4:expr, $pi_4_low:literal),
        atan: ($($atan:tt)*), asin: ($($asin:tt)*),
        // From `few` on the second part of a quotient counts; numbers beyond `large` and below `small` are
        // divided and multiplied by `scale`.
        few: $few:expr, large: $large:expr, small: $small:expr, scale: $scale:expr,
        $sum:ident, $half_asin:ident, $angle:ident, $remainder:ident,
        $asin_name:ident, $acos:ident, $atan_name:ident, $atan2:ident
    ) => {
        /// `quarters` π/4 + `head` + `tail`, where `quarters` is an integer up to 4 and `head` is less
        /// than the first term if that is not zero.
        #[cfg_attr(optimised, inline(always))]
        fn $sum(quarters: $float, head: $float, tail: $float) -> $float {
            // Short enough that all multiples are exact.
            let base = quarters * $pi_4;
            let sum = base + head;
            let error = (base - sum) + head;
            sum + (error + (quarters * $pi_4_low + tail))
        }

        /// asin(a) as `f.0 + f.1` if not `big`, else its complement to π/2 divided by 2.
        #[cfg_attr(optimised, inline(always))]
        fn $half_asin(a: $float, big: bool) -> ($float, $float) {
            // asin(a) = π/2 - 2 asin(sqrt((1 - a) / 2))
            let z = if big { 0.5 - 0.5 * a } else { a * a };
            let root = z.sqrt();
            let short = root.short();
            // The term that is added keeps 0 / 0 out and is below the last bit of any other root.
            let rest = (z - short * short) / (root + short + $float::MIN_POSITIVE);
            let (s, s0, s1) = if big { (root, short, rest) } else { (a, a, 0.0) };
            let w = z * z;
            (s0, s1 + s * z * poly!(z, w; $($asin)*))
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $asin_name(x: $float) -> $float {
            let a = x.abs();
            let big = a >= 0.5;
            let f = $half_asin(a, big);
            let (quarters, times) = if big { (2.0, -2.0) } else { (0.0, 1.0) };
            $sum(quarters, times * f.0, times * f.1).copysign(x)
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $acos(x: $float) -> $float {
            let a = x.abs();
            let big = a >= 0.5;
            let f = $half_asin(a, big);
            let (quarters, times) = if big { (2.0, 2.0) } else { (0.0, -1.0) };
            let (quarters, times) = if x < 0.0 { (quarters, -times) } else { (-quarters, times) };
            $sum(2.0 + quarters, times * f.0, times * f.1)
        }

        /// atan(y / x), or π less that if `left`. Both are at least 0 and not both 0, and their sum is
        /// finite, unless y alone is infinite.
        #[cfg_attr(optimised, inline(always))]
        fn $angle(y: $float, x: $float, left: bool) -> $float {
            const TAN_PI_8: $float = 0.41421356;
            let steep = y > x;
            let (low, high) = if steep { (x, y) } else { (y, x) };
            // atan(low / high) = π/4 + atan((low - high) / (low + high))
            let middle = low > TAN_PI_8 * high;
            let (difference, sum) = (low - high, low + high);
            let difference = (difference, low - (difference + high));
            let sum = (sum, low - (sum - high));
            let (n, d) = if middle { (difference, sum) } else { ((low, 0.0), (high, 0.0)) };
            let t = n.0 / d.0;
            let rest = quotient::$remainder(n, d, t) / d.0;
            let rest = if t.abs() > $few { rest } else { 0.0 };

            let z = t * t;
            let w = z * z;
            // 1 - z is about the derivative at t.
            let tail = rest * (1.0 - z) + t * z * poly!(z, w; $($atan)*);
            let quarters = if middle { 1.0 } else { 0.0 };
            let (quarters, sign) = if steep { (2.0 - quarters, -1.0) } else { (quarters, 1.0) };
            let (quarters, sign) = if left { (4.0 - quarters, -sign) } else { (quarters, sign) };
            $sum(quarters, sign * t, sign * tail)
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $atan_name(x: $float) -> $float {
            $angle(x.abs(), 1.0, false).copysign(x)
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $atan2(y: $float, x: $float) -> $float {
            let (a, b) = (y.abs(), x.abs());
            let high = if a > b { a } else { b };
            let infinite = high == $float::INFINITY;
            // Infinities are like ones among zeros, and the angle of (0, 0) is like that of (0, 1).
            let one = |v: $float| if v == $float::INFINITY { 1.0 } else { v * 0.0 };
            let scale = if high > $large { 1.0 / $scale } else { 1.0 };
            let scale = if high < $small { $scale } else { scale };
            let a = if infinite { one(a) } else { a * scale };
            let b = if infinite { one(b) } else { b * scale };
            let b = if high == 0.0 { 1.0 } else { b };
            let angle = $angle(a, b, x.is_sign_negative());
            angle.copysign(y)
        }
    };
}

inverse! {
    f32, u32,
    pi_4: (f32::from_bits(0x3f49_0fd8), 1.5695824e-07),
    atan: (-0.33333316, 0.19998525, -0.14244308, 0.105984494; -0.060880993),
    asin: (0.16666752, 0.07495331, 0.045465168, 0.024207497; 0.042117298),
    few: (1.0 / (1u32 << 13) as f32), large: (1u128 << 100) as f32, small: 1.0 / (1u128 << 80) as f32,
    scale: (1u64 << 63) as f32,
    sum_f32, half_asin_f32, angle_f32, remainder_f32, asin_f32, acos_f32, atan_f32, atan2_f32
}

inverse! {
    f64, u64,
    pi_4: (std::f64::consts::FRAC_PI_4, 3.061616997868383e-17),
    atan: (
        -0.333333333333332, 0.19999999999953402, -0.14285714280158493, 0.11111110781053311,
        -0.09090897680882122, 0.07692058779570639, -0.06663087404164333, 0.05847767768067426,
        -0.05038760784005031, 0.038050928224352576; -0.017892551071357378
    ),
    asin: (
        0.1666666666666676, 0.07499999999971174, 0.044642857174112135, 0.03038194273578786,
        0.02237221412861531, 0.017351628227432116, 0.013980620480784398, 0.011400575398670357,
        0.01077086315672477, 0.003741919380549942, 0.021621309496905414, -0.020877916868945898;
        0.03255350820523444
    ),
    few: (1.0 / (1u64 << 28) as f64), large: 1e300, small: 1e-270,
    scale: (1u128 << 100) as f64,
    sum_f64, half_asin_f64, angle_f64, remainder_f64, asin_f64, acos_f64, atan_f64, atan2_f64
}
