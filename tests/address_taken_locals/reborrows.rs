//! `&*owner` borrows the local, where that is a `Vec`, a `Box`, a `String` or an `Rc`: across loops and calls too.

#![allow(clippy::explicit_auto_deref, clippy::borrow_deref_ref, clippy::redundant_slicing)] // written as users write

use std::rc::Rc;

use crate::common::{agree_at, column};
use autobatch::autobatch;

#[derive(Clone, Debug)]
struct M {
    v: Vec<u32>,
}

impl M {
    fn parts(&self) -> &[u32] {
        &self.v
    }
}

#[autobatch]
fn slices(#[each] v: &[u32], d: u32) -> u32 {
    let kept: Vec<M> = v.iter().map(|x| M { v: vec![*x % 3; (*x % 3) as usize] }).collect();
    if d == 0 {
        return kept.len() as u32;
    }
    match &*kept {
        [] => 1,
        [m] => slices(m.parts(), d - 1) + 1,
        [m, .., n] => slices(m.parts(), d - 1) * 5 + slices(n.parts(), d / 2),
    }
}

#[autobatch]
fn boxed(#[each] m: &M, d: u32) -> u32 {
    let mut b = Box::new(m.clone());
    if d == 0 {
        return b.v.len() as u32;
    }
    b.v.push(d);
    let inner = boxed(&*b, d - 1);
    let shared = Rc::new(*b);
    inner + boxed(&*shared, d / 2) + shared.v.iter().sum::<u32>()
}

#[autobatch]
fn changed(state: &mut Vec<u32>, d: u32) -> u32 {
    let mut b = Box::new(state.clone());
    b.push(d);
    let below = if d > 0 { changed(&mut *b, d - 1) } else { 1 };
    state.push(b.len() as u32);
    below + b.iter().sum::<u32>()
}

#[autobatch]
fn iterated(v: Vec<u32>, d: u32) -> u32 {
    let mut kept: Vec<u32> = v.iter().map(|x| x % 9).collect();
    let mut sum = 0;
    for x in &*kept {
        sum += if d > 0 { iterated(vec![*x, d], d - 1) } else { 3 };
    }
    for x in (*kept).iter().rev() {
        sum = sum / 2 + if d > 1 { iterated(vec![*x], d - 2) } else { *x };
    }
    for x in &mut *kept {
        *x += if d > 1 { iterated(vec![*x], d / 3) } else { 4 };
    }
    if let [first, second, ..] = &mut *kept {
        *first += 1;
        sum += if d > 0 { iterated(vec![*second], d - 1) } else { 1 };
        *second += sum % 7;
    }
    let part = &*kept;
    let mut i = 0;
    while i < part.len() {
        sum += part[i] * i as u32;
        i += 1;
    }
    sum % 1_000_003 + part.len() as u32
}

#[autobatch]
fn texts(n: u32, d: u32) -> u32 {
    let text = n.to_string();
    let shared = Rc::new(text.clone());
    if d == 0 {
        return n;
    }
    let first = match &*text {
        "1" => 4 + texts(n + 3, d - 1),
        "22" => 5,
        other => texts(other.len() as u32, d - 1) + other.len() as u32,
    };
    first * 3
        + match &**shared {
            "7" => texts(8, d / 2),
            other => texts(n / 2, d / 2) + other.len() as u32,
        }
}

struct Node {
    value: u32,
    next: Option<Box<Node>>,
}

fn chain(n: u32) -> Option<Box<Node>> {
    (0..n).fold(None, |next, value| Some(Box::new(Node { value, next })))
}

fn total(node: &Node) -> u32 {
    node.value + node.next.as_deref().map_or(0, total)
}

/// Bound by a pattern, of a value.
#[autobatch]
fn owned_by_a_pattern(n: u32, d: u32) -> u32 {
    let mut list = chain(n);
    let mut sum = 0;
    while let Some(node) = list {
        sum += total(&*node) + if d > 0 { owned_by_a_pattern(node.value % 3, d - 1) } else { 1 };
        list = node.next;
    }
    sum
}

/// A reference through which nothing is owned is handed on as before.
#[autobatch]
fn longest(text: &str, d: u32) -> &str {
    let rest = text.trim_start_matches(|c| c != ' ').trim_start();
    if d == 0 || rest.is_empty() { text } else { longest(&*rest, d - 1) }
}

#[test]
fn dereferenced_owners_stay_where_they_are() {
    let inputs: Vec<(Vec<u32>, u32)> =
        (0..20).map(|i| ((0..i % 5).map(|k| k * i).collect(), i % 4)).collect();
    let sizes = [0, 1, 97];
    let m = |i: &(Vec<u32>, u32)| M { v: i.0.clone() };
    agree_at(
        &sizes,
        &inputs,
        |i| slices(&i.0, i.1),
        |b, o| slices_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &sizes,
        &inputs,
        |i| boxed(&m(i), i.1),
        |b, o| boxed_batched_with(&column(b, m), column(b, |i| i.1), o),
    );
    agree_at(
        &sizes,
        &inputs,
        |i| changed(&mut i.0.clone(), i.1),
        |b, o| changed_batched_with(&mut column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &sizes,
        &inputs,
        |i| iterated(i.0.clone(), i.1),
        |b, o| iterated_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    let numbers: Vec<(u32, u32)> = (0..40).map(|i| (i * 7 % 30, i % 4)).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(
                &sizes,
                &numbers,
                |i| $scalar(i.0, i.1),
                |b, o| $batched(column(b, |i| i.0), column(b, |i| i.1), o),
            );
        )*};
    }
    check!(texts texts_batched_with owned_by_a_pattern owned_by_a_pattern_batched_with);
}

#[test]
fn references_are_handed_on() {
    let inputs: Vec<(&str, u32)> = (0..9).map(|i| ("one two  three four", i)).collect();
    agree_at(
        &[1, 97],
        &inputs,
        |i| longest(i.0, i.1),
        |b, o| longest_batched_with("one two  three four", column(b, |i| i.1), o),
    );
}
