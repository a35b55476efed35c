//! The JSON Schema (draft 2020-12) of scene files, made from the same descriptions that the reader uses.

use super::form::{FieldInfo, Record};
use super::tree::{Entry, Value};

/// Definitions gathered so far, each under its name: shapes hold shapes.
#[derive(Default)]
pub(crate) struct Schemas {
    defs: Vec<(String, Value)>,
}

impl Schemas {
    /// A definition by name, created at first use.
    pub fn define(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        let key: String = name.replace(' ', "_");
        if !self.defs.iter().any(|(known, _)| *known == key) {
            let index = self.defs.len();
            // first, so that a recursive definition finds itself
            self.defs.push((key.clone(), Value::Nothing));
            self.defs[index].1 = make(self);
        }
        Value::table([("$ref", Value::text(format!("#/$defs/{key}")))])
    }

    /// A record as a definition.
    pub fn record<T: Record>(&mut self) -> Value {
        self.define(T::NAME, |schemas| {
            let mut fields = Vec::new();
            T::describe(&mut fields, schemas);
            object(T::ABOUT, None, fields)
        })
    }

    /// An enum as a definition: a table of one of its kinds, or the word alone where that is enough.
    pub fn choice<W: AsRef<str>>(
        &mut self,
        (name, about): (&str, &str),
        variants: impl FnOnce(&mut Self) -> Vec<(W, W, Vec<FieldInfo>)>,
    ) -> Value {
        self.define(name, |schemas| {
            let variants = variants(schemas);
            let alone = |fields: &[FieldInfo]| !fields.iter().any(|f| f.required);
            let short: Vec<(&str, &str)> = variants
                .iter()
                .filter(|v| alone(&v.2))
                .map(|(word, about, _)| (word.as_ref(), about.as_ref()))
                .collect();
            let mut any: Vec<Value> = Vec::new();
            if !short.is_empty() {
                any.push(words(&short));
            }
            let each = |(word, about, fields): (W, W, _)| object(about.as_ref(), Some(word.as_ref()), fields);
            any.extend(variants.into_iter().map(each));
            Value::table([("description", Value::text(about)), ("anyOf", Value::list(any))])
        })
    }

    /// A value of a type, or the name of a parameter.
    pub fn or_parameter(&mut self, schema: Value) -> Value {
        let parameter = self.define("parameter name", |_| {
            Value::table([
                ("description", Value::text("The value of a parameter: '$' and its name.")),
                ("type", Value::text("string")),
                ("pattern", Value::text("^\\$[A-Za-z_][A-Za-z0-9_]*$")),
            ])
        });
        Value::table([("anyOf", Value::list([schema, parameter]))])
    }

    /// All definitions.
    pub fn into_defs(mut self) -> Value {
        self.defs.sort_by(|a, b| a.0.cmp(&b.0));
        Value::Table(self.defs.into_iter().map(|(name, schema)| Entry::new(name, schema)).collect())
    }
}

/// One of some words, each with its meaning.
pub(crate) fn words(words: &[(&str, &str)]) -> Value {
    let each = |(word, about): &(&str, &str)| {
        Value::table([("const", Value::text(*word)), ("description", Value::text(*about))])
    };
    Value::table([("anyOf", Value::list(words.iter().map(each)))])
}

/// A table with these keys and no others.
pub(crate) fn object(about: &str, kind: Option<&str>, fields: Vec<FieldInfo>) -> Value {
    let mut required: Vec<Value> = kind.iter().map(|_| Value::text("kind")).collect();
    required.extend(fields.iter().filter(|f| f.required).map(|f| Value::text(f.name)));
    let mut properties = Vec::new();
    if let Some(kind) = kind {
        properties.push(Entry::new("kind", Value::table([("const", Value::text(kind))])));
    }
    for field in fields {
        let mut all = vec![Entry::new("description", Value::text(field.about))];
        if let Value::Table(inner) = field.schema {
            all.extend(inner);
        }
        // a table as a default has no use in an editor
        if !matches!(field.default, Value::Nothing | Value::Table(_)) {
            all.push(Entry::new("default", field.default));
        }
        properties.push(Entry::new(field.name, Value::Table(all.into())));
    }
    let needed = if required.is_empty() { Value::Nothing } else { Value::list(required) };
    Value::table([
        ("description", Value::text(about)),
        ("type", Value::text("object")),
        ("properties", Value::Table(properties.into())),
        ("required", needed),
        ("additionalProperties", Value::Bool(false)),
    ])
}
