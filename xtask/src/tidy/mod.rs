//! `tidy`: the house rules that the compiler does not check.
//!
//! Each rule is a pure function from the path (relative to the root, with slashes) and text of a file to findings, or
//! from those of all files; only this file reads the disk.

mod arrows;
mod examples;
mod layers;
mod length;
mod links;
mod paths;
mod source;
mod words;

use crate::job::{Job, Step};
use std::fs;
use std::path::Path;

/// The job.
pub const JOB: Job = Job { name: "tidy", steps: &[Step::Call(tidy)] };

/// Folders of built or downloaded files; `target*` too.
const SKIPPED_FOLDERS: [&str; 6] = [".git", "node_modules", "dist", ".venv", "__pycache__", ".pytest_cache"];

/// A violation of a rule.
#[derive(Debug, PartialEq)]
struct Finding {
    /// Line in the file, from 1; 0 is the file as a whole.
    line: usize,
    /// What is wrong, and what to do instead.
    message: String,
    /// A warning is printed and does not fail the job.
    warning: bool,
}

impl Finding {
    fn error(line: usize, message: String) -> Finding {
        Finding { line, message, warning: false }
    }

    fn warning(line: usize, message: String) -> Finding {
        Finding { line, message, warning: true }
    }
}

fn tidy(root: &Path) -> bool {
    let mut files = Vec::new();
    if let Err(error) = collect(root, "", &mut files) {
        eprintln!("cannot read the repository: {error}");
        return false;
    }
    files.sort();
    let mut errors = 0;
    for path in &files {
        errors += report(path, &examine(root, path, &files));
    }
    let is_library = |path: &&String| path.starts_with("crates/") && path.ends_with(".rs");
    let read = |path: &String| Some((path.clone(), fs::read_to_string(root.join(path)).ok()?));
    let sources: Vec<(String, String)> = files.iter().filter(is_library).filter_map(read).collect();
    for (path, finding) in examples::check(&sources) {
        errors += report(path, &[finding]);
    }
    println!("   {} files, {errors} errors", files.len());
    errors == 0
}

/// Lists the files below a folder as paths relative to the root.
fn collect(root: &Path, folder: &str, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !is_skipped(&path) {
            collect(root, &path, files)?;
        // in a second working tree of the repository `.git` is a file
        // `.so` is the extension module of the Python package, built in place
        } else if kind.is_file() && !name.ends_with(".log") && !name.ends_with(".so") && name != ".git" {
            files.push(path);
        }
    }
    Ok(())
}

fn is_skipped(folder: &str) -> bool {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    // as in the .gitignore files, build folders lie at the root of a workspace only: a source folder may be called
    // `target`
    let own = folder == "target" || folder.starts_with("target-");
    let built = own || ["fuzz/target", "fuzz/artifacts", "fuzz/found"].contains(&folder);
    built || SKIPPED_FOLDERS.contains(&name)
}

fn examine(root: &Path, path: &str, files: &[String]) -> Vec<Finding> {
    let bytes = match fs::read(root.join(path)) {
        Ok(bytes) => bytes,
        // deleted since it was listed: a swap file of an editor, a temporary file of a test
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![Finding::error(0, format!("cannot be read: {error}"))],
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut findings = paths::check(&text);
    findings.extend(length::check(path, &text));
    findings.extend(words::check(path, &text));
    findings.extend(arrows::check(path, &text));
    findings.extend(layers::check(path, &text));
    findings.extend(links::check(path, &text, files));
    findings
}

/// Prints the findings of one file; returns the number of errors.
fn report(path: &str, findings: &[Finding]) -> usize {
    for Finding { line, message, warning } in findings {
        let kind = if *warning { "warning" } else { "error" };
        eprintln!("   {kind}: {path}:{line}: {message}");
    }
    findings.iter().filter(|finding| !finding.warning).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_folders_are_skipped_and_source_folders_are_not() {
        for folder in ["target", "target-f64", "fuzz/target", ".git", "web/node_modules"] {
            assert!(is_skipped(folder), "{folder}");
        }
        for folder in ["crates", ".ci", "crates/sinew/src/work", "crates/sinew/src/target"] {
            assert!(!is_skipped(folder), "{folder}");
        }
    }

    #[test]
    fn warnings_do_not_count_as_errors() {
        let findings = [Finding::warning(0, "long".into()), Finding::error(3, "wrong".into())];
        assert_eq!(report("file.rs", &findings), 1);
    }
}
