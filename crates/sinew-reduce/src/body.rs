//! Stiffness and mass of a body of linear tetrahedra, its rigid motions, and its static answer to any load.
//!
//! ```text
//!   K = Σ V Bᵀ D B,   M = Σ ρ V/4 1 (lumped)  or  Σ ρ V/20 (1 + δ_ij) (consistent)
//! ```
//!
//! A body that is not held enough to stop all rigid motions R (Rᵀ M R = 1) has no static answer to a load that does not
//! balance. What it has is the elastic answer in the frame that falls and turns with the load (inertia relief):
//! C = P K⁺ Pᵀ, P = 1 − R Rᵀ M. It is the sum w wᵀ/λ over all elastic modes, so that modes and static corrections fit.

use crate::error::{ReduceError, positive};
use crate::linalg::{Dense, Factor, Sparse, dot};
use crate::material::Material;
use crate::mesh::{TetMesh, Vec3, cross, sub};

/// How mass is distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mass {
    /// A quarter of each tetrahedron at each of its nodes, as the engine has it.
    #[default]
    Lumped,
    /// From the shape functions: frequencies from above.
    Consistent,
}

/// An elastic body: unknown 3 i + a is the displacement of node i along axis a.
///
/// ```
/// use sinew_reduce::{Body, Mass, Material, TetMesh};
/// let nodes = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = TetMesh { nodes, tets: vec![[0, 1, 2, 3]] };
/// let rubber = Material::isotropic(1e6, 0.4, 1000.0)?;
/// let free = Body::new(mesh.clone(), &rubber, Mass::Lumped, &[])?;
/// let held = Body::new(mesh, &rubber, Mass::Lumped, &[0])?;
/// assert_eq!((free.rigid().columns(), held.rigid().columns()), (6, 3));
/// # Ok::<(), sinew_reduce::ReduceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    mesh: TetMesh,
    stiffness: Sparse,
    mass: Sparse,
    /// One per node [kg].
    lumped: Vec<f64>,
    /// True for nodes that do not move.
    fixed: Vec<bool>,
    /// Unknowns of nodes that move.
    free: Vec<usize>,
    /// Rigid motions that the fixed nodes allow. (unknowns × 0 to 6)
    rigid: Dense,
    /// Largest wave speed [m/s].
    speed: f64,
}

impl Body {
    /// Assembles a mesh of one material; fixed nodes do not move.
    pub fn new(mesh: TetMesh, material: &Material, mass: Mass, fixed: &[u32]) -> Result<Self, ReduceError> {
        mesh.check()?;
        positive("density", material.density)?;
        let count = mesh.nodes.len();
        let mut stiffness = Vec::with_capacity(144 * mesh.tets.len());
        let mut masses = Vec::with_capacity(48 * mesh.tets.len());
        let mut lumped = vec![0.0; count];
        for (index, tet) in mesh.tets.iter().enumerate() {
            element(&mesh, index, material, &mut stiffness);
            let share = material.density * mesh.volume(index);
            for (i, &a) in tet.iter().enumerate() {
                lumped[a as usize] += 0.25 * share;
                for (j, &b) in tet.iter().enumerate() {
                    let m = match mass {
                        Mass::Lumped if i == j => 0.25 * share,
                        Mass::Lumped => continue,
                        Mass::Consistent => share / if i == j { 10.0 } else { 20.0 },
                    };
                    masses.extend((0..3).map(|axis| (3 * a as usize + axis, 3 * b as usize + axis, m)));
                }
            }
        }
        let unknowns = 3 * count;
        let body = Self {
            stiffness: Sparse::from_entries(unknowns, unknowns, stiffness),
            mass: Sparse::from_entries(unknowns, unknowns, masses),
            lumped,
            fixed: vec![false; count],
            free: (0..unknowns).collect(),
            rigid: Dense::zeros(unknowns, 0),
            speed: (material.elasticity.largest() / material.density).sqrt(),
            mesh,
        };
        body.holding(fixed)
    }

    /// The same body with more nodes fixed.
    pub fn holding(&self, nodes: &[u32]) -> Result<Self, ReduceError> {
        let mut body = self.clone();
        let count = body.fixed.len();
        for (index, &node) in nodes.iter().enumerate() {
            if node as usize >= count {
                return Err(ReduceError::NoNode { element: "entry of the fixed nodes", index, node, count });
            }
            body.fixed[node as usize] = true;
        }
        body.free = (0..3 * count).filter(|u| !body.fixed[u / 3]).collect();
        if body.free.is_empty() {
            return Err(ReduceError::NothingFree);
        }
        body.rigid = rigid_motions(&body);
        Ok(body)
    }

    /// The mesh.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// K, of all unknowns [N/m].
    pub fn stiffness(&self) -> &Sparse {
        &self.stiffness
    }

    /// M, of all unknowns [kg].
    pub fn mass(&self) -> &Sparse {
        &self.mass
    }

    /// Lumped mass of each node [kg].
    pub fn lumped(&self) -> &[f64] {
        &self.lumped
    }

    /// True for nodes that do not move.
    pub fn is_fixed(&self, node: u32) -> bool {
        self.fixed[node as usize]
    }

    /// Rigid motions R that the fixed nodes allow, with Rᵀ M R = 1 over the nodes that move.
    pub fn rigid(&self) -> &Dense {
        &self.rigid
    }

    pub(crate) fn free(&self) -> &[usize] {
        &self.free
    }

    /// A λ far below the elastic ones for shifts [1/s²]: that of a wave over ten thousand times its size, squared.
    pub(crate) fn shift(&self) -> f64 {
        1e-4 * (self.speed / self.mesh.size()).powi(2)
    }

    /// Elastic modes that the body has.
    pub fn mode_count(&self) -> usize {
        self.free.len() - self.rigid.columns()
    }
}

/// Entries of V Bᵀ D B.
fn element(mesh: &TetMesh, index: usize, material: &Material, out: &mut Vec<(usize, usize, f64)>) {
    let (g, volume, d) = (mesh.gradients(index), mesh.volume(index), material.elasticity.moduli());
    // six rows of B for each unknown
    let mut b = [[0.0; 6]; 12];
    for (k, [x, y, z]) in g.into_iter().enumerate() {
        b[3 * k] = [x, 0.0, 0.0, y, 0.0, z];
        b[3 * k + 1] = [0.0, y, 0.0, x, z, 0.0];
        b[3 * k + 2] = [0.0, 0.0, z, 0.0, y, x];
    }
    let stress = b.map(|strain| d.map(|row| dot(&row, &strain) * volume));
    let unknown = |k: usize| 3 * mesh.tets[index][k / 3] as usize + k % 3;
    for i in 0..12 {
        out.extend((0..12).map(|j| (unknown(i), unknown(j), dot(&b[i], &stress[j]))));
    }
}

/// Displacements of all nodes in the three translations and three rotations about a point.
pub(crate) fn six_motions(nodes: &[Vec3], centre: Vec3) -> Dense {
    let mut all = Dense::zeros(3 * nodes.len(), 6);
    for (node, &x) in nodes.iter().enumerate() {
        for axis in 0..3 {
            let mut unit = [0.0; 3];
            unit[axis] = 1.0;
            all.set(3 * node + axis, axis, 1.0);
            let turn = cross(unit, sub(x, centre));
            (0..3).for_each(|k| all.set(3 * node + k, 3 + axis, turn[k]));
        }
    }
    all
}

/// The combinations of the six that vanish at fixed nodes, M-orthonormal.
fn rigid_motions(body: &Body) -> Dense {
    let nodes = &body.mesh.nodes;
    let held: Vec<Vec3> = nodes.iter().zip(&body.fixed).filter(|n| *n.1).map(|n| *n.0).collect();
    let centre = match held.first() {
        Some(&first) => first,
        None => {
            let total: f64 = body.lumped.iter().sum();
            let weighed = |a: usize| nodes.iter().zip(&body.lumped).map(|(x, m)| x[a] * m).sum::<f64>() / total;
            [weighed(0), weighed(1), weighed(2)]
        }
    };
    let six = six_motions(nodes, centre);
    let size = body.mesh.size();
    // rotations in units of the body's size, so that one limit serves both kinds
    let at_held = Dense::from_fn(3 * held.len(), 6, |row, j| {
        let motion = six_motions(&held[row / 3..=row / 3], centre);
        motion.get(row % 3, j) / if j < 3 { 1.0 } else { size }
    });
    let gram = at_held.transposed_times(&at_held);
    let Ok((values, vectors)) = gram.eigen("the fixed nodes") else { return Dense::zeros(3 * nodes.len(), 0) };
    let mut motions = Dense::zeros(3 * nodes.len(), 0);
    for (j, _) in values.iter().enumerate().filter(|v| *v.1 < 1e-18_f64.max(1e-12 * values[5])) {
        let weights: Vec<f64> = (0..6).map(|k| vectors.get(k, j) / if k < 3 { 1.0 } else { size }).collect();
        let mut column = six.apply(&weights);
        column.iter_mut().enumerate().filter(|u| body.fixed[u.0 / 3]).for_each(|u| *u.1 = 0.0);
        let column = Dense::from_data(column.len(), 1, column).unwrap_or(Dense::zeros(3 * nodes.len(), 1));
        motions = motions.beside(&column);
    }
    orthonormalise(&body.mass, &mut motions, 0);
    motions
}

/// Makes the columns from `first` on M-orthonormal to each other and to those before; twice, which is enough.
pub(crate) fn orthonormalise(mass: &Sparse, columns: &mut Dense, first: usize) {
    for j in first..columns.columns() {
        let mut column = columns.column(j).to_vec();
        for _ in 0..2 {
            let weighed = mass.apply(&column);
            for k in 0..j {
                let part = dot(columns.column(k), &weighed);
                column.iter_mut().zip(columns.column(k)).for_each(|(c, k)| *c -= part * k);
            }
        }
        let norm = dot(&column, &mass.apply(&column)).max(0.0).sqrt();
        let by = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        columns.column_mut(j).iter_mut().zip(column).for_each(|(to, c)| *to = c * by);
    }
}

/// Static answer of a body to loads on all nodes.
#[derive(Clone, Debug)]
pub struct Statics<'a> {
    body: &'a Body,
    /// Unknowns that the factor has: free ones, without as many as there are rigid motions.
    kept: Vec<usize>,
    factor: Factor,
    /// M R.
    weighed: Dense,
}

impl<'a> Statics<'a> {
    /// Factorises K, with as many unknowns held as there are rigid motions: those in which the motions differ most.
    pub fn new(body: &'a Body) -> Result<Self, ReduceError> {
        let held = independent_unknowns(&body.rigid);
        let kept: Vec<usize> = body.free.iter().copied().filter(|u| !held.contains(u)).collect();
        let remedy = "repair elements that are nearly flat";
        let factor = Factor::new(&body.stiffness.part(&kept, &kept))
            .ok_or(ReduceError::Singular { system: "the stiffness", remedy })?;
        Ok(Self { body, kept, factor, weighed: body.mass.times(&body.rigid) })
    }

    /// Displacements C f of loads f on all unknowns, one column each; loads on fixed nodes do nothing [m].
    pub fn solve(&self, loads: &Dense) -> Dense {
        let mut loads = loads.clone();
        for j in 0..loads.columns() {
            let fixed = &self.body.fixed;
            loads.column_mut(j).iter_mut().enumerate().filter(|u| fixed[u.0 / 3]).for_each(|u| *u.1 = 0.0);
        }
        let rigid = &self.body.rigid;
        // loads in the falling frame: f − M R Rᵀ f
        loads.subtract(&self.weighed.times(&rigid.transposed_times(&loads)));
        let mut kept = loads.pick_rows(&self.kept);
        self.factor.solve(&mut kept);
        let mut out = Dense::zeros(loads.rows(), loads.columns());
        for j in 0..out.columns() {
            let from = kept.column(j);
            let to = out.column_mut(j);
            self.kept.iter().zip(from).for_each(|(&u, x)| to[u] = *x);
        }
        // without the rigid part: u − R Rᵀ M u
        out.subtract(&rigid.times(&self.weighed.transposed_times(&out)));
        out
    }
}

/// As many rows as the matrix has columns, chosen one after the other for the largest pivot.
fn independent_unknowns(motions: &Dense) -> Vec<usize> {
    let mut rest = motions.clone();
    let mut chosen = Vec::new();
    for j in 0..rest.columns() {
        let best = (0..rest.rows()).fold(0, |b, i| if rest.get(i, j).abs() > rest.get(b, j).abs() { i } else { b });
        chosen.push(best);
        let pivot = rest.column(j).to_vec();
        for k in j + 1..rest.columns() {
            let by = rest.get(best, k) / pivot[best];
            rest.column_mut(k).iter_mut().zip(&pivot).for_each(|(a, p)| *a -= by * p);
        }
    }
    chosen
}
