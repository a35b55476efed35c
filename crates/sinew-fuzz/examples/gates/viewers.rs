//! W5: hostile viewers. A hundred that read slowly or never, others that connect and disconnect hundreds of times a
//! second, send garbage or send commands endlessly: the steps of the world must take as long as before, and memory must
//! stay bounded.
//!
//! A step is timed without the time that its thread waited for a CPU (`/proc/thread-self/schedstat`): on a machine with
//! few cores it shares them with the threads of the viewers, which is not a property of the server. Waiting for locks
//! or queues is included. Quiet and hostile periods alternate in one process, so that other load on the machine affects
//! both.

use crate::TALLY;
use sinew_scene::Rng;
use sinew_scene::file::{Syntax, read_text};
use sinew_server::{Ready, Show};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of periods of each kind, and their length [s].
const ROUNDS: u32 = 12;
const STRETCH: f64 = 2.5;
/// The same for ten minutes of hostile periods.
const LONG_ROUNDS: u32 = 60;
const LONG_STRETCH: f64 = 10.0;
/// Viewers that stay connected.
const VIEWERS: usize = 100;
/// Maximum change of the 99.9th percentile, and maximum memory per viewer [bytes].
const CHANGE: f64 = 0.02;
const MEMORY: f64 = 1e6;

/// A cloth that lies on a ball and never sleeps: every step costs the same.
const SCENE: &str = "
[settings]
dt = 0.002
sleep_time = inf
[bodies.ball]
kind = 'fixed'
shape = { kind = 'ball', radius = 0.3 }
[bodies.cloth]
kind = 'soft'
geometry = { kind = 'sheet', cells = [16, 16], size = [0.8, 0.8] }
model = { kind = 'pbd_sheet', stretch = 2000, bend = 2e-5, density = 0.15, compression = 0.1, iterations = 1 }
position = [0.03, 0.5, 0.02]
";

/// Times of the steps of the current period [ns].
static TIMES: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Called on the world's thread after each step: records its time without the waiting.
fn note(took: Duration) {
    thread_local!(static CLOCK: RefCell<(Option<File>, u64)> = const { RefCell::new((None, 0)) });
    CLOCK.with_borrow_mut(|(file, before)| {
        if file.is_none() {
            *file = File::open("/proc/thread-self/schedstat").ok();
        }
        let mut text = [0; 96];
        let read = file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text = String::from_utf8_lossy(&text[..read]);
        let waited: u64 = text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        // waiting between two steps is included in the counter: at most the whole step was waiting time
        let own = (took.as_nanos() as u64).saturating_sub(waited - (*before).min(waited));
        *before = waited;
        TIMES.lock().expect("not poisoned").push(own);
    });
}

/// Half a minute of hostile periods.
pub fn w5(less: u32) -> Result<String, String> {
    run((ROUNDS / less).max(2), STRETCH)
}

/// Ten minutes of hostile periods.
pub fn w5_long(less: u32) -> Result<String, String> {
    run((LONG_ROUNDS / less).max(2), LONG_STRETCH)
}

/// Runs the periods, hostile ones of this many seconds, and evaluates them.
fn run(rounds: u32, hostile: f64) -> Result<String, String> {
    let (address, stop, server) = start()?;
    std::thread::sleep(Duration::from_secs(4));
    let (mut quiet, mut again, mut loud) = (Vec::new(), Vec::new(), Vec::new());
    let (mut memory, mut connects) = (0.0_f64, 0);
    for _ in 0..rounds {
        quiet.extend(stretch(STRETCH));
        let held = TALLY.held();
        TALLY.forget_peak();
        let crowd = Crowd::new(address)?;
        loud.extend(stretch(hostile));
        memory = memory.max((TALLY.peak() as f64 - held as f64) / VIEWERS as f64);
        connects += crowd.leave();
        // a second quiet set measures the variation of the machine itself
        again.extend(stretch(STRETCH));
    }
    stop.store(true, Ordering::Relaxed);
    let spent = server.join().map_err(|_| "the server fell over")??;
    let figure = |list: &mut Vec<u64>, share: f64| {
        list.sort_unstable();
        list[((list.len() - 1) as f64 * share) as usize] as f64 * 1e-3
    };
    let steps = (quiet.len() + again.len(), loud.len());
    let tail = [&mut quiet, &mut loud, &mut again].map(|list| (figure(list, 0.5), figure(list, 0.999)));
    let [before, during, after] = tail;
    // the slower of the two quiet sets is the reference: they differ by the variation of the machine
    let change = during.1 / before.1.max(after.1) - 1.0;
    let message = format!(
        "{} quiet and {} hostile steps: median {:.1}, {:.1} and {:.1} us, p99.9 {:.1}, {:.1} and {:.1} us (quiet, hostile, quiet again): {:+.1} %; \
         {connects} connections, {:.0} kB a viewer, {} snapshots missed",
        steps.0,
        steps.1,
        before.0,
        during.0,
        after.0,
        before.1,
        during.1,
        after.1,
        100.0 * change,
        1e-3 * memory,
        spent.missed,
    );
    let fine = change < CHANGE && memory < MEMORY && spent.missed == 0;
    if fine { Ok(message) } else { Err(message) }
}

type Serving = JoinHandle<Result<sinew_server::Spent, String>>;

fn start() -> Result<(SocketAddr, Arc<AtomicBool>, Serving), String> {
    let scene = read_text(SCENE, "w5.toml", Syntax::Toml).map_err(|e| e.to_string())?;
    let show = Show { watch: Some(note), ..Show::new(scene) };
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let (sender, receiver) = channel::<Ready>();
    let server = std::thread::spawn(move || {
        let ready = move |ready| _ = sender.send(ready);
        sinew_server::serve(show, "127.0.0.1:0", ready, move || flag.load(Ordering::Relaxed)).map_err(|e| e.to_string())
    });
    let ready = receiver.recv_timeout(Duration::from_secs(60)).map_err(|_| "the server did not come up")?;
    Ok((ready.address, stop, server))
}

/// The times of a period; its first tenth is discarded, because viewers still connect or disconnect.
fn stretch(seconds: f64) -> Vec<u64> {
    std::thread::sleep(Duration::from_secs_f64(0.1 * seconds));
    TIMES.lock().expect("not poisoned").clear();
    std::thread::sleep(Duration::from_secs_f64(0.9 * seconds));
    std::mem::take(&mut *TIMES.lock().expect("not poisoned"))
}

/// Viewers that stay connected and read little, and two attacking threads.
struct Crowd {
    over: Arc<AtomicBool>,
    connects: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Crowd {
    fn new(address: SocketAddr) -> Result<Self, String> {
        let stay: Vec<TcpStream> =
            (0..VIEWERS).map(|_| look(address)).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
        let (over, connects) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (flag, count) = (over.clone(), connects.clone());
        let knocker = std::thread::spawn(move || knock(address, &flag, &count));
        let flag = over.clone();
        let slow = std::thread::spawn(move || dawdle(&stay, &flag));
        Ok(Self { over, connects, threads: vec![knocker, slow] })
    }

    /// Disconnects all; returns the number of connections made.
    fn leave(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            _ = thread.join();
        }
        self.connects.load(Ordering::Relaxed) + VIEWERS as u64
    }
}

/// Connects a viewer by a hand-written WebSocket handshake.
fn look(address: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let hello = format!(
        "GET /socket HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2luZXcgZ2F0ZXMgdzUgLg==\r\n\r\n"
    );
    stream.write_all(hello.as_bytes())?;
    let mut first = [0; 12];
    stream.read_exact(&mut first)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// Half of them read one byte at a time, half never; one sends commands endlessly.
fn dawdle(stay: &[TcpStream], over: &AtomicBool) {
    // a masked text frame with a trivial command, with a mask of zeros
    let command = b"{\"command\":\"speed\",\"value\":1}";
    let mut frame = vec![0x81, 0x80 | command.len() as u8, 0, 0, 0, 0];
    frame.extend(command);
    while !over.load(Ordering::Relaxed) {
        for mut viewer in &stay[..VIEWERS / 2] {
            _ = viewer.read(&mut [0]);
        }
        for _ in 0..20 {
            _ = (&stay[VIEWERS - 1]).write(&frame);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Connects and disconnects, up to a thousand times a second; every third connection sends something.
fn knock(address: SocketAddr, over: &AtomicBool, connects: &AtomicU64) {
    let mut rng = Rng::new(5);
    let begin = Instant::now();
    let mut made = 0_u32;
    while !over.load(Ordering::Relaxed) {
        // limits the rate to a thousand per second
        if f64::from(made) > 1000.0 * begin.elapsed().as_secs_f64() {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let Ok(mut stream) = TcpStream::connect(address) else { continue };
        match rng.below(6) {
            0 => _ = stream.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            1 => _ = stream.write(&rng.bits().to_le_bytes()),
            2 => drop(look(address)),
            _ => {}
        }
        made += 1;
        connects.fetch_add(1, Ordering::Relaxed);
    }
}
