//! Stacks: the saved values of one variable, per lane. For generated code only.

use std::mem::MaybeUninit;

use super::lane_column::LaneColumn;
use crate::native_stack::{budget, room};

/// One growing stack per lane of a program-counter tile. The current value of the variable lives in
/// its column; a stack holds what the activations below the current one have saved. Like a column it
/// never drops values by itself.
pub struct LaneStack<T> {
    lanes: Vec<Vec<MaybeUninit<T>>>,
}

impl<T> Default for LaneStack<T> {
    fn default() -> Self {
        LaneStack { lanes: Vec::new() }
    }
}

impl<T> Drop for LaneStack<T> {
    fn drop(&mut self) {
        budget::give(self.lanes.iter().map(|stack| stack.capacity() * size_of::<T>()).sum());
    }
}

impl<T> LaneStack<T> {
    /// Room for another value of each of `lanes`: the first of them that gets none, if memory is refused.
    pub(crate) fn make_room(&mut self, lanes: &[u32]) -> Result<(), u32> {
        for &lane in lanes {
            let at = lane as usize;
            if at >= self.lanes.len() {
                if !room::has_all(&mut self.lanes, at + 1) {
                    return Err(lane);
                }
                self.lanes.resize_with(at + 1, Vec::new);
            }
            let stack = &mut self.lanes[at];
            if stack.len() == stack.capacity() {
                if !room::has(stack, 1) {
                    return Err(lane);
                }
                budget::take((stack.capacity() - stack.len()) * size_of::<T>());
            }
        }
        Ok(())
    }

    /// Moves the column's values onto the stacks of `lanes`, which have room.
    #[inline]
    pub(crate) fn push(&mut self, column: &LaneColumn<T>, lanes: &[u32]) {
        for &lane in lanes {
            let stack = &mut self.lanes[lane as usize];
            assert!(stack.len() < stack.capacity(), "room has been made");
            stack.push(column.bits(lane as usize));
        }
    }

    /// Moves the topmost values of `lanes` back to the column.
    #[inline]
    pub(crate) fn pop(&mut self, column: &mut LaneColumn<T>, lanes: &[u32]) {
        for &lane in lanes {
            let bits = self.lanes[lane as usize].pop().expect("pops match pushes");
            column.set_bits(lane as usize, bits);
        }
    }

    /// Overwrites the topmost values, which must have been peeked, with the column's.
    #[inline]
    pub(crate) fn update(&mut self, column: &LaneColumn<T>, lanes: &[u32]) {
        for &lane in lanes {
            let top = self.lanes[lane as usize].last_mut().expect("an update follows a push");
            *top = column.bits(lane as usize);
        }
    }

    /// Copies the topmost values to the column; they stay on the stack.
    #[inline]
    pub(crate) fn peek(&self, column: &mut LaneColumn<T>, lanes: &[u32]) {
        for &lane in lanes {
            let top = self.lanes[lane as usize].last().expect("a peek follows a push");
            // SAFETY: any bits are a `MaybeUninit`. By the protocol either this copy or the one on
            // the stack is used as a value, unless the type is `Copy`.
            column.set_bits(lane as usize, unsafe { std::ptr::read(top) });
        }
    }

    /// Takes the topmost entry of a lane away without dropping it: the value lives elsewhere.
    #[inline]
    pub(crate) fn forget(&mut self, lane: usize) {
        self.lanes[lane].pop().expect("pops match pushes");
    }

    /// Puts the bits of a value onto a lane's stack. Unwinds if there is no memory; nothing has changed then.
    pub(crate) fn push_bits(&mut self, lane: u32, bits: MaybeUninit<T>) {
        if self.make_room(&[lane]).is_err() {
            room::refused();
        }
        self.lanes[lane as usize].push(bits);
    }

    /// Forgets all of a lane's entries, and gives their memory back.
    pub(crate) fn clear(&mut self, lane: u32) {
        if let Some(stack) = self.lanes.get_mut(lane as usize) {
            budget::give(std::mem::take(stack).capacity() * size_of::<T>());
        }
    }

    /// Drops the topmost value of a lane.
    #[inline]
    pub(crate) fn discard(&mut self, lane: usize) {
        let mut top = self.lanes[lane].pop().expect("pops match pushes");
        // SAFETY: by the protocol what was pushed was a value, and it has just left the stack.
        unsafe { top.assume_init_drop() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native_stack::budget::{Budget, Budgeted};

    /// Members deep down were ended for memory that machines before had used.
    #[test]
    fn memory_goes_back_with_columns_and_stacks() {
        let budget = Budget::new(100_000);
        let _budgeted = Budgeted::by(std::sync::Arc::clone(&budget));
        for _ in 0..10 {
            let (mut column, mut stack) = (LaneColumn::default(), LaneStack::default());
            let (mut nothing, mut no_stack) = (LaneColumn::default(), LaneStack::default());
            (0..1000).for_each(|lane| column.put(lane, 0u64));
            (0..2).for_each(|lane| nothing.put(lane, ()));
            for _ in 0..500 {
                stack.make_room(&[1, 2, 3]).unwrap();
                stack.push(&column, &[1, 2, 3]);
                no_stack.make_room(&[0, 1]).unwrap();
                no_stack.push(&nothing, &[0, 1]);
            }
            assert!(!budget::is_over());
        }
        assert!((20_000..50_000).contains(&budget.peak()), "{}", budget.peak());
    }

    /// What a lane's stack should hold, as `Option`s.
    struct Model {
        column: Vec<u64>,
        stacks: Vec<Vec<u64>>,
    }

    /// A small generator: tests must not depend on another crate for this.
    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) % below
    }

    #[test]
    fn behaves_like_a_list_of_stacks() {
        for seed in 0..if cfg!(miri) { 2 } else { 200u64 } {
            let mut state = seed;
            let lanes = 1 + random(&mut state, 9) as usize;
            let mut column = LaneColumn::default();
            let mut stack = LaneStack::default();
            let mut model = Model { column: vec![0; lanes], stacks: vec![vec![]; lanes] };
            for lane in 0..lanes {
                column.put(lane, 0u64);
            }
            for step in 0..300u64 {
                let some: Vec<u32> = (0..lanes as u32).filter(|_| random(&mut state, 2) == 0).collect();
                let filled: Vec<u32> =
                    some.iter().copied().filter(|&l| !model.stacks[l as usize].is_empty()).collect();
                match random(&mut state, 6) {
                    0 | 1 => {
                        stack.make_room(&some).unwrap();
                        stack.push(&column, &some);
                        some.iter().for_each(|&l| model.stacks[l as usize].push(model.column[l as usize]));
                    }
                    2 => {
                        stack.pop(&mut column, &filled);
                        for &l in &filled {
                            model.column[l as usize] = model.stacks[l as usize].pop().unwrap();
                        }
                    }
                    3 => {
                        stack.update(&column, &filled);
                        filled.iter().for_each(|&l| {
                            *model.stacks[l as usize].last_mut().unwrap() = model.column[l as usize];
                        });
                    }
                    4 => {
                        stack.peek(&mut column, &filled);
                        filled.iter().for_each(|&l| {
                            model.column[l as usize] = *model.stacks[l as usize].last().unwrap();
                        });
                    }
                    _ => {
                        for &l in &some {
                            column.put(l as usize, step);
                            model.column[l as usize] = step;
                        }
                        if let Some(&l) = filled.first() {
                            stack.discard(l as usize);
                            model.stacks[l as usize].pop();
                        }
                    }
                }
                for lane in 0..lanes {
                    assert_eq!(
                        column.remove(lane),
                        model.column[lane],
                        "seed {seed} step {step} lane {lane}"
                    );
                    assert_eq!(stack.lanes.get(lane).map_or(0, Vec::len), model.stacks[lane].len());
                }
            }
        }
    }

    #[test]
    fn owned_values_move_through() {
        let mut column = LaneColumn::default();
        let mut stack = LaneStack::default();
        for lane in 0..3 {
            column.put(lane, format!("lane {lane}"));
        }
        stack.make_room(&[0, 2]).unwrap();
        stack.push(&column, &[0, 2]);
        column.put(0, "new".to_string());
        assert_eq!(column.remove(0), "new");
        stack.pop(&mut column, &[0]);
        stack.discard(2);
        assert_eq!(column.remove(0), "lane 0");
        assert_eq!(column.remove(1), "lane 1");
    }

    #[test]
    #[should_panic(expected = "pops match pushes")]
    fn an_unmatched_pop_is_caught() {
        let mut column = LaneColumn::default();
        let mut stack = LaneStack::default();
        column.put(0, 1u8);
        stack.make_room(&[0]).unwrap();
        stack.push(&column, &[0]);
        stack.pop(&mut column, &[0]);
        stack.pop(&mut column, &[0]);
    }

    #[test]
    #[should_panic]
    fn a_lane_never_pushed_is_caught() {
        LaneStack::<u8>::default().discard(3);
    }

    #[test]
    #[should_panic(expected = "an update follows a push")]
    fn an_update_of_nothing_is_caught() {
        let mut column = LaneColumn::default();
        let mut stack = LaneStack::default();
        column.put(0, 1u8);
        stack.make_room(&[0]).unwrap();
        stack.push(&column, &[0]);
        stack.pop(&mut column, &[0]);
        stack.update(&column, &[0]);
    }
}
