//! The memory that calls under way may take: segments of native stack, frames, stacks of lanes.
//!
//! Who needs more of it asks here, which is rare: all of them grow by doubling.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

/// The bytes that the calls of a thread may take where nobody says otherwise. Where nothing is optimised, native frames are several times
/// larger.
pub(crate) const DEFAULT: usize = if cfg!(debug_assertions) { 2 << 30 } else { 256 << 20 };

/// What a member unwinds with that needs more memory than it may have.
pub(crate) struct TooMuch;

/// The bytes that are left of it.
#[derive(Debug)]
pub(crate) struct Budget(AtomicIsize);

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Budget> {
        Arc::new(Budget(AtomicIsize::new(bytes.min(isize::MAX as usize) as isize)))
    }
}

thread_local! {
    /// That of the run whose members this thread runs.
    static HERE: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

/// Makes a budget that of this thread, until it is dropped.
pub(crate) struct Budgeted {
    before: Option<Arc<Budget>>,
}

impl Budgeted {
    pub(crate) fn by(budget: Arc<Budget>) -> Budgeted {
        Budgeted { before: HERE.replace(Some(budget)) }
    }
}

impl Drop for Budgeted {
    fn drop(&mut self) {
        HERE.replace(self.before.take());
    }
}

fn change(bytes: isize) -> isize {
    HERE.with_borrow(|here| match here {
        Some(budget) => budget.0.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
        None => isize::MAX,
    })
}

/// Takes memory that can't be refused.
#[cold]
pub(crate) fn take(bytes: usize) {
    change(-(bytes as isize));
}

/// Gives some back.
#[cold]
pub(crate) fn give(bytes: usize) {
    change(bytes as isize);
}

/// Takes memory, or unwinds if there is not so much left.
#[cold]
pub(crate) fn ask(bytes: usize) {
    if change(-(bytes as isize)) < 0 {
        give(bytes);
        resume_unwind(Box::new(TooMuch));
    }
}

/// Whether more has been taken than there was.
pub(crate) fn is_over() -> bool {
    change(0) < 0
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken() {
        ask(usize::MAX / 2);
        let _budget = Budgeted::by(Budget::new(100));
        ask(60);
        assert!(catch_unwind(|| ask(60)).unwrap_err().is::<TooMuch>());
        give(60);
        take(90);
        assert!(!is_over());
        {
            let _inner = Budgeted::by(Budget::new(10));
            take(20);
            assert!(is_over());
        }
        assert!(!is_over());
        take(20);
        assert!(is_over());
    }
}
