//! Where a soft surface leaves a flat face of a rigid body: contacts of its edges with the rim of the face.
//!
//! Over a flat face the corners of a triangle are enough. One that reaches beyond the face has one nearest point, and that
//! jumps between a corner under the face and the rim as the triangle tilts by a hair: in every step in which the rim stands
//! open there was no row at it, and the surface went a millimetre into it before the next one. (The ends of a cloth under a
//! tray and of a jelly under a bar never came to rest.) So every edge with one end under the face and the other beyond has
//! a contact where it crosses the rim, open or not.

use crate::collision::surface::feature;
use crate::contact::find::surface::{FLAT, RigidSide};
use crate::contact::find::surfel::remember;
use crate::math::{Real, Vec3};
use crate::model::Nodes;
use crate::state::{ContactKey, ContactMemory, State};

/// Nearer to an end than this part of the edge, the contact of that end is enough.
const END: Real = 0.02;
/// Share of the distance at which contacts are looked for by which an edge may be inside at the rim: one that is deeper comes
/// up steeply beside the body, and its nearest point tells better which way is out.
const DEEP: Real = 0.4;
/// How far behind the face the far end of an edge may stand, by its way out along the face: one that is steeper comes up beside the
/// body. A row along the normal of the face threw stiff membranes around the edges of a box with 170 times the energy that
/// the stability grid allows; at 1 some were still thrown, at 0.5 none.
const STEEP: Real = 0.5;
/// How deep under the face its rim is looked for, as a share of the distance at which contacts are looked for.
const UNDER: Real = 0.01;

/// A surface that looks for rims.
pub(crate) struct Looker<'a> {
    pub(crate) slot: u32,
    pub(crate) nodes: &'a Nodes,
    /// Positions of the surfels [m].
    pub(crate) x: &'a [Vec3],
    /// Contacts of its surfels with the collider, sorted by surfel.
    pub(crate) known: &'a [ContactMemory],
    /// How far it looks [m].
    pub(crate) reach: Real,
}

impl Looker<'_> {
    /// The contact of an edge with the rim of the face that one end of it touches; none when it does not cross one.
    pub(crate) fn crossing(&self, state: &State, side: &RigidSide<'_>, [a, b]: [u32; 2]) -> Option<ContactMemory> {
        let rim = match (self.known(a), self.known(b)) {
            (Some(m), None) => self.leave(side, m, [a, b])?,
            (None, Some(m)) => self.leave(side, m, [b, a])?,
            // both at one face: their own rows are enough. At two: it leaves one of them between
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

    /// Where the way from a surfel with contact m to another leaves the face that the first is at.
    fn leave(&self, side: &RigidSide<'_>, m: &ContactMemory, [from, to]: [u32; 2]) -> Option<Rim> {
        if m.radius[0] > 0.0 {
            return None;
        }
        let normal = side.pose.rotation * m.normal;
        let face = side.pose.point(m.points[0].local_a);
        let height = |x: Vec3| normal.dot(x - face);
        // an edge whose far end is held moves with its near end alone, which has a row
        if self.nodes.surface.shares(to).iter().all(|share| self.nodes.inv_mass[share.node as usize] == 0.0) {
            return None;
        }
        let (start, end) = (self.x[from as usize], self.x[to as usize]);
        // the shadow of the edge a little under the face
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
    /// Part of the way from there to the other end.
    share: Real,
    /// Of the face, in axes of its body.
    normal: Vec3,
    /// The place on the face [m].
    on_face: Vec3,
}
