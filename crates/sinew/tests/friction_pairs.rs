//! Parameters of a pair of surfaces, what its contacts report, and anisotropic friction.

use sinew::friction::{Curve, Dahl, ElastoPlastic, Karnopp, Law, LuGre};
use sinew::{
    BodyId, ElasticMaterial, Error, Input, PairRule, PairRules, Pairing, Real, RigidBody, Settings, Shape, SoftBody,
    SurfaceMaterial, TetMesh, Vec3, World,
};

const G: Real = 9.81;

fn settings(gravity: Vec3, pairs: PairRules) -> Settings {
    Settings { dt: 0.005, gravity, sleep_time: Real::INFINITY, pairs, ..Settings::default() }
}

fn floor(world: &mut World, material: SurfaceMaterial) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))
}

/// A flat box of 1 kg: pulling force and friction hardly tilt it.
fn flat_box(world: &mut World, material: SurfaceMaterial, v: Vec3) -> Result<BodyId, Error> {
    let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.005, 0.1)).mass(1.0).material(material);
    world.add_rigid(body.at([0.0, 0.005, 0.0]).velocity(v))
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / 0.005).round() as usize {
        world.step(&Input::none());
    }
}

/// Mean deceleration of a box that slides for 0.2 s, in units of gravity.
fn measured(pairs: PairRules, below: SurfaceMaterial, above: SurfaceMaterial) -> Result<Real, Error> {
    let mut world = World::new(settings(Vec3::new(0.0, -G, 0.0), pairs))?;
    floor(&mut world, below)?;
    let id = flat_box(&mut world, above, Vec3::new(3.0, 0.0, 0.0))?;
    // it settles first
    run(&mut world, 0.1);
    let before = world.body(id)?.velocity().x;
    run(&mut world, 0.2);
    Ok((before - world.body(id)?.velocity().x) / (0.2 * G))
}

#[test]
fn a_sliding_box_slows_down_by_the_coefficient_of_the_rule() -> Result<(), Error> {
    let (below, above) = (SurfaceMaterial::friction(0.2), SurfaceMaterial::friction(0.6));
    let rules = [
        (PairRule::GeometricMean, 0.346_41),
        (PairRule::Product, 0.12),
        (PairRule::Minimum, 0.2),
        (PairRule::Mean, 0.4),
        (PairRule::Maximum, 0.6),
    ];
    // the second law uses its own rows, the first the lanes
    for law in [Law::default(), Law::Dahl(Dahl::default())] {
        for (rule, mu) in rules {
            let pairs = PairRules { friction: rule, ..PairRules::default() };
            let found = measured(pairs, below.law(law), above)?;
            assert!((found / mu - 1.0).abs() < 2e-3, "{rule:?} {}: {found}", law.name());
        }
    }
    Ok(())
}

#[test]
fn a_pair_of_the_table_has_its_own_coefficient_and_law() -> Result<(), Error> {
    let (ice, steel) = (SurfaceMaterial::friction(0.9).family(1), SurfaceMaterial::friction(0.9).family(7));
    let viscous = Law::Viscous(sinew::friction::Viscous { viscosity: 0.0, exponent: 1.0 });
    for surface in [SurfaceMaterial::friction(0.05), SurfaceMaterial::friction(0.3).law(viscous)] {
        let table = vec![Pairing { families: [7, 1], surface }];
        let pairs = PairRules { friction: PairRule::Maximum, table, ..PairRules::default() };
        let mu = surface.static_friction;
        let found = measured(pairs.clone(), ice, steel)?;
        assert!((found / mu - 1.0).abs() < 2e-3, "{found}");
        let found = measured(pairs, ice, steel.family(8))?;
        assert!((found / 0.9 - 1.0).abs() < 2e-3, "{found}");
    }
    Ok(())
}

#[test]
fn a_ball_bounces_by_the_rule_of_restitution() -> Result<(), Error> {
    for (rule, e) in
        [(PairRule::Minimum, 0.4), (PairRule::Product, 0.36), (PairRule::Maximum, 0.9), (PairRule::Mean, 0.65)]
    {
        let pairs = PairRules { restitution: rule, ..PairRules::default() };
        let mut world = World::new(settings(Vec3::ZERO, pairs))?;
        floor(&mut world, SurfaceMaterial::friction(0.0).restitution(0.4))?;
        let ball =
            RigidBody::dynamic().shape(Shape::ball(0.1)).material(SurfaceMaterial::friction(0.0).restitution(0.9));
        let id = world.add_rigid(ball.at([0.0, 0.2, 0.0]).velocity([0.0, -2.0, 0.0]))?;
        run(&mut world, 0.2);
        let found = world.body(id)?.velocity().y / 2.0;
        assert!((found - e).abs() < 1e-3, "{rule:?}: {found}");
    }
    Ok(())
}

#[test]
fn settings_name_the_invalid_pair() {
    let table = vec![Pairing { families: [1, 2], surface: SurfaceMaterial::friction(-1.0) }];
    let error = World::new(Settings { pairs: PairRules { table, ..PairRules::default() }, ..Settings::default() });
    let message = error.map_or_else(|e| e.to_string(), |_| String::new());
    assert!(message.contains("settings.pairs.table[0].surface.static_friction"), "{message}");
}

#[test]
fn contacts_of_a_soft_block_report_forces_slip_and_weights() -> Result<(), Box<dyn std::error::Error>> {
    // static friction: gravity inclined by 0.3. Sliding: no friction at all
    for (mu, lean, v) in [(0.6, 0.3, 0.0), (0.0, 0.0, 0.5)] {
        let mut world = World::new(settings(Vec3::new(lean * G, -G, 0.0), PairRules::default()))?;
        let ground = floor(&mut world, SurfaceMaterial::friction(mu))?;
        let mesh = TetMesh::block([3, 2, 3], Vec3::new(0.1, 0.05, 0.1))?;
        let body = SoftBody::corotational(mesh, ElasticMaterial::new(1e6, 0.3, 1000.0))
            .material(SurfaceMaterial::friction(mu));
        let id = world.add_soft(body.at([0.0, 0.025, 0.0]).velocity([v, 0.0, 0.0]))?;
        run(&mut world, 1.0);
        let weight = 0.5 * G;
        let (mut normal, mut friction, mut count) = (0.0, Vec3::ZERO, 0);
        let view = world.body(id)?;
        for c in &world.report().contacts {
            assert_eq!((c.a, c.b, c.spread_a), (ground, id, None));
            let spread = c.spread_b.ok_or("a soft side has weights")?;
            assert!((spread.weights.iter().sum::<Real>() - 1.0).abs() < 1e-5, "{spread:?}");
            let mut at = Vec3::ZERO;
            for (&surfel, w) in spread.surfels.iter().zip(spread.weights).filter(|(_, w)| *w != 0.0) {
                at += view.surface_point(surfel).ok_or("a surfel of the body")? * w;
            }
            // the point is that at the start of the last substep
            assert!((at - c.point).length() < 0.005 * v + 1e-5, "{at} {}", c.point);
            assert!((c.slip() - Vec3::new(v, 0.0, 0.0)).length() < 2e-3, "{}", c.slip());
            assert!(c.friction().dot(c.normal).abs() < 1e-4);
            normal += c.normal_force();
            friction += c.friction();
            count += 1;
        }
        assert!(count >= 3, "{count}");
        assert!((normal / weight - 1.0).abs() < 0.01, "{normal} of {weight}");
        assert!((friction - Vec3::new(-lean * weight, 0.0, 0.0)).length() < 0.01 * weight, "{friction}");
    }
    Ok(())
}

/// μ along x and half of it in the perpendicular direction.
const ALONG: Real = 0.6;
const ACROSS: Real = 0.5;

/// A box on a floor with anisotropic friction, gravity inclined by `pull` at an angle from the grain [rad].
fn on_grain(law: Law, lean: (Real, f64), v: Vec3) -> Result<(World, BodyId), Error> {
    let (pull, angle) = lean;
    let (x, z) = (angle.cos() as Real, angle.sin() as Real);
    let mut world = World::new(settings(Vec3::new(pull * x, -1.0, pull * z) * G, PairRules::default()))?;
    let material = SurfaceMaterial::friction(ALONG).law(law);
    floor(&mut world, material.grain(Vec3::X, ACROSS))?;
    let id = flat_box(&mut world, material, v)?;
    Ok((world, id))
}

#[test]
fn anisotropic_friction_balances_exactly_the_loads_within_its_ellipse() -> Result<(), Error> {
    let dry = Curve { viscosity: 0.0, ..Curve::default() };
    let bristle = LuGre { curve: dry, damping: 0.0, ..LuGre::default() };
    let laws = [
        Law::default(),
        Law::Karnopp(Karnopp { dead_band: 1e-3, curve: dry }),
        Law::ElastoPlastic(ElastoPlastic { bristle, elastic_share: 0.9 }),
    ];
    for law in laws {
        for degrees in [0.0_f64, 45.0, 90.0] {
            let angle = degrees.to_radians();
            let (c, s) = (angle.cos() as Real, angle.sin() as Real);
            let limit = 1.0 / ((c / ALONG).powi(2) + (s / (ALONG * ACROSS)).powi(2)).sqrt();
            for (share, moves) in [(0.95, false), (1.05, true)] {
                let (mut world, id) = on_grain(law, (share * limit, angle), Vec3::ZERO)?;
                run(&mut world, 1.0);
                let way = world.body(id)?.position();
                let way = (way.x * way.x + way.z * way.z).sqrt();
                // 5% of g over the limit moves it by about 0.1 m
                assert_eq!(way > 0.02, moves, "{} at {degrees} degrees, {share}: {way}", law.name());
                // the spring from the stick point has at most a 24th of the substep rate, and yields by a/ω²; near the
                // limit the light points are at their cones and the others carry their part: up to twice that
                let omega = std::f32::consts::TAU as Real / (24.0 * 0.005 / 4.0);
                let yields = share * limit * 9.81 / (omega * omega);
                assert!(moves || way < 2.0 * yields, "{} at {degrees} degrees: {way}, yields {yields}", law.name());
            }
        }
    }
    Ok(())
}

#[test]
fn anisotropic_friction_has_maximal_dissipation_within_its_ellipse() -> Result<(), Error> {
    for degrees in [0.0_f64, 45.0, 90.0] {
        let angle = degrees.to_radians();
        let (c, s) = (angle.cos() as Real, angle.sin() as Real);
        let (mut world, id) = on_grain(Law::default(), (0.0, 0.0), Vec3::new(5.0 * c, 0.0, 5.0 * s))?;
        run(&mut world, 0.05);
        let before = world.body(id)?.velocity();
        run(&mut world, 0.02);
        let loss = (before - world.body(id)?.velocity()) / (0.02 * G);
        // f = M² v/|M v|, M = diag(μ, k μ)
        let (m, k) = (ALONG * before.x, ALONG * ACROSS * before.z);
        let size = (m * m + k * k).sqrt();
        let wanted = Vec3::new(ALONG * m / size, 0.0, ALONG * ACROSS * k / size);
        assert!((loss - wanted).length() < 0.005, "{degrees} degrees: {loss}, not {wanted}");
    }
    Ok(())
}

#[test]
fn a_friction_grain_rotates_with_its_body() -> Result<(), Error> {
    use sinew::Quat;
    // the grain is fixed to the box, which is rotated by 90 degrees: now z is the rough direction
    let mut world = World::new(settings(Vec3::new(0.45, -1.0, 0.0) * G, PairRules::default()))?;
    floor(&mut world, SurfaceMaterial::friction(ALONG))?;
    let material = SurfaceMaterial::friction(ALONG).grain(Vec3::X, ACROSS);
    let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.005, 0.1)).mass(1.0).material(material);
    let turned = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2 as Real);
    let id = world.add_rigid(body.at([0.0, 0.005, 0.0]).turned(turned))?;
    run(&mut world, 1.0);
    // μ is 0.3 in that direction: a = 0.15 g
    let way = world.body(id)?.position().x;
    assert!((way / (0.5 * 0.15 * G) - 1.0).abs() < 0.03, "{way}");
    Ok(())
}

#[test]
fn a_soft_body_with_a_friction_grain_is_rejected() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
    let material = SurfaceMaterial::friction(0.5).grain(Vec3::X, 0.5);
    let result = World::default().add_soft(SoftBody::corotational(mesh, ElasticMaterial::jelly()).material(material));
    assert!(result.is_err_and(|e| e.to_string().contains("grain")));
    Ok(())
}

#[test]
fn a_soft_block_slides_across_a_grain_and_sticks_along_it() -> Result<(), Box<dyn std::error::Error>> {
    for (pull, slides) in [(Vec3::X, false), (Vec3::Z, true)] {
        let gravity = (pull * 0.45 - Vec3::Y) * G;
        let mut world = World::new(settings(gravity, PairRules::default()))?;
        floor(&mut world, SurfaceMaterial::friction(ALONG).grain(Vec3::X, ACROSS))?;
        let mesh = TetMesh::block([3, 1, 3], Vec3::new(0.1, 0.02, 0.1))?;
        let body = SoftBody::corotational(mesh, ElasticMaterial::new(1e6, 0.3, 1000.0))
            .material(SurfaceMaterial::friction(ALONG));
        let id = world.add_soft(body.at([0.0, 0.01, 0.0]))?;
        let start = world.body(id)?.center_of_mass();
        run(&mut world, 0.5);
        let way = (world.body(id)?.center_of_mass() - start).dot(pull);
        let free = 0.5 * 0.15 * G * 0.25;
        if slides {
            assert!((way / free - 1.0).abs() < 0.1, "{way} of {free}");
        } else {
            assert!(way.abs() < 2e-3, "{way}");
        }
    }
    Ok(())
}

/// Where μ_s > μ_k (F04): a pulling force F at the height of 1 cm reduces the load of each rear point by 0.025 F, and
/// the springs of the stick points, shaped by the point's own response including yaw, have a lateral force as well. The
/// lateral forces cancel, but the cone contains them: the rear points reach it at a force of 1.14 N. They have not
/// broken away by that, the box sticks until all of them reach it, at 1.5 N.
#[test]
fn the_light_points_of_a_pulled_box_reach_their_cone_first_and_the_box_still_holds() -> Result<(), Error> {
    let mut world = World::new(settings(Vec3::new(0.0, -1.0, 0.0), PairRules::default()))?;
    let material = SurfaceMaterial { static_friction: 1.5, kinetic_friction: 1.0, ..SurfaceMaterial::default() };
    floor(&mut world, material)?;
    let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.01, 0.1)).mass(1.0).material(material);
    let id = world.add_rigid(body.at([0.0, 0.01, 0.0]))?;
    let pull = 1.0;
    for k in 0..=1000 {
        let gravity = Vec3::new(pull * k as Real / 1000.0, -1.0, 0.0);
        world.set_settings(Settings { dt: 1e-3, gravity, ..world.settings().clone() })?;
        world.step(&Input::none());
    }
    let mut sum = Vec3::ZERO;
    assert_eq!(world.report().contacts.len(), 4);
    for c in &world.report().contacts {
        let (n, t) = (c.normal_force(), c.friction());
        let rear = c.point.x < 0.0;
        let load = if rear { 0.25 - 0.025 * pull } else { 0.25 + 0.025 * pull };
        assert!((n - load).abs() < 0.003, "{n} {load}");
        assert!((t.x + 0.25 * pull).abs() < 0.003, "{t}");
        // 0.59 of the force acts laterally: √(1 + 0.59²) F/4 = 1.5 (0.25 − 0.025 F) at 1.14 N
        assert!((t.z.abs() - 0.148 * pull).abs() < 0.003, "{t}");
        let reached = t.length() / n;
        assert!(if rear { reached > 1.25 } else { reached < 1.1 }, "{reached}");
        sum += t;
    }
    assert!((sum - Vec3::new(-pull, 0.0, 0.0)).length() < 0.003, "{sum}");
    // half a second; a step of the force would make the box oscillate on its springs, and exceed the friction limit
    let mut pulled = |from: Real, to: Real| -> Result<[Real; 2], Error> {
        for k in 1..=500 {
            let gravity = Vec3::new(from + (to - from) * k as Real / 500.0, -1.0, 0.0);
            world.set_settings(Settings { dt: 1e-3, gravity, ..world.settings().clone() })?;
            world.step(&Input::none());
        }
        Ok([world.body(id)?.position().x, world.body(id)?.velocity().x])
    };
    // the elongation of the springs, and their rotation of the box
    let [way, _] = pulled(1.0, 1.45)?;
    assert!(way < 3e-6, "it sticks: {way} m");
    pulled(1.45, 1.55)?;
    let [_, speed] = pulled(1.55, 1.55)?;
    assert!(speed > 0.25, "it slides: {speed} m/s");
    // sliding continues below the static limit
    let speed = pulled(1.2, 1.2)?[1] - speed;
    assert!((speed - 0.1).abs() < 0.002, "gained {speed} m/s");
    Ok(())
}
