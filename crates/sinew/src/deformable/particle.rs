//! Bodies of particles that move towards goals instead of following forces: position based dynamics, shape matching and
//! oriented particles.
//!
//! Both take the predicted place x* = x + h v, with v after the external forces (ICD eq. 1), find a goal g from it, and
//! turn the way there into a velocity. Only v changes, so that contacts can still be solved on velocities:
//!
//! ```text
//!   position based:  v⁺ = v + h f/m + (g − x*)/h              ICD eq. 3, with the external force counted once
//!   shape matching:  v⁺ = v + h f/m + k (g − x*)/h            ICD eq. 2
//! ```
//!
//! Two corrections to the printed damping (1 − γ): it drags rigid motion and depends on h. Here a rate c [1/s] acts on
//! v − v_cm − ω × r alone, with the factor 1/(1 + c h); the printed form stays as an option.
//!
//! Goals are found at x*, so that their pull has no moment about x*, but spin is held at x (x⁺ = x + h v⁺ keeps Σ x × m v⁺).
//! The difference takes h ω² of the spin each second, the known rotational damping of these methods. So the change of
//! velocity is freed of its rigid part in every connected part that no pin holds (`parts.rs`): momentum and spin are
//! kept to rounding whatever the iterations left.

use crate::math::{Real, Vec3};
use crate::model::tet_mesh::TetMeshError;
use crate::model::tri_mesh::TriMeshError;

/// How a particle body loses energy, beyond what the implicit step takes.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// Velocities that are not rigid motion of their part decay with this rate [1/s], factor 1/(1 + rate·h) a substep.
    Internal {
        /// 0 or more [1/s].
        rate: Real,
    },
    /// γ of ICD eq. 2 and 3 as printed, without unit. In shape matching it drags rigid motion; in position based
    /// dynamics it weakens the constraints. Depends on the substep.
    Printed {
        /// From 0 to 1.
        gamma: Real,
    },
}

/// Why a particle body was refused.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParticleError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: Real,
        /// What is allowed.
        range: &'static str,
    },
    /// An entry of a list has a number outside its range.
    #[error("{list}[{index}].{name} = {value}: must be {range}")]
    BadEntry {
        /// The list.
        list: &'static str,
        /// Culprit.
        index: usize,
        /// Its field.
        name: &'static str,
        /// What was given.
        value: Real,
        /// What is allowed.
        range: &'static str,
    },
    /// A list names a node that is not there.
    #[error("{list}[{index}]: node {node} does not exist (the body has {count})")]
    NoNode {
        /// The list.
        list: &'static str,
        /// Culprit.
        index: usize,
        /// Missing node.
        node: u32,
        /// Nodes there are.
        count: usize,
    },
    /// A list names a node twice in one entry.
    #[error("{list}[{index}]: node {node} occurs twice")]
    Twice {
        /// The list.
        list: &'static str,
        /// Culprit.
        index: usize,
        /// The node.
        node: u32,
    },
    /// A node that no cluster holds would have no goal.
    #[error("node {node} is in no cluster: widen the clusters or add one")]
    Uncovered {
        /// The node.
        node: usize,
    },
    /// Lists of different length.
    #[error("{given} masses for {wanted} nodes: one each is needed, and at least one")]
    Count {
        /// Masses given.
        given: usize,
        /// Nodes there are.
        wanted: usize,
    },
    /// An edge of a cloth has more than two triangles.
    #[error("edge {a}-{b} has {count} triangles: a sheet has one or two at each edge; split the mesh there")]
    Branched {
        /// First node of the edge.
        a: u32,
        /// Second node of the edge.
        b: u32,
        /// Triangles at the edge.
        count: usize,
    },
    /// The tetrahedral mesh cannot be simulated.
    #[error(transparent)]
    Tets(#[from] TetMeshError),
    /// The triangle mesh cannot be simulated.
    #[error(transparent)]
    Triangles(#[from] TriMeshError),
}

/// Refuses the first number that is not `ok`.
pub(crate) fn check(checks: &[(&'static str, Real, bool, &'static str)]) -> Result<(), ParticleError> {
    match checks.iter().find(|c| !c.2) {
        Some(&(name, value, _, range)) => Err(ParticleError::OutOfRange { name, value, range }),
        None => Ok(()),
    }
}

pub(crate) fn positive(value: Real) -> bool {
    value > 0.0 && value.is_finite()
}

pub(crate) fn not_negative(value: Real) -> bool {
    value >= 0.0 && value.is_finite()
}

impl Damping {
    pub(crate) fn check(self) -> Result<(), ParticleError> {
        match self {
            Self::Internal { rate } => check(&[("damping.rate", rate, not_negative(rate), "0 or more [1/s]")]),
            Self::Printed { gamma } => check(&[("damping.gamma", gamma, (0.0..=1.0).contains(&gamma), "from 0 to 1")]),
        }
    }
}

/// Refuses a body without nodes, places that are no numbers and masses that are not positive.
pub(crate) fn check_nodes(positions: &[Vec3], masses: &[Real]) -> Result<(), ParticleError> {
    if masses.len() != positions.len() || masses.is_empty() {
        return Err(ParticleError::Count { given: masses.len(), wanted: positions.len() });
    }
    for (index, p) in positions.iter().enumerate() {
        if let Some(&value) = p.to_array().iter().find(|v| !v.is_finite()) {
            let (list, name) = ("nodes", "position");
            return Err(ParticleError::BadEntry { list, index, name, value, range: "finite [m]" });
        }
    }
    match masses.iter().position(|&m| !positive(m)) {
        Some(index) => {
            let (list, name, value) = ("nodes", "mass", masses[index]);
            Err(ParticleError::BadEntry { list, index, name, value, range: "positive and finite [kg]" })
        }
        None => Ok(()),
    }
}

/// Refuses nodes of one entry that do not exist or occur twice.
pub(crate) fn check_entry(list: &'static str, index: usize, nodes: &[u32], count: usize) -> Result<(), ParticleError> {
    for (k, &node) in nodes.iter().enumerate() {
        if node as usize >= count {
            return Err(ParticleError::NoNode { list, index, node, count });
        }
        if nodes[..k].contains(&node) {
            return Err(ParticleError::Twice { list, index, node });
        }
    }
    Ok(())
}
