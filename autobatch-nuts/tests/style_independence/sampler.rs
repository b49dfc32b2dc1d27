//! The No-U-Turn Sampler of this crate, written a second time by a user who knows nothing of blocks.
//!
//! The density is a boxed trait object, the moves of the integrator are closures in a struct, a leapfrog step is a macro, and
//! the tree grows in a function outside the annotated one. The batched primitive is in another crate, and nothing here names it
//! to `autobatch`. Numbers are added in the order of [`Nuts::chain`](autobatch_nuts::Nuts::chain).

use std::rc::Rc;

use autobatch::autobatch;
use autobatch_nuts::density::gradient;
use autobatch_nuts::{Chains, Density, Draw, Generator, Point, Real as _, StepSize};

/// A density; how it computes is out of sight.
trait Target: Send + Sync {
    /// The log density at `z.q`, and its gradient.
    fn look(&self, z: &mut Point<f64>);
}

impl Target for Density<'_, f64> {
    fn look(&self, z: &mut Point<f64>) {
        z.lp = gradient(self, &z.q, &mut z.grad);
    }
}

/// What is sampled, and how.
pub(crate) struct Problem<'m> {
    target: Box<dyn Target + 'm>,
    trajectories: usize,
    max_depth: u32,
    leaf_steps: u32,
}

impl<'m> Problem<'m> {
    /// The problem of these chains, for so many trajectories.
    pub(crate) fn of(chains: &Chains<'m, f64>, trajectories: usize) -> Self {
        let nuts = &chains.nuts;
        let target = Box::new(nuts.density.clone());
        Problem { target, trajectories, max_depth: nuts.max_depth, leaf_steps: nuts.leaf_steps }
    }
}

type Move<'a> = Box<dyn Fn(&mut Point<f64>, f64) + 'a>;
type Look<'a> = Box<dyn Fn(&mut Point<f64>) + 'a>;

/// The moves of the integrator.
struct Moves<'a> {
    kick: Move<'a>,
    drift: Move<'a>,
    look: Look<'a>,
}

impl<'a> Moves<'a> {
    fn of(target: &'a dyn Target) -> Self {
        Moves {
            kick: Box::new(|z, time| z.p.scaled_add(time, &z.grad)),
            drift: Box::new(|z, time| z.q.scaled_add(time, &z.p)),
            look: Box::new(|z| target.look(z)),
        }
    }
}

macro_rules! leapfrog {
    ($moves:expr, $z:expr, $time:expr) => {
        ($moves.kick)($z, $time / 2.0);
        ($moves.drift)($z, $time);
        ($moves.look)($z);
        ($moves.kick)($z, $time / 2.0);
    };
}

/// The same position with a random momentum.
fn kicked(z: &Point<f64>, rng: &mut Generator) -> Point<f64> {
    Point { p: z.q.iter().map(|_| f64::normal(rng)).collect(), ..z.clone() }
}

/// Whether the trajectory from `back` to `front` has begun to turn round.
fn turned(back: &Point<f64>, front: &Point<f64>) -> bool {
    let along = |p: &ndarray::Array1<f64>| {
        let way = front.q.iter().zip(&back.q).map(|(f, b)| f - b);
        way.zip(p).fold(0.0, |sum, (way, p)| sum + way * p)
    };
    !(along(&back.p) > 0.0 && along(&front.p) > 0.0)
}

/// True with probability `part / whole`.
fn chance(part: u32, whole: u32, rng: &mut Generator) -> bool {
    f64::uniform(rng) * f64::from(whole) < f64::from(part)
}

/// A part of a trajectory.
struct Tree {
    /// The ends: back and forth in time.
    ends: [Rc<Point<f64>>; 2],
    candidate: Rc<Point<f64>>,
    inside: u32,
    leaves: u32,
    acceptance: f64,
    diverged: bool,
    goes_on: bool,
}

/// What one trajectory is given.
struct Given<'a> {
    problem: &'a Problem<'a>,
    moves: &'a Moves<'a>,
    /// Energy at the start, and the slice's lower bound.
    start: f64,
    log_u: f64,
    eps: f64,
}

impl Given<'_> {
    fn leaf(&self, mut z: Point<f64>, time: f64) -> Tree {
        for _ in 0..self.problem.leaf_steps {
            leapfrog!(self.moves, &mut z, time);
        }
        let energy = z.energy();
        let acceptance = match energy.partial_cmp(&self.start) {
            Some(order) if order.is_ge() => 1.0,
            Some(_) => (energy - self.start).exp(),
            None => 0.0,
        };
        let goes_on = energy > self.log_u - 1000.0;
        let z = Rc::new(z);
        Tree {
            ends: [z.clone(), z.clone()],
            candidate: z,
            inside: (energy > self.log_u).into(),
            leaves: 1,
            acceptance,
            diverged: !goes_on,
            goes_on,
        }
    }

    /// Grows a tree of `2^depth` leaves from `z`, forth or back in time.
    fn grow(&self, z: &Point<f64>, forth: bool, depth: u32, rng: &mut Generator) -> Tree {
        if depth == 0 {
            return self.leaf(z.clone(), if forth { self.eps } else { -self.eps });
        }
        let mut tree = self.grow(z, forth, depth - 1, rng);
        if tree.goes_on {
            let end = &mut tree.ends[usize::from(forth)];
            let more = self.grow(end, forth, depth - 1, rng);
            *end = more.ends[usize::from(forth)].clone();
            tree.inside += more.inside;
            tree.leaves += more.leaves;
            tree.acceptance += more.acceptance;
            tree.diverged |= more.diverged;
            if chance(more.inside, tree.inside, rng) {
                tree.candidate = more.candidate;
            }
            tree.goes_on = more.goes_on && !turned(&tree.ends[0], &tree.ends[1]);
        }
        tree
    }
}

/// Moves `z` along one trajectory.
fn trajectory(
    problem: &Problem<'_>,
    moves: &Moves<'_>,
    z: &mut Point<f64>,
    eps: f64,
    rng: &mut Generator,
) -> Draw<f64> {
    let first = Rc::new(kicked(z, rng));
    let start = first.energy();
    let log_u = start + (1.0 - f64::uniform(rng)).ln();
    let given = Given { problem, moves, start, log_u, eps };
    let mut ends = [first.clone(), first];
    let mut inside = 1;
    let mut draw = Draw { q: z.q.clone(), steps: 0, acceptance: 0.0, diverged: false };
    for depth in 0.. {
        let forth = f64::uniform(rng) < 0.5;
        let end = &mut ends[usize::from(forth)];
        let tree = given.grow(end, forth, depth, rng);
        *end = tree.ends[usize::from(forth)].clone();
        if tree.goes_on && chance(tree.inside, inside, rng) {
            z.clone_from(&tree.candidate);
        }
        inside += tree.inside;
        draw.steps += tree.leaves * problem.leaf_steps;
        draw.acceptance = tree.acceptance / f64::from(tree.leaves);
        draw.diverged = tree.diverged;
        if !tree.goes_on || depth + 1 >= problem.max_depth || turned(&ends[0], &ends[1]) {
            break;
        }
    }
    draw.q.assign(&z.q);
    draw
}

/// A step size at which the first step is accepted with a probability of about one half.
fn reasonable_step(moves: &Moves<'_>, start: &Point<f64>, guess: f64) -> f64 {
    let (mut eps, mut direction) = (guess, 0.0);
    loop {
        let mut end = start.clone();
        leapfrog!(moves, &mut end, eps);
        let wanted = if end.energy() - start.energy() > 0.5_f64.ln() { 1.0 } else { -1.0 };
        if direction == -wanted || !(1e-8..1e8).contains(&eps) {
            return eps;
        }
        direction = wanted;
        eps *= f64::exp2(direction);
    }
}

/// Begins to adapt the step size, if that is wanted.
fn begin(moves: &Moves<'_>, z: &Point<f64>, step: &mut StepSize, rng: &mut Generator) {
    if step.is_wanted() {
        step.begin(reasonable_step(moves, &kicked(z, rng), step.current()));
    }
}

/// A chain of trajectories from the state `z`, which ends up where the chain does.
#[autobatch]
pub(crate) fn chain(
    problem: &Problem<'_>,
    z: &mut Point<f64>,
    step: &mut StepSize,
    rng: &mut Generator,
) -> Vec<Draw<f64>> {
    let moves = Moves::of(&*problem.target);
    begin(&moves, z, step, rng);
    let mut draws = Vec::new();
    for _ in 0..problem.trajectories {
        let draw = trajectory(problem, &moves, z, step.current(), rng);
        step.learn(draw.acceptance);
        draws.push(draw);
    }
    draws
}

/// The same without a loop: one block, which does not show that it reaches a primitive.
#[autobatch]
pub(crate) fn chain_of_adaptors(
    problem: &Problem<'_>,
    z: &mut Point<f64>,
    step: &mut StepSize,
    rng: &mut Generator,
) -> Vec<Draw<f64>> {
    let moves = Moves::of(&*problem.target);
    begin(&moves, z, step, rng);
    let one = |_| {
        let draw = trajectory(problem, &moves, z, step.current(), rng);
        step.learn(draw.acceptance);
        draw
    };
    (0..problem.trajectories).map(one).collect()
}
