//! Small helpers are copied to where they are called: names, types and the order of evaluation stay.

#![allow(clippy::all)] // as users write, not as one should

use autobatch::autobatch;

use crate::common::{agree_at, column, executors};

type Pair = [f64; 2];
const STEP: f64 = 0.125;

/// Variables of the names that the caller has too.
fn mixed(y: f64, x: f64) -> f64 {
    let t = y - STEP * x;
    let z = inner(t, x);
    let t = t * 0.5;
    z * t + y
}

fn inner(x: f64, t: f64) -> f64 {
    let z = x * t;
    let y = z - x;
    y * z
}

/// Literals that have a type by the signature only.
fn tenth() -> f32 {
    0.1
}
fn wide() -> u64 {
    1 << 40
}
fn bumped(mut n: u32) -> u32 {
    n += 1;
    n
}

fn swap(v: &mut Pair) {
    let old = v[0];
    v[0] = v[1];
    v[1] = old * STEP;
}

/// It changes what it is lent, and yields a number.
fn bump(x: &mut f64) -> f64 {
    *x += 1.0;
    *x * 2.0
}

fn early(x: f64, v: &Pair) -> f64 {
    if x < 0.0 {
        return v[0];
    }
    let y = x * v[1];
    if y > 10.0 {
        let z = y - 10.0;
        return z * STEP;
    }
    y
}

fn matched(n: u32, [a, b]: Pair) -> f64 {
    match n % 4 {
        0 => a,
        1 | 2 => b + a,
        _ => b,
    }
}

fn summed(v: &Pair) -> f64 {
    let mut sum = 0.0;
    for i in 0..2 {
        sum += v[i];
    }
    sum
}

#[autobatch(strict)]
fn walk(x: f64, y: f64, n: u32) -> f64 {
    let t = mixed(x, y);
    let z = mixed(mixed(y, t), x) + y;
    let mut v = [t, z];
    swap(&mut v);
    let mut s = v[0].clamp(-4.0, 4.0);
    let first = s + bump(&mut s) + s;
    let second = s * 2.0 + bump(&mut s) - mixed(s, first);
    let narrow = tenth() * 3.0;
    let bits = (wide() >> (n % 41)) as f64;
    let e = early(s, &v) + early(y, &[x, t]) * matched(n, v) - matched(bumped(n), [s, y]);
    let joined = x > 0.5 && mixed(x, s) > 0.25 || mixed(y, s) < 0.0;
    let chosen = if mixed(x, e) > 0.0 { summed(&v) } else { inner(s, e) };
    let sum = first * 0.25 + second.sin() + f64::from(narrow) + bits + e.sin() + chosen.cos();
    if n == 0 {
        return sum;
    }
    if joined {
        walk(y * 0.5, x, n - 1) + sum
    } else {
        walk(x * 0.5, sum.cos(), n - 1) - walk(y, t.sin(), n / 2)
    }
}

#[test]
fn names_types_and_order() {
    let inputs: Vec<(f64, f64, u32)> =
        (0..90).map(|i| (f64::from(i % 13) * 0.3 - 1.0, f64::from(i % 11) * 0.2, i % 6)).collect();
    agree_at(
        &[1, 90, 400],
        &inputs,
        |&(x, y, n)| walk(x, y, n),
        |batch, options| {
            walk_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), column(batch, |x| x.2), options)
        },
    );
}

fn first(a: u32, b: u32) -> u32 {
    a / b
}
fn second(v: &[u32; 3], i: u32) -> u32 {
    v[i as usize]
}
fn third(a: u32) -> u32 {
    a - 3
}

/// What fails first is what fails first in the scalar function.
#[autobatch]
fn fails(v: &[u32; 3], a: u32, b: u32) -> u32 {
    let kept = v[(a % 5) as usize] + first(a, b) * second(v, b) + (a - 1) * third(b);
    let mut sum = 0;
    while sum < kept {
        sum += 1 + first(a, b % 3) % 2;
    }
    sum
}

#[test]
fn failures_come_in_order() {
    let inputs: Vec<(u32, u32)> = (0..60).map(|i| (i % 7, i % 8)).collect();
    let table = [3, 1, 4];
    let (a, b) = (column(&inputs, |x| x.0), column(&inputs, |x| x.1));
    std::panic::set_hook(Box::new(|_| {}));
    let message = |panic: Box<dyn std::any::Any + Send>| match panic.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => panic.downcast_ref::<&str>().unwrap().to_string(),
    };
    let scalar: Vec<Result<u32, String>> = inputs
        .iter()
        .map(|&(a, b)| std::panic::catch_unwind(|| fails(&table, a, b)).map_err(message))
        .collect();
    for (name, options) in executors() {
        let results = fails_batched_with(&table, &a, &b, &options).unwrap().into_results();
        for (result, scalar) in results.into_iter().zip(&scalar) {
            match (result, scalar) {
                (Ok(value), Ok(scalar)) => assert_eq!(value, *scalar, "{name}"),
                (Err(fault), Err(message)) => {
                    assert!(fault.to_string().contains(message), "{name}: {fault}, {message}")
                }
                (result, scalar) => panic!("{name}: {result:?}, {scalar:?}"),
            }
        }
    }
}

/// A name of the helper's that means something else in the caller.
fn scaled(x: f64) -> f64 {
    x * STEP
}

#[autobatch]
fn hides(x: f64, n: u32) -> f64 {
    const STEP: f64 = 3.0;
    if n == 0 { scaled(x) * STEP } else { hides(x + 1.0, n - 1) + hides(x, n / 2) }
}

#[autobatch]
fn generic<const STEP: usize>(x: f64, n: u32) -> f64 {
    if n == 0 { scaled(x) * STEP as f64 } else { generic::<STEP>(x + 1.0, n - 1) + generic::<STEP>(x, n / 2) }
}

#[autobatch(strict)]
mod program {
    const STEP: f64 = 0.5;
    pub(super) fn scales(x: f64, n: u32) -> f64 {
        let step = scaled(x);
        if n == 0 { step } else { scales(step + 1.0, n - 1) + scaled(scales(x, n / 2)) }
    }
    fn scaled(x: f64) -> f64 {
        x * STEP
    }
}

#[test]
fn names_mean_what_they_mean_to_the_helper() {
    let inputs: Vec<(f64, u32)> = (0..50).map(|i| (f64::from(i) * 0.2, i % 6)).collect();
    let run = |scalar: &dyn Fn(f64, u32) -> f64,
               batched: &dyn Fn(&[f64], &[u32], &autobatch::Options) -> Vec<f64>| {
        let (x, n) = (column(&inputs, |x| x.0), column(&inputs, |x| x.1));
        let wanted: Vec<u64> = inputs.iter().map(|&(x, n)| scalar(x, n).to_bits()).collect();
        for (name, options) in executors() {
            let got: Vec<u64> = batched(&x, &n, &options).iter().map(|x| x.to_bits()).collect();
            assert_eq!(got, wanted, "{name}");
        }
    };
    run(&hides, &|x, n, options| hides_batched_with(x, n, options).unwrap().into_values().unwrap());
    run(&generic::<2>, &|x, n, options| {
        generic_batched_with::<2>(x, n, options).unwrap().into_values().unwrap()
    });
    run(&program::scales, &|x, n, options| {
        program::scales_batched_with(x, n, options).unwrap().into_values().unwrap()
    });
}
