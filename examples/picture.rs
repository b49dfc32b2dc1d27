//! Draws how the members of a batch move through the blocks of `fib`, in both executors, from a real run:
//! `cargo run --example picture > docs/pictures/fib.svg`.

use std::fmt::Write;

use autobatch::{Executor, Options, Trace, TraceStep, autobatch};

/// The arguments: one member each.
const MEMBERS: [u64; 8] = [5, 3, 1, 3, 4, 4, 1, 1];
/// So many members run at a time; the others wait.
const LANES: usize = 4;

#[autobatch(strict)]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

/// Runs the batch on one thread, and records its steps.
fn run(executor: Executor) -> Trace {
    let options = Options::default().executor(executor).threads(1).lanes(LANES).count_blocks(true);
    let outcome = fib_batched_with(&MEMBERS, &options.trace(MEMBERS.len())).unwrap();
    let executions: u64 = outcome.report().blocks.iter().map(|block| block.executions).sum();
    let trace = outcome.trace().expect("the machine runs").clone();
    assert_eq!(trace.steps.len() as u64, executions, "the machine counts other steps\n{}", outcome.report());
    trace
}

const CELL: usize = 17;
const LEFT: usize = 96;
/// From a panel's title to the next one's.
const PANEL: usize = MEMBERS.len() * CELL + 58;
const TOP: usize = 52;

/// Fill and text of a block's cells, and its name, in the order in which the code stands.
const STYLES: [(&str, &str, &str); 3] = [
    ("#0072b2", "#ffffff", "entry: 1, or call fib(n - 2)"),
    ("#f0b030", "#1a1a1a", "after the first call: call fib(n - 1)"),
    ("#007a5a", "#ffffff", "after the second call: add"),
];

/// One executor: steps across, members down.
fn panel(svg: &mut String, top: usize, name: &str, trace: &Trace) {
    let (steps, count) = (&trace.steps, trace.steps.len());
    writeln!(
        svg,
        "<text x=\"12\" y=\"{}\" font-weight=\"bold\">{name}: {count} steps, {:.0} % of the lanes at work</text>",
        top + 4,
        100.0 * trace.utilisation()
    )
    .unwrap();
    let rows = top + 14;
    for (member, n) in MEMBERS.iter().enumerate() {
        let (y, side) = (rows + member * CELL, CELL - 2);
        let is_there = |step: &TraceStep| step.visits.iter().any(|visit| visit.member == member);
        let first = steps.iter().position(is_there).unwrap();
        let last = steps.iter().rposition(is_there).unwrap();
        let (x, width) = (LEFT + first * CELL + 1, (last - first) * CELL + side);
        writeln!(
            svg,
            "<text x=\"12\" y=\"{}\">{member}: fib({n})</text>\
             <rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{side}\" rx=\"2\" fill=\"#e0e0e0\"/>",
            y + 13,
            y + 1
        )
        .unwrap();
    }
    for (number, step) in steps.iter().enumerate() {
        let x = LEFT + number * CELL;
        for visit in &step.visits {
            let (y, depth) = (rows + visit.member * CELL, visit.depth);
            let (fill, text, _) = STYLES[step.block];
            let side = CELL - 2;
            let (mid, base) = (x + CELL / 2 + 1, y + 13);
            writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" rx=\"2\" fill=\"{fill}\"/>\
                 <text x=\"{mid}\" y=\"{base}\" fill=\"{text}\" font-size=\"11\" text-anchor=\"middle\">{depth}</text>",
                x + 1,
                y + 1
            )
            .unwrap();
        }
    }
    let below = rows + MEMBERS.len() * CELL + 13;
    for step in (0..count).step_by(10) {
        let x = LEFT + step * CELL + CELL / 2 + 1;
        writeln!(svg, "<text x=\"{x}\" y=\"{below}\" font-size=\"10\" text-anchor=\"middle\">{step}</text>")
            .unwrap();
    }
}

/// The whole picture.
fn draw() -> String {
    let runs = [("masked", run(Executor::Masked)), ("program counter", run(Executor::ProgramCounter))];
    let most = runs.iter().map(|(_, trace)| trace.steps.len()).max().unwrap();
    let (width, height) = (LEFT + most * CELL + 12, TOP + runs.len() * PANEL);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1a1a1a\">\n\
         <title>Eight members of fib on four lanes, in both executors</title>\n\
         <desc>cargo run --example picture &gt; docs/pictures/fib.svg</desc>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let mut x = 12;
    for (fill, _, name) in STYLES {
        writeln!(svg, "<rect x=\"{x}\" y=\"10\" width=\"13\" height=\"13\" rx=\"2\" fill=\"{fill}\"/>")
            .unwrap();
        writeln!(svg, "<text x=\"{}\" y=\"21\">{name}</text>", x + 19).unwrap();
        x += 31 + 6 * name.len();
    }
    writeln!(svg, "<text x=\"12\" y=\"39\" fill=\"#555555\">a row is a member, a column is a step, the number is the depth of the call; grey: the member has a lane and waits</text>").unwrap();
    for (nth, (name, trace)) in runs.iter().enumerate() {
        panel(&mut svg, TOP + 10 + nth * PANEL, name, trace);
    }
    svg.push_str("</svg>\n");
    svg
}

fn main() {
    print!("{}", draw());
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn the_picture_is_of_this_code() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pictures/fib.svg");
        let drawn = std::fs::read_to_string(file).unwrap().replace("\r\n", "\n");
        assert!(drawn == draw(), "cargo run --example picture > docs/pictures/fib.svg");
    }
}
