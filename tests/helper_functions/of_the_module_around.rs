//! What a module takes from the module around: types with methods and operators, functions, constants. Names that it has itself mean its
//! own.

use std::ops::{Add, Mul};

use autobatch::{Engine, Program, autobatch};

use crate::common::{agree, column};

const STEP: f64 = 0.25;
const SCALE: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct V2 {
    x: f64,
    y: f64,
}

impl Add for V2 {
    type Output = V2;
    fn add(self, o: V2) -> V2 {
        V2 { x: self.x + o.x, y: self.y + o.y }
    }
}

impl Mul<V2> for f64 {
    type Output = V2;
    fn mul(self, v: V2) -> V2 {
        V2 { x: self * v.x, y: self * v.y }
    }
}

impl V2 {
    fn turned(self) -> V2 {
        V2 { x: -self.y, y: self.x }
    }
    fn scaled(self) -> V2 {
        SCALE * self
    }
    fn square(self) -> f64 {
        self.x * self.x + self.y * self.y
    }
}

/// A generator that is not `Copy`.
struct Lcg(u64);

impl Lcg {
    fn new(seed: u64) -> Lcg {
        Lcg(scrambled(seed))
    }
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

fn scrambled(seed: u64) -> u64 {
    (seed ^ 0x9e37_79b9).wrapping_mul(7)
}

fn shrunk(v: V2) -> V2 {
    STEP * v
}

/// All that there is.
#[autobatch(strict)]
mod takes_all {
    use super::*;

    pub(super) fn spiral(n: u64) -> f64 {
        let mut rng = Lcg::new(n);
        let mut at = V2 { x: rng.unit(), y: 0.5 };
        let mut rounds = 0;
        while at.square() < 40.0 && rounds < 90 {
            at = at + shrunk(at.turned()) + STEP * V2 { x: rng.unit(), y: -0.1 };
            rounds += 1;
        }
        at.x + f64::from(rounds)
    }

    /// By recursion, the generator lent.
    pub(super) fn branches(n: u64) -> f64 {
        let mut rng = Lcg::new(n);
        branch(&mut rng, V2 { x: 0.1, y: 0.2 }, 7)
    }

    fn branch(rng: &mut Lcg, at: V2, depth: u32) -> f64 {
        if depth == 0 || rng.unit() < 0.15 {
            return at.square();
        }
        let left = branch(rng, at + shrunk(at.turned()), depth - 1);
        left - branch(rng, at.scaled(), depth - 1)
    }
}

/// Names, one by one.
#[autobatch(strict)]
mod takes_names {
    use super::{STEP, V2};

    pub(super) fn walk(n: u64) -> f64 {
        let mut at = V2 { x: n as f64, y: STEP };
        let mut rounds = 0u32;
        while at.square() > 0.5 && rounds < 60 {
            at = V2 { x: at.x * 0.75, y: at.turned().x * STEP };
            rounds += 1;
        }
        at.x - f64::from(rounds)
    }
}

/// The module's `STEP`, `SCALE` and `shrunk` are not those that the functions of the module around mean.
#[autobatch]
mod has_its_own {
    use super::*;

    const STEP: f64 = 0.5;
    const SCALE: f64 = 0.125;

    fn shrunk(v: V2) -> V2 {
        V2 { x: v.x * STEP, y: v.y * SCALE }
    }

    pub(super) fn spiral(n: u64) -> f64 {
        let mut at = V2 { x: (n % 10) as f64 + STEP, y: 0.5 };
        let mut rounds = 0;
        while at.square() > 0.01 && rounds < 50 {
            at = shrunk(at.scaled()) + STEP * super::shrunk(at);
            rounds += 1;
        }
        at.x + f64::from(rounds)
    }
}

/// A type of the same name from elsewhere.
mod elsewhere {
    #[derive(Clone, Copy)]
    pub(super) struct V2 {
        pub(super) x: f64,
        pub(super) y: f64,
    }
    impl V2 {
        pub(super) fn square(self) -> f64 {
            self.x - self.y
        }
    }
}

#[autobatch]
mod takes_another {
    use super::elsewhere::V2;
    #[allow(unused_imports)]
    use super::*;

    pub(super) fn slides(n: u64) -> f64 {
        let mut at = V2 { x: 50.0, y: (n % 10) as f64 };
        let mut rounds = 0;
        while at.square() > STEP && rounds < 80 {
            at = V2 { x: at.x * 0.75, y: at.y };
            rounds += 1;
        }
        at.x + f64::from(rounds)
    }
}

/// A structure whose fields have a type of a name that the module gives to another.
type Real = f64;

#[derive(Clone, Copy)]
struct Pair {
    a: Real,
    b: Real,
}

impl Pair {
    fn difference(self) -> Real {
        self.a - self.b
    }
}

#[autobatch]
mod has_another_type {
    use super::Pair;

    type Real = f32;

    pub(super) fn halvings(n: u64) -> u32 {
        let mut pair = Pair { a: n as f64 + 0.1, b: 0.1 };
        let (mut rounds, one): (u32, Real) = (0, 1.0);
        while pair.difference() > f64::from(one) && rounds < 50 {
            pair = Pair { a: pair.a * 0.75, b: pair.b };
            rounds += 1;
        }
        rounds
    }
}

/// A type with its operators in the module, and its own method by value.
#[autobatch]
mod has_types {
    use std::ops::Sub;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Angle(pub(super) f64);

    impl Sub for Angle {
        type Output = Angle;
        fn sub(self, o: Angle) -> Angle {
            Angle(self.0 - 0.5 * o.0)
        }
    }

    impl Angle {
        fn halved(self) -> Angle {
            Angle(self.0 * 0.5)
        }

        pub(super) fn reduced(self, least: f64) -> f64 {
            let mut angle = self;
            let mut rounds = 0;
            while angle.0 > least && rounds < 40 {
                angle = angle - angle.halved();
                rounds += 1;
            }
            angle.0 + f64::from(rounds)
        }
    }
}

/// The receiver is a value of the `impl` block's type, whose other methods are called.
#[autobatch(strict)]
impl V2 {
    fn orbit(self, rounds: u64) -> f64 {
        let mut at = self;
        let mut left = rounds % 30;
        while left > 0 && at.square() < 1e6 {
            at = at + STEP * at.turned();
            left -= 1;
        }
        at.x - at.y
    }
}

#[test]
fn helpers_are_those_that_names_mean() {
    let n: Vec<u64> = (0..97).collect();
    macro_rules! agree_on {
        ($($scalar:path, $batched:path;)*) => {$(
            agree(&n, |n| $scalar(*n), |n, options| $batched(n, options));
        )*};
    }
    agree_on! {
        takes_all::spiral, takes_all::spiral_batched_with;
        takes_all::branches, takes_all::branches_batched_with;
        takes_names::walk, takes_names::walk_batched_with;
        has_its_own::spiral, has_its_own::spiral_batched_with;
        takes_another::slides, takes_another::slides_batched_with;
        has_another_type::halvings, has_another_type::halvings_batched_with;
    }
    let starts: Vec<(V2, u64)> = n.iter().map(|n| (V2 { x: *n as f64, y: 0.5 }, *n)).collect();
    agree(
        &starts,
        |(v, n)| v.orbit(*n),
        |batch, options| V2::orbit_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
    let angles: Vec<f64> = n.iter().map(|n| *n as f64).collect();
    agree(
        &angles,
        |a| has_types::Angle(*a).reduced(0.3),
        |batch, options| {
            let angles: Vec<has_types::Angle> = batch.iter().map(|a| has_types::Angle(*a)).collect();
            has_types::Angle::reduced_batched_with(&angles, autobatch::same(0.3), options)
        },
    );
}

#[test]
fn they_run_on_vectors() {
    let programs: [&Program; 5] = [
        takes_all::spiral_batched::program(),
        takes_all::branches_batched::program(),
        takes_names::walk_batched::program(),
        has_types::Angle::reduced_batched_program(),
        V2::orbit_batched_program(),
    ];
    for program in programs {
        assert!(program.engines.contains(&Engine::VectorFrames), "{program}");
    }
}
