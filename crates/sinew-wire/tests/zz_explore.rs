//! Forged files: the checksums fit, the content is not ours. No panic, and a world that was built can be stepped.

mod common;

use common::{Random, forge, input, open, scene, seal};
use sinew::Input;
use sinew_wire::{Recorder, Replay, load, restore, save, snapshot};

#[test]
fn the_container_is_as_documented() {
    let (world, _) = scene(1).unwrap();
    let bytes = save(&world).unwrap();
    let (header, sections) = open(&bytes);
    assert_eq!(sections.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 4, 7]);
    assert_eq!(seal(&header, &sections), bytes);
}

#[test]
fn forged_saves_are_refused_or_run() {
    let (mut world, ids) = scene(1).unwrap();
    for i in 0..60 {
        world.step(&input(&ids, i));
    }
    let bytes = save(&world).unwrap();
    let mut random = Random(std::env::var("SEED").unwrap().parse().unwrap());
    let (mut refused, mut ran) = (0, 0);
    for n in 0..60000 {
        let forged = forge(&bytes, &mut random);
        let outcome = std::panic::catch_unwind(|| match load(&forged) {
            Err(_) => false,
            Ok(mut world) => {
                if world.settings().substeps > 20 || world.settings().sweeps > 20 || world.settings().relax_sweeps > 20
                {
                    return false;
                }
                world.step(&Input::none());
                world.step(&Input::none());
                true
            }
        });
        match outcome {
            Ok(true) => ran += 1,
            Ok(false) => refused += 1,
            Err(_) => eprintln!("PANIC {n}"),
        }
    }
    eprintln!("{refused} {ran}");
    assert!(refused > 300 && ran > 300, "{refused} refused, {ran} ran: the test tests little");
}
#[test]
fn targeted() {
    use sinew::*;
    let (mut world, ids) = scene(1).unwrap();
    for i in 0..60 { world.step(&input(&ids, i)); }
    let mut try_it = |name: &str, f: &dyn Fn(&mut Blueprint, &mut State)| {
        let mut bp = world.blueprint().unwrap();
        let mut st = world.snapshot();
        f(&mut bp, &mut st);
        let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            match World::build(bp, &st) { Err(e) => eprintln!("TARGET {name}: refused {e}"), Ok(mut w) => { for _ in 0..5 { w.step(&Input::none()); } eprintln!("TARGET {name}: ran faults {}", w.report().faults.len()) } }
        }));
        if r.is_err() { eprintln!("TARGET {name}: PANIC"); }
    };
    eprintln!("contacts {} nodes {}", world.state().contacts.len(), world.state().contacts.iter().filter(|c| c.flags & 8 != 0).count());
    try_it("plain", &|_, _| {});
    try_it("node contact flag on rigid", &|_, s| for c in &mut s.contacts { c.flags |= 8; });
    try_it("node sub_b", &|_, s| for c in &mut s.contacts { c.flags |= 8; c.key.sub_b = 4_000_000_000; });
    let dust = ids.dust.to_parts().0; 
    try_it("forged node contact", &|_, s| { let mut c = s.contacts[0]; c.key.a = ids.brick.to_parts().0; c.key.b = dust; c.key.collider_a=0; c.key.collider_b = 0; c.key.sub_a=0; c.key.sub_b = 77777; c.flags = 9; s.contacts.push(c); s.contacts.sort_by_key(|c| c.key); });
    try_it("duplicate contact", &|_, s| { let c = s.contacts[0]; s.contacts.insert(0, c); });
    try_it("same body contact", &|_, s| { let mut c = s.contacts[0]; c.key.b = c.key.a; s.contacts.push(c); s.contacts.sort_by_key(|c| c.key); });
    try_it("nan contact", &|_, s| for c in &mut s.contacts { c.normal = Vec3::NAN; c.points[0].impulse = [Real::NAN; 3]; c.points[0].local_a = Vec3::NAN; });
    try_it("huge contact", &|_, s| for c in &mut s.contacts { c.points[0].impulse = [Real::MAX; 3]; c.points[0].local_a = Vec3::splat(Real::MAX); c.found_rotation=[0.0;4]; });
    try_it("h nan", &|_, s| s.h = Real::NAN);
    try_it("h neg", &|_, s| s.h = -1.0);
    try_it("tick max", &|_, s| s.tick = u64::MAX);
    try_it("flags", &|_, s| for f in &mut s.flags { *f = !0; });
    try_it("broken", &|_, s| for f in &mut s.broken { *f = !0; });
    try_it("rows nan", &|_, s| for f in &mut s.row_impulses { *f = [Real::NAN; 12]; });
    try_it("q zero", &|_, s| for f in &mut s.q { *f = Quat::from_array([0.0; 4]); });
    let edit = |b: &mut Blueprint, f: &dyn Fn(&mut RigidBody)| for s in &mut b.bodies { if let Some(BodySpec::Rigid(r)) = &mut s.item { f(r) } };
    for (name, lo, hi) in [("voxels far", i32::MIN, i32::MAX), ("voxels wide", -1_000_000, 1_000_000), ("voxels 60000", -60000, 60000)] {
        try_it(name, &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::Voxels{cells, ..} = &mut c.shape { *cells = vec![[lo;3],[hi;3]].into(); } }));
    }
    try_it("compound rotation 0", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::Compound{parts} = &mut c.shape { *parts = vec![(Pose::new(Vec3::ZERO, Quat::from_array([0.0;4])), Shape::ball(1.0)), (Pose::new(Vec3::splat(Real::MAX), Quat::IDENTITY), Shape::ball(1.0))].into(); } }));
    try_it("compound far", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::Compound{parts} = &mut c.shape { *parts = vec![(Pose::new(Vec3::splat(Real::MAX), Quat::IDENTITY), Shape::ball(Real::MAX))].into(); } }));
    try_it("mesh degenerate", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::TriMesh{triangles,..} = &mut c.shape { *triangles = vec![[0,0,0];5].into(); } }));
    try_it("mesh huge", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::TriMesh{vertices,..} = &mut c.shape { *vertices = vec![Vec3::splat(Real::MAX), Vec3::splat(-Real::MAX), Vec3::X, Vec3::Y].into(); } }));
    try_it("hull collinear", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::ConvexHull{points} = &mut c.shape { *points = (0..9).map(|i| Vec3::X * i as Real).collect(); } }));
    try_it("hull planar", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::ConvexHull{points} = &mut c.shape { *points = (0..9).map(|i| Vec3::new((i%3) as Real, (i/3) as Real, 0.0)).collect(); } }));
    try_it("hull same", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::ConvexHull{points} = &mut c.shape { *points = vec![Vec3::X; 9].into(); } }));
    try_it("hull huge", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::ConvexHull{points} = &mut c.shape { *points = points.iter().map(|p| *p * Real::MAX * 0.5).collect(); } }));
    try_it("ball huge", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::Ball{radius} = &mut c.shape { *radius = Real::MAX; } }));
    try_it("ball tiny", &|b, _| edit(b, &|r| for c in &mut r.colliders { if let Shape::Ball{radius} = &mut c.shape { *radius = Real::MIN_POSITIVE; } }));
    try_it("inertia nan", &|b, _| edit(b, &|r| r.inertia = Some(Sym3::diagonal(Vec3::NAN))));
    try_it("inertia inf", &|b, _| edit(b, &|r| r.inertia = Some(Sym3::diagonal(Vec3::INFINITY))));
    let jedit = |b: &mut Blueprint, f: &dyn Fn(&mut Joint)| for s in &mut b.constraints { if let Some(ConstraintSpec::Joint(r)) = &mut s.item { f(r) } };
    try_it("joint frames 0", &|b, _| jedit(b, &|j| if let Some((a, _)) = &mut j.frames { a.rotation = Quat::from_array([0.0;4]) }));
    try_it("joint frames huge", &|b, _| jedit(b, &|j| if let Some((a, _)) = &mut j.frames { a.rotation = Quat::from_array([1e30;4]); a.position = Vec3::splat(1e30) }));
    try_it("joint limits inf", &|b, _| jedit(b, &|j| if j.limits.is_some() { j.limits = Some((Real::NEG_INFINITY, Real::INFINITY)) }));
    try_it("node order dup", &|b, _| { let first = b.node_order[0]; b.node_order.push(first); });
    try_it("generation max", &|b, _| for s in &mut b.bodies { if s.item.is_none() { s.generation = u32::MAX } });
}
