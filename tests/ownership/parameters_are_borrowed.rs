//! Locals borrow from parameters: from a member's state, from its slice, from shared values, and from its own values.

use std::collections::BTreeMap;
use std::mem;

use autobatch::autobatch;

use crate::common::promises::{Rows, View, agree, lists, numbers, states_agree, texts};

#[autobatch]
fn last_of_a_state(xs: &mut Vec<f64>, n: u64) -> f64 {
    let Some(last) = xs.last_mut() else { return n as f64 };
    let mut k = n;
    while k > 0 {
        *last = *last * 0.5 + k as f64;
        k /= 2;
    }
    *last
}

#[autobatch]
fn slots_of_a_state(xs: &mut Vec<f64>, n: u64) -> f64 {
    let mut sum = 0.0;
    let mut slots: Vec<&mut f64> = xs.iter_mut().filter(|x| **x > 0.0).collect();
    let mut k = n;
    while k > 0 {
        if let Some(slot) = slots.pop() {
            match slots.first_mut() {
                Some(first) => **first += k as f64,
                None => sum += 0.5,
            }
            *slot *= 2.0;
        }
        k /= 2;
    }
    sum + xs.iter().sum::<f64>()
}

#[autobatch]
fn state_by_another_name(xs: &mut Vec<f64>, n: u64) -> usize {
    let all = xs;
    let mut taken = Vec::new();
    for k in 0..n % 7 {
        let again = &mut *all;
        match again.iter().position(|x| *x < k as f64 * 0.3) {
            Some(at) => taken.push(again.swap_remove(at)),
            None => again.push(0.5 + k as f64),
        }
        if taken.len() > 2 {
            mem::swap(again, &mut taken);
        }
    }
    all.len() * 100 + taken.len()
}

#[autobatch]
fn halves_of_a_state(xs: &mut Vec<f64>, n: u64) -> f64 {
    let middle = xs.len() / 2;
    let (mut left, mut right) = xs.split_at_mut(middle);
    let mut sum = 0.0;
    for k in 0..n % 6 {
        if let (Some(a), Some(b)) = (left.first_mut(), right.last_mut()) {
            mem::swap(a, b);
            *a += k as f64;
            sum = sum * 0.5 + *b;
        }
        (left, right) = (right, left);
    }
    sum + n as f64
}

#[autobatch]
mod recursion_with_a_state {
    pub(super) fn run(xs: &mut Vec<f64>, n: u64) -> f64 {
        let first = &mut 0.25;
        let sum = visit(xs, first, n);
        sum + *first
    }

    fn visit(xs: &mut Vec<f64>, best: &mut f64, n: u64) -> f64 {
        if n == 0 {
            xs.push(*best);
            return 1.0;
        }
        let mut mine = n as f64 * 0.5;
        let better = if mine > *best { &mut *best } else { &mut mine };
        let sum = visit(xs, better, n / 2);
        let kept = xs.last_mut().unwrap();
        *kept += sum;
        let value = *kept;
        let rest = visit(xs, best, n / 3);
        value * 0.5 + rest + mine
    }
}

/// A state with methods.
#[derive(Clone, Debug, PartialEq)]
struct Machine {
    stack: Vec<u64>,
    steps: u64,
}

impl crate::common::Bits for Machine {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch]
impl Machine {
    fn run(&mut self, n: u64) -> u64 {
        let mut k = n;
        while k > 0 {
            let top = self.top();
            *top = *top * 3 % 101 + k;
            if *top % 4 == 1 {
                self.stack.push(k);
            }
            let Machine { stack, steps } = self;
            *steps += 1;
            for slot in stack.iter_mut().skip(1) {
                *slot ^= *steps;
            }
            k /= 2;
        }
        self.descend(n % 4)
    }

    fn descend(&mut self, n: u64) -> u64 {
        let at = n as usize % self.stack.len().max(1);
        if n == 0 {
            return *self.top();
        }
        let below = self.descend(n - 1);
        if let Some(slot) = self.stack.get_mut(at) {
            *slot += below % 7;
        }
        below + *self.top()
    }
}

impl Machine {
    fn top(&mut self) -> &mut u64 {
        if self.stack.is_empty() {
            self.stack.push(1);
        }
        self.stack.last_mut().unwrap()
    }
}

fn machines() -> Vec<Machine> {
    numbers().into_iter().map(|n| Machine { stack: (0..n % 4).map(|k| k * n).collect(), steps: n }).collect()
}

#[autobatch]
fn words_of_a_text(#[each] text: &str, n: u64) -> String {
    let mut by_first: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    let mut last = "";
    for word in text.split(' ') {
        if let Some(first) = word.chars().next() {
            let list = by_first.entry(first).or_default();
            list.push(word);
            list.extend((list.len() as u64 <= n % 3).then_some(last));
        }
        last = word;
    }
    by_first.into_values().flatten().collect::<Vec<_>>().join("+")
}

#[test]
fn a_map_holds_parts_of_a_members_text() {
    let inputs: Vec<(String, u64)> = texts().into_iter().zip(numbers()).collect();
    agree!(inputs, |(text, n)| words_of_a_text(text, *n), |batch, options| {
        let (texts, numbers): (Vec<_>, Vec<_>) = batch.iter().map(|(text, n)| (text.as_str(), *n)).unzip();
        words_of_a_text_batched_with(&texts, &numbers, options)
    });
}

#[autobatch]
fn extremes_of_a_list(#[each] xs: &[f64], n: u64) -> f64 {
    let own = vec![n as f64 * 0.1, -1.0];
    let (mut low, mut high) = (&own[0], &own[0]);
    for x in xs.iter().chain(&own) {
        if x < low {
            low = x;
        } else if x > high {
            high = x;
        }
    }
    let result = high - low * 0.5;
    drop(own);
    result
}

#[test]
fn a_local_and_a_members_slice_are_borrowed_together() {
    let inputs: Vec<(Vec<f64>, u64)> = lists().into_iter().zip(numbers()).collect();
    agree!(inputs, |(xs, n)| extremes_of_a_list(xs, *n), |batch, options| {
        let lists: Vec<&[f64]> = batch.iter().map(|(xs, _)| &xs[..]).collect();
        let numbers: Vec<u64> = batch.iter().map(|(_, n)| *n).collect();
        extremes_of_a_list_batched_with(&lists, &numbers, options)
    });
}

#[autobatch]
fn shared_and_own<'a>(model: &'a [f64], n: u64) -> &'a f64 {
    let x = Rows::of(n);
    let view = &x * 0.5;
    let mut best = &model[0];
    let mut nearest = f64::MAX;
    for (k, m) in model.iter().enumerate() {
        let distance = (view.at(k as u64) - m).abs();
        if distance < nearest {
            nearest = distance;
            best = m;
        }
    }
    best
}

#[test]
fn the_result_borrows_from_shared_values() {
    let model: &[f64] = &[0.5, 3.25, 7.0, 11.5, 2.0, 9.75];
    // A result that borrows can't be kept with a static function: it is compared at once.
    let expected: Vec<&f64> = numbers().into_iter().map(|n| shared_and_own(model, n)).collect();
    assert!(expected.iter().any(|best| *best != expected[0]));
    for (name, options) in crate::common::executors() {
        let found = shared_and_own_batched_with(model, &numbers(), &options).unwrap().into_values().unwrap();
        assert!(found.iter().zip(&expected).all(|(a, b)| std::ptr::eq(*a, *b)), "{name}");
    }
}

#[autobatch]
fn owned_and_lent_out(x: Vec<f64>, mut y: Vec<f64>) -> Vec<f64> {
    let view = View { of: &x, by: 2.0 };
    let mut longer = &mut y;
    let mut spare = Vec::new();
    for k in 0..x.len() as u64 {
        longer.push(view.at(k));
        if longer.len() % 3 == 0 {
            longer = &mut spare;
        }
    }
    longer.push(0.5);
    drop(x);
    y.append(&mut spare);
    y
}

#[test]
fn owned_parameters_are_borrowed_and_returned() {
    agree!(lists(), |x| owned_and_lent_out(x.clone(), vec![1.0, x[0]]), |batch, options| {
        let others: Vec<Vec<f64>> = batch.iter().map(|x| vec![1.0, x[0]]).collect();
        owned_and_lent_out_batched_with(batch, others, options)
    });
}

states_agree! {
    the_last_of_a_state_is_written: last_of_a_state, last_of_a_state_batched_with, lists();
    slots_of_a_state_are_written: slots_of_a_state, slots_of_a_state_batched_with, lists();
    a_state_is_written_by_another_name: state_by_another_name, state_by_another_name_batched_with, lists();
    halves_of_a_state_are_swapped: halves_of_a_state, halves_of_a_state_batched_with, lists();
    recursive_calls_write_to_a_state:
        recursion_with_a_state::run, recursion_with_a_state::run_batched_with, lists();
    methods_borrow_parts_of_a_state: Machine::run, Machine::run_batched_with, machines();
}
