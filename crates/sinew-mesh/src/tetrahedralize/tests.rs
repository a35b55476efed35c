//! Closed test shapes, and surfaces that must be refused.

use super::TetrahedralizeError as Error;
use super::shapes::{ball, cuboid, joined, mesh, torus, turned};
use super::*;
use std::f64::consts::PI;

fn with_size(size: f64) -> Options {
    Options { size: Size::Edge(size), ..Options::default() }
}

/// Options for stuffing without smoothing and snapping.
fn bare(size: f64) -> Options {
    Options { smooth: false, snap: false, ..with_size(size) }
}

fn moved(mut surface: Surface, by: [f64; 3]) -> Surface {
    surface.vertices.iter_mut().for_each(|p| *p = *p + Vector(by));
    surface
}

fn inside_out(mut surface: Surface) -> Surface {
    surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    surface
}

fn plate(thickness: f64) -> Surface {
    turned(cuboid([1.0, 0.8, thickness]), [0.0; 3])
}

fn shapes_at_hand() -> Vec<(&'static str, Surface, f64)> {
    vec![
        ("cube", cuboid([1.0; 3]), 0.17),
        ("turned cube", turned(cuboid([1.0, 0.7, 0.5]), [3.0, -2.0, 1.0]), 0.12),
        ("ball", ball(1.0, 40), 0.25),
        ("torus", turned(torus(1.0, 0.4, 24), [0.1, 0.2, 0.3]), 0.2),
        ("two bodies", joined(&[ball(1.0, 24), moved(torus(1.0, 0.4, 20), [3.0, 0.0, 0.2])]), 0.21),
        ("hollow ball", joined(&[ball(1.0, 40), inside_out(ball(0.5, 24))]), 0.2),
        ("thin plate", plate(0.1), 0.06),
        ("tiny ball", ball(1e-3, 30), 2.4e-4),
    ]
}

#[allow(clippy::useless_conversion)] // f32 or f64
fn wide(p: Vec3) -> Vector {
    Vector(p.to_array().map(f64::from))
}

/// Positive tetrahedra, a closed outward boundary with the same volume, and the intersection_free angles.
fn assert_sound(name: &str, made: &Tetrahedralized, least_angle: f64) {
    let (mesh, quality) = (&made.mesh, &made.quality);
    mesh.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(quality.min_dihedral_deg >= least_angle, "{name}: {quality:?}");
    assert!(quality.max_dihedral_deg <= 164.8, "{name}: {quality:?}");
    assert_eq!(quality.pinched_edges, 0, "{name}");
    let faces = mesh.boundary_faces();
    let mut edges: Vec<[u32; 2]> = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    for &[a, b] in &edges {
        assert!(edges.binary_search(&[b, a]).is_ok(), "{name}: the boundary is open at {a}, {b}");
    }
    let vertices: Vec<Vector> = mesh.vertices.iter().map(|&p| wide(p)).collect();
    let outside = Surface { vertices: vertices.clone(), triangles: faces }.volume();
    let inside = Tets { vertices, tets: mesh.tets.clone() }.volume();
    assert!((outside - inside).abs() < 1e-9 * inside, "{name}: {outside} {inside}");
}

#[test]
fn stuffing_alone_keeps_every_angle_between_its_bounds() {
    for (name, surface, size) in shapes_at_hand() {
        for factor in [1.0, 0.83, 0.61] {
            let made = tetrahedralize(&mesh(&surface), &bare(factor * size)).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_sound(name, &made, 10.7);
        }
    }
}

#[test]
fn vertex_optimization_keeps_every_angle_within_the_bounds() {
    for (name, surface, size) in shapes_at_hand() {
        let smoothed = Options { snap: false, ..with_size(size) };
        let [raw, smooth, snapped] = [bare(size), smoothed, with_size(size)]
            .map(|options| tetrahedralize(&mesh(&surface), &options).unwrap_or_else(|e| panic!("{name}: {e}")));
        assert_sound(name, &smooth, 10.7);
        assert_sound(name, &snapped, 10.7);
        // smoothing does not lower the worst angle, up to rounding of the vertices
        let angle = |made: &Tetrahedralized| made.quality.min_dihedral_deg.min(180.0 - made.quality.max_dihedral_deg);
        assert!(angle(&smooth) > angle(&raw) - 1e-3, "{name}");
    }
}

#[test]
fn organ_and_teapot_are_filled_to_one_percent_of_their_volume() {
    for (name, surface) in [("organ", TriMesh::organ(0.2, 24)), ("teapot", TriMesh::teapot(0.2, 32))] {
        let made = tetrahedralize(&surface.unwrap(), &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_sound(name, &made, 10.7);
        assert!(made.quality.volume_error.abs() < 0.01, "{name}: {:?}", made.quality);
    }
}

#[test]
fn vertices_of_the_boundary_lie_on_the_surface() {
    let surface = turned(torus(1.0, 0.4, 24), [0.1, 0.2, 0.3]);
    let made = tetrahedralize(&mesh(&surface), &with_size(0.2)).unwrap();
    let tree = Tree::build(surface);
    for i in made.mesh.boundary_faces().into_iter().flatten() {
        // both meshes are rounded to f32
        assert!(tree.nearest(wide(made.mesh.vertices[i as usize])).distance < 1e-6);
    }
}

#[test]
fn the_volume_error_of_a_ball_falls_with_the_square_of_the_size() {
    let surface = mesh(&ball(1.0, 120));
    let error = |size: f64| -tetrahedralize(&surface, &with_size(size)).unwrap().quality.volume_error;
    let (coarse, fine) = (error(0.3), error(0.15));
    // chords of a convex shape lie inside; the surface itself has facets of 0.05
    assert!(fine > 0.0 && fine < 0.01, "{fine}");
    assert!((2.8..5.5).contains(&(coarse / fine)), "{coarse} {fine}");
}

#[test]
fn snapping_restores_the_edges_of_a_cube() {
    let surface = mesh(&turned(cuboid([1.0; 3]), [0.0; 3]));
    let without = tetrahedralize(&surface, &Options { snap: false, ..with_size(0.15) }).unwrap().quality;
    let with = tetrahedralize(&surface, &with_size(0.15)).unwrap().quality;
    assert!(with.volume_error.abs() < 0.6 * without.volume_error.abs(), "{with:?} {without:?}");
}

#[test]
fn a_cavity_stays_empty_and_two_bodies_stay_two() {
    let hollow = joined(&[ball(1.0, 40), inside_out(ball(0.5, 30))]);
    let made = tetrahedralize(&mesh(&hollow), &with_size(0.15)).unwrap();
    let expected = 4.0 / 3.0 * PI * (1.0 - 0.125);
    let volume = made.quality.surface_volume * (1.0 + made.quality.volume_error);
    assert!((volume / expected - 1.0).abs() < 0.03, "{volume}");
    assert_eq!(made.quality.pieces, 2);
    let two = joined(&[ball(1.0, 24), moved(ball(1.0, 24), [2.5, 0.0, 0.0])]);
    assert_eq!(tetrahedralize(&mesh(&two), &with_size(0.3)).unwrap().quality.pieces, 2);
}

#[test]
fn the_same_surface_gives_the_same_mesh() {
    let surface = mesh(&turned(torus(1.0, 0.4, 24), [0.0; 3]));
    let [one, other] = [0, 1].map(|_| tetrahedralize(&surface, &with_size(0.25)).unwrap());
    assert_eq!(one, other);
}

#[test]
fn the_number_of_tetrahedra_is_about_the_requested_one() {
    let options = Options { size: Size::Count(5000), ..Options::default() };
    let made = tetrahedralize(&mesh(&ball(1.0, 40)), &options).unwrap();
    assert!((4000..7000).contains(&made.quality.tets), "{}", made.quality.tets);
}

#[test]
fn triangles_that_face_inward_are_flipped_and_counted() {
    let good = ball(1.0, 24);
    let count = good.triangles.len();
    let made = tetrahedralize(&mesh(&inside_out(good.clone())), &with_size(0.3)).unwrap();
    assert_eq!(made.quality.turned, count);
    assert_sound("inside out", &made, 10.7);
    // some only
    let mut mixed = mesh(&good);
    mixed.triangles.iter_mut().step_by(7).for_each(|t| t.swap(1, 2));
    assert_eq!(tetrahedralize(&mixed, &with_size(0.3)).unwrap().quality.turned, count.div_ceil(7));
    // one of two bodies
    let two = joined(&[good.clone(), inside_out(moved(good, [3.0, 0.0, 0.0]))]);
    assert_eq!(tetrahedralize(&mesh(&two), &with_size(0.3)).unwrap().quality.turned, count);
}

#[test]
fn an_open_surface_is_refused_with_its_open_edges() {
    let mut cube = cuboid([1.0; 3]);
    let last = cube.triangles.pop().unwrap();
    match tetrahedralize(&mesh(&cube), &Options::default()) {
        Err(Error::Open { count: 3, edge, .. }) => assert!(edge.iter().all(|i| last.contains(i))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_edge_of_four_triangles_is_refused() {
    // two cubes that share an edge
    let mut two = joined(&[cuboid([1.0; 3]), moved(cuboid([1.0; 3]), [1.0, 1.0, 0.0])]);
    let shared: Vec<(u32, u32)> = [(3, 8), (7, 12)].into();
    for t in two.triangles.iter_mut().flatten() {
        *t = shared.iter().find(|s| s.1 == *t).map_or(*t, |s| s.0);
    }
    let refused = tetrahedralize(&mesh(&two), &Options::default());
    assert!(matches!(refused, Err(Error::NonManifold { count: 1, edge: [3, 7], triangles: 4, .. })), "{refused:?}");
}

#[test]
fn crossing_surfaces_are_refused_with_two_triangles() {
    let shifts = [[0.5, 0.5, 0.5], [0.5, 0.0, 0.0], [0.31, 0.42, 0.13]];
    for by in shifts {
        let two = joined(&[cuboid([1.0; 3]), moved(cuboid([1.0; 3]), by)]);
        match tetrahedralize(&mesh(&two), &Options::default()) {
            Err(Error::Crossing { triangles: [a, b], .. }) => assert!(a < 12 && b >= 12, "{a} {b}"),
            other => panic!("{by:?}: {other:?}"),
        }
    }
    // a ball with one vertex displaced through the opposite side
    let mut pierced = ball(1.0, 24);
    pierced.vertices[100] = pierced.vertices[100] * -1.5;
    assert!(matches!(tetrahedralize(&mesh(&pierced), &Options::default()), Err(Error::Crossing { .. })));
}

#[test]
fn an_outward_surface_inside_another_is_refused() {
    let two = joined(&[ball(1.0, 24), ball(0.5, 24)]);
    let first = ball(1.0, 24).triangles.len();
    let refused = tetrahedralize(&mesh(&two), &Options::default());
    assert_eq!(refused, Err(Error::Nested { inner: first, outer: 0 }));
}

#[test]
fn a_one_sided_surface_is_refused() {
    // the projective plane with six vertices: every edge has two triangles, and the surface is one-sided
    let triangles =
        [[1, 2, 3], [1, 3, 4], [1, 4, 5], [1, 5, 6], [1, 2, 6], [2, 3, 5], [3, 5, 6], [3, 4, 6], [2, 4, 6], [2, 4, 5]];
    let vertices = ball(1.0, 8).vertices[..6].to_vec();
    let surface = Surface { vertices, triangles: triangles.map(|t| t.map(|i| i - 1)).into() };
    let refused = tetrahedralize(&mesh(&surface), &Options::default());
    assert!(matches!(refused, Err(Error::OneSided { .. })), "{refused:?}");
}

#[test]
fn a_plate_thinner_than_the_size_is_refused_unless_the_loss_is_allowed() {
    let thin = mesh(&plate(0.04));
    let refused = tetrahedralize(&thin, &with_size(0.2));
    assert!(matches!(refused, Err(Error::TooThin { .. })), "{refused:?}");
    // half of the plate is lost at twice its thickness; the remainder must still be valid
    let allowed = Options { max_loss: f64::INFINITY, ..with_size(0.06) };
    assert_sound("torn plate", &tetrahedralize(&thin, &allowed).unwrap(), 10.0);
}

#[test]
fn bad_input_and_bad_options_are_refused_by_name() {
    let cube = mesh(&cuboid([1.0; 3]));
    assert_eq!(tetrahedralize(&TriMesh::default(), &Options::default()), Err(Error::Empty));
    let mut bad = cube.clone();
    bad.triangles[4][1] = 77;
    let missing = Error::NoVertex { triangle: 4, vertex: 77, count: 8 };
    assert_eq!(tetrahedralize(&bad, &Options::default()), Err(missing));
    bad.vertices[5].y = Real::NAN;
    assert_eq!(tetrahedralize(&bad, &Options::default()), Err(Error::NotFinite { vertex: 5 }));
    for size in [Size::Edge(0.0), Size::Edge(f64::NAN), Size::Count(0)] {
        let refused = tetrahedralize(&cube, &Options { size, ..Options::default() });
        assert!(matches!(refused, Err(Error::BadOption { name: "size", .. })), "{refused:?}");
    }
    let refused = tetrahedralize(&cube, &with_size(1e-4));
    assert!(matches!(refused, Err(Error::TooMany { limit: 2_000_000, .. })), "{refused:?}");
    let refused = tetrahedralize(&cube, &Options { min_dihedral_deg: 59.0, ..with_size(0.2) });
    assert!(matches!(refused, Err(Error::PoorAngle { .. })), "{refused:?}");
}
