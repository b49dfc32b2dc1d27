//! Runs `cargo check`, and reads what the compiler says.

use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: PathBuf,
    /// The bytes.
    pub bytes: Range<usize>,
}

/// An error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// In one sentence, with the code.
    pub message: String,
    /// Whether the compiler gives it a number; errors of macros have none.
    pub has_code: bool,
    /// As the compiler prints it.
    pub rendered: String,
    /// Where it is; for places in macros where they are called, the innermost first.
    pub primary: Vec<Place>,
    /// Other places that are mentioned.
    pub others: Vec<Place>,
}

/// What came of a compilation.
#[derive(Clone, Debug)]
pub enum Checked {
    /// All is well.
    Clean,
    /// The errors of the packages.
    Problems(Vec<Problem>),
    /// The compiler says nothing about the code: it stopped, or something else went wrong.
    Failed(String),
    /// It took too long.
    TimedOut,
}

/// How cargo is run.
#[derive(Clone, Debug)]
pub struct Cargo {
    /// Where it is run.
    pub folder: PathBuf,
    /// Where it builds.
    pub target: PathBuf,
    /// Its arguments behind `check`.
    pub arguments: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// MiB of memory for each process.
    pub memory: u64,
}

/// How build scripts and macros are optimised.
const HOST_LEVEL: &str = "CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL";

/// The cargo that runs us, or the first one.
pub fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl Cargo {
    /// Checks the packages.
    ///
    /// # Errors
    ///
    /// If cargo can't be run.
    pub fn check(&self) -> io::Result<Checked> {
        let mut command = self.command();
        command
            .args(["check", "--quiet", "--keep-going", "--message-format=json", "--target-dir"])
            .arg(&self.target)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env("RUSTFLAGS", "--cap-lints warn -A warnings")
            // What a tree asks for its build scripts would have the attribute compiled with optimisations, again for each tree.
            .env(HOST_LEVEL, std::env::var_os(HOST_LEVEL).unwrap_or_else(|| "0".into()))
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let Some(status) = wait(&mut child, self.timeout)? else {
            return Ok(Checked::TimedOut);
        };
        let text = |handle: thread::JoinHandle<String>| handle.join().unwrap_or_default();
        let (stdout, stderr) = (text(stdout), text(stderr));
        if status.success() {
            return Ok(Checked::Clean);
        }
        let problems: Vec<Problem> = stdout.lines().filter_map(problem).collect();
        if problems.is_empty() {
            let end: Vec<&str> = stderr.lines().rev().take(40).collect();
            return Ok(Checked::Failed(end.into_iter().rev().collect::<Vec<_>>().join("\n")));
        }
        Ok(Checked::Problems(problems))
    }

    #[cfg(unix)]
    fn command(&self) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new("sh");
        let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", self.memory << 10);
        // A group of its own, so that the compiler can be stopped with cargo.
        command.arg("-c").arg(limit).arg(program()).process_group(0);
        command
    }

    #[cfg(not(unix))]
    fn command(&self) -> Command {
        Command::new(program())
    }
}

fn reader(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            let _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > timeout {
            stop(child)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Ends cargo and the compilers that it has started.
fn stop(child: &mut Child) -> io::Result<()> {
    if cfg!(unix) {
        Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
    } else {
        child.kill()?;
    }
    child.wait()?;
    Ok(())
}

/// The error in a line of cargo's output, if it tells one of the code.
fn problem(line: &str) -> Option<Problem> {
    let value: Value = serde_json::from_str(line).ok()?;
    let message = &value["message"];
    if value["reason"] != "compiler-message" || !message["level"].as_str()?.starts_with("error") {
        return None;
    }
    let text = message["message"].as_str()?;
    let spans: Vec<&Value> = spans_of(message).collect();
    if spans.is_empty() && text.starts_with("aborting due to") {
        return None;
    }
    let code = message["code"]["code"].as_str();
    let (mut primary, mut others) = (Vec::new(), Vec::new());
    for span in spans {
        let list = if span["is_primary"] == true { &mut primary } else { &mut others };
        list.extend(places(span));
    }
    for child in message["children"].as_array()? {
        others.extend(spans_of(child).flat_map(places));
    }
    Some(Problem {
        message: match code {
            Some(code) => format!("{text} [{code}]"),
            None => text.to_string(),
        },
        has_code: code.is_some(),
        rendered: message["rendered"].as_str().unwrap_or(text).to_string(),
        primary,
        others,
    })
}

fn spans_of(message: &Value) -> impl Iterator<Item = &Value> {
    message["spans"].as_array().into_iter().flatten()
}

/// A place, and the places where the macros around it are called.
fn places(span: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    let mut span = span;
    loop {
        let number = |key: &str| span[key].as_u64().map(|number| number as usize);
        let (Some(file), Some(start), Some(end)) =
            (span["file_name"].as_str(), number("byte_start"), number("byte_end"))
        else {
            return found;
        };
        found.push(Place { file: Path::new(file).to_path_buf(), bytes: start..end });
        span = &span["expansion"]["span"];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_with_the_places_of_macros() {
        let line = r#"{"reason":"compiler-message","message":{"message":"mismatched types","code":{"code":"E0308"},
            "level":"error","rendered":"error[E0308]: …","children":[],"spans":[{"file_name":"/rustc/m.rs",
            "byte_start":1,"byte_end":2,"is_primary":true,"expansion":{"span":{"file_name":"src/a.rs",
            "byte_start":10,"byte_end":20,"is_primary":false,"expansion":null}}}]}}"#;
        let found = problem(&line.replace('\n', "")).unwrap();
        assert_eq!(found.message, "mismatched types [E0308]");
        assert_eq!(found.primary[1], Place { file: "src/a.rs".into(), bytes: 10..20 });
        let warning = line.replace("\"level\":\"error\"", "\"level\":\"warning\"").replace('\n', "");
        assert_eq!(problem(&warning), None);
        assert_eq!(problem("{\"reason\":\"build-finished\"}"), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_takes_too_long_is_stopped() {
        use std::os::unix::process::CommandExt;
        let mut child = Command::new("sleep").arg("20").process_group(0).spawn().unwrap();
        assert!(wait(&mut child, Duration::from_millis(10)).unwrap().is_none());
    }
}
