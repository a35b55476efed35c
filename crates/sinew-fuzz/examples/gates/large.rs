//! Files of megabytes for P4: meshes by Sinew's own writers, the densest text of each format, scene files that are
//! mostly lists, saves and recordings.

use crate::limits::{Case, SHARE};
use sinew::{Input, TetMesh, Vec3, World};
use sinew_mesh::{Encoding, Format, Mesh, read_bytes, write_bytes};
use sinew_scene::file::{Syntax, read_text};
use sinew_scene::validate::tools::num;

/// A case for a mesh reader.
pub fn mesh(name: impl Into<String>, format: Format, file: &'static str, bytes: impl Into<Vec<u8>>) -> Case {
    let read = move |bytes: &[u8]| read_bytes(bytes, format, file).is_ok();
    Case { name: name.into(), bytes: bytes.into(), share: SHARE, read: Box::new(read) }
}

/// A case for the reader of scene files.
pub fn scene(name: impl Into<String>, syntax: Syntax, text: impl Into<String>) -> Case {
    let read = move |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(|text| read_text(text, "p4", syntax).is_ok());
    Case { name: name.into(), bytes: text.into().into_bytes(), share: SHARE, read: Box::new(read) }
}

/// All cases of about this size [bytes].
pub fn cases(size: usize) -> Vec<Case> {
    let mut all = meshes(size);
    all.extend(dense(size));
    all.extend(scenes(size));
    all.extend(worlds(size));
    all
}

/// Meshes of the requested size: the number of cells is increased until it is reached.
fn meshes(size: usize) -> Vec<Case> {
    let mut all = Vec::new();
    let tets = |n: u32| {
        let block = TetMesh::block([n, n, 1], Vec3::ONE).expect("a block");
        let wide = |x: &Vec3| [num(x.x), num(x.y), num(x.z)];
        Mesh::from_tets(block.vertices.iter().map(wide).collect(), block.tets.clone())
    };
    for (format, endings) in Format::ALL {
        if format == Format::TetGen {
            continue;
        }
        let file: &'static str = Box::leak(format!("a.{}", endings[0]).into_boxed_str());
        for (encoding, how) in [(Encoding::Text, "text"), (Encoding::Binary, "binary")] {
            let write = |n| write_bytes(&tets(n), format, encoding).expect("our own mesh");
            // a flat block: the volume and surface meshes grow alike
            let mut n = 8;
            let mut bytes = write(n);
            while bytes.len() < size && n < 300 {
                n = n * 5 / 4;
                bytes = write(n);
            }
            all.push(mesh(format!("{}, {how}", endings[0]), format, file, bytes));
        }
    }
    all
}

fn repeated(head: &str, line: &str, size: usize, tail: &str) -> String {
    format!("{head}{}{tail}", line.repeat(size / line.len()))
}

/// Files with the maximum memory demand per byte.
fn dense(size: usize) -> Vec<Case> {
    let obj = repeated("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "f 1 2 3\n", size, "");
    let points = repeated("", "v 0 0 0\n", size, "f 1 2 3\n");
    let polygon = repeated("v 0 0 0\nv 1 0 0\nv 0 1 0\nf", " 1 2 3", size, "\n");
    let count = size / 6;
    let ply = repeated(
        &format!(
            "ply\nformat ascii 1.0\nelement vertex {count}\nproperty float x\nproperty float y\nproperty float z\n\
             element face 0\nproperty list uchar int vertex_indices\nend_header\n"
        ),
        "0 0 0\n",
        6 * count,
        "",
    );
    let vtk = repeated(
        &format!("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {count} float\n"),
        "0 0 0\n",
        6 * count,
        "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
    );
    let stl = repeated(
        "solid a\n",
        "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet\n",
        size,
        "endsolid a\n",
    );
    let numbers = "0,".repeat(size / 2);
    let gltf = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":[{numbers}0]}}");
    let objects = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{}{{}}]}}", "{},".repeat(size / 3));
    vec![
        mesh("obj, the same triangle", Format::Obj, "a.obj", obj),
        mesh("obj, points only", Format::Obj, "a.obj", points),
        mesh("obj, one polygon", Format::Obj, "a.obj", polygon),
        mesh("obj, empty lines", Format::Obj, "a.obj", "\n".repeat(size)),
        mesh("ply, points only", Format::Ply, "a.ply", ply),
        mesh("vtk, points only", Format::Vtk, "a.vtk", vtk),
        mesh("stl, the same triangle", Format::Stl, "a.stl", stl),
        mesh("gltf, a list of numbers", Format::Gltf, "a.gltf", gltf),
        mesh("gltf, empty nodes", Format::Gltf, "a.gltf", objects),
        mesh("vtu, empty elements", Format::Vtu, "a.vtu", repeated("<VTKFile>", "<a/>", size, "</VTKFile>")),
        mesh(
            "medit, points only",
            Format::Medit,
            "a.mesh",
            repeated(
                &format!("MeshVersionFormatted 1 Dimension 3 Vertices {}\n", size / 8),
                "0 0 0 0\n",
                size,
                "End\n",
            ),
        ),
        mesh(
            "msh, points only",
            Format::Msh,
            "a.msh",
            repeated(
                &format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", size / 8),
                "1 0 0 0\n",
                size,
                "$EndNodes\n",
            ),
        ),
    ]
}

fn scenes(size: usize) -> Vec<Case> {
    let points = "[0,1,0],".repeat(size / 8);
    let body = |list: &str| format!("[bodies.p]\nkind='particles'\npositions=[{list}]\n");
    let tables: String = (0..size / 60)
        .map(|i| format!("[bodies.b{i}]\nkind='dynamic'\nshape={{kind='ball',radius=0.1}}\nposition=[{i},0,0]\n"))
        .collect();
    let json = format!("{{\"bodies\":{{\"p\":{{\"kind\":\"particles\",\"positions\":[{points}[0,0,0]]}}}}}}");
    vec![
        scene("toml, particles", Syntax::Toml, body(&points)),
        scene("json, particles", Syntax::Json, json),
        scene("toml, bodies", Syntax::Toml, tables),
        scene("toml, a list of numbers", Syntax::Toml, format!("a=[{}]\n", "0,".repeat(size / 2))),
        scene("toml, a list of lists", Syntax::Toml, format!("a=[{}]\n", "[],".repeat(size / 3))),
        scene("toml, unknown keys", Syntax::Toml, (0..size / 8).map(|i| format!("{i:05}=1\n")).collect::<String>()),
        scene("toml, lists of one", Syntax::Toml, format!("a=[{}]\n", "[0],".repeat(size / 4))),
        scene("toml, tables of one", Syntax::Toml, format!("a=[{}]\n", "{a=0},".repeat(size / 6))),
        scene("toml, headers", Syntax::Toml, (0..size / 8).map(|i| format!("[{i:05}]\n")).collect::<String>()),
        scene("toml, a list of tables", Syntax::Toml, "[[a]]\n".repeat(size / 6)),
        scene("toml, keys with dots", Syntax::Toml, (0..size / 9).map(|i| format!("{i:04}.a=0\n")).collect::<String>()),
        scene("toml, empty lines", Syntax::Toml, "\n".repeat(size)),
        scene("toml, no TOML", Syntax::Toml, "=\n".repeat(size / 2)),
        scene("toml, one long word", Syntax::Toml, "a".repeat(size)),
        scene("toml, one long text", Syntax::Toml, format!("name='{}'\n", "a".repeat(size))),
        scene("json, a list of numbers", Syntax::Json, format!("{{\"a\":[{}0]}}", "0,".repeat(size / 2))),
        scene("json, lists of one", Syntax::Json, format!("{{\"a\":[{}[]]}}", "[0],".repeat(size / 4))),
        scene(
            "json, unknown keys",
            Syntax::Json,
            format!("{{{}\"a\":0}}", (0..size / 10).map(|i| format!("\"{i:05}\":1,")).collect::<String>()),
        ),
        scene("json, a list of objects", Syntax::Json, format!("{{\"a\":[{}{{}}]}}", "{},".repeat(size / 3))),
        scene("json, no JSON", Syntax::Json, "{".repeat(size)),
    ]
}

fn worlds(size: usize) -> Vec<Case> {
    let mut world = World::default();
    let places: Vec<Vec3> = (0..size / 40).map(|i| Vec3::new(i as sinew::Real, 1.0, 0.0)).collect();
    world.add_particles(sinew::Particles::new(places)).expect("particles");
    world.step(&Input::none());
    let save = sinew_wire::save(&world).expect("nothing of its own");
    let read = |bytes: &[u8]| sinew_wire::load(bytes).is_ok();
    vec![Case { name: "save, particles".to_owned(), bytes: save, share: SHARE, read: Box::new(read) }]
}
