//! What the page draws: a description of the scene once, and a frame of numbers a step.
//!
//! A frame is little-endian words of four bytes, so that the page reads it through one `Float32Array` and one `Uint32Array`
//! over the same bytes:
//!
//! ```text
//!   'SNF1' | tick | time [s] | step time [ms] | number of rigid bodies | number of node bodies | number of contacts
//!   rigid body:  slot | x y z [m] | qx qy qz qw
//!   node body:   slot | number of surface points | x y z [m] each
//!   contact:     x y z [m] | force on b x y z [N]
//! ```

use serde::Serialize;
use serde_json::{Value, json};
use sinew::{BodyView, Motion, Pose, Real, Shape, Vec3, World};
use sinew_scene::{AnyScene, gallery};

const MAGIC: u32 = u32::from_le_bytes(*b"SNF1");

/// One frame of a world.
pub fn encode(world: &World, step_ms: f64) -> Vec<u8> {
    let mut out = Words::default();
    let rigid: Vec<BodyView<'_>> = world.bodies().filter(BodyView::is_rigid).collect();
    let nodes: Vec<BodyView<'_>> = world.bodies().filter(|b| !b.is_rigid()).collect();
    let contacts = &world.report().contacts;
    out.word(MAGIC);
    out.word(world.state().tick as u32);
    out.real(world.time() as Real);
    out.real(step_ms as Real);
    out.word(rigid.len() as u32);
    out.word(nodes.len() as u32);
    out.word(contacts.len() as u32);
    for body in rigid {
        out.word(body.id().to_parts().0);
        out.vector(body.position());
        body.rotation().to_array().into_iter().for_each(|q| out.real(q));
    }
    for body in nodes {
        let count = body.surface().map_or(0, |s| s.len() as u32);
        out.word(body.id().to_parts().0);
        out.word(count);
        (0..count).for_each(|k| out.vector(body.surface_point(k).unwrap_or(Vec3::ZERO)));
    }
    for c in contacts {
        out.vector(c.point);
        out.vector(c.force);
    }
    out.0
}

#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn word(&mut self, w: u32) {
        self.0.extend_from_slice(&w.to_le_bytes());
    }

    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f64 build")]
    fn real(&mut self, r: Real) {
        self.0.extend_from_slice(&(r as f32).to_le_bytes());
    }

    fn vector(&mut self, v: Vec3) {
        v.to_array().into_iter().for_each(|x| self.real(x));
    }
}

/// What the page must know before the first frame.
#[derive(Serialize)]
pub struct Description {
    kind: &'static str,
    name: String,
    about: String,
    dt: Real,
    bodies: Vec<Value>,
    scenes: Vec<Value>,
}

/// The scene and its bodies.
pub fn describe(scene: &AnyScene, world: &World) -> Description {
    Description {
        kind: "scene",
        name: scene.name().to_owned(),
        about: scene.about().to_owned(),
        dt: world.settings().dt,
        bodies: world.bodies().map(|b| body(&b)).collect(),
        scenes: gallery::scenes().iter().map(|s| json!({ "name": s.name, "about": s.about })).collect(),
    }
}

fn body(view: &BodyView<'_>) -> Value {
    let motion = match view.motion() {
        Motion::Dynamic => "dynamic",
        Motion::Kinematic => "kinematic",
        Motion::Fixed => "fixed",
    };
    let shapes: Vec<Value> =
        view.shapes().map(|(place, s)| json!({ "place": pose(&place), "shape": shape(s) })).collect();
    let triangles = view.surface().map(|s| s.triangles().to_vec()).unwrap_or_default();
    json!({
        "slot": view.id().to_parts().0,
        "name": view.name(),
        "kind": if view.is_rigid() { "rigid" } else if view.is_soft() { "soft" } else { "particles" },
        "motion": motion,
        "shapes": shapes,
        "triangles": triangles,
        "surfels": view.surface().map_or(0, |s| s.len()),
    })
}

fn pose(pose: &Pose) -> Value {
    json!({ "position": pose.position.to_array(), "rotation": pose.rotation.to_array() })
}

fn points(list: &[Vec3]) -> Vec<[Real; 3]> {
    list.iter().map(|p| p.to_array()).collect()
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Ball { radius } => json!({ "type": "ball", "radius": radius }),
        Shape::Box { half_extents } => json!({ "type": "box", "half": half_extents.to_array() }),
        Shape::Capsule { half_height, radius } => json!({ "type": "capsule", "half": half_height, "radius": radius }),
        Shape::Cylinder { half_height, radius } => json!({ "type": "cylinder", "half": half_height, "radius": radius }),
        Shape::Cone { half_height, radius } => json!({ "type": "cone", "half": half_height, "radius": radius }),
        Shape::HalfSpace { normal } => json!({ "type": "plane", "normal": normal.to_array() }),
        Shape::ConvexHull { points: list } => json!({ "type": "hull", "points": points(list) }),
        Shape::Compound { parts } => {
            let parts: Vec<Value> =
                parts.iter().map(|(p, s)| json!({ "place": pose(p), "shape": self::shape(s) })).collect();
            json!({ "type": "compound", "parts": parts })
        }
        Shape::TriMesh { vertices, triangles } => {
            json!({ "type": "mesh", "points": points(vertices), "triangles": triangles.to_vec() })
        }
        Shape::HeightField { heights, rows, scale } => {
            json!({ "type": "heights", "heights": heights.to_vec(), "rows": rows, "scale": scale.to_array() })
        }
        // what has no picture yet is not drawn
        _ => json!({ "type": "other" }),
    }
}
