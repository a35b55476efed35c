//! TOML text as a tree. Tables of the `toml` crate are sorted by key; the order of the file is that of the spans.

use super::tree::{Entry, Node, Span, Value};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Up to this size all faults of the syntax are told, above it the first only: text that is no TOML at all has one in every
/// line, and each of them takes a kilobyte [bytes].
const PATIENT: usize = 1 << 16;

/// The tree, or all faults of the syntax with their places; of long text the first.
pub(crate) fn parse(text: &str, file: u16) -> Result<Node, Vec<(Span, String)>> {
    let (table, errors) = match DeTable::parse(text) {
        Ok(table) => (table, Vec::new()),
        Err(_) if text.len() <= PATIENT => DeTable::parse_recoverable(text),
        Err(first) => (Spanned::new(0..0, DeTable::new()), vec![first]),
    };
    let reader = Toml { file };
    if errors.is_empty() {
        let whole = Span { file, start: 0, end: 0 };
        let mut faults = Vec::new();
        let value = reader.table(table.into_inner(), &mut faults);
        return if faults.is_empty() { Ok(Node { span: whole, value }) } else { Err(faults) };
    }
    let told = |e: &toml::de::Error| {
        let message: String = e.message().lines().collect::<Vec<_>>().join(", ");
        (reader.span(e.span().unwrap_or(0..0)), message)
    };
    Err(errors.iter().map(told).collect())
}

/// The value of one piece of text, as on the right of `key = `.
pub(crate) fn parse_value(text: &str, file: u16, offset: u32) -> Option<Node> {
    let parsed = DeValue::parse(text).ok()?;
    let mut faults = Vec::new();
    let mut node = Toml { file }.node(parsed, &mut faults);
    shift(&mut node, offset);
    faults.is_empty().then_some(node)
}

fn shift(node: &mut Node, by: u32) {
    node.span = Span { start: node.span.start + by, end: node.span.end + by, ..node.span };
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|n| shift(n, by)),
        Value::Table(entries) => entries.iter_mut().for_each(|e| shift(&mut e.node, by)),
        _ => {}
    }
}

struct Toml {
    file: u16,
}

impl Toml {
    fn span(&self, at: Range<usize>) -> Span {
        Span { file: self.file, start: at.start as u32, end: at.end as u32 }
    }

    fn table(&self, table: DeTable<'_>, faults: &mut Vec<(Span, String)>) -> Value {
        let entry = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>), faults: &mut Vec<(Span, String)>| {
            let key_span = self.span(key.span());
            let key: std::borrow::Cow<'_, str> = key.into_inner();
            Entry { key: key.into_owned(), key_span, node: self.node(value, faults) }
        };
        let mut entries: Vec<Entry> = table.into_iter().map(|pair| entry(pair, faults)).collect();
        entries.sort_by_key(|e| e.key_span.start);
        Value::Table(entries)
    }

    fn node(&self, value: Spanned<DeValue<'_>>, faults: &mut Vec<(Span, String)>) -> Node {
        let span = self.span(value.span());
        let plain = |text: &str| text.replace('_', "");
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Boolean(yes) => Value::Bool(yes),
            DeValue::Integer(number) => match i64::from_str_radix(&plain(number.as_str()), number.radix()) {
                Ok(i) => Value::Int(i),
                Err(_) => {
                    faults.push((span, "this whole number does not fit in 64 bits".to_owned()));
                    Value::Nothing
                }
            },
            DeValue::Float(number) => match plain(number.as_str()).parse() {
                Ok(x) => Value::Float(x),
                Err(_) => {
                    faults.push((span, "this is not a number".to_owned()));
                    Value::Nothing
                }
            },
            DeValue::Datetime(_) => {
                faults.push((span, "dates have no meaning in a scene".to_owned()));
                Value::Nothing
            }
            DeValue::Array(items) => Value::List(items.into_iter().map(|item| self.node(item, faults)).collect()),
            DeValue::Table(table) => self.table(table, faults),
        };
        Node { span, value }
    }
}
