//! Named numbers of a scene: `[parameters]`, and values that are `"$name"`.

use super::form::{FINITE, Fields, Reader, push_key, unknown};
use super::plain::Wide;
use super::tree::{Node, Span, Value, take};

/// Most values that references may bring in: a list of many that is named often would fill the memory.
const MAX_COPIES: usize = 300_000;

/// A named value that others refer to; with a range it can be a slider.
///
/// ```
/// use sinew_scene::file::{Syntax, read_text};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "[parameters.mass]\nvalue = 2\nlow = 1\nhigh = 3\n\
///             [bodies.b]\nkind = 'dynamic'\nmass = '$mass'\nshape = { kind = 'ball', radius = 0.1 }\n";
/// let scene = read_text(text, "b.toml", Syntax::Toml)?;
/// assert_eq!(scene.parameters()[0].name, "mass");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, without the '$'.
    pub name: String,
    /// Its value, when that is a number.
    pub value: Option<f64>,
    /// Least value that makes sense.
    pub low: Option<f64>,
    /// Largest value that makes sense.
    pub high: Option<f64>,
    /// What it is.
    pub about: String,
}

/// Takes the parameters out of a tree and puts their values where they are named.
pub(crate) fn resolve(root: &mut Node, reader: &mut Reader<'_>) -> Vec<Parameter> {
    let Value::Table(entries) = &mut root.value else { return Vec::new() };
    let given = take(entries, "parameters").map(|e| e.node);
    let (mut known, mut values) = (Vec::new(), Vec::new());
    if let Some(table) = given {
        reader.within("parameters", |r| read_all(&table, r, &mut known, &mut values));
    }
    let mut walk = Walk { known: &known, values: &values, copies: 0 };
    let mut path = String::new();
    walk.node(root, &mut path, reader);
    known
}

fn read_all(table: &Node, reader: &mut Reader<'_>, known: &mut Vec<Parameter>, values: &mut Vec<Node>) {
    let Value::Table(entries) = &table.value else {
        let _: Option<()> = reader.unexpected(table, "a table of names and values");
        return;
    };
    for entry in entries {
        let read = reader.within(&entry.key, |r| match &entry.node.value {
            Value::Table(inner) => {
                let value = entry.node.get("value").cloned();
                if value.is_none() {
                    r.problem(entry.node.span, "missing key 'value': expected its value");
                }
                let details = r.fields(inner, entry.node.span, &["value"], |f| Some(details(f)));
                value.zip(details)
            }
            _ => Some((entry.node.clone(), (None, None, String::new()))),
        });
        let Some((node, (low, high, about))) = read else { continue };
        if matches!(&node.value, Value::Text(text) if text.starts_with('$')) {
            reader.within(&entry.key, |r| r.problem(node.span, "a parameter cannot name another parameter"));
            continue;
        }
        let value = match node.value {
            Value::Int(i) => Some(i as f64),
            Value::Float(x) => Some(x),
            _ => None,
        };
        known.push(Parameter { name: entry.key.to_string(), value, low, high, about });
        values.push(node);
    }
}

type Details = (Option<f64>, Option<f64>, String);

fn details(fields: &mut Fields<'_, '_, '_>) -> Details {
    let low = fields.optional::<Wide>("low", &FINITE).map(|w| w.0);
    let high = fields.optional::<Wide>("high", &FINITE).map(|w| w.0);
    (low, high, fields.optional::<String>("about", &FINITE).unwrap_or_default())
}

struct Walk<'a> {
    known: &'a [Parameter],
    values: &'a [Node],
    copies: usize,
}

impl Walk<'_> {
    fn node(&mut self, node: &mut Node, path: &mut String, reader: &mut Reader<'_>) {
        let length = path.len();
        match &mut node.value {
            Value::Text(text) if text.starts_with('$') => {
                let name = &text[1..];
                match self.known.iter().position(|p| p.name == name) {
                    Some(_) if self.copies > MAX_COPIES => {
                        reader.problem_at(node.span, path, "parameters bring in too many values");
                        node.value = Value::Reported;
                    }
                    Some(i) => {
                        let mut value = self.values[i].clone();
                        self.copies += place(&mut value, node.span);
                        *node = value;
                    }
                    None => {
                        let names: Vec<&str> = self.known.iter().map(|p| p.name.as_str()).collect();
                        let message = unknown("parameter", name, &names);
                        reader.problem_at(node.span, path, message);
                        node.value = Value::Reported;
                    }
                }
            }
            Value::Table(entries) => {
                for entry in entries {
                    push_key(path, &entry.key);
                    self.node(&mut entry.node, path, reader);
                    path.truncate(length);
                }
            }
            Value::List(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    // numbers are by far the most, and cannot name anything
                    if matches!(item.value, Value::Text(_) | Value::List(_) | Value::Table(_)) {
                        path.push_str(&format!("[{i}]"));
                        self.node(item, path, reader);
                        path.truncate(length);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Gives a copied value the place where it is named; counts its parts.
fn place(node: &mut Node, span: Span) -> usize {
    node.span = span;
    1 + match &mut node.value {
        Value::List(items) => items.iter_mut().map(|n| place(n, span)).sum(),
        Value::Table(entries) => entries.iter_mut().map(|e| place(&mut e.node, span)).sum(),
        _ => 0,
    }
}
