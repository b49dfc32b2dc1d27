use autobatch::autobatch;

#[autobatch(name = "all")]
mod m {
    pub fn f(x: f64) -> f64 {
        x
    }
    pub fn g(x: f64) -> f64 {
        x
    }
}

struct S;

#[autobatch(name = "all")]
impl S {
    pub fn f(x: f64) -> f64 {
        x
    }
}

fn main() {
    m::f(m::g(S::f(1.0)));
}
