//! Every public type of the library crates has an example that runs: a code block in its doc comment, or, for a small
//! part of a larger type, the sentence "An example is at [`Name`]" where `Name` has one.
//!
//! Public types are read from the `pub use` lines of each `lib.rs`, and those in its public modules from the files
//! below them. This is a text search, not a compiler: doc tests check the examples themselves.

use super::Finding;

/// Library crates, and their public modules that contain types.
const CRATES: [(&str, &[&str]); 6] = [
    ("sinew-friction", &[]),
    ("sinew", &["classic", "deformable/mod", "deformable/traits", "deformable/alone"]),
    ("sinew-mesh", &["tetrahedralize"]),
    ("sinew-wire", &[]),
    ("sinew-render", &[]),
    (
        "sinew-stream",
        &[
            "commands",
            "control",
            "limit",
            "mailbox",
            "net",
            "payload",
            "points",
            "random",
            "receiver",
            "reception",
            "record",
            "relay",
            "rtcp",
            "rtp",
            "sender",
            "state",
            "topology",
            "window",
        ],
    ),
];

/// A public type and its comment.
struct Item<'a> {
    path: &'a str,
    line: usize,
    name: &'a str,
    doc: String,
}

/// Checks all sources together: paths and texts. Findings are returned with the path of their file.
pub fn check(files: &[(String, String)]) -> Vec<(&str, Finding)> {
    let mut findings = Vec::new();
    for (name, modules) in CRATES {
        let root = format!("crates/{name}/src/");
        let own: Vec<(&str, &str)> =
            files.iter().filter_map(|(path, text)| Some((path.strip_prefix(&root)?, text.as_str()))).collect();
        let Some((_, lib)) = own.iter().find(|(path, _)| *path == "lib.rs") else { continue };
        let exports = exports(lib);
        let is_public = |path: &str, name: &str| {
            let in_module =
                modules.iter().any(|module| path.starts_with(&format!("{module}/")) || path == format!("{module}.rs"));
            path == "lib.rs"
                || in_module
                || exports.iter().any(|(folder, export)| export == name && path.starts_with(folder.as_str()))
        };
        let all: Vec<Item<'_>> = files
            .iter()
            .filter(|(path, _)| path.starts_with(&root))
            .flat_map(|(path, text)| items(path, text))
            .filter(|item| is_public(&item.path[root.len()..], item.name))
            .collect();
        let lacking = all.iter().filter(|item| !has_example(item, &all));
        findings.extend(lacking.map(|item| {
            let message = format!("`{}` has no example: a block that runs, or \"An example is at [`..`]\"", item.name);
            (item.path, Finding::error(item.line, message))
        }));
    }
    findings
}

fn has_example(item: &Item<'_>, all: &[Item<'_>]) -> bool {
    if item.doc.contains("```") {
        return true;
    }
    let Some((_, behind)) = item.doc.split_once("An example is at [`") else { return false };
    let target = behind.split('`').next().unwrap_or("").rsplit("::").next().unwrap_or("");
    // parameters have short names in their files: `fem::SolidParams` is `Params` there
    let is_meant = |name: &str| name == target || target.ends_with(name);
    all.iter().any(|other| is_meant(other.name) && other.doc.contains("```"))
}

/// Folder (or file) and name of all re-exports; for names with `as`, the name in the file. Hidden modules do not count.
fn exports(lib: &str) -> Vec<(String, String)> {
    let lib = lib.split("#[doc(hidden)]").next().unwrap_or(lib);
    let code: String = lib.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for piece in code.split("pub use ").skip(1) {
        let path = piece.split(';').next().unwrap_or("");
        let (folder, names) = match path.split_once('{') {
            Some((folder, names)) => (folder, names.trim_end().trim_end_matches('}')),
            None => path.rsplit_once("::").unwrap_or(("", path)),
        };
        let folder = folder.trim_start_matches("crate::").trim_end_matches("::").replace("::", "/");
        for name in names.split(',') {
            let name = name.split(" as ").next().unwrap_or("").trim();
            let name = name.rsplit("::").next().unwrap_or(name);
            if name.starts_with(char::is_uppercase) {
                found.push((folder.trim().to_owned(), name.to_owned()));
            }
        }
    }
    found
}

/// The public structs, enums and traits of a file that begin in its first column.
fn items<'a>(path: &'a str, text: &'a str) -> Vec<Item<'a>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let kind = ["pub struct ", "pub enum ", "pub trait "].iter().find_map(|kind| line.strip_prefix(kind));
        let Some(rest) = kind else { continue };
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        // comment and attributes above it; an attribute may span several lines
        let above =
            lines[..i].iter().rev().take_while(|line| !line.is_empty() && **line != "}" && !line.ends_with(';'));
        let mut doc: Vec<&str> = above.copied().filter(|line| line.starts_with("///")).collect();
        doc.reverse();
        found.push(Item { path, line: i + 1, name, doc: doc.join("\n") });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking(lib: &str, file: &str) -> Vec<usize> {
        let files = [("crates/sinew/src/lib.rs", lib), ("crates/sinew/src/model/a.rs", file)];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        check(&files).iter().map(|(_, finding)| finding.line).collect()
    }

    #[test]
    fn what_is_exported_needs_an_example_and_the_rest_does_not() {
        let file =
            "/// One.\npub struct A;\n\n/// Two.\n///\n/// ```\n/// ```\npub enum B {}\n\n/// Three.\npub struct C;\n";
        assert_eq!(lacking("pub use model::{A, B};", file), [2]);
        assert_eq!(lacking("pub use model::{B as D};", file), []);
        assert_eq!(lacking("pub use other::A;", file), []);
        assert_eq!(lacking("#[doc(hidden)]\npub mod x { pub use model::A; }", file), []);
    }

    #[test]
    fn an_example_elsewhere_counts_when_it_is_there() {
        let file = "/// ```\n/// ```\n#[derive(Debug)]\npub struct A;\n\n/// An example is at [`A`](crate::A).\npub struct B;\n\n\
                    /// An example is at [`B`](crate::B).\npub struct C;\n";
        assert_eq!(lacking("pub use model::{A, B, C};", file), [10]);
    }
}
