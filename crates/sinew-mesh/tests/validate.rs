//! From a foreign mesh to the physics: reports, repair, and strict validation.

mod common;

use common::{cube, two_tets};
use sinew::TetMesh;
use sinew_mesh::{Format, Mesh, ValidationError, inspect, read_bytes, repair};

/// Two tetrahedra with the same id, the second inverted.
const BAD: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 2 2 2\n$EndNodes\n\
                   $Elements\n2\n44 4 2 0 1 1 2 3 4\n44 4 2 0 1 5 2 3 4\n$EndElements\n";

fn bad() -> Mesh {
    read_bytes(BAD.as_bytes(), Format::Msh, "bad.msh").unwrap()
}

#[test]
fn a_valid_block_is_accepted_with_its_volume() {
    let block = TetMesh::block([2, 1, 1], sinew::Vec3::new(0.2, 0.1, 0.1)).unwrap();
    let mesh = Mesh::from(&block);
    let report = inspect(&mesh);
    assert_eq!((report.tets, report.inverted, report.degenerate, report.closed), (12, 0, 0, true));
    assert_eq!((report.components, report.self_intersections, report.turned_edges), (1, 0, 0));
    // sizes are rounded to f32 in the default build
    assert!((report.volume.unwrap() - 2e-3).abs() < 1e-9);
    assert!((report.area - 0.1).abs() < 1e-7);
    // Kuhn's tetrahedra of a cube have dihedral angles of 45, 60 and 90 degrees
    assert!((report.min_dihedral_deg.unwrap() - 45.0).abs() < 1e-4);
    assert!((report.max_dihedral_deg.unwrap() - 90.0).abs() < 1e-4);
    assert!(report.problems().is_empty(), "{:?}", report.problems());
    assert_eq!(mesh.tet_mesh().unwrap(), block);
    assert_eq!(mesh.tri_mesh().unwrap().triangles.len(), block.boundary_faces().len());
}

#[test]
fn repeated_ids_and_inverted_tetrahedra_are_described_and_refused() {
    let mesh = bad();
    let report = inspect(&mesh);
    assert_eq!((report.repeated_ids, report.inverted), (1, 1));
    let Err(ValidationError::Refused { reasons }) = mesh.check_tets() else { panic!("the mesh was accepted") };
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].contains("id 44") && reasons[1].contains("inverted: 1 (volume -"), "{reasons:?}");
    assert!(mesh.tet_mesh().is_err());
}

#[test]
fn repair_makes_an_invalid_mesh_valid_and_reports_its_changes() {
    let fixed = repair(&bad(), None);
    assert!(fixed.did.iter().any(|line| line.contains("inverted")), "{:?}", fixed.did);
    assert!(fixed.did.iter().any(|line| line.contains("id")), "{:?}", fixed.did);
    fixed.mesh.check_tets().unwrap();
    let volumes = |mesh: &Mesh| inspect(mesh).volume.unwrap();
    assert!(volumes(&fixed.mesh) > volumes(&bad()));
    // a second repair changes nothing
    assert_eq!(repair(&fixed.mesh, None).did, Vec::<String>::new());
}

#[test]
fn a_triangle_soup_with_mixed_orientations_becomes_a_closed_cube() {
    let sound = cube();
    let mut soup = Mesh::default();
    for (i, t) in sound.triangles.iter().enumerate() {
        let first = soup.vertices.len() as u32;
        // each triangle has separate vertices, slightly displaced
        soup.vertices.extend(t.map(|v| sound.vertices[v as usize].map(|x| x + 1e-9 * i as f64)));
        soup.triangles.push(if i % 3 == 0 { [first, first + 2, first + 1] } else { [first, first + 1, first + 2] });
    }
    soup.triangles.push([0, 1, 2]);
    soup.triangles.push([0, 0, 1]);
    let before = inspect(&soup);
    assert!(!before.closed && before.degenerate == 1 && before.duplicate == 1);
    let fixed = repair(&soup, Some(1e-6));
    let after = inspect(&fixed.mesh);
    assert_eq!((after.vertices, after.triangles, after.closed, after.turned_edges), (8, 12, true, 0));
    assert!((after.volume.unwrap() - 1.0).abs() < 1e-6);
    assert!(after.problems().is_empty() && fixed.left.is_empty());
}

#[test]
fn the_intersection_of_two_overlapping_cubes_is_detected() {
    let mut mesh = cube();
    assert_eq!(inspect(&mesh).self_intersections, 0);
    let second = cube();
    mesh.triangles.extend(second.triangles.iter().map(|t| t.map(|i| i + 8)));
    mesh.vertices.extend(second.vertices.iter().map(|v| [v[0] + 0.5, v[1] + 0.3, v[2] + 0.4]));
    let report = inspect(&mesh);
    assert!(report.self_intersections > 0 && report.components == 2 && report.closed);
    mesh.vertices[8..].iter_mut().for_each(|v| v[0] += 5.0);
    assert_eq!(inspect(&mesh).self_intersections, 0);
}

#[test]
fn a_mesh_without_tetrahedra_is_refused() {
    assert!(matches!(cube().tet_mesh(), Err(ValidationError::NoTets { triangles: 12 })));
}

#[test]
fn unused_vertices_are_not_passed_to_the_physics() {
    let mut mesh = two_tets();
    mesh.vertices.insert(0, [9.0; 3]);
    mesh.triangles.clear();
    mesh.tets.iter_mut().flatten().for_each(|i| *i += 1);
    assert_eq!(inspect(&mesh).unused_vertices, 1);
    assert_eq!(mesh.tet_mesh().unwrap(), two_tets().tet_mesh().unwrap());
}

#[test]
fn the_json_report_has_the_documented_fields() {
    let json = serde_json::to_value(inspect(&two_tets())).unwrap();
    for field in
        ["vertices", "triangles", "tets", "closed", "volume", "min_dihedral_deg", "inverted", "degenerate", "holes"]
    {
        assert!(!json[field].is_null(), "{field}");
    }
}
