//! The session of a server and the commands of viewers, without a socket in between.

use sinew::Vec3;
use sinew_scene::file::{Syntax, read_text_with};
use sinew_scene::gallery;
use sinew_server::Show;
use sinew_server::command::ViewerCommand;
use sinew_server::session::Session;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn session(show: Show) -> Session {
    Session::new(show, Arc::default(), Arc::default()).expect("a built-in scene")
}

#[test]
fn of_several_requested_worlds_the_latest_is_built_while_the_present_one_is_stepped() {
    let mut session = session(Show::new(gallery::find("stack").expect("built in")));
    let scene = |name: &str| ViewerCommand::Scene { name: name.to_owned() };
    for name in ["pudding", "bullet", "domino"] {
        session.apply(0, scene(name));
    }
    session.step();
    assert_eq!(session.world().state().tick, 1, "the command does not delay the world");
    // a knob that is changed after the request applies to the requested world
    session.apply(0, ViewerCommand::Tune { knob: "gravity".to_owned(), value: -3.0 });
    session.settle();
    assert_eq!(session.world().settings().gravity.y, -3.0);
    let domino = gallery::find("domino").map(sinew_scene::AnyScene::from).expect("built in");
    let bodies = domino.build().expect("it builds").bodies().count();
    assert_eq!((session.world().state().tick, session.world().bodies().count()), (0, bodies));

    session.step();
    session.apply(0, ViewerCommand::Reset);
    session.settle();
    assert_eq!((session.world().state().tick, session.world().settings().gravity.y), (0, -3.0), "knob values are kept");
}

#[test]
fn the_pause_between_builds_counts_from_the_end_of_a_build() {
    let mut session = session(Show::new(gallery::find("stack").expect("built in")));
    let (start, mut builds) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(1) {
        session.apply(0, ViewerCommand::Reset);
        session.rebuild();
        session.step();
        // the first step of a new world
        builds += u32::from(session.world().state().tick == 1);
    }
    // the very first step, then at most one build per tenth of a second
    assert!((2..=11).contains(&builds), "{builds}");
}

#[test]
fn a_model_with_changed_parameters_continues_from_the_present_state() {
    let mut session = session(Show::new(gallery::find("pudding").expect("built in")));
    session.step();
    session.apply(0, ViewerCommand::Tune { knob: "friction".to_owned(), value: 2.0 });
    session.rebuild();
    session.step();
    session.settle();
    assert_eq!(session.world().state().tick, 2);
}

#[test]
fn overrides_of_a_scene_are_kept_when_a_knob_is_changed() {
    let text = gallery::find("pudding").and_then(|scene| scene.text).expect("a scene of the gallery that is a file");
    let sets = vec!["settings.gravity=[0, -1.6, 0]".to_owned(), "bodies.chocolate.mass=0.3".to_owned()];
    let scene = read_text_with(text, "pudding", Syntax::Toml, &sets).expect("it reads");
    let mut session = session(Show { sets, ..Show::new(scene) });
    let mass = |session: &Session| {
        let world = session.world();
        world.bodies().filter(|b| b.is_rigid() && b.mass() > 0.0).map(|b| b.mass()).fold(0.0, sinew::Real::max)
    };
    assert_eq!(mass(&session), 0.3);
    session.apply(0, ViewerCommand::Tune { knob: "scene.stiffness".to_owned(), value: 3e4 });
    session.settle();
    assert_eq!(mass(&session), 0.3);
    assert_eq!(session.world().settings().gravity, Vec3::new(0.0, -1.6, 0.0));
}
