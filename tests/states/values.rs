//! States that vector code takes as values and hands back: of programs that only compute otherwise.

use std::sync::atomic::{AtomicU64, Ordering};

use autobatch::{Engine, Executor, FaultKind, Isa, Options, Program, autobatch};

use crate::common::promises::states_agree;
use crate::common::{Bits, executors, overdue_with_results};
use crate::seeds;

/// A generator that is not `Copy`, with a method that calls another.
#[derive(Clone, Debug)]
struct Xorshift(u64);

impl Xorshift {
    fn new(seed: u64) -> Xorshift {
        Xorshift(seed | 1)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

impl Bits for Xorshift {
    fn same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

fn generators() -> Vec<Xorshift> {
    seeds().map(Xorshift).to_vec()
}

/// A branching walk. The state is handed on to two calls, between which it is used.
#[autobatch(strict)]
fn grow(rng: &mut Xorshift, n: u64) -> f64 {
    let u = rng.uniform();
    if u < 0.1 || n % 16 == 0 {
        return u;
    }
    let left = grow(rng, n % 16 / 2);
    let weight = rng.uniform();
    let right = grow(rng, n % 16 / 3);
    left * weight - right
}

/// Without a result, in a branch without a value.
#[autobatch]
mod shuffles {
    pub(super) fn shuffle(s: &mut [u64; 4], n: u64) -> u64 {
        shuffled(s, n);
        s[0]
    }

    fn shuffled(s: &mut [u64; 4], n: u64) {
        s[0] = s[0].wrapping_mul(5).wrapping_add(n);
        if n % 9 == 0 {
            s[3] ^= 1;
            return;
        }
        *s = [s[1], s[2], s[3], s[0]];
        if s[0] % 2 == 0 {
            shuffled(s, n % 9 - 1)
        } else {
            shuffled(s, n % 9 / 2);
            s[1] = s[1].rotate_left(3);
        }
    }
}

/// Its own result is a tuple, and a call is made where an operand has been read.
#[autobatch(strict)]
fn operands(s: &mut (u64, f64), n: u64) -> (u64, f64) {
    s.0 = s.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    if n % 8 == 0 {
        return (s.0 >> 60, s.1);
    }
    let sum = (s.0 >> 50) + operands(s, n % 8 - 1).0 + (s.0 >> 50);
    s.1 += sum as f64;
    (sum, s.1)
}

/// The longest way to an end, two states, each handed on to its own place.
#[autobatch(strict)]
fn both(a: &mut Xorshift, b: &mut [f64; 2], n: u64) -> u64 {
    b[(n % 2) as usize] += a.uniform();
    if n % 12 == 0 {
        return b[0].to_bits() >> 50;
    }
    let deep = both(a, b, n % 12 - 1);
    match deep % 3 {
        0 => both(a, b, n % 12 / 4),
        1 => {
            b[1] = 0.5 * b[0];
            deep
        }
        _ => 1 + both(a, b, n % 12 / 3),
    }
}

/// A structure in a structure, one field of which is handed on.
#[autobatch]
mod walks {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Walker {
        pub(super) at: (f64, f64),
        pub(super) rng: Steps,
        pub(super) count: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Steps {
        pub(super) seed: u64,
    }

    pub(super) fn walk(w: &mut Walker, n: u64) -> f64 {
        let mut longest = 0.0f64;
        while w.count < (n % 23) as u32 {
            let step = step(&mut w.rng.seed, n % 5);
            w.at.0 += step;
            w.at.1 -= 0.5 * step;
            w.count += 1;
            longest = longest.max(w.at.0 * w.at.0 + w.at.1 * w.at.1);
        }
        longest
    }

    /// The sum of some numbers of a generator, by recursion.
    fn step(seed: &mut u64, n: u64) -> f64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        let own = (*seed >> 40) as f64 * 1e-6 - 8.0;
        if n == 0 { own } else { own + step(seed, n - 1) }
    }
}

impl Bits for walks::Walker {
    fn same(&self, o: &walks::Walker) -> bool {
        self.at.same(&o.at) && self.rng == o.rng && self.count == o.count
    }
}

fn walkers() -> Vec<walks::Walker> {
    let walker = |seed| walks::Walker { at: (0.5, -0.25), rng: walks::Steps { seed }, count: 0 };
    seeds().map(walker).to_vec()
}

/// A method that changes its receiver.
#[derive(Clone, Debug)]
struct Spiral {
    at: f64,
    seed: u64,
}

#[autobatch(strict)]
impl Spiral {
    fn turn(&mut self, n: u64) -> f64 {
        self.seed = self.seed.wrapping_mul(3) ^ n;
        if n % 14 == 0 {
            return self.at;
        }
        let inner = self.turn(n % 14 - 1);
        self.at += inner * 0.5 + (self.seed % 7) as f64;
        self.at
    }
}

impl Bits for Spiral {
    fn same(&self, o: &Spiral) -> bool {
        self.at.same(&o.at) && self.seed == o.seed
    }
}

fn spirals() -> Vec<Spiral> {
    seeds().map(|seed| Spiral { at: 0.5, seed }).to_vec()
}

/// A generator that is no state, but a local: it is lent to a call for a while.
#[autobatch]
mod locals {
    pub(super) fn local(sum: &mut u64, n: u64) -> u64 {
        let mut seed = *sum | 1;
        let mut found = 0u64;
        for round in 0..n % 7 + 1 {
            found = found.wrapping_add(dive(&mut seed, round + 2));
        }
        *sum ^= seed;
        found
    }

    fn dive(seed: &mut u64, n: u64) -> u64 {
        *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(n);
        if n == 0 || *seed >> 62 == 0 { *seed >> 40 } else { dive(seed, n - 1) ^ dive(seed, n / 2) }
    }
}

/// A generator that is made, used and forgotten, and that is not `Copy`.
#[autobatch(strict)]
fn made(found: &mut u64, n: u64) -> u64 {
    let mut rng = Xorshift::new(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut rounds = 0;
    while rng.uniform() > 0.05 {
        rounds += 1;
        *found ^= rng.bits() >> 7;
    }
    rounds
}

states_agree! {
    an_owned_local: made, made_batched_with, seeds().to_vec();
    a_generator_is_handed_on_between_calls: grow, grow_batched_with, generators();
    a_function_without_a_result: shuffles::shuffle, shuffles::shuffle_batched_with, seeds().map(|s| [s, s / 3, s / 5, 1]).to_vec();
    operands_are_read_before_a_call: operands, operands_batched_with, seeds().map(|s| (s, 0.5)).to_vec();
    a_field_is_handed_on: walks::walk, walks::walk_batched_with, walkers();
    a_receiver_is_a_state: Spiral::turn, Spiral::turn_batched_with, spirals();
    a_local_is_lent_to_a_call: locals::local, locals::local_batched_with, seeds().to_vec();
}

#[test]
fn two_states_change_in_each_call() {
    let numbers: Vec<u64> = (0..211).collect();
    let seeds: Vec<u64> = seeds().into_iter().cycle().take(211).collect();
    for (name, options) in executors() {
        for (lanes, isa) in [(1000, Isa::Avx512), (64, Isa::Avx2), (7, Isa::Baseline)] {
            let mut a: Vec<Xorshift> = seeds.iter().map(|s| Xorshift(*s)).collect();
            let mut b = vec![[0.5, 0.25]; 211];
            let options = options.clone().lanes(lanes).isa(isa);
            let outcome = both_batched_with(&mut a, &mut b, &numbers, &options).expect("a batch");
            let results = outcome.into_values().expect("no faults");
            for (at, n) in numbers.iter().enumerate() {
                let (mut rng, mut list) = (Xorshift(seeds[at]), [0.5, 0.25]);
                assert_eq!(results[at], both(&mut rng, &mut list, *n), "{name}: {n}");
                assert!(a[at].same(&rng) && b[at].same(&list), "{name}: {n}");
            }
        }
    }
}

/// Fails for some members, behind calls that have changed the state.
#[autobatch(strict)]
fn fails(rng: &mut Xorshift, n: u64) -> u64 {
    let bits = rng.bits();
    if n % 16 == 0 {
        assert!(bits % 13 > 0, "{bits} is a multiple");
        return bits >> 40;
    }
    fails(rng, n % 16 / 2) ^ fails(rng, n % 16 / 3)
}

#[test]
fn a_tile_that_is_lost_leaves_states_as_they_were() {
    let numbers: Vec<u64> = (0..500).collect();
    let states: Vec<Xorshift> = generators().into_iter().cycle().take(500).collect();
    for (name, options) in executors() {
        for (threads, lanes) in [(1, 1000), (2, 64)] {
            let mut own = states.clone();
            let options = options.clone().threads(threads).lanes(lanes);
            let outcome = fails_batched_with(&mut own, &numbers, &options).expect("a batch");
            let results = outcome.into_results();
            for (at, n) in numbers.iter().enumerate() {
                let mut rng = states[at].clone();
                match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fails(&mut rng, *n))) {
                    Ok(expected) => assert_eq!(results[at].as_ref().ok(), Some(&expected), "{name}: {n}"),
                    Err(_) => {
                        let fault = results[at].as_ref().expect_err("a fault");
                        assert_eq!((fault.member, fault.kind), (at, FaultKind::Panic), "{name}: {n}");
                    }
                }
                // As the scalar function leaves it, also where it fails.
                assert!(own[at].same(&rng), "{name}: {n}");
            }
        }
    }
}

/// Goes on for as long as it likes for some members.
#[autobatch(strict)]
fn endless(rng: &mut Xorshift, n: u64) -> u64 {
    let mut rounds = 0;
    while n % 10 == 7 || rounds < n {
        rounds += 1 + rng.bits() % 2;
    }
    rounds
}

#[test]
fn limits_end_members_alone() {
    let numbers: Vec<u64> = (0..300).collect();
    let states: Vec<Xorshift> = generators().into_iter().cycle().take(300).collect();
    for (name, options) in executors() {
        let mut own = states.clone();
        let options = options.clone().max_steps(5000);
        let outcome = endless_batched_with(&mut own, &numbers, &options).expect("a batch");
        for (at, result) in outcome.into_results().into_iter().enumerate() {
            match numbers[at] % 10 {
                7 => assert_eq!(result.expect_err("a fault").kind, FaultKind::StepsExceeded, "{name}"),
                _ => {
                    let mut rng = states[at].clone();
                    assert_eq!(result.ok(), Some(endless(&mut rng, numbers[at])), "{name}");
                    assert!(own[at].same(&rng), "{name}");
                }
            }
        }
    }
}

#[test]
fn who_is_cancelled_takes_no_other_member_along() {
    let numbers: Vec<u64> = (0..600).collect();
    let states: Vec<Xorshift> = generators().into_iter().cycle().take(600).collect();
    for (name, options) in executors() {
        for threads in [1, 2] {
            let mut own = states.clone();
            let options = options.clone().threads(threads).quiet(true);
            let outcome = overdue_with_results(540, &options, |options| {
                own.clone_from(&states);
                endless_batched_with(&mut own, &numbers, options).expect("a batch")
            });
            for (at, result) in outcome.into_results().into_iter().enumerate() {
                match numbers[at] % 10 {
                    7 => assert!(result.is_err(), "{name}"),
                    _ => {
                        let mut rng = states[at].clone();
                        assert_eq!(result.ok(), Some(endless(&mut rng, numbers[at])), "{name}");
                        assert!(own[at].same(&rng), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn they_run_on_vectors() {
    let programs: [&Program; 10] = [
        grow_batched::program(),
        shuffles::shuffle_batched::program(),
        operands_batched::program(),
        both_batched::program(),
        Spiral::turn_batched_program(),
        walks::walk_batched::program(),
        locals::local_batched::program(),
        fails_batched::program(),
        endless_batched::program(),
        made_batched::program(),
    ];
    for program in programs {
        assert!(program.engines.contains(&Engine::VectorFrames), "{program}");
    }
    let mut states = generators();
    let numbers: Vec<u64> = (0..states.len() as u64).collect();
    let options = Options::default().executor(Executor::Masked);
    let outcome = grow_batched_with(&mut states, &numbers, &options).expect("a batch");
    assert!(Isa::detect() == Isa::Baseline || outcome.report().engine == Engine::VectorFrames);
}

/// What needs drop is none, though it has numbers only.
#[derive(Debug)]
struct Counted(u64);

static DROPPED: AtomicU64 = AtomicU64::new(0);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(self.0 % 10, Ordering::Relaxed);
    }
}

#[autobatch]
fn counts(state: &mut Counted, n: u64) -> u64 {
    let mut own = Counted(n);
    while own.0 > 1 {
        own.0 /= 2;
        state.0 = state.0.wrapping_mul(3) + own.0 % 2;
    }
    if n % 3 == 0 {
        *state = Counted(state.0 ^ n);
    }
    state.0
}

/// The same where there is no state.
#[autobatch]
fn counts_alone(n: u64) -> u64 {
    let mut own = Counted(n);
    let mut sum = 0;
    while own.0 > 1 {
        own.0 /= 2;
        sum += own.0 % 2 + Counted(own.0).0 % 3;
    }
    sum
}

#[test]
fn a_structure_with_a_drop_is_dropped_as_often_as_ever() {
    let numbers: Vec<u64> = (0..211).collect();
    let states = || numbers.iter().map(|n| Counted(n * n)).collect::<Vec<_>>();
    let mut own = states();
    let count = || DROPPED.swap(0, Ordering::Relaxed);
    count();
    let expected: Vec<u64> = own.iter_mut().zip(&numbers).map(|(state, n)| counts(state, *n)).collect();
    let dropped = count();
    for (name, options) in executors() {
        let mut found = states();
        let outcome = counts_batched_with(&mut found, &numbers, &options).expect("a batch");
        assert_eq!(outcome.into_values().expect("no faults"), expected, "{name}");
        assert_eq!(count(), dropped, "{name}");
        assert!(found.iter().zip(&own).all(|(found, own)| found.0 == own.0), "{name}");
        drop(found);
        count();
    }
    let expected: Vec<u64> = numbers.iter().map(|n| counts_alone(*n)).collect();
    let dropped = count();
    for (name, options) in executors() {
        let outcome = counts_alone_batched_with(&numbers, &options).expect("a batch");
        assert_eq!(outcome.into_values().expect("no faults"), expected, "{name}");
        assert_eq!(count(), dropped, "{name}");
    }
}
