//! Commands of a step: plain data that names bodies; a world turns them into the engine's own.

use crate::array::{pose, rows3, vec3, vec3_or};
use crate::body::Body;
use crate::error::{bad, engine};
use pyo3::prelude::*;
use pyo3::types::PyString;
use sinew::{BodyId, Input, Pose, Vec3, World};

/// A command to a body. Forces act in every step of `World.step(n, ..)`, all others in the first.
#[pyclass(frozen, module = "sinew_physics")]
#[derive(Debug)]
pub struct Command {
    body: Target,
    action: Action,
}

/// The body, by its name or its id.
#[derive(Clone, Debug)]
enum Target {
    Name(String),
    Id(BodyId),
}

#[derive(Clone, Debug)]
enum Action {
    Force { force: Vec3, torque: Vec3 },
    ForceAt { force: Vec3, point: Vec3 },
    Impulse { impulse: Vec3, point: Option<Vec3> },
    Velocity { velocity: Vec3, spin: Vec3 },
    Teleport(Pose),
    Target(Pose),
    NodeForce { node: u32, force: Vec3 },
    NodeTargets(Vec<(u32, Vec3)>),
    Remove,
}

impl Target {
    fn of(body: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(name) = body.cast::<PyString>() {
            return Ok(Self::Name(name.to_cow()?.into_owned()));
        }
        match body.cast::<Body>() {
            Ok(body) => Ok(Self::Id(body.get().id())),
            Err(_) => Err(bad("a command needs the name of a body, or a Body")),
        }
    }
}

#[pymethods]
impl Command {
    /// A force on the centre of mass and a torque [N, N·m].
    #[staticmethod]
    #[pyo3(signature = (body, force, torque=None))]
    fn force(body: &Bound<'_, PyAny>, force: &Bound<'_, PyAny>, torque: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let action = Action::Force { force: vec3("force", force)?, torque: vec3_or("torque", torque, Vec3::ZERO)? };
        Ok(Self { body: Target::of(body)?, action })
    }

    /// A force at a point of the world [N, m].
    #[staticmethod]
    fn force_at(body: &Bound<'_, PyAny>, force: &Bound<'_, PyAny>, point: &Bound<'_, PyAny>) -> PyResult<Self> {
        let action = Action::ForceAt { force: vec3("force", force)?, point: vec3("point", point)? };
        Ok(Self { body: Target::of(body)?, action })
    }

    /// An impulse at a point of the world; without one at the centre of mass [N·s, m].
    #[staticmethod]
    #[pyo3(signature = (body, impulse, point=None))]
    fn impulse(
        body: &Bound<'_, PyAny>,
        impulse: &Bound<'_, PyAny>,
        point: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let point = point.map(|p| vec3("point", p)).transpose()?;
        Ok(Self { body: Target::of(body)?, action: Action::Impulse { impulse: vec3("impulse", impulse)?, point } })
    }

    /// Sets velocity and spin of a rigid body [m/s, rad/s].
    #[staticmethod]
    #[pyo3(signature = (body, velocity, spin=None))]
    fn velocity(
        body: &Bound<'_, PyAny>,
        velocity: &Bound<'_, PyAny>,
        spin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let spin = vec3_or("spin", spin, Vec3::ZERO)?;
        Ok(Self { body: Target::of(body)?, action: Action::Velocity { velocity: vec3("velocity", velocity)?, spin } })
    }

    /// Puts a rigid body elsewhere at once; rotation is a quaternion (x, y, z, w).
    #[staticmethod]
    #[pyo3(signature = (body, position, rotation=None))]
    fn teleport(
        body: &Bound<'_, PyAny>,
        position: &Bound<'_, PyAny>,
        rotation: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self { body: Target::of(body)?, action: Action::Teleport(pose(position, rotation)?) })
    }

    /// Pose of a kinematic body at the end of the step; it pushes others on its way.
    #[staticmethod]
    #[pyo3(signature = (body, position, rotation=None))]
    fn target(
        body: &Bound<'_, PyAny>,
        position: &Bound<'_, PyAny>,
        rotation: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self { body: Target::of(body)?, action: Action::Target(pose(position, rotation)?) })
    }

    /// A force on a node [N].
    #[staticmethod]
    fn node_force(body: &Bound<'_, PyAny>, node: u32, force: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { body: Target::of(body)?, action: Action::NodeForce { node, force: vec3("force", force)? } })
    }

    /// Positions of pinned nodes at the end of the step [m]: as many rows as nodes.
    #[staticmethod]
    fn node_targets(body: &Bound<'_, PyAny>, nodes: Vec<u32>, positions: &Bound<'_, PyAny>) -> PyResult<Self> {
        let positions = rows3("positions", positions)?;
        if nodes.len() != positions.len() {
            return Err(bad(format!("{} nodes and {} positions: give one for each", nodes.len(), positions.len())));
        }
        Ok(Self { body: Target::of(body)?, action: Action::NodeTargets(nodes.into_iter().zip(positions).collect()) })
    }

    /// Removes a body with its constraints.
    #[staticmethod]
    fn remove(body: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { body: Target::of(body)?, action: Action::Remove })
    }

    fn __repr__(&self) -> String {
        format!("Command({:?}, {:?})", self.body, self.action)
    }
}

/// Commands of a call: those of its first step, and those of each.
#[derive(Debug, Default)]
pub struct Orders {
    pub first: Input,
    pub each: Input,
}

impl Orders {
    /// Of a list of commands; nothing of none.
    pub fn of(world: &World, commands: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut orders = Self::default();
        let Some(commands) = commands else { return Ok(orders) };
        if let Ok(one) = commands.cast::<Command>() {
            orders.add(world, one.get())?;
            return Ok(orders);
        }
        for command in commands.try_iter().map_err(|_| bad("commands: expected a list of Command"))? {
            let command = command?;
            let command = command.cast::<Command>().map_err(|_| bad("commands: expected a list of Command"))?;
            orders.add(world, command.get())?;
        }
        Ok(orders)
    }

    fn add(&mut self, world: &World, command: &Command) -> PyResult<()> {
        use sinew::Command as To;
        let body = find(world, &command.body)?;
        let view = world.body(body).map_err(engine)?;
        let rigid = |action: &str| match view.is_rigid() {
            true => Ok(()),
            false => Err(bad(format!("{action}: '{}' is a body of nodes; use the commands of nodes", view.name()))),
        };
        let node = |node: u32| match (node as usize) < view.node_positions().len() {
            true => Ok(node),
            false => {
                let count = view.node_positions().len();
                Err(bad(format!("node {node}: '{}' has {count} nodes", view.name())))
            }
        };
        let once = match &command.action {
            &Action::Force { force, torque } => {
                rigid("force")?;
                self.each.commands.push(To::Force { body, force, torque });
                return Ok(());
            }
            &Action::ForceAt { force, point } => {
                rigid("force_at")?;
                self.each.commands.push(To::ForceAt { body, force, point });
                return Ok(());
            }
            &Action::NodeForce { node: k, force } => {
                self.each.commands.push(To::NodeForce { body, node: node(k)?, force });
                return Ok(());
            }
            &Action::Impulse { impulse, point } => {
                rigid("impulse")?;
                To::Impulse { body, impulse, point: point.unwrap_or(view.center_of_mass()) }
            }
            &Action::Velocity { velocity, spin } => {
                rigid("velocity")?;
                To::Velocity { body, velocity, spin }
            }
            &Action::Teleport(pose) => {
                rigid("teleport")?;
                To::Teleport { body, pose }
            }
            &Action::Target(pose) => {
                if view.motion() != sinew::Motion::Kinematic {
                    return Err(bad(format!("target: '{}' is not kinematic", view.name())));
                }
                To::Target { body, pose }
            }
            Action::NodeTargets(targets) => {
                for &(k, position) in targets {
                    self.first.commands.push(To::NodeTarget { body, node: node(k)?, position });
                }
                return Ok(());
            }
            Action::Remove => To::RemoveBody(body),
        };
        self.first.commands.push(once);
        Ok(())
    }
}

fn find(world: &World, target: &Target) -> PyResult<BodyId> {
    match target {
        Target::Id(id) => Ok(*id),
        Target::Name(name) => named(world, name),
    }
}

/// The body of a name, or of a slot as `#3`.
pub fn named(world: &World, name: &str) -> PyResult<BodyId> {
    let found = world.bodies().find(|b| b.name() == name && !name.is_empty()).map(|b| b.id());
    let slot = || {
        let slot: u32 = name.strip_prefix('#')?.parse().ok()?;
        world.bodies().map(|b| b.id()).find(|id| id.to_parts().0 == slot)
    };
    found.or_else(slot).ok_or_else(|| {
        let meant = sinew_scene::gallery::near_miss(name, world.bodies().map(|b| b.name()));
        let hint = meant.map_or(String::new(), |m| format!("; did you mean '{m}'?"));
        bad(format!("no body has the name '{name}'{hint}"))
    })
}
