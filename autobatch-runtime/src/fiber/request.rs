//! Requests: calls of a primitive that wait, and one call of the kernel for all that wait at the same.
//!
//! **Invariant:** a request points to the stack of its fiber, which is suspended while it is looked at; so the call that it stands for, and
//! what that borrows, are alive.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use crate::api::fault::message;
use crate::probes::type_id::id;

/// One member's call of a primitive: its arguments, and its result once there is one. For generated code only.
pub struct Call<A, R> {
    /// The arguments.
    pub args: A,
    /// The result, or why there is none.
    pub result: Option<Result<R, Arc<str>>>,
}

/// A call that waits, whatever its types.
pub(super) struct Request {
    /// Of the type of `run`, which is one for each instance of a primitive.
    pub(super) id: TypeId,
    /// A `Waiting`.
    waiting: *mut (),
    answer: unsafe fn(&[Request]),
}

/// A call and how it is answered with others of its kind.
pub(super) struct Waiting<A, R, F> {
    pub(super) call: Call<A, R>,
    pub(super) run: F,
}

impl Request {
    pub(super) fn new<A, R, F: Fn(&mut [&mut Call<A, R>])>(waiting: &mut Waiting<A, R, F>) -> Request {
        Request { id: id::<F>(), waiting: ptr::from_mut(waiting).cast(), answer: answer::<A, R, F> }
    }

    /// Makes one call for all of them, who wait at the same primitive. Their fibers are suspended.
    pub(super) fn answer_all(requests: &[Request]) {
        let Some(first) = requests.first() else { return };
        debug_assert!(requests.iter().all(|request| request.id == first.id));
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
