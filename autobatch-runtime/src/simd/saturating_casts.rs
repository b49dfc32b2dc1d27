//! Floats that become integers as `as` makes them, in lane code.
//!
//! ```text
//! x as i32   ──▶   NaN and what is too small: the least integer;  what is too large: the largest;  else the conversion;  of NaN: 0
//! ```
//!
//! LLVM 22 makes no vectors of `as`, whose conversion saturates in itself. It does of a conversion that need not, and choices around it.
//!
//! **Invariant:** the integer is that of `as`. No float is converted without a check that has no integer of the type.

/// A float that can become a `T`.
pub trait SaturateTo<T> {
    /// What `as` makes of it.
    fn saturate(self) -> T;
}

/// What `as` makes of a float.
#[cfg_attr(optimised, inline(always))]
pub fn saturated<T>(float: impl SaturateTo<T>) -> T {
    float.saturate()
}

macro_rules! saturate {
    ($($float:ty => $($integer:ty)*;)*) => {$($(
        impl SaturateTo<$integer> for $float {
            #[cfg_attr(optimised, inline(always))]
            fn saturate(self) -> $integer {
                const LEAST: $float = <$integer>::MIN as $float;
                // The largest integer, or the number behind it where that is no float.
                const END: $float = <$integer>::MAX as $float;
                let at_least = if self > LEAST { self } else { LEAST };
                let is_inside = at_least < END;
                let inside = if is_inside { at_least } else { LEAST };
                // SAFETY: `inside` is no NaN, at least `LEAST`, which is an integer of the type, and less than `END`, which is one, or one more
                // than the largest. So its whole part is one.
                let integer: $integer = unsafe { inside.to_int_unchecked() };
                let integer = if is_inside { integer } else { <$integer>::MAX };
                // NaN has become `LEAST`, which is 0 without a sign.
                if <$integer>::MIN != 0 && self.is_nan() { 0 } else { integer }
            }
        }
    )*)*};
}

saturate! {
    f32 => i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    f64 => i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats next to every power of two and to integers, with both signs, and what is no number.
    fn floats() -> impl Iterator<Item = f64> {
        let powers = (-2..130).flat_map(|e| {
            let power = 2f64.powi(e);
            let next = [power.next_down(), power, power.next_up(), power - 1.0, power + 1.0, power - 0.5];
            next.into_iter().chain([power * 1.3, f64::from(power as f32 * 1.7)])
        });
        let others = [0.0, 0.4, 0.99, 1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN];
        powers.chain(others).flat_map(|x| [x, -x])
    }

    macro_rules! same {
        ($($integer:ty)*) => {$(
            for x in floats() {
                assert_eq!(saturated::<$integer>(x), x as $integer, "{x:e} as {}", stringify!($integer));
                for x in [x as f32, (x as f32).next_down(), (x as f32).next_up()] {
                    assert_eq!(saturated::<$integer>(x), x as $integer, "{x:e} as {}", stringify!($integer));
                }
            }
        )*};
    }

    #[test]
    fn integers_are_those_of_as() {
        same!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    }
}
