//! No interpenetration under `Settings::intersection_free`: a sample of the shots, starts with intersections, rest, and the
//! related modes. All shots and the gallery: `benches/oracle/crossings.py`.

#[path = "common/shots.rs"]
mod shots;
use shots::{Frame, STEPS, shot};
use sinew::*;

fn intersection_free() -> Settings {
    Settings { intersection_free: true, ..Settings::default() }
}

/// The first crossing of a shot, or the bullet below its target; none when there is neither. Adds to `held` when a body
/// was too fast for the world and is frozen: the others must not cross it either.
fn trouble(number: u32, settings: Settings, held: &mut Vec<String>) -> Option<String> {
    let mut shot = shot(number, settings);
    let start = Frame::of(&shot.world).crossings();
    assert!(start.is_empty(), "{}: begins crossed", shot.name);
    for step in 0..STEPS {
        shot.world.step(&Input::none());
        let report = shot.world.report();
        if !report.tangles.is_empty() {
            return Some(format!("{}, step {step}: {:?}", shot.name, report.tangles));
        }
        held.extend(report.faults.iter().map(|fault| format!("{}, step {step}: {fault:?}", shot.name)));
        let frame = Frame::of(&shot.world);
        let found = frame.crossings();
        if !found.is_empty() {
            return Some(format!("{}, step {step}: {} crossings", shot.name, found.len()));
        }
        // added last
        let bullet = shot.world.bodies().count() as u32 - 1;
        let inside = |v: &[f64; 3]| v[0].abs() < 0.75 && v[2].abs() < 0.75;
        let below = |floor: Real| {
            let own = frame.vertices.iter().zip(&frame.owner).filter(|(_, owner)| **owner == bullet);
            own.filter(|(v, _)| inside(v)).any(|(v, _)| v[1] < f64::from(floor))
        };
        if shot.floor.is_some_and(below) {
            return Some(format!("{}, step {step}: below", shot.name));
        }
    }
    None
}

/// A sample of the thousand: every bullet with every target, twice.
#[test]
fn no_shot_passes_through_at_up_to_a_hundred_thicknesses_per_step() {
    let mut held = Vec::new();
    let all: Vec<String> = (0..40).filter_map(|k| trouble(k * 21, intersection_free(), &mut held)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(held.is_empty(), "{}", held.join("\n"));
}

/// A body that is stopped gains no energy. (The interior of a jelly continued to move while its front was stopped by a
/// cloth; the energy stored by that threw the cloth with hundreds of metres per second.)
#[test]
fn a_stopped_jelly_gains_no_energy() {
    for number in [294, 714] {
        let mut shot = shot(number, intersection_free());
        let mut step = || {
            shot.world.step(&Input::none());
            let energies = &shot.world.report().energies;
            [energies.kinetic, energies.gravity]
        };
        let start = step();
        for k in 1..STEPS {
            let now = step();
            let gained = now[0] + now[1] - start[0] - start[1];
            assert!(gained < 0.02 * start[0], "shot {number}, step {k}: {gained} J of {} J", start[0]);
        }
    }
}

/// Control: without the setting many shots pass through.
#[test]
fn without_the_setting_shots_do_pass_through() {
    let through = (0..20).filter(|k| trouble(k * 21, Settings::default(), &mut Vec::new()).is_some()).count();
    assert!(through > 0, "{through}");
}

/// Bodies at rest stay at rest, separated by the standoff of ten gaps, and no motion has to be shortened.
#[test]
fn a_stack_rests_under_the_guarantee() {
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..intersection_free() }).unwrap();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let boxes: Vec<BodyId> = (0..4)
        .map(|k| {
            let at = [0.0, 0.1012 + 0.2012 * k as Real, 0.0];
            world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).at(at)).unwrap()
        })
        .collect();
    for _ in 0..300 {
        world.step(&Input::none());
        assert!(Frame::of(&world).crossings().is_empty());
    }
    assert_eq!(world.report().counts.stopped, 0);
    assert!(world.report().tangles.is_empty() && world.report().faults.is_empty());
    let mut top = 0.0;
    for (k, id) in boxes.iter().enumerate() {
        let body = world.body(*id).unwrap();
        // soft contacts are compressed by less than the standoff of 1 mm
        let gap = body.position().y - 0.1 - top;
        top = body.position().y + 0.1;
        assert!(gap > 2e-4 && gap < 1.05e-3, "box {k}: gap {gap}");
        assert!(body.velocity().length() < 1e-3, "box {k}: {}", body.velocity());
    }
}

/// The momentum of two bodies that stop each other is conserved at every speed.
#[test]
fn a_stopped_impact_conserves_momentum() {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..intersection_free() }).unwrap();
    let ball = |x: Real, v: Real| {
        RigidBody::dynamic().shape(Shape::ball(0.05)).mass(1.0 + x.abs()).at([x, 0.01 * x, 0.0]).velocity([v, 0.0, 0.0])
    };
    let a = world.add_rigid(ball(-0.5, 60.0)).unwrap();
    let mesh = TetMesh::block([3; 3], Vec3::splat(0.1)).unwrap();
    let soft = SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.3, 1000.0))
        .at([0.5, 0.0, 0.0])
        .velocity([-30.0, 0.0, 0.0]);
    let b = world.add_soft(soft).unwrap();
    let momentum = |world: &World| {
        [a, b].iter().fold(Vec3::ZERO, |sum, id| {
            let body = world.body(*id).unwrap();
            sum + body.velocity() * body.mass()
        })
    };
    let before = momentum(&world);
    for _ in 0..10 {
        world.step(&Input::none());
        assert!(Frame::of(&world).crossings().is_empty());
    }
    let change = (momentum(&world) - before).length();
    assert!(change < 1e-3 * 120.0, "{change} of {before}");
    // the ball hits off centre and may slide past, but the jelly moves in its direction now
    let [ball, jelly] = [a, b].map(|id| world.body(id).unwrap().velocity().x);
    assert!(jelly > 10.0 && ball < 40.0, "{jelly} {ball}");
}

/// Two boxes that intersect initially are separated, and the report contains it.
#[test]
fn an_initial_intersection_is_separated_and_reported() {
    let mut world = World::new(intersection_free()).unwrap();
    let a = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.5, 0.1, 0.5))).unwrap();
    let b = world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).at([0.03, 0.15, 0.02])).unwrap();
    assert!(!Frame::of(&world).crossings().is_empty());
    world.step(&Input::none());
    let tangles = &world.report().tangles;
    assert_eq!(tangles.len(), 1, "{tangles:?}");
    assert_eq!((tangles[0].a, tangles[0].b), (a, b));
    let TangleEnd::Untangled { moved, by } = tangles[0].end else { panic!("{tangles:?}") };
    // out through the top: the shortest displacement
    assert!(moved == b && by.y > 0.05 && by.y < 0.055 && by.x.abs() < 1e-6, "{by}");
    for _ in 0..60 {
        world.step(&Input::none());
        assert!(Frame::of(&world).crossings().is_empty() && world.report().tangles.is_empty());
    }
}

/// A light cloth of low stiffness.
fn cloth() -> SoftModel {
    let sheet = pbd::Sheet {
        stretch: 500.0,
        bend: 0.0,
        density: 0.2,
        compression: 0.2,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params::default())
}

/// Bodies that cannot be separated are reported as refused and frozen.
#[test]
fn an_initial_intersection_that_cannot_be_separated_is_refused() {
    let mut world = World::new(intersection_free()).unwrap();
    world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.5, 0.1, 0.5))).unwrap();
    let mesh = TriMesh::sheet([4, 4], [0.4, 0.4], Diagonals::Alternating).unwrap();
    let turned = Quat::from_rotation_z(1.5);
    let held = SoftBody::new(Geometry::Sheet(mesh), cloth()).thickness(0.002).pinned([0]).turned(turned);
    let cloth = world.add_soft(held).unwrap();
    world.step(&Input::none());
    let report = world.report();
    assert!(report.tangles.iter().any(|t| t.b == cloth && t.end == TangleEnd::Refused), "{:?}", report.tangles);
    assert!(report.faults.iter().any(|f| f.body == cloth && f.what == FaultKind::Tangled));
    assert!(world.body(cloth).unwrap().is_frozen());
}

/// Projection with every root method: the same time of contact, so the same position, and the cloth is not crossed.
#[test]
fn projection_stops_at_the_first_contact_with_every_method() {
    let place = |time_of_contact: TimeOfContact| {
        let settings = Settings { stop_at_impact: true, time_of_contact, gravity: Vec3::ZERO, ..Settings::default() };
        let mut shot = shot(12, settings);
        for _ in 0..6 {
            shot.world.step(&Input::none());
            assert!(shot.world.report().faults.is_empty());
        }
        let mean = shot.world.body(shot.bullet).unwrap().center_of_mass();
        (mean, Frame::of(&shot.world).crossings().len())
    };
    use TimeOfContact::{Bisection, Brent, Conservative, RegulaFalsi};
    let (first, _) = place(Bisection);
    for method in [RegulaFalsi, Brent] {
        let (at, _) = place(method);
        assert!((at - first).length() < 1e-2, "{method:?}: {at} and {first}");
    }
    assert_eq!(place(Conservative).1, 0);
}

/// Fast impacts get substeps, up to the limit, and the report has their number.
#[test]
fn impacts_get_substeps_within_the_limit() {
    let mut shot = shot(0, Settings { impact_substeps: 16, ..intersection_free() });
    let mut most = 0;
    for _ in 0..STEPS {
        shot.world.step(&Input::none());
        let counts = shot.world.report().counts;
        assert!(counts.impact_substeps <= 16 && counts.substeps >= counts.impact_substeps);
        most = most.max(counts.impact_substeps);
    }
    assert!(most > 4, "{most}");
}

/// Bitwise identical for any number of threads, and after a restore in the middle of a shot.
#[test]
fn the_guarantee_is_bitwise_deterministic() {
    for number in [21, 84, 126] {
        let run = |threads: u32, restore: bool| {
            let mut shot = shot(number, Settings { threads, ..intersection_free() });
            let mut hashes = Vec::new();
            for step in 0..12 {
                if restore && step == 5 {
                    let snapshot = shot.world.snapshot();
                    for _ in 0..3 {
                        shot.world.step(&Input::none());
                    }
                    shot.world.restore(&snapshot).unwrap();
                }
                shot.world.step(&Input::none());
                hashes.push(shot.world.hash());
            }
            hashes
        };
        let one = run(1, false);
        assert_eq!(run(2, false), one, "threads");
        assert_eq!(run(1, true), one, "restore");
    }
}

/// Sheets that move by more than their own size per step are near everything: they are held back and slowed down until
/// their paths can be tested, nothing crosses meanwhile, and then they move on.
#[test]
fn more_pairs_than_the_limit_hold_the_fastest_bodies_back() {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..intersection_free() }).unwrap();
    let sheets: Vec<BodyId> = (0..6)
        .map(|k| {
            let mesh = TriMesh::sheet([9, 9], [0.3, 0.3], Diagonals::Alternating).unwrap();
            let body = SoftBody::new(Geometry::Sheet(mesh), cloth()).thickness(0.01).at([0.0, 0.05 * k as Real, 0.0]);
            world.add_soft(body.velocity(Vec3::new(10.0, 40.0, 20.0))).unwrap()
        })
        .collect();
    let mut held = 0;
    for _ in 0..7 {
        world.step(&Input::none());
        held += world.report().counts.held_back;
        assert!(Frame::of(&world).crossings().is_empty());
    }
    assert!(held > 0, "the scene needs more pairs than the limit");
    assert_eq!(world.report().counts.held_back, 0, "slow enough to be tested");
    for id in sheets {
        assert!(world.body(id).unwrap().center_of_mass().y > 0.05);
    }
}
