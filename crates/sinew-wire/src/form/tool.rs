//! Tools and what hands ask of them.

use super::{IdForm, PoseForm, V3, body_id, pose, pose_form};
use serde::{Deserialize, Serialize};
use sinew::tool::{Coupling, Grip, Hold, Tool, ToolCommand};
use sinew::{Real, Vec3};

mirror!(CouplingForm of Coupling {
    stiffness: f64,
    damping: f64,
    turn_stiffness: f64,
    turn_damping: f64,
    max_force: f64,
    max_torque: f64,
});

/// [`Tool`].
#[derive(Serialize, Deserialize)]
pub(crate) struct ToolForm {
    body: IdForm,
    coupling: CouplingForm,
    max_speed: f64,
    max_spin: f64,
    grip: Option<GripForm>,
}

/// [`Grip`].
#[derive(Serialize, Deserialize)]
struct GripForm {
    jaws: Option<[(IdForm, V3); 2]>,
    axis: V3,
    max_opening: Real,
    force: Real,
    speed: Real,
    hold: Option<HoldForm>,
}

/// [`Hold`].
#[derive(Serialize, Deserialize)]
struct HoldForm {
    center: V3,
    half: V3,
    engage: Real,
    force: Real,
    slip: Real,
}

/// [`ToolCommand`].
#[derive(Serialize, Deserialize)]
pub(crate) struct ToolCommandForm {
    pose: PoseForm,
    opening: Option<Real>,
    time: f64,
}

impl ToolForm {
    pub fn of(tool: &Tool) -> Self {
        let Tool { body, coupling, max_speed, max_spin, grip } = tool;
        Self {
            body: body.to_parts(),
            coupling: (*coupling).into(),
            max_speed: *max_speed,
            max_spin: *max_spin,
            grip: grip.as_ref().map(GripForm::of),
        }
    }

    pub fn build(self) -> Tool {
        let Self { body, coupling, max_speed, max_spin, grip } = self;
        let grip = grip.map(GripForm::build);
        Tool { body: body_id(body), coupling: coupling.into(), max_speed, max_spin, grip }
    }
}

impl GripForm {
    fn of(grip: &Grip) -> Self {
        let Grip { jaws, axis, max_opening, force, speed, hold } = grip;
        Self {
            jaws: jaws.map(|jaws| jaws.map(|(jaw, closed)| (jaw.to_parts(), closed.to_array()))),
            axis: axis.to_array(),
            max_opening: *max_opening,
            force: *force,
            speed: *speed,
            hold: hold.as_ref().map(|hold| {
                let Hold { center, half, engage, force, slip } = *hold;
                HoldForm { center: center.to_array(), half: half.to_array(), engage, force, slip }
            }),
        }
    }

    fn build(self) -> Grip {
        let Self { jaws, axis, max_opening, force, speed, hold } = self;
        let vector = Vec3::from_array;
        Grip {
            jaws: jaws.map(|jaws| jaws.map(|(jaw, closed)| (body_id(jaw), vector(closed)))),
            axis: vector(axis),
            max_opening,
            force,
            speed,
            hold: hold.map(|hold| {
                let HoldForm { center, half, engage, force, slip } = hold;
                Hold { center: vector(center), half: vector(half), engage, force, slip }
            }),
        }
    }
}

impl ToolCommandForm {
    pub fn of(command: &ToolCommand) -> Self {
        let ToolCommand { pose, opening, time } = command;
        Self { pose: pose_form(pose), opening: *opening, time: *time }
    }

    pub fn build(self) -> ToolCommand {
        ToolCommand { pose: pose(self.pose), opening: self.opening, time: self.time }
    }
}
