//! Steps a reference scene until it is warm, then five steps more inside [`counted`]: the function whose instructions
//! `cargo xtask counts` has callgrind collect. One thread; the same work in every run. With `--ledger` after the scene the
//! energy ledger is made.

use sinew::{Input, LedgerDetail, Settings, World};
use sinew_peers::boxes::{self, Build};
use sinew_peers::cloth::{self, Mesh, Variant, sheet, substeps};
use sinew_peers::soft::{Fineness, TOLERANCE, build_s2, build_s7};
use sinew_scene::{AnyScene, gallery};
use std::process::ExitCode;

/// Steps that are counted.
const COUNTED: u64 = 5;

/// Every scene of the record with the steps before it is warm: what falls has landed and is still awake.
const SCENES: [(&str, u64); 10] = [
    ("cloth", 60),
    ("jelly", 60),
    ("mixed", 60),
    ("pile", 60),
    ("cylinders-detailed", 100),
    ("S1", 60),
    ("S2", 60),
    ("S5-pyramid", 60),
    ("S5-pile", 100),
    ("S7", 40),
];

#[inline(never)]
fn counted(world: &mut World, input: &Input) {
    world.step(input);
}

fn drive(world: &mut World, warm: u64, input: impl Fn(&World, u64) -> Input) {
    if std::env::args().any(|word| word == "--ledger") {
        world.set_ledger(LedgerDetail::World);
    }
    for tick in 0..warm + COUNTED {
        let input = input(world, tick);
        if tick < warm {
            world.step(&input);
        } else {
            counted(world, &input);
        }
    }
}

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let Some(&(name, warm)) = SCENES.iter().find(|(name, _)| *name == wanted) else {
        SCENES.iter().for_each(|(name, _)| println!("{name}"));
        return if wanted.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    let still = |_: &World, _: u64| Input::none();
    match name {
        "S1" => {
            let (variant, mesh) = (Variant::Fixed, Mesh::Regular);
            let mut run = cloth::Run::new(variant, sheet(51, 2.0, mesh), substeps(variant, mesh), 0, false);
            drive(run.world_mut(), warm, still);
        }
        "S2" => drive(build_s2(TOLERANCE).0.world_mut(), warm, still),
        "S5-pyramid" => drive(boxes::World::new(Build::Pyramid, 1).world_mut(), warm, still),
        "S5-pile" => drive(boxes::World::new(Build::Pile, 1).world_mut(), warm, still),
        "S7" => drive(build_s7(Fineness::Fine, TOLERANCE).world_mut(), warm, still),
        _ => {
            let scene = AnyScene::from(gallery::find(name).expect("a gallery scene"));
            let mut world = scene.build().expect("a gallery scene builds");
            let settings = Settings { threads: 1, ..world.settings().clone() };
            world.set_settings(settings).expect("one thread");
            drive(&mut world, warm, |world, tick| scene.input(world, tick));
        }
    }
    ExitCode::SUCCESS
}
