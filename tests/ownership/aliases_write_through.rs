//! A holder of references is written through another name: an element of it, a part, an exclusive borrow, a callee, a
//! closure. What it refers to from then on lives on in the local that was borrowed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem;
use std::rc::Rc;

use autobatch::autobatch;

use crate::common::promises::{Rows, View, lists, numbers, promises, texts};

/// Sums up what a list of references refers to.
fn total(refs: &[&f64]) -> f64 {
    refs.iter().fold(0.0, |sum, v| sum * 0.5 + **v)
}

#[autobatch]
fn by_the_iterator(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = [&y.d[0]; 3];
    for slot in refs.iter_mut() {
        *slot = &x.d[7];
    }
    let sum = refs.iter().fold(0.0, |sum, v| sum * 0.5 + **v);
    sum + x.spent() * y.spent()
}

#[autobatch]
fn by_the_iterator_of_a_list(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs: Vec<&f64> = y.d.iter().collect();
    for (k, slot) in refs.iter_mut().enumerate() {
        if k as u64 % 3 == n % 3 {
            *slot = &x.d[k];
        }
    }
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += refs[(k % 8) as usize];
        k /= 2;
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn by_the_last(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = vec![&y.d[0], &y.d[1]];
    for k in 0..n % 5 {
        if let Some(last) = refs.last_mut() {
            *last = &x.d[k as usize];
        }
        refs.push(&y.d[2]);
    }
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_the_first_and_the_rest(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = [&y.d[0], &y.d[1], &y.d[2]];
    for k in 0..n % 5 {
        let (first, rest) = refs.split_first_mut().unwrap();
        mem::swap(first, &mut rest[k as usize % 2]);
        rest[1] = &x.d[k as usize];
    }
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_halves(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = [&y.d[0]; 4];
    for k in 0..n % 6 {
        let (left, right) = refs.split_at_mut(2);
        if k % 2 == 0 { left[0] = &x.d[k as usize] } else { right[1] = left[0] }
    }
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_chunks(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = vec![&y.d[3]; 6];
    for chunk in refs.chunks_mut(2 + (n % 3) as usize) {
        let at = chunk.len();
        chunk[at - 1] = &x.d[at];
    }
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_match(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut b = if n % 3 == 0 { None } else { Some(&y) };
    let mut sum = 0.0;
    for k in 0..n % 5 {
        match &mut b {
            Some(rows) if k % 2 == 1 => *rows = &x,
            Some(rows) => sum += rows.d[k as usize],
            none => *none = Some(&x),
        }
    }
    sum + b.map_or(0.0, |rows| rows.d[1]) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_swap(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let (mut a, mut b) = (&x * 1.0, &y * 0.5);
    let mut sum = 0.0;
    for k in 0..n % 7 {
        if k % 3 != 0 {
            mem::swap(&mut a, &mut b);
        }
        sum = sum * 0.5 + a.at(k) - b.at(k + 1);
    }
    sum + y.spent() + x.spent()
}

#[autobatch]
fn by_a_replacement(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut at = &y.d[0];
    let mut sum = 0.0;
    for k in 0..n % 7 {
        let old = mem::replace(&mut at, &x.d[k as usize]);
        sum = sum * 0.5 + old;
    }
    sum + at + x.spent() + y.spent()
}

#[autobatch]
fn by_methods_of_options(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut slot: Option<&f64> = None;
    let mut sum = 0.0;
    for k in 0..n % 9 {
        sum += match k % 4 {
            0 => **slot.insert(&x.d[k as usize % 8]),
            1 => slot.replace(&y.d[k as usize % 8]).copied().unwrap_or(0.5),
            2 => slot.take().map_or(0.25, |v| *v),
            _ => **slot.get_or_insert(&x.d[0]),
        };
    }
    sum + slot.map_or(3.0, |v| *v) + x.spent() + y.spent()
}

#[autobatch]
fn by_an_exclusive_name(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut refs = Vec::new();
    let again = &mut refs;
    for k in 0..n % 7 {
        again.push(&x.d[k as usize]);
    }
    total(&refs) + refs.len() as f64 + x.spent()
}

#[autobatch]
fn by_an_exclusive_name_of_a_slot(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = [&x.d[0], &x.d[1]];
    let slot = &mut refs[(n % 2) as usize];
    let mut k = n;
    while k > 0 {
        *slot = if k % 3 == 0 { &x.d[4] } else { &y.d[(k % 8) as usize] };
        k /= 2;
    }
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_name_of_a_name(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut at = &y;
    {
        let mut one = &mut at;
        let two = &mut one;
        for k in 0..n % 4 {
            **two = if k == 2 { &y } else { &x };
        }
    }
    at.d[1] * 100.0 + x.spent() + y.spent()
}

#[autobatch]
fn by_a_field(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut view = &y * 0.5;
    let holder = &mut view;
    for k in 0..n % 4 {
        holder.of = &x.d[k as usize..];
        holder.by += 1.0;
    }
    view.at(n) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_ref_mut_pattern(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut pair = (&x.d[0], &y.d[0]);
    for k in 0..n % 6 {
        let (ref mut a, ref mut b) = pair;
        if k % 2 == 0 {
            *a = &y.d[k as usize];
        } else {
            mem::swap(a, b);
        }
    }
    pair.0 * 2.0 + pair.1 + x.spent() + y.spent()
}

#[autobatch]
fn by_for_each(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut refs = Vec::new();
    let mut k = n;
    while k > 0 {
        x.d.iter().filter(|v| **v > k as f64).for_each(|v| refs.push(v));
        k /= 3;
    }
    total(&refs) + refs.len() as f64 + x.spent()
}

#[autobatch]
fn by_a_fold(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut refs = Vec::new();
    for k in 0..n % 3 {
        x.d.iter().skip(k as usize).fold(&mut refs, |refs, v| {
            refs.push(v);
            refs
        });
    }
    total(&refs) + refs.len() as f64 + x.spent()
}

#[autobatch]
fn by_zipped_slots(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = [&y.d[0]; 4];
    let mut k = n;
    while k > 0 {
        let from = if k % 2 == 0 { &x } else { &y };
        refs.iter_mut().zip(from.d.iter().skip((k % 4) as usize)).for_each(|(slot, v)| *slot = v);
        k /= 3;
    }
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_kept_iterator_of_slots(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = vec![&x.d[0]; 5];
    let mut slots = refs.iter_mut();
    while let Some(slot) = slots.next() {
        *slot = &y.d[slots.len()];
        if slots.len() as u64 == n % 5 {
            break;
        }
    }
    total(&refs) + x.spent() + y.spent()
}

impl Rows {
    fn register<'a>(&'a self, refs: &mut Vec<&'a f64>) {
        refs.push(&self.d[5]);
    }

    fn register_at<'a>(&'a self, slot: &mut Option<View<'a>>, k: u64) -> bool {
        slot.replace(View { of: &self.d, by: k as f64 }).is_some()
    }
}

#[autobatch]
fn by_a_callee(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs = Vec::new();
    for k in 0..n % 6 {
        if k % 3 == 1 { y.register(&mut refs) } else { x.register(&mut refs) }
    }
    total(&refs) + refs.len() as f64 + x.spent() + y.spent()
}

#[autobatch]
fn by_a_callee_in_a_condition(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut slot = None;
    let mut k = n % 9;
    while x.register_at(&mut slot, k) && k > 2 {
        k /= 2;
    }
    let sum = slot.map_or(0.0, |view| view.at(3));
    sum + k as f64 + x.spent()
}

#[autobatch]
fn by_a_shared_list(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let list: Rc<RefCell<Vec<&Rows>>> = Rc::new(RefCell::new(Vec::new()));
    let other = Rc::clone(&list);
    for k in 0..n % 6 {
        if k % 2 == 0 { list.borrow_mut().push(&x) } else { other.borrow_mut().push(&y) }
    }
    let sum = list.borrow().iter().fold(0.0, |sum, rows| sum * 0.5 + rows.d[2]);
    drop((list, other));
    sum + x.spent() + y.spent()
}

#[autobatch]
fn by_a_cell(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let at = Cell::new(Some(&x));
    let mut sum = 0.0;
    for k in 0..n % 8 {
        if let Some(rows) = at.get() {
            sum = sum * 0.5 + rows.d[k as usize];
        }
        at.set(match k % 3 {
            0 => None,
            1 => Some(&x),
            _ => Some(&y),
        });
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn by_a_once_cell(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let first: OnceCell<&f64> = OnceCell::new();
    for k in 0..n % 8 {
        if x.d[k as usize] > y.d[0] {
            let _ = first.set(&x.d[k as usize]);
        }
    }
    first.get().map_or(0.5, |v| **v) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_closure(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut refs = Vec::new();
    let mut keep = |k: u64| refs.push(&x.d[(k % 8) as usize]);
    let mut k = n;
    while k > 0 {
        keep(k);
        k /= 2;
    }
    total(&refs) + refs.len() as f64 + x.spent()
}

#[autobatch]
fn by_a_boxed_closure(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut at = &x;
    let mut sum = 0.0;
    {
        let mut turn: Box<dyn FnMut(u64) -> f64 + '_> = Box::new(|k| {
            at = if k % 2 == 0 { &y } else { &x };
            at.d[(k % 8) as usize]
        });
        let mut k = n;
        while k > 0 {
            sum += turn(k);
            k /= 2;
        }
    }
    sum + at.d[0] + x.spent() + y.spent()
}

trait Sink<'a> {
    fn put(&mut self, value: &'a f64) -> usize;
}

impl<'a> Sink<'a> for Vec<&'a f64> {
    fn put(&mut self, value: &'a f64) -> usize {
        self.push(value);
        self.len()
    }
}

impl<'a> Sink<'a> for Option<&'a f64> {
    fn put(&mut self, value: &'a f64) -> usize {
        *self = Some(value);
        1
    }
}

#[autobatch]
fn by_a_trait(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut refs = vec![];
    let mut last = None;
    let mut count = 0;
    for k in 0..n % 7 {
        count += if k % 2 == 0 { refs.put(&x.d[k as usize]) } else { last.put(&x.d[k as usize]) };
    }
    total(&refs) + last.map_or(0.0, |v| *v) + count as f64 + x.spent()
}

#[autobatch]
fn by_a_trait_object(n: u64) -> f64 {
    let x = Rows::of(n);
    let (mut refs, mut last) = (Vec::new(), None);
    {
        let sinks: [&mut dyn Sink<'_>; 2] = [&mut refs, &mut last];
        for k in 0..n % 7 {
            sinks[(k % 2) as usize].put(&x.d[k as usize]);
        }
    }
    total(&refs) + last.map_or(0.0, |v: &f64| *v) + x.spent()
}

#[autobatch]
fn by_methods_of_lists(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut refs: Vec<&f64> = Vec::with_capacity(2);
    for k in 0..n % 7 {
        match k {
            0 => refs.extend(&x.d[..3]),
            1 => refs.extend_from_slice(&[&y.d[0], &y.d[1]]),
            2 => refs.insert(1, &y.d[5]),
            3 => refs.resize(9, &x.d[6]),
            4 => refs.retain(|v| **v > 2.0),
            5 => refs.fill(&y.d[7]),
            _ => refs.truncate(1),
        }
    }
    total(&refs) + refs.len() as f64 + x.spent() + y.spent()
}

#[autobatch]
fn by_sorting(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n * 3 + 1));
    let mut refs: Vec<&f64> = Vec::new();
    let mut k = n;
    while k > 0 {
        refs.push(if k % 2 == 0 { &x.d[(k % 8) as usize] } else { &y.d[(k % 8) as usize] });
        refs.sort_by(|a, b| b.total_cmp(a));
        refs.dedup();
        k /= 2;
    }
    let last = refs.len() - 1;
    refs.swap(0, last);
    total(&refs) + x.spent() + y.spent()
}

#[autobatch]
fn by_a_queue(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut queue = VecDeque::from([&x.heap[..]]);
    let mut sum = 0.0;
    let mut steps = 0;
    while let Some(part) = queue.pop_front() {
        steps += 1;
        if part.len() < 2 || steps > 5 + n % 4 {
            sum = sum * 0.5 + part[0];
            continue;
        }
        let (left, right) = part.split_at(part.len() / 2);
        queue.push_back(left);
        if right[0] > left[0] {
            queue.push_front(right);
        }
    }
    sum + x.spent()
}

#[autobatch]
fn by_entries(text: String) -> String {
    let fallback = String::from("none");
    let mut longest: BTreeMap<char, &str> = BTreeMap::new();
    for word in text.split(' ') {
        let slot = longest.entry(word.chars().next().unwrap()).or_insert(&fallback);
        if word.len() != 3 {
            *slot = word;
        }
    }
    let out: Vec<&str> = longest.values().copied().collect();
    let out = out.join("-");
    drop(longest);
    out + &fallback + &text
}

#[autobatch]
fn by_entries_of_lists(text: String) -> usize {
    let mut found: HashMap<usize, Vec<&str>> = HashMap::new();
    for word in text.split(' ') {
        found.entry(word.len()).or_default().push(word);
        if let Some(list) = found.get_mut(&3) {
            list.rotate_left(1);
        }
    }
    let three = found.get(&3).map_or(0, |list| list.iter().position(|word| *word == "oak").unwrap_or(50));
    let all: usize = found.values().map(Vec::len).sum();
    three * 100 + all + text.len()
}

/// An exclusive reference to one of two numbers, which the loop writes to.
#[autobatch]
fn one_of_two_numbers(n: u64) -> u64 {
    let (mut a, mut b) = (n, 3 * n + 1);
    let r = if n % 2 == 0 { &mut a } else { &mut b };
    let mut k = n;
    while k > 0 {
        *r += k;
        k /= 2;
    }
    a * 1000 + b
}

#[autobatch]
fn one_of_an_array_in_turn(n: u64) -> u64 {
    let mut counts = [n, 1, 2];
    let mut r = &mut counts[0];
    let mut k = n;
    while k > 0 {
        *r += k;
        r = &mut counts[(k % 3) as usize];
        k /= 2;
    }
    *r += 100;
    counts[0] + counts[1] * 1000 + counts[2] * 1_000_000
}

#[autobatch]
fn reborrowed(values: Vec<f64>) -> f64 {
    let mut values = values;
    let all = &mut values;
    for k in 0..3 {
        let again = &mut *all;
        if again.len() % 2 == k % 2 {
            again.push(k as f64);
        }
        let slice = again.as_mut_slice();
        slice[0] += 0.5;
    }
    all.truncate(5);
    values.into_iter().fold(0.0, |a, v| a * 0.5 + v)
}

/// A cursor in a list of boxes: it is moved through what it points to.
struct Link {
    value: u64,
    next: Option<Box<Link>>,
}

#[autobatch]
fn cursor_in_a_list(n: u64) -> u64 {
    let mut head: Option<Box<Link>> = None;
    for k in 0..n % 9 {
        let mut cursor = &mut head;
        while let Some(link) = cursor {
            if link.value % 3 == k % 3 {
                link.value += 10;
            }
            cursor = &mut link.next;
        }
        *cursor = Some(Box::new(Link { value: k + n, next: None }));
    }
    let mut sum = 0;
    let mut at = &head;
    while let Some(link) = at {
        sum = sum * 3 + link.value;
        at = &link.next;
    }
    sum
}

#[autobatch]
fn slice_that_shrinks(values: Vec<f64>) -> f64 {
    let mut values = values;
    let mut rest = &mut values[..];
    let mut sum = 0.0;
    while let Some((first, others)) = mem::take(&mut rest).split_first_mut() {
        *first *= 0.5;
        sum += *first;
        if let Some(next) = others.first_mut() {
            *next += sum;
        }
        rest = others;
    }
    sum + values[0] + values[values.len() - 1] * 3.0
}

#[autobatch]
mod lent_to_recursive_calls {
    use super::{Rows, total};

    pub(super) fn run(n: u64) -> f64 {
        let x = Rows::of(n);
        let mut refs = vec![&x.d[0]];
        visit(&x, n, &mut refs);
        total(&refs) + refs.len() as f64 + x.spent()
    }

    fn visit<'a>(x: &'a Rows, n: u64, refs: &mut Vec<&'a f64>) {
        if n == 0 {
            return;
        }
        refs.push(&x.d[(n % 8) as usize]);
        visit(x, n / 2, refs);
        if let Some(last) = refs.last_mut() {
            *last = &x.d[(n / 2 % 8) as usize];
        }
        visit(x, n / 3, refs);
    }
}

#[autobatch]
mod of_each_activation {
    use super::Rows;

    pub(super) fn run(n: u64) -> f64 {
        let first = Rows::of(n);
        let mut best = &first;
        let sum = visit(n, &mut best);
        sum + best.d[0] + first.spent()
    }

    fn visit(n: u64, best: &mut &Rows) -> f64 {
        if n == 0 {
            return best.d[1];
        }
        let mine = Rows::of(n);
        let mut better = if mine.d[2] > best.d[2] { &mine } else { *best };
        let sum = visit(n / 2, &mut better) + visit(n / 3, best);
        sum * 0.5 + better.d[3] + mine.spent() * 0.01
    }
}

promises! {
    slots_are_written_by_an_iterator: by_the_iterator, by_the_iterator_batched_with, numbers();
    slots_of_a_list_are_written_by_an_iterator:
        by_the_iterator_of_a_list, by_the_iterator_of_a_list_batched_with, numbers();
    the_last_slot_is_written: by_the_last, by_the_last_batched_with, numbers();
    the_first_slot_and_the_rest_are_written:
        by_the_first_and_the_rest, by_the_first_and_the_rest_batched_with, numbers();
    slots_are_written_by_halves: by_halves, by_halves_batched_with, numbers();
    slots_are_written_by_chunks: by_chunks, by_chunks_batched_with, numbers();
    a_slot_is_written_by_a_match: by_a_match, by_a_match_batched_with, numbers();
    holders_are_swapped: by_a_swap, by_a_swap_batched_with, numbers();
    a_holder_is_replaced: by_a_replacement, by_a_replacement_batched_with, numbers();
    an_option_is_filled_by_its_methods: by_methods_of_options, by_methods_of_options_batched_with, numbers();
    a_list_is_filled_by_another_name: by_an_exclusive_name, by_an_exclusive_name_batched_with, numbers();
    a_slot_is_written_by_another_name:
        by_an_exclusive_name_of_a_slot, by_an_exclusive_name_of_a_slot_batched_with, numbers();
    a_holder_is_written_by_a_name_of_a_name: by_a_name_of_a_name, by_a_name_of_a_name_batched_with, numbers();
    a_field_is_written_by_another_name: by_a_field, by_a_field_batched_with, numbers();
    parts_are_written_by_a_pattern: by_a_ref_mut_pattern, by_a_ref_mut_pattern_batched_with, numbers();
    for_each_keeps_references: by_for_each, by_for_each_batched_with, numbers();
    a_fold_keeps_references: by_a_fold, by_a_fold_batched_with, numbers();
    zipped_slots_are_written: by_zipped_slots, by_zipped_slots_batched_with, numbers();
    an_iterator_across_a_loop_writes_to_slots: by_a_kept_iterator_of_slots, by_a_kept_iterator_of_slots_batched_with, numbers();
    a_callee_keeps_its_receiver: by_a_callee, by_a_callee_batched_with, numbers();
    a_callee_in_a_condition_keeps_its_receiver:
        by_a_callee_in_a_condition, by_a_callee_in_a_condition_batched_with, numbers();
    a_shared_list_keeps_references: by_a_shared_list, by_a_shared_list_batched_with, numbers();
    a_cell_keeps_references: by_a_cell, by_a_cell_batched_with, numbers();
    a_once_cell_keeps_a_reference: by_a_once_cell, by_a_once_cell_batched_with, numbers();
    a_closure_keeps_references: by_a_closure, by_a_closure_batched_with, numbers();
    a_boxed_closure_keeps_a_reference: by_a_boxed_closure, by_a_boxed_closure_batched_with, numbers();
    a_trait_keeps_references: by_a_trait, by_a_trait_batched_with, numbers();
    trait_objects_keep_references: by_a_trait_object, by_a_trait_object_batched_with, numbers();
    methods_of_lists_keep_references: by_methods_of_lists, by_methods_of_lists_batched_with, numbers();
    sorted_references_stay_valid: by_sorting, by_sorting_batched_with, numbers();
    a_queue_keeps_parts: by_a_queue, by_a_queue_batched_with, numbers();
    entries_of_a_map_are_written: by_entries, by_entries_batched_with, texts();
    lists_in_a_map_keep_references: by_entries_of_lists, by_entries_of_lists_batched_with, texts();
    one_of_two_numbers_is_written: one_of_two_numbers, one_of_two_numbers_batched_with, numbers();
    elements_of_an_array_are_written_in_turn: one_of_an_array_in_turn, one_of_an_array_in_turn_batched_with, numbers();
    a_reborrow_writes: reborrowed, reborrowed_batched_with, lists();
    a_cursor_writes_to_its_list: cursor_in_a_list, cursor_in_a_list_batched_with, numbers();
    a_slice_that_shrinks_writes: slice_that_shrinks, slice_that_shrinks_batched_with, lists();
    recursive_calls_keep_references: lent_to_recursive_calls::run, lent_to_recursive_calls::run_batched_with, numbers();
    each_activation_is_borrowed_by_its_calls: of_each_activation::run, of_each_activation::run_batched_with, numbers();
}
