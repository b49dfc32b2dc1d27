//! Types that are known only where a function is sound. For generated code only.

/// Of an array whose length is unknown if a function is wrong: `T`, and an error without a message if it is.
pub trait Checked<T: ?Sized> {
    /// `T`.
    type Of: ?Sized;
}

impl<T: ?Sized, const N: usize> Checked<T> for [(); N] {
    type Of = T;
}

/// `T`. An opaque type is captured and shown by different places in it.
pub type Same<T> = T;

/// What stands where a function lacks its result, as rustc says of the function. Never called.
pub fn no_value<T>() -> T {
    unreachable!()
}
