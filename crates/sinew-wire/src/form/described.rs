//! Types that the engine describes as data (`sinew::spec`), in the format of saves: their parts in the order of the
//! description, without names. A choice is its index and its fields, an optional value has a flag in front, a list without
//! fixed length its length. Shapes are flat ([`ShapeForm`]).

use super::shape::ShapeForm;
use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sinew::spec::{Sink, Source, Spec};
use sinew::{Real, Shape};
use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;

/// A value of a described type in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described<T>(pub T);

impl<T: Spec> Serialize for Described<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // the format does not write the length of a tuple
        let mut writer = Writer { parts: serializer.serialize_tuple(0)?, error: None };
        self.0.put(&mut writer);
        match writer.error {
            Some(error) => Err(error),
            None => writer.parts.end(),
        }
    }
}

impl<'de, T: Spec> Deserialize<'de> for Described<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(usize::MAX, Parts(PhantomData)).map(Self)
    }
}

/// Writes parts until the first error.
struct Writer<S: SerializeTuple> {
    parts: S,
    error: Option<S::Error>,
}

impl<S: SerializeTuple> Writer<S> {
    fn part<T: Serialize>(&mut self, part: T) {
        if self.error.is_none() {
            self.error = self.parts.serialize_element(&part).err();
        }
    }
}

impl<S: SerializeTuple> Sink for Writer<S> {
    fn real(&mut self, x: Real) {
        self.part(x);
    }

    fn wide(&mut self, x: f64) {
        self.part(x);
    }

    fn count(&mut self, n: u64) {
        self.part(n);
    }

    fn whole(&mut self, i: i64) {
        self.part(i);
    }

    fn flag(&mut self, yes: bool) {
        self.part(yes);
    }

    fn text(&mut self, text: &str) {
        self.part(text);
    }

    fn byte(&mut self, byte: u8) {
        self.part(byte);
    }

    fn index(&mut self, index: usize) {
        self.part(index as u64);
    }

    fn length(&mut self, length: usize) {
        self.part(length as u64);
    }

    fn own(&mut self, value: &dyn Any) -> bool {
        let Some(shape) = value.downcast_ref::<Shape>() else { return false };
        match ShapeForm::of(shape) {
            Ok(form) => self.part(form),
            Err(reason) => self.error = self.error.take().or_else(|| Some(S::Error::custom(reason))),
        }
        true
    }
}

/// Visits the parts of a value.
struct Parts<T>(PhantomData<T>);

impl<'de, T: Spec> Visitor<'de> for Parts<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the parts of a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<T, A::Error> {
        let mut reader = Parts::<T>::reader(parts);
        let value = T::take(&mut reader);
        match (value, reader.error) {
            (Some(value), None) => Ok(value),
            (_, Some(error)) => Err(error),
            (None, None) => Err(A::Error::custom("a value of another type")),
        }
    }
}

impl<T> Parts<T> {
    fn reader<'de, A: SeqAccess<'de>>(parts: A) -> Reader<'de, A> {
        Reader { parts, error: None, of: PhantomData }
    }
}

/// Reads parts until the first error.
struct Reader<'de, A: SeqAccess<'de>> {
    parts: A,
    error: Option<A::Error>,
    of: PhantomData<&'de ()>,
}

impl<'de, A: SeqAccess<'de>> Reader<'de, A> {
    fn part<T: DeserializeOwned>(&mut self) -> Option<T> {
        match self.parts.next_element() {
            Ok(part) => part,
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    fn size(&mut self) -> Option<usize> {
        self.part::<u64>()?.try_into().ok()
    }
}

impl<'de, A: SeqAccess<'de>> Source for Reader<'de, A> {
    fn real(&mut self) -> Option<Real> {
        self.part()
    }

    fn wide(&mut self) -> Option<f64> {
        self.part()
    }

    fn count(&mut self) -> Option<u64> {
        self.part()
    }

    fn whole(&mut self) -> Option<i64> {
        self.part()
    }

    fn flag(&mut self) -> Option<bool> {
        self.part()
    }

    fn text(&mut self) -> Option<String> {
        self.part()
    }

    fn byte(&mut self) -> Option<u8> {
        self.part()
    }

    fn index(&mut self) -> Option<usize> {
        self.size()
    }

    fn length(&mut self) -> Option<usize> {
        self.size()
    }

    fn own(&mut self, of: TypeId) -> Option<Option<Box<dyn Any>>> {
        if of != TypeId::of::<Shape>() {
            return None;
        }
        let form: Option<ShapeForm> = self.part();
        Some(form.and_then(|form| match form.build() {
            Ok(shape) => Some(Box::new(shape) as Box<dyn Any>),
            Err(reason) => {
                self.error = Some(A::Error::custom(reason));
                None
            }
        }))
    }
}
