//! Writes the seeds of `fuzz/corpus`, and the keywords of scene files for the fuzzer, with Sinew's own writers: `cargo
//! run -p sinew-fuzz --example seeds`. Files that the fuzzers found lie beside them and are kept.

use sinew::{Input, TetMesh, Vec3, World};
use sinew_fuzz::wire::small_world;
use sinew_mesh::{Encoding, Format, Mesh, write_bytes};
use sinew_scene::file::{self, About, Syntax, read_text};
use std::path::{Path, PathBuf};
use std::{fs, io};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    meshes()?;
    scenes()?;
    worlds()?;
    orders()?;
    words()
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn put(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = fuzz().join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("seed-{name}")), bytes)
}

/// A corner of a cube as a surface, and two tetrahedra.
fn samples() -> [(&'static str, Mesh); 2] {
    let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.75, 0.75, 0.875]];
    let surface = Mesh::from_triangles(vertices[..4].to_vec(), vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]);
    [("surface", surface), ("solid", Mesh::from_tets(vertices, vec![[0, 1, 2, 3], [1, 2, 3, 4]]))]
}

fn meshes() -> Outcome {
    for (format, endings) in Format::ALL {
        let target = match format {
            Format::TetGen => continue,
            Format::Medit => "mesh_medit".to_owned(),
            _ => format!("mesh_{}", endings[0]),
        };
        for (name, mesh) in samples() {
            for (encoding, how) in [(Encoding::Text, "text"), (Encoding::Binary, "binary")] {
                put(&target, &format!("{name}-{how}"), &write_bytes(&mesh, format, encoding)?)?;
            }
        }
    }
    // syntax that our writers do not produce
    let obj = "mtllib m.mtl\no a\nv 0 0 0 1\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvn 0 0 1\ng b\nusemtl c\ns off\n\
               f 1/1/1 2//1 -2 4\nf -1 \\\n1 2\nl 1 2\np 1\n";
    put("mesh_obj", "rich", obj.as_bytes())?;
    let msh4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n\
                $EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";
    let msh1 = "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n";
    let vtk5 = "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n\
                CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n";
    put("mesh_msh", "four", msh4.as_bytes())?;
    put("mesh_msh", "one", msh1.as_bytes())?;
    put("mesh_vtk", "five", vtk5.as_bytes())?;
    put("mesh_tetgen", "node", b"\x004 3 1 1\n1 0 0 0 5 1\n2 1 0 0 5 1\n3 0 1 0 5 1\n4 0 0 1 5 0 # last\n")?;
    put("mesh_tetgen", "ele", b"\x011 4 0\n1 1 2 3 4\n")?;
    put("mesh_tetgen", "face", b"\x022 1\n1 1 2 3 1\n2 1 2 4 1\n")?;
    Ok(())
}

fn scenes() -> Outcome {
    let folder = fuzz().join("../scenes");
    for name in ["dent", "drape", "gyroscope", "press", "pudding", "ropes", "stack"] {
        // small scenes: a fuzzer builds them a million times
        let text = fs::read_to_string(folder.join(format!("{name}.toml")))?;
        let few = |count: &str, fewer: &str, text: &str| text.replace(count, fewer);
        let text = few("[10, 4, 10]", "[2, 1, 2]", &few("segments = 24", "segments = 3", &text));
        let text = few(
            "[1, 20, 1]",
            "[1, 3, 1]",
            &few(
                "cells = 4",
                "cells = 2",
                &few("[8, 6, 8]", "[2, 1, 2]", &few("[6, 4, 6]", "[2, 1, 2]", &few("[30, 30]", "[3, 3]", &text))),
            ),
        );
        put("scene_toml", name, text.as_bytes())?;
        let scene = read_text(&text, name, Syntax::Toml)?;
        let world = scene.build()?;
        if world.state().node_x.len() < 40 && world.bodies().count() < 10 {
            let about = About { bodies_only: true, ..About::default() };
            put("scene_json", name, file::write(&world, &about, Syntax::Json)?.as_bytes())?;
        }
    }
    let mut world = small_world();
    world.step(&Input::none());
    put("scene_toml", "state", file::write(&world, &About::default(), Syntax::Toml)?.as_bytes())?;
    put("scene_json", "state", file::write(&world, &About::default(), Syntax::Json)?.as_bytes())?;
    // any bytes are a valid input of the grammar: a simple pseudo-random generator is sufficient
    let mut state = 8_u64;
    for i in 0..24 {
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let bytes: Vec<u8> = (0..400).map(|_| byte()).collect();
        put("scene_step", &format!("{i:02}"), &bytes)?;
    }
    Ok(())
}

fn worlds() -> Outcome {
    let mut world = small_world();
    put("save", "small", &sinew_wire::save(&world)?)?;
    put("snapshot", "small", &sinew_wire::snapshot(&world))?;
    let mut recorder = sinew_wire::Recorder::new(&world)?.keyframe_every(2);
    for _ in 0..4 {
        recorder.step(&mut world, &Input::none())?;
    }
    put("recording", "small", &recorder.finish())?;
    let mut world = World::default();
    let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
    world.add_soft(sinew::SoftBody::corotational(block, sinew::ElasticMaterial::new(1e5, 0.3, 1000.0)))?;
    put("save", "soft", &sinew_wire::save(&world)?)?;
    Ok(())
}

fn orders() -> Outcome {
    let all = r#"{"command":"pause","on":true}
{"command":"step"}
{"command":"speed","value":0.5}
1{"command":"grab","slot":1,"at":[0,0.3,0]}
1{"command":"drag","to":[0.2,0.5,0]}
1{"command":"release"}
2{"command":"grab","slot":2,"at":[0.5,0.1,0]}
{"command":"tune","knob":"stiffness","value":2}
{"command":"tune","knob":"friction","value":0.5}
{"command":"tune","knob":"gravity","value":-3}
{"command":"layers","on":["nodes","strain","residuals"]}
{"command":"reset"}
"#;
    put("viewer_command", "all", all.as_bytes())?;
    put("viewer_command", "scene", br#"{"command":"scene","name":"stack"}"#)?;
    Ok(())
}

/// Every quoted word of the schema: a fuzzer that has the keys as a dictionary gets past the first validation.
fn words() -> Outcome {
    let schema = file::json_schema();
    let mut words: Vec<&str> = schema.split('"').skip(1).step_by(2).filter(|w| is_word(w)).collect();
    words.sort_unstable();
    words.dedup();
    let lines: String = words.iter().map(|w| format!("\"{w}\"\n")).collect();
    fs::write(fuzz().join("scene.dict"), lines)?;
    Ok(())
}

fn is_word(text: &str) -> bool {
    (2..24).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
}
