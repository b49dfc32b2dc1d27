//! The report of a run: the workers' counts, summed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::launcher::Launch;
use super::phase::Left;
use crate::api::engine::Engine;
use crate::api::options::Executor;
use crate::api::report::{BlockReport, Report};
use crate::machine::Finished;
use crate::simd::Isa;

impl Launch<'_> {
    pub(super) fn report(&self, executor: Executor, engine: Engine, left: &Left, time: Duration) -> Report {
        let Left { finished, tiles, .. } = left;
        let steps = |shown: u64| if self.options.report { shown } else { 0 };
        let mut report = Report {
            executor,
            engine,
            refused_by_types: self.per_member && !self.program.whole_scalar,
            tiles: steps(tiles.tiles),
            given_up: steps(tiles.given_up),
            steps: steps(tiles.steps + finished.iter().map(|f| f.steps).sum::<u64>()),
            isa: if executor == Executor::Scalar { Isa::Baseline } else { self.isa() },
            members: self.members,
            threads: self.threads,
            depth: finished.iter().map(|f| f.depth).max().unwrap_or(0),
            refills: finished.iter().map(|f| f.refills).sum(),
            compactions: steps(tiles.compactions + finished.iter().map(|f| f.compactions).sum::<u64>()),
            faults: 0,
            memory: self.memory.load(Ordering::Relaxed),
            time,
            phases: left.phases.clone(),
            counted: 0,
            blocks: Vec::new(),
            measured: Vec::new(),
            trace: None,
        };
        let finished: Vec<&Finished> = finished.iter().filter(|f| f.counts).collect();
        if !finished.is_empty() && (self.options.report || self.options.count_blocks) {
            report.counted = finished.iter().map(|f| f.members).sum();
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
