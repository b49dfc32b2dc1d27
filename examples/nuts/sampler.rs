//! The No-U-Turn Sampler of Hoffman and Gelman (2014), slice-sampling variant, four leapfrog steps per leaf.
//!
//! This is the sampler as one writes it down for one chain. The functions of [`program`] are the program
//! that is batched; everything else is ordinary code that they call.

use crate::model::{EightSchools, Point, Vector, turned};
use rand::RngExt as _;
use rand_distr::StandardNormal;

#[cfg(test)]
pub(crate) use program::chain;
pub(crate) use program::chain_batched_with;

/// The random numbers of one chain.
pub(crate) type Generator = rand_xoshiro::Xoshiro256PlusPlus;

/// Leapfrog steps per leaf of the tree.
pub(crate) const LEAF_STEPS: u32 = 4;

/// What all chains have in common in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Trajectories per chain.
    pub(crate) trajectories: usize,
    /// A trajectory is doubled at most this many times.
    pub(crate) max_depth: u32,
}

/// One draw from the posterior, and how it was come by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    /// The position, in the scaled coordinates of the model.
    pub(crate) q: Vector,
    /// Leapfrog steps, each with one gradient.
    pub(crate) steps: u32,
    /// Mean acceptance probability of the leaves tried last, the target of the step-size adaptation.
    pub(crate) acceptance: f64,
    /// Whether the integrator lost the trajectory.
    pub(crate) diverged: bool,
}

/// The slice of one trajectory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    /// Energy at the start.
    pub(crate) start: f64,
    /// Points of at least this energy are in the slice.
    pub(crate) log_u: f64,
}

impl Slice {
    fn contains(&self, energy: f64) -> bool {
        energy > self.log_u
    }

    /// Whether the integrator is still near the truth; false of an energy that is not a number.
    fn follows(&self, energy: f64) -> bool {
        energy > self.log_u - 1000.0
    }

    fn acceptance(&self, energy: f64) -> f64 {
        if energy >= self.start {
            1.0
        } else if energy < self.start {
            (energy - self.start).exp()
        } else {
            0.0
        }
    }
}

/// A balanced tree of leaves, as far as the rest of the trajectory needs to know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    /// The end that is earliest in time.
    pub(crate) back: Point,
    /// The end that is latest in time.
    pub(crate) front: Point,
    /// A uniform choice among the points in the slice.
    pub(crate) candidate: Point,
    /// Points in the slice.
    pub(crate) n: u32,
    /// Leapfrog steps made.
    pub(crate) steps: u32,
    /// Sum of the leaves' acceptance probabilities.
    pub(crate) acceptance: f64,
    /// Whether a leaf was lost.
    pub(crate) diverged: bool,
    /// Whether the trajectory may go on.
    pub(crate) go: bool,
}

impl Tree {
    /// The tree of a single leaf.
    pub(crate) fn leaf(z: Point, slice: &Slice) -> Self {
        let energy = z.energy();
        Self {
            back: z,
            front: z,
            candidate: z,
            n: u32::from(slice.contains(energy)),
            steps: LEAF_STEPS,
            acceptance: slice.acceptance(energy),
            diverged: !slice.follows(energy),
            go: slice.follows(energy),
        }
    }
}

/// True with probability `part / whole`; never if both are zero.
fn chance(part: u32, whole: u32, rng: &mut Generator) -> bool {
    rng.random::<f64>() * f64::from(whole) < f64::from(part)
}

fn momentum(rng: &mut Generator) -> Vector {
    std::array::from_fn(|_| rng.sample(StandardNormal))
}

/// The program: one chain, as scalar code.
#[autobatch::autobatch(strict)]
pub(crate) mod program {
    use super::{Draw, EightSchools, Generator, LEAF_STEPS, Point, Run, Slice, Tree};
    use super::{chance, momentum, turned};
    use rand::RngExt as _;

    /// Follows the trajectory from `z` in the direction `dir` for `2^depth` leaves.
    pub(crate) fn build(
        model: &EightSchools,
        mut z: Point,
        dir: f64,
        depth: u32,
        eps: f64,
        slice: Slice,
        rng: &mut Generator,
    ) -> Tree {
        if depth == 0 {
            for _ in 0..LEAF_STEPS {
                z = z.leapfrog(model, dir * eps);
            }
            return Tree::leaf(z, &slice);
        }
        let mut tree = build(model, z, dir, depth - 1, eps, slice, rng);
        if tree.go {
            let end = if dir < 0.0 { tree.back } else { tree.front };
            let more = build(model, end, dir, depth - 1, eps, slice, rng);
            if dir < 0.0 {
                tree.back = more.back;
            } else {
                tree.front = more.front;
            }
            tree.n += more.n;
            tree.steps += more.steps;
            tree.acceptance += more.acceptance;
            tree.diverged |= more.diverged;
            if chance(more.n, tree.n, rng) {
                tree.candidate = more.candidate;
            }
            tree.go = more.go && !turned(&tree.back, &tree.front);
        }
        tree
    }

    /// Moves `z` along one trajectory, doubled until it turns round.
    pub(crate) fn trajectory(
        model: &EightSchools,
        run: &Run,
        z: &mut Point,
        eps: f64,
        rng: &mut Generator,
    ) -> Draw {
        z.p = momentum(rng);
        let start = z.energy();
        let slice = Slice { start, log_u: start + (1.0 - rng.random::<f64>()).ln() };

        let (mut back, mut front) = (*z, *z);
        let (mut n, mut depth, mut go) = (1, 0, true);
        let (mut steps, mut acceptance, mut diverged) = (0, 0.0, false);
        while go {
            let dir = if rng.random::<bool>() { 1.0 } else { -1.0 };
            let end = if dir < 0.0 { back } else { front };
            let tree = build(model, end, dir, depth, eps, slice, rng);
            if dir < 0.0 {
                back = tree.back;
            } else {
                front = tree.front;
            }
            if tree.go && chance(tree.n, n, rng) {
                *z = tree.candidate;
            }
            n += tree.n;
            steps += tree.steps;
            acceptance = tree.acceptance / f64::from(tree.steps / LEAF_STEPS);
            diverged = tree.diverged;
            go = tree.go && depth + 1 < run.max_depth && !turned(&back, &front);
            depth += 1;
        }
        Draw { q: z.q, steps, acceptance, diverged }
    }

    /// A chain of trajectories from `state`, which ends up where the chain does.
    pub(crate) fn chain(
        model: &EightSchools,
        run: &Run,
        state: &mut Point,
        eps: f64,
        rng: &mut Generator,
    ) -> Vec<Draw> {
        let mut draws = Vec::with_capacity(run.trajectories);
        while draws.len() < run.trajectories {
            draws.push(trajectory(model, run, state, eps, rng));
        }
        draws
    }
}

#[cfg(test)]
mod tests {
    use super::program::build;
    use super::*;
    use crate::model::DIM;
    use rand::SeedableRng as _;

    const SLICE: Slice = Slice { start: 0.0, log_u: -1e9 };

    fn start() -> (EightSchools, Point, Generator) {
        let model = EightSchools::new();
        let mut rng = Generator::seed_from_u64(7);
        let mut z = Point::at(&model, [0.1; DIM]);
        z.p = momentum(&mut rng);
        (model, z, rng)
    }

    #[test]
    fn a_tree_is_the_straight_trajectory_of_its_leaves() {
        let (model, z, mut rng) = start();
        for (dir, depth) in [(1.0, 0), (-1.0, 0), (1.0, 3), (-1.0, 4)] {
            let eps = 1e-3; // too short to turn round
            let tree = build(&model, z, dir, depth, eps, SLICE, &mut rng);
            let leaves = 1 << depth;
            assert!(tree.go && !tree.diverged);
            assert_eq!((tree.n, tree.steps), (leaves, LEAF_STEPS * leaves));
            let mut points = vec![];
            let mut end = z;
            for _ in 0..leaves {
                for _ in 0..LEAF_STEPS {
                    end = end.leapfrog(&model, dir * eps);
                }
                points.push(end);
            }
            let (first, last) = if dir > 0.0 { (tree.back, tree.front) } else { (tree.front, tree.back) };
            assert_eq!((first, last), (points[0], end));
            assert!(points.contains(&tree.candidate));
        }
    }

    #[test]
    fn the_candidate_is_uniform_among_the_leaves() {
        let (model, z, mut rng) = start();
        let (trees, eps) = (8_000, 1e-3);
        let leaf = |tree: &Tree| {
            let whole: f64 = (0..DIM).map(|i| (tree.front.q[i] - z.q[i]).powi(2)).sum();
            let part: f64 = (0..DIM).map(|i| (tree.candidate.q[i] - z.q[i]).powi(2)).sum();
            (8.0 * (part / whole).sqrt()).round() as usize - 1
        };
        let mut counts = [0.0; 8];
        for _ in 0..trees {
            counts[leaf(&build(&model, z, 1.0, 3, eps, SLICE, &mut rng))] += 1.0;
        }
        let expected = f64::from(trees) / 8.0;
        let chi_square: f64 = counts.iter().map(|c| (c - expected) * (c - expected) / expected).sum();
        assert!(chi_square < 24.3, "{counts:?}"); // one in a thousand, seven degrees of freedom
    }

    #[test]
    fn a_lost_trajectory_stops_at_once() {
        let (model, z, mut rng) = start();
        let slice = Slice { start: z.energy(), log_u: z.energy() };
        let tree = build(&model, z, 1.0, 5, 50.0, slice, &mut rng);
        assert!(tree.diverged && !tree.go);
        assert_eq!((tree.n, tree.steps, tree.acceptance), (0, LEAF_STEPS, 0.0));
        assert!(!slice.follows(f64::NAN) && !slice.contains(f64::NAN));
        assert_eq!(slice.acceptance(f64::NAN), 0.0);
    }

    #[test]
    fn a_chain_cut_in_two_is_the_same_chain() {
        let (model, z, mut rng) = start();
        let run = |trajectories| Run { trajectories, max_depth: 10 };
        let (mut one, mut two, mut rng_two) = (z, z, rng.clone());
        let whole = chain(&model, &run(20), &mut one, 0.1, &mut rng);
        let mut parts = chain(&model, &run(7), &mut two, 0.1, &mut rng_two);
        parts.extend(chain(&model, &run(13), &mut two, 0.1, &mut rng_two));
        assert_eq!(whole, parts);
        assert_eq!((one, rng), (two, rng_two));
        assert!(whole.iter().all(|draw| draw.steps >= LEAF_STEPS && (0.0..=1.0).contains(&draw.acceptance)));
    }

    #[test]
    fn depth_is_bounded() {
        let (model, mut z, mut rng) = start();
        let run = Run { trajectories: 5, max_depth: 3 };
        for draw in chain(&model, &run, &mut z, 1e-4, &mut rng) {
            assert_eq!(draw.steps, LEAF_STEPS * 7);
        }
    }
}
