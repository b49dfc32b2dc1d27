//! The measurements as tables.

use std::fmt::Write as _;

use autobatch::Isa;
use autobatch_bench::variant::isa_name;
use autobatch_bench::ways::Family;

use crate::cli::Config;
use crate::measure::Measurement;

/// A table, its first column text, the others numbers.
#[derive(Debug, Default)]
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(header: Vec<String>) -> Self {
        Table { header, rows: Vec::new() }
    }

    /// Leaves out columns without any number.
    fn compact(mut self) -> Self {
        let keep: Vec<bool> = (0..self.header.len())
            .map(|i| i == 0 || self.rows.iter().any(|row| !row[i].is_empty()))
            .collect();
        for row in self.rows.iter_mut().chain([&mut self.header]) {
            let mut kept = keep.iter();
            row.retain(|_| *kept.next().expect("a flag per column"));
        }
        self
    }

    /// Markdown, its columns aligned.
    pub(crate) fn markdown(&self) -> String {
        let rows = || self.rows.iter().chain([&self.header]);
        let width = |i: usize| rows().map(|row| row[i].chars().count()).max().unwrap_or(0).max(2);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |cells: &[String]| {
            cells.iter().zip(&widths).enumerate().fold("|".to_owned(), |mut line, (i, (cell, &width))| {
                let written = match i {
                    0 => write!(line, " {cell:<width$} |"),
                    _ => write!(line, " {cell:>width$} |"),
                };
                written.expect("a `String` takes any text");
                line
            })
        };
        let rule = |(i, width): (usize, &usize)| match i {
            0 => format!("{}|", "-".repeat(width + 2)),
            _ => format!("{}:|", "-".repeat(width + 1)),
        };
        let rules: String = widths.iter().enumerate().map(rule).collect();
        let mut lines = vec![line(&self.header), format!("|{rules}")];
        lines.extend(self.rows.iter().map(|row| line(row)));
        lines.join("\n") + "\n"
    }
}

/// Milliseconds of every way.
pub(crate) fn times(config: &Config, measurements: &[Measurement]) -> Table {
    let (isa, most) = (config.isas[0], config.most_threads());
    let mut columns = vec![("scalar".to_owned(), Family::Scalar, None, 1)];
    for &n in config.threads.iter().filter(|n| **n > 1) {
        columns.push((format!("rayon {n}t"), Family::Rayon, None, n));
    }
    for (name, family) in [("masked", Family::Masked), ("pc", Family::ProgramCounter), ("auto", Family::Auto)]
    {
        for &other in &config.isas {
            columns.push((format!("{name} {}", isa_name(other)), family, Some(other), 1));
        }
        for &n in config.threads.iter().filter(|n| **n > 1) {
            columns.push((format!("{name} {n}t"), family, Some(isa), n));
        }
    }
    for &other in &config.isas {
        columns.push((format!("ispc {}", isa_name(other)), Family::Ispc, Some(other), 1));
    }
    columns.push((format!("ispc {most}t"), Family::Ispc, Some(isa), if most > 1 { most } else { 0 }));
    let mut table = Table::new(header("kernel (ms)", columns.iter().map(|column| column.0.clone())));
    for measurement in measurements {
        let cells = columns.iter().map(|&(_, family, isa, threads)| {
            measurement.best(family, isa, threads).map_or(String::new(), |time| digits(time * 1e3))
        });
        table.rows.push(header(measurement.kernel, cells));
    }
    table.compact()
}

/// How many times faster: than the scalar loop on one thread; than ISPC; with all threads than with one;
/// and than rayon with as many threads.
pub(crate) fn ratios(config: &Config, measurements: &[Measurement], small: &[Measurement]) -> Table {
    let (isa, most) = (config.isas[0], config.most_threads());
    let mut names = Vec::new();
    let mut rows: Vec<Vec<String>> = vec![Vec::new(); measurements.len()];
    let mut column = |name: String, ratio: &dyn Fn(&Measurement) -> Option<f64>| {
        names.push(name);
        for (row, measurement) in rows.iter_mut().zip(measurements) {
            row.push(ratio(measurement).map_or(String::new(), digits));
        }
    };
    let over = |slow: Option<f64>, fast: Option<f64>| Some(slow? / fast?);
    let scalar = |m: &Measurement| m.best(Family::Scalar, None, 1);
    for &isa in &config.isas {
        column(format!("masked {}", isa_name(isa)), &|m| {
            over(scalar(m), m.best(Family::Masked, Some(isa), 1))
        });
    }
    for (name, family) in [("pc", Family::ProgramCounter), ("auto", Family::Auto)] {
        column(name.to_owned(), &|m| over(scalar(m), m.best(family, Some(isa), 1)));
    }
    for &isa in &config.isas {
        column(format!("ispc {}", isa_name(isa)), &|m| over(scalar(m), m.best(Family::Ispc, Some(isa), 1)));
    }
    for &isa in &config.isas {
        column(format!("masked/ispc {}", isa_name(isa)), &|m| masked_to_ispc(m, isa));
    }
    column("auto/ispc".to_owned(), &|m| {
        over(m.best(Family::Ispc, Some(isa), 1), m.best(Family::Auto, Some(isa), 1))
    });
    if most > 1 {
        column(format!("auto {most}t/1t"), &|m| {
            over(m.best(Family::Auto, Some(isa), 1), m.best(Family::Auto, Some(isa), most))
        });
        let to_rayon =
            |m: &Measurement| over(m.best(Family::Rayon, None, most), m.best(Family::Auto, Some(isa), most));
        column(format!("auto/rayon {most}t"), &to_rayon);
        for members in small_sizes(small) {
            column(format!("at {members}"), &|m| {
                to_rayon(small.iter().find(|s| s.kernel == m.kernel && s.members == members)?)
            });
        }
    }
    let mut table = Table::new(header("kernel (times faster)", names));
    for (measurement, row) in measurements.iter().zip(rows) {
        table.rows.push(header(measurement.kernel, row));
    }
    table.compact()
}

/// The masked executor's speed in units of ISPC's, both on one thread of the same instruction set.
pub(crate) fn masked_to_ispc(measurement: &Measurement, isa: Isa) -> Option<f64> {
    let ispc = measurement.best(Family::Ispc, Some(isa), 1)?;
    Some(ispc / measurement.best(Family::Masked, Some(isa), 1)?)
}

/// All times in seconds, as comma-separated values.
pub(crate) fn csv(measurements: &[&Measurement]) -> String {
    let mut csv = "kernel,members,way,isa,threads,best_s,median_s\n".to_owned();
    for measurement in measurements {
        for time in &measurement.times {
            let isa = time.isa.map_or("", isa_name);
            let (kernel, members) = (measurement.kernel, measurement.members);
            let (family, threads, best, median) = (time.family.name(), time.threads, time.best, time.median);
            writeln!(csv, "{kernel},{members},{family},{isa},{threads},{best:.9},{median:.9}")
                .expect("a `String` takes any text");
        }
    }
    csv
}

/// The median over all ways of how much the median round was slower than the best one.
pub(crate) fn noise(measurements: &[Measurement]) -> f64 {
    let times = measurements.iter().flat_map(|m| &m.times);
    let mut noise: Vec<f64> = times.map(|time| time.median / time.best - 1.0).collect();
    noise.sort_by(f64::total_cmp);
    noise.get(noise.len() / 2).copied().unwrap_or(0.0)
}

fn small_sizes(small: &[Measurement]) -> Vec<usize> {
    let mut sizes: Vec<usize> = small.iter().map(|m| m.members).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn header(first: &str, others: impl IntoIterator<Item = String>) -> Vec<String> {
    [first.to_owned()].into_iter().chain(others).collect()
}

/// Three significant digits.
fn digits(x: f64) -> String {
    match x {
        x if x >= 99.95 => format!("{x:.0}"),
        x if x >= 9.995 => format!("{x:.1}"),
        x if x >= 0.0995 => format!("{x:.2}"),
        x => format!("{x:.4}"),
    }
}
