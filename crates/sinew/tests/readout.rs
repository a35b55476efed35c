//! Reported forces are means over the step, whichever kernel solves the contact or constraint: for a body on fixed ground
//! F·dt + m·g·dt is the change of its momentum, in every step.

use sinew::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Momentum of a body [kg·m/s].
fn momentum(world: &World, body: BodyId) -> Result<Vec3, Error> {
    let b = world.body(body)?;
    Ok(b.velocity() * b.mass())
}

/// Sum of the reported contact forces on a body [N].
fn contact_force(world: &World, body: BodyId) -> Vec3 {
    world.report().pairs.iter().fold(Vec3::ZERO, |sum, p| match () {
        () if p.b == body => sum + p.force,
        () if p.a == body => sum - p.force,
        () => sum,
    })
}

/// Steps the world and compares the impulse of `force` with the change of momentum in every step.
fn balance(name: &str, world: &mut World, body: BodyId, steps: u32, force: impl Fn(&World) -> Vec3) -> Outcome {
    balance_within(0.0, name, world, body, steps, force)
}

/// The same for all steps so far, within `leak`, a fraction of all impulses so far.
fn balance_within(
    leak: Real,
    name: &str,
    world: &mut World,
    body: BodyId,
    steps: u32,
    force: impl Fn(&World) -> Vec3,
) -> Outcome {
    let (dt, gravity, mass) = (world.settings().dt, world.settings().gravity, world.body(body)?.mass());
    let (mut pressed, mut before, mut rest, mut passed) = (0, momentum(world, body)?, Vec3::ZERO, 0.0);
    for step in 0..steps {
        world.step(&Input::none());
        let after = momentum(world, body)?;
        let felt = force(world);
        pressed += u32::from(felt != Vec3::ZERO);
        let residual = after - before - (felt + gravity * mass) * dt + rest;
        rest = if leak > 0.0 { residual } else { Vec3::ZERO };
        // rounding of velocities of some m/s, substep by substep
        let (weight, rounding) = (mass * gravity.length(), 2e-5 * (before.length() + felt.length() * dt));
        passed += (weight + felt.length()) * dt;
        let tolerance = 2e-4 * weight * dt + leak * passed + rounding;
        assert!(residual.length() < tolerance, "{name}, step {step}: {residual} of {felt} N, allowed {tolerance}");
        before = after;
    }
    assert!(pressed > steps / 2, "{name} felt a force in {pressed} of {steps} steps");
    Ok(())
}

fn ground(world: &mut World, material: SurfaceMaterial) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(2.0, 0.5, 2.0)).at([0.0, -0.5, 0.0]).material(material))
}

#[test]
fn contact_forces_of_every_route_are_the_change_of_momentum() -> Outcome {
    let (young, density) = (1e5, 1000.0);
    let elements = fem::Params { youngs_modulus: young, poisson_ratio: 0.3, density, damping: 0.02 };
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(young),
        mass: spring::Mass::Density(density),
        ..Default::default()
    };
    let solid = pbd::Solid { youngs_modulus: young, poisson_ratio: 0.35, density };
    let matching = shape_matching::Params { frequency: 30.0, ..Default::default() };
    let models = [
        ("finite elements", SoftModel::Corotational(elements)),
        ("springs", SoftModel::Springs(springs)),
        ("position based", SoftModel::Pbd(pbd::Structure::Solid(solid), pbd::Params::default())),
        ("shape matching", SoftModel::ShapeMatching(density, shape_matching::Clusters::One, matching)),
    ];
    for friction in
        [SurfaceMaterial::friction(0.5), SurfaceMaterial::friction(0.5).law(friction::Law::LuGre(Default::default()))]
    {
        for (name, model) in &models {
            let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
            ground(&mut world, friction)?;
            let block = TetMesh::block([3, 3, 3], Vec3::splat(0.2))?;
            let body = SoftBody::new(Geometry::Tets(block), model.clone()).material(friction);
            let turn = Quat::from_rotation_z(0.3);
            let body = world.add_soft(body.turned(turn).velocity([0.5, -1.0, 0.0]).at([0.0, 0.16, 0.0]))?;
            balance(name, &mut world, body, 90, |w| contact_force(w, body))?;
        }
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
        ground(&mut world, friction)?;
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(2.0).material(friction);
        let body = world.add_rigid(body.at([0.0, 0.11, 0.0]).velocity([1.0, -1.0, 0.0]))?;
        balance("rigid", &mut world, body, 90, |w| contact_force(w, body))?;
    }
    Ok(())
}

#[test]
fn contact_forces_on_a_cloth_are_the_change_of_its_momentum_in_soa_and_by_rows() -> Outcome {
    let sheet = pbd::Sheet {
        stretch: 1e5,
        bend: 1e-5,
        density: 0.25,
        compression: 1e-4,
        skip_stiffness: 1e5,
        stretch_limit: 0.03,
    };
    for (name, shape) in [("over a ball", Shape::ball(0.2)), ("over a box", Shape::cuboid(0.15, 0.15, 0.15))] {
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
        world.add_rigid(RigidBody::fixed().shape(shape).material(SurfaceMaterial::friction(0.4)))?;
        let mesh = TriMesh::sheet([14, 14], [0.7, 0.7], Diagonals::Alternating)?;
        let model = SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params::default());
        let body = SoftBody::new(Geometry::Sheet(mesh), model).thickness(2e-3).material(SurfaceMaterial::friction(0.4));
        let body = world.add_soft(body.at([0.02, 0.21, 0.01]))?;
        // the momentum of a cloth in rows differs from its contact impulses by up to a hundredth here (docs/accuracy.md)
        balance_within(0.01, name, &mut world, body, 90, |w| contact_force(w, body))?;
    }
    Ok(())
}

#[test]
fn forces_of_constraints_are_the_change_of_momentum() -> Outcome {
    // a double pendulum of rigid bodies: the force of the upper joint carries both
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    let link = |x: Real| RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.02)).mass(1.0).at([x, 0.0, 0.0]);
    let (first, second) = (world.add_rigid(link(0.1))?, world.add_rigid(link(0.3))?);
    let upper = world.add_joint(Joint::ball(None, Some(first)).anchor([0.0, 0.0, 0.0]))?;
    let lower = world.add_joint(Joint::ball(Some(first), Some(second)).anchor([0.2, 0.0, 0.0]))?;
    let force = |w: &World, id: ConstraintId| {
        w.report().constraints.iter().find(|c| c.id == id).map_or(Vec3::ZERO, |c| c.force)
    };
    balance("lower link", &mut world, second, 90, |w| force(w, lower))?;
    balance("upper link", &mut world, first, 90, |w| force(w, upper) - force(w, lower))?;
    // a soft block hung by an attachment
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    let params = fem::Params { youngs_modulus: 1e5, poisson_ratio: 0.3, density: 1000.0, damping: 0.0 };
    let block =
        SoftBody::new(Geometry::Tets(TetMesh::block([2, 2, 2], Vec3::splat(0.1))?), SoftModel::Corotational(params));
    let block = world.add_soft(block)?;
    let held =
        world.add_attachment(Attachment::new([(Site::Node { body: block, node: 0 }, AttachTarget::Here(None))]))?;
    balance("hung block", &mut world, block, 90, |w| force(w, held))
}
