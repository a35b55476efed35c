//! The energy of a soft body never exceeds its initial energy plus the energy supplied (`guard/energy_limiter.rs`); and
//! severe loads that a step resolves are not limited.

#[path = "common/grid.rs"]
mod grid;
use grid::{Kind, Point, kinds};
use sinew::*;

/// Firm rubber at the step of a display.
const RUBBER: Point = Point { young: 1e5, poisson: 0.3, dt: 1.0 / 60.0, ratio: 1.0 };

/// Directions from a counter: all different, the same in each run.
fn direction(k: u32) -> Vec3 {
    let part =
        |n: u32| (k.wrapping_mul(2_654_435_761).wrapping_add(n.wrapping_mul(40_503)) >> 8) as Real % 1000.0 - 499.5;
    Vec3::new(part(1), part(2), part(3)).normalize()
}

/// Kinetic and elastic energy [J]. Models with goal positions that are solved by sweeps store none: a row gets the
/// velocity of its error.
fn energy(world: &World, body: BodyId) -> Real {
    let view = world.body(body).unwrap();
    let moving = view.node_masses().iter().zip(view.node_velocities()).map(|(m, v)| 0.5 * m * v.length_squared());
    let swept = world.report().soft.iter().any(|s| s.body == body && !s.implicit && s.stable_step.is_infinite());
    let stored = if swept { 0.0 } else { world.elastic(body).unwrap().energy() };
    moving.sum::<Real>() + stored
}

/// Maximum energy of a body in half a second after random velocities were given to its nodes, in units of the initial
/// energy.
fn growth(kind: &Kind, speed: Real) -> Real {
    let settings = Settings { dt: RUBBER.dt, gravity: Vec3::ZERO, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let body = world.add_soft((kind.make)(RUBBER).pinned(Vec::new())).unwrap();
    for (k, v) in world.tamper().node_v.iter_mut().enumerate() {
        *v = direction(k as u32) * speed;
    }
    let given = energy(&world, body);
    (0..30).fold(0.0, |most: Real, _| {
        let faults = &world.step(&Input::none()).faults;
        assert!(faults.is_empty(), "{} at {speed} m/s: {faults:?}", kind.name);
        most.max(energy(&world, body) / given)
    })
}

#[test]
fn random_node_velocities_of_many_body_sizes_per_step_add_no_energy() {
    for kind in kinds() {
        for speed in [3.0, 30.0, 300.0, 1500.0] {
            let most = growth(&kind, speed);
            assert!(most < 1.5, "{} at {speed} m/s: {most} times what it was given", kind.name);
        }
    }
}

/// A world with the ground and a block of rubber above it.
fn block(law: fem::Law, height: Real) -> (World, BodyId) {
    let params = fem::SolidParams { law, stiffness_damping: 0.002, ..fem::SolidParams::default() };
    let mesh = TetMesh::block([4; 3], Vec3::splat(0.2)).unwrap();
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let body = SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(params)).at([0.0, height, 0.0]);
    (world.add_soft(body).map(|id| (world, id))).unwrap()
}

fn cuts(world: &mut World, steps: u32) -> u32 {
    (0..steps).map(|_| world.step(&Input::none()).counts.cut_short).sum()
}

#[test]
fn impact_rotation_and_strong_compression_are_never_limited() {
    for law in [fem::Law::Corotational, fem::Law::StVenantKirchhoff, fem::Law::NeoHookean] {
        let (mut world, _) = block(law, 0.5);
        let centre = Vec3::new(0.0, 0.5, 0.0);
        let state = world.tamper();
        for (v, x) in state.node_v.iter_mut().zip(&state.node_x) {
            // eight metres per second onto the ground, five revolutions per second
            *v = Vec3::new(5.0, -8.0, 0.0) + Vec3::new(0.0, 10.0, 30.0).cross(*x - centre);
        }
        assert_eq!(cuts(&mut world, 120), 0, "{law:?}: thrown");

        let (mut world, body) = block(law, 0.1);
        let press = RigidBody::dynamic().shape(Shape::cuboid(0.3, 0.1, 0.3)).mass(2000.0).at([0.0, 0.35, 0.0]);
        world.add_rigid(press).unwrap();
        assert_eq!(cuts(&mut world, 240), 0, "{law:?}: pressed");
        let top = world.body(body).unwrap().node_positions().iter().map(|x| x.y).fold(0.0, Real::max);
        assert!(top < 0.15, "{law:?}: not pressed at all, {top} m");
    }
}

#[test]
fn a_bursting_rubber_balloon_is_never_limited() {
    let skin = TriMesh::ball(0.2, 4).unwrap();
    let params = fem::MembraneParams::default();
    let mut world = World::default();
    let balloon =
        world.add_soft(SoftBody::new(Geometry::Sheet(skin), SoftModel::Membrane(params)).at([0.0, 1.0, 0.0])).unwrap();
    let gas = world.add_volume(Volume::gas(balloon, 2e3, 1e5)).unwrap();
    assert_eq!(cuts(&mut world, 60), 0, "blown up");
    world.remove_constraint(gas).unwrap();
    assert_eq!(cuts(&mut world, 60), 0, "burst");
}

/// Boxes of up to ten times their mass fall onto explicit bodies: the work of contacts is counted, and nothing is
/// limited.
#[test]
fn explicit_bodies_under_load_are_never_limited() {
    for name in ["springs", "springs Verlet", "springs Kelvin", "solid corotational explicit", "meshless"] {
        let kind = kinds().into_iter().find(|kind| kind.name == name).unwrap();
        for (young, dt, ratio) in [(1e5, 1.0 / 60.0, 1.0), (1e6, 1.0 / 60.0, 10.0), (1e5, 4e-3, 10.0)] {
            let (mut world, _) = grid::build(&kind, Point { young, poisson: 0.3, dt, ratio }).unwrap();
            assert_eq!(cuts(&mut world, 60), 0, "{name} at {young} Pa, {dt} s, {ratio} times its mass");
        }
    }
}
