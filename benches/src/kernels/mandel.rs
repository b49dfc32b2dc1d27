//! The Mandelbrot set: one loop with a break, the trip count differing by member.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::{shuffled, spread};
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
fn mandel(c_re: f32, c_im: f32, #[shared] limit: i32) -> i32 {
    let (mut z_re, mut z_im) = (c_re, c_im);
    let mut i = 0;
    while i < limit {
        if z_re * z_re + z_im * z_im > 4.0 {
            break;
        }
        let re = z_re * z_re - z_im * z_im;
        let im = 2.0 * z_re * z_im;
        z_re = c_re + re;
        z_im = c_im + im;
        i += 1;
    }
    i
}

counterpart! {
    fn ispc_mandel(columns(re: f32, im: f32), uniform(limit: i32)) -> i32
}

const WIDTH: usize = 768;
const HEIGHT: usize = 512;
const LIMIT: i32 = 256;

/// The pixels of an image, line by line or in a pseudo-random order.
pub struct Mandel<const SHUFFLED: bool> {
    re: Vec<f32>,
    im: Vec<f32>,
}

impl<const SHUFFLED: bool> Kernel for Mandel<SHUFFLED> {
    type Value = i32;
    const NAME: &'static str = if SHUFFLED { "mandel_shuffled" } else { "mandel" };
    const MEMBERS: usize = WIDTH * HEIGHT;
    // A fused multiplication decides a few pixels differently.
    const PEER: Agreement = Agreement::Close { tolerance: 0.0, except: 0.02 };

    fn new(members: usize) -> Self {
        let order = if SHUFFLED { shuffled(WIDTH * HEIGHT) } else { (0..WIDTH * HEIGHT).collect() };
        let pixel = |k: usize| {
            let (column, row) = ((k % WIDTH) as f32, (k / WIDTH) as f32);
            (-2.0 + 3.0 * column / WIDTH as f32, -1.0 + 2.0 * row / HEIGHT as f32)
        };
        let (re, im) = spread(members, order.len()).map(|i| pixel(order[i])).unzip();
        Mandel { re, im }
    }

    fn members(&self) -> usize {
        self.re.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> i32 {
        mandel(self.re[i], self.im[i], LIMIT)
    }

    fn batched(&self, options: &Options) -> Result<Outcome<i32>, BatchError> {
        mandel_batched_with(&self.re, &self.im, LIMIT, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [i32]) {
        ispc_mandel(target, first, &self.re, &self.im, out, LIMIT);
    }
}
