//! Two loops that run for as long as the data says, over a whole picture and a whole range of numbers:
//! the Mandelbrot set, and the longest Collatz sequence.
//!
//! `cargo run --release --example fractal`

use autobatch::autobatch;

/// Steps until `z ← z² + c` leaves the circle of radius 2.
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

/// Steps until the sequence from `n` arrives at 1.
#[autobatch(strict)]
fn collatz(n: u64) -> u32 {
    let mut n = n;
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn main() {
    let (width, height, limit) = (96, 32, 256);
    let points = (0..width * height).map(|k| (k % width, k / width));
    let (re, im): (Vec<f32>, Vec<f32>) = points
        .map(|(x, y)| (-2.0 + 3.0 * x as f32 / width as f32, -1.0 + 2.0 * y as f32 / height as f32))
        .unzip();
    let steps = mandel_batched(&re, &im, limit);
    for row in steps.chunks(width) {
        let shade = |&steps: &i32| b" .:-=+*#%@"[(steps as usize).min(9)] as char;
        println!("{}", row.iter().map(shade).collect::<String>());
    }

    let starts: Vec<u64> = (1..300_000).collect();
    let lengths = collatz_batched(&starts);
    let (steps, start) = lengths.iter().zip(&starts).max().expect("there are starts");
    println!("The longest of {} Collatz sequences starts at {start} and has {steps} steps.", starts.len());
}
