//! The sampler unfused, as TensorFlow runs it eagerly: each operation on vectors is a batched kernel of its own, which
//! gathers its operands for all chains that are there.
//!
//! Numbers are added in the order of [`Nuts::chain`](autobatch_nuts::Nuts::chain), so chains agree as far as the kernel of the
//! gradient rounds alike.

use std::sync::Arc;

use autobatch::autobatch;
use autobatch_nuts::density::gradient;
use autobatch_nuts::{Draw, Generator, Nuts, Point, Real};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Zip};

/// `x + time * v`.
#[autobatch::primitive(batched = advance_all)]
fn advance<T: Real>(x: &mut Array1<T>, time: T, v: &Array1<T>) {
    x.scaled_add(time, v);
}

fn advance_all<T: Real>(mut x: ArrayViewMut2<'_, T>, time: &[T], v: ArrayView2<'_, T>) -> Vec<()> {
    Zip::from(x.rows_mut()).and(v.rows()).and(time).for_each(|mut x, v, &time| x.scaled_add(time, &v));
    vec![(); time.len()]
}

/// The product of `p` with itself.
#[autobatch::primitive(batched = squares)]
fn square<T: Real>(p: &Array1<T>) -> T {
    p.dot(p)
}

fn squares<T: Real>(p: ArrayView2<'_, T>) -> Vec<T> {
    p.rows().into_iter().map(|p| p.dot(&p)).collect()
}

/// The way from `back` to `front`.
#[autobatch::primitive(batched = ways)]
fn way<T: Real>(back: &Array1<T>, front: &Array1<T>) -> Array1<T> {
    front - back
}

fn ways<T: Real>(back: ArrayView2<'_, T>, front: ArrayView2<'_, T>) -> Array2<T> {
    &front - &back
}

/// How far `p` goes along `way`.
#[autobatch::primitive(batched = along_all)]
fn along<T: Real>(way: &Array1<T>, p: &Array1<T>) -> T {
    way.iter().zip(p).fold(T::zero(), |sum, (&way, &p)| sum + way * p)
}

fn along_all<T: Real>(way: ArrayView2<'_, T>, p: ArrayView2<'_, T>) -> Vec<T> {
    let row = |way: ndarray::ArrayView1<'_, T>, p: ndarray::ArrayView1<'_, T>| {
        way.iter().zip(p).fold(T::zero(), |sum, (&way, &p)| sum + way * p)
    };
    way.rows().into_iter().zip(p.rows()).map(|(way, p)| row(way, p)).collect()
}

/// A part of a trajectory.
#[derive(Clone)]
struct Tree<T> {
    back: Arc<Point<T>>,
    front: Arc<Point<T>>,
    candidate: Arc<Point<T>>,
    /// Points in the slice, and all.
    inside: u32,
    leaves: u32,
    acceptance: f64,
    diverged: bool,
    goes_on: bool,
}

/// Its points are of another crate, so it has to be said.
impl<T: Real> autobatch::IsWhole for Tree<T> {}

impl<T: Real> Tree<T> {
    /// A leaf of this energy, where the trajectory began with the energy `start` and its slice with `log_u`.
    fn leaf(z: Point<T>, energy: T, start: T, log_u: T) -> Self {
        let goes_on = energy > log_u - T::of(1000.0);
        let acceptance = match energy.partial_cmp(&start) {
            Some(order) if order.is_ge() => 1.0,
            Some(_) => (energy - start).double().exp(),
            None => 0.0,
        };
        let z = Arc::new(z);
        let inside = u32::from(energy > log_u);
        let [back, front] = [z.clone(), z.clone()];
        Tree { back, front, candidate: z, inside, leaves: 1, acceptance, diverged: !goes_on, goes_on }
    }
}

/// The same position with a random momentum.
fn kicked<T: Real>(z: &Point<T>, rng: &mut Generator) -> Point<T> {
    Point { p: z.q.iter().map(|_| T::normal(rng)).collect(), ..z.clone() }
}

/// True with probability `part / whole`.
fn chance(part: u32, whole: u32, rng: &mut Generator) -> bool {
    f64::uniform(rng) * f64::from(whole) < f64::from(part)
}

/// The sampler of the crate, unfused.
#[derive(Clone)]
pub(crate) struct Unfused<'m, T>(pub(crate) Nuts<'m, T>);

#[autobatch(strict, primitives(gradient))]
impl<'m, T: Real> Unfused<'m, T> {
    /// Moves `z` along one trajectory.
    pub(crate) fn trajectory(&self, z: &mut Arc<Point<T>>, eps: T, rng: &mut Generator) -> Draw<T> {
        let first: Arc<Point<T>> = Arc::new(kicked(z, rng));
        let kinetic: T = square(&first.p);
        let start = first.lp - kinetic / T::of(2.0);
        let log_u = start + (T::one() - T::uniform(rng)).ln();

        let mut back: Arc<Point<T>> = first.clone();
        let mut front: Arc<Point<T>> = first;
        let (mut inside, mut depth, mut goes_on) = (1, 0, true);
        let (mut steps, mut acceptance, mut diverged) = (0, 0.0, false);
        while goes_on {
            let forth = f64::uniform(rng) < 0.5;
            let (end, time) = if forth { (front.clone(), eps) } else { (back.clone(), -eps) };
            let tree: Tree<T> = self.build(end, time, depth, start, log_u, rng);
            if forth {
                front = tree.front.clone();
            } else {
                back = tree.back.clone();
            }
            if tree.goes_on && chance(tree.inside, inside, rng) {
                *z = tree.candidate.clone();
            }
            inside += tree.inside;
            steps += tree.leaves * self.0.leaf_steps;
            acceptance = tree.acceptance / f64::from(tree.leaves);
            diverged = tree.diverged;
            depth += 1;
            goes_on = tree.goes_on && depth < self.0.max_depth && !self.turned(back.clone(), front.clone());
        }
        Draw { q: z.q.clone(), steps, acceptance, diverged }
    }

    /// Follows the trajectory from `end` for `2^depth` leaves.
    fn build(
        &self,
        end: Arc<Point<T>>,
        time: T,
        depth: u32,
        start: T,
        log_u: T,
        rng: &mut Generator,
    ) -> Tree<T> {
        if depth == 0 {
            let mut z: Point<T> = Arc::unwrap_or_clone(end);
            for _ in 0..self.0.leaf_steps {
                advance(&mut z.p, time / T::of(2.0), &z.grad);
                advance(&mut z.q, time, &z.p);
                z.lp = gradient(&self.0.density, &z.q, &mut z.grad);
                advance(&mut z.p, time / T::of(2.0), &z.grad);
            }
            let kinetic: T = square(&z.p);
            let energy = z.lp - kinetic / T::of(2.0);
            return Tree::leaf(z, energy, start, log_u);
        }
        let mut tree: Tree<T> = self.build(end, time, depth - 1, start, log_u, rng);
        if tree.goes_on {
            let end = if time < T::zero() { tree.back.clone() } else { tree.front.clone() };
            let more: Tree<T> = self.build(end, time, depth - 1, start, log_u, rng);
            if time < T::zero() {
                tree.back = more.back.clone();
            } else {
                tree.front = more.front.clone();
            }
            tree.inside += more.inside;
            tree.leaves += more.leaves;
            tree.acceptance += more.acceptance;
            tree.diverged |= more.diverged;
            if chance(more.inside, tree.inside, rng) {
                tree.candidate = more.candidate.clone();
            }
            tree.goes_on = more.goes_on && !self.turned(tree.back.clone(), tree.front.clone());
        }
        tree
    }

    /// Whether a trajectory from `back` to `front` has begun to turn round at either end.
    fn turned(&self, back: Arc<Point<T>>, front: Arc<Point<T>>) -> bool {
        let line: Array1<T> = way(&back.q, &front.q);
        let at_back: T = along(&line, &back.p);
        let at_front: T = along(&line, &front.p);
        !(at_back > T::zero() && at_front > T::zero())
    }
}

#[cfg(test)]
mod tests {
    use autobatch::{Executor, Options, Schedule};
    use autobatch_nuts::models::EightSchools;
    use autobatch_nuts::{Chains, StepSize};

    use super::*;

    /// The kernels of the unfused form are many, and its chains are those of the sampler, bit for bit.
    #[test]
    fn unfused_chains_are_the_samplers() {
        let program = Unfused::<f64>::trajectory_batched_program();
        assert_eq!(program.blocks.iter().filter(|block| block.primitive).count(), 9, "{program}");

        let model = EightSchools::<f64>::new();
        let mut chains = Chains::new(&model, 19, 3, 0.8);
        chains.steps.fill(StepSize::fixed(0.15));
        let nuts = Unfused(chains.nuts.clone());
        let start = chains.clone();
        let want: Vec<_> = chains.run_scalar(1).into_iter().flatten().collect();
        let counter = || Options::default().executor(Executor::ProgramCounter);
        for options in [
            Options::default(),
            Options::default().executor(Executor::Scalar),
            Options::default().executor(Executor::Masked),
            counter().schedule(Schedule::MostLanes),
            counter().schedule(Schedule::EarliestBlock).lanes(7).threads(1),
        ] {
            let (mut states, mut generators) = (start.states.clone(), start.generators.clone());
            let eps = autobatch::same(0.15);
            let outcome = nuts.trajectory_batched_with(&mut states, eps, &mut generators, &options);
            assert_eq!(outcome.unwrap().into_values().unwrap(), want, "{options:?}");
            assert_eq!(
                (states, generators),
                (chains.states.clone(), chains.generators.clone()),
                "{options:?}"
            );
        }
    }
}
