//! Tools with force feedback: the loop of 1 kHz between a device in a hand and a world that steps every 1 to 20 ms.
//!
//! ```text
//!   device --pose--> clutch, scale --pose d--> local model --wrench--> passivity --wrench--> device      1 kHz
//!                                        ^  snapshot             |  pose, ahead by one step
//!                                        |                       v
//!                                      world (coupling, contacts, compliance)                           50 to 1000 Hz
//! ```
//!
//! [`LocalModel`] computes forces from the last [`Snapshot`] of the world, [`Passivity`] takes back what sampling leaks,
//! [`VirtualLoop`] runs device, local model and world by one clock with the same bits each time. The crate's page in the
//! documentation is `docs/haptics.md`.

mod adapter;
mod device;
mod error;
mod exchange;
mod fast_loop;
mod geometry;
mod half_space;
pub mod haply;
mod histogram;
pub mod limits;
mod local_model;
mod passivity;
pub mod protocol;
mod real_time;
mod snapshot;
mod udp;
mod virtual_loop;

pub use adapter::{Probe, WorldPhysics};
pub use device::{
    Device, Hand, Intake, IntakeReport, IntakeSettings, Reading, SimulatedDevice, SimulatedSettings, Workspace,
    WorkspaceSettings,
};
pub use error::Error;
pub use exchange::{Publisher, Subscriber, exchange};
pub use fast_loop::{FastLoop, ToolReport, ToolSettings};
pub use geometry::{Face, Geometry, Touch};
pub use half_space::{HalfSpace, Scale, stiff_bias};
pub use histogram::Histogram;
pub use local_model::{LocalModel, LocalSettings, ToolForce};
pub use passivity::{Passivity, PassivityReport, PassivitySettings, Work};
pub use real_time::{RealTimeReport, RealTimeSettings, Scheduling, run_real_time};
pub use sinew::tool::{Coupling, CouplingWrenches};
pub use sinew_math::{Frame, Motion, Wide3, WideQuat, Wrench};
pub use snapshot::{ContactPoint, MOST_BODIES, MOST_POINTS, MOST_TOOLS, Relaxation, Snapshot};
pub use udp::UdpDevice;
pub use virtual_loop::{Physics, Record, VirtualLoop, VirtualSettings, replay};
