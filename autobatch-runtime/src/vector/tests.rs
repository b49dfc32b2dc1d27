use std::mem::MaybeUninit;

use super::*;
use crate::api::column::Column;
use crate::probes::type_id::{is_plain, shown, yields_plain};
use crate::simd::{Isa, Level};
use crate::storage::{PlainStores, Slots, next};

fn read<T: Copy>(column: &[MaybeUninit<T>]) -> Vec<T> {
    // SAFETY: the tests fill what they read.
    column.iter().map(|slot| unsafe { slot.assume_init() }).collect()
}

/// A column with these values and pads.
fn loaded<'a>(arena: &mut Arena<'a>, values: &[u64], lanes: usize) -> &'a mut [MaybeUninit<u64>] {
    let column = arena.column(lanes);
    for (slot, value) in column.iter_mut().zip(values) {
        slot.write(*value);
    }
    pad(column, values.len());
    column
}

const ALL: [Isa; 3] = [Isa::Baseline, Isa::Avx2, Isa::Avx512];

#[test]
fn dense_frames_hold_the_lanes_kept_and_pads() {
    for isa in ALL {
        let mut memory = Memory::default();
        let mut arena = memory.arena(Level::new(isa));
        for keep in [1usize, 2, 3, 7, 64] {
            let values: Vec<u64> = (0..100).map(|i| i * i).collect();
            let column = loaded(&mut arena, &values, 128);
            assert_eq!(read(column)[99..], [99 * 99; 29]);
            let mut kept = arena.set(128, 100);
            (0..100).step_by(keep).for_each(|lane| kept.insert(lane));
            let count = kept.trim();
            let lanes = width::<32>(count);
            let dense = gather(&mut arena, column, &kept, lanes, count);
            let want: Vec<u64> = values.iter().copied().step_by(keep).collect();
            assert_eq!(read(&dense[..count]), want);
            assert!(read(&dense[count..]).iter().all(|value| Some(value) == want.last()));
            let out = load_same(&mut arena, 7u64, 128);
            scatter(out, dense, &kept, &arena);
            let out = read(out);
            for (lane, value) in out.iter().enumerate() {
                let source = lane.min(99);
                assert_eq!(*value, if source % keep == 0 { values[source] } else { 7 });
            }
        }
    }
}

#[test]
fn full_columns_stay_where_they_are() {
    let values: Vec<u64> = (0..256).map(|i| i * i).collect();
    let mut memory = Memory::default();
    let mut arena = memory.arena(Level::new(Isa::Baseline));
    let source = Column::<u64>::into_source(&values, "x").unwrap();
    for (first, len, lanes) in [(0, 128, 128), (100, 128, 128), (100, 100, 128), (155, 101, 128)] {
        let column = load(&mut arena, &source, Members::new(first, len), lanes);
        assert_eq!(column.as_ptr().cast() == values[first..].as_ptr(), len == lanes);
        assert_eq!(read(&column[..len]), values[first..first + len]);
        assert!(read(&column[len..]).iter().all(|value| *value == values[first + len - 1]));
    }
    let owned = Column::<u64>::into_source(values.clone(), "x").unwrap();
    let column = load(&mut arena, &owned, Members::new(0, 128), 128);
    assert_eq!(read(column), values[..128]);
}

/// Counts down from `n` in a loop, for all lanes or but for every third; how many rounds each has run.
fn countdown(isa: Isa, n: &[u64], several_ways_out: bool, all: bool) -> Vec<u64> {
    const W: usize = 32;
    let mut memory = Memory::default();
    let level = Level::new(isa);
    let mut arena = memory.arena(level);
    let lanes = width::<W>(n.len());
    let column = loaded(&mut arena, n, lanes);
    let (results, counts) = (load_same(&mut arena, 0u64, lanes), load_same(&mut arena, 0u64, lanes));
    let (mut set, mut out) = (arena.set(lanes, n.len()), arena.set(lanes, n.len()));
    (0..n.len()).filter(|lane| all || lane % 3 != 0).for_each(|lane| set.insert(lane));
    let mut work = LoopLanes::new::<W>(&mut arena, &set);
    assert_eq!(work.are_in_place(), all);
    let mut left = LoopColumn::new(&work, &mut arena, column, &set);
    let mut steps = LoopColumn::new(&work, &mut arena, &mut *counts, &set);
    let mut twice = LoopColumn::apart(&work, &mut arena, &mut *results, None);
    while work.any() {
        let turn = work.rounds::<W>();
        for strip in 0..work.strips::<W>() {
            let here = work.strip::<W>(strip);
            if here == 0 {
                continue;
            }
            let left = &mut strips_mut::<_, W>(left.slots(), strip + 1)[strip];
            let done = &mut strips_mut::<_, W>(steps.slots(), strip + 1)[strip];
            let twice_done = &mut strips_mut::<_, W>(twice.slots(), strip + 1)[strip];
            let mut round = |lane: usize| {
                let (value, count) = (value(left, lane), self::value(done, lane));
                give(done, lane, count + 1);
                give(twice_done, lane, 2 * (count + 1));
                give(left, lane, value - 1);
                // Point 2 is the loop; 5 or 6 is behind it.
                if value > 1 { 2 } else { 5 + count % 2 }
            };
            let gone = if several_ways_out {
                let mut words = Points::<u64, W>::new();
                repeat_exits(here, 2, &mut words, level, turn, |lane, here, stay| {
                    next(if here { round(lane) } else { stay })
                });
                here & (words.at(5, level) | words.at(6, level))
            } else {
                let on = repeat::<u64, W>(here, 5, level, turn, |lane, here, exit| match here {
                    true => next(round(lane).min(5)),
                    false => next(exit),
                });
                here & !on
            };
            work.each::<W>(strip, gone, |at, lane| {
                twice.put(lane, at);
                if !work.are_in_place() {
                    steps.put(lane, at);
                    out.insert(lane);
                }
            });
            if work.are_in_place() {
                out.add::<W>(strip, gone);
            }
            work.leave::<W>(strip, gone);
        }
        if work.sparse() {
            left.compact(&work, &mut arena);
            steps.compact(&work, &mut arena);
            twice.compact(&work, &mut arena);
            work.close(&arena);
        }
    }
    assert_eq!(out.lanes().collect::<Vec<_>>(), set.lanes().collect::<Vec<_>>());
    let (steps, results) = (read(&counts[..n.len()]), read(&results[..n.len()]));
    assert!(steps.iter().zip(results).all(|(steps, twice)| 2 * steps == twice));
    steps
}

/// The values of fourteen lanes, and pads, which the frame has none for.
#[test]
fn what_is_stored_plainly_is_what_was_chosen() {
    const W: usize = 32;
    for (isa, in_place) in ALL.into_iter().flat_map(|isa| [(isa, false), (isa, true)]) {
        let mut memory = Memory::default();
        let mut arena = memory.arena(Level::new(isa));
        let column = arena.column::<f64>(64);
        let (lanes, step) = if in_place { (14, 1) } else { (40, 3) };
        let mut set = arena.set(64, lanes);
        for lane in (0..lanes).step_by(step) {
            column[lane].write(-(lane as f64));
            set.insert(lane);
        }
        let work = LoopLanes::new::<W>(&mut arena, &set);
        assert_eq!(work.are_in_place(), in_place);
        let mut known = LoopColumn::known(&work, &mut arena, column, &set);
        let known = &mut known.slots()[..W];
        let was: Vec<f64> = (0..W).map(|at| if at < 14 { -((step * at) as f64) } else { 0.0 }).collect();
        assert_eq!(read(known), was);
        let stores = PlainStores::new();
        let strip = &mut strips_mut::<_, W>(known, 1)[0];
        for at in 0..W {
            let old = strip.bits(at);
            let chosen = if at % 2 == 0 { strip.leave(at, f64::NEG_INFINITY) } else { old };
            stores.store(strip, at, chosen);
        }
        let bits = |value: &f64| value.to_bits();
        let want = was.iter().enumerate().map(|(at, was)| if at % 2 == 0 { f64::NEG_INFINITY } else { *was });
        assert!(read(known).iter().map(bits).eq(want.map(|value| value.to_bits())));
    }
}

#[test]
fn loops_lose_the_lanes_that_leave() {
    let n: Vec<u64> = (0..300).map(|i| 1 + i * 37 % 101 + (i == 77) as u64 * 5000).collect();
    for isa in ALL {
        for (several_ways_out, all) in [(false, false), (false, true), (true, false), (true, true)] {
            let want = n.iter().enumerate().map(|(lane, n)| if all || lane % 3 != 0 { *n } else { 0 });
            assert_eq!(countdown(isa, &n, several_ways_out, all), want.collect::<Vec<u64>>());
        }
    }
}

#[test]
fn only_numbers_are_plain() {
    assert!(is_plain::<f64>() && is_plain::<bool>() && is_plain::<char>());
    assert!(!is_plain::<&f64>() && !is_plain::<String>() && !is_plain::<std::cell::Cell<u8>>());
    let list = [1.5f32];
    assert!(yields_plain(|at: usize| shown(&list[at])));
    assert!(!yields_plain(|_: ()| shown(&list)));
    assert_eq!(default_lanes(false, true, 8), 0);
    assert!(default_lanes(true, true, 8) >= default_lanes(true, true, 400));
}
