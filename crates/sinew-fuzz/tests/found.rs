//! What the fuzzers found, each with its story. The inputs lie in `fuzz/corpus`; here is what they showed, in short.

use sinew::{BodyView, Input, Quat, RigidBody, Shape, Vec3, World};
use sinew_scene::file::{Syntax, read_text};

/// A snapshot could say that a body is turned by a quaternion of length 1e36. Every number was finite, so it was let in; the
/// first gate saw that this is no rotation, and put the body back to where it was last good: to the same quaternion, since
/// a restored state counts as good. The body's place, computed through it, was NaN in every step from then on.
#[test]
fn a_snapshot_whose_turn_is_no_rotation_is_refused_and_changes_nothing() -> Result<(), sinew::Error> {
    let mut world = World::default();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 1.0, 0.0]))?;
    world.step(&Input::none());
    let before = world.hash();
    for bad in [Quat::from_xyzw(-2.7e36, 0.0, 0.0, 1.0), Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)] {
        let mut state = world.snapshot();
        state.q[ball.to_parts().0 as usize] = bad;
        let told = world.restore(&state).expect_err("no rotation").to_string();
        assert!(told.contains("column q"), "{told}");
        assert_eq!(world.hash(), before);
    }
    world.step(&Input::none());
    assert!(world.body(ball)?.position().is_finite());
    Ok(())
}

/// A cylinder with a radius of 1e20 m was let in. Squares of such a number are no floats any more: the geometry library indexed past
/// the end of a list and panicked, and a body of voxels of that size had its centre of mass nowhere.
#[test]
fn a_shape_larger_than_the_world_is_refused_by_name() {
    let mut world = World::default();
    for shape in [
        Shape::cylinder(0.5, 1e20),
        Shape::Voxels { size: Vec3::new(1.0, 1e20, 0.5), cells: vec![[0, 0, 0], [26, -1, 0]].into() },
        Shape::cuboid(1e7, 1.0, 1.0),
    ] {
        let told = world.add_rigid(RigidBody::fixed().shape(shape)).expect_err("too large").to_string();
        assert!(told.contains("colliders[0]") && told.contains("1e6"), "{told}");
    }
    let far = sinew::Collider::new(Shape::ball(0.1)).at(sinew::Pose::at(Vec3::X * 1e20));
    assert!(world.add_rigid(RigidBody::fixed().collider(far)).is_err());
    assert!(world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(1e5, 1.0, 1e5))).is_ok());
}

/// Oriented particles that may touch their own kind were compared at rest by the points of their surface, which are fewer when
/// there are particles inside: the step panicked on the first one beyond, and looked at the wrong ones before.
#[test]
fn a_solid_of_oriented_particles_may_touch_itself() -> Result<(), Box<dyn std::error::Error>> {
    let scene = "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }\n\
                 material = 'jelly'\nmodel = 'oriented'\nthickness = 0.01\nself_contact = true\n";
    let mut world = read_text(scene, "s.toml", Syntax::Toml)?.build()?;
    let inside = |b: BodyView<'_>| b.surface().is_some_and(|s| s.len() < b.node_positions().len());
    assert!(world.bodies().any(inside), "one is inside");
    for _ in 0..10 {
        world.step(&Input::none());
    }
    assert!(world.bodies().all(|b| b.node_positions().iter().all(|x| x.is_finite())));
    Ok(())
}
