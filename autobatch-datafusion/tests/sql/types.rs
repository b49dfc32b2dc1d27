//! Parameters and results of every type go through a query as they are in Rust.

use std::sync::Arc;

use autobatch::autobatch;
use autobatch_datafusion::udf;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, DictionaryArray, FixedSizeListArray, Float64Array, Int32Array,
    ListArray, StringArray, StructArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int32Type, UInt32Type};

use crate::tables::{column, every_way, failure, rows, session};

#[autobatch]
fn choose(which: bool, yes: f64, no: f64) -> f64 {
    if which { yes } else { no }
}

#[autobatch]
fn even(n: i32) -> bool {
    n % 2 == 0
}

#[autobatch]
fn shout(text: String, #[each] end: &str) -> String {
    text.to_uppercase() + end
}

#[autobatch]
fn normalise(x: [f64; 3]) -> [f64; 3] {
    let norm = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    [x[0] / norm, x[1] / norm, x[2] / norm]
}

/// The coefficients are the row's own.
#[autobatch]
fn polynomial(#[each] coefficients: &[f64], x: f64) -> f64 {
    let mut value = 0.0;
    for c in coefficients {
        value = value * x + c;
    }
    value
}

#[autobatch]
fn swap(pair: (f64, i32)) -> (i32, f64) {
    (pair.1, pair.0)
}

#[autobatch]
fn whole_root(n: i32) -> Option<u32> {
    if n < 0 { None } else { Some(n.isqrt() as u32) }
}

macro_rules! number {
    ($($name:ident $number:ty;)*) => {$(
        #[autobatch]
        fn $name(x: $number, y: $number) -> $number {
            if x > y { x } else { y }
        }
    )*};
}

number! {
    most_u8 u8; most_u16 u16; most_u32 u32; most_u64 u64; most_i8 i8; most_i16 i16; most_i32 i32; most_i64 i64;
    most_f32 f32; most_f64 f64;
}

const ROWS: i32 = 500;

fn numbers() -> Float64Array {
    (0..ROWS).map(|row| (row % 9 != 5).then_some(f64::from(row) / 3.0 - 20.0)).collect()
}

#[tokio::test]
async fn numbers_of_every_size() {
    let columns = [("n", Arc::new((0..ROWS).map(|row| Some(row % 100)).collect::<Int32Array>()) as ArrayRef)];
    let context = session(&columns, 130);
    let all = [
        udf!(most_u8),
        udf!(most_u16),
        udf!(most_u32),
        udf!(most_u64),
        udf!(most_i8),
        udf!(most_i16),
        udf!(most_i32),
        udf!(most_i64),
        udf!(most_f32),
        udf!(most_f64),
    ];
    for most in all {
        let (name, result) = (most.name().to_owned(), most.return_type(&[]).unwrap());
        context.register_udf(most);
        let table = rows(&context, &format!("SELECT n, {name}(n, 40) FROM t")).await.unwrap();
        assert_eq!(table.column(1).data_type(), &result);
        let most = cast(table.column(1), &DataType::Int32).unwrap();
        let n = table.column(0).as_primitive::<Int32Type>().values();
        let expected: Vec<i32> = n.iter().map(|n| *n.max(&40)).collect();
        assert_eq!(most.as_primitive::<Int32Type>().values(), &expected[..], "{name}");
    }
}

#[tokio::test]
async fn truth_values() {
    let which: BooleanArray = (0..ROWS).map(|row| (row % 7 != 3).then_some(row % 3 == 0)).collect();
    let n: Int32Array = (0..ROWS).map(Some).collect();
    let columns = [("which", Arc::new(which) as ArrayRef), ("n", Arc::new(n)), ("x", Arc::new(numbers()))];
    for options in every_way() {
        let context = session(&columns, 130);
        context.register_udf(udf!(choose, options(options.clone())));
        context.register_udf(udf!(even, options(options)));
        let table = rows(&context, "SELECT which, x, choose(which, x, -1), even(n), n FROM t WHERE even(n)")
            .await
            .unwrap();
        assert_eq!(table.num_rows() as i32, ROWS / 2);
        let (which, x, chosen) = (
            table.column(0).as_boolean(),
            table.column(1).as_primitive::<Float64Type>(),
            table.column(2).as_primitive::<Float64Type>(),
        );
        for row in 0..table.num_rows() {
            let expected = (which.is_valid(row) && x.is_valid(row))
                .then(|| choose(which.value(row), x.value(row), -1.0));
            assert_eq!(chosen.is_valid(row).then(|| chosen.value(row)), expected);
            assert!(table.column(3).as_boolean().value(row));
        }
    }
    let context = session(&columns, 130);
    context.register_udf(udf!(choose));
    let message = failure(&context, "SELECT choose(1, x, x) FROM t").await;
    assert!(message.contains("argument 1 of choose has to be Boolean, but is Int64"), "{message}");
}

#[tokio::test]
async fn texts_of_every_layout() {
    let texts: StringArray =
        (0..ROWS).map(|row| (row % 7 != 3).then(|| format!("text {}", row % 40))).collect();
    let texts: ArrayRef = Arc::new(texts);
    let words: DictionaryArray<Int32Type> = texts.as_string::<i32>().iter().collect();
    let as_type = |data_type| cast(&texts, &data_type).unwrap();
    let columns = [
        ("large", as_type(DataType::LargeUtf8)),
        ("view", as_type(DataType::Utf8View)),
        ("words", Arc::new(words) as ArrayRef),
        ("text", Arc::clone(&texts)),
    ];
    let context = session(&columns, 130);
    context.register_udf(udf!(shout));
    for name in ["large", "view", "words", "text"] {
        let table = rows(&context, &format!("SELECT text, shout({name}, '!'), shout('a', {name}) FROM t"))
            .await
            .unwrap();
        let (text, shouted, ended) = (
            table.column(0).as_string::<i32>(),
            table.column(1).as_string::<i32>(),
            table.column(2).as_string::<i32>(),
        );
        for row in 0..table.num_rows() {
            let (expected, end) = match text.is_valid(row) {
                true => (
                    Some(shout(text.value(row).to_owned(), "!")),
                    Some(shout("a".to_owned(), text.value(row))),
                ),
                false => (None, None),
            };
            assert_eq!(shouted.is_valid(row).then(|| shouted.value(row).to_owned()), expected, "{name}");
            assert_eq!(ended.is_valid(row).then(|| ended.value(row).to_owned()), end, "{name}");
        }
    }
    let message = failure(&context, "SELECT shout(5, '!')").await;
    assert!(message.contains("argument 1 of shout has to be Utf8, but is Int64"), "{message}");
}

#[tokio::test]
async fn vectors_are_fixed_size_lists() {
    let rows_of = |row: i32| (row % 11 != 2).then(|| [row, row + 1, 2 * row - 7].map(|x| Some(f64::from(x))));
    let vectors = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>((0..ROWS).map(rows_of), 3);
    let vectors: ArrayRef = Arc::new(vectors);
    let lists =
        cast(&vectors, &DataType::List(Arc::new(Field::new("element", DataType::Float64, true)))).unwrap();
    let item = Arc::new(Field::new_list_field(DataType::Float32, true));
    let floats = cast(&vectors, &DataType::FixedSizeList(Arc::clone(&item), 3)).unwrap();
    let large = cast(&lists, &DataType::LargeList(item)).unwrap();
    let columns = [("vector", vectors), ("list", lists), ("large", large), ("floats", floats)];
    for options in every_way() {
        let context = session(&columns, 130);
        context.register_udf(udf!(normalise, options(options)));
        for name in ["vector", "list", "large", "floats", "[vector[1], vector[2], vector[3]]"] {
            let table = rows(
                &context,
                &format!("SELECT vector, normalise({name}), normalise(normalise({name})) FROM t"),
            )
            .await
            .unwrap();
            let get = |array: &ArrayRef, row: usize| -> [f64; 3] {
                let row = array.as_fixed_size_list().value(row);
                row.as_primitive::<Float64Type>().values().as_ref().try_into().unwrap()
            };
            for row in 0..table.num_rows() {
                let (vector, unit, twice) = (table.column(0), table.column(1), table.column(2));
                assert_eq!(unit.is_valid(row), vector.is_valid(row), "{name}");
                if unit.is_valid(row) {
                    let expected = normalise(get(vector, row));
                    assert_eq!(get(unit, row), expected, "{name}");
                    assert_eq!(get(twice, row), normalise(expected), "{name}");
                }
            }
        }
    }
}

#[tokio::test]
async fn lists_are_slices_of_the_row() {
    let coefficients =
        |row: i32| (row % 11 != 2).then(|| (0..row % 5).map(move |k| Some(f64::from(k * row % 13))));
    let lists: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>((0..ROWS).map(coefficients)));
    let large =
        cast(&lists, &DataType::LargeList(Arc::new(Field::new("element", DataType::Float64, true)))).unwrap();
    let whole =
        cast(&lists, &DataType::List(Arc::new(Field::new_list_field(DataType::Int32, true)))).unwrap();
    let columns =
        [("list", lists), ("large", large), ("whole", whole), ("x", Arc::new(numbers()) as ArrayRef)];
    for options in every_way() {
        let context = session(&columns, 130);
        context.register_udf(udf!(polynomial, options(options)));
        for name in ["list", "large", "whole"] {
            let table = rows(&context, &format!("SELECT list, x, polynomial({name}, x) FROM t WHERE x > 0"))
                .await
                .unwrap();
            let (list, x, value) = (
                table.column(0).as_list::<i32>(),
                table.column(1).as_primitive::<Float64Type>(),
                table.column(2).as_primitive::<Float64Type>(),
            );
            for row in 0..table.num_rows() {
                assert_eq!(value.is_valid(row), list.is_valid(row) && x.is_valid(row), "{name}");
                if value.is_valid(row) {
                    let expected =
                        polynomial(list.value(row).as_primitive::<Float64Type>().values(), x.value(row));
                    assert_eq!(value.value(row).to_bits(), expected.to_bits(), "{name}");
                }
            }
        }
    }
}

#[tokio::test]
async fn tuples_are_structs_of_any_names() {
    let fields = vec![
        Arc::new(Field::new("a", DataType::Float64, true)),
        Arc::new(Field::new("b", DataType::Int32, true)),
    ];
    let n: Int32Array = (0..ROWS).map(Some).collect();
    let pairs = StructArray::new(fields.into(), vec![Arc::new(numbers()) as ArrayRef, Arc::new(n)], None);
    let columns = [("pair", Arc::new(pairs) as ArrayRef)];
    let context = session(&columns, 130);
    context.register_udf(udf!(swap));
    let table = rows(&context, "SELECT pair, swap(pair) FROM t").await.unwrap();
    let (pair, swapped) = (table.column(0).as_struct(), table.column(1).as_struct());
    for row in 0..table.num_rows() {
        let (a, b) =
            (pair.column(0).as_primitive::<Float64Type>(), pair.column(1).as_primitive::<Int32Type>());
        // A null in a struct is one of its row.
        assert_eq!(swapped.is_valid(row), a.is_valid(row), "row {row}");
        if swapped.is_valid(row) {
            let (first, second) = swap((a.value(row), b.value(row)));
            assert_eq!(swapped.column(0).as_primitive::<Int32Type>().value(row), first);
            assert_eq!(swapped.column(1).as_primitive::<Float64Type>().value(row), second);
        }
    }
}

#[tokio::test]
async fn an_option_is_a_value_or_null() {
    let n: Int32Array = (0..ROWS).map(|row| (row % 9 != 5).then_some(row - 250)).collect();
    let columns = [("n", Arc::new(n) as ArrayRef)];
    for options in every_way() {
        let context = session(&columns, 130);
        context.register_udf(udf!(whole_root, options(options)));
        let table = rows(&context, "SELECT n, whole_root(n) FROM t").await.unwrap();
        let (n, roots) =
            (table.column(0).as_primitive::<Int32Type>(), table.column(1).as_primitive::<UInt32Type>());
        for row in 0..table.num_rows() {
            let expected = n.is_valid(row).then(|| whole_root(n.value(row))).flatten();
            assert_eq!(roots.is_valid(row).then(|| roots.value(row)), expected);
        }
        let roots = column(&context, "SELECT whole_root(-1)").await.unwrap();
        assert!(roots.is_null(0));
    }
}
