//! Tables for the tests, and what a query gives.

use std::sync::Arc;

use autobatch::{Executor, Options};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};

/// A session with a table `t` of these columns, in partitions of `rows` rows, each cut into batches of three quarters of that.
pub(crate) fn session(columns: &[(&str, ArrayRef)], rows: usize) -> SessionContext {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    let table = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("columns of one length");
    let cut = |batch: &RecordBatch, rows: usize| -> Vec<RecordBatch> {
        let starts = (0..batch.num_rows()).step_by(rows);
        starts.map(|start| batch.slice(start, rows.min(batch.num_rows() - start))).collect()
    };
    let mut partitions: Vec<Vec<RecordBatch>> =
        cut(&table, rows).iter().map(|partition| cut(partition, (rows * 3 / 4).max(1))).collect();
    if partitions.is_empty() {
        partitions.push(Vec::new());
    }
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    let table = MemTable::try_new(schema, partitions).expect("the schema of its batches");
    context.register_table("t", Arc::new(table)).expect("the first of that name");
    context
}

/// The rows of a query's result, as one batch.
pub(crate) async fn rows(context: &SessionContext, query: &str) -> Result<RecordBatch> {
    let frame = context.sql(query).await?;
    let schema = Arc::clone(frame.schema().inner());
    Ok(concat_batches(&schema, &frame.collect().await?)?)
}

/// The column of a query's result.
pub(crate) async fn column(context: &SessionContext, query: &str) -> Result<ArrayRef> {
    rows(context, query).await.map(|batch| Arc::clone(batch.column(0)))
}

/// What a query fails with.
pub(crate) async fn failure(context: &SessionContext, query: &str) -> String {
    rows(context, query).await.expect_err(query).strip_backtrace()
}

/// Every executor.
pub(crate) fn every_way() -> Vec<Options> {
    let executors = [Executor::Auto, Executor::Masked, Executor::ProgramCounter, Executor::Scalar];
    let ways = executors.map(|executor| Options::default().executor(executor));
    ways.into_iter().chain([Options::default().threads(2).lanes(7)]).collect()
}
