//! Gives uniform loops that a strip can run lane-interchanged (see [`crate::analysis::lane_interchange`]) blocks of their own.

use syn::{Expr, Stmt};

use crate::analysis::definedness::Definedness;
use crate::analysis::lane_interchange::{Plan, Scope, gain};
use crate::analysis::liveness::Liveness;
use crate::analysis::reference_flow::ReferenceFlow;
use crate::analysis::short_loops::is_short_nest;
use crate::ir::flow::Flow;
use crate::ir::{BlockId, Program, Terminator, VarSet};
use crate::lower::borrow_free::borrow_free;
use crate::lower::lowering::Lowering;
use crate::syntax::reachability::reached;

/// Less work than this per lane is left to LLVM, which unrolls short loops and vectorises the lanes.
pub(crate) const WORTH: u32 = 100;

/// The rounds of a loop of which nothing is known, that nothing stands around, and inside a loop. LLVM makes no vectors of lanes around
/// such a loop, so alone it is always worth a block.
pub(crate) const UNKNOWN: u64 = 100;
pub(super) const UNKNOWN_INSIDE: u64 = 32;

/// The same inside a loop that members leave at different times: a block of its own keeps the strip from
/// staying in registers from one round to the next. Nor is it worth that where short loops in short loops are straight code.
pub(super) const WORTH_INSIDE: u32 = 250;

/// Operations of a block that become a block.
struct Run {
    block: BlockId,
    from: usize,
    to: usize,
}

impl Lowering<'_> {
    /// Splits blocks around what can run lane-interchanged. The program is numbered before and after.
    pub(super) fn split_interchanged(&mut self) {
        let runs = self.runs();
        if runs.is_empty() {
            return;
        }
        self.started = self.program.block_ids().collect();
        // From behind, so that positions stay.
        for run in runs.into_iter().rev() {
            self.split(run);
        }
        self.renumber();
    }

    /// What is worth a block of its own, in order.
    fn runs(&self) -> Vec<Run> {
        let program = &self.program;
        let mut runs = Vec::new();
        let mut analysed = None;
        for func in program.func_ids() {
            let scope = Scope::new(program, func);
            for block in program.block_ids().filter(|b| program.block(*b).func == func) {
                let ops = &program.block(block).ops;
                let is_inside = is_inside_loop(program, block);
                let unknown = if is_inside { UNKNOWN_INSIDE } else { UNKNOWN };
                let worth = |from: usize, to: usize| {
                    let stmts = || ops[from..to].iter().flat_map(|op| &op.code);
                    let gain = |stmt| gain(&scope.names, stmt, unknown);
                    let is_short = |stmt: &&Stmt| matches!(stmt, Stmt::Expr(Expr::ForLoop(e), _) if is_short_nest(e, scope.names.trip_counts()));
                    let of_long = || stmts().filter(|stmt| !is_short(stmt)).map(gain).sum::<u32>();
                    stmts().map(gain).sum::<u32>() >= WORTH && (!is_inside || of_long() >= WORTH_INSIDE)
                };
                let mut from = 0;
                while from < ops.len() {
                    let to = (from + 1..=ops.len())
                        .take_while(|to| Plan::of(&scope, &ops[from..*to]).is_some())
                        .last()
                        .unwrap_or(from);
                    if worth(from, to) {
                        let run = Run { block, from, to };
                        let columns = analysed.get_or_insert_with(|| Columns::new(program));
                        let flow = self.facts.reference_flow(self.sources[func.0]);
                        if columns.can_cut(program, &scope, &run, flow) {
                            runs.push(run);
                        }
                    }
                    from = to + 1;
                }
            }
        }
        runs
    }

    fn split(&mut self, run: Run) {
        let position = self.started.iter().position(|b| *b == run.block).expect("numbered");
        let behind = !matches!(self.program.block(run.block).term, Terminator::Jump(_))
            || run.to < self.program.block(run.block).ops.len();
        if behind {
            let rest = self.split_off(run.block, run.to, "after loop");
            self.started.insert(position + 1, rest);
        }
        let mut loops = run.block;
        if run.from > 0 {
            loops = self.split_off(run.block, run.from, "interchanged");
            self.started.insert(position + 1, loops);
        }
        self.program.blocks[loops.0].interchanged = true;
    }

    /// Moves the ops from `at` on and the terminator to a new block.
    fn split_off(&mut self, from: BlockId, at: usize, label: &'static str) -> BlockId {
        let id = BlockId(self.program.blocks.len());
        let block = &mut self.program.blocks[from.0];
        let ops = block.ops.split_off(at);
        let term = std::mem::replace(&mut block.term, Terminator::Jump(id));
        let (func, span) = (block.func, block.span);
        self.program.add_block(func, ops, term, span, label)
    }
}

fn is_inside_loop(program: &Program, block: BlockId) -> bool {
    reached(block, |b| program.block(b).successors()).contains(&block)
}

/// Which variables can live in columns. A block of its own cuts what was one region, and a borrow of a
/// local must not cross a cut.
struct Columns {
    liveness: Liveness,
    /// Variables that cross regions anyway.
    crossing: VarSet,
}

impl Columns {
    fn new(program: &Program) -> Columns {
        let liveness = Liveness::compute(program, &Definedness::compute(program));
        let flow = Flow::compute(program);
        let mut crossing = VarSet::new();
        for function in &program.functions {
            crossing.extend(&function.params);
            crossing.insert(function.result);
        }
        for head in flow.loop_headers.iter().chain(&flow.continuations) {
            crossing.extend(&liveness.live_in[head.0]);
        }
        Columns { liveness, crossing }
    }

    fn can_cut(&self, program: &Program, scope: &Scope<'_>, run: &Run, flow: &ReferenceFlow) -> bool {
        let block = program.block(run.block);
        let mut live = VarSet::new();
        for cut in [run.from, run.to] {
            let (before, behind) = block.ops.split_at(cut);
            let mut alive = self.liveness.live_in[run.block.0].clone();
            before.iter().for_each(|op| alive.extend(&op.declares));
            let mut used = self.liveness.before_terminator(program, run.block);
            behind.iter().for_each(|op| used.extend(&op.uses));
            live.extend(&alive & &used);
        }
        let free = borrow_free(program, &scope.names, block.func, &self.crossing);
        live.iter()
            .all(|v| self.crossing.contains(v) || free.contains(v) || flow.is_number(&program.name(*v)))
    }
}
