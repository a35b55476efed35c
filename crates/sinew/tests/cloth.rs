//! Cloth of position based dynamics: limited stretch, contact forces equal to the weight, and bitwise independence of
//! lanes and threads.

mod common;

use sinew::*;

/// A square of `side` x `side` nodes in the plane y = 0, `size` wide [m].
fn square(side: u32, size: Real) -> TriMesh {
    let step = size / (side - 1) as Real;
    let mut mesh = TriMesh::default();
    for i in 0..side {
        for j in 0..side {
            mesh.vertices.push(Vec3::new(i as Real * step - size / 2.0, 0.0, j as Real * step - size / 2.0));
        }
    }
    for i in 0..side - 1 {
        for j in 0..side - 1 {
            let a = i * side + j;
            mesh.triangles.extend([[a, a + 1, a + side + 1], [a, a + side + 1, a + side]]);
        }
    }
    mesh
}

fn stiff() -> pbd::Sheet {
    pbd::Sheet { stretch: 1e5, bend: 0.0, density: 0.25, compression: 1e-4, skip_stiffness: 1e5, stretch_limit: 0.03 }
}

fn cloth(mesh: TriMesh, sheet: pbd::Sheet) -> SoftBody {
    let params = pbd::Params { iterations: 1, ..pbd::Params::default() };
    SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(sheet), params))
        .material(SurfaceMaterial::friction(0.5))
}

fn settings(gravity: Real) -> Settings {
    let gravity = Vec3::new(0.0, -gravity, 0.0);
    Settings { dt: 0.02, substeps: 20, gravity, sleep_time: Real::INFINITY, ..Settings::default() }
}

fn ball() -> RigidBody {
    RigidBody::dynamic().shape(Shape::ball(0.5)).mass(2.0).at([0.0, 0.5, 0.0]).material(SurfaceMaterial::friction(0.5))
}

/// A cloth over a ball: the world, the ball, the cloth.
fn over_ball(settings: Settings, fixed: bool, speed: Real, mesh: &TriMesh) -> Result<(World, BodyId, BodyId), Error> {
    let mut world = World::new(settings)?;
    let body = if fixed { RigidBody::fixed().shape(Shape::ball(0.5)).at([0.0, 0.5, 0.0]) } else { ball() };
    let ball = world.add_rigid(body.material(SurfaceMaterial::friction(0.5)))?;
    let cloth = cloth(mesh.clone(), stiff()).thickness(5e-4);
    let cloth = world.add_soft(cloth.at([0.02, 1.1, 0.01]).velocity([0.0, -speed, 0.0]))?;
    Ok((world, ball, cloth))
}

fn longest(mesh: &TriMesh, x: &[Vec3]) -> Real {
    let stretch = |[a, b]: [u32; 2]| {
        let (a, b) = (a as usize, b as usize);
        x[a].distance(x[b]) / mesh.vertices[a].distance(mesh.vertices[b]) - 1.0
    };
    mesh.edges().into_iter().map(stretch).fold(0.0, Real::max)
}

#[test]
fn a_cloth_on_a_ball_stretches_less_than_five_percent_and_no_node_penetrates() -> Result<(), Error> {
    let mesh = square(31, 2.0);
    let (mut world, ball, cloth) = over_ball(settings(9.81), true, 0.0, &mesh)?;
    for step in 0..80 {
        assert!(world.step(&Input::none()).faults.is_empty());
        let x = world.body(cloth)?.node_positions();
        let centre = world.body(ball)?.position();
        assert!(longest(&mesh, x) < 0.05, "step {step}: {}", longest(&mesh, x));
        let nearest = x.iter().map(|p| p.distance(centre)).fold(Real::INFINITY, Real::min);
        // the error of the chord of a substep's displacement along the ball is of second order
        assert!(nearest > 0.5 - 2e-5, "step {step}: {nearest}");
    }
    Ok(())
}

#[test]
fn the_impact_of_a_cloth_on_a_ball_conserves_momentum() -> Result<(), Error> {
    // the finer one stays in columns: its triangles cannot be in contact between their nodes
    for side in [31, 51] {
        let (mut world, ball, cloth) = over_ball(settings(0.0), false, 3.0, &square(side, 2.0))?;
        let total = |world: &World| -> Result<[f64; 3], Error> {
            let (of_ball, of_cloth) = (world.body(ball)?, world.body(cloth)?);
            let mut sum = of_ball.velocity().to_array().map(|v| f64::from(v) * 2.0);
            for (v, m) in of_cloth.node_velocities().iter().zip(of_cloth.node_masses()) {
                for (sum, v) in sum.iter_mut().zip(v.to_array()) {
                    *sum += f64::from(v) * f64::from(*m);
                }
            }
            Ok(sum)
        };
        let before = total(&world)?;
        for _ in 0..50 {
            world.step(&Input::none());
        }
        let after = total(&world)?;
        assert!(world.body(ball)?.velocity().y < -0.5, "the ball was hit");
        // a random walk of one rounding of the velocity in each of 1000 substeps, and the rounding of the sum above
        let walk = 3.0 * 32.0 * f64::from(Real::EPSILON);
        let sum = 3.0 * f64::from(side * side) * f64::EPSILON;
        for (a, b) in after.into_iter().zip(before) {
            assert!((a - b).abs() < walk + sum, "{side}: {before:?} {after:?}");
        }
    }
    Ok(())
}

#[test]
fn the_elongation_of_a_hanging_sheet_is_independent_of_the_substeps() -> Result<(), Error> {
    // edges along, across and diagonal: E t Σ A/L² gives the elongation m g L/(2 E t b) of a strip under its weight,
    // free lateral strain
    let (side, size, modulus): (u32, Real, Real) = (9, 0.4, 60.0);
    let mesh = square(side, size);
    let mut lengths = Vec::new();
    for substeps in [10, 20, 40] {
        let mut world = World::new(Settings { substeps, ..settings(9.81) })?;
        let (skip_stiffness, stretch_limit) = (0.0, Real::INFINITY);
        let sheet =
            pbd::Sheet { stretch: modulus, bend: 0.0, density: 1.0, compression: 1.0, skip_stiffness, stretch_limit };
        let params = pbd::Params { iterations: 30, ..pbd::Params::default() };
        let body = SoftBody::new(Geometry::Sheet(mesh.clone()), SoftModel::Pbd(pbd::Structure::Sheet(sheet), params));
        // hangs down from the row of nodes at x = −size/2
        let down = Quat::from_rotation_z(-0.5 * std::f64::consts::PI as Real);
        let body = body.turned(down).pinned((0..side).collect::<Vec<_>>()).damping(4.0);
        let id = world.add_soft(body)?;
        for _ in 0..300 {
            world.step(&Input::none());
        }
        let x = world.body(id)?.node_positions();
        let low = (side * (side - 1)..side * side).map(|n| x[n as usize].y).sum::<Real>() / side as Real;
        let top = (0..side).map(|n| x[n as usize].y).sum::<Real>() / side as Real;
        lengths.push(top - low - size);
    }
    let weight = 1.0 * size * size * 9.81;
    let want = weight * size / (2.0 * modulus * size);
    for got in &lengths {
        // the clamped row and the directions of the diagonals: the mesh is within a tenth of the strip
        assert!((got / want - 1.0).abs() < 0.1, "{got} {want}");
        assert!((got / lengths[2] - 1.0).abs() < 0.01, "{lengths:?}");
    }
    Ok(())
}

#[test]
fn lanes_threads_and_a_restored_world_are_bitwise_identical() -> Result<(), Error> {
    let mesh = square(21, 2.0);
    common::same_bits(settings(9.81), |settings| {
        let (mut world, ..) = over_ball(settings, false, 1.0, &mesh)?;
        let ground = RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(0.5));
        world.add_rigid(ground)?;
        Ok(world)
    })?;
    Ok(())
}

#[test]
fn the_contact_force_of_a_resting_cloth_is_its_weight_in_lanes_and_rows() -> Result<(), Error> {
    // lanes handle nodes that are light compared with the body, rows the others; for a fixed plane lanes handle all
    let mesh = square(9, 0.4);
    for mass in [0.1, 50.0] {
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..settings(9.81) })?;
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        let table = RigidBody::dynamic().shape(Shape::cuboid(0.5, 0.05, 0.5)).mass(mass).at([0.0, 0.05, 0.0]);
        let table = world.add_rigid(table)?;
        let cloth = world.add_soft(cloth(mesh.clone(), stiff()).at([0.0, 0.105, 0.0]))?;
        // a table not much heavier than the cloth still vibrates: the mean is compared (docs/accuracy.md)
        let (mut press, mut ground, steps) = (0.0, 0.0, 100);
        for k in 0..50 + steps {
            world.step(&Input::none());
            let pairs = &world.report().pairs;
            if k >= 50 {
                press += pairs.iter().filter(|p| p.a == table && p.b == cloth).map(|p| p.force.y).sum::<Real>();
                ground += pairs.iter().filter(|p| p.b == table).map(|p| p.force.y).sum::<Real>();
            }
        }
        let (press, ground) = (press / steps as Real, ground / steps as Real);
        let weight = 0.25 * 0.4 * 0.4 * 9.81;
        assert!((press / weight - 1.0).abs() < 0.01, "{mass} kg: {press} {weight}");
        let all = weight + mass * 9.81;
        assert!((ground / all - 1.0).abs() < 0.01, "{mass} kg: {ground} {all}");
        let speed = world.body(table)?.velocity().length();
        assert!(speed < 1e-3, "{mass} kg: {speed}");
    }
    Ok(())
}

#[test]
fn a_cloth_slides_on_a_slope_above_the_friction_angle_and_sticks_below_it() -> Result<(), Error> {
    // tan 20° = 0.364
    let slope: Real = 20.0 * std::f64::consts::PI as Real / 180.0;
    let normal = Vec3::new(slope.sin(), slope.cos(), 0.0);
    for (friction, slides) in [(0.3, true), (0.45, false)] {
        let mut world = World::new(settings(9.81))?;
        let plane = RigidBody::fixed().shape(Shape::half_space(normal)).material(SurfaceMaterial::friction(friction));
        world.add_rigid(plane)?;
        let body = cloth(square(9, 0.4), stiff()).material(SurfaceMaterial::friction(friction));
        let id = world.add_soft(body.turned(Quat::from_rotation_z(-slope)).at(normal * 1e-4))?;
        let down = Vec3::new(slope.cos(), -slope.sin(), 0.0);
        for _ in 0..50 {
            world.step(&Input::none());
        }
        let way = world.body(id)?.center_of_mass().dot(down);
        let want = if slides { 0.5 * 9.81 * (slope.sin() - friction * slope.cos()) } else { 0.0 };
        // sliding starts within the first step
        assert!((way - want).abs() < 0.02 * want + 1e-3, "{friction}: {way} {want}");
    }
    Ok(())
}

/// Cloths of several sizes, in strips and by index, over fixed balls, and one on a plane.
fn several(settings: Settings) -> Result<World, Error> {
    let mut world = World::new(settings)?;
    let rough = SurfaceMaterial::friction(0.5);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(rough))?;
    for (k, side) in [21, 9, 33].into_iter().enumerate() {
        let at = Vec3::new(3.0 * k as Real, 0.5, 0.0);
        world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.5)).at(at).material(rough))?;
        let body = cloth(square(side, 1.0 + 0.3 * k as Real), stiff()).thickness(5e-4);
        let body = body.at(at + Vec3::new(0.02, 0.55, 0.01));
        world.add_soft(body.velocity([0.3, -1.0, 0.0]))?;
    }
    world.add_soft(cloth(square(21, 1.0), stiff()).at([-3.0, 0.01, 0.0]).velocity([1.0, 0.0, 0.0]))?;
    Ok(world)
}

#[test]
fn cloths_over_fixed_bodies_are_bitwise_identical_in_lanes_on_threads_and_restored() -> Result<(), Error> {
    common::same_bits(settings(9.81), several)?;
    Ok(())
}

/// Maximum stretch of the edges of a cloth that falls onto a ball, and its total number of substeps.
fn caught(settings: Settings, speed: Vec3) -> Result<(Real, u32), Error> {
    let mesh = square(31, 1.2);
    let mut world = World::new(settings)?;
    let ball = RigidBody::kinematic().shape(Shape::ball(0.3)).velocity(speed).material(SurfaceMaterial::friction(0.5));
    world.add_rigid(ball)?;
    let body = cloth(mesh.clone(), stiff()).thickness(5e-4).velocity(speed).at([0.01, 0.35, 0.02]);
    let id = world.add_soft(body)?;
    let (mut worst, mut substeps): (Real, u32) = (0.0, 0);
    for _ in 0..60 {
        substeps += world.step(&Input::none()).counts.substeps;
        worst = worst.max(longest(&mesh, world.body(id)?.node_positions()));
    }
    Ok((worst, substeps))
}

/// As many substeps as the maximum requires, but only while required: half of them in total.
#[test]
fn a_cloth_gets_short_substeps_during_its_impact_only() -> Result<(), Error> {
    let with = |substeps: u32, sheet_substeps: u32| Settings { substeps, sheet_substeps, dt: 0.02, ..settings(9.81) };
    let (always, all) = caught(with(18, 1), Vec3::ZERO)?;
    let (few, _) = caught(with(7, 1), Vec3::ZERO)?;
    let (asked, some) = caught(with(7, 18), Vec3::ZERO)?;
    assert!(few > 0.055 && always < 0.04 && asked < 0.05, "{few} {always} {asked}");
    assert!(all == 18 * 60 && some < 3 * all / 4, "{some} of {all}");
    // Galilean invariance: the speed is relative to the mean motion of the cloth
    let (_, moving) = caught(with(7, 18), Vec3::new(3.0, 0.0, 0.0))?;
    assert!(moving.abs_diff(some) < some / 10, "{moving} {some}");
    Ok(())
}

/// Sheets that bend, and so are not in columns, and ropes require substeps too; other bodies do not, whatever the
/// substeps before were.
#[test]
fn only_sheets_and_ropes_require_additional_substeps() -> Result<(), Error> {
    let with = Settings { substeps: 4, sheet_substeps: 18, ..settings(9.81) };
    let most = |add: &dyn Fn(&mut World) -> Result<BodyId, Error>| -> Result<u32, Error> {
        let mut world = World::new(with.clone())?;
        world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.3)))?;
        add(&mut world)?;
        let mut most = 0;
        for _ in 0..30 {
            most = most.max(world.step(&Input::none()).counts.substeps);
        }
        Ok(most)
    };
    let fast = Vec3::new(0.0, -4.0, 0.0);
    let bent = pbd::Sheet { bend: 1e-5, ..stiff() };
    let sheet = |world: &mut World| {
        world.add_soft(cloth(square(15, 1.2), bent).thickness(5e-4).velocity(fast).at([0.0, 0.35, 0.0]))
    };
    let rope = |world: &mut World| {
        let points = (0..21).map(|k| Vec3::new(0.05 * k as Real - 0.5, 0.35, 0.0)).collect();
        let cord = pbd::Cord { stretch: 5000.0, bend: 1e-4, density: 0.1, compression: 0.2 };
        let model = SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params::default());
        world.add_soft(SoftBody::new(Geometry::Rope(points), model).thickness(0.004).velocity(fast))
    };
    let ball = |world: &mut World| {
        world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).velocity(fast).at([0.0, 0.5, 0.0]))
    };
    let found = [most(&sheet)?, most(&rope)?, most(&ball)?];
    assert!(found[0] > 8 && found[1] > 8 && found[2] == 4, "{found:?}");
    Ok(())
}

#[test]
fn additional_substeps_are_bitwise_identical_in_lanes_on_threads_and_restored() -> Result<(), Error> {
    let mesh = square(21, 1.0);
    let with = Settings { substeps: 5, sheet_substeps: 16, dt: 0.02, ..settings(9.81) };
    common::same_bits(with, |settings| Ok(over_ball(settings, false, 1.0, &mesh)?.0))?;
    Ok(())
}

#[test]
fn contact_forces_of_a_cloth_on_a_ball_and_a_plane_sum_to_its_weight() -> Result<(), Error> {
    // 0.25 kg/m² on 2 m x 2 m; the rim reaches the ground
    let mut world = World::new(settings(9.81))?;
    let rough = SurfaceMaterial::friction(0.5);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(rough))?;
    world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.3)).at([0.0, 0.3, 0.0]).material(rough))?;
    let body = cloth(square(25, 2.0), stiff()).thickness(5e-4).damping(1.0);
    let id = world.add_soft(body.at([0.0, 0.62, 0.0]))?;
    let (mut press, steps) = (0.0, 100);
    for k in 0..300 + steps {
        world.step(&Input::none());
        if k >= 300 {
            press += world.report().pairs.iter().filter(|p| p.b == id).map(|p| p.force.y).sum::<Real>();
        }
    }
    let weight = 0.25 * 4.0 * 9.81;
    let press = press / steps as Real;
    // the remainder of its oscillation after two seconds: h m v of the mean
    assert!((press / weight - 1.0).abs() < 0.02, "{press} {weight}");
    Ok(())
}

/// Linear and angular momentum about the origin.
fn momenta(body: &BodyView<'_>) -> [[f64; 3]; 2] {
    let mut sums = [[0.0; 3]; 2];
    let wide = |v: Vec3| v.to_array().map(f64::from);
    for ((x, v), m) in body.node_positions().iter().zip(body.node_velocities()).zip(body.node_masses()) {
        let (x, p) = (wide(*x), wide(*v).map(|c| c * f64::from(*m)));
        let spin = [x[1] * p[2] - x[2] * p[1], x[2] * p[0] - x[0] * p[2], x[0] * p[1] - x[1] * p[0]];
        for k in 0..3 {
            (sums[0][k], sums[1][k]) = (sums[0][k] + p[k], sums[1][k] + spin[k]);
        }
    }
    sums
}

#[test]
fn a_rotating_cloth_in_free_flight_conserves_linear_and_angular_momentum() -> Result<(), Error> {
    // in strips, and by index: one vertex more
    let mut odd = square(21, 1.0);
    let [a, b, c] = odd.triangles[7];
    let middle = odd.vertices.len() as u32;
    odd.vertices.push((odd.vertices[a as usize] + odd.vertices[b as usize] + odd.vertices[c as usize]) / 3.0);
    odd.triangles[7] = [a, b, middle];
    odd.triangles.extend([[b, c, middle], [c, a, middle]]);
    for mesh in [square(21, 1.0), odd] {
        let mut world = World::new(settings(0.0))?;
        // edges rotate by a hundredth in a substep: their tension alone would remove a twentieth of the angular
        // momentum in a second
        let body = cloth(mesh, stiff()).velocity([3.0, -1.0, 0.5]).spin([1.0, 10.0, 2.0]);
        let id = world.add_soft(body)?;
        let before = momenta(&world.body(id)?);
        for _ in 0..50 {
            assert!(world.step(&Input::none()).faults.is_empty());
        }
        let after = momenta(&world.body(id)?);
        for (kind, (after, before)) in after.into_iter().zip(before).enumerate() {
            let size = before.iter().map(|b| b * b).sum::<f64>().sqrt();
            let lost = after.iter().zip(before).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            assert!(lost < 1e-4 * size, "{kind}: {before:?} {after:?}");
        }
    }
    Ok(())
}

#[test]
fn friction_of_every_cloth_node_is_within_its_cone() -> Result<(), Error> {
    for fixed in [true, false] {
        // steps of one substep: the force has a single normal
        let settings = Settings { point_forces: true, dt: 1e-3, substeps: 1, ..settings(9.81) };
        let (mut world, ..) = over_ball(settings, fixed, 1.0, &square(51, 2.0))?;
        world
            .add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(0.5)))?;
        let mut seen = 0;
        for step in 0..400 {
            world.step(&Input::none());
            for f in world.report().contacts.iter().filter(|f| f.spread_b.is_some()) {
                // the normal is that at the end of the step: for a node moving around the ball it has rotated by v dt/r
                let most = 0.5 * f.normal_force() + 0.02 * f.force.length();
                assert!(f.friction().length() <= most, "step {step}: {f:?}");
                seen += 1;
            }
        }
        assert!(seen > 10_000, "{seen}");
    }
    Ok(())
}

#[test]
fn a_cloth_in_columns_has_the_forces_and_shape_of_one_in_rows() -> Result<(), Error> {
    // enabling substeps for impacts makes a sheet use rows; nothing here is fast enough to get any
    let mesh = square(21, 1.0);
    let mut means = Vec::new();
    for impact_substeps in [1, 2] {
        let settings = Settings { impact_substeps, ..settings(9.81) };
        let mut world = World::new(settings)?;
        let rough = SurfaceMaterial::friction(0.5);
        world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.5)).at([0.0, 0.5, 0.0]).material(rough))?;
        let id = world.add_soft(cloth(mesh.clone(), stiff()).thickness(5e-4).damping(2.0).at([0.02, 1.001, 0.01]))?;
        let (mut force, mut height) = (0.0, 0.0);
        for step in 0..150 {
            world.step(&Input::none());
            if step >= 100 {
                force += world.report().pairs.iter().map(|p| p.force.y).sum::<Real>() / 50.0;
                height += world.body(id)?.center_of_mass().y / 50.0;
            }
        }
        means.push([force, height]);
    }
    let [[by_columns, high], [by_rows, high_too]] = [means[0], means[1]];
    assert!((by_columns / 2.4525 - 1.0).abs() < 0.02 && (by_rows / 2.4525 - 1.0).abs() < 0.02, "{means:?}");
    // the shapes agree to a twentieth of the ball's radius
    assert!((high - high_too).abs() < 0.025, "{means:?}");
    Ok(())
}

/// A cloth in columns is swept in lanes and has no rows; it sleeps like other bodies.
#[test]
fn a_sleeping_cloth_reports_its_weight_and_wakes_on_impact() -> Result<(), Error> {
    let mut world = World::new(Settings { sleep_time: 0.5, ..settings(9.81) })?;
    let floor = world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let cloth = world.add_soft(cloth(square(20, 0.5), stiff()).at([0.0, 0.02, 0.0]))?;
    let asleep = |world: &World| world.body(cloth).is_ok_and(|b| b.is_asleep());
    let slept = (0..400).any(|_| {
        world.step(&Input::none());
        asleep(&world)
    });
    assert!(slept, "it never came to rest");
    let weight = 9.81 * world.body(cloth)?.mass();
    for step in 0..5 {
        world.step(&Input::none());
        let pairs = &world.report().pairs;
        let force: Real = pairs.iter().filter(|p| (p.a, p.b) == (floor, cloth)).map(|p| p.force.y).sum();
        assert!(asleep(&world) && (force / weight - 1.0).abs() < 0.01, "step {step}: {force} of {weight} N");
    }
    let stone = RigidBody::dynamic().shape(Shape::ball(0.05)).mass(0.5).at([0.0, 0.3, 0.0]).velocity([0.0, -2.0, 0.0]);
    let stone = world.add_rigid(stone)?;
    let mut woke = false;
    for _ in 0..50 {
        world.step(&Input::none());
        woke |= !asleep(&world);
    }
    // a cloth without thickness lies between the two
    let height = world.body(stone)?.position().y;
    assert!(woke && (height - 0.05).abs() < 1e-3, "{woke} {height}");
    Ok(())
}

#[test]
fn a_cloth_that_changes_between_columns_and_rows_keeps_sticking_to_a_slope() -> Result<(), Error> {
    let slope = Vec3::new(-0.3, 1.0, 0.0).normalize();
    let mut world = World::new(settings(9.81))?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(slope)).material(SurfaceMaterial::friction(0.5)))?;
    let turned = Quat::from_rotation_arc(Vec3::Y, slope);
    let body = cloth(square(21, 0.5), stiff()).thickness(1e-3).at(slope * 1.2e-3).turned(turned);
    let sheet = world.add_soft(body)?;
    let run = |world: &mut World, impact_substeps: u32, steps: u32| -> Result<Vec3, Error> {
        world.set_settings(Settings { impact_substeps, ..settings(9.81) })?;
        for _ in 0..steps {
            world.step(&Input::none());
        }
        let x = world.body(sheet)?.node_positions();
        Ok(x.iter().sum::<Vec3>() / x.len() as Real)
    };
    let before = run(&mut world, 1, 60)?;
    let held = world.state().cloth_contacts.len();
    assert!(held > 400 && world.state().contacts.is_empty(), "{held}");
    // rows do not use the data of columns
    let in_rows = run(&mut world, 2, 5)?;
    assert!(world.state().cloth_contacts.is_empty() && world.state().contacts.len() >= held);
    let after = run(&mut world, 1, 5)?;
    assert!(world.state().cloth_contacts.len() > 400 && world.state().contacts.is_empty());
    assert!(before.distance(in_rows) < 2e-5 && before.distance(after) < 4e-5, "{before} {in_rows} {after}");

    // invalid cloth_contacts are rejected
    let state = world.snapshot();
    let mut unsorted = state.clone();
    unsorted.cloth_contacts.swap(0, 1);
    let mut elsewhere = state.clone();
    elsewhere.cloth_contacts.iter_mut().for_each(|g| g.node += 21 * 21);
    assert!(world.restore(&unsorted).is_err() && world.restore(&elsewhere).is_err() && world.restore(&state).is_ok());
    Ok(())
}

#[test]
fn a_ball_that_rolls_over_a_cloth_does_not_stretch_it() -> Result<(), Error> {
    let (mesh, rough) = (square(51, 2.0), SurfaceMaterial::friction(0.5));
    let mut world = World::new(Settings { substeps: 7, sheet_substeps: 18, ..settings(9.81) })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(rough))?;
    world.add_rigid(ball())?;
    let cloth = world.add_soft(cloth(mesh.clone(), stiff()).thickness(5e-4).at([0.3, 1.15, 0.0]))?;
    // edges between nodes that were clamped between ball and ground had a stretch of 6 % after single steps
    for step in 0..150 {
        world.step(&Input::none());
        let stretch = longest(&mesh, world.body(cloth)?.node_positions());
        assert!(stretch < 0.05, "step {step}: {stretch}");
    }
    Ok(())
}
