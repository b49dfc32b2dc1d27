use autobatch::autobatch;

trait Area {
    fn area(&self, scale: f64) -> f64;
}

struct Circle(f64);

impl Circle {
    fn area(&self, scale: f64) -> f64 {
        self.0 * scale
    }
}

#[autobatch]
impl Area for Circle {
    fn area(&self, scale: f64) -> f64 {
        if scale > 1.0 { self.area(scale / 2.0) } else { self.0 * scale }
    }
}

fn main() {
    Area::area(&Circle(1.0), 1.0);
    Circle(1.0).area(1.0);
}
