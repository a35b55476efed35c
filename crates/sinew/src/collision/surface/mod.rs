//! Contact detection between soft surfaces: vertices against triangles and edges against edges, between bodies and
//! within one.
//!
//! A contact is a pair of features with the weights of their corners at the nearest points, and a normal o from a to b:
//!
//! ```text
//!   gap = o·(Σ w_b x_b − Σ w_a x_a) − (r_a + r_b)
//! ```
//!
//! *Outward side.* For a body with an interior its normals determine the side: a vertex behind a face of another body
//! is inside it, and o is the face's normal. A sheet has two sides: o is the direction from one feature to the other,
//! and a pair that was in contact before keeps its side, so that a vertex that passed through is pushed back to its
//! former side.
//!
//! *Self-contact.* Within one body only features count whose rest distance is larger than their contact distance, and
//! neighbours never do.

mod cell_tree;
mod closest;
mod contact_reduction;
mod feature_prefilter;
mod motion_bounds;
mod near_pairs;
mod self_contact_boxes;
mod self_contact_finder;
mod self_contact_near;
mod self_contact_tree;
mod tree;

pub(crate) use cell_tree::{CellTree, Fit};
pub(crate) use closest::{blend, point_segment, point_triangle, segment_segment, segment_triangle, way_between};
pub(crate) use contact_reduction::{Held, thin_out};
pub(crate) use motion_bounds::{Look, Ways};
pub(crate) use near_pairs::{Boxed, NearPairs};
pub(crate) use self_contact_finder::{Candidate, FeaturePair, FoldList, SelfContactFinder};
pub(crate) use self_contact_near::{FaceSides, from_face, nearest_of_edges, nearest_on_face};
pub(crate) use tree::SurfaceTree;

use crate::collision::Bounds3;
use crate::math::{Real, Vec3};
use crate::model::surface::Cells;

/// Edges at a smaller angle than this (sine) have no well-conditioned common normal.
pub(crate) const SKEW: Real = 0.05;
/// Parameters nearer to an end than this belong to a vertex, which has its own pairs.
pub(crate) const END: Real = 1e-3;

/// Smallest cosine between the normal of a contact and the outward direction of a solid there. A vertex in the top of a
/// body lies behind the body's lateral faces too, and must not form contacts with them.
const FACING: Real = 0.2;
/// Maximum depth of an edge below another, in lengths of the shorter one: at larger depth other features are nearer.
pub(crate) const DEEPEST_EDGE: Real = 0.1;

/// Tolerance of early tests for rounding.
const MORE: Real = 1.001;

/// Kind of a feature; part of a contact's key.
pub(crate) mod feature {
    /// A surfel.
    pub const VERTEX: u32 = 0;
    /// An edge between two surfels.
    pub const EDGE: u32 = 1;
    /// A triangle.
    pub const FACE: u32 = 2;
}

/// A surface in its current configuration.
#[derive(Clone, Copy)]
pub(crate) struct Skin<'a> {
    pub cells: &'a Cells,
    /// Positions of the surfels [m].
    pub x: &'a [Vec3],
    /// Positions at rest [m].
    pub rest: &'a [Vec3],
    /// Outward unit normals of the surfels.
    pub normals: &'a [Vec3],
    /// Half thickness [m].
    pub radius: Real,
    /// True when it encloses a volume.
    pub solid: bool,
}

/// Features of a and b that are in contact or may be soon. A vertex has the weights (1, 0, 0), an edge (1 − t, t, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touching {
    /// Kind and number of the feature of a.
    pub a: (u32, u32),
    /// Of b.
    pub b: (u32, u32),
    pub weights_a: [Real; 3],
    pub weights_b: [Real; 3],
    /// From a to b.
    pub normal: Vec3,
    /// Negative in penetration [m].
    pub gap: Real,
    /// Distance at which the two are in contact [m].
    pub reach: Real,
}

/// Normal of a pair in its last contact, from a to b.
pub(crate) type Before<'a> = &'a dyn Fn((u32, u32), (u32, u32)) -> Option<Vec3>;

/// Exact contact test of pairs of features, of two bodies or of one.
pub(crate) struct Finder<'a> {
    pub a: Skin<'a>,
    pub b: Skin<'a>,
    /// a and b are the same body.
    pub own: bool,
    pub before: Before<'a>,
    /// Gap up to which a pair gets a constraint row, as a function of the features' surfels [m].
    pub near: &'a dyn Fn(Ends<'_>) -> Real,
    /// Upper bound of `near` over all pairs [m].
    pub nearest: Real,
    /// Maximum distance from a vertex to the boundary of its cell's box, in addition to the cell's own size [m].
    pub beyond: Real,
    /// True when a feature behind a face or an edge may have passed through it. Otherwise it arrived there around the
    /// other side.
    pub crossed: bool,
    /// Maximum depth of an edge contact omitted because vertex contacts support it [m]. An edge that had a contact
    /// keeps it, otherwise it would penetrate again.
    pub sag: Real,
}

/// Surfels of the two features.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub a: &'a [u32],
    pub b: &'a [u32],
}

/// Search distance for surfaces of these half thicknesses whose features get a constraint row up to the gap `near`
/// while they do not move: no others are in contact, except for penetrating ones and those within the additional search
/// distances of their surfels (see `Boxed`) [m].
pub(crate) fn reach_at_rest(near: Real, radii: [Real; 2]) -> Real {
    MORE * (near + radii[0] + radii[1])
}

impl Finder<'_> {
    /// The contact of a vertex of a and a triangle of b, or of b and a when `swapped`, with the box of the triangle.
    pub fn vertex(&self, [vertex, cell]: [u32; 2], swapped: bool, of_face: &Bounds3) -> Option<Touching> {
        let point = if swapped { &self.b } else { &self.a };
        let x = point.x[vertex as usize];
        // a vertex farther from the box of a face than the box of its own cell can extend cannot be in contact with it
        let outside = (of_face.min - x).max(x - of_face.max).max_element() > self.beyond;
        if outside { None } else { self.vertex_face(vertex, cell, swapped) }
    }

    /// A vertex of a against a triangle of b, or vice versa when `swapped`.
    fn vertex_face(&self, vertex: u32, cell: u32, swapped: bool) -> Option<Touching> {
        let (point, face) = if swapped { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let corners = face.cells.corners[cell as usize];
        if self.own && corners.contains(&vertex) {
            return None;
        }
        let [i, j, k] = corners;
        let at = [face.x[i as usize], face.x[j as usize], face.x[k as usize]];
        let p = point.x[vertex as usize];
        let doubled = (at[1] - at[0]).cross(at[2] - at[0]);
        // square roots are avoided because most pairs end here: both normals have the same direction
        if face.solid && point.solid && point.normals[vertex as usize].dot(doubled) >= 0.0 {
            return None;
        }
        let w = point_triangle(p, at);
        let apart = p - blend(at, w);
        // or the vertex is too far outside
        let far = self.nearest + self.a.radius + self.b.radius;
        if face.solid && doubled.dot(apart) >= 0.0 && apart.length_squared() > MORE * far * far {
            return None;
        }
        let plane = doubled.try_normalize()?;
        let size = longest(at);
        let right_above = (apart - plane * plane.dot(apart)).length() <= END * size;
        let keys = ((feature::VERTEX, vertex), (feature::FACE, cell));
        let side = self.side_of(keys, swapped, plane, apart)?;
        let outside = side.dot(apart) >= 0.0;
        // inside a body only the face directly above counts; beside a face its edges and neighbours do
        if !(outside || right_above && self.crossed) {
            return None;
        }
        let away = if outside { apart.try_normalize().unwrap_or(side) } else { side };
        let far = away.dot(apart);
        let rest_corners = corners.map(|i| face.rest[i as usize]);
        let reach = self.reach(|| {
            let p = point.rest[vertex as usize];
            (p - blend(rest_corners, point_triangle(p, rest_corners))).length()
        })?;
        let ends_face: &[u32] = &corners;
        let ends = if swapped { Ends { a: ends_face, b: &[vertex] } } else { Ends { a: &[vertex], b: ends_face } };
        let gap = far - reach;
        if gap > (self.near)(ends) || -far > size {
            return None;
        }
        let one = [1.0, 0.0, 0.0];
        Some(if swapped {
            Touching { a: keys.1, b: keys.0, weights_a: w, weights_b: one, normal: away, gap, reach }
        } else {
            Touching { a: keys.0, b: keys.1, weights_a: one, weights_b: w, normal: -away, gap, reach }
        })
    }

    /// Normal of a face, away from it towards the side on which the vertex belongs. None for solid surfaces that do not
    /// face each other.
    fn side_of(
        &self,
        (vertex, cell): ((u32, u32), (u32, u32)),
        swapped: bool,
        plane: Vec3,
        apart: Vec3,
    ) -> Option<Vec3> {
        let (point, face) = if swapped { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let outward = point.normals.get(vertex.1 as usize).filter(|_| point.solid).map(|n| n.dot(plane));
        if face.solid {
            return outward.is_none_or(|along| along < -FACING).then_some(plane);
        }
        if let Some(along) = outward {
            return Some(if along < 0.0 { plane } else { -plane });
        }
        let before = if swapped { (self.before)(cell, vertex) } else { (self.before)(vertex, cell).map(|n| -n) };
        let wanted = before.filter(|_| self.crossed).unwrap_or(apart);
        Some(if wanted.dot(plane) < 0.0 { -plane } else { plane })
    }

    /// The contact of an edge of a and one of b; none for one that the vertex contacts in `contact_reduction` support.
    pub fn edges(&self, [edge_a, edge_b]: [u32; 2], contact_reduction: Option<&Held>) -> Option<Touching> {
        let (ends_a, ends_b) = (self.a.cells.edges[edge_a as usize], self.b.cells.edges[edge_b as usize]);
        if self.own && ends_a.iter().any(|e| ends_b.contains(e)) {
            return None;
        }
        let ([i, j], [k, l]) = (ends_a, ends_b);
        let (a, b) = ([self.a.x[i as usize], self.a.x[j as usize]], [self.b.x[k as usize], self.b.x[l as usize]]);
        // the end of a loose segment has no triangle whose vertex pairs would cover it
        let loose = self.is_loose(edge_a, edge_b);
        let (out_a, out_b) = (outward(&self.a, ends_a), outward(&self.b, ends_b));
        let across = (a[1] - a[0]).cross(b[1] - b[0]);
        let is_held =
            |normal: Vec3| contact_reduction.is_some_and(|h| h.holds(0, ends_a, normal) || h.holds(1, ends_b, normal));
        let [s, t] = segment_segment(a, b);
        let inner = |t: Real| t > END && t < 1.0 - END;
        if !(loose || inner(s) && inner(t)) {
            return None;
        }
        let apart = way_between(a, b, [s, t]);
        let skew = across.length() > SKEW * (a[1] - a[0]).length() * (b[1] - b[0]).length();
        if !skew && !loose {
            return None;
        }
        let line = if skew && inner(s) && inner(t) { across.try_normalize()? } else { apart.try_normalize()? };
        let keys = ((feature::EDGE, edge_a), (feature::EDGE, edge_b));
        let wanted = self.wanted_of_solids(out_a, out_b);
        let before = || (self.before)(keys.0, keys.1).filter(|_| self.crossed);
        let wanted = wanted.unwrap_or_else(|| before().unwrap_or(apart));
        let normal = if wanted.dot(line) < 0.0 { -line } else { line };
        // both outward directions must face the other edge
        let looks = |out: Vec3, way: Real| out.dot(normal) * way > FACING * out.length();
        if self.a.solid && !looks(out_a, 1.0) || self.b.solid && !looks(out_b, -1.0) {
            return None;
        }
        let far = normal.dot(apart);
        if far < 0.0 && !self.crossed {
            return None;
        }
        let reach = self.reach(|| {
            let (a, b) = (ends_a.map(|i| self.a.rest[i as usize]), ends_b.map(|i| self.b.rest[i as usize]));
            way_between(a, b, segment_segment(a, b)).length()
        })?;
        let gap = far - reach;
        let short = (a[1] - a[0]).length().min((b[1] - b[0]).length());
        if gap > (self.near)(Ends { a: &ends_a, b: &ends_b }) || -far > DEEPEST_EDGE * short {
            return None;
        }
        if gap > -self.sag && is_held(normal) && (self.before)(keys.0, keys.1).is_none() {
            return None;
        }
        let (weights_a, weights_b) = ([1.0 - s, s, 0.0], [1.0 - t, t, 0.0]);
        Some(Touching { a: keys.0, b: keys.1, weights_a, weights_b, normal, gap, reach })
    }

    /// Direction from a to b for two edges, as the interiors determine it; none between two sheets.
    fn wanted_of_solids(&self, out_a: Vec3, out_b: Vec3) -> Option<Vec3> {
        match (self.a.solid, self.b.solid) {
            (true, true) => Some(out_a - out_b),
            (true, false) => Some(out_a),
            (false, true) => Some(-out_b),
            (false, false) => None,
        }
    }

    /// True when one of the edges has no triangle beside it.
    fn is_loose(&self, edge_a: u32, edge_b: u32) -> bool {
        let segment = |skin: &Skin<'_>, edge: u32| !skin.cells.is_triangle(skin.cells.beside[edge as usize][0]);
        segment(&self.a, edge_a) || segment(&self.b, edge_b)
    }

    /// Distance at which two features are in contact; within a body no more than their distance at rest, and none for
    /// features that are neighbours in a solid.
    fn reach(&self, rest_distance: impl FnOnce() -> Real) -> Option<Real> {
        let both = self.a.radius + self.b.radius;
        if !self.own {
            return Some(both);
        }
        let rest = rest_distance();
        if rest <= 0.0 || self.a.solid && rest <= 2.0 * both {
            return None;
        }
        Some(both.min(rest))
    }
}

fn longest([a, b, c]: [Vec3; 3]) -> Real {
    (b - a).length().max((c - b).length()).max((a - c).length())
}

/// Outward direction of a body at an edge.
fn outward(skin: &Skin<'_>, ends: [u32; 2]) -> Vec3 {
    ends.iter().fold(Vec3::ZERO, |sum, &i| sum + skin.normals[i as usize])
}

#[cfg(test)]
mod tests;
