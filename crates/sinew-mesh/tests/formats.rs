//! Every format: a round trip preserves the mesh, and files in the style of other programs are read.

mod common;

use common::{cube, two_tets};
use sinew_mesh::{Encoding, Format, Mesh, MeshError, Place, inspect, read, read_bytes, write, write_bytes};

fn parse(text: &str, format: Format) -> Result<Mesh, MeshError> {
    read_bytes(text.as_bytes(), format, "sample")
}

/// The message of a refusal, with its position.
fn refusal(text: &str, format: Format) -> (Place, String) {
    match parse(text, format) {
        Err(MeshError::Bad { place, what, .. }) => (place, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_round_trip_preserves_volume_meshes() {
    let mesh = two_tets();
    for format in [Format::Msh, Format::Vtk, Format::Vtu, Format::Medit] {
        for encoding in [Encoding::Usual, Encoding::Text, Encoding::Binary] {
            let bytes = write_bytes(&mesh, format, encoding).unwrap();
            assert_eq!(read_bytes(&bytes, format, "again").unwrap(), mesh, "{format:?} {encoding:?}");
        }
    }
}

#[test]
fn a_round_trip_preserves_surface_meshes() {
    let mesh = cube();
    let formats = [Format::Obj, Format::Ply, Format::Msh, Format::Vtk, Format::Vtu, Format::Medit];
    for format in formats {
        for encoding in [Encoding::Usual, Encoding::Text, Encoding::Binary] {
            let bytes = write_bytes(&mesh, format, encoding).unwrap();
            assert_eq!(read_bytes(&bytes, format, "again").unwrap(), mesh, "{format:?} {encoding:?}");
        }
    }
}

#[test]
fn formats_without_shared_vertices_are_read_as_closed_surfaces() {
    let mesh = cube();
    for format in [Format::Stl, Format::Gltf, Format::Glb] {
        for encoding in [Encoding::Text, Encoding::Binary] {
            let bytes = write_bytes(&mesh, format, encoding).unwrap();
            let report = inspect(&read_bytes(&bytes, format, "again").unwrap());
            assert_eq!((report.vertices, report.triangles, report.closed), (8, 12, true), "{format:?} {encoding:?}");
            assert!((report.volume.unwrap() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn surface_formats_store_the_boundary_of_the_tetrahedra() {
    let bytes = write_bytes(&two_tets(), Format::Obj, Encoding::Usual).unwrap();
    let report = inspect(&read_bytes(&bytes, Format::Obj, "again").unwrap());
    assert_eq!((report.triangles, report.tets, report.closed), (6, 0, true));
}

#[test]
fn text_formats_preserve_all_digits() {
    let mut mesh = cube();
    mesh.vertices[7] = [0.1 + 0.2, 1e-300, -1.0 / 3.0];
    for format in [Format::Obj, Format::Ply, Format::Msh, Format::Vtk, Format::Vtu, Format::Medit] {
        let bytes = write_bytes(&mesh, format, Encoding::Text).unwrap();
        assert_eq!(read_bytes(&bytes, format, "again").unwrap().vertices, mesh.vertices, "{format:?}");
    }
}

#[test]
fn tetgen_files_are_read_by_their_common_name() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tetgen");
    std::fs::create_dir_all(&folder).unwrap();
    let mesh = two_tets();
    write(folder.join("pair.node"), &mesh).unwrap();
    for ending in ["node", "ele", "face"] {
        assert_eq!(read(folder.join("pair").with_extension(ending)).unwrap(), mesh, "{ending}");
    }
    // indices from 0, with attributes, comments and a marker, and elements alone
    std::fs::write(folder.join("zero.node"), "# points\n4 3 1 1\n0 0 0 0 7 1\n1 1 0 0 7 1\n2 0 1 0 7 1\n3 0 0 1 7 1\n")
        .unwrap();
    std::fs::write(folder.join("zero.ele"), "1 4 1\n0  0 1 2 3  5\n").unwrap();
    let zero = read(folder.join("zero.ele")).unwrap();
    assert_eq!((zero.tets, zero.vertices.len()), (vec![[0, 1, 2, 3]], 4));
    // an error in the other file is reported with its name
    std::fs::write(folder.join("zero.ele"), "1 4 1\n0  0 1 2 9  5\n").unwrap();
    let message = read(folder.join("zero.node")).unwrap_err().to_string();
    assert!(message.contains("zero.ele, line 2") && message.contains("point 9"), "{message}");
}

#[test]
fn obj_with_polygons_negative_indices_textures_and_continued_lines_is_read() {
    let text = "mtllib a.mtl\no pad\nv 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\nvt 0 0\nvn 0 0 1\nv 0 1 0\n\
                usemtl x\ns off\nf 1/1/1 2//1 \\\n 3/1 -1\nl 1 2\n";
    let mesh = parse(text, Format::Obj).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!((mesh.notes.polygons, mesh.notes.left_out.get("line")), (1, Some(&1)));
}

#[test]
fn all_solids_of_an_stl_file_are_read() {
    let facet = "facet normal nan nan nan\nouter loop\nvertex 0 0 Z\nvertex 1 0 Z\nvertex 0 1 Z\nendloop\nendfacet\n";
    let solid = |z: &str| format!("solid\n{}endsolid\n", facet.replace('Z', z));
    let mesh = parse(&format!("{}{}", solid("0"), solid("1")), Format::Stl).unwrap();
    assert_eq!((mesh.triangles.len(), mesh.vertices.len()), (2, 6));
}

#[test]
fn ply_of_all_encodings_and_extra_properties_is_read() {
    let head = |encoding: &str| {
        format!(
            "ply\nformat {encoding} 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n\
             property float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\n\
             element edge 1\nproperty int a\nend_header\n"
        )
    };
    let text = head("ascii") + "0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n4 0 1 2 3\n5\n";
    let expected = parse(&text, Format::Ply).unwrap();
    assert_eq!(expected.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(expected.notes.left_out.get("edge"), Some(&1));
    for (encoding, big) in [("binary_little_endian", false), ("binary_big_endian", true)] {
        let flat = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        let mut bytes = head(encoding).into_bytes();
        let order = |word: [u8; 4]| if big { [word[3], word[2], word[1], word[0]] } else { word };
        for v in flat.chunks(3) {
            bytes.extend(v.iter().flat_map(|x| order(x.to_le_bytes())));
            bytes.push(9);
        }
        bytes.push(4);
        bytes.extend([0i32, 1, 2, 3, 5].iter().flat_map(|i| order(i.to_le_bytes())));
        assert_eq!(read_bytes(&bytes, Format::Ply, "binary").unwrap(), expected, "{encoding}");
    }
}

const MSH1: &str = "$NOD\n4\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n$ENDNOD\n$ELM\n2\n1 4 1 1 4 10 20 30 40\n\
                    2 15 1 1 1 10\n$ENDELM\n";
const MSH2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all of it\"\n$EndPhysicalNames\n\
                    $Nodes\n4\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n$EndNodes\n$Elements\n2\n\
                    1 4 2 0 1 10 20 30 40\n2 15 2 0 1 10\n$EndElements\n";
const MSH4: &str = "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 4\n1 3 0 4\n10 0 0 0\n20 1 0 0\n30 0 1 0\n\
                    40 0 0 1\n$EndNodes\n$Elements\n2 2\n1 3 4 1\n1 10 20 30 40\n1 0 15 1\n2 10\n$EndElements\n";
const MSH41: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n$Nodes\n2 4 10 40\n\
                     2 1 1 1\n10\n0 0 0 0.5 0.5\n3 1 0 3\n20\n30\n40\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n\
                     $Elements\n2 2 1 2\n3 1 4 1\n1 10 20 30 40\n0 1 15 1\n2 10\n$EndElements\n";

#[test]
fn all_versions_of_msh_give_the_same_mesh() {
    let expected = parse(MSH1, Format::Msh).unwrap();
    assert_eq!((expected.tets.as_slice(), expected.notes.left_out.get("point")), (&[[0, 1, 2, 3]][..], Some(&1)));
    for text in [MSH2, MSH4, MSH41] {
        assert_eq!(parse(text, Format::Msh).unwrap(), expected, "{text}");
    }
}

/// Version 4.1 in binary, assembled by hand.
fn msh41_binary(big: bool) -> Vec<u8> {
    let int = |n: i32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let long = |n: u64| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let real = |x: f64| if big { x.to_be_bytes() } else { x.to_le_bytes() };
    let mut out = b"$MeshFormat\n4.1 1 8\n".to_vec();
    out.extend(int(1));
    out.extend(b"\n$EndMeshFormat\n$Nodes\n");
    out.extend([1, 4, 10, 40].into_iter().flat_map(long));
    out.extend([3, 1, 0].into_iter().flat_map(int));
    out.extend([4, 10, 20, 30, 40].into_iter().flat_map(long));
    out.extend([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].into_iter().flat_map(real));
    out.extend(b"\n$EndNodes\n$Elements\n");
    out.extend([2, 2, 1, 2].into_iter().flat_map(long));
    out.extend([3, 1, 4].into_iter().flat_map(int));
    out.extend([1, 1, 10, 20, 30, 40].into_iter().flat_map(long));
    out.extend([0, 1, 15].into_iter().flat_map(int));
    out.extend([1, 2, 10].into_iter().flat_map(long));
    out.extend(b"\n$EndElements\n");
    out
}

#[test]
fn binary_msh_of_both_orders_is_read() {
    let expected = parse(MSH1, Format::Msh).unwrap();
    for big in [false, true] {
        assert_eq!(read_bytes(&msh41_binary(big), Format::Msh, "binary").unwrap(), expected, "{big}");
    }
}

#[test]
fn elements_of_higher_order_are_reduced_to_their_corners() {
    let mut text =
        String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n1 0 0 0\n2 2 0 0\n3 0 2 0\n4 0 0 2\n");
    for (i, at) in ["1 0 0", "1 1 0", "0 1 0", "0 0 1", "0 1 1", "1 0 1"].iter().enumerate() {
        text.push_str(&format!("{} {at}\n", i + 5));
    }
    text.push_str("$EndNodes\n$Elements\n1\n1 11 0 1 2 3 4 5 6 7 8 9 10\n$EndElements\n");
    let mesh = parse(&text, Format::Msh).unwrap();
    assert_eq!((mesh.tets.as_slice(), mesh.vertices.len(), mesh.notes.quadratic), (&[[0, 1, 2, 3]][..], 4, 1));
}

#[test]
fn vtk_polygons_and_the_layout_of_version_5_are_read() {
    let poly = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\nTIME 1 1 double\n0\n\
                POINTS 4 float\n0 0 0 1 0 0\n1 1 0 0 1 0\nPOLYGONS 1 5\n4 0 1 2 3\nPOINT_DATA 4\nSCALARS x float\n";
    assert_eq!(parse(poly, Format::Vtk).unwrap().triangles, [[0, 1, 2], [0, 2, 3]]);
    let new = "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n\
               METADATA\nINFORMATION 0\n\nCELLS 3 7\nOFFSETS vtktypeint64\n0 4 7\nCONNECTIVITY vtktypeint64\n0 1 2 3\n0 1 2\n\
               CELL_TYPES 2\n10\n5\n";
    let mesh = parse(new, Format::Vtk).unwrap();
    assert_eq!((mesh.tets.as_slice(), mesh.triangles.as_slice()), (&[[0, 1, 2, 3]][..], &[[0, 1, 2]][..]));
}

#[test]
fn vtu_arrays_may_be_appended_raw_or_as_base64_in_several_pieces() {
    let text = String::from_utf8(write_bytes(&two_tets(), Format::Vtu, Encoding::Text).unwrap()).unwrap();
    let (head, rest) = text.split_once("<Piece").unwrap();
    let (piece, tail) = rest.split_once("</Piece>").unwrap();
    let double = format!("{head}<Piece{piece}</Piece><Piece{piece}</Piece>{tail}");
    let mesh = parse(&double, Format::Vtu).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.tets.len(), mesh.tets[2]), (10, 4, [5, 6, 7, 8]));

    // one tetrahedron: points, connectivity, offsets, types
    let points: Vec<u8> =
        [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let nodes: Vec<u8> = [0i64, 1, 2, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    let blocks = [points, nodes, 4i64.to_le_bytes().to_vec(), vec![10]];
    for (base64, apart) in [(false, false), (true, false), (true, true)] {
        let mut offsets = Vec::new();
        let mut data = Vec::new();
        for block in &blocks {
            offsets.push(data.len());
            let head = (block.len() as u32).to_le_bytes();
            let whole = [&head, block.as_slice()].concat();
            data.extend(match (base64, apart) {
                (false, _) => whole,
                (true, false) => encode(&whole).into_bytes(),
                (true, true) => (encode(&head) + &encode(block)).into_bytes(),
            });
        }
        let array = |kind: &str, name: &str, i: usize| {
            format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"{}\"/>", offsets[i])
        };
        let mut file = format!(
            "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid><Piece><PointData>\
             </PointData><Points>{}</Points><Cells>{}{}{}</Cells></Piece></UnstructuredGrid>\
             <AppendedData encoding=\"{}\">\n  _",
            array("Float32", "Points", 0),
            array("Int64", "connectivity", 1),
            array("Int64", "offsets", 2),
            array("UInt8", "types", 3),
            if base64 { "base64" } else { "raw" }
        )
        .into_bytes();
        file.extend(data);
        file.extend(b"\n</AppendedData></VTKFile>");
        let mesh = read_bytes(&file, Format::Vtu, "appended").unwrap();
        assert_eq!((mesh.tets.as_slice(), mesh.vertices[3]), (&[[0, 1, 2, 3]][..], [0.0, 0.0, 1.0]), "{base64}");
    }
}

/// Base64 encoder for samples.
fn encode(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let sign = SIGNS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { sign as char } else { '=' });
        }
    }
    out
}

#[test]
fn gltf_nodes_transform_and_mirror_their_meshes() {
    let text = String::from_utf8(write_bytes(&cube(), Format::Gltf, Encoding::Usual).unwrap()).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["nodes"] = serde_json::json!([
        { "children": [1, 2], "translation": [10.0, 0.0, 0.0] },
        { "mesh": 0, "scale": [2.0, 1.0, 1.0] },
        { "mesh": 0, "scale": [-1.0, 1.0, 1.0] },
    ]);
    let report = inspect(&parse(&json.to_string(), Format::Gltf).unwrap());
    // the mirrored cube touches the stretched one at x = 10, and both face outward
    assert!((report.volume.unwrap() - 3.0).abs() < 1e-12);
    assert_eq!(report.bounds.unwrap(), [[9.0, 0.0, 0.0], [12.0, 1.0, 1.0]]);
    // a cycle of nodes is not a tree
    json["nodes"][1]["children"] = serde_json::json!([0]);
    assert!(refusal(&json.to_string(), Format::Gltf).1.contains("tree"));
}

#[test]
fn unknown_medit_sections_are_skipped() {
    let text = "MeshVersionFormatted 1\n# remark\nDimension\n3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n\
                RequiredVertices\n2\n1\n2\nEdges\n1\n1 2 7\nTetrahedra 1\n1 2 3 4 1\nEnd\n";
    let mesh = parse(text, Format::Medit).unwrap();
    assert_eq!((mesh.tets.as_slice(), mesh.notes.left_out.get("line")), (&[[0, 1, 2, 3]][..], Some(&1)));
}

#[test]
fn errors_contain_position_expectation_and_finding() {
    let cases = [
        (Format::Obj, "v 0 0 0\nv 1 x 0\n", Place::Line(2), "'x'"),
        (Format::Obj, "v 0 0 0\nf 1 1 2\n", Place::Line(2), "names vertex 2"),
        (Format::Obj, "v 0 0 0\nf 1 1 0\n", Place::Line(2), "count from 1"),
        (Format::Obj, "v 0 0 0\nf 1 1/-99 -99\n", Place::Line(2), "corner -99"),
        (Format::Obj, "v 0 0 nan\n", Place::Line(1), "not finite"),
        (
            Format::Stl,
            "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\n",
            Place::Line(5),
            "a vertex",
        ),
        (Format::Msh, "$NOD\n1\n1 0 0 0\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 1 1 2\n", Place::Line(7), "names node 2"),
        (Format::Msh, "$NOD\n2\n1 0 0 0\n1 0 0 0\n$ENDNOD\n", Place::Line(4), "used twice"),
        (Format::Msh, "$MeshFormat\n3 0 8\n", Place::Line(2), "save as 2.2 or 4.1"),
        (Format::Vtk, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n", Place::Line(4), "POLYDATA"),
        (Format::Medit, "MeshVersionFormatted 2\nDimension 2\n", Place::Line(2), "only 3 is read"),
    ];
    for (format, text, place, words) in cases {
        let (found, what) = refusal(text, format);
        assert_eq!(found, place, "{text:?}: {what}");
        assert!(what.contains(words), "{text:?}: {what}");
    }
    let message = read("nowhere/bar.obj").unwrap_err().to_string();
    assert!(message.starts_with("nowhere/bar.obj: "), "{message}");
    let message = read("teapot.3ds").unwrap_err().to_string();
    assert!(message.contains(".msh") && message.contains(".vtu"), "{message}");
}
