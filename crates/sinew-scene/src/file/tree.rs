//! A file as a tree of values with positions; the same for TOML and JSON.
//!
//! A value takes 32 bytes, and a file may have one in every two bytes of its text: this type determines the memory of a
//! file. Lists and texts have no spare capacity, and a position is packed into eight bytes.

/// A position: file number, and start and end in bytes in that file, packed as 14, 25 and 25 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span(u64);

/// Bits of an offset in a file, and the largest that fits.
const PLACE: u32 = 25;
const FAR: u64 = (1 << PLACE) - 1;

impl Span {
    /// From `start` up to `end` of a file. Larger offsets are clamped: only messages use them.
    pub fn new(file: u16, start: usize, end: usize) -> Self {
        let place = |at: usize| (at as u64).min(FAR);
        Self(u64::from(file.min(0x3fff)) << (2 * PLACE) | place(start) << PLACE | place(end))
    }

    /// Number of the file.
    pub fn file(self) -> usize {
        (self.0 >> (2 * PLACE)) as usize
    }

    /// First byte.
    pub fn start(self) -> usize {
        (self.0 >> PLACE & FAR) as usize
    }

    /// One past the last byte.
    pub fn end(self) -> usize {
        (self.0 & FAR) as usize
    }

    /// The same text at a larger offset in its file.
    pub fn shifted(self, by: usize) -> Self {
        Self::new(self.file() as u16, self.start() + by, self.end() + by)
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}..{}", self.file(), self.start(), self.end())
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// JSON's null, and what a writer leaves out.
    Nothing,
    /// A value whose error was reported already.
    Reported,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Box<str>),
    List(Box<[Node]>),
    Table(Box<[Entry]>),
}

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Span,
    pub value: Value,
}

/// A key with its value. Entries lie in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: Box<str>,
    pub key_span: Span,
    pub node: Node,
}

impl Value {
    /// The type in words, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Nothing | Value::Reported => "null",
            Value::Bool(_) => "true or false",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value for messages: itself when it is short.
    pub fn found(&self) -> String {
        match self {
            Value::Bool(yes) => yes.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Float(x) => format!("{x:?}"),
            Value::Text(text) if text.chars().count() <= 40 => format!("'{}'", text.escape_debug()),
            Value::List(items) => format!("a list of {}", items.len()),
            other => other.kind().to_owned(),
        }
    }

    /// A list without positions, for writers.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Value::List(items.into_iter().map(Node::from).collect())
    }

    /// A table without positions, for writers; keys without value are left out.
    pub fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let kept = entries.into_iter().filter(|(_, value)| *value != Value::Nothing);
        Value::Table(kept.map(|(key, value)| Entry::new(key, value)).collect())
    }

    /// Text, for writers.
    pub fn text(text: impl Into<Box<str>>) -> Self {
        Value::Text(text.into())
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self { span: Span::default(), value }
    }
}

impl Entry {
    /// An entry without a position, for writers.
    pub fn new(key: impl Into<Box<str>>, value: Value) -> Self {
        Self { key: key.into(), key_span: Span::default(), node: value.into() }
    }
}

impl Node {
    /// The value of a key, when this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|e| *e.key == *key).map(|e| &e.node),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|e| *e.key == *key).map(|e| &mut e.node),
            _ => None,
        }
    }
}

/// Reserves space for one more. It grows by an eighth: while a list is moved it exists twice, and doubling would take three
/// times its size.
pub(crate) fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(if list.len() < 8 { list.len().max(1) } else { list.len() / 8 });
    }
}

/// Removes the entry of a key from a table.
pub(crate) fn take(entries: &mut Box<[Entry]>, key: &str) -> Option<Entry> {
    let i = entries.iter().position(|e| *e.key == *key)?;
    let mut all = std::mem::take(entries).into_vec();
    let taken = all.remove(i);
    *entries = all.into();
    Some(taken)
}

/// Appends an entry.
pub(crate) fn append(entries: &mut Box<[Entry]>, entry: Entry) {
    let mut all = std::mem::take(entries).into_vec();
    all.reserve_exact(1);
    all.push(entry);
    *entries = all.into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_32_bytes_and_an_entry_56() {
        assert_eq!((size_of::<Node>(), size_of::<Entry>()), (32, 56));
    }

    #[test]
    fn a_place_is_what_was_packed_and_one_too_far_stays_at_the_border() {
        let span = Span::new(63, 1 << 20, 16 << 20);
        assert_eq!((span.file(), span.start(), span.end()), (63, 1 << 20, 16 << 20));
        assert_eq!(span.shifted(5).start(), (1 << 20) + 5);
        let far = Span::new(u16::MAX, usize::MAX, usize::MAX);
        assert_eq!((far.file(), far.start(), far.end()), (0x3fff, FAR as usize, FAR as usize));
    }
}
