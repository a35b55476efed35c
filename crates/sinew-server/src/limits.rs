//! Every limit on connections and viewers. `docs/viewer.md` has the same table with what happens beyond each.

use std::time::Duration;

/// Most viewers at once.
pub const VIEWERS: u32 = 256;
/// Most connections at once that are no viewers yet. A new one beyond that closes the oldest: a request that is completed
/// is so long before 256 others have come.
pub const CONNECTIONS: usize = 256;
/// Time for the header of a request, and between two requests of a connection.
pub const HEADER_TIME: Duration = Duration::from_secs(5);
/// Longest life of a connection that is no viewer: a page that is not taken must not stay.
pub const CONNECTION_TIME: Duration = Duration::from_secs(60);
/// Longest header of a request [bytes].
pub const HEADER_SIZE: usize = 16 << 10;

/// Longest message of a viewer [bytes].
pub const MESSAGE_SIZE: usize = 4096;
/// Messages of any kind a second of a viewer; orders beyond that are dropped. A page sends at most one a picture.
pub const RATE: f64 = 200.0;
/// So many messages beyond the rate end a viewer.
pub const EXCESS: f64 = 2000.0;
/// Bytes a second of a viewer, and at once. More end it: pieces of messages cost time, but never become messages.
pub const BYTES: f64 = (1 << 20) as f64;
/// Orders of one viewer that may wait for the world. The share is its own: no viewer takes the place of another.
pub const WAITING: u32 = 64;

/// Messages are sent in pieces of this size, so that the buffer of a viewer does not grow with the scene [bytes].
pub const PIECE: usize = 16 << 10;
/// Largest write buffer of a viewer: a piece and the answers to its pings [bytes].
pub const WRITE_BUFFER: usize = 64 << 10;
/// Send buffer that the system keeps for a connection [bytes].
pub const SEND_BUFFER: u32 = 256 << 10;
/// A viewer that does not take a piece within this time is disconnected.
pub const SLOW: Duration = Duration::from_secs(20);
/// Time between two pings.
pub const PING: Duration = Duration::from_secs(10);
/// So many pings without an answer end a viewer.
pub const MISSED: u32 = 2;
/// Notes for one viewer that may wait.
pub const NOTES: usize = 4;

/// Time that threads get to end at shutdown. One that is in the middle of a long step is left behind; it ends after it.
pub const END: Duration = Duration::from_millis(500);
