// Each function is a row of docs/constructs.md: the comment is its text. All are compiled with `strict`.

// ## Values and types

/// assignment of every kind: `=`, `+=`, `<<=`, to fields, elements, through references, to several places at once
#[autobatch]
fn assignments(n: u64) -> u64 {
    let mut pair = Pair { left: n, right: [1, 2, 3] };
    let (mut a, mut b) = (n, 1);
    while a < 60 {
        (a, b) = (a + b, a % 5);
        pair.left ^= a << 2;
        pair.right[a as usize % 3] += b;
        let third = &mut pair.right[2];
        *third <<= 1;
        *third %= 97;
        [pair.right[0], _, b] = [pair.right[1], 0, b | 1];
        ((pair.right[b as usize % 3], ..), Pair { right: [.., a], left: _ }) =
            ((pair.left % 5, b, n), Pair { left: b, right: [b, n, a] });
    }
    pair.left + pair.right.iter().sum::<u64>() + b
}

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

/// owned parameters, and `?` and `return` that leave some behind
#[autobatch(strict)]
mod owning {
    pub(super) fn owned(n: u64) -> Option<Vec<String>> {
        gather((0..n).map(|i| format!("{i}")).collect(), Vec::new())
    }

    fn gather(mut names: Vec<String>, mut all: Vec<String>) -> Option<Vec<String>> {
        let Some(name) = names.pop() else { return Some(all) };
        let length = name.parse::<u64>().ok().filter(|x| *x != 11)?;
        if length % 4 == 3 {
            return gather(names, vec![name]);
        }
        all.push(name);
        gather(names, all)
    }
}
use owning::{owned, owned_batched_with};

/// vectors of `ndarray`, as locals, parameters and results
#[autobatch]
mod vectors {
    use ndarray::Array1;

    pub(super) fn norms(n: u64) -> Vec<f64> {
        halved(Array1::from_elem(3, n as f64), n).to_vec()
    }

    fn halved(x: Array1<f64>, n: u64) -> Array1<f64> {
        if n == 0 { x } else { halved(&x * 0.5 + 1.0, n / 2) + &x }
    }
}
use vectors::{norms, norms_batched_with};

/// recursive types: `Option<Box<Node>>`, enumerations that hold themselves
#[autobatch]
fn recursive_types(n: u64) -> Option<Box<Node>> {
    let below = n.checked_sub(1)?;
    let next = recursive_types(below);
    let value = next.as_ref().map_or(1, |node| node.value * 2 + n);
    Some(Box::new(Node { value, next }))
}

/// iterators that live across a batched call, with closures that capture numbers too, and other values of a type without a name
#[autobatch]
fn iterators_across_calls(n: u64) -> u64 {
    let mut sum = 0;
    for (i, x) in TABLE.iter().enumerate().skip(1) {
        if i as u64 > n {
            break;
        }
        sum += x * iterators_across_calls(n / (i as u64 + 1)) % 100;
    }
    let mut halves = std::iter::successors(Some(n), |x| Some(x / 2).filter(|x| *x > 0)).skip(1).map(|x| x + n % 2);
    while let Some(x) = halves.next() {
        sum += if x < n { iterators_across_calls(x) % 10 } else { 1 };
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

/// a borrow of a local as the argument of another function
#[autobatch]
fn borrowed_arguments(n: u64) -> u64 {
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
#[autobatch]
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
#[autobatch]
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
#[autobatch]
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

/// a local of which a part is moved, and others are used behind a loop or call
#[autobatch]
fn in_parts(n: u64) -> u64 {
    let heap = Heap { values: vec![n, 1], top: n };
    let mut sum = 0;
    for value in heap.values {
        sum += value + if heap.top > 1 { in_parts(n / 2) } else { 0 };
    }
    sum + heap.top
}

struct Heap {
    values: Vec<u64>,
    top: u64,
}

/// a receiver that borrows a local, or is a part of one, of a batched call's value: `rows[i].push(f(x))`, `groups.entry(k).or_default().push(f(x))`
#[autobatch]
fn operands_before_calls(n: u64) -> u64 {
    let mut rows = vec![vec![n]; 2];
    if n > 0 {
        rows[1].push(operands_before_calls(n / 2));
        rows.last_mut().unwrap().push(operands_before_calls(n / 3));
    }
    rows.concat().iter().sum()
}

/// a borrow of a local as the argument of a batched call
#[autobatch]
mod borrowing {
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
use borrowing::{lend, lend_batched_with};

/// borrows of parts of a local as arguments of batched calls: `let (left, right) = v.split_at_mut(m); sort(left); sort(right)`
#[autobatch]
mod sorting {
    pub(super) fn sorted(n: u64) -> Vec<u64> {
        let mut values: Vec<u64> = (0..n).map(|i| i * 37 % 11).collect();
        sort(&mut values);
        values
    }

    fn sort(values: &mut [u64]) {
        if values.len() < 2 {
            return;
        }
        let mut merged = values.to_vec();
        let (left, right) = merged.split_at_mut(values.len() / 2);
        sort(left);
        sort(right);
        let (mut i, mut k) = (0, 0);
        for value in values {
            let first = k == right.len() || (i < left.len() && left[i] <= right[k]);
            *value = if first { left[i] } else { right[k] };
            if first { i += 1 } else { k += 1 }
        }
    }
}
use sorting::{sorted, sorted_batched_with};

/// a function's result that borrows from a local, as the argument of a batched call and across a loop
#[autobatch]
mod returned_borrows {
    pub(super) fn handed(n: u64) -> u64 {
        let values = vec![n, 2, 3];
        let rest = tail(&values);
        let mut i = 0;
        while i < 2 * n {
            i += rest[0];
        }
        i + sum(tail(rest), 3) + sum(tail(&values), n)
    }

    fn tail(values: &[u64]) -> &[u64] {
        &values[1..]
    }

    fn sum(values: &[u64], n: u64) -> u64 {
        if n == 0 { values.len() as u64 } else { sum(values, n - 1) + values[0] }
    }
}
use returned_borrows::{handed, handed_batched_with};

/// a borrow of a method's result as the argument of a batched call: `f(&board.with(i))`, and views of `ndarray`'s arrays: `f(x.view())`, `f(x.slice(s![1..]))`
#[autobatch]
mod making {
    use ndarray::{ArrayView1, Axis};

    use super::Pair;

    impl Pair {
        fn with(&self, left: u64) -> Pair {
            Pair { left, ..*self }
        }
    }

    pub(super) fn made(n: u64) -> u64 {
        let numbers: ndarray::Array1<u64> = (0..n).collect();
        below(&Pair { left: n, right: [n, 1, 2] }, 3) + sum(numbers.view())
    }

    fn below(pair: &Pair, n: u64) -> u64 {
        if n == 0 { pair.left + pair.right[0] } else { below(&pair.with(n), n - 1) + below(&pair.with(2), n - 1) }
    }

    fn sum(x: ArrayView1<'_, u64>) -> u64 {
        if x.is_empty() { 0 } else { x[0] + sum(x.slice_axis(Axis(0), (1..).into())) }
    }
}
use making::{made, made_batched_with};

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

/// a batched call in a statement under `#[cfg(…)]`
#[autobatch(strict)]
fn under_a_condition(n: u64) -> u64 {
    #[cfg(not(target_os = "none"))]
    let n = if n == 0 { 1 } else { under_a_condition(n - 1) + n };
    n + 1
}

/// an attribute on a match arm that holds a call or a loop
#[autobatch(strict)]
fn attribute_on_an_arm(n: u64) -> u64 {
    match n {
        0 => 1,
        #[cfg(not(target_os = "none"))]
        n => attribute_on_an_arm(n - 1) + n,
        #[cfg(target_os = "none")]
        _ => 0,
    }
}

/// a local that is there under `#[cfg(…)]` only, used across a loop
#[autobatch(strict)]
fn there_under_a_condition(n: u64) -> u64 {
    #[cfg(not(target_os = "none"))]
    let start = n;
    let mut x = n + 1;
    while x < 50 {
        x = x * 2 + 1;
    }
    #[cfg(not(target_os = "none"))]
    assert!(start <= x);
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
