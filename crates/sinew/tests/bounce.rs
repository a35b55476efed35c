//! Restitution of soft bodies: Newton's law of impact holds for the contacts of every solver.

use sinew::{
    Diagonals, Geometry, Input, Real, RigidBody, Settings, Shape, SoftBody, SoftModel, SurfaceMaterial, TetMesh,
    TriMesh, Vec3, World, fem, pbd,
};

/// Speed of arrival [m/s].
const SPEED: Real = 2.0;
const RESTITUTION: Real = 0.5;

fn world(dt: Real, substeps: u32) -> World {
    World::new(Settings { dt, substeps, gravity: Vec3::ZERO, ..Settings::default() }).unwrap()
}

fn surface(restitution: Real) -> SurfaceMaterial {
    SurfaceMaterial::friction(0.3).restitution(restitution)
}

fn floor(world: &mut World) {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(surface(0.0))).unwrap();
}

/// So stiff that it stops or reverses as one piece within a step.
fn block() -> SoftBody {
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.1)).unwrap();
    let matter = fem::Params { youngs_modulus: 1e7, poisson_ratio: 0.3, density: 1000.0, damping: 0.0 };
    SoftBody::new(Geometry::Tets(mesh), SoftModel::Corotational(matter))
}

fn cloth() -> SoftBody {
    let mesh = TriMesh::sheet([6; 2], [0.3; 2], Diagonals::Alternating).unwrap();
    let sheet = pbd::Sheet {
        stretch: 1e4,
        bend: 0.0,
        density: 0.25,
        compression: 1.0,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params::default()))
}

/// Mean upward velocity after the impact of a body on the floor at `SPEED`.
fn after_impact(body: SoftBody, restitution: Real, (dt, substeps): (Real, u32)) -> Real {
    let mut world = world(dt, substeps);
    floor(&mut world);
    let body = body.material(surface(restitution)).at([0.0, 0.13, 0.0]).velocity([0.0, -SPEED, 0.0]);
    let id = world.add_soft(body).unwrap();
    let steps = (0.15 / dt) as usize;
    for _ in 0..steps {
        world.step(&Input::none());
    }
    world.body(id).unwrap().velocity().y
}

/// A cloth in a sweep island, dropped flat: every node leaves at e times its speed of arrival. With e = 0 none
/// rebounds.
#[test]
fn a_cloth_bounces_off_the_floor() {
    let bounced = after_impact(cloth(), RESTITUTION, (0.01, 4));
    assert!((bounced - RESTITUTION * SPEED).abs() < 0.02 * SPEED, "{bounced} m/s");
    let stayed = after_impact(cloth(), 0.0, (0.01, 4));
    assert!(stayed.abs() < 0.02 * SPEED, "{stayed} m/s");
}

/// A stiff block in an implicit island: all of it reverses, not only the nodes in contact.
#[test]
fn a_block_of_finite_elements_bounces_as_a_whole() {
    let bounced = after_impact(block(), RESTITUTION, (0.02, 1));
    assert!((bounced - RESTITUTION * SPEED).abs() < 0.05 * SPEED, "{bounced} m/s");
    let stayed = after_impact(block(), 0.0, (0.02, 1));
    assert!(stayed.abs() < 0.05 * SPEED, "{stayed} m/s");
}

/// Two blocks collide: they separate at e times their approach speed, and momentum is conserved to rounding.
#[test]
fn two_soft_blocks_separate_at_e_times_their_approach_speed() {
    let mut world = world(0.02, 1);
    let left = block().material(surface(RESTITUTION)).at([-0.08, 0.0, 0.0]).velocity([SPEED, 0.0, 0.0]);
    let right = block().material(surface(RESTITUTION)).at([0.08, 0.0, 0.0]);
    let (left, right) = (world.add_soft(left).unwrap(), world.add_soft(right).unwrap());
    for _ in 0..8 {
        world.step(&Input::none());
    }
    let [a, b] = [left, right].map(|id| f64::from(world.body(id).unwrap().velocity().x));
    assert!((a + b - f64::from(SPEED)).abs() < 1e-4 * f64::from(SPEED), "momentum: {a} and {b} m/s");
    assert!((b - a - f64::from(RESTITUTION * SPEED)).abs() < 0.05 * f64::from(SPEED), "{a} and {b} m/s");
}
