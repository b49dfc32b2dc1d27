use autobatch::autobatch;

struct Tree {
    value: f64,
    left: Option<Box<Tree>>,
}

fn smaller(tree: &Tree) -> Option<&Tree> {
    tree.left.as_deref().filter(|left| left.value < tree.value)
}

#[autobatch(strict)]
impl Tree {
    pub fn sum(&self, x: f64) -> f64 {
        match smaller(self) {
            Some(left) => self.value + left.sum(x * 0.5),
            None => x,
        }
    }
}

fn main() {}
