//! Physical properties of springs, dashpots, volumes and networks.

use super::*;
use crate::deformable::alone::Alone;
use crate::math::vec as xyz;
use crate::solver::pool::Pool;

/// Two nodes of these masses [kg] on the x axis, 1 m apart, with a spring of k [N/m] and c [N·s/m].
fn pair(masses: [Real; 2], k: Real, c: Real, params: Params) -> Alone {
    let points = [Vec3::ZERO, Vec3::X];
    let spring = Spring { nodes: [0, 1], rest: 1.0, stiffness: k, damping: c };
    let params = Params { mass: Mass::PerNode(masses.to_vec()), ..params };
    Alone::new(MassSpring::from_springs(&points, &[spring], &params).unwrap(), &points)
}

fn explicit() -> Params {
    Params { dashpot: Dashpot::None, ..Params::default() }
}

/// A block of tetrahedra with its nodes in a shuffled order.
fn shuffled_block(cells: [u32; 3], size: Vec3) -> TetMesh {
    let mut mesh = TetMesh::block(cells, size).unwrap();
    let count = mesh.vertices.len();
    let mut number: Vec<u32> = (0..count as u32).collect();
    let mut state = 7u32;
    for i in (1..count).rev() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        number.swap(i, (state >> 8) as usize % (i + 1));
    }
    let mut vertices = mesh.vertices.clone();
    for (old, &new) in number.iter().enumerate() {
        vertices[new as usize] = mesh.vertices[old];
    }
    mesh.vertices = vertices;
    for tet in &mut mesh.tets {
        *tet = tet.map(|i| number[i as usize]);
    }
    mesh
}

/// Displaces nodes without a pattern by up to `size` [m].
fn shake(x: &mut [Block], size: Real) {
    for (k, x) in x.iter_mut().enumerate() {
        let d = Vec3::new((k * 7 % 11) as Real - 5.0, (k * 5 % 13) as Real - 6.0, (k * 3 % 7) as Real - 3.0);
        crate::math::add(x, d * (size / 6.0));
    }
}

/// Elements, volume forces and integrators on which the general properties are tested.
fn variants() -> Vec<Params> {
    let young = Stiffness::Young(1e4);
    let plain = Params { stiffness: young, dashpot: Dashpot::Time(1e-3), ..Params::default() };
    vec![
        Params { dashpot: Dashpot::None, ..plain.clone() },
        plain.clone(),
        Params { element: Element::Maxwell, dashpot: Dashpot::Time(0.05), ..plain.clone() },
        Params { element: Element::Kelvin { arm: 0.7 }, dashpot: Dashpot::Time(0.05), ..plain.clone() },
        Params { volume: VolumeForce::Radial { stiffness: 50.0 }, ..plain.clone() },
        Params { volume: VolumeForce::Bulk { modulus: 2e4 }, ..plain },
    ]
}

#[test]
fn two_masses_on_a_spring_follow_the_recurrence_of_symplectic_euler() {
    // x_{n+1} − 2 x_n + x_{n−1} = −h² ω² x_n with ω² = k/μ: x_n = A cos(nθ + φ), cos θ = 1 − h²ω²/2
    let (masses, k, h): ([Real; 2], Real, Real) = ([1.0, 3.0], 30.0, 0.01);
    let omega = (k * (1.0 / masses[0] + 1.0 / masses[1])).sqrt();
    let mut body = pair(masses, k, 0.0, explicit());
    body.x[1][0] = 1.1;
    let theta = 2.0 * (0.5 * h * omega).asin();
    // v₀ = 0 means x_{−1} = x₀: the phase is half a step
    let (phase, amplitude) = (0.5 * theta, 0.1 / (0.5 * theta).cos());
    for n in 1..=500 {
        body.step(h);
        let want = amplitude * (n as Real * theta + phase).cos();
        let got = body.x[1][0] - body.x[0][0] - 1.0;
        assert!((got - want).abs() < 1e-3 * 0.1 * (1.0 + 0.01 * n as Real), "step {n}: {got} {want}");
    }
}

#[test]
fn velocity_verlet_is_in_phase_and_of_second_order() {
    let (k, time): (Real, Real) = (40.0, 1.0);
    let omega = (2.0 * k).sqrt();
    let error = |steps: u32| {
        let mut body = pair([1.0, 1.0], k, 0.0, Params { integrator: Integrator::Verlet, ..explicit() });
        body.x[1][0] = 1.2;
        for _ in 0..steps {
            body.step(time / steps as Real);
        }
        let (e, rate) = (body.x[1][0] - body.x[0][0] - 1.0, body.v[1][0] - body.v[0][0]);
        let (want, want_rate) = (0.2 * (omega * time).cos(), -0.2 * omega * (omega * time).sin());
        ((e - want).abs(), (rate - want_rate).abs() / omega)
    };
    let (coarse, fine) = (error(20), error(40));
    for (coarse, fine) in [(coarse.0, fine.0), (coarse.1, fine.1)] {
        assert!((3.0..5.5).contains(&(coarse / fine)), "{coarse} {fine}");
    }
}

#[test]
fn rigid_motion_is_not_damped() {
    let mesh = shuffled_block([2, 2, 2], Vec3::splat(0.2));
    let params = Params { dashpot: Dashpot::Ratio(1.0), ..Params::default() };
    let model = MassSpring::from_tets(&mesh, &params).unwrap();
    let mut body = Alone::new(model, &mesh.vertices);
    // one step from the rest shape with rotation and translation: only the tension due to rotation may appear, no
    // damping force
    body.push(Vec3::new(1.0, 2.0, 3.0), Vec3::new(3.0, -2.0, 5.0), Vec3::splat(0.1));
    let before = body.v.clone();
    body.step(1e-3);
    let scale = before.iter().map(|v| xyz(*v).length()).fold(0.0, Real::max);
    for (a, b) in before.iter().zip(&body.v) {
        assert!((xyz(*a) - xyz(*b)).length() < 2e-5 * scale, "{a:?} {b:?}");
    }
}

#[test]
fn a_dashpot_acts_along_the_spring_only() {
    let mut body = pair([2.0, 2.0], 0.0, 5.0, Params { dashpot: Dashpot::None, ..Params::default() });
    body.v[1] = [0.4, 0.7, -0.2, 0.5];
    body.step(1e-3);
    // Δv = h c ė/m on both ends, opposite, along x
    assert!((body.v[1][0] - (0.4 - 1e-3 * 5.0 * 0.4 / 2.0)).abs() < 1e-6);
    assert!((body.v[0][0] - 1e-3 * 5.0 * 0.4 / 2.0).abs() < 1e-6);
    assert_eq!([body.v[1][1], body.v[1][2], body.v[0][1], body.v[0][2]], [0.7, -0.2, 0.0, 0.0]);
}

#[test]
fn a_voigt_element_creeps_to_its_load() {
    // m → 0: e(t) = F/k (1 − exp(−t k/c))
    let (k, c, load, h) = (20.0, 10.0, 4.0, 1e-3);
    let mut body = pair([0.05, 0.05], k, c, explicit());
    body.pin(0);
    body.force[1] = Vec3::X * load;
    for n in 1..=1500 {
        body.step(h);
        let want = load / k * (1.0 - (-(n as Real) * h * k / c).exp());
        // inertia delays by m/c, 5 ms
        assert!((body.x[1][0] - 1.0 - want).abs() < 0.015 * load / k, "{n}: {} {want}", body.x[1][0] - 1.0);
    }
}

#[test]
fn a_maxwell_element_at_constant_stretch_relaxes_exponentially() {
    let (k, c, h) = (50.0, 5.0, 1e-3);
    let mut body = pair([1.0, 1.0], k, c, Params { element: Element::Maxwell, ..explicit() });
    body.pin(0);
    body.pin(1);
    body.x[1][0] = 1.1;
    for n in 1..=300 {
        body.step(h);
        let want = k * 0.1 * (-(n as Real) * h * k / c).exp();
        let got = body.forces()[0].x;
        // the decay of one step is accurate to second order: an error of z³/6 each step
        assert!((got - want).abs() < 1e-3 * k * 0.1, "{n}: {got} {want}");
    }
}

#[test]
fn a_kelvin_element_relaxes_from_its_instantaneous_to_its_long_term_stiffness() {
    let (k, arm, c) = (50.0, 0.8, 5.0);
    let params = Params { element: Element::Kelvin { arm }, ..explicit() };
    let mut body = pair([1.0, 1.0], k, c, params);
    body.pin(0);
    body.pin(1);
    body.x[1][0] = 1.1;
    assert!((body.forces()[0].x - 0.1 * k * (1.0 + arm)).abs() < 1e-4 * k);
    // the force of the arm is halved after c ln 2/k₂
    let half = c * Real::ln(2.0) / (arm * k);
    for _ in 0..100 {
        body.step(half / 100.0);
    }
    assert!((body.forces()[0].x - 0.1 * k * (1.0 + 0.5 * arm)).abs() < 1e-4 * k);
    for _ in 0..100 {
        body.step(half / 5.0);
    }
    assert!((body.forces()[0].x - 0.1 * k).abs() < 1e-4 * k);
}

#[test]
fn all_elements_and_volume_forces_conserve_linear_and_angular_momentum() {
    let mesh = shuffled_block([2, 3, 2], Vec3::new(0.2, 0.3, 0.2));
    for params in variants() {
        for integrator in [Integrator::SymplecticEuler, Integrator::Verlet] {
            let params = Params { integrator, ..params.clone() };
            let model = MassSpring::from_tets(&mesh, &params).unwrap();
            let h = 0.2 * model.traits().stable_step;
            let mut body = Alone::new(model, &mesh.vertices);
            shake(&mut body.x, 0.02);
            body.push(Vec3::new(0.1, 0.0, -0.2), Vec3::new(1.0, 2.0, 0.0), Vec3::ZERO);
            let (p, l) = body.momentum();
            for _ in 0..200 {
                body.step(h);
            }
            let (p1, l1) = body.momentum();
            // sums of rounding error: steps times the impulse of a step, far below the impulses exchanged by springs
            let exchanged = body.kinetic().sqrt() * body.model.masses().iter().sum::<Real>().sqrt();
            assert!((p - p1).length() < 1e-4 * exchanged, "{params:?}: {p} {p1}");
            assert!((l - l1).length() < 1e-4 * exchanged, "{params:?}: {l} {l1}");
        }
    }
}

#[test]
fn forces_are_the_negative_gradient_of_the_energy() {
    let mesh = shuffled_block([1, 2, 1], Vec3::new(0.2, 0.4, 0.2));
    for params in variants() {
        let model = MassSpring::from_tets(&mesh, &params).unwrap();
        let mut body = Alone::new(model, &mesh.vertices);
        shake(&mut body.x, 0.02);
        for (k, d) in body.internal_state.iter_mut().enumerate() {
            *d = 1e-3 * ((k % 5) as Real - 2.0);
        }
        let forces = body.forces();
        let largest = forces.iter().map(|f| f.length()).fold(0.0, Real::max);
        let total = forces.iter().fold(Vec3::ZERO, |s, f| s + *f);
        assert!(total.length() < 1e-5 * largest * forces.len() as Real, "{params:?}: {total}");
        // difference width chosen for the rounding error
        let d = 0.2 * Real::EPSILON.cbrt();
        for node in 0..body.x.len() {
            for axis in 0..3 {
                let at = body.x[node][axis];
                let mut sides = [0.0; 2];
                for (side, sign) in sides.iter_mut().zip([1.0, -1.0]) {
                    body.x[node][axis] = at + sign * d;
                    *side = body.energy();
                }
                body.x[node][axis] = at;
                let slope = (sides[1] - sides[0]) / (2.0 * d);
                assert!(
                    (slope - forces[node][axis]).abs() < 0.01 * largest,
                    "{params:?} {node} {axis}: {slope} {}",
                    forces[node]
                );
            }
        }
    }
}

#[test]
fn a_volume_force_restores_compressed_and_expanded_tetrahedra() {
    let mesh = TetMesh {
        vertices: vec![Vec3::ZERO, Vec3::new(0.1, 0.01, 0.0), Vec3::new(0.02, 0.12, 0.0), Vec3::new(0.03, 0.02, 0.09)],
        tets: vec![[0, 1, 2, 3]],
    };
    for volume in [VolumeForce::Radial { stiffness: 10.0 }, VolumeForce::Gradient { stiffness: 1e7 }] {
        // springs of negligible stiffness
        let params = Params { stiffness: Stiffness::Uniform(1e-6), volume, ..explicit() };
        let mut body = Alone::new(MassSpring::from_tets(&mesh, &params).unwrap(), &mesh.vertices);
        let rest = body.x.clone();
        for scale in [0.9, 1.1] {
            for (x, rest) in body.x.iter_mut().zip(&rest) {
                *x = rest.map(|c| c * scale);
            }
            // work of the forces on a dilatation: positive when compressed
            let centre = body.x.iter().fold(Vec3::ZERO, |s, x| s + xyz(*x)) / 4.0;
            let work: Real = body.forces().iter().zip(&body.x).map(|(f, x)| f.dot(xyz(*x) - centre)).sum();
            assert!(work * (1.0 - scale) > 0.0, "{volume:?} at {scale}: {work}");
        }
    }
}

#[test]
fn stiffness_from_youngs_modulus_gives_a_bar_the_modulus_of_its_lattice() {
    // Springs k = E V/L² in directions n with fractions w of the volume have the tensor C = E Σ w n⊗n⊗n⊗n. In Kuhn's
    // subdivision each tetrahedron has three edges along the axes, two face diagonals and one space diagonal: w = 1 for
    // each axis, 2/3 for each of (110), (101), (011), 1 for (111). In tension along z with free sides, the compliance
    // S = C⁻¹ gives the bar's modulus 1/S_zzzz = 1.034 E: 3 % too stiff, and it shears as it stretches.
    let (n, length, side, modulus) = (2, 1.0, 0.2, 1e5);
    let mesh = shuffled_block([n, n, 10], Vec3::new(side, side, length));
    let params = Params { stiffness: Stiffness::Young(modulus), integrator: Integrator::Implicit, ..explicit() };
    let model = MassSpring::from_tets(&mesh, &params).unwrap();
    let mut body = Alone::new(model, &mesh.vertices);
    // one end pinned, the other under forces by the area of its nodes
    let stress = 2e-3 * modulus;
    let mut weights = vec![0.0; mesh.vertices.len()];
    for face in mesh.boundary_faces() {
        let corners = face.map(|i| mesh.vertices[i as usize]);
        let area = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).length();
        if corners.iter().all(|c| c.z > 0.499 * length) {
            face.iter().for_each(|&i| weights[i as usize] += area / 3.0);
        }
    }
    for node in (0..mesh.vertices.len()).filter(|&i| mesh.vertices[i].z < -0.499 * length) {
        body.pin(node);
    }
    for (force, weight) in body.force.iter_mut().zip(&weights) {
        *force = Vec3::Z * (stress * weight);
    }
    let left = body.settle(0.2, 40);
    assert!(left < 1e-3 * stress * side * side, "{left} N");
    // stretch of the middle part, away from the ends
    let mean = |z: Real| {
        let near = mesh.vertices.iter().enumerate().filter(|(_, p)| (p.z - z).abs() < 1e-4);
        let (sum, count) = near.fold((0.0, 0), |(s, c), (i, _)| (s + body.x[i][2], c + 1));
        sum / count as Real
    };
    let strain = (mean(0.3) - mean(-0.3)) / 0.6 - 1.0;
    let got = stress / strain;
    let want = kuhn_modulus() * modulus;
    assert!((got - want).abs() < 0.01 * want, "{got} Pa, {want} Pa");
    assert!((got - modulus).abs() < 0.05 * modulus, "{got} Pa");
}

/// 1/S_zzzz of the Kuhn lattice for E = 1: strain energy ½ Σ w (nᵀεn)² minimised with ε_zz = 1.
fn kuhn_modulus() -> Real {
    let directions: [([f64; 3], f64); 7] = [
        ([1.0, 0.0, 0.0], 1.0),
        ([0.0, 1.0, 0.0], 1.0),
        ([0.0, 0.0, 1.0], 1.0),
        ([1.0, 1.0, 0.0], 2.0 / 3.0),
        ([1.0, 0.0, 1.0], 2.0 / 3.0),
        ([0.0, 1.0, 1.0], 2.0 / 3.0),
        ([1.0, 1.0, 1.0], 1.0),
    ];
    // row of each direction: coefficients of (zz, xx, yy, xy, xz, yz) in nᵀεn
    let rows = directions.map(|(n, w)| {
        let square: f64 = n.iter().map(|c| c * c).sum();
        let [x, y, z] = n.map(|c| c / square.sqrt());
        ([z * z, x * x, y * y, 2.0 * x * y, 2.0 * x * z, 2.0 * y * z], w)
    });
    // Gauss-Seidel on the five free strains: a convex quadratic
    let mut strain = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for _ in 0..2000 {
        for free in 1..6 {
            let slope: f64 = rows.iter().map(|(r, w)| w * r[free] * dot(r, &strain)).sum();
            let curvature: f64 = rows.iter().map(|(r, w)| w * r[free] * r[free]).sum();
            strain[free] -= slope / curvature;
        }
    }
    rows.iter().map(|(r, w)| w * dot(r, &strain).powi(2)).sum::<f64>() as Real
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn a_rope_from_youngs_modulus_stretches_by_f_over_ea() {
    let points: Vec<Vec3> = (0..11).map(|i| Vec3::X * (0.1 * i as Real)).collect();
    let params = Params { bending: 0.0, integrator: Integrator::Implicit, ..explicit() };
    let mut body = Alone::new(MassSpring::from_rope(&points, &params).unwrap(), &points);
    body.pin(0);
    // E A = 1e4 · 1e-4 = 1 N
    body.force[10] = Vec3::X * 0.02;
    body.settle(10.0, 20);
    assert!((body.position(10).x - 1.02).abs() < 1e-4, "{}", body.position(10));
}

/// A chain of 40 equal masses and springs, free.
fn chain(dashpot: Real, integrator: Integrator) -> Alone {
    let points: Vec<Vec3> = (0..40).map(|i| Vec3::X * i as Real).collect();
    let link = |i: u32| Spring { nodes: [i, i + 1], rest: 1.0, stiffness: 100.0, damping: dashpot };
    let springs: Vec<Spring> = (0..39).map(link).collect();
    let params = Params { mass: Mass::Total(40.0), integrator, ..explicit() };
    let mut body = Alone::new(MassSpring::from_springs(&points, &springs, &params).unwrap(), &points);
    for (k, x) in body.x.iter_mut().enumerate() {
        x[0] += 1e-3 * ((k * 7 % 5) as Real - 2.0);
    }
    body
}

#[test]
fn a_chain_is_stable_just_below_the_stable_step_and_not_above() {
    for (dashpot, integrator) in
        [(0.0, Integrator::SymplecticEuler), (0.0, Integrator::Verlet), (4.0, Integrator::SymplecticEuler)]
    {
        let run = |share: Real| {
            let mut body = chain(dashpot, integrator);
            let h = share * body.model.traits().stable_step;
            for _ in 0..2000 {
                body.step(h);
            }
            body.v.iter().map(|v| xyz(*v).length()).fold(0.0, |m: Real, s| if s.is_nan() { s } else { m.max(s) })
        };
        // initial amplitude 2 mm at ω_max = 20/s
        assert!(run(0.95) < 0.5, "{dashpot} {integrator:?}: {}", run(0.95));
        assert!(!(run(1.1) < 1.0), "{dashpot} {integrator:?}: {}", run(1.1));
    }
}

#[test]
fn the_stable_step_of_a_chain_is_the_travel_time_of_sound_along_a_spring() {
    let points: Vec<Vec3> = (0..100).map(|i| Vec3::X * i as Real).collect();
    let link = |i: u32| Spring { nodes: [i, i + 1], rest: 1.0, stiffness: 100.0, damping: 0.0 };
    let springs: Vec<Spring> = (0..99).map(link).collect();
    let params = Params { mass: Mass::Total(100.0), ..explicit() };
    let chain = MassSpring::from_springs(&points, &springs, &params).unwrap();
    // √(m/k) = 0.1 s
    assert!((chain.sound_step() - 0.1).abs() < 1e-6);
    assert!((chain.traits().stable_step / chain.sound_step() - 1.0).abs() < 0.02, "{}", chain.traits().stable_step);
    assert!(chain.any_shape_step() <= chain.traits().stable_step);
}

#[test]
fn a_block_is_stable_below_the_stable_step_with_all_forces() {
    let mesh = shuffled_block([3, 3, 3], Vec3::splat(0.3));
    for params in variants() {
        let model = MassSpring::from_tets(&mesh, &params).unwrap();
        let h = 0.95 * model.traits().stable_step;
        let mut body = Alone::new(model, &mesh.vertices);
        shake(&mut body.x, 1e-4);
        let start = body.energy();
        for _ in 0..2000 {
            body.step(h);
        }
        let end = body.energy() + body.kinetic();
        // the energy of symplectic Euler oscillates by 1/(1 − (hω/2)²) at most: a factor of 10 here
        assert!(end < 10.0 * start, "{params:?}: {start} J, {end} J");
    }
}

#[test]
fn implicit_and_explicit_agree_for_small_steps() {
    let mesh = shuffled_block([1, 1, 2], Vec3::new(0.1, 0.1, 0.2));
    for params in variants() {
        let run = |integrator: Integrator, steps: u32| {
            let params = Params { integrator, ..params.clone() };
            let model = MassSpring::from_tets(&mesh, &params).unwrap();
            let mut body = Alone::new(model, &mesh.vertices);
            body.settings.tolerance = 1e-6;
            shake(&mut body.x, 5e-3);
            for _ in 0..steps {
                body.step(0.02 / steps as Real);
            }
            body.x.iter().map(|x| xyz(*x)).collect::<Vec<_>>()
        };
        let fine = run(Integrator::Verlet, 4000);
        let gap = |x: &[Vec3]| x.iter().zip(&fine).map(|(a, b)| (*a - *b).length()).fold(0.0, Real::max);
        let (coarse, half) = (gap(&run(Integrator::Implicit, 100)), gap(&run(Integrator::Implicit, 200)));
        // first order: half the step, half the error
        assert!(half < 0.65 * coarse && coarse < 2e-3, "{params:?}: {coarse} {half}");
    }
}

#[test]
fn an_implicit_body_is_stable_far_above_the_explicit_step() {
    let mesh = shuffled_block([2, 2, 2], Vec3::splat(0.2));
    let params = Params { stiffness: Stiffness::Young(1e7), integrator: Integrator::Implicit, ..explicit() };
    let model = MassSpring::from_tets(&mesh, &params).unwrap();
    assert_eq!(model.traits().stable_step, Real::INFINITY);
    let h = 50.0 * model.explicit_step();
    let mut body = Alone::new(model, &mesh.vertices);
    shake(&mut body.x, 0.02);
    let start = body.energy();
    for _ in 0..200 {
        body.step(h);
    }
    assert!(body.energy() + body.kinetic() < start);
}

#[test]
fn lanes_and_threads_give_the_bits_of_the_scalar_path() {
    // more nodes than one thread processes at a time, and not a multiple of eight
    let mesh = shuffled_block([12, 12, 10], Vec3::new(1.2, 1.2, 1.0));
    let pool = Pool::new(3);
    for params in variants() {
        for integrator in [Integrator::SymplecticEuler, Integrator::Verlet] {
            let params = Params { integrator, ..params.clone() };
            let run = |lanes: bool, pool: Option<&Pool>| {
                let mut model = MassSpring::from_tets(&mesh, &params).unwrap();
                let ctx = StepContext {
                    h: 0.5 * model.traits().stable_step,
                    substep: 0,
                    last: true,
                    lanes,
                    resolve: false,
                    pool,
                };
                let Alone { mut x, mut v, mut internal_state, .. } = Alone::new(model.clone(), &mesh.vertices);
                shake(&mut x, 0.01);
                v[5] = [0.0; 4];
                let force: Vec<Vec3> = (0..x.len()).map(|i| Vec3::new(0.0, -0.01, 0.001 * (i % 7) as Real)).collect();
                for _ in 0..10 {
                    model.predict(
                        &ctx,
                        BodyMut { x: &mut x, v: &mut v, force: &force, internal_state: &mut internal_state },
                    );
                    model.advance(
                        &ctx,
                        BodyMut { x: &mut x, v: &mut v, force: &force, internal_state: &mut internal_state },
                    );
                }
                (x, v, internal_state)
            };
            let want = run(false, None);
            assert!(want.0.iter().flatten().all(|c| c.is_finite()));
            assert!(run(true, None) == want, "lanes: {params:?}");
            assert!(run(true, Some(&pool)) == want, "threads: {params:?}");
        }
    }
}

#[test]
fn the_kernel_agrees_with_the_scalar_loop() {
    let mesh = shuffled_block([3, 4, 5], Vec3::new(0.3, 0.4, 0.5));
    for params in variants() {
        let params =
            Params { dashpot: if params.element == Element::Voigt { Dashpot::None } else { params.dashpot }, ..params };
        let model = MassSpring::from_tets(&mesh, &params).unwrap();
        let mut body = Alone::new(model, &mesh.vertices);
        shake(&mut body.x, 0.02);
        let forces = body.forces();
        let h = 1e-4;
        body.step(h);
        let largest = forces.iter().map(|f| f.length()).fold(0.0, Real::max);
        for ((v, f), m) in body.v.iter().zip(&forces).zip(body.model.masses()) {
            assert!((xyz(*v) * (m / h) - *f).length() < 2e-5 * largest, "{params:?}: {v:?} {f}");
        }
    }
}

#[test]
fn a_sheet_has_a_spring_along_each_edge_and_across_each_interior_edge() {
    // two triangles of a unit square: 5 edges, one of them interior
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y];
    let mesh = TriMesh { vertices, triangles: vec![[0, 1, 2], [1, 3, 2]] };
    let params = Params { thickness: 0.01, bending: 0.5, ..Params::default() };
    let sheet = MassSpring::from_triangles(&mesh, &params).unwrap();
    assert_eq!(sheet.springs().len(), 6);
    assert!((sheet.masses().iter().sum::<Real>() - 10.0).abs() < 1e-4);
    // the diagonal has both triangles: E t A/L² = 1e4·0.01·1/2; the side one: 1e4·0.01·0.5
    let of = |a, b| sheet.springs().iter().find(|s| s.nodes == [a, b]).unwrap().stiffness;
    assert!((of(1, 2) - 50.0).abs() < 1e-3 && (of(0, 1) - 50.0).abs() < 1e-3);
    assert_eq!(sheet.springs()[5].nodes, [0, 3]);
    assert!((of(0, 3) - 25.0).abs() < 1e-3);
    let flat = MassSpring::from_triangles(&mesh, &Params { bending: 0.0, ..params }).unwrap();
    assert_eq!(flat.springs().len(), 5);
}

#[test]
fn invalid_bodies_are_rejected_by_name() {
    let points = [Vec3::ZERO, Vec3::X];
    let spring = Spring { nodes: [0, 1], rest: 1.0, stiffness: 1.0, damping: 0.0 };
    let total = Params { mass: Mass::Total(1.0), ..Params::default() };
    let refused = |spring: Spring, params: &Params| {
        MassSpring::from_springs(&points, &[spring], params).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(spring, &Params::default()).starts_with("mass.density"));
    assert!(refused(Spring { nodes: [0, 2], ..spring }, &total).contains("spring 0 (0, 2)"));
    assert!(refused(Spring { nodes: [1, 1], ..spring }, &total).contains("one node"));
    assert!(refused(Spring { rest: Real::NAN, ..spring }, &total).contains("springs[0].rest = NaN"));
    assert!(refused(spring, &Params { element: Element::Maxwell, ..total.clone() }).contains("dashpot"));
    let volume = VolumeForce::Bulk { modulus: 1.0 };
    assert!(refused(spring, &Params { volume, ..total.clone() }).starts_with("volume"));
    assert!(refused(spring, &Params { bending: -1.0, ..total.clone() }).contains("bending = -1"));
    let masses = Params { mass: Mass::PerNode(vec![1.0]), ..total };
    assert!(refused(spring, &masses).contains("1 numbers, but there are 2 nodes"));

    let mut mesh = TetMesh::block([1, 1, 1], Vec3::ONE).unwrap();
    let list = Params { stiffness: Stiffness::PerSpring(vec![1.0; 3]), ..Params::default() };
    let error = MassSpring::from_tets(&mesh, &list).map(|_| ()).unwrap_err();
    assert!(matches!(error, SpringError::Count { given: 3, wanted: 19, .. }), "{error}");
    mesh.vertices.push(Vec3::splat(9.0));
    let error = MassSpring::from_tets(&mesh, &Params::default()).map(|_| ()).unwrap_err();
    assert!(matches!(error, SpringError::NoMass { node: 8 }), "{error}");
}
