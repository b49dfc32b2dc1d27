//! How long a runaway member takes to end by itself, and the memory of deep recursion.

use std::time::Instant;

use autobatch::{Executor, Options, autobatch};

use crate::Wanted;

#[autobatch(strict)]
fn bottomless(n: u64) -> u64 {
    if n == 2 { 3 } else { bottomless(n).wrapping_mul(3).wrapping_add(n) }
}

#[autobatch(strict)]
fn deep(n: u64) -> u64 {
    if n == 0 { 1 } else { deep(n - 1).wrapping_mul(3).wrapping_add(n) }
}

pub(crate) fn print(wanted: &Wanted) {
    println!(
        "\nseconds until an endless recursion ends, and the most memory of calls in MB; the same a million deep"
    );
    println!("| | endless: s | MB | a million deep: s | MB |\n|---|--:|--:|--:|--:|");
    let executors = [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto];
    for executor in executors {
        let name = format!("{executor:?}");
        if !wanted.row("depths", &name) {
            continue;
        }
        let options = Options::default().executor(executor).threads(1).report(true).quiet(true);
        let cells = [true, false].map(|endless| {
            let (begin, n) = (Instant::now(), [1_000_000, 2, 1]);
            let outcome = match endless {
                true => bottomless_batched_with(&n, &options),
                false => deep_batched_with(&n, &options),
            }
            .unwrap();
            let seconds = begin.elapsed().as_secs_f64();
            let bytes = outcome.report().memory as f64;
            format!("{seconds:.2} | {:.0}", bytes / 1e6)
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}
