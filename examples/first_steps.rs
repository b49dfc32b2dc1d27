//! From a scalar function to a batch, step by step: the program, limits, faults, the report, and the pages to look at.
//! `cargo run --release --example first_steps`

mod pictures;

use std::time::Instant;

use autobatch::{FaultKind, Options, autobatch};

/// The steps that Newton's method takes from `x` to a root of x³ - 2x + 2. From some values it never gets there.
#[autobatch]
fn steps_to_root(mut x: f64) -> u32 {
    let mut steps = 0;
    while (x * x * x - 2.0 * x + 2.0).abs() > 1e-9 {
        x -= (x * x * x - 2.0 * x + 2.0) / (3.0 * x * x - 2.0);
        steps += 1;
    }
    steps
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("The program:\n\n{}", steps_to_root_batched::program());

    // 0 goes to 1 and back for ever, and so do the values around it.
    let x: Vec<f64> = (0..20_000).map(|i| f64::from(i) / 5000.0 - 2.0).collect();
    let options = Options::default().max_steps(200).report(true).trace(32);
    let outcome = steps_to_root_batched_with(&x, &options)?;
    println!("The run:\n\n{}", outcome.report());

    let mut members = [0; 20];
    for steps in outcome.iter().flatten() {
        members[19.min(*steps as usize)] += 1;
    }
    println!("steps members");
    for (steps, members) in members.iter().enumerate() {
        let more = if steps == 19 { "+" } else { " " };
        println!("{steps:4}{more} {members:7} {}", "#".repeat(members / 100));
    }
    let endless = outcome.faults();
    println!("never {:7} {}", endless.len(), "#".repeat(endless.len() / 100));

    // Outside of the batch the function is what it was. The members that have faults would run for ever.
    let finite: Vec<f64> =
        x.iter().zip(outcome.iter()).filter(|(_, steps)| steps.is_ok()).map(|(x, _)| *x).collect();
    let clock = Instant::now();
    let one_by_one: Vec<u32> = finite.iter().map(|x| steps_to_root(*x)).collect();
    let scalar = clock.elapsed();
    let clock = Instant::now();
    assert_eq!(steps_to_root_batched(&finite), one_by_one);
    println!("\n{} members: {scalar:.1?} one by one, {:.1?} as a batch", finite.len(), clock.elapsed());

    let folder = pictures::folder()?;
    let trace = outcome.trace().ok_or("no blocks ran")?;
    for (name, text) in [
        ("first_steps.html", trace.to_html()),        // for a browser
        ("first_steps.json", trace.to_chrome_json()), // for Perfetto
        ("first_steps.svg", steps_to_root_batched::program().to_svg()),
    ] {
        std::fs::write(folder.join(name), text)?;
        println!("{}", folder.join(name).display());
    }

    for (x, result) in x.iter().zip(outcome.iter()) {
        match result {
            Ok(steps) => assert_eq!(*steps, steps_to_root(*x)),
            Err(fault) => assert_eq!(fault.kind, FaultKind::StepsExceeded),
        }
    }
    assert!(endless.iter().any(|fault| x[fault.member] == 0.0));
    Ok(())
}
