//! Modes against bars and beams, their steps against closed forms and against the full body.

mod common;
use common::*;
use sinew_reduce::*;
use std::f64::consts::PI;

/// Clamped at x = 0; nu = 0, so that sections stay plane in bars.
fn clamped(cells: [usize; 3], size: [f64; 3], young: f64, mass: Mass) -> Body {
    let mesh = block(cells, size);
    let material = Material::isotropic(young, 0.0, 1000.0).unwrap();
    let held = face(&mesh, 0, 0.0);
    Body::new(mesh, &material, mass, &held).unwrap()
}

/// Frequency of the lowest mode whose sum of squares lies along an axis, with its share above 0.9 [Hz].
fn lowest_along(modes: &Modes, axes: &[usize]) -> f64 {
    let along = |j: usize| {
        let shape = modes.shapes().column(j);
        let part: f64 = shape.iter().enumerate().filter(|u| axes.contains(&(u.0 % 3))).map(|u| u.1 * u.1).sum();
        part / shape.iter().map(|u| u * u).sum::<f64>()
    };
    let j = (0..modes.lambda().len()).find(|&j| along(j) > 0.9).expect("no such mode");
    modes.frequencies()[j]
}

/// c/4L: 2.5 Hz at 10 m/s and 1 m. The error is of second order, from below with lumped, from above with consistent
/// masses.
#[test]
fn a_clamped_bar_vibrates_along_its_axis_at_a_quarter_wave() {
    for (mass, sign) in [(Mass::Lumped, -1.0), (Mass::Consistent, 1.0)] {
        let off = [4, 8].map(|n| {
            let body = clamped([n, 1, 1], [1.0, 0.5, 0.5], 1e5, mass);
            let modes = Modes::new(&body, Wanted::Count(12)).unwrap();
            lowest_along(&modes, &[0]) / 2.5 - 1.0
        });
        assert!(off.iter().all(|o| o * sign > 0.0), "{off:?}");
        assert!(off[1].abs() < 0.005 && (3.5..4.5).contains(&(off[0] / off[1])), "{off:?}");
    }
}

/// β₁² √(EI/ρA)/2πL² of Euler and Bernoulli for a thickness of a twelfth, less what shear and rotation take (Timoshenko:
/// 1/ω² = 1/ω_b² + 1/ω_s² for shear alone). Two meshes, extrapolated: four nodes bend too stiffly on coarse ones.
#[test]
fn a_clamped_beam_bends_at_the_frequency_of_the_beam() {
    let (l, t, e, rho) = (1.2_f64, 0.1_f64, 1e6_f64, 1000.0_f64);
    let bend = 1.875_104_f64.powi(2) * (e * t * t / (12.0 * rho)).sqrt() / (2.0 * PI * l * l);
    let shear = (5.0 / 6.0 * 0.5 * e / rho).sqrt() / (4.0 * l);
    let wanted = 1.0 / (1.0 / (bend * bend) + 1.0 / (shear * shear)).sqrt();
    let f = [2, 4].map(|n| {
        let body = clamped([12 * n, n, n], [l, t, t], e, Mass::Lumped);
        Modes::new(&body, Wanted::Count(2)).unwrap().frequencies()[0]
    });
    let limit = (f[1].powi(-2) + (f[1].powi(-2) - f[0].powi(-2)) / 3.0).powf(-0.5);
    assert!((limit / wanted - 1.0).abs() < 0.03, "{f:?} {limit} {wanted}");
    assert!(f[0] > f[1] && f[1] > limit, "{f:?} {limit}");
}

/// Free bodies: no momentum in any mode, whole waves c/2L, and residuals of the eigenvalue problem.
#[test]
fn free_modes_carry_no_momentum() {
    let material = Material::isotropic(1e5, 0.3, 1000.0).unwrap();
    // above the limit for dense matrices: the iteration
    let body = Body::new(block([8, 5, 4], [0.8, 0.5, 0.4]), &material, Mass::Lumped, &[]).unwrap();
    assert!(body.mode_count() > 600);
    let modes = Modes::new(&body, Wanted::Count(20)).unwrap();
    let w = modes.shapes();
    let weighed = Dense::from_fn(w.rows(), w.columns(), |i, j| body.lumped()[i / 3] * w.get(i, j));
    let momentum = body.rigid().transposed_times(&weighed);
    assert!(momentum.data().iter().all(|p| p.abs() < 1e-11), "{:?}", momentum.data());
    let unit = w.transposed_times(&weighed);
    for i in 0..20 {
        for j in 0..20 {
            assert!((unit.get(i, j) - f64::from(u8::from(i == j))).abs() < 1e-11);
        }
        let force = body.stiffness().apply(w.column(i));
        let inertia: Vec<f64> = weighed.column(i).iter().map(|m| m * modes.lambda()[i]).collect();
        assert!(apart(&force, &inertia) < 1e-7, "{i}: {:e}", apart(&force, &inertia));
    }
}

/// The iteration finds what the dense decomposition finds, equal frequencies of a cube included.
#[test]
fn a_frequency_limit_gives_all_modes_below_it() {
    let material = Material::isotropic(1e5, 0.3, 1000.0).unwrap();
    let mesh = block([6, 6, 6], [0.4; 3]);
    let body = Body::new(mesh, &material, Mass::Lumped, &[]).unwrap();
    let many = Modes::new(&body, Wanted::Count(40)).unwrap();
    let limit = 0.5 * (many.frequencies()[24] + many.frequencies()[25]);
    let few = Modes::new(&body, Wanted::UpTo(limit)).unwrap();
    let wanted = many.frequencies().iter().filter(|&&f| f < limit).count();
    assert_eq!(few.lambda().len(), wanted);
    assert!(apart(few.lambda(), &many.lambda()[..wanted]) < 1e-9);
}

#[test]
fn rayleigh_damping_has_the_ratios_of_its_coefficients() {
    let given = Rayleigh::new(1e-3, 2.0).unwrap();
    for (f, ratio) in [(5.0, 0.047_54), (20.0, 0.070_79), (50.0, 0.160_26)] {
        assert!((given.ratio(f) / ratio - 1.0).abs() < 1e-3, "{f} Hz: {}", given.ratio(f));
    }
    let fit = Rayleigh::through([(5.0, 0.05), (50.0, 0.05)]).unwrap();
    assert!((fit.stiffness / 2.8937e-4 - 1.0).abs() < 1e-4 && (fit.mass / 2.8560 - 1.0).abs() < 1e-4, "{fit:?}");
    assert!((fit.ratio(15.811_388) / 0.02875 - 1.0).abs() < 1e-3);
    assert!(Rayleigh::through([(5.0, 0.05), (5.0, 0.1)]).is_err());
    // ten times the ratio at ten times the frequency grows faster than stiffness damping: mass would be negative
    assert!(Rayleigh::through([(5.0, 0.0), (50.0, 0.5)]).is_err());
}

/// 5 Hz at a damping ratio of 0.05 after one second: amplitude 0.20788 at 4.99375 Hz, for any step.
#[test]
fn a_damped_mode_swings_by_its_law_at_any_step() {
    let w = 10.0 * PI;
    for steps in [1, 7, 60, 1000] {
        let step = ModeStep::new(w * w, 0.1 * w, 1.0 / f64::from(steps)).unwrap();
        let z = (0..steps).fold([1.0, 0.0], |z, _| step.advance(z, 0.0));
        let wd = w * (1.0_f64 - 0.0025).sqrt();
        let e = (-0.05 * w).exp();
        let wanted = e * ((wd).cos() + 0.05 * w / wd * wd.sin());
        assert!((z[0] - wanted).abs() < 1e-12, "{steps}: {} {wanted}", z[0]);
        // the swing as amplitude and phase
        let amplitude = (z[0] * z[0] + ((z[1] + 0.05 * w * z[0]) / wd).powi(2)).sqrt();
        let start = (1.0_f64 + (0.05 * w / wd).powi(2)).sqrt();
        assert!((amplitude / start - 0.207_88).abs() < 1e-5 && (wd / (2.0 * PI) - 4.993_75).abs() < 1e-5);
    }
}

/// In every regime and across their borders one step is two halves, and it obeys the equation of motion.
#[test]
fn two_half_steps_are_one_step_in_every_regime() {
    let rates = [0.0, 1e-9, 1e-3, 0.3, 1.999, 2.0, 2.000_001, 2.01, 5.0, 1e4];
    for lambda in [0.0, 1e-12, 1e-4, 0.0099, 0.0101, 1.0, 400.0, 1e8] {
        for rate in rates.map(|r| if lambda > 1e-6 { r * f64::sqrt(lambda) } else { r }) {
            for h in [1.0, 0.1, 0.09] {
                let (whole, half) =
                    (ModeStep::new(lambda, rate, h).unwrap(), ModeStep::new(lambda, rate, 0.5 * h).unwrap());
                for (start, force) in [([1.0, 0.0], 0.0), ([0.0, 1.0], 0.0), ([0.0, 0.0], 1.0)] {
                    let (a, b) = (whole.advance(start, force), half.advance(half.advance(start, force), force));
                    // sizes of a swing through the state
                    let size = [1.0_f64.max(start[0]) * (1.0 + h), 1.0 + f64::sqrt(lambda)];
                    for k in 0..2 {
                        assert!((a[k] - b[k]).abs() < 2e-11 * size[k], "{lambda} {rate} {h}: {a:?} {b:?}");
                    }
                }
                // work of the force against the change of energy and what the dashpot takes: rate ∫ ż²  >= 0
                let end = whole.advance([0.0, 0.0], 1.0);
                let energy = 0.5 * (end[1] * end[1] + lambda * end[0] * end[0]);
                assert!(energy <= end[0] * (1.0 + 1e-9) + 1e-18, "{lambda} {rate} {h}: {energy} {}", end[0]);
            }
        }
    }
}

/// Sixty seconds of a free body without damping at 1 ms: energy to 1e-5, momentum is not part of the modes.
#[test]
fn a_free_body_without_damping_keeps_its_energy_for_a_minute() {
    let material = Material::isotropic(1e5, 0.3, 1000.0).unwrap();
    let body = Body::new(block([3, 2, 2], [0.3, 0.2, 0.2]), &material, Mass::Lumped, &[]).unwrap();
    let modes = Modes::new(&body, Wanted::Count(24)).unwrap();
    let steps: Vec<ModeStep> = modes.lambda().iter().map(|&l| ModeStep::new(l, 0.0, 1e-3).unwrap()).collect();
    let mut draws = Draws(1);
    let mut state: Vec<[f64; 2]> = steps.iter().map(|_| [1e-3 * draws.next(), draws.next()]).collect();
    let energy = |state: &[[f64; 2]]| -> f64 {
        state.iter().zip(modes.lambda()).map(|([z, v], l)| 0.5 * (v * v + l * z * z)).sum()
    };
    let start = energy(&state);
    for _ in 0..60_000 {
        state.iter_mut().zip(&steps).for_each(|(z, step)| *z = step.advance(*z, 0.0));
    }
    assert!((energy(&state) / start - 1.0).abs() < 1e-9, "{} {start}", energy(&state));
}

/// All modes kept: the motion under a force that changes from step to step is that of the whole body, which takes a
/// thousand small steps of fourth order for each.
#[test]
fn with_all_modes_the_motion_is_that_of_the_whole_body() {
    let damping = Rayleigh::new(1e-3, 0.5).unwrap();
    for held in [true, false] {
        let mesh = block([2, 1, 1], [0.2, 0.1, 0.1]);
        let material = Material::isotropic(1e4, 0.3, 1000.0).unwrap();
        let ends = if held { face(&mesh, 0, 0.0) } else { vec![] };
        let body = Body::new(mesh, &material, Mass::Lumped, &ends).unwrap();
        let modes = Modes::new(&body, Wanted::Count(body.mode_count())).unwrap();
        let (count, h) = (body.stiffness().rows(), 0.02);
        let steps: Vec<ModeStep> =
            modes.lambda().iter().map(|&l| ModeStep::new(l, damping.rate(l), h).unwrap()).collect();
        let mut reduced = vec![[0.0; 2]; steps.len()];
        let (mut u, mut v) = (vec![0.0; count], vec![0.0; count]);
        let mut draws = Draws(2);
        for _ in 0..5 {
            let mut force: Vec<f64> = (0..count).map(|_| 0.1 * draws.next()).collect();
            // a load that balances, so that the free body stays where it is
            let part = body.rigid().apply_transposed(&force);
            let weighed = body.mass().apply(&body.rigid().apply(&part));
            force.iter_mut().zip(weighed).for_each(|(f, w)| *f -= w);
            let on = modes.loads(&force);
            reduced.iter_mut().zip(&steps).zip(&on).for_each(|((z, step), f)| *z = step.advance(*z, *f));
            let acceleration = |u: &[f64], v: &[f64]| -> Vec<f64> {
                let (k, c) = (body.stiffness().apply(u), body.stiffness().apply(v));
                (0..count)
                    .map(|i| match body.is_fixed(i as u32 / 3) {
                        true => 0.0,
                        false => {
                            (force[i] - k[i] - damping.stiffness * c[i]) / body.lumped()[i / 3] - damping.mass * v[i]
                        }
                    })
                    .collect()
            };
            let dt = h / 1000.0;
            let ahead =
                |a: &[f64], b: &[f64], s: f64| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + s * b).collect() };
            for _ in 0..1000 {
                let a1 = acceleration(&u, &v);
                let (u2, v2) = (ahead(&u, &v, 0.5 * dt), ahead(&v, &a1, 0.5 * dt));
                let a2 = acceleration(&u2, &v2);
                let (u3, v3) = (ahead(&u, &v2, 0.5 * dt), ahead(&v, &a2, 0.5 * dt));
                let a3 = acceleration(&u3, &v3);
                let (u4, v4) = (ahead(&u, &v3, dt), ahead(&v, &a3, dt));
                let a4 = acceleration(&u4, &v4);
                for i in 0..count {
                    u[i] += dt / 6.0 * (v[i] + 2.0 * v2[i] + 2.0 * v3[i] + v4[i]);
                    v[i] += dt / 6.0 * (a1[i] + 2.0 * a2[i] + 2.0 * a3[i] + a4[i]);
                }
            }
            let z: Vec<f64> = reduced.iter().map(|z| z[0]).collect();
            let speed: Vec<f64> = reduced.iter().map(|z| z[1]).collect();
            assert!(apart(&modes.displacements(&z), &u) < 1e-7, "{:e}", apart(&modes.displacements(&z), &u));
            assert!(apart(&modes.displacements(&speed), &v) < 1e-6, "{:e}", apart(&modes.displacements(&speed), &v));
        }
    }
}

/// Few modes bend as a whole; the dent under a load is what the correction adds, and with it the answer is the whole one.
#[test]
fn the_static_correction_adds_the_dent() {
    let material = Material::isotropic(1e4, 0.3, 1000.0).unwrap();
    let mesh = block([4, 4, 3], [0.4, 0.4, 0.3]);
    for held in [face(&mesh, 2, 0.0), vec![]] {
        let body = Body::new(mesh.clone(), &material, Mass::Lumped, &held).unwrap();
        let modes = Modes::new(&body, Wanted::Count(10)).unwrap();
        let statics = Statics::new(&body).unwrap();
        let top = face(&mesh, 2, 0.3)[12] as usize;
        let load = Dense::from_fn(body.stiffness().rows(), 1, |i, _| if i == 3 * top + 2 { -1.0 } else { 0.0 });
        let whole = statics.solve(&load);
        let z: Vec<f64> = modes.loads(load.data()).iter().zip(modes.lambda()).map(|(f, l)| f / l).collect();
        let coarse = modes.displacements(&z);
        let correction = modes.correction(&statics, &load);
        let sum: Vec<f64> = coarse.iter().zip(correction.data()).map(|(a, b)| a + b).collect();
        assert!(apart(&sum, whole.data()) < 1e-12);
        // without it most of the dent is missing
        let dent = coarse[3 * top + 2] / whole.get(3 * top + 2, 0);
        assert!(dent > 0.0 && dent < 0.7, "{dent}");
    }
}

/// A beam attached at one end, at one node, and free: constraint modes with few others come close to the whole body,
/// with all others they are the whole body.
#[test]
fn craig_and_bamptons_basis_converges_to_the_whole_body() {
    let material = Material::isotropic(1e5, 0.3, 1000.0).unwrap();
    let mesh = block([6, 2, 2], [0.6, 0.2, 0.2]);
    let body = Body::new(mesh.clone(), &material, Mass::Lumped, &[]).unwrap();
    let whole = Modes::new(&body, Wanted::Count(body.mode_count())).unwrap();
    for attached in [face(&mesh, 0, 0.0), vec![0], vec![0, 6]] {
        let held = body.holding(&attached).unwrap();
        let few = CraigBampton::new(&body, &attached, Wanted::Count(20)).unwrap().modes(&body).unwrap();
        // frequencies from above
        for j in 0..6 {
            let off = few.lambda()[j] / whole.lambda()[j] - 1.0;
            assert!((-1e-9..0.02).contains(&off), "{} nodes, mode {j}: {off:e}", attached.len());
        }
        let all = CraigBampton::new(&body, &attached, Wanted::Count(held.mode_count())).unwrap();
        let modes = all.modes(&body).unwrap();
        assert_eq!(modes.lambda().len(), whole.lambda().len());
        assert!(apart(modes.lambda(), whole.lambda()) < 1e-9);
        let momentum =
            body.rigid().transposed_times(&Dense::from_fn(modes.shapes().rows(), modes.shapes().columns(), |i, j| {
                body.lumped()[i / 3] * modes.shapes().get(i, j)
            }));
        assert!(momentum.data().iter().all(|p| p.abs() < 1e-10));
    }
}

/// A load on the attached nodes only: the reduced body has the exact static answer with no fixed-interface modes but one.
#[test]
fn constraint_modes_are_exact_under_loads_on_attached_nodes() {
    let material = Material::isotropic(1e5, 0.3, 1000.0).unwrap();
    let mesh = block([5, 2, 2], [0.5, 0.2, 0.2]);
    let body = Body::new(mesh.clone(), &material, Mass::Lumped, &face(&mesh, 0, 0.0)).unwrap();
    let tip = face(&mesh, 0, 0.5);
    let modes = CraigBampton::new(&body, &tip, Wanted::Count(1)).unwrap().modes(&body).unwrap();
    let load =
        Dense::from_fn(
            body.stiffness().rows(),
            1,
            |i, _| if tip.contains(&(i as u32 / 3)) { (i as f64).cos() } else { 0.0 },
        );
    let correction = modes.correction(&Statics::new(&body).unwrap(), &load);
    let whole = Statics::new(&body).unwrap().solve(&load);
    let left = correction.data().iter().fold(0.0, |m: f64, c| m.max(c.abs()));
    assert!(left < 1e-9 * whole.data().iter().fold(0.0, |m: f64, c| m.max(c.abs())), "{left:e}");
}
