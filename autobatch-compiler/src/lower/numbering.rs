//! The last step of the lowering: block ids in source order, empty blocks gone.

use std::collections::{BTreeMap, BTreeSet};

use syn::Expr;

use crate::ir::flow::forwarded;
use crate::ir::{self, Block, BlockId, Terminator, goto_target};
use crate::lower::lowering::Lowering;
use crate::syntax::walk::{self, AtMut};

impl Lowering<'_> {
    /// Numbers blocks in source order; drops those never started and those that only jump on.
    pub(super) fn renumber(&mut self) {
        let mut seen = BTreeSet::new();
        let entries: BTreeSet<BlockId> = self.program.functions.iter().map(|f| f.entry).collect();
        let order: Vec<BlockId> = (self.started.iter().copied())
            .filter(|b| (entries.contains(b) || forwarded(&self.program, *b) == *b) && seen.insert(*b))
            .collect();
        let mut new: BTreeMap<BlockId, BlockId> =
            order.iter().enumerate().map(|(i, b)| (*b, BlockId(i))).collect();
        for b in &self.started {
            let end = forwarded(&self.program, *b);
            let block = &self.program.blocks[b.0];
            let arrives = block.arrives.clone();
            self.program.blocks[end.0].arrives.extend(arrives);
            let target = new[&end];
            new.entry(*b).or_insert(target);
        }
        let mut old: Vec<Option<Block>> =
            std::mem::take(&mut self.program.blocks).into_iter().map(Some).collect();
        for id in &order {
            let mut block = old[id.0].take().expect("each block is started once");
            block.region = new[id];
            for op in &mut block.ops {
                op.exits.iter_mut().for_each(|b| *b = new[b]);
                walk::map(&mut op.code[..], |at| {
                    if let AtMut::Macro(mac) = at
                        && let Some(target) = goto_target(mac)
                        && let Expr::Macro(renamed) = ir::goto(new[&target])
                    {
                        *mac = renamed.mac;
                    }
                });
            }
            match &mut block.term {
                Terminator::Jump(b) => *b = new[b],
                Terminator::Branch { then, otherwise, .. } => {
                    (*then, *otherwise) = (new[then], new[otherwise])
                }
                Terminator::Switch { arms, .. } => arms.iter_mut().for_each(|a| a.target = new[&a.target]),
                Terminator::Call(call) => call.cont = new[&call.cont],
                Terminator::TailCall { .. } | Terminator::Return | Terminator::Unreachable => {}
            }
            self.program.blocks.push(block);
        }
        for function in &mut self.program.functions {
            (function.entry, function.exit) = (new[&function.entry], new[&function.exit]);
        }
    }
}
