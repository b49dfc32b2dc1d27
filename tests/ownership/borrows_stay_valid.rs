//! A local is borrowed, the borrow is used in a loop or a call, and the local is moved in the end. One borrow of it is
//! plain to see, another is made by a pattern, a container, a conversion or a function.

use std::borrow::{Borrow, Cow};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
use std::pin::Pin;
use std::rc::Rc;

use autobatch::autobatch;

use crate::common::promises::{Rows, View, lists, numbers, promises, texts};

#[autobatch]
fn by_pattern(n: u64) -> f64 {
    let pair = (Rows::of(n), n);
    let (ref rows, count) = pair;
    let mut sum = 0.0;
    for k in 0..count % 5 {
        sum += rows.d[k as usize];
    }
    sum + pair.0.spent()
}

#[autobatch]
fn by_top_level_ref(n: u64) -> f64 {
    let x = Rows::of(n);
    let ref rows = x;
    let mut sum = 0.0;
    for k in 0..n % 6 {
        sum += rows.d[k as usize];
    }
    sum + x.spent()
}

#[autobatch]
fn by_default_binding(n: u64) -> f64 {
    let maybe = if n % 5 == 0 { None } else { Some(Rows::of(n)) };
    let mut sum = 0.0;
    if let Some(rows) = &maybe {
        let mut k = n;
        while k > 0 {
            sum += rows.d[(k % 8) as usize];
            k /= 2;
        }
    }
    sum + maybe.map_or(0.5, Rows::spent)
}

#[autobatch]
fn by_bound_parts(n: u64) -> f64 {
    let x = Rows::of(n);
    let [first, .., last] = &x.heap[..] else { return 0.0 };
    let whole @ [_, second, rest @ ..] = &x.d[..] else { return 1.0 };
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += first + last * second + rest[(k % 6) as usize] + whole[0];
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn in_an_option(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut kept = None;
    let mut sum = 0.0;
    for k in 0..n % 8 {
        if k == 3 {
            kept = Some(&x);
        }
        sum += kept.map_or(0.25, |rows| rows.d[k as usize]);
    }
    sum + x.spent()
}

#[autobatch]
fn in_an_array(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let all = [&x, &y, &x];
    let mut sum = 0.0;
    for k in 0..n % 9 {
        sum = sum * 0.5 + all[k as usize % 3].d[k as usize % 8];
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn repeated_in_an_array(n: u64) -> f64 {
    let x = Rows::of(n);
    let all = [&x.d[2]; 4];
    let mut sum = 0.0;
    for k in 0..n % 9 {
        sum = sum * 0.5 + all[k as usize % 4];
    }
    sum + x.spent()
}

#[autobatch]
fn in_a_tuple(n: u64) -> f64 {
    let x = Rows::of(n);
    let named = (n, &x.d, "name");
    let mut sum = 0.0;
    let mut k = named.0;
    while k > 0 {
        sum += named.1[(k % 8) as usize] + named.2.len() as f64;
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn in_a_struct(n: u64) -> f64 {
    let x = Rows::of(n);
    let view = View { of: &x.d, by: 0.5 };
    let other = View { by: 2.0, ..view };
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += view.at(k) - other.at(k / 2);
        k /= 2;
    }
    sum + x.spent()
}

enum Shape<'a> {
    Bare(f64),
    Of(&'a Rows),
    Both { left: &'a f64, right: &'a f64 },
}

#[autobatch]
fn in_an_enum(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut shape = Shape::Bare(0.5);
    let mut sum = 0.0;
    for k in 0..n % 10 {
        sum += match shape {
            Shape::Bare(v) => v,
            Shape::Of(rows) => rows.d[k as usize % 8],
            Shape::Both { left, right } => left - right,
        };
        shape = match k % 3 {
            0 => Shape::Of(&x),
            1 => Shape::Both { left: &x.d[1], right: &x.d[6] },
            _ => Shape::Bare(sum),
        };
    }
    sum + x.spent()
}

#[autobatch]
fn as_a_cow(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut cow = Cow::Borrowed(&x.heap[..4]);
    let mut sum = 0.0;
    for k in 0..n % 7 {
        if k == 4 {
            cow.to_mut()[0] = 100.0;
        }
        sum += cow[k as usize % 4];
    }
    let owned = u64::from(matches!(cow, Cow::Owned(_))) as f64;
    sum + owned + x.spent()
}

#[autobatch]
fn as_a_cow_of_text(text: String) -> String {
    let clean = if text.contains("7") { Cow::from(text.replace('7', "seven")) } else { Cow::from(&text) };
    let mut out = String::new();
    for word in clean.split(' ') {
        if word.len() > 2 {
            out.push_str(word);
        }
    }
    let length = clean.len();
    drop(clean);
    out.push_str(&length.to_string());
    out + &text
}

#[autobatch]
fn as_an_iterator(values: Vec<f64>) -> f64 {
    let mut left = values.iter();
    let mut sum = 0.0;
    while let Some(v) = left.next() {
        sum += v * left.len() as f64;
        if sum > 4.0 {
            break;
        }
    }
    let rest = left.as_slice().len() as f64;
    sum + rest + values.into_iter().fold(0.0, |a, v| a * 0.5 + v)
}

#[autobatch]
fn as_a_peekable_iterator(values: Vec<f64>) -> f64 {
    let mut left = values.iter().peekable();
    let mut sum = 0.0;
    while let Some(v) = left.next() {
        sum += match left.peek() {
            Some(&&next) if next > *v => next - v,
            Some(_) => 0.5,
            None => 100.0,
        };
    }
    sum + values.into_iter().fold(0.0, |a, v| a * 0.5 + v)
}

#[autobatch]
fn as_windows_and_chunks(values: Vec<f64>) -> f64 {
    let mut windows = values.windows(2);
    let mut chunks = values.chunks(3);
    let mut sum = 0.0;
    loop {
        match (windows.next(), chunks.next()) {
            (Some(w), Some(c)) => sum += w[0] * w[1] + c[c.len() - 1],
            (Some(w), None) => sum -= w[1],
            (None, Some(c)) => sum += c[0],
            (None, None) => break,
        }
    }
    sum + values.into_iter().sum::<f64>()
}

#[autobatch]
fn as_parts_of_text(text: String) -> u64 {
    let mut words = text.split_whitespace();
    let trimmed = text.trim_start_matches("ash");
    let mut chars = trimmed.char_indices();
    let mut sum = 0;
    while let Some(word) = words.next() {
        sum = sum * 3 + word.len() as u64;
        if let Some((at, c)) = chars.nth(1) {
            sum += at as u64 + u64::from(u32::from(c));
        }
        sum %= 1_000_003;
    }
    drop(words);
    sum * 100 + text.into_bytes().len() as u64
}

#[autobatch]
fn collected(values: Vec<f64>) -> f64 {
    let positive: Vec<&f64> = values.iter().filter(|v| **v > 0.0).collect();
    let mut sum = 0.0;
    for (k, v) in positive.iter().enumerate() {
        if k != 1 {
            sum += **v * k as f64;
        }
    }
    let count = positive.len() as f64;
    sum + count + values.into_iter().fold(0.0, |a, v| a * 0.5 + v)
}

#[autobatch]
fn collected_by_key(text: String) -> String {
    let by_length: BTreeMap<usize, &str> = text.split(' ').map(|word| (word.len(), word)).collect();
    let mut out = String::new();
    for (length, word) in &by_length {
        if length % 2 == 1 {
            out.push_str(word);
        }
    }
    let last = by_length.last_key_value().map_or(0, |(k, w)| k + w.len());
    format!("{out}{last}{}", { text })
}

#[autobatch]
fn from_a_function_of_an_index(n: u64) -> f64 {
    let x = Rows::of(n);
    let parts: [&f64; 4] = std::array::from_fn(|k| &x.d[k * 2]);
    let mut sum = 0.0;
    for k in 0..n % 11 {
        sum = sum * 0.5 + parts[k as usize % 4];
    }
    sum + x.spent()
}

#[autobatch]
fn from_a_greatest(values: Vec<f64>) -> f64 {
    let greatest = values.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
    let mut sum = 0.0;
    let mut k = values.len();
    while k > 0 {
        sum = sum * 0.5 + greatest;
        k /= 2;
    }
    let sorted = { values };
    sum + sorted.len() as f64
}

#[autobatch]
fn from_a_reference_to_one(n: u64) -> f64 {
    let x = Rows::of(n);
    let one = std::slice::from_ref(&x);
    let mut forever = std::iter::repeat(&x.d[5]);
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += one[0].d[(k % 8) as usize] + forever.next().unwrap();
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn from_conversions(n: u64) -> f64 {
    let x = Rows::of(n);
    let slice: &[f64] = x.d.as_ref();
    let lent: &[f64] = x.d.borrow();
    let pinned = Pin::new(&x);
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += slice[(k % 8) as usize] * lent[0] + pinned.d[1];
        k /= 2;
    }
    sum + x.spent()
}

impl<'a> From<&'a Rows> for View<'a> {
    fn from(rows: &'a Rows) -> Self {
        View { of: &rows.d, by: 0.25 }
    }
}

#[autobatch]
fn from_own_conversions(n: u64) -> f64 {
    let x = Rows::of(n);
    let one = View::from(&x);
    let other: View<'_> = (&x).into();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += one.at(k) - other.at(k / 2);
        k /= 2;
    }
    sum + x.spent()
}

fn itself<T>(value: T) -> T {
    value
}

fn later<'a>(rows: &'a Rows, _: &str) -> &'a f64 {
    &rows.d[6]
}

#[autobatch]
fn from_functions(n: u64) -> f64 {
    let x = Rows::of(n);
    let same = itself(&x);
    let pick: for<'a> fn(&'a Rows, &'static str) -> &'a f64 = later;
    let picked = pick(&x, "a");
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += same.d[(k % 8) as usize] + picked;
        k /= 2;
    }
    sum + x.spent()
}

struct Between<'a>(&'a u64, u64);

impl RangeBounds<u64> for Between<'_> {
    fn start_bound(&self) -> Bound<&u64> {
        Bound::Included(self.0)
    }
    fn end_bound(&self) -> Bound<&u64> {
        Bound::Excluded(&self.1)
    }
}

#[autobatch]
fn in_a_range(n: u64) -> u64 {
    let low = n / 3;
    let range = Between(&low, n);
    let open = &low..&n;
    let mut inside = 0;
    for k in 0..n % 40 {
        if range.contains(&k) && open.contains(&&k) {
            inside += k;
        }
    }
    inside * 100 + low
}

/// The borrow goes through a pointer that is shared.
#[autobatch]
fn through_a_shared_pointer(n: u64) -> f64 {
    let x = Rc::new(Rows::of(n));
    let other = Rc::clone(&x);
    let inside = &other.d;
    let mut sum = Rc::strong_count(&x) as f64;
    for k in 0..n % 9 {
        sum = sum * 0.5 + inside[k as usize % 8];
    }
    drop(x);
    sum + Rc::try_unwrap(other).map_or(0.0, Rows::spent)
}

#[autobatch]
fn through_a_cell_of_references(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 2));
    let at = RefCell::new(&x);
    let mut sum = 0.0;
    for k in 0..n % 9 {
        sum = sum * 0.5 + at.borrow().d[k as usize % 8];
        if k % 3 == 1 {
            at.replace(&y);
        }
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn two_levels(n: u64) -> f64 {
    let x = Rows::of(n);
    let one = &x;
    let two = &one;
    let three = &two;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += three.d[(k % 8) as usize];
        k /= 2;
    }
    sum + x.spent()
}

/// The borrow is of a part, and another part is moved before it is used.
#[autobatch]
fn of_a_part_beside_a_move(n: u64) -> f64 {
    let pair = (Rows::of(n), Rows::of(n + 1));
    let kept = &pair.0.d[1];
    let mut sum = pair.1.spent();
    for _ in 0..n % 6 {
        sum = sum * 0.5 + kept;
    }
    sum + pair.0.spent()
}

#[autobatch]
fn of_a_value_made_late(n: u64) -> f64 {
    let x;
    let kept;
    if n % 3 == 0 {
        x = Rows::of(n);
        kept = -&x;
    } else {
        x = Rows::of(n + 9);
        kept = &x * 3.0;
    }
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += kept.at(k);
        k /= 2;
    }
    sum + x.spent()
}

/// The local is replaced between two borrows of it.
#[autobatch]
fn of_a_value_replaced(n: u64) -> f64 {
    let mut x = Rows::of(n);
    let mut sum = 0.0;
    for k in 0..n % 6 {
        let view = &x * 0.5;
        let mut j = k + 1;
        while j > 0 {
            sum += view.at(j);
            j /= 2;
        }
        x = Rows::of(sum.abs() as u64 % 50);
    }
    sum + x.spent()
}

#[autobatch]
mod over_recursive_calls {
    use super::{Rows, View};

    pub(super) fn run(n: u64) -> f64 {
        let x = Rows::of(n);
        if n < 2 {
            return x.spent();
        }
        let seen = &x;
        let view = &x * 2.0;
        let a = run(n / 2);
        let b = borrowed(&view, n % 7);
        a * 0.25 + b + view.at(n) + seen.d[2] + x.spent()
    }

    fn borrowed(view: &View<'_>, n: u64) -> f64 {
        if n == 0 {
            return 0.5;
        }
        let inner = View { of: &view.of[1..], by: view.by * 0.5 };
        borrowed(&inner, n - 1) + inner.at(n)
    }
}

#[autobatch]
mod returned_by_calls {
    use super::Rows;

    pub(super) fn run(n: u64) -> f64 {
        let (x, y) = (Rows::of(n), Rows::of(n + 1));
        let chosen = choose(&x, &y, n);
        let mut sum = 0.0;
        for k in 0..n % 6 {
            sum += chosen.d[k as usize] + choose(&y, chosen, k).d[0];
        }
        sum + y.spent() - x.spent()
    }

    fn choose<'a>(x: &'a Rows, y: &'a Rows, n: u64) -> &'a Rows {
        if n < 3 { x } else { choose(y, x, n / 2) }
    }
}

promises! {
    a_borrow_by_a_pattern_stays_valid: by_pattern, by_pattern_batched_with, numbers();
    a_borrow_by_a_let_ref_stays_valid: by_top_level_ref, by_top_level_ref_batched_with, numbers();
    a_borrow_by_a_default_binding_stays_valid: by_default_binding, by_default_binding_batched_with, numbers();
    parts_that_a_slice_pattern_borrows_stay_valid: by_bound_parts, by_bound_parts_batched_with, numbers();
    a_reference_in_an_option_stays_valid: in_an_option, in_an_option_batched_with, numbers();
    references_in_an_array_stay_valid: in_an_array, in_an_array_batched_with, numbers();
    a_reference_repeated_in_an_array_stays_valid: repeated_in_an_array, repeated_in_an_array_batched_with, numbers();
    a_reference_in_a_tuple_stays_valid: in_a_tuple, in_a_tuple_batched_with, numbers();
    a_reference_in_a_struct_stays_valid: in_a_struct, in_a_struct_batched_with, numbers();
    references_in_an_enum_stay_valid: in_an_enum, in_an_enum_batched_with, numbers();
    a_borrowed_cow_stays_valid: as_a_cow, as_a_cow_batched_with, numbers();
    a_cow_of_text_stays_valid: as_a_cow_of_text, as_a_cow_of_text_batched_with, texts();
    an_iterator_stays_valid: as_an_iterator, as_an_iterator_batched_with, lists();
    a_peekable_iterator_stays_valid: as_a_peekable_iterator, as_a_peekable_iterator_batched_with, lists();
    windows_and_chunks_stay_valid: as_windows_and_chunks, as_windows_and_chunks_batched_with, lists();
    parts_of_a_text_stay_valid: as_parts_of_text, as_parts_of_text_batched_with, texts();
    collected_references_stay_valid: collected, collected_batched_with, lists();
    references_collected_by_key_stay_valid: collected_by_key, collected_by_key_batched_with, texts();
    an_array_made_of_references_stays_valid:
        from_a_function_of_an_index, from_a_function_of_an_index_batched_with, numbers();
    the_greatest_element_stays_valid: from_a_greatest, from_a_greatest_batched_with, lists();
    a_slice_of_one_stays_valid: from_a_reference_to_one, from_a_reference_to_one_batched_with, numbers();
    borrows_by_conversions_stay_valid: from_conversions, from_conversions_batched_with, numbers();
    borrows_by_a_users_conversion_stay_valid: from_own_conversions, from_own_conversions_batched_with, numbers();
    borrows_by_functions_stay_valid: from_functions, from_functions_batched_with, numbers();
    a_range_of_references_stays_valid: in_a_range, in_a_range_batched_with, numbers();
    the_value_in_a_shared_pointer_stays_valid: through_a_shared_pointer, through_a_shared_pointer_batched_with, numbers();
    a_reference_in_a_cell_stays_valid:
        through_a_cell_of_references, through_a_cell_of_references_batched_with, numbers();
    references_to_references_stay_valid: two_levels, two_levels_batched_with, numbers();
    a_borrowed_part_outlives_a_moved_one: of_a_part_beside_a_move, of_a_part_beside_a_move_batched_with, numbers();
    a_borrow_of_a_value_made_late_stays_valid: of_a_value_made_late, of_a_value_made_late_batched_with, numbers();
    a_value_is_replaced_between_borrows: of_a_value_replaced, of_a_value_replaced_batched_with, numbers();
    borrows_stay_valid_over_recursive_calls:
        over_recursive_calls::run, over_recursive_calls::run_batched_with, numbers();
    borrows_that_calls_return_stay_valid: returned_by_calls::run, returned_by_calls::run_batched_with, numbers();
}
