//! Numbers for tests with parameters drawn at random, the same on all machines.

use sinew::Real;

/// A linear congruential generator.
pub struct Draws(pub u32);

impl Draws {
    /// Uniform between two numbers.
    pub fn between(&mut self, low: Real, high: Real) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * ((self.0 >> 8) as Real / 16_777_216.0)
    }
}
