//! Finite element bodies in motion, against analytical solutions. The numbers E11 and on name validation cases.

mod solids;

use sinew::trial::fem::{Elements, Integrator, Law, Plasticity, SolidParams};
use sinew::{Real, Vec3};
use solids::{ALL, LAWS, block, faces, mean, slice, traction};

/// A flattened and an inverted block return to their shape: the distances between nodes are as at rest. Not in all
/// cases: a completely mirrored ten-node body may stay folded.
#[test]
fn flat_and_inverted_bodies_recover() {
    for elements in ALL {
        for law in &LAWS[1..] {
            let ten = matches!(elements, Elements::Tet10 | Elements::Tet10Averaged);
            let squeezes: &[Real] = if ten { &[0.0, -0.5] } else { &[0.0, -0.5, -1.0] };
            for &squeeze in squeezes {
                let params = SolidParams { law: *law, elements, stiffness_damping: 0.01, ..Default::default() };
                let mut body = block([2, 1, 1], Vec3::new(0.2, 0.1, 0.1), params);
                let rest: Vec<Vec3> = (0..body.x.len()).map(|n| body.position(n)).collect();
                for (k, x) in body.x.iter_mut().enumerate() {
                    // a little noise: an exactly symmetric state is an unstable equilibrium
                    x[1] = x[1] * squeeze + 1e-4 * ((k * 7 % 5) as Real - 2.0);
                }
                body.settings.tolerance = 1e-3;
                body.settle(0.01, 150);
                let distance = |n: usize| (body.position(n) - body.position(0)).length() - (rest[n] - rest[0]).length();
                let worst = (0..rest.len()).map(|n| distance(n).abs()).fold(0.0, Real::max);
                assert!(worst < 1e-3, "{elements:?} {law:?} {squeeze}: {worst}");
            }
        }
    }
}

/// A bar rotating at 30 rad/s: internal forces have no torque, the angular momentum is constant, and the bar is longer
/// by ρ ω² L³/12E (E18).
#[test]
fn e18_a_rotating_bar_conserves_angular_momentum_and_elongates() {
    let (size, rate) = (Vec3::new(1.0, 0.1, 0.1), 5.0);
    let params =
        SolidParams { youngs_modulus: 1e6, poisson_ratio: 0.0, elements: Elements::Tet10, ..Default::default() };
    let mut body = block([8, 1, 1], size, params);
    body.push(Vec3::ZERO, Vec3::Z * rate, Vec3::ZERO);
    let (left, right) = (slice(&body, 0, -0.5), slice(&body, 0, 0.5));
    let before = body.momentum().1;
    let h = 0.001;
    let (mut longer, count) = (0.0, 1000);
    for k in 0..count {
        body.step(h);
        // second half: implicit Euler has damped the initial vibration
        if k >= count / 2 {
            longer += (mean(&body, &right) - mean(&body, &left)).length() - 1.0;
        }
    }
    longer /= (count / 2) as Real;
    assert!((longer / 0.002_083_3 - 1.0).abs() < 0.03, "{longer}");
    let after = body.momentum().1;
    assert!((after - before).length() < 0.005 * before.length(), "{before} {after}");

    for law in &LAWS[1..] {
        let mut body = block([4, 1, 1], size, SolidParams { law: *law, ..params });
        body.push(Vec3::ZERO, Vec3::Z * 30.0, Vec3::ZERO);
        for _ in 0..20 {
            body.step(0.005);
            let (mut push, mut turn, mut all) = (Vec3::ZERO, Vec3::ZERO, 1e-3);
            for (n, f) in body.forces().into_iter().enumerate() {
                push += f;
                turn += body.position(n).cross(f);
                all += f.length();
            }
            assert!(push.length() < 20.0 * Real::EPSILON * all, "{law:?} {push}");
            assert!(turn.length() < 20.0 * Real::EPSILON * all, "{law:?} {turn}");
        }
    }
}

/// Explicit and implicit bodies vibrate at the first frequency of the beam (E11: 0.50687 Hz at 1 MPa; the mesh is
/// coarse).
#[test]
fn e11_a_cantilever_vibrates_at_timoshenkos_frequency() {
    let (size, cells) = (Vec3::new(1.0, 0.1, 0.1), [6, 1, 1]);
    for integrator in [Integrator::Implicit, Integrator::Explicit] {
        let params = SolidParams { youngs_modulus: 1e6, elements: Elements::Tet10, integrator, ..Default::default() };
        let mut body = block(cells, size, params);
        for n in slice(&body, 0, -0.5) {
            body.pin(n);
        }
        // first mode by its static shape: a tip load, then released
        for x in &mut body.x {
            let s = x[0] + 0.5;
            x[1] += 0.01 * s * s * (3.0 - s) / 2.0;
        }
        let tip = slice(&body, 0, 0.5);
        let explicit = integrator == Integrator::Explicit;
        let h = if explicit { 0.9 * body.model.traits().stable_step } else { 0.01 };
        body.settings.tolerance = 1e-4;
        let (mut t, mut last, mut crossings) = (0.0, 0.01, Vec::new());
        while crossings.len() < 2 && t < 3.0 {
            body.step(h);
            t += h;
            let now = mean(&body, &tip).y;
            if now * last < 0.0 {
                crossings.push(t - h * now / (now - last));
            }
            last = now;
        }
        let frequency = 0.5 / (crossings[1] - crossings[0]);
        assert!((frequency / 0.50687 - 1.0).abs() < 0.03, "{integrator:?} {frequency}");
    }
}

/// Below the stable step an explicit body conserves its energy, well above it is unstable.
#[test]
fn the_stable_step_is_stable_and_near_the_limit() {
    for elements in ALL {
        for beta in [0.0, 2e-4] {
            let params = SolidParams {
                elements,
                integrator: Integrator::Explicit,
                law: Law::NeoHookean,
                stiffness_damping: beta,
                ..Default::default()
            };
            let grown = |factor: Real| {
                let mut body = block([2, 2, 2], Vec3::splat(0.1), params);
                for (k, v) in body.v.iter_mut().enumerate() {
                    v[k % 3] = 0.01 * ((k * 7 % 5) as Real - 2.0);
                }
                let start = body.kinetic();
                let h = factor * body.model.traits().stable_step;
                let mut most: Real = 0.0;
                for _ in 0..400 {
                    body.step(h);
                    most = most.max(body.kinetic());
                }
                most / start
            };
            let kept = grown(0.99);
            assert!(kept < 2.0, "{elements:?} {beta} {kept}");
            let lost = grown(if elements.eq(&Elements::Tet4) { 2.0 } else { 3.0 });
            assert!(!(lost < 100.0), "{elements:?} {beta} {lost}");
        }
    }
}

/// Rayleigh damping: a free body's velocity decreases by (1 + α h) per step, its deformation by β only.
#[test]
fn mass_damping_reduces_rigid_motion_and_stiffness_damping_does_not() {
    for integrator in [Integrator::Implicit, Integrator::Explicit] {
        for (alpha, beta) in [(2.0, 0.0), (0.0, 0.01)] {
            let params = SolidParams { mass_damping: alpha, stiffness_damping: beta, integrator, ..Default::default() };
            let mut body = block([2, 1, 1], Vec3::new(0.2, 0.1, 0.1), params);
            body.push(Vec3::X, Vec3::Z, Vec3::ZERO);
            let h = body.model.traits().stable_step.min(1e-3);
            let mass: Real = body.model.masses().iter().sum();
            let before = body.momentum();
            for _ in 0..100 {
                body.step(h);
            }
            let kept = 1.0 / Real::powi(1.0 + alpha * h, 100);
            let after = body.momentum();
            assert!((after.0 - before.0 * kept).length() < 1e-4 * mass, "{integrator:?} {alpha} {beta} {after:?}");
            assert!((after.1.z / (before.1.z * kept) - 1.0).abs() < 2e-3, "{integrator:?} {alpha} {beta} {after:?}");
        }
    }
}

/// A bar under a tension above yield creeps: its deviatoric strain, 2/3 (1 + ν) σ/E, relaxes by the part above yield at
/// the creep rate c, so that it grows by c · 2/3 (1 + ν) (σ − σ_y)/E; after unloading this strain remains. Below yield
/// there is no permanent strain.
#[test]
fn a_bar_pulled_above_yield_creeps_and_keeps_its_permanent_strain() {
    let plasticity = Some(Plasticity { yield_stress: 1000.0, creep: 1.0, max_strain: Real::INFINITY });
    for elements in ALL {
        for (law, pull) in [(Law::Corotational, 1500.0), (Law::NeoHookean, 1500.0), (Law::Corotational, 900.0)] {
            let (size, cells) = (Vec3::new(0.4, 0.1, 0.1), [2, 1, 1]);
            let params = SolidParams { poisson_ratio: 0.2, law, elements, plasticity, ..Default::default() };
            let mut body = block(cells, size, params);
            let (left, right) = (slice(&body, 0, -0.2), slice(&body, 0, 0.2));
            let faces = faces(cells, size, params);
            traction(&mut body, &faces, 0.2, Vec3::X * pull);
            traction(&mut body, &faces, -0.2, Vec3::X * -pull);
            body.settle(0.02, 100);
            body.force.fill(Vec3::ZERO);
            body.settle(0.02, 20);
            let kept = (mean(&body, &right).x - mean(&body, &left).x) / 0.4 - 1.0;
            let want = Real::max(0.0, 2.0 * 2.0 / 3.0 * 1.2 * (pull - 1000.0) / 1e5);
            // the true stress of a stretched bar is above the nominal one by its strain
            assert!((kept - want).abs() < 0.05 * want + 2e-5, "{elements:?} {law:?} {pull}: {kept} {want}");
        }
    }
}
