//! The table `samples`: Parquet files in one folder, and what the functions are for each of its rows.

use std::fs::{File, create_dir_all};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, UInt64Array};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Float64Type, UInt32Type, UInt64Type};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

use crate::Result;
use crate::functions::{area, collatz, volume};

/// Each row with all functions of it, in an order that does not depend on the partitions.
pub const ROWS: &str = "SELECT id, n, pressure, temperature, sharpness, collatz(n, 10000) AS steps, \
                        volume(pressure, temperature) AS volume, area(sharpness, 0, 3, 1e-7) AS area \
                        FROM samples ORDER BY id";

/// Groups of rows. Minima, maxima and sums of integers are the same in whatever order the rows come; a sum of fractions is not.
pub const GROUPS: &str = "SELECT collatz(n, 10000) / 50 * 50 AS steps, count(*) AS rows, sum(n) AS sum, \
                          min(volume(pressure, temperature)) AS volume, max(area(sharpness, 0, 3, 1e-7)) AS area \
                          FROM samples GROUP BY 1 ORDER BY 1";

/// Calls `collatz(0, 10000)` for the first row, which is at fault.
pub const FAULTY: &str = "SELECT max(collatz(id, 10000)) FROM samples";

/// Writes files of so many rows each. Some rows have nulls.
pub fn write(folder: &Path, files: u64, rows: u64) -> Result<()> {
    create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for file in 0..files {
        let numbers = || (file * rows..(file + 1) * rows).map(|id| (id, id * 7_919 % 100_003));
        let n = numbers().map(|(id, random)| (id % 101 != 7).then_some(id / 3 + random + 1));
        let pressure = numbers().map(|(id, random)| (id % 89 != 3).then_some(1e4 + 90.0 * random as f64));
        let temperature = numbers().map(|(_, random)| Some(250.0 + (random % 1_013) as f64 * 0.5));
        let sharpness = numbers().map(|(id, random)| (id % 97 != 5).then_some((random % 997) as f64 * 0.3));
        let columns: [(&str, ArrayRef); 5] = [
            ("id", Arc::new(numbers().map(|(id, _)| Some(id)).collect::<UInt64Array>())),
            ("n", Arc::new(n.collect::<UInt64Array>())),
            ("pressure", Arc::new(pressure.collect::<Float64Array>())),
            ("temperature", Arc::new(temperature.collect::<Float64Array>())),
            ("sharpness", Arc::new(sharpness.collect::<Float64Array>())),
        ];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))?;
        let file = File::create(folder.join(format!("{file}.parquet")))?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
    }
    Ok(())
}

/// The folder as the table `samples`. All processes read the files at this path.
pub async fn register(context: &SessionContext, folder: &Path) -> Result<()> {
    let folder = folder.to_str().ok_or("the folder has a name that is no text")?;
    Ok(context.register_parquet("samples", folder, ParquetReadOptions::default()).await?)
}

/// The result of a query as one batch.
pub async fn rows(context: &SessionContext, query: &str) -> datafusion::error::Result<RecordBatch> {
    let frame = context.sql(query).await?;
    let schema = Arc::clone(frame.schema().inner());
    Ok(concat_batches(&schema, &frame.collect().await?)?)
}

/// Compares each row of [`ROWS`] with the scalar functions, bit for bit. Gives the number of results that are null.
pub fn check(batch: &RecordBatch) -> Result<usize> {
    let floats = |index: usize| batch.column(index).as_primitive::<Float64Type>();
    let [id, n] = [0, 1].map(|index| batch.column(index).as_primitive::<UInt64Type>());
    let [pressure, temperature, sharpness] = [2, 3, 4].map(floats);
    let steps = batch.column(5).as_primitive::<UInt32Type>();
    let [volumes, areas] = [6, 7].map(floats);
    let value = |array: &Float64Array, row: usize| array.is_valid(row).then(|| array.value(row));
    let mut nulls = 0;
    for row in 0..batch.num_rows() {
        if id.value(row) != row as u64 {
            return Err(format!("row {row} has the number {}", id.value(row)).into());
        }
        let expected = n.is_valid(row).then(|| u64::from(collatz(n.value(row), 10_000)));
        let actual = steps.is_valid(row).then(|| u64::from(steps.value(row)));
        let call = |pressure| Some(volume(pressure, value(temperature, row)?).to_bits());
        let expected_volume = value(pressure, row).and_then(call);
        let expected_area = value(sharpness, row).map(|sharpness| area(sharpness, 0.0, 3.0, 1e-7).to_bits());
        for (name, actual, expected) in [
            ("collatz", actual, expected),
            ("volume", value(volumes, row).map(f64::to_bits), expected_volume),
            ("area", value(areas, row).map(f64::to_bits), expected_area),
        ] {
            if actual != expected {
                return Err(format!("{name} of row {row} has the bits {actual:?}, not {expected:?}").into());
            }
            nulls += usize::from(expected.is_none());
        }
    }
    Ok(nulls)
}
