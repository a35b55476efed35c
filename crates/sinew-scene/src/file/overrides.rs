//! `--set path=value`: changes to a scene before it is read, so that they are validated like the file itself.

use super::form::{Reader, push_key, unknown};
use super::problem::Source;
use super::toml_text;
use super::tree::{Entry, Node, Span, Value, append};
use std::path::PathBuf;

/// Tables whose entries have names: a new name is a mistake.
const NAMED: [&str; 4] = ["bodies", "joints", "motions", "parameters"];

/// A change as a source for messages, distinguished from files by its name.
pub(crate) fn source(set: &str) -> Source {
    Source { name: "--set".to_owned(), folder: PathBuf::new(), text: set.to_owned() }
}

/// Makes one change; `file` is the number of its text among the sources.
pub(crate) fn apply(root: &mut Node, file: u16, reader: &mut Reader<'_>) {
    let Some(text) = reader.sources.get(file as usize).map(|s| s.text.clone()) else { return };
    let whole = Span::new(file, 0, text.len());
    let Some((path, value)) = text.split_once('=') else {
        return reader.problem(whole, "expected PATH=VALUE, as in bodies.ball.mass=2");
    };
    let Some(keys) = split(path.trim()).filter(|keys| !keys.is_empty()) else {
        return reader.problem(whole, "expected a path of keys with dots between them");
    };
    let start = text.len() - value.len() + (value.len() - value.trim_start().len());
    let value = value.trim();
    // a word needs no quotes on a command line
    let node = toml_text::parse_value(value, file, start)
        .unwrap_or_else(|| Node { span: Span::new(file, start, start + value.len()), value: Value::text(value) });
    let at = Span::new(file, 0, path.trim_end().len());
    if let Err((deep, message)) = set(root, &keys, &node, at) {
        let mut path = String::new();
        keys.iter().take(deep + 1).for_each(|k| push_key(&mut path, k));
        reader.problem_at(at, &path, message);
    }
}

/// Keys of a path: `bodies."box 3".position[1]`.
pub(crate) fn split(path: &str) -> Option<Vec<String>> {
    let mut keys = vec![String::new()];
    let mut quoted = false;
    for c in path.chars() {
        match c {
            '"' => quoted = !quoted,
            c if quoted => keys.last_mut()?.push(c),
            '.' | '[' => keys.push(String::new()),
            ']' => {}
            c => keys.last_mut()?.push(c),
        }
    }
    (!quoted && keys.iter().all(|k| !k.is_empty())).then_some(keys)
}

/// Walks down and sets the value. A fault comes with how deep it is.
fn set(root: &mut Node, keys: &[String], value: &Node, at: Span) -> Result<(), (usize, String)> {
    let mut here = root;
    for (deep, key) in keys.iter().enumerate() {
        let named = deep == 1 && NAMED.contains(&keys[0].as_str());
        spread(here, &keys[..deep]);
        here = match &mut here.value {
            Value::List(items) => {
                let count = items.len();
                let item = index(key).and_then(|i| items.get_mut(i));
                item.ok_or_else(|| (deep, format!("expected x, y, z or a number below {count}")))?
            }
            Value::Table(entries) => {
                let i = match entries.iter().position(|e| *e.key == **key) {
                    Some(i) => i,
                    None if named => return Err((deep, unknown_name(&keys[0], key, entries))),
                    None if keys.get(deep + 1).is_some_and(|next| index(next).is_some()) => {
                        return Err((deep, format!("'{key}' is not in the file: set the whole list")));
                    }
                    None => {
                        let node = Node { span: at, value: Value::Table(Box::default()) };
                        append(entries, Entry { key: key.as_str().into(), key_span: at, node });
                        entries.len() - 1
                    }
                };
                &mut entries[i].node
            }
            other => return Err((deep, format!("there is nothing below: '{}' is {}", keys[deep - 1], other.kind()))),
        };
        // a parameter may be a table around its value
        let own = keys.get(deep + 1).is_some_and(|next| ["value", "low", "high", "about"].contains(&next.as_str()));
        if named && keys[0] == "parameters" && !own && here.get("value").is_some() {
            here = here.get_mut("value").ok_or((deep, String::new()))?;
        }
    }
    *here = value.clone();
    Ok(())
}

fn unknown_name(table: &str, key: &str, entries: &[Entry]) -> String {
    let what = if table == "bodies" { "body" } else { table.trim_end_matches('s') };
    let known: Vec<&str> = entries.iter().map(|e| &*e.key).collect();
    unknown(what, key, &known)
}

/// A word or number that stands for a table becomes that table.
fn spread(node: &mut Node, keys: &[String]) {
    let key = match (&node.value, keys.last().map(String::as_str)) {
        (Value::Text(_), Some("material")) => "preset",
        (Value::Text(_), Some(_)) => "kind",
        (Value::Int(_) | Value::Float(_), Some("surface")) => "friction",
        _ => return,
    };
    let (span, value) = (node.span, std::mem::replace(&mut node.value, Value::Nothing));
    let entry = Entry { key: key.into(), key_span: span, node: Node { span, value } };
    node.value = Value::Table([entry].into());
}

fn index(key: &str) -> Option<usize> {
    match key {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        "w" => Some(3),
        digits => digits.parse().ok(),
    }
}
