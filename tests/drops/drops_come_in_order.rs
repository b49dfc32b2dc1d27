//! Each value is dropped once, where the scalar code drops it: locals that live across loops and calls, values that move on
//! some paths only, parts bound by patterns, temporaries.

#![allow(clippy::all)] // as users write, not as one should

use std::mem;
use std::rc::Rc;

use autobatch::autobatch;

use crate::common::promises::{Log, Token, logs_agree};

#[autobatch]
fn locals(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let b = log.token(2);
    let mut k = n;
    while k > 0 {
        log.note(k);
        k /= 2;
    }
    let c = log.token(3);
    a.id() + b.id() + c.id()
}

#[autobatch]
fn moved_on_some_paths(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let b = log.token(2);
    let c = log.token(3);
    let mut kept = Vec::new();
    if n % 3 == 0 {
        drop(a);
    } else if n % 3 == 1 {
        kept.push(a);
    }
    let mut k = n;
    while k > 0 {
        log.note(k);
        k /= 2;
    }
    if n % 2 == 0 {
        kept.push(c);
    }
    log.note(50);
    kept.len() as u64 + b.id()
}

#[autobatch]
fn moved_in_a_loop_that_ends(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let b = log.token(2);
    let mut k = n;
    let back = loop {
        log.note(k);
        if k % 5 == 2 {
            break a;
        }
        if k == 0 {
            drop(b);
            break log.token(9);
        }
        k /= 2;
    };
    log.note(60);
    back.id()
}

#[autobatch]
fn assigned_in_a_loop(n: u64, log: Log) -> u64 {
    let mut held = log.token(0);
    for k in 1..n % 6 + 1 {
        log.note(k);
        if k % 3 == 2 {
            continue;
        }
        held = log.token(k);
    }
    log.note(70);
    held.id()
}

#[autobatch]
fn shadowed(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let a = log.token(a.id() + 1);
    for k in 0..n % 4 {
        let b = log.token(10 + k);
        let b = log.token(20 + b.id());
        if k == 2 {
            break;
        }
        log.note(b.id());
    }
    let a = log.token(a.id() + 1);
    log.note(80);
    a.id()
}

#[autobatch]
fn pair_of_which_one_part_is_ignored(n: u64, log: Log) -> u64 {
    let pair = (log.token(1), log.token(2));
    let (p, _) = pair;
    let c = log.token(3);
    let mut k = n;
    while k > 0 {
        log.note(k);
        k /= 2;
    }
    p.id() + c.id()
}

#[autobatch]
fn ignored_parts_of_temporaries(n: u64, log: Log) -> u64 {
    let (a, _) = (log.token(1), log.token(2));
    log.note(10);
    let (_, _named) = (log.token(3), log.token(4));
    let _ = log.token(5);
    let _kept = log.token(6);
    _ = log.token(7);
    for k in 0..n % 4 {
        let (_, b) = (log.token(30 + k), log.token(40 + k));
        log.note(b.id());
    }
    a.id()
}

struct Pair {
    first: Token,
    second: Token,
    third: Token,
}

#[autobatch]
fn struct_of_which_one_field_moves(n: u64, log: Log) -> u64 {
    let pair = Pair { second: log.token(2), first: log.token(1), third: log.token(3) };
    let other = log.token(4);
    let mut k = n;
    if n % 2 == 0 {
        drop(pair.second);
    }
    while k > 0 {
        log.note(k);
        k /= 2;
    }
    let first = pair.first;
    log.note(90);
    first.id() + other.id() + pair.third.id()
}

#[autobatch]
fn rest_of_a_base(n: u64, log: Log) -> u64 {
    let base = Pair { first: log.token(1), second: log.token(2), third: log.token(3) };
    let made = Pair { second: log.token(4), ..base };
    for k in 0..n % 5 {
        log.note(k);
    }
    made.first.id() + made.second.id() + made.third.id()
}

#[autobatch]
fn destructuring_assignment(n: u64, log: Log) -> u64 {
    let (mut a, mut b) = (log.token(1), log.token(2));
    for k in 0..n % 5 {
        if k % 2 == 0 {
            (a, b) = (b, a);
        } else {
            (b, _) = (log.token(10 + k), log.token(20 + k));
        }
        log.note(k);
    }
    a.id() * 100 + b.id()
}

fn told(token: &Token, what: u64) -> bool {
    token.log.note(what);
    token.id % 2 == 0
}

#[autobatch]
fn temporaries_in_conditions(n: u64, log: Log) -> u64 {
    let mut k = n % 12;
    while told(&log.token(k), 100 + k) || log.token(k + 50).id() > 55 {
        if told(&log.token(200 + k), 300) && k > 2 {
            log.note(400);
        } else {
            log.note(500);
        }
        if k == 0 {
            break;
        }
        k -= 1;
    }
    k
}

#[autobatch]
fn temporaries_in_statements(n: u64, log: Log) -> u64 {
    let mut sum = 0;
    for k in 0..n % 5 {
        sum += log.token(k).id() + log.token(10 + k).id();
        let first = [log.token(20), log.token(21 + k)][1].id();
        let whole = &log.token(30 + k);
        log.note(first);
        let length = vec![log.token(40), log.token(41)].len() as u64;
        sum += log.note(length) + whole.id();
    }
    sum
}

#[autobatch]
fn temporaries_of_a_match(n: u64, log: Log) -> u64 {
    let mut sum = 0;
    for k in 0..n % 6 {
        match log.token(k).id() {
            0 => log.note(60),
            id if id % 2 == 1 && told(&log.token(70 + k), 71) => log.note(61),
            id => log.note(62 + id),
        };
        log.note(63);
        sum += match Some(log.token(80 + k)) {
            Some(token) if k == 3 => token.id(),
            Some(ref token) => log.note(token.id()),
            None => 0,
        };
    }
    sum
}

/// Since the edition of 2024 the value that was looked at is dropped before the `else`.
#[autobatch]
fn temporaries_of_if_let(n: u64, log: Log) -> u64 {
    let mut sum = 0;
    for k in 0..n % 6 {
        if let Some(token) = (k % 2 == 0).then(|| log.token(k)).as_ref() {
            sum += log.note(10 + token.id());
        } else if let Err(token) = Err::<u64, _>(log.token(20 + k)) {
            sum += log.note(token.id());
        }
        log.note(99);
    }
    sum
}

#[autobatch]
fn temporaries_of_while_let(n: u64, log: Log) -> u64 {
    let mut left = n % 6;
    while let Some(token) = Some(log.token(left)).filter(|token| token.id() > 1) {
        log.note(token.id());
        left -= 1;
        if left == 3 {
            continue;
        }
        log.note(50);
    }
    left
}

#[autobatch]
fn let_else(n: u64, log: Log) -> u64 {
    let mut k = n % 7;
    let a = log.token(1);
    loop {
        let Some(token) = Some(log.token(10 + k)).filter(|token| token.id() % 4 != 0) else {
            log.note(2);
            break;
        };
        log.note(token.id());
        if k == 0 {
            return a.id();
        }
        k -= 1;
    }
    a.id() + k
}

/// Since the edition of 2024 the temporaries of the last expression are dropped before the locals.
#[autobatch]
fn temporaries_of_the_tail(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    for k in 0..n % 4 {
        let b = log.token(10 + k);
        log.note({
            let c = log.token(20);
            log.token(30).id() + c.id() + b.id()
        });
    }
    log.token(2).id() + a.id()
}

#[autobatch]
fn iterated_in_part(n: u64, log: Log) -> u64 {
    let all: Vec<Token> = (0..5).map(|k| log.token(k)).collect();
    let mut sum = 0;
    for token in all {
        log.note(50);
        sum += token.id();
        if sum > n % 8 {
            break;
        }
    }
    log.note(51);
    sum
}

#[autobatch]
fn list_that_grows_and_shrinks(n: u64, log: Log) -> u64 {
    let mut all = Vec::new();
    for k in 0..n % 9 {
        all.push(log.token(k));
        if k % 3 == 2 {
            all.swap_remove(0);
        }
        if k == 4 {
            all.truncate(1);
            log.note(70);
        }
    }
    all.len() as u64
}

#[autobatch]
fn array_taken_apart(n: u64, log: Log) -> u64 {
    let all = [log.token(0), log.token(1), log.token(2), log.token(3)];
    let mut k = n;
    while k > 0 {
        log.note(k);
        k /= 2;
    }
    let [a, .., d] = all;
    log.note(60);
    a.id() + d.id()
}

#[autobatch]
fn slots_that_are_taken(n: u64, log: Log) -> u64 {
    let mut slot = Some(log.token(0));
    let mut other = log.token(1);
    let mut sum = 0;
    for k in 2..n % 7 + 2 {
        match k % 4 {
            0 => slot = None,
            1 => drop(slot.replace(log.token(k))),
            2 => sum += slot.take().map_or(5, |token| token.id()),
            _ => other = mem::replace(&mut other, log.token(k)),
        }
        log.note(70 + k);
    }
    sum + other.id()
}

#[autobatch]
fn made_late(n: u64, log: Log) -> u64 {
    let a;
    let b = log.token(2);
    let c;
    if n % 3 != 0 {
        a = log.token(1);
        log.note(a.id());
    }
    let mut k = n;
    while k > 0 {
        log.note(k);
        k /= 2;
    }
    c = log.token(3);
    b.id() + c.id()
}

#[autobatch]
fn scopes_and_labels(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let mut sum = 0;
    'outer: for i in 0..n % 5 {
        let _b = log.token(10 + i);
        for j in 0..4 {
            let c = log.token(20 + j);
            if (i + j + n) % 5 == 3 {
                continue 'outer;
            }
            if i * j == 6 {
                break 'outer;
            }
            sum += c.id();
        }
        log.note(sum);
    }
    sum + a.id()
}

#[autobatch]
fn returns_early(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let mut k = n;
    while k > 0 {
        let b = log.token(10 + k);
        if k % 7 == 3 {
            let c = log.token(2);
            return c.id() + log.token(3).id();
        }
        log.note(b.id());
        k /= 2;
    }
    drop(a);
    log.note(80)
}

#[autobatch]
fn closures_that_own(n: u64, log: Log) -> u64 {
    let (a, b) = (log.token(1), log.token(2));
    let once = move || a.id();
    let often = {
        let c = log.token(3);
        move |k: u64| b.id() + c.id() * k
    };
    let mut sum = 0;
    for k in 0..n % 5 {
        sum += log.note(often(k));
    }
    if n % 2 == 0 {
        sum += once();
    }
    log.note(70);
    sum
}

#[autobatch]
fn shared_pointers(n: u64, log: Log) -> u64 {
    let one = Rc::new(log.token(1));
    let mut others = Vec::new();
    let mut k = n;
    while k > 0 {
        if k % 2 == 1 {
            others.push(Rc::clone(&one));
        }
        k /= 2;
    }
    drop(one);
    log.note(50);
    while let Some(other) = others.pop() {
        log.note(other.id() + others.len() as u64);
    }
    log.note(60)
}

#[autobatch]
fn boxed_objects(n: u64, log: Log) -> u64 {
    trait Weigh {
        fn weight(&self) -> u64;
    }
    impl Weigh for Token {
        fn weight(&self) -> u64 {
            self.id()
        }
    }
    impl Weigh for (Token, Token) {
        fn weight(&self) -> u64 {
            self.0.id() + self.1.id()
        }
    }
    let mut held: Box<dyn Weigh> = Box::new(log.token(1));
    let mut sum = 0;
    for k in 0..n % 5 {
        sum += held.weight();
        held = if k % 2 == 0 {
            Box::new((log.token(10 + k), log.token(20 + k)))
        } else {
            Box::new(log.token(30 + k))
        };
        log.note(sum);
    }
    sum
}

enum Stage {
    Empty,
    One(Token),
    Two(Token, Token),
}

#[autobatch]
fn enum_that_is_replaced(n: u64, log: Log) -> u64 {
    let mut stage = Stage::Empty;
    for k in 0..n % 7 {
        stage = match stage {
            Stage::Empty => Stage::One(log.token(k)),
            Stage::One(a) if k % 3 == 1 => Stage::Two(a, log.token(10 + k)),
            Stage::One(_) => Stage::Empty,
            Stage::Two(_, b) => Stage::One(b),
        };
        log.note(50 + k);
    }
    match stage {
        Stage::Empty => 0,
        Stage::One(a) => a.id(),
        Stage::Two(a, b) => a.id() * 100 + b.id(),
    }
}

#[autobatch]
mod parameters {
    use super::{Log, Token};

    pub(super) fn run(n: u64, log: Log) -> u64 {
        let first = log.token(1);
        let (sum, back) = go(n % 6, first, (log.token(2), log.token(3)), &log);
        log.note(90);
        sum + back.id()
    }

    fn go(n: u64, a: Token, (b, _): (Token, Token), log: &Log) -> (u64, Token) {
        let mine = log.token(10 + n);
        if n == 0 {
            return (mine.id(), b);
        }
        if n % 3 == 0 {
            drop(a);
            return go(n - 1, mine, (log.token(20 + n), b), log);
        }
        let (sum, back) = go(n - 1, log.token(30 + n), (a, b), log);
        log.note(sum);
        (sum + mine.id(), back)
    }
}

#[autobatch]
fn activations(n: u64, log: Log) -> u64 {
    let a = log.token(n);
    if n < 2 {
        return a.id();
    }
    let left = activations(n / 2, log.clone());
    let b = log.token(100 + n);
    let right = activations(n / 3, log.clone()) + log.token(200 + n).id();
    if left % 2 == 0 {
        drop(a);
    }
    log.note(left + right);
    left + right + b.id()
}

#[autobatch]
fn arguments_of_calls(n: u64, log: Log) -> u64 {
    fn pair(a: Token, b: &Token) -> Token {
        a.log.note(b.id());
        a
    }
    let mut held = log.token(1);
    for k in 2..n % 6 + 2 {
        held = pair(held, &log.token(k * 10));
        if k == 4 {
            held = pair(log.token(5), &held);
        }
    }
    held.id()
}

/// A member that panics drops what it has, wherever it is.
#[autobatch]
fn panics_between(n: u64, log: Log) -> u64 {
    let a = log.token(1);
    let mut kept = vec![log.token(2)];
    let mut k = n;
    while k > 0 {
        let b = log.token(10 + k);
        assert!(k % 7 != 4, "four");
        if k % 2 == 0 {
            kept.push(b);
        }
        k /= 2;
    }
    drop(a);
    kept.len() as u64
}

#[autobatch]
fn panics_in_an_argument(n: u64, log: Log) -> u64 {
    fn pair(a: Token, b: Token) -> (Token, Token) {
        (a, b)
    }
    let mut held = pair(log.token(1), log.token(2));
    for k in 0..n % 5 {
        let checked = |id: u64| if (n + id) % 6 == 5 { panic!("five") } else { log.token(20 + id) };
        held = pair(log.token(10 + k), checked(k));
        let all = [log.token(30 + k), checked(k + 1), log.token(40)];
        log.note(all[1].id());
    }
    held.1.id()
}

#[autobatch]
fn panics_in_a_call(n: u64, log: Log) -> u64 {
    let a = log.token(n);
    if n == 3 {
        let empty: [u64; 0] = [];
        return empty[n as usize];
    }
    if n < 2 {
        return a.id();
    }
    let b = log.token(100 + n);
    let below = panics_in_a_call(n - 2, log.clone());
    below + b.id()
}

logs_agree! {
    locals_are_dropped_in_reverse_order: locals, locals_batched_with, false;
    a_value_moved_on_some_paths_is_dropped_once: moved_on_some_paths, moved_on_some_paths_batched_with, false;
    a_value_moved_out_of_a_loop_is_dropped_once:
        moved_in_a_loop_that_ends, moved_in_a_loop_that_ends_batched_with, false;
    an_assignment_drops_the_old_value: assigned_in_a_loop, assigned_in_a_loop_batched_with, false;
    a_shadowed_value_lives_on: shadowed, shadowed_batched_with, false;
    the_ignored_part_of_a_pair_lives_on:
        pair_of_which_one_part_is_ignored, pair_of_which_one_part_is_ignored_batched_with, false;
    ignored_parts_of_temporaries_are_dropped_at_once:
        ignored_parts_of_temporaries, ignored_parts_of_temporaries_batched_with, false;
    the_other_fields_of_a_struct_live_on:
        struct_of_which_one_field_moves, struct_of_which_one_field_moves_batched_with, false;
    the_rest_of_a_base_lives_on: rest_of_a_base, rest_of_a_base_batched_with, false;
    a_destructuring_assignment_drops_in_order: destructuring_assignment, destructuring_assignment_batched_with, false;
    temporaries_of_conditions_are_dropped: temporaries_in_conditions, temporaries_in_conditions_batched_with, false;
    temporaries_of_statements_are_dropped: temporaries_in_statements, temporaries_in_statements_batched_with, false;
    temporaries_of_a_match_are_dropped: temporaries_of_a_match, temporaries_of_a_match_batched_with, false;
    temporaries_of_if_let_are_dropped_before_else:
        temporaries_of_if_let, temporaries_of_if_let_batched_with, false;
    temporaries_of_while_let_are_dropped: temporaries_of_while_let, temporaries_of_while_let_batched_with, false;
    a_value_that_let_else_refuses_is_dropped: let_else, let_else_batched_with, false;
    temporaries_of_the_tail_are_dropped_before_locals:
        temporaries_of_the_tail, temporaries_of_the_tail_batched_with, false;
    the_rest_of_an_iteration_is_dropped: iterated_in_part, iterated_in_part_batched_with, false;
    a_list_drops_removed_values: list_that_grows_and_shrinks, list_that_grows_and_shrinks_batched_with, false;
    the_rest_of_an_array_lives_on: array_taken_apart, array_taken_apart_batched_with, false;
    slots_are_taken_and_filled: slots_that_are_taken, slots_that_are_taken_batched_with, false;
    a_value_made_late_is_dropped_in_its_place: made_late, made_late_batched_with, false;
    scopes_drop_on_labelled_ways_out: scopes_and_labels, scopes_and_labels_batched_with, false;
    an_early_return_drops_in_order: returns_early, returns_early_batched_with, false;
    closures_drop_captured_values: closures_that_own, closures_that_own_batched_with, false;
    the_last_shared_pointer_drops: shared_pointers, shared_pointers_batched_with, false;
    boxed_objects_are_dropped_when_replaced: boxed_objects, boxed_objects_batched_with, false;
    variants_are_dropped_when_replaced: enum_that_is_replaced, enum_that_is_replaced_batched_with, false;
    parameters_are_dropped_after_locals: parameters::run, parameters::run_batched_with, false;
    each_activation_drops_its_locals: activations, activations_batched_with, false;
    arguments_of_calls_are_dropped: arguments_of_calls, arguments_of_calls_batched_with, false;
    a_panic_drops_living_values: panics_between, panics_between_batched_with, true;
    a_panic_in_an_argument_drops_the_others: panics_in_an_argument, panics_in_an_argument_batched_with, true;
    a_panic_in_a_call_drops_values_of_its_callers: panics_in_a_call, panics_in_a_call_batched_with, true;
}
