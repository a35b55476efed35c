//! Contact of soft surfaces with each other, with themselves and with small rigid bodies.

use sinew::*;

fn settings() -> Settings {
    Settings { dt: 0.01, sleep_time: Real::INFINITY, point_forces: true, ..Settings::default() }
}

fn jelly(cells: [u32; 3], size: Vec3, young: Real) -> SoftBody {
    let params = fem::Params { youngs_modulus: young, poisson_ratio: 0.3, density: 1000.0, damping: 0.02 };
    SoftBody::new(Geometry::Tets(TetMesh::block(cells, size).unwrap()), SoftModel::Corotational(params))
}

fn springs(cells: [u32; 3], size: Vec3, young: Real) -> SoftBody {
    let params = spring::Params { stiffness: spring::Stiffness::Young(young), ..spring::Params::default() };
    SoftBody::new(Geometry::Tets(TetMesh::block(cells, size).unwrap()), SoftModel::Springs(params))
}

fn ground() -> RigidBody {
    RigidBody::fixed().shape(Shape::half_space(Vec3::Y))
}

/// Normal force between two bodies in the last step [N].
fn force_between(world: &World, a: BodyId, b: BodyId) -> Real {
    let pairs = world.report().pairs.iter();
    pairs.filter(|p| (p.a, p.b) == (a, b) || (p.a, p.b) == (b, a)).map(|p| p.force.y.abs()).sum()
}

/// A block of 0.2 x 0.1 x 0.2 m on a larger one that stands on the ground; both families of solver.
fn block_on_block(make: fn([u32; 3], Vec3, Real) -> SoftBody) -> (Real, Real, Real) {
    let mut world = World::new(settings()).unwrap();
    world.add_rigid(ground()).unwrap();
    let low = make([6, 2, 6], Vec3::new(0.3, 0.1, 0.3), 2e5).at([0.0, 0.05, 0.0]);
    let low = world.add_soft(low).unwrap();
    let high = make([3, 2, 3], Vec3::new(0.2, 0.1, 0.2), 2e5).at([0.013, 0.151, 0.007]);
    let high = world.add_soft(high).unwrap();
    let mut force = 0.0;
    for step in 0..300 {
        world.step(&Input::none());
        assert!(world.report().faults.is_empty(), "step {step}: {:?}", world.report().faults);
        if step >= 200 {
            force += 0.01 * force_between(&world, low, high);
        }
    }
    let lowest = world.body(high).unwrap().node_positions().iter().map(|p| p.y).fold(Real::INFINITY, Real::min);
    (force, world.report().penetration, lowest)
}

/// A plate of 3 mm on one of 2 mm: points above the lower one are behind its underside too, by less than the contact
/// margin, and were pulled down through it.
#[test]
fn a_thin_plate_rests_on_a_thin_plate() {
    let mut world = World::new(settings()).unwrap();
    world.add_rigid(ground()).unwrap();
    let low = world.add_soft(springs([6, 1, 6], Vec3::new(0.12, 2e-3, 0.12), 1e6).at([0.0, 1e-3, 0.0])).unwrap();
    let high = springs([5, 1, 5], Vec3::new(0.1, 3e-3, 0.1), 1e6).at([1e-3, 3.6e-3, 2e-3]);
    let high = world.add_soft(high).unwrap();
    let mut force = 0.0;
    for step in 0..200 {
        world.step(&Input::none());
        force += if step < 100 { 0.0 } else { 0.01 * force_between(&world, low, high) };
        let heights = world.body(high).unwrap().node_positions().iter().map(|p| p.y);
        let (lowest, highest) = heights.fold((1.0, 0.0), |(low, high): (Real, Real), y| (low.min(y), high.max(y)));
        assert!(lowest > 1.7e-3 && highest < 5.7e-3, "step {step}: {lowest} to {highest} m");
    }
    let weight: Real = world.body(high).unwrap().node_masses().iter().sum::<Real>() * 9.81;
    assert!((force - weight).abs() < 0.01 * weight, "{force} N for {weight}");
}

#[test]
fn an_implicit_block_rests_on_another_with_its_weight() {
    let weight = 4.0 * 9.81;
    let (force, depth, lowest) = block_on_block(jelly);
    assert!((force - weight).abs() < 0.01 * weight, "{force} N for {weight}");
    assert!(depth < 1e-3, "{depth}");
    assert!(lowest > 0.09 && lowest < 0.102, "{lowest}");
}

#[test]
fn a_block_of_springs_rests_on_another_with_its_weight() {
    let weight = 4.0 * 9.81;
    let (force, depth, lowest) = block_on_block(springs);
    assert!((force - weight).abs() < 0.02 * weight, "{force} N for {weight}");
    assert!(depth < 1e-3, "{depth}");
    assert!(lowest > 0.09 && lowest < 0.102, "{lowest}");
}

#[test]
fn two_soft_bodies_that_collide_conserve_momentum() {
    for make in [jelly as fn([u32; 3], Vec3, Real) -> SoftBody, springs] {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..settings() }).unwrap();
        let size = Vec3::splat(0.1);
        let a = world.add_soft(make([2; 3], size, 1e5).at([-0.06, 0.0, 0.0]).velocity([1.0, 0.0, 0.0])).unwrap();
        let b = world.add_soft(make([3; 3], size, 1e5).at([0.06, 0.02, 0.01]).velocity([-0.5, 0.0, 0.0])).unwrap();
        let moving = |world: &World, id| {
            let body = world.body(id).unwrap();
            body.node_velocities().iter().zip(body.node_masses()).fold(Vec3::ZERO, |s, (&v, &m)| s + v * m)
        };
        let spin = |world: &World| {
            let mut sum = Vec3::ZERO;
            for body in [a, b].map(|id| world.body(id).unwrap()) {
                let nodes = body.node_positions().iter().zip(body.node_velocities()).zip(body.node_masses());
                sum += nodes.fold(Vec3::ZERO, |s, ((x, v), m)| s + x.cross(*v) * *m);
            }
            sum
        };
        let before = moving(&world, a) + moving(&world, b);
        let (single, spin_before) = (moving(&world, a), spin(&world));
        for _ in 0..60 {
            world.step(&Input::none());
        }
        let after = moving(&world, a) + moving(&world, b);
        // the collision took place
        assert!((moving(&world, a) - single).length() > 0.3, "{}", moving(&world, a));
        assert!((after - before).length() < 2e-5 * single.length(), "{before} {after}");
        // friction acted across a gap, and gave the implicit ones 2 % of angular momentum
        let spun = spin(&world);
        assert!((spun - spin_before).length() < 2e-5 * 0.1 * single.length(), "{spin_before} {spun}");
    }
}

#[test]
fn a_small_ball_does_not_sink_between_the_surface_points_of_a_coarse_body() {
    let mut world = World::new(settings()).unwrap();
    world.add_rigid(ground()).unwrap();
    // cells of 0.1 m, a ball of 2 cm in the middle of a face, away from every vertex and edge
    world.add_soft(jelly([2, 1, 2], Vec3::new(0.2, 0.1, 0.2), 1e6).at([0.0, 0.05, 0.0])).unwrap();
    let ball = RigidBody::dynamic().shape(Shape::ball(0.02)).mass(0.05).at([0.06, 0.125, 0.03]);
    let ball = world.add_rigid(ball.material(SurfaceMaterial::friction(1.0))).unwrap();
    for _ in 0..100 {
        world.step(&Input::none());
    }
    let y = world.body(ball).unwrap().position().y;
    assert!((y - 0.12).abs() < 1e-3, "{y}");
    assert!(world.report().penetration < 1e-3);
}

fn rope(from: Vec3, to: Vec3, count: usize) -> SoftBody {
    let points: Vec<Vec3> = (0..count).map(|k| from + (to - from) * (k as Real / (count - 1) as Real)).collect();
    let matter = pbd::Cord { stretch: 1e4, bend: 1e-4, density: 0.05, compression: 1.0 };
    SoftBody::new(Geometry::Rope(points), SoftModel::Pbd(pbd::Structure::Cord(matter), pbd::Params::default()))
}

#[test]
fn a_rope_falls_across_another_and_stays_on_it() {
    let mut world = World::new(settings()).unwrap();
    let low = rope(Vec3::new(-0.25, 0.0, 0.0), Vec3::new(0.25, 0.0, 0.0), 11).pinned([0, 10]).thickness(0.005);
    let low = world.add_soft(low).unwrap();
    // an even number of points: the ropes cross between them
    let high = rope(Vec3::new(0.011, 0.05, -0.2), Vec3::new(0.011, 0.05, 0.2), 10).thickness(0.005);
    let high = world.add_soft(high.material(SurfaceMaterial::friction(1.0))).unwrap();
    for _ in 0..60 {
        world.step(&Input::none());
    }
    let positions = world.body(high).unwrap().node_positions();
    let middle = (positions[4] + positions[5]) * 0.5;
    let below = world.body(low).unwrap().node_positions()[5];
    // two half thicknesses apart, minus the sag of the segments
    assert!(middle.y > below.y + 0.008 && (middle.x - below.x).abs() < 0.05, "{middle} over {below}");
    // and the ends hang down on both sides
    assert!(positions[0].y < middle.y - 0.05 && positions[9].y < middle.y - 0.05);
}

#[test]
fn a_strip_that_folds_onto_itself_keeps_its_layers_apart() {
    let half = 0.004;
    let run = |own: bool| {
        let mut world = World::new(settings()).unwrap();
        world.add_rigid(ground()).unwrap();
        let mesh = TriMesh::sheet([20, 4], [0.4, 0.08], Diagonals::Alternating).unwrap();
        let matter = pbd::Sheet {
            stretch: 1e3,
            bend: 1e-5,
            density: 0.2,
            compression: 1.0,
            skip_stiffness: 0.0,
            stretch_limit: Real::INFINITY,
        };
        let strip =
            SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(matter), pbd::Params::default()));
        // standing on its short edge: it crumples onto itself
        let turn = Quat::from_rotation_z(0.5 * std::f64::consts::PI as Real);
        let strip = strip.turned(turn).at([0.0, 0.21, 0.0]).spin([0.0, 0.0, 0.3]);
        let id = world.add_soft(strip.thickness(half).self_contact(own)).unwrap();
        for _ in 0..200 {
            world.step(&Input::none());
        }
        let x = world.body(id).unwrap().node_positions().to_vec();
        // smallest distance of points that are far from each other in the strip
        let mut least = Real::INFINITY;
        for i in 0..x.len() {
            for j in 0..i {
                let rows = (i / 21).abs_diff(j / 21).max((i % 21).abs_diff(j % 21));
                if rows > 4 {
                    least = least.min((x[i] - x[j]).length());
                }
            }
        }
        least
    };
    let (with, without) = (run(true), run(false));
    assert!(with > 1.5 * half, "layers {with} m apart, without self contact {without}");
    assert!(without < with, "{without} {with}");
}

/// A jelly that extends beyond a plate that lies on it: where its top leaves the plate there are contacts at the rim in
/// every step, open or not. While there was one contact per triangle, its nearest point, the rim lost its rows whenever
/// it was slightly open, and penetrated by a millimetre in the next step, indefinitely.
#[test]
fn a_jelly_that_extends_beyond_a_plate_comes_to_rest_under_its_rim() {
    let mut world = World::new(Settings { dt: 0.02, ..settings() }).unwrap();
    world.add_rigid(ground()).unwrap();
    world.add_soft(jelly([9, 3, 6], Vec3::new(0.36, 0.1, 0.2), 2e4).at([0.0, 0.05, 0.0])).unwrap();
    // 17 mm short of the ends, between two rows of nodes
    let plate = RigidBody::dynamic().shape(Shape::cuboid(0.163, 0.01, 0.13)).mass(2.0).at([0.0, 0.112, 0.0]);
    let plate = world.add_rigid(plate).unwrap();
    let mut deepest: Real = 0.0;
    for step in 0..250 {
        world.step(&Input::none());
        deepest = deepest.max(if step < 100 { 0.0 } else { world.report().penetration });
    }
    // at rest a step of 20 ms moves nothing by more than the contact compliance
    assert!(deepest < 1e-5, "{deepest}");
    let rim = |c: &&ContactForce| (c.point.x.abs() - 0.163).abs() < 2e-3 && c.force.y.abs() > 1e-3;
    let held = world.report().contacts.iter().filter(|c| c.a == plate || c.b == plate).filter(rim).count();
    assert!(held >= 10, "{held} contacts at the rims");
    let weight: Real =
        world.report().pairs.iter().filter(|p| p.a == plate || p.b == plate).map(|p| p.force.y.abs()).sum();
    assert!((weight - 19.62).abs() < 0.02, "{weight} N");
}

/// Every triangle of a sheet half a metre thick is within the contact distance of every other: a step took 43 s and 6
/// GB.
#[test]
fn a_sheet_far_thicker_than_its_triangles_is_rejected_by_name() {
    let mut world = World::new(settings()).unwrap();
    let sheet = |thickness: Real| {
        let mesh = TriMesh::sheet([30, 30], [1.2, 1.2], Diagonals::Alternating).unwrap();
        let cloth = pbd::Sheet {
            stretch: 2000.0,
            bend: 0.0,
            density: 0.1,
            compression: 1.0,
            skip_stiffness: 0.0,
            stretch_limit: Real::INFINITY,
        };
        let model = SoftModel::Pbd(pbd::Structure::Sheet(cloth), pbd::Params::default());
        SoftBody::new(Geometry::Sheet(mesh), model).thickness(thickness).self_contact(true).named("felt")
    };
    let refused = world.add_soft(sheet(0.5)).unwrap_err().to_string();
    assert!(refused.contains("felt") && refused.contains("thickness is 0.5"), "{refused}");
    // the mean edge is 4.6 cm
    world.add_soft(sheet(0.08)).unwrap();
    world.step(&Input::none());
}
