//! Methods of the `impl` blocks of a module: part of its program, from each other and from its functions.

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 2] = [1, 67];

#[autobatch]
mod arithmetic {
    //! Recursive descent: one method per level, each changes the parser.

    pub(super) struct Parser<'a> {
        text: &'a [u8],
        at: usize,
    }

    impl<'a> Parser<'a> {
        pub(super) fn new(text: &'a [u8]) -> Self {
            Parser { text, at: 0 }
        }

        fn peek(&self) -> Option<u8> {
            self.text.get(self.at).copied()
        }

        fn eat(&mut self, wanted: u8) -> bool {
            let found = self.peek() == Some(wanted);
            self.at += usize::from(found);
            found
        }

        pub(super) fn sum(&mut self) -> Result<i64, usize> {
            let mut value = self.product()?;
            loop {
                if self.eat(b'+') {
                    value += self.product()?;
                } else if self.eat(b'-') {
                    value -= Self::product(self)?;
                } else {
                    return Ok(value);
                }
            }
        }

        fn product(&mut self) -> Result<i64, usize> {
            let mut value = self.factor()?;
            while self.eat(b'*') {
                value *= self.factor()?;
            }
            Ok(value)
        }

        fn factor(&mut self) -> Result<i64, usize> {
            if self.eat(b'(') {
                let inner = self.sum()?;
                return if self.eat(b')') { Ok(inner) } else { Err(self.at) };
            }
            let start = self.at;
            let mut value = 0;
            while let Some(digit @ b'0'..=b'9') = self.peek() {
                value = value * 10 + i64::from(digit - b'0');
                self.at += 1;
            }
            if self.at == start { Err(start) } else { Ok(value) }
        }
    }

    pub(super) fn evaluate(#[each] text: &str) -> Result<i64, usize> {
        let mut parser = Parser::new(text.as_bytes());
        let value = parser.sum()?;
        if parser.at == text.len() { Ok(value) } else { Err(parser.at) }
    }
}

#[test]
fn a_parser() {
    let texts = ["1+2*3", "(1+2)*3", "((7))", "2*(3+4)*5-6", "", "1+", "(1", "1)2", "12*(3-45)+6", "9-8-7"];
    let own = |text: &&str| arithmetic::Parser::new(text.as_bytes()).sum();
    agree_at(&SIZES, &texts, |t| arithmetic::evaluate(t), |b, o| arithmetic::evaluate_batched_with(b, o));
    agree_at(&SIZES, &texts, own, |b, o| {
        let mut parsers: Vec<_> = b.iter().map(|t| arithmetic::Parser::new(t.as_bytes())).collect();
        arithmetic::Parser::sum_batched_with(&mut parsers, o)
    });
    let program = arithmetic::Parser::sum_batched_program().to_string();
    assert!(program.contains("Parser::product"), "{program}");
}

#[autobatch]
mod shapes {
    pub(super) trait Area {
        const SIDES: u32;
        type Number;
        fn area(&self, scale: f64, depth: u32) -> Self::Number;
    }

    pub(super) enum Shape {
        Circle(f64),
        Square(Square),
        Group(Vec<Shape>),
        Scaled { by: f64, inner: Box<Shape> },
    }

    pub(super) struct Square(pub(super) f64);

    impl Area for Square {
        const SIDES: u32 = 4;
        type Number = f64;
        fn area(&self, scale: f64, depth: u32) -> Self::Number {
            let mut side = self.0 * scale;
            for _ in 0..depth % Self::SIDES {
                side *= 0.5;
            }
            side * side
        }
    }

    impl Area for Shape {
        const SIDES: u32 = 0;
        type Number = f64;
        fn area(&self, scale: f64, depth: u32) -> f64 {
            match self {
                Self::Circle(radius) => radius * scale * 3.0,
                Shape::Square(square) => square.area(scale, depth),
                Self::Group(shapes) => {
                    let mut sum: Self::Number = 0.0;
                    for shape in shapes {
                        sum += shape.area(scale, depth + 1);
                    }
                    sum
                }
                Shape::Scaled { by, inner } => inner.area(scale * by, depth + Self::SIDES + 1),
            }
        }
    }

    impl Shape {
        pub(super) fn both(&self, scale: f64) -> f64 {
            let first = self.area(scale, 0);
            first + Shape::area(self, -scale, 1)
        }
    }

    pub(super) fn area_of(shape: &Shape, scale: f64) -> f64 {
        let square = Square(scale);
        if scale < 0.1 {
            0.0
        } else {
            shape.area(scale, 2) + square.area(0.5, 3) + area_of(shape, scale - 0.4)
        }
    }
}

#[test]
fn methods_of_a_trait() {
    use shapes::{Shape, Square};
    let square = |side: f64| Shape::Square(Square(side));
    let inner = Box::new(Shape::Group(vec![Shape::Circle(0.5), square(3.0)]));
    let shape = Shape::Group(vec![square(1.5), Shape::Scaled { by: 0.75, inner }, Shape::Circle(2.0)]);
    let scales: Vec<f64> = (0..12).map(|i| f64::from(i) * 0.3 - 1.0).collect();
    agree_at(&SIZES, &scales, |s| shape.both(*s), |b, o| shape.both_batched_with(b, o));
    agree_at(
        &SIZES,
        &scales,
        |s| shapes::area_of(&shape, *s),
        |b, o| shapes::area_of_batched_with(&shape, b, o),
    );
}

#[autobatch]
mod collection {
    #[derive(Clone)]
    pub(super) struct Tree<K> {
        pub(super) key: K,
        pub(super) left: Option<Box<Tree<K>>>,
        pub(super) right: Option<Box<Tree<K>>>,
    }

    impl<K: PartialOrd + Copy + Send + Sync> Tree<K> {
        pub(super) fn insert(&mut self, key: K) -> u32 {
            let side = if key < self.key { &mut self.left } else { &mut self.right };
            match side {
                Some(child) => child.insert(key) + 1,
                None => {
                    *side = Some(Box::new(Tree { key, left: None, right: None }));
                    0
                }
            }
        }

        pub(super) fn nearest<'a>(&'a self, key: K, otherwise: &'a K) -> &'a K {
            let next = if key < self.key { self.left.as_deref() } else { self.right.as_deref() };
            match next {
                Some(next) => next.nearest(key, &self.key),
                None if key == self.key => &self.key,
                None => otherwise,
            }
        }
    }

    /// Rolls, and counts: `push` is the vector's, too.
    pub(super) struct Dice {
        pub(super) state: u64,
        pub(super) rolled: Vec<u64>,
    }

    impl Dice {
        pub(super) fn roll(&mut self, sides: u64) -> u64 {
            let mut x = self.state | 1;
            while x % 7 != 3 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 1;
            }
            self.state = x;
            self.push(x % sides);
            x % sides
        }

        fn push(&mut self, x: u64) {
            let mut k = x;
            while k > 0 {
                k /= 2;
            }
            self.rolled.push(x + k);
        }

        fn last(&self) -> u64 {
            self.rolled.last().copied().unwrap_or(0)
        }
    }

    pub(super) fn play(dice: &mut Dice, rounds: u32) -> u64 {
        let mut own = Vec::new();
        for round in 0..rounds {
            let x = dice.roll(dice.last() + 2);
            own.push(x * u64::from(round));
        }
        if rounds > 2 { play(dice, rounds / 2) + own.iter().sum::<u64>() } else { dice.last() }
    }
}

#[test]
fn states_and_generic_types() {
    use collection::{Dice, Tree, play, play_batched_with};
    let tree = || {
        let mut tree = Tree { key: 8_i32, left: None, right: None };
        [3, 12, 1, 5, 9, 20, 4].into_iter().for_each(|key| _ = tree.insert(key));
        tree
    };
    let keys: Vec<i32> = (0..24).collect();
    agree_at(
        &SIZES,
        &keys,
        |k| tree().insert(*k),
        |b, o| Tree::insert_batched_with(&mut vec![tree(); b.len()], b, o),
    );
    let shared = tree();
    let nearest = Tree::nearest_batched(&shared, &keys, &-1);
    assert!(keys.iter().zip(nearest).all(|(k, found)| found == shared.nearest(*k, &-1)));
    let inputs: Vec<(u64, u32)> = (0..30).map(|i| (i * 977, i as u32 % 9)).collect();
    let dice = |state: u64| Dice { state, rolled: vec![] };
    agree_at(
        &SIZES,
        &inputs,
        |(state, rounds)| play(&mut dice(*state), *rounds),
        |b, o| {
            let mut all: Vec<Dice> = b.iter().map(|(state, _)| dice(*state)).collect();
            let outcome = play_batched_with(&mut all, column(b, |i| i.1), o);
            for (batched, (state, rounds)) in all.iter().zip(b) {
                let mut dice = dice(*state);
                play(&mut dice, *rounds);
                assert_eq!((batched.state, &batched.rolled), (dice.state, &dice.rolled));
            }
            outcome
        },
    );
}

/// All private: for the code around the block.
struct Rates<'a>(&'a [f64]);

#[autobatch(strict)]
impl Rates<'_> {
    fn rate(&self, i: usize, depth: u32) -> f64 {
        if depth == 0 { self.0[i % self.0.len()] } else { self.half(self.rate(i + 1, depth - 1)) }
    }

    fn half(&self, rate: f64) -> f64 {
        rate * 0.5 + self.0[0]
    }
}

#[test]
fn private_methods_have_private_families() {
    let rates = Rates(&[0.3, 1.5, -2.0]);
    let inputs: Vec<(usize, u32)> = (0..67).map(|i| (i * 7 % 11, (i % 6) as u32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(i, depth)| rates.rate(i, depth),
        |b, o| rates.rate_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    assert_eq!(rates.half_batched(&[1.0, 2.0]), [rates.half(1.0), rates.half(2.0)]);
}

/// Private ones beside a public one: each has a family, which nobody outside sees.
mod steps {
    use super::*;

    pub(super) struct Steps(pub(super) u64);

    #[autobatch(strict)]
    impl Steps {
        pub(super) fn collatz(&self, n: u64) -> u64 {
            let mut count = 0;
            let mut n = n;
            while n > self.0 {
                n = self.next(n);
                count += 1;
            }
            count
        }

        fn next(&self, n: u64) -> u64 {
            if n & 1 == 0 { n / 2 } else { 3 * n + 1 }
        }

        /// Nobody calls it.
        fn digits(&self, n: u64) -> u64 {
            if n < 10 { n + self.0 } else { self.digits(n / 10) + n % 10 }
        }

        pub(super) fn sums(&self, k: u64) -> u64 {
            (0..k).map(|i| self.next(i)).sum()
        }
    }

    #[test]
    fn private_methods_beside_public_ones_have_families() {
        let steps = Steps(1);
        let inputs: Vec<u64> = (0..67).map(|i| i * 37 + 1).collect();
        agree_at(&SIZES, &inputs, |&n| steps.collatz(n), |b, o| steps.collatz_batched_with(b, o));
        agree_at(&SIZES, &inputs, |&n| steps.next(n), |b, o| steps.next_batched_with(b, o));
        agree_at(&SIZES, &inputs, |&n| steps.digits(n), |b, o| steps.digits_batched_with(b, o));
        agree_at(
            &SIZES,
            &inputs,
            |&n| steps.sums(n % 9),
            |b, o| steps.sums_batched_with(column(b, |n| n % 9), o),
        );
        let mut out = vec![0; 67];
        steps.digits_batched_into(&inputs, &mut out);
        assert_eq!(out, steps.digits_batched(&inputs));
        assert_eq!(Steps::digits_batched_program().functions.len(), 1);
    }
}

/// The block does not name the lifetime of its type; what it calls `Self` has it all the same.
#[autobatch]
mod rows {
    #[derive(Clone, Copy)]
    pub(super) struct Row<'a>(pub(super) &'a [f64]);

    impl Row<'_> {
        pub(super) fn rest(self, n: u32) -> Self {
            if n == 0 || self.0.len() < 2 { self } else { Row(&self.0[1..]).rest(n - 1) }
        }

        pub(super) fn copy(&self, n: u32) -> Self {
            if n == 0 { *self } else { self.rest(1).copy(n - 1) }
        }

        pub(super) fn turns(self, other: Self, n: u32) -> (Self, f64) {
            if n == 0 { (self, other.0[0]) } else { other.turns(self, n - 1) }
        }

        pub(super) fn first(&self, n: u32) -> &f64 {
            if n == 0 { &self.0[0] } else { self.first(n - 1) }
        }

        pub(super) fn empty(n: u32) -> Self {
            if n < 2 { Row(&[]) } else { Self::empty(n / 2) }
        }
    }
}

#[test]
fn self_of_a_type_whose_lifetime_has_no_name() {
    let values: Vec<f64> = (0..9).map(f64::from).collect();
    let inputs: Vec<(rows::Row, u32)> =
        (0..67).map(|i| (rows::Row(&values[i % 8..]), (i % 7) as u32)).collect();
    let firsts = |b: &[(rows::Row<'_>, u32)]| -> Vec<f64> {
        let (rows, n) =
            (b.iter().map(|i| i.0).collect::<Vec<_>>(), b.iter().map(|i| i.1).collect::<Vec<_>>());
        let rest = rows::Row::rest_batched(&rows, &n).into_iter().map(|row| row.0[0]);
        let turns = rows::Row::turns_batched(&rows, autobatch::same(rows[0]), &n);
        let empty = rows::Row::empty_batched(&n).into_iter().map(|row| row.0.len() as f64);
        let copy = rows[0].copy_batched(&n).into_iter().map(|row| row.0[0]);
        let first = rows[0].first_batched(&n).into_iter().copied();
        let turns = turns.into_iter().map(|(row, first)| row.0[0] + first);
        rest.chain(turns).chain(empty).chain(copy).chain(first).collect()
    };
    let expected = |b: &[(rows::Row<'_>, u32)]| -> Vec<f64> {
        let one = b[0].0;
        let rest = b.iter().map(|(row, n)| row.rest(*n).0[0]);
        let turns = b.iter().map(|(row, n)| row.turns(one, *n)).map(|(row, first)| row.0[0] + first);
        let empty = b.iter().map(|(_, n)| rows::Row::empty(*n).0.len() as f64);
        let copy = b.iter().map(|(_, n)| one.copy(*n).0[0]);
        rest.chain(turns).chain(empty).chain(copy).chain(b.iter().map(|(_, n)| *one.first(*n))).collect()
    };
    assert_eq!(firsts(&inputs), expected(&inputs));
}

#[autobatch]
mod ledger {
    //! Arguments that mention the receiver, beside a reference that is lent in each turn.

    #[derive(Clone, Copy)]
    pub(super) struct Account {
        pub(super) sum: u64,
        pub(super) log: u64,
    }

    pub(super) fn kept(turns: u32) -> (u64, Vec<u64>) {
        let mut log = vec![7];
        (book(turns, &mut log), log)
    }

    fn book(turns: u32, log: &mut Vec<u64>) -> u64 {
        let mut account = Account { sum: 3, log: 1 };
        let mut by = 5;
        for _ in 0..turns {
            let wider = Some(&mut account);
            match wider {
                Some(inner) if turns > 1 => {
                    inner.add(
                        turns / 2,
                        by,
                        {
                            by += 2;
                            by ^ inner.sum
                        },
                        log,
                    );
                }
                _ => account.add(turns / 3, account.log, by, log),
            }
            log.push(by);
        }
        account.sum ^ account.log
    }

    impl Account {
        fn add(&mut self, turns: u32, x: u64, y: u64, log: &mut Vec<u64>) {
            self.sum = self.sum.wrapping_mul(x | 1) ^ y;
            self.log += log.len() as u64;
            if turns > 0 {
                self.log ^= book(turns - 1, log);
            }
        }
    }
}

#[test]
fn a_reference_beside_arguments_that_mention_the_receiver() {
    let turns: Vec<u32> = (0..67).map(|i| i % 11).collect();
    agree_at(&SIZES, &turns, |&n| ledger::kept(n), |b, o| ledger::kept_batched_with(b, o));
}
