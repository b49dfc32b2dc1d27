//! Depth without native stack for scalar code: what the depth-counting clones of user functions carry.
//!
//! A clone is the user's function with one more parameter, the [`Depth`]. On entry it asks
//! [`Depth::stops`] or [`Depth::nears`], an addition and a test of two bits; where that says yes,
//! [`Depth::elsewhere`] ends the member or goes on on a new stack segment.
//!
//! Closures can't be handed the value: capturing it would bind them to the activation, and they may run
//! on another thread or segment. They ask [`Depth::published`] instead, which is per thread.

use std::cell::Cell;
use std::panic::resume_unwind;

use super::thread_stack::{self, stack_pointer};
use super::{budget, coroutine, room};

/// Bytes that must be left when a function of the program is entered: room for its own frame and for
/// what it calls outside the program.
const RESERVE: usize = 256 << 10;
/// The smallest and the largest segment; each is twice as large as the one before.
const SEGMENT: usize = 2 << 20;
const LARGEST: usize = 256 << 20;
/// What is assumed to be left where the platform does not say.
const UNKNOWN: usize = 512 << 10;

/// How deep this activation may still call, and where its stack ends: one word, as it is an argument of every call and has
/// to be kept across it. For generated code only.
///
/// The lower half holds the nested calls that are left, negative in the call that is too many; the upper half the negated lowest
/// address at which a function may be entered, as far as it fits: with the stack pointer added it is how much stack is left.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth(u64);

/// The signs of both halves.
const SIGNS: u64 = 1 << 63 | 1 << 31;
/// The most that a half can hold: more calls than there is stack for.
const MOST: usize = i32::MAX as usize;

/// Memory that is given back when this is dropped.
struct Taken(usize);

impl Taken {
    fn new(bytes: usize) -> Taken {
        budget::ask(bytes);
        Taken(bytes)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        budget::give(self.0);
    }
}

/// What a member unwinds with whose depth is exceeded.
pub(crate) struct TooDeep;

thread_local! {
    /// What closures of the innermost activation see; [`NOWHERE`] on a thread that runs no member.
    static PUBLISHED: Cell<Depth> = const { Cell::new(NOWHERE) };
    /// The bytes of the segments that this thread's stack consists of.
    static GROWN: Cell<usize> = const { Cell::new(0) };
    /// The most they have been since [`take_peak`].
    static PEAK: Cell<usize> = const { Cell::new(0) };
    /// The lowest address of the stack, or of its segment, that this thread runs on; 0 where the platform does not say.
    static LOWEST: Cell<usize> = Cell::new(thread_stack::lowest());
}

/// No depth: limits are odd.
const NOWHERE: Depth = Depth(0);

impl Depth {
    /// So many nested calls, on a stack that ends at `limit`.
    fn new(left: usize, limit: usize) -> Depth {
        let end = (limit as u32 | 1).wrapping_neg();
        Depth(u64::from(end) << 32 | left.min(MOST) as u64)
    }

    /// The depth with which a member begins on this thread.
    pub(crate) fn root(max_depth: usize) -> Depth {
        Depth::new(max_depth, limit())
    }

    /// The same number of calls, on another stack.
    fn on(self, limit: usize) -> Depth {
        Depth::new(self.allowed(), limit)
    }

    /// The same number of calls, on the stack that this is called on.
    pub(crate) fn on_this_stack(self) -> Depth {
        self.on(limit())
    }

    /// The depth of a callee. (A tail call passes its own depth on.)
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn next(self) -> Depth {
        // A negative depth, which has borrowed of the upper half, does not get past the callee's entry.
        Depth(self.0.wrapping_sub(1))
    }

    /// The depth of the caller.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub(crate) fn back(self) -> Depth {
        Depth(self.0.wrapping_add(1))
    }

    /// Whether this call is too many.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn is_exceeded(self) -> bool {
        (self.0 as i32) < 0
    }

    /// How many nested calls are allowed from here.
    pub(crate) fn allowed(self) -> usize {
        usize::try_from(self.0 as i32).unwrap_or(0)
    }

    /// The calls and the bytes of stack that are left.
    #[cfg_attr(optimised, inline(always))]
    fn here(self) -> u64 {
        self.0.wrapping_add((stack_pointer() as u64) << 32)
    }

    /// Whether the function can't be entered here.
    #[cfg_attr(optimised, inline(always))]
    pub fn stops(self) -> bool {
        // Calls alone are counted there.
        if cfg!(target_family = "wasm") { self.is_exceeded() } else { self.here() & SIGNS != 0 }
    }

    /// Whether a function that calls others without their asking can't be entered here: it needs a level for
    /// itself and so many for them.
    #[cfg_attr(optimised, inline(always))]
    pub fn nears(self, levels: usize) -> bool {
        Depth(self.0.wrapping_sub(levels as u64)).stops()
    }

    /// Whether a function entered here must not make so many nested calls.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_last(self, levels: usize) -> bool {
        (self.0 as u32 as usize) < levels
    }

    /// Enters the function after all, on a new segment if it needs one; or ends the member, without the panic
    /// hook.
    #[cold]
    #[inline(never)]
    pub fn elsewhere<R>(self, enter: impl FnOnce(Depth) -> R) -> R {
        if self.is_exceeded() {
            resume_unwind(Box::new(TooDeep));
        }
        if !self.stops() {
            return enter(self);
        }
        let size = (GROWN.get() + SEGMENT).min(LARGEST);
        let _taken = Taken::new(size);
        match on_segment(size, |limit| enter(self.on(limit))) {
            Some(result) => result,
            None => room::refused(),
        }
    }

    /// Makes this the depth that closures see, until the guard is dropped.
    #[cfg_attr(optimised, inline(always))]
    pub fn publish(self) -> Published {
        Published { before: PUBLISHED.replace(self) }
    }

    /// The depth of the innermost activation with closures on this thread.
    #[cfg_attr(optimised, inline(always))]
    pub fn published() -> Depth {
        let depth = PUBLISHED.get();
        if depth == NOWHERE { Depth::root(MOST) } else { depth }
    }
}

/// Restores what was published before. For generated code only.
#[doc(hidden)]
#[derive(Debug)]
pub struct Published {
    before: Depth,
}

impl Drop for Published {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        PUBLISHED.set(self.before);
    }
}

/// Runs `f` on a new segment, with the limit that holds there. Not if there is no memory for one.
pub(crate) fn on_segment<R>(size: usize, f: impl FnOnce(usize) -> R) -> Option<R> {
    let (mut f, mut result) = (Some(f), None);
    switch(size, size, &mut |limit| result = f.take().map(|f| f(limit)));
    result
}

/// Runs `f` where so many bytes of stack are left. More of them don't count as grown. Unwinds if there is no memory for them.
pub(crate) fn with_room(room: usize, f: &mut dyn FnMut()) {
    let runs = match LOWEST.get() {
        lowest if lowest != 0 && stack_pointer() >= lowest + room => {
            f();
            true
        }
        _ => switch(4 * room, 0, &mut |_| f()),
    };
    if !runs {
        room::refused();
    }
}

/// Runs `f` on a new segment, of which so many bytes count as grown; whether there is memory for one. Compiled once, not with each function
/// of a user.
fn switch(size: usize, counted: usize, f: &mut dyn FnMut(usize)) -> bool {
    struct Before {
        grown: usize,
        lowest: usize,
    }
    impl Drop for Before {
        fn drop(&mut self) {
            GROWN.set(self.grown);
            LOWEST.set(self.lowest);
        }
    }
    coroutine::on_segment(size, &mut |lowest| {
        let before = Before { grown: GROWN.get(), lowest: LOWEST.replace(lowest) };
        GROWN.set(before.grown + counted);
        PEAK.set(PEAK.get().max(before.grown + counted));
        let limit = limit();
        let published = PUBLISHED.get();
        let _published = if published == NOWHERE { NOWHERE } else { published.on(limit) }.publish();
        f(limit);
    })
}

/// The state of the stack that a thread is on. Fibers have one each, which takes the thread's place while they run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackState {
    published: Depth,
    grown: usize,
    peak: usize,
    lowest: usize,
}

impl StackState {
    /// Of a new stack with that lowest address.
    pub(crate) fn of_stack(lowest: usize) -> StackState {
        StackState { published: NOWHERE, grown: 0, peak: 0, lowest }
    }

    /// Whether there have been segments.
    pub(crate) fn has_grown(&self) -> bool {
        self.peak > 0
    }

    /// Takes the place of the state of this thread's stack, which is returned.
    #[inline]
    pub(crate) fn swap(self) -> StackState {
        StackState {
            published: PUBLISHED.replace(self.published),
            grown: GROWN.replace(self.grown),
            peak: PEAK.replace(self.peak),
            lowest: LOWEST.replace(self.lowest),
        }
    }
}

/// The bytes of the segments that this thread's stack has now, and the most it has had since the last call.
pub(crate) fn take_peak() -> (usize, usize) {
    (GROWN.get(), PEAK.replace(0))
}

/// The lowest address at which a function may be entered on the current stack.
fn limit() -> usize {
    match LOWEST.get() {
        0 => stack_pointer() - UNKNOWN + RESERVE,
        // What is beyond can't be counted.
        lowest => lowest.max(stack_pointer().saturating_sub(MOST)) + RESERVE,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    fn sum(n: u64, depth: Depth) -> u64 {
        if depth.stops() {
            return depth.elsewhere(move |depth| sum(n, depth));
        }
        if n == 0 { 0 } else { std::hint::black_box(sum(n - 1, depth.next())) + n }
    }

    /// Runs `f` on a thread with a stack of `kib`.
    fn on_thread<R: Send + 'static>(kib: usize, f: impl FnOnce() -> R + Send + 'static) -> R {
        thread::Builder::new().stack_size(kib << 10).spawn(f).unwrap().join().unwrap()
    }

    #[test]
    fn recursion_goes_on_on_segments_and_frees_them() {
        for kib in [100, 2048] {
            let sums = on_thread(kib, || {
                let depth = Depth::root(usize::MAX);
                let sums = [sum(1_000_000, depth), sum(3, depth)];
                let (grown, peak) = take_peak();
                assert!(grown == 0 && peak > 0);
                sums
            });
            assert_eq!(sums, [500_000_500_000, 6]);
        }
    }

    #[test]
    fn the_limit_is_exact_and_the_hook_silent() {
        on_thread(2048, || {
            for limit in [0, 1, 2, 1000, 100_000] {
                let depth = Depth::root(limit);
                assert_eq!(sum(limit as u64, depth), (limit * (limit + 1) / 2) as u64);
                let payload = catch_unwind(|| sum(limit as u64 + 1, depth)).unwrap_err();
                assert!(payload.is::<TooDeep>());
                assert_eq!(take_peak().0, 0, "unwinding frees the segments");
            }
        });
    }

    #[test]
    fn panics_cross_segments() {
        fn dive(n: u64, depth: Depth) -> u64 {
            if depth.stops() {
                return depth.elsewhere(move |depth| dive(n, depth));
            }
            assert!(n != 0, "the bottom");
            1 + std::hint::black_box(dive(n - 1, depth.next()))
        }
        on_thread(2048, || {
            let payload =
                catch_unwind(AssertUnwindSafe(|| dive(300_000, Depth::root(usize::MAX)))).unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"the bottom"));
        });
    }

    #[test]
    fn closures_see_the_innermost_activation_of_their_thread() {
        let left = || Depth::published().allowed();
        let limit = || (Depth::published().0 >> 32) as u32;
        on_thread(2048, move || {
            assert_eq!(left(), MOST);
            let outer = Depth::root(10).publish();
            assert_eq!(left(), 10);
            {
                let _inner = Depth::root(10).next().publish();
                assert_eq!(left(), 9);
                let here = limit();
                on_segment(SEGMENT, |there| {
                    assert_eq!((Depth::published(), left()), (Depth::new(9, there), 9));
                    assert_ne!(limit(), here);
                });
                assert_eq!(limit(), here);
                assert_eq!(on_thread(100, left), MOST, "another thread has its own");
            }
            assert_eq!(left(), 10);
            drop(outer);
            assert_eq!(left(), MOST);
        });
    }
}
