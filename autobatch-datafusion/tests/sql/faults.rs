//! A row at fault ends the query with an error that names it, or is null, and no other row is worse off.

use std::sync::Arc;

use autobatch::{Options, autobatch};
use autobatch_datafusion::udf;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use datafusion::arrow::datatypes::{Float64Type, Int64Type, UInt64Type};
use datafusion::error::DataFusionError;

use crate::tables::{column, every_way, failure, rows, session};

#[autobatch]
fn share(whole: i64, parts: i64) -> i64 {
    whole / parts
}

/// Never for 0.
#[autobatch]
fn steps(mut n: u64) -> u64 {
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

#[autobatch]
fn depth(n: u64) -> u64 {
    if n == 0 { 0 } else { 1 + depth(n - 1) }
}

#[autobatch]
fn letter(text: String, index: u64) -> String {
    text.chars().nth(index as usize).expect("a letter").to_string()
}

fn columns() -> [(&'static str, ArrayRef); 2] {
    let whole: Int64Array = (0..2_000).map(|row| (row % 7 != 2).then_some(row)).collect();
    let parts: Int64Array = (0..2_000).map(|row| Some(row % 50)).collect();
    [("whole", Arc::new(whole)), ("parts", Arc::new(parts))]
}

#[tokio::test]
async fn the_error_has_the_arguments_the_message_and_the_row() {
    for options in every_way() {
        let context = session(&columns(), 4_000);
        context.register_udf(udf!(share, options(options)));
        let error = rows(&context, "SELECT share(whole, parts) FROM t").await.unwrap_err();
        let DataFusionError::Execution(message) = error.find_root() else { panic!("{error:?}") };
        assert_eq!(message, "share(0, 0): attempt to divide by zero (row 0 of its batch, 33 more at fault)");

        let message = failure(&context, "SELECT share(whole, parts - 7) FROM t WHERE whole < 40").await;
        assert_eq!(message, "Execution error: share(7, 0): attempt to divide by zero (row 6 of its batch)");
        // In a filter, with a literal.
        let message =
            failure(&context, "SELECT whole FROM t WHERE share(100, whole - 3) > 1 AND whole < 9").await;
        assert!(message.contains("share(100, 0): attempt to divide by zero"), "{message}");
        // Of literals only.
        let message = failure(&context, "SELECT share(100, 0)").await;
        assert!(
            message.contains("share(100, 0): attempt to divide by zero (row 0 of its batch)"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_row_at_fault_may_be_null() {
    for options in every_way() {
        for partition in [4_000, 300] {
            let context = session(&columns(), partition);
            context.register_udf(udf!(share, options(options.clone()), null_on_fault()));
            let table = rows(&context, "SELECT whole, parts, share(whole, parts) FROM t").await.unwrap();
            let [whole, parts, shares] =
                [0, 1, 2].map(|index| table.column(index).as_primitive::<Int64Type>());
            assert_eq!(table.num_rows(), 2_000);
            for row in 0..table.num_rows() {
                let expected =
                    whole.is_valid(row).then(|| whole.value(row).checked_div(parts.value(row))).flatten();
                assert_eq!(shares.is_valid(row).then(|| shares.value(row)), expected, "row {row}");
            }
            let shares = column(&context, "SELECT share(1, 0)").await.unwrap();
            assert!(shares.is_null(0));
        }
    }
}

#[tokio::test]
async fn a_condition_keeps_rows_from_running() {
    let context = session(&columns(), 4_000);
    context.register_udf(udf!(share));
    let query = "SELECT sum(CASE WHEN parts <> 0 THEN share(whole, parts) ELSE -1 END) FROM t";
    let sum = column(&context, query).await.unwrap();
    let (whole, parts) = (columns()[0].1.clone(), columns()[1].1.clone());
    let pairs = whole.as_primitive::<Int64Type>().iter().zip(parts.as_primitive::<Int64Type>().values());
    let expected = pairs
        .filter_map(|(whole, parts)| if *parts == 0 { Some(-1) } else { whole.map(|whole| whole / parts) });
    assert_eq!(sum.as_primitive::<Int64Type>().value(0), expected.sum::<i64>());
}

#[tokio::test]
async fn limits_end_rows_that_would_not_end() {
    let columns = [("n", Arc::new((0_i64..3_000).map(Some).collect::<Int64Array>()) as ArrayRef)];
    let context = session(&columns, 1_000);
    context.register_udf(udf!(steps, options(Options::default().max_steps(10_000)), null_on_fault()));
    context.register_udf(udf!(depth, options(Options::default().max_depth(100))));

    let results = rows(&context, "SELECT n, steps(n) FROM t").await.unwrap();
    let (n, results) =
        (results.column(0).as_primitive::<Int64Type>(), results.column(1).as_primitive::<UInt64Type>());
    for row in 0..n.len() {
        assert_eq!(results.is_null(row), n.value(row) == 0);
        if results.is_valid(row) {
            assert_eq!(results.value(row), steps(n.value(row) as u64));
        }
    }
    let message = failure(&context, "SELECT depth(n) FROM t WHERE n BETWEEN 90 AND 120").await;
    assert!(message.starts_with("Execution error: depth(") && message.contains("of its batch"), "{message}");
}

#[tokio::test]
async fn long_arguments_are_cut_in_messages() {
    let columns = [("text", Arc::new(StringArray::from(vec!["ü".repeat(500)])) as ArrayRef)];
    let context = session(&columns, 10);
    context.register_udf(udf!(letter));
    let message = failure(&context, "SELECT letter(text, 501) FROM t").await;
    assert_eq!(
        message,
        format!("Execution error: letter({}…, 501): a letter (row 0 of its batch)", "ü".repeat(60))
    );
}

#[autobatch]
fn dot(x: [f64; 2], y: [f64; 2]) -> f64 {
    x[0] * y[0] + x[1] * y[1]
}

#[tokio::test]
async fn a_list_of_another_length_is_an_error() {
    let context = session(&columns(), 300);
    context.register_udf(udf!(dot));
    let products = column(&context, "SELECT dot([1, 2], [3, 4.5])").await.unwrap();
    assert_eq!(products.as_primitive::<Float64Type>().values(), &[12.0]);
    let message = failure(&context, "SELECT dot([whole, parts], [1, 2, 3]) FROM t").await;
    assert!(message.contains("dot: a list of 3 values where 2 are wanted"), "{message}");
    let message = failure(&context, "SELECT dot(whole, [1, 2]) FROM t").await;
    assert!(message.contains("argument 1 of dot has to be FixedSizeList"), "{message}");
}
