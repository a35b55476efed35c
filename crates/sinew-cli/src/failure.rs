//! Why a command ends early, and the exit code that says so.

use crate::interrupt;
use crate::screen::note;
use sinew_scene::escape::{escaped, excerpt};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Characters of an unknown word that are shown.
const WORD: usize = 60;
/// Characters of an error of the engine that are shown.
const MESSAGE: usize = 2000;

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// A check came out badly: exit 1.
    Check(String),
    /// Bad use or bad input: exit 2.
    Input(String),
    /// Stopped by a signal before the result was there: exit 130.
    Stopped(String),
    /// Whoever read our output has seen enough: not our failure.
    Pipe,
}

impl Failure {
    /// Bad use or input.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::Input(message.into())
    }

    /// For `map_err` on files.
    pub fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |e| Failure::Input(format!("{}: {e}", named(path)))
    }

    /// Tells the user and gives the exit code.
    pub fn end(self) -> ExitCode {
        match self {
            Failure::Check(message) => {
                note(&format!("sinew: {message}"));
                ExitCode::from(1)
            }
            Failure::Input(message) => {
                note(&format!("sinew: {message}"));
                ExitCode::from(2)
            }
            Failure::Stopped(message) => {
                note(&format!("sinew: {message}"));
                ExitCode::from(interrupt::STOPPED)
            }
            Failure::Pipe => ExitCode::SUCCESS,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        if e.kind() == io::ErrorKind::BrokenPipe { Failure::Pipe } else { Failure::Input(e.to_string()) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(e: serde_json::Error) -> Self {
        io::Error::from(e).into()
    }
}

impl From<sinew::Error> for Failure {
    fn from(e: sinew::Error) -> Self {
        // an error names its body, and a file may give a body a name of megabytes
        Failure::Input(escaped(&excerpt(&e.to_string(), MESSAGE)).into_owned())
    }
}

impl From<sinew_mesh::MeshError> for Failure {
    fn from(e: sinew_mesh::MeshError) -> Self {
        Failure::Input(escaped(&e.to_string()).into_owned())
    }
}

impl From<sinew_wire::WireError> for Failure {
    fn from(e: sinew_wire::WireError) -> Self {
        Failure::Input(escaped(&e.to_string()).into_owned())
    }
}

/// The name of a file as a word of a message.
pub fn named(path: &Path) -> String {
    escaped(&path.display().to_string()).into_owned()
}

/// "unknown scene 'x'", with the word that was probably meant and where to find the right ones.
pub fn unknown(kind: &str, word: &str, meant: Option<&str>, known: &str) -> Failure {
    let hint = meant.map_or(String::new(), |m| format!("; did you mean '{}'?", escaped(m)));
    let word = escaped(&excerpt(word, WORD)).into_owned();
    Failure::Input(format!("unknown {kind} '{word}'{hint}\n{known}"))
}
