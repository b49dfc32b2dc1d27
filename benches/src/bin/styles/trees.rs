//! Trees that all members share: the nearest place of a k-d tree, and a forest of decision trees. The styles differ in
//! how trees are gone through, and in what nodes are made of.

use autobatch::{autobatch, same};
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::peer::stateless_against;
use crate::style::{AnyStyle, stateless};

const MEMBERS: usize = 16_384;
const PLACES: usize = 4096;
const TREES: usize = 20;
const LEVELS: u32 = 8;
const FEATURES: usize = 4;
const NOWHERE: u32 = u32::MAX;

/// A place, and the subtrees to both sides of it.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // for ISPC
struct Node {
    x: f64,
    y: f64,
    below: u32,
    above: u32,
    axis: u8,
}

/// The square of the distance to the nearest place, by recursion.
#[autobatch]
fn nearest_recursive(tree: &[Node], at: u32, x: f64, y: f64, best: f64) -> f64 {
    if at == NOWHERE {
        return best;
    }
    let node = &tree[at as usize];
    let (dx, dy) = (x - node.x, y - node.y);
    let mut best = best.min(dx * dx + dy * dy);
    let side = if node.axis == 0 { dx } else { dy };
    let (near, far) = if side < 0.0 { (node.below, node.above) } else { (node.above, node.below) };
    best = nearest_recursive(tree, near, x, y, best);
    if side * side < best {
        best = nearest_recursive(tree, far, x, y, best);
    }
    best
}

/// The same with a stack of its own.
#[autobatch]
fn nearest_stack(tree: &[Node], root: u32, x: f64, y: f64) -> f64 {
    let mut stack = [(root, 0.0); 32];
    let (mut len, mut best) = (1, f64::MAX);
    while len > 0 {
        len -= 1;
        let (at, bound) = stack[len];
        if at == NOWHERE || bound >= best {
            continue;
        }
        let node = tree[at as usize];
        let (dx, dy) = (x - node.x, y - node.y);
        best = best.min(dx * dx + dy * dy);
        let side = if node.axis == 0 { dx } else { dy };
        let (near, far) = if side < 0.0 { (node.below, node.above) } else { (node.above, node.below) };
        stack[len] = (far, side * side);
        stack[len + 1] = (near, 0.0);
        len += 2;
    }
    best
}

/// A comparison, and where it leads; or a value.
#[derive(Clone, Copy, Debug)]
struct Split {
    feature: usize,
    threshold: f64,
    left: usize,
    right: usize,
    value: f64,
    is_leaf: bool,
}

#[autobatch]
fn forest_for(x: [f64; FEATURES], roots: &[usize], nodes: &[Split]) -> f64 {
    let mut sum = 0.0;
    for root in roots {
        let mut at = *root;
        while !nodes[at].is_leaf {
            let node = &nodes[at];
            at = if x[node.feature] < node.threshold { node.left } else { node.right };
        }
        sum += nodes[at].value;
    }
    sum / roots.len() as f64
}

#[autobatch]
fn forest_indices(x: [f64; FEATURES], roots: &[usize], nodes: &[Split]) -> f64 {
    let (mut sum, mut tree) = (0.0, 0);
    while tree < roots.len() {
        let mut at = roots[tree];
        while !nodes[at].is_leaf {
            at = if x[nodes[at].feature] < nodes[at].threshold { nodes[at].left } else { nodes[at].right };
        }
        sum += nodes[at].value;
        tree += 1;
    }
    sum / roots.len() as f64
}

/// The same nodes, a list for each field; a leaf leads to itself.
#[derive(Debug)]
struct Lists {
    feature: Vec<u32>,
    threshold: Vec<f64>,
    left: Vec<u32>,
    right: Vec<u32>,
    value: Vec<f64>,
}

#[autobatch]
fn forest_lists(x: [f64; FEATURES], roots: &[usize], nodes: &Lists) -> f64 {
    let mut sum = 0.0;
    for root in roots {
        let mut at = *root;
        while nodes.left[at] as usize != at {
            let goes_left = x[nodes.feature[at] as usize] < nodes.threshold[at];
            at = if goes_left { nodes.left[at] } else { nodes.right[at] } as usize;
        }
        sum += nodes.value[at];
    }
    sum / roots.len() as f64
}

/// The places of a k-d tree.
fn planted(places: &mut [(f64, f64)], axis: u8, tree: &mut Vec<Node>) -> u32 {
    if places.is_empty() {
        return NOWHERE;
    }
    places.sort_by(|a, b| if axis == 0 { a.0.total_cmp(&b.0) } else { a.1.total_cmp(&b.1) });
    let (at, middle) = (tree.len(), places.len() / 2);
    let (x, y) = places[middle];
    tree.push(Node { x, y, below: 0, above: 0, axis });
    tree[at].below = planted(&mut places[..middle], 1 - axis, tree);
    tree[at].above = planted(&mut places[middle + 1..], 1 - axis, tree);
    at as u32
}

/// A decision tree of at most so many levels.
fn grown(levels: u32, numbers: &mut Numbers, nodes: &mut Vec<Split>) -> usize {
    let at = nodes.len();
    let is_leaf = levels == 0 || numbers.below(10) == 0;
    let feature = numbers.below(FEATURES as u64) as usize;
    let (threshold, value) = (numbers.within(0.0, 1.0), numbers.within(0.0, 1.0));
    nodes.push(Split { feature, threshold, left: at, right: at, value, is_leaf });
    if !is_leaf {
        nodes[at].left = grown(levels - 1, numbers, nodes);
        nodes[at].right = grown(levels - 1, numbers, nodes);
    }
    at
}

struct Queries {
    tree: Vec<Node>,
    root: u32,
    x: Vec<f64>,
    y: Vec<f64>,
}

fn queries(members: usize) -> Queries {
    let mut numbers = Numbers::new(5);
    let mut places: Vec<_> =
        (0..PLACES).map(|_| (numbers.within(0.0, 1.0), numbers.within(0.0, 1.0))).collect();
    let mut tree = Vec::new();
    let root = planted(&mut places, 0, &mut tree);
    let mut column = || (0..members).map(|_| numbers.within(0.0, 1.0)).collect();
    Queries { tree, root, x: column(), y: column() }
}

struct Forest {
    x: Vec<[f64; FEATURES]>,
    roots: Vec<usize>,
    nodes: Vec<Split>,
    lists: Lists,
}

fn forest(members: usize) -> Forest {
    let mut numbers = Numbers::new(6);
    let mut nodes = Vec::new();
    let roots = (0..TREES).map(|_| grown(LEVELS, &mut numbers, &mut nodes)).collect();
    let lists = Lists {
        feature: nodes.iter().map(|n| n.feature as u32).collect(),
        threshold: nodes.iter().map(|n| n.threshold).collect(),
        left: nodes.iter().map(|n| n.left as u32).collect(),
        right: nodes.iter().map(|n| n.right as u32).collect(),
        value: nodes.iter().map(|n| n.value).collect(),
    };
    let x = (0..members).map(|_| std::array::from_fn(|_| numbers.within(0.0, 1.0))).collect();
    Forest { x, roots, nodes, lists }
}

counterpart! {
    fn ispc_nearest(columns(x: f64, y: f64), shared(tree: Node), uniform(root: u32)) -> f64
}

counterpart! {
    fn ispc_forest(
        columns(x: [f64; FEATURES]),
        shared(roots: usize, feature: u32, threshold: f64, left: u32, right: u32, value: f64)
    ) -> f64
}

pub(crate) fn nearest(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    vec![
        stateless_against(
            "nearest/recursion",
            queries(n),
            n,
            |q, i, ()| nearest_recursive(&q.tree, q.root, q.x[i], q.y[i], f64::MAX),
            |q, _, options| {
                nearest_recursive_batched_with(&q.tree, same(q.root), &q.x, &q.y, same(f64::MAX), options)
            },
            Agreement::Close { tolerance: 1e-12, except: 0.0 },
            |q, target, first, out| ispc_nearest(target, first, &q.x, &q.y, out, &q.tree, q.root),
        ),
        stateless(
            "nearest/own stack",
            queries(n),
            n,
            |q, i, ()| nearest_stack(&q.tree, q.root, q.x[i], q.y[i]),
            |q, _, options| nearest_stack_batched_with(&q.tree, same(q.root), &q.x, &q.y, options),
        ),
    ]
}

pub(crate) fn forests(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    vec![
        stateless(
            "forest/for",
            forest(n),
            n,
            |f, i, ()| forest_for(f.x[i], &f.roots, &f.nodes),
            |f, _, options| forest_for_batched_with(&f.x, &f.roots, &f.nodes, options),
        ),
        stateless(
            "forest/indices",
            forest(n),
            n,
            |f, i, ()| forest_indices(f.x[i], &f.roots, &f.nodes),
            |f, _, options| forest_indices_batched_with(&f.x, &f.roots, &f.nodes, options),
        ),
        stateless_against(
            "forest/list per field",
            forest(n),
            n,
            |f, i, ()| forest_lists(f.x[i], &f.roots, &f.lists),
            |f, _, options| forest_lists_batched_with(&f.x, &f.roots, &f.lists, options),
            Agreement::Close { tolerance: 1e-12, except: 0.0 },
            |Forest { x, roots, lists: l, .. }, target, first, out| {
                let (feature, threshold) = (&l.feature, &l.threshold);
                ispc_forest(target, first, x, out, roots, feature, threshold, &l.left, &l.right, &l.value);
            },
        ),
    ]
}
