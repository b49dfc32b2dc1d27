// Each function is a row of docs/constructs.md: the comment is its text. All are compiled with `strict`.

// ## Functions

/// generics with bounds, constants as parameters, lifetimes, `where`
#[autobatch(strict)]
fn generic<T, const N: usize>(n: T, table: [u64; N]) -> u64
where
    T: Copy + Into<u64>,
{
    let n: u64 = n.into();
    let mut sum = 0;
    while sum < 3 * n {
        sum += table[sum as usize % N] + 1;
    }
    sum
}

/// methods and associated functions of an `impl` block, recursion by `self.f()` and `Self::f()`
#[autobatch(strict)]
impl Model {
    pub(crate) fn grow(&self, n: u64) -> u64 {
        if n == 0 { self.seed } else { self.grow(n - 1) + Self::half(n) }
    }

    fn half(n: u64) -> u64 {
        if n < 2 { n } else { Self::half(n / 2) + 1 }
    }
}

/// methods of generic types
#[autobatch(strict)]
impl<T: Into<u64> + Copy + Send + Sync> Pile<T> {
    pub(crate) fn height(&self, n: u64) -> u64 {
        if n == 0 { self.0.into() } else { self.height(n - 1) + Self::base(n) }
    }

    fn base(n: u64) -> u64 {
        if n < 2 { n } else { Self::base(n - 2) + 1 }
    }
}
struct Pile<T>(T);

/// functions that are generic over numbers, at single and double precision and at dual numbers
#[autobatch(strict)]
fn root<T: num_traits::Float + Send + Sync>(x: T, #[shared] tolerance: T) -> T {
    let two = T::one() + T::one();
    let mut y = x + T::one();
    while (y * y - x).abs() > tolerance {
        y = (y + x / y) / two;
    }
    y
}

/// recursion through the variants of an enumeration, by methods on what patterns bind
#[autobatch]
impl Term {
    pub(crate) fn value(&self, n: u64) -> u64 {
        match self {
            Term::N => n,
            Term::Sum(a, b) => a.value(n) + b.value(n / 2),
            Term::Times(factor, all) => factor * all.iter().map(|term| term.value(n + 1)).sum::<u64>(),
        }
    }
}
enum Term {
    N,
    Sum(Box<Term>, Box<Term>),
    Times(u64, Vec<Term>),
}

/// methods on receivers other than `self`: fields, locals, parameters, whatever has a type that is written in the item or its file
#[autobatch]
impl Route {
    pub(crate) fn length(&self, n: u64) -> u64 {
        let shorter = Route { step: self.step + 1, next: None };
        let rest = if n > 6 { self.next.as_ref().map_or(0, |next| next.length(n - 1)) } else { 0 };
        if n <= self.step { n } else { rest + shorter.length(n - self.step) }
    }
}
struct Route {
    step: u64,
    next: Option<Box<Route>>,
}

/// methods in a module: of its types and others of the crate, those of traits too, generic ones, called by its functions and each other, by method or path
#[autobatch]
mod methods {
    pub(super) struct Stairs {
        pub(super) most: u64,
    }

    pub(super) trait Climb {
        fn ways(&self, n: u64) -> u64;
    }

    impl Climb for Stairs {
        fn ways(&self, n: u64) -> u64 {
            if n == 0 { 1 } else { (1..=self.most.min(n)).map(|step| self.ways(n - step)).sum() }
        }
    }

    impl Stairs {
        pub(super) fn higher(&self, n: u64) -> u64 {
            let longer = Stairs { most: self.most + 1 };
            if n > 6 { longer.higher(n / 2) } else { longer.ways(n) }
        }
    }

    pub(super) fn climb(n: u64) -> u64 {
        let stairs = Stairs { most: 2 };
        stairs.ways(n % 9) + stairs.higher(n) + Climb::ways(&stairs, 3) + <Stairs as Climb>::ways(&stairs, 2)
    }
}
use methods::{climb, climb_batched_with};

trait Rungs {
    type Count;
    fn rungs(&self, n: u64) -> Self::Count;
}

struct Ladder {
    step: u64,
}

/// the implementation of a trait, for a type of the crate
#[autobatch(strict)]
impl Rungs for Ladder {
    type Count = u64;
    fn rungs(&self, n: u64) -> Self::Count {
        if n < self.step { 1 } else { self.rungs(n - self.step) + self.rungs(n / 2) }
    }
}

/// mutual recursion between the functions of a module
#[autobatch(strict)]
mod parity {
    pub(super) fn even(n: u64) -> bool {
        n == 0 || odd(n - 1)
    }
    fn odd(n: u64) -> bool {
        n != 0 && even(n - 1)
    }
}
use parity::{even, even_batched_with};

/// `const fn`, `#[must_use]`, `#[inline]`, `#[deprecated]`, `extern "Rust"`
#[autobatch(strict)]
#[must_use]
#[inline]
const fn qualified(n: u64) -> u64 {
    if n < 2 { 1 } else { qualified(n - 1) + qualified(n / 2) }
}

/// an item under `#[cfg(…)]`: a function, a method, an `impl` block of a module
#[autobatch]
mod conditional {
    pub(super) struct Step(u64);

    #[cfg(not(target_os = "none"))]
    impl Step {
        fn steps(&self, n: u64) -> u64 {
            if n < self.0 { n } else { self.steps(n - self.0) + 1 }
        }
    }

    #[cfg(target_os = "none")]
    fn gone(n: u64) -> u64 {
        if n < 2 { n } else { gone(n - 2) }
    }

    #[cfg(not(target_os = "none"))]
    pub(super) fn there(n: u64) -> u64 {
        if n == 0 { 1 } else { there(n - 1) + Step(2).steps(n) }
    }
}
use conditional::{there, there_batched_with};

// ## Parameters

/// shared: `&T`, `&[T]`, `&str`, `&dyn Trait`, `#[shared] x: T`
#[autobatch(strict)]
fn shared(n: u64, table: &[u64], #[shared] scale: u64, step: &(dyn Fn(u64) -> u64 + Sync)) -> u64 {
    if n == 0 { table.len() as u64 } else { shared(n - 1, &table[1..], scale, step) + step(scale * n) }
}

/// `#[each]`: a slice, string or reference per member, of different lengths
#[autobatch(strict)]
fn each(#[each] xs: &[u64]) -> u64 {
    match xs {
        [] => 0,
        [first, rest @ ..] => first + 2 * each(rest),
    }
}

/// state per member, changed in place: `&mut T`, `&mut self`
#[autobatch(strict)]
fn state(n: u64, total: &mut u64) -> u64 {
    while *total < n {
        *total += 3;
    }
    if n == 0 { *total } else { state(n - 1, total) }
}

/// `x: &mut [T]`, with `#[each]` or without: a slice per member, changed in place, borrows of its parts as arguments of calls
#[autobatch]
fn each_changed(xs: &mut [u64], n: u64) -> u64 {
    let half = xs.len() / 2;
    if half > 0 {
        xs[half] += each_changed(&mut xs[..half], n + 1);
    }
    xs.iter_mut().for_each(|x| *x = *x * 2 + n);
    xs.iter().sum()
}

/// several of each kind of parameter at once: per member, shared by value, shared by reference, a slice per member, a state
#[autobatch(strict)]
fn mixed(n: u64, #[shared] scale: u64, table: &[u64], #[each] name: &str, #[each] out: &mut [u64]) -> u64 {
    let mut sum = name.len() as u64;
    for (i, slot) in out.iter_mut().enumerate() {
        if sum > 50 {
            break;
        }
        sum += table[i % table.len()] * scale;
        *slot += sum;
    }
    if n == 0 { sum } else { sum + mixed(n - 1, scale, table, name, out) }
}

/// a parameter without a name for its type: `impl Trait` per member, `&impl Trait` shared, `&mut impl Trait` as a state
#[autobatch(strict)]
fn unnamed(n: u64, x: impl Into<u64>, f: &impl Fn(u64) -> u64, source: &mut impl Iterator<Item = u64>) -> u64 {
    let mut sum = x.into();
    while sum < 1000 {
        sum = f(sum) + n + source.next().unwrap_or(1);
    }
    sum
}

/// a receiver per member: `self`, `&mut self`
#[autobatch(strict)]
impl Purse {
    pub(crate) fn spent(self, n: u64) -> u64 {
        if self.coins <= n { n } else { Purse { coins: self.coins - n - 1 }.spent(n) + 1 }
    }

    pub(crate) fn spend(&mut self, n: u64) -> u64 {
        if n == 0 {
            return self.coins;
        }
        self.coins = self.coins.saturating_sub(n);
        self.spend(n - 1) + self.coins
    }
}
#[derive(Clone)]
struct Purse {
    coins: u64,
}

/// columns: slices, vectors, arrays, `ndarray` views of any stride, rows of a matrix, the same value for all
#[autobatch(strict)]
fn columns(n: u64, scale: f64, point: [f64; 2], weights: ndarray::Array1<f64>) -> f64 {
    let mut x = scale;
    let mut i = 0;
    while i < n {
        x += point[0] * weights[i as usize % weights.len()] - point[1];
        i += 1;
    }
    x
}

/// results that borrow from what is shared
#[autobatch(strict)]
fn borrowed<'a>(n: u64, names: &'a [String]) -> &'a str {
    match names {
        [] => "none",
        [only] => only,
        [first, rest @ ..] => if n == 0 { first } else { borrowed(n - 1, rest) },
    }
}

/// sequences of different lengths in one piece of memory: `Ragged`
#[autobatch(strict)]
fn ragged(#[each] xs: &[u64], most: u64) -> u64 {
    let mut sum = 0;
    for x in xs {
        sum += x * x;
        if sum > most {
            break;
        }
    }
    sum
}
