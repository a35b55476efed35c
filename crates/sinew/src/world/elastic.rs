//! Evaluation of a soft body: its elastic energy, forces and stresses, at the present or at given node positions.

use super::World;
use crate::deformable::{BodyRef, Deformable, ElementStress};
use crate::error::Error;
use crate::math::{Block, Real, Vec3};
use crate::model::{Body, BodyId, Nodes};

/// The elastic state of a soft body at given node positions. Nothing here changes the world.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::corotational(block.clone(), ElasticMaterial::new(1e5, 0.0, 1000.0)))?;
/// // stretched by a tenth along x: E ε²/2 per cubic metre, and the stress is E ε
/// let pulled: Vec<Vec3> = block.vertices.iter().map(|x| *x * Vec3::new(1.1, 1.0, 1.0)).collect();
/// let view = world.elastic(body)?.at(&pulled);
/// assert!((view.energy() - 0.5 * 1e5 * 0.01 * 1e-3).abs() < 1e-3);
/// assert!(view.stress().iter().all(|s| (s.stress.xx - 1e4).abs() < 10.0));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ElasticView<'a> {
    model: &'a dyn Deformable,
    x: Vec<Block>,
    v: Vec<Block>,
    internal_state: &'a [Real],
}

impl World {
    /// The present elastic state of a soft body.
    pub fn elastic(&self, id: BodyId) -> Result<ElasticView<'_>, Error> {
        let wrong = |what| Error::WrongKind(id, what, "soft body");
        let nodes = match self.model.body(id)? {
            Body::Rigid(_) => return Err(wrong("rigid body")),
            Body::Nodes(nodes) => nodes,
        };
        let model = self.soft_model(id, nodes).ok_or_else(|| wrong("set of particles"))?;
        let x = self.state.node_x[nodes.span()].iter().map(|x| [x.x, x.y, x.z, 0.0]).collect();
        let moving = self.state.node_v[nodes.span()].iter().zip(&nodes.inv_mass);
        let v = moving.map(|(v, &m)| [v.x, v.y, v.z, m]).collect();
        Ok(ElasticView { model, x, v, internal_state: &self.state.internal_state[nodes.internal_state_span()] })
    }

    /// The deformation model of a body: stored in the Model until the first step, in the Work from then on.
    fn soft_model<'a>(&'a self, id: BodyId, nodes: &'a Nodes) -> Option<&'a dyn Deformable> {
        let held = self.work.soft.models.get(id.index as usize).and_then(|held| held.as_ref());
        let running = held.filter(|held| held.stamp == self.model.stamp(id.index)).map(|held| held.model.as_ref());
        nodes.fresh.as_deref().or(running)
    }
}

impl ElasticView<'_> {
    /// The same body with its nodes at these positions [m]; nodes beyond the list stay at their present positions.
    pub fn at(mut self, places: &[Vec3]) -> Self {
        for (x, p) in self.x.iter_mut().zip(places) {
            *x = [p.x, p.y, p.z, 0.0];
        }
        self
    }

    /// Elastic energy [J]. Of position based bodies that of their compliant constraints; 0 for other models with goal
    /// positions instead of forces.
    pub fn energy(&self) -> Real {
        self.model.energy(self.body())
    }

    /// Elastic forces on the nodes, including pinned ones, without damping [N]; none for models with goal positions
    /// instead, and for position based bodies with rigid constraints.
    pub fn forces(&self) -> Option<Vec<Vec3>> {
        let mut out = vec![Vec3::ZERO; self.x.len()];
        self.model.forces(self.body(), &mut out).then_some(out)
    }

    /// Strain and stress of each element; empty for models without elements.
    pub fn stress(&self) -> Vec<ElementStress> {
        let mut out = Vec::new();
        self.model.element_stress(self.body(), &mut out);
        out
    }

    fn body(&self) -> BodyRef<'_> {
        BodyRef { x: &self.x, v: &self.v, internal_state: self.internal_state }
    }
}
