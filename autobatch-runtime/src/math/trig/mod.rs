//! Trigonometric functions.
//!
//! All lanes take the same path, selects instead of branches, except for angles beyond 2^23 (`f32`: 2^24):
//! reducing those takes about twenty times as long as all the rest, so that lanes which need it do it one
//! after the other, while the rest is SIMD code all the same; see [`huge`].
//!
//! The arrangement is that of Muller, Elementary Functions: Algorithms and Implementation. The polynomials
//! are minimax approximations made for this crate.

mod circular;
mod huge;
mod inverse;
mod quotient;
mod reduce;

pub(super) use circular::{cos_f32, cos_f64, sin_cos_f32, sin_cos_f64, sin_f32, sin_f64, tan_f32, tan_f64};
pub(super) use inverse::{acos_f32, acos_f64, asin_f32, asin_f64, atan_f32, atan_f64, atan2_f32, atan2_f64};
