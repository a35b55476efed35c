//! HTTP connections: the files of the page, and the upgrade to a WebSocket.

use crate::access::Access;
use crate::describe::THUMBS;
use crate::limits::{
    BYTES, CONNECTION_TIME, CONNECTIONS, HEADER_SIZE, HEADER_TIME, MESSAGE_SIZE, SEND_BUFFER, VIEWERS, WRITE_BUFFER,
};
use crate::meter::Metered;
use crate::socket::{self, Hub};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// The page, as built from `web/`: path and bytes of each file.
static PAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page loads nothing from other sites, connects to nothing else, and cannot be embedded in another page.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
    object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Headers of every response of this file. hyper refuses malformed requests itself, with an empty body and without them.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];
/// Maximum number of connections that the system queues until they are accepted.
const BACKLOG: u32 = 1024;

type Answer = Response<Full<Bytes>>;

/// State shared by all connections.
pub(crate) struct Server {
    pub(crate) hub: Hub,
    pub(crate) access: Access,
    pub(crate) next_viewer: AtomicU32,
}

/// Listens on the first address of a host name that can be bound.
pub(crate) async fn bind(address: &str) -> io::Result<TcpListener> {
    let mut last = io::Error::other("the name has no address");
    for address in tokio::net::lookup_host(address).await? {
        let open = || {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            // on Windows this option would let another program bind the same port
            if cfg!(unix) {
                socket.set_reuseaddr(true)?;
            }
            // Accepted connections inherit the size. Otherwise the system buffers megabytes of old frames for a viewer
            // that reads nothing.
            socket.set_send_buffer_size(SEND_BUFFER)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        };
        match open() {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Accepts connections until the server ends. Of the connections that are not viewers yet the newest are kept.
pub(crate) async fn serve(listener: TcpListener, server: Arc<Server>) {
    let mut open: VecDeque<tokio::task::AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // no file descriptor is free: other connections must end first
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        open.retain(|task| !task.is_finished());
        if open.len() >= CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        open.push_back(tokio::spawn(converse(stream, server.clone())).abort_handle());
    }
}

/// Serves one connection until it ends or becomes a viewer.
async fn converse(stream: TcpStream, server: Arc<Server>) {
    // frames are sent complete: waiting for more data (Nagle's algorithm) saves nothing
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answer = answer(request, &server);
        async { Ok::<_, Infallible>(answer) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(HEADER_SIZE);
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
}

fn answer(request: Request<Incoming>, server: &Server) -> Answer {
    let mut answer = route(request, server);
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn route(request: Request<Incoming>, server: &Server) -> Answer {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed");
        answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    if let Err(why) = server.access.host(request.headers(), request.uri()) {
        return plain(StatusCode::FORBIDDEN, why);
    }
    if request.uri().path() == "/socket" { connect(request, server) } else { page(request.uri().path()) }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = file("text/plain; charset=utf-8", text.as_bytes());
    *answer.status_mut() = status;
    answer
}

fn file(kind: &'static str, bytes: &'static [u8]) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(bytes)));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// A file of the page, or an image of a scene.
fn page(path: &str) -> Answer {
    let path = match path.trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let thumb = path.strip_prefix("thumbs/").and_then(|name| name.strip_suffix(".png"));
    let files = if thumb.is_some() { THUMBS } else { PAGE };
    let Some((_, bytes)) = files.iter().find(|(name, _)| *name == thumb.unwrap_or(path)) else {
        return plain(StatusCode::NOT_FOUND, "no such page; the viewer is at /");
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    };
    file(kind, bytes)
}

/// Turns a connection into a viewer by the handshake of RFC 6455, section 4.2.
fn connect(mut request: Request<Incoming>, server: &Server) -> Answer {
    if let Err(why) = server.access.socket(request.headers(), request.uri()) {
        return plain(StatusCode::FORBIDDEN, why);
    }
    let Some(accept) = accept_key(request.method(), request.headers()) else {
        let mut answer = plain(StatusCode::UPGRADE_REQUIRED, "this is the web socket of the viewer");
        answer.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        answer.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        return answer;
    };
    if !server.hub.demand.enter(VIEWERS) {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many viewers");
    }
    let hub = server.hub.clone();
    let seat = socket::Seat::new(hub.clone(), server.next_viewer.fetch_add(1, Ordering::Relaxed));
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(Ok(connection)) = tokio::time::timeout(HEADER_TIME, upgrade).await else { return };
        let config = WebSocketConfig::default()
            .read_buffer_size(MESSAGE_SIZE)
            .write_buffer_size(0)
            .max_write_buffer_size(WRITE_BUFFER)
            .max_message_size(Some(MESSAGE_SIZE))
            .max_frame_size(Some(MESSAGE_SIZE));
        let connection = Metered::new(TokioIo::new(connection), BYTES);
        socket::serve(WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await, hub, seat).await;
    });
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    answer
}

/// The `Sec-WebSocket-Accept` value for the key of the request; `None` when it is not a WebSocket request.
fn accept_key(method: &Method, headers: &HeaderMap) -> Option<HeaderValue> {
    let has = |name: HeaderName, word: &str| {
        let value = headers.get(name).and_then(|v| v.to_str().ok());
        value.is_some_and(|v| v.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
    };
    let asked = method == Method::GET
        && has(header::CONNECTION, "upgrade")
        && has(header::UPGRADE, "websocket")
        && has(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| asked)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}
