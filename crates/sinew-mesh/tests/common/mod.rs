//! Small meshes shared by the tests.

use sinew_mesh::Mesh;

/// Two tetrahedra with a common face, with their six outer faces as triangles.
pub fn two_tets() -> Mesh {
    let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.75, 0.75, 0.875]];
    let mut mesh = Mesh::from_tets(vertices, vec![[0, 1, 2, 3], [1, 2, 3, 4]]);
    mesh.triangles = mesh.tet_boundary();
    mesh
}

/// The surface of a cube of edge 1 at the origin, outward.
pub fn cube() -> Mesh {
    let vertices = (0..8).map(|i| [f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)]).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh::from_triangles(vertices, triangles)
}
