//! Why bytes were refused, or could not be written. Each error names the section.

use std::fmt;

/// What a file is.
///
/// An example is at [`WireError`](crate::WireError).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Settings, model and state.
    Save,
    /// A state of a known model.
    Snapshot,
    /// A save with inputs and hashes.
    Recording,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Save, Kind::Snapshot, Kind::Recording];

    /// The byte in the header.
    pub(crate) fn code(self) -> u8 {
        match self {
            Kind::Save => 1,
            Kind::Snapshot => 2,
            Kind::Recording => 3,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Save => "save",
            Kind::Snapshot => "snapshot",
            Kind::Recording => "recording",
        })
    }
}

/// A part of a file.
///
/// An example is at [`WireError`](crate::WireError).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// Magic, kind, version, precision, writer.
    Header,
    /// Tag and length in front of a section.
    SectionHead,
    /// Every knob.
    Settings,
    /// Bodies and constraints.
    Model,
    /// Fingerprint of the model a snapshot belongs to.
    Fingerprint,
    /// The columns of a state.
    State,
    /// A state inside a recording, to compare with and to seek to.
    Keyframe,
    /// Input and hash of one step.
    Step,
    /// The mark that the writer finished.
    End,
}

impl Section {
    const TAGGED: [Section; 7] = [
        Section::Settings,
        Section::Model,
        Section::Fingerprint,
        Section::State,
        Section::Keyframe,
        Section::Step,
        Section::End,
    ];

    /// The byte in front of the section; header and heads have none.
    pub(crate) fn tag(self) -> u8 {
        Self::TAGGED.iter().position(|&s| s == self).map_or(0, |at| at as u8 + 1)
    }

    pub(crate) fn from_tag(tag: u8) -> Option<Self> {
        Self::TAGGED.get(usize::from(tag).checked_sub(1)?).copied()
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Section::Header => "header",
            Section::SectionHead => "section head",
            Section::Settings => "settings",
            Section::Model => "model",
            Section::Fingerprint => "fingerprint",
            Section::State => "state",
            Section::Keyframe => "keyframe",
            Section::Step => "step",
            Section::End => "end",
        })
    }
}

/// Why bytes were refused, or a world could not be written down.
///
/// ```
/// use sinew::World;
/// use sinew_wire::WireError;
/// # fn main() -> Result<(), WireError> {
/// let bytes = sinew_wire::save(&World::default())?;
/// // of another kind than requested
/// assert!(matches!(sinew_wire::load(&bytes[..bytes.len() / 2]), Err(WireError::Truncated { .. })));
/// let message = sinew_wire::replay(&bytes).unwrap_err().to_string();
/// assert!(message.contains("save") && message.contains("recording"), "{message}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The first bytes are not ours.
    #[error("header: this is not a Sinew file (it does not begin with SINEW)")]
    Foreign,
    /// A Sinew file, but for another call.
    #[error("header: this is a {found}, a {wanted} was asked for")]
    WrongKind {
        /// What it is.
        found: Kind,
        /// What the call reads.
        wanted: Kind,
    },
    /// A format of another time.
    #[error("header: the file has format {found}, this build reads format {known}: use the Sinew that wrote it")]
    Version {
        /// Of the file.
        found: u16,
        /// Of this build.
        known: u16,
    },
    /// Reals of another size.
    #[error(
        "header: the file holds reals of {found} bytes, this build has reals of {known} bytes: open it with a build \
         that has the feature f{}",
        8 * u32::from(*found)
    )]
    Precision {
        /// Bytes of a real in the file.
        found: u8,
        /// Bytes of a real in this build.
        known: u8,
    },
    /// The bytes end too early.
    #[error("{section}: the file ends in the middle of it")]
    Truncated {
        /// Where it ends.
        section: Section,
    },
    /// A checksum does not fit.
    #[error("{section}: damaged, its checksum does not fit")]
    Damaged {
        /// Which section.
        section: Section,
    },
    /// Checksums fit, but the content makes no sense.
    #[error("{section}: {reason}")]
    Malformed {
        /// Which section.
        section: Section,
        /// What is wrong.
        reason: String,
    },
    /// The engine refused what was read or what was to be written.
    #[error("{section}: {source}")]
    Refused {
        /// Which section.
        section: Section,
        /// The engine's reason.
        source: sinew::Error,
    },
    /// A snapshot of another model.
    #[error("fingerprint: the snapshot belongs to another model (other bodies or constraints)")]
    OtherModel,
    /// Something that this format cannot write down.
    #[error("{section}: cannot be written: {reason}")]
    Unsupported {
        /// Which section it would be in.
        section: Section,
        /// What it is.
        reason: String,
    },
    /// A tick that a recording does not hold.
    #[error("step: the recording has no tick {tick}; it has {first} to {last}")]
    NoSuchTick {
        /// The requested kind.
        tick: u64,
        /// Its smallest.
        first: u64,
        /// Its largest.
        last: u64,
    },
}

impl WireError {
    pub(crate) fn malformed(section: Section, reason: impl Into<String>) -> Self {
        WireError::Malformed { section, reason: reason.into() }
    }

    /// For `map_err` on errors of the engine.
    pub(crate) fn refused(section: Section) -> impl Fn(sinew::Error) -> Self {
        move |source| WireError::Refused { section, source }
    }

    /// For `map_err` on errors of a form when it is built.
    pub(crate) fn bad(section: Section) -> impl Fn(String) -> Self {
        move |reason| WireError::Malformed { section, reason }
    }

    /// For `map_err` on errors of a form when it is created from a value.
    pub(crate) fn unsupported(section: Section) -> impl Fn(String) -> Self {
        move |reason| WireError::Unsupported { section, reason }
    }
}
