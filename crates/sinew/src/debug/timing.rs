//! The only use of the system clock. Its values are part of the report, never of State.

use crate::report::Phase;
use std::time::Instant;

/// Accumulates the time of each phase.
#[derive(Debug)]
pub(crate) struct PhaseClock {
    last: Instant,
    pub seconds: [f64; Phase::ALL.len()],
}

impl PhaseClock {
    pub fn start() -> Self {
        Self { last: Instant::now(), seconds: [0.0; Phase::ALL.len()] }
    }

    /// Adds the time since the last mark to `phase`.
    pub fn mark(&mut self, phase: Phase) {
        let now = Instant::now();
        self.seconds[phase as usize] += (now - self.last).as_secs_f64();
        self.last = now;
    }
}

impl Default for PhaseClock {
    fn default() -> Self {
        Self::start()
    }
}
