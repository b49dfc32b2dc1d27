//! One binary with the roles scheduler, executor and client. Without an argument it starts a cluster of itself and shows what that does.

use std::env;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Instant;

use autobatch_ballista_example::cluster::{Cluster, UNTIL_INPUT_ENDS, WITHOUT_FUNCTIONS};
use autobatch_ballista_example::{Result, roles, samples, within};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;

const USAGE: &str = "\
usage: autobatch-ballista-example                               a cluster on this machine, and what it does
       autobatch-ballista-example scheduler ADDRESS             for example 127.0.0.1:50050
       autobatch-ballista-example executor SCHEDULER FOLDER     keeps its results in the folder
       autobatch-ballista-example client SCHEDULER FOLDER SQL   queries the Parquet files of the folder, the table `samples`
       autobatch-ballista-example write FOLDER                  writes such files";

const FILES: u64 = 8;
const ROWS: u64 = 2_000;
const PARTITIONS: usize = 8;

/// What a query may take, in seconds. The cluster needs a few.
const LIMIT: u64 = 120;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let mut take = |flag: &str| {
        let position = arguments.iter().position(|argument| argument == flag);
        position.map(|position| arguments.remove(position)).is_some()
    };
    if take(UNTIL_INPUT_ENDS) {
        thread::spawn(end_with_input);
    }
    let has_functions = !take(WITHOUT_FUNCTIONS);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => demonstration().await,
        ["scheduler", address] => roles::scheduler(parsed(address)?, has_functions).await,
        ["executor", scheduler, folder] => roles::executor(parsed(scheduler)?, folder, has_functions).await,
        ["client", scheduler, folder, query] => {
            let context = roles::client(parsed(scheduler)?, PARTITIONS).await?;
            samples::register(&context, Path::new(folder)).await?;
            Ok(context.sql(query).await?.show().await?)
        }
        ["write", folder] => samples::write(Path::new(folder), FILES, ROWS),
        _ => Err(USAGE.into()),
    }
}

fn parsed(address: &str) -> Result<SocketAddr> {
    address
        .parse()
        .map_err(|_| format!("{address} is not an address and a port, such as 127.0.0.1:50050").into())
}

/// Ends this process when the one that started it does.
fn end_with_input() {
    let _ = io::stdin().read_to_end(&mut Vec::new());
    exit(0);
}

async fn demonstration() -> Result<()> {
    let folder = tempfile::tempdir()?;
    samples::write(folder.path(), FILES, ROWS)?;
    let mut cluster = Cluster::start(&env::current_exe()?, &[])?;
    for _ in 0..2 {
        cluster.add_executor(&[])?;
    }
    println!("a scheduler at {} and 2 executors, each a process", cluster.scheduler());

    // The same query in this process and on the executors.
    let local = roles::local(1);
    samples::register(&local, folder.path()).await?;
    let expected = samples::rows(&local, samples::ROWS).await?;
    let remote = roles::client(cluster.scheduler(), PARTITIONS).await?;
    samples::register(&remote, folder.path()).await?;
    let table = within(LIMIT, samples::rows(&remote, samples::ROWS)).await?;
    println!("{}", pretty_format_batches(&[table.slice(0, 8.min(table.num_rows()))])?);
    same(&table, &expected)?;
    let nulls = samples::check(&table)?;
    println!(
        "{} rows of {FILES} files are those of one process and of the scalar functions, bit for bit; {nulls} results are null\n",
        table.num_rows()
    );

    // A row at fault.
    println!("{}", samples::FAULTY);
    match within(LIMIT, samples::rows(&remote, samples::FAULTY)).await {
        Ok(_) => return Err("a row at fault is no error".into()),
        Err(error) => println!("{}\n", error.to_string().trim_end()),
    }

    // A query of some seconds, whatever the build and the machine: a second for each file.
    let start = Instant::now();
    samples::rows(&local, samples::GROUPS).await?;
    let rows = ((FILES * ROWS) as f64 / start.elapsed().as_secs_f64()) as u64;
    let folder = tempfile::tempdir()?;
    samples::write(folder.path(), FILES, rows)?;
    println!("{}\n{FILES} files of {rows} rows", samples::GROUPS);
    let local = roles::local(2);
    samples::register(&local, folder.path()).await?;
    let expected = samples::rows(&local, samples::GROUPS).await?;
    let remote = roles::client(cluster.scheduler(), PARTITIONS).await?;
    samples::register(&remote, folder.path()).await?;

    // One of the executors is killed while it runs.
    let start = Instant::now();
    let query = async move { samples::rows(&remote, samples::GROUPS).await };
    let query = cluster.kill_during(0, query).await?;
    println!("{:4.1} s: one executor has done a task, and is killed", start.elapsed().as_secs_f64());
    let groups = within(LIMIT, query).await??;
    println!("{:4.1} s: the other one has done the rest, and that task again", start.elapsed().as_secs_f64());
    same(&groups, &expected)?;
    println!("{} groups are those of one process, bit for bit", groups.num_rows());
    Ok(())
}

fn same(batch: &RecordBatch, expected: &RecordBatch) -> Result<()> {
    if batch == expected {
        Ok(())
    } else {
        Err("the cluster's result is another than that of one process".into())
    }
}
