//! A surface that follows ellipsoidal nodes: each vertex is transformed by the frames of the particles near it,
//!
//! ```text
//!   p = Σ w_i (x_i + R_i R̄_iᵀ (s − x̄_i)),   w_i ∝ (1 − (d_i/r)²)²,   Σ w_i = 1
//! ```
//!
//! with s the vertex at rest, d_i its distance to particle i, and r 1.5 times its distance to the second nearest. One
//! particle can carry an entire surface, a chain carries a tube through bends and twists: weights over positions alone
//! could not, since positions on a line do not determine a rotation about it. It is for rendering only; contact is with
//! the ellipsoids.

use crate::deformable::rotation;
use crate::math::{Quat, Real, Vec3};
use crate::model::tri_mesh::TriMesh;

/// Support radius r of a vertex, in units of the distance to the second nearest particle.
const SUPPORT: Real = 1.5;

/// Contribution of one particle to a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Held {
    node: u32,
    weight: Real,
    /// Vertex relative to the particle, in its axes [m].
    local: Vec3,
}

/// A mesh on ellipsoidal nodes.
///
/// An example is at [`BodyView`](crate::BodyView).
#[derive(Clone, Debug, PartialEq)]
pub struct ParticleSkin {
    triangles: Vec<[u32; 3]>,
    /// First entry of each vertex in `held`, and the end. (vertex_count + 1)
    starts: Vec<u32>,
    held: Vec<Held>,
}

impl ParticleSkin {
    /// Binds a mesh to particles at rest: positions [m] and orientations.
    pub fn new(mesh: &TriMesh, places: &[Vec3], rotations: &[Quat]) -> Self {
        let (mut starts, mut held) = (vec![0], Vec::new());
        for &s in &mesh.vertices {
            let (mut first, mut second) = (Real::INFINITY, Real::INFINITY);
            for d in places.iter().map(|x| x.distance(s)) {
                if d < first {
                    (first, second) = (d, first);
                } else if d < second {
                    second = d;
                }
            }
            // a single particle carries all vertices
            let reach = SUPPORT * if second.is_finite() { second } else { first };
            let begin = held.len();
            for (node, (&x, q)) in places.iter().zip(rotations).enumerate() {
                let part = 1.0 - (s - x).length_squared() / (reach * reach).max(Real::MIN_POSITIVE);
                if part > 0.0 {
                    held.push(Held { node: node as u32, weight: part * part, local: q.inverse() * (s - x) });
                }
            }
            let sum: Real = held[begin..].iter().map(|h| h.weight).sum();
            held[begin..].iter_mut().for_each(|h| h.weight /= sum);
            starts.push(held.len() as u32);
        }
        Self { triangles: mesh.triangles.clone(), starts, held }
    }

    /// Triangles over its vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True without vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Positions of its vertices for particles at these positions and orientations [m]. No allocation once `out` has
    /// its capacity.
    pub fn positions(&self, places: &[Vec3], turned: impl Fn(usize) -> Quat, out: &mut Vec<Vec3>) {
        out.clear();
        for pair in self.starts.windows(2) {
            let part = |sum: Vec3, h: &Held| {
                let node = h.node as usize;
                sum + (places[node] + turned(node) * h.local) * h.weight
            };
            out.push(self.held[pair[0] as usize..pair[1] as usize].iter().fold(Vec3::ZERO, part));
        }
    }

    /// Positions of its vertices for the state variables of a body [m].
    pub(crate) fn positions_in(&self, places: &[Vec3], inner: &[Real], out: &mut Vec<Vec3>) {
        self.positions(places, |node| rotation::orientation(inner, node), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tube() -> (TriMesh, Vec<Vec3>) {
        let around = |k: usize| {
            let angle = (k % 6) as Real * core::f64::consts::PI as Real / 3.0;
            Vec3::new(0.1 * (k / 6) as Real, 0.02 * angle.cos(), 0.02 * angle.sin())
        };
        let vertices: Vec<Vec3> = (0..30).map(around).collect();
        let triangles = (0..24).map(|k| [k, k + 6, (k / 6) * 6 + (k + 1) % 6]).collect();
        (TriMesh { vertices, triangles }, (0..5).map(|k| Vec3::X * (0.1 * k as Real)).collect())
    }

    #[test]
    fn a_skin_at_rest_is_the_mesh_and_follows_rigid_motion() {
        let (mesh, places) = tube();
        let rest = vec![Quat::from_rotation_z(0.4); 5];
        let skin = ParticleSkin::new(&mesh, &places, &rest);
        let mut out = Vec::new();
        skin.positions(&places, |k| rest[k], &mut out);
        assert!(out.iter().zip(&mesh.vertices).all(|(a, b)| a.distance(*b) < 10.0 * Real::EPSILON));
        let (q, shift) = (Quat::from_axis_angle(Vec3::new(1.0, 2.0, 0.5).normalize(), 1.3), Vec3::new(0.2, -0.1, 0.3));
        let moved: Vec<Vec3> = places.iter().map(|&x| q * x + shift).collect();
        skin.positions(&moved, |k| q * rest[k], &mut out);
        for (a, b) in out.iter().zip(&mesh.vertices) {
            assert!(a.distance(q * *b + shift) < 20.0 * Real::EPSILON);
        }
    }

    #[test]
    fn a_twist_of_the_particles_rotates_the_rings_of_a_tube() {
        let (mesh, places) = tube();
        let skin = ParticleSkin::new(&mesh, &places, &[Quat::IDENTITY; 5]);
        let mut out = Vec::new();
        skin.positions(&places, |k| Quat::from_rotation_x(0.3 * k as Real), &mut out);
        for (k, p) in out.iter().enumerate() {
            // a ring at a particle: its neighbours, rotated by equal angles in opposite directions, contract it by less
            // than 1 − cos 0.3
            let wanted = Quat::from_rotation_x(0.3 * (k / 6) as Real) * mesh.vertices[k];
            assert!(p.distance(wanted) < 0.2 * 0.02, "{k}: {p} {wanted}");
        }
    }

    #[test]
    fn one_particle_carries_an_entire_surface() {
        let (mesh, _) = tube();
        let skin = ParticleSkin::new(&mesh, &[Vec3::ZERO], &[Quat::IDENTITY]);
        let (q, mut out) = (Quat::from_rotation_y(0.7), Vec::new());
        skin.positions(&[Vec3::Y], |_| q, &mut out);
        assert!(out.iter().zip(&mesh.vertices).all(|(a, b)| a.distance(q * *b + Vec3::Y) < 10.0 * Real::EPSILON));
    }
}
