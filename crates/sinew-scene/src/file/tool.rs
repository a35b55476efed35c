//! Tools with their bodies, as tables of the file. A tool of bodies that are there (`ConstraintSpec::Tool`) is a joint.

use super::body::RigidSpec;
use super::described::described;
use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, record};
use super::plain::Wide;
use sinew::tool::{Coupling, Grasper, Hold, ToolSpec};
use sinew::{Motion, Real, RigidBody, Vec3};

described!(Coupling, Hold);

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
    coupling: Coupling,
    max_speed: Wide,
    max_spin: Wide,
    grasper: Option<GrasperSpec>,
}

record!(ToolTable, "tool", "A rigid body that a hand moves through a spring and damper.",
    base |_| {
        let ToolSpec { coupling, max_speed, max_spin, .. } = ToolSpec::new(RigidBody::dynamic());
        let [max_speed, max_spin] = [max_speed, max_spin].map(Wide);
        ToolTable { body: Box::default(), coupling, max_speed, max_spin, grasper: None }
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
        Ok(ToolSpec { body, coupling: self.coupling, max_speed, max_spin, grasper })
    }
}
