//! A shared borrow can write: a local without `mut` changes.

use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use autobatch::autobatch;

use crate::common::promises::{agree, floats, lists, numbers, promises, texts};

#[autobatch]
fn cell(n: u32) -> u32 {
    let c = Cell::new(0u32);
    let mut k = n;
    while k > 0 {
        c.set(c.get() + k);
        k /= 2;
    }
    c.get()
}

/// `Auto` measures on a large batch, and may run parts of it in different ways.
#[test]
fn a_cell_keeps_what_was_written_in_a_large_batch() {
    let inputs: Vec<u32> = numbers().iter().map(|n| *n as u32).collect();
    let expected: Vec<u32> = inputs.iter().map(|n| cell(*n)).collect();
    let batch: Vec<u32> = inputs.iter().copied().cycle().take(200_000).collect();
    for _ in 0..3 {
        let found = cell_batched(&batch);
        let wrong = found.iter().enumerate().filter(|&(at, value)| *value != expected[at % 37]).count();
        assert_eq!(wrong, 0, "{wrong} of the members are wrong");
    }
}

#[autobatch]
fn cell_of_float(x: f64) -> f64 {
    let sum = Cell::new(x);
    let mut k = 0;
    while sum.get().abs() < 20.0 && k < 40 {
        sum.set(sum.get() * 1.25 + 0.5);
        k += 1;
    }
    sum.get()
}

#[autobatch]
fn refcell(n: u64) -> u64 {
    let r = RefCell::new(1);
    let mut k = n;
    while k > 0 {
        *r.borrow_mut() += k * k;
        k /= 2;
    }
    *r.borrow()
}

#[autobatch]
fn mutex(n: u64) -> u64 {
    let m = Mutex::new(n);
    for k in 0..n % 9 {
        if k % 2 == 0 {
            *m.lock().unwrap() += k * 3;
        }
    }
    *m.lock().unwrap()
}

#[autobatch]
fn rwlock(n: u64) -> u64 {
    let m = RwLock::new(n);
    for k in 0..n % 9 {
        let seen = *m.read().unwrap();
        if (seen + k) % 3 != 0 {
            *m.write().unwrap() += k + 1;
        }
    }
    m.into_inner().unwrap()
}

#[autobatch]
fn atomic(n: u64) -> u64 {
    let a = AtomicU64::new(0);
    let mut k = n;
    while k > 0 {
        a.fetch_add(k ^ 1, Relaxed);
        k /= 2;
    }
    a.load(Relaxed)
}

/// The flag that ends the loop is written in it.
#[autobatch]
fn atomic_flag(n: u64) -> u64 {
    let done = AtomicBool::new(false);
    let steps = AtomicU32::new(0);
    let mut x = n + 1;
    for _ in 0..500 {
        if done.load(Relaxed) {
            break;
        }
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        steps.fetch_add(1, Relaxed);
        if x <= 1 {
            done.store(true, Relaxed);
        }
    }
    u64::from(steps.load(Relaxed))
}

#[autobatch]
fn once_cell(n: u64) -> u64 {
    let once = OnceCell::new();
    for k in 0..n % 11 {
        if (k + n) % 3 == 0 {
            once.get_or_init(|| k * 100 + n);
        }
    }
    once.get().copied().unwrap_or(7)
}

#[autobatch]
fn once_lock(n: u64) -> u64 {
    let once = OnceLock::new();
    let mut refused = 0;
    for k in 0..n % 11 {
        if k * k > n && once.set(k).is_err() {
            refused += 1;
        }
    }
    once.get().map_or(0, |&k: &u64| k) * 100 + refused
}

#[autobatch]
fn lazy_cell(n: u64) -> u64 {
    let made = Cell::new(0);
    let lazy = LazyCell::new(|| {
        made.set(made.get() + 1);
        n * 3
    });
    let mut sum = 0;
    for k in 0..n % 6 {
        if k > 2 {
            sum += *lazy + k;
        }
    }
    sum * 10 + made.get()
}

#[autobatch]
fn array_of_cells(n: u64) -> u64 {
    let counts = [Cell::new(0), Cell::new(1), Cell::new(2)];
    let mut k = n;
    while k > 0 {
        let c = &counts[(k % 3) as usize];
        c.set(c.get() * 2 + k);
        k /= 2;
    }
    counts[0].get() + 1000 * counts[1].get() + 100_000 * counts[2].get()
}

#[autobatch]
fn cells_of_a_slice(n: u64) -> u64 {
    let mut values = [n, 1, 2, 3];
    {
        let cells = Cell::from_mut(&mut values[..]).as_slice_of_cells();
        for k in 0..n % 13 {
            let (a, b) = (&cells[(k % 4) as usize], &cells[(k * 3 % 4) as usize]);
            a.set(a.get() + b.get() % 100);
            a.swap(b);
        }
    }
    values[0] + 7 * values[1] + 49 * values[2] + 343 * values[3]
}

#[autobatch]
fn tuple_of_cells(n: u64) -> (u64, f64) {
    let pair = (Cell::new(n), Cell::new(0.5));
    for k in 0..n % 7 {
        pair.0.set(pair.0.get() ^ (k << 3));
        if k > 1 {
            pair.1.set(pair.1.get() * 1.5 + k as f64);
        }
    }
    (pair.0.get(), pair.1.get())
}

#[autobatch]
fn cells_of_a_pattern(n: u64) -> u64 {
    let (sum, last) = (Cell::new(0), Cell::new(n));
    let mut k = n;
    while k > 0 {
        sum.set(sum.get() + last.replace(k));
        k /= 3;
    }
    sum.take() * 100 + last.get() + sum.get()
}

#[autobatch]
fn owned_parameter(c: Cell<u64>, n: u64) -> u64 {
    let mut k = n;
    while k > 0 {
        c.set(c.get() + k);
        k /= 2;
    }
    c.get()
}

#[test]
fn an_owned_parameter_keeps_what_was_written() {
    agree!(numbers(), |&n| owned_parameter(Cell::new(n % 3), n), |batch, options| {
        let cells: Vec<_> = batch.iter().map(|n| Cell::new(n % 3)).collect();
        owned_parameter_batched_with(cells, batch, options)
    });
}

#[autobatch]
fn owned_parameter_of_a_type(tally: (u64, RefCell<u64>), n: u64) -> u64 {
    let (first, kept) = tally;
    for k in 0..n % 8 {
        *kept.borrow_mut() += first + k;
    }
    kept.into_inner() + first
}

#[test]
fn an_owned_parameter_that_is_taken_apart_keeps_what_was_written() {
    agree!(numbers(), |&n| owned_parameter_of_a_type((n % 4, RefCell::new(n)), n), |batch, options| {
        let tallies: Vec<_> = batch.iter().map(|&n| (n % 4, RefCell::new(n))).collect();
        owned_parameter_of_a_type_batched_with(tallies, batch, options)
    });
}

#[autobatch]
fn between_calls(n: u64) -> u64 {
    let c = Cell::new(n);
    if n < 2 {
        return c.get() + 1;
    }
    c.set(c.get() + between_calls(n / 2));
    c.set(c.get() * 3 + between_calls(n / 3));
    c.get() % 1_000_003
}

/// Each activation writes to the cell of its caller.
#[autobatch]
mod passed_to_calls {
    use std::cell::Cell;

    pub(super) fn run(n: u64) -> u64 {
        let seen = Cell::new(0);
        let depth = visit(n, &seen);
        depth * 1000 + seen.get()
    }

    fn visit(n: u64, seen: &Cell<u64>) -> u64 {
        seen.set(seen.get() + n % 3 + 1);
        if n < 2 { 1 } else { visit(n / 2, seen).max(visit(n / 3, seen)) + 1 }
    }
}

#[autobatch]
mod of_each_activation {
    use std::cell::RefCell;

    pub(super) fn run(n: u64) -> u64 {
        visit(n, &RefCell::new(Vec::new()))
    }

    fn visit(n: u64, above: &RefCell<Vec<u64>>) -> u64 {
        above.borrow_mut().push(n);
        if n < 2 {
            return above.borrow().len() as u64;
        }
        let mine = RefCell::new(vec![n]);
        let deeper = visit(n / 2, &mine) + visit(n / 3, above);
        deeper * 2 + mine.borrow().len() as u64
    }
}

#[autobatch]
fn exclusive_reference_in_a_cell(n: u64) -> u64 {
    let mut list = vec![n];
    let slot = Cell::new(Some(&mut list));
    let mut k = n % 9;
    let mut taken = 0;
    while k > 0 {
        if let Some(list) = slot.take() {
            list.push(k);
            taken += 1;
            if k % 4 != 1 {
                slot.set(Some(list));
            }
        }
        k -= 1;
    }
    taken * 1000 + list.iter().sum::<u64>()
}

/// What `take` gives twice would be two names of one list.
#[autobatch]
fn exclusive_reference_taken_once(n: u64) -> u64 {
    let mut list = vec![n; 3];
    let slot = Cell::new(Some(&mut list));
    let mut held = Vec::new();
    for k in 0..n % 4 + 1 {
        if k > 0 {
            held.extend(slot.take());
        }
    }
    let count = held.len() as u64;
    for list in &mut held {
        list.push(5);
    }
    count * 1000 + list.len() as u64
}

#[autobatch]
fn shared_pointer_to_a_cell(n: u64) -> u64 {
    let one = Rc::new(Cell::new(n));
    let other = Rc::clone(&one);
    for k in 0..n % 6 {
        let from = if k % 2 == 0 { &one } else { &other };
        from.set(from.get() * 2 + k);
    }
    one.get() + other.get() + Rc::strong_count(&one) as u64
}

#[autobatch]
fn shared_pointer_to_a_mutex(n: u64) -> u64 {
    let one = Arc::new(Mutex::new(vec![n]));
    let mut others = vec![];
    for k in 0..n % 6 {
        others.push(one.clone());
        others[k as usize / 2].lock().unwrap().push(k);
    }
    let sum = one.lock().unwrap().iter().sum::<u64>();
    sum * 10 + others.len() as u64
}

#[autobatch]
fn boxed_cell(n: u64) -> u64 {
    let c = Box::new(Cell::new(n));
    for k in 0..n % 6 {
        c.set(c.get() + k * k);
    }
    c.get()
}

#[autobatch]
fn optional_cell(n: u64) -> u64 {
    let maybe = (n % 5 > 0).then(|| Cell::new(n));
    for k in 0..n % 6 {
        if let Some(c) = &maybe {
            c.set(c.get() + k + 2);
        }
    }
    maybe.map_or(3, Cell::into_inner)
}

#[autobatch]
fn list_of_cells(n: u64) -> u64 {
    let cells: Vec<_> = (0..4).map(Cell::new).collect();
    for k in 0..n % 7 {
        for c in &cells {
            c.set(c.get() * 2 + k);
        }
    }
    cells.iter().map(Cell::get).sum()
}

enum Seen {
    Never,
    Often(Cell<u64>),
}

#[autobatch]
fn cell_of_an_enum(n: u64) -> u64 {
    let seen = if n % 7 == 0 { Seen::Never } else { Seen::Often(Cell::new(n)) };
    let mut never = 0;
    for k in 0..n % 9 {
        match &seen {
            Seen::Often(times) => times.set(times.get() + k),
            Seen::Never => never += 1,
        }
    }
    match seen {
        Seen::Often(times) => times.get(),
        Seen::Never => never,
    }
}

#[autobatch]
fn through_an_alias(n: u64) -> u64 {
    let c = Cell::new(n);
    let alias = &c;
    let again = alias;
    for k in 0..n % 5 {
        again.set(c.get() + alias.get() % 10 + k);
    }
    c.get()
}

#[autobatch]
fn through_a_closure(n: u64) -> u64 {
    let c = Cell::new(1);
    let add = |x: u64| c.set(c.get() * 2 + x);
    for k in 0..n % 6 {
        add(k);
        if k == 3 {
            c.set(5);
        }
    }
    add(n);
    c.get()
}

/// A write in a condition, and one in a guard of a match.
#[autobatch]
fn in_conditions(n: u64) -> u64 {
    let c = Cell::new(n);
    let mut sum = 0;
    while c.replace(c.get() / 2) > 1 {
        sum += match c.get() {
            k if c.replace(k + 1) % 3 == 0 => 2,
            k => k % 7,
        };
        c.set(c.get().saturating_sub(1));
    }
    sum * 100 + c.get()
}

#[autobatch]
fn cell_of_a_copied_struct(n: u64) -> u64 {
    #[derive(Clone, Copy)]
    struct Range {
        low: u64,
        high: u64,
    }
    let range = Cell::new(Range { low: n, high: n });
    for k in 0..n % 9 {
        let Range { low, high } = range.get();
        if k % 2 == 0 {
            range.set(Range { low: low.min(k), high });
        } else {
            range.set(Range { low, high: high.max(k * 9) });
        }
    }
    range.get().low + 1000 * range.get().high
}

#[autobatch]
fn cell_of_lists(values: Vec<f64>) -> f64 {
    let kept = Cell::new(Vec::new());
    for v in &values {
        let mut list = kept.take();
        if *v > 0.0 || list.is_empty() {
            list.push(*v);
        }
        kept.set(list);
    }
    kept.into_inner().iter().fold(0.25, |a, v| a * 1.5 + v)
}

#[autobatch]
fn refcell_of_text(text: String) -> String {
    let out = RefCell::new(String::new());
    for word in text.split(' ') {
        if word.parse::<u32>().is_err() {
            out.borrow_mut().push_str(word);
        } else {
            let seen = out.borrow().len();
            out.borrow_mut().push_str(&seen.to_string());
        }
    }
    out.into_inner()
}

#[autobatch]
fn borrowed_over_the_loop(n: u64) -> u64 {
    let r = RefCell::new(n);
    {
        let mut inner = r.borrow_mut();
        for k in 0..n % 8 {
            *inner += k;
        }
    }
    let free = u64::from(r.try_borrow().is_ok());
    r.into_inner() * 10 + free
}

promises! {
    a_cell_keeps_what_was_written: cell, cell_batched_with, numbers().iter().map(|n| *n as u32).collect::<Vec<_>>();
    a_cell_of_a_float_keeps_what_was_written: cell_of_float, cell_of_float_batched_with, floats();
    a_ref_cell_keeps_what_was_written: refcell, refcell_batched_with, numbers();
    a_mutex_keeps_what_was_written: mutex, mutex_batched_with, numbers();
    a_lock_for_readers_keeps_what_was_written: rwlock, rwlock_batched_with, numbers();
    an_atomic_keeps_what_was_written: atomic, atomic_batched_with, numbers();
    an_atomic_flag_ends_the_loop: atomic_flag, atomic_flag_batched_with, numbers();
    a_once_cell_stays_filled: once_cell, once_cell_batched_with, numbers();
    a_once_lock_refuses_a_second_value: once_lock, once_lock_batched_with, numbers();
    a_lazy_cell_is_computed_once: lazy_cell, lazy_cell_batched_with, numbers();
    cells_of_an_array_keep_what_was_written: array_of_cells, array_of_cells_batched_with, numbers();
    cells_of_a_slice_write_to_the_array: cells_of_a_slice, cells_of_a_slice_batched_with, numbers();
    cells_of_a_tuple_keep_what_was_written: tuple_of_cells, tuple_of_cells_batched_with, numbers();
    cells_bound_by_a_pattern_keep_what_was_written: cells_of_a_pattern, cells_of_a_pattern_batched_with, numbers();
    writes_between_recursive_calls_are_kept: between_calls, between_calls_batched_with, numbers();
    recursive_calls_write_to_the_callers_cell: passed_to_calls::run, passed_to_calls::run_batched_with, numbers();
    each_activation_writes_to_its_own_cell:
        of_each_activation::run, of_each_activation::run_batched_with, numbers();
    an_exclusive_reference_leaves_its_cell:
        exclusive_reference_in_a_cell, exclusive_reference_in_a_cell_batched_with, numbers();
    an_exclusive_reference_is_taken_once:
        exclusive_reference_taken_once, exclusive_reference_taken_once_batched_with, numbers();
    shared_pointers_share_their_cell: shared_pointer_to_a_cell, shared_pointer_to_a_cell_batched_with, numbers();
    shared_pointers_share_their_mutex: shared_pointer_to_a_mutex, shared_pointer_to_a_mutex_batched_with, numbers();
    a_boxed_cell_keeps_what_was_written: boxed_cell, boxed_cell_batched_with, numbers();
    an_optional_cell_keeps_what_was_written: optional_cell, optional_cell_batched_with, numbers();
    cells_of_a_list_keep_what_was_written: list_of_cells, list_of_cells_batched_with, numbers();
    a_cell_of_an_enum_keeps_what_was_written: cell_of_an_enum, cell_of_an_enum_batched_with, numbers();
    an_alias_writes_to_the_cell: through_an_alias, through_an_alias_batched_with, numbers();
    a_closure_writes_to_the_cell: through_a_closure, through_a_closure_batched_with, numbers();
    conditions_and_guards_write: in_conditions, in_conditions_batched_with, numbers();
    a_cell_of_a_copied_struct_keeps_what_was_written:
        cell_of_a_copied_struct, cell_of_a_copied_struct_batched_with, numbers();
    a_list_is_taken_from_a_cell_and_put_back: cell_of_lists, cell_of_lists_batched_with, lists();
    a_ref_cell_of_text_keeps_what_was_written: refcell_of_text, refcell_of_text_batched_with, texts();
    a_borrow_over_a_loop_ends_behind_it: borrowed_over_the_loop, borrowed_over_the_loop_batched_with, numbers();
}
