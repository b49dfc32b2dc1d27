//! Groups blocks into regions, the units that are emitted and scheduled.
//!
//! A region is a single-entry acyclic set of blocks named by its head. Heads are: entries of
//! functions, continuations of calls, loop headers, and blocks where paths from different regions
//! meet, what stands behind a loop without calls, and blocks whose lanes run together (lane-interchanged, or as one
//! call of a primitive) with what stands behind them; every other block joins its predecessors. The exit block belongs to no region: to reach it
//! is to return. Fusing saves steps of the scheduler and keeps variables out of columns ("temporaries
//! stay inside blocks", Radul et al. 2020, optimisation 2); it costs idle lanes where members part
//! inside a region. So heavy blocks behind a branch stay blocks of their own, where members that
//! arrive at different times can meet; not those that every round of a loop comes through, if they may vectorise.
//!
//! Invariant: the blocks of a region form a directed acyclic graph that is entered only at the head.
//! Unreachable blocks head an (empty) region of their own that nothing enters.
//!
//! Imprecision: weight is a count of operators, not a measurement.

use std::collections::BTreeSet;

use crate::analysis::call_graph::called;
use crate::ir::effects::HEAVY;
use crate::ir::flow::Flow;
use crate::ir::{BlockId, FuncId, Program, Terminator};
use crate::passes::options::PassOptions;
use crate::std_models::elementary::calls_library;

/// Whether a block does so much that gathering members for it pays.
pub fn is_heavy(program: &Program, b: BlockId) -> bool {
    program.block(b).ops.iter().map(|op| op.weight).sum::<u32>() > HEAVY
}

/// Runs the pass; `split` blocks are heads too.
pub fn run(program: &mut Program, options: &PassOptions, split: &BTreeSet<BlockId>) {
    let flow = Flow::compute(program);
    let apart = branch_targets(program);
    for b in program.block_ids() {
        program.blocks[b.0].region = b;
    }
    if !options.fuse {
        return;
    }
    for func in program.func_ids() {
        let meets = members_part(program, &flow, func);
        for b in &flow.order[func.0] {
            let is_head = program.func(func).entry == *b
                || program.is_exit(*b)
                || flow.continuations.contains(b)
                || flow.loop_headers.contains(b)
                || split.contains(b)
                || runs_together(program, *b)
                || flow.preds[b.0].iter().any(|pred| runs_together(program, *pred))
                || (meets
                    && apart.contains(b)
                    && is_heavy(program, *b)
                    && (program.block(*b).ops.iter().any(|op| calls_library(&op.code[..]))
                        && !options.vector_math
                        || !in_every_round(program, &flow, *b)));
            if is_head {
                continue;
            }
            // In reverse postorder the regions of all predecessors are settled: the only edges from
            // behind are back edges, and their targets are heads.
            let mut regions = flow.preds[b.0].iter().map(|pred| program.block(*pred).region);
            let first = regions.next().expect("a reachable block that is no entry has predecessors");
            if regions.all(|region| region == first) && !leaves_tight_loop(program, &flow, first, *b) {
                program.blocks[b.0].region = first;
            }
        }
    }
}

fn runs_together(program: &Program, b: BlockId) -> bool {
    program.block(b).interchanged || program.block(b).primitive.is_some()
}

/// Whether `b` is where all go that stay in a loop without calls, from its header: who comes there together leaves it
/// together.
fn in_every_round(program: &Program, flow: &Flow, b: BlockId) -> bool {
    let mut preds = flow.preds[b.0].iter().copied();
    let header = preds.next().filter(|pred| preds.next().is_none() && flow.loop_headers.contains(pred));
    let Some(header) = header else { return false };
    let body = natural_loop(program, flow, header);
    let block = program.block(header);
    let exits = block.ops.iter().flat_map(|op| op.exits.iter().copied());
    body.contains(&b)
        && exits.chain(block.term.successors()).all(|next| next == b || !body.contains(&next))
        && body.iter().all(|inside| called(program, *inside).is_none())
}

/// Whether `b` stands behind a loop without calls that `head` heads. Such a region repeats on a strip
/// held in vector registers; what happens once behind the loop would only add columns to carry along.
fn leaves_tight_loop(program: &Program, flow: &Flow, head: BlockId, b: BlockId) -> bool {
    if !flow.loop_headers.contains(&head) {
        return false;
    }
    let body = natural_loop(program, flow, head);
    !body.contains(&b) && body.iter().all(|inside| called(program, *inside).is_none())
}

/// The blocks that can come back to the loop header without passing through it.
fn natural_loop(program: &Program, flow: &Flow, header: BlockId) -> BTreeSet<BlockId> {
    let order = &flow.order[program.block(header).func.0];
    let position = |b: BlockId| order.iter().position(|other| *other == b);
    let mut body = BTreeSet::from([header]);
    // Back edges come from behind the header in reverse postorder.
    let mut queue: Vec<BlockId> =
        flow.preds[header.0].iter().copied().filter(|p| position(*p) >= position(header)).collect();
    while let Some(b) = queue.pop() {
        if body.insert(b) {
            queue.extend(flow.preds[b.0].iter().copied());
        }
    }
    body
}

/// Whether members can be at different places of the function at one time for longer than a region.
fn members_part(program: &Program, flow: &Flow, func: FuncId) -> bool {
    flow.order[func.0].iter().any(|b| {
        flow.loop_headers.contains(b)
            || called(program, *b).is_some()
            || program.block(*b).primitive.is_some()
    })
}

/// Blocks that only some of the members in a block go to.
fn branch_targets(program: &Program) -> BTreeSet<BlockId> {
    let mut targets = BTreeSet::new();
    for block in &program.blocks {
        targets.extend(block.ops.iter().flat_map(|op| op.exits.iter().copied()));
        if matches!(block.term, Terminator::Branch { .. } | Terminator::Switch { .. }) {
            targets.extend(block.term.successors());
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{FIB, PEA_NUTS, parse};

    fn heads(source: &str, fuse: bool) -> Vec<String> {
        let (mut program, labels) = parse(source);
        run(&mut program, &PassOptions { fuse, ..Default::default() }, &BTreeSet::new());
        let mut heads: Vec<String> = labels
            .iter()
            .filter(|(_, b)| program.is_head(**b) && !program.is_exit(**b))
            .map(|(label, _)| label.clone())
            .collect();
        heads.sort();
        heads
    }

    #[test]
    fn what_stands_behind_a_tight_loop_stays_out_of_it() {
        let tight = "fn f(n: i64) -> i64 {
            b0: { let mut i = 0; jump b1; }
            b1: { branch (i < n) b2 else b3; }
            b2: { i = i + 1; jump b1; }
            b3: { let result = i; jump exit; }
        }";
        assert_eq!(heads(tight, true), ["b0", "b1", "b3"]);
        // With a call inside, the loop's header is visited by the scheduler anyway.
        let calling = "fn f(n: i64) -> i64 {
            b0: { let mut i = 0; jump b1; }
            b1: { branch (i < n) b2 else b4; }
            b2: { let k = n - 1; call f(k) -> d, b3; }
            b3: { i = i + d; jump b1; }
            b4: { let result = i; jump exit; }
        }";
        assert_eq!(heads(calling, true), ["b0", "b1", "b3"]);
    }

    #[test]
    fn fib_is_three_regions() {
        assert_eq!(heads(FIB, true), ["b0", "b3", "b4"]);
        assert_eq!(heads(FIB, false), ["b0", "b1", "b2", "b3", "b4"]);
    }

    #[test]
    fn loops_and_joins() {
        let source = "fn f(n: i64) -> i64 {
            b0: { let mut i = 0; branch (n > 0) head else low; }
            head: { branch (i < n) odd else last; }
            odd: { branch (i % 2 == 0) even else join; }
            even: { i += 1; jump join; }
            join: { i += 1; jump head; }
            low: { i = 7; jump last; }
            last: { let result = i; jump exit; }
        }";
        assert_eq!(heads(source, true), ["b0", "head", "last"], "only `last` is reached from two regions");
    }

    #[test]
    fn heavy_bodies_of_loops_stay_in_them() {
        let work = "i = g(i) + g(i) + g(i) + g(i);";
        let root = "i = g(i) + g(i) + g(i) + i.exp();";
        let program = |first: &str| {
            format!(
                "fn f(n: i64) -> i64 {{
                b0: {{ let mut i = 0; jump b1; }}
                b1: {{ branch (i < n) b2 else b5; }}
                b2: {{ {first} branch (i % 2 == 0) b3 else b4; }}
                b3: {{ {work} jump b4; }}
                b4: {{ i += 1; jump b1; }}
                b5: {{ let result = i; jump exit; }}
            }}"
            )
        };
        assert_eq!(heads(&program(work), true), ["b0", "b1", "b3", "b4", "b5"], "b3 is for some");
        assert!(heads(&program(root), true).contains(&"b2".to_string()));
        assert!(!heads(&program("i += 1;"), true).contains(&"b2".to_string()));
    }

    #[test]
    fn heavy_blocks_stay_apart() {
        assert!(heads(PEA_NUTS, true).contains(&"leaf".to_string()));
    }
}
