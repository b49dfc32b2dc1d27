//! What a report costs: the same batch without and with `Options::report`, in turns, and whether the same engine runs.
//!
//! ```text
//! cargo run --release -p autobatch-bench --bin reports -- --rounds 21
//! ```

use std::error::Error;
use std::time::Instant;

use autobatch::{Engine, Executor, Options};
use autobatch_bench::Kernel;
use autobatch_bench::kernels::{fib::Fib, mandel::Mandel, queens::Queens};
use autobatch_nuts::Chains;
use autobatch_nuts::models::EightSchools;

const EXECUTORS: [Executor; 3] = [Executor::Masked, Executor::ProgramCounter, Executor::Auto];
/// Runs before those that count, so that `Auto` has decided.
const COLD: usize = 8;
/// Chains of the sampler, and trajectories of each.
const SAMPLER: (usize, usize) = (200, 6);

/// Runs a batch once and says in which engine.
type Batch<'b> = Box<dyn FnMut(&Options) -> Result<Engine, Box<dyn Error>> + 'b>;

fn kernel<K: Kernel>(members: usize) -> (String, Batch<'static>) {
    let case = K::new(members);
    let batch = move |options: &Options| Ok(case.batched(options)?.report().engine);
    (format!("{}, {members}", K::NAME), Box::new(batch))
}

fn main() -> Result<(), Box<dyn Error>> {
    if cfg!(debug_assertions) {
        return Err("without optimisation there is nothing to measure: add --release".into());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match &arguments[..] {
        [] => 21,
        [flag, rounds] if flag == "--rounds" => rounds.parse()?,
        _ => return Err("usage: reports [--rounds N]".into()),
    };
    let model = EightSchools::<f64>::new();
    let (chains, trajectories) = SAMPLER;
    let mut warm = Chains::new(&model, chains, 1, 0.9);
    warm.warm_up(60, &Options::default(), |_| ())?;
    let sampler = |options: &Options| Ok(warm.clone().run(trajectories, options)?.report().engine);
    let mut batches: Vec<(String, Batch<'_>)> = vec![
        kernel::<Fib>(Fib::MEMBERS),
        kernel::<Fib>(300),
        kernel::<Mandel<true>>(Mandel::<true>::MEMBERS),
        kernel::<Mandel<true>>(1000),
        kernel::<Queens>(Queens::MEMBERS),
        kernel::<Queens>(300),
        kernel::<Queens>(30),
        (format!("sampler, {chains} chains"), Box::new(sampler)),
    ];

    println!("| batch | executor | engine | ms | with a report | ratio |\n|---|---|---|--:|--:|--:|");
    for (name, batch) in &mut batches {
        for executor in EXECUTORS {
            let options =
                [false, true].map(|report| Options::default().executor(executor).threads(1).report(report));
            let (mut best, mut engines) = ([f64::INFINITY; 2], [Engine::Scalar; 2]);
            for round in 0..COLD + rounds {
                for way in [round % 2, 1 - round % 2] {
                    let clock = Instant::now();
                    engines[way] = batch(&options[way])?;
                    if round >= COLD {
                        best[way] = best[way].min(clock.elapsed().as_secs_f64());
                    }
                }
            }
            let engine = match engines {
                [one, other] if one == other => one.to_string(),
                [one, other] => format!("{one}; {other}"),
            };
            let [without, with] = best.map(|seconds| 1000.0 * seconds);
            println!(
                "| {name} | {executor:?} | {engine} | {without:.3} | {with:.3} | {:.2} |",
                with / without
            );
        }
    }
    Ok(())
}
