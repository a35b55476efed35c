//! Findings of the fuzzers, each with its cause. The inputs lie in `fuzz/corpus`; the tests are reduced to the cause.

use sinew::{BodyView, Input, Quat, RigidBody, Shape, Vec3, World};
use sinew_scene::file::{Syntax, read_text};

/// A snapshot could set the orientation of a body to a quaternion of length 1e36. All numbers were finite, so it was
/// accepted; the first validation within the step detected that this is not a rotation, and reset the body to its last
/// valid state: to the same quaternion, since a restored state counts as valid. The position of the body, computed from
/// it, was NaN in every later step.
#[test]
fn a_snapshot_with_a_quaternion_that_is_no_rotation_is_refused_and_changes_nothing() -> Result<(), sinew::Error> {
    let mut world = World::default();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 1.0, 0.0]))?;
    world.step(&Input::none());
    let before = world.hash();
    for bad in [Quat::from_xyzw(-2.7e36, 0.0, 0.0, 1.0), Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)] {
        let mut state = world.snapshot();
        state.q[ball.to_parts().0 as usize] = bad;
        let message = world.restore(&state).expect_err("no rotation").to_string();
        assert!(message.contains("column q"), "{message}");
        assert_eq!(world.hash(), before);
    }
    world.step(&Input::none());
    assert!(world.body(ball)?.position().is_finite());
    Ok(())
}

/// A cylinder with a radius of 1e20 m was accepted. Squares of such numbers overflow: the geometry library indexed past
/// the end of a list and panicked, and a body of voxels of that size had a centre of mass that was not finite.
#[test]
fn a_shape_larger_than_the_world_is_refused_by_name() {
    let mut world = World::default();
    for shape in [
        Shape::cylinder(0.5, 1e20),
        Shape::Voxels { size: Vec3::new(1.0, 1e20, 0.5), cells: vec![[0, 0, 0], [26, -1, 0]].into() },
        Shape::cuboid(1e7, 1.0, 1.0),
    ] {
        let message = world.add_rigid(RigidBody::fixed().shape(shape)).expect_err("too large").to_string();
        assert!(message.contains("colliders[0]") && message.contains("1e6"), "{message}");
    }
    let far = sinew::Collider::new(Shape::ball(0.1)).at(sinew::Pose::at(Vec3::X * 1e20));
    assert!(world.add_rigid(RigidBody::fixed().collider(far)).is_err());
    assert!(world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(1e5, 1.0, 1e5))).is_ok());
}

/// Oriented particles with self-contact were compared at rest by the points of their surface, of which there are fewer
/// when some particles are interior: the step panicked on the first index out of range, and used wrong points before.
#[test]
fn a_solid_of_oriented_particles_may_have_self_contact() -> Result<(), Box<dyn std::error::Error>> {
    let scene = "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'block', cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }\n\
                 material = 'jelly'\nmodel = 'oriented'\nthickness = 0.01\nself_contact = true\n";
    let mut world = read_text(scene, "s.toml", Syntax::Toml)?.build()?;
    let inside = |b: BodyView<'_>| b.surface().is_some_and(|s| s.len() < b.node_positions().len());
    assert!(world.bodies().any(inside), "a particle is interior");
    for _ in 0..10 {
        world.step(&Input::none());
    }
    assert!(world.bodies().all(|b| b.node_positions().iter().all(|x| x.is_finite())));
    Ok(())
}

/// A rope of 3e38 kg per metre was accepted: the mass of each node was finite, the total mass was not, and neither was
/// the centre of mass. At the other extreme, a particle of 1e-45 kg had an inverse mass that was not finite. Masses are
/// now limited to 1e-20 to 1e20 kg.
#[test]
fn masses_whose_sum_or_inverse_is_not_finite_are_refused_by_name() {
    for mass in [1e-30, 1e30] {
        let mut world = World::default();
        let message =
            world.add_particles(sinew::Particles::new(vec![Vec3::X]).mass(mass)).expect_err("beyond").to_string();
        assert!(message.contains("mass[0]") && message.contains("1e20"), "{message}");
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(mass).named("egg");
        let message = world.add_rigid(ball).expect_err("beyond").to_string();
        assert!(message.contains("egg") && message.contains("1e20"), "{message}");
    }
    let scene = "[bodies.s]\nkind = 'soft'\ngeometry = { kind = 'rope', from = [0, 0, 0], to = [1, 0, 0], segments = 3 }\n\
                 model = { kind = 'pbd_cord', stretch = 1e3, density = 3e38 }\n";
    assert!(read_text(scene, "s.toml", Syntax::Toml).is_err());
}

/// A VTU file whose tags have no blank after them took quadratic time: at each tag the remainder of the file was
/// searched for the end of a word, for a message that was not used. 700 kB of nested tags took half a minute, and now
/// milliseconds.
#[test]
fn a_hundred_thousand_nested_tags_are_refused() {
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let message =
        sinew_mesh::read_bytes(deep.as_bytes(), sinew_mesh::Format::Vtu, "deep.vtu").expect_err("no grid in it");
    assert!(message.to_string().contains("VTKFile"), "{message}");
}

/// A glTF file of empty nodes, three bytes each, took four hundred bytes of memory per node: 16 MB of text needed 4 GB.
/// Nodes are smaller now, and a list of the JSON has at most half a million items.
#[test]
fn a_gltf_of_a_million_empty_nodes_is_refused() {
    let nodes = "{},".repeat(600_000);
    let text = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{nodes}{{}}]}}");
    let message = sinew_mesh::read_bytes(text.as_bytes(), sinew_mesh::Format::Gltf, "many.gltf").expect_err("too many");
    assert!(message.to_string().contains("500000"), "{message}");
}

/// Text that is not TOML has an error in every line. All were reported, at a kilobyte each: a megabyte took half a
/// gigabyte. For long text only the first error is reported now.
#[test]
fn invalid_toml_reports_one_error_when_long_and_all_errors_when_short() {
    let faults = |lines: usize| {
        let message = read_text(&"no = toml\n".repeat(lines), "no.toml", Syntax::Toml).expect_err("no TOML");
        message.iter().count()
    };
    assert_eq!(faults(100_000), 1);
    assert!(faults(10) > 1);
}

/// Blocks of 2 cm with an overlap of one metre: each of a hundred nodes was in half a million of them, and a step took
/// seconds. A node now belongs to at most 216.
#[test]
fn blocks_with_an_excessive_overlap_are_refused_by_name() {
    let body = |overlap: &str| {
        format!(
            "[bodies.s]\nkind = 'soft'\ngeometry = {{ kind = 'tube', radii = [0.05, 1], height = 0.5, cells = 2 }}\n\
             material = 'jelly'\nmodel = {{ kind = 'shape_matching', clusters = {{ kind = 'blocks', size = 0.2, overlap = {overlap} }} }}\n"
        )
    };
    let message =
        read_text(&body("1"), "s.toml", Syntax::Toml).expect_err("each node in hundreds of blocks").to_string();
    assert!(message.contains("overlap") && message.contains("216"), "{message}");
    assert!(read_text(&body("0.1"), "s.toml", Syntax::Toml).is_ok());
}
