//! Nearest neighbours in a k-d tree: recursion over nodes that all members share.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::Numbers;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

/// A point, and the subtrees below and above it along one axis.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Node {
    x: f32,
    y: f32,
    z: f32,
    axis: u32,
    below: u32,
    above: u32,
}

const NONE: u32 = u32::MAX;

#[autobatch(strict)]
mod walk {
    use super::{NONE, Node};

    fn visit(tree: &[Node], at: u32, x: f32, y: f32, z: f32, best: f32) -> f32 {
        if at == NONE {
            return best;
        }
        let node = &tree[at as usize];
        let (dx, dy, dz) = (x - node.x, y - node.y, z - node.z);
        let mut best = best.min(dx * dx + dy * dy + dz * dz);
        let across = match node.axis {
            0 => dx,
            1 => dy,
            _ => dz,
        };
        let (near, far) = if across < 0.0 { (node.below, node.above) } else { (node.above, node.below) };
        best = visit(tree, near, x, y, z, best);
        if across * across < best {
            best = visit(tree, far, x, y, z, best);
        }
        best
    }

    /// The squared distance to the nearest point.
    pub(super) fn nearest(x: f32, y: f32, z: f32, tree: &[Node]) -> f32 {
        visit(tree, 0, x, y, z, f32::INFINITY)
    }
}

counterpart! {
    fn ispc_tree_walk(columns(x: f32, y: f32, z: f32), shared(tree: Node)) -> f32
}

/// Random queries among 16384 random points.
pub struct TreeWalk {
    tree: Vec<Node>,
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
}

/// Appends the tree of `points`; returns its root.
fn build(points: &mut [[f32; 3]], axis: usize, tree: &mut Vec<Node>) -> u32 {
    if points.is_empty() {
        return NONE;
    }
    let middle = points.len() / 2;
    let (below, point, above) = points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
    let [x, y, z] = *point;
    let root = tree.len();
    tree.push(Node { x, y, z, axis: axis as u32, below: NONE, above: NONE });
    tree[root].below = build(below, (axis + 1) % 3, tree);
    tree[root].above = build(above, (axis + 1) % 3, tree);
    root as u32
}

impl Kernel for TreeWalk {
    type Value = f32;
    const NAME: &'static str = "tree_walk";
    const MEMBERS: usize = 65_536;
    const PEER: Agreement = Agreement::Close { tolerance: 1e-6, except: 0.0 };

    fn new(members: usize) -> Self {
        let mut numbers = Numbers::new(8);
        let mut coordinate = || numbers.within(0.0, 1.0) as f32;
        let mut points: Vec<[f32; 3]> = (0..16_384).map(|_| std::array::from_fn(|_| coordinate())).collect();
        let mut tree = Vec::with_capacity(points.len());
        build(&mut points, 0, &mut tree);
        let [x, y, z] = std::array::from_fn(|_| (0..members).map(|_| coordinate()).collect());
        TreeWalk { tree, x, y, z }
    }

    fn members(&self) -> usize {
        self.x.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> f32 {
        walk::nearest(self.x[i], self.y[i], self.z[i], &self.tree)
    }

    fn batched(&self, options: &Options) -> Result<Outcome<f32>, BatchError> {
        walk::nearest_batched_with(&self.x, &self.y, &self.z, &self.tree, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [f32]) {
        ispc_tree_walk(target, first, &self.x, &self.y, &self.z, out, &self.tree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_is_nearer() {
        let kernel = TreeWalk::new(50);
        for i in 0..50 {
            let (x, y, z) = (kernel.x[i], kernel.y[i], kernel.z[i]);
            let square = |n: &Node| {
                let (dx, dy, dz) = (x - n.x, y - n.y, z - n.z);
                dx * dx + dy * dy + dz * dz
            };
            let nearest = kernel.tree.iter().map(square).fold(f32::INFINITY, f32::min);
            assert_eq!(kernel.scalar(i), nearest);
        }
    }
}
