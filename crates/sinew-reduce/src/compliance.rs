//! The run-time type of condensed bodies and of boundary elements: displacement of surface points by loads on them.

use crate::body::six_motions;
use crate::error::ReduceError;
use crate::linalg::{Dense, dot};
use crate::mesh::{Vec3, length, sub};

/// Surface nodes above which a build is refused unless the caller raises the cap: 162 MB in f64.
pub const NODE_CAP: usize = 1500;

/// What the displacements are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The world: the body is held.
    Fixed,
    /// A frame that moves with the body as if it were rigid. Loads need not balance.
    Floating,
}

/// Symmetric positive compliance of surface points.
///
/// ```
/// use sinew_reduce::{Body, Mass, Material, NODE_CAP, SurfaceBody, TetMesh};
/// let nodes = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = TetMesh { nodes, tets: vec![[0, 1, 2, 3]] };
/// let body = Body::new(mesh, &Material::isotropic(1e4, 0.0, 1000.0)?, Mass::Lumped, &[0, 1, 2])?;
/// // the free tip moves by F L/(E A_eff): K_zz = E V/L²
/// let tip = SurfaceBody::new(&body, NODE_CAP)?.compliance;
/// assert!((tip.block(0, 0)[2][2] - 6.0e-4).abs() < 1e-12);
/// # Ok::<(), sinew_reduce::ReduceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Compliance {
    nodes: Vec<u32>,
    points: Vec<Vec3>,
    matrix: Dense,
    frame: Frame,
}

/// Refuses more nodes than the cap, with the memory they would need.
pub(crate) fn check_cap(nodes: usize, cap: usize) -> Result<(), ReduceError> {
    if nodes > cap { Err(ReduceError::TooLarge { nodes, cap, bytes: 72 * nodes * nodes }) } else { Ok(()) }
}

impl Compliance {
    pub(crate) fn from_parts(nodes: Vec<u32>, points: Vec<Vec3>, matrix: Dense, floats: bool) -> Self {
        Self { nodes, points, matrix, frame: if floats { Frame::Floating } else { Frame::Fixed } }
    }

    /// Node of the mesh of each point.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Places of the points at rest [m].
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// The whole matrix [m/N].
    pub fn matrix(&self) -> &Dense {
        &self.matrix
    }

    /// What the displacements are relative to.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Displacement of point i per force on point j [m/N].
    pub fn block(&self, i: usize, j: usize) -> [[f64; 3]; 3] {
        [0, 1, 2].map(|a| [0, 1, 2].map(|b| self.matrix.get(3 * i + a, 3 * j + b)))
    }

    /// Displacements of all points by forces on some of them, in time of points times loads [m].
    pub fn displacements(&self, loads: &[(usize, Vec3)]) -> Vec<Vec3> {
        let mut out = vec![0.0; self.matrix.rows()];
        for &(point, force) in loads {
            for (axis, f) in force.into_iter().enumerate() {
                let column = self.matrix.column(3 * point + axis);
                out.iter_mut().zip(column).for_each(|(u, c)| *u += c * f);
            }
        }
        out.chunks_exact(3).map(|u| [u[0], u[1], u[2]]).collect()
    }

    /// The same body held at some points, given by their places in the list of points; their forces become reactions.
    /// For a floating body they must stop all rigid motions.
    pub fn held(&self, points: &[usize]) -> Result<Self, ReduceError> {
        let count = self.points.len();
        if let Some((index, &node)) = points.iter().enumerate().find(|p| *p.1 >= count) {
            return Err(ReduceError::NoNode { element: "entry of the held points", index, node: node as u32, count });
        }
        let keep: Vec<usize> = (0..count).filter(|p| !points.contains(p)).collect();
        let unknowns =
            |list: &[usize]| -> Vec<usize> { list.iter().flat_map(|p| (0..3).map(move |a| 3 * p + a)).collect() };
        let (held, rest) = (unknowns(points), unknowns(&keep));
        let motions = match self.frame {
            Frame::Fixed => Dense::zeros(self.matrix.rows(), 0),
            Frame::Floating => scaled_motions(&self.points),
        };
        // reactions r and rigid motion a: [C_hh R_h; R_hᵀ 0] (r, a) = −(C_hk f, R_kᵀ f)
        let (h, k) = (held.len(), motions.columns());
        let of_held = self.matrix.pick_rows(&held);
        let rigid_held = motions.pick_rows(&held);
        let unit = (0..h).map(|i| of_held.get(i, held[i])).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let system = Dense::from_fn(h + k, h + k, |i, j| match (i < h, j < h) {
            (true, true) => of_held.get(i, held[j]) / unit,
            (true, false) => rigid_held.get(i, j - h),
            (false, true) => rigid_held.get(j, i - h),
            (false, false) => 0.0,
        });
        let rigid_rest = motions.pick_rows(&rest);
        let right = Dense::from_fn(h + k, rest.len(), |i, j| {
            if i < h { -of_held.get(i, rest[j]) / unit } else { -rigid_rest.get(j, i - h) }
        });
        let answer = system.solve_general(&right);
        let remedy = "hold three points that are not on a line";
        if !answer.data().iter().all(|x| x.is_finite()) {
            return Err(ReduceError::Singular { system: "the system of the held points", remedy });
        }
        let mut out = self.matrix.pick_rows(&rest).pick_columns(rest.iter().copied());
        let couple = Dense::from_fn(rest.len(), h + k, |i, j| {
            if j < h { of_held.get(j, rest[i]) } else { rigid_rest.get(i, j - h) * unit }
        });
        out.accumulate(&couple.times(&answer));
        out.symmetrise();
        let nodes = keep.iter().map(|&p| self.nodes[p]).collect();
        let places = keep.iter().map(|&p| self.points[p]).collect();
        Ok(Self::from_parts(nodes, places, out, false))
    }

    /// Smallest and largest eigenvalue [m/N].
    pub fn range(&self) -> Result<[f64; 2], ReduceError> {
        let (values, _) = self.matrix.eigen("the compliance")?;
        Ok([values[0], values[values.len() - 1]])
    }
}

/// Translations, and rotations about the mean in units of the body's size.
pub(crate) fn scaled_motions(points: &[Vec3]) -> Dense {
    let count = points.len() as f64;
    let mean = [0, 1, 2].map(|a| points.iter().map(|x| x[a]).sum::<f64>() / count);
    let size = points.iter().map(|&x| length(sub(x, mean))).fold(f64::MIN_POSITIVE, f64::max);
    let six = six_motions(points, mean);
    Dense::from_fn(six.rows(), 6, |i, j| six.get(i, j) / if j < 3 { 1.0 } else { size })
}

/// One row on the surface: its speed or gap is Σ weight · displacement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceRow(
    /// Point and weight vector, for a contact the normal times a barycentric weight.
    pub Vec<(usize, Vec3)>,
);

/// The compliance as rows see it, N C Nᵀ: small, dense, for the touched part only (capacitance matrix; James and Pai).
///
/// Its columns cost rows × points; a row that comes or goes changes one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacitance {
    rows: Vec<SurfaceRow>,
    matrix: Dense,
}

impl Capacitance {
    /// Of rows with points that the compliance has.
    pub fn new(compliance: &Compliance, rows: &[SurfaceRow]) -> Self {
        let mut out = Self { rows: Vec::new(), matrix: Dense::zeros(0, 0) };
        rows.iter().for_each(|row| out.push(compliance, row.clone()));
        out
    }

    /// Adds a row.
    pub fn push(&mut self, compliance: &Compliance, row: SurfaceRow) {
        let count = self.rows.len();
        self.rows.push(row);
        let line: Vec<f64> = (0..=count).map(|i| self.entry(compliance, i, count)).collect();
        let old = &self.matrix;
        self.matrix = Dense::from_fn(count + 1, count + 1, |i, j| match (i, j) {
            (i, j) if i == count => line[j],
            (i, j) if j == count => line[i],
            _ => old.get(i, j),
        });
    }

    /// Removes a row; the last one takes its place.
    pub fn swap_remove(&mut self, row: usize) -> SurfaceRow {
        let last = self.rows.len() - 1;
        let from = |i: usize| if i == row { last } else { i };
        let old = &self.matrix;
        self.matrix = Dense::from_fn(last, last, |i, j| old.get(from(i), from(j)));
        self.rows.swap_remove(row)
    }

    /// N C Nᵀ [m/N].
    pub fn matrix(&self) -> &Dense {
        &self.matrix
    }

    /// The rows.
    pub fn rows(&self) -> &[SurfaceRow] {
        &self.rows
    }

    /// Forces of the rows that move them by `target`; none for rows that depend on each other [N].
    pub fn forces(&self, target: &[f64]) -> Option<Vec<f64>> {
        let right = Dense::from_data(target.len(), 1, target.to_vec())?;
        Some(self.matrix.solve_positive(&right)?.data().to_vec())
    }

    /// Loads on points by forces of the rows [N].
    pub fn loads(&self, forces: &[f64]) -> Vec<(usize, Vec3)> {
        let all = self.rows.iter().zip(forces);
        all.flat_map(|(row, f)| row.0.iter().map(move |(p, w)| (*p, w.map(|w| w * f)))).collect()
    }

    fn entry(&self, compliance: &Compliance, i: usize, j: usize) -> f64 {
        let mut sum = 0.0;
        for (p, n) in &self.rows[i].0 {
            for (q, m) in &self.rows[j].0 {
                let block = compliance.block(*p, *q);
                sum += (0..3).map(|a| n[a] * dot(&block[a], m)).sum::<f64>();
            }
        }
        sum
    }
}
