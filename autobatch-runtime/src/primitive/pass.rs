//! The forms in which a kernel can take a column.

use super::columns::{Shared, SharedValue, Values, Vectors};

/// What a batched kernel may take for a parameter of its function.
#[diagnostic::on_unimplemented(
    message = "the batched kernel can't take this parameter as `{K}`",
    label = "takes a parameter as `{K}`",
    note = "for `x: T` it takes `&[T]` or `ArrayView1<T>`, for `&[T; D]` also `ArrayView2<T>`, for `&Array1<T>` `ArrayView2<T>`",
    note = "any other `&T`, and `#[shared] x: T`, is shared and passed as it is; `#[each] x: &T` is one per member"
)]
pub trait Pass<'a, K> {
    /// The column in that form.
    fn pass(&'a self) -> K;
}

/// What a batched kernel may take for a `&mut` parameter of its function.
#[diagnostic::on_unimplemented(
    message = "the batched kernel can't take this parameter as `{K}`",
    label = "takes a parameter as `{K}`",
    note = "for `&mut T` it takes `&mut [T]` or `ArrayViewMut1<T>`, for `&mut [T; D]` also `ArrayViewMut2<T>`, for `&mut Array1<T>` `ArrayViewMut2<T>`"
)]
pub trait PassMut<'a, K> {
    /// The column in that form.
    fn pass_mut(&'a mut self) -> K;
}

impl<'a, T> PassMut<'a, &'a mut [T]> for Values<T> {
    fn pass_mut(&'a mut self) -> &'a mut [T] {
        &mut self.0
    }
}

impl<'a, T> Pass<'a, &'a [T]> for Values<T> {
    fn pass(&'a self) -> &'a [T] {
        &self.0
    }
}

impl<'m, T: ?Sized> Pass<'_, &'m T> for Shared<'m, T> {
    fn pass(&self) -> &'m T {
        self.0[0]
    }
}

impl<T: Copy> Pass<'_, T> for SharedValue<T> {
    fn pass(&self) -> T {
        self.0[0]
    }
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::{Pass, PassMut, Values, Vectors};
    use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};

    impl<'a, T> PassMut<'a, ArrayViewMut1<'a, T>> for Values<T> {
        fn pass_mut(&'a mut self) -> ArrayViewMut1<'a, T> {
            ArrayViewMut1::from(&mut self.0[..])
        }
    }

    impl<'a, T, const D: usize> PassMut<'a, ArrayViewMut2<'a, T>> for Values<[T; D]> {
        fn pass_mut(&'a mut self) -> ArrayViewMut2<'a, T> {
            let shape = (self.0.len(), D);
            ArrayViewMut2::from_shape(shape, self.0.as_flattened_mut()).expect("D elements for each member")
        }
    }

    impl<'a, T> PassMut<'a, ArrayViewMut2<'a, T>> for Vectors<T> {
        fn pass_mut(&'a mut self) -> ArrayViewMut2<'a, T> {
            let shape = (self.lens.len(), self.lens.first().copied().unwrap_or(0));
            ArrayViewMut2::from_shape(shape, &mut self.elements).expect("vectors of one length")
        }
    }

    impl<'a, T> Pass<'a, ArrayView1<'a, T>> for Values<T> {
        fn pass(&'a self) -> ArrayView1<'a, T> {
            ArrayView1::from(&self.0[..])
        }
    }

    impl<'a, T, const D: usize> Pass<'a, ArrayView2<'a, T>> for Values<[T; D]> {
        fn pass(&'a self) -> ArrayView2<'a, T> {
            let shape = (self.0.len(), D);
            ArrayView2::from_shape(shape, self.0.as_flattened()).expect("D elements for each member")
        }
    }

    impl<'a, T> Pass<'a, ArrayView2<'a, T>> for Vectors<T> {
        fn pass(&'a self) -> ArrayView2<'a, T> {
            let shape = (self.lens.len(), self.lens.first().copied().unwrap_or(0));
            ArrayView2::from_shape(shape, &self.elements).expect("vectors of one length")
        }
    }
}

#[cfg(not(feature = "ndarray"))]
const _: fn(&Vectors<u8>) = |_| {};
