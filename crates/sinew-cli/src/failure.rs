//! Reasons for which a command fails, and their exit codes.

use crate::interrupt;
use crate::screen::note;
use sinew_scene::escape::{escaped, excerpt};
use sinew_scene::open::{OpenError, Unknown};
use sinew_scene::reading::ReadingError;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Characters of an error of the engine that are shown.
const MESSAGE: usize = 2000;

/// The reason of a failure.
#[derive(Debug)]
pub enum Failure {
    /// A check failed: exit 1.
    Check(String),
    /// Bad use or bad input: exit 2.
    Input(String),
    /// Stopped by a signal before the result was complete: exit 130.
    Stopped(String),
    /// The reader of the output closed the pipe: not a failure.
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

    /// Prints the message and returns the exit code.
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
        // an error names its body, and the name of a body in a file may have megabytes
        Failure::Input(escaped(&excerpt(&e.to_string(), MESSAGE)).into_owned())
    }
}

impl From<OpenError> for Failure {
    fn from(e: OpenError) -> Self {
        match e {
            OpenError::Engine(e) => e.into(),
            // words and lines of files are escaped where the message is made
            e => Failure::Input(e.to_string()),
        }
    }
}

impl From<ReadingError> for Failure {
    fn from(e: ReadingError) -> Self {
        Failure::Input(e.to_string())
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

/// "unknown scene 'x'", with the nearest known word and a list of all.
pub fn unknown(kind: &'static str, word: &str, meant: Option<&str>, known: &str) -> Failure {
    Failure::Input(Unknown::new(kind, word, meant, known).to_string())
}
