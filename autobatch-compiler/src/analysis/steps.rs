//! Steps: the calls and the turns of loops that a limit counts, in blocks and in scalar code.
//!
//! ```text
//! fn walk(n: u64, state: &mut u64) -> u64 {     // a step
//!     let mut sum = 0;
//!     for i in 0..n % 3 {                       // a step for each turn, and one at the end
//!         sum += walk(i, state);
//!     }
//!     sum
//! }
//! ```
//!
//! In blocks a step is made where a region begins that is the entry of a function or the head of a loop. Scalar code makes it at the same
//! places of the code as it is written. Both are the same number if each loop and each call that is written is one in blocks. Where
//! that is not certain, scalar code is not counted.
//!
//! **Invariant:** only limits depend on it, no result.

use syn::Expr;

use crate::ir::{Block, BlockId, Program, Terminator};
use crate::item::model::Function;
use crate::syntax::walk::{self, At, Code, Next};

/// Whether a member makes a step when it comes to the head of a region.
pub(crate) fn is_step(program: &Program, head: BlockId) -> bool {
    let block = program.block(head);
    block.header || program.func(block.func).entry == head
}

/// The calls of each function of a program that are blocks of their own, if all of its loops are those that are written. Regions are
/// settled.
pub(crate) fn calls_if_as_written(program: &Program, written: &[&Function]) -> Option<Vec<usize>> {
    let certain = program.notes.is_empty() && program.blocks.iter().all(is_certain);
    let functions = program.func_ids().zip(written);
    let calls = functions.map(|(func, written)| {
        let headers = program.blocks_of(func).filter(|block| block.header).count();
        let calls = |block: &&Block| matches!(block.term, Terminator::Call(_) | Terminator::TailCall { .. });
        (headers == loops(&written.written)).then(|| program.blocks_of(func).filter(calls).count())
    });
    let heads = program.blocks.iter().enumerate().filter(|(_, block)| block.header);
    let heads_stay = heads.clone().all(|(id, block)| block.region == BlockId(id));
    calls.collect::<Option<Vec<_>>>().filter(|_| certain && heads_stay)
}

/// Whether a block has no loop in it and calls no primitive, which has steps of its own.
fn is_certain(block: &Block) -> bool {
    block.term.conditions().all(|e| loops(e) == 0)
        && block.primitive.is_none()
        && block.code().all(|stmt| loops(stmt) == 0)
}

/// The loops in code, those in closures included.
fn loops(code: &(impl Code + ?Sized)) -> usize {
    let mut loops = 0;
    walk::each(code, |at| {
        loops += usize::from(matches!(at, At::Expr(Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_))));
        Next::On
    });
    loops
}
