//! `sinew relay LISTEN TARGET`: a network that loses, delays, reorders and doubles packets, from a seed.

use crate::failure::Failure;
use crate::interrupt;
use crate::output::Json;
use crate::screen::screen;
use serde::Serialize;
use sinew_scene::escape::escaped;
use sinew_stream::net::UdpRelay;
use sinew_stream::relay::{Faults, RelayStats};
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time between two looks at the flag of signals.
const TURN: Duration = Duration::from_millis(20);
/// Longest delay that is taken [ms].
const LONGEST: u64 = 60_000;

#[derive(clap::Args)]
pub struct Args {
    /// Address to listen on, as in 127.0.0.1:5004; port 0 takes any free one
    listen: String,
    /// Address that the packets are for; its answers go back to the sender
    target: String,
    /// Share of packets that are lost, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    loss: f64,
    /// Mean number of packets lost in a row; losses are independent without it
    #[arg(long, value_name = "PACKETS")]
    burst: Option<f64>,
    /// Delay of every packet [ms]
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=LONGEST))]
    delay: u64,
    /// Further delay, uniform from 0; the order stays [ms]
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=LONGEST))]
    jitter: u64,
    /// Share of packets that are held back by up to 50 ms, so that others overtake them
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    reorder: f64,
    /// Share of packets that arrive twice
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    duplicate: f64,
    /// Seed: equal seeds lose the same packets
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End after so many seconds instead of at Ctrl-C
    #[arg(long = "for", value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// Write the counters of both ways
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Counters of one way.
#[derive(Serialize)]
struct Way {
    given: u64,
    lost: u64,
    reordered: u64,
    doubled: u64,
    dropped: u64,
}

#[derive(Serialize)]
struct Counters {
    to_target: Way,
    from_target: Way,
}

/// Relays until Ctrl-C, or for a time.
pub fn relay(args: &Args) -> Result<(), Failure> {
    let json = Json::open(&args.json)?;
    let faults = Faults {
        loss: args.loss,
        burst: args.burst,
        delay: Duration::from_millis(args.delay),
        jitter: Duration::from_millis(args.jitter),
        reorder: args.reorder,
        duplicate: args.duplicate,
        ..Faults::default()
    };
    let (listen, target) = (address("LISTEN", &args.listen)?, address("TARGET", &args.target)?);
    let mut relay = UdpRelay::bind(listen, target, faults, args.seed)
        .map_err(|e| Failure::input(format!("relay at {listen}: {e}")))?;
    interrupt::install();
    let quiet = json.takes_stdout();
    if !quiet {
        writeln!(screen(), "Relaying {} to {target}. Ctrl-C ends.", relay.address()?)?;
    }
    let start = Instant::now();
    let over = || args.seconds.is_some_and(|seconds| start.elapsed() >= Duration::from_secs(seconds));
    while !interrupt::requested() && !over() {
        relay.turn(TURN)?;
    }
    let [to_target, from_target] = relay.stats().map(way);
    if !quiet {
        for (name, way) in [("to the target", &to_target), ("from the target", &from_target)] {
            let Way { given, lost, reordered, doubled, .. } = way;
            writeln!(screen(), "{name}: {given} packets, {lost} lost, {reordered} reordered, {doubled} doubled")?;
        }
    }
    json.write(&Counters { to_target, from_target })
}

fn way(stats: RelayStats) -> Way {
    let RelayStats { given, lost, reordered, doubled, dropped } = stats;
    Way { given, lost, reordered, doubled, dropped }
}

fn address(name: &str, text: &str) -> Result<SocketAddr, Failure> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| Failure::input(format!("{name}: {} is not an address, as in 127.0.0.1:5004", escaped(text))))
}
