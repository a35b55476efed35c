//! Eight tetrahedra at a time: deformation gradient, rotation, forces and rotated gradients.
//!
//! The rotation R of F is computed without a start value by Newton's iteration for the polar factor (Higham 1986),
//!
//! ```text
//!   R ← ½ (R + R⁻ᵀ),   R₀ = F,   R⁻ᵀ = cof(R)/det R
//! ```
//!
//! which maps a singular value s to ½ (s + 1/s): strains below 20 % need three iterations in f32, stretches from a
//! third to three times the length five. It is a function of F alone, so that no state is stored. It needs det F > 0:
//! lanes that are inverted or have not converged are recomputed one by one with a slower method that always returns a
//! proper rotation.

use crate::math::lane3::{V3, cross, dot};
use crate::math::{
    Block, Blocks, Eight, Kernel, LANES, Lane, Mat3, Quat, Real, Sym3, Vec3, any_orthonormal, integrate_rotation,
};

/// Three columns.
pub(super) type M3<L> = [V3<L>; 3];

/// Iterations of the polar decomposition for every element.
const ROUNDS: usize = if Real::EPSILON < 1e-10 { 4 } else { 3 };
/// Further iterations for lanes that have not converged.
const MORE_ROUNDS: usize = 2;
/// Threshold of the squared last change of R; the remaining error is half of it, below the rounding error.
const SETTLED: Real = 4.0 * Real::EPSILON;
/// Newton steps of the fallback method. Two are enough below 10 % strain, four in the worst case tried.
const MEND_STEPS: usize = 8;
/// Rotation increment [rad] at which the fallback method has converged, in units of the rounding error of a real.
const MEND_DONE: Real = 4.0 * Real::EPSILON;

/// Eight tetrahedra without a common node. An empty lane repeats the first one with volume 0.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct TetBatch {
    pub node: [[u32; LANES]; 4],
    /// Rest gradients of corners 1 to 3; that of corner 0 is minus their sum [1/m].
    pub gradient: [[Eight; 3]; 3],
    /// Rest volume [m³].
    pub volume: Eight,
    /// Index of the tetrahedron in its mesh.
    pub tet: [u32; LANES],
    /// Lanes in use.
    pub used: usize,
}

impl TetBatch {
    /// The nodes to which a corner is written: none for an empty lane.
    fn targets(&self, corner: usize) -> [u32; LANES] {
        let mut nodes = self.node[corner];
        nodes[self.used..].fill(u32::MAX);
        nodes
    }

    /// The four nodes of a lane.
    pub fn corners(&self, lane: usize) -> [u32; 4] {
        [self.node[0][lane], self.node[1][lane], self.node[2][lane], self.node[3][lane]]
    }
}

/// F of each lane, by columns: Σ (x_i − x_0) G_iᵀ. Taking differences first avoids cancellation at large coordinates.
#[inline(always)]
fn deformation<L: Lane>(t: L::Token, g: &M3<L>, batch: &TetBatch, at: usize, x: &[Block]) -> M3<L> {
    let origin = L::gather4(t, x, &batch.node[0][at..]);
    let mut f = [[L::splat(t, 0.0); 3]; 3];
    for corner in 0..3 {
        let end = L::gather4(t, x, &batch.node[corner + 1][at..]);
        for row in 0..3 {
            let edge = end[row] - origin[row];
            for column in 0..3 {
                f[column][row] = f[column][row] + edge * g[corner][column];
            }
        }
    }
    f
}

/// F and R of the lanes from `at` on, by columns.
#[inline(always)]
pub(super) fn element<L: Lane>(t: L::Token, batch: &TetBatch, at: usize, x: &[Block]) -> Element<L> {
    let zero = L::splat(t, 0.0);
    let mut gradient = [[zero; 3]; 3];
    for corner in 0..3 {
        for axis in 0..3 {
            gradient[corner][axis] = L::load(t, &batch.gradient[corner][axis][at..]);
        }
    }
    let f = deformation(t, &gradient, batch, at, x);
    let (mut r, upright) = (f, dot(f[0], cross(f[1], f[2])));
    for _ in 1..ROUNDS {
        r = polar_round(t, &r);
    }
    let last = polar_round(t, &r);
    let mut fine = settled(t, &last, &r, upright);
    r = last;
    if !fine.all_gt(zero) {
        (r, fine) = go_on(t, r, fine, upright);
        if !fine.all_gt(zero) {
            r = mend(t, f, r, fine);
        }
    }
    Element { f, r, gradient }
}

/// ½ (R + R⁻ᵀ).
#[inline(always)]
fn polar_round<L: Lane>(t: L::Token, r: &M3<L>) -> M3<L> {
    let cofactor = [cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])];
    let half = L::splat(t, 0.5);
    let inverse = half.div(dot(r[0], cofactor[0]));
    let mut new = *r;
    for column in 0..3 {
        for row in 0..3 {
            new[column][row] = r[column][row] * half + cofactor[column][row] * inverse;
        }
    }
    new
}

/// Positive where the last iteration changed R by less than the threshold and F is not inverted.
#[inline(always)]
fn settled<L: Lane>(t: L::Token, new: &M3<L>, old: &M3<L>, upright: L) -> L {
    let mut change = L::splat(t, -SETTLED);
    for column in 0..3 {
        for row in 0..3 {
            let d = new[column][row] - old[column][row];
            change = change + d * d;
        }
    }
    upright.select_gt(L::splat(t, 0.0), -change, L::splat(t, -1.0))
}

/// Further iterations for the lanes that have not converged; the bits of the others are unchanged.
#[inline(always)]
fn go_on<L: Lane>(t: L::Token, mut r: M3<L>, mut fine: L, upright: L) -> (M3<L>, L) {
    let zero = L::splat(t, 0.0);
    for _ in 0..MORE_ROUNDS {
        let new = polar_round(t, &r);
        let now = settled(t, &new, &r, upright);
        for column in 0..3 {
            for row in 0..3 {
                r[column][row] = fine.select_gt(zero, r[column][row], new[column][row]);
            }
        }
        fine = fine.select_gt(zero, fine, now);
    }
    (r, fine)
}

/// Deformation of a tetrahedron at x.
pub(super) struct Element<L> {
    /// Deformation gradient.
    pub f: M3<L>,
    /// Its rotation.
    pub r: M3<L>,
    pub gradient: M3<L>,
}

/// Rotations of the lanes that have not converged, one by one.
#[inline(always)]
fn mend<L: Lane>(t: L::Token, f: M3<L>, mut r: M3<L>, fine: L) -> M3<L> {
    let (mut from, mut to, mut flag) = ([[[0.0; LANES]; 3]; 3], [[[0.0; LANES]; 3]; 3], [0.0; LANES]);
    for column in 0..3 {
        for row in 0..3 {
            f[column][row].store(&mut from[column][row]);
            r[column][row].store(&mut to[column][row]);
        }
    }
    fine.store(&mut flag);
    mend_lanes(&from, &mut to, &flag[..L::COUNT]);
    for column in 0..3 {
        for row in 0..3 {
            r[column][row] = L::load(t, &to[column][row]);
        }
    }
    r
}

#[cold]
#[inline(never)]
fn mend_lanes(f: &[[Eight; 3]; 3], r: &mut [[Eight; 3]; 3], fine: &[Real]) {
    for (lane, &fine) in fine.iter().enumerate() {
        if fine > 0.0 {
            continue;
        }
        let column = |c: usize| Vec3::new(f[c][0][lane], f[c][1][lane], f[c][2][lane]);
        let turned = Mat3::from_quat(rotation_of(&Mat3::from_cols(column(0), column(1), column(2))));
        for c in 0..3 {
            for row in 0..3 {
                r[c][row][lane] = turned.col(c)[row];
            }
        }
    }
}

/// The rotation R nearest to F: the largest tr(RᵀF) (Müller et al. 2016), by Newton's method on R ← exp(ω) R,
/// ω = (tr S I − sym S)⁻¹ Σ r_i × f_i with S = F Rᵀ. It starts from the frame of F's first two columns, so that it is a
/// function of F alone and a proper rotation even for an inverted element.
pub(in crate::deformable) fn rotation_of(f: &Mat3) -> Quat {
    let x = f.x_axis.normalize_or(Vec3::X);
    let z = f.x_axis.cross(f.y_axis).normalize_or(any_orthonormal(x));
    let mut q = Quat::from_mat3(&Mat3::from_cols(x, z.cross(x), z));
    for _ in 0..MEND_STEPS {
        let r = Mat3::from_quat(q);
        let axial = r.x_axis.cross(f.x_axis) + r.y_axis.cross(f.y_axis) + r.z_axis.cross(f.z_axis);
        let s = *f * r.transpose();
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let hessian = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace)) - s));
        // where the Hessian is not positive definite (inverted or very flat), a short step along the gradient
        let turn = match hessian.inverse() {
            Some(inverse) => inverse.mul(axial).clamp_length_max(0.7),
            None => (axial / (trace.abs() + 1e-3)).clamp_length_max(0.7),
        };
        q = integrate_rotation(q, turn);
        if turn.length_squared() < MEND_DONE * MEND_DONE {
            break;
        }
    }
    q
}

/// One pass over all tetrahedra: elastic impulses h f into `load` and, optionally, the rotated gradients √V R G_i.
pub(super) struct TetPass<'a> {
    pub batches: &'a [TetBatch],
    pub x: &'a [Block],
    /// Lamé parameters λ, μ times h [N·s/m²].
    pub lame: [Real; 2],
    pub load: Blocks<'a>,
    /// Four corners of eight lanes per batch; empty when A is not rebuilt.
    pub turned: &'a mut [Block],
}

impl Kernel for TetPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let rebuild = !self.turned.is_empty();
        for (k, batch) in self.batches.iter().enumerate() {
            let mut at = 0;
            while at < batch.used {
                let element = element::<L>(t, batch, at, self.x);
                let volume = L::load(t, &batch.volume[at..]);
                pull(t, batch, at, &element, self.lame, self.load);
                if rebuild {
                    let root = volume.sqrt();
                    let corners = spread(t, &element.r, &element.gradient, root);
                    for (corner, g) in corners.into_iter().enumerate() {
                        let first = (k * 4 + corner) * LANES + at;
                        L::store_blocks([g[0], g[1], g[2], L::splat(t, 0.0)], &mut self.turned[first..]);
                    }
                }
                at += L::COUNT;
            }
        }
    }
}

/// Adds h f_i to the corners.
#[inline(always)]
fn pull<L: Lane>(t: L::Token, batch: &TetBatch, at: usize, e: &Element<L>, lame: [Real; 2], load: Blocks<'_>) {
    let forces = corner_forces(t, batch, at, e, lame);
    for (corner, force) in forces.into_iter().enumerate() {
        // full batches need no second list of nodes
        let nodes = if batch.used == LANES { batch.node[corner] } else { batch.targets(corner) };
        L::add_rows4([force[0], force[1], force[2], L::splat(t, 0.0)], load, &nodes[at..]);
    }
}

/// h f_i = −h V P G_i of the corners, P = 2μ (F − R) + λ (tr RᵀF − 3) R.
///
/// This is R (2μ ε + λ tr ε I) with ε = RᵀF − I, for R converged: then RᵀF is symmetric.
#[inline(always)]
pub(super) fn corner_forces<L: Lane>(
    t: L::Token,
    batch: &TetBatch,
    at: usize,
    e: &Element<L>,
    lame: [Real; 2],
) -> [V3<L>; 4] {
    let (f, r) = (&e.f, &e.r);
    let size = -L::load(t, &batch.volume[at..]);
    let trace = dot(f[0], r[0]) + dot(f[1], r[1]) + dot(f[2], r[2]) - L::splat(t, 3.0);
    let spread_out = trace * size * L::splat(t, lame[0]);
    let stretch = size * L::splat(t, 2.0 * lame[1]);
    let mut p = *f;
    for column in 0..3 {
        for row in 0..3 {
            p[column][row] = (f[column][row] - r[column][row]) * stretch + r[column][row] * spread_out;
        }
    }
    spread(t, &p, &e.gradient, L::splat(t, 1.0))
}

/// m G_i · scale of the four corners.
#[inline(always)]
pub(super) fn spread<L: Lane>(t: L::Token, m: &M3<L>, gradient: &M3<L>, scale: L) -> [V3<L>; 4] {
    let mut out = [[L::splat(t, 0.0); 3]; 4];
    for corner in 0..3 {
        let g = gradient[corner];
        for row in 0..3 {
            let value = (m[0][row] * g[0] + m[1][row] * g[1] + m[2][row] * g[2]) * scale;
            out[corner + 1][row] = value;
            out[0][row] = out[0][row] - value;
        }
    }
    out
}

/// Elastic energy of a lane [J]: V (μ |F − R|² + ½ λ (tr RᵀF − 3)²).
pub(super) fn energy(batch: &TetBatch, lane: usize, x: &[Block], [lambda, mu]: [Real; 2]) -> Real {
    let Element { f, r, .. } = element::<Real>((), batch, lane, x);
    let (mut square, mut trace) = (0.0, -3.0);
    for column in 0..3 {
        trace += dot(f[column], r[column]);
        for row in 0..3 {
            let d = f[column][row] - r[column][row];
            square += d * d;
        }
    }
    batch.volume[lane] * (mu * square + 0.5 * lambda * trace * trace)
}

/// F of a lane and its rotation.
pub(super) fn strained(batch: &TetBatch, lane: usize, x: &[Block]) -> (Mat3, Mat3) {
    let Element { f, r, .. } = element::<Real>((), batch, lane, x);
    (Mat3::from_cols_array_2d(&f), Mat3::from_cols_array_2d(&r))
}

/// Tetrahedra with their rest gradients and volumes, before they are packed into lanes.
pub(in crate::deformable) struct RestTet {
    pub corners: [u32; 4],
    pub gradient: [Vec3; 3],
    pub volume: Real,
}

impl RestTet {
    /// Gradients are the columns of Dm⁻ᵀ; the first corner's is minus their sum.
    pub fn new(vertices: &[Vec3], corners: [u32; 4]) -> Self {
        let [a, b, c, d] = corners.map(|i| vertices[i as usize]);
        let g = Mat3::from_cols(b - a, c - a, d - a).inverse().transpose();
        let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
        Self { corners, gradient: [g.x_axis, g.y_axis, g.z_axis], volume }
    }

    /// Σ G_i² over the four corners [1/m²].
    pub fn squares(&self) -> Real {
        let [b, c, d] = self.gradient;
        [b + c + d, b, c, d].iter().map(|g| g.length_squared()).sum()
    }
}

/// Batches that are still open while tetrahedra are packed. More: fuller batches; fewer: neighbours stay close in
/// memory.
const OPEN: usize = 32;

/// Packs tetrahedra into batches whose lanes have no common node, first fit among a few open batches.
pub(super) fn lay_out(tets: &[RestTet]) -> Vec<TetBatch> {
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut batches = Vec::with_capacity(tets.len() / LANES + OPEN);
    let meets = |a: usize, b: usize| tets[a].corners.iter().any(|c| tets[b].corners.contains(c));
    for tet in 0..tets.len() {
        match open.iter_mut().position(|lanes| !lanes.iter().any(|&other| meets(tet, other))) {
            Some(k) => {
                open[k].push(tet);
                if open[k].len() == LANES {
                    batches.push(batch_of(tets, &open.remove(k)));
                }
            }
            None => {
                open.push(vec![tet]);
                if open.len() > OPEN {
                    batches.push(batch_of(tets, &open.remove(0)));
                }
            }
        }
    }
    batches.extend(open.iter().map(|lanes| batch_of(tets, lanes)));
    batches
}

fn batch_of(tets: &[RestTet], lanes: &[usize]) -> TetBatch {
    let mut batch = TetBatch {
        node: [[0; LANES]; 4],
        gradient: [[[0.0; LANES]; 3]; 3],
        volume: [0.0; LANES],
        tet: [0; LANES],
        used: lanes.len(),
    };
    for lane in 0..LANES {
        let number = *lanes.get(lane).unwrap_or(&lanes[0]);
        let tet = &tets[number];
        batch.tet[lane] = number as u32;
        for corner in 0..4 {
            batch.node[corner][lane] = tet.corners[corner];
        }
        for corner in 0..3 {
            for axis in 0..3 {
                batch.gradient[corner][axis][lane] = tet.gradient[corner][axis];
            }
        }
        batch.volume[lane] = if lane < lanes.len() { tet.volume } else { 0.0 };
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::run_wide;

    /// Tetrahedra of a block in degenerate states: stretched ten times, flat, inverted.
    fn tangle() -> (Vec<TetBatch>, Vec<Block>) {
        let mesh = crate::TetMesh::block([3, 2, 2], Vec3::new(0.3, 0.2, 0.2)).unwrap();
        let tets = crate::deformable::fem::corotational::rest_tets(&mesh);
        let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0);
        let place = |(k, x): (usize, &Vec3)| {
            let push = Vec3::new((k % 3) as Real, (k % 5) as Real, (k % 7) as Real) * 4e-3;
            let far = if k == 20 { 10.0 } else { 1.0 };
            let x = turn * (*x * far + push);
            [x.x, x.y, if k == 9 { -x.z } else { x.z }, 0.0]
        };
        (lay_out(&tets), mesh.vertices.iter().enumerate().map(place).collect())
    }

    #[test]
    fn no_batch_has_a_node_twice_and_every_tetrahedron_occurs_once() {
        let (batches, x) = tangle();
        let mut count = 0;
        for batch in &batches {
            let mut nodes: Vec<u32> = (0..batch.used).flat_map(|lane| batch.corners(lane)).collect();
            count += batch.used;
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes.len(), 4 * batch.used);
            assert!(nodes.iter().all(|&n| (n as usize) < x.len()));
        }
        assert_eq!(count, 72);
    }

    #[test]
    fn every_element_has_a_proper_rotation_and_non_inverted_ones_a_symmetric_stretch() {
        let (batches, x) = tangle();
        for batch in &batches {
            for lane in 0..batch.used {
                let Element { f, r, .. } = element::<Real>((), batch, lane, &x);
                let mat = |m: M3<Real>| Mat3::from_cols(m[0].into(), m[1].into(), m[2].into());
                let (f, r) = (mat(f), mat(r));
                let off =
                    (r.transpose() * r - Mat3::IDENTITY).to_cols_array().iter().fold(0.0, |a: Real, b| a.max(b.abs()));
                assert!(off < 8.0 * Real::EPSILON && r.determinant() > 0.0, "{off}");
                let s = r.transpose() * f;
                let skew = [s.x_axis.y - s.y_axis.x, s.x_axis.z - s.z_axis.x, s.y_axis.z - s.z_axis.y];
                let size = f.to_cols_array().iter().fold(0.0, |a: Real, b| a.max(b.abs()));
                if f.determinant() > 0.1 {
                    assert!(skew.iter().all(|k| k.abs() < 50.0 * Real::EPSILON * size), "{skew:?} {size}");
                }
            }
        }
    }

    #[test]
    fn eight_lanes_and_one_give_the_same_bits() {
        let (batches, x) = tangle();
        let pass = |lanes: bool| {
            let (mut load, mut turned) = (vec![[0.0; 4]; x.len()], vec![[0.0; 4]; batches.len() * 32 + 1]);
            let (first, lame) = (Blocks::new(&mut load), [3e4, 2e4]);
            let pass = TetPass { batches: &batches, x: &x, lame, load: first, turned: &mut turned };
            if lanes {
                run_wide(pass)
            } else {
                pass.run::<Real>(())
            }
            // empty lanes hold no defined values
            for (k, batch) in batches.iter().enumerate() {
                for corner in 0..4 {
                    turned[(k * 4 + corner) * LANES..][batch.used..LANES].fill([0.0; 4]);
                }
            }
            (load, turned)
        };
        assert_eq!(pass(true), pass(false));
    }
}
