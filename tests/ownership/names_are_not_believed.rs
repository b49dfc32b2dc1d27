//! A name proves nothing: a user's method, function, module, macro or variable may have the name of one of the library's, or of one in
//! generated code. And a value that is handed on to a call, and named again behind it, is there once.

use std::ptr::NonNull;

use autobatch::{Executor, Options, autobatch, same};

use crate::common::{Bits, executors};
use crate::{agree, floats, numbers, promises, texts};

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
fn what_a_call_has_taken_is_not_there_again() {
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

fn fives(text: &String) -> u64 {
    text.len() as u64 * 5 % 23
}

#[test]
fn a_macro_of_a_known_name_may_leave() {
    agree!(texts(), |text| a_macro_that_leaves(text.clone(), fives(text)), |batch, options| {
        let counts: Vec<u64> = batch.iter().map(fives).collect();
        a_macro_that_leaves_batched_with(batch, counts, options)
    });
}

fn length(text: &String) -> u64 {
    text.len() as u64
}

/// Methods that every type has, by value and by reference, of the names that generated code calls.
mod for_all {
    use autobatch::autobatch;

    use super::length;
    use kernels::{root, third};

    /// Found before the methods of these names that take `&self` or `&mut self`.
    macro_rules! methods {
        ($($of:ident { $($name:ident($($arg:ident),*) -> $result:ty;)* })*) => {$(
            #[expect(dead_code, reason = "nobody calls them")]
            pub(super) trait $of {
                $(fn $name<$($arg),*>(self, $(_: $arg),*) -> $result
                where
                    Self: Sized,
                {
                    Default::default()
                })*
            }
            impl<T: ?Sized> $of for T {}
        )*};
    }
    methods! {
        OfMachine {
            arrive(A, B) -> ();
            compact(A) -> ();
            discard(A) -> ();
            discard_saved(A) -> ();
            divisor() -> ();
            edit(A) -> ();
            fail(A) -> ();
            forget_saved(A) -> ();
            give(A, B) -> ();
            give_same(A) -> ();
            keep(A, B) -> ();
            land(A, B) -> ();
            lift(A) -> ();
            load_whole(A) -> bool;
            once(A, B) -> ();
            open(A) -> ();
            pass(A, B) -> ();
            pass_same(A) -> ();
            peek(A, B) -> ();
            plain() -> bool;
            pop(A, B) -> ();
            push(A) -> ();
            put(A, B) -> ();
            read(A) -> ();
            receive(A, B) -> ();
            repeat(A, B) -> ();
            repeat_until(A, B, C) -> ();
            route() -> ();
            store(A, B) -> ();
            stores() -> ();
            unexpected() -> ();
            update(A, B) -> ();
            waiting(A) -> ();
        }
        OfFrames {
            absorb(A) -> ();
            add(A, B) -> ();
            any() -> bool;
            arena() -> ();
            begin() -> Option<u64>;
            clear() -> ();
            close(A) -> ();
            column(A) -> ();
            count() -> usize;
            depth() -> ();
            dispatch(A, B, C) -> ();
            each(A, B, C) -> ();
            fill_with(A) -> ();
            for_each(A) -> ();
            gather(A, B, C) -> ();
            include(A) -> ();
            insert(A) -> ();
            iter_mut() -> Vec<u64>;
            lanes() -> ();
            lanes_mut() -> ();
            leave(A, B) -> ();
            len() -> usize;
            members() -> ();
            note(A, B, C) -> ();
            rounds() -> usize;
            set(A, B) -> ();
            set_by_parts(A) -> u64;
            sparse() -> bool;
            strip(A) -> u64;
            strips() -> usize;
            sub() -> ();
            trim() -> usize;
        }
        OfForks {
            agrees() -> bool;
            base() -> ();
            begins(A) -> bool;
            both(A) -> ((), ());
            bytes() -> usize;
            call(A, B, C, D, E, F) -> ();
            descends() -> bool;
            filled(A, B, C, D, E) -> ();
            first() -> ();
            forked(A) -> ();
            grow(A, B) -> ();
            grows() -> Option<u64>;
            has_room(A) -> bool;
            here(A) -> ();
            joins() -> (usize, usize);
            own() -> ();
            wide() -> usize;
        }
        OfRooms {
            at(A, B) -> u64;
            check(A) -> ();
            enter(A, B, C) -> ();
            fetch(A, B, C, D, E, F, G) -> ();
            finish(A, B, C) -> ();
            is_low() -> bool;
            load(A) -> Option<u64>;
            next(A) -> Option<usize>;
            places(A) -> ();
            restores(A) -> ();
            room(A) -> ();
            save(A, B, C, D, E) -> ();
            sites() -> ();
            size() -> usize;
            stack(A, B) -> ();
            take() -> ();
            up(A, B) -> ();
        }
        OfQuestions {
            admits() -> bool;
            answer() -> ();
            ask() -> ();
            is(A) -> ();
            is_forgotten() -> bool;
            of(A) -> ();
            with(A) -> ();
        }
        OfOthers {
            divide(A, B) -> bool;
            is_quick(A) -> bool;
            is_quick_for_all(A) -> bool;
            next_into(A) -> ();
            only(A) -> ();
            part(A) -> ();
            pass_mut() -> ();
        }
    }

    #[autobatch]
    pub(super) fn run(s: String, n: u64) -> u64 {
        if n == 0 {
            return length(&s);
        }
        let (mut k, mut sum) = (n, 0);
        while k > 0 {
            sum += length(&s) + k;
            k /= 2;
        }
        let copy = s.clone();
        run(s, n / 3) + sum + length(&copy)
    }

    #[autobatch]
    pub(super) fn a_fork(n: u64) -> u64 {
        let m = n % 14;
        if m < 2 { n } else { a_fork(m - 2) * 3 + a_fork(m - 1) }
    }

    #[autobatch(strict)]
    pub(super) fn a_fork_that_returns_a_literal(n: u64, #[shared] least: u64) -> u64 {
        if n < least {
            return 1;
        }
        let half = n / 2;
        let below = a_fork_that_returns_a_literal(half, least);
        below + a_fork_that_returns_a_literal(n - half, least) * 3 + half
    }

    #[autobatch(strict)]
    pub(super) fn a_gang(a: f64, b: f64, c: f64, depth: u32) -> f64 {
        let m = (a + b) * 0.5;
        let (l, r) = (1.0 / (a * a + 1.0) + a * m, 1.0 / (b * b + 1.0) + b * m);
        let (p, q) = ((l * a + m) * (r * b - m) + l * l * r, (r * a + m) * (l * b - m) + r * r * l);
        let (s, t) = (p * p * 0.25 + q * l - a * b, q * q * 0.25 - p * r + a * b);
        let u = (s * s + t * t) / (1.0 + p * p + q * q) + (s - t) * (p - q) * m;
        let v = (u * u - s) * (u + t) / (2.0 + s * s) + (l * u - r) * (p + u) * (q - u) * 0.5;
        if depth == 0 || (l - r).abs() < 1e-2 {
            u + v * c
        } else {
            a_gang(a, m, c, depth - 1) + a_gang(m, b, c * 0.5, depth - 1) * 0.5
        }
    }

    #[autobatch(strict)]
    pub(super) fn loops_and_calls(n: u64) -> u64 {
        let (mut k, mut sum) = (n, 0);
        while k > 0 {
            sum += k * k;
            k /= 2;
        }
        if sum < 20 {
            return sum + n;
        }
        let below = loops_and_calls(n / 3);
        let mut k = below % 16;
        while k > 2 {
            sum ^= k;
            k -= 2;
        }
        sum + loops_and_calls(n / 4 + below % 2)
    }

    #[autobatch(strict)]
    pub(super) fn a_tail_call(n: u64, sum: u64) -> u64 {
        if n == 0 { sum } else { a_tail_call(n / 2, sum * 3 + n) }
    }

    #[autobatch(strict)]
    pub(super) mod each_other {
        #[allow(unused_imports)] // their methods are in scope
        use super::*;

        fn even(n: u64) -> u64 {
            if n < 2 {
                return 1;
            }
            let mut sum = odd(n - 1);
            if sum % 3 != 0 {
                sum += even(n / 2);
            }
            sum + odd(n / 3)
        }

        fn odd(n: u64) -> u64 {
            if n < 3 { n } else { even(n - 3) * 2 + even(n / 4) }
        }

        pub(in super::super) fn run(n: u64) -> u64 {
            let mut sum = odd(n % 12);
            let mut k = n % 5;
            while k > 0 {
                sum += even(k + n % 3);
                k -= 1;
            }
            sum
        }
    }

    /// A loop whose counts differ, in rooms and frames.
    #[autobatch(strict)]
    pub(super) mod looped_calls {
        #[allow(unused_imports)] // their methods are in scope
        use super::*;

        fn collatz(mut n: u64) -> u64 {
            let mut steps = 0;
            while n > 1 {
                n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
                steps += 1;
            }
            steps
        }

        pub(in super::super) fn run(n: u64, #[shared] most: u64) -> u64 {
            let mut k = 1 + n % most;
            let mut sum = 0;
            while k > 0 {
                sum = sum * 2 + collatz(n + k);
                k -= 1;
            }
            sum
        }
    }

    #[autobatch]
    pub(super) fn a_lent_state(n: u64, total: &mut u64) -> u64 {
        let mut here = n;
        if n > 0 {
            let below = a_lent_state(n / 2, &mut here);
            *total += here + below % 3;
            a_lent_state(n / 3, total);
        }
        *total + here
    }

    #[autobatch]
    pub(super) fn sums_of_each(n: u64, #[each] numbers: &[u64]) -> u64 {
        let mut sum = n;
        for &x in numbers {
            let mut k = x;
            while k > 0 {
                sum += k;
                k /= 2;
            }
        }
        sum
    }

    #[autobatch(strict)]
    pub(super) fn arrays(x: f32, y: f32, n: u64) -> f32 {
        let mut row = [0.0f32; 20];
        for k in 0..20 {
            row[k] = x * (k as f32 - 3.0) / y;
        }
        let mut i = 0;
        while i < n {
            for k in 0..19 {
                row[k] = (0.75 * row[k] + 0.25 * row[k + 1]) / y;
            }
            i += 1;
        }
        for _ in 0..20 {
            for k in 0..19 {
                row[k] = (0.75 * row[k] + 0.25 * row[k + 1]) / y;
            }
        }
        row[1] + row[7] * 3.0
    }

    #[autobatch(strict)]
    pub(super) fn divisions(n: u64, by: u64) -> u64 {
        let (mut k, mut sum) = (n * 1000 + 999, 0);
        while k > 0 {
            sum += k % 7 + k % by;
            k /= by;
        }
        sum
    }

    #[autobatch(strict, vector_math)]
    pub(super) fn elementary(x: f64, n: u64) -> f64 {
        let (mut y, mut k) = (x, n);
        while k > 0 {
            let s = y.sin();
            let e = (s * 0.5).exp();
            y = (e + 1.0).ln() + s * y.cos();
            k /= 2;
        }
        if n > 3 { elementary(y, n / 3) + y } else { y }
    }

    #[autobatch]
    pub(super) fn a_primitive(n: u64, delay: u64) -> u64 {
        let (mut x, mut wait) = (n * 100, 0);
        while wait < delay {
            wait += 1;
        }
        while x > 3 {
            x = third(x) + wait % 2;
        }
        x + wait
    }

    /// What columns of arguments are made of follows from the methods that rustc finds, `column` among them. A wrong one is an error.
    mod kernels {
        #[allow(unused_imports)] // as above
        use super::{OfMachine, OfOthers};

        #[autobatch::primitive(batched = thirds)]
        pub(super) fn third(x: u64) -> u64 {
            x / 3
        }

        fn thirds(all: &[u64]) -> Vec<u64> {
            let mut results = vec![];
            for x in all {
                results.extend([x / 3]);
            }
            results
        }

        #[autobatch::primitive(batched = roots)]
        pub(super) fn root(x: f64, count: &mut u64) -> f64 {
            *count += 1;
            x.sqrt()
        }

        fn roots(all: &[f64], counts: &mut [u64]) -> Vec<f64> {
            for count in counts {
                *count += 1;
            }
            let mut results = vec![];
            for x in all {
                results.extend([x.sqrt()]);
            }
            results
        }
    }

    #[autobatch]
    pub(super) fn a_primitive_with_a_state(x: f64) -> f64 {
        let (mut y, mut count) = (x * x + 3.0, 0);
        while y > 1.5 {
            y = root(y, &mut count);
        }
        y + count as f64
    }

    #[autobatch]
    pub(super) fn in_vectors(n: u64) -> u64 {
        if n < 2 {
            return n + 1;
        }
        let below: Vec<u64> = (0..n % 4).map(|i| in_vectors(n / 4 + i)).collect();
        let mut sum = n;
        for x in below {
            sum += x * 3;
        }
        sum
    }
}

#[test]
fn methods_that_every_type_has_are_not_those_of_generated_code() {
    agree!(texts(), |text| for_all::run(text.clone(), fives(text)), |batch, options| {
        let counts: Vec<u64> = batch.iter().map(fives).collect();
        for_all::run_batched_with(batch, counts, options)
    });
}

#[test]
fn methods_that_every_type_has_are_not_those_of_frames() {
    use for_all::*;
    agree!(numbers(), |&n| a_fork(n), |batch, options| a_fork_batched_with(batch, options));
    agree!(numbers(), |&n| a_fork_that_returns_a_literal(n, 2), |batch, options| {
        a_fork_that_returns_a_literal_batched_with(batch, 2, options)
    });
    fn near(n: &u64) -> f64 {
        *n as f64 * 0.01
    }
    agree!(numbers(), |n| a_gang(near(n), 3.0, 0.5, 7), |batch, options| {
        let a: Vec<f64> = batch.iter().map(near).collect();
        a_gang_batched_with(a, same(3.0), same(0.5), same(7), options)
    });
    agree!(numbers(), |&n| loops_and_calls(n), |batch, options| loops_and_calls_batched_with(batch, options));
    agree!(numbers(), |&n| a_tail_call(n, 1), |batch, options| a_tail_call_batched_with(
        batch,
        same(1),
        options
    ));
    agree!(numbers(), |&n| each_other::run(n), |batch, options| each_other::run_batched_with(batch, options));
    agree!(numbers(), |&n| looped_calls::run(n, 4), |batch, options| looped_calls::run_batched_with(
        batch, 4, options
    ));
}

#[test]
fn methods_that_every_type_has_are_not_those_of_lanes() {
    use for_all::*;
    agree!(numbers(), |&n| a_lent_state(n, &mut { n }), |batch, options| {
        let mut states = batch.to_vec();
        a_lent_state_batched_with(batch, &mut states, options)
    });
    agree!(numbers(), |&n| sums_of_each(n, &[n, n + 1, 3]), |batch, options| {
        let each: Vec<Vec<u64>> = batch.iter().map(|&n| vec![n, n + 1, 3]).collect();
        sums_of_each_batched_with(batch, &each, options)
    });
    agree!(numbers(), |&n| arrays(n as f32 + 0.5, 1.25, n % 5), |batch, options| {
        let x: Vec<f32> = batch.iter().map(|&n| n as f32 + 0.5).collect();
        let n: Vec<u64> = batch.iter().map(|&n| n % 5).collect();
        arrays_batched_with(x, same(1.25), n, options)
    });
    agree!(numbers(), |&n| divisions(n, 2 + n % 3), |batch, options| {
        let by: Vec<u64> = batch.iter().map(|&n| 2 + n % 3).collect();
        divisions_batched_with(batch, by, options)
    });
    agree!(numbers(), |&n| a_primitive(n, n % 4), |batch, options| {
        let delays: Vec<u64> = batch.iter().map(|&n| n % 4).collect();
        a_primitive_batched_with(batch, delays, options)
    });
    agree!(floats(), |&x| a_primitive_with_a_state(x), |batch, options| {
        a_primitive_with_a_state_batched_with(batch, options)
    });
    agree!(numbers(), |&n| in_vectors(n), |batch, options| in_vectors_batched_with(batch, options));
}

/// The scalar function's elementary functions are others: only executors are compared.
#[test]
fn methods_that_every_type_has_are_not_those_of_vector_math() {
    use for_all::*;
    let numbers = numbers();
    let x: Vec<f64> = numbers.iter().map(|&n| n as f64 * 0.1).collect();
    let results = |options: &Options| {
        let outcome = elementary_batched_with(&x, &numbers, options).expect("of one length");
        outcome.into_values().expect("no faults")
    };
    let expected = results(&Options::default().executor(Executor::Scalar));
    for (how, options) in executors() {
        assert!(results(&options).same(&expected), "{how}");
    }
    for ((x, n), found) in x.iter().zip(&numbers).zip(&expected) {
        assert!((elementary(*x, *n) - found).abs() < 1e-9);
    }
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
    a_number_may_be_lent: a_method_that_lends_a_number, a_method_that_lends_a_number_batched_with, texts();
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
