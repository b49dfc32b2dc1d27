//! A thread's fibers: who runs, who waits, and for what.
//!
//! **Invariant:** a fiber stays on its thread, and ends before its worker is gone, and before what its body borrows is.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::rc::Rc;
use std::thread::panicking;

use super::reach::Reach;
use super::request::Request;
use crate::api::fault::{Fault, FaultKind, FaultList, ended};
use crate::api::options::Schedule;
use crate::batch::{Payload, Queue, Stopped, Watch, reason, voice};
use crate::native_stack::coroutine::{Context, Stack, Suspender};
use crate::native_stack::depth::{Depth, StackState};

thread_local! {
    /// Who runs members on this thread; null where primitives are their own bodies.
    static CURRENT: Cell<*const Worker<'static>> = const { Cell::new(ptr::null()) };
}

/// Has primitives on this thread ask another worker, or none, until it is dropped.
#[must_use]
pub(crate) struct CurrentWorker<'w> {
    before: *const Worker<'static>,
    worker: PhantomData<&'w Worker<'w>>,
}

impl<'w> CurrentWorker<'w> {
    fn set(worker: Option<&'w Worker<'_>>) -> CurrentWorker<'w> {
        let worker = worker.map_or(ptr::null(), |worker| ptr::from_ref(worker).cast());
        CurrentWorker { before: CURRENT.replace(worker), worker: PhantomData }
    }

    /// Whether somebody runs members on this thread.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_set() -> bool {
        !CURRENT.get().is_null()
    }

    /// Primitives are their own bodies.
    pub(crate) fn nobody() -> CurrentWorker<'w> {
        CurrentWorker::set(None)
    }
}

impl Drop for CurrentWorker<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Hands the worker that runs members on this thread to `f`.
pub(super) fn with_worker<R>(f: impl FnOnce(Option<&Worker<'_>>) -> R) -> R {
    // SAFETY: the pointer is set for as long as there is a `CurrentWorker`, which borrows the worker, and no `CurrentWorker` of the runtime's is
    // forgotten. This code runs meanwhile, on the same thread.
    f(unsafe { CURRENT.get().as_ref() })
}

/// How a worker runs members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerRules {
    /// Members that are under way at a time.
    pub(crate) lanes: usize,
    /// Fibers at a time, those of `join` included; more are not made.
    pub(crate) fibers: usize,
    pub(crate) refill: bool,
    pub(crate) schedule: Schedule,
    pub(crate) max_depth: usize,
    /// Calls of primitives that a member may make.
    pub(crate) max_steps: u64,
}

/// Runs members on one thread.
pub(crate) struct Worker<'a> {
    rules: WorkerRules,
    watch: &'a dyn Watch,
    reached: &'a Reach,
    /// Runs a member and keeps its result; may unwind.
    member: &'a dyn Fn(usize, Depth),
    /// Whether a member has a result.
    has_result: &'a dyn Fn(usize) -> bool,
    /// The fiber that runs; none between them, and where members run without.
    running: RefCell<Option<Rc<Fiber>>>,
    /// Fibers that can begin or go on.
    ready: RefCell<VecDeque<Rc<Fiber>>>,
    /// Fibers that wait, by primitive, in the order in which these were met.
    groups: RefCell<Vec<Group>>,
    /// The first fibers of the members under way.
    members: RefCell<Vec<Rc<Fiber>>>,
    /// Fibers that have not ended.
    alive: Cell<usize>,
    /// Stacks without a fiber.
    stacks: RefCell<Vec<Stack>>,
    /// Calls of primitives of a member that runs without a fiber.
    steps: Cell<u64>,
}

/// Fibers that wait at the same primitive.
struct Group {
    id: TypeId,
    fibers: Vec<Rc<Fiber>>,
}

/// A member, or a part of one that runs beside another part.
pub(super) struct Fiber {
    member: usize,
    /// Who has started a part, and the member's first fiber.
    parent: Option<[Rc<Fiber>; 2]>,
    /// What runs; taken while it runs, and when it has ended.
    context: Cell<Option<Context>>,
    suspender: Cell<Option<Suspender>>,
    known: Cell<StackState>,
    /// What it waits for.
    request: Cell<Option<Request>>,
    /// Whether it waits for a part.
    joins: Cell<bool>,
    /// Whether it is to end, and whether it has.
    ends: Cell<bool>,
    done: Cell<bool>,
    /// What it has unwound with.
    payload: Cell<Option<Payload>>,
    /// Of the first fiber: its index among the members under way, the member's calls of primitives, why the member is to end.
    index: Cell<usize>,
    steps: Cell<u64>,
    why: Cell<Option<FaultKind>>,
}

impl Fiber {
    /// The member's first.
    fn first(&self) -> &Fiber {
        self.parent.as_ref().map_or(self, |[_, first]| first)
    }

    fn unwind(&self) -> ! {
        resume_unwind(Box::new(Stopped(self.first().why.get().unwrap_or(FaultKind::Cancelled))))
    }
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        rules: WorkerRules,
        watch: &'a dyn Watch,
        reached: &'a Reach,
        member: &'a dyn Fn(usize, Depth),
        has_result: &'a dyn Fn(usize) -> bool,
    ) -> Self {
        Worker {
            rules,
            watch,
            reached,
            member,
            has_result,
            running: RefCell::default(),
            ready: RefCell::default(),
            groups: RefCell::default(),
            members: RefCell::default(),
            alive: Cell::new(0),
            stacks: RefCell::default(),
            steps: Cell::new(0),
        }
    }

    /// Members that run without a fiber until this is dropped are this worker's: their primitives call kernels for one row.
    pub(crate) fn without_fiber(&self) -> CurrentWorker<'_> {
        CurrentWorker::set(Some(self))
    }

    /// The next member begins that runs without a fiber.
    pub(crate) fn begins_without_fiber(&self) {
        self.steps.set(0);
    }

    /// Whether a member of the program has reached a primitive.
    pub(crate) fn has_reached(&self) -> bool {
        self.reached.is_found()
    }

    /// Runs the members of the queue: so many `first`, and all of them once one has reached a primitive, on fibers; others by
    /// `without`, which returns when the queue is empty or a member has reached one.
    pub(crate) fn run_queue(
        &self,
        queue: &Queue,
        first: usize,
        faults: &mut FaultList,
        without: &dyn Fn(&mut FaultList),
    ) {
        let left = Cell::new(first);
        let take = || {
            if !self.has_reached() {
                left.set(left.get().checked_sub(1)?);
            }
            queue.take(1).next()
        };
        self.run(&take, faults);
        if !self.has_reached() {
            without(faults);
            if queue.waiting() == 0 && !self.has_reached() {
                return self.reached.not_found();
            }
        }
        self.run(&take, faults);
    }

    /// Runs the members that `take` yields, on fibers, to the last.
    fn run(&self, take: &dyn Fn() -> Option<usize>, faults: &mut FaultList) {
        let (mut more, mut loaded) = (true, 0);
        loop {
            let next = self.ready.borrow_mut().pop_front();
            if let Some(fiber) = next {
                self.resume(&fiber);
                self.settle(&fiber, faults);
                continue;
            }
            if let Some(kind) = self.watch.over() {
                self.end_members(kind, faults);
                while let Some(member) = take() {
                    faults.push(Fault { member, kind, message: ended(kind) });
                    self.watch.ended(1);
                }
                return;
            }
            let under_way = self.members.borrow().len();
            if under_way == 0 {
                loaded = 0;
            }
            let lanes = self.rules.lanes;
            if more && under_way < lanes && (self.rules.refill || loaded < lanes) {
                let stack = self.stack();
                // Without a stack for a fiber a member waits until there is one, and with no fiber at all it runs without.
                if stack.is_some() || under_way == 0 {
                    match take() {
                        None => more = false,
                        Some(member) => {
                            loaded += 1;
                            self.begin(member, stack, faults);
                            continue;
                        }
                    }
                }
                self.stacks.borrow_mut().extend(stack);
            }
            if !self.answer() {
                debug_assert!(self.members.borrow().is_empty(), "each member waits for something");
                return;
            }
        }
    }

    fn begin(&self, member: usize, stack: Option<Stack>, faults: &mut FaultList) {
        let run = move || {
            let depth = Depth::root(self.rules.max_depth);
            let _published = depth.publish();
            (self.member)(member, depth);
        };
        let Some(stack) = stack else {
            self.begins_without_fiber();
            let current = self.without_fiber();
            let payload = catch_unwind(AssertUnwindSafe(run)).err();
            drop(current);
            return self.finish(member, None, payload, faults);
        };
        // SAFETY: when the worker is dropped its members have ended.
        let fiber = unsafe { self.fiber(stack, member, None, run) };
        let mut members = self.members.borrow_mut();
        fiber.index.set(members.len());
        members.push(fiber.clone());
        drop(members);
        self.ready.borrow_mut().push_back(fiber);
    }

    /// A fiber that has not begun.
    ///
    /// # Safety
    ///
    /// It is run to its end, or dropped before it begins, as long as the worker and what `body` borrows are there.
    unsafe fn fiber(
        &self,
        stack: Stack,
        member: usize,
        parent: Option<[Rc<Fiber>; 2]>,
        body: impl FnOnce(),
    ) -> Rc<Fiber> {
        let known = StackState::of_stack(stack.lowest());
        let run = |suspender| {
            let fiber = self.running.borrow().clone().expect("this fiber runs");
            fiber.suspender.set(Some(suspender));
            fiber.payload.set(catch_unwind(AssertUnwindSafe(body)).err());
        };
        // SAFETY: the caller's promise.
        let context = unsafe { Context::new(stack, run) };
        self.alive.set(self.alive.get() + 1);
        Rc::new(Fiber {
            member,
            parent,
            context: Cell::new(Some(context)),
            suspender: Cell::new(None),
            known: Cell::new(known),
            request: Cell::new(None),
            joins: Cell::new(false),
            ends: Cell::new(false),
            done: Cell::new(false),
            payload: Cell::new(None),
            index: Cell::new(0),
            steps: Cell::new(0),
            why: Cell::new(None),
        })
    }

    fn stack(&self) -> Option<Stack> {
        if self.alive.get() >= self.rules.fibers {
            return None;
        }
        let own = self.stacks.borrow_mut().pop();
        own.or_else(Stack::take)
    }

    /// Runs a fiber until it is suspended or ends. What the thread knows of its stack, and of who runs on it, is the fiber's meanwhile.
    fn resume(&self, fiber: &Rc<Fiber>) {
        let mut context = fiber.context.take().expect("the fiber is suspended");
        let here = CurrentWorker::set(Some(self));
        let running = self.running.replace(Some(fiber.clone()));
        let known = fiber.known.get().swap();
        let done = context.resume();
        let known = known.swap();
        self.running.replace(running);
        drop(here);
        fiber.known.set(known);
        if !done {
            return fiber.context.set(Some(context));
        }
        fiber.done.set(true);
        self.alive.set(self.alive.get() - 1);
        let mut stack = context.into_stack();
        if known.has_grown() {
            stack.was_full();
        }
        self.stacks.borrow_mut().push(stack);
    }

    /// After a fiber has run: if it has ended, who waits for it goes on, or the member is done.
    fn settle(&self, fiber: &Rc<Fiber>, faults: &mut FaultList) {
        if !fiber.done.get() {
            return;
        }
        if let Some([parent, _]) = &fiber.parent {
            if parent.joins.replace(false) {
                self.ready.borrow_mut().push_back(parent.clone());
            }
            return;
        }
        let mut members = self.members.borrow_mut();
        let index = fiber.index.get();
        members.swap_remove(index);
        if let Some(moved) = members.get(index) {
            moved.index.set(index);
        }
        drop(members);
        self.finish(fiber.member, fiber.why.get(), fiber.payload.take(), faults);
    }

    /// A member is done.
    fn finish(
        &self,
        member: usize,
        why: Option<FaultKind>,
        payload: Option<Payload>,
        faults: &mut FaultList,
    ) {
        if let Some(payload) = payload {
            if (self.has_result)(member) {
                // A destructor of the value that the result has replaced: no fault of the function's.
                resume_unwind(payload);
            }
            let (kind, message) = reason(why, &*payload, self.rules.max_depth, self.rules.max_steps);
            let fault = Fault { member, kind, message };
            voice::tell(&fault, self.watch.numbering());
            faults.push(fault);
        }
        self.watch.ended(1);
    }

    /// Calls a kernel for the fibers that wait at one primitive, by the schedule. Whether any do.
    fn answer(&self) -> bool {
        let mut groups = self.groups.borrow_mut();
        let mut waiting = groups.iter_mut().filter(|group| !group.fibers.is_empty());
        let chosen = match self.rules.schedule {
            Schedule::EarliestBlock => waiting.next(),
            // Of several the first.
            Schedule::MostLanes => waiting.rev().max_by_key(|group| group.fibers.len()),
        };
        let Some(group) = chosen else { return false };
        let fibers = std::mem::take(&mut group.fibers);
        drop(groups);
        let requests: Vec<Request> = fibers.iter().filter_map(|fiber| fiber.request.take()).collect();
        let nobody = CurrentWorker::nobody();
        Request::answer_all(&requests);
        drop(nobody);
        self.ready.borrow_mut().extend(fibers);
        true
    }

    /// A member has come to a primitive: the fiber that may wait there, if it is on one. Unwinds if the member is to end.
    pub(super) fn reach(&self) -> Option<Rc<Fiber>> {
        self.reached.found();
        let fiber = self.running.borrow().clone();
        // Other fibers would find a thread that is panicking.
        if panicking() {
            return None;
        }
        let steps = fiber.as_ref().map_or(&self.steps, |fiber| &fiber.first().steps);
        steps.set(steps.get() + 1);
        let over = steps.get() > self.rules.max_steps;
        match &fiber {
            Some(fiber) => {
                if over {
                    fiber.first().why.set(Some(FaultKind::StepsExceeded));
                }
                if over || fiber.ends.get() {
                    fiber.unwind();
                }
            }
            None if over => resume_unwind(Box::new(Stopped(FaultKind::StepsExceeded))),
            None => {
                if let Some(kind) = self.watch.over() {
                    resume_unwind(Box::new(Stopped(kind)));
                }
            }
        }
        fiber
    }

    /// The fiber that runs, if parts of it may run side by side.
    pub(super) fn forks(&self) -> Option<Rc<Fiber>> {
        let fiber = self.running.borrow().clone();
        fiber.filter(|fiber| !fiber.ends.get() && !panicking())
    }

    /// Suspends `fiber`, which runs, until its request is answered.
    pub(super) fn wait_for(&self, fiber: &Rc<Fiber>, request: Request) {
        let mut groups = self.groups.borrow_mut();
        match groups.iter_mut().find(|group| group.id == request.id) {
            Some(group) => group.fibers.push(fiber.clone()),
            None => groups.push(Group { id: request.id, fibers: vec![fiber.clone()] }),
        }
        drop(groups);
        fiber.request.set(Some(request));
        self.suspend(fiber);
    }

    /// Suspends the fiber that runs.
    fn suspend(&self, fiber: &Rc<Fiber>) {
        debug_assert!(self.running.borrow().as_ref().is_some_and(|running| Rc::ptr_eq(running, fiber)));
        if fiber.ends.get() {
            fiber.unwind();
        }
        let suspender = fiber.suspender.get().expect("a fiber that runs has begun");
        // SAFETY: the fiber is the one that runs (`reach` and `forks` yield no other), and so this is on its stack.
        unsafe { suspender.suspend() };
        if fiber.ends.get() {
            fiber.unwind();
        }
    }

    /// Starts a part of `parent`, which runs; none if there are too many fibers.
    ///
    /// # Safety
    ///
    /// The child is dropped, not forgotten.
    pub(super) unsafe fn spawn<'w>(
        &'w self,
        parent: &Rc<Fiber>,
        work: &'w mut dyn FnMut(),
    ) -> Option<Child<'w>> {
        let stack = self.stack()?;
        let first = parent.parent.as_ref().map_or(parent, |[_, first]| first).clone();
        let published = Depth::published();
        let run = move || {
            let _published = published.on_this_stack().publish();
            work();
        };
        // SAFETY: it ends when the child is dropped.
        let fiber = unsafe { self.fiber(stack, parent.member, Some([parent.clone(), first]), run) };
        self.ready.borrow_mut().push_back(fiber.clone());
        Some(Child { worker: self, fiber })
    }

    /// Ends a fiber that does not run: it unwinds, and drops what it owns.
    fn end(&self, fiber: &Rc<Fiber>) {
        if fiber.done.get() {
            return;
        }
        let others = |other: &Rc<Fiber>| !Rc::ptr_eq(other, fiber);
        self.ready.borrow_mut().retain(others);
        if fiber.request.take().is_some() {
            self.groups.borrow_mut().iter_mut().for_each(|group| group.fibers.retain(others));
        }
        fiber.ends.set(true);
        let context = fiber.context.take();
        if context.as_ref().is_some_and(|context| !context.has_begun()) {
            fiber.done.set(true);
            self.alive.set(self.alive.get() - 1);
            return;
        }
        fiber.context.set(context);
        // It is not suspended again.
        self.resume(fiber);
        debug_assert!(fiber.done.get());
    }

    /// Ends all members under way.
    fn end_members(&self, kind: FaultKind, faults: &mut FaultList) {
        loop {
            let Some(fiber) = self.members.borrow().last().cloned() else { return };
            fiber.why.set(fiber.why.get().or(Some(kind)));
            self.end(&fiber);
            self.settle(&fiber, faults);
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // Some are left where something unwinds through `run`.
        let members = std::mem::take(&mut *self.members.borrow_mut());
        members.iter().for_each(|fiber| self.end(fiber));
        Stack::keep(self.stacks.take());
    }
}

/// A part of a fiber, which ends before this does.
pub(super) struct Child<'w> {
    worker: &'w Worker<'w>,
    fiber: Rc<Fiber>,
}

impl Child<'_> {
    /// Suspends the parent, which runs, until the child has ended.
    pub(super) fn wait_in(&self, parent: &Rc<Fiber>) {
        while !self.fiber.done.get() {
            parent.joins.set(true);
            self.worker.suspend(parent);
        }
    }
}

impl Drop for Child<'_> {
    fn drop(&mut self) {
        self.worker.end(&self.fiber);
    }
}
