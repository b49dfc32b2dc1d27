//! Gangs: lanes that agree recurse together, natively, in registers.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::depth::Depth;
use crate::rooms;
use crate::strip::Strip;

use super::fork::Tower;
use super::loops::Flags;

/// Gangs are worth it while so much of their lanes is on: levels run full strips, at a part of their speed.
const ON: usize = 3;
const OF: usize = 4;
/// The credit that a gang begins with: lanes that are on add to it, lanes that run take from it.
const CREDIT: isize = 64;
/// With so much of it gangs are begun everywhere, with less from this level on: whose gang does not agree runs alone.
const TRIAL: isize = 1024;
const DEEP: usize = 2;

/// What runs an activation of each lane behind its entry region: given the columns, which lanes count, and the depth of
/// its calls; the results.
type Body<'f, S, T, const G: usize> = dyn Fn(&Gang<'_, S, T, G>, &S, &Flags<G>, Depth) -> Strip<T, G> + 'f;

/// A function that gangs run, and how well its lanes agree.
pub struct Gang<'f, S, T, const G: usize> {
    body: &'f Body<'f, S, T, G>,
    /// How well.
    credit: Cell<isize>,
}

/// The type of what would be made.
#[inline(always)]
pub fn kind<S>(_: impl FnOnce() -> S) -> PhantomData<S> {
    PhantomData
}

/// Tells rustc what a body is called with, before it sees the body.
#[inline(always)]
pub fn body<S, T, const G: usize, F>(_: PhantomData<S>, body: F) -> F
where
    F: Fn(&Gang<'_, S, T, G>, &S, &Flags<G>, Depth) -> Strip<T, G>,
{
    body
}

impl<'f, S, T, const G: usize> Gang<'f, S, T, G> {
    /// For a function.
    #[inline(always)]
    pub fn new(body: &'f Body<'f, S, T, G>) -> Self {
        Gang { body, credit: Cell::new(CREDIT) }
    }

    /// Whether lanes agree enough to go on together.
    #[inline(always)]
    pub fn agrees(&self) -> bool {
        self.credit.get() >= 0
    }

    /// Whether a gang shall be begun on a level.
    #[inline(always)]
    pub fn begins(&self, tower: &Tower) -> bool {
        let credit = self.credit.get();
        credit >= TRIAL || (credit >= 0 && tower.level() >= DEEP)
    }

    /// Runs an activation at `depth` for each lane, of which those in `here` count. The others are copies of
    /// some of these.
    #[inline(always)]
    pub fn call(&self, columns: &S, here: &Flags<G>, depth: Depth) -> Strip<T, G> {
        self.credit.set(self.credit.get() + (OF * here.count()) as isize - (ON * G) as isize);
        let below = depth.next();
        if below.stops() {
            return below.elsewhere(|below| (self.body)(self, columns, here, below));
        }
        (self.body)(self, columns, here, below)
    }
}

/// Lanes that are not in `on` become copies of `lane`.
#[inline(always)]
pub fn fill<T, const G: usize>(strip: &mut Strip<T, G>, on: &Flags<G>, lane: usize) {
    let value = rooms::bits(&strip.lanes()[lane]);
    for (lane, slot) in strip.lanes_mut().iter_mut().enumerate() {
        let (old, new) = (rooms::bits(slot), rooms::bits(&value));
        *slot = if on.is_set(lane) { old } else { new };
    }
}

/// The results of the lanes in `here`, each run as scalar code; the others get copies.
#[cold]
#[inline(never)]
pub fn alone<A, T, const G: usize>(
    args: &A,
    here: &Flags<G>,
    mut run: impl FnMut(&A, usize) -> T,
) -> Strip<T, G> {
    let mut results = Strip::new();
    for lane in (0..G).filter(|lane| here.is_set(*lane)) {
        results.lanes_mut()[lane].write(run(args, lane));
    }
    fill(&mut results, here, here.first());
    results
}

/// The lanes in `on` get what `from` has.
#[inline(always)]
pub fn merge<T, const G: usize>(strip: &mut Strip<T, G>, from: &Strip<T, G>, on: &Flags<G>) {
    for (lane, slot) in strip.lanes_mut().iter_mut().enumerate() {
        let (old, new) = (rooms::bits(slot), rooms::bits(&from.lanes()[lane]));
        *slot = if on.is_set(lane) { new } else { old };
    }
}

/// The bits of a part of a strip.
#[inline(always)]
pub fn bits<const G: usize>(part: usize) -> u64 {
    (!0 >> (64 - G)) << (part * G)
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::*;

    fn strip(values: [u64; 8]) -> Strip<u64, 8> {
        Strip::copied(&values.map(MaybeUninit::new))
    }

    fn values(strip: &Strip<u64, 8>) -> Vec<u64> {
        // SAFETY: the tests fill what they read.
        strip.lanes().iter().map(|slot| unsafe { slot.assume_init() }).collect()
    }

    fn flags(on: [u32; 8]) -> Flags<8> {
        let mut flags = Flags::new();
        on.iter().enumerate().for_each(|(lane, on)| flags.put(lane, *on, 1));
        flags
    }

    #[test]
    fn lanes_are_filled_merged_and_run_alone() {
        let here = flags([0, 0, 1, 1, 0, 1, 0, 0]);
        assert_eq!((here.first(), here.count(), here.any(), here.is_full()), (2, 3, true, false));
        let mut filled = strip([0, 1, 2, 3, 4, 5, 6, 7]);
        fill(&mut filled, &here, 3);
        assert_eq!(values(&filled), [3, 3, 2, 3, 3, 5, 3, 3]);
        merge(&mut filled, &strip([10, 11, 12, 13, 14, 15, 16, 17]), &here);
        assert_eq!(values(&filled), [3, 3, 12, 13, 3, 15, 3, 3]);
        merge(&mut filled, &strip([9; 8]), &Flags::full());
        assert_eq!(values(&filled), [9; 8]);
        let mut run = Vec::new();
        let results = alone(&7, &here, |seven, lane| {
            run.push(lane);
            seven * lane as u64
        });
        assert_eq!((values(&results), run), (vec![14, 14, 14, 21, 14, 35, 14, 14], vec![2, 3, 5]));
        let both = here.and(&flags([1, 1, 0, 0, 1, 1, 1, 1]));
        assert_eq!((both.first(), both.count()), (5, 1));
    }

    /// The levels that lanes `n` have below them, together and alone.
    #[test]
    fn gangs_count_who_is_on() {
        let body = body(PhantomData::<Strip<u64, 8>>, |gang, n, here, depth| {
            let mut up = Flags::<8>::new();
            let mut next = [MaybeUninit::new(0u64); 8];
            for (lane, n) in values(n).into_iter().enumerate() {
                up.put(lane, u32::from(n > 0), 1);
                next[lane].write(n.saturating_sub(1));
            }
            let mut results = strip([0; 8]);
            if up.any() {
                let (live, mut next) = (up.and(here), Strip::copied(&next));
                fill(&mut next, &up, live.first());
                let below = gang.call(&next, &live, depth);
                let below =
                    Strip::copied(&std::array::from_fn(|lane| MaybeUninit::new(values(&below)[lane] + 1)));
                merge(&mut results, &below, &up);
            }
            results
        });
        let depth = Depth::root(1000);
        for (n, on, agrees) in [([40; 8], 8, true), ([300, 0, 0, 0, 0, 0, 0, 0], 1, false)] {
            let gang = Gang::new(&body);
            assert!(gang.agrees());
            assert_eq!(values(&gang.call(&strip(n), &Flags::full(), depth)), n);
            assert_eq!(gang.agrees(), agrees);
            let below = n[0] as isize * (4 * on - 3 * 8);
            assert_eq!(gang.credit.get(), CREDIT + 8 + below);
        }
        let mut tower = Tower::new::<32>(depth, 5, 2, &[8]);
        let gang = Gang::new(&body);
        assert!(!gang.begins(&tower));
        tower.grows::<32>();
        tower.enter(5);
        tower.grows::<32>();
        tower.enter(5);
        assert!(gang.begins(&tower));
        gang.credit.set(-1);
        assert!(!gang.begins(&tower));
        let tower = Tower::new::<32>(depth, 5, 2, &[8]);
        gang.credit.set(TRIAL - 1);
        assert!(!gang.begins(&tower));
        gang.credit.set(TRIAL);
        assert!(gang.begins(&tower));
    }
}
