//! Primitives, as members see them: whether they are called for a kernel here, and the call.

use std::panic::resume_unwind;

use super::request::{Call, Request, Waiting};
use super::worker::{CurrentWorker, with_worker};

/// Whether a call of a primitive is for its kernel here. For generated code only.
#[cfg_attr(optimised, inline(always))]
pub fn gathers() -> bool {
    CurrentWorker::is_set()
}

/// Calls a primitive's kernel: with other members where this is a fiber and `together`, else for one row. For generated code only,
/// which says by `together` that nothing that is a member's own has a lifetime: no argument but references that members share, and no
/// result but a reference to a type without one.
pub fn wait<A, R, F: Fn(&mut [&mut Call<A, R>])>(args: A, together: bool, run: F) -> R {
    let mut waiting = Waiting { call: Call { args, result: None }, run };
    let waited = with_worker(|worker| {
        let Some((worker, fiber)) = worker.and_then(|worker| Some((worker, worker.reach()?))) else {
            return false;
        };
        if together {
            worker.wait_for(&fiber, Request::new(&mut waiting));
        }
        together
    });
    if !waited {
        let _nobody = CurrentWorker::nobody();
        (waiting.run)(&mut [&mut waiting.call]);
    }
    match waiting.call.result {
        Some(Ok(result)) => result,
        Some(Err(message)) => resume_unwind(Box::new(message.to_string())),
        None => unreachable!("a call that is over has a result"),
    }
}
