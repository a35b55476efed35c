//! Errors of settings and messages: each names the culprit and what it must be.

/// What was refused.
///
/// ```
/// use sinew_haptic::{FastLoop, LocalSettings, ToolSettings};
/// let settings = LocalSettings { tick: f64::NAN, ..LocalSettings::default() };
/// let error = FastLoop::new(settings, &[ToolSettings::default()]).expect_err("not a number");
/// assert!(error.to_string().contains("tick is NaN"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number out of its range.
    #[error("{what} is {value}; it must be {must}")]
    Number {
        /// Its name.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The range.
        must: &'static str,
    },
    /// More of something than there is room for.
    #[error("{count} {what}, at most {most} are possible")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many are possible.
        most: usize,
    },
    /// A message of a device that cannot be read.
    #[error("{place}: {reason}")]
    Message {
        /// Where in the message.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The physics refused something.
    #[error("{0}")]
    World(String),
}

impl From<sinew::Error> for Error {
    fn from(error: sinew::Error) -> Self {
        Self::World(error.to_string())
    }
}

/// Refuses a number that does not satisfy a condition; NaN satisfies none.
pub(crate) fn require(
    what: &'static str,
    value: f64,
    holds: impl FnOnce(f64) -> bool,
    must: &'static str,
) -> Result<(), Error> {
    if holds(value) { Ok(()) } else { Err(Error::Number { what, value, must }) }
}
