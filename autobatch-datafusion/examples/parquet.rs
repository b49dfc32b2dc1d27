//! SQL over Parquet files with four batched functions: a loop, two Newton iterations, a recursive function. Each row is compared with the scalar
//! function, and the time with that of the scalar function row by row.
//!
//! `cargo run --release --example parquet -- 2000000`

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use autobatch::{autobatch, math};
use autobatch_datafusion::udf;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, RecordBatch, UInt32Array, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Float64Type, UInt32Type, UInt64Type};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};

/// The steps of the Collatz sequence from `n` to 1, at most `most`.
#[autobatch]
fn collatz(mut n: u64, most: u32) -> u32 {
    let mut steps = 0;
    while n != 1 && steps < most {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// The volume of a mole of nitrogen after van der Waals, by Newton's iteration.
#[autobatch]
fn volume(pressure: f64, temperature: f64) -> f64 {
    let (attraction, own) = (0.137, 3.87e-5);
    let energy = 8.314 * temperature;
    let mut v = energy / pressure;
    for _ in 0..50 {
        let value = ((pressure * v - pressure * own - energy) * v + attraction) * v - attraction * own;
        let slope = (3.0 * pressure * v - 2.0 * (pressure * own + energy)) * v + attraction;
        let step = value / slope;
        v -= step;
        if step.abs() < 1e-12 * v {
            break;
        }
    }
    v
}

/// The eccentric anomaly of a planet after Kepler, by Newton's iteration. `math` has functions that become vectors, with the same bits.
#[autobatch]
fn anomaly(mean: f64, eccentricity: f64) -> f64 {
    let mut angle = mean + eccentricity * math::sin(mean);
    for _ in 0..50 {
        let step = (angle - eccentricity * math::sin(angle) - mean) / (1.0 - eccentricity * math::cos(angle));
        angle -= step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    angle
}

/// The area below `1 / (1 + sharpness x²)` between two ends: halves are halved until Simpson's rule is right.
#[autobatch]
fn area(sharpness: f64, from: f64, to: f64, tolerance: f64) -> f64 {
    let (width, middle) = (to - from, 0.5 * (from + to));
    let (left, right) = (0.5 * (from + middle), 0.5 * (middle + to));
    let ends = 1.0 / (1.0 + sharpness * from * from) + 1.0 / (1.0 + sharpness * to * to);
    let centre = 1.0 / (1.0 + sharpness * middle * middle);
    let quarters = 1.0 / (1.0 + sharpness * left * left) + 1.0 / (1.0 + sharpness * right * right);
    let coarse = width / 6.0 * (ends + 4.0 * centre);
    let fine = width / 12.0 * (ends + 2.0 * centre + 4.0 * quarters);
    if (fine - coarse).abs() < 15.0 * tolerance {
        fine
    } else {
        area(sharpness, from, middle, 0.5 * tolerance) + area(sharpness, middle, to, 0.5 * tolerance)
    }
}

const FILES: u64 = 4;

/// Writes the table as some files. Some rows have nulls.
fn write(folder: &Path, rows: u64) -> Result<(), Box<dyn Error>> {
    for file in 0..FILES {
        let numbers =
            || (file * rows / FILES..(file + 1) * rows / FILES).map(|row| (row, row * 7_919 % 100_003));
        let n = numbers().map(|(row, random)| (row % 101 != 7).then_some(row / 3 + random + 1));
        let pressure = numbers().map(|(row, random)| (row % 89 != 3).then_some(1e4 + 90.0 * random as f64));
        let temperature = numbers().map(|(_, random)| Some(250.0 + (random % 1_013) as f64 * 0.5));
        let sharpness = numbers().map(|(_, random)| Some((random % 997) as f64 * 0.3));
        let mean = numbers().map(|(row, random)| (row % 97 != 5).then_some((random % 6_283) as f64 * 1e-3));
        let eccentricity = numbers().map(|(_, random)| Some((random % 887) as f64 * 1e-3));
        let columns: [(&str, ArrayRef); 6] = [
            ("n", Arc::new(n.collect::<UInt64Array>())),
            ("pressure", Arc::new(pressure.collect::<Float64Array>())),
            ("temperature", Arc::new(temperature.collect::<Float64Array>())),
            ("sharpness", Arc::new(sharpness.collect::<Float64Array>())),
            ("mean", Arc::new(mean.collect::<Float64Array>())),
            ("eccentricity", Arc::new(eccentricity.collect::<Float64Array>())),
        ];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))?;
        let mut writer = ArrowWriter::try_new(
            File::create(folder.join(format!("{file}.parquet")))?,
            batch.schema(),
            None,
        )?;
        writer.write(&batch)?;
        writer.close()?;
    }
    Ok(())
}

/// The scalar functions as functions of SQL that go row by row.
fn by_row() -> [ScalarUDF; 4] {
    use DataType::{Float64, UInt32, UInt64};
    let immutable = Volatility::Immutable;
    let collatz_by_row = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let (n, most) = (arrays[0].as_primitive::<UInt64Type>(), arrays[1].as_primitive::<UInt32Type>());
        let steps = n.iter().zip(most).map(|(n, most)| Some(collatz(n?, most?)));
        Ok(ColumnarValue::Array(Arc::new(steps.collect::<UInt32Array>())))
    };
    let volume_by_row = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let (pressure, temperature) =
            (arrays[0].as_primitive::<Float64Type>(), arrays[1].as_primitive::<Float64Type>());
        let volumes = pressure.iter().zip(temperature).map(|(p, t)| Some(volume(p?, t?)));
        Ok(ColumnarValue::Array(Arc::new(volumes.collect::<Float64Array>())))
    };
    let anomaly_by_row = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let (mean, eccentricity) =
            (arrays[0].as_primitive::<Float64Type>(), arrays[1].as_primitive::<Float64Type>());
        let angles = mean.iter().zip(eccentricity).map(|(m, e)| Some(anomaly(m?, e?)));
        Ok(ColumnarValue::Array(Arc::new(angles.collect::<Float64Array>())))
    };
    let area_by_row = |arguments: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(arguments)?;
        let column = |index: usize| arrays[index].as_primitive::<Float64Type>().iter();
        let ends = column(1).zip(column(2)).zip(column(3));
        let areas =
            column(0).zip(ends).map(|(s, ((from, to), tolerance))| Some(area(s?, from?, to?, tolerance?)));
        Ok(ColumnarValue::Array(Arc::new(areas.collect::<Float64Array>())))
    };
    [
        create_udf("collatz_by_row", vec![UInt64, UInt32], UInt32, immutable, Arc::new(collatz_by_row)),
        create_udf("volume_by_row", vec![Float64, Float64], Float64, immutable, Arc::new(volume_by_row)),
        create_udf("anomaly_by_row", vec![Float64, Float64], Float64, immutable, Arc::new(anomaly_by_row)),
        create_udf("area_by_row", vec![Float64; 4], Float64, immutable, Arc::new(area_by_row)),
    ]
}

/// A session with the files as the table `samples`, and all functions.
async fn session(folder: &Path, partitions: usize) -> Result<SessionContext, Box<dyn Error>> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    let folder = folder.to_str().ok_or("a folder whose name is text")?;
    context.register_parquet("samples", folder, ParquetReadOptions::default()).await?;
    for function in [udf!(collatz), udf!(volume), udf!(anomaly), udf!(area)].into_iter().chain(by_row()) {
        context.register_udf(function);
    }
    Ok(context)
}

/// Compares each row with the scalar function, bit for bit.
fn check(batch: &RecordBatch) {
    let floats = |index: usize| batch.column(index).as_primitive::<Float64Type>();
    let n = batch.column(0).as_primitive::<UInt64Type>();
    let (pressure, temperature, sharpness) = (floats(1), floats(2), floats(3));
    let (mean, eccentricity) = (floats(4), floats(5));
    let steps = batch.column(6).as_primitive::<UInt32Type>();
    let (volumes, angles, areas) = (floats(7), floats(8), floats(9));
    let bits = |array: &Float64Array, row: usize| array.is_valid(row).then(|| array.value(row).to_bits());
    for row in 0..batch.num_rows() {
        let expected = n.is_valid(row).then(|| collatz(n.value(row), 10_000));
        assert_eq!(steps.is_valid(row).then(|| steps.value(row)), expected, "row {row}");
        let expected = pressure.is_valid(row).then(|| volume(pressure.value(row), temperature.value(row)));
        assert_eq!(bits(volumes, row), expected.map(f64::to_bits), "row {row}");
        let expected = mean.is_valid(row).then(|| anomaly(mean.value(row), eccentricity.value(row)));
        assert_eq!(bits(angles, row), expected.map(f64::to_bits), "row {row}");
        let expected = Some(area(sharpness.value(row), 0.0, 3.0, 1e-7));
        assert_eq!(bits(areas, row), expected.map(f64::to_bits), "row {row}");
    }
}

/// The best time of some runs, in milliseconds.
async fn time(context: &SessionContext, query: &str) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        context.sql(query).await?.collect().await?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(20_000), |rows| rows.parse())?;
    let folder = tempfile::tempdir()?;
    write(folder.path(), rows)?;

    let context = session(folder.path(), 2).await?;
    let query = "SELECT n, pressure, temperature, sharpness, mean, eccentricity, collatz(n, 10000) AS steps, \
                 volume(pressure, temperature) AS volume, anomaly(mean, eccentricity) AS angle, \
                 area(sharpness, 0, 3, 1e-7) AS area FROM samples";
    let table = context.sql(query).await?.collect().await?;
    table.iter().for_each(check);
    let checked: usize = table.iter().map(RecordBatch::num_rows).sum();
    println!("{}", pretty_format_batches(&[table[0].slice(0, 10.min(table[0].num_rows()))])?);
    println!("{checked} rows of {FILES} files are those of the scalar functions, bit for bit\n");

    let query = "SELECT collatz(n, 10000) / 50 * 50 AS steps, count(*) AS rows, avg(volume(pressure, temperature)) AS volume \
                 FROM samples WHERE area(sharpness, 0, 3, 1e-7) < 0.5 GROUP BY 1 ORDER BY 1";
    println!("{}", pretty_format_batches(&context.sql(query).await?.collect().await?)?);

    println!(
        "\nmilliseconds, the best of 7 runs{}",
        if cfg!(debug_assertions) { ", not optimised" } else { "" }
    );
    println!("{:12} {:>10} {:>8} {:>8} {:>6}", "", "partitions", "batched", "by row", "ratio");
    let calls = [
        ("collatz", "n, CAST(10000 AS INT UNSIGNED)"),
        ("volume", "pressure, temperature"),
        ("anomaly", "mean, eccentricity"),
        ("area", "sharpness, 0.0, 3.0, 1e-7"),
    ];
    for partitions in [1, 2] {
        let context = session(folder.path(), partitions).await?;
        let reading = time(&context, "SELECT sum(pressure), sum(temperature) FROM samples").await?;
        println!("{:12} {partitions:>10} {reading:>8.1}", "reading two");
        for (name, arguments) in calls {
            let batched = time(&context, &format!("SELECT sum({name}({arguments})) FROM samples")).await?;
            let by_row =
                time(&context, &format!("SELECT sum({name}_by_row({arguments})) FROM samples")).await?;
            println!("{name:12} {partitions:>10} {batched:>8.1} {by_row:>8.1} {:>6.1}", by_row / batched);
        }
    }
    Ok(())
}
