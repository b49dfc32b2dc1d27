//! Puts the attribute on every function of a source tree, and finds out which of them compile.
//!
//! In: a package, a workspace, a folder of loose files, or one file. Out: a [`Verdict`] for each function that has a
//! parameter to batch over.
//!
//! The tree is copied ([`copy`]); its functions are found ([`candidates`]) and marked in the text
//! ([`insertion`]); the copy is compiled ([`cargo`]); each error is blamed on a function ([`blame`]), which loses its
//! attribute; and so on until the copy compiles ([`rounds`]). [`report`] prints the verdicts.
//!
//! ```text
//! pub fn half(x: f64) -> f64 {            #[::autobatch::autobatch] pub fn half(x: f64) -> f64 {
//!     x / 2.0                      →          x / 2.0
//! }                                       }
//! ```
//!
//! **Invariant:** an insertion has no line breaks, so that lines of the copy are lines of the tree.
//!
//! **Invariant:** the copy compiles without attributes, so that every error is the attribute's.

pub mod blame;
pub mod candidates;
pub mod cargo;
pub mod copy;
pub mod insertion;
pub mod report;
pub mod rounds;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// The package, workspace, folder or file.
    pub path: PathBuf,
    /// The attribute is `#[autobatch(strict)]`.
    pub strict: bool,
    /// A function that has only shared parameters gets `#[each]` on its first reference; else it is passed over.
    pub each: bool,
    /// The copy stays.
    pub keep: bool,
    /// How long one compilation may take.
    pub timeout: Duration,
    /// How much memory one process of the compiler may have, in MiB.
    pub memory: u64,
    /// The checkout of autobatch.
    pub autobatch: PathBuf,
    /// What else cargo gets, such as `--all-features`.
    pub cargo: Vec<String>,
}

impl Request {
    /// Defaults for a path.
    pub fn new(path: &Path) -> Request {
        Request {
            path: path.to_path_buf(),
            strict: false,
            each: false,
            keep: false,
            timeout: Duration::from_secs(300),
            memory: 10 << 10,
            autobatch: copy::workspace(),
            cargo: Vec::new(),
        }
    }
}

/// What became of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It compiles. With `strict` it is a block program.
    Batched,
    /// The attribute says that the function has no batched form.
    Refused(String),
    /// With `strict` only: it would run its scalar code, for these reasons.
    Scalar(Vec<String>),
    /// An error of rustc's that is not there without the attribute.
    Broken {
        /// The error in one line.
        message: String,
        /// The error as rustc prints it.
        rendered: String,
    },
    /// It stands in an `impl` block of a trait with another function that does not compile.
    Unjudged(String),
}

/// A function and what became of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The file, relative to the tree.
    pub file: String,
    /// The line of the function's name.
    pub line: usize,
    /// `name`, or `Type::name`.
    pub name: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a tree.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The tree.
    pub tree: String,
    /// The functions in the order of the files.
    pub functions: Vec<Judged>,
    /// Functions in code that is not compiled: other platforms, features that are off, files of no module.
    pub absent: usize,
    /// Files that do not compile without the attribute, with the error.
    pub left_out: Vec<(String, String)>,
    /// How often the tree was compiled.
    pub compilations: usize,
    /// Where the copy is, if it was kept.
    pub copy: Option<PathBuf>,
}

/// Annotates a tree. `say` is told how far it is.
///
/// # Errors
///
/// If files can't be read or written, cargo can't be run, or nothing of the tree compiles without the attribute.
pub fn annotate(request: &Request, say: &mut dyn FnMut(&str)) -> io::Result<Outcome> {
    let mut copy = copy::Copy::of(request)?;
    let result = rounds::run(&mut copy, request, say);
    match (&result, request.keep) {
        (_, false) => copy.remove(),
        (Err(_), true) => say(&format!("the copy is {}", copy.folder().display())),
        (Ok(_), true) => {}
    }
    result
}
