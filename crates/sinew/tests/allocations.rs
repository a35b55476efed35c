//! A steady step allocates nothing.
//!
//! Without capsules and hulls: when such a pair has moved, its points are recomputed by the geometry library, whose
//! penetration search allocates. At rest they allocate nothing either.

mod common;
use common::zoo;
use sinew::*;
use sinew_tally::Tally;

#[global_allocator]
static TALLY: Tally = Tally::new();

#[test]
fn a_steady_step_allocates_nothing() -> Result<(), Error> {
    // one test in this file: the counter is shared by the process
    let mut world = held_nodes()?;
    let made = made_when_steady(&mut world);
    assert_eq!(made, 0, "{made} allocations in 200 steps, constraints on nodes");
    for threads in [1, 2] {
        let mut zoo = zoo(threads)?;
        for (k, id) in zoo.boxes.iter().enumerate() {
            if k % 5 >= 3 {
                zoo.world.remove_body(*id)?;
            }
        }
        let awake = Settings { sleep_time: Real::INFINITY, ..zoo.world.settings().clone() };
        zoo.world.set_settings(awake)?;
        let made = made_when_steady(&mut zoo.world);
        assert_eq!(made, 0, "{made} allocations in 200 steps, {threads} threads");
    }
    for (name, mut world) in soft_on_plane()? {
        let made = made_when_steady(&mut world);
        assert_eq!(made, 0, "{made} allocations in 200 steps, {name}");
        let made = made_by_queries(&mut world)?;
        assert_eq!(made, 0, "{made} allocations in 100 compliance queries, {name}");
    }
    for (name, model) in reserved() {
        let made = made_by_edits(model)?;
        assert_eq!(made, 0, "{made} allocations in 100 edits in place, {name}");
    }
    // the classic contact methods: boxes, balls and grains on a plane, separated from each other
    let spring = classic::Penalty::Buffered { stiffness: 2e3, buffer: 0.01 };
    for contact_method in [ContactMethod::Impulse, ContactMethod::Penalty(spring)] {
        let mut world = World::new(Settings { contact_method, sleep_time: Real::INFINITY, ..Settings::default() })?;
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        for k in 0..10 {
            let shape = if k % 2 == 0 { Shape::ball(0.1) } else { Shape::cuboid(0.1, 0.1, 0.1) };
            world.add_rigid(RigidBody::dynamic().shape(shape).mass(1.0).at([k as Real, 0.2, 0.0]).damping(2.0, 2.0))?;
        }
        let grains: Vec<Vec3> = (0..20).map(|k| Vec3::new(0.1 * k as Real, 0.1, 2.0)).collect();
        world.add_particles(Particles::new(grains).mass(0.1).radius(0.02).damping(2.0))?;
        let made = made_when_steady(&mut world);
        assert_eq!(made, 0, "{made} allocations in 200 steps, {contact_method:?}");
    }
    Ok(())
}

/// A cloth, a balloon and a jelly, with every kind of constraint on nodes.
fn held_nodes() -> Result<World, Error> {
    let error = |e: &dyn std::fmt::Display| Error::BadSnapshot(e.to_string());
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    let mesh = TriMesh::sheet([6, 6], [0.6, 0.6], Diagonals::Alternating).map_err(|e| error(&e))?;
    let cloth = world.add_particles(Particles::new(mesh.vertices.clone()).mass(0.01).damping(1.0))?;
    world.add_distance_set(DistanceSet::new(cloth, mesh.edges()))?;
    world.add_bending(Bending::new(cloth, mesh.folds(), 1e-4))?;
    world.add_attachment(Attachment::new(
        [0, 6].map(|node| (Site::Node { body: cloth, node }, AttachTarget::Here(None))),
    ))?;
    let skin = TriMesh::ball(0.1, 3).map_err(|e| error(&e))?;
    let balloon = world.add_particles(Particles::new(skin.vertices.clone()).mass(0.01).damping(1.0).pinned([0]))?;
    world.add_distance_set(DistanceSet::new(balloon, skin.edges()))?;
    world.add_volume(Volume::gas(balloon, 200.0, 1e4).triangles(skin.triangles))?;
    let block = TetMesh::block([2, 2, 2], Vec3::splat(0.2)).map_err(|e| error(&e))?;
    let jelly =
        SoftBody::corotational(block, ElasticMaterial::new(1e5, 0.3, 1000.0)).air(Air::default()).at([2.0, 0.0, 0.0]);
    let jelly = world.add_soft(jelly)?;
    world.add_patch_joint(PatchJoint::fixed(jelly, [0, 1, 2, 3, 4], None))?;
    Ok(world)
}

/// Every kind of deformable body at rest on a plane; cloth over a ball with and without self-contact.
fn soft_on_plane() -> Result<Vec<(&'static str, World)>, Error> {
    let told = |e: &dyn std::fmt::Display| Error::BadSnapshot(e.to_string());
    let block = || TetMesh::block([3, 3, 3], Vec3::splat(0.2)).map_err(|e| told(&e));
    let (young, density) = (1e5, 1000.0);
    let elements = fem::Params { youngs_modulus: young, poisson_ratio: 0.3, density, damping: 0.02 };
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(young),
        dashpot: spring::Dashpot::Ratio(0.1),
        mass: spring::Mass::Density(density),
        ..Default::default()
    };
    let solid = pbd::Solid { youngs_modulus: young, poisson_ratio: 0.35, density };
    let matching = shape_matching::Params { frequency: 30.0, ..Default::default() };
    let meshless = meshless::Params { youngs_modulus: young, poisson_ratio: 0.3, density, ..Default::default() };
    let of_solid = [
        ("corotational", SoftModel::Corotational(elements)),
        ("springs", SoftModel::Springs(springs)),
        ("position based", SoftModel::Pbd(pbd::Structure::Solid(solid), pbd::Params::default())),
        ("shape matching", SoftModel::ShapeMatching(density, shape_matching::Clusters::One, matching)),
        ("meshless", SoftModel::Meshless(meshless, 0.0)),
    ];
    let sheet = |own: bool| {
        let mesh = TriMesh::sheet([12, 12], [0.6, 0.6], Diagonals::Alternating).map_err(|e| told(&e))?;
        let sheet = pbd::Sheet {
            stretch: 1e5,
            bend: 1e-5,
            density: 0.25,
            compression: 1e-4,
            skip_stiffness: 1e5,
            stretch_limit: 0.03,
        };
        let body =
            SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params::default()));
        Ok::<_, Error>(body.thickness(2e-3).self_contact(own).damping(1.0).at([0.0, 0.3, 0.0]))
    };
    let mut bodies: Vec<(&'static str, SoftBody)> =
        vec![("cloth", sheet(false)?), ("cloth with self-contact", sheet(true)?)];
    for (name, model) in of_solid {
        bodies.push((name, SoftBody::new(Geometry::Tets(block()?), model).at([0.0, 0.11, 0.0])));
    }
    let mut worlds = Vec::new();
    for (name, body) in bodies {
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        if name.starts_with("cloth") {
            world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.15)).at([0.0, 0.1, 0.0]))?;
        }
        world.add_soft(body)?;
        worlds.push((name, world));
    }
    Ok(worlds)
}

/// Allocations of 100 compliance queries and matrices at changing states, after 5 to grow their memory. Those 5 are without
/// contacts: memory must not depend on how many act in the states that it has seen.
fn made_by_queries(world: &mut World) -> Result<usize, Error> {
    let Some(body) = world.bodies().filter(BodyView::is_soft).last().map(|view| view.id()) else { return Ok(0) };
    let site = |node: u32| Site::Node { body, node };
    let forces = [SiteForce { site: site(0), force: Vec3::Y }, SiteForce { site: site(5), force: Vec3::X }];
    let sites = forces.map(|f| SiteDirection { site: f.site, direction: f.force });
    let (mut scratch, mut out, mut matrix) = (ComplianceScratch::default(), Vec::new(), Vec::new());
    let (mut made, mut rows) = (0, 0);
    for round in 0..105 {
        world.step(&Input::none());
        let options = ComplianceOptions { contacts: round >= 5, ..Default::default() };
        let before = TALLY.count();
        rows += world.compliance(&forces, &options, &mut scratch, &mut out)?.rows;
        world.compliance_matrix(&sites, &options, &mut scratch, &mut matrix)?;
        made += if round >= 5 { TALLY.count() - before } else { 0 };
    }
    assert!(rows > 0, "no contact acts");
    Ok(made)
}

/// Models whose elements are edited in place.
fn reserved() -> [(&'static str, SoftModel); 2] {
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(1e4),
        mass: spring::Mass::Density(1000.0),
        volume: spring::VolumeForce::Bulk { modulus: 1e4 },
        ..Default::default()
    };
    let elements = fem::Params { youngs_modulus: 1e4, poisson_ratio: 0.3, density: 1000.0, damping: 0.01 };
    [("springs", SoftModel::Springs(springs)), ("corotational", SoftModel::Corotational(elements))]
}

/// Allocations of 100 edits in place, each of which splits an element, after 20 in which the lists get their size.
fn made_by_edits(model: SoftModel) -> Result<usize, Error> {
    let mesh = TetMesh::block([3; 3], Vec3::splat(0.2)).map_err(|e| Error::BadSnapshot(e.to_string()))?;
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    let body = SoftBody::new(Geometry::Tets(mesh.clone()), model).pin_region([-1.0, -1.0, -1.0], [1.0, -0.099, 1.0]);
    let body = world.add_soft(body.with_reserve(600, 600))?;
    world.step(&Input::none());
    let (mut edit, mut delta, mut made) = (TopologyEdit::new(), TopologyDelta::default(), 0);
    let (mut nodes, mut elements) = (mesh.vertices.len() as u32, mesh.tets.len() as u32);
    for k in 0..120 {
        edit.clear();
        let e = 7 * k % mesh.tets.len() as u32;
        let tet = mesh.tets[e as usize];
        edit.nodes.extend([tet[0], tet[1]].map(NewNode::Copy));
        edit.appended.push(Corners::from(&[nodes, nodes + 1, tet[2], tet[3]]));
        edit.fill.extend([(e, 0.5), (elements, 0.5)]);
        let before = TALLY.count();
        world.edit_elements(body, &edit, &mut delta)?;
        made += if k < 20 { 0 } else { TALLY.count() - before };
        (nodes, elements) = (nodes + 2, elements + 1);
        world.step(&Input::none());
    }
    Ok(made)
}

/// Allocations of 200 steps, after 1000 to settle. In the zoo a box slides onto a soft body about step 690: an island larger
/// than any before needs more memory, once.
fn made_when_steady(world: &mut World) -> usize {
    let input = Input::none();
    for _ in 0..1000 {
        world.step(&input);
    }
    let before = TALLY.count();
    for _ in 0..200 {
        world.step(&input);
    }
    TALLY.count() - before
}
