//! Errors: of bytes that cannot be decoded, and of callers.

use std::fmt;

/// Reason for which bytes from the network are dropped.
///
/// ```
/// use sinew_stream::{DecodeError, rtp::Header};
/// assert_eq!(Header::read(&[0x80, 96]).unwrap_err(), DecodeError::Short);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The packet ends inside a field.
    Short,
    /// A length field and the length of the packet differ.
    Length,
    /// A version number that this code does not decode.
    Version(u8),
    /// A kind of packet or message that this code does not decode.
    Kind(u8),
    /// A field has a value that is not allowed.
    Value(&'static str),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "packet ends inside a field"),
            Self::Length => write!(f, "length field differs from the length of the packet"),
            Self::Version(version) => write!(f, "version {version} is not supported"),
            Self::Kind(kind) => write!(f, "kind {kind} is not known"),
            Self::Value(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// An argument that is refused; names the culprit and the remedy.
///
/// ```
/// use sinew_stream::relay::{Faults, Relay};
/// let error = Relay::<u32>::new(Faults { loss: 1.5, ..Faults::default() }, 1).unwrap_err();
/// assert!(error.to_string().contains("loss"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
