//! A scrutinee that borrows from a method's result, or from a new value, lives as long as the match.

#![allow(clippy::useless_vec)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

#[autobatch]
mod scrutinees {
    #[derive(Clone, Debug)]
    pub(super) struct State {
        pub(super) bag: Vec<u32>,
        pub(super) score: u32,
    }

    impl State {
        fn moves(&self) -> Vec<State> {
            (0..self.bag.len()).map(|i| self.taken(i)).collect()
        }

        fn taken(&self, i: usize) -> State {
            let mut next = self.clone();
            next.score += next.bag.remove(i) * (next.bag.len() as u32 + 1);
            next
        }

        /// Has the name of a method of the library, and borrows nothing.
        fn first(&self) -> u32 {
            self.bag.first().copied().unwrap_or(self.score)
        }
    }

    pub(super) fn conditional(#[each] s: &State, depth: u32) -> u32 {
        if depth == 0 {
            return s.score;
        }
        if let Some(next) = s.moves().first() {
            conditional(next, depth - 1) + 1
        } else if let Some(next) = vec![s.clone()].last() {
            conditional(next, depth / 2)
        } else {
            s.first()
        }
    }

    pub(super) fn sliced(#[each] s: &State, depth: u32) -> u32 {
        let best = match s.moves().as_slice() {
            [] => s.score,
            _ if depth == 0 => s.score % 5,
            [one] => sliced(one, depth - 1),
            [a, .., b] => sliced(a, depth - 1).max(sliced(b, depth - 1)),
        };
        best + match &s.moves()[..] {
            [_, next, ..] if depth > 0 => sliced(next, depth - 1) % 3,
            _ => 2,
        }
    }

    pub(super) fn mapped(#[each] s: &State, depth: u32) -> u32 {
        if depth == 0 {
            return s.score;
        }
        let first = s.moves().first().map(|next| mapped(next, depth - 1)).unwrap_or(3);
        first % 99
            + s.moves().last().map_or(1, |next| mapped(next, depth - 1))
            + s.moves().get(1).and_then(|next| mapped(next, depth - 1).checked_rem(3)).unwrap_or(0)
    }

    pub(super) fn in_conditions(#[each] s: &State, depth: u32) -> u32 {
        let mut s = s.clone();
        let mut sum = s.first();
        while let Some(next) = s.moves().last() {
            if depth > 0 {
                sum += in_conditions(next, depth - 1) % 9;
            }
            s.bag.pop();
        }
        if let Some(next) = s.moves().get_mut(0)
            && depth > 1
            && in_conditions(next, depth - 1) > 4
        {
            next.score += 1;
            sum += in_conditions(next, depth - 2);
        }
        if depth > 2
            && let Some(next) = vec![s.clone(), s.clone()].first()
            && next.score > 3
        {
            sum += in_conditions(next, depth - 2);
        }
        for i in 0..3 {
            sum += if depth > i
                && let [next, ..] = s.moves().as_slice()
                && in_conditions(next, depth - i - 1) > 2
            {
                if next.score == 7 {
                    break;
                }
                5
            } else if s.score > 50 {
                continue;
            } else {
                1
            };
        }
        sum
    }

    impl State {
        fn cards(&self) -> &[u32] {
            &self.bag
        }

        fn with(mut self, card: u32) -> State {
            self.bag.push(card);
            self
        }
    }

    /// What chooses is a number taken out of a local, which the arms move.
    pub(super) fn numbers(#[each] s: &State, depth: u32) -> u32 {
        if depth == 0 {
            return s.score;
        }
        let mut hand = s.clone().with(depth);
        match *hand.cards().get(numbers(s, depth - 1) as usize % 4).unwrap_or(&9) {
            0 => hand = hand.clone(),
            x @ (1 | 2) => hand.score += x,
            9 => hand = State { bag: vec![depth], score: hand.score },
            _ => hand = hand.with(7),
        }
        let best = numbers(s, depth / 3).max(match hand.score % 3 {
            1 => 5,
            _ => {
                hand = hand.with(1);
                let found = match hand.cards()[numbers(s, depth / 2) as usize % hand.cards().len()] {
                    0..3 => 2,
                    other => {
                        hand = hand.with(other % 5);
                        other
                    }
                };
                found + 1
            }
        });
        best + hand.bag.iter().sum::<u32>() * 3 + hand.score
    }

    /// Nothing mentions the local behind.
    pub(super) fn passed(#[each] s: &State, depth: u32) -> u32 {
        if depth == 0 {
            return s.score;
        }
        let mut hand = s.clone().with(depth);
        passed(s, depth / 2).max(match hand.score % 3 {
            1 => 7,
            _ => {
                hand = hand.with(1);
                let mut sum = 8;
                match *hand.cards().get(passed(s, depth - 1) as usize % 4).unwrap_or(&2) {
                    2 if hand.cards().is_empty() => sum += hand.with(4).score,
                    5.. => {
                        hand.score += 1;
                        let last = hand;
                        sum += last.bag.len() as u32 * last.score;
                    }
                    x => sum += x,
                }
                sum
            }
        })
    }

    pub(super) fn kept_by_a_loop(#[each] s: &State, depth: u32) -> u32 {
        let mut sum = 0;
        match s.moves().iter().max_by_key(|next| next.score) {
            Some(best) => {
                let mut n = best.score;
                while n > 1 {
                    n = if n % 2 == 0 { n / 2 } else { (n * 3 + depth) % 1000 };
                    sum += best.score;
                    if sum > 300 {
                        return sum;
                    }
                }
            }
            None => sum = 1,
        }
        sum
    }
}

#[test]
fn scrutinees_live_as_long_as_the_match() {
    let state = |i: u32| scrutinees::State { bag: (0..i % 5).map(|k| k * i % 7).collect(), score: i };
    let inputs: Vec<(scrutinees::State, u32)> = (0..20).map(|i| (state(i), i % 4)).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(
                &[0, 1, 97],
                &inputs,
                |i| scrutinees::$scalar(&i.0, i.1),
                |b, o| scrutinees::$batched(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
            );
        )*};
    }
    check!(conditional conditional_batched_with sliced sliced_batched_with mapped mapped_batched_with);
    check!(in_conditions in_conditions_batched_with kept_by_a_loop kept_by_a_loop_batched_with);
    check!(numbers numbers_batched_with passed passed_batched_with);
}
