//! Patience: how long members wait for others in frames, until they leave these.

use std::time::{Duration, Instant};

/// The least part of the time that counts as waited, where anybody waits.
const FEW: f64 = 0.125;

/// How long the members of a tile have waited, each of them on average, since members have come or gone.
pub(super) struct Patience {
    most: Duration,
    waited: Duration,
    looked: Option<Instant>,
}

impl Patience {
    pub(super) fn new(most: Duration) -> Patience {
        Patience { most, waited: Duration::ZERO, looked: None }
    }

    /// Members come, or go.
    pub(super) fn renew(&mut self) {
        self.waited = Duration::ZERO;
    }

    /// So many of all wait now. Whether that has been too long.
    pub(super) fn ends(&mut self, waiting: usize, all: usize) -> bool {
        let now = Instant::now();
        let since = now - self.looked.replace(now).unwrap_or(now);
        if waiting > 0 {
            self.waited += since.mul_f64((waiting as f64 / all as f64).max(FEW));
        }
        waiting > 0 && self.waited >= self.most
    }
}
