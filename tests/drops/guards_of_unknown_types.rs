//! A value of a type of another file may have a `drop` and borrow from a local: code behind its block sees the write of that
//! `drop`. A method may take the value or not.

use std::cell::Cell;

use crate::common::{agree_at, is_per_member};
use autobatch::autobatch;

/// As if it stood in another file: what a macro makes is not seen.
macro_rules! elsewhere {
    ($($item:item)*) => { $($item)* };
}

elsewhere! {
    struct Watch<'a>(&'a Cell<u64>, u64);

    impl<'a> Watch<'a> {
        fn new(seen: &'a Cell<u64>, what: u64) -> Self {
            Watch(seen, what)
        }
        fn what(&self) -> u64 {
            self.1
        }
        fn more(&mut self, what: u64) -> u64 {
            self.1 += what;
            self.1
        }
        fn done(self) -> u64 {
            self.0.get() % 64
        }
    }

    impl Drop for Watch<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get().wrapping_mul(31).wrapping_add(self.1));
        }
    }

    struct Mean<'a>(&'a [u64]);

    impl<'a> Mean<'a> {
        fn of(values: &'a [u64]) -> Self {
            Mean(values)
        }
        fn mean(self) -> u64 {
            self.0.iter().sum::<u64>() / self.0.len() as u64
        }
    }
}

#[autobatch]
mod m {
    use std::cell::Cell;

    use super::{Mean, Watch};

    fn depth(n: u64) -> u64 {
        if n == 0 { 0 } else { depth(n - 1) + 1 }
    }

    /// What is mentioned again has not been taken; the last mention may take it.
    pub(super) fn mentioned_last(n: u64) -> u64 {
        let seen = Cell::new(n);
        let mut sum = 0;
        {
            let one = Watch::new(&seen, 7);
            sum += one.what() + depth(n % 4);
            let what = one.what();
            seen.set(seen.get() + what);
        }
        sum += seen.get() % 64;
        {
            let two = Watch::new(&seen, 9);
            sum += depth(n % 3);
            let done = two.done();
            seen.set(seen.get() + done);
        }
        sum += seen.get() % 64;
        for k in 0..n % 4 {
            let mut three = Watch::new(&seen, k);
            sum += depth(k);
            if three.more(sum % 3) > 4 {
                continue;
            }
            if n % 7 == 3 {
                sum += three.more(1);
                let Some(less) = sum.checked_sub(20) else { return sum + seen.get() };
                sum = less;
            } else if n % 7 == 4 {
                sum += three.done();
            }
        }
        sum += seen.get() % 64;
        sum += {
            let mut four = Watch::new(&seen, 11);
            four.more(depth(n % 5));
            seen.set(seen.get() + 1);
            four.more(5)
        };
        sum + seen.get()
    }

    /// Nothing is seen where what it borrows from does not change.
    pub(super) fn unread(n: u64) -> u64 {
        let values: Vec<u64> = (0..=n).collect();
        let mut sum = 0;
        for k in 0..n % 5 {
            let mean = Mean::of(&values);
            sum += depth(k);
            let mean = mean.mean();
            sum += depth(mean % 4);
        }
        sum
    }
}

#[autobatch]
mod alone {
    use std::cell::Cell;

    use super::Watch;

    fn depth(n: u64) -> u64 {
        if n == 0 { 0 } else { depth(n - 1) + 1 }
    }

    /// Whether it is taken can't be known, and what follows is not done at once.
    pub(super) fn mentioned_before_a_call(n: u64) -> u64 {
        let seen = Cell::new(n);
        let mut sum = 0;
        for k in 0..n % 5 {
            let one = Watch::new(&seen, k);
            sum += depth(n % 4);
            if one.what() > 2 {
                seen.set(seen.get() + 5);
            }
            sum += depth(seen.get() % 3);
        }
        sum + seen.get()
    }
}

#[test]
fn values_that_may_be_moved_are_dropped_where_the_scalar_code_drops_them() {
    let inputs: Vec<u64> = (0..40).collect();
    agree_at(&[1, 17], &inputs, |n| m::mentioned_last(*n), |n, o| m::mentioned_last_batched_with(n, o));
    agree_at(&[1, 17], &inputs, |n| m::unread(*n), |n, o| m::unread_batched_with(n, o));
    let batched = |n: &[u64], o: &autobatch::Options| alone::mentioned_before_a_call_batched_with(n, o);
    agree_at(&[1, 17], &inputs, |n| alone::mentioned_before_a_call(*n), batched);
    assert!(is_per_member(&inputs, batched));
}
