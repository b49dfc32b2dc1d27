use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::*;

fn fill(mut output: impl Output<usize>, skip: usize) -> Vec<bool> {
    let room = output.room();
    let out = output.out();
    (0..room).filter(|&member| member != skip).for_each(|member| out.set(member, 10 + member));
    out.into_set().unwrap().unwrap_or_else(|| vec![true; room])
}

#[test]
fn results_go_to_their_places() {
    let mut values = vec![0; 3];
    assert_eq!(fill(&mut values, 1), [true, false, true]);
    assert_eq!(values, [10, 0, 12]);
    fill(&mut values[1..], 9);
    assert_eq!(values, [10, 10, 11]);
    let mut array = [0; 2];
    fill(&mut array, 9);
    assert_eq!(array, [10, 11]);
    assert!(fill(&mut [][..], 0).is_empty());
}

#[test]
fn assignment_drops_the_old_value_and_fresh_memory_has_none() {
    let (old, new) = (Rc::new(()), Rc::new(()));
    let mut values = vec![old.clone(), old.clone()];
    let out = Out::over(&mut values);
    out.set(1, new.clone());
    drop(out);
    assert_eq!((Rc::strong_count(&old), Rc::strong_count(&new)), (2, 2));
    let mut memory = [MaybeUninit::uninit(), MaybeUninit::uninit()];
    let out = Out::fresh(&mut memory);
    out.set(0, new.clone());
    assert_eq!(out.into_set().unwrap(), Some(vec![true, false]));
    // SAFETY: just written.
    drop(unsafe { memory[0].assume_init_read() });
    assert_eq!(Rc::strong_count(&new), 2);
}

#[test]
fn a_member_has_one_result() {
    let mut values = [String::new(), String::new()];
    let out = Out::over(&mut values);
    out.set(0, "5".to_owned());
    assert!(catch_unwind(AssertUnwindSafe(|| out.set(0, "6".to_owned()))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| out.set(2, "6".to_owned()))).is_err());
    drop(out);
    assert_eq!(values, ["5", ""]);
}

#[test]
fn values_without_drop_may_come_twice() {
    let mut values = [0; 12];
    let out = Out::over(&mut values);
    for members in [2..4, 6..8, 3..7, 2..8, 8..10, 1..2, 11..12, 4..5] {
        out.have(members);
    }
    out.set(2, 5);
    out.set(2, 5);
    let mut set = vec![true; 12];
    (set[0], set[10]) = (false, false);
    assert_eq!(out.into_set().unwrap(), Some(set));
}

#[test]
fn results_come_alone_and_together() {
    let mut memory = [const { MaybeUninit::uninit() }; 12];
    let out = Out::<String>::fresh(&mut memory);
    let name = |member: usize| member.to_string();
    out.fill(&mut (4..6), name);
    out.fill(&mut (0..2), name);
    out.fill(&mut (9..12), name);
    out.set(8, name(8));
    out.fill(&mut (2..4), name);
    let mut members = 6..8;
    let broken = catch_unwind(AssertUnwindSafe(|| {
        out.fill(&mut members, |at| if at < 7 { name(at) } else { panic!() })
    }));
    assert!(broken.is_err());
    assert_eq!(members, 7..8);
    assert!(out.is_set(6) && !out.is_set(7) && out.is_set(8) && out.is_set(11));
    let set = (0..12).map(|member| member != 7).collect();
    assert_eq!(out.into_set().unwrap(), Some(set));
    let outside = Out::<String>::fresh(&mut []);
    assert!(catch_unwind(AssertUnwindSafe(|| outside.fill(&mut (0..1), name))).is_err());
    for (member, value) in memory.iter().enumerate().filter(|(member, _)| *member != 7) {
        // SAFETY: just written.
        assert_eq!(unsafe { value.assume_init_ref() }, &name(member));
    }
    memory.into_iter().enumerate().filter(|(member, _)| *member != 7).for_each(|(_, value)| {
        // SAFETY: as above.
        drop(unsafe { value.assume_init() });
    });
}

#[test]
fn all_have_results() {
    let mut values = [0; 5];
    let out = Out::over(&mut values);
    out.fill(&mut (3..5), |member| member);
    out.fill(&mut (0..3), |member| member);
    assert_eq!(out.into_set().unwrap(), None);
    assert_eq!(values, [0, 1, 2, 3, 4]);
    let out = Out::fresh(&mut []) as Out<'_, u8>;
    assert_eq!(out.into_set().unwrap(), None);
    let mut memory = [const { MaybeUninit::<String>::uninit() }; 4];
    let out = Out::fresh(&mut memory);
    out.fill(&mut (0..2), |_| String::new());
    assert!(catch_unwind(AssertUnwindSafe(|| out.fill(&mut (1..2), |_| String::new()))).is_err());
}

#[cfg(feature = "ndarray")]
mod arrays {
    use ndarray::{Array1, Array2, array, s};

    use super::*;

    #[test]
    fn views_of_any_stride() {
        let mut values = Array1::zeros(7);
        fill(values.slice_mut(s![1..;3]), 9);
        assert_eq!(values, array![0, 10, 0, 0, 11, 0, 0]);
        fill(values.slice_mut(s![..;-2]), 9);
        assert_eq!(values, array![13, 10, 12, 0, 11, 0, 10]);
        fill(&mut values, 9);
        assert_eq!(values, array![10, 11, 12, 13, 14, 15, 16]);
        fill(&mut values.view_mut(), 9);
        let mut table = Array2::zeros((2, 3));
        fill(table.column_mut(1), 9);
        assert_eq!(table, array![[0, 10, 0], [0, 11, 0]]);
        assert!(fill(&mut Array1::zeros(0), 0).is_empty());
    }
}
