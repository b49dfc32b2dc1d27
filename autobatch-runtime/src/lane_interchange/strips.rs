//! Strips of plain values: filled from columns, merged back.

use std::mem::MaybeUninit;

use crate::probes::type_id::is_plain;
use crate::simd::Level;
use crate::storage::PcWord;
use crate::storage::UnknownZero;
use crate::storage::pc_word::choose;

/// Which lanes of a strip are active: at the block whose loops run for all lanes.
pub struct ActiveLanes<P, const W: usize> {
    words: [P; W],
    point: P,
    /// One of them, whose values the other lanes compute on.
    donor: usize,
}

impl<P: PcWord, const W: usize> ActiveLanes<P, W> {
    /// The lanes whose word is `point`; `None` if there are none.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn new(words: &[P; W], point: P) -> Option<Self> {
        let donor = words.iter().position(|word| *word == point)?;
        Some(ActiveLanes { words: *words, point, donor })
    }

    /// The lanes in `bits`, of which there is one.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(bits: u64, level: Level) -> Self {
        let mut words = [P::of(0); W];
        choose(&mut words, bits, P::set(true), P::of(0), level);
        ActiveLanes { words, point: P::set(true), donor: bits.trailing_zeros() as usize }
    }

    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_active(&self, lane: usize) -> bool {
        self.words[lane] == self.point
    }

    /// The lane whose values a lane computes on: its own, if it is active.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn donor_of(&self, lane: usize) -> usize {
        if self.is_active(lane) { lane } else { self.donor }
    }
}

/// A strip without values.
pub(crate) type Strip<T, const W: usize> = [MaybeUninit<T>; W];

/// Lanes of a small array: a strip for each element.
pub(crate) type Vector<T, const W: usize, const N: usize> = [[MaybeUninit<T>; W]; N];

/// Whether a strip's values are of a plain type.
#[cfg_attr(optimised, inline(always))]
pub fn plain<T, const W: usize>(_: &[MaybeUninit<T>; W]) -> bool {
    is_plain::<T>()
}

/// The same for a vector.
#[cfg_attr(optimised, inline(always))]
pub fn plain_vector<T, const W: usize, const N: usize>(_: &Vector<T, W, N>) -> bool {
    is_plain::<T>()
}

/// The same for a value that all lanes share.
#[cfg_attr(optimised, inline(always))]
pub fn plain_value<T>(_: &T) -> bool {
    is_plain::<T>()
}

/// Whether the elements of members' lists are of a plain type.
#[cfg_attr(optimised, inline(always))]
pub fn plain_elements<T, const W: usize>(_: &Strip<&[T], W>) -> bool {
    is_plain::<T>()
}

/// An empty strip.
#[cfg_attr(optimised, inline(always))]
pub fn strip<T, const W: usize>() -> Strip<T, W> {
    [const { MaybeUninit::uninit() }; W]
}

/// A strip in which every lane has a value: its own, or that of a lane that is there.
#[cfg_attr(optimised, inline(always))]
pub fn spread<T, P: PcWord, const W: usize>(
    slots: &[MaybeUninit<T>; W],
    here: &ActiveLanes<P, W>,
) -> Strip<T, W> {
    assert!(is_plain::<T>());
    let mut all = strip();
    // A choice of values, not of places, is a vector instruction.
    let donor = copy(&slots[here.donor]);
    for (lane, to) in all.iter_mut().enumerate() {
        let own = copy(&slots[lane]);
        *to = if here.is_active(lane) { own } else { copy(&donor) };
    }
    all
}

/// As [`spread`], of members' lists.
#[cfg_attr(optimised, inline(always))]
pub fn spread_lists<'l, T, P: PcWord, const W: usize>(
    slots: &[MaybeUninit<&'l [T]>; W],
    here: &ActiveLanes<P, W>,
) -> Strip<&'l [T], W> {
    std::array::from_fn(|lane| slots[here.donor_of(lane)])
}

/// Stores the values of the lanes that are there.
#[cfg_attr(optimised, inline(always))]
pub fn merge<T, P: PcWord, const W: usize>(
    slots: &mut [MaybeUninit<T>; W],
    new: &Strip<T, W>,
    here: &ActiveLanes<P, W>,
) {
    assert!(is_plain::<T>());
    for (lane, slot) in slots.iter_mut().enumerate() {
        let (old, new) = (copy(slot), copy(&new[lane]));
        *slot = if here.is_active(lane) { new } else { old };
    }
}

#[cfg_attr(optimised, inline(always))]
fn copy<T>(slot: &MaybeUninit<T>) -> MaybeUninit<T> {
    // SAFETY: any bits are a `MaybeUninit`; callers have made sure that `T` is a primitive type.
    unsafe { std::ptr::read(slot) }
}

/// A lane's value.
#[cfg_attr(optimised, inline(always))]
pub fn get<T, const W: usize>(strip: &Strip<T, W>, lane: usize) -> T {
    // SAFETY: by the protocol the strip has been filled, with values that `plain` admits, or with shared references.
    unsafe { strip[lane].assume_init_read() }
}

/// As [`set`], of a variable that lanes may have kept as it was.
#[cfg_attr(optimised, inline(always))]
pub fn set_chosen<T, const W: usize>(strip: &mut Strip<T, W>, lane: usize, zero: UnknownZero, value: T) {
    // SAFETY: the type is plain.
    set(strip, lane, if is_plain::<T>() { unsafe { zero.disguised(value) } } else { value });
}

/// Sets a lane's value.
#[cfg_attr(optimised, inline(always))]
pub fn set<T, const W: usize>(strip: &mut Strip<T, W>, lane: usize, value: T) {
    strip[lane] = MaybeUninit::new(value);
}

/// Sets all lanes to the same value.
#[cfg_attr(optimised, inline(always))]
pub fn set_all<T, const W: usize>(strip: &mut Strip<T, W>, value: T) {
    assert!(is_plain::<T>());
    let value = MaybeUninit::new(value);
    strip.iter_mut().for_each(|slot| *slot = copy(&value));
}

/// An empty vector.
#[cfg_attr(optimised, inline(always))]
pub fn vector<T, const W: usize, const N: usize>() -> Vector<T, W, N> {
    [const { [const { MaybeUninit::uninit() }; W] }; N]
}

/// As [`spread`].
#[cfg_attr(optimised, inline(always))]
pub fn spread_vector<T, P: PcWord, const W: usize, const N: usize>(
    slots: &[MaybeUninit<[T; N]>; W],
    here: &ActiveLanes<P, W>,
) -> Vector<T, W, N> {
    assert!(is_plain::<T>());
    let mut all = vector();
    for lane in 0..W {
        // SAFETY: the slot of a lane that is here holds a value, which is of a primitive type.
        set_vector(&mut all, lane, unsafe { slots[here.donor_of(lane)].assume_init_read() });
    }
    all
}

/// As [`merge`].
#[cfg_attr(optimised, inline(always))]
pub fn merge_vector<T, P: PcWord, const W: usize, const N: usize>(
    slots: &mut [MaybeUninit<[T; N]>; W],
    new: &Vector<T, W, N>,
    here: &ActiveLanes<P, W>,
) {
    for (lane, slot) in slots.iter_mut().enumerate() {
        if here.is_active(lane) {
            *slot = MaybeUninit::new(get_vector(new, lane));
        }
    }
}

/// As [`get`].
#[cfg_attr(optimised, inline(always))]
pub fn get_vector<T, const W: usize, const N: usize>(vector: &Vector<T, W, N>, lane: usize) -> [T; N] {
    std::array::from_fn(
        #[cfg_attr(optimised, inline(always))]
        |n| get(&vector[n], lane),
    )
}

/// As [`set`].
#[cfg_attr(optimised, inline(always))]
pub fn set_vector<T, const W: usize, const N: usize>(
    vector: &mut Vector<T, W, N>,
    lane: usize,
    value: [T; N],
) {
    for (strip, value) in vector.iter_mut().zip(value) {
        set(strip, lane, value);
    }
}
