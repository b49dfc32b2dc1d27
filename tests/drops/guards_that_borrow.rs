//! A guard borrows a local and reads it when it is dropped: the local is still there, and nothing is dropped before its time.

use std::cell::{Cell, RefCell};

use crate::common::{agree_at, tell_the_same};
use autobatch::{Executor, Options, autobatch};

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// Tells what it borrows when it is dropped.
pub(crate) struct Guard<'a>(&'a [u64]);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let sum = self.0.iter().fold(1_u64, |sum, x| sum.wrapping_mul(31).wrapping_add(*x));
        SEEN.set(SEEN.get().wrapping_mul(1_000_003).wrapping_add(sum));
    }
}

/// What has been told, in order.
fn told() -> u64 {
    SEEN.replace(0)
}

#[autobatch]
mod guards {
    use super::{Cell, Guard, RefCell};

    pub(super) fn length(v: &[u64], n: u64) -> u64 {
        if n == 0 { v.iter().sum::<u64>() % 101 } else { length(v, n - 1) + 1 }
    }

    fn made(n: u64) -> Vec<u64> {
        (0..n % 50 + 140).map(|k| k * n).collect()
    }

    pub(super) fn mentioned(n: u64) -> u64 {
        let mut kept = made(n);
        kept.push(7);
        let guard = Guard(&kept);
        let x = length(&kept, n % 4);
        let y = length(&kept[1..], x % 3);
        let _ = &guard;
        let z = length(&[1, 2], 2);
        x + y + z
    }

    pub(super) fn unmentioned(n: u64) -> u64 {
        let kept = made(n);
        let x = length(&kept, n % 4);
        let _guard = Guard(&kept);
        let y = length(&kept[1..], x % 3);
        length(&[x, y], 1)
    }

    /// The names are in another order than their definitions.
    pub(super) fn several(n: u64) -> u64 {
        let z = made(n);
        let y = Guard(&z);
        let x = made(n + 1);
        let b = Guard(&x);
        let a = Guard(y.0);
        let sum = length(a.0, n % 3) + length(b.0, 1);
        if sum.is_multiple_of(2) {
            return sum;
        }
        sum + length(&[sum, n], 2)
    }

    pub(super) fn in_a_block(n: u64) -> u64 {
        let kept = made(n);
        let mut s = 0;
        {
            let _guard = Guard(&kept);
            let mut i = 0;
            while i < kept.len() {
                s += length(&kept[i..], 1);
                i += 31 + (s % 2) as usize;
            }
            s += length(&[s], 2);
        }
        let moved = kept;
        s + length(&moved, 1)
    }

    /// On one path the local is moved.
    pub(super) fn on_one_path(n: u64) -> u64 {
        let kept = made(n);
        if n.is_multiple_of(3) {
            let other = kept;
            return length(&other, 2);
        }
        let guard = Guard(&kept);
        let x = length(guard.0, n % 4);
        let y = length(&[x, 3], 1);
        x + y
    }

    pub(super) fn in_a_loop(n: u64) -> u64 {
        let mut s = 0;
        for k in 0..n % 4 {
            let kept = made(n + k);
            let _guard = Guard(&kept);
            s += length(&kept, k);
            if s.is_multiple_of(5) {
                continue;
            }
            s += length(&[s], 1);
        }
        s
    }

    /// Members fail while guards of theirs are on the stacks.
    pub(super) fn failing(n: u64, depth: u64) -> u64 {
        let z = made(n);
        let a = Guard(&z);
        let y = [n, depth];
        let b = Guard(&y);
        assert!(depth > 0 || !n.is_multiple_of(3), "no more");
        if depth == 0 {
            return a.0.len() as u64 + b.0[0];
        }
        let below = failing(n + 1, depth - 1);
        assert!(z[1] % 7 != 2 || z.len() < 150, "no more");
        let more = length(&z, 1);
        let mut taken = z[2] + more;
        taken = taken.checked_sub(z[3] * (n % 3)).expect("no more");
        taken + below + failing(n + 2 * (below % 2), depth / 2) + length(a.0, 1)
    }

    /// The same with guards that patterns bind, and under other names.
    pub(super) fn failing_in_arms(n: u64, depth: u64) -> u64 {
        let z = made(n);
        let (a, _) = (Guard(&z), n);
        let below = match Some(Guard(&z)) {
            Some(b) if depth > 0 => {
                let other = a;
                let below = failing_in_arms(n + 1, depth - 1);
                assert!(z[1] % 7 != 2 || z.len() < 150, "no more");
                let more = length(&z, below % 3);
                assert!(!(z[2] + more).is_multiple_of(3), "no more");
                below + b.0[0] + other.0.len() as u64
            }
            _ => n,
        };
        below % 1000 + z[0]
    }

    /// Guards that are dropped or handed on before their block ends.
    pub(super) fn dropped(n: u64) -> u64 {
        let kept = made(n);
        let one = Guard(&kept);
        let two = Guard(&kept[1..]);
        let x = length(&kept, n % 4);
        drop(one);
        let y = length(&[x], 2);
        let three = two;
        x + y + length(three.0, n % 2)
    }

    /// The cell is borrowed until the end.
    pub(super) fn of_a_cell(n: u64) -> u64 {
        let cell = RefCell::new(made(n));
        let count = Cell::new(n);
        let borrowed = cell.borrow();
        let first = borrowed[1];
        let x = length(&[first], n % 5);
        count.set(count.get() + x);
        let taken = u64::from(cell.try_borrow_mut().is_err());
        x + taken * 1000 + count.get()
    }
}

#[test]
fn borrowed_values_outlive_the_guards_of_a_failing_member() {
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            for n in 0..60 {
                told();
                let value = std::panic::catch_unwind(|| guards::$scalar(n, n % 4)).map_err(|_| "no more".to_string());
                let expected = (value, told());
                for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Auto] {
                    let options = Options::default().executor(executor).threads(1);
                    let outcome = guards::$batched(&[n], &[n % 4], &options).expect("one member");
                    let value = outcome.into_values().map(|values| values[0]);
                    let value = value.map_err(|faults| faults.first().message.clone());
                    assert_eq!((value, told()), expected, "{} {n}", stringify!($scalar));
                }
            }
        )*};
    }
    check!(failing failing_batched_with failing_in_arms failing_in_arms_batched_with);
}

#[test]
fn borrowed_values_outlive_their_guards() {
    let inputs: Vec<u64> = (0..60).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(&[1, 61], &inputs, |n| guards::$scalar(*n), |n, o| guards::$batched(n, o));
            tell_the_same(&inputs, told, |n| guards::$scalar(*n), |n, o| guards::$batched(n, o));
        )*};
    }
    check!(mentioned mentioned_batched_with unmentioned unmentioned_batched_with several several_batched_with);
    check!(in_a_block in_a_block_batched_with on_one_path on_one_path_batched_with in_a_loop in_a_loop_batched_with);
    check!(dropped dropped_batched_with of_a_cell of_a_cell_batched_with);
}
