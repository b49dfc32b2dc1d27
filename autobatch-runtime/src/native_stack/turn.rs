//! Scalar code that takes turns: a member that takes long is suspended, so that it keeps no other from running.
//!
//! Whoever counts what the code of a [`Turn`] does calls [`pause`] when it is enough, and so goes back to who has resumed the turn. Code that
//! must not be suspended, since it may hold what is its thread's, has [relief](relieved): the thread waits while others run.
//!
//! **Invariant:** a turn that has begun is resumed to its end, or dropped, before anything that its body borrows is gone; its creator
//! upholds it.

use std::cell::Cell;
use std::rc::Rc;

use super::coroutine::{Context, Stack, Suspender};
use super::depth::StackState;

/// What a thread does when the code that it runs is to pause.
#[derive(Clone, Copy)]
enum Pause {
    /// It suspends the turn that runs.
    Suspend(Suspender),
    /// It calls this.
    Call(*const (dyn Fn() + 'static)),
}

thread_local! {
    static PAUSE: Cell<Option<Pause>> = const { Cell::new(None) };
}

/// Another pause, until this is dropped.
struct Instead(Option<Pause>);

impl Instead {
    fn of(pause: Option<Pause>) -> Instead {
        Instead(PAUSE.replace(pause))
    }
}

impl Drop for Instead {
    fn drop(&mut self) {
        PAUSE.set(self.0);
    }
}

/// No turn runs, until this is dropped: another run's members do.
pub(crate) struct NoTurn {
    _instead: Instead,
}

impl NoTurn {
    pub(crate) fn begin() -> NoTurn {
        NoTurn { _instead: Instead::of(None) }
    }
}

/// Runs `body`, which calls `relief` when it is to pause.
pub(crate) fn relieved(relief: &dyn Fn(), body: impl FnOnce()) {
    // SAFETY: only the lifetime differs. The pointer is taken away before `relief` ends, be it by unwinding.
    let relief: *const (dyn Fn() + 'static) = unsafe { std::mem::transmute(std::ptr::from_ref(relief)) };
    let _instead = Instead::of(Some(Pause::Call(relief)));
    body();
}

/// Lets others run until it is this code's turn again; false if nobody takes turns.
pub(crate) fn pause() -> bool {
    match PAUSE.get() {
        None => return false,
        // SAFETY: it is set while its context runs, by who has resumed that. What runs in between for other runs has hidden it ([`NoTurn`]).
        Some(Pause::Suspend(suspender)) => unsafe { suspender.suspend() },
        Some(Pause::Call(relief)) => {
            let _no_turn = NoTurn::begin();
            // SAFETY: it is set while [`relieved`] runs on this thread, which borrows it.
            unsafe { (*relief)() }
        }
    }
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
            PAUSE.set(Some(Pause::Suspend(suspender)));
            body();
        };
        // SAFETY: the caller's promise.
        Turn { context: unsafe { Context::new(stack, run) }, known, suspender }
    }

    /// Begins or goes on; whether the code has ended.
    pub(crate) fn go_on(&mut self) -> bool {
        let _instead = Instead::of(self.suspender.get().map(Pause::Suspend));
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
