//! Texts and numbers of TOML.

use super::toml_table::Fault;
use super::toml_text::Toml;
use super::tree::Value;
use std::borrow::Cow;

impl Toml<'_> {
    /// A word or number up to the next sign that ends one.
    pub fn scalar(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        while self.peek().is_some_and(|b| !b" \t\r\n,]}#=\"'[{".contains(&b)) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let fault = |what: &str| Err((self.span(start), what.to_owned()));
        match text {
            "true" => return Ok(Value::Bool(true)),
            "false" => return Ok(Value::Bool(false)),
            _ => {}
        }
        if is_date(text.as_bytes()) {
            return fault("dates have no meaning in a scene");
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if matches!(unsigned, "inf" | "nan") {
            let x = if unsigned == "inf" { f64::INFINITY } else { f64::NAN };
            return Ok(Value::Float(if text.starts_with('-') { -x } else { x }));
        }
        if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            let word = unsigned.starts_with(|c: char| c.is_alphabetic());
            return fault(if word { "this word needs quotes: text stands in quotes" } else { "this is not a value" });
        }
        let whole = match unsigned.get(..2) {
            Some("0x") => Some((&text[2..], 16)),
            Some("0o") => Some((&text[2..], 8)),
            Some("0b") => Some((&text[2..], 2)),
            _ => is_decimal(unsigned, true).then_some((text, 10)),
        };
        match whole {
            Some((_, radix)) if radix != 10 && unsigned.len() < text.len() => fault("this number takes no sign"),
            Some((digits, radix)) if radix != 10 && !spaced(digits, |b| (b as char).is_digit(radix)) => {
                fault("this is not a number")
            }
            Some((digits, radix)) => match i64::from_str_radix(&plain(digits), radix) {
                Ok(i) => Ok(Value::Int(i)),
                Err(_) => fault("this whole number does not fit in 64 bits"),
            },
            None if is_float(unsigned) => match plain(text).parse() {
                Ok(x) => Ok(Value::Float(x)),
                Err(_) => fault("this is not a number"),
            },
            None => fault("this is not a number"),
        }
    }

    /// A text in quotes of either kind, one or three.
    pub fn string(&mut self) -> Result<Box<str>, Fault> {
        let start = self.at;
        let quote = self.text.as_bytes()[start];
        let long = self.starts(if quote == b'"' { "\"\"\"" } else { "'''" });
        self.at += if long { 3 } else { 1 };
        if long {
            self.newline();
        }
        // most texts are as they stand
        let (mut out, mut from) = (String::new(), self.at);
        loop {
            let here = self.at;
            match self.peek() {
                None => return Err((self.span(start), "this text has no end".to_owned())),
                Some(b'\n') if !long => return Err((self.span(start), "a line ends within this text".to_owned())),
                Some(b'\r') if !self.starts("\r\n") => return self.fault("this sign cannot stand in a text"),
                Some(b'\r') if !long => return Err((self.span(start), "a line ends within this text".to_owned())),
                Some(0..=8 | 11 | 12 | 14..=31 | 127) => return self.fault("this sign cannot stand in a text"),
                Some(b'\\') if quote == b'"' => {
                    out.push_str(&self.text[from..here]);
                    self.at += 1;
                    if !(long && self.takes_line_end()) {
                        out.push(self.escape()?);
                    }
                    from = self.at;
                }
                Some(b) if b == quote => {
                    let run = self.text.as_bytes()[here..].iter().take(5).take_while(|b| **b == quote).count();
                    if !long || run >= 3 {
                        // up to two quotes may stand before the three that end it
                        let within = if long { run - 3 } else { 0 };
                        self.at += if long { run } else { 1 };
                        let rest = &self.text[from..here + within];
                        return Ok(if out.is_empty() { rest.into() } else { (out + rest).into() });
                    }
                    self.at += run;
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// Behind a backslash: an end of a line, and all blanks up to the next sign.
    fn takes_line_end(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        if !(rest[blanks..].starts_with(b"\n") || rest[blanks..].starts_with(b"\r\n")) {
            return false;
        }
        self.at += rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count();
        true
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let sign = self.peek();
        // letters only: the text stays at the border of a character
        self.at += usize::from(sign.is_some_and(|b| b.is_ascii()));
        let digits = match sign {
            Some(b'b') => return Ok('\u{8}'),
            Some(b't') => return Ok('\t'),
            Some(b'n') => return Ok('\n'),
            Some(b'f') => return Ok('\u{c}'),
            Some(b'r') => return Ok('\r'),
            Some(b'e') => return Ok('\u{1b}'),
            Some(c @ (b'"' | b'\\')) => return Ok(c as char),
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => return self.fault("this escape does not exist"),
        };
        let text = self.text.get(self.at..self.at + digits).filter(|t| t.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = text.and_then(|t| u32::from_str_radix(t, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                self.at += digits;
                Ok(c)
            }
            None => self.fault("this escape is no character"),
        }
    }
}

/// Digits with single underscores between them.
fn spaced(text: &str, is_digit: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let fine = |(i, b): (usize, &u8)| {
        is_digit(*b)
            || (*b == b'_' && i > 0 && is_digit(bytes[i - 1]) && bytes.get(i + 1).is_some_and(|b| is_digit(*b)))
    };
    !text.is_empty() && bytes.iter().enumerate().all(fine)
}

/// Decimal digits; as a whole number it does not begin with 0.
fn is_decimal(text: &str, whole: bool) -> bool {
    spaced(text, |b| b.is_ascii_digit()) && !(whole && text.len() > 1 && text.starts_with('0'))
}

fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let exponent_fine = exponent.is_none_or(|e| is_decimal(e.strip_prefix(['+', '-']).unwrap_or(e), false));
    is_decimal(whole, true) && fraction.is_none_or(|f| is_decimal(f, false)) && exponent_fine
}

/// `2020-01-01` or `12:30`, and whatever follows.
fn is_date(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    (digits == 4 && text.get(4) == Some(&b'-')) || (digits == 2 && text.get(2) == Some(&b':'))
}

/// Digits without underscores.
fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}
