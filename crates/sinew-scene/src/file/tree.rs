//! A file as a tree in which every value knows where it stands: TOML and JSON are the same from here on.

/// Where something stands: file number, and bytes in that file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub file: u16,
    pub start: u32,
    pub end: u32,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// JSON's null, and what a writer leaves out.
    Nothing,
    /// Something whose fault has been told already.
    Told,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A value at its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Span,
    pub value: Value,
}

/// A key with its value. Entries lie in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

impl Value {
    /// The word for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Nothing | Value::Told => "null",
            Value::Bool(_) => "true or false",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// What was found, for messages: the value itself when it is short.
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

    /// A list without places, for writers.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Value::List(items.into_iter().map(Node::from).collect())
    }

    /// A table without places, for writers; keys without value are left out.
    pub fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let kept = entries.into_iter().filter(|(_, value)| *value != Value::Nothing);
        Value::Table(kept.map(|(key, value)| Entry::new(key, value)).collect())
    }

    /// Text, for writers.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into())
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self { span: Span::default(), value }
    }
}

impl Entry {
    /// An entry without a place, for writers.
    pub fn new(key: impl Into<String>, value: Value) -> Self {
        Self { key: key.into(), key_span: Span::default(), node: value.into() }
    }
}

impl Node {
    /// The value of a key, when this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.node),
            _ => None,
        }
    }
}
