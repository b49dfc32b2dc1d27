fn f(x: f64, #[shared] y: f64, #[each] z: &[f64]) -> f64 {
    x + y + z[0]
}

fn main() {
    f(1.0, 2.0, &[3.0]);
}
