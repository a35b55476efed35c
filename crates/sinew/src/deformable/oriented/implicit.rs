//! Linear system of oriented particles that are solved together with implicit bodies: velocities and angular velocities
//! as unknowns of one solve, so that a contact or an attachment acts on the stiffness of the groups and not on a lumped
//! mass, and friction rotates the particles.
//!
//! With W = weight · (m 1, I) of the members of a group, and P the projection onto its rigid motions, orthogonal in Σ W
//! a·b,
//!
//! ```text
//!   A = M + h² ω² Σ_groups (W − W P),   M = (m 1, I)
//!   b = M v + h (f, τ) + h ω² weight (m (g − x), m/5 Σ_k a_k² R_i e_k × G_i e_k)
//! ```
//!
//! The forces are the negative gradient of U (`fit.rs`) at the start of the substep, G = R R̄_i the goal of an
//! orientation and g that of a position; P uses the arms of the goals. This is the Gauss-Newton matrix of a fit whose
//! transformation is eliminated at each point (variable projection, Kaufman 1975), symmetric, with A − M positive
//! semidefinite. At equilibrium b is zero: the static shape is that of U, as with sweeps.
//!
//! Blocks: velocities first, then angular velocities.

use crate::deformable::limit;
use crate::deformable::oriented::Oriented;
use crate::deformable::rotation::{SPAN, orientation, put, spin};
use crate::deformable::system::Affine;
use crate::deformable::{BodyMut, Modes, Operator, RigidSums, SmoothMotions, StepContext};
use crate::math::{Block, Mat3, Quat, Real, Sym3, Vec3, add, cross_matrix, vec};

/// Data of A and b besides the groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImplicitOriented {
    /// True while the body is solved with implicit bodies.
    pub on: bool,
    /// h² ω². Written by `join`.
    stiff: Real,
    /// Goal positions relative to the centres of their groups. Written by `join`. (member_count) [m]
    arms: Vec<Vec3>,
    /// Σ W of the translations, and the inverse inertia about the centre. Written by `join`. (group_count) [kg,
    /// 1/(kg·m²)]
    groups: Vec<(Real, Sym3)>,
    /// b. Written by `join`. (2 node_count) [N·s, N·m·s]
    load: Vec<Block>,
    /// Masses, then the mean of the moments of inertia; infinite where pinned. Written by `join`. (2 node_count)
    mass: Vec<Real>,
    sums: RigidSums,
    /// Its smooth motions. Written by `join`.
    affine: Affine,
}

impl ImplicitOriented {
    /// Without data; `on` from the start for a body that is implicit by its parameters.
    pub fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }
}

impl Oriented {
    /// A and b at the current state; damping is applied to velocities and angular velocities first.
    pub(crate) fn join(&mut self, ctx: &StepContext<'_>, body: &mut BodyMut<'_>) {
        let count = self.masses.len();
        for node in 0..count {
            self.inertias[node] = Sym3::diagonal(self.inertia(node)).rotated(orientation(body.internal_state, node));
        }
        self.slow(ctx.h, body);
        let mut j = std::mem::take(&mut self.implicit_system);
        // one pinned ellipsoid holds position and orientation
        let held = body.v.iter().any(|v| v[3] == 0.0);
        j.stiff = limit::goal_stiffness(ctx.h, self.omega_squared(), held);
        j.load.resize(2 * count, [0.0; 4]);
        j.mass.resize(2 * count, 0.0);
        let (mut own, mut turning) = (Mat3::ZERO, Vec3::ZERO);
        for node in 0..count {
            let push = vec(body.v[node]) * self.masses[node] + body.force[node] * ctx.h;
            let torque = Vec3::from_slice(&body.internal_state[SPAN * node + 7..]);
            let twist = self.inertias[node].mul(spin(body.internal_state, node)) + torque * ctx.h;
            (own, turning) = (own + self.inertias[node].to_mat(), turning + twist);
            (j.load[node], j.load[count + node]) = (block(push), block(twist));
            let pinned = body.v[node][3] == 0.0;
            let mean = self.inertia(node).element_sum() / 3.0;
            j.mass[node] = if pinned { Real::INFINITY } else { self.masses[node] };
            j.mass[count + node] = if pinned { Real::INFINITY } else { mean };
        }
        self.pull(ctx.h, body, &mut j);
        j.sums.sum_up(&self.masses, ctx.h, body);
        j.sums.add_spins(Sym3::from_mat(&own), turning);
        self.implicit_system = j;
        let mut affine = std::mem::take(&mut self.implicit_system.affine);
        affine.prepare(body.x, self);
        self.implicit_system.affine = affine;
    }

    /// Removes the fraction of non-rigid motion that damping dissipates in h, from velocities and angular velocities.
    fn slow(&mut self, h: Real, body: &mut BodyMut<'_>) {
        let loss = self.params.damping * h / (1.0 + self.params.damping * h);
        if !(loss > 0.0) {
            return;
        }
        self.parts.frame_spinning(body.x, body.v, &self.inertias);
        self.change.fill(Vec3::ZERO);
        self.twist.fill(Vec3::ZERO);
        let spins = |node: usize| spin(body.internal_state, node);
        self.parts.damp_spinning(body.v, spins, &self.inertias, loss, (&mut self.change, &mut self.twist));
        self.parts.balance_spinning(body.v, &self.inertias, &mut self.change, &mut self.twist);
        for (node, v) in body.v.iter_mut().enumerate().filter(|(_, v)| v[3] > 0.0) {
            add(v, self.change[node]);
            let (q, w) = (orientation(body.internal_state, node), spin(body.internal_state, node));
            put(body.internal_state, node, q, w + self.twist[node]);
        }
    }

    /// Adds the forces of all groups to b; arms and inertias of their goals.
    fn pull(&self, h: Real, body: &BodyMut<'_>, j: &mut ImplicitOriented) {
        let count = self.masses.len();
        let ImplicitOriented { stiff, arms, groups, load, .. } = j;
        let rate = *stiff / h;
        arms.clear();
        groups.clear();
        let (mut total, mut inertia) = (0.0, Mat3::ZERO);
        self.each_goal(body.read(), |k, place, goal| {
            let node = self.sets.nodes[k] as usize;
            let (share, mass) = (self.sets.shares[k], self.masses[node]);
            add(&mut load[node], (goal.place - place) * (rate * share * mass));
            let twist = pull_of(orientation(body.internal_state, node), goal.turn, self.radii[node]) * (0.2 * mass);
            add(&mut load[count + node], twist * (rate * share));
            let arm = goal.place - goal.centre;
            arms.push(arm);
            total += share * mass;
            let lever = cross_matrix(arm);
            inertia += (self.inertias[node].to_mat() - lever * lever * mass) * share;
            if k + 1 == self.sets.members(groups.len()).end {
                groups.push((total, inverse_of(&inertia)));
                (total, inertia) = (0.0, Mat3::ZERO);
            }
        });
    }

    /// Velocity and angular velocity of a group: P v.
    fn motion(&self, group: usize, v: &[Block]) -> (Vec3, Vec3) {
        let (mut momentum, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        let count = self.masses.len();
        for k in self.sets.members(group) {
            let node = self.sets.nodes[k] as usize;
            let push = vec(v[node]) * (self.masses[node] * self.sets.shares[k]);
            momentum += push;
            moment += self.implicit_system.arms[k].cross(push);
            moment += self.inertias[node].mul(vec(v[count + node])) * self.sets.shares[k];
        }
        let (total, inverse) = self.implicit_system.groups[group];
        (momentum / total, inverse.mul(moment))
    }
}

impl Operator for Oriented {
    fn block_count(&self) -> usize {
        2 * self.masses.len()
    }

    fn point_count(&self) -> usize {
        self.masses.len()
    }

    fn momentum(&self, at: usize, v: Vec3) -> Vec3 {
        let count = self.masses.len();
        if at < count { v * self.masses[at] } else { self.inertias[at - count].mul(v) }
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        let count = self.masses.len();
        for (at, (out, v)) in out.iter_mut().zip(v).enumerate() {
            *out = block(self.momentum(at, vec(*v)));
        }
        for group in 0..self.sets.count() {
            let (velocity, turn) = self.motion(group, v);
            for k in self.sets.members(group) {
                let node = self.sets.nodes[k] as usize;
                let stiff = self.implicit_system.stiff * self.sets.shares[k];
                let left = vec(v[node]) - velocity - turn.cross(self.implicit_system.arms[k]);
                add(&mut out[node], left * (stiff * self.masses[node]));
                let turned = vec(v[count + node]) - turn;
                add(&mut out[count + node], self.inertias[node].mul(turned) * stiff);
            }
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        let count = self.masses.len();
        for node in 0..count {
            out[node] = Mat3::from_diagonal(Vec3::splat(self.masses[node]));
            out[count + node] = self.inertias[node].to_mat();
        }
        for group in 0..self.sets.count() {
            let (total, inverse) = self.implicit_system.groups[group];
            let inverse = inverse.to_mat();
            for k in self.sets.members(group) {
                let node = self.sets.nodes[k] as usize;
                let share = self.sets.shares[k];
                let weight = self.masses[node] * share;
                let lever = cross_matrix(self.implicit_system.arms[k]);
                // contribution of one member to the mean velocity and to the rotation of its own group
                let follows = Mat3::from_diagonal(Vec3::splat(weight / total)) - lever * inverse * lever * weight;
                out[node] += (Mat3::IDENTITY - follows) * (self.implicit_system.stiff * weight);
                let own = self.inertias[node].to_mat() * share;
                out[count + node] += (own - own * inverse * own) * self.implicit_system.stiff;
            }
        }
    }

    fn load(&self) -> &[Block] {
        &self.implicit_system.load
    }

    fn mass(&self) -> &[Real] {
        &self.implicit_system.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        self.implicit_system.sums.modes()
    }

    fn smooth(&self) -> Option<&dyn SmoothMotions> {
        Some(&self.implicit_system.affine)
    }
}

/// Σ_k a_k² R e_k × G e_k: direction and magnitude of the torque of a goal on an ellipsoid [m²].
fn pull_of(from: Quat, to: Quat, radii: Vec3) -> Vec3 {
    let (r, g, a) = (Mat3::from_quat(from), Mat3::from_quat(to), radii * radii);
    r.x_axis.cross(g.x_axis) * a.x + r.y_axis.cross(g.y_axis) * a.y + r.z_axis.cross(g.z_axis) * a.z
}

/// Inverse of an inertia; scaled to unit trace first, because the determinant for small particles underflows.
fn inverse_of(inertia: &Mat3) -> Sym3 {
    let scale = 1.0 / (inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z);
    let inverse = Sym3::from_mat(&(*inertia * scale)).inverse();
    inverse.map_or(Sym3::ZERO, |inverse| Sym3::from_mat(&(inverse.to_mat() * scale)))
}

fn block(v: Vec3) -> Block {
    [v.x, v.y, v.z, 0.0]
}
