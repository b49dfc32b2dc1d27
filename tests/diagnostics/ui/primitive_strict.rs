use autobatch::{autobatch, primitive};

#[primitive(batched = kernel)]
fn half(x: &f64, #[each] y: &f64) -> f64 {
    x * y
}

fn kernel(x: &f64, y: &[f64]) -> Vec<f64> {
    y.iter().map(|y| x * y).collect()
}

#[autobatch(strict)]
fn f(x: &f64, n: usize) -> f64 {
    let values = [1.0, 2.0];
    (0..n).map(|_| half(x, &2.0)).sum::<f64>() + half(x, &values[n])
}

#[autobatch(primitives)]
fn g(n: u64) -> u64 {
    n
}

#[autobatch(executor(Masked))]
fn h(n: u64) -> u64 {
    n
}

fn main() {}
