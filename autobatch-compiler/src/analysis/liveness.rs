//! Which variables' values are still needed.
//!
//! The classic backward analysis, restricted to what [`Definedness`] says is there. A side exit of an
//! op needs what is live at its target before the op, except what the jump itself assigns
//! ([`crate::ir::Block::arrives`]). At the exit block exactly the result is live.
//!
//! Invariant: at a block's start every live variable holds a value, and running on from there reads
//! no other variable before writing it. "Live across a call" is what storage classes and
//! caller-saves are made of.
//!
//!
//! Imprecision: a mention is a read. `x[0] = 1` keeps `x` alive, rightly; an op that surely assigns `x`
//! in both branches of its own `if` keeps it alive, needlessly.

use crate::analysis::definedness::Definedness;
use crate::ir::flow::Flow;
use crate::ir::{BlockId, Call, Program, VarSet};

/// The variables that are live at the start of each block.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Indexed by block; empty for a block that is never reached.
    pub live_in: Vec<VarSet>,
}

impl Liveness {
    /// Runs the analysis.
    pub fn compute(program: &Program, definedness: &Definedness) -> Liveness {
        let flow = Flow::compute(program);
        let mut liveness = Liveness { live_in: vec![VarSet::new(); program.blocks.len()] };
        for function in &program.functions {
            liveness.live_in[function.exit.0].insert(function.result);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in flow.order.iter().flat_map(|blocks| blocks.iter().rev().copied()) {
                if program.is_exit(b) {
                    continue;
                }
                let live = &liveness.at_start(program, b) & &definedness.at_entry[b.0];
                if live != liveness.live_in[b.0] {
                    liveness.live_in[b.0] = live;
                    changed = true;
                }
            }
        }
        liveness
    }

    /// Needed right before the terminator of `b`: what it reads, and what its targets need of what
    /// is there already.
    pub fn before_terminator(&self, program: &Program, b: BlockId) -> VarSet {
        let term = &program.block(b).term;
        let mut live = term.uses();
        for (nth, target) in term.successors().into_iter().enumerate() {
            live.extend(&self.live_in[target.0] - &term.binds(nth));
        }
        live
    }

    /// Live behind the call, its result excluded: what has to survive the callee.
    pub fn across(&self, call: &Call) -> VarSet {
        let mut live = self.live_in[call.cont.0].clone();
        live.remove(&call.dest);
        live
    }

    fn at_start(&self, program: &Program, b: BlockId) -> VarSet {
        let mut live = self.before_terminator(program, b);
        for op in program.block(b).ops.iter().rev() {
            live.retain(|v| !op.defs.contains(v));
            live.extend(&op.uses);
            for exit in &op.exits {
                live.extend(&self.live_in[exit.0] - &program.block(*exit).arrives);
            }
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{FIB, names, parse};

    fn analyse(program: &Program) -> Liveness {
        Liveness::compute(program, &Definedness::compute(program))
    }

    #[test]
    fn fib() {
        let (program, labels) = parse(FIB);
        let live = analyse(&program);
        let at = |label: &str| names(&program, &live.live_in[labels[label].0]);
        assert_eq!(at("b0"), ["n"]);
        assert!(at("b1").is_empty());
        assert_eq!(at("b3"), ["left", "n"]);
        assert_eq!(at("b4"), ["left", "right"]);
        assert_eq!(at("exit"), ["result"]);
        let calls = program.call_sites();
        assert_eq!(names(&program, &live.across(calls[0].1)), ["n"]);
        assert_eq!(names(&program, &live.across(calls[1].1)), ["left"]);
    }

    #[test]
    fn side_exits_and_undefined_variables() {
        let (program, labels) = parse(
            "fn f(n: i64, m: i64, k: i64) -> i64 {
                b0: { jump head; }
                head: {
                    let t = if n > 9 { let result = m; goto!(exit) } else { n };
                    let s = if t > 5 { goto!(last) } else { t };
                    let u = s;
                    jump head;
                }
                last: { let result = t + k; jump exit; }
            }",
        );
        let live = analyse(&program);
        assert_eq!(
            names(&program, &live.live_in[labels["head"].0]),
            ["k", "m", "n"],
            "t is not defined there"
        );
        assert_eq!(names(&program, &live.live_in[labels["last"].0]), ["k", "t"]);
    }
}
