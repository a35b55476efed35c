//! Numbers, words, vectors, lists: the values that all tables are made of.

use super::form::{Form, Reader, Rule};
use super::schema::Schemas;
use super::tree::{Node, Span, Value};
use crate::validate::tools::{num, real as narrow};
use sinew::{Quat, Real, Vec3};

/// A number for a file: the shortest that is the same bits again.
pub(crate) fn float(x: Real) -> Value {
    let short = format!("{x:?}").parse().unwrap_or(num(x));
    Value::Float(if narrow(short) == x { short } else { num(x) })
}

/// A number that may also stand as the text "inf": JSON has no other way.
fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Int(i) => Some(*i as f64),
        Value::Float(x) => Some(*x),
        Value::Text(text) => match &**text {
            "inf" | "+inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn number_schema(kind: &str, rule: &Rule) -> Value {
    let bound = |x: f64, open: bool, wanted: bool| match x.is_finite() && open == wanted {
        true if x.fract() == 0.0 && x.abs() < 1e15 => Value::Int(x as i64),
        true => Value::Float(x),
        false => Value::Nothing,
    };
    Value::table([
        ("type", Value::text(kind)),
        ("minimum", bound(rule.low, rule.open_low, false)),
        ("exclusiveMinimum", bound(rule.low, rule.open_low, true)),
        ("maximum", bound(rule.high, rule.open_high, false)),
        ("exclusiveMaximum", bound(rule.high, rule.open_high, true)),
    ])
}

impl Form for Real {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(wide) = number(node) else { return reader.unexpected(node, &Self::wants(rule)) };
        let x = narrow(wide);
        if wide.is_finite() && !x.is_finite() {
            reader.problem(node.span, format!("{wide:e} is too large for the numbers of this build"));
            return None;
        }
        // what is left after rounding counts, of the bounds too: 1e-60 is 0 here, and 1e-9 no less than the bound 1e-9
        let [low, high] = [rule.low, rule.high].map(|bound| num(narrow(bound)));
        if !(Rule { low, high, ..*rule }).allows(num(x)) {
            return reader.unexpected(node, &Self::wants(rule));
        }
        Some(x)
    }

    fn write(&self) -> Value {
        float(*self)
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        let schema = number_schema("number", rule);
        let infinite = Value::table([("const", Value::text("inf"))]);
        let schema = if rule.infinite { Value::table([("anyOf", Value::list([schema, infinite]))]) } else { schema };
        schemas.or_parameter(schema)
    }

    fn wants(rule: &Rule) -> String {
        rule.describe("a number")
    }
}

/// Whole numbers.
macro_rules! whole {
    ($type:ident) => {
        impl Form for $type {
            fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
                let made = match node.value {
                    Value::Int(i) if rule.allows(i as f64) => $type::try_from(i).ok(),
                    _ => None,
                };
                if made.is_none() { reader.unexpected(node, &Self::wants(rule)) } else { made }
            }

            fn write(&self) -> Value {
                Value::Int(i64::from(*self))
            }

            fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
                let rule =
                    Rule { low: rule.low.max($type::MIN as f64), high: rule.high.min($type::MAX as f64), ..*rule };
                schemas.or_parameter(number_schema("integer", &rule))
            }

            fn wants(rule: &Rule) -> String {
                let rule = Rule { low: rule.low.max($type::MIN as f64), ..*rule };
                rule.describe("a whole number")
            }
        }
    };
}

whole!(u32);
whole!(i32);
whole!(i64);

impl Form for bool {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        match node.value {
            Value::Bool(yes) => Some(yes),
            _ => reader.unexpected(node, &Self::wants(rule)),
        }
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }

    fn schema(_: &Rule, schemas: &mut Schemas) -> Value {
        schemas.or_parameter(Value::table([("type", Value::text("boolean"))]))
    }

    fn wants(_: &Rule) -> String {
        "true or false".to_owned()
    }
}

impl Form for String {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.to_string()),
            _ => reader.unexpected(node, &Self::wants(rule)),
        }
    }

    fn write(&self) -> Value {
        Value::text(self.clone())
    }

    fn schema(_: &Rule, _: &mut Schemas) -> Value {
        Value::table([("type", Value::text("string"))])
    }

    fn wants(_: &Rule) -> String {
        "text".to_owned()
    }
}

/// A reference by name to another entry of the file, with its position; resolved after everything is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
    pub path: String,
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

impl Form for Name {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, rule, reader)?;
        Some(Self { text, span: node.span, path: reader.path().to_owned() })
    }

    fn write(&self) -> Value {
        Value::text(self.text.clone())
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        String::schema(rule, schemas)
    }

    fn wants(_: &Rule) -> String {
        "a name".to_owned()
    }
}

impl<T: Form> Form for Option<T> {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(node, rule, reader).map(Some)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Form::write)
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        T::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        T::wants(rule)
    }
}

impl<T: Form> Form for Box<T> {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(node, rule, reader).map(Box::new)
    }

    fn write(&self) -> Value {
        T::write(self)
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        T::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        T::wants(rule)
    }
}

pub(crate) fn list_schema(items: Value, least: usize, most: Option<usize>) -> Value {
    let count = |n: usize| if n == 0 { Value::Nothing } else { Value::Int(n as i64) };
    Value::table([
        ("type", Value::text("array")),
        ("items", items),
        ("minItems", count(least)),
        ("maxItems", most.map_or(Value::Nothing, count)),
    ])
}

fn read_items<T: Form>(items: &[Node], rule: &Rule, reader: &mut Reader<'_>) -> Option<Vec<T>> {
    let mut read = Vec::with_capacity(items.len());
    // all of them, so that all errors are reported
    for (i, item) in items.iter().enumerate() {
        read.extend(reader.at_index(i, |r| T::read(item, rule, r)));
    }
    (read.len() == items.len()).then_some(read)
}

impl<T: Form> Form for Vec<T> {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::List(items) => read_items(items, rule, reader),
            _ => reader.unexpected(node, &Self::wants(rule)),
        }
    }

    fn write(&self) -> Value {
        Value::list(self.iter().map(Form::write))
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        let items = T::schema(rule, schemas);
        schemas.or_parameter(list_schema(items, 0, None))
    }

    fn wants(_: &Rule) -> String {
        "a list".to_owned()
    }
}

impl<T: Form, const N: usize> Form for [T; N] {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::List(items) if items.len() == N => read_items(items, rule, reader)?.try_into().ok(),
            _ => reader.unexpected(node, &Self::wants(rule)),
        }
    }

    fn write(&self) -> Value {
        Value::list(self.iter().map(Form::write))
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        let items = T::schema(rule, schemas);
        schemas.or_parameter(list_schema(items, N, Some(N)))
    }

    fn wants(rule: &Rule) -> String {
        let item = T::wants(rule);
        let item = item.strip_prefix("a ").unwrap_or(&item);
        format!("a list of {N}, each a {item}")
    }
}

impl Form for Vec3 {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        <[Real; 3]>::read(node, rule, reader).map(Vec3::from_array)
    }

    fn write(&self) -> Value {
        self.to_array().write()
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        <[Real; 3]>::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        <[Real; 3]>::wants(rule)
    }
}

/// How far the length of a quaternion may be from 1.
const UNIT_TOLERANCE: f64 = 1e-3;

/// A turn: `{ axis = [0, 0, 1], degrees = 30 }`, the same in radians, or a quaternion `[x, y, z, w]`.
impl Form for Quat {
    fn read(node: &Node, _: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        use super::form::FINITE;
        let Value::Table(entries) = &node.value else {
            let Value::List(_) = &node.value else { return reader.unexpected(node, &Self::wants(&FINITE)) };
            let q = Quat::from_array(<[Real; 4]>::read(node, &FINITE, reader)?);
            let length = num(q.length());
            if (length - 1.0).abs() > UNIT_TOLERANCE {
                let message = format!("expected a quaternion [x, y, z, w] of length 1, its length is {length:.4}");
                reader.problem(node.span, message);
                return None;
            }
            return Some(q);
        };
        reader.fields(entries, node.span, &[], |fields| {
            let axis: Option<Vec3> = fields.given("axis", &FINITE, None);
            let degrees: Option<f64> = fields.optional::<Wide>("degrees", &FINITE).map(|d| d.0.to_radians());
            let radians: Option<f64> = fields.optional::<Wide>("radians", &FINITE).map(|r| r.0);
            if degrees.is_some() == radians.is_some() {
                fields.problem("axis", "a turn takes either 'degrees' or 'radians'");
            }
            let Some(axis) = axis?.try_normalize() else {
                fields.problem("axis", "this axis has no direction");
                return None;
            };
            let [x, y, z, w] = Quat::from_axis_angle(axis, narrow(degrees.or(radians)?)).to_array();
            // no negative zeros: they are other bits than those of a turn made in Rust about one axis
            Some(Quat::from_xyzw(x + 0.0, y + 0.0, z + 0.0, w))
        })
    }

    fn write(&self) -> Value {
        self.to_array().write()
    }

    fn schema(_: &Rule, schemas: &mut Schemas) -> Value {
        use super::form::FINITE;
        schemas.define("turn", |schemas| {
            let list = <[Real; 4]>::schema(&FINITE, schemas);
            let (axis, angle) = (Vec3::schema(&FINITE, schemas), Real::schema(&FINITE, schemas));
            let properties = Value::table([("axis", axis), ("degrees", angle.clone()), ("radians", angle)]);
            let table = Value::table([
                ("type", Value::text("object")),
                ("properties", properties),
                ("required", Value::list([Value::text("axis")])),
                ("additionalProperties", Value::Bool(false)),
            ]);
            let about = "A turn about an axis by degrees or radians, or a quaternion [x, y, z, w].";
            Value::table([("description", Value::text(about)), ("anyOf", Value::list([list, table]))])
        })
    }

    fn wants(_: &Rule) -> String {
        "a turn: { axis = [x, y, z], degrees = .. } or a quaternion [x, y, z, w]".to_owned()
    }
}

/// A number in f64 whatever the build: times, angles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wide(pub f64);

impl Form for Wide {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        match number(node).filter(|x| rule.allows(*x)) {
            Some(x) => Some(Wide(x)),
            None => reader.unexpected(node, &Self::wants(rule)),
        }
    }

    fn write(&self) -> Value {
        Value::Float(self.0)
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        Real::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        Real::wants(rule)
    }
}
