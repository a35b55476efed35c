//! Bodies that a run froze: which, when and why.

use crate::grips::called;
use crate::output::seconds;
use serde::Serialize;
use sinew::{FaultKind, World};

/// Most that are listed: a scene may have thousands.
const MOST: usize = 100;

/// A body that was frozen.
#[derive(Clone, Debug, Serialize)]
pub struct Frozen {
    /// Its name, or its slot.
    pub body: String,
    /// The step, from 1.
    pub tick: u64,
    /// Time at the end of the step [s].
    pub time_s: f64,
    /// Phase of the step in which it was detected.
    pub phase: &'static str,
    /// Why.
    pub reason: String,
}

impl Frozen {
    /// Adds the faults of the last step.
    pub fn note(world: &World, list: &mut Vec<Self>) {
        let report = world.report();
        for fault in report.faults.iter().take(MOST.saturating_sub(list.len())) {
            let why = match fault.what {
                FaultKind::NonFinite => "is not finite or out of range",
                FaultKind::TooFast => "is above its limit",
                FaultKind::ContactRefused => "cannot be resolved by the contact method",
                FaultKind::Tangled => "intersects another body and could not be separated",
                FaultKind::JointOpen { .. } => "has a joint that came apart",
                _ => "is out of order",
            };
            let body = world.body(fault.body).map_or_else(|_| format!("#{}", fault.body.to_parts().0), |b| called(&b));
            list.push(Self {
                body,
                tick: report.tick,
                time_s: seconds(world.time()),
                phase: fault.phase.name(),
                reason: format!("{} {why}", fault.field),
            });
        }
    }
}
