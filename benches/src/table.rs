//! A table of measurements, written as Markdown.

use std::fmt::Write as _;

use crate::measure::Measurement;

/// A table, its first column text, the others numbers.
#[derive(Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A row for each kernel.
    pub fn of(measurements: &[Measurement]) -> Self {
        let rows = measurements.iter().map(|m| vec![m.kernel.to_owned()]).collect();
        Table { header: vec!["kernel".to_owned()], rows }
    }

    /// Adds a column of a figure of each kernel.
    pub fn column(
        &mut self,
        name: String,
        measurements: &[Measurement],
        figure: impl Fn(&Measurement) -> Option<f64>,
    ) {
        self.header.push(name);
        for (row, measurement) in self.rows.iter_mut().zip(measurements) {
            row.push(figure(measurement).map_or(String::new(), digits));
        }
    }

    /// Leaves out columns without any number.
    #[must_use]
    pub fn compact(mut self) -> Self {
        let keep: Vec<bool> = (0..self.header.len())
            .map(|i| i == 0 || self.rows.iter().any(|row| !row[i].is_empty()))
            .collect();
        for row in self.rows.iter_mut().chain([&mut self.header]) {
            let mut kept = keep.iter();
            row.retain(|_| *kept.next().expect("a flag per column"));
        }
        self
    }

    /// Whether it has more than the names of its rows.
    pub fn has_figures(&self) -> bool {
        self.header.len() > 1
    }

    /// Markdown, its columns aligned.
    pub fn markdown(&self) -> String {
        let rows = || self.rows.iter().chain([&self.header]);
        let width = |i: usize| rows().map(|row| row[i].chars().count()).max().unwrap_or(0).max(2);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |cells: &[String]| {
            cells.iter().zip(&widths).enumerate().fold("|".to_owned(), |mut line, (i, (cell, &width))| {
                let written = match i {
                    0 => write!(line, " {cell:<width$} |"),
                    _ => write!(line, " {cell:>width$} |"),
                };
                written.expect("a `String` takes any text");
                line
            })
        };
        let rule = |(i, width): (usize, &usize)| match i {
            0 => format!("{}|", "-".repeat(width + 2)),
            _ => format!("{}:|", "-".repeat(width + 1)),
        };
        let rules: String = widths.iter().enumerate().map(rule).collect();
        let mut lines = vec![line(&self.header), format!("|{rules}")];
        lines.extend(self.rows.iter().map(|row| line(row)));
        lines.join("\n") + "\n"
    }
}

/// Three significant digits.
fn digits(x: f64) -> String {
    match x {
        x if x >= 99.95 => format!("{x:.0}"),
        x if x >= 9.995 => format!("{x:.1}"),
        x if x >= 0.0995 => format!("{x:.2}"),
        x => format!("{x:.4}"),
    }
}
