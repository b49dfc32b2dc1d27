use autobatch::autobatch;

struct Circle(f64);

impl Circle {
    #[autobatch]
    pub fn area(&self, scale: f64) -> f64 {
        self.0 * scale
    }

    #[autobatch]
    pub fn new(radius: f64) -> Self {
        Circle(radius)
    }

    #[autobatch]
    pub fn half(radius: f64) -> f64 {
        Self::new(radius).area(0.5)
    }
}

fn main() {
    Circle(Circle::half(1.0)).area(1.0);
}
