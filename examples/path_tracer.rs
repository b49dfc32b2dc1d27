//! A picture by path tracing: light bounces between spheres until it leaves or Russian roulette ends it.
//!
//! Checked by the white furnace: white things under a white sky can't be seen. `cargo run --release --example path_tracer`

mod pictures;

use std::ops::{Add, Mul, Sub};

use autobatch::{Options, autobatch};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

fn vector(x: f64, y: f64, z: f64) -> Vector {
    Vector { x, y, z }
}

impl Vector {
    fn dot(self, other: Vector) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn unit(self) -> Vector {
        (1.0 / self.dot(self).sqrt()) * self
    }

    fn times(self, other: Vector) -> Vector {
        vector(self.x * other.x, self.y * other.y, self.z * other.z)
    }
}

impl Add for Vector {
    type Output = Vector;

    fn add(self, other: Vector) -> Vector {
        vector(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vector {
    type Output = Vector;

    fn sub(self, other: Vector) -> Vector {
        vector(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<Vector> for f64 {
    type Output = Vector;

    fn mul(self, v: Vector) -> Vector {
        vector(self * v.x, self * v.y, self * v.z)
    }
}

struct Sphere {
    centre: Vector,
    radius: f64,
    colour: Vector,
    mirror: bool,
}

/// What is to be seen; the sky shines from `horizon` to `zenith`.
struct Scene {
    spheres: Vec<Sphere>,
    horizon: Vector,
    zenith: Vector,
}

/// Each path's own generator of random numbers: a PCG.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (((self.0 >> 18) ^ self.0) >> 27) as u32;
        f64::from(word.rotate_right((self.0 >> 59) as u32)) / f64::from(u32::MAX)
    }
}

/// The light that comes along one random path that begins with this ray.
#[autobatch]
fn radiance(mut from: Vector, mut towards: Vector, scene: &Scene, random: &mut Random) -> Vector {
    let mut weight = vector(1.0, 1.0, 1.0);
    loop {
        let mut distance = f64::INFINITY;
        let mut hit = None;
        for sphere in &scene.spheres {
            let to = sphere.centre - from;
            let along = to.dot(towards);
            let square = along * along - to.dot(to) + sphere.radius * sphere.radius;
            if square > 0.0 {
                let root = square.sqrt();
                let near = if along - root > 1e-6 { along - root } else { along + root };
                if near > 1e-6 && near < distance {
                    (distance, hit) = (near, Some(sphere));
                }
            }
        }
        let Some(sphere) = hit else {
            let height = 0.5 * (towards.y + 1.0);
            return weight.times((1.0 - height) * scene.horizon + height * scene.zenith);
        };
        from = from + distance * towards;
        let normal = (1.0 / sphere.radius) * (from - sphere.centre);
        weight = weight.times(sphere.colour);
        // Russian roulette: a path ends by chance, and those that go on count for it.
        let chance = 0.9 * weight.x.max(weight.y).max(weight.z).min(1.0);
        if random.next() >= chance {
            return vector(0.0, 0.0, 0.0);
        }
        weight = (1.0 / chance) * weight;
        if sphere.mirror {
            towards = towards - (2.0 * towards.dot(normal)) * normal;
        } else {
            // A point on the unit sphere, added to the normal, makes Lambert's law.
            let mut point = vector(1.0, 1.0, 1.0);
            while point.dot(point) > 1.0 || point.dot(point) < 1e-6 {
                point =
                    vector(2.0 * random.next() - 1.0, 2.0 * random.next() - 1.0, 2.0 * random.next() - 1.0);
            }
            towards = (normal + 0.999 * point.unit()).unit();
        }
    }
}

fn sphere(centre: [f64; 3], radius: f64, colour: [f64; 3], mirror: bool) -> Sphere {
    let of = |[x, y, z]: [f64; 3]| vector(x, y, z);
    Sphere { centre: of(centre), radius, colour: of(colour), mirror }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (width, height, paths) = (320, 180, 64);
    let rays = |k: usize| {
        let (pixel, path) = (k / paths, k % paths);
        let (x, y) = (
            (pixel % width) as f64 + (path % 8) as f64 / 8.0,
            (pixel / width) as f64 + (path / 8) as f64 / 8.0,
        );
        vector(2.0 * x / height as f64 - width as f64 / height as f64, 1.0 - 2.0 * y / height as f64, -2.2)
            .unit()
    };
    let towards: Vec<Vector> = (0..width * height * paths).map(rays).collect();
    let from = vec![vector(0.0, 0.7, 5.2); towards.len()];
    let random: Vec<Random> =
        (0..towards.len() as u64).map(|k| Random(k.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();

    let white = [1.0, 1.0, 1.0];
    let furnace = Scene {
        spheres: vec![sphere([-1.1, 0.0, 0.0], 1.0, white, false), sphere([1.1, 0.0, 0.0], 1.0, white, true)],
        horizon: vector(1.0, 1.0, 1.0),
        zenith: vector(1.0, 1.0, 1.0),
    };
    let light = radiance_batched(&from, &towards, &furnace, &mut random.clone());
    let count = light.len() as f64;
    let mean = light.iter().map(|l| l.x).sum::<f64>() / count;
    let error = (light.iter().map(|l| (l.x - mean).powi(2)).sum::<f64>() / count / count).sqrt();
    println!("white furnace: {mean:.5}, with a standard error of {error:.5}");
    assert!((mean - 1.0).abs() < 4.0 * error && error < 1e-3);

    let scene = Scene {
        spheres: vec![
            sphere([0.0, -1000.0, 0.0], 999.0, [0.75, 0.75, 0.7], false),
            sphere([-2.1, 0.0, -0.4], 1.0, [0.85, 0.3, 0.25], false),
            sphere([0.0, 0.0, 0.0], 1.0, [0.95, 0.95, 0.95], true),
            sphere([2.1, 0.0, -0.4], 1.0, [0.25, 0.45, 0.8], false),
            sphere([0.9, -0.65, 1.5], 0.35, [0.9, 0.75, 0.3], true),
        ],
        horizon: vector(1.0, 0.95, 0.9),
        zenith: vector(0.45, 0.6, 1.0),
    };
    let mut state = random.clone();
    let options = Options::default().report(true);
    let outcome = radiance_batched_with(&from, &towards, &scene, &mut state, &options)?;
    println!("\n{}", outcome.report());
    let light = outcome.into_values()?;
    assert_eq!(light[12345], radiance(from[12345], towards[12345], &scene, &mut random[12345].clone()));

    let mean = |paths: &[Vector]| {
        let sum = paths.iter().fold(vector(0.0, 0.0, 0.0), |sum, light| sum + *light);
        [sum.x, sum.y, sum.z].map(|v| v / paths.len() as f64)
    };
    let pixels: Vec<[f64; 3]> = light.chunks(paths).map(mean).collect();
    pictures::png("path_tracer.png", width, &pixels)?;
    Ok(())
}
