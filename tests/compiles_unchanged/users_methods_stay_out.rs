//! A user's trait may have methods for all types, of the names that generated code calls, by value. Generated code calls its own.

#![allow(clippy::all)] // as users write, not as one should

use autobatch::{Executor, Options, same};

use crate::common::promises::{agree, fives, floats, numbers, texts};
use crate::common::{Bits, executors};

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
            forget_saved(A, B) -> ();
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

    /// A loop whose counts differ, in the wavefront and in frames.
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
