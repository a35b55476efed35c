//! Combined bodies: conservation laws and weights of bones in tissue.

use sinew::*;

fn free() -> Settings {
    Settings { dt: 0.005, gravity: Vec3::ZERO, sleep_time: Real::INFINITY, ..Settings::default() }
}

fn elastic(youngs_modulus: Real) -> TissueModel {
    let params = fem::Params { youngs_modulus, poisson_ratio: 0.4, density: 1000.0, damping: 5e-3 };
    TissueModel::Solid(SoftModel::Corotational(params))
}

fn springs() -> TissueModel {
    let stiffness = spring::Stiffness::Young(1e5);
    TissueModel::Solid(SoftModel::Springs(spring::Params { stiffness, ..spring::Params::default() }))
}

fn particles(implicit: bool) -> TissueModel {
    let params =
        oriented::Params { frequency: 60.0, iterations: 4, damping: 5.0, implicit, ..oriented::Params::default() };
    TissueModel::Oriented { density: 1000.0, group_size: 5, params }
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(v: Vec3) -> [f64; 3] {
    [v.x as f64, v.y as f64, v.z as f64]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: [f64; 3]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn away(a: [f64; 3], b: [f64; 3]) -> f64 {
    length([a[0] - b[0], a[1] - b[1], a[2] - b[2]])
}

/// Momentum, and angular momentum about the origin including that of bones and particles about their centres; and their
/// scales, the sums of the magnitudes of the parts.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn momenta(world: &World) -> ([f64; 3], [f64; 3], [f64; 2]) {
    let (mut p, mut l, mut scale) = ([0.0; 3], [0.0; 3], [0.0; 2]);
    let mut count = |m: Real, x: Vec3, v: Vec3, own: [f64; 3]| {
        let push = wide(v).map(|v| v * m as f64);
        let arm = cross(wide(x), push);
        for k in 0..3 {
            p[k] += push[k];
            l[k] += arm[k] + own[k];
        }
        scale[0] += length(push);
        scale[1] += length(arm) + length(own);
    };
    for body in world.bodies() {
        if body.is_rigid() {
            count(body.mass(), body.center_of_mass(), body.velocity(), wide(body.angular_momentum()));
        }
        let nodes = body.node_positions().iter().zip(body.node_velocities()).zip(body.node_masses());
        for (k, ((&x, &v), &m)) in nodes.enumerate() {
            // tissue has balls: I = 2/5 m r²
            let own = body.particle_spin(k as u32).map_or([0.0; 3], |w| {
                let r = body.particle_radii()[k].x;
                wide(w * (0.4 * m * r * r))
            });
            count(m, x, v, own);
        }
    }
    (p, l, scale)
}

/// Two bones on a hinge whose motor folds and unfolds them, each in its tissue.
fn folding(model: TissueModel, settings: Settings) -> (World, CombinedIds) {
    let mut world = World::new(settings).unwrap();
    let bone = |x: Real| RigidBody::dynamic().shape(Shape::capsule(0.03, 0.01)).density(1800.0).at([x, 0.0, 0.0]);
    let tissue = || Tissue::new(model.clone(), 0.012, 0.01);
    let hinge = Joint::hinge(None, None).anchor([0.0, -0.05, 0.0]).axis(Vec3::Z);
    let hinge = hinge.motor(Motor::Velocity { target: 2.0, max_force: 0.05 });
    let arm = Combined::new("arm").covered(bone(-0.05), tissue()).covered(bone(0.05), tissue()).joint(0, 1, hinge);
    let ids = world.add_combined(arm).unwrap();
    (world, ids)
}

/// Drift of linear and angular momentum over 10 s of folding, relative to their scales.
fn drift(model: TissueModel) -> [f64; 2] {
    let (mut world, ids) = folding(model, free());
    let (p, l, mut scale) = momenta(&world);
    let mut worst = [0.0f64; 2];
    for tick in 0..2000u64 {
        let mut input = Input::none();
        if tick % 100 == 0 {
            let target = if tick % 200 == 0 { 2.0 } else { -2.0 };
            let motor = Some(Motor::Velocity { target, max_force: 0.05 });
            input = input.with(Command::Motor { joint: ids.joints[0], motor });
        }
        world.step(&input);
        assert!(world.report().faults.is_empty(), "{:?}", world.report().faults);
        let (p_now, l_now, scale_now) = momenta(&world);
        scale = [scale[0].max(scale_now[0]), scale[1].max(scale_now[1])];
        worst = [worst[0].max(away(p, p_now)), worst[1].max(away(l, l_now))];
    }
    [worst[0] / scale[0], worst[1] / scale[1]]
}

#[test]
fn a_free_body_of_bones_and_finite_elements_conserves_momentum_while_it_folds() {
    let [p, l] = drift(elastic(1e5));
    assert!(p < 1e-5 && l < 1e-5, "{p:e} {l:e}");
}

/// Tissue solved by sweeps, and particles in one system with the bones. In sweeps positions advance with the velocity
/// of the correcting pass and momentum follows the relaxing one; the difference is compensated (`island/momentum.rs`):
/// without that springs drift by 3.5e-4 and particles by 1.9e-3.
#[test]
fn a_free_body_of_bones_and_springs_or_particles_conserves_momentum_while_it_folds() {
    for model in [springs(), particles(false), particles(true)] {
        let [p, l] = drift(model);
        assert!(p < 1e-5 && l < 1e-5, "{p:e} {l:e}");
    }
}

#[test]
fn tissue_follows_its_bone_and_the_force_of_the_anchor_is_its_weight() {
    for model in [elastic(1e5), springs(), particles(false), particles(true)] {
        let mut world = World::new(Settings { gravity: Vec3::NEG_Y * 9.81, ..free() }).unwrap();
        let bone = RigidBody::kinematic().shape(Shape::cuboid(0.02, 0.03, 0.01));
        let ids = world.add_combined(Combined::new("arm").covered(bone, Tissue::new(model, 0.01, 0.01))).unwrap();
        let tissue = ids.tissues[0];
        let start = world.body(tissue).unwrap().center_of_mass();
        // a displacement of a tenth of a metre within a second, then two seconds of rest
        let mut carried = Vec3::ZERO;
        for tick in 1..=600u16 {
            let x = 0.1 * (Real::from(tick) / 200.0).min(1.0);
            world.step(&Input::none().target(ids.bones[0], Pose::at(Vec3::X * x)));
            if tick > 400 {
                let anchor = world.report().constraints.iter().find(|c| c.id == ids.anchors[0]);
                carried += anchor.map_or(Vec3::ZERO, |c| c.force) / 200.0;
            }
        }
        let body = world.body(tissue).unwrap();
        let weight = body.mass() * 9.81;
        assert!((carried.y / weight - 1.0).abs() < 0.01, "{carried} {weight}");
        let moved = body.center_of_mass() - start;
        assert!((moved.x - 0.1).abs() < 1e-3 && moved.y.abs() < 2e-3, "{moved}");
    }
}

#[test]
fn bone_and_tissue_fall_together() {
    for model in [elastic(1e5), springs(), particles(false), particles(true)] {
        let mut world = World::new(Settings { gravity: Vec3::NEG_Y * 9.81, ..free() }).unwrap();
        let bone = RigidBody::dynamic().shape(Shape::ball(0.02)).density(1800.0);
        let ids = world.add_combined(Combined::new("fruit").covered(bone, Tissue::new(model, 0.01, 0.01))).unwrap();
        for _ in 0..100 {
            world.step(&Input::none());
        }
        let [bone, tissue] = [ids.bones[0], ids.tissues[0]].map(|id| world.body(id).unwrap().center_of_mass().y);
        // g t²/2 and at most a step more; OP's gravity on the bone only would give g M/(M + Σm)
        assert!((bone + 0.5 * 9.81 * 0.25).abs() < 0.02 && (bone - tissue).abs() < 1e-5, "{bone} {tissue}");
    }
}

#[test]
fn flesh_around_two_bones_is_anchored_to_the_nearest_bone() {
    let mut world = World::new(free()).unwrap();
    let bone = |x: Real| RigidBody::dynamic().shape(Shape::cuboid(0.02, 0.01, 0.01)).at([x, 0.0, 0.0]);
    let mesh = TetMesh::block([12, 4, 4], Vec3::new(0.12, 0.04, 0.04)).unwrap();
    let flesh = SoftBody::corotational(mesh, ElasticMaterial::new(5e4, 0.3, 1000.0));
    let hinge = Joint::hinge(None, None).anchor(Vec3::ZERO).axis(Vec3::Z);
    let arm = Combined::new("arm").bone(bone(-0.03)).bone(bone(0.03)).joint(0, 1, hinge).flesh(flesh, 1e-4);
    let ids = world.add_combined(arm).unwrap();
    assert_eq!((ids.anchors.len(), ids.tissues.len()), (2, 1));
    // 5 x 3 x 3 nodes lie in or on each bone
    assert!(ids.anchors.iter().all(|&a| world.row_forces(a).is_ok()));
    // bent by a motor, the flesh deforms with the bones
    world.set_motor(ids.joints[0], Some(Motor::Velocity { target: 1.0, max_force: 1.0 })).unwrap();
    for _ in 0..100 {
        world.step(&Input::none());
    }
    assert!(world.joint_place(ids.joints[0]).unwrap() > 0.3);
    let nodes = world.body(ids.tissues[0]).unwrap().node_positions();
    let end = nodes.iter().filter(|p| p.x > 0.05).map(|p| p.y).fold(Real::NEG_INFINITY, Real::max);
    assert!(end > 0.022, "{end}");
}

#[test]
fn contact_of_the_tissue_of_two_bodies_separates_them() {
    let models = [elastic(1e5), springs(), particles(false), particles(true)];
    // central and eccentric collision
    for (model, off) in models.iter().flat_map(|model| [(model, 0.0), (model, 0.1)]) {
        let mut world = World::new(free()).unwrap();
        let ball = |x: Real, v: Real| {
            let bone = RigidBody::dynamic().shape(Shape::ball(0.02)).density(1800.0);
            bone.at([x, 0.4 * off * x, off * x]).velocity([v, 0.0, 0.0])
        };
        let tissue = || Tissue::new(model.clone(), 0.01, 0.01);
        let left = world.add_combined(Combined::new("left").covered(ball(-0.05, 0.2), tissue())).unwrap();
        let right = world.add_combined(Combined::new("right").group(30).covered(ball(0.05, -0.2), tissue())).unwrap();
        let (p, l, scale) = momenta(&world);
        let mut touched = false;
        for _ in 0..200 {
            world.step(&Input::none());
            let mut points = Vec::new();
            let grip = world.grasp_force(left.tissues[0], right.tissues[0], &mut points).unwrap();
            touched |= grip.force.x > 0.0 && grip.normal > 0.0 && !points.is_empty();
        }
        let [a, b] = [left, right].map(|ids| world.body(ids.bones[0]).unwrap().velocity().x);
        assert!(touched && a < 0.0 && b > 0.0, "{model:?}: {touched} {a} {b}");
        // momentum is conserved
        let (p_end, l_end, _) = momenta(&world);
        let arm = 0.03 * scale[0];
        assert!(away(p, p_end) < 1e-5 * scale[0] && away(l, l_end) < 1e-5 * arm, "{model:?}: {p_end:?} {l_end:?}");
    }
}

#[test]
fn rejected_bodies_name_the_cause_and_leave_the_world_unchanged() {
    let mut world = World::default();
    let bone = || RigidBody::dynamic().shape(Shape::ball(0.02));
    let tissue = || Tissue::new(elastic(1e5), 0.01, 0.01);
    let mut message = |combined: Combined| {
        let error = world.add_combined(combined).unwrap_err().to_string();
        assert_eq!(world.bodies().count(), 0, "{error}");
        error
    };
    assert_eq!(message(Combined::new("arm")), "combined body 'arm': it has no bones: add one, or use a soft body");
    let joint = Joint::ball(None, None);
    let error = message(Combined::new("arm").bone(bone()).joint(0, 3, joint));
    assert_eq!(error, "combined body 'arm': joints[0]: bone 3 does not exist, there are 1");
    let error = message(Combined::new("arm").covered(bone(), Tissue { spacing: -1.0, ..tissue() }));
    assert!(error.starts_with("combined body 'arm'.bones[0].tissue.spacing is -1"), "{error}");
    let error = message(
        Combined::new("arm")
            .bone(bone())
            .covered(RigidBody::dynamic().mass(1.0).inertia(Sym3::diagonal(Vec3::ONE)), tissue()),
    );
    assert!(error.starts_with("combined body 'arm'.bones[1]: it has no shape"), "{error}");
    let error = message(Combined::new("arm").bone(bone()).group(40));
    assert!(error.starts_with("combined body 'arm'.group is 40"), "{error}");
    let mesh = TetMesh::block([1, 1, 1], Vec3::splat(0.1)).unwrap();
    let flesh = SoftBody::corotational(mesh, ElasticMaterial::jelly()).at([1.0, 0.0, 0.0]);
    let error = message(Combined::new("arm").bone(bone()).flesh(flesh, 0.01));
    assert!(error.contains("flesh[0]: none of its nodes lies within 0.01 m of a bone"), "{error}");
}
