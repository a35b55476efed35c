//! All settings of the engine: default, unit, and the effect of larger and smaller values. No kernel has hidden
//! parameters.

use crate::classic::Penalty;
use crate::error::Error;
use crate::math::{Real, Vec3};
use crate::model::PairRules;
use crate::solver::implicit::Settings as Implicit;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, Rule, SHARE, choice, from_to, record, words};

/// Standoff of contacts under `Settings::intersection_free`, in multiples of the gap: range for the compression of soft
/// contacts.
///
/// At 4 a box that falls from 0.5 mm compresses the contact down to the gap and is stopped there repeatedly.
const STANDOFF: Real = 10.0;
/// Step rate up to which soft surfaces use the full contact margin [1/s].
const MARGIN_RATE: Real = 60.0;

/// Conversion of position error to velocity in a row.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let springy = Stabilization::Soft { frequency: 30.0, damping_ratio: 1.0 };
/// let mut world = World::new(Settings { contact: springy, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 0.1, 0.0]))?;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// // a soft contact is compressed by the weight
/// assert!(world.body(ball)?.position().y < 0.1);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stabilization {
    /// Rigid row; fraction of the error that is corrected per substep (ICD: β = 0.1/h). 0 to 1.
    Baumgarte(Real),
    /// A damped spring whose stiffness is limited to what the substep resolves: it saturates instead of becoming
    /// unstable.
    Soft {
        /// Natural frequency [Hz]; higher is stiffer. Capped at a quarter of the substep rate.
        frequency: Real,
        /// Damping ratio; above 1 no overshoot.
        damping_ratio: Real,
    },
}

/// The order in which rows are swept.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let order = Order::Staggered { rigid: 2, deformable: 2 };
/// let mut world = World::new(Settings { order, ..Settings::default() })?;
/// world.step(&Input::none());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All rows in one sweep.
    Interleaved,
    /// As ICD: first rows on rigid bodies only, then all rows on nodes, each this many times per sweep: 1 to 10,000.
    Staggered {
        /// Passes over rigid-rigid rows.
        rigid: u32,
        /// Passes over rows with nodes.
        deformable: u32,
    },
}

/// The bound of the friction of a contact.
///
/// ```
/// use sinew::*;
/// let settings = Settings { friction_bound: FrictionBound::Weight, ..Settings::default() };
/// assert!(World::new(settings).is_ok());
/// assert_eq!(Settings::default().friction_bound, FrictionBound::Cone);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionBound {
    /// The cone over the normal impulse: Coulomb.
    Cone,
    /// ICD eq. 32 as printed, μ m |g·n| of the lighter side: no friction for a sideways grip. For comparison.
    Weight,
}

/// Method for contacts with fixed and kinematic surfaces.
///
/// All but `Rows` are the methods of [`crate::classic`], for teaching and comparison. They apply to the pairs of which
/// one side is fixed or kinematic and has a signed distance ([`crate::Shape::signed_distance`]: half-space, ball, box,
/// cylinder, distance function) and the other is a particle or a dynamic rigid body, represented by its vertices. So
/// contacts of a face or edge with a ball or a corner between its vertices are not detected. All other pairs keep their
/// rows: soft bodies, two dynamic bodies, capsules, cones, hulls, compounds, meshes, height fields and voxels as
/// surfaces, sensors.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { contact_method: ContactMethod::Impulse, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let grain = world.add_particles(Particles::new(vec![Vec3::Y]).radius(0.01))?;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(grain)?.position().y > -1e-3);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactMethod {
    /// Rows of the common system, like all other constraints.
    Rows,
    /// A force that increases with depth or proximity, in additional sub-steps within each substep. No friction, no
    /// dissipation.
    Penalty(Penalty),
    /// An impulse at the mean of the vertices inside, once the velocities are known: restitution and (kinetic) friction
    /// of the pair's materials. Particles are projected back to the surface, bodies at `push_speed` at most. As one
    /// point represents all vertices, friction does not reduce a spin about the normal.
    Impulse,
}

impl ContactMethod {
    /// Gap at which it begins to act [m].
    pub(crate) fn buffer(self) -> Real {
        match self {
            Self::Penalty(law) => law.buffer(),
            Self::Rows | Self::Impulse => 0.0,
        }
    }
}

/// Method for the first time of contact of two moving features (FC 4.2).
///
/// ```
/// use sinew::*;
/// let settings = Settings { time_of_contact: TimeOfContact::Conservative, ..Settings::default() };
/// assert!(World::new(settings).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOfContact {
    /// Roots of the cubic for coplanarity of four points, by bisection.
    Bisection,
    /// The same roots by regula falsi: the secant through the ends of the bracket.
    RegulaFalsi,
    /// The same roots by inverse quadratic interpolation.
    Brent,
    /// Conservative advancement: misses no contact, keeps a gap, follows arcs. Two to three times the cost of a root.
    Conservative,
}

/// All settings of a world.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let moon = Settings { gravity: Vec3::new(0.0, -1.62, 0.0), substeps: 8, ..Settings::default() };
/// let mut world = World::new(moon)?;
/// let stone = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// assert!((world.body(stone)?.velocity().y + 1.62).abs() < 1e-4);
/// // settings out of range are rejected by name
/// let told = World::new(Settings { dt: -1.0, ..Settings::default() }).unwrap_err().to_string();
/// assert!(told.contains("settings.dt"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Step [s], 1e-9 to 10. Smaller: more accurate, more work. Default 1/60.
    pub dt: Real,
    /// Gravity [m/s²], each component −1e5 to 1e5. Default (0, −9.81, 0).
    pub gravity: Vec3,
    /// Substeps of a step. More: stiffer stacks and joints, cost in proportion. Default 4.
    pub substeps: u32,
    /// Maximum number of substeps that explicit deformable models, and joints whose arms turn fast (0.15 rad in a
    /// substep), may require. A model that needs more is integrated
    /// implicitly instead, which damps modes faster than the step; see `Report::soft`. Default 64. 1: no model gets
    /// additional substeps and nothing is softened, for single large steps to a rest shape.
    pub max_substeps: u32,
    /// Substeps of islands with implicit bodies. More: less damping by the integrator, cost in proportion. Default 1.
    pub implicit_substeps: u32,
    /// Iteration counts and tolerances of implicit islands.
    pub implicit: Implicit,
    /// Sweeps with position correction per substep. More: better converged, cost in proportion. Default 1.
    pub sweeps: u32,
    /// Sweeps without correction after them, which remove the velocity added by the correction and solve the friction
    /// of contacts. At least 1. Default 1.
    pub relax_sweeps: u32,
    /// Stabilisation of contacts. Default soft, 1000 Hz (i.e. as stiff as the substep resolves), ratio 1. Softer: more
    /// penetration under load. A ratio of 5 lets a stack of 20 drift several times as far; a rigid Baumgarte row
    /// topples it.
    pub contact: Stabilization,
    /// Stabilisation of joints. Default soft, 1000 Hz (i.e. as stiff as the substep resolves), ratio 2. At 120 Hz a
    /// point mass on a 1 m arm swings 5% too slowly: softness is a fraction of the row's response, and its inertia is
    /// tiny.
    pub joint: Stabilization,
    /// Fraction of the impulses of the previous step used as the initial guess, 0 to 1. Lower: slower convergence.
    /// Default 1.
    pub warm_start: Real,
    /// Stop a substep's sweeps when the root mean square change of impulse falls below this [N·s]; 0 never stops early.
    /// Default 0: the cost of a step is then known in advance.
    pub stop_residual: Real,
    /// Order of the rows. Default [`Order::Interleaved`].
    pub order: Order,
    /// Friction bound. Default cone.
    pub friction_bound: FrictionBound,
    /// ICD 4.3's averaging: divide a body's contact impulses by the number of its contacts. Violates conservation of
    /// momentum; for comparison.
    pub average_impulses: bool,
    /// Method for contacts of particles and dynamic bodies with fixed and kinematic surfaces that have a signed
    /// distance. Default rows.
    pub contact_method: ContactMethod,
    /// Gap at which a contact row is created before contact, in addition to the distance required by the speed [m].
    /// Larger: fewer missed contacts, more rows. Between soft surfaces it is the margin of a step of 1/60 s or longer,
    /// and proportionally less in shorter steps: it covers velocity gained within the step, which cannot be predicted.
    /// Default 5e-3.
    pub contact_margin: Real,
    /// Penetration that is not corrected, as a fraction of the smaller body's half width. Smaller: less overlap, but
    /// errors of rounding and of the geometry library in the gaps of arches of many stones are then corrected back and
    /// forth. Default 1e-3, chosen for R15, R19 and the stack of S5: 0 lets the arch of R19 fall at t/R = 0.13, 2.5e-3
    /// lets the stack drift 6 mm.
    pub contact_slop: Real,
    /// Maximum speed at which penetration is corrected [m/s]. Lower: gentler recovery. Default 3.
    pub push_speed: Real,
    /// Correction of the tangential displacement of a sticking contact by static friction: a spring from the stick
    /// point. Softer: more displacement under load. Stiffer: tall stacks oscillate, so its frequency is limited to 1/24
    /// of the substep rate (10 Hz at 240 substeps per second). Default soft, 1000 Hz (i.e. that limit), ratio 1.
    pub friction: Stabilization,
    /// Combination rules for friction and restitution of two surfaces, and pairs with their own values.
    pub pairs: PairRules,
    /// Impacts slower than this have no restitution [m/s]; never below 2|g|dt. Default 0.01.
    pub restitution_speed: Real,
    /// Displacement of a pair below which its contact points are reused [m]. 0: recomputed every step. Default 2e-3.
    pub recycle_distance: Real,
    /// Speed below which a body counts as at rest [m/s]. Default 0.02. Angular velocity is measured as the speed at the
    /// body's rim.
    pub sleep_speed: Real,
    /// Time for which all bodies of an island must be at rest before they sleep [s]; infinity: never. Default 0.5.
    pub sleep_time: Real,
    /// A body faster than this is frozen and reported [m/s]. Default 2000.
    pub max_speed: Real,
    /// Angular velocity is limited to this many radians per substep; the loss appears in the energy of the next report.
    /// Default 1.5.
    pub max_turn: Real,
    /// Intersection-free motion: at the end of a step no surface intersects another. Motion that would is shortened
    /// before the contact, a gap of `minimum_gap` is kept, contacts have a standoff of ten times that, fast bodies are
    /// swept along their complete paths, and bodies that intersect initially are separated or frozen (see
    /// `Report::tangles`). Surfaces of soft bodies have self-contact regardless of `SoftBody::self_contact`. Costs a
    /// test of all surfaces near each other in every step. Default false.
    pub intersection_free: bool,
    /// Gap that `intersection_free` keeps [m]. Smaller: bodies rest closer, with less range for contact compliance; it is
    /// raised to at least a few rounding errors of the coordinates. Default 1e-4.
    pub minimum_gap: Real,
    /// Points that crossed a surface within the step are projected back to the first contact (FC eq. 4.5), in a few
    /// rounds, and the approach velocity is removed. Without guarantee, in contrast to `intersection_free`. Default false.
    pub stop_at_impact: bool,
    /// How `stop_at_impact` computes the first contact; `intersection_free` is always conservative. Default bisection, as FC 4.4
    /// advises.
    pub time_of_contact: TimeOfContact,
    /// Maximum number of substeps for fast impacts: as many as are needed for no pair to approach by more than its
    /// thickness in one. 1: none. `Report::counts` has the number used. Default 1.
    pub impact_substeps: u32,
    /// Maximum number of substeps for sheets and ropes of position based dynamics: as many as are needed for no node to
    /// move farther than an eighth of the mean edge in one, relative to the motion of its body, and more while edges
    /// exceed their `stretch_limit`. A cloth that falls onto an obstacle then has short substeps during the impact, and
    /// long ones before and after. `Counts::substeps` has the number used. Default 1: no additional substeps.
    pub sheet_substeps: u32,
    /// Worker threads, 1 = the caller alone. The result does not depend on it. Default 1.
    pub threads: u32,
    /// Use eight-wide kernels (f32 build). Off: the scalar path, bitwise identical.
    pub lanes: bool,
    /// Force above which a pair of bodies generates an event [N]. Default infinity: never.
    pub force_threshold: Real,
    /// List the force at every contact point in the report, not only by pair of bodies. Default true.
    pub point_forces: bool,
    /// Keep residuals of every sweep in the report: costs a few percent. Default false.
    pub residuals: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            substeps: 4,
            max_substeps: 64,
            implicit_substeps: 1,
            implicit: Implicit::default(),
            sweeps: 1,
            relax_sweeps: 1,
            contact: Stabilization::Soft { frequency: 1000.0, damping_ratio: 1.0 },
            joint: Stabilization::Soft { frequency: 1000.0, damping_ratio: 2.0 },
            warm_start: 1.0,
            stop_residual: 0.0,
            order: Order::Interleaved,
            friction_bound: FrictionBound::Cone,
            average_impulses: false,
            contact_method: ContactMethod::Rows,
            contact_margin: 5e-3,
            contact_slop: 1e-3,
            push_speed: 3.0,
            friction: Stabilization::Soft { frequency: 1000.0, damping_ratio: 1.0 },
            pairs: PairRules::default(),
            restitution_speed: 0.01,
            recycle_distance: 2e-3,
            sleep_speed: 0.02,
            sleep_time: 0.5,
            max_speed: 2000.0,
            max_turn: 1.5,
            intersection_free: false,
            minimum_gap: 1e-4,
            stop_at_impact: false,
            time_of_contact: TimeOfContact::Bisection,
            impact_substeps: 1,
            sheet_substeps: 1,
            threads: 1,
            lanes: true,
            force_threshold: Real::INFINITY,
            point_forces: true,
            residuals: false,
        }
    }
}

impl Settings {
    /// A substep [s].
    pub fn h(&self) -> Real {
        self.dt / self.substeps as Real
    }

    /// Distance from surfaces at which contacts act [m]: range for the gap of `intersection_free`.
    pub(crate) fn standoff(&self) -> Real {
        if self.intersection_free { STANDOFF * self.minimum_gap } else { 0.0 }
    }

    /// Gap at which soft surfaces create a contact row before contact, in addition to the distance required by the
    /// speed [m].
    pub(crate) fn soft_margin(&self) -> Real {
        self.contact_margin * (self.dt * MARGIN_RATE).min(1.0)
    }

    /// Rejects values out of range; the error names the first.
    pub fn check(&self) -> Result<(), Error> {
        sinew_spec::check(self, "settings")?;
        self.pairs.check("settings.pairs")
    }
}

const SUBSTEPS: Rule = from_to(1.0, 1000.0);
const SWEEPS: Rule = from_to(1.0, 10_000.0);
/// A time step [s].
const STEP: Rule = from_to(1e-9, 10.0);
/// Gravity along an axis [m/s²]. Ten thousand times the earth's: more than centrifuges and crashes; the square of what a
/// step adds is finite in f32.
const GRAVITY: Rule = from_to(-1e5, 1e5);
/// A length [m] or a speed [m/s] of the engine: no world has larger ones.
const LENGTH: Rule = from_to(0.0, 1e3);
const SPEED: Rule = from_to(0.0, 1e6);
/// Stiffness [N/m] or strength [J] of a penalty.
const STIFFNESS: Rule = from_to(0.0, 1e12).above();
/// A frequency [Hz].
const FREQUENCY: Rule = from_to(0.0, 1e9).above();

// The order is that of saves: new settings are appended.
record!(Settings, "settings", "All settings of the engine.", Settings::default(), {
    dt: STEP, "Step [s].";
    gravity: GRAVITY, "Gravity [m/s²].";
    substeps: SUBSTEPS, "Substeps of a step. More: stiffer stacks and joints, cost in proportion.";
    max_substeps: SUBSTEPS, "Largest number of substeps that explicit deformable models may require.";
    implicit_substeps: SUBSTEPS, "Substeps of islands with implicit bodies in them. More: less damping by the integrator.";
    implicit: ANY, "Counts and tolerances of implicit islands.";
    sweeps: SWEEPS, "Sweeps with position correction per substep.";
    relax_sweeps: SWEEPS, "Sweeps without correction after them.";
    contact: ANY, "Stabilisation of contacts.";
    joint: ANY, "Stabilisation of joints.";
    warm_start: SHARE, "Fraction of the impulses of the last step that the solver starts from.";
    stop_residual: NOT_NEGATIVE, "Stop a substep's sweeps below this change of impulse [N·s]; 0 never stops early.";
    order: ANY, "Order of the rows.";
    friction_bound: ANY, "Bound of the friction of a contact.";
    average_impulses: ANY, "Divide a body's contact impulses by the number of its contacts. Loses momentum; for comparison.";
    contact_method: ANY, "Contact method of particles and rigid bodies on fixed surfaces that have a signed distance.";
    contact_margin: LENGTH, "Gap at which a contact is created before touch, in addition to the distance required by speed [m].";
    contact_slop: SHARE, "Penetration that is not corrected, as a fraction of the smaller body's half width.";
    push_speed: SPEED, "Largest speed of penetration correction [m/s].";
    friction: ANY, "Stabilisation of static friction: return of a sticking contact to its stick point.";
    restitution_speed: SPEED, "Impacts slower than this do not bounce [m/s].";
    recycle_distance: LENGTH, "Relative motion of a pair after which its contact points are computed again [m].";
    sleep_speed: SPEED, "Speed below which a body may fall asleep [m/s].";
    sleep_time: NOT_NEGATIVE.or_infinite(), "Time below `sleep_speed` after which an island falls asleep [s]; inf: never.";
    max_speed: SPEED.above(), "A body faster than this is frozen and reported [m/s].";
    max_turn: from_to(0.0, 1e3).above(), "Limit of rotation [rad per substep].";
    threads: from_to(1.0, 256.0), "Worker threads. The result does not depend on it.";
    lanes: ANY, "Use eight-wide kernels; the same bits without.";
    residuals: ANY, "Report the residual of every sweep.";
    force_threshold: POSITIVE.or_infinite(), "Force above which a pair of bodies makes an event [N]; inf: never.";
    point_forces: ANY, "List the force at every contact point in the report.";
    intersection_free: ANY, "No surface intersects another at the end of a step: motion is stopped before the contact.";
    minimum_gap: LENGTH.above(), "Gap that intersection_free keeps [m].";
    stop_at_impact: ANY, "Points that crossed a surface are returned to the first contact (FC eq. 4.5).";
    time_of_contact: ANY, "How stop_at_impact computes the first contact.";
    impact_substeps: SUBSTEPS, "Largest number of substeps for fast impacts; 1: none.";
    sheet_substeps: SUBSTEPS, "Largest number of substeps for fast sheets and ropes; 1: none.";
    pairs: ANY, "Combination of friction and restitution of two surfaces.";
});

choice!(Stabilization, "stabilization", "How a row converts position error into velocity.", {
    "baumgarte" => Baumgarte, "A rigid row with bias share · error / substep.", {
        0 share: Real, SHARE, "Share of the error.";
    };
    "soft" => Soft, "A damped spring, limited to the stiffness that is stable at the substep.", {
        frequency frequency: Real, FREQUENCY => 1000.0, "Natural frequency [Hz]; capped at a quarter of the substep rate.";
        damping_ratio damping_ratio: Real, from_to(0.0, 1e6) => 1.0, "Damping ratio; above 1 no overshoot.";
    };
});

choice!(Order, "order", "The order in which rows are swept.", {
    "interleaved" => Interleaved, "All rows in one sweep.", {};
    "staggered" => Staggered, "First rows on rigid bodies only, then all rows that touch nodes.", {
        rigid rigid: u32, SWEEPS, "Passes over rigid-rigid rows.";
        deformable deformable: u32, SWEEPS, "Passes over rows with nodes.";
    };
});

choice!(ContactMethod, "contact method", "Contact method on fixed and kinematic surfaces that have a signed distance.", {
    "rows" => Rows, "The engine's own contacts.", {};
    "penalty" => Penalty, "Forces that increase with penetration.", {
        0 law: Penalty, ANY, "The force.";
    };
    "impulse" => Impulse, "Impulses at impact.", {};
});

choice!(Penalty, "penalty", "A force that increases with penetration.", {
    "quadratic" => Quadratic, "A spring from the surface.", {
        stiffness stiffness: Real, STIFFNESS, "Stiffness [N/m].";
    };
    "buffered" => Buffered, "A spring from a buffer above the surface.", {
        stiffness stiffness: Real, STIFFNESS, "Stiffness [N/m].";
        buffer buffer: Real, LENGTH.above(), "Height of the buffer [m].";
    };
    "barrier" => LogBarrier, "A logarithmic barrier.", {
        strength strength: Real, STIFFNESS, "Strength [J].";
        buffer buffer: Real, LENGTH.above(), "Height of the buffer [m].";
    };
});

words!(FrictionBound, {
    "cone" => Cone, "The cone over the normal impulse: Coulomb.";
    "weight" => Weight, "The weight of the lighter side, as printed in ICD eq. 32; for comparison.";
});

words!(TimeOfContact, {
    "bisection" => Bisection, "Roots of the cubic of four points in one plane, by halving the bracket.";
    "regula_falsi" => RegulaFalsi, "The same roots by the line through the bracket's ends.";
    "brent" => Brent, "The same roots by inverse quadratic interpolation.";
    "conservative" => Conservative, "Conservative advancement: cannot miss, keeps a gap, follows arcs.";
});
