//! The sampler, as one writes it down for one chain.

use std::sync::Arc;

use autobatch::autobatch;
use ndarray::Array1;

use crate::density::{Density, gradient};
use crate::warmup::StepSize;
use crate::{Generator, Real};

/// A state of the Hamiltonian system: position and momentum, with the log density and its gradient there.
#[derive(Clone, Debug, PartialEq)]
pub struct Point<T> {
    /// Position, in the coordinates of the [`Density`].
    pub q: Array1<T>,
    /// Momentum.
    pub p: Array1<T>,
    /// Gradient of the log density.
    pub grad: Array1<T>,
    /// Log density.
    pub lp: T,
}

/// Samplers of other crates may move points between blocks.
impl<T: Real> autobatch::IsWhole for Point<T> {}

impl<T: Real> Point<T> {
    /// A point at rest.
    pub fn at(density: &Density<'_, T>, q: Array1<T>) -> Self {
        let mut grad = Array1::zeros(q.len());
        let lp = gradient(density, &q, &mut grad);
        Self { p: Array1::zeros(q.len()), q, grad, lp }
    }

    /// Log of the joint density of position and momentum.
    pub fn energy(&self) -> T {
        self.lp - self.p.dot(&self.p) / T::of(2.0)
    }

    /// The same position with a random momentum.
    fn kicked(&self, rng: &mut Generator) -> Self {
        let p = self.q.iter().map(|_| T::normal(rng)).collect();
        Self { q: self.q.clone(), p, grad: self.grad.clone(), lp: self.lp }
    }

    /// Lets the force act for the time `time`.
    fn kick(&mut self, time: T) {
        self.p.scaled_add(time, &self.grad);
    }

    /// Moves on for the time `time`.
    fn drift(&mut self, time: T) {
        self.q.scaled_add(time, &self.p);
    }
}

/// Whether a trajectory from `back` to `front` has begun to turn round at either end.
fn turned<T: Real>(back: &Point<T>, front: &Point<T>) -> bool {
    let (mut at_back, mut at_front) = (T::zero(), T::zero());
    let momenta = back.p.iter().zip(&front.p);
    for ((&b, &f), (&pb, &pf)) in back.q.iter().zip(&front.q).zip(momenta) {
        at_back += (f - b) * pb;
        at_front += (f - b) * pf;
    }
    // Not `<=`: an end that is not a number counts as turned.
    !(at_back > T::zero() && at_front > T::zero())
}

/// The slice of one trajectory.
#[derive(Clone, Copy, Debug)]
struct Slice<T> {
    /// Energy at the start.
    start: T,
    /// Points of at least this energy are in the slice.
    log_u: T,
}

impl<T: Real> Slice<T> {
    fn contains(&self, energy: T) -> bool {
        energy > self.log_u
    }

    /// Whether the integrator is still near the truth; false of an energy that is not a number.
    fn follows(&self, energy: T) -> bool {
        energy > self.log_u - T::of(1000.0)
    }

    fn acceptance(&self, energy: T) -> f64 {
        if energy >= self.start {
            1.0
        } else if energy < self.start {
            (energy - self.start).double().exp()
        } else {
            0.0
        }
    }
}

/// A balanced tree of leaves, as far as the rest of the trajectory needs to know it.
#[derive(Clone, Debug)]
struct Tree<T> {
    /// The end that is earliest in time.
    back: Arc<Point<T>>,
    /// The end that is latest in time.
    front: Arc<Point<T>>,
    /// A uniform choice among the points in the slice.
    candidate: Arc<Point<T>>,
    /// Points in the slice.
    n: u32,
    /// Leaves.
    leaves: u32,
    /// Sum of the leaves' acceptance probabilities.
    acceptance: f64,
    /// Whether a leaf was lost.
    diverged: bool,
    /// Whether the trajectory may go on.
    go: bool,
}

impl<T: Real> Tree<T> {
    /// The tree of a single leaf.
    fn leaf(z: Point<T>, slice: &Slice<T>) -> Self {
        let energy = z.energy();
        let z = Arc::new(z);
        Self {
            back: z.clone(),
            front: z.clone(),
            candidate: z,
            n: u32::from(slice.contains(energy)),
            leaves: 1,
            acceptance: slice.acceptance(energy),
            diverged: !slice.follows(energy),
            go: slice.follows(energy),
        }
    }
}

/// One draw from the posterior, and how it was come by.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw<T> {
    /// The position, in the coordinates of the [`Density`].
    pub q: Array1<T>,
    /// Leapfrog steps of the trajectory, each with one gradient.
    pub steps: u32,
    /// Mean acceptance probability of the leaves tried last, the target of the step-size adaptation.
    pub acceptance: f64,
    /// Whether the integrator lost the trajectory.
    pub diverged: bool,
}

/// True with probability `part / whole`; never if both are zero.
fn chance(part: u32, whole: u32, rng: &mut Generator) -> bool {
    f64::uniform(rng) * f64::from(whole) < f64::from(part)
}

/// The No-U-Turn Sampler of Hoffman and Gelman (2014), slice-sampling variant (Algorithm 3), with several
/// leapfrog steps per leaf.
///
/// [`Chains`](crate::Chains) runs it for many chains. One chain by itself, with a step size of its own:
///
/// ```
/// use std::sync::Arc;
///
/// use autobatch_nuts::{Density, Generator, Nuts, Point, StepSize, models::EightSchools};
/// use ndarray::Array1;
/// use rand::SeedableRng;
///
/// let model = EightSchools::<f64>::new();
/// let mut nuts = Nuts::new(Density::new(&model));
/// nuts.trajectories = 20;
/// let mut z = Arc::new(Point::at(&nuts.density, Array1::zeros(10)));
/// let draws = nuts.chain(&mut z, &mut StepSize::fixed(0.2), &mut Generator::seed_from_u64(1));
/// assert_eq!((draws.len(), draws[19].q.len()), (20, 10));
/// ```
#[derive(Clone)]
pub struct Nuts<'m, T> {
    /// What is sampled.
    pub density: Density<'m, T>,
    /// Trajectories, and so draws, per call of [`chain`](Self::chain).
    pub trajectories: usize,
    /// A trajectory is doubled at most this many times.
    pub max_depth: u32,
    /// Leapfrog steps per leaf of the tree: 4 in Radul et al. (2020).
    ///
    /// The trajectory can stop at leaves only. Where so many steps are about half a turn of it, as for a posterior of few
    /// dimensions that are scaled well, all leaves lie near two places opposite to each other, and chains hardly move
    /// between shells of equal density: large tail errors while the bulk looks better than independent. Take fewer.
    pub leaf_steps: u32,
}

impl<'m, T: Real> Nuts<'m, T> {
    /// One trajectory of at most 2¹⁰ - 1 leaves, four steps each.
    pub fn new(density: Density<'m, T>) -> Self {
        Self { density, trajectories: 1, max_depth: 10, leaf_steps: 4 }
    }
}

#[autobatch(strict, primitives(gradient))]
impl<'m, T: Real> Nuts<'m, T> {
    /// A chain of trajectories from the state `z`, which ends up where the chain does.
    ///
    /// `step` is the step size, which adapts itself unless it has settled.
    pub fn chain(&self, z: &mut Arc<Point<T>>, step: &mut StepSize, rng: &mut Generator) -> Vec<Draw<T>> {
        if step.is_wanted() {
            let eps = self.reasonable_step(z.kicked(rng), step.current());
            step.begin(eps);
        }
        let mut draws = Vec::with_capacity(self.trajectories);
        while draws.len() < self.trajectories {
            let draw = self.trajectory(z, T::of(step.current()), rng);
            step.learn(draw.acceptance);
            draws.push(draw);
        }
        draws
    }

    /// Moves `z` along one trajectory, doubled until it turns round.
    fn trajectory(&self, z: &mut Arc<Point<T>>, eps: T, rng: &mut Generator) -> Draw<T> {
        let start = Arc::new(z.kicked(rng));
        let energy = start.energy();
        let slice = Slice { start: energy, log_u: energy + (T::one() - T::uniform(rng)).ln() };

        let (mut back, mut front) = (start.clone(), start);
        let (mut n, mut depth, mut go) = (1, 0, true);
        let (mut steps, mut acceptance, mut diverged) = (0, 0.0, false);
        while go {
            let forward = f64::uniform(rng) < 0.5;
            let (end, time) = if forward { (front.clone(), eps) } else { (back.clone(), -eps) };
            let tree = self.build(end, time, depth, slice, rng);
            if forward {
                front = tree.front;
            } else {
                back = tree.back;
            }
            if tree.go && chance(tree.n, n, rng) {
                *z = tree.candidate;
            }
            n += tree.n;
            steps += tree.leaves * self.leaf_steps;
            acceptance = tree.acceptance / f64::from(tree.leaves);
            diverged = tree.diverged;
            go = tree.go && depth + 1 < self.max_depth && !turned(&back, &front);
            depth += 1;
        }
        Draw { q: z.q.clone(), steps, acceptance, diverged }
    }

    /// Follows the trajectory from `end` for `2^depth` leaves; back in time if `time`, that of one leapfrog
    /// step, is negative.
    fn build(
        &self,
        end: Arc<Point<T>>,
        time: T,
        depth: u32,
        slice: Slice<T>,
        rng: &mut Generator,
    ) -> Tree<T> {
        if depth == 0 {
            let mut z = Arc::unwrap_or_clone(end);
            for _ in 0..self.leaf_steps {
                z.kick(time / T::of(2.0));
                z.drift(time);
                z.lp = gradient(&self.density, &z.q, &mut z.grad);
                z.kick(time / T::of(2.0));
            }
            return Tree::leaf(z, &slice);
        }
        let mut tree = self.build(end, time, depth - 1, slice, rng);
        if tree.go {
            let end = if time < T::zero() { tree.back.clone() } else { tree.front.clone() };
            let more = self.build(end, time, depth - 1, slice, rng);
            if time < T::zero() {
                tree.back = more.back;
            } else {
                tree.front = more.front;
            }
            tree.n += more.n;
            tree.leaves += more.leaves;
            tree.acceptance += more.acceptance;
            tree.diverged |= more.diverged;
            if chance(more.n, tree.n, rng) {
                tree.candidate = more.candidate;
            }
            tree.go = more.go && !turned(&tree.back, &tree.front);
        }
        tree
    }

    /// A step size at which the first leapfrog step from `start` is accepted with a probability of about one
    /// half.
    fn reasonable_step(&self, start: Point<T>, guess: f64) -> f64 {
        let mut eps = guess;
        let mut direction = 0.0;
        loop {
            let mut end = start.clone();
            end.kick(T::of(eps / 2.0));
            end.drift(T::of(eps));
            end.lp = gradient(&self.density, &end.q, &mut end.grad);
            end.kick(T::of(eps / 2.0));
            let wanted = if end.energy() - start.energy() > T::of(0.5_f64.ln()) { 1.0 } else { -1.0 };
            if direction == -wanted || !(1e-8..1e8).contains(&eps) {
                return eps;
            }
            direction = wanted;
            eps *= f64::exp2(direction);
        }
    }
}

#[cfg(test)]
mod tests {
    use autobatch::program::Class;
    use rand::SeedableRng as _;

    use super::*;
    use crate::Model;
    use crate::models::EightSchools;

    const SLICE: Slice<f64> = Slice { start: 0.0, log_u: -1e9 };
    const DIM: usize = 10;

    fn start(model: &dyn Model<f64>) -> (Nuts<'_, f64>, Point<f64>, Generator) {
        let mut rng = Generator::seed_from_u64(7);
        let density = Density::new(model).with_scale((0..DIM).map(|i| 0.5 + 0.25 * i as f64).collect());
        let z = Point::at(&density, Array1::from_elem(DIM, 0.1));
        let z = z.kicked(&mut rng);
        (Nuts::new(density), z, rng)
    }

    fn leapfrog(nuts: &Nuts<'_, f64>, mut z: Point<f64>, time: f64) -> Point<f64> {
        z.kick(time / 2.0);
        z.drift(time);
        z.lp = gradient(&nuts.density, &z.q, &mut z.grad);
        z.kick(time / 2.0);
        z
    }

    fn distance(a: &Array1<f64>, b: &Array1<f64>) -> f64 {
        (a - b).mapv(|x| x * x).sum().sqrt()
    }

    #[test]
    fn a_tree_is_the_straight_trajectory_of_its_leaves() {
        let model = EightSchools::new();
        let (nuts, z, mut rng) = start(&model);
        for (time, depth) in [(1e-3, 0), (-1e-3, 0), (1e-3, 3), (-1e-3, 4)] {
            // Too short to turn round.
            let tree = nuts.build(Arc::new(z.clone()), time, depth, SLICE, &mut rng);
            let leaves = 1 << depth;
            assert!(tree.go && !tree.diverged);
            assert_eq!((tree.n, tree.leaves), (leaves, leaves));
            let mut points = vec![];
            let mut end = z.clone();
            for _ in 0..leaves {
                for _ in 0..nuts.leaf_steps {
                    end = leapfrog(&nuts, end, time);
                }
                points.push(end.clone());
            }
            let (first, last) = if time > 0.0 { (tree.back, tree.front) } else { (tree.front, tree.back) };
            assert_eq!((&*first, &*last), (&points[0], &end));
            assert!(points.contains(&tree.candidate));
        }
    }

    #[test]
    fn the_candidate_is_uniform_among_the_leaves() {
        let model = EightSchools::new();
        let (nuts, z, mut rng) = start(&model);
        let trees = 4_000;
        let mut counts = [0.0; 8];
        for _ in 0..trees {
            let tree = nuts.build(Arc::new(z.clone()), 1e-3, 3, SLICE, &mut rng);
            let part = distance(&tree.candidate.q, &z.q) / distance(&tree.front.q, &z.q);
            counts[(8.0 * part).round() as usize - 1] += 1.0;
        }
        let expected = f64::from(trees) / 8.0;
        let chi_square: f64 = counts.iter().map(|c| (c - expected) * (c - expected) / expected).sum();
        assert!(chi_square < 24.3, "{counts:?}"); // one in a thousand, seven degrees of freedom
    }

    #[test]
    fn a_lost_trajectory_stops_at_once() {
        let model = EightSchools::new();
        let (nuts, z, mut rng) = start(&model);
        let slice = Slice { start: z.energy(), log_u: z.energy() };
        let tree = nuts.build(Arc::new(z), 50.0, 5, slice, &mut rng);
        assert!(tree.diverged && !tree.go);
        assert_eq!((tree.n, tree.leaves, tree.acceptance), (0, 1, 0.0));
        assert!(!slice.follows(f64::NAN) && !slice.contains(f64::NAN));
        assert_eq!(slice.acceptance(f64::NAN), 0.0);
    }

    #[test]
    fn depth_is_bounded() {
        let model = EightSchools::new();
        let (mut nuts, z, mut rng) = start(&model);
        (nuts.trajectories, nuts.max_depth) = (5, 3);
        for draw in nuts.chain(&mut Arc::new(z), &mut StepSize::fixed(1e-4), &mut rng) {
            assert_eq!(draw.steps, nuts.leaf_steps * 7);
            assert!((0.0..=1.0).contains(&draw.acceptance));
        }
    }

    #[test]
    fn leapfrog_is_reversible_and_of_second_order() {
        let model = EightSchools::new();
        let (nuts, start, _) = start(&model);
        let run = |times: &[f64]| times.iter().fold(start.clone(), |z, time| leapfrog(&nuts, z, *time));
        let back = run(&[0.1, 0.1, 0.1, -0.1, -0.1, -0.1]);
        assert!(distance(&back.q, &start.q) < 1e-12 && distance(&back.p, &start.p) < 1e-12);
        let drift = |z: Point<f64>| (z.energy() - start.energy()).abs();
        let (coarse, fine) = (drift(run(&[0.02; 50])), drift(run(&[0.01; 100])));
        assert!(coarse < 1e-1 && (3.0..5.0).contains(&(coarse / fine)), "{coarse} {fine}");
    }

    #[test]
    fn a_trajectory_turns_when_an_end_moves_back() {
        let model = EightSchools::new();
        let (_, back, _) = start(&model);
        let mut front = back.clone();
        front.q = &back.q + &back.p;
        assert!(!turned(&back, &front));
        front.p = -&back.p;
        assert!(turned(&back, &front));
        front.p[0] = f64::NAN;
        assert!(turned(&back, &front));
    }

    #[test]
    fn a_reasonable_step_is_neither_tiny_nor_huge() {
        let model = EightSchools::new();
        let (nuts, z, _) = start(&model);
        for guess in [1e-4, 0.1, 100.0] {
            let eps = nuts.reasonable_step(z.clone(), guess);
            assert!((1e-3..10.0).contains(&eps), "{eps}");
        }
    }

    #[test]
    fn what_does_not_change_in_the_recursion_has_no_stack() {
        let program = Nuts::<f64>::chain_batched_program();
        assert_eq!(program.blocks.iter().filter(|block| block.primitive).count(), 2, "{program}");
        let build = program.functions.iter().position(|function| function.name == "build");
        let stacked: Vec<&str> = (program.variables.iter())
            .filter(|variable| build == Some(variable.function.into()) && variable.class == Class::Stacked)
            .map(|variable| variable.name)
            .collect();
        assert!(stacked.contains(&"depth") && stacked.contains(&"tree"), "{stacked:?}");
        for name in ["time", "slice", "rng"] {
            assert!(!stacked.contains(&name), "{program}");
        }
    }
}
