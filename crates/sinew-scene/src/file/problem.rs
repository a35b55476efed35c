//! Errors of a file: each with position, path and the expected value.

use super::tree::Span;
use crate::escape::{escaped, excerpt};
use std::fmt;
use std::path::PathBuf;

/// Maximum number of listed errors; the others are counted, so that a hostile file does not fill a screen.
const SHOWN: usize = 100;
/// Characters of an offending line that are shown.
const LINE_WIDTH: usize = 160;
/// Characters of a message: enough for a list of known keys; a name in a file may have megabytes.
const MESSAGE_WIDTH: usize = 2000;

/// A text.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its name in messages.
    pub name: String,
    /// The folder to which its paths are relative.
    pub folder: PathBuf,
    pub text: String,
}

/// One error or warning of a scene file. Its text has control characters escaped.
///
/// An example is at [`file::SceneFile`](crate::file::SceneFile).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, or `--set`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Path of the value, as in `bodies.jelly.material.youngs_modulus`; empty for the whole file. A long one is
    /// abbreviated.
    pub path: String,
    /// What was found and what is expected.
    pub message: String,
    /// The offending line, or the part of a long one around the position (a file may be one line); the number of characters
    /// left out before it, and the number marked.
    shown: String,
    skip: usize,
    width: usize,
}

/// All errors, or all warnings, of a scene file.
///
/// An example is at [`file::SceneFile`](crate::file::SceneFile).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    more: usize,
}

impl Problem {
    pub(crate) fn new(sources: &[Source], span: Span, path: &str, message: impl Into<String>) -> Self {
        let nowhere = Source { name: String::new(), folder: PathBuf::new(), text: String::new() };
        let source = sources.get(span.file()).unwrap_or(&nowhere);
        let text = &source.text;
        let border = |at: usize| (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        let (start, end) = (border(span.start()), border(span.end()));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let meant = &text[start..end.clamp(start, line_end)];
        let column = text[line_start..start].chars().count() + 1;
        let skip = column.saturating_sub(LINE_WIDTH / 2);
        Self {
            file: source.name.clone(),
            line: text[..start].matches('\n').count() + 1,
            column,
            path: excerpt(path, LINE_WIDTH).into_owned(),
            message: excerpt(&message.into(), MESSAGE_WIDTH).into_owned(),
            shown: text[line_start..line_end].trim_end().chars().skip(skip).take(LINE_WIDTH).collect(),
            skip,
            width: meant.chars().count().max(1),
        }
    }

    /// The message with the offending line and a mark below it.
    pub fn render(&self) -> String {
        let shown = self.shown.replace('\t', " ");
        let at = self.column - 1 - self.skip;
        let width = self.width.min(LINE_WIDTH.saturating_sub(at).max(1));
        // the mark is below the shown text, in which escaped control characters are longer
        let grown = |text: &str| escaped(text).chars().count() - text.chars().count();
        let part = |from: usize, count: usize| shown.chars().skip(from).take(count).collect::<String>();
        let before = " ".repeat(at + grown(&part(0, at)));
        let mark = "^".repeat(width + grown(&part(at, width)));
        let number = self.line.to_string();
        let left = " ".repeat(number.len());
        format!("{self}\n {number} | {}\n {left} | {before}{mark}", escaped(&shown))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", escaped(&self.file), self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", escaped(&self.path))?;
        }
        f.write_str(&escaped(&self.message))
    }
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        // each error once
        if self.list.contains(&problem) {
            return;
        }
        if self.is_full() { self.more += 1 } else { self.list.push(problem) }
    }

    /// True when no more are listed: a search for more may stop.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= SHOWN
    }

    /// Counts an error that is not listed.
    pub(crate) fn count(&mut self) {
        self.more += 1;
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.list.len() + self.more
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those that are listed, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// Sorts them by position in the text.
    pub(crate) fn sort(&mut self) {
        self.list.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    }

    /// Adds those of another list.
    pub(crate) fn append(&mut self, other: Self) {
        other.list.into_iter().for_each(|problem| self.push(problem));
        self.more += other.more;
    }

    /// Warnings, each with its line; empty when there are none.
    pub fn render_warnings(&self) -> String {
        let mut out: Vec<String> = self.list.iter().map(|p| format!("warning: {}", p.render())).collect();
        if self.more > 0 {
            out.push(format!("and {} more warnings", self.more));
        }
        out.join("\n")
    }

    /// All with their lines, and a count.
    pub fn render(&self) -> String {
        let mut out: String = self.list.iter().map(|p| p.render() + "\n").collect();
        out.push_str(&match (self.len(), self.more) {
            (1, _) => "1 error".to_owned(),
            (n, 0) => format!("{n} errors"),
            (n, more) => format!("{n} errors, {more} of them not shown"),
        });
        out
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.list.iter().enumerate() {
            write!(f, "{}{problem}", if i == 0 { "" } else { "\n" })?;
        }
        if self.more > 0 { write!(f, "\nand {} more", self.more) } else { Ok(()) }
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_one_line_is_not_kept_once_a_fault() {
        // a hundred errors in a line of two megabytes took two hundred megabytes
        let text = "0,".repeat(100_000);
        let source = Source { name: "s.json".to_owned(), folder: PathBuf::new(), text };
        let problem = Problem::new(&[source], Span::new(0, 150_000, 150_001), "", "this one");
        assert!(problem.shown.len() <= LINE_WIDTH);
        assert_eq!(problem.column, 150_001);
        let mark = problem.render().lines().last().map(|l| l.find('^')).expect("a mark");
        let place = problem.render().lines().nth(1).map(|l| l.len()).expect("a line");
        assert!(mark.is_some_and(|at| at < place));
    }
}
