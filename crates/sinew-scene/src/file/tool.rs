//! Tools: with their bodies as a table of the file, or as a joint that ties bodies of the file to a hand, which is how
//! running worlds are written.

use super::body::RigidSpec;
use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, record};
use super::joint::Find;
use super::plain::{Name, Wide};
use sinew::tool::{Coupling, Grasper, Grip, Hold, Tool, ToolSpec};
use sinew::{BodyId, ConstraintSpec, Motion, Real, Vec3};

/// The coupling in the form of a scene file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CouplingSpec {
    stiffness: Wide,
    damping: Wide,
    turn_stiffness: Wide,
    turn_damping: Wide,
    max_force: Wide,
    max_torque: Wide,
}

record!(CouplingSpec, "coupling", "The spring and damper between hand and tool.",
    base |_| CouplingSpec::of(&Coupling::default()),
    {
        stiffness: POSITIVE, "Of translation [N/m].";
        damping: NOT_NEGATIVE, "Of translation [N·s/m]; at least 70 % of critical is taken.";
        turn_stiffness: POSITIVE, "Of rotation [N·m/rad].";
        turn_damping: NOT_NEGATIVE, "Of rotation [N·m·s/rad]; at least 70 % of critical is taken.";
        max_force: POSITIVE, "Largest force [N].";
        max_torque: POSITIVE, "Largest torque [N·m].";
    }
);

impl CouplingSpec {
    fn of(coupling: &Coupling) -> Self {
        let Coupling { stiffness, damping, turn_stiffness, turn_damping, max_force, max_torque } = *coupling;
        let [stiffness, damping, turn_stiffness] = [stiffness, damping, turn_stiffness].map(Wide);
        let [turn_damping, max_force, max_torque] = [turn_damping, max_force, max_torque].map(Wide);
        Self { stiffness, damping, turn_stiffness, turn_damping, max_force, max_torque }
    }

    fn build(&self) -> Coupling {
        let Self { stiffness, damping, turn_stiffness, turn_damping, max_force, max_torque } = *self;
        Coupling {
            stiffness: stiffness.0,
            damping: damping.0,
            turn_stiffness: turn_stiffness.0,
            turn_damping: turn_damping.0,
            max_force: max_force.0,
            max_torque: max_torque.0,
        }
    }
}

record!(Hold, "hold", "Surface points between the jaws are anchored to the tool on closing.", base |_| Hold::default(), {
    center: FINITE, "Centre of the box in which points are taken, axes of the tool [m].";
    half: POSITIVE, "Half its edges [m].";
    engage: NOT_NEGATIVE, "Commanded opening at which points are taken and released [m].";
    force: POSITIVE, "Largest force on a point, in each of three directions [N].";
    slip: POSITIVE, "Distance that a point may slide before it is lost [m].";
});

/// Jaws of a tool.
#[derive(Clone, Debug)]
pub(crate) struct GrasperSpec {
    jaws: Vec<RigidSpec>,
    axis: Vec3,
    max_opening: Real,
    force: Real,
    speed: Real,
    opening: Real,
    hold: Option<Hold>,
}

record!(GrasperSpec, "grasper", "Jaws on sliders with a commanded opening.",
    base |_| {
        let Grasper { jaws: _, axis, max_opening, force, speed, opening, hold } = Grasper::new(None);
        GrasperSpec { jaws: Vec::new(), axis, max_opening, force, speed, opening, hold }
    },
    {
        jaws: ANY, "Two rigid bodies, closed, with positions relative to the tool; the first opens along the axis. Empty: none.";
        axis: FINITE, "Direction of opening, axes of the tool.";
        max_opening: POSITIVE, "Largest opening [m].";
        force: POSITIVE, "Largest force of each jaw [N].";
        speed: POSITIVE, "Largest rate of the opening [m/s].";
        opening: NOT_NEGATIVE, "Opening at the start [m].";
        hold: ANY, "Anchors surface points on closing.";
    }
);

/// A tool with its bodies.
#[derive(Clone, Debug)]
pub(crate) struct ToolTable {
    body: Box<RigidSpec>,
    coupling: CouplingSpec,
    max_speed: Wide,
    max_spin: Wide,
    grasper: Option<GrasperSpec>,
}

record!(ToolTable, "tool", "A rigid body that a hand moves through a spring and damper.",
    base |_| ToolTable {
        body: Box::default(),
        coupling: CouplingSpec::of(&Coupling::default()),
        max_speed: Wide(5.0),
        max_spin: Wide(50.0),
        grasper: None,
    },
    needs { body: ANY, "The rigid body: shape, mass, position and so on. It has no weight."; },
    {
        coupling: ANY, "Between hand and tool.";
        max_speed: POSITIVE, "Largest speed of the commanded position [m/s].";
        max_spin: POSITIVE, "Largest rate of the commanded orientation [rad/s].";
        grasper: ANY, "Its jaws; without: a probe.";
    }
);

impl ToolTable {
    /// The engine's tool; its body is named like its table, and its jaws 'NAME jaw 1' and 'NAME jaw 2'.
    pub fn build(&self, name: &str) -> Result<ToolSpec, String> {
        let body = (*self.body).clone().build(Motion::Dynamic, name);
        let mut grasper = None;
        if let Some(spec) = &self.grasper {
            let count = spec.jaws.len();
            let mut jaws = Vec::new();
            for (k, jaw) in spec.jaws.iter().enumerate() {
                jaws.push(jaw.clone().build(Motion::Dynamic, &format!("{name} jaw {}", k + 1)));
            }
            let jaws = if jaws.is_empty() {
                None
            } else {
                Some(jaws.try_into().map_err(|_| format!("a grasper has two jaws or none, not {count}"))?)
            };
            let GrasperSpec { jaws: _, axis, max_opening, force, speed, opening, hold } = spec.clone();
            grasper = Some(Grasper { jaws, axis, max_opening, force, speed, opening, hold });
        }
        let (max_speed, max_spin) = (self.max_speed.0, self.max_spin.0);
        Ok(ToolSpec { body, coupling: self.coupling.build(), max_speed, max_spin, grasper })
    }
}

/// A jaw of a tool that ties bodies of the file.
#[derive(Clone, Debug)]
pub(crate) struct JawSpec {
    body: Name,
    closed: Vec3,
}

record!(JawSpec, "jaw", "A jaw of a tool.", base |_| JawSpec { body: Name::default(), closed: Vec3::ZERO },
    needs { body: ANY, "Which body."; closed: FINITE, "Its origin when closed, axes of the tool [m]."; },
    {}
);

/// The gripper of a tool that ties bodies of the file.
#[derive(Clone, Debug)]
pub(crate) struct GripSpec {
    jaws: Vec<JawSpec>,
    axis: Vec3,
    max_opening: Real,
    force: Real,
    speed: Real,
    hold: Option<Hold>,
}

record!(GripSpec, "grip", "Jaws that are bodies of the file.",
    base |_| {
        let Grasper { axis, max_opening, force, speed, .. } = Grasper::new(None);
        GripSpec { jaws: Vec::new(), axis, max_opening, force, speed, hold: None }
    },
    {
        jaws: ANY, "Two, on sliders of their own, or none.";
        axis: FINITE, "Direction of opening, axes of the tool.";
        max_opening: POSITIVE, "Largest opening [m].";
        force: POSITIVE, "Largest force of each jaw [N].";
        speed: POSITIVE, "Largest rate of the opening [m/s].";
        hold: ANY, "Anchors surface points on closing.";
    }
);

/// A tool that ties bodies of the file to a hand.
#[derive(Clone, Debug)]
pub(crate) struct ToolJoint {
    body: Name,
    coupling: CouplingSpec,
    max_speed: Wide,
    max_spin: Wide,
    grip: Option<GripSpec>,
}

record!(ToolJoint, "tool of bodies", "Ties a rigid body to a hand; written by Sinew, `[tools.NAME]` is easier.",
    base |_| ToolJoint {
        body: Name::default(),
        coupling: CouplingSpec::of(&Coupling::default()),
        max_speed: Wide(5.0),
        max_spin: Wide(50.0),
        grip: None,
    },
    needs { body: ANY, "Which body."; },
    {
        coupling: ANY, "Between hand and tool.";
        max_speed: POSITIVE, "Largest speed of the commanded position [m/s].";
        max_spin: POSITIVE, "Largest rate of the commanded orientation [rad/s].";
        grip: ANY, "Its jaws.";
    }
);

impl ToolJoint {
    pub fn build(&self, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let body = find(&self.body)?;
        let mut grip = None;
        if let Some(GripSpec { jaws, axis, max_opening, force, speed, hold }) = &self.grip {
            let found: Vec<(BodyId, Vec3)> =
                jaws.iter().map(|jaw| Some((find(&jaw.body)?, jaw.closed))).collect::<Option<_>>()?;
            // another number of jaws is refused when the scene is read
            let (axis, hold) = (axis.normalize_or_zero(), *hold);
            let (max_opening, force, speed) = (*max_opening, *force, *speed);
            grip = Some(Grip { jaws: found.try_into().ok(), axis, max_opening, force, speed, hold });
        }
        let (max_speed, max_spin) = (self.max_speed.0, self.max_spin.0);
        Some(ConstraintSpec::Tool(Tool { body, coupling: self.coupling.build(), max_speed, max_spin, grip }))
    }

    pub fn of(tool: &Tool, name: &dyn Fn(BodyId) -> Name) -> Self {
        let Tool { body, coupling, max_speed, max_spin, grip } = tool;
        Self {
            body: name(*body),
            coupling: CouplingSpec::of(coupling),
            max_speed: Wide(*max_speed),
            max_spin: Wide(*max_spin),
            grip: grip.as_ref().map(|Grip { jaws, axis, max_opening, force, speed, hold }| GripSpec {
                jaws: jaws
                    .iter()
                    .flatten()
                    .map(|(jaw, closed)| JawSpec { body: name(*jaw), closed: *closed })
                    .collect(),
                axis: *axis,
                max_opening: *max_opening,
                force: *force,
                speed: *speed,
                hold: *hold,
            }),
        }
    }
}
