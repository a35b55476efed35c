//! Invalid numbers in any state or input field: no panic, each is detected within one step, only the faulty body is
//! frozen.

mod common;
use common::{Zoo, script, zoo};
use sinew::*;

/// Values that are invalid for every body.
const POISON: [Real; 5] = [Real::NAN, Real::INFINITY, Real::NEG_INFINITY, 1e30, -1e30];

struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// Writes an invalid value into a random state field; returns the body it belongs to, if it belongs to a single body.
fn poison(state: &mut State, zoo: &Zoo, random: &mut Random) -> (Option<BodyId>, &'static str) {
    let bad = POISON[random.below(POISON.len())];
    let victim = zoo.boxes[random.below(zoo.boxes.len())];
    let slot = victim.to_parts().0 as usize;
    let axis = random.below(3);
    match random.below(9) {
        0 => (state.x[slot][axis] = bad, (Some(victim), "x")).1,
        1 => (state.v[slot][axis] = bad, (Some(victim), "v")).1,
        2 => (state.w[slot][axis] = bad, (Some(victim), "w")).1,
        3 => {
            let mut q = state.q[slot].to_array();
            q[axis] = bad;
            state.q[slot] = Quat::from_array(q);
            (Some(victim), "q")
        }
        4 => (state.x_remainder[slot][axis] = bad, (Some(victim), "x_remainder")).1,
        5 => (state.sleep_timer[slot] = Real::NAN, (Some(victim), "sleep_timer")).1,
        6 => {
            let n = random.below(state.node_x.len());
            state.node_v[n][axis] = bad;
            // the particles were added before the jelly
            let particles = zoo.world.body(zoo.dust).map_or(0, |b| b.node_masses().len());
            (Some(if n < particles { zoo.dust } else { zoo.jelly }), "node_v")
        }
        7 => {
            let n = random.below(state.row_impulses.len());
            state.row_impulses[n] = bad;
            (None, "row_impulses")
        }
        _ => {
            if state.contacts.is_empty() {
                return (None, "none");
            }
            let n = random.below(state.contacts.len());
            state.contacts[n].points[0].impulse[axis] = bad;
            (None, "contacts")
        }
    }
}

#[test]
fn a_thousand_faults_and_no_panic() -> Result<(), Error> {
    let mut random = Random(2026);
    let mut start = zoo(1)?;
    for tick in 0..60 {
        let input = script(&start, tick);
        start.world.step(&input);
    }
    let calm = start.world.snapshot();
    for round in 0..1000 {
        start.world.restore(&calm)?;
        let mut state = std::mem::take(start.world.tamper());
        let (victim, field) = poison(&mut state, &start, &mut random);
        *start.world.tamper() = state;
        let report = start.world.step(&Input::none());
        let blamed = report.faults.iter().any(|f| Some(f.body) == victim && f.field == field);
        assert!(victim.is_none() || blamed, "round {round}: {field} of {victim:?} undetected: {:?}", report.faults);
        for body in start.world.bodies() {
            assert!(body.position().is_finite() && body.velocity().is_finite(), "round {round}: {field}");
            let own_fault = Some(body.id()) == victim && field != "sleep_timer";
            assert!(own_fault || !body.is_frozen(), "round {round}: {field} froze {:?}", body.id());
        }
        let next = start.world.step(&Input::none());
        assert!(next.faults.is_empty(), "round {round}: {field} reappears: {:?}", next.faults);
    }
    Ok(())
}

#[test]
fn other_bodies_are_bitwise_unaffected_by_a_faulty_body() -> Result<(), Error> {
    // two worlds: in one a distant ball gets an invalid velocity, in the other it does not exist
    let build = |with: bool| -> Result<(World, Vec<BodyId>, BodyId), Error> {
        let mut world = World::new(Settings::default())?;
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        let mut ids = Vec::new();
        for k in 0..8 {
            let at = [0.1 * k as Real, 0.5 + 0.9 * k as Real, 0.0];
            ids.push(world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.4, 0.4, 0.4)).at(at))?);
        }
        let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.3)).at([50.0, 5.0, 0.0]))?;
        if !with {
            world.remove_body(ball)?;
        }
        Ok((world, ids, ball))
    };
    let (mut mad, ids, ball) = build(true)?;
    let (mut sane, _, _) = build(false)?;
    for tick in 0..200 {
        if tick == 30 {
            mad.tamper().v[ball.to_parts().0 as usize].x = Real::NAN;
        }
        mad.step(&Input::none());
        sane.step(&Input::none());
        assert_eq!(mad.body(ball)?.is_frozen(), tick >= 30);
        for id in &ids {
            let (a, b) = (mad.body(*id)?, sane.body(*id)?);
            assert_eq!((a.position(), a.rotation(), a.velocity()), (b.position(), b.rotation(), b.velocity()));
        }
    }
    Ok(())
}

#[test]
fn bodies_of_the_island_of_a_faulty_body_are_reset_and_continue() -> Result<(), Error> {
    // a heavy ball hits a light one, which leaves with nearly twice its speed: faster than this world allows
    let mut world = World::new(Settings { max_speed: 2.0, gravity: Vec3::ZERO, ..Settings::default() })?;
    let bouncy = SurfaceMaterial { restitution: 1.0, ..SurfaceMaterial::default() };
    let ball = |mass, x| RigidBody::dynamic().shape(Shape::ball(0.1)).mass(mass).material(bouncy).at([x, 0.0, 0.0]);
    let light = world.add_rigid(ball(0.01, 0.0))?;
    let heavy = world.add_rigid(ball(1.0, 0.3).velocity([-1.8, 0.0, 0.0]))?;
    let aside = world.add_rigid(ball(1.0, 50.0).velocity([1.0, 0.0, 0.0]))?;
    for step in 0.. {
        let before = (world.body(heavy)?.position(), world.body(heavy)?.velocity(), world.body(aside)?.position());
        let report = world.step(&Input::none());
        let (blamed, put_back) = (report.faults.first().map(|fault| fault.body), report.counts.rolled_back);
        if blamed.is_some() {
            assert_eq!((blamed, put_back), (Some(light), 1));
            assert_eq!((world.body(heavy)?.position(), world.body(heavy)?.velocity()), (before.0, before.1));
            assert!(world.body(aside)?.position().x > before.2.x);
            break;
        }
        assert!(step < 30 && put_back == 0, "no body was too fast");
    }
    assert!(world.body(light)?.is_frozen() && !world.body(heavy)?.is_frozen());
    for _ in 0..60 {
        assert!(world.step(&Input::none()).faults.is_empty());
    }
    assert!(world.body(heavy)?.velocity().x > 1.5, "it bounced off the frozen ball");
    Ok(())
}

#[test]
fn invalid_commands_are_rejected_and_change_nothing() -> Result<(), Error> {
    let mut a = zoo(1)?;
    let mut b = zoo(1)?;
    let body = a.boxes[3];
    let gone = BodyId::from_parts(9999, 1);
    let nan = Vec3::splat(Real::NAN);
    let bad = [
        Command::Force { body, force: nan, torque: Vec3::ZERO },
        Command::Force { body: gone, force: Vec3::X, torque: Vec3::ZERO },
        Command::Impulse { body, impulse: Vec3::splat(1e30), point: Vec3::ZERO },
        Command::Velocity { body, velocity: nan, spin: Vec3::ZERO },
        Command::Teleport { body, pose: Pose::at(Vec3::splat(1e30)) },
        Command::Target { body, pose: Pose::IDENTITY },
        Command::AddRigid(Box::new(RigidBody::dynamic())),
        Command::RemoveBody(gone),
        Command::Settings(Box::new(Settings { dt: -1.0, ..Settings::default() })),
        Command::NodeForce { body: a.dust, node: 99, force: Vec3::X },
        Command::NodeTarget { body: a.dust, node: 99, position: Vec3::X },
        Command::NodeTarget { body: a.dust, node: 0, position: nan },
        Command::NodeTarget { body: a.dust, node: 0, position: Vec3::splat(1e30) },
        Command::NodeTarget { body: a.dust, node: 1, position: Vec3::X },
        Command::NodeTarget { body, node: 0, position: Vec3::X },
    ];
    let count = bad.len();
    let report = a.world.step(&Input { commands: bad.into() });
    let refused = report.events.iter().filter(|e| matches!(e, Event::Refused { .. })).count();
    assert_eq!(refused, count);
    b.world.step(&Input::none());
    assert_eq!(a.world.hash(), b.world.hash());
    Ok(())
}

#[test]
fn errors_name_the_invalid_field() {
    let mut world = World::default();
    let cases: [(RigidBody, &str); 7] = [
        (RigidBody::dynamic().shape(Shape::ball(-1.0)), "radius"),
        (RigidBody::dynamic().shape(Shape::cuboid(1.0, Real::NAN, 1.0)), "half_extents.y"),
        (RigidBody::dynamic().shape(Shape::ball(1.0)).mass(0.0), "mass"),
        (RigidBody::dynamic().shape(Shape::half_space(Vec3::Y)), "half-space"),
        (RigidBody::dynamic().mass(1.0), "inertia"),
        (RigidBody::dynamic().shape(Shape::ball(1.0)).at([Real::INFINITY, 0.0, 0.0]), "position"),
        (RigidBody::dynamic().shape(Shape::ball(1.0)).named("egg").damping(-1.0, 0.0), "egg"),
    ];
    for (body, word) in cases {
        let message = world.add_rigid(body).unwrap_err().to_string();
        assert!(message.contains(word), "'{message}' does not name {word}");
    }
    let message = World::new(Settings { substeps: 0, ..Settings::default() }).unwrap_err().to_string();
    assert!(message.contains("substeps"), "{message}");
}
