//! Joints between two rigid bodies, or a body and the world.
//!
//! Each joint has a frame on either side whose x axis is the joint axis. With p the frame origins, d = p_b − p_a, and t
//! a unit vector, a linear row is
//!
//! ```text
//!   C = d·t,   Ċ = t·(v_b + ω_b × r_b − v_a − ω_a × (r_a + d))
//! ```
//!
//! and an angular row C = θ·t, Ċ = t·(ω_b − ω_a), with θ the rotation from frame a to frame b as a vector. Ball: 3
//! linear; hinge: 3 linear, 2 angular; slider: 2 linear, 3 angular; fixed: 3 and 3. (ICD's single row ½|d|² has no
//! Jacobian where it is satisfied: errata.) Limits are one-sided rows, motors are rows with a maximum force.

use super::row::{Bounds, RowBuffer};
use super::site::{Place, Terms, View};
use super::{JOINT_ROWS, Kind, Traits};
use crate::error::{Error, check, finite, finite_vec, not_negative, positive};
use crate::math::{Pose, Quat, Real, Vec3, any_orthonormal};
use crate::model::BodyId;
use crate::settings::Stabilization;
use crate::solver::soft::{Softness, soften};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, Via, choice, record, words};

/// The degrees of freedom that a joint leaves free.
///
/// ```
/// use sinew::*;
/// assert_eq!(Joint::hinge(None, None).kind, JointKind::Hinge);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Rotation.
    Ball,
    /// Rotation about the axis.
    Hinge,
    /// Motion along the axis.
    Slider,
}

impl JointKind {
    fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed joint",
            Self::Ball => "ball joint",
            Self::Hinge => "hinge",
            Self::Slider => "slider",
        }
    }
}

/// A drive along a joint's free direction.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let wheel = world.add_rigid(RigidBody::dynamic().shape(Shape::cylinder(0.02, 0.2)))?;
/// let turn = Motor::Velocity { target: 3.0, max_force: 100.0 };
/// world.add_joint(Joint::hinge(None, Some(wheel)).axis(Vec3::Y).motor(turn))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// assert!((world.body(wheel)?.spin().y.abs() - 3.0).abs() < 0.05);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motor {
    /// Towards a speed [m/s or rad/s], with at most this force or torque [N or N·m].
    Velocity {
        /// Target speed.
        target: Real,
        /// Maximum force or torque.
        max_force: Real,
    },
    /// Towards a position [m or rad] like a damped spring, with at most this force or torque.
    Position {
        /// Target position.
        target: Real,
        /// Frequency of the spring [Hz].
        frequency: Real,
        /// Damping ratio.
        damping_ratio: Real,
        /// Maximum force or torque [N or N·m].
        max_force: Real,
    },
}

impl Motor {
    pub(crate) fn check(&self) -> Result<(), Error> {
        match *self {
            Motor::Velocity { target, max_force } => {
                finite("motor.target", target)?;
                check("motor.max_force", max_force, max_force >= 0.0, "at least 0")
            }
            Motor::Position { target, frequency, damping_ratio, max_force } => {
                finite("motor.target", target)?;
                positive("motor.frequency", frequency)?;
                not_negative("motor.damping_ratio", damping_ratio)?;
                check("motor.max_force", max_force, max_force >= 0.0, "at least 0")
            }
        }
    }
}

/// Description of a joint to be added.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings::default())?;
/// let rod = world.add_rigid(RigidBody::dynamic().shape(Shape::capsule(0.5, 0.02)).at([0.5, 0.0, 0.0]))?;
/// let pivot = Joint::hinge(None, Some(rod)).anchor(Vec3::ZERO).axis(Vec3::Z).limits(-1.0, 1.0);
/// let hinge = world.add_joint(pivot)?;
/// # let _ = hinge; Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The degrees of freedom it leaves free.
    pub kind: JointKind,
    /// First body, none: the world.
    pub a: Option<BodyId>,
    /// Second body, none: the world.
    pub b: Option<BodyId>,
    /// Position of the joint, world [m].
    pub anchor: Option<Vec3>,
    /// Its axis, world.
    pub axis: Vec3,
    /// Frames on the two bodies; none: from anchor and axis.
    pub frames: Option<(Pose, Pose)>,
    /// Range of the free direction [m or rad].
    pub limits: Option<(Real, Real)>,
    /// Drive along the free direction.
    pub motor: Option<Motor>,
    /// Force at which it breaks [N].
    pub break_force: Real,
    /// Whether the two bodies still collide.
    pub collide: bool,
    /// Its own stabilisation; none: the settings'.
    pub stabilization: Option<Stabilization>,
}

impl Joint {
    fn new(kind: JointKind, a: Option<BodyId>, b: Option<BodyId>) -> Self {
        Self {
            kind,
            a,
            b,
            anchor: None,
            axis: Vec3::X,
            frames: None,
            limits: None,
            motor: None,
            break_force: Real::INFINITY,
            collide: false,
            stabilization: None,
        }
    }

    /// No relative motion. `None` is the world.
    pub fn fixed(a: Option<BodyId>, b: Option<BodyId>) -> Self {
        Self::new(JointKind::Fixed, a, b)
    }

    /// Rotates freely about a point.
    pub fn ball(a: Option<BodyId>, b: Option<BodyId>) -> Self {
        Self::new(JointKind::Ball, a, b)
    }

    /// Rotates about an axis.
    pub fn hinge(a: Option<BodyId>, b: Option<BodyId>) -> Self {
        Self::new(JointKind::Hinge, a, b)
    }

    /// Slides along an axis.
    pub fn slider(a: Option<BodyId>, b: Option<BodyId>) -> Self {
        Self::new(JointKind::Slider, a, b)
    }

    /// Position of the joint in the world, at the present poses of the bodies [m]. Without it: b's origin.
    pub fn anchor(mut self, point: impl Into<Vec3>) -> Self {
        self.anchor = Some(point.into());
        self
    }

    /// Its axis in the world, at the present poses of the bodies. Default x.
    pub fn axis(mut self, axis: impl Into<Vec3>) -> Self {
        self.axis = axis.into();
        self
    }

    /// Frames relative to the bodies' origins (x along the axis), instead of anchor and axis.
    pub fn frames(mut self, on_a: Pose, on_b: Pose) -> Self {
        self.frames = Some((on_a, on_b));
        self
    }

    /// Range of the free direction [m or rad], relative to the present position.
    pub fn limits(mut self, low: Real, high: Real) -> Self {
        self.limits = Some((low, high));
        self
    }

    /// A drive along the free direction of a hinge or slider.
    pub fn motor(mut self, motor: Motor) -> Self {
        self.motor = Some(motor);
        self
    }

    /// Breaks when its force exceeds this [N]. Default never.
    pub fn break_force(mut self, force: Real) -> Self {
        self.break_force = force;
        self
    }

    /// Whether the two bodies still collide. Default no.
    pub fn collide(mut self, yes: bool) -> Self {
        self.collide = yes;
        self
    }

    /// Its own stabilisation instead of the settings'.
    pub fn stabilization(mut self, stabilization: Stabilization) -> Self {
        self.stabilization = Some(stabilization);
        self
    }

    /// Checks it and computes the frames from the present poses of the bodies.
    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltJoint, Error> {
        let model = view.model;
        let bad = |reason: &str| Error::BadConstraint { constraint: self.kind.name(), reason: reason.into() };
        if self.a.is_none() && self.b.is_none() {
            return Err(bad("both sides are the world: name at least one body"));
        }
        if self.a == self.b {
            return Err(bad("both sides are the same body"));
        }
        check("joint.break_force", self.break_force, self.break_force > 0.0, "above 0 (infinity: never breaks)")?;
        if let Some(m) = &self.motor {
            m.check()?;
            if !matches!(self.kind, JointKind::Hinge | JointKind::Slider) {
                return Err(bad("only hinges and sliders take a motor"));
            }
        }
        if let Some((low, high)) = self.limits {
            check("joint.limits.low", low, !low.is_nan() && low <= high, "at most the upper limit")?;
            check("joint.limits.high", high, !high.is_nan(), "a number")?;
            if !matches!(self.kind, JointKind::Hinge | JointKind::Slider) {
                return Err(bad("only hinges and sliders take limits"));
            }
        }
        let pose_a = self.a.map_or(Ok(Pose::IDENTITY), |id| view.body_pose(id))?;
        let pose_b = self.b.map_or(Ok(Pose::IDENTITY), |id| view.body_pose(id))?;
        let (on_a, on_b) = match self.frames {
            Some((a, b)) => {
                if !a.is_finite() || !b.is_finite() {
                    return Err(bad("its frames are not finite"));
                }
                (a, b)
            }
            None => {
                let default = if self.b.is_some() { pose_b.position } else { pose_a.position };
                let at = self.anchor.unwrap_or(default);
                finite_vec("joint.anchor", at)?;
                let x = self.axis.try_normalize().ok_or_else(|| bad("its axis has no direction"))?;
                let y = any_orthonormal(x);
                let frame = Pose::new(at, Quat::from_mat3(&crate::math::Mat3::from_cols(x, y, x.cross(y))).normalize());
                (pose_a.relative(&frame), pose_b.relative(&frame))
            }
        };
        let side = |id: Option<BodyId>, on: Pose| -> Result<Side, Error> {
            Ok(match id {
                None => Side { slot: None, local: on.position, rotation: on.rotation },
                Some(id) => Side {
                    slot: Some(id.index),
                    local: on.position - model.rigid(id)?.local_center,
                    rotation: on.rotation,
                },
            })
        };
        // stored, so that a rebuilt joint is bitwise identical
        let source = Joint { frames: Some((on_a, on_b)), ..self.clone() };
        Ok(BuiltJoint { a: side(self.a, on_a)?, b: side(self.b, on_b)?, source })
    }
}

/// One side of a joint: frame relative to the centre of mass (or the world).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub slot: Option<u32>,
    pub local: Vec3,
    pub rotation: Quat,
}

impl Side {
    /// Its frame in the world, from the centres and orientations of bodies.
    fn frame(&self, center: impl Fn(u32) -> (Vec3, Quat)) -> (Vec3, Quat) {
        match self.slot {
            None => (self.local, self.rotation),
            Some(slot) => {
                let (x, q) = center(slot);
                (x + q * self.local, q * self.rotation)
            }
        }
    }

    fn place(&self) -> Place {
        match self.slot {
            None => Place::World(self.local),
            Some(slot) => Place::Rigid { slot, local: self.local },
        }
    }
}

/// A joint in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltJoint {
    pub a: Side,
    pub b: Side,
    pub source: Joint,
}

struct Frames {
    point_a: Vec3,
    point_b: Vec3,
    /// Frame a in the world.
    frame: Quat,
    /// Frame b relative to frame a, the quaternion with w ≥ 0.
    between: Quat,
}

impl BuiltJoint {
    fn frames(&self, view: &View<'_>) -> Frames {
        let (point_a, frame_a) = self.a.frame(|slot| view.center(slot));
        let (point_b, frame_b) = self.b.frame(|slot| view.center(slot));
        let between = frame_a.inverse() * frame_b;
        let between = if between.w < 0.0 { -between } else { between };
        Frames { point_a, point_b, frame: frame_a, between }
    }

    /// Coordinate of a hinge [rad] or slider [m].
    pub fn place(&self, view: &View<'_>) -> Real {
        let f = self.frames(view);
        match self.source.kind {
            JointKind::Hinge => 2.0 * f.between.x.atan2(f.between.w),
            JointKind::Slider => (f.frame * Vec3::X).dot(f.point_b - f.point_a),
            JointKind::Ball | JointKind::Fixed => 0.0,
        }
    }

    /// Distance between its two points, along a slider's axis excepted [m].
    pub fn opening(&self, center: impl Fn(u32) -> (Vec3, Quat)) -> Real {
        let (point_a, frame) = self.a.frame(&center);
        let gap = self.b.frame(&center).0 - point_a;
        match self.source.kind {
            JointKind::Slider => gap.reject_from_normalized(frame * Vec3::X).length(),
            JointKind::Ball | JointKind::Hinge | JointKind::Fixed => gap.length(),
        }
    }

    /// Appends the joint's rows, always the same number in the same order.
    pub fn rows(&self, view: &View<'_>, default: Softness, out: &mut RowBuffer) {
        let f = self.frames(view);
        let soft = self.source.stabilization.map_or(default, |s| soften(s, view.h));
        let axis = f.frame * Vec3::X;
        let (t1, t2) = (f.frame * Vec3::Y, f.frame * Vec3::Z);
        let d = f.point_b - f.point_a;
        // rotation from frame a to frame b. For a hinge only the tilt of its axis counts: a_a × a_b is that rotation
        // vector at any hinge angle, while the quaternion's components rotate with half the hinge angle and give the
        // wrong sign at 180°
        let angle = match self.source.kind {
            JointKind::Hinge => axis.cross(f.frame * (f.between * Vec3::X)),
            _ => f.frame * (f.between.xyz() * 2.0),
        };

        // constrained translations, along the joint's own axes: the result must rotate with the scene
        let linear: &[Vec3] = match self.source.kind {
            JointKind::Slider => &[t1, t2],
            _ => &[axis, t1, t2],
        };
        let bend = self.bend(view, f.point_b);
        for &t in linear {
            let terms = self.linear_terms(view, t, f.point_b);
            push_held(out, &terms, d.dot(t), bend.dot(t), soft);
        }
        // constrained rotations
        let angular: &[Vec3] = match self.source.kind {
            JointKind::Ball => &[],
            JointKind::Hinge => &[t1, t2],
            JointKind::Slider | JointKind::Fixed => &[axis, t1, t2],
        };
        for &t in angular {
            let terms = self.angular_terms(view, t);
            push_held(out, &terms, angle.dot(t), 0.0, soft);
        }
        // the free direction: limits, then motor
        let place = match self.source.kind {
            JointKind::Hinge => 2.0 * f.between.x.atan2(f.between.w),
            JointKind::Slider => axis.dot(d),
            JointKind::Ball | JointKind::Fixed => return,
        };
        let terms = match self.source.kind {
            JointKind::Slider => self.linear_terms(view, axis, f.point_b),
            _ => self.angular_terms(view, axis),
        };
        if let Some((low, high)) = self.source.limits {
            push_limit(out, &terms, place - low, 1.0, soft, view.h);
            push_limit(out, &terms, high - place, -1.0, soft, view.h);
        }
        if let Some(motor) = self.source.motor {
            push_motor(out, &terms, place, motor, view.h);
        }
    }

    /// Second-order motion of b's point relative to a's.
    fn bend(&self, view: &View<'_>, at: Vec3) -> Vec3 {
        let of = |side: &Side| side.slot.map_or(Vec3::ZERO, |slot| view.bend(slot, at - view.center(slot).0));
        of(&self.b) - of(&self.a)
    }

    /// Terms of a linear row along t; both lever arms end at b's point, which is exact for the rotating frame of a.
    fn linear_terms(&self, view: &View<'_>, t: Vec3, at: Vec3) -> Terms {
        let mut terms = Terms::default();
        view.push_terms(&self.a.place(), -t, at, &mut terms);
        view.push_terms(&self.b.place(), t, at, &mut terms);
        terms
    }

    fn angular_terms(&self, view: &View<'_>, t: Vec3) -> Terms {
        let mut terms = Terms::default();
        if let Some(slot) = self.a.slot {
            view.twist_terms(slot, -t, &mut terms);
        }
        if let Some(slot) = self.b.slot {
            view.twist_terms(slot, t, &mut terms);
        }
        terms
    }
}

/// A two-sided row that keeps its error at zero; `bend` is the second-order motion that J·v does not contain [m/s].
pub(crate) fn push_held(out: &mut RowBuffer, terms: &Terms, error: Real, bend: Real, soft: Softness) {
    let correction = error * soft.rate;
    out.push(terms.as_slice(), correction + bend, correction, soft.relative * terms.answer(), Bounds::Free);
}

/// A one-sided row that keeps `gap` (which grows along `sign` · the terms) from falling below zero.
pub(crate) fn push_limit(out: &mut RowBuffer, terms: &Terms, gap: Real, sign: Real, soft: Softness, h: Real) {
    // the impulse acts along +terms for the lower limit, −terms for the upper one
    let bounds = if sign > 0.0 { Bounds::AtLeast(0.0) } else { Bounds::Between { low: Real::NEG_INFINITY, high: 0.0 } };
    if gap > 0.0 {
        out.push(terms.as_slice(), sign * gap / h, 0.0, 0.0, bounds);
    } else {
        let correction = sign * gap * soft.rate;
        out.push(terms.as_slice(), correction, correction, soft.relative * terms.answer(), bounds);
    }
}

fn push_motor(out: &mut RowBuffer, terms: &Terms, place: Real, motor: Motor, h: Real) {
    match motor {
        Motor::Velocity { target, max_force } => {
            let bounds = Bounds::Between { low: -max_force * h, high: max_force * h };
            out.push(terms.as_slice(), -target, 0.0, 0.0, bounds);
        }
        Motor::Position { target, frequency, damping_ratio, max_force } => {
            let soft = soften(Stabilization::Soft { frequency, damping_ratio }, h);
            let bounds = Bounds::Between { low: -max_force * h, high: max_force * h };
            // a spring is a physical force, not an error correction: it stays in the relaxing sweep, including its
            // softness
            out.push_spring(terms.as_slice(), (place - target) * soft.rate, soft.relative * terms.answer(), bounds);
        }
    }
}

words!(JointKind, {
    "fixed" => Fixed, "Nothing moves.";
    "ball" => Ball, "Turns freely about a point.";
    "hinge" => Hinge, "Turns about an axis.";
    "slider" => Slider, "Slides along an axis.";
});

choice!(Motor, "motor", "A drive along a joint's free direction.", {
    "velocity" => Velocity, "Towards a speed.", {
        target target: Real, FINITE, "Wanted speed [m/s or rad/s].";
        max_force max_force: Real, NOT_NEGATIVE.or_infinite() => Real::INFINITY, "Largest force or torque [N or N·m].";
    };
    "position" => Position, "Towards a position, as a damped spring.", {
        target target: Real, FINITE, "Target position [m or rad].";
        frequency frequency: Real, POSITIVE, "Frequency of the spring [Hz].";
        damping_ratio damping_ratio: Real, NOT_NEGATIVE => 1.0, "Damping ratio.";
        max_force max_force: Real, NOT_NEGATIVE.or_infinite() => Real::INFINITY, "Largest force or torque [N or N·m].";
    };
});

/// The frames of a joint, as they are described.
struct BothFrames {
    a: Pose,
    b: Pose,
}

record!(BothFrames, "frames", "Frames relative to the bodies' origins, x along the joint's axis.",
    BothFrames { a: Pose::IDENTITY, b: Pose::IDENTITY }, {
    a: ANY, "On the first body.";
    b: ANY, "On the second body.";
});

impl Via<(Pose, Pose)> for BothFrames {
    fn of(&(a, b): &(Pose, Pose)) -> Self {
        Self { a, b }
    }

    fn back(self) -> (Pose, Pose) {
        (self.a, self.b)
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Joint, "joint", "A joint.", Joint::fixed(None, None), {
    kind: ANY, "The degrees of freedom it leaves free.";
    a: ANY, "First body; without: the world.";
    b: ANY, "Second body; without: the world.";
    anchor: FINITE, "Its position in the world, in the initial configuration [m]; without: b's origin.";
    axis: FINITE, "Its axis in the world.";
    frames via Option<BothFrames>: ANY, "BothFrames on the bodies, instead of anchor and axis.";
    limits: FINITE.or_infinite(), "Range of the free direction [m or rad], zero at the start.";
    motor: ANY, "Drive along the free direction.";
    break_force: POSITIVE.or_infinite(), "Force at which it breaks [N].";
    collide: ANY, "Whether the two bodies still collide.";
    stabilization: ANY, "Its own stabilisation; without: that of the settings.";
});

impl Kind for BuiltJoint {
    fn traits(&self) -> Traits {
        let internal = self.a.slot.is_some() && self.b.slot.is_some();
        Traits { rows: JOINT_ROWS, internal, break_force: self.source.break_force, ..Traits::default() }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        [self.a.slot, self.b.slot].into_iter().flatten().for_each(found);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltJoint::rows(self, view, joint, out);
    }

    fn keeps_apart(&self, found: &mut dyn FnMut(u32, u32)) {
        if let (Some(a), Some(b), false) = (self.a.slot, self.b.slot, self.source.collide) {
            found(a, b);
        }
    }
}
