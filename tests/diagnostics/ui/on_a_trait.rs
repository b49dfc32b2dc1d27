use autobatch::autobatch;

#[autobatch]
trait Area {
    fn area(&self, scale: f64) -> f64 {
        scale
    }
}

fn main() {}
