use autobatch::autobatch;

#[autobatch]
mod private {
    fn f(x: f64) -> f64 {
        x
    }
}

#[autobatch]
mod empty {}

struct S;

#[autobatch]
impl S {
    fn f(x: &f64) -> f64 {
        *x
    }
}

#[autobatch]
mod shared {
    pub fn f(x: &f64) -> f64 {
        *x
    }
}

fn main() {}
