//! What both instruction sets need: 16-byte slots as pairs of 8 bytes, kernels by the size of a slot.

/// Runs the kernel of 4 or 8 bytes on a strip of `$w` slots of `$t`, and what is dense of it.
macro_rules! by_size {
    ($t:ident, $w:ident, $four:ident, $eight:ident, $strip:ident, $dense:ident, $here:ident) => {
        match size_of::<$t>() {
            4 => $four::<$w>($strip, $dense, $here),
            8 => $eight::<$w>($strip, $dense, $here),
            // The halves of 16 bytes, with every bit twice.
            _ if $w == 16 => $eight::<32>($strip, $dense, halves($here)[0]),
            _ if $w == 32 => $eight::<64>($strip, $dense, halves($here)[0]),
            _ => {
                let [low, high] = halves($here);
                $eight::<64>($strip, $dense, low);
                $eight::<64>($strip.add(512), $dense.add(8 * low.count_ones() as usize), high);
            }
        }
    };
}

/// How many lanes of `here` are before `at`: by itself, not from one vector to the next.
#[cfg_attr(optimised, inline(always))]
pub(super) fn before(here: u64, at: usize) -> usize {
    (here & ((1 << at) - 1)).count_ones() as usize
}

/// The masks of the 8-byte halves of 16-byte slots: every bit twice.
pub(super) fn halves(word: u64) -> [u64; 2] {
    [word, word >> 32].map(|half| {
        let mut bits = half & 0xffff_ffff;
        for (shift, keep) in [
            (16, 0x0000_ffff_0000_ffff),
            (8, 0x00ff_00ff_00ff_00ff),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ] {
            bits = (bits | bits << shift) & keep;
        }
        bits | bits << 1
    })
}

pub(super) use by_size;
