use autobatch::primitive;

struct Model;

impl Model {
    #[primitive(batched = gradients)]
    fn gradient(&self, x: f64) -> f64 {
        x
    }
}

#[primitive(batched = kernel)]
fn changes(x: &mut [f64], #[shared] y: &mut f64) -> f64 {
    x[0] + *y
}

#[primitive(batched = kernel)]
fn nothing_per_member(_model: &Model, #[shared] x: f64) -> f64 {
    x
}

#[primitive(batched = kernel)]
fn slices(#[each] x: &[f64]) -> f64 {
    x[0]
}

#[primitive]
fn no_kernel(x: f64) -> f64 {
    x
}

#[primitive(batch = kernel)]
fn misspelt(x: f64) -> f64 {
    x
}

#[primitive(batched = kernel)]
fn with_a_closure(x: f64, f: &impl Fn(f64) -> f64) -> f64 {
    f(x)
}

fn main() {}
