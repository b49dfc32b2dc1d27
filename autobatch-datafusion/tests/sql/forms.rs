//! Each form of the macro makes the function that it says.

use std::ops::{Add, Div, Mul};
use std::sync::Arc;

use autobatch::{Options, autobatch};
use autobatch_datafusion::{ScalarUDF, Udf, Volatility, udf};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use datafusion::arrow::datatypes::{Float32Type, Float64Type};

use crate::tables::{column, rows, session};

#[autobatch]
fn newton<T>(x: T, start: T) -> T
where
    T: Copy + From<f32> + Add<Output = T> + Mul<Output = T> + Div<Output = T>,
{
    let mut y = start;
    for _ in 0..20 {
        y = (y + x / y) * T::from(0.5);
    }
    y
}

#[autobatch]
fn total<T: Copy + Default + Add<Output = T>>(#[each] values: &[T], more: T) -> T {
    let mut sum = more;
    for value in values {
        sum = sum + *value;
    }
    sum
}

mod models {
    use autobatch::autobatch;

    #[derive(Clone)]
    pub(crate) struct Line {
        pub(crate) slope: f64,
    }

    #[autobatch]
    pub(crate) fn above(x: f64, line: &Line, y: f64) -> bool {
        y > line.slope * x
    }

    #[autobatch]
    impl Line {
        pub(crate) fn at(&self, x: f64) -> f64 {
            self.slope * x
        }
    }
}

#[autobatch]
fn scaled(x: f64, #[shared] factor: f64) -> f64 {
    x * factor
}

#[autobatch(name = "many_twice")]
fn twice(x: f64) -> f64 {
    2.0 * x
}

fn columns() -> [(&'static str, ArrayRef); 2] {
    let x: Float64Array = (1..300).map(|row| (row % 9 != 5).then_some(f64::from(row) / 3.0)).collect();
    let y: Float64Array = (1..300).map(|row| Some(f64::from(300 - row))).collect();
    [("x", Arc::new(x)), ("y", Arc::new(y))]
}

#[tokio::test]
async fn instances_of_a_generic_function() {
    let context = session(&columns(), 100);
    context.register_udf(udf!(newton as "newton_f32", fn(f32, f32) -> f32));
    context.register_udf(
        udf!(newton as "newton_f64", fn(f64, f64) -> f64, options(Options::default().lanes(64))),
    );
    context.register_udf(udf!(total as "total_f64", fn(&[f64], f64) -> f64));
    let query = "SELECT x, y, newton_f32(x, 1), newton_f64(x, y), total_f64([x, y], 1) FROM t WHERE x > 0";
    let table = rows(&context, query).await.unwrap();
    let (x, y) =
        (table.column(0).as_primitive::<Float64Type>(), table.column(1).as_primitive::<Float64Type>());
    let (narrow, wide) =
        (table.column(2).as_primitive::<Float32Type>(), table.column(3).as_primitive::<Float64Type>());
    for row in 0..table.num_rows() {
        assert_eq!(narrow.value(row).to_bits(), newton(x.value(row) as f32, 1.0).to_bits());
        assert_eq!(wide.value(row).to_bits(), newton(x.value(row), y.value(row)).to_bits());
        let sums = table.column(4).as_primitive::<Float64Type>();
        assert_eq!(sums.value(row), total(&[x.value(row), y.value(row)], 1.0));
    }
}

#[tokio::test]
async fn shared_parameters_are_bound_where_the_function_is_made() {
    let (flat, steep) = (models::Line { slope: 0.5 }, models::Line { slope: 8.0 });
    let context = session(&columns(), 100);
    let (one, other) = (flat.clone(), steep.clone());
    context.register_udf(udf!(models::above(_, &one, _) as "above_flat"));
    context.register_udf(udf!(self::models::above(_, &other, _,) as "above_steep", null_on_fault()));
    context.register_udf(udf!(scaled(_, 3.0)));
    let line = Arc::new(steep.clone());
    context.register_udf(Udf::new("at", move |[x], options| line.at_batched_with(x, options)).into());
    let table = rows(&context, "SELECT x, y, above_flat(x, y), above_steep(x, y), scaled(x), at(x) FROM t")
        .await
        .unwrap();
    let (x, y) =
        (table.column(0).as_primitive::<Float64Type>(), table.column(1).as_primitive::<Float64Type>());
    for row in 0..table.num_rows() {
        let expected = |line| x.is_valid(row).then(|| models::above(x.value(row), line, y.value(row)));
        let get = |index: usize| {
            let array = table.column(index).as_boolean();
            array.is_valid(row).then(|| array.value(row))
        };
        assert_eq!((get(2), get(3)), (expected(&flat), expected(&steep)));
        if x.is_valid(row) {
            assert_eq!(table.column(4).as_primitive::<Float64Type>().value(row), scaled(x.value(row), 3.0));
            assert_eq!(table.column(5).as_primitive::<Float64Type>().value(row), steep.at(x.value(row)));
        }
    }
}

#[tokio::test]
async fn names_and_settings() {
    let plain = udf!(scaled(_, 3.0));
    assert_eq!((plain.name(), plain.aliases().len()), ("scaled", 0));
    assert_eq!((plain.signature().volatility, plain.is_strict()), (Volatility::Immutable, true));

    let format = |number: u32| format!("scaled_{number}");
    let named = udf!(scaled(_, 4.0) as format(4), volatility(Volatility::Stable), alias("four_times"), alias("times_4"));
    assert_eq!(
        (named.name(), named.aliases()),
        ("scaled_4", &["four_times".to_owned(), "times_4".to_owned()][..])
    );
    assert_eq!(named.signature().volatility, Volatility::Stable);
    assert!(plain != named && plain == plain.clone() && plain != udf!(scaled(_, 3.0)));

    let context = session(&columns(), 100);
    context.register_udf(named);
    let [by_name, by_alias] = [
        column(&context, "SELECT scaled_4(x) FROM t").await.unwrap(),
        column(&context, "SELECT times_4(x) FROM t").await.unwrap(),
    ];
    assert_eq!(&by_name, &by_alias);

    let twice_udf = ScalarUDF::from(Udf::new("twice", |[x], options| many_twice_with(x, options)));
    context.register_udf(twice_udf);
    let all = rows(&context, "SELECT x, twice(x) FROM t WHERE x > 0").await.unwrap();
    let (x, all) = (all.column(0).as_primitive::<Float64Type>(), all.column(1).as_primitive::<Float64Type>());
    assert!(x.values().iter().zip(all.values()).all(|(x, all)| twice(*x) == *all));
}

#[test]
#[should_panic(expected = "the function f of SQL: argument 1 has no type")]
fn an_argument_that_no_parameter_gets_is_a_panic() {
    let _ = Udf::new("f", |[x, _], options| scaled_batched_with(x, 2.0, options));
}
