//! What holds numbers of nodes, elements and surface cells follows an edit: constraints, loads, contacts, queries, saves.

use super::*;
use std::sync::Arc;

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
fn loads_and_held_axes_follow_their_triangles_and_nodes() {
    let mut world = World::new(weightless()).unwrap();
    let side = |x: Real| Region { min: Vec3::new(x - 0.01, -1.0, -1.0), max: Vec3::new(x + 0.01, 1.0, 1.0) };
    let body = SoftBody::corotational(block(), ElasticMaterial::new(2e4, 0.3, 1000.0))
        .load(Load::force(side(0.15), [1.0, 0.0, 0.0]))
        .load(Load::force(side(-0.15), [0.0, 2.0, 0.0]))
        .pin_axes(PinnedAxes { region: side(-0.15), x: true, y: false, z: true });
    let id = world.add_soft(body.clone()).unwrap();
    run(&mut world, 3);
    // all that lies beyond the first cells is removed, with the first load; new triangles get none
    let rest = body.geometry.nodes();
    let gone = elements(&body).into_iter().enumerate().filter(|(_, e)| e.iter().any(|&n| rest[n as usize].x > 0.0));
    let gone: Vec<u32> = gone.map(|(k, _)| k as u32).collect();
    let change = world.edit_topology(id, &TopologyEdit::new().remove(gone)).unwrap();
    assert_eq!((change.loads, change.constraints), (vec![0], LostConstraints::default()));
    let before = momentum(&world, id);
    run(&mut world, 6);
    let gained = (momentum(&world, id) - before) / (6.0 * world.settings().dt);
    assert!((gained.y - 2.0).abs() < 0.02, "{gained}");
    let x = world.body(id).unwrap().node_positions();
    let held = x.iter().filter(|x| (x.x + 0.15).abs() < 1e-4).count();
    assert_eq!(held, 9, "the nodes of the held side stay in its plane");
    let loads = source(&world, id).loads;
    assert!(loads.len() == 1 && loads[0].region.is_none() && loads[0].faces.len() == 8, "{loads:?}");
}

#[test]
fn a_compliance_query_sees_the_edited_body() {
    let body = SoftBody::corotational(block(), ElasticMaterial::new(2e4, 0.3, 1000.0));
    let mut world = World::new(weightless()).unwrap();
    let id = world.add_soft(body.clone().pin_region([-1.0, -1.0, -1.0], [-0.149, 1.0, 1.0])).unwrap();
    run(&mut world, 2);
    let end = (0..).find(|&n| body.geometry.nodes()[n as usize].x > 0.149).unwrap();
    let mut scratch = ComplianceScratch::default();
    let options = ComplianceOptions { time: Some(10.0), iterations: 400, tolerance: 1e-5, ..Default::default() };
    let mut moved = |world: &World| {
        let load = SiteForce { site: Site::Node { body: id, node: end }, force: Vec3::X * 1e-3 };
        let mut out = Vec::new();
        world.compliance(&[load], &options, &mut scratch, &mut out).unwrap();
        out[0].displacement.x
    };
    let whole = moved(&world);
    world.edit_topology(id, &split(&body)).unwrap();
    // the right part is free now: 1 mN moves some kilograms over centimetres in 10 s
    let free = moved(&world);
    assert!(free > 20.0 * whole, "{whole} {free}");
}

#[test]
fn an_exchanged_model_keeps_constraints_and_contacts() {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let matter = ElasticMaterial::new(1e5, 0.3, 1000.0);
    let id = world.add_soft(SoftBody::corotational(block(), matter).at([0.0, 0.101, 0.0])).unwrap();
    let x = world.body(id).unwrap().node_positions().to_vec();
    let corner = (0..x.len() as u32).find(|&n| x[n as usize].x < -0.14 && x[n as usize].y > 0.2).unwrap();
    let hung = world.add_attachment(Attachment::anchor(Site::Node { body: id, node: corner }, None)).unwrap();
    let faces = [(Site::Face { body: id, triangle: 3, weights: [0.2, 0.3, 0.5] }, AttachTarget::Here(None))];
    let on_face = world.add_attachment(Attachment::new(faces)).unwrap();
    let pairs = world.add_distance_set(DistanceSet::new(id, vec![[0, 1]])).unwrap();
    run(&mut world, 30);
    let (impulses, contacts) = (world.state().row_impulses.clone(), world.state().contacts.clone());
    assert!(contacts.len() >= 12);
    // the same mesh with another law: everything follows
    let params = fem::SolidParams { law: fem::Law::NeoHookean, ..fem::SolidParams::default() };
    let same = SoftBody::new(Geometry::Tets(block()), SoftModel::Solid(params));
    let (next, done) = world.exchange_model(id, same).unwrap();
    assert!(done.remap.is_identity() && done.constraints == LostConstraints::default());
    assert_eq!((&world.state().row_impulses, &world.state().contacts), (&impulses, &contacts));
    assert!(world.body(id).is_err() && [hung, on_face, pairs].iter().all(|c| world.is_broken(*c).is_ok()));
    run(&mut world, 10);
    // a finer mesh: the sites on the surface follow, the pair of nodes that lie there too
    let finer = TetMesh::block([6, 4, 4], Vec3::new(0.3, 0.2, 0.2)).unwrap();
    let (last, done) = world.exchange_model(next, SoftBody::corotational(finer, matter)).unwrap();
    assert_eq!(done.constraints, LostConstraints::default());
    assert!(done.remap.nodes.iter().all(Option::is_some) && done.remap.cells.iter().all(Option::is_none));
    run(&mut world, 20);
    assert!(
        world
            .site_position(&Site::Node { body: last, node: done.remap.nodes[corner as usize].unwrap() })
            .unwrap()
            .distance(x[corner as usize])
            < 2e-3
    );
    assert!(world.report().faults.is_empty());
    // coarser: nodes that are not there any more lose their pairs, and this is listed
    let coarse = TetMesh::block([1, 1, 1], Vec3::new(0.3, 0.2, 0.2)).unwrap();
    let far = world.add_distance_set(DistanceSet::new(last, vec![[1, 2]])).unwrap();
    let (_, done) = world.exchange_model(last, SoftBody::corotational(coarse, matter)).unwrap();
    assert!(done.constraints.removed.contains(&far), "{:?}", done.constraints);
    let twin = World::build(world.blueprint().unwrap(), world.state()).unwrap();
    assert_eq!(twin.hash(), world.hash());
}

#[test]
fn a_sleeping_body_and_its_neighbour_wake_up() {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let body = SoftBody::corotational(block(), ElasticMaterial::new(2e5, 0.3, 1000.0)).damping(5.0);
    let id = world.add_soft(body.clone().at([0.0, 0.101, 0.0])).unwrap();
    let on_top =
        world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.1)).at([0.0, 0.223, 0.0])).unwrap();
    run(&mut world, 400);
    let asleep = |world: &World| [id, on_top].map(|b| world.body(b).unwrap().is_asleep());
    assert_eq!(asleep(&world), [true; 2]);
    world.edit_topology(id, &split(&body)).unwrap();
    assert_eq!(asleep(&world), [false; 2]);
}

#[test]
fn a_snapshot_of_before_is_refused_and_a_save_of_after_goes_on() {
    let mut world = World::default();
    let body = bodies().swap_remove(0).named("block");
    let id = world.add_soft(body.clone().at([0.0, 1.0, 0.0])).unwrap();
    run(&mut world, 5);
    let before = world.snapshot();
    let swapped = TopologyEdit { node_order: (0..numbers(&body).0).rev().collect(), ..TopologyEdit::default() };
    world.edit_topology(id, &swapped).unwrap();
    // the counts are the same, the numbers are not
    let error = world.restore(&before).unwrap_err().to_string();
    assert!(error.contains("topology 0, in this world 1"), "{error}");
    let twin = World::build(world.blueprint().unwrap(), world.state()).unwrap();
    assert_eq!((twin.hash(), twin.body(id).unwrap().topology()), (world.hash(), 1));
    world.remove_body(id).unwrap();
    assert!(world.state().topology.is_empty());
}

/// Rows that pull two nodes together, for the test of custom rows.
#[derive(Debug)]
struct Pull {
    body: BodyId,
    nodes: [u32; 2],
}

impl Rows for Pull {
    fn bodies(&self) -> Vec<BodyId> {
        vec![self.body]
    }

    fn rows(&self, view: &View<'_>, out: &mut RowWriter<'_>) -> Result<(), Error> {
        let sites = self.nodes.map(|node| Site::Node { body: self.body, node });
        let [a, b] = [view.position(&sites[0])?, view.position(&sites[1])?];
        assert!(a.is_finite() && b.is_finite());
        let _ = out;
        Ok(())
    }

    fn follow(&self, from: BodyId, to: BodyId, remap: &Remap) -> Option<Arc<dyn Rows>> {
        assert_eq!(from, self.body);
        let [a, b] = self.nodes.map(|n| remap.nodes[n as usize]);
        Some(Arc::new(Self { body: to, nodes: [a?, b?] }))
    }
}

#[test]
fn constraints_of_every_kind_follow_a_renumbering_and_act_as_before() {
    let make = || {
        let mut world = World::default();
        let mesh = cloth();
        let folds = mesh.folds();
        let model = SoftModel::Membrane(fem::MembraneParams::default());
        let sheet = world.add_soft(SoftBody::new(Geometry::Sheet(mesh), model).at([0.0, 1.0, 0.0])).unwrap();
        let body = SoftBody::corotational(block(), ElasticMaterial::new(2e4, 0.3, 1000.0));
        let id = world.add_soft(body.at([1.0, 1.0, 0.0])).unwrap();
        let bar = world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.02)).at([1.0, 1.3, 0.0])).unwrap();
        let surface = world.body(id).unwrap().surface().unwrap().clone();
        let top: Vec<u32> = {
            let x = world.body(id).unwrap().node_positions();
            (0..surface.len() as u32).filter(|&s| surface.position(s, x).y > 1.099).collect()
        };
        let kept = [
            world.add_attachment(Attachment::anchor(Site::Node { body: sheet, node: 0 }, None)).unwrap(),
            world.add_bending(Bending::new(sheet, folds, 1e-3)).unwrap(),
            world.add_volume(Volume::held(id)).unwrap(),
            world.add_patch_joint(PatchJoint::fixed(id, top, Some(bar))).unwrap(),
            world
                .add_distance(Distance::rope(Site::Surfel { body: id, surfel: 0 }, Site::World(Vec3::ZERO), 1.3))
                .unwrap(),
            world.add_custom(Arc::new(Pull { body: id, nodes: [1, 2] })).unwrap(),
        ];
        run(&mut world, 5);
        (world, sheet, id, kept)
    };
    let (mut plain, ..) = make();
    let (mut other, sheet, id, kept) = make();
    let mut maps = Vec::new();
    let counts = [(cloth().vertices.len(), cloth().triangles.len()), (block().vertices.len(), block().tets.len())];
    for (body, (nodes, count)) in [sheet, id].into_iter().zip(counts) {
        let edit = TopologyEdit {
            node_order: (0..nodes as u32).rev().collect(),
            element_order: (0..count as u32).rev().collect(),
            ..TopologyEdit::default()
        };
        let change = other.edit_topology(body, &edit).unwrap();
        assert_eq!(change.constraints, LostConstraints::default());
        maps.push(change.remap);
    }
    assert_eq!(plain.state().row_impulses, other.state().row_impulses);
    run(&mut plain, 5);
    run(&mut other, 5);
    assert!(kept.iter().all(|c| !other.is_broken(*c).unwrap()));
    for (body, map) in [sheet, id].into_iter().zip(&maps) {
        let (a, b) = (plain.body(body).unwrap(), other.body(body).unwrap());
        let apart = |k: usize| a.node_positions()[k].distance(b.node_positions()[map.nodes[k].unwrap() as usize]);
        // other sums and a truncated CG
        let worst = (0..map.nodes.len()).map(apart).fold(0.0, Real::max);
        assert!(worst < 2e-4, "{worst}");
    }
    let forces = |world: &World| world.report().constraints.iter().map(|c| c.largest).collect::<Vec<_>>();
    for (a, b) in forces(&plain).into_iter().zip(forces(&other)) {
        assert!((a - b).abs() < 0.02 * a.abs() + 0.05, "{a} {b}");
    }
}

#[test]
fn a_constraint_whose_nodes_are_gone_is_removed_and_the_others_are_reduced() {
    let mut world = World::default();
    let mesh = cloth();
    let folds = mesh.folds();
    let count = folds.len();
    let model = SoftModel::Membrane(fem::MembraneParams::default());
    let id = world.add_soft(SoftBody::new(Geometry::Sheet(mesh.clone()), model)).unwrap();
    let bending = world.add_bending(Bending::new(id, folds, 1e-3)).unwrap();
    let custom = world.add_custom(Arc::new(Pull { body: id, nodes: [0, 1] })).unwrap();
    let anchor = world.add_attachment(Attachment::anchor(Site::Node { body: id, node: 0 }, None)).unwrap();
    run(&mut world, 2);
    let at_corner = (0..mesh.triangles.len() as u32).filter(|&t| mesh.triangles[t as usize].contains(&0));
    let change = world.edit_topology(id, &TopologyEdit::new().remove(at_corner)).unwrap();
    assert_eq!(change.remap.nodes[0], None);
    assert_eq!((change.constraints.removed, change.constraints.reduced), (vec![custom, anchor], vec![bending]));
    run(&mut world, 2);
    assert!(world.row_forces(bending).unwrap().len() < count);
    let error = world.blueprint().map(|b| World::build(b, world.state()).map(|w| w.hash()));
    assert_eq!(error.unwrap().unwrap(), world.hash());
}

#[test]
fn a_resting_body_keeps_its_contacts_through_an_edit_elsewhere() {
    for body in bodies() {
        let mut world = World::default();
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).at([0.0, -0.1, 0.0])).unwrap();
        let flat = matches!(body.geometry, Geometry::Sheet(_));
        let y = if flat { -0.095 } else { 0.0 };
        let id = world.add_soft(body.clone().thickness(2e-3).damping(2.0).at([0.0, y, 0.0])).unwrap();
        run(&mut world, 60);
        let touching = |world: &World| {
            let state = world.state();
            let cloth = state.cloth_contacts.iter().filter(|c| c.impulse != Vec3::ZERO).count();
            state.contacts.iter().filter(|m| m.used().iter().any(|p| p.impulse[0] > 0.0)).count() + cloth
        };
        let before = touching(&world);
        let change = world.edit_topology(id, &TopologyEdit::new().remove([numbers(&body).1 - 1])).unwrap();
        let lost = change.remap.surfels.iter().filter(|s| s.is_none()).count();
        let after = touching(&world);
        assert!(before > 4 && after + 3 * lost + 4 >= before && after <= before, "{before} {after} {lost}");
        let speed =
            |world: &World| world.body(id).unwrap().node_velocities().iter().fold(0.0, |m: Real, v| m.max(v.length()));
        let was = speed(&world);
        run(&mut world, 1);
        // warm impulses hold the weight: no node gains the speed of a fall of a step, 0.16 m/s
        assert!(speed(&world) < was + 0.16, "{}: {} {was}", body.model.name(), speed(&world));
        assert!(world.report().faults.is_empty());
    }
}
