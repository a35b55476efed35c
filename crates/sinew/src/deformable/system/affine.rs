//! Affine motions of a body as its smooth motions, for operators without control points (`coarse.rs`).
//!
//! ```text
//!   u_n = a + B (x_n − c)/s,   E = Zᵀ A Z by twelve products
//! ```
//!
//! Where nodes have angular velocities of their own (blocks after the translational ones) they rotate with the
//! surrounding material, by half the curl of u: Σ_j e_j × B_j/2s over the columns of B. The generalised mass of a rigid
//! rotation is then its inertia, without stiffness.

use crate::deformable::{Operator, SmoothMotions};
use crate::math::{Block, Real, Vec3, add, vec};

/// Modes: a translation and three columns of B.
const MODES: usize = 12;
/// Modes with padding: motions are processed in groups of eight.
const COUNT: usize = 16;

/// The twelve motions at the current shape.
#[derive(Clone, Debug, Default)]
pub(in crate::deformable) struct Affine {
    /// 1 and (x − c)/s of each node; zero where pinned. (node_count)
    weights: Vec<[Real; 4]>,
    /// 1/2s of each angular velocity; zero where pinned. (spin_count)
    curls: Vec<Real>,
    /// E, row by row. (COUNT²)
    stiffness: Vec<Real>,
    /// A motion Z e and its image A Z e.
    motion: Vec<Block>,
    image: Vec<Block>,
}

impl Affine {
    /// Motions about the middle of x, and their stiffness E.
    pub fn prepare(&mut self, x: &[Block], operator: &dyn Operator) {
        let centre = x.iter().fold(Vec3::ZERO, |sum, x| sum + vec(*x)) / x.len() as Real;
        let square = x.iter().map(|x| (vec(*x) - centre).length_squared()).sum::<Real>() / x.len() as Real;
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        self.weights.clear();
        self.weights.extend(x.iter().zip(operator.mass()).map(|(x, mass)| {
            let arm = (vec(*x) - centre) * scale;
            if mass.is_finite() { [1.0, arm.x, arm.y, arm.z] } else { [0.0; 4] }
        }));
        self.curls.clear();
        self.curls
            .extend(operator.mass()[x.len()..].iter().map(|mass| if mass.is_finite() { 0.5 * scale } else { 0.0 }));
        self.motion.resize(operator.block_count(), [0.0; 4]);
        self.image.resize(operator.block_count(), [0.0; 4]);
        self.stiffness.clear();
        self.stiffness.resize(COUNT * COUNT, 0.0);
        let (mut unit, mut cost) = ([0.0; COUNT], [0.0; COUNT]);
        for mode in 0..MODES {
            unit.fill(0.0);
            unit[mode] = 1.0;
            let mut motion = std::mem::take(&mut self.motion);
            motion.fill([0.0; 4]);
            self.spread(&unit, &mut motion);
            self.motion = motion;
            operator.apply(&self.motion, &mut self.image);
            self.gather(&self.image, &mut cost);
            self.stiffness[mode * COUNT..][..COUNT].copy_from_slice(&cost);
        }
        for mode in MODES..COUNT {
            self.stiffness[mode * COUNT + mode] = 1.0;
        }
    }
}

/// Adds Zᵀ of an impulse on a node.
fn gather_point(weights: &[Real; 4], push: Vec3, out: &mut [Real]) {
    for (part, weight) in weights.iter().enumerate() {
        (0..3).for_each(|axis| out[3 * part + axis] += weight * push[axis]);
    }
}

/// Adds Zᵀ of a torque on an angular velocity: for column j the transpose of e_j ×, torque × e_j.
fn gather_spin(curl: Real, torque: Vec3, out: &mut [Real]) {
    for (part, axis) in Vec3::AXES.into_iter().enumerate() {
        let column = torque.cross(axis) * curl;
        (0..3).for_each(|k| out[3 * (part + 1) + k] += column[k]);
    }
}

impl SmoothMotions for Affine {
    fn count(&self) -> usize {
        COUNT
    }

    fn stiffness(&self) -> &[Real] {
        &self.stiffness
    }

    fn see(&self, block: usize, push: Vec3, out: &mut [Real]) {
        match self.weights.get(block) {
            Some(weights) => gather_point(weights, push, out),
            None => gather_spin(self.curls[block - self.weights.len()], push, out),
        }
    }

    fn gather(&self, r: &[Block], out: &mut [Real]) {
        out.fill(0.0);
        let (points, spins) = r.split_at(self.weights.len());
        points.iter().zip(&self.weights).for_each(|(r, weights)| gather_point(weights, vec(*r), out));
        spins.iter().zip(&self.curls).for_each(|(r, curl)| gather_spin(*curl, vec(*r), out));
    }

    fn spread(&self, y: &[Real], z: &mut [Block]) {
        let column = |part: usize| Vec3::new(y[3 * part], y[3 * part + 1], y[3 * part + 2]);
        let (points, spins) = z.split_at_mut(self.weights.len());
        for (weights, z) in self.weights.iter().zip(points) {
            for (part, weight) in weights.iter().enumerate() {
                add(z, column(part) * *weight);
            }
        }
        let curl = Vec3::X.cross(column(1)) + Vec3::Y.cross(column(2)) + Vec3::Z.cross(column(3));
        for (half, z) in self.curls.iter().zip(spins) {
            add(z, curl * *half);
        }
    }
}
