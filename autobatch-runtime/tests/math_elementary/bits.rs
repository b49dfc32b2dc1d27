//! The same loop, compiled for each instruction set, has the same results to the last bit.
#![cfg(target_arch = "x86_64")]

use autobatch_runtime::math;

use crate::Random;

const COUNT: usize = 1024;

/// One function per instruction set, and a test that compares them.
macro_rules! same_bits {
    ($float:ident $bits:ident, $x:ident $y:ident $n:ident: $($name:ident($($argument:ident),*);)*) => {$(
        mod $name {
            use super::*;

            type Loop = unsafe fn(&[$float; COUNT], &[$float; COUNT], &[i32; COUNT], &mut [$float; COUNT]);

            macro_rules! compile {
                ($variant:ident $features:literal) => {
                    #[target_feature(enable = $features)]
                    #[allow(unused_variables)]
                    fn $variant(
                        $x: &[$float; COUNT],
                        $y: &[$float; COUNT],
                        $n: &[i32; COUNT],
                        out: &mut [$float; COUNT],
                    ) {
                        for i in 0..COUNT {
                            out[i] = math::$name($($argument[i]),*);
                        }
                    }
                };
            }

            compile!(baseline "sse2");
            compile!(avx2 "avx2,bmi1,bmi2,fma,lzcnt,popcnt");
            compile!(avx512 "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl");

            #[test]
            fn same_bits() {
                let has_avx2 = is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt");
                let has_avx512 = has_avx2
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl");
                let variants: [(bool, Loop); 2] = [(has_avx2, avx2), (has_avx512, avx512)];
                let mut random = Random::new();
                for round in 0..16 {
                    // Any bits in turn with moderate numbers.
                    let mut number = || match round % 2 {
                        0 => $float::from_bits(random.bits() as $bits),
                        _ => random.within(-10.0, 10.0) as $float,
                    };
                    let (mut x, mut y) = ([0.0; COUNT], [0.0; COUNT]);
                    x.fill_with(&mut number);
                    y.fill_with(&mut number);
                    let mut n = [0; COUNT];
                    n.fill_with(|| random.bits() as i32 >> (random.bits() % 32));
                    let mut expected = [0.0; COUNT];
                    // SAFETY: part of every x86-64.
                    unsafe { baseline(&x, &y, &n, &mut expected) };
                    for (_, variant) in variants.iter().filter(|(detected, _)| *detected) {
                        let mut got = [0.0; COUNT];
                        // SAFETY: detected.
                        unsafe { variant(&x, &y, &n, &mut got) };
                        for i in 0..COUNT {
                            let same = got[i].to_bits() == expected[i].to_bits();
                            assert!(
                                same || got[i].is_nan() && expected[i].is_nan(),
                                "{}({:e}, {:e} or {}): {:e}, not {:e}",
                                stringify!($name), x[i], y[i], n[i], got[i], expected[i]
                            );
                        }
                    }
                }
            }
        }
    )*};
}

macro_rules! same_bits_of_all {
    ($module:ident $float:ident $bits:ident) => {
        mod $module {
            use super::*;

            same_bits! {
                $float $bits, x y n:
                exp(x); exp2(x); exp_m1(x); ln(x); log2(x); log10(x); ln_1p(x); sinh(x); cosh(x); tanh(x);
                sqrt(x); cbrt(x); erf(x); powf(x, y); hypot(x, y); powi(x, n);
            }
        }
    };
}

same_bits_of_all!(single f32 u32);
same_bits_of_all!(double f64 u64);
