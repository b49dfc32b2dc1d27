//! The exponential half of `autobatch::math` against CORE-MATH, whose results are correctly rounded, and
//! against std where that defines the result.
//!
//! With `AUTOBATCH_EXHAUSTIVE=1` in the environment, the functions of one `f32` are tested for all of them,
//! the others for many more arguments. Use a release build for that.

mod bits;
mod double;
mod single;
mod special;

/// Whether to take the time.
fn exhaustive() -> bool {
    std::env::var_os("AUTOBATCH_EXHAUSTIVE").is_some_and(|value| value != "0")
}

/// Xorshift: any deterministic source of bits will do.
struct Random(u64);

impl Random {
    fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }
}
