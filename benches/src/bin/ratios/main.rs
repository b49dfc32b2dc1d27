//! Compares the ways to run each kernel, in one process and interleaved; see `--help`.

use std::process::ExitCode;

use autobatch_bench::ways::{Pools, small_ways, ways};
use autobatch_bench::{kernels, measure};

mod auto;
mod chart;
mod cli;
mod output;
mod table;

use cli::{Config, Request};

/// The sizes at which small batches are compared with rayon.
const SMALL: [usize; 2] = [64, 4096];

fn main() -> ExitCode {
    let outcome = match cli::parse(std::env::args().skip(1)) {
        Ok(Request::Help) => {
            println!("{}", cli::HELP);
            Ok(())
        }
        Ok(Request::List) => {
            kernels::ALL.iter().for_each(|entry| println!("{}", entry.name));
            Ok(())
        }
        Ok(Request::Measure(config)) => run(&config),
        Ok(Request::Auto(config)) => auto::report(&config),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ratios: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(config: &Config) -> Result<(), String> {
    let load = output::load();
    let pools = Pools::new(&config.threads);
    let (mut full, mut small) = (Vec::new(), Vec::new());
    for entry in &config.kernels {
        eprintln!("{} …", entry.name);
        let members = config.members.unwrap_or(entry.members);
        let ways = ways(&config.isas, &config.threads, &pools);
        full.push(measure::measure(entry.name, &*(entry.build)(members), &ways, config.rounds)?);
        if config.most_threads() > 1 && config.members.is_none() {
            let ways = small_ways(config.isas[0], config.most_threads(), &pools);
            for members in SMALL {
                small.push(measure::measure(entry.name, &*(entry.build)(members), &ways, config.rounds)?);
            }
        }
    }
    output::report(config, &full, &small, load.as_deref())
}
