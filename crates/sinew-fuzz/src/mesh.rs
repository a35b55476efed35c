//! Mesh files: every accepted mesh must pass through inspection, repair and validation for the physics without a panic.

use sinew_mesh::{Format, inspect, read_bytes, repair};

/// Larger meshes are not repaired: the targets test the readers, and a fuzzer creates a million meshes.
const SMALL: usize = 200;

fn read(bytes: &[u8], format: Format, name: &str) {
    let Ok(mesh) = read_bytes(bytes, format, name) else { return };
    let count = mesh.vertices.len() as u32;
    assert!(mesh.triangles.iter().flatten().chain(mesh.tets.iter().flatten()).all(|&i| i < count), "no such vertex");
    assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()), "a vertex is not finite");
    _ = mesh.tet_mesh();
    _ = mesh.tri_mesh();
    if mesh.triangles.len() + mesh.tets.len() <= SMALL && mesh.vertices.len() <= SMALL {
        inspect(&mesh);
        inspect(&repair(&mesh, None).mesh);
    }
}

/// Wavefront.
pub fn obj(bytes: &[u8]) {
    read(bytes, Format::Obj, "a.obj");
}

/// Stereolithography.
pub fn stl(bytes: &[u8]) {
    read(bytes, Format::Stl, "a.stl");
}

/// Stanford.
pub fn ply(bytes: &[u8]) {
    read(bytes, Format::Ply, "a.ply");
}

/// glTF as JSON.
pub fn gltf(bytes: &[u8]) {
    read(bytes, Format::Gltf, "a.gltf");
}

/// glTF in one binary file.
pub fn glb(bytes: &[u8]) {
    read(bytes, Format::Glb, "a.glb");
}

/// Gmsh.
pub fn msh(bytes: &[u8]) {
    read(bytes, Format::Msh, "a.msh");
}

/// TetGen: each of its three files alone; the first byte selects it.
pub fn tetgen(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    read(rest, Format::TetGen, ["a.node", "a.ele", "a.face"][usize::from(*which) % 3]);
}

/// VTK's legacy format.
pub fn vtk(bytes: &[u8]) {
    read(bytes, Format::Vtk, "a.vtk");
}

/// VTK's XML format.
pub fn vtu(bytes: &[u8]) {
    read(bytes, Format::Vtu, "a.vtu");
}

/// MEDIT.
pub fn medit(bytes: &[u8]) {
    read(bytes, Format::Medit, "a.mesh");
}
