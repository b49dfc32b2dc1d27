//! What becomes of the reference to a state: handed on to calls, moved, held across a loop, in a closure or a guard, and given back.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::common::Bits;
use crate::common::promises::states_agree;
use crate::{Xorshift, generators, seeds};

/// Handed on to a call that is not the last.
#[autobatch(strict)]
fn tree(rng: &mut Xorshift, n: u64) -> u64 {
    if n % 11 < 2 {
        return rng.bits() % 100;
    }
    let left = tree(rng, n % 11 - 1);
    let weight = rng.bits() % 3;
    let right = tree(rng, n % 11 - 2);
    left + weight * right
}

/// Handed on by tail calls.
#[autobatch(strict)]
fn chain(rng: &mut Xorshift, n: u64) -> u64 {
    if n == 0 || rng.bits() % 17 == 0 { n + rng.bits() % 10 } else { chain(rng, n - 1) }
}

/// Two states, which change their parts in each call.
#[autobatch]
mod exchanged {
    use super::Xorshift;

    pub(super) fn game(both: &mut (u64, u64), rng: &mut Xorshift, n: u64) -> u64 {
        let before = both.0;
        rng.bits();
        before + turn(both, rng, n % 9)
    }

    fn turn(both: &mut (u64, u64), rng: &mut Xorshift, n: u64) -> u64 {
        if n == 0 {
            return both.0 ^ both.1;
        }
        std::mem::swap(&mut both.0, &mut both.1);
        both.0 = both.0.wrapping_add(rng.bits() % 50);
        turn(both, rng, n - 1)
    }
}

/// Two states that call each other the other way round.
#[autobatch(strict)]
fn crossed(a: &mut u64, b: &mut u64, n: u64) -> u64 {
    *a = a.wrapping_mul(3) + n;
    *b ^= *a >> 2;
    if n == 0 { *a } else { crossed(b, a, n - 1) }
}

/// The same where something is left to do.
#[autobatch(strict)]
fn crossed_within(a: &mut u64, b: &mut u64, n: u64) -> u64 {
    *a = a.wrapping_mul(3) + n;
    if n == 0 {
        return *b;
    }
    let inner = crossed_within(b, a, n - 1);
    *b ^= *a >> 2;
    inner.wrapping_add(*b)
}

/// What they refer to is swapped.
#[autobatch(strict)]
fn swapped(a: &mut [u64; 2], b: &mut [u64; 2], n: u64) -> u64 {
    for i in 0..n % 10 {
        if (a[0] ^ i) & 4 > 0 {
            std::mem::swap(a, b);
        }
        a[0] = a[0].wrapping_add(b[1]);
        b[1] = b[1].rotate_left(3);
    }
    a[0]
}

/// The references are swapped.
#[autobatch]
fn pointers_swapped<'a>(mut a: &'a mut u64, mut b: &'a mut u64, n: u64) -> u64 {
    for i in 0..n % 10 {
        if (*a ^ i) & 4 > 0 {
            std::mem::swap(&mut a, &mut b);
        }
        *a = a.wrapping_add(*b);
        *b = b.rotate_left(3);
    }
    *a
}

/// Moved into a local that lives across the loop.
#[autobatch]
fn moved(rng: &mut Xorshift, n: u64) -> u64 {
    let own = rng;
    let mut sum = 0u64;
    for _ in 0..n % 10 {
        sum = sum.wrapping_add(own.bits() >> 5);
    }
    sum
}

/// Moved into one that does not.
#[autobatch]
fn moved_within(rng: &mut Xorshift, n: u64) -> u64 {
    let mut sum = 0u64;
    for _ in 0..n % 10 {
        let own = &mut *rng;
        let more = own;
        sum = sum.wrapping_add(more.bits() >> 5);
    }
    sum
}

/// A part, borrowed across the loop.
#[autobatch]
fn part(s: &mut [u64; 3], n: u64) -> u64 {
    let (first, rest) = s.split_at_mut(1);
    let mut sum = 0u64;
    for i in 0..n % 10 {
        first[0] = first[0].wrapping_mul(5) ^ i;
        rest[i as usize % 2] ^= first[0] >> 7;
        sum = sum.wrapping_add(first[0] >> 3);
    }
    sum
}

/// Its elements, across a loop in the loop.
#[autobatch]
fn elements(s: &mut [u64; 5], n: u64) -> u64 {
    let mut sum = 0u64;
    for x in s.iter_mut() {
        while *x % 8 != n % 8 {
            *x = x.wrapping_mul(3).wrapping_add(1) >> 1;
            *x += 1;
        }
        sum = sum.wrapping_add(*x);
    }
    sum
}

/// In a closure that takes it along.
#[autobatch]
fn closure(rng: &mut Xorshift, n: u64) -> u64 {
    let mut next = move || rng.bits() >> 7;
    let mut sum = 0u64;
    for _ in 0..n % 10 {
        sum = sum.wrapping_add(next());
    }
    sum
}

/// In closures that end with their statements.
#[autobatch]
fn closures_within(rng: &mut Xorshift, n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n % 10 {
        sum = sum.wrapping_add((0..i % 4).map(|k| rng.bits() >> k >> 9).sum::<u64>());
        let mut twice = || rng.bits() ^ rng.bits();
        sum ^= twice();
    }
    sum
}

/// Writes when it is dropped.
struct Count<'a>(&'a mut Xorshift);

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.0.0 += 2;
    }
}

fn counting(rng: &mut Xorshift) -> Count<'_> {
    Count(rng)
}

/// A guard of it is dropped on each way out of its scope.
#[autobatch]
fn guarded(rng: &mut Xorshift, n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n % 10 {
        let own = counting(rng);
        if own.0.bits() % 5 == 0 {
            return sum + i;
        }
        if own.0.bits() % 3 == 0 {
            continue;
        }
        sum = sum.wrapping_add(own.0.bits() >> 9);
    }
    sum
}

struct Pair<'a> {
    rng: &'a mut Xorshift,
    more: u64,
}

/// A structure with it, within a statement and across the loop.
#[autobatch]
fn paired(rng: &mut Xorshift, n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n % 7 {
        let pair = Pair { rng, more: i };
        sum = sum.wrapping_add(pair.rng.bits() >> pair.more >> 4);
    }
    let pair = Pair { rng, more: 1 };
    for _ in 0..n % 5 {
        sum = sum.wrapping_add(pair.rng.bits() >> pair.more >> 4);
    }
    sum
}

/// Pushed where it outlives the statement.
#[autobatch]
fn listed(s: &mut [u64; 4], n: u64) -> u64 {
    let mut all: Vec<&mut u64> = Vec::new();
    for x in s.iter_mut() {
        all.push(x);
    }
    let mut sum = 0u64;
    for i in 0..n % 9 {
        let x = &mut *all[i as usize % 4];
        *x = x.wrapping_mul(7) ^ i;
        sum = sum.wrapping_add(*x >> 3);
    }
    sum
}

/// The result refers to it.
#[autobatch]
fn found<'a>(s: &'a mut [u64; 4], n: u64) -> &'a mut u64 {
    let mut at = 0;
    while at < 3 && s[at] % 3 != n % 3 {
        s[at] += 1;
        at += 1;
    }
    &mut s[at]
}

#[test]
fn a_result_that_refers_to_the_state() {
    let numbers = crate::common::promises::numbers();
    let states: Vec<[u64; 4]> = seeds().map(|s| [s >> 1, s >> 2, s >> 3, s >> 4]).to_vec();
    let mut changed = states.clone();
    for (state, n) in changed.iter_mut().zip(&numbers) {
        *found(state, *n) += 100;
    }
    for (name, options) in crate::common::executors() {
        let mut own = states.clone();
        let outcome = found_batched_with(&mut own, &numbers, &options).expect("a batch");
        outcome.into_values().expect("no faults").into_iter().for_each(|x| *x += 100);
        assert_eq!(own, changed, "{name}");
    }
}

/// A result of a type that hides a lifetime.
#[autobatch]
#[allow(elided_lifetimes_in_paths, mismatched_lifetime_syntaxes)]
fn hidden(rng: &mut Xorshift, n: u64) -> Pair {
    let mut more = 0;
    for i in 0..n % 8 {
        more ^= rng.bits() >> i >> 40;
    }
    Pair { rng, more }
}

#[test]
fn a_result_whose_type_hides_that_it_refers_to_the_state() {
    let numbers = crate::common::promises::numbers();
    let mut changed = generators();
    let mut expected = Vec::new();
    for (state, n) in changed.iter_mut().zip(&numbers) {
        let pair = hidden(state, *n);
        expected.push((pair.rng.bits(), pair.more));
    }
    for (name, options) in crate::common::executors() {
        let mut own = generators();
        let outcome = hidden_batched_with(&mut own, &numbers, &options).expect("a batch");
        let pairs = outcome.into_values().expect("no faults").into_iter();
        let found: Vec<_> = pairs.map(|pair| (pair.rng.bits(), pair.more)).collect();
        assert_eq!(found, expected, "{name}");
        assert!(own.same(&changed), "{name}");
    }
}

/// A structure of the member's that borrows from outside.
#[derive(Clone, Debug, PartialEq)]
struct Cursor<'a> {
    data: &'a [u64],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn next(&mut self) -> Option<&'a u64> {
        let next = self.data.get(self.at)?;
        self.at += 1;
        Some(next)
    }
}

#[autobatch]
fn read<'a>(cursor: &mut Cursor<'a>, n: u64) -> Option<&'a u64> {
    let mut last = None;
    while let Some(x) = cursor.next() {
        if x % 7 == n % 7 {
            return Some(x);
        }
        last = Some(x);
    }
    last
}

#[test]
fn a_state_that_borrows() {
    let data = seeds();
    let numbers = crate::common::promises::numbers();
    let states: Vec<Cursor<'_>> = (0..37).map(|at| Cursor { data: &data, at }).collect();
    let mut changed = states.clone();
    let expected: Vec<_> = changed.iter_mut().zip(&numbers).map(|(state, &n)| read(state, n)).collect();
    for (name, options) in crate::common::executors() {
        let mut own = states.clone();
        let outcome = read_batched_with(&mut own, &numbers, &options).expect("a batch");
        assert_eq!(outcome.into_values().expect("no faults"), expected, "{name}");
        assert_eq!(own, changed, "{name}");
    }
}

/// What calls yield of it crosses, too.
#[autobatch]
fn drawn(rng: &mut Xorshift, n: u64) -> u64 {
    let first = rng.bits() >> 8;
    let second = mixed(rng) >> 8;
    let mut sum = 0u64;
    while sum < first && rng.bits() % 8 > 0 {
        sum = sum.wrapping_add(second % (n + 1) + first / 5);
    }
    sum
}

fn mixed(rng: &mut Xorshift) -> u64 {
    rng.bits() ^ rng.bits()
}

/// `?` in the loop.
#[autobatch]
fn tried(rng: &mut Xorshift, n: u64) -> Result<u64, String> {
    fn checked(rng: &mut Xorshift, n: u64) -> Result<u64, String> {
        let x = rng.bits() % 40;
        if x == n % 40 { Err(format!("{x} at {n}")) } else { Ok(x) }
    }
    let mut sum = 0;
    for i in 0..20 {
        sum += checked(rng, n + i)?;
    }
    Ok(sum)
}

/// A method that changes its receiver.
#[derive(Clone, Debug)]
struct Board {
    cells: [u32; 6],
    moves: u64,
}

impl Bits for Board {
    fn same(&self, other: &Self) -> bool {
        self.cells == other.cells && self.moves == other.moves
    }
}

#[autobatch]
impl Board {
    pub(crate) fn play(&mut self, n: u64) -> u32 {
        let mut at = n as usize % 6;
        while self.cells[at] > 0 && self.moves < 200 {
            self.cells[at] -= 1;
            at = self.step(at);
            self.cells[at] += self.moves as u32 % 2;
        }
        self.cells[at] * 6 + at as u32
    }

    fn step(&mut self, at: usize) -> usize {
        self.moves += 1;
        (at + self.cells[at] as usize + 1) % 6
    }

    /// By recursion.
    pub(crate) fn fill(&mut self, n: u64) -> u32 {
        if n % 6 == 0 {
            return self.cells[0];
        }
        self.cells[n as usize % 6] += 1;
        let below = self.fill(n - 1);
        self.moves += u64::from(below);
        below + self.cells[n as usize % 6]
    }
}

fn boards() -> Vec<Board> {
    let board = |s: u64| Board { cells: std::array::from_fn(|k| (s >> (8 * k)) as u32 % 9), moves: 0 };
    seeds().map(board).to_vec()
}

fn pairs() -> Vec<(u64, u64)> {
    seeds().map(|s| (s >> 3, s >> 40)).to_vec()
}

states_agree! {
    handed_on_to_calls: tree, tree_batched_with, generators();
    handed_on_by_tail_calls: chain, chain_batched_with, generators();
    moved_across_a_loop: moved, moved_batched_with, generators();
    moved_within_a_statement: moved_within, moved_within_batched_with, generators();
    parts_across_a_loop: part, part_batched_with, seeds().map(|s| [s, s >> 1, s >> 2]).to_vec();
    elements_across_a_loop: elements, elements_batched_with, seeds().map(|s| std::array::from_fn(|k| s >> (30 + k))).to_vec();
    a_closure_across_a_loop: closure, closure_batched_with, generators();
    closures_within_statements: closures_within, closures_within_batched_with, generators();
    a_guard_of_a_state: guarded, guarded_batched_with, generators();
    a_structure_with_a_state: paired, paired_batched_with, generators();
    a_list_of_parts: listed, listed_batched_with, seeds().map(|s| [s, s >> 1, s >> 2, s >> 3]).to_vec();
    what_calls_yield_crosses: drawn, drawn_batched_with, generators();
    a_question_mark: tried, tried_batched_with, generators();
    methods_that_change_their_receiver: Board::play, Board::play_batched_with, boards();
    methods_that_recurse: Board::fill, Board::fill_batched_with, boards();
}

/// Compares two states of each member, and the results.
fn two_agree<A: Bits + Clone, B: Bits + Clone>(
    a: &[A],
    b: &[B],
    scalar: fn(&mut A, &mut B, u64) -> u64,
    batched: fn(&mut [A], &mut [B], &[u64], &Options) -> Result<Outcome<u64>, BatchError>,
) {
    let numbers = crate::common::promises::numbers();
    let (mut a_left, mut b_left) = (a.to_vec(), b.to_vec());
    let states = a_left.iter_mut().zip(&mut b_left);
    let expected: Vec<u64> = states.zip(&numbers).map(|((a, b), &n)| scalar(a, b, n)).collect();
    assert!(!a_left.as_slice().to_vec().same(&a.to_vec()));
    for (name, options) in crate::common::executors() {
        for lanes in [1, 7, 64] {
            let (mut a, mut b) = (a.to_vec(), b.to_vec());
            let outcome = batched(&mut a, &mut b, &numbers, &options.clone().lanes(lanes)).expect("a batch");
            assert_eq!(outcome.into_values().expect("no faults"), expected, "{name}, {lanes} lanes");
            assert!(a.same(&a_left) && b.same(&b_left), "{name}, {lanes} lanes");
        }
    }
}

macro_rules! two_states_agree {
    ($($promise:ident: $scalar:path, $batched:path, $a:expr, $b:expr;)*) => {
        $(#[test]
        fn $promise() {
            two_agree(
                &$a,
                &$b,
                |a, b, n| $scalar(a, b, n),
                |a, b, numbers, options| $batched(a, b, numbers, options),
            );
        })*
    };
}

two_states_agree! {
    states_that_take_turns: exchanged::game, exchanged::game_batched_with, pairs(), generators();
    states_handed_on_crosswise: crossed, crossed_batched_with, seeds(), seeds().map(|s| s >> 5);
    states_handed_on_crosswise_within: crossed_within, crossed_within_batched_with, seeds(), seeds().map(|s| s >> 5);
    states_that_are_swapped: swapped, swapped_batched_with, seeds().map(|s| [s, s >> 2]), seeds().map(|s| [s >> 5, s]);
    references_that_are_swapped: pointers_swapped, pointers_swapped_batched_with, seeds(), seeds().map(|s| s >> 5);
}
