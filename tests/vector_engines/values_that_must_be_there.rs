//! `unwrap` and `expect` of what a search has found, orders that panic, and panics as the other value: faults of those who come to them.

use autobatch::{BatchError, Engine, Executor, Isa, Options, Outcome, autobatch};

use crate::common::{Bits, executors};

#[autobatch]
fn place(p: [f32; 2], points: &[[f32; 2]]) -> usize {
    points
        .iter()
        .enumerate()
        .map(|(i, q)| (i, (q[0] - p[0]).abs() + (q[1] - p[1]).abs()))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap()
        .0
}

#[autobatch]
fn by_order(p: [f32; 2], points: &[[f32; 2]]) -> f32 {
    let far = points.iter().map(|q| q[1] * p[0]).max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap_or(0.5);
    far - points.iter().map(|q| (q[0] - p[0]).abs()).min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap()
}

/// Found by a loop.
#[autobatch]
fn expected(p: [f32; 2], points: &[[f32; 2]]) -> f32 {
    let mut best: Option<(f32, usize)> = None;
    for (i, q) in points.iter().enumerate() {
        let d = q[0] * p[0] + q[1] * p[1];
        if d > 0.5 && best.is_none_or(|b| d < b.0) {
            best = Some((d, i));
        }
    }
    let (d, i) = best.expect("a point in front");
    d + i as f32
}

/// The other value is a panic.
#[autobatch]
fn otherwise(p: [f32; 2], points: &[[f32; 2]]) -> f32 {
    let mut sum = 0.0;
    for q in points {
        let d = q[0] * p[0] + q[1];
        sum += if d > -2.5 { d.abs() } else { panic!("{d} is too low") };
    }
    sum
}

fn members() -> Vec<[f32; 2]> {
    let part = |k: u32, by: u32| (k.wrapping_mul(by) >> 16) as f32 / 16_384.0 - 2.0;
    let mut all: Vec<[f32; 2]> = (0..250).map(|k| [part(k, 2_654_435_769), part(k, 2_246_822_519)]).collect();
    all[77] = [f32::NAN, 1.0];
    all[191] = [f32::INFINITY, f32::NAN];
    all
}

/// Each member has the result or the panic of the scalar function.
fn agree<R: Bits>(
    points: &[[f32; 2]],
    scalar: impl Fn([f32; 2], &[[f32; 2]]) -> R + std::panic::RefUnwindSafe,
    batched: impl Fn(&[[f32; 2]], &Options) -> Result<Outcome<R>, BatchError>,
) {
    let members = members();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let want: Vec<Result<R, String>> = members
        .iter()
        .map(|m| {
            std::panic::catch_unwind(|| scalar(*m, points)).map_err(|payload| {
                let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
                text.or(payload.downcast_ref::<String>().cloned()).expect("a message")
            })
        })
        .collect();
    std::panic::set_hook(hook);
    for (how, options) in executors() {
        let got = batched(&members, &options.quiet(true)).unwrap().into_results();
        for (member, (got, want)) in got.into_iter().zip(&want).enumerate() {
            let is_same = match (&got, want) {
                (Ok(got), Ok(want)) => got.same(want),
                (Err(fault), Err(message)) => fault.message == *message,
                _ => false,
            };
            assert!(is_same, "{how}, member {member}: {got:?}, the scalar function says {want:?}");
        }
    }
}

#[test]
fn who_has_none_has_a_fault() {
    let points: Vec<[f32; 2]> = members().iter().take(23).map(|p| [p[1], 0.75 * p[0]]).collect();
    for points in [&points[..], &points[..1], &[]] {
        agree(points, place, |b, o| place_batched_with(b, points, o));
        agree(points, by_order, |b, o| by_order_batched_with(b, points, o));
        agree(points, expected, |b, o| expected_batched_with(b, points, o));
        agree(points, otherwise, |b, o| otherwise_batched_with(b, points, o));
    }
}

#[test]
fn they_run_on_vectors() {
    let (members, points) = ([[0.5, 1.0]; 200], [[2.0, 0.25]; 20]);
    let options = Options::default().executor(Executor::Masked).isa(Isa::Avx2).report(true);
    let engines = [
        place_batched_with(&members, &points, &options).unwrap().report().engine,
        by_order_batched_with(&members, &points, &options).unwrap().report().engine,
        expected_batched_with(&members, &points, &options).unwrap().report().engine,
        otherwise_batched_with(&members, &points, &options).unwrap().report().engine,
    ];
    if cfg!(target_arch = "x86_64") {
        assert_eq!(engines, [Engine::VectorFrames; 4]);
    }
}
