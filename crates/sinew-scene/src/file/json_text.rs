//! JSON text as a tree (RFC 8259). Not `serde_json`, because that does not report the positions of values.

use super::keys::Keys;
use super::tree::{Entry, Node, Span, Value, make_room};
use crate::escape::excerpt;

/// Deepest nesting that is read: the stack must not depend on a file.
const DEPTH: usize = 64;
/// Lists longer than this are counted before they are read on: one that doubles its room as it grows takes three times as
/// much memory when it moves.
const LONG: usize = 64;

/// The tree, or the first fault of the syntax with its place.
pub(crate) fn parse(text: &str, file: u16) -> Result<Node, Vec<(Span, String)>> {
    let mut json = Json { text, at: 0, file };
    let node = json.node(0).and_then(|node| {
        json.blank();
        if json.at < text.len() { Err(json.fault("expected the end of the file")) } else { Ok(node) }
    });
    node.map_err(|fault| vec![fault])
}

type Fault = (Span, String);

struct Json<'a> {
    text: &'a str,
    at: usize,
    file: u16,
}

impl Json<'_> {
    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    fn fault(&self, what: &str) -> Fault {
        (self.span(self.at), what.to_owned())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes a sign when it comes next.
    fn takes(&mut self, sign: u8) -> bool {
        self.blank();
        let here = self.peek() == Some(sign);
        self.at += usize::from(here);
        here
    }

    fn node(&mut self, depth: usize) -> Result<Node, Fault> {
        self.blank();
        if depth > DEPTH {
            return Err(self.fault(&format!("nested deeper than {DEPTH} levels")));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.table(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?.into()),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word()?,
            Some(_) => return Err(self.fault("expected a value: a table, list, text, number, true or false")),
            None => return Err(self.fault("expected a value, found the end of the file")),
        };
        Ok(Node { span: self.span(start), value })
    }

    fn table(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let (mut entries, mut keys) = (Vec::<Entry>::new(), Keys::default());
        if self.takes(b'}') {
            return Ok(Value::Table(entries.into()));
        }
        loop {
            self.blank();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault("expected a key in quotes"));
            }
            let key = self.string()?;
            let key_span = self.span(start);
            if keys.find(&key, entries.len(), |i| &*entries[i].key).is_some() {
                let key = excerpt(&key, 60);
                return Err((key_span, format!("the key '{}' is here twice", key.escape_debug())));
            }
            if !self.takes(b':') {
                return Err(self.fault("expected ':' behind the key"));
            }
            let node = self.node(depth + 1)?;
            if entries.len() == LONG {
                entries.reserve_exact(self.items_left());
            }
            make_room(&mut entries);
            entries.push(Entry { key: key.into(), key_span, node });
            keys.added(entries.len(), |i| &*entries[i].key);
            if self.takes(b'}') {
                return Ok(Value::Table(entries.into()));
            }
            if !self.takes(b',') {
                return Err(self.fault("expected ',' or '}'"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        if self.takes(b']') {
            return Ok(Value::List(items.into()));
        }
        loop {
            if items.len() == LONG {
                items.reserve_exact(self.items_left());
            }
            make_room(&mut items);
            items.push(self.node(depth + 1)?);
            if self.takes(b']') {
                return Ok(Value::List(items.into()));
            }
            if !self.takes(b',') {
                return Err(self.fault("expected ',' or ']'"));
            }
        }
    }

    /// Items from here to the end of the list or table, of text that is whole; never more than half of the bytes that are left.
    fn items_left(&self) -> usize {
        let (mut left, mut depth, mut within, mut escaped, mut filled) = (0, 0_usize, false, false, false);
        for byte in self.text.as_bytes()[self.at..].iter() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if within => escaped = true,
                b'"' => within = !within,
                _ if within => {}
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth == 0 => break,
                b']' | b'}' => depth -= 1,
                b',' if depth == 0 => left += usize::from(std::mem::take(&mut filled)),
                _ => {}
            }
            filled |= *byte != b',' || depth > 0;
        }
        left + usize::from(filled)
    }

    fn word(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Nothing),
            _ => Err((self.span(start), "this word is no JSON: text stands in quotes".to_owned())),
        }
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_json = !(digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit())
            && digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.ends_with(|c: char| c.is_ascii_digit());
        let whole = if is_json { text.parse().ok().map(Value::Int) } else { None };
        let value = whole.or_else(|| text.parse().ok().filter(|_| is_json).map(Value::Float));
        value.ok_or_else(|| (self.span(start), "this is not a number".to_owned()))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else {
                return Err((self.span(start), "this text has no end".to_owned()));
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => out.push(self.escape()?),
                '\u{0}'..='\u{1f}' => return Err((self.span(start), "a line ends within this text".to_owned())),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let sign = self.peek();
        // letters only: the text stays at the border of a character
        self.at += usize::from(sign.is_some_and(|c| c.is_ascii()));
        Ok(match sign {
            Some(c @ (b'"' | b'\\' | b'/')) => c as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.hex()?;
                // two halves of a character beyond 16 bits
                let code = if (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    0x10000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff)
                } else {
                    high
                };
                char::from_u32(code).ok_or_else(|| self.fault("this escape is no character"))?
            }
            _ => return Err(self.fault("this escape does not exist")),
        })
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let digits = digits.ok_or_else(|| self.fault("expected four hexadecimal digits"))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| self.fault("expected four hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(text, 0).expect(text).value
    }

    fn fault(text: &str) -> String {
        parse(text, 0).expect_err(text)[0].1.clone()
    }

    #[test]
    fn values_are_what_they_say() {
        assert_eq!(value(" -12 "), Value::Int(-12));
        assert_eq!(value("1.5e3"), Value::Float(1500.0));
        assert_eq!(value(r#""a\u00e9\ud83d\ude00\n""#), Value::text("aé😀\n"));
        let Value::Table(entries) = value(r#"{"b": [1, true], "a": null}"#) else { panic!("a table") };
        assert_eq!(&*entries[0].key, "b");
        assert_eq!(entries[1].node.value, Value::Nothing);
        assert_eq!((entries[0].node.span.start(), entries[0].node.span.end()), (6, 15));
    }

    #[test]
    fn a_long_list_is_counted_before_it_is_read_on() {
        let long = format!("{}[1, \"a,]\\\",\"], {{\"b\": 1, \"c\": 2}}]", "0, ".repeat(1000));
        assert_eq!(Json { text: &long, at: 0, file: 0 }.items_left(), 1002);
        let Value::List(items) = value(&format!("[{long}")) else { panic!("a list") };
        assert_eq!(items.len(), 1002);
        // what is no list does not take more than a list would
        assert_eq!(Json { text: &",".repeat(1000), at: 0, file: 0 }.items_left(), 0);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "[1,", "01", "1.", "+1", "nul", "\"a", "{\"a\":1,}", "[1 2]", "{a:1}", "\"\\x\"", "1 2"] {
            assert!(parse(text, 0).is_err(), "{text}");
        }
        assert!(fault(&"[".repeat(100_000)).contains("nested deeper than 64"));
        assert!(fault(r#"{"a":1,"a":2}"#).contains("twice"));
        assert!(fault("\"\\é\"").contains("escape"));
    }
}
