use autobatch::autobatch;

#[autobatch]
fn arguments(x: f64, #[shared(clone)] y: f64, #[each = 3] z: &[f64]) -> f64 {
    x + y + z[0]
}

#[autobatch]
fn twice(x: f64, #[shared] #[shared] y: f64, #[each] #[each] z: &[f64]) -> f64 {
    x + y + z[0]
}

#[autobatch]
fn misspelled(x: f64, #[eech] z: &[f64]) -> f64 {
    x + z[0]
}

struct S;

#[autobatch]
impl S {
    pub fn f(#[shared] &mut self, x: f64) -> f64 {
        x
    }
    pub fn g(#[each] self, x: f64) -> f64 {
        x
    }
}

fn main() {
    arguments(1.0, 2.0, &[3.0]);
    twice(1.0, 2.0, &[3.0]);
    S.f(1.0);
    S.g(1.0);
}
