//! Each chain of a batch is the scalar chain, bit for bit, for models whose batched kernel computes each row as the
//! scalar gradient does; for the others it is the scalar chain until rounding has its way.

use autobatch::{Executor, Options, Schedule};
use autobatch_nuts::models::{Autoregressive, EightSchools, Gaussian, GaussianProcess, LogisticRegression};
use autobatch_nuts::{Chains, Draw, Model, Real};

fn executors() -> Vec<(&'static str, Options)> {
    let counter = || Options::default().executor(Executor::ProgramCounter);
    vec![
        ("masked", Options::default().executor(Executor::Masked)),
        ("most lanes", counter().schedule(Schedule::MostLanes)),
        ("earliest block", counter().schedule(Schedule::EarliestBlock)),
        ("scalar", Options::default().executor(Executor::Scalar)),
        ("auto", Options::default()),
    ]
}

fn bits<T: Real>(draws: &[Vec<Draw<T>>]) -> Vec<u64> {
    let bits = |draw: &Draw<T>| {
        let rest = [draw.acceptance.to_bits(), u64::from(draw.steps), u64::from(draw.diverged)];
        draw.q.iter().map(|x| x.double().to_bits()).chain(rest).collect::<Vec<_>>()
    };
    draws.iter().flatten().flat_map(bits).collect()
}

/// Chains that adapt, then are rescaled, then draw.
fn agree<T: Real>(name: &str, model: &dyn Model<T>, trajectories: usize) {
    for (count, lanes) in [(1, None), (3, Some(1)), (19, Some(7)), (40, None)] {
        let mut start = Chains::new(model, count, 11, 0.85);
        start.nuts.max_depth = 6;
        let mut alone = start.clone();
        let want = bits(&alone.run_scalar(trajectories));
        for (executor, options) in executors() {
            for threads in [1, 2] {
                let mut options = options.clone().threads(threads);
                if let Some(lanes) = lanes {
                    options = options.lanes(lanes);
                }
                let mut chains = start.clone();
                let draws = chains.run(trajectories, &options).unwrap().into_values().unwrap();
                let what = format!("{name}, {executor}, {threads} threads, {count} chains, {lanes:?} lanes");
                assert!(bits(&draws) == want, "{what}");
                assert!(chains.states == alone.states && chains.steps == alone.steps, "{what}");
                assert!(chains.generators == alone.generators, "{what}");
            }
        }
    }
}

#[test]
fn eight_schools() {
    agree("f64", &EightSchools::<f64>::new(), 6);
    agree("f32", &EightSchools::<f32>::new(), 4);
}

#[test]
fn gaussian_process() {
    agree("f64", &GaussianProcess::<f64>::new(), 2);
    agree("f32", &GaussianProcess::<f32>::new(), 2);
}

#[test]
fn gaussians() {
    agree("Wishart, f64", &Gaussian::<f64>::wishart(21, 30, 3), 2);
    agree("Wishart, f32", &Gaussian::<f32>::wishart(16, 20, 3), 2);
    agree("autoregressive, f64", &Autoregressive::<f64>::new(12, 0.9), 3);
    agree("autoregressive, f32", &Autoregressive::<f32>::new(12, 0.9), 3);
}

#[test]
fn a_matrix_product_differs_by_rounding_only() {
    let model = LogisticRegression::<f64>::synthetic(120, 5, 3);
    let start = Chains::new(&model, 12, 5, 0.8);
    let draws = start.clone().run_scalar(1);
    for (executor, options) in executors() {
        let mut chains = start.clone();
        let batch = chains.run(1, &options).unwrap().into_values().unwrap();
        for (one, other) in draws.iter().flatten().zip(batch.iter().flatten()) {
            assert_eq!(one.steps, other.steps, "{executor}");
            let apart = (&one.q - &other.q).iter().fold(0.0, |max: f64, x| max.max(x.abs()));
            assert!(apart < 1e-9, "{executor}: {apart}");
        }
    }
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    let model = EightSchools::<f64>::new();
    let start = || Chains::new(&model, 5, 2, 0.9);
    let (mut whole, mut pieces) = (start(), start());
    let draws = whole.run_scalar(60);
    let mut ticks = 0;
    let pieces = pieces.draw(60, &Options::default(), |done| ticks += done).unwrap();
    assert!(bits(&draws) == bits(&pieces));
    assert_eq!(ticks, 60);
}
