//! What limits, reports and faults cost, and who is lost when a run is ended: the tables “Limits and reports” of docs/measurements.md.
//! Arguments are parts of the names of the rows to measure; `costs`, `states`, `endings`, `panics`, `depths` choose the tables.

mod costs;
mod depths;
mod endings;
mod panics;
mod programs;
mod sampler;

use std::time::{Duration, Instant};

/// What is measured.
struct Wanted(Vec<String>);

impl Wanted {
    /// Whether a table is.
    fn table(&self, name: &str) -> bool {
        let tables = ["costs", "states", "endings", "panics", "depths"];
        let mut named = self.0.iter().filter(|word| tables.contains(&word.as_str())).peekable();
        named.peek().is_none() || named.any(|word| word == name)
    }

    /// Whether a row of a table is.
    fn row(&self, table: &str, name: &str) -> bool {
        let rows: Vec<_> = self.0.iter().filter(|word| !self.table_names().contains(word)).collect();
        self.table(table) && (rows.is_empty() || rows.iter().any(|word| name.contains(word.as_str())))
    }

    fn table_names(&self) -> Vec<&String> {
        let tables = ["costs", "states", "endings", "panics", "depths"];
        self.0.iter().filter(|word| tables.contains(&word.as_str())).collect()
    }
}

/// Nanoseconds of a call.
fn time(call: &mut dyn FnMut()) -> f64 {
    let begin = Instant::now();
    call();
    begin.elapsed().as_nanos() as f64
}

/// The least time of each of some calls, in nanoseconds. They are called in turns, so that a slow moment of the machine meets all of them.
fn best(calls: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    const FOR: Duration = Duration::from_millis(400);
    const ROUNDS: usize = 9;
    // `Auto` finds out what is fast.
    let first: Vec<f64> = calls.iter_mut().map(|call| time(call).min(time(call)).min(time(call))).collect();
    let longest = first.iter().copied().fold(1.0, f64::max);
    let rounds = ((FOR.as_nanos() as f64 / longest) as usize).clamp(ROUNDS, 2000);
    let mut least = vec![f64::INFINITY; calls.len()];
    for _ in 0..rounds {
        for (least, call) in least.iter_mut().zip(calls.iter_mut()) {
            *least = least.min(time(call));
        }
    }
    least
}

fn main() {
    let wanted = Wanted(std::env::args().skip(1).collect());
    if wanted.table("costs") {
        costs::print(&wanted, "costs", &mut programs::plain());
    }
    if wanted.table("states") {
        costs::print(&wanted, "states", &mut programs::with_states());
    }
    if wanted.table("endings") {
        endings::print(&wanted);
    }
    if wanted.table("panics") {
        panics::print(&wanted);
    }
    if wanted.table("depths") {
        depths::print(&wanted);
    }
}
