//! How often `Auto` is behind rayon: the distribution over rounds, where the tables have the best only.

use std::time::Instant;

use autobatch::Executor;
use autobatch_bench::measure::{SAMPLE, sample};
use autobatch_bench::variant::isa_name;
use autobatch_bench::ways::{Family, Pools, small_ways};

use crate::SMALL;
use crate::cli::Config;

/// Prints a row per kernel and size: the first run of `Auto`, which knows nothing of the program, and the
/// ratios of rayon's time to that of `Auto` over the rounds.
pub(crate) fn report(config: &Config) -> Result<(), String> {
    let threads = config.most_threads();
    if threads == 1 {
        return Err("rayon needs more than one thread".to_owned());
    }
    let pools = Pools::new(&config.threads);
    println!(
        "Rayon's time over that of `Auto`, {threads} threads, {}, {} rounds.\n",
        isa_name(config.isas[0]),
        config.rounds
    );
    println!("| kernel | members | rayon, µs | first | worst | median | best | behind | choices |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|---|");
    for entry in &config.kernels {
        let sizes = match config.members {
            Some(members) => vec![members],
            None => SMALL.into_iter().chain([entry.members]).collect(),
        };
        for members in sizes {
            let ways = small_ways(config.isas[0], threads, &pools);
            let way = |family| ways.iter().find(|way| way.family == family).map(|way| &way.variant);
            let (Some(rayon), Some(auto)) = (way(Family::Rayon), way(Family::Auto)) else { continue };
            let case = (entry.build)(members);
            // Wakes the threads, and maps the memory.
            let once = (0..3).map(|_| sample(&*case, rayon, 1)).fold(f64::INFINITY, f64::min);
            let begin = Instant::now();
            case.run(auto);
            let first = begin.elapsed().as_secs_f64();
            case.check(std::slice::from_ref(auto))?;
            let repetitions = (SAMPLE / once).ceil().clamp(1.0, 10_000.0) as u32;
            let mut times = Vec::with_capacity(config.rounds);
            let mut choices = Choices::default();
            for _ in 0..config.rounds {
                times.push((sample(&*case, rayon, repetitions), sample(&*case, auto, repetitions)));
                choices.add(case.run(auto));
            }
            let rayon = times.iter().map(|(rayon, _)| *rayon).fold(f64::INFINITY, f64::min);
            let mut ratios: Vec<f64> = times.iter().map(|(rayon, auto)| rayon / auto).collect();
            ratios.sort_by(f64::total_cmp);
            let limit = if members < SMALL[1] { 0.5 } else { 0.9 };
            let behind = ratios.iter().filter(|ratio| **ratio < limit).count();
            println!(
                "| {} | {members} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} | {behind} | {} |",
                entry.name,
                1e6 * rayon,
                once / first,
                ratios[0],
                ratios[ratios.len() / 2],
                ratios[ratios.len() - 1],
                choices.text()
            );
        }
    }
    Ok(())
}

/// How often each executor was chosen.
#[derive(Default)]
struct Choices([usize; 3]);

impl Choices {
    fn add(&mut self, executor: Option<Executor>) {
        match executor {
            Some(Executor::Scalar) => self.0[0] += 1,
            Some(Executor::Masked) => self.0[1] += 1,
            Some(Executor::ProgramCounter) => self.0[2] += 1,
            _ => {}
        }
    }

    fn text(&self) -> String {
        let names = ["scalar", "masked", "pc"].into_iter().zip(self.0);
        let chosen: Vec<_> = names.filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}")).collect();
        chosen.join(", ")
    }
}
