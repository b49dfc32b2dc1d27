use autobatch::autobatch;

#[autobatch]
fn f(x: f64) -> f64 {
    let y: u32 = "text";
    x
}

fn main() {}
