//! Files that the command reads. No output replaces one of them: a mistyped name would destroy the user's own work.
//!
//! The list belongs to the process, since every output is checked against it, whichever part of the command writes it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static READ: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Adds a file. One that does not exist is none.
pub fn note(path: &Path) {
    if let Ok(path) = path.canonicalize() {
        READ.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }
}

/// Adds a mesh file and the files beside it that belong to it.
pub fn note_mesh(path: &Path) {
    note(path);
    let ending = path.extension().map(|e| e.to_ascii_lowercase());
    let beside: &[&str] = match ending.as_deref().and_then(|e| e.to_str()) {
        Some("node" | "ele") => &["node", "ele"],
        Some("gltf") => &["bin"],
        _ => &[],
    };
    beside.iter().for_each(|ending| note(&path.with_extension(ending)));
}

/// True for a file that was added. The path has no links.
pub fn contain(path: &Path) -> bool {
    READ.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|read| read == path)
}
