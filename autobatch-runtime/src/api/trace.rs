//! A recording of the machine's steps, and its drawing as a page.
//!
//! In: the blocks that members were in, step by step. Out: one page without anything outside of it, `trace.html` with the recording in it.
//!
//! **Invariant:** a recording has at most 256 members (`Options::trace`) and [`STEPS`] steps, so the page is small whatever the batch.

use std::fmt::Write;

use super::listing::{escaped, lines};
use super::options::Executor;
use super::program::Program;

/// The most steps of a recording.
pub(crate) const STEPS: usize = 2000;

/// What the machine did with some members, step by step: [`Outcome::trace`](crate::Outcome::trace).
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Executor, Options};
///
/// #[autobatch]
/// fn fib(n: u64) -> u64 {
///     if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
/// }
///
/// let options = Options::default().executor(Executor::ProgramCounter).lanes(4).trace(8);
/// let outcome = fib_batched_with(&[5, 3, 1, 3, 4, 4, 1, 1], &options)?;
/// let trace = outcome.trace().expect("it has blocks");
/// assert_eq!(trace.steps[0].block, 0); // an index of `Program::blocks`
/// assert_eq!(trace.steps[0].visits.len(), 4);
///
/// let page = trace.to_html(); // for a browser: `std::fs::write("trace.html", page)`
/// assert!(page.contains("fib") && !page.contains("http"));
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trace {
    /// The members that were recorded, in order.
    pub members: Vec<usize>,
    /// The steps, in order.
    pub steps: Vec<TraceStep>,
    /// Whether that is all steps until the members were done.
    pub complete: bool,
    /// The executor that ran them.
    pub executor: Executor,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) program: &'static Program,
}

/// A step of the machine: one block, for the members that wait there.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TraceStep {
    /// An index of [`Program::blocks`](crate::Program::blocks).
    pub block: usize,
    /// The recorded members that were in it.
    pub visits: Vec<Visit>,
    /// The lanes that were active.
    pub active: usize,
    /// The lanes of the tile.
    pub lanes: usize,
}

/// A member in a block.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Visit {
    /// The member.
    pub member: usize,
    /// How many batched calls it was in.
    pub depth: usize,
}

impl Visit {
    pub(crate) fn new(member: usize, depth: usize) -> Visit {
        Visit { member, depth }
    }
}

impl TraceStep {
    pub(crate) fn new(block: usize, visits: Vec<Visit>, active: usize, lanes: usize) -> TraceStep {
        TraceStep { block, visits, active, lanes }
    }
}

impl Trace {
    /// The part of the lanes that was active, from 0 to 1.
    pub fn utilisation(&self) -> f64 {
        let sum = |of: fn(&TraceStep) -> usize| self.steps.iter().map(of).sum::<usize>() as f64;
        let lanes = sum(|step| step.lanes);
        if lanes == 0.0 { 0.0 } else { sum(|step| step.active) / lanes }
    }

    /// A page for a browser: steps from left to right, members from top to bottom, a colour for each block, the utilisation below, and the
    /// blocks beside it. It needs no network.
    pub fn to_html(&self) -> String {
        let title = format!(
            "{}: {} members, {} steps{}, {:?}, {:.0} % of the lanes active",
            self.program.name,
            self.members.len(),
            self.steps.len(),
            if self.complete { "" } else { " (the first)" },
            self.executor,
            100.0 * self.utilisation()
        );
        include_str!("trace.html")
            .replace("<!--TITLE-->", &escaped(&title))
            .replace("<!--SOURCE-->", &self.source())
            .replace("/*DATA*/", &self.data())
    }

    /// The recording in Chrome's trace format, for <https://ui.perfetto.dev>: a track for each member, with the blocks that it was in, and one for
    /// the number of active lanes. A step takes a microsecond there.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::{Executor, Options};
    /// # #[autobatch]
    /// # fn fib(n: u64) -> u64 {
    /// #     if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
    /// # }
    /// let options = Options::default().executor(Executor::ProgramCounter).trace(2);
    /// let outcome = fib_batched_with(&[5, 3], &options)?;
    /// let json = outcome.trace().expect("it has blocks").to_chrome_json(); // `std::fs::write("trace.json", json)`
    /// assert!(json.starts_with("{\"traceEvents\":["));
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn to_chrome_json(&self) -> String {
        // Perfetto shows a thread's number behind its name, has no thread 0, and calls the thread with the number of its process the main one.
        let process = 1000;
        let common = |row: usize| format!("\"pid\":{process},\"tid\":{}", row + 1);
        let meta = |kind: &str, of: &str, value: &str| {
            format!("{{\"ph\":\"M\",\"name\":\"{kind}\",{of},\"args\":{{{value}}}}}")
        };
        let name = format!("\"name\":\"{}, {:?}\"", escaped(self.program.name), self.executor);
        let mut events = vec![meta("process_name", &format!("\"pid\":{process}"), &name)];
        for (row, member) in self.members.iter().enumerate() {
            let name = format!("\"name\":\"member {member}, row\"");
            events.push(meta("thread_name", &common(row), &name));
        }
        // What a member does in neighbouring steps is one event.
        let mut open: Vec<Option<(usize, usize, usize)>> = vec![None; self.members.len()];
        let mut close = |row: usize, (block, depth, begin): (usize, usize, usize), end: usize| {
            events.push(format!(
                "{{\"ph\":\"X\",\"name\":\"{}\",\"ts\":{begin},\"dur\":{},{},\"args\":{{\"depth\":{depth}}}}}",
                self.label(block),
                end - begin,
                common(row)
            ));
        };
        for (time, step) in self.steps.iter().enumerate() {
            for (row, member) in self.members.iter().enumerate() {
                let visit = step.visits.iter().find(|visit| visit.member == *member);
                let now = visit.map(|visit| (step.block, visit.depth));
                let before = open[row].map(|(block, depth, _)| (block, depth));
                if now != before {
                    open[row].take().into_iter().for_each(|event| close(row, event, time));
                    open[row] = now.map(|(block, depth)| (block, depth, time));
                }
            }
        }
        for (row, event) in open.into_iter().enumerate() {
            event.into_iter().for_each(|event| close(row, event, self.steps.len()));
        }
        for (time, step) in self.steps.iter().enumerate() {
            events.push(format!(
                "{{\"ph\":\"C\",\"name\":\"active lanes\",\"ts\":{time},\"pid\":{process},\"args\":{{\"active\":{},\"idle\":{}}}}}",
                step.active,
                step.lanes.saturating_sub(step.active)
            ));
        }
        format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
    }

    /// What a block is called, such that it means the same between quotation marks.
    fn label(&self, block: usize) -> String {
        let block = &self.program.blocks[block];
        let function = self.program.functions[block.function as usize].name;
        escaped(&format!("{function}, line {}: {}", block.line, block.label))
    }

    /// The text of the program, each line with its block.
    fn source(&self) -> String {
        let mut html = String::new();
        for line in lines(self.program.text) {
            let of = line.region.map(|block| format!(" data-block=\"{block}\"")).unwrap_or_default();
            let _ = write!(html, "<div{of}>{}&#8203;</div>", escaped(line.text));
        }
        html
    }

    /// `{"members":[…],"labels":[…],"steps":[[block,active,lanes,[row,depth,…]],…]}`
    fn data(&self) -> String {
        let mut data = String::from("{\"members\":[");
        let list = |numbers: &mut dyn Iterator<Item = usize>| {
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
        };
        data.push_str(&list(&mut self.members.iter().copied()));
        data.push_str("],\"labels\":[");
        let labels = (0..self.program.blocks.len()).map(|block| format!("\"{}\"", self.label(block)));
        data.push_str(&labels.collect::<Vec<_>>().join(","));
        data.push_str("],\"steps\":[");
        for (nth, step) in self.steps.iter().enumerate() {
            let row = |member| self.members.binary_search(&member).unwrap_or(0);
            let mut visits = step.visits.iter().flat_map(|visit| [row(visit.member), visit.depth]);
            let before = if nth == 0 { "" } else { "," };
            let _ = write!(
                data,
                "{before}[{},{},{},[{}]]",
                step.block,
                step.active,
                step.lanes,
                list(&mut visits)
            );
        }
        data.push_str("]}");
        data
    }
}
