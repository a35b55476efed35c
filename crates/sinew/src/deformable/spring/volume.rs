//! Forces that preserve the volume of tetrahedra, which springs along edges do not (FC 2.2.2, 7.2.3).
//!
//! Both are gradients of ½ k_V (measure − rest measure)² for each tetrahedron:
//!
//! ```text
//!   radial    s = Σ ‖x_i − x_b‖, x_b the centre:   ∂s/∂x_i = û_i − ¼ Σ û_j,   û_i from the centre to corner i
//!   gradient  v = volume:                          ∂v/∂x_i = ⅙ (b − a) × (c − a)
//!             with a b c the face opposite to i, ordered as viewed from i
//! ```
//!
//! FC 2.27 is printed with the sign that expands an expanded tetrahedron further and without k_V, and its four radial
//! vectors do not sum to zero: the mean is subtracted here. FC 7.3 is printed with a normal that points outward at i,
//! which collapses the tetrahedron; the gradient points from the opposite face to i and is weighted by area, so that
//! the four sum to zero.
//!
//! Corner forces are written per tetrahedron, then every node sums its own: no write conflicts between threads, a fixed
//! order of summation.

use super::kernel::own_places;
use super::params::VolumeForce;
use crate::deformable::StepContext;
use crate::math::lane3::{cross, scale, sub};
use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Real, Vec3, run, vec};

/// Eight tetrahedra. Empty lanes have all corners at index 0 and zero stiffness.
#[derive(Clone, Debug)]
struct Batch {
    corner: [[u32; LANES]; 4],
    /// Rest measure [m or m³], k_V, and Σ |∂measure/∂x|² at rest.
    rest: Eight,
    k: Eight,
    square: Eight,
}

/// One tetrahedron, for the scalar loops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeper {
    pub corners: [u32; 4],
    rest: Real,
    /// k_V [N/m or N/m⁵].
    pub k: Real,
    /// Σ |∂measure/∂x|² at rest.
    square: Real,
}

/// Volume forces of a body.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    radial: bool,
    pub keepers: Vec<Keeper>,
    batches: Vec<Batch>,
    /// First corner force of each node, in the internal order, and the end. (node_count + 1)
    start: Vec<u32>,
    /// Corner forces of each node. (4 · tet_count)
    entries: Vec<u32>,
}

impl Volume {
    /// None when there are no volume forces.
    pub fn new(
        (tets, fill): (&[[u32; 4]], &[Real]),
        positions: &[Vec3],
        force: VolumeForce,
        place: &[u32],
    ) -> Option<Self> {
        let radial = matches!(force, VolumeForce::Radial { .. });
        let keep = |(tet, &corners): (usize, &[u32; 4])| {
            let at = corners.map(|i| positions[i as usize]);
            let (rest, square) = if radial { reach(at) } else { volume(at) };
            let k = force.stiffness(rest);
            Keeper { corners, rest, k: fill.get(tet).map_or(k, |fill| k * fill), square }
        };
        let mut keepers: Vec<Keeper> = tets.iter().enumerate().map(keep).collect();
        keepers.retain(|keeper| keeper.k > 0.0);
        if keepers.is_empty() {
            return None;
        }
        // neighbours in space are close in the list
        keepers.sort_by_key(|keeper| keeper.corners.map(|i| place[i as usize]).into_iter().min());
        let (mut owner, mut batches) = (Vec::with_capacity(4 * keepers.len()), Vec::new());
        for (index, group) in keepers.chunks(LANES).enumerate() {
            let none = [0.0; LANES];
            let mut batch = Batch { corner: [[0; LANES]; 4], rest: none, k: none, square: none };
            for (lane, keeper) in group.iter().enumerate() {
                (batch.rest[lane], batch.k[lane]) = (keeper.rest, keeper.k);
                batch.square[lane] = keeper.square;
                for corner in 0..4 {
                    let entry = (4 * index + corner) * LANES + lane;
                    let at = place[keeper.corners[corner] as usize];
                    batch.corner[corner][lane] = at;
                    owner.push((at, entry as u32));
                }
            }
            batches.push(batch);
        }
        owner.sort_unstable();
        let start = (0..=place.len() as u32).map(|at| owner.partition_point(|o| o.0 < at) as u32).collect();
        let entries = owner.into_iter().map(|o| o.1).collect();
        Some(Self { radial, keepers, batches, start, entries })
    }

    /// Number of corner forces: four for each of eight tetrahedra of a batch.
    pub fn entry_count(&self) -> usize {
        self.batches.len() * 4 * LANES
    }

    /// Corner forces from positions in the internal order, for tetrahedra whose stiffness may be `growth` times that at
    /// rest [N].
    pub fn push(&self, ctx: &StepContext<'_>, x: &[Block], growth: Real, corners: &mut [Block]) {
        let batch = 4 * LANES;
        super::share(ctx, corners, 64 * batch, &|first, corners| {
            let batches = &self.batches[first / batch..][..corners.len() / batch];
            run(Push { batches, radial: self.radial, x, growth, out: Blocks::new(corners) }, ctx.lanes);
        });
    }

    /// Adds the corner forces to those of the nodes from index `first` on [N].
    pub fn add(&self, first: usize, corners: &[Block], out: &mut [Block]) {
        // indices after the last node have no entries
        for (out, range) in out.iter_mut().zip(self.start[first.min(self.start.len() - 1)..].windows(2)) {
            for &entry in &self.entries[range[0] as usize..range[1] as usize] {
                let [x, y, z, _] = corners[entry as usize];
                *out = [out[0] + x, out[1] + y, out[2] + z, 0.0];
            }
        }
    }

    /// Measure of a tetrahedron minus its rest value, and the gradient of the measure at each corner.
    pub fn gradients(&self, keeper: &Keeper, x: &[Block]) -> (Real, [Vec3; 4]) {
        let at = keeper.corners.map(|i| vec(x[i as usize]).to_array());
        let (measure, g) = if self.radial { radial::<Real>((), at) } else { gradient::<Real>((), at) };
        (measure - keeper.rest, g.map(Vec3::from_array))
    }

    /// Largest ratio of the stiffness of a tetrahedron to that at rest.
    pub fn growth(&self, x: &[Block]) -> Real {
        let of = |keeper: &Keeper| {
            let (_, g) = self.gradients(keeper, x);
            g.iter().map(|g| g.length_squared()).sum::<Real>() / keeper.square
        };
        self.keepers.iter().map(of).fold(1.0, Real::max)
    }

    /// Energy ½ k_V (measure − rest)² of all tetrahedra [J].
    pub fn energy(&self, x: &[Block]) -> Real {
        let of = |keeper: &Keeper| {
            let (over, _) = self.gradients(keeper, x);
            0.5 * keeper.k * over * over
        };
        self.keepers.iter().map(of).sum()
    }

    /// Adds this fraction of the forces −k_V (measure − rest) ∂measure/∂x [N].
    pub fn forces(&self, x: &[Block], part: Real, out: &mut [Vec3]) {
        for keeper in &self.keepers {
            let (over, g) = self.gradients(keeper, x);
            for (&node, g) in keeper.corners.iter().zip(g) {
                out[node as usize] -= g * (keeper.k * over * part);
            }
        }
    }
}

/// Corner forces of some batches, in the order corner, lane.
struct Push<'a> {
    batches: &'a [Batch],
    radial: bool,
    x: &'a [Block],
    growth: Real,
    out: Blocks<'a>,
}

impl Kernel for Push<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        for (index, batch) in self.batches.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let mut p = [[L::splat(t, 0.0); 3]; 4];
                for corner in 0..4 {
                    p[corner] = L::gather_xyz(t, self.x, &batch.corner[corner][at..]);
                }
                let (measure, g) = if self.radial { radial::<L>(t, p) } else { gradient::<L>(t, p) };
                let pull = L::load(t, &batch.k[at..]) * (L::load(t, &batch.rest[at..]) - measure);
                // stiffness is k_V Σ |∂measure/∂x|²: the force is limited to what the step can integrate
                let mut square = L::splat(t, Real::MIN_POSITIVE);
                for [x, y, z] in g {
                    square = square + (x * x + y * y + z * z);
                }
                let most = L::load(t, &batch.square[at..]) * L::splat(t, self.growth);
                let pull = pull * most.div(square).min(L::splat(t, 1.0));
                for corner in 0..4 {
                    let [x, y, z] = g[corner];
                    let force = [x * pull, y * pull, z * pull, L::splat(t, 0.0)];
                    L::store_rows4(force, self.out, &own_places(4 * index + corner)[at..]);
                }
                at += L::COUNT;
            }
        }
    }
}

/// Sum of the distances of the corners from their centre, and its gradient.
#[inline(always)]
pub(super) fn radial<L: Lane>(t: L::Token, p: [[L; 3]; 4]) -> (L, [[L; 3]; 4]) {
    let quarter = L::splat(t, 0.25);
    let tiny = L::splat(t, super::element::TINY);
    let mut u = [[L::splat(t, 0.0); 3]; 4];
    for axis in 0..3 {
        // relative to the first corner: taking differences first avoids cancellation at large coordinates
        let [a, b, c, d] = [p[0][axis], p[1][axis], p[2][axis], p[3][axis]];
        let centre = ((b - a) + (c - a) + (d - a)) * quarter;
        u[0][axis] = -centre;
        u[1][axis] = (b - a) - centre;
        u[2][axis] = (c - a) - centre;
        u[3][axis] = (d - a) - centre;
    }
    let mut sum = L::splat(t, 0.0);
    for corner in 0..4 {
        let [x, y, z] = u[corner];
        let length = (x * x + y * y + z * z + tiny).sqrt();
        sum = sum + length;
        u[corner] = [x.div(length), y.div(length), z.div(length)];
    }
    for axis in 0..3 {
        let mean = (u[0][axis] + u[1][axis] + u[2][axis] + u[3][axis]) * quarter;
        for corner in 0..4 {
            u[corner][axis] = u[corner][axis] - mean;
        }
    }
    (sum, u)
}

/// Volume of a tetrahedron and its gradient.
#[inline(always)]
pub(super) fn gradient<L: Lane>(t: L::Token, p: [[L; 3]; 4]) -> (L, [[L; 3]; 4]) {
    let sixth = L::splat(t, 1.0 / 6.0);
    let e = [sub(p[1], p[0]), sub(p[2], p[0]), sub(p[3], p[0])];
    let g1 = scale(cross(e[1], e[2]), sixth);
    let g2 = scale(cross(e[2], e[0]), sixth);
    let g3 = scale(cross(e[0], e[1]), sixth);
    let volume = e[2][0] * g3[0] + e[2][1] * g3[1] + e[2][2] * g3[2];
    let g0 = [-(g1[0] + g2[0] + g3[0]), -(g1[1] + g2[1] + g3[1]), -(g1[2] + g2[2] + g3[2])];
    (volume, [g0, g1, g2, g3])
}

pub(super) fn reach(at: [Vec3; 4]) -> (Real, Real) {
    measured(radial::<Real>((), at.map(|p| p.to_array())))
}

pub(super) fn volume(at: [Vec3; 4]) -> (Real, Real) {
    measured(gradient::<Real>((), at.map(|p| p.to_array())))
}

/// A measure and the sum of its squared gradients.
fn measured((measure, g): (Real, [[Real; 3]; 4])) -> (Real, Real) {
    (measure, g.iter().flatten().map(|g| g * g).sum())
}
