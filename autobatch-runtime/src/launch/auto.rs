//! How [`Executor::Auto`] chooses: by the time that members of the batch take, and by what was found in
//! earlier runs of the same program.
//!
//! A trial runs members of the batch that need to be run anyway, but the loser's may cost many times
//! what the winner's would have. So all trials of a program together may lose a small part of its time only
//! ([`PART`]): one begins with the scalar code, which is never far behind, gives the machine a few members,
//! then more as long as that can be afforded, and otherwise waits for later runs. What was found is kept for
//! these. They try again ever more rarely, but the costs of whole runs, which are certain, are compared always.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::nested::SHARE;
use super::{Launch, Phase};
use crate::options::Executor;

/// The places in the batch where members are taken for trials: neighbours often take alike.
const PLACES: usize = 4;
/// How long the scalar code is measured, in how many members at most, and in what part of the batch.
const PROBE: Duration = Duration::from_micros(20);
const PROBED: usize = 512;
const PROBED_PART: usize = 16;
/// The part of a program's time that trials may lose, and the same for batches of few members: there it takes
/// a larger part to find out anything.
const PART: f64 = 0.05;
const PART_OF_FEW: f64 = 0.25;
const FEW: usize = 1024;
/// Nanoseconds that the machine is expected to lose until it has been set up.
const SETUP: f64 = 1e4;
/// Nanoseconds of work that are worth waking other threads.
const SHARED: f64 = 8e3;
/// Nanoseconds that are too short to be compared with earlier runs.
const SHORT: f64 = 2e4;
/// Batches below this give a vector register too little to do.
const TINY: usize = 64;
/// A part of fewer members says little, as it fills few lanes: all of them are a trial. In recursive programs it
/// says nothing.
const NARROW: usize = 256;
/// Members of the machine's first trials, which are for programs whose calls make frames, and of the next; the
/// last has an eighth of the batch.
const TRIALS: [usize; 3] = [4, 32, 256];
/// How many times cheaper a member may become from each trial to the last. Measured with loops and recursions:
/// 8 to 12 from the first.
const WIDENING: [f64; 3] = [12.0, 5.0, 3.0];
/// How many times less than the best a member must cost in the third trial for no fourth.
const CLEAR: f64 = 0.5;
/// The part of the best cost that is a gain for certain.
const WIN: f64 = 0.9;
/// The same for recursive programs: few lanes of a nested frame run as scalar code too, which says nothing
/// about many, and a tile is wider than a trial.
const WIN_NESTED: f64 = 0.8;
/// How much more a whole run is believed to cost each time that it does.
const AGING: f64 = 1.05;
/// The part of a whole run's cost that another's must be below.
const BETTER: f64 = 0.95;
/// The part of the batch, for programs that have no other choice, to compare both machines on.
const SAMPLE: usize = 24;
/// Batches below this are too small for that.
const MEASURABLE: usize = 768;

/// What earlier runs have found.
#[derive(Clone, Copy, Debug)]
struct Record {
    executor: Executor,
    /// Nanoseconds per member by executor.
    costs: [Option<Cost>; 3],
    /// Nanoseconds of all runs, and those lost in trials.
    time: f64,
    lost: f64,
    /// The trial that comes next, and how many times more than the best a member has cost in the one before.
    next: usize,
    ratio: f64,
    /// Runs since a trial, and after how many the next is due.
    runs: u32,
    again: u32,
}

/// What a member costs when an executor runs the whole batch.
#[derive(Clone, Copy, Debug)]
struct Cost {
    nanoseconds: f64,
    /// Of whole runs, the better of the last; not of a trial.
    sure: bool,
}

impl Record {
    const NEW: Record = Record {
        executor: Executor::Scalar,
        costs: [None; 3],
        time: 0.0,
        lost: 0.0,
        next: 0,
        ratio: 0.0,
        runs: 0,
        again: 0,
    };

    /// Notes what a whole run has cost. One that was slow may have been in the way of other programs.
    fn note(&mut self, executor: Executor, cost: f64) {
        let known = self.costs[index(executor)].filter(|known| known.sure);
        let nanoseconds = known.map_or(cost, |known| cost.min(AGING * known.nanoseconds));
        self.costs[index(executor)] = Some(Cost { nanoseconds, sure: true });
    }

    fn cost(&self, executor: Executor) -> Option<f64> {
        self.costs[index(executor)].map(|cost| cost.nanoseconds)
    }

    /// Takes another executor if whole runs of it have cost less.
    fn compare(&mut self) {
        for other in [Executor::Scalar, Executor::Masked, Executor::ProgramCounter] {
            if let (Some(now), Some(then)) = (self.cost(self.executor), self.cost(other))
                && then < BETTER * now
            {
                self.executor = other;
            }
        }
    }
}

fn index(executor: Executor) -> usize {
    match executor {
        Executor::ProgramCounter => 2,
        Executor::Masked => 1,
        _ => 0,
    }
}

/// The program, its instance, and what a run is like: threads, lanes, instruction set, size of the batch.
type Key = (usize, &'static str, [usize; 4]);

static RECORDS: Mutex<BTreeMap<Key, Record>> = Mutex::new(BTreeMap::new());

/// The members that no trial has taken: two parts, taken from at both ends, so that members of four
/// places are tried and few ranges are left.
struct Rest {
    parts: [Range<usize>; 2],
    turn: usize,
    /// Nanoseconds that the phases have taken.
    wall: f64,
}

impl Rest {
    fn new(members: usize) -> Rest {
        Rest { parts: [0..members / 2, members / 2..members], turn: 0, wall: 0.0 }
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

    /// Runs a phase; its time in nanoseconds.
    fn time(&mut self, phase: &Phase<'_>, executor: Executor, range: Range<usize>, threads: usize) -> f64 {
        if range.is_empty() {
            return 0.0;
        }
        let threads = threads.min(range.len());
        let wall = phase(executor, range, threads).wall.as_nanos() as f64;
        self.wall += wall;
        wall
    }
}

/// What the trials of a machine have found.
enum Trial {
    /// What a member costs in the machine, and in the best executor so far.
    Compared([f64; 2]),
    /// The machine is certainly behind.
    Behind,
    /// To find out would lose so many nanoseconds more than can be afforded.
    TooDear(f64),
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
    pub(super) fn auto(&self, instance: Option<&'static str>, phase: &Phase<'_>) -> Executor {
        if !self.scalar_will_do() {
            return self.auto_machine(phase);
        }
        let key = instance.map(|instance| self.key(instance));
        let records = || RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = key.and_then(|key| records().get(&key).copied()).unwrap_or(Record::NEW);
        let executor = match record.runs < record.again {
            true => self.repeat(&mut record, phase),
            false => self.measure(&mut record, phase),
        };
        if let Some(key) = key {
            records().insert(key, record);
        }
        executor
    }

    /// Runs the batch as before.
    fn repeat(&self, record: &mut Record, phase: &Phase<'_>) -> Executor {
        let executor = record.executor;
        let known = record.cost(executor);
        let took =
            phase(executor, 0..self.members, self.threads_for(known.unwrap_or(0.0) * self.members as f64));
        let wall = took.wall.as_nanos() as f64;
        let cost = wall / self.members as f64;
        let same = known.is_none_or(|known| wall < SHORT || (0.25..4.0).contains(&(cost / known)));
        record.note(executor, cost);
        record.time += wall;
        record.runs += 1;
        if same {
            record.compare();
        } else {
            // Other data than before: what others cost is not known any more.
            *record = Record { executor, time: record.time, lost: record.lost, ..Record::NEW };
            record.note(executor, cost);
        }
        executor
    }

    /// Threads for so many nanoseconds of work.
    fn threads_for(&self, work: f64) -> usize {
        if work > SHARED { self.threads } else { 1 }
    }

    /// Runs the batch, trying what may be the fastest as far as can be afforded.
    fn measure(&self, record: &mut Record, phase: &Phase<'_>) -> Executor {
        let members = self.members as f64;
        let before = record.executor;
        let mut rest = Rest::new(self.members);
        // Whole runs know better what members cost than a few of them.
        let scalar = record.cost(Executor::Scalar);
        let narrow = self.members < NARROW && (self.program.recursive || scalar.is_some());
        let probed = if narrow && scalar.is_some() { None } else { Some(self.probe(&mut rest, phase)) };
        let usual = scalar.or(probed.map(|cost| cost / self.threads as f64)).unwrap_or(0.0) * members;
        let part = if self.members < FEW { PART_OF_FEW } else { PART };
        let afford = part * (record.time + usual) - record.lost;
        let mut best = (Executor::Scalar, probed.unwrap_or(usual * self.threads as f64 / members));
        // How many times more the other executor takes, as far as it is known.
        let ratio = match [Executor::Masked, Executor::Scalar].map(|executor| record.cost(executor)) {
            [Some(masked), Some(scalar)] => (masked / scalar).max(scalar / masked),
            _ => record.ratio,
        };
        let mut missing = if narrow { usual * (ratio - 1.0).max(1.0) } else { SETUP } - afford;
        if self.members >= TINY && missing <= 0.0 {
            missing = 0.0;
            match narrow {
                true if before == Executor::Scalar => best.0 = Executor::Masked,
                true => {}
                false => missing = self.trials(&mut best, afford, record, &mut rest, phase),
            }
        }
        let left: usize = rest.parts.iter().map(|part| part.len()).sum();
        let begin = rest.wall;
        let threads = self.threads_for(best.1 * left as f64);
        for range in rest.parts.clone() {
            rest.time(phase, best.0, range, threads);
        }
        // What is left stands for the whole if it is most of it.
        let sure = 2 * left >= self.members;
        let cost = if sure { (rest.wall - begin) / left as f64 } else { best.1 / threads as f64 };
        let executor = best.0;
        record.executor = executor;
        record.note(executor, cost);
        record.compare();
        let cost = record.cost(record.executor).unwrap_or(cost);
        record.time += rest.wall;
        record.lost += (rest.wall - cost * members).max(0.0);
        // Other programs may have been in the way: what changes is looked at again soon.
        let again = if record.executor == before { (2 * record.again).clamp(1, 1 << 20) } else { 1 };
        let wait = (missing / (part * cost * members)).clamp(0.0, f64::from(1 << 20)).ceil() as u32;
        (record.runs, record.again) = (0, again.max(wait));
        executor
    }

    /// Tries the machines while less than `afford` nanoseconds are lost; how many more it would have taken.
    fn trials(
        &self,
        best: &mut (Executor, f64),
        afford: f64,
        record: &mut Record,
        rest: &mut Rest,
        phase: &Phase<'_>,
    ) -> f64 {
        let (machines, win) = match self.program.recursive {
            true => (&[Executor::Masked, Executor::ProgramCounter][..], WIN_NESTED),
            false => (&[Executor::Masked][..], WIN),
        };
        for &machine in machines {
            let trial = self.trial(machine, *best, afford, record, rest, phase);
            if let Trial::TooDear(missing) = trial {
                return missing;
            }
            record.next = 0;
            let Trial::Compared([cost, rival]) = trial else { break };
            let known = &mut record.costs[index(best.0)];
            known.get_or_insert(Cost { nanoseconds: rival / self.threads as f64, sure: false });
            if cost >= win * rival {
                // The other machine has more to do for each call.
                break;
            }
            *best = (machine, cost);
        }
        0.0
    }

    /// What a member costs in the machine, and what like ones cost in the best so far: members differ by more
    /// than executors do.
    fn trial(
        &self,
        machine: Executor,
        best: (Executor, f64),
        mut afford: f64,
        record: &mut Record,
        rest: &mut Rest,
        phase: &Phase<'_>,
    ) -> Trial {
        let recursive = self.program.recursive;
        let third = (self.members / 8).min(TRIALS[2]);
        // The members that stay longest decide in a small batch, and are few in a large one.
        let last = (self.members / 8).max(TRIALS[2]).min(self.members / 4);
        let sizes = [TRIALS[0], TRIALS[1].min(third), third, last];
        // The machine leaves threads idle that it has no full strips for.
        let idle = self.threads as f64 / self.threads.min(self.members.div_ceil(SHARE)) as f64;
        let mut trial = record.next.max(if recursive { 0 } else { 2 });
        if record.next == 0 {
            record.ratio = 0.0;
        }
        loop {
            let missing = (record.ratio - 1.0) * best.1 * sizes[trial] as f64 - afford;
            if missing > 0.0 {
                record.next = trial;
                return Trial::TooDear(missing);
            }
            let [cost, rival] = self.pair([machine, best.0], sizes[trial], best.1, rest, phase);
            // Few members say little about what others cost.
            let rival = if trial < 2 { best.1 } else { rival };
            afford -= (cost - rival).max(0.0) * sizes[trial] as f64;
            let cost = cost * idle;
            record.ratio = cost / rival;
            let certain = if recursive { CLEAR } else { WIN };
            match trial {
                0 | 1 if record.ratio > WIDENING[trial] => return Trial::Behind,
                2 if record.ratio < certain || record.ratio >= WIDENING[2] => {
                    return Trial::Compared([cost, rival]);
                }
                3 => return Trial::Compared([cost, rival]),
                _ => trial += 1,
            }
        }
    }

    /// Runs `len` members each by two executors, side by side if there are threads; what a member costs, in
    /// nanoseconds on one thread. They are expected to cost `guess`.
    fn pair(
        &self,
        executors: [Executor; 2],
        len: usize,
        guess: f64,
        rest: &mut Rest,
        phase: &Phase<'_>,
    ) -> [f64; 2] {
        let threads = self.threads_for(guess * (2 * len) as f64);
        let mut ranges = || [rest.take(len - len / 2), rest.take(len / 2)];
        let [first, second] = [ranges(), ranges()];
        let run = |executor, ranges: [Range<usize>; 2]| {
            let members: usize = ranges.iter().map(|range| range.len()).sum();
            let ranges = ranges.into_iter().filter(|range| !range.is_empty());
            let wall: Duration = ranges.map(|range| phase(executor, range, 1).wall).sum();
            let wall = wall.as_nanos() as f64;
            (wall, wall / members.max(1) as f64)
        };
        let (a, b) = (|| run(executors[0], first), || run(executors[1], second));
        let (a, b, wall) = match threads {
            1 => {
                let (a, b) = (a(), b());
                (a.1, b.1, a.0 + b.0)
            }
            _ => {
                let (a, b) = rayon::join(a, b);
                (a.1, b.1, a.0.max(b.0))
            }
        };
        rest.wall += wall;
        [a, b]
    }

    /// Measures the scalar code on this thread, in nanoseconds per member.
    fn probe(&self, rest: &mut Rest, phase: &Phase<'_>) -> f64 {
        // The first member finds cold caches.
        let range = rest.take(1);
        let mut cost = rest.time(phase, Executor::Scalar, range, 1);
        let (mut size, mut members, mut time) = (1, 0, 0.0);
        let limit = PROBE.as_nanos() as f64;
        while time < limit && members < PROBED && members * PROBED_PART < self.members {
            let (mut some, mut round) = (0, 0.0);
            for _ in 0..PLACES.min((self.members / PROBED_PART).max(1)) {
                if time + round >= limit {
                    break;
                }
                let range = rest.take(size);
                some += range.len();
                round += rest.time(phase, Executor::Scalar, range, 1);
            }
            if some == 0 {
                break;
            }
            // The larger the pieces, the less the clock and the launch count.
            cost = round / some as f64;
            (members, time, size) = (members + some, time + round, 4 * size);
        }
        cost
    }

    /// The choice between the machines, where scalar code would show.
    fn auto_machine(&self, phase: &Phase<'_>) -> Executor {
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
                *time += phase(*executor, rest.take(piece), self.threads).work;
            }
        }
        let best = times.into_iter().min_by_key(|(time, _)| *time).map_or(Executor::Masked, |(_, best)| best);
        for range in rest.parts.into_iter().filter(|range| !range.is_empty()) {
            phase(best, range, self.threads);
        }
        best
    }
}
