//! Contact of soft bodies with others: force, area and peak pressure of each pair, pressure at each surface point.
//! Computed by the encoder from the contacts of a snapshot, so that the physics thread only copies the contacts.

use crate::snapshot::Snapshot;
use sinew::{BodyId, GraspForce, Real, Vec3};

/// Maximum number of pairs in a frame: a pile of soft bodies has more than a table can show.
const MOST: usize = 64;

/// Contact forces and pressures of soft bodies.
#[derive(Debug, Default)]
pub struct Pressures {
    /// Slots of the soft body and of the other body, and the contact of the first on the second.
    pub grips: Vec<(u32, u32, GraspForce)>,
    /// Pressure at the surface points of soft bodies in contact, by slot [Pa].
    pub bodies: Vec<(u32, Vec<Real>)>,
}

/// Computes the contact pairs and pressures of a snapshot.
pub fn pressures(snapshot: &Snapshot) -> Pressures {
    let (mut out, mut points) = (Pressures::default(), Vec::new());
    for body in &snapshot.geometry.soft {
        let Some(x) = snapshot.x.get(body.nodes.clone()) else { continue };
        let mut places: Vec<Vec3> = Vec::with_capacity(body.surface.len());
        let mut pressure = Vec::new();
        for (finger, object) in partners(snapshot, body.slot) {
            if out.grips.len() == MOST {
                return out;
            }
            if pressure.is_empty() {
                body.surface.positions(x, &mut places);
                pressure = vec![0.0; body.surface.len()];
            }
            let surface = (&places[..], body.surface.triangles());
            let grip = GraspForce::of(&snapshot.contacts, finger, object, Some(surface), &mut points);
            points.iter().for_each(|p| pressure[p.surfel as usize] += p.pressure);
            out.grips.push((body.slot, object.to_parts().0, grip));
        }
        if !pressure.is_empty() {
            out.bodies.push((body.slot, pressure));
        }
    }
    out
}

/// The body in a slot paired with each other body in contact with it, in the order of their slots.
fn partners(snapshot: &Snapshot, slot: u32) -> Vec<(BodyId, BodyId)> {
    let is = |id: BodyId| id.to_parts().0 == slot;
    let pair = |a: BodyId, b: BodyId| if is(a) { Some((a, b)) } else { is(b).then_some((b, a)) };
    let mut all: Vec<(BodyId, BodyId)> = snapshot.contacts.iter().filter_map(|c| pair(c.a, c.b)).collect();
    all.retain(|(a, b)| a != b);
    all.sort_unstable_by_key(|(_, b)| b.to_parts());
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::SceneGeometry;
    use crate::layer::Layers;
    use sinew::{ElasticMaterial, Input, RigidBody, Shape, SoftBody, TetMesh, World};
    use std::sync::Arc;

    #[test]
    fn a_block_presses_the_floor_with_its_weight_over_its_footprint() {
        let mut world = World::default();
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
        let mesh = TetMesh::block([4, 2, 4], Vec3::new(0.2, 0.1, 0.2)).unwrap();
        let matter = ElasticMaterial::new(1e6, 0.3, 1000.0).damping(0.02);
        world.add_soft(SoftBody::corotational(mesh, matter).at([0.0, 0.0505, 0.0])).unwrap();
        for _ in 0..240 {
            world.step(&Input::none());
        }
        let mut snapshot = Snapshot {
            geometry: Arc::new(SceneGeometry::new(&world, world.blueprint().ok().as_ref(), 1)),
            ..Snapshot::default()
        };
        snapshot.take(&world, Layers::PRESSURE);
        let pressures = pressures(&snapshot);
        let [(finger, object, grip)] = pressures.grips[..] else { panic!("{pressures:?}") };
        assert_eq!((finger, object), (1, 0));
        // 4 kg
        let weight = 0.2 * 0.1 * 0.2 * 1000.0 * 9.81;
        assert!((-grip.force.y / weight - 1.0).abs() < 0.01, "{grip:?}");
        // the surface points in contact also represent a part of the sides: a third of the first row's triangles
        assert!(grip.area > 0.04 * 0.99 && grip.area < 0.04 + 0.8 * 0.05, "{grip:?}");
        let [(slot, pressure)] = &pressures.bodies[..] else { panic!("{pressures:?}") };
        let most = pressure.iter().copied().fold(0.0, Real::max);
        assert!(*slot == 1 && (most / grip.peak - 1.0).abs() < 1e-5, "{most} {grip:?}");
    }
}
