//! The world of a server and what viewers do to it, without a socket between.

use sinew::Vec3;
use sinew_scene::file::{Syntax, read_text_with};
use sinew_scene::gallery;
use sinew_server::Show;
use sinew_server::order::Order;
use sinew_server::session::Session;
use std::sync::Arc;
use std::time::Duration;

fn session(show: Show) -> Session {
    Session::new(show, Arc::default(), Arc::default()).expect("a built-in scene")
}

/// Longer than a world waits to be built again.
fn wait() {
    std::thread::sleep(Duration::from_millis(150));
}

#[test]
fn worlds_that_are_asked_for_at_once_come_one_after_the_other() {
    let mut session = session(Show::new(gallery::find("stack").expect("built in")));
    let scene = |name: &str| Order::Scene { name: name.to_owned() };
    session.obey(0, scene("domino"));
    let bodies = session.world().bodies().count();
    session.step();
    session.obey(0, Order::Reset);
    session.step();
    assert_eq!(session.world().state().tick, 2, "a viewer that asks too often does not hold up the world");
    wait();
    session.rebuild();
    assert_eq!((session.world().state().tick, session.world().bodies().count()), (0, bodies), "and is not forgotten");
}

#[test]
fn changes_a_scene_was_shown_with_stay_when_a_slider_is_turned() {
    let text = gallery::find("pudding").and_then(|scene| scene.text).expect("a scene of the gallery that is a file");
    let sets = vec!["settings.gravity=[0, -1.6, 0]".to_owned(), "bodies.chocolate.mass=0.3".to_owned()];
    let scene = read_text_with(text, "pudding", Syntax::Toml, &sets).expect("it reads");
    let mut session = session(Show { sets, ..Show::new(scene) });
    let mass = |session: &Session| {
        let world = session.world();
        world.bodies().filter(|b| b.is_rigid() && b.mass() > 0.0).map(|b| b.mass()).fold(0.0, sinew::Real::max)
    };
    assert_eq!(mass(&session), 0.3);
    session.obey(0, Order::Tune { knob: "scene.stiffness".to_owned(), value: 3e4 });
    wait();
    session.rebuild();
    assert_eq!(mass(&session), 0.3);
    assert_eq!(session.world().settings().gravity, Vec3::new(0.0, -1.6, 0.0));
}
