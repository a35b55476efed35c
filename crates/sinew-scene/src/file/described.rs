//! Types that the engine describes as data (`sinew::spec`), read from and written to scene files. This file interprets
//! descriptions; it knows no type.

use super::form::{FieldInfo, Fields, Form, Reader, article, one_of, put, tagged};
use super::plain::list_schema;
use super::schema::{Schemas, object, words};
use super::tree::{Entry, Node, Value};
use sinew::spec::{Choice, Field, Item, Kind, Record, Rule, Spec, Variant, Word};
use sinew::{Real, SurfaceMaterial};

/// Forms of types that the engine describes.
macro_rules! described {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::file::form::Form for $type {
            fn read(
                node: &$crate::file::tree::Node,
                rule: &$crate::file::form::Rule,
                reader: &mut $crate::file::form::Reader<'_>,
            ) -> Option<Self> {
                $crate::file::described::read(node, rule, reader)
            }

            fn write(&self) -> $crate::file::tree::Value {
                $crate::file::described::write(self)
            }

            fn schema(
                rule: &$crate::file::form::Rule,
                schemas: &mut $crate::file::schema::Schemas,
            ) -> $crate::file::tree::Value {
                $crate::file::described::schema(&<Self as sinew::spec::Spec>::kind(rule), schemas)
            }

            fn wants(rule: &$crate::file::form::Rule) -> String {
                $crate::file::described::wants(&<Self as sinew::spec::Spec>::kind(rule))
            }
        })*
    };
}
pub(crate) use described;

/// Reads a value of a described type.
pub(crate) fn read<T: Spec>(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<T> {
    T::from_item(item(node, &T::kind(rule), reader)?)
}

/// The value for a file, without what is the default.
pub(crate) fn write<T: Spec>(value: &T) -> Value {
    value_of(&value.to_item(), &T::kind(&sinew::spec::ANY))
}

/// The fields of a described record.
pub(crate) fn fields<T: Spec>() -> Vec<Field> {
    match T::kind(&sinew::spec::ANY) {
        Kind::Record(record) => (record.fields)(),
        _ => Vec::new(),
    }
}

/// A surface has short forms of its own in a file: its friction alone, both coefficients by one key.
const SURFACE: &str = "surface";

fn item(node: &Node, kind: &Kind, reader: &mut Reader<'_>) -> Option<Item> {
    match kind {
        Kind::Real(rule) => Real::read(node, rule, reader).map(Item::Real),
        Kind::Whole(rule) => i64::read(node, rule, reader).map(Item::Whole),
        Kind::Flag => bool::read(node, &sinew::spec::ANY, reader).map(Item::Flag),
        Kind::Text => String::read(node, &sinew::spec::ANY, reader).map(Item::Text),
        Kind::Words(list) => {
            let all: Vec<&'static str> = list.iter().map(|w| w.word).collect();
            let word = reader.word(node, &all)?;
            all.iter().position(|w| *w == word).map(Item::Word)
        }
        Kind::List(inner, count) => match &node.value {
            Value::List(items) if count.is_none_or(|n| n == items.len()) => {
                let mut read = Vec::with_capacity(items.len());
                // all of them, so that all errors are reported
                for (i, node) in items.iter().enumerate() {
                    read.extend(reader.at_index(i, |r| item(node, inner, r)));
                }
                (read.len() == items.len()).then_some(Item::List(read))
            }
            _ => reader.unexpected(node, &wants(kind)),
        },
        Kind::Optional(inner) => item(node, inner, reader).map(|item| Item::Optional(Some(Box::new(item)))),
        Kind::Record(record) if record.name == SURFACE => {
            SurfaceMaterial::read(node, &sinew::spec::ANY, reader).map(|surface| surface.to_item())
        }
        Kind::Record(record) => {
            let Value::Table(entries) = &node.value else { return reader.unexpected(node, &article(record.name)) };
            let all = (record.fields)();
            reader.fields(entries, node.span, &[], |fields| items(&all, fields)).map(Item::Record)
        }
        Kind::Choice(choice) => {
            let variants = (choice.variants)();
            let all: Vec<&'static str> = variants.iter().map(|v| v.word).collect();
            reader.choice(node, choice.name, &all, |word, fields| {
                let index = all.iter().position(|w| *w == word)?;
                Some(Item::Choice(index, items(&variants[index].fields, fields)?))
            })
        }
    }
}

/// The values of the fields of a table; those that are left out have their defaults.
fn items(all: &[Field], fields: &mut Fields<'_, '_, '_>) -> Option<Vec<Item>> {
    let mut read = Vec::with_capacity(all.len());
    for field in all {
        let found = fields.node(field.name);
        match (found, &field.default) {
            (Some(node), _) => read.extend(fields.within(field.name, |r| item(node, &field.kind, r))),
            (None, Some(default)) => read.push(default.clone()),
            (None, None) => fields.missing(field.name, &wants(&field.kind)),
        }
    }
    (read.len() == all.len()).then_some(read)
}

fn value_of(item: &Item, kind: &Kind) -> Value {
    match (item, kind) {
        (Item::Real(x), _) => x.write(),
        (Item::Whole(i), _) => Value::Int(*i),
        (Item::Flag(yes), _) => Value::Bool(*yes),
        (Item::Text(text), _) => Value::text(text.clone()),
        (Item::Word(index), Kind::Words(list)) => list.get(*index).map_or(Value::Nothing, |w| Value::text(w.word)),
        (Item::List(items), Kind::List(kind, _)) => Value::list(items.iter().map(|item| value_of(item, kind))),
        (Item::Optional(Some(item)), Kind::Optional(kind)) => value_of(item, kind),
        (Item::Record(_), Kind::Record(record)) if record.name == SURFACE => {
            SurfaceMaterial::from_item(item.clone()).map_or(Value::Nothing, |surface| Form::write(&surface))
        }
        (Item::Record(items), Kind::Record(record)) => Value::Table(entries(items, &(record.fields)()).into()),
        (Item::Choice(index, items), Kind::Choice(choice)) => match (choice.variants)().get(*index) {
            Some(variant) => tagged(variant.word, entries(items, &variant.fields)),
            None => Value::Nothing,
        },
        _ => Value::Nothing,
    }
}

fn entries(items: &[Item], fields: &[Field]) -> Vec<Entry> {
    let mut out = Vec::new();
    for (item, field) in items.iter().zip(fields) {
        let default = field.default.as_ref().map(|default| value_of(default, &field.kind));
        put(&mut out, field.name, value_of(item, &field.kind), default);
    }
    out
}

/// The JSON Schema of a kind.
pub(crate) fn schema(kind: &Kind, schemas: &mut Schemas) -> Value {
    match kind {
        Kind::Real(rule) => Real::schema(rule, schemas),
        Kind::Whole(rule) => i64::schema(rule, schemas),
        Kind::Flag => bool::schema(&sinew::spec::ANY, schemas),
        Kind::Text => String::schema(&sinew::spec::ANY, schemas),
        Kind::Words(list) => words(&list.iter().map(|w: &Word| (w.word, w.about)).collect::<Vec<_>>()),
        Kind::List(inner, count) => {
            let items = schema(inner, schemas);
            schemas.or_parameter(list_schema(items, count.unwrap_or(0), *count))
        }
        Kind::Optional(inner) => schema(inner, schemas),
        Kind::Record(record) if record.name == SURFACE => SurfaceMaterial::schema(&sinew::spec::ANY, schemas),
        Kind::Record(Record { name, about, fields }) => {
            schemas.define(name, |schemas| object(about, None, infos(fields(), schemas)))
        }
        Kind::Choice(Choice { name, about, variants }) => schemas.choice((name, about), |schemas| {
            let each = |v: Variant| (v.word, v.about, infos(v.fields, schemas));
            variants().into_iter().map(each).collect()
        }),
    }
}

fn infos(fields: Vec<Field>, schemas: &mut Schemas) -> Vec<FieldInfo> {
    let each = |field: Field| FieldInfo {
        name: field.name,
        about: field.about,
        schema: schema(&field.kind, schemas),
        required: field.default.is_none(),
        default: field.default.map_or(Value::Nothing, |default| value_of(&default, &field.kind)),
    };
    fields.into_iter().map(each).collect()
}

/// The default of a field as a value of a file.
pub(crate) fn default_of(field: &Field) -> Option<Value> {
    field.default.as_ref().map(|default| value_of(default, &field.kind)).filter(|value| *value != Value::Nothing)
}

/// The expected value, for messages.
pub(crate) fn wants(kind: &Kind) -> String {
    match kind {
        Kind::Real(rule) => Real::wants(rule),
        Kind::Whole(rule) => i64::wants(rule),
        Kind::Flag => bool::wants(&sinew::spec::ANY),
        Kind::Text => String::wants(&sinew::spec::ANY),
        Kind::Words(list) => one_of(&list.iter().map(|w| w.word).collect::<Vec<_>>()),
        Kind::List(inner, Some(n)) => {
            let item = wants(inner);
            format!("a list of {n}, each a {}", item.strip_prefix("a ").unwrap_or(&item))
        }
        Kind::List(_, None) => "a list".to_owned(),
        Kind::Optional(inner) => wants(inner),
        Kind::Record(record) if record.name == SURFACE => SurfaceMaterial::wants(&sinew::spec::ANY),
        Kind::Record(record) => article(record.name),
        Kind::Choice(choice) => article(choice.name),
    }
}
