//! Settings: every knob of the engine.

use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, Rule, SHARE, choice, from_to, record, words};
use sinew::classic::Penalty;
use sinew::{ContactMethod, FrictionBound, Implicit, Order, Real, Settings, Stabilization, TimeOfContact, Vec3};

const SUBSTEPS: Rule = from_to(1.0, 1000.0);
const SWEEPS: Rule = from_to(1.0, 10_000.0);
const ITERATIONS: Rule = from_to(1.0, 100_000.0);
const PASSES: Rule = from_to(0.0, 100_000.0);
/// A time step [s].
const STEP: Rule = from_to(1e-9, 10.0);
/// Gravity along an axis [m/s²].
const GRAVITY: Rule = from_to(-1e5, 1e5);
/// A length [m] or a speed [m/s] of the engine.
const LENGTH: Rule = from_to(0.0, 1e3);
const SPEED: Rule = from_to(0.0, 1e6);
/// Stiffness [N/m] or strength [J] of a penalty.
const STIFFNESS: Rule = from_to(0.0, 1e12).above();
/// A stiffness without unit, or a frequency [Hz].
const RELATIVE: Rule = from_to(0.0, 1e9).above();
/// A relative tolerance.
const TOLERANCE: Rule = SHARE.above().below();

record!(Settings, "settings", "All settings of the engine.", base |_| Settings::default(), {
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
    pairs: ANY, "Combination of friction and restitution of two surfaces.";
    restitution_speed: SPEED, "Impacts slower than this do not bounce [m/s].";
    recycle_distance: LENGTH, "Relative motion of a pair after which its contact points are computed again [m].";
    sleep_speed: SPEED, "Speed below which a body may fall asleep [m/s].";
    sleep_time: NOT_NEGATIVE.or_infinite(), "Time below `sleep_speed` after which an island falls asleep [s]; inf: never.";
    max_speed: SPEED.above(), "A body faster than this is frozen and reported [m/s].";
    max_turn: from_to(0.0, 1e3).above(), "Limit of rotation [rad per substep].";
    intersection_free: ANY, "No surface intersects another at the end of a step: motion is stopped before the contact.";
    minimum_gap: LENGTH.above(), "Gap that intersection_free keeps [m].";
    stop_at_impact: ANY, "Points that crossed a surface are returned to the first contact (FC eq. 4.5).";
    time_of_contact: ANY, "How stop_at_impact computes the first contact.";
    impact_substeps: SUBSTEPS, "Largest number of substeps for fast impacts; 1: none.";
    sheet_substeps: SUBSTEPS, "Largest number of substeps for fast sheets and ropes; 1: none.";
    threads: from_to(1.0, 256.0), "Worker threads. The result does not depend on it.";
    lanes: ANY, "Use eight-wide kernels; the same bits without.";
    force_threshold: POSITIVE.or_infinite(), "Force above which a pair of bodies makes an event [N]; inf: never.";
    point_forces: ANY, "List the force at every contact point in the report.";
    residuals: ANY, "Report the residual of every sweep.";
});

record!(Implicit, "implicit settings", "Counts and tolerances of implicit islands.", base |_| Implicit::default(), {
    stiffness: RELATIVE, "Stiffness of a hard row on an implicit body, in units of the implicit mass it meets.";
    soft_stiffness: RELATIVE, "The same for a contact between two soft bodies.";
    rigid_stiffness: RELATIVE, "The same for a row between particles and rigid bodies.";
    tangential: RELATIVE, "Stiffness of friction's springs relative to the above.";
    carry: SHARE, "Fraction by which the start impulse of a hard row approaches its impulse in each substep.";
    tolerance: TOLERANCE, "CG stops when its residual has this size relative to the right-hand side.";
    iterations: ITERATIONS, "Largest number of CG iterations in all passes together.";
    passes: ITERATIONS, "Largest number of passes over the bounds.";
    audit_passes: PASSES, "Passes of the audit.";
    guard: PASSES, "Guard sweeps.";
});

choice!(Stabilization, "stabilization", "How a row converts position error into velocity.", {
    "soft" => Soft, "A damped spring, limited to the stiffness that is stable at the substep.", {
        frequency frequency: Real, RELATIVE => 1000.0, "Natural frequency [Hz]; capped at a quarter of the substep rate.";
        damping_ratio damping_ratio: Real, from_to(0.0, 1e6) => 1.0, "Damping ratio; above 1 no overshoot.";
    };
    "baumgarte" => Baumgarte, "A rigid row with bias share · error / substep.", {
        0 share: Real, SHARE, "Share of the error.";
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

/// The camera of images of the scene.
///
/// ```
/// use sinew_scene::file::{Syntax, read_text};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "[camera]\neye = [1, 1, 1]\ntarget = [0, 0, 0]\n";
/// assert_eq!(read_text(text, "c.toml", Syntax::Toml)?.camera().map(|c| c.eye.x), Some(1.0));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its position [m].
    pub eye: Vec3,
    /// The point it is directed at [m].
    pub target: Vec3,
    /// Vertical angle of view [°].
    pub field_of_view: Real,
}

impl Default for Camera {
    fn default() -> Self {
        Self { eye: Vec3::new(2.0, 1.5, 3.0), target: Vec3::ZERO, field_of_view: 45.0 }
    }
}

record!(Camera, "camera", "The camera of images of the scene.", base |_| Camera::default(), {
    eye: FINITE, "Its position [m].";
    target: FINITE, "The point it is directed at [m].";
    field_of_view: from_to(1.0, 179.0), "Vertical angle of view [degrees].";
});
