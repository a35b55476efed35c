//! Pairs of features of one cloth, eight at a time: their nearest points, the side, and whether they will be in
//! contact.
//!
//! A pair is four nodes with weights c that sum to zero. With positions x at the start of the substep the nearest
//! points give c, the normal n and the present distance; with the predicted positions p the distance at its end is
//! now + n·Σ c (p − x), computed before any node moves.
//!
//! * a vertex and a face: c = (1, −w); n is the face's normal where the vertex projects into the face, and the
//!   direction from the nearest point otherwise;
//! * two edges: c = (s − 1, −s, 1 − t, t) where the nearest points of their lines are inside both; n is their common
//!   normal. A nearest point at an end belongs to a vertex.
//!
//! A pair that was in contact keeps its side: a feature that crossed is pushed back to the side it came from.

use crate::collision::surface::{DEEPEST_EDGE, END, FaceSides, SKEW, from_face, nearest_of_edges, nearest_on_face};
use crate::math::lane3::{V3, along, cross, dot, scale, splat3, sub};
use crate::math::{Block, Eight, Eight3, Kernel, LANES, Lane, Real, Vec3};

/// Lower bound of divisors.
const TINY: Real = 1e-30;
/// Rounding allowance of the early tests.
const MORE: Real = 1.001;

/// Eight pairs: the data that every test reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldGroup {
    /// Nodes of each pair: vertex and face, or two edges.
    pub slots: [[u32; LANES]; 4],
    /// Contact distance; below zero where there is no pair [m].
    pub reach: Eight,
    /// Side of the face, or sign of the common normal; 0 for pairs that were not in contact.
    pub side: Eight,
}

impl FoldGroup {
    /// No pairs.
    pub const NONE: Self = Self { slots: [[0; LANES]; 4], reach: [-1.0; LANES], side: [0.0; LANES] };
}

/// Data of eight pairs that only pairs in contact need: most never are, and their test does not read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldPush {
    /// Vertex and face, or two edges.
    pub numbers: [[u32; LANES]; 2],
    pub normal: Eight3,
    pub shares: [Eight; 4],
    /// Impulses of the step on the vertex or on the second edge, as vectors and along the normals [N·s].
    pub sum: Eight3,
    pub pressed: Eight,
    /// Largest penetration of the step [m].
    pub deepest: Eight,
    /// Memory: impulse of the last substep, likewise as a vector [N·s]; 1 while slipping.
    pub warm: Eight3,
    pub slipping: Eight,
    /// The last substep in which the memory was applied, counted from 1.
    pub applied: [u32; LANES],
}

impl FoldPush {
    /// No pairs.
    pub const NONE: Self = Self {
        numbers: [[u32::MAX; LANES]; 2],
        normal: [[0.0; LANES]; 3],
        shares: [[0.0; LANES]; 4],
        sum: [[0.0; LANES]; 3],
        pressed: [0.0; LANES],
        deepest: [0.0; LANES],
        warm: [[0.0; LANES]; 3],
        slipping: [0.0; LANES],
        applied: [0; LANES],
    };
}

/// Tests groups and lists the pairs that will be in contact: group times eight plus lane.
pub(crate) struct Try<'a> {
    pub groups: &'a mut [FoldGroup],
    pub pushes: &'a mut [FoldPush],
    /// True for pairs of edges.
    pub edges: bool,
    /// Positions and predicted positions; the fourth component of `x` is an upper bound of the displacement between
    /// them, relative to any other node.
    pub x: &'a [Block],
    pub p: &'a [Block],
    pub active: &'a mut Vec<u32>,
    /// Bits that are set in the listed numbers.
    pub marks: u32,
}

/// Contact distance of new pairs: at most the distance at rest, and none where they touch at rest.
pub(crate) struct AtRest<'a> {
    pub groups: &'a mut [FoldGroup],
    /// True for pairs of edges.
    pub edges: bool,
    /// Rest positions.
    pub rest: &'a [Block],
    pub thick: Real,
}

impl Kernel for AtRest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let (none, thick) = (L::splat(t, 0.0), L::splat(t, self.thick));
        for group in self.groups {
            let mut at = 0;
            while at < LANES {
                let (x, _) = places::<L>(t, self.rest, group, at);
                let square = if self.edges { nearest_of_edges(t, x).0 } else { from_face(t, x) };
                let apart = square.sqrt();
                // lanes without a pair contain one node four times
                apart.select_gt(none, apart.min(thick), L::splat(t, -1.0)).store(&mut group.reach[at..]);
                at += L::COUNT;
            }
        }
    }
}

/// The geometry of a pair.
struct Found<L> {
    normal: V3<L>,
    shares: [L; 4],
    now: L,
    side: L,
    /// 1 for a valid pair.
    counts: L,
}

impl Kernel for Try<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { groups, pushes, edges, x, p, active, marks } = self;
        let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
        for (number, (group, push)) in groups.iter_mut().zip(pushes).enumerate() {
            let (mut touching, mut any) = ([0.0; LANES], false);
            let mut at = 0;
            while at < LANES {
                let side = L::load(t, &group.side[at..]);
                let reach = L::load(t, &group.reach[at..]);
                let (now, far) = places::<L>(t, x, group, at);
                if stays_away(t, (now, far), side, reach, edges) {
                    none.store(&mut group.side[at..]);
                    at += L::COUNT;
                    continue;
                }
                let found = if edges { edge_edge(t, now, side) } else { vertex_face(t, now, side) };
                let way = going(far, edges);
                // no pair can close its gap, or none is valid
                if found
                    .counts
                    .select_gt(none, found.now, L::splat(t, Real::MAX))
                    .all_gt(L::splat(t, MORE) * (reach.max(none) + way))
                {
                    none.store(&mut group.side[at..]);
                    at += L::COUNT;
                    continue;
                }
                let (goals, _) = places::<L>(t, p, group, at);
                let mut way = splat3::<L>(t, Vec3::ZERO);
                let mut k = 0;
                while k < 4 {
                    way = along(way, sub(goals[k], now[k]), found.shares[k]);
                    k += 1;
                }
                let soon = found.now + dot(found.normal, way);
                let touches = found.counts * reach.select_gt(soon, one, none);
                touches.store(&mut touching[at..]);
                (found.side * touches).store(&mut group.side[at..]);
                // pairs without contact keep their old data: scalar code does not write it either
                if touches.any_gt(none) {
                    any = true;
                    let mut k = 0;
                    while k < 3 {
                        let old = L::load(t, &push.normal[k][at..]);
                        touches.select_gt(none, found.normal[k], old).store(&mut push.normal[k][at..]);
                        k += 1;
                    }
                    let mut k = 0;
                    while k < 4 {
                        let old = L::load(t, &push.shares[k][at..]);
                        touches.select_gt(none, found.shares[k], old).store(&mut push.shares[k][at..]);
                        k += 1;
                    }
                }
                at += L::COUNT;
            }
            if !any {
                continue;
            }
            for (lane, &touches) in touching.iter().enumerate() {
                if touches > 0.0 {
                    active.push(marks | (number * LANES + lane) as u32);
                }
            }
        }
    }
}

/// Positions of the corners, and their fourth components.
#[inline(always)]
fn places<L: Lane>(t: L::Token, of: &[Block], group: &FoldGroup, at: usize) -> ([V3<L>; 4], [L; 4]) {
    let [a0, a1, a2, a3] = L::gather4(t, of, &group.slots[0][at..]);
    let [b0, b1, b2, b3] = L::gather4(t, of, &group.slots[1][at..]);
    let [c0, c1, c2, c3] = L::gather4(t, of, &group.slots[2][at..]);
    let [d0, d1, d2, d3] = L::gather4(t, of, &group.slots[3][at..]);
    ([[a0, a1, a2], [b0, b1, b2], [c0, c1, c2], [d0, d1, d2]], [a3, b3, c3, d3])
}

/// Upper bound of the relative displacement of both features of a pair.
#[inline(always)]
fn going<L: Lane>(far: [L; 4], edges: bool) -> L {
    if edges { far[0].max(far[1]) + far[2].max(far[3]) } else { far[0] + far[1].max(far[2]).max(far[3]) }
}

/// True when no pair can be in contact: the distance of the planes through its features exceeds the displacement of
/// both, and no pair is on the opposite side of its plane than its stored side. With the normal m, not of unit length,
/// and the difference r of two corners
///
/// ```text
///   (m·r)² > m² (reach + far_a + far_b)²
/// ```
#[inline(always)]
fn stays_away<L: Lane>(t: L::Token, of: ([V3<L>; 4], [L; 4]), kept: L, reach: L, edges: bool) -> bool {
    let (none, more) = (L::splat(t, 0.0), L::splat(t, MORE));
    let ([p, a, b, c], far) = of;
    let (normal, d) =
        if edges { (cross(sub(a, p), sub(c, b)), sub(b, p)) } else { (cross(sub(b, a), sub(c, a)), sub(p, a)) };
    let (raw, bound) = (dot(normal, d), more * (reach.max(none) + going(far, edges)));
    let outside = (raw * raw).all_gt(bound * bound * dot(normal, normal));
    outside && !none.any_gt(raw * kept)
}

/// The stored side of a pair, or the side it is on now.
#[inline(always)]
fn side_of<L: Lane>(t: L::Token, kept: L, raw: L) -> L {
    let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let is = none.select_gt(raw, none - one, one);
    (kept * kept).select_gt(none, kept, is)
}

#[inline(always)]
fn vertex_face<L: Lane>(t: L::Token, [p, a, b, c]: [V3<L>; 4], kept: L) -> Found<L> {
    let (none, one, tiny) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, TINY));
    let (e, f, d) = (sub(b, a), sub(c, a), sub(p, a));
    let (ee, ef, ff) = (dot(e, e), dot(e, f), dot(f, f));
    let (de, df) = (dot(d, e), dot(d, f));
    let plane = cross(e, f);
    let area = dot(plane, plane).max(tiny);
    let per = one.div(area);
    let below = ((ff * de - ef * df) * per, (ee * df - ef * de) * per);
    let (v, w, inside) = nearest_on_face(t, &FaceSides { e, f, d, ee, ff, de, df }, below);
    let apart = along(along(d, e, none - v), f, none - w);

    let raw = dot(plane, apart);
    let side = side_of(t, kept, raw);
    let up = side * one.div(area.sqrt());
    let far = (dot(apart, apart) + tiny).sqrt();
    let away = one.div(far);
    let normal = [
        inside.select_gt(none, plane[0] * up, apart[0] * away),
        inside.select_gt(none, plane[1] * up, apart[1] * away),
        inside.select_gt(none, plane[2] * up, apart[2] * away),
    ];
    let now = inside.select_gt(none, raw * up, far);
    // behind a face only a vertex that projects into it has crossed it
    let outside = none.select_gt(raw * side, none, one);
    let shallow = (ee.max(ff)).select_gt(now * now, one, none);
    let counts = outside.max(inside * shallow);
    Found { normal, shares: [one, v + w - one, none - v, none - w], now, side, counts }
}

#[inline(always)]
fn edge_edge<L: Lane>(t: L::Token, [p, p2, q, q2]: [V3<L>; 4], kept: L) -> Found<L> {
    let (none, one, tiny) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, TINY));
    let (e, f, r) = (sub(p2, p), sub(q2, q), sub(p, q));
    let (ee, ef, ff) = (dot(e, e), dot(e, f), dot(f, f));
    let (er, fr) = (dot(e, r), dot(f, r));
    let across = cross(e, f);
    let area = dot(across, across).max(tiny);
    let per = one.div(area);
    let (s, u) = ((ef * fr - ff * er) * per, (ee * fr - ef * er) * per);
    let least = s.min(u).min(one - s).min(one - u);
    let inner = least.select_gt(L::splat(t, END), one, none);
    let skew = area.select_gt(L::splat(t, SKEW * SKEW) * ee * ff, one, none);
    let apart = sub(along(scale(f, u), e, none - s), r);
    let raw = dot(across, apart);
    let side = side_of(t, kept, raw);
    let up = side * one.div(area.sqrt());
    let now = raw * up;
    let shallow = (L::splat(t, DEEPEST_EDGE * DEEPEST_EDGE) * ee.min(ff)).select_gt(now * now, one, none);
    let counts = inner * skew * now.select_gt(none, one, shallow);
    Found { normal: scale(across, up), shares: [s - one, none - s, one - u, u], now, side, counts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::surface::{blend, point_triangle, segment_segment, way_between};
    use crate::math::{Draws, run, vec};

    /// Eight groups of vertices and eight of edges at random positions, tested with a contact distance beyond all of
    /// them.
    fn tried(x: &[Block]) -> (Vec<FoldGroup>, Vec<FoldPush>, Vec<u32>) {
        let slots = |group: usize, corner: usize| std::array::from_fn(|lane| (32 * group + 4 * lane + corner) as u32);
        let group = |g| FoldGroup {
            slots: std::array::from_fn(|corner| slots(g, corner)),
            reach: [100.0; LANES],
            ..FoldGroup::NONE
        };
        let mut groups: Vec<_> = (0..16).map(group).collect();
        let (mut pushes, mut active) = (vec![FoldPush::NONE; 16], Vec::new());
        for (edges, (groups, pushes)) in [false, true].into_iter().zip(groups.chunks_mut(8).zip(pushes.chunks_mut(8))) {
            let marks = if edges { 8 * LANES as u32 } else { 0 };
            run(Try { groups, pushes, edges, x, p: x, active: &mut active, marks }, true);
        }
        (groups, pushes, active)
    }

    /// Pairs are in contact at the thickness, or at their distance at rest where that is smaller; those that touch at
    /// rest never are.
    #[test]
    fn contact_distance_is_at_most_the_rest_distance() {
        let mut draws = Draws(3);
        let mut rest: Vec<Block> = (0..64).map(|_| draws.vec().extend(0.0).to_array()).collect();
        // the last pair of each kind shares a corner
        (rest[28], rest[62]) = (rest[29], rest[60]);
        let slots = |group: usize| {
            std::array::from_fn(|corner| std::array::from_fn(|lane| (32 * group + 4 * lane + corner) as u32))
        };
        for edges in [false, true] {
            let mut groups = [FoldGroup { slots: slots(usize::from(edges)), ..FoldGroup::NONE }, FoldGroup::NONE];
            run(AtRest { groups: &mut groups, edges, rest: &rest, thick: 0.3 }, true);
            for lane in 0..LANES {
                let [a, b, c, d] = groups[0].slots.map(|s| vec(rest[s[lane] as usize]));
                let apart = if edges {
                    way_between([a, b], [c, d], segment_segment([a, b], [c, d])).length()
                } else {
                    (a - blend([b, c, d], point_triangle(a, [b, c, d]))).length()
                };
                let expected = if apart > 1e-6 { apart.min(0.3) } else { -1.0 };
                assert!((groups[0].reach[lane] - expected).abs() < 1e-4, "{} {expected}", groups[0].reach[lane]);
            }
            assert_eq!(groups[0].reach[LANES - 1], -1.0);
            assert_eq!(groups[1].reach, [-1.0; LANES]);
        }
    }

    /// Nearest points, their distance and the normal agree with the scalar computation.
    #[test]
    fn lanes_find_the_same_nearest_points_as_scalar_code() {
        let mut draws = Draws(11);
        let x: Vec<Block> = (0..16 * 32).map(|_| draws.vec().extend(1.0).to_array()).collect();
        let (groups, pushes, active) = tried(&x);
        let (mut faces, mut edges) = (0, 0);
        for (number, (group, push)) in groups.iter().zip(&pushes).enumerate() {
            for lane in 0..LANES {
                let [a, b, c, d] = group.slots.map(|s| vec(x[s[lane] as usize]));
                let is_active = active.contains(&((number * LANES + lane) as u32));
                let shares = push.shares.map(|c| c[lane]);
                let normal = Vec3::new(push.normal[0][lane], push.normal[1][lane], push.normal[2][lane]);
                let apart = if number < 8 {
                    let w = point_triangle(a, [b, c, d]);
                    // a vertex that was never in contact is on its own side of every face
                    assert!(is_active, "{number} {lane}");
                    (0..3).for_each(|k| assert!((shares[k + 1] + w[k]).abs() < 1e-3, "{shares:?} {w:?}"));
                    faces += 1;
                    a - blend([b, c, d], w)
                } else {
                    let [s, t] = segment_segment([a, b], [c, d]);
                    let inner = [s, t].iter().all(|s| *s > 2.0 * END && *s < 1.0 - 2.0 * END);
                    if !is_active || !inner {
                        assert!(!(is_active && (s == 0.0 || t == 0.0 || s == 1.0 || t == 1.0)), "{s} {t}");
                        continue;
                    }
                    assert!((shares[1] + s).abs() < 1e-3 && (shares[3] - t).abs() < 1e-3, "{shares:?} {s} {t}");
                    edges += 1;
                    way_between([a, b], [c, d], [s, t])
                };
                assert!((normal.dot(apart) - apart.length()).abs() < 1e-3 && (normal.length() - 1.0).abs() < 1e-4);
            }
        }
        assert!(faces == 64 && edges > 10, "{faces} {edges}");
    }
}
