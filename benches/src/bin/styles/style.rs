//! An algorithm in one style: how it is run and checked, with the states that it leaves.

use std::fmt::Debug;
use std::hint::black_box;

use autobatch::{BatchError, Executor, Options, Outcome};
use autobatch_bench::{Case, Variant};
use rayon::prelude::*;

/// A batched function on all members, each with its state.
pub(crate) type Batched<I, S, R> = fn(&I, &mut [S], &Options) -> Result<Outcome<R>, BatchError>;

/// Results, the states that members leave, and which executor a batched function has run.
type Ran<R, S> = (Vec<R>, Vec<S>, Option<Executor>);

/// An algorithm in one style: inputs `I`, a state `S` per member (`()` if there is none), results `R`.
pub(crate) struct Style<I, S, R> {
    /// The names of the algorithm and of the style.
    pub(crate) name: &'static str,
    /// What the members read.
    pub(crate) inputs: I,
    /// The state that each member begins with: as many as there are members.
    pub(crate) states: Vec<S>,
    /// The scalar function for one member.
    pub(crate) scalar: fn(&I, usize, &mut S) -> R,
    /// The batched function for all members.
    pub(crate) batched: Batched<I, S, R>,
}

/// A [`Style`] of any types, as lists have it.
pub(crate) type AnyStyle = Box<dyn Case>;

/// A style without states, of so many members.
pub(crate) fn stateless<I: Sync + 'static, R: Debug + Send + 'static>(
    name: &'static str,
    inputs: I,
    members: usize,
    scalar: fn(&I, usize, &mut ()) -> R,
    batched: Batched<I, (), R>,
) -> AnyStyle {
    Style { name, inputs, states: vec![(); members], scalar, batched }.any()
}

impl<I, S, R> Style<I, S, R>
where
    I: Sync + 'static,
    S: Clone + Debug + Send + Sync + 'static,
    R: Debug + Send + 'static,
{
    /// The style as an element of a list.
    pub(crate) fn any(self) -> AnyStyle {
        Box::new(self)
    }

    /// The scalar loop, in a function of its own as a user's would be.
    #[inline(never)]
    fn scalar(&self, states: &mut [S]) -> Vec<R> {
        states.iter_mut().enumerate().map(|(i, state)| (self.scalar)(&self.inputs, i, state)).collect()
    }

    /// What the scalar function computes.
    pub(crate) fn values(&self) -> Result<Vec<R>, String> {
        Ok(self.results(&Variant::Scalar)?.0)
    }

    fn results(&self, variant: &Variant<'_>) -> Result<Ran<R, S>, String> {
        let mut states = self.states.clone();
        let (values, executor) = match variant {
            Variant::Scalar => (self.scalar(&mut states), None),
            Variant::Rayon(pool) => {
                let each = |(i, state)| (self.scalar)(&self.inputs, i, state);
                (pool.install(|| states.par_iter_mut().enumerate().map(each).collect()), None)
            }
            Variant::Batched(options) => {
                let outcome = (self.batched)(&self.inputs, &mut states, options);
                let outcome = outcome.map_err(|error| error.to_string())?;
                let executor = outcome.report().executor;
                (outcome.into_values().map_err(|faults| faults.to_string())?, Some(executor))
            }
            Variant::Ispc(..) => return Err(format!("{} has no counterpart in ISPC", self.name)),
        };
        Ok((values, states, executor))
    }
}

impl<I, S, R> Case for Style<I, S, R>
where
    I: Sync + 'static,
    S: Clone + Debug + Send + Sync + 'static,
    R: Debug + Send + 'static,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn has_peer(&self) -> bool {
        false
    }

    fn members(&self) -> usize {
        self.states.len()
    }

    fn run(&self, variant: &Variant<'_>) -> Option<Executor> {
        let results = black_box(self).results(variant);
        let (values, states, executor) = results.expect("the columns have one length and no member fails");
        black_box((values, states));
        executor
    }

    fn check(&self, variants: &[Variant<'_>]) -> Result<(), String> {
        let (values, states, _) = self.results(&Variant::Scalar)?;
        for variant in variants {
            let (found, left, _) = self.results(variant)?;
            if found.len() != values.len() {
                return Err(format!("{}, {variant:?}: {} results", self.name, found.len()));
            }
            for i in 0..values.len() {
                // Two numbers are printed alike if they have the same bits: `Debug` tells -0.0 from 0.0.
                let expected = format!("{:?}, state {:?}", values[i], states[i]);
                let found = format!("{:?}, state {:?}", found[i], left[i]);
                if found != expected {
                    let name = self.name;
                    return Err(format!("{name}, {variant:?}: member {i} is {found} instead of {expected}"));
                }
            }
        }
        Ok(())
    }
}
