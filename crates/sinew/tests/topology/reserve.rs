//! Bodies with a reserve: edits in place are those of a rebuild, bit by bit; fill fractions keep what a cut must keep.

use super::{angular_momentum, momentum, run, source, weightless};
use sinew::*;

fn block(cells: u32) -> TetMesh {
    TetMesh::block([cells; 3], Vec3::splat(0.2)).unwrap()
}

fn springs(volume: spring::VolumeForce, integrator: spring::Integrator) -> SoftModel {
    SoftModel::Springs(spring::Params {
        stiffness: spring::Stiffness::Young(2e4),
        dashpot: spring::Dashpot::Time(1e-3),
        mass: spring::Mass::Density(1000.0),
        volume,
        integrator,
        ..spring::Params::default()
    })
}

/// One of every kind that has a reserve.
fn models() -> Vec<SoftModel> {
    let elements = fem::Params { youngs_modulus: 2e4, poisson_ratio: 0.3, density: 1000.0, damping: 2e-3 };
    vec![
        SoftModel::Corotational(elements),
        springs(spring::VolumeForce::Bulk { modulus: 1e4 }, spring::Integrator::SymplecticEuler),
        springs(spring::VolumeForce::Radial { stiffness: 50.0 }, spring::Integrator::Verlet),
        springs(spring::VolumeForce::None, spring::Integrator::SymplecticEuler),
    ]
}

fn body(model: SoftModel, cells: u32) -> SoftBody {
    SoftBody::new(Geometry::Tets(block(cells)), model).with_reserve(2000, 4000)
}

fn draw(seed: &mut u32, below: u32) -> u32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) % below
}

fn mesh_of(body: &SoftBody) -> &TetMesh {
    match &body.geometry {
        Geometry::Tets(mesh) => mesh,
        other => panic!("{}", other.name()),
    }
}

/// Some elements are split in two, with copies of some of their nodes, as a blade would; `removing`: some others are
/// removed.
fn cut(body: &SoftBody, splits: u32, removing: bool, seed: &mut u32) -> TopologyEdit {
    let mesh = mesh_of(body);
    let (nodes, elements) = (mesh.vertices.len() as u32, mesh.tets.len() as u32);
    let mut edit = TopologyEdit::new();
    let mut taken: Vec<u32> = Vec::new();
    for _ in 0..splits {
        let e = draw(seed, elements);
        if taken.contains(&e) {
            continue;
        }
        taken.push(e);
        let mut copy = mesh.tets[e as usize];
        for corner in 0..=draw(seed, 3) as usize {
            edit.nodes.push(NewNode::Copy(copy[corner]));
            copy[corner] = nodes + edit.nodes.len() as u32 - 1;
        }
        let whole = body.fill.get(e as usize).copied().unwrap_or(1.0);
        let part = whole * (0.2 + 0.6 * draw(seed, 1000) as Real / 1000.0);
        let number = elements + edit.appended.len() as u32;
        edit = edit.fill(e, part).fill(number, whole - part).append(&copy);
    }
    if removing {
        for _ in 0..3 {
            let e = draw(seed, elements);
            if !taken.contains(&e) {
                edit = edit.remove([e]);
            }
        }
    }
    edit
}

fn bits(world: &World, id: BodyId) -> Vec<Real> {
    let body = world.body(id).unwrap();
    let vectors = body.node_positions().iter().chain(body.node_velocities()).flat_map(|v| v.to_array());
    vectors.chain(body.node_masses().iter().copied()).collect()
}

fn falling(model: SoftModel) -> (World, BodyId) {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let id = world.add_soft(body(model, 4).at([0.0, 0.12, 0.0]).spin([0.0, 1.0, 0.5]).pinned([0, 1, 2])).unwrap();
    (world, id)
}

#[test]
fn an_edit_in_place_has_the_bits_of_a_body_that_is_built_from_the_same_description() {
    for (k, model) in models().into_iter().enumerate() {
        let (mut world, id) = falling(model);
        let (mut seed, mut delta) = (5 + k as u32, TopologyDelta::default());
        // a body behind it in State
        let other = world.add_soft(body(models().swap_remove(0), 1).at([2.0, 0.3, 0.0])).unwrap();
        run(&mut world, 3);
        for round in 0..8 {
            let edit = cut(&source(&world, id), 6, round % 3 == 2, &mut seed);
            world.edit_elements(id, &edit, &mut delta).unwrap();
            assert_eq!(delta.surface.is_some(), !delta.nodes.is_empty());
            if round == 5 {
                world.update_surface(id).unwrap();
            }
            let mut twin = World::build(world.blueprint().unwrap(), world.state()).unwrap();
            assert_eq!(twin.hash(), world.hash(), "model {k}, round {round}");
            assert_eq!(bits(&twin, id), bits(&world, id), "model {k}, round {round}");
            assert_eq!(twin.body(id).unwrap().surface(), world.body(id).unwrap().surface());
            run(&mut world, 4);
            run(&mut twin, 4);
            assert_eq!(twin.state().first_difference(world.state()), None, "model {k}, round {round}");
            // and those of one that was built with other memory
            world = twin;
        }
        assert!(world.body(id).unwrap().node_positions().len() > 200 && world.body(other).is_ok());
    }
}

#[test]
fn an_edit_in_place_and_the_edit_that_builds_the_body_again_are_the_same() {
    for (k, model) in models().into_iter().enumerate() {
        let ((mut here, id), (mut there, _)) = (falling(model.clone()), falling(model));
        let (mut seed, mut delta) = (50 + k as u32, TopologyDelta::default());
        for round in 0..6 {
            let edit = cut(&source(&here, id), 4, round % 2 == 1, &mut seed);
            here.edit_elements(id, &edit, &mut delta).unwrap();
            let change = there.edit_topology(id, &edit).unwrap();
            let map = delta.remap();
            assert_eq!((&map.nodes, &map.elements), (&change.remap.nodes, &change.remap.elements));
            // triangles of a removed element that a copy shares are found by their corners there, by their side here
            let surfels = match &delta.surface {
                Some(surface) => surface.remap.surfels.clone(),
                None => here.update_surface(id).unwrap().remap.surfels,
            };
            assert_eq!(surfels, change.remap.surfels);
            let (a, b) = (source(&here, id), source(&there, id));
            assert_eq!((a.geometry, &a.fill, &a.pinned), (b.geometry, &b.fill, &b.pinned));
            assert_eq!(here.body(id).unwrap().surface(), there.body(id).unwrap().surface());
            run(&mut here, 3);
            run(&mut there, 3);
            assert_eq!(bits(&here, id), bits(&there, id), "model {k}, round {round}");
        }
    }
}

#[test]
fn copies_with_fill_fractions_keep_mass_momentum_and_energy() {
    for (k, model) in models().into_iter().enumerate() {
        let mut world = World::new(weightless()).unwrap();
        let id = world.add_soft(body(model, 3).spin([3.0, 5.0, 1.0]).velocity([0.5, 0.0, 0.2])).unwrap();
        run(&mut world, 5);
        let sums = |world: &World| {
            let elastic = world.elastic(id).unwrap();
            (world.body(id).unwrap().mass(), momentum(world, id), angular_momentum(world, id), elastic.energy())
        };
        let (mass, p, spin, energy) = sums(&world);
        let (mut seed, mut delta) = (9, TopologyDelta::default());
        for _ in 0..5 {
            let edit = cut(&source(&world, id), 20, false, &mut seed);
            world.edit_elements(id, &edit, &mut delta).unwrap();
        }
        let (mass_now, p_now, spin_now, energy_now) = sums(&world);
        let (near, fine) = (|a: Real, b: Real, tol: Real| (a - b).abs() < tol * b.abs(), 1e3 * Real::EPSILON);
        assert!(near(mass_now, mass, fine), "model {k}: {mass_now} {mass}");
        assert!((p_now - p).length() < fine * p.length(), "model {k}: {p_now} {p}");
        assert!((spin_now - spin).length() < fine * spin.length(), "model {k}: {spin_now} {spin}");
        assert!(energy > 0.0 && near(energy_now, energy, fine), "model {k}: {energy_now} {energy}");
        // and afterwards: no forces from outside
        run(&mut world, 20);
        let (_, p_now, spin_now, _) = sums(&world);
        assert!((p_now - p).length() < 10.0 * fine * p.length(), "model {k}: {p_now} {p}");
        assert!((spin_now - spin).length() < 100.0 * fine * spin.length(), "model {k}: {spin_now} {spin}");
    }
}

#[test]
fn a_body_with_a_reserve_moves_like_one_without() {
    for (k, model) in models().into_iter().enumerate() {
        // an equal body, with equal fill fractions, in small steps: the models differ by rounding and, explicit, not by step
        let make = |reserve: bool| {
            let mut world = World::new(Settings { dt: 2e-3, ..weightless() }).unwrap();
            let mut soft = body(model.clone(), 3).spin([3.0, 5.0, 1.0]);
            soft.fill = (0..162).map(|e| 0.25 + 0.75 * (e % 7) as Real / 6.0).collect();
            if !reserve {
                soft.reserve = None;
            }
            let id = world.add_soft(soft).unwrap();
            run(&mut world, 25);
            (world, id)
        };
        let ((a, id), (b, _)) = (make(true), make(false));
        let (a, b) = (a.body(id).unwrap(), b.body(id).unwrap());
        let far =
            a.node_positions().iter().zip(b.node_positions()).map(|(a, b)| (*a - *b).length()).fold(0.0, Real::max);
        let way = a.node_positions().iter().zip(block(3).vertices).map(|(a, b)| (*a - b).length()).fold(0.0, Real::max);
        assert!(way > 0.02 && far < 3e-3 * way, "model {k}: {far} of {way}");
        let masses = a.node_masses().iter().zip(b.node_masses()).all(|(a, b)| (a - b).abs() < 1e-5 * b);
        assert!(masses, "model {k}");
    }
}

#[test]
fn threads_and_restored_snapshots_give_the_same_bits_and_older_snapshots_are_refused() {
    for (k, model) in models().into_iter().enumerate() {
        let play = |threads: u32| {
            let (mut world, id) = falling(model.clone());
            world.set_settings(Settings { threads, ..world.settings().clone() }).unwrap();
            let (mut seed, mut delta, mut hashes) = (3, TopologyDelta::default(), Vec::new());
            for round in 0..5 {
                let edit = cut(&source(&world, id), 5, round == 3, &mut seed);
                let before = world.snapshot();
                world.edit_elements(id, &edit, &mut delta).unwrap();
                assert!(world.restore(&before).unwrap_err().to_string().contains("topology"));
                let after = world.snapshot();
                run(&mut world, 3);
                let hash = world.hash();
                world.restore(&after).unwrap();
                run(&mut world, 3);
                assert_eq!(world.hash(), hash, "model {k}, round {round}");
                hashes.push(hash);
            }
            hashes
        };
        let one = play(1);
        assert_eq!((play(2), play(4)), (one.clone(), one), "model {k}");
    }
}

#[test]
fn an_edit_that_cannot_be_made_names_the_culprit_and_changes_nothing() {
    let mut world = World::default();
    let id = world.add_soft(SoftBody { reserve: None, ..body(models().swap_remove(1), 1) }.with_reserve(1, 1)).unwrap();
    let plain = world.add_soft(SoftBody { reserve: None, ..body(models().swap_remove(0), 1) }).unwrap();
    let mut delta = TopologyDelta::default();
    let corners = mesh_of(&source(&world, id)).tets[0];
    let copy = [8, corners[1], corners[2], corners[3]];
    let (hash, one) = (world.hash(), || TopologyEdit::new().node(NewNode::Copy(corners[0])));
    let wrong: Vec<(BodyId, TopologyEdit, &str)> = vec![
        (plain, one().append(&copy), "it has no reserve"),
        (id, one().node(NewNode::Copy(0)).append(&copy), "its reserve has 9 and 7"),
        (id, one(), "nodes[0] is in no element"),
        (id, one().append(&copy).remove([6]), "nodes[0] is in no element"),
        (id, TopologyEdit::new().node(NewNode::Copy(8)), "node 8 does not exist"),
        (id, TopologyEdit::new().fill(0, 0.0), "fill of element 0 is 0"),
        (id, TopologyEdit::new().fill(0, 1e-25), "a quarter of element 0"),
        (id, TopologyEdit::new().fill(6, 0.5), "fill of element 6"),
        (id, TopologyEdit::new().corners(6, &corners), "element 6 does not exist"),
        (id, TopologyEdit::new().corners(1, &[0, 1, 2]), "3 corners"),
        (id, TopologyEdit::new().append(&[0, 1, 2, 3, 4]), "5 corners"),
        (id, TopologyEdit::new().append(&[0, 0, 1, 2]), "volume"),
        (id, TopologyEdit::new().remove([7]), "element 7 does not exist"),
        (id, TopologyEdit::new().remove(0..6), "remove the body instead"),
    ];
    for (body, edit, reason) in wrong {
        let error = world.edit_elements(body, &edit, &mut delta).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}: {reason}");
        assert_eq!(world.hash(), hash);
    }
    // what changes nothing keeps every bit
    world.edit_elements(id, &TopologyEdit::new().corners(0, &corners).fill(2, 1.0), &mut delta).unwrap();
    assert_eq!((world.hash(), delta.topology), (hash, 0));
    // bodies that cannot have a reserve
    let sheet = TriMesh::sheet([2; 2], [0.5; 2], Diagonals::Alternating).unwrap();
    let sheet = SoftBody::new(Geometry::Sheet(sheet), SoftModel::Membrane(fem::MembraneParams::default()));
    let with = |p: fn(&mut spring::Params)| {
        let SoftModel::Springs(mut params) = models().swap_remove(1) else { unreachable!() };
        p(&mut params);
        body(SoftModel::Springs(params), 1)
    };
    let refused = [
        (sheet.with_reserve(1, 1), "bodies of tetrahedra"),
        (with(|p| p.stiffness = spring::Stiffness::Uniform(10.0)), "Young's modulus"),
        (with(|p| p.element = spring::Element::Maxwell), "Voigt"),
        (with(|p| p.dashpot = spring::Dashpot::Ratio(0.1)), "time constant"),
        (with(|p| p.mass = spring::Mass::Total(1.0)), "density"),
        (body(SoftModel::Solid(fem::SolidParams::default()), 1), "no reserve"),
        (SoftBody { fill: vec![0.5], ..body(models().swap_remove(0), 1) }, "1 fill fractions for 6"),
        (SoftBody { fill: vec![1.5; 6], ..body(models().swap_remove(0), 1) }, "fill[0]"),
        (
            SoftBody {
                fill: vec![0.5; 6],
                ..SoftBody::new(Geometry::Tets(block(1)), SoftModel::Solid(fem::SolidParams::default()))
            },
            "no fill fractions",
        ),
    ];
    for (body, reason) in refused {
        let error = world.add_soft(body).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}: {reason}");
    }
}

#[test]
fn a_reserve_that_grows_takes_any_edit() {
    let mut small = SoftBody { reserve: None, ..body(models().swap_remove(1), 2) }.with_reserve(2, 2);
    small.reserve.as_mut().unwrap().grows = true;
    let mut large = SoftBody { reserve: None, ..small.clone() }.with_reserve(500, 500);
    large.name = "large".to_owned();
    let make = |body: SoftBody| {
        let mut world = World::default();
        let id = world.add_soft(body.spin([1.0, 2.0, 3.0])).unwrap();
        (world, id)
    };
    let ((mut a, id), (mut b, _)) = (make(small), make(large));
    let (mut seed, mut delta) = (1, TopologyDelta::default());
    for _ in 0..6 {
        let edit = cut(&source(&a, id), 5, true, &mut seed);
        for world in [&mut a, &mut b] {
            world.edit_elements(id, &edit, &mut delta).unwrap();
            world.update_surface(id).unwrap();
            run(world, 2);
        }
        assert_eq!(bits(&a, id), bits(&b, id));
    }
    assert!(source(&a, id).reserve.unwrap().elements > 60);
}

#[test]
fn contacts_loads_and_constraints_stay_on_a_held_surface_and_follow_when_it_is_updated() {
    let above = Region { min: Vec3::new(-0.2, 0.099, -0.2), max: Vec3::splat(0.2) };
    let lifted = Load::pressure(above, 30.0);
    let (mut world, mut seed, mut delta) = (World::default(), 4, TopologyDelta::default());
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let soft = body(models().swap_remove(0), 3).at([0.0, 0.1, 0.0]).load(lifted);
    let id = world.add_soft(soft).unwrap();
    let hung = world.add_attachment(Attachment::anchor(Site::Node { body: id, node: 0 }, None)).unwrap();
    run(&mut world, 60);
    let contacts = |world: &World| world.state().contacts.len();
    let points = world.body(id).unwrap().surface().unwrap().len();
    for _ in 0..4 {
        let (edit, touching) = (cut(&source(&world, id), 5, false, &mut seed), contacts(&world));
        world.edit_elements(id, &edit, &mut delta).unwrap();
        assert_eq!((contacts(&world), world.body(id).unwrap().surface().unwrap().len()), (touching, points));
        run(&mut world, 2);
    }
    let touching = contacts(&world);
    let change = world.update_surface(id).unwrap();
    assert_eq!((change.constraints, change.loads), (LostConstraints::default(), Vec::new()));
    assert!(change.remap.surfels.iter().all(Option::is_some) && change.remap.cells.iter().all(Option::is_some));
    assert!(touching >= 8 && contacts(&world) == touching);
    assert!(world.body(id).unwrap().surface().unwrap().len() > points);
    let event = |e: &Event| matches!(e, Event::TopologyChanged { body, .. } if *body == id);
    assert!(world.step(&Input::none()).events.iter().any(event));
    run(&mut world, 30);
    assert!(world.body(id).unwrap().node_positions().iter().all(|x| x.is_finite() && x.y > -0.02));
    assert!(!world.is_broken(hung).unwrap());
    // with nothing held it keeps every bit
    let hash = world.hash();
    assert!(world.update_surface(id).unwrap().remap.is_identity());
    assert_eq!(world.hash(), hash);
}
