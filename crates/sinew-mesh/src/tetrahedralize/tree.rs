//! A bounding volume hierarchy of triangles: nearest point, intersections with a segment, overlaps, and the winding
//! number.
//!
//! The winding number of a patch of triangles at a point is a sum of solid angles. From a point outside the bounding
//! box of the patch, any other patch with the same boundary has the same solid angle (the two together are closed and
//! do not contain the point). So each node stores a triangle fan over its boundary: exact, and short, because a patch
//! of n triangles has a boundary of about √n edges (hierarchical evaluation of Jacobson, Kavan and Sorkine 2013).

use super::vector::Vector;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Maximum number of triangles of a leaf.
const LEAF: usize = 4;

/// A closed surface in f64.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub vertices: Vec<Vector>,
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    pub fn corners(&self, triangle: usize) -> [Vector; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }

    pub fn volume(&self) -> f64 {
        // relative to a nearby vertex: far from the origin the sum would cancel
        let Some(&near) = self.triangles.first().map(|t| &self.vertices[t[0] as usize]) else { return 0.0 };
        let six = |t: usize| {
            let [a, b, c] = self.corners(t).map(|p| p - near);
            a.dot(b.cross(c))
        };
        (0..self.triangles.len()).map(six).sum::<f64>() / 6.0
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub low: Vector,
    pub high: Vector,
}

impl Bounds {
    pub const EMPTY: Self = Self { low: Vector([f64::INFINITY; 3]), high: Vector([f64::NEG_INFINITY; 3]) };

    pub fn of(points: &[Vector]) -> Self {
        points.iter().fold(Self::EMPTY, |b, &p| Self { low: b.low.min(p), high: b.high.max(p) })
    }

    fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|i| self.low[i] <= other.high[i] && other.low[i] <= self.high[i])
    }

    fn contains(&self, p: Vector) -> bool {
        (0..3).all(|i| self.low[i] <= p[i] && p[i] <= self.high[i])
    }

    /// Squared distance to the box, 0 inside [m²].
    fn distance2(&self, p: Vector) -> f64 {
        let out = (self.low - p).max(p - self.high).max(Vector::ZERO);
        out.dot(out)
    }
}

#[derive(Debug)]
struct Node {
    bounds: Bounds,
    /// Range of `order` below this node: first index, and end (exclusive).
    span: [u32; 2],
    /// Right child; the left one follows its parent. 0 for a leaf.
    right: u32,
    /// The boundary fan in `fans`: an apex and edges.
    fan: [u32; 2],
    apex: u32,
}

/// The tree, with the surface it is built on.
#[derive(Debug)]
pub(super) struct Tree {
    pub surface: Surface,
    nodes: Vec<Node>,
    order: Vec<u32>,
    fans: Vec<[u32; 2]>,
}

/// The nearest point of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub point: Vector,
    pub distance: f64,
}

impl Tree {
    pub fn build(surface: Surface) -> Self {
        let count = surface.triangles.len();
        let mut tree = Self { surface, nodes: Vec::new(), order: (0..count as u32).collect(), fans: Vec::new() };
        if count > 0 {
            tree.split(0, count);
        }
        tree
    }

    /// Builds the node over `order[from..to]`; returns its index and its boundary (net count of directed edges).
    fn split(&mut self, from: usize, to: usize) -> (usize, BTreeMap<[u32; 2], i32>) {
        let mut bounds = Bounds::EMPTY;
        let mut middles = Bounds::EMPTY;
        for &t in &self.order[from..to] {
            let corners = self.surface.corners(t as usize);
            bounds = bounds.join(Bounds::of(&corners));
            middles = middles.join(Bounds::of(&[middle(corners)]));
        }
        let node = self.nodes.len();
        self.nodes.push(Node { bounds, span: [from as u32, to as u32], right: 0, fan: [0; 2], apex: 0 });

        let mut rim = BTreeMap::new();
        if to - from <= LEAF {
            for &t in &self.order[from..to] {
                let [a, b, c] = self.surface.triangles[t as usize];
                for edge in [[a, b], [b, c], [c, a]] {
                    add_edge(&mut rim, edge, 1);
                }
            }
        } else {
            // median split along the longest axis of the box of the centres
            let size = middles.high - middles.low;
            let axis = (1..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
            let surface = &self.surface;
            let key = |t: u32| middle(surface.corners(t as usize))[axis];
            self.order[from..to].sort_unstable_by(|&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
            let half = usize::midpoint(from, to);
            rim = self.split(from, half).1;
            let (right, other) = self.split(half, to);
            self.nodes[node].right = right as u32;
            other.into_iter().for_each(|(edge, times)| add_edge(&mut rim, edge, times));
        }
        self.store_fan(node, &rim);
        (node, rim)
    }

    fn store_fan(&mut self, node: usize, rim: &BTreeMap<[u32; 2], i32>) {
        let first = self.fans.len() as u32;
        let apex = rim.keys().next().map_or(0, |edge| edge[0]);
        for (&[a, b], &times) in rim {
            let edge = if times > 0 { [a, b] } else { [b, a] };
            // edges at the apex give degenerate triangles
            if !edge.contains(&apex) {
                self.fans.extend(std::iter::repeat_n(edge, times.unsigned_abs() as usize));
            }
        }
        self.nodes[node].fan = [first, self.fans.len() as u32];
        self.nodes[node].apex = apex;
    }

    pub fn bounds(&self) -> Bounds {
        self.nodes.first().map_or(Bounds::EMPTY, |n| n.bounds)
    }

    fn triangles_of(&self, node: usize) -> &[u32] {
        let [from, to] = self.nodes[node].span;
        &self.order[from as usize..to as usize]
    }

    /// Winding number at a point: 1 inside a closed outward surface, 0 outside, a fraction on it.
    pub fn winding(&self, p: Vector) -> f64 {
        if self.nodes.is_empty() { 0.0 } else { self.solid_angle(0, p) / (4.0 * PI) }
    }

    fn solid_angle(&self, node: usize, p: Vector) -> f64 {
        let n = &self.nodes[node];
        let triangles = self.triangles_of(node);
        let fan = &self.fans[n.fan[0] as usize..n.fan[1] as usize];
        if !n.bounds.contains(p) && fan.len() < triangles.len() {
            let apex = self.surface.vertices[n.apex as usize] - p;
            let at = |i: u32| self.surface.vertices[i as usize] - p;
            return fan.iter().map(|&[a, b]| solid_angle(apex, at(a), at(b))).sum();
        }
        if n.right != 0 {
            return self.solid_angle(node + 1, p) + self.solid_angle(n.right as usize, p);
        }
        let of = |&t: &u32| {
            let [a, b, c] = self.surface.corners(t as usize).map(|q| q - p);
            solid_angle(a, b, c)
        };
        triangles.iter().map(of).sum()
    }

    /// The nearest point of the surface.
    pub fn nearest(&self, p: Vector) -> Nearest {
        let mut best = Nearest { point: p, distance: f64::INFINITY };
        let mut best2 = f64::INFINITY;
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            let n = &self.nodes[node];
            if n.bounds.distance2(p) >= best2 {
                continue;
            }
            if n.right == 0 {
                for &t in self.triangles_of(node) {
                    let q = nearest_on_triangle(p, self.surface.corners(t as usize));
                    let d2 = (q - p).dot(q - p);
                    if d2 < best2 {
                        best2 = d2;
                        best = Nearest { point: q, distance: d2.sqrt() };
                    }
                }
                continue;
            }
            // the nearer child is visited first: it is on top of the stack
            let (left, right) = (node + 1, n.right as usize);
            let far_first = self.nodes[left].bounds.distance2(p) <= self.nodes[right].bounds.distance2(p);
            stack.extend(if far_first { [right, left] } else { [left, right] });
        }
        best
    }

    /// Calls `visit` with every triangle whose box overlaps `bounds`.
    pub fn overlaps(&self, bounds: &Bounds, mut visit: impl FnMut(usize)) {
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            let n = &self.nodes[node];
            if !n.bounds.meets(bounds) {
                continue;
            }
            if n.right == 0 {
                self.triangles_of(node).iter().for_each(|&t| visit(t as usize));
            } else {
                stack.extend([n.right as usize, node + 1]);
            }
        }
    }

    /// Intersections of a segment with the surface, as fractions of its length, ascending. A hit on an edge may be
    /// listed twice.
    pub fn hits(&self, a: Vector, b: Vector, found: &mut Vec<f64>) {
        found.clear();
        self.overlaps(&Bounds::of(&[a, b]), |t| found.extend(hit(a, b, self.surface.corners(t))));
        found.sort_unstable_by(f64::total_cmp);
    }
}

fn middle([a, b, c]: [Vector; 3]) -> Vector {
    (a + b + c) * (1.0 / 3.0)
}

fn add_edge(rim: &mut BTreeMap<[u32; 2], i32>, [a, b]: [u32; 2], times: i32) {
    let (key, sign) = if a < b { ([a, b], 1) } else { ([b, a], -1) };
    let net = rim.entry(key).or_insert(0);
    *net += sign * times;
    if *net == 0 {
        rim.remove(&key);
    }
}

/// Solid angle of a triangle seen from the origin (van Oosterom and Strackee 1983).
fn solid_angle(a: Vector, b: Vector, c: Vector) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let top = a.dot(b.cross(c));
    let bottom = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * top.atan2(bottom)
}

/// Intersection of the segment with the triangle, borders included.
fn hit(a: Vector, b: Vector, [p, q, r]: [Vector; 3]) -> Option<f64> {
    // tolerance so that a segment through an edge does not pass between its two triangles
    const SLACK: f64 = 1e-12;
    let way = b - a;
    let (u, v) = (q - p, r - p);
    let across = way.cross(v);
    let volume = u.dot(across);
    if volume.abs() < f64::MIN_POSITIVE {
        return None;
    }
    let from = a - p;
    let first = from.dot(across) / volume;
    let turned = from.cross(u);
    let second = way.dot(turned) / volume;
    let part = v.dot(turned) / volume;
    let inside = first >= -SLACK && second >= -SLACK && first + second <= 1.0 + SLACK;
    (inside && (0.0..=1.0).contains(&part)).then_some(part)
}

/// Nearest point of a triangle, by its Voronoi regions (Ericson 2005, 5.1.5).
pub(super) fn nearest_on_triangle(p: Vector, [a, b, c]: [Vector; 3]) -> Vector {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    if sum <= 0.0 { a } else { a + ab * (vb / sum) + ac * (vc / sum) }
}

#[cfg(test)]
mod tests {
    use super::super::shapes;
    use super::*;

    #[test]
    fn the_winding_number_is_one_inside_and_zero_outside() {
        let tree = Tree::build(shapes::ball(1.0, 24));
        // points along a spiral, none on the surface
        for i in 0..500 {
            let t = f64::from(i) * 0.1;
            let p = Vector([t.cos(), t.sin(), (0.7 * t).sin()]) * (0.004 * f64::from(i));
            let flat = p.length();
            // between the chords and the sphere either value is possible
            if !(0.97..=1.0).contains(&flat) {
                let expected = if flat < 1.0 { 1.0 } else { 0.0 };
                assert!((tree.winding(p) - expected).abs() < 1e-9, "{p:?}: {}", tree.winding(p));
            }
        }
    }

    #[test]
    fn the_nearest_point_is_that_of_an_exhaustive_search() {
        let tree = Tree::build(shapes::torus(1.0, 0.4, 16));
        for i in 0..200 {
            let t = f64::from(i);
            let p = Vector([(1.3 * t).sin(), (2.1 * t).sin(), (3.7 * t).sin()]) * 2.0;
            let of = |k: usize| (nearest_on_triangle(p, tree.surface.corners(k)) - p).length();
            let all = (0..tree.surface.triangles.len()).map(of).fold(f64::INFINITY, f64::min);
            assert_eq!(tree.nearest(p).distance, all);
        }
    }

    #[test]
    fn a_segment_through_a_ball_hits_it_twice() {
        let tree = Tree::build(shapes::ball(1.0, 24));
        let mut found = Vec::new();
        tree.hits(Vector([-2.0, 0.11, 0.23]), Vector([2.0, 0.13, 0.21]), &mut found);
        assert_eq!(found.len(), 2);
        tree.hits(Vector([-2.0, 1.11, 0.23]), Vector([2.0, 1.13, 0.21]), &mut found);
        assert!(found.is_empty());
    }
}
