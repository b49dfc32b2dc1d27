// Each function is a row of docs/constructs.md. None can be batched as a whole: the note in `program()` says why.

/// a recursive call in a closure that is handed to unknown code
#[autobatch]
fn handed_to_unknown_code(n: u64) -> u64 {
    if n == 0 { 1 } else { in_turn(|i| handed_to_unknown_code(i) * 3, n) }
}

/// a recursive call in a closure that is stored or returned
#[autobatch]
mod stored {
    pub(super) fn later(n: u64) -> u64 {
        if n == 0 {
            return 1;
        }
        let steps: Vec<Box<dyn Fn(u64) -> u64>> = vec![Box::new(|x| later(x / 2)), Box::new(|x| x + 1)];
        steps.iter().map(|step| step(n - 1)).sum::<u64>() + below(n)(1)
    }

    fn below(n: u64) -> impl Fn(u64) -> u64 {
        move |x| if n > x { later(n - x - 1) } else { 0 }
    }
}
use stored::{later, later_batched, later_batched_with};

macro_rules! both {
    ($a:expr, $b:expr) => {
        $a + $b
    };
}

/// a recursive call in the tokens of a macro that is not std's
#[autobatch]
fn in_a_macro(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    both!(in_a_macro(n - 1), in_a_macro(n / 2))
}

/// the function itself as a value
#[autobatch]
fn as_a_value(n: u64) -> u64 {
    if n == 0 { 0 } else { 1 + in_turn(as_a_value, n) }
}

/// a batched call in a match guard, on an owned value that the pattern might move
#[autobatch]
fn call_in_a_guard(n: u64) -> u64 {
    match vec![n, n / 2] {
        _ if n == 0 => 2,
        values if call_in_a_guard(n - 1) % 3 == 2 => values[0],
        values => values[0] + call_in_a_guard(values[1]),
    }
}

/// a closure that borrows locals, is stored in something, and used across a loop
#[autobatch]
fn closure_across_a_loop(n: u64) -> u64 {
    let scaled = [|x: u64| x * n + 1];
    let mut i = 1;
    while scaled[0](i) < 100 && i < 50 {
        i += 1;
    }
    i
}

/// a borrow of a local as the argument of a call whose result may borrow from it
#[autobatch]
mod result_may_borrow {
    pub(super) fn shortest(n: u64) -> u64 {
        let own = format!("{n}{n}");
        if n == 0 { own.len() as u64 } else { half(&own).len() as u64 + shortest(n - 1) }
    }

    fn half(text: &str) -> &str {
        let mut to = 0;
        while to < text.len() / 2 {
            to += 1;
        }
        &text[..to]
    }
}
use result_may_borrow::{shortest, shortest_batched, shortest_batched_with};

/// a method of the program on a receiver whose type is not written out, here or in the item's file
#[autobatch]
impl Model {
    pub(crate) fn lean(&self, n: u64) -> u64 {
        if n == 0 { self.seed } else { with_seed(self.seed + n).lean(n - 1) }
    }
}

/// a generic function whose parameters of types are not those of the one that is called
#[autobatch]
mod generic_helper {
    pub(super) fn entry(n: u64) -> u64 {
        helper(n) + 1
    }

    fn helper<T: Into<u64> + Copy>(n: T) -> u64 {
        let mut k = n.into();
        while k > 3 {
            k -= 3;
        }
        k
    }
}
use generic_helper::{entry, entry_batched, entry_batched_with};

/// items of the same name in several bodies of a program
#[autobatch]
mod same_names {
    pub(super) fn outer(n: u64) -> u64 {
        const STEP: u64 = 1;
        if n < STEP { 0 } else { inner(n - STEP) }
    }

    fn inner(n: u64) -> u64 {
        const STEP: u64 = 2;
        if n < STEP { 1 } else { outer(n - STEP) }
    }
}
use same_names::{outer, outer_batched, outer_batched_with};

macro_rules! positive {
    ($n:expr) => {
        if $n == 0 {
            return 1;
        } else {
            $n - 1
        }
    };
}

/// a macro of the file with a `return`, `?`, `break` or `continue` in its definition
#[autobatch]
fn a_macro_that_returns(n: u64) -> u64 {
    let less = positive!(n);
    a_macro_that_returns(less) + n
}

macro_rules! bind {
    ($name:ident, $value:expr) => {
        let $name = $value;
    };
}

/// a macro of the file, as a statement, with a `let` or an item for the code behind it
#[autobatch]
fn a_macro_that_binds(n: u64) -> u64 {
    bind!(half, n / 2);
    if n == 0 { 1 } else { a_macro_that_binds(half) + half }
}

/// a `break` or `continue` in the tokens of a macro that is not std's
#[autobatch]
fn leaving_a_loop(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n + 2 {
        sum = both!(sum, if i * i > n { break } else { i });
    }
    sum
}

/// a macro that is defined in the body and names locals of the function
#[autobatch]
fn a_local_macro(n: u64) -> u64 {
    let mut rest = vec![n; 3];
    macro_rules! pop {
        () => {
            rest.pop().unwrap_or(n)
        };
    }
    let mut sum = 0;
    while sum < 3 * n {
        sum += pop!() + 1;
    }
    sum
}

/// a `?` in the tokens of a macro that is not std's, or of an `assert!` without a message
#[autobatch]
fn leaving_a_macro(n: u64) -> Option<u64> {
    let mut i = n;
    while i > 3 {
        assert!(i.checked_sub(4)? < n);
        i = if i.is_multiple_of(5) { [i].get(1).copied()? } else { i - 1 };
    }
    Some(i)
}

/// an argument that borrows from several locals
#[autobatch]
mod several_locals {
    pub(super) fn longer(n: u64) -> u64 {
        let (first, second) = (vec![n; 3], vec![n + 1; n as usize]);
        sum(if_longer(&first, &second), n)
    }

    fn if_longer<'a>(a: &'a [u64], b: &'a [u64]) -> &'a [u64] {
        if a.len() > b.len() { a } else { b }
    }

    fn sum(values: &[u64], n: u64) -> u64 {
        if n == 0 { values.len() as u64 } else { sum(values, n - 1) + values[0] }
    }
}
use several_locals::{longer, longer_batched, longer_batched_with};

/// a call of a method of the library's traits, implemented in a module
#[autobatch]
mod library_traits {
    struct Walk(u64);

    impl Iterator for Walk {
        type Item = u64;
        fn next(&mut self) -> Option<u64> {
            if self.0 % 5 != 0 {
                self.0 += 1;
                return self.next();
            }
            self.0 += 1;
            Some(self.0)
        }
    }

    pub(super) fn walked(n: u64) -> u64 {
        let mut walk = Walk(n);
        let mut sum = 0;
        while sum < 40 {
            sum += walk.next().unwrap_or(0) + 1;
        }
        sum
    }
}
use library_traits::{walked, walked_batched, walked_batched_with};

/// a call of a trait's method for a type of another crate, implemented in a module
#[autobatch]
mod other_types {
    trait Collatz {
        fn steps(&self) -> u64;
    }

    impl Collatz for u64 {
        fn steps(&self) -> u64 {
            let (mut x, mut steps) = (*self, 0);
            while x > 1 {
                x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
                steps += 1;
            }
            steps
        }
    }

    pub(super) fn stepped(n: u64) -> u64 {
        let mut sum = n;
        while sum < 40 {
            sum += sum.steps() + 1;
        }
        sum
    }
}
use other_types::{stepped, stepped_batched, stepped_batched_with};

/// a call of one of several functions of the same name, each under its own `#[cfg(…)]`
#[autobatch]
mod which_one {
    #[cfg(target_os = "none")]
    fn half(n: u64) -> u64 {
        if n < 2 { n } else { half(n - 2) }
    }

    #[cfg(not(target_os = "none"))]
    fn half(n: u64) -> u64 {
        if n < 2 { 0 } else { half(n - 2) + 1 }
    }

    pub(super) fn halved(n: u64) -> u64 {
        let mut sum = n;
        while sum < 40 {
            sum += half(sum) + 1;
        }
        sum
    }
}
use which_one::{halved, halved_batched, halved_batched_with};

/// a call of one of two methods of a type with the same name
#[autobatch]
mod two_methods {
    struct Steps(u64);

    trait Up {
        fn go(&self, n: u64) -> u64;
    }

    trait Down {
        fn go(&self, n: u64) -> u64;
    }

    impl Up for Steps {
        fn go(&self, n: u64) -> u64 {
            if n > 30 { n } else { Up::go(self, n + self.0) + 1 }
        }
    }

    impl Down for Steps {
        fn go(&self, n: u64) -> u64 {
            if n < self.0 { n } else { Down::go(self, n - self.0) + 1 }
        }
    }

    pub(super) fn up_and_down(n: u64) -> u64 {
        let steps = Steps(n + 1);
        if n == 0 { 0 } else { <Steps as Up>::go(&steps, n) + <Steps as Down>::go(&steps, n) + up_and_down(n - 1) }
    }
}
use two_methods::{up_and_down, up_and_down_batched, up_and_down_batched_with};

/// a reference, across a loop, to what is left of a local of which a pattern has moved a part before
#[autobatch]
fn what_is_left(n: u64) -> u64 {
    let mut named = Named { name: "n".repeat(n as usize), rest: vec![n] };
    let Named { name, .. } = named;
    let rest = &mut named.rest;
    let mut i = 0;
    while i < n {
        rest[0] += i;
        i += 1;
    }
    name.len() as u64 + named.rest[0]
}

/// a `sum` or `product` over recursive calls whose type is not one of the library's numbers, nor an `Option` or `Result` of them (of a generic function's type, where it is called): it may stop early
#[autobatch]
fn total_of_a_type(n: u64) -> u64 {
    let total: UpToTen = (0..n).map(|k| UpToTen(total_of_a_type(k) + k)).sum();
    total.0 + 1
}

/// `zip`, `chain` or `peekable` behind a closure with a recursive call, and `take` behind a `skip` there: how many elements std asks for depends on the types
#[autobatch]
fn asked_by_types(n: u64) -> u64 {
    if n < 2 {
        return n + 1;
    }
    let pairs: u64 = (0..n).map(|k| asked_by_types(k / 2) % 5).zip(1..4).map(|(a, b)| a * b).sum();
    let both: u64 = (0..n).map(|k| asked_by_types(k / 3) % 7).chain(2..4).sum();
    let first = (0..n).map(|k| asked_by_types(k / 2) + 1).peekable().peek().copied().unwrap_or(0);
    let some: u64 = (0..n).map(|k| asked_by_types(k / 3)).skip(1).take(2).sum();
    (pairs + both + first + some) % 1000
}

/// `skip`, `take` or `step_by` behind a closure with a recursive call, by a number that is computed there: a `let` in front of the chain batches it
#[autobatch]
fn computed_counts(n: u64) -> u64 {
    if n < 2 {
        return n + 1;
    }
    let some: u64 = (0..n).map(|k| computed_counts(k / 2)).take(n as usize % 4).sum();
    let rest: u64 = (0..n).map(|k| computed_counts(k / 3)).skip(n as usize % 3).sum();
    let few: u64 = (0..n).map(|k| computed_counts(k / 4)).step_by(1 + n as usize % 2).sum();
    (some + rest + few) % 1000
}

/// a recursive call in a closure of the library that is no adaptor of an iterator, `Option` or `Result`: of `retain`, `sort_by_key`, `array::from_fn` of more than eight elements, … or in what `extend` gets
#[autobatch]
fn in_the_library(n: u64) -> u64 {
    if n < 2 {
        return n + 1;
    }
    let mut all: Vec<u64> = (0..n.min(5)).collect();
    all.retain(|k| in_the_library(k / 2) % 3 > 0);
    all.sort_by_key(|k| in_the_library(k / 3) % 5);
    all.extend((2..4).map(|k| in_the_library(n / k) % 9));
    let mapped = [n / 2, n / 3].map(|k| in_the_library(k));
    let made: [u64; 9] = std::array::from_fn(|k| in_the_library(n / (k as u64 + 2)));
    all.iter().chain(&mapped).chain(&made).fold(0, |sum, k| (sum * 3 + k) % 1000)
}

/// a lock that is held across a loop or a batched call
#[autobatch]
fn holding_a_lock(n: u64) -> u64 {
    let sum = std::sync::Mutex::new(n);
    let mut held = sum.lock().expect("nobody fails");
    for k in 0..n {
        *held += k;
        if *held > 50 {
            break;
        }
    }
    *held
}

struct Noted<'a>(&'a std::cell::Cell<u64>);

impl Noted<'_> {
    fn so_far(&self) -> u64 {
        self.0.get()
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() * 3 + 1);
    }
}

/// a value with a `drop` in a block inside, across a call, and another value that borrows from it and holds a `dyn`
#[autobatch]
fn looking_back(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let seen = std::cell::Cell::new(n);
    let sum = {
        let noted = Noted(&seen);
        let below = looking_back(n - 1);
        let later: Box<dyn Fn() -> u64 + '_> = Box::new(|| noted.so_far());
        below % 100 + later()
    };
    sum + seen.get()
}

// As if it stood in another file: what a macro makes is not seen.
macro_rules! elsewhere {
    ($($item:item)*) => { $($item)* };
}

elsewhere! {
    struct Told<'a>(&'a std::cell::Cell<u64>);

    impl Told<'_> {
        fn once(&self) -> u64 {
            self.0.get() % 3
        }
    }

    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() * 3 + 1);
        }
    }
}

/// a value of another file's type that borrows a `Cell` or the like, in a block in which a method of that file mentions it last, before a loop or call
#[autobatch]
fn taken_or_not(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let seen = std::cell::Cell::new(n);
    let sum = {
        let told = Told(&seen);
        let once = told.once();
        taken_or_not(n - 1) % 100 + once
    };
    sum + seen.get()
}

struct Branch {
    left: Box<Twig>,
    weight: u64,
}

enum Twig {
    Leaf(u64),
    Branch(Branch),
}

/// a part of a local that a call gets and gives back, `x.left = f(x.left)`, of a type without an empty value (`Box`)
#[autobatch]
mod parts_replaced {
    use super::{Branch, Twig};

    pub(super) fn twigs(n: u64) -> u64 {
        weigh(&grown(made(n), n))
    }

    fn grown(twig: Box<Twig>, n: u64) -> Box<Twig> {
        Box::new(match *twig {
            Twig::Leaf(x) => Twig::Leaf(x + n),
            Twig::Branch(mut branch) => {
                branch.left = grown(branch.left, n + branch.weight);
                branch.weight += 1;
                Twig::Branch(branch)
            }
        })
    }

    fn made(n: u64) -> Box<Twig> {
        let mut twig = Box::new(Twig::Leaf(n));
        for weight in 0..n % 5 {
            twig = Box::new(Twig::Branch(Branch { left: twig, weight }));
        }
        twig
    }

    fn weigh(twig: &Twig) -> u64 {
        match twig {
            Twig::Leaf(x) => *x,
            Twig::Branch(branch) => 3 * weigh(&branch.left) + branch.weight,
        }
    }
}
use parts_replaced::{twigs, twigs_batched, twigs_batched_with};

/// what is made of several temporaries, kept while a batched call behind it runs, `pick(longest(&a(), &b()), f(x))`
#[autobatch]
fn of_several_temporaries(n: u64) -> u64 {
    if n == 0 { 1 } else { at(longest(&vec![n; 2], &vec![n; n as usize % 4]), of_several_temporaries(n - 1)) }
}

fn longest<'a>(one: &'a [u64], other: &'a [u64]) -> &'a [u64] {
    if one.len() > other.len() { one } else { other }
}

fn at(all: &[u64], place: u64) -> u64 {
    all[place as usize % all.len()] + place
}
