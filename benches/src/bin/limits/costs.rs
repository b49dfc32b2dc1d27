//! The time of a run with a limit or a report in that of one without.

use std::time::Duration;

use autobatch::{CancelToken, Executor, Options};

use crate::{Wanted, best};

/// A program and its batch.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut(&Options)>,
}

impl Program {
    pub(crate) fn new(name: &'static str, run: impl FnMut(&Options) + 'static) -> Program {
        Program { name, run: Box::new(run) }
    }
}

const EXECUTORS: [(&str, Executor); 3] =
    [("masked", Executor::Masked), ("pc", Executor::ProgramCounter), ("auto", Executor::Auto)];

pub(crate) fn print(wanted: &Wanted, table: &str, programs: &mut [Program]) {
    println!("| {table}, one thread | | ms | `cancel` | `deadline` | `report` | `max_steps` |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    let token = CancelToken::new();
    for Program { name, run } in programs {
        for (how, executor) in EXECUTORS {
            if !wanted.row(table, &format!("{name} {how}")) {
                continue;
            }
            let base = Options::default().executor(executor).threads(1);
            let ways = [
                base.clone(),
                base.clone().cancel(&token),
                base.clone().deadline(Duration::from_secs(3600)),
                base.clone().report(true),
                base.max_steps(1 << 40),
            ];
            let run = std::cell::RefCell::new(&mut *run);
            let call = |options: &Options| -> Box<dyn FnMut() + '_> {
                let (options, run) = (options.clone(), &run);
                Box::new(move || (run.borrow_mut())(&options))
            };
            let times = best(&mut ways.each_ref().map(call));
            let ratios: Vec<_> = times[1..].iter().map(|time| format!("{:.2}", time / times[0])).collect();
            println!("| {name} | {how} | {:.3} | {} |", times[0] / 1e6, ratios.join(" | "));
        }
    }
}
