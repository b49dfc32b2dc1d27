//! Spans of a run for those who listen with the crate `tracing`: the run, its phases, and each worker's part. Nothing without the feature.

use crate::api::options::Executor;
use crate::api::report::Report;

/// The span of a run.
pub(super) struct RunSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl RunSpan {
    pub(super) fn new(function: &'static str, members: usize) -> RunSpan {
        use tracing::field::Empty;
        RunSpan {
            span: tracing::info_span!(
                "autobatch",
                function,
                members,
                executor = Empty,
                engine = Empty,
                isa = Empty,
                steps = Empty
            ),
        }
    }

    /// Runs a phase: members by one executor.
    pub(super) fn phase<R>(&self, executor: Executor, threads: usize, phase: impl FnOnce() -> R) -> R {
        tracing::debug_span!(parent: &self.span, "phase", ?executor, threads).in_scope(phase)
    }

    /// Tells what ran.
    pub(super) fn close(self, report: &Report) {
        self.span.record("executor", tracing::field::debug(report.executor));
        self.span.record("engine", tracing::field::display(report.engine));
        self.span.record("isa", tracing::field::debug(report.isa));
        self.span.record("steps", report.steps);
    }
}

#[cfg(not(feature = "tracing"))]
impl RunSpan {
    pub(super) fn new(_function: &'static str, _members: usize) -> RunSpan {
        RunSpan {}
    }

    /// Runs a phase: members by one executor.
    pub(super) fn phase<R>(&self, _executor: Executor, _threads: usize, phase: impl FnOnce() -> R) -> R {
        phase()
    }

    /// Tells what ran.
    pub(super) fn close(self, _report: &Report) {}
}

/// What a worker does, in a span of its own inside of the one that is open where this is called.
#[cfg(feature = "tracing")]
pub(super) fn worker(work: impl Fn()) -> impl Fn() {
    let phase = tracing::Span::current();
    move || tracing::debug_span!(parent: &phase, "worker").in_scope(&work)
}

/// What a worker does.
#[cfg(not(feature = "tracing"))]
pub(super) fn worker(work: impl Fn()) -> impl Fn() {
    work
}
