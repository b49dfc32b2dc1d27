use autobatch::autobatch;

struct Tree {
    value: f64,
    left: Option<Box<Tree>>,
}

#[autobatch(strict)]
impl Tree {
    pub fn sum(&self, x: f64) -> f64 {
        match &self.left {
            Some(left) => self.value + left.sum(x * 0.5),
            None => x,
        }
    }
}

fn main() {}
