//! Errors of reading or writing a file: which file, the position in it, what was expected, how to fix it.

use std::fmt;

/// Position in a file.
///
/// An example is at [`MeshError`](crate::MeshError).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, from 1.
    Line(usize),
    /// Byte offset in a binary part, from 0.
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
/// let message = read_bytes(b"v 0 0 0\nf 1 2 3\n", Format::Obj, "hole.obj").unwrap_err().to_string();
/// assert!(message.contains("hole.obj") && message.contains('2'), "{message}");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// An I/O error.
    #[error("{file}: {reason}")]
    Io {
        /// The file.
        file: String,
        /// The error of the system.
        reason: String,
    },
    /// The file name extension is not supported.
    #[error("{file}: unknown kind of mesh file; the name must end in one of: {known}")]
    UnknownFormat {
        /// The file.
        file: String,
        /// The supported extensions.
        known: String,
    },
    /// The file is longer than the limit.
    #[error("{file}: {bytes} bytes; mesh files of up to {limit} bytes are read")]
    TooLong {
        /// The file.
        file: String,
        /// Its length in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The content violates the format.
    #[error("{file}{place}: {what}")]
    Bad {
        /// The file.
        file: String,
        /// Position in it.
        place: Place,
        /// What was expected, what was found, how to fix it.
        what: String,
    },
    /// The format cannot represent this mesh.
    #[error("{file}: {what}")]
    CannotWrite {
        /// The output file.
        file: String,
        /// The reason, and how to fix it.
        what: String,
    },
}
