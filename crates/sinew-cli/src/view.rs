//! `sinew view SCENE` and `sinew` alone: the world in the browser.

use crate::failure::Failure;
use crate::screen::screen;
use crate::{interrupt, scenes};
use sinew_scene::escape::escaped;
use sinew_server::{Ready, Show};
use std::io::Write;
use std::path::PathBuf;

/// What `sinew` alone shows.
const DEMO: &str = "pudding";

#[derive(clap::Args)]
pub struct Args {
    /// Name of a built-in scene, or a .toml or .json file
    scene: String,
    /// Change a scene file before it is read, as in `bodies.ball.mass=2`; may be given often
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Address to listen on; any other than loopback requires the printed token
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes any free one
    #[arg(long, value_name = "P", default_value_t = 7878)]
    port: u16,
    /// Frames a second at most
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u16).range(1..=240))]
    frames: u16,
}

/// Shows a scene until Ctrl-C.
pub fn view(args: &Args) -> Result<(), Failure> {
    let (scene, plain) = scenes::find(&args.scene, &args.sets)?;
    if let Some(set) = plain.first() {
        let message = format!("--set {set}: `view` takes changes of scene files only; turn settings on the page");
        return Err(Failure::input(message));
    }
    let file = scenes::is_file(&args.scene).then(|| PathBuf::from(&args.scene));
    let show = Show { file, sets: args.sets.clone(), frames: f64::from(args.frames), wait: true, ..Show::new(scene) };
    open(show, &args.host, args.port)
}

/// The demonstration: any free port when the usual one is taken.
pub fn demo() -> Result<(), Failure> {
    let (scene, _) = scenes::find(DEMO, &[])?;
    let free = std::net::TcpListener::bind(("127.0.0.1", 7878)).is_ok();
    open(Show { wait: true, ..Show::new(scene) }, "127.0.0.1", if free { 7878 } else { 0 })
}

fn open(show: Show, host: &str, port: u16) -> Result<(), Failure> {
    interrupt::install();
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    writeln!(screen(), "{}: {}", escaped(show.scene.name()), escaped(show.scene.about()))?;
    let ready = |ready: Ready| {
        // a reader that closed the pipe does not end the server
        _ = writeln!(screen(), "Open {} in a browser; drag a body to pull it. Ctrl-C ends.", ready.url());
        if ready.address.ip().is_unspecified() {
            _ = writeln!(
                screen(),
                "From another machine: the same address with this machine's name instead of {}.",
                ready.address.ip()
            );
        }
    };
    sinew_server::serve(show, &address, ready, interrupt::requested)
        .map_err(|e| Failure::input(escaped(&e.to_string())))?;
    Ok(())
}
