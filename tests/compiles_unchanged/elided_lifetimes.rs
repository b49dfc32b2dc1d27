//! Types whose lifetimes are elided in signatures, whatever they are called.

#![allow(elided_lifetimes_in_paths, mismatched_lifetime_syntaxes)]

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 2] = [1, 67];

#[derive(Clone, Copy)]
struct Vec<'a>(&'a u8);

#[derive(Clone, Copy)]
struct Option<'a, T>(&'a T, &'a u8);

#[derive(Clone, Copy, Debug)]
struct View<'a>(&'a [u8]);

#[autobatch]
fn named(n: u32, x: &u8) -> Vec {
    if n == 0 { Vec(x) } else { named(n - 1, x) }
}

#[autobatch]
fn generic(n: u32, x: &u8) -> Option<u8> {
    if n < 3 { Option(x, x) } else { generic(n / 3, x) }
}

#[autobatch(strict)]
fn by_value(view: View, n: u32) -> u8 {
    let at = n as usize % view.0.len();
    if n < 3 { view.0[at] } else { by_value(view, n / 3).wrapping_add(view.0[at]) }
}

struct Bytes(std::vec::Vec<u8>);

#[autobatch]
impl Bytes {
    fn view(&self, n: u32) -> View {
        if n == 0 { View(&self.0) } else { self.view(n - 1) }
    }
}

#[autobatch]
mod inside {
    use super::View;

    pub(super) struct Pair(pub(super) u8, pub(super) u8);

    #[derive(Clone, Copy)]
    pub(super) struct Row<'a>(pub(super) &'a u8);

    impl Pair {
        pub(super) fn row(&self, n: u32, other: &u8) -> Row {
            if n > *other as u32 { Row(&self.1) } else { self.row(n + 1, other) }
        }
    }

    pub(super) fn first(view: View, n: u32) -> Row {
        if n == 0 { Row(&view.0[0]) } else { first(view, n - 1) }
    }
}

#[test]
fn in_results_and_parameters() {
    let n: std::vec::Vec<u32> = (0..67).map(|i| i * 7 % 23).collect();
    let bytes: std::vec::Vec<u8> = (0..67).collect();
    let inputs: std::vec::Vec<(View, u32)> = n.iter().map(|n| (View(&bytes[*n as usize..]), *n)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| by_value(i.0, i.1),
        |b, o| by_value_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    let (x, pair, whole) = (5, inside::Pair(3, 4), Bytes(bytes.clone()));
    for (i, n) in n.iter().enumerate() {
        let one = [*n];
        assert_eq!(named_batched(&one, &x)[0].0, named(*n, &x).0);
        assert_eq!(*generic_batched(&one, &x)[0].0 + *generic_batched(&one, &x)[0].1, 2 * x);
        assert_eq!(whole.view_batched(&one)[0].0, whole.view(*n).0);
        assert_eq!(pair.row_batched(&one, &x)[0].0, pair.row(*n, &x).0);
        assert_eq!(pair.0, 3);
        let view = inputs[i].0;
        assert_eq!(inside::first_batched(&[view], &one)[0].0, inside::first(view, *n).0);
    }
}

/// A type of the library whose lifetime is not written, per member.
mod of_the_library {
    use std::str::Chars;

    #[autobatch::autobatch(strict)]
    pub(super) fn count(mut x: Chars, n: u32) -> u32 {
        match x.next() {
            Some(c) if n > 0 => u32::from(c == 'a') + count(x, n - 1),
            _ => 0,
        }
    }
}

#[test]
fn in_types_of_std() {
    let texts = ["", "a", "banana", "xaxa", "b"];
    let inputs: std::vec::Vec<(&str, u32)> = (0..20).map(|i| (texts[i % 5], i as u32 / 2)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| of_the_library::count(i.0.chars(), i.1),
        |b, o| of_the_library::count_batched_with(column(b, |i| i.0.chars()), column(b, |i| i.1), o),
    );
}

/// What methods and functions yield hides what it borrows: a place stays as long as that is mentioned, and what borrows a local is
/// known to do so.
mod of_helpers {
    use super::autobatch;

    pub(super) struct Table {
        cells: [u32; 400],
    }

    impl Table {
        fn all(&self) -> Cells {
            Cells { cells: &self.cells }
        }
    }

    fn some(table: &Table, from: usize) -> Cells {
        Cells { cells: &table.cells[from..] }
    }

    fn eat(table: Table) -> u32 {
        table.cells[3]
    }

    #[derive(Clone, Copy)]
    pub(super) struct Cells<'a> {
        cells: &'a [u32],
    }

    #[autobatch]
    pub(super) mod m {
        use super::{Table, eat, some};

        pub(crate) fn by_method(n: u32) -> u32 {
            let table = Table { cells: [n; 400] };
            let lent = &table;
            let view = table.all();
            let found: u32 = count(lent, n % 3);
            let filler: [u32; 400] = [7 + n; 400];
            let sum: u32 = view.cells.iter().sum();
            found + sum + eat(table) + filler[n as usize % 9]
        }

        pub(crate) fn by_function(n: u32) -> u32 {
            let table = Table { cells: [n; 400] };
            let lent = &table;
            let view = some(&table, 390);
            let found: u32 = count(lent, n % 3);
            let filler = vec![7 + n; 400];
            let sum: u32 = view.cells.iter().sum();
            found + sum + eat(table) + filler[n as usize % 9]
        }

        pub(crate) fn across(n: u32) -> u32 {
            let table = Table { cells: [n; 400] };
            let (view, last) = (table.all(), some(&table, 399));
            let found = count(&table, n % 3);
            found + view.cells[1] + last.cells[0]
        }

        fn count(table: &Table, n: u32) -> u32 {
            if n == 0 { table.cells[0] % 50 } else { count(table, n - 1) + 1 }
        }
    }
}

#[test]
fn in_signatures_of_helpers() {
    use of_helpers::m;
    let inputs: std::vec::Vec<u32> = (0..40).collect();
    agree_at(&SIZES, &inputs, |i| m::by_method(*i), |b, o| m::by_method_batched_with(b, o));
    agree_at(&SIZES, &inputs, |i| m::by_function(*i), |b, o| m::by_function_batched_with(b, o));
    agree_at(&SIZES, &inputs, |i| m::across(*i), |b, o| m::across_batched_with(b, o));
}

/// Lifetimes that are left out get names for the generated functions; the user's own may be called the same.
struct Words<'each>(&'each [&'each str]);

#[autobatch]
impl<'each> Words<'each> {
    fn longer<'states>(
        &self,
        #[each] a: &str,
        #[each] b: &str,
        best: &'states mut usize,
        limit: &mut usize,
    ) -> usize {
        let length: for<'shared> fn(&'shared str) -> usize = |text| text.len();
        let mut count = 0;
        'shared_: for word in self.0 {
            if count > *limit {
                break 'shared_;
            }
            if length(word) > length(a).max(length(b)) {
                *best = (*best).max(length(word));
                count += 1;
            }
        }
        count
    }
}

#[test]
fn lifetimes_may_be_called_as_the_crate_calls_them() {
    let words = Words(&["a", "bcd", "ef"]);
    let (mut best, mut limit) = ([0, 0], [5, 0]);
    let counts = words.longer_batched(&["a", ""], &["", ""], &mut best, &mut limit);
    assert_eq!((counts, best), (vec![2, 1], [3, 1]));
}
