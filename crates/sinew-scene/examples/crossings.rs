//! Frames of worlds under `Settings::guaranteed`, for an oracle that looks for crossing surfaces.
//!
//! `cargo run --release -p sinew-scene --example crossings -- shots 1000 | python3 benches/oracle/crossings.py`
//! `cargo run --release -p sinew-scene --example crossings -- gallery 240 | python3 benches/oracle/crossings.py`
//!
//! A frame is a line `name TAB vertices edges triangles pairs`, then the vertices as f64 x 3, the body of each vertex and what
//! it is (1: held, 2: rigid) as u32 x 2, edges as u32 x 2, triangles as u32 x 3, and pairs of bodies that touch each other by
//! design (a joint or their groups say so) as u32 x 2, all little-endian.

#[path = "../../sinew/tests/common/shots.rs"]
mod shots;
use shots::{Frame, STEPS, shot};
use sinew::{Input, Motion, Settings, World};
use sinew_scene::gallery;
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u32 = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let mut out = BufWriter::new(io::stdout().lock());
    match arguments.first().map(String::as_str) {
        Some("shots") => shots(count, &mut out)?,
        Some("gallery") => all_scenes(count, &mut out)?,
        _ => eprintln!("crossings shots COUNT | crossings gallery STEPS"),
    }
    out.flush()
}

fn shots(count: u32, out: &mut impl Write) -> io::Result<()> {
    for number in 0..count {
        let mut shot = shot(number, Settings { guaranteed: true, ..Settings::default() });
        for step in 0..STEPS {
            shot.world.step(&Input::none());
            for tangle in &shot.world.report().tangles {
                eprintln!("{}, step {step}: {tangle:?}", shot.name);
            }
            frame(&shot.world, &format!("{}, step {step}", shot.name), out)?;
        }
    }
    Ok(())
}

/// Every fourth frame of all scenes.
fn all_scenes(steps: u32, out: &mut impl Write) -> io::Result<()> {
    for scene in gallery::scenes() {
        let Ok(mut world) = (scene.build)() else { continue };
        let settings = Settings { guaranteed: true, ..world.settings().clone() };
        world.set_settings(settings).map_err(io::Error::other)?;
        for step in 0..steps {
            let input = (scene.input)(&world, world.state().tick);
            world.step(&input);
            for tangle in &world.report().tangles {
                eprintln!("{}, step {step}: {tangle:?}", scene.name);
            }
            if step % 4 == 0 {
                frame(&world, &format!("{}, step {step}", scene.name), out)?;
            }
        }
    }
    Ok(())
}

fn frame(world: &World, name: &str, out: &mut impl Write) -> io::Result<()> {
    let frame = Frame::of(world);
    let ids: Vec<_> = world.bodies().map(|b| b.id()).collect();
    let pairs = (0..ids.len()).flat_map(|a| (0..a).map(move |b| [a, b]));
    let pairs: Vec<[u32; 2]> = pairs
        .filter(|&[a, b]| world.may_touch(ids[a], ids[b]) == Ok(false))
        .map(|pair| pair.map(|k| k as u32))
        .collect();
    let counts = [frame.vertices.len(), frame.edges.len(), frame.triangles.len(), pairs.len()];
    writeln!(out, "{name}\t{}", counts.map(|n| n.to_string()).join(" "))?;
    let kind = |held: bool, rigid: bool| u32::from(held) | u32::from(rigid) << 1;
    let kinds: Vec<u32> = world
        .bodies()
        .map(|b| kind(b.is_frozen() || b.is_rigid() && b.motion() != Motion::Dynamic, b.is_rigid()))
        .collect();
    for x in frame.vertices.iter().flatten() {
        out.write_all(&x.to_le_bytes())?;
    }
    for owner in &frame.owner {
        out.write_all(&owner.to_le_bytes())?;
        out.write_all(&kinds[*owner as usize].to_le_bytes())?;
    }
    for k in frame.edges.iter().flatten().chain(frame.triangles.iter().flatten()).chain(pairs.iter().flatten()) {
        out.write_all(&k.to_le_bytes())?;
    }
    Ok(())
}
