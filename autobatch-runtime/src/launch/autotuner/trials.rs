//! Trials: which executors are tried, on how many members, and when a trial decides.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::launcher::Launch;
use super::super::phase::{Phase, members_in};
use super::super::vector::SHARE;
use super::race::{ENOUGH, PLACES, Race, Rest};
use super::record::{EXECUTORS, Progress, Record, index};
use crate::api::options::Executor;
use crate::api::report::Measured;
use crate::batch::Watch;

/// How long the scalar code is measured, in how many members at most, and in what part of the batch; the first where
/// other threads wait for it.
const PROBE: [Duration; 2] = [Duration::from_micros(8), Duration::from_micros(20)];
const PROBED: usize = 512;
const PROBED_PART: usize = 16;
/// The part of a program's time that trials may lose, and the same for batches of few members: there it takes
/// a larger part to find out anything.
const PART: f64 = 0.05;
const PART_OF_FEW: f64 = 0.25;
const FEW: usize = 1024;
/// Nanoseconds that a machine is expected to lose until it has been set up: frames, and a wavefront.
const SETUP: [f64; 2] = [1e4, 1e6];
/// Nanoseconds more than expected that the first whole run of a machine may take for the memory of lanes that no trial has had.
const COLD_LANES: f64 = 1e6;
/// How many times more than the rival a member of a recursive program is expected to cost in wide frames.
const UNKNOWN: f64 = 2.5;
/// Nanoseconds of work that are worth waking other threads.
const SHARED: f64 = 8e3;
/// Nanoseconds that another thread runs at a time while a trial lasts, at first, and how many times more later.
const PIECE: f64 = 5e3;
/// Nanoseconds that are too short to be compared with earlier runs.
const SHORT: f64 = 2e4;
/// Batches below this give a vector register too little to do.
const TINY: usize = 64;
/// A part of fewer members says little, as it fills few lanes: all of them are a trial. In recursive programs it
/// says nothing.
const NARROW: usize = 256;
/// Members of a machine's first trials, which find cold code and memory and so decide nothing, and of the first that
/// do: for programs whose calls make frames, and for others. Each next trial has [`GROWTH`] times as many, the last
/// an eighth of the batch, but not less than [`LAST`] where that can be had.
const COLD: [usize; 2] = [2, 16];
const FIRST: [usize; 2] = [4, 32];
const GROWTH: usize = 4;
const LAST: usize = 256;
/// Below so many members, how many times more than the rival one may cost for a next trial. Measured with
/// loops and recursions: 8 to 12 become 1 from the first to the last.
const WIDENING: [(usize, f64); 5] = [(16, 12.0), (64, 7.0), (256, 5.0), (1024, 3.0), (usize::MAX, 2.0)];
/// How many times less than the rival a member must cost for a trial with few to be the last, or in a recursive program.
const CLEAR: f64 = 0.5;
/// The part of its cost before that a rival's must be to be no longer that of cold memory.
const SETTLED: f64 = 0.5;
/// The part of the rival's cost that is a gain for certain.
const WIN: f64 = 0.9;
/// The same for recursive programs: few lanes of a frame run as scalar code too, which says nothing
/// about many, and a tile is wider than a trial.
const WIN_RECURSIVE: f64 = 0.8;
/// How many times more than the rival a member may cost in the last trial for a whole run to decide; the same where
/// that trial has many members.
const NEAR: [f64; 2] = [1.1, 1.0];
/// The same for recursive programs: a frame that is as wide as the batch may cost less than that of a trial in a way that no trial shows.
const NEAR_RECURSIVE: f64 = 2.0;
/// The same for scalar code that has not run a whole batch yet: few members have said what it costs.
const NEAR_SCALAR: f64 = 1.6;
/// How many times more than the rival a member costs in frames where it won't cost less as a wavefront, which has more to do
/// for each call.
const HOPELESS: f64 = 1.2;
/// How many times the bound for a next trial is hopeless too.
const FAR: f64 = 2.0;
/// How many times faster than scalar code a machine must be to take its place in a run that may be ended from outside: there members that wait
/// for others too long go on by program counters, which takes longer.
const IN_TURNS: f64 = 1.5;
/// The part of the batch, for programs that have no other choice, to compare both machines on.
const SAMPLE: usize = 24;
/// Batches below this are too small for that.
const MEASURABLE: usize = 768;

/// The program, its instance, and what a run is like: threads, lanes, instruction set, size of the batch, schedule;
/// whether it counts blocks and refills, as the machines have more or less to do then.
type Key = (usize, &'static str, [usize; 5], [bool; 2]);

static RECORDS: Mutex<BTreeMap<Key, Record>> = Mutex::new(BTreeMap::new());

/// What is known of the machines where scalar code would show: nanoseconds per member, the runs until the slower one has another, and how
/// many they were before.
#[derive(Clone, Copy, Default)]
struct Choice {
    costs: [Option<f64>; 2],
    runs: u32,
    again: u32,
}

impl Choice {
    /// The machine that is next.
    fn machine(&mut self) -> usize {
        let [masked, counter] = self.costs.map(|cost| cost.unwrap_or(0.0));
        let best = usize::from(counter < masked);
        match (self.costs, self.runs) {
            ([None, _], _) => 0,
            ([_, None], _) => 1,
            (_, 0) => {
                self.again = (2 * self.again).clamp(64, 1 << 20);
                self.runs = self.again;
                1 - best
            }
            _ => {
                self.runs -= 1;
                best
            }
        }
    }
}

static CHOICES: Mutex<BTreeMap<Key, Choice>> = Mutex::new(BTreeMap::new());

impl Launch<'_> {
    fn key(&self, instance: &'static str) -> Key {
        let lanes = self.options.lanes.or(self.defaults.lanes).unwrap_or(0);
        let size = self.members.ilog2() as usize / 2;
        let schedule = self.options.schedule.map_or(0, |schedule| schedule as usize + 1);
        let program = std::ptr::from_ref(self.program).addr();
        let like = [self.threads, lanes, self.isa() as usize, size, schedule];
        (program, instance, like, [self.options.count_blocks, self.options.no_refill])
    }

    /// Runs the batch. Each member is run once, by whichever executor; the results are the same.
    /// Records are kept per `instance` of the program.
    pub(in crate::launch) fn autotune(&self, instance: Option<&'static str>, phase: &Phase<'_>) -> Executor {
        if !self.scalar_will_do() {
            return self.autotune_machine(instance, phase);
        }
        let key = instance.map(|instance| self.key(instance));
        let records = || RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = key.and_then(|key| records().get(&key).copied()).unwrap_or(Record::NEW);
        if self.ends() {
            // A trial might take all the time. Where members wait for no others the machine is the better guess.
            let waits = !self.program.calls.is_empty();
            if !waits && !record.is_scalar_for_certain() {
                return self.autotune_machine(instance, phase);
            }
            let executor = record.ahead_of_scalar(IN_TURNS);
            phase(executor, self.all(), self.threads);
            return executor;
        }
        let executor = match record.runs < record.again {
            true => self.repeat(&mut record, phase),
            false => self.measure(&mut record, phase),
        };
        if let Some(key) = key {
            records().insert(key, record);
        }
        executor
    }

    /// The times by which an executor has been chosen, now and in earlier runs.
    pub(in crate::launch) fn measured(&self, instance: &'static str) -> Vec<Measured> {
        let key = self.key(instance);
        if !self.scalar_will_do() {
            let choices = CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
            let costs = choices.get(&key).map_or([None; 2], |choice| choice.costs);
            let machines = [Executor::Masked, Executor::ProgramCounter].into_iter().zip(costs);
            let of_machine = |(executor, cost): (_, Option<f64>)| {
                Some(Measured { executor, nanoseconds: cost?, whole: true })
            };
            return machines.filter_map(of_machine).collect();
        }
        let records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        records.get(&key).map_or(Vec::new(), Record::measured)
    }

    /// Runs the batch as before.
    fn repeat(&self, record: &mut Record, phase: &Phase<'_>) -> Executor {
        let executor = record.executor;
        let known = record.cost(executor);
        let took = phase(executor, self.all(), self.threads_for(known.unwrap_or(0.0) * self.members as f64));
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
        let (members, threads) = (self.members as f64, self.threads as f64);
        let before = record.executor;
        let mut rest = Rest::new(self.begun..self.members);
        // Whole runs know better what members cost than a few of them.
        let known = record.cost(before);
        let narrow = self.members < NARROW && (self.program.recursive || known.is_some());
        let mut best = (before, known.map_or(0.0, |cost| cost * threads));
        if known.is_none() {
            best.1 = self.probe(&mut rest, phase);
        }
        let usual = best.1 / threads * members;
        let part = if self.members < FEW { PART_OF_FEW } else { PART };
        let budget = part * (record.time + usual) - record.lost;
        let mut afford = budget;
        let race = Race::new(rest, best.0);
        let missing = match () {
            _ if self.members < TINY => None,
            // Neither members of a trial nor threads that help meanwhile: small batches would lose more by that.
            _ if record.is_untried(Executor::Masked) && afford < SETUP[0] => Some(SETUP[0] - afford),
            _ if narrow => self.other(&mut best, usual, afford, record),
            _ => self.race(&race, &mut best, &mut afford, record, phase),
        };
        let (mut rest, left, since) = race.end(best.0);
        let used = self.threads_for(best.1 * members_in(&rest.parts) as f64);
        let parts = rest.parts.clone();
        let wall = since + rest.time(phase, best.0, parts, used);
        let executor = best.0;
        record.executor = executor;
        let expected = best.1 / used as f64;
        let more = wall - expected * left as f64;
        let is_first = executor != before && executor != Executor::Scalar && !record.is_sure(executor);
        let is_cold = is_first && !narrow && (0.0..COLD_LANES).contains(&more);
        // What is left stands for the whole if it is most of it.
        match 2 * left >= self.members && !is_cold {
            true => record.note(executor, wall / left as f64),
            false => record.guess(executor, expected),
        }
        if let (true, Some(now), Some(then)) =
            (executor != before, record.cost(executor), record.cost(before))
        {
            let trial = &mut record.trials[index(executor)];
            if trial.ratio > 0.0 {
                trial.bias = (trial.bias * now / then / trial.ratio).max(1.0);
            }
        }
        record.compare();
        let cost = record.cost(record.executor).unwrap_or(usual / members);
        record.time += rest.wall;
        // A run may have been slow by what other programs did. What trials have lost is less than twice what they have cost more than the
        // rival; a whole run by another executor may have lost all.
        let most = if executor == before { 2.0 * (budget - afford) } else { f64::INFINITY };
        record.lost += (rest.wall - cost * members).clamp(0.0, most.max(0.0));
        let wait =
            |missing: f64| (missing / (part * cost * members)).clamp(1.0, f64::from(1 << 20)).ceil() as u32;
        let changed = record.executor != before;
        let again = match missing {
            // The first search goes on as soon as that can be afforded, until it has come to an end.
            Some(missing) if !record.searched && !changed => wait(missing),
            // Other programs may have been in the way: what changes is looked at again soon.
            _ if changed => 1,
            missing => (2 * record.again).clamp(1, 1 << 20).max(missing.map_or(1, wait)),
        };
        record.searched |= missing.is_none() || changed;
        (record.runs, record.again) = (0, again);
        executor
    }

    /// The trial of a small batch, a whole run; how many more nanoseconds it would have taken to afford it, if it can't be.
    fn other(&self, best: &mut (Executor, f64), usual: f64, afford: f64, record: &Record) -> Option<f64> {
        let other = if best.0 == Executor::Scalar { Executor::Masked } else { Executor::Scalar };
        let ratio = match (record.cost(other), record.cost(best.0)) {
            (Some(other), Some(best)) => (other / best).max(1.0),
            _ => record.trials[index(other)].ratio.max(2.0),
        };
        let missing = usual * (ratio - 1.0) - afford;
        if missing > 0.0 {
            return Some(missing);
        }
        best.0 = other;
        None
    }

    /// Tries the other executors while less than `afford` nanoseconds are lost; how many more it would have taken to come to an end.
    /// Meanwhile other threads run the best so far, and so does this one at last if it is still the best.
    fn race(
        &self,
        race: &Race,
        best: &mut (Executor, f64),
        afford: &mut f64,
        record: &mut Record,
        phase: &Phase<'_>,
    ) -> Option<f64> {
        let due = |executor: &Executor| {
            // Without recursion both machines do the same; where frames are far behind, a wavefront is too.
            let wavefront = self.program.recursive
                && !self.alike
                && record.trials[index(Executor::Masked)].ratio < HOPELESS;
            *executor != race.rival && (wavefront || *executor != Executor::ProgramCounter)
        };
        let due: Vec<Executor> = EXECUTORS.into_iter().filter(due).collect();
        let single_thread = self.threads_for(best.1 * members_in(&race.rest().parts) as f64) == 1;
        let guess = best.1;
        let trials = || {
            let mut missing = None;
            for executor in due {
                let progress = &mut record.trials[index(executor)];
                if progress.wait > 0 {
                    progress.wait -= 1;
                    continue;
                }
                if let Some(more) = self.trial(executor, best, afford, record, race, single_thread, phase) {
                    missing = Some(missing.map_or(more, |least: f64| least.min(more)));
                }
                if best.0 != race.rival {
                    break;
                }
            }
            (missing, best.0)
        };
        if single_thread {
            return trials().0;
        }
        let piece = match race.rival {
            Executor::Scalar => (PIECE / guess) as usize,
            // Pieces that fill its lanes.
            _ => (self.last() / GROWTH).max(LAST),
        };
        let begin = Instant::now();
        let mut missing = None;
        rayon::scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(|_| race.help(piece, self.threads, phase));
            }
            let found = trials();
            missing = found.0;
            race.decided(found.1);
            race.help(piece, self.threads, phase);
        });
        race.rest().wall += begin.elapsed().as_nanos() as f64;
        missing
    }

    /// The members of the last trial: those that stay longest decide in a small batch, and are few in a large one.
    fn last(&self) -> usize {
        (self.members / 8).max(LAST).min(self.members / 4)
    }

    /// The members of an executor's trials.
    fn sizes(&self, executor: Executor) -> Vec<usize> {
        let last = self.last();
        let kind = usize::from(!self.program.recursive);
        let first = if executor == Executor::ProgramCounter { LAST } else { FIRST[kind] };
        let growing = std::iter::successors(Some(first), |size| {
            // There frames begin to be wide.
            let growth = if self.program.recursive && *size >= LAST { 2 } else { GROWTH };
            Some(growth * size)
        });
        let growing = growing.take_while(|size| 2 * size <= last);
        if self.members < NARROW {
            return vec![self.members / 8, last];
        }
        match executor {
            Executor::Scalar => vec![last / GROWTH, last],
            _ => [COLD[kind]].into_iter().chain(growing).chain([last]).collect(),
        }
    }

    /// What a member costs in an executor, and what like ones cost in the best so far: members differ by more
    /// than executors do. How many more nanoseconds the next trial would lose than can be afforded.
    fn trial(
        &self,
        executor: Executor,
        best: &mut (Executor, f64),
        afford: &mut f64,
        record: &mut Record,
        race: &Race,
        single_thread: bool,
        phase: &Phase<'_>,
    ) -> Option<f64> {
        let recursive = self.program.recursive && executor != Executor::Scalar;
        let win = if recursive { WIN_RECURSIVE } else { WIN };
        let threads = self.threads as f64;
        // The machine leaves threads idle that it has no full strips for.
        let idle = threads / self.threads.min(self.members.div_ceil(SHARE)) as f64;
        let sizes = self.sizes(executor);
        let Progress { mut next, mut ratio, bias, .. } = record.trials[index(executor)];
        let (mut so_far, mut was_clear, mut repeated) = (best.1, false, false);
        let keep = |trials: &mut [Progress; 3], next, ratio| {
            let progress = &mut trials[index(executor)];
            (progress.next, progress.ratio) = (next, ratio);
        };
        loop {
            let whole = next >= sizes.len();
            let size = if whole { members_in(&race.rest().parts) } else { sizes[next] };
            let cold = next == 0 && executor != Executor::Scalar && self.members >= NARROW;
            let judged = if cold { sizes[1] } else { size };
            // What few members say of frames, which are wide for many, may be wrong. But who is ahead stays so.
            let ahead = next > 1 && ratio < win;
            let known = cold || whole || ahead || next == 0 || sizes[next - 1] >= LAST;
            let least = if recursive && !known && judged >= LAST { UNKNOWN } else { ratio };
            let loss = (ratio.max(least) - 1.0) * best.1 * judged as f64 / threads;
            let loss =
                if cold { loss.max(SETUP[usize::from(executor == Executor::ProgramCounter)]) } else { loss };
            if loss > *afford {
                keep(&mut record.trials, next, ratio);
                return Some(loss - *afford);
            }
            if whole {
                if !record.is_sure(best.0) {
                    // Its whole runs are what is compared with.
                    keep(&mut record.trials, next, ratio);
                    return Some(0.0);
                }
                keep(&mut record.trials, 0, ratio);
                *best = (executor, best.1 * ratio);
                return None;
            }
            let (cost, measured) = race.pair(executor, size, single_thread, phase);
            let rival = measured.unwrap_or(best.1);
            // What the first members of a batch cost is cold memory. While the cost falls, and before it is known, nothing is decided.
            let is_warm = record.is_sure(best.0) || measured.is_some_and(|cost| cost > SETTLED * so_far);
            so_far = rival;
            *afford -= (cost - rival).max(0.0) * size as f64 / threads;
            next += 1;
            if cold {
                continue;
            }
            let last = next == sizes.len();
            // Few members on a thread that was asleep seem dear.
            let rival = if last { rival } else { rival.min(best.1) };
            let narrower = std::mem::replace(&mut ratio, bias * cost * idle / rival);
            let measured_high = record.is_sure(best.0) && rival > FAR * best.1;
            let clear = if recursive { CLEAR } else { win };
            let enough = size >= ENOUGH && ratio < clear;
            let decides =
                last && (repeated || !measured_high) || is_warm && (enough || !recursive && ratio < CLEAR);
            if ratio < win && decides {
                keep(&mut record.trials, 0, ratio);
                record.trials[index(executor)].behind = 0;
                // Few lanes of a frame say nothing about many.
                match best.0 == Executor::Scalar || !self.program.recursive {
                    true => record.correct(best.0, rival / threads),
                    false => record.guess(best.0, rival / threads),
                }
                *best = (executor, cost);
                return None;
            }
            was_clear |= ratio < CLEAR;
            let most = WIDENING.iter().find(|(below, _)| size < *below).map_or(1.0, |(_, most)| *most);
            let near = match executor {
                Executor::Scalar if !record.is_sure(executor) => NEAR_SCALAR,
                _ if recursive => NEAR_RECURSIVE,
                _ => NEAR[usize::from(size >= FEW)],
            };
            // Frames cost what they cost, whatever their lanes: what the last doubling has saved tells what the whole batch does.
            let wider = 1.0 - size as f64 * threads / self.members as f64;
            let saved = if last && recursive { (narrower - ratio).max(0.0) * wider.max(0.0) } else { 0.0 };
            let is_behind = ratio - saved > if last { near } else { most };
            // What contradicts an earlier trial or run may be another program in the way.
            let is_odd = if is_behind { was_clear } else { last && measured_high };
            if is_odd && !repeated {
                repeated = true;
                next -= 1;
                continue;
            }
            if is_behind {
                // Far behind is not by bad luck.
                let behind = record.trials[index(executor)].behind + 1;
                let wait = if ratio > FAR * most { behind } else { 0 };
                record.trials[index(executor)] = Progress { next: 0, ratio, bias, behind, wait };
                return None;
            }
        }
    }

    /// Measures the scalar code on this thread, in nanoseconds per member.
    fn probe(&self, rest: &mut Rest, phase: &Phase<'_>) -> f64 {
        // The first member finds cold caches.
        let range = rest.take(1);
        let mut cost = rest.time(phase, Executor::Scalar, [range, 0..0], 1);
        let (mut size, mut members, mut time) = (1, 0, 0.0);
        let limit = PROBE[usize::from(self.threads == 1)].as_nanos() as f64;
        while time < limit && members < PROBED && members * PROBED_PART < self.members {
            let (mut some, mut round) = (0, 0.0);
            for _ in 0..PLACES.min((self.members / PROBED_PART).max(1)) {
                if time + round >= limit {
                    break;
                }
                let range = rest.take(size);
                some += range.len();
                round += rest.time(phase, Executor::Scalar, [range, 0..0], 1);
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

    /// The choice between the machines, where scalar code would show. In a run that may be ended from outside a trial on a part of the
    /// members might take all the time. So whole runs are compared there.
    fn autotune_machine(&self, instance: Option<&'static str>, phase: &Phase<'_>) -> Executor {
        let machines = [Executor::Masked, Executor::ProgramCounter];
        if self.members < MEASURABLE || !self.program.recursive || self.alike {
            phase(Executor::Masked, self.all(), self.threads);
            return Executor::Masked;
        }
        let Some(instance) = instance else { return self.compare_machines(phase) };
        let key = self.key(instance);
        let choices = || CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut choice = choices().get(&key).copied().unwrap_or_default();
        let machine = choice.machine();
        let took = phase(machines[machine], self.all(), self.threads).wall.as_nanos() as f64;
        // What has been ended says nothing.
        if self.over().is_none() {
            choice.costs[machine] = Some(took / self.members as f64);
            choices().insert(key, choice);
        }
        machines[machine]
    }

    /// Runs the batch by the machine that is faster on a part of it.
    fn compare_machines(&self, phase: &Phase<'_>) -> Executor {
        let piece = (self.members / SAMPLE / PLACES).max(MEASURABLE / (3 * PLACES));
        let mut rest = Rest::new(self.begun..self.members);
        let mut times = [(Duration::ZERO, Executor::Masked), (Duration::ZERO, Executor::ProgramCounter)];
        for place in 0..PLACES {
            for (time, executor) in &mut times {
                rest.turn = place;
                *time += phase(*executor, [rest.take(piece), 0..0], self.threads).work;
            }
        }
        let best = times.into_iter().min_by_key(|(time, _)| *time).map_or(Executor::Masked, |(_, best)| best);
        phase(best, rest.parts, self.threads);
        best
    }
}
