//! Invariants of closed meshes, for every primitive.

use super::*;
use std::f64::consts::PI;

/// Vertices − edges + triangles of a surface of which every edge has two triangles in opposite directions.
fn euler(mesh: &TriMesh) -> i64 {
    let mut edges: Vec<[u32; 2]> = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    assert!(edges.windows(2).all(|pair| pair[0] != pair[1]), "an edge is passed twice in one direction");
    for &[a, b] in &edges {
        assert!(edges.binary_search(&[b, a]).is_ok(), "open at {a}, {b}");
    }
    mesh.vertices.len() as i64 - edges.len() as i64 / 2 + mesh.triangles.len() as i64
}

/// Smallest and largest dihedral angle [deg].
fn dihedrals(mesh: &TetMesh) -> (f64, f64) {
    let (mut low, mut high) = (180.0_f64, 0.0_f64);
    for tet in &mesh.tets {
        let p = tet.map(|i| mesh.vertices[i as usize]);
        for (i, j) in (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))) {
            // the edge between the two other corners
            let rest: Vec<usize> = (0..4).filter(|&k| k != i && k != j).collect();
            let along = (p[rest[1]] - p[rest[0]]).normalize();
            let [u, v] = [i, j].map(|k| {
                let from = p[k] - p[rest[0]];
                (from - along * from.dot(along)).normalize()
            });
            let angle = (u.dot(v) as f64).clamp(-1.0, 1.0).acos().to_degrees();
            (low, high) = (low.min(angle), high.max(angle));
        }
    }
    (low, high)
}

/// A sixth of the sum of determinants, in f64: the sum of many f32 would have an error larger than that of the chords.
fn volume_of<const N: usize>(vertices: &[Vec3], corners: &[[u32; N]]) -> f64 {
    let wide = |i: u32| vertices[i as usize].to_array().map(|x| x as f64);
    let six = |c: &[u32; N]| {
        // a triangle forms a tetrahedron with the origin
        let apex = if N == 4 { wide(c[N - 1]) } else { [0.0; 3] };
        let [a, b, d] = [c[0], c[1], c[2]].map(|i| std::array::from_fn::<f64, 3, _>(|k| wide(i)[k] - apex[k]));
        let det = a[0] * (b[1] * d[2] - b[2] * d[1]) - a[1] * (b[0] * d[2] - b[2] * d[0])
            + a[2] * (b[0] * d[1] - b[1] * d[0]);
        if N == 4 { -det } else { det }
    };
    corners.iter().map(six).sum::<f64>() / 6.0
}

fn solid_volume(mesh: &TetMesh) -> f64 {
    volume_of(&mesh.vertices, &mesh.tets)
}

fn enclosed_volume(mesh: &TriMesh) -> f64 {
    volume_of(&mesh.vertices, &mesh.triangles)
}

struct Solid {
    name: &'static str,
    /// Tetrahedra and surface at a given resolution.
    make: fn(u32) -> (TetMesh, TriMesh),
    volume: f64,
    euler: i64,
}

fn solids() -> [Solid; 4] {
    [
        Solid {
            name: "ball",
            make: |n| (TetMesh::ball(0.5, n).unwrap(), TriMesh::ball(0.5, n).unwrap()),
            volume: PI / 6.0,
            euler: 2,
        },
        Solid {
            name: "cylinder",
            make: |n| (TetMesh::cylinder(0.3, 1.2, n).unwrap(), TriMesh::cylinder(0.3, 1.2, n).unwrap()),
            volume: PI * 0.09 * 1.2,
            euler: 2,
        },
        Solid {
            name: "torus",
            make: |n| (TetMesh::torus(0.5, 0.2, n).unwrap(), TriMesh::torus(0.5, 0.2, n).unwrap()),
            volume: 2.0 * PI * PI * 0.5 * 0.04,
            euler: 0,
        },
        Solid {
            name: "tube",
            make: |n| (TetMesh::tube([0.3, 0.5], 0.8, n).unwrap(), TriMesh::tube([0.3, 0.5], 0.8, n).unwrap()),
            volume: PI * 0.16 * 0.8,
            euler: 0,
        },
    ]
}

#[test]
fn solids_have_positive_volumes_and_no_sharp_dihedral_angles() {
    for solid in solids() {
        for cells in 1..=6 {
            let (tets, _) = (solid.make)(cells);
            tets.check().unwrap_or_else(|e| panic!("{} of {cells}: {e}", solid.name));
            let (low, high) = dihedrals(&tets);
            assert!(low > 15.0 && high < 165.0, "{} of {cells}: {low} to {high} degrees", solid.name);
        }
    }
}

#[test]
fn the_surface_is_the_boundary_of_the_solid() {
    for solid in solids() {
        for cells in [1, 2, 3, 5] {
            let (tets, surface) = (solid.make)(cells);
            surface.check().unwrap();
            assert_eq!(euler(&surface), solid.euler, "{} of {cells}", solid.name);
            assert_eq!(euler(&tets.boundary()), solid.euler, "{} of {cells}", solid.name);
            assert_eq!(surface.triangles.len(), tets.boundary().triangles.len(), "{} of {cells}", solid.name);
            let (inside, outside) = (solid_volume(&tets), enclosed_volume(&surface));
            assert!((inside / outside - 1.0).abs() < 1e-6, "{} of {cells}: {inside} {outside}", solid.name);
        }
    }
}

#[test]
fn volumes_converge_with_the_square_of_the_cell() {
    for solid in solids() {
        let error = |cells| 1.0 - solid_volume(&(solid.make)(cells).0) / solid.volume;
        let (coarse, fine) = (error(4), error(8));
        assert!(fine > 0.0 && fine < 0.02, "{}: {fine}", solid.name);
        assert!((3.3..4.7).contains(&(coarse / fine)), "{}: {coarse} {fine}", solid.name);
    }
}

#[test]
fn a_block_has_a_closed_surface_without_inner_vertices() {
    let surface = TriMesh::block([3, 4, 5], Vec3::new(0.3, 0.4, 0.5)).unwrap();
    assert_eq!(euler(&surface), 2);
    assert_eq!(surface.vertices.len(), 4 * 5 * 6 - 2 * 3 * 4);
    assert!((surface.volume() - 0.06).abs() < 1e-6);
}

#[test]
fn a_sheet_and_a_disc_face_upward_and_have_their_area() {
    let disc = TriMesh::disc(0.5, 12).unwrap();
    let sheets = [Diagonals::Parallel, Diagonals::Alternating].map(|d| TriMesh::sheet([6, 4], [0.6, 0.4], d).unwrap());
    assert_eq!(sheets[0].triangles.len(), 48);
    assert_ne!(sheets[0].triangles, sheets[1].triangles);
    let [parallel, alternating] = sheets;
    for (mesh, area, tolerance) in [(parallel, 0.24, 1e-6), (alternating, 0.24, 1e-6), (disc, PI as Real * 0.25, 1e-2)]
    {
        mesh.check().unwrap();
        let sum: Real = (0..mesh.triangles.len()).map(|t| mesh.area(t)).sum();
        assert!((sum / area - 1.0).abs() < tolerance, "{sum} {area}");
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            assert!((b - a).cross(c - a).y > 0.0);
        }
    }
}

#[test]
fn alternating_diagonals_meet_at_every_other_vertex() {
    let sheet = TriMesh::sheet([4, 4], [1.0, 1.0], Diagonals::Alternating).unwrap();
    let mut valence = [0; 25];
    sheet.triangles.iter().flatten().for_each(|&i| valence[i as usize] += 1);
    // interior vertices: eight triangles or four, alternating
    for j in 1..4 {
        for i in 1..4 {
            assert_eq!(valence[i + 5 * j], if (i + j) % 2 == 0 { 8 } else { 4 });
        }
    }
}

#[test]
fn the_strip_of_25_pairs_has_the_edges_of_the_teapot_scene() {
    let strip = TriMesh::strip(2.4, 0.1, 25).unwrap();
    strip.check().unwrap();
    assert_eq!((strip.vertices.len(), strip.triangles.len()), (50, 48));
    let mut edges: Vec<[u32; 2]> = strip
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)]))
        .collect();
    let all = edges.len();
    edges.sort_unstable();
    edges.dedup();
    // ICD fig. 4: 97 edges, of which 47 have two triangles
    assert_eq!((edges.len(), all - edges.len()), (97, 47));
    for t in 0..48 {
        let [a, b, c] = strip.corners(t);
        assert!((b - a).cross(c - a).y > 0.0);
    }
}

#[test]
fn a_rope_has_equal_segments() {
    let rope = Polyline::rope(Vec3::ZERO, Vec3::new(0.0, -2.0, 0.0), 8).unwrap();
    assert_eq!((rope.points.len(), rope.segments.len()), (9, 8));
    for [a, b] in rope.segments {
        let length = (rope.points[b as usize] - rope.points[a as usize]).length();
        assert!((length - 0.25).abs() < 1e-6);
    }
}

type Make = fn(Real, u32) -> Result<TriMesh, PrimitiveError>;

#[test]
fn organ_and_teapot_are_closed_and_their_volume_converges() {
    // the teapot's handle makes its genus 1
    let shapes: [(Make, i64); 2] = [(TriMesh::organ, 2), (TriMesh::teapot, 0)];
    for (make, expected) in shapes {
        let volumes = [20, 40, 80].map(|cells| {
            let mesh = make(0.2, cells).unwrap();
            mesh.check().unwrap();
            assert_eq!(euler(&mesh), expected, "{cells}");
            let (low, high) = mesh.vertices.iter().fold((Real::MAX, Real::MIN), |(l, h), v| (l.min(v.x), h.max(v.x)));
            assert!((high - low - 0.2).abs() < 0.02, "{low} {high}");
            enclosed_volume(&mesh)
        });
        // chords: the error decreases by a factor of four when the cell halves
        let (first, second) = (volumes[1] - volumes[0], volumes[2] - volumes[1]);
        assert!(volumes[2] > 0.0 && second.abs() < 0.5 * first.abs(), "{volumes:?}");
        assert!(second.abs() < 0.01 * volumes[2], "{volumes:?}");
    }
}

#[test]
fn invalid_parameters_are_rejected_with_their_name() {
    let name = |e: PrimitiveError| (e.shape, e.parameter);
    assert_eq!(name(TetMesh::ball(0.0, 3).unwrap_err()), ("ball", "radius"));
    assert_eq!(name(TetMesh::cylinder(1.0, Real::NAN, 3).unwrap_err()), ("cylinder", "height"));
    assert_eq!(name(TetMesh::torus(1.0, 1.0, 3).unwrap_err()), ("torus", "tube_radius"));
    assert_eq!(name(TriMesh::tube([0.5, 0.4], 1.0, 3).unwrap_err()), ("tube", "inner_radius"));
    assert_eq!(name(TriMesh::sheet([3, 0], [1.0, 1.0], Diagonals::Parallel).unwrap_err()), ("sheet", "cells"));
    assert_eq!(name(TriMesh::strip(1.0, 0.1, 1).unwrap_err()), ("strip", "pairs"));
    assert_eq!(name(Polyline::rope(Vec3::ZERO, Vec3::ZERO, 3).unwrap_err()), ("rope", "length"));
    let error = TriMesh::teapot(0.2, 4).unwrap_err();
    assert_eq!(error.to_string(), "teapot.cells: 4, must be 8 to 1000");
}
