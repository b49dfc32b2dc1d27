//! Scalar code that must not be suspended, in turns: a member that takes long keeps its thread, and another thread goes on with those behind it.
//!
//! A function that runs per member may hold a lock, or what is its thread's. So it is never suspended on a stack of its own, as blocks are
//! ([`super::turns`]). When it has had its time it waits where it is. As many threads run as the run was given: one more is made when none
//! is left that may begin a member. Whoever waits goes on after some time in any case, since others may wait for what it holds.
//!
//! **Invariant:** all threads have ended before the run has. A member begins once.

use std::sync::atomic::AtomicUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use super::launcher::Launch;
use crate::batch::{Queue, Watch};

/// Threads of a run at a time, at most.
const MOST: usize = 256;
/// How long a member waits for its turn, and how often it looks meanwhile whether the run is over.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(8);

/// The threads of a run.
pub(super) struct Crowd<'c> {
    launch: &'c Launch<'c>,
    queue: &'c Queue,
    /// What a thread does; it takes members of the queue until there are none. Given what is to be called when it is to pause.
    work: &'c (dyn Fn(&dyn Fn()) + Sync),
    /// The memory of calls of the threads that were made.
    memory: AtomicUsize,
    threads: Mutex<Threads>,
    changed: Condvar,
}

#[derive(Default)]
struct Threads {
    alive: usize,
    running: usize,
}

impl<'c> Crowd<'c> {
    pub(super) fn new(
        launch: &'c Launch<'c>,
        queue: &'c Queue,
        work: &'c (dyn Fn(&dyn Fn()) + Sync),
    ) -> Crowd<'c> {
        let (memory, threads, changed) = (AtomicUsize::new(0), Mutex::default(), Condvar::new());
        Crowd { launch, queue, work, memory, threads, changed }
    }

    /// Works on this thread, and on others as long as members of this one take long.
    pub(super) fn run(&self) {
        std::thread::scope(|scope| {
            self.enter();
            self.work(scope);
        });
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        let mut threads = self.threads();
        threads.alive += 1;
        threads.running += 1;
    }

    fn work<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>) {
        struct Left<'l, 'c>(&'l Crowd<'c>);
        impl Drop for Left<'_, '_> {
            fn drop(&mut self) {
                let mut threads = self.0.threads();
                threads.alive -= 1;
                threads.running -= 1;
                self.0.changed.notify_all();
            }
        }
        let _left = Left(self);
        (self.work)(&|| self.wait(scope));
    }

    /// Others run until it is this thread's turn again.
    fn wait<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>) {
        let most = self.launch.threads;
        let mut threads = self.threads();
        let is_needed = self.queue.waiting() > 0 && threads.running <= most;
        if is_needed && threads.alive < MOST {
            threads.alive += 1;
            threads.running += 1;
            let work = || self.launch.as_worker(&self.memory, &|| self.work(scope));
            if Builder::new().spawn_scoped(scope, work).is_err() {
                threads.alive -= 1;
                threads.running -= 1;
            }
        }
        threads.running -= 1;
        self.changed.notify_one();
        let until = Instant::now() + PATIENCE;
        while threads.running >= most && self.launch.over().is_none() && Instant::now() < until {
            let waited = self.changed.wait_timeout(threads, LOOK);
            threads = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        threads.running += 1;
    }
}
