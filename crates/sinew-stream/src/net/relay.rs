//! The lossy relay on UDP sockets: every client has its own way to the target.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::drain;
use crate::relay::{Faults, Relay, RelayStats};

/// Clients at once; the longest silent one makes room.
const CLIENTS: usize = 64;

#[derive(Debug)]
struct Client {
    address: SocketAddr,
    socket: UdpSocket,
    up: Relay<Vec<u8>>,
    down: Relay<Vec<u8>>,
    heard: Duration,
}

/// A relay between clients and one target.
///
/// ```
/// use sinew_stream::net::UdpRelay;
/// use sinew_stream::relay::Faults;
/// use std::net::UdpSocket;
/// use std::time::Duration;
/// let target = UdpSocket::bind("127.0.0.1:0")?;
/// let mut relay = UdpRelay::bind("127.0.0.1:0".parse()?, target.local_addr()?, Faults::default(), 1)?;
/// let client = UdpSocket::bind("127.0.0.1:0")?;
/// client.send_to(b"hello", relay.address()?)?;
/// relay.turn(Duration::from_millis(50))?;
/// target.set_read_timeout(Some(Duration::from_secs(5)))?;
/// let mut buffer = [0; 9];
/// assert_eq!(target.recv(&mut buffer)?, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UdpRelay {
    listen: UdpSocket,
    target: SocketAddr,
    faults: Faults,
    seed: u64,
    clients: Vec<Client>,
    gone: [RelayStats; 2],
    start: Instant,
}

impl UdpRelay {
    /// A relay that listens at an address; the faults act on both ways, each with a seed of its own.
    ///
    /// # Errors
    /// An address that cannot be bound, or faults that are not possible.
    pub fn bind(listen: SocketAddr, target: SocketAddr, faults: Faults, seed: u64) -> io::Result<Self> {
        faults.check().map_err(io::Error::other)?;
        let listen = UdpSocket::bind(listen)?;
        listen.set_nonblocking(true)?;
        let gone = Default::default();
        Ok(Self { listen, target, faults, seed, clients: Vec::new(), gone, start: Instant::now() })
    }

    /// Address where it listens.
    ///
    /// # Errors
    /// That of the operating system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listen.local_addr()
    }

    /// Other faults for all clients from now on.
    ///
    /// # Errors
    /// Faults that are not possible.
    pub fn set_faults(&mut self, faults: Faults) -> Result<(), crate::Error> {
        faults.check()?;
        self.faults = faults;
        self.clients.iter_mut().try_for_each(|client| {
            client.up.set_faults(faults)?;
            client.down.set_faults(faults)
        })
    }

    /// Relays for a time.
    ///
    /// # Errors
    /// A socket that does not work any more.
    pub fn turn(&mut self, time: Duration) -> io::Result<()> {
        let until = Instant::now() + time;
        loop {
            self.once()?;
            if Instant::now() >= until {
                return Ok(());
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Relays until the flag is set.
    ///
    /// # Errors
    /// A socket that does not work any more.
    pub fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            self.turn(Duration::from_millis(20))?;
        }
        Ok(())
    }

    fn once(&mut self) -> io::Result<()> {
        let now = self.start.elapsed();
        let mut arrived = Vec::new();
        drain(&self.listen, |from, packet| arrived.push((from, packet.to_vec())))?;
        for (from, packet) in arrived {
            let client = self.client(from, now)?;
            client.heard = now;
            client.up.push(now, packet);
        }
        for client in &mut self.clients {
            let (target, down) = (self.target, &mut client.down);
            drain(&client.socket, |from, packet| {
                if from == target {
                    down.push(now, packet.to_vec());
                }
            })?;
            // a packet that the operating system refuses is lost, as on any network
            while let Some(packet) = client.up.pop(now) {
                _ = client.socket.send_to(&packet, self.target);
            }
            while let Some(packet) = client.down.pop(now) {
                _ = self.listen.send_to(&packet, client.address);
            }
        }
        Ok(())
    }

    fn client(&mut self, from: SocketAddr, now: Duration) -> io::Result<&mut Client> {
        if let Some(at) = self.clients.iter().position(|client| client.address == from) {
            return Ok(&mut self.clients[at]);
        }
        if self.clients.len() >= CLIENTS {
            let oldest = (0..self.clients.len()).min_by_key(|&at| self.clients[at].heard).unwrap_or(0);
            let client = self.clients.swap_remove(oldest);
            add(&mut self.gone[0], client.up.stats());
            add(&mut self.gone[1], client.down.stats());
        }
        let local: IpAddr = match self.target.ip() {
            ip if ip.is_loopback() => ip,
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind(SocketAddr::new(local, 0))?;
        socket.set_nonblocking(true)?;
        self.seed = self.seed.wrapping_add(2);
        let relay = |seed| Relay::new(self.faults, seed).map_err(io::Error::other);
        let (up, down) = (relay(self.seed)?, relay(self.seed.wrapping_add(1))?);
        self.clients.push(Client { address: from, socket, up, down, heard: now });
        let last = self.clients.len() - 1;
        Ok(&mut self.clients[last])
    }

    /// Counters of both ways: to the target, and from it.
    #[must_use]
    pub fn stats(&self) -> [RelayStats; 2] {
        let mut stats = self.gone;
        for client in &self.clients {
            add(&mut stats[0], client.up.stats());
            add(&mut stats[1], client.down.stats());
        }
        stats
    }

    /// Clients at present.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.len()
    }
}

fn add(sum: &mut RelayStats, stats: RelayStats) {
    sum.given += stats.given;
    sum.lost += stats.lost;
    sum.reordered += stats.reordered;
    sum.doubled += stats.doubled;
    sum.dropped += stats.dropped;
}
