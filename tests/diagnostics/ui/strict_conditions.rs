use autobatch::autobatch;

#[autobatch(strict)]
fn leaves_by_a_macro(n: u64) -> Option<u64> {
    let mut i = n;
    while i > 3 {
        assert!(i.checked_sub(4)? < n);
        i -= 1;
    }
    Some(i)
}

macro_rules! less {
    ($n:expr) => {
        $n.checked_sub(1)?
    };
}

#[autobatch(strict)]
fn a_macro_that_leaves(n: u64) -> Option<u64> {
    a_macro_that_leaves(less!(n))
}

#[autobatch(strict)]
fn a_local_macro(n: u64) -> u64 {
    macro_rules! half {
        () => {
            n / 2
        };
    }
    if n == 0 { 0 } else { a_local_macro(half!()) + n }
}

macro_rules! bind {
    ($name:ident, $value:expr) => {
        let $name = $value;
    };
}

#[autobatch(strict)]
fn a_macro_that_binds(n: u64) -> u64 {
    bind!(half, n / 2);
    if n == 0 { 1 } else { a_macro_that_binds(half) + half }
}

#[autobatch(strict)]
mod several {
    pub fn longer(n: u64) -> u64 {
        let (first, second) = (vec![n], vec![n; 3]);
        sum(either(&first, &second), n)
    }

    fn either<'a>(a: &'a [u64], b: &'a [u64]) -> &'a [u64] {
        if a.len() > b.len() { a } else { b }
    }

    fn sum(values: &[u64], n: u64) -> u64 {
        if n == 0 { values[0] } else { sum(values, n - 1) + 1 }
    }
}

fn main() {}
