//! What the fuzzers call. Each target takes any bytes and must come back: with a value or a typed refusal, never with a
//! panic, never after long, never with a number that is not finite. A breach is a panic, which the fuzzer and the test see.
//!
//! `fuzz/` makes a libFuzzer program of each target (`cargo xtask fuzz TARGET`); `tests/corpus.rs` replays what is kept in
//! `fuzz/corpus`, so that a fault which was found once is looked for in every test run.

#![forbid(unsafe_code)]

pub mod grammar;
pub mod mesh;
pub mod mutate;
pub mod scene;
pub mod viewer;
pub mod wire;

/// A target: takes any bytes, panics when a promise is broken.
pub type Target = fn(&[u8]);

/// All targets by name; the folders of `fuzz/corpus` have the same names.
pub const TARGETS: [(&str, Target); 17] = [
    ("mesh_gltf", mesh::gltf),
    ("mesh_glb", mesh::glb),
    ("mesh_medit", mesh::medit),
    ("mesh_msh", mesh::msh),
    ("mesh_obj", mesh::obj),
    ("mesh_ply", mesh::ply),
    ("mesh_stl", mesh::stl),
    ("mesh_tetgen", mesh::tetgen),
    ("mesh_vtk", mesh::vtk),
    ("mesh_vtu", mesh::vtu),
    ("recording", wire::recording),
    ("save", wire::save),
    ("scene_json", scene::json),
    ("scene_step", scene::step),
    ("scene_toml", scene::toml),
    ("snapshot", wire::snapshot),
    ("viewer_command", viewer::commands),
];

/// Panics when a body is anywhere but at a finite place: a body that goes mad is held at its last good one.
///
/// # Panics
/// That is what it is for.
pub fn assert_finite(world: &sinew::World) {
    for body in world.bodies() {
        let (id, name, tick) = (body.id(), body.name(), world.state().tick);
        assert!(body.position().is_finite(), "{id:?} '{name}' is nowhere after step {tick}");
        let nodes = body.node_positions();
        assert!(nodes.iter().all(|x| x.is_finite()), "a node of {id:?} '{name}' is nowhere after step {tick}");
    }
}

/// A scene may ask for 1000 substeps of 10,000 sweeps on 256 threads, and gets them: not from a fuzzer.
pub fn is_quick(s: &sinew::Settings) -> bool {
    let substeps =
        s.substeps.max(s.implicit_substeps).max(s.impact_substeps).max(s.sheet_substeps).max(s.max_substeps / 8);
    let sweeps = s.sweeps.saturating_add(s.relax_sweeps);
    let work =
        substeps.saturating_mul(sweeps.max(s.implicit.passes).max(s.implicit.guard).max(s.implicit.audit_passes));
    work <= 1000 && s.implicit.iterations <= 1000 && s.threads <= 4
}
