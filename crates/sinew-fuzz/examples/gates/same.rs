//! Identical bits with any number of threads (D1), after a save (D2) and in repeated runs (D5); memory that does not
//! grow (L2).

use sinew::{Input, World};
use sinew_scene::{AnyScene, Rng, gallery};

/// Rigid bodies, soft bodies of every family, ropes, cloth, friction laws, bones in tissue.
pub const SCENES: [&str; 12] = [
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

/// Builds a scene with this many threads.
pub fn build(name: &str, threads: u32) -> Result<(AnyScene, World), String> {
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

/// One step, and the data that must be identical: hash of the state, and the events in their order.
fn step(scene: &AnyScene, world: &mut World) -> String {
    let input: Input = scene.input(world, world.state().tick);
    world.step(&input);
    format!("{:?} {:?}", world.hash(), world.report().events)
}

pub fn d1(less: u32) -> Result<String, String> {
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

pub fn d2(less: u32) -> Result<String, String> {
    let mut rng = Rng::new(7);
    let pairs = 100 / less;
    let mut skipped = 0;
    for pair in 0..pairs {
        let name = SCENES[pair as usize % SCENES.len()];
        let (scene, mut world) = build(name, 1)?;
        for _ in 0..rng.bits() % 200 {
            step(&scene, &mut world);
        }
        let Ok(saved) = sinew_wire::save(&world) else {
            // a world with custom rows cannot be saved
            skipped += 1;
            continue;
        };
        let mut twin = sinew_wire::load(&saved).map_err(|e| format!("{name}: {e}"))?;
        set_threads(&mut twin, 1 + (rng.bits() % 4) as u32)?;
        for k in 0..60 {
            if step(&scene, &mut world) != step(&scene, &mut twin) {
                return Err(format!("{name} differs {k} steps after its save at {}", world.state().tick - k - 1));
            }
        }
    }
    Ok(format!("{} of {pairs} pairs, 60 steps each, no difference; {skipped} scenes cannot be saved", pairs - skipped))
}

pub fn d5(less: u32) -> Result<String, String> {
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

pub fn l2(less: u32) -> Result<String, String> {
    let steps = 36_000 / less;
    let mut message = Vec::new();
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
        message.push(format!("{name} {late}"));
    }
    Ok(format!("no growth in {steps} steps; resident pages: {}", message.join(", ")))
}

/// Resident memory [pages].
pub fn resident() -> Option<u64> {
    std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()
}
