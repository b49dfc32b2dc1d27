//! Types of Rust that stand in NumPy's arrays.

use std::os::raw::c_char;

use numpy::npyffi::NPY_TYPES;

/// A type of parameters and results: a number, `bool`, or `[T; D]` of numbers, which is a core dimension.
///
/// # Safety
///
/// `TYPE` is the number of NumPy's type with the same bits, and `CORE` the length of the array that the type is.
pub unsafe trait Item: Copy + Send + Sync + 'static {
    /// The number of its elements' type.
    #[doc(hidden)]
    const TYPE: c_char;
    /// The number of elements of an array.
    #[doc(hidden)]
    const CORE: Option<usize>;
    /// Whether any bits are a value.
    #[doc(hidden)]
    const IS_ANY_BITS: bool;
    /// What stands for a member at fault, if anything can.
    #[doc(hidden)]
    fn nan() -> Option<Self>;
    /// Reads a value whose elements lie so many bytes apart.
    ///
    /// # Safety
    ///
    /// The memory of all elements may be read.
    #[doc(hidden)]
    unsafe fn read(at: *const u8, apart: isize) -> Self;
    /// Writes such a value.
    ///
    /// # Safety
    ///
    /// The memory of all elements may be written.
    #[doc(hidden)]
    unsafe fn write(self, at: *mut u8, apart: isize);
}

macro_rules! numbers {
    ($($number:ty, $name:ident, $nan:expr;)*) => {$(
        // SAFETY: the types have the same bits.
        unsafe impl Item for $number {
            const TYPE: c_char = NPY_TYPES::$name as c_char;
            const CORE: Option<usize> = None;
            const IS_ANY_BITS: bool = true;
            fn nan() -> Option<Self> {
                $nan
            }
            unsafe fn read(at: *const u8, _: isize) -> Self {
                // SAFETY: the caller says so; any bits are a number.
                unsafe { at.cast::<$number>().read_unaligned() }
            }
            unsafe fn write(self, at: *mut u8, _: isize) {
                // SAFETY: the caller says so.
                unsafe { at.cast::<$number>().write_unaligned(self) }
            }
        }

        // SAFETY: as above.
        unsafe impl<const D: usize> Item for [$number; D] {
            const TYPE: c_char = NPY_TYPES::$name as c_char;
            const CORE: Option<usize> = Some(D);
            const IS_ANY_BITS: bool = true;
            fn nan() -> Option<Self> {
                <$number as Item>::nan().map(|nan| [nan; D])
            }
            unsafe fn read(at: *const u8, apart: isize) -> Self {
                // SAFETY: the caller says so.
                std::array::from_fn(|i| unsafe { <$number as Item>::read(at.offset(i as isize * apart), 0) })
            }
            unsafe fn write(self, at: *mut u8, apart: isize) {
                for (i, value) in self.into_iter().enumerate() {
                    // SAFETY: the caller says so.
                    unsafe { value.write(at.offset(i as isize * apart), 0) }
                }
            }
        }
    )*};
}

numbers! {
    i8, NPY_BYTE, None;
    i16, NPY_SHORT, None;
    i32, NPY_INT, None;
    u8, NPY_UBYTE, None;
    u16, NPY_USHORT, None;
    u32, NPY_UINT, None;
    f32, NPY_FLOAT, Some(f32::NAN);
    f64, NPY_DOUBLE, Some(f64::NAN);
}

// `long` has 64 bits on Unix, and NumPy takes it for int64 there.
#[cfg(not(windows))]
numbers! {
    i64, NPY_LONG, None;
    u64, NPY_ULONG, None;
}

#[cfg(windows)]
numbers! {
    i64, NPY_LONGLONG, None;
    u64, NPY_ULONGLONG, None;
}

// SAFETY: a byte that is 0 or 1 when it is written; any byte may be read.
unsafe impl Item for bool {
    const TYPE: c_char = NPY_TYPES::NPY_BOOL as c_char;
    const CORE: Option<usize> = None;
    const IS_ANY_BITS: bool = false;
    fn nan() -> Option<Self> {
        None
    }
    unsafe fn read(at: *const u8, _: isize) -> Self {
        // SAFETY: the caller says so.
        unsafe { at.read() != 0 }
    }
    unsafe fn write(self, at: *mut u8, _: isize) {
        // SAFETY: the caller says so.
        unsafe { at.write(self.into()) }
    }
}
