//! Step sizes and scales that fit the posterior.

use ndarray::Array1;

use crate::Real;

/// A step size that adapts itself by Nesterov's dual averaging (Hoffman and Gelman 2014, section 3.2), until it
/// is told to [settle](Self::settle).
///
/// ```
/// use autobatch_nuts::StepSize;
///
/// let mut step = StepSize::new(1.0, 0.8); // a guess, and the mean acceptance probability that is wanted
/// step.begin(0.5);
/// for _ in 0..50 {
///     step.learn(0.6); // too few are accepted
/// }
/// step.settle();
/// assert!(step.current() < 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSize {
    stage: Stage,
    target: f64,
    centre: f64,
    rounds: f64,
    error: f64,
    log_eps: f64,
    log_mean: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Wanted,
    Adapting,
    Settled,
}

impl StepSize {
    /// A step size to be found, from `guess`, such that `target` is the mean acceptance probability.
    pub fn new(guess: f64, target: f64) -> Self {
        let mut step = Self::fixed(guess);
        step.stage = Stage::Wanted;
        step.target = target;
        step
    }

    /// A step size that does not change.
    pub fn fixed(eps: f64) -> Self {
        let log = eps.ln();
        let stage = Stage::Settled;
        Self { stage, target: 0.0, centre: log, rounds: 0.0, error: 0.0, log_eps: log, log_mean: log }
    }

    /// The step size to use next.
    pub fn current(&self) -> f64 {
        self.log_eps.exp()
    }

    /// Stops adapting, at what the adaptation has come to.
    pub fn settle(&mut self) {
        self.log_eps = self.log_mean;
        self.stage = Stage::Settled;
    }

    /// Begins again, from the step size that was found so far.
    pub fn restart(&mut self) {
        *self = Self::new(self.log_mean.exp(), self.target);
    }

    /// Whether the chain has to find out where to begin, and to say so by [`begin`](Self::begin).
    pub fn is_wanted(&self) -> bool {
        self.stage == Stage::Wanted
    }

    /// Begins to adapt at `eps`.
    pub fn begin(&mut self, eps: f64) {
        let log = eps.ln();
        let centre = log + 10.0_f64.ln();
        *self = Self { stage: Stage::Adapting, centre, log_eps: log, log_mean: log, ..*self };
    }

    /// Takes notice of a trajectory's mean acceptance probability; does nothing unless the step size adapts.
    pub fn learn(&mut self, acceptance: f64) {
        if self.stage != Stage::Adapting {
            return;
        }
        self.rounds += 1.0;
        let weight = 1.0 / (self.rounds + 10.0);
        self.error += weight * (self.target - acceptance - self.error);
        self.log_eps = self.centre - self.rounds.sqrt() / 0.05 * self.error;
        let weight = self.rounds.powf(-0.75);
        self.log_mean += weight * (self.log_eps - self.log_mean);
    }
}

/// Mean and spread of positions, by Welford's recurrence.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    n: f64,
    mean: Array1<f64>,
    squares: Array1<f64>,
}

impl Spread {
    pub(crate) fn new(dim: usize) -> Self {
        Self { n: 0.0, mean: Array1::zeros(dim), squares: Array1::zeros(dim) }
    }

    pub(crate) fn add<T: Real>(&mut self, x: &Array1<T>) {
        self.n += 1.0;
        for ((x, mean), squares) in x.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let x = x.double();
            let before = x - *mean;
            *mean += before / self.n;
            *squares += before * (x - *mean);
        }
    }

    /// Standard deviations; variances are drawn a little towards a thousandth as Stan does, for the sake of short
    /// runs.
    pub(crate) fn scale<T: Real>(&self) -> Array1<T> {
        self.squares.mapv(|squares| {
            let variance = squares / (self.n - 1.0).max(1.0);
            T::of(((self.n * variance + 5e-3) / (self.n + 5.0)).sqrt())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dual_averaging_finds_the_target() {
        // An acceptance that falls as exp(-eps): the target is met at -ln(target).
        let mut step = StepSize::new(1.0, 0.8);
        step.learn(0.0);
        assert_eq!(step.current(), 1.0, "not begun");
        step.begin(1.0);
        for _ in 0..2000 {
            step.learn((-step.current()).exp());
        }
        step.settle();
        assert!((step.current() / -0.8_f64.ln() - 1.0).abs() < 0.05, "{}", step.current());
        let settled = step.current();
        step.learn(0.0);
        assert_eq!(step.current(), settled);
        step.restart();
        assert!(step.is_wanted());
        assert_eq!(step.current(), settled);
    }

    #[test]
    fn spread_is_the_standard_deviation() {
        let mut spread = Spread::new(3);
        assert!(spread.scale::<f32>().iter().all(|scale| (scale * scale - 1e-3).abs() < 1e-6));
        for i in 0..100_000 {
            spread.add(&Array1::from_elem(3, f64::from(i % 2) * 6.0));
        }
        assert!((spread.scale::<f64>()[2] - 3.0).abs() < 1e-3);
    }
}
