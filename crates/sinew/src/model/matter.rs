//! Elastic materials of soft bodies, with presets. Values are typical, not measured for this project; each cites its
//! source. Living tissue varies by a factor of two and more between individuals and with strain.

use super::SurfaceMaterial;
use crate::error::{Error, check, not_negative, positive};
use crate::math::Real;

/// A named preset.
pub type Preset = (&'static str, fn() -> ElasticMaterial);

/// Elastic material.
///
/// ```
/// use sinew::ElasticMaterial;
/// let liver = ElasticMaterial::liver();
/// assert!(liver.youngs_modulus < ElasticMaterial::rubber().youngs_modulus);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticMaterial {
    /// Density [kg/m³].
    pub density: Real,
    /// Young's modulus at small strain [Pa].
    pub youngs_modulus: Real,
    /// Poisson's ratio, from 0 up to below 0.5.
    pub poisson_ratio: Real,
    /// Stiffness-proportional damping β [s]: a mode of angular frequency ω has the damping ratio βω/2.
    pub damping: Real,
    /// Friction of its surface.
    pub friction: Real,
}

impl ElasticMaterial {
    /// Stiffness [Pa], Poisson's ratio and density [kg/m³]; damping 5 ms, friction 0.5.
    pub fn new(youngs_modulus: Real, poisson_ratio: Real, density: Real) -> Self {
        Self { density, youngs_modulus, poisson_ratio, damping: 5e-3, friction: 0.5 }
    }

    /// Stiffness-proportional damping [s].
    pub fn damping(mut self, damping: Real) -> Self {
        self.damping = damping;
        self
    }

    /// Friction of its surface.
    pub fn friction(mut self, friction: Real) -> Self {
        self.friction = friction;
        self
    }

    /// Table jelly, gelatine of some 10 % by weight: E of the order of 10 kPa. Damping chosen by eye: vibrations last
    /// about a second.
    pub fn jelly() -> Self {
        Self::new(1e4, 0.45, 1050.0).damping(4e-3).friction(0.3)
    }

    /// Natural rubber, unfilled: E 1-2 MPa, ν 0.499, 930 kg/m³ (Gent, *Engineering with Rubber*). ν is taken as 0.49:
    /// beyond it plain tetrahedra lock.
    pub fn rubber() -> Self {
        Self::new(1.5e6, 0.49, 930.0).damping(1e-3).friction(0.9)
    }

    /// Healthy liver: shear modulus 1.8 kPa (Palmeri et al. 2008, as tabled in Phys. Med. Biol. 64:225001), so E = 3G;
    /// 1060 kg/m³.
    pub fn liver() -> Self {
        Self::new(5.4e3, 0.48, 1060.0).damping(2e-2).friction(0.2)
    }

    /// Relaxed skeletal muscle, across the fibres: E of the order of 10 kPa; 1050 kg/m³ (Mech. Mater. 44:174, table 3).
    pub fn muscle() -> Self {
        Self::new(1.2e4, 0.48, 1050.0).damping(1e-2).friction(0.3)
    }

    /// Fat: E 3.25 kPa (Samani et al. 2007, breast fat); 950 kg/m³ (Mech. Mater. 44:174, table 3).
    pub fn fat() -> Self {
        Self::new(3.25e3, 0.48, 950.0).damping(2e-2).friction(0.2)
    }

    /// Soft polyurethane foam: E of the order of 50 kPa, ν near 0.2 before the cells buckle, 30 kg/m³ (Gibson and
    /// Ashby, *Cellular Solids*).
    pub fn foam() -> Self {
        Self::new(5e4, 0.2, 30.0).damping(5e-3).friction(0.7)
    }

    /// Cotton cloth as a sheet 0.3 mm thick of 150 g/m²: membrane stiffness E t of the order of 3 kN/m.
    pub fn cotton() -> Self {
        Self::new(1e7, 0.3, 500.0).damping(1e-3).friction(0.5)
    }

    /// Silk as a sheet 0.1 mm thick of 60 g/m²: membrane stiffness E t of the order of 2 kN/m.
    pub fn silk() -> Self {
        Self::new(2e7, 0.3, 600.0).damping(1e-3).friction(0.25)
    }

    /// Laid rope: E of the order of 100 MPa over its full cross-section, far below that of its fibres; 900 kg/m³.
    pub fn rope() -> Self {
        Self::new(1e8, 0.3, 900.0).damping(1e-3).friction(0.4)
    }

    /// All presets by name.
    pub const PRESETS: [Preset; 9] = [
        ("jelly", Self::jelly),
        ("rubber", Self::rubber),
        ("liver", Self::liver),
        ("muscle", Self::muscle),
        ("fat", Self::fat),
        ("foam", Self::foam),
        ("cotton", Self::cotton),
        ("silk", Self::silk),
        ("rope", Self::rope),
    ];

    /// A preset by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::PRESETS.iter().find(|(n, _)| *n == name).map(|(_, make)| make())
    }

    /// First and second Lamé parameter λ, μ [Pa].
    pub fn lame(&self) -> [Real; 2] {
        let (e, nu) = (self.youngs_modulus, self.poisson_ratio);
        [e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu))]
    }

    /// The friction of the surface, for contacts.
    pub fn surface(&self) -> SurfaceMaterial {
        SurfaceMaterial::friction(self.friction)
    }

    /// Rejects invalid values, and names the parameter.
    pub fn check(&self, whose: &str) -> Result<(), Error> {
        positive(&format!("{whose}.density"), self.density)?;
        positive(&format!("{whose}.youngs_modulus"), self.youngs_modulus)?;
        let nu = self.poisson_ratio;
        check(&format!("{whose}.poisson_ratio"), nu, (0.0..0.5).contains(&nu), "from 0 up to below 0.5")?;
        not_negative(&format!("{whose}.damping"), self.damping)?;
        not_negative(&format!("{whose}.friction"), self.friction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_passes_its_own_check_and_is_found_by_name() {
        for (name, make) in ElasticMaterial::PRESETS {
            make().check(name).unwrap();
            assert_eq!(ElasticMaterial::named(name), Some(make()));
        }
        assert_eq!(ElasticMaterial::named("granite"), None);
    }

    #[test]
    fn an_invalid_material_is_rejected_with_the_name_of_the_parameter() {
        let error = ElasticMaterial::new(1e5, 0.5, 1000.0).check("jelly").unwrap_err().to_string();
        assert!(error.contains("jelly.poisson_ratio"), "{error}");
        assert!(ElasticMaterial::new(Real::NAN, 0.3, 1000.0).check("jelly").is_err());
    }
}
