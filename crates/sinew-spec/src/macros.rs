//! Tables that implement [`Spec`](crate::Spec).

/// Describes a struct: each field with its range and a sentence. The expression is the value whose fields are the
/// defaults; fields in `needs`, and those marked `[required]`, have none.
///
/// `field as key` has another name in files, `field via Type` is described by another type ([`Via`](crate::Via)), and a
/// field marked `[flat]` has its keys in the table of the struct.
///
/// An example is at [the crate](crate).
#[macro_export]
macro_rules! record {
    ($type:ident, $name:literal, $about:literal, $base:expr,
     $(needs { $($need:ident: $need_rule:expr, $need_about:literal;)* },)?
     { $($field:ident $(as $key:ident)? $(via $via:ty)? $([$($mark:ident),*])?: $rule:expr, $field_about:literal;)* }) => {
        impl $crate::Spec for $type {
            fn kind(_: &$crate::Rule) -> $crate::Kind {
                fn fields() -> &'static [$crate::Field] {
                    static FIELDS: std::sync::OnceLock<Vec<$crate::Field>> = std::sync::OnceLock::new();
                    FIELDS.get_or_init(|| {
                        let base: $type = $base;
                        let _ = &base;
                        vec![
                            $($($crate::field(
                                (stringify!($need), $need_about),
                                &$need_rule,
                                &["required"],
                                Some($crate::through!(base.$need)),
                            ),)*)?
                            $($crate::field(
                                ($crate::key_of!($field $($key)?), $field_about),
                                &$rule,
                                &[$($(stringify!($mark)),*)?],
                                Some($crate::through!(base.$field $(, $via)?)),
                            ),)*
                        ]
                    })
                }
                $crate::Kind::Record($crate::Record { name: $name, about: $about, fields })
            }

            fn put(&self, to: &mut dyn $crate::Sink) {
                // all fields: a new one is a compile error here
                let $type { $($($need,)*)? $($field,)* } = self;
                $($($crate::put!(to, $need);)*)?
                $($crate::put!(to, $field $(, $via)?);)*
            }

            fn take(from: &mut dyn $crate::Source) -> Option<Self> {
                Some(Self {
                    $($($need: $crate::Spec::take(from)?,)*)?
                    $($field: $crate::take!(from $(, $via)?),)*
                })
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
         { $($member:tt $key:ident: $inner:ty $(as $via:ty)? $([$($mark:ident),*])?, $rule:expr $(=> $default:expr)?,
             $key_about:literal;)* };)* }) => {
        impl $crate::Spec for $type {
            fn kind(_: &$crate::Rule) -> $crate::Kind {
                fn variants() -> &'static [$crate::Variant] {
                    static VARIANTS: std::sync::OnceLock<Vec<$crate::Variant>> = std::sync::OnceLock::new();
                    VARIANTS.get_or_init(|| vec![$($crate::Variant {
                        word: $word,
                        about: $variant_about,
                        fields: vec![$($crate::field::<$crate::described_as!($inner $(, $via)?)>(
                            (stringify!($key), $key_about),
                            &$rule,
                            &[$($(stringify!($mark)),*)?],
                            $crate::default_of!($($default)?),
                        )),*],
                    }),*])
                }
                $crate::Kind::Choice($crate::Choice { name: $name, about: $about, variants })
            }

            fn put(&self, to: &mut dyn $crate::Sink) {
                if to.own(self) {
                    return;
                }
                let index = |word: &str| [$($word),*].iter().position(|w| *w == word).unwrap_or(0);
                match self {
                    $(Self::$variant { $($member: $key),* } => {
                        to.index(index($word));
                        $($crate::put!(to, $key $(, $via)?);)*
                    })*
                }
            }

            fn take(from: &mut dyn $crate::Source) -> Option<Self> {
                if let Some(own) = from.own(std::any::TypeId::of::<Self>()) {
                    return own?.downcast().ok().map(|own| *own);
                }
                match *[$($word),*].get(from.index()?)? {
                    $($word => Some(Self::$variant { $($member: $crate::take!(from $(, $via)?)),* }),)*
                    _ => None,
                }
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
                fn variants() -> &'static [$crate::Variant] {
                    static VARIANTS: std::sync::OnceLock<Vec<$crate::Variant>> = std::sync::OnceLock::new();
                    VARIANTS.get_or_init(|| vec![$($crate::Variant {
                        word: $word,
                        about: $variant_about,
                        fields: $crate::fields_of::<$inner>(),
                    }),*])
                }
                $crate::Kind::Choice($crate::Choice { name: $name, about: $about, variants })
            }

            fn put(&self, to: &mut dyn $crate::Sink) {
                let index = |word: &str| [$($word),*].iter().position(|w| *w == word).unwrap_or(0);
                match self {
                    $(Self::$variant(inner) => {
                        to.index(index($word));
                        $crate::Spec::put(inner, to);
                    })*
                }
            }

            fn take(from: &mut dyn $crate::Source) -> Option<Self> {
                match *[$($word),*].get(from.index()?)? {
                    $($word => <$inner as $crate::Spec>::take(from).map(Self::$variant),)*
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

            fn put(&self, to: &mut dyn $crate::Sink) {
                let word = match self { $(Self::$variant => $word),* };
                to.index([$($word),*].iter().position(|w| *w == word).unwrap_or(0));
            }

            fn take(from: &mut dyn $crate::Source) -> Option<Self> {
                match *[$($word),*].get(from.index()?)? {
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

/// The name of a field in a file.
#[doc(hidden)]
#[macro_export]
macro_rules! key_of {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:ident) => {
        stringify!($key)
    };
}

/// The type that describes a field.
#[doc(hidden)]
#[macro_export]
macro_rules! described_as {
    ($type:ty) => {
        $type
    };
    ($type:ty, $via:ty) => {
        $via
    };
}

/// Writes a field, in its described form if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! put {
    ($to:ident, $value:expr) => {
        $crate::Spec::put($value, $to)
    };
    ($to:ident, $value:expr, $via:ty) => {
        $crate::Spec::put(&<$via as $crate::Via<_>>::of($value), $to)
    };
}

/// Reads a field, from its described form if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! take {
    ($from:ident) => {
        $crate::Spec::take($from)?
    };
    ($from:ident, $via:ty) => {
        $crate::Via::back(<$via as $crate::Spec>::take($from)?)
    };
}

/// The described form of a default.
#[doc(hidden)]
#[macro_export]
macro_rules! through {
    ($value:expr) => {
        $value
    };
    ($value:expr, $via:ty) => {
        <$via as $crate::Via<_>>::of(&$value)
    };
}
