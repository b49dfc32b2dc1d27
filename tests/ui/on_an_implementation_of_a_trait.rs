use autobatch::autobatch;

trait Area {
    fn area(&self, scale: f64) -> f64;
}

struct Circle(f64);

#[autobatch]
impl Area for Circle {
    fn area(&self, scale: f64) -> f64 {
        if scale > 1.0 { self.area(scale / 2.0) } else { self.0 * scale }
    }
}

fn main() {
    Circle(1.0).area(1.0);
}
