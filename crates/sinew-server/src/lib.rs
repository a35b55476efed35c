//! The viewer's server: a page, and a web socket on which a running world and the page talk.
//!
//! The world runs on a thread of its own ([`session`]); every browser that looks gets the scene as JSON once and a frame of
//! numbers for every step it can keep up with ([`frame`]), and sends orders as JSON. All browsers see the same world.

pub mod frame;
pub mod grab;
pub mod session;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::{SinkExt, StreamExt};
use session::{Order, Published, Session};
use sinew_scene::AnyScene;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The page, as built from `web/`: path and bytes of each file.
static PAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Longest order that is read [bytes].
const ORDER_LIMIT: usize = 4096;

/// How often to ask whether to stop.
const LOOK: Duration = Duration::from_millis(100);

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

/// What every connection shares.
#[derive(Clone)]
struct Hub {
    published: Published,
    orders: Arc<Mutex<Sender<Order>>>,
}

/// Shows a scene at an address until `stop` says so. `ready` gets the address in use (port 0 asks for any free one).
pub fn serve(
    scene: impl Into<AnyScene>,
    address: &str,
    ready: impl FnOnce(SocketAddr),
    stop: impl Fn() -> bool + Send + 'static,
) -> Result<(), ServeError> {
    let (session, published) = Session::new(scene.into())?;
    let (orders, inbox) = channel();
    let hub = Hub { published, orders: Arc::new(Mutex::new(orders)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Stopped)?;
    // dropping the hub hangs up, and the world's thread ends
    let world = std::thread::spawn(move || session.run(&inbox));
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .map_err(|source| ServeError::Address { address: address.to_owned(), source })?;
        ready(listener.local_addr().map_err(ServeError::Stopped)?);
        let router = Router::new().route("/socket", get(connect)).fallback(page).with_state(hub);
        axum::serve(listener, router).with_graceful_shutdown(asked(stop)).await.map_err(ServeError::Stopped)
    });
    drop(runtime);
    let _ = world.join();
    served
}

/// Ends when `stop` says so.
async fn asked(stop: impl Fn() -> bool) {
    while !stop() {
        tokio::time::sleep(LOOK).await;
    }
}

/// A file of the page.
async fn page(uri: Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let Some((_, bytes)) = PAGE.iter().find(|(name, _)| *name == path) else {
        return (StatusCode::NOT_FOUND, "no such page; the viewer is at /").into_response();
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        _ => "application/octet-stream",
    };
    ([(header::CONTENT_TYPE, kind)], *bytes).into_response()
}

async fn connect(upgrade: WebSocketUpgrade, State(hub): State<Hub>) -> Response {
    upgrade.max_message_size(ORDER_LIMIT).on_upgrade(|socket| talk(socket, hub))
}

/// One browser: scenes and frames out, orders in. A slow browser misses frames, never more.
async fn talk(socket: WebSocket, mut hub: Hub) {
    let (mut out, mut incoming) = socket.split();
    let outgoing = async {
        hub.published.scene.mark_changed();
        loop {
            let message = tokio::select! {
                biased;
                changed = hub.published.scene.changed() => {
                    if changed.is_err() { return }
                    Message::Text(hub.published.scene.borrow_and_update().as_str().into())
                }
                changed = hub.published.frame.changed() => {
                    if changed.is_err() { return }
                    Message::Binary(hub.published.frame.borrow_and_update().to_vec().into())
                }
            };
            if out.send(message).await.is_err() {
                return;
            }
        }
    };
    let orders = hub.orders.clone();
    let listening = async {
        while let Some(Ok(message)) = incoming.next().await {
            let Message::Text(text) = message else { continue };
            // an order that cannot be read is dropped: the page is not to be trusted
            if let (Ok(order), Ok(sender)) = (serde_json::from_str(&text), orders.lock())
                && sender.send(order).is_err()
            {
                return;
            }
        }
    };
    tokio::select! {
        () = outgoing => {}
        () = listening => {}
    }
}
