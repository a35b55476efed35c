//! What people and programs read: tables in text and Markdown, JSON.

use crate::failure::Failure;
use crate::place::Place;
use serde::Serialize;
use sinew_scene::escape::{escaped, escaped_json};
pub use sinew_scene::validate::tools::short;
use std::io::Write;
use std::path::PathBuf;

/// Most characters of a cell. The width of a column is at most 65535 in the formatting of the standard library, and
/// names of files and scenes may be longer.
const LONGEST_CELL: usize = 400;

/// Destination of JSON, opened before the work begins.
#[derive(Default)]
pub struct Json(Option<Place>);

impl Json {
    /// Refuses a place that cannot be written, before the work is done and not after it. Without a path nothing is written.
    pub fn open(path: &Option<PathBuf>) -> Result<Self, Failure> {
        path.as_deref().map(Place::open).transpose().map(Self)
    }

    /// True when stdout is taken: nothing else may be printed there.
    pub fn takes_stdout(&self) -> bool {
        self.0.as_ref().is_some_and(Place::is_stdout)
    }

    /// The place, if there is one.
    pub fn place(&self) -> Option<&Place> {
        self.0.as_ref()
    }

    /// Writes one JSON value, indented, with a newline behind it.
    pub fn write(self, value: &impl Serialize) -> Result<(), Failure> {
        let Some(place) = self.0 else { return Ok(()) };
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        place.save(escaped_json(&text).as_bytes())
    }
}

/// Rows of a table whose first line is its head. Columns are aligned: the first `left` of them to the left.
pub struct Table {
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Table {
    /// A table with these headings.
    pub fn new<const N: usize>(left: usize, head: [&str; N]) -> Self {
        Self::with_head(left, head.to_vec())
    }

    /// A table with a list of headings.
    pub fn with_head(left: usize, head: Vec<&str>) -> Self {
        Self { rows: vec![head.into_iter().map(cell).collect()], left }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|text| cell(text)).collect());
    }

    /// Writes it, columns as wide as their widest cell.
    pub fn write(&self, out: &mut impl Write) -> Result<(), Failure> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (c, (text, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if c > 0 { "  " } else { "" };
                let cell = if c < self.left { format!("{gap}{text:<width$}") } else { format!("{gap}{text:>width$}") };
                line.push_str(&cell);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A cell is a part of a line, whatever names a file has: without control characters, and cut.
pub fn cell(text: &str) -> String {
    let text = escaped(text);
    match text.char_indices().nth(LONGEST_CELL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// One line of a Markdown table.
pub fn markdown_row(cells: &[String]) -> String {
    // a bar inside a cell would end it
    let cells: Vec<String> = cells.iter().map(|c| escaped(c).replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

/// Six digits, with a power of ten only where the number needs one.
pub fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.4e}") }
}

/// A time [s], to a nanosecond: steps are reals of the engine, whose digits beyond mean nothing.
pub fn seconds(time: f64) -> f64 {
    (time * 1e9).round() / 1e9
}

/// Milliseconds.
pub fn ms(x: f64) -> String {
    format!("{x:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::Real;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(1, ["scene", "ms"]);
        table.row(vec!["a".into(), "10.000".into()]);
        let mut out = Vec::new();
        assert!(table.write(&mut out).is_ok());
        assert_eq!(String::from_utf8_lossy(&out), "scene      ms\na      10.000\n");
    }

    #[test]
    fn long_cells_are_cut() {
        let mut table = Table::new(2, ["scene", &"é".repeat(70_000)]);
        table.row(vec!["\u{1b}".repeat(70_000), "1".into()]);
        let mut out = Vec::new();
        assert!(table.write(&mut out).is_ok());
        assert!(String::from_utf8_lossy(&out).lines().all(|line| line.chars().count() < 1000));
    }

    #[test]
    fn reals_have_their_own_digits() {
        assert_eq!(short(0.1), 0.1);
        assert_eq!(short(-2.5e-7), -2.5e-7);
        assert_eq!(short(Real::INFINITY), f64::INFINITY);
        assert_eq!(seconds(0.016_666_667_535_901_07), 0.016_666_668);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.0), "0.000000");
        assert_eq!(number(-9.81), "-9.810000");
        assert_eq!(number(1.25e-7), "1.2500e-7");
        assert_eq!(markdown_row(&["a|b".into(), "c".into()]), "| a\\|b | c |");
    }
}
