//! An array as a column of a batched function.

use std::cell::OnceCell;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::DataType;
use autobatch::{BatchError, Column, Each, OneOrMany, Ragged};

use crate::value::{Number, Value, item, texts};

/// An argument of a batched function: an array, or one value for all rows. The closure of [`Batch::call`](crate::Batch::call) gets one for each
/// array.
///
/// It is a column for any parameter whose type is a [`Value`], and for `#[each] x: &[T]` of numbers and `#[each] x: &str`. That the array is of the parameter's type is
/// checked when the function is called; another type is a [`BatchError::Misfit`].
#[derive(Clone, Copy)]
pub struct Argument<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Array(&'a dyn Array),
    /// The first row stands for all.
    One(&'a dyn Array),
    /// Nothing but the type of the parameter is asked for.
    Asked(&'a Asked),
}

/// What an argument has been asked for: an array of that type, without rows.
#[derive(Default)]
pub(crate) struct Asked(OnceCell<ArrayRef>);

impl Asked {
    /// The type of the parameter, if there is one.
    pub(crate) fn into_type(self) -> Option<DataType> {
        self.0.into_inner().map(|array| array.data_type().clone())
    }
}

impl<'a> Argument<'a> {
    pub(crate) fn new(array: &'a dyn Array, is_one: bool) -> Self {
        Argument(if is_one { Kind::One(array) } else { Kind::Array(array) })
    }

    /// The array, and whether its first row stands for all, for a parameter of that type.
    fn get(self, data_type: &DataType) -> (&'a dyn Array, bool) {
        match self.0 {
            Kind::Array(array) => (array, false),
            Kind::One(array) => (array, true),
            Kind::Asked(asked) => (asked.0.get_or_init(|| new_empty_array(data_type)), false),
        }
    }

    pub(crate) fn asked(asked: &'a Asked) -> Self {
        Argument(Kind::Asked(asked))
    }

    /// Whether it is one value for all rows.
    ///
    /// ```
    /// # use arrow_array::Float64Array;
    /// # use autobatch_arrow::Batch;
    /// # #[autobatch::autobatch]
    /// # fn sum(a: f64, b: f64) -> f64 { a + b }
    /// let (a, b) = (Float64Array::from(vec![1.0, 2.0]), Float64Array::new_scalar(3.0));
    /// Batch::of([&a, &b]).call(|[a, b], options| {
    ///     assert!(!a.is_one() && b.is_one());
    ///     sum_batched_with(a, b, options)
    /// })?;
    /// # Ok::<(), autobatch_arrow::Error>(())
    /// ```
    pub fn is_one(self) -> bool {
        matches!(self.0, Kind::One(_))
    }
}

/// What an array of another type is refused with.
fn misfit(parameter: &'static str, expected: &DataType, array: &dyn Array) -> BatchError {
    let message = format!("it has to be {expected}, but is {}", array.data_type());
    BatchError::Misfit { parameter, message }
}

impl<'a, T: Value> Column<T> for Argument<'a> {
    type Source = <OneOrMany<T::Column<'a>, T> as Column<T>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        let data_type = T::data_type();
        let (array, is_one) = self.get(&data_type);
        let column = match is_one {
            true => T::first(array).map(OneOrMany::One),
            false => T::column(array).map(OneOrMany::Many),
        };
        column.ok_or_else(|| misfit(parameter, &data_type, array))?.into_source(parameter)
    }
}

impl<'a> Each<'a, str> for Argument<'a> {
    type Source = <OneOrMany<Vec<&'a str>, &'a str> as Each<'a, str>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        let data_type = DataType::Utf8;
        let (array, is_one) = self.get(&data_type);
        let texts = texts(array).ok_or_else(|| misfit(parameter, &data_type, array))?;
        let column = match texts.first() {
            Some(text) if is_one => OneOrMany::One(*text),
            _ => OneOrMany::Many(texts),
        };
        Each::into_source(column, parameter)
    }
}

/// The sequences of a list.
fn sequences<T: Number>(array: &dyn Array) -> Option<Ragged<'_, T>> {
    Some(match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            Ragged::new(T::column(lists.values())?, lists.value_offsets())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            Ragged::new(T::column(lists.values())?, lists.value_offsets())
        }
        _ => return None,
    })
}

impl<'a, T: Number> Each<'a, [T]> for Argument<'a> {
    type Source = <OneOrMany<Ragged<'a, T>, &'a [T]> as Each<'a, [T]>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        let data_type = DataType::List(item::<T>());
        let (array, is_one) = self.get(&data_type);
        let sequences = sequences(array).ok_or_else(|| misfit(parameter, &data_type, array))?;
        let column = if is_one { OneOrMany::One(sequences.row(0)) } else { OneOrMany::Many(sequences) };
        Each::into_source(column, parameter)
    }
}
