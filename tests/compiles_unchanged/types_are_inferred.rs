//! What compiles without the attribute compiles with it, with the same types inferred.

#![allow(clippy::all)] // as users write, not as one should

use std::fmt::Debug;

use autobatch::autobatch;

use crate::common::promises::{Rows, agree, floats, lists, numbers, promises, texts};

#[autobatch]
fn reborrowed_and_returned(xs: &mut Vec<f32>) -> &mut Vec<f32> {
    for v in &mut *xs {
        *v = *v * 0.5 + 1.0;
    }
    xs
}

#[test]
fn the_exclusive_parameter_is_reborrowed_and_returned() {
    use crate::common::executors;
    let make =
        || -> Vec<Vec<f32>> { (0..37).map(|i| (0..i % 5).map(|k| (i * k) as f32).collect()).collect() };
    let mut expected = make();
    let returned: Vec<Vec<f32>> = expected.iter_mut().map(|xs| reborrowed_and_returned(xs).clone()).collect();
    assert_ne!(expected, make());
    for (name, options) in executors() {
        let mut state = make();
        let results = reborrowed_and_returned_batched_with(&mut state, &options).unwrap();
        let results: Vec<Vec<f32>> =
            results.into_values().unwrap().into_iter().map(|xs| xs.clone()).collect();
        assert_eq!(results, returned, "{name}");
        assert_eq!(state, expected, "{name}");
    }
}

#[autobatch]
fn chosen_closure(x: f64) -> f64 {
    let offset = x * 3.0;
    let c = x > 0.0;
    let op: &dyn Fn(f64) -> f64 = if c { &|y| y * 2.0 } else { &|y| y + offset };
    let mut sum = 0.0;
    let mut k = 0;
    while sum < 10.0 && k < 20 {
        sum += op(f64::from(k)).abs();
        k += 1;
    }
    sum + f64::from(k)
}

trait Find {
    fn position(&self, k: u64) -> Option<&f64>;
}

impl Find for Rows {
    fn position(&self, k: u64) -> Option<&f64> {
        self.heap.iter().find(|v| **v > k as f64)
    }
}

#[autobatch]
fn named_like_an_adaptor(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut sum = 0.0;
    let mut last = x.position(n);
    for k in 0..n % 9 {
        if let Some(found) = last {
            sum = sum * 0.5 + found;
        }
        last = x.position(k * 3);
    }
    sum + last.copied().unwrap_or(0.25)
}

#[autobatch]
fn assigned_before_the_break(n: u64) -> (u64, u64) {
    let mut k = n;
    let mut steps = 0;
    let hit;
    loop {
        steps += 1;
        if k % 7 == 3 || steps > 20 {
            hit = k;
            break;
        }
        k = k * 3 % 41 + 1;
    }
    (hit, steps)
}

#[autobatch]
fn assigned_at_one_of_two_breaks(n: u64) -> (u64, u64) {
    let mut k = n;
    let mut steps = 0;
    let (hit, why);
    loop {
        steps += 1;
        if k % 7 == 3 {
            hit = k;
            why = 1;
            break;
        }
        if steps > n % 6 + 1 {
            (hit, why) = (k * 2, 2);
            break;
        }
        k = k * 3 % 41 + 1;
    }
    (hit, why * 100 + steps)
}

fn error_of(x: f64, k: u32) -> f64 {
    x * f64::from(k) + x * x
}

#[autobatch]
fn accumulated_float(x: f64, round: u32) -> f64 {
    let mut e = 0.0;
    for k in 0..round {
        if k % 2 == 0 {
            e += error_of(x, k) / 6.0;
        }
    }
    e.max(round as f64 - 2.5)
}

#[test]
fn a_float_is_inferred_from_what_is_added_to_it() {
    agree!(floats(), |&x| accumulated_float(x, 4), |batch, options| {
        accumulated_float_batched_with(batch, autobatch::same(4), options)
    });
}

#[autobatch]
fn shadowed_by_a_cast(n: u64) -> i64 {
    let mut sum = 0;
    let mut state = n;
    for i in 0..=((n % 3) as i64) {
        let i: i64 = i as i64;
        for j in (0..3).rev() {
            sum += i * 10 + j;
            state = state * 5 % 37;
            if sum > 40 && state % 3 == 0 {
                return sum + state as i64;
            }
            let mut inner = j;
            while inner < 2 {
                inner += 1;
                sum ^= inner << 2;
            }
        }
        match state % 4 {
            0 => sum += 1,
            1 if i > 0 => {
                let j = -i;
                sum -= j;
            }
            _ => {
                if sum % 2 == 0 {
                    sum += i;
                }
            }
        }
    }
    sum - state as i64
}

struct Both<'a> {
    left: &'a u64,
    right: u64,
}

#[autobatch]
fn bound_by_reference_and_dropped(n: u64) -> u64 {
    struct D(Vec<u64>);
    let b = D(vec![n, 2]);
    let D(ref z) = b;
    let mut sum = 0;
    let mut k = n;
    while k > 0 {
        sum = sum * 2 + z[(k % 2) as usize];
        k /= 2;
    }
    drop(b);
    sum
}

#[autobatch]
fn bound_by_reference_in_a_struct(n: u64) -> u64 {
    let owned = n * 3;
    let both = Both { left: &owned, right: n };
    let Both { left, ref right } = both;
    let mut sum = 0;
    for k in 0..n % 6 {
        if k != 2 {
            sum = sum * 2 + left + right;
        }
    }
    sum
}

/// The result has no name.
#[autobatch]
fn boxed_result(n: u64) -> Box<dyn Iterator<Item = usize> + Send> {
    let mut steps = 0;
    let mut k = n;
    while k > 0 {
        steps += 1;
        k /= 2;
    }
    if n % 2 == 0 { Box::new(0..steps) } else { Box::new((0..steps).map(|k| k * k)) }
}

#[test]
fn a_boxed_iterator_is_a_result() {
    let expected: Vec<Vec<usize>> = numbers().into_iter().map(|n| boxed_result(n).collect()).collect();
    let found: Vec<Vec<usize>> =
        boxed_result_batched(&numbers()).into_iter().map(Iterator::collect).collect();
    assert_eq!(found, expected);
}

#[autobatch]
fn inferred_from_a_later_use(values: Vec<f64>) -> f64 {
    let mut kept = Vec::new();
    let mut count = Default::default();
    for (k, v) in values.iter().enumerate() {
        if k % 2 == 0 {
            kept.push((*v).into());
        }
        count += 1;
    }
    let count: u8 = count;
    let sum: f64 = kept.iter().map(|v: &f64| v * 2.0).sum();
    sum + f64::from(count)
}

#[autobatch]
fn inferred_from_the_result(text: String) -> Result<Vec<u32>, String> {
    let mut out = vec![];
    for word in text.split(' ') {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            out.push(word.parse().map_err(|error| format!("{error}"))?);
        } else if word == "fir" {
            return Err(word.into());
        }
    }
    Ok(out)
}

#[autobatch]
fn inferred_from_an_empty_list(n: u64) -> usize {
    let mut rows = vec![None; 4];
    let mut k = n;
    while k > 0 {
        let slot = &mut rows[(k % 4) as usize];
        match slot {
            None => *slot = Some(Vec::new()),
            Some(list) => list.push(k as u16),
        }
        k /= 2;
    }
    rows.iter().flatten().map(|list| list.len() * 3 + 1).sum()
}

#[autobatch]
fn inferred_by_closures(n: u64) -> u64 {
    let mut history = Vec::new();
    let step = |k, by| k * 3 % 41 + by;
    let mut k = n;
    while history.len() < 6 {
        history.push(k);
        k = step(k, history.len() as u64);
        if k % 5 == 0 {
            break;
        }
    }
    history.iter().rev().fold(0, |sum, k| sum * 2 + k)
}

/// A function from a type to itself, and integer types by default.
#[autobatch]
fn integers_by_default(n: u64) -> String {
    let mut a = 1;
    let mut b = -3;
    for k in 0..n % 9 {
        if k % 2 == 0 {
            a *= 1 << 2;
        }
        b -= a % 7;
    }
    shown(&(a, b))
}

fn shown<T: Debug>(value: &T) -> String {
    format!("{value:?} {}", size_of::<T>())
}

#[autobatch]
fn diverges_in_one_arm(n: u64) -> u64 {
    let mut sum = 0;
    for k in 0..n % 8 {
        let value = match k % 3 {
            0 => k,
            1 if sum > 6 => return sum,
            1 => continue,
            _ => 'found: {
                if sum % 2 == 0 {
                    break 'found k * 2;
                }
                5
            }
        };
        sum += value;
    }
    sum * 10
}

#[autobatch]
fn generic_array<const N: usize>(values: [f64; N], k: u64) -> f64 {
    let mut at = &values[0];
    let mut sum = 0.0;
    for step in 0..k % 7 {
        sum = sum * 0.5 + at;
        at = &values[step as usize % N];
    }
    sum + at
}

#[test]
fn references_go_round_an_array_of_any_length() {
    agree!(numbers(), |&n| generic_array([n as f64, 0.5, 2.0], n), |batch, options| {
        let arrays: Vec<[f64; 3]> = batch.iter().map(|&n| [n as f64, 0.5, 2.0]).collect();
        generic_array_batched_with(&arrays, batch, options)
    });
}

#[autobatch]
fn temporary_that_lives_on(n: u64) -> u64 {
    let text = &mut n.to_string();
    let bytes = &{ n * 3 }.to_le_bytes();
    let mut sum = 0;
    for k in 0..n % 5 {
        text.push('x');
        sum += u64::from(bytes[k as usize]) + text.len() as u64;
    }
    sum
}

mod an_alias_that_hides_the_librarys {
    use std::result;

    use autobatch::autobatch;

    pub(super) enum Status<T> {
        Done(T),
        Partial,
    }
    pub(super) type Result<T> = result::Result<Status<T>, String>;

    pub(super) struct Parser {
        pub(super) from: u64,
    }

    #[autobatch]
    impl Parser {
        pub(super) fn parse(&self, n: u64) -> Result<u64> {
            if n == 0 {
                return if self.from > 2 { Ok(Status::Partial) } else { Err("nothing".into()) };
            }
            match self.parse(n - 1)? {
                Status::Done(found) => Ok(Status::Done(found * 3 + self.from)),
                Status::Partial => Ok(Status::Done(1)),
            }
        }
    }

    pub(super) fn found(result: Result<u64>) -> result::Result<Option<u64>, String> {
        result.map(|status| match status {
            Status::Done(found) => Some(found),
            Status::Partial => None,
        })
    }
}

#[test]
fn an_alias_may_have_the_name_of_the_type_that_it_stands_for() {
    use an_alias_that_hides_the_librarys::{Parser, found};
    let members: Vec<u64> = crate::common::promises::numbers().iter().map(|n| n % 13).collect();
    for parser in [Parser { from: 2 }, Parser { from: 3 }] {
        let expected: Vec<_> = members.iter().map(|&n| found(parser.parse(n))).collect();
        for (name, options) in crate::common::executors() {
            let batch = parser.parse_batched_with(&members, &options).unwrap().into_values().unwrap();
            assert_eq!(batch.into_iter().map(found).collect::<Vec<_>>(), expected, "{name}");
        }
    }
}

promises! {
    a_closure_is_chosen_behind_a_reference: chosen_closure, chosen_closure_batched_with, floats();
    a_method_named_position_has_its_own_type: named_like_an_adaptor, named_like_an_adaptor_batched_with, numbers();
    a_local_is_assigned_before_the_break: assigned_before_the_break, assigned_before_the_break_batched_with, numbers();
    locals_are_assigned_at_one_of_two_breaks:
        assigned_at_one_of_two_breaks, assigned_at_one_of_two_breaks_batched_with, numbers();
    a_loop_variable_is_shadowed_by_a_cast: shadowed_by_a_cast, shadowed_by_a_cast_batched_with, numbers();
    a_part_bound_by_reference_ends_before_the_drop:
        bound_by_reference_and_dropped, bound_by_reference_and_dropped_batched_with, numbers();
    parts_are_bound_by_value_and_by_reference:
        bound_by_reference_in_a_struct, bound_by_reference_in_a_struct_batched_with, numbers();
    a_type_is_inferred_from_a_later_use: inferred_from_a_later_use, inferred_from_a_later_use_batched_with, lists();
    a_type_is_inferred_from_the_result: inferred_from_the_result, inferred_from_the_result_batched_with, texts();
    a_type_is_inferred_of_an_empty_list: inferred_from_an_empty_list, inferred_from_an_empty_list_batched_with, numbers();
    types_are_inferred_through_closures: inferred_by_closures, inferred_by_closures_batched_with, numbers();
    integers_have_their_default_type: integers_by_default, integers_by_default_batched_with, numbers();
    arms_diverge: diverges_in_one_arm, diverges_in_one_arm_batched_with, numbers();
    a_borrowed_temporary_lives_on: temporary_that_lives_on, temporary_that_lives_on_batched_with, numbers();
}
