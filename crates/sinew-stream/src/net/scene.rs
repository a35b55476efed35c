//! Whole scenes over TCP: a server that never waits, and a client in a thread that ends by itself.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Connections at once.
const CONNECTIONS: usize = 16;
/// Time for a request and its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Length of a request without and with a key.
const REQUESTS: [usize; 2] = [12, 36];

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
    sent: usize,
    until: Duration,
}

#[derive(Debug)]
pub(super) struct SceneServer {
    listener: TcpListener,
    connections: Vec<Connection>,
}

impl SceneServer {
    pub fn new(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connections: Vec::new() })
    }

    /// Goes on with all connections; `answer` gives the reply to a request.
    pub fn turn(&mut self, now: Duration, mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>>) {
        while self.connections.len() < CONNECTIONS {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_ok() {
                let until = now + PATIENCE;
                self.connections.push(Connection { stream, request: vec![], reply: vec![], sent: 0, until });
            }
        }
        self.connections.retain_mut(|connection| now < connection.until && connection.turn(&mut answer));
    }
}

impl Connection {
    /// False once the connection is done.
    fn turn(&mut self, answer: &mut impl FnMut(&[u8]) -> Option<Vec<u8>>) -> bool {
        if self.reply.is_empty() {
            let mut buffer = [0; 64];
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(length) => self.request.extend(&buffer[..length]),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
            if REQUESTS.contains(&self.request.len()) {
                self.reply = answer(&self.request).unwrap_or_default();
            }
            // a signed request is longer than one without a key: wait for its rest
            return !self.reply.is_empty() || self.request.len() < REQUESTS[1];
        }
        match self.stream.write(&self.reply[self.sent..]) {
            Ok(length) => {
                self.sent += length;
                length > 0 && self.sent < self.reply.len()
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// A request on its way.
#[derive(Debug)]
pub(super) struct Fetch {
    answer: Receiver<Option<Vec<u8>>>,
}

impl Fetch {
    /// Starts a thread that ends within [`PATIENCE`] or with the answer.
    pub fn start(to: SocketAddr, request: Vec<u8>, limit: usize) -> Self {
        let (sender, answer) = channel();
        let spawned = std::thread::Builder::new()
            .name("sinew-scene".to_string())
            .spawn(move || _ = sender.send(fetch(to, &request, limit).ok()));
        // without a thread the channel is closed, and that is an answer
        drop(spawned);
        Self { answer }
    }

    /// `None` while it is on its way; then the answer, or `None` for none.
    pub fn poll(&self) -> Option<Option<Vec<u8>>> {
        match self.answer.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }
}

fn fetch(to: SocketAddr, request: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE / 4)?;
    stream.set_write_timeout(Some(PATIENCE / 4))?;
    stream.set_read_timeout(Some(PATIENCE / 4))?;
    stream.write_all(request)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > limit {
        return Err(io::Error::other("scene is larger than the limit"));
    }
    // memory grows with what arrives, not with the length that was announced
    let mut answer = Vec::new();
    let mut buffer = vec![0; 65_536];
    while answer.len() < length {
        let room = buffer.len().min(length - answer.len());
        let read = stream.read(&mut buffer[..room])?;
        if read == 0 || Instant::now() > until {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        answer.extend(&buffer[..read]);
    }
    Ok(answer)
}
