//! Statements and expressions.

use autobatch::autobatch;

/// Loops of all kinds, with labels and values.
#[autobatch(strict)]
#[must_use]
pub fn loops(n: u32) -> u32 {
    let mut sum = 0;
    'outer: for i in 0..n {
        let mut k = i;
        loop {
            if k > 40 {
                break 'outer;
            }
            if k % 3 == 2 {
                continue 'outer;
            }
            if k > 9 {
                break;
            }
            k += 4;
        }
        sum += k;
    }
    let found = loop {
        sum += 1;
        if sum % 7 == 0 {
            break sum;
        }
    };
    let mut rest = Some(found);
    while let Some(r) = rest {
        sum += r;
        rest = r.checked_sub(5);
    }
    for i in (1..=n).rev().step_by(2) {
        sum ^= i;
    }
    'block: {
        if sum > 100 {
            break 'block;
        }
        sum += 1;
    }
    sum
}

/// Branches of all kinds, with calls in them.
#[autobatch(strict)]
#[must_use]
pub fn branches(n: u32) -> Option<u32> {
    let next = n.checked_sub(2)?;
    let Some(first) = branches(next) else {
        return Some(n);
    };
    let second = match branches(next / 2) {
        Some(b @ 0..=9) => b,
        Some(b) if b % 2 == 0 => b / 2,
        Some(b) => b,
        None => 1,
    };
    let third = if let Some(c) = branches(next / 3) { c + 1 } else { 3 };
    if first > second && branches(third % 5).is_some_and(|d| d > 1) {
        return None;
    }
    let both = (branches(next / 4)?, branches(next / 5)?);
    Some(first.wrapping_add(second) ^ third ^ both.0 ^ both.1)
}

/// `?` on results, with a conversion.
///
/// # Errors
///
/// Where the text is no number.
#[autobatch(strict)]
pub fn parsed(#[each] text: &str, n: u32) -> Result<i64, Box<dyn ::core::error::Error + Send + Sync>> {
    if n == 0 {
        let value: i32 = text.parse()?;
        return Ok(i64::from(value));
    }
    let below = parsed(text, n - 1)?;
    let _ = u8::try_from(below)?;
    Ok(below + 1)
}

/// Items and captures in the body.
#[autobatch(strict)]
#[must_use]
pub fn items(n: u32) -> String {
    use ::core::fmt::Write;
    const LEAST: u32 = 2;
    struct Step(u32);
    impl Step {
        fn next(&self) -> u32 {
            self.0 + LEAST
        }
    }
    let mut text = String::new();
    let mut i = 0;
    while i < n {
        let x = i * 2;
        write!(text, "{x:02}{i}").unwrap_or_default();
        i = Step(i).next();
    }
    format!("{text}{n}")
}

/// Mutation and compound assignment around calls.
#[autobatch(strict)]
#[must_use]
pub fn assignments(n: u32) -> u32 {
    if n == 0 {
        return 1;
    }
    let mut acc = (n, [1_u32, 2, 3]);
    acc.0 += assignments(n - 1) % 50;
    acc.1[(n % 3) as usize] *= assignments(n / 2) % 9;
    let (a, b);
    (a, b) = (acc.0, assignments(n / 3));
    let closure = |x: u32| x.wrapping_add(a);
    closure(acc.1[0] ^ b)
}

/// Tail calls, unit results, and nothing after a panic.
///
/// # Panics
///
/// At 1000.
#[autobatch(strict)]
pub fn log(n: u32, seen: &mut Vec<u32>) {
    match n {
        0 => {}
        1000 => panic!("too many"),
        _ => {
            seen.push(n);
            log(n - 1, seen);
        }
    }
}
