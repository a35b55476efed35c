//! diagnostics
use sinew::*;

fn momentum(world: &World, body: BodyId) -> Vec3 {
    let b = world.body(body).unwrap();
    let mut s = [0.0f64; 3];
    for (v, m) in b.node_velocities().iter().zip(b.node_masses()) {
        for k in 0..3 { s[k] += f64::from(v[k]) * f64::from(*m); }
    }
    Vec3::new(s[0] as Real, s[1] as Real, s[2] as Real)
}
fn contact_force(world: &World, body: BodyId) -> Vec3 {
    world.report().pairs.iter().fold(Vec3::ZERO, |sum, p| match () {
        () if p.b == body => sum + p.force,
        () if p.a == body => sum - p.force,
        () => sum,
    })
}

#[test]
fn diag_readout() {
    for (limit, bend, iterations) in [(0.03, 1e-5, 8), (Real::INFINITY, 1e-5, 8), (0.03, 0.0, 8), (0.03, 0.0, 1), (Real::INFINITY, 0.0, 1)] {
        let sheet = pbd::Sheet { stretch: 1e5, bend, density: 0.25, compression: 1e-4, skip_stiffness: 1e5, stretch_limit: limit };
        for (name, shape) in [("ball", Shape::ball(0.2)), ("box", Shape::cuboid(0.15, 0.15, 0.15))] {
            let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
            world.add_rigid(RigidBody::fixed().shape(shape).material(SurfaceMaterial::friction(0.4))).unwrap();
            let mesh = TriMesh::sheet([14, 14], [0.7, 0.7], Diagonals::Alternating).unwrap();
            let model = SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params { iterations, ..pbd::Params::default() });
            let body = SoftBody::new(Geometry::Sheet(mesh), model).thickness(2e-3).material(SurfaceMaterial::friction(0.4));
            let body = world.add_soft(body.at([0.02, 0.21, 0.01])).unwrap();
            let mass = world.body(body).unwrap().mass();
            let dt = world.settings().dt;
            let mut before = momentum(&world, body);
            let (mut worst, mut total) = (0.0 as Real, Vec3::ZERO);
            for step in 0..90 {
                world.step(&Input::none());
                let after = momentum(&world, body);
                let f = contact_force(&world, body);
                let r = after - before - (f + world.settings().gravity * mass) * dt;
                total += r;
                if r.length() > 1e-3 * mass * 9.81 * dt && step < 100 { println!("  {name} {step}: {r} f {f} cc {} c {}", world.state().cloth_contacts.len(), world.state().contacts.len()); }
                worst = worst.max(r.length());
                before = after;
            }
            println!("{name} limit {limit} bend {bend} it {iterations}: worst {} of weight*dt, total {}", worst / (mass * 9.81 * dt), total / (mass * 9.81 * dt));
        }
    }
}

#[test]
fn diag_pinch() {
    for (stretch_kind, bend, iterations) in [(2000.0, 1e-5, 8u32), (2000.0, 0.0, 1)] {
        for half in [0.5e-3, 3e-3] {
            for substeps in [4, 16] {
                let mut world = World::new(Settings { gravity: Vec3::ZERO, substeps, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
                let rough = SurfaceMaterial::friction(0.5);
                let plate = 0.005;
                let fixed = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.05, plate, 0.05)).at([0.0, -plate, 0.0]).material(rough)).unwrap();
                let mesh = TriMesh::sheet([6, 20], [0.06, 0.2], Diagonals::Alternating).unwrap();
                let sheet = pbd::Sheet { stretch: stretch_kind, bend, density: 0.2, compression: 0.1, skip_stiffness: 0.0, stretch_limit: Real::INFINITY };
                let model = SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params { iterations, ..Default::default() });
                let id = world.add_soft(SoftBody::new(Geometry::Sheet(mesh), model).thickness(half).material(rough).at([0.0, half, 0.0])).unwrap();
                let top = world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.05, plate, 0.05)).mass(0.05).at([0.0, 2.0 * half + plate, 0.0]).material(rough)).unwrap();
                let y0 = world.body(id).unwrap().node_positions()[70];
                println!("mesh node0 {} mid {y0}", world.body(id).unwrap().node_positions()[0]);
                let (mut fsum, mut n) = (0.0, 0);
                let (mut lo, mut hi) = (Real::INFINITY, -Real::INFINITY);
                for step in 0..300 {
                    let force = Vec3::new(0.0, -0.5, 0.0);
                    let rep = world.step(&Input::none().with(Command::Force { body: top, force, torque: Vec3::ZERO }));
                    let faults = rep.faults.len();
                    let pen = rep.penetration;
                    let con = rep.counts.contacts;
                    let f: Real = world.report().pairs.iter().filter(|p| (p.a == top && p.b == id) || (p.a == id && p.b == top)).map(|p| p.force.y.abs()).sum();
                    let g: Real = world.report().pairs.iter().filter(|p| (p.a == fixed && p.b == id) || (p.a == id && p.b == fixed)).map(|p| p.force.y.abs()).sum();
                    let b = world.body(top).unwrap();
                    let y = b.position().y - plate;
                    if step >= 120 { fsum += f; n += 1; lo = lo.min(y); hi = hi.max(y); }
                    if step % 20 == 0 || step < 10 || faults > 0 { println!("   {step}: y {y} vy {} f {f} g {g} pen {pen} n {con} faults {faults} cloth {}", b.velocity().y, world.body(id).unwrap().position()); }
                }
                println!("half {half} sub {substeps} it {iterations}: force {} swing {} sheet at {}", fsum / n as Real / 0.5, hi - lo, world.body(id).unwrap().position());
            }
        }
    }
}

#[test]
fn diag_rope_fall() {
    for (dt, substeps, iterations) in [(1.0/60.0, 4, 8), (1.0/60.0, 4, 64), (1.0 / 60.0, 16, 8), (1.0 / 240.0, 16, 8)] {
        let mut world = World::new(Settings { dt, substeps, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
        let cord = pbd::Cord { stretch: 5e3, bend: 0.0, density: 0.1, compression: 1.0 };
        let rope = Polyline::rope(Vec3::ZERO, Vec3::X, 32).unwrap();
        let model = SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params { iterations, ..Default::default() });
        let id = world.add_soft(SoftBody::new(Geometry::Rope(rope.points), model).pinned([0])).unwrap();
        let energy = |w: &World| { let b = w.body(id).unwrap(); let mut e = 0.0f64; for ((x, v), m) in b.node_positions().iter().zip(b.node_velocities()).zip(b.node_masses()) { e += f64::from(*m) * (0.5 * f64::from(v.length_squared()) + 9.81 * f64::from(x.y)); } e };
        let steps = (1.0 / dt) as u32;
        let mgl = 0.1 * 9.81 * 0.5;
        for k in 0..steps {
            world.step(&Input::none());
            if (k + 1) % (steps / 10) == 0 { println!("dt {dt} sub {substeps} it {iterations} t {:.2}: E/(MgL/2) {:.4} tip {}", (k + 1) as Real * dt, energy(&world) / mgl, world.body(id).unwrap().node_positions()[32]); }
        }
    }
}

#[test]
fn diag_capstan() {
    for (dt, substeps, iterations) in [(1.0/60.0, 4, 8), (1.0/60.0, 4, 64), (1.0 / 60.0, 16, 8), (1.0 / 240.0, 16, 8)] {
        for mu in [0.2, 0.4] {
            let mut world = World::new(Settings { dt, substeps, gravity: Vec3::ZERO, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
            let rough = SurfaceMaterial::friction(mu);
            let (r, links, tails) = (0.05 as Real, 24, 8);
            let pi = std::f64::consts::PI as Real;
            let link = r * pi / links as Real;
            let points: Vec<Vec3> = (0..=links + 2 * tails).map(|k| {
                let along = k as Real - tails as Real;
                let c = along.clamp(0.0, links as Real);
                let a = pi - c / links as Real * pi;
                let s = (along - c) * link;
                Vec3::new(r * a.cos() + s * a.sin(), r * a.sin() - s * a.cos(), 0.0)
            }).collect();
            let thin = 5e-4;
            let mid = r * (0.5 * pi / links as Real).cos();
            world.add_rigid(RigidBody::fixed().shape(Shape::cylinder(0.05, mid - thin)).turned(Quat::from_rotation_x(0.5 * pi)).material(rough)).unwrap();
            let cord = pbd::Cord { stretch: 1e3, bend: 0.0, density: 0.05, compression: 1.0 };
            let model = SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params { iterations, ..Default::default() });
            let last = points.len() as u32 - 1;
            let id = world.add_soft(SoftBody::new(Geometry::Rope(points), model).thickness(thin).material(rough)).unwrap();
            let steps = (4.0 / dt) as u32;
            let settle = (0.5 / dt) as u32;
            let mut start = 0.0;
            let mut slipped = None;
            for k in 0..steps {
                let t = if k < settle { 0.0 } else { (k - settle) as Real / (steps - settle) as Real };
                let ratio = 1.0 + 4.0 * t;
                let f = |node: u32, size: Real| Command::NodeForce { body: id, node, force: Vec3::new(0.0, -size, 0.0) };
                world.step(&Input::none().with(f(0, 1.0)).with(f(last, ratio)));
                let y = world.body(id).unwrap().node_positions()[0].y;
                if k == settle { start = y; }
                if k > settle && slipped.is_none() && y - start > 2e-3 { slipped = Some(ratio); }
                if k == settle || (k > settle && k % (steps / 16) == 0 && slipped.is_none()) {
                    let c = world.report().counts.contacts;
                    println!("   mu {mu} ratio {ratio:.2} y {:.5} end {:.5} n {c} force {}", y - start, world.body(id).unwrap().node_positions()[last as usize].y, contact_force(&world, id));
                }
            }
            println!("dt {dt} sub {substeps} it {iterations} mu {mu}: slips at {slipped:?}, right {:.2}", (mu * pi).exp());
        }
    }
}

const ALONG: u32 = 20;
const ACROSS: u32 = 18;
fn folded(gap: Real) -> TriMesh {
    let step = 0.02;
    let mut mesh = TriMesh::default();
    for i in 0..2 * ALONG {
        let (x, y) = if i < ALONG { (i, 0.0) } else { (2 * ALONG - 1 - i, gap) };
        let shift = if i < ALONG { 0.0 } else { 0.3 * step };
        mesh.vertices.extend((0..ACROSS).map(|j| Vec3::new(x as Real * step + shift, y, j as Real * step + shift)));
    }
    for i in 0..2 * ALONG - 1 {
        for j in 0..ACROSS - 1 {
            let a = i * ACROSS + j;
            mesh.triangles.extend([[a, a + 1, a + ACROSS + 1], [a, a + ACROSS + 1, a + ACROSS]]);
        }
    }
    mesh
}
#[test]
fn diag_creep() {
    for (substeps, dt) in [(20, 0.02), (4, 1.0 / 60.0), (16, 1.0 / 60.0)] {
    for degrees in [0.0, 10.0, 15.0, 20.0, 24.0, 30.0, 35.0, 40.0] {
        let tilt = (degrees as f64).to_radians() as Real;
        let gravity = Vec3::new(0.0, -9.81 * tilt.cos(), 9.81 * tilt.sin());
        let mut world = World::new(Settings { dt, substeps, gravity, sleep_time: Real::INFINITY, ..Settings::default() }).unwrap();
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(1.5))).unwrap();
        let sheet = pbd::Sheet { stretch: 1e5, bend: 0.0, density: 0.25, compression: 1e-2, skip_stiffness: 0.0, stretch_limit: 0.03 };
        let params = pbd::Params { iterations: 1, ..pbd::Params::default() };
        let mut mesh = folded(0.0045);
        // two separate layers
        mesh.triangles.retain(|t| t.iter().all(|n| *n < ALONG * ACROSS) || t.iter().all(|n| *n >= ALONG * ACROSS));
        let body = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(sheet), params)).material(SurfaceMaterial::friction(0.5)).thickness(2e-3);
        let id = world.add_soft(body.self_contact(true).at([0.0, 0.002, 0.0])).unwrap();
        let layers = |w: &World| { let b = w.body(id).unwrap(); let x = b.node_positions(); let v = b.node_velocities(); let n = (ALONG * ACROSS) as usize;
            let mean = |r: std::ops::Range<usize>| { let c = r.len() as f64; (x[r.clone()].iter().map(|x| f64::from(x.z)).sum::<f64>() / c, v[r].iter().map(|x| f64::from(x.z)).sum::<f64>() / c) };
            let (a, b) = (mean(0..n), mean(n..2 * n)); (b.0 - a.0, b.1 - a.1, a.0) };
        let t = |w: &mut World, s: Real| for _ in 0..(s / dt).round() as u32 { w.step(&Input::none()); };
        let mut line = String::new();
        let p0 = layers(&world);
        t(&mut world, 0.3); let p1 = layers(&world); t(&mut world, 0.2); let p2 = layers(&world); t(&mut world, 1.0); let p3 = layers(&world);
        let right = 9.81 * ((tilt as f64).sin() - 0.5 * (tilt as f64).cos()).max(0.0);
        line += &format!("rel z {:.6} {:.6} {:.6} {:.6}; acc 0.3-0.5 {:.4} right {right:.4}; creep {:.7} m/s; lower {:.5} resident cc {} c {}", p0.0, p1.0, p2.0, p3.0, (p2.1 - p1.1) / 0.2, p3.0 - p2.0, p3.2, world.state().cloth_contacts.len(), world.state().contacts.len());
        println!("sub {substeps} deg {degrees}: {line}");
    }
    }
}
