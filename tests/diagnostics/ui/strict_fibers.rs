use autobatch::autobatch;

#[autobatch::primitive(batched = halves)]
fn half(x: f64) -> f64 {
    x / 2.0
}

fn halves(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| half(*x)).collect()
}

fn twice(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    Some(f(n)).map_or(0, &f)
}

/// It reaches the primitive in a closure that is handed on: fibers.
#[autobatch(strict = "fibers")]
fn reaches(n: u64, x: f64) -> u64 {
    if n == 0 {
        return 1;
    }
    twice(|k| reaches(k / 2, half(x)) + 1, n / 2)
}

/// It names a primitive that it reaches out of sight.
#[autobatch(strict = "fibers", primitives(half))]
fn names(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    twice(|k| names(k / 2) + 1, n / 2)
}

/// It reaches none.
#[autobatch(strict = "fibers")]
fn reaches_none(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    twice(|k| reaches_none(k / 2) + 1, n / 2)
}

#[autobatch(strict = "blocks")]
fn other(n: u64) -> u64 {
    n
}

fn main() {}
