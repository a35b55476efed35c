//! Values as a sequence of numbers, flags and texts, in the order of their description and without names: what a save
//! contains. An [`Item`](crate::Item) is made from the same sequence by its kind.

use crate::{Field, Item, Kind};
use sinew_math::Real;
use std::any::{Any, TypeId};
use std::collections::VecDeque;

/// Takes the parts of a value one after the other.
///
/// An example is at [`Source`].
pub trait Sink {
    /// A number of the build.
    fn real(&mut self, x: Real);
    /// A number in f64 whatever the build.
    fn wide(&mut self, x: f64);
    /// A whole number of at least 0.
    fn count(&mut self, n: u64);
    /// A whole number of either sign.
    fn whole(&mut self, i: i64);
    /// True or false; also whether an optional value follows.
    fn flag(&mut self, yes: bool);
    /// Text.
    fn text(&mut self, text: &str);
    /// One byte of bytes without a meaning to the engine.
    fn byte(&mut self, byte: u8);
    /// The index of a word or variant.
    fn index(&mut self, index: usize);
    /// The number of items that follow.
    fn length(&mut self, length: usize);
    /// Takes a whole choice in a form of its own; false: its parts follow.
    fn own(&mut self, _: &dyn Any) -> bool {
        false
    }
}

/// Yields the parts of a value in the order in which a [`Sink`] took them; none at the end, or when the next part is of
/// another type.
///
/// ```
/// use sinew_spec::{Sink, Source, Spec, Tokens};
/// let mut tokens = Tokens::default();
/// vec![3_u32, 4].put(&mut tokens);
/// assert_eq!(<Vec<u32> as Spec>::take(&mut tokens), Some(vec![3, 4]));
/// assert_eq!(Source::real(&mut tokens), None);
/// ```
pub trait Source {
    /// A number of the build.
    fn real(&mut self) -> Option<Real>;
    /// A number in f64 whatever the build.
    fn wide(&mut self) -> Option<f64>;
    /// A whole number of at least 0.
    fn count(&mut self) -> Option<u64>;
    /// A whole number of either sign.
    fn whole(&mut self) -> Option<i64>;
    /// True or false.
    fn flag(&mut self) -> Option<bool>;
    /// Text.
    fn text(&mut self) -> Option<String>;
    /// One byte.
    fn byte(&mut self) -> Option<u8>;
    /// The index of a word or variant.
    fn index(&mut self) -> Option<usize>;
    /// The number of items that follow. No space is reserved for them: it may come from a damaged file.
    fn length(&mut self) -> Option<usize>;
    /// A whole choice of this type in a form of its own, or why there is none; none: its parts follow.
    fn own(&mut self, _: TypeId) -> Option<Option<Box<dyn Any>>> {
        None
    }
}

/// One part of a value.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Real(Real),
    Wide(f64),
    Whole(i64),
    Flag(bool),
    Text(String),
    Byte(u8),
    Size(usize),
}

/// The parts of values in memory.
///
/// An example is at [`Source`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tokens(VecDeque<Token>);

impl Sink for Tokens {
    fn real(&mut self, x: Real) {
        self.0.push_back(Token::Real(x));
    }

    fn wide(&mut self, x: f64) {
        self.0.push_back(Token::Wide(x));
    }

    fn count(&mut self, n: u64) {
        self.0.push_back(Token::Whole(i64::try_from(n).unwrap_or(i64::MAX)));
    }

    fn whole(&mut self, i: i64) {
        self.0.push_back(Token::Whole(i));
    }

    fn flag(&mut self, yes: bool) {
        self.0.push_back(Token::Flag(yes));
    }

    fn text(&mut self, text: &str) {
        self.0.push_back(Token::Text(text.to_owned()));
    }

    fn byte(&mut self, byte: u8) {
        self.0.push_back(Token::Byte(byte));
    }

    fn index(&mut self, index: usize) {
        self.0.push_back(Token::Size(index));
    }

    fn length(&mut self, length: usize) {
        self.0.push_back(Token::Size(length));
    }
}

impl Source for Tokens {
    fn real(&mut self) -> Option<Real> {
        if let Token::Real(x) = self.0.pop_front()? { Some(x) } else { None }
    }

    fn wide(&mut self) -> Option<f64> {
        if let Token::Wide(x) = self.0.pop_front()? { Some(x) } else { None }
    }

    fn count(&mut self) -> Option<u64> {
        Source::whole(self).and_then(|i| i.try_into().ok())
    }

    fn whole(&mut self) -> Option<i64> {
        if let Token::Whole(i) = self.0.pop_front()? { Some(i) } else { None }
    }

    fn flag(&mut self) -> Option<bool> {
        if let Token::Flag(yes) = self.0.pop_front()? { Some(yes) } else { None }
    }

    fn text(&mut self) -> Option<String> {
        if let Token::Text(text) = self.0.pop_front()? { Some(text) } else { None }
    }

    fn byte(&mut self) -> Option<u8> {
        if let Token::Byte(byte) = self.0.pop_front()? { Some(byte) } else { None }
    }

    fn index(&mut self) -> Option<usize> {
        Source::length(self)
    }

    fn length(&mut self) -> Option<usize> {
        if let Token::Size(n) = self.0.pop_front()? { Some(n) } else { None }
    }
}

impl Tokens {
    /// True when all parts were taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next value, as an item of this kind.
    pub(crate) fn item(&mut self, kind: &Kind) -> Option<Item> {
        Some(match kind {
            Kind::Real(_) => Item::Real(Source::real(self)?),
            Kind::Wide(_) => Item::Wide(Source::wide(self)?),
            Kind::Whole(_) => Item::Whole(Source::whole(self)?),
            Kind::Flag => Item::Flag(Source::flag(self)?),
            Kind::Text => Item::Text(Source::text(self)?),
            Kind::Bytes => {
                let length = Source::length(self)?;
                Item::Bytes((0..length).map(|_| Source::byte(self)).collect::<Option<_>>()?)
            }
            Kind::Id(_) => {
                Item::Id(u32::try_from(Source::whole(self)?).ok()?, u32::try_from(Source::whole(self)?).ok()?)
            }
            Kind::Turn => {
                Item::Turn([Source::real(self)?, Source::real(self)?, Source::real(self)?, Source::real(self)?])
            }
            Kind::Words(_) => Item::Word(Source::index(self)?),
            Kind::List(inner, count) => {
                let length = if let Some(n) = count { *n } else { Source::length(self)? };
                let items = (0..length).map(|_| self.item(inner)).collect::<Option<_>>()?;
                if count.is_some() { Item::Fixed(items) } else { Item::List(items) }
            }
            Kind::Optional(inner) => {
                Item::Optional(if Source::flag(self)? { Some(Box::new(self.item(inner)?)) } else { None })
            }
            Kind::Record(record) => Item::Record(self.fields((record.fields)())?),
            Kind::Choice(choice) => {
                let index = Source::index(self)?;
                Item::Choice(index, self.fields(&(choice.variants)().get(index)?.fields)?)
            }
        })
    }

    fn fields(&mut self, fields: &[Field]) -> Option<Vec<Item>> {
        fields.iter().map(|field| self.item(&field.kind)).collect()
    }

    /// Appends the parts of an item.
    pub(crate) fn put(&mut self, item: &Item) {
        match item {
            Item::Real(x) => self.real_of(*x),
            Item::Wide(x) => Sink::wide(self, *x),
            Item::Whole(i) => Sink::whole(self, *i),
            Item::Flag(yes) => Sink::flag(self, *yes),
            Item::Text(text) => Sink::text(self, text),
            Item::Bytes(bytes) => {
                Sink::length(self, bytes.len());
                bytes.iter().for_each(|byte| Sink::byte(self, *byte));
            }
            Item::Id(index, generation) => {
                Sink::whole(self, i64::from(*index));
                Sink::whole(self, i64::from(*generation));
            }
            Item::Turn(turn) => turn.iter().for_each(|x| self.real_of(*x)),
            Item::Word(index) => Sink::index(self, *index),
            Item::List(items) => {
                Sink::length(self, items.len());
                items.iter().for_each(|item| self.put(item));
            }
            Item::Fixed(items) | Item::Record(items) => items.iter().for_each(|item| self.put(item)),
            Item::Optional(inner) => {
                Sink::flag(self, inner.is_some());
                inner.iter().for_each(|item| self.put(item));
            }
            Item::Choice(index, items) => {
                Sink::index(self, *index);
                items.iter().for_each(|item| self.put(item));
            }
        }
    }

    fn real_of(&mut self, x: Real) {
        Sink::real(self, x);
    }
}
