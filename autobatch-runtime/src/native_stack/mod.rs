//! The native stacks that scalar code runs on: how deep it may call, where it goes on when a stack ends, and stacks that are switched
//! between; and how much memory calls may take.
//!
//! In: the depth that a member is allowed. Out: a [`depth::Depth`], which the clones of user functions carry; a [`coroutine::Stack`] for each
//! fiber.
//!
//! **Invariant:** a counted function is entered only where enough of its stack is left; what a thread knows of its stack
//! ([`depth::StackState`]) changes place whenever the stack does.
//!
//! **Invariant:** a [`coroutine::Context`] that has begun is run to its end, or dropped, before anything that its body borrows is gone.

pub(crate) mod budget;
pub(crate) mod coroutine;
pub(crate) mod depth;
pub(crate) mod room;
mod thread_stack;
pub(crate) mod turn;
