//! What soft bodies do to rigid ones at the end of a run: force, contact area, pressure.

use crate::output::short;
use serde::Serialize;
use sinew::{BodyId, BodyView, Motion, World};

/// Maximum number of reported pairs.
const MOST: usize = 32;

/// What one body does to another, mean over the last step.
#[derive(Clone, Debug, Serialize)]
pub struct Pressing {
    /// The soft one.
    pub finger: String,
    /// The rigid one.
    pub object: String,
    /// Force on the object [N].
    pub force: [f64; 3],
    /// Sum of the normal forces [N].
    pub normal: f64,
    /// Surface that presses [m²].
    pub area: f64,
    /// Largest pressure [Pa].
    pub peak: f64,
}

/// All soft bodies that press on rigid ones that forces move.
pub fn grips(world: &World) -> Vec<Pressing> {
    let mut pairs: Vec<(BodyId, BodyId)> = Vec::new();
    for pair in &world.report().pairs {
        for (finger, object) in [(pair.a, pair.b), (pair.b, pair.a)] {
            let soft = world.body(finger).is_ok_and(|b| b.is_soft());
            let held = world.body(object).is_ok_and(|b| b.is_rigid() && b.motion() == Motion::Dynamic);
            if soft && held && pair.normal > 0.0 && !pairs.contains(&(finger, object)) {
                pairs.push((finger, object));
            }
        }
    }
    pairs.sort_by_key(|(finger, object)| (finger.to_parts(), object.to_parts()));
    let mut points = Vec::new();
    let name = |id: BodyId| world.body(id).map_or_else(|_| String::new(), |b| called(&b));
    let mut out = Vec::new();
    for (finger, object) in pairs.into_iter().take(MOST) {
        let Ok(grip) = world.grasp_force(finger, object, &mut points) else { continue };
        out.push(Pressing {
            finger: name(finger),
            object: name(object),
            force: grip.force.to_array().map(short),
            normal: short(grip.normal),
            area: short(grip.area),
            peak: short(grip.peak),
        });
    }
    out
}

/// The name of a body, or its slot.
pub fn called(body: &BodyView<'_>) -> String {
    if body.name().is_empty() { format!("#{}", body.id().to_parts().0) } else { body.name().to_owned() }
}
