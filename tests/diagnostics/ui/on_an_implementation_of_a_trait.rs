use autobatch::autobatch;

trait Area {
    fn area(&self, scale: f64) -> f64;
}

#[autobatch]
impl Area for f64 {
    fn area(&self, scale: f64) -> f64 {
        if scale > 1.0 { self.area(scale / 2.0) } else { *self * scale }
    }
}

fn main() {
    1.0.area(2.0);
}
