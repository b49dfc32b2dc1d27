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
#[autobatch]
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

/// `break` and `continue`, with labels, with a value, out of nested loops, out of a labelled block
#[autobatch(strict)]
fn labels(n: u64) -> u64 {
    let found = 'outer: loop {
        let mut i = 0;
        'middle: while i < n {
            i += 1;
            for k in 0..i {
                if k == 1 {
                    continue;
                }
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

/// calls in arguments of calls: `ack(m - 1, ack(m, n - 1))`
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
#[autobatch]
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
#[autobatch]
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

/// calls in closures of the usual adaptors: `map`, `filter`, `sum`, `product`, `fold`, `any`, `all`, `find`, `max_by`, `try_fold`, `try_for_each`, `scan`, `partition`, `unzip`, `skip`, `take`, `step_by`, `collect`, `for_each`, …
#[autobatch]
fn calls_in_adaptors(n: u64) -> u64 {
    if n < 2 {
        return 1;
    }
    let sum: u64 = (0..n).step_by(3).map(|i| calls_in_adaptors(i) % 100).sum();
    let product: u64 = (2..4).map(|k| calls_in_adaptors(n / k) % 7 + 1).product();
    let odd: Vec<u64> = (2..5).filter(|k| calls_in_adaptors(n / k) % 2 == 1).collect();
    let folded = odd.iter().fold(0, |sum, k| sum * 2 + calls_in_adaptors(n / k) % 5);
    let best = (2..4).map(|k| calls_in_adaptors(n / k)).max_by(|a, b| (a % 4).cmp(&(b % 4))).unwrap_or(0);
    let found = (2..6).find(|k| calls_in_adaptors(n / k) < 2).unwrap_or(9);
    let mut each = 0;
    (3..5).for_each(|k| each += calls_in_adaptors(n / k) % 9);
    let all = (3..5).all(|k| calls_in_adaptors(n / k) % 3 == 1);
    let any = (1..4).any(|k| calls_in_adaptors(n / (k + 1)) % 3 == 2);
    let tried = (1..4).try_fold(0, |sum, k| (sum < 4).then_some(sum + calls_in_adaptors(n / (k + 3))));
    let run = (1..4).try_for_each(|k| if calls_in_adaptors(n / (k + 3)) > 1 { Err(k) } else { Ok(()) });
    let (small, large): (Vec<u64>, Vec<u64>) = (0..4).partition(|k| calls_in_adaptors(n / (k + 4)) < 2);
    let (values, keys): (Vec<u64>, Vec<u64>) = (2..5).map(|k| (calls_in_adaptors(n / (k + 2)), k)).unzip();
    let scanned: u64 = (2..7)
        .scan(n, |left, k| {
            *left -= (calls_in_adaptors(n / (k + 2)) % 3).min(*left);
            (*left > 0).then_some(*left)
        })
        .sum();
    let some: u64 = (2..9).map(|k| calls_in_adaptors(n / (k + 2))).step_by(2).take(3).sum();
    let rest: u64 = (2..5).map(|k| calls_in_adaptors(n / (k + 2))).skip(1).sum();
    let parts = small.len() as u64 * 3 + large.iter().sum::<u64>() + values[0] * keys[1] + scanned + some + rest;
    let ends = tried.unwrap_or(3) + run.err().unwrap_or(5) + parts;
    (sum + product + folded + best + found + each + u64::from(all) + u64::from(any) + ends) % 1000
}

/// calls in closures of `Option` and `Result` adaptors: `map`, `and_then`, `unwrap_or_else`, …
#[autobatch(strict)]
fn calls_in_option_adaptors(n: u64) -> u64 {
    let below = n.checked_sub(3).map(|below| calls_in_option_adaptors(below) + 2).unwrap_or(n);
    let half = n.checked_sub(5).and_then(|k| calls_in_option_adaptors(k).checked_sub(2));
    let other = half.unwrap_or_else(|| if n == 0 { 1 } else { calls_in_option_adaptors(n / 2) });
    let digit: Result<u64, u64> = if n < 4 { Err(n) } else { Ok(n) };
    below + other + digit.map_or(0, |k| calls_in_option_adaptors(k / 2)) % 7
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

/// a recursive call in `std::array::from_fn`, or in `map` of an array in a variable, of up to eight elements
#[autobatch(strict)]
fn made_of_calls(n: u64) -> u64 {
    if n < 2 {
        return n + 1;
    }
    let made: [u64; 2] = std::array::from_fn(|k| made_of_calls(n / (k as u64 + 2)));
    let mapped = made.map(|k| made_of_calls(k % 2) + n);
    made.iter().chain(&mapped).fold(0, |sum, k| (sum * 3 + k) % 1000)
}

/// a batched call in a match guard, on a number, a tuple of numbers or a reference, or where the pattern binds nothing
#[autobatch(strict)]
fn in_a_guard(n: u64) -> u64 {
    match n {
        0 => 2,
        n if in_a_guard(n - 1) % 3 == 2 => n,
        n => n + in_a_guard(n / 2),
    }
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

/// calls of a module's functions that have no batched form, those that take `impl Fn` for one: ordinary calls
#[autobatch]
mod helpers {
    pub(super) fn helped(n: u64) -> u64 {
        let mut x = n;
        while x < 200 {
            x = times(|y| 2 * y + n % 3, x + 1);
        }
        x
    }

    fn times(f: impl Fn(u64) -> u64, mut x: u64) -> u64 {
        for _ in 0..x % 3 {
            x = f(x);
        }
        x
    }
}
use helpers::{helped, helped_batched_with};

#[autobatch::primitive(batched = triples)]
fn triple(x: u64) -> u64 {
    3 * x
}

fn triples(x: ndarray::ArrayView1<'_, u64>) -> ndarray::Array1<u64> {
    x.mapv(|x| 3 * x)
}

/// calls of a function with a batched kernel (`#[autobatch::primitive]`): one for all members that are there
#[autobatch]
fn with_a_kernel(n: u64) -> u64 {
    let mut x = n;
    while x < 50 {
        x = triple(x) + 1;
    }
    if n == 0 { x } else { x + with_a_kernel(n - 1) }
}

/// values with a `drop` (spans, counters, guards of a local): dropped where the scalar code drops them, on every way out
#[autobatch]
fn watched(n: u64) -> u64 {
    let seen = std::cell::Cell::new(n);
    let mut sum = 0;
    for k in 0..n % 4 {
        let _watch = Watch(&seen);
        sum += seen.get();
        if n > 3 {
            sum += watched(n - 3 - k % 2);
        }
        if sum % 5 == 2 {
            break;
        }
    }
    sum + seen.get()
}

struct Watch<'a>(&'a std::cell::Cell<u64>);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() * 3 + 1);
    }
}

/// parts of a local that calls get and give back, where they can be empty meanwhile: `node.left = insert(node.left, key)`
#[autobatch]
mod inserting {
    struct Node {
        key: u64,
        left: Option<Box<Node>>,
        right: Option<Box<Node>>,
    }

    pub(super) fn inserted(n: u64) -> u64 {
        let mut root = None;
        for k in 0..n % 9 {
            root = Some(insert(root, (k * 7 + n) % 11));
        }
        root.map_or(0, |root| depth(&root))
    }

    fn insert(node: Option<Box<Node>>, key: u64) -> Box<Node> {
        let Some(mut node) = node else { return Box::new(Node { key, left: None, right: None }) };
        if key < node.key {
            node.left = Some(insert(node.left, key));
        } else if key > node.key {
            node.right = Some(insert(node.right, key));
        }
        node
    }

    fn depth(node: &Node) -> u64 {
        let of = |child: &Option<Box<Node>>| child.as_ref().map_or(0, |child| depth(child));
        1 + of(&node.left).max(of(&node.right))
    }
}
use inserting::{inserted, inserted_batched_with};
