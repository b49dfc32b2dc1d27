//! The control-flow graph of every function: reachable blocks in reverse postorder, predecessors,
//! loop headers.
//!
//! Invariant: an edge that is not a back edge goes forward in [`Flow::order`]. Where the graph leaves
//! a choice, the block that stands first in the source comes first, so that a loop precedes what
//! follows it. Calls are edges to their continuations; tail calls and returns leave the function.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{BlockId, FuncId, Program, Terminator};

/// Control flow within the functions of a program.
#[derive(Clone, Debug)]
pub struct Flow {
    /// For each function the blocks reachable from its entry, in reverse postorder.
    pub order: Vec<Vec<BlockId>>,
    /// For each block its reachable predecessors, without duplicates.
    pub preds: Vec<BTreeSet<BlockId>>,
    /// Targets of back edges of a depth-first search.
    pub loop_headers: BTreeSet<BlockId>,
    /// Continuations of reachable calls.
    pub continuations: BTreeSet<BlockId>,
}

impl Flow {
    /// Walks every function.
    pub fn compute(program: &Program) -> Flow {
        let mut flow = Flow {
            order: Vec::new(),
            preds: vec![BTreeSet::new(); program.blocks.len()],
            loop_headers: BTreeSet::new(),
            continuations: BTreeSet::new(),
        };
        for func in program.func_ids() {
            let order = flow.walk(program, func);
            for b in &order {
                for next in program.block(*b).successors() {
                    flow.preds[next.0].insert(*b);
                }
                if let Terminator::Call(call) = &program.block(*b).term {
                    flow.continuations.insert(call.cont);
                }
            }
            flow.order.push(order);
        }
        flow
    }

    fn walk(&mut self, program: &Program, func: FuncId) -> Vec<BlockId> {
        // The largest id is visited first and ends up last.
        let successors = |b: BlockId| {
            let mut all = program.block(b).successors();
            all.sort();
            all
        };
        let mut order = postorder(program.func(func).entry, successors);
        // What is finished later than a block that leads to it was open then.
        let finished: BTreeMap<BlockId, usize> = order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        for b in &order {
            let back = successors(*b).into_iter().filter(|next| finished[next] >= finished[b]);
            self.loop_headers.extend(back);
        }
        order.reverse();
        order
    }

    /// All reachable blocks, function by function.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.order.iter().flatten().copied()
    }

    /// The blocks of the loop with this header: from which control gets back to it without leaving it. In the order of ids.
    pub(crate) fn natural_loop(&self, header: BlockId) -> BTreeSet<BlockId> {
        let order = self.order.iter().find(|order| order.contains(&header)).map_or(&[][..], |order| order);
        let place = |b: &BlockId| order.iter().position(|other| other == b);
        let mut blocks = BTreeSet::from([header]);
        // Edges back come from behind the header.
        let mut left: Vec<BlockId> = self.preds[header.0].iter().copied().collect();
        left.retain(|b| place(b) >= place(&header));
        while let Some(b) = left.pop() {
            if blocks.insert(b) {
                left.extend(&self.preds[b.0]);
            }
        }
        blocks
    }

    /// Whether control can arrive at `b`, given that its function is called.
    pub fn is_reachable(&self, program: &Program, b: BlockId) -> bool {
        !self.preds[b.0].is_empty() || program.func(program.block(b).func).entry == b
    }
}

/// Where control ends up from `b` if nothing but jumps comes in between.
pub(crate) fn forwarded(program: &Program, mut b: BlockId) -> BlockId {
    for _ in 0..program.blocks.len() {
        match &program.block(b).term {
            Terminator::Jump(next) if program.block(b).ops.is_empty() => b = *next,
            _ => break,
        }
    }
    b
}

/// All that `next` leads to, each behind what it leads to itself; the last that it names is visited first. Depth-first on an explicit
/// stack: generated code may have very long chains.
pub(crate) fn postorder<T: Ord + Copy>(start: T, next: impl Fn(T) -> Vec<T>) -> Vec<T> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::from([start]);
    let mut stack = vec![(start, next(start))];
    while let Some((at, todo)) = stack.last_mut() {
        match todo.pop() {
            Some(to) if seen.insert(to) => stack.push((to, next(to))),
            Some(_) => {}
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::parse;

    #[test]
    fn a_loop_precedes_what_follows_it() {
        // The exit of the loop is its first successor, as in `while !done`.
        let (program, labels) = parse(
            "fn f(n: i64) -> i64 {
                b0: { let mut i = 0; jump head; }
                head: { branch (i >= n) after else body; }
                body: { i += 1; jump head; }
                after: { let result = i; jump exit; }
                dead: { jump after; }
            }",
        );
        let flow = Flow::compute(&program);
        let order: Vec<BlockId> =
            ["b0", "head", "body", "after", "exit"].iter().map(|l| labels[*l]).collect();
        assert_eq!(flow.order[0], order);
        assert_eq!(flow.loop_headers, BTreeSet::from([labels["head"]]));
        assert_eq!(
            flow.preds[labels["after"].0],
            BTreeSet::from([labels["head"]]),
            "dead code does not count"
        );
        assert!(!flow.is_reachable(&program, labels["dead"]));
    }
}
