//! The frame stack: what calls save, a frame for each depth and lane.
//!
//! **Invariant:** a frame is read with the type that it was written with: call sites have a type each, and the key of a returning record says
//! which call site it comes from.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::key::Keys;
use super::queue::ContinuationQueue;
use super::record::put_one;
use crate::simd::{self, Level};
use crate::storage::Aligned;

/// The lanes set in `here`, and how many are set below each.
#[cfg_attr(optimised, inline(always))]
pub(super) fn each<const W: usize>(here: u64, mut f: impl FnMut(usize, usize)) {
    let (mut rest, mut nth) = (here, 0);
    while rest != 0 {
        f(nth, rest.trailing_zeros() as usize & (W - 1));
        rest &= rest - 1;
        nth += 1;
    }
}

/// A slot of the stack: frames of any type begin at one.
#[repr(align(16))]
#[derive(Clone, Copy)]
pub(super) struct Slot {
    _bytes: [u8; 16],
}

/// The frames of all lanes, one for each key, whichever call site it is of.
pub struct FrameStack<'a> {
    pub(super) slots: &'a mut [MaybeUninit<Slot>],
    /// Slots for each frame.
    pub(super) size: usize,
}

/// What calls of a call site save.
pub struct SavedFrame<T>(PhantomData<fn(T) -> T>);

/// A frame: where the caller has been called from itself, and what is live behind the call.
struct Frame<T> {
    key: u32,
    values: T,
}

/// The slots of the largest frame. (Generated code has no prelude to take `max` from.)
#[cfg_attr(optimised, inline(always))]
pub fn largest(sizes: &[usize]) -> usize {
    sizes.iter().fold(0, |largest, size| largest.max(*size))
}

impl<T> SavedFrame<T> {
    /// Nothing yet.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        SavedFrame(PhantomData)
    }

    /// The slots that a frame takes.
    #[cfg_attr(optimised, inline(always))]
    pub fn size(&self) -> usize {
        // Not a constant: code for programs with other types exists, and is never run.
        assert!(align_of::<Frame<T>>() <= align_of::<Slot>(), "plain values are aligned as slots are");
        size_of::<Frame<T>>().div_ceil(size_of::<Slot>())
    }

    /// Makes a frame's position on the stack, as `Keys::slots` says it, the frame. (Stores to frames do not make LLVM load the
    /// stack's address again.)
    #[cfg_attr(optimised, inline(always))]
    fn frames<'s>(
        &self,
        stack: &'s mut FrameStack<'_>,
        size: usize,
    ) -> impl Fn(u32) -> &'s mut MaybeUninit<Frame<T>> + use<'s, T> {
        debug_assert!(size == stack.size && size >= self.size());
        let (slots, len) = (stack.slots.as_mut_ptr(), stack.slots.len());
        move |slot| {
            let slot = slot as usize;
            debug_assert!(slot + size <= len);
            // SAFETY: keys are within the stack: it grows before a record is too deep (`Wavefront::check`). A frame takes no
            // more slots than there are for each, and is aligned as they are. Any bits are a `MaybeUninit`. Callers
            // use one frame at a time.
            unsafe { &mut *slots.add(slot).cast() }
        }
    }

    /// The lanes `here` of a strip, at `keys`, save their frames for the callees at `up`. `size` is the stack's.
    #[cfg_attr(optimised, inline(always))]
    pub fn save<const W: usize>(
        &self,
        stack: &mut FrameStack<'_>,
        size: usize,
        (keys, up): (&Keys<W>, &Keys<W>),
        here: u64,
        mut values: impl FnMut(usize) -> T,
    ) {
        let (frame, slots) = (self.frames(stack, size), up.slots(size));
        each::<W>(here, |_, lane| {
            frame(slots.0.0[lane]).write(Frame { key: keys.0.0[lane], values: values(lane) });
        });
    }

    /// Nothing but the types: the code behind a call may stand before the callee's, which fetches.
    #[cfg_attr(optimised, inline(always))]
    pub fn restores(&self, _values: impl FnOnce(T)) {}

    /// The lanes `here` return from `keys`: they enter a queue, where `values` puts down what they have saved.
    #[cfg_attr(optimised, inline(always))]
    pub fn fetch<const W: usize>(
        &self,
        stack: &mut FrameStack<'_>,
        size: usize,
        keys: &Keys<W>,
        here: u64,
        queue: &mut ContinuationQueue<'_>,
        level: Level,
        mut values: impl FnMut(usize, T),
    ) {
        let (frame, first, count) = (self.frames(stack, size), queue.len, here.count_ones() as usize);
        let mut back = Aligned([MaybeUninit::uninit(); W]);
        simd::append(&mut back.0, keys.slots(size).strip(), here, level);
        for (nth, slot) in back.0[..count].iter().enumerate() {
            // SAFETY: `append` has put down so many. By the protocol the call has saved its frame there.
            let frame = unsafe { frame(slot.assume_init()).assume_init_read() };
            put_one(queue.keys, first + nth, MaybeUninit::new(frame.key));
            values(first + nth, frame.values);
        }
        queue.len += count;
    }
}
