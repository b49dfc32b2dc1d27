//! Values that own memory, and types of the user's.

use autobatch::autobatch;

/// A list.
#[derive(Clone, Debug, PartialEq)]
pub enum List {
    /// Its end.
    End,
    /// A link.
    Link(u32, Box<List>),
}

/// Numbers that are not `Copy`.
#[derive(Clone, Debug, Default)]
pub struct Big {
    digits: Vec<u8>,
}

/// Builds a list.
#[autobatch(strict)]
#[must_use]
pub fn list(n: u32) -> List {
    if n == 0 { List::End } else { List::Link(n, Box::new(list(n - 1))) }
}

/// Takes one apart.
#[autobatch(strict)]
#[must_use]
pub fn reverse(input: List, done: List) -> List {
    match input {
        List::End => done,
        List::Link(value, rest) => reverse(*rest, List::Link(value, Box::new(done))),
    }
}

/// Vectors and strings that live across loops.
#[autobatch(strict)]
#[must_use]
pub fn digits(mut n: u64, mut big: Big) -> (Big, String) {
    let mut text = String::new();
    while n > 0 {
        let digit = u8::try_from(n % 10).unwrap_or(0);
        big.digits.push(digit);
        text.push(char::from(b'0' + digit));
        n /= 10;
    }
    (big, text)
}
