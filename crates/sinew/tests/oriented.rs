//! Oriented particles in a world: torsion by input, ellipsoids on shapes and on each other, friction that causes
//! rotation.

use sinew::oriented::{Ellipsoid, Group, Groups, Params};
use sinew::*;

const G: Real = 9.81;
const H: Real = 1.0 / 60.0;

fn body(points: &[Vec3], radii: Vec3) -> SoftBody {
    made(points, radii, false)
}

/// Solved by sweeps, or in one implicit system with all bodies in contact.
const WAYS: [bool; 2] = [false, true];

fn made(points: &[Vec3], radii: Vec3, implicit: bool) -> SoftBody {
    let grain = Ellipsoid { radii, density: 1000.0 };
    let model = SoftModel::Oriented(grain, Groups::Links, Params { frequency: 30.0, implicit, ..Params::default() });
    SoftBody::new(Geometry::Points(points.to_vec()), model)
}

fn floor(world: &mut World, friction: Real) {
    let floor = RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(friction));
    world.add_rigid(floor).unwrap();
}

fn chain(count: usize, implicit: bool) -> SoftBody {
    let points = (0..count).map(|k| Vec3::X * (0.05 * k as Real)).collect();
    let grain = Ellipsoid { radii: Vec3::new(0.02, 0.01, 0.01), density: 1000.0 };
    let params = Params { frequency: 30.0, damping: 30.0, implicit, ..Params::default() };
    SoftBody::new(Geometry::Rope(points), SoftModel::Oriented(grain, Groups::Links, params)).pinned([0])
}

/// Angular momentum about the origin, including that of the particles [kg·m²/s].
fn spin(world: &World, ids: &[BodyId]) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for &id in ids {
        let b = world.body(id).unwrap();
        for (k, (x, v)) in b.node_positions().iter().zip(b.node_velocities()).enumerate() {
            let (m, r) = (b.node_masses()[k], b.particle_radii()[k]);
            let (q, w) = (b.particle_rotation(k as u32).unwrap(), b.particle_spin(k as u32).unwrap());
            let s = r * r * (0.2 * m);
            let inertia = Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y);
            sum += x.cross(*v * m) + q * (inertia * (q.inverse() * w));
        }
    }
    sum
}

#[test]
fn a_torque_twists_a_chain_by_its_links_in_series() {
    WAYS.into_iter().for_each(twists_by_its_links_in_series);
}

fn twists_by_its_links_in_series(implicit: bool) {
    let (links, frequency) = (10, 30.0 as Real);
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    let id = world.add_soft(chain(links + 1, implicit)).unwrap();
    let mass = world.body(id).unwrap().node_masses()[0];
    let omega = core::f64::consts::TAU as Real * frequency;
    let inertia = 0.2 * mass * 2.0 * 0.01 * 0.01;
    // links in series, each 1/s + 1/s' in units of 1/(ω² I), s the weights of its particles: 1 at the ends, else ½
    let compliance = ((links as Real - 2.0) * 4.0 + 2.0 * 3.0) / (omega * omega * inertia);
    for angle in [0.1, 0.4, 0.8] {
        let torque = Vec3::X * (angle / compliance);
        for _ in 0..300 {
            world.step(&Input::none().with(Command::NodeTorque { body: id, node: links as u32, torque }));
        }
        let q = world.body(id).unwrap().particle_rotation(links as u32).unwrap();
        let found = 2.0 * (q.x / q.w).atan();
        assert!((found / angle - 1.0).abs() < 0.03, "{found} rad for {angle}");
    }
}

#[test]
fn a_restored_chain_continues_bitwise_identically() {
    WAYS.into_iter().for_each(continues_bitwise_identically);
}

fn continues_bitwise_identically(implicit: bool) {
    let make = || {
        let mut world = World::new(Settings::default()).unwrap();
        floor(&mut world, 0.5);
        let id = world.add_soft(chain(8, implicit).at([0.0, 0.1, 0.0])).unwrap();
        (world, id)
    };
    let push = |id| Input::none().with(Command::NodeTorque { body: id, node: 7, torque: Vec3::X * 1e-4 });
    let (mut world, id) = make();
    for _ in 0..30 {
        world.step(&push(id));
    }
    let kept = world.state().clone();
    for _ in 0..30 {
        world.step(&push(id));
    }
    let (mut other, id) = make();
    other.restore(&kept).unwrap();
    for _ in 0..30 {
        other.step(&push(id));
    }
    assert_eq!(other.state().first_difference(world.state()), None);
}

#[test]
fn a_torque_on_a_point_particle_is_rejected() {
    let mut world = World::new(Settings::default()).unwrap();
    let id = world.add_particles(Particles::new(vec![Vec3::ZERO])).unwrap();
    world.step(&Input::none().with(Command::NodeTorque { body: id, node: 0, torque: Vec3::X }));
    assert!(world.report().events.iter().any(|e| matches!(e, Event::Refused { command: 0 })));
}

#[test]
fn an_ellipsoid_rests_on_its_flat_side_at_the_height_of_its_smallest_axis() {
    let mut world = World::new(Settings::default()).unwrap();
    floor(&mut world, 0.5);
    let radii = Vec3::new(0.05, 0.02, 0.04);
    // tilted, so that it has to fall over
    let tilted = body(&[Vec3::ZERO], radii).at([0.0, 0.06, 0.0]).turned(Quat::from_rotation_z(0.7)).damping(2.0);
    let id = world.add_soft(tilted).unwrap();
    let mut lowest: Real = 1.0;
    for _ in 0..300 {
        world.step(&Input::none());
        let b = world.body(id).unwrap();
        let down = b.particle_rotation(0).unwrap().inverse() * Vec3::Y;
        lowest = lowest.min(b.node_positions()[0].y - (radii * down).length());
    }
    let b = world.body(id).unwrap();
    let up = b.particle_rotation(0).unwrap() * Vec3::Y;
    assert!(up.y.abs() > 0.999, "{up}");
    assert!((b.node_positions()[0].y - 0.02).abs() < 1e-3, "{}", b.node_positions()[0]);
    assert!(lowest > -2e-3, "its lowest point went down to {lowest} m");
}

#[test]
fn a_ball_rolls_down_a_slope_with_five_sevenths_of_the_acceleration() {
    WAYS.into_iter().for_each(rolls_with_five_sevenths_of_the_acceleration);
}

fn rolls_with_five_sevenths_of_the_acceleration(implicit: bool) {
    let slope = Quat::from_rotation_z(-0.2);
    let mut world = World::new(Settings::default()).unwrap();
    let plane =
        RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).turned(slope).material(SurfaceMaterial::friction(0.8));
    world.add_rigid(plane).unwrap();
    let id = world.add_soft(made(&[Vec3::ZERO], Vec3::splat(0.05), implicit).at(slope * Vec3::Y * 0.0505)).unwrap();
    // after it has settled
    let along = slope * Vec3::X;
    let speed = |w: &World| w.body(id).unwrap().node_velocities()[0].dot(along);
    for _ in 0..15 {
        world.step(&Input::none());
    }
    let before = speed(&world);
    for _ in 0..60 {
        world.step(&Input::none());
    }
    let pull = (speed(&world) - before) / (60.0 * H);
    let wanted = 5.0 / 7.0 * G * (0.2 as Real).sin();
    assert!((pull / wanted - 1.0).abs() < 0.02, "{pull} m/s² for {wanted}");
    // it rolls and does not slip
    let rolled = world.body(id).unwrap().particle_spin(0).unwrap().z * -0.05;
    assert!((rolled / speed(&world) - 1.0).abs() < 0.02, "{rolled} {}", speed(&world));
}

#[test]
fn a_spinning_ball_set_down_keeps_two_sevenths_of_its_rim_speed() {
    WAYS.into_iter().for_each(keeps_two_sevenths_of_its_rim_speed);
}

fn keeps_two_sevenths_of_its_rim_speed(implicit: bool) {
    let mut world = World::new(Settings::default()).unwrap();
    floor(&mut world, 0.3);
    let ball = made(&[Vec3::ZERO], Vec3::splat(0.05), implicit).at([0.0, 0.0502, 0.0]).spin([0.0, 0.0, -40.0]);
    let id = world.add_soft(ball).unwrap();
    for _ in 0..120 {
        world.step(&Input::none());
    }
    let v = world.body(id).unwrap().node_velocities()[0].x;
    assert!((v / (2.0 / 7.0 * 40.0 * 0.05) - 1.0).abs() < 0.03, "{v} m/s");
}

#[test]
fn ellipsoids_rest_on_balls_and_boxes_in_surface_contact() {
    for (shape, top) in [(Shape::Ball { radius: 0.2 }, 0.2), (Shape::cuboid(0.2, 0.1, 0.2), 0.1)] {
        let mut world = World::new(Settings::default()).unwrap();
        world.add_rigid(RigidBody::fixed().shape(shape).material(SurfaceMaterial::friction(1.0))).unwrap();
        let lens = body(&[Vec3::ZERO], Vec3::new(0.06, 0.02, 0.06)).at([0.0, top + 0.025, 0.0]).damping(5.0);
        let id = world.add_soft(lens).unwrap();
        for _ in 0..120 {
            world.step(&Input::none());
        }
        let x = world.body(id).unwrap().node_positions()[0];
        assert!((x - Vec3::Y * (top + 0.02)).length() < 2e-3, "{x}");
    }
}

#[test]
fn ellipsoids_that_collide_off_centre_conserve_linear_and_angular_momentum() {
    WAYS.into_iter().for_each(collide_off_centre_and_conserve_momentum);
}

fn collide_off_centre_and_conserve_momentum(implicit: bool) {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    let radii = Vec3::new(0.06, 0.03, 0.04);
    let rough = SurfaceMaterial::friction(0.6);
    let a = made(&[Vec3::ZERO], radii, implicit).at([-0.1, 0.01, 0.0]).velocity([0.5, 0.0, 0.0]).material(rough);
    let b = made(&[Vec3::ZERO], radii, implicit).at([0.1, -0.02, 0.01]).velocity([-0.5, 0.0, 0.0]).material(rough);
    let b = b.turned(Quat::from_rotation_z(0.8));
    let ids = [world.add_soft(a).unwrap(), world.add_soft(b).unwrap()];
    let mass = world.body(ids[0]).unwrap().mass();
    let before = spin(&world, &ids);
    let mut deepest: Real = 0.0;
    for _ in 0..60 {
        world.step(&Input::none());
        deepest = deepest.max(world.report().penetration);
    }
    let (va, vb) = (world.body(ids[0]).unwrap().velocity(), world.body(ids[1]).unwrap().velocity());
    assert!((va + vb).length() < 1e-5, "{va} {vb}");
    // they did collide, and the collision rotated them
    assert!(va.x < 0.3, "{va}");
    assert!(world.body(ids[0]).unwrap().particle_spin(0).unwrap().length() > 0.1);
    // the impulses of a row act on both bodies at one point
    let (change, scale) = ((spin(&world, &ids) - before).length(), 0.1 * mass * 0.5);
    assert!(deepest < 1e-3 && change < 1e-5 * scale, "{change:e} of {scale:e} kg·m²/s, {deepest} m deep");
}

#[test]
fn a_body_of_links_with_self_contact_does_not_interpenetrate() {
    // two particles of one body driven at each other
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    let points = vec![Vec3::ZERO, Vec3::X * 0.2];
    let drops = body(&points, Vec3::splat(0.04)).self_contact(true);
    let id = world.add_soft(drops).unwrap();
    for _ in 0..60 {
        let pull = |node, x: Real| Command::NodeForce { body: id, node, force: Vec3::X * x };
        world.step(&Input::none().with(pull(0, 0.5)).with(pull(1, -0.5)));
    }
    let x = world.body(id).unwrap().node_positions();
    assert!(x[0].distance(x[1]) > 0.078, "{x:?}");
    assert!(x[0].distance(x[1]) < 0.09, "{x:?}");
}

#[test]
fn a_hanging_chain_has_the_same_shape_with_sweeps_and_implicit_solve() {
    let [swept, solved] = WAYS.map(|implicit| {
        let mut world = World::new(Settings::default()).unwrap();
        // the swing mode has no internal damping
        let id = world.add_soft(chain(6, implicit).damping(5.0)).unwrap();
        for _ in 0..600 {
            world.step(&Input::none());
        }
        let b = world.body(id).unwrap();
        let turns: Vec<Quat> = (0..6).map(|k| b.particle_rotation(k).unwrap()).collect();
        (b.node_positions().to_vec(), turns)
    });
    // it sags by more than the thickness of its particles, so that there is something to compare
    assert!(swept.0[5].y < -0.02, "{:?}", swept.0);
    for k in 0..6 {
        let (off, turn) = (swept.0[k].distance(solved.0[k]), swept.1[k].angle_between(solved.1[k]));
        assert!(off < 0.01 * swept.0[5].y.abs() && turn < 0.01, "{k}: {off} m, {turn} rad");
    }
}

#[test]
fn particles_between_a_soft_block_and_a_plate_transmit_its_weight() {
    // a sheet of balls on finite elements, a rigid plate on the sheet: one implicit island
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
    floor(&mut world, 0.5);
    let mesh = TetMesh::block([4, 2, 4], Vec3::new(0.2, 0.05, 0.2)).unwrap();
    let block = world
        .add_soft(SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.3, 1000.0)).at([0.0, 0.025, 0.0]))
        .unwrap();
    let grid: Vec<Vec3> =
        (0..16).map(|k| Vec3::new((k % 4) as Real - 1.5, 0.0, (k / 4) as Real - 1.5) * 0.04).collect();
    let edges = (0..16u32).flat_map(|k| {
        let (right, down) = ((k % 4 < 3).then_some([k, k + 1]), (k < 12).then_some([k, k + 4]));
        right.into_iter().chain(down)
    });
    let groups = Groups::Explicit(edges.map(|e| Group { nodes: e.to_vec(), weight: 1.0 }).collect());
    let grain = Ellipsoid { radii: Vec3::splat(0.015), density: 1000.0 };
    let params = Params { frequency: 30.0, damping: 10.0, ..Params::default() };
    let sheet = SoftBody::new(Geometry::Points(grid), SoftModel::Oriented(grain, groups, params));
    let sheet = world.add_soft(sheet.at([0.0, 0.066, 0.0])).unwrap();
    let plate = RigidBody::dynamic().shape(Shape::cuboid(0.08, 0.01, 0.08)).mass(0.5).at([0.0, 0.0925, 0.0]);
    let plate = world.add_rigid(plate).unwrap();
    for _ in 0..180 {
        world.step(&Input::none());
    }
    assert_eq!(world.report().counts.implicit_islands, 1);
    let (mut on_plate, mut on_sheet, mut on_block) = (0.0, 0.0, 0.0);
    for _ in 0..60 {
        world.step(&Input::none());
        on_plate += world.report().contact_force_on(plate).y / 60.0;
        on_sheet += world.report().contact_force_on(sheet).y / 60.0;
        on_block += world.report().contact_force_on(block).y / 60.0;
    }
    let weight = |id: BodyId| world.body(id).unwrap().mass() * G;
    // the net contact force on each is its own weight: the force from below minus that from above
    for (force, id) in [(on_plate, plate), (on_sheet, sheet), (on_block, block)] {
        assert!((force / weight(id) - 1.0).abs() < 0.01, "{force} N for {} N", weight(id));
    }
}
