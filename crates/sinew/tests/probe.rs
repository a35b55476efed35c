//! Thin tools pressed deep into soft blocks: the contact is kept, its force grows with the depth, and the reported
//! penetration is that of a search over the whole surface.

#[path = "common/probes.rs"]
mod probes;

use probes::{Model, Numbers, SIZE, Scene, Tool, Verdict, base, block, run};
use sinew::*;

/// A kinematic capsule of 5 mm was pushed into a block of 5 kPa with cells of 20 mm: the force fell to 0 at 16 mm, and
/// the report said that nothing penetrates. The nearest points of capsule and triangle were wrong by 0.7 mm.
///
/// `Report::penetration` is that at the start of the last substep, here of the step, and is compared with the surface at
/// that instant. A contact stays at its point of a triangle while no other is deeper by 1 % of the contact margin (50 µm),
/// which is the error that is left.
#[test]
fn issue_024_a_round_tool_pressed_deep_keeps_its_contact() {
    // elsewhere on coarse cells the force drops by up to 37 %: where the tool passes from one triangle to another, and
    // from 37 mm on, where tetrahedra are inverted (`examples/probes.rs`)
    let verdict = Verdict::of(&run(base(), 0.04, 1e-3));
    assert!(verdict.is_good(), "{verdict:?}");
    let mut numbers = Numbers(24);
    let drawn = (0..11).map(|k| {
        let (radius, at) = (numbers.radius(), numbers.place());
        Scene { tool: if k % 2 == 0 { Tool::Ball(radius) } else { Tool::Capsule(radius) }, at, ..base() }
    });
    for scene in drawn {
        let verdict = Verdict::of(&run(scene, 0.04, 1e-3));
        assert!(verdict.is_held() && verdict.error < 1e-4, "{scene:?}: {verdict:?}");
    }
}

/// A ball that began inside a jelly was accepted, and a penetration of 4e-9 m reported.
#[test]
fn issue_024_a_shape_that_begins_inside_is_reported() {
    for (tool, deepest) in [(Tool::Ball(0.01), 0.0), (Tool::Ball(0.02), 0.0), (Tool::Edge(5e-3), 1e-3)] {
        for depth in [0.045, 0.055] {
            let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
            world.add_soft(block(Model::Corotational, [10, 6, 10])).unwrap();
            let pose = tool.pose(Vec3::new(3e-3, SIZE.y - depth, 2e-3));
            let rigid = RigidBody::fixed().shape(tool.shape()).at(pose.position).turned(pose.rotation);
            world.add_rigid(rigid).unwrap();
            let found = world.step(&Input::none()).penetration;
            // nearest surface: the top, above the lowest point
            assert!((found - depth).abs() < 2e-4 + deepest, "{tool:?} at {depth} m: {found} m");
        }
    }
}
