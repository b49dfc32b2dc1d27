//! Columns of arrays, tuples and structures that are `Copy` are handed over by value, and run as columns of numbers do.

use autobatch::{Engine, Executor, Options, autobatch};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

/// A number that nobody may copy.
struct Once(f64);

#[autobatch]
fn orbit(start: [f64; 3], rounds: u32) -> f64 {
    let (mut x, mut y) = (start[0], start[1]);
    let mut n = 0;
    while n < rounds && x * x + y * y < 4.0 {
        (x, y) = (x * x - y * y + start[2], 2.0 * x * y);
        n += 1;
    }
    x + y
}

#[autobatch]
fn walk(from: Point, step: (f64, f64)) -> f64 {
    let (mut x, mut y) = (from.x, from.y);
    while x < 100.0 {
        x += step.0;
        y += step.1;
    }
    y
}

#[autobatch]
fn halved(of: Once) -> u32 {
    let (mut x, mut n) = (of.0, 0);
    while x > 1.0 {
        x *= 0.5;
        n += 1;
    }
    n
}

fn engine(report: &autobatch::Report) -> Engine {
    report.engine
}

#[test]
fn they_run_on_vectors() {
    let options = Options::default().executor(Executor::Masked).report(true);
    let starts: Vec<[f64; 3]> = (0..300).map(|n| [0.01 * f64::from(n), 0.3, -0.2]).collect();
    let rounds: Vec<u32> = (0..300).map(|n| n % 90).collect();
    let outcome = orbit_batched_with(starts.clone(), rounds.clone(), &options).expect("a batch");
    let on_vectors = engine(outcome.report());
    for (member, value) in outcome.into_values().expect("no faults").into_iter().enumerate() {
        assert_eq!(value.to_bits(), orbit(starts[member], rounds[member]).to_bits(), "{member}");
    }
    let points: Vec<Point> = (0..300).map(|n| Point { x: f64::from(n), y: 0.5 }).collect();
    let steps: Vec<(f64, f64)> = (0..300).map(|n| (1.0 + f64::from(n % 7), 0.25)).collect();
    let outcome = walk_batched_with(points.clone(), steps.clone(), &options).expect("a batch");
    let of_structures = engine(outcome.report());
    for (member, value) in outcome.into_values().expect("no faults").into_iter().enumerate() {
        assert_eq!(value.to_bits(), walk(points[member], steps[member]).to_bits(), "{member}");
    }
    if cfg!(target_arch = "x86_64") {
        assert_eq!([on_vectors, of_structures], [Engine::VectorFrames; 2]);
    }
}

#[test]
fn others_are_moved_once() {
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto] {
        let values: Vec<Once> = (0..300).map(|n| Once(f64::from(n))).collect();
        let outcome = halved_batched_with(values, &Options::default().executor(executor)).expect("a batch");
        let results = outcome.into_values().expect("no faults");
        let expected: Vec<u32> = (0..300).map(|n| halved(Once(f64::from(n)))).collect();
        assert_eq!(results, expected, "{executor:?}");
    }
}
