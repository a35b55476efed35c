//! Looking inside: the clock of the phases.

pub(crate) mod timing;
