//! Report of a step: times, counts, residuals, energies, forces, events, faults. Nothing here affects the next step.

mod ledger;
mod tool;

pub use ledger::{BodyLedger, Ledger, LedgerDetail, LedgerReport, MomentumLedger};
pub use tool::ToolReport;

use crate::math::{Real, Vec3};
use crate::model::{BodyId, ConstraintId};

/// The ten phases of a step, in order. The same words are used in files, timers, docs and viewer.
///
/// ```
/// use sinew::*;
/// let names: Vec<&str> = Phase::ALL.iter().map(|phase| phase.name()).collect();
/// assert_eq!(names.join(" "), "intake detect plan cloth predict assemble solve advance remember observe");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "docs/step.md has a chapter for each word")]
pub enum Phase {
    Intake,
    Detect,
    Plan,
    Cloth,
    Predict,
    Assemble,
    Solve,
    Advance,
    Remember,
    Observe,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Phase; 10] = [
        Phase::Intake,
        Phase::Detect,
        Phase::Plan,
        Phase::Cloth,
        Phase::Predict,
        Phase::Assemble,
        Phase::Solve,
        Phase::Advance,
        Phase::Remember,
        Phase::Observe,
    ];

    /// Name of the phase.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Intake => "intake",
            Phase::Detect => "detect",
            Phase::Plan => "plan",
            Phase::Cloth => "cloth",
            Phase::Predict => "predict",
            Phase::Assemble => "assemble",
            Phase::Solve => "solve",
            Phase::Advance => "advance",
            Phase::Remember => "remember",
            Phase::Observe => "observe",
        }
    }
}

/// Counters of a step.
///
/// An example is at [`Report`](crate::Report).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Dynamic bodies that are active.
    pub awake: u32,
    /// Dynamic bodies that are sleeping.
    pub asleep: u32,
    /// Islands solved.
    pub islands: u32,
    /// Pairs whose bounding boxes overlap.
    pub pairs: u32,
    /// Contact manifolds with at least one point.
    pub manifolds: u32,
    /// Manifolds computed in this step (the rest was recycled).
    pub fresh_manifolds: u32,
    /// Contact points.
    pub contacts: u32,
    /// Scalar rows of contacts: three per point.
    pub contact_rows: u32,
    /// Scalar rows of joints and other constraints.
    pub constraint_rows: u32,
    /// Rows that position based bodies solve internally.
    pub internal_rows: u32,
    /// Colours of the contact graph.
    pub colours: u32,
    /// Sweeps of all substeps together.
    pub sweeps: u32,
    /// Substeps of the sweep islands: those of the settings, or more when an explicit model or joints of bodies that
    /// spin fast required them.
    pub substeps: u32,
    /// Islands solved by CG.
    pub implicit_islands: u32,
    /// CG iterations, all implicit islands and substeps together.
    pub iterations: u32,
    /// Passes over the bounds of rows in implicit islands.
    pub passes: u32,
    /// Pairs of features that continuous collision detection tested in the step.
    pub near_features: u32,
    /// Rounds in which continuous collision detection shortened motions; 0: none was shortened.
    pub guard_rounds: u32,
    /// Rigid bodies and nodes whose motion it shortened.
    pub stopped: u32,
    /// Bodies that it did not move, because their motion would have needed more pairs than the maximum.
    pub held_back: u32,
    /// Substeps of implicit soft bodies that were shortened, because they would have left a body with more energy than
    /// it had and was supplied with (`guard/energy_limiter.rs`); 0 where steps resolve the motion.
    pub cut_short: u32,
    /// Bodies that were reset to their state at the start of the step, because a body of the same island got invalid
    /// values and is frozen.
    pub rolled_back: u32,
    /// Substeps that fast impacts required; 0: none.
    pub impact_substeps: u32,
}

/// Energies of all dynamic bodies [J].
///
/// An example is at [`Report`](crate::Report).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic energy [J].
    pub kinetic: Real,
    /// Potential energy of gravity, zero at the origin [J].
    pub gravity: Real,
}

/// One contact point with a force, with the variables of FC 5.4.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { point_forces: true, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(1.0).at([0.0, 0.1, 0.0]))?;
/// for _ in 0..20 {
///     world.step(&Input::none());
/// }
/// let carried: Real = world.report().contacts.iter().map(|c| c.normal_force()).sum();
/// assert!((carried - 9.81).abs() < 0.5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// First body.
    pub a: BodyId,
    /// Second body.
    pub b: BodyId,
    /// Position [m].
    pub point: Vec3,
    /// Unit normal from a to b.
    pub normal: Vec3,
    /// Gap, negative in penetration [m].
    pub gap: Real,
    /// Force on b; on a it is the opposite [N]. Mean over the step.
    pub force: Vec3,
    /// Velocity of b relative to a at the point, at the end of the step [m/s].
    pub velocity: Vec3,
    /// Distribution of the force over the surface of a; none for a rigid body.
    pub spread_a: Option<Spread>,
    /// The same for b.
    pub spread_b: Option<Spread>,
}

impl ContactForce {
    /// Magnitude of the force along the normal [N].
    pub fn normal_force(&self) -> Real {
        self.force.dot(self.normal)
    }

    /// Friction on b [N].
    pub fn friction(&self) -> Vec3 {
        self.force - self.normal * self.normal_force()
    }

    /// Velocity of b along the surface of a [m/s].
    pub fn slip(&self) -> Vec3 {
        self.velocity - self.normal * self.velocity.dot(self.normal)
    }
}

/// Barycentric weights of a contact point on the corners of a surface; they sum to 1.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { point_forces: true, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()).at([0.0, 0.05, 0.0]))?;
/// for _ in 0..30 {
///     world.step(&Input::none());
/// }
/// let spread = world.report().contacts.iter().find_map(|c| c.spread_a.or(c.spread_b)).expect("it lies on the floor");
/// assert!((spread.weights.iter().sum::<Real>() - 1.0).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Surfels of the body ([`crate::Surface`] has the nodes of each); corners of weight 0 repeat another one.
    pub surfels: [u32; 3],
    /// Fraction of the force on each.
    pub weights: [Real; 3],
}

/// The force of a body pair, all its contacts together.
///
/// An example is at [`Report`](crate::Report).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairForce {
    /// First body.
    pub a: BodyId,
    /// Second body.
    pub b: BodyId,
    /// Force on b; on a it is the opposite [N]. Mean over the step.
    pub force: Vec3,
    /// Component along the normals [N].
    pub normal: Real,
}

/// Force of a constraint.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let lamp = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(3.0))?;
/// let cord = Distance::rope(Site::World(Vec3::Y), Site::Rigid { body: lamp, local: Vec3::ZERO }, 1.0);
/// let cord = world.add_distance(cord)?;
/// for _ in 0..20 {
///     world.step(&Input::none());
/// }
/// let carried = world.report().constraints.iter().find(|c| c.id == cord).expect("it was added");
/// assert!((carried.force.y - 29.43).abs() < 0.5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintForce {
    /// The constraint.
    pub id: ConstraintId,
    /// Force on its second body [N], mean over the step. For constraints with many rows that share no body: zero.
    pub force: Vec3,
    /// Torque on its second body [N·m], mean over the step.
    pub torque: Vec3,
    /// Largest magnitude among its rows [N, N·m or Pa]: the maximum tension of a pair, the maximum torque of a fold,
    /// the pressure. `World::row_forces` has all of them.
    pub largest: Real,
}

/// An event of a step.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let floor = world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 0.11, 0.0]))?;
/// let mut met = false;
/// for _ in 0..30 {
///     let events = &world.step(&Input::none()).events;
///     met |= events.contains(&Event::ContactBegan { a: floor, b: ball });
/// }
/// assert!(met);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Contact of two bodies began.
    ContactBegan {
        /// First body.
        a: BodyId,
        /// Second body.
        b: BodyId,
    },
    /// Contact of two bodies ended.
    ContactEnded {
        /// First body.
        a: BodyId,
        /// Second body.
        b: BodyId,
    },
    /// A pair's force rose above the world's threshold.
    ForceAbove {
        /// First body.
        a: BodyId,
        /// Second body.
        b: BodyId,
        /// Magnitude of the force [N].
        force: Real,
    },
    /// A sensor began to overlap a body.
    SensorBegan {
        /// Body with the sensor.
        sensor: BodyId,
        /// The other body.
        other: BodyId,
    },
    /// A sensor ceased to overlap a body.
    SensorEnded {
        /// Body with the sensor.
        sensor: BodyId,
        /// The other body.
        other: BodyId,
    },
    /// A body fell asleep.
    Slept(BodyId),
    /// A body woke.
    Woke(BodyId),
    /// A joint broke and is inactive.
    Broke {
        /// The constraint.
        constraint: ConstraintId,
        /// The force at which it broke [N].
        force: Real,
    },
    /// A body was added by a command.
    Added(BodyId),
    /// Nodes, elements or surface cells of a body were appended, removed or renumbered, or its model was exchanged,
    /// since the last step: data with their numbers must be read again.
    TopologyChanged {
        /// The body.
        body: BodyId,
        /// Its topology number.
        topology: u32,
        /// Nodes.
        nodes: u32,
        /// Tetrahedra, triangles or segments of a rope; 0 for a body of points.
        elements: u32,
        /// Triangles and segments of the surface.
        cells: u32,
    },
    /// A tool was commanded to a pose that its largest speed does not reach in time: it is approached.
    ToolHeldBack {
        /// The tool.
        tool: ConstraintId,
        /// Distance that is left at that time [m].
        distance: Real,
    },
    /// A gripper took surface points.
    Gripped {
        /// The tool.
        tool: ConstraintId,
        /// How many.
        points: u32,
    },
    /// A gripper opened, or points slid out of it.
    Released {
        /// The tool.
        tool: ConstraintId,
        /// How many points.
        points: u32,
    },
    /// A command was rejected.
    Refused {
        /// Index in the input's commands.
        command: u32,
    },
}

/// Kind of a fault.
///
/// An example is at [`Fault`](crate::Fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A position, velocity or force is NaN or infinite.
    NonFinite,
    /// Faster than `Settings::max_speed`.
    TooFast,
    /// `Settings::contact_method` cannot resolve its motion: it begins inside a log barrier, or needs more than
    /// [`crate::classic::SUBSTEP_CAP`] sub-steps in a substep (too stiff for its mass, or too fast for a weak barrier).
    ContactRefused,
    /// It intersected another body at the beginning of a step under `Settings::intersection_free`, and could not be separated.
    Tangled,
    /// A joint of it came apart in the step: it is open by more than its bodies reach, or by a twentieth of that while
    /// `Settings::max_substeps` is too small for their rotation. Nothing is rolled back or frozen.
    JointOpen {
        /// The joint.
        joint: ConstraintId,
    },
}

/// Outcome for two bodies that intersected at the beginning of a step.
///
/// An example is at [`Tangle`](crate::Tangle).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TangleEnd {
    /// One was moved, and they are separated now.
    Untangled {
        /// The body that was moved.
        moved: BodyId,
        /// Displacement [m].
        by: Vec3,
    },
    /// No short separation was found: those of the two that are not fixed are frozen.
    Refused,
}

/// Two bodies (or one, with itself) whose surfaces intersected at the beginning of the step, under
/// `Settings::intersection_free`.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { intersection_free: true, ..Settings::default() })?;
/// let place = |y| RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).at([0.0, y, 0.0]);
/// world.add_rigid(place(0.0))?;
/// world.add_rigid(place(0.19))?;
/// // they begin 10 mm inside each other: one is moved, or both are frozen
/// let tangle = world.step(&Input::none()).tangles.first().copied();
/// if let Some(Tangle { end: TangleEnd::Untangled { by, .. }, .. }) = tangle {
///     assert!(by.length() < 0.1);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tangle {
    /// First body.
    pub a: BodyId,
    /// Second body.
    pub b: BodyId,
    /// Outcome.
    pub end: TangleEnd,
}

/// A body that was rolled back to its last valid state and frozen; under [`FaultKind::JointOpen`] one that goes on with a
/// joint that came apart.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { max_speed: 5.0, ..Settings::default() })?;
/// let stone = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// // after half a second it is too fast for this world: it is frozen, and the report has the reason
/// let fault = (0..60).find_map(|_| world.step(&Input::none()).faults.first().copied()).expect("too fast");
/// assert_eq!((fault.body, fault.what), (stone, FaultKind::TooFast));
/// assert!(world.body(stone)?.is_frozen());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The body.
    pub body: BodyId,
    /// Phase in which it was detected.
    pub phase: Phase,
    /// Kind of the fault.
    pub what: FaultKind,
    /// The state column or input field.
    pub field: &'static str,
}

/// Integration of an active soft body in the step.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()))?;
/// let report = world.step(&Input::none());
/// assert!(report.soft[0].implicit && report.soft[0].stable_step.is_infinite());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftReport {
    /// The body.
    pub body: BodyId,
    /// True when its forces were integrated implicitly.
    pub implicit: bool,
    /// The largest stable step of its own integrator, at the present shape of the body [s]; infinite when any step is
    /// stable. Finite and `implicit`: the step used implicit integration instead, because `Settings::max_substeps` was
    /// too small.
    pub stable_step: Real,
    /// Fraction of its stiffness that was used; below 1 when the full stiffness exceeded the precision of a real at
    /// this substep. The bulk stiffness is reduced first, down to Poisson's ratio 1/3, then all of it. More substeps
    /// make it stiffer.
    pub softened: Real,
    /// Number of its substeps.
    pub substeps: u32,
}

/// Report of a step. Buffers are reused: copy values that must live longer.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0).at([0.0, 0.1, 0.0]))?;
/// for _ in 0..20 {
///     world.step(&Input::none());
/// }
/// let report = world.report();
/// assert_eq!((report.counts.contacts, report.faults.len()), (1, 0));
/// // the floor supports 2 kg
/// assert!((report.contact_force_on(ball).y - 19.62).abs() < 0.5);
/// assert!(report.energies.kinetic < 1e-3);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Number of this step, from 1.
    pub tick: u64,
    /// Seconds spent in each phase, in the order of [`Phase::ALL`].
    pub seconds: [f64; Phase::ALL.len()],
    /// Counts.
    pub counts: Counts,
    /// Root mean square change of impulse of each sweep of the step [N·s]; empty unless `Settings::residuals`.
    pub residuals: Vec<Real>,
    /// Energies at the end of the step.
    pub energies: Energies,
    /// Causes of the changes of energy and momentum.
    pub ledger: LedgerReport,
    /// Deepest penetration at the start of the last substep [m].
    pub penetration: Real,
    /// Contact points with force; empty unless `Settings::point_forces`.
    pub contacts: Vec<ContactForce>,
    /// Forces by pair of bodies, sorted by pair.
    pub pairs: Vec<PairForce>,
    /// Forces of constraints.
    pub constraints: Vec<ConstraintForce>,
    /// Tools.
    pub tools: Vec<ToolReport>,
    /// Active soft bodies: how each was integrated.
    pub soft: Vec<SoftReport>,
    /// Events.
    pub events: Vec<Event>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// Bodies that intersected at the beginning of the step, and the outcome; empty unless `Settings::intersection_free`.
    pub tangles: Vec<Tangle>,
}

impl Report {
    /// Time of a phase [s].
    pub fn time(&self, phase: Phase) -> f64 {
        self.seconds[phase as usize]
    }

    /// Time of the complete step [s].
    pub fn total_time(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Total contact force on a body [N]. Contacts of its parts with each other have no resultant.
    pub fn contact_force_on(&self, body: BodyId) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for p in self.pairs.iter().filter(|p| p.a != p.b) {
            if p.b == body {
                sum += p.force;
            } else if p.a == body {
                sum -= p.force;
            }
        }
        sum
    }

    pub(crate) fn clear(&mut self) {
        self.seconds = [0.0; Phase::ALL.len()];
        self.counts = Counts::default();
        self.residuals.clear();
        self.contacts.clear();
        self.pairs.clear();
        self.constraints.clear();
        self.tools.clear();
        self.soft.clear();
        self.events.clear();
        self.faults.clear();
        self.tangles.clear();
        self.penetration = 0.0;
    }
}
