//! Contact reduction: vertex contacts that support a surface, and edge contacts that they make redundant.
//!
//! Of the faces near a vertex the nearest on each side counts. A contact of two crossing edges is omitted where one of
//! the two edges has contacts on the same side at both ends and the penetration is not deep: no point between the ends
//! is nearer by more than the curvature of the surface allows, and the constraint row would be linearly dependent
//! on theirs.

use super::{Touching, feature};
use crate::math::{Real, Vec3};
use crate::model::surface::NONE;

/// Smallest cosine between normals that count as on the same side: 10 degrees, so that an edge of length l may sag l/50
/// between its ends.
const SAME_SIDE: Real = 0.985;

/// The vertex of a contact, with its side: 0 for a.
fn vertex(t: &Touching) -> Option<(usize, u32)> {
    match (t.a, t.b) {
        ((feature::VERTEX, v), (feature::FACE, _)) => Some((0, v)),
        ((feature::FACE, _), (feature::VERTEX, v)) => Some((1, v)),
        _ => None,
    }
}

/// Sorts contacts by keys that are computed once; records are larger, and are moved once.
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

    /// Grouped by vertex, the nearest face first; ties are resolved by face.
    fn by_vertex(&mut self, touches: &mut Vec<Touching>) {
        self.sort(touches, |t| {
            let (side, v) = vertex(t).unwrap_or_default();
            let face = if side == 0 { t.b.1 } else { t.a.1 };
            // the bit patterns of non-negative floating-point numbers have the order of the numbers
            #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
            let gap = (t.gap.abs() as f64).to_bits();
            (side as u128) << 127 | u128::from(v & (u32::MAX >> 1)) << 96 | u128::from(gap) << 32 | u128::from(face)
        });
    }
}

/// Keeps for each vertex the nearest face on each side of it; contacts of one vertex are consecutive afterwards. A
/// vertex inside a body is behind all its faces: it is pushed out through the nearest, and a vertex in front of one
/// face is not inside.
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
    /// For each surfel of a and b: its first contact, or `NONE`.
    first: [Vec<u32>; 2],
    contacts: Vec<(usize, u32, Vec3)>,
}

impl Held {
    /// Lists the vertices of contacts reduced by `thin_out`, for surfaces with these numbers of surfels.
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

    /// True when both ends of an edge have contacts whose normals are on the same side as `normal`, which may have any
    /// length.
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
