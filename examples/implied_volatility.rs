//! Implied volatilities of a whole surface of options: Newton's method, made safe by bisection, for each quote.
//!
//! Checked by the round trip through the price, and by an option of a textbook. `cargo run --release --example implied_volatility`

mod pictures;

use autobatch::{Options, autobatch, math, same};
use pictures::{Curve, plot};

/// The normal distribution's density.
fn density(x: f64) -> f64 {
    0.398_942_280_401_432_7 * math::exp(-0.5 * x * x)
}

/// The normal distribution, to about 15 digits: Hart's algorithm as in West, “Better approximations to cumulative normal functions”, 2005.
fn normal(x: f64) -> f64 {
    let z = x.abs();
    let near = ((((((3.52624965998911e-02 * z + 0.700383064443688) * z + 6.37396220353165) * z
        + 33.912866078383)
        * z
        + 112.079291497871)
        * z
        + 221.213596169931)
        * z
        + 220.206867912376)
        / (((((((8.83883476483184e-02 * z + 1.75566716318264) * z + 16.064177579207) * z
            + 86.7807322029461)
            * z
            + 296.564248779674)
            * z
            + 637.333633378831)
            * z
            + 793.826512519948)
            * z
            + 440.413735824752);
    let far = 0.398_942_280_401_432_7 / (z + 1.0 / (z + 2.0 / (z + 3.0 / (z + 4.0 / (z + 0.65)))));
    let tail = math::exp(-0.5 * z * z) * if z < 7.071_067_811_865_47 { near } else { far };
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The price of a call on a forward, without discounting: Black 1976.
fn call(forward: f64, strike: f64, time: f64, volatility: f64) -> f64 {
    let deviation = volatility * time.sqrt();
    let d = math::ln(forward / strike) / deviation + 0.5 * deviation;
    forward * normal(d) - strike * normal(d - deviation)
}

/// The volatility for which a call has this price; none if no volatility gives it.
#[autobatch]
fn implied(price: f64, forward: f64, strike: f64, time: f64) -> Option<f64> {
    if price <= (forward - strike).max(0.0) || price >= forward {
        return None;
    }
    let (mut low, mut high, mut volatility) = (1e-6, 8.0, 0.3);
    loop {
        let error = call(forward, strike, time, volatility) - price;
        if error > 0.0 {
            high = volatility;
        } else {
            low = volatility;
        }
        let deviation = volatility * time.sqrt();
        let vega = forward * time.sqrt() * density(math::ln(forward / strike) / deviation + 0.5 * deviation);
        let next = volatility - error / vega;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - volatility).abs() < 1e-13 * volatility || high - low < 1e-14 {
            return Some(next);
        }
        volatility = next;
    }
}

/// The smile that the quotes are made of: Gatheral's SVI, total variance over the logarithm of the strike.
fn smile(k: f64, time: f64) -> f64 {
    let variance = 0.02 + 0.03 * time + 0.12 * (-0.6 * (k - 0.05) + ((k - 0.05).powi(2) + 0.03).sqrt());
    (variance / (0.2 + time)).sqrt()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Hull, “Options, Futures, and Other Derivatives”: S = 42, K = 40, r = 10 %, half a year, 20 %: 4.76.
    let growth = f64::exp(0.1 * 0.5);
    assert!((call(42.0 * growth, 40.0, 0.5, 0.2) / growth - 4.7594).abs() < 1e-4);

    let (strikes, times) = (201, 100);
    let quote =
        |i: usize| (-0.5 + (i % strikes) as f64 / (strikes - 1) as f64, 0.1 + 0.03 * (i / strikes) as f64);
    let quotes: Vec<(f64, f64)> = (0..strikes * times).map(quote).collect();
    let strike: Vec<f64> = quotes.iter().map(|(k, _)| 100.0 * k.exp()).collect();
    let time: Vec<f64> = quotes.iter().map(|(_, time)| *time).collect();
    let known: Vec<f64> = quotes.iter().map(|(k, time)| smile(*k, *time)).collect();
    let price: Vec<f64> = (0..quotes.len()).map(|i| call(100.0, strike[i], time[i], known[i])).collect();

    let options = Options::default().report(true);
    let outcome = implied_batched_with(&price, same(100.0), &strike, &time, &options)?;
    println!("{}", outcome.report());
    let found = outcome.into_values()?;
    assert_eq!(found[77], implied(price[77], 100.0, strike[77], time[77]));

    // An option that is worth little says little about its volatility; a price is found again to the last digits.
    let mut worst = 0.0f64;
    for i in 0..quotes.len() {
        let volatility = found[i].expect("each price is one of a call");
        assert!((call(100.0, strike[i], time[i], volatility) - price[i]).abs() < 1e-11);
        worst = worst.max((volatility - known[i]).abs());
    }
    assert!(worst < 1e-8, "{worst}");
    println!("{} volatilities, the worst is off by {worst:.1e}", found.len());
    assert_eq!(implied_batched(&[120.0, 1.0], same(100.0), &[90.0, 50.0], same(1.0)), [None, None]);

    let of_row = |row: usize| {
        (row * strikes..(row + 1) * strikes).map(|i| (quotes[i].0, 100.0 * found[i].unwrap_or(f64::NAN)))
    };
    let curves = [0, 5, 15, 40, 99];
    let curve = |row: usize| Curve {
        name: format!("{:.2} years", quotes[row * strikes].1),
        points: of_row(row).collect(),
    };
    plot(
        "implied_volatility.svg",
        "Implied volatility",
        ["ln(strike / forward)", "volatility in %"],
        &curves.map(curve),
    )?;
    Ok(())
}
