//! Tools: rigid bodies that a hand moves through a virtual coupling, and grippers on them.
//!
//! ```text
//!   hand --commanded pose d--> coupling (six soft rows) --wrench--> tool body --rows--> contacts, grips
//! ```
//!
//! A tool never follows its commanded pose exactly: the coupling is a spring and damper with limits, solved implicitly
//! with all other rows, so that it is stable at any step. What the hand feels is the wrench of the coupling.
//!
//! * *Probe*: a body alone.
//! * *Grasper*: two jaws on sliders with a commanded opening and a largest force: friction holds what is between them.
//! * *Hold*: on closing, surface points between the jaws are anchored to the tool, each with a force limit; on opening
//!   they are released.

mod coupling;
mod drive;
mod grip;
mod observe;
mod rows;
mod spec;

pub(crate) use coupling::require;
pub use coupling::{Coupling, CouplingWrenches};
pub(crate) use drive::{accept, begin, end};
pub(crate) use grip::release;
pub(crate) use observe::{observe, read};
pub(crate) use rows::{BuiltTool, COUPLING_ROWS, MOST_ANCHORS};
pub use spec::{Grasper, Grip, Hold, Tool, ToolCommand, ToolIds, ToolSpec};

pub use crate::math::{Frame, Motion, Wide3, WideQuat, Wrench};
pub use crate::report::ToolReport;

use crate::math::{Pose, narrow, narrow_rotation, widen, widen_rotation};

/// A pose in f64.
pub(crate) fn wide_pose(pose: &Pose) -> Frame {
    Frame { position: widen(pose.position), rotation: widen_rotation(pose.rotation) }
}

/// A pose rounded to `Real`.
pub(crate) fn narrow_pose(frame: &Frame) -> Pose {
    Pose::new(narrow(frame.position), narrow_rotation(frame.rotation))
}
