//! Values of Rust in arrays, and back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, PrimitiveArray, StringArray,
    StructArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use autobatch::Column;

/// A type of parameters and results, and what it is in Arrow.
///
/// It is there for numbers, `bool`, `String`, arrays of numbers, and tuples. Implement it for a type of your own by means of one of those:
///
/// ```
/// use arrow_array::cast::AsArray;
/// use arrow_array::types::Float64Type;
/// use arrow_array::{Array, ArrayRef, Float64Array};
/// use arrow_buffer::NullBuffer;
/// use arrow_schema::DataType;
/// use autobatch::autobatch;
/// use autobatch_arrow::{Batch, Value};
///
/// #[derive(Clone, Copy)]
/// struct Celsius(f64);
///
/// impl Value for Celsius {
///     type Column<'a> = Vec<Celsius>;
///     fn data_type() -> DataType {
///         f64::data_type()
///     }
///     fn column(array: &dyn Array) -> Option<Vec<Celsius>> {
///         Some(f64::column(array)?.iter().copied().map(Celsius).collect())
///     }
///     fn first(array: &dyn Array) -> Option<Celsius> {
///         f64::first(array).map(Celsius)
///     }
///     fn nothing() -> Celsius {
///         Celsius(0.0)
///     }
///     fn array(values: Vec<Celsius>, valid: Option<NullBuffer>) -> ArrayRef {
///         f64::array(values.into_iter().map(|celsius| celsius.0).collect(), valid)
///     }
/// }
///
/// #[autobatch]
/// fn warmer(from: Celsius, by: f64) -> Celsius {
///     Celsius(from.0 + by)
/// }
///
/// let from = Float64Array::from(vec![20.0, 21.5]);
/// let by = Float64Array::new_scalar(1.0);
/// let warm = Batch::of([&from, &by]).call(|[from, by], options| warmer_batched_with(from, by, options))?;
/// assert_eq!(warm.as_primitive::<Float64Type>().values(), &[21.0, 22.5]);
/// # Ok::<(), autobatch_arrow::Error>(())
/// ```
pub trait Value: Clone + Send + Sync + 'static {
    /// The values of all rows, borrowed if they lie in the array as they are.
    type Column<'a>: Column<Self>;

    /// The type of its arrays.
    fn data_type() -> DataType;

    /// The values of all rows; `None` for an array of another type. Those of nulls may be anything.
    fn column(array: &dyn Array) -> Option<Self::Column<'_>>;

    /// The value of the first row; `None` for an array of another type.
    fn first(array: &dyn Array) -> Option<Self>;

    /// What stands behind a null.
    fn nothing() -> Self;

    /// An array of values, those that are not valid as nulls.
    fn array(values: Vec<Self>, valid: Option<NullBuffer>) -> ArrayRef;
}

/// A number with arrays of its own: `u8` to `u64`, `i8` to `i64`, `f32`, `f64`.
pub trait Number: Value + Copy + Default + for<'a> Value<Column<'a> = &'a [Self]> {
    /// The type in Arrow.
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

macro_rules! numbers {
    ($($number:ty, $arrow:ty;)*) => {$(
        impl Number for $number {
            type Arrow = $arrow;
        }

        impl Value for $number {
            type Column<'a> = &'a [$number];
            fn data_type() -> DataType {
                <$arrow>::DATA_TYPE
            }
            fn column(array: &dyn Array) -> Option<&[$number]> {
                Some(&**array.as_primitive_opt::<$arrow>()?.values())
            }
            fn first(array: &dyn Array) -> Option<$number> {
                Self::column(array)?.first().copied()
            }
            fn nothing() -> $number {
                Default::default()
            }
            fn array(values: Vec<$number>, valid: Option<NullBuffer>) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::new(ScalarBuffer::from(values), valid))
            }
        }
    )*};
}

numbers! {
    u8, UInt8Type;
    u16, UInt16Type;
    u32, UInt32Type;
    u64, UInt64Type;
    i8, Int8Type;
    i16, Int16Type;
    i32, Int32Type;
    i64, Int64Type;
    f32, Float32Type;
    f64, Float64Type;
}

/// The field of the values in a list of numbers.
pub(crate) fn item<T: Value>() -> Arc<Field> {
    Arc::new(Field::new_list_field(T::data_type(), true))
}

impl<T: Number, const D: usize> Value for [T; D] {
    type Column<'a> = &'a [[T; D]];
    fn data_type() -> DataType {
        DataType::FixedSizeList(item::<T>(), D as i32)
    }
    fn column(array: &dyn Array) -> Option<&[[T; D]]> {
        let lists = array.as_fixed_size_list_opt().filter(|lists| lists.value_length() == D as i32)?;
        Some(T::column(lists.values())?.as_chunks().0)
    }
    fn first(array: &dyn Array) -> Option<[T; D]> {
        Self::column(array)?.first().copied()
    }
    fn nothing() -> [T; D] {
        [T::nothing(); D]
    }
    fn array(values: Vec<[T; D]>, valid: Option<NullBuffer>) -> ArrayRef {
        let values = T::array(values.into_flattened(), None);
        Arc::new(FixedSizeListArray::new(item::<T>(), D as i32, values, valid))
    }
}

impl Value for bool {
    type Column<'a> = Vec<bool>;
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn column(array: &dyn Array) -> Option<Vec<bool>> {
        Some(array.as_boolean_opt()?.values().iter().collect())
    }
    fn first(array: &dyn Array) -> Option<bool> {
        array.as_boolean_opt()?.values().iter().next()
    }
    fn nothing() -> bool {
        false
    }
    fn array(values: Vec<bool>, valid: Option<NullBuffer>) -> ArrayRef {
        Arc::new(BooleanArray::new(BooleanBuffer::from(values), valid))
    }
}

/// The texts of all rows, empty ones for nulls; `None` for an array of another type.
pub(crate) fn texts(array: &dyn Array) -> Option<Vec<&str>> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(Option::unwrap_or_default).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(Option::unwrap_or_default).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(Option::unwrap_or_default).collect(),
        _ => return None,
    })
}

impl Value for String {
    type Column<'a> = Vec<String>;
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn column(array: &dyn Array) -> Option<Vec<String>> {
        Some(texts(array)?.into_iter().map(str::to_owned).collect())
    }
    fn first(array: &dyn Array) -> Option<String> {
        Self::column(array)?.into_iter().next()
    }
    fn nothing() -> String {
        String::new()
    }
    fn array(values: Vec<String>, valid: Option<NullBuffer>) -> ArrayRef {
        let is_valid = |row| valid.as_ref().is_none_or(|valid| valid.is_valid(row));
        let texts = values.into_iter().enumerate().map(|(row, text)| is_valid(row).then_some(text));
        Arc::new(texts.collect::<StringArray>())
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*);)*) => {$(
        impl<$($name: Number),*> Value for ($($name,)*) {
            type Column<'a> = Vec<($($name,)*)>;
            fn data_type() -> DataType {
                DataType::Struct(vec![$(Field::new(format!("f{}", $index), $name::data_type(), true)),*].into())
            }
            #[allow(non_snake_case)]
            fn column(array: &dyn Array) -> Option<Vec<($($name,)*)>> {
                let fields = array.as_struct_opt()?;
                let count = [$($index),*].len();
                if fields.num_columns() != count {
                    return None;
                }
                $(let $name = $name::column(fields.column($index))?;)*
                Some((0..array.len()).map(|row| ($($name[row],)*)).collect())
            }
            fn first(array: &dyn Array) -> Option<($($name,)*)> {
                Self::column(array)?.first().copied()
            }
            fn nothing() -> ($($name,)*) {
                ($($name::nothing(),)*)
            }
            fn array(values: Vec<($($name,)*)>, valid: Option<NullBuffer>) -> ArrayRef {
                let DataType::Struct(fields) = Self::data_type() else { unreachable!("a tuple is a struct") };
                let columns = vec![$($name::array(values.iter().map(|value| value.$index).collect(), None)),*];
                Arc::new(StructArray::new(fields, columns, valid))
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}

/// What a function may return: a [`Value`], or an `Option` of one, with null for `None`.
///
/// ```
/// use arrow_array::{Array, Int32Array};
/// use autobatch::autobatch;
/// use autobatch_arrow::Batch;
///
/// #[autobatch]
/// fn root(n: i32) -> Option<u32> {
///     if n < 0 { None } else { Some(n.isqrt() as u32) }
/// }
///
/// let n = Int32Array::from(vec![17, -1]);
/// let roots = Batch::of([&n]).call(|[n], options| root_batched_with(n, options))?;
/// assert_eq!((roots.is_valid(0), roots.is_null(1)), (true, true));
/// # Ok::<(), autobatch_arrow::Error>(())
/// ```
pub trait Results: Clone {
    /// The type of the array.
    fn result_type() -> DataType;
    /// What stands behind a null.
    fn no_result() -> Self;
    /// The array of results.
    fn into_array(results: Vec<Self>, valid: Option<NullBuffer>) -> ArrayRef;
}

impl<T: Value> Results for T {
    fn result_type() -> DataType {
        T::data_type()
    }
    fn no_result() -> T {
        T::nothing()
    }
    fn into_array(results: Vec<T>, valid: Option<NullBuffer>) -> ArrayRef {
        T::array(results, valid)
    }
}

impl<T: Value> Results for Option<T> {
    fn result_type() -> DataType {
        T::data_type()
    }
    fn no_result() -> Option<T> {
        None
    }
    fn into_array(results: Vec<Option<T>>, _: Option<NullBuffer>) -> ArrayRef {
        // Rows that have not run are `None`, too.
        let valid = NullBuffer::new(results.iter().map(Option::is_some).collect());
        let values = results.into_iter().map(|result| result.unwrap_or_else(T::nothing)).collect();
        T::array(values, Some(valid).filter(|valid| valid.null_count() > 0))
    }
}
