//! A sender on sockets, in the caller's thread or one of its own.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::scene::SceneServer;
use super::{drain, flush};
use crate::mailbox::{Delivery, Inbox, Publisher, mailbox};
use crate::topology::Scene;
use crate::{Error, Frame, Outbox, Sender, SenderConfig, SenderStats};

/// A sender with its UDP socket and the TCP port for whole scenes.
///
/// ```
/// use sinew_stream::net::{ReceiverSocket, SenderSocket, seed};
/// use sinew_stream::topology::Scene;
/// use sinew_stream::{ReceiverConfig, SenderConfig};
/// use std::time::Duration;
///
/// let scene = Scene { description: b"hello".to_vec(), ..Scene::default() };
/// let mut sender = SenderSocket::bind("127.0.0.1:0".parse()?, SenderConfig::new(seed()?), scene)?;
/// let mut receiver = ReceiverSocket::open(ReceiverConfig::new(sender.address()?, seed()?), None)?;
/// for _ in 0..1000 {
///     sender.turn(Duration::from_millis(1))?;
///     receiver.turn(Duration::from_millis(1))?;
///     if receiver.receiver().picture().scene().is_some() {
///         break;
///     }
/// }
/// assert_eq!(receiver.receiver().picture().scene().unwrap().description, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SenderSocket {
    socket: UdpSocket,
    scenes: Option<SceneServer>,
    sender: Sender,
    start: Instant,
    outbox: Outbox,
    refused: u64,
}

impl SenderSocket {
    /// Binds UDP and TCP at an address; the port of TCP is chosen by the operating system. Sets `scene_port` and
    /// `unix_time`.
    ///
    /// # Errors
    /// An address that cannot be bound, or a scene that receivers would refuse.
    pub fn bind(at: SocketAddr, mut config: SenderConfig, scene: Scene) -> io::Result<Self> {
        let socket = UdpSocket::bind(at)?;
        let listener = TcpListener::bind(SocketAddr::new(at.ip(), 0))?;
        config.scene_port = listener.local_addr()?.port();
        config.unix_time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let sender = Sender::new(config, scene).map_err(io::Error::other)?;
        let scenes = Some(SceneServer::new(listener)?);
        Ok(Self { socket, scenes, sender, start: Instant::now(), outbox: Outbox::default(), refused: 0 })
    }

    /// Address of the UDP socket.
    ///
    /// # Errors
    /// That of the operating system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The state machine.
    pub fn sender(&mut self) -> &mut Sender {
        &mut self.sender
    }

    /// Datagrams that the operating system refused.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Sends a frame now.
    ///
    /// # Errors
    /// A body that does not fit the scene.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), Error> {
        self.sender.frame(self.start.elapsed(), frame, &mut self.outbox)?;
        self.refused += flush(&self.socket, &mut self.outbox);
        Ok(())
    }

    /// Waits for packets for at most a time, takes them, and sends what is due.
    ///
    /// # Errors
    /// A socket that does not work any more.
    pub fn turn(&mut self, wait: Duration) -> io::Result<()> {
        let (sender, outbox, start) = (&mut self.sender, &mut self.outbox, self.start);
        // the first read waits, the others do not
        self.socket.set_nonblocking(false)?;
        self.socket.set_read_timeout(Some(wait.max(Duration::from_micros(100))))?;
        let mut first = [0; super::LARGEST];
        match self.socket.recv_from(&mut first) {
            Ok((length, from)) => sender.receive(start.elapsed(), from, &first[..length], outbox),
            Err(error) if super::is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        self.socket.set_nonblocking(true)?;
        drain(&self.socket, |from, packet| sender.receive(start.elapsed(), from, packet, outbox))?;
        sender.poll(start.elapsed(), outbox);
        self.refused += flush(&self.socket, outbox);
        if let Some(scenes) = &mut self.scenes {
            scenes.turn(start.elapsed(), |request| sender.scene_reply(request));
        }
        Ok(())
    }

    /// Ends the stream for all receivers.
    pub fn leave(&mut self) {
        self.sender.leave(&mut self.outbox);
        self.refused += flush(&self.socket, &mut self.outbox);
    }
}

/// A sender in a thread of its own. Dropping it ends the stream and the thread.
///
/// An example is at [`SenderSocket`], and one of a thread at [`spawn`].
#[derive(Debug)]
pub struct SenderHandle {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<SenderStats>>>,
}

impl SenderHandle {
    /// Address of the UDP socket.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the stream and returns its counters.
    ///
    /// # Errors
    /// The error that ended the thread before.
    pub fn stop(mut self) -> io::Result<SenderStats> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(io::Error::other("the thread of the sender has panicked")),
        }
    }
}

impl Drop for SenderHandle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// Starts a sender in a thread of its own, with a frame at most every `interval`.
///
/// ```
/// use sinew_stream::net::{seed, spawn};
/// use sinew_stream::topology::Scene;
/// use sinew_stream::SenderConfig;
/// use std::time::Duration;
/// let interval = Duration::from_secs(1) / 30;
/// let config = SenderConfig::new(seed()?);
/// let (mut physics, handle) = spawn("127.0.0.1:0".parse()?, config, Scene::default(), interval)?;
/// // in the loop of the physics
/// if physics.is_wanted() {
///     physics.frame().tick = 1;
///     physics.publish();
/// }
/// handle.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`SenderSocket::bind`].
pub fn spawn(
    at: SocketAddr,
    config: SenderConfig,
    scene: Scene,
    interval: Duration,
) -> io::Result<(Publisher, SenderHandle)> {
    let mut socket = SenderSocket::bind(at, config, scene)?;
    let (publisher, inbox) = mailbox();
    let stop = Arc::new(AtomicBool::new(false));
    let (address, end) = (socket.address()?, stop.clone());
    let name = "sinew-stream".to_string();
    let thread = std::thread::Builder::new().name(name).spawn(move || run(&mut socket, &inbox, interval, &end))?;
    Ok((publisher, SenderHandle { address, stop, thread: Some(thread) }))
}

fn run(socket: &mut SenderSocket, inbox: &Inbox, interval: Duration, end: &AtomicBool) -> io::Result<SenderStats> {
    let mut delivery = Delivery::default();
    let mut next = socket.start.elapsed();
    while !end.load(Ordering::Relaxed) {
        let now = socket.start.elapsed();
        if now >= next {
            inbox.want();
            // a loop that was late does not catch up
            next = (next + interval).max(now);
        }
        inbox.take(&mut delivery);
        if let Some(scene) = delivery.scene.take() {
            socket.sender.replace(scene).map_err(io::Error::other)?;
        }
        for change in &delivery.changes {
            socket.sender.change(change).map_err(io::Error::other)?;
        }
        if delivery.fresh {
            socket.frame(&delivery.frame).map_err(io::Error::other)?;
        }
        socket.turn(Duration::from_millis(1))?;
        while let Some((viewer, command)) = socket.sender.command() {
            inbox.command(viewer, command);
        }
    }
    socket.leave();
    Ok(socket.sender.stats())
}
