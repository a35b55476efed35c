//! Bodies in the step: velocities, poses, input, activity, and the island of each body.

use crate::constraint::View;
use crate::constraint::response::{BodyModels, Models};
use crate::contact::route::BodyRoute;
use crate::island::Islands;
use crate::math::{Block, Pose, Quat, Real, Vec3, put, quat, vec};
use crate::model::Model;
use crate::solver::pool::Span;
use crate::state::{State, ToolAnchor, ToolMemory};

/// What every phase needs of the bodies.
#[derive(Debug, Default)]
pub(crate) struct BodyWork {
    /// Velocities of all blocks: rigid (v, 1/m | ω, –) by slot, then nodes (v, 1/m). Written by `predict`, `solve`.
    pub velocity: Vec<Block>,
    /// Velocities that move the positions: with correction. Written by `solve`. (as velocity)
    pub position_velocity: Vec<Block>,
    /// Poses: rigid (x, – | q) by slot, then node positions. Written by `advance`. (as velocity)
    pub pose: Vec<Block>,
    /// Inverse inertia in world axes (xx yy zz xy | xz yz – –). Written by `predict`. (two a slot)
    pub inertia: Vec<Block>,
    /// Rounding remainders of the positions [m]. Written by `advance`. (slots)
    pub x_remainder: Vec<Vec3>,
    /// Rounding remainders of the velocities [m/s]. Written by `predict`. (slots)
    pub v_remainder: Vec<Vec3>,
    /// Forces of this step's input on rigid bodies, force then torque [N, N·m]. Written by `intake`. (slots)
    pub force: Vec<[Vec3; 2]>,
    /// Forces of this step's input on nodes [N]. Written by `intake`. (nodes)
    pub node_force: Vec<Vec3>,
    /// Whether there is such a force. Written by `intake`.
    pub nodes_pushed: bool,
    /// Time at the end of the step, for loads that rise [s]. Written by `intake`.
    pub time: Real,
    /// All external forces on nodes of soft bodies, gravity among them [N]. Written by `predict`. (nodes)
    pub node_total: Vec<Vec3>,
    /// True for bodies with pinned nodes or axes. Written by `intake`. (slots)
    pub supported: Vec<bool>,
    /// Momentum of the nodes that are not pinned, at the start of the step [N·s]; 0 of bodies without supports. Written by
    /// `intake`. (slots)
    pub momentum_before: Vec<Vec3>,
    /// Impulse of external forces and damping on all nodes of a soft body in the step [N·s]; none where `predict` does
    /// not gather forces, and without supports. (slots)
    pub pushed: Vec<Option<Vec3>>,
    /// Internal state of the models. Loaded by `detect`, written by `advance`. (as State)
    pub internal_state: Vec<Real>,
    /// Commanded motion of tools and points held by them. Loaded by `detect`. (as State)
    pub tools: Vec<ToolMemory>,
    pub tool_anchors: Vec<ToolAnchor>,
    /// True for bodies that may move in the step, or are driven. Written by `detect`, before contacts are found: a body
    /// at rest can still be woken. (slots)
    pub moves: Vec<bool>,
    /// True for dynamic bodies that are not frozen, awake or asleep. Written by `detect`. (slots)
    pub movable: Vec<bool>,
    /// True for bodies that are solved in this step: dynamic, awake, not frozen. Written by `detect`. (slots)
    pub active: Vec<bool>,
    /// Slots of active rigid bodies in sweep islands, ascending. Written by `detect`.
    pub active_rigid: Vec<u32>,
    /// Slots of active node bodies in sweep islands, ascending. Written by `detect`.
    pub active_nodes: Vec<u32>,
    /// How each body is solved. Written by `plan`. (slots)
    pub body_routes: Vec<BodyRoute>,
    pub islands: Islands,
    /// True for bodies with a contact or joint to a body that cannot move; after `fall_asleep` for roots of islands
    /// too. Written by `detect`. (slots)
    pub anchored: Vec<bool>,
    /// 1 for roots of islands that are awake. Scratch of `detect`. (slots)
    pub woken: Vec<u32>,
    /// 1 for roots of islands with a body that is not ready to sleep. Scratch of `remember`. (slots)
    pub restless: Vec<u32>,
    /// Ranges of the nodes of bodies among all nodes, ascending, and the slots of their bodies. Rebuilt when the model
    /// changes.
    pub node_spans: Vec<Span>,
    pub node_owners: Vec<u32>,
    /// Poses of the origins at the start of the step, for drawing between steps. (slots)
    pub previous: Vec<Pose>,
    /// Last valid pose of each body, for the rollback of corrupted ones. (slots)
    pub good: Vec<Pose>,
    /// True for bodies that keep their values in State, because the step gave invalid numbers. Written by `remember`.
    /// (slots)
    pub rolled_back: Vec<bool>,
    /// 1 for bodies of nodes that may have an invalid number. Written by `intake`. (slots)
    pub suspects: Vec<u32>,
}

impl BodyWork {
    /// The bodies at their present poses, for rows of constraints.
    pub fn view<'a>(&'a self, model: &'a Model, soft: &'a dyn BodyModels, h: Real) -> View<'a> {
        let Self { velocity, pose, inertia, internal_state, tools, tool_anchors: anchors, .. } = self;
        View { model, velocity, pose, inertia, soft, internal_state, tools, anchors, elapsed: 0.0, h }
    }

    /// Inverse inertia of bodies in world axes, at their present orientation.
    pub fn turn_inertia(&mut self, model: &Model, slots: &[u32]) {
        for &slot in slots {
            let i = slot as usize;
            let Some(rigid) = model.rigid_at(slot) else { continue };
            // the inertia of a cube or a ball is the same in every orientation
            let inv = if rigid.gyroscopic {
                rigid.inv_inertia.rotated(quat(self.pose[2 * i + 1]))
            } else {
                rigid.inv_inertia
            };
            self.inertia[2 * i] = [inv.xx, inv.yy, inv.zz, inv.xy];
            self.inertia[2 * i + 1] = [inv.xz, inv.yz, 0.0, 0.0];
        }
    }

    /// Puts a rigid body elsewhere. Its angular velocity turns with it, so that its kinetic energy stays: that of a slim
    /// body depends on the direction of its axis.
    pub fn put_rigid(&mut self, model: &Model, slot: usize, x: Vec3, q: Quat) {
        if model.rigid_at(slot as u32).is_some_and(|r| r.gyroscopic && r.is_dynamic()) {
            let turn = q * quat(self.pose[2 * slot + 1]).inverse();
            let spin = turn * vec(self.velocity[2 * slot + 1]);
            put(&mut self.velocity[2 * slot + 1], spin);
        }
        put(&mut self.pose[2 * slot], x);
        self.pose[2 * slot + 1] = q.to_array();
    }

    /// Copies the tools of a state.
    pub fn load_tools(&mut self, state: &State) {
        self.tools.clear();
        self.tools.extend_from_slice(&state.tools);
        self.tool_anchors.clear();
        self.tool_anchors.extend_from_slice(&state.tool_anchors);
    }

    /// The models of soft bodies at their present state.
    pub fn models<'a>(&'a self, soft: &'a dyn BodyModels) -> Models<'a> {
        let Self { velocity, pose, internal_state, .. } = self;
        Models { soft, pose, velocity, internal_state }
    }
}
