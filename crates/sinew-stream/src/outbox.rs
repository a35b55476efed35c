//! Datagrams that a state machine wants to be sent.

use std::net::SocketAddr;

/// Datagrams with their targets, in one buffer that is used again.
///
/// ```
/// use sinew_stream::Outbox;
/// let to = "127.0.0.1:9".parse().unwrap();
/// let mut outbox = Outbox::default();
/// outbox.push(to, |bytes| bytes.extend(b"hello"));
/// assert_eq!(outbox.iter().collect::<Vec<_>>(), [(to, &b"hello"[..])]);
/// outbox.clear();
/// assert_eq!(outbox.iter().count(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<(SocketAddr, usize)>,
}

impl Outbox {
    /// Adds a datagram: what `fill` appends.
    pub fn push(&mut self, to: SocketAddr, fill: impl FnOnce(&mut Vec<u8>)) {
        fill(&mut self.bytes);
        self.ends.push((to, self.bytes.len()));
    }

    /// The datagrams in order.
    pub fn iter(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        self.ends.iter().zip(starts).map(|(&(to, end), start)| (to, &self.bytes[start..end]))
    }

    /// Forgets all datagrams and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
