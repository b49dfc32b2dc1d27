//! Deterministic inputs.

/// SplitMix64: the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform on `low..high`.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `members` numbers that are uniform on `low..high`.
pub fn uniform(members: usize, seed: u64, low: f32, high: f32) -> Vec<f32> {
    let mut numbers = Numbers::new(seed);
    (0..members).map(|_| numbers.within(low.into(), high.into()) as f32).collect()
}

/// `0..n` in a fixed pseudo-random order.
pub fn shuffled(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut numbers = Numbers::new(1);
    for i in (1..n).rev() {
        order.swap(i, numbers.below(i as u64 + 1) as usize);
    }
    order
}

/// The inputs, out of `full`, of a batch of `members`: all of them in order and again from the start, or one
/// from each of as many equal parts, at a random place so that no pattern of the inputs is met.
pub fn spread(members: usize, full: usize) -> impl Iterator<Item = usize> {
    let mut numbers = Numbers::new(2);
    (0..members).map(move |i| {
        if members >= full {
            return i % full;
        }
        let (start, end) = (i * full / members, (i + 1) * full / members);
        start + numbers.below((end - start) as u64) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut order = shuffled(1000);
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_batch_covers_the_inputs() {
        assert_eq!(spread(3, 3).collect::<Vec<_>>(), [0, 1, 2]);
        let halves: Vec<_> = spread(2, 10).map(|i| i / 5).collect();
        assert_eq!(halves, [0, 1]);
        assert_eq!(spread(4, 3).collect::<Vec<_>>(), [0, 1, 2, 0]);
    }
}
