//! Rigid shapes that began inside a soft body. Contacts need a surface that was crossed from outside: a shape that
//! never did has none, and its depth is only reported.

use crate::collision::surface::{blend, point_triangle};
use crate::contact::find::surface::window;
use crate::contact::find::surfel::near_colliders;
use crate::math::{Pose, Real, Vec3};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::state::State;
use crate::tuning::inside::AROUND;
use crate::work::{BodyWork, DetectWork, SkinWork};

/// Finds the shapes whose centre is inside a solid body and that transmitted no impulse to it in the previous step; the
/// largest depth goes to `DetectWork::inside`.
pub(crate) fn find(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    settings: &Settings,
    slot: u32,
) {
    let Some(nodes) = model.nodes_at(slot).filter(|n| n.surface.is_solid()) else { return };
    let skin = detect.skins[slot as usize].as_ref().filter(|s| s.tree.is_some());
    let Some(around) = skin.and_then(|s| s.bounds) else { return };
    near_colliders(model, bodies, detect, (slot, nodes), &around);
    let DetectWork { skins, colliders, near_colliders, inside, .. } = detect;
    let Some(skin) = skins[slot as usize].as_mut() else { return };
    for &c in near_colliders.iter() {
        let collider = colliders[c as usize];
        let Some(rigid) = model.rigid_at(collider.body) else { continue };
        let built = &rigid.colliders[collider.collider as usize];
        let i = collider.body as usize;
        let placed = Pose::new(state.x[i], state.q[i]).then_inner(&built.place);
        let centre = placed.position;
        let beyond = centre.cmplt(around.min).any() || centre.cmpgt(around.max).any();
        if beyond || built.geometry.is_unbounded() || pushed(state, collider.body, slot) {
            continue;
        }
        skin.fit(nodes, window(settings));
        let (depth, outward) = nearest(nodes, skin, centre);
        if !skin.encloses(&nodes.cells, centre, AROUND * depth) {
            continue;
        }
        // the deepest point is on the side away from the nearest surface
        let deepest = built.geometry.support(&placed, -outward).unwrap_or(centre);
        let depth = if skin.encloses(&nodes.cells, deepest, AROUND * nearest(nodes, skin, deepest).0) {
            nearest(nodes, skin, deepest).0
        } else {
            depth
        };
        *inside = inside.max(depth);
    }
}

/// True when two bodies transmitted an impulse in the previous step.
fn pushed(state: &State, a: u32, b: u32) -> bool {
    let first = state.contacts.partition_point(|m| (m.key.a, m.key.b) < (a, b));
    let of_both = state.contacts[first..].iter().take_while(|m| (m.key.a, m.key.b) == (a, b));
    of_both.into_iter().any(|m| m.points[0].impulse[0] > 0.0)
}

/// Distance of a point from the surface of a body [m], and the direction to its nearest point.
fn nearest(nodes: &Nodes, skin: &SkinWork, p: Vec3) -> (Real, Vec3) {
    let mut best = (Real::INFINITY, Vec3::ZERO);
    for cell in (0..nodes.cells.corners.len() as u32).filter(|&cell| nodes.cells.is_triangle(cell)) {
        let at = nodes.cells.corners[cell as usize].map(|k| skin.x[k as usize]);
        let way = blend(at, point_triangle(p, at)) - p;
        let square = way.length_squared();
        if square < best.0 {
            best = (square, way);
        }
    }
    (best.0.sqrt(), best.1.normalize_or_zero())
}
