//! A place in a file that moves on: words and lines of text, numbers of binary parts.
//!
//! Positions are bytes; a fault in text is told as a line, which is counted only when there is a fault.

use crate::error::Place;

/// What is wrong at which byte, before the file has a name.
#[derive(Debug)]
pub struct Fault {
    pub place: Place,
    pub what: String,
}

/// Outcome of reading a piece of a file.
pub type Parsed<T> = Result<T, Fault>;

impl Fault {
    /// About the file as a whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Fault { place: Place::File, what: what.into() }
    }
}

/// Order of bytes of numbers in binary parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    Little,
    Big,
}

/// Bytes, and how far they are read.
#[derive(Clone)]
pub struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the last word, line or number began: faults are told there.
    last: usize,
    /// Begins a remark that lasts to the end of its line.
    remark: Option<u8>,
    /// Whether what was read last was text.
    text: bool,
}

impl<'a> Scan<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, last: 0, remark: None, text: true }
    }

    /// Words skip what stands between this byte and the end of the line.
    pub fn with_remarks(mut self, begin: u8) -> Self {
        self.remark = Some(begin);
        self
    }

    /// Bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Moves to a byte; beyond the end is the end.
    pub fn go(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// A fault where the last word or number began.
    pub fn fault(&self, what: impl Into<String>) -> Fault {
        // at the end: where the last line with something in it ends
        let last = if self.last < self.bytes.len() { self.last } else { self.bytes.trim_ascii_end().len() };
        let line = || 1 + self.bytes[..last].iter().filter(|&&b| b == b'\n').count();
        let place = if self.text { Place::Line(line()) } else { Place::Byte(self.last) };
        Fault { place, what: what.into() }
    }

    /// The next word of text.
    pub fn word(&mut self) -> Option<&'a str> {
        self.skip_space();
        self.text = true;
        self.last = self.at;
        let length = self.rest().iter().position(|&b| b.is_ascii_whitespace() || Some(b) == self.remark);
        let word = &self.rest()[..length.unwrap_or(self.rest().len())];
        self.at += word.len();
        // bytes that are no text become a word that nothing expects
        (!word.is_empty()).then(|| std::str::from_utf8(word).unwrap_or("\u{fffd}"))
    }

    fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if Some(byte) == self.remark {
                let end = self.rest().iter().position(|&b| b == b'\n');
                self.at += end.unwrap_or(self.rest().len());
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// The next word without moving on.
    pub fn peek(&self) -> Option<&'a str> {
        self.clone().word()
    }

    /// The rest of this line, without its end.
    pub fn line(&mut self) -> Option<&'a str> {
        if self.rest().is_empty() {
            return None;
        }
        self.text = true;
        self.last = self.at;
        let rest = self.rest();
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        Some(std::str::from_utf8(line).unwrap_or("\u{fffd}"))
    }

    /// A word that must be there.
    pub fn expect(&mut self, what: &str) -> Parsed<&'a str> {
        self.word().ok_or_else(|| self.fault(format!("the file ends where {what} should stand")))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str, kind: &str) -> Parsed<T> {
        let word = self.expect(what)?;
        word.parse().map_err(|_| self.fault(format!("expected {what} ({kind}), found '{}'", short(word))))
    }

    pub fn real(&mut self, what: &str) -> Parsed<f64> {
        self.number(what, "a number")
    }

    pub fn int(&mut self, what: &str) -> Parsed<i64> {
        self.number(what, "a whole number")
    }

    /// A number of things that follow. It is refused when the file is too short to hold that many, so that nothing is
    /// ever allocated by a claim.
    pub fn count(&mut self, what: &str, bytes_each: usize) -> Parsed<usize> {
        let count: u64 = self.number(what, "a whole number that is not negative")?;
        self.claim(count, what, bytes_each)
    }

    /// Checks a claimed number of things against the bytes that are left.
    pub fn claim(&self, count: u64, what: &str, bytes_each: usize) -> Parsed<usize> {
        let room = (self.rest().len() / bytes_each.max(1)) as u64;
        // the last thing of a text needs no space behind it
        let room = if self.text { room + 1 } else { room };
        if count > room || count > u64::from(u32::MAX) {
            let left = self.rest().len();
            return Err(self.fault(format!(
                "{what} is {count}, but only {left} bytes follow; the file is cut short or its header is wrong"
            )));
        }
        Ok(count as usize)
    }

    /// The next bytes of a binary part.
    pub fn take(&mut self, count: usize, what: &str) -> Parsed<&'a [u8]> {
        self.text = false;
        self.last = self.at;
        let Some(bytes) = self.rest().get(..count) else {
            let left = self.rest().len();
            return Err(self.fault(format!("expected {what} ({count} bytes), but only {left} bytes follow")));
        };
        self.at += count;
        Ok(bytes)
    }

    /// The next bytes of a binary number, lowest first.
    pub fn bytes<const N: usize>(&mut self, endian: Endian, what: &str) -> Parsed<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N, what)?);
        if endian == Endian::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// Moves behind the next occurrence of these bytes; false, and no move, when there is none.
    pub fn skip_past(&mut self, needle: &[u8]) -> bool {
        let found = self.rest().windows(needle.len()).position(|w| w == needle);
        if let Some(found) = found {
            self.at += found + needle.len();
        }
        found.is_some()
    }
}

/// A word that fits into a message.
pub fn short(word: &str) -> String {
    let cut: String = word.chars().take(40).collect();
    if cut.len() < word.len() { format!("{cut}...") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_line_of_the_word() {
        let mut scan = Scan::new(b"1 2\n# 5 remark\nx").with_remarks(b'#');
        assert_eq!((scan.int("a").unwrap(), scan.int("b").unwrap()), (1, 2));
        let fault = scan.int("a third").unwrap_err();
        assert_eq!(fault.place, Place::Line(3));
        assert!(fault.what.contains("'x'") && fault.what.contains("a third"));
    }

    #[test]
    fn a_claim_is_measured_against_the_file() {
        let mut scan = Scan::new(b"1000000000000 ");
        assert!(scan.count("number of vertices", 6).is_err());
        assert!(Scan::new(b"99999999999999999999999").count("n", 1).is_err());
        assert_eq!(Scan::new(b"2 1 2").count("n", 2).unwrap(), 2);
    }
}
