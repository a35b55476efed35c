//! Every limit on connections and viewers. `docs/viewer.md` has the same table with the effect of exceeding each.

use std::time::Duration;

/// Maximum number of viewers at a time.
pub const VIEWERS: u32 = 256;
/// Maximum number of connections at a time that are not viewers yet. A new connection beyond that closes the oldest: a
/// regular request completes long before 256 others arrive.
pub const CONNECTIONS: usize = 256;
/// Time limit for the header of a request, and between two requests of a connection.
pub const HEADER_TIME: Duration = Duration::from_secs(5);
/// Maximum lifetime of a connection that is not a viewer: a client that does not read its response must not stay
/// connected.
pub const CONNECTION_TIME: Duration = Duration::from_secs(60);
/// Maximum length of a request header [bytes].
pub const HEADER_SIZE: usize = 16 << 10;

/// Maximum length of a message of a viewer [bytes].
pub const MESSAGE_SIZE: usize = 4096;
/// Maximum rate of messages of any kind per viewer [1/s]; commands beyond that are dropped. A page sends at most one
/// per displayed frame.
pub const RATE: f64 = 200.0;
/// A viewer is disconnected after this many messages in excess of the rate.
pub const EXCESS: f64 = 2000.0;
/// Maximum rate of bytes per viewer [bytes/s], and maximum burst [bytes]. Exceeding it disconnects the viewer:
/// fragments that never complete a message cost time too.
pub const BYTES: f64 = (1 << 20) as f64;
/// Commands of one viewer that may be queued for the world. The quota is per viewer, so no viewer blocks the queue for
/// another.
pub const WAITING: u32 = 64;

/// Messages are sent in fragments of this size, so that the write buffer of a viewer does not grow with the scene
/// [bytes].
pub const PIECE: usize = 16 << 10;
/// Maximum write buffer of a viewer: one fragment and the replies to its pings [bytes].
pub const WRITE_BUFFER: usize = 64 << 10;
/// Send buffer of the system per connection [bytes].
pub const SEND_BUFFER: u32 = 256 << 10;
/// A viewer that does not accept a fragment within this time is disconnected.
pub const SLOW: Duration = Duration::from_secs(20);
/// Time between two pings.
pub const PING: Duration = Duration::from_secs(10);
/// A viewer is disconnected after this many unanswered pings.
pub const MISSED: u32 = 2;
/// Refusal messages to one viewer that may be queued.
pub const NOTES: usize = 4;

/// Time that threads get to end at shutdown. A thread inside a long step is not waited for; it ends after that step.
pub const END: Duration = Duration::from_millis(500);
