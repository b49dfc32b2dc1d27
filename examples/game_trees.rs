//! Recursion that no two members do alike: placements of queens, and all games of tic-tac-toe.
//!
//! Checked by the known counts. `cargo run --release --example game_trees`

use autobatch::{Options, autobatch, same};

/// Ways to place the queens of the rows that are left; a bit is a column that is attacked, directly or along a diagonal.
#[autobatch(strict)]
fn queens(all: u32, columns: u32, left: u32, right: u32) -> u64 {
    if columns == all {
        return 1;
    }
    let mut free = all & !(columns | left | right);
    let mut ways = 0;
    while free != 0 {
        let place = free & free.wrapping_neg();
        free ^= place;
        ways += queens(all, columns | place, (left | place) << 1, (right | place) >> 1);
    }
    ways
}

/// The lines of tic-tac-toe, a bit for each square.
const LINES: [u32; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

fn has_line(squares: u32) -> bool {
    LINES.iter().any(|line| squares & line == *line)
}

/// The games from here on, in which `own` moves next: how many that side wins, the other side wins, nobody wins.
#[autobatch(strict)]
fn games(own: u32, other: u32) -> (u32, u32, u32) {
    if has_line(other) {
        return (0, 1, 0);
    }
    if own | other == 0o777 {
        return (0, 0, 1);
    }
    let mut sum = (0, 0, 0);
    for square in 0..9 {
        let place = 1 << square;
        if (own | other) & place == 0 {
            let (lost, won, drawn) = games(other, own | place);
            sum = (sum.0 + won, sum.1 + lost, sum.2 + drawn);
        }
    }
    sum
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(" n  first rows      ways");
    for (n, known) in [(6, 4), (8, 92), (10, 724), (11, 2680), (12, 14200)] {
        // A member for each way to place the first two queens.
        let all = (1u32 << n) - 1;
        let mut starts = Vec::new();
        for first in (0..n).map(|c| 1u32 << c) {
            for second in (0..n).map(|c| 1u32 << c).filter(|s| s & (first | first << 1 | first >> 1) == 0) {
                starts.push((first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1));
            }
        }
        let column = |pick: fn(&(u32, u32, u32)) -> u32| starts.iter().map(pick).collect::<Vec<_>>();
        let ways = queens_batched(same(all), column(|s| s.0), column(|s| s.1), column(|s| s.2));
        let sum: u64 = ways.iter().sum();
        println!("{n:2}  {:10}  {sum:8}", starts.len());
        assert_eq!(sum, known);
    }

    // A member for each opening of three moves, of which none ends the game.
    let mut openings = Vec::new();
    for a in 0..9 {
        for b in (0..9).filter(|b| *b != a) {
            for c in (0..9).filter(|c| *c != a && *c != b) {
                openings.push((1u32 << b, 1 << a | 1 << c));
            }
        }
    }
    let (own, other): (Vec<u32>, Vec<u32>) = openings.into_iter().unzip();
    let outcome = games_batched_with(&own, &other, &Options::default().report(true))?;
    println!("\n{}", outcome.report());
    let (mut o_wins, mut x_wins, mut draws) = (0, 0, 0);
    for result in outcome {
        let (won, lost, drawn) = result?;
        (o_wins, x_wins, draws) = (o_wins + won, x_wins + lost, draws + drawn);
    }
    println!(
        "tic-tac-toe: X wins {x_wins}, O wins {o_wins}, draws {draws}, games {}",
        x_wins + o_wins + draws
    );
    assert_eq!((x_wins, o_wins, draws), (131_184, 77_904, 46_080));
    Ok(())
}
