//! Oriented particles: ellipsoids with a position, an orientation and an angular velocity, attracted to the best-fit
//! transformation of their rest shape group by group (OP 4.4; Müller and Chentanez 2011).
//!
//! The potential of a group is in `oriented/fit.rs`. The printed stiffness is a fraction of the displacement to the
//! goal per pass; here a frequency f is specified as for shape matching, that of the vibration of a free group about
//! its shape, and a substep is implicit Euler for the sum of all groups. A single group has the exact solution
//!
//! ```text
//!   x ← x + k (g − x),   k = s/(1 + s),   s = weight · (2πf h)²,   g of the fit with weights m k
//!   R_i ← rotated towards G = R R̄_i (smaller angle θ) by ψ,   tan ψ = s sin θ/(1 + s cos θ)
//! ```
//!
//! (ψ is exact about a principal axis). Groups with common particles are solved by Gauss-Seidel: the previous
//! correction of a group is subtracted, its solution is recomputed and added instead. At convergence the forces are
//! those of U at the end of the substep, for any h and number of passes: the static stiffness is that of U. When solved
//! with implicit bodies, or when `implicit` is set, the body contributes its linear system to the common solve instead
//! (`oriented/implicit.rs`). The corrections of a group have no resultant force or torque, the angular momentum of its
//! particles included; the error of rounding and of a finite number of passes is removed from each connected part
//! (`parts.rs`).
//!
//! A link of two particles with weights s_a, s_b resists a twist θ about a principal axis with moments of inertia
//! I_a, I_b like two springs in series, 1/k = 1/(ω² s_a I_a) + 1/(ω² s_b I_b): torque k θ for small angles.
//!
//! A pinned particle moves with its velocity and its angular velocity, independent of forces. Internal state of a
//! particle in State: orientation (4), angular velocity (3) [rad/s], external torque of this step (3) [N·m]; then, if
//! plastic, the rest position (3) and orientation (4) of each member of each group.

mod fit;
mod implicit;
mod plastic;
record!(Ellipsoid, "ellipsoid", "An ellipsoid.", Ellipsoid { radii: Vec3::splat(0.01), density: crate::deformable::fem::SolidParams::default().density }, {
    radii: POSITIVE, "Semi-axes of the ellipsoids [m]: the first along a rope, the last along the normal of a sheet.";
    density: POSITIVE, "Mass by volume of the ellipsoids [kg/m³].";
});

choice!(Groups, "oriented groups", "Which particles keep a shape together.", {
    "neighbours" => Neighbours, "Each particle with all that an edge joins to it.", {};
    "links" => Links, "The two particles of each edge.", {};
    "explicit" => Explicit, "As given.", { 0 groups: Vec<Group>, ANY, "The groups."; };
});

record!(Params, "oriented model", "Oriented particles.", Params::default(), {
    frequency: POSITIVE, "Frequency at which a free group vibrates about its shape [Hz].";
    iterations: ITERATIONS, "Passes a substep.";
    damping: NOT_NEGATIVE, "Rate at which motion and spin that are not rigid decay [1/s].";
    plasticity: ANY, "Lasting deformation, if any.";
    implicit: ANY, "One implicit system with all bodies in contact with it or attached to it: for bodies that carry loads.";
});

#[cfg(test)]
mod tests;

use crate::deformable::particle::{ITERATIONS, ParticleError, check, check_nodes, not_negative, positive};
use crate::deformable::parts::Parts;
use crate::deformable::rotation::{self, SPAN, inertia_of, orientation, put, spin};
use crate::deformable::shape_matching::{Group, Plasticity};
use crate::deformable::{
    Approximation, BodyMut, BodyRef, Coordinates, Deformable, Operator, StepContext, SurfacePoint, Traits,
};
use crate::math::{Block, Mat3, Quat, Real, Sym3, Vec3, add, angle_of, integrate_rotation, turn_free, vec};
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;
use fit::{Goal, Member, Placement, Sets, check_particles, moment, tidy_edges};
use implicit::ImplicitOriented;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, choice, record};

/// One particle at rest.
///
/// An example is at [`oriented::Params`](crate::oriented::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// Position [m].
    pub position: Vec3,
    /// Orientation of the axes.
    pub rotation: Quat,
    /// Semi-axes of the ellipsoid [m].
    pub radii: Vec3,
    /// [kg]
    pub mass: Real,
}

/// Particles on the nodes of a mesh: all of one size, aligned with a rope or a sheet.
///
/// An example is at [`oriented::Params`](crate::oriented::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    /// Semi-axes [m]. Along a rope the first is its direction; on a sheet the last is its normal.
    pub radii: Vec3,
    /// Density of the ellipsoid [kg/m³].
    pub density: Real,
}

/// Groups of particles that are matched to their rest shape.
///
/// An example is at [`oriented::Params`](crate::oriented::Params).
#[derive(Clone, Debug, PartialEq)]
pub enum Groups {
    /// Each particle with all particles connected to it by an edge: the implicit groups of OP 4.4.2.
    Neighbours,
    /// The two particles of each edge.
    Links,
    /// Explicit list; every particle must be in at least one group.
    Explicit(Vec<Group>),
}

/// Parameters of a body of oriented particles.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rope = Polyline::rope(Vec3::ZERO, Vec3::X, 6)?;
/// let grain = oriented::Ellipsoid { radii: Vec3::splat(0.05), density: 500.0 };
/// let model = SoftModel::Oriented(grain, oriented::Groups::Links, oriented::Params::default());
/// let mut world = World::default();
/// let chain = world.add_soft(SoftBody::new(Geometry::Rope(rope.points), model).pinned([0]))?;
/// for _ in 0..5 {
///     world.step(&Input::none());
/// }
/// // particles have an orientation
/// assert!(world.body(chain)?.particle_rotation(3).is_some());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Frequency at which a free group vibrates about its shape [Hz].
    pub frequency: Real,
    /// Passes per substep, 1 or more. More: stiff bodies of many groups converge; fewer: they are softer than
    /// specified.
    pub iterations: u32,
    /// Rate at which linear and angular motion that is not rigid decays [1/s].
    pub damping: Real,
    /// Plastic deformation, if any; strain is the displacement relative to the size of the group, and the rotation
    /// [rad].
    pub plasticity: Option<Plasticity>,
    /// Solve it in one system with all bodies in contact with it or attached to it, also when no other body there is
    /// implicit. Then contacts, friction and attachments act on the stiffness of the groups, where goals alone expose
    /// lumped masses; for tissue under load. The number of passes has no effect then.
    pub implicit: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { frequency: 10.0, iterations: 8, damping: 0.0, plasticity: None, implicit: false }
    }
}

/// A body of oriented particles.
#[derive(Clone, Debug)]
pub struct Oriented {
    params: Params,
    particles: Vec<Particle>,
    /// (node_count) [kg]
    masses: Vec<Real>,
    /// Semi-axes. (node_count) [m]
    radii: Vec<Vec3>,
    sets: Sets,
    parts: Parts,
    /// Rest positions of members. Written by `predict` when plastic. (member_count) [m]
    rests: Vec<Vec3>,
    /// Rest orientations of members. Written by `predict` when plastic. (member_count)
    frames: Vec<Quat>,
    /// ⅕ diag(a²) R̄ᵀ of members. Written by `predict` when plastic. (member_count) [m²]
    moments: Vec<Mat3>,
    /// Corrected positions relative to the first node. Written by `predict`. (node_count) [m]
    places: Vec<Vec3>,
    /// Predicted orientations. Written by `predict`. (node_count)
    stars: Vec<Quat>,
    /// Rotations by all groups. Written by `predict`. (node_count) [rad]
    turns: Vec<Vec3>,
    /// Accumulated displacement and rotation by each group. Written by `predict`. (member_count) [m, rad]
    pulls: Vec<[Vec3; 2]>,
    /// Inertia in world axes at the start of the substep. Written by `predict`. (node_count) [kg·m²]
    inertias: Vec<Sym3>,
    /// Change of velocity and of angular velocity. Written by `predict`. (node_count) [m/s, rad/s]
    change: Vec<Vec3>,
    twist: Vec<Vec3>,
    /// Its linear system when solved with implicit bodies.
    implicit_system: ImplicitOriented,
}

impl Oriented {
    /// A body from particles, the edges between them and groups.
    pub fn new(
        particles: &[Particle],
        edges: &[[u32; 2]],
        groups: &Groups,
        params: Params,
    ) -> Result<Self, ParticleError> {
        let masses: Vec<Real> = particles.iter().map(|p| p.mass).collect();
        let places: Vec<Vec3> = particles.iter().map(|p| p.position).collect();
        check_nodes(&places, &masses)?;
        check_particles(particles)?;
        params.check()?;
        let count = masses.len();
        let sets = Sets::new(count, &tidy_edges(edges, count)?, groups)?;
        let of = |n: &u32| &particles[*n as usize];
        let members = sets.nodes.len();
        Ok(Self {
            params,
            radii: particles.iter().map(|p| p.radii).collect(),
            parts: Parts::new(count, sets.lists()),
            rests: sets.nodes.iter().map(|n| of(n).position - particles[0].position).collect(),
            frames: sets.nodes.iter().map(|n| of(n).rotation.normalize()).collect(),
            moments: sets.nodes.iter().map(|n| moment(of(n).radii, of(n).rotation.normalize())).collect(),
            places: vec![Vec3::ZERO; count],
            stars: vec![Quat::IDENTITY; count],
            turns: vec![Vec3::ZERO; count],
            pulls: vec![[Vec3::ZERO; 2]; members],
            inertias: vec![Sym3::ZERO; count],
            change: vec![Vec3::ZERO; count],
            twist: vec![Vec3::ZERO; count],
            implicit_system: ImplicitOriented::new(params.implicit),
            particles: particles.to_vec(),
            masses,
            sets,
        })
    }

    /// A chain through these points [m], the first axis of each particle along it.
    pub fn rope(points: &[Vec3], grain: Ellipsoid, groups: &Groups, params: Params) -> Result<Self, ParticleError> {
        let last = points.len().saturating_sub(1);
        let along = |k: usize| (points[(k + 1).min(last)] - points[k.saturating_sub(1)]).normalize_or(Vec3::X);
        let turned = |k: usize| Quat::from_rotation_arc(Vec3::X, along(k));
        let edges: Vec<[u32; 2]> = (1..points.len() as u32).map(|k| [k - 1, k]).collect();
        Self::new(&grain.particles(points, turned)?, &edges, groups, params)
    }

    /// A sheet, the last axis of each particle along its normal.
    pub fn sheet(mesh: &TriMesh, grain: Ellipsoid, groups: &Groups, params: Params) -> Result<Self, ParticleError> {
        mesh.check()?;
        let mut normals = vec![Vec3::ZERO; mesh.vertices.len()];
        let mut edges = Vec::with_capacity(3 * mesh.triangles.len());
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
            let area = (b - a).cross(c - a);
            t.iter().for_each(|&i| normals[i as usize] += area);
            edges.extend([[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
        }
        let turned = |k: usize| Quat::from_rotation_arc(Vec3::Z, normals[k].normalize_or(Vec3::Z));
        Self::new(&grain.particles(&mesh.vertices, turned)?, &edges, groups, params)
    }

    /// A solid, all axes along those of the rest shape.
    pub fn solid(mesh: &TetMesh, grain: Ellipsoid, groups: &Groups, params: Params) -> Result<Self, ParticleError> {
        mesh.check()?;
        let edges: Vec<[u32; 2]> =
            mesh.tets.iter().flat_map(|&[a, b, c, d]| [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]).collect();
        Self::new(&grain.particles(&mesh.vertices, |_| Quat::IDENTITY)?, &edges, groups, params)
    }

    /// Points [m] without edges; with explicit groups, or each particle in a group of its own.
    pub fn points(points: &[Vec3], grain: Ellipsoid, groups: &Groups, params: Params) -> Result<Self, ParticleError> {
        Self::new(&grain.particles(points, |_| Quat::IDENTITY)?, &[], groups, params)
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        self.sets.count()
    }

    /// The particles at rest.
    pub fn particles(&self) -> &[Particle] {
        &self.particles
    }

    /// ω² [1/s²].
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    fn omega_squared(&self) -> Real {
        let omega = std::f64::consts::TAU as Real * self.params.frequency;
        omega * omega
    }

    /// Moments of inertia about the axes of the ellipsoid [kg·m²].
    fn inertia(&self, node: usize) -> Vec3 {
        inertia_of(self.masses[node], self.radii[node])
    }

    /// Predicted orientation, or that at the end of a free substep, with the angular velocity there.
    fn turn(&self, node: usize, q: Quat, spin: Vec3, h: Real) -> (Quat, Vec3) {
        let r = self.radii[node];
        let turn = spin * h;
        // a sphere keeps its angular velocity; a rotation too large for one substep is clamped
        if r.x == r.y && r.y == r.z || turn.length_squared() > LONGEST * LONGEST {
            return (integrate_rotation(q, turn.clamp_length_max(LONGEST)), spin);
        }
        turn_free(q, spin, Sym3::diagonal(self.inertia(node)), h)
    }

    /// A member without the accumulated correction of its group; `s` is weight · ω² h².
    fn member(&self, k: usize, s: Real, v: &[Block]) -> Member {
        let node = self.sets.nodes[k] as usize;
        let [way, turn] = self.pulls[k];
        // a pinned particle has no compliance: its weight is s, not s/(1 + s)
        let hold = if v[node][3] > 0.0 { s / (1.0 + s) } else { s };
        Member {
            weight: self.masses[node] * hold,
            place: self.places[node] - way,
            turn: turned(self.stars[node], self.turns[node] - turn),
            rest: self.rests[k],
            moment: self.moments[k],
        }
    }

    /// Replaces the correction of one group by its new solution.
    fn relax(&mut self, group: usize, stiff: Real, v: &[Block]) {
        let members = self.sets.members(group);
        let seen = members.clone().map(|k| self.member(k, stiff * self.sets.shares[k], v));
        let first = members.start;
        let guess = self.stars[self.sets.nodes[first] as usize] * self.frames[first].inverse();
        let found = Placement::find(seen, guess);
        for k in members {
            let node = self.sets.nodes[k] as usize;
            if !(v[node][3] > 0.0) {
                continue;
            }
            let s = stiff * self.sets.shares[k];
            let free = self.member(k, s, v);
            let way = (found.goal(free.rest) - free.place) * (s / (1.0 + s));
            let turn = short_way(free.turn, found.rotation * self.frames[k], s);
            let before = std::mem::replace(&mut self.pulls[k], [way, turn]);
            self.places[node] += way - before[0];
            self.turns[node] += turn - before[1];
        }
    }

    /// Adds external forces and predicts positions and orientations; inertias at the start.
    fn start(&mut self, h: Real, body: &mut BodyMut<'_>) {
        for node in 0..self.masses.len() {
            self.inertias[node] = Sym3::diagonal(self.inertia(node)).rotated(orientation(body.internal_state, node));
        }
        self.parts.frame_spinning(body.x, body.v, &self.inertias);
        body.kick(h);
        let origin = vec(body.x[0]);
        for node in 0..self.masses.len() {
            let (q, mut w) = (orientation(body.internal_state, node), spin(body.internal_state, node));
            if body.v[node][3] > 0.0 {
                let torque = Vec3::from_slice(&body.internal_state[SPAN * node + 7..]);
                let inverse = Sym3::diagonal(self.inertia(node).recip()).rotated(q);
                w += inverse.mul(torque) * h;
                put(body.internal_state, node, q, w);
            }
            self.stars[node] = if body.v[node][3] > 0.0 { self.turn(node, q, w, h).0 } else { turned(q, w * h) };
            self.places[node] = vec(body.x[node]) - origin + vec(body.v[node]) * h;
        }
        self.turns.fill(Vec3::ZERO);
        self.pulls.fill([Vec3::ZERO; 2]);
    }
}

impl Deformable for Oriented {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        Traits {
            internal_state_count: SPAN * self.masses.len() + self.plastic_count(),
            coordinates: Coordinates::Ellipsoids,
            response: Approximation::Lumped { stiffness: Real::INFINITY, damping: 0.0, decay: self.params.damping },
            implicit_form: true,
            ..Traits::default()
        }
    }

    fn start(&self, rotation: Quat, spin: Vec3, internal_state: &mut [Real]) {
        internal_state.fill(0.0);
        for (node, p) in self.particles.iter().enumerate() {
            put(internal_state, node, (rotation * p.rotation.normalize()).normalize(), spin);
        }
        self.rest_plastic(internal_state);
    }

    fn ellipsoids(&self) -> &[Vec3] {
        &self.radii
    }

    fn lower(&self, body: BodyRef<'_>, point: SurfacePoint<'_>, impulse: Vec3, add: &mut dyn FnMut(u32, Vec3)) {
        rotation::lower(body, point, impulse, add);
    }

    fn respond(&self, body: BodyRef<'_>, impulses: &[(u32, Vec3)], add: &mut dyn FnMut(u32, Vec3)) {
        rotation::respond(body, (&self.masses, &self.radii), impulses, add);
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let h = ctx.h;
        self.load_plastic(body.internal_state);
        if self.implicit_system.on {
            self.join(ctx, &mut body);
            return;
        }
        self.start(h, &mut body);
        let stiff = self.omega_squared() * h * h;
        let count = self.sets.count();
        for pass in 0..self.params.iterations {
            // alternating directions: corrections propagate along a complete chain in either direction
            for k in 0..count {
                self.relax(if pass % 2 == 0 { k } else { count - 1 - k }, stiff, body.v);
            }
        }

        self.change.fill(Vec3::ZERO);
        for (k, &node) in self.sets.nodes.iter().enumerate() {
            self.change[node as usize] += self.pulls[k][0] / h;
        }
        for (twist, turn) in self.twist.iter_mut().zip(&self.turns) {
            *twist = *turn / h;
        }
        self.parts.balance_spinning(body.v, &self.inertias, &mut self.change, &mut self.twist);
        if self.params.damping > 0.0 {
            let loss = self.params.damping * h / (1.0 + self.params.damping * h);
            let spins = |node: usize| spin(body.internal_state, node);
            self.parts.damp_spinning(body.v, spins, &self.inertias, loss, (&mut self.change, &mut self.twist));
            self.parts.balance_spinning(body.v, &self.inertias, &mut self.change, &mut self.twist);
        }
        for node in 0..self.masses.len() {
            add(&mut body.v[node], self.change[node]);
            if body.v[node][3] > 0.0 {
                let (q, w) = (orientation(body.internal_state, node), spin(body.internal_state, node));
                put(body.internal_state, node, q, w + self.twist[node]);
            }
        }
    }

    fn operator(&self) -> Option<&dyn Operator> {
        self.implicit_system.on.then_some(self as &dyn Operator)
    }

    fn set_implicit(&mut self, on: bool) -> bool {
        self.implicit_system.on = on || self.params.implicit;
        self.implicit_system.on
    }

    fn advance(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        for (node, (x, v)) in body.x.iter_mut().zip(body.v.iter()).enumerate() {
            add(x, vec(*v) * ctx.h);
            let (q, w) = (orientation(body.internal_state, node), spin(body.internal_state, node));
            let (q, w) = if v[3] > 0.0 { self.turn(node, q, w, ctx.h) } else { (turned(q, w * ctx.h), w) };
            put(body.internal_state, node, q, w);
        }
        self.flow(ctx.h, body);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let mut sum = 0.0;
        self.each_goal(body, |k, place, goal| {
            let node = self.sets.nodes[k] as usize;
            let (own, wanted) = (Mat3::from_quat(orientation(body.internal_state, node)), Mat3::from_quat(goal.turn));
            let off = (own - wanted) * Mat3::from_diagonal(self.radii[node]);
            let turned = off.x_axis.length_squared() + off.y_axis.length_squared() + off.z_axis.length_squared();
            let square = (place - goal.place).length_squared() + 0.2 * turned;
            sum += self.sets.shares[k] * self.masses[node] * square;
        });
        0.5 * self.omega_squared() * sum
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        self.each_goal(body, |k, place, goal| {
            let node = self.sets.nodes[k] as usize;
            out[node] += (goal.place - place) * (self.sets.shares[k] * self.masses[node] * self.omega_squared());
        });
        true
    }
}

impl Oriented {
    /// Calls `see` with each member, its position relative to the first node and its goal there, at the current state.
    fn each_goal(&self, body: BodyRef<'_>, mut see: impl FnMut(usize, Vec3, Goal)) {
        let origin = vec(body.x[0]);
        for group in 0..self.sets.count() {
            let members = self.sets.members(group).map(|k| {
                let node = self.sets.nodes[k] as usize;
                let (rest, frame) = self.rest_of(k, self.kept(body.internal_state));
                Member {
                    weight: self.masses[node] * self.sets.shares[k],
                    place: vec(body.x[node]) - origin,
                    turn: orientation(body.internal_state, node),
                    rest,
                    moment: moment(self.radii[node], frame),
                }
            });
            let first = self.sets.members(group).start;
            let turn = orientation(body.internal_state, self.sets.nodes[first] as usize);
            let found =
                Placement::find(members, turn * self.rest_of(first, self.kept(body.internal_state)).1.inverse());
            for k in self.sets.members(group) {
                let place = vec(body.x[self.sets.nodes[k] as usize]) - origin;
                let (rest, frame) = self.rest_of(k, self.kept(body.internal_state));
                see(k, place, Goal { place: found.goal(rest), turn: found.rotation * frame, centre: found.centre });
            }
        }
    }
}

/// Largest rotation for the series of the exponential [rad].
const LONGEST: Real = 1.5;

fn turned(q: Quat, turn: Vec3) -> Quat {
    if turn == Vec3::ZERO { q } else { integrate_rotation(q, turn.clamp_length_max(LONGEST)) }
}

/// Axis, sine and cosine of the rotation from `from` to `to` by the smaller angle; the axis is zero for no rotation.
fn between(from: Quat, to: Quat) -> (Vec3, Real, Real) {
    let d = to * from.inverse();
    let d = if d.w < 0.0 { -d } else { d };
    let part = Vec3::new(d.x, d.y, d.z);
    let sine = part.length();
    (part.normalize_or_zero(), 2.0 * sine * d.w, d.w * d.w - sine * sine)
}

/// Rotation vector from `from` towards `to` by the angle ψ of the stiffness s [rad].
fn short_way(from: Quat, to: Quat, s: Real) -> Vec3 {
    let (axis, sin, cos) = between(from, to);
    axis * angle_of(s * sin, 1.0 + s * cos)
}

impl Ellipsoid {
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    fn particles(&self, points: &[Vec3], turned: impl Fn(usize) -> Quat) -> Result<Vec<Particle>, ParticleError> {
        let r = self.radii;
        check(&[
            ("radii", r.min_element(), r.min_element() > 0.0 && r.is_finite(), "positive and finite [m]"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
        ])?;
        let mass = self.density * (4.0 / 3.0 * std::f64::consts::PI) as Real * r.x * r.y * r.z;
        let of = |(k, &position): (usize, &Vec3)| Particle { position, rotation: turned(k), radii: r, mass };
        Ok(points.iter().enumerate().map(of).collect())
    }
}

impl Params {
    fn check(&self) -> Result<(), ParticleError> {
        check(&[
            ("frequency", self.frequency, positive(self.frequency), "positive and finite [Hz]"),
            ("iterations", self.iterations as Real, self.iterations > 0, "1 or more"),
            ("damping", self.damping, not_negative(self.damping), "0 or more [1/s]"),
        ])?;
        self.plasticity.map_or(Ok(()), |p| p.check())
    }
}
