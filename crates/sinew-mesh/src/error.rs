//! Why a file was not read or written: which file, where in it, what was expected, what to do.

use std::fmt;

/// Where in a file.
///
/// An example is at [`MeshError`](crate::MeshError).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of a text, from 1.
    Line(usize),
    /// Byte of a binary part, from 0.
    Byte(usize),
    /// The file as a whole.
    File,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
            Place::File => Ok(()),
        }
    }
}

/// Why a mesh file was refused.
///
/// ```
/// use sinew_mesh::{Format, read_bytes};
/// let told = read_bytes(b"v 0 0 0\nf 1 2 3\n", Format::Obj, "hole.obj").unwrap_err().to_string();
/// assert!(told.contains("hole.obj") && told.contains('2'), "{told}");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// The disk said no.
    #[error("{file}: {reason}")]
    Io {
        /// Culprit.
        file: String,
        /// What the system said.
        reason: String,
    },
    /// The ending of the name is not one of ours.
    #[error("{file}: unknown kind of mesh file; the name must end in one of: {known}")]
    UnknownFormat {
        /// Culprit.
        file: String,
        /// The endings there are.
        known: String,
    },
    /// The file is longer than the limit.
    #[error("{file}: {bytes} bytes; mesh files of up to {limit} bytes are read")]
    TooLong {
        /// Culprit.
        file: String,
        /// Its length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// What stands in the file is not what the format asks for.
    #[error("{file}{place}: {what}")]
    Bad {
        /// Culprit.
        file: String,
        /// Where in it.
        place: Place,
        /// What was expected, what was found, what to do.
        what: String,
    },
    /// The format cannot hold this mesh.
    #[error("{file}: {what}")]
    CannotWrite {
        /// File that was to be written.
        file: String,
        /// Why not, and what to do.
        what: String,
    },
}
