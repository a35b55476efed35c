//! Compliance between contact points: the Green's function of an elastic half-space, scaled to what the body really has.
//!
//! ```text
//!   normal       (1 − ν²)/(π E r)
//!   tangential   (1 + ν)/(π E r) (1 − ν + ν x²/r²),   its mean over directions has x²/r² = 1/2
//!   itself       16 (1 − ν²)/(3 π² E a),   area π a²
//! ```
//!
//! (Johnson 1985, 3.2 and 3.6; the self term is the mean displacement of a uniformly loaded disc.) One number s corrects
//! for everything that the half-space does not know (thickness, supports, mesh): with W = h² J A⁻¹ Jᵀ of the step,
//!
//! ```text
//!   s = (1 + β/h) (fᵀ W f)/(fᵀ G f)
//! ```
//!
//! for the contact forces f of the step: one solve. A compliance per point, a 6x6 tool stiffness and one shared
//! compliance were tried and are wrong by 10 to 36 % (the dent would travel with the tool).

use crate::snapshot::{MOST_POINTS, Snapshot};
use sinew_math::Wide3;
use std::f64::consts::PI;

/// The elastic half-space that stands for a body until its own compliance is known.
///
/// ```
/// use sinew_haptic::HalfSpace;
/// let gel = HalfSpace { young: 10e3, poisson: 0.45 };
/// // twice as far, half the displacement
/// assert!((gel.normal(0.002) / gel.normal(0.004) - 2.0).abs() < 1e-12);
/// assert!(gel.itself(1e-6) > gel.normal(0.002));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// Young's modulus E [Pa].
    pub young: f64,
    /// Poisson's ratio ν.
    pub poisson: f64,
}

/// Displacements are finite from here on [m]: two points of a surface are never nearer than this.
const NEAREST: f64 = 1e-6;

impl HalfSpace {
    /// Normal displacement at a distance from a unit normal force [m/N].
    pub fn normal(&self, distance: f64) -> f64 {
        (1.0 - self.poisson * self.poisson) / (PI * self.young * distance.max(NEAREST))
    }

    /// Tangential displacement along a unit tangential force, mean over directions [m/N].
    pub fn tangential(&self, distance: f64) -> f64 {
        let nu = self.poisson;
        (1.0 + nu) * (1.0 - 0.5 * nu) / (PI * self.young * distance.max(NEAREST))
    }

    /// Mean normal displacement of an area under a unit force on it [m/N].
    pub fn itself(&self, area: f64) -> f64 {
        let radius = (area / PI).sqrt().max(NEAREST);
        16.0 * (1.0 - self.poisson * self.poisson) / (3.0 * PI * PI * self.young * radius)
    }

    /// Tangential displacement of an area under a unit tangential force on it [m/N]: the ratio of the two kernels.
    pub fn itself_across(&self, area: f64) -> f64 {
        self.itself(area) * self.tangential(1.0) / self.normal(1.0)
    }

    /// Writes the compliances of all points of one body of a snapshot. `places` are the positions of the points [m].
    pub fn fill(&self, snapshot: &mut Snapshot, body: u32, places: &[Wide3; MOST_POINTS]) {
        let count = snapshot.points().len();
        for i in 0..count {
            if snapshot.points()[i].body != body {
                continue;
            }
            let area = snapshot.points()[i].area;
            snapshot.set_compliance(i, i, self.itself(area), self.itself_across(area));
            for j in 0..i {
                if snapshot.points()[j].body == body {
                    let r = places[i].distance(places[j]);
                    snapshot.set_compliance(i, j, self.normal(r), self.tangential(r));
                }
            }
        }
    }
}

/// The scale of a half-space that follows the body from step to step.
///
/// ```
/// use sinew_haptic::Scale;
/// let mut scale = Scale::default();
/// assert_eq!(scale.value(), 1.0);
/// // the body turned out twice as soft, without damping: half old, half new
/// scale.learn(0.02, 0.01, 0.0, 0.005);
/// assert_eq!(scale.value(), 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    value: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Self { value: 1.0 }
    }
}

impl Scale {
    /// The present scale s.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Takes up fᵀWf of the step and fᵀGf of the half-space [N·m], with relaxation time β and step h [s]. Zero and values
    /// that are not finite are ignored; the result stays between 1/50 and 50.
    pub fn learn(&mut self, solved: f64, kernel: f64, relaxation: f64, h: f64) {
        let found = (1.0 + relaxation / h) * solved / kernel;
        if found.is_finite() && solved > 0.0 && kernel > 0.0 {
            self.value = (0.5 * (self.value + found)).clamp(0.02, 50.0);
        }
    }
}

/// How much stiffer than the body a local model is made, as a divisor of C: 1 + clamp(0.15 − b/(2 h K_l), 0, 0.15). A local
/// model that is softer than the body is unstable beyond [`crate::limits::mismatch_limit`], one that is stiffer is not
/// for a long way; so hard contacts are biased, soft ones need none. `stiffness` is |Σ f|²/(fᵀ C f) [N/m].
pub fn stiff_bias(device_damping: f64, period: f64, stiffness: f64) -> f64 {
    if stiffness > 0.0 { 1.0 + (0.15 - device_damping / (2.0 * period * stiffness)).clamp(0.0, 0.15) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContactPoint, Geometry};

    /// A circle of radius a under a rigid flat punch: F/d = 2 a E/(1 − ν²) (H02). Loads on a fine grid of points with a
    /// uniform indentation have to give it.
    #[test]
    fn a_punch_of_many_points_has_the_stiffness_of_boussinesq() {
        let gel = HalfSpace { young: 10e3, poisson: 0.45 };
        let (a, cells) = (0.005, 4);
        let pitch = a / (f64::from(cells) + 0.5);
        let mut snapshot = Snapshot::new(0.01);
        let mut places = [Wide3::ZERO; MOST_POINTS];
        for x in -cells..=cells {
            for z in -cells..=cells {
                let at = Wide3::new(f64::from(x), 0.0, f64::from(z)) * pitch;
                let geometry = Geometry::Rounds { tool: [at; 2], other: [at; 2], radius: 0.0 };
                let point = ContactPoint { area: pitch * pitch, ..ContactPoint::new(0, geometry) };
                if at.length() <= a && snapshot.points().len() < MOST_POINTS {
                    let k = snapshot.push(point).expect("there is room");
                    places[k] = at;
                }
            }
        }
        snapshot.add_body(crate::Relaxation::default()).expect("one body");
        gel.fill(&mut snapshot, 0, &places);
        // Gauss-Seidel on C f = 1 mm
        let count = snapshot.points().len();
        let mut f = [0.0; MOST_POINTS];
        for _ in 0..200 {
            for i in 0..count {
                let row = snapshot.normal_row(i);
                let have: f64 = (0..count).map(|j| f64::from(row[j]) * f[j]).sum();
                f[i] += (1e-3 - have) / f64::from(row[i]);
            }
        }
        let (force, area) = (f.iter().sum::<f64>(), count as f64 * pitch * pitch);
        // the radius that the points together stand for
        let radius = (area / PI).sqrt();
        let law = 2.0 * radius * gel.young / (1.0 - gel.poisson * gel.poisson) * 1e-3;
        assert!((force / law - 1.0).abs() < 0.05, "{force} N, law {law} N, {count} points");
    }

    #[test]
    fn hard_bodies_are_biased_and_gel_is_not() {
        assert_eq!(stiff_bias(0.6, 1.0 / 60.0, 80.0), 1.0);
        assert!((stiff_bias(0.6, 1.0 / 60.0, 600.0) - 1.12).abs() < 1e-9);
        assert_eq!(stiff_bias(0.6, 1.0 / 60.0, 0.0), 1.0);
    }
}
