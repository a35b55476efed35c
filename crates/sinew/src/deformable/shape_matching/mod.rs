//! Shape matching (Müller et al. 2005; ICD section 3, RC, OP 4.2, FC 2.3.2): nodes are attracted to the best-fit
//! transformation of their rest shape, cluster by cluster (`cluster.rs`).
//!
//! v⁺ = v + h f/m + k (g − x*)/h (ICD eq. 2 corrected). The printed stiffness k is a number per step; here a frequency
//! f is specified, that of the vibration of a free body about its shape. With ω = 2πf
//!
//! ```text
//!   k = (ω h)²/(1 + (ω h)²),   a pass of n:  k_n = 1 − (1 − k)^(1/n)
//! ```
//!
//! is implicit Euler for the potential ½ ω² Σ m |g − x|²: it does not depend on h beyond the order of the method, nor
//! on the number of passes. An infinite frequency is k = 1: nodes move onto their goals.
//!
//! Plastic flow: with the stretch U = sym(Rᵀ A S_p⁻¹) beyond the plastic shape S_p, and e = |U − 1| (Frobenius),
//!
//! ```text
//!   e > yield:  S_p ← (1 + s (1 − yield/e)(U − 1)) S_p,  s = c h/(1 + c h);   S_p ← S_p/∛det S_p;   |S_p − 1| ≤ max
//! ```
//!
//! Only the strain above the yield strain flows (Perzyna), so that stress relaxes to the yield stress and not below it.

pub(crate) mod cluster;
pub(crate) mod implicit;
record!(Params, "shape matching model", "Shape matching.", Params::default(), {
    frequency: POSITIVE.or_infinite(), "Frequency at which the body vibrates about its shape [Hz].";
    mode: ANY, "Which deformations are followed.";
    iterations: ITERATIONS, "Passes a substep.";
    damping: ANY, "Loss of motion that is not rigid.";
    plasticity: ANY, "Lasting deformation, if any.";
});

record!(Plasticity, "matching plasticity", "Lasting deformation.",
    Plasticity { yield_strain: 0.0, creep: 0.0, max_strain: 0.0 }, {
    yield_strain [required]: NOT_NEGATIVE, "Strain up to which the body springs back.";
    creep [required]: POSITIVE.or_infinite(), "Rate at which strain above it becomes lasting [1/s].";
    max_strain [required]: NOT_NEGATIVE, "Largest plastic strain, below 1.";
});

#[cfg(test)]
mod tests;

pub use cluster::{Clusters, Group, Mode};

use crate::deformable::particle::{
    Damping, ITERATIONS, ParticleError, check, check_entry, check_nodes, not_negative, positive,
};
use crate::deformable::parts::Parts;
use crate::deformable::shape_matching::cluster::Fit;
use crate::deformable::shape_matching::implicit::ImplicitMatching;
use crate::deformable::{Approximation, BodyMut, BodyRef, Deformable, Operator, StepContext, Traits};
use crate::math::{Block, Mat3, Quat, Real, Vec3, add, root, vec};
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, record};

/// Parameters of a shape matching body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let params = shape_matching::Params {
///     mode: shape_matching::Mode::Linear { beta: 0.3 },
///     damping: shape_matching::Damping::Internal { rate: 1.0 },
///     ..shape_matching::Params::default()
/// };
/// let clusters = shape_matching::Clusters::Regions { width: 1, spacing: 0 };
/// let model = SoftModel::ShapeMatching(1000.0, clusters, params);
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::new(Geometry::Tets(block), model).pin_region([-1.0, 0.049, -1.0], [1.0, 1.0, 1.0]))?;
/// for _ in 0..5 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(body)?.node_positions().iter().all(|x| x.is_finite()));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Frequency at which the body vibrates about its shape [Hz]; infinite: it returns to its shape within a substep.
    pub frequency: Real,
    /// Deformation modes of the goal shape.
    pub mode: Mode,
    /// Passes per substep, 1 or more: with many clusters, more passes propagate the correction farther.
    pub iterations: u32,
    /// Damping of non-rigid motion.
    pub damping: Damping,
    /// Plastic deformation, if any.
    pub plasticity: Option<Plasticity>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            frequency: 10.0,
            mode: Mode::Rigid,
            iterations: 1,
            damping: Damping::Internal { rate: 0.0 },
            plasticity: None,
        }
    }
}

/// Yield strain, creep rate and limit of plastic deformation.
///
/// An example is at [`shape_matching::Params`](crate::shape_matching::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plasticity {
    /// Strain (Frobenius norm) up to which the body is elastic.
    pub yield_strain: Real,
    /// Rate at which strain above the yield strain becomes plastic [1/s].
    pub creep: Real,
    /// Maximum plastic strain (Frobenius norm), below 1 or the shape may invert.
    pub max_strain: Real,
}

/// A shape matching body.
#[derive(Clone, Debug)]
pub struct ShapeMatching {
    params: Params,
    /// Rest positions. (node_count) [m]
    rest: Vec<Vec3>,
    /// (node_count) [kg]
    pub(crate) masses: Vec<Real>,
    pub(crate) fit: Fit,
    /// Its linear system when it is solved with implicit bodies (`implicit.rs`).
    pub(crate) implicit_system: ImplicitMatching,
    /// Pinned nodes that the weights of `fit` are based on. Compared with State by `predict`. (node_count)
    pinned: Vec<bool>,
    parts: Parts,
    /// Positions relative to the first node. Written by `predict` and `advance`. (node_count) [m]
    places: Vec<Block>,
    /// Displacement to the mean goal. Written by each pass. (node_count) [m]
    ways: Vec<Vec3>,
    /// Change of velocity. Written by `predict`. (node_count) [m/s]
    change: Vec<Vec3>,
}

impl ShapeMatching {
    /// A body from rest positions [m], masses [kg] and clusters.
    pub fn new(places: &[Vec3], masses: Vec<Real>, groups: &[Group], params: Params) -> Result<Self, ParticleError> {
        check_nodes(places, &masses)?;
        params.check()?;
        let count = places.len();
        let mut covered = vec![false; count];
        for (index, group) in groups.iter().enumerate() {
            check_group(index, group, count)?;
            group.nodes.iter().for_each(|&n| covered[n as usize] = true);
        }
        if let Some(node) = covered.iter().position(|c| !c) {
            return Err(ParticleError::Uncovered { node });
        }
        Ok(Self {
            params,
            rest: places.to_vec(),
            fit: Fit::new(groups, params.mode, places, &masses),
            implicit_system: ImplicitMatching::default(),
            pinned: vec![false; count],
            parts: Parts::new(count, groups.iter().map(|g| g.nodes.as_slice())),
            places: vec![[0.0; 4]; count],
            ways: vec![Vec3::ZERO; count],
            change: vec![Vec3::ZERO; count],
            masses,
        })
    }

    /// A solid of this density [kg/m³].
    pub fn solid(mesh: &TetMesh, density: Real, clusters: &Clusters, params: Params) -> Result<Self, ParticleError> {
        check(&[("density", density, positive(density), "positive and finite [kg/m³]")])?;
        mesh.check()?;
        let mut masses = vec![0.0; mesh.vertices.len()];
        let mut edges = Vec::with_capacity(6 * mesh.tets.len());
        for (tet, corners) in mesh.tets.iter().enumerate() {
            for (k, &a) in corners.iter().enumerate() {
                masses[a as usize] += 0.25 * density * mesh.tet_volume(tet);
                edges.extend(corners[..k].iter().map(|&b| [a.min(b), a.max(b)]));
            }
        }
        Self::meshed(&mesh.vertices, masses, edges, clusters, params)
    }

    /// A sheet of this mass per area [kg/m²].
    pub fn sheet(mesh: &TriMesh, density: Real, clusters: &Clusters, params: Params) -> Result<Self, ParticleError> {
        check(&[("density", density, positive(density), "positive and finite [kg/m²]")])?;
        mesh.check()?;
        let mut masses = vec![0.0; mesh.vertices.len()];
        let mut edges = Vec::with_capacity(3 * mesh.triangles.len());
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            for (k, &a) in corners.iter().enumerate() {
                masses[a as usize] += density * mesh.area(triangle) / 3.0;
                edges.extend(corners[..k].iter().map(|&b| [a.min(b), a.max(b)]));
            }
        }
        Self::meshed(&mesh.vertices, masses, edges, clusters, params)
    }

    fn meshed(
        places: &[Vec3],
        masses: Vec<Real>,
        mut edges: Vec<[u32; 2]>,
        clusters: &Clusters,
        params: Params,
    ) -> Result<Self, ParticleError> {
        edges.sort_unstable();
        edges.dedup();
        Self::new(places, masses, &clusters.groups(places, &edges)?, params)
    }

    /// Number of clusters.
    pub fn cluster_count(&self) -> usize {
        self.fit.count()
    }

    /// ω² [1/s²].
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    pub(crate) fn omega_squared(&self) -> Real {
        let omega = std::f64::consts::TAU as Real * self.params.frequency;
        omega * omega
    }

    /// Fraction of the displacement to the goal that one pass applies.
    fn pull(&self, h: Real) -> Real {
        let left = 1.0 / (1.0 + self.omega_squared() * h * h);
        1.0 - root(left, self.params.iterations)
    }

    /// S_p of a cluster.
    pub(crate) fn plastic(&self, cluster: usize, internal_state: &[Real]) -> Mat3 {
        if self.params.plasticity.is_none() {
            return Mat3::IDENTITY;
        }
        let [a, b, c] = [0, 3, 6].map(|k| Vec3::from_slice(&internal_state[9 * cluster + k..]));
        Mat3::from_cols(a, b, c)
    }

    /// Displacements from `places` to the mean of the goals.
    fn aim(&mut self, internal_state: &[Real]) {
        self.ways.fill(Vec3::ZERO);
        for cluster in 0..self.fit.count() {
            let found = self.fit.find(cluster, &self.places, &self.plastic(cluster, internal_state));
            for k in self.fit.members(cluster) {
                let node = self.fit.nodes[k] as usize;
                self.ways[node] += self.fit.way(&found, k, vec(self.places[node])) * self.fit.shares[k];
            }
        }
    }

    /// Updates the weights of the fit when the set of pinned nodes changes; derived from State alone.
    fn learn_pins(&mut self, v: &[Block]) {
        let changed = self.pinned.iter().zip(v).any(|(pinned, v)| *pinned != (v[3] == 0.0));
        if changed {
            self.pinned.iter_mut().zip(v).for_each(|(pinned, v)| *pinned = v[3] == 0.0);
            self.fit.weigh(&self.rest, &self.masses, &self.pinned);
        }
    }

    /// Plastic deformation of a cluster after a substep of h.
    fn flow(&self, cluster: usize, law: Plasticity, plastic: Mat3, h: Real) -> Mat3 {
        let found = self.fit.find(cluster, &self.places, &plastic);
        let turned = found.rotation.transpose() * found.linear * plastic.inverse();
        let strain = (turned + turned.transpose()) * 0.5 - Mat3::IDENTITY;
        let size = norm(&strain);
        if !(size > law.yield_strain) {
            return plastic;
        }
        let share = law.creep * h / (1.0 + law.creep * h) * (1.0 - law.yield_strain / size);
        let mut flowed = (Mat3::IDENTITY + strain * share) * plastic;
        // a cluster that is flat or inverted keeps its plastic deformation
        let volume = flowed.determinant();
        if !(volume > 0.1) || !volume.is_finite() {
            return plastic;
        }
        flowed *= 1.0 / root(volume, 3);
        let lasting = flowed - Mat3::IDENTITY;
        let most = norm(&lasting);
        if most > law.max_strain { Mat3::IDENTITY + lasting * (law.max_strain / most) } else { flowed }
    }
}

impl Deformable for ShapeMatching {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        let implicit_form = matches!(self.params.damping, Damping::Internal { .. });
        let decay = match self.params.damping {
            Damping::Internal { rate } => rate,
            Damping::Printed { .. } => Real::INFINITY,
        };
        Traits {
            internal_state_count: if self.params.plasticity.is_some() { 9 * self.fit.count() } else { 0 },
            implicit_form,
            // the weights of a node sum to its mass
            response: Approximation::Lumped { stiffness: self.omega_squared(), damping: 0.0, decay },
            ..Traits::default()
        }
    }

    fn start(&self, _rotation: Quat, _spin: Vec3, internal_state: &mut [Real]) {
        for nine in internal_state.chunks_exact_mut(9) {
            nine.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let h = ctx.h;
        self.learn_pins(body.v);
        self.parts.frame(body.x, body.v);
        if self.implicit_system.on {
            if let Damping::Internal { rate } = self.params.damping {
                self.parts.slow(body.v, rate * h / (1.0 + rate * h), &mut self.change);
            }
            self.assemble(ctx, &body);
            return;
        }
        body.kick(h);

        // x*, relative to the first node
        let origin = vec(body.x[0]);
        for ((place, x), v) in self.places.iter_mut().zip(body.x.iter()).zip(body.v.iter()) {
            let at = vec(*x) - origin + vec(*v) * h;
            *place = [at.x, at.y, at.z, v[3]];
        }
        self.change.fill(Vec3::ZERO);
        let pull = self.pull(h);
        for _ in 0..self.params.iterations {
            self.aim(body.internal_state);
            for ((place, way), change) in self.places.iter_mut().zip(&self.ways).zip(&mut self.change) {
                if place[3] > 0.0 {
                    add(place, *way * pull);
                    *change += *way * (pull / h);
                }
            }
        }

        self.parts.balance(body.v, &mut self.change);
        match self.params.damping {
            Damping::Internal { rate } if rate > 0.0 => {
                self.parts.damp(body.v, rate * h / (1.0 + rate * h), &mut self.change);
                self.parts.balance(body.v, &mut self.change);
            }
            Damping::Internal { .. } => {}
            // (1 − γ)(v + k (g − x*)/h) + h f/m: the increment of the external force is not damped
            Damping::Printed { gamma } => {
                for ((change, v), f) in self.change.iter_mut().zip(body.v.iter()).zip(body.force) {
                    if v[3] > 0.0 {
                        *change -= (vec(*v) - *f * (v[3] * h) + *change) * gamma;
                    }
                }
            }
        }
        for (v, change) in body.v.iter_mut().zip(&self.change) {
            add(v, *change);
        }
    }

    fn operator(&self) -> Option<&dyn Operator> {
        self.implicit_system.on.then_some(self as &dyn Operator)
    }

    fn set_implicit(&mut self, on: bool) -> bool {
        // the printed damping is defined for goals only
        self.implicit_system.on = on && matches!(self.params.damping, Damping::Internal { .. });
        self.implicit_system.on
    }

    fn advance(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        for (x, v) in body.x.iter_mut().zip(body.v.iter()) {
            add(x, vec(*v) * ctx.h);
        }
        let Some(law) = self.params.plasticity else { return };
        self.learn_pins(body.v);
        let origin = vec(body.x[0]);
        for (place, x) in self.places.iter_mut().zip(body.x.iter()) {
            let at = vec(*x) - origin;
            *place = [at.x, at.y, at.z, 0.0];
        }
        for cluster in 0..self.fit.count() {
            let plastic = self.plastic(cluster, body.internal_state);
            let flowed = self.flow(cluster, law, plastic, ctx.h);
            body.internal_state[9 * cluster..9 * cluster + 9].copy_from_slice(&flowed.to_cols_array());
        }
    }

    fn refresh(&mut self, body: BodyRef<'_>) {
        self.learn_pins(body.v);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        if self.params.frequency == Real::INFINITY {
            return 0.0;
        }
        let mut sum = 0.0;
        for cluster in 0..self.fit.count() {
            let found = self.fit.find(cluster, body.x, &self.plastic(cluster, body.internal_state));
            for k in self.fit.members(cluster) {
                sum += self.fit.square(&found, k, vec(body.x[self.fit.nodes[k] as usize]));
            }
        }
        0.5 * self.omega_squared() * sum
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        if self.params.frequency == Real::INFINITY {
            return false;
        }
        for cluster in 0..self.fit.count() {
            let found = self.fit.find(cluster, body.x, &self.plastic(cluster, body.internal_state));
            for k in self.fit.members(cluster) {
                let node = self.fit.nodes[k] as usize;
                let way = self.fit.way(&found, k, vec(body.x[node]));
                out[node] += way * (self.fit.weights[k] * self.omega_squared());
            }
        }
        true
    }
}

/// Frobenius norm.
fn norm(m: &Mat3) -> Real {
    (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
}

fn check_group(index: usize, group: &Group, count: usize) -> Result<(), ParticleError> {
    // sorted: repeated nodes are adjacent; checking all pairs would cost the square of a large cluster's size
    let mut nodes = group.nodes.clone();
    nodes.sort_unstable();
    for pair in nodes.windows(2) {
        check_entry("clusters", index, pair, count)?;
    }
    check_entry("clusters", index, &nodes[nodes.len().saturating_sub(1)..], count)?;
    let (list, name) = ("clusters", "weight");
    if nodes.is_empty() || !positive(group.weight) {
        let (name, value) = if nodes.is_empty() { ("nodes", 0.0) } else { (name, group.weight) };
        return Err(ParticleError::BadEntry { list, index, name, value, range: "positive, with at least one node" });
    }
    Ok(())
}

impl Params {
    fn check(&self) -> Result<(), ParticleError> {
        let beta = self.mode.beta();
        check(&[
            ("frequency", self.frequency, self.frequency > 0.0, "positive [Hz]; infinite snaps back"),
            ("mode.beta", beta, (0.0..1.0).contains(&beta), "from 0 to below 1"),
            ("iterations", self.iterations as Real, self.iterations > 0, "1 or more"),
        ])?;
        if let Some(p) = self.plasticity {
            p.check()?;
        }
        self.damping.check()
    }
}

impl Plasticity {
    pub(crate) fn check(&self) -> Result<(), ParticleError> {
        check(&[
            ("plasticity.yield_strain", self.yield_strain, not_negative(self.yield_strain), "0 or more"),
            ("plasticity.creep", self.creep, not_negative(self.creep), "0 or more [1/s]"),
            ("plasticity.max_strain", self.max_strain, (0.0..1.0).contains(&self.max_strain), "from 0 to below 1"),
        ])
    }
}
