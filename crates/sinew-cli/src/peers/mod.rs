//! `sinew bench --with DIR`: Sinew and the peers that are built in DIR on the same scenes, in turn, with speed and quality
//! side by side.
//!
//! Every half is a process of its own, ours too: all are pinned alike, none sees the memory of another, and one that hangs
//! is ended without harm to the rest. All speak the peers' lines (`line.rs`).

mod child;
mod judge;
mod line;
mod program;
mod table;

use crate::failure::{Failure, unknown};
use crate::interrupt;
use crate::output::Json;
use crate::screen::{note, screen};
use child::Outcome;
use judge::Row;
use line::Line;
use program::{Half, PEERS};
use sinew_peers::{CASES, Scene};
use sinew_scene::gallery::near_miss;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// What to compare. (Not called `Args`: clap makes a group of that name for the flags around it.)
#[derive(clap::Args)]
pub struct Comparison {
    /// Compare with the other engines whose programs are built in this folder (docs/peers.md)
    #[arg(long, value_name = "DIR", conflicts_with = "names")]
    pub with: Option<PathBuf>,
    /// Only these of S1 to S7
    #[arg(long, value_name = "S1,S5", value_delimiter = ',', requires = "with")]
    scenes: Vec<String>,
    /// Only these peers: baseline, jolt, bullet, rapier, mujoco, pypbd, newton
    #[arg(long, value_name = "jolt,rapier", value_delimiter = ',', requires = "with")]
    peers: Vec<String>,
    /// Rounds of a comparison; the run with the least median counts
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100), requires = "with")]
    runs: u32,
    /// Seconds after which a program that still runs is ended
    #[arg(long, value_name = "S", default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=86_400), requires = "with")]
    limit: u64,
    /// Run only our half of a scene of `--with`, here and now, and print its lines
    #[arg(long, value_name = "S1", conflicts_with_all = ["with", "names"])]
    pub half: Option<String>,
}

/// All that was measured.
struct Results {
    rows: Vec<Row>,
    /// Missing peers, each with the reason.
    left_out: Vec<String>,
}

/// Our half of one scene, in the peers' lines.
pub fn half(word: &str) -> Result<(), Failure> {
    let scene = scene(word)?;
    let mut message = Ok(());
    scene.run(&mut |record| {
        let mut out = screen();
        let line = writeln!(out, "{}", record.line()).and_then(|()| out.flush());
        message = std::mem::replace(&mut message, Ok(())).and(line);
    });
    Ok(message?)
}

/// The comparison.
pub fn compare(
    args: &Comparison,
    folder: &std::path::Path,
    markdown: bool,
    json: &Option<PathBuf>,
) -> Result<(), Failure> {
    let scenes = if args.scenes.is_empty() {
        Scene::ALL.to_vec()
    } else {
        args.scenes.iter().map(|word| scene(word)).collect::<Result<_, _>>()?
    };
    let folder = folder.canonicalize().map_err(Failure::file(folder))?;
    let peers = program::choose(&args.peers)?;
    let (built, mut left_out) = program::built(&folder, &peers);
    if built.is_empty() {
        let all = left_out.join("\n");
        return Err(Failure::input(format!("{}: no peer is built; run its setup.sh first\n{all}", folder.display())));
    }
    let json = Json::open(json)?;
    interrupt::install();
    let pin = child::pin();
    if pin.is_none() {
        note("sinew: no taskset here: nobody is pinned to a core, the times will scatter more");
    }
    let ours = Half::ours()?;
    let mut rows = Vec::new();
    for scene in scenes {
        let halves: Vec<&Half> = std::iter::once(&ours).chain(built.iter().filter(|h| h.has(scene))).collect();
        if halves.len() == 1 {
            left_out.push(format!("{}: none of the peers chosen has it", scene.name()));
            continue;
        }
        let mut lines: Vec<Vec<Line>> = halves.iter().map(|_| Vec::new()).collect();
        for run in 1..=args.runs {
            for (half, lines) in halves.iter().zip(&mut lines) {
                if interrupt::requested() {
                    break;
                }
                note(&format!("{} {}, run {run} of {}", scene.name(), half.name, args.runs));
                let outcome = child::run(half.command(scene, pin), Duration::from_secs(args.limit));
                take(half, scene, outcome, lines, &mut left_out);
            }
        }
        for case in CASES.iter().filter(|c| c.scene == scene) {
            rows.extend(judge::rows(case, &lines));
        }
    }
    let results = Results { rows, left_out };
    let quiet = json.takes_stdout();
    let written = json.write(&table::json(&results));
    if !quiet {
        table::tell(&results, markdown)?;
    }
    written
}

/// Keeps the lines of a run, and reports its errors.
fn take(half: &Half, scene: Scene, outcome: Outcome, lines: &mut Vec<Line>, left_out: &mut Vec<String>) {
    let page = line::read(&outcome.text, scene.name());
    let mut say = |what: String| {
        let text = format!("{} {}: {what}", scene.name(), half.name);
        note(&format!("    {text}"));
        if !left_out.contains(&text) {
            left_out.push(text);
        }
    };
    if let Some(trouble) = outcome.trouble {
        let kept = if page.lines.is_empty() { "" } else { "; what it printed before counts" };
        say(format!("{trouble}{kept}"));
    } else if page.lines.is_empty() {
        say("printed no result".to_owned());
    }
    if let Some((count, first)) = page.rubbish {
        say(format!("printed {count} line(s) that are no results, the first: {first}"));
    }
    line::merge(lines, page.lines);
}

fn scene(word: &str) -> Result<Scene, Failure> {
    Scene::named(word.trim()).ok_or_else(|| {
        let names = Scene::ALL.map(Scene::name);
        let known: Vec<String> = Scene::ALL.map(|s| format!("{} {}", s.name(), s.about())).to_vec();
        unknown("scene of the peers", word, near_miss(word, names), &known.join("\n"))
    })
}

/// All peers' names.
fn peer_names() -> Vec<&'static str> {
    PEERS.iter().map(|p| p.name).collect()
}
