//! The speeds over the scalar loop as a bar chart.

use std::error::Error;

use autobatch::Isa;
use autobatch_bench::variant::isa_name;
use autobatch_bench::ways::Family;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use autobatch_bench::measure::Measurement;

const WIDTH: u32 = 860;
/// Pixels of a kernel's group, of the title and the legend, and of the axis.
const GROUP: u32 = 46;
const HEAD: i32 = 64;
const FOOT: u32 = 62;
/// Pixels for the names of the kernels.
const LABELS: u32 = 205;

/// Colours that readers with any colour vision tell apart (Okabe and Ito).
const SERIES: [(Family, RGBColor); 4] = [
    (Family::Masked, RGBColor(0, 114, 178)),
    (Family::ProgramCounter, RGBColor(230, 159, 0)),
    (Family::Auto, RGBColor(0, 158, 115)),
    (Family::Ispc, RGBColor(153, 153, 153)),
];

/// How many times faster than the scalar loop, on one thread, as an SVG image.
pub(crate) fn svg(measurements: &[Measurement], isa: Isa) -> Result<String, String> {
    let mut svg = String::new();
    let height = HEAD as u32 + FOOT + GROUP * measurements.len() as u32;
    let image = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    draw(&image, measurements, isa).map_err(|error| format!("the chart: {error}"))?;
    drop(image);
    Ok(svg)
}

fn draw<'b>(
    image: &DrawingArea<SVGBackend<'b>, plotters::coord::Shift>,
    measurements: &[Measurement],
    isa: Isa,
) -> Result<(), Box<dyn Error + 'b>> {
    let speed =
        |m: &Measurement, family| Some(m.best(Family::Scalar, None, 1)? / m.best(family, Some(isa), 1)?);
    let present: Vec<_> = SERIES
        .into_iter()
        .filter(|(family, _)| measurements.iter().any(|m| speed(m, *family).is_some()))
        .collect();
    let speeds =
        || present.iter().flat_map(|(family, _)| measurements.iter().filter_map(|m| speed(m, *family)));
    let low = speeds().fold(0.7, f64::min).log2().floor().exp2();
    let high = speeds().fold(1.5, f64::max).log2().ceil().exp2();

    image.fill(&WHITE)?;
    let font = |size: i32| ("sans-serif", size).into_font().color(&BLACK);
    let title = format!("Speed over the scalar loop, one thread, {}", isa_name(isa));
    let centre = Pos::new(HPos::Center, VPos::Center);
    image.draw(&Text::new(title, (WIDTH as i32 / 2, 20), font(20).pos(centre)))?;
    for (i, (family, colour)) in present.iter().enumerate() {
        let (x, y) = (LABELS as i32 + 20 + 155 * i as i32, 48);
        image.draw(&Rectangle::new([(x, y - 6), (x + 14, y + 6)], colour.filled()))?;
        let style = font(14).pos(Pos::new(HPos::Left, VPos::Center));
        image.draw(&Text::new(family.name(), (x + 22, y), style))?;
    }

    let count = measurements.len() as f64;
    let mut chart = ChartBuilder::on(image)
        .margin_top(HEAD)
        .margin_right(20)
        .margin_bottom(8)
        .set_label_area_size(LabelAreaPosition::Left, LABELS)
        .set_label_area_size(LabelAreaPosition::Bottom, 42)
        .build_cartesian_2d((low..high).log_scale().base(2.0), count..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels((high / low).log2() as usize + 1)
        .x_label_formatter(&|x| if *x < 1.0 { format!("1/{:.0}", 1.0 / x) } else { format!("{x:.0}") })
        .x_desc("times faster")
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(215, 215, 215))
        .label_style(font(14))
        .axis_desc_style(font(14))
        .draw()?;

    let bar = 0.8 / present.len().max(1) as f64;
    for (i, (family, colour)) in present.iter().enumerate() {
        let bars = measurements.iter().enumerate().filter_map(|(row, measurement)| {
            let top = row as f64 + 0.1 + bar * i as f64;
            let end = (speed(measurement, *family)?, top + 0.92 * bar);
            Some(Rectangle::new([(1.0, top), end], colour.filled()))
        });
        chart.draw_series(bars)?;
    }
    chart.draw_series([PathElement::new([(1.0, 0.0), (1.0, count)], BLACK)])?;
    for (row, measurement) in measurements.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(low, row as f64 + 0.5));
        let style = font(14).pos(Pos::new(HPos::Right, VPos::Center));
        image.draw(&Text::new(measurement.kernel, (x - 8, y), style))?;
    }
    image.present()?;
    Ok(())
}
