//! The two experiments of Radul et al. (2020) with the No-U-Turn Sampler, as tables, CSV files and charts.
//!
//! ```text
//! cargo run --release -p autobatch-nuts --example figures -- utilisation --trajectories 100
//! cargo run --release -p autobatch-nuts --example figures -- styles
//! cargo run --release -p autobatch-nuts --features nuts-rs --example figures -- throughput
//! ```
//!
//! `throughput` is their Figure 6, gradients per second against batch size on a logistic regression; `utilisation`
//! their Figure 7, how full the batched gradient is on correlated normal distributions. `styles` compares the sampler, which
//! is a block program, with one that is written otherwise and runs on fibers. Files go to the folder
//! `nuts` of the target directory.

mod chart;
mod cli;
#[cfg(feature = "nuts-rs")]
mod peer;
mod styles;
mod throughput;
mod unfused;
mod utilisation;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use cli::{Config, Figure, Request};
use indicatif::{ProgressBar, ProgressStyle};

fn main() -> ExitCode {
    let config = match cli::parse(std::env::args().skip(1)) {
        Ok(Request::Run(config)) => config,
        Ok(Request::Help(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("figures: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figures: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(config: &Config) -> Result<(), Box<dyn Error>> {
    match (config.figure, config.double) {
        (Figure::Throughput, true) => throughput::run::<f64>(config),
        (Figure::Throughput, false) => throughput::run::<f32>(config),
        (Figure::Utilisation, _) => utilisation::run(config),
        (Figure::Styles, _) => styles::run(config),
    }
}

/// Batch sizes: powers of two.
fn sizes(config: &Config) -> Vec<usize> {
    let all = (0..usize::BITS).map(|i| 1 << i);
    all.filter(|size| (config.least..=config.most).contains(size)).collect()
}

fn progress_bar(length: usize) -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len}, {eta} left; {msg}")?;
    Ok(ProgressBar::new(length as u64).with_style(style.progress_chars("=> ")))
}

/// Writes a file into the folder `nuts` of the target directory.
fn write(name: &str, content: &str) -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(3).ok_or("the program stands in no target directory")?;
    let file = target.join("nuts").join(name);
    std::fs::create_dir_all(target.join("nuts"))?;
    std::fs::write(&file, content)?;
    Ok(file)
}
