//! Which types stand for which: what the engine casts before a call, and what the call itself turns into what a parameter has.

use std::sync::Arc;

use datafusion_common::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, OffsetSizeTrait, UInt64Array,
};
use datafusion_common::arrow::compute::take;
use datafusion_common::arrow::datatypes::{DataType, Field};
use datafusion_common::{Result, exec_err};

/// The type that an argument is cast to for a parameter of another; `None` if that would lose what was meant.
///
/// Numbers become other numbers, except fractions integers: `collatz(n, 1000)` has a literal of `Int64`. A number that does not fit is an error of
/// the cast. Arrays that can be read as they are keep their type, and so do lists that [`fitted`] takes.
pub(crate) fn coerced(from: &DataType, to: &DataType) -> Option<DataType> {
    use DataType::{
        Dictionary, FixedSizeList, LargeList, LargeUtf8, List, Null, RunEndEncoded, Struct, Utf8, Utf8View,
    };
    match (from, to) {
        _ if from == to => Some(to.clone()),
        (Null, _) => Some(to.clone()),
        (Dictionary(_, values), _) => coerced(values, to),
        (RunEndEncoded(_, values), _) => coerced(values.data_type(), to),
        (LargeUtf8 | Utf8View, Utf8) => Some(from.clone()),
        (FixedSizeList(_, from_len), FixedSizeList(_, len)) if from_len != len => None,
        (List(of) | LargeList(of), List(item)) | (FixedSizeList(of, _), FixedSizeList(item, _)) => {
            let is_read_as_it_is = of.data_type() == item.data_type();
            if is_read_as_it_is { Some(from.clone()) } else { cast_items(of, item, to) }
        }
        (FixedSizeList(of, _), List(item)) => cast_items(of, item, to),
        (List(of), FixedSizeList(item, _)) => cast_items(of, item, &List(Arc::clone(item))),
        (LargeList(of), FixedSizeList(item, _)) => cast_items(of, item, &LargeList(Arc::clone(item))),
        (Struct(of), Struct(fields)) if of.len() == fields.len() => {
            let field = |(from, to): (&Arc<Field>, &Arc<Field>)| {
                let data_type = coerced(from.data_type(), to.data_type())?;
                Some(Arc::new(from.as_ref().clone().with_data_type(data_type)))
            };
            of.iter().zip(fields).map(field).collect::<Option<_>>().map(Struct)
        }
        _ if to.is_integer() && from.is_integer() || to.is_floating() && from.is_numeric() => {
            Some(to.clone())
        }
        _ => None,
    }
}

fn cast_items(from: &Field, to: &Field, list: &DataType) -> Option<DataType> {
    coerced(from.data_type(), to.data_type()).map(|_| list.clone())
}

/// The argument as a parameter of that type has it: a list as one of a fixed length. The engine's own cast gives wrong values for parts of lists
/// (arrow-rs issue 10975).
pub(crate) fn fitted(array: ArrayRef, to: &DataType, function: &str) -> Result<ArrayRef> {
    match (array.data_type(), to) {
        (DataType::List(_), DataType::FixedSizeList(item, len)) => fixed::<i32>(&array, item, *len, function),
        (DataType::LargeList(_), DataType::FixedSizeList(item, len)) => {
            fixed::<i64>(&array, item, *len, function)
        }
        _ => Ok(array),
    }
}

fn fixed<O: OffsetSizeTrait>(
    array: &dyn Array,
    item: &Arc<Field>,
    len: i32,
    function: &str,
) -> Result<ArrayRef> {
    let lists = array.as_list::<O>();
    let mut indices: Vec<Option<u64>> = Vec::with_capacity(lists.len() * len as usize);
    for (row, ends) in lists.value_offsets().windows(2).enumerate() {
        let (begin, end) = (ends[0].as_usize() as u64, ends[1].as_usize() as u64);
        if lists.is_null(row) {
            indices.extend((0..len).map(|_| None));
        } else if end - begin == len as u64 {
            indices.extend((begin..end).map(Some));
        } else {
            return exec_err!(
                "{function}: a list of {} values where {len} are wanted (row {row} of its batch)",
                end - begin
            );
        }
    }
    let values = take(lists.values(), &UInt64Array::from(indices), None)?;
    Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(item), len, values, lists.nulls().cloned())?))
}
