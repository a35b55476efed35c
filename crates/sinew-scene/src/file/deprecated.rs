//! Words of the previous version. They are read with a warning that names the present word.
//!
//! [`RENAMED`] is the only list. It is applied to the tree of every file before trees are merged, so that a present word
//! in one file overrides an old one in a file it includes; to the paths and values of `--set`; and to the complete tree
//! once more, for values that parameters and changes inserted.

use super::form::push_key;
use super::overrides::{self, split};
use super::problem::{Problem, Problems, Source};
use super::tree::{Node, Span, Value, take};
use std::collections::BTreeMap;

/// A step of a path that stands for every entry of a table and every item of a list.
const EACH: &str = "*";

/// One renamed word.
struct Renamed {
    /// Of a key: the path of its table. Of a word: the path of the value that is this word, or has it as its `kind`.
    path: &'static [&'static str],
    is_key: bool,
    old: &'static str,
    new: &'static str,
}

const fn key(path: &'static [&'static str], old: &'static str, new: &'static str) -> Renamed {
    Renamed { path, is_key: true, old, new }
}

const fn word(path: &'static [&'static str], old: &'static str, new: &'static str) -> Renamed {
    Renamed { path, is_key: false, old, new }
}

const COLUMN: &[&str] = &["state", "columns", EACH, "name"];

/// Renamed in 0.1; to be removed in the version after it.
const RENAMED: [Renamed; 11] = [
    key(&["settings"], "guaranteed", "intersection_free"),
    key(&["settings"], "put_back", "stop_at_impact"),
    key(&["bodies", EACH, "model"], "brace", "skip_stiffness"),
    key(&["bodies", EACH, "skin"], "inflate", "offset"),
    word(&["settings", "order"], "joint", "interleaved"),
    word(&["joints", EACH], "strands", "distance_set"),
    word(COLUMN, "x_rest", "x_remainder"),
    word(COLUMN, "v_rest", "v_remainder"),
    word(COLUMN, "quiet", "sleep_timer"),
    word(COLUMN, "inner", "internal_state"),
    word(COLUMN, "grips", "cloth_contacts"),
];

/// A deprecated word at its place.
pub(crate) struct Finding<'a> {
    pub span: Span,
    pub path: &'a str,
    pub message: String,
    /// Both words are given.
    pub is_error: bool,
}

impl Finding<'_> {
    /// Adds it to the errors or to the warnings of a reader.
    pub fn add_to(self, sources: &[Source], errors: &mut Problems, warnings: &mut Problems) {
        let to = if self.is_error { errors } else { warnings };
        if to.is_full() {
            to.count();
        } else {
            to.push(Problem::new(sources, self.span, self.path, self.message));
        }
    }
}

impl Renamed {
    fn warning(&self) -> String {
        format!("'{}' is now '{}'; the old word is read in this version only", self.old, self.new)
    }

    fn conflict(&self) -> String {
        format!("'{}' is now '{}', and both are given: remove '{0}'", self.old, self.new)
    }

    /// True when keys lead to the table of the key, or to the value of the word.
    fn is_at(&self, keys: &[String]) -> bool {
        self.path.len() == keys.len() && self.path.iter().zip(keys).all(|(step, key)| *step == EACH || step == key)
    }

    fn apply(&self, node: &mut Node, path: &str, report: &mut dyn FnMut(Finding<'_>)) {
        if self.is_key { self.apply_key(node, path, report) } else { self.apply_word(node, path, report) }
    }

    fn apply_key(&self, table: &mut Node, path: &str, report: &mut dyn FnMut(Finding<'_>)) {
        let is_error = table.get(self.new).is_some();
        let Value::Table(entries) = &mut table.value else { return };
        let Some(entry) = entries.iter_mut().find(|e| *e.key == *self.old) else { return };
        let mut path = path.to_owned();
        push_key(&mut path, self.old);
        let span = entry.key_span;
        let message = if is_error {
            take(entries, self.old);
            self.conflict()
        } else {
            entry.key = self.new.into();
            self.warning()
        };
        report(Finding { span, path: &path, message, is_error });
    }

    fn apply_word(&self, node: &mut Node, path: &str, report: &mut dyn FnMut(Finding<'_>)) {
        let mut path = path.to_owned();
        let node = match node.value {
            Value::Table(_) => {
                let Some(kind) = node.get_mut("kind") else { return };
                push_key(&mut path, "kind");
                kind
            }
            _ => node,
        };
        if matches!(&node.value, Value::Text(text) if **text == *self.old) {
            node.value = Value::text(self.new);
            report(Finding { span: node.span, path: &path, message: self.warning(), is_error: false });
        }
    }
}

/// Replaces the deprecated words of a tree.
pub(crate) fn rename(root: &mut Node, report: &mut dyn FnMut(Finding<'_>)) {
    for renamed in &RENAMED {
        walk(root, renamed.path, &mut String::new(), &mut |node, path| renamed.apply(node, path, report));
    }
}

fn walk(node: &mut Node, steps: &[&str], path: &mut String, visit: &mut dyn FnMut(&mut Node, &str)) {
    let Some((step, rest)) = steps.split_first() else { return visit(node, path) };
    let length = path.len();
    match &mut node.value {
        Value::Table(entries) => {
            for entry in entries.iter_mut().filter(|e| *step == EACH || *e.key == **step) {
                push_key(path, &entry.key);
                walk(&mut entry.node, rest, path, visit);
                path.truncate(length);
            }
        }
        Value::List(items) if *step == EACH => {
            for (i, item) in items.iter_mut().enumerate() {
                path.push_str(&format!("[{i}]"));
                walk(item, rest, path, visit);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// Changes of a command line, each as `path=value`, with the present words, and the warnings about old ones.
///
/// # Errors
/// An old word and the present one are both given.
///
/// ```
/// use sinew_scene::file::current_sets;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (sets, warnings) = current_sets(&["settings.guaranteed=true".to_owned()])?;
/// assert_eq!(sets, ["settings.intersection_free=true"]);
/// assert!(warnings.to_string().contains("'guaranteed' is now 'intersection_free'"));
/// # Ok(()) }
/// ```
pub fn current_sets(sets: &[String]) -> Result<(Vec<String>, Problems), Problems> {
    let (mut current, mut warnings, mut errors) = (Vec::new(), Problems::default(), Problems::default());
    // by present path: whether the old word was given
    let mut given: BTreeMap<String, bool> = BTreeMap::new();
    for set in sets {
        let Some(parts) = Parts::of(set) else {
            current.push(set.clone());
            continue;
        };
        if let Some(table) = parts.short_form() {
            let message = "this short form is read in this version only";
            warnings.push(parts.problem(set, parts.value_span(), format!("{message}; write {table}")));
            current.push(table);
            continue;
        }
        let renamed = parts.renamed_key();
        let keys = parts.present_keys(renamed);
        let mut path = String::new();
        keys.iter().for_each(|k| push_key(&mut path, k));
        let conflict = given.insert(path.clone(), renamed.is_some()).is_some_and(|old| old != renamed.is_some());
        if let Some(r) = renamed.or_else(|| parts.key_now(&keys)).filter(|_| conflict) {
            errors.push(parts.problem(set, parts.path_span(r), r.conflict()));
        }
        let value = RENAMED.iter().find(|r| !r.is_key && parts.has_word(&keys, r));
        if let Some(r) = renamed {
            warnings.push(parts.problem(set, parts.path_span(r), r.warning()));
        }
        if let Some(r) = value {
            warnings.push(parts.problem(set, parts.value_span(), r.warning()));
        }
        current.push(match (renamed, value) {
            (None, None) => set.clone(),
            (Some(_), None) => format!("{path}={}", parts.value),
            (_, Some(r)) => format!("{path}={}", r.new),
        });
    }
    if errors.is_empty() { Ok((current, warnings)) } else { Err(errors) }
}

/// A change in its parts.
struct Parts<'a> {
    path: &'a str,
    keys: Vec<String>,
    value: &'a str,
    /// First byte of the value.
    start: usize,
}

impl<'a> Parts<'a> {
    fn of(set: &'a str) -> Option<Self> {
        let (path, value) = set.split_once('=')?;
        let keys = split(path.trim())?;
        let start = set.len() - value.trim_start().len();
        Some(Self { path, keys, value: value.trim(), start })
    }

    /// A value of several numbers in the form of the previous version, as the table of a scene file.
    fn short_form(&self) -> Option<String> {
        let [settings, key, rest @ ..] = &self.keys[..] else { return None };
        let is_row = ["contact", "joint", "friction"].contains(&key.as_str());
        if settings != "settings" {
            return None;
        }
        if let ([last], true) = (rest, is_row) {
            let table = format!("{{ kind = \"baumgarte\", share = {} }}", self.value);
            return (last == "baumgarte").then(|| format!("settings.{key}={table}"));
        }
        let (word, numbers) = self.value.split_once(':')?;
        let numbers: Vec<&str> = numbers.split(',').map(str::trim).collect();
        let table = match (key.as_str(), word, &numbers[..]) {
            ("order", "staggered", [rigid, deformable]) => {
                format!("{{ kind = \"staggered\", rigid = {rigid}, deformable = {deformable} }}")
            }
            ("contact_method", "quadratic", [k]) => penalty(&format!("\"quadratic\", stiffness = {k}")),
            ("contact_method", "buffered", [k, buffer]) => {
                penalty(&format!("\"buffered\", stiffness = {k}, buffer = {buffer}"))
            }
            ("contact_method", "barrier", [strength, buffer]) => {
                penalty(&format!("\"barrier\", strength = {strength}, buffer = {buffer}"))
            }
            _ => return None,
        };
        rest.is_empty().then(|| format!("settings.{key}={table}"))
    }

    fn renamed_key(&self) -> Option<&'static Renamed> {
        let (last, table) = self.keys.split_last()?;
        RENAMED.iter().find(|r| r.is_key && r.old == last && r.is_at(table))
    }

    /// The entry whose present key this is.
    fn key_now(&self, keys: &[String]) -> Option<&'static Renamed> {
        let (last, table) = keys.split_last()?;
        RENAMED.iter().find(|r| r.is_key && r.new == last && r.is_at(table))
    }

    fn present_keys(&self, renamed: Option<&Renamed>) -> Vec<String> {
        let mut keys = self.keys.clone();
        if let (Some(last), Some(r)) = (keys.last_mut(), renamed) {
            r.new.clone_into(last);
        }
        keys
    }

    fn has_word(&self, keys: &[String], renamed: &Renamed) -> bool {
        let table = keys.split_last().filter(|(last, _)| *last == "kind").map(|(_, table)| table);
        let bare = self.value.trim_matches(['"', '\'']);
        bare == renamed.old && (renamed.is_at(keys) || table.is_some_and(|t| renamed.is_at(t)))
    }

    fn path_span(&self, renamed: &Renamed) -> Span {
        let (at, length) = match self.path.rfind(renamed.old) {
            Some(at) => (at, renamed.old.len()),
            None => (self.path.rfind(renamed.new).unwrap_or(0), renamed.new.len()),
        };
        Span::new(0, at, at + length)
    }

    fn value_span(&self) -> Span {
        Span::new(0, self.start, self.start + self.value.len())
    }

    fn problem(&self, set: &str, span: Span, message: String) -> Problem {
        let mut path = String::new();
        self.keys.iter().for_each(|k| push_key(&mut path, k));
        Problem::new(&[overrides::source(set)], span, &path, message)
    }
}

fn penalty(law: &str) -> String {
    format!("{{ kind = \"penalty\", law = {{ kind = {law} }} }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(given: &[&str]) -> Result<(Vec<String>, String), String> {
        let given: Vec<String> = given.iter().map(|s| (*s).to_owned()).collect();
        current_sets(&given).map(|(sets, w)| (sets, w.to_string())).map_err(|e| e.to_string())
    }

    #[test]
    fn old_words_of_a_command_line_become_the_present_ones() -> Result<(), String> {
        let (now, warnings) =
            sets(&["settings.order = \"joint\"", "bodies.\"a b\".model.brace=3", "joints.j.kind=strands"])?;
        assert_eq!(
            now,
            ["settings.order=interleaved", "bodies.\"a b\".model.skip_stiffness=3", "joints.j.kind=distance_set"]
        );
        let expected = "--set:1:18: settings.order: 'joint' is now 'interleaved'; the old word is read in this version only\n\
            --set:1:20: bodies.\"a b\".model.brace: 'brace' is now 'skip_stiffness'; the old word is read in this version only\n\
            --set:1:15: joints.j.kind: 'strands' is now 'distance_set'; the old word is read in this version only";
        assert_eq!(warnings, expected);
        Ok(())
    }

    #[test]
    fn other_changes_stay_as_they_are() -> Result<(), String> {
        let given =
            ["settings.order=staggered:2", "bodies.guaranteed.mass=2", "no value", "a..b=1", "joints.joint.kind=ball"];
        let (now, warnings) = sets(&given)?;
        assert_eq!((now, warnings.as_str()), (given.map(str::to_owned).to_vec(), ""));
        Ok(())
    }

    #[test]
    fn both_words_on_a_command_line_are_an_error_that_names_both() {
        for given in [
            ["settings.put_back=true", "settings.stop_at_impact=false"],
            ["settings.stop_at_impact=true", "settings.put_back=false"],
        ] {
            let error = sets(&given).expect_err("refused");
            assert!(error.contains("'put_back' is now 'stop_at_impact', and both are given"), "{error}");
        }
    }

    #[test]
    fn no_present_word_is_deprecated_at_the_same_path() {
        for (i, a) in RENAMED.iter().enumerate() {
            for b in &RENAMED[i + 1..] {
                assert!(
                    a.path != b.path || (a.old != b.old && a.new != b.old && a.old != b.new),
                    "{} {}",
                    a.old,
                    b.old
                );
            }
        }
    }
}
