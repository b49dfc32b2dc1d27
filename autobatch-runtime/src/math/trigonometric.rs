//! Which trigonometric function belongs to which type.

use super::trig;

/// The functions of [`trig`], by type.
pub trait Trigonometric: Sized {
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, x: Self) -> Self;
}

macro_rules! trigonometric {
    ($float:ident $sin_cos:ident $atan2:ident: $($name:ident $function:ident),*) => {
        impl Trigonometric for $float {
            $(
                #[cfg_attr(optimised, inline(always))]
                fn $name(self) -> $float {
                    trig::$function(self)
                }
            )*

            #[cfg_attr(optimised, inline(always))]
            fn sin_cos(self) -> ($float, $float) {
                trig::$sin_cos(self)
            }

            #[cfg_attr(optimised, inline(always))]
            fn atan2(self, x: $float) -> $float {
                trig::$atan2(self, x)
            }
        }
    };
}

trigonometric! {
    f32 sin_cos_f32 atan2_f32:
    sin sin_f32, cos cos_f32, tan tan_f32, asin asin_f32, acos acos_f32, atan atan_f32
}
trigonometric! {
    f64 sin_cos_f64 atan2_f64:
    sin sin_f64, cos cos_f64, tan tan_f64, asin asin_f64, acos acos_f64, atan atan_f64
}
