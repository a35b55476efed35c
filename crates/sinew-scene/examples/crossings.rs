//! Frames of worlds under `Settings::intersection_free`, for an oracle that looks for crossing surfaces.
//!
//! `cargo run --release -p sinew-scene --example crossings -- shots 1000 | python3 benches/oracle/crossings.py`
//! `cargo run --release -p sinew-scene --example crossings -- gallery 240 | python3 benches/oracle/crossings.py`
//! `... -- gallery 240 pile`: every frame of one scene; of all scenes it is every fourth, and those after which the engine itself
//! found bodies that touch or cross.
//!
//! A frame is a line `name TAB vertices edges triangles pairs`, then the vertices as f64 x 3, the body of each vertex and what
//! it is (1: held, 2: rigid) as u32 x 2, edges as u32 x 2, triangles as u32 x 3, and pairs of bodies that touch each other by
//! design (a joint or their groups say so) as u32 x 2, all little-endian.

#[path = "../../sinew/tests/common/shots.rs"]
mod shots;
use shots::{Frame, STEPS, held, shot};
use sinew::{Input, Settings, World};
use sinew_scene::gallery;
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u32 = arguments.get(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let mut out = BufWriter::new(io::stdout().lock());
    match arguments.first().map(String::as_str) {
        Some("shots") => shots(count, &mut out)?,
        Some("gallery") => scenes(count, arguments.get(2).map(String::as_str), &mut out)?,
        _ => eprintln!("crossings shots COUNT | crossings gallery STEPS [SCENE]"),
    }
    out.flush()
}

fn shots(count: u32, out: &mut impl Write) -> io::Result<()> {
    for number in 0..count {
        let mut shot = shot(number, Settings { intersection_free: true, ..Settings::default() });
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

/// Every fourth frame of all scenes, or every frame of one; and every frame that the next step found bodies to touch or cross in.
fn scenes(steps: u32, only: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let chosen: Vec<_> = gallery::scenes().iter().filter(|s| only.is_none_or(|name| name == s.name)).collect();
    if chosen.is_empty() {
        return Err(io::Error::other("no scene of this name: `sinew list` has all"));
    }
    for scene in chosen {
        let Ok(mut world) = (scene.build)() else { continue };
        let settings = Settings { intersection_free: true, ..world.settings().clone() };
        world.set_settings(settings).map_err(io::Error::other)?;
        let mut last = Vec::new();
        for step in 0..steps {
            let input = (scene.input)(&world, world.state().tick);
            world.step(&input);
            for tangle in &world.report().tangles {
                eprintln!("{}, step {step}: {tangle:?}", scene.name);
            }
            // a scene may begin tangled
            if step > 0 && !world.report().tangles.is_empty() {
                out.write_all(&last)?;
            }
            last.clear();
            frame(&world, &format!("{}, step {step}", scene.name), &mut last)?;
            if step % 4 == 0 || only.is_some() {
                out.write_all(&last)?;
                last.clear();
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
    let kinds: Vec<u32> = world.bodies().map(|b| u32::from(held(&b)) | u32::from(b.is_rigid()) << 1).collect();
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
