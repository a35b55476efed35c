//! Linear elasticity: moduli, density, damping.

use crate::error::{ReduceError, not_negative, positive};
use crate::linalg::Dense;
use std::f64::consts::PI;

/// Stress per strain in the order xx, yy, zz, xy, yz, zx, with engineering shear γ = 2ε [Pa].
///
/// ```
/// use sinew_reduce::Elasticity;
/// let soft = Elasticity::isotropic(1e4, 0.3).unwrap();
/// assert!((soft.moduli()[3][3] - 1e4 / 2.6).abs() < 1e-9);
/// assert!(Elasticity::isotropic(1e4, 0.5).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elasticity([[f64; 6]; 6]);

impl Elasticity {
    /// From Young's modulus [Pa] and Poisson's ratio.
    pub fn isotropic(young: f64, poisson: f64) -> Result<Self, ReduceError> {
        positive("young", young)?;
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(ReduceError::OutOfRange { name: "poisson", value: poisson, range: "above -1 and below 0.5" });
        }
        let shear = 0.5 * young / (1.0 + poisson);
        let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        let mut moduli = [[0.0; 6]; 6];
        for i in 0..3 {
            moduli[i][..3].fill(lambda);
            moduli[i][i] += 2.0 * shear;
            moduli[3 + i][3 + i] = shear;
        }
        Self::new(moduli)
    }

    /// From all moduli: symmetric and positive definite [Pa].
    pub fn new(moduli: [[f64; 6]; 6]) -> Result<Self, ReduceError> {
        let symmetric = Dense::from_fn(6, 6, |i, j| 0.5 * (moduli[i][j] + moduli[j][i]));
        let (values, vectors) = symmetric.eigen("the elastic moduli")?;
        let largest = values[5].abs();
        let skew = (0..36).map(|k| (moduli[k / 6][k % 6] - moduli[k % 6][k / 6]).abs()).fold(0.0, f64::max);
        if skew > 1e-9 * largest {
            let range = "0: stress per strain must be symmetric";
            return Err(ReduceError::OutOfRange { name: "asymmetry of the moduli", value: skew, range });
        }
        if !(values[0] > 1e-12 * largest) {
            let strain = std::array::from_fn(|i| vectors.get(i, 0));
            return Err(ReduceError::Moduli { strain, energy: 0.5 * values[0] });
        }
        Ok(Self(moduli))
    }

    /// The moduli [Pa].
    pub fn moduli(&self) -> &[[f64; 6]; 6] {
        &self.0
    }

    /// Largest modulus, of the fastest wave [Pa].
    pub(crate) fn largest(&self) -> f64 {
        (0..6).map(|i| self.0[i][i]).fold(0.0, f64::max)
    }
}

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Stress per strain.
    pub elasticity: Elasticity,
    /// Density [kg/m³].
    pub density: f64,
}

impl Material {
    /// From Young's modulus [Pa], Poisson's ratio and density [kg/m³].
    pub fn isotropic(young: f64, poisson: f64, density: f64) -> Result<Self, ReduceError> {
        positive("density", density)?;
        Ok(Self { elasticity: Elasticity::isotropic(young, poisson)?, density })
    }
}

/// Rayleigh damping C = α₁ K + α₂ M (FC 2.22-2.23, corrected): a mode of angular frequency ω has the damping ratio
/// (α₁ ω + α₂/ω)/2.
///
/// ```
/// use sinew_reduce::Rayleigh;
/// // five per cent at 5 and 50 Hz, less between
/// let fit = Rayleigh::through([(5.0, 0.05), (50.0, 0.05)]).unwrap();
/// assert!((fit.ratio(250.0_f64.sqrt()) - 0.02875).abs() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rayleigh {
    /// α₁ of the stiffness [s].
    pub stiffness: f64,
    /// α₂ of the mass [1/s].
    pub mass: f64,
}

impl Rayleigh {
    /// From both coefficients, α₁ [s] and α₂ [1/s].
    pub fn new(stiffness: f64, mass: f64) -> Result<Self, ReduceError> {
        not_negative("the damping alpha_1", stiffness)?;
        not_negative("the damping alpha_2", mass)?;
        Ok(Self { stiffness, mass })
    }

    /// The damping that has these ratios at two frequencies [Hz].
    pub fn through(points: [(f64, f64); 2]) -> Result<Self, ReduceError> {
        for (frequency, ratio) in points {
            positive("frequency", frequency)?;
            not_negative("damping ratio", ratio)?;
        }
        let [(a, za), (b, zb)] = points.map(|(f, z)| (2.0 * PI * f, z));
        if a == b {
            let range = "different from the other one";
            return Err(ReduceError::OutOfRange { name: "frequency", value: points[1].0, range });
        }
        let stiffness = 2.0 * (zb * b - za * a) / (b * b - a * a);
        let mass = 2.0 * a * b * (za * b - zb * a) / (b * b - a * a);
        Self::new(stiffness, mass)
    }

    /// Damping ratio at a frequency [Hz].
    pub fn ratio(&self, frequency: f64) -> f64 {
        let w = 2.0 * PI * frequency;
        0.5 * (self.stiffness * w + self.mass / w)
    }

    /// Rate of decay of a mode with λ = ω² [1/s²]: z̈ + rate ż + λ z = f [1/s].
    pub fn rate(&self, lambda: f64) -> f64 {
        self.stiffness * lambda + self.mass
    }
}
