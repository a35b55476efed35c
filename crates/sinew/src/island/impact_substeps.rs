//! Substeps for fast impacts: as many as are needed for no approaching pair to move by more than its thickness in one,
//! within the limit of `Settings::impact_substeps`.

use crate::collision::surface::feature;
use crate::contact::point;
use crate::math::{Real, Vec3};
use crate::model::{Body, Model};
use crate::settings::Settings;
use crate::state::{ContactMemory, State, contact_flag};
use crate::work::{BodyWork, ContactWork, DetectWork};

/// Number of substeps that the contacts of the step need; 0 when none does.
pub(crate) fn needed(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &DetectWork,
    contact: &ContactWork,
    settings: &Settings,
) -> u32 {
    if settings.impact_substeps <= 1 {
        return 0;
    }
    let mut most = 0;
    for m in contact.contacts.iter().filter(|m| m.count > 0 && !m.has(contact_flag::SENSOR)) {
        let (v_a, thick_a) = side(model, state, detect, m, true, settings);
        let (v_b, thick_b) = side(model, state, detect, m, false, settings);
        let way = (v_a - v_b).length() * settings.dt;
        let thickness = thick_a.min(thick_b);
        if way <= thickness || (0..m.count as usize).all(|k| gap(model, bodies, m, k) > way) {
            continue;
        }
        let needed = (way / thickness).ceil().min(settings.impact_substeps as Real) as u32;
        most = most.max(needed);
    }
    most
}

fn gap(model: &Model, bodies: &BodyWork, m: &ContactMemory, k: usize) -> Real {
    point::place(model, &bodies.pose, m, k).map_or(Real::INFINITY, |p| p.gap)
}

/// Velocity and thickness of one side of a contact [m/s, m]. Without a thickness: the contact margin.
fn side(
    model: &Model,
    state: &State,
    detect: &DetectWork,
    m: &ContactMemory,
    first: bool,
    settings: &Settings,
) -> (Vec3, Real) {
    let (slot, kind, number) =
        if first { (m.key.a, m.key.collider_a, m.key.sub_a) } else { (m.key.b, m.key.collider_b, m.key.sub_b) };
    let or_margin = |width: Real| if width > 0.0 { width } else { settings.contact_margin };
    match model.bodies.at(slot) {
        Some(Body::Rigid(r)) => (state.v[slot as usize], or_margin(2.0 * r.thickness)),
        Some(Body::Nodes(nodes)) => {
            let at = number as usize;
            let surfel = match kind {
                feature::VERTEX => Some(number),
                feature::EDGE => nodes.cells.edges.get(at).map(|e| e[0]),
                _ => nodes.cells.corners.get(at).map(|c| c[0]),
            };
            let skin = detect.skins[slot as usize].as_ref();
            let v = skin.zip(surfel).and_then(|(s, k)| s.v.get(k as usize).copied()).unwrap_or(Vec3::ZERO);
            let thin = if nodes.surface.is_solid() { Real::INFINITY } else { or_margin(2.0 * nodes.traits.radius) };
            (v, thin)
        }
        None => (Vec3::ZERO, Real::INFINITY),
    }
}
