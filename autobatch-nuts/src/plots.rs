//! Pictures of chains, as SVG: what a statistician looks at before believing a summary.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::chains::Posterior;

/// Chains that are shown; more can't be told apart.
const SHOWN: usize = 4;
/// Bars of a histogram of ranks.
const BINS: usize = 20;
const WIDTH: u32 = 900;
/// Pixels of a quantity's row, and of the title.
const ROW: u32 = 110;
const HEAD: u32 = 44;

/// Colours that readers with any colour vision tell apart (Okabe and Ito).
const COLOURS: [RGBColor; SHOWN] =
    [RGBColor(0, 114, 178), RGBColor(230, 159, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a> = Result<(), Box<dyn Error + 'a>>;

impl Posterior {
    /// Trace plots: the draws of the first chains of each quantity in their order. Chains that have mixed look
    /// alike, and as noise.
    ///
    /// # Errors
    ///
    /// If drawing fails.
    pub fn trace_plot(&self) -> Result<String, String> {
        let shown = SHOWN.min(self.chains());
        let title = format!("Draws of {shown} of {} chains", self.chains());
        self.picture(&title, |area, values, name| {
            let draws = values.iter().map(Vec::len).max().unwrap_or(0).max(2);
            let all = || values[..shown].iter().flatten().copied().filter(|x| x.is_finite());
            let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
            let room = ((high - low) * 0.05).max(1e-9);
            let mut chart = ChartBuilder::on(area)
                .margin_right(16)
                .set_label_area_size(LabelAreaPosition::Left, 120)
                .set_label_area_size(LabelAreaPosition::Bottom, 24)
                .build_cartesian_2d(0..draws - 1, low - room..high + room)?;
            mesh(&mut chart, 8, 3)?;
            for (chain, colour) in values[..shown].iter().zip(COLOURS) {
                let points = chain.iter().copied().enumerate().filter(|(_, x)| x.is_finite());
                let points: Vec<(usize, f64)> = points.collect();
                chart.draw_series([PathElement::new(points, colour.mix(0.7))])?;
            }
            label(area, name)
        })
    }

    /// Rank plots: for the first chains of each quantity, how often their draws have which rank among those of
    /// all chains. Chains that have mixed have level bars; the line is the mean.
    ///
    /// # Errors
    ///
    /// If drawing fails.
    pub fn rank_plot(&self) -> Result<String, String> {
        let shown = SHOWN.min(self.chains());
        let title = format!("Ranks of the draws of {shown} chains among those of all {}", self.chains());
        self.picture(&title, |area, values, name| {
            let counts = rank_counts(values);
            let mean = values[0].len() as f64 / BINS as f64;
            let most = counts.iter().flatten().copied().fold(2.0 * mean, f64::max) * 1.05;
            let panels = area.margin(0, 0, 120, 16).split_evenly((1, SHOWN));
            for ((panel, counts), colour) in panels.iter().zip(&counts).zip(COLOURS) {
                let mut chart = ChartBuilder::on(panel)
                    .margin_right(8)
                    .set_label_area_size(LabelAreaPosition::Left, 34)
                    .set_label_area_size(LabelAreaPosition::Bottom, 24)
                    .build_cartesian_2d(0.0..1.0, 0.0..most)?;
                mesh(&mut chart, 3, 3)?;
                let bar = |i: usize| i as f64 / BINS as f64;
                chart.draw_series(counts.iter().enumerate().map(|(i, count)| {
                    Rectangle::new([(bar(i), 0.0), (bar(i + 1), *count)], colour.mix(0.7).filled())
                }))?;
                chart.draw_series([PathElement::new([(0.0, mean), (1.0, mean)], BLACK.mix(0.6))])?;
            }
            label(area, name)
        })
    }

    fn chains(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// A row per quantity.
    fn picture(
        &self,
        title: &str,
        row: impl for<'a> Fn(&Area<'a>, &[Vec<f64>], &str) -> Drawn<'a>,
    ) -> Result<String, String> {
        let mut svg = String::new();
        let height = HEAD + ROW * self.names.len() as u32;
        let image = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let draw = || -> Drawn<'_> {
            image.fill(&WHITE)?;
            let middle = Pos::new(HPos::Center, VPos::Center);
            image.draw(&Text::new(title.to_owned(), (WIDTH as i32 / 2, 20), font(20).pos(middle)))?;
            let (_, rows) = image.split_vertically(HEAD);
            let rows = rows.split_evenly((self.names.len().max(1), 1));
            for ((area, values), name) in rows.iter().zip(&self.values).zip(&self.names) {
                if values.iter().any(|chain| !chain.is_empty()) {
                    row(area, values, name)?;
                }
            }
            Ok(())
        };
        draw().map_err(|error| format!("the picture: {error}"))?;
        drop(image);
        Ok(svg)
    }
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

fn label<'a>(area: &Area<'a>, name: &str) -> Drawn<'a> {
    let style = font(15).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw(&Text::new(name.to_owned(), (10, ROW as i32 / 2 - 12), style))?;
    Ok(())
}

fn mesh<'a, X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'a>, Cartesian2d<X, Y>>,
    x_labels: usize,
    y_labels: usize,
) -> Drawn<'a>
where
    X: Ranged + plotters::coord::ranged1d::ValueFormatter<X::ValueType>,
    Y: Ranged + plotters::coord::ranged1d::ValueFormatter<Y::ValueType>,
{
    chart
        .configure_mesh()
        .x_labels(x_labels)
        .y_labels(y_labels)
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(font(12))
        .draw()?;
    Ok(())
}

/// For the chains that are shown, how many of their draws are in which part of all draws by rank.
fn rank_counts(values: &[Vec<f64>]) -> Vec<[f64; BINS]> {
    let mut all: Vec<(f64, usize)> =
        values.iter().enumerate().flat_map(|(i, chain)| chain.iter().map(move |x| (*x, i))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut counts = vec![[0.0; BINS]; SHOWN.min(values.len())];
    for (rank, (_, chain)) in all.iter().enumerate() {
        if let Some(counts) = counts.get_mut(*chain) {
            counts[rank * BINS / all.len()] += 1.0;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior(chains: usize) -> Posterior {
        let chain = |i: usize| (0..40).map(|j| ((i * 7 + j * 13) % 41) as f64).collect();
        let values = vec![(0..chains).map(chain).collect(); 2];
        Posterior { names: vec!["mu".to_owned(), "theta<1>".to_owned()], values }
    }

    #[test]
    fn pictures_name_what_they_show() {
        for chains in [1, 2, 9] {
            for svg in [posterior(chains).trace_plot().unwrap(), posterior(chains).rank_plot().unwrap()] {
                assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
                assert!(svg.contains("mu") && svg.contains("theta&lt;1&gt;"), "{svg}");
            }
        }
        let trace = posterior(9).trace_plot().unwrap();
        assert!(trace.contains("Draws of 4 of 9 chains"));
    }

    #[test]
    fn ranks_are_counted_per_chain() {
        let low: Vec<f64> = (0..40).map(f64::from).collect();
        let high: Vec<f64> = (40..80).map(f64::from).collect();
        let counts = rank_counts(&[low, high]);
        assert_eq!(counts[0][..10], [4.0; 10]);
        assert_eq!(counts[0][10..], [0.0; 10]);
        assert_eq!(counts[1][10..], [4.0; 10]);
    }
}
