//! Batched functions on arrays compute what the scalar function computes, row by row, whatever stands behind nulls.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Datum, Float32Array, Float64Array, Int32Array, LargeListArray,
    LargeStringArray, ListArray, Scalar, StringArray, StringViewArray, StructArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use autobatch::{BatchError, Executor, Options, autobatch};
use autobatch_arrow::{Batch, Error, signature};

/// It never ends for 0, and divides by `scale`.
#[autobatch]
fn collatz(mut n: u64, scale: u32) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    100 * steps / scale
}

#[autobatch]
fn normalise(x: [f64; 3], length: f64) -> [f64; 3] {
    let norm = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    [length * x[0] / norm, length * x[1] / norm, length * x[2] / norm]
}

/// The coefficients are the member's own.
#[autobatch]
fn polynomial(#[each] coefficients: &[f64], x: f64) -> f64 {
    let mut value = 0.0;
    for c in coefficients {
        value = value * x + c;
    }
    value
}

#[autobatch]
fn swap(pair: (f64, i32), back: bool) -> (i32, f64) {
    if back { (-pair.1, pair.0) } else { (pair.1, 1.0 / pair.0) }
}

struct Line {
    slope: f64,
}

#[autobatch]
impl Line {
    fn above(&self, x: f64, y: f64) -> Option<bool> {
        if x.is_nan() { None } else { Some(y > self.slope * x) }
    }
}

#[autobatch]
fn repeat(text: String, n: u32, #[each] end: &str) -> String {
    text.repeat(n as usize) + end
}

fn every_way() -> Vec<Options> {
    let base = Options::default;
    vec![
        base(),
        base().threads(1),
        base().executor(Executor::Masked),
        base().executor(Executor::Masked).count_blocks(true),
        base().executor(Executor::ProgramCounter).lanes(7),
        base().executor(Executor::Scalar).threads(2),
    ]
}

/// Calls the function on the arrays in every way, on the whole of them, and on slices; `expected` says what a row is.
fn check<const N: usize>(
    arrays: [&ArrayRef; N],
    call: impl Fn(Batch<'_, N>) -> Result<ArrayRef, Error>,
    expected: impl Fn(usize, Option<&ArrayRef>, usize),
) {
    let rows = arrays[0].len();
    for options in every_way() {
        for (begin, len) in [(0, rows), (3, rows - 5), (rows - 1, 1), (5, 0)] {
            let slices = arrays.map(|array| array.slice(begin, len));
            let data = slices.each_ref().map(|array| array as &dyn Datum);
            let result = call(Batch::of(data).options(options.clone())).unwrap();
            assert_eq!(result.len(), len);
            for row in 0..len {
                expected(begin + row, result.is_valid(row).then_some(&result), row);
            }
        }
    }
}

#[test]
fn numbers_with_nulls_and_scalars() {
    let n = |row: usize| (row % 7 != 3).then_some(row as u64 * 37 % 1009 + 1);
    let scale = |row: usize| (row % 11 != 5).then_some(row as u32 % 4 + 1);
    // Behind a null stands 0.
    let ns: ArrayRef = Arc::new((0..900).map(n).collect::<UInt64Array>());
    let scales: ArrayRef = Arc::new((0..900).map(scale).collect::<UInt32Array>());
    let expected = |row, scale: Option<u32>| Some(collatz(n(row)?, scale?));
    let got =
        |result: Option<&ArrayRef>, at| result.map(|array| array.as_primitive::<UInt32Type>().value(at));
    check(
        [&ns, &scales],
        |batch| batch.call(|[n, scale], options| collatz_batched_with(n, scale, options)),
        |row, result, at| assert_eq!(got(result, at), expected(row, scale(row)), "{row}"),
    );
    let two = UInt32Array::new_scalar(2);
    check(
        [&ns],
        |batch| batch.call(|[n], options| collatz_batched_with(n, autobatch::same(2), options)),
        |row, result, at| assert_eq!(got(result, at), expected(row, Some(2)), "{row}"),
    );
    let result = Batch::of([&ns, &two]).call(|[n, scale], options| collatz_batched_with(n, scale, options));
    for (row, steps) in result.unwrap().as_primitive::<UInt32Type>().iter().enumerate() {
        assert_eq!(steps, expected(row, Some(2)), "{row}");
    }
    let none = Scalar::new(UInt32Array::new_null(1));
    let result = Batch::of([&ns, &none]).call(|[n, scale], options| collatz_batched_with(n, scale, options));
    assert_eq!(result.unwrap().null_count(), 900);
    let one = UInt64Array::new_scalar(27);
    let result = Batch::of([&one, &two]).call(|[n, scale], options| collatz_batched_with(n, scale, options));
    assert_eq!(result.unwrap().as_primitive::<UInt32Type>().values(), &[collatz(27, 2)]);
}

#[test]
fn results_of_numbers_are_not_copied() {
    let x = Float64Array::from(vec![1.0; 3000]);
    let lists = ListArray::new(
        Arc::new(Field::new_list_field(DataType::Float64, true)),
        OffsetBuffer::from_repeated_length(1, 3000),
        Arc::new(x.clone()),
        None,
    );
    let mut place = 0;
    let result = Batch::of([&lists, &x]).call(|[coefficients, x], options| {
        let outcome = polynomial_batched_with(coefficients, x, options)?;
        place = outcome.get(0).map_or(0, |value| std::ptr::from_ref(value) as usize);
        Ok(outcome)
    });
    assert_eq!(result.unwrap().as_primitive::<Float64Type>().values().as_ptr() as usize, place);
}

#[test]
fn lists_of_a_fixed_size() {
    let row = |row: usize| match row % 9 {
        4 => None,
        7 => Some([Some(1.0), None, Some(row as f64)]),
        _ => Some([row as f64 + 1.0, 0.5, -2.0].map(Some)),
    };
    let mut builder = FixedSizeListBuilder::new(Float64Builder::new(), 3);
    for row in (0..300).map(row) {
        row.unwrap_or_default().into_iter().for_each(|value| builder.values().append_option(value));
        builder.append(row.is_some());
    }
    let lists: ArrayRef = Arc::new(builder.finish());
    check(
        [&lists],
        |batch| batch.call(|[x], options| normalise_batched_with(x, autobatch::same(2.0), options)),
        |nth, result, at| {
            let expected =
                row(nth).and_then(|[x, y, z]| Some(normalise([x?, y?, z?], 2.0).map(f64::to_bits)));
            let got = result.map(|lists| {
                let list = lists.as_fixed_size_list().value(at);
                list.as_primitive::<Float64Type>().values().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            });
            assert_eq!(got.as_deref(), expected.as_ref().map(|x| &x[..]), "{nth}");
        },
    );
    let error = Batch::of([&lists]).call(|[x], options| swap_batched_with(x, autobatch::same(true), options));
    assert!(error.unwrap_err().to_string().starts_with("the column `pair`: it has to be Struct("));
}

#[test]
fn lists_of_any_length() {
    let row = |row: usize| {
        (row % 10 != 6).then(move || (0..row % 5).map(move |i| (i != 3).then_some((row + i) as f64)))
    };
    let mut builder = ListBuilder::new(Float64Builder::new());
    for row in (0..400).map(row) {
        match row {
            Some(values) => builder.append_value(values),
            None => builder.append_null(),
        }
    }
    let lists = builder.finish();
    let x: ArrayRef = Arc::new((0..400).map(|row| 0.25 * f64::from(row)).collect::<Float64Array>());
    let (field, offsets, values, nulls) = lists.clone().into_parts();
    let offsets: Vec<i64> = offsets.iter().map(|offset| i64::from(*offset)).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let large: ArrayRef = Arc::new(LargeListArray::new(field, offsets, values, nulls));
    let lists: ArrayRef = Arc::new(lists);
    for lists in [&lists, &large] {
        check(
            [lists, &x],
            |batch| {
                batch.call(|[coefficients, x], options| polynomial_batched_with(coefficients, x, options))
            },
            |nth, result, at| {
                let coefficients = row(nth).and_then(|values| values.collect::<Option<Vec<f64>>>());
                let expected = coefficients.map(|c| polynomial(&c, 0.25 * nth as f64).to_bits());
                let got = result.map(|values| values.as_primitive::<Float64Type>().value(at).to_bits());
                assert_eq!(got, expected, "{nth}");
            },
        );
    }
    // One list for all.
    let one = Scalar::new(lists.slice(2, 1));
    let values =
        Batch::of([&one, &x]).call(|[c, x], options| polynomial_batched_with(c, x, options)).unwrap();
    assert_eq!(values.as_primitive::<Float64Type>().value(8), polynomial(&[2.0, 3.0], 2.0));
}

#[test]
fn structs_booleans_and_strings() {
    let x = Float64Array::from((0..200).map(|i| (i % 5 != 2).then_some(f64::from(i))).collect::<Vec<_>>());
    let fields = vec![Field::new("a", DataType::Float64, true), Field::new("b", DataType::Int32, true)];
    let valid: NullBuffer = (0..200).map(|i| i % 13 != 4).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(x), Arc::new(Int32Array::from_iter_values(0..200))];
    let pairs: ArrayRef = Arc::new(StructArray::new(fields.into(), columns, Some(valid)));
    let back: ArrayRef =
        Arc::new(BooleanArray::from_iter((0..200).map(|i| (i % 17 > 0).then_some(i % 2 == 0))));
    check(
        [&pairs, &back],
        |batch| batch.call(|[pair, back], options| swap_batched_with(pair, back, options)),
        |row, result, at| {
            let is_there = row % 5 != 2 && row % 13 != 4 && !row.is_multiple_of(17);
            let expected = is_there.then(|| swap((row as f64, row as i32), row.is_multiple_of(2)));
            let got = result.map(|pairs| {
                let pairs = pairs.as_struct();
                let a = pairs.column(0).as_primitive::<Int32Type>().value(at);
                (a, pairs.column(1).as_primitive::<Float64Type>().value(at))
            });
            assert_eq!(got, expected, "{row}");
        },
    );
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("ab"), None, Some(""), Some("é")]));
    let n = UInt32Array::from(vec![2, 1_000_000_000, 7, 1]);
    let end = StringViewArray::from_iter(["x", "", "", "y"].map(Some));
    for (end, expected) in [
        (&end as &dyn Datum, [Some("ababx"), None, Some(""), Some("éy")]),
        (&LargeStringArray::new_scalar("!"), [Some("abab!"), None, Some("!"), Some("é!")]),
    ] {
        let batch = Batch::of([&text, &n, end]);
        let texts = batch.call(|[text, n, end], options| repeat_batched_with(text, n, end, options)).unwrap();
        assert_eq!(texts.as_string::<i32>().iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn shared_parameters_and_optional_results() {
    let line = Line { slope: 2.0 };
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), Some(f64::NAN), None, Some(-3.0)]));
    let y = Float64Array::new_scalar(0.0);
    let above = Batch::of([&x, &y]).call(|[x, y], options| line.above_batched_with(x, y, options)).unwrap();
    let above: Vec<Option<bool>> = above.as_boolean().iter().collect();
    assert_eq!(above, [Some(false), None, None, Some(true)]);
}

#[test]
fn faults_name_rows_or_are_null() {
    let n: ArrayRef = Arc::new(UInt64Array::from(vec![27; 50]));
    let scale = |row: u32| if row % 10 == 9 { None } else { Some(u32::from(row % 10 != 8)) };
    let scale: ArrayRef = Arc::new((0..50).map(scale).collect::<UInt32Array>());
    for options in every_way() {
        let batch = Batch::of([&n, &scale]).options(options.first_member(100));
        let error = batch.call(|[n, scale], options| collatz_batched_with(n, scale, options)).unwrap_err();
        assert_eq!(error.to_string(), "row 108: attempt to divide by zero (and 4 more at fault)");
        let Error::Faults(faults) = error else { panic!("{error}") };
        assert_eq!(faults.iter().map(|fault| fault.member).collect::<Vec<_>>(), [108, 118, 128, 138, 148]);
        let batch = batch.null_on_fault();
        let steps = batch.call(|[n, scale], options| collatz_batched_with(n, scale, options)).unwrap();
        assert!((0..50).all(|row| steps.is_valid(row) == (row % 10 < 8)));
    }
}

#[test]
fn arrays_that_do_not_fit_are_errors() {
    let n = UInt64Array::from(vec![1, 2]);
    let call = |n: &dyn Datum, scale: &dyn Datum| {
        Batch::of([n, scale]).call(|[n, scale], options| collatz_batched_with(n, scale, options)).unwrap_err()
    };
    let error = call(&n, &UInt32Array::from(vec![Some(1), None, Some(2)]));
    let length = BatchError::Length { first: "n", expected: 2, parameter: "scale", found: 3 };
    assert_eq!(error, Error::Call(length));
    let error = call(&Float32Array::from(vec![1.0, 2.0]), &UInt32Array::new_scalar(1));
    assert_eq!(error.to_string(), "the column `n`: it has to be UInt64, but is Float32");
    let error = call(&n, &Float32Array::new_scalar(1.0));
    assert_eq!(error.to_string(), "the column `scale`: it has to be UInt32, but is Float32");
    let other = Batch::of([&n]).call(|_, options| collatz_batched_with(&[1, 2, 3], &[1, 1, 1], options));
    assert_eq!(other.unwrap_err(), Error::Rows { expected: 2, found: 3 });
}

#[test]
fn a_closure_says_which_arrays_it_takes() {
    let types = signature(|[c, x], options| polynomial_batched_with(c, x, options)).unwrap();
    assert_eq!(types.arguments, [DataType::new_list(DataType::Float64, true), DataType::Float64]);
    assert_eq!(types.result, DataType::Float64);
    let types = signature(|[pair, back], options| swap_batched_with(pair, back, options)).unwrap();
    assert!(matches!(&types.arguments, [DataType::Struct(fields), DataType::Boolean] if fields.len() == 2));
    let types = signature(|[x], options| normalise_batched_with(x, autobatch::same(1.0), options)).unwrap();
    assert_eq!(types.result, DataType::new_fixed_size_list(DataType::Float64, 3, true));
    let line = Line { slope: 1.0 };
    let types = signature(|[x, y], options| line.above_batched_with(x, y, options)).unwrap();
    assert_eq!(types.result, DataType::Boolean);
    let error = signature(|[_, x], options| polynomial_batched_with(&Vec::<Vec<f64>>::new(), x, options))
        .unwrap_err();
    assert_eq!(error, Error::Argument { index: 0 });
}
