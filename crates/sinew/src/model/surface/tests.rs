//! Quantities that a binding must preserve: affine motion, force, torque and power.

use super::*;
use crate::math::{Mat3, Quat};

fn noise(k: usize) -> Real {
    ((k * 7919 + 13) % 1009) as Real / 504.5 - 1.0
}

fn noise3(k: usize) -> Vec3 {
    Vec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2))
}

fn blocks(points: impl IntoIterator<Item = Vec3>) -> Vec<Block> {
    points.into_iter().map(|p| [p.x, p.y, p.z, 0.0]).collect()
}

/// The boundary of a block, as a mesh.
fn skin(cells: u32, size: Vec3) -> TriMesh {
    let block = TetMesh::block([cells; 3], size).unwrap();
    TriMesh { triangles: block.boundary_faces(), vertices: block.vertices }
}

/// A square of 1 m in the plane z = 0, bent by `bend`.
fn square(cells: u32, bend: impl Fn(Real, Real) -> Real) -> TriMesh {
    let mut mesh = TriMesh::default();
    for j in 0..=cells {
        for i in 0..=cells {
            let (x, y) = (i as Real / cells as Real, j as Real / cells as Real);
            mesh.vertices.push(Vec3::new(x, y, bend(x, y)));
        }
    }
    for j in 0..cells {
        for i in 0..cells {
            let a = i + (cells + 1) * j;
            let b = a + cells + 1;
            mesh.triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
        }
    }
    mesh
}

/// A host with its nodes, bound surfaces of all kinds.
fn bindings() -> Vec<(&'static str, Vec<Vec3>, TriMesh, Surface)> {
    let host = TetMesh::block([2, 3, 2], Vec3::new(1.0, 1.2, 0.8)).unwrap();
    // a little larger than the host: part of it lies outside
    let outside = skin(5, Vec3::new(1.1, 1.15, 0.9));
    let sheet = square(4, |_, _| 0.0);
    let fine = square(7, |x, y| 0.1 * x * y);
    let nodes: Vec<Vec3> = host.vertices.iter().enumerate().map(|(k, &v)| v + noise3(k) * 0.05).collect();
    vec![
        (
            "nodes",
            host.vertices.clone(),
            TriMesh { vertices: host.vertices.clone(), triangles: host.boundary_faces() },
            { Surface::of_nodes(0..host.vertices.len() as u32, host.boundary_faces()) },
        ),
        ("embedded", host.vertices.clone(), outside.clone(), Surface::embedded(&host, &outside).unwrap()),
        (
            "meshless",
            nodes.clone(),
            outside.clone(),
            Surface::meshless(&nodes, &outside, BindOptions::default()).unwrap(),
        ),
        ("sheet", sheet.vertices.clone(), fine.clone(), Surface::embedded_in_sheet(&sheet, &fine).unwrap()),
    ]
}

#[test]
fn at_rest_every_surfel_is_at_its_vertex() {
    for (name, nodes, mesh, surface) in bindings() {
        assert_eq!(surface.len(), mesh.vertices.len());
        let x = blocks(nodes);
        let mut positions = Vec::new();
        surface.positions(&x, &mut positions);
        for (p, v) in positions.iter().zip(&mesh.vertices) {
            assert!(p.distance(*v) < 20.0 * Real::EPSILON, "{name}: {p} {v}");
        }
    }
}

#[test]
fn an_affine_motion_of_the_nodes_moves_the_surface_by_the_same_map() {
    let map = Mat3::from_cols(Vec3::new(1.3, 0.2, 0.1), Vec3::new(-0.4, 0.8, 0.2), Vec3::new(0.1, -0.3, 1.1));
    for (name, nodes, mesh, surface) in bindings() {
        // an offset follows rotations only: its length is constant
        let turn = Mat3::from_quat(Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 1.0));
        let map = if name == "sheet" { turn } else { map };
        let x = blocks(nodes.iter().map(|&p| map * p + Vec3::X));
        for (s, v) in mesh.vertices.iter().enumerate() {
            let right = map * *v + Vec3::X;
            let is = surface.position(s as u32, &x);
            assert!(is.distance(right) < 40.0 * Real::EPSILON, "{name} {s}: {is} {right}");
        }
    }
}

#[test]
fn force_torque_and_power_of_surfels_and_nodes_are_equal() {
    for (name, nodes, mesh, surface) in bindings() {
        let x = blocks(nodes.iter().enumerate().map(|(k, &p)| p + noise3(k + 50) * 0.1));
        let v = blocks((0..nodes.len()).map(|k| noise3(k + 9)));
        let mut on_nodes = vec![Vec3::ZERO; nodes.len()];
        let (mut force, mut torque, mut power, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0, 0.0);
        for s in 0..mesh.vertices.len() as u32 {
            let f = noise3(s as usize + 1000);
            surface.spread_at(s, f, &x, &mut on_nodes);
            force += f;
            torque += surface.position(s, &x).cross(f);
            power += surface.velocity(s, &x, &v).dot(f);
            size += f.length();
        }
        let (mut force_n, mut torque_n, mut power_n) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (k, f) in on_nodes.iter().enumerate() {
            force_n += *f;
            torque_n += x[k].vector().cross(*f);
            power_n += v[k].vector().dot(*f);
        }
        let tolerance = 20.0 * Real::EPSILON * size;
        assert!((force - force_n).length() < tolerance, "{name}: {force} {force_n}");
        assert!((torque - torque_n).length() < tolerance, "{name}: {torque} {torque_n}");
        assert!((power - power_n).abs() < tolerance, "{name}: {power} {power_n}");
    }
}

#[test]
fn the_velocity_of_a_surfel_is_the_time_derivative_of_its_position() {
    for (name, nodes, mesh, surface) in bindings() {
        let v = blocks((0..nodes.len()).map(|k| noise3(k + 9)));
        let step: Real = Real::EPSILON.cbrt();
        let at = |t: Real| blocks(nodes.iter().enumerate().map(|(k, &p)| p + noise3(k + 50) * 0.1 + v[k].vector() * t));
        for s in (0..mesh.vertices.len() as u32).step_by(5) {
            let rate = (surface.position(s, &at(step)) - surface.position(s, &at(-step))) / (2.0 * step);
            let is = surface.velocity(s, &at(0.0), &v);
            assert!(is.distance(rate) < 50.0 * step * step, "{name} {s}: {is} {rate}");
        }
    }
}

#[test]
fn a_point_follows_the_tetrahedron_that_contains_it_or_the_nearest() {
    let host = TetMesh::block([6, 5, 4], Vec3::new(1.2, 1.0, 0.8)).unwrap();
    let points: Vec<Vec3> = (0..60).map(noise3).chain([Vec3::new(9.0, -4.0, 0.1)]).collect();
    // the triangle serves only to carry the vertices
    let mesh = TriMesh { triangles: vec![[0, 1, 2]], vertices: points.clone() };
    let surface = Surface::embedded(&host, &mesh).unwrap();
    let mut inside = 0;
    for (s, p) in points.iter().enumerate() {
        let shares = surface.shares(s as u32);
        let low = shares.iter().map(|s| s.weight).fold(Real::INFINITY, Real::min);
        let limit = *p / Vec3::new(0.6, 0.5, 0.4);
        if limit.abs().max_element() < 1.0 {
            inside += 1;
            assert!(low >= 0.0, "{p}: {shares:?}");
        } else {
            // the projection onto the block is in the chosen tetrahedron
            let foot = p.clamp(Vec3::new(-0.6, -0.5, -0.4), Vec3::new(0.6, 0.5, 0.4));
            let corners: Vec<Vec3> = shares.iter().map(|s| host.vertices[s.node as usize]).collect();
            let low = corners.iter().fold(Vec3::INFINITY, |m, c| m.min(*c)) - Vec3::splat(1e-5);
            let high = corners.iter().fold(Vec3::NEG_INFINITY, |m, c| m.max(*c)) + Vec3::splat(1e-5);
            assert!(low.cmple(foot).all() && foot.cmple(high).all(), "{p} {foot} {corners:?}");
        }
    }
    assert!(inside > 3 && inside < 30);
}

#[test]
fn a_surfel_outside_the_support_of_all_nodes_is_still_bound() {
    let nodes = TetMesh::block([3, 3, 3], Vec3::splat(0.3)).unwrap().vertices;
    let mut mesh = skin(1, Vec3::splat(0.3));
    mesh.vertices[0] = Vec3::splat(-3.0);
    let surface = Surface::meshless(&nodes, &mesh, BindOptions { support: 1.5, most: 6 }).unwrap();
    let x = blocks(nodes);
    assert!(surface.position(0, &x).distance(mesh.vertices[0]) < 1e-4);
    let sum: Real = surface.shares(0).iter().map(|s| s.weight).sum();
    assert!((sum - 1.0).abs() < 1e-4, "{sum}");
}

#[test]
fn the_number_of_nodes_of_a_surfel_is_limited_by_most() {
    let nodes = TetMesh::block([8, 8, 8], Vec3::ONE).unwrap().vertices;
    let mesh = skin(3, Vec3::splat(0.9));
    let few = Surface::meshless(&nodes, &mesh, BindOptions::default()).unwrap();
    assert!((0..few.len() as u32).all(|s| few.shares(s).len() <= 12));
    let many = Surface::meshless(&nodes, &mesh, BindOptions { most: 1000, ..BindOptions::default() }).unwrap();
    assert!((0..many.len() as u32).all(|s| many.shares(s).len() > 30));
}

#[test]
fn an_inflated_surface_lies_outside_by_the_given_distance() {
    let host = TetMesh::block([2, 2, 2], Vec3::ONE).unwrap();
    let flat = square(3, |_, _| 0.5);
    let raised = offset(&flat, 0.1);
    let surface = Surface::embedded(&host, &raised).unwrap();
    let x = blocks(host.vertices.iter().map(|&v| v * 2.0));
    // the layer is stretched with the body that carries it
    for (s, v) in flat.vertices.iter().enumerate() {
        let right = Vec3::new(2.0 * v.x, 2.0 * v.y, 1.2);
        assert!(surface.position(s as u32, &x).distance(right) < 1e-5);
    }
    // a closed skin of 6 m² gains area times distance, less at edges, where the normal is inclined by up to a cosine of
    // 1/√3
    let gain = offset(&skin(2, Vec3::ONE), 0.01).volume() - 1.0;
    assert!(gain > 0.06 * 0.577 && gain < 0.062, "{gain}");
}

#[test]
fn normals_point_outward_and_memory_is_reused() {
    let mesh = skin(4, Vec3::ONE);
    let surface = Surface::embedded(&TetMesh::block([1; 3], Vec3::ONE).unwrap(), &mesh).unwrap();
    let x = blocks(TetMesh::block([1; 3], Vec3::ONE).unwrap().vertices);
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    surface.positions(&x, &mut positions);
    surface.normals(&positions, &mut normals);
    let places = [positions.as_ptr(), normals.as_ptr()];
    for (n, p) in normals.iter().zip(&positions) {
        let outside = p.abs().max_element() > 0.499;
        assert!(if outside { n.dot(*p) > 0.4 } else { *n == Vec3::ZERO }, "{p} {n}");
    }
    surface.positions(&x, &mut positions);
    surface.normals(&positions, &mut normals);
    assert_eq!(places, [positions.as_ptr(), normals.as_ptr()]);
}

#[test]
fn invalid_bindings_are_rejected_with_a_named_cause() {
    let flat = square(3, |_, _| 0.0);
    let mut mesh = square(2, |_, _| 0.0);
    assert!(Surface::meshless(&flat.vertices, &mesh, BindOptions::default()).is_ok());
    mesh.vertices[4].z = 0.2;
    let error = Surface::meshless(&flat.vertices, &mesh, BindOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("surfel 4 lies "), "{error}");
    assert_eq!(Surface::meshless(&[], &mesh, BindOptions::default()), Err(BindError::NoNodes));
    let error = Surface::meshless(&flat.vertices, &mesh, BindOptions { most: 2, ..BindOptions::default() })
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("wrap.most = 2"), "{error}");
    mesh.triangles[1][2] = 77;
    let error = Surface::embedded_in_sheet(&flat, &mesh).unwrap_err().to_string();
    assert!(error.contains("triangle 1: vertex 77"), "{error}");
}
