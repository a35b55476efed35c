//! Membranes of triangles, against analytical solutions.

use sinew::trial::Alone;
use sinew::trial::fem::{Integrator, Membrane, MembraneError, MembraneParams, PlaneStress};
use sinew::{Quat, Real, TriMesh, Vec3};

/// A square sheet in the x, y plane, `cells` squares along a side, two triangles each.
fn sheet(cells: u32, size: Real) -> TriMesh {
    let mut mesh = TriMesh::default();
    for j in 0..=cells {
        for i in 0..=cells {
            mesh.vertices.push(Vec3::new(i as Real / cells as Real - 0.5, j as Real / cells as Real - 0.5, 0.0) * size);
        }
    }
    for j in 0..cells {
        for i in 0..cells {
            let a = i + j * (cells + 1);
            let (b, c, d) = (a + 1, a + cells + 1, a + cells + 2);
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    mesh
}

fn alone(mesh: &TriMesh, params: MembraneParams) -> Alone {
    let mut body = Alone::new(Membrane::new(mesh, params).unwrap(), &mesh.vertices);
    body.settings.iterations = 2000;
    body.settings.tolerance = 1e-6;
    body
}

/// Traction [Pa] on the two sides across an axis, outward along `pull` on the high one.
fn stretch(body: &mut Alone, mesh: &TriMesh, axis: usize, pull: Vec3, cells: u32, size: Real) {
    for (force, x) in body.force.iter_mut().zip(&mesh.vertices) {
        let end = x[1 - axis].abs() > 0.499 * size;
        if x[axis].abs() > 0.499 * size {
            let area = size / cells as Real * if end { 0.5 } else { 1.0 };
            *force += pull * area * x[axis].signum();
        }
    }
}

/// Size of the sheet along an axis, between the means of its sides, minus its rest size.
fn growth(body: &Alone, mesh: &TriMesh, axis: usize, size: Real) -> Real {
    let side = |sign: Real| {
        let list: Vec<Real> = (0..mesh.vertices.len())
            .filter(|&n| mesh.vertices[n][axis] * sign > 0.499 * size)
            .map(|n| body.position(n)[axis])
            .collect();
        list.iter().sum::<Real>() / list.len() as Real
    };
    side(1.0) - side(-1.0) - size
}

const E23: PlaneStress = PlaneStress::Orthotropic { youngs_x: 100.0, youngs_y: 500.0, poisson_xy: 0.09, shear: 100.0 };

fn plate() -> MembraneParams {
    MembraneParams { material: E23, thickness: 1.0, density: 1e-3, ..Default::default() }
}

/// E23: 200 triangles, 100 mm; pulled by a stress of 1 along x, then along y. Small loads: Green's strain is nonlinear.
#[test]
fn e23_an_orthotropic_plate_stretches_by_its_moduli_and_contracts_alike_both_ways() {
    let mesh = sheet(10, 100.0);
    let part = 0.1;
    for (axis, want) in [(0, [1.0, -0.09]), (1, [-0.09, 0.2])] {
        let mut body = alone(&mesh, plate());
        let pull = if axis == 0 { Vec3::X } else { Vec3::Y } * part;
        stretch(&mut body, &mesh, axis, pull, 10, 100.0);
        body.settle(1.0, 12);
        for k in 0..2 {
            let got = growth(&body, &mesh, k, 100.0) / part;
            assert!((got - want[k]).abs() < 0.01 * want[k].abs() + 2e-3, "pull {axis}, side {k}: {got}");
        }
    }
    let mut body = alone(&mesh, plate());
    for (pull, axis) in [(Vec3::Y, 0), (Vec3::X, 1)] {
        stretch(&mut body, &mesh, axis, pull * part, 10, 100.0);
    }
    body.settle(1.0, 12);
    let mut stress = Vec::new();
    body.model.element_stress(body.body(), &mut stress);
    for s in stress {
        assert!((2.0 * s.strain.xy / part - 0.01).abs() < 2e-4, "{s:?}");
        assert!((s.stress.xy - part).abs() < 5e-3 * part, "{s:?}");
    }
}

/// The same plate with its grain rotated by a right angle has exchanged moduli.
#[test]
fn the_grain_direction_rotates_the_material_axes() {
    let mesh = sheet(4, 100.0);
    let mut body = alone(&mesh, MembraneParams { grain: Vec3::Y, ..plate() });
    stretch(&mut body, &mesh, 0, Vec3::X * 0.1, 4, 100.0);
    body.settle(1.0, 12);
    assert!((growth(&body, &mesh, 0, 100.0) - 0.02).abs() < 3e-4);
}

#[test]
fn stiffness_matrices_are_those_of_lamina_theory() {
    let near = |got: [Real; 4], want: [Real; 4]| got.iter().zip(want).all(|(g, w)| (g / w - 1.0).abs() < 1e-3);
    assert!(near(E23.stiffness(), [104.22, 521.1, 46.899, 100.0]), "{:?}", E23.stiffness());
    let printed = PlaneStress::printed(100.0, 500.0, 0.09, 100.0).stiffness();
    assert!((printed[2] / 9.0146 - 1.0).abs() < 1e-3, "{printed:?}");
    let steel = PlaneStress::Isotropic { youngs_modulus: 210e9, poisson_ratio: 0.3 }.stiffness();
    assert!(near(steel, [230.77e9, 230.77e9, 69.23e9, 80.77e9]), "{steel:?}");
}

#[test]
fn a_rotated_sheet_has_no_force_and_internal_forces_have_zero_sum_and_torque() {
    let mesh = sheet(3, 0.3);
    let mut body = alone(&mesh, MembraneParams::default());
    let q = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -2.0) / 3.0, 2.0);
    for x in &mut body.x {
        let p = q * Vec3::new(x[0], x[1], x[2]);
        *x = [p.x, p.y, p.z, 0.0];
    }
    // E · thickness · edge · rounding
    let tiny = 1e6 * 1e-3 * 0.1 * 20.0 * Real::EPSILON;
    assert!(body.forces().iter().all(|f| f.length() < tiny), "{:?}", body.forces());
    for (k, x) in body.x.iter_mut().enumerate() {
        x[k % 3] += 0.005 * ((k * 7 % 5) as Real - 2.0);
    }
    let (mut push, mut turn, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    for (n, f) in body.forces().into_iter().enumerate() {
        push += f;
        turn += body.position(n).cross(f);
        size += f.length();
    }
    assert!(push.length() < 10.0 * Real::EPSILON * size && turn.length() < 10.0 * Real::EPSILON * size);
}

#[test]
fn membrane_forces_are_minus_the_gradient_of_the_energy() {
    let mesh = sheet(2, 1.0);
    let mut body = alone(&mesh, MembraneParams { material: E23, thickness: 0.1, ..Default::default() });
    for (k, x) in body.x.iter_mut().enumerate() {
        x[k % 3] += 0.05 * ((k * 7 % 5) as Real - 2.0);
    }
    let (forces, h) = (body.forces(), Real::EPSILON.cbrt());
    let top = forces.iter().map(|f| f.length()).fold(0.0, Real::max);
    for n in [0, 4, 7] {
        for axis in 0..3 {
            let mut at = |d: Real| {
                body.x[n][axis] += d;
                let energy = body.energy();
                body.x[n][axis] -= d;
                energy
            };
            let slope = (at(-h) - at(h)) / (2.0 * h);
            assert!((slope - forces[n][axis]).abs() < 100.0 * h * h * top, "{n} {axis} {slope} {}", forces[n]);
        }
    }
}

/// A square drum with a prestrain of 1 % vibrates as a membrane: f = √(2 T/m)/(2 L), T the tension per length, m the
/// mass per area.
#[test]
fn the_frequency_of_a_drum_follows_from_its_tension() {
    let (size, cells) = (0.3, 8);
    let mesh = sheet(cells, size);
    for integrator in [Integrator::Implicit, Integrator::Explicit] {
        let params = MembraneParams { integrator, ..Default::default() };
        let mut body = alone(&mesh, params);
        let strain = 0.01;
        for (n, x) in mesh.vertices.iter().enumerate() {
            let wave = |x: Real| (std::f64::consts::PI as Real * x / size).cos();
            body.x[n] = [x.x * (1.0 + strain), x.y * (1.0 + strain), 1e-4 * wave(x.x) * wave(x.y), 0.0];
            if x.x.abs().max(x.y.abs()) > 0.499 * size {
                body.pin(n);
            }
        }
        let green = strain + 0.5 * strain * strain;
        let stress = 1e6 / (1.0 - 0.45) * green;
        let frequency = Real::sqrt(2.0 * stress / 1000.0) / (2.0 * size);
        let h = if integrator == Integrator::Explicit { 0.9 * body.model.traits().stable_step } else { 2e-4 };
        let middle = mesh.vertices.len() / 2;
        let (mut t, mut last, mut crossings) = (0.0, 1e-4, Vec::new());
        while crossings.len() < 2 && t < 2.0 / frequency {
            body.step(h);
            t += h;
            let now = body.position(middle).z;
            if now * last < 0.0 {
                crossings.push(t - h * now / (now - last));
            }
            last = now;
        }
        let got = 0.5 / (crossings[1] - crossings[0]);
        assert!((got / frequency - 1.0).abs() < 0.03, "{integrator:?} {got} {frequency}");
    }
}

/// E22, Cook's membrane: a skew trapezoid clamped on the left and sheared on the right. The middle of the right edge
/// rises by 23.965 for E = 1, ν = 1/3 and a force of 1; a small force here, so that strains are small.
#[test]
fn e22_cooks_membrane_rises_as_reference_solutions_do() {
    let rise = |cells: u32| {
        let mut mesh = sheet(cells, 1.0);
        for x in &mut mesh.vertices {
            let (s, t) = (x.x + 0.5, x.y + 0.5);
            *x = Vec3::new(48.0 * s, 44.0 * (s + t - s * t) + 16.0 * s * t, 0.0);
        }
        let material = PlaneStress::Isotropic { youngs_modulus: 1.0, poisson_ratio: 1.0 / 3.0 };
        let mut body = alone(&mesh, MembraneParams { material, thickness: 1.0, density: 1e-4, ..Default::default() });
        let force = 1e-3;
        for (n, x) in mesh.vertices.iter().enumerate() {
            if x.x < 1e-3 {
                body.pin(n);
            } else if x.x > 47.999 {
                let end = x.y < 44.001 || x.y > 59.999;
                body.force[n] = Vec3::Y * (force / cells as Real * if end { 0.5 } else { 1.0 });
            }
        }
        body.settle(10.0, 8);
        let middle = mesh.vertices.iter().position(|x| (*x - Vec3::new(48.0, 52.0, 0.0)).length() < 1e-2).unwrap();
        (body.position(middle).y - 52.0) / force
    };
    // triangles of constant strain converge from below, and a quarter of the edge leaves less than a sixth of the error
    let (coarse, fine) = (23.965 - rise(8), 23.965 - rise(32));
    assert!(fine > 0.0 && fine < coarse / 6.0 && fine < 0.04 * 23.965, "{coarse} {fine}");
}

#[test]
fn invalid_sheets_are_rejected_by_name() {
    let mesh = sheet(1, 1.0);
    let bad = PlaneStress::Orthotropic { youngs_x: 100.0, youngs_y: 500.0, poisson_xy: 0.5, shear: 100.0 };
    let error = Membrane::new(&mesh, MembraneParams { material: bad, ..Default::default() }).unwrap_err();
    assert!(error.to_string().starts_with("material.poisson_xy = 0.5"), "{error}");
    let error = Membrane::new(&mesh, MembraneParams { grain: Vec3::Z, ..Default::default() }).unwrap_err();
    assert_eq!(error, MembraneError::Grain { triangle: 0 });
    let error = Membrane::new(&mesh, MembraneParams { thickness: 0.0, ..Default::default() }).unwrap_err();
    assert!(error.to_string().starts_with("thickness = 0"), "{error}");
}
