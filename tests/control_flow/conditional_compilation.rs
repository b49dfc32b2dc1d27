//! Code under `#[cfg(…)]`, which the macro sees whether it is enabled or not.
//!
//! `any()` never holds, `not(any())` always does.

use crate::common::agree_at;
use autobatch::autobatch;

#[autobatch(strict)]
fn hidden(n: u64) -> u64 {
    #[cfg(any())]
    let n = n + 1;
    #[cfg(not(any()))]
    let n = n * 2;
    #[cfg(any())]
    let (n,) = (n + 5,);
    let mut x = n;
    #[cfg(any())]
    let x = "another type";
    while x < 100 {
        x = x * 2 + n + 1;
    }
    #[cfg(any())]
    let mut x: u8 = 3;
    x += 1;
    x
}

#[autobatch(strict)]
fn either(n: u64) -> u64 {
    #[cfg(any())]
    let step = 1;
    #[cfg(not(any()))]
    let step = 2;
    let mut sum = 0;
    for i in 0..n {
        sum += i * step;
    }
    sum
}

/// Patterns of which a part only hides a variable, and those that may not fit.
#[autobatch(strict)]
fn in_part(n: u64) -> u64 {
    let a = n + 3;
    let c = 5;
    #[cfg(any())]
    let (a, b) = (1, 2);
    #[cfg(not(any()))]
    let (mut c, d) = (c + a, a * 2);
    c += 1;
    #[cfg(any())]
    {
        c += a + b;
    }
    #[cfg(not(any()))]
    assert!(d > a);
    #[cfg(not(any()))]
    let Some(a) = a.checked_sub(5) else { return c };
    #[cfg(any())]
    let Some(a) = a.checked_sub(7) else { return 0 };
    let mut x = a;
    while x < 100 {
        x = x * 2 + c + 1;
    }
    x + a
}

#[autobatch(strict)]
fn loops(n: u64) -> u64 {
    let mut x = n;
    #[cfg(any())]
    while x < 1000 {
        x += 7;
    }
    #[cfg(not(any()))]
    for i in 0..n {
        x += i;
        if x > 60 {
            break;
        }
    }
    #[cfg(any())]
    {
        x = 3;
    }
    #[cfg(any())]
    return x;
    while x < 100 {
        #[cfg(any())]
        break;
        #[cfg(not(any()))]
        if x > 90 {
            return 7;
        }
        x += n + 1;
    }
    #[cfg(any())]
    {
        x + 100
    }
    #[cfg(not(any()))]
    {
        x + 200
    }
}

#[autobatch(strict)]
fn calls(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let x = n;
    #[cfg(any())]
    let x = calls(n - 1);
    #[cfg(not(any()))]
    let y = calls(n / 2) + calls(n - 1) % 3;
    #[cfg(any())]
    (0..n).for_each(|i| _ = calls(i));
    let z: u64 = (0..n.min(3)).map(|i| calls(i.min(n - 1))).sum();
    x + z + y % 1000
}

#[autobatch(strict)]
fn crossing(n: u64) -> u64 {
    #[cfg(not(any()))]
    let start = n;
    #[cfg(any())]
    let other = n;
    let mut x = n;
    while x < 100 {
        x = x * 2 + 1;
    }
    #[cfg(any())]
    assert!(other < x);
    #[cfg(not(any()))]
    assert!(start < x);
    x
}

/// What is not there hides nothing that is changed behind it.
#[autobatch(strict)]
fn hiding_in_a_loop(n: u64) -> u64 {
    let (mut x, mut list) = (n, vec![n]);
    for k in 0..n % 5 {
        #[cfg(any())]
        let (x, list) = ("not", "there");
        x = x / 2 + k;
        list.push(x);
    }
    x + list.len() as u64
}

struct Pair {
    left: u64,
    right: u64,
}

fn sum_of(a: u64, b: u64) -> u64 {
    a * 3 + b
}

/// Arms, fields, elements, arguments.
#[autobatch(strict)]
fn not_statements(n: u64) -> u64 {
    let below = match n {
        0 => return 1,
        #[cfg(any())]
        1 => 1 + "not there",
        #[cfg(not(any()))]
        1 => 2,
        _ => not_statements(n / 2),
    };
    #[rustfmt::skip]
    let Pair { left, #[cfg(any())] middle, right } = Pair {
        left: n,
        #[cfg(any())] middle: not_statements(n - 1),
        #[cfg_attr(any(), allow(unused))] right: below,
    };
    #[rustfmt::skip]
    let list = [#[cfg(any())] 1, left, #[cfg(not(any()))] right];
    #[rustfmt::skip]
    let mut sum = sum_of(#[cfg(any())] not_there, list[0], #[cfg(not(any()))] list[1]);
    #[cfg_attr(not(any()), allow(clippy::while_immutable_condition))]
    while sum > 50 {
        sum -= not_statements(1);
    }
    sum
}

/// Functions of one name under different conditions are called as they are.
#[autobatch]
mod chosen {
    #[cfg(any())]
    fn step(n: u64) -> u64 {
        let mut n = n;
        while n > 3 {
            n /= 2;
        }
        n
    }

    #[cfg(not(any()))]
    fn step(n: u64) -> u64 {
        let mut n = n;
        while n > 5 {
            n /= 3;
        }
        n + 1
    }

    #[cfg(not(any()))]
    fn once(n: u64) -> u64 {
        if n > 4 { once(n - 3) } else { n }
    }

    pub(super) fn sum(n: u64) -> u64 {
        let mut sum = 0;
        for i in 0..n {
            sum += step(i) + once(i * 2);
        }
        sum
    }
}
use chosen::{sum, sum_batched_with};

#[test]
fn disabled_code_does_nothing() {
    let inputs: Vec<u64> = (0..14).collect();
    let sizes = [1, 67];
    agree_at(&sizes, &inputs, |n| hidden(*n), |n, o| hidden_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| in_part(*n), |n, o| in_part_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| either(*n), |n, o| either_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| loops(*n), |n, o| loops_batched_with(n, o));
    agree_at(&sizes, &inputs[..7], |n| calls(*n), |n, o| calls_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| sum(*n), |n, o| sum_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| hiding_in_a_loop(*n), |n, o| hiding_in_a_loop_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| not_statements(*n), |n, o| not_statements_batched_with(n, o));
    agree_at(&sizes, &inputs, |n| crossing(*n), |n, o| crossing_batched_with(n, o));
}

#[autobatch::primitive(batched = halves)]
fn half(x: f64) -> f64 {
    x / 2.0
}

fn halves(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x / 2.0).collect()
}

/// What is around the function is found, whatever is there in it.
#[autobatch(strict)]
fn halved(n: u64) -> u64 {
    let mut x = n as f64;
    #[cfg(any())]
    let x = half("nothing");
    while x > 2.0 {
        x = half(x);
    }
    (x * 8.0) as u64
}

#[test]
fn primitives_are_found_around_conditions() {
    let inputs: Vec<u64> = (0..40).collect();
    agree_at(&[1, 67], &inputs, |n| halved(*n), |n, o| halved_batched_with(n, o));
    assert!(halved_batched::program().blocks.iter().any(|block| block.primitive));
}
