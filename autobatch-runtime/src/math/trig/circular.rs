//! sin, cos and tan on [-π/4, π/4], and the quadrants.

use super::reduce::Reduced;
use crate::math::format::{Format, poly};

macro_rules! circular {
    (
        $float:ident, $bits:ident,
        // The polynomial of sin lacks -r^3 / 8.
        sin: ($($sin:tt)*), cos: ($($cos:tt)*),
        $kernel:ident, $reduce:ident, $sin_cos:ident, $sin_name:ident, $cos_name:ident, $tan:ident, $quotient:ident
    ) => {
        /// sin and cos of r + low, each as (the first term or two, all others), where the first is
        /// the larger by far and carries no error. z is r squared.
        #[cfg_attr(optimised, inline(always))]
        fn $kernel(r: $float, low: $float, z: $float) -> (($float, $float), ($float, $float)) {
            let w = z * z;
            let half = 0.5 * z;
            let one = 1.0 - half;
            // Three quarters of -r^3 / 6 are exact when taken apart.
            let cube = r * z;
            let s = (low * one + cube * poly!(z, w; $($sin)*)) - 0.125 * cube;
            let c = ((1.0 - one) - half) + (w * poly!(z, w; $($cos)*) - r * low);
            ((r, s), (one, c))
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $sin_cos(x: $float) -> ($float, $float) {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            let Reduced { r, low, k } = super::reduce::$reduce(x.abs());
            let (s, c) = $kernel(r, low, r * r);
            let (s, c) = ((s.0 + s.1).to_bits(), (c.0 + c.1).to_bits());
            let k = $bits::from(k);
            let (sin, cos) = if k & 1 == 0 { (s, c) } else { (c, s) };
            let top = $bits::BITS - 2;
            // The second bit of k is the sign of sin, that of k + 1 the sign of cos.
            let sin = sin ^ ((k << top) & SIGN) ^ (x.to_bits() & SIGN);
            let cos = cos ^ ((k.wrapping_add(1) << top) & SIGN);
            ($float::from_bits(sin), $float::from_bits(cos))
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $sin_name(x: $float) -> $float {
            $sin_cos(x).0
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $cos_name(x: $float) -> $float {
            $sin_cos(x).1
        }

        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $tan(x: $float) -> $float {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            let Reduced { r, low, k } = super::reduce::$reduce(x.abs());
            let z = r * r;
            let short = r.short();
            let ((s0, s1), (c0, c1)) = $kernel(r, low, z);
            // What z lacks.
            let rest = 0.5 * ((short * short - z) + (r - short) * (r + short));
            let (s1, c1) = (s1 - r * rest * (1.0 / 3.0), c1 - rest);
            // As sums whose second term is below the first one's last bit.
            let (s, c) = (s0 + s1, c0 + c1);
            let (s1, c1) = ((s0 - s) + s1, (c0 - c) + c1);
            let odd = k & 1 != 0;
            let (n, n1, d, d1) = if odd { (c, c1, s, s1) } else { (s, s1, c, c1) };
            let t = super::quotient::$quotient((n, n1), (d, d1));
            let t = (t.0 + t.1).to_bits();
            let sign = ($bits::from(k) << ($bits::BITS - 1)) ^ (x.to_bits() & SIGN);
            $float::from_bits(t ^ sign)
        }
    };
}

circular! {
    f32, u32,
    sin: (-0.04166667, 0.008333373, -0.00019849771, 2.794359e-6),
    cos: (0.041666646, -0.0013887311; 2.4432564e-5),
    kernel_f32, reduce_f32, sin_cos_f32, sin_f32, cos_f32, tan_f32, quotient_f32
}

circular! {
    f64, u64,
    sin: (
        -0.0416666666666663, 0.008333333333321917, -0.00019841269829456835, 2.7557313581703525e-6,
        -2.5050742242589463e-8, 1.5895939810745158e-10
    ),
    cos: (
        0.041666666666666595, -0.0013888888888873346, 2.480158728900563e-5, -2.755731421807611e-7,
        2.0875705524207555e-9, -1.1358754870645538e-11
    ),
    kernel_f64, reduce_f64, sin_cos_f64, sin_f64, cos_f64, tan_f64, quotient_f64
}
