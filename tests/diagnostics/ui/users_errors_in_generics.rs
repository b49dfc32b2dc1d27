use autobatch::autobatch;

#[autobatch]
fn bound<T: Copy>(n: u64, x: T) -> T {
    if n == 0 { x + x } else { bound(n - 1, x) }
}

#[autobatch]
fn result<T: Copy>(n: u64, x: T) -> T {
    if n == 0 { n } else { result(n - 1, x) }
}

#[autobatch]
fn returned<T: Copy>(n: u64, x: T) -> u64 {
    if n == 0 {
        return 1.5;
    }
    returned(n - 1, x)
}

#[autobatch]
fn argument<T: Copy>(n: u64, x: T) -> T {
    if n == 0 { x } else { argument("text", x) }
}

#[autobatch]
fn no_tail<T: Copy>(n: u64, x: T) -> T {
    if n == 0 {
        return x;
    }
    no_tail(n - 1, x);
}

#[autobatch]
fn moved<T>(n: u64, x: T) -> u64 {
    if n == 0 { 1 } else { moved(n - 1, x) + moved(n - 2, x) }
}

#[autobatch]
fn borrowed<T: Clone>(n: u64, mut parts: Vec<T>) -> u64 {
    let first = &parts[0];
    parts.push(first.clone());
    drop(first.clone());
    if n == 0 { 1 } else { borrowed(n - 1, parts) }
}

#[autobatch]
fn array<const N: usize>(n: u64, x: [f64; N]) -> f64 {
    let parts = vec![n];
    drop(parts);
    if n == 0 { parts.len() as f64 } else { array(n - 1, x) }
}

#[autobatch]
fn closure<F: Fn(f64) -> f64>(#[shared] g: &F, x: f64, n: u64) -> f64 {
    let parts = vec![n];
    drop(parts);
    drop(parts);
    if n == 0 { g(x) } else { closure(g, x, n - 1) }
}

#[autobatch]
fn output<T: Copy + std::ops::Mul>(n: u64, x: T) -> T {
    if n == 0 { x * x } else { output(n - 1, x) }
}

#[autobatch]
fn method<T: Copy>(n: u64, x: T) -> T {
    if n == 0 { x.unknown() } else { method(n - 1, x) }
}

#[autobatch]
fn negative<T: Copy>(n: u64, x: T) -> T {
    if n == 0 { -x } else { negative(n - 1, x) }
}

#[autobatch]
fn typed<T: Copy>(n: u64, x: T) -> T {
    if n == 0 {
        x
    } else {
        let rest: u32 = typed(n - 1, x);
        x
    }
}

#[autobatch]
fn few<T: Copy>(n: u64, x: T) -> T {
    if n == 0 { x } else { few(n - 1) }
}

#[autobatch]
fn length<const N: usize>(n: u64, x: [f64; N]) -> [f64; N] {
    if n == 0 { [0.0; 3] } else { length(n - 1, x) }
}

#[autobatch]
fn state<T: Copy>(n: u64, out: &mut T, x: T) {
    let parts = vec![x];
    drop(parts);
    drop(parts);
    *out = x;
    if n > 0 {
        state(n - 1, out, x);
    }
}

#[autobatch]
mod both {
    pub fn even<T: Copy + Send + Sync>(n: u64, x: T) -> T {
        if n == 0 { x - x } else { odd(n - 1, x) }
    }

    fn odd<T: Copy + Send + Sync>(n: u64, x: T) -> T {
        let rest: u8 = even(n - 1, x);
        if n == 0 { n } else { x }
    }
}

struct Pair<T>(T);

#[autobatch]
impl<T: Send + Sync + Copy> Pair<T> {
    pub fn added(x: T, n: u64) -> T {
        if n == 0 { x + x } else { Self::added(x, n - 1) }
    }

    pub fn dropped(&self, n: u64) -> u64 {
        let parts = vec![n];
        drop(parts);
        drop(parts);
        if n == 0 { 1 } else { self.dropped(n - 1) }
    }
}

struct Text<'a>(&'a str);

#[autobatch]
impl<'a> Text<'a> {
    pub fn of_a_lifetime(&self, n: u64) -> u64 {
        let parts = vec![n];
        drop(parts);
        drop(parts);
        if n == 0 { 1 } else { self.of_a_lifetime(n - 1) }
    }
}

#[autobatch]
fn part<'a>(n: u64, #[each] x: &'a [f64]) -> &'a [f64] {
    if n == 0 { x[0] } else { part(n - 1, &x[1..]) }
}

#[autobatch]
fn local_part<'a>(n: u64, #[each] x: &'a [f64]) -> &'a [f64] {
    let local = vec![1.0];
    if n == 0 { &local } else { local_part(n - 1, &x[1..]) }
}

fn main() {}
