//! Pseudo-random numbers for tests, identical on all machines.

use super::{Real, Vec3};

/// A linear congruential generator (Numerical Recipes): 24 bits per draw.
pub struct Draws(pub u32);

impl Draws {
    /// Uniform from −1 to 1.
    pub fn number(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as Real / 8_388_608.0 - 1.0
    }

    /// A vector of three such numbers.
    pub fn vec(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
}
