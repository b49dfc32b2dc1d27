//! The program counter keeps the batched gradient full across trajectories and recursion depths.

use autobatch::{Executor, Options, Schedule};
use autobatch_nuts::models::Autoregressive;
use autobatch_nuts::{Chains, StepSize};

#[test]
fn the_program_counter_reaches_the_bound() {
    let model = Autoregressive::<f64>::new(40, 0.9);
    let start = Chains::begin(&model, 64, 1, StepSize::fixed(0.1), |rng| model.exact(rng));
    let measure = |executor, schedule| {
        let options = Options::default().executor(executor).schedule(schedule).threads(1).count_blocks(true);
        let outcome = start.clone().run(10, &options).unwrap();
        let blocks = &outcome.report().blocks;
        // The step sizes are given, so that only the block with the leapfrog steps runs.
        let block = blocks.iter().find(|block| block.label == "primitive" && block.active > 0).unwrap();
        let bound = block.active as f64 / (block.lower_bound * 64) as f64;
        (block.utilisation(), bound)
    };
    let (masked, _) = measure(Executor::Masked, Schedule::MostLanes);
    for schedule in [Schedule::MostLanes, Schedule::EarliestBlock] {
        let (full, bound) = measure(Executor::ProgramCounter, schedule);
        assert!(full > 1.5 * masked, "{schedule:?}: {full}, masked {masked}");
        assert!(full > 0.97 * bound && full <= bound, "{schedule:?}: {full}, bound {bound}");
    }
}
