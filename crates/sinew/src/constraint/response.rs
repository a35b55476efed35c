//! Terms of an impulse on a body whose model computes its response (`Deformable::lower`, `Deformable::respond`). Bodies
//! whose coordinates are point nodes do not come here: their response is an inverse mass, which the callers multiply.

use super::row::Term;
use crate::deformable::{BodyRef, Deformable, SurfacePoint};
use crate::math::{Block, Real, Vec3};
use crate::model::surface::Share;
use crate::model::{Model, Nodes};

/// Impulses on coordinates that are passed to a model at once. A response is linear: more are passed in several calls.
const AT_ONCE: usize = 16;

/// The deformable models of bodies, by slot.
pub(crate) trait BodyModels: std::fmt::Debug + Sync {
    /// The model of a body; none for a body without one.
    fn at(&self, slot: u32) -> Option<&dyn Deformable>;
}

/// The models of all bodies and the state that their response depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Models<'a> {
    pub soft: &'a dyn BodyModels,
    /// Positions and orientations of all bodies.
    pub pose: &'a [Block],
    /// Velocities of all bodies.
    pub velocity: &'a [Block],
    pub internal_state: &'a [Real],
}

/// The point of a body that an impulse acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActsOn<'a> {
    pub slot: u32,
    pub nodes: &'a Nodes,
    /// Nodes that the point is bound to, with their weights.
    pub shares: &'a [Share],
    /// Point of action [m].
    pub at: Vec3,
}

impl Models<'_> {
    /// Terms of an impulse at a point of a body. `merge` must add terms of the same block.
    pub fn terms(&self, model: &Model, on: ActsOn<'_>, impulse: Vec3, mut merge: impl FnMut(Term)) {
        let Some(deformable) = self.soft.at(on.slot) else { return };
        let blocks = model.blocks_of(on.nodes);
        let count = blocks.len() as u32;
        let body = BodyRef {
            x: &self.pose[blocks.clone()],
            v: &self.velocity[blocks],
            internal_state: &self.internal_state[on.nodes.internal_state_span()],
        };
        // a user's model may name a coordinate that the body does not have
        let coordinate_count = if on.nodes.radii.is_empty() { count } else { 2 * count };
        let block = |coordinate: u32| match coordinate.checked_sub(count) {
            None => model.node_block(on.nodes.start + coordinate),
            Some(node) => model.spin_block(on.nodes.start + node),
        };
        let mut impulses = [(0, Vec3::ZERO); AT_ONCE];
        let mut len = 0;
        let mut emit = |impulses: &[(u32, Vec3)]| {
            let mut responses = [None; AT_ONCE];
            deformable.respond(body, impulses, &mut |coordinate, change| match impulses
                .iter()
                .position(|p| p.0 == coordinate)
            {
                Some(k) => responses[k] = Some(responses[k].map_or(change, |sum: Vec3| sum + change)),
                None if coordinate >= coordinate_count => {}
                None => merge(Term { block: block(coordinate), jacobian: Vec3::ZERO, response: change }),
            });
            for (&(coordinate, jacobian), response) in impulses.iter().zip(responses) {
                merge(Term { block: block(coordinate), jacobian, response: response.unwrap_or(Vec3::ZERO) });
            }
        };
        deformable.lower(body, SurfacePoint { shares: on.shares, at: on.at }, impulse, &mut |coordinate, part| {
            if coordinate >= coordinate_count {
                return;
            }
            if len == AT_ONCE {
                emit(&impulses);
                len = 0;
            }
            impulses[len] = (coordinate, part);
            len += 1;
        });
        emit(&impulses[..len]);
    }
}

/// Adds a term to those of a row, or to the one on the same block.
pub(crate) fn merge(out: &mut Vec<Term>, term: Term) {
    match out.iter_mut().find(|t| t.block == term.block) {
        Some(t) => (t.jacobian, t.response) = (t.jacobian + term.jacobian, t.response + term.response),
        None => out.push(term),
    }
}
