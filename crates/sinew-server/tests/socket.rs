//! The protocol from the side of a browser, over loopback: the scene, frames, commands, and invalid commands.

use serde_json::Value;
use sinew_server::{Ready, Show};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket, connect};

type Socket = WebSocket<MaybeTlsStream<TcpStream>>;

/// A server on a free port; it is stopped when dropped.
struct Server {
    ready: Ready,
    stop: Arc<AtomicBool>,
}

impl Server {
    fn start(scene: &str) -> Self {
        Self::show(Show::new(sinew_scene::gallery::find(scene).expect("a built-in scene")))
    }

    fn show(show: Show) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let ready = move |ready| sender.send(ready).expect("the test waits");
            sinew_server::serve(show, "127.0.0.1:0", ready, move || flag.load(Ordering::Relaxed))
        });
        let ready = receiver.recv_timeout(Duration::from_secs(60)).expect("it listens");
        Self { ready, stop }
    }

    fn url(&self) -> String {
        format!("ws://{}/socket", self.ready.address)
    }

    fn look(&self) -> Socket {
        let (socket, _) = connect(self.url()).expect("it talks");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a plain stream");
        }
        socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The next text message of a kind.
fn text(socket: &mut Socket, kind: &str) -> Value {
    loop {
        if let Message::Text(text) = socket.read().expect("it talks") {
            let said: Value = serde_json::from_str(&text).unwrap_or_default();
            if said["kind"] == kind {
                return said;
            }
        }
    }
}

/// The next frame.
fn frame(socket: &mut Socket) -> Vec<u8> {
    loop {
        match socket.read().expect("it talks") {
            Message::Binary(bytes) if !bytes.is_empty() => {
                assert_eq!(&bytes[..4], b"SNF2");
                return bytes.to_vec();
            }
            _ => {}
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"))
}

/// Tick of the next frame.
fn tick(socket: &mut Socket) -> u32 {
    word(&frame(socket), 2)
}

/// Tags of the sections of a frame.
fn tags(bytes: &[u8]) -> Vec<u32> {
    let (mut at, mut tags) = (4, Vec::new());
    for _ in 0..word(bytes, 3) {
        tags.push(word(bytes, at));
        at += 2 + word(bytes, at + 1) as usize;
    }
    assert_eq!(4 * at, bytes.len(), "sections fill the frame");
    tags
}

fn tell(socket: &mut Socket, command: &str) {
    socket.send(Message::Text(command.into())).expect("it listens");
}

/// Reads frames until one satisfies the condition.
fn until(socket: &mut Socket, wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        let bytes = frame(socket);
        if wanted(&bytes) {
            return bytes;
        }
    }
    panic!("no such frame came");
}

#[test]
fn a_browser_gets_the_scene_and_frames_and_changes_the_scene() {
    let server = Server::start("pudding");
    let mut socket = server.look();
    let first = text(&mut socket, "scene");
    assert_eq!((&first["name"], &first["protocol"]), (&Value::from("pudding"), &Value::from(3)));
    let pudding = first["bodies"].as_array().unwrap().iter().find(|b| b["kind"] == "soft").unwrap();
    assert!(pudding["surfels"].as_u64().unwrap() > 100 && !pudding["triangles"].as_array().unwrap().is_empty());
    let t = tick(&mut socket);
    assert!(tick(&mut socket) > t, "the world runs");

    tell(&mut socket, r#"{"command":"scene","name":"domino"}"#);
    assert_eq!(text(&mut socket, "scene")["name"], "domino");

    // a second browser shows the same world
    assert_eq!(text(&mut server.look(), "scene")["name"], "domino");
}

#[test]
fn invalid_commands_are_refused_and_change_nothing() {
    let server = Server::start("domino");
    let mut socket = server.look();
    text(&mut socket, "scene");
    for command in [
        "hello",
        r#"{"command":"explode"}"#,
        r#"{"command":"grab","slot":1,"at":[1e39,0,0]}"#,
        r#"{"command":"speed","value":-3}"#,
        r#"{"command":"drag","to":[0,0]}"#,
    ] {
        tell(&mut socket, command);
        assert!(!text(&mut socket, "refused")["why"].as_str().unwrap().is_empty(), "{command}");
    }
    for (command, culprit) in [
        (r#"{"command":"scene","name":"../../etc/passwd"}"#, "passwd"),
        (r#"{"command":"tune","knob":"gravity","value":1e30}"#, "gravity"),
        (r#"{"command":"tune","knob":"luck","value":1}"#, "luck"),
        (r#"{"command":"tune","knob":"substeps","value":1.5}"#, "substeps"),
    ] {
        tell(&mut socket, command);
        let said = (0..10).map(|_| text(&mut socket, "status")).find(|s| s["message"] != "").expect("it is refused");
        assert!(said["message"].as_str().unwrap().contains(culprit), "{command}: {said}");
    }
    tell(&mut socket, r#"{"command":"grab","slot":4000000000,"at":[0,0,0]}"#);
    let t = tick(&mut socket);
    assert!(tick(&mut socket) > t, "the world runs on");
}

#[test]
fn a_paused_world_makes_one_step_at_a_time() {
    let server = Server::start("domino");
    let mut socket = server.look();
    text(&mut socket, "scene");
    tell(&mut socket, r#"{"command":"pause","on":true}"#);
    while text(&mut socket, "status")["paused"] != true {}
    let held = tick(&mut socket);
    assert_eq!(tick(&mut socket), held);
    tell(&mut socket, r#"{"command":"step"}"#);
    until(&mut socket, |bytes| word(bytes, 2) == held + 1);
}

#[test]
fn layers_are_sent_while_they_are_subscribed() {
    let server = Server::start("pudding");
    let mut socket = server.look();
    assert_eq!(tags(&frame(&mut socket)), [1, 2, 3]);
    tell(&mut socket, r#"{"command":"layers","on":["nodes","contacts","strain","velocities","residuals"]}"#);
    let bytes = until(&mut socket, |bytes| tags(bytes).contains(&7));
    assert_eq!(tags(&bytes), [1, 2, 3, 6, 7, 9, 10, 11]);
    tell(&mut socket, r#"{"command":"layers","on":[]}"#);
    until(&mut socket, |bytes| tags(bytes) == [1, 2, 3]);
}

#[test]
fn stiffness_and_gravity_can_be_changed_during_a_run() {
    let server = Server::start("pudding");
    let mut socket = server.look();
    text(&mut socket, "scene");
    let t = tick(&mut socket);
    for (knob, value) in [("stiffness", 4.0), ("friction", 0.5), ("gravity", -3.0), ("substeps", 6.0)] {
        tell(&mut socket, &format!(r#"{{"command":"tune","knob":"{knob}","value":{value}}}"#));
    }
    loop {
        let said = text(&mut socket, "status");
        assert_eq!(said["message"], "");
        if said["knobs"]["substeps"] == 6.0 {
            assert_eq!(said["knobs"]["stiffness"], 4.0);
            break;
        }
    }
    assert!(tick(&mut socket) > t, "it continues from the present state");
}

#[test]
fn a_page_of_another_site_is_refused() {
    let server = Server::start("domino");
    let ask = |name: &'static str, value: &str| {
        let mut request = server.url().into_client_request().expect("a request");
        request.headers_mut().insert(name, value.parse().expect("a header"));
        connect(request).map(|_| ())
    };
    assert!(ask("origin", "http://evil.example").is_err());
    assert!(ask("host", "evil.example").is_err());
    assert!(ask("origin", &format!("http://{}", server.ready.address)).is_ok());
}

#[test]
fn a_slow_world_reports_its_real_time_factor() {
    // A speed of four times real time is requested. The factor is the reached speed, never more than requested.
    let server = Server::start("pyramid");
    let mut socket = server.look();
    text(&mut socket, "scene");
    tell(&mut socket, r#"{"command":"speed","value":4}"#);
    let (early, end) = (Instant::now() + Duration::from_secs(2), Instant::now() + Duration::from_secs(30));
    let mut last = 0.0;
    while Instant::now() < early || last == 0.0 && Instant::now() < end {
        // second number of the first section
        last = f32::from_bits(word(&frame(&mut socket), 4 + 2 + 1));
    }
    assert!(last > 0.0 && last < 4.4, "{last}");
}

#[test]
fn a_viewer_that_floods_is_disconnected_and_the_others_are_still_served() {
    let server = Server::start("domino");
    let mut good = server.look();
    text(&mut good, "scene");
    let mut bad = server.look();
    let flood = (0..20_000).try_for_each(|_| bad.send(Message::Text(r#"{"command":"step"}"#.into())));
    let end = Instant::now() + Duration::from_secs(60);
    let cut = flood.is_err() || std::iter::repeat_with(|| bad.read()).any(|m| m.is_err() || Instant::now() > end);
    assert!(cut && Instant::now() < end, "it is disconnected");
    let t = tick(&mut good);
    assert!(tick(&mut good) > t, "the world runs on");
}
