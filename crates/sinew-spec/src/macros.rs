//! Tables that implement [`Spec`](crate::Spec).

/// Describes a struct: each field with its range and a sentence. The expression is the value whose fields are the
/// defaults; fields in `needs` are required.
///
/// An example is at [the crate](crate).
#[macro_export]
macro_rules! record {
    ($type:ident, $name:literal, $about:literal, $base:expr,
     $(needs { $($need:ident: $need_rule:expr, $need_about:literal;)* },)?
     { $($field:ident: $rule:expr, $field_about:literal;)* }) => {
        impl $crate::Spec for $type {
            fn kind(_: &$crate::Rule) -> $crate::Kind {
                let fields = || {
                    let base: $type = $base;
                    let _ = &base;
                    vec![
                        $($($crate::required(stringify!($need), $need_about, &$need_rule, &base.$need),)*)?
                        $($crate::field(stringify!($field), $field_about, &$rule, &base.$field),)*
                    ]
                };
                $crate::Kind::Record($crate::Record { name: $name, about: $about, fields })
            }

            fn to_item(&self) -> $crate::Item {
                // all fields: a new one is a compile error here
                let $type { $($($need,)*)? $($field,)* } = self;
                $crate::Item::Record(vec![
                    $($($crate::Spec::to_item($need),)*)?
                    $($crate::Spec::to_item($field),)*
                ])
            }

            fn from_item(item: $crate::Item) -> Option<Self> {
                let $crate::Item::Record(items) = item else { return None };
                let mut items = items.into_iter();
                let made = Self {
                    $($($need: $crate::next(&mut items)?,)*)?
                    $($field: $crate::next(&mut items)?,)*
                };
                items.next().is_none().then_some(made)
            }
        }
    };
}

/// Describes an enum whose variants have fields: each variant with its word, each field with its type, range, default if
/// there is one, and a sentence. A member is a field name, or the index of a tuple.
///
/// ```
/// use sinew_math::Real;
/// use sinew_spec::{ANY, FINITE, Kind, Spec, choice};
/// #[derive(Debug, PartialEq)]
/// enum Shape {
///     Point,
///     Ball { radius: Real },
///     Row(u32),
/// }
/// choice!(Shape, "shape", "A shape.", {
///     "point" => Point, "A point.", {};
///     "ball" => Ball, "A ball.", { radius radius: Real, FINITE => 1.0, "Radius [m]."; };
///     "row" => Row, "Points in a row.", { 0 count: u32, ANY, "How many."; };
/// });
/// let Kind::Choice(shape) = Shape::kind(&ANY) else { panic!() };
/// assert_eq!((shape.variants)()[2].fields[0].name, "count");
/// assert_eq!(Shape::from_item(Shape::Row(3).to_item()), Some(Shape::Row(3)));
/// ```
#[macro_export]
macro_rules! choice {
    ($type:ident, $name:literal, $about:literal,
     { $($word:literal => $variant:ident, $variant_about:literal,
         { $($member:tt $key:ident: $inner:ty, $rule:expr $(=> $default:expr)?, $key_about:literal;)* };)* }) => {
        impl $crate::Spec for $type {
            fn kind(_: &$crate::Rule) -> $crate::Kind {
                let variants = || {
                    vec![$($crate::Variant {
                        word: $word,
                        about: $variant_about,
                        fields: vec![$($crate::field_of::<$inner>(
                            stringify!($key),
                            $key_about,
                            &$rule,
                            $crate::default_of!($($default)?),
                        )),*],
                    }),*]
                };
                $crate::Kind::Choice($crate::Choice { name: $name, about: $about, variants })
            }

            fn to_item(&self) -> $crate::Item {
                let (word, items) = match self {
                    $(Self::$variant { $($member: $key),* } => ($word, vec![$($crate::Spec::to_item($key)),*]),)*
                };
                let index = [$($word),*].iter().position(|w| *w == word).unwrap_or(0);
                $crate::Item::Choice(index, items)
            }

            fn from_item(item: $crate::Item) -> Option<Self> {
                let $crate::Item::Choice(index, items) = item else { return None };
                let word = *[$($word),*].get(index)?;
                let mut items = items.into_iter();
                let made = match word {
                    $($word => Self::$variant { $($member: $crate::next::<$inner>(&mut items)?),* },)*
                    _ => return None,
                };
                items.next().is_none().then_some(made)
            }
        }
    };
}

/// Describes an enum whose variants hold a record each.
///
/// ```
/// use sinew_math::Real;
/// use sinew_spec::{ANY, FINITE, Spec, kinds, record};
/// #[derive(Debug, PartialEq)]
/// struct Ball { radius: Real }
/// record!(Ball, "ball", "A ball.", Ball { radius: 1.0 }, { radius: FINITE, "Radius [m]."; });
/// #[derive(Debug, PartialEq)]
/// enum Shape { Ball(Ball) }
/// kinds!(Shape, "shape", "A shape.", { "ball" => Ball(Ball), "A ball."; });
/// let ball = Shape::Ball(Ball { radius: 2.0 });
/// assert_eq!(Shape::from_item(ball.to_item()), Some(ball));
/// ```
#[macro_export]
macro_rules! kinds {
    ($type:ident, $name:literal, $about:literal,
     { $($word:literal => $variant:ident($inner:ty), $variant_about:literal;)* }) => {
        impl $crate::Spec for $type {
            fn kind(_: &$crate::Rule) -> $crate::Kind {
                let variants = || {
                    vec![$($crate::Variant {
                        word: $word,
                        about: $variant_about,
                        fields: $crate::fields_of::<$inner>(),
                    }),*]
                };
                $crate::Kind::Choice($crate::Choice { name: $name, about: $about, variants })
            }

            fn to_item(&self) -> $crate::Item {
                let (word, items) = match self {
                    $(Self::$variant(inner) => ($word, $crate::items_of(inner)),)*
                };
                let index = [$($word),*].iter().position(|w| *w == word).unwrap_or(0);
                $crate::Item::Choice(index, items)
            }

            fn from_item(item: $crate::Item) -> Option<Self> {
                let $crate::Item::Choice(index, items) = item else { return None };
                let inner = $crate::Item::Record(items);
                match *[$($word),*].get(index)? {
                    $($word => <$inner as $crate::Spec>::from_item(inner).map(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// Describes an enum of plain words.
///
/// ```
/// use sinew_spec::{ANY, Item, Spec, words};
/// #[derive(Debug, PartialEq)]
/// enum Mean { Arithmetic, Geometric }
/// words!(Mean, { "arithmetic" => Arithmetic, "Half of the sum."; "geometric" => Geometric, "The root of the product."; });
/// assert_eq!(Mean::Geometric.to_item(), Item::Word(1));
/// ```
#[macro_export]
macro_rules! words {
    ($type:ident, { $($word:literal => $variant:ident, $about:literal;)* }) => {
        impl $crate::Spec for $type {
            fn kind(_: &$crate::Rule) -> $crate::Kind {
                $crate::Kind::Words(&[$($crate::Word { word: $word, about: $about }),*])
            }

            fn to_item(&self) -> $crate::Item {
                let word = match self { $(Self::$variant => $word),* };
                $crate::Item::Word([$($word),*].iter().position(|w| *w == word).unwrap_or(0))
            }

            fn from_item(item: $crate::Item) -> Option<Self> {
                let $crate::Item::Word(index) = item else { return None };
                match *[$($word),*].get(index)? {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// The default of a field of a variant.
#[doc(hidden)]
#[macro_export]
macro_rules! default_of {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}
