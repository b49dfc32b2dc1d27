//! What a pattern is matched against borrows from what a method makes, or from a new value, and lives as long as the match.

mod common;

use autobatch::autobatch;
use common::{agree_at, column};

#[autobatch(strict)]
mod m {
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
fn what_is_matched_lives_as_long_as_the_match() {
    let state = |i: u32| m::State { bag: (0..i % 5).map(|k| k * i % 7).collect(), score: i };
    let inputs: Vec<(m::State, u32)> = (0..20).map(|i| (state(i), i % 4)).collect();
    macro_rules! check {
        ($($scalar:ident $batched:ident)*) => {$(
            agree_at(
                &[0, 1, 97],
                &inputs,
                |i| m::$scalar(&i.0, i.1),
                |b, o| m::$batched(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
            );
        )*};
    }
    check!(conditional conditional_batched_with sliced sliced_batched_with mapped mapped_batched_with);
    check!(in_conditions in_conditions_batched_with kept_by_a_loop kept_by_a_loop_batched_with);
}
