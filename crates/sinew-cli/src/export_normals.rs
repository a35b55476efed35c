//! Normals of triangles for export: the mean of the faces around a vertex by their areas.

use sinew::{Real, Vec3};
use sinew_render::Triangles;
use std::collections::BTreeMap;

/// Least cosine between two faces that are one smooth surface: 40 degrees.
const SMOOTH: Real = 0.766;

/// Height of a triangle over its longest side below which its normal is rounding.
const SLIVER: Real = 1e-4;

/// Twice the area of a triangle along its normal [m²]; nothing for slivers.
fn face(mesh: &Triangles, t: &[u32; 3]) -> Vec3 {
    let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
    let normal = (b - a).cross(c - a);
    let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
    if normal.length() > SLIVER * longest { normal } else { Vec3::ZERO }
}

/// A unit normal, up where there is none.
fn unit(normal: Vec3) -> Vec3 {
    normal.try_normalize().unwrap_or(Vec3::Y)
}

/// A normal for each vertex, smooth everywhere.
pub fn smooth(mesh: &Triangles) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; mesh.vertices.len()];
    for t in &mesh.triangles {
        let normal = face(mesh, t);
        t.iter().for_each(|&i| sums[i as usize] += normal);
    }
    sums.into_iter().map(unit).collect()
}

/// Parts a mesh at its edges: a vertex with faces that look different ways becomes several. Returns their normals.
pub fn creased(mesh: &mut Triangles) -> Vec<Vec3> {
    let faces: Vec<Vec3> = mesh.triangles.iter().map(|t| face(mesh, t)).collect();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertices.len()];
    for (k, t) in mesh.triangles.iter().enumerate() {
        t.iter().for_each(|&i| around[i as usize].push(k as u32));
    }
    // one vertex for each place and normal, to 1/1000
    let mut known: BTreeMap<(u32, [i32; 3]), u32> = BTreeMap::new();
    let (mut vertices, mut normals) = (Vec::new(), Vec::new());
    for (k, t) in mesh.triangles.iter_mut().enumerate() {
        // a sliver has no side of its own
        let own = faces[k].try_normalize();
        let joins = |f: &Vec3| own.is_none_or(|own| f.dot(own) > SMOOTH * f.length());
        for corner in t {
            let near = around[*corner as usize].iter().map(|&f| faces[f as usize]);
            let normal = unit(near.filter(joins).fold(Vec3::ZERO, |sum, f| sum + f));
            let key = (*corner, normal.to_array().map(|x| (1000.0 * x).round() as i32));
            let place = mesh.vertices[*corner as usize];
            *corner = *known.entry(key).or_insert_with(|| {
                vertices.push(place);
                normals.push(normal);
                vertices.len() as u32 - 1
            });
        }
    }
    mesh.vertices = vertices;
    normals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_is_smooth_and_its_normals_go_out() {
        let mut ball = Triangles::ball(Vec3::ZERO, 2.0);
        let before = ball.vertices.len();
        for (p, n) in ball.vertices.iter().zip(smooth(&ball)) {
            assert!(n.dot(*p / 2.0) > 0.99, "{p} {n}");
        }
        let normals = creased(&mut ball);
        assert!(ball.vertices.len() <= before && normals.len() == ball.vertices.len(), "{before} {}", normals.len());
        for (p, n) in ball.vertices.iter().zip(normals) {
            assert!(n.dot(*p / 2.0) > 0.99, "{p} {n}");
        }
    }

    #[test]
    fn a_corner_of_three_faces_has_three_normals() {
        // three sides of a cube that meet at the origin, two triangles each
        let at = |x: u32, y: u32, z: u32| Vec3::new(x as Real, y as Real, z as Real);
        let vertices = vec![at(0, 0, 0), at(1, 0, 0), at(0, 1, 0), at(0, 0, 1), at(1, 1, 0), at(1, 0, 1), at(0, 1, 1)];
        let triangles = vec![[0, 2, 1], [1, 2, 4], [0, 1, 3], [1, 5, 3], [0, 3, 2], [2, 3, 6]];
        let mut mesh = Triangles { vertices, triangles };
        let normals = creased(&mut mesh);
        // three at the origin, two at each of the three ends of edges, one at each far corner
        assert_eq!(normals.len(), 3 + 6 + 3);
        for n in normals {
            assert!((n.abs().max_element() - 1.0).abs() < 1e-6, "{n}");
        }
    }
}
