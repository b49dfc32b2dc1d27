//! A name proves nothing: a user's method, function, module, macro or variable may have the name of one of the library's, or
//! of one in generated code. And a value that is passed to a call, and named again behind it, is there once.

#![allow(clippy::all)] // as users write, not as one should

use std::ptr::NonNull;

use autobatch::autobatch;

use crate::common::promises::{agree, fives, floats, numbers, promises, texts};

#[autobatch]
fn moved_and_assigned_under_a_condition(mut s: String, n: u64) -> u64 {
    if n == 0 {
        return s.len() as u64;
    }
    let below = moved_and_assigned_under_a_condition(s, n - 1);
    let mut sum = below;
    if below % 2 == 0 {
        s = format!("{below}");
        sum += s.len() as u64;
    }
    sum
}

#[autobatch]
fn moved_and_assigned_with_another(mut s: String, n: u64) -> u64 {
    if n == 0 {
        return s.len() as u64;
    }
    let below = moved_and_assigned_with_another(s, n - 1);
    let mut k = n;
    (s, k) = (format!("{below}"), k - 1);
    below + k + s.len() as u64
}

#[autobatch]
fn moved_and_named_in_a_macro(s: String, n: u64) -> u64 {
    if n == 0 {
        return s.len() as u64;
    }
    moved_and_named_in_a_macro(s, n - 1) + stringify!(s).len() as u64
}

#[test]
fn a_value_moved_into_a_call_is_gone() {
    fn run(f: fn(String, u64) -> u64, text: &str) -> u64 {
        f(text.into(), text.len() as u64 % 7)
    }
    fn depths(batch: &[String]) -> Vec<u64> {
        batch.iter().map(|text| text.len() as u64 % 7).collect()
    }
    agree!(texts(), |text| run(moved_and_assigned_under_a_condition, text), |batch, options| {
        moved_and_assigned_under_a_condition_batched_with(batch, depths(batch), options)
    });
    agree!(texts(), |text| run(moved_and_assigned_with_another, text), |batch, options| {
        moved_and_assigned_with_another_batched_with(batch, depths(batch), options)
    });
    agree!(texts(), |text| run(moved_and_named_in_a_macro, text), |batch, options| {
        moved_and_named_in_a_macro_batched_with(batch, depths(batch), options)
    });
}

mod math {
    pub(super) struct Log(Box<f64>);

    pub(super) fn ln(x: f64) -> Log {
        Log(Box::new((x.abs() + 0.5).ln()))
    }

    impl Log {
        pub(super) fn abs(&self) -> f64 {
            self.0.abs()
        }
    }
}

#[autobatch]
fn a_function_named_like_the_librarys(x: f64) -> f64 {
    let log = math::ln(x);
    if log.abs() < 0.7 || x < 0.0 {
        return x;
    }
    let below = a_function_named_like_the_librarys(x - 1.0);
    below + a_function_named_like_the_librarys(x - 2.0) * 0.5 + log.abs()
}

trait Sine {
    fn sin(self) -> Box<u64>;
    fn cos(&self) -> &Self;
}

impl Sine for u64 {
    fn sin(self) -> Box<u64> {
        Box::new(self * 3)
    }
    fn cos(&self) -> &u64 {
        self
    }
}

#[autobatch]
fn a_method_named_like_a_numbers(n: u64) -> u64 {
    let sine = n.sin();
    if n < 2 {
        return *sine;
    }
    a_method_named_like_a_numbers(n / 2) + a_method_named_like_a_numbers(n / 3) % 11 + *sine
}

#[autobatch]
fn a_method_that_lends_a_number(text: String) -> u64 {
    let n = text.len() as u64;
    let lent = n.cos();
    if text.len() < 3 {
        return 1;
    }
    a_method_that_lends_a_number(text[1..].into()) + *lent
}

mod early {
    macro_rules! leave {
        ($condition:expr) => {
            if $condition {
                return 0;
            }
        };
    }
    pub(super) use leave as column;
}

#[autobatch]
fn a_macro_that_leaves(s: String, n: u64) -> u64 {
    let (mut k, mut sum) = (n, 1);
    while k > 0 {
        early::column!(k == 3);
        sum += s.len() as u64;
        k /= 2;
    }
    sum
}

#[test]
fn a_macro_of_a_known_name_may_leave() {
    agree!(texts(), |text| a_macro_that_leaves(text.clone(), fives(text)), |batch, options| {
        let counts: Vec<u64> = batch.iter().map(fives).collect();
        a_macro_that_leaves_batched_with(batch, counts, options)
    });
}

fn scaled(n: u64) -> u64 {
    n * 1000
}

mod other {
    pub(super) fn scaled(n: u64) -> u64 {
        n
    }
}

#[autobatch]
fn a_name_imported_in_a_block(n: u64) -> u64 {
    let before = scaled(n);
    let (mut k, mut sum) = (n, before);
    while k > 0 {
        use other::scaled;
        sum += scaled(k);
        k /= 2;
    }
    sum + scaled(1)
}

#[autobatch]
mod imported_in_another_function {
    use super::other;

    fn scaled(n: u64) -> u64 {
        n * 100
    }

    fn small(n: u64) -> u64 {
        use other::scaled;
        let mut k = n;
        let mut sum = 0;
        while k > 0 {
            sum += scaled(k);
            k /= 3;
        }
        if n > 4 { sum + small(n / 2) } else { sum }
    }

    pub(super) fn run(n: u64) -> u64 {
        let mut sum = small(n);
        let mut k = n;
        while k > 0 {
            sum += scaled(k);
            k /= 2;
        }
        if n > 7 { run(n / 3) + sum } else { sum }
    }
}

#[autobatch]
#[allow(unsafe_code)] // sound in a scalar function
fn a_pointer_to_a_local(n: u64) -> u64 {
    let mut x = 0;
    let pointer: NonNull<u64> = NonNull::from(&mut x);
    let mut k = n;
    while k > 0 {
        // SAFETY: `x` is where it was: nothing moves it while the pointer is in use.
        unsafe { *pointer.as_ptr() += k };
        k /= 2;
    }
    x
}

#[autobatch]
fn names_of_generated_code(n: u64, #[shared] __bits: u64) -> u64 {
    let __l = n;
    let (mut __next, mut __here) = (n, 0);
    while __next > 0 {
        __here += __next ^ __bits;
        __next /= 2;
    }
    if n > 5 { names_of_generated_code(n / 2, __bits + 1) + __here + __l } else { __here }
}

/// In the scalar function the numbers have no type yet where the trait's method is found.
#[autobatch]
fn a_traits_method_named_like_a_numbers(text: String) -> Option<u128> {
    use num_traits::CheckedAdd;
    let mut sum = 0;
    let mut place = 1;
    for letter in text.chars().rev() {
        match letter {
            'a'..='l' => {
                let next = sum.checked_add(&place)?;
                sum = next;
            }
            '7' => return None,
            _ => {}
        }
        place <<= 1;
    }
    Some(sum)
}

trait Scored<E> {
    fn score(&self) -> E;
}

impl Scored<f64> for f64 {
    fn score(&self) -> f64 {
        *self * 0.5
    }
}

struct Last(u64);

trait Picks {
    fn pick<E: Into<f64>, C: Scored<E> + Sync>(&mut self, from: &[C], n: u64) -> usize;
}

/// It asks for less than the trait does.
#[autobatch]
impl Picks for Last {
    fn pick<E, C: Scored<E> + Sync>(&mut self, from: &[C], n: u64) -> usize {
        let mut k = n;
        while k > 3 {
            self.0 += k;
            k /= 2;
        }
        let scored = from.iter().map(Scored::score).count();
        (self.0 as usize) % scored
    }
}

#[test]
fn a_method_may_ask_for_less_than_its_trait() {
    agree!(numbers(), |&n| Last(n).pick::<f64, f64>(&[1.5, 2.5, 3.5, 4.5, 5.5], n), |batch, options| {
        let mut states: Vec<Last> = batch.iter().map(|&n| Last(n)).collect();
        Last::pick_batched_with::<f64, f64>(&mut states, &[1.5, 2.5, 3.5, 4.5, 5.5], batch, options)
    });
}

promises! {
    a_traits_method_may_be_named_like_a_numbers:
        a_traits_method_named_like_a_numbers, a_traits_method_named_like_a_numbers_batched_with, texts();
    a_function_may_be_named_like_the_librarys:
        a_function_named_like_the_librarys, a_function_named_like_the_librarys_batched_with, floats();
    a_method_may_be_named_like_a_numbers:
        a_method_named_like_a_numbers, a_method_named_like_a_numbers_batched_with, numbers();
    a_number_may_be_borrowed: a_method_that_lends_a_number, a_method_that_lends_a_number_batched_with, texts();
    an_import_is_of_its_block: a_name_imported_in_a_block, a_name_imported_in_a_block_batched_with, numbers();
    an_import_is_of_its_function:
        imported_in_another_function::run, imported_in_another_function::run_batched_with, numbers();
    unsafe_code_may_rely_on_where_a_local_is: a_pointer_to_a_local, a_pointer_to_a_local_batched_with, numbers();
}

#[test]
fn variables_may_be_named_like_those_of_generated_code() {
    agree!(numbers(), |&n| names_of_generated_code(n, 3), |batch, options| {
        names_of_generated_code_batched_with(batch, 3, options)
    });
}

/// Parameters that are called as those that the batched functions add.
#[autobatch]
fn named_as_added(options: u64, mut out: u64) -> u64 {
    while out < options {
        out = 2 * out + 1;
    }
    out
}

macro_rules! made_by_a_macro {
    ($name:ident, $options:ident) => {
        #[autobatch]
        fn $name($options: u64, out: u64) -> u64 {
            let mut n = out;
            while n < $options {
                n = 3 * n + 1;
            }
            n
        }
    };
}

made_by_a_macro!(named_as_added_in_a_macro, options);

#[test]
fn parameters_may_have_the_names_of_added_ones() {
    fn rests(batch: &[u64]) -> Vec<u64> {
        batch.iter().map(|n| n % 5).collect()
    }
    agree!(numbers(), |n| named_as_added(*n, n % 5), |batch, options| {
        named_as_added_batched_with(batch, rests(batch), options)
    });
    agree!(numbers(), |n| named_as_added_in_a_macro(*n, n % 5), |batch, options| {
        named_as_added_in_a_macro_batched_with(batch, rests(batch), options)
    });
    let mut out = [0; 2];
    named_as_added_batched_into(&[9, 1], &[1, 2], &mut out);
    assert_eq!(out, [named_as_added(9, 1), named_as_added(1, 2)]);
}
