//! The time of a batch of which a tenth panics in that of one in which nobody does.

use autobatch::{Executor, Options, autobatch};

use crate::{Wanted, best};

#[autobatch(strict)]
fn turns(seed: u64, turns: u32, bad: bool) -> u64 {
    let (mut x, mut n) = (seed, 0);
    while n < turns {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        assert!(!(bad && n + 1 == turns), "a member that is at fault");
        n += 1;
    }
    x
}

#[autobatch(strict)]
fn calls(depth: u32, bad: bool) -> u64 {
    if depth == 0 {
        assert!(!bad, "a member that is at fault");
        return 1;
    }
    calls(depth - 1, false) + calls(depth - 1, bad)
}

/// What `catch_unwind` around each member takes.
fn plainly(members: usize, member: impl Fn(usize) -> u64 + std::panic::RefUnwindSafe) {
    for one in 0..members {
        let _ = std::hint::black_box(std::panic::catch_unwind(|| member(one)));
    }
}

type Run<'r> = &'r dyn Fn(&Options, bool);

pub(crate) fn print(wanted: &Wanted) {
    println!(
        "\nA tenth of the members panics, one thread, times of a batch in which nobody does; ns is that of a member then"
    );
    println!("| | scalar: ns | | masked: ns | | auto: ns | | `catch_unwind` around each: ns | |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    // Panics of a plain program would be told, too.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    const MEMBERS: usize = 2000;
    let tenth: Vec<bool> = (0..MEMBERS).map(|i| i % 10 == 7).collect();
    let nobody = vec![false; MEMBERS];
    let row =
        |name: String, run: Run<'_>, member: &(dyn Fn(usize, bool) -> u64 + std::panic::RefUnwindSafe)| {
            if !wanted.row("panics", &name) {
                return;
            }
            let executors = [Executor::Scalar, Executor::Masked, Executor::Auto];
            let mut cells = Vec::new();
            let mut cell = |mut calls: [Box<dyn FnMut() + '_>; 2]| {
                let times = best(&mut calls);
                cells.push(format!("{:.0} | {:.2}", times[0] / MEMBERS as f64, times[1] / times[0]));
            };
            for executor in executors {
                let options = Options::default().executor(executor).threads(1).quiet(true);
                let (quiet, same) = (options.clone(), options);
                cell([Box::new(move || run(&quiet, false)), Box::new(move || run(&same, true))]);
            }
            cell([
                Box::new(|| plainly(MEMBERS, |one| member(one, false))),
                Box::new(|| plainly(MEMBERS, |one| member(one, true))),
            ]);
            println!("| {name} | {} |", cells.join(" | "));
        };
    for count in [20u32, 100, 200, 500, 1000, 4000] {
        let seeds: Vec<u64> = (0..MEMBERS as u64).collect();
        let most = vec![count; MEMBERS];
        let run = |o: &Options, bad: bool| {
            drop(turns_batched_with(&seeds, &most, if bad { &tenth } else { &nobody }, o).unwrap());
        };
        row(format!("a loop of {count} turns"), &run, &|one, bad| {
            turns(one as u64, std::hint::black_box(count), bad && one % 10 == 7)
        });
    }
    for depth in [3u32, 6, 8, 10, 12] {
        let depths = vec![depth; MEMBERS];
        let run = |o: &Options, bad: bool| {
            drop(calls_batched_with(&depths, if bad { &tenth } else { &nobody }, o).unwrap());
        };
        row(format!("a recursion of {} calls", (2 << depth) - 1), &run, &|one, bad| {
            calls(std::hint::black_box(depth), bad && one % 10 == 7)
        });
    }
    std::panic::set_hook(hook);
}
