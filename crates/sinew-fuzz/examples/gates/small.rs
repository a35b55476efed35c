//! Small files with large claims for P4: counts of four thousand million, unbounded nesting, self-reference. Every one
//! must be refused, quickly, and without allocating the claimed memory.

use crate::large::{mesh, scene};
use crate::limits::{Case, SHARE};
use sinew_fuzz::wire::{sealed, small_world};
use sinew_mesh::Format;
use sinew_scene::file::{Syntax, read};
use std::fmt::Write;

/// False counts: at the limits of 32 and 64 bits.
const CLAIMS: [&str; 4] = ["4294967295", "4294967296", "9223372036854775807", "18446744073709551615"];

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut all = counts();
    all.extend(binary());
    all.extend(nesting());
    all.extend(gltf());
    all.extend(scenes());
    all.extend(includes());
    all.extend(saves());
    all
}

/// Text files whose header claims more than follows.
fn counts() -> Vec<Case> {
    let mut all = Vec::new();
    for n in CLAIMS {
        let mut add = |format, file, text: String| all.push(mesh(format!("{file}, {n}"), format, file, text));
        let ply = |kind: &str| {
            format!(
                "ply\nformat {kind} 1.0\nelement vertex {n}\nproperty float x\nproperty float y\nproperty float z\n\
                 element face {n}\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n"
            )
        };
        add(Format::Ply, "a.ply", ply("ascii"));
        add(Format::Ply, "b.ply", ply("binary_little_endian"));
        add(Format::Ply, "c.ply", format!("ply\nformat ascii 1.0\nelement nothing {n}\nend_header\n"));
        add(Format::Obj, "a.obj", format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {n}\n"));
        add(Format::Obj, "b.obj", format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -{n}\n"));
        let msh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n";
        add(Format::Msh, "a.msh", format!("{msh}{n}\n1 0 0 0\n$EndNodes\n"));
        let msh = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n";
        add(Format::Msh, "b.msh", format!("{msh}1 {n} 1 {n}\n3 1 0 {n}\n1\n0 0 0\n$EndNodes\n"));
        add(Format::Msh, "c.msh", format!("{msh}{n} 1 1 1\n3 1 0 1\n1\n0 0 0\n$EndNodes\n"));
        let vtk = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
        add(Format::Vtk, "a.vtk", format!("{vtk}POINTS {n} float\n0 0 0\n"));
        add(Format::Vtk, "b.vtk", format!("{vtk}POINTS 1 float\n0 0 0\nCELLS {n} {n}\n4 0 0 0 0\n"));
        add(Format::Vtk, "c.vtk", format!("{vtk}POINTS 1 float\n0 0 0\nCELLS 1 5\n{n} 0 0 0 0\n"));
        add(
            Format::Vtu,
            "a.vtu",
            format!(
                "<VTKFile type='UnstructuredGrid'><UnstructuredGrid><Piece NumberOfPoints='{n}' NumberOfCells='{n}'>\
                 <Points><DataArray type='Float32' NumberOfComponents='3' format='ascii'>0 0 0</DataArray></Points>\
                 </Piece></UnstructuredGrid></VTKFile>"
            ),
        );
        add(Format::TetGen, "a.node", format!("{n} 3 0 0\n1 0 0 0\n"));
        add(Format::TetGen, "a.ele", format!("{n} 4 0\n1 1 2 3 4\n"));
        add(Format::Medit, "a.mesh", format!("MeshVersionFormatted 1\nDimension 3\nVertices {n}\n0 0 0 0\n"));
    }
    all
}

/// Binary files with false lengths.
fn binary() -> Vec<Case> {
    let mut stl = vec![b' '; 80];
    stl.extend(u32::MAX.to_le_bytes());
    stl.extend([0; 50]);
    let glb = |total: u32, chunk: u32| {
        let json = b"{\"asset\":{\"version\":\"2.0\"}} ";
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend(total.to_le_bytes());
        bytes.extend(chunk.to_le_bytes());
        bytes.extend(b"JSON");
        bytes.extend(json);
        bytes
    };
    let mut msh = b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n4294967295\n".to_vec();
    msh.extend([0; 64]);
    let mut vtk =
        b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4294967295 double\n".to_vec();
    vtk.extend([0; 64]);
    vec![
        mesh("stl, 4294967295 triangles", Format::Stl, "a.stl", stl),
        mesh("glb, a length of 4 GB", Format::Glb, "a.glb", glb(u32::MAX, 28)),
        mesh("glb, a chunk of 4 GB", Format::Glb, "a.glb", glb(48, u32::MAX)),
        mesh("glb, both", Format::Glb, "a.glb", glb(u32::MAX, u32::MAX)),
        mesh("msh, binary, 4294967295 nodes", Format::Msh, "a.msh", msh),
        mesh("vtk, binary, 4294967295 points", Format::Vtk, "a.vtk", vtk),
    ]
}

/// Nesting of a hundred thousand levels; entities that grow by a factor of ten at each of nine levels.
fn nesting() -> Vec<Case> {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let mut laughs = String::from("<?xml version='1.0'?><!DOCTYPE l [<!ENTITY l0 'ha'>");
    for i in 1..10 {
        let _ = write!(laughs, "<!ENTITY l{i} '{}'>", format!("&l{};", i - 1).repeat(10));
    }
    laughs += "]><VTKFile type='UnstructuredGrid'>&l9;</VTKFile>";
    vec![
        mesh("vtu, nested elements", Format::Vtu, "a.vtu", deep("<a>", "</a>")),
        mesh("vtu, a thousand million laughs", Format::Vtu, "a.vtu", laughs),
        mesh("gltf, nested lists", Format::Gltf, "a.gltf", deep("[", "]")),
        mesh("gltf, nested objects", Format::Gltf, "a.gltf", deep("{\"a\":", "}")),
        scene("json, nested lists", Syntax::Json, deep("[", "]")),
        scene("json, nested objects", Syntax::Json, deep("{\"a\":", "}")),
        scene("toml, nested lists", Syntax::Toml, format!("a={}", deep("[", "]"))),
        scene("toml, nested tables", Syntax::Toml, format!("a={}", deep("{a=", "}"))),
        scene("toml, a key of many parts", Syntax::Toml, format!("{}a=1", "a.".repeat(50_000))),
        scene("toml, a table of many parts", Syntax::Toml, format!("[{}a]\n", "a.".repeat(50_000))),
    ]
}

/// Accessors, views and nodes with false counts or cyclic references.
fn gltf() -> Vec<Case> {
    let file = |nodes: &str, count: &str, length: &str| {
        format!(
            "{{\"asset\":{{\"version\":\"2.0\"}},\"scene\":0,\"scenes\":[{{\"nodes\":[0]}}],\"nodes\":[{nodes}],\
             \"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0}}}}]}}],\
             \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\"count\":{count},\"type\":\"VEC3\"}}],\
             \"bufferViews\":[{{\"buffer\":0,\"byteLength\":{length}}}],\
             \"buffers\":[{{\"byteLength\":{length},\"uri\":\"data:application/octet-stream;base64,{}\"}}]}}",
            "AAAA".repeat(12)
        )
    };
    // a tree in which both children of a node are the same node: 2^40 meshes
    let doubled: Vec<String> = (1..=40).map(|i| format!("{{\"children\":[{i},{i}]}}")).collect();
    let doubled = format!("{},{{\"mesh\":0}}", doubled.join(","));
    let chain: Vec<String> = (1..=20_000).map(|i| format!("{{\"children\":[{i}]}}")).collect();
    let mut all = vec![
        mesh("gltf, a circle of nodes", Format::Gltf, "a.gltf", file("{\"children\":[0]}", "3", "36")),
        mesh("gltf, 2^40 nodes", Format::Gltf, "a.gltf", file(&doubled, "3", "36")),
        mesh("gltf, a chain into nothing", Format::Gltf, "a.gltf", file(&chain.join(","), "3", "36")),
    ];
    for n in CLAIMS {
        all.push(mesh(format!("gltf, {n} items"), Format::Gltf, "a.gltf", file("{\"mesh\":0}", n, "36")));
        all.push(mesh(format!("gltf, {n} bytes"), Format::Gltf, "a.gltf", file("{\"mesh\":0}", "3", n)));
    }
    all
}

/// Geometry, copies and settings beyond all limits.
fn scenes() -> Vec<Case> {
    let soft = |geometry: &str| {
        format!("[bodies.a]\nkind='soft'\nmaterial='jelly'\nmodel='shape_matching'\ngeometry={geometry}\n")
    };
    let rigid = |rest: &str| format!("[bodies.a]\nkind='dynamic'\nshape={{kind='ball',radius=0.1}}\n{rest}\n");
    let texts = [
        ("cells", soft("{kind='block',cells=[4294967295,4294967295,4294967295],size=[1,1,1]}")),
        ("cells that multiply", soft("{kind='block',cells=[100000,100000,100000],size=[1,1,1]}")),
        ("cells of a ball", soft("{kind='ball',radius=1,cells=4000000000}")),
        ("cells of a sheet", soft("{kind='sheet',cells=[65536,65536],size=[1,1]}")),
        ("segments", soft("{kind='rope',from=[0,0,0],to=[1,0,0],segments=4294967295}")),
        ("a filling", soft("{kind='fill',surface={kind='ball',radius=0.1,cells=2},tets=1e18}")),
        ("copies", rigid("repeat={count=[4294967295,4294967295,1],step=[1,0,0]}")),
        ("copies that multiply", rigid("repeat={count=[1000,1000,1000],step=[1,0,0]}")),
        ("substeps", "[settings]\nsubsteps=4294967295\n".to_owned()),
        ("sweeps", "[settings]\nsweeps=4294967295\n".to_owned()),
        ("threads", "[settings]\nthreads=4294967295\n".to_owned()),
        (
            "a height field",
            "[bodies.a]\nkind='fixed'\nshape={kind='height_field',heights=[0,0],rows=4294967295,scale=[1,1,1]}\n"
                .to_owned(),
        ),
        ("a parameter in a parameter", "[parameters]\na='$b'\nb='$a'\n[bodies.x]\nkind='$a'\n".to_owned()),
    ];
    let mut all: Vec<Case> =
        texts.into_iter().map(|(name, text)| scene(format!("toml, {name}"), Syntax::Toml, text)).collect();
    // a list of a thousand, referenced a thousand times in a list that is referenced a thousand times
    let list = format!("[{}]", "0,".repeat(1000));
    let names = |name: &str| format!("[{}]", format!("'${name}',").repeat(1000));
    let laughs = format!("[parameters]\na={list}\n[bodies.x]\nkind='particles'\npositions={}\n", names("a"));
    all.push(scene("toml, a parameter a thousand times", Syntax::Toml, laughs));
    all
}

/// Files that include each other: a cycle, and a tree in which every file is included twice.
fn includes() -> Vec<Case> {
    let folder = std::env::temp_dir().join(format!("sinew-gates-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join(name), text))
            .expect("a place to write")
    };
    write("round.toml", "include = ['round.toml']\n");
    for i in 0..40 {
        write(&format!("twice{i}.toml"), &format!("include = ['twice{0}.toml', 'twice{0}.toml']\n", i + 1));
        write(&format!("deep{i}.toml"), &format!("include = ['deep{}.toml']\n", i + 1));
    }
    write("twice40.toml", "");
    write("deep40.toml", "");
    let wide: Vec<String> = (0..1000).map(|_| "'twice40.toml'".to_owned()).collect();
    write("wide.toml", &format!("include = [{}]\n", wide.join(", ")));
    let case = |name: &str, file: &str| {
        let path = folder.join(file);
        Case { name: name.to_owned(), bytes: Vec::new(), share: SHARE, read: Box::new(move |_| read(&path).is_ok()) }
    };
    vec![
        case("include, a circle", "round.toml"),
        case("include, 2^40 files", "twice0.toml"),
        case("include, 40 deep", "deep0.toml"),
        case("include, a file a thousand times", "wide.toml"),
    ]
}

/// Saves with false lengths and matching checksums.
fn saves() -> Vec<Case> {
    let world = small_world();
    let save = sinew_wire::save(&world).expect("nothing of its own");
    let header = 10 + usize::from(save[9]);
    let mut all = Vec::new();
    for claim in [u64::from(u32::MAX), 1 << 32, u64::MAX >> 1, u64::MAX] {
        // the length of the first section
        let mut bytes = save.clone();
        bytes[header + 8 + 1..header + 8 + 9].copy_from_slice(&claim.to_le_bytes());
        let read = |bytes: &[u8]| sinew_wire::load(&sealed(bytes)).is_ok();
        all.push(Case { name: format!("save, a section of {claim} bytes"), bytes, share: SHARE, read: Box::new(read) });
    }
    // counts inside a section: every run of five bytes in turn is replaced by the largest count that can be encoded
    for at in (header + 21..save.len().min(header + 421)).step_by(16) {
        let mut bytes = save.clone();
        bytes.splice(at..at + 1, [0xff, 0xff, 0xff, 0xff, 0x0f]);
        let read = |bytes: &[u8]| {
            _ = sinew_wire::load(&sealed(bytes));
            false
        };
        all.push(Case {
            name: format!("save, a count of 2^32 at byte {at}"),
            bytes,
            share: SHARE,
            read: Box::new(read),
        });
    }
    all
}
