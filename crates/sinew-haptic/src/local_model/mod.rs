//! The local model: contact forces at the rate of the device between two steps of the physics, for all tools in one
//! problem.
//!
//! A snapshot is taken up without a jump: the difference of old and new force at the same pose is blended out over one
//! period. Only this difference is limited, never the force: a limit on its change is a limit cycle of 3 N.

mod points;
mod solve;
mod stall;

use crate::error::{Error, require};
use crate::snapshot::{MOST_TOOLS, Snapshot};
use sinew::tool::Coupling;
use sinew_math::Wide3;
use sinew_math::{Frame, Wrench};
use solve::{Loss, Solver};
use stall::{Hold, Return};
use std::array::from_fn;

/// Settings of the local model.
///
/// An example is at [`LocalModel`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSettings {
    /// Length of a tick [s]. Default 1 ms.
    pub tick: f64,
    /// Gauss-Seidel sweeps of a tick. From 5 to 200 the force while pressing is the same. Default 10.
    pub sweeps: u32,
    /// Without a new snapshot for this many periods the force begins to fade. Default 3.
    pub hold_periods: f64,
    /// Or after this time, whichever is earlier [s]. Default 40 ms.
    pub hold_time: f64,
    /// Time constant of the fade [s]. Default 15 ms: a force is below 5 % after 45 ms.
    pub fade: f64,
    /// Speed at which the hand meets the tool again after a stall [m/s]. At 1000 N/m, 30 mm/s are 0.03 N a tick. Default
    /// 30 mm/s.
    pub return_speed: f64,
}

impl Default for LocalSettings {
    fn default() -> Self {
        Self { tick: 1e-3, sweeps: 10, hold_periods: 3.0, hold_time: 0.04, fade: 0.015, return_speed: 0.03 }
    }
}

impl LocalSettings {
    /// The name of the first number that is out of range, and what it must be.
    pub fn check(&self) -> Result<(), Error> {
        require("tick", self.tick, |t| (1e-5..=0.1).contains(&t), "from 1e-5 to 0.1 [s]")?;
        require("sweeps", f64::from(self.sweeps), |n| (1.0..=1000.0).contains(&n), "from 1 to 1000")?;
        require("hold_periods", self.hold_periods, |n| n >= 1.0, "at least 1")?;
        require("hold_time", self.hold_time, |t| t >= 0.0, "not negative [s]")?;
        require("fade", self.fade, |t| t.is_finite() && t > 0.0, "positive [s]")?;
        require("return_speed", self.return_speed, |v| v.is_finite() && v > 0.0, "positive [m/s]")
    }
}

/// Result of a tick for one tool.
///
/// An example is at [`LocalModel`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolForce {
    /// Force and torque on the hand, about the origin of the device.
    pub hand: Wrench,
    /// Sum of the contact forces on the tool, before blending, fading and limits.
    pub contact: Wrench,
    /// Pose of the tool: on the surface while the device is inside.
    pub proxy: Frame,
    /// Contact points that press.
    pub pressed: u32,
    /// Change of the energy stored in the coupling and the touched matter [J].
    pub stored: f64,
    /// Energy that friction and viscosity took [J].
    pub dissipated: f64,
    /// Displacement by which pressed contacts slipped, weighted by their normal forces [m].
    pub slip: Wide3,
    /// True while the force fades or is held down after a stall of the physics.
    pub stalled: bool,
    /// True when the limit of the coupling cut the force.
    pub limited: bool,
}

/// The difference of two snapshots that is being blended out.
#[derive(Clone, Copy, Debug, Default)]
struct Blend {
    rest: Wrench,
    /// Part of `rest` that goes in each tick, and ticks left.
    step: Wrench,
    left: u32,
}

/// Ticks in which the blend ends when nothing presses any more.
const RELEASE: u32 = 5;

/// The fast loop's model of what the tools touch.
///
/// ```
/// use sinew_haptic::*;
/// // a rigid floor under a tip of radius 5 mm, which is 2 mm too deep: K_c d = 1 N
/// let floor = Face { point: Wide3::ZERO, normal: Wide3::Y, axis: Wide3::X, half: [f64::INFINITY; 2] };
/// let mut snapshot = Snapshot::new(1.0 / 60.0);
/// snapshot.push(ContactPoint::new(1, Geometry::OnFace { tip: Wide3::ZERO, radius: 0.005, face: floor }))?;
/// let coupling = Coupling { stiffness: 500.0, ..Coupling::default() };
/// let mut model = LocalModel::new(LocalSettings::default(), &[coupling])?;
/// model.arrive(&snapshot);
/// let deep = Frame::at(Wide3::new(0.0, 0.003, 0.0));
/// let force = (0..30).map(|tick| model.tick(&[deep], 1e-3 * f64::from(tick))[0]).last().expect("ticks");
/// assert!((force.hand.force.y - 1.0).abs() < 1e-9);
/// assert!((force.proxy.position.y - 0.005).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LocalModel {
    settings: LocalSettings,
    couplings: [Coupling; MOST_TOOLS],
    tool_count: usize,
    snapshot: Box<Snapshot>,
    solver: Box<Solver>,
    blends: [Blend; MOST_TOOLS],
    holds: [Hold; MOST_TOOLS],
    returns: [Return; MOST_TOOLS],
    forces: [ToolForce; MOST_TOOLS],
    stored: [f64; MOST_TOOLS],
    /// Time of the last tick [s], and of the arrival of the snapshot.
    now: f64,
    arrived: f64,
    devices: [Frame; MOST_TOOLS],
}

impl LocalModel {
    /// A model for as many tools as there are couplings. Nothing is near until a snapshot arrives.
    pub fn new(settings: LocalSettings, couplings: &[Coupling]) -> Result<Self, Error> {
        settings.check()?;
        if couplings.is_empty() || couplings.len() > MOST_TOOLS {
            return Err(Error::TooMany { what: "tools", count: couplings.len(), most: MOST_TOOLS });
        }
        couplings.iter().try_for_each(Coupling::check)?;
        let tool_count = couplings.len();
        let couplings: [Coupling; MOST_TOOLS] = from_fn(|k| couplings.get(k).copied().unwrap_or_default());
        let mut solver = Box::new(Solver::new(settings.tick, settings.sweeps));
        for (proxy, coupling) in solver.proxies.iter_mut().zip(&couplings) {
            proxy.compliance = coupling.compliance();
        }
        Ok(Self {
            settings,
            couplings,
            tool_count,
            snapshot: Box::new(Snapshot::new(settings.tick)),
            solver,
            blends: Default::default(),
            holds: Default::default(),
            returns: Default::default(),
            forces: Default::default(),
            stored: [0.0; MOST_TOOLS],
            now: 0.0,
            arrived: 0.0,
            devices: Default::default(),
        })
    }

    /// The settings.
    pub fn settings(&self) -> &LocalSettings {
        &self.settings
    }

    /// Time since the last snapshot arrived [s].
    pub fn age(&self) -> f64 {
        self.now - self.arrived
    }

    /// Takes up a snapshot. The force at the pose of the last tick does not change by it; the difference is blended out, or,
    /// after a stall, the hand is moved away from the tool and drawn back.
    pub fn arrive(&mut self, snapshot: &Snapshot) {
        self.snapshot.as_mut().clone_from(snapshot);
        self.arrived = self.now;
        self.solver.points.follow(&self.snapshot);
        self.solver.age = self.now - self.snapshot.time;
        if self.snapshot.bodies().iter().any(|b| b.time > 0.0) {
            // relaxed forces at the present pose; those of the snapshot's pose are a kick of β/T times the change
            self.solver.solve(&self.snapshot, true);
            self.solver.points.settle();
        }
        self.solver.solve(&self.snapshot, false);
        if self.holds.iter().any(Hold::is_active) {
            (0..self.tool_count).for_each(|tool| self.begin_return(tool));
            self.solver.solve(&self.snapshot, false);
        }
        for tool in 0..self.tool_count {
            let totals = self.solver.totals(&self.snapshot, tool);
            let rest = self.forces[tool].hand.plus(&totals.wrench.scaled(-1.0));
            let left = ((self.snapshot.period / self.settings.tick).round() as u32).max(1);
            self.blends[tool] = Blend { rest, step: rest.scaled(1.0 / f64::from(left)), left };
            self.holds[tool] = Hold::default();
        }
        self.solver.points.settle_displacements(&self.snapshot);
        for tool in 0..self.tool_count {
            self.stored[tool] = self.solver.stored(&self.snapshot, tool);
        }
    }

    /// Moves the effective device away from the tool until the force is that of the last tick.
    fn begin_return(&mut self, tool: usize) {
        if !self.holds[tool].is_active() {
            return;
        }
        let coupling = &self.couplings[tool];
        let full = self.solver.totals(&self.snapshot, tool).wrench;
        let target = stall::size(&self.forces[tool].hand, coupling);
        if stall::size(&full, coupling) <= target {
            return;
        }
        let way = stall::way_out(&full, coupling);
        let here = self.solver.proxies[tool].device;
        let mut size_at = |share: f64| {
            self.solver.proxies[tool].device = here.moved(&way.scaled(share));
            // without viscosity: the force that stays, not the one that a fast motion would meet
            self.solver.solve(&self.snapshot, true);
            stall::size(&self.solver.totals(&self.snapshot, tool).wrench, coupling)
        };
        let share = stall::share_for(target, &mut size_at);
        size_at(share);
        self.solver.points.settle();
        self.returns[tool].begin(&way.scaled(share));
    }

    /// One tick: forces on all hands for the poses of the devices at a time [s]. The time only tells how old the snapshot
    /// is; the length of a tick is that of the settings.
    pub fn tick(&mut self, devices: &[Frame], time: f64) -> &[ToolForce] {
        self.now = time;
        self.solver.age = time - self.snapshot.time;
        for tool in 0..self.tool_count {
            if let Some(device) = devices.get(tool).filter(|d| d.is_valid()) {
                self.devices[tool] = *device;
            }
            let away = self.returns[tool].step(self.settings.return_speed * self.settings.tick);
            self.solver.proxies[tool].device = self.devices[tool].moved(&away);
        }
        self.solver.points.begin_tick();
        self.solver.solve(&self.snapshot, false);
        let losses = self.solver.commit(&self.snapshot);
        for tool in 0..self.tool_count {
            self.finish(tool, &losses[tool]);
        }
        &self.forces[..self.tool_count]
    }

    /// Forces of the last tick.
    pub fn forces(&self) -> &[ToolForce] {
        &self.forces[..self.tool_count]
    }

    /// Blend, fade, limit.
    fn finish(&mut self, tool: usize, loss: &Loss) {
        let totals = self.solver.totals(&self.snapshot, tool);
        let stored = self.solver.stored(&self.snapshot, tool);
        let coupling = &self.couplings[tool];
        let blended = blend(&mut self.blends[tool], &totals.wrench, totals.pressed);
        let limit = (self.settings.hold_periods * self.snapshot.period).min(self.settings.hold_time);
        let capped = if self.now - self.arrived > limit + 0.5 * self.settings.tick {
            self.holds[tool].cap(&blended, self.settings.tick / self.settings.fade)
        } else {
            blended
        };
        let hand = capped.limited(coupling.max_force, coupling.max_torque);
        // a force that is held down gives back less: energy goes with its square
        let whole = stall::size(&blended, coupling);
        let passed = if whole > 0.0 { stall::size(&hand, coupling) / whole } else { 1.0 };
        let stored = stored * passed * passed;
        self.forces[tool] = ToolForce {
            hand,
            contact: totals.wrench,
            proxy: self.solver.proxies[tool].frame(),
            pressed: totals.pressed,
            stored: stored - self.stored[tool],
            dissipated: loss.energy,
            slip: loss.slip,
            stalled: self.holds[tool].is_active() || self.returns[tool].is_active(),
            limited: hand != capped,
        };
        self.stored[tool] = stored;
    }
}

/// The new force with what is left of the difference. It never pulls where the contacts push, and ends soon after them.
fn blend(blend: &mut Blend, fresh: &Wrench, pressed: u32) -> Wrench {
    if blend.left == 0 {
        return *fresh;
    }
    if pressed == 0 && blend.left > RELEASE {
        blend.left = RELEASE;
        blend.step = blend.rest.scaled(1.0 / f64::from(RELEASE));
    }
    blend.left -= 1;
    blend.rest = if blend.left == 0 { Wrench::ZERO } else { blend.rest.plus(&blend.step.scaled(-1.0)) };
    let mut mixed = fresh.plus(&blend.rest);
    let (along, square) = (mixed.force.dot(fresh.force), fresh.force.length_squared());
    if along < 0.0 && square > 0.0 {
        mixed.force -= fresh.force * (along / square);
    }
    mixed
}
