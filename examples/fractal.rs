//! Loops that run for as long as the data says, over whole pictures and a whole range of numbers: the Mandelbrot set, a part of the
//! burning ship, and the longest Collatz sequence.
//!
//! Checked by the area of the set and the known sequence. `cargo run --release --example fractal`

mod pictures;

use autobatch::{autobatch, same};

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

/// The same with a fraction, by how far from the circle they lead, which is larger here: neighbours differ little.
#[autobatch(strict)]
fn smooth(c_re: f32, c_im: f32, #[shared] limit: f32) -> f32 {
    let (mut re, mut im, mut steps) = (c_re, c_im, 0.0);
    while steps < limit && re * re + im * im < 64.0 {
        (re, im) = (re * re - im * im + c_re, 2.0 * re * im + c_im);
        steps += 1.0;
    }
    let beyond = (re * re + im * im - 64.0) / 4032.0;
    (steps - beyond.sqrt().min(1.0)).max(0.0)
}

/// Steps for `z ← (|re z| + i |im z|)² + c`: the burning ship.
#[autobatch(strict)]
fn ship(c_re: f64, c_im: f64, limit: u32) -> u32 {
    let (mut re, mut im, mut i) = (0.0f64, 0.0f64, 0);
    while i < limit && re * re + im * im <= 4.0 {
        (re, im) = (re * re - im * im + c_re, 2.0 * (re * im).abs() + c_im);
        i += 1;
    }
    i
}

/// The points of a rectangle around a centre, row by row.
fn points(centre: (f64, f64), size: (f64, f64), width: usize, height: usize) -> (Vec<f64>, Vec<f64>) {
    let place = |k: usize, count: usize| (k as f64 + 0.5) / count as f64 - 0.5;
    let point = |k: usize| {
        (centre.0 + size.0 * place(k % width, width), centre.1 + size.1 * place(k / width, height))
    };
    (0..width * height).map(point).unzip()
}

/// A colour for a number of steps; black for points that stay.
fn colour(steps: f64, limit: f64) -> [f64; 3] {
    if steps == limit {
        return [0.0; 3];
    }
    let t = (steps / limit).sqrt();
    [(3.0 * t).min(1.0), (1.5 * t).powi(2).min(1.0), (0.15 + t).powi(3).min(1.0)]
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

fn main() -> std::io::Result<()> {
    let (width, height, limit) = (96, 32, 256);
    let (re, im) = points((-0.5, 0.0), (3.0, 2.0), width, height);
    let narrow = |all: Vec<f64>| all.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
    let steps = mandel_batched(narrow(re), narrow(im), limit);
    for row in steps.chunks(width) {
        let shade = |&steps: &i32| b" .:-=+*#%@"[(steps as usize).min(9)] as char;
        println!("{}", row.iter().map(shade).collect::<String>());
    }

    let (width, height, limit) = (900, 750, 400);
    let (re, im) = points((-0.5, 0.0), (3.0, 2.5), width, height);
    let steps = mandel_batched(narrow(re.clone()), narrow(im.clone()), limit);
    let inside = steps.iter().filter(|steps| **steps == limit).count();
    let area = 3.0 * 2.5 * inside as f64 / steps.len() as f64;
    println!("The Mandelbrot set has an area of about {area:.3}; to more digits it is 1.5066.");
    assert!((area - 1.5066).abs() < 0.02);
    let steps = smooth_batched(narrow(re), narrow(im), limit as f32);
    let pixels: Vec<[f64; 3]> =
        steps.iter().map(|steps| colour(f64::from(*steps), f64::from(limit))).collect();
    pictures::png("mandelbrot.png", width, &pixels)?;

    // The burning ship, ever closer: four pictures side by side.
    let (width, height, limit) = (320, 360, 400);
    let mut rows = vec![Vec::new(); height];
    for (nth, centre) in
        [(-0.5, -0.4), (-1.62, -0.03), (-1.755, -0.032), (-1.7625, -0.028)].into_iter().enumerate()
    {
        let size = 3.2 / 6f64.powi(nth as i32);
        let (re, im) = points(centre, (size, size * height as f64 / width as f64), width, height);
        let steps = ship_batched(&re, &im, same(limit));
        assert_eq!(steps[7], ship(re[7], im[7], limit));
        for (row, steps) in rows.iter_mut().zip(steps.chunks(width)) {
            row.extend(steps.iter().map(|steps| colour(f64::from(*steps), f64::from(limit))));
        }
    }
    pictures::png("burning_ship.png", 4 * width, &rows.concat())?;

    let starts: Vec<u64> = (1..300_000).collect();
    let lengths = collatz_batched(&starts);
    let (steps, start) = lengths.iter().zip(&starts).max().expect("there are starts");
    println!("The longest of {} Collatz sequences starts at {start} and has {steps} steps.", starts.len());
    assert_eq!((*steps, *start), (442, 230_631));
    Ok(())
}
