//! The world: the only owner of model, state, work and settings.

mod add;
mod blueprint;
mod combined;
mod compliance;
pub(crate) mod edit;
mod elastic;
mod elements;
mod exchange;
mod follow;
mod grasp;
mod query;
mod query_soft;
mod seam;
mod tool;
mod topology;
mod view;

pub use add::Addition;
pub use blueprint::{Blueprint, BodySpec, Slot};
pub use combined::{Combined, CombinedIds, Tissue, TissueModel};
pub use compliance::{ComplianceOptions, ComplianceReport, ComplianceScratch, SiteDirection, SiteForce, SiteResponse};
pub use elastic::ElasticView;
pub use elements::TopologyDelta;
pub use grasp::{GraspForce, PressurePoint};
pub use query::{Overlap, PointHit, QueryFilter, RayHit, ShapeHit};
pub use topology::TopologyChange;
pub use view::BodyView;

use crate::constraint::{
    Attachment, Bending, Constraint, Distance, DistanceSet, Joint, Motor, PatchJoint, Rows, Site, Volume,
};
use crate::error::Error;
use crate::input::Input;
use crate::math::{Block, Pose, Real, Vec3};
use crate::model::{Air, Body, BodyId, ConstraintId, Load, Model, Particles, RigidBody, SoftBody};
use crate::report::{LedgerDetail, Report};
use crate::settings::Settings;
use crate::state::State;
use crate::work::Work;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bodies, constraints and their motion.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings::default())?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)).at([0.0, 2.0, 0.0]))?;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// assert!((world.body(ball)?.position().y - 0.5).abs() < 0.01);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct World {
    model: Model,
    state: State,
    work: Work,
    settings: Settings,
    /// Different for every world of the process: memory of queries is valid for one of them. No result depends on it.
    identity: u64,
}

/// Worlds made so far in this process.
static WORLDS: AtomicU64 = AtomicU64::new(0);

impl World {
    /// An empty world; settings out of range are rejected.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let work = Work::new(settings.threads as usize);
        let identity = WORLDS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { model: Model::default(), state: State::default(), work, settings, identity })
    }

    /// Makes one step of `Settings::dt`. Never fails: rejected commands and faults are in the report.
    pub fn step(&mut self, input: &Input) -> &Report {
        crate::step::step(&mut self.model, &mut self.state, &mut self.work, &mut self.settings, input);
        &self.work.output.report
    }

    /// The report of the last step.
    pub fn report(&self) -> &Report {
        &self.work.output.report
    }

    /// Settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Replaces the settings; if the new ones are out of range they are rejected and the old ones are kept.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), Error> {
        settings.check()?;
        if settings.threads != self.settings.threads {
            self.work.pool = crate::solver::pool::Pool::new(settings.threads as usize);
        }
        self.settings = settings;
        Ok(())
    }

    /// How much of the energy ledger steps make (`docs/ledger.md`). Not part of the saved world: no step depends on it.
    pub fn set_ledger(&mut self, detail: LedgerDetail) {
        let ledger = &mut self.work.output.ledger;
        if ledger.detail != detail {
            (ledger.mark, ledger.detail) = (None, detail);
        }
    }

    /// Incremented by every edit of the model.
    pub fn revision(&self) -> u64 {
        self.model.revision + self.model.element_revision
    }

    /// Time since the start [s].
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    pub fn time(&self) -> f64 {
        self.state.tick as f64 * self.settings.dt as f64
    }

    /// Adds a rigid body.
    pub fn add_rigid(&mut self, body: RigidBody) -> Result<BodyId, Error> {
        self.add(body)
    }

    /// Adds bare particles.
    pub fn add_particles(&mut self, particles: Particles) -> Result<BodyId, Error> {
        self.add(particles)
    }

    /// Adds a deformable body.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    /// let block = TetMesh::block([3, 3, 3], Vec3::splat(0.1))?;
    /// let jelly = world.add_soft(SoftBody::corotational(block, ElasticMaterial::new(2e4, 0.3, 1000.0)).at([0.0, 0.1, 0.0]))?;
    /// for _ in 0..120 {
    ///     world.step(&Input::none());
    /// }
    /// // it lies on the ground and sags a little under its own weight
    /// let height = world.body(jelly)?.center_of_mass().y;
    /// assert!(height > 0.045 && height < 0.05, "{height}");
    /// # Ok(()) }
    /// ```
    pub fn add_soft(&mut self, body: SoftBody) -> Result<BodyId, Error> {
        self.add(body)
    }

    /// Adds a joint between rigid bodies at their present poses.
    pub fn add_joint(&mut self, joint: Joint) -> Result<ConstraintId, Error> {
        self.add(joint)
    }

    /// Adds a rod, rope or spring between two sites.
    pub fn add_distance(&mut self, distance: Distance) -> Result<ConstraintId, Error> {
        self.add(distance)
    }

    /// Attaches points of nodes and surfaces: anchors, seams.
    pub fn add_attachment(&mut self, attach: Attachment) -> Result<ConstraintId, Error> {
        self.add(attach)
    }

    /// Constrains the lengths of many pairs of nodes of a body.
    pub fn add_distance_set(&mut self, strands: DistanceSet) -> Result<ConstraintId, Error> {
        self.add(strands)
    }

    /// Adds bending resistance to a sheet.
    pub fn add_bending(&mut self, bending: Bending) -> Result<ConstraintId, Error> {
        self.add(bending)
    }

    /// Constrains a volume, or fills it with gas.
    pub fn add_volume(&mut self, volume: Volume) -> Result<ConstraintId, Error> {
        self.add(volume)
    }

    /// Adds a joint between a patch of surface and a rigid body or the world.
    pub fn add_patch_joint(&mut self, joint: PatchJoint) -> Result<ConstraintId, Error> {
        self.add(joint)
    }

    /// Surface points of `a` that are at most `reach` [m] from a triangle of `b`, each with the nearest point there:
    /// pairs for [`Attachment::stitch`]. Tests every triangle for every point.
    pub fn seam(&self, a: BodyId, b: BodyId, reach: Real) -> Result<Vec<(Site, Site)>, Error> {
        seam::pairs(&self.model, &self.state, a, b, reach)
    }

    /// Position of a site [m].
    pub fn site_position(&self, site: &Site) -> Result<Vec3, Error> {
        self.view(&self.poses()).position(site)
    }

    /// Forces of a constraint's rows in the last step: tension of each pair (a pull is negative) [N], torque of each
    /// fold [N·m], pressure [Pa]. Means over the step. Zero before
    /// the first step after an edit.
    pub fn row_forces(&self, id: ConstraintId) -> Result<&[Real], Error> {
        self.model.constraints.get(id.index, id.generation).ok_or(Error::StaleConstraint(id))?;
        Ok(self.work.output.readout.rows().get(self.model.rows_of(id.index)).unwrap_or(&[]))
    }

    /// Replaces the loads on a soft body.
    pub fn set_loads(&mut self, id: BodyId, loads: Vec<Load>) -> Result<(), Error> {
        edit::set_loads(&mut self.model, &mut self.state, id, loads)
    }

    /// Changes the air around a soft body.
    pub fn set_air(&mut self, id: BodyId, air: Option<Air>) -> Result<(), Error> {
        edit::set_air(&mut self.model, &mut self.state, id, air)
    }

    /// Adds user-defined rows.
    pub fn add_custom(&mut self, rows: Arc<dyn Rows>) -> Result<ConstraintId, Error> {
        self.add(rows)
    }

    /// True when the rows of a constraint act between bodies only: none of its ends is a point of the world. Unknown, hence
    /// false, for custom rows.
    pub fn is_internal(&self, id: ConstraintId) -> Result<bool, Error> {
        let constraint = self.model.constraints.get(id.index, id.generation).ok_or(Error::StaleConstraint(id))?;
        Ok(constraint.traits().internal)
    }

    /// Removes a body with all its constraints.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), Error> {
        edit::remove_body(&mut self.model, &mut self.state, id)
    }

    /// Removes a constraint.
    pub fn remove_constraint(&mut self, id: ConstraintId) -> Result<(), Error> {
        edit::remove_constraint(&mut self.model, &mut self.state, id)
    }

    /// Changes the motor of a hinge or slider.
    pub fn set_motor(&mut self, id: ConstraintId, motor: Option<Motor>) -> Result<(), Error> {
        edit::set_motor(&mut self.model, &mut self.state, id, motor)
    }

    /// Coordinate of a hinge [rad] or slider [m].
    pub fn joint_place(&self, id: ConstraintId) -> Result<Real, Error> {
        match self.model.constraints.get(id.index, id.generation) {
            Some(Constraint::Joint(j)) => Ok(j.place(&self.view(&self.poses()))),
            Some(_) => {
                let reason = "it has no coordinate: only hinges and sliders do".to_owned();
                Err(Error::BadConstraint { constraint: "constraint", reason })
            }
            None => Err(Error::StaleConstraint(id)),
        }
    }

    /// True when the constraint broke.
    pub fn is_broken(&self, id: ConstraintId) -> Result<bool, Error> {
        self.model.constraints.get(id.index, id.generation).ok_or(Error::StaleConstraint(id))?;
        Ok(self.state.broken[id.index as usize] != 0)
    }

    /// Read access to a body.
    pub fn body(&self, id: BodyId) -> Result<BodyView<'_>, Error> {
        let body = self.model.body(id)?;
        Ok(self.view_of(id, body))
    }

    /// All bodies, by slot.
    pub fn bodies(&self) -> impl Iterator<Item = BodyView<'_>> {
        self.model.bodies.iter().map(|(slot, body)| self.view_of(self.model.body_id(slot), body))
    }

    fn view_of<'a>(&'a self, id: BodyId, body: &'a Body) -> BodyView<'a> {
        let reaction = self.work.output.reactions.get(id.index as usize).copied().unwrap_or_default();
        BodyView { id, body, state: &self.state, reaction }
    }

    /// Pose of a rigid body interpolated between the previous step (0) and this one (1), for rendering.
    pub fn pose_between(&self, id: BodyId, blend: Real) -> Result<Pose, Error> {
        let now = self.body(id)?.pose()?;
        let Some(before) = self.work.bodies.previous.get(id.index as usize).filter(|_| self.state.tick > 0) else {
            return Ok(now);
        };
        let blend = blend.clamp(0.0, 1.0);
        let turned = if before.rotation.dot(now.rotation) < 0.0 { -now.rotation } else { now.rotation };
        Ok(Pose::new(before.position.lerp(now.position, blend), before.rotation.lerp(turned, blend).normalize()))
    }

    /// The complete state that the next step depends on.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// A copy of the state for a later restore.
    pub fn snapshot(&self) -> State {
        self.state.clone()
    }

    /// Restores a snapshot of this world. A snapshot of another model is rejected and the world is unchanged.
    pub fn restore(&mut self, snapshot: &State) -> Result<(), Error> {
        edit::check_fit(&self.model, snapshot)?;
        self.state.clone_from(snapshot);
        self.work.detect.broad.invalidate();
        self.work.output.ledger.mark = None;
        self.work.bodies.good.clear();
        self.work.soft.stale = true;
        for (x, q) in self.state.x.iter().zip(&self.state.q) {
            self.work.bodies.good.push(Pose::new(*x, *q));
        }
        Ok(())
    }

    /// Hash of the state and of the model's numbering: equal worlds have equal hashes.
    pub fn hash(&self) -> u64 {
        edit::layout_hash(&self.model, self.state.hash())
    }

    /// Mutable access to the state, for tests of the fault checks. Values written here are checked by the next step.
    #[doc(hidden)]
    pub fn tamper(&mut self) -> &mut State {
        self.work.output.ledger.mark = None;
        &mut self.state
    }

    /// Fills the arrays from which constraints compute their frames and lengths.
    fn poses(&self) -> Vec<Block> {
        let State { x, q, node_x, .. } = &self.state;
        let rigid = x.iter().zip(q).flat_map(|(x, q)| [x.extend(0.0).to_array(), q.to_array()]);
        let mut poses: Vec<Block> = rigid.chain(node_x.iter().map(|x| x.extend(0.0).to_array())).collect();
        // a world that is being rebuilt gets its nodes with its state
        poses.resize(2 * self.model.bodies.slot_count() + self.model.node_count, [0.0; 4]);
        poses
    }

    fn view<'a>(&'a self, pose: &'a [Block]) -> crate::constraint::View<'a> {
        crate::constraint::View {
            model: &self.model,
            velocity: &self.work.bodies.velocity,
            pose,
            inertia: &self.work.bodies.inertia,
            soft: &self.work.soft,
            internal_state: &self.state.internal_state,
            tools: &self.state.tools,
            anchors: &self.state.tool_anchors,
            elapsed: 0.0,
            h: self.settings.h(),
        }
    }
}

// Worlds may move between threads, and several threads may read one.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<World>();
};

impl Default for World {
    fn default() -> Self {
        Self::new(Settings::default()).expect("the default settings are valid")
    }
}
