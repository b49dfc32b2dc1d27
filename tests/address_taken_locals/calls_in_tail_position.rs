//! A local stays where it is during every call that gets a borrow of it: also in tail position, and where paths meet on some
//! of which the local does not exist.

#![allow(clippy::ptr_arg)] // as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

#[autobatch]
fn at_the_end(#[each] x: &[u32], depth: u32) -> u32 {
    if depth == 0 {
        return x.iter().sum();
    }
    let kept: Vec<Vec<u32>> = (0..x.len() % 4)
        .map(|i| {
            let mut x = x.to_vec();
            x.push(i as u32 + depth);
            x
        })
        .collect();
    match kept.as_slice() {
        [] => 0,
        [one] => at_the_end(one, depth - 1),
        [one, .., last] => at_the_end(one, depth - 1) + 3 * at_the_end(last, depth - 1),
    }
}

#[autobatch]
fn where_paths_meet(#[each] x: &[u32], depth: u32) -> u32 {
    let mut found = 1;
    if depth > 0 {
        found = if x.len().is_multiple_of(3) {
            where_paths_meet(x, depth - 1)
        } else if x.len() % 3 == 1 {
            let kept = vec![x.iter().rev().copied().collect::<Vec<u32>>(), vec![depth; 2]];
            match kept.as_slice() {
                [first, ..] if depth.is_multiple_of(2) => where_paths_meet(first, depth - 1),
                [.., last] => where_paths_meet(last, depth - 1),
                [] => 0,
            }
        } else {
            depth
        };
    }
    found * 3 + x.first().copied().unwrap_or(7)
}

/// Every call that gets the borrow is the function's result.
#[autobatch]
fn only_at_the_end(#[each] x: &Vec<u32>, depth: u32) -> u32 {
    if depth == 0 {
        return x.iter().sum();
    }
    let kept = grown(x, depth);
    let one = &kept;
    only_at_the_end(one, depth - 1)
}

#[autobatch]
fn first_at_the_end(#[each] x: &Vec<u32>, depth: u32) -> u32 {
    let kept: Vec<Vec<u32>> = (0..depth % 4).map(|i| grown(x, i)).collect();
    match kept.first() {
        Some(one) => first_at_the_end(one, depth - 1),
        None => x.iter().sum(),
    }
}

/// What borrows is evaluated before something that is made for the same call.
#[autobatch]
fn before_what_is_made(#[each] x: &Vec<u32>, #[each] y: &[u32], depth: u32) -> u32 {
    if depth == 0 {
        return x.iter().chain(y).sum();
    }
    let kept = Kept(grown(x, depth));
    before_what_is_made(kept.whole(), grown(x, 2).as_slice(), depth - 1).wrapping_mul(3)
}

/// What is used on both sides of a call borrows from what itself borrows from a local.
#[autobatch]
fn through_another(#[each] x: &Vec<u32>, depth: u32) -> usize {
    if depth == 0 {
        return x.len();
    }
    let kept: Vec<Kept> = (0..depth % 3).map(|i| Kept(grown(x, i))).collect();
    match kept.first() {
        Some(one) => {
            let whole = one.whole();
            through_another(whole, depth - 1) * 2 + whole.len()
        }
        None => 0,
    }
}

/// A plain method gets the borrow; what it makes is of a type without a lifetime, and borrows nothing.
#[autobatch]
fn made_of_a_borrow(#[each] x: &Vec<u32>, depth: u32) -> usize {
    if depth == 0 {
        return x.len();
    }
    let next: Kept = {
        let kept = [Kept(grown(x, depth)), Kept(grown(x, 1))];
        match kept.as_slice() {
            [.., last] => {
                let length = Length(made_of_a_borrow(x, depth - 1));
                length.of(last.whole())
            }
            [] => Kept(Vec::new()),
        }
    };
    made_of_a_borrow(&next.0, depth / 2) * 2 + next.0.len()
}

struct Length(usize);

impl Length {
    fn of(self, list: &[u32]) -> Kept {
        Kept(list.iter().copied().take(self.0).collect())
    }
}

struct Kept(Vec<u32>);

impl Kept {
    fn whole(&self) -> &Vec<u32> {
        &self.0
    }
}

fn grown(x: &[u32], by: u32) -> Vec<u32> {
    x.iter().copied().chain([by]).collect()
}

/// The borrow ends with the call, whose result borrows nothing: behind it the local may be moved.
#[autobatch]
fn moved_behind(#[each] x: &Vec<u32>, depth: u32) -> u32 {
    if depth == 0 {
        return x.iter().sum();
    }
    let kept = Kept(grown(x, depth));
    let found = {
        let whole = kept.whole();
        if depth.is_multiple_of(2) { moved_behind(whole, depth - 1) } else { depth }
    };
    let list = if found.is_multiple_of(2) { kept.0 } else { vec![depth] };
    found.wrapping_mul(3) ^ moved_behind(&list, depth / 2)
}

#[test]
fn tail_calls_read_living_locals() {
    let inputs: Vec<(Vec<u32>, u32)> = (0..12).map(|i| ((0..i).collect(), i % 5)).collect();
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| only_at_the_end(&i.0, i.1),
        |b, o| only_at_the_end_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| first_at_the_end(&i.0, i.1),
        |b, o| first_at_the_end_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| moved_behind(&i.0, i.1),
        |b, o| moved_behind_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| through_another(&i.0, i.1),
        |b, o| through_another_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| made_of_a_borrow(&i.0, i.1),
        |b, o| made_of_a_borrow_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| before_what_is_made(&i.0, &i.0, i.1),
        |b, o| {
            let lists = column(b, |i| i.0.clone());
            before_what_is_made_batched_with(&lists, &lists, column(b, |i| i.1), o)
        },
    );
}

#[test]
fn locals_stay_during_calls() {
    let inputs: Vec<(Vec<u32>, u32)> = (0..12).map(|i| ((0..i).collect(), i % 4)).collect();
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| at_the_end(&i.0, i.1),
        |b, o| at_the_end_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| where_paths_meet(&i.0, i.1),
        |b, o| where_paths_meet_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
}

/// Moved on one path, borrowed on another.
#[autobatch]
fn on_some_paths(v: Vec<u32>, d: u32) -> u32 {
    let more: Vec<u32> = v.iter().map(|x| x + d).collect();
    let sum = match d % 4 {
        0 => v.into_iter().sum(),
        1 => {
            let part = &v[v.len() / 2..];
            let below = on_some_paths(part.to_vec(), d / 2);
            below + part.len() as u32
        }
        2 if v.len() > 2 => {
            let mut sum = 0;
            for x in &v {
                sum += on_some_paths(vec![*x; 2], d - 1);
            }
            drop(v);
            sum
        }
        _ => drop_all(v),
    };
    if d % 3 == 1 {
        let mut all = sum;
        for x in more.iter().filter(|x| **x % 2 == 0) {
            all += on_some_paths(vec![*x % 5], d - 1);
        }
        all
    } else {
        sum + drop_all(more)
    }
}

fn drop_all(v: Vec<u32>) -> u32 {
    v.len() as u32
}

/// What is borrowed on one path is used behind it.
#[autobatch]
fn borrowed_behind(v: Vec<u32>, d: u32) -> u32 {
    let mut kept: Vec<&[u32]> = Vec::new();
    let last = match d {
        0 => drop_all(v),
        _ => {
            let w = &v;
            for k in 0..w.len() {
                kept.push(&w[k..]);
                if borrowed_behind(vec![d], d - 1) > 9 {
                    break;
                }
            }
            3
        }
    };
    last + kept.iter().map(|part| part.iter().sum::<u32>()).sum::<u32>()
}

#[derive(Clone, Debug)]
struct Scaled {
    by: u32,
    all: Vec<u32>,
}

/// A number of what is borrowed is read.
#[autobatch]
fn with_fields(s: Scaled, d: u32) -> u32 {
    let mut sum = 0;
    for x in s.all.iter() {
        let mut k = *x;
        while k > 1 {
            sum += s.by;
            k /= 2;
        }
        if d > 0 {
            sum += with_fields(Scaled { by: s.by + x % 2, all: vec![*x; 2] }, d - 1);
        }
    }
    sum
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    step: u32,
    most: u32,
}

#[autobatch]
impl Pace {
    /// A closure captures the receiver.
    fn paced(self, n: u32) -> u32 {
        let mut sum = 0;
        for x in [1, 2, 3, 4, n].into_iter().skip(2).scan(1, |sofar, x| {
            let step = self.step;
            *sofar += step * x;
            Some(*sofar)
        }) {
            let mut k = 0;
            while k < x && sum < self.most {
                sum += self.step;
                k += 1;
            }
        }
        sum
    }
}

#[test]
fn borrows_on_some_paths_and_of_fields() {
    let inputs: Vec<(Vec<u32>, u32)> = (0..12).map(|i| ((0..i % 5).collect(), i % 7)).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(
                &[0, 1, 97],
                &inputs,
                |i| $scalar(i.0.clone(), i.1),
                |b, o| $batched(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
            );
        )*};
    }
    check!(on_some_paths on_some_paths_batched_with borrowed_behind borrowed_behind_batched_with);
    let scaled = |i: &(Vec<u32>, u32)| Scaled { by: i.1, all: i.0.clone() };
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| with_fields(scaled(i), i.1 % 3),
        |b, o| with_fields_batched_with(column(b, scaled), column(b, |i| i.1 % 3), o),
    );
    let pace = |i: &(Vec<u32>, u32)| Pace { step: i.1, most: 40 * i.1 };
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| pace(i).paced(i.1),
        |b, o| Pace::paced_batched_with(column(b, pace), column(b, |i| i.1), o),
    );
}
