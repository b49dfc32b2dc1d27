//! A call gets a borrow of a local and other arguments. The other arguments do not extend the borrow: behind the call the
//! local is its owner's again.

#![allow(clippy::manual_is_multiple_of)] // written as users write

use crate::common::{agree_at, column, executors};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

/// What goes into a call beside a borrow is a number, and mentioned behind: the local is moved there.
#[autobatch]
fn with_a_number(fuel: u32, all: Vec<u32>, #[each] part: &[u32]) -> Vec<u32> {
    let Some(less) = fuel.checked_sub(1) else { return part.to_vec() };
    let wide = less.count_ones().min(3) as usize;
    let deeper = match &all[..] {
        [_, inner @ .., _] => {
            let mut sum = less;
            for k in 0..2 {
                sum = sum * 3 + k + with_a_number(less.min(2), inner.to_vec(), inner).len() as u32;
            }
            sum
        }
        _ => 4,
    };
    let mut out = if part.len() as u32 > less { all } else { vec![deeper] };
    out.push(wide as u32);
    out
}

/// The same of values of a type that borrows nothing.
#[autobatch]
mod owned_arguments {
    #[derive(Clone)]
    pub(super) struct Bag {
        pub(super) items: Vec<u32>,
    }
    impl Bag {
        fn with(&self, n: u32) -> Self {
            let mut items = self.items.clone();
            items.push(n);
            Self { items }
        }
        fn items(&self) -> &[u32] {
            &self.items
        }
    }
    /// An arm that is a call borrows the local, another one moves it.
    pub(super) fn by_arms(fuel: u32, mut bag: Bag, #[each] items: &[u32]) -> u32 {
        if fuel == 0 {
            return bag.items.len() as u32 * 3 + items.len() as u32;
        }
        bag = bag.with(fuel);
        {
            let kept = bag.items.chunks(2).map(|items| Bag { items: items.to_vec() }).collect::<Vec<_>>();
            match &kept[..] {
                [] | [_] => back(fuel - 1, 3, bag.items(), &bag.with(3)),
                [first, second] => back(
                    fuel - 1,
                    if fuel % 2 == 0 {
                        bag = first.with(2);
                        bag.items.len() as u32
                    } else {
                        let last = if fuel > 3 { bag } else { second.with(1) };
                        last.items.len() as u32
                    },
                    &first.items()[1..],
                    second,
                ),
                [first, rest @ ..] if fuel == 4 => back(fuel - 1, rest.len() as u32, first.items(), first),
                [.., last] => back(fuel - 1, 7, &last.items, &last.with(5)),
            }
        }
    }
    fn back(fuel: u32, n: u32, items: &[u32], bag: &Bag) -> u32 {
        if fuel == 0 { items.len() as u32 + n } else { by_arms(fuel - 1, bag.with(n), items) + n }
    }
    pub(super) fn emptied(fuel: u32, given: Bag, #[each] items: &[u32], #[each] bag: &Bag) -> u32 {
        if fuel == 0 {
            return given.items.len() as u32 + items.len() as u32 * 3;
        }
        let first = bag.with(fuel);
        let second = first.with(items.len() as u32);
        let third = second.clone();
        let below = emptied(fuel - 1, third, second.items(), &first.with(3));
        let last = if below % 2 == 0 {
            match given.items.len() {
                0 => second,
                _ => first,
            }
        } else {
            given
        };
        last.items.iter().sum::<u32>() + below
    }
}

/// The same of what parameters refer to: its lifetimes are the caller's.
#[autobatch]
fn beside_a_parameter(
    given: (Vec<u32>, u32),
    #[each] lists: &[Vec<u32>],
    #[each] spare: &mut Vec<u32>,
) -> u32 {
    let made = match &given {
        (held, n) if held.len() < 4 => {
            let mut sum = 0;
            for i in 0..*n {
                sum += lists.iter().rev().map_while(|list| list.get(i as usize)).sum::<u32>();
                spare.extend(Some(&held[0]).filter(|_| i == 2));
                if sum > 20 {
                    break;
                }
            }
            sum + held.len() as u32
        }
        _ => 7,
    };
    let mut taken = given.0;
    taken.extend(lists.first().into_iter().flatten());
    spare.push(made);
    taken.iter().sum::<u32>() * 3 + made
}

#[test]
fn referents_of_parameters_extend_no_borrow() {
    let list = |n: u32| -> Vec<u32> { (n..n + 1 + n % 5).collect() };
    let lists: Vec<Vec<Vec<u32>>> = (0..40).map(|n| (0..n % 4).map(|k| list(n + k)).collect()).collect();
    let given: Vec<(Vec<u32>, u32)> = (0..40).map(|n| (list(n), n % 6)).collect();
    let mut wanted = vec![vec![1]; 40];
    let scalar = given.iter().zip(&lists).zip(&mut wanted);
    let values: Vec<u32> =
        scalar.map(|((given, lists), spare)| beside_a_parameter(given.clone(), lists, spare)).collect();
    for (how, options) in executors() {
        let mut spares = vec![vec![1]; 40];
        let outcome = beside_a_parameter_batched_with(given.clone(), &lists, &mut spares, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), values, "{how}");
        assert_eq!(spares, wanted, "{how}");
    }
}

#[test]
fn owned_arguments_extend_no_borrow() {
    use owned_arguments::{Bag, by_arms, by_arms_batched_with, emptied, emptied_batched_with};
    let bag = |n: u32| Bag { items: (0..n % 4).collect() };
    let ns: Vec<u32> = (0..40).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| emptied(n % 6, bag(*n), &bag(n + 1).items, &bag(n / 2)),
        |ns, o| {
            let (items, bags) = (column(ns, |n| bag(n + 1).items), column(ns, |n| bag(n / 2)));
            let items: Vec<&[u32]> = items.iter().map(|i| &i[..]).collect();
            emptied_batched_with(column(ns, |n| n % 6), column(ns, |n| bag(*n)), &items, &bags, o)
        },
    );
    let bag = |n: u32| Bag { items: (0..n % 7).collect() };
    agree_at(
        &SIZES,
        &ns,
        |n| by_arms(n % 8, bag(*n), &bag(n + 1).items),
        |ns, o| {
            let items = column(ns, |n| bag(n + 1).items);
            let items: Vec<&[u32]> = items.iter().map(|i| &i[..]).collect();
            by_arms_batched_with(column(ns, |n| n % 8), column(ns, |n| bag(*n)), &items, o)
        },
    );
}

#[test]
fn numbers_extend_no_borrow() {
    let list = |n: u32| -> Vec<u32> { (0..n % 6).collect() };
    let inputs: Vec<(u32, Vec<u32>, Vec<u32>)> = (0..40).map(|n| (n % 5, list(n), list(n / 2))).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(fuel, all, part)| with_a_number(*fuel, all.clone(), part),
        |b, o| {
            let parts: Vec<&[u32]> = b.iter().map(|(.., part)| &part[..]).collect();
            let all: Vec<_> = b.iter().map(|(_, all, _)| all.clone()).collect();
            with_a_number_batched_with(column(b, |(fuel, ..)| *fuel), all, &parts, o)
        },
    );
}

/// A value that all members are given is borrowed as one of their own is.
#[autobatch]
fn shared_parts(n: i64, #[shared] all: (i64, f64, [i64; 3])) -> i64 {
    let (low, _, list) = &all;
    let mut k = n;
    let first = loop {
        if k <= *low {
            break list[1];
        }
        k -= list.iter().sum::<i64>();
    };
    let rest = &list[1..];
    for by in rest {
        k += by;
    }
    k * first
}

#[test]
fn parts_of_shared_values_are_borrowed() {
    let inputs: Vec<i64> = (0..50).collect();
    for all in [(3, 0.5, [1, 2, 4]), (9, 1.5, [0, 1, 0])] {
        let batched = |n: &[i64], o: &autobatch::Options| shared_parts_batched_with(n, all, o);
        agree_at(&[1, 16], &inputs, |n| shared_parts(*n, all), batched);
    }
}

/// Moved behind an assignment that borrows it, inside of an operand.
#[autobatch]
fn moved_inside(list: Vec<u32>, n: u32) -> u32 {
    if n == 0 {
        return list.len() as u32;
    }
    let mut x = 5 + n;
    let other = vec![n; 3];
    let y = moved_inside(
        {
            x &= *list.as_slice().get((moved_inside(vec![n], n - 1) % 4) as usize).unwrap_or(&100);
            list
        },
        n - 1,
    );
    let z = moved_inside(
        if n.is_multiple_of(2) {
            x = other.first().copied().unwrap_or(moved_inside(vec![], n / 2)) + other[(y % 3) as usize];
            other
        } else {
            let last = *other.get((moved_inside(vec![x], n / 2) % 3) as usize).unwrap_or(&1);
            vec![last; 2]
        },
        n / 3,
    );
    x * 100 + y * 10 + z
}

#[test]
fn borrows_of_an_assignment_inside_an_operand() {
    let sizes: Vec<u32> = (0..40).map(|i| i % 6).collect();
    let list = |n: u32| (0..n).collect::<Vec<u32>>();
    agree_at(
        &SIZES[1..],
        &sizes,
        |n| moved_inside(list(*n), *n),
        |n, o| moved_inside_batched_with(column(n, |n| list(*n)), n, o),
    );
}

struct Twigs {
    leaves: Vec<u32>,
}

impl Twigs {
    fn parts(&self) -> &[u32] {
        &self.leaves
    }

    fn with(&self, leaf: u32) -> Twigs {
        Twigs { leaves: vec![leaf, self.leaves[0]] }
    }
}

/// What is made by a method of a local in place does not borrow from it.
#[autobatch]
fn made_of_a_place(fuel: u32, at: u32, list: &[u32], #[each] given: &Twigs, state: &mut bool) -> u32 {
    if fuel == 0 {
        return at + given.leaves[0];
    }
    let twigs: Twigs = Twigs { leaves: vec![fuel] };
    let below = if *state {
        7
    } else {
        made_of_a_place((fuel - 1).saturating_sub(1), at / 2, twigs.parts(), &given.with(3), state)
    };
    let Some(leaf) = list.get(at as usize) else {
        *state = !*state;
        return {
            let more = twigs.with(at);
            {
                let part = &more;
                made_of_a_place((fuel - 1) / 2, at, list, part, state)
            }
        };
    };
    below * 10 + leaf
}

#[test]
fn values_made_of_a_local_extend_no_borrow() {
    let ats: Vec<u32> = (0..40).map(|i| i % 6).collect();
    let fuel: Vec<u32> = ats.iter().map(|n| (n * 5) % 7).collect();
    let given: Vec<Twigs> = fuel.iter().map(|n| Twigs { leaves: vec![*n] }).collect();
    let list = [4, 5, 6];
    let start = |i: usize| i.is_multiple_of(3);
    let one = |i: usize| made_of_a_place(fuel[i], ats[i], &list, &given[i], &mut start(i));
    let want: Vec<u32> = (0..40).map(one).collect();
    for (how, options) in executors() {
        let mut states: Vec<bool> = (0..40).map(start).collect();
        let out = made_of_a_place_batched_with(&fuel, &ats, &list, &given[..], &mut states, &options);
        assert_eq!(out.expect("a batch").into_values().expect("no faults"), want, "{how}");
    }
}
