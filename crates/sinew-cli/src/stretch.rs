//! Stretch of sheets, ropes and distance sets, measured from the positions of their nodes.

use sinew::{BodyId, BodySpec, ConstraintSpec, Geometry, Real, World};
use sinew_scene::validate::tools::num;

/// A pair of nodes with its length at rest [m].
type Edge = ([u32; 2], Real);

/// Edges by body.
#[derive(Default)]
pub struct Edges(Vec<(BodyId, Vec<Edge>)>);

impl Edges {
    /// Edges of all sheets and ropes, and the pairs of distance sets without a stiffness; none when the model of the
    /// world cannot be read.
    pub fn of(world: &World) -> Self {
        let Ok(blueprint) = world.blueprint() else { return Self::default() };
        let mut found = Vec::new();
        for (index, slot) in blueprint.bodies.iter().enumerate() {
            let Some(BodySpec::Soft(soft)) = &slot.item else { continue };
            let pairs = match &soft.geometry {
                Geometry::Sheet(mesh) => mesh.edges(),
                Geometry::Rope(points) => (1..points.len() as u32).map(|k| [k - 1, k]).collect(),
                Geometry::Tets(_) | Geometry::Points(_) => continue,
            };
            let rest = soft.geometry.nodes();
            let length = |[a, b]: [u32; 2]| (rest[b as usize] - rest[a as usize]).length();
            let edges = pairs.into_iter().map(|pair| (pair, length(pair))).collect();
            found.push((BodyId::from_parts(index as u32, slot.generation), edges));
        }
        for slot in blueprint.constraints.iter().filter_map(|slot| slot.item.as_ref()) {
            if let ConstraintSpec::DistanceSet(set) = slot
                && set.stiffness.is_none()
            {
                found.push((set.body, set.pairs.iter().copied().zip(set.lengths.iter().copied()).collect()));
            }
        }
        Self(found)
    }

    /// True when there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Largest stretch as a share of the length; at least 0.
    pub fn stretch(&self, world: &World) -> f64 {
        let mut most: Real = 0.0;
        for (body, edges) in &self.0 {
            let Ok(view) = world.body(*body) else { continue };
            let x = view.node_positions();
            for &([a, b], length) in edges.iter().filter(|(_, length)| *length > 0.0) {
                most = most.max((x[b as usize] - x[a as usize]).length() / length - 1.0);
            }
        }
        num(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{Diagonals, SoftBody, SoftModel, TriMesh, Vec3, fem};

    #[test]
    fn the_stretch_is_that_of_the_positions() {
        let mesh = TriMesh::sheet([3, 3], [0.3, 0.3], Diagonals::Alternating).unwrap();
        let mut world = World::default();
        let sheet = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Membrane(fem::MembraneParams::default()));
        world.add_soft(sheet.at([5.0, 1.0, 0.0])).unwrap();
        let edges = Edges::of(&world);
        assert!(!edges.is_empty() && edges.stretch(&world) < 1e-5);
        for x in &mut world.tamper().node_x {
            *x = *x * Vec3::new(1.25, 1.0, 1.0) + Vec3::Y;
        }
        assert!((edges.stretch(&world) - 0.25).abs() < 1e-5);
    }
}
