//! Cloth in columns with self-contact: layers rest a thickness apart, momentum is conserved, and there is no
//! interpenetration.

mod common;
#[path = "common/draws.rs"]
mod draws;
#[path = "common/shots.rs"]
mod shots;

use draws::Draws;
use shots::Frame;
use sinew::*;

/// Half thickness [m].
const HALF: Real = 2e-3;
/// Nodes along a layer, and across.
const ALONG: u32 = 20;
const ACROSS: u32 = 18;

/// Two layers, `gap` apart, connected at the end where x is largest; 2 cm from node to node. Lower layer first.
fn folded(gap: Real) -> TriMesh {
    let step = 0.02;
    let mut mesh = TriMesh::default();
    for i in 0..2 * ALONG {
        let (x, y) = if i < ALONG { (i, 0.0) } else { (2 * ALONG - 1 - i, gap) };
        // the upper nodes are over the faces below, not over their corners
        let shift = if i < ALONG { 0.0 } else { 0.3 * step };
        mesh.vertices.extend((0..ACROSS).map(|j| Vec3::new(x as Real * step + shift, y, j as Real * step + shift)));
    }
    for i in 0..2 * ALONG - 1 {
        for j in 0..ACROSS - 1 {
            let a = i * ACROSS + j;
            mesh.triangles.extend([[a, a + 1, a + ACROSS + 1], [a, a + ACROSS + 1, a + ACROSS]]);
        }
    }
    mesh
}

/// Two layers that slide freely: they share no edge, and hang together by the tips of two slack triangles, without which
/// they were two bodies to the solver of cloth.
fn two_layers(gap: Real) -> TriMesh {
    let mut mesh = folded(gap);
    let (count, tip) = (ALONG * ACROSS, mesh.vertices.len() as u32);
    mesh.triangles.retain(|t| t.iter().all(|k| *k < count) || t.iter().all(|k| *k >= count));
    let [below, above] = [ALONG - 1, ALONG].map(|line| line * ACROSS + ACROSS / 2);
    mesh.vertices.push(mesh.vertices[below as usize] + Vec3::new(0.08, 0.0, 0.01));
    mesh.triangles.extend([[below, below + 1, tip], [above, above + 1, tip]]);
    mesh
}

/// Two layers on rough ground that is inclined by `degrees`, with friction `mu` between them.
fn on_slope(substeps: u32, degrees: Real, mu: Real) -> Result<(World, BodyId), Error> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let gravity = Vec3::new(0.0, -cos, sin) * 9.81;
    let mut world = World::new(Settings { dt: 1.0 / 60.0, substeps, gravity, ..settings(0.0) })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(3.0)))?;
    let body = cloth(two_layers(0.0045)).material(SurfaceMaterial::friction(mu));
    let id = world.add_soft(body.self_contact(true).at([0.0, HALF, 0.0]))?;
    Ok((world, id))
}

/// Mean displacement down the slope and velocity of the upper layer relative to the lower one [m, m/s].
fn sliding(world: &World, id: BodyId) -> Result<[Real; 2], Error> {
    let body = world.body(id)?;
    let count = (ALONG * ACROSS) as usize;
    let mean = |of: &[Vec3]| {
        let sum = |of: &[Vec3]| of.iter().map(|x| x.z).sum::<Real>() / count as Real;
        sum(&of[count..2 * count]) - sum(&of[..count])
    };
    Ok([mean(body.node_positions()), mean(body.node_velocities())])
}

fn cloth(mesh: TriMesh) -> SoftBody {
    let sheet = pbd::Sheet {
        stretch: 1e5,
        bend: 0.0,
        density: 0.25,
        compression: 1e-2,
        skip_stiffness: 0.0,
        stretch_limit: 0.03,
    };
    let params = pbd::Params { iterations: 1, ..pbd::Params::default() };
    SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(sheet), params))
        .material(SurfaceMaterial::friction(0.5))
        .thickness(HALF)
}

fn settings(gravity: Real) -> Settings {
    let gravity = Vec3::new(0.0, -gravity, 0.0);
    Settings { dt: 0.02, substeps: 20, gravity, sleep_time: Real::INFINITY, ..Settings::default() }
}

/// A folded cloth on the ground.
fn lying(settings: Settings, own: bool) -> Result<(World, BodyId), Error> {
    let mut world = World::new(settings)?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(0.5)))?;
    let id = world.add_soft(cloth(folded(0.012)).self_contact(own).at([0.0, 0.003, 0.0]))?;
    Ok((world, id))
}

/// Heights of the nodes of both layers except for the lines next to the fold.
fn heights(world: &World, id: BodyId) -> Result<[Vec<Real>; 2], Error> {
    let body = world.body(id)?;
    let x = body.node_positions();
    let line = |i: u32| x[(i * ACROSS) as usize..((i + 1) * ACROSS) as usize].iter().map(|x| x.y);
    let free = ALONG - 3;
    Ok([(0..free).flat_map(line).collect(), (2 * ALONG - free..2 * ALONG).flat_map(line).collect()])
}

fn least(of: &[Real]) -> Real {
    of.iter().copied().fold(Real::INFINITY, Real::min)
}

fn most(of: &[Real]) -> Real {
    of.iter().copied().fold(-Real::INFINITY, Real::max)
}

#[test]
fn layers_of_a_folded_cloth_rest_a_thickness_apart() -> Result<(), Error> {
    let run = |own: bool| {
        let (mut world, id) = lying(settings(9.81), own)?;
        for _ in 0..100 {
            assert!(world.step(&Input::none()).faults.is_empty());
        }
        heights(&world, id)
    };
    let [below, above] = run(true)?;
    let (below, above) = ([least(&below), most(&below)], [least(&above), most(&above)]);
    assert!(below[1] - below[0] < 0.1 * HALF, "{below:?}");
    for height in above {
        assert!((height - below[1] - 2.0 * HALF).abs() < 0.1 * HALF, "{below:?} {above:?}");
    }
    // without self-contact nothing separates them
    let [below, above] = run(false)?;
    assert!(most(&above) - least(&below) < 0.5 * HALF, "{} {}", most(&above), least(&below));
    Ok(())
}

#[test]
fn layers_pushed_against_each_other_conserve_momentum_and_do_not_cross() -> Result<(), Error> {
    let mut world = World::new(settings(0.0))?;
    let id = world.add_soft(cloth(folded(0.012)).self_contact(true).velocity([0.5, 0.25, -1.0]))?;
    let momentum = |world: &World| -> Result<[f64; 3], Error> {
        let body = world.body(id)?;
        let mut sum = [0.0; 3];
        for (v, m) in body.node_velocities().iter().zip(body.node_masses()) {
            sum = std::array::from_fn(|k| sum[k] + f64::from(v[k]) * f64::from(*m));
        }
        Ok(sum)
    };
    let before = momentum(&world)?;
    let size = before.iter().map(|p| p * p).sum::<f64>().sqrt();
    let mut touched = 0;
    for step in 0..40 {
        let mut input = Input::none();
        // the upper layer down and the lower one up, with the same total force
        if step < 3 {
            let masses = world.body(id)?.node_masses().to_vec();
            let layer = (ALONG * ACROSS) as usize;
            let sums = [masses[..layer].iter().sum::<Real>(), masses[layer..].iter().sum::<Real>()];
            for (node, m) in masses.iter().enumerate() {
                let (sign, sum) = if node < layer { (1.0, sums[0]) } else { (-1.0, sums[1]) };
                let force = Vec3::new(0.0, sign * 0.4 * m / sum, 0.0);
                input.commands.push(Command::NodeForce { body: id, node: node as u32, force });
            }
        }
        let report = world.step(&input);
        assert!(report.faults.is_empty());
        touched = touched.max(report.counts.contacts);
        let crossings = Frame::of(&world).crossings();
        assert!(crossings.is_empty(), "step {step}: {} edges through faces", crossings.len());
        let after = momentum(&world)?;
        let lost = after.iter().zip(before).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        assert!(lost < 2e-5 * size, "step {step}: {before:?} {after:?}");
    }
    assert!(touched > 100, "{touched}");
    Ok(())
}

/// Nodes of the upper layer that are below the face of the lower one under them.
fn sunk(world: &World, id: BodyId, mesh: &TriMesh) -> Result<usize, Error> {
    let body = world.body(id)?;
    let x = body.node_positions();
    let lower = |t: &&[u32; 3]| t.iter().all(|n| *n < ALONG * ACROSS);
    let mut count = 0;
    for node in ALONG * ACROSS..2 * ALONG * ACROSS {
        let p = x[node as usize];
        for t in mesh.triangles.iter().filter(lower) {
            let [a, b, c] = t.map(|n| x[n as usize]);
            let side = |a: Vec3, b: Vec3| (b.x - a.x) * (p.z - a.z) - (b.z - a.z) * (p.x - a.x);
            let sides = [side(a, b), side(b, c), side(c, a)];
            let inside = sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0);
            let plane = (b - a).cross(c - a);
            let up = if plane.y < 0.0 { -plane } else { plane };
            count += usize::from(inside && up.dot(p - a) < 0.0);
        }
    }
    Ok(count)
}

#[test]
fn a_fold_under_a_falling_ball_does_not_interpenetrate() -> Result<(), Error> {
    let mesh = folded(0.012);
    let run = |own: bool| {
        let (mut world, id) = lying(settings(9.81), own)?;
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(1.0).at([0.18, 0.16, 0.17]);
        world.add_rigid(ball.velocity([0.0, -1.0, 0.0]).material(SurfaceMaterial::friction(0.5)))?;
        let mut worst = 0;
        for _ in 0..60 {
            assert!(world.step(&Input::none()).faults.is_empty());
            worst = worst.max(sunk(&world, id, &mesh)?);
        }
        Ok::<_, Error>(worst)
    };
    let (with, without) = (run(true)?, run(false)?);
    assert!(with == 0 && without > 20, "{with} {without}");
    Ok(())
}

#[test]
fn cloth_with_self_contact_is_bitwise_identical_in_lanes_on_threads_and_restored() -> Result<(), Error> {
    let make = |settings: Settings| -> Result<World, Error> {
        let (mut world, _) = lying(settings, true)?;
        // another one, stored by index instead of columns: it falls on its fold
        let mut odd = folded(0.02);
        let [a, b, c] = odd.triangles[7];
        let middle = odd.vertices.len() as u32;
        odd.vertices.push((odd.vertices[a as usize] + odd.vertices[b as usize] + odd.vertices[c as usize]) / 3.0);
        odd.triangles[7] = [a, b, middle];
        odd.triangles.extend([[b, c, middle], [c, a, middle]]);
        let turn = Quat::from_rotation_z(-1.5);
        world.add_soft(cloth(odd).self_contact(true).turned(turn).at([2.0, 0.42, 0.0]))?;
        Ok(world)
    };
    let world = common::same_bits(settings(9.81), make)?;
    // self-contact while crumpling adds no large velocity
    let fast =
        world.bodies().flat_map(|b| b.node_velocities().to_vec()).fold(0.0, |most: Real, v| most.max(v.length()));
    assert!(fast < 2.0, "{fast}");
    Ok(())
}

#[test]
fn layers_on_a_slope_continue_with_the_same_bits_after_a_restore() -> Result<(), Error> {
    let tilted = Settings { gravity: Vec3::new(0.0, -9.0, 2.0), ..settings(9.81) };
    let (mut world, _) = lying(tilted, true)?;
    for _ in 0..40 {
        world.step(&Input::none());
    }
    let snapshot = world.snapshot();
    let hash_after = |world: &mut World| {
        for _ in 0..20 {
            world.step(&Input::none());
        }
        world.hash()
    };
    let first = hash_after(&mut world);
    world.restore(&snapshot)?;
    assert_eq!(hash_after(&mut world), first);
    Ok(())
}

/// Layers on a slope crept by the velocity that gravity adds in about two substeps, 42 mm/s at 15 degrees and four substeps:
/// self-contact saw no load before the ground had stopped the lower layer.
#[test]
fn layers_on_a_slope_hold_below_the_angle_of_friction_and_slide_above_it() -> Result<(), Error> {
    let mut draws = Draws(23);
    for substeps in [4, 7, 20] {
        let mu = draws.between(0.3, 0.7);
        let limit = mu.atan().to_degrees();
        let degrees = limit * draws.between(0.4, 0.9);
        let (mut world, id) = on_slope(substeps, degrees, mu)?;
        let mut seen = Vec::new();
        for step in 0..90 {
            world.step(&Input::none());
            if [59, 89].contains(&step) {
                seen.push(sliding(&world, id)?[0]);
            }
        }
        assert!(!world.state().cloth_contacts.is_empty(), "the cloth is in columns");
        let creep = (seen[1] - seen[0]) / 0.5;
        assert!(creep.abs() < 1e-4, "{substeps} substeps, {degrees} degrees, friction {mu}: {creep} m/s");

        let degrees = limit * draws.between(1.2, 1.5);
        let (mut world, id) = on_slope(substeps, degrees, mu)?;
        let mut speeds = Vec::new();
        for step in 0..10 {
            world.step(&Input::none());
            if [3, 9].contains(&step) {
                speeds.push(sliding(&world, id)?[1]);
            }
        }
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (found, right) = ((speeds[1] - speeds[0]) / 0.1, 9.81 * (sin - mu * cos));
        // the upper layer overhangs the lower one and presses on its edge; it falls onto it at the start
        assert!(
            (found - right).abs() < 0.25 * right,
            "{substeps} substeps, {degrees} degrees, {mu}: {found} of {right}"
        );
    }
    Ok(())
}
