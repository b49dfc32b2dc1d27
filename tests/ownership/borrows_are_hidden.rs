//! Nothing in the function tells that a local borrows from another: not a name, not a written type, not an `&`. It is
//! hidden in an operator that assigns, in a macro, in a type that is inferred, in a signature elsewhere.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::convert::identity;
use std::hint::black_box;
use std::iter::Sum;
use std::ops::{AddAssign, Mul, ShlAssign};

use autobatch::autobatch;

use crate::common::promises::{Log, Rows, View, logs_agree, numbers, promises};

/// Keeps what is added to it.
#[derive(Default)]
struct Kept<'a> {
    all: Vec<&'a f64>,
}

impl<'a> AddAssign<&'a f64> for Kept<'a> {
    fn add_assign(&mut self, value: &'a f64) {
        self.all.push(value);
    }
}

impl<'a> ShlAssign<&'a Rows> for Kept<'a> {
    fn shl_assign(&mut self, rows: &'a Rows) {
        self.all.extend(&rows.d[2..4]);
    }
}

impl<'a> FromIterator<&'a f64> for Kept<'a> {
    fn from_iter<I: IntoIterator<Item = &'a f64>>(all: I) -> Self {
        Self { all: all.into_iter().collect() }
    }
}

impl<'a> Sum<&'a f64> for Kept<'a> {
    fn sum<I: Iterator<Item = &'a f64>>(all: I) -> Self {
        all.collect()
    }
}

impl<'a> Extend<&'a f64> for Kept<'a> {
    fn extend<I: IntoIterator<Item = &'a f64>>(&mut self, all: I) {
        self.all.extend(all);
    }
}

impl Kept<'_> {
    fn total(&self) -> f64 {
        self.all.iter().fold(self.all.len() as f64, |sum, v| sum * 0.5 + **v)
    }
}

#[autobatch]
fn added(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut kept = Kept::default();
    let mut k = n;
    while k > 0 {
        kept += &x.d[(k % 8) as usize];
        k /= 2;
    }
    kept.total() + x.spent()
}

#[autobatch]
fn shifted_in(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut kept = Kept::default();
    for k in 0..n % 5 {
        kept <<= if k % 2 == 0 { &x } else { &y };
    }
    kept.total() + x.spent() + y.spent()
}

#[autobatch]
fn collected_and_extended(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut kept: Kept = x.d.iter().skip(5).collect();
    let other = x.heap.iter().sum::<Kept>();
    let mut k = n;
    while k > 0 {
        kept.extend(x.d.iter().take((k % 3) as usize));
        k /= 2;
    }
    kept.total() + other.total() + x.spent()
}

macro_rules! lend {
    ($of:ident) => {
        &$of.d[1]
    };
    ($of:ident, $k:expr) => {
        &$of.heap[$k as usize % 8]
    };
}

macro_rules! keep {
    ($in:ident; $of:ident at $k:expr) => {
        $in.push(lend!($of, $k))
    };
}

/// Both functions and methods are made by a macro.
macro_rules! lenders {
    ($($method:ident $function:ident $index:literal)*) => {
        impl Rows {
            $(fn $method(&self) -> &f64 { &self.d[$index] })*
        }
        $(fn $function(rows: &Rows) -> &f64 { rows.$method() })*
    };
}
lenders! { powi first_of 4 hypot second_of 6 }

#[autobatch]
fn by_macros(n: u64) -> f64 {
    let x = Rows::of(n);
    let one = lend!(x);
    let mut all = vec![one];
    let mut k = n;
    while k > 0 {
        keep!(all; x at k);
        k /= 2;
    }
    all.iter().fold(*one, |sum, v| sum * 0.5 + **v) + x.spent()
}

#[autobatch]
fn by_functions_of_a_macro(n: u64) -> f64 {
    let x = Rows::of(n);
    let (a, b) = (x.powi(), second_of(&x));
    let mut c = x.hypot();
    let mut sum = 0.0;
    for k in 0..n % 7 {
        sum = sum * 0.5 + a - b + c;
        c = if k % 2 == 0 { first_of(&x) } else { x.hypot() };
    }
    sum + x.spent()
}

#[autobatch]
fn by_std_macros(n: u64) -> f64 {
    let x = Rows::of(n);
    let all = vec![&x.d[0], &x.d[5]];
    let pinned = std::pin::pin!(&x.heap);
    let mut sum = 0.0;
    for k in 0..n % 7 {
        if matches!(all.first(), Some(v) if **v > k as f64) {
            sum += all[1] + pinned[k as usize];
        }
    }
    sum + x.spent()
}

/// Since the edition of 2024 the result captures the lifetime of the reference, of which nothing is written.
fn numbers_of(rows: &Rows) -> impl Iterator<Item = f64> {
    rows.d.iter().map(|v| v * 2.0)
}

fn scaled(rows: &Rows, by: f64) -> impl Fn(u64) -> f64 {
    move |k| rows.d[(k % 8) as usize] * by
}

fn debugged(rows: &Rows) -> impl std::fmt::Debug {
    &rows.d[..2]
}

#[autobatch]
fn captured_by_an_opaque_iterator(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut all = numbers_of(&x);
    let mut sum = 0.0;
    while let Some(v) = all.next() {
        sum = sum * 0.5 + v;
        if sum > n as f64 {
            break;
        }
    }
    drop(all);
    sum + x.spent()
}

#[autobatch]
fn captured_by_an_opaque_function(n: u64) -> f64 {
    let x = Rows::of(n);
    let at = scaled(&x, 0.5);
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + at(k);
        k /= 2;
    }
    drop(at);
    sum + x.spent()
}

#[autobatch]
fn captured_by_an_opaque_value(n: u64) -> String {
    let x = Rows::of(n);
    let shown = debugged(&x);
    let mut out = String::new();
    for k in 0..n % 4 {
        out += &format!("{shown:?}{k}");
    }
    drop(shown);
    out + &x.spent().to_string()
}

/// A lifetime that is not written in the type's name.
type Part<'a> = View<'a>;
type Pair<T> = (T, T);

impl Rows {
    #[allow(mismatched_lifetime_syntaxes, reason = "the lifetime is hidden on purpose")]
    fn whole(&self) -> Part {
        View { of: &self.d, by: 1.0 }
    }

    fn ends(&self) -> Pair<&f64> {
        (&self.d[0], &self.d[7])
    }
}

#[autobatch]
fn behind_an_alias(n: u64) -> f64 {
    let x = Rows::of(n);
    let whole = x.whole();
    let (mut low, mut high) = x.ends();
    let mut sum = 0.0;
    for k in 0..n % 8 {
        sum += whole.at(k) + low - high;
        (low, high) = (high, low);
    }
    sum + x.spent()
}

trait Lender {
    type Lent<'a>
    where
        Self: 'a;
    fn min(&self, k: u64) -> Self::Lent<'_>;
}

impl Lender for Rows {
    type Lent<'a> = View<'a>;
    fn min(&self, k: u64) -> View<'_> {
        View { of: &self.heap[(k % 4) as usize..], by: 0.5 }
    }
}

#[autobatch]
fn behind_an_associated_type(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut lent = x.min(n);
    let mut sum = 0.0;
    for k in 0..n % 8 {
        sum += lent.at(k);
        if k % 3 == 1 {
            lent = x.min(k);
        }
    }
    sum + x.spent()
}

/// Has a type parameter only.
#[derive(Clone, Copy)]
struct Holder<T> {
    held: T,
}

impl<T> Holder<T> {
    fn new(held: T) -> Self {
        Self { held }
    }
}

#[autobatch]
fn behind_a_type_parameter(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut holder = Holder::new(&x);
    let copy = holder;
    let nested = Holder::new(Holder::new(x.d.iter()));
    let mut sum = nested.held.held.len() as f64;
    for k in 0..n % 8 {
        sum = sum * 0.5 + holder.held.d[k as usize] - copy.held.d[0];
        holder.held = if k % 2 == 0 { &y } else { copy.held };
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn handed_on_by_std(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n * 3));
    let same = identity(&x);
    let boxed = black_box(&y.d);
    let one = std::array::from_ref(&x.d[1]);
    let either = Some(&x.d[2]).filter(|v| **v > 9.0).unwrap_or(&y.d[2]);
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + same.d[(k % 8) as usize] + boxed[(k % 8) as usize] - one[0] * either;
        k /= 2;
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn greater_of_two_numbers(n: u64) -> u64 {
    let (a, mut b) = (n * 7 % 31, n);
    let greater = std::cmp::max(&a, &b);
    let mut sum = 0;
    let mut k = n;
    while k > 0 {
        sum = sum * 2 + greater;
        k /= 2;
    }
    b += sum;
    let lesser = Ord::min(&b, &a);
    for k in 0..n % 4 {
        sum += lesser ^ k;
    }
    sum + b
}

#[autobatch]
fn by_full_paths(n: u64) -> f64 {
    let x = Rows::of(n);
    let view = Mul::mul(&x, 2.0);
    let d = <[f64; 8] as AsRef<[f64]>>::as_ref(&x.d);
    let heap = Borrow::<[f64]>::borrow(&x.heap);
    let mut all = IntoIterator::into_iter(&x.heap);
    let mut sum = 0.0;
    while let Some(v) = Iterator::next(&mut all) {
        sum = sum * 0.5 + v + view.at(all.len() as u64) - d[0] * heap[1];
    }
    sum + Rows::spent(x)
}

#[autobatch]
fn shadowing_its_lender(n: u64) -> f64 {
    let x = Rows::of(n);
    let x = &x;
    let first = &x.d;
    let x = x * 2.0;
    let mut sum = 0.0;
    for k in 0..n % 8 {
        sum += x.at(k) + first[0];
        let x = first[k as usize];
        sum -= x;
    }
    sum
}

#[autobatch]
fn number_by_closure_and_reference(n: u64) -> u64 {
    let mut count = n;
    let bigger = |k| k > count;
    let mut sum = 0;
    for k in 0..n % 50 {
        if bigger(k) || k % 5 == 0 {
            sum += k;
        }
    }
    count += sum;
    let r = &count;
    let copy = *r;
    while sum > *r / 2 {
        sum -= 1 + sum / 3;
    }
    count = copy + sum;
    count
}

#[autobatch]
fn number_that_a_guard_writes(n: u64) -> u64 {
    struct Bump<'a>(&'a mut u64, u64);
    impl Drop for Bump<'_> {
        fn drop(&mut self) {
            *self.0 = *self.0 * 2 + self.1;
        }
    }
    let mut count = 0;
    for k in 0..n % 9 {
        let bump = Bump(&mut count, k);
        if k % 3 == 1 {
            continue;
        }
        *bump.0 += 1;
    }
    count
}

#[autobatch]
fn number_that_a_cell_writes(n: u64) -> u64 {
    let mut count = n;
    let cell = Cell::from_mut(&mut count);
    let add = |k: u64| cell.set(cell.get() + k);
    for k in 0..n % 9 {
        add(k);
        if cell.get() % 2 == 0 {
            cell.set(cell.get() + 1);
        }
    }
    count
}

/// The compiler's own temporaries hold borrows over the calls.
#[autobatch]
mod in_operands {
    use super::Rows;

    pub(super) fn run(n: u64) -> f64 {
        let x = Rows::of(n);
        if n < 2 {
            return x.d[0];
        }
        let sum = (&x * 2.0).at(n) + run(n / 2) * x.whole().at(n) - borrowed(&x, run(n / 3));
        let later = Some(&x).map(|x| x.d[1]).unwrap_or(0.0) + sum * x.powi();
        later % 1009.0 + x.spent()
    }

    fn borrowed(x: &Rows, by: f64) -> f64 {
        x.ends().0 * by
    }
}

struct Node<'a> {
    value: u64,
    above: Option<&'a Node<'a>>,
    seen: &'a RefCell<Vec<u64>>,
}

/// Each activation has a node that refers to its caller's.
#[autobatch]
mod linked_activations {
    use std::cell::RefCell;

    use super::Node;

    pub(super) fn run(n: u64) -> u64 {
        let seen = RefCell::new(Vec::new());
        let sum = visit(Node { value: n, above: None, seen: &seen });
        seen.borrow().iter().fold(sum, |sum, v| (sum * 31 + v) % 1_000_003)
    }

    fn visit(node: Node<'_>) -> u64 {
        let mut depth = 0;
        let mut at = &node;
        while let Some(above) = at.above {
            depth += above.value;
            at = above;
        }
        node.seen.borrow_mut().push(depth);
        if node.value < 2 {
            return depth;
        }
        let left = visit(Node { value: node.value / 2, above: Some(&node), seen: node.seen });
        let between = Node { value: left % 5, above: Some(&node), seen: node.seen };
        let right = visit(Node { value: node.value / 3, above: Some(&between), ..node });
        (left * 2 + right + between.value) % 1009
    }
}

/// A local that is dropped reads what it borrows, so the order of the two drops matters.
#[autobatch]
fn read_by_its_drop(n: u64, log: Log) -> u64 {
    struct Reader<'a>(&'a RefCell<Vec<u64>>, &'a Log);
    impl Drop for Reader<'_> {
        fn drop(&mut self) {
            self.1.note(self.0.borrow().iter().sum());
        }
    }
    let list = RefCell::new(vec![n]);
    let first = Reader(&list, &log);
    let mut others = vec![];
    for k in 0..n % 6 {
        list.borrow_mut().push(k);
        if k % 2 == 0 {
            others.push(Reader(first.0, first.1));
        } else {
            others.pop();
        }
    }
    log.note(others.len() as u64)
}

promises! {
    an_operator_that_assigns_keeps_a_reference: added, added_batched_with, numbers();
    a_shift_that_assigns_keeps_references: shifted_in, shifted_in_batched_with, numbers();
    collecting_into_ones_own_type_keeps_references:
        collected_and_extended, collected_and_extended_batched_with, numbers();
    macros_borrow: by_macros, by_macros_batched_with, numbers();
    functions_that_a_macro_makes_borrow: by_functions_of_a_macro, by_functions_of_a_macro_batched_with, numbers();
    macros_of_std_borrow: by_std_macros, by_std_macros_batched_with, numbers();
    an_opaque_iterator_captures: captured_by_an_opaque_iterator, captured_by_an_opaque_iterator_batched_with, numbers();
    an_opaque_function_captures: captured_by_an_opaque_function, captured_by_an_opaque_function_batched_with, numbers();
    an_opaque_value_captures: captured_by_an_opaque_value, captured_by_an_opaque_value_batched_with, numbers();
    an_alias_of_a_type_hides_a_borrow: behind_an_alias, behind_an_alias_batched_with, numbers();
    an_associated_type_hides_a_borrow: behind_an_associated_type, behind_an_associated_type_batched_with, numbers();
    a_type_parameter_hides_a_borrow: behind_a_type_parameter, behind_a_type_parameter_batched_with, numbers();
    functions_of_std_return_borrows: handed_on_by_std, handed_on_by_std_batched_with, numbers();
    the_greater_of_two_numbers_is_borrowed: greater_of_two_numbers, greater_of_two_numbers_batched_with, numbers();
    full_paths_borrow: by_full_paths, by_full_paths_batched_with, numbers();
    a_borrow_shadows_its_owner: shadowing_its_lender, shadowing_its_lender_batched_with, numbers();
    a_number_is_borrowed_between_writes:
        number_by_closure_and_reference, number_by_closure_and_reference_batched_with, numbers();
    a_guard_writes_a_number: number_that_a_guard_writes, number_that_a_guard_writes_batched_with, numbers();
    a_cell_of_a_number_writes_it: number_that_a_cell_writes, number_that_a_cell_writes_batched_with, numbers();
    operands_borrow_over_calls: in_operands::run, in_operands::run_batched_with, numbers();
    activations_refer_to_their_callers: linked_activations::run, linked_activations::run_batched_with, numbers();
}

logs_agree! {
    a_drop_reads_what_is_borrowed: read_by_its_drop, read_by_its_drop_batched_with, false;
}
