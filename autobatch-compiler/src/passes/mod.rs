//! Transformations of the program, one file each; [`run`] is the list.
//!
//! In: the program as it was lowered. Out: the same program in regions, with storage classes, and [`Analyses`] for the emission.
//!
//! The pass order follows the lowering of TensorFlow Probability's `auto_batching` (Radul et al.
//! 2020, section 3): tail calls before liveness, storage classes before stack operations, cancelled
//! stack operations last. Analyses are recomputed after a pass that changes the control flow; nothing
//! is patched up. In debug builds the verifier runs between the passes.
//!
//! **Invariant:** a pass keeps what the program means; pushes and pops of a variable balance on every path.

pub mod caller_saves;
pub mod continuations;
pub mod fusion;
pub mod options;
pub mod order;
pub mod pop_push;
pub mod prune;
pub mod rematerialise;
pub mod sink;
pub mod split_entry;
pub mod storage;
pub mod tail_calls;
pub mod uniform_parameters;
pub mod verify;

#[cfg(test)]
mod tests;

pub use options::{Analyses, BlockOrder, PassOptions};

use std::collections::BTreeSet;

use crate::analysis::call_graph::{self, MayWrite};
use crate::analysis::definedness::Definedness;
use crate::analysis::liveness::Liveness;
use crate::ir::Program;
use crate::passes::verify::{Stage, verify};

/// Runs all passes.
pub fn run(program: &mut Program, options: &PassOptions) -> Analyses {
    run_watched(program, options, &mut |_, _| {})
}

/// Runs all passes, and tells `watch` of the program after each.
pub fn run_watched(
    program: &mut Program,
    options: &PassOptions,
    watch: &mut dyn FnMut(&str, &Program),
) -> Analyses {
    let mut check = |program: &Program, stage, pass| {
        check(program, stage, pass);
        watch(pass, program);
    };
    tail_calls::run(program);
    prune::run(program);
    check(program, Stage::Lowered, "tail calls");
    call_graph::run(program);
    uniform_parameters::run(program);
    continuations::run(program);
    check(program, Stage::Lowered, "continuations");
    if options.split_entry {
        sink::run(program);
        check(program, Stage::Lowered, "sinking");
    }
    let apart = if options.split_entry { split_entry::run(program) } else { BTreeSet::new() };
    fusion::run(program, options, &apart);
    check(program, Stage::Fused, "fusion");
    rematerialise::run(program);
    check(program, Stage::Fused, "rematerialisation");
    let liveness = Liveness::compute(program, &Definedness::compute(program));
    let may_write = MayWrite::compute(program);
    let columns = storage::run(program, &liveness, &may_write);
    caller_saves::run(program, &liveness, &may_write);
    check(program, Stage::Saved, "caller saves");
    if options.pop_push {
        pop_push::run(program);
        check(program, Stage::Saved, "pop-push fusion");
    }
    order::run(program, options.order);
    check(program, Stage::Ordered, "order");
    Analyses { liveness, may_write, columns }
}

/// Panics in debug builds if a pass broke the program. A program that falls back to the scalar code
/// as a whole is never emitted, so it may be incomplete.
fn check(program: &Program, stage: Stage, pass: &str) {
    let emitted = !program.is_scalar();
    if cfg!(debug_assertions)
        && emitted
        && let Err(errors) = verify(program, stage)
    {
        panic!("after {pass}: {}\n{program}", errors.join("; "));
    }
}
