//! Remote viewing over RTP/UDP (RFC 3550): a simulation sends what it looks like, any number of viewers draw it, and
//! lost packets heal by themselves.
//!
//! [`Sender`] and [`Receiver`] are state machines without sockets and clocks: bytes and times go in, bytes come out, so
//! that a network of any quality is simulated in virtual time ([`relay`]). [`net`] puts them on sockets, [`mailbox`]
//! takes frames from the thread of the physics without making it wait. `docs/streaming.md` has the protocol.
//!
//! The crate knows points, triangles and poses, not the engine: it depends on no other crate of the workspace.

#![forbid(unsafe_code)]

mod bytes;
mod error;
mod frame;
mod key;
mod outbox;
mod secret;

pub mod commands;
pub mod control;
pub mod limit;
pub mod mailbox;
pub mod net;
pub mod payload;
pub mod points;
pub mod random;
pub mod receiver;
pub mod reception;
pub mod record;
pub mod relay;
pub mod rtcp;
pub mod rtp;
pub mod sender;
pub mod state;
pub mod topology;
pub mod window;

pub use error::{DecodeError, Error};
pub use frame::{BodyPoints, Frame};
pub use key::Key;
pub use outbox::Outbox;
pub use receiver::{Ages, Picture, Receiver, ReceiverConfig, ReceiverStats};
pub use sender::{Sender, SenderConfig, SenderStats, Viewer};
