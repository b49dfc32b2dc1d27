//! A local is borrowed across a few statements, and moved, read or taken apart before or behind them.

#![allow(clippy::while_let_loop, clippy::needless_range_loop, clippy::manual_is_multiple_of, clippy::ptr_arg)] // written as users write

use crate::common::{Bits, agree_at, column, executors};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

#[derive(Clone, Debug)]
struct Particle {
    place: [f64; 3],
    speed: [f64; 3],
    mass: f64,
    name: String,
}

impl Bits for Particle {
    fn same(&self, other: &Self) -> bool {
        let numbers =
            |p: &Self| [p.place[0], p.place[1], p.place[2], p.speed[0], p.speed[1], p.speed[2], p.mass];
        numbers(self).same(&numbers(other)) && self.name == other.name
    }
}

fn particle(n: u32) -> Particle {
    let x = f64::from(n);
    Particle { place: [x * 0.25, 1.0, -x], speed: [0.5, x, 1.5], mass: 2.0 + x, name: format!("p{n}") }
}

/// A parameter, destructured, then moved.
#[autobatch]
fn destructured(n: u32, mut p: Particle) -> Particle {
    let Particle { place, speed, .. } = &mut p;
    let mut steps = 0;
    while place[0] < f64::from(n) {
        for (x, v) in place.iter_mut().zip(speed.iter()) {
            *x += *v;
        }
        speed[0] += 0.1;
        steps += 1;
        if steps > 20 {
            break;
        }
    }
    p.name.push_str(&steps.to_string());
    p
}

#[autobatch]
fn tuples(n: u32) -> (f64, [f64; 2]) {
    let mut pair = (f64::from(n), [1.0, 2.0]);
    let (x, v) = &mut pair;
    while *x > 1.0 {
        *x -= v[0];
        v[0] *= 1.5;
        v[1] += *x;
    }
    pair.0 += 1.0;
    pair
}

#[autobatch]
fn arrays(n: u32) -> u32 {
    let mut counts = [0u32; 4];
    let [low, .., high] = &mut counts;
    let mut n = n;
    while n > 0 {
        if n % 3 == 0 {
            *low += 1
        } else {
            *high += n
        }
        n /= 2;
    }
    let total: u32 = counts.into_iter().sum();
    total * 7 + counts[3]
}

/// A state that is destructured by itself, and used again behind it.
#[autobatch]
fn state(state: &mut Particle, n: u32) -> f64 {
    if n == 0 {
        return state.mass;
    }
    let Particle { place, mass, .. } = state;
    let mut k = n;
    while k > 0 {
        place[k as usize % 3] += *mass;
        *mass *= 0.5;
        k -= 1;
    }
    state.name.push('.');
    state.mass
}

#[autobatch]
fn reborrowed(all: &mut Particle, n: u32) -> f64 {
    if n == 0 {
        return all.mass;
    }
    let Particle { place, mass, .. } = &mut *all;
    for x in place.iter_mut() {
        *x += *mass;
        if *x > 100.0 {
            break;
        }
    }
    *mass *= 0.5;
    let below = reborrowed(all, n - 1);
    below + all.place[0]
}

/// Kept across a call, then put together again.
#[autobatch]
fn across_a_call(n: u32) -> Particle {
    let mut whole = particle(n);
    if n == 0 {
        return whole;
    }
    let Particle { place, mass, .. } = &mut whole;
    let below = across_a_call(n / 2);
    place[0] += below.mass;
    *mass += 1.0;
    let name = whole.name + &below.name;
    Particle { name, ..below }
}

/// Options: a run of one statement each, and moves between them.
#[autobatch]
fn options(n: u32) -> (f64, u32) {
    let mut next = Some(f64::from(n));
    if let Some(x) = &mut next {
        while *x > 1.0 {
            *x /= 2.0;
        }
    }
    let mut other = next.take().map(|x| vec![x, x + 1.0]);
    if let Some(ref mut xs) = other {
        loop {
            let Some(last) = xs.pop() else { break };
            next = Some(next.unwrap_or(0.5) + last);
            if last > 1.2 {
                break;
            }
        }
    }
    match next.as_mut() {
        Some(x) => {
            while *x < 100.0 {
                *x *= 3.0;
            }
        }
        None => return (0.0, n),
    }
    let rest = match other {
        Some(xs) => xs.len() as u32,
        None => 7,
    };
    (next.unwrap_or(-1.0), rest)
}

/// In a loop's body: what is in place is dropped or taken back in each round.
#[autobatch]
fn in_a_loop(n: u32) -> Vec<String> {
    let mut all = Vec::new();
    for i in 0..n {
        let mut words: Vec<String> = (0..i).map(|k| "x".repeat(k as usize)).collect();
        let mut length = 0;
        for word in words.iter_mut() {
            word.push('y');
            length += word.len();
            if length > 9 {
                break;
            }
        }
        if i == 5 {
            continue;
        }
        all.extend(words.into_iter().rev());
        if length > 12 {
            return all;
        }
    }
    all
}

/// References that are chosen in the run, and what is made of them.
#[autobatch]
fn chosen(n: u32) -> (Vec<u32>, u32) {
    let values: Vec<u32> = (1..n % 7 + 2).map(|i| i * 37 % 11).collect();
    let mut best = &values[0];
    let mut i = 1;
    while i < values.len() {
        if values[i] > *best {
            best = &values[i];
        }
        i += 1;
    }
    let best: u32 = *best;
    let mut values = values;
    let most = &mut values;
    while most.len() > 2 {
        let last = most.pop().unwrap_or(0);
        most[0] += last;
    }
    (values, best)
}

struct Board {
    cells: Vec<u32>,
    score: u32,
}

#[autobatch]
impl Board {
    pub(crate) fn play(&mut self, depth: u32) -> u32 {
        let Board { cells, score } = self;
        if depth == 0 || cells.is_empty() {
            return *score;
        }
        let mut i = 0;
        while i < cells.len() {
            *score += cells[i] * depth;
            cells[i] /= 2;
            i += 1;
        }
        self.cells.pop();
        let below = self.play(depth - 1);
        self.score + below
    }
}

/// Methods of the type, by the lifetimes in their signatures: what `peek` yields is the text's, what `scores` does is the state's.
#[autobatch]
mod cursor {
    pub(super) struct Cursor<'a> {
        pub(super) words: &'a [String],
        pub(super) at: usize,
        pub(super) scores: [u32; 2],
    }

    impl<'a> Cursor<'a> {
        fn peek(&self) -> Option<&'a String> {
            self.words.get(self.at)
        }

        fn first(&mut self) -> &mut [u32] {
            &mut self.scores
        }

        fn word(&mut self) -> Option<&'a str> {
            let word = self.peek()?;
            self.at += 1;
            Some(word)
        }

        fn line(&mut self) -> Option<u32> {
            let mut sum = 0;
            while let Some(word) = self.peek() {
                self.at += 1;
                let next = self.word()?;
                while sum < word.len() as u32 * 10 {
                    sum += next.len() as u32 + word.len() as u32;
                }
            }
            let scores = self.first();
            while scores[0] < sum {
                scores[0] += 3;
                scores[1] += 1;
            }
            self.scores.reverse();
            Some(sum + self.scores[0])
        }
    }

    pub(super) fn read(words: &[String], at: usize) -> (Option<u32>, u32) {
        let mut cursor = Cursor { words, at, scores: [1, 2] };
        let line = cursor.line();
        (line, cursor.scores[1])
    }
}

/// A type whose methods stand in the file.
struct Grid {
    cells: Vec<f64>,
    width: usize,
}

impl Grid {
    fn row(&self, i: usize) -> &[f64] {
        &self.cells[i * self.width..(i + 1) * self.width]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.cells[i * self.width..(i + 1) * self.width]
    }

    fn total(&self) -> f64 {
        self.cells.iter().sum()
    }
}

#[autobatch]
fn relaxed(n: usize, x: f64) -> (f64, Vec<f64>) {
    let width = n + 2;
    let mut grid = Grid { cells: vec![x; width * width], width };
    let row = grid.row_mut(1);
    let mut k = 0;
    while k < n && row[k] < 100.0 {
        row[k] = row[k] * 1.5 + 1.0;
        k += usize::from(row[k] > 10.0);
    }
    let mut sum = 0.0;
    for row in (0..n).map(|i| i + 1) {
        let first = grid.row(row);
        let mut i = 0;
        while i < first.len() && sum < 1e3 {
            sum += first[i] + grid.total();
            i += 1;
        }
    }
    (sum, grid.cells)
}

#[test]
fn methods_of_the_file() {
    let ns: Vec<usize> = (0..9).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| relaxed(*n, *n as f64 * 0.5 - 1.0),
        |ns, o| relaxed_batched_with(ns, column(ns, |n| *n as f64 * 0.5 - 1.0), o),
    );
}

#[test]
fn methods_of_the_type() {
    let words: Vec<String> = (0..7).map(|i| "ab".repeat(i * 3 % 5 + 1)).collect();
    let at: Vec<usize> = (0..8).collect();
    agree_at(&SIZES, &at, |at| cursor::read(&words, *at), |at, o| cursor::read_batched_with(&words, at, o));
}

#[test]
fn patterns_borrow_between_moves() {
    let ns: Vec<u32> = (0..17).collect();
    agree_at(
        &SIZES,
        &column(&ns, |n| (*n, particle(n % 5))),
        |(n, p)| destructured(*n, p.clone()),
        |b, o| destructured_batched_with(column(b, |b| b.0), column(b, |b| b.1.clone()), o),
    );
    agree_at(&SIZES, &ns, |n| tuples(*n), |n, o| tuples_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| arrays(*n), |n, o| arrays_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| across_a_call(*n), |n, o| across_a_call_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| options(*n), |n, o| options_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| in_a_loop(*n), |n, o| in_a_loop_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| chosen(*n), |n, o| chosen_batched_with(n, o));
}

/// Results and states together.
#[autobatch]
fn echo(result: (f64, Particle)) -> (f64, Particle) {
    result
}

#[test]
fn states_are_destructured_and_used_again() {
    let ns: Vec<u32> = (0..9).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut p = particle(*n);
            (state(&mut p, *n), p)
        },
        |ns, o| {
            let mut all = column(ns, |n| particle(*n));
            let values = state_batched_with(&mut all, ns, o)?.into_values().unwrap();
            echo_batched_with(values.into_iter().zip(all).collect::<Vec<_>>(), o)
        },
    );
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut p = particle(*n);
            (reborrowed(&mut p, *n), p)
        },
        |ns, o| {
            let mut all = column(ns, |n| particle(*n));
            let values = reborrowed_batched_with(&mut all, ns, o)?.into_values().unwrap();
            echo_batched_with(values.into_iter().zip(all).collect::<Vec<_>>(), o)
        },
    );
    let board = |n: u32| Board { cells: (0..n).collect(), score: n };
    agree_at(
        &SIZES,
        &ns,
        |n| board(*n).play(*n / 2 + 1),
        |ns, o| {
            let mut all = column(ns, |n| board(*n));
            Board::play_batched_with(&mut all, column(ns, |n| n / 2 + 1), o)
        },
    );
}

struct Ship {
    name: String,
    cargo: Vec<u64>,
    speed: [u64; 2],
}

fn ship(n: u64) -> Ship {
    Ship { name: "n".repeat(n as usize), cargo: vec![n, 1], speed: [n, 2] }
}

/// A part that is moved out before the rest is borrowed across a loop.
#[autobatch]
fn in_parts(n: u64) -> u64 {
    let mut ship = ship(n);
    let name = ship.name;
    let cargo = &mut ship.cargo;
    let mut i = 0;
    while i < n {
        cargo[0] += i;
        i += 1;
    }
    name.len() as u64 + ship.cargo[0]
}

/// By a pattern.
#[autobatch]
fn in_a_pattern(n: u64) -> u64 {
    let ship = ship(n);
    let Ship { name, .. } = ship;
    let speed = &ship.speed;
    let (mut i, mut sum) = (0, 0);
    while i < n {
        sum += speed[0] + if i > 1 { in_a_pattern(i / 2) } else { 1 };
        i += 1;
    }
    drop(ship.cargo);
    name.len() as u64 + sum
}

/// Parts that are copied.
#[autobatch]
fn copied_parts(n: u64) -> u64 {
    let mut ship = ship(n);
    let [first, _] = ship.speed;
    let speed = ship.speed;
    let cargo = &mut ship.cargo;
    let mut i = 0;
    while i < n {
        cargo[0] += i + first + speed[1];
        i += 1;
    }
    let Ship { name, cargo, .. } = ship;
    name.len() as u64 + cargo[0]
}

/// The same of a tuple of numbers.
#[autobatch]
fn copied_tuple(n: u64) -> u64 {
    let mut pair = (n, n * 3 + 1);
    let first = pair.0;
    let both = &mut pair;
    let mut i = 0;
    while i < n {
        both.1 += i + first;
        i += 1;
    }
    pair.0 * 1000 + pair.1
}

#[test]
fn parts_may_be_moved_before() {
    let n: Vec<u64> = (0..8).collect();
    agree_at(&[1, 67], &n, |n| in_parts(*n), |n, o| in_parts_batched_with(n, o));
    agree_at(&[1, 67], &n, |n| in_a_pattern(*n), |n, o| in_a_pattern_batched_with(n, o));
    agree_at(&[1, 67], &n, |n| copied_parts(*n), |n, o| copied_parts_batched_with(n, o));
    agree_at(&[1, 67], &n, |n| copied_tuple(*n), |n, o| copied_tuple_batched_with(n, o));
}

/// Halves of a slice, a row of a grid and the last of them, which are `&mut` without saying so, changed across calls.
#[autobatch]
fn changed_in_parts(grid: &mut Vec<Vec<u32>>, depth: u32) -> u32 {
    if depth == 0 || grid.is_empty() {
        return 1;
    }
    let mut total = 0;
    let (left, right) = grid.split_at_mut(1);
    for row in left.iter_mut().chain(right) {
        for cell in row.iter_mut() {
            *cell += changed_in_parts(&mut vec![vec![*cell % 3; 2]], depth - 1);
        }
        row.sort_unstable();
        total += row[0];
    }
    if let Some(last) = grid.last_mut() {
        for k in 0..depth {
            last.push(k + changed_in_parts(&mut vec![vec![k; 2]], depth - 1));
        }
        last.reverse();
        last[0] += 5;
    }
    let first = grid.first_mut().unwrap();
    while first.len() > 2 {
        first[0] += first[1];
        let top = first.pop().unwrap();
        total += changed_in_parts(&mut vec![vec![top % 2]], depth - 1);
    }
    total + first[0]
}

#[test]
fn inferred_exclusive_borrows_change_their_owner() {
    let depths: Vec<u32> = (0..23).map(|i| i % 4).collect();
    let grid = |d: u32| vec![vec![d, 5, 1], vec![7], vec![2, d + 1]];
    let mut want: Vec<Vec<Vec<u32>>> = depths.iter().map(|d| grid(*d)).collect();
    let results: Vec<u32> = want.iter_mut().zip(&depths).map(|(g, d)| changed_in_parts(g, *d)).collect();
    for (how, options) in executors() {
        for lanes in [1, 7, 64] {
            let mut grids: Vec<Vec<Vec<u32>>> = depths.iter().map(|d| grid(*d)).collect();
            let out =
                changed_in_parts_batched_with(&mut grids, &depths, &options.clone().lanes(lanes)).unwrap();
            assert_eq!(out.into_values().unwrap(), results, "{how}");
            assert_eq!(grids, want, "{how}");
        }
    }
}
