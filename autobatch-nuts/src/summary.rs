//! Posterior summaries with honest errors: split chains, rank normalisation and effective sample sizes as in
//! Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021).

use std::fmt::Write as _;

use crate::chains::Posterior;

/// What is said about one quantity: its mean and spread, and how far the chains can be trusted.
///
/// ```
/// use autobatch_nuts::Summary;
///
/// let draw = |i: u32| f64::from(i * 29 % 31) / 31.0;
/// let chains: Vec<Vec<f64>> = (0..4).map(|chain| (0..100).map(|i| draw(i + 7 * chain)).collect()).collect();
/// let summary = Summary::of(&chains);
/// assert!((summary.mean - 0.5).abs() < 0.05 && summary.r_hat < 1.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Monte-Carlo standard error of the mean.
    pub mcse: f64,
    /// Split R-hat: near 1 if the halves of all chains agree.
    pub r_hat_split: f64,
    /// The larger of the rank-normalised split R-hats of the values and of their distances from the median.
    pub r_hat: f64,
    /// Effective sample size of the rank-normalised values.
    pub ess_bulk: f64,
    /// The smaller of the effective sample sizes of the 5 % and the 95 % quantile.
    pub ess_tail: f64,
}

/// Draws that chains need at least, for each half to have a variance and an autocovariance.
pub const MIN_DRAWS: usize = 8;

impl Summary {
    /// Summarises one quantity from its chains.
    ///
    /// # Panics
    ///
    /// If there is no chain, or chains are not equally long or shorter than [`MIN_DRAWS`].
    pub fn of(chains: &[Vec<f64>]) -> Self {
        assert!(!chains.is_empty(), "a summary of no chain");
        let length = chains[0].len();
        assert!(chains.iter().all(|chain| chain.len() == length), "chains are equally long");
        assert!(length >= MIN_DRAWS, "chains of {MIN_DRAWS} draws or more, not {length}");
        let halves = split(chains);
        let (mean, sd) = moments(halves.iter().flatten().copied());
        let bulk = rank_normalised(&halves);
        let mut all: Vec<f64> = halves.iter().flatten().copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        let folded = mapped(&halves, |x| (x - quantile(&all, 0.5)).abs());
        let tail = |p: f64| {
            let at = quantile(&all, p);
            effective_sample_size(&mapped(&halves, |x| f64::from(u8::from(x <= at))))
        };
        Self {
            mean,
            sd,
            mcse: sd / effective_sample_size(&halves).sqrt(),
            r_hat_split: r_hat(&halves),
            r_hat: r_hat(&bulk).max(r_hat(&rank_normalised(&folded))),
            ess_bulk: effective_sample_size(&bulk),
            ess_tail: tail(0.05).min(tail(0.95)),
        }
    }

    /// How many combined standard errors the mean is off one that others computed from `draws` nearly
    /// independent draws with standard deviation `sd`.
    pub fn errors_off(&self, mean: f64, sd: f64, draws: f64) -> f64 {
        (self.mean - mean) / self.mcse.hypot(sd / draws.sqrt())
    }
}

impl Posterior {
    /// A summary of each quantity.
    ///
    /// # Panics
    ///
    /// As [`Summary::of`].
    pub fn summaries(&self) -> Vec<Summary> {
        self.values.iter().map(|chains| Summary::of(chains)).collect()
    }

    /// The summaries as a table.
    ///
    /// # Panics
    ///
    /// As [`Summary::of`].
    pub fn table(&self) -> String {
        let width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(8);
        let mut table = format!(
            "{:width$} {:>9} {:>9} {:>9} {:>7} {:>7} {:>9} {:>9}\n",
            "", "mean", "sd", "MCSE", "split R", "rank R", "bulk ESS", "tail ESS"
        );
        for (name, s) in self.names.iter().zip(self.summaries()) {
            // Writing to a string can't fail.
            let _ = writeln!(
                table,
                "{name:width$} {:9.4} {:9.4} {:9.4} {:7.4} {:7.4} {:9.0} {:9.0}",
                s.mean, s.sd, s.mcse, s.r_hat_split, s.r_hat, s.ess_bulk, s.ess_tail
            );
        }
        table
    }
}

fn mapped(chains: &[Vec<f64>], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.iter().map(|x| f(*x)).collect()).collect()
}

/// Between the two sorted values around it, as R does by default.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * (at - at.floor())
}

/// Each chain as two; the middle draw of an odd number is left out.
fn split(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let halves = chains.iter().flat_map(|chain| {
        let half = chain.len() / 2;
        [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()]
    });
    halves.collect()
}

/// Mean and standard deviation.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
    let mean = sum / n;
    let squares: f64 = values.map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// Variance within the chains, and the estimate of the whole variance that adds what is between them.
fn variances(chains: &[Vec<f64>]) -> (f64, f64) {
    let n = chains[0].len() as f64;
    let (means, within): (Vec<f64>, Vec<f64>) = chains
        .iter()
        .map(|chain| {
            let (mean, sd) = moments(chain.iter().copied());
            (mean, sd * sd)
        })
        .unzip();
    let within = within.iter().sum::<f64>() / chains.len() as f64;
    let between = moments(means.iter().copied()).1.powi(2);
    (within, within * (n - 1.0) / n + between)
}

fn r_hat(chains: &[Vec<f64>]) -> f64 {
    let (within, whole) = variances(chains);
    (whole / within).sqrt()
}

/// Geyer's initial monotone sequence over the autocorrelations of all chains.
fn effective_sample_size(chains: &[Vec<f64>]) -> f64 {
    let n = chains[0].len();
    let total = (n * chains.len()) as f64;
    let (within, whole) = variances(chains);
    let centred: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| {
            let mean = moments(chain.iter().copied()).0;
            chain.iter().map(|x| x - mean).collect()
        })
        .collect();
    let correlation = |lag: usize| {
        let covariance: f64 = centred
            .iter()
            .map(|chain| chain.iter().zip(&chain[lag..]).map(|(a, b)| a * b).sum::<f64>() / n as f64)
            .sum();
        1.0 - (within - covariance / chains.len() as f64 * n as f64 / (n as f64 - 1.0)) / whole
    };
    // Sums of neighbouring pairs are positive and fall; where the estimates aren't, noise has taken over.
    let mut pair = 1.0 + correlation(1);
    let mut sum = pair;
    let mut lag = 2;
    while lag + 1 < n {
        let next = correlation(lag) + correlation(lag + 1);
        if next.is_nan() || next <= 0.0 {
            break;
        }
        pair = pair.min(next);
        sum += pair;
        lag += 2;
    }
    let time = (2.0 * sum - 1.0).max(1.0 / total.log10());
    total / time
}

/// Each value replaced by the normal quantile of its rank among all; equal values share their mean rank.
fn rank_normalised(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut places: Vec<(f64, usize, usize)> = vec![];
    for (i, chain) in chains.iter().enumerate() {
        places.extend(chain.iter().enumerate().map(|(j, &x)| (x, i, j)));
    }
    places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total = places.len() as f64;
    let mut result: Vec<Vec<f64>> = chains.iter().map(|chain| vec![0.0; chain.len()]).collect();
    let mut below = 0;
    for equal in places.chunk_by(|a, b| a.0 == b.0) {
        let rank = below as f64 + (equal.len() as f64 + 1.0) / 2.0;
        let score = normal_quantile((rank - 0.375) / (total + 0.25));
        for &(_, i, j) in equal {
            result[i][j] = score;
        }
        below += equal.len();
    }
    result
}

/// Quantile of the standard normal distribution by Acklam's approximation, relative error below 1.2e-9.
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = 0.02425;
    if p < tail {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    } else if p > 1.0 - tail {
        -normal_quantile(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        q * polynomial(&A, r) / polynomial(&B, r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_distr::StandardNormal;

    /// Chains of an AR(1) process with standard normal marginals; `rho = 0` makes them independent.
    fn autoregressive(rho: f64, chains: usize, draws: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        let chain = |_| {
            let mut x: f64 = rng.sample(StandardNormal);
            let next = |_| {
                let noise: f64 = rng.sample(StandardNormal);
                x = rho * x + (1.0 - rho * rho).sqrt() * noise;
                x
            };
            (0..draws).map(next).collect()
        };
        (0..chains).map(chain).collect()
    }

    #[test]
    fn independent_draws_count_in_full() {
        let s = Summary::of(&autoregressive(0.0, 32, 500, 1));
        let n: f64 = 32.0 * 500.0;
        assert!((s.ess_bulk / n - 1.0).abs() < 0.05, "{s:?}");
        assert!((s.mcse * n.sqrt() - 1.0).abs() < 0.04, "{s:?}");
        assert!(s.mean.abs() < 4.0 * s.mcse && (s.sd - 1.0).abs() < 0.03, "{s:?}");
        assert!((0.998..1.004).contains(&s.r_hat), "{s:?}");
    }

    #[test]
    fn autocorrelation_costs_what_theory_says() {
        for (rho, seed) in [(0.5, 2), (0.9, 3), (-0.4, 4)] {
            let s = Summary::of(&autoregressive(rho, 64, 2000, seed));
            let expected = 64.0 * 2000.0 * (1.0 - rho) / (1.0 + rho);
            assert!((s.ess_bulk / expected - 1.0).abs() < 0.1, "{rho}: {s:?} {expected}");
            assert!((s.mcse * expected.sqrt() - 1.0).abs() < 0.06, "{rho}: {s:?}");
        }
    }

    #[test]
    fn the_standard_error_is_the_spread_of_the_means() {
        let runs = (0..200).map(|seed| Summary::of(&autoregressive(0.6, 8, 250, 100 + seed)));
        let squares: f64 = runs.map(|s| (s.mean / s.mcse).powi(2)).sum();
        assert!((0.75..1.3).contains(&(squares / 200.0)), "{squares}");
    }

    #[test]
    fn r_hat_sees_chains_that_differ_in_place_or_in_width() {
        let good = autoregressive(0.0, 4, 500, 5);
        let moved = |i: usize, x: f64| if i == 0 { x + 1.0 } else { x };
        let widened = |i: usize, x: f64| if i == 0 { 5.0 * x } else { x };
        let change = |how: &dyn Fn(usize, f64) -> f64| -> Vec<Vec<f64>> {
            good.iter().enumerate().map(|(i, chain)| chain.iter().map(|&x| how(i, x)).collect()).collect()
        };
        assert!(Summary::of(&good).r_hat < 1.01);
        assert!(Summary::of(&change(&moved)).r_hat > 1.05);
        assert!(Summary::of(&change(&widened)).r_hat > 1.05);
        let drifting: Vec<Vec<f64>> =
            good.iter().map(|c| c.iter().enumerate().map(|(j, x)| x + j as f64 / 200.0).collect()).collect();
        assert!(Summary::of(&drifting).r_hat > 1.05);
    }

    #[test]
    fn ranks_do_not_depend_on_the_scale() {
        let good = autoregressive(0.3, 8, 300, 6);
        let exp: Vec<Vec<f64>> = good.iter().map(|c| c.iter().map(|x| (3.0 * x).exp()).collect()).collect();
        assert_eq!(Summary::of(&good).ess_bulk, Summary::of(&exp).ess_bulk);
        let tied = rank_normalised(&[vec![1.0, 2.0, 2.0], vec![3.0, 2.0, 0.0]]);
        assert_eq!((tied[0][1], tied[0][2]), (tied[1][1], tied[0][1]));
    }

    #[test]
    fn normal_quantiles_are_the_tabulated_ones() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959963985), (0.001, -3.090232306), (0.99999, 4.264890794)] {
            assert!((normal_quantile(p) - z).abs() < 1e-8, "{p}");
        }
    }
}
