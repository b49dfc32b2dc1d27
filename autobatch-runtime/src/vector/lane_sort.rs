//! Lane sort: members that are alike, side by side: what calls itself runs fastest where the lanes of a strip agree about their calls.
//!
//! If members differ in one parameter only, and that is a number, then those with near values are most likely to do the
//! same: a tile runs in the order of its values, and its results go back to their places. Where members differ in several
//! parameters, nobody knows which of them decides, and the order is the caller's.

use std::any::TypeId;
use std::mem::MaybeUninit;

use super::arena::Arena;
use super::columns::pad;
use crate::probes::type_id::id;

/// The lane from which each member of a tile comes, if they are not in the caller's order.
pub struct LaneOrder(Vec<u32>);

const SIGN: u64 = 1 << 63;

/// A number as one that is ordered as it is.
type Key<T> = fn(&T) -> u64;

/// How the values of a type are ordered, if it is a number. Of values with other bits the key is another one: members whose keys
/// are the same are not put in order.
#[cfg_attr(optimised, inline(always))]
fn key<T>() -> Option<Key<T>> {
    macro_rules! number {
        ($($t:ty, $v:ident => $key:expr;)*) => {$(
            if id::<T>() == TypeId::of::<$t>() {
                return Some(|value| {
                    // SAFETY: it is of this type.
                    let $v = unsafe { *(&raw const *value).cast::<$t>() };
                    $key
                });
            }
        )*};
    }
    number! {
        u8, v => u64::from(v);
        u16, v => u64::from(v);
        u32, v => u64::from(v);
        u64, v => v;
        usize, v => v as u64;
        i8, v => v as i64 as u64 ^ SIGN;
        i16, v => v as i64 as u64 ^ SIGN;
        i32, v => v as i64 as u64 ^ SIGN;
        i64, v => v as u64 ^ SIGN;
        isize, v => v as i64 as u64 ^ SIGN;
        f32, v => of_float(u64::from(v.to_bits()) << 32);
        f64, v => of_float(v.to_bits());
    }
    None
}

/// Of negative numbers those with larger bits are smaller.
fn of_float(bits: u64) -> u64 {
    bits ^ if bits & SIGN == 0 { SIGN } else { !0 }
}

/// The values of the first `count` lanes, in which every one has a member.
#[cfg_attr(optimised, inline(always))]
fn values<T>(column: &[MaybeUninit<T>], count: usize) -> &[T] {
    let lanes = &column[..count];
    // SAFETY: by the protocol the members of a tile have values in the columns of its parameters.
    unsafe { std::slice::from_raw_parts(lanes.as_ptr().cast(), lanes.len()) }
}

/// Whether members differ in a parameter; it is taken for different if it is no number.
#[cfg_attr(optimised, inline(always))]
pub fn differs<T>(column: &[MaybeUninit<T>], count: usize) -> bool {
    let Some(key) = key::<T>() else { return true };
    let [first, others @ ..] = values(column, count) else { return false };
    others.iter().any(|other| key(other) != key(first))
}

/// The one parameter that members differ in, by its number.
#[cfg_attr(optimised, inline(always))]
pub fn sort_key(differ: &[bool]) -> Option<usize> {
    let mut those = (0..differ.len()).filter(|nth| differ[*nth]);
    those.next().filter(|_| those.next().is_none())
}

impl LaneOrder {
    /// The order of the first `count` lanes of a column; none if it is the caller's.
    #[cfg_attr(optimised, inline(always))]
    pub fn by<T>(column: &[MaybeUninit<T>], count: usize) -> Option<LaneOrder> {
        let key = key::<T>()?;
        let mut keys: Vec<(u64, u32)> = values(column, count).iter().map(key).zip(0..).collect();
        if keys.is_sorted() {
            return None;
        }
        keys.sort_unstable();
        Some(LaneOrder(keys.into_iter().map(|(_, lane)| lane).collect()))
    }
}

/// The column in that order.
#[cfg_attr(optimised, inline(always))]
pub fn sorted<'a, T>(
    arena: &mut Arena<'a>,
    column: &'a [MaybeUninit<T>],
    lanes: usize,
    order: &Option<LaneOrder>,
) -> &'a [MaybeUninit<T>] {
    let Some(LaneOrder(sources)) = order else { return column };
    let to = arena.column(lanes);
    for (to, lane) in to.iter_mut().zip(sources) {
        // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
        *to = unsafe { std::ptr::read(&column[*lane as usize]) };
    }
    pad(to, sources.len());
    to
}

/// The results, each at its member's own lane.
#[cfg_attr(optimised, inline(always))]
pub fn unsorted<'a, T>(
    arena: &mut Arena<'a>,
    results: &'a mut [MaybeUninit<T>],
    order: &Option<LaneOrder>,
) -> &'a mut [MaybeUninit<T>] {
    let Some(LaneOrder(sources)) = order else { return results };
    let to = arena.column(results.len());
    for (lane, result) in sources.iter().zip(results) {
        // SAFETY: any bits are a `MaybeUninit`; this is the only copy that is read.
        to[*lane as usize] = unsafe { std::ptr::read(result) };
    }
    to
}

#[cfg(test)]
mod tests {
    use super::super::arena::Memory;
    use super::*;
    use crate::simd::Isa;
    use crate::simd::Level;

    fn column<T: Copy>(values: &[T]) -> Vec<MaybeUninit<T>> {
        values.iter().map(|value| MaybeUninit::new(*value)).collect()
    }

    /// Whether numbers, of which the first is the least and so on, are ordered so.
    fn rises<T: Copy>(values: &[T]) -> bool {
        let key = key::<T>().expect("a number");
        values.is_sorted_by(|a, b| key(a) < key(b))
    }

    #[test]
    fn numbers_are_ordered_as_they_are() {
        assert!(rises(&[0u8, 3, 255]) && rises(&[0u16, 1, u16::MAX]) && rises(&[0u32, 9, u32::MAX]));
        assert!(rises(&[0u64, 7, u64::MAX]) && rises(&[0usize, 7, usize::MAX]));
        assert!(rises(&[i8::MIN, -1, 0, i8::MAX]) && rises(&[i16::MIN, -1, 0, i16::MAX]));
        assert!(rises(&[i32::MIN, -1, 0, i32::MAX]) && rises(&[i64::MIN, -1, 0, i64::MAX]));
        assert!(rises(&[isize::MIN, -1, 0, isize::MAX]));
        assert!(rises(&[f32::NEG_INFINITY, -2.0, -1e-40, -0.0, 0.0, 1.5, f32::INFINITY]));
        assert!(rises(&[f64::NEG_INFINITY, -2.0, -1e-310, -0.0, 0.0, 1.5, f64::INFINITY]));
        assert!(key::<(u32, u32)>().is_none() && key::<u128>().is_none() && key::<bool>().is_none());
    }

    #[test]
    fn one_parameter_decides() {
        assert!(!differs(&column(&[4u32, 4, 4, 5]), 3) && differs(&column(&[4u32, 4, 4, 5]), 4));
        assert!(!differs::<u32>(&[], 0) && !differs(&column(&[f64::NAN; 2]), 2));
        // NaNs have bits, too.
        assert!(differs(&column(&[f32::from_bits(0x7f80_0001), f32::from_bits(0x7fc0_0001)]), 2));
        assert!(differs(
            &column(&[f64::from_bits(0x7ff0_0000_0000_0001), f64::from_bits(0x7ff8_0000_0000_0001)]),
            2
        ));
        assert!(differs(&column(&[0.0f32, -0.0]), 2));
        // Nobody looks at what is no number.
        assert!(differs(&column(&[(1u8, 2u16); 3]), 3));
        assert_eq!(sort_key(&[false, true, false]), Some(1));
        assert_eq!(sort_key(&[false, true, true]), None);
        assert_eq!(sort_key(&[]), None);
        assert!(LaneOrder::by(&column(&[1u64, 1, 2, 9, 0]), 4).is_none());
        assert!(LaneOrder::by(&column(&[(2u8, 2u8), (1, 1)]), 2).is_none());
    }

    #[test]
    fn results_go_back_to_their_places() {
        let values = column(&[3i32, -1, 7, -1, 0, 99, 99, 99]);
        let mut memory = Memory::default();
        let mut arena = memory.arena(Level::new(Isa::Baseline));
        let read = |column: &[MaybeUninit<i32>]| -> Vec<i32> {
            // SAFETY: every slot has a value.
            column.iter().map(|slot| unsafe { slot.assume_init() }).collect()
        };
        let order = LaneOrder::by(&values, 5);
        let inside = sorted(&mut arena, &values, 8, &order);
        assert_eq!(read(inside), [-1, -1, 0, 3, 7, 7, 7, 7]);
        let results = arena.column(8);
        for (result, value) in results.iter_mut().zip(read(inside)) {
            result.write(value * 10);
        }
        let results = unsorted(&mut arena, results, &order);
        assert_eq!(read(&results[..5]), [30, -10, 70, -10, 0]);
        assert_eq!(sorted(&mut arena, &values, 8, &None).as_ptr(), values.as_ptr());
    }
}
