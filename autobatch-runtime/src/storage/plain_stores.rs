//! Stores under no mask of what the lanes of a loop choose.
//!
//! LLVM sees that a slot gets its own bits again in lanes that do not assign it, and stores under a mask, with AVX2 by an instruction that
//! takes processors of AMD tens of cycles (see [`choices`](super::choices)). So what is stored is disguised. That is for floats: integers
//! of loops mostly count, where LLVM adds the mask and nothing is chosen.
//!
//! **Invariant:** the bits of a type that is taken for floats are those of its floats, and no others. It is `f32` or `f64`, an
//! array or a tuple of one of them, or a structure that is as large as the tuple of its fields. Generated code upholds that these are all its fields: it
//! takes the structure apart by a pattern, which rustc checks.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::choices::UnknownZero;
use super::slots::Slots;
use crate::probes::type_id::id;

/// What stores under no mask need.
pub struct PlainStores<L> {
    zero: UnknownZero,
    structures: PhantomData<L>,
}

impl<L> Clone for PlainStores<L> {
    #[cfg_attr(optimised, inline(always))]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for PlainStores<L> {}

impl PlainStores<()> {
    /// To be made before the loop.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        PlainStores { zero: UnknownZero::new(), structures: PhantomData }
    }
}

impl<L: Structures> PlainStores<L> {
    /// Tells of a structure and the tuple of all its fields. The function is not called.
    #[cfg_attr(optimised, inline(always))]
    pub fn with<T, F>(self, _: impl FnOnce(T) -> F) -> PlainStores<(L, Structure<T, F>)> {
        PlainStores { zero: self.zero, structures: PhantomData }
    }

    /// Whether a type consists of floats.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn takes<T>(self) -> bool {
        L::have::<T>()
    }

    /// Stores a value, or the bits of the slot.
    #[cfg_attr(optimised, inline(always))]
    pub fn store<S: Slots>(self, slots: &mut S, lane: usize, chosen: MaybeUninit<S::Value>) {
        match self.takes::<S::Value>() {
            // SAFETY: generated code upholds that these are a value or bits of the slot, which are initialised.
            true => unsafe { slots.settle_plainly(lane, chosen, self.zero) },
            false => slots.settle(lane, chosen),
        }
    }
}

/// A structure and the tuple of its fields.
pub struct Structure<T, F>(PhantomData<(T, F)>);

/// Types that are stored under no mask.
pub trait Structures {
    /// Whether a type is one of them.
    fn have<T>() -> bool;
}

/// Floats, and arrays and tuples of them.
impl Structures for () {
    #[cfg_attr(optimised, inline(always))]
    fn have<T>() -> bool {
        consists_of_floats::<T>()
    }
}

/// Those of a list, and a structure if it consists of floats.
impl<L: Structures, S, F> Structures for (L, Structure<S, F>) {
    #[cfg_attr(optimised, inline(always))]
    fn have<T>() -> bool {
        size_of::<T>() == size_of::<S>()
            && size_of::<S>() == size_of::<F>()
            && id::<T>() == id::<S>()
            && consists_of_floats::<F>()
            || L::have::<T>()
    }
}

/// Whether `T` is `f32` or `f64`, or an array or a tuple of up to eight of them.
#[cfg_attr(optimised, inline(always))]
fn consists_of_floats<T>() -> bool {
    macro_rules! any {
        ($($t:ty),*) => {{
            let id = id::<T>();
            $(id == TypeId::of::<$t>())||*
        }};
    }
    // Few are compared, by their sizes: code that is not optimised asks at run time, for each lane.
    macro_rules! tuples {
        ($f:ident: $($size:literal $($tuple:ident)*;)*) => {
            match size_of::<T>() / size_of::<$f>() {
                1 if size_of::<T>() == size_of::<$f>() => any!($f, ($f,)),
                $($size => any!([$f; $size], ($($tuple),*)),)*
                _ => false,
            }
        };
    }
    macro_rules! of {
        ($f:ident) => {
            tuples!($f: 2 $f $f; 3 $f $f $f; 4 $f $f $f $f; 5 $f $f $f $f $f; 6 $f $f $f $f $f $f;
                7 $f $f $f $f $f $f $f; 8 $f $f $f $f $f $f $f $f;)
        };
    }
    of!(f64) || of!(f32)
}

#[cfg(test)]
mod tests {
    use super::super::slots::tests::every_second_changed;
    use super::super::strip::Home;
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Point {
        x: f64,
        at: [f64; 2],
    }

    /// One with padding.
    #[derive(Clone, Copy)]
    struct Padded {
        x: f32,
        y: f64,
    }

    fn stores() -> PlainStores<impl Structures> {
        PlainStores::new()
            .with(|Point { x, at: [y, z] }| (x, y, z))
            .with(|Padded { x, y }| (x, y))
            .with(|n: u64| (n,))
    }

    #[test]
    fn floats_are_found_in_what_consists_of_them() {
        let stores = stores();
        assert!(stores.takes::<f64>() && stores.takes::<f32>() && stores.takes::<(f32,)>());
        assert!(!stores.takes::<u32>());
        assert!(
            stores.takes::<[f32; 2]>() && stores.takes::<(f64, f64, f64)>() && stores.takes::<[f64; 8]>()
        );
        assert!(stores.takes::<Point>() && !PlainStores::new().takes::<Point>());
        assert!(!stores.takes::<Padded>() && !stores.takes::<u64>() && !stores.takes::<(u64, f64)>());
        assert!(!stores.takes::<[f64; 9]>() && !stores.takes::<()>() && !stores.takes::<&f64>());
    }

    fn lanes_choose<T: Copy, S: PartialEq + std::fmt::Debug>(
        value: impl Fn(usize) -> T,
        shown: impl Fn(T) -> S,
    ) {
        const W: usize = 8;
        let mut home: [MaybeUninit<T>; W] = std::array::from_fn(|lane| MaybeUninit::new(value(lane)));
        {
            let mut local = Home::<T, W, true>(&mut home).open();
            let lanes = local.lanes();
            for lane in 0..W {
                let old = lanes.bits(lane);
                let chosen = if lane % 2 == 0 { lanes.leave(lane, value(lane + 100)) } else { old };
                stores().store(lanes, lane, chosen);
            }
        }
        every_second_changed(&home, value, shown);
    }

    #[test]
    fn what_is_stored_is_what_was_chosen() {
        lanes_choose(|n| n as f32, f32::to_bits);
        lanes_choose(|n| -(n as f64), f64::to_bits);
        lanes_choose(|n| [n as f32, 0.5, -0.0], |floats| floats.map(f32::to_bits));
        lanes_choose(|n| (n as f64, f64::INFINITY), |floats| floats);
        lanes_choose(|n| Point { x: n as f64, at: [-1.0, 0.5 * n as f64] }, |point| point);
        lanes_choose(|n| n as u64, |number| number);
        lanes_choose(|n| (n as u8, n as f64), |numbers| numbers);
        // Bits that arithmetic would not keep.
        let with_payload = |n: usize| f64::from_bits(0x7ff0_0000_0000_0001 + n as u64);
        lanes_choose(with_payload, f64::to_bits);
        lanes_choose(|n| [with_payload(n), -f64::NAN, -0.0], |floats| floats.map(f64::to_bits));
    }
}
