//! Plots as SVG and pictures as PNG, for the examples: no other crate is needed.

#![allow(dead_code, unreachable_pub)] // each example uses some of it

use std::fmt::Write;
use std::path::PathBuf;
use std::{fs, io};

/// Where an example puts its pictures: the first argument, or a folder in `target`.
pub fn folder() -> io::Result<PathBuf> {
    let folder = std::env::args().nth(1).filter(|arg| !arg.starts_with('-')).map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| [env!("CARGO_MANIFEST_DIR"), "target", "pictures"].iter().collect());
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A line of a plot.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Draws curves with axes; `names` are the axes' names.
pub fn plot(file: &str, title: &str, names: [&str; 2], curves: &[Curve]) -> io::Result<()> {
    let (width, height, left, top, right, bottom) = (760.0, 480.0, 70.0, 40.0, 150.0, 50.0);
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let all = curves.iter().flat_map(|curve| &curve.points).map(pick);
        let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let room = 0.04 * (high - low).max(1e-12);
        (low - room, high + room)
    };
    let ((x0, x1), (y0, y1)) = (range(|p| p.0), range(|p| p.1));
    let at_x = |x: f64| left + (x - x0) / (x1 - x0) * (width - left - right);
    let at_y = |y: f64| height - bottom - (y - y0) / (y1 - y0) * (height - top - bottom);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>svg {{ --page: #ffffff; --ink: #1a1a1a; --grid: #d9d9d9; }} @media (prefers-color-scheme: dark) {{ svg {{ --page: #16181b; \
         --ink: #e8e8e8; --grid: #3a3d42; }} }} text {{ font: 13px system-ui, sans-serif; fill: var(--ink); }} .grid {{ stroke: var(--grid); }} \
         polyline {{ fill: none; stroke-width: 1.6; }}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill: var(--page)\"/>\n<text x=\"{left}\" y=\"24\" style=\"font-weight: bold\">{title}</text>\n"
    );
    let draw = |svg: &mut String, line: String| writeln!(svg, "{line}").expect("a string");
    for x in ticks(x0, x1) {
        let (px, end) = (at_x(x), height - bottom);
        draw(&mut svg, format!("<path class=\"grid\" d=\"M{px:.1} {top}V{end}\"/>"));
        draw(
            &mut svg,
            format!("<text x=\"{px:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", end + 18.0, number(x)),
        );
    }
    for y in ticks(y0, y1) {
        let (py, end) = (at_y(y), width - right);
        draw(&mut svg, format!("<path class=\"grid\" d=\"M{left} {py:.1}H{end}\"/>"));
        draw(
            &mut svg,
            format!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                py + 4.0,
                number(y)
            ),
        );
    }
    let middle = left + (width - left - right) / 2.0;
    draw(
        &mut svg,
        format!("<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>", height - 10.0, names[0]),
    );
    draw(
        &mut svg,
        format!(
            "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            height / 2.0,
            names[1]
        ),
    );
    for (nth, curve) in curves.iter().enumerate() {
        let colour = COLOURS[nth % COLOURS.len()];
        let points: Vec<String> =
            curve.points.iter().map(|p| format!("{:.1},{:.1}", at_x(p.0), at_y(p.1))).collect();
        draw(&mut svg, format!("<polyline points=\"{}\" stroke=\"{colour}\"/>", points.join(" ")));
        let (x, y) = (width - right + 12.0, top + 16.0 + 20.0 * nth as f64);
        draw(
            &mut svg,
            format!("<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{colour}\"/>", y - 6.0),
        );
        draw(&mut svg, format!("<text x=\"{}\" y=\"{y}\">{}</text>", x + 20.0, curve.name));
    }
    svg.push_str("</svg>\n");
    write(file, svg.as_bytes())
}

/// Round numbers in a range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= rough).unwrap_or(power);
    let first = (low / step).ceil() as i64;
    (first..).map(|k| k as f64 * step).take_while(|x| *x <= high).collect()
}

fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Writes rows of red, green and blue from 0 to 1 as a PNG.
pub fn png(file: &str, width: usize, pixels: &[[f64; 3]]) -> io::Result<()> {
    let mut rows = Vec::new();
    for row in pixels.chunks(width) {
        rows.push(0); // no filter
        rows.extend(row.iter().flatten().map(|v| (255.0 * v.clamp(0.0, 1.0).powf(1.0 / 2.2)).round() as u8));
    }
    // Blocks that are not compressed, in a stream of zlib's.
    let mut stream = vec![0x78, 0x01];
    let blocks = rows.chunks(65535);
    let last = blocks.len();
    for (nth, block) in blocks.enumerate() {
        let len = block.len() as u16;
        stream.push(u8::from(nth + 1 == last));
        stream.extend(len.to_le_bytes().into_iter().chain((!len).to_le_bytes()).chain(block.iter().copied()));
    }
    let (a, b) = rows.iter().fold((1u32, 0u32), |(a, b), v| {
        let a = (a + u32::from(*v)) % 65521;
        (a, (b + a) % 65521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend(((pixels.len() / width) as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    for (kind, data) in [(b"IHDR", header), (b"IDAT", stream), (b"IEND", Vec::new())] {
        bytes.extend((data.len() as u32).to_be_bytes());
        let checked: Vec<u8> = kind.iter().copied().chain(data).collect();
        let check = checked.iter().fold(!0u32, |crc, v| {
            (0..8).fold(crc ^ u32::from(*v), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        });
        bytes.extend(checked);
        bytes.extend((!check).to_be_bytes());
    }
    write(file, &bytes)
}

fn write(file: &str, bytes: &[u8]) -> io::Result<()> {
    let path = folder()?.join(file);
    fs::write(&path, bytes)?;
    println!("wrote {}", path.display());
    Ok(())
}
