//! Vertices that hold a surface, and edges that need not.
//!
//! Of the faces near a vertex the nearest on each side counts. An edge that crosses another one is left out where one of the two
//! is held at both ends from the same side and it is not deep: nothing between the ends is nearer by more than the surface
//! bends there, and the row would depend on theirs.

use super::{Touching, feature};
use crate::math::{Real, Vec3};
use crate::model::surface::NONE;

/// Cosine between normals up to which they hold from the same side: 10 degrees, so that an edge of length l may sag
/// l/50 between its ends.
const SAME_SIDE: Real = 0.985;

/// The vertex of a touch, with its side: 0 for a.
fn vertex(t: &Touching) -> Option<(usize, u32)> {
    match (t.a, t.b) {
        ((feature::VERTEX, v), (feature::FACE, _)) => Some((0, v)),
        ((feature::FACE, _), (feature::VERTEX, v)) => Some((1, v)),
        _ => None,
    }
}

/// Sorts touches by keys that are made once; records are larger, and are moved once.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    keys: Vec<(u128, u32)>,
    moved: Vec<Touching>,
}

impl Sorter {
    fn sort(&mut self, touches: &mut Vec<Touching>, key: impl Fn(&Touching) -> u128) {
        self.keys.clear();
        self.keys.extend(touches.iter().map(key).zip(0..));
        self.keys.sort_unstable();
        self.moved.clear();
        self.moved.extend(self.keys.iter().map(|&(_, k)| touches[k as usize]));
        std::mem::swap(touches, &mut self.moved);
    }

    /// In the order of contact keys.
    pub fn by_key(&mut self, touches: &mut Vec<Touching>) {
        let wide = |v: u32, by: u32| u128::from(v) << by;
        self.sort(touches, |t| wide(t.a.0, 96) | wide(t.b.0, 64) | wide(t.a.1, 32) | wide(t.b.1, 0));
    }

    /// Vertices together, the nearest face first; ties by face.
    fn by_vertex(&mut self, touches: &mut Vec<Touching>) {
        self.sort(touches, |t| {
            let (side, v) = vertex(t).unwrap_or_default();
            let face = if side == 0 { t.b.1 } else { t.a.1 };
            // what is not negative is in the order of its bits
            #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
            let gap = (t.gap.abs() as f64).to_bits();
            (side as u128) << 127 | u128::from(v & (u32::MAX >> 1)) << 96 | u128::from(gap) << 32 | u128::from(face)
        });
    }
}

/// Keeps for each vertex the nearest face on each side of it; vertices lie together afterwards. Inside a body a vertex is behind
/// all its faces: it goes out through the nearest, and a vertex that is outside of one is not inside.
pub(crate) fn thin_out(touches: &mut Vec<Touching>, sorter: &mut Sorter) {
    sorter.by_vertex(touches);
    let mut kept: usize = 0;
    let mut group = 0;
    for i in 0..touches.len() {
        let t = touches[i];
        if kept > 0 && vertex(&touches[kept - 1]) != vertex(&t) {
            group = kept;
        }
        let same_side = touches[group.min(kept)..kept].iter().any(|k| k.normal.dot(t.normal) > 0.0);
        let lost = kept > group && t.gap + t.reach < 0.0;
        if !(same_side || lost) {
            touches[kept] = t;
            kept += 1;
        }
    }
    touches.truncate(kept);
}

/// The vertices of two surfaces that have contacts, with the contacts' normals.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Of each surfel of a and b: the first of its contacts, or `NONE`.
    first: [Vec<u32>; 2],
    contacts: Vec<(usize, u32, Vec3)>,
}

impl Held {
    /// Lists the vertices of touches that were thinned out, for surfaces of so many surfels.
    pub fn list(&mut self, touches: &[Touching], surfels: [usize; 2]) -> &Self {
        for (first, count) in self.first.iter_mut().zip(surfels) {
            first.clear();
            first.resize(count, NONE);
        }
        self.contacts.clear();
        for t in touches {
            let Some((side, v)) = vertex(t) else { continue };
            let first = &mut self.first[side][v as usize];
            *first = (*first).min(self.contacts.len() as u32);
            self.contacts.push((side, v, t.normal));
        }
        self
    }

    /// True when both ends of an edge have contacts whose normals are on the same side as `normal`, of any length.
    pub fn holds(&self, side: usize, ends: [u32; 2], normal: Vec3) -> bool {
        let least = SAME_SIDE * SAME_SIDE * normal.length_squared();
        ends.iter().all(|&v| {
            let first = self.first[side][v as usize];
            if first == NONE {
                return false;
            }
            let theirs = self.contacts[first as usize..].iter().take_while(|c| (c.0, c.1) == (side, v));
            theirs.into_iter().any(|c| {
                let along = c.2.dot(normal);
                along > 0.0 && along * along > least
            })
        })
    }
}
