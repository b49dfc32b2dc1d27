//! Results of members, and how they are compared.

use std::fmt::Debug;

/// A member's result.
pub trait Value: Copy + Debug + Default + Send + Sync + 'static {
    /// Equality of bits.
    fn same(self, other: Self) -> bool;
    /// The difference in units of the larger of 1 and the values' magnitude.
    fn distance(self, other: Self) -> f64;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Value for $t {
            fn same(self, other: Self) -> bool {
                self == other
            }
            fn distance(self, other: Self) -> f64 {
                if self == other { 0.0 } else { (self as f64).distance(other as f64) }
            }
        }
    )* };
}
integers!(i32, u32, u64);

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl Value for $t {
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
            fn distance(self, other: Self) -> f64 {
                let (a, b) = (f64::from(self), f64::from(other));
                if self.same(other) { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()).max(1.0) }
            }
        }
    )* };
}
floats!(f32, f64);

/// How results that were computed in another language agree with the scalar function's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Agreement {
    /// Bit for bit: integers.
    Exact,
    /// To a relative error (absolute below 1), except for a share of the members: elementary functions and
    /// fused multiplications round differently, and a rounding may decide how a member goes on.
    Close {
        /// The error that is allowed.
        tolerance: f64,
        /// The share of the members that may differ by more.
        except: f64,
    },
}

impl Agreement {
    /// Compares two results.
    ///
    /// # Errors
    ///
    /// The worst disagreement in words.
    pub fn check<V: Value>(self, expected: &[V], found: &[V]) -> Result<(), String> {
        if expected.len() != found.len() {
            return Err(format!("{} results for {} members", found.len(), expected.len()));
        }
        let (tolerance, except) = match self {
            Agreement::Exact => (0.0, 0.0),
            Agreement::Close { tolerance, except } => (tolerance, except),
        };
        let agrees = |i: usize| {
            found[i].same(expected[i]) || (tolerance > 0.0 && found[i].distance(expected[i]) <= tolerance)
        };
        let mut differing = (0..found.len()).filter(|i| !agrees(*i));
        let Some(first) = differing.next() else { return Ok(()) };
        let count = 1 + differing.count();
        if count as f64 <= except * found.len() as f64 {
            return Ok(());
        }
        let (found, expected, members) = (found[first], expected[first], found.len());
        Err(format!(
            "{count} of {members} members differ: member {first} is {found:?} instead of {expected:?}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_as_strict_as_it_says() {
        assert!(Agreement::Exact.check(&[0.0], &[-0.0]).is_err());
        assert!(Agreement::Exact.check(&[f64::NAN], &[f64::NAN]).is_ok());
        let close = Agreement::Close { tolerance: 1e-6, except: 0.0 };
        assert!(close.check(&[1.0], &[1.0 + 1e-7]).is_ok());
        assert!(close.check(&[1e9], &[1e9 + 1.0]).is_ok());
        assert!(close.check(&[1.0], &[1.1]).is_err());
        assert!(close.check(&[1.0], &[f64::NAN]).is_err());
        let half = Agreement::Close { tolerance: 0.0, except: 0.5 };
        assert!(half.check(&[1, 2], &[1, 3]).is_ok());
        assert!(half.check(&[1, 2], &[2, 3]).is_err());
        assert!(half.check(&[1, 2], &[1]).is_err());
    }
}
