//! The `sinew` command: parses the arguments, runs the subcommand in the module of its name, and returns its exit code.
//!
//! 0: done. 1: a check failed. 2: bad use, bad input or an output that failed. 130: stopped without a result. Results go to stdout, errors and progress to stderr.

#![forbid(unsafe_code)]

mod advice;
mod bench;
mod bench_grasp;
mod bench_haptic;
mod bench_models;
mod bench_paper;
mod books;
mod check;
mod export;
mod export_gltf;
mod export_normals;
mod failure;
mod friction;
mod frozen;
mod grips;
mod haptic;
mod inputs;
mod interrupt;
mod measure;
mod mesh;
mod output;
mod peers;
mod place;
mod play;
mod plot;
mod relay;
mod render;
mod replay;
mod run;
mod run_csv;
mod scenes;
mod screen;
mod soak;
mod stretch;
mod sweep;
mod validate;
mod validate_plots;
mod view;
mod write_back;

use clap::{Parser, Subcommand};
use sinew_scene::escape::escaped;
use sinew_tally::Tally;
use std::ffi::OsString;
use std::process::ExitCode;

/// What `soak` counts requests for memory with.
#[global_allocator]
static TALLY: Tally = Tally::new();

/// Physics of coupled rigid and deformable bodies. Without a command: a jelly in the browser.
#[derive(Parser)]
#[command(name = "sinew", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List the built-in scenes, one a line: name, what it shows, seed figure
    Scenes,
    /// Run a scene and sum it up
    Run(run::Args),
    /// Play a recording and check every hash
    Replay(replay::Args),
    /// Check the physics against reference values
    Validate(validate::Args),
    /// Measure the step on the benchmark scenes, with 1 and 2 threads; `--with DIR`: beside other engines
    Bench(bench::Args),
    /// Run a scene with many values, on all processors, and print a table
    Sweep(sweep::Args),
    /// Run a scene for long, with save and restore while it runs
    Soak(soak::Args),
    /// Show a scene in the browser: look around, pause, pull bodies
    View(view::Args),
    /// Feel the tools of a scene: the force loop of 1 kHz beside the world, with devices
    Haptic(haptic::Args),
    /// A simulated force-feedback device for a loop that runs elsewhere
    Device(haptic::DeviceArgs),
    /// A UDP relay that loses, delays, reorders and doubles packets, from a seed
    Relay(relay::Args),
    /// Read scene files and build them, without running them; print all errors with their positions
    Check(check::Args),
    /// Describe, convert, repair and fill mesh files
    Mesh(mesh::Args),
    /// Draw a scene at a time as a PNG, without GPU or screen
    Render(render::Args),
    /// Pull a mass with each friction law: plots, tables, and the time of one update
    Friction(friction::Args),
}

/// The command line. Messages of the parser repeat its words, so a refused line is parsed once more with its control
/// characters written out.
fn arguments() -> Result<Cli, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let refused = match Cli::try_parse_from(&words) {
        Ok(cli) => return Ok(cli),
        Err(refused) => refused,
    };
    let plain: Vec<OsString> = words.iter().map(|w| escaped(&w.to_string_lossy()).into_owned().into()).collect();
    if plain == words {
        refused.exit();
    }
    match Cli::try_parse_from(&plain) {
        Err(same) if same.kind() == refused.kind() => same.exit(),
        // written out, the line is another one: the message without colours can be escaped as a whole
        _ => screen::note(refused.render().to_string().trim_end()),
    }
    Err(ExitCode::from(refused.exit_code() as u8))
}

fn main() -> ExitCode {
    let cli = match arguments() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if let Err(failure) = interrupt::begin() {
        return failure.end();
    }
    let done = match cli.command {
        None => view::demo(),
        Some(Command::Scenes) => scenes::scenes(),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Replay(args)) => replay::replay(&args),
        Some(Command::Validate(args)) => validate::validate(&args),
        Some(Command::Bench(args)) => bench::bench(&args),
        Some(Command::Sweep(args)) => sweep::sweep(&args),
        Some(Command::Soak(args)) => soak::soak(&args),
        Some(Command::View(args)) => view::view(&args),
        Some(Command::Haptic(args)) => haptic::haptic(&args),
        Some(Command::Device(args)) => haptic::device(&args),
        Some(Command::Relay(args)) => relay::relay(&args),
        Some(Command::Mesh(args)) => mesh::mesh(&args),
        Some(Command::Render(args)) => render::draw(&args),
        Some(Command::Friction(args)) => friction::friction(&args),
        Some(Command::Check(args)) => check::check(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.end(),
    }
}
