//! Types that the engine describes as data (`sinew::spec`), read from and written to scene files. This file interprets
//! descriptions. The types that have a form of their own in a file, or short forms, are listed in [`own`].

use super::form::{ANY, FieldInfo, Fields, Form, Reader, article, one_of, put, tagged};
use super::plain::{Name, Wide, list_schema};
use super::schema::{Schemas, object, words};
use super::tree::{Entry, Node, Value};
use sinew::spec::{Choice, Field, Item, Kind, Record, Rule, Spec, Variant, Word};
use sinew::{Geometry, Quat, Real, Shape, SoftModel, SurfaceMaterial, TriMesh};

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
    T::from_item(plain_item(node, &T::kind(rule), &[], reader)?)
}

/// The same for a choice whose variants have other defaults: those of the value of that variant.
pub(crate) fn read_from<T: Spec>(node: &Node, bases: &[T], reader: &mut Reader<'_>) -> Option<T> {
    let bases: Vec<Item> = bases.iter().map(Spec::to_item).collect();
    T::from_item(plain_item(node, &T::kind(&ANY), &bases, reader)?)
}

/// The value for a file, without what is the default.
pub(crate) fn write<T: Spec>(value: &T) -> Value {
    plain_value(&value.to_item(), &T::kind(&ANY))
}

/// The fields of a described record.
pub(crate) fn fields<T: Spec>() -> &'static [Field] {
    match T::kind(&ANY) {
        Kind::Record(record) => (record.fields)(),
        _ => &[],
    }
}

/// Reads the keys of a record; those that are left out, and the fields in `skip`, are those of `base`.
pub(crate) fn read_fields<T: Spec>(base: &T, skip: &[&str], from: &mut Fields<'_, '_, '_>) -> Option<T> {
    let Item::Record(base) = base.to_item() else { return None };
    T::from_item(Item::Record(items(fields::<T>(), Some(&base), skip, from)?))
}

/// Appends the keys of a record except those of the fields in `skip`.
pub(crate) fn write_fields<T: Spec>(value: &T, skip: &[&str], out: &mut Vec<Entry>) {
    if let Item::Record(items) = value.to_item() {
        entries(&items, fields::<T>(), skip, out);
    }
}

/// Describes the keys of a record except those of the fields in `skip`.
pub(crate) fn describe<T: Spec>(skip: &[&str], out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
    infos(fields::<T>(), skip, out, schemas);
}

/// How a type with a form of its own is read and written.
struct Own {
    read: fn(&Node, &mut Reader<'_>) -> Option<Item>,
    write: fn(&Item) -> Value,
    schema: fn(&mut Schemas) -> Value,
    wants: fn() -> String,
}

impl Own {
    fn of<T: Form + Spec>() -> Self {
        Self {
            read: |node, reader| T::read(node, &ANY, reader).map(|value| value.to_item()),
            write: |item| T::from_item(item.clone()).map_or(Value::Nothing, |value| Form::write(&value)),
            schema: |schemas| T::schema(&ANY, schemas),
            wants: || T::wants(&ANY),
        }
    }
}

/// Types with forms of their own: a surface is also its friction alone, meshes come from files and primitives, the numbers
/// of a model from the material of the body.
fn own(kind: &Kind) -> Option<Own> {
    let name = match kind {
        Kind::Record(record) => record.name,
        Kind::Choice(choice) => choice.name,
        Kind::Turn => return Some(Own::of::<Quat>()),
        _ => return None,
    };
    match name {
        "surface" => Some(Own::of::<SurfaceMaterial>()),
        "shape" => Some(Own::of::<Shape>()),
        "geometry" => Some(Own::of::<Geometry>()),
        "surface mesh" => Some(Own::of::<TriMesh>()),
        "model" => Some(Own::of::<SoftModel>()),
        _ => None,
    }
}

fn item(node: &Node, kind: &Kind, reader: &mut Reader<'_>) -> Option<Item> {
    match own(kind) {
        Some(own) => (own.read)(node, reader),
        None => plain_item(node, kind, &[], reader),
    }
}

fn plain_item(node: &Node, kind: &Kind, bases: &[Item], reader: &mut Reader<'_>) -> Option<Item> {
    match kind {
        Kind::Real(rule) => Real::read(node, rule, reader).map(Item::Real),
        Kind::Wide(rule) => Wide::read(node, rule, reader).map(|wide| Item::Wide(wide.0)),
        Kind::Whole(rule) => i64::read(node, rule, reader).map(Item::Whole),
        Kind::Flag => bool::read(node, &ANY, reader).map(Item::Flag),
        Kind::Text => String::read(node, &ANY, reader).map(Item::Text),
        Kind::Turn => Quat::read(node, &ANY, reader).map(|turn| turn.to_item()),
        // bytes have no form in a file
        Kind::Bytes => reader.unexpected(node, &wants(kind)),
        Kind::Id(_) => {
            // its number in the list of names until the bodies are made
            let name = Name::read(node, &ANY, reader)?;
            reader.names.push(name);
            Some(Item::Id(reader.names.len() as u32 - 1, 0))
        }
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
                let made = if count.is_some() { Item::Fixed } else { Item::List };
                (read.len() == items.len()).then(|| made(read))
            }
            _ => reader.unexpected(node, &wants(kind)),
        },
        Kind::Optional(inner) => item(node, inner, reader).map(|item| Item::Optional(Some(Box::new(item)))),
        Kind::Record(record) => {
            let Value::Table(entries) = &node.value else { return reader.unexpected(node, &article(record.name)) };
            let all = (record.fields)();
            reader.fields(entries, node.span, &[], |fields| items(all, None, &[], fields)).map(Item::Record)
        }
        Kind::Choice(choice) => {
            let words = Worded::all(choice);
            let all: Vec<&str> = words.iter().map(|w| w.word.as_str()).collect();
            reader.choice(node, choice.name, &all, |word, fields| {
                words.iter().find(|w| w.word == word)?.read(bases, fields)
            })
        }
    }
}

/// A variant by its word in a file. A flat choice in a variant makes one word of each of its own variants.
pub(crate) struct Worded {
    pub word: String,
    pub about: String,
    index: usize,
    variant: &'static Variant,
    inner: Option<(usize, &'static Variant)>,
}

impl Worded {
    pub fn all(choice: &Choice) -> Vec<Self> {
        let mut all = Vec::new();
        for (index, variant) in (choice.variants)().iter().enumerate() {
            match variant.fields.first() {
                Some(Field { flat: true, kind: Kind::Choice(inner), .. }) => {
                    all.extend((inner.variants)().iter().enumerate().map(|(i, inner)| Self {
                        word: format!("{}_{}", variant.word, inner.word),
                        about: format!("{} {}", variant.about, inner.about),
                        index,
                        variant,
                        inner: Some((i, inner)),
                    }));
                }
                // code has no form in a file
                Some(Field { kind: Kind::Bytes, .. }) => {}
                _ => {
                    let (word, about) = (variant.word.to_owned(), variant.about.to_owned());
                    all.push(Self { word, about, index, variant, inner: None });
                }
            }
        }
        all
    }

    /// Reads the keys beside the word.
    pub fn read(&self, bases: &[Item], fields: &mut Fields<'_, '_, '_>) -> Option<Item> {
        let base = bases.iter().find_map(|base| match base {
            Item::Choice(index, items) if *index == self.index => match (items.first(), self.inner) {
                (Some(Item::Choice(i, inner)), Some((wanted, _))) if *i == wanted => Some((inner, &items[1..])),
                (_, None) => Some((items, &items[..0])),
                _ => None,
            },
            _ => None,
        });
        let (first, rest) = base.unzip();
        let first = first.map(Vec::as_slice);
        let all = &self.variant.fields;
        match self.inner {
            None => items(all, first, &[], fields).map(|items| Item::Choice(self.index, items)),
            Some((i, inner)) => {
                let (inner, rest) = (items(&inner.fields, first, &[], fields), items(&all[1..], rest, &[], fields));
                let mut whole = vec![Item::Choice(i, inner?)];
                whole.extend(rest?);
                Some(Item::Choice(self.index, whole))
            }
        }
    }

    /// Describes the keys beside the word.
    pub fn describe(&self, schemas: &mut Schemas) -> Vec<FieldInfo> {
        let mut out = Vec::new();
        let rest = match self.inner {
            None => &self.variant.fields[..],
            Some((_, inner)) => {
                infos(&inner.fields, &[], &mut out, schemas);
                &self.variant.fields[1..]
            }
        };
        infos(rest, &[], &mut out, schemas);
        out
    }
}

/// The values of the fields of a table. Those that are left out have the value of `base`, or their default.
fn items(all: &[Field], base: Option<&[Item]>, skip: &[&str], fields: &mut Fields<'_, '_, '_>) -> Option<Vec<Item>> {
    let mut read = Vec::with_capacity(all.len());
    for (i, field) in all.iter().enumerate() {
        let default = base.and_then(|base| base.get(i)).or(field.default.as_ref());
        if skip.contains(&field.name) {
            read.extend(default.cloned());
            continue;
        }
        match &field.kind {
            Kind::Record(record) if field.flat => {
                let base = if let Some(Item::Record(items)) = default { Some(&items[..]) } else { None };
                read.extend(items((record.fields)(), base, &[], fields).map(Item::Record));
            }
            Kind::Optional(inner) if field.flat => read.extend(flat_option(inner, fields)),
            kind => match (fields.node(field.name), default) {
                (Some(node), _) => read.extend(fields.within(field.name, |r| item(node, kind, r))),
                (None, Some(default)) if field.default.is_some() => read.push(default.clone()),
                _ => fields.missing(field.name, &wants(kind)),
            },
        }
    }
    (read.len() == all.len()).then_some(read)
}

/// A record that may be missing, with its keys among those of the table: it is there when a required key is.
fn flat_option(kind: &Kind, fields: &mut Fields<'_, '_, '_>) -> Option<Item> {
    let Kind::Record(record) = kind else { return None };
    let all = (record.fields)();
    if all.iter().any(|field| field.default.is_none() && fields.has(field.name)) {
        return items(all, None, &[], fields).map(|items| Item::Optional(Some(Box::new(Item::Record(items)))));
    }
    for field in all {
        // without the required one it has no effect
        fields.node(field.name);
    }
    Some(Item::Optional(None))
}

fn value_of(item: &Item, kind: &Kind) -> Value {
    match (item, own(kind)) {
        (_, Some(own)) => (own.write)(item),
        (_, None) => plain_value(item, kind),
    }
}

/// The value for a file by the description alone.
pub(crate) fn plain_value(item: &Item, kind: &Kind) -> Value {
    match (item, kind) {
        (Item::Real(x), _) => x.write(),
        (Item::Wide(x), _) => Wide(*x).write(),
        (Item::Whole(i), _) => Value::Int(*i),
        (Item::Flag(yes), _) => Value::Bool(*yes),
        // also the name of an id
        (Item::Text(text), _) => Value::text(text.clone()),
        (Item::Word(index), Kind::Words(list)) => list.get(*index).map_or(Value::Nothing, |w| Value::text(w.word)),
        (Item::List(items) | Item::Fixed(items), Kind::List(kind, _)) => {
            Value::list(items.iter().map(|item| value_of(item, kind)))
        }
        (Item::Optional(Some(item)), Kind::Optional(kind)) => value_of(item, kind),
        (Item::Record(items), Kind::Record(record)) => {
            let mut out = Vec::new();
            entries(items, (record.fields)(), &[], &mut out);
            Value::Table(out.into())
        }
        (Item::Choice(index, items), Kind::Choice(choice)) => match (choice.variants)().get(*index) {
            Some(variant) => choice_value(items, variant),
            None => Value::Nothing,
        },
        _ => Value::Nothing,
    }
}

fn choice_value(items: &[Item], variant: &Variant) -> Value {
    let mut out = Vec::new();
    if let (Some(Item::Choice(i, inner)), Some(Field { flat: true, kind: Kind::Choice(choice), .. })) =
        (items.first(), variant.fields.first())
        && let Some(of) = (choice.variants)().get(*i)
    {
        entries(inner, &of.fields, &[], &mut out);
        entries(&items[1..], &variant.fields[1..], &[], &mut out);
        return tagged(&format!("{}_{}", variant.word, of.word), out);
    }
    entries(items, &variant.fields, &[], &mut out);
    tagged(variant.word, out)
}

/// Appends the keys of a record.
pub(crate) fn entries(items: &[Item], fields: &[Field], skip: &[&str], out: &mut Vec<Entry>) {
    for (item, field) in items.iter().zip(fields).filter(|(_, field)| !skip.contains(&field.name)) {
        match (item, &field.kind) {
            (Item::Record(items), Kind::Record(record)) if field.flat => entries(items, (record.fields)(), &[], out),
            (Item::Optional(inner), Kind::Optional(kind)) if field.flat => {
                if let (Some(Item::Record(items)), Kind::Record(record)) = (inner.as_deref(), &**kind) {
                    entries(items, (record.fields)(), &[], out);
                }
            }
            (item, kind) => {
                let default = field.default.as_ref().map(|default| value_of(default, kind));
                put(out, field.name, value_of(item, kind), default);
            }
        }
    }
}

/// The JSON Schema of a kind.
pub(crate) fn schema(kind: &Kind, schemas: &mut Schemas) -> Value {
    match own(kind) {
        Some(own) => (own.schema)(schemas),
        None => plain_schema(kind, schemas),
    }
}

/// The JSON Schema of a kind by its description alone.
pub(crate) fn plain_schema(kind: &Kind, schemas: &mut Schemas) -> Value {
    match kind {
        Kind::Real(rule) => Real::schema(rule, schemas),
        Kind::Wide(rule) => Wide::schema(rule, schemas),
        Kind::Whole(rule) => i64::schema(rule, schemas),
        Kind::Flag => bool::schema(&ANY, schemas),
        Kind::Text | Kind::Id(_) | Kind::Bytes => String::schema(&ANY, schemas),
        Kind::Turn => Quat::schema(&ANY, schemas),
        Kind::Words(list) => words(&list.iter().map(|w: &Word| (w.word, w.about)).collect::<Vec<_>>()),
        Kind::List(inner, count) => {
            let items = schema(inner, schemas);
            schemas.or_parameter(list_schema(items, count.unwrap_or(0), *count))
        }
        Kind::Optional(inner) => schema(inner, schemas),
        Kind::Record(Record { name, about, fields }) => schemas.define(name, |schemas| {
            let mut out = Vec::new();
            infos(fields(), &[], &mut out, schemas);
            object(about, None, out)
        }),
        Kind::Choice(choice) => schemas.choice((choice.name, choice.about), |schemas| {
            let each = |w: Worded| {
                let fields = w.describe(schemas);
                (w.word, w.about, fields)
            };
            Worded::all(choice).into_iter().map(each).collect()
        }),
    }
}

fn infos(fields: &[Field], skip: &[&str], out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
    for field in fields.iter().filter(|field| !skip.contains(&field.name)) {
        match &field.kind {
            Kind::Record(record) if field.flat => infos((record.fields)(), &[], out, schemas),
            Kind::Optional(inner) if field.flat => {
                let Kind::Record(record) = &**inner else { continue };
                let first = out.len();
                infos((record.fields)(), &[], out, schemas);
                out[first..].iter_mut().for_each(|info| info.required = false);
            }
            kind => out.push(FieldInfo {
                name: field.name,
                about: field.about,
                schema: schema(kind, schemas),
                required: field.default.is_none(),
                default: default_of(field).unwrap_or(Value::Nothing),
            }),
        }
    }
}

/// The default of a field as a value of a file.
pub(crate) fn default_of(field: &Field) -> Option<Value> {
    field.default.as_ref().map(|default| value_of(default, &field.kind)).filter(|value| *value != Value::Nothing)
}

/// The expected value, for messages.
pub(crate) fn wants(kind: &Kind) -> String {
    match (kind, own(kind)) {
        (_, Some(own)) => (own.wants)(),
        (Kind::Real(rule), _) => Real::wants(rule),
        (Kind::Wide(rule), _) => Wide::wants(rule),
        (Kind::Whole(rule), _) => i64::wants(rule),
        (Kind::Flag, _) => bool::wants(&ANY),
        (Kind::Text | Kind::Bytes, _) => String::wants(&ANY),
        (Kind::Id(_), _) => Name::wants(&ANY),
        (Kind::Turn, _) => Quat::wants(&ANY),
        (Kind::Words(list), _) => one_of(&list.iter().map(|w| w.word).collect::<Vec<_>>()),
        (Kind::List(inner, Some(n)), _) => {
            let item = wants(inner);
            format!("a list of {n}, each a {}", item.strip_prefix("a ").unwrap_or(&item))
        }
        (Kind::List(_, None), _) => "a list".to_owned(),
        (Kind::Optional(inner), _) => wants(inner),
        (Kind::Record(record), _) => article(record.name),
        (Kind::Choice(choice), _) => article(choice.name),
    }
}

/// The item with every id replaced; none when one has no replacement. All of them are asked for, so that all errors are
/// reported.
pub(crate) fn with_ids(item: Item, id: &mut dyn FnMut(u32, u32) -> Option<Item>) -> Option<Item> {
    let all = |items: Vec<Item>, id: &mut dyn FnMut(u32, u32) -> Option<Item>| {
        let count = items.len();
        let items: Vec<Item> = items.into_iter().filter_map(|item| with_ids(item, id)).collect();
        (items.len() == count).then_some(items)
    };
    Some(match item {
        Item::Id(index, generation) => id(index, generation)?,
        Item::List(items) => Item::List(all(items, id)?),
        Item::Fixed(items) => Item::Fixed(all(items, id)?),
        Item::Record(items) => Item::Record(all(items, id)?),
        Item::Choice(index, items) => Item::Choice(index, all(items, id)?),
        Item::Optional(Some(inner)) => Item::Optional(Some(Box::new(with_ids(*inner, id)?))),
        other => other,
    })
}
