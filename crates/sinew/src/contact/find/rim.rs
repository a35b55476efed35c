//! Contacts of the edges of a soft surface with the rim of a flat face of a rigid body, where the surface extends
//! beyond the face.
//!
//! Over a flat face the contacts of a triangle's corners are sufficient. A triangle that extends beyond the face has
//! one nearest point, which jumps between a corner under the face and the rim when the triangle tilts by a very small
//! angle: in every step in which the gap at the rim was open there was no row at it, and the surface penetrated the rim
//! by a millimetre before the next one. (The ends of a cloth under a tray and of a soft block under a bar never came to
//! rest.) So every edge with one end under the face and the other beyond has a contact where it crosses the rim,
//! whether its gap is open or not.

use crate::collision::surface::feature;
use crate::contact::find::surface::RigidSide;
use crate::contact::find::surfel::remember;
use crate::math::{Real, Vec3};
use crate::model::Nodes;
use crate::state::{ContactKey, ContactMemory, State};
use crate::tuning::rim::{DEEP, END, STEEP, UNDER};
use crate::tuning::surface::FLAT;

/// A surface whose edges are tested against rims.
pub(crate) struct Looker<'a> {
    pub(crate) slot: u32,
    pub(crate) nodes: &'a Nodes,
    /// Positions of the surfels [m].
    pub(crate) x: &'a [Vec3],
    /// Contacts of its surfels with the collider, sorted by surfel.
    pub(crate) known: &'a [ContactMemory],
    /// Search distance [m].
    pub(crate) reach: Real,
}

impl Looker<'_> {
    /// The contact of an edge with the rim of the face that one of its ends touches; none when it does not cross the
    /// rim.
    pub(crate) fn crossing(&self, state: &State, side: &RigidSide<'_>, [a, b]: [u32; 2]) -> Option<ContactMemory> {
        let rim = match (self.known(a), self.known(b)) {
            (Some(m), None) => self.leave(side, m, [a, b])?,
            (None, Some(m)) => self.leave(side, m, [b, a])?,
            // both ends on one face: their own rows are sufficient. On two faces: the edge leaves one of them in
            // between
            (Some(m), Some(n)) if m.normal.dot(n.normal) <= 1.0 - FLAT => {
                self.leave(side, m, [a, b]).or_else(|| self.leave(side, n, [b, a]))?
            }
            _ => return None,
        };
        let share = if rim.from == a.min(b) { rim.share } else { 1.0 - rim.share };
        let key = ContactKey {
            a: side.body,
            b: self.slot,
            collider_a: side.collider,
            collider_b: feature::EDGE,
            sub_a: 0,
            sub_b: self.nodes.cells.edges.binary_search(&[a.min(b), a.max(b)]).ok()? as u32,
        };
        let mut m = remember(state, key, rim.normal, self.nodes.traits.radius);
        m.points[0].local_a = side.pose.unpoint(rim.on_face);
        m.points[0].local_b = Vec3::new(1.0 - share, share, 0.0);
        Some(m)
    }

    fn known(&self, surfel: u32) -> Option<&ContactMemory> {
        self.known.binary_search_by_key(&surfel, |m| m.key.sub_b).ok().map(|i| &self.known[i])
    }

    /// Where the segment from a surfel with contact m to another surfel leaves the face of the first.
    fn leave(&self, side: &RigidSide<'_>, m: &ContactMemory, [from, to]: [u32; 2]) -> Option<Rim> {
        if m.radius[0] > 0.0 {
            return None;
        }
        let normal = side.pose.rotation * m.normal;
        let face = side.pose.point(m.points[0].local_a);
        let height = |x: Vec3| normal.dot(x - face);
        // an edge whose far end is pinned moves with its near end alone, which has a row
        if self.nodes.surface.shares(to).iter().all(|share| self.nodes.inv_mass[share.node as usize] == 0.0) {
            return None;
        }
        let (start, end) = (self.x[from as usize], self.x[to as usize]);
        // the edge projected onto a plane slightly below the face
        let under = |x: Vec3| x - normal * (height(x) + UNDER * self.reach);
        let way = under(end) - under(start);
        if height(end) - self.nodes.traits.radius < -STEEP * way.length() {
            return None;
        }
        let placed = side.pose.then_inner(&side.built.place);
        let share = side.built.geometry.way_out(&placed, under(start), way)?;
        let at = start + (end - start) * share;
        let gap = height(at) - self.nodes.traits.radius;
        let near = gap <= self.reach && gap >= -DEEP * self.reach;
        let rim = Rim { from, share, normal: m.normal, on_face: at - normal * height(at) };
        (near && (END..=1.0 - END).contains(&share)).then_some(rim)
    }
}

/// Where an edge crosses the rim of a face.
struct Rim {
    /// The end under the face.
    from: u32,
    /// Fraction of the edge from there to the other end.
    share: Real,
    /// Of the face, in axes of its body.
    normal: Vec3,
    /// Position on the face [m].
    on_face: Vec3,
}
