use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use super::request::Call;
use super::{gathers, join, wait};
use crate::api::fault::{Fault, FaultKind};
use crate::api::options::{CancelToken, Defaults, Executor, Options, Schedule};
use crate::api::outcome::Outcome;
use crate::api::program::Program;
use crate::launch::run;
use crate::launch::tests::{SCALAR, tile, ways};
use crate::native_stack::depth::Depth;

/// Where there are fibers at all.
const FIBERS: bool = crate::native_stack::coroutine::EXIST;

/// Runs a batch of a program of its own, on this thread unless options say otherwise.
/// A program that names a primitive.
const NAMES: Program = Program { names_primitives: true, ..SCALAR };

macro_rules! batch {
    ($members:expr, $options:expr, $f:expr) => {{
        static OWN: Program = NAMES;
        batch(&OWN, $members, $options, $f)
    }};
}

fn batch<R: Send>(
    program: &'static Program,
    members: usize,
    options: Options,
    f: impl Fn(usize, Depth) -> R + Sync,
) -> Outcome<R> {
    CALLS.take();
    run(program, Defaults::NONE, &options, &[("x", Some(members))], ways(f, tile)).unwrap()
}

fn one_thread() -> Options {
    Options::default().threads(1)
}

thread_local! {
    /// The rows of each kernel call.
    static CALLS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The rows of the kernel calls on this thread; each must have been for one row where there are no fibers.
fn calls() -> Vec<usize> {
    CALLS.take()
}

#[track_caller]
fn assert_calls(want: &[usize]) {
    let calls = calls();
    match FIBERS {
        true => assert_eq!(calls, want),
        false => assert_eq!(calls, vec![1; want.iter().sum()]),
    }
}

/// A primitive: the kernel adds 1 000 to what the body yields, so that one can tell who has run.
fn triple(x: u64) -> u64 {
    if gathers() {
        return wait((x,), true, |calls: &mut [&mut Call<(u64,), u64>]| {
            CALLS.with_borrow_mut(|all| all.push(calls.len()));
            for call in calls {
                // The kernel of a primitive may call it.
                call.result = Some(match triple(call.args.0) {
                    666 => Err("the kernel does not like 222".into()),
                    x => Ok(x + 1000),
                });
            }
        });
    }
    3 * x
}

/// Another, which lends what it changes.
fn append(to: &mut String, x: &str) -> usize {
    if gathers() {
        return wait((to, x), true, |calls| {
            CALLS.with_borrow_mut(|all| all.push(calls.len()));
            for call in calls {
                call.args.0.push_str(call.args.1);
                call.result = Some(Ok(call.args.0.len()));
            }
        });
    }
    to.push_str(x);
    to.len()
}

#[test]
fn members_that_wait_make_one_call() {
    let f = |member: usize, _: Depth| (0..member % 5).map(|i| triple((member + i) as u64)).sum::<u64>();
    let want: Vec<u64> =
        (0..100).map(|member| (0..member % 5).map(|i| 3 * (member + i) as u64 + 1000).sum()).collect();
    let outcome = batch!(100, one_thread(), f);
    assert_calls(&[80, 60, 40, 20]);
    assert_eq!(outcome.into_values().unwrap(), want);
    for options in [
        one_thread().lanes(7),
        one_thread().lanes(7).refill(false),
        one_thread().lanes(1),
        one_thread().executor(Executor::Masked),
        Options::default().threads(3).lanes(5).schedule(Schedule::EarliestBlock),
    ] {
        assert_eq!(batch!(100, options.clone(), f).into_values().unwrap(), want, "{options:?}");
    }
    let scalar = batch!(100, one_thread().executor(Executor::Scalar), f);
    assert_calls(&[]);
    assert_eq!(scalar.into_values().unwrap()[4], 3 * (4 + 5 + 6 + 7));
}

#[test]
fn finished_members_make_room() {
    // Half of the members make one call, the others three.
    let f = |member: usize, _: Depth| (0..1 + member % 2 * 2).map(|_| triple(member as u64)).sum::<u64>();
    batch!(8, one_thread().lanes(4), f);
    assert_calls(&[4, 4, 4, 2, 1, 1]);
    batch!(8, one_thread().lanes(4).refill(false), f);
    assert_calls(&[4, 2, 2, 4, 2, 2]);
}

#[test]
fn the_schedule_chooses_among_primitives() {
    let f = |member: usize, _: Depth| {
        let (mut text, mut sum) = (String::new(), 0);
        if member != 0 {
            sum += append(&mut text, "ab");
        }
        sum += triple(1) as usize;
        (text, sum)
    };
    let want =
        [("", 1003), ("ab", 1005), ("ab", 1005), ("ab", 1005)].map(|(text, sum)| (text.to_owned(), sum));
    assert_eq!(batch!(4, one_thread(), f).into_values().unwrap(), want);
    assert_calls(&[3, 4]);
    let earliest = one_thread().schedule(Schedule::EarliestBlock);
    assert_eq!(batch!(4, earliest, f).into_values().unwrap(), want);
    assert_calls(&[1, 3, 3]);
}

#[test]
fn who_finds_a_primitive_first_does_not_show() {
    static OWN: Program = NAMES;
    let f = |calls: bool| {
        move |member: usize, _: Depth| {
            if calls && member > 900 { triple(member as u64) } else { member as u64 }
        }
    };
    // First none reaches one, then some do, long after the first.
    let first = batch(&OWN, 1000, one_thread(), f(false));
    assert_eq!(first.into_values().unwrap(), (0..1000).collect::<Vec<u64>>());
    for round in 0..2 {
        let outcome = batch(&OWN, 1000, one_thread(), f(true));
        assert_eq!(outcome.into_values().unwrap()[901], 3 * 901 + 1000);
        let calls = calls();
        assert_eq!(calls.iter().sum::<usize>(), 99);
        assert!(round == 0 || !FIBERS || calls == [99], "{calls:?}");
    }
    // More than there are first ones.
    let outcome = batch!(3000, one_thread(), |member, _| if member == 2500 { triple(1) } else { 0 });
    assert_eq!(outcome.into_values().unwrap()[2500], 1003);
}

/// Counts what lives.
struct Token<'a>(&'a Cell<i64>);

impl<'a> Token<'a> {
    fn new(count: &'a Cell<i64>) -> Token<'a> {
        count.set(count.get() + 1);
        Token(count)
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

/// Runs `f` with a token on this thread's count.
fn with_token<R>(f: impl FnOnce() -> R) -> R {
    LIVE.with(|live| {
        let _token = Token::new(live);
        f()
    })
}

fn kinds(faults: &[Fault]) -> Vec<(usize, FaultKind)> {
    faults.iter().map(|fault| (fault.member, fault.kind)).collect()
}

#[test]
fn a_failing_member_ends_alone() {
    let f = |member: usize, _: Depth| {
        with_token(|| {
            let x = triple(member as u64);
            assert!(member != 3, "member three");
            let y = triple(x - 1000 + if member == 4 { 210 } else { 0 });
            (x, y)
        })
    };
    let outcome = batch!(10, one_thread(), f);
    assert_calls(&[10, 9]);
    assert_eq!(kinds(outcome.faults()), [(3, FaultKind::Panic), (4, FaultKind::Panic)]);
    assert_eq!(outcome.faults()[0].message, "member three");
    assert_eq!(outcome.faults()[1].message, "the kernel does not like 222");
    let results = outcome.into_results();
    assert_eq!(results[9], Ok((1027, 1081)));
    assert_eq!(LIVE.get(), 0);
}

#[test]
fn a_cancelled_run_drops_what_members_own() {
    let token = CancelToken::new();
    let f = |member: usize, _: Depth| {
        with_token(|| {
            let x = triple(member as u64);
            if member == 5 {
                token.cancel();
            }
            // Who catches everything is not suspended again.
            let caught = catch_unwind(|| with_token(|| triple(x)));
            if member != 7 {
                return caught.map_err(|payload| -> () { resume_unwind(payload) });
            }
            catch_unwind(|| triple(1)).map_err(drop)
        })
    };
    let outcome = batch!(20, one_thread().cancel(&token).lanes(10), f);
    assert_eq!(LIVE.get(), 0);
    if FIBERS {
        assert_calls(&[10]);
        let cancelled: Vec<_> = (0..20).filter(|m| *m != 7).map(|m| (m, FaultKind::Cancelled)).collect();
        assert_eq!(kinds(outcome.faults()), cancelled);
        assert_eq!(outcome.into_results()[7], Ok(Err(())));
    }
}

#[test]
fn calls_of_primitives_are_steps() {
    static OWN: Program = NAMES;
    let f = |member: usize, _: Depth| with_token(|| (0..member).map(|_| triple(1)).sum::<u64>());
    // Once members are known to reach a primitive.
    assert_eq!(batch(&OWN, 5, one_thread(), f).faults(), []);
    for _ in 0..2 {
        let outcome = batch(&OWN, 5, one_thread().max_steps(2), f);
        assert_eq!(kinds(outcome.faults()), [(3, FaultKind::StepsExceeded), (4, FaultKind::StepsExceeded)]);
        assert_eq!(outcome.faults()[0].message, "more than 2 steps");
        assert_eq!(outcome.into_results()[2], Ok(2006));
        assert_eq!(LIVE.get(), 0);
    }
}

/// Deeper than any stack, where there are segments.
const DEEP: u64 = if cfg!(miri) { 100 } else { 100_000 };

/// Calls the primitive at the bottom of a recursion.
fn dive(n: u64, bottom: &dyn Fn() -> u64, depth: Depth) -> u64 {
    if depth.stops() {
        return depth.elsewhere(move |depth| dive(n, bottom, depth));
    }
    if n == 0 {
        return bottom();
    }
    1 + black_box(dive(n - 1, bottom, depth.next()))
}

#[test]
fn depth_is_data_on_fibers_too() {
    let f = |member: usize, depth: Depth| {
        let deep = DEEP + member as u64;
        // Those who are in the middle of segments wait for each other.
        let first = dive(deep, &|| triple(1), depth);
        first + dive(3, &|| triple(2) + dive(deep / 2, &|| 1, Depth::published()), depth)
    };
    let want: Vec<u64> = (0..12)
        .map(|member| {
            let deep = DEEP + member;
            deep + 1003 + 3 + 1006 + deep / 2 + 1
        })
        .collect();
    let outcome = batch!(12, one_thread(), f);
    assert_calls(&[12, 12]);
    assert_eq!(outcome.into_values().unwrap(), want);

    let limited = one_thread().max_depth(DEEP as usize + 5);
    let outcome = batch!(12, limited, |member, depth| with_token(|| f(member, depth)));
    assert_eq!(kinds(outcome.faults()), (6..12).map(|m| (m, FaultKind::DepthExceeded)).collect::<Vec<_>>());
    assert_eq!(outcome.into_results()[5], Ok(want[5]));
    assert_eq!(LIVE.get(), 0);
}

/// Calls a primitive when it is dropped.
struct Caller<'a>(&'a Cell<u64>);

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.set(triple(self.0.get()));
    }
}

#[test]
fn a_panicking_member_does_not_wait() {
    let f = |member: usize, _: Depth| {
        let seen = Cell::new(member as u64);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _caller = Caller(&seen);
            triple(0);
            assert!(member != 1, "one");
        }));
        assert!(!std::thread::panicking());
        (caught.is_ok(), seen.get())
    };
    let outcome = batch!(3, one_thread(), f);
    assert_calls(&[3, 1, 2]);
    assert_eq!(outcome.into_values().unwrap(), [(true, 1000), (false, 1003), (true, 1006)]);
}

/// The sum over a binary tree with a call at each node.
fn tree(height: u32) -> u64 {
    if height == 0 {
        return triple(1);
    }
    // The primitive of a node is called before those below it.
    let here = triple(u64::from(height));
    let (left, right) = join(|| tree(height - 1), || tree((height - 1).saturating_sub(height % 2)));
    here + 2 * left + right
}

#[test]
fn joined_parts_meet() {
    let f = |member: usize, _: Depth| tree(1 + member as u32 % 4);
    let scalar = batch!(9, one_thread().executor(Executor::Scalar), f).into_values().unwrap();
    assert_eq!(scalar[0], tree(1), "outside of a batch");
    let outcome = batch!(9, one_thread(), |member, depth| f(member, depth) % 1000);
    let calls = calls();
    assert!(!FIBERS || calls.len() == 5, "one for each level: {calls:?}");
    let want: Vec<u64> = scalar.iter().map(|sum| sum % 1000).collect();
    assert_eq!(outcome.into_values().unwrap(), want);
    let again = batch!(9, one_thread().lanes(2), |member, depth| f(member, depth) % 1000);
    assert_eq!(again.into_values().unwrap(), want);
}

#[test]
fn too_many_parts_run_one_after_the_other() {
    fn full(height: u32) -> u64 {
        match height {
            0 => triple(1) % 1000,
            _ => {
                let (left, right) = join(|| full(height - 1), || full(height - 1));
                left + right
            }
        }
    }
    let height = if cfg!(miri) { 3 } else { 13 };
    let outcome = batch!(3, one_thread(), |_, _| full(height));
    let calls = calls();
    assert_eq!(outcome.into_values().unwrap(), [3 << height; 3]);
    assert_eq!(calls.iter().sum::<usize>(), 3 << height);
    assert!(!FIBERS || (4096..8192).contains(&calls[0]) && calls.len() < 100, "{calls:?}");
}

#[test]
fn a_panic_in_a_part_goes_on_when_both_have_ended() {
    let order = |member: usize, _: Depth| {
        let log = Rc::new(RefCell::new(Vec::new()));
        let note = |what: &'static str| log.borrow_mut().push(what);
        let (first, second) = ([1, 3].contains(&(member % 4)), member % 4 >= 2);
        let joined = catch_unwind(AssertUnwindSafe(|| {
            join(
                || {
                    with_token(|| triple(1));
                    note("a");
                    if first {
                        resume_unwind(Box::new("a"));
                    }
                },
                || {
                    with_token(|| {
                        triple(2);
                        if second {
                            resume_unwind(Box::new("b"));
                        }
                        triple(3);
                    });
                    note("b");
                },
            )
        }));
        let payload = joined.err().map(|payload| *payload.downcast::<&str>().unwrap());
        (payload, log.take().join(""))
    };
    let outcome = batch!(8, one_thread(), order);
    let want = [(None, "ab"), (Some("a"), "a"), (Some("b"), "a"), (Some("a"), "a")];
    let want = want.map(|(payload, log)| (payload, log.to_owned()));
    assert_eq!(outcome.into_values().unwrap(), [&want[..], &want[..]].concat());
    assert_eq!(LIVE.get(), 0);
}

#[test]
fn parts_end_with_their_member() {
    let token = CancelToken::new();
    let f = |member: usize, _: Depth| {
        let level = |x: u64| with_token(|| (0..x).map(|_| triple(x)).sum::<u64>());
        let pair = || with_token(|| join(|| level(1), || level(9)));
        match member {
            1 => token.cancel(),
            _ => drop(with_token(|| join(pair, || join(|| level(2), || level(8))))),
        }
    };
    let outcome = batch!(5, one_thread().cancel(&token), f);
    assert_eq!(LIVE.get(), 0);
    assert!(!FIBERS || outcome.faults().len() == 4, "{:?}", outcome.faults());
    // Unless the run is cancelled, steps are the member's, whichever part makes them.
    let steps = |member: usize, _: Depth| {
        let level = |x: usize| with_token(|| (0..x).map(|_| triple(1)).sum::<u64>());
        join(|| level(member), || join(|| level(2), || level(member)))
    };
    static STEPS: Program = NAMES;
    assert_eq!(batch(&STEPS, 5, one_thread(), steps).faults(), []);
    let outcome = batch(&STEPS, 5, one_thread().max_steps(8), steps);
    assert_eq!(kinds(outcome.faults()), [(4, FaultKind::StepsExceeded)]);
    assert_eq!(LIVE.get(), 0);
}

#[test]
fn a_batch_inside_of_a_member() {
    let outcome = batch!(6, one_thread(), |member, _| {
        let before = triple(member as u64);
        let calls = CALLS.take();
        let inner =
            batch!(4, one_thread(), |inner, depth| dive(DEEP, &|| triple((member + inner) as u64), depth));
        let inner: u64 = inner.into_values().unwrap().iter().sum();
        CALLS.with_borrow_mut(|all| all.splice(0..0, calls).count());
        before + inner + triple(1)
    });
    let want = |member: u64| 3 * member + 1000 + 4 * (DEEP + 1000) + 3 * (4 * member + 6) + 1003;
    assert_eq!(outcome.into_values().unwrap(), (0..6).map(want).collect::<Vec<_>>());
    assert_calls(&[6, 4, 4, 4, 4, 4, 4, 6]);
}

#[test]
fn what_a_thread_knows_is_as_before() {
    let before = Depth::published();
    let _published = Depth::root(77).publish();
    batch!(5, one_thread(), |member, _| triple(member as u64));
    assert_eq!(Depth::published().allowed(), 77);
    assert!(!gathers());
    drop(_published);
    assert_eq!(Depth::published().allowed(), before.allowed());
}

#[test]
fn a_progress_function_that_panics_ends_all_fibers() {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let options = one_thread().progress(|p| assert!(p.done < 3, "enough"));
        batch!(50, options, |member, _| with_token(|| {
            (0..member).map(|_| triple(1)).sum::<u64>();
        }))
    }));
    assert!(outcome.is_err());
    assert_eq!(LIVE.get(), 0);
    assert!(!gathers());
}
