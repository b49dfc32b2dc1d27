use autobatch::autobatch;

#[autobatch]
#[autobatch(strict)]
fn f(x: f64) -> f64 {
    x
}

#[autobatch]
mod m {
    #[autobatch::autobatch]
    pub fn g(x: f64) -> f64 {
        x
    }
}

fn main() {
    f(m::g(1.0));
}
