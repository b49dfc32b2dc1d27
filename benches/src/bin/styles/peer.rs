//! A style that has a counterpart in ISPC (`ispc/styles.ispc`).

use std::fmt::Debug;
use std::hint::black_box;

use autobatch::Executor;
use autobatch_bench::ispc::{self, Target};
use autobatch_bench::{Agreement, Case, Value, Variant};

use rayon::ThreadPool;

use crate::style::{AnyStyle, Batched, Style};

/// The function in ISPC, for as many members from the given one on as there are places for results.
pub(crate) type Peer<I, R> = fn(&I, Target, usize, &mut [R]);

/// A style and its counterpart.
struct Compared<I, S, R> {
    style: Style<I, S, R>,
    /// How the counterpart's results agree with the scalar function's.
    agreement: Agreement,
    peer: Peer<I, R>,
}

impl<I, S, R> Style<I, S, R>
where
    I: Sync + 'static,
    S: Clone + Debug + Send + Sync + 'static,
    R: Value,
{
    /// The style with a counterpart in ISPC, whose results agree as said.
    pub(crate) fn against(self, agreement: Agreement, peer: Peer<I, R>) -> AnyStyle {
        Box::new(Compared { style: self, agreement, peer })
    }
}

/// A style without states that has a counterpart in ISPC.
pub(crate) fn stateless_against<I: Sync + 'static, R: Value>(
    name: &'static str,
    inputs: I,
    members: usize,
    scalar: fn(&I, usize, &mut ()) -> R,
    batched: Batched<I, (), R>,
    agreement: Agreement,
    peer: Peer<I, R>,
) -> AnyStyle {
    Style { name, inputs, states: vec![(); members], scalar, batched }.against(agreement, peer)
}

impl<I: Sync, S, R: Value> Compared<I, S, R> {
    fn results(&self, target: Target, pool: Option<&ThreadPool>) -> Vec<R> {
        let Compared { style: Style { inputs, states, .. }, peer, .. } = self;
        ispc::results(states.len(), pool, |first, out| peer(inputs, target, first, out))
    }
}

impl<I, S, R> Case for Compared<I, S, R>
where
    I: Sync + 'static,
    S: Clone + Debug + Send + Sync + 'static,
    R: Value,
{
    fn name(&self) -> &'static str {
        self.style.name()
    }

    fn members(&self) -> usize {
        self.style.members()
    }

    fn run(&self, variant: &Variant<'_>) -> Option<Executor> {
        let Variant::Ispc(target, pool) = variant else { return self.style.run(variant) };
        black_box(black_box(self).results(*target, *pool));
        None
    }

    fn check(&self, variants: &[Variant<'_>]) -> Result<(), String> {
        let expected = self.style.values()?;
        for variant in variants {
            let Variant::Ispc(target, pool) = variant else {
                self.style.check(std::slice::from_ref(variant))?;
                continue;
            };
            let agrees = self.agreement.check(&expected, &self.results(*target, *pool));
            agrees.map_err(|error| format!("{}, {variant:?}: {error}", self.name()))?;
        }
        Ok(())
    }
}

/// Lists that members have of their own, as ISPC takes them.
pub(crate) struct Rows {
    pub(crate) elements: Vec<u8>,
    pub(crate) starts: Vec<u32>,
    pub(crate) lengths: Vec<u32>,
}

impl Rows {
    pub(crate) fn of(lists: &[Vec<u8>]) -> Rows {
        let lengths: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
        let begin = |next: &mut u32, length: &u32| {
            *next += length;
            Some(*next - length)
        };
        Rows { elements: lists.concat(), starts: lengths.iter().scan(0, begin).collect(), lengths }
    }
}
