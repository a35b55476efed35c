//! The fuzz targets. Each takes any bytes and must return: with a value or a typed error, never with a panic, never
//! after a long time, never with a number that is not finite. A violation is a panic, which the fuzzer and the test
//! detect.
//!
//! `fuzz/` builds a libFuzzer program from each target (`cargo xtask fuzz TARGET`); `tests/corpus.rs` replays the
//! inputs in `fuzz/corpus`, so that every test run checks for regressions of the faults that were found.

#![forbid(unsafe_code)]

pub mod grammar;
pub mod mesh;
pub mod mutate;
pub mod scene;
pub mod viewer;
pub mod wire;

/// A target: takes any bytes, panics when a guarantee is violated.
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

/// Panics when the position of a body is not finite: a diverged body must be frozen at its last valid position.
///
/// # Panics
/// On a position that is not finite.
pub fn assert_finite(world: &sinew::World) {
    for body in world.bodies() {
        let (id, name, tick) = (body.id(), body.name(), world.state().tick);
        assert!(body.position().is_finite(), "the position of {id:?} '{name}' is not finite after step {tick}");
        let nodes = body.node_positions();
        assert!(nodes.iter().all(|x| x.is_finite()), "a node of {id:?} '{name}' is not finite after step {tick}");
    }
}

/// True for settings that are cheap enough for a fuzzer. A scene may set 1000 substeps of 10,000 sweeps on 256 threads.
pub fn is_quick(s: &sinew::Settings) -> bool {
    let substeps =
        s.substeps.max(s.implicit_substeps).max(s.impact_substeps).max(s.sheet_substeps).max(s.max_substeps / 8);
    let sweeps = s.sweeps.saturating_add(s.relax_sweeps);
    let work =
        substeps.saturating_mul(sweeps.max(s.implicit.passes).max(s.implicit.guard).max(s.implicit.audit_passes));
    work <= 1000 && s.implicit.iterations <= 1000 && s.threads <= 4
}
