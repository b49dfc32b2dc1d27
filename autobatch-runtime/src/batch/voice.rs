//! What members that panic say: nothing, or what the panic hook says and a line that names the member.
//!
//! Rust tells the panic hook of a panic before anybody can catch it, and before anybody knows whose it is. So the first run puts a hook of its
//! own in front of the one that it finds. It is silent for members of a quiet batch, and where members will run again, since they will panic
//! again. Once it is known who has panicked, a line on standard error names the member.

use std::cell::Cell;
use std::panic::{self, catch_unwind};
use std::sync::Once;
use std::thread;

use super::numbering::Numbering;
use crate::api::fault::{Fault, FaultKind};

/// How a thread speaks of panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Voice {
    /// It runs no members.
    Usual,
    /// Members are named.
    Named,
    /// Not at all.
    Silent,
}

thread_local! {
    static VOICE: Cell<Voice> = const { Cell::new(Voice::Usual) };
}

/// Has this thread speak in another way until it is dropped.
#[must_use]
pub(crate) struct Speaks {
    before: Voice,
}

impl Voice {
    pub(crate) fn of_members(quiet: bool) -> Voice {
        if quiet { Voice::Silent } else { Voice::Named }
    }

    /// Takes the place of this thread's, which is returned.
    #[inline(never)]
    pub(crate) fn replace(self) -> Voice {
        VOICE.replace(self)
    }

    pub(crate) fn speak(self) -> Speaks {
        Speaks { before: self.replace() }
    }
}

impl Drop for Speaks {
    fn drop(&mut self) {
        VOICE.set(self.before);
    }
}

/// Puts the hook in place. A thread that panics must not; there runs are not silent.
pub(crate) fn prepare() {
    static HOOK: Once = Once::new();
    if HOOK.is_completed() || thread::panicking() {
        return;
    }
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if VOICE.try_with(Cell::get) != Ok(Voice::Silent) {
                before(info);
            }
        }));
    });
}

/// Names a member that has panicked.
pub(crate) fn tell(fault: &Fault, numbering: Numbering<'_>) {
    if fault.kind == FaultKind::Panic && VOICE.get() == Voice::Named {
        // In one piece, among those of other threads. It may be that nobody listens.
        let (member, message) = (numbering.shown(fault.member), &fault.message);
        let (line, _silent) = (format!("autobatch: member {member}: {message}\n"), Voice::Silent.speak());
        let _ = catch_unwind(|| eprint!("{line}"));
    }
}
