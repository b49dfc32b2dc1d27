//! Task blocks: activations that make all of their calls at once, block above block (Ren, Jo, Krishnamoorthy, Agrawal, Kulkarni, PLDI 2015).
//!
//! A block holds activations of one depth that do call, side by side whatever call they come from. A block is run piece by piece, so that
//! the calls of a piece fit into the block above it; on the way back each strip picks up the results of its calls in the order in which they went up.
//!
//! **Invariant:** a block's columns have room for what one more strip may send up ([`TaskBlocks::has_room`]).

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;

use super::arena::Arena;
use crate::batch::Pulse;
use crate::native_stack::depth::{Depth, TooDeep};
use crate::native_stack::room;

/// What the columns of a block may take: some blocks shall stay in the caches.
const CACHE: usize = 32 << 10;
/// The members of a full block, by that.
const LEAST: usize = 128;
const MOST: usize = 1024;
/// What all blocks may take. Beyond that the members run as scalar code.
const LARGEST: usize = 64 << 20;

/// The columns of a variable: one for each block.
pub struct BlockColumns<'a, T> {
    columns: Vec<&'a mut [MaybeUninit<T>]>,
}

/// A block that needs columns, and of how many lanes.
#[derive(Clone, Copy)]
pub struct NewBlock {
    nth: usize,
    lanes: usize,
}

impl<'a, T> BlockColumns<'a, T> {
    /// Without blocks.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        BlockColumns { columns: Vec::new() }
    }

    /// The bytes of a value.
    #[cfg_attr(optimised, inline(always))]
    pub fn bytes(&self) -> usize {
        size_of::<T>()
    }

    /// The column of the first block.
    #[cfg_attr(optimised, inline(always))]
    pub fn begin(&mut self, column: &'a mut [MaybeUninit<T>]) {
        self.columns.push(column);
    }

    /// A block gets a column, perhaps in place of a shorter one.
    #[cfg_attr(optimised, inline(always))]
    pub fn grow(&mut self, arena: &mut Arena<'a>, grown: NewBlock) {
        let column = arena.column(grown.lanes);
        match self.columns.get_mut(grown.nth) {
            Some(old) => *old = column,
            None => {
                room::make(&mut self.columns, 1);
                self.columns.push(column);
            }
        }
    }

    /// The column of the block that is run.
    #[cfg_attr(optimised, inline(always))]
    pub fn here(&mut self, blocks: &TaskBlocks<'_>) -> &mut [MaybeUninit<T>] {
        self.columns[blocks.current]
    }

    /// The same, and that of the block above.
    #[cfg_attr(optimised, inline(always))]
    pub fn both(&mut self, blocks: &TaskBlocks<'_>) -> (&mut [MaybeUninit<T>], &mut [MaybeUninit<T>]) {
        let [here, above] = &mut self.columns[blocks.current..blocks.current + 2] else {
            unreachable!("two")
        };
        (here, above)
    }

    /// That of the first block.
    #[cfg_attr(optimised, inline(always))]
    pub fn first(&self) -> &[MaybeUninit<T>] {
        self.columns[0]
    }
}

/// The members of a block.
struct TaskBlock {
    count: usize,
    /// The strips whose calls are under way.
    first: usize,
    next: usize,
    /// The lanes of its columns.
    lanes: usize,
}

/// Which blocks there are, and what is to be done next.
pub struct TaskBlocks<'a> {
    blocks: Vec<TaskBlock>,
    /// The block that is run.
    current: usize,
    /// The depth of what the block calls.
    depth: Depth,
    /// The bytes of a lane, and those that blocks have taken.
    bytes: usize,
    taken: usize,
    /// The lanes of a full block.
    room: usize,
    /// The lanes that may go up from one strip.
    step: usize,
    /// The lanes of a strip, as a number that LLVM does not know: it unrolls short loops before it makes vectors of them.
    wide: usize,
    /// Whether strips of the block are run next, or results fetched.
    descends: bool,
    /// What counts, if the run has limits, and the steps of an activation that calls.
    pulse: Option<&'a Pulse<'a>>,
    steps: usize,
}

impl<'a> TaskBlocks<'a> {
    /// For `count` members at `depth` that make `calls` calls each; a block has columns of so many `bytes` each.
    #[cfg_attr(optimised, inline(always))]
    pub fn new<const W: usize>(
        arena: &Arena<'a>,
        depth: Depth,
        count: usize,
        calls: usize,
        bytes: &[usize],
    ) -> TaskBlocks<'a> {
        let bytes: usize = bytes.iter().sum();
        let step = W * calls;
        // Tests shall meet blocks that are full.
        let room = if cfg!(debug_assertions) { 3 * W } else { (CACHE / bytes.max(1)).clamp(LEAST, MOST) };
        let room = room.max(step).next_multiple_of(W);
        let base = TaskBlock { count, first: 0, next: 0, lanes: count.next_multiple_of(W) };
        TaskBlocks {
            blocks: vec![base],
            current: 0,
            depth: below(depth),
            bytes,
            taken: 0,
            room,
            step,
            wide: black_box(W),
            descends: true,
            pulse: arena.pulse,
            // Those of the callees' entry regions, and of what stands before and behind the calls.
            steps: 2 * calls,
        }
    }

    /// The first block.
    #[cfg_attr(optimised, inline(always))]
    pub fn base(&self) -> NewBlock {
        NewBlock { nth: 0, lanes: self.blocks[0].lanes }
    }

    /// Whether strips of the block are to be run, before results are fetched.
    #[cfg_attr(optimised, inline(always))]
    pub fn descends(&self) -> bool {
        self.descends
    }

    /// The block above, if it has no columns for what may come.
    #[cfg_attr(optimised, inline(always))]
    pub fn grows<const W: usize>(&mut self) -> Option<NewBlock> {
        // Whole strips are run, pads included, and whole strips are written behind what goes up.
        let strips = self.blocks[self.current].count.div_ceil(W);
        let lanes = (self.step * strips).min(self.room + self.step);
        let nth = self.current + 1;
        match self.blocks.get_mut(nth) {
            Some(block) if block.lanes >= lanes => return None,
            Some(block) => block.lanes = lanes,
            None => {
                room::make(&mut self.blocks, 1);
                self.blocks.push(TaskBlock { count: 0, first: 0, next: 0, lanes });
            }
        }
        self.taken += lanes * self.bytes;
        if self.taken > LARGEST {
            resume_unwind(Box::new(TooDeep));
        }
        Some(NewBlock { nth, lanes })
    }

    /// The first strip that has not been run, and the number of strips.
    #[cfg_attr(optimised, inline(always))]
    pub fn strips<const W: usize>(&self) -> (usize, usize) {
        let block = &self.blocks[self.current];
        (block.next, block.count.div_ceil(W))
    }

    /// Whether another strip may be run when so many have gone up.
    #[cfg_attr(optimised, inline(always))]
    pub fn has_room<const W: usize>(&self, up: usize) -> bool {
        up + self.step <= self.room
    }

    /// The lanes of a strip that have a member.
    #[cfg_attr(optimised, inline(always))]
    pub fn members<const W: usize>(&self, strip: usize) -> u64 {
        match self.blocks[self.current].count - strip * W {
            count if count >= W => !0 >> (64 - W),
            count => (1 << count) - 1,
        }
    }

    /// The lanes of a strip.
    #[cfg_attr(optimised, inline(always))]
    pub fn wide<const W: usize>(&self) -> usize {
        self.wide & W
    }

    /// The strips before `next` have been run. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn expanded<const W: usize>(&mut self, next: usize) {
        let block = &mut self.blocks[self.current];
        if let Some(pulse) = self.pulse {
            let (from, to) = ((block.next * W).min(block.count), (next * W).min(block.count));
            pulse.together(((to - from) * self.steps) as u64, (next - block.next) as u64);
        }
        block.next = next;
    }

    /// How many blocks there are below.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// The depth of what the block calls.
    #[cfg_attr(optimised, inline(always))]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The block above is run, with `count` members.
    #[cfg_attr(optimised, inline(always))]
    pub fn enter(&mut self, count: usize) {
        self.depth = below(self.depth);
        self.current += 1;
        let block = &mut self.blocks[self.current];
        (block.count, block.first, block.next) = (count, 0, 0);
        self.descends = true;
    }

    /// The strips that get the results of their calls.
    #[cfg_attr(optimised, inline(always))]
    pub fn joins(&self) -> (usize, usize) {
        let block = &self.blocks[self.current];
        (block.first, block.next)
    }

    /// These strips have theirs: goes on with the block's next ones, or below; whether there is anything left.
    #[cfg_attr(optimised, inline(always))]
    pub fn leave<const W: usize>(&mut self) -> bool {
        let block = &mut self.blocks[self.current];
        block.first = block.next;
        self.descends = block.next < block.count.div_ceil(W);
        if self.descends {
            return true;
        }
        let Some(before) = self.current.checked_sub(1) else { return false };
        self.current = before;
        self.depth = self.depth.back();
        true
    }
}

/// The depth of what is called at `depth`; unwinds where that is not allowed.
#[cfg_attr(optimised, inline(always))]
fn below(depth: Depth) -> Depth {
    let next = depth.next();
    if next.is_exceeded() {
        resume_unwind(Box::new(TooDeep));
    }
    next
}
