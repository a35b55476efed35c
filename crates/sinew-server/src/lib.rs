//! The server of the viewer: a page, and a WebSocket between the page and a running world.
//!
//! Three threads, and a fourth while a scene is built. The world runs on one ([`session`]) and copies the data of a
//! frame ([`snapshot`]) through a mailbox without waiting ([`mailbox`]) to the encoder, which serializes it ([`frame`]).
//! The third serves all viewers ([`socket`]): the scene as JSON once, then frames, of which a slow viewer skips some;
//! commands as JSON in the other direction ([`command`]). All viewers show the same world. `docs/protocol.md` documents
//! the bytes.

#![forbid(unsafe_code)]

pub mod access;
pub mod command;
pub mod describe;
pub mod frame;
pub mod geometry;
pub mod grab;
mod http;
pub mod layer;
pub mod limits;
pub mod mailbox;
pub mod meter;
mod pressure;
pub mod session;
pub mod snapshot;
pub mod socket;
pub mod stage;
pub mod strain;
pub mod tune;
pub mod viewer;

pub use session::{Show, Spent};

use access::Access;
use hyper::body::Bytes;
use layer::Demand;
use limits::{END, VIEWERS, WAITING};
use mailbox::Mailbox;
use serde_json::json;
use session::Session;
use snapshot::Snapshot;
use socket::{Hub, Published};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Name of the world's thread.
pub const PHYSICS: &str = "sinew-physics";
/// Interval at which the stop condition is polled, and longest sleep of the encoder when nothing wakes it.
const LOOK: Duration = Duration::from_millis(50);

/// Why the server could not start or run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The scene does not build.
    #[error(transparent)]
    Scene(#[from] sinew::Error),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}; choose another with --port")]
    Address {
        /// The requested address.
        address: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The server stopped.
    #[error("the server stopped: {0}")]
    Stopped(std::io::Error),
}

/// Address of a running server.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The address in use.
    pub address: SocketAddr,
    /// The token that the URL must contain when other machines can reach the server.
    pub token: Option<String>,
}

impl Ready {
    /// The URL of the page.
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map(|t| format!("?token={t}")).unwrap_or_default();
        format!("http://{}/{token}", self.address)
    }
}

/// Serves a scene at an address until `stop` returns true. `ready` receives the bound address (port 0 selects any free
/// one).
///
/// # Errors
/// When the scene does not build or the address cannot be bound.
pub fn serve(
    show: Show,
    address: &str,
    ready: impl FnOnce(Ready),
    stop: impl Fn() -> bool + Send + 'static,
) -> Result<Spent, ServeError> {
    let (mailbox, demand) = (Arc::new(Mailbox::<Snapshot>::default()), Arc::new(Demand::default()));
    let Some(session) = begin(show, &mailbox, &demand, &stop)? else { return Ok(Spent::default()) };
    let (commands, inbox) = sync_channel((VIEWERS * WAITING) as usize);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Stopped)?;
    let over = Arc::new(AtomicBool::new(false));
    let (encoder, published) = Encoder::new(demand.clone());
    let ended = over.clone();
    let encoder = thread("sinew-encoder", move || encoder.run(&mailbox, &ended))?;
    let hub = Hub { published, commands, demand };
    let ended = over.clone();
    let world = thread(PHYSICS, move || session.run(&inbox, &ended))?;
    let served = runtime.block_on(listen(address, hub, ready, stop));
    over.store(true, Ordering::Relaxed);
    // not a graceful shutdown: a viewer that does not close its connection must not keep the server running
    runtime.shutdown_background();
    let end = Instant::now() + END;
    let spent = finish(world, end).unwrap_or_default();
    finish(encoder, end);
    served.map(|()| spent)
}

fn thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, ServeError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(ServeError::Stopped)
}

/// The return value of a thread, if it ends in time.
fn finish<T>(thread: JoinHandle<T>, end: Instant) -> Option<T> {
    while !thread.is_finished() {
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    thread.join().ok()
}

/// Builds the first world on another thread, because that may take longer than `stop` can wait; `None` when `stop`
/// returns true first.
fn begin(
    show: Show,
    mailbox: &Arc<Mailbox<Snapshot>>,
    demand: &Arc<Demand>,
    stop: &impl Fn() -> bool,
) -> Result<Option<Session>, ServeError> {
    let (mailbox, demand) = (mailbox.clone(), demand.clone());
    let (sender, receiver) = channel();
    let builder = thread("sinew-build", move || _ = sender.send(Session::new(show, mailbox, demand)))?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(session) => return Ok(Some(session?)),
            Err(RecvTimeoutError::Timeout) if stop() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            // the build panicked: this thread panics with the same message
            Err(RecvTimeoutError::Disconnected) => match builder.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(ServeError::Stopped(std::io::Error::other("no world was built"))),
            },
        }
    }
}

async fn listen(
    address: &str,
    hub: Hub,
    ready: impl FnOnce(Ready),
    stop: impl Fn() -> bool + Send + 'static,
) -> Result<(), ServeError> {
    let bound = http::bind(address).await;
    let listener = bound.map_err(|source| ServeError::Address { address: address.to_owned(), source })?;
    let address = listener.local_addr().map_err(ServeError::Stopped)?;
    let access = Access::new(address.ip());
    ready(Ready { address, token: access.token.clone() });
    let server = http::Server { hub, access, next_viewer: AtomicU32::new(0) };
    tokio::select! {
        biased;
        () = asked(stop) => {}
        () = http::serve(listener, Arc::new(server)) => {}
    }
    Ok(())
}

/// Completes when `stop` returns true.
async fn asked(stop: impl Fn() -> bool) {
    while !stop() {
        tokio::time::sleep(LOOK).await;
    }
}

/// The encoder: serializes snapshots into the messages of the viewers.
struct Encoder {
    scene: watch::Sender<Bytes>,
    status: watch::Sender<Bytes>,
    frame: watch::Sender<Bytes>,
    demand: Arc<Demand>,
}

impl Encoder {
    fn new(demand: Arc<Demand>) -> (Self, Published) {
        let (scene, scenes) = watch::channel(Bytes::new());
        let (status, statuses) = watch::channel(Bytes::new());
        let (frame, frames) = watch::channel(Bytes::new());
        (Self { scene, status, frame, demand }, Published { scene: scenes, status: statuses, frame: frames })
    }

    fn run(&self, mailbox: &Mailbox<Snapshot>, over: &AtomicBool) {
        let mut seen = 0;
        let (mut revision, mut status) = (0, None);
        while !over.load(Ordering::Relaxed) {
            let read = mailbox.read(seen, |snapshot| {
                if snapshot.geometry.revision != revision {
                    revision = snapshot.geometry.revision;
                    self.scene.send_replace(snapshot.geometry.text.clone().into());
                }
                if status.as_ref() != Some(&snapshot.status) {
                    status = Some(snapshot.status.clone());
                    let s = &snapshot.status;
                    let text = json!({
                        "kind": "status", "paused": s.paused, "speed": s.speed, "knobs": s.knobs, "message": s.message,
                    });
                    self.status.send_replace(text.to_string().into());
                }
                self.frame.send_replace(frame::encode(snapshot, self.demand.viewers()).into());
            });
            match read {
                Some(number) => seen = number,
                None => std::thread::park_timeout(LOOK),
            }
        }
    }
}
