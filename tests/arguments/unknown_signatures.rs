//! Methods and functions whose signatures stand in other files borrow from locals.

use crate::common::{agree_at, column, executors};
use autobatch::autobatch;

/// As if it stood in another file: what a macro makes is not seen.
macro_rules! elsewhere {
    ($($item:item)*) => { $($item)* };
}
elsewhere! {
    #[derive(Clone, Debug)]
    struct Table {
        rows: Vec<Vec<u32>>,
    }
    impl Table {
        fn lookup(&self, k: usize) -> &[u32] {
            &self.rows[k % self.rows.len()]
        }
        fn view(&self) -> View<'_> {
            View { table: self }
        }
        fn count_of(&self, k: usize) -> u32 {
            self.rows[k].len() as u32
        }
        fn found(&self, k: usize) -> Option<&Vec<u32>> {
            self.rows.get(k)
        }
        fn row_for(&mut self, k: usize) -> &mut Vec<u32> {
            &mut self.rows[k]
        }
        fn noted<'a>(&'a self, k: usize, notes: &mut Vec<&'a u32>) -> &'a [u32] {
            notes.extend(self.rows[k].first());
            &self.rows[k]
        }
        fn doubled(mut self) -> Table {
            self.rows.iter_mut().for_each(|row| row.push(1));
            self
        }
    }
    #[derive(Clone, Copy)]
    struct View<'a> {
        table: &'a Table,
    }
    impl<'a> View<'a> {
        fn top(&self) -> &'a [u32] {
            &self.table.rows[0]
        }
    }
    fn make(n: u32) -> Table {
        Table { rows: (0..4).map(|i| vec![n; i]).collect() }
    }
    fn top(table: &Table) -> &[u32] {
        &table.rows[1]
    }
    /// Borrows, and looks at what it has borrowed when it is dropped.
    struct Watch<'a> {
        table: &'a Table,
        looks: u32,
    }
    impl<'a> Watch<'a> {
        fn look(&mut self) -> u32 {
            self.looks += 1;
            self.looks + self.table.rows.len() as u32
        }
        fn rows(&self) -> &'a [Vec<u32>] {
            &self.table.rows
        }
    }
    impl Drop for Watch<'_> {
        fn drop(&mut self) {
            assert!(self.table.rows.len() < 9, "the table is there");
        }
    }
    fn watch(table: &Table) -> Watch<'_> {
        Watch { table, looks: 0 }
    }
}

/// What functions of other files make of a local, kept across calls and loops.
#[autobatch]
fn watched(n: u32, d: u32) -> u32 {
    if d == 0 {
        return n;
    }
    let table = make(n);
    let mut watch = watch(&table);
    let rows = watch.rows();
    let below = watched(n / 2, d - 1);
    watch.look() + below + rows.len() as u32
}

/// Looked at before the call; dropped behind it, or before: that is not seen.
#[autobatch]
fn watched_before(n: u32, d: u32) -> u32 {
    if d == 0 {
        return n;
    }
    let table = make(n);
    let mut watch = watch(&table);
    watch.look();
    let below = watched_before(n / 2, d - 1);
    below + table.rows[2].len() as u32
}

/// Only there to be dropped.
#[autobatch]
fn watched_throughout(n: u32, d: u32) -> u32 {
    if d == 0 {
        return n;
    }
    let table = make(n);
    let _watch = watch(&table);
    let top = top(&table);
    let mut sum = 0;
    for k in 0..2 {
        sum += watched_throughout(n / 2, d - 1) + k + top.len() as u32;
    }
    sum
}

#[autobatch]
fn of_a_temporary(#[each] v: &[u32], d: u32) -> u32 {
    if d == 0 {
        return v.len() as u32;
    }
    of_a_temporary(make(d).lookup(v.len() + 1), d - 1) * 3
        + of_a_temporary(top(&make(d)), d / 2)
        + of_a_temporary(make(d).found(1).unwrap(), d / 3)
}

/// Which of the methods borrows can't be told.
#[autobatch]
fn of_several(#[each] v: &[u32], d: u32) -> u32 {
    if d == 0 {
        return v.len() as u32;
    }
    of_several(make(d).doubled().found(1).unwrap(), d - 1) + of_several(make(d).view().top(), d / 2)
}

#[autobatch]
fn of_a_local(#[each] v: &[u32], d: u32) -> u32 {
    if d == 0 {
        return v.len() as u32;
    }
    let table = make(d).doubled();
    of_a_local(table.lookup(v.len() + 1), d - 1) + table.count_of(1) * 7
}

/// What is borrowed is kept elsewhere, too.
#[autobatch]
fn noted(#[each] v: &[u32], d: u32) -> u32 {
    if d == 0 {
        return v.len() as u32;
    }
    let table = make(d + 7);
    let mut notes = vec![];
    let sum = noted(table.noted(2, &mut notes), d - 1);
    sum * 3 + notes.into_iter().sum::<u32>()
}

#[autobatch]
fn mutably(v: &mut Vec<u32>, d: u32) -> u32 {
    v.push(d);
    if d == 0 {
        return v.len() as u32;
    }
    let mut table = make(d);
    let sum = mutably(table.row_for(1), d - 1) + mutably(make(d).row_for(2), d / 2);
    sum + table.count_of(1)
}

/// From outside: handed on as before.
#[autobatch(strict)]
fn of_what_is_shared(table: &Table, k: u32, d: u32) -> &u32 {
    let row = table.lookup(k as usize | 1);
    if d == 0 { &row[0] } else { of_what_is_shared(table, row.len() as u32 + k, d - 1) }
}

#[autobatch(strict)]
fn across_a_loop(table: &Table, k: u32) -> u32 {
    let mut sum = 0;
    let row = table.lookup(k as usize | 1);
    while sum < k {
        sum += 1 + row.len() as u32;
    }
    sum + row[0]
}

/// What crosses a call is scalar.
#[autobatch]
fn across_the_call(#[each] v: &[u32], d: u32) -> u32 {
    if d == 0 {
        return v.len() as u32;
    }
    let table = make(d);
    let row = table.lookup(d as usize);
    let sum = across_the_call(row, d - 1) + table.count_of(1);
    sum + row.len() as u32
}

#[autobatch]
fn matched(#[each] v: &[u32], d: u32) -> u32 {
    if d == 0 {
        return v.len() as u32;
    }
    let first = match make(d).lookup(v.len()) {
        [] => 1,
        [a] => matched(&[*a], d - 1),
        [a, ..] => matched(&[*a, 1], d - 1) + a,
    };
    first + if let Some(row) = make(d).found(2) { matched(row, d / 2) + row[0] } else { 1 }
}

#[test]
fn borrows_by_unknown_methods_stay_valid() {
    let inputs: Vec<(Vec<u32>, u32)> = (0..15).map(|i| ((0..i % 5).collect(), i % 4)).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(
                &[0, 1, 97],
                &inputs,
                |i| $scalar(&i.0, i.1),
                |b, o| $batched(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
            );
        )*};
    }
    check!(of_a_temporary of_a_temporary_batched_with of_a_local of_a_local_batched_with);
    check!(noted noted_batched_with of_several of_several_batched_with across_the_call across_the_call_batched_with matched matched_batched_with);
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| mutably(&mut i.0.clone(), i.1),
        |b, o| mutably_batched_with(&mut column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    let table = make(5);
    agree_at(
        &[1, 97],
        &inputs,
        |i| across_a_loop(&table, i.1),
        |b, o| across_a_loop_batched_with(&table, column(b, |i| i.1), o),
    );
    for (how, options) in executors() {
        let keys = column(&inputs, |i| i.1);
        let out =
            of_what_is_shared_batched_with(&table, &keys, &keys, &options).unwrap().into_values().unwrap();
        let want: Vec<&u32> = keys.iter().map(|k| of_what_is_shared(&table, *k, *k)).collect();
        assert_eq!(out, want, "{how}");
    }
}

#[test]
fn borrows_by_unknown_functions_stay_valid() {
    let inputs: Vec<(u32, u32)> = (0..19).map(|i| (i, i % 4)).collect();
    agree_on_pairs!(inputs, watched watched_batched_with, watched_before watched_before_batched_with, watched_throughout watched_throughout_batched_with);
}
