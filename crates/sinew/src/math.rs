//! The numbers of the engine: `sinew-math` by another name.

pub use sinew_math::*;
// unit tests compile every kernel for one instruction set instead of three: half the machine code of the largest
// compilation. The tests beside the crate run the best one.
#[cfg(test)]
pub use sinew_math::one_level::{run, run_broad, run_wide};
