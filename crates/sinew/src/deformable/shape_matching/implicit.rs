//! Linear system of a shape matching body that is solved together with implicit bodies.
//!
//! The potential is that of the goals, ½ ω² Σ m |g − x|², linearised once per substep. A goal follows the mean motion
//! of its cluster and, depending on its mode, the rotation and the fit; all three are projections P that are orthogonal
//! in the inner product Σ m a·b, so that
//!
//! ```text
//!   A = M + h² ω² Σ_clusters (m − m P),   P = mean + (1 − β) rotation + β fit,   b = M v + h f_ext + h ω² m (g − x)
//! ```
//!
//! is symmetric and A − M is positive semidefinite. Its stiffness has two levels, and the CG needs a handful of
//! iterations.

use crate::deformable::limit;
use crate::deformable::shape_matching::ShapeMatching;
use crate::deformable::shape_matching::cluster::Match;
use crate::deformable::system::Affine;
use crate::deformable::{BodyMut, Modes, Operator, RigidSums, SmoothMotions, StepContext};
use crate::math::{Block, Mat3, Real, Vec3, add, vec};

/// Data of A and b besides the clusters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImplicitMatching {
    /// True while the body is solved with implicit bodies.
    pub on: bool,
    /// Best-fit maps at the start of the substep. Written by `assemble`. (cluster_count)
    found: Vec<Match>,
    /// Inverse inertias of the goal shapes. Written by `assemble`. (cluster_count) [1/(kg·m²)]
    answer: Vec<Mat3>,
    /// h² ω². Written by `assemble`.
    stiff: Real,
    /// b. Written by `assemble`. (node_count) [N·s]
    load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `assemble`. (node_count) [kg]
    mass: Vec<Real>,
    sums: RigidSums,
    /// Its smooth motions. Written by `assemble`.
    affine: Affine,
}

impl ShapeMatching {
    /// A and b at x.
    pub(crate) fn assemble(&mut self, ctx: &StepContext<'_>, body: &BodyMut<'_>) {
        let mut m = std::mem::take(&mut self.implicit_system);
        m.stiff = limit::goal_stiffness(ctx.h, self.omega_squared(), limit::is_held(body.read()));
        m.load.resize(self.masses.len(), [0.0; 4]);
        m.mass.resize(self.masses.len(), 0.0);
        for (node, &mass) in self.masses.iter().enumerate() {
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h;
            m.load[node] = [push.x, push.y, push.z, 0.0];
            m.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        m.found.clear();
        m.answer.clear();
        for cluster in 0..self.fit.count() {
            let found = self.fit.find(cluster, body.x, &self.plastic(cluster, body.internal_state));
            for k in self.fit.members(cluster) {
                let node = self.fit.nodes[k] as usize;
                let way = self.fit.way(&found, k, vec(body.x[node]));
                add(&mut m.load[node], way * (self.fit.weights[k] * m.stiff / ctx.h));
            }
            m.answer.push(self.fit.turn_answer(cluster, &found));
            m.found.push(found);
        }
        m.sums.sum_up(&self.masses, ctx.h, body);
        self.implicit_system = m;
        let mut affine = std::mem::take(&mut self.implicit_system.affine);
        affine.prepare(body.x, self);
        self.implicit_system.affine = affine;
    }
}

impl Operator for ShapeMatching {
    fn block_count(&self) -> usize {
        self.masses.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        for ((out, v), &mass) in out.iter_mut().zip(v).zip(&self.masses) {
            *out = [v[0] * mass, v[1] * mass, v[2] * mass, 0.0];
        }
        let (fit, m) = (&self.fit, &self.implicit_system);
        for (cluster, (found, answer)) in m.found.iter().zip(&m.answer).enumerate() {
            let motion = fit.motion(cluster, found, answer, v);
            for k in fit.members(cluster) {
                let node = fit.nodes[k] as usize;
                let left = vec(v[node]) - fit.follow(found, &motion, k);
                add(&mut out[node], left * (m.stiff * fit.weights[k]));
            }
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        for (out, &mass) in out.iter_mut().zip(&self.masses) {
            *out = Mat3::from_diagonal(Vec3::splat(mass));
        }
        let (fit, m) = (&self.fit, &self.implicit_system);
        for (cluster, (found, answer)) in m.found.iter().zip(&m.answer).enumerate() {
            for k in fit.members(cluster) {
                let left = Mat3::IDENTITY - fit.own(cluster, found, answer, k);
                out[fit.nodes[k] as usize] += left * (m.stiff * fit.weights[k]);
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
