//! Damaged and hostile files: a mesh or a typed error, never a panic, never excessive memory, and in bounded time.

mod common;

use common::{cube, two_tets};
use sinew_mesh::{Encoding, Format, Mesh, inspect, read_bytes, repair, write_bytes};
use std::time::{Duration, Instant};

/// A sample of every format and encoding.
fn samples() -> Vec<(Format, Vec<u8>)> {
    let (solid, surface) = (two_tets(), cube());
    let mut samples = Vec::new();
    for (format, _) in Format::ALL {
        for encoding in [Encoding::Text, Encoding::Binary] {
            for mesh in [&solid, &surface] {
                if let Ok(bytes) = write_bytes(mesh, format, encoding) {
                    samples.push((format, bytes));
                }
            }
        }
    }
    let msh4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n\
                $EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";
    let msh1 = "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n";
    let vtk5 = "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n\
                CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n";
    samples.extend([msh4, msh1].map(|text| (Format::Msh, text.as_bytes().to_vec())));
    samples.push((Format::Vtk, vtk5.as_bytes().to_vec()));
    samples.push((Format::TetGen, b"4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n".to_vec()));
    samples
}

/// Reads arbitrary bytes; an accepted mesh must pass inspection without a panic.
fn try_read(bytes: &[u8], format: Format) -> Option<Mesh> {
    let begin = Instant::now();
    let mesh = read_bytes(bytes, format, "hostile.node").ok();
    if let Some(mesh) = &mesh {
        let count = mesh.vertices.len() as u32;
        assert!(mesh.triangles.iter().flatten().chain(mesh.tets.iter().flatten()).all(|&i| i < count));
        assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()));
    }
    assert!(begin.elapsed() < Duration::from_secs(10), "{format:?} took {:?}", begin.elapsed());
    mesh
}

#[test]
fn files_cut_short_anywhere_are_read_or_refused() {
    for (format, bytes) in samples() {
        for length in 0..bytes.len() {
            try_read(&bytes[..length], format);
        }
    }
}

#[test]
fn files_with_any_byte_damaged_are_read_or_refused() {
    let mut read = 0;
    for (format, bytes) in samples() {
        for at in 0..bytes.len() {
            let flips = (0..8).map(|bit| bytes[at] ^ (1 << bit));
            for value in flips.chain([0, 0xff, b'9', b'-', b' ', b'\n']) {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                if let Some(mesh) = try_read(&damaged, format) {
                    read += 1;
                    // every hundredth accepted mesh goes through all later stages
                    if read % 100 == 0 {
                        inspect(&mesh);
                        inspect(&repair(&mesh, None).mesh);
                        _ = mesh.tet_mesh();
                        _ = mesh.tri_mesh();
                    }
                }
            }
        }
    }
    assert!(read > 1000, "most damage to a coordinate leaves a mesh: {read}");
}

#[test]
fn files_with_a_duplicated_or_missing_part_are_read_or_refused() {
    for (format, bytes) in samples() {
        for at in (0..bytes.len()).step_by(3) {
            for length in [1, 4, 17] {
                let end = (at + length).min(bytes.len());
                let doubled = [&bytes[..end], &bytes[at..]].concat();
                let lost = [&bytes[..at], &bytes[end..]].concat();
                try_read(&doubled, format);
                try_read(&lost, format);
            }
        }
    }
}

#[test]
fn headers_with_excessive_counts_are_refused_at_once() {
    let head = "ply\nformat binary_little_endian 1.0\nelement";
    let ply = |middle: &str| format!("{head} {middle}\nend_header\n").into_bytes();
    let mut stl = vec![b' '; 80];
    stl.extend(u32::MAX.to_le_bytes());
    stl.extend([0; 50]);
    let cases: Vec<(Format, Vec<u8>)> = vec![
        (Format::Ply, ply("vertex 1000000000000\nproperty float x\nproperty float y\nproperty float z")),
        (Format::Ply, ply("vertex 1000000000000")),
        (Format::Ply, ply("face 1000000000\nproperty list uint int vertex_indices")),
        (Format::Ply, b"ply\nformat ascii 1.0\nelement thing 1000000000000\nend_header\n".to_vec()),
        (Format::Stl, stl),
        (Format::Msh, b"$NOD\n1000000000000\n".to_vec()),
        (Format::Msh, b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n3 1 0 1000000000000\n".to_vec()),
        (Format::Msh, b"$NOD\n1\n1 0 0 0\n$ENDNOD\n$ELM\n99999999999999999999\n".to_vec()),
        (Format::TetGen, b"1000000000000 3 0 0\n".to_vec()),
        (
            Format::Vtk,
            b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 1000000000000 float\n".to_vec(),
        ),
        (Format::Vtk, b"# vtk DataFile Version 3.0\nt\nASCII\nFIELD f 1\na 3 3 int\n".to_vec()),
        (Format::Medit, b"MeshVersionFormatted 2\nDimension 3\nVertices 1000000000000\n".to_vec()),
        (Format::Glb, b"glTF\x02\0\0\0\x01\0\0\0".to_vec()),
        (Format::Glb, b"glTF\x02\0\0\0\xff\xff\xff\xff".to_vec()),
    ];
    for (format, bytes) in cases {
        let begin = Instant::now();
        let refused = read_bytes(&bytes, format, "claims");
        assert!(refused.is_err(), "{format:?} {}", String::from_utf8_lossy(&bytes));
        assert!(begin.elapsed() < Duration::from_secs(2), "{format:?}");
    }
}

#[test]
fn a_short_gltf_file_cannot_expand_to_a_large_mesh() {
    let text = String::from_utf8(write_bytes(&cube(), Format::Gltf, Encoding::Usual).unwrap()).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    // 300,000 instances of a mesh of many primitives
    let one = json["meshes"][0]["primitives"][0].clone();
    json["meshes"][0]["primitives"] = vec![one; 200].into();
    json["nodes"] = vec![serde_json::json!({ "mesh": 0 }); 5000].into();
    json["scenes"][0]["nodes"] = (0..5000).collect::<Vec<u32>>().into();
    let refused = read_bytes(json.to_string().as_bytes(), Format::Gltf, "copies").unwrap_err();
    assert!(refused.to_string().contains("from a file so short"), "{refused}");
}

/// A binary glTF of this JSON and these bytes.
fn glb(json: &serde_json::Value, bin: &[u8]) -> Vec<u8> {
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, data) in [(b"JSON", json.to_string().as_bytes()), (b"BIN\0", bin)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    out
}

#[test]
fn many_references_to_the_same_bytes_cost_no_more_than_one() {
    let begin = Instant::now();
    // 30,000 buffers that all refer to the one binary chunk of 1 MB
    let mut json = serde_json::json!({ "asset": { "version": "2.0" } });
    json["buffers"] = vec![serde_json::json!({ "byteLength": 1 }); 30_000].into();
    assert!(read_bytes(&glb(&json, &[0; 1_000_000]), Format::Glb, "buffers").is_err());

    // 2,000 pieces whose points are all the same 240 kB of appended data
    let array = |kind: &str, name: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"0\"/>")
    };
    let none = |name: &str| format!("<DataArray type=\"Int32\" Name=\"{name}\" format=\"ascii\"></DataArray>");
    let piece = format!(
        "<Piece><Points>{}</Points><Cells>{}{}{}</Cells></Piece>",
        array("Float64", "Points"),
        none("connectivity"),
        none("offsets"),
        none("types")
    );
    let mut vtu = format!("<VTKFile type=\"UnstructuredGrid\">{}<AppendedData>_", piece.repeat(2000)).into_bytes();
    vtu.extend(240_000u32.to_le_bytes());
    vtu.extend([0; 240_000]);
    let refused = read_bytes(&vtu, Format::Vtu, "pieces").unwrap_err().to_string();
    assert!(refused.contains("more than the file has"), "{refused}");

    // one polygon of 50,000 corners whose type is given 5,000 times
    let mut vtk =
        String::from("# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\n");
    vtk.push_str(&format!("CELLS 1 50001\n50000{}\n", " 0".repeat(50_000)));
    vtk.push_str(&"CELL_TYPES 1\n7\n".repeat(5000));
    assert!(read_bytes(vtk.as_bytes(), Format::Vtk, "types").is_err());
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn gltf_reads_only_files_of_its_own_folder() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf");
    std::fs::create_dir_all(&folder).unwrap();
    let text = String::from_utf8(write_bytes(&cube(), Format::Gltf, Encoding::Usual).unwrap()).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for uri in ["../secret.bin", "/etc/passwd", "missing.bin"] {
        json["buffers"][0]["uri"] = uri.into();
        std::fs::write(folder.join("a.gltf"), json.to_string()).unwrap();
        let refused = sinew_mesh::read(folder.join("a.gltf")).unwrap_err().to_string();
        assert!(refused.contains(uri), "{refused}");
        assert_eq!(uri == "missing.bin", !refused.contains("plain name"), "{refused}");
    }
}
