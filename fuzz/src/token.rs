//! Counts values: each is dropped once, and not used afterwards.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// Tokens that are followed one by one; those beyond are only counted.
const FOLLOWED: usize = 1 << 20;

static MADE: AtomicU64 = AtomicU64::new(0);
static ALIVE: AtomicI64 = AtomicI64::new(0);
/// Drops and uses of what is not alive.
static WRONG: AtomicU64 = AtomicU64::new(0);
/// Which are alive. The table outlives them, so that asking for one that has been dropped is no fault of the harness.
static TABLE: [AtomicBool; FOLLOWED] = [const { AtomicBool::new(false) }; FOLLOWED];

/// Part of a value that is counted.
#[derive(Debug)]
pub struct Token(u64);

impl Token {
    /// One more.
    #[expect(clippy::new_without_default, reason = "it counts")]
    pub fn new() -> Token {
        let id = MADE.fetch_add(1, Relaxed);
        ALIVE.fetch_add(1, Relaxed);
        if let Some(alive) = TABLE.get(id as usize) {
            alive.store(true, Relaxed);
        }
        Token(id)
    }

    /// Uses it.
    pub fn look(&self) {
        if TABLE.get(self.0 as usize).is_some_and(|alive| !alive.load(Relaxed)) {
            WRONG.fetch_add(1, Relaxed);
        }
    }
}

impl Clone for Token {
    fn clone(&self) -> Token {
        self.look();
        Token::new()
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Token) -> bool {
        self.look();
        other.look();
        true
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
        if TABLE.get(self.0 as usize).is_some_and(|alive| !alive.swap(false, Relaxed)) {
            WRONG.fetch_add(1, Relaxed);
        }
    }
}

/// The state of the count before something runs, while nothing else does.
pub(crate) struct Count {
    made: u64,
    alive: i64,
}

impl Count {
    /// As it is now.
    pub(crate) fn begin() -> Count {
        Count { made: MADE.load(Relaxed), alive: ALIVE.load(Relaxed) }
    }

    /// How many were made since; what is wrong, if those were not dropped once each.
    pub(crate) fn end(self) -> Result<u64, String> {
        let made = MADE.swap(self.made, Relaxed) - self.made;
        let (alive, wrong) = (ALIVE.swap(self.alive, Relaxed) - self.alive, WRONG.swap(0, Relaxed));
        if wrong > 0 {
            return Err(format!("{wrong} uses or drops of what had been dropped"));
        }
        if alive != 0 {
            return Err(format!("of {made} counted values {alive} were not dropped"));
        }
        Ok(made)
    }
}
