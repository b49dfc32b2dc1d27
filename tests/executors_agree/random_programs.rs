//! What random programs (`fuzz/`) have found, each as small as the shrinker made it.

#![allow(unused, clippy::all)] // as the generator writes

use crate::common::{agree_at, column, executors};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Unit {
    value: u32,
}

#[autobatch(strict)]
fn struct_literal_in_a_condition(n: u32) -> u32 {
    let unit = Unit { value: 3 };
    if (Unit { value: n } != unit) {
        n
    } else {
        let mut k = 0;
        while k < n {
            k += 1;
        }
        k + 10
    }
}

#[autobatch(strict)]
fn unused_value_of_a_loop(fuel: u32) -> u32 {
    let mut unused: u32 = {
        let mut k = 0;
        loop {
            if k >= 1 {
                break 3;
            }
            k += 1;
            while k % 3 > 0 {
                k += 1;
            }
            if fuel > 2 {
                break 4;
            }
        }
    };
    fuel
}

/// Neither the loop's value nor the call's has a `let`; both are assigned where nobody needs the old value.
#[autobatch(strict)]
fn assigned_anew(n: u32) -> u32 {
    let mut looped = loop {
        if n > 3 {
            break 1;
        }
        if n <= 3 {
            break 2;
        }
    };
    let mut called = if n > 0 { assigned_anew(n - 1) } else { 7 };
    let mut returned = match n {
        0 => 1,
        _ => assigned_anew(n / 2),
    };
    let mut k = looped;
    while k < n {
        k += 1;
    }
    while k > n / 2 {
        looped = k + 1;
        called = looped ^ n;
        returned = 9;
        k -= 1 + looped % 2;
        if looped > 7 {
            break;
        }
    }
    k
}

/// The variable's `let` stands in the branches; behind them it is assigned, its value dead.
#[autobatch(strict)]
fn assigned_behind_branches(n: u32, k: u32) -> u32 {
    let mut x = if k > 1 {
        if k > 3 {
            return assigned_behind_branches(n / 2, k - 1);
        }
        n + 1
    } else {
        n
    };
    x = k + 5;
    x ^ n
}

/// Several values of a variable that nobody reads, of a type that one of them tells.
#[autobatch(strict)]
mod one_type {
    pub(crate) fn entry(n: u32, k: u32, all: &[u32], read: Result<bool, u32>) -> u32 {
        if n == 0 {
            return k;
        }
        let _unread = match all {
            [_, inner @ .., _] => {
                for i in 0..2 {
                    entry(n - 1, i, inner, read).min(3);
                }
                read
            }
            [one, two] if one > two => Err(4),
            _ => read,
        };
        let mut _later;
        if k > 2 {
            entry(n - 1, k, all, read);
            _later = None;
        } else {
            _later = Some(read);
            entry(n / 2, 1, all, read);
        }
        match k {
            0 => {
                entry(n - 1, k, all, read);
                None
            }
            1 => {
                entry(n / 2, 3, all, read);
                Some(String::new())
            }
            _ => None,
        };
        n + k
    }
}

/// Of the variable nothing is needed where the branches meet; there it is assigned, and not read.
#[autobatch(strict)]
mod assigned_where_branches_meet {
    #[allow(unused_assignments)]
    pub(crate) fn entry(n: u32, k: u32) -> u32 {
        let mut unread = false;
        if k > 2 {
            if k == 5 {
                return below(n, k);
            }
        }
        unread = true;
        n + k
    }

    fn below(n: u32, k: u32) -> u32 {
        if n > 3 { below(n - 2, k) } else { n * k }
    }
}

/// What stands before a call is read before it, through a `&mut` too.
#[autobatch(strict)]
fn read_before_the_call(n: u32, state: &mut u32, pair: &mut (u32, u32)) -> u32 {
    if n == 0 {
        *state += 3;
        pair.0 ^= *state;
        return pair.1;
    }
    let before = *state * 2 + read_before_the_call(n - 1, state, pair);
    let alias = &mut *pair;
    let field = alias.0 % 7 + read_before_the_call(n / 2, state, pair);
    before ^ (pair.1 & field)
}

/// The assigned value is computed before a call in the place's index.
#[autobatch(strict)]
fn value_before_the_place(n: u32, state: &mut [u32; 3]) -> u32 {
    if n == 0 {
        state[1] += 5;
        return state[0] % 3;
    }
    state[value_before_the_place(n - 1, state) as usize % 3] = state[1] + n;
    state[0] * 100 + state[1] * 10 + state[2]
}

/// The same under a compound assignment of numbers.
#[autobatch(strict)]
fn operand_before_the_place(n: u32, state: &mut [u32; 3]) -> u32 {
    if n == 0 {
        state[1] += 5;
        return state[0] % 3;
    }
    state[operand_before_the_place(n - 1, state) as usize % 3] ^= state[1] * 3 + n;
    state[0] * 10 + state[1] % 7 + state[2]
}

/// A part of a slice that a pattern binds, handed on as a part again.
#[autobatch(strict)]
fn slices_of_slices(n: u32, xs: &[u32]) -> u32 {
    match xs {
        [first, rest @ ..] if n > 0 => {
            let Some(second) = rest.first() else { return slices_of_slices(n - 1, &rest[rest.len()..]) };
            let tail = &rest[1..];
            slices_of_slices(n - 1, &tail[tail.len() / 2..]) + first * second
        }
        _ => n,
    }
}

/// A closure that captures a local, in a chain that ends with a value.
#[autobatch(strict)]
fn consumed_closures(n: u32, k: u32, xs: &[u32]) -> u32 {
    if n == 0 {
        return k;
    }
    let folded = xs.iter().map(|x| x.wrapping_mul(k)).fold(0u32, |a, x| a.wrapping_add(x ^ n));
    let gotten = xs.get(2).copied().map(|x| x ^ k).unwrap_or(n);
    let less = k.checked_sub(3).map(|x| x.wrapping_mul(k));
    let large = less.filter(|x| *x > k);
    let any = xs.iter().any(|x| *x == k);
    let below = consumed_closures(n - 1, xs.iter().fold(k, |a, x| a.wrapping_add(*x ^ k)), xs);
    let more = consumed_closures(n / 2, large.map_or(3, |x| x ^ k), &xs[(k as usize).min(xs.len())..]);
    folded ^ gotten.wrapping_add(below) ^ less.unwrap_or(3) ^ large.unwrap_or(7) ^ any as u32 ^ more
}

#[derive(Clone, Copy, Debug)]
struct Scale {
    by: u32,
}

/// A method without loops is no part of the program: calling it needs no known receiver.
#[autobatch(strict)]
impl Scale {
    pub(crate) fn shrink(&self, n: u32) -> u32 {
        let other = Scale { by: self.by + 1 };
        if n == 0 { self.times(1) } else { self.shrink(n / 2) + self.times(n) + other.times(n) }
    }

    fn times(&self, n: u32) -> u32 {
        self.by * n
    }
}

#[test]
fn struct_literals_and_unused_loops() {
    let ns: Vec<u32> = (0..7).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| struct_literal_in_a_condition(*n),
        |n, o| struct_literal_in_a_condition_batched_with(n, o),
    );
    agree_at(&SIZES, &ns, |n| unused_value_of_a_loop(*n), |n, o| unused_value_of_a_loop_batched_with(n, o));
}

#[test]
fn variables_are_assigned_where_branches_meet() {
    let pairs: Vec<(u32, u32)> = (0..24).map(|i| (i * 5 % 11, i % 7)).collect();
    agree_at(
        &SIZES,
        &pairs,
        |b| assigned_where_branches_meet::entry(b.0, b.1),
        |b, o| assigned_where_branches_meet::entry_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    let inputs: Vec<(u32, u32)> = (0..35).map(|i| (i % 5, i * 7 % 12)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, k)| assigned_behind_branches(*n, *k),
        |b, o| assigned_behind_branches_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
    let all = [5, 3, 8, 1];
    let read = |k: u32| if k.is_multiple_of(2) { Ok(true) } else { Err(k) };
    agree_at(
        &SIZES,
        &inputs,
        |(n, k)| one_type::entry(*n, *k, &all, read(*k)),
        |b, o| {
            let reads = column(b, |x| read(x.1));
            one_type::entry_batched_with(column(b, |x| x.0), column(b, |x| x.1), &all, reads, o)
        },
    );
    let ns: Vec<u32> = (0..7).collect();
    agree_at(&SIZES, &ns, |n| assigned_anew(*n), |n, o| assigned_anew_batched_with(n, o));
}

#[test]
fn closures_capture_locals_in_chains() {
    let inputs: Vec<(u32, u32)> = (0..35).map(|i| (i % 5, i * 7 % 12)).collect();
    let xs = [3, 5, 9, 2];
    agree_at(
        &SIZES,
        &inputs,
        |(n, k)| consumed_closures(*n, *k, &xs),
        |b, o| consumed_closures_batched_with(column(b, |x| x.0), column(b, |x| x.1), &xs, o),
    );
}

#[test]
fn operands_are_read_before_later_calls() {
    let ns: Vec<u32> = (0..7).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut state = [4, 1, 0];
            value_before_the_place(*n, &mut state)
        },
        |n, o| value_before_the_place_batched_with(n, &mut vec![[4, 1, 0]; n.len()], o),
    );
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut state = [4, 1, 0];
            operand_before_the_place(*n, &mut state)
        },
        |n, o| operand_before_the_place_batched_with(n, &mut vec![[4, 1, 0]; n.len()], o),
    );
    let xs = [3, 5, 9, 2, 8, 1, 4];
    agree_at(&SIZES, &ns, |n| slices_of_slices(*n, &xs), |n, o| slices_of_slices_batched_with(n, &xs, o));
    agree_at(
        &SIZES,
        &ns,
        |n| read_before_the_call(*n, &mut 5, &mut (9, 4)),
        |n, o| {
            let (mut states, mut pairs) = (vec![5; n.len()], vec![(9, 4); n.len()]);
            let outcome = read_before_the_call_batched_with(n, &mut states, &mut pairs, o)?;
            for (member, n) in n.iter().enumerate() {
                let (mut state, mut pair) = (5, (9, 4));
                read_before_the_call(*n, &mut state, &mut pair);
                assert_eq!((states[member], pairs[member]), (state, pair));
            }
            Ok(outcome)
        },
    );
}

/// `helper` is an entry of its own, but a plain call in the program of `outer`: it adds no depth there.
#[autobatch(strict)]
mod entries {
    pub(crate) fn helper(n: u32) -> u32 {
        n / 2 + 1
    }

    fn inner(n: u32) -> u32 {
        if n < 2 { helper(n) + 1 } else { inner(n - 2) + helper(n) }
    }

    pub(crate) fn outer(n: u32) -> u32 {
        let first = inner(n);
        first + helper(first)
    }
}

#[test]
fn depth_is_the_same_in_every_executor() {
    let ns: Vec<u32> = (0..7).collect();
    agree_at(&SIZES, &ns, |n| entries::helper(*n), |n, o| entries::helper_batched_with(n, o));
    for (depth, deep) in [(1, vec![2, 3, 4, 5, 6]), (2, vec![4, 5, 6]), (4, vec![])] {
        for (how, options) in executors() {
            let outcome = entries::outer_batched_with(&ns, &options.max_depth(depth)).unwrap();
            let faulty: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
            assert_eq!(faulty, deep, "{how}, depth {depth}");
        }
    }
}

#[test]
fn methods_without_loops_are_plain_calls() {
    let ns: Vec<u32> = (0..7).collect();
    let scale = Scale { by: 3 };
    agree_at(&SIZES, &ns, |n| scale.shrink(*n), |n, o| scale.shrink_batched_with(n, o));
}
