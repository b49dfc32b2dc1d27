//! Posteriors that others computed: Stan, 10 000 nearly independent draws. The long run is the example's.

use autobatch::Options;
use autobatch_nuts::models::{EightSchools, GaussianProcess};
use autobatch_nuts::{Chains, Model, Real};

/// Name, mean, standard deviation.
type Reference = &'static [(&'static str, f64, f64)];

const EIGHT_SCHOOLS: Reference =
    &[("mu", 4.4105, 3.3091), ("tau", 3.6021, 3.1983), ("theta_1", 6.1505, 5.6156)];
const GAUSSIAN_PROCESS: Reference =
    &[("rho", 6.8744, 1.2657), ("alpha", 2.4424, 0.7818), ("sigma", 1.8287, 0.5050)];

fn means_are_stans<T: Real>(model: &dyn Model<T>, leaf_steps: u32, draws: usize, reference: Reference) {
    let options = Options::default().threads(2);
    let mut chains = Chains::new(model, 64, 2, 0.9);
    chains.nuts.leaf_steps = leaf_steps;
    chains.warm_up(100, &options, |_| ()).unwrap();
    let draws = chains.draw(draws, &options, |_| ()).unwrap();
    let acceptance = draws.iter().flatten().map(|draw| draw.acceptance).sum::<f64>();
    let acceptance = acceptance / draws.iter().flatten().count() as f64;
    // Averaging log step sizes errs on the side of short steps.
    assert!((0.85..0.98).contains(&acceptance), "{acceptance}");
    let posterior = chains.quantities(&draws);
    let summaries = posterior.summaries();
    for &(name, mean, sd) in reference {
        let at = posterior.names.iter().position(|other| other == name).unwrap();
        let summary = summaries[at];
        let off = summary.errors_off(mean, sd, 10_000.0);
        assert!(off.abs() < 4.0, "{name} is {off} standard errors off: {summary:?}");
        assert!((summary.sd / sd - 1.0).abs() < 0.1, "{name}: {summary:?}");
        assert!(
            summary.r_hat < 1.03 && summary.ess_bulk > 1000.0 && summary.ess_tail > 1000.0,
            "{name}: {summary:?}"
        );
    }
}

#[test]
fn eight_schools() {
    means_are_stans(&EightSchools::<f64>::new(), 4, 120, EIGHT_SCHOOLS);
    means_are_stans(&EightSchools::<f32>::new(), 4, 120, EIGHT_SCHOOLS);
}

#[test]
fn gaussian_process() {
    means_are_stans(&GaussianProcess::<f64>::new(), 2, 100, GAUSSIAN_PROCESS);
    means_are_stans(&GaussianProcess::<f32>::new(), 2, 100, GAUSSIAN_PROCESS);
}
