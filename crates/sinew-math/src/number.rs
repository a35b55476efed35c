//! Checks of single numbers of input.

use super::Real;

/// A number that is not finite, or out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {value}, but must be {must}")]
pub struct NumberError {
    /// The field, by its public name.
    pub what: String,
    /// The given value.
    pub value: f64,
    /// The allowed values.
    pub must: std::borrow::Cow<'static, str>,
}

/// Rejects a value that is not `ok`.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
pub fn check(what: &str, value: Real, ok: bool, must: &'static str) -> Result<(), NumberError> {
    if ok { Ok(()) } else { Err(NumberError { what: what.to_owned(), value: value as f64, must: must.into() }) }
}

/// Checks a number that must be finite and above zero.
pub fn positive(what: &str, value: Real) -> Result<(), NumberError> {
    check(what, value, value.is_finite() && value > 0.0, "finite and above 0")
}

/// Checks a number that must be finite and not below zero.
pub fn not_negative(what: &str, value: Real) -> Result<(), NumberError> {
    check(what, value, value.is_finite() && value >= 0.0, "finite and at least 0")
}
