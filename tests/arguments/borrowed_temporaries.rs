//! An argument of a batched call borrows from a temporary, or from a part that a pattern has bound of a local or a `&mut`.

#![allow(clippy::ptr_arg, clippy::useless_vec)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

/// Methods make a board, borrow a part of one, borrow it exclusively.
mod grids {
    use super::autobatch;

    #[derive(Clone, Debug)]
    pub(crate) struct Grid {
        w: usize,
        cells: Vec<i32>,
    }
    impl Grid {
        fn new(w: usize) -> Grid {
            Grid { w, cells: vec![0; w * w] }
        }
        fn with(&self, i: usize, v: i32) -> Grid {
            let mut g = self.clone();
            let n = g.cells.len();
            g.cells[i % n] += v;
            g
        }
        fn row(&self, r: usize) -> &[i32] {
            &self.cells[r * self.w..(r + 1) * self.w]
        }
        fn row_mut(&mut self, r: usize) -> &mut [i32] {
            let w = self.w;
            &mut self.cells[r * w..(r + 1) * w]
        }
        fn cell_mut(&mut self, r: usize, c: usize) -> &mut i32 {
            &mut self.cells[r * self.w + c]
        }
        fn cells_mut(&mut self) -> &mut Vec<i32> {
            &mut self.cells
        }
        fn total(&self) -> i32 {
            self.cells.iter().sum()
        }
        fn as_cells(&self) -> &Vec<i32> {
            &self.cells
        }
    }
    #[autobatch]
    pub(crate) mod m {
        use super::Grid;

        pub(crate) fn run(n: u32, w: usize) -> i32 {
            let mut g = Grid::new(w);
            let mut acc = 0;
            for k in 0..n {
                acc += sum(g.with(k as usize, k as i32).row(k as usize % w));
                acc += sum(g.row(1));
                acc += sum(&g.row(0)[1..]);
                bump(g.row_mut(k as usize % w), k as i32);
                bump(&mut g.row_mut(1)[..1], 2);
                inc(g.cell_mut(0, 1), 5);
                inc(&mut g.cells_mut()[2], 7);
                inc(&mut g.cells[3], 8);
                acc += deep(&g.with(3, 4), 2)
                    + deep(&g, 1)
                    + sum(g.as_cells())
                    + sum(&g.with(1, 2).cells)
                    + sum(g.with(1, 5).as_cells());
                push(g.cells_mut(), acc);
                g.cells.pop();
                acc %= 1000;
            }
            acc + g.total()
        }
        fn sum(xs: &[i32]) -> i32 {
            match xs {
                [] => 0,
                [a, rest @ ..] => a + sum(rest),
            }
        }
        fn bump(xs: &mut [i32], by: i32) {
            if let [a, rest @ ..] = xs {
                *a += by;
                bump(rest, by + 1);
            }
        }
        fn inc(x: &mut i32, k: u32) {
            if k > 0 {
                *x += 1;
                inc(x, k - 1);
            }
        }
        fn deep(g: &Grid, d: u32) -> i32 {
            if d == 0 {
                g.total()
            } else {
                deep(&g.with(d as usize, 1), d - 1) - deep(&g.with(1, -1), d - 1) / 2
            }
        }
        fn push(v: &mut Vec<i32>, x: i32) {
            if x > 100 { push(v, x / 2) } else { v.push(x) }
        }
    }
}

#[test]
fn method_results_are_borrowed() {
    let inputs = [(3u32, 2usize), (0, 3), (5, 3), (7, 4)];
    agree_at(
        &SIZES,
        &inputs,
        |i| grids::m::run(i.0, i.1),
        |b, o| {
            grids::m::run_batched_with(
                crate::common::column(b, |i| i.0),
                crate::common::column(b, |i| i.1),
                o,
            )
        },
    );
}

/// Slices and strings of all kinds of temporaries.
mod slices {
    use super::autobatch;

    #[autobatch]
    pub(crate) mod m {
        pub(crate) fn run(n: u64) -> u64 {
            let v: Vec<u64> = (0..n).collect();
            let a = total(v.iter().map(|x| x * x).collect::<Vec<_>>().as_slice());
            let b = total(&[n, n + 1][..]);
            let c = total(&[n, a, b]);
            let d = total(&vec![n; 3]);
            let e = digits(&format!("{}{}", n, a));
            let f = digits(&n.to_string()) + digits(n.to_string().as_str()) + digits(&n.to_string()[..1]);
            let g = total(&v[v.len() / 2..]) + total(v.as_slice()) + total(v.get(1..).unwrap_or(&[]));
            let h = total(&(0..n).filter(|x| x % 2 == 0).collect::<Vec<u64>>());
            let i = total(v.chunks(2).next().unwrap_or_default());
            let j = total(if n & 1 == 0 { &v } else { &[] });
            let k = total(match v.first() {
                Some(_) => &v[1..],
                None => &v,
            });
            let l = total({
                let m = v.len() / 3;
                &v[m..]
            });
            let s = String::from("12345");
            let o = digits(s.trim_start_matches('1'))
                + digits(s.strip_prefix("12").unwrap_or(&s))
                + digits(s.split('3').nth(1).unwrap());
            a + b * 2 + c * 3 + d + e + f + g + h + i + j + k + l + o
        }
        fn total(xs: &[u64]) -> u64 {
            if xs.len() <= 1 {
                xs.first().copied().unwrap_or(0)
            } else {
                let (a, b) = xs.split_at(xs.len() / 2);
                total(a) + total(b)
            }
        }
        fn digits(s: &str) -> u64 {
            match s.chars().next() {
                None => 0,
                Some(c) => c.to_digit(10).map_or(0, u64::from) + digits(&s[c.len_utf8()..]),
            }
        }
    }
}

#[test]
fn slices_of_temporaries_are_borrowed() {
    let inputs: Vec<u64> = (0..12).collect();
    agree_at(&SIZES, &inputs, |i| slices::m::run(*i), |b, o| slices::m::run_batched_with(b, o));
}

/// A part of a local that a pattern binds, given to a call.
mod roots {
    use super::autobatch;

    #[derive(Clone, Debug, Default)]
    pub(crate) struct Node {
        key: i32,
        left: Option<Box<Node>>,
    }
    #[autobatch]
    impl Node {
        pub(crate) fn of(n: i32) -> i32 {
            let root: Option<Box<Node>> =
                Some(Box::new(Node { key: n, left: Some(Box::new(Node { key: n * 2, left: None })) }));
            let mut out = n;
            if let Some(r) = &root {
                out += r.walk(2);
            }
            if let Some(r) = root.as_ref() {
                out += r.walk(3);
            }
            match &root {
                Some(r) if n > 3 => out += Self::walk(r, 4),
                Some(r) => out -= r.walk(1),
                None => {}
            }
            if let Some(Node { left: Some(l), .. }) = root.as_deref() {
                out += l.walk(7);
            }
            let Some(r) = &root else { return 3 };
            out + Self::walk(r, 9)
        }
        fn walk(&self, k: i32) -> i32 {
            if let Some(l) = &self.left { l.walk(k) + k } else { self.key + k }
        }
    }
}

#[test]
fn bound_parts_are_given_to_calls() {
    let inputs: Vec<i32> = (0..12).collect();
    agree_at(&SIZES, &inputs, |i| roots::Node::of(*i), |b, o| roots::Node::of_batched_with(b, o));
}

/// Several arms, with guards, each lending another part of a `&mut`.
mod guards {
    use super::autobatch;

    #[derive(Clone, Debug, Default)]
    pub(crate) struct Node {
        key: i32,
        left: Option<Box<Node>>,
        right: Option<Box<Node>>,
    }
    #[autobatch]
    pub(crate) mod m {
        use super::Node;

        pub(crate) fn run(n: i32) -> Vec<i32> {
            let mut t = None;
            let mut out = vec![];
            for i in 0..n {
                insert(&mut t, (i * 37 + 5) % 17);
                out.push(i32::from(bump(&mut t, i)));
            }
            walk(&t, &mut out);
            out
        }
        fn insert(slot: &mut Option<Box<Node>>, key: i32) {
            match slot {
                None => *slot = Some(Box::new(Node { key, ..Default::default() })),
                Some(n) if key < n.key => insert(&mut n.left, key),
                Some(n) if key > n.key => insert(&mut n.right, key),
                Some(_) => {}
            }
        }
        fn bump(slot: &mut Option<Box<Node>>, key: i32) -> bool {
            match slot {
                Some(n) if key < n.key => {
                    n.key += 0;
                    bump(&mut n.left, key)
                }
                Some(n) if key > n.key => bump(&mut n.right, key),
                Some(n) => {
                    n.key += 100;
                    true
                }
                None => {
                    *slot = None;
                    false
                }
            }
        }
        fn walk(n: &Option<Box<Node>>, out: &mut Vec<i32>) {
            if let Some(n) = n {
                walk(&n.left, out);
                out.push(n.key);
                walk(&n.right, out);
            }
        }
    }
}

#[test]
fn guarded_arms_borrow_parts_of_a_reference() {
    let inputs: Vec<i32> = (0..12).collect();
    agree_at(&SIZES, &inputs, |i| guards::m::run(*i), |b, o| guards::m::run_batched_with(b, o));
}

/// A value that holds a borrow of a local is no argument of a batched call: those calls run as scalar code.
mod views {
    use super::autobatch;

    #[autobatch]
    pub(crate) mod m {
        pub(crate) fn run(n: u64) -> u64 {
            let v: Vec<u64> = (0..n + 3).collect();
            let w = vec![v.clone(), v[1..].to_vec()];
            let lengths = slices(&w.iter().map(|r| r.as_slice()).collect::<Vec<_>>());
            stepped(&mut v.iter()) + refs(&v.iter().collect::<Vec<_>>()) * 3 + refs(&[&v[0], &v[1]]) + lengths
        }

        fn stepped(i: &mut std::slice::Iter<'_, u64>) -> u64 {
            match i.next() {
                Some(x) => x + stepped(i),
                None => 1,
            }
        }

        fn refs(v: &[&u64]) -> u64 {
            match v {
                [] => 0,
                [a, r @ ..] => **a + refs(r),
            }
        }

        fn slices(v: &[&[u64]]) -> u64 {
            match v {
                [] => 0,
                [a, r @ ..] => a.len() as u64 + slices(r),
            }
        }
    }
}

#[test]
fn holders_of_a_borrow_fall_back() {
    let inputs: Vec<u64> = (0..12).collect();
    agree_at(&SIZES, &inputs, |i| views::m::run(*i), |b, o| views::m::run_batched_with(b, o));
    assert_eq!(views::m::run_batched::program().notes.len(), 4);
}

/// Closures and patterns in an argument bind names of their own, which are no locals to borrow.
mod own_names {
    use super::autobatch;

    pub(crate) struct Table {
        pub(crate) rows: Vec<Vec<i64>>,
    }

    impl Table {
        fn row(&self, i: i64) -> Option<&Vec<i64>> {
            self.rows.get(i as usize)
        }
    }

    #[autobatch]
    pub(crate) mod m {
        use super::Table;

        pub(crate) fn run(shared: &Table, n: i64) -> i64 {
            let own = Table { rows: vec![(0..n + 2).collect()] };
            let first = sum(own.rows.first().map(|row| &row[..]).unwrap_or(&[]))
                + sum(shared.rows.last().map(|row| &row[1..]).unwrap_or(&[]))
                + sum(match shared.row(n) {
                    Some(row) => &row[..],
                    None => &[],
                })
                + sum(if let Some(row) = shared.row(n / 2) { &row[1..] } else { &[] })
                + sum(match own.row(n - 1) {
                    Some(row) => &row[..],
                    None => &[],
                })
                + sum(if let Some(row) = &own.rows.first() { &row[1..] } else { &[] });
            if let Some(row) = own.row(0) { first + sum(row) * 2 + sum(row) } else { first }
        }

        fn sum(xs: &[i64]) -> i64 {
            if let [a, .., b] = xs { a + b + sum(&xs[1..xs.len() - 1]) } else { xs.iter().sum() }
        }
    }
}

#[test]
fn names_bound_in_the_argument_are_no_locals() {
    use own_names::m;
    let table = own_names::Table { rows: vec![vec![1, 2, 3], vec![5], vec![7, 8, 9, 10]] };
    let inputs: Vec<i64> = (0..6).collect();
    agree_at(&SIZES, &inputs, |i| m::run(&table, *i), |b, o| m::run_batched_with(&table, b, o));
}

/// Loops over what a method makes.
#[autobatch]
mod moves {
    #[derive(Clone, Debug)]
    pub(super) struct State {
        pub(super) bag: Vec<u32>,
        pub(super) score: u32,
    }

    impl State {
        fn moves(&self) -> Vec<State> {
            (0..self.bag.len()).map(|i| self.taken(i)).collect()
        }

        fn taken(&self, i: usize) -> State {
            let mut next = self.clone();
            next.score += next.bag.remove(i) * (next.bag.len() as u32 + 1);
            next
        }
    }

    pub(super) fn chained(#[each] s: &State, depth: u32) -> u32 {
        if depth == 0 {
            return s.score;
        }
        s.moves().iter().map(|next| chained(next, depth - 1)).max().unwrap_or(s.score)
    }

    pub(super) fn iterated(#[each] s: &State, depth: u32) -> u32 {
        let mut best = s.score;
        for (i, next) in s.moves().iter().enumerate().skip(1) {
            if depth > 0 {
                best = best.max(iterated(next, depth - 1) + i as u32);
            }
        }
        best
    }

    pub(super) fn referred(#[each] s: &State, depth: u32) -> u32 {
        let mut sum = s.score % 7;
        'all: for next in &s.moves()[..s.bag.len() / 2] {
            for _ in 0..depth.min(2) {
                sum += referred(next, depth - 1);
                if sum % 11 == 5 {
                    break 'all;
                }
            }
        }
        sum
    }

    pub(super) fn changed(s: State, depth: u32) -> u32 {
        let mut sum = s.score % 5;
        for next in s.moves().iter_mut() {
            next.score += depth;
            if depth > 0 {
                sum += changed(next.clone(), depth - 1);
            }
        }
        sum
    }

    pub(super) fn moved(s: State, depth: u32) -> u32 {
        if depth == 0 {
            return s.score;
        }
        let mut best = s.moves().into_iter().map(|next| moved(next, depth - 1)).max().unwrap_or(s.score);
        for next in s.moves() {
            best ^= moved(next, depth - 1);
        }
        let two = vec![s.clone(), s].iter().map(|next| moved(next.clone(), depth / 2)).sum::<u32>();
        best + two
    }
}

#[test]
fn loops_over_method_results() {
    let state = |i: u32| moves::State { bag: (0..i % 5).map(|k| k * i % 7).collect(), score: i };
    let inputs: Vec<(moves::State, u32)> = (0..12).map(|i| (state(i), i % 4)).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(
                &SIZES,
                &inputs,
                |i| moves::$scalar(&i.0, i.1),
                |b, o| moves::$batched(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
            );
        )*};
    }
    check!(chained chained_batched_with iterated iterated_batched_with referred referred_batched_with);
    agree_at(
        &SIZES,
        &inputs,
        |i| moves::changed(i.0.clone(), i.1),
        |b, o| moves::changed_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |i| moves::moved(i.0.clone(), i.1),
        |b, o| moves::moved_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
}
