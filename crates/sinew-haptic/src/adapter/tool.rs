//! The tool in the world: a light rigid body tied to a kinematic handle by the virtual coupling, as six spring rows that
//! the step solves implicitly with all others.

use crate::coupling::Coupling;
use crate::error::{Error, require};
use crate::frame::{Frame, Motion};
use sinew::{BodyId, Pose, Real, RigidBody, RowWriter, Rows, Shape, Site, Sym3, Vec3, View, World};
use sinew_math::{Wide3, narrow, narrow_rotation, widen, widen_rotation};

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
        self.coupling.check()
    }
}

/// A tool of a world.
#[derive(Clone, Debug)]
pub(super) struct ToolBody {
    pub probe: Probe,
    pub body: BodyId,
    pub handle: BodyId,
}

pub(super) fn place(frame: &Frame) -> Pose {
    Pose::new(narrow(frame.position), narrow_rotation(frame.rotation))
}

pub(super) fn frame(pose: &Pose) -> Frame {
    Frame { position: widen(pose.position), rotation: widen_rotation(pose.rotation) }
}

impl ToolBody {
    /// Adds handle, tool and coupling to a world. The tool has no weight: it is carried by the hand.
    pub fn add(world: &mut World, probe: Probe) -> Result<Self, Error> {
        probe.check()?;
        let start = place(&probe.pose);
        let set = |body: RigidBody| body.at(start.position).turned(start.rotation).can_sleep(false);
        let handle = world.add_rigid(set(RigidBody::kinematic()))?;
        let radius = probe.radius as Real;
        let shape =
            if probe.length > 0.0 { Shape::capsule((0.5 * probe.length) as Real, radius) } else { Shape::ball(radius) };
        // the inertia of a ball with the size of the tool: a thin one has hardly any about its axis, and rings
        let size = probe.radius.max(0.5 * probe.length);
        let inertia = Sym3::diagonal(Vec3::splat((0.4 * probe.mass * size * size) as Real));
        let tool = RigidBody::dynamic().shape(shape).mass(probe.mass as Real).inertia(inertia).gravity_scale(0.0);
        let tool = tool.material(sinew::SurfaceMaterial::friction(probe.friction as Real));
        let body = world.add_rigid(set(tool))?;
        world.add_custom(std::sync::Arc::new(CouplingRows { handle, body, probe }))?;
        Ok(Self { probe, body, handle })
    }
}

/// The coupling as rows. Limits of force cut the error: the rows have none of their own.
#[derive(Debug)]
struct CouplingRows {
    handle: BodyId,
    body: BodyId,
    probe: Probe,
}

impl CouplingRows {
    /// B_c = 1.4 √(K_c m): the tool alone is damped at 70 % of critical.
    fn numbers(&self) -> [(f64, f64, f64); 2] {
        let Coupling { stiffness, damping, turn_stiffness, turn_damping, max_force, max_torque } = self.probe.coupling;
        let turn = if turn_stiffness.is_finite() { turn_stiffness } else { 10.0 };
        let size = self.probe.radius.max(0.5 * self.probe.length);
        let inertia = 0.4 * self.probe.mass * size * size;
        [
            (stiffness, damping.max(1.4 * (stiffness * self.probe.mass).sqrt()), max_force),
            (turn, turn_damping.max(1.4 * (turn * inertia).sqrt()), max_torque),
        ]
    }
}

impl Rows for CouplingRows {
    fn bodies(&self) -> Vec<BodyId> {
        vec![self.handle, self.body]
    }

    fn rows(&self, view: &View<'_>, out: &mut RowWriter<'_>) -> Result<(), sinew::Error> {
        let [handle, tool] = [view.body_pose(self.handle)?, view.body_pose(self.body)?];
        let Motion { linear, angular } = frame(&tool).error_from(&frame(&handle));
        let [(k, c, force), (turn, spin, torque)] = self.numbers();
        let linear = crate::frame::shortened(linear, force / k);
        let angular = crate::frame::shortened(angular, torque / turn);
        let at = |body| Site::Rigid { body, local: Vec3::ZERO };
        for (axis, error) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().zip(linear.to_array()) {
            let row = out.row().push(&at(self.body), axis)?.push(&at(self.handle), -axis)?;
            row.spring(error as Real, k as Real, c as Real);
        }
        for (axis, error) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().zip(angular.to_array()) {
            let row = out.row().twist(self.body, axis)?.twist(self.handle, -axis)?;
            row.spring(error as Real, turn as Real, spin as Real);
        }
        Ok(())
    }
}
