//! Strips of plain values: filled from columns, transposed arrays, merged back.

use std::mem::MaybeUninit;

use crate::probes::type_id::is_plain;
use crate::storage::PcWord;

/// Which lanes of a strip are active: at the block whose loops run for all lanes.
pub struct ActiveLanes<P, const W: usize> {
    words: [P; W],
    point: P,
    /// One of them, whose values the other lanes compute on.
    donor: usize,
}

impl<P: PcWord, const W: usize> ActiveLanes<P, W> {
    /// The lanes whose word is `point`; `None` if there are none.
    #[inline(always)]
    pub(crate) fn new(words: &[P; W], point: P) -> Option<Self> {
        let donor = words.iter().position(|word| *word == point)?;
        Some(ActiveLanes { words: *words, point, donor })
    }
}

/// A strip without values.
pub(crate) type Strip<T, const W: usize> = [MaybeUninit<T>; W];

/// Lanes of a small array: a strip for each element.
pub(crate) type Vector<T, const W: usize, const N: usize> = [[MaybeUninit<T>; W]; N];

/// Lanes of an array: a strip for each element. Aligned, because a vector that straddles two cache lines
/// takes twice as long.
#[repr(align(64))]
pub struct Rows<T, const W: usize, const N: usize>([[T; W]; N]);

/// Whether a strip's values are of a plain type.
#[inline(always)]
pub fn plain<T, const W: usize>(_: &[MaybeUninit<T>; W]) -> bool {
    is_plain::<T>()
}

/// The same for a vector.
#[inline(always)]
pub fn plain_vector<T, const W: usize, const N: usize>(_: &Vector<T, W, N>) -> bool {
    is_plain::<T>()
}

/// The same for arrays.
#[inline(always)]
pub fn plain_array<T, const W: usize, const N: usize>(_: &[MaybeUninit<[T; N]>; W]) -> bool {
    is_plain::<T>()
}

/// The same for a value that all lanes share.
#[inline(always)]
pub fn plain_value<T>(_: &T) -> bool {
    is_plain::<T>()
}

/// An empty strip.
#[inline(always)]
pub fn strip<T, const W: usize>() -> Strip<T, W> {
    [const { MaybeUninit::uninit() }; W]
}

/// A strip in which every lane has a value: its own, or that of a lane that is there.
#[inline(always)]
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
        *to = if here.words[lane] == here.point { own } else { copy(&donor) };
    }
    all
}

/// Stores the values of the lanes that are there.
#[inline(always)]
pub fn merge<T, P: PcWord, const W: usize>(
    slots: &mut [MaybeUninit<T>; W],
    new: &Strip<T, W>,
    here: &ActiveLanes<P, W>,
) {
    assert!(is_plain::<T>());
    for (lane, slot) in slots.iter_mut().enumerate() {
        let (old, new) = (copy(slot), copy(&new[lane]));
        *slot = if here.words[lane] == here.point { new } else { old };
    }
}

#[inline(always)]
fn copy<T>(slot: &MaybeUninit<T>) -> MaybeUninit<T> {
    // SAFETY: any bits are a `MaybeUninit`; callers have made sure that `T` is a primitive type.
    unsafe { std::ptr::read(slot) }
}

/// A lane's value.
#[inline(always)]
pub fn get<T, const W: usize>(strip: &Strip<T, W>, lane: usize) -> T {
    // SAFETY: by the protocol the strip has been filled, with values that `plain` admits.
    unsafe { strip[lane].assume_init_read() }
}

/// Sets a lane's value.
#[inline(always)]
pub fn set<T, const W: usize>(strip: &mut Strip<T, W>, lane: usize, value: T) {
    strip[lane] = MaybeUninit::new(value);
}

/// Sets all lanes to the same value.
#[inline(always)]
pub fn set_all<T, const W: usize>(strip: &mut Strip<T, W>, value: T) {
    assert!(is_plain::<T>());
    let value = MaybeUninit::new(value);
    strip.iter_mut().for_each(|slot| *slot = copy(&value));
}

/// An empty vector.
#[inline(always)]
pub fn vector<T, const W: usize, const N: usize>() -> Vector<T, W, N> {
    [const { [const { MaybeUninit::uninit() }; W] }; N]
}

/// As [`spread`].
#[inline(always)]
pub fn spread_vector<T, P: PcWord, const W: usize, const N: usize>(
    slots: &[MaybeUninit<[T; N]>; W],
    here: &ActiveLanes<P, W>,
) -> Vector<T, W, N> {
    assert!(is_plain::<T>());
    let mut all = vector();
    for lane in 0..W {
        let from = if here.words[lane] == here.point { lane } else { here.donor };
        // SAFETY: the slot of a lane that is here holds a value, which is of a primitive type.
        set_vector(&mut all, lane, unsafe { slots[from].assume_init_read() });
    }
    all
}

/// As [`merge`].
#[inline(always)]
pub fn merge_vector<T, P: PcWord, const W: usize, const N: usize>(
    slots: &mut [MaybeUninit<[T; N]>; W],
    new: &Vector<T, W, N>,
    here: &ActiveLanes<P, W>,
) {
    for (lane, slot) in slots.iter_mut().enumerate() {
        if here.words[lane] == here.point {
            *slot = MaybeUninit::new(get_vector(new, lane));
        }
    }
}

/// As [`get`].
#[inline(always)]
pub fn get_vector<T, const W: usize, const N: usize>(vector: &Vector<T, W, N>, lane: usize) -> [T; N] {
    std::array::from_fn(
        #[inline(always)]
        |n| get(&vector[n], lane),
    )
}

/// As [`set`].
#[inline(always)]
pub fn set_vector<T, const W: usize, const N: usize>(
    vector: &mut Vector<T, W, N>,
    lane: usize,
    value: [T; N],
) {
    for (strip, value) in vector.iter_mut().zip(value) {
        set(strip, lane, value);
    }
}

/// Rows of zeros, if the type is plain. Strips that run one after the other take the same: new ones for each
/// cost a cheap kernel a twentieth of its time. They are allocated in the function that uses them, so that
/// LLVM sees that they overlap with nothing.
#[inline(always)]
pub fn rows<T, const W: usize, const N: usize>() -> Option<Box<Rows<T, W, N>>> {
    is_plain::<T>().then(|| {
        let mut rows = Box::<Rows<T, W, N>>::new_uninit();
        // SAFETY: the box is as large as the type; all bits zero are a value of every primitive type.
        unsafe {
            rows.as_mut_ptr().write_bytes(0, 1);
            rows.assume_init()
        }
    })
}

/// The rows for a strip, as some strip before it has left them; `_element` says of which type.
#[inline(always)]
pub fn in_rows<'r, T, const W: usize, const N: usize>(
    rows: &'r mut Option<Box<Rows<T, W, N>>>,
    _element: &Strip<T, W>,
) -> &'r mut [[T; W]; N] {
    &mut rows.as_mut().expect("the type is plain").0
}

/// Every element of a lane's array is the lane's value.
#[inline(always)]
pub fn fill_rows<T, const W: usize, const N: usize>(rows: &mut [[T; W]; N], value: &Strip<T, W>) {
    for row in rows.iter_mut() {
        for (lane, element) in row.iter_mut().enumerate() {
            *element = get(value, lane);
        }
    }
}

/// As [`spread`].
#[inline(always)]
pub fn spread_rows<T, P: PcWord, const W: usize, const N: usize>(
    slots: &[MaybeUninit<[T; N]>; W],
    rows: &mut [[T; W]; N],
    here: &ActiveLanes<P, W>,
) {
    assert!(is_plain::<T>());
    for lane in 0..W {
        let from = if here.words[lane] == here.point { lane } else { here.donor };
        // SAFETY: the slot of a lane that is here holds a value.
        let array = unsafe { slots[from].assume_init_ref() };
        for (row, value) in rows.iter_mut().zip(array) {
            // SAFETY: the type is a primitive one.
            row[lane] = unsafe { std::ptr::read(value) };
        }
    }
}

/// As [`merge`].
#[inline(always)]
pub fn merge_rows<T, P: PcWord, const W: usize, const N: usize>(
    slots: &mut [MaybeUninit<[T; N]>; W],
    new: &[[T; W]; N],
    here: &ActiveLanes<P, W>,
) {
    assert!(is_plain::<T>());
    for (lane, slot) in slots.iter_mut().enumerate() {
        if here.words[lane] == here.point {
            // SAFETY: the type is a primitive one.
            *slot = MaybeUninit::new(std::array::from_fn(|n| unsafe { std::ptr::read(&new[n][lane]) }));
        }
    }
}
