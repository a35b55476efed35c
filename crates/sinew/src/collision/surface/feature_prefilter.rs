//! Pairs of features that may touch, told eight at a time: most pairs of cells whose boxes meet have none.
//!
//! Features outside of each other touch when their distance d is within reach. What has sunk in may be deeper:
//!
//! *A vertex behind a face* counts while the face is right above it, so that the way across the normal is no longer than a
//! share of the face. With the height z over the plane it is √(d² − z²) ≥ d − |z|.
//!
//! *Crossed edges* count while they are no deeper than a share of the shorter one, and meet between their ends.
//!
//! Who is left out would not have touched, and who is left in is looked at again by itself (`Finder`).

use super::near_pairs::Boxed;
use super::self_contact_near::{from_face, nearest_of_edges};
use super::{DEEPEST_EDGE, END};
use crate::math::lane3::{V3, cross, dot, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real};
use crate::model::surface::NONE;

/// What rounding may do to a distance, as a share of the features' size. Nearest points of narrow triangles and of segments
/// that are nearly parallel are badly known, their distance is known to less than this.
const ROUNDING: Real = 0.01;
/// Roundings of a place, in units of the last digit of the farthest.
const ROUNDINGS: Real = 32.0;
/// Below this squared sine of the angle between two sides a triangle has no plane.
const NARROW: Real = 1e-5;
/// What is divided by is no less [m⁴].
const TINY: Real = 1e-30;

/// Eight pairs that are to be tried, with their surfels.
struct Group {
    slots: [[u32; LANES]; 4],
    pairs: [[u32; 2]; LANES],
    count: usize,
}

impl Group {
    const EMPTY: Self = Self { slots: [[0; LANES]; 4], pairs: [[0; 2]; LANES], count: 0 };

    /// Adds a pair. True when there is no room for another.
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

    /// Lists those that are not far, by a bit each, and starts anew.
    #[inline(always)]
    fn keep(&mut self, far: u32, out: &mut Vec<[u32; 2]>) {
        let mut near = !far & ((1 << self.count) - 1);
        while near != 0 {
            out.push(self.pairs[near.trailing_zeros() as usize % LANES]);
            near &= near - 1;
        }
        self.count = 0;
    }

    /// A bit for each pair that is far; the surfels are of the sides that are told.
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

/// How far features are beyond what may touch: more than nothing for those that are left out. A trait and no closure, for
/// closures are not compiled into the kernel that calls them.
trait Gap: Copy {
    /// Of the places of four surfels, and how much farther they look [m].
    fn of<L: Lane>(self, t: L::Token, x: [V3<L>; 4], more: [L; 4]) -> L;
}

/// Of a vertex and a face.
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

/// Of two edges.
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

/// Lists the pairs of vertices of one surface and faces of another that may touch, of cells that may. The fourth number of a
/// place is how much farther its surfel looks than `reach`, and a feature looks by the mean of its surfels [m].
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

/// Lists the pairs of edges of two surfaces that may touch, of cells that may; places as for `Faces`.
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
        // some may touch with an end
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

/// What rounding may do between places of this kind [m].
#[inline(always)]
fn noise<L: Lane>(t: L::Token, [x, y, z]: V3<L>) -> L {
    L::splat(t, ROUNDINGS * Real::EPSILON) * size(x).max(size(y)).max(size(z))
}

/// More than nothing for a vertex that is too far from a face, and not right behind it [m].
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
    // over a face that knows its outside nobody is behind it
    let not_behind = if solid { beside.max(height - doubt) } else { beside };
    let plain = square.select_gt(L::splat(t, NARROW) * ee * ff, not_behind, -tiny);
    (distance - reach).min(plain)
}

/// More than nothing for edges that are too far from each other, touching or crossed, or meet at an end [m].
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
    // shares of edges that cross at an angle worth the name are known to less
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
    fn a_vertex_that_is_left_out_is_not_near_and_not_right_behind() {
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
    fn edges_that_are_left_out_are_not_near_or_meet_at_an_end() {
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
