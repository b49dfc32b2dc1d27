//! A style that has a counterpart in ISPC (`ispc/styles.ispc`).

use std::fmt::Debug;
use std::hint::black_box;

use autobatch::Executor;
use autobatch_bench::ispc::Target;
use autobatch_bench::{Agreement, Case, Value, Variant};

use crate::style::Style;

/// The function in ISPC, for as many members from the given one on as there are places for results.
pub(crate) type Peer<I, R> = fn(&I, Target, usize, &mut [R]);

/// A style and its counterpart.
pub(crate) struct Compared<I, S, R> {
    pub(crate) style: Style<I, S, R>,
    /// How the counterpart's results agree with the scalar function's.
    pub(crate) agreement: Agreement,
    pub(crate) peer: Peer<I, R>,
}

impl<I, S, R: Value> Compared<I, S, R> {
    fn results(&self, target: Target) -> Vec<R> {
        let mut out = vec![R::default(); self.style.states.len()];
        (self.peer)(&self.style.inputs, target, 0, &mut out);
        out
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
        let Variant::Ispc(target, _) = variant else { return self.style.run(variant) };
        black_box(black_box(self).results(*target));
        None
    }

    fn check(&self, variants: &[Variant<'_>]) -> Result<(), String> {
        let (peers, own): (Vec<_>, Vec<_>) =
            variants.iter().cloned().partition(|variant| matches!(variant, Variant::Ispc(..)));
        self.style.check(&own)?;
        let expected = self.style.values()?;
        for variant in peers {
            let Variant::Ispc(target, _) = variant else { continue };
            let agrees = self.agreement.check(&expected, &self.results(target));
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
