//! Warnings about a scene that is valid but probably not what was meant: regions without a node, bodies that start inside
//! each other.

use crate::grips::called;
use crate::output::{cell, short};
use crate::screen::note;
use sinew::{BodyId, BodySpec, Geometry, Input, Real, Settings, SoftBody, SoftModel, Vec3, World};
use sinew_scene::AnyScene;
use sinew_scene::census::edges;

/// Depth at the start that is reported [m], and the step in which it is looked for [s]: too short for contacts to push
/// bodies apart.
const DEEP: Real = 1e-3;
const SHORT_STEP: Real = 1e-5;
/// Most warnings of a kind.
const MOST: usize = 20;

/// Warns on stderr; a scene that cannot be built is reported elsewhere.
pub fn tell(scene: &AnyScene, name: &str) {
    let Ok(world) = scene.build() else { return };
    for text in empty_regions(&world).into_iter().chain(overlaps(world)) {
        note(&format!("warning: {}: {text}", cell(name)));
    }
}

/// Pinned regions that hold no node of their body.
fn empty_regions(world: &World) -> Vec<String> {
    let Ok(blueprint) = world.blueprint() else { return Vec::new() };
    let mut out = Vec::new();
    for (index, slot) in blueprint.bodies.iter().enumerate() {
        let Some(BodySpec::Soft(soft)) = &slot.item else { continue };
        let nodes = rest(soft);
        for (k, _) in soft.pinned_regions.iter().enumerate().filter(|(_, r)| !nodes.iter().any(|p| r.contains(*p))) {
            let body = world.body(BodyId::from_parts(index as u32, slot.generation));
            let body = body.map_or_else(|_| format!("#{index}"), |b| called(&b));
            out.push(format!("pinned_regions[{k}] of '{}' holds no node of it", cell(&body)));
        }
    }
    out.truncate(MOST);
    out
}

/// Nodes of a soft body at rest: those of its geometry, and the midpoints of edges of ten-node elements.
fn rest(soft: &SoftBody) -> Vec<Vec3> {
    let mut nodes = soft.geometry.nodes().to_vec();
    if let (SoftModel::Solid(params), Geometry::Tets(mesh)) = (&soft.model, &soft.geometry)
        && matches!(params.elements, sinew::fem::Elements::Tet10 | sinew::fem::Elements::Tet10Averaged)
    {
        let middle = |[a, b]: [u32; 2]| (mesh.vertices[a as usize] + mesh.vertices[b as usize]) * 0.5;
        nodes.extend(edges(mesh.tets.iter().map(<[u32; 4]>::as_slice)).into_iter().map(middle));
    }
    nodes
}

/// Pairs of bodies that a short step finds deep inside each other. The world is used up.
fn overlaps(mut world: World) -> Vec<String> {
    let settings =
        Settings { dt: SHORT_STEP, point_forces: true, intersection_free: false, ..world.settings().clone() };
    if world.set_settings(settings).is_err() {
        return Vec::new();
    }
    world.step(&Input::none());
    let name = |id: BodyId| world.body(id).map_or_else(|_| String::new(), |b| cell(&called(&b)));
    let mut pairs: Vec<(BodyId, BodyId, f64)> = Vec::new();
    for c in world.report().contacts.iter().filter(|c| c.gap < -DEEP && c.a != c.b) {
        match pairs.iter_mut().find(|p| (p.0, p.1) == (c.a, c.b)) {
            Some(p) => p.2 = p.2.max(short(-c.gap)),
            None => pairs.push((c.a, c.b, short(-c.gap))),
        }
    }
    let text = |(a, b, depth): &(BodyId, BodyId, f64)| {
        format!("'{}' and '{}' start inside each other, {:.1} mm deep", name(*a), name(*b), 1e3 * depth)
    };
    pairs.iter().take(MOST).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{ElasticMaterial, RigidBody, Shape, TetMesh};

    #[test]
    fn a_region_beside_its_body_is_named() {
        let mut world = World::default();
        let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1)).unwrap();
        let body = SoftBody::corotational(block, ElasticMaterial::jelly()).named("jelly");
        let body = body.pin_region([-1.0, -1.0, -1.0], [1.0, 0.0, 1.0]).pin_region([2.0, 2.0, 2.0], [3.0, 3.0, 3.0]);
        world.add_soft(body).unwrap();
        assert_eq!(empty_regions(&world), ["pinned_regions[1] of 'jelly' holds no node of it"]);
    }

    #[test]
    fn bodies_inside_each_other_are_named_and_bodies_that_touch_are_not() {
        for (height, expected) in [(0.18, 1), (0.2, 0), (0.3, 0)] {
            let mut world = World::default();
            world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.1, 0.1, 0.1)).named("low")).unwrap();
            let high = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).named("high");
            world.add_rigid(high.at([0.0, height, 0.0])).unwrap();
            let found = overlaps(world);
            assert_eq!(found.len(), expected, "{height}: {found:?}");
            assert!(found.iter().all(|t| t.starts_with("'low' and 'high' start inside each other")), "{found:?}");
        }
    }
}
