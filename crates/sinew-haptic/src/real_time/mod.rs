//! The loop in real time: an absolute deadline, a sleep to shortly before it, a short spin.
//!
//! Under a real-time scheduling class on one core, p99 of the lateness is some microseconds; without it a computing thread on
//! the same core delays a tick by milliseconds. What the machine gives is measured beside the work: in alternate seconds
//! the loop runs without it.

mod system;

pub use system::Scheduling;

use crate::error::{Error, require};
use crate::histogram::Histogram;
use crate::limits::EffectiveTick;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Settings of the loop in real time.
///
/// An example is at [`run_real_time`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealTimeSettings {
    /// Length of a tick [s]. Default 1 ms.
    pub tick: f64,
    /// The last part before a deadline is waited for without sleep [s]. Default 150 µs.
    pub spin: f64,
    /// Priority of the real-time class (SCHED_FIFO, 1 to 99); none: normal scheduling. Default 50.
    pub priority: Option<u8>,
    /// Core that the thread stays on; none: any.
    pub core: Option<u16>,
    /// Every other second runs without work, to measure the bare loop. Default false.
    pub alternate: bool,
}

impl Default for RealTimeSettings {
    fn default() -> Self {
        Self { tick: 1e-3, spin: 150e-6, priority: Some(50), core: None, alternate: false }
    }
}

/// What a loop in real time did.
///
/// An example is at [`run_real_time`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RealTimeReport {
    /// Lateness of ticks with work: start after the deadline.
    pub lateness: Histogram,
    /// Lateness of ticks without work.
    pub bare: Histogram,
    /// Duration of the work.
    pub work: Histogram,
    /// The tick that stability feels.
    pub effective: EffectiveTick,
    /// Deadlines that were skipped, because the tick before ended after them.
    pub skipped: u64,
    /// Ticks that began later than one period.
    pub missed: u64,
    /// What the system allowed, in words.
    pub scheduling: Scheduling,
}

/// Runs a loop on a thread of its own until `stop` is set or a time is over [s]. `work` gets the time since the tick before
/// [s]. It must neither allocate nor wait; the loop itself does neither.
///
/// ```
/// use sinew_haptic::*;
/// let settings = RealTimeSettings { priority: None, ..RealTimeSettings::default() };
/// let mut time = 0.0;
/// let report = run_real_time(&settings, &Default::default(), 0.05, |dt| time += dt)?;
/// let ticks = report.lateness.count() + report.skipped;
/// assert!((49..=51).contains(&ticks) && (time - 0.05).abs() < 0.03);
/// # Ok::<(), Error>(())
/// ```
pub fn run_real_time(
    settings: &RealTimeSettings,
    stop: &AtomicBool,
    seconds: f64,
    work: impl FnMut(f64) + Send,
) -> Result<RealTimeReport, Error> {
    require("tick", settings.tick, |t| (1e-5..=1.0).contains(&t), "from 1e-5 to 1 [s]")?;
    require("spin", settings.spin, |t| (0.0..=1.0).contains(&t), "from 0 to 1 [s]")?;
    require("seconds", seconds, |t| (0.0..=1e7).contains(&t), "from 0 to 1e7 [s]")?;
    let run = || {
        let scheduling = system::request(settings.priority, settings.core);
        let mut report = RealTimeReport { scheduling, ..RealTimeReport::default() };
        run_here(settings, stop, seconds, work, &mut report);
        report
    };
    // the scheduling class ends with the thread
    let ended = std::thread::scope(|scope| scope.spawn(run).join());
    ended.map_err(|_| Error::World("the work of the loop panicked".to_owned()))
}

fn run_here(
    settings: &RealTimeSettings,
    stop: &AtomicBool,
    seconds: f64,
    mut work: impl FnMut(f64),
    report: &mut RealTimeReport,
) {
    let tick = Duration::from_secs_f64(settings.tick);
    let total = (seconds / settings.tick).round() as u64;
    let per_second = (1.0 / settings.tick).round().max(1.0) as u64;
    let start = Instant::now() + tick;
    let (mut last, mut n) = (start - tick, 0_u64);
    while n < total && !stop.load(Ordering::Relaxed) {
        let deadline = start + Duration::from_secs_f64(n as f64 * settings.tick);
        wait(deadline, settings.spin);
        let begun = Instant::now();
        let late = begun.duration_since(deadline).as_secs_f64();
        let dt = begun.duration_since(last).as_secs_f64();
        last = begun;
        report.missed += u64::from(late > settings.tick);
        if settings.alternate && (n / per_second) % 2 == 1 {
            report.bare.add(late);
        } else {
            report.lateness.add(late);
            report.effective.add(dt);
            work(dt);
            report.work.add(begun.elapsed().as_secs_f64());
        }
        // deadlines that are over already are left out
        let next = (start.elapsed().as_secs_f64() / settings.tick).ceil() as u64;
        let following = (n + 1).max(next.min(total));
        report.skipped += following - (n + 1);
        n = following;
    }
}

fn wait(deadline: Instant, spin: f64) {
    let left = deadline.saturating_duration_since(Instant::now());
    let sleep = left.saturating_sub(Duration::from_secs_f64(spin));
    if !sleep.is_zero() {
        std::thread::sleep(sleep);
    }
    while Instant::now() < deadline {
        std::hint::spin_loop();
    }
}
