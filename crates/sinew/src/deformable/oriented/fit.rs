//! Groups of oriented particles and the best-fit transformation of their rest shape.
//!
//! A particle is an ellipsoid with semi-axes a: besides m x it has the second moment of its own mass, so that the
//! moment matrix (OP eq. 4.13, corrected)
//!
//! ```text
//!   A = Σ w ((x − c)(x̄ − c̄)ᵀ + R_i ⅕ diag(a²) R̄_iᵀ)
//! ```
//!
//! has full rank for a chain, a sheet, and a single particle. The rotation nearest to A is the R that minimises
//!
//! ```text
//!   U = ½ ω² Σ s m (|x − c − R (x̄ − c̄)|² + ⅕ |(R_i − R R̄_i) diag(a)|²)
//! ```
//!
//! with s the weight of the group in the particle; the weights of a particle sum to one.

use crate::deformable::oriented::{Groups, Particle};
use crate::deformable::particle::{ParticleError, check_entry, positive};
use crate::deformable::shape_matching::Group;
use crate::math::{Mat3, Quat, Real, Vec3, nearest_rotation_from, outer};
use std::ops::Range;

/// Groups, stored consecutively.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// First member of each group, and the end. (group_count + 1)
    starts: Vec<u32>,
    /// (member_count)
    pub nodes: Vec<u32>,
    /// Weight of the group in its particle. (member_count)
    pub shares: Vec<Real>,
}

/// A member for the fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Weight in the fit [kg].
    pub weight: Real,
    /// [m]
    pub place: Vec3,
    pub turn: Quat,
    /// Rest position [m].
    pub rest: Vec3,
    /// ⅕ diag(a²) R̄ᵀ [m²].
    pub moment: Mat3,
}

/// The best-fit transformation: goals are centre + rotation (rest − rest_centre).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub centre: Vec3,
    pub rest_centre: Vec3,
    pub rotation: Quat,
}

/// Goal of a member, all relative to the same point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// [m]
    pub place: Vec3,
    pub turn: Quat,
    /// Centre of its group [m].
    pub centre: Vec3,
}

impl Placement {
    /// Least-squares fit for these members; the initial guess is the rotation of the first of them.
    pub fn find(members: impl Iterator<Item = Member> + Clone, guess: Quat) -> Self {
        let (mut total, mut centre, mut rest_centre) = (0.0, Vec3::ZERO, Vec3::ZERO);
        for m in members.clone() {
            total += m.weight;
            centre += m.place * m.weight;
            rest_centre += m.rest * m.weight;
        }
        (centre, rest_centre) = (centre / total, rest_centre / total);
        let mut a = Mat3::ZERO;
        for m in members {
            let spread = outer(m.place - centre, m.rest - rest_centre);
            a += (spread + Mat3::from_quat(m.turn) * m.moment) * m.weight;
        }
        Self { centre, rest_centre, rotation: nearest_rotation_from(&a, guess) }
    }

    /// Goal position of a member [m].
    pub fn goal(&self, rest: Vec3) -> Vec3 {
        self.centre + self.rotation * (rest - self.rest_centre)
    }
}

/// ⅕ diag(a²) R̄ᵀ.
pub(crate) fn moment(radii: Vec3, rest: Quat) -> Mat3 {
    Mat3::from_diagonal(radii * radii * 0.2) * Mat3::from_quat(rest).transpose()
}

impl Sets {
    /// Groups of this kind over the edges of a body.
    pub fn new(count: usize, edges: &[[u32; 2]], groups: &Groups) -> Result<Self, ParticleError> {
        let lists = match groups {
            Groups::Links => alone(count, edges, edges.iter().map(|e| e.to_vec()).collect()),
            Groups::Neighbours => {
                let mut lists: Vec<Vec<u32>> = (0..count as u32).map(|i| vec![i]).collect();
                for &[a, b] in edges {
                    lists[a as usize].push(b);
                    lists[b as usize].push(a);
                }
                lists.into_iter().map(|nodes| Group { nodes, weight: 1.0 }).collect()
            }
            Groups::Explicit(lists) => lists.clone(),
        };
        let mut sums = vec![0.0; count];
        for (index, group) in lists.iter().enumerate() {
            check_entry("groups", index, &group.nodes, count)?;
            if group.nodes.is_empty() || !positive(group.weight) {
                let (list, name, value) = ("groups", "weight", group.weight);
                let range = "positive, with at least one particle";
                return Err(ParticleError::BadEntry { list, index, name, value, range });
            }
            group.nodes.iter().for_each(|&n| sums[n as usize] += group.weight);
        }
        if let Some(node) = sums.iter().position(|s| *s == 0.0) {
            return Err(ParticleError::Uncovered { node });
        }
        let mut sets = Self { starts: vec![0], ..Self::default() };
        for group in &lists {
            sets.nodes.extend(&group.nodes);
            sets.shares.extend(group.nodes.iter().map(|&n| group.weight / sums[n as usize]));
            sets.starts.push(sets.nodes.len() as u32);
        }
        Ok(sets)
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Members of a group, as entries of `nodes`.
    pub fn members(&self, group: usize) -> Range<usize> {
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// Nodes of each group.
    pub fn lists(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.count()).map(|g| &self.nodes[self.members(g)])
    }
}

/// Groups of weight 1, and a group for each particle that has no edge.
fn alone(count: usize, edges: &[[u32; 2]], lists: Vec<Vec<u32>>) -> Vec<Group> {
    let mut held = vec![false; count];
    edges.iter().flatten().for_each(|&n| held[n as usize] = true);
    let single = (0..count as u32).filter(|&n| !held[n as usize]).map(|n| vec![n]);
    lists.into_iter().chain(single).map(|nodes| Group { nodes, weight: 1.0 }).collect()
}

/// Returns an error for edges with particles that do not exist, and removes duplicates.
pub(crate) fn tidy_edges(edges: &[[u32; 2]], count: usize) -> Result<Vec<[u32; 2]>, ParticleError> {
    for (index, edge) in edges.iter().enumerate() {
        check_entry("edges", index, edge, count)?;
    }
    let mut edges: Vec<[u32; 2]> = edges.iter().map(|&[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    Ok(edges)
}

/// Returns an error for particles that are not ellipsoids.
pub(crate) fn check_particles(particles: &[Particle]) -> Result<(), ParticleError> {
    for (index, p) in particles.iter().enumerate() {
        let list = "particles";
        let (least, turn) = (p.radii.min_element(), p.rotation.length());
        if !(least > 0.0) || !p.radii.is_finite() {
            let range = "positive and finite [m]";
            return Err(ParticleError::BadEntry { list, index, name: "radii", value: least, range });
        }
        if !((turn - 1.0).abs() < 1e-2) {
            let range = "a unit quaternion";
            return Err(ParticleError::BadEntry { list, index, name: "rotation", value: turn, range });
        }
    }
    Ok(())
}
