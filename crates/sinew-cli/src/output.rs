//! What people and programs read: tables in text and Markdown, JSON to a file or stdout.

use crate::failure::Failure;
use serde::Serialize;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where JSON goes.
#[derive(Clone, Debug)]
pub enum Target {
    /// `-`
    Stdout,
    /// A file.
    File(PathBuf),
}

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "-" { Target::Stdout } else { Target::File(text.into()) })
    }
}

impl Target {
    /// True when stdout is taken: nothing else may be printed there.
    pub fn takes_stdout(target: &Option<Target>) -> bool {
        matches!(target, Some(Target::Stdout))
    }

    /// Refuses a file that cannot be written, before the work is done and not after it.
    pub fn check(target: &Option<Target>) -> Result<(), Failure> {
        if let Some(Target::File(path)) = target {
            drop(Draft::create(path)?);
        }
        Ok(())
    }

    /// Writes one JSON value, indented, with a newline behind it.
    pub fn write(&self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        match self {
            Target::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
                Ok(())
            }
            Target::File(path) => Draft::save(path, text.as_bytes()),
        }
    }
}

/// A file in the making: it has its name only when it is whole, so that Ctrl-C and full disks leave no halves.
pub struct Draft {
    path: PathBuf,
    part: PathBuf,
    out: Option<BufWriter<File>>,
}

impl Draft {
    /// Begins a file beside the one that it will be.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let mut name =
            path.file_name().ok_or_else(|| Failure::input(format!("{}: not a file", path.display())))?.to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        let file = File::create(&part).map_err(Failure::file(path))?;
        Ok(Self { path: path.to_owned(), part, out: Some(BufWriter::new(file)) })
    }

    /// Adds bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.out {
            Some(out) => out.write_all(bytes).map_err(Failure::file(&self.path)),
            None => Ok(()),
        }
    }

    /// Gives it its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        if let Some(mut out) = self.out.take() {
            out.flush().map_err(Failure::file(&self.path))?;
            drop(out);
            std::fs::rename(&self.part, &self.path).map_err(Failure::file(&self.path))?;
        }
        Ok(())
    }

    /// Writes all of it and gives it its name.
    pub fn write(mut self, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
        if let Some(out) = &mut self.out {
            fill(out).map_err(Failure::file(&self.path))?;
        }
        self.finish()
    }

    /// A file of these bytes.
    pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        Self::create(path)?.write(|out| out.write_all(bytes))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            // given up: whatever happens to the remains, the file of the name itself was never touched
            let _ = std::fs::remove_file(&self.part);
        }
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
        Self { rows: vec![head.into_iter().map(str::to_owned).collect()], left }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
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

/// One line of a Markdown table.
pub fn markdown_row(cells: &[String]) -> String {
    // a bar inside a cell would end it
    let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

/// Six digits, with a power of ten only where the number needs one.
pub fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.4e}") }
}

/// Milliseconds.
pub fn ms(x: f64) -> String {
    format!("{x:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(1, ["scene", "ms"]);
        table.row(vec!["a".into(), "10.000".into()]);
        let mut out = Vec::new();
        assert!(table.write(&mut out).is_ok());
        assert_eq!(String::from_utf8_lossy(&out), "scene      ms\na      10.000\n");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.0), "0.000000");
        assert_eq!(number(-9.81), "-9.810000");
        assert_eq!(number(1.25e-7), "1.2500e-7");
        assert_eq!(markdown_row(&["a|b".into(), "c".into()]), "| a\\|b | c |");
    }
}
