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
#[derive(Debug)]
pub(crate) struct TooMuch;

/// The bytes that are left of it.
#[derive(Debug)]
pub(crate) struct Budget {
    all: isize,
    left: AtomicIsize,
    /// The fewest that were left.
    least: AtomicIsize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Budget> {
        let all = bytes.min(isize::MAX as usize) as isize;
        Arc::new(Budget { all, left: AtomicIsize::new(all), least: AtomicIsize::new(all) })
    }

    /// The most bytes that were taken at a time.
    pub(crate) fn peak(&self) -> usize {
        self.all.saturating_sub(self.least.load(Ordering::Relaxed)).unsigned_abs()
    }

    /// Takes memory if there is so much left.
    fn ask(&self, bytes: usize) -> bool {
        let bytes = bytes.min(isize::MAX as usize) as isize;
        let taken = |left: isize| (left >= bytes).then(|| left - bytes);
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
        if let Ok(before) = before {
            self.least.fetch_min(before - bytes, Ordering::Relaxed);
        }
        before.is_ok()
    }

    fn change(&self, bytes: isize) -> isize {
        let left = self.left.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.least.fetch_min(left, Ordering::Relaxed);
        left
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
    // Memory may be given back when its thread ends.
    let change = |here: &RefCell<Option<Arc<Budget>>>| Some(here.borrow().as_ref()?.change(bytes));
    HERE.try_with(change).ok().flatten().unwrap_or(isize::MAX)
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
    if !HERE.with_borrow(|here| here.as_ref().is_none_or(|budget| budget.ask(bytes))) {
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

    #[test]
    fn the_peak_is_the_most_at_a_time() {
        let budget = Budget::new(100);
        let _budget = Budgeted::by(Arc::clone(&budget));
        assert_eq!(budget.peak(), 0);
        (0..5).for_each(|_| {
            take(60);
            give(60);
        });
        take(70);
        assert!(catch_unwind(|| ask(60)).is_err());
        give(70);
        assert_eq!(budget.peak(), 70);
    }
}
