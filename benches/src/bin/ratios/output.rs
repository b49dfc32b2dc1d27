//! Where the results go.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::Config;
use crate::{chart, table};
use autobatch_bench::measure::Measurement;

/// Prints the tables, and writes them, all times and the chart to the folder `bench` of the target
/// directory. `load` is the load average before the measurements.
pub(crate) fn report(
    config: &Config,
    full: &[Measurement],
    small: &[Measurement],
    load: Option<&str>,
) -> Result<(), String> {
    let tables = table::all(config, full, small);
    let conditions = conditions(config, full, load);
    for (title, table) in &tables {
        println!("{title}\n\n{}", table.markdown());
    }
    println!("{conditions}");

    let folder = target_directory()?.join("bench");
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let mut markdown = format!("# Ways to run the kernels\n\n{conditions}\n\n![Speeds](ratios.svg)\n");
    for (title, table) in &tables {
        markdown += &format!("\n## {title}\n\n{}", table.markdown());
    }
    let all: Vec<&Measurement> = full.iter().chain(small).collect();
    let svg = chart::svg(full, config.isas[0])?;
    for (name, text) in [("ratios.md", markdown), ("ratios.csv", table::csv(&all)), ("ratios.svg", svg)] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// How the figures came about, in a sentence or two.
fn conditions(config: &Config, full: &[Measurement], load: Option<&str>) -> String {
    let cpu = cpu().map(|cpu| format!(" on {cpu}")).unwrap_or_default();
    let rounds = match config.rounds {
        1 => "One round".to_owned(),
        n => format!("Best of {n} interleaved rounds"),
    };
    let noise = 100.0 * table::noise(full);
    let load = load.map(|load| format!(" The load average was {load} before."));
    format!(
        "{rounds}{cpu}, up to {} threads. The median round took {noise:.1} % longer than the best one.{}",
        config.most_threads(),
        load.unwrap_or_default()
    )
}

/// What else ran in the last minute, where the system tells it: with less than a core to itself per thread,
/// ratios between threads mean nothing.
pub(crate) fn load() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().next().map(str::to_owned)
}

/// The CPU's name where the system tells it.
fn cpu() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The target directory that this program was built in: cargo leaves a `CACHEDIR.TAG` in its root.
fn target_directory() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| format!("this program's own path: {error}"))?;
    let tagged = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let folder = tagged.or_else(|| program.parent()).ok_or("this program has no folder")?;
    Ok(folder.to_owned())
}
