//! Types that are known only where a function is sound. For generated code only.

/// Of an array whose length is unknown if a function is wrong: `T`, and an error without a message if it is.
pub trait Checked<T: ?Sized> {
    /// `T`.
    type Of: ?Sized;
}

impl<T: ?Sized, const N: usize> Checked<T> for [(); N] {
    type Of = T;
}
