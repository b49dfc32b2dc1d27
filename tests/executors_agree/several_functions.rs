//! Programs of several functions: callees that depend on the member, owned and borrowed values handed
//! around, helpers with arguments of their own, state that belongs to the member.

#![allow(clippy::manual_is_multiple_of, missing_docs, unreachable_pub)] // written as users write

use crate::common::{agree_at, column};
use autobatch::program::Class;
use autobatch::{autobatch, same};

const SIZES: [usize; 4] = [0, 1, 97, 1013];

#[derive(Clone, Copy, Debug)]
pub enum Rule {
    Double,
    Fold(u32),
    Walk { stride: u32 },
}

/// Which function runs is up to the member, and changes on the way down.
#[autobatch(strict)]
mod member_dependent {
    use super::Rule;

    pub fn run(rule: Rule, n: u32) -> u32 {
        match rule {
            Rule::Double => double(n),
            Rule::Fold(by) if by > 1 => fold(n, by),
            Rule::Fold(_) => n,
            Rule::Walk { stride } => walk(n, stride),
        }
    }

    fn double(n: u32) -> u32 {
        if n > 1000 { n } else { 1 + double(2 * n + 1) }
    }

    fn fold(n: u32, by: u32) -> u32 {
        if n < by {
            return run(Rule::Walk { stride: n + 1 }, by);
        }
        fold(n / by, by) * 2 + n % by
    }

    fn walk(n: u32, stride: u32) -> u32 {
        let mut sum = 0;
        let mut at = n;
        while at > stride {
            at -= stride;
            sum += if at % 3 == 0 { double(at) } else { at };
        }
        sum
    }
}

/// An expression tree, evaluated by functions that call each other.
pub enum Expr {
    Number(f64),
    Input,
    Add(Box<Expr>, Box<Expr>),
    Product(Vec<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Repeat(u32, Box<Expr>),
}

#[autobatch(strict)]
mod interpreter {
    use super::Expr;

    pub fn eval(expr: &Expr, x: f64) -> Result<f64, String> {
        Ok(match expr {
            Expr::Number(value) => *value,
            Expr::Input => x,
            Expr::Add(a, b) => eval(a, x)? + eval(b, x)?,
            Expr::Product(factors) => product(factors, x)?,
            Expr::If(test, yes, no) => {
                if eval(test, x)? > 0.0 {
                    eval(yes, x)?
                } else {
                    eval(no, x)?
                }
            }
            Expr::Repeat(times, body) => repeat(*times, body, x)?,
        })
    }

    fn product(factors: &[Expr], x: f64) -> Result<f64, String> {
        let mut all = 1.0;
        for factor in factors {
            all *= eval(factor, x)?;
            if all == 0.0 {
                break;
            }
        }
        if all > 1e6 { Err(format!("{all} is too large")) } else { Ok(all) }
    }

    fn repeat(times: u32, body: &Expr, x: f64) -> Result<f64, String> {
        if times == 0 {
            return Ok(x);
        }
        let next = eval(body, x)?;
        repeat(times - 1, body, next)
    }
}

/// Three functions in a ring, with strings moved from one to the next.
#[autobatch(strict)]
mod ring {
    pub fn first(n: u32, text: String) -> String {
        if n == 0 { text } else { second(n - 1, text + "a") }
    }
    pub(crate) fn second(n: u32, text: String) -> String {
        let tail = if n % 2 == 1 { third(n / 2, String::from("<")) } else { String::new() };
        if n == 0 { text + "b" } else { third(n - 1, text + &tail) }
    }
    fn third(n: u32, mut text: String) -> String {
        for i in 0..n % 3 {
            text.push((b'0' + i as u8) as char);
        }
        let inner = first(n.saturating_sub(2), text);
        inner + ">"
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    registers: [u32; 4],
    steps: u32,
}

/// Methods with state: recursion through `&mut self`, `Self::` and plain helpers.
#[autobatch(strict)]
impl Machine {
    pub fn run(&mut self, depth: u32) -> u32 {
        self.steps += 1;
        if depth == 0 {
            return Self::read(self, 1);
        }
        let slot = (depth % 4) as usize;
        self.registers[slot] = self.registers[slot].wrapping_mul(5).wrapping_add(depth);
        let left = self.run(depth - 1);
        if left % 3 == 0 {
            self.registers[0] ^= left;
            return left + Self::run(self, depth / 2);
        }
        left.wrapping_add(self.registers[3])
    }

    fn read(&self, at: usize) -> u32 {
        self.registers[at] ^ self.steps
    }
}

/// One slice, all members; the recursion moves two indices.
#[autobatch(strict)]
fn distance(a: &[u8], b: &[u8], i: usize, j: usize) -> usize {
    if i == a.len() {
        return b.len() - j;
    }
    if j == b.len() {
        return a.len() - i;
    }
    if a[i] == b[j] {
        return distance(a, b, i + 1, j + 1);
    }
    let change = distance(a, b, i + 1, j + 1);
    let remove = distance(a, b, i + 1, j);
    let insert = distance(a, b, i, j + 1);
    1 + change.min(remove).min(insert)
}

#[autobatch(strict)]
fn mccarthy(n: i32) -> i32 {
    if n > 100 { n - 10 } else { mccarthy(mccarthy(n + 11)) }
}

#[autobatch(strict)]
fn collatz(n: u64, steps: u32) -> u32 {
    match n {
        0 | 1 => steps,
        n if n % 2 == 0 => collatz(n / 2, steps + 1),
        n => collatz(3 * n + 1, steps + 1),
    }
}

/// A leaf program: no recursion, a call of another batched function and of a batched call itself.
#[autobatch(strict)]
fn through_other_programs(n: u32) -> u64 {
    let alone = u64::from(collatz(u64::from(n), 0));
    let mut sum = alone;
    let mut i = 0;
    while i < n % 5 {
        sum += collatz_batched(&[3, u64::from(n)], same(0)).into_iter().map(u64::from).sum::<u64>();
        i += 1;
    }
    sum
}

#[test]
fn callees_that_depend_on_the_member() {
    let rules = [Rule::Double, Rule::Fold(2), Rule::Fold(1), Rule::Walk { stride: 7 }, Rule::Fold(5)];
    let inputs: Vec<(Rule, u32)> = (0..35).map(|i| (rules[i % 5], 3 * i as u32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(rule, n)| member_dependent::run(*rule, *n),
        |b, o| member_dependent::run_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
}

#[test]
fn an_interpreter_of_expressions() {
    let number = |x| Box::new(Expr::Number(x));
    let input = || Box::new(Expr::Input);
    let grow = Expr::Add(input(), Box::new(Expr::Product(vec![Expr::Input, Expr::Number(0.5)])));
    let tree = Expr::If(
        Box::new(Expr::Add(input(), number(-2.0))),
        Box::new(Expr::Repeat(9, Box::new(grow))),
        Box::new(Expr::Product(vec![Expr::Input, Expr::Add(input(), number(1.0)), Expr::Repeat(3, input())])),
    );
    let squares = Expr::Repeat(4, Box::new(Expr::Product(vec![Expr::Input, Expr::Input])));
    let xs: Vec<f64> = (0..23).map(|i| f64::from(i) * 0.45 - 3.0).collect();
    for expr in [&tree, &squares] {
        agree_at(
            &SIZES,
            &xs,
            |x| interpreter::eval(expr, *x),
            |x, o| interpreter::eval_batched_with(expr, x, o),
        );
    }
}

#[test]
fn strings_moved_around_a_ring() {
    let ns: Vec<u32> = (0..13).collect();
    let start = || same("s".to_owned());
    agree_at(
        &SIZES,
        &ns,
        |n| ring::first(*n, "s".to_owned()),
        |n, o| ring::first_batched_with(n, start(), o),
    );
    agree_at(
        &SIZES,
        &ns,
        |n| ring::second(*n, "s".to_owned()),
        |n, o| ring::second_batched_with(n, start(), o),
    );
}

#[test]
fn methods_with_state() {
    let machine = |seed: u32| Machine { registers: [seed, seed * 3, 7, seed ^ 5], steps: 0 };
    let inputs: Vec<(u32, u32)> = (0..17).map(|i| (i, i % 9)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(seed, depth)| machine(*seed).run(*depth),
        |b, o| {
            let mut machines = column(b, |x| machine(x.0));
            let outcome = Machine::run_batched_with(&mut machines, column(b, |x| x.1), o)?;
            for (x, after) in b.iter().zip(&machines) {
                let mut alone = machine(x.0);
                alone.run(x.1);
                assert_eq!(*after, alone);
            }
            Ok(outcome)
        },
    );
}

#[test]
fn one_function_that_calls_itself() {
    let (a, b) = (b"sitting", b"kitten");
    let starts: Vec<(usize, usize)> = (0..16).map(|i| (2 + i % 6, 1 + i % 5)).collect();
    agree_at(
        &SIZES,
        &starts,
        |(i, j)| distance(a, b, *i, *j),
        |x, o| distance_batched_with(a, b, column(x, |x| x.0), column(x, |x| x.1), o),
    );
    assert_eq!(distance_batched(a, b, &[0], &[0]), [3]);
    let ns: Vec<i32> = (85..105).collect();
    agree_at(&SIZES, &ns, |n| mccarthy(*n), |n, o| mccarthy_batched_with(n, o));
    assert_eq!(mccarthy_batched(&[1, 99, 100, 101, 111]), [91, 91, 91, 91, 101]);
    let ns: Vec<u64> = (0..31).collect();
    agree_at(&SIZES, &ns, |n| collatz(*n, 0), |n, o| collatz_batched_with(n, same(0), o));
    assert_eq!(collatz_batched(&[27], &[0]), [111]);
    assert_eq!(collatz_batched::program().names_of(Class::Stacked), [""; 0]);
}

#[test]
fn a_batched_call_inside_a_batched_function() {
    let ns: Vec<u32> = (0..11).collect();
    agree_at(
        &[0, 1, 41],
        &ns,
        |n| through_other_programs(*n),
        |n, o| through_other_programs_batched_with(n, o),
    );
}
