//! Soft bodies while the world runs.

use super::SoftBodyWork;
use crate::constraint::response::BodyModels;
use crate::deformable::Deformable;
use crate::math::{Block, Real, Vec3};

/// Models of soft bodies, and the scratch of their integrators.
#[derive(Debug, Default)]
pub(crate) struct SoftWork {
    /// Models of soft bodies. Taken over by `intake`. (slots)
    pub models: Vec<Option<SoftBodyWork>>,
    /// True when the models must be refreshed because the state changed outside the step.
    pub stale: bool,
    /// Predicted positions of the nodes of the current explicit body at the end of the step [m]. Written by `plan`.
    pub heading: Vec<Block>,
    /// Forces of a body on its nodes [N]. Scratch of `guard/energy_limiter.rs`.
    pub kick: Vec<Vec3>,
    /// Velocities of explicit bodies after their own forces acted last [m/s]. (block_count)
    pub kicked: Vec<Block>,
    /// Air drag on nodes and its damping rate. Written by `predict`. (nodes of one body) [N, kg/s]
    pub drag: Vec<(Vec3, Real)>,
    /// `position_velocity` of the current soft body before its position update.
    pub before_advance: Vec<Block>,
    /// 1 for roots of islands with an implicit body. Scratch of `contact/cloth/mod.rs`. (slots)
    pub stiff_islands: Vec<u32>,
}

impl BodyModels for SoftWork {
    fn at(&self, slot: u32) -> Option<&dyn Deformable> {
        self.models.get(slot as usize)?.as_ref().map(|held| &*held.model)
    }
}
