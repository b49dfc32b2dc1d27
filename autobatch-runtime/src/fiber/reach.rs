//! Which programs reach a primitive: found out by running them, and kept.
//!
//! Who calls a primitive can't be seen in general: it may be behind a closure, a trait object, a macro, in another crate. So a program
//! of which nothing is known runs its first members on fibers, which cost next to nothing for some hundred of them. If none reaches a
//! primitive, the others run without, and so do later runs, until one does after all.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::api::program::Program;

/// What is known of a program.
#[derive(Debug, Default)]
pub(crate) struct Reach(AtomicU8);

const UNKNOWN: u8 = 0;
const NONE: u8 = 1;
const SOME: u8 = 2;

/// By the address of the program. Each is some bytes that are never freed, as the programs themselves.
static ALL: Mutex<BTreeMap<usize, &'static Reach>> = Mutex::new(BTreeMap::new());

impl Reach {
    /// That of a program.
    pub(crate) fn of(program: &'static Program) -> &'static Reach {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(std::ptr::from_ref(program).addr()).or_insert_with(|| Box::leak(Box::default()))
    }

    /// A member has reached a primitive.
    pub(crate) fn found(&self) {
        if !self.is_found() {
            self.0.store(SOME, Ordering::Relaxed);
        }
    }

    /// Members have run and reached none.
    pub(crate) fn not_found(&self) {
        let _ = self.0.compare_exchange(UNKNOWN, NONE, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether a member has reached a primitive, now or ever.
    pub(crate) fn is_found(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SOME
    }

    /// Whether no member has been seen yet.
    pub(crate) fn is_unknown(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }
}
