//! A borrow of a local is used across loops and calls; the local stays where it is.

#![allow(
    clippy::explicit_counter_loop,
    clippy::while_let_on_iterator,
    clippy::needless_range_loop,
    clippy::useless_vec
)] // written as users write

use crate::common::{agree_at, column};
use autobatch::{Executor, Options, autobatch};

const SIZES: [usize; 3] = [0, 1, 97];

/// Moves that are computed, then tried one after the other.
#[autobatch]
mod game {
    pub(crate) fn best(state: u32, depth: u32) -> i32 {
        let moves = moves(state);
        if depth == 0 || moves.is_empty() {
            return (state.wrapping_mul(2_654_435_761) >> 24) as i32 - 128;
        }
        let mut best = i32::MIN;
        for next in &moves {
            let value = -self::best(*next, depth - 1);
            if value > best {
                best = value;
            }
            if best > 100 {
                break;
            }
        }
        best + moves.len() as i32
    }

    fn moves(state: u32) -> Vec<u32> {
        (1..=3).filter(|k| *k <= state).map(|k| state - k).collect()
    }
}

/// References that are kept: to the best so far, to the front.
#[autobatch]
fn longest(n: usize) -> String {
    let words: Vec<String> = (0..n % 5 + 1).map(|i| "ab".repeat((i * 7 + n) % 4)).collect();
    if n < 2 {
        return words.concat();
    }
    let mut best = &words[0];
    let mut at = 0;
    for word in words.iter() {
        if longest(n - 2).len() + at > best.len() && word.len() >= best.len() {
            best = word;
        }
        at += 1;
    }
    let rest = longest(n / 2);
    format!("{best}{rest}")
}

#[autobatch]
fn with_an_iterator(n: u32) -> u32 {
    let mut values = vec![n, n / 2, 7];
    values.push(n / 3);
    let mut rest = values.iter();
    let mut sum = 0;
    while let Some(value) = rest.next() {
        if *value < n {
            sum += with_an_iterator(*value);
        }
        if sum > 1000 {
            return sum + rest.len() as u32;
        }
    }
    let first = &mut values[0];
    while *first < 20 {
        *first += 3;
    }
    values.swap(0, 1);
    sum + values[1]
}

#[autobatch]
fn halves(#[each] v: &mut [i32]) -> i32 {
    if v.len() < 2 {
        return v.first().copied().unwrap_or(0);
    }
    let middle = v.len() / 2;
    let (left, right) = v.split_at_mut(middle);
    let a = halves(left);
    let b = halves(right);
    left[0] += b;
    right[0] -= a;
    v.reverse();
    v[0] + a * 3
}

#[autobatch]
fn early(n: u32, limit: u32) -> Option<u32> {
    let parts = [n / 2, n / 3, n / 5];
    let mut total = 0;
    'all: for part in parts.iter() {
        for other in &parts {
            if *other == 0 {
                continue 'all;
            }
            if total > limit {
                break 'all;
            }
            total += early(*part / 2, limit)? + other;
        }
    }
    if total % 13 == 12 { None } else { Some(total + n) }
}

/// A closure in the head of a loop with calls.
#[autobatch]
fn chosen(n: u32, limit: u32) -> u32 {
    let mut sum = n;
    let parts = vec![n / 2, n / 3, n / 4];
    for (i, part) in parts.iter().enumerate().filter(|(i, part)| **part > limit && *i < 2) {
        sum += chosen(*part, limit) + i as u32;
        if sum > 100_000 {
            continue;
        }
        sum ^= part;
    }
    sum
}

/// Something that looks at what it borrows when it is dropped.
struct Guard<'a>(&'a [String], &'a mut usize);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.1 += self.0.iter().map(String::len).sum::<usize>();
    }
}

#[autobatch]
fn guarded(n: usize, seen: &mut usize) -> usize {
    let texts = vec!["x".repeat(n), "yy".to_string()];
    let mut count = n;
    let guard = Guard(&texts, &mut count);
    let mut i = 0;
    while i < n {
        assert!(i < 6, "{n} is too many");
        i += 1 + *guard.1 / 100;
    }
    drop(guard);
    *seen = count;
    count + texts[0].len()
}

#[derive(Debug, Clone)]
enum Tape {
    Blank,
    Marks(u32, Vec<u8>),
}

/// A guard looks at what its arm changes across a loop; where it does not hold, another arm borrows the same.
#[autobatch]
fn taped(n: u32, steps: u32) -> Vec<u8> {
    let mut tape = if n.is_multiple_of(4) { Tape::Blank } else { Tape::Marks(n % 6, vec![1]) };
    let mut step = 0;
    while step < steps {
        step += 1;
        match &mut tape {
            Tape::Marks(left, marks) if *left > 0 => {
                *left -= 1;
                for i in 0..*left {
                    marks.push(i as u8);
                    if i > n % 4 {
                        break;
                    }
                }
            }
            Tape::Marks(_, marks) if marks.len() > 7 => break,
            Tape::Marks(left, marks) => {
                marks.push(taped(n / 2, step / 2).len() as u8);
                *left += 3;
            }
            Tape::Blank => tape = Tape::Marks(2, vec![]),
        }
    }
    match tape {
        Tape::Blank => vec![9],
        Tape::Marks(_, marks) => marks,
    }
}

/// What is borrowed where paths meet stays where it is, and is used behind.
#[autobatch]
fn borrowed_where_paths_meet(n: u32, steps: u32) -> u32 {
    let mut left = Some(n % 5);
    if let Some(x) = &mut left {
        let more = if *x > 2 {
            if steps > 5 {
                return borrowed_where_paths_meet(n / 3, steps - 2);
            }
            *x + 1
        } else {
            *x
        };
        *x += more;
    }
    left.unwrap_or(7)
}

/// The local is not kept across a call: its arms are blocks, because of one, and those behind the guard use it again.
#[autobatch]
fn guarded_here(n: u32, steps: u32) -> u32 {
    let mut tape = if n.is_multiple_of(4) { Tape::Blank } else { Tape::Marks(n % 6, vec![1]) };
    let mut left = Some(n % 5);
    match &mut tape {
        Tape::Marks(left, marks) if *left > 2 => {
            if steps > 3 {
                return guarded_here(n / 2, steps - 1) + *left;
            }
            *left -= marks.len() as u32;
        }
        _ => tape = Tape::Marks(2, vec![]),
    }
    match &mut left {
        Some(x) if *x % 2 == 1 => {
            let odd = match n % 7 {
                1 => *x,
                k if *x > 2 => {
                    if steps > 5 {
                        return guarded_here(n / 3, steps - 2) + k;
                    }
                    *x + 1
                }
                _ => *x,
            };
            *x += odd;
        }
        _ => {}
    }
    let left = left;
    match tape {
        Tape::Blank => 9,
        Tape::Marks(more, marks) => more + marks.len() as u32 + left.unwrap_or(7),
    }
}

#[test]
fn guards_read_locals_that_change() {
    let inputs: Vec<(u32, u32)> = (0..40).map(|i| (i % 13, i % 9)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, steps)| taped(*n, *steps),
        |b, o| taped_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |(n, steps)| guarded_here(*n, *steps),
        |b, o| guarded_here_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |(n, steps)| borrowed_where_paths_meet(*n, *steps),
        |b, o| borrowed_where_paths_meet_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
}

#[test]
fn values_are_borrowed_across_calls() {
    let states: Vec<(u32, u32)> = (0..18).map(|i| (i, i % 5)).collect();
    agree_at(
        &SIZES,
        &states,
        |(s, d)| game::best(*s, *d),
        |b, o| game::best_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    let ns: Vec<usize> = (0..9).collect();
    agree_at(&SIZES, &ns, |n| longest(*n), |n, o| longest_batched_with(n, o));
    let ns: Vec<u32> = (0..24).collect();
    agree_at(&SIZES, &ns, |n| with_an_iterator(*n), |n, o| with_an_iterator_batched_with(n, o));
    agree_at(
        &SIZES,
        &ns,
        |n| chosen(n * 9, 2),
        |n, o| chosen_batched_with(column(n, |n| n * 9), autobatch::same(2), o),
    );
    agree_at(&SIZES, &ns, |n| early(*n, 30), |n, o| early_batched_with(n, autobatch::same(30), o));
}

#[test]
fn halves_of_a_slice_are_borrowed() {
    let data: Vec<Vec<i32>> =
        (0..40).map(|i| (0..i).map(|k| (k * 7919 + i * 31) % 101 - 50).collect()).collect();
    for (name, options) in crate::common::executors() {
        let (mut batch, mut expected) = (data.clone(), data.clone());
        let values: Vec<i32> = expected.iter_mut().map(|v| halves(v)).collect();
        let out = halves_batched_with(&mut batch, &options).unwrap();
        assert_eq!((out.into_values().unwrap(), batch), (values, expected), "{name}");
    }
}

#[test]
fn borrowers_are_dropped_first() {
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let ns: Vec<usize> = (0..12).collect();
        let mut seen = vec![0; ns.len()];
        let options = Options::default().executor(executor);
        let out = guarded_batched_with(&ns, &mut seen, &options).unwrap();
        let faults: Vec<usize> = out.faults().iter().map(|f| f.member).collect();
        assert_eq!(faults, (7..12).collect::<Vec<_>>(), "{executor:?}");
        for n in 0..7 {
            let mut expected = 0;
            let _ = guarded(n, &mut expected);
            assert_eq!(seen[n], expected, "{executor:?}");
        }
    }
}

/// What methods of the library borrow from a local, kept across loops.
#[autobatch]
fn kept_parts(n: u64) -> (u64, String) {
    let text = format!("  {n},{} ", n / 2);
    let trimmed = text.trim();
    let words: Vec<&str> = trimmed.split(',').collect();
    let values = vec![n, 2, 3];
    let (first, last) = (values.first().unwrap(), values.last());
    let mut map = std::collections::BTreeMap::new();
    map.insert(n, 5);
    let found = map.get(&n);
    let mut rest = values.iter().rev().peekable();
    let mut x = n;
    while x < 100 {
        x = x * 2 + first + last.copied().unwrap_or(0) + found.copied().unwrap_or(1);
        if let Some(next) = rest.peek() {
            x += **next + words.len() as u64;
            while !x.is_multiple_of(7) {
                x += 1;
            }
        }
        rest.next();
    }
    (x, trimmed.to_uppercase() + words[0])
}

/// What is borrowed from is moved where the function ends.
#[autobatch]
fn triangle(n: usize) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for i in 0..n {
        let mut row = vec![1; i + 1];
        if let Some(previous) = rows.last() {
            for k in 1..i {
                row[k] = previous[k - 1] + previous[k];
            }
        }
        if row.len() > 9 {
            return rows;
        }
        rows.push(row);
    }
    rows
}

#[derive(Clone, Debug, PartialEq)]
struct Particle {
    place: [f64; 2],
    speed: [f64; 2],
    name: String,
}

#[autobatch]
fn bounces(mut p: Particle, steps: u32) -> Result<(Particle, u32), String> {
    let mut count = 0;
    for step in 0..steps {
        for k in 0..2 {
            let (x, v) = (&mut p.place[k], &mut p.speed[k]);
            *x += *v * 0.1;
            while *x > 1.0 || *x < 0.0 {
                *x = if *x > 1.0 { 2.0 - *x } else { -*x };
                *v = -*v;
                count += 1;
            }
        }
        if count > 5 {
            return Err(format!("{} at {step}", p.name));
        }
    }
    Ok((p, count))
}

#[test]
fn parts_are_borrowed_across_loops() {
    let numbers: Vec<u64> = (0..20).collect();
    agree_at(&SIZES, &numbers, |n| kept_parts(*n), |b, o| kept_parts_batched_with(b, o));
    let sizes: Vec<usize> = (0..12).collect();
    agree_at(&SIZES, &sizes, |n| triangle(*n), |b, o| triangle_batched_with(b, o));
    let particle = |i: u32| {
        let x = f64::from(i % 7) / 7.0;
        Particle { place: [x, 1.0 - x], speed: [x * 9.0 - 2.0, 1.5], name: format!("p{i}") }
    };
    let inputs: Vec<(Particle, u32)> = (0..30).map(|i| (particle(i), i % 11)).collect();
    for (name, options) in crate::common::executors() {
        let (particles, steps) = (column(&inputs, |i| i.0.clone()), column(&inputs, |i| i.1));
        let outcome = bounces_batched_with(particles, steps, &options).expect("columns of one length");
        let expected: Vec<_> = inputs.iter().map(|(p, n)| bounces(p.clone(), *n)).collect();
        assert_eq!(outcome.into_values().expect("no faults"), expected, "{name}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Suit {
    Plain(u32, u32),
    Trump,
}

#[derive(Clone, Copy)]
struct Card {
    value: u32,
    suit: Suit,
}

/// Values of the user's that are copied while they are borrowed: parameters, annotated or made by their type's name.
#[autobatch]
mod copied {
    use super::{Card, Suit};

    pub(crate) fn play(n: u32, hand: (u32, u32, Suit), mut again: bool) -> u32 {
        if n == 0 {
            return hand.1;
        }
        let mut sum = 0;
        for i in 0..n % 4 {
            let (low, high, suit) = &hand;
            let mut k = 0;
            while k < 2 && again {
                k += 1;
                let flag = &mut again;
                *flag = *high <= k + i;
            }
            if again {
                sum += play(n - 1, hand, false);
            }
            sum += *low + if *suit == Suit::Trump { 5 } else { k };
        }
        sum
    }

    pub(crate) fn made(n: u32, again: bool) -> u32 {
        let card = Card { value: n, suit: Suit::Trump };
        let suit: Suit = Suit::Plain(1, n);
        if n == 0 {
            return worth(card);
        }
        let (first, second) = (&card, &suit);
        let mut sum = 0;
        if again {
            sum += made(n - 1, false) + worth(card) + rank(suit);
        }
        sum += first.value;
        sum += if *second == Suit::Trump { 2 } else { made(n / 2, !again) };
        sum + u32::from(card.suit == *second)
    }

    fn worth(card: Card) -> u32 {
        card.value + rank(card.suit)
    }

    fn rank(suit: Suit) -> u32 {
        match suit {
            Suit::Plain(a, b) => a + b,
            Suit::Trump => 9,
        }
    }
}

#[test]
fn borrowed_values_may_be_copied() {
    let inputs: Vec<(u32, bool)> = (0..34).map(|i| (i % 7, i % 3 == 0)).collect();
    let hand = |n: u32| (n % 3, n % 5, if n.is_multiple_of(2) { Suit::Trump } else { Suit::Plain(n, 1) });
    agree_at(
        &SIZES,
        &inputs,
        |&(n, again)| copied::play(n, hand(n), again),
        |b, o| copied::play_batched_with(column(b, |x| x.0), column(b, |x| hand(x.0)), column(b, |x| x.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |&(n, again)| copied::made(n, again),
        |b, o| copied::made_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
}

/// A method borrows a part of a local, round by round: types of patterns are known in modules with methods.
#[autobatch]
mod parts_for_methods {
    use super::{Card, Suit};

    pub(crate) fn deal(n: u32, suit: Suit) -> u32 {
        if n == 0 {
            return 3;
        }
        let mut held: Suit = suit;
        match &mut held {
            Suit::Plain(p, q) if *q != 4 => {
                for k in 0..2 {
                    let card = Card { value: n + k, suit };
                    *q = card.raise(n / 2, p) % 100;
                }
                *q += 1;
            }
            _ => {}
        }
        match held {
            Suit::Plain(a, b) => a * 3 + b,
            Suit::Trump => 1,
        }
    }

    impl Card {
        pub(crate) fn raise(self, n: u32, p: &mut u32) -> u32 {
            *p = (*p + self.value) % 50;
            if n < 2 { *p } else { deal(n / 2, self.suit) + *p }
        }
    }
}

#[test]
fn methods_borrow_parts() {
    let suits: Vec<(u32, Suit)> =
        (0..30).map(|i| (i % 11, if i % 4 == 3 { Suit::Trump } else { Suit::Plain(i, i % 5) })).collect();
    agree_at(
        &SIZES,
        &suits,
        |&(n, suit)| parts_for_methods::deal(n, suit),
        |b, o| parts_for_methods::deal_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
}

/// A type whose name has no small letter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum C0 {
    R(u32),
    G,
}

#[autobatch]
fn colours(n: u32) -> u32 {
    if n == 0 {
        return 1;
    }
    let mut colour = C0::R(n);
    if let C0::R(shade) = &mut colour {
        *shade += colours(n / 2);
        if *shade > 20 {
            *shade = colours(n / 3);
        }
    }
    let kept = if n.is_multiple_of(2) { colour } else { C0::G };
    match (kept, colour) {
        (C0::R(x), C0::R(y)) => x * 3 + y + colours(n / 4),
        (_, C0::R(y)) => y + 1,
        _ => 7,
    }
}

#[test]
fn types_in_capitals() {
    let ns: Vec<u32> = (0..60).collect();
    agree_at(&SIZES, &ns, |n| colours(*n), |n, o| colours_batched_with(n, o));
}
