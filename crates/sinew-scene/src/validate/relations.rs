//! relations
use super::Case;
/// none yet
pub const CASES: &[Case] = &[];
