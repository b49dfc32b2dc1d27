//! A scheduler and executors as processes of this machine. They end with the value that stands for them, and with the process that started them.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::roles::READY;

/// The argument with which a role ends as soon as its standard input does.
pub const UNTIL_INPUT_ENDS: &str = "--until-input-ends";

/// The argument of a scheduler or an executor that does not register the functions.
pub const WITHOUT_FUNCTIONS: &str = "--without-functions";

/// The processes. Executors are dropped first.
pub struct Cluster {
    executors: Vec<Executor>,
    scheduler: Process,
    program: PathBuf,
}

impl Cluster {
    /// Starts a scheduler, with these arguments besides; `program` is the example's binary.
    pub fn start(program: &Path, arguments: &[&str]) -> crate::Result<Cluster> {
        let arguments = [&["scheduler", "127.0.0.1:0"], arguments].concat();
        let scheduler = Process::start(program, &arguments)?;
        Ok(Cluster { executors: Vec::new(), scheduler, program: program.to_owned() })
    }

    /// Starts an executor, with these arguments besides.
    pub fn add_executor(&mut self, arguments: &[&str]) -> crate::Result<()> {
        let folder = tempfile::tempdir()?;
        let scheduler = self.scheduler.address.to_string();
        let own = folder.path().to_str().ok_or("the temporary folder has a name that is no text")?;
        let arguments = [&["executor", scheduler.as_str(), own], arguments].concat();
        // Another program may take a port in the moment between its choice and its use.
        let start = || Process::start(&self.program, &arguments);
        let process = start().or_else(|_| start())?;
        self.executors.push(Executor { process, folder });
        Ok(())
    }

    /// The scheduler's address.
    pub fn scheduler(&self) -> SocketAddr {
        self.scheduler.address
    }

    /// Runs a query, and kills an executor (`SIGKILL`) as soon as that has done a task of it. The query goes on in the handle.
    ///
    /// The executor has no time for a last word, and its results go with it, as if the machine were lost. The query has to have a `GROUP BY`.
    pub async fn kill_during<T>(
        &mut self,
        executor: usize,
        query: impl Future<Output = T> + Send + 'static,
    ) -> crate::Result<JoinHandle<T>>
    where
        T: Send + 'static,
    {
        let folder = self.executors[executor].folder.path().to_owned();
        let before = done_tasks(&folder);
        let query = tokio::spawn(query);
        let start = Instant::now();
        while done_tasks(&folder).is_subset(&before) {
            if query.is_finished() || start.elapsed() > Duration::from_secs(60) {
                return Err("the query ended, or waits, without a task that the executor has done".into());
            }
            sleep(Duration::from_millis(10)).await;
        }
        drop(self.executors.remove(executor));
        if query.is_finished() {
            return Err("the query ended before the executor was killed".into());
        }
        Ok(query)
    }

    /// How many executors still run.
    pub fn running(&mut self) -> usize {
        self.executors
            .iter_mut()
            .filter_map(|executor| executor.process.child.try_wait().ok())
            .filter(Option::is_none)
            .count()
    }
}

/// A file for each task that an executor has done: an index of the groups, which Ballista writes last.
fn done_tasks(folder: &Path) -> HashSet<PathBuf> {
    // What can't be read any more was deleted in between, as results of earlier queries are.
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.map(|entry| entry.path()).partition(|path| path.is_dir());
    let indices = files.into_iter().filter(|file| file.extension().is_some_and(|name| name == "index"));
    indices.chain(folders.iter().flat_map(|folder| done_tasks(folder))).collect()
}

/// The process is dropped before its folder.
struct Executor {
    process: Process,
    folder: TempDir,
}

/// A role that runs, until it is dropped.
struct Process {
    child: Child,
    address: SocketAddr,
    /// The system closes it if this process is killed, and so ends the child.
    _input: Option<ChildStdin>,
}

impl Process {
    /// Starts a role, and waits until it is ready.
    fn start(program: &Path, arguments: &[&str]) -> crate::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments).arg(UNTIL_INPUT_ENDS).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut process = Process { child, address: ([0; 4], 0).into(), _input: input };

        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in
                output.into_iter().flat_map(|output| BufReader::new(output).lines()).map_while(Result::ok)
            {
                // Nobody listens after the first line. The rest is read so that the child never waits.
                let _ = sender.send(line);
            }
        });
        let role = arguments[0];
        let line = lines.recv_timeout(Duration::from_secs(30)).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("the {role} is not ready after 30 seconds"),
            RecvTimeoutError::Disconnected => format!("the {role} ended before it was ready"),
        })?;
        let address = line.strip_prefix(READY).and_then(|address| address.parse().ok());
        process.address = address.ok_or_else(|| format!("the {role} said: {line}"))?;
        Ok(process)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
