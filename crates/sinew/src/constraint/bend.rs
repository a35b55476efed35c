//! Bending over many edges of a sheet as one constraint (ICD 4.5 with its errata).
//!
//! A fold is an edge i, j with the vertices l and r opposite to it in its two triangles. With e = x_j − x_i,
//!
//! ```text
//!   n_l = (x_l − x_i) × e,   n_r = e × (x_r − x_i),   θ = atan2((n_l × n_r)·e/|e|, n_l·n_r)
//!   J_l = |e| n_l/|n_l|²,  J_r = |e| n_r/|n_r|²,  J_j = −(s_l J_l + s_r J_r),  J_i = −(J_l + J_r) − J_j
//! ```
//!
//! and s = (x − x_i)·e/|e|². The row is an implicit spring on θ − θ⁰; its impulse is that of a torque.
//!
//! *Stiffness.* The energy of a fold is ½ D |e|²/(A_l + A_r) (θ − θ⁰)² with the areas at rest and D the plate's bending
//! stiffness E t³/(12(1 − ν²)) [N·m]. A sheet bent to a cylinder then stores ½ D κ² per square metre: exact on
//! equilateral triangles in every direction, and on squares with diagonals along their sides. Meshes are anisotropic:
//! across the diagonals of squares the same D is up to three times as stiff, and a strip one square wide twists over
//! them.
//!
//! *ICD eq. 33*, (x_l − x_c)·(x_r − x_c) − C⁰ with x_c the middle of the edge, is kept as [`BendLaw::Printed`]. On a
//! flat sheet its Jacobian lies in the plane: it does not resist bending there.

use super::distance_set::check_nodes;
use super::row::{Bounds, RowBuffer, Wish};
use super::site::View;
use super::{Kind, Traits};
use crate::error::{Error, finite, not_negative, positive};
use crate::math::{Real, Vec3, angle_of, vec};
use crate::model::BodyId;
use crate::solver::soft::Softness;
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, record, words};

/// The quantity that is constrained at a fold.
///
/// An example is at [`Bending`](crate::Bending).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BendLaw {
    /// The signed angle between the two triangles, by a spring of the given stiffness.
    #[default]
    Angle,
    /// ICD eq. 33 as printed: a rigid row on a dot product. For comparison.
    Printed,
}

/// Resistance to bending over many edges of a sheet. One row per edge.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mesh = TriMesh::sheet([4, 1], [0.4, 0.1], Diagonals::Alternating)?;
/// let mut world = World::default();
/// let strip = world.add_particles(Particles::new(mesh.vertices.clone()).mass(1e-3).pinned([0, 5]))?;
/// world.add_distance_set(DistanceSet::new(strip, mesh.edges()))?;
/// world.add_bending(Bending::new(strip, mesh.folds(), 1e-2).flat(&mesh))?;
/// world.step(&Input::none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bending {
    /// The body.
    pub body: BodyId,
    /// Edge i, j and the nodes beside it, left and right: [`crate::TriMesh::folds`].
    pub folds: Vec<[u32; 4]>,
    /// Of each fold at rest: angle [rad] (or the dot product [m²] of the printed law), and |e|²/(A_l + A_r). Empty: the
    /// values when the constraint is added.
    pub rest: Vec<[Real; 2]>,
    /// Bending stiffness of the sheet [N·m].
    pub stiffness: Real,
    /// Damping: ratio of damping to stiffness, the relaxation time of the bending angle [s].
    pub damping: Real,
    /// The constrained quantity.
    pub law: BendLaw,
}

impl Bending {
    /// Folds that keep their present angles with this bending stiffness of the sheet [N·m].
    pub fn new(body: BodyId, folds: impl Into<Vec<[u32; 4]>>, stiffness: Real) -> Self {
        Self { body, folds: folds.into(), rest: Vec::new(), stiffness, damping: 0.0, law: BendLaw::Angle }
    }

    /// The sheet is flat at rest, whatever its present shape.
    pub fn flat(mut self, mesh: &crate::TriMesh) -> Self {
        let at = |n: u32| mesh.vertices.get(n as usize).copied().unwrap_or(Vec3::ZERO);
        self.rest = self.folds.iter().map(|f| [0.0, Fold::new(f.map(at)).shape()]).collect();
        self
    }

    /// Damping: the torque of a fold's spring is k(θ + damping·θ̇) [s].
    pub fn damping(mut self, time: Real) -> Self {
        self.damping = time;
        self
    }

    /// Replaces the law.
    pub fn law(mut self, law: BendLaw) -> Self {
        self.law = law;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltBending, Error> {
        let bad = |reason: String| Error::BadConstraint { constraint: "bending", reason };
        let nodes = view.model.nodes(self.body)?;
        super::site::check_lumped("bending", nodes)?;
        positive("bending.stiffness", self.stiffness)?;
        not_negative("bending.damping", self.damping)?;
        if self.folds.is_empty() {
            return Err(bad("it has no folds".into()));
        }
        if !self.rest.is_empty() && self.rest.len() != self.folds.len() {
            return Err(bad(format!("{} rest angles for {} folds", self.rest.len(), self.folds.len())));
        }
        let slot = self.body.index;
        let mut source = self.clone();
        for (k, fold) in self.folds.iter().enumerate() {
            check_nodes("bending", k, fold, nodes)?;
            let rest = match self.rest.get(k) {
                Some(&rest) => rest,
                None => {
                    let now = Fold::new(fold.map(|n| view.node(slot, n)));
                    let held = if self.law == BendLaw::Printed { now.product() } else { now.angle() };
                    source.rest.push([held, now.shape()]);
                    [held, now.shape()]
                }
            };
            finite(&format!("bending.rest[{k}].angle"), rest[0])?;
            positive(&format!("bending.rest[{k}].shape"), rest[1])?;
        }
        Ok(BuiltBending { slot, source })
    }
}

/// Corners of a fold: i, j, l, r [m].
#[derive(Clone, Copy, Debug)]
struct Fold {
    at: [Vec3; 4],
    edge: Vec3,
    left: Vec3,
    right: Vec3,
}

impl Fold {
    fn new(at: [Vec3; 4]) -> Self {
        let [i, j, l, r] = at;
        let edge = j - i;
        Self { at, edge, left: (l - i).cross(edge), right: edge.cross(r - i) }
    }

    /// Angle between the triangles, 0 when flat [rad].
    fn angle(&self) -> Real {
        let length = self.edge.length().max(Real::MIN_POSITIVE);
        angle_of(self.left.cross(self.right).dot(self.edge) / length, self.left.dot(self.right))
    }

    /// |e|²/(A_l + A_r).
    fn shape(&self) -> Real {
        let area = 0.5 * (self.left.length() + self.right.length());
        if area > 0.0 { self.edge.length_squared() / area } else { 0.0 }
    }

    /// Derivative of the angle with respect to each corner [1/m]; zero for a fold without area.
    fn gradient(&self) -> [Vec3; 4] {
        let [i, _, l, r] = self.at;
        let (length, square) = (self.edge.length(), self.edge.length_squared());
        let (a, b) = (self.left.length_squared(), self.right.length_squared());
        if !(a > 0.0 && b > 0.0 && square > 0.0) {
            return [Vec3::ZERO; 4];
        }
        let (on_l, on_r) = (self.left * (length / a), self.right * (length / b));
        let (s_l, s_r) = ((l - i).dot(self.edge) / square, (r - i).dot(self.edge) / square);
        let on_j = -(on_l * s_l + on_r * s_r);
        [-(on_l + on_r) - on_j, on_j, on_l, on_r]
    }

    /// ICD eq. 33 without its rest value [m²].
    fn product(&self) -> Real {
        let [i, j, l, r] = self.at;
        let middle = (i + j) * 0.5;
        (l - middle).dot(r - middle)
    }

    /// ICD eq. 34: its derivative with respect to each corner [m].
    fn product_gradient(&self) -> [Vec3; 4] {
        let [i, j, l, r] = self.at;
        let middle = (i + j) * 0.5;
        let inner = -((l + r) * 0.5 - middle);
        [inner, inner, r - middle, l - middle]
    }
}

/// Bending in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltBending {
    pub slot: u32,
    pub source: Bending,
}

impl BuiltBending {
    /// One row per fold.
    pub fn rows(&self, view: &View<'_>, soft: Softness, out: &mut RowBuffer) {
        let s = &self.source;
        let first = view.node_block(self.slot, 0);
        let at = |node: u32| vec(view.pose[(first + node) as usize]);
        for (corners, &[rest, shape]) in s.folds.iter().zip(&s.rest) {
            let fold = Fold::new(corners.map(at));
            let (gradient, wish) = match s.law {
                BendLaw::Angle => {
                    let k = s.stiffness * shape;
                    let error = short_way(fold.angle() - rest);
                    (fold.gradient(), Wish::Spring(error, k, k * s.damping, view.h))
                }
                BendLaw::Printed => (fold.product_gradient(), Wish::Held(fold.product() - rest, 0.0, soft)),
            };
            for (&node, axis) in corners.iter().zip(gradient) {
                out.add_term(view.node_term(first + node, axis));
            }
            out.close(wish, Bounds::Free);
        }
    }
}

/// The same angle, wrapped to the interval from −π to π.
fn short_way(angle: Real) -> Real {
    let pi = std::f64::consts::PI as Real;
    if angle > pi {
        angle - 2.0 * pi
    } else if angle < -pi {
        angle + 2.0 * pi
    } else {
        angle
    }
}

words!(BendLaw, {
    "angle" => Angle, "The signed angle between two triangles.";
    "printed" => Printed, "ICD eq. 33 as printed; for comparison.";
});

// The order of the fields is that of saves: new ones are appended.
record!(Bending, "bending", "Lets a sheet resist bending.", Bending::new(BodyId::NONE, [], 0.0), {
    body [required]: ANY, "Which body.";
    folds: ANY, "Edge i, j and the nodes beside it, left and right; without: all inner edges of its surface.";
    rest: FINITE, "Angle of each fold at rest [rad], and |e|²/(A_l + A_r); without: as at the start.";
    stiffness [required]: NOT_NEGATIVE, "Bending stiffness of the sheet [N·m].";
    damping: NOT_NEGATIVE, "Time over which a bent sheet gives in [s].";
    law: ANY, "The constrained quantity of a fold.";
});

impl Kind for BuiltBending {
    fn traits(&self) -> Traits {
        Traits { rows: self.source.folds.len(), internal: true, nodes: true, resultant: false, ..Traits::default() }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        found(self.slot);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltBending::rows(self, view, joint, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(lift: Real) -> [Vec3; 4] {
        [
            Vec3::new(0.1, 0.0, 0.2),
            Vec3::new(1.2, 0.1, 0.0),
            Vec3::new(0.7, 0.9, 0.3 + lift),
            Vec3::new(0.4, -0.8, 0.5 * lift),
        ]
    }

    /// The finite difference of a corner displacement and the gradient agree to second order in the displacement.
    #[test]
    fn gradients_are_the_derivatives_of_angle_and_product() {
        let step: Real = if size_of::<Real>() == 8 { 1e-6 } else { 2e-3 };
        for lift in [-0.6, 0.0, 0.4] {
            let fold = Fold::new(corners(lift));
            let (angle, product) = (fold.gradient(), fold.product_gradient());
            for corner in 0..4 {
                for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                    let moved = |by: Real| {
                        let mut at = corners(lift);
                        at[corner] += axis * by;
                        Fold::new(at)
                    };
                    let (up, down) = (moved(step), moved(-step));
                    let turned = (up.angle() - down.angle()) / (2.0 * step);
                    assert!((turned - angle[corner].dot(axis)).abs() < 3e-3, "{turned} {}", angle[corner].dot(axis));
                    let grown = (up.product() - down.product()) / (2.0 * step);
                    assert!((grown - product[corner].dot(axis)).abs() < 3e-3);
                }
            }
        }
    }

    /// A sheet on a cylinder stores ½ D κ² per square metre: squares with diagonals along their sides, and equilateral
    /// triangles in every orientation.
    #[test]
    fn a_sheet_bent_to_a_cylinder_stores_the_energy_of_a_plate() {
        let (cells, curvature): (i32, Real) = (10, 0.02);
        for (skew, turn) in [(0.0, 0.0), (0.5, 0.0), (0.5, 0.3), (0.5, 0.52)] {
            let height: Real = if skew == 0.0 { 1.0 } else { 0.75_f64.sqrt() as Real };
            let (sin, cos) = Real::sin_cos(turn);
            let at = |(i, j): (i32, i32)| {
                let (x, z) = (i as Real + skew * j as Real, height * j as Real);
                let (x, z) = (cos * x - sin * z, sin * x + cos * z);
                Vec3::new((curvature * x).sin() / curvature, (1.0 - (curvature * x).cos()) / curvature, z)
            };
            let mut energy = 0.0;
            for i in 0..cells {
                for j in 0..cells {
                    // the three edges of a cell: along, up and the diagonal between its two triangles
                    for [a, b, l, r] in [
                        [(i, j), (i + 1, j), (i, j + 1), (i + 1, j - 1)],
                        [(i, j), (i, j + 1), (i - 1, j + 1), (i + 1, j)],
                        [(i + 1, j), (i, j + 1), (i, j), (i + 1, j + 1)],
                    ] {
                        let fold = Fold::new([a, b, l, r].map(at));
                        energy += 0.5 * fold.shape() * fold.angle() * fold.angle();
                    }
                }
            }
            let area = (cells * cells) as Real * height;
            let want = 0.5 * curvature * curvature * area;
            assert!((energy - want).abs() < 0.01 * want, "{skew} {turn}: {energy} {want}");
        }
    }

    /// The forces of a fold have zero sum and zero total torque.
    #[test]
    fn forces_of_a_fold_have_zero_sum_and_zero_torque() {
        let fold = Fold::new(corners(0.5));
        let force: Vec3 = fold.gradient().iter().copied().sum();
        let torque = fold.at.iter().zip(fold.gradient()).fold(Vec3::ZERO, |sum, (x, f)| sum + x.cross(f));
        assert!(force.length() < 1e-5 && torque.length() < 1e-5, "{force} {torque}");
    }

    /// The printed row of ICD 4.5 does not resist bending of a flat sheet: its Jacobian has no component along the
    /// normal.
    #[test]
    fn the_printed_row_does_not_resist_bending_of_a_flat_sheet() {
        let flat = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::new(0.5, -1.0, 0.0)];
        let fold = Fold::new(flat);
        assert!(fold.product_gradient().iter().all(|g| g.z == 0.0));
        assert!(fold.gradient().iter().all(|g| g.z.abs() > 0.9));
    }
}
