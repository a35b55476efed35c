//! The loop in virtual time: devices, fast loop and physics by one clock, with the same bits each time. Tests and
//! recordings run here; real time is for measuring lateness.

use crate::device::{Device, Reading, SimulatedDevice};
use crate::error::{Error, require};
use crate::fast_loop::FastLoop;
use crate::snapshot::{MOST_TOOLS, Snapshot};
use sinew_math::{Frame, Wrench};

/// A world that steps more slowly than the device.
///
/// An example is at [`VirtualLoop`].
pub trait Physics {
    /// One step of `period` [s] that ends at `time`, with the tools led to these poses. Writes all of the snapshot but its
    /// time and period.
    fn step(&mut self, targets: &[Frame], period: f64, snapshot: &mut Snapshot) -> Result<(), Error>;
}

/// Rates of a virtual loop.
///
/// An example is at [`VirtualLoop`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VirtualSettings {
    /// Ticks of the fast loop in a step of the physics, 1 to 63. 1 is direct mode.
    pub ticks_per_step: usize,
    /// The result of a step is used one step after its poses were read, as when the physics takes all of its time. Poses
    /// are then extrapolated by one step. False: a step takes no time.
    pub late: bool,
}

/// One tick of a recording.
///
/// An example is at [`VirtualLoop`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Record {
    /// Readings of all devices.
    pub readings: [Option<Reading>; MOST_TOOLS],
    /// Wrenches that were sent to them.
    pub wrenches: [Wrench; MOST_TOOLS],
}

/// Devices, fast loop and physics by one clock.
///
/// ```
/// use sinew_haptic::*;
/// /// A rigid floor at height zero.
/// struct Floor;
/// impl Physics for Floor {
///     fn step(&mut self, _: &[Frame], _: f64, snapshot: &mut Snapshot) -> Result<(), Error> {
///         let face = Face { point: Wide3::ZERO, normal: Wide3::Y, axis: Wide3::X, half: [f64::INFINITY; 2] };
///         snapshot.clear();
///         snapshot.push(ContactPoint::new(1, Geometry::OnFace { tip: Wide3::ZERO, radius: 0.0, face }))?;
///         Ok(())
///     }
/// }
/// let tool = ToolSettings { coupling: Coupling { stiffness: 400.0, ..Coupling::default() }, ..Default::default() };
/// let fast = FastLoop::new(LocalSettings::default(), &[tool])?;
/// let push = Hand::Push(Wrench { force: Wide3::NEG_Y, torque: Wide3::ZERO });
/// let device = SimulatedDevice::new(SimulatedSettings::default(), push)?;
/// let rates = VirtualSettings { ticks_per_step: 17, late: true };
/// let mut run = VirtualLoop::new(rates, fast, vec![device], Floor)?;
/// run.record(true);
/// for _ in 0..10_000 {
///     run.tick(&[Frame::default()])?;
/// }
/// // the floor carries the push, 1 N, by 2.5 mm of the coupling
/// assert!((run.fast().report(0).sent.force.y - 1.0).abs() < 1e-6);
/// assert!((run.devices()[0].pose().position.y + 1.0 / 400.0).abs() < 1e-8);
/// // and again from the recorded readings, without the device
/// let again = replay(rates, FastLoop::new(LocalSettings::default(), &[tool])?, Floor, run.records())?;
/// assert_eq!(again, run.records());
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct VirtualLoop<P> {
    core: Core<P>,
    devices: Vec<SimulatedDevice>,
    records: Option<Vec<Record>>,
}

/// Fast loop and physics with the schedule of both.
#[derive(Debug)]
struct Core<P> {
    settings: VirtualSettings,
    fast: FastLoop,
    physics: P,
    /// The result that arrives with the next step.
    snapshot: Box<Snapshot>,
    ready: bool,
    /// False while the physics is stalled.
    running: bool,
    tick: u64,
    length: f64,
}

impl<P: Physics> Core<P> {
    fn new(settings: VirtualSettings, fast: FastLoop, physics: P, length: f64) -> Result<Self, Error> {
        let range = |n: f64| (1.0..64.0).contains(&n);
        require("ticks_per_step", settings.ticks_per_step as f64, range, "from 1 to 63")?;
        require("tick", length, |t| t.is_finite() && t > 0.0, "positive [s]")?;
        let snapshot = Box::new(Snapshot::new(length));
        Ok(Self { settings, fast, physics, snapshot, ready: false, running: true, tick: 0, length })
    }

    fn tick(&mut self, readings: &[Option<Reading>]) -> Result<Record, Error> {
        let steps_now = self.tick.is_multiple_of(self.settings.ticks_per_step as u64);
        if steps_now && self.settings.late && self.ready {
            self.fast.arrive(&self.snapshot);
            self.ready = false;
        }
        let mut record = Record::default();
        for (to, from) in record.readings.iter_mut().zip(readings) {
            *to = *from;
        }
        if !self.settings.late && steps_now && self.running && self.tick > 0 {
            // a step that takes no time reads the poses of the tick before: direct mode evaluates the coupling anew anyway
            self.step(0)?;
            self.fast.arrive(&self.snapshot);
        }
        for (to, from) in record.wrenches.iter_mut().zip(self.fast.tick(readings, self.length)) {
            *to = *from;
        }
        if self.settings.late && steps_now && self.running {
            self.step(self.settings.ticks_per_step)?;
            self.ready = true;
        }
        self.tick += 1;
        Ok(record)
    }

    fn step(&mut self, ahead: usize) -> Result<(), Error> {
        let period = self.length * self.settings.ticks_per_step as f64;
        let targets = self.fast.targets(ahead);
        let tools = self.fast.tool_count();
        self.physics.step(&targets[..tools], period, &mut self.snapshot)?;
        self.snapshot.period = period;
        self.snapshot.time = self.fast.time() + ahead as f64 * self.length;
        Ok(())
    }
}

impl<P: Physics> VirtualLoop<P> {
    /// A loop of one device for each tool. The length of a tick is that of the local model.
    pub fn new(
        settings: VirtualSettings,
        fast: FastLoop,
        devices: Vec<SimulatedDevice>,
        physics: P,
    ) -> Result<Self, Error> {
        if devices.len() != fast.tool_count() {
            let what = "devices for the tools of the loop";
            return Err(Error::TooMany { what, count: devices.len(), most: fast.tool_count() });
        }
        let length = fast.tick_length();
        Ok(Self { core: Core::new(settings, fast, physics, length)?, devices, records: None })
    }

    /// Begins or ends a recording.
    pub fn record(&mut self, on: bool) {
        self.records = on.then(Vec::new);
    }

    /// The recording so far.
    pub fn records(&self) -> &[Record] {
        self.records.as_deref().unwrap_or(&[])
    }

    /// One tick: read, compute, write, and let the devices move while the hands go to `targets`.
    pub fn tick(&mut self, targets: &[Frame]) -> Result<Record, Error> {
        let mut readings = [None; MOST_TOOLS];
        for (reading, device) in readings.iter_mut().zip(&mut self.devices) {
            *reading = device.read();
        }
        let record = self.core.tick(&readings[..self.devices.len()])?;
        for (k, device) in self.devices.iter_mut().enumerate() {
            device.write(&record.wrenches[k]);
            let target = targets.get(k).copied().unwrap_or_default();
            device.advance(&target);
        }
        if let Some(records) = &mut self.records {
            records.push(record);
        }
        Ok(record)
    }

    /// Stops the physics, as when a step never ends, or lets it go on.
    pub fn stall(&mut self, stalled: bool) {
        self.core.running = !stalled;
    }

    /// The fast loop.
    pub fn fast(&self) -> &FastLoop {
        &self.core.fast
    }

    /// The devices.
    pub fn devices(&self) -> &[SimulatedDevice] {
        &self.devices
    }

    /// The devices, to place them or to change their hands.
    pub fn devices_mut(&mut self) -> &mut [SimulatedDevice] {
        &mut self.devices
    }

    /// The physics.
    pub fn physics(&self) -> &P {
        &self.core.physics
    }
}

/// Runs a recording again from its readings: the same fast loop and physics from the start give the same records, to the
/// last bit.
pub fn replay<P: Physics>(
    settings: VirtualSettings,
    fast: FastLoop,
    physics: P,
    records: &[Record],
) -> Result<Vec<Record>, Error> {
    let length = fast.tick_length();
    let tools = fast.tool_count();
    let mut core = Core::new(settings, fast, physics, length)?;
    records.iter().map(|record| core.tick(&record.readings[..tools])).collect()
}
