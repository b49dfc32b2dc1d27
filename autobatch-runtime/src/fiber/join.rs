//! `join`: two parts of one member side by side.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::worker::with_worker;

/// Runs two parts of a member side by side, and returns what both yield.
///
/// Where members of a batch run on fibers, `b` gets a fiber of its own: a batched primitive in `a` and one in `b` wait for each other,
/// and for those of other members. A balanced tree of `join`s makes one call of the kernel for each of its levels. Everywhere
/// else `a` runs first, then `b`, on the spot.
///
/// Both run on the thread that calls this, in turns that change at primitives only, so neither has to be `Send`. If `a` panics, `b` is
/// dropped, or unwinds where it waits; if only `b` panics, `a` is run to its end. Then the panic goes on.
///
/// ```
/// let (words, letters) = autobatch::join(|| "a b".split(' ').count(), || "a b".len());
/// assert_eq!((words, letters), (2, 3));
/// ```
///
/// Primitives that meet in a tree of `join`s:
///
/// ```
/// # use autobatch::{autobatch, primitive};
/// enum Tree {
///     Leaf(f64),
///     Node(Box<Tree>, Box<Tree>),
/// }
///
/// #[primitive(batched = cells)]
/// fn cell(left: f64, right: f64) -> f64 {
///     (0.5 * left - 0.25 * right).tanh()
/// }
///
/// fn cells(left: &[f64], right: &[f64]) -> Vec<f64> {
///     left.iter().zip(right).map(|(left, right)| cell(*left, *right)).collect()
/// }
///
/// /// A recursive network: one call of `cells` for each level, of the trees of all members.
/// #[autobatch]
/// fn network(#[each] tree: &Tree) -> f64 {
///     match tree {
///         Tree::Leaf(x) => cell(*x, 1.0),
///         Tree::Node(left, right) => {
///             let (left, right) = autobatch::join(|| network(left), || network(right));
///             cell(left, right)
///         }
///     }
/// }
///
/// let leaf = |x| Box::new(Tree::Leaf(x));
/// let trees = [Tree::Node(leaf(0.5), leaf(-2.0)), Tree::Leaf(3.0)];
/// assert_eq!(network_batched(&trees), trees.iter().map(network).collect::<Vec<_>>());
/// ```
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB,
{
    let (mut a, mut b, mut second) = (Some(a), Some(b), None);
    let mut work = || second = b.take().map(|b| catch_unwind(AssertUnwindSafe(b)));
    let first = with_worker(|worker| {
        let (worker, fiber) = worker.and_then(|worker| Some((worker, worker.forks()?)))?;
        // SAFETY: the child is dropped where this closure is left, in whatever way; `work` and what it borrows live on behind it.
        let child = unsafe { worker.spawn(&fiber, &mut work) }?;
        let first = catch_unwind(AssertUnwindSafe(a.take()?));
        if first.is_ok() {
            child.wait_in(&fiber);
        }
        Some(first)
    });
    match (first, second) {
        (Some(Ok(first)), Some(Ok(second))) => (first, second),
        (Some(Err(payload)), _) | (_, Some(Err(payload))) => resume_unwind(payload),
        (first, None) => match (first, a, b) {
            (None, Some(a), Some(b)) => (a(), b()),
            _ => unreachable!("both parts have run, or neither"),
        },
        (None, Some(Ok(_))) => unreachable!("the second part runs where the first has begun"),
    }
}
