//! A program on owned values, with members that panic at various places.

use std::sync::atomic::{AtomicIsize, Ordering};

use crate::api::program::Program;
use crate::machine::{Core, Step, UnwindPoint};
use crate::machine::{Mode, Settings};
use crate::storage::{self, Slots, Store};

use super::harness::{Batch, Run, Sink, block, call, group, instances, program, refuse, settings};

/// An owned value that is counted while it lives, on the counter of its test.
#[derive(Debug)]
pub(crate) struct Owned<'t> {
    items: Vec<u32>,
    alive: &'t AtomicIsize,
}

impl<'t> Owned<'t> {
    fn new(items: Vec<u32>, alive: &'t AtomicIsize) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Owned { items, alive }
    }
    fn with(&self, item: u32) -> Self {
        Owned::new(self.items.iter().copied().chain([item]).collect(), self.alive)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        let before = self.alive.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "dropped twice");
    }
}

/// Panics in one of three places if `n` says so.
fn check_bad(place: u32, n: u32, bad: u32) {
    if bad == 3 * n + place {
        panic!("bad {bad}");
    }
}

/// `note` is never mentioned between the entry and the end, so it lives through the blocks.
fn walk<'t>(list: Owned<'t>, note: Owned<'t>, n: u32, bad: u32) -> Owned<'t> {
    check_bad(0, n, bad);
    if n == 0 {
        return list;
    }
    let longer = list.with(n);
    let other = note.with(n);
    let first = walk(longer, other, n - 1, bad);
    check_bad(1, n, bad);
    let longer = list.with(first.items.len() as u32);
    let other = list;
    let second = walk(longer, other, n / 2, bad);
    check_bad(2, n, bad);
    first.with(second.items.len() as u32 + note.items.len() as u32)
}

/// Blocks: 0 entry, 1 after the first call, 2 after the second; call points 3, 4; return point 5.
pub(crate) static WALK: Program =
    program("walk", &[block(&[3, 5]), block(&[4]), block(&[5])], &[call(1), call(2)], &[group(5)], false, 8);

type Args<'a, 't> = (&'a [(u32, u32)], &'t AtomicIsize, &'a Sink<Owned<'t>>);

#[cfg_attr(optimised, inline(always))]
fn body(core: &mut Core<'_>, store: &Store, (members, alive, out): Args<'_, '_>) {
    const W: usize = 8;
    let mut v_list = store.column(0);
    let mut v_note = store.column(1);
    let mut v_n = store.column(2);
    let mut v_bad = store.column(3);
    let mut v_longer = store.column(4);
    let mut v_other = store.column(5);
    let mut v_less = store.column(6);
    let mut v_first = store.column(7);
    let mut v_second = store.column(8);
    let mut v_result = store.column(9);
    let mut s_list = store.stack(0);
    let mut s_note = store.stack(1);
    let mut s_n = store.stack(2);
    let mut s_bad = store.stack(3);
    let mut s_first = store.stack(4);
    loop {
        match core.next() {
            Step::Load => {
                core.load(|lane, member| {
                    let (n, bad) = members[member];
                    let list = Owned::new(vec![], alive);
                    if bad == 1000 {
                        panic!("bad load");
                    }
                    let note = Owned::new(vec![1, 2], alive);
                    v_list.put(lane, list);
                    v_note.put(lane, note);
                    v_n.put(lane, n);
                    v_bad.put(lane, bad);
                });
            }
            Step::Block(0) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut list_ = v_list.edit::<W>(at).open_rows();
                    let mut note_ = v_note.edit::<W>(at).open_rows();
                    let mut n_ = v_n.edit::<W>(at).open_rows();
                    let mut bad_ = v_bad.edit::<W>(at).open_rows();
                    let mut longer_ = v_longer.edit::<W>(at).open_rows();
                    let mut other_ = v_other.edit::<W>(at).open_rows();
                    let mut less_ = v_less.edit::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (list_, note_, n_, bad_) = (list_.lanes(), note_.lanes(), n_.lanes(), bad_.lanes());
                    let (longer_, other_) = (longer_.lanes(), other_.lanes());
                    let (less_, result_) = (less_.lanes(), result_.lanes());
                    core.open::<u32, W>(nth).once(
                        0,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (list0, note0, n0, bad0) =
                                (list_.bits(l), note_.bits(l), n_.bits(l), bad_.bits(l));
                            let (longer0, other0, less0, result0) =
                                (longer_.bits(l), other_.bits(l), less_.bits(l), result_.bits(l));
                            let (list1, note1, n1, bad1, longer1, other1, less1, result1, next) = if here {
                                'lane: {
                                    let list = list_.take(l, &list0);
                                    let note = note_.take(l, &note0);
                                    let n = n_.take(l, &n0);
                                    let bad = bad_.take(l, &bad0);
                                    check_bad(0, n, bad);
                                    if n == 0 {
                                        let result = result_.leave(l, list);
                                        break 'lane (
                                            list0, note0, n0, bad0, longer0, other0, less0, result, 5,
                                        );
                                    }
                                    let longer = list.with(n);
                                    let other = note.with(n);
                                    let less = n - 1;
                                    (
                                        list_.leave(l, list),
                                        note_.leave(l, note),
                                        n_.leave(l, n),
                                        bad_.leave(l, bad),
                                        longer_.leave(l, longer),
                                        other_.leave(l, other),
                                        less_.leave(l, less),
                                        result0,
                                        3,
                                    )
                                }
                            } else {
                                (list0, note0, n0, bad0, longer0, other0, less0, result0, stay)
                            };
                            list_.settle(l, list1);
                            note_.settle(l, note1);
                            n_.settle(l, n1);
                            bad_.settle(l, bad1);
                            longer_.settle(l, longer1);
                            other_.settle(l, other1);
                            less_.settle(l, less1);
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(1) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut list_ = v_list.read::<W>(at).open_rows();
                    let mut n_ = v_n.edit::<W>(at).open_rows();
                    let mut bad_ = v_bad.edit::<W>(at).open_rows();
                    let mut first_ = v_first.edit::<W>(at).open_rows();
                    let mut longer_ = v_longer.edit::<W>(at).open_rows();
                    let mut other_ = v_other.edit::<W>(at).open_rows();
                    let mut less_ = v_less.edit::<W>(at).open_rows();
                    let (list_, n_, bad_, first_) = (list_.lanes(), n_.lanes(), bad_.lanes(), first_.lanes());
                    let (longer_, other_, less_) = (longer_.lanes(), other_.lanes(), less_.lanes());
                    core.open::<u32, W>(nth).once(
                        1,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (list0, n0, bad0, first0) =
                                (list_.bits(l), n_.bits(l), bad_.bits(l), first_.bits(l));
                            let (longer0, other0, less0) = (longer_.bits(l), other_.bits(l), less_.bits(l));
                            let (n1, bad1, first1, longer1, other1, less1, next) = if here {
                                let list: Owned<'_> = list_.take(l, &list0);
                                let n = n_.take(l, &n0);
                                let bad = bad_.take(l, &bad0);
                                let first: Owned<'_> = first_.take(l, &first0);
                                check_bad(1, n, bad);
                                let longer = list.with(first.items.len() as u32);
                                let other = list;
                                let less = n / 2;
                                (
                                    n_.leave(l, n),
                                    bad_.leave(l, bad),
                                    first_.leave(l, first),
                                    longer_.leave(l, longer),
                                    other_.leave(l, other),
                                    less_.leave(l, less),
                                    4,
                                )
                            } else {
                                (n0, bad0, first0, longer0, other0, less0, stay)
                            };
                            n_.settle(l, n1);
                            bad_.settle(l, bad1);
                            first_.settle(l, first1);
                            longer_.settle(l, longer1);
                            other_.settle(l, other1);
                            less_.settle(l, less1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Block(2) => {
                for nth in 0..core.strips() {
                    let at = core.strip(nth);
                    let mut note_ = v_note.read::<W>(at).open_rows();
                    let mut n_ = v_n.read::<W>(at).open_rows();
                    let mut bad_ = v_bad.read::<W>(at).open_rows();
                    let mut first_ = v_first.read::<W>(at).open_rows();
                    let mut second_ = v_second.read::<W>(at).open_rows();
                    let mut result_ = v_result.edit::<W>(at).open_rows();
                    let (note_, n_, bad_) = (note_.lanes(), n_.lanes(), bad_.lanes());
                    let (first_, second_, result_) = (first_.lanes(), second_.lanes(), result_.lanes());
                    core.open::<u32, W>(nth).once(
                        2,
                        #[cfg_attr(optimised, inline(always))]
                        |l, here, stay| {
                            let (note0, n0, bad0) = (note_.bits(l), n_.bits(l), bad_.bits(l));
                            let (first0, second0, result0) =
                                (first_.bits(l), second_.bits(l), result_.bits(l));
                            let (result1, next) = if here {
                                let note: Owned<'_> = note_.take(l, &note0);
                                let n = n_.take(l, &n0);
                                let bad = bad_.take(l, &bad0);
                                let first: Owned<'_> = first_.take(l, &first0);
                                let second: Owned<'_> = second_.take(l, &second0);
                                check_bad(2, n, bad);
                                let result = first.with(second.items.len() as u32 + note.items.len() as u32);
                                (result_.leave(l, result), 5)
                            } else {
                                (result0, stay)
                            };
                            result_.settle(l, result1);
                            storage::next(next)
                        },
                    );
                }
            }
            Step::Call(0) => {
                let transfer = core.transfer();
                transfer.make_room(&mut s_list);
                transfer.make_room(&mut s_note);
                transfer.make_room(&mut s_n);
                transfer.make_room(&mut s_bad);
                transfer.push(&mut s_list, &v_list);
                transfer.push(&mut s_note, &v_note);
                transfer.push(&mut s_n, &v_n);
                transfer.push(&mut s_bad, &v_bad);
                transfer.pass(&mut v_list, &v_longer);
                transfer.pass(&mut v_note, &v_other);
                transfer.pass(&mut v_n, &v_less);
                transfer.pass_same(&mut v_bad);
            }
            Step::Return(0) => {
                let transfer = core.transfer();
                transfer.give(&mut v_first, &v_result);
                transfer.pop(&mut s_list, &mut v_list);
                transfer.pop(&mut s_note, &mut v_note);
                transfer.pop(&mut s_n, &mut v_n);
                transfer.pop(&mut s_bad, &mut v_bad);
            }
            Step::Call(1) => {
                let transfer = core.transfer();
                transfer.make_room(&mut s_note);
                transfer.make_room(&mut s_n);
                transfer.make_room(&mut s_bad);
                transfer.make_room(&mut s_first);
                transfer.push(&mut s_note, &v_note);
                transfer.push(&mut s_n, &v_n);
                transfer.push(&mut s_bad, &v_bad);
                transfer.push(&mut s_first, &v_first);
                // The long way round, to try `lift`.
                let longer = transfer.lift(&v_longer);
                transfer.pass(&mut v_note, &v_other);
                transfer.pass(&mut v_n, &v_less);
                transfer.pass_same(&mut v_bad);
                transfer.land(&mut v_list, longer);
            }
            Step::Return(1) => {
                let transfer = core.transfer();
                transfer.give(&mut v_second, &v_result);
                transfer.pop(&mut s_note, &mut v_note);
                transfer.pop(&mut s_n, &mut v_n);
                transfer.pop(&mut s_bad, &mut v_bad);
                transfer.pop(&mut s_first, &mut v_first);
            }
            Step::Store => {
                out.receive(core.stores(), |lane| v_result.remove(lane));
            }
            Step::Compact => {
                let transfer = core.transfer();
                transfer.compact(&mut v_list);
                transfer.compact(&mut v_note);
                transfer.compact(&mut v_n);
                transfer.compact(&mut v_bad);
                transfer.compact(&mut v_longer);
                transfer.compact(&mut v_other);
                transfer.compact(&mut v_less);
                transfer.compact(&mut v_first);
                transfer.compact(&mut v_second);
                transfer.compact(&mut v_result);
            }
            Step::Abandon => {
                for gone in core.abandoned() {
                    refuse(&gone);
                    if let UnwindPoint::At(0..=4) = gone.unwind_point {
                        gone.discard(&mut v_n);
                        gone.discard(&mut v_bad);
                    }
                    match gone.unwind_point {
                        UnwindPoint::At(0) => {
                            gone.discard(&mut v_list);
                            gone.discard(&mut v_note);
                        }
                        UnwindPoint::At(1) => {
                            gone.discard(&mut v_list);
                            gone.discard(&mut v_note);
                            gone.discard(&mut v_first);
                        }
                        UnwindPoint::At(2) => {
                            gone.discard(&mut v_note);
                            gone.discard(&mut v_first);
                            gone.discard(&mut v_second);
                        }
                        UnwindPoint::At(3) => {
                            gone.discard(&mut v_list);
                            gone.discard(&mut v_note);
                            gone.discard(&mut v_longer);
                            gone.discard(&mut v_other);
                            gone.discard(&mut v_less);
                        }
                        UnwindPoint::At(4) => {
                            gone.discard(&mut v_note);
                            gone.discard(&mut v_first);
                            gone.discard(&mut v_longer);
                            gone.discard(&mut v_other);
                            gone.discard(&mut v_less);
                        }
                        UnwindPoint::At(5) => gone.discard(&mut v_result),
                        UnwindPoint::Ran(1) => gone.discard(&mut v_note),
                        UnwindPoint::Calling(0) => {
                            gone.discard_saved(&mut v_list, &mut s_list);
                            gone.discard_saved(&mut v_note, &mut s_note);
                            gone.discard_saved(&mut v_n, &mut s_n);
                            gone.discard_saved(&mut v_bad, &mut s_bad);
                        }
                        UnwindPoint::Calling(1) => {
                            gone.discard_saved(&mut v_note, &mut s_note);
                            gone.discard_saved(&mut v_n, &mut s_n);
                            gone.discard_saved(&mut v_bad, &mut s_bad);
                            gone.discard_saved(&mut v_first, &mut s_first);
                        }
                        _ => {}
                    }
                }
            }
            Step::Done => break,
            step => core.unexpected(step),
        }
    }
}
instances!(enter, body, ['a, 't], Args<'a, 't>);

fn run<'t>(
    settings: Settings,
    members: &[(u32, u32)],
    alive: &'t AtomicIsize,
    cancel: Option<usize>,
) -> Run<Owned<'t>> {
    let batch = Batch::new(&WALK, settings, members.len());
    let batch = if let Some(after) = cancel { batch.cancel_after(after) } else { batch };
    batch.run(|core, store, out| enter(core, store, (members, alive, out)))
}

/// Runs `count` members, of which some panic unless there are other reasons to fail, and compares.
pub(crate) fn check(settings: Settings, count: u32, cancel: Option<usize>) {
    let limited = settings.max_depth < 10 || settings.max_steps < 1000 || cancel.is_some();
    let good = 10_000;
    let bad = |k: u32| {
        if limited || !k.is_multiple_of(3) {
            good
        } else if k % 31 == 30 {
            1000
        } else {
            k % 17
        }
    };
    let members: Vec<(u32, u32)> = (0..count).map(|k| (k % 6, bad(k))).collect();
    let alive = AtomicIsize::new(0);
    let run = run(settings, &members, &alive, cancel);
    for (k, &(n, bad)) in members.iter().enumerate() {
        let start = || (Owned::new(vec![], &alive), Owned::new(vec![1, 2], &alive));
        let want = std::panic::catch_unwind(|| {
            if bad == 1000 {
                panic!("bad load");
            }
            let (list, note) = start();
            walk(list, note, n, bad)
        });
        match (&want, &run.results[k]) {
            (Ok(want), Ok(found)) => assert_eq!(want.items, found.items),
            (Err(_), Err(_)) => {
                let bad = if bad == 1000 { "load".to_owned() } else { bad.to_string() };
                assert_eq!(run.fault(k), format!("Panic: bad {bad}"));
            }
            (Ok(_), Err(_)) if limited => {}
            _ => panic!("member {k}: {want:?} {:?}", run.results[k]),
        }
        if run.settings.max_depth == 3 {
            assert_eq!(run.results[k].is_ok(), n <= 3);
        }
    }
    drop(run);
    assert_eq!(alive.into_inner(), 0, "leaked");
}

/// Members that panic at the bottom of a deep recursion.
pub(crate) fn check_deep(depth: u32) {
    for mode in [Mode::Masked, Mode::ProgramCounter] {
        let members: Vec<(u32, u32)> = (0..3).map(|k| (depth - k, 0)).collect();
        let alive = AtomicIsize::new(0);
        let run = run(Settings { mode, ..settings() }, &members, &alive, None);
        assert!((0..3).all(|k| run.fault(k) == "Panic: bad 0"));
        assert_eq!(run.finished.depth, depth as usize);
        drop(run);
        assert_eq!(alive.into_inner(), 0, "leaked");
    }
}
