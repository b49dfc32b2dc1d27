//! Compares the styles in which an algorithm can be written, one row each. Arguments are parts of the names
//! of the rows to measure.

use std::process::ExitCode;

use autobatch::Isa;
use autobatch_bench::measure::{self, Measurement};
use autobatch_bench::table::Table;
use autobatch_bench::ways::{Family, Pools, Way, small_ways, ways};

mod arrays;
// What is measured is compared with the scalar function before; these are not compiled for tests too.
#[cfg(not(test))]
mod dormand_prince;
#[cfg(not(test))]
mod gamma;
mod lorenz;
mod peer;
mod quadrature;
mod random_walk;
mod roots;
mod sequences;
#[cfg(not(test))]
mod shadows;
#[cfg(not(test))]
mod sorting;
mod steps;
mod style;
mod tables;
mod trees;
#[cfg(not(test))]
mod viterbi;

use style::AnyStyle;

/// Makes the styles of an algorithm for a number of members, or for its own.
type Styles = fn(Option<usize>) -> Vec<AnyStyle>;

const ALGORITHMS: &[Styles] = &[
    lorenz::styles,
    steps::styles,
    arrays::styles,
    random_walk::styles,
    quadrature::styles,
    roots::styles,
    trees::nearest,
    trees::forests,
    tables::noise,
    tables::checksums,
    sequences::distances,
    sequences::alignments,
    #[cfg(not(test))]
    dormand_prince::styles,
    #[cfg(not(test))]
    gamma::styles,
    #[cfg(not(test))]
    shadows::styles,
    #[cfg(not(test))]
    sorting::styles,
    #[cfg(not(test))]
    viterbi::styles,
];

/// Rounds; the best of each way counts.
const ROUNDS: usize = 9;

/// The threads of the comparison with rayon.
const THREADS: usize = 2;

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    match run(&filters) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("styles: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(filters: &[String]) -> Result<(), String> {
    let isa = Isa::detect();
    let pools = Pools::new(&[THREADS]);
    let mut ways = ways(&[isa], &[1], &pools);
    ways.extend(small_ways(isa, THREADS, &pools).into_iter().filter(|way| way.threads == THREADS));
    for styles in ALGORITHMS {
        let mut styles = styles(None);
        if !filters.is_empty() {
            styles.retain(|style| filters.iter().any(|filter| style.name().contains(filter.as_str())));
        }
        let measured: Result<Vec<_>, _> = styles.iter().map(|style| measure(&**style, &ways)).collect();
        if !styles.is_empty() {
            println!("{}", table(&measured?, isa).compact().markdown());
        }
    }
    Ok(())
}

fn measure(style: &dyn autobatch_bench::Case, ways: &[Way<'_>]) -> Result<Measurement, String> {
    eprintln!("{} …", style.name());
    let has_peer = style.has_peer();
    let ways: Vec<_> = ways.iter().filter(|way| has_peer || way.family != Family::Ispc).cloned().collect();
    measure::measure(style.name(), style, &ways, ROUNDS)
}

/// The scalar loop in milliseconds; how many times faster the executors are, on one thread; the time of
/// `Auto`, and the best style's in proportion; rayon's time over that of `Auto`; ISPC's speed, and the faster executor's in proportion.
fn table(styles: &[Measurement], isa: Isa) -> Table {
    let mut table = Table::of(styles);
    let scalar = |m: &Measurement| m.best(Family::Scalar, None, 1);
    let auto = |m: &Measurement| m.best(Family::Auto, Some(isa), 1);
    table.column("scalar, ms".to_owned(), styles, |m| Some(1e3 * scalar(m)?));
    for family in [Family::Masked, Family::ProgramCounter, Family::Auto] {
        table.column(family.name().to_owned(), styles, |m| Some(scalar(m)? / m.best(family, Some(isa), 1)?));
    }
    table.column("auto, ms".to_owned(), styles, |m| Some(1e3 * auto(m)?));
    let best = styles.iter().filter_map(auto).fold(f64::INFINITY, f64::min);
    table.column("of the best".to_owned(), styles, |m| Some(best / auto(m)?));
    table.column(format!("auto/rayon {THREADS}t"), styles, |m| {
        Some(m.best(Family::Rayon, None, THREADS)? / m.best(Family::Auto, Some(isa), THREADS)?)
    });
    let ispc = |m: &Measurement| m.best(Family::Ispc, Some(isa), 1);
    table.column("ISPC".to_owned(), styles, |m| Some(scalar(m)? / ispc(m)?));
    table.column("of ISPC".to_owned(), styles, |m| {
        let executors = [Family::Masked, Family::ProgramCounter, Family::Auto];
        let best = executors.iter().filter_map(|family| m.best(*family, Some(isa), 1));
        Some(ispc(m)? / best.fold(f64::INFINITY, f64::min))
    });
    table
}

#[cfg(test)]
mod tests {
    use autobatch::{Executor, Options, Schedule};
    use autobatch_bench::Variant;
    use autobatch_bench::variant::isas;

    use super::*;

    #[test]
    fn all_styles_compute_the_same_in_every_executor() {
        let mut variants = Vec::new();
        for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Auto, Executor::Scalar] {
            let options = |threads| Options::default().executor(executor).threads(threads);
            variants.extend(isas().into_iter().map(|isa| options(1).isa(isa)));
            variants.push(options(2).schedule(Schedule::EarliestBlock));
            variants.push(options(1).lanes(16));
        }
        let variants: Vec<_> = variants.into_iter().map(Variant::Batched).collect();
        for styles in ALGORITHMS {
            for members in [1, 37] {
                for style in styles(Some(members)) {
                    assert_eq!(style.members(), members, "{}", style.name());
                    style.check(&variants).unwrap_or_else(|error| panic!("{error}"));
                }
            }
        }
    }
}
