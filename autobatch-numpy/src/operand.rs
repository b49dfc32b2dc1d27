//! An operand of a ufunc as a column of a batched function.

use std::any::Any;
use std::cell::OnceCell;
use std::os::raw::c_char;

use autobatch::{BatchError, Column, OneOrMany};
use numpy::ndarray::{ArrayView1, Axis, ShapeBuilder};

use crate::item::Item;

/// An operand, as the closure of [`Ufunc::with`](crate::Ufunc::with) gets it: a column for any parameter whose type is an [`Item`].
#[derive(Clone, Copy)]
pub struct Operand<'a>(pub(crate) Kind<'a>);

#[derive(Clone, Copy)]
pub(crate) enum Kind<'a> {
    /// What NumPy hands over.
    Memory(Memory, &'a Scratch),
    /// Nothing but the type of the parameter is asked for.
    Asked(&'a OnceCell<Shape>),
}

/// A type, and how many elements it has if it is an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) number: c_char,
    pub(crate) core: Option<usize>,
}

impl Shape {
    pub(crate) fn of<T: Item>() -> Shape {
        Shape { number: T::TYPE, core: T::CORE }
    }
}

/// Values in an array.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) at: *const u8,
    pub(crate) len: usize,
    /// Bytes from value to value, 0 if there is one for all.
    pub(crate) stride: isize,
    /// Bytes from element to element of a value that is an array.
    pub(crate) apart: isize,
}

/// Values that can't be read where they are, copied.
#[derive(Default)]
pub(crate) struct Scratch(OnceCell<Box<dyn Any>>);

impl<'a, T: Item> Column<T> for Operand<'a> {
    type Source = <OneOrMany<ArrayView1<'a, T>, T> as Column<T>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        let column = match self.0 {
            Kind::Memory(memory, scratch) => memory.column(scratch),
            Kind::Asked(asked) => {
                let shape = Shape::of::<T>();
                if *asked.get_or_init(|| shape) != shape {
                    None
                } else {
                    Some(OneOrMany::Many(ArrayView1::from(&[])))
                }
            }
        };
        let message = || "the operand is given to parameters of different types".to_owned();
        column.ok_or_else(|| BatchError::Misfit { parameter, message: message() })?.into_source(parameter)
    }
}

impl Memory {
    fn column<'a, T: Item>(self, scratch: &'a Scratch) -> Option<OneOrMany<ArrayView1<'a, T>, T>> {
        let Memory { at, len, stride, apart } = self;
        let size = size_of::<T>() as isize;
        if len > 0 && stride == 0 {
            // SAFETY: NumPy hands over memory of this type.
            return Some(OneOrMany::One(unsafe { T::read(at, apart) }));
        }
        let is_together = T::CORE.is_none_or(|count| count < 2 || apart * count as isize == size);
        let is_there = size > 0 && stride % size == 0 && at.cast::<T>().is_aligned() && T::IS_ANY_BITS;
        if len > 0 && is_together && is_there {
            let steps = stride / size;
            let lowest = if steps < 0 { at.wrapping_offset(stride * (len as isize - 1)) } else { at };
            let shape = [len].strides([steps.unsigned_abs()]);
            // SAFETY: NumPy hands over aligned memory with so many values of this type, which lives as long as the call that the operand is
            // for. Python must not write to it meanwhile, as the crate's page says.
            let mut view = unsafe { ArrayView1::from_shape_ptr(shape, lowest.cast::<T>()) };
            if steps < 0 {
                view.invert_axis(Axis(0));
            }
            return Some(OneOrMany::Many(view));
        }
        let copied = scratch.0.get_or_init(|| {
            // SAFETY: NumPy hands over so many values of this type.
            let read = |nth: usize| unsafe { T::read(at.offset(nth as isize * stride), apart) };
            Box::new((0..len).map(read).collect::<Vec<T>>())
        });
        copied.downcast_ref::<Vec<T>>().map(|values| OneOrMany::Many(ArrayView1::from(values)))
    }
}
