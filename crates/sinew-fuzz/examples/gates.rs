//! Gates of trust over scenes of the gallery: the same bits with any number of threads, after a save, and again and again;
//! memory that does not grow.
//!
//! `cargo run --release -p sinew-fuzz --example gates -- [d1|d2|d5|l2 ...] [--quick]`; exit 1 when one is not met.
//!
//! ```text
//!   d1  12 scenes, threads 1 to 4, 600 steps, three times: hash of state, layout and events at every 100th step
//!   d2  100 pairs of a scene and a step: saved, loaded with other threads, 60 steps: the same hash after each
//!   d5  200 times the same 60 steps with two threads
//!   l2  36,000 steps of a scene at rest: resident memory at the end and after a tenth of them
//! ```

use sinew::{Input, World};
use sinew_scene::{AnyScene, Chance, gallery};
use std::process::ExitCode;

/// Rigid, soft of every family, ropes, cloth, laws of friction, bones in tissue.
const SCENES: [&str; 12] = [
    "stack",
    "pyramid",
    "domino",
    "pudding",
    "drape",
    "mixed",
    "teapots",
    "cradle",
    "grip",
    "grasp-block",
    "twist-chain",
    "stick-slip",
];

/// Does one part in so many of the work; tells what was seen, or why it is not met.
type Gate = fn(u32) -> Result<String, String>;

const GATES: [(&str, Gate); 4] = [("d1", d1), ("d2", d2), ("d5", d5), ("l2", l2)];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "--quick");
    let named: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--quick").collect();
    if let Some(word) = named.iter().find(|word| GATES.iter().all(|(name, _)| name != *word)) {
        eprintln!("gates: no gate '{word}'; there are d1, d2, d5, l2, and --quick for a twentieth of the work");
        return ExitCode::from(2);
    }
    let mut met = true;
    for (name, gate) in GATES.iter().filter(|(name, _)| named.is_empty() || named.iter().any(|word| word == name)) {
        let told = gate(if quick { 20 } else { 1 });
        met &= told.is_ok();
        println!("{name}: {}", told.map_or_else(|why| format!("NOT MET: {why}"), |what| format!("met: {what}")));
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A scene with this many threads.
fn build(name: &str, threads: u32) -> Result<(AnyScene, World), String> {
    let scene = AnyScene::from(gallery::find(name).ok_or(format!("no scene '{name}'"))?);
    let mut world = scene.build().map_err(|e| format!("{name}: {e}"))?;
    set_threads(&mut world, threads)?;
    Ok((scene, world))
}

fn set_threads(world: &mut World, threads: u32) -> Result<(), String> {
    let mut settings = world.settings().clone();
    settings.threads = threads;
    world.set_settings(settings).map_err(|e| e.to_string())
}

/// One step, and what must be the same: hash of the state, and the events in their order.
fn step(scene: &AnyScene, world: &mut World) -> String {
    let input: Input = scene.input(world, world.state().tick);
    world.step(&input);
    format!("{:?} {:?}", world.hash(), world.report().events)
}

fn d1(less: u32) -> Result<String, String> {
    let steps = 600 / less;
    let mut runs = 0;
    for name in SCENES {
        let mut first: Option<Vec<String>> = None;
        for _ in 0..3 {
            for threads in 1..=4 {
                let (scene, mut world) = build(name, threads)?;
                let all: Vec<String> = (0..steps).map(|_| step(&scene, &mut world)).collect();
                let seen: Vec<String> = all.into_iter().skip(99 / less as usize).step_by(100 / less as usize).collect();
                match &first {
                    None => first = Some(seen),
                    Some(first) if *first == seen => {}
                    Some(_) => return Err(format!("{name} differs with {threads} threads")),
                }
                runs += 1;
            }
        }
    }
    Ok(format!("{runs} runs of {steps} steps, threads 1 to 4, no difference"))
}

fn d2(less: u32) -> Result<String, String> {
    let mut chance = Chance::new(7);
    let pairs = 100 / less;
    let mut skipped = 0;
    for pair in 0..pairs {
        let name = SCENES[pair as usize % SCENES.len()];
        let (scene, mut world) = build(name, 1)?;
        for _ in 0..chance.bits() % 200 {
            step(&scene, &mut world);
        }
        let Ok(saved) = sinew_wire::save(&world) else {
            // rows of its own cannot be written
            skipped += 1;
            continue;
        };
        let mut twin = sinew_wire::load(&saved).map_err(|e| format!("{name}: {e}"))?;
        set_threads(&mut twin, 1 + (chance.bits() % 4) as u32)?;
        for k in 0..60 {
            if step(&scene, &mut world) != step(&scene, &mut twin) {
                return Err(format!("{name} differs {k} steps after its save at {}", world.state().tick - k - 1));
            }
        }
    }
    Ok(format!("{} of {pairs} pairs, 60 steps each, no difference; {skipped} scenes cannot be saved", pairs - skipped))
}

fn d5(less: u32) -> Result<String, String> {
    let repeats = 200 / less;
    for name in ["pyramid", "pudding", "drape"] {
        let mut first = None;
        for repeat in 0..repeats {
            let (scene, mut world) = build(name, 2)?;
            let last = (0..60).map(|_| step(&scene, &mut world)).last();
            if *first.get_or_insert(last.clone()) != last {
                return Err(format!("{name} differs at repeat {repeat}"));
            }
        }
    }
    Ok(format!("{repeats} repeats of 60 steps of three scenes with two threads, no difference"))
}

fn l2(less: u32) -> Result<String, String> {
    let steps = 36_000 / less;
    let mut told = Vec::new();
    for name in ["stack", "pudding", "grip"] {
        let (scene, mut world) = build(name, 1)?;
        let mut early = None;
        for k in 1..=steps {
            step(&scene, &mut world);
            if k == steps / 10 {
                early = resident();
            }
        }
        let (Some(early), Some(late)) = (early, resident()) else {
            return Err("there is no /proc/self/statm here to read memory from".to_owned());
        };
        if late > early {
            return Err(format!("{name} grew from {early} to {late} pages between step {} and {steps}", steps / 10));
        }
        told.push(format!("{name} {late}"));
    }
    Ok(format!("no growth in {steps} steps; resident pages: {}", told.join(", ")))
}

/// Resident memory [pages].
fn resident() -> Option<u64> {
    std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()
}
