//! Compliance queries: laws of the response, equivalence with steps, and no effect on the world.

use sinew::*;

/// A fixed sequence of numbers in −1..1.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % 20_001) as Real / 10_000.0 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }

    fn turn(&mut self) -> Quat {
        Quat::from_xyzw(self.number(), self.number(), self.number(), 1.1).normalize()
    }
}

fn weightless() -> Settings {
    Settings { gravity: Vec3::ZERO, sleep_time: Real::INFINITY, ..Settings::default() }
}

/// Solved until rounding ends it.
fn exact() -> ComplianceOptions {
    ComplianceOptions { iterations: 2000, tolerance: 1e-6, ..Default::default() }
}

fn responses(world: &World, forces: &[SiteForce], options: ComplianceOptions) -> Result<Vec<SiteResponse>, Error> {
    let (mut scratch, mut out) = (ComplianceScratch::default(), Vec::new());
    world.compliance(forces, &options, &mut scratch, &mut out)?;
    Ok(out)
}

/// Displacement of a site by a force on it [m].
fn moved(world: &World, site: Site, force: Vec3, options: ComplianceOptions) -> Result<Vec3, Error> {
    Ok(responses(world, &[SiteForce { site, force }], options)?[0].displacement)
}

fn close(got: Vec3, want: Vec3, relative: Real, what: &str) {
    assert!((got - want).length() <= relative * want.length(), "{what}: {got} instead of {want}");
}

fn bar(cells: [u32; 3], size: Vec3) -> Result<TetMesh, Error> {
    TetMesh::block(cells, size).map_err(Error::from)
}

/// Every deformable model of a block, those that have the choice implicit, pinned at its lower x end.
fn held_blocks() -> Result<Vec<(&'static str, SoftBody)>, Error> {
    let (youngs_modulus, density) = (2e4, 1000.0);
    let elements = fem::Params { youngs_modulus, poisson_ratio: 0.3, density, damping: 0.002 };
    let solid = fem::SolidParams { youngs_modulus, poisson_ratio: 0.3, density, ..Default::default() };
    let ten = fem::SolidParams { elements: fem::Elements::Tet10, law: fem::Law::NeoHookean, ..solid };
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(youngs_modulus),
        mass: spring::Mass::Density(density),
        integrator: spring::Integrator::Implicit,
        ..Default::default()
    };
    let points = meshless::Params { youngs_modulus, density, scheme: meshless::Scheme::Implicit, ..Default::default() };
    let position = pbd::Solid { youngs_modulus, poisson_ratio: 0.3, density };
    let matching = shape_matching::Params { frequency: 20.0, ..Default::default() };
    let grain = oriented::Ellipsoid { radii: Vec3::splat(0.012), density };
    let particles = oriented::Params { frequency: 20.0, implicit: true, ..Default::default() };
    let models = [
        ("corotational", SoftModel::Corotational(elements)),
        ("solid, linear", SoftModel::Solid(solid)),
        ("solid, ten nodes", SoftModel::Solid(ten)),
        ("springs", SoftModel::Springs(springs)),
        ("meshless", SoftModel::Meshless(points, 0.0)),
        ("position based", SoftModel::Pbd(pbd::Structure::Solid(position), pbd::Params::default())),
        ("shape matching", SoftModel::ShapeMatching(density, shape_matching::Clusters::One, matching)),
        ("oriented", SoftModel::Oriented(grain, oriented::Groups::Links, particles)),
    ];
    let mut bodies = Vec::new();
    for (name, model) in models {
        let mesh = bar([4, 2, 2], Vec3::new(0.2, 0.1, 0.1))?;
        let geometry = match name {
            "oriented" => Geometry::Rope((0..6).map(|k| Vec3::X * (0.03 * k as Real - 0.1)).collect()),
            _ => Geometry::Tets(mesh),
        };
        bodies.push((name, SoftBody::new(geometry, model).pin_region([-1.0; 3], [-0.099, 1.0, 1.0])));
    }
    Ok(bodies)
}

/// Nodes of the free end.
fn far_nodes(world: &World, body: BodyId) -> Result<Vec<u32>, Error> {
    let x = world.body(body)?.node_positions();
    let most = x.iter().fold(Real::NEG_INFINITY, |most, x| most.max(x.x));
    Ok((0..x.len() as u32).filter(|&k| x[k as usize].x > most - 1e-3).collect())
}

#[test]
fn a_free_rigid_body_responds_with_its_mass_and_inertia_in_any_orientation() -> Result<(), Error> {
    let (mut draw, m): (_, Real) = (Draw(3), 1.7);
    let [a, b, c]: [Real; 3] = [0.3, 0.1, 0.05];
    let (r, l): (Real, Real) = (0.12, 0.5);
    let shapes = [
        (Shape::cuboid(a, b, c), Vec3::new(b * b + c * c, a * a + c * c, a * a + b * b) * (m / 3.0)),
        (Shape::ball(r), Vec3::splat(0.4 * m * r * r)),
        (Shape::cylinder(0.5 * l, r), {
            let side = m * (3.0 * r * r + l * l) / 12.0;
            Vec3::new(side, 0.5 * m * r * r, side)
        }),
    ];
    for (shape, inertia) in shapes {
        for _ in 0..20 {
            let mut world = World::new(weightless())?;
            let (turn, local, force) = (draw.turn(), draw.vector() * 0.3, draw.vector() * 5.0);
            let body = RigidBody::dynamic().shape(shape.clone()).mass(m).at(draw.vector()).turned(turn);
            let body = world.add_rigid(body.velocity(draw.vector()))?;
            let h = world.settings().dt;
            let got = responses(&world, &[SiteForce { site: Site::Rigid { body, local }, force }], exact())?[0];
            let torque = local.cross(turn.inverse() * force);
            let want = (force / m + turn * (torque / inertia).cross(local)) * h;
            close(got.velocity, want, 1e-4, "velocity");
            close(got.displacement, want * h, 1e-4, "displacement");
        }
    }
    Ok(())
}

#[test]
fn particles_respond_with_their_mass_and_what_is_fixed_not_at_all() -> Result<(), Error> {
    let mut world = World::new(weightless())?;
    let dust = world.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X]).mass(0.2).pinned([1]))?;
    let wall = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(1.0, 1.0, 1.0)))?;
    let door = world.add_rigid(RigidBody::kinematic().shape(Shape::cuboid(1.0, 1.0, 1.0)).at([9.0, 0.0, 0.0]))?;
    let h = world.settings().dt;
    let force = Vec3::new(1.0, -2.0, 0.5);
    close(moved(&world, Site::Node { body: dust, node: 0 }, force, exact())?, force * (h * h / 0.2), 1e-5, "particle");
    let still = [
        Site::Node { body: dust, node: 1 },
        Site::Rigid { body: wall, local: Vec3::X },
        Site::Rigid { body: door, local: Vec3::X },
        Site::World(Vec3::Y),
    ];
    for site in still {
        assert_eq!(moved(&world, site, force, exact())?, Vec3::ZERO, "{site:?}");
    }
    Ok(())
}

/// A = M + h (h + β) K of linear tetrahedra, free nodes only, in f64: solves A v = b by elimination.
fn dense(mesh: &TetMesh, mass: &[Real], pinned: &[bool], params: fem::Params, h: f64, b: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let wide = |v: Vec3| v.to_array().map(f64::from);
    let sub = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (e, nu) = (f64::from(params.youngs_modulus), f64::from(params.poisson_ratio));
    let (lambda, mu) = (e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu)));
    let n = 3 * mass.len();
    let mut a = vec![vec![0.0; n + 1]; n];
    let factor = h * (h + f64::from(params.damping));
    for tet in &mesh.tets {
        let x = tet.map(|k| wide(mesh.vertices[k as usize]));
        let [d1, d2, d3] = [sub(x[1], x[0]), sub(x[2], x[0]), sub(x[3], x[0])];
        let six = dot(d1, cross(d2, d3));
        let g: Vec<[f64; 3]> = [cross(d2, d3), cross(d3, d1), cross(d1, d2)].map(|c| c.map(|c| c / six)).to_vec();
        let g0 = [0, 1, 2].map(|k| -(g[0][k] + g[1][k] + g[2][k]));
        let g = [g0, g[0], g[1], g[2]];
        for i in 0..4 {
            for j in 0..4 {
                for r in 0..3 {
                    for c in 0..3 {
                        let unit = if r == c { dot(g[i], g[j]) } else { 0.0 };
                        let k = lambda * g[i][r] * g[j][c] + mu * g[j][r] * g[i][c] + mu * unit;
                        a[3 * tet[i] as usize + r][3 * tet[j] as usize + c] += factor * six.abs() / 6.0 * k;
                    }
                }
            }
        }
    }
    for node in 0..mass.len() {
        for r in 0..3 {
            let row = 3 * node + r;
            a[row][row] += f64::from(mass[node]);
            a[row][n] = b[node][r];
            if pinned[node] {
                a[row] = vec![0.0; n + 1];
                a[row][row] = 1.0;
            }
        }
    }
    for k in 0..n {
        // positive definite but for unit rows: no pivoting
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            if f != 0.0 {
                for j in k..=n {
                    let from = a[k][j];
                    a[i][j] -= f * from;
                }
            }
        }
    }
    let mut v = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * v[j]).sum();
        v[k] = (a[k][n] - sum) / a[k][k];
    }
    v.chunks(3).map(|v| [v[0], v[1], v[2]]).collect()
}

/// Force on a bar's end, on each node by its share of the area of the end.
fn end_forces(world: &World, body: BodyId, mesh: &TetMesh, end: Real, force: Vec3) -> Result<Vec<SiteForce>, Error> {
    let view = world.body(body)?;
    let surface = view.surface().ok_or_else(|| Error::BadSnapshot("no surface".into()))?;
    let mut share = vec![0.0; mesh.vertices.len()];
    for &triangle in surface.triangles() {
        let nodes = triangle.map(|s| surface.shares(s)[0].node as usize);
        let x = nodes.map(|n| mesh.vertices[n]);
        if x.iter().all(|x| (x.x - end).abs() < 1e-5) {
            let area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length();
            nodes.iter().for_each(|&n| share[n] += area / 3.0);
        }
    }
    let total: Real = share.iter().sum();
    let on = share.iter().enumerate().filter(|(_, s)| **s > 0.0);
    Ok(on.map(|(n, s)| SiteForce { site: Site::Node { body, node: n as u32 }, force: force * (*s / total) }).collect())
}

#[test]
fn a_bar_agrees_with_a_dense_solve_and_at_long_times_with_its_static_compliance() -> Result<(), Error> {
    let (size, force) = (Vec3::new(0.4, 0.1, 0.1), 2.0);
    let mesh = bar([6, 2, 2], size)?;
    let params = fem::Params { youngs_modulus: 5e4, poisson_ratio: 0.0, density: 1000.0, damping: 0.01 };
    let mut world = World::new(weightless())?;
    let soft = SoftBody::new(Geometry::Tets(mesh.clone()), SoftModel::Corotational(params));
    let body = world.add_soft(soft.pin_region([-1.0; 3], [-0.199, 1.0, 1.0]))?;
    let forces = end_forces(&world, body, &mesh, 0.2, Vec3::X * force)?;
    let pinned: Vec<bool> = mesh.vertices.iter().map(|x| x.x < -0.199).collect();
    let masses = world.body(body)?.node_masses().to_vec();
    for time in [1.0 / 60.0, 0.1, 30.0] {
        let got = responses(&world, &forces, ComplianceOptions { time: Some(time), ..exact() })?;
        let mut b = vec![[0.0; 3]; masses.len()];
        for f in &forces {
            let Site::Node { node, .. } = f.site else { continue };
            b[node as usize] = (f.force * time).to_array().map(f64::from);
        }
        let want = dense(&mesh, &masses, &pinned, params, f64::from(time), &b);
        for (f, got) in forces.iter().zip(&got) {
            let Site::Node { node, .. } = f.site else { continue };
            let want = Vec3::from_array(want[node as usize].map(|v| v as Real));
            close(got.velocity, want, 1e-3, &format!("{time} s, node {node}"));
        }
        // uniform strain without lateral contraction: F L/(E A), less the damping β/h and inertia of the step
        let rest = force * size.x / (params.youngs_modulus * size.y * size.z);
        let tip = got[0].displacement.x;
        assert!(tip < rest && (time < 10.0 || tip > 0.998 * rest), "{time} s: {tip} of {rest}");
    }
    Ok(())
}

/// Factor of Cholesky; none when the matrix is not positive definite.
#[test]
fn issue_023_the_static_compliance_of_held_bodies_does_not_grow_with_time() -> Result<(), Error> {
    // 16 times the displacement at 4 times the time: bodies with goal positions above 1 s
    for (name, soft) in held_blocks()? {
        let mut world = World::new(weightless())?;
        let body = world.add_soft(soft)?;
        let node = far_nodes(&world, body)?[0];
        // displacements of a few hundredths of the body: linear, and above the rounding of its forces
        let size = if name == "oriented" { 0.1 } else { 1.0 };
        let force = SiteForce { site: Site::Node { body, node }, force: Vec3::new(0.002, -0.003, 0.001) * size };
        let at = |time: Real| -> Result<Vec3, Error> {
            let options = ComplianceOptions { time: Some(time), ..exact() };
            Ok(responses(&world, &[force], options)?[0].displacement)
        };
        let first = at(10.0)?;
        for time in [40.0, 160.0] {
            close(at(time)?, first, 0.02, &format!("{name} at {time} s"));
        }
        if ["shape matching", "oriented"].contains(&name) {
            let command = Command::NodeForce { body, node, force: force.force };
            let start = world.body(body)?.node_positions()[node as usize];
            // the slowest motion, bending of the oriented chain, relaxes with 0.1/s
            for _ in 0..4000 {
                world.step(&Input::none().with(command.clone()));
            }
            let moved = world.body(body)?.node_positions()[node as usize] - start;
            close(moved, first, 0.05, &format!("{name} by steps"));
        }
    }
    Ok(())
}

fn is_positive_definite(matrix: &[Real], n: usize) -> bool {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: Real = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let left = matrix[i * n + j] - sum;
            if i == j && !(left > 0.0) {
                return false;
            }
            l[i * n + j] = if i == j { left.sqrt() } else { left / l[j * n + j] };
        }
    }
    true
}

#[test]
fn the_matrix_of_random_sites_is_reciprocal_and_positive_definite() -> Result<(), Error> {
    for (name, soft) in held_blocks()? {
        let mut world = World::new(weightless())?;
        let body = world.add_soft(soft)?;
        let count = world.body(body)?.node_positions().len() as u32;
        let mut draw = Draw(11);
        let mut sites = Vec::new();
        for k in 0..6 {
            let site = Site::Node { body, node: (1 + 7 * k) % count };
            sites.push(SiteDirection { site, direction: draw.vector() });
        }
        let moves = |s: &SiteDirection| moved(&world, s.site, Vec3::X, exact()).is_ok_and(|d| d != Vec3::ZERO);
        sites.retain(moves);
        sites.dedup_by_key(|s| format!("{:?}", s.site));
        let n = sites.len();
        assert!(n >= 3, "{name}");
        let (mut scratch, mut few, mut many) = (ComplianceScratch::default(), Vec::new(), Vec::new());
        let first = world.compliance_matrix(&sites, &ComplianceOptions::default(), &mut scratch, &mut few)?;
        let last = world.compliance_matrix(&sites, &exact(), &mut scratch, &mut many)?;
        assert!(last.asymmetry < 1e-3 && first.asymmetry < 0.05, "{name}: {first:?} {last:?}");
        for (matrix, what) in [(&few, "default"), (&many, "exact")] {
            assert!((0..n * n).all(|k| matrix[k] == matrix[k % n * n + k / n]), "{name}, {what}");
            assert!(is_positive_definite(matrix, n), "{name}, {what}: {matrix:?}");
        }
        // a solve that ends early is too stiff: within rounding no entry of the diagonal is above the exact one
        for k in 0..n {
            let (few, many) = (few[k * n + k], many[k * n + k]);
            assert!(few <= many * 1.0001 && few > 0.95 * many, "{name}: {few} of {many}");
        }
        // the entries are what single queries give
        let forces: Vec<SiteForce> = sites
            .iter()
            .enumerate()
            .map(|(k, s)| SiteForce { site: s.site, force: if k == 0 { s.direction } else { Vec3::ZERO } })
            .collect();
        for (k, r) in responses(&world, &forces, exact())?.iter().enumerate() {
            let (got, want) = (sites[k].direction.dot(r.displacement), many[k * n]);
            assert!((got - want).abs() < 1e-3 * (many[0] * many[k * n + k]).sqrt(), "{name}: {got} {want}");
        }
    }
    Ok(())
}

#[test]
fn forces_superpose() -> Result<(), Error> {
    for (name, soft) in held_blocks()? {
        let mut world = World::new(weightless())?;
        let body = world.add_soft(soft)?;
        let count = world.body(body)?.node_positions().len() as u32;
        let [a, b] = [count - 1, count / 2].map(|node| Site::Node { body, node });
        let (f, g) = (Vec3::new(0.3, -1.0, 0.2), Vec3::new(-0.5, 0.1, 2.0));
        let with = |f: Vec3, g: Vec3| {
            responses(&world, &[SiteForce { site: a, force: f }, SiteForce { site: b, force: g }], exact())
        };
        let (both, first, second) = (with(f, g)?, with(f, Vec3::ZERO)?, with(Vec3::ZERO, g)?);
        for k in 0..2 {
            close(both[k].displacement, first[k].displacement + second[k].displacement, 1e-3, name);
        }
    }
    Ok(())
}

/// Change of a site's position and velocity by a force on a node in one step.
fn stepped(world: &mut World, body: BodyId, node: u32, force: Vec3) -> Result<(Vec3, Vec3), Error> {
    let start = world.snapshot();
    let mut run = |force: Vec3| -> Result<(Vec3, Vec3), Error> {
        world.restore(&start)?;
        world.step(&Input::none().with(Command::NodeForce { body, node, force }));
        let view = world.body(body)?;
        Ok((view.node_positions()[node as usize], view.node_velocities()[node as usize]))
    };
    let (with, without) = (run(force)?, run(Vec3::ZERO)?);
    world.restore(&start)?;
    Ok((with.0 - without.0, with.1 - without.1))
}

/// A CG of the step that leaves a hundredth of its usual residual.
fn careful(settings: Settings) -> Settings {
    let implicit = Implicit { tolerance: 1e-5, iterations: 2000, ..settings.implicit };
    Settings { implicit, ..settings }
}

#[test]
fn a_step_with_the_force_differs_by_the_response() -> Result<(), Error> {
    for (name, soft) in held_blocks()? {
        if ["position based", "shape matching"].contains(&name) {
            // their steps are sweeps towards goals
            continue;
        }
        let mut world = World::new(careful(weightless()))?;
        let body = world.add_soft(soft)?;
        let node = far_nodes(&world, body)?[0];
        // small enough for the linear range: strains of 1e-3
        let force = Vec3::new(0.02, -0.03, 0.01);
        let got = responses(&world, &[SiteForce { site: Site::Node { body, node }, force }], exact())?[0];
        let (x, v) = stepped(&mut world, body, node, force)?;
        assert!(world.report().soft.iter().all(|s| s.implicit && s.substeps == 1), "{name}: {:?}", world.report().soft);
        close(got.velocity, v, 0.01, &format!("{name}, velocity"));
        close(got.displacement, x, 0.01, &format!("{name}, displacement"));
    }
    Ok(())
}

/// A block of jelly on the ground, at rest.
fn on_the_ground(settings: Settings) -> Result<(World, BodyId), Error> {
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..settings })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let jelly = SoftBody::corotational(bar([3; 3], Vec3::splat(0.1))?, ElasticMaterial::new(3e4, 0.3, 1000.0));
    let jelly = world.add_soft(jelly.at([0.0, 0.0505, 0.0]))?;
    for _ in 0..240 {
        world.step(&Input::none());
    }
    Ok((world, jelly))
}

#[test]
fn a_step_of_a_jelly_on_the_ground_differs_by_the_response_with_contacts() -> Result<(), Error> {
    let (mut world, jelly) = on_the_ground(careful(Settings::default()))?;
    let x = world.body(jelly)?.node_positions();
    let top = (0..x.len()).max_by(|a, b| x[*a].y.total_cmp(&x[*b].y)).unwrap_or(0) as u32;
    let site = Site::Node { body: jelly, node: top };
    for force in [Vec3::new(0.0, -0.05, 0.0), Vec3::new(0.05, 0.0, 0.02)] {
        let (x, v) = stepped(&mut world, jelly, top, force)?;
        let got = responses(&world, &[SiteForce { site, force }], exact())?[0];
        close(got.velocity, v, 0.03, "velocity");
        close(got.displacement, x, 0.03, "displacement");
    }
    // at the bottom the ground holds it, and only with its contacts
    let x = world.body(jelly)?.node_positions();
    let low = (0..x.len()).min_by(|a, b| x[*a].y.total_cmp(&x[*b].y)).unwrap_or(0) as u32;
    let site = Site::Node { body: jelly, node: low };
    let held = moved(&world, site, Vec3::NEG_Y, exact())?;
    let free = moved(&world, site, Vec3::NEG_Y, ComplianceOptions { contacts: false, ..exact() })?;
    assert!(held.y < 0.0 && held.y > 0.2 * free.y, "{held} {free}");
    Ok(())
}

#[test]
fn a_hinge_lets_a_body_turn_about_its_axis_and_holds_all_else() -> Result<(), Error> {
    let mut world = World::new(weightless())?;
    let (m, half): (Real, Real) = (2.0, 0.25);
    let arm = RigidBody::dynamic().shape(Shape::cuboid(half, 0.05, 0.05)).mass(m).at([half, 0.0, 0.0]);
    let arm = world.add_rigid(arm)?;
    world.add_joint(Joint::hinge(None, Some(arm)).anchor(Vec3::ZERO).axis(Vec3::Z))?;
    let tip = Site::Rigid { body: arm, local: Vec3::X * half };
    let h = world.settings().dt;
    // about its end: m/3 (a² + b²) + m a²
    let inertia = m / 3.0 * (half * half + 0.05 * 0.05) + m * half * half;
    let swing = moved(&world, tip, Vec3::Y, exact())?;
    close(swing, Vec3::Y * (h * h * (2.0 * half) * (2.0 * half) / inertia), 0.01, "about the axis");
    for held in [Vec3::X, Vec3::Z] {
        let free = moved(&world, tip, held, ComplianceOptions { constraints: false, ..exact() })?;
        let stays = moved(&world, tip, held, exact())?;
        assert!(stays.length() < 0.01 * free.length(), "{held}: {stays} of {free}");
    }
    Ok(())
}

#[test]
fn a_box_on_the_ground_is_stiff_and_one_against_a_wall_carries_on_to_what_pushes_it() -> Result<(), Error> {
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.1, 1.0, 1.0)).at([0.5, 0.5, 0.0]))?;
    let cube = |x: Real| RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(1.0).at([x, 0.1, 0.0]);
    let (near, pushed) = (world.add_rigid(cube(0.3))?, world.add_rigid(cube(0.0999))?);
    for _ in 0..120 {
        world.step(&Input::none().force(pushed, [20.0, 0.0, 0.0]));
    }
    let free = ComplianceOptions { contacts: false, ..exact() };
    for body in [near, pushed] {
        let site = Site::Rigid { body, local: Vec3::ZERO };
        for (force, most) in [(Vec3::NEG_Y, 0.02), (Vec3::X, 0.02), (Vec3::Z, 0.05)] {
            let (stays, alone) = (moved(&world, site, force, exact())?, moved(&world, site, force, free)?);
            assert!(force.dot(stays) > 0.0 && stays.length() < most * alone.length(), "{force}: {stays} of {alone}");
        }
    }
    // lifted by more than its weight in a step it is free again
    world.step(&Input::none().with(Command::Velocity { body: pushed, velocity: Vec3::Y * 3.0, spin: Vec3::ZERO }));
    world.step(&Input::none());
    let site = Site::Rigid { body: pushed, local: Vec3::ZERO };
    close(moved(&world, site, Vec3::NEG_Y, exact())?, moved(&world, site, Vec3::NEG_Y, free)?, 1e-5, "in the air");
    Ok(())
}

#[test]
fn a_rope_acts_while_it_is_taut() -> Result<(), Error> {
    let mut world = World::default();
    let hook = Site::World(Vec3::Y);
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.05)).mass(1.0))?;
    let site = Site::Rigid { body: ball, local: Vec3::ZERO };
    world.add_distance(Distance::rope(hook, site, 1.0))?;
    for _ in 0..60 {
        world.step(&Input::none());
    }
    let h = world.settings().dt;
    let taut = moved(&world, site, Vec3::NEG_Y, exact())?;
    assert!(taut.length() < 0.01 * h * h, "{taut}");
    close(moved(&world, site, Vec3::X, exact())?, Vec3::X * (h * h), 1e-4, "across");
    world.step(&Input::none().with(Command::Velocity { body: ball, velocity: Vec3::Y, spin: Vec3::ZERO }));
    world.step(&Input::none());
    close(moved(&world, site, Vec3::NEG_Y, exact())?, Vec3::NEG_Y * (h * h), 1e-4, "slack");
    Ok(())
}

/// Every model on the ground under a box, with an anchor.
fn scene(soft: SoftBody, settings: Settings) -> Result<(World, BodyId, BodyId), Error> {
    let mut world = World::new(settings)?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let soft = SoftBody { pinned_regions: Vec::new(), ..soft.thickness(1e-3) };
    let body = world.add_soft(soft.at([0.0, 0.055, 0.0]))?;
    let lid = RigidBody::dynamic().shape(Shape::cuboid(0.05, 0.02, 0.05)).mass(0.2).at([0.0, 0.15, 0.0]);
    let lid = world.add_rigid(lid)?;
    world.add_attachment(Attachment::anchor(Site::Node { body, node: 0 }, None))?;
    Ok((world, body, lid))
}

#[test]
fn queries_do_not_change_the_next_steps() -> Result<(), Error> {
    for (name, soft) in held_blocks()? {
        for (threads, lanes) in [(1, true), (2, true), (1, false)] {
            let settings = Settings { threads, lanes, ..Settings::default() };
            let (mut plain, ..) = scene(soft.clone(), settings.clone())?;
            let (mut asked, body, lid) = scene(soft.clone(), settings)?;
            let (mut scratch, mut out, mut matrix) = (ComplianceScratch::default(), Vec::new(), Vec::new());
            let site = Site::Node { body, node: 1 };
            let forces = [
                SiteForce { site, force: Vec3::new(1.0, -3.0, 0.5) },
                SiteForce { site: Site::Rigid { body: lid, local: Vec3::X * 0.05 }, force: Vec3::NEG_Y },
            ];
            let sites = forces.map(|f| SiteDirection { site: f.site, direction: f.force });
            for step in 0..60 {
                let before = asked.hash();
                asked.compliance(&forces, &ComplianceOptions::default(), &mut scratch, &mut out)?;
                asked.compliance_matrix(&sites, &ComplianceOptions::default(), &mut scratch, &mut matrix)?;
                assert!(out.iter().all(|r| r.displacement.is_finite()) && matrix.iter().all(|c| c.is_finite()));
                assert_eq!(asked.hash(), before, "{name}");
                plain.step(&Input::none());
                asked.step(&Input::none());
                assert_eq!(asked.hash(), plain.hash(), "{name}, step {step}, {threads} threads, lanes {lanes}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_answer_depends_on_the_state_alone() -> Result<(), Error> {
    let mut used = ComplianceScratch::default();
    for (name, soft) in held_blocks()? {
        let mut answers = Vec::new();
        for (threads, lanes) in [(1, true), (2, true), (1, false)] {
            let (mut world, body, _) = scene(soft.clone(), Settings { threads, lanes, ..Settings::default() })?;
            let forces = [SiteForce { site: Site::Node { body, node: 1 }, force: Vec3::new(1.0, -3.0, 0.5) }];
            let mut ask = |world: &World| -> Result<Vec<SiteResponse>, Error> {
                let mut out = Vec::new();
                world.compliance(&forces, &ComplianceOptions::default(), &mut used, &mut out)?;
                assert_eq!(out, responses(world, &forces, ComplianceOptions::default())?, "{name}: new memory");
                Ok(out)
            };
            for _ in 0..30 {
                world.step(&Input::none());
            }
            let then = world.snapshot();
            let first = ask(&world)?;
            for _ in 0..10 {
                world.step(&Input::none());
            }
            assert_ne!(ask(&world)?, first, "{name}");
            world.restore(&then)?;
            assert_eq!(ask(&world)?, first, "{name}: restored");
            // a body elsewhere: an edit that does not concern it
            world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([9.0, 9.0, 9.0]))?;
            assert_eq!(ask(&world)?, first, "{name}: edited");
            answers.push(first);
        }
        assert!(answers.windows(2).all(|w| w[0] == w[1]), "{name}");
    }
    Ok(())
}

#[test]
fn bad_input_is_rejected_by_name() -> Result<(), Error> {
    let mut world = World::default();
    let dust = world.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X]))?;
    let gone = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
    world.remove_body(gone)?;
    let (mut scratch, mut out) = (ComplianceScratch::default(), Vec::new());
    let node = Site::Node { body: dust, node: 0 };
    let fine = SiteForce { site: node, force: Vec3::X };
    let none = ComplianceOptions::default();
    let cases = [
        (SiteForce { site: Site::Rigid { body: gone, local: Vec3::ZERO }, ..fine }, none, "stale"),
        (SiteForce { site: Site::Node { body: dust, node: 7 }, ..fine }, none, "node 7 does not exist"),
        (SiteForce { site: Site::Rigid { body: dust, local: Vec3::ZERO }, ..fine }, none, "set of nodes"),
        (SiteForce { force: Vec3::new(0.0, Real::NAN, 0.0), ..fine }, none, "forces[1].force.y is NaN"),
        (SiteForce { force: Vec3::new(0.0, -1e30, 0.0), ..fine }, none, "forces[1].force"),
        (fine, ComplianceOptions { time: Some(0.0), ..none }, "options.time"),
        (fine, ComplianceOptions { iterations: 0, ..none }, "options.iterations"),
        (fine, ComplianceOptions { tolerance: 1.0, ..none }, "options.tolerance"),
    ];
    for (force, options, told) in cases {
        let error = world.compliance(&[fine, force], &options, &mut scratch, &mut out).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let direction = SiteDirection { site: node, direction: Vec3::splat(Real::INFINITY) };
    let error = world.compliance_matrix(&[direction], &none, &mut scratch, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("sites[0].direction.x"), "{error}");
    let direction = SiteDirection { site: node, direction: Vec3::X * 1e20 };
    let error = world.compliance_matrix(&[direction], &none, &mut scratch, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("sites[0].direction") && error.contains("1e12"), "{error}");
    // and the memory is still good
    assert_eq!(world.compliance(&[fine], &none, &mut scratch, &mut out)?.bodies, 1);
    Ok(())
}
