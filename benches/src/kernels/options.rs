//! The inputs of the kernels that price options.

use crate::inputs::uniform;

/// One option per member: price, strike, years, interest rate, volatility.
#[derive(Clone, Debug)]
pub(crate) struct Contracts {
    pub(super) s: Vec<f32>,
    pub(super) x: Vec<f32>,
    pub(super) t: Vec<f32>,
    pub(super) r: Vec<f32>,
    pub(super) v: Vec<f32>,
}

impl Contracts {
    pub(super) fn new(members: usize) -> Self {
        Contracts {
            s: uniform(members, 1, 10.0, 100.0),
            x: uniform(members, 2, 10.0, 100.0),
            t: uniform(members, 3, 0.25, 3.0),
            r: uniform(members, 4, 0.01, 0.05),
            v: uniform(members, 5, 0.1, 0.5),
        }
    }
}

/// A kernel over [`Contracts`], out of a module with `price` and `price_batched_with`.
macro_rules! contracts {
    (
        $(#[$doc:meta])*
        $kernel:ident, $name:literal, $members:literal, $module:ident, $agreement:expr, $ispc:ident
    ) => {
        $(#[$doc])*
        pub struct $kernel($crate::kernels::options::Contracts);

        impl $crate::Kernel for $kernel {
            type Value = f32;
            const NAME: &'static str = $name;
            const MEMBERS: usize = $members;
            const BATCHED: $crate::Agreement = $agreement;
            const PEER: $crate::Agreement = $crate::Agreement::Close { tolerance: 1e-4, except: 0.0 };

            fn new(members: usize) -> Self {
                $kernel($crate::kernels::options::Contracts::new(members))
            }

            fn members(&self) -> usize {
                self.0.s.len()
            }

            #[inline]
            fn scalar(&self, i: usize) -> f32 {
                let $crate::kernels::options::Contracts { s, x, t, r, v } = &self.0;
                $module::price(s[i], x[i], t[i], r[i], v[i])
            }

            fn batched(
                &self,
                options: &autobatch::Options,
            ) -> Result<autobatch::Outcome<f32>, autobatch::BatchError> {
                let $crate::kernels::options::Contracts { s, x, t, r, v } = &self.0;
                $module::price_batched_with(s, x, t, r, v, options)
            }

            fn ispc(&self, target: $crate::ispc::Target, first: usize, out: &mut [f32]) {
                let $crate::kernels::options::Contracts { s, x, t, r, v } = &self.0;
                $ispc(target, first, s, x, t, r, v, out);
            }
        }
    };
}
pub(super) use contracts;
