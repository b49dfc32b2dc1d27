//! Types, functions and macros of other files of the crate are not known: results are those of the scalar code all the same.

mod kinds;
#[macro_use]
mod macros;

use std::cell::Cell;

use crate::common::{agree_at, column, tell_the_same};
use autobatch::autobatch;
use kinds::{Guard, View, Wide, dropped, lend, make, smart};

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// What has been dropped, in order.
fn told() -> u64 {
    SEEN.replace(0)
}

fn made(n: u64) -> Vec<u64> {
    (0..n % 50 + 14).map(|k| k * n).collect()
}

#[autobatch]
mod guards {
    use super::{Guard, View, lend, made};

    fn length(v: &[u64], n: u64) -> u64 {
        if n == 0 { v.iter().sum::<u64>() % 101 } else { length(v, n - 1) + 1 }
    }
    pub(super) fn field_read(n: u64) -> u64 {
        let kept = made(n);
        let g = Guard::new(&kept);
        let x = g.n;
        length(&kept, x % 7)
    }
    pub(super) fn method_called(n: u64) -> u64 {
        let kept = made(n);
        let g = Guard::new(&kept);
        g.touch();
        length(&kept, n % 7)
    }
    pub(super) fn called_last(n: u64) -> u64 {
        let kept = made(n);
        let g = Guard::new(&kept);
        g.touch();
        let x = length(&[n], n % 7);
        x + kept.len() as u64
    }
    pub(super) fn changed(n: u64) -> u64 {
        let kept = made(n);
        let mut g = Guard::new(&kept);
        g.advance();
        let y = length(&kept, n % 7);
        g.advance();
        y + g.count() + length(&kept, 1)
    }
    pub(super) fn by_a_function(n: u64) -> u64 {
        let kept = made(n);
        let g = lend(&kept);
        let (x, y) = (g.n, g.count());
        let y = length(&kept, x % 7) + y;
        y + length(&kept, 2)
    }
    pub(super) fn in_a_block(n: u64) -> u64 {
        let kept = made(n);
        let x = {
            let g = Guard::new(&kept);
            g.touch();
            length(&kept, 3) + g.n
        };
        x + length(&kept, 1)
    }
    pub(super) fn before_a_loop(n: u64) -> u64 {
        let kept = made(n);
        let g = Guard::new(&kept);
        let x = g.n;
        let (mut s, mut i) = (0, 0);
        while i < x {
            s += length(&kept, i % 3);
            i += 5;
        }
        s + kept[0]
    }
    pub(super) fn part_of_a_view(n: u64) -> u64 {
        let kept = made(n);
        let v = View::new(&kept);
        let list = v.list;
        let y = length(&kept, n % 7);
        y + length(&list, 1) + v.n + v.of[0]
    }
    pub(super) fn view_done_with(n: u64) -> u64 {
        let kept = made(n);
        let v = View::new(&kept);
        let x = v.n;
        v.touch();
        let y = length(&kept, x % 7);
        let moved = kept;
        y + length(&moved, 2)
    }
}

#[autobatch]
mod parts {
    use super::{make, smart};

    fn length(v: &[u64], n: u64) -> u64 {
        if n == 0 { v.iter().sum::<u64>() % 101 } else { length(v, n - 1) + 1 }
    }
    pub(super) fn of_a_tuple(n: u64) -> u64 {
        let (p, q) = make(n);
        let mut s = 0;
        for k in p.items {
            s += length(&[k], k % 3);
        }
        s + p.n + length(&q.items, 2) + q.n
    }
    pub(super) fn changed(n: u64) -> u64 {
        let (mut p, q) = make(n);
        let mut s = 0;
        p.n += 1;
        while let Some(k) = p.items.pop() {
            s += length(&[k], k % 3);
        }
        let name = p.name;
        s + length(&q.items, 2) + q.n + p.n + name.len() as u64
    }
    pub(super) fn one_taken_one_lent(n: u64) -> u64 {
        let p = smart(n);
        let r = &p.name;
        let list = p.list;
        let x = length(r, n % 5) + length(&list, 1);
        x + r[0] + p.n
    }
    pub(super) fn behind_a_deref(n: u64) -> u64 {
        let p = smart(n);
        let mut s = length(&p, n % 5);
        for k in p.iter() {
            s += length(&[*k], 1);
        }
        let list = p.list;
        s + p.n + length(&p.name, 1) + length(&list, 2)
    }
}

/// A `drop` keeps parts from being moved.
#[autobatch]
mod whole {
    use super::dropped;

    fn length(v: &[u64], n: u64) -> u64 {
        if n == 0 { v.iter().sum::<u64>() % 101 } else { length(v, n - 1) + 1 }
    }
    pub(super) fn borrowed(n: u64) -> u64 {
        let p = dropped(n);
        let r = &p.name;
        let k = p.n;
        let x = length(r, k % 5) + length(&p.list, 1);
        x + r[0] + p.n
    }
    pub(super) fn replaced(n: u64) -> u64 {
        let mut p = dropped(n);
        let list = std::mem::take(&mut p.list);
        let r = &p.name;
        let x = length(r, n % 5) + length(&list, 1);
        x + r[0] + p.n
    }
}

#[autobatch]
fn updated(p: Wide, n: u64) -> u64 {
    let a = p.a;
    let q = Wide { a: vec![n], ..p };
    let t = if n > 0 { updated(q, n - 1) } else { a.len() as u64 };
    t + a.iter().sum::<u64>() + p.b
}
#[autobatch]
fn iterated(p: Wide, n: u64) -> u64 {
    let mut t = 0;
    for x in p.a {
        t += if x > n { iterated(Wide { a: vec![x / 2], c: vec![n], ..p }, n) % 100 } else { 2 };
    }
    t + p.b + p.d + p.c.len() as u64
}

#[autobatch]
mod with_macros {
    use super::made;

    fn length(v: &[u64], n: u64) -> u64 {
        if n == 0 { v.iter().sum::<u64>() % 101 } else { length(v, n - 1) + 1 }
    }
    pub(super) fn returns(n: u64) -> u64 {
        let kept = made(n);
        give_up!(n.is_multiple_of(3), 7);
        let x = length(&kept, n % 7);
        x + kept[0]
    }
    pub(super) fn breaks(n: u64) -> u64 {
        let mut s = 0;
        for k in made(n) {
            stop_if!(s > 30);
            s += length(&[k], 1 + k % 3);
        }
        s
    }
    pub(super) fn binds(n: u64) -> u64 {
        let kept = made(n);
        names!(q, n + 1);
        let x = length(&kept, n % 7);
        q += x;
        x + kept[0] + q
    }
}
/// This one is harmless.
#[autobatch]
fn computes(n: u64) -> u64 {
    let x = plus!(n, 2);
    if x < 5 { x } else { computes(n / 2) + plus!(x, 1) }
}

const SIZES: [usize; 3] = [0, 1, 67];

#[test]
fn guards_of_other_files() {
    let inputs: Vec<u64> = (0..12).collect();
    macro_rules! check {
        ($($module:ident $scalar:ident $batched:ident)*) => {$(
            agree_at(&SIZES, &inputs, |n| $module::$scalar(*n), |n, o| $module::$batched(n, o));
            tell_the_same(&inputs, told, |n| $module::$scalar(*n), |n, o| $module::$batched(n, o));
        )*};
    }
    check!(guards field_read field_read_batched_with guards method_called method_called_batched_with);
    check!(guards called_last called_last_batched_with guards changed changed_batched_with);
    check!(guards by_a_function by_a_function_batched_with guards in_a_block in_a_block_batched_with);
    check!(guards before_a_loop before_a_loop_batched_with whole borrowed borrowed_batched_with);
    check!(guards part_of_a_view part_of_a_view_batched_with guards view_done_with view_done_with_batched_with);
    check!(whole replaced replaced_batched_with);
}

#[test]
fn parts_of_types_in_other_files() {
    let inputs: Vec<u64> = (0..9).collect();
    let wide = |n: u64| Wide { a: (0..n).collect(), b: n % 5, c: vec![n; 2], d: n };
    macro_rules! agree {
        ($($f:ident $batched:ident),*) => { $(
            agree_at(&SIZES, &inputs, |n| parts::$f(*n), |n, o| parts::$batched(n, o));
        )* };
        (wide: $($f:ident $batched:ident),*) => { $(agree_at(
            &SIZES,
            &inputs,
            |n| $f(wide(*n), n % 4),
            |b, o| $batched(column(b, |n| wide(*n)), column(b, |n| n % 4), o),
        );)* };
    }
    agree!(of_a_tuple of_a_tuple_batched_with, changed changed_batched_with);
    agree!(one_taken_one_lent one_taken_one_lent_batched_with, behind_a_deref behind_a_deref_batched_with);
    agree!(wide: updated updated_batched_with, iterated iterated_batched_with);
}

#[test]
fn macros_of_other_files() {
    let inputs: Vec<u64> = (0..9).collect();
    macro_rules! agree {
        ($($f:ident $batched:ident $program:ident $why:literal),*) => { $(
            agree_at(&SIZES, &inputs, |n| with_macros::$f(*n), |n, o| with_macros::$batched(n, o));
            let program = with_macros::$program::program();
            assert!(program.whole_scalar && program.to_string().contains($why), "{program}");
        )* };
    }
    agree!(returns returns_batched_with returns_batched "return", breaks breaks_batched_with breaks_batched "break");
    agree!(binds binds_batched_with binds_batched "stands in another file");
    agree_at(&SIZES, &inputs, |n| computes(*n), |n, o| computes_batched_with(n, o));
}
