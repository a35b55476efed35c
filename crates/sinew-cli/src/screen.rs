//! Text on stdout and stderr, with the control characters of files and names escaped.

use sinew_scene::escape::escaped_lines;
use std::io::{self, Write};

/// Stdout for text. Lines are written as soon as they are complete.
pub fn screen() -> Screen {
    Screen(Vec::new())
}

/// A line or more on stderr.
pub fn note(text: &str) {
    // a closed stderr is ignored
    _ = writeln!(io::stderr(), "{}", escaped_lines(text));
}

/// Stdout, every control character but tabs and ends of lines written out.
pub struct Screen(Vec<u8>);

impl Screen {
    fn pass(&mut self, until: usize) -> io::Result<()> {
        let rest = self.0.split_off(until);
        let whole = std::mem::replace(&mut self.0, rest);
        io::stdout().write_all(escaped_lines(&String::from_utf8_lossy(&whole)).as_bytes())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if let Some(end) = self.0.iter().rposition(|b| *b == b'\n') {
            self.pass(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.0.len())?;
        io::stdout().flush()
    }
}
