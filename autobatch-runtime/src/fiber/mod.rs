//! Fibers: members whose scalar code waits for the others at batched primitives, wherever it calls them.
//!
//! In: a function for one member, and members. Out: their results, by one call of a kernel for all members that wait at the same
//! primitive. A member runs on a stack of its own ([`stack`]). A primitive suspends it, with its arguments on that stack. Once all
//! members of the worker are suspended or done, the worker ([`worker`]) calls the kernel for those at one primitive, and goes on
//! with each of them. Members that are done make room for others.
//!
//! ```text
//! fn density(model: &Model, x: f64) -> f64 {          // #[primitive(batched = densities)]
//!     if primitive::gathers() {                       // a worker runs members on this thread
//!         return primitive::wait(
//!             (model, x),                             // on the fiber's stack while it is suspended
//!             |calls| …                               // one call of the kernel, for the arguments of many fibers
//!         );
//!     }
//!     …                                               // the body, as it was written
//! }
//! ```
//!
//! Before it is known that a program reaches a primitive, its members run without fibers, where a primitive calls its kernel for one
//! row: results are the kernel's, whoever finds out. So it is where a fiber must not be suspended, because its thread is panicking.
//! While a kernel runs, and in the scalar executor, a primitive is its own body.
//!
//! **Invariant:** a fiber stays on its thread, and ends before the code that has started it does: the worker's run for members, the
//! call of [`join`] for its second part.
//!
//! **Invariant:** what a suspended fiber waits for ([`Request`]) is on its stack, and is looked at by the worker only while the fiber is suspended.
//!
//! **Invariant:** a fiber that is to end is never suspended again: where it would be, it unwinds.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;

use crate::depth::TooDeep;
use crate::fault::{CANCELLED, FaultKind, message, too_deep, too_long};
use crate::lockstep::id;

pub(crate) mod reach;
pub(crate) mod stack;
#[cfg(test)]
mod tests;
mod worker;

pub(crate) use worker::{Rules, Worker};

/// What a fiber unwinds with that is to end.
pub(crate) struct Ended(pub(crate) FaultKind);

/// Why a member has unwound, which was to end for the reason `why`, if any.
pub(crate) fn reason(
    why: Option<FaultKind>,
    payload: &(dyn Any + Send),
    max_depth: usize,
    max_steps: u64,
) -> (FaultKind, String) {
    let kind = match payload.downcast_ref() {
        Some(Ended(kind)) => Some(*kind),
        None if payload.is::<TooDeep>() => Some(FaultKind::DepthExceeded),
        None => None,
    };
    let kind = why.or(kind).unwrap_or(FaultKind::Panic);
    let message = match kind {
        FaultKind::Panic => message(payload),
        FaultKind::DepthExceeded => too_deep(max_depth),
        FaultKind::StepsExceeded => too_long(max_steps),
        FaultKind::Cancelled => CANCELLED.to_owned(),
    };
    (kind, message)
}

type Payload = Box<dyn Any + Send>;

thread_local! {
    /// Who runs members on this thread; null where primitives are their own bodies.
    static HERE: Cell<*const Worker<'static>> = const { Cell::new(ptr::null()) };
}

/// Has primitives on this thread ask another worker, or none, until it is dropped.
#[must_use]
pub(crate) struct Here<'w> {
    before: *const Worker<'static>,
    worker: PhantomData<&'w Worker<'w>>,
}

impl<'w> Here<'w> {
    fn set(worker: Option<&'w Worker<'_>>) -> Here<'w> {
        let worker = worker.map_or(ptr::null(), |worker| ptr::from_ref(worker).cast());
        Here { before: HERE.replace(worker), worker: PhantomData }
    }

    /// Primitives are their own bodies.
    pub(crate) fn nobody() -> Here<'w> {
        Here::set(None)
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        HERE.set(self.before);
    }
}

/// Whether a call of a primitive is for its kernel here. For generated code only.
#[inline(always)]
pub fn gathers() -> bool {
    !HERE.get().is_null()
}

/// Hands the worker that runs members on this thread to `f`.
fn with_worker<R>(f: impl FnOnce(Option<&Worker<'_>>) -> R) -> R {
    // SAFETY: the pointer is set for as long as there is a `Here`, which borrows the worker, and no `Here` of the runtime's is
    // forgotten. This code runs meanwhile, on the same thread.
    f(unsafe { HERE.get().as_ref() })
}

/// One member's call of a primitive: its arguments, and its result once there is one. For generated code only.
pub struct Call<A, R> {
    /// The arguments.
    pub args: A,
    /// The result, or why there is none.
    pub result: Option<Result<R, Arc<str>>>,
}

/// A call that waits, whatever its types.
struct Request {
    /// Of the type of `run`, which is one for each instance of a primitive.
    id: TypeId,
    /// A `Waiting`.
    waiting: *mut (),
    answer: unsafe fn(&[Request]),
}

/// A call and how it is answered with others of its kind.
struct Waiting<A, R, F> {
    call: Call<A, R>,
    run: F,
}

impl Request {
    fn new<A, R, F: Fn(&mut [&mut Call<A, R>])>(waiting: &mut Waiting<A, R, F>) -> Request {
        Request { id: id::<F>(), waiting: ptr::from_mut(waiting).cast(), answer: answer::<A, R, F> }
    }

    /// Makes one call for all of them, who wait at the same primitive. Their fibers are suspended.
    fn answer_all(requests: &[Request]) {
        let Some(first) = requests.first() else { return };
        debug_assert!(requests.iter().all(|request| request.id == first.id));
        let _nobody = Here::nobody();
        // SAFETY: the worker has them from fibers that are suspended (the module's invariant), where they were put by `wait` under
        // the same type of `run`.
        unsafe { (first.answer)(requests) }
    }
}

/// Answers all requests.
///
/// # Safety
///
/// Each is one of a fiber that is suspended, made for an `F` that differs in lifetimes only.
unsafe fn answer<A, R, F: Fn(&mut [&mut Call<A, R>])>(requests: &[Request]) {
    // SAFETY: each request points to a `Waiting<A, R, F>` on the stack of its fiber, which is suspended in `wait`, and does not touch it
    // until it is resumed. `F` is a closure of the primitive's function, so it fixes `A` and `R` but for lifetimes: those of each fiber
    // are its own. References are alive while their fiber is suspended, so for the call. Nothing may go from one member to
    // another that lives for a shorter time: `wait` has the word of generated code that what is a member's own has no lifetimes, and what
    // is shared, which may have some, is the same object for all members of a call of the kernel; so is what results refer to.
    let all = requests.iter().map(|request| unsafe { &mut *request.waiting.cast::<Waiting<A, R, F>>() });
    let (mut calls, mut run) = (Vec::with_capacity(requests.len()), None);
    for waiting in all {
        calls.push(&mut waiting.call);
        run.get_or_insert(&waiting.run);
    }
    let Some(run) = run else { return };
    // A comparison of shared values may panic.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(&mut calls))) {
        let message: Arc<str> = message(&*payload).into();
        for call in calls.into_iter().filter(|call| call.result.is_none()) {
            call.result = Some(Err(message.clone()));
        }
    }
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
        let _nobody = Here::nobody();
        (waiting.run)(&mut [&mut waiting.call]);
    }
    match waiting.call.result {
        Some(Ok(result)) => result,
        Some(Err(message)) => resume_unwind(Box::new(message.to_string())),
        None => unreachable!("a call that is over has a result"),
    }
}

/// Runs two parts of a member side by side, and returns what both yield.
///
/// Where members of a batch run on fibers, `b` gets a fiber of its own: a batched primitive in `a` and one in `b` wait for each other,
/// and for those of other members. A balanced tree of `join`s makes one call of the kernel for each of its levels. Everywhere
/// else `a` runs first, then `b`, on the spot.
///
/// Both run on the thread that calls this, in turns that change at primitives only, so neither has to be `Send`. If `a` panics, `b` is
/// dropped, or unwinds where it waits; if only `b` panics, `a` is run to its end. Then the panic goes on.
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB,
{
    let (mut a, mut b, mut second) = (Some(a), Some(b), None);
    let mut work = || second = b.take().map(|b| catch_unwind(AssertUnwindSafe(b)));
    let first = with_worker(|worker| {
        let (worker, fiber) = worker.and_then(|worker| Some((worker, worker.forks()?)))?;
        // SAFETY: the child is dropped where this closure is left, in whatever way; `work` and what it borrows live on behind it.
        let child = unsafe { worker.spawn(&fiber, &mut work) }?;
        let first = catch_unwind(AssertUnwindSafe(a.take()?));
        if first.is_ok() {
            child.wait_in(&fiber);
        }
        Some(first)
    });
    match (first, second) {
        (Some(Ok(first)), Some(Ok(second))) => (first, second),
        (Some(Err(payload)), _) | (_, Some(Err(payload))) => resume_unwind(payload),
        (first, None) => match (first, a, b) {
            (None, Some(a), Some(b)) => (a(), b()),
            _ => unreachable!("both parts have run, or neither"),
        },
        (None, Some(Ok(_))) => unreachable!("the second part runs where the first has begun"),
    }
}
