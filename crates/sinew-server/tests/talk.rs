//! A browser's side of the talk, over loopback: the scene, frames, orders, and orders that make no sense.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket, connect};

type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

/// A server on a free port; told to stop when dropped.
struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Server {
    fn start(scene: &str) -> Self {
        let scene = sinew_scene::gallery::find(scene).expect("a built-in scene");
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let ready = move |address| tell.send(address).expect("the test waits");
            sinew_server::serve(scene, "127.0.0.1:0", ready, move || flag.load(Ordering::Relaxed))
        });
        let address = told.recv_timeout(Duration::from_secs(20)).expect("it listens");
        Self { address, stop }
    }

    fn look(&self) -> Socket {
        let (socket, _) = connect(format!("ws://{}/socket", self.address)).expect("it talks");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a plain stream");
        }
        socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn scene(socket: &mut Socket) -> serde_json::Value {
    loop {
        if let Message::Text(text) = socket.read().expect("it talks") {
            return serde_json::from_str(&text).expect("a scene is JSON");
        }
    }
}

/// Tick of the next frame.
fn tick(socket: &mut Socket) -> u32 {
    loop {
        if let Message::Binary(bytes) = socket.read().expect("it talks") {
            assert_eq!(&bytes[..4], b"SNF1");
            return u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes"));
        }
    }
}

fn tell(socket: &mut Socket, order: &str) {
    socket.send(Message::Text(order.into())).expect("it listens");
}

#[test]
fn a_browser_gets_the_scene_and_frames_and_changes_the_scene() {
    let server = Server::start("jelly");
    let mut socket = server.look();
    let first = scene(&mut socket);
    assert_eq!(first["name"], "jelly");
    let jelly = first["bodies"].as_array().unwrap().iter().find(|b| b["kind"] == "soft").unwrap();
    assert!(jelly["surfels"].as_u64().unwrap() > 100 && !jelly["triangles"].as_array().unwrap().is_empty());
    let t = tick(&mut socket);
    assert!(tick(&mut socket) > t, "the world runs");

    tell(&mut socket, r#"{"command":"scene","name":"domino"}"#);
    assert_eq!(scene(&mut socket)["name"], "domino");

    // a second browser sees the same world
    assert_eq!(scene(&mut server.look())["name"], "domino");
}

#[test]
fn orders_that_make_no_sense_change_nothing() {
    let server = Server::start("domino");
    let mut socket = server.look();
    scene(&mut socket);
    for order in [
        "hello",
        "{}",
        r#"{"command":"explode"}"#,
        r#"{"command":"scene","name":"../../etc/passwd"}"#,
        r#"{"command":"grab","slot":4000000000,"at":[0,0,0]}"#,
        r#"{"command":"grab","slot":1,"at":[1e39,0,0]}"#,
        r#"{"command":"speed","value":-3}"#,
        r#"{"command":"gravity","value":1e30}"#,
        r#"{"command":"drag","to":[0,0]}"#,
    ] {
        tell(&mut socket, order);
    }
    let t = tick(&mut socket);
    assert!(tick(&mut socket) > t, "the world runs on");
}

#[test]
fn a_paused_world_makes_one_step_at_a_time() {
    let server = Server::start("domino");
    let mut socket = server.look();
    scene(&mut socket);
    tell(&mut socket, r#"{"command":"pause","on":true}"#);
    std::thread::sleep(Duration::from_millis(300));
    // a fresh look begins with the latest frame
    let mut late = server.look();
    scene(&mut late);
    tell(&mut late, r#"{"command":"step"}"#);
    let t = tick(&mut late);
    tell(&mut late, r#"{"command":"step"}"#);
    assert_eq!(tick(&mut late), t + 1);
}
