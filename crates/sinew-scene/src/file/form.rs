//! One description per table of a scene file. Reading with all errors at once, writing, and the JSON Schema are derived from it.
//!
//! A [`Form`] is a value of a file. [`record!`] describes a table with a key a field, [`choice!`] an enum as a table with a
//! `kind`, [`kinds!`] an enum of whole records, [`words!`] an enum of plain words. All four are tables of names, ranges and
//! sentences. A new field of the engine is a compile error here.

use super::deprecated;
use super::plain::Name;
use super::problem::{Problem, Problems, Source};
use super::schema::Schemas;
use super::tree::{Entry, Node, Span, Value};
use crate::gallery::near_miss;
use sinew::ElasticMaterial;
use std::path::PathBuf;

pub(crate) use sinew::spec::{ANY, FINITE, NOT_NEGATIVE, POISSON, POSITIVE, Rule, SHARE, from_to};

/// A value of a scene file.
pub(crate) trait Form: Sized {
    /// Reads it; errors are added to the reader, and the result is `None`.
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self>;
    /// The value for a file.
    fn write(&self) -> Value;
    /// Its JSON Schema.
    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value;
    /// The expected value, for messages.
    fn wants(rule: &Rule) -> String;
}

/// A table with a key a field.
pub(crate) trait Record: Sized {
    const NAME: &'static str;
    const ABOUT: &'static str;
    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self>;
    fn write_fields(&self, out: &mut Vec<Entry>);
    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas);
}

/// One key of a record, for the schema.
pub(crate) struct FieldInfo {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: Value,
    pub required: bool,
    pub default: Value,
}

/// Reads trees and collects errors.
pub(crate) struct Reader<'s> {
    pub sources: &'s [Source],
    pub problems: Problems,
    /// Deprecated words; no errors.
    pub warnings: Problems,
    /// Material of the current body: the default parameters of its model.
    pub matter: Option<ElasticMaterial>,
    /// Mesh files referenced by values.
    pub files: Vec<PathBuf>,
    /// Names of bodies in the constraint that is read, in the order of the file.
    pub names: Vec<Name>,
    path: String,
}

impl<'s> Reader<'s> {
    pub fn new(sources: &'s [Source]) -> Self {
        let (problems, warnings) = (Problems::default(), Problems::default());
        Self { sources, problems, warnings, matter: None, files: Vec::new(), names: Vec::new(), path: String::new() }
    }

    /// An error at the current path.
    pub fn problem(&mut self, span: Span, message: impl Into<String>) {
        let path = self.path.clone();
        self.problem_at(span, &path, message);
    }

    /// An error at another path.
    pub fn problem_at(&mut self, span: Span, path: &str, message: impl Into<String>) {
        if self.problems.is_full() {
            self.problems.count();
        } else {
            self.problems.push(Problem::new(self.sources, span, path, message));
        }
    }

    /// Replaces the deprecated words of a tree.
    pub fn rename(&mut self, root: &mut Node) {
        let Self { sources, problems, warnings, .. } = self;
        deprecated::rename(root, &mut |finding| finding.add_to(sources, problems, warnings));
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Runs `work` one key deeper.
    pub fn within<T>(&mut self, key: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        push_key(&mut self.path, key);
        let done = work(self);
        self.path.truncate(length);
        done
    }

    /// Runs `work` at an item of a list.
    pub fn at_index<T>(&mut self, index: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let done = work(self);
        self.path.truncate(length);
        done
    }

    /// Reports a value of another type or range than expected.
    pub fn unexpected<T>(&mut self, node: &Node, wants: &str) -> Option<T> {
        if node.value == Value::Reported {
            return None;
        }
        let hint = if node.value == Value::Nothing { "; leave the key out instead" } else { "" };
        self.problem(node.span, format!("expected {wants}, found {}{hint}", node.value.found()));
        None
    }

    /// Reads a record from a table.
    pub fn record<T: Record>(&mut self, node: &Node) -> Option<T> {
        let Value::Table(entries) = &node.value else { return self.unexpected(node, &article(T::NAME)) };
        self.fields(entries, node.span, &[], T::read_fields)
    }

    /// Reads the keys of a table with `read`, then refuses unknown ones. Returns `None` when there were
    /// errors.
    pub fn fields<T>(
        &mut self,
        entries: &[Entry],
        at: Span,
        known: &[&'static str],
        read: impl FnOnce(&mut Fields<'_, '_, 's>) -> Option<T>,
    ) -> Option<T> {
        let before = self.problems.len();
        let mut fields = Fields { entries, used: known.to_vec(), at, failed: false, reader: self };
        let made = read(&mut fields).filter(|_| !fields.failed);
        fields.finish();
        made.filter(|_| self.problems.len() == before)
    }
}

/// Adds a key to a path; one that is not a word is quoted.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    let bare = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if bare { path.push_str(key) } else { path.push_str(&format!("\"{}\"", key.escape_debug())) }
}

/// "a shape", "an orbit".
pub(crate) fn article(noun: &str) -> String {
    let an = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun} (a table)", if an { "an" } else { "a" })
}

/// The keys of one table while they are read.
pub(crate) struct Fields<'a, 'r, 's> {
    entries: &'a [Entry],
    used: Vec<&'static str>,
    at: Span,
    /// A value could not be read; its error may have been reported before.
    failed: bool,
    pub reader: &'r mut Reader<'s>,
}

impl<'a> Fields<'a, '_, '_> {
    fn find(&mut self, name: &'static str) -> Option<&'a Node> {
        self.used.push(name);
        self.entries.iter().find(|e| *e.key == *name).map(|e| &e.node)
    }

    /// Position of the value of a key, or of the table.
    pub fn span(&self, name: &str) -> Span {
        self.entries.iter().find(|e| *e.key == *name).map_or(self.at, |e| e.node.span)
    }

    /// True when the key is there.
    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|e| *e.key == *name)
    }

    /// The value of a key, if it is there.
    pub fn node(&mut self, name: &'static str) -> Option<&'a Node> {
        self.find(name)
    }

    /// Reads the value of a key with `read`.
    pub fn within<T>(&mut self, name: &str, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let read = self.reader.within(name, read);
        self.failed |= read.is_none();
        read
    }

    /// Reports a required key that is not there.
    pub fn missing(&mut self, name: &str, wants: &str) {
        self.reader.problem(self.at, format!("missing key '{name}': expected {wants}"));
    }

    /// An optional key.
    pub fn optional<T: Form>(&mut self, name: &'static str, rule: &Rule) -> Option<T> {
        let node = self.find(name)?;
        self.value(name, node, rule)
    }

    fn value<T: Form>(&mut self, name: &'static str, node: &Node, rule: &Rule) -> Option<T> {
        self.within(name, |r| T::read(node, rule, r))
    }

    /// A key that replaces a default.
    pub fn set<T: Form>(&mut self, name: &'static str, rule: &Rule, to: &mut T) {
        if let Some(value) = self.optional(name, rule) {
            *to = value;
        }
    }

    /// A key with a default, or one that must be there.
    pub fn given<T: Form>(&mut self, name: &'static str, rule: &Rule, default: Option<T>) -> Option<T> {
        match (self.find(name), default) {
            (Some(node), _) => self.value(name, node, rule),
            (None, Some(default)) => Some(default),
            (None, None) => {
                self.missing(name, &T::wants(rule));
                None
            }
        }
    }

    /// An error of the value of a key, or of the table when the key is missing.
    pub fn problem(&mut self, name: &str, message: impl Into<String>) {
        let span = self.span(name);
        if self.has(name) {
            self.reader.within(name, |r| r.problem(span, message));
        } else {
            self.reader.problem(span, message);
        }
    }

    fn finish(self) {
        let Self { entries, used, reader, .. } = self;
        for entry in entries.iter().filter(|e| !used.contains(&&*e.key)) {
            if reader.problems.is_full() {
                reader.problems.count();
                continue;
            }
            let message = unknown("key", &entry.key, &used);
            reader.within(&entry.key, |r| r.problem(entry.key_span, message));
        }
    }
}

/// "unknown key 'x'", with the near miss, or all known ones.
pub(crate) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let shown = word.chars().take(60).collect::<String>();
    let head = format!("unknown {what} '{}'", shown.escape_debug());
    match near_miss(&shown, known.iter().copied()) {
        Some(meant) => format!("{head}; did you mean '{meant}'?"),
        None if known.is_empty() => format!("{head}; there are none"),
        None if known.len() > 24 => format!("{head}; there are {}", known.len()),
        None => format!("{head}; known: {}", known.join(", ")),
    }
}

/// A record as a whole value.
macro_rules! record_form {
    ($type:ident) => {
        impl $crate::file::form::Form for $type {
            fn read(
                node: &$crate::file::tree::Node,
                _: &$crate::file::form::Rule,
                reader: &mut $crate::file::form::Reader<'_>,
            ) -> Option<Self> {
                reader.record(node)
            }

            fn write(&self) -> $crate::file::tree::Value {
                let mut out = Vec::new();
                $crate::file::form::Record::write_fields(self, &mut out);
                $crate::file::tree::Value::Table(out.into())
            }

            fn schema(
                _: &$crate::file::form::Rule,
                schemas: &mut $crate::file::schema::Schemas,
            ) -> $crate::file::tree::Value {
                schemas.record::<Self>()
            }

            fn wants(_: &$crate::file::form::Rule) -> String {
                $crate::file::form::article(<Self as $crate::file::form::Record>::NAME)
            }
        }
    };
}

/// A table with a key a field: every field with its range and a sentence. `base` makes the defaults from the material of the
/// body, if there is one; fields in `needs` have none.
macro_rules! record {
    ($type:ident, $name:literal, $about:literal, base $base:expr,
     $(needs { $($need:ident: $need_rule:expr, $need_about:literal;)* },)?
     { $($field:ident: $rule:expr, $field_about:literal;)* }) => {
        impl $crate::file::form::Record for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;

            fn read_fields(fields: &mut $crate::file::form::Fields<'_, '_, '_>) -> Option<Self> {
                let base: fn(Option<sinew::ElasticMaterial>) -> Self = $base;
                let mut it = base(fields.reader.matter);
                $($(if let Some(value) = fields.given(stringify!($need), &$need_rule, None) {
                    it.$need = value;
                })*)?
                $(fields.set(stringify!($field), &$rule, &mut it.$field);)*
                Some(it)
            }

            fn write_fields(&self, out: &mut Vec<$crate::file::tree::Entry>) {
                use $crate::file::form::Form;
                let base: fn(Option<sinew::ElasticMaterial>) -> Self = $base;
                let base = base(None);
                let _ = &base;
                // all fields: a new one of the engine is a compile error here
                let $type { $($($need,)*)? $($field,)* } = self;
                $($($crate::file::form::put(out, stringify!($need), $need.write(), None);)*)?
                $($crate::file::form::put(out, stringify!($field), $field.write(), Some(base.$field.write()));)*
            }

            fn describe(
                out: &mut Vec<$crate::file::form::FieldInfo>,
                schemas: &mut $crate::file::schema::Schemas,
            ) {
                let base: fn(Option<sinew::ElasticMaterial>) -> Self = $base;
                let base = base(None);
                $($($crate::file::form::tell(out, schemas, (stringify!($need), $need_about), &$need_rule, Err(&base.$need));)*)?
                $($crate::file::form::tell(out, schemas, (stringify!($field), $field_about), &$rule, Ok(&base.$field));)*
            }
        }
        $crate::file::form::record_form!($type);
    };
}

/// An enum as a table with a `kind`; a kind without required keys may also be the word alone.
macro_rules! choice {
    ($type:ident, $name:literal, $about:literal,
     { $($word:literal => $variant:ident, $variant_about:literal,
         { $($member:tt $key:ident: $inner:ty, $rule:expr $(=> $default:expr)?, $key_about:literal;)* };)* }) => {
        impl $crate::file::form::Form for $type {
            fn read(
                node: &$crate::file::tree::Node,
                _: &$crate::file::form::Rule,
                reader: &mut $crate::file::form::Reader<'_>,
            ) -> Option<Self> {
                reader.choice(node, $name, &[$($word),*], |kind, fields| match kind {
                    $($word => {
                        $(let $key: Option<$inner> =
                            fields.given(stringify!($key), &$rule, $crate::file::form::default_of!($($default)?));)*
                        let _ = &fields;
                        Some(Self::$variant { $($member: $key?),* })
                    })*
                    _ => None,
                })
            }

            fn write(&self) -> $crate::file::tree::Value {
                let mut out = Vec::new();
                let kind = match self {
                    $(Self::$variant { $($member: $key),* } => {
                        $($crate::file::form::put(
                            &mut out,
                            stringify!($key),
                            $crate::file::form::Form::write($key),
                            $crate::file::form::default_value!($inner, $($default)?),
                        );)*
                        $word
                    })*
                };
                $crate::file::form::tagged(kind, out)
            }

            fn schema(
                _: &$crate::file::form::Rule,
                schemas: &mut $crate::file::schema::Schemas,
            ) -> $crate::file::tree::Value {
                schemas.choice(($name, $about), |schemas| {
                    vec![$({
                        let out = vec![$($crate::file::form::FieldInfo {
                            name: stringify!($key),
                            about: $key_about,
                            schema: <$inner as $crate::file::form::Form>::schema(&$rule, schemas),
                            required: !$crate::file::form::has_default!($($default)?),
                            default: $crate::file::form::default_value!($inner, $($default)?)
                                .unwrap_or($crate::file::tree::Value::Nothing),
                        }),*];
                        let _ = &schemas;
                        ($word, $variant_about, out)
                    }),*]
                })
            }

            fn wants(_: &$crate::file::form::Rule) -> String {
                $crate::file::form::article($name)
            }
        }
    };
}

/// An enum whose variants hold a record each: a table with a `kind` and the keys of that record.
macro_rules! kinds {
    ($type:ident, $name:literal, $about:literal, { $($word:literal => $variant:ident($inner:ty), $variant_about:literal;)* }) => {
        impl $crate::file::form::Form for $type {
            fn read(
                node: &$crate::file::tree::Node,
                _: &$crate::file::form::Rule,
                reader: &mut $crate::file::form::Reader<'_>,
            ) -> Option<Self> {
                use $crate::file::form::Record;
                reader.choice(node, $name, &[$($word),*], |kind, fields| match kind {
                    $($word => <$inner>::read_fields(fields).map(Self::$variant),)*
                    _ => None,
                })
            }

            fn write(&self) -> $crate::file::tree::Value {
                use $crate::file::form::Record;
                let mut out = Vec::new();
                let kind = match self {
                    $(Self::$variant(inner) => {
                        inner.write_fields(&mut out);
                        $word
                    })*
                };
                $crate::file::form::tagged(kind, out)
            }

            fn schema(
                _: &$crate::file::form::Rule,
                schemas: &mut $crate::file::schema::Schemas,
            ) -> $crate::file::tree::Value {
                use $crate::file::form::Record;
                schemas.choice(($name, $about), |schemas| {
                    vec![$({
                        let mut out = Vec::new();
                        <$inner>::describe(&mut out, schemas);
                        ($word, $variant_about, out)
                    }),*]
                })
            }

            fn wants(_: &$crate::file::form::Rule) -> String {
                $crate::file::form::article($name)
            }
        }
    };
}

/// An enum of plain words.
macro_rules! words {
    ($type:ident, { $($word:literal => $variant:ident, $about:literal;)* }) => {
        impl $crate::file::form::Form for $type {
            fn read(
                node: &$crate::file::tree::Node,
                _: &$crate::file::form::Rule,
                reader: &mut $crate::file::form::Reader<'_>,
            ) -> Option<Self> {
                match reader.word(node, &[$($word),*])? {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn write(&self) -> $crate::file::tree::Value {
                $crate::file::tree::Value::text(match self { $(Self::$variant => $word),* })
            }

            fn schema(
                _: &$crate::file::form::Rule,
                _: &mut $crate::file::schema::Schemas,
            ) -> $crate::file::tree::Value {
                $crate::file::schema::words(&[$(($word, $about)),*])
            }

            fn wants(_: &$crate::file::form::Rule) -> String {
                $crate::file::form::one_of(&[$($word),*])
            }
        }
    };
}

macro_rules! default_of {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

macro_rules! default_value {
    ($inner:ty,) => {
        None
    };
    ($inner:ty, $default:expr) => {{
        let value: $inner = $default;
        Some($crate::file::form::Form::write(&value))
    }};
}

macro_rules! has_default {
    () => {
        false
    };
    ($default:expr) => {
        true
    };
}

pub(crate) use {choice, default_of, default_value, has_default, kinds, record, record_form, words};

/// "one of 'a', 'b'".
pub(crate) fn one_of(words: &[&str]) -> String {
    format!("one of {}", words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(", "))
}

/// Appends a key unless its value is the default.
pub(crate) fn put(out: &mut Vec<Entry>, key: &str, value: Value, default: Option<Value>) {
    if value != Value::Nothing && Some(&value) != default.as_ref() {
        out.push(Entry::new(key, value));
    }
}

/// A table with its kind in front; the word alone when there are no other keys.
pub(crate) fn tagged(kind: &str, entries: Vec<Entry>) -> Value {
    if entries.is_empty() {
        return Value::text(kind);
    }
    let mut all = vec![Entry::new("kind", Value::text(kind))];
    all.extend(entries);
    Value::Table(all.into())
}

/// Describes a field by one of its values: the default, or one that only determines the type.
pub(crate) fn tell<T: Form>(
    out: &mut Vec<FieldInfo>,
    schemas: &mut Schemas,
    (name, about): (&'static str, &'static str),
    rule: &Rule,
    value: Result<&T, &T>,
) {
    let (required, default) = match value {
        Ok(default) => (false, default.write()),
        Err(_) => (true, Value::Nothing),
    };
    out.push(FieldInfo { name, about, schema: T::schema(rule, schemas), required, default });
}

impl<'s> Reader<'s> {
    /// Reads a table with a `kind`, or the kind alone.
    pub fn choice<'w, T>(
        &mut self,
        node: &Node,
        name: &str,
        words: &[&'w str],
        read: impl FnOnce(&'w str, &mut Fields<'_, '_, 's>) -> Option<T>,
    ) -> Option<T> {
        let (entries, kind): (&[Entry], &Node) = match &node.value {
            Value::Text(_) => (&[], node),
            Value::Table(entries) => match node.get("kind") {
                Some(kind) => (entries, kind),
                None => {
                    self.problem(node.span, format!("missing key 'kind': expected {}", one_of(words)));
                    return None;
                }
            },
            _ => return self.unexpected(node, &article(name)),
        };
        let word = if std::ptr::eq(kind, node) {
            self.word(kind, words)?
        } else {
            self.within("kind", |r| r.word(kind, words))?
        };
        self.fields(entries, node.span, &["kind"], |fields| read(word, fields))
    }

    /// One of some words.
    pub fn word<'w>(&mut self, node: &Node, words: &[&'w str]) -> Option<&'w str> {
        let Value::Text(text) = &node.value else { return self.unexpected(node, &one_of(words)) };
        let found = words.iter().find(|w| ***w == **text).copied();
        if found.is_none() {
            self.problem(node.span, unknown("word", text, words));
        }
        found
    }
}
