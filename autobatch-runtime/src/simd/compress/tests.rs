use std::mem::MaybeUninit;

use super::moves::*;
use crate::simd::{Isa, Level, count, extent, lanes};

fn column<T: Clone>(values: &[T]) -> Vec<MaybeUninit<T>> {
    values.iter().cloned().map(MaybeUninit::new).collect()
}

fn round_trip<T: Copy + PartialEq + std::fmt::Debug>(make: impl Fn(usize) -> T) {
    let mut state = 1u64;
    for size in [1, 7, 63, 64, 65, 200] {
        for density in [0, 1, 3, 8] {
            let mut mask = vec![0u64; size / 64 + 1];
            for lane in 0..size {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if density == 8 || (state >> 40) % 8 < density {
                    mask[lane / 64] |= 1 << (lane % 64);
                }
            }
            let set: Vec<usize> = lanes(&mask).collect();
            assert_eq!((set.len(), set.last().map_or(0, |l| l + 1)), (count(&mask), extent(&mask)));
            let wide = column(&(0..size).map(&make).collect::<Vec<_>>());
            for ceiling in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                let level = Level::new(ceiling);
                // Exact lengths: a write past the end would be caught by the guard value.
                let mut dense = column(&vec![make(999); set.len() + 1]);
                compress(&mut dense[..set.len()], &wide[..extent(&mask)], &mask, level);
                let mut front = column(&(0..size).map(&make).collect::<Vec<_>>());
                compact(&mut front, &mask, level);
                let mut merged = column(&vec![make(777); size]);
                merge(&mut merged, &wide, &mask, level);
                let mut back = column(&vec![make(777); size]);
                expand(&mut back[..extent(&mask)], &dense[..set.len()], &mask, level);
                // SAFETY: all slots were filled.
                let value = |slot: &MaybeUninit<T>| unsafe { slot.assume_init_read() };
                for (at, &lane) in set.iter().enumerate() {
                    assert_eq!((value(&dense[at]), value(&front[at])), (make(lane), make(lane)));
                }
                assert_eq!(value(&dense[set.len()]), make(999));
                for (lane, slot) in back.iter().enumerate() {
                    let want = if set.contains(&lane) { make(lane) } else { make(777) };
                    assert_eq!((value(slot), value(&merged[lane])), (want, want));
                }
            }
        }
    }
}

#[test]
fn compress_and_expand_are_inverse() {
    round_trip(|i| i as u8);
    round_trip(|i| i as u32);
    round_trip(|i| i as f64);
    round_trip(|i| [i as u64, 1]);
    round_trip(|i| [i as u64, 1, 2]);
}

fn appended<T: Copy + PartialEq + std::fmt::Debug, const W: usize>(make: impl Fn(usize) -> T) {
    let strip: [MaybeUninit<T>; W] = std::array::from_fn(|lane| MaybeUninit::new(make(lane)));
    let all = !0 >> (64 - W);
    for here in [0, 1, all, 1 << (W - 1), 0x5a5a_a5a5_0ff0_1234 & all, 0x8421_f731_0000_ffff & all] {
        for level in [Isa::Baseline, Isa::Avx2, Isa::Avx512].map(Level::new) {
            // A write past the strip would be caught by the guard value.
            let mut dense = column(&vec![make(999); W + 1]);
            append(&mut dense[..W], &strip, here, level);
            // SAFETY: all slots were filled.
            let value = |slot: &MaybeUninit<T>| unsafe { slot.assume_init_read() };
            for (nth, lane) in lanes(&[here]).enumerate() {
                assert_eq!(value(&dense[nth]), make(lane));
            }
            assert_eq!(value(&dense[W]), make(999));
            let mut back = [const { MaybeUninit::uninit() }; W];
            back.iter_mut().for_each(|slot| _ = slot.write(make(777)));
            fetch(&mut back, &dense[..W], here, level);
            for (lane, slot) in back.iter().enumerate() {
                assert_eq!(value(slot), make(if here >> lane & 1 == 1 { lane } else { 777 }));
            }
        }
    }
}

#[test]
fn what_is_appended_is_dense() {
    fn all<T: Copy + PartialEq + std::fmt::Debug>(make: impl Fn(usize) -> T) {
        appended::<_, 16>(&make);
        appended::<_, 32>(&make);
        appended::<_, 64>(&make);
    }
    all(|i| i as u16);
    all(|i| i as u32);
    all(|i| i as f64);
    all(|i| [i as u64, 1]);
    all(|i| [i as u64, 1, 2]);
}

/// Every mask of 16 lanes, by the tables and by the CPU's instructions.
#[test]
fn all_ways_move_alike() {
    fn moved<T: Copy + PartialEq + std::fmt::Debug>(
        make: impl Fn(usize) -> T,
        here: u64,
        level: Level,
    ) -> Vec<T> {
        let strip: [MaybeUninit<T>; 16] = std::array::from_fn(|lane| MaybeUninit::new(make(lane)));
        let (mut dense, mut back) = (column(&[make(99); 16]), strip.map(|_| MaybeUninit::new(make(77))));
        append(&mut dense, &strip, here, level);
        fetch(&mut back, &dense, here, level);
        dense.truncate(here.count_ones() as usize);
        // SAFETY: all slots were filled.
        dense.iter().chain(&back).map(|slot| unsafe { slot.assume_init_read() }).collect()
    }
    fn alike<T: Copy + PartialEq + std::fmt::Debug>(make: impl Fn(usize) -> T) {
        for here in if cfg!(miri) { 0..64 } else { 0..1 << 16 } {
            let [base, avx2, avx512] =
                [Isa::Baseline, Isa::Avx2, Isa::Avx512].map(|isa| moved(&make, here, Level::new(isa)));
            assert_eq!((&base, &base), (&avx2, &avx512), "{here:x}");
            let nth = |lane: usize| (here & ((1 << lane) - 1)).count_ones() as usize;
            assert!((0..16).all(|lane| here >> lane & 1 == 0 || base[nth(lane)] == make(lane)), "{here:x}");
        }
    }
    alike(|i| i as u8);
    alike(|i| i as u16);
    alike(|i| i as f32);
    alike(|i| i as u64);
    alike(|i| [i as u64, 1]);
}

#[test]
fn missing_slots_are_skipped() {
    let level = Level::new(Isa::Avx512);
    let mut wide = column(&[0u64; 3]);
    expand(&mut wide, &column(&[5, 6]), &[0b10_0111], level);
    // SAFETY: all slots were filled.
    let wide: Vec<u64> = wide.iter().map(|slot| unsafe { slot.assume_init_read() }).collect();
    assert_eq!(wide, [5, 6, 0]);
}
