//! Lines over batch sizes, as an SVG image.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: u32 = 860;
const HEIGHT: u32 = 520;
/// Pixels for the title, and of a line of the legend, which has three entries.
const HEAD: i32 = 44;
const LEGEND: i32 = 24;
const COLUMNS: usize = 3;

/// Colours that readers with any colour vision tell apart (Okabe and Ito).
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(crate) const RED: RGBColor = RGBColor(213, 94, 0);
pub(crate) const PINK: RGBColor = RGBColor(204, 121, 167);
pub(crate) const SKY: RGBColor = RGBColor(86, 180, 233);
pub(crate) const BLACK: RGBColor = RGBColor(0, 0, 0);
pub(crate) const GREY: RGBColor = RGBColor(130, 130, 130);

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// With marks of this radius at the points: a larger one shows around a smaller one in the same place.
    Marked(i32),
    /// Broad and pale, without marks: for what others are compared with.
    Broad,
}

/// A line through some points.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) colour: RGBColor,
    pub(crate) style: Style,
    /// Batch size and value.
    pub(crate) points: Vec<(f64, f64)>,
}

/// What the vertical axis shows.
pub(crate) enum Axis {
    /// A rate, on a logarithmic scale.
    Logarithmic(&'static str),
    /// From zero to one.
    Share(&'static str),
}

type Area<'b> = DrawingArea<SVGBackend<'b>, Shift>;
type Drawn<'b> = Result<(), Box<dyn Error + 'b>>;

/// The lines in one picture.
pub(crate) fn svg(title: &str, axis: &Axis, series: &[Series]) -> Result<String, String> {
    let mut svg = String::new();
    let image = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
    draw(&image, title, axis, series).map_err(|error| format!("the chart: {error}"))?;
    drop(image);
    Ok(svg)
}

fn draw<'b>(image: &Area<'b>, title: &str, axis: &Axis, series: &[Series]) -> Drawn<'b> {
    image.fill(&WHITE)?;
    let centre = Pos::new(HPos::Center, VPos::Center);
    image.draw(&Text::new(title.to_owned(), (WIDTH as i32 / 2, 22), font(19).pos(centre)))?;
    for (i, series) in series.iter().enumerate() {
        let column = (WIDTH as i32 - 90) / COLUMNS as i32;
        let (x, y) = (80 + column * (i % COLUMNS) as i32, HEAD + 10 + LEGEND * (i / COLUMNS) as i32);
        image.draw(&line(series, vec![(x, y), (x + 34, y)]))?;
        if let Style::Marked(radius) = series.style {
            image.draw(&Circle::new((x + 17, y), radius, series.colour.filled()))?;
        }
        let style = font(14).pos(Pos::new(HPos::Left, VPos::Center));
        image.draw(&Text::new(series.name.clone(), (x + 42, y), style))?;
    }

    let points = || series.iter().flat_map(|series| &series.points);
    let most = points().map(|point| point.0).fold(2.0, f64::max);
    let mut chart = ChartBuilder::on(image);
    chart
        .margin_top(HEAD + LEGEND * series.len().div_ceil(COLUMNS) as i32 + 6)
        .margin_right(24)
        .margin_left(8)
        .margin_bottom(6)
        .set_label_area_size(LabelAreaPosition::Left, 76)
        .set_label_area_size(LabelAreaPosition::Bottom, 46);
    let x = (1.0..most).log_scale().base(2.0);
    match axis {
        Axis::Logarithmic(name) => {
            let low = points().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let high = points().map(|point| point.1).fold(0.0, f64::max);
            let (low, high) = ((low * 0.8).log2().floor().exp2(), (high * 1.1).log2().ceil().exp2());
            let y = (low..high).log_scale().base(2.0);
            lines(chart.build_cartesian_2d(x, y)?, name, &|y| thousands(*y), series)
        }
        Axis::Share(name) => {
            lines(chart.build_cartesian_2d(x, 0.0..1.02)?, name, &|y| format!("{y:.1}"), series)
        }
    }
}

fn lines<'b, X, Y>(
    mut chart: ChartContext<'_, SVGBackend<'b>, Cartesian2d<X, Y>>,
    name: &str,
    format: &dyn Fn(&f64) -> String,
    series: &[Series],
) -> Drawn<'b>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .x_labels(11)
        .y_labels(11)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(format)
        .x_desc("chains in the batch")
        .y_desc(name)
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(222, 222, 222))
        .label_style(font(14))
        .axis_desc_style(font(15))
        .draw()?;
    for series in series {
        chart.draw_series([line(series, series.points.clone())])?;
        if let Style::Marked(radius) = series.style {
            let mark = |point: &(f64, f64)| Circle::new(*point, radius, series.colour.filled());
            chart.draw_series(series.points.iter().map(mark))?;
        }
    }
    Ok(())
}

fn line<C>(series: &Series, points: Vec<C>) -> PathElement<C> {
    let style = match series.style {
        Style::Marked(_) => series.colour.stroke_width(2),
        Style::Broad => series.colour.mix(0.35).stroke_width(9),
    };
    PathElement::new(points, style)
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&BLACK)
}

/// `12 800`.
fn thousands(x: f64) -> String {
    let text = format!("{x:.0}");
    let mut grouped = String::new();
    for (i, digit) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_name_their_lines_and_units() {
        let series = |name: &str, style| Series {
            name: name.to_owned(),
            colour: BLUE,
            style,
            points: vec![(1.0, 0.9), (2.0, 0.7), (64.0, 0.5)],
        };
        let lines = [series("masked", Style::Marked(4)), series("bound", Style::Broad)];
        for axis in [Axis::Logarithmic("gradients per second"), Axis::Share("gradients per second")] {
            let svg = svg("A title", &axis, &lines).unwrap();
            for part in ["A title", "masked", "bound", "gradients per second", "chains in the batch", "64"] {
                assert!(svg.contains(part), "{part}: {svg}");
            }
        }
        assert_eq!([thousands(999.6), thousands(1234567.0)], ["1 000", "1 234 567"]);
    }
}
