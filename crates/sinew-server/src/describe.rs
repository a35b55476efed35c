//! Data that the page needs before the first frame of a scene: bodies with shapes and topology, adjustable parameters
//! (knobs), the list of scenes.

use crate::geometry::source_geometry;
use crate::layer;
use crate::tune::Knob;
use serde_json::{Value, json};
use sinew::{Blueprint, BodySpec, BodyView, Geometry, Motion, Phase, Pose, Real, Shape, Vec3, World};
use sinew_scene::{AnyScene, gallery};

/// Version of the protocol. It is incremented when a page of the previous version could not decode the messages.
pub const PROTOCOL: u32 = 3;

/// Thumbnails of the scenes at build time: name and PNG.
pub static THUMBS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/thumbs.rs"));

/// The scene description as JSON.
pub fn describe(
    scene: &AnyScene,
    world: &World,
    blueprint: Option<&Blueprint>,
    knobs: &[Knob],
    revision: u32,
) -> String {
    let mut scenes: Vec<Value> = gallery::scenes().iter().map(|s| entry(s.name, s.about)).collect();
    if gallery::find(scene.name()).is_none() {
        scenes.insert(0, entry(scene.name(), scene.about()));
    }
    let camera = match scene {
        AnyScene::File(file) => file.camera(),
        AnyScene::BuiltIn(_) | AnyScene::WithLaw(..) => None,
    };
    json!({
        "kind": "scene",
        "protocol": PROTOCOL,
        "revision": revision,
        "name": scene.name(),
        "about": scene.about(),
        "dt": world.settings().dt,
        "phases": Phase::ALL.map(Phase::name),
        "layers": layer::NAMES,
        "camera": camera.map(|c| json!({ "eye": c.eye.to_array(), "target": c.target.to_array() })),
        "knobs": knobs.iter().map(Knob::describe).collect::<Vec<_>>(),
        "bodies": world.bodies().map(|b| body(&b, blueprint)).collect::<Vec<_>>(),
        "scenes": scenes,
    })
    .to_string()
}

fn entry(name: &str, about: &str) -> Value {
    let thumb = THUMBS.iter().any(|(known, _)| *known == name);
    json!({ "name": name, "about": about, "thumb": thumb })
}

fn body(view: &BodyView<'_>, blueprint: Option<&Blueprint>) -> Value {
    let motion = match view.motion() {
        Motion::Dynamic => "dynamic",
        Motion::Kinematic => "kinematic",
        Motion::Fixed => "fixed",
    };
    let slot = view.id().to_parts().0;
    let shapes: Vec<Value> =
        view.shapes().map(|(place, s)| json!({ "place": pose(&place), "shape": shape(s) })).collect();
    let mut points_of_skin = Vec::new();
    let (surfels, triangles) = match (view.particle_skin(&mut points_of_skin), view.surface()) {
        (Some(skin), _) => (skin.len(), skin.triangles().concat()),
        (None, Some(surface)) => (surface.len(), surface.triangles().concat()),
        (None, None) => (0, Vec::new()),
    };
    // particles with triangles are drawn as a triangle mesh, without radii
    let radii: Vec<[Real; 3]> = if triangles.is_empty() { points(view.particle_radii()) } else { Vec::new() };
    let spec = blueprint.and_then(|b| b.bodies.get(slot as usize)?.item.as_ref());
    let (radius, model) = match spec {
        Some(BodySpec::Particles(p)) => (p.radius, "particles"),
        Some(BodySpec::Soft(s)) => (s.thickness, s.model.name()),
        _ => (0.0, ""),
    };
    let (form, tets) = match blueprint.and_then(|b| source_geometry(b, slot)) {
        Some(Geometry::Tets(mesh)) => ("tets", mesh.tets.concat()),
        Some(Geometry::Sheet(_)) => ("sheet", Vec::new()),
        Some(Geometry::Rope(_)) => ("rope", Vec::new()),
        Some(Geometry::Points(_)) | None => ("points", Vec::new()),
    };
    json!({
        "slot": slot,
        "name": view.name(),
        "kind": if view.is_rigid() { "rigid" } else if view.is_soft() { "soft" } else { "particles" },
        "motion": motion,
        "model": model,
        "form": form,
        "radius": radius,
        "shapes": shapes,
        "triangles": triangles,
        "surfels": surfels,
        "radii": radii.concat(),
        "nodes": view.node_positions().len(),
        "tets": tets,
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
        // shapes without a drawing routine are not drawn
        _ => json!({ "type": "other" }),
    }
}
