//! Saves and snapshots: what is written comes back, bit for bit.

mod common;

use common::{input, scene};
use sinew::*;
use sinew_wire::{Section, WireError, load, restore, save, snapshot};
use std::sync::Arc;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[test]
fn a_loaded_world_goes_on_with_the_same_bits() -> Outcome {
    let (mut world, ids) = scene(1)?;
    for pause in [0, 90, 160] {
        while world.state().tick < pause {
            let i = world.state().tick as u32;
            world.step(&input(&ids, i));
        }
        let bytes = save(&world)?;
        let mut twin = load(&bytes)?;
        assert_eq!(twin.hash(), world.hash());
        assert_eq!(twin.settings(), world.settings());
        assert_eq!(save(&twin)?, bytes, "a save of the loaded world is the same file");
        for _ in 0..60 {
            let i = world.state().tick as u32;
            world.step(&input(&ids, i));
            twin.step(&input(&ids, i));
            assert_eq!(sinew_wire::diff(world.state(), twin.state()), [], "tick {i} after {pause}");
            assert_eq!(twin.hash(), world.hash());
        }
    }
    Ok(())
}

#[test]
fn a_snapshot_takes_its_world_back() -> Outcome {
    let (mut world, ids) = scene(1)?;
    for i in 0..30 {
        world.step(&input(&ids, i));
    }
    let (bytes, hash) = (snapshot(&world), world.hash());
    let run = |world: &mut World| {
        for i in 30..39 {
            world.step(&input(&ids, i));
        }
        world.hash()
    };
    let first = run(&mut world);
    restore(&mut world, &bytes)?;
    assert_eq!(world.hash(), hash);
    assert_eq!(run(&mut world), first);
    Ok(())
}

#[test]
fn a_snapshot_of_another_model_is_refused_and_the_world_stays() -> Outcome {
    let with = |radius: Real| -> Result<World, Error> {
        let mut world = World::default();
        world.add_rigid(RigidBody::dynamic().shape(Shape::ball(radius)))?;
        world.step(&Input::none());
        Ok(world)
    };
    let bytes = snapshot(&with(0.5)?);
    // the same columns, another ball
    let mut other = with(0.25)?;
    let hash = other.hash();
    assert_eq!(restore(&mut other, &bytes), Err(WireError::OtherModel));
    assert_eq!(other.hash(), hash);
    // one body more
    let mut other = with(0.5)?;
    other.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)))?;
    let hash = other.hash();
    assert_eq!(restore(&mut other, &bytes), Err(WireError::OtherModel));
    assert_eq!(other.hash(), hash);
    // its own world takes it
    restore(&mut with(0.5)?, &bytes)?;
    Ok(())
}

#[test]
fn settings_and_motors_may_change_under_a_snapshot() -> Outcome {
    let (mut world, ids) = scene(1)?;
    let bytes = snapshot(&world);
    world.set_motor(ids.hinge, None)?;
    world.set_settings(Settings { substeps: 2, ..Settings::default() })?;
    restore(&mut world, &bytes)?;
    Ok(())
}

#[test]
fn a_damaged_snapshot_leaves_the_world_as_it_was() -> Outcome {
    let (mut world, _) = scene(1)?;
    let bytes = snapshot(&world);
    world.step(&Input::none());
    let hash = world.hash();
    for at in (0..bytes.len()).step_by(17) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        assert!(restore(&mut world, &bad).is_err(), "byte {at}");
        assert!(restore(&mut world, &bytes[..at]).is_err(), "cut at {at}");
        assert_eq!(world.hash(), hash);
    }
    Ok(())
}

/// Keeps a body at a height.
#[derive(Debug)]
struct OnPlane(BodyId);

impl Rows for OnPlane {
    fn bodies(&self) -> Vec<BodyId> {
        vec![self.0]
    }
    fn rows(&self, view: &View<'_>, out: &mut RowWriter<'_>) -> Result<(), Error> {
        let site = Site::Rigid { body: self.0, local: Vec3::ZERO };
        let error = view.position(&site)?.y;
        out.row().push(&site, Vec3::Y)?.held(error);
        Ok(())
    }
}

#[test]
fn custom_rows_cannot_be_saved_but_a_snapshot_works() -> Outcome {
    let mut world = World::default();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
    world.add_custom(Arc::new(OnPlane(ball)))?;
    let error = save(&world).unwrap_err();
    assert!(matches!(error, WireError::Refused { section: Section::Model, .. }), "{error}");
    assert!(sinew_wire::Recorder::new(&world).is_err());
    let (bytes, hash) = (snapshot(&world), world.hash());
    world.step(&Input::none());
    restore(&mut world, &bytes)?;
    assert_eq!(world.hash(), hash);
    Ok(())
}

#[test]
fn a_body_with_a_reserve_and_a_held_surface_goes_on_with_the_same_bits() -> Outcome {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.2))?;
    let (tet, count) = (mesh.tets[5], mesh.vertices.len() as u32);
    let elements = mesh.tets.len() as u32;
    let body = SoftBody::corotational(mesh, ElasticMaterial::jelly()).with_reserve(20, 20).at([0.0, 0.12, 0.0]);
    let body = world.add_soft(body)?;
    for _ in 0..5 {
        world.step(&Input::none());
    }
    let copy = [count, tet[1], tet[2], tet[3]];
    let edit = TopologyEdit::new().node(NewNode::Copy(tet[0])).append(&copy).fill(5, 0.75).fill(elements, 0.25);
    world.edit_elements(body, &edit, &mut TopologyDelta::default())?;
    let bytes = save(&world)?;
    let mut twin = load(&bytes)?;
    assert_eq!(save(&twin)?, bytes);
    let Some(BodySpec::Soft(soft)) = &twin.blueprint()?.bodies[1].item else { panic!("it is soft") };
    assert_eq!((soft.fill[5], soft.fill[elements as usize]), (0.75, 0.25));
    let reserve = soft.reserve.as_ref().map(|r| (r.nodes, r.elements, r.grows, r.faces.len()));
    assert_eq!(reserve, Some((count + 20, elements + 20, false, 48)));
    for _ in 0..20 {
        world.step(&Input::none());
        twin.step(&Input::none());
        assert_eq!(twin.hash(), world.hash());
    }
    world.update_surface(body)?;
    twin.update_surface(body)?;
    world.step(&Input::none());
    twin.step(&Input::none());
    assert_eq!(twin.hash(), world.hash());
    Ok(())
}
