use autobatch::autobatch;

trait Area {
    #[autobatch]
    fn area(&self, scale: f64) -> f64 {
        scale
    }
}

struct Circle;

impl Area for Circle {}

fn main() {
    Circle.area(1.0);
}
