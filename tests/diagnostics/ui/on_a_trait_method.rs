use autobatch::autobatch;

trait Area {
    #[autobatch]
    fn area(&self, scale: f64) -> f64;
}

fn main() {}
