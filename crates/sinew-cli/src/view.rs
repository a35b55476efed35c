//! `sinew view SCENE` and `sinew` alone: the world in the browser.

use crate::failure::Failure;
use crate::{interrupt, scenes};
use sinew_scene::AnyScene;

/// What `sinew` alone shows.
const DEMO: &str = "jelly";

#[derive(clap::Args)]
pub struct Args {
    /// Name of a built-in scene, or a .toml or .json file
    scene: String,
    /// Address to listen on; 0.0.0.0 lets other machines look and pull
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes any free one
    #[arg(long, value_name = "P", default_value_t = 7878)]
    port: u16,
}

/// Shows a scene until Ctrl-C.
pub fn view(args: &Args) -> Result<(), Failure> {
    show(scenes::find(&args.scene, &[])?.0, &args.host, args.port)
}

/// The demonstration: any free port when the usual one is taken.
pub fn demo() -> Result<(), Failure> {
    let (scene, _) = scenes::find(DEMO, &[])?;
    let free = std::net::TcpListener::bind(("127.0.0.1", 7878)).is_ok();
    show(scene, "127.0.0.1", if free { 7878 } else { 0 })
}

fn show(scene: AnyScene, host: &str, port: u16) -> Result<(), Failure> {
    interrupt::install()?;
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let ready = |at: std::net::SocketAddr| {
        println!("{}: {}", scene.name(), scene.about());
        println!("Open http://{at} in a browser; drag a body to pull it. Ctrl-C ends.");
    };
    sinew_server::serve(scene.clone(), &address, ready, interrupt::requested).map_err(|e| Failure::input(e.to_string()))
}
