use autobatch::autobatch;

#[autobatch(lanes = -1)]
fn negative(x: f64) -> f64 {
    x
}

#[autobatch(lanes = 1.5)]
fn fraction(x: f64) -> f64 {
    x
}

#[autobatch(max_depth = 0)]
fn zero(x: f64) -> f64 {
    x
}

#[autobatch(lanes = MISSING)]
fn unknown(x: f64) -> f64 {
    x
}

fn main() {
    negative(fraction(zero(unknown(1.0))));
}
