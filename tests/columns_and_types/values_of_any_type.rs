//! Columns, variables and results of every kind of type; floats to the bit; wide parameter lists.

#![allow(clippy::multiple_bound_locations, clippy::needless_lifetimes, clippy::needless_range_loop)] // written as users write
#![allow(clippy::only_used_in_recursion, clippy::too_many_arguments)]

use std::marker::PhantomData;

use crate::common::{Bits, agree_at, column, executors};
use autobatch::{Executor, FaultKind, Options, autobatch};

const SIZES: [usize; 4] = [0, 1, 97, 1013];

/// Eight columns of different widths, all alive across the calls.
#[autobatch(strict)]
fn eight(a: u8, b: i16, c: u32, d: i64, e: f32, f: f64, g: bool, h: char) -> (f64, u32, char, bool) {
    if a == 0 {
        return (f64::from(e) * f, c, h, g);
    }
    let next = char::from_u32(h as u32 + 1).unwrap_or('?');
    let (x, y, z, w) = eight(a - 1, b.wrapping_mul(3), c ^ d as u32, d >> 1, e * 0.5, f + 1.0, !g, next);
    let (p, q, r, s) = if g { eight(a / 2, b, c / 2, -d, -e, f * f, w, z) } else { (x, y, h, w) };
    (x - p + f64::from(b), y.wrapping_add(q), r, s ^ g)
}

#[autobatch(strict)]
fn wide(n: u32, x: u128, y: i128) -> (u128, i128) {
    if n == 0 {
        return (x, y);
    }
    let (a, b) = wide(n - 1, x.rotate_left(37) ^ 0x1234_5678_9abc_def0_1122, y.wrapping_mul(-7));
    let mut i = 0;
    let mut c = a;
    while i < n % 4 {
        c = c.wrapping_mul(x | 1);
        i += 1;
    }
    (c, b.wrapping_add(c as i128))
}

/// NaNs, infinities and both zeros pass through branches, loops and calls unchanged.
#[autobatch(strict)]
fn special(n: u32, x: f64) -> f64 {
    if n == 0 {
        return -x;
    }
    let mut y = x;
    let mut i = 0;
    while i < n && y < 4.0 {
        y = y * 0.75 - 0.0;
        i += 1;
    }
    let below = special(n - 1, if y > 0.0 { y } else { -y });
    if below == 0.0 { below } else { below / x }
}

#[autobatch(strict)]
fn single(n: u32, x: f32, y: f32) -> f32 {
    let mut z = x;
    let mut i = 0;
    while i < n {
        z = z * y + x;
        if z > 10.0 {
            z = (z - 10.0).sqrt();
        }
        i += 1;
    }
    if n > 3 { z - single(n - 3, z, y * 0.5) } else { z }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Nothing;

impl Bits for Nothing {
    fn same(&self, _: &Self) -> bool {
        true
    }
}

#[autobatch(strict)]
fn without_size(n: u32, nothing: Nothing, unit: ()) -> (u32, Nothing) {
    if n == 0 {
        return (0, nothing);
    }
    let (below, back) = without_size(n - 1, nothing, unit);
    (below + n, back)
}

#[autobatch(strict)]
fn large(n: u32, table: [u64; 24]) -> [u64; 24] {
    if n == 0 {
        return table;
    }
    let mut next = table;
    for i in 0..24 {
        next[i] = table[(i + n as usize) % 24].wrapping_mul(3) + i as u64;
    }
    let mut below = large(n - 1, next);
    below[n as usize % 24] ^= table[0];
    below
}

/// Aligned more than anything that only computes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(128))]
struct Line([u64; 2]);

impl Bits for Line {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch(strict)]
fn aligned(n: u32, line: Line) -> Line {
    if n == 0 {
        return line;
    }
    let below = aligned(n - 1, line);
    if n > 4 { line } else { below }
}

/// A list that owns its tail.
#[derive(Clone, Debug, PartialEq)]
enum List {
    End,
    Link(u32, Box<List>),
}

impl Bits for List {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch(strict)]
fn list(n: u32) -> List {
    if n == 0 { List::End } else { List::Link(n, Box::new(list((n - 1).saturating_sub(n % 2)))) }
}

#[autobatch(strict)]
fn reverse(input: List, done: List) -> List {
    match input {
        List::End => done,
        List::Link(value, rest) => reverse(*rest, List::Link(value, Box::new(done))),
    }
}

#[autobatch(strict)]
fn interleave(a: List, b: List) -> List {
    match a {
        List::End => b,
        List::Link(value, rest) => {
            let tail = interleave(b, *rest);
            List::Link(value, Box::new(tail))
        }
    }
}

trait Ring: Copy {
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

impl Ring for u32 {
    const ONE: u32 = 1;
    fn plus(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }
    fn times(self, other: u32) -> u32 {
        self.wrapping_mul(other)
    }
}

impl Ring for f64 {
    const ONE: f64 = 1.0;
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn times(self, other: f64) -> f64 {
        self * other
    }
}

#[autobatch(strict)]
fn horner<T: Ring + Send + Sync, const N: usize, M>(
    x: T,
    n: u32,
    coefficients: &[T; N],
    m: PhantomData<M>,
) -> T
where
    M: Send + Sync + 'static,
{
    if n == 0 {
        return T::ONE;
    }
    let mut value = T::ONE;
    let mut i = 0;
    while i < N {
        value = value.times(x).plus(coefficients[(i + n as usize) % N]);
        i += 1;
    }
    value.plus(horner(value, n - 1, coefficients, m))
}

/// `#[shared]` values are values like any other inside the program.
#[autobatch(strict)]
fn bisect(low: f64, high: f64, #[shared] tolerance: f64) -> f64 {
    let middle = 0.5 * (low + high);
    if high - low < tolerance {
        return middle;
    }
    if middle * middle * middle - middle > 2.0 {
        bisect(low, middle, tolerance * 1.01)
    } else {
        bisect(middle, high, tolerance / 1.01) + tolerance
    }
}

#[autobatch(strict)]
fn simpson(
    a: f64,
    b: f64,
    whole: f64,
    #[shared] tolerance: f64,
    model: &(dyn Fn(f64) -> f64 + Sync),
    depth: u32,
) -> f64 {
    let rule = |a: f64, b: f64| (b - a) / 6.0 * (model(a) + 4.0 * model((a + b) / 2.0) + model(b));
    let m = (a + b) / 2.0;
    let (left, right) = (rule(a, m), rule(m, b));
    let error = left + right - whole;
    if error.abs() <= 15.0 * tolerance || depth == 0 {
        return left + right + error / 15.0;
    }
    simpson(a, m, left, tolerance / 2.0, model, depth - 1)
        + simpson(m, b, right, tolerance / 2.0, model, depth - 1)
}

#[test]
fn values_of_many_widths() {
    type Row = (u8, i16, u32, i64, f32, f64, bool, char);
    let rows: Vec<Row> = (0..19_u8)
        .map(|i| {
            let k = i32::from(i);
            (
                i % 6,
                (k * 911) as i16,
                k as u32 * 77,
                i64::from(k) << 33,
                k as f32 * 0.3,
                -0.5 * f64::from(k),
                i % 3 == 0,
                'x',
            )
        })
        .collect();
    agree_at(
        &SIZES,
        &rows,
        |r| eight(r.0, r.1, r.2, r.3, r.4, r.5, r.6, r.7),
        |b, o| {
            eight_batched_with(
                column(b, |r| r.0),
                column(b, |r| r.1),
                column(b, |r| r.2),
                column(b, |r| r.3),
                column(b, |r| r.4),
                column(b, |r| r.5),
                column(b, |r| r.6),
                column(b, |r| r.7),
                o,
            )
        },
    );
    let rows: Vec<(u32, u128, i128)> =
        (0..11).map(|i| (i, u128::MAX / u128::from(i + 1), i128::MIN + 5)).collect();
    agree_at(
        &SIZES,
        &rows,
        |r| wide(r.0, r.1, r.2),
        |b, o| wide_batched_with(column(b, |r| r.0), column(b, |r| r.1), column(b, |r| r.2), o),
    );
}

#[test]
fn floats_to_the_bit() {
    let values =
        [0.0, -0.0, 1.5, -2.25, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX];
    let rows: Vec<(u32, f64)> = (0..40).map(|i| (i / 10, values[i as usize % 10])).collect();
    let with_nan = |row: &(u32, f64)| {
        // Rust leaves the payload of a computed NaN open: only being one is compared.
        let x = special(row.0, row.1);
        if x.is_nan() { f64::NAN } else { x }
    };
    let canonical = |x: f64| if x.is_nan() { f64::NAN } else { x };
    for (row, want) in rows.iter().zip(column(&rows, with_nan)) {
        for (how, options) in executors() {
            let got = special_batched_with(&[row.0], &[row.1], &options).unwrap().into_values().unwrap();
            assert!(canonical(got[0]).same(&want), "{how}: {row:?} gives {got:?}, not {want:?}");
        }
    }
    let finite: Vec<(u32, f64)> = rows.into_iter().filter(|r| !with_nan(r).is_nan()).collect();
    agree_at(
        &SIZES,
        &finite,
        |r| special(r.0, r.1),
        |b, o| special_batched_with(column(b, |r| r.0), column(b, |r| r.1), o),
    );
    let rows: Vec<(u32, f32, f32)> =
        (0..23).map(|i| (i % 12, 0.1 * i as f32 - 1.0, 0.7 + 0.05 * i as f32)).collect();
    agree_at(
        &SIZES,
        &rows,
        |r| single(r.0, r.1, r.2),
        |b, o| single_batched_with(column(b, |r| r.0), column(b, |r| r.1), column(b, |r| r.2), o),
    );
}

#[test]
fn values_without_size_and_large_ones() {
    let ns: Vec<u32> = (0..9).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| without_size(*n, Nothing, ()),
        |n, o| without_size_batched_with(n, autobatch::same(Nothing), autobatch::same(()), o),
    );
    let table = std::array::from_fn(|i| i as u64 * 1_000_003);
    agree_at(&SIZES, &ns, |n| large(*n, table), |n, o| large_batched_with(n, autobatch::same(table), o));
    let line = Line([3, 4]);
    agree_at(&SIZES, &ns, |n| aligned(*n, line), |n, o| aligned_batched_with(n, autobatch::same(line), o));
}

#[test]
fn values_that_own_their_parts() {
    let ns: Vec<u32> = (0..12).collect();
    agree_at(&SIZES, &ns, |n| list(*n), |n, o| list_batched_with(n, o));
    agree_at(
        &SIZES,
        &ns,
        |n| reverse(list(*n), List::End),
        |n, o| reverse_batched_with(column(n, |n| list(*n)), autobatch::same(List::End), o),
    );
    agree_at(
        &SIZES,
        &ns,
        |n| interleave(list(*n), list(n / 2)),
        |n, o| interleave_batched_with(column(n, |n| list(*n)), column(n, |n| list(n / 2)), o),
    );
}

#[test]
fn values_of_generic_functions() {
    let ns: Vec<u32> = (0..9).collect();
    let (whole, real) = ([3, 1, 4, 1, 5], [0.5, -0.25, 0.125]);
    agree_at(
        &SIZES,
        &ns,
        |n| horner(n + 2, *n, &whole, PhantomData::<String>),
        |n, o| {
            let x = column(n, |n| n + 2);
            horner_batched_with(&x, n, &whole, autobatch::same(PhantomData::<String>), o)
        },
    );
    let marker = || autobatch::same(PhantomData);
    agree_at(
        &SIZES,
        &ns,
        |n| horner(f64::from(*n) * 0.1, *n, &real, PhantomData::<u8>),
        |n, o| {
            let x = column(n, |n| f64::from(*n) * 0.1);
            horner_batched_with::<f64, 3, u8>(&x, n, &real, marker(), o)
        },
    );
}

#[test]
fn shared_values_and_trait_objects() {
    let starts: Vec<f64> = (0..13).map(|i| f64::from(i) * 0.1).collect();
    agree_at(
        &SIZES,
        &starts,
        |x| bisect(*x, x + 3.0, 1e-6),
        |x, o| bisect_batched_with(x, column(x, |x| x + 3.0), 1e-6, o),
    );
    let offset = 0.3;
    let model = move |x: f64| (x * x + offset).recip();
    let (whole, depth) = (|| autobatch::same(1.0), || autobatch::same(7));
    agree_at(
        &SIZES,
        &starts,
        |x| simpson(*x, x * x + 2.0, 1.0, 1e-5, &model, 7),
        |x, o| simpson_batched_with(x, column(x, |x| x * x + 2.0), whole(), 1e-5, &model, depth(), o),
    );
}

#[autobatch(strict)]
fn checked(n: i32, xs: &[i32]) -> i32 {
    let mut product: i32 = 1;
    for i in 0..n {
        product *= xs[i as usize];
    }
    product
}

/// Index out of bounds and, where the profile checks it, overflow: both as in the scalar function.
#[test]
fn checks_are_those_of_the_profile() {
    let xs = [7, 100_000, -3, 50_000];
    let ns: Vec<i32> = (0..6).collect();
    for (how, options) in executors() {
        let results = checked_batched_with(&ns, &xs, &options).unwrap().into_results();
        for (n, result) in ns.iter().zip(results) {
            match std::panic::catch_unwind(|| checked(*n, &xs)) {
                Ok(value) => assert_eq!(result, Ok(value), "{how}"),
                Err(payload) => {
                    let fault = result.unwrap_err();
                    assert_eq!((fault.member as i32, fault.kind), (*n, FaultKind::Panic), "{how}");
                    let message = payload.downcast_ref::<String>().map(String::as_str);
                    let message = message.or(payload.downcast_ref::<&str>().copied());
                    assert_eq!(Some(&*fault.message), message, "{how}");
                }
            }
        }
    }
}

#[test]
fn a_result_may_borrow_from_shared_values() {
    #[autobatch(strict)]
    fn pick<'a>(names: &'a [String], n: usize) -> Result<&'a str, usize> {
        if n == 0 {
            return Err(0);
        }
        match names.get(n) {
            Some(name) if name.len() > 2 => Ok(name),
            _ => pick(names, n - 1),
        }
    }
    let names = ["zero", "a", "three", "bb"].map(String::from);
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor);
        let n = [0, 1, 2, 3, 9];
        let found = pick_batched_with(&names, &n, &options).unwrap().into_values().unwrap();
        assert_eq!(found, [Err(0), Err(0), Ok("three"), Ok("three"), Ok("three")]);
    }
}

#[test]
fn state_may_borrow_from_shared_values() {
    #[autobatch(strict)]
    fn note<'a, T: Clone>(seen: &mut Vec<(&'a str, T)>, names: &'a [String], tag: T, n: usize) -> usize {
        if n >= names.len() {
            return 0;
        }
        seen.push((&names[n], tag.clone()));
        1 + note(seen, names, tag, 2 * n + 1)
    }
    let names = ["zero", "a", "three", "bb"].map(String::from);
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor);
        let mut seen = vec![vec![], vec![("first", 'x')], vec![]];
        let counts = note_batched_with(&mut seen, &names, &['a', 'b', 'c'], &[0, 2, 4], &options).unwrap();
        assert_eq!(counts.into_values().unwrap(), [3, 1, 0]);
        assert_eq!(
            seen,
            [vec![("zero", 'a'), ("a", 'a'), ("bb", 'a')], vec![("first", 'x'), ("three", 'b')], vec![]]
        );
    }
}

struct Walk<'a, T> {
    seen: Vec<(&'a str, T)>,
}

#[autobatch(strict)]
impl<'a, T: Copy + Send + Sync> Walk<'a, T> {
    fn walk(&mut self, names: &'a [String], tags: &mut Vec<T>, n: usize) -> usize {
        let Some(tag) = tags.pop() else { return n };
        self.seen.push((&names[n % names.len()], tag));
        1 + self.walk(names, tags, n + 1)
    }

    pub(crate) fn begin(&mut self, names: &'a [String], tags: &mut Vec<T>, n: usize) -> usize {
        self.walk(names, tags, n) - n
    }
}

#[test]
fn receivers_that_are_changed_may_borrow() {
    let names = ["zero", "one", "two"].map(String::from);
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor);
        let mut walks = [Walk { seen: vec![] }, Walk { seen: vec![("first", 9)] }];
        let mut tags = [vec![1, 2], vec![3]];
        let counts = Walk::begin_batched_with(&mut walks, &names, &mut tags, &[0, 2], &options).unwrap();
        assert_eq!(counts.into_values().unwrap(), [4, 2]);
        assert_eq!(
            walks.map(|walk| walk.seen),
            [vec![("zero", 2), ("one", 1)], vec![("first", 9), ("two", 3)]]
        );
    }
}

/// Behind the name is a reference, which is not copied between frames.
type Row<'a> = &'a [u64];

#[derive(Clone, Copy)]
struct Named<'a> {
    of: Row<'a>,
}

#[autobatch(strict)]
fn row_itself(row: Row<'_>, n: u64) -> Row<'_> {
    if n == 0 { row } else { row_itself(row, n - 1) }
}

#[autobatch(strict)]
fn named_row<'a>(row: Named<'a>, other: Row<'a>, n: u64) -> Option<Named<'a>> {
    if n == 0 {
        return Some(Named { of: other });
    }
    named_row(row, other, n - 1)
}

#[autobatch(strict)]
fn of_a_row(row: Named<'_>, n: u64) -> u64 {
    if n == 0 { row.of[0] } else { of_a_row(row, n - 1) + n }
}

#[test]
fn references_under_an_alias() {
    let values: Vec<u64> = (1..40).collect();
    let rows: Vec<Row<'_>> = (0..values.len()).map(|i| &values[i..]).collect();
    let named: Vec<Named<'_>> = rows.iter().map(|row| Named { of: row }).collect();
    let counts: Vec<u64> = values.iter().map(|n| n % 9).collect();
    for (how, options) in executors() {
        let all = row_itself_batched_with(&rows, &counts, &options).unwrap().into_values().unwrap();
        assert_eq!(all, rows, "{how}");
        let all = named_row_batched_with(&named, &rows, &counts, &options).unwrap().into_values().unwrap();
        assert!(all.iter().zip(&rows).all(|(found, row)| found.is_some_and(|n| n.of == *row)), "{how}");
        let all = of_a_row_batched_with(&named, &counts, &options).unwrap().into_values().unwrap();
        assert!(
            all.iter().zip(&counts).zip(&rows).all(|((x, n), row)| *x == row[0] + n * (n + 1) / 2),
            "{how}"
        );
    }
}
