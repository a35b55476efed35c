//! Slender bodies in steps far longer than their vibration periods: accuracy of the solver for mixed soft and stiff
//! modes.

use sinew::fem::{Elements, Integrator, Law, SolidParams};
use sinew::{Command, Geometry, Implicit, Input, Real, Settings, SoftBody, SoftModel, TetMesh, Vec3, World};

/// Rotation of a bar of 1 x 0.1 x 0.1 m about its axis between its quarters, per torque on its end [1/(N·m)].
fn twist(elements: Elements) -> Real {
    let implicit = Implicit { tolerance: 1e-6, iterations: 4000, ..Implicit::default() };
    let settings = Settings {
        dt: 10.0,
        gravity: Vec3::ZERO,
        sleep_time: Real::INFINITY,
        implicit,
        max_substeps: 1,
        ..Settings::default()
    };
    let mut world = World::new(settings).unwrap();
    let mesh = TetMesh::block([4; 3], Vec3::new(1.0, 0.1, 0.1)).unwrap();
    let params = SolidParams {
        youngs_modulus: 1e6,
        poisson_ratio: 0.3,
        density: 1000.0,
        law: Law::Corotational,
        elements,
        integrator: Integrator::Implicit,
        ..SolidParams::default()
    };
    let body = SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(params));
    let body = world.add_soft(body.damping(1e9).pin_region([-0.501, -1.0, -1.0], [-0.499, 1.0, 1.0])).unwrap();
    let rest = world.body(body).unwrap().node_positions().to_vec();
    let mut input = Input::none();
    let mut torque = 0.0;
    for (node, p) in rest.iter().enumerate().filter(|(_, p)| p.x > 0.499) {
        let force = Vec3::new(0.0, -p.z, p.y);
        torque += p.y * force.z - p.z * force.y;
        input = input.with(Command::NodeForce { body, node: node as u32, force });
    }
    for _ in 0..4 {
        world.step(&input);
    }
    let x = world.body(body).unwrap().node_positions();
    let turn = |at: Real| {
        let (mut moment, mut square) = (0.0, 0.0);
        for (p, x) in rest.iter().zip(x).filter(|(p, _)| (p.x - at).abs() < 1e-4) {
            moment += p.y * x.z - p.z * x.y;
            square += p.y * p.y + p.z * p.z;
        }
        moment / square
    };
    2.0 * (turn(0.25) - turn(-0.25)) / torque
}

#[test]
fn a_slender_bar_of_ten_node_elements_twists_by_saint_venants_constant() {
    // L/(G J) with J = 0.1406 a⁴
    let right = 1.0 / (1e6 / 2.6 * 0.1406 * 1e-4);
    let got = twist(Elements::Tet10);
    assert!((got / right - 1.0).abs() < 0.03, "{got} of {right}");
}
