//! Members by the machine, masked or by program counters.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::launcher::{BODY_STACK, Launch};
use super::phase::{Ledger, Parts, Took};
use super::ways::Code;
use crate::api::fault::FaultKind;
use crate::api::options::Executor;
use crate::batch::{Queue, Watch};
use crate::fiber::{Reach, Worker, WorkerRules};
use crate::machine::{Answers, Core, Settings};
use crate::native_stack::depth;
use crate::storage::Store;

/// The machine ends members itself.
pub(super) struct Blocks;

impl Watch for Blocks {
    fn over(&self) -> Option<FaultKind> {
        None
    }
    fn ended(&self, _: usize) {}
}

impl Launch<'_> {
    /// Rustc's answers about the program's types.
    pub(super) fn answers(&self, code: &dyn Code) -> Answers {
        let mut answers = Answers { admits: true, computes: true };
        if self.program.asks && !self.program.whole_scalar {
            let queue = Queue::of([0..0, 0..0], 1);
            let mut core = Core::new(self.program, self.settings(Executor::Masked), &queue, self);
            depth::with_room(BODY_STACK, &mut || {
                answers = core.ask(|core| code.machine(core, &Store::new()))
            });
        }
        answers
    }

    pub(super) fn machine(
        &self,
        executor: Executor,
        parts: Parts,
        threads: usize,
        code: &dyn Code,
        ledger: &Ledger,
    ) -> Took {
        self.machine_with(self.settings(executor), parts, threads, code, ledger)
    }

    /// The same with other settings.
    pub(super) fn machine_with(
        &self,
        settings: Settings,
        parts: Parts,
        threads: usize,
        code: &dyn Code,
        ledger: &Ledger,
    ) -> Took {
        let queue = Queue::of(parts, threads);
        let reached = Reach::of(self.program);
        let took = self.spread(threads, &|| {
            let mut core = Core::new(self.program, settings.clone(), &queue, self);
            let store = Store::new();
            // Primitives that blocks don't show call their kernels for one row.
            let (member, has_result) = (|_, _| unreachable!("blocks run members"), |_| false);
            let rules = WorkerRules { max_steps: u64::MAX, ..self.rules() };
            let worker = Worker::new(rules, &Blocks, reached, &member, &has_result);
            let _here = worker.without_fiber();
            depth::with_room(BODY_STACK, &mut || {
                while let Err(payload) = catch_unwind(AssertUnwindSafe(|| code.machine(&mut core, &store))) {
                    core.fault(payload);
                }
            });
            ledger.add_finished(core.finish());
        });
        self.end_waiting(&queue, ledger);
        took
    }
}
