//! The viewer's server: a page, and a web socket on which a running world and the page talk.
//!
//! Three threads, and a fourth while a scene is built. The world runs on one ([`session`]) and gives a copy of what a frame needs ([`shot`]) through a mailbox
//! without waiting ([`mailbox`]) to the encoder, which makes bytes of it ([`frame`]). The third serves all viewers
//! ([`talk`]): the scene as JSON once, then frames, of which each viewer gets those it can keep up with; orders as JSON back
//! ([`order`]). All viewers see the same world. `docs/protocol.md` has the bytes.

#![forbid(unsafe_code)]

pub mod describe;
pub mod door;
pub mod frame;
pub mod grab;
mod http;
pub mod layer;
pub mod limits;
pub mod mailbox;
pub mod meter;
pub mod order;
pub mod picture;
mod press;
pub mod session;
pub mod shot;
pub mod stage;
pub mod strain;
pub mod talk;
pub mod tune;
pub mod viewer;

pub use session::{Show, Spent};

use door::Door;
use hyper::body::Bytes;
use layer::Demand;
use limits::{END, VIEWERS, WAITING};
use mailbox::Mailbox;
use serde_json::json;
use session::Session;
use shot::Shot;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use talk::{Hub, Published};
use tokio::sync::watch;

/// Name of the world's thread.
pub const PHYSICS: &str = "sinew-physics";
/// How often to look whether to stop, and how long the encoder sleeps when nothing wakes it.
const LOOK: Duration = Duration::from_millis(50);

/// Why there is no viewer.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The scene does not build.
    #[error(transparent)]
    Scene(#[from] sinew::Error),
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}; choose another with --port")]
    Address {
        /// What was asked for.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The server stopped.
    #[error("the server stopped: {0}")]
    Stopped(std::io::Error),
}

/// Where a server is.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The address in use.
    pub address: SocketAddr,
    /// What must stand in the address, when other machines can reach it.
    pub token: Option<String>,
}

impl Ready {
    /// The page's address.
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map(|t| format!("?token={t}")).unwrap_or_default();
        format!("http://{}/{token}", self.address)
    }
}

/// Shows a scene at an address until `stop` says so. `ready` gets the address in use (port 0 asks for any free one).
///
/// # Errors
/// When the scene does not build or the address cannot be had.
pub fn serve(
    show: Show,
    address: &str,
    ready: impl FnOnce(Ready),
    stop: impl Fn() -> bool + Send + 'static,
) -> Result<Spent, ServeError> {
    let (mailbox, demand) = (Arc::new(Mailbox::<Shot>::default()), Arc::new(Demand::default()));
    let Some(session) = begin(show, &mailbox, &demand, &stop)? else { return Ok(Spent::default()) };
    let (letters, inbox) = sync_channel((VIEWERS * WAITING) as usize);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Stopped)?;
    let over = Arc::new(AtomicBool::new(false));
    let (press, published) = Press::new(demand.clone());
    let ended = over.clone();
    let encoder = thread("sinew-encoder", move || press.run(&mailbox, &ended))?;
    let hub = Hub { published, letters, demand };
    let ended = over.clone();
    let world = thread(PHYSICS, move || session.run(&inbox, &ended))?;
    let served = runtime.block_on(listen(address, hub, ready, stop));
    over.store(true, Ordering::Relaxed);
    // not graceful: a viewer that does not hang up must not keep the server
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

/// What a thread returns, if it ends in time.
fn finish<T>(thread: JoinHandle<T>, end: Instant) -> Option<T> {
    while !thread.is_finished() {
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    thread.join().ok()
}

/// Builds the first world on another thread, because that may take longer than `stop` can wait; nothing when it stops.
fn begin(
    show: Show,
    mailbox: &Arc<Mailbox<Shot>>,
    demand: &Arc<Demand>,
    stop: &impl Fn() -> bool,
) -> Result<Option<Session>, ServeError> {
    let (mailbox, demand) = (mailbox.clone(), demand.clone());
    let (tell, told) = channel();
    let builder = thread("sinew-build", move || _ = tell.send(Session::new(show, mailbox, demand)))?;
    loop {
        match told.recv_timeout(LOOK) {
            Ok(session) => return Ok(Some(session?)),
            Err(RecvTimeoutError::Timeout) if stop() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            // it panicked: so does this thread, with the same words
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
    let door = Door::new(address.ip());
    ready(Ready { address, token: door.token.clone() });
    let server = http::Server { hub, door, next_viewer: AtomicU32::new(0) };
    tokio::select! {
        biased;
        () = asked(stop) => {}
        () = http::serve(listener, Arc::new(server)) => {}
    }
    Ok(())
}

/// Ends when `stop` says so.
async fn asked(stop: impl Fn() -> bool) {
    while !stop() {
        tokio::time::sleep(LOOK).await;
    }
}

/// The encoder: makes what viewers get of shots.
struct Press {
    scene: watch::Sender<Bytes>,
    status: watch::Sender<Bytes>,
    frame: watch::Sender<Bytes>,
    demand: Arc<Demand>,
}

impl Press {
    fn new(demand: Arc<Demand>) -> (Self, Published) {
        let (scene, scenes) = watch::channel(Bytes::new());
        let (status, statuses) = watch::channel(Bytes::new());
        let (frame, frames) = watch::channel(Bytes::new());
        (Self { scene, status, frame, demand }, Published { scene: scenes, status: statuses, frame: frames })
    }

    fn run(&self, mailbox: &Mailbox<Shot>, over: &AtomicBool) {
        let mut seen = 0;
        let (mut revision, mut status) = (0, None);
        while !over.load(Ordering::Relaxed) {
            let read = mailbox.read(seen, |shot| {
                if shot.picture.revision != revision {
                    revision = shot.picture.revision;
                    self.scene.send_replace(shot.picture.text.clone().into());
                }
                if status.as_ref() != Some(&shot.status) {
                    status = Some(shot.status.clone());
                    let s = &shot.status;
                    let text = json!({
                        "kind": "status", "paused": s.paused, "speed": s.speed, "knobs": s.knobs, "message": s.message,
                    });
                    self.status.send_replace(text.to_string().into());
                }
                self.frame.send_replace(frame::encode(shot, self.demand.viewers()).into());
            });
            match read {
                Some(number) => seen = number,
                None => std::thread::park_timeout(LOOK),
            }
        }
    }
}
