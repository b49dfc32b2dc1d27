//! Stacks of fibers, and switching between them: the one place that knows `corosensei`.
//!
//! A stack is a mapping of its own with a guard page below, so that an overflow is a fault of the process and never reaches
//! other memory. Stacks are reused, because a new one costs page faults. Their tops are staggered: at the same place of a page
//! all of them would fall into the same cache sets, and a switch would cost several times as much.
//!
//! **Invariant:** a [`Context`] that has begun is run to its end, or dropped, before anything that its body borrows is gone; its
//! creator upholds it.
//!
//! Where `corosensei` has no back end, and under Miri, there are no stacks: [`Stack::take`] yields `None`. Segments are those of `stacker` then.

use std::sync::{Mutex, PoisonError};

/// Stacks that are kept for later runs, at most. A run that has more of them at a time makes some anew, which takes microseconds for each.
pub(crate) const KEPT: usize = 4096;

/// Stacks that nobody uses.
static FREE: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

impl Stack {
    /// A stack, unless there are too many already, or no memory.
    pub(crate) fn take() -> Option<Stack> {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.or_else(Stack::new)
    }

    /// Keeps stacks for others, but gives much memory back to the system.
    pub(crate) fn keep(mut stacks: Vec<Stack>) {
        stacks.retain(|stack| !stack.is_full());
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let room = KEPT.min(native::most() / 4).saturating_sub(free.len()).min(stacks.len());
        free.extend(stacks.drain(..room));
    }
}

#[cfg(all(
    not(miri),
    any(
        all(unix, any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
        all(windows, target_arch = "x86_64")
    )
))]
mod native {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use corosensei::stack::{DefaultStack, Stack as Memory, StackPointer};
    use corosensei::{Coroutine, CoroutineResult, Yielder};

    /// Address space of a stack, about a thread's, for what members call that counts no depth. Memory is what has been used of it. (Mappings as
    /// large as a huge page may be aligned as such, and then all tops would fall into the same sets of the TLB.)
    const SIZE: usize = if cfg!(target_pointer_width = "64") { (2 << 20) - (128 << 10) } else { 512 << 10 };
    /// Stacks that exist at a time, at most. The system counts two mappings for each.
    const MOST: usize = if cfg!(target_pointer_width = "64") { 16 << 10 } else { 256 };
    /// The largest guard page there is.
    const GUARD: usize = 64 << 10;

    /// Whether there are stacks.
    #[cfg(test)]
    pub(crate) const EXIST: bool = true;

    /// The stacks that exist.
    static MADE: AtomicUsize = AtomicUsize::new(0);
    /// The distance of two tops, and where it begins anew. A multiple of the alignment of stacks.
    const STAGGER: (usize, usize) = if cfg!(unix) { (320, 4096) } else { (0, 1) };

    /// The memory of a fiber.
    pub(crate) struct Stack {
        memory: DefaultStack,
        /// What is left free at its top.
        offset: usize,
        /// Whether all of its memory has been used.
        full: bool,
    }

    // SAFETY: the memory is that of a `DefaultStack`, which has the guard page; the top stays aligned, as offsets are multiples of 64,
    // and more than the smallest size is left below it.
    unsafe impl Memory for Stack {
        #[inline]
        fn base(&self) -> StackPointer {
            StackPointer::new(self.memory.base().get() - self.offset).expect("the memory lies higher")
        }
        #[inline]
        fn limit(&self) -> StackPointer {
            self.memory.limit()
        }
        #[cfg(windows)]
        fn teb_fields(&self) -> corosensei::stack::StackTebFields {
            self.memory.teb_fields()
        }
        #[cfg(windows)]
        fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
            self.memory.update_teb_fields(stack_limit, guaranteed_stack_bytes);
        }
    }

    /// Stacks that may exist at a time: they take a quarter of the address space at most, if that is limited.
    pub(super) fn most() -> usize {
        static ALL: OnceLock<usize> = OnceLock::new();
        *ALL.get_or_init(|| address_space().map_or(MOST, |bytes| MOST.min(bytes / 4 / SIZE)))
    }

    /// The bytes of address space that this process may have, if they are limited.
    #[cfg(target_os = "linux")]
    fn address_space() -> Option<usize> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: writes to `limit`.
        let found = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
        if found && limit.rlim_cur != libc::RLIM_INFINITY {
            usize::try_from(limit.rlim_cur).ok()
        } else {
            None
        }
    }

    /// Not known.
    #[cfg(not(target_os = "linux"))]
    fn address_space() -> Option<usize> {
        None
    }

    impl Stack {
        pub(crate) fn new() -> Option<Stack> {
            let nth = MADE.fetch_add(1, Ordering::Relaxed);
            let memory = if nth < most() { DefaultStack::new(SIZE).ok() } else { None };
            let Some(memory) = memory else {
                MADE.fetch_sub(1, Ordering::Relaxed);
                return None;
            };
            Some(Stack { memory, offset: nth * STAGGER.0 % STAGGER.1, full: false })
        }

        /// The lowest address that can be used.
        pub(crate) fn lowest(&self) -> usize {
            self.memory.limit().get() + GUARD
        }

        /// All of its memory has been used.
        pub(crate) fn was_full(&mut self) {
            self.full = true;
        }

        pub(crate) fn is_full(&self) -> bool {
            self.full
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            MADE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Code on a stack of its own, which can be left and gone on with.
    pub(crate) struct Context(Coroutine<(), (), (), Stack>);

    impl Context {
        /// Code that has not begun yet.
        ///
        /// # Safety
        ///
        /// What `body` borrows lives until it has ended or the context is dropped.
        pub(crate) unsafe fn new(stack: Stack, body: impl FnOnce(Suspender)) -> Context {
            let body = |yielder: &Yielder<(), ()>, ()| body(Suspender(yielder));
            // SAFETY: the caller's promise.
            Context(unsafe { Coroutine::with_stack_unchecked(stack, body) })
        }

        /// Begins or goes on. Whether the body has ended; else it has been left.
        #[inline]
        pub(crate) fn resume(&mut self) -> bool {
            matches!(self.0.resume(()), CoroutineResult::Return(()))
        }

        /// Whether it has been resumed.
        pub(crate) fn has_begun(&self) -> bool {
            self.0.started()
        }

        /// The stack of a body that has ended.
        pub(crate) fn into_stack(self) -> Stack {
            self.0.into_stack()
        }
    }

    /// Leaves a context, from inside.
    #[derive(Clone, Copy)]
    pub(crate) struct Suspender(*const Yielder<(), ()>);

    impl Suspender {
        /// Goes back to who has resumed the context, until it is resumed again.
        ///
        /// # Safety
        ///
        /// This runs in the context that the suspender was given to, on its stack or a segment of it.
        #[inline]
        pub(crate) unsafe fn suspend(self) {
            // SAFETY: the yielder stands at the top of the context's stack, and so lives as long as the code on it, which is running.
            unsafe { (*self.0).suspend(()) }
        }
    }

    /// Runs `f` on a new segment, given its lowest address. Not if there is no memory for one.
    pub(crate) fn on_segment(size: usize, f: &mut dyn FnMut(usize)) -> bool {
        let Ok(memory) = DefaultStack::new(size) else { return false };
        let lowest = memory.limit().get() + GUARD;
        corosensei::on_stack(memory, || f(lowest));
        true
    }
}

#[cfg(not(all(
    not(miri),
    any(
        all(unix, any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
        all(windows, target_arch = "x86_64")
    )
)))]
mod native {
    //! No stacks, so nothing that needs one.

    use std::convert::Infallible;

    #[cfg(test)]
    pub(crate) const EXIST: bool = false;

    pub(crate) struct Stack(Infallible);

    pub(super) fn most() -> usize {
        0
    }

    impl Stack {
        pub(crate) fn new() -> Option<Stack> {
            None
        }
        pub(crate) fn lowest(&self) -> usize {
            match self.0 {}
        }
        pub(crate) fn was_full(&mut self) {
            match self.0 {}
        }
        pub(crate) fn is_full(&self) -> bool {
            match self.0 {}
        }
    }

    pub(crate) struct Context(Stack);

    impl Context {
        /// # Safety
        ///
        /// There is no stack to call it with.
        pub(crate) unsafe fn new(stack: Stack, _: impl FnOnce(Suspender)) -> Context {
            Context(stack)
        }
        pub(crate) fn resume(&mut self) -> bool {
            match self.0.0 {}
        }
        pub(crate) fn has_begun(&self) -> bool {
            match self.0.0 {}
        }
        pub(crate) fn into_stack(self) -> Stack {
            self.0
        }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct Suspender(Infallible);

    impl Suspender {
        /// # Safety
        ///
        /// There is no context to call it in.
        pub(crate) unsafe fn suspend(self) {
            match self.0 {}
        }
    }

    /// Runs `f`: there are no segments.
    #[cfg(miri)]
    pub(crate) fn on_segment(_: usize, f: &mut dyn FnMut(usize)) -> bool {
        f(0);
        true
    }

    /// Runs `f` on a new segment, given its lowest address.
    #[cfg(not(miri))]
    pub(crate) fn on_segment(size: usize, f: &mut dyn FnMut(usize)) -> bool {
        stacker::grow(size, || f(super::super::thread_stack::lowest()));
        true
    }
}

#[cfg(test)]
pub(crate) use native::EXIST;
pub(crate) use native::{Context, Stack, Suspender, on_segment};
