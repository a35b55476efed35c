//! Edits of the topology of soft bodies: laws of mass and momentum, renumbering, constraints that follow, saves, errors.

use sinew::*;

fn block() -> TetMesh {
    TetMesh::block([3, 2, 2], Vec3::new(0.3, 0.2, 0.2)).unwrap()
}

fn bodies() -> Vec<SoftBody> {
    let matter = ElasticMaterial::new(2e4, 0.3, 1000.0);
    let solid = fem::SolidParams { law: fem::Law::NeoHookean, ..fem::SolidParams::default() };
    let cloth = TriMesh::sheet([6; 2], [0.5; 2], Diagonals::Alternating).unwrap();
    vec![
        SoftBody::corotational(block(), matter),
        SoftBody::new(Geometry::Tets(block()), SoftModel::Solid(solid)),
        SoftBody::new(Geometry::Tets(block()), SoftModel::Springs(spring::Params::default())),
        SoftBody::new(Geometry::Sheet(cloth), SoftModel::Membrane(fem::MembraneParams::default())),
    ]
}

fn numbers(body: &SoftBody) -> (u32, u32) {
    let elements = match &body.geometry {
        Geometry::Tets(m) => m.tets.len(),
        Geometry::Sheet(m) => m.triangles.len(),
        _ => 0,
    };
    (body.geometry.nodes().len() as u32, elements as u32)
}

fn momentum(world: &World, id: BodyId) -> Vec3 {
    let body = world.body(id).unwrap();
    body.node_velocities().iter().zip(body.node_masses()).fold(Vec3::ZERO, |sum, (v, m)| sum + *v * *m)
}

fn run(world: &mut World, steps: usize) {
    for _ in 0..steps {
        world.step(&Input::none());
    }
}

#[test]
fn a_renumbered_body_moves_as_before() {
    for body in bodies() {
        let (nodes, elements) = numbers(&body);
        let make = || {
            let mut world = World::default();
            let id = world.add_soft(body.clone().at([0.0, 1.0, 0.0]).spin([0.0, 2.0, 1.0])).unwrap();
            let hung = world.add_attachment(Attachment::anchor(Site::Node { body: id, node: 2 }, None)).unwrap();
            run(&mut world, 10);
            (world, id, hung)
        };
        let (mut plain, id, _) = make();
        let (mut other, _, hung) = make();
        let edit = TopologyEdit {
            node_order: (0..nodes).rev().collect(),
            element_order: (0..elements).rev().collect(),
            ..TopologyEdit::default()
        };
        let change = other.edit_topology(id, &edit).unwrap();
        assert_eq!(change.constraints, LostConstraints::default());
        assert!(!other.is_broken(hung).unwrap());
        let map = |k: usize| change.remap.nodes[k].unwrap() as usize;
        let same = |a: &World, b: &World, bound: Real| {
            let (a, b) = (a.body(id).unwrap(), b.body(id).unwrap());
            let (x, y) = (a.node_positions(), b.node_positions());
            let worst = (0..x.len()).map(|k| x[k].distance(y[map(k)])).fold(0.0, Real::max);
            assert!(worst <= bound, "{worst} {bound}");
        };
        same(&plain, &other, 0.0);
        run(&mut plain, 10);
        run(&mut other, 10);
        // a tenth of a millimetre of 0.3 m: sums in another order, and a truncated CG
        same(&plain, &other, 1e-4);
    }
}

#[test]
fn removed_elements_take_their_mass_and_nothing_else() {
    for body in bodies() {
        let (_, elements) = numbers(&body);
        let mut world = World::default();
        let id = world.add_soft(body.clone().velocity([1.0, 0.0, 0.0])).unwrap();
        let other = world.add_soft(body.clone().at([3.0, 0.0, 0.0])).unwrap();
        let before: Vec<Vec3> = world.body(id).unwrap().node_positions().to_vec();
        let beside: Vec<Vec3> = world.body(other).unwrap().node_positions().to_vec();
        let mass = world.body(id).unwrap().mass();
        // removed and kept elements are bodies of their own with the same density
        let gone: Vec<u32> = (0..elements).filter(|e| e % 3 == 0).collect();
        let size = |e: u32| match &body.geometry {
            Geometry::Tets(m) => m.tet_volume(e as usize),
            Geometry::Sheet(m) => {
                let [a, b, c] = m.triangles[e as usize].map(|n| m.vertices[n as usize]);
                0.5 * (b - a).cross(c - a).length()
            }
            _ => 0.0,
        };
        let share = gone.iter().map(|&e| size(e)).sum::<Real>() / (0..elements).map(size).sum::<Real>();
        let change = world.edit_topology(id, &TopologyEdit::new().remove(gone)).unwrap();
        let view = world.body(id).unwrap();
        assert!((view.mass() - mass * (1.0 - share)).abs() < 1e-5 * mass);
        for (k, to) in change.remap.nodes.iter().enumerate() {
            if let Some(to) = to {
                assert_eq!(view.node_positions()[*to as usize], before[k]);
            }
        }
        assert_eq!(world.body(other).unwrap().node_positions(), &beside[..]);
        run(&mut world, 5);
        assert!(world.report().faults.is_empty());
    }
}

#[test]
fn a_cut_by_copies_of_nodes_keeps_mass_and_momentum_and_parts_the_body() {
    // the two halves of a block along x share the nodes of one plane; the right half gets copies of them
    let mesh = TetMesh::block([2, 1, 1], Vec3::new(0.2, 0.1, 0.1)).unwrap();
    let mut world = World::default();
    world.set_settings(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    let body = SoftBody::corotational(mesh.clone(), ElasticMaterial::new(2e4, 0.3, 1000.0));
    let id = world.add_soft(body.spin([0.0, 3.0, 0.0]).velocity([0.5, 0.0, 0.0])).unwrap();
    run(&mut world, 5);
    let (mass, p) = (world.body(id).unwrap().mass(), momentum(&world, id));
    let count = mesh.vertices.len() as u32;
    let shared: Vec<u32> = (0..count).filter(|&n| mesh.vertices[n as usize].x.abs() < 1e-6).collect();
    let mut edit = TopologyEdit::new();
    for &n in &shared {
        edit = edit.node(NewNode::Copy(n));
    }
    for (e, tet) in mesh.tets.iter().enumerate() {
        if tet.iter().any(|&n| mesh.vertices[n as usize].x > 0.05) {
            let rename = |n: &u32| shared.iter().position(|s| s == n).map_or(*n, |k| count + k as u32);
            edit = edit.corners(e as u32, &tet.iter().map(rename).collect::<Vec<_>>());
        }
    }
    world.edit_topology(id, &edit).unwrap();
    let view = world.body(id).unwrap();
    assert!((view.mass() - mass).abs() < 1e-6 * mass);
    assert!((momentum(&world, id) - p).length() < 1e-5 * p.length());
    // 8 faces of the cut are new: two triangles on either side
    assert_eq!(view.surface().unwrap().triangles().len(), 2 * 12);
    run(&mut world, 60);
    let x = world.body(id).unwrap().node_positions();
    let apart = shared.iter().enumerate().map(|(k, &n)| x[n as usize].distance(x[count as usize + k]));
    assert!(apart.fold(0.0, Real::max) > 0.05, "the halves fly apart");
    assert!((momentum(&world, id) - p).length() < 1e-3 * p.length());
}

#[test]
fn constraints_follow_or_are_listed_and_keep_their_impulses() {
    let mut world = World::default();
    let id = world.add_soft(SoftBody::corotational(block(), ElasticMaterial::new(5e4, 0.3, 1000.0))).unwrap();
    let x = world.body(id).unwrap().node_positions().to_vec();
    let left: Vec<u32> = (0..x.len() as u32).filter(|&n| x[n as usize].x < -0.14).collect();
    let right: Vec<u32> = (0..x.len() as u32).filter(|&n| x[n as usize].x > 0.14).collect();
    let pairs = left.iter().chain(&right[..1]).map(|&n| (Site::Node { body: id, node: n }, AttachTarget::Here(None)));
    let held = world.add_attachment(Attachment::new(pairs)).unwrap();
    let set = world.add_distance_set(DistanceSet::new(id, vec![[left[0], left[1]]])).unwrap();
    let gone = world.add_distance_set(DistanceSet::new(id, vec![[right[0], right[1]]])).unwrap();
    run(&mut world, 20);
    let before = world.state().row_impulses.clone();
    let Geometry::Tets(mesh) = &bodies()[0].geometry.clone() else { unreachable!() };
    let cut = (0..mesh.tets.len() as u32).filter(|&e| mesh.tets[e as usize].iter().any(|n| right.contains(n)));
    let change = world.edit_topology(id, &TopologyEdit::new().remove(cut)).unwrap();
    assert_eq!(change.constraints.removed, [gone]);
    assert_eq!(change.constraints.reduced, [held]);
    let kept = 3 * left.len();
    let after = &world.state().row_impulses;
    assert_eq!(after[..kept], before[..kept]);
    assert_eq!(after[kept], before[kept + 3]);
    assert!(world.is_broken(set).is_ok() && world.is_broken(gone).is_err());
    run(&mut world, 30);
    for &n in &left {
        let now = world.body(id).unwrap().node_positions()[change.remap.nodes[n as usize].unwrap() as usize];
        assert!(now.distance(x[n as usize]) < 2e-3, "{now}");
    }
}

#[test]
fn random_edits_then_save_and_threads_give_the_same_bits() {
    for (k, body) in bodies().into_iter().enumerate() {
        let make = |threads: u32| {
            let mut world = World::new(Settings { threads, ..Settings::default() }).unwrap();
            world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
            let id = world.add_soft(body.clone().thickness(2e-3).at([0.0, 0.12, 0.0])).unwrap();
            world.add_soft(body.clone().thickness(2e-3).at([0.0, 0.6, 0.0])).unwrap();
            let mut seed = 7 + k as u32;
            let mut elements = numbers(&body).1;
            for _ in 0..6 {
                run(&mut world, 10);
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let change = world.edit_topology(id, &TopologyEdit::new().remove([(seed >> 8) % elements])).unwrap();
                elements = change.remap.elements.iter().flatten().count() as u32;
            }
            (world, id)
        };
        let (mut world, id) = make(1);
        assert_eq!(world.hash(), make(2).0.hash());
        assert_eq!(world.body(id).unwrap().topology(), 6);
        assert!(!world.state().contacts.is_empty() || !world.state().cloth_contacts.is_empty());
        let mut twin = World::build(world.blueprint().unwrap(), world.state()).unwrap();
        let snapshot = world.snapshot();
        run(&mut world, 20);
        run(&mut twin, 20);
        assert_eq!(world.state().first_difference(twin.state()), None);
        let hash = world.hash();
        world.restore(&snapshot).unwrap();
        run(&mut world, 20);
        assert_eq!(world.hash(), hash);
        assert!(world.report().faults.is_empty());
    }
}

#[test]
fn invalid_edits_name_the_culprit_and_change_nothing() {
    let mut world = World::default();
    let id = world.add_soft(bodies()[0].clone().named("block")).unwrap();
    let hash = world.hash();
    let nan = NewNode::At { rest: Vec3::splat(Real::NAN), position: Vec3::ZERO, velocity: Vec3::ZERO };
    let all = numbers(&bodies()[0]).1;
    for (edit, named) in [
        (TopologyEdit::new().remove([9999]), "element 9999"),
        (TopologyEdit::new().remove(0..all), "no element would remain"),
        (TopologyEdit::new().node(NewNode::Copy(777)), "node 777"),
        (TopologyEdit::new().node(nan), "nodes[0]"),
        (TopologyEdit::new().append(&[0, 1, 2, 5000]), "node 5000"),
        (TopologyEdit::new().append(&[0, 0, 1, 2]), "appended element [0, 0, 1, 2]"),
        (TopologyEdit::new().corners(3, &[0, 1]), "element 3"),
        (TopologyEdit { node_order: vec![0, 0], ..TopologyEdit::default() }, "node_order"),
    ] {
        let error = world.edit_topology(id, &edit).unwrap_err().to_string();
        assert!(error.contains(named) && error.contains("block") && error.contains("corotational"), "{error}");
        assert_eq!(world.hash(), hash);
    }
    let params = fem::SolidParams { elements: fem::Elements::Tet10, ..fem::SolidParams::default() };
    let ten = world.add_soft(SoftBody::new(Geometry::Tets(block()), SoftModel::Solid(params))).unwrap();
    let error = world.edit_topology(ten, &TopologyEdit::new().remove([0])).unwrap_err().to_string();
    assert!(error.contains("ten nodes"), "{error}");
}
