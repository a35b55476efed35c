//! Constraints on nodes and surfaces, against their laws.

use sinew::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const G: Real = 9.81;

fn world(gravity: bool) -> Result<World, Error> {
    let gravity = if gravity { Vec3::new(0.0, -G, 0.0) } else { Vec3::ZERO };
    World::new(Settings { gravity, sleep_time: Real::INFINITY, ..Settings::default() })
}

fn run(world: &mut World, steps: u32) {
    for _ in 0..steps {
        world.step(&Input::none());
        assert!(world.report().faults.is_empty(), "{:?}", world.report().faults);
    }
}

/// Reported force of a constraint.
fn carried(world: &World, id: ConstraintId) -> Option<ConstraintForce> {
    world.report().constraints.iter().find(|c| c.id == id).copied()
}

fn force(world: &World, id: ConstraintId) -> Vec3 {
    carried(world, id).map_or(Vec3::NAN, |c| c.force)
}

fn momentum(world: &World) -> Vec3 {
    world.bodies().fold(Vec3::ZERO, |sum, b| sum + b.velocity() * b.mass())
}

/// Angular momentum about the origin [kg·m²/s].
fn spin(world: &World) -> Vec3 {
    world
        .bodies()
        .fold(Vec3::ZERO, |sum, b| sum + b.center_of_mass().cross(b.velocity() * b.mass()) + b.angular_momentum())
}

fn node(body: BodyId, node: u32) -> Site {
    Site::Node { body, node }
}

/// A block of jelly, `size` long, in an implicit island.
fn jelly(world: &mut World, cells: [u32; 3], size: Vec3, at: Vec3) -> Result<BodyId, Box<dyn std::error::Error>> {
    let mesh = TetMesh::block(cells, size)?;
    Ok(world.add_soft(SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.3, 1000.0).damping(0.05)).at(at))?)
}

/// Surface points of a body near a plane x = `x`.
fn face(world: &World, body: BodyId, x: Real) -> Result<Vec<u32>, Error> {
    let view = world.body(body)?;
    let count = view.surface().map_or(0, Surface::len) as u32;
    Ok((0..count).filter(|&s| view.surface_point(s).is_some_and(|p| (p.x - x).abs() < 1e-4)).collect())
}

#[test]
fn the_reported_force_of_an_anchored_mass_is_its_weight() -> Outcome {
    let mut w = world(true)?;
    let mass = 2.0;
    let drop = w.add_particles(Particles::new(vec![Vec3::ZERO]).mass(mass))?;
    let anchor = w.add_attachment(Attachment::anchor(node(drop, 0), None))?;
    run(&mut w, 60);
    let f = force(&w, anchor);
    assert!((f - Vec3::Y * mass * G).length() < 1e-3 * mass * G, "{f}");
    // rows of joints are springs of a quarter of the substep rate: g/ω²
    let omega = 2.0 * std::f64::consts::PI as Real * 0.25 / w.settings().h();
    let sag = w.body(drop)?.node_positions()[0].length();
    assert!(sag < 1.1 * G / (omega * omega), "{sag}");
    assert_eq!(w.row_forces(anchor)?.len(), 3);
    Ok(())
}

#[test]
fn the_force_on_anchored_surface_points_is_the_weight_of_the_jelly() -> Outcome {
    // in an implicit island: three points of the top, one of them inside a triangle
    let mut w = world(true)?;
    let body = jelly(&mut w, [2, 2, 2], Vec3::splat(0.2), Vec3::ZERO)?;
    let view = w.body(body)?;
    let surface = view.surface().ok_or("no surface")?;
    let top = |s: u32| view.surface_point(s).is_some_and(|p| (p.y - 0.1).abs() < 1e-4);
    let surfels: Vec<u32> = (0..surface.len() as u32).filter(|&s| top(s)).collect();
    let triangle = surface.triangles().iter().position(|t| t.iter().all(|&s| top(s))).ok_or("no triangle")?;
    let inside = Site::Face { body, triangle: triangle as u32, weights: [0.5, 0.2, 0.3] };
    let weight = view.mass() * G;
    let points = [Site::Surfel { body, surfel: surfels[0] }, Site::Surfel { body, surfel: surfels[8] }, inside];
    let anchors = w.add_attachment(Attachment::new(points.map(|p| (p, AttachTarget::Here(None)))))?;
    run(&mut w, 300);
    let f = force(&w, anchors);
    assert!((f - Vec3::Y * weight).length() < 5e-3 * weight, "{f} of {weight}");
    Ok(())
}

#[test]
fn a_node_attached_to_a_rigid_body_conserves_linear_and_angular_momentum() -> Outcome {
    let mut w = world(false)?;
    let brick = w.add_rigid(
        RigidBody::dynamic()
            .shape(Shape::cuboid(0.3, 0.1, 0.2))
            .mass(2.0)
            .spin([0.5, 1.0, -2.0])
            .velocity([0.1, 0.0, 0.0]),
    )?;
    let dust = w.add_particles(Particles::new(vec![Vec3::new(0.4, 0.2, 0.1)]).mass(0.5).velocity([0.0, 0.3, 1.0]))?;
    let anchor = w.add_attachment(Attachment::anchor(node(dust, 0), Some(brick)))?;
    let (p, l) = (momentum(&w), spin(&w));
    run(&mut w, 120);
    assert!((momentum(&w) - p).length() < 1e-5, "{} {p}", momentum(&w));
    // the lever arms of both sides end at the node: angular momentum is conserved except for the rotation of the
    // inertia within a substep
    assert!((spin(&w) - l).length() < 2e-3 * l.length(), "{} {l}", spin(&w));
    let gap = w.site_position(&node(dust, 0))? - w.body(brick)?.pose()?.point(Vec3::new(0.4, 0.2, 0.1));
    assert!(gap.length() < 1e-3, "{gap}");
    assert!(carried(&w, anchor).is_some());
    Ok(())
}

#[test]
fn an_anchor_breaks_above_its_force_and_not_below() -> Outcome {
    for (limit, breaks) in [(19.0, true), (20.5, false)] {
        let mut w = world(true)?;
        let drop = w.add_particles(Particles::new(vec![Vec3::ZERO]).mass(2.0))?;
        let anchor = w.add_attachment(Attachment::anchor(node(drop, 0), None).break_force(limit))?;
        run(&mut w, 60);
        assert_eq!(w.is_broken(anchor)?, breaks);
        assert_eq!(w.body(drop)?.center_of_mass().y < -0.5, breaks);
    }
    Ok(())
}

#[test]
fn the_displacement_of_a_spring_anchor_is_weight_over_stiffness() -> Outcome {
    let mut w = world(true)?;
    let drop = w.add_particles(Particles::new(vec![Vec3::ZERO]).mass(2.0))?;
    w.add_attachment(Attachment::anchor(node(drop, 0), None).spring(1000.0, 60.0))?;
    run(&mut w, 240);
    let sag = -w.body(drop)?.center_of_mass().y;
    assert!((sag - 2.0 * G / 1000.0).abs() < 1e-3 * sag, "{sag}");
    Ok(())
}

/// A rope of `count` nodes down from the origin, the first one pinned, a load on the last.
fn rope(world: &mut World, count: u32, length: Real, load: Real) -> Result<BodyId, Error> {
    let points: Vec<Vec3> = (0..count).map(|k| Vec3::Y * (-length * k as Real / (count - 1) as Real)).collect();
    let mut masses = vec![0.02; count as usize];
    masses[count as usize - 1] += load;
    world.add_particles(Particles::new(points).masses(masses).pinned([0]))
}

#[test]
fn a_rope_of_springs_stretches_by_tension_over_stiffness_in_every_link() -> Outcome {
    // a load of fifty nodes on stiff springs: with one sweep per substep from the previous impulses the oscillation
    // would grow
    let mut w = World::new(Settings { sweeps: 4, sleep_time: Real::INFINITY, ..Settings::default() })?;
    let (count, length, load) = (11, 1.0, 1.0);
    let body = rope(&mut w, count, length, load)?;
    let k = 5000.0;
    let links = w.add_distance_set(DistanceSet::chain(body, count).stiffness(k, 0.0, 50.0))?;
    run(&mut w, 600);
    let x = w.body(body)?.node_positions().to_vec();
    for link in 0..count as usize - 1 {
        let below = (count as usize - 1 - link) as Real * 0.02 + load;
        let tension = below * G;
        let stretch = (x[link + 1] - x[link]).length() - 0.1;
        let reported = -w.row_forces(links)?[link];
        assert!((reported - tension).abs() < 2e-3 * tension, "link {link}: {reported} of {tension}");
        assert!((stretch - tension / k).abs() < 0.01 * tension / k, "link {link}: {stretch} of {}", tension / k);
    }
    let most = carried(&w, links).map_or(0.0, |c| c.largest);
    assert!((most - (load + 0.2) * G).abs() < 0.01 * G, "{most}");
    Ok(())
}

#[test]
fn an_inextensible_rope_with_five_times_its_weight_keeps_its_length() -> Outcome {
    let mut w = World::new(Settings { substeps: 16, sweeps: 4, sleep_time: Real::INFINITY, ..Settings::default() })?;
    let body = rope(&mut w, 11, 1.0, 1.0)?;
    let links = w.add_distance_set(DistanceSet::chain(body, 11).pull_only())?;
    run(&mut w, 300);
    let end = w.body(body)?.node_positions()[10].y;
    // rows are as stiff as joints, springs of a quarter of the substep rate: each link elongates by T (1/m + 1/m')/ω²
    let omega = 2.0 * std::f64::consts::PI as Real * 0.25 / w.settings().h();
    let give: Real = (0..10).map(|k| (1.0 + 0.02 * (10 - k) as Real) * G * (2.0 / 0.02) / (omega * omega)).sum();
    assert!(-end - 1.0 < 1.05 * give && give < 6e-3, "{end} {give}");
    let top = -w.row_forces(links)?[0];
    assert!((top - 1.2 * G).abs() < 0.01 * 1.2 * G, "{top}");
    Ok(())
}

#[test]
fn a_free_rope_conserves_linear_and_angular_momentum() -> Outcome {
    let mut w = world(false)?;
    let points: Vec<Vec3> = (0..20).map(|k| Vec3::new(0.05 * k as Real, 0.0, 0.0)).collect();
    let body = w.add_particles(Particles::new(points).mass(0.1).velocity([0.3, 0.0, 0.1]))?;
    w.add_distance_set(DistanceSet::chain(body, 20))?;
    for k in 0..10 {
        w.step(&Input::none().with(Command::NodeForce { body, node: k, force: Vec3::new(0.0, 2.0, -1.0) }));
    }
    let (p, l) = (momentum(&w), spin(&w));
    run(&mut w, 120);
    assert!((momentum(&w) - p).length() < 2e-5 * p.length(), "{} {p}", momentum(&w));
    // rows act along the line between their nodes at the beginning of the substep
    assert!((spin(&w) - l).length() < 1e-3 * l.length(), "{} {l}", spin(&w));
    Ok(())
}

#[test]
fn a_slack_rope_and_a_push_only_strut_under_tension_exert_no_force() -> Outcome {
    for pull in [true, false] {
        let mut w = world(true)?;
        let body = w.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X * 0.5]).mass(1.0).pinned([0]))?;
        // a slack rope of one metre; a strut of 0.2 m that is pulled apart
        let strands = DistanceSet::new(body, [[0, 1]]);
        let strands = if pull { strands.lengths([1.0]).pull_only() } else { strands.lengths([0.2]).push_only() };
        let links = w.add_distance_set(strands)?;
        run(&mut w, 15);
        let t = w.time() as Real;
        let x = w.body(body)?.node_positions()[1];
        let h = w.settings().h();
        // free fall by symplectic Euler: ½ g t (t + h)
        let want = -0.5 * G * t * (t + h);
        assert!((x.y - want).abs() < 1e-4 && x.x == 0.5, "{x} {want}");
        assert_eq!(w.row_forces(links)?[0], 0.0);
    }
    Ok(())
}

#[test]
fn compression_has_a_separate_stiffness() -> Outcome {
    for (compression, up) in [(500.0, true), (4000.0, true), (500.0, false)] {
        let mut w = world(true)?;
        // a load on top of a strut, or below it
        let end = if up { Vec3::Y } else { -Vec3::Y };
        let body = w.add_particles(Particles::new(vec![Vec3::ZERO, end]).mass(1.0).pinned([0]))?;
        w.add_distance_set(DistanceSet::chain(body, 2).stiffness(2000.0, compression, 60.0))?;
        // not for long: a load on a strut is unstable
        run(&mut w, 60);
        let length = w.body(body)?.node_positions()[1].length();
        let want = if up { 1.0 - G / compression } else { 1.0 + G / 2000.0 };
        assert!((length - want).abs() < 1e-4, "{length} {want}");
    }
    Ok(())
}

#[test]
fn strands_slip_above_their_strength_and_break_above_their_break_force() -> Outcome {
    let mut w = world(true)?;
    let body = w.add_particles(Particles::new(vec![Vec3::ZERO, -Vec3::Y]).mass(1.0).pinned([0]))?;
    w.add_distance_set(DistanceSet::chain(body, 2).strength(0.5 * G, 0.0))?;
    run(&mut w, 30);
    // half of the weight is carried: it falls with half of gravity
    let t = w.time() as Real;
    let fallen = -1.0 - w.body(body)?.node_positions()[1].y;
    assert!((fallen - 0.25 * G * t * t).abs() < 0.01 * fallen, "{fallen}");
    let mut w = world(true)?;
    let body = rope(&mut w, 5, 1.0, 2.0)?;
    let links = w.add_distance_set(DistanceSet::chain(body, 5).break_force(2.0 * G))?;
    run(&mut w, 10);
    assert!(w.is_broken(links)?);
    Ok(())
}

/// Two triangles on a common edge of length 1 along x, each `height` high.
fn hinge_points(height: Real) -> Vec<Vec3> {
    vec![Vec3::ZERO, Vec3::X, Vec3::new(0.5, 0.0, -height), Vec3::new(0.5, 0.0, height)]
}

#[test]
fn a_fold_vibrates_with_the_frequency_of_its_stiffness() -> Outcome {
    let (height, mass, stiffness) = (0.4, 0.5, 2.0);
    let settings = Settings { gravity: Vec3::ZERO, substeps: 20, sleep_time: Real::INFINITY, ..Settings::default() };
    let mut w = World::new(settings)?;
    let body = w.add_particles(Particles::new(hinge_points(height)).mass(mass).pinned([0, 1]))?;
    w.add_bending(Bending::new(body, [[0, 1, 2, 3]], stiffness))?;
    // else the motion of the flaps, along tangents instead of circles, would widen them
    w.add_distance_set(DistanceSet::new(body, [[0, 2], [1, 2], [0, 3], [1, 3]]))?;
    let push = |node: u32| Command::NodeForce { body, node, force: Vec3::Y * 0.5 };
    w.step(&Input::none().with(push(2)).with(push(3)));
    // both flaps up by y: θ = 2y/height, ½ k θ² against 2·½ m ẏ², k = stiffness · 1²/(2 · ½ · 1 · height)
    let k = stiffness / height;
    let omega = (2.0 * k / (mass * height * height)).sqrt();
    let (mut crossings, mut last, mut first, mut end) = (0, 0.0, 0.0, 0.0);
    for _ in 0..600 {
        w.step(&Input::none());
        let y = w.body(body)?.node_positions()[2].y;
        if last < 0.0 && y >= 0.0 {
            let dt = w.settings().dt;
            end = w.time() as Real - dt * y / (y - last);
            if crossings == 0 {
                first = end;
            }
            crossings += 1;
        }
        last = y;
    }
    assert!(crossings > 5, "{crossings}");
    let measured = 2.0 * std::f64::consts::PI as Real * (crossings - 1) as Real / (end - first);
    assert!((measured - omega).abs() < 1e-3 * omega, "{measured} {omega}");
    Ok(())
}

/// A strip of `cells` squares of side `a` along x.
fn strip(cells: u32, a: Real) -> TriMesh {
    let mut mesh = TriMesh::default();
    for k in 0..=cells {
        for z in [-0.5, 0.5] {
            mesh.vertices.push(Vec3::new(k as Real * a, 0.0, z * a));
        }
    }
    for k in 0..cells {
        let [p, q, r, s] = [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3];
        mesh.triangles.extend([[p, q, s], [p, s, r]]);
    }
    mesh
}

#[test]
fn the_deflection_of_a_clamped_strip_agrees_with_the_statics_of_its_folds() -> Outcome {
    let (cells, a, stiffness, load) = (9, 0.1, 0.5, 0.002);
    let settings = Settings { gravity: Vec3::ZERO, sweeps: 20, sleep_time: Real::INFINITY, ..Settings::default() };
    let mut w = World::new(settings)?;
    let mesh = strip(cells, a);
    let count = mesh.vertices.len() as u32;
    let body = w.add_particles(Particles::new(mesh.vertices.clone()).mass(0.01).pinned([0, 1, 2, 3]))?;
    w.add_distance_set(DistanceSet::new(body, mesh.edges()))?;
    w.add_bending(Bending::new(body, mesh.folds(), stiffness).damping(0.05))?;
    for _ in 0..900 {
        let push = |node: u32| Command::NodeForce { body, node, force: Vec3::Y * (0.5 * load) };
        w.step(&Input::none().with(push(count - 2)).with(push(count - 1)));
    }
    let x = w.body(body)?.node_positions();
    let tip = 0.5 * (x[count as usize - 2].y + x[count as usize - 1].y);
    // unit load theorem: every fold rotates by its moment over its stiffness; transverse folds have D |e|²/a² = D and
    // the lever arms 1a ... 8a, diagonals 2D, the lever arms in between, and the component of the moment along them
    let arm = |k: u32| (k as Real + 1.0) * a;
    let across: Real = (0..cells - 1).map(|k| arm(k) * arm(k)).sum();
    let diagonal: Real = (0..cells - 1).map(|k| (arm(k) - 0.5 * a) * (arm(k) - 0.5 * a)).sum();
    let want = load / stiffness * (across + 0.25 * diagonal);
    assert!((tip - want).abs() < 0.01 * want, "{tip} {want}");
    // without its diagonals it is a beam of EI = D·width, clamped in the middle of the cell before the first free fold
    let length = (cells as Real - 0.5) * a;
    let beam = load * length.powi(3) / (3.0 * stiffness * a);
    assert!((load / stiffness * across - beam).abs() < 0.01 * beam);
    Ok(())
}

#[test]
fn the_printed_row_of_the_paper_does_not_resist_bending_of_a_flat_sheet() -> Outcome {
    for (law, bends) in [(BendLaw::Printed, true), (BendLaw::Angle, false)] {
        let mut w = world(true)?;
        let body = w.add_particles(Particles::new(hinge_points(0.4)).mass(0.1).pinned([0, 1, 2]))?;
        w.add_distance_set(DistanceSet::new(body, [[0, 3], [1, 3]]))?;
        w.add_bending(Bending::new(body, [[0, 1, 2, 3]], 1e3).law(law))?;
        run(&mut w, 20);
        let sag = -w.body(body)?.node_positions()[3].y;
        assert!(if bends { sag > 0.02 } else { sag < 1e-3 }, "{law:?}: {sag}");
    }
    Ok(())
}

#[test]
fn the_force_of_a_seam_between_two_jellies_is_the_weight_below_it() -> Outcome {
    let mut w = world(true)?;
    let size = Vec3::splat(0.2);
    let mesh = TetMesh::block([2, 2, 2], size)?;
    let matter = ElasticMaterial::new(1e5, 0.3, 1000.0).damping(0.05);
    let upper = SoftBody::corotational(mesh.clone(), matter).pin_region([-1.0, 0.09, -1.0], [1.0, 1.0, 1.0]);
    let upper = w.add_soft(upper)?;
    // moved by a third of a cell along x: its points are inside the triangles of the other
    let lower = w.add_soft(SoftBody::corotational(mesh, matter).at([0.03, -0.2, 0.01]))?;
    let pairs: Vec<_> = w.seam(lower, upper, 0.01)?;
    assert!(pairs.len() >= 4, "{}", pairs.len());
    let seam = w.add_attachment(Attachment::stitch(pairs.clone()))?;
    let weight = w.body(lower)?.mass() * G;
    run(&mut w, 400);
    let f = force(&w, seam);
    assert!((f - Vec3::Y * weight).length() < 0.01 * weight, "{f} of {weight}");
    for (a, b) in pairs {
        let gap = (w.site_position(&a)? - w.site_position(&b)?).length();
        assert!(gap < 1e-3, "{gap}");
    }
    Ok(())
}

#[test]
fn stitched_particles_conserve_momentum_and_move_together() -> Outcome {
    let mut w = world(false)?;
    let a = w.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X]).mass(1.0).velocity([1.0, 0.5, 0.0]))?;
    let b = w.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X]).mass(3.0))?;
    w.add_attachment(Attachment::stitch([(node(a, 0), node(b, 0)), (node(a, 1), node(b, 1))]))?;
    run(&mut w, 60);
    // inelastic: one quarter of the velocity for all
    for body in [a, b] {
        let v = w.body(body)?.velocity();
        assert!((v - Vec3::new(0.25, 0.125, 0.0)).length() < 1e-5, "{v}");
    }
    assert!((w.body(a)?.center_of_mass() - w.body(b)?.center_of_mass()).length() < 1e-4);
    Ok(())
}

/// A spherical membrane of springs, without gravity.
fn balloon(w: &mut World, law: VolumeLaw) -> Result<(BodyId, ConstraintId, TriMesh), Box<dyn std::error::Error>> {
    let skin = TriMesh::ball(0.1, 4)?;
    let body = w.add_particles(Particles::new(skin.vertices.clone()).mass(0.002).damping(2.0))?;
    w.add_distance_set(DistanceSet::new(body, skin.edges()).stiffness(200.0, 200.0, 0.05))?;
    let gas = w.add_volume(Volume::new(body, law).triangles(skin.triangles.clone()))?;
    Ok((body, gas, skin))
}

fn volume_of(world: &World, body: BodyId, skin: &TriMesh) -> Result<Real, Error> {
    let vertices = world.body(body)?.node_positions().to_vec();
    Ok(TriMesh { vertices, triangles: skin.triangles.clone() }.volume())
}

#[test]
fn pressure_times_volume_of_a_balloon_is_constant() -> Outcome {
    let mut w = world(false)?;
    let (outside, pressure) = (1000.0, 600.0);
    let (body, gas, skin) = balloon(&mut w, VolumeLaw::Gas { pressure, volume: None, outside })?;
    let start = volume_of(&w, body, &skin)?;
    let mut grown: Real = 0.0;
    for step in 0..400 {
        // squeezed between two fingers for a while
        let mut input = Input::none();
        for (n, x) in skin.vertices.iter().enumerate().filter(|(_, x)| step >= 200 && x.x.abs() > 0.085) {
            let force = Vec3::X * (-0.3 * x.x.signum());
            input = input.with(Command::NodeForce { body, node: n as u32, force });
        }
        w.step(&input);
        let volume = volume_of(&w, body, &skin)?;
        if step == 199 {
            assert!(momentum(&w).length() < 1e-5, "{}", momentum(&w));
        }
        if step % 200 == 199 {
            let product = (w.row_forces(gas)?[0] + outside) * volume;
            let want = (pressure + outside) * start;
            assert!((product - want).abs() < 2e-3 * want, "step {step}: {product} {want}");
        }
        grown = grown.max(volume / start);
    }
    assert!(grown > 1.02, "the membrane expanded: {grown}");
    Ok(())
}

#[test]
fn a_constant_pressure_is_reported_and_has_no_net_force() -> Outcome {
    let mut w = world(false)?;
    let (_, gas, _) = balloon(&mut w, VolumeLaw::Pressure(300.0))?;
    run(&mut w, 60);
    assert!((w.row_forces(gas)?[0] - 300.0).abs() < 0.1, "{:?}", w.row_forces(gas)?);
    assert!(momentum(&w).length() < 1e-5, "{}", momentum(&w));
    Ok(())
}

#[test]
fn a_constrained_volume_changes_under_load_by_its_compliance_only() -> Outcome {
    for compliance in [0.0, 2e-8] {
        // the row is as stiff as that of a joint, by the substep: V changes by p J M⁻¹Jᵀ/ω²
        let mut w = World::new(Settings { substeps: 16, ..world(false)?.settings().clone() })?;
        let (body, gas, skin) = balloon(&mut w, VolumeLaw::Held { volume: None, compliance })?;
        let start = volume_of(&w, body, &skin)?;
        for _ in 0..300 {
            let mut input = Input::none();
            for (n, x) in skin.vertices.iter().enumerate().filter(|(_, x)| x.x.abs() > 0.085) {
                let force = Vec3::X * (-0.3 * x.x.signum());
                input = input.with(Command::NodeForce { body, node: n as u32, force });
            }
            w.step(&input);
        }
        let (now, pressure) = (volume_of(&w, body, &skin)?, w.row_forces(gas)?[0]);
        let want = start - compliance * pressure;
        assert!(pressure > 1.0 && (now - want).abs() < 1e-3 * start, "{now} {want} at {pressure} Pa");
    }
    Ok(())
}

#[test]
fn a_balloon_bursts_above_its_pressure() -> Outcome {
    for (burst, bursts) in [(500.0, true), (700.0, false)] {
        let mut w = world(false)?;
        let (body, _, skin) = balloon(&mut w, VolumeLaw::Pressure(1.0))?;
        let law = VolumeLaw::Pressure(600.0);
        let gas = w.add_volume(Volume::new(body, law).triangles(skin.triangles).burst(burst))?;
        run(&mut w, 5);
        assert_eq!(w.is_broken(gas)?, bursts);
    }
    Ok(())
}

/// A sheet of weak springs in air.
fn sheet(air: Air) -> Result<SoftBody, Box<dyn std::error::Error>> {
    let mesh = TriMesh::sheet([4, 4], [0.5, 0.5], Diagonals::Alternating)?;
    let params = fem::MembraneParams { thickness: 1e-3, density: 200.0, ..Default::default() };
    Ok(SoftBody::new(Geometry::Sheet(mesh), SoftModel::Membrane(params)).air(air))
}

#[test]
fn the_drag_of_a_falling_sheet_at_terminal_velocity_is_its_weight() -> Outcome {
    let mut w = world(true)?;
    let air = Air { density: 1.2, normal: 1.3, tangential: 0.0, wind: Vec3::ZERO };
    let body = w.add_soft(sheet(air)?)?;
    run(&mut w, 240);
    let mass = w.body(body)?.mass();
    let want = (2.0 * mass * G / (1.2 * 1.3 * 0.25)).sqrt();
    let v = w.body(body)?.velocity();
    assert!((v.y + want).abs() < 0.01 * want, "{v} {want}");
    Ok(())
}

#[test]
fn wind_accelerates_a_sheet_by_normal_and_tangential_drag() -> Outcome {
    // parallel to the wind: only tangential friction; F = ½ ρ C_t A u² at the start
    let mut w = world(false)?;
    let air = Air { density: 1.2, normal: 1.0, tangential: 0.05, wind: Vec3::X * 10.0 };
    let body = w.add_soft(sheet(air)?)?;
    w.step(&Input::none());
    let got = momentum(&w).x / w.settings().dt;
    let want = 0.5 * 1.2 * 0.05 * 0.25 * 100.0;
    assert!((got - want).abs() < 0.02 * want, "{got} {want}");
    // a storm normal to a light sheet: it approaches the speed of the wind and never exceeds it
    let mut w = world(false)?;
    let air = Air { density: 1.2, normal: 1.2, tangential: 0.05, wind: Vec3::Y * 50.0 };
    let body_b = w.add_soft(sheet(air)?)?;
    for _ in 0..120 {
        w.step(&Input::none());
        assert!(w.body(body_b)?.velocity().y < 50.1);
    }
    assert!(w.body(body_b)?.velocity().y > 45.0);
    w.set_air(body_b, None)?;
    assert!(w.body(body)?.velocity().is_finite());
    Ok(())
}

#[test]
fn a_patch_joint_fixes_the_end_of_a_jelly() -> Outcome {
    let size = Vec3::new(0.3, 0.1, 0.1);
    for kind in [PatchKind::Ball, PatchKind::Hinge, PatchKind::Fixed] {
        let mut w = world(true)?;
        let body = jelly(&mut w, [6, 2, 2], size, Vec3::ZERO)?;
        let end = face(&w, body, -0.15)?;
        let joint = match kind {
            PatchKind::Ball => PatchJoint::ball(body, end.clone(), None),
            PatchKind::Hinge => PatchJoint::hinge(body, end.clone(), None, Vec3::Z),
            PatchKind::Fixed => PatchJoint::fixed(body, end.clone(), None),
        };
        let joint = w.add_patch_joint(joint)?;
        let weight = w.body(body)?.mass() * G;
        let mut lowest: Real = 0.0;
        for _ in 0..40 {
            w.step(&Input::none());
            lowest = lowest.min(w.body(body)?.center_of_mass().y);
        }
        let middle = |w: &World| -> Result<Vec3, Error> {
            let view = w.body(body)?;
            Ok(end.iter().filter_map(|&s| view.surface_point(s)).sum::<Vec3>() / end.len() as Real)
        };
        let moved = middle(&w)? - Vec3::new(-0.15, 0.0, 0.0);
        assert!(moved.length() < 2e-3, "{kind:?}: the centre moved by {moved}");
        let c = w.body(body)?.center_of_mass();
        if kind == PatchKind::Fixed {
            // a beam: it sags, and the joint carries its weight and moment
            run(&mut w, 400);
            let load = carried(&w, joint).ok_or("no force")?;
            let lever = w.body(body)?.center_of_mass().x + 0.15;
            assert!((load.force.y - weight).abs() < 0.01 * weight, "{load:?} {weight}");
            assert!((load.torque.z - weight * lever).abs() < 0.03 * weight * lever, "{load:?} {}", weight * lever);
        } else {
            // it swings through the vertical: half of its length below the joint
            assert!(lowest < -0.13 && c.z.abs() < 5e-3, "{kind:?} swings: {lowest} {c}");
        }
    }
    Ok(())
}

#[test]
fn a_patch_hinge_resists_tilt_and_a_patch_ball_joint_does_not() -> Outcome {
    for hinge in [true, false] {
        let mut w = world(true)?;
        let body = jelly(&mut w, [6, 2, 2], Vec3::new(0.3, 0.1, 0.1), Vec3::ZERO)?;
        let end = face(&w, body, -0.15)?;
        // the axis is vertical: gravity would tilt it
        let joint = if hinge { PatchJoint::hinge(body, end, None, Vec3::Y) } else { PatchJoint::ball(body, end, None) };
        w.add_patch_joint(joint)?;
        run(&mut w, 60);
        let c = w.body(body)?.center_of_mass();
        assert_eq!(c.y > -0.06, hinge, "{c}");
    }
    Ok(())
}

#[test]
fn a_patch_joint_to_a_free_rigid_body_conserves_linear_and_angular_momentum() -> Outcome {
    let mut w = world(false)?;
    let body = jelly(&mut w, [3, 2, 2], Vec3::new(0.3, 0.1, 0.1), Vec3::ZERO)?;
    let end = face(&w, body, -0.15)?;
    let brick = w.add_rigid(
        RigidBody::dynamic()
            .shape(Shape::cuboid(0.1, 0.1, 0.1))
            .mass(3.0)
            .at([-0.26, 0.0, 0.0])
            .velocity([0.0, 0.2, 0.1]),
    )?;
    w.add_patch_joint(PatchJoint::fixed(body, end, Some(brick)))?;
    let (p, l) = (momentum(&w), spin(&w));
    run(&mut w, 60);
    assert!((momentum(&w) - p).length() < 1e-4 * p.length(), "{} {p}", momentum(&w));
    assert!((spin(&w) - l).length() < 0.02 * l.length(), "{} {l}", spin(&w));
    Ok(())
}

/// One of every kind of constraint, on particles and on soft bodies.
fn mixture() -> Result<World, Box<dyn std::error::Error>> {
    let mut w = world(true)?;
    w.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).at([0.0, -1.0, 0.0]))?;
    let brick = w.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).at([-0.3, 1.0, 0.0]))?;
    let block = jelly(&mut w, [2, 2, 2], Vec3::splat(0.2), Vec3::Y)?;
    let end = face(&w, block, -0.1)?;
    w.add_patch_joint(PatchJoint::hinge(block, end, Some(brick), Vec3::Z))?;
    let mesh = TriMesh::sheet([6, 6], [0.6, 0.6], Diagonals::Alternating)?;
    let cloth = w.add_particles(Particles::new(mesh.vertices.clone()).mass(0.01))?;
    let gone = w.add_attachment(Attachment::anchor(node(cloth, 5), None))?;
    w.add_distance_set(DistanceSet::new(cloth, mesh.edges()).stiffness(500.0, 20.0, 0.01))?;
    w.add_bending(Bending::new(cloth, mesh.folds(), 1e-4).damping(0.01))?;
    w.add_attachment(Attachment::new([
        (node(cloth, 0), AttachTarget::Here(None)),
        (node(cloth, 6), AttachTarget::Here(None)),
    ]))?;
    w.remove_constraint(gone)?;
    balloon(&mut w, VolumeLaw::Gas { pressure: 200.0, volume: None, outside: 1e4 })?;
    w.add_attachment(Attachment::pair(node(cloth, 48), Site::Surfel { body: block, surfel: 3 }).spring(20.0, 0.1))?;
    w.add_soft(sheet(Air::default())?.at([3.0, 0.0, 0.0]))?;
    Ok(w)
}

#[test]
fn a_rebuilt_world_continues_bitwise_identically_with_and_without_lanes() -> Outcome {
    let mut w = mixture()?;
    run(&mut w, 20);
    let mut twin = World::build(w.blueprint()?, w.state())?;
    let mut narrow = World::build(w.blueprint()?, w.state())?;
    narrow.set_settings(Settings { lanes: false, threads: 2, ..w.settings().clone() })?;
    assert_eq!(twin.hash(), w.hash());
    for _ in 0..40 {
        for world in [&mut w, &mut twin, &mut narrow] {
            world.step(&Input::none());
        }
        assert_eq!(twin.state().first_difference(w.state()), None);
        assert_eq!(narrow.state().first_difference(w.state()), None);
    }
    assert!(w.report().faults.is_empty());
    Ok(())
}

#[test]
fn impulses_of_other_constraints_are_kept_when_one_is_added_or_removed() -> Outcome {
    let mut w = world(true)?;
    let body = rope(&mut w, 6, 1.0, 1.0)?;
    let first = w.add_attachment(Attachment::anchor(node(body, 2), None).spring(1.0, 0.0))?;
    w.add_distance_set(DistanceSet::chain(body, 6))?;
    run(&mut w, 60);
    let tail = w.state().row_impulses[3..].to_vec();
    w.remove_constraint(first)?;
    assert_eq!(w.state().row_impulses, tail);
    w.add_distance(Distance::rope(node(body, 0), node(body, 5), 2.0))?;
    assert_eq!(w.state().row_impulses.len(), 6);
    // the freed slot is used again: its row comes before the others
    assert_eq!(w.state().row_impulses[1..], tail);
    run(&mut w, 1);
    Ok(())
}

#[test]
fn invalid_constraints_are_rejected_by_name() -> Outcome {
    let mut w = world(true)?;
    let body = rope(&mut w, 4, 1.0, 1.0)?;
    let before = w.hash();
    let message = |r: Result<ConstraintId, Error>| r.err().map_or(String::new(), |e| e.to_string());
    assert!(message(w.add_attachment(Attachment::anchor(node(body, 9), None))).contains("node 9"));
    let site = Site::Face { body, triangle: 0, weights: [1.0, 0.0, 0.0] };
    assert!(message(w.add_attachment(Attachment::anchor(site, None))).contains("triangle 0"));
    let nowhere = Attachment::pair(Site::World(Vec3::ZERO), Site::World(Vec3::X));
    assert!(message(w.add_attachment(nowhere)).contains("world"));
    assert!(message(w.add_distance_set(DistanceSet::new(body, [[0, 0]]))).contains("twice"));
    assert!(message(w.add_distance_set(DistanceSet::new(body, [[0, 7]]))).contains("node 7"));
    assert!(message(w.add_distance_set(DistanceSet::chain(body, 4).lengths([1.0]))).contains("1 lengths"));
    assert!(message(w.add_distance_set(DistanceSet::chain(body, 4).stiffness(-1.0, 0.0, 0.0))).contains("stretch"));
    assert!(message(w.add_bending(Bending::new(body, [[0, 1, 2, 3]], 0.0))).contains("stiffness"));
    assert!(message(w.add_bending(Bending::new(body, [[0, 1, 2, 3]], 1.0))).contains("shape"));
    assert!(message(w.add_volume(Volume::held(body))).contains("closed"));
    assert!(message(w.add_patch_joint(PatchJoint::hinge(body, [0, 1, 2], None, Vec3::X))).contains("line"));
    assert_eq!(w.hash(), before);
    Ok(())
}
