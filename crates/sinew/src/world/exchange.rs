//! Exchange of the deformation model of a body while the world runs.

use super::{World, edit};
use crate::error::Error;
use crate::math::{Block, Mat3, Real, Vec3, nearest_rotation, outer};
use crate::model::exchange::{Exchange, SourceState, TargetBody, exchange};
use crate::model::surface::BindOptions;
use crate::model::{Body, BodyId, NodeSource, Nodes, SoftBody, Start};

impl World {
    /// Replaces the model of a soft body: other elements, another mesh, another family. Shape, position, velocity,
    /// linear and angular momentum are transferred from the old nodes to the new ones, see
    /// [`exchange`](fn@crate::exchange); when both have an embedded surface mesh (skin) with the same number of points,
    /// that mesh keeps its shape.
    ///
    /// `body` is in the coordinates of the old rest shape; its pose, velocity and spin are not used. The new body has a
    /// new id; the constraints of the old one are removed with it, and so are the internal variables of its model
    /// (plastic flow). The pinned nodes are those of the new body. On an error the world is unchanged.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let block = |cells| TetMesh::block([cells; 3], Vec3::splat(0.1));
    /// let matter = ElasticMaterial::new(2e4, 0.3, 1000.0);
    /// let coarse = SoftBody::corotational(block(2)?, matter).at([0.0, 1.0, 0.0]).velocity([1.0, 0.0, 0.0]);
    /// let coarse = world.add_soft(coarse)?;
    /// world.step(&Input::none());
    /// let (fine, report) = world.exchange_model(coarse, SoftBody::corotational(block(4)?, matter))?;
    /// assert!(world.body(coarse).is_err() && world.body(fine)?.node_positions().len() == 125);
    /// assert!((report.kinetic[0] - report.kinetic[1]).abs() < 1e-3 * report.kinetic[0]);
    /// # Ok(()) }
    /// ```
    pub fn exchange_model(&mut self, id: BodyId, body: SoftBody) -> Result<(BodyId, Exchange), Error> {
        let old = match self.model.body(id)? {
            Body::Rigid(_) => return Err(Error::WrongKind(id, "rigid body", "soft body")),
            Body::Nodes(nodes) => nodes,
        };
        let NodeSource::Soft(source) = &old.source else {
            return Err(Error::WrongKind(id, "set of particles", "soft body"));
        };
        let refuse = |reason: String| Error::BadShape { shape: "exchanged model".into(), reason };
        let both_skinned = source.skin.is_some() && body.skin.is_some();
        let old_rest = source.build("soft body")?.rest;
        // after all others, once the old one is removed
        let start = self.model.node_count - old.inv_mass.len();
        let internal_state_start = self.model.internal_state_count - old.internal_state_count as usize;
        let rest = body.build("exchanged model")?.rest;
        let (new, mut begin) = Nodes::of_soft(body, start as u32, internal_state_start as u32)?;

        let block = |v: &Vec3, w: Real| -> Block { [v.x, v.y, v.z, w] };
        let x: Vec<Block> = self.state.node_x[old.span()].iter().map(|x| block(x, 0.0)).collect();
        let v: Vec<Block> = self.state.node_v[old.span()].iter().map(|v| block(v, 0.0)).collect();
        let same_skin = both_skinned && old.surface.len() == new.surface.len();
        let leaving = SourceState {
            rest: &old_rest,
            masses: &old.mass,
            x: &x,
            v: &v,
            surface: same_skin.then_some(&old.surface),
        };
        let entering = TargetBody { rest: &rest, masses: &new.mass, surface: same_skin.then_some(&new.surface) };
        let done = exchange(&leaving, &entering, BindOptions::default()).map_err(|e| refuse(e.to_string()))?;
        begin.positions = done.x.iter().map(|x| Vec3::new(x[0], x[1], x[2])).collect();
        let moving = done.v.iter().zip(&new.inv_mass);
        begin.velocities =
            moving.map(|(v, &m)| if m > 0.0 { Vec3::new(v[0], v[1], v[2]) } else { Vec3::ZERO }).collect();
        turn_particles(&new, &rest, &mut begin);

        edit::remove_body(&mut self.model, &mut self.state, id)?;
        Ok((edit::add_nodes(&mut self.model, &mut self.state, new, begin), done))
    }
}

/// Oriented particles get the mean rotation of the body; the old model contains no more information.
fn turn_particles(new: &Nodes, rest: &[Vec3], begin: &mut Start) {
    let Some(model) = new.fresh.as_ref().filter(|_| !new.radii.is_empty()) else { return };
    let (mut total, mut from, mut to) = (0.0, Vec3::ZERO, Vec3::ZERO);
    for ((&m, &r), &x) in new.mass.iter().zip(rest).zip(&begin.positions) {
        (total, from, to) = (total + m, from + r * m, to + x * m);
    }
    let (from, to) = (from / total, to / total);
    let parts = new.mass.iter().zip(rest).zip(&begin.positions);
    let moment = parts.fold(Mat3::ZERO, |sum, ((&m, &r), &x)| sum + outer(x - to, r - from) * m);
    model.start(nearest_rotation(&moment), Vec3::ZERO, &mut begin.internal_state);
}
