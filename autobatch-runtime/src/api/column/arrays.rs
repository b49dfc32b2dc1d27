//! `ndarray` arrays and views as columns.

use std::ops::Range;

use ndarray::{Array1, ArrayBase, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Data, DataMut, Ix1, Ix2};

use super::super::fault::BatchError;
use super::by_reference::{Each, EachMut};
use super::by_value::Column;
use super::source::{Owned, Source};

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T: Clone + Sync> Source<T> for ArrayView1<'_, T> {
    fn len(&self) -> Option<usize> {
        Some(ArrayView1::len(self))
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> T {
        self[member].clone()
    }
    fn repeatable(&self) -> bool {
        true
    }
    #[cfg_attr(optimised, inline(always))]
    fn slice(&self, members: Range<usize>) -> Option<&[T]> {
        self.as_slice().map(|values| &values[members])
    }
}

impl<'a, T: Clone + Sync> Column<T> for ArrayView1<'a, T> {
    type Source = Self;
    fn into_source(self, _: &'static str) -> Result<Self, BatchError> {
        Ok(self)
    }
}

impl<'a, T: Clone + Sync, S: Data<Elem = T>> Column<T> for &'a ArrayBase<S, Ix1> {
    type Source = ArrayView1<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(self.view())
    }
}

/// Rows as fixed-size vectors.
#[doc(hidden)]
pub struct Rows<'a, T, const D: usize>(ArrayView2<'a, T>);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T: Clone + Sync, const D: usize> Source<[T; D]> for Rows<'_, T, D> {
    fn len(&self) -> Option<usize> {
        Some(self.0.nrows())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> [T; D] {
        std::array::from_fn(|k| self.0[[member, k]].clone())
    }
    fn repeatable(&self) -> bool {
        true
    }
}

impl<'a, T: Clone + Sync, const D: usize> Column<[T; D]> for ArrayView2<'a, T> {
    type Source = Rows<'a, T, D>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        if self.ncols() == D {
            Ok(Rows(self))
        } else {
            Err(BatchError::Shape { parameter, expected: D, found: self.ncols() })
        }
    }
}

impl<'a, T: Clone + Sync, S: Data<Elem = T>, const D: usize> Column<[T; D]> for &'a ArrayBase<S, Ix2> {
    type Source = Rows<'a, T, D>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Column::<[T; D]>::into_source(self.view(), parameter)
    }
}

/// Rows as vectors.
#[doc(hidden)]
pub struct Vectors<'a, T>(ArrayView2<'a, T>);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T: Clone + Sync> Source<Array1<T>> for Vectors<'_, T> {
    fn len(&self) -> Option<usize> {
        Some(self.0.nrows())
    }
    fn get(&self, member: usize) -> Array1<T> {
        self.0.row(member).to_owned()
    }
    fn repeatable(&self) -> bool {
        true
    }
}

impl<'a, T: Clone + Sync> Column<Array1<T>> for ArrayView2<'a, T> {
    type Source = Vectors<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Vectors(self))
    }
}

impl<'a, T: Clone + Sync, S: Data<Elem = T>> Column<Array1<T>> for &'a ArrayBase<S, Ix2> {
    type Source = Vectors<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Vectors(self.view()))
    }
}

/// Rows as views.
#[doc(hidden)]
pub struct Views<'a, T>(ArrayView2<'a, T>);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: Sync> Source<ArrayView1<'a, T>> for Views<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(self.0.nrows())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> ArrayView1<'a, T> {
        self.0.index_axis_move(Axis(0), member)
    }
    fn repeatable(&self) -> bool {
        true
    }
}

impl<'a, T: Sync> Column<ArrayView1<'a, T>> for ArrayView2<'a, T> {
    type Source = Views<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Views(self))
    }
}

impl<'a, T: Sync, S: Data<Elem = T>> Column<ArrayView1<'a, T>> for &'a ArrayBase<S, Ix2> {
    type Source = Views<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Views(self.view()))
    }
}

/// Rows as slices: each is one piece of memory.
#[doc(hidden)]
pub struct Slices<'a, T>(ArrayView2<'a, T>);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: Sync> Source<&'a [T]> for Slices<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(self.0.nrows())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a [T] {
        self.0.index_axis_move(Axis(0), member).to_slice().expect("checked when the source was made")
    }
    fn repeatable(&self) -> bool {
        true
    }
}

/// Whether the values of a row lie side by side.
fn rows_are_slices<S: Data>(array: &ArrayBase<S, Ix2>) -> bool {
    array.ncols() < 2 || array.strides()[1] == 1
}

impl<'a, T: Sync> Each<'a, [T]> for ArrayView2<'a, T> {
    type Source = Slices<'a, T>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        if rows_are_slices(&self) { Ok(Slices(self)) } else { Err(BatchError::Scattered { parameter }) }
    }
}

impl<'a, T: Sync, S: Data<Elem = T>> Each<'a, [T]> for &'a ArrayBase<S, Ix2> {
    type Source = Slices<'a, T>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Each::into_source(self.view(), parameter)
    }
}

impl<'a, T: Send> EachMut<'a, [T]> for ArrayViewMut2<'a, T> {
    type Source = Owned<&'a mut [T]>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        let (mut rows, members) = (Vec::new(), self.nrows());
        if rows.try_reserve_exact(members).is_err() {
            return Err(BatchError::Memory { members, bytes: size_of::<&[T]>() });
        }
        let mut rest = self;
        while rest.nrows() > 0 {
            let (row, behind) = rest.split_at(Axis(0), 1);
            let row = row.index_axis_move(Axis(0), 0).into_slice();
            rows.push(row.ok_or(BatchError::Scattered { parameter })?);
            rest = behind;
        }
        Column::into_source(rows, parameter)
    }
}

impl<'a, T: Send, S: DataMut<Elem = T>> EachMut<'a, [T]> for &'a mut ArrayBase<S, Ix2> {
    type Source = Owned<&'a mut [T]>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        EachMut::into_source(self.view_mut(), parameter)
    }
}
