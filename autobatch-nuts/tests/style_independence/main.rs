//! How a sampler is written decides neither what its chains draw nor how many calls of the batched gradient they take: the
//! sampler of this crate is a block program, [`sampler`] is the same algorithm as scalar code that runs on fibers.

mod counted;
mod sampler;

use std::sync::Arc;

use autobatch::{BatchError, Executor, Options, Outcome, Schedule, autobatch};
use autobatch_nuts::models::{Autoregressive, EightSchools, LogisticRegression};
use autobatch_nuts::{Chains, Draw, Generator, Model, Point, StepSize};
use counted::Counted;
use sampler::Problem;

type Draws = Vec<Vec<Draw<f64>>>;
type Batched = fn(
    &Problem<'_>,
    &mut [Point<f64>],
    &mut [StepSize],
    &mut [Generator],
    &Options,
) -> Result<Outcome<Vec<Draw<f64>>>, BatchError>;

/// The annotated functions, as batches.
const WRITINGS: [(&str, Batched); 2] = [
    ("loop", |problem, z, steps, rng, options| sampler::chain_batched_with(problem, z, steps, rng, options)),
    ("adaptors", |problem, z, steps, rng, options| {
        sampler::chain_of_adaptors_batched_with(problem, z, steps, rng, options)
    }),
];

/// Runs the chains by a function of the second sampler.
fn run(batched: Batched, chains: &mut Chains<'_, f64>, trajectories: usize, options: &Options) -> Draws {
    let problem = Problem::of(chains, trajectories);
    let mut states: Vec<Point<f64>> = chains.states.iter().map(|z| Point::clone(z)).collect();
    let outcome = batched(&problem, &mut states, &mut chains.steps, &mut chains.generators, options);
    chains.states = states.into_iter().map(Arc::new).collect();
    outcome.unwrap().into_values().unwrap()
}

/// Everything that the chains have come to.
fn bits(draws: &Draws, chains: &Chains<'_, f64>) -> (Vec<u64>, Vec<Generator>) {
    let numbers = |q: &ndarray::Array1<f64>| q.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let of_draw = |draw: &Draw<f64>| {
        let rest = [draw.acceptance.to_bits(), draw.steps.into(), draw.diverged.into()];
        [numbers(&draw.q), rest.into()].concat()
    };
    let of_state = |z: &Arc<Point<f64>>| [numbers(&z.q), numbers(&z.grad), vec![z.lp.to_bits()]].concat();
    let draws = draws.iter().flatten().flat_map(of_draw);
    let steps = chains.steps.iter().map(|step| step.current().to_bits());
    let all = draws.chain(chains.states.iter().flat_map(of_state)).chain(steps);
    (all.collect(), chains.generators.clone())
}

/// So where a call of the kernel is for many chains, these are on fibers.
#[test]
fn no_block_shows_the_gradient() {
    for program in [sampler::chain_batched::program(), sampler::chain_of_adaptors_batched::program()] {
        assert!(!program.blocks.iter().any(|block| block.primitive), "{program}");
    }
}

/// Chains that adapt their step sizes, against the scalar function of the first sampler and its block program.
fn agree(name: &str, model: &dyn Model<f64>, trajectories: usize) {
    let counter = || Options::default().executor(Executor::ProgramCounter);
    let executors = [
        ("auto", Options::default()),
        ("scalar", Options::default().executor(Executor::Scalar)),
        ("masked", Options::default().executor(Executor::Masked)),
        ("most lanes", counter().schedule(Schedule::MostLanes)),
        ("earliest block", counter().schedule(Schedule::EarliestBlock)),
    ];
    for (count, lanes) in [(1, None), (19, Some(7)), (40, None)] {
        let mut start = Chains::new(model, count, 11, 0.85);
        start.nuts.max_depth = 6;
        let mut chains = start.clone();
        let draws = chains.run_scalar(trajectories);
        let want = bits(&draws, &chains);
        let mut chains = start.clone();
        let draws = chains.run(trajectories, &Options::default()).unwrap().into_values().unwrap();
        assert!(bits(&draws, &chains) == want, "{name}, {count} chains, the block program");
        for (writing, batched) in WRITINGS {
            for (executor, options) in &executors {
                for threads in [1, 2] {
                    let options = options.clone().threads(threads);
                    let options = lanes.into_iter().fold(options, Options::lanes);
                    let mut chains = start.clone();
                    let draws = run(batched, &mut chains, trajectories, &options);
                    let what = format!("{name}, {writing}, {executor}, {threads} threads, {count} chains");
                    assert!(bits(&draws, &chains) == want, "{what}");
                }
            }
        }
    }
}

#[test]
fn chains_are_the_same_bit_for_bit() {
    agree("eight schools", &EightSchools::new(), 4);
    agree("autoregressive", &Autoregressive::new(12, 0.9), 2);
}

/// The kernel rounds otherwise than the scalar gradient, so chains agree only if the kernel makes all of them.
#[test]
fn chains_are_the_kernels() {
    let model = LogisticRegression::<f64>::synthetic(120, 5, 3);
    let start = Chains::new(&model, 12, 5, 0.8);
    for lanes in [5, 12] {
        let options = Options::default().threads(1).lanes(lanes);
        let mut chains = start.clone();
        let draws = chains.run(2, &options).unwrap().into_values().unwrap();
        let want = bits(&draws, &chains);
        for (writing, batched) in WRITINGS {
            let mut chains = start.clone();
            let draws = run(batched, &mut chains, 2, &options);
            assert!(bits(&draws, &chains) == want, "{writing}");
        }
    }
}

/// The calls of the kernel that chains with given step sizes take: those of the block program by the program counter, and those of
/// `other`.
fn calls(chains: usize, trajectories: usize, options: &Options, other: Batched) -> [usize; 2] {
    let model = Counted::new(Autoregressive::<f64>::new(20, 0.9));
    let start = Chains::begin(&model, chains, 1, StepSize::fixed(0.15), |rng| model.model.exact(rng));
    model.take();
    let counter = options.clone().executor(Executor::ProgramCounter);
    let draws = start.clone().run(trajectories, &counter).unwrap().into_values().unwrap();
    let blocks = model.take();
    let mut chains = start.clone();
    assert!(run(other, &mut chains, trajectories, options) == draws);
    let fibers = model.take();
    let steps = draws.iter().flatten().map(|draw| draw.steps as usize).sum();
    assert_eq!([blocks.1, fibers.1], [steps; 2], "each gradient is the kernel's");
    [blocks.0, fibers.0]
}

#[track_caller]
fn are_as_many([blocks, fibers]: [usize; 2], what: &str) {
    // Within 2 %.
    assert!(50 * fibers.abs_diff(blocks) <= blocks, "{what}: {blocks} calls by blocks, {fibers} by fibers");
}

#[test]
fn the_gradient_is_called_as_often() {
    for (writing, batched) in WRITINGS {
        for executor in [Executor::Auto, Executor::Masked, Executor::ProgramCounter] {
            for schedule in [Schedule::MostLanes, Schedule::EarliestBlock] {
                for (lanes, trajectories) in [(48, 1), (48, 5), (16, 3)] {
                    let options = Options::default().executor(executor).schedule(schedule).lanes(lanes);
                    let calls = calls(48, trajectories, &options.threads(1), batched);
                    let what =
                        format!("{writing}, {executor:?}, {schedule:?}, {lanes} lanes, {trajectories}");
                    are_as_many(calls, &what);
                }
            }
        }
    }
}

macro_rules! unseen {
    ($name:ident, $executor:expr) => {
        /// No run has told yet what the function calls.
        #[test]
        fn $name() {
            #[autobatch]
            fn unseen(
                problem: &Problem<'_>,
                z: &mut Point<f64>,
                step: &mut StepSize,
                rng: &mut Generator,
            ) -> Vec<Draw<f64>> {
                sampler::chain(problem, z, step, rng)
            }
            let batched: Batched =
                |problem, z, steps, rng, options| unseen_batched_with(problem, z, steps, rng, options);
            let options = Options::default().executor($executor).threads(1).lanes(16);
            are_as_many(calls(48, 2, &options, batched), "the first run");
        }
    };
}
unseen!(the_first_run_too, Executor::Auto);
unseen!(the_first_run_too_by_the_masked_executor, Executor::Masked);
unseen!(the_first_run_too_by_the_program_counter, Executor::ProgramCounter);
