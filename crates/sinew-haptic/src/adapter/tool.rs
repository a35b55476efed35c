//! The tool in the world: a light rigid body, tied to its commanded pose by the coupling of `sinew::tool`.

use crate::error::{Error, require};
use sinew::tool::{Coupling, ToolSpec};
use sinew::{BodyId, ConstraintId, Pose, Real, RigidBody, Shape, SurfaceMaterial, Sym3, Vec3, World};
use sinew_math::{Frame, Wide3, narrow, narrow_rotation, widen, widen_rotation};

/// A probe: a segment with a radius, along the y axis of the tool around its origin. Length 0 is a ball.
///
/// An example is at [`WorldPhysics`](crate::WorldPhysics).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Radius [m].
    pub radius: f64,
    /// Length of the segment [m].
    pub length: f64,
    /// Mass of the tool in the world [kg]. Light: the world's tool rings with v √(K m).
    pub mass: f64,
    /// Friction coefficient of its contacts.
    pub friction: f64,
    /// The coupling; the local model has the same.
    pub coupling: Coupling,
    /// Pose at the start.
    pub pose: Frame,
}

impl Probe {
    /// A ball of 5 g without friction.
    pub fn ball(radius: f64, coupling: Coupling) -> Self {
        Self { radius, length: 0.0, mass: 5e-3, friction: 0.0, coupling, pose: Frame::default() }
    }

    /// Ends of the segment in tool axes [m].
    pub(super) fn segment(&self) -> [Wide3; 2] {
        [Wide3::Y * (-0.5 * self.length), Wide3::Y * (0.5 * self.length)]
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let size = |x: f64| x.is_finite() && x >= 0.0;
        require("probe.radius", self.radius, positive, "positive [m]")?;
        require("probe.length", self.length, size, "not negative [m]")?;
        require("probe.mass", self.mass, positive, "positive [kg]")?;
        require("probe.friction", self.friction, size, "not negative")?;
        Ok(self.coupling.check()?)
    }
}

/// A tool of a world.
#[derive(Clone, Debug)]
pub(super) struct ToolBody {
    pub probe: Probe,
    pub body: BodyId,
    pub tool: ConstraintId,
}

pub(super) fn place(frame: &Frame) -> Pose {
    Pose::new(narrow(frame.position), narrow_rotation(frame.rotation))
}

pub(super) fn frame(pose: &Pose) -> Frame {
    Frame { position: widen(pose.position), rotation: widen_rotation(pose.rotation) }
}

/// Stiffness of rotation of the world's tool where the local model turns with the device [N·m/rad].
const RIGID: f64 = 10.0;
/// Limits of the commanded motion are those of the loop: the world has none of its own [m/s, rad/s].
const UNLIMITED: f64 = 1e3;

impl ToolBody {
    /// A tool that the world has already. Its body must be one ball or capsule: only those are felt.
    pub fn adopt(world: &World, tool: ConstraintId) -> Result<Self, Error> {
        let description = world.tool_description(tool)?;
        let view = world.body(description.body)?;
        let name = if view.name().is_empty() { "tool".to_owned() } else { format!("tool '{}'", view.name()) };
        let mut shapes = view.shapes();
        let refuse =
            |what: &str| Error::World(format!("{name} {what}: give its body one ball or capsule at its origin"));
        let (Some((place, shape)), None) = (shapes.next(), shapes.next()) else {
            return Err(refuse("has several shapes or none"));
        };
        let (radius, length) = match shape {
            Shape::Ball { radius } => (f64::from(*radius), 0.0),
            Shape::Capsule { half_height, radius } => (f64::from(*radius), 2.0 * f64::from(*half_height)),
            _ => return Err(refuse("is no ball and no capsule")),
        };
        if place != Pose::IDENTITY {
            return Err(refuse("has its shape away from its origin"));
        }
        let friction = view.material().map_or(0.0, |m| f64::from(m.static_friction));
        let probe = Probe {
            radius,
            length,
            mass: f64::from(view.mass()),
            friction,
            coupling: description.coupling,
            pose: frame(&view.pose()?),
        };
        Ok(Self { probe, body: description.body, tool })
    }

    /// Adds a tool to a world.
    pub fn add(world: &mut World, probe: Probe) -> Result<Self, Error> {
        probe.check()?;
        let start = place(&probe.pose);
        let radius = probe.radius as Real;
        let shape =
            if probe.length > 0.0 { Shape::capsule((0.5 * probe.length) as Real, radius) } else { Shape::ball(radius) };
        // the inertia of a ball with the size of the tool: a thin one has hardly any about its axis, and rings
        let size = probe.radius.max(0.5 * probe.length);
        let inertia = Sym3::diagonal(Vec3::splat((0.4 * probe.mass * size * size) as Real));
        let body = RigidBody::dynamic().shape(shape).mass(probe.mass as Real).inertia(inertia);
        let body = body.material(SurfaceMaterial::friction(probe.friction as Real));
        let turn = probe.coupling.turn_stiffness;
        let coupling = Coupling { turn_stiffness: if turn.is_finite() { turn } else { RIGID }, ..probe.coupling };
        let spec = ToolSpec::new(body.at(start.position).turned(start.rotation)).coupling(coupling);
        let ids = world.add_tool(ToolSpec { max_speed: UNLIMITED, max_spin: UNLIMITED, ..spec })?;
        Ok(Self { probe, body: ids.body, tool: ids.tool })
    }
}
