//! The measurements as tables.

use std::fmt::Write as _;

use autobatch_bench::measure::Measurement;
use autobatch_bench::table::Table;
use autobatch_bench::variant::isa_name;
use autobatch_bench::ways::Family;

use crate::cli::Config;

/// The executors, and ISPC, by their names in column heads.
const FAMILIES: [(&str, Family); 4] = [
    ("masked", Family::Masked),
    ("pc", Family::ProgramCounter),
    ("auto", Family::Auto),
    ("ispc", Family::Ispc),
];

/// Milliseconds of every way.
fn times(config: &Config, measurements: &[Measurement]) -> Table {
    let isa = config.isas[0];
    let more: Vec<usize> = config.threads.iter().copied().filter(|n| *n > 1).collect();
    let mut table = Table::of(measurements);
    let mut column = |name: String, family, isa, threads| {
        table.column(name, measurements, |m| Some(1e3 * m.best(family, isa, threads)?));
    };
    column("scalar".to_owned(), Family::Scalar, None, 1);
    for &n in &more {
        column(format!("rayon {n}t"), Family::Rayon, None, n);
    }
    for (name, family) in FAMILIES {
        for &isa in &config.isas {
            column(format!("{name} {}", isa_name(isa)), family, Some(isa), 1);
        }
        for &n in &more {
            column(format!("{name} {n}t"), family, Some(isa), n);
        }
    }
    table.compact()
}

/// How many times faster than the scalar loop, on one thread.
fn over_scalar(config: &Config, measurements: &[Measurement]) -> Table {
    let mut table = Table::of(measurements);
    for (name, family) in FAMILIES {
        for &isa in &config.isas {
            table.column(format!("{name} {}", isa_name(isa)), measurements, |m| {
                ratio(m.best(Family::Scalar, None, 1), m.best(family, Some(isa), 1))
            });
        }
    }
    table.compact()
}

/// How many times faster than ISPC on one thread of the same instruction set.
fn over_ispc(config: &Config, measurements: &[Measurement]) -> Table {
    let mut table = Table::of(measurements);
    for (name, family) in FAMILIES.into_iter().filter(|(_, family)| *family != Family::Ispc) {
        for &isa in &config.isas {
            table.column(format!("{name} {}", isa_name(isa)), measurements, |m| {
                ratio(m.best(Family::Ispc, Some(isa), 1), m.best(family, Some(isa), 1))
            });
        }
    }
    table.compact()
}

/// What threads yield: all of them over one, and `auto` over rayon, both on all of them, on the whole
/// batch and on small ones.
fn threads(config: &Config, measurements: &[Measurement], small: &[Measurement]) -> Table {
    let (isa, most) = (config.isas[0], config.most_threads());
    let mut table = Table::of(measurements);
    for (name, family) in FAMILIES {
        table.column(format!("{name} {most}t/1t"), measurements, |m| {
            ratio(m.best(family, Some(isa), 1), m.best(family, Some(isa), most))
        });
    }
    table.column(format!("rayon {most}t/scalar"), measurements, |m| {
        ratio(m.best(Family::Scalar, None, 1), m.best(Family::Rayon, None, most))
    });
    let to_rayon =
        |m: &Measurement| ratio(m.best(Family::Rayon, None, most), m.best(Family::Auto, Some(isa), most));
    table.column("auto/rayon".to_owned(), measurements, to_rayon);
    for members in small_sizes(small) {
        table.column(format!("auto/rayon at {members}"), measurements, |m| {
            to_rayon(small.iter().find(|s| s.kernel == m.kernel && s.members == members)?)
        });
    }
    table.compact()
}

fn ratio(slow: Option<f64>, fast: Option<f64>) -> Option<f64> {
    Some(slow? / fast?)
}

/// All tables that have figures, with their titles.
pub(crate) fn all(
    config: &Config,
    measurements: &[Measurement],
    small: &[Measurement],
) -> Vec<(String, Table)> {
    let mut tables = vec![
        ("Milliseconds".to_owned(), times(config, measurements)),
        ("Times faster than the scalar loop, one thread".to_owned(), over_scalar(config, measurements)),
        (
            "Times faster than ISPC on the same instruction set, one thread".to_owned(),
            over_ispc(config, measurements),
        ),
    ];
    if config.most_threads() > 1 {
        let title = format!("Times faster with {} threads", config.most_threads());
        tables.push((title, threads(config, measurements, small)));
    }
    tables.retain(|(_, table)| table.has_figures());
    tables
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
