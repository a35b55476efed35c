//! Physical properties of oriented particles: torsion, frequency, momentum with angular momentum of particles, plastic
//! twist.

use super::*;
use crate::deformable::alone::Alone;

const RADII: Vec3 = Vec3::new(0.02, 0.01, 0.01);
const GAP: Real = 0.05;

fn line(count: usize) -> Vec<Vec3> {
    (0..count).map(|k| Vec3::X * (GAP * k as Real)).collect()
}

fn chain(count: usize, groups: &Groups, params: Params) -> Alone {
    let grain = Ellipsoid { radii: RADII, density: 1000.0 };
    Alone::new(Oriented::rope(&line(count), grain, groups, params).unwrap(), &line(count))
}

/// Torque on a particle [N·m], constant from now on.
fn load(body: &mut Alone, node: usize, torque: Vec3) {
    torque.write_to_slice(&mut body.internal_state[SPAN * node + 7..]);
}

/// Twist of each particle about x [rad], for rotations about x alone; below 180°.
fn twist(body: &Alone, node: usize) -> Real {
    let q = orientation(&body.internal_state, node);
    2.0 * angle_of(q.x, q.w)
}

/// Compliance of a chain of links in series, 1/k = 1/(ω² s_a I_a) + 1/(ω² s_b I_b) each [rad/(N·m)].
fn series(links: usize, frequency: Real, mass: Real) -> Real {
    let omega = core::f64::consts::TAU as Real * frequency;
    let unit = omega * omega * inertia_of(mass, RADII).x;
    let share = |node: usize| if node == 0 || node == links { 1.0 } else { 0.5 };
    (0..links).map(|k| (1.0 / share(k) + 1.0 / share(k + 1)) / unit).sum()
}

fn settled_twist(h: Real, (iterations, implicit): (u32, bool), torque_share: Real) -> (Real, Real) {
    let (links, frequency) = (10, 30.0);
    let params = Params { frequency, iterations, damping: 30.0, implicit, ..Params::default() };
    let mut body = chain(links + 1, &Groups::Links, params);
    let compliance = series(links, frequency, body.model.masses()[0]);
    let wanted = torque_share;
    load(&mut body, links, Vec3::X * (wanted / compliance));
    body.pin(0);
    for _ in 0..(4.0 / h) as u32 {
        body.step(h);
    }
    (twist(&body, links), wanted)
}

#[test]
fn a_chain_of_particles_twists_as_torsion_springs_in_series() {
    let (swept, solved) = (|passes| (passes, false), (1, true));
    let ways = [(1.0 / 60.0, swept(20)), (1.0 / 240.0, swept(8)), (1.0 / 1000.0, swept(4))];
    for (h, way) in ways.into_iter().chain([(1.0 / 60.0, solved), (1.0 / 240.0, solved)]) {
        for share in [0.05, 0.2, 1.0] {
            let (found, wanted) = settled_twist(h, way, share);
            // sin θ for θ in each link, 0.1 rad at most, and the error of the passes
            assert!((found / wanted - 1.0).abs() < 0.01, "h {h}, {way:?}, {share}: {found} rad for {wanted}");
        }
    }
}

#[test]
fn the_twist_of_a_chain_is_uniform() {
    let params = Params { frequency: 30.0, damping: 30.0, ..Params::default() };
    let mut body = chain(11, &Groups::Links, params);
    let unit = series(10, 30.0, body.model.masses()[0]);
    load(&mut body, 10, Vec3::X / unit);
    body.pin(0);
    for _ in 0..1000 {
        body.step(1.0 / 240.0);
    }
    // interior links are equal springs
    let steps: Vec<Real> = (1..9).map(|k| twist(&body, k + 1) - twist(&body, k)).collect();
    let mean = steps.iter().sum::<Real>() / steps.len() as Real;
    assert!(steps.iter().all(|s| (s / mean - 1.0).abs() < 0.01), "{steps:?}");
    // there is no displacement besides the twist
    assert!((0..11).all(|k| (body.position(k) - line(11)[k]).length() < 1e-4 * GAP), "{:?}", body.x);
}

#[test]
fn a_stretched_pair_vibrates_at_its_frequency() {
    let frequency = 5.0;
    let mut body = chain(2, &Groups::Links, Params { frequency, ..Params::default() });
    let length = |body: &Alone| body.position(1).x - body.position(0).x - GAP;
    body.x[1][0] += 0.1 * GAP;
    let (h, mut last, mut crossings) = (2e-4, length(&body), Vec::new());
    for k in 0..5000 {
        body.step(h);
        let now = length(&body);
        if last > 0.0 && now <= 0.0 {
            crossings.push(k as Real * h + h * last / (last - now));
        }
        last = now;
    }
    let period = (crossings[3] - crossings[0]) / 3.0;
    // implicit Euler is slower by (ω h)²/…: 4e-5 here
    assert!((period * frequency - 1.0).abs() < 1e-3, "{period} s");
}

#[test]
fn a_twisted_pair_vibrates_at_its_frequency() {
    let frequency = 5.0;
    let mut body = chain(2, &Groups::Links, Params { frequency, ..Params::default() });
    put(&mut body.internal_state, 1, Quat::from_rotation_x(0.05), Vec3::ZERO);
    let between = |body: &Alone| twist(body, 1) - twist(body, 0);
    let (h, mut last, mut crossings) = (2e-4, between(&body), Vec::new());
    for k in 0..5000 {
        body.step(h);
        let now = between(&body);
        if last > 0.0 && now <= 0.0 {
            crossings.push(k as Real * h + h * last / (last - now));
        }
        last = now;
    }
    let period = (crossings[3] - crossings[0]) / 3.0;
    assert!((period * frequency - 1.0).abs() < 1e-3, "{period} s");
}

/// A number between −1 and 1.
fn part(k: usize) -> Real {
    ((k * 7919) % 1000) as Real / 500.0 - 1.0
}

#[test]
fn the_operator_is_symmetric_bounded_below_by_the_mass_and_matches_its_diagonal() {
    let mut body = stirred(&Groups::Neighbours);
    body.model.set_implicit(true);
    body.step(1.0 / 240.0);
    let operator = body.model.operator().unwrap();
    let count = operator.block_count();
    assert_eq!((count, operator.point_count()), (24, 12));
    let vector = |seed: usize| -> Vec<Block> {
        // angular velocities in rad/s are a hundred times the velocities in m/s
        let size = |b: usize| if b < 12 { 1.0 } else { 100.0 };
        (0..count).map(|b| [0, 1, 2, 9].map(|k| if k < 3 { part(seed + 3 * b + k) * size(b) } else { 0.0 })).collect()
    };
    let dot = |a: &[Block], b: &[Block]| -> Real { a.iter().zip(b).map(|(a, b)| vec(*a).dot(vec(*b))).sum() };
    let (u, w) = (vector(0), vector(500));
    let (mut au, mut aw) = (u.clone(), w.clone());
    operator.apply(&u, &mut au);
    operator.apply(&w, &mut aw);
    let scale = (dot(&u, &au) * dot(&w, &aw)).sqrt();
    assert!((dot(&u, &aw) - dot(&w, &au)).abs() < 1e-5 * scale);
    let mass: Real = u.iter().enumerate().map(|(b, v)| vec(*v).dot(operator.momentum(b, vec(*v)))).sum();
    assert!(dot(&u, &au) > mass, "{} {mass}", dot(&u, &au));
    let mut diagonal = vec![Mat3::ZERO; count];
    operator.diagonal(&mut diagonal);
    for (b, own) in diagonal.iter().enumerate() {
        let (mut unit, mut column) = (vec![[0.0; 4]; count], vec![[0.0; 4]; count]);
        unit[b][1] = 1.0;
        operator.apply(&unit, &mut column);
        let off = vec(column[b]) - own.y_axis;
        assert!(off.length() < 1e-4 * own.y_axis.length(), "{b}: {off} {}", own.y_axis);
    }
    // in a rigid motion the operator reduces to the mass
    let (shift, turn) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(1.0, 2.0, -0.5));
    let modes = operator.modes().unwrap();
    let rigid: Vec<Block> = (0..count).map(|b| modes.part(b, shift, turn)).map(|v| [v.x, v.y, v.z, 0.0]).collect();
    operator.apply(&rigid, &mut au);
    let mass: Real = rigid.iter().enumerate().map(|(b, v)| vec(*v).dot(operator.momentum(b, vec(*v)))).sum();
    // goals are slightly offset from the positions, and so are the arms of the rotation
    assert!((dot(&rigid, &au) / mass - 1.0).abs() < 0.02, "{} {mass}", dot(&rigid, &au));
}

/// A body that is bent, twisted and moving, with angular velocities of the particles.
fn stirred(groups: &Groups) -> Alone {
    let mut body = chain(12, groups, Params { frequency: 8.0, ..Params::default() });
    let noise = |k: usize| ((k * 7919 + 104_729) % 1009) as Real / 504.5 - 1.0;
    let any = |k: usize| Vec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2));
    for k in 0..12 {
        add(&mut body.x[k], any(k) * (0.1 * GAP));
        add(&mut body.v[k], any(k + 50) * 0.2);
        let q = integrate_rotation(orientation(&body.internal_state, k), any(k + 100) * 0.4);
        put(&mut body.internal_state, k, q, any(k + 200) * 10.0);
    }
    body
}

#[test]
fn linear_and_angular_momentum_are_conserved_for_ten_seconds() {
    let ways = [(Groups::Links, false), (Groups::Neighbours, false), (Groups::Links, true), (Groups::Neighbours, true)];
    for (groups, implicit) in ways {
        let mut body = stirred(&groups);
        body.model.set_implicit(implicit);
        // scales: sums of the absolute values of the particles, about the centre
        let masses = body.model.masses().to_vec();
        let parts = || body.v.iter().zip(&masses);
        let push: Real = parts().map(|(v, m)| m * vec(*v).length()).sum();
        let own: Real = (0..12).map(|k| inertia_of(masses[k], RADII).y * spin(&body.internal_state, k).length()).sum();
        let turn: Real =
            own + parts().enumerate().map(|(k, (v, m))| m * vec(*v).length() * GAP * k as Real).sum::<Real>();
        let (p, l) = body.momentum();
        for _ in 0..2400 {
            body.step(1.0 / 240.0);
        }
        let (p_end, l_end) = body.momentum();
        assert!((p_end - p).length() < 1e-5 * push, "{groups:?} {implicit} {p} {p_end}");
        // x × m v of a body that drifts: its distance times the rounding error of its momentum is in the scale
        let far = body.position(0).length() * push;
        assert!((l_end - l).length() < 1e-5 * (turn + far), "{groups:?} {implicit} {l} {l_end}, scale {turn} {far}");
    }
}

#[test]
fn internal_motion_does_not_gain_energy() {
    for implicit in [false, true] {
        let mut body = stirred(&Groups::Neighbours);
        body.model.set_implicit(implicit);
        let mut last = body.kinetic() + body.energy();
        for _ in 0..2000 {
            body.step(1.0 / 240.0);
            let now = body.kinetic() + body.energy();
            assert!(now < last * 1.01, "implicit {implicit}: {last} J, then {now} J");
            last = now;
        }
    }
}

#[test]
fn a_particle_rotates_back_by_the_smaller_angle() {
    // a rotation by 200° in one direction is 160° in the other
    for (angle, sign) in [(160.0, -1.0), (200.0, 1.0)] as [(Real, Real); 2] {
        let mut body = chain(2, &Groups::Links, Params::default());
        body.pin(0);
        put(&mut body.internal_state, 1, Quat::from_rotation_x(angle.to_radians()), Vec3::ZERO);
        body.step(1e-3);
        assert!(spin(&body.internal_state, 1).x * sign > 0.0, "{angle}: {}", spin(&body.internal_state, 1));
    }
}

#[test]
fn both_signs_of_a_quaternion_are_the_same_rotation() {
    let run = |flip: bool| {
        let mut body = stirred(&Groups::Links);
        if flip {
            for k in 0..12 {
                let (q, w) = (orientation(&body.internal_state, k), spin(&body.internal_state, k));
                put(&mut body.internal_state, k, -q, w);
            }
        }
        for _ in 0..100 {
            body.step(1.0 / 240.0);
        }
        body.x
    };
    let (plain, flipped) = (run(false), run(true));
    for (a, b) in plain.iter().zip(&flipped) {
        assert!((vec(*a) - vec(*b)).length() < 1e-4 * GAP);
    }
}

#[test]
fn a_single_particle_translates_and_rotates_freely() {
    let grain = Ellipsoid { radii: Vec3::new(0.03, 0.02, 0.01), density: 1000.0 };
    let model = Oriented::points(&[Vec3::ZERO], grain, &Groups::Neighbours, Params::default()).unwrap();
    let mut body = Alone::new(model, &[Vec3::ZERO]);
    body.push(Vec3::new(1.0, 2.0, 0.0), Vec3::new(0.1, 5.0, 0.2), Vec3::ZERO);
    body.gravity = -Vec3::Y * 9.81;
    let (energy, spin) = body.own_rotation();
    for _ in 0..1000 {
        body.step(1e-3);
    }
    let (energy_end, spin_end) = body.own_rotation();
    assert!((spin_end - spin).length() < 1e-4 * spin.length(), "{spin} {spin_end}");
    assert!((energy_end / energy - 1.0).abs() < 1e-3, "{energy} {energy_end}");
    // symplectic Euler falls by ½ g t (t + h)
    let fall = 2.0 - 0.5 * 9.81 * 1.001;
    assert!((body.position(0) - Vec3::new(1.0, fall, 0.0)).length() < 1e-3);
}

#[test]
fn only_a_twist_above_the_yield_strain_is_plastic() {
    // plastic twist of a pair that is kept twisted, from its internal state
    let lasting = |angle: Real| {
        let law = Plasticity { yield_strain: 0.1, creep: 20.0, max_strain: 0.6 };
        let mut body = chain(2, &Groups::Links, Params { plasticity: Some(law), ..Params::default() });
        body.pin(0);
        body.pin(1);
        put(&mut body.internal_state, 1, Quat::from_rotation_x(angle), Vec3::ZERO);
        for _ in 0..500 {
            body.step(1.0 / 240.0);
        }
        let [a, b] = [0, 1].map(|k| {
            let at = 2 * SPAN + 7 * k;
            2.0 * angle_of(body.internal_state[at + 3], body.internal_state[at + 6])
        });
        b - a
    };
    // each of the two deviates by half the twist: yield at 0.2 rad, and the excess flows
    assert_eq!(lasting(0.15), 0.0);
    assert!((lasting(0.5) - 0.3).abs() < 0.003, "{}", lasting(0.5));
    // the maximum plastic twist: 1.2 rad between the two
    assert!((lasting(2.5) - 1.2).abs() < 0.01, "{}", lasting(2.5));
}

#[test]
fn a_chain_loaded_beyond_yield_keeps_a_twist_after_unloading() {
    let law = Plasticity { yield_strain: 0.02, creep: 20.0, max_strain: 0.6 };
    let params = Params { frequency: 30.0, damping: 30.0, plasticity: Some(law), ..Params::default() };
    let mut body = chain(11, &Groups::Links, params);
    let unit = series(10, 30.0, body.model.masses()[0]);
    body.pin(0);
    // 0.1 rad per link, twice the yield strain, is still small
    load(&mut body, 10, Vec3::X * (0.8 / unit));
    for _ in 0..120 {
        body.step(1.0 / 240.0);
    }
    load(&mut body, 10, Vec3::ZERO);
    for _ in 0..2000 {
        body.step(1.0 / 240.0);
    }
    assert!(twist(&body, 10) > 0.1, "{}", twist(&body, 10));
    assert!(spin(&body.internal_state, 10).length() < 1e-2);
}

#[test]
fn invalid_particles_are_rejected_by_name() {
    let grain = Ellipsoid { radii: RADII, density: 1000.0 };
    let error = |made: Result<Oriented, ParticleError>| made.unwrap_err().to_string();
    let flat = Ellipsoid { radii: Vec3::new(0.1, 0.0, 0.1), ..grain };
    assert!(error(Oriented::rope(&line(3), flat, &Groups::Links, Params::default())).contains("radii"));
    let fast = Params { frequency: Real::INFINITY, ..Params::default() };
    assert!(error(Oriented::rope(&line(3), grain, &Groups::Links, fast)).contains("frequency"));
    let some = Groups::Explicit(vec![Group { nodes: vec![0, 1], weight: 1.0 }]);
    assert!(error(Oriented::rope(&line(3), grain, &some, Params::default())).contains("node 2"));
    let twice = Groups::Explicit(vec![Group { nodes: vec![0, 1, 1, 2], weight: 1.0 }]);
    assert!(error(Oriented::rope(&line(3), grain, &twice, Params::default())).contains("twice"));
}
