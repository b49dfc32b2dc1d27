//! A guard does something when it is dropped, and borrows nothing of the function's: spans, counters, locks. It is dropped
//! where the scalar code drops it: at the end of its block, on every way out, and before the code behind.

#![allow(clippy::useless_vec)] // written as users write

use std::cell::RefCell;
use std::sync::Mutex;

use crate::common::{agree_at, is_per_member, tell_the_same};
use autobatch::{Executor, Options, autobatch};

thread_local! {
    static SEEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn see(what: u64) {
    SEEN.with_borrow_mut(|seen| seen.push(what));
}

/// What has been seen, in order.
fn seen() -> Vec<u64> {
    SEEN.take()
}

/// Is seen when it is made and when it is dropped.
struct Span(u64);

impl Span {
    fn new(what: u64) -> Self {
        see(what);
        Self(what)
    }
}

impl Span {
    fn weight(&self) -> &u64 {
        &self.0
    }
}

fn heavier(weight: &u64, than: u64) -> u64 {
    see(8);
    u64::from(*weight > than)
}

impl Drop for Span {
    fn drop(&mut self) {
        see(self.0 + 1000);
    }
}

/// Holds one.
struct Outer {
    span: Span,
    weight: u64,
}

type Named = Outer;

fn named(what: u64) -> Named {
    Outer { span: Span::new(what), weight: what }
}

fn enter(what: u64) -> Span {
    Span::new(what)
}

#[autobatch]
mod m {
    use super::{Outer, Span, enter, heavier, named, see};

    pub(super) fn depth(n: u64) -> u64 {
        see(n);
        if n == 0 { 0 } else { depth(n - 1) + 1 }
    }

    pub(super) fn unmentioned(n: u64) -> u64 {
        let _span = Span::new(n);
        let x = depth(n % 4);
        see(7);
        x + depth(x % 3)
    }

    /// At the end of the statement.
    pub(super) fn in_an_argument(n: u64) -> u64 {
        heavier(Span::new(n % 7).weight(), depth(n % 4));
        see(7);
        depth(n % 3)
    }

    /// Before what the condition chooses, and once on every way.
    pub(super) fn in_conditions(n: u64) -> u64 {
        let mut out = 0;
        for k in 0..n % 4 {
            if heavier(Span::new(n % 7).weight(), depth(k)) > 0 {
                see(5);
                continue;
            }
            out += match k {
                1 => heavier(Span::new(40 + k).weight(), depth(n % 3)),
                _ => 3,
            };
            see(6);
            while heavier(Span::new(n % 5).weight(), depth(out % 4)) > out {
                out += 1;
                if out == 3 {
                    break;
                }
            }
        }
        see(9);
        out
    }

    pub(super) fn by_another_name(n: u64) -> u64 {
        let held = named(n);
        let weight = held.weight;
        depth(weight % 4) + depth(n % 3)
    }

    pub(super) fn from_a_function(n: u64) -> u64 {
        let _span = enter(n);
        let x = depth(n % 4);
        x + depth(x % 3)
    }

    pub(super) fn with_early_ways_out(n: u64) -> u64 {
        let span = Span::new(n);
        if n.is_multiple_of(3) {
            return depth(n % 5);
        }
        let x = depth(n % 4);
        if x == 2 {
            let _inner = Span::new(50);
            let y = depth(3);
            return y + span.0;
        }
        see(8);
        x + span.0
    }

    pub(super) fn as_a_question(n: u64) -> Option<u64> {
        let _span = Span::new(n);
        let x = depth(n % 4).checked_sub(1)?;
        let _other = Span::new(x);
        let y = depth(x + 1);
        Some(y.checked_sub(2)? + x)
    }

    pub(super) fn in_a_block(n: u64) -> u64 {
        let x = {
            let _span = Span::new(n);
            depth(n % 4)
        };
        see(9);
        let y = {
            let span = Span::new(n + 1);
            depth(n % 3) + span.0
        };
        see(10);
        x + y
    }

    pub(super) fn in_loops(n: u64) -> u64 {
        let mut s = 0;
        'outer: for k in 0..n % 5 {
            let _outer = Span::new(k);
            let mut i = 0;
            loop {
                let _inner = Span::new(100 + i);
                s += depth(i % 3);
                if s % 7 == 5 {
                    see(11);
                    continue 'outer;
                }
                if s % 11 == 8 {
                    s += depth(1);
                    break 'outer;
                }
                i += 1;
                if i > k {
                    break;
                }
                see(12);
            }
            see(13);
        }
        see(14);
        s
    }

    pub(super) fn with_a_value(n: u64) -> u64 {
        let found = 'search: {
            let _span = Span::new(n);
            let x = depth(n % 4);
            if x == 1 {
                let _inner = Span::new(3);
                break 'search depth(2);
            }
            see(15);
            x
        };
        see(16);
        found + n
    }

    /// What the function is given is dropped when it ends, after its locals.
    pub(super) fn given(n: u64) -> u64 {
        taking(Span::new(n), n % 3) + taking(Span::new(n + 1), 1)
    }

    fn taking(span: Span, n: u64) -> u64 {
        let _local = Span::new(60 + n);
        if n == 0 {
            return span.0;
        }
        let below = taking(Span::new(n), n - 1);
        depth(below % 3)
    }

    pub(super) fn several(n: u64) -> u64 {
        let z = Span::new(n);
        let a = Span::new(n + 1);
        let m = Outer { span: Span::new(n + 2), weight: 2 };
        let many = vec![Span::new(5), Span::new(6)];
        let x = depth(n % 3) + m.weight * m.span.0 + many[0].0 + z.0;
        let y = depth(x % 4) + a.0;
        see(17);
        y
    }

    /// Those that are moved are dropped where they end.
    pub(super) fn moved(n: u64) -> u64 {
        let a = Span::new(n);
        let b = Span::new(n + 1);
        let c = Some(Span::new(n + 2));
        let x = depth(n % 3);
        drop(a);
        see(18);
        let y = depth(2) + { b }.0;
        see(19);
        let z = c.map_or(0, |c| c.0);
        see(20);
        depth(1) + x + y + z
    }

    /// Under another name, as what macros look at, and as what they take.
    pub(super) fn otherwise(n: u64) -> u64 {
        let a = Span::new(n);
        let b = a;
        let c = Span::new(n + 1);
        let x = depth(n % 3);
        assert!(c.0 > n, "{} {}", c.0, b.0);
        assert_eq!(c.0, n + 1);
        let text = format!("{}", c.0 + b.0);
        let d = Span::new(n + 2);
        let many = vec![d, Span::new(7)];
        let y = depth(x + text.len() as u64 % 2);
        see(25);
        y + many[0].0 + b.0
    }

    pub(super) fn in_arms(n: u64) -> u64 {
        let x = match n % 3 {
            0 => {
                let _span = Span::new(n);
                depth(2)
            }
            1 => {
                let span = Span::new(n);
                let x = depth(span.0 % 4);
                see(21);
                x
            }
            _ => depth(n % 2),
        };
        see(22);
        if x > 1 {
            let _span = Span::new(x);
            see(depth(x % 2));
        } else {
            see(23);
        }
        see(24);
        x
    }
}

/// Methods of a type that threads can't share have families that nobody calls.
#[autobatch]
mod inside {
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    struct Keep(Arc<AtomicU64>, u64);

    impl Drop for Keep {
        fn drop(&mut self) {
            self.0.store(self.0.load(Relaxed).wrapping_mul(41).wrapping_add(self.1), Relaxed);
        }
    }

    fn kept_by(seen: &Arc<AtomicU64>, what: u64) -> Keep {
        Keep(Arc::clone(seen), what)
    }

    pub(super) struct Watch<'a>(&'a Cell<u64>, u64);

    impl<'a> Watch<'a> {
        pub(super) fn new(seen: &'a Cell<u64>, what: u64) -> Self {
            Watch(seen, what)
        }

        pub(super) fn what(&self) -> u64 {
            self.1
        }

        fn which(&self) -> &u64 {
            &self.1
        }

        /// One that has to be dropped before this one.
        fn next<'b>(&'b self, what: u64) -> Watch<'b> {
            Watch::new(self.0, what)
        }
    }

    impl Drop for Watch<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get().wrapping_mul(31).wrapping_add(self.1));
        }
    }

    pub(super) fn depth(n: u64) -> u64 {
        if n == 0 { 0 } else { depth(n - 1) + 1 }
    }

    pub(super) fn watched(n: u64) -> u64 {
        let seen = Cell::new(n);
        let mut x = {
            let _one = Watch::new(&seen, n);
            let two = Watch::new(&seen, 5);
            let x = depth(n % 4);
            seen.set(seen.get() + x);
            if x == 2 {
                let _three = Watch::new(&seen, 3);
                x + depth(3)
            } else {
                x + two.what()
            }
        };
        for k in 0..n % 3 {
            let _four = Watch::new(&seen, k);
            x += depth(k);
            if x % 5 == 1 {
                break;
            }
            x += seen.get() % 8;
        }
        x + seen.get()
    }

    fn more(what: &u64, than: u64) -> u64 {
        *what + than
    }

    /// What is made of them lives as long as they do, and borrows nothing of them.
    pub(super) fn looked_at(n: u64) -> u64 {
        let seen = Cell::new(n);
        let mut sum = 0;
        {
            let one = Watch::new(&seen, 7);
            sum += depth(n % 4);
            let what = one.what();
            let _ = one.what();
            sum += what;
        }
        sum += seen.get() % 64;
        {
            let two = Watch::new(&seen, 9);
            sum += depth(n % 3);
            let (what, twice) = (two.1, more(&two.1, 2));
            sum += depth(what % 5) + twice;
        }
        sum += seen.get() % 64;
        {
            let three = Watch::new(&seen, 11);
            let what = three.which();
            let which = what;
            sum += depth(n % 5) + *which;
        }
        sum += seen.get() % 64;
        {
            let four = Watch::new(&seen, 13);
            sum += depth(n % 2);
            if let Some(what) = four.which().checked_add(n) {
                let _after = four.next(what);
                sum += depth(what % 3);
            }
            let after = four.next(sum);
            sum += after.what() % 8 + depth(n % 2);
        }
        let mut k = 0;
        loop {
            let five = Watch::new(&seen, k);
            let what = five.which();
            sum += depth(*what % 3);
            if k > n % 4 {
                break;
            }
            k += *what % 2 + 1;
            let six = Watch::new(&seen, k);
            let what = six.which().checked_sub(9);
            if sum % 7 == 3 {
                continue;
            }
            sum += depth(*six.which() % 3);
            let Some(_) = (if n == 5 { what } else { Some(k) }) else { return sum + 7 };
        }
        sum += depth(seen.get() % 3);
        sum + seen.get()
    }

    pub(super) fn extended(n: u64) -> u64 {
        let seen = Arc::new(AtomicU64::new(n));
        let sum = extending(&seen, n);
        sum + depth(seen.load(Relaxed) % 3) + seen.load(Relaxed)
    }

    /// What a `let` extends the life of goes with the block.
    fn extending(seen: &Arc<AtomicU64>, n: u64) -> u64 {
        let mut sum = 0;
        for k in 0..n % 4 {
            let both = (&kept_by(seen, k), depth(k));
            sum += both.0.1 + both.1;
            if sum % 5 == 4 {
                break;
            }
            seen.fetch_add(sum, Relaxed);
        }
        sum + depth(seen.load(Relaxed) % 5)
    }

    /// The library's are such values too: those that are not dropped in time panic.
    pub(super) fn borrowed(n: u64) -> u64 {
        let seen = RefCell::new(vec![n, n + 1, n + 2]);
        let mut sum = 0;
        {
            let mut all = seen.borrow_mut();
            sum += depth(n % 4);
            let first = all.first_mut().map_or(0, |first| {
                *first += 1;
                *first
            });
            let _ = all.len();
            sum += first;
        }
        {
            let all = seen.borrow();
            let rest = &all[1..];
            sum += depth(n % 3) + rest.iter().sum::<u64>();
        }
        seen.borrow_mut().push(sum);
        seen.into_inner().iter().sum()
    }

    /// What they write to is counted.
    pub(super) fn kept(n: u64) -> u64 {
        let seen = Arc::new(AtomicU64::new(n));
        let x = {
            let _one = Keep(Arc::clone(&seen), n);
            let _two = kept_by(&seen, 3);
            let x = depth(n % 4);
            if n.is_multiple_of(3) {
                return x + seen.load(Relaxed);
            }
            let y = depth(x + seen.load(Relaxed) % 2);
            seen.fetch_add(y, Relaxed);
            y
        };
        if x > 1 {
            seen.store(x, Relaxed);
        }
        x + seen.load(Relaxed)
    }
}

/// A lock that members share would be waited for by the member that has it.
#[autobatch]
fn locked(n: u64, sum: &Mutex<u64>) -> u64 {
    let mut sum = sum.lock().expect("nobody fails");
    *sum += n;
    let mut x = n;
    while x > 3 {
        x = if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 };
        *sum += x;
    }
    x
}

/// Here it is given back in the same block.
#[autobatch(strict)]
fn locked_for_a_moment(n: u64, sum: &Mutex<u64>) -> u64 {
    let mut x = n;
    while x > 3 {
        x = if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 };
        let mut sum = sum.lock().expect("nobody fails");
        *sum += x;
    }
    x
}

#[test]
fn guards_are_dropped_where_the_scalar_code_drops_them() {
    let inputs: Vec<u64> = (0..40).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(&[1, 17], &inputs, |n| m::$scalar(*n), |n, o| m::$batched(n, o));
            tell_the_same(&inputs, seen, |n| m::$scalar(*n), |n, o| m::$batched(n, o));
        )*};
    }
    check!(unmentioned unmentioned_batched_with from_a_function from_a_function_batched_with);
    check!(with_early_ways_out with_early_ways_out_batched_with as_a_question as_a_question_batched_with);
    check!(in_a_block in_a_block_batched_with in_loops in_loops_batched_with);
    check!(with_a_value with_a_value_batched_with given given_batched_with several several_batched_with);
    agree_at(&[1, 17], &inputs, |n| inside::watched(*n), |n, o| inside::watched_batched_with(n, o));
    agree_at(&[1, 17], &inputs, |n| inside::kept(*n), |n, o| inside::kept_batched_with(n, o));
    agree_at(&[1, 17], &inputs, |n| inside::looked_at(*n), |n, o| inside::looked_at_batched_with(n, o));
    agree_at(&[1, 17], &inputs, |n| inside::extended(*n), |n, o| inside::extended_batched_with(n, o));
    agree_at(&[1, 17], &inputs, |n| inside::borrowed(*n), |n, o| inside::borrowed_batched_with(n, o));
    check!(by_another_name by_another_name_batched_with in_an_argument in_an_argument_batched_with in_conditions in_conditions_batched_with otherwise otherwise_batched_with moved moved_batched_with in_arms in_arms_batched_with);
}

#[test]
fn a_member_does_not_wait_for_its_own_lock() {
    let inputs: Vec<u64> = (1..200).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Auto] {
        let options = Options::default().executor(executor);
        let (scalar, held, moment) = (Mutex::new(0), Mutex::new(0), Mutex::new(0));
        let expected: Vec<u64> = inputs.iter().map(|n| locked(*n, &scalar)).collect();
        let values = locked_batched_with(&inputs, &held, &options).map(autobatch::Outcome::into_values);
        assert_eq!(values.expect("a batch").expect("no faults"), expected);
        assert_eq!(*held.lock().unwrap(), *scalar.lock().unwrap());
        locked_for_a_moment_batched_with(&inputs, &moment, &options).expect("a batch");
        let expected = Mutex::new(0);
        let _: Vec<u64> = inputs.iter().map(|n| locked_for_a_moment(*n, &expected)).collect();
        assert_eq!(*moment.lock().unwrap(), *expected.lock().unwrap());
    }
    let lock = Mutex::new(0);
    assert!(is_per_member(&inputs, |n, o| locked_batched_with(n, &lock, o)));
    assert!(!is_per_member(&inputs, |n, o| locked_for_a_moment_batched_with(n, &lock, o)));
}
