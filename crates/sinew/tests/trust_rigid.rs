//! Laws that rigid bodies obey in every mode: weight and decay of damped bodies, sliding, joints under whip, energy.
//! Parameters are drawn around those of reported faults, from fixed seeds.

use sinew::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const G: Real = 9.81;

/// Uniform numbers, the same on all machines.
struct Draws(u32);

impl Draws {
    fn between(&mut self, low: Real, high: Real) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * ((self.0 >> 8) as Real / 16_777_216.0)
    }
}

/// Sum of the reported contact forces on a body [N].
fn contact_force(world: &World, body: BodyId) -> Vec3 {
    world.report().pairs.iter().fold(Vec3::ZERO, |sum, p| match () {
        () if p.b == body => sum + p.force,
        () if p.a == body => sum - p.force,
        () => sum,
    })
}

/// Mean over steps of a force [N].
fn mean(world: &mut World, steps: u32, force: impl Fn(&World) -> Vec3) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for _ in 0..steps {
        world.step(&Input::none());
        sum += force(world);
    }
    sum / steps as Real
}

fn awake() -> Settings {
    Settings { sleep_time: Real::INFINITY, ..Settings::default() }
}

fn floor(world: &mut World) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(2.0, 0.5, 2.0)).at([0.0, -0.5, 0.0]))
}

/// A damped body at rest weighs m g on a floor. It weighed m g/(1 + c h): 0.9917 for 2 1/s.
#[test]
fn a_damped_body_weighs_m_g_on_a_floor() -> Outcome {
    let mut draws = Draws(61);
    for c in [0.5, 2.0, 20.0, 200.0] {
        let (mass, c, spin) = (draws.between(0.1, 10.0), c * draws.between(0.7, 1.4), draws.between(0.0, 30.0));
        let mut world = World::new(awake())?;
        floor(&mut world)?;
        let size = draws.between(0.03, 0.2);
        let shape = Shape::cuboid(size, draws.between(0.03, 0.1), size);
        let body = RigidBody::dynamic().shape(shape).mass(mass).damping(c, spin).at([0.0, 0.11, 0.0]);
        let body = world.add_rigid(body)?;
        mean(&mut world, 300, |_| Vec3::ZERO);
        let carried = mean(&mut world, 60, |w| contact_force(w, body));
        assert!((carried - Vec3::Y * (mass * G)).length() < 1e-4 * mass * G, "c = {c}: {carried} of {}", mass * G);
    }
    Ok(())
}

/// The same for damped particles, which rest on the floor one by one.
#[test]
fn damped_particles_weigh_m_g_on_a_floor() -> Outcome {
    let mut draws = Draws(62);
    for c in [2.0, 20.0] {
        let (mass, c) = (draws.between(0.01, 1.0), c * draws.between(0.7, 1.4));
        let mut world = World::new(awake())?;
        floor(&mut world)?;
        let spots: Vec<Vec3> = (0..5).map(|k| Vec3::new(0.1 * k as Real, 0.021, 0.0)).collect();
        let grains = world.add_particles(Particles::new(spots).mass(mass).radius(0.02).damping(c))?;
        mean(&mut world, 300, |_| Vec3::ZERO);
        let carried = mean(&mut world, 60, |w| contact_force(w, grains));
        let weight = 5.0 * mass * G;
        assert!((carried - Vec3::Y * weight).length() < 2e-4 * weight, "c = {c}: {carried} of {weight}");
    }
    Ok(())
}

/// The same on a joint: two damped bodies hang on ball joints, one below the other, with different damping.
#[test]
fn damped_bodies_weigh_m_g_on_a_joint() -> Outcome {
    let mut draws = Draws(63);
    for c in [2.0, 20.0] {
        let masses = [draws.between(0.1, 3.0), draws.between(0.1, 3.0)];
        let mut world = World::new(awake())?;
        let hook = world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.01)))?;
        let (mut above, mut joints) = (hook, Vec::new());
        for (k, mass) in masses.into_iter().enumerate() {
            let y = -0.2 * k as Real;
            let damping = c * draws.between(0.5, 2.0);
            let body = RigidBody::dynamic().shape(Shape::capsule(0.05, 0.01)).mass(mass).damping(damping, 0.5 * c);
            let body = world.add_rigid(body.at([0.0, y - 0.1, 0.0]))?;
            joints.push(world.add_joint(Joint::ball(Some(above), Some(body)).anchor([0.0, y, 0.0]))?);
            above = body;
        }
        mean(&mut world, 600, |_| Vec3::ZERO);
        let mut carried = [0.0; 2];
        for _ in 0..60 {
            world.step(&Input::none());
            for (sum, joint) in carried.iter_mut().zip(&joints) {
                let felt = world.report().constraints.iter().find(|c| c.id == *joint).map_or(Vec3::ZERO, |c| c.force);
                *sum += felt.y / 60.0;
            }
        }
        for (k, carried) in carried.into_iter().enumerate() {
            let weight = G * masses[k..].iter().sum::<Real>();
            assert!((carried - weight).abs() < 1e-4 * weight, "joint {k}, c = {c}: {carried} of {weight}");
        }
    }
    Ok(())
}

/// The same in an implicit island: a damped box on a block of finite elements with mass damping, on a floor.
#[test]
fn damped_bodies_weigh_m_g_in_an_implicit_island() -> Outcome {
    let mut draws = Draws(64);
    for integrator in [fem::Integrator::Implicit, fem::Integrator::Explicit] {
        let (mass, c, alpha) = (draws.between(0.2, 1.0), draws.between(1.5, 3.0), draws.between(1.5, 3.0));
        let mut world = World::new(awake())?;
        floor(&mut world)?;
        let params = fem::SolidParams {
            youngs_modulus: 1e5,
            mass_damping: alpha,
            stiffness_damping: 5e-3,
            integrator,
            ..fem::SolidParams::default()
        };
        let mesh = TetMesh::block([3; 3], Vec3::splat(0.1))?;
        let block = SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(params)).at([0.0, 0.0501, 0.0]);
        let block = world.add_soft(block)?;
        let lid = RigidBody::dynamic().shape(Shape::cuboid(0.06, 0.01, 0.06)).mass(mass).damping(c, c);
        let lid = world.add_rigid(lid.at([0.0, 0.1105, 0.0]))?;
        mean(&mut world, 400, |_| Vec3::ZERO);
        let steps = 120;
        let on_lid = mean(&mut world, steps, |w| contact_force(w, lid));
        let on_block = mean(&mut world, steps, |w| contact_force(w, block));
        let (lid_weight, block_weight) = (mass * G, world.body(block)?.mass() * G);
        let off = (on_lid - Vec3::Y * lid_weight).length() / lid_weight;
        assert!(off < 1e-4, "{integrator:?}, lid: {on_lid} of {lid_weight}");
        let off = (on_block - Vec3::Y * block_weight).length() / (lid_weight + block_weight);
        assert!(off < 1e-4, "{integrator:?}, block: {on_block} of {block_weight}");
    }
    Ok(())
}

/// Free decay is (1 + c h)⁻ⁿ, which is e^(−c t) to first order in h; a falling body reaches g/c exactly.
#[test]
fn damped_bodies_decay_and_reach_terminal_velocity() -> Outcome {
    let mut draws = Draws(65);
    for _ in 0..4 {
        let (c, speed) = (draws.between(0.5, 4.0), draws.between(1.0, 10.0));
        let turn = draws.between(1.0, 5.0);
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..awake() })?;
        let body = RigidBody::dynamic().shape(Shape::ball(0.1)).velocity([speed, 0.0, 0.0]).spin([0.0, turn, 0.0]);
        let body = world.add_rigid(body.damping(c, 0.5 * c))?;
        let time = 60.0 * world.settings().dt;
        mean(&mut world, 60, |_| Vec3::ZERO);
        let h = world.settings().dt / world.settings().substeps as Real;
        for (rate, left) in [(c, world.body(body)?.velocity().x / speed), (0.5 * c, world.body(body)?.spin().y / turn)]
        {
            // ln(1 + c h) = c h − ½ (c h)² + …: late by at most half a substep's decay
            let exact = (-rate * time).exp();
            assert!(left >= exact && left / exact < (0.5 * rate * rate * h * time).exp() * 1.001, "{left} {exact}");
        }

        let mut world = World::new(awake())?;
        let body = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).damping(c, 0.0))?;
        let grain = world.add_particles(Particles::new([Vec3::X]).mass(0.2).radius(0.01).damping(c))?;
        mean(&mut world, (60.0 * 14.0 / c) as u32, |_| Vec3::ZERO);
        for id in [body, grain] {
            let (fall, want) = (-world.body(id)?.velocity().y, G / c);
            assert!((fall - want).abs() < 1e-4 * want, "{fall} instead of {want}");
        }
    }
    Ok(())
}

/// `stop_at_impact` stops what would pass a surface. A body that slides on it keeps sliding: it was pinned, and moved
/// 0.2 m instead of 10 m while its velocity grew to 10 m/s.
#[test]
fn a_body_slides_with_stop_at_impact() -> Outcome {
    let mut draws = Draws(71);
    let slippery = SurfaceMaterial { static_friction: 0.0, kinetic_friction: 0.0, ..SurfaceMaterial::default() };
    for case in 0..6 {
        let along = draws.between(3.0, 6.0);
        let gravity = Vec3::new(along, -G, 0.0);
        let mut world = World::new(Settings { stop_at_impact: true, gravity, ..awake() })?;
        let ground = if case % 2 == 0 { Shape::half_space(Vec3::Y) } else { Shape::cuboid(60.0, 0.5, 2.0) };
        let below = if case % 2 == 0 { 0.0 } else { -0.5 };
        world.add_rigid(RigidBody::fixed().shape(ground).at([0.0, below, 0.0]).material(slippery))?;
        let shape = match case / 2 {
            0 => Shape::capsule(draws.between(0.08, 0.12), draws.between(0.015, 0.03)),
            1 => Shape::cuboid(0.1, draws.between(0.03, 0.06), 0.08),
            _ => Shape::ball(draws.between(0.02, 0.1)),
        };
        let turned = Quat::from_rotation_z(draws.between(0.9, 1.2));
        let body = RigidBody::dynamic().shape(shape).mass(1.0).material(slippery).at([0.0, 0.3, 0.0]).turned(turned);
        let body = world.add_rigid(body)?;
        let seconds = 2.0;
        let steps = (seconds / world.settings().dt).round() as u32;
        mean(&mut world, steps, |_| Vec3::ZERO);
        // contacts on a level floor without friction have no force along it: ½ a t², less what impacts hold back
        let (way, speed) = (world.body(body)?.center_of_mass().x, world.body(body)?.velocity().x);
        let (want, fast) = (0.5 * along * seconds * seconds, along * seconds);
        assert!((speed - fast).abs() < 1e-3 * fast, "case {case}: {speed} m/s instead of {fast}");
        assert!((way - want).abs() < 0.05 * want, "case {case}: {way} m instead of {want}");
        assert!(world.body(body)?.center_of_mass().y > 0.0, "case {case} passed the floor");
    }
    Ok(())
}
