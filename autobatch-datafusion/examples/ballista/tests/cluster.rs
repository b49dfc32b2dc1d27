//! Queries on a scheduler and executors that are processes: the rows are right, faults are errors, and an executor may be lost.

use std::path::Path;
use std::time::Instant;

use autobatch_ballista_example::cluster::{Cluster, WITHOUT_FUNCTIONS};
use autobatch_ballista_example::{roles, samples, within};
use datafusion::prelude::SessionContext;
use tempfile::TempDir;
use tokio::sync::Mutex;

/// The longest that a query may take, in seconds.
const LIMIT: u64 = 120;

/// One cluster at a time: an executor that gets too little of the machine counts as lost.
static MACHINE: Mutex<()> = Mutex::const_new(());

/// A cluster of two executors. The arguments are those of the scheduler, and of each executor.
fn cluster(scheduler: &[&str], executor: &[&str]) -> Cluster {
    let program = Path::new(env!("CARGO_BIN_EXE_autobatch-ballista-example"));
    let mut cluster = Cluster::start(program, scheduler).unwrap();
    for _ in 0..2 {
        cluster.add_executor(executor).unwrap();
    }
    cluster
}

fn files(count: u64, rows: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    samples::write(folder.path(), count, rows).unwrap();
    folder
}

async fn remote(cluster: &Cluster, folder: &TempDir) -> SessionContext {
    let context = roles::client(cluster.scheduler(), 8).await.unwrap();
    samples::register(&context, folder.path()).await.unwrap();
    context
}

async fn local(folder: &TempDir) -> SessionContext {
    let context = roles::local(1);
    samples::register(&context, folder.path()).await.unwrap();
    context
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_those_of_one_process_and_of_the_scalar_functions() {
    let _machine = MACHINE.lock().await;
    let (folder, cluster) = (files(5, 500), cluster(&[], &[]));
    let (remote, local) = (remote(&cluster, &folder).await, local(&folder).await);
    let table = within(LIMIT, samples::rows(&remote, samples::ROWS)).await.unwrap();
    assert_eq!(table.num_rows(), 2_500);
    assert!(samples::check(&table).unwrap() > 50, "some results are null");
    assert_eq!(table, samples::rows(&local, samples::ROWS).await.unwrap());
    let groups = within(LIMIT, samples::rows(&remote, samples::GROUPS)).await.unwrap();
    assert_eq!(groups, samples::rows(&local, samples::GROUPS).await.unwrap());

    // The comparison sees a row that is not right.
    let wrong = samples::ROWS.replace("1e-7", "1e-3");
    let table = within(LIMIT, samples::rows(&remote, &wrong)).await.unwrap();
    let error = samples::check(&table).unwrap_err().to_string();
    assert!(error.starts_with("area of row "), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_at_fault_is_an_error_of_the_client_and_the_cluster_lives_on() {
    let _machine = MACHINE.lock().await;
    let (folder, mut cluster) = (files(4, 100), cluster(&[], &[]));
    let remote = remote(&cluster, &folder).await;
    let start = Instant::now();
    let error = within(LIMIT, samples::rows(&remote, samples::FAULTY)).await.unwrap_err().to_string();
    assert!(
        error.contains("collatz(0, 10000): the sequence of 0 does not reach 1 (row 0 of its batch)"),
        "{error}"
    );
    // No executor tries it again, and none is lost.
    assert!(start.elapsed().as_secs() < roles::LOST_AFTER, "{:?}", start.elapsed());
    assert_eq!(cluster.running(), 2);
    let table = within(LIMIT, samples::rows(&remote, samples::ROWS)).await.unwrap();
    samples::check(&table).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_is_killed_costs_time_and_no_row() {
    let _machine = MACHINE.lock().await;
    let small = files(1, 4_000);
    let context = local(&small).await;
    samples::rows(&context, samples::GROUPS).await.unwrap();
    let start = Instant::now();
    samples::rows(&context, samples::GROUPS).await.unwrap();
    let rows = 4_000.0 / start.elapsed().as_secs_f64();

    // Half a second for each of the files.
    let (folder, mut cluster) = (files(8, (rows * 0.5) as u64), cluster(&[], &[]));
    let expected = samples::rows(&local(&folder).await, samples::GROUPS).await.unwrap();
    let remote = remote(&cluster, &folder).await;
    let query = async move { samples::rows(&remote, samples::GROUPS).await };
    let query = cluster.kill_during(0, query).await.unwrap();
    assert_eq!(cluster.running(), 1);
    let groups = within(LIMIT, query).await.unwrap().unwrap();
    assert_eq!(groups, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_without_the_functions_is_an_error_that_names_one() {
    let _machine = MACHINE.lock().await;
    let folder = files(2, 100);
    let failure = async |cluster: &Cluster| {
        let remote = remote(cluster, &folder).await;
        let error = within(LIMIT, samples::rows(&remote, samples::GROUPS)).await.unwrap_err().to_string();
        // Queries that do without them go on.
        within(LIMIT, samples::rows(&remote, "SELECT count(n) FROM samples")).await.unwrap();
        error
    };
    let error = SessionContext::new().sql("SELECT collatz(27, 1000)").await.unwrap_err().to_string();
    assert!(error.contains("Invalid function 'collatz'"), "{error}");
    let error = failure(&cluster(&[], &[WITHOUT_FUNCTIONS])).await;
    assert!(error.contains("PhysicalExtensionCodec is not provided for scalar function collatz"), "{error}");
    let error = failure(&cluster(&[WITHOUT_FUNCTIONS], &[])).await;
    assert!(error.contains("LogicalExtensionCodec is not provided for scalar function collatz"), "{error}");
}
