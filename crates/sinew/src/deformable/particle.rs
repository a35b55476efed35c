//! Bodies of particles that move towards goal positions instead of following forces: position based dynamics, shape
//! matching and oriented particles.
//!
//! All of them take the predicted position x* = x + h v, with v after the external forces (ICD eq. 1), compute a goal
//! position g from it, and convert the displacement g − x* into a velocity. Only v changes, so that contacts can still
//! be solved at the velocity level:
//!
//! ```text
//!   position based:  v⁺ = v + h f/m + (g − x*)/h              ICD eq. 3, with the external force counted once
//!   shape matching:  v⁺ = v + h f/m + k (g − x*)/h            ICD eq. 2
//! ```
//!
//! Two corrections to the printed damping (1 − γ), which damps rigid motion and depends on h. Here a rate c [1/s] acts
//! on v − v_cm − ω × r alone, with the factor 1/(1 + c h); the printed form remains as an option.
//!
//! Goals are computed at x*, so that their forces have no moment about x*, but angular momentum is evaluated at x
//! (x⁺ = x + h v⁺ conserves Σ x × m v⁺). The difference removes the fraction h ω² of the angular momentum each second,
//! the known rotational damping of these methods. Therefore the rigid component of the velocity change is removed in
//! every connected part without a pinned node (`parts.rs`): linear and angular momentum are conserved to rounding error
//! whatever the residual of the iterations.

use crate::math::{Real, Vec3};
use crate::model::tet_mesh::TetMeshError;
use crate::model::tri_mesh::TriMeshError;
use sinew_spec::{NOT_NEGATIVE, Rule, SHARE, choice, from_to};

/// Energy dissipation of a particle body, in addition to the numerical damping of the implicit step.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// Velocities that are not rigid motion of their part decay with this rate [1/s], factor 1/(1 + rate·h) per
    /// substep.
    Internal {
        /// 0 or more [1/s].
        rate: Real,
    },
    /// γ of ICD eq. 2 and 3 as printed, dimensionless. In shape matching it damps rigid motion; in position based
    /// dynamics it weakens the constraints. Depends on the substep.
    Printed {
        /// From 0 to 1.
        gamma: Real,
    },
}

/// Reason why a particle body is rejected.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParticleError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: Real,
        /// The allowed range.
        range: &'static str,
    },
    /// An entry of a list has a number outside its range.
    #[error("{list}[{index}].{name} = {value}: must be {range}")]
    BadEntry {
        /// The list.
        list: &'static str,
        /// Index of the invalid entry.
        index: usize,
        /// Its field.
        name: &'static str,
        /// The given value.
        value: Real,
        /// The allowed range.
        range: &'static str,
    },
    /// A list names a node that does not exist.
    #[error("{list}[{index}]: node {node} does not exist (the body has {count})")]
    NoNode {
        /// The list.
        list: &'static str,
        /// Index of the invalid entry.
        index: usize,
        /// Missing node.
        node: u32,
        /// Number of nodes of the body.
        count: usize,
    },
    /// A list names a node twice in one entry.
    #[error("{list}[{index}]: node {node} occurs twice")]
    Twice {
        /// The list.
        list: &'static str,
        /// Index of the invalid entry.
        index: usize,
        /// The node.
        node: u32,
    },
    /// A node that is in no cluster would have no goal.
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
        /// Number of nodes of the body.
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

/// Returns an error for the first number that is not `ok`.
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

/// Returns an error for a body without nodes, positions that are not finite and masses that are not positive.
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

/// Returns an error for nodes of one entry that do not exist or occur twice.
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

/// Iterations or passes of a substep.
pub(crate) const ITERATIONS: Rule = from_to(1.0, 10_000.0);

choice!(Damping, "damping", "Loss of motion that is not rigid.", {
    "internal" => Internal, "Velocities that are not rigid motion decay with a rate.", {
        rate rate: Real, NOT_NEGATIVE, "Rate [1/s].";
    };
    "printed" => Printed, "As printed in ICD eq. 2 and 3; depends on the substep.", { gamma gamma: Real, SHARE, "Factor."; };
});
