//! What generated test crates run: the scalar function against its batched forms, bit for bit.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use autobatch::{BatchError, Executor, Fault, FaultKind, Isa, Options, Outcome, Schedule};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use autobatch::autobatch;
pub use std::borrow::Cow;
pub use std::cell::{Cell, OnceCell, RefCell};
pub use std::collections::BTreeMap;
pub use std::rc::Rc;
pub use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
pub use std::sync::{Arc, Mutex};

// Programs have types of the same text of their own, or these.
include!("watch.rs");
include!("lend.rs");

use crate::token::Count;
pub use crate::token::Token;

/// The bits of a value, as words. All NaNs are the same, since Rust leaves their payloads open.
pub trait Words {
    /// Appends them.
    fn words(&self, to: &mut Vec<u64>);

    /// Just them.
    fn all_words(&self) -> Vec<u64> {
        let mut words = Vec::new();
        self.words(&mut words);
        words
    }
}

/// A source of inputs.
pub struct Dice {
    rng: Xoshiro256PlusPlus,
    /// Nearly all members of a column have the same value, so that they go the same way.
    alike: bool,
}

impl Dice {
    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.rng.random_range(0..end)
    }

    /// A value.
    pub fn make<T: Make>(&mut self) -> T {
        T::make(self)
    }

    /// A value per member.
    pub fn column<T: Make>(&mut self, members: usize) -> Vec<T> {
        self.of_each(members, T::make)
    }

    /// A depth per member.
    pub fn fuel(&mut self, members: usize, most: u32) -> Vec<u32> {
        let least = if self.alike { most } else { 0 };
        self.of_each(members, |dice| dice.rng.random_range(least..=most))
    }

    fn of_each<T>(&mut self, members: usize, make: impl Fn(&mut Dice) -> T) -> Vec<T> {
        let same = self.rng.clone();
        let one = |_| match self.alike && self.below(32) > 0 {
            true => make(&mut Dice { rng: same.clone(), alike: true }),
            false => make(self),
        };
        (0..members).map(one).collect()
    }
}

/// Types whose values can be made up: mostly small ones, sometimes the ends of the range.
pub trait Make {
    /// Makes one.
    fn make(dice: &mut Dice) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Words for $t {
            fn words(&self, to: &mut Vec<u64>) { to.push(*self as u64) }
        }
        impl Make for $t {
            fn make(dice: &mut Dice) -> Self {
                match dice.below(24) {
                    0 => <$t>::MAX,
                    1 => <$t>::MIN,
                    2 => dice.rng.next_u64() as $t,
                    3 => (1 as $t) << dice.below(<$t>::BITS as u64 - 1),
                    4..=8 => dice.below(1000) as $t,
                    9 | 10 => (0 as $t).wrapping_sub(dice.below(10) as $t),
                    _ => dice.below(10) as $t,
                }
            }
        }
    )* };
}
integers!(i32, i64, u32, u64, usize);

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl Words for $t {
            fn words(&self, to: &mut Vec<u64>) {
                let value = if self.is_nan() { <$t>::NAN } else { *self };
                to.push(value.to_bits().into());
            }
        }
        impl Make for $t {
            fn make(dice: &mut Dice) -> Self {
                match dice.below(20) {
                    0 => <$t>::INFINITY,
                    1 => <$t>::NAN,
                    2 => -0.0,
                    3 => <$t>::MIN_POSITIVE,
                    4 => <$t>::MAX,
                    5..=9 => dice.below(9) as $t - 4.0,
                    _ => (dice.below(2001) as $t - 1000.0) / 64.0,
                }
            }
        }
    )* };
}
floats!(f32, f64);

impl Words for bool {
    fn words(&self, to: &mut Vec<u64>) {
        to.push((*self).into());
    }
}

impl Make for bool {
    fn make(dice: &mut Dice) -> Self {
        dice.below(2) == 1
    }
}

impl Words for () {
    fn words(&self, _: &mut Vec<u64>) {}
}

impl Make for () {
    fn make(_: &mut Dice) -> Self {}
}

impl<T: Words, const N: usize> Words for [T; N] {
    fn words(&self, to: &mut Vec<u64>) {
        self.iter().for_each(|x| x.words(to));
    }
}

impl<T: Make, const N: usize> Make for [T; N] {
    fn make(dice: &mut Dice) -> Self {
        std::array::from_fn(|_| dice.make())
    }
}

impl<T: Words> Words for Vec<T> {
    fn words(&self, to: &mut Vec<u64>) {
        to.push(self.len() as u64);
        self.iter().for_each(|x| x.words(to));
    }
}

impl<T: Make> Make for Vec<T> {
    fn make(dice: &mut Dice) -> Self {
        let len = dice.below(7) as usize;
        dice.column(len)
    }
}

impl Words for String {
    fn words(&self, to: &mut Vec<u64>) {
        to.push(self.len() as u64);
        to.extend(self.bytes().map(u64::from));
    }
}

impl Make for String {
    fn make(dice: &mut Dice) -> Self {
        (0..dice.below(5)).map(|_| char::from(b'a' + dice.below(4) as u8)).collect()
    }
}

impl<T: Words> Words for Box<T> {
    fn words(&self, to: &mut Vec<u64>) {
        (**self).words(to);
    }
}

impl<T: Make> Make for Box<T> {
    fn make(dice: &mut Dice) -> Self {
        Box::new(dice.make())
    }
}

impl<T: Words> Words for Option<T> {
    fn words(&self, to: &mut Vec<u64>) {
        to.push(self.is_some().into());
        self.iter().for_each(|x| x.words(to));
    }
}

impl<T: Make> Make for Option<T> {
    fn make(dice: &mut Dice) -> Self {
        (dice.below(4) > 0).then(|| dice.make())
    }
}

impl<T: Words> Words for Result<T, u32> {
    fn words(&self, to: &mut Vec<u64>) {
        match self {
            Ok(value) => {
                to.push(0);
                value.words(to);
            }
            Err(error) => to.extend([1, u64::from(*error)]),
        }
    }
}

impl<T: Make> Make for Result<T, u32> {
    fn make(dice: &mut Dice) -> Self {
        if dice.below(4) > 0 { Ok(dice.make()) } else { Err(dice.make()) }
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Words),*> Words for ($($name,)*) {
            fn words(&self, to: &mut Vec<u64>) { $(self.$index.words(to);)* }
        }
        impl<$($name: Make),*> Make for ($($name,)*) {
            fn make(dice: &mut Dice) -> Self { ($(dice.make::<$name>(),)*) }
        }
    };
}
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// What the scalar function made of a member: the words of result and state, or its fault.
pub type Expected = Result<(Vec<u64>, Vec<u64>), (FaultKind, String)>;

/// What a batched call made of all members: results, and the words of each member's state.
pub type Batched<R> = Result<(Outcome<R>, Vec<Vec<u64>>), BatchError>;

/// One program's comparisons.
pub struct Case {
    dice: Dice,
    seed: u64,
    /// Results compared.
    pub comparisons: u64,
    /// Members that the scalar function panicked for.
    pub panics: u64,
    /// Members in all.
    pub members: u64,
    failure: Option<String>,
    /// Which members of the last batch the scalar function did not panic for.
    survivors: Vec<bool>,
    /// How many counted values the scalar function makes for the members.
    made: u64,
}

/// The values of those members.
pub fn pick<T>(column: Vec<T>, keep: &[bool]) -> Vec<T> {
    column.into_iter().zip(keep).filter_map(|(value, keep)| keep.then_some(value)).collect()
}

impl Case {
    /// The batch sizes: one member, fewer than most lane counts, and more than most.
    pub const SIZES: [usize; 3] = [1, 9, 150];

    fn new(seed: u64) -> Case {
        Case {
            dice: Dice { rng: Xoshiro256PlusPlus::seed_from_u64(seed), alike: false },
            seed,
            comparisons: 0,
            panics: 0,
            members: 0,
            failure: None,
            survivors: Vec::new(),
            made: 0,
        }
    }

    /// The members that do not panic, if some do: executors that start a tile again when one panics shall be seen
    /// without that too.
    pub fn survivors(&mut self) -> Option<Vec<bool>> {
        let kept = self.survivors.iter().filter(|kept| **kept).count();
        (self.failure.is_none() && kept > 1 && kept < self.survivors.len()).then(|| self.survivors.clone())
    }

    /// Begins with the inputs of a batch.
    pub fn begin(&mut self) {
        self.dice.alike = self.dice.below(5) == 0;
    }

    /// The source of inputs.
    pub fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }

    /// Runs the scalar function on each member, and then the batch in many ways.
    pub fn compare<R: Words + std::fmt::Debug>(
        &mut self,
        members: usize,
        scalar: impl Fn(usize) -> (R, Vec<u64>),
        batched: impl Fn(&Options) -> Batched<R>,
        inputs: impl Fn(usize) -> String,
    ) {
        if self.failure.is_some() {
            return;
        }
        let count = Count::begin();
        let expected: Vec<Expected> = (0..members)
            .map(|member| {
                catch_unwind(AssertUnwindSafe(|| scalar(member)))
                    .map(|(result, state)| (result.all_words(), state))
                    .map_err(|payload| (FaultKind::Panic, message(&*payload)))
            })
            .collect();
        match count.end() {
            Ok(made) => self.made = made,
            Err(wrong) => {
                self.failure = Some(format!("scalar function, {members} members: {wrong}"));
                return;
            }
        }
        self.survivors = expected.iter().map(Result::is_ok).collect();
        self.members += members as u64;
        self.panics += expected.iter().filter(|e| e.is_err()).count() as u64;
        for (how, options) in ways(members, self.seed) {
            if !self.agrees(&how, &options, &expected, &batched, &inputs) {
                return;
            }
        }
        if members == Self::SIZES[1] {
            self.limited(expected, &batched, &inputs);
        }
    }

    /// Runs a batch whose members may not go deep: the scalar executor decides which of them go too deep, the
    /// others have to fail for the same.
    fn limited<R: Words + std::fmt::Debug>(
        &mut self,
        mut expected: Vec<Expected>,
        batched: &impl Fn(&Options) -> Batched<R>,
        inputs: &impl Fn(usize) -> String,
    ) {
        let depth = 1 + (self.seed >> 11) as usize % 3;
        let options = Options::default().max_depth(depth).threads(1);
        if let Ok(Ok((outcome, _))) =
            catch_unwind(AssertUnwindSafe(|| batched(&options.clone().executor(Executor::Scalar))))
        {
            for fault in outcome.faults().iter().filter(|fault| fault.kind == FaultKind::DepthExceeded) {
                expected[fault.member] = Err((fault.kind, fault.message.clone()));
            }
        }
        for (how, executor, schedule) in [
            ("scalar", Executor::Scalar, Schedule::MostLanes),
            ("masked", Executor::Masked, Schedule::MostLanes),
            ("pc most lanes", Executor::ProgramCounter, Schedule::MostLanes),
            ("pc earliest", Executor::ProgramCounter, Schedule::EarliestBlock),
        ] {
            let how = format!("{how}, depth {depth}");
            let options = options.clone().executor(executor).schedule(schedule);
            if !self.agrees(&how, &options, &expected, batched, inputs) {
                return;
            }
        }
    }

    /// Runs the batch in one way; whether all is as expected.
    fn agrees<R: Words + std::fmt::Debug>(
        &mut self,
        how: &str,
        options: &Options,
        expected: &[Expected],
        batched: &impl Fn(&Options) -> Batched<R>,
        inputs: &impl Fn(usize) -> String,
    ) -> bool {
        let count = Count::begin();
        let run = catch_unwind(AssertUnwindSafe(|| batched(options)));
        let failed = match run {
            Err(payload) => Some(format!("the batched call panics: {}", message(&*payload))),
            Ok(Err(error)) => Some(format!("the batched call is refused: {error}")),
            Ok(Ok((outcome, states))) => differs(expected, outcome, &states, inputs),
        };
        // What is owned is moved, never cloned, and dropped once.
        let failed = match (count.end(), failed) {
            (Err(wrong), other) => {
                Some(format!("{wrong}{}", other.map_or(String::new(), |other| format!("; {other}"))))
            }
            (Ok(_), Some(failed)) => Some(failed),
            (Ok(made), None) if made != self.made && expected.iter().all(Result::is_ok) => {
                Some(format!("{made} counted values are made, {} by the scalar function", self.made))
            }
            _ => None,
        };
        self.comparisons += expected.len() as u64;
        self.failure = failed.map(|failed| format!("{how}, {} members: {failed}", expected.len()));
        self.failure.is_none()
    }
}

/// The first difference.
fn differs<R: Words + std::fmt::Debug>(
    expected: &[Expected],
    outcome: Outcome<R>,
    states: &[Vec<u64>],
    inputs: &impl Fn(usize) -> String,
) -> Option<String> {
    let results: Vec<Result<R, Fault>> = outcome.into_results();
    if results.len() != expected.len() {
        return Some(format!("{} results", results.len()));
    }
    for (member, (want, got)) in expected.iter().zip(&results).enumerate() {
        let same = match (want, got) {
            (Ok((value, state)), Ok(got)) => {
                *value == got.all_words() && states.get(member).is_none_or(|words| words == state)
            }
            (Err((kind, message)), Err(fault)) => {
                fault.kind == *kind && fault.message == *message && fault.member == member
            }
            _ => false,
        };
        if !same {
            let inputs = inputs(member);
            let state = states.get(member);
            return Some(format!(
                "member {member} {inputs}: scalar {want:?}, batched {got:?}, words {:?}, state {state:?}",
                got.as_ref().map(Words::all_words)
            ));
        }
    }
    None
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
        (Some(text), _) => text.clone(),
        (_, Some(text)) => (*text).into(),
        _ => "(no message)".into(),
    }
}

/// The ways to run a batch: each executor with each thread count, lane count and instruction set at least
/// once; which of them come together depends on the seed.
fn ways(members: usize, seed: u64) -> Vec<(String, Options)> {
    let base = Options::default;
    let executors = [
        ("masked", base().executor(Executor::Masked)),
        ("pc most lanes", base().executor(Executor::ProgramCounter).schedule(Schedule::MostLanes)),
        ("pc earliest", base().executor(Executor::ProgramCounter).schedule(Schedule::EarliestBlock)),
        ("scalar", base().executor(Executor::Scalar)),
        ("auto", base().executor(Executor::Auto)),
    ];
    let isas = [("baseline", Isa::Baseline), ("avx2", Isa::Avx2), ("widest", Isa::Avx512)];
    let lane_counts = [None, Some(7), Some(64), Some(1), Some(1000), Some(3)];
    let turn = (seed >> 7) as usize;
    let mut ways = Vec::new();
    for (e, (name, executor)) in executors.into_iter().enumerate() {
        for (l, lanes) in lane_counts.into_iter().enumerate() {
            // Lane counts beyond the batch make no difference; the scalar executor has none.
            if (l > 0 && lanes.is_some_and(|lanes| lanes > 2 * members)) || (name == "scalar" && l > 2) {
                continue;
            }
            let threads = 1 + (e + l + turn) % 3;
            let (isa_name, isa) = isas[(e + l + l / 3 + turn / 3) % 3];
            let report = (l + turn) % 4 == 3;
            let refill = (l + turn) % 5 != 4;
            let mut options = executor.clone().threads(threads).isa(isa).count_blocks(report).refill(refill);
            if (l + turn) % 4 == 1 {
                options = options.deadline(Duration::from_secs(3600));
            }
            if let Some(lanes) = lanes {
                options = options.lanes(lanes);
            }
            let more = match (report, refill) {
                (true, true) => ", report",
                (false, false) => ", no refill",
                (true, false) => ", report, no refill",
                (false, true) => "",
            };
            ways.push((format!("{name}, {threads} threads, {lanes:?} lanes, {isa_name}{more}"), options));
        }
    }
    ways
}

/// A program of a test crate: its name, the seed of its inputs, its comparisons.
pub type Entry = (&'static str, u64, fn(&mut Case));

/// How many seconds one program may take, those when the process was stopped not counted.
const PATIENCE: u32 = 120;

/// What became of some programs.
#[derive(Debug, Default)]
pub struct Tally {
    /// Programs run.
    pub programs: u64,
    /// Results compared.
    pub comparisons: u64,
    /// Members run.
    pub members: u64,
    /// Members that panic.
    pub panics: u64,
    /// What failed: the program's name and how.
    pub failures: Vec<(String, String)>,
}

/// Runs programs one after the other; a member's panics are silent.
pub fn run(entries: &[Entry], mut before: impl FnMut(&str), mut after: impl FnMut(&str, &Case)) -> Tally {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally = Tally::default();
    for (name, seed, check) in entries {
        before(name);
        let mut case = Case::new(*seed);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| check(&mut case))) {
            case.failure = Some(format!("the comparison panics: {}", message(&*payload)));
        }
        tally.programs += 1;
        tally.comparisons += case.comparisons;
        tally.members += case.members;
        tally.panics += case.panics;
        after(name, &case);
        if let Some(failure) = case.failure.take() {
            tally.failures.push(((*name).into(), failure));
        }
    }
    std::panic::set_hook(hook);
    tally
}

/// The main function of a test crate: runs the programs named as arguments, or all, and prints a line before
/// and after each, for the program that started it to read.
pub fn main(entries: &[Entry]) {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let chosen: Vec<Entry> = entries
        .iter()
        .filter(|e| names.is_empty() || names.iter().any(|name| name == e.0))
        .copied()
        .collect();
    let current = Arc::new(Mutex::new((0, String::new())));
    let watched = current.clone();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let mut watched = watched.lock().expect("no panic while it is locked");
            watched.0 += 1;
            if watched.0 > PATIENCE {
                say(&format!("fail\t{}\tstill running after {PATIENCE} s", watched.1));
                std::process::exit(3);
            }
        }
    });
    run(
        &chosen,
        |name| {
            *current.lock().expect("no panic while it is locked") = (0, name.into());
            say(&format!("begin\t{name}"));
        },
        |name, case| {
            if let Some(failure) = &case.failure {
                say(&format!("fail\t{name}\t{}", failure.replace(['\n', '\t'], " ")));
            }
            say(&format!("end\t{name}\t{}\t{}\t{}", case.comparisons, case.members, case.panics));
        },
    );
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
