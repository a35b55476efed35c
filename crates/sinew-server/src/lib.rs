//! The viewer's server: a page, and a web socket on which a running world and the page talk.
//!
//! Three threads. The world runs on one ([`session`]) and gives a copy of what a frame needs ([`shot`]) through a mailbox
//! without waiting ([`mailbox`]) to the encoder, which makes bytes of it ([`frame`]). The third serves all viewers
//! ([`talk`]): the scene as JSON once, then frames, of which each viewer gets those it can keep up with; orders as JSON back
//! ([`order`]). All viewers see the same world. `docs/protocol.md` has the bytes.

#![forbid(unsafe_code)]

pub mod describe;
pub mod door;
pub mod frame;
pub mod grab;
pub mod layer;
pub mod mailbox;
pub mod order;
pub mod picture;
mod press;
pub mod session;
pub mod shot;
pub mod strain;
pub mod talk;
pub mod tune;

pub use session::{Show, Spent};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{Utf8Bytes, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use door::Door;
use layer::Demand;
use mailbox::Mailbox;
use serde_json::json;
use session::Session;
use shot::Shot;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use talk::{Hub, ORDER_LIMIT, Published};
use tokio::sync::watch;

/// The page, as built from `web/`: path and bytes of each file.
static PAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Name of the world's thread.
pub const PHYSICS: &str = "sinew-physics";
/// How often to ask whether to stop, and how long the encoder sleeps when nobody wakes it.
const LOOK: Duration = Duration::from_millis(50);
/// Most viewers at once.
const VIEWERS: u32 = 256;
/// Orders of all viewers that may wait for the world.
const LETTERS: usize = 1024;
/// The page loads nothing from elsewhere.
const POLICY: &str =
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:";

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

#[derive(Clone)]
struct Server {
    hub: Hub,
    door: Door,
    next_viewer: Arc<AtomicU32>,
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
    let session = Session::new(show, mailbox.clone(), demand.clone())?;
    let (letters, inbox) = sync_channel(LETTERS);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Stopped)?;
    let over = Arc::new(AtomicBool::new(false));
    let (press, published) = Press::new(demand.clone());
    let ended = over.clone();
    let encoder = std::thread::Builder::new().name("sinew-encoder".into()).spawn(move || press.run(&mailbox, &ended));
    let encoder = encoder.map_err(ServeError::Stopped)?;
    // dropping the hub hangs up, and the world's thread ends
    let hub = Hub { published, letters, demand };
    let world = std::thread::Builder::new().name(PHYSICS.into()).spawn(move || session.run(&inbox));
    let world = world.map_err(ServeError::Stopped)?;
    let served = runtime.block_on(listen(address, hub, ready, stop));
    drop(runtime);
    over.store(true, Ordering::Relaxed);
    let spent = world.join().unwrap_or_default();
    let _ = encoder.join();
    served.map(|()| spent)
}

async fn listen(
    address: &str,
    hub: Hub,
    ready: impl FnOnce(Ready),
    stop: impl Fn() -> bool + Send + 'static,
) -> Result<(), ServeError> {
    let bound = tokio::net::TcpListener::bind(address).await;
    let listener = bound.map_err(|source| ServeError::Address { address: address.to_owned(), source })?;
    let address = listener.local_addr().map_err(ServeError::Stopped)?;
    let door = Door::new(address.ip());
    ready(Ready { address, token: door.token.clone() });
    let server = Server { hub, door, next_viewer: Arc::default() };
    let router = Router::new().route("/socket", get(connect)).fallback(page).with_state(server);
    // not graceful: a viewer that does not hang up must not keep the server
    let serving = axum::serve(listener, router);
    tokio::select! {
        ended = async { serving.await } => ended.map_err(ServeError::Stopped),
        () = asked(stop) => Ok(()),
    }
}

/// Ends when `stop` says so.
async fn asked(stop: impl Fn() -> bool) {
    while !stop() {
        tokio::time::sleep(LOOK).await;
    }
}

/// The encoder: makes what viewers get of shots.
struct Press {
    scene: watch::Sender<Utf8Bytes>,
    status: watch::Sender<Utf8Bytes>,
    frame: watch::Sender<Bytes>,
    demand: Arc<Demand>,
}

impl Press {
    fn new(demand: Arc<Demand>) -> (Self, Published) {
        let (scene, scenes) = watch::channel(Utf8Bytes::default());
        let (status, statuses) = watch::channel(Utf8Bytes::default());
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
                    self.scene.send_replace(shot.picture.text.as_str().into());
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

/// A file of the page, or a picture of a scene.
async fn page(uri: Uri, headers: HeaderMap, State(server): State<Server>) -> Response {
    if let Err(why) = server.door.host(&headers) {
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let thumb = path.strip_prefix("thumbs/").and_then(|name| name.strip_suffix(".png"));
    let files = if thumb.is_some() { describe::THUMBS } else { PAGE };
    let Some((_, bytes)) = files.iter().find(|(name, _)| *name == thumb.unwrap_or(path)) else {
        return (StatusCode::NOT_FOUND, "no such page; the viewer is at /").into_response();
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    };
    let told = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (told, *bytes).into_response()
}

async fn connect(uri: Uri, headers: HeaderMap, upgrade: WebSocketUpgrade, State(server): State<Server>) -> Response {
    if let Err(why) = server.door.socket(&headers, &uri) {
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    if !server.hub.demand.enter(VIEWERS) {
        return (StatusCode::SERVICE_UNAVAILABLE, "there are too many viewers").into_response();
    }
    let viewer = server.next_viewer.fetch_add(1, Ordering::Relaxed);
    let hub = server.hub.clone();
    let upgrade = upgrade.max_message_size(ORDER_LIMIT).max_frame_size(ORDER_LIMIT).write_buffer_size(0);
    let seat = talk::Seat::new(hub.clone(), viewer);
    upgrade.on_upgrade(move |socket| talk::talk(socket, hub, seat))
}
