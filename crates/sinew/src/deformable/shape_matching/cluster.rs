//! Clusters of shape matching: the nodes of each cluster, and the best-fit map from their rest shape to their current
//! positions.
//!
//! A node's mass is distributed over its clusters, m_ic = m_i w_c / Σ w, and its goal is the mean of their goals with
//! the same weights. Then each cluster moves its own masses and no momentum is created:
//! Σ_i m_i Σ_c (w_c/Σw)(g_ic − x_i) is a sum of zeros, one per cluster. With q the rest arms and p the current arms
//! (from the centres of mass),
//!
//! ```text
//!   A_pq = Σ m p qᵀ,   R = rotation nearest to A_pq S_pᵀ,   A = A_pq (Σ m q qᵀ)⁻¹
//!   rigid      g = c + R S_p q
//!   linear     g = c + (β A/∛det A + (1 − β) R S_p) q
//!   quadratic  g = c + β Ã q̃ + (1 − β) R S_p q,   q̃ = (x, y, z, x², y², z², xy, yz, zx) minus its mean
//! ```
//!
//! (Müller et al. 2005; RC, OP 4.2, FC 2.46.) Differences from the publications: R is computed from A_pq and not from
//! A, which would produce a torque; q̃ is centred, otherwise there is a resultant force; A_qq is pseudo-inverted, so
//! that flat and straight clusters need no special case. The best linear and quadratic fits do not depend on the
//! plastic deformation S_p: functions of S_p q span the same space.
//!
//! Below a tenth of the rest volume the fit is blended into the rotation; for an inverted cluster its weight is zero.
//! The goal shape therefore always has positive volume.

use crate::deformable::particle::ParticleError;
use crate::math::{Block, Mat3, Real, Vec3, nearest_rotation, outer, pseudo_inverse, root, vec};
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, Rule, SHARE, choice, from_to, record};

/// Fraction of the rest volume below which the linear and quadratic fits are blended out.
const FADE: Real = 0.1;
/// Factor on the mass of a pinned node in the fit: the clusters follow the pinned node.
const PIN_WEIGHT: Real = 1000.0;
/// Eigenvalues of a moment matrix below this fraction of the largest mark a direction without extent.
const FLAT: Real = 64.0 * Real::EPSILON;
/// Maximum number of blocks of a body.
const BLOCKS: Real = 1e6;
/// Maximum number of blocks that contain one node: two cells on each side.
const SHARED: Real = 216.0;

/// Deformation modes of the goal of a cluster.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Rotation only.
    Rigid,
    /// Rotation, stretch and shear, volume preserved.
    Linear {
        /// 0 (rigid) to below 1 (soft).
        beta: Real,
    },
    /// Also bending and twist; volume not preserved.
    Quadratic {
        /// 0 (rigid) to below 1 (soft).
        beta: Real,
    },
}

/// One cluster.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its nodes.
    pub nodes: Vec<u32>,
    /// Weight in the mean of the goals; equal for all by default.
    pub weight: Real,
}

/// Definition of the clusters.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Debug, PartialEq)]
pub enum Clusters {
    /// All nodes in one cluster.
    One,
    /// Cells of a regular grid over the rest shape; adjacent cells both contain the nodes on their border.
    Blocks {
        /// Edge of a cell [m].
        size: Real,
        /// Distance by which a cluster extends beyond its cell [m].
        overlap: Real,
    },
    /// Nodes up to `width` edges from a seed. Wider clusters are stiffer and more expensive.
    Regions {
        /// 1 or more.
        width: u32,
        /// Seeds are more than this many edges apart, from 0 (every node is a seed) to `width`.
        spacing: u32,
    },
    /// Explicit list.
    Given(Vec<Group>),
}

impl Mode {
    pub(crate) fn beta(self) -> Real {
        match self {
            Self::Rigid => 0.0,
            Self::Linear { beta } | Self::Quadratic { beta } => beta,
        }
    }
}

impl Clusters {
    /// The clusters of a body with these rest positions [m] and edges.
    pub(crate) fn groups(&self, places: &[Vec3], edges: &[[u32; 2]]) -> Result<Vec<Group>, ParticleError> {
        let plain = |nodes: Vec<u32>| Group { nodes, weight: 1.0 };
        match self {
            Self::One => Ok(vec![plain((0..places.len() as u32).collect())]),
            Self::Blocks { size, overlap } => Ok(blocks(places, *size, *overlap)?.into_iter().map(plain).collect()),
            Self::Regions { width, spacing } => {
                let range = "from 0 to width, and width 1 or more";
                crate::deformable::particle::check(&[(
                    "spacing",
                    *spacing as Real,
                    spacing <= width && *width > 0,
                    range,
                )])?;
                Ok(regions(places.len(), edges, *width, *spacing).into_iter().map(plain).collect())
            }
            Self::Given(groups) => Ok(groups.clone()),
        }
    }
}

fn blocks(places: &[Vec3], size: Real, overlap: Real) -> Result<Vec<Vec<u32>>, ParticleError> {
    crate::deformable::particle::check(&[
        ("size", size, crate::deformable::particle::positive(size), "positive and finite [m]"),
        ("overlap", overlap, crate::deformable::particle::not_negative(overlap), "0 or more [m]"),
    ])?;
    let low = places.iter().fold(Vec3::splat(Real::INFINITY), |low, p| low.min(*p));
    let high = places.iter().fold(Vec3::splat(-Real::INFINITY), |high, p| high.max(*p));
    // slightly reduced, so that an integer number of cells leaves no empty last cell
    let cells = ((high - low) / size - Vec3::splat(1e-3)).ceil().max(Vec3::ONE);
    let count = cells.x * cells.y * cells.z;
    crate::deformable::particle::check(&[(
        "size",
        size,
        count <= BLOCKS,
        "larger: the body would have more than a million blocks",
    )])?;
    let around = cells.min(Vec3::splat(2.0 * overlap / size + 2.0));
    let shared = around.x * around.y * around.z <= SHARED;
    crate::deformable::particle::check(&[(
        "overlap",
        overlap,
        shared,
        "smaller: a node would belong to more than 216 blocks",
    )])?;
    let [nx, ny, nz] = cells.to_array().map(|n| n as usize);
    let mut groups = vec![Vec::new(); nx * ny * nz];
    // nodes on a border belong to both cells
    let reach = Vec3::splat(overlap + 1e-3 * size);
    for (node, p) in places.iter().enumerate() {
        let last = cells - Vec3::ONE;
        let first = ((*p - low - reach) / size).floor().clamp(Vec3::ZERO, last).to_array().map(|c| c as usize);
        let end = ((*p - low + reach) / size).floor().clamp(Vec3::ZERO, last).to_array().map(|c| c as usize);
        for k in first[2]..=end[2] {
            for j in first[1]..=end[1] {
                for i in first[0]..=end[0] {
                    groups[i + nx * (j + ny * k)].push(node as u32);
                }
            }
        }
    }
    groups.retain(|g| !g.is_empty());
    Ok(groups)
}

fn regions(count: usize, edges: &[[u32; 2]], width: u32, spacing: u32) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); count];
    for &[a, b] in edges {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut covered = vec![false; count];
    let mut seen = vec![u32::MAX; count];
    let mut groups = Vec::new();
    for seed in 0..count as u32 {
        if covered[seed as usize] {
            continue;
        }
        // breadth-first around the seed
        let mut nodes = vec![seed];
        seen[seed as usize] = seed;
        covered[seed as usize] = true;
        let mut ring = 0..1;
        for distance in 1..=width {
            for k in ring.clone() {
                for &next in &neighbours[nodes[k] as usize] {
                    if seen[next as usize] != seed {
                        seen[next as usize] = seed;
                        covered[next as usize] |= distance <= spacing;
                        nodes.push(next);
                    }
                }
            }
            ring = ring.end..nodes.len();
        }
        nodes.sort_unstable();
        groups.push(nodes);
    }
    groups
}

/// Rest shape of all clusters, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    mode: Mode,
    /// First member of each cluster, and the end. (cluster_count + 1)
    start: Vec<u32>,
    /// Node of each member. (member_count)
    pub nodes: Vec<u32>,
    /// Fraction of the node's mass in this cluster, 0..1. (member_count)
    pub shares: Vec<Real>,
    /// Weight in the fit: fraction of the mass, larger when pinned. (member_count) [kg]
    pub weights: Vec<Real>,
    /// Rest arm from the cluster's centre. (member_count) [m]
    arms: Vec<Vec3>,
    /// q̃ in units of the cluster's radius; empty except for `Quadratic`. (member_count)
    features: Vec<[Real; 9]>,
    /// Moments of the rest shape. (cluster_count)
    moments: Vec<Moments>,
    /// (Σ m q̃ q̃ᵀ)⁻¹; empty except for `Quadratic`. (cluster_count) [1/kg]
    wide: Vec<[[Real; 9]; 9]>,
}

#[derive(Clone, Copy, Debug)]
struct Moments {
    /// Σ m [kg].
    mass: Real,
    /// Pseudo-inverse of Σ m q qᵀ [1/(kg·m²)].
    inverse: Mat3,
    /// Projector onto directions in which the cluster has no extent.
    flat: Mat3,
}

/// Best-fit map of a cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// Current centre of mass [m].
    pub centre: Vec3,
    /// R.
    pub rotation: Mat3,
    /// R S_p.
    pub rigid: Mat3,
    /// A, completed in flat directions; its determinant is the ratio of current to rest volume.
    pub linear: Mat3,
    /// Ã by feature; zero except for `Quadratic` [m].
    bent: [Vec3; 9],
    /// Weight of the linear or quadratic fit in the goal.
    blend: Real,
    /// 1/∛det A, or 1 where volume is not preserved.
    swell: Real,
}

/// Velocity components that the goals follow: mean, rotation, and the best fit of the mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    mean: Vec3,
    /// [rad/s]
    turn: Vec3,
    /// Velocity gradient over rest arms; for `Linear` [1/s].
    stretch: Mat3,
    /// By feature; for `Quadratic` [m/s].
    bend: [Vec3; 9],
}

impl Fit {
    /// Clusters of nodes with these rest positions [m] and masses [kg].
    pub fn new(groups: &[Group], mode: Mode, places: &[Vec3], masses: &[Real]) -> Self {
        let members: usize = groups.iter().map(|g| g.nodes.len()).sum();
        let mut sums = vec![0.0; places.len()];
        for group in groups {
            group.nodes.iter().for_each(|&n| sums[n as usize] += group.weight);
        }
        let mut start = vec![0];
        let (mut nodes, mut shares) = (Vec::with_capacity(members), Vec::with_capacity(members));
        for group in groups {
            nodes.extend_from_slice(&group.nodes);
            shares.extend(group.nodes.iter().map(|&n| group.weight / sums[n as usize]));
            start.push(nodes.len() as u32);
        }
        let wide = matches!(mode, Mode::Quadratic { .. });
        let none = Moments { mass: 0.0, inverse: Mat3::ZERO, flat: Mat3::ZERO };
        let mut fit = Self {
            mode,
            start,
            nodes,
            shares,
            weights: vec![0.0; members],
            arms: vec![Vec3::ZERO; members],
            features: vec![[0.0; 9]; if wide { members } else { 0 }],
            moments: vec![none; groups.len()],
            wide: vec![[[0.0; 9]; 9]; if wide { groups.len() } else { 0 }],
        };
        fit.weigh(places, masses, &vec![false; places.len()]);
        fit
    }

    /// Number of clusters.
    pub fn count(&self) -> usize {
        self.moments.len()
    }

    /// Members of a cluster.
    pub fn members(&self, cluster: usize) -> std::ops::Range<usize> {
        self.start[cluster] as usize..self.start[cluster + 1] as usize
    }

    /// Arms and moments for these rest positions, masses and pinned nodes; allocates nothing.
    pub fn weigh(&mut self, places: &[Vec3], masses: &[Real], pinned: &[bool]) {
        for cluster in 0..self.count() {
            let members = self.members(cluster);
            let (mut mass, mut moment) = (0.0, Vec3::ZERO);
            let origin = places[self.nodes[members.start] as usize];
            for k in members.clone() {
                let node = self.nodes[k] as usize;
                let weight = self.shares[k] * masses[node] * if pinned[node] { PIN_WEIGHT } else { 1.0 };
                self.weights[k] = weight;
                self.arms[k] = places[node] - origin;
                mass += weight;
                moment += self.arms[k] * weight;
            }
            let mut spread = Mat3::ZERO;
            for k in members {
                self.arms[k] -= moment / mass;
                spread += outer(self.arms[k], self.arms[k] * self.weights[k]);
            }
            let rows = [spread.x_axis, spread.y_axis, spread.z_axis].map(|c| c.to_array());
            let [x, y, z] = pseudo_inverse(rows, FLAT).map(Vec3::from);
            let inverse = Mat3::from_cols(x, y, z);
            // the identity minus inverse times matrix is the projector onto the flat directions, exact to rounding
            // error
            let flat = Mat3::IDENTITY - inverse * spread;
            self.moments[cluster] = Moments { mass, inverse, flat: (flat + flat.transpose()) * 0.5 };
            if !self.wide.is_empty() {
                self.weigh_features(cluster);
            }
        }
    }

    fn weigh_features(&mut self, cluster: usize) {
        let members = self.members(cluster);
        let mass = self.moments[cluster].mass;
        let radius = members.clone().map(|k| self.arms[k].length()).fold(0.0, Real::max);
        let scale = if radius > 0.0 { 1.0 / radius } else { 0.0 };
        let mut mean = [0.0; 9];
        for k in members.clone() {
            let q = self.arms[k] * scale;
            self.features[k] = [q.x, q.y, q.z, q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x];
            (0..9).for_each(|i| mean[i] += self.features[k][i] * self.weights[k] / mass);
        }
        let mut spread = [[0.0; 9]; 9];
        for k in members {
            (0..9).for_each(|i| self.features[k][i] -= mean[i]);
            for i in 0..9 {
                for j in 0..9 {
                    spread[i][j] += self.weights[k] * self.features[k][i] * self.features[k][j];
                }
            }
        }
        self.wide[cluster] = pseudo_inverse(spread, FLAT);
    }

    /// Best-fit map of a cluster to the positions p, after the plastic deformation S_p.
    pub fn find(&self, cluster: usize, p: &[Block], plastic: &Mat3) -> Match {
        let members = self.members(cluster);
        let moments = &self.moments[cluster];
        // the arms sum to zero, so that A_pq may be taken about any point: one pass
        let origin = vec(p[self.nodes[members.start] as usize]);
        let (mut moment, mut apq) = (Vec3::ZERO, Mat3::ZERO);
        for k in members.clone() {
            let pull = (vec(p[self.nodes[k] as usize]) - origin) * self.weights[k];
            moment += pull;
            apq += outer(pull, self.arms[k]);
        }
        let offset = moment / moments.mass;
        let rotation = Mat3::from_quat(nearest_rotation(&(apq * plastic.transpose())));
        let rigid = rotation * *plastic;
        let linear = apq * moments.inverse + rigid * moments.flat;
        let volume = linear.determinant();
        let fade = (volume / FADE).clamp(0.0, 1.0);
        let mut found = Match {
            centre: origin + offset,
            rotation,
            rigid,
            linear,
            bent: [Vec3::ZERO; 9],
            blend: self.mode.beta() * fade,
            swell: 1.0,
        };
        match self.mode {
            Mode::Linear { .. } => found.swell = 1.0 / root(volume.max(FADE), 3),
            Mode::Quadratic { .. } => found.bent = self.bend(cluster, p, found.centre),
            Mode::Rigid => {}
        }
        found
    }

    /// Ã = (Σ m p q̃ᵀ)(Σ m q̃ q̃ᵀ)⁻¹.
    fn bend(&self, cluster: usize, p: &[Block], centre: Vec3) -> [Vec3; 9] {
        let mut sums = [Vec3::ZERO; 9];
        for k in self.members(cluster) {
            let pull = (vec(p[self.nodes[k] as usize]) - centre) * self.weights[k];
            (0..9).for_each(|i| sums[i] += pull * self.features[k][i]);
        }
        let mut bent = [Vec3::ZERO; 9];
        for (i, bent) in bent.iter_mut().enumerate() {
            (0..9).for_each(|j| *bent += sums[j] * self.wide[cluster][j][i]);
        }
        bent
    }

    /// Displacement from the position p of a member to its goal [m].
    pub fn way(&self, found: &Match, member: usize, p: Vec3) -> Vec3 {
        let q = self.arms[member];
        let stiff = found.rigid * q;
        let goal = match self.mode {
            Mode::Rigid => stiff,
            _ => stiff + (self.soft(found, member) - stiff) * found.blend,
        };
        goal - (p - found.centre)
    }

    /// Potential of a member divided by ½ ω²: m (β |soft − p|² + (1 − β) |rigid − p|²).
    pub fn square(&self, found: &Match, member: usize, p: Vec3) -> Real {
        let arm = p - found.centre;
        let stiff = (found.rigid * self.arms[member] - arm).length_squared();
        let soft = (self.soft(found, member) - arm).length_squared();
        self.weights[member] * (stiff + (soft - stiff) * found.blend)
    }

    /// Inverse inertia of a cluster's rigid goal shape [1/(kg·m²)]; zero about axes without extent.
    pub fn turn_answer(&self, cluster: usize, found: &Match) -> Mat3 {
        let mut inertia = Mat3::ZERO;
        for k in self.members(cluster) {
            let arm = found.rigid * self.arms[k];
            let square = Mat3::from_diagonal(Vec3::splat(arm.length_squared()));
            inertia += (square - outer(arm, arm)) * self.weights[k];
        }
        let rows = [inertia.x_axis, inertia.y_axis, inertia.z_axis].map(|c| c.to_array());
        let [x, y, z] = pseudo_inverse(rows, FLAT).map(Vec3::from);
        Mat3::from_cols(x, y, z)
    }

    /// Component of the velocities v that the goals of a cluster follow.
    pub fn motion(&self, cluster: usize, found: &Match, answer: &Mat3, v: &[Block]) -> Motion {
        let quadratic = !self.wide.is_empty();
        let (mut push, mut spin, mut stretch, mut sums) = (Vec3::ZERO, Vec3::ZERO, Mat3::ZERO, [Vec3::ZERO; 9]);
        for k in self.members(cluster) {
            let part = vec(v[self.nodes[k] as usize]) * self.weights[k];
            push += part;
            spin += (found.rigid * self.arms[k]).cross(part);
            if quadratic {
                (0..9).for_each(|i| sums[i] += part * self.features[k][i]);
            } else {
                stretch += outer(part, self.arms[k]);
            }
        }
        let moments = &self.moments[cluster];
        let mut bend = [Vec3::ZERO; 9];
        for (i, bend) in bend.iter_mut().enumerate().filter(|_| quadratic) {
            (0..9).for_each(|j| *bend += sums[j] * self.wide[cluster][j][i]);
        }
        Motion { mean: push / moments.mass, turn: *answer * spin, stretch: stretch * moments.inverse, bend }
    }

    /// Velocity of a member's goal for this motion.
    pub fn follow(&self, found: &Match, motion: &Motion, member: usize) -> Vec3 {
        let stiff = motion.turn.cross(found.rigid * self.arms[member]);
        let soft = match self.mode {
            Mode::Rigid => return motion.mean + stiff,
            Mode::Linear { .. } => motion.stretch * self.arms[member],
            Mode::Quadratic { .. } => (0..9).map(|i| motion.bend[i] * self.features[member][i]).sum(),
        };
        motion.mean + stiff + (soft - stiff) * found.blend
    }

    /// ∂(velocity of a member's goal)/∂(its own velocity).
    pub fn own(&self, cluster: usize, found: &Match, answer: &Mat3, member: usize) -> Mat3 {
        let weight = self.weights[member];
        let arm = found.rigid * self.arms[member];
        let cross = Mat3::from_cols(arm.cross(Vec3::X), arm.cross(Vec3::Y), arm.cross(Vec3::Z));
        let turn = cross.transpose() * *answer * cross;
        let fit = match self.mode {
            Mode::Rigid => 0.0,
            Mode::Linear { .. } => self.arms[member].dot(self.moments[cluster].inverse * self.arms[member]),
            Mode::Quadratic { .. } => {
                let (q, wide) = (&self.features[member], &self.wide[cluster]);
                (0..9).map(|i| (0..9).map(|j| q[i] * wide[i][j] * q[j]).sum::<Real>()).sum()
            }
        };
        let plain = 1.0 / self.moments[cluster].mass + fit * found.blend;
        (Mat3::from_diagonal(Vec3::splat(plain)) + turn * (1.0 - found.blend)) * weight
    }

    fn soft(&self, found: &Match, member: usize) -> Vec3 {
        match self.mode {
            Mode::Quadratic { .. } => (0..9).map(|i| found.bent[i] * self.features[member][i]).sum(),
            _ => found.linear * self.arms[member] * found.swell,
        }
    }
}

/// Softness of shape matching: 0 is rigid, 1 would be no shape at all.
const BETA: Rule = SHARE.below();

choice!(Mode, "matching mode", "Which deformations are followed.", {
    "rigid" => Rigid, "Turns only.", {};
    "linear" => Linear, "Turns, stretch and shear, volume kept.", { beta beta: Real, BETA, "0 (rigid) to below 1 (soft)."; };
    "quadratic" => Quadratic, "Also bend and twist.", { beta beta: Real, BETA, "0 (rigid) to below 1 (soft)."; };
});

record!(Group, "cluster", "Nodes that keep a shape together.", Group { nodes: Vec::new(), weight: 1.0 }, {
    nodes [required]: ANY, "Its nodes.";
    weight: POSITIVE, "Its part in the mean of goals.";
});

choice!(Clusters, "clusters", "Which nodes keep a shape together.", {
    "one" => One, "All nodes in one.", {};
    "blocks" => Blocks, "Cells of a regular grid over the rest shape.", {
        size size: Real, POSITIVE, "Edge of a cell [m].";
        overlap overlap: Real, NOT_NEGATIVE, "Overlap of a cluster beyond its cell [m].";
    };
    "regions" => Regions, "Nodes up to some edges from a seed.", {
        width width: u32, from_to(1.0, 1000.0), "Edges from the seed.";
        spacing spacing: u32, from_to(0.0, 1000.0), "Seeds are more than this many edges apart.";
    };
    "given" => Given, "As given.", { 0 groups: Vec<Group>, ANY, "The clusters."; };
});

#[cfg(test)]
mod tests {
    use super::*;

    fn line(count: usize) -> Vec<Vec3> {
        (0..count).map(|k| Vec3::new(0.1 * k as Real, 0.0, 0.0)).collect()
    }

    #[test]
    fn adjacent_blocks_share_the_nodes_on_their_border() {
        let groups = Clusters::Blocks { size: 0.2, overlap: 0.0 }.groups(&line(5), &[]).unwrap();
        let nodes: Vec<_> = groups.iter().map(|g| g.nodes.as_slice()).collect();
        assert_eq!(nodes, [[0, 1, 2], [2, 3, 4]]);
        let groups = Clusters::Blocks { size: 0.2, overlap: 0.1 }.groups(&line(5), &[]).unwrap();
        assert_eq!(groups[0].nodes, [0, 1, 2, 3]);
        assert!(Clusters::Blocks { size: 1e-9, overlap: 0.0 }.groups(&line(5), &[]).is_err());
        // a single block may have any overlap
        assert_eq!(Clusters::Blocks { size: 10.0, overlap: 1e3 }.groups(&line(5), &[]).unwrap().len(), 1);
    }

    #[test]
    fn regions_grow_over_edges_and_cover_every_node() {
        let edges: Vec<[u32; 2]> = (0..6).map(|k| [k, k + 1]).collect();
        let groups = Clusters::Regions { width: 2, spacing: 1 }.groups(&line(7), &edges).unwrap();
        let nodes: Vec<_> = groups.iter().map(|g| g.nodes.clone()).collect();
        assert_eq!(nodes, [vec![0, 1, 2], vec![0, 1, 2, 3, 4], vec![2, 3, 4, 5, 6], vec![4, 5, 6]]);
        let all = Clusters::Regions { width: 1, spacing: 0 }.groups(&line(7), &edges).unwrap();
        assert_eq!(all.len(), 7);
        assert!(Clusters::Regions { width: 1, spacing: 2 }.groups(&line(7), &edges).is_err());
    }

    fn cloud() -> (Vec<Vec3>, Vec<Real>) {
        let part = |k: usize, seed: usize| ((k * 7919 + seed * 104_729) % 1000) as Real / 500.0 - 1.0;
        let places = (0..40).map(|k| Vec3::new(part(k, 1), part(k, 2), 0.5 * part(k, 3))).collect();
        (places, (0..40).map(|k| 1.0 + (k % 4) as Real).collect())
    }

    fn fit(mode: Mode) -> (Fit, Vec<Vec3>) {
        let (places, masses) = cloud();
        let groups = Clusters::One.groups(&places, &[]).unwrap();
        (Fit::new(&groups, mode, &places, &masses), places)
    }

    #[test]
    fn a_quadratic_goal_reproduces_bending_twist_and_stretch() {
        let (fit, places) = fit(Mode::Quadratic { beta: 1.0 });
        let bent: Vec<Block> = places
            .iter()
            .map(|p| {
                let z = 1.2 * p.z + 0.2 * p.x * p.x - 0.1 * p.x * p.y + 0.3;
                [p.x + 0.1 * p.z * p.x, p.y - 0.15 * p.z * p.x, z, 0.0]
            })
            .collect();
        let found = fit.find(0, &bent, &Mat3::IDENTITY);
        assert_eq!(found.blend, 1.0);
        for k in 0..bent.len() {
            let way = fit.way(&found, k, vec(bent[k]));
            assert!(way.length() < 200.0 * Real::EPSILON, "{k}: {way}");
        }
    }

    #[test]
    fn a_linear_goal_preserves_the_volume() {
        let (fit, places) = fit(Mode::Linear { beta: 1.0 });
        let stretch = Mat3::from_diagonal(Vec3::new(2.0, 1.5, 1.0));
        let p: Vec<Block> = places.iter().map(|p| (stretch * *p).extend(0.0).to_array()).collect();
        let found = fit.find(0, &p, &Mat3::IDENTITY);
        assert!((found.linear.determinant() - 3.0).abs() < 1e-5);
        let shrink = root(3.0, 3);
        for k in 0..p.len() {
            let want = found.centre + (vec(p[k]) - found.centre) / shrink;
            assert!((fit.way(&found, k, vec(p[k])) - (want - vec(p[k]))).length() < 100.0 * Real::EPSILON);
        }
    }

    #[test]
    fn goals_of_unequal_masses_have_no_resultant_force_or_torque() {
        for mode in [Mode::Rigid, Mode::Linear { beta: 0.7 }, Mode::Quadratic { beta: 0.7 }] {
            let (fit, places) = fit(mode);
            let p: Vec<Block> =
                places.iter().map(|p| [2.0 * p.x + 0.3 * p.y, p.y.abs(), p.z - p.x * p.y, 0.0]).collect();
            let plastic = Mat3::from_diagonal(Vec3::new(1.25, 0.8, 1.0));
            let found = fit.find(0, &p, &plastic);
            let (mut push, mut turn, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0);
            for k in 0..p.len() {
                let pull = fit.way(&found, k, vec(p[k])) * fit.weights[k];
                push += pull;
                turn += vec(p[k]).cross(pull);
                size += pull.length();
            }
            assert!(push.length() < 10.0 * Real::EPSILON * size, "{mode:?} {push} {size}");
            assert!(turn.length() < 10.0 * Real::EPSILON * size, "{mode:?} {turn} {size}");
        }
    }

    #[test]
    fn flat_and_straight_clusters_have_goals_too() {
        for squash in [Vec3::new(1.0, 1.0, 0.0), Vec3::X, Vec3::ZERO] {
            let (places, masses) = cloud();
            let places: Vec<Vec3> = places.iter().map(|p| *p * squash).collect();
            let groups = Clusters::One.groups(&places, &[]).unwrap();
            for mode in [Mode::Rigid, Mode::Linear { beta: 0.5 }, Mode::Quadratic { beta: 0.5 }] {
                let fit = Fit::new(&groups, mode, &places, &masses);
                let turn = Mat3::from_quat(crate::math::Quat::from_rotation_y(0.8));
                let p: Vec<Block> = places.iter().map(|p| (turn * *p).extend(0.0).to_array()).collect();
                let found = fit.find(0, &p, &Mat3::IDENTITY);
                for k in 0..p.len() {
                    let way = fit.way(&found, k, vec(p[k]));
                    assert!(way.length() < 200.0 * Real::EPSILON, "{mode:?} {squash} {way}");
                }
            }
        }
    }
}
