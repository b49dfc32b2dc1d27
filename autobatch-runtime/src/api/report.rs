//! What happened at run time, block by block.

use std::fmt;
use std::time::Duration;

use super::engine::Engine;
use super::options::Executor;
use super::trace::Trace;
use crate::simd::Isa;

/// What happened in a run: [`Outcome::report`](crate::Outcome::report).
///
/// Blocks are counted with [`Options::report`](crate::Options::report), of some members, or of all with
/// [`Options::count_blocks`](crate::Options::count_blocks). `Display` prints a line on the run, and a table with a line for each block.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Executor, Options};
///
/// #[autobatch]
/// fn collatz(mut n: u64) -> u32 {
///     let mut steps = 0;
///     while n != 1 {
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///     }
///     steps
/// }
///
/// let options = Options::default().executor(Executor::ProgramCounter).threads(1).count_blocks(true);
/// let outcome = collatz_batched_with(&[3, 8, 27], &options)?;
/// let report = outcome.report();
/// println!("{report}");
/// assert_eq!((report.members, report.threads), (3, 1));
/// let body = report.blocks.iter().find(|block| block.label == "while").unwrap();
/// assert!(body.executions >= body.lower_bound); // no schedule of one tile needs fewer
/// assert!(report.utilisation() > 0.0 && report.utilisation() <= 1.0);
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The executor that ran most members; never `Auto`. `Scalar` also where scalar code ran on fibers.
    pub executor: Executor,
    /// What ran them.
    pub engine: Engine,
    /// Whether scalar code ran because a local's type may borrow from another local, or may do something when it is dropped:
    /// [`Program::asks`](crate::Program::asks). It helps to write the types of locals that live across a loop or call.
    pub refused_by_types: bool,
    /// The tiles that vector code ran, and how many of them were given up; 0 without [`Options::report`](crate::Options::report). The members of one that
    /// is given up run again: a limit may be over, or a member has panicked.
    pub tiles: u64,
    /// As [`Report::tiles`] says.
    pub given_up: u64,
    /// Steps of tiles, or of the machine's scheduler, each for many lanes at once; 0 without [`Options::report`](crate::Options::report).
    pub steps: u64,
    /// The instruction set of the batched code; [`Isa::Baseline`] where scalar code ran.
    pub isa: Isa,
    /// The members of the batch.
    pub members: usize,
    /// The number of threads that worked.
    pub threads: usize,
    /// The largest number of nested batched calls of any member, tail calls not counted.
    /// Counted for certain only with [`Options::count_blocks`](crate::Options::count_blocks), and never by scalar code; else it may be 0.
    pub depth: usize,
    /// The number of members that took the place of finished ones.
    pub refills: u64,
    /// How often lanes moved together, since others had left a loop, or the batch; 0 without [`Options::report`](crate::Options::report).
    pub compactions: u64,
    /// The members without a result: the length of [`Outcome::faults`](crate::Outcome::faults).
    pub faults: usize,
    /// The most bytes that calls took at a time: segments of native stack, frames, columns and stacks of lanes, on all threads. It is what
    /// [`Options::max_memory`](crate::Options::max_memory) limits. Columns and results of the batch, what the function itself allocates, and
    /// memory that a thread has kept from a run before, are not in it.
    pub memory: usize,
    /// Wall time until all members were done.
    pub time: Duration,
    /// What the time went into; empty without [`Options::report`](crate::Options::report). Counts and a recording may come behind [`Report::time`].
    pub phases: Vec<PhaseReport>,
    /// The members that ran while blocks were counted: all with [`Options::count_blocks`](crate::Options::count_blocks), some with
    /// [`Options::report`](crate::Options::report).
    pub counted: usize,
    /// One entry per block of the program, in block order; empty if they were not counted.
    pub blocks: Vec<BlockReport>,
    /// The times by which [`Executor::Auto`] has chosen, of this run and earlier ones of the function. Empty for other executors, without
    /// [`Options::report`](crate::Options::report), and where there was nothing to choose.
    pub measured: Vec<Measured>,
    /// The recording that [`Options::trace`](crate::Options::trace) asks for.
    pub trace: Option<Trace>,
}

/// Members that one executor ran: an entry of [`Report::phases`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Executor, Options, Purpose};
///
/// #[autobatch]
/// fn halvings(mut n: u64) -> u32 {
///     let mut count = 0;
///     while n > 1 {
///         n /= 2;
///         count += 1;
///     }
///     count
/// }
///
/// let options = Options::default().executor(Executor::Masked).report(true);
/// let outcome = halvings_batched_with(&[3, 8, 27], &options)?;
/// let phase = outcome.report().phases[0];
/// assert_eq!((phase.purpose, phase.executor, phase.members), (Purpose::Results, Executor::Masked, 3));
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseReport {
    /// What they ran for.
    pub purpose: Purpose,
    /// What ran them.
    pub executor: Executor,
    /// How many. Those that run again for counts or a recording are in two phases.
    pub members: usize,
    /// Wall time. While `Auto` tries executors, phases run side by side on threads of their own.
    pub time: Duration,
}

/// What members ran for: [`PhaseReport::purpose`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Their results, [`Auto`](Executor::Auto)'s trials included.
    Results,
    /// Counts of blocks.
    Counts,
    /// A recording: [`Options::trace`](crate::Options::trace).
    Trace,
}

/// The time that a member takes in one executor: an entry of [`Report::measured`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::Options;
///
/// #[autobatch]
/// fn collatz(mut n: u64) -> u32 {
///     let mut steps = 0;
///     while n != 1 {
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///     }
///     steps
/// }
///
/// let n: Vec<u64> = (1..5000).collect();
/// let outcome = collatz_batched_with(&n, &Options::default().report(true))?;
/// for one in &outcome.report().measured {
///     println!("{:?}: {:.1} ns a member", one.executor, one.nanoseconds);
/// }
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The executor.
    pub executor: Executor,
    /// Wall time per member of a whole batch, by all threads.
    pub nanoseconds: f64,
    /// Whether a whole batch has taken so long, else some members of one.
    pub whole: bool,
}

/// How one block was executed, over all tiles and threads: an entry of [`Report::blocks`].
///
/// The two sides of a fused branch are one block: see [`Program::blocks`](crate::Program::blocks).
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockReport {
    /// The function it belongs to.
    pub function: &'static str,
    /// What it is: `entry`, `while`, `after call`, …
    pub label: &'static str,
    /// Its first line in the source file.
    pub line: u32,
    /// How often it ran with at least one active lane.
    pub executions: u64,
    /// The lanes that were active in these executions, summed.
    pub active: u64,
    /// The lanes of the tile in these executions, summed: a member that is elsewhere counts as an idle
    /// lane, in both executors (Radul et al. 2020, section 5). The masked executor compacts sub-batches, so
    /// that its idle lanes cost less than this figure suggests.
    pub offered: u64,
    /// The largest number of executions that any one member needs: no schedule of one tile can
    /// execute the block less often.
    pub lower_bound: u64,
}

impl BlockReport {
    /// The part of the offered lanes that was active, from 0 to 1; 0 for a block that never ran.
    pub fn utilisation(&self) -> f64 {
        if self.offered == 0 { 0.0 } else { self.active as f64 / self.offered as f64 }
    }
}

impl Report {
    /// A report of nothing.
    #[cfg(test)]
    pub(crate) fn empty() -> Report {
        Report {
            executor: Executor::Scalar,
            engine: Engine::Scalar,
            refused_by_types: false,
            tiles: 0,
            given_up: 0,
            steps: 0,
            isa: Isa::Baseline,
            members: 0,
            threads: 1,
            depth: 0,
            refills: 0,
            compactions: 0,
            faults: 0,
            memory: 0,
            time: Duration::ZERO,
            phases: Vec::new(),
            counted: 0,
            blocks: Vec::new(),
            measured: Vec::new(),
            trace: None,
        }
    }

    /// The part of the offered lanes that was active over all blocks, from 0 to 1; 0 if blocks were not counted.
    pub fn utilisation(&self) -> f64 {
        let (active, offered) =
            self.blocks.iter().fold((0, 0), |(active, offered), b| (active + b.active, offered + b.offered));
        if offered == 0 { 0.0 } else { active as f64 / offered as f64 }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        write!(
            f,
            "{} members in {:.3?} on {} {threads}, by {}",
            self.members, self.time, self.threads, self.engine
        )?;
        if self.isa != Isa::Baseline {
            write!(f, ", {:?}", self.isa)?;
        }
        writeln!(f, " (Executor::{:?})", self.executor)?;
        if self.refused_by_types {
            writeln!(
                f,
                "no blocks: for all that is written, a local may borrow from another one, or do something when it is dropped; \
                 write the types of locals that live across a loop or call, `let p: P = …`"
            )?;
        }
        for (i, Measured { executor, nanoseconds, whole }) in self.measured.iter().enumerate() {
            let before = if i == 0 { "measured, a member: " } else { ", " };
            let trial = if *whole { "" } else { " (on some members)" };
            write!(f, "{before}{executor:?} {}{trial}", duration(*nanoseconds))?;
        }
        if !self.measured.is_empty() {
            writeln!(f)?;
        }
        let count = |count: u64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        };
        let counts = [
            count(self.steps, "step", "steps"),
            count(self.tiles, "tile", "tiles"),
            count(self.given_up, "run again for a fault in it", "run again for faults in them"),
            count(self.refills, "refill", "refills"),
            count(self.compactions, "compaction", "compactions"),
            count(self.faults as u64, "fault", "faults"),
            (self.depth > 0).then(|| format!("depth {}", self.depth)),
            (self.memory > 0).then(|| format!("{} KiB for calls", self.memory.div_ceil(1024))),
        ];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if !counts.is_empty() {
            writeln!(f, "{}", counts.join(", "))?;
        }
        for (i, phase) in self.phases.iter().enumerate() {
            let before = if i == 0 { "phases: " } else { ", " };
            let purpose = match phase.purpose {
                Purpose::Results => "",
                Purpose::Counts => " for counts",
                Purpose::Trace => " for the recording",
            };
            let members = if phase.members == 1 { "member" } else { "members" };
            write!(
                f,
                "{before}{} {members}{purpose} by {:?} in {:.3?}",
                phase.members, phase.executor, phase.time
            )?;
        }
        if !self.phases.is_empty() {
            writeln!(f)?;
        }
        if self.blocks.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nblocks, counted on {} of {} members:", self.counted, self.members)?;
        writeln!(
            f,
            "{:<20} {:<12} {:>6} {:>12} {:>12} {:>14} {:>14} {:>6}",
            "function",
            "block",
            "line",
            "executions",
            "lower bound",
            "active lanes",
            "offered lanes",
            "util."
        )?;
        for b in &self.blocks {
            writeln!(
                f,
                "{:<20} {:<12} {:>6} {:>12} {:>12} {:>14} {:>14} {:>6.3}",
                b.function,
                b.label,
                b.line,
                b.executions,
                b.lower_bound,
                b.active,
                b.offered,
                b.utilisation()
            )?;
        }
        Ok(())
    }
}

/// A time in a unit that suits it.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.1} ns"),
        n if n < 1e6 => format!("{:.1} µs", n / 1e3),
        n => format!("{:.1} ms", n / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_per_block() {
        let block = |label, active, offered| BlockReport {
            function: "fib",
            label,
            line: 7,
            executions: 3,
            active,
            offered,
            lower_bound: 2,
        };
        let mut report = Report::empty();
        assert_eq!(report.utilisation(), 0.0);
        assert_eq!(
            report.to_string(),
            "0 members in 0.000ns on 1 thread, by scalar code (Executor::Scalar)\n"
        );
        let time = |executor, nanoseconds, whole| Measured { executor, nanoseconds, whole };
        report.measured = vec![time(Executor::Scalar, 2.04, true), time(Executor::Masked, 20_400.0, false)];
        (report.steps, report.tiles, report.given_up, report.depth, report.memory) = (30, 2, 1, 4, 1025);
        (report.members, report.counted, report.faults, report.compactions) = (9, 5, 1, 2);
        let phase = |purpose, executor, members, nanoseconds| PhaseReport {
            purpose,
            executor,
            members,
            time: Duration::from_nanos(nanoseconds),
        };
        report.phases = vec![
            phase(Purpose::Results, Executor::Masked, 9, 1500),
            phase(Purpose::Counts, Executor::Masked, 1, 200),
        ];
        report.blocks = vec![block("entry", 6, 8), block("never", 0, 0)];
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[1], "measured, a member: Scalar 2.0 ns, Masked 20.4 µs (on some members)");
        let counts = "30 steps, 2 tiles, 1 run again for a fault in it, 2 compactions, 1 fault, depth 4, 2 KiB for calls";
        assert_eq!(lines[2], counts);
        assert_eq!(
            lines[3],
            "phases: 9 members by Masked in 1.500µs, 1 member for counts by Masked in 200.000ns"
        );
        assert_eq!(lines[5], "blocks, counted on 5 of 9 members:");
        let row: Vec<&str> = lines[7].split_whitespace().collect();
        assert_eq!(row, ["fib", "entry", "7", "3", "2", "6", "8", "0.750"]);
        assert_eq!(report.blocks[1].utilisation(), 0.0);
        assert_eq!(report.utilisation(), 0.75);
    }
}
