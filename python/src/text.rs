//! Python values as text of scene files: JSON for a whole scene, TOML for one value of a change.

use crate::error::{SceneError, bad};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::fmt::Write as _;

/// Deepest nesting that is written: a list that contains itself must not overflow the stack.
const DEPTH: usize = 60;

/// The notation.
#[derive(Clone, Copy, PartialEq)]
pub enum Notation {
    Json,
    Toml,
}

/// A value as text.
pub fn text_of(value: &Bound<'_, PyAny>, notation: Notation) -> PyResult<String> {
    let mut out = String::new();
    Writer { out: &mut out, notation }.value(value, 0)?;
    Ok(out)
}

/// A change `path=value`. A plain word stays bare: the command line has it so too.
pub fn change(path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(word) = value.cast::<PyString>() {
        let word = word.to_cow()?;
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        let letter = word.starts_with(|c: char| c.is_ascii_alphabetic());
        if plain && letter && !["true", "false", "inf", "nan"].contains(&word.as_ref()) {
            return Ok(format!("{path}={word}"));
        }
    }
    Ok(format!("{path}={}", text_of(value, Notation::Toml)?))
}

struct Writer<'a> {
    out: &'a mut String,
    notation: Notation,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if depth > DEPTH {
            return Err(SceneError::new_err(format!("a value is nested deeper than {DEPTH}")));
        }
        if value.is_instance_of::<PyBool>() {
            self.out.push_str(if value.is_truthy()? { "true" } else { "false" });
        } else if value.is_instance_of::<PyInt>() {
            self.out.push_str(&value.str()?.to_cow()?);
        } else if value.is_instance_of::<PyFloat>() {
            self.number(value.extract()?);
        } else if let Ok(text) = value.cast::<PyString>() {
            self.quoted(&text.to_cow()?);
        } else if let Ok(table) = value.cast::<PyDict>() {
            self.table(table, depth)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.list(list.iter(), depth)?;
        } else if let Ok(list) = value.cast::<PyTuple>() {
            self.list(list.iter(), depth)?;
        } else if value.hasattr("tolist")? {
            // numbers and arrays of NumPy
            self.value(&value.call_method0("tolist")?, depth + 1)?;
        } else {
            let kind = value.get_type().qualname()?;
            let hint = if value.is_none() { ": leave the key out" } else { "" };
            return Err(bad(format!("a scene has numbers, words, lists and tables, and no {kind}{hint}")));
        }
        Ok(())
    }

    fn number(&mut self, x: f64) {
        match (self.notation, x.is_finite()) {
            (_, true) => _ = write!(self.out, "{x:?}"),
            (Notation::Json, false) => _ = write!(self.out, "\"{x}\""),
            (Notation::Toml, false) => _ = write!(self.out, "{}", x.to_string().to_lowercase()),
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                c if c.is_control() => _ = write!(self.out, "\\u{:04x}", c as u32),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn table(&mut self, table: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
        self.out.push('{');
        for (i, (key, value)) in table.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            let key = key.cast::<PyString>().map_err(|_| bad("keys of a scene are words"))?.to_cow()?.into_owned();
            self.quoted(&key);
            self.out.push(if self.notation == Notation::Json { ':' } else { '=' });
            self.value(&value, depth + 1)?;
        }
        self.out.push('}');
        Ok(())
    }

    fn list<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<()> {
        self.out.push('[');
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.value(&item, depth + 1)?;
        }
        self.out.push(']');
        Ok(())
    }
}
