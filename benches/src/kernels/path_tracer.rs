//! The bounce loop of a path tracer: a uniform loop over spheres, a rejection loop and several ways to
//! leave in each round, with random numbers of each member's own.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::spread;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

/// What light meets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    x: f32,
    y: f32,
    z: f32,
    radius: f32,
    albedo: f32,
    emission: f32,
    mirror: u32,
}

#[autobatch(strict)]
mod tracer {
    use super::Sphere;

    /// The next state of a PCG generator.
    fn advance(state: u32) -> u32 {
        state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453)
    }

    /// A generator's number in `0.0..1.0`.
    fn unit(state: u32) -> f32 {
        let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
        (((word >> 22) ^ word) >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// The light that arrives along one random path through a point of the image.
    pub(super) fn radiance(px: f32, py: f32, seed: u32, scene: &[Sphere]) -> f32 {
        let mut random = advance(seed);
        let scale = 1.0 / (px * px + py * py + 2.25).sqrt();
        let (mut ox, mut oy, mut oz) = (0.0f32, 1.0f32, 5.0f32);
        let (mut dx, mut dy, mut dz) = (px * scale, py * scale, -1.5 * scale);
        let (mut light, mut throughput) = (0.0, 1.0);
        let mut bounce = 0;
        while bounce < 32 {
            let mut distance = f32::INFINITY;
            let mut hit = 0;
            for (i, sphere) in scene.iter().enumerate() {
                let (cx, cy, cz) = (sphere.x - ox, sphere.y - oy, sphere.z - oz);
                let along = cx * dx + cy * dy + cz * dz;
                let square = along * along - (cx * cx + cy * cy + cz * cz) + sphere.radius * sphere.radius;
                if square > 0.0 {
                    let root = square.sqrt();
                    let near = if along - root > 1e-3 { along - root } else { along + root };
                    if near > 1e-3 && near < distance {
                        distance = near;
                        hit = i;
                    }
                }
            }
            if distance == f32::INFINITY {
                // The sky.
                return light + throughput * (0.6 + 0.4 * dy);
            }
            let sphere = scene[hit];
            light += throughput * sphere.emission;
            throughput *= sphere.albedo;
            if bounce >= 3 {
                // Russian roulette.
                random = advance(random);
                if unit(random) >= throughput {
                    return light;
                }
                throughput = 1.0;
            }
            (ox, oy, oz) = (ox + distance * dx, oy + distance * dy, oz + distance * dz);
            let inverse = 1.0 / sphere.radius;
            let (nx, ny, nz) =
                ((ox - sphere.x) * inverse, (oy - sphere.y) * inverse, (oz - sphere.z) * inverse);
            if sphere.mirror != 0 {
                let twice = 2.0 * (dx * nx + dy * ny + dz * nz);
                (dx, dy, dz) = (dx - twice * nx, dy - twice * ny, dz - twice * nz);
            } else {
                // A point on the unit sphere by rejection; added to the normal it makes Lambert's law.
                let (mut ux, mut uy, mut uz);
                let mut square;
                loop {
                    random = advance(random);
                    ux = 2.0 * unit(random) - 1.0;
                    random = advance(random);
                    uy = 2.0 * unit(random) - 1.0;
                    random = advance(random);
                    uz = 2.0 * unit(random) - 1.0;
                    square = ux * ux + uy * uy + uz * uz;
                    if square <= 1.0 && square > 1e-4 {
                        break;
                    }
                }
                let onto = 0.999 / square.sqrt();
                (dx, dy, dz) = (nx + onto * ux, ny + onto * uy, nz + onto * uz);
                let scale = 1.0 / (dx * dx + dy * dy + dz * dz).sqrt();
                (dx, dy, dz) = (dx * scale, dy * scale, dz * scale);
            }
            bounce += 1;
        }
        light
    }
}

counterpart! {
    fn ispc_path_tracer(
        columns(px: f32, py: f32, seed: u32), shared(scene: Sphere), uniform(spheres: i32)
    ) -> f32
}

const SIDE: usize = 512;

/// One path for each pixel of an image.
pub struct PathTracer {
    px: Vec<f32>,
    py: Vec<f32>,
    scene: Vec<Sphere>,
    seed: Vec<u32>,
}

/// A floor, a lamp, and two rows of balls.
fn scene() -> Vec<Sphere> {
    let plain = Sphere { x: 0.0, y: -100.0, z: 0.0, radius: 100.0, albedo: 0.8, emission: 0.0, mirror: 0 };
    let mut scene = vec![plain];
    scene.push(Sphere { y: 5.0, radius: 1.5, albedo: 0.0, emission: 4.0, ..plain });
    for i in 0..4 {
        let x = -2.4 + 1.6 * i as f32;
        scene.push(Sphere { x, y: 0.7, z: -1.0, radius: 0.7, albedo: 0.9, mirror: i % 2, ..plain });
        scene.push(Sphere {
            x: x + 0.8,
            y: 0.4,
            z: 1.0,
            radius: 0.4,
            albedo: 0.7,
            mirror: 1 - i % 2,
            ..plain
        });
    }
    scene
}

impl Kernel for PathTracer {
    type Value = f32;
    const NAME: &'static str = "path_tracer";
    const MEMBERS: usize = SIDE * SIDE;
    // A rounding decides whether a sphere is hit.
    const PEER: Agreement = Agreement::Close { tolerance: 1e-2, except: 0.02 };

    fn new(members: usize) -> Self {
        let place = |k: usize| (2 * k) as f32 / SIDE as f32 - 1.0;
        let pixels = || spread(members, SIDE * SIDE);
        PathTracer {
            px: pixels().map(|k| place(k % SIDE)).collect(),
            py: pixels().map(|k| -place(k / SIDE)).collect(),
            seed: (0..members as u32).collect(),
            scene: scene(),
        }
    }

    fn members(&self) -> usize {
        self.px.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> f32 {
        tracer::radiance(self.px[i], self.py[i], self.seed[i], &self.scene)
    }

    fn batched(&self, options: &Options) -> Result<Outcome<f32>, BatchError> {
        tracer::radiance_batched_with(&self.px, &self.py, &self.seed, &self.scene, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [f32]) {
        let spheres = self.scene.len() as i32;
        ispc_path_tracer(target, first, &self.px, &self.py, &self.seed, out, &self.scene, spheres);
    }
}
