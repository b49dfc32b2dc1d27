//! Prices of put options by a binomial tree of 64 steps: uniform loops over a small local array.

use autobatch::autobatch;

use crate::Agreement;
use crate::ispc::counterpart;
use crate::kernels::options::contracts;

/// The scalar function in a module, with std's elementary functions or with `vector_math`'s.
macro_rules! module {
    ($name:ident, $($argument:ident),*) => {
        #[autobatch($($argument),*)]
        mod $name {
            pub(super) fn price(s: f32, x: f32, t: f32, r: f32, v: f32) -> f32 {
                let mut val = [0.0f32; 65];
                let dt = t / 64.0;
                let u = (v * dt.sqrt()).exp();
                let d = 1.0 / u;
                let disc = (r * dt).exp();
                let pu = (disc - d) / (u - d);
                let mut up = s * d.powf(64.0);
                for j in 0..=64 {
                    val[j] = (x - up).max(0.0);
                    up *= u * u;
                }
                for j in (1..=64).rev() {
                    for k in 0..j {
                        val[k] = ((1.0 - pu) * val[k] + pu * val[k + 1]) / disc;
                    }
                }
                val[0]
            }
        }
    };
}

counterpart! {
    fn ispc_binomial(columns(s: f32, x: f32, t: f32, r: f32, v: f32)) -> f32
}

module!(plain, strict);
contracts! {
    /// The binomial tree with std's elementary functions.
    Binomial, "binomial", 16_384, plain, Agreement::Exact, ispc_binomial
}

#[cfg(feature = "vector_math")]
module!(vectorised, strict, vector_math);
#[cfg(feature = "vector_math")]
contracts! {
    /// The binomial tree with elementary functions that vectorise.
    BinomialVectorMath, "binomial_vector_math", 16_384, vectorised, Agreement::Close { tolerance: 1e-4, except: 0.0 }, ispc_binomial
}
