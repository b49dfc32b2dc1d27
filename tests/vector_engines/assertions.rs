//! Assertions in vector code: a member that fails one panics alone, with the words of the scalar function.

use autobatch::{Executor, Options, autobatch};

use crate::common::{agree_at, column};

const SIZES: [usize; 3] = [1, 97, 211];

/// In loops that all members run equally often, in rounds, and in a branch.
#[autobatch]
fn asserted(x: f64, n: u32) -> f64 {
    assert!(x < 200.0, "{x} is too large");
    let mut y = x;
    for k in 0..10 {
        assert!(y.is_finite());
        debug_assert!(y < 1e6, "in debug builds");
        y = 0.5 * y + f64::from(k);
        if y == 77.0 {
            panic!("{y}, round {k}");
        }
    }
    let mut m = n;
    while m > 1 {
        assert_ne!(m, 13, "of {n}");
        if m % 2 == 1 {
            assert_eq!(m & 1, 1);
            y += 1.0;
        }
        m /= 2;
        if m == 9 {
            unreachable!("nine of {n}");
        }
    }
    y
}

fn inputs() -> Vec<(f64, u32)> {
    (0..211).map(|i| (i as f64, i as u32 * 7 % 100)).collect()
}

#[test]
fn members_that_fail_panic_alone() {
    let (x, n): (Vec<f64>, Vec<u32>) = inputs().into_iter().unzip();
    let mut failed = 0;
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor).quiet(true);
        let outcome = asserted_batched_with(&x, &n, &options).unwrap();
        for i in 0..x.len() {
            let scalar = std::panic::catch_unwind(|| asserted(x[i], n[i]));
            assert_eq!(outcome.get(i).map(|y| y.to_bits()), scalar.as_ref().ok().map(|y| y.to_bits()), "{i}");
            if let Err(panic) = scalar {
                failed += 1;
                let fault = outcome.faults().iter().find(|fault| fault.member == i).expect("it is named");
                let message = panic.downcast_ref::<&str>().map_or_else(
                    || panic.downcast_ref::<String>().cloned().unwrap_or_default(),
                    |message| message.to_string(),
                );
                assert!(fault.to_string().contains(&message), "{fault}: {message}");
            }
        }
    }
    assert!(failed > 3 * 11);
}

#[test]
fn who_fails_none_agrees() {
    let fit: Vec<(f64, u32)> =
        inputs().into_iter().filter(|&(x, n)| std::panic::catch_unwind(|| asserted(x, n)).is_ok()).collect();
    agree_at(
        &[1, 97, fit.len()],
        &fit,
        |&(x, n)| asserted(x, n),
        |b, o| asserted_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

/// Short arrays at indices of a lane's own: of the member, of literals, written and read.
#[autobatch]
fn chosen(x: f64, n: u32) -> f64 {
    let (own, steps) = ([x, x + 1.0, x * x, 2.0, -x, 0.5 * x, 1.0], [3usize, 5, 1, 2, 6]);
    let (mut counts, mut stack, mut top) = ([0u32; 6], [0.0; 8], 0usize);
    let (mut q, mut sum) = (n as usize % 5, 0.0);
    for k in 0..30 {
        sum += own[steps[q] % 7] * [0.25, 0.5, 1.0][q % 3];
        counts[steps[q] - 1] += 1;
        if sum > f64::from(k) && top < 8 {
            stack[top] = sum;
            top += 1;
        } else if top > 0 {
            top -= 1;
            sum -= stack[top];
        }
        q = (q * 3 + k as usize) % 5;
    }
    sum + f64::from(counts.iter().map(|c| c * c).sum::<u32>())
}

#[test]
fn elements_of_short_arrays_are_chosen() {
    agree_at(
        &SIZES,
        &inputs(),
        |&(x, n)| chosen(x, n),
        |b, o| chosen_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}
