//! A cursor in a file: words and lines of text, numbers of binary parts.
//!
//! Positions are byte offsets; an error in text is reported as a line number, which is computed only in case of an
//! error.

use crate::error::Place;

/// An error and its byte offset, before the file name is known.
#[derive(Debug)]
pub struct Fault {
    pub place: Place,
    pub what: String,
}

/// Result of parsing a part of a file.
pub type Parsed<T> = Result<T, Fault>;

impl Fault {
    /// An error of the file as a whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Fault { place: Place::File, what: what.into() }
    }
}

/// Byte order of numbers in binary parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    Little,
    Big,
}

/// Bytes, and the read position.
#[derive(Clone)]
pub struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Start of the last word, line or number, where errors are reported.
    last: usize,
    /// Character that starts a comment to the end of its line.
    remark: Option<u8>,
    /// Whether what was read last was text.
    text: bool,
}

impl<'a> Scan<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, last: 0, remark: None, text: true }
    }

    /// Sets the character that starts a comment; comments are skipped between words.
    pub fn with_remarks(mut self, begin: u8) -> Self {
        self.remark = Some(begin);
        self
    }

    /// Bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Moves to a byte offset; beyond the end is the end.
    pub fn go(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// An error at the start of the last word or number.
    pub fn fault(&self, what: impl Into<String>) -> Fault {
        // at the end of the file: the end of the last non-empty line
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
        // bytes that are not UTF-8 become a word that no parser expects
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

    /// The next word without advancing.
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

    /// A required word.
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

    /// A count of items that follow. It is refused when the file is too short to contain that many, so that no
    /// allocation depends on an unchecked count.
    pub fn count(&mut self, what: &str, bytes_each: usize) -> Parsed<usize> {
        let count: u64 = self.number(what, "a whole number that is not negative")?;
        self.claim(count, what, bytes_each)
    }

    /// Checks a claimed count against the remaining bytes.
    pub fn claim(&self, count: u64, what: &str, bytes_each: usize) -> Parsed<usize> {
        let room = (self.rest().len() / bytes_each.max(1)) as u64;
        // the last item of a text needs no separator after it
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

    /// The next bytes of a binary number, in little-endian order.
    pub fn bytes<const N: usize>(&mut self, endian: Endian, what: &str) -> Parsed<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N, what)?);
        if endian == Endian::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// Moves past the next occurrence of these bytes; returns false without moving when there is none.
    pub fn skip_past(&mut self, needle: &[u8]) -> bool {
        let found = self.rest().windows(needle.len()).position(|w| w == needle);
        if let Some(found) = found {
            self.at += found + needle.len();
        }
        found.is_some()
    }
}

/// A word, shortened for a message.
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
    fn a_count_is_checked_against_the_length_of_the_file() {
        let mut scan = Scan::new(b"1000000000000 ");
        assert!(scan.count("number of vertices", 6).is_err());
        assert!(Scan::new(b"99999999999999999999999").count("n", 1).is_err());
        assert_eq!(Scan::new(b"2 1 2").count("n", 2).unwrap(), 2);
    }
}
