//! Contacts between ellipsoidal nodes of two bodies, or of one: ellipsoid against ellipsoid.
//!
//! Pairs are found by sweep and prune along x over bounding spheres of the particles; the normal is the direction of
//! largest separation (`collision/ellipsoid.rs`). The contact is one of surfaces between two vertices;
//! `contact/point.rs` treats them as ellipsoids and applies the impulses at their surfaces, so that friction rotates
//! them.

use crate::collision::Ellipsoid;
use crate::collision::surface::feature;
use crate::contact::find::surfel::remember;
use crate::deformable::rotation;
use crate::math::{Real, Vec3};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::state::{ContactKey, State, contact_flag};
use crate::work::{BodyWork, ContactWork, DetectWork};

/// A sphere around all positions that a particle may have within the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// Smallest and largest x [m].
    low: Real,
    high: Real,
    slot: u32,
    node: u32,
    /// Largest displacement within the step, with margin [m].
    reach: Real,
}

/// Finds contacts of all pairs of ellipsoidal nodes; appends them to the step's contacts.
pub(crate) fn find(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    settings: &Settings,
) {
    let mut around = std::mem::take(&mut detect.particles_around);
    around.clear();
    let still = settings.contact_margin + settings.gravity.length() * settings.dt * settings.dt;
    for (slot, _) in model.bodies.iter() {
        let Some(nodes) = model.nodes_at(slot).filter(|n| n.touches()) else { continue };
        for (k, radii) in nodes.radii.iter().enumerate() {
            let n = nodes.start as usize + k;
            let reach = still + 2.0 * settings.dt * state.node_v[n].length();
            let size = radii.max_element() + nodes.traits.radius + reach;
            let x = state.node_x[n].x;
            around.push(Around { low: x - size, high: x + size, slot, node: k as u32, reach });
        }
    }
    around.sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then((a.slot, a.node).cmp(&(b.slot, b.node))));
    for (k, first) in around.iter().enumerate() {
        for second in around[k + 1..].iter().take_while(|s| s.low <= first.high) {
            let (a, b) =
                if (first.slot, first.node) < (second.slot, second.node) { (first, second) } else { (second, first) };
            look(model, state, bodies, contact, settings, (a, b));
        }
    }
    detect.particles_around = around;
}

fn look(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    settings: &Settings,
    (a, b): (&Around, &Around),
) {
    if !bodies.moves[a.slot as usize] && !bodies.moves[b.slot as usize] {
        return;
    }
    let (Some(nodes_a), Some(nodes_b)) = (model.nodes_at(a.slot), model.nodes_at(b.slot)) else { return };
    let own = a.slot == b.slot;
    let thick = nodes_a.traits.radius + nodes_b.traits.radius;
    if own && !(nodes_a.traits.self_contact && far_at_rest(nodes_a, a.node, b.node, thick)) {
        return;
    }
    if !own && (!nodes_a.traits.groups.meets(nodes_b.traits.groups) || model.collision_excluded(a.slot, b.slot)) {
        return;
    }
    let place = |nodes: &Nodes, node: u32| state.node_x[(nodes.start + node) as usize];
    let between = place(nodes_b, b.node) - place(nodes_a, a.node);
    let (one, two) = (shape(nodes_a, state, a.node), shape(nodes_b, state, b.node));
    let far = one.radii.max_element() + two.radii.max_element() + thick + a.reach + b.reach;
    if between.length_squared() > far * far {
        return;
    }
    let (normal, gap) = crate::collision::apart(&one, &two, between);
    let standoff = if own { 0.0 } else { settings.standoff() };
    if gap - thick - standoff > a.reach + b.reach {
        return;
    }
    let (collider_a, collider_b) = (feature::VERTEX, feature::VERTEX);
    let key = ContactKey { a: a.slot, b: b.slot, collider_a, collider_b, sub_a: a.node, sub_b: b.node };
    let mut m = remember(state, key, normal, thick + standoff);
    m.flags |= contact_flag::SURFACE;
    m.points[0].local_a = Vec3::X;
    m.points[0].local_b = Vec3::X;
    contact.contacts.push(m);
}

/// The ellipsoid of a particle at its orientation in State.
pub(crate) fn shape(nodes: &Nodes, state: &State, node: u32) -> Ellipsoid {
    let rotation = rotation::orientation(&state.internal_state[nodes.internal_state_span()], node as usize);
    Ellipsoid { radii: nodes.radii[node as usize], rotation }
}

/// True for particles that do not overlap at rest; pairs closer than that have no contact.
fn far_at_rest(nodes: &Nodes, a: u32, b: u32, thick: Real) -> bool {
    let [p, q] = [a, b].map(|n| nodes.particle_rest[n as usize]);
    let [r, s] = [a, b].map(|n| nodes.radii[n as usize].max_element());
    p.distance(q) > r + s + thick
}
