use autobatch::primitive;

#[primitive(kernel)]
fn not_a_pair(x: f64) -> f64 {
    x
}

#[primitive(batched = kernels[0])]
fn not_a_path(x: f64) -> f64 {
    x
}

#[primitive(batched = kernel)]
struct NotAFunction;

fn kernel(x: &[f64]) -> Vec<f64> {
    x.to_vec()
}

fn main() {
    not_a_pair(not_a_path(1.0));
    kernel(&[]);
    let _ = NotAFunction;
}
