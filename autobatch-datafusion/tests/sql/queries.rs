//! A query gives what the scalar function gives, row by row, whatever stands behind nulls.

use std::sync::Arc;

use autobatch::autobatch;
use autobatch_datafusion::{Volatility, udf};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, UInt32Array, UInt64Array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use datafusion::common::ScalarValue;
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};

use crate::tables::{column, every_way, failure, rows, session};

/// It never ends for 0, unless there is a limit.
#[autobatch]
fn collatz(mut n: u64, limit: u32) -> u32 {
    let mut steps = 0;
    while n != 1 && steps < limit {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// Where `x` to the power of `degree` is `value`, by Newton's iteration.
#[autobatch]
fn root(value: f64, degree: u32) -> f64 {
    let mut x = value;
    for _ in 0..60 {
        let power = x.powi(degree as i32 - 1);
        let next = x - (power * x - value) / (f64::from(degree) * power);
        if next == x {
            break;
        }
        x = next;
    }
    x
}

/// The ways to climb stairs, one to three steps at once.
#[autobatch]
fn climb(stairs: i64) -> i64 {
    if stairs < 0 {
        0
    } else if stairs == 0 {
        1
    } else {
        climb(stairs - 1) + climb(stairs - 2) + climb(stairs - 3)
    }
}

const ROWS: u64 = 12_000;

/// Columns of numbers with nulls, behind which the functions would not end.
fn columns() -> [(&'static str, ArrayRef); 4] {
    let is_null = |row: u64| row % 11 == 4;
    let nulls = || Some(NullBuffer::from_iter((0..ROWS).map(|row| !is_null(row))));
    let n = (0..ROWS).map(|row| if is_null(row) { 0 } else { row * row % 997 + 1 });
    let value = (0..ROWS).map(|row| row as f64 * 1.37 + 0.2);
    let stairs = (0..ROWS).map(|row| if is_null(row) { 1_000_000 } else { (row % 13) as i64 });
    [
        ("n", Arc::new(UInt64Array::new(n.collect(), nulls()))),
        ("most", Arc::new((0..ROWS).map(|row| (row % 17 != 3).then_some(u32::MAX)).collect::<UInt32Array>())),
        ("value", Arc::new(Float64Array::new(value.collect(), nulls()))),
        ("stairs", Arc::new(datafusion::arrow::array::Int64Array::new(stairs.collect(), nulls()))),
    ]
}

#[tokio::test]
async fn each_row_is_what_the_scalar_function_returns() {
    for options in every_way() {
        // One partition, with a batch of more rows than the engine makes, and many.
        for partition in [20_000, 900] {
            let context = session(&columns(), partition);
            context.register_udf(udf!(collatz, options(options.clone())));
            context.register_udf(udf!(root, options(options.clone())));
            context.register_udf(udf!(climb, options(options.clone())));

            let query =
                "SELECT n, most, value, stairs, collatz(n, most), root(value, 3), climb(stairs) FROM t";
            let table = rows(&context, query).await.unwrap();
            assert_eq!(table.num_rows() as u64, ROWS);
            let (n, limit) =
                (table.column(0).as_primitive::<UInt64Type>(), table.column(1).as_primitive::<UInt32Type>());
            let (value, stairs) =
                (table.column(2).as_primitive::<Float64Type>(), table.column(3).as_primitive::<Int64Type>());
            let steps = table.column(4).as_primitive::<UInt32Type>();
            let roots = table.column(5).as_primitive::<Float64Type>();
            let climbs = table.column(6).as_primitive::<Int64Type>();
            for row in 0..table.num_rows() {
                let present = n.is_valid(row) && limit.is_valid(row);
                assert_eq!(steps.is_valid(row), present, "row {row}");
                if present {
                    assert_eq!(steps.value(row), collatz(n.value(row), limit.value(row)), "row {row}");
                }
                assert_eq!(roots.is_valid(row), value.is_valid(row), "row {row}");
                if value.is_valid(row) {
                    assert_eq!(roots.value(row).to_bits(), root(value.value(row), 3).to_bits(), "row {row}");
                }
                assert_eq!(climbs.is_valid(row), stairs.is_valid(row), "row {row}");
                if stairs.is_valid(row) {
                    assert_eq!(climbs.value(row), climb(stairs.value(row)), "row {row}");
                }
            }
        }
    }
}

#[tokio::test]
async fn functions_stand_wherever_expressions_do() {
    let context = session(&columns(), 7_000);
    context.register_udf(udf!(collatz));
    context.register_udf(udf!(climb));
    let n: Vec<u64> = columns()[0].1.as_primitive::<UInt64Type>().iter().flatten().collect();

    let sum = column(&context, "SELECT sum(collatz(n, 10000)) FROM t").await.unwrap();
    let expected: u64 = n.iter().map(|n| u64::from(collatz(*n, 10_000))).sum();
    assert_eq!(sum.as_primitive::<UInt64Type>().value(0), expected);

    let count = column(&context, "SELECT count(*) FROM t WHERE collatz(n, 10000) > 100").await.unwrap();
    let expected = n.iter().filter(|n| collatz(**n, 10_000) > 100).count();
    assert_eq!(count.as_primitive::<Int64Type>().value(0), expected as i64);

    let query = "SELECT count(DISTINCT collatz(n, 50)) FROM t GROUP BY climb(stairs) ORDER BY climb(stairs)";
    assert!(column(&context, query).await.unwrap().len() > 5);

    let nested =
        column(&context, "SELECT collatz(CAST(climb(collatz(n, 10)) AS BIGINT UNSIGNED), 99) FROM t")
            .await
            .unwrap();
    let expected = n.iter().map(|n| collatz(climb(i64::from(collatz(*n, 10))) as u64, 99));
    assert_eq!(
        nested.as_primitive::<UInt32Type>().iter().flatten().map(u64::from).sum::<u64>(),
        expected.map(u64::from).sum::<u64>()
    );
}

#[tokio::test]
async fn literals_are_cast_and_others_refused() {
    let context = session(&columns(), 7_000);
    context.register_udf(udf!(collatz));
    context.register_udf(udf!(root));

    // A literal is an `Int64`, and an expression of one.
    for query in [
        "SELECT collatz(27, 1000)",
        "SELECT collatz(13 + 14, 10 * 100)",
        "SELECT collatz(27, CAST(1000 AS SMALLINT))",
    ] {
        let steps = column(&context, query).await.unwrap();
        assert_eq!(steps.as_primitive::<UInt32Type>().values(), &[111], "{query}");
    }
    for query in ["SELECT root(2, 2)", "SELECT root(2.0, 2)", "SELECT root(CAST(2 AS DECIMAL(5, 2)), 2)"] {
        let roots = column(&context, query).await.unwrap();
        assert_eq!(roots.as_primitive::<Float64Type>().values(), &[root(2.0, 2)], "{query}");
    }
    let steps = column(&context, "SELECT collatz(NULL, 1000)").await.unwrap();
    assert_eq!((steps.len(), steps.null_count()), (1, 1));
    let steps = column(&context, "SELECT collatz(n, NULL) FROM t").await.unwrap();
    assert_eq!(steps.null_count() as u64, ROWS);

    let message = failure(&context, "SELECT collatz(27, 0.5)").await;
    assert!(message.contains("argument 2 of collatz has to be UInt32, but is Float64"), "{message}");
    let message = failure(&context, "SELECT collatz('27', 1000)").await;
    assert!(message.contains("argument 1 of collatz has to be UInt64, but is Utf8"), "{message}");
    let message = failure(&context, "SELECT collatz(27)").await;
    assert!(message.contains("collatz takes 2 arguments, not 1"), "{message}");
    let message = failure(&context, "SELECT collatz(-27, 1000)").await;
    assert!(message.contains("Can't cast value -27 to type UInt64"), "{message}");
}

#[tokio::test]
async fn a_table_without_rows_runs_nothing() {
    let empty = columns().map(|(name, array)| (name, array.slice(0, 0)));
    for columns in [empty, columns()] {
        let context = session(&columns, 100);
        context.register_udf(udf!(collatz));
        for query in
            ["SELECT collatz(n, most) FROM t WHERE n > 1000000", "SELECT collatz(n, 3) FROM t LIMIT 0"]
        {
            assert_eq!(rows(&context, query).await.unwrap().num_rows(), 0, "{query}");
        }
    }
}

fn call(
    udf: &autobatch_datafusion::ScalarUDF,
    args: Vec<ColumnarValue>,
    number_rows: usize,
) -> ColumnarValue {
    let field =
        |value: &ColumnarValue| datafusion::arrow::datatypes::Field::new("a", value.data_type(), true).into();
    let arg_fields = args.iter().map(field).collect();
    let return_field =
        datafusion::arrow::datatypes::Field::new("r", udf.return_type(&[]).unwrap(), true).into();
    let config_options = Arc::new(ConfigOptions::default());
    udf.invoke_with_args(ScalarFunctionArgs { args, arg_fields, number_rows, return_field, config_options })
        .unwrap()
}

#[test]
fn scalars_in_scalar_out() {
    let arguments = || {
        let n = ColumnarValue::Scalar(ScalarValue::UInt64(Some(27)));
        vec![n, ColumnarValue::Scalar(ScalarValue::UInt32(Some(1000)))]
    };
    let ColumnarValue::Scalar(steps) = call(&udf!(collatz), arguments(), 5_000) else { panic!("a column") };
    assert_eq!(steps, ScalarValue::UInt32(Some(111)));

    let none = vec![arguments().remove(0), ColumnarValue::Scalar(ScalarValue::UInt32(None))];
    let ColumnarValue::Scalar(steps) = call(&udf!(collatz), none, 5_000) else { panic!("a column") };
    assert_eq!(steps, ScalarValue::UInt32(None));

    // Each row of a volatile function is computed.
    let volatile = udf!(collatz, volatility(Volatility::Volatile));
    let ColumnarValue::Array(steps) = call(&volatile, arguments(), 3) else { panic!("a scalar") };
    assert_eq!(steps.as_primitive::<UInt32Type>().values(), &[111, 111, 111]);

    let ColumnarValue::Array(steps) = call(&udf!(collatz), arguments(), 0) else { panic!("a scalar") };
    assert!(steps.is_empty());
}
