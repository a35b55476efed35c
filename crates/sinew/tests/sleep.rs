//! Sleeping: bodies at rest are not solved, report their contact forces, and wake up on contact.

use sinew::*;

/// A floor with a jelly on it, a box on the jelly, and a box beside them.
struct Rest {
    world: World,
    floor: BodyId,
    jelly: BodyId,
    load: BodyId,
    aside: BodyId,
}

const LOAD: Real = 0.5;

fn rest() -> Result<Rest, Error> {
    let mut world = World::new(Settings { point_forces: true, ..Settings::default() })?;
    let floor = world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let mesh = TetMesh::block([3, 2, 3], Vec3::new(0.3, 0.15, 0.3)).expect("a block");
    let matter = ElasticMaterial { damping: 0.05, ..ElasticMaterial::jelly() };
    let jelly = world.add_soft(SoftBody::corotational(mesh, matter).at([0.0, 0.08, 0.0]))?;
    let block = |at: [Real; 3]| RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.1)).mass(LOAD).at(at);
    let load = world.add_rigid(block([0.0, 0.18, 0.0]))?;
    let aside = world.add_rigid(block([1.0, 0.021, 0.0]))?;
    let mut rest = Rest { world, floor, jelly, load, aside };
    for _ in 0..600 {
        if rest.is_asleep() {
            return Ok(rest);
        }
        rest.world.step(&Input::none());
    }
    panic!("it never came to rest")
}

impl Rest {
    fn is_asleep(&self) -> bool {
        [self.jelly, self.load, self.aside].iter().all(|id| self.world.body(*id).expect("it is there").is_asleep())
    }

    /// Vertical force between the two bodies [N].
    fn force(&self, on: BodyId, by: BodyId) -> Real {
        let pairs = &self.world.report().pairs;
        let both = |p: &&PairForce| [(on, by), (by, on)].contains(&(p.a, p.b));
        pairs.iter().filter(both).map(|p| p.force.y).sum::<Real>().abs()
    }
}

#[test]
fn sleeping_bodies_report_their_contact_forces() -> Result<(), Error> {
    let mut rest = rest()?;
    let g = 9.81;
    let jelly: Real = rest.world.body(rest.jelly)?.node_masses().iter().sum();
    for step in 0..20 {
        // another step size: impulses change with it, forces do not
        if step == 10 {
            let settings = Settings { dt: 0.004, warm_start: 0.8, ..rest.world.settings().clone() };
            rest.world.set_settings(settings)?;
        }
        rest.world.step(&Input::none());
        assert!(rest.is_asleep(), "step {step}");
        for (on, by, weight) in [
            (rest.aside, rest.floor, g * LOAD),
            (rest.load, rest.jelly, g * LOAD),
            (rest.jelly, rest.floor, g * (LOAD + jelly)),
        ] {
            let force = rest.force(on, by);
            assert!((force / weight - 1.0).abs() < 0.01, "step {step}: {force} of {weight} N");
        }
        let points: Real = rest.world.report().contacts.iter().map(|c| c.force.y.abs()).sum();
        assert!((points / (g * (3.0 * LOAD + jelly)) - 1.0).abs() < 0.01, "step {step}: {points} N by points");
    }
    Ok(())
}

#[test]
fn sleeping_bodies_are_not_solved() -> Result<(), Error> {
    let mut rest = rest()?;
    rest.world.step(&Input::none());
    let counts = rest.world.report().counts;
    assert_eq!((counts.awake, counts.contact_rows, counts.fresh_manifolds, counts.iterations), (0, 0, 0, 0));
    Ok(())
}

#[test]
fn a_kinematic_body_wakes_the_bodies_it_approaches() -> Result<(), Error> {
    for soft in [false, true] {
        let mut rest = rest()?;
        let (goal, from) = if soft { (rest.jelly, [-0.5, 0.1, 0.0]) } else { (rest.aside, [1.5, 0.1, 0.0]) };
        let pusher = RigidBody::kinematic().shape(Shape::cuboid(0.1, 0.09, 0.1)).at(from);
        let pusher = rest.world.add_rigid(pusher)?;
        let place = |world: &World| {
            let body = world.body(goal)?;
            Ok::<Real, Error>(if soft { body.node_positions()[0].x } else { body.position().x })
        };
        let before = place(&rest.world)?;
        for k in 1..=60 {
            let x = from[0] + if soft { 0.01 } else { -0.01 } * k as Real;
            rest.world.step(&Input::none().target(pusher, Pose::at(Vec3::new(x, from[1], from[2]))));
        }
        // initial distance half a metre, displacement 0.6 m: pushed by the remainder after contact
        let way = (place(&rest.world)? - before).abs();
        let gap = if soft { 0.5 - 0.1 - 0.15 } else { 0.5 - 0.1 - 0.1 };
        assert!(way > 0.8 * (0.6 - gap), "soft {soft}: pushed by {way} m");
    }
    Ok(())
}

#[test]
fn a_sleeping_jelly_wakes_when_its_floor_is_removed() -> Result<(), Error> {
    let mut rest = rest()?;
    rest.world.remove_body(rest.floor)?;
    for _ in 0..10 {
        rest.world.step(&Input::none());
    }
    for id in [rest.jelly, rest.load, rest.aside] {
        assert!(!rest.world.body(id)?.is_asleep());
    }
    Ok(())
}

/// Detection data cached for sleeping bodies must not outlive them: two positions in which the same body sleeps.
#[test]
fn contacts_of_a_restored_sleeping_body_are_detected_at_its_position() -> Result<(), Error> {
    let (mut straight, mut detour) = (rest()?, rest()?);
    let there = detour.world.snapshot();
    let push = Command::Velocity { body: detour.load, velocity: Vec3::new(1.2, 0.0, 0.2), spin: Vec3::ZERO };
    detour.world.step(&Input::none().with(push));
    let woken = (0..1000).find(|_| {
        detour.world.step(&Input::none());
        detour.is_asleep()
    });
    assert!(woken.is_some_and(|steps| steps > 10), "{woken:?}");
    detour.world.restore(&there)?;
    for k in 0..60 {
        for rest in [&mut straight, &mut detour] {
            // at rest for a while, then an impact
            let velocity = Vec3::new(-5.0, 1.5, 0.0);
            let strike = Command::Velocity { body: rest.aside, velocity, spin: Vec3::ZERO };
            rest.world.step(&if k == 20 { Input::none().with(strike) } else { Input::none() });
        }
        assert_eq!(straight.world.hash(), detour.world.hash(), "step {k}");
    }
    assert!(!straight.is_asleep());
    Ok(())
}
