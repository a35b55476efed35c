//! Pairs of features that may be in contact, filtered eight at a time: most pairs of cells whose boxes overlap have
//! none.
//!
//! Features outside of each other are in contact when their distance d is within the search distance `reach`.
//! Penetrating features may be deeper:
//!
//! *A vertex behind a face* counts while the face is directly above it, so that the distance perpendicular to the
//! normal is no longer than a fraction of the face size. With the height z over the plane it is √(d² − z²) ≥ d − |z|.
//!
//! *Crossed edges* count while they are no deeper than a fraction of the shorter one, and their nearest points are
//! interior.
//!
//! The filter is conservative: rejected pairs are not in contact, and each accepted pair is tested exactly (`Finder`).

use super::near_pairs::Boxed;
use super::self_contact_near::{from_face, nearest_of_edges};
use super::{DEEPEST_EDGE, END};
use crate::math::lane3::{V3, cross, dot, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real};
use crate::model::surface::NONE;

/// Bound on the rounding error of a distance, as a fraction of the features' size. Nearest points of narrow triangles
/// and of segments that are nearly parallel are ill conditioned, the error of their distance is below this.
const ROUNDING: Real = 0.01;
/// Bound on the rounding error of a position, in units of the last place of the largest coordinate.
const ROUNDINGS: Real = 32.0;
/// Below this squared sine of the angle between two sides a triangle has no plane.
const NARROW: Real = 1e-5;
/// Lower limit of denominators [m⁴].
const TINY: Real = 1e-30;

/// Eight pairs to be tested, with their surfels.
struct Group {
    slots: [[u32; LANES]; 4],
    pairs: [[u32; 2]; LANES],
    count: usize,
}

impl Group {
    const EMPTY: Self = Self { slots: [[0; LANES]; 4], pairs: [[0; 2]; LANES], count: 0 };

    /// Adds a pair. True when the group is full.
    #[inline(always)]
    fn add(&mut self, pair: [u32; 2], slots: [u32; 4]) -> bool {
        let lane = self.count % LANES;
        self.pairs[lane] = pair;
        for k in 0..4 {
            self.slots[k][lane] = slots[k];
        }
        self.count += 1;
        self.count == LANES
    }

    /// Lists the pairs that are not far (one bit each), and empties the group.
    #[inline(always)]
    fn keep(&mut self, far: u32, out: &mut Vec<[u32; 2]>) {
        let mut near = !far & ((1 << self.count) - 1);
        while near != 0 {
            out.push(self.pairs[near.trailing_zeros() as usize % LANES]);
            near &= near - 1;
        }
        self.count = 0;
    }

    /// A bit for each pair that is far; `sides` gives the positions for each of the four surfels.
    #[inline(always)]
    fn far<L: Lane, G: Gap>(&self, t: L::Token, sides: [&[Block]; 4], gap: G) -> u32 {
        let (none, mut far, mut at) = (L::splat(t, 0.0), 0, 0);
        while at < LANES {
            let [a, b, c, d] = [
                L::gather4(t, sides[0], &self.slots[0][at..]),
                L::gather4(t, sides[1], &self.slots[1][at..]),
                L::gather4(t, sides[2], &self.slots[2][at..]),
                L::gather4(t, sides[3], &self.slots[3][at..]),
            ];
            let x = [[a[0], a[1], a[2]], [b[0], b[1], b[2]], [c[0], c[1], c[2]], [d[0], d[1], d[2]]];
            far |= gap.of::<L>(t, x, [a[3], b[3], c[3], d[3]]).bits_gt(none) << at;
            at += L::COUNT;
        }
        far
    }
}

/// Excess of the distance of features over the contact distance: positive for rejected pairs. A trait and not a
/// closure, because closures are not inlined into the kernel that calls them.
trait Gap: Copy {
    /// From the positions of four surfels and their additional search distances [m].
    fn of<L: Lane>(self, t: L::Token, x: [V3<L>; 4], more: [L; 4]) -> L;
}

/// Excess for a vertex and a face.
#[derive(Clone, Copy)]
struct AtFace {
    reach: Real,
    solid: bool,
}

impl Gap for AtFace {
    #[inline(always)]
    fn of<L: Lane>(self, t: L::Token, x: [V3<L>; 4], [own, a, b, c]: [L; 4]) -> L {
        let mean = L::splat(t, 1.0 / 3.0) * (a + b + c);
        gap_at_face(t, x, L::splat(t, self.reach) + own + mean, self.solid)
    }
}

/// Excess for two edges.
#[derive(Clone, Copy)]
struct OfEdges {
    reach: Real,
    loose: bool,
}

impl Gap for OfEdges {
    #[inline(always)]
    fn of<L: Lane>(self, t: L::Token, x: [V3<L>; 4], [a, b, c, d]: [L; 4]) -> L {
        let means = L::splat(t, 0.5) * ((a + b) + (c + d));
        gap_of_edges(t, x, L::splat(t, self.reach) + means, self.loose)
    }
}

/// Lists the pairs of vertices of one surface and faces of another that may be in contact, from pairs of cells that
/// may. The fourth component of a position is the additional search distance of its surfel beyond `reach`; that of a
/// feature is the mean over its surfels [m].
pub(super) struct Faces<'a> {
    pub pairs: &'a [(u32, u32)],
    /// The faces are those of the first cells.
    pub swapped: bool,
    pub points: Boxed<'a>,
    pub faces: Boxed<'a>,
    pub reach: Real,
    pub out: &'a mut Vec<[u32; 2]>,
}

impl Kernel for Faces<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { pairs, swapped, points, faces, reach, out } = self;
        let sides = [points.x, faces.x, faces.x, faces.x];
        let gap = AtFace { reach, solid: faces.solid };
        out.clear();
        let mut group = Group::EMPTY;
        for &(a, b) in pairs {
            let (own, cell) = if swapped { (b, a) } else { (a, b) };
            let [i, j, k] = faces.cells.corners[cell as usize];
            // a segment has no inside
            if j == k {
                continue;
            }
            for vertex in points.cells.owned[own as usize].vertices {
                if vertex != NONE && group.add([vertex, cell], [vertex, i, j, k]) {
                    group.keep(group.far::<L, _>(t, sides, gap), out);
                }
            }
        }
        if group.count > 0 {
            group.keep(group.far::<L, _>(t, sides, gap), out);
        }
    }
}

/// Lists the pairs of edges of two surfaces that may be in contact, from pairs of cells that may; positions as for
/// `Faces`.
pub(super) struct Edges<'a> {
    pub pairs: &'a [(u32, u32)],
    pub sides: [Boxed<'a>; 2],
    pub reach: Real,
    pub out: &'a mut Vec<[u32; 2]>,
}

impl Kernel for Edges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { pairs, sides: [a, b], reach, out } = self;
        let sides = [a.x, a.x, b.x, b.x];
        // loose segments may be in contact at an end
        let gap = OfEdges { reach, loose: a.tree.loose || b.tree.loose };
        out.clear();
        let mut group = Group::EMPTY;
        for &(cell_a, cell_b) in pairs {
            let of_b = b.cells.owned[cell_b as usize].edges;
            for edge_a in a.cells.owned[cell_a as usize].edges {
                if edge_a == NONE {
                    continue;
                }
                let [i, j] = a.cells.edges[edge_a as usize];
                for edge_b in of_b {
                    if edge_b == NONE {
                        continue;
                    }
                    let [k, l] = b.cells.edges[edge_b as usize];
                    if group.add([edge_a, edge_b], [i, j, k, l]) {
                        group.keep(group.far::<L, _>(t, sides, gap), out);
                    }
                }
            }
        }
        if group.count > 0 {
            group.keep(group.far::<L, _>(t, sides, gap), out);
        }
    }
}

/// Bound on the rounding error of differences of positions of this magnitude [m].
#[inline(always)]
fn noise<L: Lane>(t: L::Token, [x, y, z]: V3<L>) -> L {
    L::splat(t, ROUNDINGS * Real::EPSILON) * size(x).max(size(y)).max(size(z))
}

/// Positive for a vertex that is too far from a face, and not directly behind it [m].
#[inline(always)]
fn gap_at_face<L: Lane>(t: L::Token, [p, a, b, c]: [V3<L>; 4], reach: L, solid: bool) -> L {
    let tiny = L::splat(t, TINY);
    let (e, f, g) = (sub(b, a), sub(c, a), sub(c, b));
    let (ee, ff, gg) = (dot(e, e), dot(f, f), dot(g, g));
    let n = cross(e, f);
    let square = dot(n, n).max(tiny);
    let doubt = L::splat(t, ROUNDING + END) * ee.max(ff).max(gg).sqrt() + noise(t, p);
    let distance = from_face(t, [p, a, b, c]).sqrt() - doubt;
    let height = dot(n, sub(p, a)).div(square.sqrt());
    let beside = distance - size(height);
    // in front of a face of a solid a vertex is not behind it
    let not_behind = if solid { beside.max(height - doubt) } else { beside };
    let plain = square.select_gt(L::splat(t, NARROW) * ee * ff, not_behind, -tiny);
    (distance - reach).min(plain)
}

/// Positive for edges that are too far from each other, in contact or crossed, or whose nearest points are at an end
/// [m].
#[inline(always)]
fn gap_of_edges<L: Lane>(t: L::Token, x: [V3<L>; 4], reach: L, loose: bool) -> L {
    let (e, f) = (sub(x[1], x[0]), sub(x[3], x[2]));
    let (long, other) = (dot(e, e).sqrt(), dot(f, f).sqrt());
    let doubt = L::splat(t, ROUNDING) * long.max(other) + noise(t, x[0]);
    let (square, s, u) = nearest_of_edges(t, x);
    let deepest = L::splat(t, DEEPEST_EDGE) * long.min(other);
    let far = square.sqrt() - doubt - reach.max(deepest);
    if loose {
        return far;
    }
    // for edges that cross at a significant angle the error of the parameters is smaller than this
    let one = L::splat(t, 1.0);
    let inner = s.min(one - s).min(u.min(one - u));
    far.max(L::splat(t, 0.25 * END) - inner)
}

#[inline(always)]
fn size<L: Lane>(a: L) -> L {
    a.max(-a)
}

#[cfg(test)]
mod tests {
    use super::super::{blend, longest, point_triangle, segment_segment, way_between};
    use super::*;
    use crate::math::{Draws, Vec3};

    const REACH: Real = 0.1;

    #[test]
    fn a_rejected_vertex_is_not_near_and_not_directly_behind() {
        let mut draws = Draws(11);
        let mut left_out = [0; 2];
        for round in 0..60_000 {
            let mut x: [Vec3; 4] = std::array::from_fn(|_| draws.vec());
            // near the face or not; some faces are narrow
            x[0] = x[1] + (x[0] - x[1]) * [1.0, 0.3, 0.05][round % 3];
            x[3] = x[2] + (x[3] - x[2]) * [1.0, 0.2, 0.01, 1e-4][round / 3 % 4];
            for solid in [false, true] {
                let gap = gap_at_face::<Real>((), x.map(|p| p.to_array()), REACH, solid);
                let [p, a, b, c] = x;
                let from = p - blend([a, b, c], point_triangle(p, [a, b, c]));
                let plane = (b - a).cross(c - a).normalize_or_zero();
                let height = plane.dot(from);
                let across = (from - plane * height).length();
                if gap > 0.0 {
                    let above = solid && height > 0.0;
                    assert!(from.length() > REACH, "{x:?}");
                    assert!(above || across > END * longest([a, b, c]), "{x:?}: {across} {height}");
                    left_out[usize::from(above)] += 1;
                }
            }
        }
        assert!(left_out.iter().all(|count| *count > 10_000), "{left_out:?}");
    }

    #[test]
    fn rejected_edges_are_not_near_or_are_nearest_at_an_end() {
        let mut draws = Draws(12);
        let mut left_out = [0; 2];
        for round in 0..60_000 {
            let mut x: [Vec3; 4] = std::array::from_fn(|_| draws.vec());
            // some are nearly parallel
            x[3] = x[2] + (x[3] - x[2]).lerp(x[1] - x[0], [0.0, 0.9, 0.999, 1.0][round % 4]);
            let (a, b) = ([x[0], x[1]], [x[2], x[3]]);
            let (e, f) = (a[1] - a[0], b[1] - b[0]);
            let shares = segment_segment(a, b);
            let far = way_between(a, b, shares).length();
            let deepest = DEEPEST_EDGE * e.length().min(f.length());
            let inner = shares.iter().all(|s| *s > END && *s < 1.0 - END);
            let skew = e.cross(f).length() > super::super::SKEW * e.length() * f.length();
            for loose in [false, true] {
                if gap_of_edges::<Real>((), x.map(|p| p.to_array()), REACH, loose) > 0.0 {
                    let at_an_end = !(loose || inner && skew);
                    assert!(at_an_end || far > REACH.max(deepest), "{x:?}: {far} {shares:?}");
                    left_out[usize::from(loose)] += 1;
                }
            }
        }
        assert!(left_out.iter().all(|count| *count > 10_000), "{left_out:?}");
    }
}
