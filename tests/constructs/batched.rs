// Each function is a row of docs/constructs.md: the comment is its text. All are compiled with `strict`.

// ## Bindings and patterns

/// `let` with any pattern: tuples, structures, slices, `_`, `..`
#[autobatch(strict)]
fn let_patterns(n: u64) -> u64 {
    let (a, Pair { left, right: [first, .., last] }) = (n, Pair { left: n + 1, right: [n, 7, 2 * n] });
    let mut sum = 0;
    while sum < a {
        sum += left % 3 + first + last + 1;
    }
    sum
}

/// `let` without a value, assigned later
#[autobatch(strict)]
fn let_later(n: u64) -> u64 {
    let x;
    let mut i = 0;
    if n % 2 == 0 {
        x = n / 2;
    } else {
        x = 3 * n + 1;
    }
    while i < x {
        i += 2;
    }
    i + x
}

/// shadowing, also of one type by another
#[autobatch(strict)]
fn shadowing(n: u64) -> u64 {
    let x = n;
    let x = if x > 3 { x as f64 / 2.0 } else { 1.5 };
    let mut sum = 0;
    loop {
        let sum_before = sum;
        let x = x as u64 + sum_before % 3;
        sum += x + 1;
        if sum > 10 * n {
            return sum;
        }
    }
}

/// `let … else`
#[autobatch(strict)]
fn let_else(n: u64) -> u64 {
    let Some(half) = n.checked_sub(1) else { return 0 };
    let Some(rest) = Some(let_else(half)) else { return 1 };
    rest + half
}

/// `if let`, `else if let`, let chains
#[autobatch(strict)]
fn let_chains(n: u64) -> u64 {
    if let Some(below) = n.checked_sub(1)
        && let sum = let_chains(below)
        && sum % 5 != 4
    {
        sum + below
    } else if let 1..=4 = n {
        n
    } else {
        3
    }
}

/// `match` with guards, ranges, alternatives, bindings `x @ …`
#[autobatch(strict)]
fn match_arms(n: u64) -> u64 {
    match n {
        0 => 1,
        small @ 1..=3 if small != 2 => small * match_arms(small - 1),
        2 | 4 | 6 => match_arms(n - 1) + 2,
        _ => match_arms(n / 2),
    }
}

/// patterns that move out of an owned value, in part or whole
#[autobatch(strict)]
fn moving_patterns(n: u64) -> u64 {
    let named = Named { name: "n".repeat(n as usize), rest: vec![n; 3] };
    let Named { name, rest } = named;
    let mut sum = 0;
    while sum < n {
        sum += 1 + rest[0] / 4;
    }
    sum + name.len() as u64
}

/// patterns by reference: `ref`, `&x`, default binding modes
#[autobatch(strict)]
fn patterns_by_reference(n: u64) -> u64 {
    let list = [Some(n), None, Some(2)];
    let mut sum = 0;
    for item in &list {
        sum += match item {
            &Some(x) if x > 4 => x,
            &Some(ref x) => *x + 1,
            None => 10,
        };
    }
    if n == 0 { sum } else { sum + patterns_by_reference(n - 1) }
}

// ## Control flow

/// `if`, `else if`, `else`, as statements and expressions
#[autobatch(strict)]
fn branches(n: u64) -> u64 {
    let x = if n < 3 { branches_helper(n) } else if n % 2 == 0 { branches(n - 2) } else { branches(n - 1) + 1 };
    x + 1
}

/// `while`, `while let`
#[autobatch(strict)]
fn while_loops(n: u64) -> u64 {
    let mut stack = vec![n];
    let mut sum = 0;
    while let Some(top) = stack.pop() {
        sum += top;
        if top > 1 {
            stack.push(top / 2);
        }
        while sum % 7 == 3 {
            sum += 1;
        }
    }
    sum
}

/// `loop` with a value
#[autobatch(strict)]
fn loop_with_a_value(n: u64) -> u64 {
    let mut x = n;
    let found = loop {
        x = x * 5 + 1;
        if x % 7 == 1 {
            break x;
        }
        if x > 100_000 {
            break 0;
        }
    };
    found + 1
}

/// `for` over ranges: `a..b`, `a..=b`, `.rev()`, `.step_by(…)`, also over a member's own bounds
#[autobatch(strict)]
fn for_ranges(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        for k in (i..=n).rev().step_by(2) {
            if k * i > 20 {
                break;
            }
            sum += k ^ i;
        }
    }
    sum
}

/// `for` over any iterator: `iter()`, `zip`, `enumerate`, `chunks`, `chars`, `into_iter()`, a vector of the member's own
#[autobatch(strict)]
fn for_iterators(n: u64) -> u64 {
    let values: Vec<u64> = (0..n).collect();
    let mut sum = 0;
    for (i, pair) in TABLE.chunks(2).enumerate() {
        if sum > 40 {
            continue;
        }
        sum += pair[0] * i as u64 + n;
    }
    for (c, value) in "batch".chars().zip(values) {
        if value == 3 {
            break;
        }
        sum += u64::from(c) % 10 * value;
    }
    sum
}

/// labels: `break 'a`, `continue 'a`, with a value, out of nested loops, out of a labelled block
#[autobatch(strict)]
fn labels(n: u64) -> u64 {
    let found = 'outer: loop {
        let mut i = 0;
        'middle: while i < n {
            i += 1;
            for k in 0..i {
                if k * i > 12 {
                    break 'outer k;
                }
                if k % 3 == 2 {
                    continue 'middle;
                }
            }
        }
        break i;
    };
    let extra = 'block: {
        if found > 4 {
            break 'block 1;
        }
        found * 2
    };
    found + extra
}

/// `return` from anywhere, also from inside an expression
#[autobatch(strict)]
fn early_returns(n: u64) -> u64 {
    let mut i = 0;
    while i < 50 {
        i += if i * n > 60 { return i } else { n % 4 + 1 };
    }
    1 + i
}

/// `?` on `Option` and `Result`, also on the result of a batched call
#[autobatch(strict)]
fn question_marks(n: u64) -> Option<u64> {
    if n == 0 {
        return Some(1);
    }
    let below = question_marks(n - 1)?;
    let digit: u64 = "7".parse().ok()?;
    below.checked_mul(digit).filter(|x| x % 5 != 3)
}

/// blocks as expressions
#[autobatch(strict)]
fn blocks(n: u64) -> u64 {
    let x = {
        let half = n / 2;
        if n == 0 { 1 } else { blocks(half) + half }
    };
    x + { x % 3 }
}

// ## Batched calls

/// several calls in one expression, evaluated left to right as in the scalar code
#[autobatch(strict)]
fn several_calls(n: u64) -> u64 {
    if n < 2 { n } else { several_calls(n - 1) * 3 - several_calls(n - 2) + n }
}

/// calls in arguments of calls
#[autobatch(strict)]
fn calls_in_arguments(n: u64) -> u64 {
    if n > 20 { n - 2 } else { calls_in_arguments(calls_in_arguments(n + 3)) }
}

/// calls in conditions: `if`, `while`, `&&`, `||`, `!`
#[autobatch(strict)]
fn calls_in_conditions(n: u64) -> bool {
    n < 2 || (n % 3 != 0 && calls_in_conditions(n - 2)) || !calls_in_conditions(n / 2)
}

/// calls in match scrutinees, indices, struct literals, tuples, arrays, ranges, casts, `return`
#[autobatch(strict)]
fn calls_anywhere(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let pair = Pair { left: calls_anywhere(n - 1) % 100, right: [1, calls_anywhere(n / 2) % 50, 3] };
    let chosen = TABLE[calls_anywhere(n / 3) as usize % TABLE.len()];
    let mut sum = pair.left + pair.right[1] + chosen;
    for i in 0..calls_anywhere(n / 4) % 5 {
        sum += i;
    }
    match calls_anywhere(n / 5) {
        1 => return calls_anywhere(n / 2) % 1000,
        x => sum % 1000 + (x as u32 as u64),
    }
}

/// calls under compound assignment and in assignments to fields and elements
#[autobatch(strict)]
fn calls_in_assignments(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let mut pair = Pair { left: n, right: [0; 3] };
    pair.left += calls_in_assignments(n - 1);
    pair.right[n as usize % 3] = calls_in_assignments(n / 2);
    pair.left % 1000 + pair.right.iter().sum::<u64>()
}

/// tail calls, which keep no frame
#[autobatch(strict)]
fn tail_calls(n: u64) -> u64 {
    fn double(x: u64) -> u64 {
        2 * x
    }
    if n > 300 { n } else { tail_calls(double(n) + 1) }
}

/// calls in closures of the usual adaptors: `map`, `filter`, `any`, `all`, `find`, `sum`, `fold`, `collect`, …
#[autobatch(strict)]
fn calls_in_adaptors(n: u64) -> u64 {
    if n < 2 {
        return 1;
    }
    let sum: u64 = (0..n).step_by(3).map(|i| calls_in_adaptors(i) % 100).sum();
    sum + u64::from((1..4).any(|k| calls_in_adaptors(n / (k + 1)) % 3 == 2))
}

/// calls in closures of `Option` and `Result` adaptors: `map`, `and_then`, `unwrap_or_else`, …
#[autobatch(strict)]
fn calls_in_option_adaptors(n: u64) -> u64 {
    n.checked_sub(3).map(|below| calls_in_option_adaptors(below) + 2).unwrap_or(n)
}

/// calls of any other function: ordinary calls on each active member
#[autobatch(strict)]
fn other_functions(n: u64) -> u64 {
    let mut x = n;
    while x < 1000 {
        x = branches_helper(x) * 2 + x + 1;
    }
    x
}

// ## Values and types

/// integers with checks as the profile has them, wrapping, saturating and checked arithmetic, casts
#[autobatch(strict)]
fn integers(n: u64) -> u64 {
    let mut x = n as u8;
    let mut i = 0_i64;
    while i < 20 {
        x = x.wrapping_mul(31).saturating_add(3);
        i += i64::from(x.checked_rem(7).unwrap_or(1)) + 1;
    }
    u64::from(x) << 3 | (i as u64)
}

/// floating-point numbers, bit for bit
#[autobatch(strict)]
fn floats(n: u64) -> u64 {
    let mut x = n as f64 / 7.0 + 0.1;
    while x < 1e3 {
        x = x * 1.5 + x.sqrt() / 3.0;
    }
    x.to_bits()
}

/// tuples, arrays, structures, enumerations, struct update
#[autobatch(strict)]
fn compounds(n: u64) -> u64 {
    let mut pair = Pair { left: n, ..Pair::default() };
    let mut steps = 0;
    while pair.left > 1 {
        pair = if pair.left % 2 == 0 {
            Pair { left: pair.left / 2, right: [steps, pair.right[0], pair.right[1]] }
        } else {
            Pair { left: 3 * pair.left + 1, ..pair }
        };
        steps += 1;
    }
    steps * 100 + pair.right[2]
}

/// owned values: `Vec`, `String`, `Box`; moved, never cloned, dropped once
#[autobatch(strict)]
fn owned_values(n: u64) -> String {
    if n == 0 {
        return String::from("0");
    }
    let tail = vec![n as u8 % 10 + b'0'];
    let below = Box::new(owned_values(n - 1));
    *below + &String::from_utf8_lossy(&tail)
}

/// recursive types: `Option<Box<Node>>`, enumerations that hold themselves
#[autobatch(strict)]
fn recursive_types(n: u64) -> Option<Box<Node>> {
    let below = n.checked_sub(1)?;
    let next = recursive_types(below);
    let value = next.as_ref().map_or(1, |node| node.value * 2 + n);
    Some(Box::new(Node { value, next }))
}

/// iterators that live across a batched call
#[autobatch(strict)]
fn iterators_across_calls(n: u64) -> u64 {
    let mut sum = 0;
    for (i, x) in TABLE.iter().enumerate().skip(1) {
        if i as u64 > n {
            break;
        }
        sum += x * iterators_across_calls(n / (i as u64 + 1));
    }
    sum + 1
}

/// references into shared and constant data that change along the recursion
#[autobatch(strict)]
fn references_that_change(n: u64) -> u64 {
    fn along(table: &[u64], n: u64) -> u64 {
        table.iter().take(n as usize).sum()
    }
    let mut table: &[u64] = &TABLE;
    let mut sum = 0;
    while let [first, rest @ ..] = table {
        if *first > 3 * n {
            break;
        }
        sum += along(rest, n);
        table = rest;
    }
    sum
}

/// a local lent to a call of another function
#[autobatch(strict)]
fn locals_lent(n: u64) -> u64 {
    fn push(values: &mut Vec<u64>, x: u64) {
        values.push(x);
    }
    let mut values = Vec::new();
    while (values.len() as u64) < n {
        let x = values.iter().sum::<u64>() + 1;
        push(&mut values, x);
    }
    values.iter().sum()
}

/// a reference to a local that is used across a loop
#[autobatch(strict)]
fn references_across_loops(n: u64) -> u64 {
    let mut values = vec![n, 7];
    let first = &mut values[0];
    let mut i = 0;
    while i < n {
        *first += i;
        i += 1;
    }
    values[0]
}

/// a reference to a temporary, `let xs = &[a, b]`, and an iteration over it, across a loop
#[autobatch(strict)]
fn references_to_temporaries(n: u64) -> u64 {
    let terms: &[u64] = &[n, 1, 2];
    let mut sum = 0;
    while sum < 5 * n {
        let more: &[u64] = &[sum, 1];
        for (i, x) in more.iter().enumerate() {
            sum += x * terms[(sum + i as u64) as usize % 3] + 1;
            if sum > 40 {
                break;
            }
        }
    }
    sum
}

/// a reference across a loop, also to parts that a pattern binds, to a local that is moved behind it
#[autobatch(strict)]
fn moved_behind(n: u64) -> u64 {
    let mut values = vec![n, 1];
    let first = &mut values[0];
    let mut i = 0;
    while i < n {
        *first += i;
        i += 1;
    }
    let mut pair = (i, values);
    let (count, all) = &mut pair;
    while *count > 0 {
        *count /= 2;
        all.push(*count);
    }
    let (_, values) = pair;
    values.into_iter().sum()
}

/// a local lent to a batched call
#[autobatch(strict)]
mod lending {
    pub(super) fn lend(n: u64) -> u64 {
        let mut seen = vec![n];
        below(n, &mut seen) + seen.len() as u64
    }

    fn below(n: u64, seen: &mut Vec<u64>) -> u64 {
        if n == 0 {
            return 0;
        }
        seen.push(n);
        below(n - 1, seen) + below(n / 2, seen)
    }
}
use lending::{lend, lend_batched_with};

/// items in the body: functions, constants, structures, `use`
#[autobatch(strict)]
fn items(n: u64) -> u64 {
    use std::cmp::max;
    const LIMIT: u64 = 40;
    struct Step(u64);
    fn next(x: u64) -> Step {
        Step(x * 2 + 1)
    }
    let mut x = n;
    while x < LIMIT {
        x = max(next(x).0, 3);
    }
    x
}

/// macros: `assert!`, `matches!`, `vec![…]`, `format!` with captures, your own
#[autobatch(strict)]
fn macros(n: u64) -> String {
    macro_rules! twice {
        ($x:expr) => {
            $x * 2
        };
    }
    let mut x = n;
    while !matches!(x, 20..=99) && x < 200 {
        x = twice!(x) + 3;
    }
    assert!(x > 2, "x = {x}");
    format!("{x}: {n:>3} {:?}", vec![x % 7; 2])
}

/// attributes on statements and expressions: `#[cfg(…)]`, also on a `let` that hides another, `#[allow(…)]`
#[autobatch(strict)]
fn attributes(n: u64) -> u64 {
    #[allow(unused_mut)]
    let mut limit = n * 3;
    #[cfg(target_os = "none")]
    let limit = n;
    let mut x = 1;
    #[cfg(target_os = "none")]
    {
        x = limit;
    }
    while x < limit {
        x *= 2;
    }
    x
}

/// closures that are called on the spot
#[autobatch(strict)]
fn closures(n: u64) -> u64 {
    let mut x = n;
    while x < 100 {
        let add = |y: u64| x + y;
        x = add(2) * 2;
    }
    x
}

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

/// recursion through the variants of an enumeration, by methods on what patterns bind
#[autobatch(strict)]
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
#[autobatch(strict)]
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

/// methods of the types of a module, those of traits too, its own or others, called by its functions and each other
#[autobatch(strict)]
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
        stairs.ways(n % 9) + stairs.higher(n)
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

/// a batched call in a match guard, on a number, a tuple of numbers or a reference
#[autobatch(strict)]
fn in_a_guard(n: u64) -> u64 {
    match n {
        0 => 2,
        n if in_a_guard(n - 1) % 3 == 2 => n,
        n => n + in_a_guard(n / 2),
    }
}

/// a closure in a local that borrows others, called across a loop, and one with recursive calls
#[autobatch(strict)]
fn closures_in_locals(n: u64) -> u64 {
    let scaled = |x: u64| x * n + 1;
    let below = |k: u64| if n == 0 { 0 } else { closures_in_locals(n / (k + 2)) };
    let mut i = 1;
    while scaled(i) < 100 && i < 50 {
        i += 1;
    }
    i + below(0) * 3 + below(1)
}

/// recursive calls in the arguments of std's macros
#[autobatch(strict)]
fn in_std_macros(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let below = vec![in_std_macros(n - 1), in_std_macros(n / 2)];
    assert_eq!(below[1], in_std_macros(n / 2), "of {n}");
    u64::from(matches!(in_std_macros(n / 3), 1..=4)) + below[0] + below[1]
}
