//! Joints, rods, ropes and springs between bodies, which are referenced by name.

use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, Rule, choice, kinds, record};
use super::node_constraint::{AttachSpec, BendingSpec, DistanceSetSpec, PatchSpec, Seam, VolumeSpec};
use super::plain::Name;
use super::tool::ToolJoint;
use sinew::{BodyId, ConstraintSpec, Distance, Joint, JointKind, Motor, Pose, Real, Site, Stabilization, Vec3, World};

const ANY_LIMIT: Rule = FINITE.or_infinite();

/// A joint in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum JointSpec {
    Fixed(Plain),
    Ball(Plain),
    Hinge(Driven),
    Slider(Driven),
    Rod(Length),
    Rope(Length),
    Spring(Spring),
    Distance(Range),
    Attachment(AttachSpec),
    Seam(Seam),
    DistanceSet(DistanceSetSpec),
    Bending(BendingSpec),
    Volume(VolumeSpec),
    Patch(PatchSpec),
    Tool(ToolJoint),
}

kinds!(JointSpec, "joint", "What holds two bodies together, or a body to the world.", {
    "fixed" => Fixed(Plain), "Nothing moves.";
    "ball" => Ball(Plain), "Turns freely about a point.";
    "hinge" => Hinge(Driven), "Turns about an axis.";
    "slider" => Slider(Driven), "Slides along an axis.";
    "rod" => Rod(Length), "A rigid rod between two sites.";
    "rope" => Rope(Length), "A rope between two sites: it only pulls.";
    "spring" => Spring(Spring), "A damped spring between two sites.";
    "distance" => Distance(Range), "Two sites within a range of distances.";
    "attach" => Attachment(AttachSpec), "Points of nodes and surfaces held to the world, to bodies or to each other.";
    "seam" => Seam(Seam), "One surface stitched to another where they are near.";
    "distance_set" => DistanceSet(DistanceSetSpec), "Lengths of many pairs of nodes of a body.";
    "bending" => Bending(BendingSpec), "Lets a sheet resist bending.";
    "volume" => Volume(VolumeSpec), "Holds the volume inside a surface, or fills it with gas.";
    "patch" => Patch(PatchSpec), "A joint between a patch of surface and a rigid body or the world.";
    "tool" => Tool(ToolJoint), "Ties a rigid body to a hand.";
});

/// Frames on the two bodies, x along the joint's axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frames {
    a: Pose,
    b: Pose,
}

record!(Frames, "frames", "Frames relative to the bodies' origins, x along the joint's axis.",
    base |_| Frames { a: Pose::IDENTITY, b: Pose::IDENTITY },
    { a: ANY, "On the first body."; b: ANY, "On the second body."; }
);

/// A joint without a free direction to drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    a: Option<Name>,
    b: Option<Name>,
    anchor: Option<Vec3>,
    axis: Option<Vec3>,
    frames: Option<Frames>,
    break_force: Option<Real>,
    collide: bool,
    stabilization: Option<Stabilization>,
}

record!(Plain, "plain joint", "A joint.", base |_| Plain::default(), {
    a: ANY, "First body; without: the world.";
    b: ANY, "Second body; without: the world.";
    anchor: FINITE, "Its position in the world, in the initial configuration [m]; without: b's origin.";
    axis: FINITE, "Its axis in the world; without: x.";
    frames: ANY, "Frames on the bodies, instead of anchor and axis.";
    break_force: POSITIVE.or_infinite(), "Force at which it breaks [N]; without: never.";
    collide: ANY, "Whether the two bodies still collide.";
    stabilization: ANY, "Its own stabilisation; without: that of the settings.";
});

/// A joint with a free direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Driven {
    a: Option<Name>,
    b: Option<Name>,
    anchor: Option<Vec3>,
    axis: Option<Vec3>,
    frames: Option<Frames>,
    limits: Option<[Real; 2]>,
    motor: Option<Motor>,
    break_force: Option<Real>,
    collide: bool,
    stabilization: Option<Stabilization>,
}

record!(Driven, "driven joint", "A hinge or slider.", base |_| Driven::default(), {
    a: ANY, "First body; without: the world.";
    b: ANY, "Second body; without: the world.";
    anchor: FINITE, "Its position in the world, in the initial configuration [m]; without: b's origin.";
    axis: FINITE, "Its axis in the world; without: x.";
    frames: ANY, "Frames on the bodies, instead of anchor and axis.";
    limits: ANY_LIMIT, "Range of the free direction [m or rad], zero at the start.";
    motor: ANY, "Drive along the free direction.";
    break_force: POSITIVE.or_infinite(), "Force at which it breaks [N]; without: never.";
    collide: ANY, "Whether the two bodies still collide.";
    stabilization: ANY, "Its own stabilisation; without: that of the settings.";
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

/// A point that a rod, rope or spring holds on to.
#[derive(Clone, Debug)]
pub(crate) enum SiteSpec {
    World { point: Vec3 },
    Rigid { body: Name, local: Vec3 },
    Node { body: Name, node: u32 },
    Surfel { body: Name, surfel: u32 },
    Face { body: Name, triangle: u32, weights: [Real; 3] },
}

choice!(SiteSpec, "site", "A point of a body or of the world.", {
    "world" => World, "A point of the world.", { point point: Vec3, FINITE, "Position [m]."; };
    "body" => Rigid, "A point of a rigid body.", {
        body body: Name, ANY, "Which body.";
        local local: Vec3, FINITE => Vec3::ZERO, "Relative to its origin, body axes [m].";
    };
    "node" => Node, "A node of particles or of a soft body.", {
        body body: Name, ANY, "Which body.";
        node node: u32, ANY, "Which of its nodes.";
    };
    "surfel" => Surfel, "A point of a body's surface, by its number.", {
        body body: Name, ANY, "Which body.";
        surfel surfel: u32, ANY, "Which of its surface points.";
    };
    "face" => Face, "A point on a triangle of a body's surface.", {
        body body: Name, ANY, "Which body.";
        triangle triangle: u32, ANY, "Which triangle of its surface.";
        weights weights: [Real; 3], FINITE, "Weights of its corners; they sum to one.";
    };
});

fn origin() -> SiteSpec {
    SiteSpec::World { point: Vec3::ZERO }
}

/// A rod or rope.
#[derive(Clone, Debug)]
pub(crate) struct Length {
    a: SiteSpec,
    b: SiteSpec,
    length: Real,
    strength: Real,
    break_force: Real,
}

record!(Length, "rod", "A rod or rope.",
    base |_| Length { a: origin(), b: origin(), length: 0.0, strength: Real::INFINITY, break_force: Real::INFINITY },
    needs {
        a: ANY, "One end.";
        b: ANY, "The other end.";
        length: NOT_NEGATIVE, "Its length [m].";
    },
    {
        strength: POSITIVE.or_infinite(), "Slips above this force [N].";
        break_force: POSITIVE.or_infinite(), "Breaks above this force [N].";
    }
);

/// A spring.
#[derive(Clone, Debug)]
pub(crate) struct Spring {
    a: SiteSpec,
    b: SiteSpec,
    length: Real,
    stiffness: Real,
    damping: Real,
    strength: Real,
    break_force: Real,
}

record!(Spring, "spring", "A damped spring.",
    base |_| Spring {
        a: origin(),
        b: origin(),
        length: 0.0,
        stiffness: 0.0,
        damping: 0.0,
        strength: Real::INFINITY,
        break_force: Real::INFINITY,
    },
    needs {
        a: ANY, "One end.";
        b: ANY, "The other end.";
        length: NOT_NEGATIVE, "Its rest length [m].";
        stiffness: NOT_NEGATIVE, "Stiffness [N/m].";
    },
    {
        damping: NOT_NEGATIVE, "Damping [N·s/m].";
        strength: POSITIVE.or_infinite(), "Slips above this force [N].";
        break_force: POSITIVE.or_infinite(), "Breaks above this force [N].";
    }
);

/// A range of distances.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    a: SiteSpec,
    b: SiteSpec,
    min: Real,
    max: Real,
    stiffness: Option<Real>,
    damping: Real,
    strength: Real,
    break_force: Real,
}

record!(Range, "distance", "Two sites within a range of distances.",
    base |_| Range {
        a: origin(),
        b: origin(),
        min: 0.0,
        max: Real::INFINITY,
        stiffness: None,
        damping: 0.0,
        strength: Real::INFINITY,
        break_force: Real::INFINITY,
    },
    needs {
        a: ANY, "One end.";
        b: ANY, "The other end.";
    },
    {
        min: NOT_NEGATIVE, "Least length [m].";
        max: NOT_NEGATIVE.or_infinite(), "Largest length [m].";
        stiffness: NOT_NEGATIVE, "Stiffness beyond the range [N/m]; without: rigid.";
        damping: NOT_NEGATIVE, "Damping beside the stiffness [N·s/m].";
        strength: POSITIVE.or_infinite(), "Slips above this force [N].";
        break_force: POSITIVE.or_infinite(), "Breaks above this force [N].";
    }
);

/// Finds a body by name; `None` when there is none, which is reported then.
pub(crate) type Find<'a> = dyn FnMut(&Name) -> Option<BodyId> + 'a;

fn side(name: &Option<Name>, find: &mut Find<'_>) -> Option<Option<BodyId>> {
    match name {
        None => Some(None),
        Some(name) => find(name).map(Some),
    }
}

pub(crate) fn site(spec: &SiteSpec, find: &mut Find<'_>) -> Option<Site> {
    Some(match spec {
        SiteSpec::Surfel { body, surfel } => Site::Surfel { body: find(body)?, surfel: *surfel },
        SiteSpec::Face { body, triangle, weights } => {
            Site::Face { body: find(body)?, triangle: *triangle, weights: *weights }
        }
        SiteSpec::World { point } => Site::World(*point),
        SiteSpec::Rigid { body, local } => Site::Rigid { body: find(body)?, local: *local },
        SiteSpec::Node { body, node } => Site::Node { body: find(body)?, node: *node },
    })
}

/// A site in the form of a scene file.
pub(crate) fn site_of(site: &Site, name: &dyn Fn(BodyId) -> Name) -> SiteSpec {
    match *site {
        Site::World(point) => SiteSpec::World { point },
        Site::Rigid { body, local } => SiteSpec::Rigid { body: name(body), local },
        Site::Node { body, node } => SiteSpec::Node { body: name(body), node },
        Site::Surfel { body, surfel } => SiteSpec::Surfel { body: name(body), surfel },
        Site::Face { body, triangle, weights } => SiteSpec::Face { body: name(body), triangle, weights },
    }
}

impl JointSpec {
    /// The engine's constraint; nothing when a body is missing. The world has all bodies.
    pub fn build(&self, world: &World, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        match self {
            Self::Attachment(a) => a.build(find),
            Self::Seam(s) => s.build(world, find),
            Self::DistanceSet(s) => s.build(world, find),
            Self::Bending(b) => b.build(world, find),
            Self::Volume(v) => v.build(find),
            Self::Patch(p) => p.build(find),
            Self::Tool(t) => t.build(find),
            Self::Fixed(p) => p.build(JointKind::Fixed, find),
            Self::Ball(p) => p.build(JointKind::Ball, find),
            Self::Hinge(d) => d.build(JointKind::Hinge, find),
            Self::Slider(d) => d.build(JointKind::Slider, find),
            Self::Rod(l) | Self::Rope(l) => {
                let (a, b) = (site(&l.a, find), site(&l.b, find));
                let min = if matches!(self, Self::Rod(_)) { l.length } else { 0.0 };
                let (max, strength, break_force) = (l.length, l.strength, l.break_force);
                Some(ConstraintSpec::Distance(Distance { a: a?, b: b?, min, max, strength, spring: None, break_force }))
            }
            Self::Spring(s) => {
                let (a, b) = (site(&s.a, find), site(&s.b, find));
                let spring = Some((s.stiffness, s.damping));
                let (min, max, strength, break_force) = (s.length, s.length, s.strength, s.break_force);
                Some(ConstraintSpec::Distance(Distance { a: a?, b: b?, min, max, strength, spring, break_force }))
            }
            Self::Distance(r) => {
                let (a, b) = (site(&r.a, find), site(&r.b, find));
                let spring = r.stiffness.map(|k| (k, r.damping));
                let (min, max, strength, break_force) = (r.min, r.max, r.strength, r.break_force);
                Some(ConstraintSpec::Distance(Distance { a: a?, b: b?, min, max, strength, spring, break_force }))
            }
        }
    }

    /// The form of a constraint of the engine. `name` gives the names of bodies.
    pub fn of(spec: &ConstraintSpec, name: &dyn Fn(BodyId) -> Name) -> Self {
        match spec {
            ConstraintSpec::Joint(joint) => {
                let driven = Driven::of(joint, name);
                match joint.kind {
                    JointKind::Fixed => Self::Fixed(driven.plain()),
                    JointKind::Ball => Self::Ball(driven.plain()),
                    JointKind::Hinge => Self::Hinge(driven),
                    JointKind::Slider => Self::Slider(driven),
                }
            }
            ConstraintSpec::Distance(d) => {
                let (a, b, length) = (site_of(&d.a, name), site_of(&d.b, name), d.max);
                let Distance { min, max, strength, spring, break_force, .. } = *d;
                match spring {
                    None if min == max => Self::Rod(Length { a, b, length, strength, break_force }),
                    None if min == 0.0 && max.is_finite() => Self::Rope(Length { a, b, length, strength, break_force }),
                    Some((stiffness, damping)) if min == max => {
                        Self::Spring(Spring { a, b, length, stiffness, damping, strength, break_force })
                    }
                    _ => {
                        let (stiffness, damping) = (spring.map(|s| s.0), spring.map_or(0.0, |s| s.1));
                        Self::Distance(Range { a, b, min, max, stiffness, damping, strength, break_force })
                    }
                }
            }
            ConstraintSpec::Attachment(a) => Self::Attachment(AttachSpec::of(a, name)),
            ConstraintSpec::DistanceSet(s) => Self::DistanceSet(DistanceSetSpec::of(s, name)),
            ConstraintSpec::Bending(b) => Self::Bending(BendingSpec::of(b, name)),
            ConstraintSpec::Volume(v) => Self::Volume(VolumeSpec::of(v, name)),
            ConstraintSpec::PatchJoint(p) => Self::Patch(PatchSpec::of(p, name)),
            ConstraintSpec::Tool(t) => Self::Tool(ToolJoint::of(t, name)),
        }
    }
}

impl Plain {
    fn build(&self, kind: JointKind, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let Self { a, b, anchor, axis, frames, break_force, collide, stabilization } = self.clone();
        let none = (None, None);
        let driven =
            Driven { a, b, anchor, axis, frames, limits: none.0, motor: none.1, break_force, collide, stabilization };
        driven.build(kind, find)
    }
}

impl Driven {
    fn build(&self, kind: JointKind, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let (a, b) = (side(&self.a, find), side(&self.b, find));
        Some(ConstraintSpec::Joint(Joint {
            kind,
            a: a?,
            b: b?,
            anchor: self.anchor,
            axis: self.axis.unwrap_or(Vec3::X),
            frames: self.frames.map(|f| (f.a, f.b)),
            limits: self.limits.map(|[low, high]| (low, high)),
            motor: self.motor,
            break_force: self.break_force.unwrap_or(Real::INFINITY),
            collide: self.collide,
            stabilization: self.stabilization,
        }))
    }

    fn of(joint: &Joint, name: &dyn Fn(BodyId) -> Name) -> Self {
        let Joint { kind: _, a, b, anchor, axis, frames, limits, motor, break_force, collide, stabilization } = joint;
        Self {
            a: a.map(name),
            b: b.map(name),
            // the frames contain the rest pose
            anchor: anchor.filter(|_| frames.is_none()),
            axis: frames.is_none().then_some(*axis),
            frames: frames.map(|(a, b)| Frames { a, b }),
            limits: limits.map(|(low, high)| [low, high]),
            motor: *motor,
            break_force: Some(*break_force).filter(|f| f.is_finite()),
            collide: *collide,
            stabilization: *stabilization,
        }
    }

    fn plain(self) -> Plain {
        let Self { a, b, anchor, axis, frames, limits: _, motor: _, break_force, collide, stabilization } = self;
        Plain { a, b, anchor, axis, frames, break_force, collide, stabilization }
    }
}
