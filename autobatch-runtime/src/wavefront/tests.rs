use std::cell::Cell;
use std::mem::MaybeUninit;

use super::frame_stack::FrameStack;
use super::scheduler::{Load, ROOT};
use super::*;
use crate::api::options::Schedule;
use crate::batch::Numbering;
use crate::native_stack::depth::{Depth, TooDeep};
use crate::simd::{Isa, Level};
use crate::storage::Strip;
use crate::vector::{Arena, Memory, Tile, WavefrontRules, copy_slot};

const W: usize = 32;

fn levels() -> [Level; 3] {
    [Isa::Baseline, Isa::Avx2, Isa::Avx512].map(Level::new)
}

fn value<T>(slot: &MaybeUninit<T>) -> T {
    // SAFETY: tests look only at what they have written.
    unsafe { slot.assume_init_read() }
}

/// What a tile begins with, for `members` members.
fn with_wavefront(
    rules: WavefrontRules<'_>,
    members: usize,
    depth: usize,
    level: Level,
    run: impl for<'a> FnOnce(Wavefront<'a, '_>, &mut Arena<'a>),
) {
    let mut memory = Memory::default();
    let depth = Depth::root(depth);
    let mut tile = Tile {
        memory: &mut memory,
        members: 100..100 + members,
        numbering: Numbering::default(),
        depth,
        level,
        pulse: None,
        rules: Some(rules),
    };
    let begin = tile.begin().unwrap();
    let mut arena = tile.arena();
    run(Wavefront::new(&mut arena, begin, 1), &mut arena);
}

/// By hand what generated code does for this function.
fn lopsided(n: u64) -> u64 {
    if n < 2 { n } else { 2 * lopsided(n - 1) + lopsided(n / 4) }
}

/// Queues: members that begin, behind the first call, behind the second; sites 1 and 2.
fn in_queues(rules: WavefrontRules<'_>, numbers: &[u64], depth: usize, level: Level) -> Vec<Option<u64>> {
    let mut results = vec![None; numbers.len()];
    with_wavefront(rules, numbers.len(), depth, level, |mut wavefront, arena| {
        let (first, second) = (SavedFrame::new(), SavedFrame::new());
        let size = first.size().max(second.size());
        let mut stack = wavefront.stack(arena, size);
        let mut queues = [0; 3].map(|_| wavefront.queue::<W>(arena));
        let [n0, n1, left1, left2, right2] = [0; 5].map(|_| wavefront.column::<u64, W>(arena));
        loop {
            if let Some(load) = wavefront.load(&mut queues[0]) {
                let members = &numbers[load.member - 100..][..load.len];
                let slots = n0[load.first..][..load.len].iter_mut();
                slots.zip(members).for_each(|(slot, n)| _ = slot.write(*n));
            }
            if wavefront.is_low() {
                wavefront.grow(arena, &mut stack);
            }
            let Some(next) = wavefront.next(&[queues[0].len(), queues[1].len(), queues[2].len()]) else {
                break;
            };
            let step = queues[next].take::<W>();
            if step.is_short::<W>() {
                match next {
                    0 => step.pad::<_, W>(n0),
                    1 => (step.pad::<_, W>(n1), step.pad::<_, W>(left1)).1,
                    _ => (step.pad::<_, W>(left2), step.pad::<_, W>(right2)).1,
                }
            }
            for strip in 0..step.strips::<W>() {
                let (at, here) = (step.first::<W>(strip), step.bits::<W>(strip));
                let keys = queues[next].keys::<W>(at);
                if next < 2 {
                    let n = Strip::<_, W>::of(if next == 0 { &*n0 } else { &*n1 }, at);
                    let left = Strip::<_, W>::of(left1, at);
                    let number = |lane: usize| value(&n.lanes()[lane]);
                    let is_leaf = (0..W).map(|lane| u64::from(number(lane) < 2) << lane).sum::<u64>() & here;
                    let mut leaf = Strip::<u64, W>::new();
                    (0..W).for_each(|lane| _ = leaf.lanes_mut()[lane].write(number(lane)));
                    if next == 0 {
                        // A call's entry: leaves return, the others call with one less.
                        back(
                            &mut wavefront,
                            &mut stack,
                            size,
                            &mut queues,
                            (&first, &second),
                            [&mut *n1, left1, left2, right2],
                            &leaf,
                            &keys,
                            is_leaf,
                            level,
                            &mut results,
                        );
                        let on = here & !is_leaf;
                        wavefront.check(&keys);
                        let up = keys.callee(&wavefront, 1);
                        first.save(&mut stack, size, (&keys, &up), on, |lane| copy_slot(&n.lanes()[lane]));
                        let mut less = Strip::<u64, W>::new();
                        (0..W)
                            .for_each(|lane| _ = less.lanes_mut()[lane].write(number(lane).wrapping_sub(1)));
                        put(n0, &queues[0], less.lanes(), on, level);
                        queues[0].enter(&up, on, level);
                    } else {
                        wavefront.check(&keys);
                        let up = keys.callee(&wavefront, 2);
                        second.save(&mut stack, size, (&keys, &up), here, |lane| {
                            copy_slot(&left.lanes()[lane])
                        });
                        let mut less = Strip::<u64, W>::new();
                        (0..W).for_each(|lane| _ = less.lanes_mut()[lane].write(number(lane) / 4));
                        put(n0, &queues[0], less.lanes(), here, level);
                        queues[0].enter(&up, here, level);
                    }
                } else {
                    let (left, right) = (Strip::<_, W>::of(left2, at), Strip::<_, W>::of(right2, at));
                    let mut sum = Strip::<u64, W>::new();
                    for lane in 0..W {
                        sum.lanes_mut()[lane]
                            .write(2 * value(&left.lanes()[lane]) + value(&right.lanes()[lane]));
                    }
                    back(
                        &mut wavefront,
                        &mut stack,
                        size,
                        &mut queues,
                        (&first, &second),
                        [&mut *n1, left1, left2, right2],
                        &sum,
                        &keys,
                        here,
                        level,
                        &mut results,
                    );
                }
            }
        }
    });
    results
}

/// Records return with a result.
#[allow(clippy::too_many_arguments)]
fn back(
    wavefront: &mut Wavefront<'_, '_>,
    stack: &mut FrameStack<'_>,
    size: usize,
    queues: &mut [ContinuationQueue<'_>; 3],
    (first, second): (&SavedFrame<MaybeUninit<u64>>, &SavedFrame<MaybeUninit<u64>>),
    [n1, left1, left2, right2]: [&mut [MaybeUninit<u64>]; 4],
    result: &Strip<u64, W>,
    keys: &Keys<W>,
    here: u64,
    level: Level,
    results: &mut [Option<u64>],
) {
    let sites = keys.sites();
    let one = sites.of(1, here, level);
    put(left1, &queues[1], result.lanes(), one, level);
    first.fetch(stack, size, keys, one, &mut queues[1], level, |at, n| put_one(n1, at, n));
    let two = sites.of(2, here, level);
    put(right2, &queues[2], result.lanes(), two, level);
    second.fetch(stack, size, keys, two, &mut queues[2], level, |at, left| put_one(left2, at, left));
    wavefront.finish(keys, sites.of(ROOT, here, level), |lane, member| {
        assert!(results[member - 100].replace(value(&result.lanes()[lane])).is_none(), "one result each");
    });
}

#[test]
fn records_meet_and_part() {
    // Deeper than the stack is at first.
    let numbers: Vec<u64> = (0..700).map(|member| if member == 300 { 22 } else { member * 7 % 13 }).collect();
    let want: Vec<Option<u64>> = numbers.iter().map(|n| Some(lopsided(*n))).collect();
    let loaded = Cell::new(0);
    for level in levels() {
        for schedule in [Schedule::MostLanes, Schedule::EarliestBlock] {
            for (lanes, refill) in
                [(None, true), (Some(1), true), (Some(33), true), (Some(64), false), (Some(5000), true)]
            {
                let rules = WavefrontRules { lanes, schedule, refill, loaded: &loaded };
                assert_eq!(in_queues(rules, &numbers, 1000, level), want, "{level:?} {schedule:?} {lanes:?}");
                assert_eq!(loaded.get(), 800);
            }
        }
    }
}

#[test]
fn who_goes_too_deep_ends_the_tile() {
    let loaded = Cell::new(0);
    let rules =
        WavefrontRules { lanes: Some(32), schedule: Schedule::MostLanes, refill: true, loaded: &loaded };
    for level in levels() {
        // `lopsided(n)` is n - 1 calls deep; here records are checked before they know whether they call.
        for (deepest, limit, ends) in [(5, 5, false), (5, 3, true), (22, 22, false), (22, 20, true)] {
            let mut numbers = vec![2; 200];
            numbers[40] = deepest;
            let run = || in_queues(rules, &numbers, limit, level);
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            match caught {
                Ok(results) => assert!(!ends && results.iter().all(Option::is_some), "{deepest} {limit}"),
                Err(payload) => {
                    assert!(ends && payload.is::<TooDeep>(), "{deepest} {limit}");
                    // Who has not been loaded runs on without who was lost.
                    assert!((141..=300).contains(&loaded.get()), "{}", loaded.get());
                }
            }
        }
    }
}

#[test]
fn short_steps_are_padded() {
    let loaded = Cell::new(0);
    let rules =
        WavefrontRules { lanes: Some(64), schedule: Schedule::MostLanes, refill: true, loaded: &loaded };
    with_wavefront(rules, 64, 10, Level::new(Isa::Baseline), |mut wavefront, arena| {
        let (mut queue, column) = (wavefront.queue::<W>(arena), wavefront.column::<u16, W>(arena));
        let load = wavefront.load(&mut queue).unwrap();
        assert_eq!(
            (load, wavefront.load(&mut queue)),
            (Load { numbering: Numbering::default(), member: 100, first: 0, len: 64 }, None)
        );
        (0..64).for_each(|at| _ = column[at].write(at as u16));
        queue.len = 40;
        let step = queue.take::<W>();
        // Whole strips from behind; what is left stays where it is.
        assert_eq!((step, queue.len(), step.is_short::<W>()), (Wave { first: 8, len: 32 }, 8, false));
        assert_eq!((step.strips::<W>(), step.bits::<W>(0)), (1, 0xffff_ffff));
        assert_eq!(
            Strip::<_, W>::of(column, step.first::<W>(0)).lanes().each_ref().map(value),
            std::array::from_fn(|lane| lane as u16 + 8)
        );
        let step = queue.take::<W>();
        assert_eq!((step, queue.len(), step.bits::<W>(0)), (Wave { first: 0, len: 8 }, 0, 0xff));
        step.pad::<_, W>(column);
        assert_eq!(
            Strip::<_, W>::of(column, 0).lanes().each_ref().map(value),
            std::array::from_fn(|lane| lane.min(7) as u16)
        );
        assert_eq!(queue.keys::<W>(0).0.0[8..], [queue.keys::<W>(0).0.0[7]; 24]);
    });
}
