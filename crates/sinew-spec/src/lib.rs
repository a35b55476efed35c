//! Descriptions of public types as data: what scene files, saves, `--set`, schemas and docs are derived from.
//!
//! A type that implements [`Spec`] has a [`Kind`], which describes it (names, ranges, defaults, sentences with units in
//! brackets), and converts to and from an [`Item`], a value that matches the kind. Readers and writers are interpreters of
//! kind and item, one for each format; they know no type. The macros [`record!`], [`choice!`], [`kinds!`] and [`words!`]
//! implement the trait from a table. A field that is missing in the table is a compile error.
//!
//! The order of fields, variants and words is part of the format of saves. New ones are appended.
//!
//! ```
//! use sinew_math::Real;
//! use sinew_spec::{ANY, Item, Kind, POSITIVE, Rule, Spec, record};
//!
//! #[derive(Debug, PartialEq)]
//! struct Ball {
//!     radius: Real,
//!     hollow: bool,
//! }
//! record!(Ball, "ball", "A ball.", Ball { radius: 0.1, hollow: false }, {
//!     radius: POSITIVE, "Its radius [m].";
//!     hollow: ANY, "True for a shell.";
//! });
//!
//! let ball = Ball { radius: 0.5, hollow: true };
//! assert_eq!(Ball::from_item(ball.to_item()), Some(ball));
//! let Kind::Record(record) = Ball::kind(&ANY) else { panic!() };
//! assert_eq!((record.fields)()[0].about, "Its radius [m].");
//! // values are checked against their ranges, and the message has the path
//! let error = sinew_spec::check(&Ball { radius: -1.0, hollow: false }, "ball").unwrap_err();
//! assert_eq!(error.to_string(), "ball.radius is -1, but must be a number above 0");
//! ```

mod check;
mod macros;
mod plain;
mod rule;

pub use check::check;
pub use rule::{ANY, FINITE, NOT_NEGATIVE, POISSON, POSITIVE, Rule, SHARE, from_to};

use sinew_math::Real;

/// A type that is described as data.
///
/// An example is at [the crate](crate).
pub trait Spec: Sized {
    /// Its description; numbers in it obey the rule.
    fn kind(rule: &Rule) -> Kind;
    /// The value as data.
    fn to_item(&self) -> Item;
    /// The value of data; none when the data does not match the kind.
    fn from_item(item: Item) -> Option<Self>;
}

/// Description of a type.
///
/// An example is at [the crate](crate).
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number of the build.
    Real(Rule),
    /// A whole number, of 32 bits if not negative.
    Whole(Rule),
    /// True or false.
    Flag,
    /// Text.
    Text,
    /// One of some words.
    Words(&'static [Word]),
    /// A list, of a fixed number of items if there is one.
    List(Box<Kind>, Option<usize>),
    /// A value that may be missing.
    Optional(Box<Kind>),
    /// Fields with names.
    Record(Record),
    /// One of several variants, each with fields.
    Choice(Choice),
}

/// A word and what it means.
///
/// ```
/// let word = sinew_spec::Word { word: "mean", about: "Half of the sum." };
/// assert!(word.about.ends_with('.'));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// As it is written in a file.
    pub word: &'static str,
    /// One sentence.
    pub about: &'static str,
}

/// A type with named fields. The fields are made on demand, since types may contain each other.
///
/// An example is at [the crate](crate).
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Noun for messages.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Its fields in order.
    pub fields: fn() -> Vec<Field>,
}

/// A type with variants.
///
/// An example is at [the crate](crate).
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Noun for messages.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Its variants in order.
    pub variants: fn() -> Vec<Variant>,
}

/// A variant of a choice.
///
/// An example is at [the crate](crate).
#[derive(Clone, Debug)]
pub struct Variant {
    /// As it is written in a file.
    pub word: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Its fields in order.
    pub fields: Vec<Field>,
}

/// A field of a record or variant.
///
/// An example is at [the crate](crate).
#[derive(Clone, Debug)]
pub struct Field {
    /// As it is written in a file.
    pub name: &'static str,
    /// One sentence, with the unit in brackets.
    pub about: &'static str,
    /// Its type.
    pub kind: Kind,
    /// The value when it is left out; none: it is required.
    pub default: Option<Item>,
}

/// A value as data.
///
/// An example is at [the crate](crate).
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A number of the build.
    Real(Real),
    /// A whole number.
    Whole(i64),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(String),
    /// Index of a word.
    Word(usize),
    /// Items of a list.
    List(Vec<Item>),
    /// A value that may be missing.
    Optional(Option<Box<Item>>),
    /// Values of the fields, in order.
    Record(Vec<Item>),
    /// Index of the variant, and the values of its fields.
    Choice(usize, Vec<Item>),
}

/// A field with a default, for the macros.
#[doc(hidden)]
pub fn field<T: Spec>(name: &'static str, about: &'static str, rule: &Rule, default: &T) -> Field {
    Field { name, about, kind: T::kind(rule), default: Some(default.to_item()) }
}

/// A field of this type, required or with a default, for the macros.
#[doc(hidden)]
pub fn field_of<T: Spec>(name: &'static str, about: &'static str, rule: &Rule, default: Option<T>) -> Field {
    Field { name, about, kind: T::kind(rule), default: default.map(|d| d.to_item()) }
}

/// A required field; the value determines the type only. For the macros.
#[doc(hidden)]
pub fn required<T: Spec>(name: &'static str, about: &'static str, rule: &Rule, _: &T) -> Field {
    Field { name, about, kind: T::kind(rule), default: None }
}

/// Fields of a record, for the macros.
#[doc(hidden)]
pub fn fields_of<T: Spec>() -> Vec<Field> {
    match T::kind(&ANY) {
        Kind::Record(record) => (record.fields)(),
        _ => Vec::new(),
    }
}

/// Items of a record, for the macros.
#[doc(hidden)]
pub fn items_of<T: Spec>(record: &T) -> Vec<Item> {
    match record.to_item() {
        Item::Record(items) => items,
        _ => Vec::new(),
    }
}

/// The next item of a list, converted, for the macros.
#[doc(hidden)]
pub fn next<T: Spec>(items: &mut impl Iterator<Item = Item>) -> Option<T> {
    T::from_item(items.next()?)
}
