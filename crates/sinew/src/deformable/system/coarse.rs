//! The coarse level of a two-level preconditioner: the stiffness of smooth motions of the body.
//!
//! Control points are at the centres of equal parts of the body. Each moves the surrounding nodes by an affine map with
//! a smooth weight, so that with Z the 12 modes of all points and R the rotation of each node
//!
//! ```text
//!   z += R Z E⁻¹ Zᵀ Rᵀ r,   E = Zᵀ A₀ Z,   u_n = R_n Σ_c w_nc (a_c + B_c (X_n − X_c)/s)
//! ```
//!
//! A₀ is the matrix at rest: a rotated body has approximately R A₀ Rᵀ, so that E is computed once for a step length and
//! a set of pinned nodes. (Factors that are not rotated with the body lose accuracy: 13 to 38 iterations where these
//! need 3 in the study.) R_n is the mean of the rotations of the control points of the node; it need not be orthogonal
//! for the correction to be symmetric and positive.

use super::dilatation::Dilatations;
use super::rows::Rows;
use crate::deformable::SmoothMotions;
use crate::deformable::fem::tet_kernel::{RestTet, rotation_of};
use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Mat3, Real, Vec3, WideMat3, run, vec, wide_outer, widen};

/// Maximum number of control points. 16 need half as many iterations again as 32, 64 bring no gain (in the study).
pub(super) const POINTS: usize = 32;
/// The same for a body in contact: its E is computed and factored again in every pass.
pub(super) const TOUCHING_POINTS: usize = 8;
/// Nodes per control point; a smaller body has four points.
const NODES_A_POINT: usize = 64;
/// Nodes below which a body has no coarse space: block Jacobi needs few iterations for it. A block of 125 nodes that slid
/// on its stiff contact rows took 88 iterations for a pass without, so that a solve ran out of them.
const LEAST_NODES: usize = 24;
/// Volume of the inertia ellipsoid, relative to that of a ball of equal trace, below which a body is a line or a sheet: its
/// affine motions depend on each other, and it bends in shapes that four points do not have.
const THIN: f64 = 1e-6;
/// Control points of each node.
const HOLDS: usize = 4;
/// Modes of a point.
const MODES: usize = 12;
/// Stiffness h (h + β) K_ii in units of the mass, averaged over the body, above which the coarse space reduces the
/// cost. On the cantilever of `sinew-benches s6` both variants cost the same at 5.6 (h = 0.1 ms); at 11 it saves a
/// fifth, at 59 half.
const PAYS: Real = 5.0;
/// Rows of E⁻¹ in a tile: the modes of two points.
const TILE: usize = 2 * MODES;
/// A mode with a smaller independent fraction of energy is omitted: in f32 its coefficient would be rounding error.
pub(in crate::deformable) const DEPENDENT: f64 = 1e-6;

/// Eight nodes with the same control points.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Handful {
    /// An empty lane repeats the first with weights of zero.
    load: [u32; LANES],
    /// The same, `u32::MAX` in an empty lane.
    store: [u32; LANES],
    points: [u32; HOLDS],
    /// Zero on pinned nodes. Written by `rebuild`.
    weight: [Eight; HOLDS],
    /// Rest position relative to the middle of the body, in units of the mean distance of the centres.
    place: [Eight; 3],
    /// The node's rotation, row-major. Written by `turn`.
    turn: [Eight; 9],
}

/// Constants of the coarse space and its inverse.
#[derive(Clone, Debug)]
pub(in crate::deformable) struct Coarse {
    points: usize,
    /// Control points relative to the middle of the body, in units of their mean distance from it.
    centres: Vec<[Real; 3]>,
    /// Control points of each node and their weights. (node_count)
    holds: Vec<([u32; HOLDS], [Real; HOLDS])>,
    /// Rest position of each node, in the units of the centres. (node_count)
    places: Vec<[Real; 3]>,
    /// All nodes, grouped by their control points.
    handfuls: Vec<Handful>,
    /// Mean deformation gradient of a control point's part: Σ x_n bᵀ over these (n, b).
    stretches: Vec<(u32, Vec3)>,
    /// First stretch of each control point, and the end. (points + 1)
    first: Vec<u32>,
    /// Pinned nodes and factor h (h + β) for which E was computed.
    pinned: Vec<bool>,
    factor: Real,
    /// E⁻¹ in tiles: row by row, `TILE` columns each. Written by `rebuild`.
    inverse: Vec<Real>,
    /// E, row by row. Written by `rebuild`.
    stiffness: Vec<Real>,
    /// Handful and lane of each node. (node_count)
    seats: Vec<(u32, u32)>,
    /// Eight lanes are in use. Written by `turn`.
    lanes: bool,
}

/// True when the nodes lie on a line or in a plane.
fn is_thin(vertices: &[Vec3]) -> bool {
    let count = vertices.len().max(1) as Real;
    let middle = vertices.iter().fold(Vec3::ZERO, |sum, x| sum + *x) / count;
    let spread = vertices.iter().fold(WideMat3::ZERO, |sum, &x| sum + wide_outer(widen(x - middle), widen(x - middle)));
    let mean = (spread.col(0).x + spread.col(1).y + spread.col(2).z) / 3.0;
    !(spread.determinant() > THIN * mean.powi(3))
}

impl Coarse {
    /// Control points of a body, at most `most`; none when it is too small for a coarse space.
    pub fn new(vertices: &[Vec3], tets: &[RestTet], most: usize) -> Option<Self> {
        let least = if is_thin(vertices) { HOLDS * NODES_A_POINT } else { LEAST_NODES };
        if vertices.len() < least {
            return None;
        }
        let points = 1 << (vertices.len() / NODES_A_POINT).clamp(HOLDS, most).ilog2();
        let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
        let mut part = vec![0; vertices.len()];
        bisect(vertices, &mut order, &mut part, 0, points);
        let mut sums = vec![(Vec3::ZERO, 0.0); points];
        for (&part, &x) in part.iter().zip(vertices) {
            let (sum, count) = &mut sums[part as usize];
            (*sum, *count) = (*sum + x, *count + 1.0);
        }
        let centres: Vec<Vec3> = sums.into_iter().map(|(sum, count)| sum / count).collect();
        let (middle, size) = scale(&centres);
        let holds: Vec<_> = vertices.iter().map(|&x| hold(x, &centres)).collect();
        let places: Vec<[Real; 3]> = vertices.iter().map(|&x| ((x - middle) / size).to_array()).collect();
        let (stretches, first) = stretches(tets, &part, points);
        let handfuls = handfuls(&holds, &places);
        let mut seats = vec![(0, 0); vertices.len()];
        for (k, handful) in handfuls.iter().enumerate() {
            for (lane, &node) in handful.store.iter().enumerate().filter(|(_, node)| **node != u32::MAX) {
                seats[node as usize] = (k as u32, lane as u32);
            }
        }
        Some(Self {
            points,
            centres: centres.iter().map(|&c| ((c - middle) / size).to_array()).collect(),
            handfuls,
            holds,
            places,
            stretches,
            first,
            pinned: vec![false; vertices.len()],
            factor: 0.0,
            inverse: vec![0.0; points * MODES * points * MODES],
            stiffness: vec![0.0; points * MODES * points * MODES],
            seats,
            lanes: true,
        })
    }

    /// Number of control points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// True when E was computed for this factor and these pinned nodes.
    pub fn fits(&self, factor: Real, v: &[Block]) -> bool {
        self.factor == factor && self.pinned.iter().zip(v).all(|(pinned, v)| *pinned == (v[3] == 0.0))
    }

    /// E and its inverse from the matrix at rest and its averaged dilatations.
    pub fn rebuild(&mut self, factor: Real, v: &[Block], rest: &Rows, averaged: Option<&Dilatations>) {
        self.factor = factor;
        for (pinned, v) in self.pinned.iter_mut().zip(v) {
            *pinned = v[3] == 0.0;
        }
        for handful in &mut self.handfuls {
            for lane in 0..LANES {
                let node = handful.load[lane] as usize;
                let holds = handful.store[lane] != u32::MAX && !self.pinned[node];
                for k in 0..HOLDS {
                    handful.weight[k][lane] = if holds { self.holds[node].1[k] } else { 0.0 };
                }
            }
        }
        let size = self.points * MODES;
        let mut e = self.project(rest);
        if let Some(averaged) = averaged {
            self.project_averaged(rest, averaged, &mut e);
        }
        for (to, &e) in self.stiffness.iter_mut().zip(&e) {
            *to = to_real(e);
        }
        invert(&mut e, size);
        for row in 0..size {
            for column in 0..size {
                let at = (column / TILE * size + row) * TILE + column % TILE;
                self.inverse[at] = to_real(e[row * size + column]);
            }
        }
    }

    /// w (1, (X_n − X_c)/s) of a node and each of its control points.
    fn modes(&self, node: usize) -> [(usize, [f64; 4]); HOLDS] {
        let (points, weights) = &self.holds[node];
        core::array::from_fn(|k| {
            let centre = &self.centres[points[k] as usize];
            let weight = to64(weights[k]);
            let arm = |axis: usize| weight * to64(self.places[node][axis] - centre[axis]);
            (points[k] as usize, [weight, arm(0), arm(1), arm(2)])
        })
    }

    /// E = Zᵀ A Z, row by row of A.
    fn project(&self, a: &Rows) -> Vec<f64> {
        let size = self.points * MODES;
        let mut e = vec![0.0; size * size];
        // rows of A Z at one node, by control point: 3 x 12 each
        let mut az = vec![[[0.0f64; MODES]; 3]; self.points];
        let mut met = Vec::new();
        for node in (0..self.holds.len()).filter(|&node| !self.pinned[node]) {
            met.clear();
            a.row(node, |column, block| {
                if self.pinned[column] {
                    return;
                }
                for (point, weight) in self.modes(column) {
                    if !met.contains(&point) {
                        met.push(point);
                        az[point] = [[0.0; MODES]; 3];
                    }
                    for (row, az) in az[point].iter_mut().enumerate() {
                        for (mode, az) in az.iter_mut().enumerate() {
                            *az += to64(block.col(mode % 3)[row]) * weight[mode / 3];
                        }
                    }
                }
            });
            for (point, weight) in self.modes(node) {
                for mode in 0..MODES {
                    let row = &mut e[(point * MODES + mode) * size..][..size];
                    for &other in &met {
                        let from = &az[other][mode % 3];
                        for (e, az) in row[other * MODES..][..MODES].iter_mut().zip(from) {
                            *e += weight[mode / 3] * az;
                        }
                    }
                }
            }
        }
        e
    }

    /// E += Σ k_a (Zᵀ B_a) (Zᵀ B_a)ᵀ.
    fn project_averaged(&self, rows: &Rows, averaged: &Dilatations, e: &mut [f64]) {
        let size = self.points * MODES;
        let mut seen = vec![[0.0f64; MODES]; self.points];
        let mut met: Vec<usize> = Vec::new();
        for (node, &weight) in averaged.weight.iter().enumerate().filter(|(_, k)| **k > 0.0) {
            met.clear();
            averaged.slopes(rows, node, |column, slope| {
                if self.pinned[column] {
                    return;
                }
                for (point, share) in self.modes(column) {
                    if !met.contains(&point) {
                        met.push(point);
                        seen[point] = [0.0; MODES];
                    }
                    for (mode, seen) in seen[point].iter_mut().enumerate() {
                        *seen += to64(slope.to_array()[mode % 3]) * share[mode / 3];
                    }
                }
            });
            for &point in &met {
                for mode in 0..MODES {
                    let push = to64(weight) * seen[point][mode];
                    let row = &mut e[(point * MODES + mode) * size..][..size];
                    for &other in &met {
                        for (e, seen) in row[other * MODES..][..MODES].iter_mut().zip(&seen[other]) {
                            *e += push * seen;
                        }
                    }
                }
            }
        }
    }

    /// The rotation of every node at x.
    pub fn turn(&mut self, x: &[Block], lanes: bool) {
        self.lanes = lanes;
        let mut turns = [[0.0; 9]; POINTS];
        for point in 0..self.points {
            let part = &self.stretches[self.first[point] as usize..self.first[point + 1] as usize];
            // taking differences first, as for the elements
            let origin = part.first().map_or(Vec3::ZERO, |p| vec(x[p.0 as usize]));
            let mut f = Mat3::ZERO;
            for &(node, b) in part {
                let arm = vec(x[node as usize]) - origin;
                f += Mat3::from_cols(arm * b.x, arm * b.y, arm * b.z);
            }
            turns[point] = Mat3::from_quat(rotation_of(&f)).transpose().to_cols_array();
        }
        let turn = Turn { handfuls: &mut self.handfuls, turns: &turns };
        run(turn, lanes);
    }

    /// z += R Z E⁻¹ Zᵀ Rᵀ r.
    pub fn correct(&self, residual: &[Block], z: &mut [Block]) {
        let size = self.points * MODES;
        let (mut push, mut answer) = ([[0.0; MODES]; POINTS], [[0.0; MODES]; POINTS]);
        self.gather(residual, &mut push.as_flattened_mut()[..size]);
        let multiply = Multiply {
            tiles: &self.inverse,
            x: &push.as_flattened()[..size],
            out: &mut answer.as_flattened_mut()[..size],
        };
        run(multiply, self.lanes);
        self.spread(&answer.as_flattened()[..size], z);
    }
}

/// The motions of the control points, rotated with the nodes.
impl SmoothMotions for Coarse {
    fn count(&self) -> usize {
        self.points * MODES
    }

    fn stiffness(&self) -> &[Real] {
        &self.stiffness
    }

    fn see(&self, block: usize, push: Vec3, out: &mut [Real]) {
        let (handful, lane) = self.seats[block];
        let (handful, lane) = (&self.handfuls[handful as usize], lane as usize);
        let mut local = [0.0; 3];
        for (row, local) in local.iter_mut().enumerate() {
            for (axis, push) in push.to_array().into_iter().enumerate() {
                *local += handful.turn[3 * axis + row][lane] * push;
            }
        }
        for (point, weight) in handful.points.iter().zip(&handful.weight) {
            let centre = &self.centres[*point as usize];
            let out = &mut out[*point as usize * MODES..][..MODES];
            for row in 0..3 {
                let push = weight[lane] * local[row];
                out[row] += push;
                for axis in 0..3 {
                    out[3 + 3 * axis + row] += push * (handful.place[axis][lane] - centre[axis]);
                }
            }
        }
    }

    fn gather(&self, r: &[Block], out: &mut [Real]) {
        let out = out.as_chunks_mut().0;
        if self.points <= TOUCHING_POINTS {
            run(Gather::<TOUCHING_POINTS> { coarse: self, residual: r, out }, self.lanes);
        } else {
            run(Gather::<POINTS> { coarse: self, residual: r, out }, self.lanes);
        }
    }

    fn spread(&self, y: &[Real], z: &mut [Block]) {
        run(Spread { coarse: self, answer: y.as_chunks().0, z: Blocks::new(z) }, self.lanes);
    }
}

/// Rotations of the nodes from those of the control points.
struct Turn<'a> {
    handfuls: &'a mut [Handful],
    turns: &'a [[Real; 9]; POINTS],
}

impl Kernel for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        for handful in self.handfuls {
            let mut at = 0;
            while at < LANES {
                let mut sum = [L::splat(t, 0.0); 9];
                for k in 0..HOLDS {
                    let turn = &self.turns[handful.points[k] as usize % POINTS];
                    let weight = L::load(t, &handful.weight[k][at..]);
                    for n in 0..9 {
                        sum[n] = sum[n] + weight * L::splat(t, turn[n]);
                    }
                }
                for n in 0..9 {
                    sum[n].store(&mut handful.turn[n][at..]);
                }
                at += L::COUNT;
            }
        }
    }
}

/// One sum per lane for each mode of each control point: the SIMD and the scalar path add in the same order.
#[repr(align(32))]
struct Sums<const P: usize>([[Eight; MODES]; P]);

/// out = Zᵀ Rᵀ r; space for P points.
struct Gather<'a, const P: usize> {
    coarse: &'a Coarse,
    residual: &'a [Block],
    out: &'a mut [[Real; MODES]],
}

impl<const P: usize> Kernel for Gather<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        // moments about the middle of the body
        let mut sums = Sums([[[0.0; LANES]; MODES]; P]);
        for handful in &self.coarse.handfuls {
            let mut at = 0;
            while at < LANES {
                restrict::<P, L>(t, handful, at, self.residual, &mut sums);
                at += L::COUNT;
            }
        }
        for ((push, sums), centre) in self.out.iter_mut().zip(&sums.0).zip(&self.coarse.centres) {
            for (push, lanes) in push.iter_mut().zip(sums) {
                *push = lanes.iter().sum();
            }
            // moments about the control point
            for axis in 0..3 {
                for row in 0..3 {
                    push[3 + 3 * axis + row] -= push[row] * centre[axis];
                }
            }
        }
    }
}

/// z += R Z y.
struct Spread<'a> {
    coarse: &'a Coarse,
    answer: &'a [[Real; MODES]],
    z: Blocks<'a>,
}

impl Kernel for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        // a motion about each control point as one about the middle of the body
        let mut answer = [[0.0; MODES]; POINTS];
        for ((answer, from), centre) in answer.iter_mut().zip(self.answer).zip(&self.coarse.centres) {
            *answer = *from;
            for axis in 0..3 {
                for row in 0..3 {
                    answer[row] -= answer[3 + 3 * axis + row] * centre[axis];
                }
            }
        }
        for handful in &self.coarse.handfuls {
            let mut at = 0;
            while at < LANES {
                prolong::<L>(t, handful, at, &answer, self.z);
                at += L::COUNT;
            }
        }
    }
}

/// Adds w Rᵀr and its moments to the sums of the control points.
#[inline(always)]
fn restrict<const P: usize, L: Lane>(
    t: L::Token,
    handful: &Handful,
    at: usize,
    residual: &[Block],
    sums: &mut Sums<P>,
) {
    let r = L::gather4(t, residual, &handful.load[at..]);
    let mut local = [[L::splat(t, 0.0); 3]; 4];
    for row in 0..3 {
        for axis in 0..3 {
            local[0][row] = local[0][row] + L::load(t, &handful.turn[3 * axis + row][at..]) * r[axis];
        }
        for axis in 0..3 {
            local[axis + 1][row] = local[0][row] * L::load(t, &handful.place[axis][at..]);
        }
    }
    for k in 0..HOLDS {
        let sums = &mut sums.0[handful.points[k] as usize % P];
        let weight = L::load(t, &handful.weight[k][at..]);
        for n in 0..MODES {
            (L::load(t, &sums[n][at..]) + local[n / 3][n % 3] * weight).store(&mut sums[n][at..]);
        }
    }
}

/// Adds R Σ w (a + B X) to z.
#[inline(always)]
fn prolong<L: Lane>(t: L::Token, handful: &Handful, at: usize, answer: &[[Real; MODES]; POINTS], z: Blocks<'_>) {
    // the affine map of the node first, then the node's position in it
    let mut map = [L::splat(t, 0.0); MODES];
    for k in 0..HOLDS {
        let answer = &answer[handful.points[k] as usize % POINTS];
        let weight = L::load(t, &handful.weight[k][at..]);
        for n in 0..MODES {
            map[n] = map[n] + weight * L::splat(t, answer[n]);
        }
    }
    let mut local = [map[0], map[1], map[2]];
    for axis in 0..3 {
        let place = L::load(t, &handful.place[axis][at..]);
        for row in 0..3 {
            local[row] = local[row] + map[3 + 3 * axis + row] * place;
        }
    }
    let mut out = [L::splat(t, 0.0); 4];
    for row in 0..3 {
        for axis in 0..3 {
            out[row] = out[row] + L::load(t, &handful.turn[3 * row + axis][at..]) * local[axis];
        }
    }
    L::add_rows4(out, z, &handful.store[at..]);
}

/// out = E⁻¹ x, the matrix in tiles of columns (it is symmetric: rows), three vectors of lanes at once.
struct Multiply<'a> {
    tiles: &'a [Real],
    x: &'a [Real],
    out: &'a mut [Real],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { tiles, x, out } = self;
        for (tile, out) in tiles.chunks_exact(x.len() * TILE).zip(out.chunks_exact_mut(TILE)) {
            let mut at = 0;
            while at < LANES {
                let mut sums = [L::splat(t, 0.0); 3];
                for (row, &x) in tile.chunks_exact(TILE).zip(x) {
                    let x = L::splat(t, x);
                    for k in 0..3 {
                        sums[k] = sums[k] + L::load(t, &row[at + k * LANES..]) * x;
                    }
                }
                for k in 0..3 {
                    sums[k].store(&mut out[at + k * LANES..]);
                }
                at += L::COUNT;
            }
        }
    }
}

/// True when smooth motions are so much softer than single nodes that the coarse space reduces the cost.
pub(super) fn pays(factor: Real, stiffness_a_mass: Real) -> bool {
    factor * stiffness_a_mass > PAYS
}

#[allow(clippy::useless_conversion, reason = "reals are f64 in one of the two builds")]
fn to64(r: Real) -> f64 {
    f64::from(r)
}

#[allow(clippy::unnecessary_cast, reason = "reals are f64 in one of the two builds")]
fn to_real(r: f64) -> Real {
    r as Real
}

/// Middle of the points and their mean distance from it.
fn scale(centres: &[Vec3]) -> (Vec3, Real) {
    let count = centres.len() as Real;
    let middle = centres.iter().copied().sum::<Vec3>() / count;
    (middle, centres.iter().map(|c| (*c - middle).length()).sum::<Real>() / count)
}

/// Nodes with the same control points, eight at a time. Weights are written later.
fn handfuls(holds: &[([u32; HOLDS], [Real; HOLDS])], places: &[[Real; 3]]) -> Vec<Handful> {
    let mut order: Vec<u32> = (0..holds.len() as u32).collect();
    order.sort_by_key(|&node| (holds[node as usize].0, node));
    let mut list = Vec::new();
    for group in order.chunk_by(|&a, &b| holds[a as usize].0 == holds[b as usize].0) {
        for nodes in group.chunks(LANES) {
            let mut handful = Handful {
                load: [nodes[0]; LANES],
                store: [u32::MAX; LANES],
                points: holds[nodes[0] as usize].0,
                weight: [[0.0; LANES]; HOLDS],
                place: [[0.0; LANES]; 3],
                turn: [[0.0; LANES]; 9],
            };
            for (lane, &node) in nodes.iter().enumerate() {
                (handful.load[lane], handful.store[lane]) = (node, node);
                for axis in 0..3 {
                    handful.place[axis][lane] = places[node as usize][axis];
                }
            }
            list.push(handful);
        }
    }
    list
}

/// Recursively bisects a list of nodes along its longest side until each part has one control point.
fn bisect(vertices: &[Vec3], nodes: &mut [u32], part: &mut [u32], first: u32, points: usize) {
    if points == 1 {
        for &node in nodes.iter() {
            part[node as usize] = first;
        }
        return;
    }
    let (mut low, mut high) = (Vec3::splat(Real::INFINITY), Vec3::splat(Real::NEG_INFINITY));
    for &node in nodes.iter() {
        (low, high) = (low.min(vertices[node as usize]), high.max(vertices[node as usize]));
    }
    let axis = (high - low).max_position();
    nodes.sort_by(|&a, &b| vertices[a as usize][axis].total_cmp(&vertices[b as usize][axis]).then(a.cmp(&b)));
    let (left, right) = nodes.split_at_mut(nodes.len() / 2);
    bisect(vertices, left, part, first, points / 2);
    bisect(vertices, right, part, first + points as u32 / 2, points / 2);
}

/// The nearest control points, ascending, with weights that decrease smoothly to zero at the distance of the next one.
fn hold(x: Vec3, centres: &[Vec3]) -> ([u32; HOLDS], [Real; HOLDS]) {
    let mut near: Vec<(Real, u32)> = centres.iter().zip(0..).map(|(c, k)| ((x - *c).length_squared(), k)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let reach = near.get(HOLDS).map_or(2.0 * near[HOLDS - 1].0, |n| n.0);
    near.truncate(HOLDS);
    near.sort_by_key(|n| n.1);
    let raw: [Real; HOLDS] = core::array::from_fn(|k| {
        let rest = 1.0 - near[k].0 / reach;
        rest * rest
    });
    let sum = raw.iter().sum::<Real>();
    // all at the same distance: equal weights
    let share = |k: usize| if sum > Real::EPSILON { raw[k] / sum } else { 1.0 / HOLDS as Real };
    (core::array::from_fn(|k| near[k].1), core::array::from_fn(share))
}

/// Coefficients of the mean deformation gradient of each part: b_n = Σ V G_n over its tetrahedra, divided by their
/// volume.
fn stretches(tets: &[RestTet], part: &[u32], points: usize) -> (Vec<(u32, Vec3)>, Vec<u32>) {
    let mut all: Vec<(u32, u32, Vec3)> = Vec::new();
    let mut volumes = vec![0.0; points];
    for tet in tets {
        let owner = part[tet.corners[0] as usize];
        volumes[owner as usize] += tet.volume;
        let [b, c, d] = tet.gradient.map(|g| g * tet.volume);
        for (node, pull) in tet.corners.into_iter().zip([-(b + c + d), b, c, d]) {
            all.push((owner, node, pull));
        }
    }
    all.sort_by_key(|a| (a.0, a.1));
    let (mut list, mut first): (Vec<(u32, Vec3)>, Vec<u32>) = (Vec::new(), Vec::new());
    for (owner, node, pull) in all {
        let pull = pull / volumes[owner as usize];
        let fresh = first.len() <= owner as usize;
        while first.len() <= owner as usize {
            first.push(list.len() as u32);
        }
        match list.last_mut() {
            Some((last, sum)) if *last == node && !fresh => *sum += pull,
            _ => list.push((node, pull)),
        }
    }
    first.resize(points + 1, list.len() as u32);
    (list, first)
}

/// In-place inverse of a symmetric positive matrix by Gauss-Jordan elimination; linearly dependent modes get zeros.
fn invert(a: &mut [f64], size: usize) {
    let start: Vec<f64> = (0..size).map(|k| a[k * size + k]).collect();
    let mut left_out = Vec::new();
    let mut pivot_row = vec![0.0; size];
    for k in 0..size {
        let pivot = a[k * size + k];
        if !(pivot > DEPENDENT * start[k]) {
            left_out.push(k);
            continue;
        }
        let scale = 1.0 / pivot;
        a[k * size + k] = 1.0;
        for (row, a) in pivot_row.iter_mut().zip(&mut a[k * size..(k + 1) * size]) {
            *a *= scale;
            *row = *a;
        }
        for i in (0..size).filter(|&i| i != k) {
            let row = &mut a[i * size..(i + 1) * size];
            let factor = row[k];
            row[k] = 0.0;
            for (a, pivot) in row.iter_mut().zip(&pivot_row) {
                *a -= factor * pivot;
            }
        }
    }
    for k in left_out {
        for i in 0..size {
            a[k * size + i] = 0.0;
            a[i * size + k] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_a_matrix_with_a_repeated_mode_omits_the_second() {
        // modes 0 and 2 are equal
        let mut a = vec![4.0, 1.0, 4.0, 1.0, 3.0, 1.0, 4.0, 1.0, 4.0];
        invert(&mut a, 3);
        let want = [3.0 / 11.0, -1.0 / 11.0, 0.0, -1.0 / 11.0, 4.0 / 11.0, 0.0, 0.0, 0.0, 0.0];
        assert!(a.iter().zip(want).all(|(a, w)| (a - w).abs() < 1e-14), "{a:?}");
    }

    #[test]
    fn weights_of_a_node_are_positive_and_sum_to_one() {
        let centres: Vec<Vec3> = (0..8).map(|k| Vec3::new(k as Real, (k % 3) as Real, 0.0)).collect();
        for k in 0..50 {
            let (points, weights) = hold(Vec3::new(0.17 * k as Real, 0.3, -0.2), &centres);
            assert!(points.windows(2).all(|p| p[0] < p[1]));
            assert!(weights.iter().all(|w| *w >= 0.0) && (weights.iter().sum::<Real>() - 1.0).abs() < 1e-5);
        }
    }
}
