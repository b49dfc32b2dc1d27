use autobatch::autobatch;

enum Tree {
    Leaf(f64),
    Node(Box<Tree>, Box<Tree>),
}

trait Sum {
    fn sum(&self, x: f64) -> f64;
}

impl Sum for Box<Tree> {
    fn sum(&self, x: f64) -> f64 {
        x
    }
}

#[autobatch]
impl Tree {
    // The calls are those of the trait.
    pub fn sum(&self, x: f64) -> f64 {
        match self {
            Tree::Leaf(value) => value * x,
            Tree::Node(a, b) => a.sum(x) + b.sum(x),
        }
    }
}

fn main() {}
