//! The limits of a run, as the threads that run its members see them.
//!
//! Engines count for themselves how far their members are. A loop that stays whole inside lane code belongs to no engine. It asks here, once
//! in so many turns.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::panicking;
use std::time::{Duration, Instant};

use crate::api::fault::FaultKind;
use crate::api::options::CancelToken;
use crate::native_stack::turn::{self, NoTurn};

/// The ticks after which scalar code looks at the limits, and how often it does before it is given up.
const TICKS: u32 = 4096;
const LOOKS: u32 = 1024;
/// Loops of no more turns are not counted.
const LONG: usize = 256;
/// The turns of a loop that count as one step.
const TURNS: u32 = 4096;

/// What code unwinds with whose member is to end, without the panic hook.
pub(crate) struct Stopped(pub(crate) FaultKind);

/// What scalar code for few lanes unwinds with that takes too long.
pub(crate) struct Tired;

/// When the members of a run have to end.
#[derive(Debug)]
pub(crate) struct Limits {
    cancel: Option<CancelToken>,
    deadline: Option<Instant>,
    /// Whether that has been seen to be over.
    passed: AtomicBool,
    max_steps: Option<u64>,
}

impl Limits {
    /// No limits are `None`.
    pub(crate) fn new(
        cancel: Option<CancelToken>,
        deadline: Option<Instant>,
        max_steps: Option<u64>,
    ) -> Option<Arc<Limits>> {
        let any = cancel.is_some() || deadline.is_some() || max_steps.is_some();
        any.then(|| Arc::new(Limits { cancel, deadline, passed: AtomicBool::new(false), max_steps }))
    }

    /// Why the run ends now, if it does.
    #[inline]
    pub(crate) fn over(&self) -> Option<FaultKind> {
        if self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Some(FaultKind::Cancelled);
        }
        let deadline = self.deadline?;
        let passed = self.passed.load(Ordering::Relaxed) || Instant::now() >= deadline;
        if passed {
            self.passed.store(true, Ordering::Relaxed);
        }
        passed.then_some(FaultKind::DeadlineExceeded)
    }

    /// Whether somebody may end the run from outside.
    pub(crate) fn ends(&self) -> bool {
        self.cancel.is_some() || self.deadline.is_some()
    }
}

thread_local! {
    /// Those of the run whose members this thread runs.
    static HERE: RefCell<Option<Arc<Limits>>> = const { RefCell::new(None) };
    static LIMITED: Cell<bool> = const { Cell::new(false) };
    /// The turns until the limits are looked at again, and how often they have been in this loop.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    /// The ticks of scalar code until the limits are looked at again, those that it may make behind that, and how often the limits may still
    /// be looked at. Turns of loops have ticks of their own, and so have calls of inlined clones: each one waits for the one before, so they should
    /// not wait for each other.
    static TICKS_LEFT: Cell<u32> = const { Cell::new(TICKS) };
    static INLINED_LEFT: Cell<u32> = const { Cell::new(TICKS) };
    static TURNS_LEFT: Cell<u32> = const { Cell::new(TICKS) };
    static STEPS_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static LOOKS_LEFT: Cell<u32> = const { Cell::new(LOOKS) };
    /// How long it runs until others have their turn, whether it has looked at the clock, and since when it runs.
    static SLICE: Cell<Duration> = const { Cell::new(Duration::MAX) };
    static LOOKED: Cell<bool> = const { Cell::new(false) };
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether it is for few lanes of a tile, which is given up then.
    static FEW: Cell<bool> = const { Cell::new(false) };
}

/// Makes limits those of this thread, until it is dropped.
pub(crate) struct Limited {
    before: Option<Arc<Limits>>,
    member: Member,
    slice: Duration,
    _no_turn: NoTurn,
}

impl Limited {
    pub(crate) fn by(limits: Option<Arc<Limits>>) -> Limited {
        LIMITED.set(limits.is_some());
        let (member, slice) = (Member::running(), SLICE.get());
        Limited { before: HERE.replace(limits), member, slice, _no_turn: NoTurn::begin() }
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        LIMITED.set(self.before.is_some());
        HERE.replace(self.before.take());
        self.member.goes_on();
        SLICE.set(self.slice);
    }
}

/// What is counted of a member in scalar code, while others run on its thread.
struct Member {
    left: [u32; 3],
    steps: u64,
    few: (bool, u32),
}

impl Member {
    /// The one that runs.
    fn running() -> Member {
        let left = [TICKS_LEFT.get(), INLINED_LEFT.get(), TURNS_LEFT.get()];
        Member { left, steps: STEPS_LEFT.get(), few: (FEW.get(), LOOKS_LEFT.get()) }
    }

    fn goes_on(&self) {
        let [ticks, inlined, turns] = self.left;
        TICKS_LEFT.set(ticks);
        INLINED_LEFT.set(inlined);
        TURNS_LEFT.set(turns);
        STEPS_LEFT.set(self.steps);
        FEW.set(self.few.0);
        LOOKS_LEFT.set(self.few.1);
        LOOKED.set(true);
    }
}

/// Whether the turns of a loop are to be counted, which goes over `iter` and is in no other loop of its lane code.
#[cfg_attr(optimised, inline(always))]
pub fn is_long(iter: &impl Iterator) -> bool {
    iter.size_hint().0 > LONG && begins()
}

/// The same in another loop.
#[cfg_attr(optimised, inline(always))]
pub fn is_long_inside(iter: &impl Iterator) -> bool {
    iter.size_hint().0 > LONG && LIMITED.get()
}

/// The same as [`is_long`], for a loop around loops over the lanes: the turns until [`next_turn`] looks at the limits. A flag would be the same
/// in all turns, so that LLVM would make two loops of the one.
#[cfg_attr(optimised, inline(always))]
pub fn turns_left(iter: &impl Iterator) -> u32 {
    if is_long(iter) { 1 } else { u32::MAX }
}

/// The same in another loop.
#[cfg_attr(optimised, inline(always))]
pub fn turns_left_inside(iter: &impl Iterator) -> u32 {
    if is_long_inside(iter) { 1 } else { u32::MAX }
}

/// Such a loop has come to its next turn. Unwinds if the member is to end.
#[cfg_attr(optimised, inline(always))]
pub fn next_turn(left: &mut u32) {
    *left -= 1;
    if *left == 0 {
        look();
        *left = TURNS;
    }
}

/// A counted clone has been called. Unwinds if its lanes are to end.
#[cfg_attr(optimised, inline(always))]
pub fn tick() {
    // One instruction counts and tests.
    let left = TICKS_LEFT.get();
    TICKS_LEFT.set(left.wrapping_sub(1));
    if left == 0 {
        TICKS_LEFT.set(0);
        look_up();
    }
}

/// An inlined clone has been called whose calls are steps. Unwinds if its lanes are to end.
#[cfg_attr(optimised, inline(always))]
pub fn tick_inlined() {
    let left = INLINED_LEFT.get();
    INLINED_LEFT.set(left.wrapping_sub(1));
    if left == 0 {
        INLINED_LEFT.set(0);
        look_up();
    }
}

/// A counted clone has come to the next turn of a loop. Unwinds if its lanes are to end.
#[cfg_attr(optimised, inline(always))]
pub fn tick_turn() {
    let left = TURNS_LEFT.get();
    TURNS_LEFT.set(left.wrapping_sub(1));
    if left == 0 {
        TURNS_LEFT.set(0);
        look_up();
    }
}

/// Ticks that a member may make, as they are counted.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    first: u32,
    each: u32,
    rest: u64,
}

impl Allowance {
    pub(crate) fn of(steps: u64) -> Allowance {
        // A third each, so that where only one kind is made it comes here a few times at the end.
        let each = (steps / 3).min(u64::from(TICKS)) as u32;
        let first = each + (steps - 3 * u64::from(each)).min(u64::from(TICKS - each)) as u32;
        Allowance { first, each, rest: steps - u64::from(first) - 2 * u64::from(each) }
    }

    /// So many may be made from here on.
    #[cfg_attr(optimised, inline(always))]
    fn begins(self) {
        TICKS_LEFT.set(self.first);
        INLINED_LEFT.set(self.each);
        TURNS_LEFT.set(self.each);
        STEPS_LEFT.set(self.rest);
    }
}

/// How many may be made still.
fn ticks_left() -> u64 {
    let left = [TICKS_LEFT.get(), INLINED_LEFT.get(), TURNS_LEFT.get()].map(u64::from);
    STEPS_LEFT.get() + left.iter().sum::<u64>()
}

#[cold]
#[inline(never)]
fn look_up() {
    // A destructor that runs while its lane unwinds.
    if panicking() {
        return;
    }
    match ticks_left().checked_sub(1) {
        Some(left) => Allowance::of(left).begins(),
        None => resume_unwind(Box::new(Stopped(FaultKind::StepsExceeded))),
    }
    look_over();
    if FEW.get() {
        return match LOOKS_LEFT.get() {
            0 => resume_unwind(Box::new(Tired)),
            left => LOOKS_LEFT.set(left - 1),
        };
    }
    let now = Instant::now();
    let looked = LOOKED.replace(true);
    match BEGAN.get().filter(|_| looked) {
        None => return BEGAN.set(Some(now)),
        Some(began) if now - began < SLICE.get() => return,
        Some(_) => {}
    }
    let member = Member::running();
    if turn::pause() {
        // Others have been running.
        member.goes_on();
        look_over();
    }
    BEGAN.set(Some(Instant::now()));
}

/// Unwinds if the run is over.
fn look_over() {
    if let Some(kind) = HERE.with_borrow(|limits| limits.as_ref()?.over()) {
        resume_unwind(Box::new(Stopped(kind)));
    }
}

/// Members run as scalar code from here on, each so long until others have their turn. The time counts from its first look: the clock takes as
/// long as some members.
pub(crate) fn begin_slices(time: Duration) {
    FEW.set(false);
    Allowance::of(u64::MAX).begins();
    SLICE.set(time);
}

/// The next member begins. It may make so many steps, if that is said.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn begin_member(steps: Option<Allowance>) {
    LOOKED.set(false);
    if let Some(steps) = steps {
        steps.begins();
    }
}

/// Whether the member has looked at the limits.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn has_looked() -> bool {
    LOOKED.get()
}

/// How long it has run since its first look, or since others had their turn.
pub(crate) fn slice_used() -> Duration {
    BEGAN.get().filter(|_| has_looked()).map_or(Duration::ZERO, |began| began.elapsed())
}

/// Scalar code runs for few lanes from here on.
pub(crate) fn begin_ticks() {
    FEW.set(true);
    Allowance::of(u64::MAX).begins();
    LOOKS_LEFT.set(LOOKS);
}

/// The ticks since then.
pub(crate) fn ticks() -> u64 {
    u64::MAX - ticks_left()
}

#[inline(never)]
fn begins() -> bool {
    LEFT.set(0);
    STEPS.set(0);
    LIMITED.get()
}

/// A loop has come to its next turn. Unwinds if the member is to end.
#[cfg_attr(optimised, inline(always))]
pub fn turn() {
    match LEFT.get() {
        0 => look(),
        left => LEFT.set(left - 1),
    }
}

#[cold]
#[inline(never)]
fn look() {
    LEFT.set(TURNS);
    let steps = STEPS.get();
    STEPS.set(steps + 1);
    let kind = HERE.with_borrow(|limits| {
        let limits = limits.as_ref()?;
        let too_long = limits.max_steps.is_some_and(|most| steps > most);
        limits.over().or(too_long.then_some(FaultKind::StepsExceeded))
    });
    if let Some(kind) = kind {
        resume_unwind(Box::new(Stopped(kind)));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// The turns that a loop makes, and why it ends.
    fn turns(limits: Option<Arc<Limits>>, most: u64) -> (u64, Option<FaultKind>) {
        let _limited = Limited::by(limits);
        let turns = Cell::new(0);
        let range = 0..most;
        let caught = catch_unwind(std::panic::AssertUnwindSafe(|| {
            let is_long = is_long(&range);
            for nth in range.clone() {
                if is_long {
                    turn();
                }
                turns.set(nth + 1);
            }
        }));
        let why = caught.err().map(|payload| payload.downcast::<Stopped>().unwrap().0);
        (turns.get(), why)
    }

    #[test]
    fn ticks_are_counted_until_they_are_too_many() {
        begin_ticks();
        (0..10_000).for_each(|_| tick());
        (0..10_000).for_each(|_| tick_turn());
        assert_eq!(ticks(), 20_000);
        let endless = catch_unwind(|| (0..u64::MAX).for_each(|_| tick()));
        assert!(endless.unwrap_err().is::<Tired>());
        begin_ticks();
        let endless = catch_unwind(|| (0..u64::MAX).for_each(|_| tick_turn()));
        assert!(endless.unwrap_err().is::<Tired>());
        let token = CancelToken::new();
        token.cancel();
        let _limited = Limited::by(Limits::new(Some(token), None, None));
        begin_ticks();
        let endless = catch_unwind(|| (0..u64::MAX).for_each(|_| tick()));
        assert!(endless.unwrap_err().is::<Stopped>());
    }

    #[test]
    fn a_member_makes_no_more_ticks_than_it_may() {
        for most in [0, 1, 2, 3, 17, 4096, 4097, 8192, 8193, 20_000] {
            for turns_of_a_call in [0, 1, 5] {
                begin_slices(Duration::MAX);
                begin_member(Some(Allowance::of(most)));
                let made = Cell::new(0);
                let caught = catch_unwind(std::panic::AssertUnwindSafe(|| {
                    loop {
                        tick();
                        made.set(made.get() + 1);
                        for _ in 0..turns_of_a_call {
                            tick_turn();
                            made.set(made.get() + 1);
                            tick_inlined();
                            made.set(made.get() + 1);
                        }
                        // The look that finds no next turn.
                        tick_turn();
                        made.set(made.get() + 1);
                    }
                }));
                let payload = caught.unwrap_err().downcast::<Stopped>().unwrap();
                assert_eq!(payload.0, FaultKind::StepsExceeded);
                assert_eq!((made.get(), ticks_left()), (most, 0));
            }
        }
    }

    #[test]
    fn members_of_a_batch_in_a_member_count_for_themselves() {
        begin_slices(Duration::MAX);
        begin_member(Some(Allowance::of(100)));
        (0..40).for_each(|_| tick());
        let inner = Limited::by(None);
        begin_slices(Duration::ZERO);
        begin_member(Some(Allowance::of(7)));
        (0..7).for_each(|_| tick_turn());
        drop(inner);
        assert_eq!((ticks_left(), SLICE.get()), (60, Duration::MAX));
    }

    #[test]
    fn long_loops_end_and_short_ones_are_not_asked() {
        let steps = |most| Limits::new(None, None, Some(most));
        assert_eq!(turns(None, 100_000), (100_000, None));
        assert_eq!(turns(steps(0), 200), (200, None));
        let (done, why) = turns(steps(10), u64::MAX);
        assert!(done <= 11 * 4097, "{done}");
        assert_eq!(why, Some(FaultKind::StepsExceeded));
        assert_eq!(turns(steps(100), 300_000), (300_000, None));
        let token = CancelToken::new();
        let limits = Limits::new(Some(token.clone()), None, None);
        assert_eq!(turns(limits.clone(), 1000), (1000, None));
        token.cancel();
        assert_eq!(turns(limits, 1000), (0, Some(FaultKind::Cancelled)));
        let limits = Limits::new(None, Some(Instant::now()), None);
        assert_eq!(turns(limits, 1000), (0, Some(FaultKind::DeadlineExceeded)));
        assert!(!LIMITED.get(), "the guard is gone");
    }
}
