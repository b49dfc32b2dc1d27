//! Which rows of an array have a value.

use arrow_array::cast::AsArray;
use arrow_array::{Array, OffsetSizeTrait};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

/// The rows that have a value, with nulls inside a list or a struct counted as nulls of its row; `None` if all have.
pub(crate) fn valid(array: &dyn Array) -> Option<NullBuffer> {
    let own = array.logical_nulls();
    let inner = match array.data_type() {
        DataType::Struct(_) => {
            let fields = array.as_struct().columns().iter();
            fields.fold(None, |all, field| NullBuffer::union(all.as_ref(), valid(field).as_ref()))
        }
        DataType::FixedSizeList(_, len) => {
            let len = *len as usize;
            valid(array.as_fixed_size_list().values())
                .map(|valid| rows(array.len(), |row| valid.slice(row * len, len).null_count() == 0))
        }
        DataType::List(_) => in_lists::<i32>(array),
        DataType::LargeList(_) => in_lists::<i64>(array),
        _ => None,
    };
    NullBuffer::union(own.as_ref(), inner.as_ref()).filter(|valid| valid.null_count() > 0)
}

fn in_lists<O: OffsetSizeTrait>(array: &dyn Array) -> Option<NullBuffer> {
    let list = array.as_list::<O>();
    let offsets = list.value_offsets();
    valid(list.values()).map(|valid| {
        rows(array.len(), |row| {
            let (begin, end) = (offsets[row].as_usize(), offsets[row + 1].as_usize());
            valid.slice(begin, end - begin).null_count() == 0
        })
    })
}

fn rows(len: usize, has_value: impl FnMut(usize) -> bool) -> NullBuffer {
    NullBuffer::new(BooleanBuffer::collect_bool(len, has_value))
}
