//! The autotuner, for `Executor::Auto`: chooses an executor by the time that members of the batch take, and by what was found in earlier runs
//! of the same program.
//!
//! In: a function that runs members by an executor and says how long that took. Out: the executor that has run most of the batch.
//!
//! A trial runs members of the batch that need to be run anyway, but the loser's may cost many times
//! what the winner's would have. So all trials of a program together may lose a small part of its time only:
//! one begins with the scalar code, which is never far behind, gives a machine a few members,
//! then ever more as long as that can be afforded, and otherwise goes on in later runs. Meanwhile the other
//! threads run what is best so far. The last trial of all is a whole run. What was found is kept. Trials are
//! repeated ever more rarely, but the costs of whole runs, which are certain, are compared always.
//!
//! **Invariant:** each member is run once, by whichever executor; the choice shows in the time only.

mod race;
mod record;
#[cfg(test)]
mod tests;
mod trials;
