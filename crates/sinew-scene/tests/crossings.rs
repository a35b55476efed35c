//! A sample of what `cargo xtask oracle` asks about the whole gallery: under `Settings::intersection_free` nothing crosses that may
//! not, looked at by an exact test of edges against triangles.

#[path = "../../sinew/tests/common/shots.rs"]
mod shots;
use shots::{Frame, held};
use sinew::{BodyView, Settings};
use sinew_scene::gallery;

const SCENES: [&str; 4] = ["jelly", "teapots", "hand", "grip"];

#[test]
fn nothing_crosses_in_scenes_under_the_guarantee() {
    for name in SCENES {
        let scene = gallery::find(name).expect(name);
        let mut world = (scene.build)().expect(name);
        let settings = Settings { intersection_free: true, ..world.settings().clone() };
        world.set_settings(settings).expect("sane");
        for step in 0..24 {
            let input = (scene.input)(&world, world.state().tick);
            world.step(&input);
            if step % 8 != 7 {
                continue;
            }
            let bodies: Vec<BodyView<'_>> = world.bodies().collect();
            let frame = Frame::of(&world);
            let bad = frame.crossings().into_iter().find(|&(edge, triangle)| {
                let owner = |corner: u32| &bodies[frame.owner[corner as usize] as usize];
                let (a, b) = (owner(frame.edges[edge as usize][0]), owner(frame.triangles[triangle as usize][0]));
                // nobody can keep apart who is held, and parts of a rigid body may overlap
                !(held(a) && held(b)) && world.may_touch(a.id(), b.id()) == Ok(true)
            });
            let message = bad.map(|(edge, triangle)| {
                let name = |corner: u32| bodies[frame.owner[corner as usize] as usize].name();
                (name(frame.edges[edge as usize][0]), name(frame.triangles[triangle as usize][0]))
            });
            assert_eq!(message, None, "{} at step {step}", scene.name);
        }
    }
}
