//! Recordings: a save, then the input of every step and the hash after it, with keyframes in between.
//!
//! ```text
//! settings model state                    the world at the start
//! step step step …                        input, hash after the step, two bytes a column
//! [settings] [model] keyframe             every so many steps: the state after the step before it
//! step …
//! [settings] [model] state                the world was changed behind the recorder's back: go on from here
//! step … end
//! ```
//! Settings and model are written again only when they changed. Every section is sealed on its own, so a file that was
//! cut off (a crash, a full disk, a stream that still runs) replays up to the last whole section.

mod recorder;
mod replay;

pub use recorder::{KEYFRAME_STEPS, Recorder};
pub use replay::{Divergence, Outcome, Replay, ReplaySummary, replay};

use sinew::State;

/// Two bytes of the hash of every column.
fn prints(state: &State) -> Vec<u8> {
    state.columns().flat_map(|c| (crate::frame::hash(c.bytes) as u16).to_le_bytes()).collect()
}
