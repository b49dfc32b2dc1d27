use autobatch::autobatch;

#[autobatch(unknown)]
async extern "C" fn f(x: f64, g: impl Fn(f64) -> f64) -> impl Into<f64> {
    g(x)
}

fn main() {}
