// Each function is a row of docs/constructs.md. None can be batched as a whole: the note in `program()` says why.

/// a recursive call in a closure that is handed to unknown code
#[autobatch]
fn handed_to_unknown_code(n: u64) -> u64 {
    if n == 0 { 1 } else { in_turn(|i| handed_to_unknown_code(i) * 3, n) }
}

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

/// a local lent to a call whose result may borrow from it
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

/// a batched call in a statement under `#[cfg(…)]`
#[autobatch]
fn under_a_condition(n: u64) -> u64 {
    #[cfg(not(target_os = "none"))]
    let n = if n == 0 { 1 } else { under_a_condition(n - 1) + n };
    n + 1
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
