//! Copies of members' states, which lane code is lent in their place. For generated code only.
//!
//! A state is what a `&mut T` parameter refers to. In its column there is a pointer per lane, behind which LLVM makes no vectors. So
//! while a region runs on a strip, the states of the lanes that are there lie side by side in a copy, as the values of a variable do,
//! and each lane works on a copy of its own. Small types without drop glue are copied; of the others lane code is lent
//! the state itself. Which of the two applies is a constant of the type, so generated code is the same for both.
//!
//! A state may be of any such type, `Copy` or not: a value is in the copy *or* counts as being in its place, never both. What is left
//! in the place meanwhile nobody reads, since the `&mut` is the lane's. A copy goes back on every way out, also while unwinding,
//! with what the lane has made of it until then.
//!
//! **Invariant:** what is lent ends with the lane: rustc holds that nothing that leaves the lane code refers to it.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use super::pc_word::PcWord;
use super::slots::{LARGEST, Lanewise, Of};
use super::strip::{Aligned, Home, LaneMask};

/// Whether states of the type are copied.
const fn copied<T>() -> bool {
    (Of::<T>::SPLIT || Of::<T>::SELECTED) && align_of::<T>() <= align_of::<Room<T>>()
}

/// Memory for a state that is copied. Not larger for others, of which there may be many, and which may be large.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Room<T>(MaybeUninit<[u64; LARGEST / 8]>, PhantomData<T>);

impl<T> Room<T> {
    const EMPTY: Self = Room(MaybeUninit::uninit(), PhantomData);

    /// Where the state is.
    #[cfg_attr(optimised, inline(always))]
    fn state(&mut self) -> &mut MaybeUninit<T> {
        assert!(copied::<T>());
        // SAFETY: a type that is copied fits, and any bits are a `MaybeUninit`.
        unsafe { &mut *self.0.as_mut_ptr().cast() }
    }
}

/// Memory for the states of a strip that are copied.
type Rooms<T, const W: usize> = MaybeUninit<Aligned<[Room<T>; W]>>;

/// The same as slots.
#[cfg_attr(optimised, inline(always))]
fn slots<T, const W: usize>(rooms: &mut Rooms<T, W>) -> &mut Lanewise<T, W> {
    assert!(copied::<T>());
    // SAFETY: as many values of a type that is copied fit, and any bits are a `MaybeUninit`.
    unsafe { &mut *rooms.as_mut_ptr().cast() }
}

/// The states of the lanes in `was`, in the time that a region runs on their strip: from [`StateStrip::lanes`] on.
pub struct StateStrip<'c, 'w, 's, T, P: PcWord, const W: usize> {
    rooms: Rooms<T, W>,
    /// Whether they have the states.
    filled: bool,
    home: &'c mut [MaybeUninit<&'s mut T>; W],
    was: &'w LaneMask<P, W>,
}

impl<'c, 's, T, const W: usize> Home<'c, &'s mut T, W, false> {
    /// The states of the lanes in `was`, in which the variable is live.
    #[cfg_attr(optimised, inline(always))]
    pub fn open_states<'w, P: PcWord>(self, was: &'w LaneMask<P, W>) -> StateStrip<'c, 'w, 's, T, P, W> {
        StateStrip { rooms: MaybeUninit::uninit(), filled: false, home: self.0, was }
    }
}

impl<'s, T, P: PcWord, const W: usize> StateStrip<'_, '_, 's, T, P, W> {
    /// The lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes(&mut self) -> StateLanes<'_, 's, T, W> {
        if copied::<T>() && !self.filled {
            self.filled = true;
            let slots = slots(&mut self.rooms);
            for (lane, state) in self.home.iter().enumerate() {
                if self.was.0.0[lane].is_set() {
                    // SAFETY: the variable is live in this lane, so the slot holds a reference, which is the lane's alone. The state
                    // moves out: until it moves back nobody reads what is left.
                    let state = unsafe { ptr::read(ptr::from_ref::<T>(state.assume_init_ref()).cast()) };
                    slots.put(lane, state);
                }
            }
        }
        StateLanes { rooms: &mut self.rooms, home: self.home }
    }
}

impl<T, P: PcWord, const W: usize> Drop for StateStrip<'_, '_, '_, T, P, W> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        if !self.filled {
            return;
        }
        let slots = slots(&mut self.rooms);
        for (lane, state) in self.home.iter_mut().enumerate() {
            if self.was.0.0[lane].is_set() {
                // SAFETY: as in `lanes`; the state moves back.
                unsafe { ptr::write(ptr::from_mut::<T>(state.assume_init_mut()).cast(), slots.get(lane)) };
            }
        }
    }
}

/// The states of a strip, of which each lane is lent its own.
pub struct StateLanes<'l, 's, T, const W: usize> {
    rooms: &'l mut Rooms<T, W>,
    home: &'l mut [MaybeUninit<&'s mut T>; W],
}

impl<'s, T, const W: usize> StateLanes<'_, 's, T, W> {
    /// What a lane is lent, whether it is there or not.
    #[cfg_attr(optimised, inline(always))]
    pub fn lend(&mut self, lane: usize) -> Lent<'_, 's, T, W> {
        let mut lent = Lent { own: Room::EMPTY, rooms: self.rooms, home: &mut self.home[lane], lane };
        lent.begin();
        lent
    }
}

/// The state of one lane. It goes back when this is dropped: unconditionally, which is what vectorises.
pub struct Lent<'l, 's, T, const W: usize> {
    own: Room<T>,
    rooms: &'l mut Rooms<T, W>,
    home: &'l mut MaybeUninit<&'s mut T>,
    lane: usize,
}

impl<T, const W: usize> Lent<'_, '_, T, W> {
    #[cfg_attr(optimised, inline(always))]
    fn begin(&mut self) {
        if copied::<T>() {
            *self.own.state() = slots(self.rooms).get(self.lane);
        }
    }

    /// The state, of a lane that is there.
    #[cfg_attr(optimised, inline(always))]
    pub fn state(&mut self) -> &mut T {
        match copied::<T>() {
            // SAFETY: the lane was there when the strip was filled, for lanes only leave, so its copy is a state.
            true => unsafe { self.own.state().assume_init_mut() },
            // SAFETY: the variable is live in this lane, so the slot holds a reference, which is the lane's alone.
            false => unsafe { self.home.assume_init_mut() },
        }
    }
}

impl<T, const W: usize> Drop for Lent<'_, '_, T, W> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        if copied::<T>() {
            // SAFETY: any bits are a `MaybeUninit`; the state moves back.
            let state = unsafe { ptr::read(self.own.state()) };
            slots(self.rooms).put(self.lane, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane_column::LaneColumn;
    use super::*;

    const W: usize = 8;

    /// Runs code on the states of every second lane; the slots of the others hold nothing.
    fn run<T>(states: &mut [T; W / 2], mut lane: impl FnMut(usize, &mut T)) {
        let mut column = LaneColumn::default();
        for (nth, state) in states.iter_mut().enumerate() {
            column.put(2 * nth, state);
        }
        let was = LaneMask(Aligned(std::array::from_fn(|lane| u32::set(lane % 2 == 0))));
        let mut strip = column.read::<W>(0).open_states(&was);
        let mut lanes = strip.lanes();
        for _ in 0..2 {
            for at in 0..W {
                let mut lent = lanes.lend(at);
                if at % 2 == 0 {
                    lane(at, lent.state());
                }
            }
        }
    }

    fn changed<T: PartialEq + std::fmt::Debug>(state: impl Fn(usize) -> T, is_copied: bool) {
        assert_eq!(copied::<T>(), is_copied);
        let mut states = [0, 1, 2, 3].map(&state);
        run(&mut states, |lane, own| {
            *own = state(if *own == state(lane / 2) { lane + 10 } else { lane + 20 })
        });
        assert_eq!(states, [20, 22, 24, 26].map(&state));
    }

    #[test]
    fn states_come_back_changed() {
        changed(|n| n as u64, true);
        changed(|n| n as u8, true);
        changed(|n| n as u128, true);
        changed(|n| [n as f64, 1.0, 0.5 * n as f64], true);
        changed(|n| (n as u8, n as f64), true);
        changed(|n| [n; 8], true);
        changed(|n| [n; 9], false);
        changed(|n| [n as u8; 20], false);
        changed(|n| n.to_string(), false);
        changed(|n| vec![n; 3], false);
    }

    #[test]
    fn states_without_bits_are_lent() {
        let mut calls = 0;
        run(&mut [(); 4], |_, ()| calls += 1);
        assert_eq!(calls, 8);
    }

    #[test]
    fn states_need_not_be_copy() {
        struct Own<'a>(&'a mut u64, u64);
        let mut numbers = [1, 2, 3, 4];
        let mut states = numbers.each_mut().map(|number| Own(number, 0));
        run(&mut states, |_, own| {
            *own.0 *= 3;
            own.1 += *own.0;
        });
        assert_eq!(states.map(|own| own.1), [12, 24, 36, 48]);
        assert_eq!(numbers, [9, 18, 27, 36]);
    }

    #[test]
    fn a_state_goes_back_as_it_was_when_its_lane_unwound() {
        let mut states = [[1u64; 3], [2; 3], [3; 3], [4; 3]];
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(&mut states, |lane, own| {
                own[0] += 10;
                assert_ne!(lane, 4, "this is what unwinds");
                own[1] += 10;
            });
        }));
        assert!(unwound.is_err());
        assert_eq!(states, [[11, 11, 1], [12, 12, 2], [13, 3, 3], [4; 3]]);
    }
}
