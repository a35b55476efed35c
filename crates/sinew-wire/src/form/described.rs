//! Types that the engine describes as data (`sinew::spec`), in the format of saves: values in the order of their
//! description, without names. A choice is its index and its fields, a list without fixed length has its length in front.

use serde::de::{DeserializeSeed, EnumAccess, Error as _, SeqAccess, VariantAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeTuple, SerializeTupleVariant};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sinew::spec::{ANY, Choice, Field, Item, Kind, Spec};
use sinew::{Groups, Real, Settings, Stabilization, SurfaceMaterial};
use std::fmt;

/// A value of a described type in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<T>(pub T);

impl<T: Spec> Serialize for Described<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Part(&self.0.to_item(), &T::kind(&ANY)).serialize(serializer)
    }
}

impl<'de, T: Spec> Deserialize<'de> for Described<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let item = Seed(&T::kind(&ANY)).deserialize(deserializer)?;
        T::from_item(item).map(Self).ok_or_else(|| D::Error::custom("a value of another type"))
    }
}

impl<T> From<T> for Described<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

macro_rules! back {
    ($($type:ty),*) => {
        $(impl From<Described<$type>> for $type {
            fn from(form: Described<$type>) -> Self {
                form.0
            }
        })*
    };
}

back!(Groups, Settings, Stabilization, SurfaceMaterial);

/// An item and its kind.
struct Part<'a>(&'a Item, &'a Kind);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Part(item, kind) = *self;
        match (item, kind) {
            (Item::Real(x), _) => x.serialize(serializer),
            // 0 and above as u32 has it, below as i32
            (Item::Whole(i), Kind::Whole(rule)) if rule.low >= 0.0 => serializer.serialize_u64(i.unsigned_abs()),
            (Item::Whole(i), _) => serializer.serialize_i64(*i),
            (Item::Flag(yes), _) => serializer.serialize_bool(*yes),
            (Item::Text(text), _) => serializer.serialize_str(text),
            (Item::Word(index), _) => serializer.serialize_unit_variant("", *index as u32, ""),
            (Item::List(items), Kind::List(kind, None)) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&Part(item, kind)))?;
                list.end()
            }
            (Item::List(items), Kind::List(kind, Some(_))) => {
                let mut list = serializer.serialize_tuple(items.len())?;
                items.iter().try_for_each(|item| list.serialize_element(&Part(item, kind)))?;
                list.end()
            }
            (Item::Optional(None), _) => serializer.serialize_none(),
            (Item::Optional(Some(item)), Kind::Optional(kind)) => serializer.serialize_some(&Part(item, kind)),
            (Item::Record(items), Kind::Record(record)) => {
                let mut fields = serializer.serialize_tuple(items.len())?;
                for (item, field) in items.iter().zip((record.fields)()) {
                    fields.serialize_element(&Part(item, &field.kind))?;
                }
                fields.end()
            }
            (Item::Choice(index, items), Kind::Choice(choice)) => {
                let mut fields = serializer.serialize_tuple_variant("", *index as u32, "", items.len())?;
                let variant = (choice.variants)().into_iter().nth(*index);
                for (item, field) in items.iter().zip(variant.map(|v| v.fields).unwrap_or_default()) {
                    fields.serialize_field(&Part(item, &field.kind))?;
                }
                fields.end()
            }
            _ => Err(serde::ser::Error::custom("a value of another kind")),
        }
    }
}

/// Reads an item of this kind.
struct Seed<'a>(&'a Kind);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        match self.0 {
            Kind::Real(_) => Real::deserialize(deserializer).map(Item::Real),
            Kind::Whole(rule) if rule.low >= 0.0 => u32::deserialize(deserializer).map(|i| Item::Whole(i64::from(i))),
            Kind::Whole(_) => i64::deserialize(deserializer).map(Item::Whole),
            Kind::Flag => bool::deserialize(deserializer).map(Item::Flag),
            Kind::Text => String::deserialize(deserializer).map(Item::Text),
            Kind::Words(_) => deserializer.deserialize_enum("", &[], OfChoice(None)),
            Kind::List(kind, None) => deserializer.deserialize_seq(OfList(kind)),
            Kind::List(kind, Some(count)) => deserializer.deserialize_tuple(*count, OfList(kind)),
            Kind::Optional(kind) => deserializer.deserialize_option(OfOption(kind)),
            Kind::Record(record) => {
                let fields = (record.fields)();
                deserializer.deserialize_tuple(fields.len(), OfFields(&fields)).map(Item::Record)
            }
            Kind::Choice(choice) => deserializer.deserialize_enum("", &[], OfChoice(Some(choice))),
        }
    }
}

struct OfList<'a>(&'a Kind);

impl<'de> Visitor<'de> for OfList<'_> {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Item, A::Error> {
        // no space is reserved: the length is that of a file
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Seed(self.0))? {
            items.push(item);
        }
        Ok(Item::List(items))
    }
}

struct OfOption<'a>(&'a Kind);

impl<'de> Visitor<'de> for OfOption<'_> {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or none")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Item, E> {
        Ok(Item::Optional(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        Seed(self.0).deserialize(deserializer).map(|item| Item::Optional(Some(Box::new(item))))
    }
}

struct OfFields<'a>(&'a [Field]);

impl<'de> Visitor<'de> for OfFields<'_> {
    type Value = Vec<Item>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values", self.0.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Item>, A::Error> {
        let mut items = Vec::with_capacity(self.0.len());
        for field in self.0 {
            let item = list.next_element_seed(Seed(&field.kind))?;
            items.push(item.ok_or_else(|| A::Error::custom(format!("'{}' is missing", field.name)))?);
        }
        Ok(items)
    }
}

/// A choice, or a word when there is none.
struct OfChoice<'a>(Option<&'a Choice>);

impl<'de> Visitor<'de> for OfChoice<'_> {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Item, A::Error> {
        let (index, fields) = data.variant::<Index>()?;
        let index = index.0 as usize;
        let Some(choice) = self.0 else {
            fields.unit_variant()?;
            return Ok(Item::Word(index));
        };
        let Some(variant) = (choice.variants)().into_iter().nth(index) else {
            return Err(A::Error::custom(format!("there is no {} {index}", choice.name)));
        };
        let all = variant.fields;
        let items = if all.is_empty() {
            fields.unit_variant()?;
            Vec::new()
        } else {
            fields.tuple_variant(all.len(), OfFields(&all))?
        };
        Ok(Item::Choice(index, items))
    }
}

/// Index of a variant.
struct Index(u32);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(OfIndex).map(Self)
    }
}

struct OfIndex;

impl Visitor<'_> for OfIndex {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_u32<E: serde::de::Error>(self, index: u32) -> Result<u32, E> {
        Ok(index)
    }

    fn visit_u64<E: serde::de::Error>(self, index: u64) -> Result<u32, E> {
        u32::try_from(index).map_err(E::custom)
    }
}
