//! A signature's implied bounds hold for the batched functions too: the target of a reference lives as long as the reference,
//! several states may be passed on as one another, and a path tells two types of one name apart.

#![allow(clippy::all)] // as users write, not as one should

use std::fmt::Debug;

use autobatch::{Options, autobatch};

use crate::common::executors;
use crate::common::promises::{agree, lists, numbers};

/// Compares the values of a batch, or the targets of their borrows.
#[track_caller]
fn hold<I, R: PartialEq + Debug>(
    members: &[I],
    scalar: impl Fn(&I) -> R,
    batched: impl Fn(&Options) -> Vec<R>,
) {
    let expected: Vec<R> = members.iter().map(scalar).collect();
    assert!((1..expected.len()).any(|at| expected[at] != expected[at - 1]));
    for (name, options) in executors() {
        for (threads, lanes) in [(1, 64), (1, 1), (2, 7)] {
            let found = batched(&options.clone().threads(threads).lanes(lanes));
            assert_eq!(found, expected, "{name}, {threads} threads, {lanes} lanes");
        }
    }
}

#[autobatch]
fn greatest<T: PartialOrd>(#[each] xs: &[T], from: usize) -> Option<&T> {
    let mut best = xs.get(from)?;
    for x in &xs[from..] {
        if x > best {
            best = x;
        }
    }
    Some(best)
}

#[test]
fn an_element_of_a_members_slice_is_the_result() {
    let members = lists();
    hold(
        &members,
        |xs| greatest(xs, 1).copied(),
        |options| {
            let found = greatest_batched_with(&members, vec![1; members.len()], options).unwrap();
            found.into_values().unwrap().into_iter().map(|best| best.copied()).collect()
        },
    );
}

struct Stack<T>(Vec<T>);

#[autobatch]
impl<T: Clone> Stack<T> {
    /// Takes elements off until `n` are left.
    fn down_to(&mut self, n: u64) -> Result<T, &str> {
        let mut last = self.0.pop().ok_or("empty")?;
        while self.0.len() as u64 > n {
            last = self.0.pop().ok_or("emptier")?;
        }
        Ok(last)
    }
}

struct Path<'a, T> {
    nodes: Vec<&'a Chain<T>>,
}

struct Chain<T> {
    value: T,
    next: Option<Box<Chain<T>>>,
}

fn chain(values: &[f64]) -> Chain<f64> {
    let next = (values.len() > 1).then(|| Box::new(chain(&values[1..])));
    Chain { value: values[0], next }
}

#[autobatch]
impl<T> Path<'_, T> {
    fn of(#[each] chain: &Chain<T>) -> Path<'_, T> {
        let mut path = Path { nodes: vec![chain] };
        while let Some(next) = path.nodes.last().and_then(|chain| chain.next.as_deref()) {
            path.nodes.push(next);
        }
        path
    }
}

struct Lent<'a, T>(Vec<&'a T>);

struct All<T>(Vec<T>);

#[autobatch]
impl<T: Copy> All<T> {
    /// A result of a lifetime that only the result has.
    fn none<'a>(&self, n: u64) -> (Lent<'a, T>, T) {
        let mut some = Lent(Vec::new());
        let mut k = n;
        while k > 4 {
            some.0.pop();
            k /= 3;
        }
        (some, self.0[k as usize])
    }
}

#[test]
fn a_type_parameter_outlives_borrows_of_it() {
    let members = numbers();
    let stack = |n: u64| Stack(vec![1.5, 2.5, n as f64, 3.5]);
    let left: Vec<u64> = members.iter().map(|n| n % 5).collect();
    hold(
        &members,
        |&n| stack(n).down_to(n % 5).map_err(String::from),
        |options| {
            let mut stacks: Vec<_> = members.iter().map(|&n| stack(n)).collect();
            let found = Stack::down_to_batched_with(&mut stacks, &left, options).unwrap();
            found.into_values().unwrap().into_iter().map(|last| last.map_err(String::from)).collect()
        },
    );

    let lists = lists();
    let values = |path: Path<'_, f64>| path.nodes.iter().map(|chain| chain.value).collect::<Vec<f64>>();
    hold(
        &lists,
        |xs| values(Path::of(&chain(xs))),
        |options| {
            let chains: Vec<_> = lists.iter().map(|xs| chain(xs)).collect();
            let found = Path::of_batched_with(&chains, options).unwrap();
            found.into_values().unwrap().into_iter().map(values).collect()
        },
    );

    let all = All(vec![0.5, 1.5, 2.5, 3.5, 4.5]);
    let parts = |(some, value): (Lent<'_, f64>, f64)| (some.0.len(), value);
    hold(
        &members,
        |&n| parts(all.none(n)),
        |options| {
            let found = all.none_batched_with(&members, options).unwrap();
            found.into_values().unwrap().into_iter().map(parts).collect()
        },
    );
}

#[autobatch]
fn roots(n: u64, out: &mut Vec<f64>, scratch: &mut Vec<f64>) -> f64 {
    out.clear();
    if n == 0 {
        return 0.5;
    }
    let below = roots(n - 1, scratch, out);
    scratch.push(below);
    for x in scratch.iter() {
        out.push(*x + n as f64);
    }
    out.iter().sum::<f64>() - below
}

#[test]
fn two_states_change_places_in_a_recursive_call() {
    let members: Vec<u64> = numbers().iter().map(|n| n % 9).collect();
    let run = |n: &u64| {
        let (mut out, mut scratch) = (vec![1.0], vec![2.0]);
        (roots(*n, &mut out, &mut scratch), out, scratch)
    };
    hold(&members, run, |options| {
        let (mut outs, mut scratches) = (vec![vec![1.0]; members.len()], vec![vec![2.0]; members.len()]);
        let found = roots_batched_with(&members, &mut outs, &mut scratches, options).unwrap();
        let states = outs.into_iter().zip(scratches);
        let found = found.into_values().unwrap().into_iter().zip(states);
        found.map(|(value, (out, scratch))| (value, out, scratch)).collect()
    });
}

mod inner {
    use autobatch::autobatch;

    pub(super) struct Graph(pub(super) Vec<(u64, u64)>);

    #[autobatch]
    impl Graph {
        pub(super) fn add(&mut self, from: u64, to: u64) -> u64 {
            self.0.push((from, to));
            self.0.len() as u64
        }

        pub(super) fn depth(&self, n: u64) -> u64 {
            if n == 0 { self.0.len() as u64 } else { self.depth(n / 2) + n }
        }
    }
}

/// Of the name of the other one, with methods of the same names.
struct Graph {
    inner: inner::Graph,
}

#[autobatch]
impl Graph {
    fn add(&mut self, from: u64, to: u64) -> u64 {
        let mut sum = 0;
        for k in 0..to {
            sum += self.inner.add(from, k);
        }
        sum
    }

    fn depth(&self, n: u64) -> u64 {
        self.inner.depth(n) * 3
    }
}

#[test]
fn two_types_of_one_name_are_two_types() {
    fn graph() -> Graph {
        Graph { inner: inner::Graph(vec![(1, 2)]) }
    }
    agree!(numbers(), |&n| graph().depth(n), |batch, options| graph().depth_batched_with(batch, options));
    agree!(numbers(), |&n| graph().add(n, n % 5), |batch, options| {
        let mut graphs: Vec<Graph> = batch.iter().map(|_| graph()).collect();
        let to: Vec<u64> = batch.iter().map(|n| n % 5).collect();
        Graph::add_batched_with(&mut graphs, batch, to, options)
    });
}

struct Header<'b> {
    name: &'b str,
}

/// A type that asks for a bound that no signature has to repeat.
struct Request<'h, 'b: 'h> {
    first: &'h mut [Header<'b>],
    seen: usize,
}

struct Config {
    most: usize,
}

#[autobatch]
impl Config {
    fn parse<'b>(&self, request: &mut Request<'_, 'b>, #[each] text: &'b str) -> Option<&'b str> {
        request.seen = 0;
        for name in text.split(' ') {
            request.first.get_mut(request.seen)?.name = name;
            request.seen += 1;
            if request.seen == self.most {
                return Some(name);
            }
        }
        None
    }
}

#[test]
fn a_type_asks_for_one_lifetime_to_outlive_another() {
    let texts = crate::common::promises::texts();
    let config = Config { most: 3 };
    let shown = |result: Option<&str>, request: &Request<'_, '_>| {
        let names: Vec<_> = request.first.iter().map(|header| header.name.to_string()).collect();
        (result.map(String::from), names, request.seen)
    };
    let headers = || [const { Header { name: "" } }; 4];
    hold(
        &texts,
        |text| {
            let mut headers = headers();
            let mut request = Request { first: &mut headers, seen: 7 };
            let result = config.parse(&mut request, text);
            shown(result, &request)
        },
        |options| {
            let mut all: Vec<_> = texts.iter().map(|_| headers()).collect();
            let mut requests: Vec<_> =
                all.iter_mut().map(|first| Request { first: &mut first[..], seen: 7 }).collect();
            let strs: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = config.parse_batched_with(&mut requests, &strs, options).unwrap();
            let results = found.into_values().unwrap();
            results.into_iter().zip(&requests).map(|(result, request)| shown(result, request)).collect()
        },
    );
}

trait Draw {
    fn draw(&mut self) -> u64;
}

#[derive(Clone, Debug, PartialEq)]
struct Generator(u64);

impl Draw for Generator {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 40
    }
}

trait Distribution<T> {
    fn sample<R: Draw + ?Sized>(&self, random: &mut R) -> T;
}

struct Geometric {
    stops: u64,
}

#[autobatch]
impl Distribution<u64> for Geometric {
    fn sample<R: Draw + ?Sized>(&self, random: &mut R) -> u64 {
        let mut tries = 1;
        while random.draw() % 10 >= self.stops {
            tries += 1;
        }
        tries
    }
}

#[test]
fn states_have_a_size_although_their_trait_does_not_ask_for_it() {
    let members = numbers();
    let geometric = Geometric { stops: 3 };
    hold(
        &members,
        |&n| {
            let mut generator = Generator(n);
            (geometric.sample(&mut generator), generator)
        },
        |options| {
            let mut generators: Vec<_> = members.iter().map(|&n| Generator(n)).collect();
            let found = geometric.sample_batched_with(&mut generators, options).unwrap();
            found.into_values().unwrap().into_iter().zip(generators).collect()
        },
    );
}

trait Table: Send + Sync {
    fn at(&self, place: u64) -> Option<u64>;
}

impl Table for Vec<f64> {
    fn at(&self, place: u64) -> Option<u64> {
        self.get(place as usize).map(|x| (x * 4.0) as u64)
    }
}

#[autobatch]
#[expect(clippy::borrowed_box, reason = "a trait object by itself has no column")]
fn summed(#[each] table: &Box<dyn Table>, from: u64) -> u64 {
    let (mut sum, mut place) = (0, from);
    while let Some(x) = table.at(place) {
        sum += x;
        place += 1;
    }
    sum
}

struct Letter(u64);

#[autobatch]
impl Letter {
    /// The result borrows from the one reference: `self` is none.
    fn first(self, texts: &[String]) -> Option<&String> {
        for text in texts {
            if text.len() as u64 % 7 == self.0 {
                return Some(text);
            }
        }
        None
    }
}

#[test]
fn lifetimes_that_are_left_out_are_found_as_rustc_finds_them() {
    let lists = lists();
    let table = |xs: &Vec<f64>| -> Box<dyn Table> { Box::new(xs.clone()) };
    hold(
        &lists,
        |xs| summed(&table(xs), 1),
        |options| {
            let tables: Vec<_> = lists.iter().map(table).collect();
            let found = summed_batched_with(&tables, vec![1; tables.len()], options).unwrap();
            found.into_values().unwrap()
        },
    );
    let (members, texts) = (numbers(), crate::common::promises::texts());
    hold(
        &members,
        |&n| Letter(n % 7).first(&texts).cloned(),
        |options| {
            let letters: Vec<_> = members.iter().map(|&n| Letter(n % 7)).collect();
            let found = Letter::first_batched_with(letters, &texts, options).unwrap();
            found.into_values().unwrap().into_iter().map(|text| text.cloned()).collect()
        },
    );
}
