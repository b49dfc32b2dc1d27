//! A guard borrows a local, and does something to it when it is dropped: at the end of its scope, of its statement, or
//! when it is moved away.

#![allow(clippy::all)] // as users write, not as one should

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use autobatch::autobatch;

use crate::common::promises::{Log, Rows, agree, lists, logs_agree, numbers, promises};

/// Counts how many of its kind there are.
struct Entered<'a> {
    inside: &'a Cell<u64>,
    most: &'a Cell<u64>,
}

struct Room {
    inside: Cell<u64>,
    most: Cell<u64>,
}

impl Room {
    fn new() -> Self {
        Self { inside: Cell::new(0), most: Cell::new(0) }
    }

    /// A neutral name.
    fn at(&self) -> Entered<'_> {
        self.inside.set(self.inside.get() + 1);
        self.most.set(self.most.get().max(self.inside.get()));
        Entered { inside: &self.inside, most: &self.most }
    }
}

impl Entered<'_> {
    fn count(&self) -> u64 {
        self.inside.get() * 10 + self.most.get()
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.inside.set(self.inside.get() - 1);
    }
}

#[autobatch]
fn over_a_loop(n: u64) -> u64 {
    let room = Room::new();
    let mut sum = 0;
    let first = room.at();
    for k in 0..n % 6 {
        let second = room.at();
        if k % 2 == 1 {
            continue;
        }
        sum = sum * 3 + second.count() + k;
    }
    drop(first);
    sum * 100 + room.inside.get() * 10 + room.most.get()
}

#[autobatch]
fn in_a_list(n: u64) -> u64 {
    let room = Room::new();
    let mut held = Vec::new();
    let mut k = n;
    let mut sum = 0;
    while k > 0 {
        if k % 3 == 0 {
            held.pop();
        } else {
            held.push(room.at());
        }
        sum = sum * 2 + room.inside.get();
        k -= 1 + k / 3;
    }
    let left = held.len() as u64;
    drop(held);
    sum * 100 + left * 10 + room.inside.get() + room.most.get()
}

#[autobatch]
fn moved_on_some_paths(n: u64) -> u64 {
    let room = Room::new();
    let guard = room.at();
    let mut kept = None;
    if n % 3 == 0 {
        drop(guard);
    } else if n % 3 == 1 {
        kept = Some(guard);
    }
    let mut sum = 0;
    for k in 0..n % 5 {
        sum = sum * 3 + room.inside.get() + kept.as_ref().map_or(k, Entered::count);
        if k == 2 {
            kept = None;
        }
    }
    sum
}

#[autobatch]
fn replaced_in_a_loop(n: u64) -> u64 {
    let (room, other) = (Room::new(), Room::new());
    let mut guard = room.at();
    let mut sum = 0;
    for k in 0..n % 7 {
        if k % 3 != 1 {
            guard = if k % 2 == 0 { other.at() } else { room.at() };
        }
        sum = sum * 3 + guard.count() + room.inside.get();
    }
    drop(guard);
    sum * 10 + room.most.get() + other.most.get()
}

#[autobatch]
fn of_a_condition(n: u64) -> u64 {
    let room = Room::new();
    let mut sum = 0;
    let mut k = n;
    while room.at().count() > 10 && k > 0 {
        if room.at().count() % 2 == 1 {
            sum += room.inside.get() * 100 + k;
        }
        sum += match room.at().count() {
            11 => room.inside.get(),
            _ => 50,
        };
        k /= 2;
    }
    sum
}

/// Puts the old value back.
struct Restored<'a> {
    at: &'a mut u64,
    old: u64,
}

impl<'a> Restored<'a> {
    fn new(at: &'a mut u64, value: u64) -> Self {
        let old = mem::replace(at, value);
        Self { at, old }
    }
}

impl Deref for Restored<'_> {
    type Target = u64;
    fn deref(&self) -> &u64 {
        self.at
    }
}

impl DerefMut for Restored<'_> {
    fn deref_mut(&mut self) -> &mut u64 {
        self.at
    }
}

impl Drop for Restored<'_> {
    fn drop(&mut self) {
        *self.at = self.old + 1;
    }
}

#[autobatch]
fn that_restores(n: u64) -> u64 {
    let mut level = n;
    let mut sum = 0;
    for k in 0..n % 6 {
        let mut guard = Restored::new(&mut level, k * 10);
        while *guard % 7 != 3 {
            *guard += 1;
        }
        sum = sum * 2 + *guard;
        drop(guard);
        sum += level;
    }
    sum * 100 + level
}

#[autobatch]
fn that_restores_when_the_scope_ends(n: u64) -> u64 {
    let mut level = n;
    let mut sum = 0;
    'all: for k in 0..n % 6 {
        {
            let mut guard = Restored::new(&mut level, k);
            for j in 0..3 {
                *guard += j;
                if *guard == 6 {
                    break 'all;
                }
                if (*guard + n) % 4 == 1 {
                    continue 'all;
                }
            }
            sum += *guard;
        }
        sum = sum * 2 + level;
    }
    sum * 100 + level
}

#[autobatch]
fn borrowed_over_and_over(n: u64) -> u64 {
    let r = RefCell::new(vec![n]);
    let mut sum = 0;
    while let Some(v) = r.borrow_mut().pop() {
        sum = (sum * 3 + v) % 1_000_003;
    }
    let mut k = n;
    while k > 0 {
        r.borrow_mut().push(k);
        let (first, length) = {
            let list = r.borrow();
            (list[0], list.len() as u64)
        };
        sum += first * length + u64::from(r.try_borrow_mut().is_ok());
        k /= 2;
    }
    sum
}

#[autobatch]
fn mapped(n: u64) -> f64 {
    let r = RefCell::new(Rows::of(n));
    let part = Ref::map(r.borrow(), |rows| &rows.d[3]);
    let mut sum = 0.0;
    for k in 0..n % 5 {
        sum = sum * 0.5 + *part + k as f64;
    }
    drop(part);
    {
        let mut slot = RefMut::map(r.borrow_mut(), |rows| &mut rows.heap[2]);
        for k in 0..n % 4 {
            *slot += k as f64;
        }
    }
    sum + r.into_inner().spent()
}

fn locked<'a>(of: &'a [Mutex<u64>; 2], k: u64) -> MutexGuard<'a, u64> {
    of[(k % 2) as usize].lock().unwrap()
}

#[autobatch]
fn locks(n: u64) -> u64 {
    let both = [Mutex::new(n), Mutex::new(1)];
    let mut sum = 0;
    for k in 0..n % 7 {
        let mut one = locked(&both, k);
        let other = locked(&both, k + 1);
        *one += *other % 10 + k;
        if *one % 3 == 0 {
            continue;
        }
        drop(one);
        sum = sum * 2 + *both[(k % 2) as usize].lock().unwrap() + *other;
        drop(other);
        *locked(&both, k + 1) += 1;
    }
    let [a, b] = both;
    sum + a.into_inner().unwrap() * 100 + b.into_inner().unwrap()
}

/// Runs a closure when it is dropped.
struct Defer<F: FnMut()>(F);

impl<F: FnMut()> Drop for Defer<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[autobatch]
fn deferred(n: u64) -> u64 {
    let (sum, steps) = (Cell::new(n), Cell::new(0));
    let mut k = n;
    while k > 0 {
        let here = k;
        let _end = Defer(|| sum.set(sum.get() * 2 % 1009 + here));
        steps.set(steps.get() + 1);
        if k % 3 == 1 {
            k -= 1;
            continue;
        }
        let _more = Defer(|| steps.set(steps.get() + 10));
        k /= 2;
    }
    sum.get() * 1000 + steps.get()
}

#[autobatch]
fn early_return_with_guards(n: u64) -> u64 {
    let seen = RefCell::new(Vec::new());
    let out = (|| {
        let _outer = Defer(|| seen.borrow_mut().push(1));
        for k in 0..n % 6 {
            let _inner = Defer(|| seen.borrow_mut().push(10 + k));
            if (k * n) % 5 == 3 {
                return k;
            }
        }
        99
    })();
    seen.borrow().iter().fold(out, |sum, v| (sum * 31 + v) % 1_000_003)
}

/// Threads borrow the locals of a member.
#[autobatch]
fn scoped_threads(values: Vec<f64>) -> f64 {
    let mut sums = [0.0; 2];
    let mut round = 0;
    while round < 2 {
        let (left, right) = values.split_at(values.len() / 2);
        let [a, b] = &mut sums;
        thread::scope(|scope| {
            scope.spawn(|| *a += left.iter().sum::<f64>());
            *b -= right.iter().sum::<f64>();
        });
        round += 1;
    }
    sums[0] * 0.5 + sums[1] + values.into_iter().next_back().unwrap_or(0.25)
}

#[test]
fn threads_borrow_locals() {
    // Threads are slow to start: one batch in each executor.
    let expected: Vec<f64> = lists().into_iter().map(scoped_threads).collect();
    for (name, options) in crate::common::executors() {
        let found = scoped_threads_batched_with(&lists(), &options).unwrap().into_values().unwrap();
        assert_eq!(found, expected, "{name}");
    }
}

#[autobatch]
mod in_recursive_calls {
    use std::cell::Cell;

    use super::{Entered, Room};

    pub(super) fn run(n: u64) -> u64 {
        let room = Room::new();
        let sum = visit(&room, n, None);
        sum * 100 + room.inside.get() * 10 + room.most.get()
    }

    fn visit(room: &Room, n: u64, above: Option<&Entered<'_>>) -> u64 {
        let mine = room.at();
        if n == 0 {
            return mine.count();
        }
        let left = visit(room, n / 2, Some(&mine));
        let count = above.map_or(0, Entered::count);
        if left % 3 == 0 {
            drop(mine);
            return (visit(room, n / 3, above) + count) % 1009;
        }
        let local = Cell::new(left);
        let inner = Entered { inside: &room.most, most: &local };
        let right = visit(room, n / 3, Some(&inner));
        room.most.set(room.most.get() + 1);
        (left * 2 + right + count + mine.count() + inner.count()) % 1009
    }
}

/// Is noted when it is dropped, and borrows the log.
struct Span<'a> {
    log: &'a Log,
    id: u64,
}

impl<'a> Span<'a> {
    fn new(log: &'a Log, id: u64) -> Self {
        log.note(id);
        Self { log, id }
    }
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        self.log.note(1000 + self.id);
    }
}

#[autobatch]
fn spans(n: u64, log: Log) -> u64 {
    let all = Span::new(&log, 1);
    let mut inner = Vec::new();
    let mut k = n;
    while k > 0 {
        let span = Span::new(&log, 10 + k);
        if k % 4 == 1 {
            inner.push(span);
        } else if k % 4 == 2 {
            inner.clear();
        }
        k /= 2;
    }
    log.note(all.id + inner.len() as u64)
}

#[autobatch]
fn spans_that_panic(n: u64, log: Log) -> u64 {
    let mut outer = Span::new(&log, 1);
    let mut list = vec![n];
    for k in 0..n % 6 {
        let last = list.last_mut().unwrap();
        let span = Span::new(&log, 10 + k);
        *last += span.id;
        assert!(*last % 4 != 3, "three");
        if k % 2 == 0 {
            outer = span;
            list.push(k);
        }
    }
    outer.id + list.len() as u64
}

#[autobatch]
fn span_of_a_local_log(n: u64, log: Log) -> u64 {
    let own = Log::default();
    let mut k = n;
    {
        let _own = Span::new(&own, 2);
        let mut span = Some(Span::new(&own, 3));
        while k > 0 {
            if k % 3 == 2 {
                span.take();
            }
            own.note(k);
            k /= 2;
        }
    }
    own.taken(false).into_iter().fold(0, |sum, what| (sum * 31 + log.note(what)) % 1_000_003)
}

#[autobatch]
fn given_guard(cell: RefCell<u64>, n: u64) -> u64 {
    let mut guard = cell.borrow_mut();
    for k in 0..n % 6 {
        *guard += k;
        if *guard % 5 == 0 {
            break;
        }
    }
    drop(guard);
    cell.into_inner()
}

#[test]
fn a_guard_of_an_owned_parameter_is_released() {
    agree!(numbers(), |&n| given_guard(RefCell::new(n), n), |batch, options| {
        let cells: Vec<_> = batch.iter().map(|&n| RefCell::new(n)).collect();
        given_guard_batched_with(cells, batch, options)
    });
}

promises! {
    a_guard_over_a_loop_is_released: over_a_loop, over_a_loop_batched_with, numbers();
    guards_in_a_list_are_released: in_a_list, in_a_list_batched_with, numbers();
    a_guard_that_moves_on_some_paths_is_released_once:
        moved_on_some_paths, moved_on_some_paths_batched_with, numbers();
    a_guard_that_is_replaced_is_released: replaced_in_a_loop, replaced_in_a_loop_batched_with, numbers();
    a_guard_of_a_condition_is_released: of_a_condition, of_a_condition_batched_with, numbers();
    a_guard_restores_the_old_value: that_restores, that_restores_batched_with, numbers();
    a_guard_restores_on_every_way_out:
        that_restores_when_the_scope_ends, that_restores_when_the_scope_ends_batched_with, numbers();
    a_borrow_ends_with_its_statement: borrowed_over_and_over, borrowed_over_and_over_batched_with, numbers();
    a_mapped_borrow_ends: mapped, mapped_batched_with, numbers();
    locks_are_released: locks, locks_batched_with, numbers();
    a_deferred_closure_is_run: deferred, deferred_batched_with, numbers();
    a_deferred_closure_is_run_at_an_early_return:
        early_return_with_guards, early_return_with_guards_batched_with, numbers();
    each_activation_releases_its_guards: in_recursive_calls::run, in_recursive_calls::run_batched_with, numbers();
}

logs_agree! {
    spans_end_in_order: spans, spans_batched_with, false;
    spans_end_at_a_panic: spans_that_panic, spans_that_panic_batched_with, true;
    spans_of_a_local_log_end_before_it: span_of_a_local_log, span_of_a_local_log_batched_with, false;
}
