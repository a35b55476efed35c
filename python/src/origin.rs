//! Where a world came from: a scene with its changes. It makes the scripted motions, and it is what a pickle carries.

use crate::error::{bad, open as refused};
use crate::text::{Notation, change, text_of};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sinew_scene::file::Syntax;
use sinew_scene::open::{OpenError, Opened, open, open_text};
use std::path::Path;

/// A scene that can be opened again, on another process too.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of a built-in scene, or the path or name of a file; relative paths start at its folder.
    pub name: String,
    /// The text, unless it is a built-in scene.
    pub text: Option<String>,
    /// Changes, each as `path=value`.
    pub sets: Vec<String>,
    pub opened: Opened,
}

/// Most bytes of a scene file, as in `docs/scene-files.md`.
const MOST: u64 = 16 << 20;

impl Origin {
    /// Opens a scene from its parts.
    pub fn new(name: String, text: Option<String>, sets: Vec<String>) -> Result<Self, OpenError> {
        let opened = match &text {
            Some(text) => open_text(text, &name, syntax(&name, text), &sets)?,
            None => open(&name, &sets)?,
        };
        Ok(Self { name, text, sets, opened })
    }

    /// With one more change.
    pub fn with(&self, set: String) -> Result<Self, OpenError> {
        let sets = self.sets.iter().cloned().chain([set]).collect();
        Self::new(self.name.clone(), self.text.clone(), sets)
    }

    /// A scene of a name, path, text or table.
    pub fn of(
        scene: &Bound<'_, PyAny>,
        set: Option<&Bound<'_, PyDict>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut sets = Vec::new();
        for (name, value) in parameters.iter().flat_map(|table| table.iter()) {
            let name = name.extract::<String>()?;
            sets.push(change(&format!("parameters.{name}"), &value)?);
        }
        for (path, value) in set.iter().flat_map(|table| table.iter()) {
            let path = path.extract::<String>().map_err(|_| bad("paths of changes are words"))?;
            sets.push(change(&path, &value)?);
        }
        let (name, text) = described(scene)?;
        Self::new(name, text, sets).map_err(refused)
    }
}

/// JSON begins with a brace; a name with the ending of a file decides before that.
fn syntax(name: &str, text: &str) -> Syntax {
    let brace = text.trim_start().starts_with('{');
    Syntax::of(Path::new(name)).unwrap_or(if brace { Syntax::Json } else { Syntax::Toml })
}

/// Name and text of what was given.
fn described(scene: &Bound<'_, PyAny>) -> PyResult<(String, Option<String>)> {
    if scene.hasattr("to_dict")? {
        return described(&scene.call_method0("to_dict")?);
    }
    if scene.is_instance_of::<PyDict>() {
        return Ok(("scene.json".into(), Some(text_of(scene, Notation::Json)?)));
    }
    if let Ok(word) = scene.cast::<PyString>() {
        let word = word.to_cow()?.into_owned();
        // a name has neither lines nor an equals sign; a text has one of them
        if word.contains(['\n', '=', '{']) {
            return Ok(("scene".into(), Some(word)));
        }
        return if is_file(&word) { read(&word) } else { Ok((word, None)) };
    }
    if scene.hasattr("__fspath__")? {
        return read(&scene.call_method0("__fspath__")?.extract::<String>()?);
    }
    let kind = scene.get_type().qualname()?;
    Err(bad(format!("a scene is a name, a path, a text, a table or a Scene, not {kind}")))
}

fn is_file(word: &str) -> bool {
    sinew_scene::gallery::find(word).is_none() && Syntax::of(Path::new(word)).is_some()
}

/// The text goes into pickles: a worker need not have the file.
fn read(path: &str) -> PyResult<(String, Option<String>)> {
    let told = |what: String| crate::error::SceneError::new_err(format!("{path}: {what}"));
    let about = std::fs::metadata(path).map_err(|e| told(e.to_string()))?;
    if !about.is_file() || about.len() > MOST {
        return Err(told("is not a plain file of at most 16 MiB".into()));
    }
    let text = std::fs::read_to_string(path).map_err(|e| told(e.to_string()))?;
    Ok((path.to_owned(), Some(text)))
}
