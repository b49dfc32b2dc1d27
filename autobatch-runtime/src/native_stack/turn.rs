//! Scalar code that takes turns: a member that takes long is suspended, so that it keeps no other from running.
//!
//! Whoever counts what the code of a [`Turn`] does calls [`pause`] when it is enough, and so goes back to who has resumed the turn.
//!
//! **Invariant:** a turn that has begun is resumed to its end, or dropped, before anything that its body borrows is gone; its creator
//! upholds it.

use std::cell::Cell;
use std::rc::Rc;

use super::coroutine::{Context, Stack, Suspender};
use super::depth::StackState;

thread_local! {
    /// That of the turn that runs on this thread.
    static RUNNING: Cell<Option<Suspender>> = const { Cell::new(None) };
}

/// No turn runs, until this is dropped: another run's members do.
pub(crate) struct NoTurn {
    before: Option<Suspender>,
}

impl NoTurn {
    pub(crate) fn begin() -> NoTurn {
        NoTurn { before: RUNNING.take() }
    }
}

impl Drop for NoTurn {
    fn drop(&mut self) {
        RUNNING.set(self.before);
    }
}

/// Goes back to who has resumed the turn that runs, until it is resumed again; false if none runs.
pub(crate) fn pause() -> bool {
    let Some(suspender) = RUNNING.get() else { return false };
    // SAFETY: it is set while its context runs, by who has resumed that. What runs in between for other runs has hidden it ([`NoTurn`]).
    unsafe { suspender.suspend() };
    true
}

/// Code that runs on a stack of its own, a slice at a time.
pub(crate) struct Turn {
    context: Context,
    known: StackState,
    suspender: Rc<Cell<Option<Suspender>>>,
}

impl Turn {
    /// Code that has not begun.
    ///
    /// # Safety
    ///
    /// What `body` borrows lives until it has ended or this is dropped.
    pub(crate) unsafe fn new(stack: Stack, body: impl FnOnce()) -> Turn {
        let known = StackState::of_stack(stack.lowest());
        let suspender = Rc::new(Cell::new(None));
        let own = Rc::clone(&suspender);
        let run = move |suspender| {
            own.set(Some(suspender));
            RUNNING.set(Some(suspender));
            body();
        };
        // SAFETY: the caller's promise.
        Turn { context: unsafe { Context::new(stack, run) }, known, suspender }
    }

    /// Begins or goes on; whether the code has ended.
    pub(crate) fn go_on(&mut self) -> bool {
        struct Before(Option<Suspender>);
        impl Drop for Before {
            fn drop(&mut self) {
                RUNNING.set(self.0);
            }
        }
        let _before = Before(RUNNING.replace(self.suspender.get()));
        let known = self.known.swap();
        let done = self.context.resume();
        self.known = known.swap();
        done
    }

    /// The stack of code that has ended.
    pub(crate) fn into_stack(self) -> Stack {
        let mut stack = self.context.into_stack();
        if self.known.has_grown() {
            stack.was_full();
        }
        stack
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::native_stack::coroutine::EXIST;

    #[test]
    fn turns_are_taken_until_all_have_ended() {
        if !EXIST {
            return;
        }
        let seen = RefCell::new(Vec::new());
        let new = |name: char, pauses: usize| {
            let seen = &seen;
            let body = move || {
                for _ in 0..pauses {
                    seen.borrow_mut().push(name);
                    let _another = NoTurn::begin();
                    assert!(!pause());
                    drop(_another);
                    assert!(pause());
                }
            };
            // SAFETY: all are run to their ends below.
            unsafe { Turn::new(Stack::take().unwrap(), body) }
        };
        let (mut a, mut b) = (new('a', 3), new('b', 1));
        assert!(!a.go_on() && !b.go_on() && !pause());
        assert!(b.go_on() && !a.go_on());
        while !a.go_on() {}
        assert_eq!(*seen.borrow(), ['a', 'b', 'a', 'a']);
        Stack::keep(vec![a.into_stack(), b.into_stack()]);
    }
}
