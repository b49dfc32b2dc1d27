//! Runs a hand-expanded program the way the launcher does, under full control of the settings.

use std::any::Any;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::api::fault::{Fault, FaultKind};
use crate::api::options::Schedule;
use crate::api::program::Program;
use crate::batch::{Queue, Watch};
use crate::machine::unwinding::{Fate, Gone};
use crate::machine::{Core, Finished, Mode, Settings};
use crate::native_stack::room;
use crate::simd::Isa;
use crate::storage::Store;

/// Settings that suit most tests.
pub(crate) fn settings() -> Settings {
    Settings {
        mode: Mode::Masked,
        schedule: Schedule::EarliestBlock,
        lanes: 64,
        isa: Isa::Avx512,
        max_depth: 100_000_000,
        max_steps: u64::MAX,
        refill: true,
        report: false,
        fair: 0,
        patience: None,
        trace: [0..0, 0..0],
    }
}

/// All combinations of settings.
pub(crate) fn sweep(mut check: impl FnMut(Settings)) {
    // Miri is slow, and has no instruction sets to choose from.
    let (lanes, isas): (&[usize], &[Isa]) = match cfg!(miri) {
        true => (&[11], &[Isa::Baseline]),
        false => (&[1, 7, 64, 256], &[Isa::Baseline, Isa::Avx2, Isa::Avx512]),
    };
    for &lanes in lanes {
        for (mode, schedule, patience) in [
            (Mode::Masked, Schedule::EarliestBlock, None),
            (Mode::Masked, Schedule::MostLanes, Some(Duration::ZERO)),
            (Mode::ProgramCounter, Schedule::EarliestBlock, None),
            (Mode::ProgramCounter, Schedule::MostLanes, None),
        ] {
            for refill in [true, false] {
                for &isa in isas {
                    check(Settings { mode, schedule, patience, lanes, isa, refill, ..settings() });
                }
            }
        }
    }
}

/// Where results go.
pub(crate) struct Sink<R>(Mutex<Vec<Option<R>>>);

impl<R> Sink<R> {
    pub(crate) fn receive(
        &self,
        runs: impl Iterator<Item = (usize, Range<usize>)>,
        mut take: impl FnMut(usize) -> R,
    ) {
        let mut results = self.0.lock().unwrap();
        for (lane, member) in runs.flat_map(|(first, members)| (first..).zip(members)) {
            let old = results[member].replace(take(lane));
            assert!(old.is_none(), "member {member} has two results");
        }
    }
}

/// One run to be.
pub(crate) struct Batch {
    program: &'static Program,
    settings: Settings,
    members: usize,
    workers: usize,
    polls: AtomicUsize,
    ended: AtomicUsize,
}

/// One run.
#[derive(Debug)]
pub(crate) struct Run<R> {
    pub(crate) settings: Settings,
    pub(crate) results: Vec<Result<R, Fault>>,
    pub(crate) finished: Finished,
}

impl Watch for Batch {
    fn over(&self) -> Option<FaultKind> {
        let left = self.polls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.is_err().then_some(FaultKind::Cancelled)
    }
    fn ended(&self, members: usize) {
        self.ended.fetch_add(members, Ordering::Relaxed);
    }
}

impl Batch {
    pub(crate) fn new(program: &'static Program, settings: Settings, members: usize) -> Batch {
        let (polls, ended) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
        Batch { program, settings, members, workers: 1, polls, ended }
    }

    pub(crate) fn workers(self, workers: usize) -> Batch {
        Batch { workers, ..self }
    }

    /// Cancels when the machine asks for the `n`th time.
    pub(crate) fn cancel_after(self, n: usize) -> Batch {
        Batch { polls: AtomicUsize::new(n), ..self }
    }

    pub(crate) fn run<R: Send>(self, tile: impl Fn(&mut Core<'_>, &Store, &Sink<R>) + Sync) -> Run<R> {
        let queue = Queue::new(0..self.members, self.workers);
        let sink = Sink(Mutex::new((0..self.members).map(|_| None).collect()));
        let work = || {
            let mut core = Core::new(self.program, self.settings.clone(), &queue, &self);
            let store = Store::new();
            while let Err(payload) = catch_unwind(AssertUnwindSafe(|| tile(&mut core, &store, &sink))) {
                core.fault(payload);
            }
            core.finish()
        };
        let finished = match self.workers {
            1 => work(),
            _ => std::thread::scope(|scope| {
                let workers: Vec<_> = (0..self.workers).map(|_| scope.spawn(work)).collect();
                let all = workers.into_iter().map(|worker| worker.join().unwrap());
                all.reduce(|mut a, mut b| {
                    a.faults.append(&mut b.faults);
                    a
                })
                .unwrap()
            }),
        };
        assert_eq!(self.ended.into_inner(), self.members);
        let mut faults: Vec<Option<Fault>> = vec![None; self.members];
        for fault in finished.faults.iter() {
            let old = faults[fault.member].replace(fault.clone());
            assert_eq!(old, None, "a member has two faults");
        }
        let values = sink.0.into_inner().unwrap();
        let results = values.into_iter().zip(faults).enumerate().map(|(member, pair)| match pair {
            (Some(value), None) => Ok(value),
            (None, Some(fault)) => Err(fault),
            _ => panic!("member {member} has no result, or a fault too"),
        });
        Run { settings: self.settings, results: results.collect(), finished }
    }
}

impl<R> Run<R> {
    #[track_caller]
    pub(crate) fn value(&self, member: usize) -> &R {
        self.results[member].as_ref().unwrap_or_else(|fault| panic!("{fault} {:?}", self.settings))
    }

    #[track_caller]
    pub(crate) fn fault(&self, member: usize) -> String {
        let fault = self.results[member].as_ref().err().expect("the member is at fault");
        format!("{:?}: {}", fault.kind, fault.message)
    }
}

thread_local! {
    /// The activations that are copied until memory is refused.
    static COPIES: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Refuses memory when so many activations have been copied, once.
pub(crate) fn refuse_after(copies: usize) {
    COPIES.set(copies);
}

/// Whether memory has been refused.
pub(crate) fn is_refused() -> bool {
    COPIES.get() == usize::MAX
}

/// Called for each activation that leaves its place.
pub(crate) fn refuse(gone: &Gone) {
    if matches!(gone.fate, Fate::Copied { .. }) && COPIES.get() != usize::MAX {
        match COPIES.get() {
            0 => {
                COPIES.set(usize::MAX);
                room::refused();
            }
            left => COPIES.set(left - 1),
        }
    }
}

/// Keeps expected panics off the test output.
pub(crate) struct Quiet(());

impl Quiet {
    pub(crate) fn new() -> Quiet {
        let old = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload: &dyn Any = info.payload();
            if payload.downcast_ref::<String>().is_none_or(|text| !text.starts_with("bad ")) {
                old(info);
            }
        }));
        Quiet(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            drop(std::panic::take_hook());
        }
    }
}

/// The instances of a body for all instruction sets, and the function that enters the best one.
macro_rules! instances {
    ($enter:ident, $body:ident, [$($life:lifetime),*], $args:ty) => {
        pub(crate) fn $enter<$($life),*>(core: &mut Core<'_>, store: &Store, args: $args) {
            fn base<$($life),*>(core: &mut Core<'_>, store: &Store, args: $args) {
                $body(core, store, args);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
            fn avx2<$($life),*>(core: &mut Core<'_>, store: &Store, args: $args) {
                $body(core, store, args);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
            )]
            fn avx512<$($life),*>(core: &mut Core<'_>, store: &Store, args: $args) {
                $body(core, store, args);
            }
            #[cfg(target_arch = "x86_64")]
            core.dispatch(store, args, base, avx2, avx512);
            #[cfg(not(target_arch = "x86_64"))]
            core.dispatch(store, args, base);
        }
    };
}
pub(crate) use instances;

/// A program of one function and one group; only what the machine reads.
pub(crate) const fn program(
    name: &'static str,
    blocks: &'static [crate::api::program::Block],
    calls: &'static [crate::api::program::Call],
    groups: &'static [crate::api::program::Group],
    word64: bool,
    strip: usize,
) -> Program {
    Program { name, blocks, calls, groups, recursive: !calls.is_empty(), word64, strip, ..Program::EMPTY }
}

/// A block of the only function.
pub(crate) const fn block(successors: &'static [u32]) -> crate::api::program::Block {
    crate::api::program::Block {
        function: 0,
        label: "",
        line: 0,
        successors,
        again: false,
        primitive: false,
        step: true,
    }
}

/// A call of the only function to itself.
pub(crate) const fn call(cont: u32) -> crate::api::program::Call {
    crate::api::program::Call { function: 0, callee: 0, group: 0, entry: 0, cont, line: 0, recursive: true }
}

/// The only group.
pub(crate) const fn group(ret: u32) -> crate::api::program::Group {
    crate::api::program::Group { functions: &[0], ret }
}
