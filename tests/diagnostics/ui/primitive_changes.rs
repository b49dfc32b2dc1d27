use autobatch::{autobatch, primitive};

struct Opaque;

#[primitive(batched = kernel)]
fn not_a_number(x: &mut Opaque) {
    *x = Opaque;
}

fn kernel(_x: &mut [Opaque]) {}

#[primitive(batched = doubles)]
fn double(x: &mut f64) {
    *x *= 2.0;
}

fn doubles(x: &mut [f64]) {
    x.iter_mut().for_each(|x| *x *= 2.0);
}

#[autobatch(strict)]
fn a_reference_that_is_one_already(x: &mut f64, n: u32) {
    for _ in 0..n {
        double(x);
    }
}

#[autobatch(strict)]
fn an_element(mut x: [f64; 2], n: usize) -> f64 {
    double(&mut x[n]);
    x[0]
}

#[primitive(batched = halves)]
fn half(x: &f64, #[each] y: &f64) -> f64 {
    x / y
}

fn halves(x: &f64, y: &[f64]) -> Vec<f64> {
    y.iter().map(|y| x / y).collect()
}

#[autobatch(strict)]
fn changes_nothing(x: &f64, mut y: f64) -> f64 {
    y += half(x, &mut y);
    y
}

fn main() {}
