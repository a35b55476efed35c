//! Hostile viewers against the process of `sinew view`: its memory, its threads, how soon a good viewer is obeyed,
//! and how soon Ctrl-C ends it. Loopback only. Short in the usual run; `-- --ignored` takes 30 s an attack and has the figures of
//! `docs/viewer.md`. Linux: memory comes from /proc.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The process, ended when dropped.
struct View {
    child: Child,
    address: SocketAddr,
}

impl View {
    fn start(scene: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        let mut child = command.args(["view", scene, "--port", "0"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            rest.split_once('/')?.0.parse().ok()
        });
        Self { child, address: address.expect("it tells its address") }
    }

    /// A number of its status in /proc.
    fn number(&self, key: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = text.lines().find_map(|l| l.strip_prefix(key)).expect("Linux tells it");
        line.trim_start_matches(':').split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
    }

    /// Time from Ctrl-C to the end of the process.
    fn interrupt(mut self) -> Duration {
        let clock = Instant::now();
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill is there").success());
        while self.child.try_wait().expect("our own child").is_none() {
            assert!(clock.elapsed() < Duration::from_secs(150), "it never ends");
            std::thread::sleep(Duration::from_millis(1));
        }
        clock.elapsed()
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A viewer by hand, because it must be able to do what no library lets it do.
struct Viewer {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Viewer {
    fn new(address: SocketAddr) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "GET /socket HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let is_viewer = head.starts_with(b"HTTP/1.1 101");
        is_viewer.then_some(Self { stream, bytes: Vec::new() }).ok_or(ErrorKind::ConnectionRefused.into())
    }

    /// Sends a frame of at most 125 bytes, masked by zero.
    fn send(&mut self, code: u8, payload: &[u8]) -> std::io::Result<()> {
        let mut frame = vec![0x80 | code, 0x80 | payload.len() as u8, 0, 0, 0, 0];
        frame.extend(payload);
        self.stream.write_all(&frame)
    }

    fn tell(&mut self, order: &str) -> std::io::Result<()> {
        self.send(1, order.as_bytes())
    }

    /// Reads and discards incoming data, but replies to pings.
    fn drain(&mut self) -> std::io::Result<()> {
        while self.read(Duration::from_millis(1))?.is_some() {}
        Ok(())
    }

    /// The payload of the next frame that comes within a time.
    fn read(&mut self, within: Duration) -> std::io::Result<Option<Vec<u8>>> {
        self.stream.set_read_timeout(Some(within))?;
        let mut scratch = [0; 1 << 16];
        loop {
            if let Some((code, payload)) = self.take() {
                if code == 9 {
                    self.send(10, &payload)?;
                    continue;
                }
                return Ok(Some(payload));
            }
            match self.stream.read(&mut scratch) {
                Ok(0) => return Err(ErrorKind::ConnectionReset.into()),
                Ok(n) => self.bytes.extend(&scratch[..n]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }

    /// A whole frame out of what was read.
    fn take(&mut self) -> Option<(u8, Vec<u8>)> {
        let (code, short) = (*self.bytes.first()? & 15, *self.bytes.get(1)? as usize);
        let (start, length) = match short {
            126 => (4, u16::from_be_bytes(self.bytes.get(2..4)?.try_into().ok()?) as usize),
            127 => (10, u64::from_be_bytes(self.bytes.get(2..10)?.try_into().ok()?) as usize),
            short => (2, short),
        };
        let payload = self.bytes.get(start..start + length)?.to_vec();
        self.bytes.drain(..start + length);
        Some((code, payload))
    }

    /// Time from a pause command to the status that confirms it.
    fn pause(&mut self, on: bool) -> Duration {
        let (clock, wanted) = (Instant::now(), format!("\"paused\":{on}"));
        self.tell(&format!(r#"{{"command":"pause","on":{on}}}"#)).expect("it listens");
        while clock.elapsed() < Duration::from_secs(150) {
            let payload = self.read(Duration::from_secs(1)).expect("a good viewer stays").unwrap_or_default();
            if payload.starts_with(b"{") && String::from_utf8_lossy(&payload).contains(&wanted) {
                return clock.elapsed();
            }
        }
        panic!("the pause is never obeyed");
    }
}

/// What an attack did.
struct Harm {
    /// Most memory [kB].
    memory: u64,
    /// Most threads.
    threads: u64,
    /// From a good viewer's pause to its status, the longest of all.
    pause: Duration,
    /// From Ctrl-C to the end, during the attack.
    end: Duration,
}

/// Runs an attack beside a well-behaved viewer that pauses and resumes.
fn attacked(name: &str, scene: &str, time: Duration, attack: impl Fn(SocketAddr, &AtomicBool) + Sync) -> Harm {
    let view = View::start(scene);
    let (address, over) = (view.address, AtomicBool::new(false));
    let mut good = Viewer::new(address).expect("it talks");
    let harm = std::thread::scope(|scope| {
        let attacker = scope.spawn(|| attack(address, &over));
        let (mut pause, mut threads) = (Duration::ZERO, 0);
        let (end, mut on) = (Instant::now() + time, true);
        while Instant::now() < end {
            pause = pause.max(good.pause(on));
            threads = threads.max(view.number("Threads"));
            on = !on;
            let rest = Instant::now() + Duration::from_millis(100);
            while Instant::now() < rest {
                good.drain().expect("a good viewer stays");
            }
        }
        let memory = view.number("VmHWM");
        let end = view.interrupt();
        over.store(true, Ordering::Relaxed);
        attacker.join().expect("the attack ends");
        Harm { memory, threads, pause, end }
    });
    let Harm { memory, threads, pause, end } = &harm;
    println!(
        "{name}, {time:?}: {:.1} MB, {threads} threads, pause {pause:.1?}, Ctrl-C {end:.1?}",
        *memory as f64 / 1e3
    );
    assert!(*memory < 64_000, "{name}: {memory} kB");
    assert!(*threads <= 12, "{name}: {threads} threads");
    assert!(*end < Duration::from_secs(1), "{name}: {end:?}");
    harm
}

/// Pings without end, and nothing is read. Comes back when it is cut off.
fn pings(address: SocketAddr, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let Ok(mut bad) = Viewer::new(address) else { continue };
        while !over.load(Ordering::Relaxed) && bad.send(9, &[0; 125]).is_ok() {}
    }
}

/// A thousand connections that never end their header; those that are closed come back.
fn half_open(address: SocketAddr, over: &AtomicBool) {
    let open = || {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    };
    let mut streams: Vec<Option<TcpStream>> = (0..1000).map(|_| open()).collect();
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(500));
        for place in &mut streams {
            let is_open =
                |s: &mut TcpStream| matches!(s.read(&mut [0; 64]), Err(e) if e.kind() == ErrorKind::WouldBlock);
            if !place.as_mut().is_some_and(is_open) && !over.load(Ordering::Relaxed) {
                *place = open();
            }
        }
    }
}

/// 255 viewers that read nothing. Those that are cut off come back.
fn silent(address: SocketAddr, over: &AtomicBool) {
    let mut viewers: Vec<Option<Viewer>> = (0..255).map(|_| Viewer::new(address).ok()).collect();
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(500));
        for place in &mut viewers {
            // an unsolicited pong shows whether it is still connected
            if place.as_mut().is_none_or(|v| v.send(10, b"").is_err()) && !over.load(Ordering::Relaxed) {
                *place = Viewer::new(address).ok();
            }
        }
    }
}

/// Orders of three viewers, as many as are obeyed.
fn orders(address: SocketAddr, over: &AtomicBool, orders: &[&str]) {
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let Ok(mut bad) = Viewer::new(address) else { return };
                for order in orders.iter().cycle() {
                    let sent = bad.tell(order).and_then(|()| bad.drain());
                    if over.load(Ordering::Relaxed) || sent.is_err() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(3));
                }
            });
        }
    });
}

const RESETS: [&str; 1] = [r#"{"command":"reset"}"#];
const SCENES: [&str; 4] = [
    r#"{"command":"scene","name":"pudding"}"#,
    r#"{"command":"scene","name":"cloth"}"#,
    r#"{"command":"scene","name":"domino"}"#,
    r#"{"command":"scene","name":"stack"}"#,
];

#[test]
fn floods_leave_memory_and_the_end_as_they_are() {
    let time = Duration::from_secs(3);
    attacked("pings", "pudding", time, pings);
    attacked("resets", "pudding", time, |address, over| orders(address, over, &RESETS));
    attacked("scenes", "pudding", time, |address, over| orders(address, over, &SCENES));
}

#[test]
#[ignore = "30 s an attack, and figures that need a release build"]
fn figures() {
    let time = Duration::from_secs(30);
    let pauses = [
        attacked("none", "pudding", Duration::from_secs(5), |_, _| {}),
        attacked("pings and nothing read", "pudding", time, pings),
        attacked("1,000 half-open connections", "pudding", time, half_open),
        attacked("255 silent viewers", "pudding", time, silent),
        attacked("resets of three viewers", "pudding", time, |address, over| orders(address, over, &RESETS)),
        attacked("scenes of three viewers", "pudding", time, |address, over| orders(address, over, &SCENES)),
    ];
    for harm in pauses {
        assert!(harm.pause < Duration::from_millis(200), "{:?}", harm.pause);
    }
}
