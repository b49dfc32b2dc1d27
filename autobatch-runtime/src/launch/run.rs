//! Running a batch: the calls of generated code.

use std::any::type_name;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use super::launcher::Launch;
use super::phase::{Ledger, Left, Parts, Phase, members_in};
use super::spans::RunSpan;
use super::ways::{Bound, Code, MachineCode, ScalarCode, VectorCode, Ways};
use crate::api::engine::Engine;
use crate::api::fault::{BatchError, Fault};
use crate::api::options::{Defaults, Executor, Options};
use crate::api::outcome::Outcome;
use crate::api::output::{Out, Output};
use crate::api::program::Program;
use crate::api::report::{Purpose, Report};
use crate::batch::Numbering;
use crate::fiber::Reach;
use crate::native_stack::budget::TooMuch;

/// Runs a batch into new memory. For generated code only.
pub(crate) fn run<R: Send>(
    program: &'static Program,
    defaults: Defaults,
    options: &Options,
    lens: &[(&'static str, Option<usize>)],
    ways: Ways<impl ScalarCode<R>, impl ScalarCode<R>, impl MachineCode<R>, impl VectorCode<R>>,
) -> Result<Outcome<R>, BatchError> {
    let members = members(lens, options)?;
    let mut values: Vec<MaybeUninit<R>> = Vec::new();
    if values.try_reserve_exact(members).is_err() {
        return Err(BatchError::Memory { members, bytes: size_of::<R>() });
    }
    values.resize_with(members, MaybeUninit::uninit);
    let out = Out::fresh(&mut values);
    let numbering = Numbering::of(options);
    let code = Bound { ways: &ways, out: &out, numbering };
    let ran = Launch::new(program, defaults, options, members).run_or_refuse(instance(&code), &code);
    match out.into_set() {
        Ok(set) => Outcome::new(values, set, options.first_member, numbering.count(members), ran),
        Err(TooMuch) => Err(BatchError::Memory { members, bytes: size_of::<R>() }),
    }
}

/// Runs a batch into the caller's memory; panics as the scalar function would, naming the first faulty
/// member, whose place keeps its old value. For generated code only.
#[track_caller]
pub(super) fn run_into<R: Send>(
    program: &'static Program,
    defaults: Defaults,
    lens: &[(&'static str, Option<usize>)],
    ways: Ways<impl ScalarCode<R>, impl ScalarCode<R>, impl MachineCode<R>, impl VectorCode<R>>,
    mut output: impl Output<R>,
) -> Result<(), BatchError> {
    let options = output.options().cloned().unwrap_or_default();
    let members = members(lens, &options)?;
    if output.room() != members {
        return Err(BatchError::Output { expected: members, found: output.room() });
    }
    let out = output.out();
    let code = Bound { ways: &ways, out: &out, numbering: Numbering::of(&options) };
    let (faults, _) =
        Launch::new(program, defaults, &options, members).run_or_refuse(instance(&code), &code)?;
    match faults.first() {
        None => Ok(()),
        Some(first) => panic!("{first}"),
    }
}

/// The name of an instance of a program. One generic program has many, whose executors compare differently.
fn instance<S, C, T, N, R>(_: &Bound<'_, '_, S, C, T, N, R>) -> &'static str {
    type_name::<(T, R)>()
}

/// The panic for a call that is wrong as a whole. For generated code only.
#[track_caller]
pub fn unwrap_unit(result: Result<(), BatchError>) {
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// The common length of the columns, and of what says which members run.
pub(super) fn members(
    lens: &[(&'static str, Option<usize>)],
    options: &Options,
) -> Result<usize, BatchError> {
    let only = options.only.as_ref().map(|only| ("only", only.len()));
    let mut with_length = lens.iter().filter_map(|(name, len)| len.map(|len| (*name, len)));
    let Some((first, expected)) = with_length.next() else {
        return Err(BatchError::NoLength);
    };
    match with_length.chain(only).find(|(_, len)| *len != expected) {
        Some((parameter, found)) => Err(BatchError::Length { first, expected, parameter, found }),
        None => Ok(expected),
    }
}

impl Launch<'_> {
    /// Runs the batch. Memory that is refused before any member runs is an error of the call.
    fn run_or_refuse(
        self,
        instance: &'static str,
        code: &dyn Code,
    ) -> Result<(Vec<Fault>, Report), BatchError> {
        let members = self.members;
        match catch_unwind(AssertUnwindSafe(|| self.run(instance, code))) {
            Ok(ran) => ran,
            Err(payload) if payload.is::<TooMuch>() => {
                Err(BatchError::Memory { members, bytes: size_of::<Fault>() })
            }
            Err(payload) => resume_unwind(payload),
        }
    }

    fn run(mut self, instance: &'static str, code: &dyn Code) -> Result<(Vec<Fault>, Report), BatchError> {
        let begin = Instant::now();
        let span = RunSpan::new(self.program.name, self.members);
        if self.members == 0 {
            return Ok((
                Vec::new(),
                self.report(Executor::Scalar, Engine::Scalar, &Left::default(), begin.elapsed()),
            ));
        }
        let answers = self.answers(code);
        self.per_member |= !answers.admits;
        // A tile's companion would change the states that the tile has copied.
        let is_for_vectors = answers.computes && !(code.has_states() && self.ends());
        let (lanes, vectors) = (if is_for_vectors { code.vector_lanes() } else { 0 }, code.vectors());
        let has_frames = lanes > 0;
        // What only computes runs once more to be counted.
        let runs_again = has_frames && !code.has_states();
        (self.counts, self.counts_steps) = (code.counts(), code.counts_steps());
        self.takes_turns = self.counts && !has_frames;
        if !self.keeps_limits() {
            return Err(BatchError::Limit { option: "max_steps", function: self.program.name });
        }
        self.lacks_vectors = self.lacks_vectors(lanes, vectors);
        let on_vectors = self.runs_on_vectors(lanes, vectors);
        self.alike = on_vectors && !code.is_wavefront();
        // What has vector code only computes.
        self.on_fibers = !has_frames && self.is_for_fibers();
        let ledger = Ledger::default();
        // `Auto` may take scalar code for all.
        let in_place = self.counts_all() && self.executor() != Executor::Auto;
        let records = self.options.trace > 0 && !in_place && self.asked() != Executor::Scalar;
        if records && !runs_again && !self.on_fibers && self.executor() != Executor::Scalar {
            let clock = Instant::now();
            self.counted = self.record_front(code, &ledger);
            self.begun = self.counted;
            self.note(&ledger, Purpose::Trace, self.executor(), self.begun, clock);
        }
        if !has_frames && self.may_hide_primitives() {
            let clock = Instant::now();
            let begun = self.begun;
            self.begun = self.find_out(code, &ledger);
            self.note(&ledger, Purpose::Results, Executor::Scalar, self.begun - begun, clock);
        }
        // So scalar code calls kernels as blocks do.
        let calls_kernels = self.on_fibers || !has_frames && self.fibers_will_do();
        let counts_some = self.options.report && !self.counts_all() && self.asked() != Executor::Scalar;
        let in_blocks = !self.on_fibers && self.executor() != Executor::Scalar;
        // Those would keep others waiting, however long they take.
        if counts_some && !runs_again && in_blocks && !self.ends() {
            let clock = Instant::now();
            let counted = self.count_front(code, &ledger);
            self.note(&ledger, Purpose::Counts, self.executor(), counted, clock);
            self.counted += counted;
            self.begun += counted;
        }
        let phase = |executor: Executor, parts: Parts, threads: usize| {
            let clock = Instant::now();
            let members = members_in(&parts);
            let took = span.phase(executor, threads, || match executor {
                Executor::Scalar if calls_kernels => self.fibers(parts, threads, code, &ledger),
                Executor::Scalar if self.limits_scalar() => self.in_turns(parts, threads, code, &ledger),
                Executor::Scalar => self.scalar(parts, threads, code, &ledger),
                _ if on_vectors => self.vector(executor, parts, threads, code, &ledger),
                _ => self.machine(executor, parts, threads, code, &ledger),
            });
            self.note(&ledger, Purpose::Results, executor, members, clock);
            took
        };
        let executor = self.choose(instance, &phase);
        let engine = match executor {
            Executor::Scalar if calls_kernels && Reach::of(self.program).is_found() => Engine::Fibers,
            Executor::Scalar => Engine::Scalar,
            _ if !on_vectors => Engine::Machine,
            Executor::ProgramCounter if code.is_wavefront() => Engine::Wavefront,
            _ if code.has_task_blocks() => Engine::TaskBlocks,
            _ => Engine::VectorFrames,
        };
        let took = begin.elapsed();
        if counts_some && runs_again && !self.per_member {
            let clock = Instant::now();
            let members = self.count_again(executor, took, code, &ledger);
            self.note(&ledger, Purpose::Counts, executor, members, clock);
        }
        if records && runs_again && !self.per_member {
            let clock = Instant::now();
            let members = self.record_again(executor, code, &ledger);
            self.note(&ledger, Purpose::Trace, executor, members, clock);
        }
        let (faults, mut report) = self.close(executor, engine, ledger, took)?;
        if self.options.report && self.executor() == Executor::Auto {
            report.measured = self.measured(instance);
        }
        span.close(&report);
        Ok((faults, report))
    }

    /// Notes for the report that an executor has run members since `clock`. What runs blocks where there is a choice is the masked one.
    fn note(&self, ledger: &Ledger, purpose: Purpose, executor: Executor, members: usize, clock: Instant) {
        if self.options.report && members > 0 {
            let counts = purpose != Purpose::Results && matches!(executor, Executor::Auto | Executor::Scalar);
            let executor = if counts { Executor::Masked } else { executor };
            ledger.add_phase(purpose, executor, members, clock.elapsed());
        }
    }

    /// Runs the batch by the executor that was asked for, or by the one that is found to be the fastest.
    fn choose(&self, instance: &'static str, phase: &Phase<'_>) -> Executor {
        let mut executor = self.executor();
        if self.begun == self.members && self.counted > 0 {
            return if executor == Executor::Auto { Executor::Masked } else { executor };
        }
        match executor {
            Executor::Auto => self.install(&mut || executor = self.autotune(Some(instance), phase)),
            executor => _ = phase(executor, self.all(), self.threads),
        }
        executor
    }

    fn close(
        &self,
        executor: Executor,
        engine: Engine,
        ledger: Ledger,
        took: Duration,
    ) -> Result<(Vec<Fault>, Report), BatchError> {
        let mut left = ledger.into_parts();
        let Some(mut faults) = std::mem::take(&mut left.faults).into_sorted() else {
            return Err(BatchError::Memory { members: self.members, bytes: size_of::<Fault>() });
        };
        faults.iter_mut().for_each(|fault| fault.member = self.numbering.shown(fault.member));
        let mut report = self.report(executor, engine, &left, took);
        report.trace = self.trace(executor, &left);
        report.faults = faults.len();
        Ok((faults, report))
    }
}
