//! Black-Scholes prices of call options: straight-line code with elementary functions.

use autobatch::autobatch;

use crate::Agreement;
use crate::ispc::counterpart;
use crate::kernels::options::contracts;

/// The scalar function in a module, with std's elementary functions or with `vector_math`'s.
macro_rules! module {
    ($name:ident, $($argument:ident),*) => {
        #[autobatch($($argument),*)]
        mod $name {
            /// The normal distribution after Abramowitz and Stegun.
            fn cnd(x: f32) -> f32 {
                let l = x.abs();
                let k = 1.0 / (1.0 + 0.2316419 * l);
                let mut w = k
                    * (0.319_381_53
                        + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_5))));
                w *= 0.398_942_3 * (-l * l * 0.5).exp();
                if x > 0.0 {
                    w = 1.0 - w;
                }
                w
            }

            pub(super) fn price(s: f32, x: f32, t: f32, r: f32, v: f32) -> f32 {
                let d1 = ((s / x).ln() + (r + v * v * 0.5) * t) / (v * t.sqrt());
                let d2 = d1 - v * t.sqrt();
                s * cnd(d1) - x * (-r * t).exp() * cnd(d2)
            }
        }
    };
}

counterpart! {
    fn ispc_black_scholes(columns(s: f32, x: f32, t: f32, r: f32, v: f32)) -> f32
}

module!(plain, strict);
contracts! {
    /// Black-Scholes with std's elementary functions.
    BlackScholes, "black_scholes", 131_072, plain, Agreement::Exact, ispc_black_scholes
}

#[cfg(feature = "vector_math")]
module!(vectorised, strict, vector_math);
#[cfg(feature = "vector_math")]
contracts! {
    /// Black-Scholes with elementary functions that vectorise.
    BlackScholesVectorMath, "black_scholes_vector_math", 131_072, vectorised, Agreement::Close { tolerance: 1e-4, except: 0.0 }, ispc_black_scholes
}
