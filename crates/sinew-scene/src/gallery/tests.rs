//! Every scene behaves as its description states.

use super::*;

/// Runs a scene for a time [s], whole steps, and refuses faults on the way.
fn play(name: &str, seconds: f64) -> World {
    let scene = find(name).expect("a scene of the gallery");
    let mut world = (scene.build)().expect(name);
    while world.time() < seconds {
        let input = (scene.input)(&world, world.state().tick);
        let report = world.step(&input);
        assert_eq!(report.faults, [], "{name} at tick {}", report.tick);
    }
    world
}

fn at(world: &World, name: &str) -> sinew::Vec3 {
    let id = named(world, name).expect(name);
    world.body(id).expect(name).position()
}

#[test]
fn names_are_words_and_sentences_are_sentences() {
    for (i, scene) in scenes().iter().enumerate() {
        assert!(scene.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", scene.name);
        assert!(scene.about.ends_with('.') && scene.about.len() < 120, "{}", scene.name);
        assert!(scene.seconds > 0.0);
        assert!(scenes()[..i].iter().all(|s| s.name != scene.name), "{} is there twice", scene.name);
        assert_eq!(suggest(scene.name), Some(scene.name));
    }
    assert!(find("nothing").is_none());
}

#[test]
fn every_scene_runs_a_second_without_faults_and_is_built_the_same_twice() {
    for scene in scenes() {
        let world = play(scene.name, 1.0);
        let state = world.state();
        assert!(state.x.iter().chain(&state.node_x).all(|x| x.is_finite()), "{}", scene.name);
        let [a, b] = [(); 2].map(|()| (scene.build)().expect(scene.name).hash());
        assert_eq!(a, b, "{}", scene.name);
    }
}

#[test]
fn the_stack_and_the_arch_stand() {
    let stack = play("stack", 10.0);
    for (i, body) in stack.bodies().skip(1).enumerate() {
        let x = body.position();
        assert!(x.x.hypot(x.z) < 0.05 && (x.y - 0.5 - i as sinew::Real).abs() < 0.05, "box {i} at {x}");
    }
    let arch = play("arch", 10.0);
    assert!(at(&arch, "stone 12").y > 3.9, "{}", at(&arch, "stone 12"));
}

#[test]
fn the_last_domino_falls() {
    let world = play("domino", 8.0);
    assert!(at(&world, "domino 39").y < 0.4, "{}", at(&world, "domino 39"));
}

#[test]
fn the_cradle_sends_the_last_ball_out() {
    // a quarter of a period of sqrt(l/g) down, and as much up on the other side
    let world = play("cradle", 1.0);
    let rise: Vec<_> = (0..5).map(|i| at(&world, &format!("ball {i}")).y - 1.0).collect();
    assert!((rise[4] - 0.134).abs() < 0.01 && rise[..4].iter().all(|y| y.abs() < 0.01), "{rise:?}");
}

#[test]
fn no_bullet_passes_the_wall_and_no_ball_leaves_the_bowl() {
    let world = play("bullet", 2.0);
    for i in 0..3 {
        let x = at(&world, &format!("bullet {i}"));
        assert!(x.x < 0.0, "bullet {i} at {x}");
    }
    let bowl = play("bowl", 10.0);
    for ball in bowl.bodies().skip(1) {
        let away = (ball.position() - sinew::Vec3::new(0.0, 2.0, 0.0)).length();
        assert!(away < 1.87, "{}", ball.position());
    }
}

#[test]
fn nothing_falls_through_the_terrain() {
    let world = play("terrain", 8.0);
    for body in world.bodies().filter(|b| b.mass() > 0.0) {
        assert!(body.position().y > -0.5, "{} at {}", body.name(), body.position());
    }
}

#[test]
fn the_top_walks_around_its_pivot_and_does_not_fall() {
    // half a turn: it began at +x
    let world = play("gyroscope", 3.7);
    let center = world.body(named(&world, "top").expect("top")).expect("top").center_of_mass();
    assert!(center.y > 1.15 && center.x < -0.2, "{center}");
    let world = play("gyroscope", 10.0);
    assert!(world.body(named(&world, "top").expect("top")).expect("top").center_of_mass().y > 1.15);
}

#[test]
fn the_bridge_carries_its_load() {
    let world = play("bridge", 10.0);
    for k in 0..6 {
        assert!(at(&world, &format!("load {k}")).y > 0.5, "load {k} at {}", at(&world, &format!("load {k}")));
    }
}

#[test]
fn the_wheel_throws_balls_far_to_the_right() {
    let world = play("wheel", 10.0);
    let far = world.bodies().filter(|b| b.name().starts_with("ball") && b.position().x > 2.0).count();
    assert!(far >= 12, "{far}");
}

#[test]
fn nothing_falls_through_distance_functions_by_any_contact_method() {
    use sinew::ContactMethod::{Impulse, Penalty, Rows};
    use sinew::classic::Penalty as Law;
    let scene = find("classic").expect("a scene of the gallery");
    for method in [
        Rows,
        Impulse,
        Penalty(Law::Quadratic { stiffness: 2e3 }),
        Penalty(Law::Buffered { stiffness: 2e3, buffer: 0.02 }),
        Penalty(Law::LogBarrier { strength: 0.5, buffer: 0.05 }),
    ] {
        let mut world = (scene.build)().expect("classic");
        let settings = sinew::Settings { contact_method: method, ..world.settings().clone() };
        world.set_settings(settings).expect("sane");
        while world.time() < 4.0 {
            let report = world.step(&Input::none());
            assert_eq!(report.faults, [], "{method:?} at tick {}", report.tick);
        }
        // the dent is 0.6 m deep
        let state = world.state();
        let low = state.x.iter().chain(&state.node_x).map(|x| x.y).fold(sinew::Real::INFINITY, sinew::Real::min);
        assert!(low > -0.62, "{method:?}: {low}");
    }
}

#[test]
fn the_block_on_the_belt_sticks_and_slips_and_with_one_coefficient_it_only_swings() {
    use sinew::friction::Law;
    // carried to μ_s N/k = 0.22 m, thrown back below μ_k N/k = 0.147 m, and again
    let scene = find("stick-slip").expect("a scene of the gallery");
    let throws = |mut world: World| {
        let (mut throws, mut was, mut far): (u32, sinew::Real, sinew::Real) = (0, 0.0, 0.0);
        while world.time() < 12.0 {
            world.step(&Input::none());
            let id = named(&world, "block").expect("it is there");
            let v = world.body(id).expect("it is there").velocity().x;
            throws += u32::from(v < -0.05 && was >= -0.05);
            was = v;
            far = far.max(at(&world, "block").x);
        }
        (throws, far)
    };
    let (count, far) = throws((scene.build)().expect("it is built"));
    assert!(count >= 3, "{count}");
    assert!((0.19..0.25).contains(&far), "{far}");
    // Dahl has no μ_s: it oscillates about μ_k N/k with the amplitude of the belt speed over ω
    let dahl = Law::all()[5];
    let (_, far) = throws(with_law(&(scene.build)().expect("it is built"), dahl).expect("another law"));
    let right = 0.3 * 9.81 / 20.0 + 0.1 / 20.0_f32.sqrt() as sinew::Real;
    assert!((far / right - 1.0).abs() < 0.02, "{far} {right}");
}

#[test]
fn balls_with_friction_roll_and_the_slippery_one_is_ahead() {
    let world = play("ball-incline", 2.0);
    let [none, some, twice] = ["slippery", "rubbing", "rubbing twice"].map(|name| at(&world, name).x);
    // g sin θ against 5/7 of it; twice the friction rolls the same
    assert!(none > 1.2 * some, "{none} {some}");
    assert!((twice / some - 1.0).abs() < 0.1, "{some} {twice}");
}

#[test]
fn friction_stops_the_upper_cylinder_and_without_it_it_falls() {
    let (held, lost) = (play("cylinders-friction", 1.0), play("cylinders-slippery", 1.0));
    let [stays, falls] = [&held, &lost].map(|world| at(world, "falling"));
    // 0.3²/(2 · 0.6 · g) = 8 mm, of 125 mm to the end; the valley that it presses brings it back
    assert!(stays.y > 0.38 && stays.z < 0.05, "{stays}");
    assert!(falls.y < 0.3 && falls.z > 0.15, "{falls}");
}

#[test]
fn soft_pads_lift_the_plate_and_hold_it() {
    let world = play("grip", 2.0);
    let start = at(&world, "plate").y;
    // lifted by 0.15 m, less the shear of the pads
    assert!((start - 0.27).abs() < 0.01, "{start}");
    let later = at(&play("grip", 6.0), "plate").y;
    assert!((later - start).abs() < 1e-4, "{start} {later}");
}

#[test]
fn the_hand_lifts_the_ball_and_holds_it() {
    let held = at(&play("hand", 3.5), "ball");
    let later = at(&play("hand", 5.0), "ball");
    assert!(later.y > 0.3 && later.distance(held) < 1e-3, "{held} {later}");
}

/// Angle between neighbours of the chain [rad], below a half turn.
fn twists(world: &World) -> Vec<sinew::Real> {
    let body = world.bodies().next().expect("the chain");
    let turns: Vec<_> = (0..25).map(|k| body.particle_rotation(k).expect("a particle")).collect();
    turns.windows(2).map(|q| q[0].angle_between(q[1])).collect()
}

#[test]
fn the_twist_spreads_along_particles_one_abreast() {
    // 2 s at 1.5 rad/s, by 24 links; the two at the ends are stiffer than the others by their shares, 4 : 3
    let (whole, found) = (3.0, twists(&play("twist-chain", 4.0 - 1e-3)));
    let each = whole / (22.0 + 2.0 * 0.75);
    assert!((found.iter().sum::<sinew::Real>() / whole - 1.0).abs() < 1e-2, "{found:?}");
    assert!(found[1..23].iter().all(|s| (s / each - 1.0).abs() < 0.05), "{each}: {found:?}");
    // back again
    let found = twists(&play("twist-chain", 10.0));
    assert!(found.iter().sum::<sinew::Real>() < 0.05 * whole, "{found:?}");
}

#[test]
fn the_elbow_bends_against_its_flesh_and_comes_back_and_nothing_tears_off() {
    use sinew::Vec3;
    let elbow = Vec3::Y * 0.2;
    let angle = |world: &World| {
        let along = at(world, "arm lower") - elbow;
        along.y.atan2(along.x)
    };
    let world = play("arm", 2.0);
    // the target is 1.6 rad; the flesh pulls back
    assert!((1.2..1.6).contains(&angle(&world)), "{}", angle(&world));
    // the farthest corner of a straight arm is 4.2 cm from the bones' axes
    let lower = (at(&world, "arm lower") - elbow).normalize();
    let away = |p: Vec3| [Vec3::NEG_X, lower].map(|axis| (p - elbow - axis * (p - elbow).dot(axis).max(0.0)).length());
    let skin = world.body(named(&world, "arm skin").expect("flesh")).expect("flesh");
    let far = skin.node_positions().iter().map(|&p| away(p)[0].min(away(p)[1])).fold(0.0, sinew::Real::max);
    assert!(far < 0.06, "{far}");
    let world = play("arm", 4.0);
    assert!(angle(&world).abs() < 0.15, "{}", angle(&world));
}
