//! Physical properties of position based bodies.

use super::*;
use crate::deformable::BodyMut;
use crate::deformable::alone::Alone;
use crate::deformable::pbd::Params;
use crate::math::{Mat3, add, vec};
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;

const G: Real = 9.81;

fn jelly(params: Params) -> Alone {
    let mesh = TetMesh::block([2, 2, 4], Vec3::new(0.1, 0.1, 0.2)).unwrap();
    let solid = Solid { youngs_modulus: 2e4, poisson_ratio: 0.4, density: 1000.0 };
    Alone::new(Pbd::solid(&mesh, solid, params).unwrap(), &mesh.vertices)
}

/// A flat grid in the plane z = 0, `size` wide [m].
fn grid(cells: u32, size: Real) -> TriMesh {
    let mut mesh = TriMesh::default();
    for j in 0..=cells {
        for i in 0..=cells {
            mesh.vertices.push(Vec3::new(i as Real, j as Real, 0.0) * (size / cells as Real));
        }
    }
    for j in 0..cells {
        for i in 0..cells {
            let a = i + (cells + 1) * j;
            let c = a + cells + 1;
            mesh.triangles.extend([[a, a + 1, c + 1], [a, c + 1, c]]);
        }
    }
    mesh
}

/// Equal masses in a line along −z, the first pinned, links of stiffness k.
fn chain(links: usize, mass: Real, k: Real, params: Params) -> Alone {
    let places: Vec<Vec3> = (0..=links).map(|i| Vec3::new(0.0, 0.0, -0.1 * i as Real)).collect();
    let link = |a: u32| Distance { nodes: [a, a + 1], rest: 0.1, compliance: 1.0 / k, compression: 1.0 / k };
    let rows = Rows { distances: (0..links as u32).map(link).collect(), ..Rows::default() };
    let model = Pbd::new(&places, vec![mass; links + 1], rows, params).unwrap();
    let mut body = Alone::new(model, &places);
    body.pin(0);
    body
}

fn strain(body: &mut Alone) {
    for (k, x) in body.x.iter_mut().enumerate() {
        add(x, Vec3::new((k % 3) as Real, (k % 5) as Real, (k % 7) as Real) * 2e-3);
    }
}

#[test]
fn a_body_at_rest_remains_at_rest() {
    let mut body = jelly(Params::default());
    let before = body.x.clone();
    for _ in 0..500 {
        body.step(1.0 / 240.0);
    }
    for (x, b) in body.x.iter().zip(&before) {
        assert!((vec(*x) - vec(*b)).length() < 50.0 * Real::EPSILON * 0.2, "{x:?} {b:?}");
    }
}

#[test]
fn linear_and_angular_momentum_are_conserved_for_any_number_of_sweeps() {
    for iterations in [1, 8] {
        let mut body = jelly(Params { iterations, ..Params::default() });
        strain(&mut body);
        body.push(Vec3::new(1.0, 2.0, -0.5), Vec3::new(3.0, -5.0, 8.0), Vec3::ZERO);
        let (p0, l0) = body.momentum();
        for _ in 0..2000 {
            body.step(1.0 / 240.0);
        }
        let (p, l) = body.momentum();
        // a random walk of one rounding error per node and step; the body moves 17 m away, where x has lower resolution
        let slip = 45.0 * 4.0 * Real::EPSILON;
        assert!((p - p0).length() < slip * p0.length(), "{iterations}: {p0} {p}");
        let far = body.position(0).length() * p0.length();
        assert!((l - l0).length() < slip * (far + l0.length()), "{iterations}: {l0} {l}");
    }
}

#[test]
fn internal_damping_removes_vibration_and_conserves_angular_momentum() {
    let mut body = jelly(Params { damping: Damping::Internal { rate: 40.0 }, ..Params::default() });
    body.push(Vec3::ZERO, Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO);
    let wobble = 0.05;
    for (x, v) in body.x.iter().zip(&mut body.v) {
        v[2] += wobble * x[2] / 0.1;
    }
    let (_, l0) = body.momentum();
    let wobbling = body.kinetic();
    for _ in 0..960 {
        body.step(1.0 / 240.0);
    }
    let (_, l) = body.momentum();
    assert!((l - l0).length() < 1e-4 * l0.length(), "{l0} {l}");
    // the remaining motion is rigid: ½ P²/M + ½ L·I⁻¹L
    let mut sums = crate::deformable::RigidSums::default();
    let (masses, force) = (body.model.masses().to_vec(), vec![Vec3::ZERO; body.x.len()]);
    let (mut x, mut v) = (body.x.clone(), body.v.clone());
    let span = BodyMut { x: &mut x, v: &mut v, force: &force, internal_state: &mut [] };
    sums.sum_up(&masses, 0.0, &span);
    let modes = sums.modes().unwrap();
    let spinning = modes.inertia.inverse().unwrap().mul(modes.spin).dot(modes.spin);
    let rigid = 0.5 * (modes.momentum.length_squared() / modes.mass + spinning);
    assert!(wobbling > 1.01 * rigid);
    assert!((body.kinetic() / rigid - 1.0).abs() < 1e-3, "{} {rigid}", body.kinetic());
}

#[test]
fn a_hanging_chain_stretches_by_weight_over_stiffness_for_any_step_and_sweeps() {
    let (links, mass, k) = (5, 0.1, 200.0);
    let want: Real = (1..=links).map(|below| below as Real * mass * G / k).sum();
    for rate in [60.0, 120.0, 240.0] {
        for iterations in [5, 50] {
            let mut body = chain(links, mass, k, Params { iterations, row_damping: 0.01, ..Params::default() });
            body.gravity = Vec3::new(0.0, 0.0, -G);
            for _ in 0..(12.0 * rate) as u32 {
                body.step(1.0 / rate);
            }
            let got = -0.1 * links as Real - body.position(links).z;
            // five sweeps of the longest step leave an error of 0.6 %
            let tolerance = if iterations == 5 { 0.01 } else { 0.001 };
            assert!((got / want - 1.0).abs() < tolerance, "{rate} Hz, {iterations}: {got} {want}");
        }
    }
}

#[test]
fn two_particles_on_a_spring_follow_implicit_euler_with_the_analytic_period() {
    let (m, k, h): (Real, Real, Real) = (0.2, 50.0, 1e-3);
    let places = [Vec3::ZERO, Vec3::X];
    let link = Distance { nodes: [0, 1], rest: 1.0, compliance: 1.0 / k, compression: 1.0 / k };
    let rows = Rows { distances: vec![link], ..Rows::default() };
    let model = Pbd::new(&places, vec![m; 2], rows, Params { iterations: 1, ..Params::default() }).unwrap();
    let mut body = Alone::new(model, &places);
    body.x[1][0] = 1.1;
    let omega2 = 2.0 * k / m;
    let (mut e, mut rate): (Real, Real) = (0.1, 0.0);
    let mut crossings = Vec::new();
    for step in 0..1000 {
        body.step(h);
        rate = (rate - h * omega2 * e) / (1.0 + h * h * omega2);
        let before = e;
        e += h * rate;
        let got = body.position(1).x - body.position(0).x - 1.0;
        assert!((got - e).abs() < 1000.0 * Real::EPSILON, "{step}: {got} {e}");
        if before > 0.0 && e <= 0.0 {
            crossings.push(step as Real * h);
        }
    }
    let turns = (crossings.len() - 1) as Real;
    let period = (crossings[crossings.len() - 1] - crossings[0]) / turns;
    let want = Real::to_radians(360.0) / omega2.sqrt();
    // the time of a crossing is accurate to one step
    assert!((period - want).abs() < 2.0 * h / turns + want * omega2 * h * h, "{period} {want}");
}

#[test]
fn a_dashpot_parallel_to_a_spring_damps_stretch_but_not_rotation() {
    // m e″ = −k e − τ k e′ with reduced mass: a damping ratio τ ω / 2 = 1 does not oscillate
    let (m, k): (Real, Real) = (0.2, 50.0);
    let omega = (2.0 * k / m).sqrt();
    let places = [Vec3::ZERO, Vec3::X];
    let link = Distance { nodes: [0, 1], rest: 1.0, compliance: 1.0 / k, compression: 1.0 / k };
    let rows = Rows { distances: vec![link], ..Rows::default() };
    let params = Params { iterations: 1, row_damping: 2.0 / omega, ..Params::default() };
    let model = Pbd::new(&places, vec![m; 2], rows, params).unwrap();
    let mut body = Alone::new(model.clone(), &places);
    body.x[1][0] = 1.1;
    let h = 1e-3;
    let mut t: Real = 0.0;
    for _ in 0..200 {
        body.step(h);
        t += h;
        let want = 0.1 * (1.0 + omega * t) / (omega * t).exp();
        let got = body.position(1).x - body.position(0).x - 1.0;
        assert!((got - want).abs() < 0.1 * omega * h, "{t}: {got} {want}");
    }
    let mut turning = Alone::new(model, &places);
    turning.push(Vec3::ZERO, Vec3::new(0.0, 0.0, 0.5), Vec3::new(0.5, 0.0, 0.0));
    let before = turning.momentum().1;
    (0..2000).for_each(|_| turning.step(1e-3));
    assert!((turning.momentum().1 - before).length() < 1e-4 * before.length());
}

#[test]
fn an_incompressible_block_keeps_its_volume_under_compression() {
    let mesh = TetMesh::block([3; 3], Vec3::splat(0.1)).unwrap();
    let solid = Solid { youngs_modulus: 1e4, poisson_ratio: 0.5, density: 1000.0 };
    let params = Params { iterations: 20, damping: Damping::Internal { rate: 20.0 }, ..Params::default() };
    let mut body = Alone::new(Pbd::solid(&mesh, solid, params).unwrap(), &mesh.vertices);
    // Plates without friction, ten percent in half a second, then rest. They act after the body has moved, as contacts
    // do: against them a rigid row is as soft as h² w, 2.5 % of volume at 240 Hz, so that the substep is short here.
    let h = 1.0 / 960.0;
    for step in 1..=960 {
        body.step(h);
        let z = 0.05 * (1.0 - 0.1 * (step as Real / 480.0).min(1.0));
        for (k, rest) in mesh.vertices.iter().enumerate() {
            if rest.z.abs() > 0.049 {
                body.x[k][2] = z * rest.z.signum();
                body.v[k][2] = 0.0;
            }
        }
    }
    let now = TetMesh { vertices: body.x.iter().map(|x| vec(*x)).collect(), tets: mesh.tets.clone() };
    assert!((now.volume() / mesh.volume() - 1.0).abs() < 0.005, "{}", now.volume() / mesh.volume());
    for tet in 0..mesh.tets.len() {
        let ratio = now.tet_volume(tet) / mesh.tet_volume(tet);
        assert!((ratio - 1.0).abs() < 0.01, "{tet}: {ratio}");
    }
}

#[test]
fn a_hinge_opens_by_torque_times_compliance() {
    let places = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::new(0.5, -1.0, 0.0)];
    let compliance = 0.02;
    let rigid = |a: u32, b: u32| Distance {
        nodes: [a, b],
        rest: places[a as usize].distance(places[b as usize]),
        compliance: 0.0,
        compression: 0.0,
    };
    let rows = Rows {
        distances: [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)].map(|(a, b)| rigid(a, b)).to_vec(),
        hinges: vec![Hinge { nodes: [0, 1, 2, 3], rest: 0.0, compliance }],
        ..Rows::default()
    };
    let params = Params { iterations: 20, row_damping: 0.1, ..Params::default() };
    let mut body = Alone::new(Pbd::new(&places, vec![0.5; 4], rows, params).unwrap(), &places);
    (0..3).for_each(|node| body.pin(node));
    let push = 3.0;
    for _ in 0..2000 {
        // perpendicular to the wing, so that the torque is force times one metre
        let at = body.position(3);
        body.force[3] = Vec3::X.cross(at - Vec3::new(0.5, 0.0, 0.0)).normalize() * push;
        body.step(1.0 / 240.0);
    }
    let at = body.position(3);
    let angle = angle_between(-Vec3::Y, at - Vec3::new(0.5, 0.0, 0.0));
    assert!((angle / (push * compliance) - 1.0).abs() < 0.002, "{angle} {}", push * compliance);
}

fn angle_between(a: Vec3, b: Vec3) -> Real {
    crate::math::angle_of(a.cross(b).length(), a.dot(b))
}

#[test]
fn a_rope_clamped_at_one_end_bends_as_a_beam() {
    let (count, length, bend, push): (usize, Real, Real, Real) = (9, 0.8, 0.02, 1e-3);
    let step = length / (count - 1) as Real;
    // an additional point before the clamp defines the direction
    let points: Vec<Vec3> = (0..=count).map(|k| Vec3::new((k as Real - 1.0) * step, 0.0, 0.0)).collect();
    let cord = Cord { stretch: 1e4, bend, density: 0.05, compression: 1.0 };
    let damping = Damping::Internal { rate: 2.0 };
    let params = Params { iterations: 100, row_damping: 0.05, damping, ..Params::default() };
    let mut body = Alone::new(Pbd::rope(&points, cord, params).unwrap(), &points);
    body.pin(0);
    body.pin(1);
    body.force[count] = Vec3::new(0.0, push, 0.0);
    (0..3000).for_each(|_| body.step(1.0 / 120.0));
    // angles M l/EI at the nodes, with M = F (L − x)
    let want: Real = (0..count - 1).map(|k| push * step / bend * (length - k as Real * step).powi(2)).sum();
    let got = body.position(count).y;
    assert!((got / want - 1.0).abs() < 0.01, "{got} {want}");
}

#[test]
fn a_rolled_sheet_has_the_energy_half_d_kappa_squared_per_area() {
    let (cells, size, bend, radius): (u32, Real, Real, Real) = (20, 0.2, 1e-3, 0.5);
    let mesh = grid(cells, size);
    let sheet = Sheet {
        stretch: 1e-9,
        bend,
        density: 0.1,
        compression: 1.0,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    let mut body = Alone::new(Pbd::sheet(&mesh, sheet, Params::default()).unwrap(), &mesh.vertices);
    for x in &mut body.x {
        let angle = x[0] / radius;
        (x[0], x[2]) = (radius * angle.sin(), radius * (1.0 - angle.cos()));
    }
    // the two columns at the boundary lack half a hinge
    let area = size * size * (cells - 1) as Real / cells as Real;
    let want = 0.5 * bend * area / (radius * radius);
    assert!((body.energy() / want - 1.0).abs() < 0.01, "{} {want}", body.energy());
}

#[test]
fn edges_and_volumes_have_the_energy_of_the_solid() {
    let mesh = TetMesh::block([2; 3], Vec3::ONE).unwrap();
    let (e, strain): (Real, Real) = (1e4, 1e-2);
    for nu in [0.25, 0.35, 0.45] {
        let solid = Solid { youngs_modulus: e, poisson_ratio: nu, density: 1000.0 };
        let energy = |m: Mat3| {
            let mut body = Alone::new(Pbd::solid(&mesh, solid, Params::default()).unwrap(), &mesh.vertices);
            for (x, rest) in body.x.iter_mut().zip(&mesh.vertices) {
                add(x, m * *rest * strain);
            }
            body.energy()
        };
        // uniform dilatation, ½ K (3ε)²: exact on every mesh
        let bulk = e / (3.0 * (1.0 - 2.0 * nu));
        let want = 4.5 * bulk * strain * strain;
        let got = energy(Mat3::IDENTITY);
        assert!((got / want - 1.0).abs() < 3.0 * strain, "{nu}: {got} {want}");
        // tension along n, ½ E ε²: edges have directions, so it is exact in the mean over n. The axes of an icosahedron
        // give the mean of such functions exactly.
        let golden = 0.5 * (1.0 + Real::sqrt(5.0));
        let mut mean = 0.0;
        for sign in [1.0, -1.0] {
            for n in [
                Vec3::new(0.0, 1.0, sign * golden),
                Vec3::new(1.0, sign * golden, 0.0),
                Vec3::new(sign * golden, 0.0, 1.0),
            ] {
                let n = n.normalize();
                let pull = crate::math::outer(n, n) * (1.0 + nu) - Mat3::from_diagonal(Vec3::splat(nu));
                mean += energy(pull) / 6.0;
            }
        }
        let want = 0.5 * e * strain * strain;
        assert!((mean / want - 1.0).abs() < 3.0 * strain, "{nu}: {mean} {want}");
    }
}

#[test]
fn a_tension_only_constraint_has_no_compressive_force() {
    let places = [Vec3::ZERO, Vec3::X];
    let link = Distance { nodes: [0, 1], rest: 1.0, compliance: 0.0, compression: Real::INFINITY };
    let rows = Rows { distances: vec![link], ..Rows::default() };
    let model = Pbd::new(&places, vec![1.0; 2], rows, Params::default()).unwrap();
    let mut body = Alone::new(model, &places);
    body.x[1][0] = 0.5;
    body.v[1][0] = 1.0;
    for _ in 0..49 {
        body.step(0.01);
        assert!((body.v[1][0] - 1.0).abs() < 1e-5);
    }
    // taut: both continue with half the velocity
    (0..20).for_each(|_| body.step(0.01));
    assert!((body.v[0][0] - 0.5).abs() < 1e-4 && (body.v[1][0] - 0.5).abs() < 1e-4, "{:?}", body.v);
    assert!((body.position(1).distance(body.position(0)) - 1.0).abs() < 1e-5);
}

#[test]
fn an_enclosed_volume_reaches_its_target_volume() {
    let mesh = TetMesh::block([3; 3], Vec3::splat(0.1)).unwrap();
    let faces = mesh.boundary_faces();
    let shell = TriMesh { vertices: mesh.vertices.clone(), triangles: faces.clone() };
    let sheet = Sheet {
        stretch: 10.0,
        bend: 0.0,
        density: 1.0,
        compression: 1.0,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    // the interior nodes of the block have no mass in a shell
    assert!(Pbd::sheet(&shell, sheet, Params::default()).is_err());
    let cube = TetMesh::block([1; 3], Vec3::splat(0.1)).unwrap();
    let shell = TriMesh { vertices: cube.vertices.clone(), triangles: cube.boundary_faces() };
    let params = Params { row_damping: 0.05, ..Params::default() };
    let model = Pbd::sheet(&shell, sheet, params).unwrap();
    let model = model.enclose(cube.boundary_faces(), 1.3 * cube.volume(), 0.0).unwrap();
    let mut body = Alone::new(model, &cube.vertices);
    (0..480).for_each(|_| body.step(1.0 / 240.0));
    let now = TriMesh { vertices: body.x.iter().map(|x| vec(*x)).collect(), triangles: cube.boundary_faces() };
    assert!((now.volume() / cube.volume() - 1.3).abs() < 1e-3, "{}", now.volume() / cube.volume());
}

#[test]
fn forces_are_the_negative_gradient_of_the_energy() {
    let mut body = jelly(Params::default());
    strain(&mut body);
    let forces = body.forces();
    let step: Real = 1e-4;
    for (node, axis) in [(3, 0), (7, 1), (20, 2)] {
        let at = body.x[node][axis];
        body.x[node][axis] = at + step;
        let up = body.energy();
        body.x[node][axis] = at - step;
        let down = body.energy();
        body.x[node][axis] = at;
        let slope = (up - down) / (2.0 * step);
        let want = -forces[node].to_array()[axis];
        assert!((slope - want).abs() < 0.01 * forces[node].length(), "{node}: {slope} {want}");
    }
}

#[test]
fn a_restored_body_continues_bit_for_bit() {
    let mut body = jelly(Params { iterations: 3, ..Params::default() });
    strain(&mut body);
    (0..20).for_each(|_| body.step(0.005));
    let mut again = jelly(Params { iterations: 3, ..Params::default() });
    (again.x, again.v) = (body.x.clone(), body.v.clone());
    for _ in 0..20 {
        body.step(0.005);
        again.step(0.005);
    }
    assert_eq!(body.x, again.x);
    assert_eq!(body.v, again.v);
}

#[test]
fn invalid_parameters_are_rejected_by_name() {
    let mesh = TetMesh::block([1; 3], Vec3::ONE).unwrap();
    let good = Solid { youngs_modulus: 1e4, poisson_ratio: 0.4, density: 1000.0 };
    let error = Pbd::solid(&mesh, Solid { poisson_ratio: 0.1, ..good }, Params::default()).unwrap_err();
    assert!(error.to_string().starts_with("poisson_ratio = 0.1"), "{error}");
    let error = Pbd::solid(&mesh, good, Params { iterations: 0, ..Params::default() }).unwrap_err();
    assert!(error.to_string().starts_with("iterations = 0"), "{error}");
    let link = Distance { nodes: [0, 9], rest: 1.0, compliance: 0.0, compression: 0.0 };
    let rows = Rows { distances: vec![link], ..Rows::default() };
    let error = Pbd::new(&[Vec3::ZERO, Vec3::X], vec![1.0; 2], rows, Params::default()).unwrap_err();
    assert_eq!(error, ParticleError::NoNode { list: "distances", index: 0, node: 9, count: 2 });
    let fan = TriMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Y],
        triangles: vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]],
    };
    let sheet = Sheet {
        stretch: 10.0,
        bend: 1.0,
        density: 1.0,
        compression: 1.0,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    let error = Pbd::sheet(&fan, sheet, Params::default()).unwrap_err();
    assert_eq!(error, ParticleError::Branched { a: 0, b: 1, count: 3 });
}
