//! Soft shadows: the part of a round light that a point sees, by samples; vectors as structs, arrays, numbers.

#![allow(clippy::needless_range_loop)] // written as users write

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 4_096;
const SAMPLES: u32 = 16;

#[derive(Clone, Copy, Debug)]
struct Xorshift(u32);

impl Xorshift {
    fn uniform(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 * (1.0 / 16_777_216.0)
    }
}

#[derive(Clone, Copy, Debug)]
struct V3 {
    x: f32,
    y: f32,
    z: f32,
}

impl V3 {
    fn new(x: f32, y: f32, z: f32) -> V3 {
        V3 { x, y, z }
    }

    fn dot(self, o: V3) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
}

impl std::ops::Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        V3::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

/// A sphere that casts a shadow.
#[derive(Clone, Copy, Debug)]
struct Sphere {
    centre: V3,
    radius: f32,
}

/// Whether the way from a point to the end of a vector meets a sphere.
fn meets(sphere: &Sphere, from: V3, way: V3) -> bool {
    let to = sphere.centre - from;
    let (along, length) = (to.dot(way), way.dot(way));
    if along <= 0.0 || along >= length {
        return false;
    }
    let rest = to.dot(to) - along * along / length;
    rest < sphere.radius * sphere.radius
}

/// Structs; a `for` with an early return in a helper.
fn hidden(spheres: &[Sphere], from: V3, to: V3) -> bool {
    for sphere in spheres {
        if meets(sphere, from, to - from) {
            return true;
        }
    }
    false
}

#[autobatch]
fn structure(rng: &mut Xorshift, x: f32, y: f32, spheres: &[Sphere]) -> f32 {
    let point = V3::new(x, y, 0.0);
    let mut seen = 0u32;
    for _ in 0..SAMPLES {
        let light = V3::new(rng.uniform() * 2.0 - 1.0, rng.uniform() * 2.0 - 1.0, 8.0);
        if !hidden(spheres, point, light) {
            seen += 1;
        }
    }
    seen as f32 / SAMPLES as f32
}

/// `any` in place of the loop.
#[autobatch]
fn any(rng: &mut Xorshift, x: f32, y: f32, spheres: &[Sphere]) -> f32 {
    let point = V3::new(x, y, 0.0);
    let mut seen = 0u32;
    for _ in 0..SAMPLES {
        let light = V3::new(rng.uniform() * 2.0 - 1.0, rng.uniform() * 2.0 - 1.0, 8.0);
        if !spheres.iter().any(|sphere| meets(sphere, point, light - point)) {
            seen += 1;
        }
    }
    seen as f32 / SAMPLES as f32
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Arrays, with `break`.
#[autobatch]
fn arrays(rng: &mut Xorshift, x: f32, y: f32, spheres: &[Sphere]) -> f32 {
    let point = [x, y, 0.0];
    let mut seen = 0u32;
    for _ in 0..SAMPLES {
        let light = [rng.uniform() * 2.0 - 1.0, rng.uniform() * 2.0 - 1.0, 8.0];
        let mut way = [0.0; 3];
        for i in 0..3 {
            way[i] = light[i] - point[i];
        }
        let mut hidden = false;
        for sphere in spheres {
            let centre = [sphere.centre.x, sphere.centre.y, sphere.centre.z];
            let mut to = [0.0; 3];
            for i in 0..3 {
                to[i] = centre[i] - point[i];
            }
            let (along, length) = (dot(to, way), dot(way, way));
            if along > 0.0
                && along < length
                && dot(to, to) - along * along / length < sphere.radius * sphere.radius
            {
                hidden = true;
                break;
            }
        }
        if !hidden {
            seen += 1;
        }
    }
    seen as f32 / SAMPLES as f32
}

/// Numbers, a list of each coordinate, indices.
#[autobatch]
fn lists(rng: &mut Xorshift, x: f32, y: f32, cx: &[f32], cy: &[f32], cz: &[f32], r: &[f32]) -> f32 {
    let mut seen = 0u32;
    for _ in 0..SAMPLES {
        let (lx, ly) = (rng.uniform() * 2.0 - 1.0 - x, rng.uniform() * 2.0 - 1.0 - y);
        let lz = 8.0f32;
        let mut i = 0;
        while i < cx.len() {
            let (tx, ty, tz) = (cx[i] - x, cy[i] - y, cz[i]);
            let (along, length) = (tx * lx + ty * ly + tz * lz, lx * lx + ly * ly + lz * lz);
            if along > 0.0
                && along < length
                && tx * tx + ty * ty + tz * tz - along * along / length < r[i] * r[i]
            {
                break;
            }
            i += 1;
        }
        if i == cx.len() {
            seen += 1;
        }
    }
    seen as f32 / SAMPLES as f32
}

/// Structs, the generator a copy.
#[autobatch]
fn copied(seed: u32, x: f32, y: f32, spheres: &[Sphere]) -> f32 {
    let mut rng = Xorshift(seed);
    let point = V3::new(x, y, 0.0);
    let mut seen = 0.0;
    let mut sample = 0;
    while sample < SAMPLES {
        let light = V3::new(rng.uniform() * 2.0 - 1.0, rng.uniform() * 2.0 - 1.0, 8.0);
        seen += if hidden(spheres, point, light) { 0.0 } else { 1.0 };
        sample += 1;
    }
    seen / SAMPLES as f32
}

struct Scene {
    seeds: Vec<u32>,
    x: Vec<f32>,
    y: Vec<f32>,
    spheres: Vec<Sphere>,
    lists: [Vec<f32>; 4],
}

fn scene(members: usize) -> Scene {
    let mut numbers = Numbers::new(23);
    let mut column =
        |low: f64, high: f64, n| -> Vec<f32> { (0..n).map(|_| numbers.within(low, high) as f32).collect() };
    let (x, y) = (column(-4.0, 4.0, members), column(-4.0, 4.0, members));
    let lists = [column(-3.0, 3.0, 24), column(-3.0, 3.0, 24), column(1.0, 6.0, 24), column(0.2, 0.8, 24)];
    let sphere =
        |i: usize| Sphere { centre: V3::new(lists[0][i], lists[1][i], lists[2][i]), radius: lists[3][i] };
    let spheres = (0..24).map(sphere).collect();
    let seeds = (0..members).map(|_| numbers.bits() as u32 | 1).collect();
    Scene { seeds, x, y, spheres, lists }
}

counterpart! {
    fn ispc_shadows(
        columns(seeds: u32, x: f32, y: f32), shared(cx: f32, cy: f32, cz: f32, r: f32), uniform(spheres: i32)
    ) -> f32
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    macro_rules! style {
        ($name:literal, $scalar:ident, $batched:ident) => {
            Style {
                name: $name,
                inputs: scene(n),
                states: scene(n).seeds.iter().map(|seed| Xorshift(*seed)).collect::<Vec<_>>(),
                scalar: |s, m, rng| $scalar(rng, s.x[m], s.y[m], &s.spheres),
                batched: |s, states, options| $batched(states, &s.x, &s.y, &s.spheres, options),
            }
            .any()
        };
    }
    vec![
        style!("shadows/struct and a helper", structure, structure_batched_with),
        style!("shadows/any", any, any_batched_with),
        style!("shadows/arrays", arrays, arrays_batched_with),
        Style {
            name: "shadows/list per field",
            inputs: scene(n),
            states: scene(n).seeds.iter().map(|seed| Xorshift(*seed)).collect::<Vec<_>>(),
            scalar: |s, m, rng| {
                let [a, b, c, d] = &s.lists;
                lists(rng, s.x[m], s.y[m], a, b, c, d)
            },
            batched: |s, states, options| {
                let [a, b, c, d] = &s.lists;
                lists_batched_with(states, &s.x, &s.y, a, b, c, d, options)
            },
        }
        .against(Agreement::Close { tolerance: 1e-6, except: 0.01 }, |s, target, first, out| {
            let [a, b, c, d] = &s.lists;
            ispc_shadows(target, first, &s.seeds, &s.x, &s.y, out, a, b, c, d, a.len() as i32);
        }),
        Style {
            name: "shadows/generator in a local",
            inputs: scene(n),
            states: vec![(); n],
            scalar: |s, m, ()| copied(s.seeds[m], s.x[m], s.y[m], &s.spheres),
            batched: |s, _, options| copied_batched_with(&s.seeds, &s.x, &s.y, &s.spheres, options),
        }
        .any(),
    ]
}
