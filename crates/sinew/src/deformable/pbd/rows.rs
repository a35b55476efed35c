//! Compliant constraints (Macklin et al. 2016, XPBD), one kind each: C(x) = 0 enforced by the potential U = C²/(2α).
//!
//! α is the compliance, the inverse of a stiffness: [m/N] for lengths, [rad/(N·m)] for angles, [m³/Pa] for volumes; 0
//! is rigid. In a substep h with Λ = h² · (−∂U/∂C) the Gauss-Seidel step of one constraint is
//!
//! ```text
//!   ΔΛ = (−C − α̃ Λ − γ̃ (C − C_n)) / ((1 + γ̃) Σ w_i |∇_i C|² + α̃),   Δp_i = w_i ∇_i C ΔΛ,   α̃ = α/h²
//! ```
//!
//! Λ starts at 0 in every substep. γ̃ = τ/h is a dashpot parallel to the spring, with the time constant τ [s]: its
//! force is τ/α times the rate of C. The rate is (C − C_n)/h with C_n at the start of the substep and not ∇C·Δp/h as
//! printed there: a rigid rotation does not change C, but ∇C·Δp is not zero. At convergence this is implicit Euler for
//! the potential U for any number of iterations: the stiffness is 1/α.

use crate::deformable::particle::{ParticleError, check_entry};
use crate::math::{Block, Real, Vec3, add, angle_of, vec};
use crate::solver::colour::Colouring;

/// |x_b − x_a| = rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The two nodes.
    pub nodes: [u32; 2],
    /// Rest length [m].
    pub rest: Real,
    /// Inverse stiffness when longer than `rest` [m/N]; 0 is rigid.
    pub compliance: Real,
    /// The same when shorter [m/N]; infinite: a tension-only constraint.
    pub compression: Real,
}

/// Bending of a line of three nodes, b = (x_a − x_m)/l_a + (x_c − x_m)/l_c, |b| = rest: |b| is the angle between the
/// segments for small bending, 2 sin(φ/2) in general. Linear in x, so that it is defined when the line is straight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kink {
    /// a, middle, c.
    pub nodes: [u32; 3],
    /// 1/l_a and 1/l_c of the rest lengths [1/m].
    pub weights: [Real; 2],
    /// |b| at rest; 0 is straight.
    pub rest: Real,
    /// Inverse stiffness [rad/(N·m)]; 0 is rigid.
    pub compliance: Real,
}

/// Signed angle between the triangles (i, j, left) and (j, i, right) at their common edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// i, j of the edge, then left and right.
    pub nodes: [u32; 4],
    /// Angle at rest [rad]; 0 is flat.
    pub rest: Real,
    /// Inverse stiffness [rad/(N·m)]; 0 is rigid.
    pub compliance: Real,
}

/// Signed volume of a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// The corners, positive orientation.
    pub nodes: [u32; 4],
    /// Rest volume [m³].
    pub rest: Real,
    /// Volume per pressure [m³/Pa]: rest volume over bulk modulus; 0 is incompressible.
    pub compliance: Real,
}

/// Volume inside a closed surface, as one constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosed {
    /// Triangles, oriented outward.
    pub faces: Vec<[u32; 3]>,
    /// Target volume [m³].
    pub rest: Real,
    /// Volume per pressure [m³/Pa]; 0 is incompressible.
    pub compliance: Real,
}

/// All constraints of a body, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the kinds are documented above")]
pub struct Rows {
    pub distances: Vec<Distance>,
    /// Distances between second neighbours, swept after the others and not subject to the stretch limit.
    pub skip_constraints: Vec<Distance>,
    pub kinks: Vec<Kink>,
    pub hinges: Vec<Hinge>,
    pub volumes: Vec<Volume>,
    pub enclosed: Vec<Enclosed>,
}

/// A constraint on N nodes.
pub(crate) trait Row<const N: usize> {
    /// Its nodes.
    fn nodes(&self) -> [u32; N];
    /// C and its gradient at the corners; none where the gradient is undefined.
    fn measure(&self, corners: [Vec3; N]) -> Option<(Real, [Vec3; N])>;
    /// Compliance where C has this sign.
    fn compliance(&self, c: Real) -> Real;
}

/// State of a constraint during the sweeps of one substep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Λ: h² times the force along C.
    lambda: Real,
    /// C at the start of the substep.
    start: Real,
}

/// Substep and damping constants of the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// 1/h² [1/s²].
    pub inverse_square: Real,
    /// τ/h.
    pub drag: Real,
}

impl Pace {
    /// ΔΛ from C, Σ w|∇C|² and compliance α.
    fn change(&self, c: Real, response: Real, alpha: Real, memory: &Memory) -> Real {
        if alpha == Real::INFINITY {
            return -memory.lambda;
        }
        let soft = alpha * self.inverse_square;
        // a rigid constraint has no spring parallel to the dashpot
        let drag = if alpha > 0.0 { self.drag } else { 0.0 };
        let below = (1.0 + drag) * response + soft;
        if below > 0.0 { (-c - soft * memory.lambda - drag * (c - memory.start)) / below } else { 0.0 }
    }
}

/// Sets Λ to 0 and, for a dashpot, stores C at the start of the substep.
pub(crate) fn begin<const N: usize, R: Row<N>>(rows: &[R], p: &[Block], memory: &mut [Memory], drag: bool) {
    if !drag {
        memory.fill(Memory::default());
        return;
    }
    for (row, memory) in rows.iter().zip(memory) {
        let c = row.measure(row.nodes().map(|i| vec(p[i as usize]))).map_or(0.0, |m| m.0);
        *memory = Memory { lambda: 0.0, start: c };
    }
}

/// One sweep over all constraints of a kind, colour by colour; p holds positions and inverse masses.
pub(crate) fn sweep<const N: usize, R: Row<N>>(rows: &[R], p: &mut [Block], memory: &mut [Memory], pace: Pace) {
    for (row, memory) in rows.iter().zip(memory) {
        let nodes = row.nodes();
        let Some((c, gradient)) = row.measure(nodes.map(|i| vec(p[i as usize]))) else { continue };
        let mut response = 0.0;
        for k in 0..N {
            response += p[nodes[k] as usize][3] * gradient[k].length_squared();
        }
        // the sign of C without this constraint selects the compliance for tension or compression
        let alpha = row.compliance(c - response * memory.lambda);
        let change = pace.change(c, response, alpha, memory);
        memory.lambda += change;
        for k in 0..N {
            let node = &mut p[nodes[k] as usize];
            add(node, gradient[k] * (node[3] * change));
        }
    }
}

/// Energy [J], and forces into `out` [N]; false when there is a rigid constraint, whose force is undefined.
pub(crate) fn pull<const N: usize, R: Row<N>>(rows: &[R], x: &[Block], mut out: Option<&mut [Vec3]>) -> (Real, bool) {
    let (mut energy, mut known) = (0.0, true);
    for row in rows {
        let nodes = row.nodes();
        let Some((c, gradient)) = row.measure(nodes.map(|i| vec(x[i as usize]))) else { continue };
        let alpha = row.compliance(c);
        if alpha == 0.0 {
            known = false;
            continue;
        }
        energy += 0.5 * c * c / alpha;
        if let Some(out) = out.as_deref_mut() {
            for k in 0..N {
                out[nodes[k] as usize] -= gradient[k] * (c / alpha);
            }
        }
    }
    (energy, known)
}

impl Row<2> for Distance {
    fn nodes(&self) -> [u32; 2] {
        self.nodes
    }

    #[inline]
    fn measure(&self, [a, b]: [Vec3; 2]) -> Option<(Real, [Vec3; 2])> {
        let d = b - a;
        let length = d.length();
        // coincident nodes are separated along a fixed axis: the choice is arbitrary
        let u = if length > 0.0 { d / length } else { Vec3::X };
        Some((length - self.rest, [-u, u]))
    }

    fn compliance(&self, c: Real) -> Real {
        if c < 0.0 { self.compression } else { self.compliance }
    }
}

impl Row<3> for Kink {
    fn nodes(&self) -> [u32; 3] {
        self.nodes
    }

    fn measure(&self, [a, m, c]: [Vec3; 3]) -> Option<(Real, [Vec3; 3])> {
        let [wa, wc] = self.weights;
        let b = (a - m) * wa + (c - m) * wc;
        let size = b.length();
        if !(size > 0.0) {
            // straight: at rest, or with an undefined bending direction
            return None;
        }
        let u = b / size;
        Some((size - self.rest, [u * wa, u * -(wa + wc), u * wc]))
    }

    fn compliance(&self, _: Real) -> Real {
        self.compliance
    }
}

impl Row<4> for Hinge {
    fn nodes(&self) -> [u32; 4] {
        self.nodes
    }

    /// Erratum to ICD eq. 33-34: with n_L, n_R the unnormalised normals, e = x_j − x_i and s = (x − x_i)·e/|e|²,
    /// ∂θ/∂x_L = |e| n_L/|n_L|², the same for R, and the edge nodes balance them with the lever arm s.
    fn measure(&self, [i, j, left, right]: [Vec3; 4]) -> Option<(Real, [Vec3; 4])> {
        let e = j - i;
        let (l, r) = (left - i, right - i);
        let (nl, nr) = (l.cross(e), e.cross(r));
        let (e2, nl2, nr2) = (e.length_squared(), nl.length_squared(), nr.length_squared());
        // the angle is undefined for degenerate triangles
        let least = Real::EPSILON * e2;
        if !(nl2 > least * l.length_squared() && nr2 > least * r.length_squared()) {
            return None;
        }
        let length = e2.sqrt();
        let angle = angle_of(nl.cross(nr).dot(e) / length, nl.dot(nr));
        let (gl, gr) = (nl * (length / nl2), nr * (length / nr2));
        let (sl, sr) = (l.dot(e) / e2, r.dot(e) / e2);
        let gj = -(gl * sl + gr * sr);
        let gi = -(gl * (1.0 - sl) + gr * (1.0 - sr));
        Some((wrap(angle - self.rest), [gi, gj, gl, gr]))
    }

    fn compliance(&self, _: Real) -> Real {
        self.compliance
    }
}

impl Row<4> for Volume {
    fn nodes(&self) -> [u32; 4] {
        self.nodes
    }

    fn measure(&self, [a, b, c, d]: [Vec3; 4]) -> Option<(Real, [Vec3; 4])> {
        let (b, c, d) = (b - a, c - a, d - a);
        let sixth: Real = 1.0 / 6.0;
        let (gb, gc, gd) = (c.cross(d) * sixth, d.cross(b) * sixth, b.cross(c) * sixth);
        Some((gd.dot(d) - self.rest, [-(gb + gc + gd), gb, gc, gd]))
    }

    fn compliance(&self, _: Real) -> Real {
        self.compliance
    }
}

impl Enclosed {
    /// Current enclosed volume [m³], and its gradient by node into `gradient`.
    pub(crate) fn measure(&self, p: &[Block], gradient: &mut [Vec3]) -> Real {
        gradient.fill(Vec3::ZERO);
        let origin = vec(p[self.faces.first().map_or(0, |f| f[0] as usize)]);
        let mut six = 0.0;
        for face in &self.faces {
            let [i, j, k] = face.map(|n| n as usize);
            let (a, b, c) = (vec(p[i]) - origin, vec(p[j]) - origin, vec(p[k]) - origin);
            let bc = b.cross(c);
            six += a.dot(bc);
            gradient[i] += bc;
            gradient[j] += c.cross(a);
            gradient[k] += a.cross(b);
        }
        for g in gradient {
            *g /= 6.0;
        }
        six / 6.0
    }

    /// Begins the substep.
    pub(crate) fn begin(&self, p: &[Block], memory: &mut Memory, gradient: &mut [Vec3]) {
        *memory = Memory { lambda: 0.0, start: self.measure(p, gradient) - self.rest };
    }

    /// One Gauss-Seidel step of the enclosed volume.
    pub(crate) fn relax(&self, p: &mut [Block], memory: &mut Memory, pace: Pace, gradient: &mut [Vec3]) {
        let c = self.measure(p, gradient) - self.rest;
        let response = p.iter().zip(gradient.iter()).map(|(p, g)| p[3] * g.length_squared()).sum();
        let change = pace.change(c, response, self.compliance, memory);
        memory.lambda += change;
        for (p, g) in p.iter_mut().zip(gradient.iter()) {
            add(p, *g * (p[3] * change));
        }
    }
}

/// Into −π … π.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wrap(angle: Real) -> Real {
    const PI: Real = std::f64::consts::PI as Real;
    if angle > PI {
        angle - 2.0 * PI
    } else if angle < -PI {
        angle + 2.0 * PI
    } else {
        angle
    }
}

/// The signed angle at an edge [rad], for rest angles.
pub(crate) fn hinge_angle(corners: [Vec3; 4]) -> Real {
    let flat = Hinge { nodes: [0; 4], rest: 0.0, compliance: 0.0 };
    flat.measure(corners).map_or(0.0, |m| m.0)
}

impl Rows {
    /// Returns an error for missing and repeated nodes and numbers out of range.
    pub(crate) fn check(&self, count: usize) -> Result<(), ParticleError> {
        fn all<const N: usize, R: Row<N>>(
            list: &'static str,
            rows: &[R],
            count: usize,
            numbers: impl Fn(&R) -> [(&'static str, Real, bool); 2],
        ) -> Result<(), ParticleError> {
            for (index, row) in rows.iter().enumerate() {
                check_entry(list, index, &row.nodes(), count)?;
                if let Some((name, value, _)) = numbers(row).into_iter().find(|n| !n.2) {
                    let range = if name == "rest" { "finite" } else { "0 or more" };
                    return Err(ParticleError::BadEntry { list, index, name, value, range });
                }
            }
            Ok(())
        }
        let soft = |alpha: Real| ("compliance", alpha, crate::deformable::particle::not_negative(alpha));
        let rest = |value: Real| ("rest", value, value.is_finite());
        for (list, rows) in [("distances", &self.distances), ("braces", &self.skip_constraints)] {
            all(list, rows, count, |r| [soft(r.compliance), rest(r.rest)])?;
            all(list, rows, count, |r| {
                [("compression", r.compression, r.compression >= 0.0), ("rest", r.rest, r.rest >= 0.0)]
            })?;
        }
        all("kinks", &self.kinks, count, |r| [soft(r.compliance), rest(r.rest)])?;
        all("kinks", &self.kinks, count, |r| {
            r.weights.map(|w| ("weights", w, crate::deformable::particle::not_negative(w)))
        })?;
        all("hinges", &self.hinges, count, |r| [soft(r.compliance), rest(r.rest)])?;
        all("volumes", &self.volumes, count, |r| [soft(r.compliance), rest(r.rest)])?;
        for (index, row) in self.enclosed.iter().enumerate() {
            for face in &row.faces {
                check_entry("enclosed", index, face, count)?;
            }
            if let Some((name, value, _)) = [soft(row.compliance), rest(row.rest)].into_iter().find(|n| !n.2) {
                let (list, range) = ("enclosed", "0 or more, and finite");
                return Err(ParticleError::BadEntry { list, index, name, value, range });
            }
        }
        Ok(())
    }

    /// Sorts each kind by colour, so that adjacent rows of a list have no common node: sweeps in mesh order add energy
    /// to stiff sheets, and the rows of a colour can be processed in parallel without changing a bit.
    pub(crate) fn colour(&mut self, count: usize) {
        fn sort<const N: usize, R: Row<N> + Clone>(rows: &mut Vec<R>, count: usize) {
            let mut colouring = Colouring::default();
            colouring.reset(count);
            let mut keyed: Vec<(usize, usize)> =
                rows.iter().enumerate().map(|(i, r)| (colouring.pick_all(r.nodes().into_iter()), i)).collect();
            keyed.sort_unstable();
            *rows = keyed.into_iter().map(|(_, i)| rows[i].clone()).collect();
        }
        sort(&mut self.distances, count);
        sort(&mut self.skip_constraints, count);
        sort(&mut self.kinks, count);
        sort(&mut self.hinges, count);
        sort(&mut self.volumes, count);
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        let pairs = self.distances.len() + self.skip_constraints.len();
        pairs + self.kinks.len() + self.hinges.len() + self.volumes.len() + self.enclosed.len()
    }

    /// Groups of connected nodes.
    pub(crate) fn links(&self) -> impl Iterator<Item = &[u32]> {
        let distances = self.distances.iter().chain(&self.skip_constraints).map(|r| r.nodes.as_slice());
        let kinks = self.kinks.iter().map(|r| r.nodes.as_slice());
        let hinges = self.hinges.iter().map(|r| r.nodes.as_slice());
        let volumes = self.volumes.iter().map(|r| r.nodes.as_slice());
        let faces = self.enclosed.iter().flat_map(|e| &e.faces).map(|f| f.as_slice());
        distances.chain(kinks).chain(hinges).chain(volumes).chain(faces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 4] =
        [Vec3::new(0.1, 0.2, -0.1), Vec3::new(1.1, -0.1, 0.2), Vec3::new(0.3, 0.9, 0.4), Vec3::new(0.6, -0.8, 0.7)];

    /// Compares the gradient with finite differences and checks that it has no resultant force or torque.
    fn check_gradient<const N: usize, R: Row<N>>(row: &R, corners: [Vec3; N]) {
        let (_, gradient) = row.measure(corners).unwrap();
        // balances rounding error over the step and truncation error of second order
        let step = root3(Real::EPSILON);
        for k in 0..N {
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let at = |s: Real| {
                    let mut moved = corners;
                    moved[k] += axis * s;
                    row.measure(moved).unwrap().0
                };
                let slope = (at(step) - at(-step)) / (2.0 * step);
                assert!((slope - gradient[k].dot(axis)).abs() < 20.0 * step * step, "{k} {axis}: {slope}");
            }
        }
        let push: Vec3 = gradient.into_iter().sum();
        let turn: Vec3 = (0..N).map(|k| corners[k].cross(gradient[k])).sum();
        assert!(push.length() < 20.0 * Real::EPSILON && turn.length() < 20.0 * Real::EPSILON, "{push} {turn}");
    }

    fn root3(v: Real) -> Real {
        crate::math::root(v, 3)
    }

    #[test]
    fn gradients_match_differences_and_have_no_resultant_force_or_torque() {
        let [a, b, c, d] = CORNERS;
        let distance = Distance { nodes: [0, 1], rest: 0.5, compliance: 0.0, compression: 0.0 };
        check_gradient(&distance, [a, b]);
        let kink = Kink { nodes: [0, 1, 2], weights: [0.7, 1.3], rest: 0.1, compliance: 0.0 };
        check_gradient(&kink, [a, b, c]);
        let hinge = Hinge { nodes: [0, 1, 2, 3], rest: 0.3, compliance: 0.0 };
        check_gradient(&hinge, CORNERS);
        let volume = Volume { nodes: [0, 1, 2, 3], rest: 0.1, compliance: 0.0 };
        check_gradient(&volume, [a, b, c, d]);
    }

    #[test]
    fn a_flat_hinge_has_a_signed_angle_and_a_gradient() {
        let wing = |z: Real| [Vec3::ZERO, Vec3::X, Vec3::new(0.4, 1.0, 0.0), Vec3::new(0.6, -1.0, z)];
        assert_eq!(hinge_angle(wing(0.0)), 0.0);
        let (up, down) = (hinge_angle(wing(0.01)), hinge_angle(wing(-0.01)));
        assert!((up.abs() - 0.01).abs() < 1e-5 && (up + down).abs() < 1e-6, "{up} {down}");
        let hinge = Hinge { nodes: [0, 1, 2, 3], rest: 0.0, compliance: 0.0 };
        let (_, gradient) = hinge.measure(wing(0.0)).unwrap();
        assert!((gradient[3].z.abs() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_volume_of_a_closed_surface_is_that_of_its_tetrahedra() {
        let mesh = crate::model::tet_mesh::TetMesh::block([2, 1, 1], Vec3::new(0.4, 0.2, 0.3)).unwrap();
        let p: Vec<Block> = mesh.vertices.iter().map(|v| [v.x + 1.0, v.y, v.z, 1.0]).collect();
        let mut gradient = vec![Vec3::ZERO; p.len()];
        let enclosed = Enclosed { faces: mesh.boundary_faces(), rest: 0.0, compliance: 0.0 };
        assert!((enclosed.measure(&p, &mut gradient) - 0.024).abs() < 1e-6);
        // dilatation about the middle: dV = 3 V
        let growth: Real = gradient.iter().zip(&mesh.vertices).map(|(g, v)| g.dot(*v)).sum();
        assert!((growth - 0.072).abs() < 1e-6);
    }

    #[test]
    fn rows_of_a_colour_have_no_common_node() {
        let link = |a: u32| Distance { nodes: [a, a + 1], rest: 1.0, compliance: 0.0, compression: 0.0 };
        let mut rows = Rows { distances: (0..10).map(link).collect(), ..Rows::default() };
        rows.colour(11);
        let first: Vec<u32> = rows.distances.iter().map(|d| d.nodes[0]).collect();
        assert_eq!(first, [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
    }
}
