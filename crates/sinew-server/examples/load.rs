//! Measurements of the server for `docs/viewer.md`: the cost to the physics thread of 100 viewers, of which 50 never
//! read, and the cost of streaming. All in one process, on loopback, bounded in time. Linux only: the CPU time is read
//! from /proc.
//!
//!     cargo run --release -p sinew-server --example load

use sinew::Input;
use sinew_scene::file::{Syntax, read_text};
use sinew_server::layer::Layers;
use sinew_server::mailbox::Mailbox;
use sinew_server::snapshot::Snapshot;
use sinew_server::{Show, Spent};
use std::error::Error;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const VIEWERS: usize = 100;
const ROUNDS: usize = 5;
const SECONDS: u64 = 6;
const FRAMES: f64 = 30.0;

const CLOTH: &str = r#"
name = "cloth of 2,601 points"
[bodies.ball]
kind = "fixed"
shape = { kind = "ball", radius = 0.3 }
[bodies.cloth]
kind = "soft"
geometry = { kind = "sheet", cells = [50, 50], size = [1.2, 1.2] }
model = { kind = "pbd_sheet", stretch = 2000, bend = 2e-5, density = 0.15, compression = 0.1, iterations = 1 }
thickness = 0.004
position = [0.03, 0.5, 0.02]
"#;

const BLOCK: &str = r#"
name = "body of 7,750 points"
[bodies.floor]
kind = "fixed"
shape = "half_space"
[bodies.block]
kind = "soft"
geometry = { kind = "block", cells = [24, 30, 9], size = [0.4, 0.5, 0.15] }
material = "jelly"
position = [0, 0.3, 0]
"#;

/// One run: statistics of the physics thread, its CPU time [s], and the memory of the process at the end [kB].
struct Run {
    spent: Spent,
    cpu: f64,
    memory: f64,
}

fn main() -> Outcome<()> {
    println!("{VIEWERS} viewers, half of them never read; {FRAMES} frames/s, {SECONDS} s a run");
    let mut share = Vec::new();
    for round in 0..ROUNDS {
        let (alone, crowd) = (run(CLOTH, 0)?, run(CLOTH, VIEWERS)?);
        let per = |r: &Run| 1e6 * r.cpu / r.spent.steps as f64;
        let memory = (crowd.memory - alone.memory) / VIEWERS as f64;
        println!(
            "round {round}: CPU per step {:.1} us alone, {:.1} us with viewers: {:+.2}%; {} snapshots missed; {memory:.0} kB a viewer, the test's own side included",
            per(&alone),
            per(&crowd),
            100.0 * (per(&crowd) / per(&alone) - 1.0),
            crowd.spent.missed,
        );
        share.push(per(&crowd) / per(&alone) - 1.0);
    }
    share.sort_by(f64::total_cmp);
    println!("median {:+.2}%", 100.0 * share[ROUNDS / 2]);
    for scene in [CLOTH, BLOCK] {
        let (step, snapshot) = copying(scene)?;
        let name = scene.lines().nth(1).unwrap_or_default();
        // fraction of one second of a thread that never sleeps
        let share = 100.0 * FRAMES * snapshot;
        println!(
            "{name}: steps of {:.2} ms, snapshots of {:.1} us: {share:.3}% of a second",
            1e3 * step,
            1e6 * snapshot
        );
    }
    Ok(())
}

/// Median time of a step and of a snapshot [s]. Measured without an encoder thread: on a busy machine a woken encoder
/// takes the core from the physics thread, and the wall clock would count the encoder's work as that of the snapshot.
fn copying(scene: &str) -> Outcome<(f64, f64)> {
    let mut world = read_text(scene, "load.toml", Syntax::Toml)?.build()?;
    let mailbox: Mailbox<Snapshot> = Mailbox::default();
    let (mut steps, mut snapshots) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let clock = Instant::now();
        world.step(&Input::none());
        steps.push(clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        mailbox.write(|snapshot| snapshot.take(&world, Layers::default()));
        snapshots.push(clock.elapsed().as_secs_f64());
    }
    let median = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    Ok((median(&mut steps), median(&mut snapshots)))
}

fn run(scene: &str, viewers: usize) -> Outcome<Run> {
    let scene = read_text(scene, "load.toml", Syntax::Toml)?;
    let show = Show { frames: FRAMES, ..Show::new(scene) };
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let flag = stop.clone();
    let server = std::thread::spawn(move || {
        let ready = move |ready| _ = sender.send(ready);
        sinew_server::serve(show, "127.0.0.1:0", ready, move || flag.load(Ordering::Relaxed)).map_err(|e| e.to_string())
    });
    let address = receiver.recv_timeout(Duration::from_secs(20))?.address;
    let sockets: Vec<TcpStream> = (0..viewers).map(|_| look(address)).collect::<Outcome<_>>()?;
    // the first half never reads
    let reading = &sockets[viewers / 2..];
    let end = std::time::Instant::now() + Duration::from_secs(SECONDS);
    let mut scratch = vec![0; 1 << 16];
    while std::time::Instant::now() < end {
        for mut socket in reading {
            while matches!(socket.read(&mut scratch), Ok(n) if n > 0) {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let (cpu, memory) = (physics_seconds()?, resident()?);
    stop.store(true, Ordering::Relaxed);
    let spent = server.join().map_err(|_| "the server fell over")??;
    drop(sockets);
    Ok(Run { spent, cpu, memory })
}

fn look(address: SocketAddr) -> Outcome<TcpStream> {
    let stream = TcpStream::connect(address)?;
    let (socket, _) = tungstenite::client(format!("ws://{address}/socket"), stream)?;
    let stream = socket.get_ref().try_clone()?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// CPU time of the physics thread [s].
fn physics_seconds() -> Outcome<f64> {
    for task in std::fs::read_dir("/proc/self/task")?.flatten() {
        let path = task.path();
        if std::fs::read_to_string(path.join("comm"))?.trim() == sinew_server::PHYSICS {
            let text = std::fs::read_to_string(path.join("schedstat"))?;
            return Ok(text.split(' ').next().unwrap_or("").parse::<f64>()? / 1e9);
        }
    }
    Err("no physics thread".into())
}

/// Memory of the process [kB].
fn resident() -> Outcome<f64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find(|l| l.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
