//! Between a borrow and the drop of what it borrows a member returns early, fails with `?`, or panics.

#![allow(clippy::all)] // as users write, not as one should

use std::cell::{Cell, RefCell};
use std::num::ParseIntError;
use std::ops::Mul;
use std::panic::{AssertUnwindSafe, catch_unwind};

use autobatch::autobatch;

use crate::common::Bits;
use crate::common::promises::{Log, Rows, Token, View, lists, logs_agree, numbers, promises, texts};

/// A view, made by an operator.
impl<'a> Mul<f64> for &'a Rows {
    type Output = View<'a>;
    fn mul(self, by: f64) -> View<'a> {
        View { of: &self.d, by }
    }
}

impl Bits for ParseIntError {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch]
fn returns_between(n: u64) -> f64 {
    let x = Rows::of(n);
    let seen = &x.d[1];
    let view = &x * 0.5;
    let mut k = n;
    while k > 0 {
        if view.at(k) > 9.0 {
            return view.at(k + 1) + seen;
        }
        k /= 2;
    }
    let sum = seen * 2.0;
    sum + x.spent()
}

#[autobatch]
fn returns_what_was_moved(n: u64) -> Vec<f64> {
    let mut x = Rows::of(n);
    let first = &x.heap[0];
    let mut sum = 0.0;
    for k in 0..n % 8 {
        sum += first + k as f64;
        if sum > 60.0 {
            return x.heap;
        }
    }
    x.heap.truncate(3);
    x.heap.push(sum);
    x.heap
}

#[autobatch]
fn fails_in_a_loop(text: String) -> Result<u64, ParseIntError> {
    let first = text.split(' ').next().unwrap_or("");
    let mut numbers = Vec::new();
    for word in text.split(' ') {
        if word.len() < 3 || word == first {
            continue;
        }
        numbers.push((
            word,
            word.trim_start_matches(char::is_alphabetic)
                .parse::<u64>()
                .or_else(|error| if word == "elm" { Err(error) } else { Ok(word.len() as u64) })?,
        ));
    }
    Ok(numbers.iter().fold(first.len() as u64, |sum, (word, n)| sum * 3 + n + word.len() as u64))
}

#[autobatch]
fn is_none_in_a_loop(values: Vec<f64>) -> Option<f64> {
    let greatest = values.iter().max_by(|a, b| a.total_cmp(b))?;
    let mut left = values.iter().skip_while(|v| *v != greatest);
    let mut sum = 0.0;
    while sum < 3.0 {
        let next = left.next()?;
        sum += next.abs() + 0.5;
    }
    drop(left);
    Some(sum + values.into_iter().next()?)
}

fn checked<'a>(rows: &'a Rows, k: u64) -> Result<&'a f64, String> {
    let v = &rows.d[(k % 8) as usize];
    if *v > 28.0 { Err(format!("{v} at {k}")) } else { Ok(v) }
}

#[autobatch]
fn fails_with_a_borrow(n: u64) -> Result<f64, String> {
    let x = Rows::of(n);
    let mut kept = vec![checked(&x, 0)?];
    let mut k = n;
    while k > 0 {
        kept.push(checked(&x, k)?);
        k /= 2;
    }
    let sum = kept.iter().fold(0.0, |sum, v| sum * 0.5 + **v);
    Ok(sum + x.spent())
}

#[autobatch]
fn fails_with_an_error_that_borrows(n: u64) -> String {
    let x = Rows::of(n);
    let found = (|| {
        for k in 0..n % 9 {
            let v = &x.d[(k % 8) as usize];
            if *v > 28.0 {
                return Err((k, v));
            }
        }
        Ok(&x.heap[..])
    })();
    let out = match found {
        Ok(all) => format!("{} {:?}", all.len(), all.last()),
        Err((k, v)) => format!("{k} {v}"),
    };
    drop(x);
    out
}

#[autobatch]
fn breaks_with_a_borrow(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 3));
    let mut k = n;
    let kept = loop {
        let from = if k % 2 == 0 { &x } else { &y };
        if k < 3 {
            break &from.d[k as usize];
        }
        if from.d[(k % 8) as usize] > 25.0 {
            break from.heap.last().unwrap();
        }
        k = k * 2 / 3;
    };
    let mut sum = 0.0;
    while k > 0 {
        sum = sum * 0.5 + kept;
        k /= 2;
    }
    sum + kept + x.spent() - y.spent()
}

#[autobatch]
fn breaks_out_of_two(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut best = None;
    let found = 'search: {
        for i in 0..8 {
            let a = &x.d[i];
            for b in &x.d[i + 1..] {
                if (a - b).abs() < 0.75 + (n % 3) as f64 {
                    break 'search Some((a, b));
                }
                if best.is_none_or(|best: &f64| b < best) {
                    best = Some(b);
                }
            }
        }
        None
    };
    let sum = found.map_or(0.5, |(a, b)| a * 2.0 + b) + best.map_or(0.0, |b| b * 4.0);
    sum + x.spent()
}

#[autobatch]
fn stops_at_once(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let kept = RefCell::new(vec![&a]);
    let b = log.token(2);
    let mut k = n;
    loop {
        if k == 0 {
            return 7;
        }
        if k % 5 == 3 {
            break;
        }
        let next = if k % 2 == 0 { &a } else { kept.borrow()[0] };
        kept.borrow_mut().push(next);
        k /= 2;
    }
    log.note(kept.borrow().len() as u64 + b.id())
}

#[autobatch]
fn question_mark(n: u64, log: Log) -> Option<u64> {
    let a = log.token(1);
    let mut held = vec![log.token(2)];
    for k in 0..n % 7 {
        let b = log.token(10 + k);
        let last = held.last().filter(|token| (token.id() + n) % 6 != 5)?;
        let sum = last.id() + log.token(30 + k).id().checked_sub(n / 2 + 9)?;
        log.note(sum);
        held.push(b);
    }
    drop(held);
    log.note(3);
    Some(a.id())
}

#[autobatch]
fn panics_between(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let alias = &a;
    let mut list = vec![log.token(2), log.token(3)];
    let mut k = n;
    while k > 0 {
        let last = list.last_mut().unwrap();
        last.id += alias.id();
        if k % 6 == 4 {
            let at = &list[k as usize];
            return at.id();
        }
        let token = log.token(last.id * 10);
        list.push(token);
        k /= 2;
    }
    let sum = alias.id();
    drop(a);
    sum + list.len() as u64
}

#[autobatch]
fn panics_in_a_closure(n: u64, log: Log) -> u64 {
    let tokens: Vec<Token> = (0..3).map(|k| log.token(k)).collect();
    let held = Cell::new(Some(log.token(9)));
    let pick = |k: u64| {
        let token = held.take();
        let picked = tokens[(k % 4) as usize].id();
        held.set(token);
        picked
    };
    let mut sum = 0;
    let mut k = n % 20;
    while k > 0 {
        sum += pick(k);
        k /= 2;
    }
    log.note(sum)
}

#[autobatch]
fn panics_in_a_borrow(n: u64, log: Log) -> u64 {
    let r = RefCell::new(log.token(n));
    let a = log.token(100);
    for k in 0..n % 5 {
        let guard = r.borrow();
        if (guard.id() + k) % 6 == 5 {
            // The value is borrowed.
            r.borrow_mut().id += 1;
        }
        log.note(guard.id());
    }
    r.into_inner().id() + a.id()
}

#[autobatch]
fn panics_in_a_drop(n: u64, log: Log) -> u64 {
    struct Checked<'a>(&'a Cell<u64>, &'a Log);
    impl Drop for Checked<'_> {
        fn drop(&mut self) {
            self.1.note(self.0.get());
            assert!(self.0.get() % 5 != 4, "dropped at four");
        }
    }
    let count = Cell::new(n % 4);
    let token = log.token(1);
    for k in 0..n % 4 {
        let _checked = Checked(&count, &log);
        count.set(count.get() + k);
    }
    token.id() + count.get()
}

/// The function catches the panic itself.
#[autobatch]
fn catches_its_own_panic(n: u64, log: Log) -> u64 {
    let mut kept = vec![log.token(1)];
    let mut caught = 0;
    for k in 0..n % 6 {
        let result = catch_unwind(AssertUnwindSafe(|| {
            kept.push(log.token(10 + k));
            let b = log.token(20 + k);
            assert!((n + k) % 3 != 1, "caught");
            b.id()
        }));
        caught += result.unwrap_or(1000);
        if kept.len() > 3 {
            kept.remove(0);
        }
    }
    caught
}

#[autobatch]
mod in_recursive_calls {
    use super::{Rows, View, checked};

    pub(super) fn run(n: u64) -> Result<f64, String> {
        let x = Rows::of(n);
        let view = &x * 0.5;
        let sum = visit(&x, &view, n)?;
        Ok(sum + x.spent())
    }

    fn visit(x: &Rows, view: &View<'_>, n: u64) -> Result<f64, String> {
        let here = checked(x, n)?;
        if n < 2 {
            return Ok(*here);
        }
        let mine = Rows::of(n / 2);
        let inner = &mine * view.by;
        let left = visit(&mine, view, n / 2)?;
        let right = visit(x, &inner, n / 3)?;
        Ok(left * 0.5 + right * 0.25 + inner.at(n) + here + mine.spent())
    }
}

promises! {
    a_return_ends_borrows: returns_between, returns_between_batched_with, numbers();
    a_return_moves_a_borrowed_value: returns_what_was_moved, returns_what_was_moved_batched_with, numbers();
    a_failure_in_a_loop_ends_borrows: fails_in_a_loop, fails_in_a_loop_batched_with, texts();
    a_missing_value_in_a_loop_ends_borrows: is_none_in_a_loop, is_none_in_a_loop_batched_with, lists();
    a_failure_leaves_a_list_of_borrows: fails_with_a_borrow, fails_with_a_borrow_batched_with, numbers();
    an_error_borrows: fails_with_an_error_that_borrows, fails_with_an_error_that_borrows_batched_with, numbers();
    a_break_returns_a_borrow: breaks_with_a_borrow, breaks_with_a_borrow_batched_with, numbers();
    a_labelled_break_returns_borrows: breaks_out_of_two, breaks_out_of_two_batched_with, numbers();
    a_failure_in_a_recursive_call_ends_borrows:
        in_recursive_calls::run, in_recursive_calls::run_batched_with, numbers();
}

logs_agree! {
    a_return_drops_in_order: stops_at_once, stops_at_once_batched_with, false;
    a_question_mark_drops_in_order: question_mark, question_mark_batched_with, false;
    a_panic_between_a_borrow_and_its_end_drops_once: panics_between, panics_between_batched_with, true;
    a_panic_in_a_closure_drops_once: panics_in_a_closure, panics_in_a_closure_batched_with, true;
    a_panic_while_borrowed_drops_once: panics_in_a_borrow, panics_in_a_borrow_batched_with, true;
    a_panic_of_a_drop_drops_the_others: panics_in_a_drop, panics_in_a_drop_batched_with, true;
    a_caught_panic_drops_in_order: catches_its_own_panic, catches_its_own_panic_batched_with, false;
}
