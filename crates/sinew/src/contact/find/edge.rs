//! Contacts of the edges of a solid soft surface with convex shapes that have edges or corners themselves, where none of
//! the ends is nearer. The nearest point of each triangle is not enough: a straight edge of a tool crosses many edges of
//! the surface, two in each triangle.

use crate::collision::surface::{END, Ridge, feature};
use crate::contact::find::surface::RigidSide;
use crate::contact::find::surfel::remember;
use crate::math::{Real, Vec3};
use crate::model::Nodes;
use crate::model::surface::NONE;
use crate::state::{ContactKey, ContactMemory, State};
use crate::tuning::edge::RIM;

/// The edges of a surface.
pub(crate) struct Edges<'a> {
    pub(crate) slot: u32,
    pub(crate) nodes: &'a Nodes,
    /// Positions of the surfels [m].
    pub(crate) x: &'a [Vec3],
    /// Search distance, and largest depth [m].
    pub(crate) reach: Real,
    pub(crate) most: Real,
}

impl Edges<'_> {
    /// The contact of an edge of a triangle, and its gap; `rim` is one that was found at the rim of a face.
    pub(crate) fn contact(
        &self,
        state: &State,
        side: &RigidSide<'_>,
        [a, b]: [u32; 2],
        rim: Option<ContactMemory>,
    ) -> Option<ContactMemory> {
        let ends = [a.min(b), a.max(b)];
        let found = self.meet(state, side, ends);
        match (rim, found) {
            (Some(rim), Some(found)) if rim.normal.dot(found.normal) > RIM => Some(rim),
            (rim, found) => found.or(rim),
        }
    }

    fn meet(&self, state: &State, side: &RigidSide<'_>, ends: [u32; 2]) -> Option<ContactMemory> {
        let Self { nodes, x, .. } = *self;
        let edge = nodes.cells.edges.binary_search(&ends).ok()?;
        let cells = nodes.cells.beside[edge];
        if cells.contains(&NONE) {
            return None;
        }
        let [first, second] = cells.map(|cell| nodes.cells.corners[cell as usize]);
        let normal = |corners: [u32; 3]| {
            let [p, q, r] = corners.map(|k| x[k as usize]);
            (q - p).cross(r - p).try_normalize()
        };
        let faces = [normal(first)?, normal(second)?];
        let at = ends.map(|k| x[k as usize]);
        // the third corner of the second face is below the first
        let third = second.into_iter().find(|k| !ends.contains(k))?;
        let convex = faces[0].dot(x[third as usize] - at[0]) <= 0.0;
        let placed = side.pose.then_inner(&side.built.place);
        let geometry = &side.built.geometry;
        let support = |n: Vec3| geometry.support(&placed, n).unwrap_or(placed.position);
        let radius = nodes.traits.radius;
        let meet = Ridge { ends: at, faces, convex }.meet(support, self.reach + radius)?;
        if !(END..=1.0 - END).contains(&meet.share) || radius - meet.gap > self.most {
            return None;
        }
        let key = ContactKey {
            a: side.body,
            b: self.slot,
            collider_a: side.collider,
            collider_b: feature::EDGE,
            sub_a: 0,
            sub_b: edge as u32,
        };
        let mut m = remember(state, key, side.pose.rotation.inverse() * meet.normal, radius);
        m.points[0].local_a = side.pose.unpoint(meet.on_shape);
        m.points[0].local_b = Vec3::new(1.0 - meet.share, meet.share, 0.0);
        Some(m)
    }
}
