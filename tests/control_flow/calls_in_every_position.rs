//! Recursive calls in every position of an expression or statement, and the order they run in.

#![allow(clippy::let_unit_value, clippy::manual_is_multiple_of, clippy::needless_return)] // written as users write

use crate::common::{Bits, agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 4] = [0, 1, 97, 1013];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    low: u32,
    high: u32,
}

impl Bits for Pair {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch(strict)]
fn in_a_struct(n: u32) -> Pair {
    if n < 2 {
        return Pair { low: n, high: n + 1 };
    }
    let base = Pair { low: in_a_struct(n - 1).high, high: in_a_struct(n - 2).low };
    Pair { high: base.high.wrapping_add(in_a_struct(n / 2).high), ..base }
}

/// Not `strict`: a call in a guard runs the scalar code.
#[autobatch]
fn in_a_guard(n: u32) -> u32 {
    match n % 5 {
        _ if n < 3 => 1,
        0 if in_a_guard(n - 1) % 2 == 0 => 10 + in_a_guard(n - 3),
        0 | 1 => in_a_guard(n / 2) + 1,
        r @ 2..=3 if in_a_guard(n - r) > 4 => r,
        r => r + in_a_guard(n - 2),
    }
}

#[autobatch(strict)]
fn in_a_loop_condition(n: u32) -> u32 {
    let mut rounds = 0;
    while n > 1 && in_a_loop_condition(n - 2) + rounds < n {
        rounds += 1;
    }
    rounds
}

#[autobatch(strict)]
fn in_a_range(n: u32) -> u32 {
    if n == 0 {
        return 2;
    }
    let mut sum = 0;
    for i in in_a_range(n - 1) % 3..in_a_range(n / 2) % 7 {
        sum += i + in_a_range(n / 3) % 4;
    }
    sum + 1
}

#[autobatch(strict)]
fn in_an_index(n: usize, table: &[usize; 8]) -> usize {
    if n == 0 {
        return table[0];
    }
    let mut copy = *table;
    copy[in_an_index(n - 1, table) % 8] += 1;
    copy[n % 8] = in_an_index(n / 2, table);
    copy[table[in_an_index(n / 3, table) % 8] % 8]
}

#[autobatch(strict)]
fn in_a_return(n: u32) -> u32 {
    if n % 3 == 1 {
        return 1 + in_a_return(n / 2);
    }
    let found = 'out: {
        for i in 0..n {
            if i * i > n {
                break 'out in_a_return(n - i);
            }
        }
        n
    };
    if found > 100 { found / 2 } else { found + 1 }
}

#[autobatch(strict)]
fn in_let_else(n: i32) -> Option<i32> {
    if n < 0 {
        return None;
    }
    let Some(x) = in_let_else(n - 3) else {
        return Some(n);
    };
    if let Some(y) = in_let_else(n - 5)
        && y % 2 == 0
        && let Some(z) = in_let_else(n - 7)
    {
        return Some(x.wrapping_mul(3) ^ y ^ z);
    }
    let w = in_let_else(n - 4)?;
    (x != w).then_some(x.wrapping_sub(w))
}

#[autobatch(strict)]
fn in_while_let(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let mut at = n;
    let mut sum = 0;
    while let Some(next) = at.checked_sub(2 + in_while_let(at / 3) % 2) {
        sum += next;
        at = next;
    }
    sum
}

#[autobatch(strict)]
fn compound(n: u32) -> u32 {
    if n == 0 {
        return 1;
    }
    let mut acc = (n, [1, 2, 3]);
    acc.0 += compound(n - 1) % 50;
    acc.1[(n % 3) as usize] *= compound(n / 2) % 9;
    acc.1[0] <<= compound(n / 3) % 4;
    acc.0 ^= acc.1[0] + acc.1[1] + acc.1[2];
    acc.0
}

#[autobatch(strict)]
fn operators(n: i64) -> i64 {
    if n <= 0 {
        return !n;
    }
    let x = -operators(n - 1) as i32 as i64;
    let y = (operators(n / 2) + 3) * 2 - operators(n / 3) % 7;
    let block = {
        let z = operators(n - 2);
        if z > y { z } else { y }
    };
    (if operators(n / 4) < 0 { x } else { block }).wrapping_mul(3) % 10_007
}

/// The left operand is read before the call on the right changes the state.
#[autobatch(strict)]
fn order(n: u32, log: &mut Vec<u32>) -> u32 {
    log.push(n);
    if n == 0 {
        return 1;
    }
    let mut x = n;
    let before = x + order(n - 1, log) + {
        x += 10;
        x
    };
    log.push(before);
    let later = (order(n / 2, log), log.len() as u32, order(n / 3, log));
    (later.0 % 97) * 1000 + later.1 * 10 + later.2 % 10 + before % 10
}

#[autobatch(strict)]
fn callbacks(n: u32) -> u32 {
    let twice = |x: u32| 2 * x;
    if n < 2 {
        return twice(n);
    }
    let below = callbacks(n - 1);
    let add = |x: u32, y: u32| x.wrapping_add(y);
    add(twice(below), callbacks(n - 2))
}

#[autobatch(strict)]
fn references(n: u32) -> u32 {
    if n == 0 {
        return 3;
    }
    let value = references(n - 1);
    let r = &value;
    let sum = *r + r.count_ones();
    let mut local = [sum, n];
    let slot = &mut local[1];
    *slot += 1;
    references(n / 2) + local[0].max(local[1])
}

#[autobatch(strict)]
fn discarded(n: u32, seen: &mut u32) {
    *seen += 1;
    if n > 0 {
        discarded(n - 1, seen);
        let _ = discarded(n / 2, seen);
        if n % 4 == 0 {
            return discarded(n / 4, seen);
        }
    }
}

#[test]
fn in_expressions() {
    let ns: Vec<u32> = (0..9).collect();
    agree_at(&SIZES, &ns, |n| in_a_struct(*n), |n, o| in_a_struct_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| compound(*n), |n, o| compound_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| callbacks(*n), |n, o| callbacks_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| references(*n), |n, o| references_batched_with(n, o));
    let ns: Vec<i64> = (-2..8).collect();
    agree_at(&SIZES, &ns, |n| operators(*n), |n, o| operators_batched_with(n, o));
    let ns: Vec<usize> = (0..9).collect();
    let table = [3, 1, 4, 1, 5, 9, 2, 6];
    agree_at(&SIZES, &ns, |n| in_an_index(*n, &table), |n, o| in_an_index_batched_with(n, &table, o));
}

#[test]
fn in_control_flow() {
    let ns: Vec<u32> = (0..19).collect();
    agree_at(&SIZES, &ns, |n| in_a_guard(*n), |n, o| in_a_guard_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| in_a_return(*n), |n, o| in_a_return_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| in_while_let(*n), |n, o| in_while_let_batched_with(n, o));
    let ns: Vec<u32> = (0..7).collect();
    agree_at(&SIZES, &ns, |n| in_a_loop_condition(*n), |n, o| in_a_loop_condition_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| in_a_range(*n), |n, o| in_a_range_batched_with(n, o));
    let ns: Vec<i32> = (-2..17).collect();
    agree_at(&SIZES, &ns, |n| in_let_else(*n), |n, o| in_let_else_batched_with(n, o));
}

#[test]
fn effects_happen_in_order() {
    let ns: Vec<u32> = (0..7).collect();
    let logs: Vec<Vec<u32>> = column(&ns, |n| {
        let mut log = vec![];
        order(*n, &mut log);
        log
    });
    agree_at(
        &SIZES,
        &ns,
        |n| order(*n, &mut vec![]),
        |n, o| {
            let mut states = vec![vec![]; n.len()];
            let outcome = order_batched_with(n, &mut states, o)?;
            for (member, state) in states.iter().enumerate() {
                assert_eq!(*state, logs[member % logs.len()], "the log of member {member}");
            }
            Ok(outcome)
        },
    );
    agree_at(
        &SIZES,
        &ns,
        |_| (),
        |n, o| {
            let mut counts = vec![0; n.len()];
            let outcome = discarded_batched_with(n, &mut counts, o)?;
            for (n, count) in n.iter().zip(&counts) {
                let mut want = 0;
                discarded(*n, &mut want);
                assert_eq!(*count, want);
            }
            Ok(outcome)
        },
    );
}
