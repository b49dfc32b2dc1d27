//! An operand borrows a local, and later operands make batched calls: `groups.entry(k).or_default().push(f(x))`.

#![allow(
    clippy::iter_nth,
    clippy::swap_with_temporary,
    clippy::box_collection,
    clippy::modulo_one,
    clippy::useless_vec,
    clippy::explicit_auto_deref
)] // written as users write

use std::collections::BTreeMap;

use crate::common::{agree_at, column, executors};
use autobatch::autobatch;

#[autobatch]
fn grouped(n: u32, d: u32) -> u32 {
    let mut acc: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    if d > 0 {
        acc.entry(n).or_default().push(grouped(n, d - 1));
    }
    acc.len() as u32
}
#[autobatch]
fn last_row(n: u32, d: u32) -> u32 {
    let mut acc = vec![vec![n]];
    if d > 0 {
        acc.last_mut().unwrap().push(last_row(n, d - 1));
    }
    acc[0].len() as u32
}
#[autobatch]
fn counted(n: u32, d: u32) -> u32 {
    let mut acc: BTreeMap<u32, u32> = BTreeMap::new();
    if d > 0 {
        *acc.entry(n).or_insert(0) += counted(n, d - 1);
    }
    acc.len() as u32
}
#[autobatch]
fn grouped_in_a_loop(n: u32, d: u32) -> u32 {
    let mut acc: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for k in 0..d {
        acc.entry(n).or_default().push(grouped_in_a_loop(k, d - 1));
    }
    acc.len() as u32
}
#[autobatch]
fn got(_n: u32, d: u32) -> u32 {
    let mut acc: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for k in 0..d {
        acc.insert(k, vec![]);
        acc.get_mut(&k).unwrap().push(got(k, d - 1));
    }
    acc.len() as u32
}
#[autobatch]
fn inserted(n: u32, d: u32) -> u32 {
    let mut acc: BTreeMap<u32, u32> = BTreeMap::new();
    for k in 0..d {
        acc.entry(n + k).or_insert(inserted(k, d - 1));
        acc.entry(n).and_modify(|x| *x += 1).or_insert(7);
    }
    acc.values().sum()
}
#[autobatch]
fn found_or_pushed(_n: u32, d: u32) -> u32 {
    let mut acc: Vec<(u32, Vec<u32>)> = vec![];
    for k in 0..d {
        match acc.iter_mut().find(|(a, _)| *a == k % 2) {
            Some((_, v)) => v.push(found_or_pushed(k, d - 1)),
            None => acc.push((k, vec![found_or_pushed(k, d - 1)])),
        }
    }
    acc.len() as u32
}
#[autobatch]
fn read(n: u32, d: u32) -> u32 {
    let names: Vec<String> = (0..=n % 4).map(|i| format!("{i}{n}")).collect();
    let mut rows = vec![vec![n; 2]; 3];
    if d > 0 {
        rows.iter_mut().nth(1).unwrap().extend([read(n / 2, d - 1), 4]);
        rows[0].insert(
            names.len() % 2,
            *names.iter().map(|s| s.len() as u32).collect::<Vec<_>>().first().unwrap() + read(n / 3, d - 1),
        );
        let longest = names.iter().max_by_key(|s| s.len()).unwrap().len() as u32 * read(n / 4, d - 1);
        return longest
            + names.last().unwrap().as_str().len() as u32
            + read(n, d - 1)
            + rows.concat().iter().sum::<u32>();
    }
    n % 7
}

#[autobatch]
fn swapped(n: u32, d: u32) -> u32 {
    let mut rows = vec![vec![n], vec![1, 2]];
    if d == 0 {
        return n;
    }
    let old = std::mem::replace(&mut rows[0], vec![swapped(n / 2, d - 1); 2]);
    std::mem::swap(&mut rows[1], &mut vec![swapped(n / 3, d - 1)]);
    let t = std::mem::take(&mut rows[(swapped(1, d - 1) % 2) as usize]);
    old[0] + t.iter().sum::<u32>() + rows.concat().len() as u32
}
#[autobatch]
fn compared(n: u32, d: u32) -> u32 {
    let (a, b) = (n % 5, n % 7);
    if d == 0 {
        return n;
    }
    let o = a.cmp(&compared(n / 2, d - 1)).then(b.cmp(&compared(n / 3, d - 1))).reverse();
    let c = a.clamp(compared(1, d - 1).min(2), compared(2, d - 1).max(3));
    let inside = (compared(0, d - 1)..=9).contains(&b);
    c + o as i8 as u32 % 5 + u32::from(inside)
}

// Receivers that are parts of something: what they are is looked at behind the arguments.
#[derive(Default)]
struct G {
    rows: Vec<Vec<u32>>,
    inner: Box<Vec<u32>>,
}
#[autobatch]
fn indexed(n: u32, d: u32) -> u32 {
    let mut rows = vec![vec![n; 2]; 3];
    if d > 0 {
        rows[0].push(indexed(n / 3, d - 1));
    }
    rows[0].len() as u32
}
#[autobatch]
fn inserted_at(n: u32, d: u32) -> u32 {
    let mut rows = vec![vec![n; 2]; 3];
    if d > 0 {
        rows[0].insert(1, inserted_at(n / 3, d - 1));
    }
    rows[0].len() as u32
}
#[autobatch]
fn indexed_by_a_local(n: u32, d: u32) -> u32 {
    let mut rows = vec![vec![n; 2]; 3];
    let r = &rows[1];
    if d > 0 {
        let l = r.len();
        let x = l as u32 + indexed_by_a_local(n / 3, d - 1);
        rows[0].insert(1, x + indexed_by_a_local(n / 3, d - 1));
        rows[x as usize % 2].push(indexed_by_a_local(n / 3, d - 1));
    }
    rows[0].len() as u32
}
#[autobatch]
fn of_a_structure(n: u32, d: u32) -> u32 {
    let mut g = G::default();
    g.rows.push(vec![n]);
    if d > 0 {
        g.rows[0].push(of_a_structure(n / 3, d - 1));
        g.inner.push(of_a_structure(n / 4, d - 1));
        g.rows[(n % 1) as usize].push(of_a_structure(n / 3, d - 1));
    }
    g.rows[0].len() as u32
}
#[autobatch]
fn of_an_iterator(n: u32, d: u32) -> u32 {
    let mut rows = vec![vec![n; 2]; 3];
    if d > 0 {
        rows.iter_mut().nth(1).unwrap().extend([of_an_iterator(n / 2, d - 1), 4]);
        rows[0].push(of_an_iterator(n / 3, d - 1));
    }
    rows[0].len() as u32
}
#[autobatch]
fn of_each(n: u32, d: u32) -> u32 {
    let mut rows = vec![vec![n; 2]; 3];
    for row in rows.iter_mut() {
        if d > 0 {
            row.push(of_each(n / 2, d - 1));
            row[0] += 1;
        }
    }
    rows[0].resize(5, if d > 0 { of_each(n / 3, d - 1) } else { 1 });
    rows[0].len() as u32 + *rows[1].iter().max().unwrap()
}
#[autobatch]
fn of_an_array(n: u32, d: u32) -> u32 {
    let mut rows = [String::new(), String::from("x")];
    let names = vec![String::from("k"); 3];
    for k in 0..d {
        rows[k as usize % 2].push_str(&names[if of_an_array(k, d - 1) > 3 { 1 } else { 2 }]);
        rows[1].push(char::from(b'a' + (of_an_array(k, d - 1) % 5) as u8));
    }
    rows[0].len() as u32 + n % 7 + rows[1].len() as u32
}

#[derive(Clone, Copy, Debug, Default)]
struct Rng(u32);
impl Rng {
    fn skip(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(31).wrapping_add(n);
        self.0 % 10
    }
}
#[derive(Clone, Copy, Debug, Default)]
struct State {
    rng: Rng,
    other: [Rng; 2],
}
#[autobatch]
fn copied(n: u32, d: u32) -> u32 {
    let mut st = State::default();
    if d > 0 {
        st.rng.skip(copied(n / 2, d - 1) + n);
        st.other[1].skip(copied(n / 2, d - 1) + n);
    }
    st.rng.0 % 97 + st.other[1].0 % 31
}
fn advance(st: &mut State, n: u32) -> u32 {
    st.rng.skip(n)
}
#[autobatch]
fn borrowed(st: &mut State, n: u32, d: u32) -> u32 {
    if d == 0 {
        return n;
    }
    let mut own = *st;
    let x = own.rng.skip(borrowed(st, n / 2, d - 1) + n);
    st.other[(n % 2) as usize].skip(borrowed(&mut own, n / 2, d - 1) + x);
    st.rng.skip(borrowed(&mut own, n / 3, d - 1) + own.rng.0) + advance(st, n)
}
#[autobatch]
fn of_its_own(n: u32, d: u32) -> u32 {
    let mut st = State::default();
    borrowed(&mut st, n, d)
}

#[test]
fn operands_outlive_later_calls() {
    let inputs: Vec<(u32, u32)> = (0..11).map(|i| (i, i % 4)).collect();
    agree_on_pairs!(inputs, grouped grouped_batched_with, last_row last_row_batched_with, counted counted_batched_with, grouped_in_a_loop grouped_in_a_loop_batched_with, got got_batched_with, inserted inserted_batched_with, found_or_pushed found_or_pushed_batched_with, read read_batched_with, swapped swapped_batched_with, compared compared_batched_with, indexed indexed_batched_with, inserted_at inserted_at_batched_with, indexed_by_a_local indexed_by_a_local_batched_with, of_a_structure of_a_structure_batched_with, of_an_iterator of_an_iterator_batched_with, of_each of_each_batched_with, of_an_array of_an_array_batched_with, copied copied_batched_with, of_its_own of_its_own_batched_with);
}

#[test]
fn copied_fields_change_in_place() {
    let inputs: Vec<(u32, u32)> = (0..31).map(|i| (i, i % 4)).collect();
    let states = || column(&inputs, |i| State { rng: Rng(i.0), ..State::default() });
    let mut want = states();
    let results: Vec<u32> =
        inputs.iter().zip(&mut want).map(|(i, state)| borrowed(state, i.0, i.1)).collect();
    for (how, options) in executors() {
        let mut got = states();
        let (n, d) = (column(&inputs, |i| i.0), column(&inputs, |i| i.1));
        let out = borrowed_batched_with(&mut got, n, d, &options.lanes(7)).unwrap();
        assert_eq!(out.into_values().unwrap(), results, "{how}");
        assert_eq!(format!("{got:?}"), format!("{want:?}"), "{how}");
    }
}

/// An index out of bounds panics before the argument's call does.
#[autobatch]
fn out_of_bounds(n: usize, depth: u32) -> usize {
    assert!(depth > 0, "too deep");
    let mut rows = vec![vec![n]; 2];
    rows[n].push(out_of_bounds(n / 2, depth - 1));
    rows.len()
}

#[test]
fn indices_are_checked_before_arguments() {
    for (how, options) in executors() {
        let out = out_of_bounds_batched_with(&[1, 5, 0], &[1, 2, 3], &options).unwrap();
        let messages: Vec<&str> = out.faults().iter().map(|fault| fault.message.as_str()).collect();
        let bounds = "index out of bounds: the len is 2 but the index is 5";
        assert_eq!(messages, ["too deep", bounds, "too deep"], "{how}");
    }
}

fn at(cells: &[u32], place: u32) -> &u32 {
    cells.get(place as usize % 5).unwrap_or(&99)
}

fn sum(cells: &[u32], more: u32) -> u32 {
    cells.iter().sum::<u32>() + more
}

fn grow(cells: &mut Vec<u32>, more: u32) -> u32 {
    cells.push(more);
    cells.len() as u32
}

fn counted_up(counts: &mut [u32], more: u32) -> u32 {
    counts[0] += more;
    counts.iter().sum()
}

#[derive(Clone, Copy)]
struct Place {
    x: u32,
    y: u32,
}

/// A new value with the rest of another is called a method on.
#[autobatch]
impl Place {
    fn walked(&mut self, fuel: u32, names: String, row: &[u32]) -> u32 {
        if fuel == 0 {
            return self.x + self.y;
        }
        self.y += row.len() as u32;
        let ahead = (Self { x: 3, ..*self }).walked(fuel - 1, names.clone() + "a", &vec![fuel; 2]);
        let aside = Self { y: ahead, ..*self }.walked(fuel / 2, names, &[self.x, ahead]);
        ahead + aside * 3
    }
}

/// What operands borrow from that is no local.
#[autobatch]
mod temporaries {
    use std::cell::RefCell;

    use super::{at, counted_up, grow, sum};

    #[derive(Clone)]
    pub(super) struct Row {
        cells: Vec<u32>,
        name: String,
    }

    impl Row {
        pub(super) fn new(n: u32) -> Self {
            Self { cells: (0..n % 7).collect(), name: format!("row {n}") }
        }
        pub(super) fn with(&self, n: u32) -> Self {
            let mut cells = self.cells.clone();
            cells.push(n);
            Self { cells, name: self.name.clone() }
        }
        pub(super) fn cells(&self) -> &[u32] {
            &self.cells
        }
        pub(super) fn cells_mut(&mut self) -> &mut Vec<u32> {
            &mut self.cells
        }
    }

    pub(super) struct View<'a> {
        pub(super) cells: &'a [u32],
        pub(super) below: u32,
    }

    pub(super) fn passed(n: u32, d: u32) -> u32 {
        if d == 0 { n } else { sum(Row::new(n).with(d).cells(), passed(n / 2, d - 1)) }
    }
    pub(super) fn looked_up(n: u32, d: u32) -> u32 {
        if d == 0 { n } else { *at(Row::new(n).cells(), looked_up(n / 2, d - 1)) + 1 }
    }
    pub(super) fn searched(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let found = Row::new(n).cells().binary_search(&searched(n / 2, d - 1)).unwrap_or(4) as u32;
        found + searched(n / 3, d - 1)
    }
    pub(super) fn in_order(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let mut total = 0;
        for k in 0..d {
            total += sum(&vec![k; 3][1..], in_order(n + k, d - 1));
            if k == 1 && *at(Row::new(n).cells(), in_order(k, d - 1)) > 2 {
                continue;
            }
            grow(Row::new(n).cells_mut(), in_order(k, d - 1));
        }
        total
    }
    pub(super) fn nested(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        sum(
            Row::new(n).name.as_str().bytes().map(u32::from).collect::<Vec<_>>().as_slice(),
            nested(n / 2, d - 1),
        )
    }
    /// A constant that is changed is a value of its own.
    pub(super) fn of_constants(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let first = counted_up(&mut [1, 2], of_constants(n / 2, d - 1));
        first + counted_up(&mut [n, 1], of_constants(n / 3, d - 1)) + stepped(&mut [3, d], n)
    }
    fn stepped(counts: &mut [u32; 2], n: u32) -> u32 {
        if n == 0 {
            return counts[0];
        }
        counts[1] += n;
        counts[0] += stepped(&mut [5, 1], n / 2) + stepped(counts, n / 3);
        counts[1]
    }
    /// These live as long as what is bound.
    pub(super) fn extended(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let pair = (&vec![n, d, 3], extended(n / 2, d - 1));
        let view = View { cells: &vec![n; 2], below: extended(n / 3, d - 1) };
        let below = extended(n / 5, d - 1);
        sum(pair.0, pair.1) + sum(view.cells, view.below) + below
    }
    /// What is bound borrows from what one of the ways makes.
    pub(super) fn out_of_ways(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let (cells, below) = if n.is_multiple_of(3) {
            (&vec![n, 3], out_of_ways(n / 2, d - 1))
        } else {
            (&vec![d; n as usize % 4], out_of_ways(n / 3, d - 1))
        };
        let more = out_of_ways(n / 5, d - 1);
        sum(cells, below) + more
    }
    /// A `RefCell` is free again behind the statement, and behind the condition.
    pub(super) fn borrowed(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let cell = RefCell::new(vec![n, d]);
        let found = sum(cell.borrow().as_slice(), borrowed(n / 2, d - 1));
        cell.borrow_mut().push(found);
        grow(&mut cell.borrow_mut(), borrowed(n / 3, d - 1));
        if *at(&cell.borrow(), borrowed(n % 3, d - 1)) > 3 {
            cell.borrow_mut().push(1);
        } else {
            cell.borrow_mut().push(2);
        }
        cell.borrow_mut()[0] += sum(&*cell.clone().borrow(), borrowed(n % 2, d - 1));
        while cell.borrow().len() < 7 && sum(&cell.borrow(), borrowed(1, d - 1)) > 0 {
            cell.borrow_mut().push(3);
        }
        match sum(&cell.borrow(), borrowed(n % 4, d - 1)) {
            0 => 1,
            x => x + cell.borrow()[0],
        }
    }
    pub(super) fn on_some_ways(n: u32, d: u32) -> u32 {
        if d == 0 {
            return n;
        }
        let mut out = 0;
        let mut k = 0;
        while k < 3 && *at(Row::new(n + k).cells(), on_some_ways(n / 2, d - 1)) != 1 {
            out += match (n + k) % 3 {
                0 => sum(Row::new(k).cells(), on_some_ways(k, d - 1)),
                1 => *at(Row::new(k).with(8).cells(), on_some_ways(n, d - 1)),
                _ => 5,
            };
            k += 1;
        }
        out
    }
}

#[test]
fn temporaries_live_to_the_end_of_their_scope() {
    use temporaries::*;
    let inputs: Vec<(u32, u32)> = (0..23).map(|i| (i, i % 4)).collect();
    agree_on_pairs!(inputs, passed passed_batched_with, looked_up looked_up_batched_with, searched searched_batched_with, in_order in_order_batched_with, nested nested_batched_with, extended extended_batched_with, of_constants of_constants_batched_with, out_of_ways out_of_ways_batched_with, borrowed borrowed_batched_with, on_some_ways on_some_ways_batched_with);
}

#[test]
fn receivers_may_be_temporaries() {
    let inputs: Vec<(u32, u32)> = (0..23).map(|i| (i, i % 5)).collect();
    let place = |i: u32| Place { x: i, y: i / 2 };
    agree_at(
        &[0, 1, 67],
        &inputs,
        |i| place(i.0).walked(i.1, "n".into(), &[1]),
        |b, o| {
            let mut places = column(b, |i| place(i.0));
            let names = column(b, |_| String::from("n"));
            Place::walked_batched_with(&mut places, column(b, |i| i.1), names, &[1], o)
        },
    );
}
