//! TOML text as a tree (TOML 1.1). A reader of our own: those there are keep tokens, events and places of the whole text, a
//! hundred bytes for each of its bytes where a value is two bytes long. This one reads the text once and keeps only the tree.

use super::toml_table::{Fault, Key, Open};
use super::tree::{Node, Span, Value, make_room};

/// Up to this size all errors of the syntax are reported, above it only the first: text that is no TOML at all has one in every
/// line [bytes].
const PATIENT: usize = 1 << 16;
/// Deepest nesting that is read: the stack must not depend on a file.
const DEPTH: usize = 64;
/// Lists longer than this are counted before they are read on: see [`make_room`].
const LONG: usize = 64;

/// The tree, or all faults of the syntax with their places; of long text the first.
pub(crate) fn parse(text: &str, file: u16) -> Result<Node, Vec<Fault>> {
    let mut toml = Toml { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 }, file };
    let (mut root, mut faults) = (Open::new(), Vec::new());
    let mut section = Section { way: Some(Vec::new()), depth: 0, lost: Open::new() };
    while toml.at < text.len() {
        if let Err(fault) = toml.line(&mut root, &mut section) {
            faults.push(fault);
            if text.len() > PATIENT {
                break;
            }
            toml.next_statement();
        }
    }
    if faults.is_empty() { Ok(Node { span: Span::new(file, 0, 0), value: root.finish() }) } else { Err(faults) }
}

/// The value of one piece of text, as on the right of `key = `.
pub(crate) fn parse_value(text: &str, file: u16, offset: usize) -> Option<Node> {
    let mut toml = Toml { text, at: 0, file };
    let mut node = toml.value(0).ok().filter(|_| toml.at == text.len())?;
    shift(&mut node, offset);
    Some(node)
}

fn shift(node: &mut Node, by: usize) {
    node.span = node.span.shifted(by);
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|n| shift(n, by)),
        Value::Table(entries) => entries.iter_mut().for_each(|e| shift(&mut e.node, by)),
        _ => {}
    }
}

/// The table that keys go to.
struct Section {
    /// The way to it; nothing when its header is wrong, and then keys go to `lost`.
    way: Option<Vec<usize>>,
    depth: usize,
    lost: Open,
}

/// A text and the place in it.
pub(crate) struct Toml<'a> {
    pub text: &'a str,
    pub at: usize,
    pub file: u16,
}

impl Toml<'_> {
    /// From `start` up to here.
    pub fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    pub fn fault<T>(&self, what: &str) -> Result<T, Fault> {
        Err((self.span(self.at), what.to_owned()))
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn starts(&self, with: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(with.as_bytes())
    }

    /// Takes a sign when it comes next.
    pub fn takes(&mut self, sign: u8) -> bool {
        let here = self.peek() == Some(sign);
        self.at += usize::from(here);
        here
    }

    /// Blanks within a line.
    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// The end of a line, if it is here.
    pub fn newline(&mut self) -> bool {
        let length = if self.starts("\r\n") { 2 } else { usize::from(self.peek() == Some(b'\n')) };
        self.at += length;
        length > 0
    }

    fn comment(&mut self) -> Result<(), Fault> {
        if self.peek() != Some(b'#') {
            return Ok(());
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => break,
                b'\r' if self.starts("\r\n") => break,
                b'\t' | b' '..=b'~' | 0x80.. => self.at += 1,
                _ => return self.fault("this sign cannot stand in a comment"),
            }
        }
        Ok(())
    }

    /// Blanks, comments and ends of lines: within lists and braces.
    fn lines(&mut self) -> Result<(), Fault> {
        loop {
            self.blank();
            self.comment()?;
            if !self.newline() {
                return Ok(());
            }
        }
    }

    /// A line: a header, a key with its value, or nothing.
    fn line(&mut self, root: &mut Open, section: &mut Section) -> Result<(), Fault> {
        self.blank();
        match self.peek() {
            Some(b'[') => {
                section.way = None;
                section.lost = Open::new();
                let (keys, span, many) = self.header()?;
                section.depth = keys.len();
                section.way = Some(root.header(keys, span, many)?);
            }
            Some(b'#' | b'\n' | b'\r') | None => {}
            Some(_) => {
                let keys = self.keys()?;
                self.blank();
                if !self.takes(b'=') {
                    return self.fault("expected '=' and a value behind the key");
                }
                self.blank();
                let depth = section.depth + keys.len();
                let node = self.value(depth)?;
                let table = section.way.as_ref().and_then(|way| root.below(way)).unwrap_or(&mut section.lost);
                table.set(keys, node)?;
            }
        }
        self.blank();
        self.comment()?;
        if self.at < self.text.len() && !self.newline() {
            return self.fault("expected the end of the line");
        }
        Ok(())
    }

    fn header(&mut self) -> Result<(Vec<Key>, Span, bool), Fault> {
        let start = self.at;
        self.at += 1;
        let many = self.takes(b'[');
        self.blank();
        let keys = self.keys()?;
        self.blank();
        let closed = self.takes(b']') && (!many || self.takes(b']'));
        if !closed {
            return self.fault(if many {
                "expected ']]' behind the name of the table"
            } else {
                "expected ']' behind the name of the table"
            });
        }
        Ok((keys, self.span(start), many))
    }

    /// Keys with dots between them.
    fn keys(&mut self) -> Result<Vec<Key>, Fault> {
        let mut keys = Vec::with_capacity(1);
        loop {
            let start = self.at;
            let key: Box<str> = match self.peek() {
                Some(b'"' | b'\'') if !self.starts("\"\"\"") && !self.starts("'''") => self.string()?,
                Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-') => {
                    while matches!(self.peek(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-')) {
                        self.at += 1;
                    }
                    self.text[start..self.at].into()
                }
                _ => return self.fault("expected a key: letters, digits, '_' and '-', or any text in quotes"),
            };
            if keys.len() == DEPTH {
                return self.fault(&format!("nested deeper than {DEPTH} levels"));
            }
            keys.push((key, self.span(start)));
            let end = self.at;
            self.blank();
            if !self.takes(b'.') {
                self.at = end;
                return Ok(keys);
            }
            self.blank();
        }
    }

    pub fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        if depth > DEPTH {
            return self.fault(&format!("nested deeper than {DEPTH} levels"));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'[') => self.list(depth)?,
            Some(b'{') => self.table(depth)?,
            Some(b'"' | b'\'') => Value::Text(self.string()?),
            Some(b' '..=b'~' | 0x80..) if !matches!(self.peek(), Some(b'#' | b',' | b']' | b'}' | b'=')) => {
                self.scalar()?
            }
            _ => return self.fault("expected a value: a number, text in quotes, true, false, a list or a table"),
        };
        Ok(Node { span: self.span(start), value })
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.lines()?;
            if self.takes(b']') {
                return Ok(Value::List(items.into()));
            }
            if items.len() == LONG {
                items.reserve_exact(self.items_left());
            }
            make_room(&mut items);
            items.push(self.value(depth + 1)?);
            self.lines()?;
            if !self.takes(b',') && self.peek() != Some(b']') {
                return self.fault("expected ',' or ']'");
            }
        }
    }

    /// Items from here to the end of the list, of text that is whole; never more than half of the bytes that are left.
    fn items_left(&self) -> usize {
        let bytes = self.text.as_bytes();
        let (mut at, mut left, mut depth, mut filled) = (self.at, 0, 0_usize, false);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'#' => at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at - 1),
                b'"' | b'\'' => {
                    at = self.behind_string(at);
                    filled = true;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth == 0 => break,
                b']' | b'}' => depth -= 1,
                b',' if depth == 0 => left += usize::from(std::mem::take(&mut filled)),
                _ => {}
            }
            filled |= depth > 0 || !matches!(byte, b',' | b' ' | b'\t' | b'\r' | b'\n' | b'#');
            at += 1;
        }
        left + usize::from(filled)
    }

    /// The position after a string that begins here, without validation.
    fn behind_string(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let quote = bytes[start];
        let three = [quote; 3];
        let long = bytes[start..].starts_with(&three);
        let mut at = start + if long { 3 } else { 1 };
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if quote == b'"' => at += 1,
                b'\n' if !long => return at,
                _ if byte == quote && !long => return at + 1,
                _ if byte == quote && bytes[at..].starts_with(&three) => {
                    return at + bytes[at..].iter().take(5).take_while(|b| **b == quote).count();
                }
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    }

    fn table(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut table = Open::new();
        loop {
            self.lines()?;
            if self.takes(b'}') {
                return Ok(table.finish());
            }
            let keys = self.keys()?;
            self.blank();
            if !self.takes(b'=') {
                return self.fault("expected '=' and a value behind the key");
            }
            self.blank();
            let node = self.value(depth + keys.len())?;
            table.set(keys, node)?;
            self.lines()?;
            if !self.takes(b',') && self.peek() != Some(b'}') {
                return self.fault("expected ',' or '}'");
            }
        }
    }

    /// Skips to the next line with the form of a header or of a key with a value: an error may span several lines.
    fn next_statement(&mut self) {
        while let Some(length) = self.text.as_bytes()[self.at..].iter().position(|b| *b == b'\n') {
            self.at += length + 1;
            let line = self.text[self.at..].lines().next().unwrap_or_default().trim();
            let bare = |c: char| c.is_ascii_alphanumeric() || "_-.\"' ".contains(c);
            let said = line.split('#').next().unwrap_or_default().trim_end();
            let is_header = said.starts_with('[') && said.trim_matches(['[', ']']).chars().all(bare);
            let is_key = line.split_once('=').is_some_and(|(key, _)| !key.is_empty() && key.chars().all(bare));
            if is_header || is_key {
                return;
            }
        }
        self.at = self.text.len();
    }
}

#[cfg(test)]
#[path = "toml_text_tests.rs"]
mod tests;
