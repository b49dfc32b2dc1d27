//! What lanes of loops choose in numbers, tuples, arrays and structures of floats keeps its bits, of NaNs too; so does the rest.

use std::ops::Add;

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [1, 67, 300];

/// Two floats and how many rounds; some have bits that arithmetic would not keep.
fn inputs() -> Vec<(u32, f64, f64)> {
    let odd = [f64::from_bits(0x7ff0_0000_0000_0001), -f64::NAN, -0.0, f64::NEG_INFINITY, 5e-324];
    let float = |i: u32| if i.is_multiple_of(3) { odd[i as usize % 5] } else { f64::from(i) / 7.0 - 20.0 };
    (0..300).map(|i| (i * 37 % 61, float(i), float(i * 5 + 1))).collect()
}

#[autobatch(strict)]
fn tuple(rounds: u32, x: f64, y: f64) -> u64 {
    let mut state = (x, y, 0.5_f64);
    let mut i = rounds;
    while i > 0 {
        if i % 3 == 1 {
            state = (state.1, state.0, state.2 * 1.25);
        }
        if i % 7 == 2 {
            state.2 = -state.2;
        }
        i -= 1 + i / 40;
    }
    state.0.to_bits() ^ state.1.to_bits().rotate_left(7) ^ state.2.to_bits().rotate_left(11)
}

#[autobatch(strict)]
fn array(rounds: u32, x: f64, y: f64) -> u32 {
    let mut state = [f32::from_bits(x.to_bits() as u32), y as f32, 0.5];
    let mut kept = [0.0f64; 2];
    let mut i = rounds;
    while i > 0 {
        if i % 3 == 1 {
            state = [state[2], state[0], state[1]];
        } else if i % 5 == 4 {
            kept = [x, kept[0]];
            state[1] = 4.0;
        }
        i -= 1 + i / 40;
    }
    let bits = (kept[0].to_bits() ^ kept[1].to_bits().rotate_left(9)) as u32;
    bits ^ state[0].to_bits() ^ state[1].to_bits().rotate_left(5) ^ state[2].to_bits().rotate_left(3)
}

#[derive(Clone, Copy, Debug)]
struct Inner(f64, [f64; 2]);

/// All of it floats, with an operator that the attribute does not see through.
#[derive(Clone, Copy, Debug)]
struct Floats {
    at: Inner,
    last: f64,
}

impl Add<f64> for Floats {
    type Output = Floats;
    fn add(self, by: f64) -> Floats {
        Floats { at: Inner(self.at.1[1], [self.at.0, self.at.1[0]]), last: self.last + by }
    }
}

impl Floats {
    fn bits(&self) -> u64 {
        let Floats { at: Inner(x, [y, z]), last } = self;
        [x, y, z, last].iter().fold(0, |bits: u64, float| bits.rotate_left(13) ^ float.to_bits())
    }
}

#[autobatch(strict)]
fn structure(rounds: u32, x: f64, y: f64) -> u64 {
    let mut state = Floats { at: Inner(x, [y, -0.0]), last: 1.0 };
    let mut i = rounds;
    while i > 0 {
        if i % 3 == 1 {
            state = state + 0.5;
        }
        if i % 11 == 4 {
            state.at.1[0] = x;
        }
        i -= 1 + i / 40;
    }
    state.bits()
}

/// Of floats too, but of two widths, and with padding.
#[derive(Clone, Copy, Debug)]
struct Padded {
    x: f32,
    y: f64,
}

impl Padded {
    fn turn(&mut self) {
        if self.x > 3.0 {
            *self = Padded { x: 0.25, y: -self.y };
        }
        self.x += 1.0;
    }
}

#[autobatch(strict)]
fn padded(rounds: u32, x: f64, y: f64) -> u64 {
    let mut state = Padded { x: 0.0, y };
    let mut i = rounds;
    while i > 0 {
        state.turn();
        if i % 5 == 1 {
            state.y = x;
        }
        i -= 1 + i / 40;
    }
    state.y.to_bits() ^ u64::from(state.x.to_bits())
}

/// In the body a structure has the name of another one.
#[autobatch]
fn of_its_own(rounds: u32, x: f64) -> u64 {
    #[derive(Clone, Copy)]
    struct Floats(f64, u64);
    let mut state = Floats(x, 1);
    let mut i = rounds;
    while i > 0 {
        if i % 3 == 1 {
            state = Floats(x, state.1 + 2);
        }
        i -= 1;
    }
    state.0.to_bits() ^ state.1
}

mod other {
    /// Another one of that name.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Floats {
        pub(super) at: f64,
        pub(super) more: u64,
    }
}

#[autobatch]
fn of_another_module(rounds: u32, start: other::Floats) -> u64 {
    let mut state = start;
    let mut i = rounds;
    while i > 0 {
        for k in 0..3 {
            if i % 3 == k {
                state = other::Floats { at: state.at, more: state.more.wrapping_mul(3) };
            }
        }
        i -= 1;
    }
    state.at.to_bits() ^ state.more
}

#[test]
fn they_agree() {
    let inputs = inputs();
    macro_rules! agree {
        ($($scalar:ident $batched:ident),*) => {$(
            agree_at(
                &SIZES,
                &inputs,
                |(n, x, y)| $scalar(*n, *x, *y),
                |batch, o| $batched(column(batch, |i| i.0), column(batch, |i| i.1), column(batch, |i| i.2), o),
            );
        )*};
    }
    agree!(
        tuple tuple_batched_with,
        array array_batched_with,
        structure structure_batched_with,
        padded padded_batched_with
    );
    agree_at(
        &SIZES,
        &inputs,
        |(n, x, _)| of_its_own(*n, *x),
        |batch, o| of_its_own_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |(n, x, _)| of_another_module(*n, other::Floats { at: *x, more: 1 }),
        |batch, o| {
            let starts = column(batch, |i| other::Floats { at: i.1, more: 1 });
            of_another_module_batched_with(column(batch, |i| i.0), starts, o)
        },
    );
}
