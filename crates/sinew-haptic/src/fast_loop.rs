//! The fast loop of all tools: everything between readings of devices and wrenches to devices, tick by tick. It neither
//! allocates nor waits, and knows no clock: virtual time and real time call the same code.

use crate::device::{Intake, IntakeReport, IntakeSettings, Reading, Workspace, WorkspaceSettings};
use crate::error::Error;
use crate::limits::EffectiveTick;
use crate::local_model::{LocalModel, LocalSettings, ToolForce};
use crate::passivity::{Passivity, PassivityReport, PassivitySettings, Work};
use crate::snapshot::{MOST_TOOLS, Snapshot};
use sinew::tool::Coupling;
use sinew_math::{Frame, Wrench};

/// Settings of one tool and its device.
///
/// An example is at [`FastLoop`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolSettings {
    /// The virtual coupling.
    pub coupling: Coupling,
    /// Scale, axes and limits of the device.
    pub workspace: WorkspaceSettings,
    /// The leak observer.
    pub passivity: PassivitySettings,
    /// Checks of the readings.
    pub intake: IntakeSettings,
    /// Buttons that open the clutch while one of them is pressed, one bit each.
    pub clutch_buttons: u16,
}

/// Report of one tool.
///
/// An example is at [`FastLoop`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolReport {
    /// Forces of the local model, in world axes.
    pub force: ToolForce,
    /// Pose of the device in the world.
    pub pose: Frame,
    /// Wrench that was sent to the device, in its axes.
    pub sent: Wrench,
    /// Energies and damping of the leak observer, at the device.
    pub passivity: PassivityReport,
    /// Counts of readings.
    pub intake: IntakeReport,
    /// Largest stable stiffness at the device for the ticks so far, without delay [N/m].
    pub stiffness_limit: f64,
}

/// Most ticks of a step of the physics that poses can be extrapolated over.
const MOST_TICKS: usize = 64;

/// Poses of the last ticks: the motion over a whole period extrapolates with a noise of twice the encoder step. That over
/// one tick would have the noise q h/T, 0.3 mm.
#[derive(Clone, Debug)]
struct Past {
    poses: [Frame; MOST_TICKS],
    next: usize,
    count: usize,
}

impl Past {
    fn add(&mut self, pose: &Frame) {
        self.poses[self.next] = *pose;
        self.next = (self.next + 1) % MOST_TICKS;
        self.count = (self.count + 1).min(MOST_TICKS);
    }

    /// The newest pose moved on by the motion of the last `ticks`.
    fn ahead(&self, ticks: usize) -> Frame {
        let back = |k: usize| self.poses[(self.next + MOST_TICKS - 1 - k) % MOST_TICKS];
        let newest = back(0);
        if ticks == 0 || self.count <= 1 {
            return newest;
        }
        let span = ticks.min(self.count - 1);
        newest.moved(&newest.error_from(&back(span)).scaled(ticks as f64 / span as f64))
    }
}

#[derive(Clone, Debug)]
struct Port {
    intake: Intake,
    workspace: Workspace,
    passivity: Passivity,
    clutch_buttons: u16,
    past: Past,
    sent: Wrench,
}

/// The fast loop.
///
/// ```
/// use sinew_haptic::*;
/// let mut fast = FastLoop::new(LocalSettings::default(), &[ToolSettings::default()])?;
/// fast.arrive(&Snapshot::new(1.0 / 60.0));
/// // free air: no force
/// let reading = Reading { pose: Frame::at(Wide3::X * 0.01), ..Reading::default() };
/// assert_eq!(fast.tick(&[Some(reading)], 1e-3)[0], Wrench::ZERO);
/// assert_eq!(fast.report(0).pose.position.x, 0.01);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FastLoop {
    model: LocalModel,
    ports: Vec<Port>,
    damping: Vec<f64>,
    poses: [Frame; MOST_TOOLS],
    wrenches: [Wrench; MOST_TOOLS],
    time: f64,
    effective: EffectiveTick,
}

impl FastLoop {
    /// A loop for as many tools as there are settings.
    pub fn new(local: LocalSettings, tools: &[ToolSettings]) -> Result<Self, Error> {
        let couplings: Vec<Coupling> = tools.iter().map(|t| t.coupling).collect();
        let model = LocalModel::new(local, &couplings)?;
        let port = |t: &ToolSettings| {
            Ok(Port {
                intake: Intake::new(IntakeSettings { tick: local.tick, ..t.intake })?,
                workspace: Workspace::new(t.workspace)?,
                passivity: Passivity::new(t.passivity, local.tick)?
                    .limited(t.workspace.max_force, t.workspace.max_torque),
                clutch_buttons: t.clutch_buttons,
                past: Past { poses: [Frame::default(); MOST_TICKS], next: 0, count: 0 },
                sent: Wrench::ZERO,
            })
        };
        Ok(Self {
            model,
            ports: tools.iter().map(port).collect::<Result<_, Error>>()?,
            damping: tools.iter().map(|t| t.passivity.device_damping).collect(),
            poses: Default::default(),
            wrenches: Default::default(),
            time: 0.0,
            effective: EffectiveTick::default(),
        })
    }

    /// Number of tools.
    pub fn tool_count(&self) -> usize {
        self.ports.len()
    }

    /// Length of a tick that the local model counts with [s].
    pub fn tick_length(&self) -> f64 {
        self.model.settings().tick
    }

    /// Time of the loop: the sum of its ticks [s].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Takes up a snapshot of the physics.
    pub fn arrive(&mut self, snapshot: &Snapshot) {
        self.model.arrive(snapshot);
    }

    /// One tick: wrenches for all devices, in their axes. `dt` is the time since the last tick [s].
    pub fn tick(&mut self, readings: &[Option<Reading>], dt: f64) -> &[Wrench] {
        self.time += dt;
        self.effective.add(dt);
        for (k, port) in self.ports.iter_mut().enumerate() {
            let rebased = port.intake.take(readings.get(k).copied().flatten());
            let reading = port.intake.reading();
            if rebased {
                port.workspace.rebase();
                port.passivity.rebase(&reading.pose);
            }
            port.workspace.set_clutch(reading.buttons & port.clutch_buttons != 0);
            self.poses[k] = port.workspace.pose(&reading.pose);
            port.past.add(&self.poses[k]);
        }
        let count = self.ports.len();
        let forces = self.model.tick(&self.poses[..count], self.time);
        for (k, port) in self.ports.iter_mut().enumerate() {
            let wanted = port.intake.pass(&port.workspace.wrench(&forces[k].hand));
            let taken = port.workspace.energy(forces[k].stored + forces[k].dissipated);
            let work = Work { taken, slip: port.workspace.displacement(forces[k].slip) };
            port.sent = port.passivity.pass(&wanted, &port.intake.reading().pose, &work);
            self.wrenches[k] = port.sent;
        }
        &self.wrenches[..count]
    }

    /// Poses that the tools will have after a number of ticks, for a step of the physics whose result is used then.
    pub fn targets(&self, ticks: usize) -> [Frame; MOST_TOOLS] {
        let mut targets = self.poses;
        for (target, port) in targets.iter_mut().zip(&self.ports) {
            if port.past.count > 0 {
                *target = port.past.ahead(ticks);
            }
        }
        targets
    }

    /// Report of a tool.
    ///
    /// # Panics
    ///
    /// If there is no such tool.
    pub fn report(&self, tool: usize) -> ToolReport {
        let port = &self.ports[tool];
        ToolReport {
            force: self.model.forces()[tool],
            pose: self.poses[tool],
            sent: port.sent,
            passivity: port.passivity.report(),
            intake: port.intake.report(),
            stiffness_limit: self.effective.stiffness_limit(self.damping[tool], 0.0),
        }
    }

    /// The tick that stability feels, `E[dt²]/E[dt]`.
    pub fn effective_tick(&self) -> EffectiveTick {
        self.effective
    }
}
