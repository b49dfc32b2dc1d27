use autobatch::autobatch;

/// Found where rustc is asked whether a type is `Copy`.
trait Anything {
    fn copied(self) -> bool
    where
        Self: Sized,
    {
        true
    }
}
impl<T> Anything for T {}

mod math {
    pub struct Log(Box<f64>);

    pub fn ln(x: f64) -> Log {
        Log(Box::new((x.abs() + 0.5).ln()))
    }

    impl Log {
        pub fn abs(&self) -> f64 {
            self.0.abs()
        }
    }
}

#[autobatch]
fn f(x: f64) -> f64 {
    let log = math::ln(x);
    if log.abs() < 0.7 || x < 0.0 {
        return x;
    }
    let below = f(x - 1.0);
    below + f(x - 2.0) * 0.5 + log.abs()
}

fn main() {}
