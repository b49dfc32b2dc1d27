//! Where the stack of a thread is, and where it ends.
//!
//! The end is asked of Linux and macOS themselves; elsewhere the crate `stacker` knows, which takes a C compiler to build.

/// The lowest address of this thread's own stack; 0 where the platform does not say.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
    not(miri)
))]
pub(super) fn lowest() -> usize {
    use std::mem::MaybeUninit;
    use std::ptr::null_mut;

    let (mut lowest, mut size) = (null_mut(), 0);
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the first call fills the attributes, unless it fails; the second reads them; the last frees what the first has made, once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return 0;
        }
        if libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut size) != 0 {
            lowest = null_mut();
        }
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    lowest.addr()
}

/// The lowest address of this thread's own stack.
#[cfg(all(target_os = "macos", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
pub(super) fn lowest() -> usize {
    // SAFETY: asks about the thread that is running.
    unsafe {
        let thread = libc::pthread_self();
        libc::pthread_get_stackaddr_np(thread).addr() - libc::pthread_get_stacksize_np(thread)
    }
}

/// Not known.
#[cfg(miri)]
pub(super) fn lowest() -> usize {
    0
}

/// The lowest address of this thread's own stack; 0 where the platform does not say.
#[cfg(not(any(
    miri,
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    all(target_os = "macos", any(target_arch = "x86_64", target_arch = "aarch64"))
)))]
pub(super) fn lowest() -> usize {
    stacker::remaining_stack().map_or(0, |left| stack_pointer() - left)
}

/// Where the stack is now. Not the address of a local: taking that would keep LLVM from turning tail
/// recursion into loops.
#[cfg_attr(optimised, inline(always))]
pub(super) fn stack_pointer() -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let pointer: usize;
        // SAFETY: copies a register.
        unsafe {
            std::arch::asm!("mov {}, rsp", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let pointer: usize;
        // SAFETY: copies a register.
        unsafe {
            std::arch::asm!("mov {}, sp", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
        }
        pointer
    }
    // WebAssembly's calls are not on the stack that has addresses, and there is no other stack to go on: calls alone are counted. The end of
    // either stack is a trap, as in the scalar function.
    #[cfg(target_family = "wasm")]
    {
        1 << 20
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))))]
    {
        let here = 0u8;
        (&raw const here).addr()
    }
}
