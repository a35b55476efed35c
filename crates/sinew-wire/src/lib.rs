//! Bytes that leave the process: save files, snapshots and recordings of a Sinew world.
//!
//! | what | holds | written by | read by |
//! | --- | --- | --- | --- |
//! | save | settings, model, state | [`save`] | [`load`], [`load_with`] |
//! | snapshot | the state of a model that the reader already has | [`snapshot`] | [`restore`] |
//! | recording | a save, then input and hash of every step, with keyframes | [`Recorder`] | [`Replay`], [`replay`] |
//!
//! ```
//! use sinew::{Input, RigidBody, Shape, Vec3, World};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::default();
//! world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
//! world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)).at([0.0, 2.0, 0.0]))?;
//!
//! let bytes = sinew_wire::save(&world)?;
//! let mut twin = sinew_wire::load(&bytes)?;
//! world.step(&Input::none());
//! twin.step(&Input::none());
//! assert_eq!(world.hash(), twin.hash());
//! # Ok(()) }
//! ```
//!
//! # Format
//!
//! All three are the same container, little-endian throughout (`docs/save-format.md` has every field):
//!
//! ```text
//! header    "SINEW" | kind u8 | format u16 | bytes of a real u8 | writer: length u8, text | checksum u64
//! section   tag u8 | length u64 | head check u32 | body | checksum u64          repeated
//! end       a section with an empty body
//! ```
//! Each checksum is XXH3-64 of its section, seeded with the checksum before it: the last one vouches for all bytes, and
//! a section can neither be changed nor dropped, doubled or moved. It finds accidents and clumsy hands, not forgers.
//! The head check distinguishes a truncated file from one with a damaged length field.
//!
//! Settings, model and inputs are [postcard](https://postcard.jamesmunns.com) of the structs in `form`; the columns of
//! the state are raw bytes, each with name and stride.
//!
//! # Hostile bytes
//!
//! Every refusal is a [`WireError`] that names the section. Lengths are checked against what is left before anything is
//! allocated; trees lie flat in the file and are built with a limit on depth; what is decoded goes through the same
//! doors as a user's own bodies.

#![forbid(unsafe_code)]

#[cfg(not(target_endian = "little"))]
compile_error!("the columns of a state are written as they lie in memory: this crate needs a little-endian target");

mod columns;
mod diff;
mod error;
mod form;
mod frame;
mod recording;
mod save;

pub use diff::{ColumnDiff, diff};
pub use error::{Kind, Section, WireError};
pub use recording::{Divergence, KEYFRAME_STEPS, Outcome, Recorder, Replay, ReplaySummary, replay};
pub use save::{load, load_with, restore, save, snapshot};
