//! Members that panic without a word: what `Options::quiet` asks for.
//!
//! Rust tells the panic hook of a panic before anybody can catch it. So the first quiet run puts a hook of its own in front of the one that
//! it finds. That one passes on what is not a quiet member's.

use std::cell::Cell;
use std::panic;
use std::sync::Once;
use std::thread;

thread_local! {
    /// Whether this thread runs members of a quiet batch.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread quiet or not, until it is dropped.
pub(super) struct Voice {
    before: bool,
}

impl Voice {
    pub(super) fn of_members(quiet: bool) -> Voice {
        Voice { before: QUIET.replace(quiet) }
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        QUIET.set(self.before);
    }
}

/// Puts the hook in place. A thread that panics must not; there the run is not quiet.
pub(super) fn prepare() {
    static HOOK: Once = Once::new();
    if thread::panicking() {
        return;
    }
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                before(info);
            }
        }));
    });
}
