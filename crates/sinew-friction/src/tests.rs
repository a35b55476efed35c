//! Properties of the friction laws: steady curves, hysteresis loops, break-away forces, and stability at any stiffness.

#![allow(clippy::unnecessary_cast, reason = "the casts are needed in one of the two builds")]

use super::*;

const PAIR: Coefficients = Coefficients { holding: 1.5, slipping: 1.0 };

/// A mass on the floor, pulled along a straight line.
struct Sled {
    law: Law,
    normal: Real,
    h: Real,
    v: Real,
    x: f64,
    memory: Memory,
    force: Real,
}

impl Sled {
    fn new(law: Law, h: Real) -> Self {
        Self { law, normal: 1.0, h, v: 0.0, x: 0.0, memory: Memory::default(), force: 0.0 }
    }

    /// A step of the mass [kg] under a pull [N].
    fn pull(&mut self, mass: Real, pull: Real) {
        let (h, response) = (self.h, self.h / mass);
        let free = [self.v + response * pull, 0.0];
        let result =
            self.law.friction(&Contact { h, normal: self.normal, coefficients: PAIR, free, response }, self.memory);
        (self.v, self.force, self.memory) = (result.velocity[0], result.force[0], result.memory);
        self.x += f64::from(self.v as f32) * f64::from(h as f32);
    }

    /// A step with an imposed slip [m/s].
    fn slide(&mut self, v: Real) {
        let contact = Contact { h: self.h, normal: self.normal, coefficients: PAIR, free: [v, 0.0], response: 0.0 };
        let result = self.law.friction(&contact, self.memory);
        (self.force, self.memory) = (result.force[0], result.memory);
    }
}

fn near(a: Real, b: Real, share: Real) -> bool {
    (a - b).abs() <= share * b.abs()
}

#[test]
fn every_law_converges_to_its_steady_curve() {
    for law in Law::all() {
        for speed in [1e-4, 5e-4, 2e-3, 0.01, 0.1, 2.0] {
            let mut sled = Sled::new(law, 1e-3);
            // 100 break-away lengths, or a tenth of a second
            for _ in 0..((2e-3 / (speed * sled.h)) as usize).max(100) {
                sled.slide(speed);
            }
            // in Karnopp's dead band every slower contact sticks: an imposed slow slip gives μ_s
            assert!(near(sled.force, law.steady(PAIR, speed), 1e-3), "{} at {speed}: {}", law.name(), sled.force);
        }
    }
}

#[test]
fn friction_is_linear_in_the_load_and_keeps_the_direction_of_slip() {
    for law in Law::all() {
        let contact = Contact { h: 1e-3, normal: 1.0, coefficients: PAIR, free: [0.3, -0.4], response: 0.0 };
        let memory = Memory { stretch: [0.0; 2], slipping: true };
        let (one, ten) = (law.friction(&contact, memory), law.friction(&Contact { normal: 10.0, ..contact }, memory));
        assert!(near(ten.force[0], 10.0 * one.force[0], 1e-6) && near(ten.force[1], 10.0 * one.force[1], 1e-6));
        assert!(near(one.force[1], one.force[0] * (-4.0 / 3.0), 1e-5), "{}: {one:?}", law.name());
        let off = law.friction(&Contact { normal: 0.0, ..contact }, Memory { stretch: [1e-5, 0.0], slipping: true });
        assert_eq!((off.force, off.memory), ([0.0; 2], Memory::default()));
    }
}

#[test]
fn hysteresis_loop_of_dahl_agrees_with_its_closed_form() {
    // between ±A: F at reversal F_C tanh(σA/F_C), loss per cycle 4 (F_C A − F_C²/σ tanh(σA/F_C))
    let (amplitude, steps) = (20e-6, 4000);
    for frequency in [0.1, 10.0] {
        let mut sled = Sled::new(Law::Dahl(Dahl::default()), 1.0 / (frequency * steps as Real));
        let speed = 4.0 * amplitude * frequency;
        let (mut loss, mut reversal) = (0.0, 0.0);
        for cycle in 0..3 {
            for i in 0..steps {
                // starts at the centre: up, down, up
                let v = if (i + steps / 4) % steps < steps / 2 { speed } else { -speed };
                sled.slide(v);
                if cycle == 2 {
                    loss += sled.force * v * sled.h;
                    reversal = Real::max(reversal, sled.force);
                }
            }
        }
        let reach = Real::tanh(2.0);
        assert!(near(reversal, reach, 2e-3), "{reversal}");
        assert!(near(loss, 4.0 * (20e-6 - 1e-5 * reach), 5e-3), "{loss}");
    }
}

#[test]
fn exponent_of_dahl_shapes_the_initial_loading_curve() {
    // from rest: F/F_C = p with ∫dp/(1−p)^α = σx/F_C: α = 2: p = X/(1+X); α = ½: p = 1 − (1 − X/2)²
    for (exponent, right) in [(2.0, 0.5), (0.5, 0.75), (1.0, 1.0 - Real::exp(-1.0))] {
        let mut sled = Sled::new(Law::Dahl(Dahl { stiffness: 1e5, exponent }), 1e-3);
        for _ in 0..1000 {
            sled.slide(1e-5);
        }
        assert!(near(sled.force, right, 3e-3), "α = {exponent}: {}", sled.force);
    }
}

#[test]
fn a_bristle_is_a_spring_before_it_slips() {
    for law in Law::all().into_iter().filter(Law::has_bristle) {
        let mut sled = Sled::new(law, 1e-3);
        sled.slide(1e-5);
        // 10 nm: σ₀ x, and σ₁ v for damped bristles; the viscous part is a millionth
        let damped = if matches!(law, Law::Dahl(_)) { 0.0 } else { 316.227_77 * 1e-5 };
        assert!(near(sled.force, 1e-3 + damped, 2e-3), "{}: {}", law.name(), sled.force);
    }
}

#[test]
fn a_sticking_contact_holds_to_its_limit_and_does_not_creep() {
    for law in [Law::Stiction(Stiction), Law::Stribeck(Stribeck::default()), Law::Karnopp(Karnopp::default())] {
        let mut sled = Sled::new(law, 1e-3);
        sled.pull(1.0, 1.499);
        assert_eq!((sled.v, sled.x), (0.0, 0.0), "{}", law.name());
        for _ in 0..100 {
            sled.pull(1.0, 1.6);
        }
        // break-away: the pull exceeds the sliding friction
        assert!(sled.v > 0.01 && sled.memory.slipping, "{}: {}", law.name(), sled.v);
        // the friction in slip is below the static limit
        assert!(sled.force < 1.1, "{}: {}", law.name(), sled.force);
    }
}

#[test]
fn break_away_of_lugre_falls_with_the_load_rate_and_that_of_karnopp_does_not() {
    let break_away = |law: Law, rate: Real| {
        let mut sled = Sled::new(law, 1e-4);
        let mut most: Real = 0.0;
        for i in 0..(2.0 / rate / 1e-4) as usize {
            sled.pull(1.0, rate * 1e-4 * i as Real);
            most = most.max(sled.force);
        }
        most
    };
    let rates = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
    let lugre = rates.map(|r| break_away(Law::LuGre(LuGre::default()), r));
    assert!(lugre.windows(2).all(|w| w[1] < w[0]), "{lugre:?}");
    let dry = Curve { viscosity: 0.0, ..Curve::default() };
    let karnopp = rates.map(|r| break_away(Law::Karnopp(Karnopp { dead_band: 1e-3, curve: dry }), r));
    assert!(karnopp.iter().all(|f| near(*f, 1.5, 1e-3)), "{karnopp:?}");
}

#[test]
fn elasto_plastic_does_not_drift_where_lugre_does() {
    // 1 N ± 0.3 N at 1 Hz, below the break-away of 1.35 N and 1.5 N
    let drift = |law: Law| {
        let mut sled = Sled::new(law, 1e-3);
        let mut start = 0.0;
        for i in 0..12_000 {
            let time = 1e-3 * i as Real;
            let swing = 0.3 * Real::sin(std::f64::consts::TAU as Real * time);
            sled.pull(1.0, if time < 1.0 { time } else { 1.0 + swing });
            if i == 1999 {
                start = sled.x;
            }
        }
        sled.x - start
    };
    assert!(drift(Law::ElastoPlastic(ElastoPlastic::default())).abs() < 1e-8);
    assert!(drift(Law::LuGre(LuGre::default())) > 1e-4);
}

#[test]
fn no_stiffness_and_no_step_shakes_a_held_mass() {
    // up to 1e6 N/m on 1 kg at 20 ms: 3000 times the squared frequency at which an explicit step would be stable
    for stiffness in [1e3, 1e5, 1e6] {
        for h in [1e-3, 5e-3, 0.02] {
            let bristle = LuGre { stiffness, ..LuGre::default() };
            let laws = [
                Law::Dahl(Dahl { stiffness, exponent: 1.0 }),
                Law::Dahl(Dahl { stiffness, exponent: 1.5 }),
                Law::LuGre(bristle),
                Law::LuGre(LuGre { damping: 0.0, ..bristle }),
                Law::ElastoPlastic(ElastoPlastic { bristle, elastic_share: 0.9 }),
            ];
            for law in laws {
                let mut sled = Sled::new(law, h);
                sled.v = 1.0;
                let mut energy = 0.5;
                for _ in 0..((3.0 / h) as usize) {
                    sled.pull(1.0, 0.0);
                    let z = sled.memory.stretch[0];
                    let next = 0.5 * sled.v * sled.v + 0.5 * stiffness * z * z;
                    // friction dissipates energy, it never adds any (except for rounding)
                    assert!(next <= energy * 1.0001 + 1e-9, "{law:?} at {h}: {energy} -> {next}");
                    energy = next;
                }
                // the mass stops within 1 s; an undamped bristle may still oscillate with the energy stored at its
                // limit, and no more
                assert!(energy < 1e-3 && sled.force.abs() < 1.6, "{law:?} at {h}: {energy} {}", sled.force);
            }
        }
    }
}

#[test]
fn eight_contacts_at_a_time_are_bitwise_equal_to_single_contacts() {
    let mut seed: u32 = 7;
    let mut random = move |low: f64, high: f64| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (low + (high - low) * f64::from(seed >> 8) / f64::from(1u32 << 24)) as Real
    };
    let odd =
        [Law::Dahl(Dahl { stiffness: 1e4, exponent: 1.3 }), Law::Viscous(Viscous { viscosity: 2.0, exponent: 0.5 })];
    for law in Law::all().into_iter().chain(odd) {
        for _ in 0..200 {
            let mut eight = Eight {
                h: 5e-3,
                normal: [0; LANES].map(|_| random(-1.0, 10.0)),
                holding: [0; LANES].map(|_| random(0.5, 1.0)),
                kinetic: [0; LANES].map(|_| random(0.0, 0.5)),
                velocity: [[0; LANES].map(|_| random(-0.1, 0.1)), [0; LANES].map(|_| random(-0.01, 0.01))],
                response: [0; LANES].map(|_| random(0.0, 0.05)),
                stretch: [[0; LANES].map(|_| random(-1e-5, 1e-5)), [0; LANES].map(|_| random(-1e-5, 1e-5))],
                slipping: [0; LANES].map(|_| random(0.0, 2.0).floor()),
                force: [[0.0; LANES]; 2],
            };
            let before = eight;
            law.friction_eights(std::slice::from_mut(&mut eight));
            for k in 0..LANES {
                let contact = Contact {
                    h: before.h,
                    normal: before.normal[k],
                    coefficients: Coefficients { holding: before.holding[k], slipping: before.kinetic[k] },
                    free: before.velocity.map(|v| v[k]),
                    response: before.response[k],
                };
                let memory = Memory { stretch: before.stretch.map(|s| s[k]), slipping: before.slipping[k] > 0.5 };
                let result = law.friction(&contact, memory);
                assert_eq!(result.force, eight.force.map(|f| f[k]), "{}", law.name());
                assert_eq!(result.velocity, eight.velocity.map(|f| f[k]), "{}", law.name());
                assert_eq!(result.memory.stretch, eight.stretch.map(|f| f[k]), "{}", law.name());
                assert_eq!(result.memory.slipping, eight.slipping[k] > 0.5, "{}", law.name());
            }
        }
    }
}

#[test]
fn force_and_slip_satisfy_the_response_equation() {
    // v = v_free − response F, for every law in slip and at rest
    for law in Law::all() {
        for (free, slipping) in [([0.02, 0.01], true), ([1e-4, -2e-4], false), ([2.0, 0.0], true)] {
            let contact = Contact { h: 5e-3, normal: 4.0, coefficients: PAIR, free, response: 5e-3 };
            let result = law.friction(&contact, Memory { stretch: [2e-6, -1e-6], slipping });
            for k in 0..2 {
                let right = free[k] - contact.response * result.force[k];
                assert!(
                    (result.velocity[k] - right).abs() < 2e-5 * (1.0 + free[k].abs()),
                    "{}: {result:?}",
                    law.name()
                );
            }
        }
    }
}

#[test]
fn invalid_parameters_are_rejected_with_their_name() {
    let text = |e: Result<(), NumberError>| e.expect_err("refused").to_string();
    assert!(text(Dahl::new(0.0, 1.0).map(|_| ())).contains("dahl.stiffness"));
    assert!(text(ElastoPlastic::new(LuGre::default(), 1.0).map(|_| ())).contains("elasto-plastic.elastic_share"));
    assert!(text(Viscous::new(-1.0, 1.0).map(|_| ())).contains("viscous.viscosity"));
    assert!(text(Karnopp::new(Real::NAN, Curve::default()).map(|_| ())).contains("karnopp.dead_band"));
    assert!(text(Coefficients { holding: 0.5, slipping: 0.6 }.check("floor")).contains("floor.slipping"));
}
