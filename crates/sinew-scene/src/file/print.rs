//! A tree as text: TOML for people, JSON for machines. Numbers are written so that they are read as the same bits.

use super::tree::{Entry, Node, Value};

/// Lines longer than this are broken in JSON.
const WIDTH: usize = 100;

/// A whole file as TOML. Tables of the first two levels get a header of their own, the rest is written inline.
pub(crate) fn toml(entries: &[Entry]) -> String {
    let mut out = String::new();
    let (tables, plain): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|e| matches!(e.node.value, Value::Table(_)));
    for entry in plain {
        out.push_str(&format!("{} = {}\n", key(&entry.key), inline(&entry.node.value)));
    }
    for entry in tables {
        let Value::Table(inner) = &entry.node.value else { continue };
        let named = !inner.is_empty() && inner.iter().all(|e| matches!(e.node.value, Value::Table(_)));
        if named {
            for part in inner {
                section(&mut out, &format!("{}.{}", key(&entry.key), key(&part.key)), &part.node);
            }
        } else {
            section(&mut out, &key(&entry.key), &entry.node);
        }
    }
    out
}

fn section(out: &mut String, head: &str, node: &Node) {
    out.push_str(&format!("\n[{head}]\n"));
    if let Value::Table(entries) = &node.value {
        for entry in entries {
            out.push_str(&format!("{} = {}\n", key(&entry.key), inline(&entry.node.value)));
        }
    }
}

fn key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { quoted(key) }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Nothing | Value::Reported => "\"\"".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(x) => number(*x, "inf"),
        Value::Text(text) => quoted(text),
        Value::List(items) => {
            format!("[{}]", items.iter().map(|n| inline(&n.value)).collect::<Vec<_>>().join(", "))
        }
        Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Table(entries) => {
            let inner = entries.iter().map(|e| format!("{} = {}", key(&e.key), inline(&e.node.value)));
            format!("{{ {} }}", inner.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The shortest text that is this number again.
fn number(x: f64, infinity: &str) -> String {
    if x.is_infinite() {
        let sign = if x < 0.0 { "-" } else { "" };
        return infinity.replace("inf", &format!("{sign}inf"));
    }
    format!("{x:?}")
}

/// Text in quotes; the escapes are those that TOML and JSON share.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A value as JSON, broken into lines where it is long. JSON has no infinity: it is written as the text `"inf"`.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    lines(&mut out, value, 0);
    out.push('\n');
    out
}

fn lines(out: &mut String, value: &Value, depth: usize) {
    let short = one_line(value, WIDTH.saturating_sub(2 * depth));
    match (short, value) {
        (Some(short), _) => out.push_str(&short),
        (None, Value::List(items)) => {
            broken(out, depth, ['[', ']'], items.iter().map(|n| (String::new(), &n.value)));
        }
        (None, Value::Table(entries)) => {
            let pairs = entries.iter().map(|e| (format!("{}: ", quoted(&e.key)), &e.node.value));
            broken(out, depth, ['{', '}'], pairs);
        }
        (None, other) => out.push_str(&one_line(other, usize::MAX).unwrap_or_default()),
    }
}

fn broken<'a>(out: &mut String, depth: usize, ends: [char; 2], items: impl Iterator<Item = (String, &'a Value)>) {
    out.push(ends[0]);
    for (i, (head, value)) in items.enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        out.push_str(&head);
        lines(out, value, depth + 1);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(ends[1]);
}

/// The value in one line, if it fits.
fn one_line(value: &Value, room: usize) -> Option<String> {
    let text = match value {
        Value::Nothing | Value::Reported => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(x) => number(*x, "\"inf\""),
        Value::Text(text) => quoted(text),
        Value::List(items) => {
            let mut inner = Vec::new();
            let mut left = room;
            for item in items {
                let text = one_line(&item.value, left)?;
                left = left.checked_sub(text.len() + 2)?;
                inner.push(text);
            }
            format!("[{}]", inner.join(", "))
        }
        Value::Table(entries) => {
            let mut inner = Vec::new();
            let mut left = room;
            for e in entries {
                let text = format!("{}: {}", quoted(&e.key), one_line(&e.node.value, left)?);
                left = left.checked_sub(text.len() + 2)?;
                inner.push(text);
            }
            format!("{{{}}}", inner.join(", "))
        }
    };
    (text.len() <= room || !matches!(value, Value::List(_) | Value::Table(_))).then_some(text)
}
