//! A receiver on a socket.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::scene::Fetch;
use super::{drain, flush};
use crate::key::TRAILER;
use crate::{Error, Outbox, Receiver, ReceiverConfig};

/// A receiver with its UDP socket. It says hello by itself, and fetches scenes over TCP if the configuration allows.
///
/// An example is at [`SenderSocket`](super::SenderSocket).
#[derive(Debug)]
pub struct ReceiverSocket {
    socket: UdpSocket,
    /// Listens to the group.
    group: Option<UdpSocket>,
    receiver: Receiver,
    sender: SocketAddr,
    limit: usize,
    start: Instant,
    outbox: Outbox,
    fetch: Option<Fetch>,
}

impl ReceiverSocket {
    /// Opens a socket towards the sender of the configuration, and one for the multicast group if there is one.
    ///
    /// # Errors
    /// A socket that cannot be opened, or a group that cannot be joined.
    pub fn open(mut config: ReceiverConfig, group: Option<SocketAddr>) -> io::Result<Self> {
        let local: IpAddr = match config.sender.ip() {
            ip if ip.is_loopback() => ip,
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind(SocketAddr::new(local, 0))?;
        socket.set_nonblocking(true)?;
        let group = group.map(|group| join(group, local)).transpose()?;
        config.group = group.is_some();
        let (sender, limit) = (config.sender, config.limits.scene_bytes + TRAILER);
        let receiver = Receiver::new(config);
        let (start, outbox) = (Instant::now(), Outbox::default());
        Ok(Self { socket, group, receiver, sender, limit, start, outbox, fetch: None })
    }

    /// The state machine.
    #[must_use]
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Time of the state machine: since the socket was opened.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Queues a command.
    ///
    /// # Errors
    /// Those of [`Receiver::command`].
    pub fn command(&mut self, body: &[u8]) -> Result<u32, Error> {
        self.receiver.command(body)
    }

    /// Takes packets for about a time and sends what is due.
    ///
    /// # Errors
    /// A socket that does not work any more.
    pub fn turn(&mut self, wait: Duration) -> io::Result<()> {
        let until = Instant::now() + wait;
        loop {
            let (receiver, start) = (&mut self.receiver, self.start);
            let mut count = 0;
            for socket in std::iter::once(&self.socket).chain(&self.group) {
                count += drain(socket, |from, packet| receiver.receive(start.elapsed(), from, packet))?;
            }
            self.scenes();
            self.receiver.poll(self.start.elapsed(), &mut self.outbox);
            flush(&self.socket, &mut self.outbox);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            if count == 0 {
                std::thread::sleep(left.min(Duration::from_millis(1)));
            }
        }
    }

    fn scenes(&mut self) {
        let now = self.start.elapsed();
        if let Some(answer) = self.fetch.as_ref().and_then(Fetch::poll) {
            self.fetch = None;
            self.receiver.scene_response(now, answer.as_deref());
        }
        if self.fetch.is_none() {
            let request = self.receiver.scene_request(now);
            let to = |port| SocketAddr::new(self.sender.ip(), port);
            self.fetch = request.map(|request| Fetch::start(to(request.port), request.bytes, self.limit));
        }
    }

    /// Tells the sender that this receiver leaves.
    pub fn leave(&mut self) {
        self.receiver.leave(&mut self.outbox);
        flush(&self.socket, &mut self.outbox);
    }
}

fn join(group: SocketAddr, local: IpAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(group)?;
    match (group.ip(), local) {
        (IpAddr::V4(address), IpAddr::V4(local)) => socket.join_multicast_v4(&address, &local)?,
        (IpAddr::V6(address), _) => socket.join_multicast_v6(&address, 0)?,
        (IpAddr::V4(address), IpAddr::V6(_)) => socket.join_multicast_v4(&address, &Ipv4Addr::UNSPECIFIED)?,
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}
