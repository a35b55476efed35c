//! Diagnostics: timing of the phases.

pub(crate) mod timing;
