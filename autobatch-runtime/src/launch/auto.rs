//! How [`Executor::Auto`] chooses: by the time that members of the batch take, and by what was found in
//! earlier runs of the same program.
//!
//! A trial runs members of the batch that need to be run anyway, but the loser's may cost many times
//! what the winner's would have. So it begins with the scalar code, which is never far behind, and gives
//! the machine a few members first; it is not done at all where it could not pay; and what it says is
//! kept for later runs, which try again ever more rarely.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Launch;
use crate::options::Executor;

/// The places in the batch where members are taken for trials: neighbours often take alike.
const PLACES: usize = 4;
/// How long the scalar code is measured, in how many members at most, and in what part of the batch.
const PROBE: Duration = Duration::from_micros(20);
const PROBED: usize = 512;
const PROBED_PART: usize = 16;
/// Work that is done before the machine has been set up.
const TRIVIAL: Duration = Duration::from_micros(12);
/// Work that is worth waking other threads.
const SHARED: Duration = Duration::from_micros(40);
/// Batches below this give a vector register too little to do.
const TINY: usize = 64;
/// Recursive programs of fewer members run in narrow frames, where the machine is far behind.
const NARROW: usize = 256;
const SHARING: u32 = 16;
/// Members of the machine's first and second trial.
const FIRST: usize = 4;
const SECOND: usize = 256;
/// How many times cheaper a member may become from the first trial to the second. Measured with loops and
/// recursions: 8 to 12.
const WIDENING: f64 = 12.0;
/// The part of the best cost that is a gain for certain.
const WIN: f64 = 0.9;
/// The same for recursive programs: few lanes of a nested frame run as scalar code too, which says nothing
/// about many, and a tile is wider than a trial.
const WIN_NESTED: f64 = 0.8;
/// How many times less or more than the best a member must have cost in the second trial for no third.
const CLEAR: f64 = 0.5;
const CLOSE: f64 = 3.0;
/// The part of the batch, for programs that have no other choice, to compare both machines on.
const SAMPLE: usize = 24;
/// Batches below this are too small for that.
const MEASURABLE: usize = 768;

/// What an earlier run has found.
#[derive(Clone, Copy, Debug)]
struct Record {
    executor: Executor,
    /// Nanoseconds per member on one thread.
    cost: f64,
    /// Runs since, and after how many to measure again.
    runs: u32,
    again: u32,
}

/// The program, its instance, and what a run is like: threads, lanes, instruction set, size of the batch.
type Key = (usize, &'static str, [usize; 4]);

static RECORDS: Mutex<BTreeMap<Key, Record>> = Mutex::new(BTreeMap::new());

/// Runs a phase, an executor on a range of members with so many threads, and says how long these have worked,
/// all together: to wake them takes longer than many a phase.
pub(super) trait Phase: Fn(Executor, Range<usize>, usize) -> Duration {}
impl<T: Fn(Executor, Range<usize>, usize) -> Duration> Phase for T {}

/// The members that no trial has taken: two parts, taken from at both ends, so that members of four
/// places are tried and few ranges are left.
struct Rest {
    parts: [Range<usize>; 2],
    turn: usize,
}

impl Rest {
    fn new(members: usize) -> Rest {
        Rest { parts: [0..members / 2, members / 2..members], turn: 0 }
    }

    /// Up to `len` members of the next place that has any.
    fn take(&mut self, len: usize) -> Range<usize> {
        for _ in 0..PLACES {
            let (part, front) = (&mut self.parts[self.turn % 2], self.turn % PLACES < 2);
            self.turn += 1;
            let len = len.min(part.len());
            if len > 0 {
                let cut = if front { part.start + len } else { part.end - len };
                let halves = (part.start..cut, cut..part.end);
                let (taken, left) = if front { halves } else { (halves.1, halves.0) };
                *part = left;
                return taken;
            }
        }
        0..0
    }
}

impl Launch<'_> {
    /// Whether the choice of scalar code would not show: it counts no steps, is not cancelled inside a
    /// member, and without clones it needs native stack.
    fn scalar_will_do(&self) -> bool {
        let native = self.defaults.native_depth && (self.program.recursive || !self.program.calls.is_empty());
        !native && self.options.max_steps.is_none() && self.options.cancel.is_none()
    }

    fn key(&self, instance: &'static str) -> Key {
        let lanes = self.options.lanes.or(self.defaults.lanes).unwrap_or(0);
        let size = self.members.ilog2() as usize / 2;
        let program = std::ptr::from_ref(self.program).addr();
        (program, instance, [self.threads, lanes, self.isa() as usize, size])
    }

    /// Runs the batch. Each member is run once, by whichever executor; the results are the same.
    /// Records are kept per `instance` of the program.
    pub(super) fn auto(&self, instance: Option<&'static str>, phase: &impl Phase) -> Executor {
        if !self.scalar_will_do() {
            return self.auto_machine(phase);
        }
        let key = instance.map(|instance| self.key(instance));
        let records = || RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = key.and_then(|key| records().get(&key).copied());
        let (record, again) = match known {
            Some(record) if record.runs < record.again => {
                let all = 0..self.members;
                let cost = self.timed(phase, record.executor, &[all], record.cost);
                // Other data than before: measure next time.
                let same = (0.25..4.0).contains(&(cost / record.cost)) || self.total(cost) < SHARED;
                let again = if same { record.again } else { 0 };
                (Record { runs: record.runs + 1, ..record }, again)
            }
            _ => {
                let again = known.map_or(1, |record| 2 * record.again.clamp(1, 1 << 20));
                let (executor, cost) = self.measure(again, phase);
                // Other programs may have been in the way: what changes is looked at again soon.
                let again = if known.is_none_or(|record| record.executor == executor) { again } else { 1 };
                (Record { executor, cost, runs: 0, again }, again)
            }
        };
        if let Some(key) = key {
            records().insert(key, Record { again, ..record });
        }
        record.executor
    }

    /// How long one thread takes for the batch at this cost per member.
    fn total(&self, cost: f64) -> Duration {
        Duration::from_nanos((cost * self.members as f64) as u64)
    }

    /// Runs members that are expected to cost `guess` each; what they cost, in nanoseconds on one thread.
    fn timed(&self, phase: &impl Phase, executor: Executor, ranges: &[Range<usize>], guess: f64) -> f64 {
        let members: usize = ranges.iter().map(|range| range.len()).sum();
        let shared = guess * members as f64 > SHARED.as_nanos() as f64;
        self.timed_on(phase, executor, ranges, if shared { self.threads } else { 1 })
    }

    /// The same, on so many threads.
    fn timed_on(
        &self,
        phase: &impl Phase,
        executor: Executor,
        ranges: &[Range<usize>],
        threads: usize,
    ) -> f64 {
        let members: usize = ranges.iter().map(|range| range.len()).sum();
        let ranges = ranges.iter().filter(|range| !range.is_empty());
        let time: Duration =
            ranges.map(|range| phase(executor, range.clone(), threads.min(range.len()))).sum();
        time.as_nanos() as f64 / members.max(1) as f64
    }

    /// Runs the batch, trying what may be the fastest; that, and its cost per member.
    /// The next `again` runs will do the same.
    fn measure(&self, again: u32, phase: &impl Phase) -> (Executor, f64) {
        let mut rest = Rest::new(self.members);
        let scalar = self.probe(&mut rest, phase);
        let mut best = (Executor::Scalar, scalar);
        // There a trial may cost several runs, so enough runs must be there to share it.
        let narrow = self.program.recursive && self.members < NARROW && again < SHARING;
        if self.members >= TINY && !narrow && self.total(scalar) > TRIVIAL {
            let mut machines = vec![Executor::Masked];
            if self.program.recursive {
                machines.push(Executor::ProgramCounter);
            }
            let win = if self.program.recursive { WIN_NESTED } else { WIN };
            for machine in machines {
                match self.trial(machine, best, &mut rest, phase) {
                    Some([cost, rival]) if cost < win * rival => best = (machine, cost),
                    // The other machine has more to do for each call.
                    _ => break,
                }
            }
        }
        self.timed(phase, best.0, &rest.parts, best.1);
        best
    }

    /// What a member costs in the machine, and what like ones cost in the best so far: members differ by more
    /// than executors do. `None` if the machine is certainly behind.
    fn trial(
        &self,
        machine: Executor,
        best: (Executor, f64),
        rest: &mut Rest,
        phase: &impl Phase,
    ) -> Option<[f64; 2]> {
        if self.program.recursive {
            let cost = self.timed(phase, machine, &[rest.take(FIRST)], best.1);
            if cost > WIDENING * best.1 {
                return None;
            }
        }
        let half = (self.members / 8).min(SECOND) / 2;
        let costs =
            [machine, best.0].map(|by| self.timed(phase, by, &[rest.take(half), rest.take(half)], best.1));
        let [cost, rival] = costs;
        let certain = if self.program.recursive { CLEAR } else { WIN };
        if !(certain * rival..CLOSE * rival).contains(&cost) {
            return Some(costs);
        }
        // The members that stay longest decide in a small batch, and are few in a large one.
        let more = (self.members / 8).max(SECOND).min(self.members / 4);
        if !self.program.recursive {
            return Some([machine, best.0].map(|by| self.timed(phase, by, &[rest.take(more)], rival)));
        }
        // On one thread, or the tiles would be smaller than those of the whole batch.
        Some([machine, best.0].map(|by| self.timed_on(phase, by, &[rest.take(more)], 1)))
    }

    /// Measures the scalar code on this thread.
    fn probe(&self, rest: &mut Rest, phase: &impl Phase) -> f64 {
        // The first member finds cold caches.
        let mut cost = self.timed(phase, Executor::Scalar, &[rest.take(1)], 0.0);
        let (mut size, mut members, mut time) = (1, 0, Duration::ZERO);
        while time < PROBE && members < PROBED && members * PROBED_PART < self.members {
            let (mut some, mut round) = (0, Duration::ZERO);
            for _ in 0..PLACES.min((self.members / PROBED_PART).max(1)) {
                if time + round >= PROBE {
                    break;
                }
                let range = rest.take(size);
                if !range.is_empty() {
                    some += range.len();
                    round += phase(Executor::Scalar, range, 1);
                }
            }
            if some == 0 {
                break;
            }
            // The larger the pieces, the less the clock and the launch count.
            cost = round.as_nanos() as f64 / some as f64;
            (members, time, size) = (members + some, time + round, 4 * size);
        }
        cost
    }

    /// The choice between the machines, where scalar code would show.
    fn auto_machine(&self, phase: &impl Phase) -> Executor {
        if self.members < MEASURABLE || !self.program.recursive {
            phase(Executor::Masked, 0..self.members, self.threads);
            return Executor::Masked;
        }
        let piece = (self.members / SAMPLE / PLACES).max(MEASURABLE / (3 * PLACES));
        let mut rest = Rest::new(self.members);
        let mut times = [(Duration::ZERO, Executor::Masked), (Duration::ZERO, Executor::ProgramCounter)];
        for place in 0..PLACES {
            for (time, executor) in &mut times {
                rest.turn = place;
                *time += phase(*executor, rest.take(piece), self.threads);
            }
        }
        let best = times.into_iter().min_by_key(|(time, _)| *time).map_or(Executor::Masked, |(_, best)| best);
        for range in rest.parts.into_iter().filter(|range| !range.is_empty()) {
            phase(best, range, self.threads);
        }
        best
    }
}
