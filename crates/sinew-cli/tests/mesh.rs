//! `sinew mesh` as a script would drive it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().expect("the binary runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of this test; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mesh-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Path of a file in it.
    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    /// Path of a file with this text.
    fn with(&self, name: &str, text: &str) -> String {
        let path = self.file(name);
        std::fs::write(&path, text).expect("it can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

const CORNER: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

/// Two tetrahedra of one id; the second is inverted.
const BAD: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 2 2 2\n$EndNodes\n\
                   $Elements\n2\n44 4 2 0 1 1 2 3 4\n44 4 2 0 1 5 2 3 4\n$EndElements\n";

fn report(path: &str) -> Value {
    let output = sinew(&["mesh", "info", path, "--json", "-"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

#[test]
fn info_tells_people_and_programs() {
    let folder = Folder::new("info");
    let file = folder.with("corner.obj", CORNER);
    let text = stdout(&sinew(&["mesh", "info", &file]));
    assert!(text.contains("4 vertices, 4 triangles") && text.contains("closed, 1 piece"), "{text}");
    let json = report(&file);
    assert_eq!((&json["vertices"], &json["triangles"], &json["tets"]), (&4.into(), &4.into(), &0.into()));
    assert_eq!((&json["closed"], &json["inverted"], &json["degenerate"]), (&true.into(), &0.into(), &0.into()));
    assert!((json["volume"].as_f64().expect("a number") - 1.0 / 6.0).abs() < 1e-12);
    assert!(json["min_dihedral_deg"].is_null());
}

#[test]
fn a_bad_mesh_is_described_and_refused_when_asked() {
    let folder = Folder::new("bad");
    let file = folder.with("bad.msh", BAD);
    let json = report(&file);
    assert_eq!((&json["inverted"], &json["repeated_ids"], &json["tets"]), (&1.into(), &1.into(), &2.into()));
    let text = stdout(&sinew(&["mesh", "info", &file]));
    assert!(text.contains("1 inverted tetrahedra") && text.contains("repeat the id"), "{text}");
    let strict = sinew(&["mesh", "info", &file, "--strict"]);
    assert_eq!(code(&strict), 1);
    assert!(stderr(&strict).contains("id 44") && stderr(&strict).contains("mesh repair"), "{}", stderr(&strict));
}

#[test]
fn repair_says_what_it_did_and_writes_a_mesh_that_passes() {
    let folder = Folder::new("repair");
    let (bad, good) = (folder.with("bad.msh", BAD), folder.file("good.vtu"));
    let output = sinew(&["mesh", "repair", &bad, &good]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("inverted tetrahedra turned: 1"), "{}", stdout(&output));
    assert_eq!(code(&sinew(&["mesh", "info", &good, "--strict"])), 0);
    let output = sinew(&["mesh", "repair", &bad, "--json", "-"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(json["report"]["inverted"], 0);
    assert!(json["did"].as_array().is_some_and(|list| list.len() == 2), "{json}");
}

#[test]
fn convert_goes_round_through_every_format_without_loss() {
    let folder = Folder::new("convert");
    let mut from = folder.with("corner.obj", CORNER);
    for to in ["a.ply", "b.stl", "c.glb", "d.gltf", "e.msh", "f.vtk", "g.vtu", "h.mesh", "i.node", "j.obj"] {
        let to = folder.file(to);
        let output = sinew(&["mesh", "convert", &from, &to]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        from = to;
    }
    let json = report(&from);
    assert_eq!((&json["vertices"], &json["triangles"], &json["closed"]), (&4.into(), &4.into(), &true.into()));
    assert!((json["volume"].as_f64().expect("a number") - 1.0 / 6.0).abs() < 1e-12);
    let output = sinew(&["mesh", "convert", &from, &folder.file("text.stl"), "--text"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(std::fs::read(folder.file("text.stl")).expect("it is there").starts_with(b"solid"));
}

#[test]
fn bad_files_and_bad_use_are_answered_with_2_and_a_reason() {
    let folder = Folder::new("refused");
    let broken = folder.with("broken.obj", "v 0 0 0\nf 1 2 3\n");
    let good = folder.with("corner.obj", CORNER);
    let cases: [(&[&str], &str); 6] = [
        (&["mesh", "info", &broken], "line 2"),
        (&["mesh", "info", "nowhere.obj"], "nowhere.obj"),
        (&["mesh", "info", "mesh.3ds"], ".msh"),
        (&["mesh", "convert", &good, "mesh.3ds"], ".msh"),
        (&["mesh", "repair", &good, "--weld", "-1"], "not negative"),
        (&["mesh", "tetrahedralize", &good], "<TO>"),
    ];
    for (args, words) in cases {
        let output = sinew(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
