//! The report of a run: the workers' counts, summed.

use std::time::Duration;

use super::launcher::Launch;
use crate::api::options::Executor;
use crate::api::report::{BlockReport, Report};
use crate::machine::Finished;
use crate::simd::Isa;

impl Launch<'_> {
    pub(super) fn report(&self, executor: Executor, finished: &[Finished], time: Duration) -> Report {
        let mut report = Report {
            executor,
            isa: if executor == Executor::Scalar { Isa::Baseline } else { self.isa() },
            members: self.members,
            threads: self.threads,
            depth: finished.iter().map(|f| f.depth).max().unwrap_or(0),
            refills: finished.iter().map(|f| f.refills).sum(),
            time,
            blocks: Vec::new(),
        };
        if self.options.report && !finished.is_empty() {
            report.blocks = self
                .program
                .blocks
                .iter()
                .enumerate()
                .map(|(i, block)| {
                    let sum =
                        |figure: fn(&Finished, usize) -> u64| finished.iter().map(|f| figure(f, i)).sum();
                    BlockReport {
                        function: self.program.functions[block.function as usize].name,
                        label: block.label,
                        line: block.line,
                        executions: sum(|f, i| f.blocks[i].executions),
                        active: sum(|f, i| f.blocks[i].active),
                        offered: sum(|f, i| f.blocks[i].offered),
                        lower_bound: finished.iter().map(|f| f.largest[i]).max().unwrap_or(0),
                    }
                })
                .collect();
        }
        report
    }
}
