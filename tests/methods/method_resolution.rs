//! Methods of the program on receivers other than `self`: parts of `self`, parameters, locals, what patterns bind.

use std::collections::BTreeMap;

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 2] = [1, 67];

enum Expression {
    X,
    Number(f64),
    Add(Box<Expression>, Box<Expression>),
    Multiply { left: Box<Expression>, right: Box<Expression> },
    Power(Box<Expression>, u32),
    Sum(Vec<Expression>),
}
use Expression::{Add, Multiply, Number, Power, Sum, X};

#[autobatch]
impl Expression {
    pub(crate) fn eval(&self, x: f64) -> f64 {
        match self {
            X => x,
            Number(n) => *n,
            Expression::Add(a, b) => a.eval(x) + b.eval(x),
            Self::Multiply { left, right: r } => left.eval(x) * r.eval(x + 1.0),
            Power(base, n) => {
                let mut product = 1.0;
                for _ in 0..*n {
                    product *= base.eval(x);
                }
                product
            }
            Sum(terms) => terms.iter().map(|term| term.eval(x)).sum(),
        }
    }

    /// By slices, and what adaptors make of them.
    pub(crate) fn size(&self, weight: u64) -> u64 {
        match self {
            X | Number(_) => weight,
            Add(a, b) => a.size(weight) + b.size(weight + 1),
            Multiply { left, .. } => Some(left).map(|part| &**part).map_or(0, |part| part.size(weight * 2)),
            Power(base, _) => base.size(weight) * 3,
            Sum(terms) => match terms.as_slice() {
                [] => 0,
                [only] => only.size(weight),
                [first, rest @ ..] => {
                    let (last, inner) = rest.split_last().unwrap();
                    let mut sum = first.size(weight) ^ last.size(weight + 5);
                    for pair in inner.windows(2) {
                        sum += pair[0].size(1) * pair[1].size(weight);
                    }
                    sum + rest[0].size(weight)
                }
            },
        }
    }

    /// The tree per member, taken apart.
    pub(crate) fn into_value(self, x: i64) -> i64 {
        match self {
            X => x,
            Number(n) => n as i64,
            Add(a, b) => a.into_value(x).wrapping_add(b.into_value(x)),
            Multiply { left, right } => left.into_value(x).wrapping_mul(right.into_value(x + 1)),
            Power(base, n) => base.into_value(x).wrapping_pow(n),
            Sum(terms) => terms.into_iter().map(|term| term.into_value(x)).fold(0, i64::wrapping_add),
        }
    }
}

fn number(n: f64) -> Box<Expression> {
    Box::new(Number(n))
}

fn expression() -> Expression {
    let inner = Add(Box::new(X), number(0.5));
    let square = Power(Box::new(inner), 3);
    Sum(vec![
        Multiply { left: Box::new(square), right: Box::new(Add(Box::new(X), Box::new(X))) },
        Number(-2.25),
        Add(number(1.0), Box::new(Multiply { left: Box::new(X), right: Box::new(X) })),
    ])
}

/// The values of maps, in a generic type.
struct Trie<V> {
    value: Option<V>,
    next: BTreeMap<char, Trie<V>>,
}

#[autobatch]
impl<V: Clone + Send + Sync> Trie<V> {
    pub(crate) fn find(&self, #[each] key: &str) -> Option<&V> {
        match key.chars().next() {
            None => self.value.as_ref(),
            Some(c) => self.next.get(&c)?.find(&key[c.len_utf8()..]),
        }
    }

    pub(crate) fn matching(&self, #[each] key: &str) -> Vec<V> {
        let Some(c) = key.chars().next() else { return self.value.iter().cloned().collect() };
        let rest = &key[c.len_utf8()..];
        if c == '?' {
            self.next.values().flat_map(|below| below.matching(rest)).collect()
        } else {
            self.next.get(&c).map(|below| below.matching(rest)).unwrap_or_default()
        }
    }

    pub(crate) fn count(&self, depth: usize) -> usize {
        let mut count = usize::from(self.value.is_some());
        for (key, below) in &self.next {
            if depth > 0 && *key != 'z' {
                count += below.count(depth - 1);
            }
        }
        count
    }
}

#[test]
fn receivers_in_maps() {
    let leaf = |value| Trie { value: Some(value), next: BTreeMap::new() };
    let below = Trie { value: Some(1), next: [('b', leaf(2)), ('c', leaf(3))].into() };
    let trie = Trie { value: None, next: [('a', below), ('é', leaf(4)), ('z', leaf(5))].into() };
    let keys = ["", "a", "ab", "ac", "ad", "é", "?", "a?", "??"].map(String::from);
    agree_at(
        &SIZES,
        &keys,
        |k| trie.find(k).copied(),
        |k, o| {
            let found: Vec<_> = trie.find_batched_with(k, o)?.into_values().unwrap();
            copied_batched_with(found.into_iter().map(|v| v.copied()).collect::<Vec<Option<i32>>>(), o)
        },
    );
    agree_at(&SIZES, &keys, |k| trie.matching(k), |k, o| trie.matching_batched_with(k, o));
    let depths: Vec<usize> = (0..4).collect();
    agree_at(
        &SIZES,
        &depths,
        |d| trie.count(*d) as u64,
        |d, o| {
            let counts = trie.count_batched_with(d, o)?.into_values().unwrap();
            as_number_batched_with(counts, o)
        },
    );
}

#[autobatch]
fn copied(found: Option<i32>) -> Option<i32> {
    found
}

#[autobatch]
fn as_number(count: usize) -> u64 {
    count as u64
}

#[test]
fn enumerations_are_walked() {
    let tree = expression();
    let inputs: Vec<f64> = (0..40).map(|i| f64::from(i) / 7.0 - 2.0).collect();
    agree_at(&SIZES, &inputs, |x| tree.eval(*x), |b, o| Expression::eval_batched_with(&tree, b, o));
    let weights: Vec<u64> = (0..20).collect();
    agree_at(&SIZES, &weights, |w| tree.size(*w), |b, o| Expression::size_batched_with(&tree, b, o));
    agree_at(
        &SIZES,
        &[0_i64, 1, -3, 17, 255],
        |x| expression().into_value(*x),
        |b, o| {
            let trees: Vec<Expression> = b.iter().map(|_| expression()).collect();
            Expression::into_value_batched_with(trees, b, o)
        },
    );
}

struct Tree<K> {
    key: K,
    count: u64,
    left: Link<K>,
    right: Link<K>,
}
type Link<K> = Option<Box<Tree<K>>>;

#[autobatch]
impl<K: PartialOrd + Copy + Send + Sync> Tree<K> {
    pub(crate) fn below(&self, key: K) -> u64 {
        let here = u64::from(self.key < key);
        let left = match &self.left {
            Some(left) => left.below(key),
            None => 0,
        };
        let right = if let Some(right) = self.right.as_ref() { right.below(key) } else { 0 };
        left + right + here
    }

    pub(crate) fn depth(&self, key: K) -> u32 {
        let child = if key < self.key { &self.left } else { &self.right };
        child.as_ref().map_or(0, |child| child.depth(key)) + 1
    }

    /// Down to where the key is, by a reference that moves along.
    pub(crate) fn find(&self, key: K, fuel: u32) -> Option<&Tree<K>> {
        if fuel == 0 || self.key == key {
            return Some(self);
        }
        let next = if key < self.key { self.left.as_deref() } else { self.right.as_deref() };
        let next = next?;
        next.find(key, fuel - 1)
    }

    /// The member's own tree is changed in place.
    pub(crate) fn insert(&mut self, key: K) -> u64 {
        self.count += 1;
        if key == self.key {
            return self.count;
        }
        let side = if key < self.key { &mut self.left } else { &mut self.right };
        match side {
            Some(child) => child.insert(key),
            None => {
                *side = Some(Box::new(Tree { key, count: 1, left: None, right: None }));
                0
            }
        }
    }
}

fn tree(keys: &[i32]) -> Tree<i32> {
    let mut tree = Tree { key: keys[0], count: 1, left: None, right: None };
    for key in &keys[1..] {
        tree.insert(*key);
    }
    tree
}

const KEYS: [i32; 9] = [50, 20, 80, 10, 30, 70, 90, 25, 27];

#[test]
fn trees_are_walked() {
    let shared = tree(&KEYS);
    let keys: Vec<i32> = (0..100).collect();
    agree_at(&SIZES, &keys, |k| shared.below(*k), |b, o| Tree::below_batched_with(&shared, b, o));
    agree_at(&SIZES, &keys, |k| shared.depth(*k), |b, o| Tree::depth_batched_with(&shared, b, o));
    let pairs: Vec<(i32, u32)> = keys.iter().map(|k| (*k, *k as u32 % 7)).collect();
    let expected: Vec<Option<i32>> = pairs.iter().map(|(k, f)| shared.find(*k, *f).map(|t| t.key)).collect();
    let found = Tree::find_batched(&shared, column(&pairs, |p| p.0), column(&pairs, |p| p.1));
    assert_eq!(found.iter().map(|t| t.map(|t| t.key)).collect::<Vec<_>>(), expected);
    agree_at(
        &SIZES,
        &keys,
        |k| tree(&KEYS).insert(*k),
        |b, o| {
            let mut trees: Vec<Tree<i32>> = b.iter().map(|_| tree(&KEYS)).collect();
            let outcome = Tree::insert_batched_with(&mut trees, b, o);
            for (tree, key) in trees.iter().zip(b) {
                assert_eq!(tree.below(1000), KEYS.len() as u64 + u64::from(!KEYS.contains(key)));
            }
            outcome
        },
    );
}

#[derive(Clone, Copy, Debug)]
struct Point {
    x: i64,
    y: i64,
}

#[autobatch]
impl Point {
    pub(crate) fn orbit(self, n: u32) -> i64 {
        if n == 0 {
            return self.x - self.y;
        }
        let next = Point { x: self.y.wrapping_mul(3), y: self.x ^ i64::from(n) };
        let other = Self { x: next.y, ..self };
        next.orbit(n - 1).wrapping_add(if n.is_multiple_of(3) { other.orbit(n / 2) } else { 1 })
    }

    pub(crate) fn nearest(self, others: &[Point], n: u32) -> i64 {
        let mut best = self.distance(others[0]);
        for other in others {
            best = best.min(other.distance(self));
        }
        if n == 0 { best } else { others[n as usize % others.len()].nearest(others, n - 1) + best }
    }

    fn distance(self, other: Point) -> i64 {
        (self.x - other.x).abs() + (self.y - other.y).abs()
    }

    /// `push` is the vector's, `max` the number's.
    pub(crate) fn max(self, n: u32) -> i64 {
        let mut all = Vec::new();
        let mut k = n;
        while k > 0 {
            all.push(Self::max(self, k - 1).max(i64::from(k)));
            k /= 2;
        }
        all.into_iter().fold(self.x, |a: i64, b: i64| a.max(b))
    }
}

#[test]
fn locals_and_parameters_are_receivers() {
    let points: Vec<Point> = (0..20).map(|i| Point { x: i * 7 % 13, y: i * 5 % 11 - 4 }).collect();
    let inputs: Vec<(Point, u32)> = points.iter().map(|p| (*p, (p.x + 3) as u32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(p, n)| p.orbit(*n),
        |b, o| Point::orbit_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |(p, n)| p.nearest(&points, *n),
        |b, o| Point::nearest_batched_with(column(b, |i| i.0), &points, column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |(p, n)| p.max(*n),
        |b, o| Point::max_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

/// Delegation: the methods of the parts are other types'.
enum Shape {
    Circle(Circle),
    Pair(Box<Shape>, Box<Shape>),
}
struct Circle(f64);
impl Circle {
    fn area(&self, scale: f64) -> f64 {
        self.0 * self.0 * scale
    }
}

#[autobatch]
impl Shape {
    pub(crate) fn area(&self, scale: f64) -> f64 {
        match self {
            Shape::Circle(circle) => circle.area(scale),
            Shape::Pair(a, b) => a.area(scale * 0.5) + b.area(scale),
        }
    }
}

#[test]
fn a_method_of_the_same_name_of_another_type() {
    let leaf = |r: f64| Box::new(Shape::Circle(Circle(r)));
    let shape = Shape::Pair(Box::new(Shape::Pair(leaf(1.5), leaf(0.25))), leaf(3.0));
    agree_at(&SIZES, &[1.0, 0.5, -3.25], |s| shape.area(*s), |b, o| Shape::area_batched_with(&shape, b, o));
}

/// The arguments read the receiver, which is borrowed after them.
struct Counter {
    n: u64,
    inner: Option<Box<Counter>>,
}

#[autobatch]
impl Counter {
    pub(crate) fn run(&mut self, by: u64) -> u64 {
        self.n = self.n.wrapping_mul(3) + by;
        if self.n.is_multiple_of(5) {
            return self.n;
        }
        match &mut self.inner {
            Some(inner) => inner.run(inner.n % 7 + by),
            None if by > 40 => by,
            None => {
                let mut fresh = Counter { n: self.n % 4, inner: None };
                fresh.run(fresh.n + by + 1) + fresh.n
            }
        }
    }
}

#[test]
fn arguments_that_read_the_receiver() {
    let counter = |n: u64| {
        let inner = Counter { n: n / 2, inner: None };
        Counter { n, inner: Some(Box::new(inner)) }
    };
    agree_at(
        &SIZES,
        &[0_u64, 1, 2, 3, 7, 11, 29, 38],
        |n| counter(*n).run(*n),
        |b, o| Counter::run_batched_with(&mut b.iter().map(|n| counter(*n)).collect::<Vec<_>>(), b, o),
    );
}

/// Scalar code counts the depth of these calls too.
#[test]
fn depth_is_counted() {
    use autobatch::{Executor, FaultKind, Options};
    let mut chain = Tree { key: 0_i32, count: 0, left: None, right: None };
    for key in 1..1000 {
        chain = Tree { key: -key, count: 0, left: None, right: Some(Box::new(chain)) };
    }
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor).max_depth(999);
        assert_eq!(Tree::below_batched_with(&chain, &[1], &options).unwrap().into_values().unwrap(), [1000]);
        let options = options.max_depth(998);
        let outcome = Tree::below_batched_with(&chain, &[1], &options).unwrap();
        assert!(matches!(outcome.faults()[0].kind, FaultKind::DepthExceeded), "{executor:?}");
    }
}

#[derive(Clone, Copy, Debug)]
struct Turns(u64);

/// Methods that take `self` in different ways, called on it by each other.
#[autobatch]
impl Turns {
    pub(crate) fn look(&self, n: u64) -> u64 {
        if n == 0 { self.0 } else { self.look(n - 1) + self.take(n / 2) }
    }

    pub(crate) fn take(self, n: u64) -> u64 {
        if n == 0 { self.0 * 3 } else { self.look(n - 1) ^ self.take(n - 1) }
    }

    pub(crate) fn change(&mut self, n: u64) -> u64 {
        self.0 += 1;
        if n == 0 { self.take(1) } else { self.change(n - 1) + self.look(n / 2) + self.take(n / 3) }
    }

    pub(crate) fn all(mut self, n: u64) -> u64 {
        if n == 0 {
            return self.change(2);
        }
        let first = self.change(n % 3);
        first.wrapping_mul(31) ^ self.look(n - 1) ^ self.all(n - 1)
    }
}

#[test]
fn self_is_handed_on_in_each_way() {
    let n: Vec<u64> = (0..9).collect();
    let by_value = |n: &u64| Turns(n % 4).all(*n);
    agree_at(&SIZES, &n, by_value, |n, o| Turns::all_batched_with(column(n, |n| Turns(n % 4)), n, o));
    let changed = |n: &u64| Turns(n % 4).change(*n);
    agree_at(&SIZES, &n, changed, |n, o| Turns::change_batched_with(&mut column(n, |n| Turns(n % 4)), n, o));
    agree_at(&SIZES, &n, |n| Turns(5).look(*n), |n, o| Turns::look_batched_with(&Turns(5), n, o));
}

/// Methods of values that a path alone stands for: variants and structures without fields.
#[autobatch(strict)]
mod bare {
    #[derive(Clone, Copy)]
    pub(super) enum Step {
        Up,
        Down,
    }

    #[derive(Clone, Copy)]
    pub(super) struct Still;

    impl Step {
        pub(super) fn from(self, n: u64) -> u64 {
            if n < 2 {
                return n;
            }
            match self {
                Step::Up => (Step::Down).from(n / 2) + Still.at(n - 1),
                Self::Down => Step::Up.from(n - 1) * 3 + Self::Down.from(n / 3),
            }
        }
    }

    impl Still {
        pub(super) fn at(self, n: u64) -> u64 {
            if n == 0 { 1 } else { Step::Up.from(n / 2) ^ self.at(n / 3) }
        }
    }
}

#[test]
fn paths_have_types() {
    let n: Vec<u64> = (0..20).collect();
    let up = |n: &u64| bare::Step::Up.from(*n);
    agree_at(&SIZES, &n, up, |n, o| bare::Step::from_batched_with(column(n, |_| bare::Step::Up), n, o));
    agree_at(
        &SIZES,
        &n,
        |n| bare::Still.at(*n),
        |n, o| bare::Still::at_batched_with(column(n, |_| bare::Still), n, o),
    );
}

/// A receiver in a box, out of which a method takes it.
struct Purse {
    coins: u64,
}

#[allow(clippy::boxed_local)] // written so to be batched
#[autobatch]
impl Purse {
    fn spent(self, n: u64) -> u64 {
        if n == 0 { self.coins } else { Purse { coins: self.coins + n }.spent(n - 1) }
    }

    fn halved(self: Box<Self>, n: u64) -> u64 {
        if n < 2 {
            return self.spent(n);
        }
        let rest = Box::new(Purse { coins: self.coins * 2 + n });
        Self::halved(rest, n / 2)
    }

    fn counted(mut self: Box<Self>, n: u64) -> u64 {
        self.coins += 1;
        if n > 5 {
            return self.counted(n - 5);
        }
        let coins = self.coins;
        self.spent(n) + coins
    }

    fn looked(self: Box<Self>, n: u64) -> u64 {
        if n == 0 { self.total(n) } else { self.total(n) + self.spent(n) }
    }

    fn total(&self, n: u64) -> u64 {
        if n == 0 { self.coins } else { self.total(n - 1) + 1 }
    }
}

#[test]
fn receivers_in_boxes() {
    let inputs: Vec<(u64, u64)> = (0..67).map(|i| (i * 7 % 13, i * 5 % 31)).collect();
    let boxed = |b: &[(u64, u64)]| b.iter().map(|i| Box::new(Purse { coins: i.0 })).collect::<Vec<_>>();
    let one = |i: &(u64, u64)| Box::new(Purse { coins: i.0 });
    let n = |b: &[(u64, u64)]| column(b, |i| i.1);
    agree_at(&SIZES, &inputs, |i| one(i).halved(i.1), |b, o| Purse::halved_batched_with(boxed(b), n(b), o));
    agree_at(&SIZES, &inputs, |i| one(i).counted(i.1), |b, o| Purse::counted_batched_with(boxed(b), n(b), o));
    agree_at(&SIZES, &inputs, |i| one(i).looked(i.1), |b, o| Purse::looked_batched_with(boxed(b), n(b), o));
}

/// A method of the program's has the name of one of a list that is collected.
#[autobatch(strict)]
mod collected {
    pub(crate) struct Pile {
        pub(crate) coins: u64,
    }

    impl Pile {
        pub(crate) fn get(&self, n: usize) -> u64 {
            if n == 0 {
                return self.coins;
            }
            let all = (0..n as u64).map(|i| i ^ self.coins).collect::<Vec<u64>>();
            all.get(n / 2).copied().unwrap_or(1) + 3 * self.get(n - 1)
        }
    }
}

#[test]
fn collected_lists_have_types() {
    let n: Vec<usize> = (0..9).collect();
    let pile = collected::Pile { coins: 5 };
    agree_at(&SIZES, &n, |n| pile.get(*n), |n, o| pile.get_batched_with(n, o));
}

#[derive(Clone, Debug)]
struct Stack {
    values: Vec<u32>,
}
/// A method of a name of the library's, with other arguments.
#[autobatch(strict)]
impl Stack {
    fn pop(&mut self, least: u32) -> Option<u32> {
        if least > 1 {
            self.pop(least - 1)?;
        }
        self.values.pop().filter(|top| *top >= least)
    }
}
#[test]
fn a_users_method_with_the_name_of_one_of_std() {
    let stack = |n: &u32| Stack { values: (0..n % 7).map(|k| k * 5 % 7).collect() };
    let mut states: Vec<Stack> = (0..20).map(|n| stack(&n)).collect();
    let want: Vec<Option<u32>> = states.clone().iter_mut().map(|s| s.pop(2)).collect();
    assert_eq!(Stack::pop_batched(&mut states, &[2; 20]), want);
}
