//! What a step tells: times, counts, residuals, energies, forces, events, faults. Nothing here feeds the next step.

use crate::math::{Real, Vec3};
use crate::model::{BodyId, ConstraintId};

/// The ten phases of a step, in order. The same words name files, timers, docs and viewer.
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

    /// The word.
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

/// How many of what.
///
/// An example is at [`Report`](crate::Report).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bodies that move by forces and are awake.
    pub awake: u32,
    /// Bodies asleep.
    pub asleep: u32,
    /// Islands solved.
    pub islands: u32,
    /// Pairs whose boxes overlap.
    pub pairs: u32,
    /// Contact manifolds with at least one point.
    pub manifolds: u32,
    /// Manifolds found anew (the rest was recycled).
    pub fresh_manifolds: u32,
    /// Contact points.
    pub contacts: u32,
    /// Scalar rows of contacts: three a point.
    pub contact_rows: u32,
    /// Scalar rows of joints and other constraints.
    pub constraint_rows: u32,
    /// Rows that position based bodies sweep themselves.
    pub inner_rows: u32,
    /// Colours of the contact graph.
    pub colours: u32,
    /// Sweeps done, all substeps together.
    pub sweeps: u32,
    /// Substeps of the sweep islands: those of the settings, or more when an explicit model asked for them.
    pub substeps: u32,
    /// Islands solved by CG.
    pub implicit_islands: u32,
    /// CG iterations, all implicit islands and substeps together.
    pub iterations: u32,
    /// Passes over the bounds of rows in implicit islands.
    pub passes: u32,
    /// Pairs of features that continuous detection followed through the step.
    pub near_features: u32,
    /// Rounds in which continuous detection cut motion short; 0: nothing was stopped.
    pub guard_rounds: u32,
    /// Rigid bodies and nodes that it stopped short of their way.
    pub stopped: u32,
    /// Bodies that it left where they were, because following them would have taken more pairs than may be.
    pub held_back: u32,
    /// Substeps of implicit soft bodies that were cut, because they would have left a body with more energy than it had
    /// and was given (`guard/energy_limiter.rs`); 0 where steps can follow the motion.
    pub cut_short: u32,
    /// Bodies that are where they were at the start of the step, because one that was solved with them came out insane and
    /// is held.
    pub put_back: u32,
    /// Substeps that fast impacts asked for; 0: none.
    pub impact_substeps: u32,
}

/// Energies of all dynamic bodies [J].
///
/// An example is at [`Report`](crate::Report).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Of motion [J].
    pub kinetic: Real,
    /// Of place in the field of gravity, zero at the origin [J].
    pub gravity: Real,
}

/// One contact point that carries force, with the variables of FC 5.4.
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
    /// Where [m].
    pub point: Vec3,
    /// From a to b.
    pub normal: Vec3,
    /// Gap, negative in penetration [m].
    pub gap: Real,
    /// Force on b; on a it is the opposite [N]. Mean over the step.
    pub force: Vec3,
    /// Velocity of b at the point seen from a, at the end of the step [m/s].
    pub velocity: Vec3,
    /// How the force is spread over the surface of a; none for a rigid body.
    pub spread_a: Option<Spread>,
    /// The same for b.
    pub spread_b: Option<Spread>,
}

impl ContactForce {
    /// Size of the force along the normal [N].
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

/// Barycentric shares of a contact point among the corners of a surface; they sum to 1.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { point_forces: true, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// world.add_soft(SoftBody::corotational(block, Matter::jelly()).at([0.0, 0.05, 0.0]))?;
/// for _ in 0..30 {
///     world.step(&Input::none());
/// }
/// let spread = world.report().contacts.iter().find_map(|c| c.spread_a.or(c.spread_b)).expect("it lies on the floor");
/// assert!((spread.weights.iter().sum::<Real>() - 1.0).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Surfels of the body ([`crate::Surface`] tells which nodes carry each); corners without a share repeat another one.
    pub surfels: [u32; 3],
    /// Share of the force that each takes.
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
    /// Part along the normals [N].
    pub normal: Real,
}

/// What a constraint carries.
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
    /// Which.
    pub id: ConstraintId,
    /// Force on its second body [N], last substep. Of constraints with many rows that share no body: zero.
    pub force: Vec3,
    /// Torque on its second body [N·m], last substep.
    pub torque: Vec3,
    /// Largest size among its rows [N, N·m or Pa]: the tension of the tightest pair, the torque of the stiffest fold, the
    /// pressure. `World::row_forces` has all of them.
    pub largest: Real,
}

/// Something that happened.
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
    /// Two bodies began to touch.
    ContactBegan {
        /// First body.
        a: BodyId,
        /// Second body.
        b: BodyId,
    },
    /// Two bodies came apart.
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
        /// Size of the force [N].
        force: Real,
    },
    /// A sensor met something.
    SensorBegan {
        /// Body with the sensor.
        sensor: BodyId,
        /// The other.
        other: BodyId,
    },
    /// A sensor lost something.
    SensorEnded {
        /// Body with the sensor.
        sensor: BodyId,
        /// The other.
        other: BodyId,
    },
    /// A body fell asleep.
    Slept(BodyId),
    /// A body woke.
    Woke(BodyId),
    /// A joint broke and is off.
    Broke {
        /// Which.
        constraint: ConstraintId,
        /// The force that broke it [N].
        force: Real,
    },
    /// A body was added by a command.
    Added(BodyId),
    /// A command was refused; its number in the input.
    Refused {
        /// Index in the input's commands.
        command: u32,
    },
}

/// What went wrong inside.
///
/// An example is at [`Fault`](crate::Fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A position, velocity or force is NaN or infinite.
    NonFinite,
    /// Faster than `Settings::max_speed`.
    TooFast,
    /// `Settings::contact_method` cannot follow it: it begins inside a log barrier, or needs more than
    /// [`crate::classic::SUBSTEP_CAP`] sub-steps in a substep (too stiff for its mass, or too fast for a weak barrier).
    ContactRefused,
    /// It was tangled with another body when a step under `Settings::guaranteed` began, and could not be freed.
    Tangled,
}

/// How it ended with two bodies that began a step tangled.
///
/// An example is at [`Tangle`](crate::Tangle).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TangleEnd {
    /// One was moved, and they are apart now.
    Untangled {
        /// Which.
        moved: BodyId,
        /// How far [m].
        by: Vec3,
    },
    /// No short way apart was found: those of the two that move are held where they are.
    Refused,
}

/// Two bodies (or one, with itself) whose surfaces crossed when the step began, under `Settings::guaranteed`.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { guaranteed: true, ..Settings::default() })?;
/// let place = |y| RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).at([0.0, y, 0.0]);
/// world.add_rigid(place(0.0))?;
/// world.add_rigid(place(0.19))?;
/// // they begin 10 mm inside each other: one is moved, or both are held
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
    /// What became of it.
    pub end: TangleEnd,
}

/// A body that was rolled back to its last good state and frozen.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { max_speed: 5.0, ..Settings::default() })?;
/// let stone = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// // after half a second it is too fast for this world: it is held, and the report says why
/// let fault = (0..60).find_map(|_| world.step(&Input::none()).faults.first().copied()).expect("too fast");
/// assert_eq!((fault.body, fault.what), (stone, FaultKind::TooFast));
/// assert!(world.body(stone)?.is_frozen());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whom.
    pub body: BodyId,
    /// Where it was noticed.
    pub phase: Phase,
    /// What was wrong.
    pub what: FaultKind,
    /// The state column or input field.
    pub field: &'static str,
}

/// How a soft body that took part went through the step.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// world.add_soft(SoftBody::corotational(block, Matter::jelly()))?;
/// let report = world.step(&Input::none());
/// assert!(report.soft[0].implicit && report.soft[0].stable_step.is_infinite());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftReport {
    /// Whom.
    pub body: BodyId,
    /// True when its forces were solved for implicitly.
    pub implicit: bool,
    /// The largest step of the integrator it was made with, in the shape that the body was in [s]; infinite when any is
    /// stable. Finite and `implicit`: the step went implicit by itself, because `Settings::max_substeps` were too few.
    pub stable_step: Real,
    /// Part of its stiffness that the body had; below 1 when all of it was beyond the digits of a real at this substep.
    /// Compression gives way first, down to Poisson's ratio 1/3, then all of it. More substeps make it stiffer.
    pub softened: Real,
    /// Substeps it made.
    pub substeps: u32,
}

/// All that a step tells. Buffers are reused: copy what must live longer.
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
/// // the floor carries 2 kg
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
    /// Deepest penetration at the start of the last substep [m].
    pub penetration: Real,
    /// Contact points with force; empty unless `Settings::point_forces`.
    pub contacts: Vec<ContactForce>,
    /// Forces by pair of bodies, sorted by pair.
    pub pairs: Vec<PairForce>,
    /// Forces of constraints.
    pub constraints: Vec<ConstraintForce>,
    /// Soft bodies that took part: how each was integrated.
    pub soft: Vec<SoftReport>,
    /// What happened.
    pub events: Vec<Event>,
    /// What went wrong.
    pub faults: Vec<Fault>,
    /// Bodies that began the step tangled, and what became of them; empty unless `Settings::guaranteed`.
    pub tangles: Vec<Tangle>,
}

impl Report {
    /// Time of a phase [s].
    pub fn time(&self, phase: Phase) -> f64 {
        self.seconds[phase as usize]
    }

    /// Time of the whole step [s].
    pub fn total_time(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Total contact force on a body [N].
    pub fn contact_force_on(&self, body: BodyId) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for p in &self.pairs {
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
        self.soft.clear();
        self.events.clear();
        self.faults.clear();
        self.tangles.clear();
        self.penetration = 0.0;
    }
}
