//! Types that are known only where a function is sound. For generated code only.

/// Of an array whose length is unknown if a function is wrong: `T`, and an error without a message if it is.
pub trait Checked<T: ?Sized> {
    /// `T`.
    type Of: ?Sized;
    /// The value itself.
    fn value(value: T) -> Self::Of
    where
        T: Sized,
        Self::Of: Sized;
}

impl<T: ?Sized, const N: usize> Checked<T> for [(); N] {
    type Of = T;

    #[cfg_attr(optimised, inline(always))]
    fn value(value: T) -> T
    where
        T: Sized,
    {
        value
    }
}

/// `T`. An opaque type is captured and shown by different places in it.
pub type Same<T> = T;
