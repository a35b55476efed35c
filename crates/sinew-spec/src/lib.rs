//! Descriptions of public types as data: what scene files, saves, `--set`, schemas and docs are derived from.
//!
//! A type that implements [`Spec`] has a [`Kind`], which describes it (names, ranges, defaults, sentences with units in
//! brackets), and converts to and from a sequence of plain values ([`Sink`], [`Source`]: saves) and to and from an [`Item`],
//! a tree that matches the kind (scene files). Readers and writers are interpreters, one for each format; they know no type.
//! The macros [`record!`], [`choice!`], [`kinds!`] and [`words!`] implement the trait from a table. A field that is missing
//! in the table is a compile error.
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
mod stream;

pub use check::check;
pub use plain::Wide;
pub use rule::{ANY, FINITE, NOT_NEGATIVE, POISSON, POSITIVE, Rule, SHARE, from_to};
pub use stream::{Sink, Source, Tokens};

use sinew_math::Real;

/// A type that is described as data.
///
/// An example is at [the crate](crate).
pub trait Spec: Sized {
    /// Its description; numbers in it obey the rule.
    fn kind(rule: &Rule) -> Kind;

    /// Writes the parts of the value.
    fn put(&self, to: &mut dyn Sink);

    /// Reads the parts of a value; none when they do not match the kind.
    fn take(from: &mut dyn Source) -> Option<Self>;

    /// The value as a tree.
    fn to_item(&self) -> Item {
        let mut tokens = Tokens::default();
        self.put(&mut tokens);
        tokens.item(&Self::kind(&ANY)).unwrap_or(Item::Record(Vec::new()))
    }

    /// The value of a tree; none when it does not match the kind.
    fn from_item(item: Item) -> Option<Self> {
        let mut tokens = Tokens::default();
        tokens.put(&item);
        Self::take(&mut tokens).filter(|_| tokens.is_empty())
    }
}

/// A described form of a type that has no description of its own: a tuple, an option of a tuple.
///
/// ```
/// use sinew_math::Real;
/// use sinew_spec::{ANY, Spec, Via, record};
/// struct Spring { stiffness: Real, damping: Real }
/// record!(Spring, "spring", "A spring.", Spring { stiffness: 1.0, damping: 0.0 }, {
///     stiffness: ANY, "Stiffness [N/m].";
///     damping: ANY, "Damping [N·s/m].";
/// });
/// impl Via<(Real, Real)> for Spring {
///     fn of(&(stiffness, damping): &(Real, Real)) -> Self {
///         Self { stiffness, damping }
///     }
///     fn back(self) -> (Real, Real) {
///         (self.stiffness, self.damping)
///     }
/// }
/// struct Rod { spring: Option<(Real, Real)> }
/// record!(Rod, "rod", "A rod.", Rod { spring: None }, { spring via Option<Spring>: ANY, "Its spring."; });
/// let rod = Rod { spring: Some((2.0, 3.0)) };
/// assert_eq!(Rod::from_item(rod.to_item()).and_then(|rod| rod.spring), rod.spring);
/// ```
pub trait Via<T>: Spec {
    /// The described form.
    fn of(value: &T) -> Self;
    /// The value again.
    fn back(self) -> T;
}

/// Description of a type.
///
/// An example is at [the crate](crate).
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number of the build.
    Real(Rule),
    /// A number in f64 whatever the build.
    Wide(Rule),
    /// A whole number, of 32 bits if not negative.
    Whole(Rule),
    /// True or false.
    Flag,
    /// Text.
    Text,
    /// Bytes whose meaning the engine does not know.
    Bytes,
    /// The id of a body or constraint; in a file its name.
    Id(&'static str),
    /// A rotation, as a unit quaternion x, y, z, w.
    Turn,
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
    pub fields: fn() -> &'static [Field],
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
    pub variants: fn() -> &'static [Variant],
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
    /// In a file, the keys of its record stand in the table that contains it; the words of its choice are appended to that
    /// of the variant that contains it.
    pub flat: bool,
}

/// A value as data.
///
/// An example is at [the crate](crate).
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A number of the build.
    Real(Real),
    /// A number in f64 whatever the build.
    Wide(f64),
    /// A whole number.
    Whole(i64),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Index and generation.
    Id(u32, u32),
    /// A unit quaternion.
    Turn([Real; 4]),
    /// Index of a word.
    Word(usize),
    /// Items of a list.
    List(Vec<Item>),
    /// Items of a list of fixed length.
    Fixed(Vec<Item>),
    /// A value that may be missing.
    Optional(Option<Box<Item>>),
    /// Values of the fields, in order.
    Record(Vec<Item>),
    /// Index of the variant, and the values of its fields.
    Choice(usize, Vec<Item>),
}

/// A field of this type with a default unless it is required, for the macros.
#[doc(hidden)]
pub fn field<T: Spec>(
    (name, about): (&'static str, &'static str),
    rule: &Rule,
    marks: &[&str],
    default: Option<T>,
) -> Field {
    let [required, flat] = ["required", "flat"].map(|mark| marks.contains(&mark));
    let default = default.filter(|_| !required).map(|d| d.to_item());
    Field { name, about, kind: T::kind(rule), default, flat }
}

/// Fields of a record, for the macros.
#[doc(hidden)]
pub fn fields_of<T: Spec>() -> Vec<Field> {
    match T::kind(&ANY) {
        Kind::Record(record) => (record.fields)().to_vec(),
        _ => Vec::new(),
    }
}
