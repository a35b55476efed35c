//! What a tool is: its description with bodies to be added, and the constraint that the world keeps.

use super::coupling::{Coupling, require};
use crate::error::{Error, finite_vec};
use crate::math::{Pose, Real, Vec3};
use crate::model::{BodyId, ConstraintId, RigidBody};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, Via, Wide, record};

/// Default of the largest speed of a commanded position [m/s].
const MAX_SPEED: f64 = 5.0;
/// Default of the largest rate of a commanded orientation [rad/s].
const MAX_SPIN: f64 = 50.0;

/// A tool to be added: a rigid body of any shape and its coupling to a hand.
///
/// ```
/// use sinew::tool::{Coupling, ToolSpec};
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { dt: 1e-3, ..Settings::default() })?;
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
/// let probe = RigidBody::dynamic().shape(Shape::ball(5e-3)).mass(5e-3).at([0.0, 6e-3, 0.0]);
/// let coupling = Coupling { stiffness: 500.0, ..Coupling::default() };
/// let ids = world.add_tool(ToolSpec::new(probe).coupling(coupling))?;
/// // the hand goes 2 mm below where the floor lets the tool go: 1 N
/// for _ in 0..400 {
///     world.step(&Input::none().tool(ids.tool, Pose::at(Vec3::Y * 3e-3)));
/// }
/// let on_hand = world.tool(ids.tool)?.on_hand.force;
/// assert!((on_hand.y - 1.0).abs() < 0.02, "{on_hand}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The body that the hand moves; its pose is that of the start. It has no weight, since a hand carries it, and does
    /// not sleep.
    pub body: RigidBody,
    /// Between the commanded pose and the origin of the body. The body gets at least 70 % of critical damping.
    pub coupling: Coupling,
    /// Largest speed of the commanded position [m/s]: a pose that is farther away is approached with it. Default 5.
    pub max_speed: f64,
    /// Largest rate of the commanded orientation [rad/s]. Default 50.
    pub max_spin: f64,
    /// Jaws or anchors; none: a probe.
    pub grasper: Option<Grasper>,
}

impl ToolSpec {
    /// A probe with the default coupling.
    pub fn new(body: RigidBody) -> Self {
        Self { body, coupling: Coupling::default(), max_speed: MAX_SPEED, max_spin: MAX_SPIN, grasper: None }
    }

    /// Its coupling.
    pub fn coupling(mut self, coupling: Coupling) -> Self {
        self.coupling = coupling;
        self
    }

    /// Its jaws.
    pub fn grasper(mut self, grasper: Grasper) -> Self {
        self.grasper = Some(grasper);
        self
    }
}

/// Jaws of a tool. The opening is the distance between the two jaws along an axis, 0 where they were described.
///
/// ```
/// use sinew::tool::{Grasper, ToolSpec};
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { dt: 2e-3, ..Settings::default() })?;
/// let jaw = |x| RigidBody::dynamic().shape(Shape::cuboid(2e-3, 0.01, 5e-3)).mass(0.01).at([x, -0.02, 0.0]);
/// let shaft = RigidBody::dynamic().shape(Shape::capsule(0.02, 3e-3)).mass(0.02).at([0.0, 0.1, 0.0]);
/// let grasper = Grasper { max_opening: 0.02, force: 5.0, ..Grasper::new([jaw(2e-3), jaw(-2e-3)]) };
/// let ids = world.add_tool(ToolSpec::new(shaft).grasper(grasper))?;
/// for _ in 0..200 {
///     world.step(&Input::none().grasp(ids.tool, Pose::at(Vec3::Y * 0.1), 0.012));
/// }
/// let opening = world.tool(ids.tool)?.opening;
/// assert!((opening - 0.012).abs() < 1e-4, "{opening}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Grasper {
    /// The two jaws, closed, with poses relative to the tool; the first opens along the axis, the second against it.
    /// None for a gripper that only anchors.
    pub jaws: Option<[RigidBody; 2]>,
    /// Direction of opening, axes of the tool. Default x.
    pub axis: Vec3,
    /// Largest opening [m]. Default 0.02.
    pub max_opening: Real,
    /// Largest force with which each jaw is driven [N]. Default 5.
    pub force: Real,
    /// Largest rate of the commanded opening [m/s]. Default 0.2.
    pub speed: Real,
    /// Opening of the jaws at the start [m]. Default 0: closed. A gripper without jaws starts at its largest opening.
    pub opening: Real,
    /// Anchors surface points on closing.
    pub hold: Option<Hold>,
}

impl Grasper {
    /// Two jaws that hold by friction.
    pub fn new(jaws: impl Into<Option<[RigidBody; 2]>>) -> Self {
        Self { jaws: jaws.into(), axis: Vec3::X, max_opening: 0.02, force: 5.0, speed: 0.2, opening: 0.0, hold: None }
    }
}

/// Gripping by anchors: on closing, points and midpoints of edges of the surfaces in a box between the jaws are anchored
/// to the tool, at least three that are not in line, at most sixteen that are far from each other.
///
/// ```
/// use sinew::tool::{Grasper, Hold, ToolSpec};
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::new(Settings { dt: 5e-3, gravity: Vec3::ZERO, ..Settings::default() })?;
/// let block = TetMesh::block([4, 4, 4], Vec3::splat(0.04))?;
/// world.add_soft(SoftBody::corotational(block, ElasticMaterial::new(1e4, 0.4, 1000.0)))?;
/// let hold = Hold { half: Vec3::splat(0.008), engage: 0.005, ..Hold::default() };
/// let grasper = Grasper { hold: Some(hold), ..Grasper::new(None) };
/// let shaft = RigidBody::dynamic().mass(0.02).inertia(Sym3::diagonal(Vec3::splat(1e-6))).at([0.0, 0.02, 0.0]);
/// let ids = world.add_tool(ToolSpec::new(shaft).grasper(grasper))?;
/// for _ in 0..60 {
///     world.step(&Input::none().grasp(ids.tool, Pose::at(Vec3::Y * 0.02), 0.0));
/// }
/// assert!(world.tool(ids.tool)?.anchors >= 3);
/// let anchor: &ToolAnchor = &world.state().tool_anchors[0];
/// assert_eq!(anchor.weights.iter().sum::<Real>(), 1.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Centre of the box, axes of the tool [m].
    pub center: Vec3,
    /// Half its edges [m].
    pub half: Vec3,
    /// Commanded opening at which points are taken when closing, and released when opening [m].
    pub engage: Real,
    /// Largest force on a point, for each of three directions [N]: beyond it the point slides.
    pub force: Real,
    /// Distance that a point may slide before it is lost [m].
    pub slip: Real,
}

impl Default for Hold {
    fn default() -> Self {
        Self { center: Vec3::ZERO, half: Vec3::splat(5e-3), engage: 2e-3, force: 2.0, slip: 5e-3 }
    }
}

/// A tool of a world, as saves have it.
///
/// ```
/// use sinew::tool::ToolSpec;
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ids = world.add_tool(ToolSpec::new(RigidBody::dynamic().shape(Shape::ball(0.01))))?;
/// let Some(ConstraintSpec::Tool(tool)) = &world.blueprint()?.constraints[0].item else { panic!("one tool") };
/// assert_eq!((tool.body, tool.grip.is_none()), (ids.body, true));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The body that the hand moves.
    pub body: BodyId,
    /// Its coupling.
    pub coupling: Coupling,
    /// Largest speed of the commanded position [m/s].
    pub max_speed: f64,
    /// Largest rate of the commanded orientation [rad/s].
    pub max_spin: f64,
    /// Its gripper.
    pub grip: Option<Grip>,
}

/// The gripper of a tool of a world.
///
/// An example is at [`Grasper`].
#[derive(Clone, Debug, PartialEq)]
pub struct Grip {
    /// The jaws, each with its origin on the tool when closed, axes of the tool [m].
    pub jaws: Option<[(BodyId, Vec3); 2]>,
    /// Direction of opening, axes of the tool, a unit vector.
    pub axis: Vec3,
    /// Largest opening [m].
    pub max_opening: Real,
    /// Largest force with which each jaw is driven [N].
    pub force: Real,
    /// Largest rate of the commanded opening [m/s].
    pub speed: Real,
    /// Anchors surface points on closing.
    pub hold: Option<Hold>,
}

/// Ids of a tool and its bodies.
///
/// An example is at [`ToolSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolIds {
    /// The tool.
    pub tool: ConstraintId,
    /// The body that the hand moves.
    pub body: BodyId,
    /// Its jaws.
    pub jaws: Option<[BodyId; 2]>,
}

/// What a hand asks of a tool.
///
/// ```
/// use sinew::tool::{ToolCommand, ToolSpec};
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { dt: 1e-3, ..Settings::default() })?;
/// let ids = world.add_tool(ToolSpec::new(RigidBody::dynamic().shape(Shape::ball(5e-3)).mass(5e-3)))?;
/// // a device of 100 Hz: the pose is to be reached in 10 ms, not in the next step
/// let command = ToolCommand { pose: Pose::at(Vec3::X * 0.01), opening: None, time: 0.01 };
/// world.step(&Input::none().with(Command::Tool { tool: ids.tool, command }));
/// assert!((world.tool(ids.tool)?.commanded.position.x - 0.001).abs() < 1e-6);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCommand {
    /// Pose of the body's origin.
    pub pose: Pose,
    /// Opening of the jaws [m]; none: as before.
    pub opening: Option<Real>,
    /// Time stamp: the world time at which the pose is to be reached [s]. At or before the end of the step: at its end.
    /// A command with an older stamp than the one before is refused.
    pub time: f64,
}

impl Tool {
    /// A probe with the default coupling.
    pub fn new(body: BodyId) -> Self {
        Self { body, coupling: Coupling::default(), max_speed: MAX_SPEED, max_spin: MAX_SPIN, grip: None }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        self.coupling.check()?;
        require("coupling.turn_stiffness", self.coupling.turn_stiffness, f64::is_finite, "finite for a body")?;
        require("tool.max_speed", self.max_speed, positive, "positive [m/s]")?;
        require("tool.max_spin", self.max_spin, positive, "positive [rad/s]")?;
        self.grip.as_ref().map_or(Ok(()), Grip::check)
    }
}

impl Grip {
    /// The default one, without jaws.
    fn bare() -> Self {
        let Grasper { jaws: _, axis, max_opening, force, speed, opening: _, hold } = Grasper::new(None);
        Self { jaws: None, axis, max_opening, force, speed, hold }
    }

    fn check(&self) -> Result<(), Error> {
        let size = |what: &str, x: Real| crate::error::positive(what, x);
        finite_vec("grasper.axis", self.axis)?;
        crate::error::check(
            "grasper.axis",
            self.axis.length(),
            (self.axis.length() - 1.0).abs() < 1e-3,
            "a unit vector",
        )?;
        size("grasper.max_opening", self.max_opening)?;
        size("grasper.force", self.force)?;
        size("grasper.speed", self.speed)?;
        let Some(hold) = &self.hold else { return Ok(()) };
        finite_vec("hold.center", hold.center)?;
        for (name, half) in ["hold.half.x", "hold.half.y", "hold.half.z"].into_iter().zip(hold.half.to_array()) {
            size(name, half)?;
        }
        crate::error::not_negative("hold.engage", hold.engage)?;
        size("hold.force", hold.force)?;
        size("hold.slip", hold.slip)
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Tool, "tool of bodies", "Ties a rigid body to a hand.", Tool::new(BodyId::NONE), {
    body [required]: ANY, "Which body.";
    coupling: ANY, "Between hand and tool.";
    max_speed via Wide: POSITIVE, "Largest speed of the commanded position [m/s].";
    max_spin via Wide: POSITIVE, "Largest rate of the commanded orientation [rad/s].";
    grip: ANY, "Its jaws.";
});

/// A jaw as it is described.
struct Jaw {
    body: BodyId,
    closed: Vec3,
}

record!(Jaw, "jaw", "A jaw of a tool.", Jaw { body: BodyId::NONE, closed: Vec3::ZERO }, {
    body [required]: ANY, "Which body.";
    closed [required]: FINITE, "Its origin when closed, axes of the tool [m].";
});

impl Via<(BodyId, Vec3)> for Jaw {
    fn of(&(body, closed): &(BodyId, Vec3)) -> Self {
        Self { body, closed }
    }

    fn back(self) -> (BodyId, Vec3) {
        (self.body, self.closed)
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Grip, "grip", "Jaws that are bodies of the world.", Grip::bare(), {
    jaws via Option<[Jaw; 2]>: ANY, "The jaws, on sliders of their own; without: none.";
    axis: FINITE, "Direction of opening, axes of the tool, a unit vector.";
    max_opening: POSITIVE, "Largest opening [m].";
    force: POSITIVE, "Largest force of each jaw [N].";
    speed: POSITIVE, "Largest rate of the opening [m/s].";
    hold: ANY, "Anchors surface points on closing.";
});

record!(Hold, "hold", "Surface points between the jaws are anchored to the tool on closing.", Hold::default(), {
    center: FINITE, "Centre of the box in which points are taken, axes of the tool [m].";
    half: POSITIVE, "Half its edges [m].";
    engage: NOT_NEGATIVE, "Commanded opening at which points are taken and released [m].";
    force: POSITIVE, "Largest force on a point, in each of three directions [N].";
    slip: POSITIVE, "Distance that a point may slide before it is lost [m].";
});

// The order of the fields is that of recordings: new ones are appended.
record!(ToolCommand, "tool command", "What a hand asks of a tool.",
    ToolCommand { pose: Pose::IDENTITY, opening: None, time: 0.0 }, {
    pose [required]: ANY, "Pose of the body's origin.";
    opening: NOT_NEGATIVE, "Opening of the jaws [m]; without: as before.";
    time via Wide: FINITE, "World time at which the pose is to be reached [s].";
});
