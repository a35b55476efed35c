//! Includes: all texts of a scene, merged into one tree.

use super::deprecated;
use super::form::Reader;
use super::problem::{Problem, Problems, Source};
use super::tree::{Entry, Node, Span, Value, take};
use super::{json_text, toml_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest scene file [bytes], and all of a scene together.
const MAX_BYTES: u64 = 16 << 20;
const MAX_TOTAL: usize = 64 << 20;
/// Most files of a scene, and how deep they may include each other.
const MAX_FILES: usize = 64;
const MAX_DEPTH: usize = 8;

/// Syntax of a text.
///
/// An example is at [`file::SceneFile`](crate::file::SceneFile).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// TOML 1.0.
    Toml,
    /// JSON, RFC 8259.
    Json,
}

impl Syntax {
    /// From the extension of a file name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// All texts read so far, and their errors.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    pub sources: Vec<Source>,
    pub problems: Problems,
    /// Deprecated words; no errors.
    pub warnings: Problems,
    /// Canonical paths of all files read so far.
    pub files: Vec<PathBuf>,
    /// Files being read, from the outermost to the innermost.
    open: Vec<PathBuf>,
}

impl Loader {
    /// Reads a file with its includes. `at` is the position of the include.
    pub fn file(&mut self, path: &Path, at: Option<Span>) -> Option<Node> {
        match self.text_of(path) {
            Ok((whole, syntax, text)) => {
                let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
                self.files.push(whole.clone());
                self.open.push(whole);
                let source = Source { name: path.display().to_string(), folder, text };
                let tree = self.source(source, syntax);
                self.open.pop();
                tree
            }
            Err(reason) => {
                match at {
                    Some(span) => self.fault(span, "include", reason),
                    None => {
                        let name = path.display().to_string();
                        self.sources.push(Source { name, folder: PathBuf::new(), text: String::new() });
                        let file = (self.sources.len() - 1) as u16;
                        self.fault(Span::new(file, 0, 0), "", reason);
                    }
                }
                None
            }
        }
    }

    fn text_of(&self, path: &Path) -> Result<(PathBuf, Syntax, String), String> {
        let shown = path.display();
        let syntax =
            Syntax::of(path).ok_or_else(|| format!("'{shown}' is not a scene: expected a .toml or .json file"))?;
        let facts = std::fs::metadata(path).map_err(|e| format!("'{shown}' {}", io_reason(&e)))?;
        if !facts.is_file() {
            return Err(format!("'{shown}' is not a plain file"));
        }
        let total: usize = self.sources.iter().map(|s| s.text.len()).sum();
        if facts.len() > MAX_BYTES || total + facts.len() as usize > MAX_TOTAL {
            return Err(format!("'{shown}' is too large: at most {} MiB", MAX_BYTES >> 20));
        }
        let whole = path.canonicalize().map_err(|e| format!("'{shown}' {}", io_reason(&e)))?;
        if self.open.contains(&whole) {
            return Err(format!("'{shown}' includes itself"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("files include each other more than {MAX_DEPTH} deep"));
        }
        if self.sources.len() >= MAX_FILES {
            return Err(format!("a scene has at most {MAX_FILES} files"));
        }
        let bytes = std::fs::read(path).map_err(|e| format!("'{shown}' {}", io_reason(&e)))?;
        let text = String::from_utf8(bytes).map_err(|_| format!("'{shown}' is not UTF-8 text"))?;
        Ok((whole, syntax, text))
    }

    /// Reads a text with its includes; its own values override theirs.
    pub fn source(&mut self, source: Source, syntax: Syntax) -> Option<Node> {
        let (file, folder) = (self.sources.len() as u16, source.folder.clone());
        let parsed = if source.text.len() as u64 > MAX_BYTES {
            Err(vec![(Span::new(file, 0, 0), format!("the text is too large: at most {} MiB", MAX_BYTES >> 20))])
        } else {
            match syntax {
                Syntax::Toml => toml_text::parse(&source.text, file),
                Syntax::Json => json_text::parse(&source.text, file),
            }
        };
        self.sources.push(source);
        let mut node = match parsed {
            Ok(node) => node,
            Err(faults) => {
                for (span, message) in faults {
                    self.fault(span, "", message);
                }
                return None;
            }
        };
        let Value::Table(entries) = &mut node.value else {
            self.fault(node.span, "", "expected a table of bodies, joints, settings, ..");
            return None;
        };
        let included = take(entries, "include");
        // before trees are merged: the present word in one file overrides the old one in another
        deprecated::rename(&mut node, &mut |finding| {
            finding.add_to(&self.sources, &mut self.problems, &mut self.warnings);
        });
        let Some(Entry { node: list, .. }) = included else { return Some(node) };
        let mut whole = Node { span: node.span, value: Value::Table(Box::default()) };
        let mut complete = true;
        for (span, name) in self.names(&list) {
            match self.file(&folder.join(name), Some(span)) {
                Some(tree) => merge(&mut whole, tree),
                None => complete = false,
            }
        }
        merge(&mut whole, node);
        complete.then_some(whole)
    }

    fn names(&mut self, list: &Node) -> Vec<(Span, String)> {
        let wanted = "expected a list of file names";
        let Value::List(items) = &list.value else {
            self.fault(list.span, "include", format!("{wanted}, found {}", list.value.found()));
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(name) => names.push((item.span, name.to_string())),
                other => self.fault(item.span, "include", format!("{wanted}, found {}", other.found())),
            }
        }
        names
    }

    fn fault(&mut self, span: Span, path: &str, message: impl Into<String>) {
        if self.problems.is_full() {
            return self.problems.count();
        }
        let problem = Problem::new(&self.sources, span, path, message);
        self.problems.push(problem);
    }

    /// A reader that continues with these errors.
    pub fn reader(&mut self) -> Reader<'_> {
        let (problems, warnings) = (std::mem::take(&mut self.problems), std::mem::take(&mut self.warnings));
        let mut reader = Reader::new(&self.sources);
        reader.problems = problems;
        reader.warnings = warnings;
        reader
    }
}

/// Why a file cannot be read, as the end of a sentence; the same words on every system where possible.
pub(crate) fn io_reason(e: &std::io::Error) -> String {
    match e.kind() {
        std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        _ => format!("cannot be read: {e}"),
    }
}

/// Merges a tree into another: tables key by key, other values as a whole. A table of another kind replaces the one below.
fn merge(below: &mut Node, above: Node) {
    let kind = |node: &Node| node.get("kind").map(|k| k.value.clone());
    let other = kind(&above).is_some() && kind(below) != kind(&above);
    match (&mut below.value, above) {
        (Value::Table(under), Node { value: Value::Table(over), span }) if !other => {
            below.span = span;
            // by name, or two large tables would take the product of their sizes
            let known: BTreeMap<Box<str>, usize> = under.iter().enumerate().map(|(i, e)| (e.key.clone(), i)).collect();
            let mut all = std::mem::take(under).into_vec();
            for entry in over {
                match known.get(&entry.key) {
                    Some(&i) => merge(&mut all[i].node, entry.node),
                    None => all.push(entry),
                }
            }
            *under = all.into();
        }
        (_, above) => *below = above,
    }
}
