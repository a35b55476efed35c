//! Sockets: thin layers around the state machines. Each call waits at most for its time limit.

mod receiver;
mod relay;
mod scene;
mod sender;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};

use crate::Outbox;

pub use receiver::ReceiverSocket;
pub use relay::UdpRelay;
pub use sender::{SenderHandle, SenderSocket, spawn};

/// Largest datagram that is read: longer ones are cut and then fail to decode.
const LARGEST: usize = 2048;
/// Datagrams that are read in one go, so that a flood cannot keep a loop from its other work.
const AT_ONCE: usize = 512;

/// 32 random bytes of the operating system, for a seed.
///
/// ```
/// assert_ne!(sinew_stream::net::seed()?, sinew_stream::net::seed()?);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The operating system has no source of random numbers.
pub fn seed() -> io::Result<[u8; 32]> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(io::Error::other)?;
    Ok(seed)
}

/// Reads what has arrived; `take` is called with each datagram. Returns how many there were.
fn drain(socket: &UdpSocket, mut take: impl FnMut(SocketAddr, &[u8])) -> io::Result<usize> {
    let mut buffer = [0; LARGEST];
    for count in 0..AT_ONCE {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => take(from, &buffer[..length]),
            Err(error) if is_passing(&error) => return Ok(count),
            Err(error) => return Err(error),
        }
    }
    Ok(AT_ONCE)
}

/// Nothing to read, or an error that is about one packet or one peer.
fn is_passing(error: &io::Error) -> bool {
    use ErrorKind::{
        ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, NetworkUnreachable, TimedOut, WouldBlock,
    };
    matches!(
        error.kind(),
        WouldBlock
            | TimedOut
            | Interrupted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | NetworkUnreachable
    )
}

/// Sends all datagrams; returns how many the operating system refused, for a full buffer or an address that cannot be
/// reached. That is loss, and heals as loss does.
fn flush(socket: &UdpSocket, outbox: &mut Outbox) -> u64 {
    let refused = outbox.iter().filter(|(to, packet)| socket.send_to(packet, to).is_err()).count();
    outbox.clear();
    refused as u64
}
