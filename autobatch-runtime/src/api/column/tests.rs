use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::api::fault::{BadOffsets, BatchError};

/// All members of a column, in order.
fn all<T>(column: impl Column<T>) -> Vec<T> {
    let source = column.into_source("x").unwrap();
    (0..source.len().unwrap()).map(|member| source.get(member)).collect()
}

fn each<'a, T: ?Sized + 'a>(column: impl Each<'a, T>) -> Vec<&'a T> {
    let source = column.into_source("x").unwrap();
    (0..source.len().unwrap()).map(|member| source.get(member)).collect()
}

fn each_mut<'a, T: ?Sized + 'a>(column: impl EachMut<'a, T>) -> Vec<&'a mut T> {
    let source = column.into_source("x").unwrap();
    (0..source.len().unwrap()).map(|member| source.get(member)).collect()
}

/// Counts how often values like it are dropped.
struct Counted<'c>(usize, &'c AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn slices_vectors_and_arrays() {
    let values = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(all::<String>(&values[..]), values);
    assert_eq!(all::<String>(&values), values);
    assert_eq!(all::<String>(&["a".to_owned(), "b".to_owned()]), values);
    assert_eq!(all::<String>(values.clone()), values);
    assert_eq!(all::<[u8; 2]>(&[[1, 2], [3, 4]]), [[1, 2], [3, 4]]);
    assert!(all::<u8>(&[]).is_empty());
}

#[test]
fn same_has_no_length() {
    let source = Column::<String>::into_source(same("a".to_owned()), "x").unwrap();
    assert_eq!(source.len(), None);
    assert_eq!((source.get(7), source.get(7)), ("a".to_owned(), "a".to_owned()));
}

#[test]
fn owned_values_are_dropped_once() {
    let drops = AtomicUsize::new(0);
    let source = (0..10).map(|i| Counted(i, &drops)).collect::<Vec<_>>().into_source("x").unwrap();
    let (third, last) = (source.get(3), source.get(9));
    assert_eq!((third.0, last.0), (3, 9));
    drop(third);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    drop(source);
    assert_eq!(drops.load(Ordering::Relaxed), 9, "all but the one that is still here");
    drop(last);
    assert_eq!(drops.load(Ordering::Relaxed), 10);
}

#[test]
fn a_state_is_copied_until_it_is_put_down_once() {
    let mut states = [1, 2];
    let source = States::new(&mut states);
    assert_eq!([source.value(0), source.value(0), source.value(1)], [1, 1, 2]);
    source.put(0, 5);
    for again in [
        |s: &States<'_, i32>| _ = s.value(0),
        |s: &States<'_, i32>| s.put(0, 6),
        |s: &States<'_, i32>| _ = s.get(0),
    ] {
        assert!(catch_unwind(AssertUnwindSafe(|| again(&source))).is_err());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| source.value(2))).is_err());
    assert_eq!(*source.get(1), 2);
    assert!(catch_unwind(AssertUnwindSafe(|| source.value(1))).is_err());
    assert_eq!(states, [5, 2]);
}

#[test]
fn states_that_need_drop_are_no_values() {
    let drops = AtomicUsize::new(0);
    let mut states = [Counted(0, &drops)];
    let source = States::new(&mut states);
    assert!(catch_unwind(AssertUnwindSafe(|| _ = source.value(0))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| source.put(0, Counted(1, &drops)))).is_err());
    // The value that could not be put down.
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    assert_eq!(states[0].0, 0);
}

#[test]
fn members_are_handed_out_once() {
    let numbers = vec![1, 2].into_source("x").unwrap();
    assert!(numbers.repeatable() && numbers.get(1) == numbers.get(1));
    let owned = vec![String::new(), "2".to_owned()].into_source("x").unwrap();
    assert!(!owned.repeatable());
    assert_eq!(owned.get(1), "2");
    assert!(catch_unwind(AssertUnwindSafe(|| owned.get(1))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| owned.get(2))).is_err());
    let mut states = [1, 2];
    let states = States::new(&mut states);
    let (first, second) = (states.get(0), states.get(1));
    std::mem::swap(first, second);
    assert_eq!((*first, *second), (2, 1));
    assert!(catch_unwind(AssertUnwindSafe(|| *states.get(0))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| *states.get(2))).is_err());
}

#[test]
fn states_go_to_other_threads() {
    let mut states = vec![0usize; 100];
    let source = States::new(&mut states);
    std::thread::scope(|scope| {
        for half in [0..50, 50..100] {
            let source = &source;
            scope.spawn(move || half.for_each(|member| *source.get(member) = member));
        }
    });
    assert_eq!(states, (0..100).collect::<Vec<_>>());
}

#[test]
fn borrowed_members_of_every_kind() {
    let (words, rows) = (["a", "bc"], vec![vec![1], vec![], vec![2, 3]]);
    assert_eq!(each::<str>(&words), words);
    assert_eq!(each::<str>(&words.map(str::to_owned)), words);
    assert_eq!(each::<str>(&words.map(str::to_owned).to_vec()), words);
    assert_eq!(each::<Path>(&words), words.map(Path::new));
    assert_eq!(each::<[i32]>(&rows), [&[1][..], &[], &[2, 3]]);
    assert_eq!(each::<[i32]>(&rows[1..]), [&[][..], &[2, 3]]);
    assert_eq!(each::<[i32]>(&[[1, 2], [3, 4]]), [&[1, 2], &[3, 4]]);
    struct Plain(u8);
    let plain = [Plain(1), Plain(2)];
    assert_eq!(each::<Plain>(&plain).iter().map(|p| p.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(each::<Vec<i32>>(&rows), [&rows[0], &rows[1], &rows[2]]);
}

#[test]
fn mutable_members_of_every_kind() {
    let mut rows = vec![vec![2, 1], vec![], vec![3]];
    each_mut::<[i32]>(&mut rows).into_iter().for_each(|row| row.sort());
    each_mut::<[i32]>(&mut rows[2..]).into_iter().for_each(|row| row.fill(7));
    assert_eq!(rows, [vec![1, 2], vec![], vec![7]]);
    let mut arrays = [[1, 2], [3, 4]];
    each_mut::<[i32]>(&mut arrays).into_iter().for_each(|row| row.reverse());
    each_mut::<[i32; 2]>(&mut arrays[..1]).into_iter().for_each(|row| row[0] = 9);
    assert_eq!(arrays, [[9, 1], [4, 3]]);
    let mut word = ["a".to_owned()];
    each_mut::<str>(&mut word).into_iter().for_each(str::make_ascii_uppercase);
    assert_eq!(word, ["A"]);
}

#[test]
fn ragged_rows() {
    let ragged = Ragged::new(&[1, 2, 3], &[0, 2, 2, 3]);
    assert_eq!(each::<[i32]>(ragged), [&[1, 2][..], &[], &[3]]);
    assert_eq!((ragged.len(), ragged.is_empty()), (3, false));
    assert!(Ragged::<u8>::new(&[], &[0]).is_empty());
    assert!(catch_unwind(|| ragged.row(3).len()).is_err());
}

#[test]
fn ragged_rows_that_change() {
    let mut values = [3, 1, 2, 9, 8];
    let rows = each_mut::<[i32]>(RaggedMut::new(&mut values, &[0, 3, 3, 5]));
    assert_eq!(rows, [&mut [3, 1, 2][..], &mut [], &mut [9, 8]]);
    rows.into_iter().for_each(|row| row.sort());
    assert_eq!(values, [1, 2, 3, 8, 9]);
    let mut rows = RaggedMut::new(&mut values, &[0, 3, 3, 5]);
    assert_eq!((rows.len(), rows.is_empty(), rows.row(0).len()), (3, false, 3));
    assert!(RaggedMut::<u8>::new(&mut [], &[0]).is_empty());
}

#[test]
fn ragged_offsets_are_checked() {
    for (offsets, wrong) in [
        (&[][..], BadOffsets::None),
        (&[-1, 3], BadOffsets::Start { first: -1 }),
        (&[0, 2, 1, 3], BadOffsets::Descend { at: 1, offset: 2, next: 1 }),
        (&[0, 4, 3], BadOffsets::Descend { at: 1, offset: 4, next: 3 }),
        (&[0, 4], BadOffsets::End { last: 4, values: 3 }),
        (&[4], BadOffsets::End { last: 4, values: 3 }),
    ] {
        let error = BatchError::Offsets { parameter: "xs", wrong };
        let ragged = Ragged::new(&[1, 2, 3], offsets);
        assert_eq!(ragged.into_source("xs").err(), Some(error.clone()));
        let mut values = [1, 2, 3];
        assert_eq!(RaggedMut::new(&mut values, offsets).into_source("xs").err(), Some(error));
        assert_eq!(ragged.len(), offsets.len().saturating_sub(1));
    }
}

#[test]
fn ragged_offsets_are_of_several_types_and_begin_anywhere() {
    let mut values = [3, 1, 2, 9, 8];
    let rows = |offsets: Offsets<'_>| {
        let rows = Ragged::new(&[3, 1, 2, 9, 8], offsets).into_source("xs").unwrap();
        (0..rows.len()).map(|member| rows.row(member).to_vec()).collect::<Vec<_>>()
    };
    let expected = [vec![1, 2], vec![], vec![9]];
    assert_eq!(rows((&[1_usize, 3, 3, 4]).into()), expected);
    assert_eq!(rows((&[1_i32, 3, 3, 4]).into()), expected);
    assert_eq!(rows((&vec![1_i64, 3, 3, 4]).into()), expected);
    assert!(rows((&[5]).into()).is_empty());
    let error = Ragged::new(&values, &[0, usize::MAX]).into_source("xs").unwrap_err();
    let wrong = BadOffsets::End { last: i64::MAX, values: 5 };
    assert_eq!(error, BatchError::Offsets { parameter: "xs", wrong });
    let rows = RaggedMut::new(&mut values, &[1_i64, 3, 3, 4]).into_source("xs").unwrap();
    (0..3).for_each(|member| rows.get(member).reverse());
    drop(rows);
    assert_eq!(values, [3, 2, 1, 9, 8]);
}

#[test]
fn one_value_or_many() {
    let read = |column: OneOrMany<&[u32], u32>| {
        let source = column.into_source("x").unwrap();
        let mut slots = [MaybeUninit::uninit(); 2];
        source.fill(1, &mut slots);
        // SAFETY: `fill` has written them.
        let filled = slots.map(|slot| unsafe { slot.assume_init() });
        (Source::len(&source), source.get(1), filled, source.slice(0..2).map(<[u32]>::to_vec))
    };
    assert_eq!(read(OneOrMany::Many(&[4, 5, 6])), (Some(3), 5, [5, 6], Some(vec![4, 5])));
    assert_eq!(read(OneOrMany::One(7)), (None, 7, [7, 7], None));
    let sequence: &[u32] = &[1, 2];
    let one: OneOrMany<Ragged<'_, u32>, &[u32]> = OneOrMany::One(sequence);
    assert_eq!(Each::into_source(one, "x").unwrap().get(3), sequence);
}

#[cfg(feature = "ndarray")]
mod arrays {
    use ndarray::{Array1, ArrayView1, arr2, array, s};

    use super::*;

    #[test]
    fn views_of_any_stride() {
        let values = Array1::from_iter(0..10);
        assert_eq!(all::<i32>(&values), (0..10).collect::<Vec<_>>());
        assert_eq!(all::<i32>(values.view()), (0..10).collect::<Vec<_>>());
        assert_eq!(all::<i32>(&values.view()), (0..10).collect::<Vec<_>>());
        assert_eq!(all::<i32>(values.slice(s![1..;3])), [1, 4, 7]);
        assert_eq!(all::<i32>(values.slice(s![..;-1])), (0..10).rev().collect::<Vec<_>>());
        assert_eq!(all::<i32>(values.slice(s![2..9;-2])), [8, 6, 4, 2]);
        assert_eq!(all::<i32>(ArrayView1::from(&[5]).broadcast(3).unwrap()), [5, 5, 5]);
        assert_eq!(all::<i32>(arr2(&[[1, 2], [3, 4]]).column(1)), [2, 4]);
    }

    #[test]
    fn rows_are_members() {
        let table = array![[1, 2, 3], [4, 5, 6]];
        assert_eq!(all::<[i32; 3]>(&table), [[1, 2, 3], [4, 5, 6]]);
        assert_eq!(all::<[i32; 2]>(table.t()), [[1, 4], [2, 5], [3, 6]]);
        assert_eq!(all::<[i32; 3]>(table.slice(s![..;-1, ..;-1])), [[6, 5, 4], [3, 2, 1]]);
        assert_eq!(all::<Array1<i32>>(&table), [array![1, 2, 3], array![4, 5, 6]]);
        assert_eq!(all::<Array1<i32>>(table.slice(s![1.., ..;2])), [array![4, 6]]);
    }

    #[test]
    fn rows_of_another_length_are_an_error() {
        let table = array![[1, 2, 3], [4, 5, 6]];
        let error = Column::<[i32; 2]>::into_source(&table, "point").err();
        assert_eq!(error, Some(BatchError::Shape { parameter: "point", expected: 2, found: 3 }));
    }

    #[test]
    fn rows_as_views_and_slices() {
        let table = array![[1, 2, 3], [4, 5, 6]];
        assert_eq!(all::<ArrayView1<i32>>(&table), [table.row(0), table.row(1)]);
        assert_eq!(all::<ArrayView1<i32>>(table.t()), [table.column(0), table.column(1), table.column(2)]);
        assert_eq!(each::<[i32]>(&table), [&[1, 2, 3], &[4, 5, 6]]);
        assert_eq!(each::<[i32]>(table.slice(s![..;-1, 1..])), [&[5, 6], &[2, 3]]);
        assert_eq!(each::<[i32]>(table.slice(s![.., 1..2])), [&[2], &[5]]);
        assert_eq!(each::<[i32]>(table.slice(s![.., 3..])), [&[0; 0], &[]]);
    }

    #[test]
    fn rows_that_change() {
        let mut table = array![[1, 2, 3], [4, 5, 6]];
        each_mut::<[i32]>(&mut table).into_iter().for_each(|row| row.reverse());
        each_mut::<[i32]>(table.slice_mut(s![1.., 1..])).into_iter().for_each(|row| row.fill(0));
        assert_eq!(table, array![[3, 2, 1], [6, 0, 0]]);
    }

    #[test]
    fn rows_that_are_no_slices_are_an_error() {
        let mut table = array![[1, 2, 3], [4, 5, 6]];
        let scattered = Some(BatchError::Scattered { parameter: "row" });
        assert_eq!(Each::<[i32]>::into_source(table.t(), "row").err(), scattered);
        assert_eq!(Each::<[i32]>::into_source(table.slice(s![.., ..;-1]), "row").err(), scattered);
        assert_eq!(EachMut::<[i32]>::into_source(table.slice_mut(s![.., ..;2]), "row").err(), scattered);
    }
}
