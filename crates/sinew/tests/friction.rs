//! Friction laws at contacts of a world: sticking bodies stay, sliding bodies stop at the analytical distance, and the
//! history is part of State.

use sinew::friction::{Curve, Dahl, ElastoPlastic, Karnopp, Law, LuGre, Stiction, Stribeck, Viscous};
use sinew::{
    BodyId, ElasticMaterial, Error, Input, Real, RigidBody, Settings, Shape, SoftBody, SurfaceMaterial, TetMesh, Vec3,
    World,
};

/// Dry: no viscous part, so that closed forms hold; and no damping of the bristle, which removes σ₁ μ/σ₀ of speed per
/// newton and kilogram when slip begins (16 mm/s here).
fn laws() -> Vec<Law> {
    let curve = Curve { viscosity: 0.0, ..Curve::default() };
    let bristle = LuGre { curve, damping: 0.0, ..LuGre::default() };
    vec![
        Law::default(),
        Law::Viscous(Viscous { viscosity: 0.0, exponent: 1.0 }),
        Law::Stribeck(Stribeck { curve }),
        Law::Karnopp(Karnopp { dead_band: 1e-3, curve }),
        Law::Dahl(Dahl::default()),
        Law::LuGre(bristle),
        Law::ElastoPlastic(ElastoPlastic { bristle, elastic_share: 0.9 }),
    ]
}

fn settings(gravity: Vec3) -> Settings {
    Settings { dt: 0.005, gravity, sleep_time: Real::INFINITY, ..Settings::default() }
}

fn boxed(law: Law, gravity: Vec3, v: Vec3) -> Result<(World, BodyId), Error> {
    let mut world = World::new(settings(gravity))?;
    let material = SurfaceMaterial::friction(0.5).law(law);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))?;
    let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.1)).mass(1.0).material(material);
    let id = world.add_rigid(body.at([0.0, 0.02, 0.0]).velocity(v))?;
    Ok((world, id))
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / 0.005) as usize {
        world.step(&Input::none());
    }
}

#[test]
fn a_sliding_box_stops_after_v_squared_over_two_mu_g_with_every_law() -> Result<(), Error> {
    for law in laws() {
        let (mut world, id) = boxed(law, Vec3::new(0.0, -9.81, 0.0), Vec3::new(1.2, 0.0, 1.6))?;
        run(&mut world, 1.0);
        let body = world.body(id)?;
        let (p, v) = (body.position(), body.velocity());
        let reach = (p.x * p.x + p.z * p.z).sqrt();
        // 4/(2·0.5·9.81); a substep of 1.25 ms at 2 m/s is 2.5 mm
        assert!((reach - 0.4077).abs() < 0.004, "{}: {reach}", law.name());
        assert!((p.z / p.x - 4.0 / 3.0).abs() < 0.01, "{}: {p}", law.name());
        assert!(v.length() < 1e-3, "{}: {v}", law.name());
    }
    Ok(())
}

#[test]
fn a_sticking_box_creeps_below_a_tenth_of_a_micrometre_per_second() -> Result<(), Error> {
    // 60% of the friction limit; LuGre creeps by its nature
    for law in laws().into_iter().filter(|l| !matches!(l, Law::LuGre(_) | Law::Dahl(_))) {
        let (mut world, id) = boxed(law, Vec3::new(0.3 * 9.81, -9.81, 0.0), Vec3::ZERO)?;
        run(&mut world, 5.0);
        let start = world.body(id)?.position();
        run(&mut world, 60.0);
        let creep = (world.body(id)?.position() - start).length() / 60.0;
        assert!(creep < 1e-7, "{}: {creep} m/s", law.name());
    }
    Ok(())
}

#[test]
fn a_sticking_box_does_not_creep_in_single_substeps_of_five_milliseconds() -> Result<(), Error> {
    // the run of one minute is in the example `creep`
    for law in [Law::Stiction(Stiction), Law::ElastoPlastic(ElastoPlastic::default())] {
        let (mut world, id) = boxed(law, Vec3::new(0.3 * 9.81, -9.81, 0.0), Vec3::ZERO)?;
        world.set_settings(Settings { substeps: 1, ..world.settings().clone() })?;
        run(&mut world, 5.0);
        let start = world.body(id)?.position();
        run(&mut world, 10.0);
        let creep = (world.body(id)?.position() - start).length() / 10.0;
        assert!(creep < 1e-7, "{}: {creep} m/s", law.name());
    }
    Ok(())
}

#[test]
fn a_sticking_soft_block_creeps_below_a_tenth_of_a_micrometre_per_second() -> Result<(), Box<dyn std::error::Error>> {
    for law in [Law::default(), Law::ElastoPlastic(ElastoPlastic::default())] {
        let mut world = World::new(settings(Vec3::new(0.3 * 9.81, -9.81, 0.0)))?;
        let material = SurfaceMaterial::friction(0.6).law(law);
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))?;
        let mesh = TetMesh::block([3, 2, 3], Vec3::new(0.1, 0.05, 0.1))?;
        let body = SoftBody::corotational(mesh, ElasticMaterial::new(1e6, 0.3, 1000.0))
            .material(material)
            .at([0.0, 0.0251, 0.0]);
        let id = world.add_soft(body)?;
        run(&mut world, 5.0);
        let start = world.body(id)?.center_of_mass();
        run(&mut world, 20.0);
        let creep = (world.body(id)?.center_of_mass() - start).length() / 20.0;
        assert!(creep < 1e-7, "{}: {creep} m/s", law.name());
    }
    Ok(())
}

fn ball(law: Law, material: SurfaceMaterial, v: Vec3, spin: Vec3, height: Real) -> Result<(World, BodyId), Error> {
    let mut world = World::new(settings(Vec3::new(0.0, -9.81, 0.0)))?;
    let material = material.law(law);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))?;
    let body = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(1.0).material(material);
    let id = world.add_rigid(body.at([0.0, 0.1 + height, 0.0]).velocity(v).spin(spin))?;
    Ok((world, id))
}

/// Apex e² h, and the forces of the report are the change of momentum.
#[test]
fn a_ball_bounces_by_its_restitution_with_every_law() -> Result<(), Error> {
    for law in laws() {
        let material = SurfaceMaterial { restitution: 0.8, ..SurfaceMaterial::friction(0.5) };
        let (mut world, id) = ball(law, material, Vec3::ZERO, Vec3::ZERO, 0.5)?;
        let (mut apex, mut carried, mut up) = (0.0, 0.0, false);
        for _ in 0..160 {
            world.step(&Input::none());
            carried += 0.005 * world.report().contacts.iter().map(|c| c.normal_force()).sum::<Real>();
            let body = world.body(id)?;
            up |= body.velocity().y > 0.0;
            apex = if up { body.position().y.max(apex) } else { apex };
        }
        // the time of impact is known to a substep of 1.25 ms at 3.1 m/s
        assert!((apex - 0.1 - 0.64 * 0.5).abs() < 0.01, "{}: {apex}", law.name());
        let body = world.body(id)?;
        let gained = body.velocity().y + 9.81 * 0.8;
        assert!((carried - gained).abs() < 0.01 * gained, "{}: {carried} N s, momentum {gained}", law.name());
    }
    Ok(())
}

/// A rolling resistance lever b decelerates a rolling ball by 5 b g/7 r.
#[test]
fn rolling_resistance_decelerates_a_ball_with_every_law() -> Result<(), Error> {
    for law in laws() {
        let material = SurfaceMaterial { rolling_resistance: 0.002, ..SurfaceMaterial::friction(0.5) };
        let (mut world, id) = ball(law, material, Vec3::X, Vec3::new(0.0, 0.0, -10.0), 0.0)?;
        run(&mut world, 1.0);
        let lost = 1.0 - world.body(id)?.velocity().x;
        let right = 5.0 / 7.0 * 0.002 / 0.1 * 9.81;
        assert!((lost - right).abs() < 0.05 * right, "{}: {lost}, right {right}", law.name());
    }
    Ok(())
}

/// The same on a plate that lies on an elastic block: ball, plate and block are one implicit island. The plate of 200 kg
/// takes up what the ball of 1 kg loses.
#[test]
fn rolling_resistance_acts_in_implicit_islands() -> Result<(), Error> {
    let radius = 0.1;
    let deceleration = |lever: Real| -> Result<Real, Error> {
        let material = SurfaceMaterial { rolling_resistance: lever, ..SurfaceMaterial::friction(0.5) };
        let mut world = World::new(settings(Vec3::new(0.0, -9.81, 0.0)))?;
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        let block = TetMesh::block([6, 1, 2], Vec3::new(3.0, 0.2, 1.0))?;
        world.add_soft(SoftBody::corotational(block, ElasticMaterial::new(1e7, 0.3, 1000.0)).at([0.0, 0.1, 0.0]))?;
        let plate = RigidBody::dynamic().shape(Shape::cuboid(1.5, 0.05, 0.5)).mass(200.0).material(material);
        world.add_rigid(plate.at([0.0, 0.25, 0.0]))?;
        let ball = RigidBody::dynamic().shape(Shape::ball(radius)).mass(1.0).material(material);
        let ball = world.add_rigid(ball.at([-1.0, 0.4, 0.0]).velocity([1.0, 0.0, 0.0]).spin([0.0, 0.0, -10.0]))?;
        // the plate sinks into the block first
        run(&mut world, 0.2);
        let before = world.body(ball)?.velocity().x;
        run(&mut world, 1.0);
        assert!(world.report().counts.implicit_islands > 0);
        Ok(before - world.body(ball)?.velocity().x)
    };
    let free = deceleration(0.0)?;
    for lever in [0.001, 0.003] {
        let right = 5.0 / 7.0 * lever / radius * 9.81;
        let lost = deceleration(lever)? - free;
        assert!((lost - right).abs() < 0.05 * right, "lever {lever} m: {lost} m/s in 1 s, right {right}; free {free}");
    }
    Ok(())
}

#[test]
fn a_restored_world_continues_bitwise_identically() -> Result<(), Error> {
    for law in laws() {
        let (mut world, _) = boxed(law, Vec3::new(3.0, -9.81, 0.0), Vec3::new(0.2, 0.0, 0.1))?;
        run(&mut world, 0.2);
        let snapshot = world.snapshot();
        run(&mut world, 0.3);
        let first = world.hash();
        world.restore(&snapshot)?;
        run(&mut world, 0.3);
        assert_eq!(world.hash(), first, "{}", law.name());
    }
    Ok(())
}
