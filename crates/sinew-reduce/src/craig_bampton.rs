//! Craig and Bampton 1968: a basis for bodies that are attached at some nodes.
//!
//! Constraint modes Ψ are the static shapes for unit displacements of the attached nodes, fixed-interface modes Φ vibrate
//! while these nodes rest. A body that turns about its attached nodes keeps those rotations R_b as well. The basis
//! T = [Ψ Φ R_b] follows any motion of the attached nodes exactly in statics; its own modes, from TᵀKT and TᵀMT, have the
//! run-time type of free modes.

use crate::body::{Body, Statics, orthonormalise};
use crate::error::ReduceError;
use crate::linalg::Dense;
use crate::modes::{Modes, Wanted};

/// The basis and its reduced matrices.
#[derive(Clone, Debug)]
pub struct CraigBampton {
    /// T: three constraint modes for each attached node, then fixed-interface modes, then rotations.
    pub basis: Dense,
    /// TᵀKT.
    pub stiffness: Dense,
    /// TᵀMT.
    pub mass: Dense,
    /// Rigid motions of the body as a whole.
    rigid: Dense,
}

impl CraigBampton {
    /// For a body attached at some of its nodes, which move with what they are attached to.
    pub fn new(body: &Body, attached: &[u32], wanted: Wanted) -> Result<Self, ReduceError> {
        let held = body.holding(attached)?;
        let fixed_interface = Modes::new(&held, wanted)?;
        let mut nodes = attached.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.retain(|&i| !body.is_fixed(i));
        // Ψ: unit displacement of an attached unknown, and the answer of the others to −K_ib
        let unknowns = body.stiffness().rows();
        let mut unit = Dense::zeros(unknowns, 3 * nodes.len());
        for (j, &node) in nodes.iter().enumerate() {
            (0..3).for_each(|a| unit.set(3 * node as usize + a, 3 * j + a, 1.0));
        }
        let mut pull = Dense::zeros(unknowns, unit.columns());
        pull.subtract(&body.stiffness().times(&unit));
        unit.accumulate(&Statics::new(&held)?.solve(&pull));
        let basis = unit.beside(fixed_interface.shapes()).beside(held.rigid());
        let mut stiffness = basis.transposed_times(&body.stiffness().times(&basis));
        let mut mass = basis.transposed_times(&body.mass().times(&basis));
        stiffness.symmetrise();
        mass.symmetrise();
        Ok(Self { basis, stiffness, mass, rigid: body.rigid().clone() })
    }

    /// Modes of the reduced body, without its rigid motions: they replace free modes where the body is attached.
    pub fn modes(&self, body: &Body) -> Result<Modes, ReduceError> {
        let (lambda, vectors) = self.stiffness.eigen_of_pair(&self.mass, "the reduced stiffness")?;
        let rigid = self.rigid.columns();
        let vectors = vectors.pick_columns(rigid..vectors.columns());
        let mut all = self.rigid.clone().beside(&self.basis.times(&vectors));
        orthonormalise(body.mass(), &mut all, rigid);
        Ok(Modes { lambda: lambda[rigid..].to_vec(), shapes: all.pick_columns(rigid..all.columns()) })
    }
}
