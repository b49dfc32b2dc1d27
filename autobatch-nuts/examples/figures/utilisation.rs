//! How full the batched gradient is.

use std::error::Error;
use std::fmt::Write as _;

use autobatch::{Executor, Options, Schedule};
use autobatch_nuts::models::{Autoregressive, Gaussian};
use autobatch_nuts::{Chains, Generator, Model, StepSize};
use ndarray::Array1;

use plotters::style::RGBColor;

use crate::chart::{Axis, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, Series, Style, svg};
use crate::cli::Config;
use crate::{progress_bar, sizes, write};

/// Dimensions of the distributions.
const DIM: usize = 100;
const COLOURS: [(RGBColor, RGBColor); 3] = [(ORANGE, GREEN), (RED, BLUE), (PINK, SKY)];

const WAYS: [(&str, Executor, Schedule); 3] = [
    ("masked", Executor::Masked, Schedule::MostLanes),
    ("most lanes", Executor::ProgramCounter, Schedule::MostLanes),
    ("earliest block", Executor::ProgramCounter, Schedule::EarliestBlock),
];

/// What is sampled, from where and how.
struct Target<'a> {
    file: &'a str,
    name: &'a str,
    model: &'a dyn Model<f64>,
    exact: &'a dyn Fn(&mut Generator) -> Array1<f64>,
    eps: f64,
    max_depth: u32,
}

/// One batch size and number of trajectories.
struct Row {
    trajectories: usize,
    chains: usize,
    /// In the order of [`WAYS`].
    shares: [f64; WAYS.len()],
    /// What no schedule can exceed: the mean number of gradients over the largest.
    bound: f64,
}

pub(crate) fn run(config: &Config) -> Result<(), Box<dyn Error>> {
    let process = Autoregressive::<f64>::new(DIM, 0.9);
    let dense = Gaussian::<f64>::wishart(DIM, DIM, 1);
    let from_process = |rng: &mut Generator| process.exact(rng);
    let from_dense = |rng: &mut Generator| dense.exact(rng);
    let targets = [
        Target {
            file: "autoregressive",
            name: "AR(1) 0.9",
            model: &process,
            exact: &from_process,
            eps: 0.1,
            max_depth: 10,
        },
        Target {
            file: "wishart",
            name: "Wishart precision",
            model: &dense,
            exact: &from_dense,
            eps: 0.05,
            max_depth: 10,
        },
    ];
    let mut csv = String::from("model,trajectories,chains,masked,most_lanes,earliest_block,bound\n");
    for target in targets {
        let rows = measure(config, &target)?;
        let Target { file, name, eps, max_depth, .. } = target;
        let mut table = format!(
            "{name}, {DIM} dimensions, step size {eps}, 4 steps per leaf, at most 2^{max_depth} - 1 leaves: \
             utilisation of the batched gradient\n{:>12} {:>7} {:>8} {:>11} {:>15} {:>7} {:>13}\n",
            "trajectories", "chains", "masked", "most lanes", "earliest block", "bound", "best / masked"
        );
        for row in &rows {
            let [masked, most, earliest] = row.shares;
            // Writing to a string can't fail.
            let _ = writeln!(
                table,
                "{:12} {:7} {masked:8.3} {most:11.3} {earliest:15.3} {:7.3} {:13.2}",
                row.trajectories,
                row.chains,
                row.bound,
                most.max(earliest) / masked
            );
            let (trajectories, chains, bound) = (row.trajectories, row.chains, row.bound);
            let _ = writeln!(csv, "{file},{trajectories},{chains},{masked},{most},{earliest},{bound}");
        }
        println!("{table}");
        write(&format!("utilisation-{file}.txt"), &table)?;
        let title = format!("Utilisation of the batched gradient, {name}, {DIM} dimensions");
        let svg = svg(&title, &Axis::Share("active chains / chains in the batch"), &lines(config, &rows))?;
        println!("{}\n", write(&format!("utilisation-{file}.svg"), &svg)?.display());
    }
    println!("{}", write("utilisation.csv", &csv)?.display());
    Ok(())
}

/// How many trajectories a chain has in a batch.
fn lengths(config: &Config) -> impl Iterator<Item = usize> {
    [1, 10, 100].into_iter().filter(|trajectories| *trajectories <= config.trajectories)
}

fn lines(config: &Config, rows: &[Row]) -> Vec<Series> {
    let mut all = Vec::new();
    for (trajectories, (light, dark)) in lengths(config).zip(COLOURS) {
        let line = |name: &str, colour, style, value: &dyn Fn(&Row) -> f64| {
            let rows = rows.iter().filter(|row| row.trajectories == trajectories);
            let points = rows.map(|row| (row.chains as f64, value(row))).collect();
            let plural = if trajectories == 1 { "trajectory" } else { "trajectories" };
            Series { name: format!("{name}, {trajectories} {plural}"), colour, style, points }
        };
        let best = |row: &Row| row.shares[1].max(row.shares[2]);
        all.push(line("bound", GREY, Style::Broad, &|row| row.bound));
        all.push(line("masked", light, Style::Marked(6), &|row| row.shares[0]));
        all.push(line("program counter", dark, Style::Marked(3), &best));
    }
    all
}

fn measure(config: &Config, target: &Target<'_>) -> Result<Vec<Row>, Box<dyn Error>> {
    let &Target { model, exact, eps, max_depth, .. } = target;
    let sizes = sizes(config);
    let bar = progress_bar(lengths(config).count() * sizes.len() * WAYS.len())?;
    let mut rows = Vec::new();
    for trajectories in lengths(config) {
        for &chains in &sizes {
            let mut start = Chains::begin(model, chains, config.seed, StepSize::fixed(eps), exact);
            start.nuts.max_depth = max_depth;
            let mut row = Row { trajectories, chains, shares: [0.0; WAYS.len()], bound: 0.0 };
            for (i, (name, executor, schedule)) in WAYS.into_iter().enumerate() {
                bar.set_message(format!("{chains} chains, {name}"));
                // All chains in one tile, as on a machine that is as wide.
                let options = Options::default().executor(executor).schedule(schedule);
                let options = options.threads(1).lanes(chains).count_blocks(true);
                let outcome = start.clone().run(trajectories, &options)?;
                // The step sizes are given, so that only the block with the leapfrog steps runs.
                let blocks = &outcome.report().blocks;
                let block = blocks.iter().find(|block| block.label == "primitive" && block.active > 0);
                let block = block.ok_or("no gradient was evaluated")?;
                row.shares[i] = block.utilisation();
                row.bound = block.active as f64 / (block.lower_bound * chains as u64) as f64;
                bar.inc(1);
            }
            rows.push(row);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}
