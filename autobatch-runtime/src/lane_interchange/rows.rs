//! Transposed arrays: each element, of an array or of arrays in arrays, is a strip.
//!
//! ```text
//! [[f64; 2]; 3], 64 lanes, is Of<3, Of<2, One>>:   [[[f64; 64]; 2]; 3]
//! ```
//!
//! A shape is a type that generated code spells, because only the lengths are known to it. What the elements are is inferred.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::slice;

use crate::lane_interchange::strips::{ActiveLanes, Strip, get};
use crate::probes::type_id::is_plain;
use crate::storage::PcWord;
use crate::storage::{UnknownZero, copied};

/// The shape of one element.
pub struct One;

/// The shape of so many `S`.
pub struct Of<const N: usize, S>(PhantomData<S>);

/// How arrays are nested.
pub trait Shape {
    /// An array of this shape.
    type Array<T>;
    /// The same with a strip for each element, and nothing else.
    type Rows<T, const W: usize>;
    /// How many elements there are.
    const ELEMENTS: usize;

    /// Sets a lane's elements.
    ///
    /// # Safety
    ///
    /// `T` is plain.
    #[doc(hidden)]
    unsafe fn put<T, const W: usize>(rows: &mut Self::Rows<T, W>, lane: usize, from: &Self::Array<T>);

    /// A lane's elements.
    ///
    /// # Safety
    ///
    /// `T` is plain.
    #[doc(hidden)]
    unsafe fn take<T, const W: usize>(rows: &Self::Rows<T, W>, lane: usize) -> Self::Array<T>;
}

impl Shape for One {
    type Array<T> = T;
    type Rows<T, const W: usize> = [T; W];
    const ELEMENTS: usize = 1;

    #[cfg_attr(optimised, inline(always))]
    unsafe fn put<T, const W: usize>(rows: &mut [T; W], lane: usize, from: &T) {
        // SAFETY: the caller says that `T` is plain, so its bits may be copied.
        rows[lane] = unsafe { ptr::read(from) };
    }

    #[cfg_attr(optimised, inline(always))]
    unsafe fn take<T, const W: usize>(rows: &[T; W], lane: usize) -> T {
        // SAFETY: as in `put`.
        unsafe { ptr::read(&rows[lane]) }
    }
}

impl<const N: usize, S: Shape> Shape for Of<N, S> {
    type Array<T> = [S::Array<T>; N];
    type Rows<T, const W: usize> = [S::Rows<T, W>; N];
    const ELEMENTS: usize = N * S::ELEMENTS;

    #[cfg_attr(optimised, inline(always))]
    unsafe fn put<T, const W: usize>(rows: &mut Self::Rows<T, W>, lane: usize, from: &Self::Array<T>) {
        for (rows, from) in rows.iter_mut().zip(from) {
            // SAFETY: the caller's promise.
            unsafe { S::put(rows, lane, from) };
        }
    }

    #[cfg_attr(optimised, inline(always))]
    unsafe fn take<T, const W: usize>(rows: &Self::Rows<T, W>, lane: usize) -> Self::Array<T> {
        // SAFETY: the caller's promise.
        std::array::from_fn(|n| unsafe { S::take(&rows[n], lane) })
    }
}

/// The strips of all elements.
#[cfg_attr(optimised, inline(always))]
fn strips<S: Shape, T, const W: usize>(rows: &mut S::Rows<T, W>) -> &mut [[T; W]] {
    assert!(size_of::<S::Rows<T, W>>() == S::ELEMENTS * size_of::<[T; W]>());
    // SAFETY: rows are that many strips, as arrays of arrays of them, so they are as large and as aligned as an array of strips, and every
    // byte of them belongs to one.
    unsafe { slice::from_raw_parts_mut(ptr::from_mut(rows).cast(), S::ELEMENTS) }
}

/// Rows in a place of their own. Aligned, because a vector that straddles two cache lines takes twice as long.
#[repr(align(64))]
pub struct Aligned<R>(R);

/// Whether the elements of arrays are of a plain type.
#[cfg_attr(optimised, inline(always))]
pub fn plain_array<S: Shape, T, const W: usize>(_: &[MaybeUninit<S::Array<T>>; W]) -> bool {
    is_plain::<T>()
}

/// Rows of zeros, if the type is plain. Strips that run one after the other take the same: new ones for each
/// cost a cheap kernel a twentieth of its time. They are allocated in the function that uses them, so that
/// LLVM sees that they overlap with nothing.
#[cfg_attr(optimised, inline(always))]
pub fn rows<S: Shape, T, const W: usize>() -> Option<Box<Aligned<S::Rows<T, W>>>> {
    is_plain::<T>().then(|| {
        let mut rows = Box::<Aligned<S::Rows<T, W>>>::new_uninit();
        // SAFETY: the box is as large as the type; all bits zero are a value of every plain type, and of arrays of it.
        unsafe {
            rows.as_mut_ptr().write_bytes(0, 1);
            rows.assume_init()
        }
    })
}

/// The rows for a strip, as some strip before it has left them.
#[cfg_attr(optimised, inline(always))]
pub fn in_rows<S: Shape, T, const W: usize>(
    rows: &mut Option<Box<Aligned<S::Rows<T, W>>>>,
) -> &mut S::Rows<T, W> {
    &mut rows.as_mut().expect("the type is plain").0
}

/// Says of which type the elements are.
#[cfg_attr(optimised, inline(always))]
pub fn of_element<S: Shape, T, const W: usize>(_rows: &S::Rows<T, W>, _element: &Strip<T, W>) {}

/// Says of which type the arrays are.
#[cfg_attr(optimised, inline(always))]
pub fn of_type<S: Shape, T, const W: usize>(_rows: &S::Rows<T, W>, _array: Option<S::Array<T>>) {}

/// Every element of a lane's array is the lane's value.
#[cfg_attr(optimised, inline(always))]
pub fn fill_rows<S: Shape, T, const W: usize>(rows: &mut S::Rows<T, W>, value: &Strip<T, W>) {
    for strip in strips::<S, T, W>(rows) {
        for (lane, element) in strip.iter_mut().enumerate() {
            *element = get(value, lane);
        }
    }
}

/// All lanes' arrays become those of another variable.
#[cfg_attr(optimised, inline(always))]
pub fn copy_rows<S: Shape, T, const W: usize>(rows: &mut S::Rows<T, W>, from: &S::Rows<T, W>) {
    assert!(is_plain::<T>());
    // SAFETY: both are valid for as many elements, and apart, as one of them is borrowed mutably. The elements are plain.
    unsafe { ptr::copy_nonoverlapping(from, rows, 1) };
}

/// As [`copy_rows`], of the lanes whose round it is.
#[cfg_attr(optimised, inline(always))]
pub fn copy_rows_where<S: Shape, T, const W: usize>(
    rows: &mut S::Rows<T, W>,
    from: &mut S::Rows<T, W>,
    is_in: impl Fn(usize) -> bool,
) {
    for (strip, from) in strips::<S, T, W>(rows).iter_mut().zip(strips::<S, T, W>(from)) {
        let zero = UnknownZero::new();
        for (lane, element) in strip.iter_mut().enumerate() {
            zero.choose(element, is_in(lane), copied(&from[lane]));
        }
    }
}

/// As [`fill_rows`], of the lanes whose round it is.
#[cfg_attr(optimised, inline(always))]
pub fn fill_rows_where<S: Shape, T, const W: usize>(
    rows: &mut S::Rows<T, W>,
    value: &Strip<T, W>,
    is_in: impl Fn(usize) -> bool,
) {
    for strip in strips::<S, T, W>(rows) {
        let zero = UnknownZero::new();
        for (lane, element) in strip.iter_mut().enumerate() {
            zero.choose(element, is_in(lane), get(value, lane));
        }
    }
}

/// Exchanges the arrays of the lanes whose round it is.
#[cfg_attr(optimised, inline(always))]
pub fn swap_rows_where<S: Shape, T, const W: usize>(
    rows: &mut S::Rows<T, W>,
    others: &mut S::Rows<T, W>,
    is_in: impl Fn(usize) -> bool,
) {
    for (strip, other) in strips::<S, T, W>(rows).iter_mut().zip(strips::<S, T, W>(others)) {
        let zero = UnknownZero::new();
        for (lane, (one, other)) in strip.iter_mut().zip(other).enumerate() {
            let kept = copied(one);
            zero.choose(one, is_in(lane), copied(other));
            zero.choose(other, is_in(lane), kept);
        }
    }
}

/// As [`spread`](crate::lane_interchange::spread).
#[cfg_attr(optimised, inline(always))]
pub fn spread_rows<S: Shape, T, P: PcWord, const W: usize>(
    slots: &[MaybeUninit<S::Array<T>>; W],
    rows: &mut S::Rows<T, W>,
    here: &ActiveLanes<P, W>,
) {
    assert!(is_plain::<T>());
    for lane in 0..W {
        // SAFETY: the slot of a lane that is here holds a value, and the type is plain.
        unsafe { S::put(rows, lane, slots[here.donor_of(lane)].assume_init_ref()) };
    }
}

/// As [`merge`](crate::lane_interchange::merge).
#[cfg_attr(optimised, inline(always))]
pub fn merge_rows<S: Shape, T, P: PcWord, const W: usize>(
    slots: &mut [MaybeUninit<S::Array<T>>; W],
    new: &S::Rows<T, W>,
    here: &ActiveLanes<P, W>,
) {
    assert!(is_plain::<T>());
    for (lane, slot) in slots.iter_mut().enumerate() {
        if here.is_active(lane) {
            // SAFETY: the type is plain.
            *slot = MaybeUninit::new(unsafe { S::take(new, lane) });
        }
    }
}
