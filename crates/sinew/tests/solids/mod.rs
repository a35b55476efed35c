//! Blocks of finite elements for the tests of single bodies.
#![allow(dead_code, reason = "every test binary uses some of it")]

use sinew::trial::Alone;
use sinew::trial::fem::{Elements, Face, Law, Solid, SolidParams, pressure};
use sinew::{Real, TetMesh, Vec3};

pub const ALL: [Elements; 4] = [Elements::Tet4, Elements::Tet4Averaged, Elements::Tet10, Elements::Tet10Averaged];
pub const LAWS: [Law; 5] =
    [Law::Linear, Law::Corotational, Law::StVenantKirchhoff, Law::NeoHookean, Law::LogNeoHookean];

pub fn block(cells: [u32; 3], size: Vec3, params: SolidParams) -> Alone {
    let solid = Solid::new(&TetMesh::block(cells, size).unwrap(), params).unwrap();
    let nodes = solid.nodes().to_vec();
    let mut body = Alone::new(solid, &nodes);
    body.settings.iterations = 4000;
    body.settings.tolerance = 1e-5;
    body
}

/// Nodes where a coordinate has a value.
pub fn slice(body: &Alone, axis: usize, at: Real) -> Vec<usize> {
    (0..body.x.len()).filter(|&i| (body.x[i][axis] - at).abs() < 1e-4).collect()
}

/// Nodal forces of a traction [Pa] on the flat faces at x = at, from the work of a pressure along x.
pub fn traction(body: &mut Alone, faces: &[Face], at: Real, traction: Vec3) {
    let there: Vec<_> = faces
        .iter()
        .copied()
        .filter(|f| f.corners.iter().all(|&n| (body.x[n as usize][0] - at).abs() < 1e-4))
        .collect();
    let mut area = vec![Vec3::ZERO; body.x.len()];
    pressure(&there, &body.x, 1.0, &mut area);
    for (force, area) in body.force.iter_mut().zip(&area) {
        *force += traction * area.length();
    }
}

pub fn faces(cells: [u32; 3], size: Vec3, params: SolidParams) -> Vec<Face> {
    Solid::new(&TetMesh::block(cells, size).unwrap(), params).unwrap().faces().to_vec()
}

pub fn mean(body: &Alone, nodes: &[usize]) -> Vec3 {
    nodes.iter().fold(Vec3::ZERO, |s, &n| s + body.position(n)) / nodes.len() as Real
}

/// Change of the size of a block of 0.1 m along an axis, between the means of its two sides.
pub fn slice_mean(body: &Alone, axis: usize) -> Real {
    let at = |n: usize| body.position(n)[axis];
    let mid = (0..body.x.len()).map(at).sum::<Real>() / body.x.len() as Real;
    let side = |sign: Real| {
        let list: Vec<Real> = (0..body.x.len()).map(at).filter(|y| (y - mid) * sign > 0.04).collect();
        list.iter().sum::<Real>() / list.len() as Real
    };
    side(1.0) - side(-1.0) - 0.1
}
