//! Constraints: joints with their frames and motors, distances between sites.

use super::described::Described;
use super::node_constraint::{AttachForm, BendingForm, DistanceSetForm, PatchJointForm, VolumeForm};
use super::tool::ToolForm;
use super::{IdForm, PoseForm, V3, body_id, pose, pose_form};
use serde::{Deserialize, Serialize};
use sinew::{ConstraintSpec, Distance, Joint, JointKind, Motor, Real, Site, Stabilization, Vec3};

/// [`Motor`].
#[derive(Serialize, Deserialize)]
pub(crate) enum MotorForm {
    Velocity { target: Real, max_force: Real },
    Position { target: Real, frequency: Real, damping_ratio: Real, max_force: Real },
}

impl From<Motor> for MotorForm {
    fn from(motor: Motor) -> Self {
        match motor {
            Motor::Velocity { target, max_force } => Self::Velocity { target, max_force },
            Motor::Position { target, frequency, damping_ratio, max_force } => {
                Self::Position { target, frequency, damping_ratio, max_force }
            }
        }
    }
}

impl From<MotorForm> for Motor {
    fn from(motor: MotorForm) -> Self {
        match motor {
            MotorForm::Velocity { target, max_force } => Self::Velocity { target, max_force },
            MotorForm::Position { target, frequency, damping_ratio, max_force } => {
                Self::Position { target, frequency, damping_ratio, max_force }
            }
        }
    }
}

/// [`JointKind`].
#[derive(Serialize, Deserialize)]
enum JointKindForm {
    Fixed,
    Ball,
    Hinge,
    Slider,
}

/// [`Joint`].
#[derive(Serialize, Deserialize)]
pub(crate) struct JointForm {
    kind: JointKindForm,
    a: Option<IdForm>,
    b: Option<IdForm>,
    anchor: Option<V3>,
    axis: V3,
    frames: Option<(PoseForm, PoseForm)>,
    limits: Option<(Real, Real)>,
    pub motor: Option<MotorForm>,
    break_force: Real,
    collide: bool,
    stabilization: Option<Described<Stabilization>>,
}

impl JointForm {
    fn of(joint: &Joint) -> Self {
        let Joint { kind, a, b, anchor, axis, frames, limits, motor, break_force, collide, stabilization } = joint;
        Self {
            kind: match kind {
                JointKind::Fixed => JointKindForm::Fixed,
                JointKind::Ball => JointKindForm::Ball,
                JointKind::Hinge => JointKindForm::Hinge,
                JointKind::Slider => JointKindForm::Slider,
            },
            a: a.map(|id| id.to_parts()),
            b: b.map(|id| id.to_parts()),
            anchor: anchor.map(|p| p.to_array()),
            axis: axis.to_array(),
            frames: frames.map(|(a, b)| (pose_form(&a), pose_form(&b))),
            limits: *limits,
            motor: motor.map(Into::into),
            break_force: *break_force,
            collide: *collide,
            stabilization: stabilization.map(Into::into),
        }
    }

    fn build(self) -> Joint {
        Joint {
            kind: match self.kind {
                JointKindForm::Fixed => JointKind::Fixed,
                JointKindForm::Ball => JointKind::Ball,
                JointKindForm::Hinge => JointKind::Hinge,
                JointKindForm::Slider => JointKind::Slider,
            },
            a: self.a.map(body_id),
            b: self.b.map(body_id),
            anchor: self.anchor.map(Vec3::from_array),
            axis: Vec3::from_array(self.axis),
            frames: self.frames.map(|(a, b)| (pose(a), pose(b))),
            limits: self.limits,
            motor: self.motor.map(Into::into),
            break_force: self.break_force,
            collide: self.collide,
            stabilization: self.stabilization.map(Into::into),
        }
    }
}

/// [`Site`].
#[derive(Serialize, Deserialize)]
pub(crate) enum SiteForm {
    World(V3),
    Rigid { body: IdForm, local: V3 },
    Node { body: IdForm, node: u32 },
    Surfel { body: IdForm, surfel: u32 },
    Face { body: IdForm, triangle: u32, weights: [Real; 3] },
}

impl From<Site> for SiteForm {
    fn from(site: Site) -> Self {
        match site {
            Site::World(at) => Self::World(at.to_array()),
            Site::Rigid { body, local } => Self::Rigid { body: body.to_parts(), local: local.to_array() },
            Site::Node { body, node } => Self::Node { body: body.to_parts(), node },
            Site::Surfel { body, surfel } => Self::Surfel { body: body.to_parts(), surfel },
            Site::Face { body, triangle, weights } => Self::Face { body: body.to_parts(), triangle, weights },
        }
    }
}

impl From<SiteForm> for Site {
    fn from(site: SiteForm) -> Self {
        match site {
            SiteForm::World(at) => Self::World(Vec3::from_array(at)),
            SiteForm::Rigid { body, local } => Self::Rigid { body: body_id(body), local: Vec3::from_array(local) },
            SiteForm::Node { body, node } => Self::Node { body: body_id(body), node },
            SiteForm::Surfel { body, surfel } => Self::Surfel { body: body_id(body), surfel },
            SiteForm::Face { body, triangle, weights } => Self::Face { body: body_id(body), triangle, weights },
        }
    }
}

/// [`Distance`].
#[derive(Serialize, Deserialize)]
pub(crate) struct DistanceForm {
    a: SiteForm,
    b: SiteForm,
    min: Real,
    max: Real,
    strength: Real,
    spring: Option<(Real, Real)>,
    break_force: Real,
}

impl DistanceForm {
    fn of(distance: &Distance) -> Self {
        let &Distance { a, b, min, max, strength, spring, break_force } = distance;
        Self { a: a.into(), b: b.into(), min, max, strength, spring, break_force }
    }

    fn build(self) -> Distance {
        let Self { a, b, min, max, strength, spring, break_force } = self;
        Distance { a: a.into(), b: b.into(), min, max, strength, spring, break_force }
    }
}

/// [`ConstraintSpec`]. Boxed as bodies are.
#[derive(Serialize, Deserialize)]
pub(crate) enum ConstraintForm {
    Joint(Box<JointForm>),
    Distance(Box<DistanceForm>),
    Attachment(Box<AttachForm>),
    DistanceSet(Box<DistanceSetForm>),
    Bending(Box<BendingForm>),
    Volume(Box<VolumeForm>),
    PatchJoint(Box<PatchJointForm>),
    Tool(Box<ToolForm>),
}

impl ConstraintForm {
    pub fn of(constraint: &ConstraintSpec) -> Self {
        match constraint {
            ConstraintSpec::Joint(joint) => Self::Joint(Box::new(JointForm::of(joint))),
            ConstraintSpec::Distance(distance) => Self::Distance(Box::new(DistanceForm::of(distance))),
            ConstraintSpec::Attachment(attach) => Self::Attachment(Box::new(AttachForm::of(attach))),
            ConstraintSpec::DistanceSet(set) => Self::DistanceSet(Box::new(DistanceSetForm::of(set))),
            ConstraintSpec::Bending(bending) => Self::Bending(Box::new(BendingForm::of(bending))),
            ConstraintSpec::Volume(volume) => Self::Volume(Box::new(VolumeForm::of(volume))),
            ConstraintSpec::PatchJoint(joint) => Self::PatchJoint(Box::new(PatchJointForm::of(joint))),
            ConstraintSpec::Tool(tool) => Self::Tool(Box::new(ToolForm::of(tool))),
        }
    }

    pub fn build(self) -> ConstraintSpec {
        match self {
            Self::Joint(joint) => ConstraintSpec::Joint(joint.build()),
            Self::Distance(distance) => ConstraintSpec::Distance(distance.build()),
            Self::Attachment(attach) => ConstraintSpec::Attachment(attach.build()),
            Self::DistanceSet(set) => ConstraintSpec::DistanceSet(set.build()),
            Self::Bending(bending) => ConstraintSpec::Bending(bending.build()),
            Self::Volume(volume) => ConstraintSpec::Volume(volume.build()),
            Self::PatchJoint(joint) => ConstraintSpec::PatchJoint(joint.build()),
            Self::Tool(tool) => ConstraintSpec::Tool(tool.build()),
        }
    }
}
