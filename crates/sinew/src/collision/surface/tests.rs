use super::contact_reduction::Sorter;
use super::*;
use crate::model::primitives::Diagonals;
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;

/// A surface that owns all data a skin borrows.
struct Owner {
    cells: Cells,
    x: Vec<Vec3>,
    rest: Vec<Vec3>,
    normals: Vec<Vec3>,
    radius: Real,
    solid: bool,
}

impl Owner {
    fn new(x: Vec<Vec3>, triangles: &[[u32; 3]], solid: bool, radius: Real) -> Self {
        let mut normals = vec![Vec3::ZERO; x.len()];
        for t in triangles {
            let [a, b, c] = t.map(|i| x[i as usize]);
            t.iter().for_each(|&i| normals[i as usize] += (b - a).cross(c - a));
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        Self { cells: Cells::new(x.len(), triangles, &[]), rest: x.clone(), x, normals, radius, solid }
    }

    fn block(shift: Vec3) -> Self {
        let mesh = TetMesh::block([2; 3], Vec3::ONE).unwrap();
        let x = mesh.vertices.iter().map(|&v| v + shift).collect();
        Self::new(x, &mesh.boundary_faces(), true, 0.0)
    }

    fn sheet(height: Real, radius: Real) -> Self {
        let mesh = TriMesh::sheet([4, 4], [1.0, 1.0], Diagonals::Alternating).unwrap();
        let flat = mesh.vertices.iter().map(|v| Vec3::new(v.x, height, v.y + v.z)).collect();
        Self::new(flat, &mesh.triangles, false, radius)
    }

    fn skin(&self) -> Skin<'_> {
        let Self { cells, x, rest, normals, radius, solid } = self;
        Skin { cells, x, rest, normals, radius: *radius, solid: *solid }
    }
}

fn touches(a: &Owner, b: &Owner, own: bool, margin: Real, before: Before<'_>) -> Vec<Touching> {
    touches_held([a, b], own, margin, before, None)
}

/// As the step finds them: without edges that are supported at their ends and not deeper than `sag` [m], if given.
fn touches_held([a, b]: [&Owner; 2], own: bool, margin: Real, before: Before<'_>, sag: Option<Real>) -> Vec<Touching> {
    let near = |_: Ends<'_>| margin;
    let finder = Finder {
        a: a.skin(),
        b: b.skin(),
        own,
        before,
        near: &near,
        nearest: margin,
        beyond: 1.0,
        crossed: true,
        sag: sag.unwrap_or(0.0),
    };
    let mut out = Vec::new();
    let all = Bounds3 { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
    // within one surface each pair once, in the order of its cells
    let ordered = |i: u32, j: u32| !own || i < j;
    let cells = |of: &Owner| 0..of.cells.corners.len() as u32;
    for (swapped, [of, faces]) in [(false, [a, b]), (true, [b, a])] {
        for (vertex, face) in (0..of.x.len() as u32).flat_map(|v| cells(faces).map(move |c| (v, c))) {
            // interior points have none
            let Some(owner) = of.cells.owned.iter().position(|o| o.vertices.contains(&vertex)) else { continue };
            let owner = owner as u32;
            let in_order = if swapped { ordered(face, owner) } else { ordered(owner, face) };
            if in_order && faces.cells.is_triangle(face) {
                out.extend(finder.vertex([vertex, face], swapped, &all));
            }
        }
    }
    let mut sorter = Sorter::default();
    thin_out(&mut out, &mut sorter);
    let mut contact_reduction = Held::default();
    let contact_reduction = sag.map(|_| contact_reduction.list(&out, [a.x.len(), b.x.len()]));
    let edges = |of: &Owner| 0..of.cells.edges.len() as u32;
    for (i, j) in edges(a).flat_map(|i| edges(b).map(move |j| (i, j))) {
        if ordered(a.cells.beside[i as usize][0], b.cells.beside[j as usize][0]) {
            out.extend(finder.edges([i, j], contact_reduction));
        }
    }
    sorter.by_key(&mut out);
    out
}

fn strangers(_: (u32, u32), _: (u32, u32)) -> Option<Vec3> {
    None
}

#[test]
fn block_on_block_contacts_have_the_face_normal_and_the_true_gap() {
    // shifted sideways, so that vertices are above faces and edges cross
    for gap in [0.01, -0.01] {
        let (low, high) = (Owner::block(Vec3::ZERO), Owner::block(Vec3::new(0.13, 1.0 + gap, 0.07)));
        let found = touches(&low, &high, false, 0.02, &strangers);
        let faces = found.iter().filter(|t| t.a.0 == feature::FACE).count();
        let edges = found.iter().filter(|t| t.a.0 == feature::EDGE).count();
        assert!(faces >= 4 && edges >= 4, "{faces} {edges}");
        for t in &found {
            assert!((t.gap - gap).abs() < 1e-5 && t.normal.y > 0.999, "{t:?}");
        }
    }
}

#[test]
fn contact_weights_reproduce_the_gap() {
    let (low, high) = (Owner::block(Vec3::ZERO), Owner::block(Vec3::new(0.13, 1.01, 0.07)));
    let point = |owner: &Owner, feature: (u32, u32), w: [Real; 3]| {
        let corners = match feature.0 {
            feature::VERTEX => [feature.1; 3],
            feature::EDGE => [owner.cells.edges[feature.1 as usize][0], owner.cells.edges[feature.1 as usize][1], 0],
            _ => owner.cells.corners[feature.1 as usize],
        };
        corners.iter().zip(w).fold(Vec3::ZERO, |sum, (&i, w)| sum + owner.x[i as usize] * w)
    };
    for t in touches(&low, &high, false, 0.02, &strangers) {
        let apart = point(&high, t.b, t.weights_b) - point(&low, t.a, t.weights_a);
        assert!((t.normal.dot(apart) - t.reach - t.gap).abs() < 1e-5, "{t:?}");
    }
}

#[test]
fn a_vertex_inside_a_body_is_pushed_out_through_the_face_above_it() {
    let (low, high) = (Owner::block(Vec3::ZERO), Owner::block(Vec3::new(0.13, 0.9, 0.07)));
    let found = touches(&low, &high, false, 0.0, &strangers);
    let deep: Vec<_> = found.iter().filter(|t| t.a.0 == feature::FACE && t.normal.y > 0.9).collect();
    assert!(!deep.is_empty());
    for t in deep {
        assert!((t.gap + 0.1).abs() < 1e-5, "{t:?}");
    }
}

#[test]
fn a_sheet_that_passed_through_is_pushed_back_to_its_side() {
    let (low, high) = (Owner::sheet(0.0, 0.01), Owner::sheet(-0.005, 0.01));
    let fresh = touches(&low, &high, false, 0.0, &strangers);
    assert!(!fresh.is_empty() && fresh.iter().all(|t| t.normal.y < 0.0));
    let came_from_above = |_: (u32, u32), _: (u32, u32)| Some(Vec3::Y);
    let old = touches(&low, &high, false, 0.0, &came_from_above);
    assert!(!old.is_empty());
    for t in old.iter().filter(|t| t.a.0 != feature::EDGE) {
        assert!(t.normal.y > 0.9 && (t.gap + 0.025).abs() < 1e-5, "{t:?}");
    }
}

#[test]
fn a_body_at_rest_has_no_self_contact() {
    let block = Owner::block(Vec3::ZERO);
    assert_eq!(touches(&block, &block, true, 0.01, &strangers), []);
    // thicker than its cells: the contact distance of neighbours is their rest distance, not above
    let sheet = Owner::sheet(0.0, 0.2);
    for t in touches(&sheet, &sheet, true, 0.0, &strangers) {
        assert!(t.gap > -1e-5, "{t:?}");
    }
}

#[test]
fn a_folded_sheet_is_in_contact_with_its_other_half() {
    let mut sheet = Owner::sheet(0.0, 0.01);
    for x in &mut sheet.x {
        if x.x > 0.0 {
            *x = Vec3::new(-x.x, 0.015, x.z);
        }
    }
    let found = touches(&sheet, &sheet, true, 0.0, &strangers);
    let inner = found.iter().filter(|t| (t.gap + 0.005).abs() < 1e-5).count();
    assert!(inner >= 10, "{inner} of {}", found.len());
}

#[test]
fn only_the_nearest_face_of_a_vertex_is_kept() {
    let (low, high) = (Owner::block(Vec3::ZERO), Owner::block(Vec3::new(0.13, 1.01, 0.07)));
    let found = touches(&low, &high, false, 0.02, &strangers);
    for side in [0, 1] {
        let of = |t: &Touching| if side == 0 { t.a } else { t.b };
        let mut vertices: Vec<u32> = found.iter().map(of).filter(|f| f.0 == feature::VERTEX).map(|f| f.1).collect();
        let all = vertices.len();
        vertices.sort_unstable();
        vertices.dedup();
        assert_eq!(vertices.len(), all);
    }
}

/// On a flat face the vertex contacts support all edges except those at its boundary; a rigid offset of the upper body
/// changes only these edges, and no vertex contact is lost.
#[test]
fn exactly_the_edges_supported_at_both_ends_are_omitted() {
    let (low, high) = (Owner::block(Vec3::ZERO), Owner::block(Vec3::new(0.13, 1.01, 0.07)));
    let all = touches(&low, &high, false, 0.02, &strangers);
    let thin = touches_held([&low, &high], false, 0.02, &strangers, Some(0.0));
    assert!(thin.len() < all.len() && thin.iter().all(|t| all.contains(t)));
    let contact_reduction = |side: fn(&Touching) -> (u32, u32), v: u32| {
        all.iter().any(|t| side(t) == (feature::VERTEX, v) && t.normal.y > 0.999)
    };
    for t in &all {
        let is_held = t.a.0 == feature::EDGE && {
            let (ends_a, ends_b) = (low.cells.edges[t.a.1 as usize], high.cells.edges[t.b.1 as usize]);
            ends_a.iter().all(|&v| contact_reduction(|t| t.a, v))
                || ends_b.iter().all(|&v| contact_reduction(|t| t.b, v))
        };
        assert_eq!(thin.contains(t), !is_held, "{t:?}");
    }
}

/// Edges between supported vertices are omitted while they are shallow; deep ones, and those that had a contact, are
/// not.
#[test]
fn supported_edges_that_are_deep_or_had_a_contact_keep_it() {
    let edges = |depth: Real, sag: Option<Real>, before: Before<'_>| {
        let (low, high) = (Owner::block(Vec3::ZERO), Owner::block(Vec3::new(0.13, 1.0 - depth, 0.07)));
        let found = touches_held([&low, &high], false, 0.02, before, sag);
        found.iter().filter(|t| t.a.0 == feature::EDGE && t.normal.y > 0.999).count()
    };
    let known = |_: (u32, u32), _: (u32, u32)| Some(Vec3::Y);
    let all = edges(1e-3, None, &strangers);
    let shallow = edges(1e-3, Some(2e-3), &strangers);
    assert!(shallow < all, "{shallow} of {all}");
    assert_eq!(edges(1e-3, Some(5e-4), &strangers), all);
    assert_eq!(edges(1e-3, Some(2e-3), &known), all);
}
