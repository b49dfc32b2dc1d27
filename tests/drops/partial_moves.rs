//! A part of a local is moved, and other parts are used later, across loops and calls.

#![allow(clippy::while_let_on_iterator, clippy::only_used_in_recursion, clippy::manual_is_multiple_of)] // written as users write

use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::{Bits, agree_at, column, executors, is_per_member};
use autobatch::autobatch;

#[derive(Clone, Debug)]
struct P {
    a: Vec<u32>,
    b: u32,
}
#[autobatch]
fn part_moved(p: P, d: u32) -> u32 {
    let mut t = 0;
    let a = p.a;
    for k in a {
        t += if k > d { part_moved(P { a: vec![k - 1], b: k }, d) } else { 1 };
    }
    t + p.b
}
#[autobatch]
fn part_handed_on(p: P, d: u32) -> u32 {
    let t = if d > 0 { part_handed_on(P { a: p.a, b: 3 }, d - 1) } else { 1 };
    t + p.b
}
#[autobatch]
fn part_kept(p: P, d: u32) -> u32 {
    let mut t = 0;
    let a = p.a;
    let mut k = 0;
    while k < d {
        t += a[k as usize];
        k += 1;
        if t > 5 {
            t *= p.b;
        }
    }
    t + p.b
}
#[autobatch]
fn part_iterated(p: P, d: u32) -> u32 {
    let mut t = 0;
    for k in p.a {
        t += if k > d { 3 } else { 1 };
        if t > 8 {
            break;
        }
    }
    t + p.b
}
#[autobatch]
fn part_of_a_tuple(p: (Vec<u32>, u32), d: u32) -> u32 {
    let mut t = 0;
    for k in p.0 {
        t += if k > d { 3 } else { 1 };
        if t > 8 {
            break;
        }
    }
    t + p.1
}
#[autobatch]
fn part_made_an_iterator(p: (Vec<u32>, u32), d: u32) -> u32 {
    let mut t = 0;
    let mut it = p.0.into_iter();
    while let Some(k) = it.next() {
        t += if k > d { 3 } else { 1 };
        if t > 8 {
            break;
        }
    }
    t + p.1
}
#[derive(Clone, Debug, Default)]
struct Node {
    v: i64,
    opt: Option<Box<Node>>,
    kids: Vec<Node>,
    name: String,
}
#[autobatch]
impl Node {
    fn doubled(self, x: i64) -> i64 {
        let mut t = x;
        for k in self.kids {
            t = 2 * t + k.doubled(x);
        }
        t + self.v
    }
    fn summed(self, x: i64) -> i64 {
        self.kids.into_iter().map(|k| k.summed(x)).sum::<i64>() + self.v
    }
    fn changed(mut self, x: i64) -> (i64, String) {
        self.v += 1;
        let mut t = x;
        let before = self.total();
        if let Some(k) = self.opt {
            let (a, s) = k.changed(x + 1);
            t += a;
            self.name.push_str(&s);
            self.v += 3;
        }
        for k in self.kids {
            t += k.changed(x).0;
        }
        (t + self.v * before, format!("{}/{}", self.name, self.v))
    }
    fn total(&self) -> i64 {
        self.kids.iter().map(|k| k.v).sum()
    }
}
struct Job {
    items: Vec<u32>,
    weight: u32,
    after: Vec<Job>,
}
#[autobatch]
fn jobs(start: u32) -> u32 {
    let mut stack = vec![Job {
        items: vec![start, 2],
        weight: 3,
        after: vec![Job { items: vec![7; start as usize], weight: 2, after: vec![] }],
    }];
    let mut t = 0;
    while let Some(job) = stack.pop() {
        for k in job.items {
            t += k * job.weight;
            if t > 500 {
                return t;
            }
        }
        stack.extend(job.after);
        t += job.weight;
    }
    t
}

static ALIVE: AtomicI64 = AtomicI64::new(0);
struct Counted(u32);
impl Counted {
    fn new(n: u32) -> Counted {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Counted(n)
    }
}
impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(self.0)
    }
}
impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}
#[derive(Clone)]
struct Held {
    parts: Vec<Counted>,
    one: Box<Counted>,
    _unused: Option<Box<Counted>>,
    n: u32,
}
/// Some parts are moved on one way only, one never.
#[autobatch]
fn dropped(held: Held, depth: u32) -> u32 {
    let mut total = 0;
    if depth > 0 {
        if held.n % 2 == 0 {
            let inner = Held {
                parts: held.parts,
                one: Box::new(Counted::new(held.n)),
                _unused: None,
                n: held.n / 2 + 1,
            };
            total += dropped(inner, depth - 1);
        } else {
            for part in held.parts {
                total += part.0 + dropped(held_of(part.0), depth - 1);
                assert!(total % 11 != 7, "seven");
            }
        }
    }
    total + held.one.0 + held.n
}
fn held_of(n: u32) -> Held {
    let parts = (0..n % 4).map(|k| Counted::new(k + n)).collect();
    Held { parts, one: Box::new(Counted::new(n)), _unused: Some(Box::new(Counted::new(n))), n }
}

fn node(depth: u32, v: i64) -> Node {
    let name = format!("n{v}");
    if depth == 0 {
        return Node { v, name, ..Node::default() };
    }
    let kid = |k: i64| node(depth - 1, v * 2 + k);
    Node { v, kids: (0..3).map(kid).collect(), opt: Some(Box::new(kid(5))), name }
}

/// The fields that `..` takes are parts.
#[autobatch]
fn updated(p: Wide, d: u32) -> u32 {
    let mut t = 0;
    for x in p.list {
        t += if x > d { updated(Wide { list: vec![x - 1], text: String::new(), ..p }, d) % 100 } else { 2 };
    }
    t + p.a + p.b
}
#[autobatch]
fn updated_behind(p: Wide, d: u32) -> u32 {
    let list = p.list;
    let q = Wide { list: vec![d], ..p };
    let t = if d > 0 { updated_behind(q, d - 1) } else { list.len() as u32 };
    t + list.iter().sum::<u32>() + p.b
}
#[autobatch]
fn updated_before(mut p: Wide, d: u32) -> u32 {
    p.a += d;
    let q = Wide { a: 7, ..p };
    let t = if d > 0 { updated_before(q, d - 1) } else { q.list.len() as u32 + q.b };
    p.list = vec![t];
    t + p.a + p.list[0]
}
/// A pattern takes some.
#[autobatch]
fn taken_apart(p: Wide, d: u32) -> u32 {
    let Wide { list, ref text, .. } = p;
    let mut t = 0;
    while t < d {
        t += 1 + text.len() as u32;
    }
    t + if d > 0 { taken_apart(Wide { list, ..Wide::default() }, d - 1) } else { list.len() as u32 } + p.b
}
/// A pattern that may not match.
#[autobatch]
fn matched(p: Wide, d: u32) -> u32 {
    let t = match p {
        Wide { list, b: 2, .. } => {
            let mut t = 0;
            for x in list {
                t += if x > d { matched(Wide { list: vec![x / 2], ..Wide::default() }, d) % 100 } else { 2 };
            }
            t
        }
        _ => 5,
    };
    t + p.b + p.text.len() as u32
}
#[autobatch]
fn matched_twice(p: Wide, d: u32) -> u32 {
    let mut t = 0;
    match p {
        Wide { list, b: 1, .. } => {
            let mut i = 0;
            while i < list.len() {
                t += list[i];
                i += 1 + t as usize % 2;
            }
        }
        Wide { text, .. } => t += text.len() as u32,
    }
    let u = if d > 0 { matched_twice(Wide { list: vec![d], ..Wide::default() }, d - 1) } else { p.b };
    t + u + p.a
}
/// The part is there where the pattern does not match.
#[autobatch]
fn matched_or_not(p: Wide, d: u32) -> u32 {
    if let Wide { list, b: 2, .. } = p {
        let mut t = 0;
        for x in list {
            t += if x > d {
                matched_or_not(Wide { list: vec![x / 2], ..Wide::default() }, d) % 100
            } else {
                2
            };
        }
        return t + p.a + p.text.len() as u32;
    }
    p.list.len() as u32 + p.a + p.text.len() as u32
}
#[autobatch]
fn matched_by_a_guard(p: Wide, d: u32) -> u32 {
    let mut t = 0;
    match p {
        Wide { list, b, .. } if b > 1 => {
            for x in list {
                t += if x > d {
                    matched_by_a_guard(Wide { list: vec![x / 2], ..Wide::default() }, d)
                } else {
                    2
                };
                t %= 100;
            }
            t += b;
        }
        _ => t += p.text.len() as u32,
    }
    t + p.b + p.a + p.text.len() as u32
}
#[autobatch]
fn matched_and_changed(p: Wide, d: u32) -> u32 {
    let mut p = p;
    p.a += 3;
    let mut t = match p {
        Wide { list, b: 0..=1, .. } => {
            let mut t = 0;
            for x in list {
                let inner = Wide { list: vec![x / 2], ..Wide::default() };
                t += if x > d { matched_and_changed(inner, d) % 100 } else { 2 };
            }
            t
        }
        Wide { text, .. } => text.len() as u32,
    };
    p.a += 1;
    p.list = vec![t];
    t += if d > 0 { matched_and_changed(Wide { list: vec![d], ..Wide::default() }, d - 1) } else { p.b };
    t + p.a + p.list[0]
}
#[autobatch]
impl Wide {
    fn of_itself(self, d: u32) -> u32 {
        let list = self.list;
        let t = if d > 0 { Self::of_itself(Self { list: vec![d, 3], ..self }, d - 1) } else { 1 };
        t + list.iter().sum::<u32>() + self.b
    }
}
#[derive(Clone, Debug, Default)]
struct Wide {
    a: u32,
    list: Vec<u32>,
    b: u32,
    text: String,
}

/// As if it stood in another file: what a macro makes is not seen.
macro_rules! elsewhere {
    ($($item:item)*) => { $($item)* };
}
elsewhere! {
    #[derive(Clone, Debug, Default)]
    struct Far {
        near: Near,
        b: u32,
        other: Near,
        range: u32,
    }
    #[derive(Clone, Debug, Default)]
    struct Near {
        v: Vec<u32>,
    }
    #[derive(Clone, Copy, Debug, Default)]
    struct Point {
        x: u32,
        y: u32,
    }
    fn far(n: u32) -> Far {
        Far { near: Near { v: vec![n; 2] }, b: n, other: Near::default(), range: n }
    }
    fn pair(n: u32) -> (Near, Vec<u32>, u32) {
        (Near { v: vec![n] }, vec![n; 3], n)
    }
    fn len(near: Near) -> u32 {
        near.v.len() as u32
    }
}
#[autobatch]
fn made_elsewhere(n: u32, d: u32) -> u32 {
    let p = far(n);
    let near = p.near;
    let t = if d > 0 { made_elsewhere(n / 2, d - 1) } else { 1 };
    t + len(near) + p.b + len(p.other)
}
#[autobatch]
fn tuple_made_elsewhere(n: u32, d: u32) -> u32 {
    let p = pair(n);
    let t = if d > 0 { tuple_made_elsewhere(p.1.len() as u32, d - 1) } else { 1 };
    let near = len(p.0);
    t + near + p.2 + if d > 1 { tuple_made_elsewhere(p.1.len() as u32, d / 2) } else { 1 }
}
#[autobatch]
fn of_a_type_elsewhere(p: Far, d: u32) -> u32 {
    let near = p.near;
    let t = if d > 0 { of_a_type_elsewhere(far(p.b / 2), d - 1) } else { p.range };
    t + len(near) + p.b
}
struct Holds {
    near: Near,
    n: u32,
}
#[autobatch]
fn part_of_a_type_elsewhere(n: u32, d: u32) -> u32 {
    let held = Holds { near: Near::default(), n };
    let near = held.near;
    let t = if d > 0 { part_of_a_type_elsewhere(n / 3, d - 1) } else { 1 };
    t + len(near) + held.n
}
/// Those that are copied stay.
#[autobatch(strict)]
fn copied(p: Point, d: u32) -> u32 {
    let x = p.x;
    let t = if d > 0 { copied(Point { x: x / 2, ..p }, d - 1) } else { x };
    t + p.y + p.x
}

const SIZES: [usize; 3] = [0, 1, 67];

/// Parts that methods take, or only look at, in every order and on every way.
mod called {
    use super::*;

    #[autobatch]
    pub(super) fn looked_at_before(p: Wide, d: u32) -> u32 {
        let n = p.list.len() as u32;
        let mut t = 0;
        for x in p.list.into_iter() {
            let below = Wide { list: vec![x / 2], ..Wide::default() };
            t += if x > d { looked_at_before(below, d) % 50 } else { 1 };
        }
        t + n + p.b
    }

    #[autobatch]
    pub(super) fn in_both_branches(p: Wide, d: u32) -> u32 {
        let mut t = if d > 2 { p.list.into_iter().max() } else { p.list.into_iter().min() }.unwrap_or(9);
        while t > d {
            t -= 1;
        }
        t + p.b
    }

    #[autobatch]
    pub(super) fn before_a_return(mut p: Wide, d: u32) -> u32 {
        let mut k = d;
        while k < 20 {
            if k == 7 {
                return p.list.into_iter().sum::<u32>() + p.b;
            }
            p.list.push(k);
            k += 1 + p.b;
        }
        p.list.len() as u32 + p.text.len() as u32
    }

    #[autobatch]
    pub(super) fn before_a_break(mut p: Wide, d: u32) -> u32 {
        let mut k = d;
        while k < 20 {
            if k == 7 {
                k += p.list.into_iter().sum::<u32>();
                break;
            }
            p.list.push(k);
            k += 1 + p.b;
        }
        k + p.text.len() as u32
    }

    #[autobatch]
    pub(super) fn before_a_panic(p: Wide, d: u32) -> u32 {
        let mut k = d;
        while k < 20 {
            if k == 99 {
                drop(p.list.into_iter());
                panic!("never");
            }
            k += 1 + p.list.len() as u32;
        }
        k + p.b
    }

    #[autobatch]
    pub(super) fn filled_again(mut p: Wide, d: u32) -> u32 {
        let mut k = d;
        while k < 20 {
            k += p.list.into_iter().sum::<u32>() + 1;
            p.list = vec![k];
        }
        k + p.list.len() as u32 + p.text.len() as u32
    }

    #[autobatch]
    pub(super) fn parted_behind(p: Wide, d: u32) -> u32 {
        let mut k = d + p.list.into_iter().sum::<u32>();
        while k < 20 {
            k += 3;
        }
        let Wide { b, text, .. } = p;
        k + b + text.len() as u32
    }

    #[autobatch]
    pub(super) fn updated_behind(p: Wide, d: u32) -> u32 {
        let mut k = d + p.list.into_iter().sum::<u32>();
        while k < 20 {
            k += 3;
        }
        let p = Wide { list: vec![k], ..p };
        p.list[0] + p.a + p.text.len() as u32
    }

    /// Only looked at: it is batched.
    #[autobatch(strict)]
    pub(super) fn grown(mut p: Wide, mut d: u32) -> Vec<u32> {
        while d < 9 {
            p.list.push(d + p.b);
            d += 1 + p.b;
        }
        p.list
    }
}

#[test]
fn methods_move_or_read_parts() {
    use called::*;
    let inputs: Vec<u32> = (0..23).collect();
    let values = |i: u32| (0..9).map(|k| k * i % 5 + 1).collect::<Vec<u32>>();
    let wide = |i: u32| Wide { a: i, list: values(i), b: i % 3, text: i.to_string() };
    macro_rules! agree {
        ($($f:ident $batched:ident),*) => { $(agree_at(
            &SIZES,
            &inputs,
            |i| $f(wide(*i), i % 8),
            |b, o| $batched(column(b, |i| wide(*i)), column(b, |i| i % 8), o),
        );)* };
    }
    agree!(looked_at_before looked_at_before_batched_with, in_both_branches in_both_branches_batched_with);
    agree!(before_a_return before_a_return_batched_with, before_a_break before_a_break_batched_with);
    agree!(before_a_panic before_a_panic_batched_with, filled_again filled_again_batched_with);
    agree!(parted_behind parted_behind_batched_with, updated_behind updated_behind_batched_with);
    agree!(grown grown_batched_with);
}

#[test]
fn parts_of_values_are_moved() {
    let inputs: Vec<u32> = (0..9).collect();
    let values = |i: u32| (0..9).map(|k| k * i % 5 + 1).collect::<Vec<u32>>();
    let p = |i: u32| P { a: values(i), b: i };
    let q = |i: u32| (values(i), i);
    macro_rules! agree {
        ($of:ident $($f:ident $batched:ident),*) => { $(agree_at(
            &SIZES,
            &inputs,
            |i| $f($of(*i), i % 4 + 1),
            |b, o| $batched(column(b, |i| $of(*i)), column(b, |i| i % 4 + 1), o),
        );)* };
    }
    agree!(p part_moved part_moved_batched_with, part_handed_on part_handed_on_batched_with);
    agree!(p part_kept part_kept_batched_with, part_iterated part_iterated_batched_with);
    agree!(q part_of_a_tuple part_of_a_tuple_batched_with, part_made_an_iterator part_made_an_iterator_batched_with);
    let wide = |i: u32| Wide { a: i, list: values(i), b: i % 3, text: i.to_string() };
    let point = |i: u32| Point { x: i, y: i / 2 };
    agree!(wide updated updated_batched_with, updated_behind updated_behind_batched_with);
    agree!(wide updated_before updated_before_batched_with, taken_apart taken_apart_batched_with);
    agree!(wide matched matched_batched_with, matched_twice matched_twice_batched_with);
    agree!(wide matched_or_not matched_or_not_batched_with, matched_by_a_guard matched_by_a_guard_batched_with);
    agree!(wide matched_and_changed matched_and_changed_batched_with);
    // A column holds whole values, so what patterns take out of them has to be copied.
    let wides = |b: &[u32]| column(b, |i| wide(*i));
    assert!(is_per_member(&inputs, |b, o| matched_or_not_batched_with(wides(b), b, o)));
    assert!(is_per_member(&inputs, |b, o| matched_batched_with(wides(b), b, o)));
    let id = |i: u32| i;
    agree!(id made_elsewhere made_elsewhere_batched_with, tuple_made_elsewhere tuple_made_elsewhere_batched_with);
    agree!(id part_of_a_type_elsewhere part_of_a_type_elsewhere_batched_with);
    agree!(far of_a_type_elsewhere of_a_type_elsewhere_batched_with);
    agree!(point copied copied_batched_with);
    agree_at(
        &SIZES,
        &inputs,
        |i| wide(*i).of_itself(i % 4),
        |b, o| Wide::of_itself_batched_with(column(b, |i| wide(*i)), column(b, |i| i % 4), o),
    );
    agree_at(&SIZES, &inputs, |i| jobs(*i), |b, o| jobs_batched_with(b, o));
}

#[test]
fn parts_of_receivers_are_moved() {
    let inputs: Vec<i64> = (0..5).collect();
    let nodes = |b: &[i64]| column(b, |x| node(2, *x));
    agree_at(&SIZES, &inputs, |x| node(2, *x).doubled(*x), |b, o| Node::doubled_batched_with(nodes(b), b, o));
    agree_at(&SIZES, &inputs, |x| node(2, *x).summed(*x), |b, o| Node::summed_batched_with(nodes(b), b, o));
    agree_at(&SIZES, &inputs, |x| node(2, *x).changed(*x), |b, o| Node::changed_batched_with(nodes(b), b, o));
}

#[test]
fn parts_are_dropped_once() {
    let inputs: Vec<u32> = (0..40).collect();
    let scalar = |n: u32| std::panic::catch_unwind(|| dropped(held_of(n), n % 4)).ok();
    let want: Vec<Option<u32>> = inputs.iter().map(|n| scalar(*n)).collect();
    for (how, options) in executors() {
        for lanes in [1, 7, 64] {
            let held = column(&inputs, |n| held_of(*n));
            let depths = column(&inputs, |n| n % 4);
            let out = dropped_batched_with(held, depths, &options.clone().lanes(lanes)).unwrap();
            let got: Vec<Option<u32>> = out.into_results().into_iter().map(Result::ok).collect();
            assert!(got.same(&want), "{how}: {got:?} instead of {want:?}");
            assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "{how}, {lanes} lanes");
        }
    }
    assert!(want.iter().any(Option::is_none) && want.iter().any(Option::is_some));
}
