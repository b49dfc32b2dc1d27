//! Draws as a table that other programs read.

use std::error::Error;
use std::io::Write;

use crate::chains::Posterior;
use crate::{Draw, Real};

impl Posterior {
    /// Writes a line per draw as CSV: chain and draw (from 0), each quantity, and of the trajectory that led to
    /// it leapfrog steps, mean acceptance probability and whether it diverged.
    ///
    /// ```
    /// # use autobatch::Options;
    /// # use autobatch_nuts::{Chains, models::EightSchools};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = EightSchools::<f64>::new();
    /// # let mut chains = Chains::new(&model, 2, 1, 0.9);
    /// let draws = chains.draw(3, &Options::default(), |_| ())?;
    /// let mut csv = Vec::new();
    /// chains.quantities(&draws).write_csv(&draws, &mut csv)?;
    /// let csv = String::from_utf8(csv)?;
    /// assert!(csv.starts_with("chain,draw,mu,tau,theta_1,"));
    /// assert_eq!(csv.lines().count(), 1 + 2 * 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of `to`, and if `draws` are not those of this posterior.
    pub fn write_csv<T: Real>(&self, draws: &[Vec<Draw<T>>], to: impl Write) -> Result<(), Box<dyn Error>> {
        let mut csv = csv::Writer::from_writer(to);
        let begin = ["chain", "draw"].into_iter().chain(self.names.iter().map(String::as_str));
        csv.write_record(begin.chain(["steps", "acceptance", "diverged"]))?;
        for (i, chain) in draws.iter().enumerate() {
            for (j, draw) in chain.iter().enumerate() {
                csv.write_field(i.to_string())?;
                csv.write_field(j.to_string())?;
                for values in &self.values {
                    let value = values.get(i).and_then(|chain| chain.get(j));
                    let value = value.ok_or("these are draws of another posterior")?;
                    csv.write_field(value.to_string())?;
                }
                csv.write_field(draw.steps.to_string())?;
                csv.write_field(draw.acceptance.to_string())?;
                csv.write_field(u8::from(draw.diverged).to_string())?;
                csv.write_record(None::<&[u8]>)?;
            }
        }
        Ok(csv.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::*;

    #[test]
    fn a_line_per_draw() {
        let draw =
            |q: f64, diverged| Draw { q: Array1::from_elem(1, q), steps: 4, acceptance: 0.5, diverged };
        let draws =
            vec![vec![draw(0.1, false), draw(1e-30, true)], vec![draw(-2.0, false), draw(3.0, false)]];
        let values = vec![vec![vec![0.1, 1e-30], vec![-2.0, 3.0]]];
        let posterior = Posterior { names: vec!["a, b".to_owned()], values };
        let mut csv = Vec::new();
        posterior.write_csv(&draws, &mut csv).unwrap();
        let want = "chain,draw,\"a, b\",steps,acceptance,diverged\n0,0,0.1,4,0.5,0\n\
            0,1,0.000000000000000000000000000001,4,0.5,1\n1,0,-2,4,0.5,0\n1,1,3,4,0.5,0\n";
        assert_eq!(String::from_utf8(csv).unwrap(), want);
        assert!(posterior.write_csv(&draws[..1], Vec::new()).is_ok());
        let more = [&draws[..], &draws[..]].concat();
        assert!(posterior.write_csv(&more, Vec::new()).is_err());
    }
}
