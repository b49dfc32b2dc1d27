//! Two larger programs: the queens, recursion inside a loop, and the bounce loop of a path tracer.

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

#[cfg_attr(feature = "batched", autobatch::autobatch)]
mod board {
    /// The ways to fill the rows that are left; the masks hold the columns and diagonals under attack.
    fn place(all: u32, columns: u32, left: u32, right: u32) -> u32 {
        if columns == all {
            return 1;
        }
        let mut free = all & !(columns | left | right);
        let mut count = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            count += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
        }
        count
    }

    pub(super) fn queens(size: u32, first: u32) -> u32 {
        let queen = 1 << first;
        place((1 << size) - 1, queen, queen << 1, queen >> 1)
    }
}

#[cfg_attr(feature = "batched", autobatch::autobatch)]
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

fn main() {
    let size: Vec<u32> = std::env::args().map(|argument| 4 + argument.len() as u32 % 5).collect();
    let x: Vec<f32> = size.iter().map(|size| *size as f32 * 0.01).collect();
    let ball = |x: f32| Sphere { x, y: 0.5, z: 0.0, radius: 0.4, albedo: 0.9, emission: 0.1, mirror: 0 };
    let scene = [ball(0.0), ball(1.0)];
    println!("{:?}", size.iter().map(|size| board::queens(*size, 0)).collect::<Vec<_>>());
    println!("{:?}", x.iter().map(|x| tracer::radiance(*x, *x, 7, &scene)).collect::<Vec<_>>());
    #[cfg(feature = "batched")]
    println!("{:?}", board::queens_batched(&size, autobatch::same(0)));
    #[cfg(feature = "batched")]
    println!("{:?}", tracer::radiance_batched(&x, &x, &size, &scene));
}
