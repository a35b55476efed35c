//! Affine motions of a body as its smooth ones, for operators that have no control points (`coarse.rs`).
//!
//! ```text
//!   u_n = a + B (x_n − c)/s,   E = Zᵀ A Z by twelve products
//! ```

use crate::deformable::{Operator, SmoothMotions, add, vec};
use crate::math::{Block, Real, Vec3};

/// Modes: a translation and three columns of B.
const MODES: usize = 12;
/// Modes with padding: motions come in eights.
const COUNT: usize = 16;

/// The twelve motions at the present shape.
#[derive(Clone, Debug, Default)]
pub(in crate::deformable) struct Affine {
    /// 1 and (x − c)/s of each node; zero where pinned. (node_count)
    weights: Vec<[Real; 4]>,
    /// E, row after row. (COUNT²)
    stiffness: Vec<Real>,
    /// A motion and what it costs.
    motion: Vec<Block>,
    image: Vec<Block>,
}

impl Affine {
    /// Motions about the middle of x, and what they cost.
    pub fn prepare(&mut self, x: &[Block], operator: &dyn Operator) {
        let centre = x.iter().fold(Vec3::ZERO, |sum, x| sum + vec(*x)) / x.len() as Real;
        let square = x.iter().map(|x| (vec(*x) - centre).length_squared()).sum::<Real>() / x.len() as Real;
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        self.weights.clear();
        self.weights.extend(x.iter().zip(operator.mass()).map(|(x, mass)| {
            let arm = (vec(*x) - centre) * scale;
            if mass.is_finite() { [1.0, arm.x, arm.y, arm.z] } else { [0.0; 4] }
        }));
        self.motion.resize(x.len(), [0.0; 4]);
        self.image.resize(x.len(), [0.0; 4]);
        self.stiffness.clear();
        self.stiffness.resize(COUNT * COUNT, 0.0);
        let mut cost = [0.0; COUNT];
        for mode in 0..MODES {
            for (motion, weight) in self.motion.iter_mut().zip(&self.weights) {
                *motion = [0.0; 4];
                motion[mode % 3] = weight[mode / 3];
            }
            operator.apply(&self.motion, &mut self.image);
            cost.fill(0.0);
            gather(&self.weights, &self.image, &mut cost);
            self.stiffness[mode * COUNT..][..COUNT].copy_from_slice(&cost);
        }
        for mode in MODES..COUNT {
            self.stiffness[mode * COUNT + mode] = 1.0;
        }
    }
}

/// Zᵀ r, added.
fn gather(weights: &[[Real; 4]], r: &[Block], out: &mut [Real]) {
    for (weights, r) in weights.iter().zip(r) {
        for (part, weight) in weights.iter().enumerate() {
            (0..3).for_each(|axis| out[3 * part + axis] += weight * r[axis]);
        }
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
        gather(&self.weights[block..=block], &[[push.x, push.y, push.z, 0.0]], out);
    }

    fn gather(&self, r: &[Block], out: &mut [Real]) {
        out.fill(0.0);
        gather(&self.weights, r, out);
    }

    fn spread(&self, y: &[Real], z: &mut [Block]) {
        for (weights, z) in self.weights.iter().zip(z) {
            for (part, weight) in weights.iter().enumerate() {
                add(z, Vec3::new(y[3 * part], y[3 * part + 1], y[3 * part + 2]) * *weight);
            }
        }
    }
}
