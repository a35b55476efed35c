//! Friction laws against known answers (F01 to F08), each law alone under a load of 1 N, so that coefficients are forces.

use super::{Case, Reading, Readings};
use crate::friction_bench::Sled;
use sinew::Real;
use sinew::friction::{Coefficients, Curve, Dahl, ElastoPlastic, Karnopp, Law, LuGre, Stiction};
use std::f64::consts::TAU;

/// F_s = 1.5 N, F_C = 1 N.
const PAIR: Coefficients = Coefficients { holding: 1.5, slipping: 1.0 };

/// F01 to F08.
pub const CASES: &[Case] = &[
    Case::friction("F01", "LuGre steady-state Stribeck curve", "lugre", f01),
    Case::friction("F02", "Presliding stiffness and quasi-static presliding curve", "lugre", f02),
    Case::friction("F03", "Dahl loop closed form", "dahl", f03),
    Case::friction("F04", "Coulomb/Karnopp break-away and stick", "karnopp", || f04(karnopp(1e-3))),
    Case::friction("F04", "Coulomb/Karnopp break-away and stick", "stiction", || f04(Law::Stiction(Stiction))),
    Case::friction("F05", "LuGre break-away force falls with load rate", "lugre", f05),
    Case::friction("F06", "Stick-slip limit cycle", "lugre", f06_lugre),
    // the closed form is for a band of no width: one of 1 mm/s lets the spring pull 20 mN more before it is left
    Case::friction("F06", "Stick-slip limit cycle", "karnopp", || f06_karnopp(karnopp(1e-5))),
    Case::friction("F06", "Stick-slip limit cycle", "stiction", || f06_karnopp(Law::Stiction(Stiction))),
    Case::friction("F07", "Frictional lag", "lugre", f07),
    Case::friction("F08", "Drift under sub-limit oscillation: LuGre drifts, elasto-plastic does not", "laws", f08),
];

/// The figures of the 1995 paper are the defaults.
fn lugre() -> Law {
    Law::LuGre(LuGre::default())
}

/// Stick at μ_s within a band [m/s], slip at μ_k from its edge on, no viscosity.
fn karnopp(dead_band: Real) -> Law {
    let curve = Curve { speed: 0.1 * dead_band, exponent: 2.0, viscosity: 0.0 };
    Law::Karnopp(Karnopp { dead_band, curve })
}

fn f01() -> Readings {
    let right = [
        (1e-4, 1.495_064_9),
        (5e-4, 1.389_600_4),
        (1e-3, 1.184_339_7),
        (2e-3, 1.009_957_8),
        (5e-3, 1.002),
        (1e-2, 1.004),
        (0.1, 1.04),
    ];
    let mut readings = Vec::new();
    for (v, force) in right {
        let mut sled = Sled::new(lugre(), PAIR, 1e-3);
        for _ in 0..3000 {
            sled.slide(v);
        }
        readings.push(Reading::relative(&format!("F({v})"), sled.friction, force, 0.005));
    }
    Ok(readings)
}

fn f02() -> Readings {
    let mut sled = Sled::new(lugre(), PAIR, 1e-3);
    let rate = 0.01;
    let (mut stiffness, mut half, mut most) = (f64::NAN, f64::NAN, f64::NAN);
    for _ in 0..142_500 {
        let pull = rate * (sled.time + sled.h);
        sled.pull(pull);
        if pull <= 0.015 {
            stiffness = pull / sled.x;
        }
        if pull <= 0.75 {
            half = sled.x;
        }
        most = sled.x;
    }
    Ok(vec![
        Reading::relative("initial stiffness", stiffness, 1e5, 0.02),
        Reading::relative("x at 1.425 N", most, 4.493_598e-5, 0.02),
        Reading::relative("x at 0.75 N", half, 1.039_721e-5, 0.02),
    ])
}

/// Largest force, loss a cycle and force at the first reversal of a loop of ±20 µm.
fn dahl_loop(frequency: f64) -> [f64; 3] {
    let count = 4000;
    let mut sled = Sled::new(Law::Dahl(Dahl::default()), PAIR, 1.0 / (frequency * f64::from(count)));
    let turn = TAU * frequency;
    let (mut loss, mut reversal, mut virgin) = (0.0, f64::NEG_INFINITY, f64::NAN);
    for k in 0..3 * count {
        let before = sled.friction;
        sled.slide(20e-6 * turn * (turn * (sled.time + 0.5 * sled.h)).cos());
        if k + 1 == count / 4 {
            virgin = sled.friction;
        }
        if k >= 2 * count {
            loss += 0.5 * (before + sled.friction) * sled.v * sled.h;
            reversal = reversal.max(sled.friction);
        }
    }
    [reversal, loss, virgin]
}

fn f03() -> Readings {
    let (slow, fast) = (dahl_loop(0.1), dahl_loop(10.0));
    let mut readings = Vec::new();
    for (loops, hertz) in [(slow, "0.1 Hz"), (fast, "10 Hz")] {
        let [reversal, loss, virgin] = loops;
        readings.push(Reading::relative(&format!("F at reversal, {hertz}"), reversal, 0.964_027_58, 0.01));
        readings.push(Reading::relative(&format!("loss per cycle, {hertz}"), loss, 4.143_889_7e-5, 0.01));
        readings.push(Reading::relative(&format!("F virgin at 20 um, {hertz}"), virgin, 0.864_664_72, 0.01));
    }
    Ok(readings)
}

fn f04(law: Law) -> Readings {
    let mut readings = Vec::new();
    for rate in [0.1, 1.0, 10.0] {
        let mut sled = Sled::new(law, PAIR, 1e-3);
        let (mut away, mut creep) = (f64::NAN, f64::NAN);
        let mut acceleration = f64::NAN;
        for _ in 0..(2.0 / rate / sled.h) as usize {
            let (before, pull) = (sled.v, rate * (sled.time + sled.h));
            sled.pull(pull);
            if sled.v != 0.0 && away.is_nan() {
                (away, creep) = (pull, sled.x - sled.v * sled.h);
            }
            // the first step that begins outside the dead band: 1 mm/s
            if before > 1e-3 && acceleration.is_nan() {
                // the pull has grown meanwhile: what is over 1.5 N is not the law's
                acceleration = (sled.v - before) / sled.h - (pull - 1.5);
            }
        }
        readings.push(Reading::relative(&format!("break-away, {rate} N/s"), away, 1.5, 0.01));
        readings.push(Reading::relative(&format!("a just after, {rate} N/s"), acceleration, 0.5, 0.01));
        readings.push(Reading::at_most(&format!("creep before, {rate} N/s"), creep, 0.0));
    }
    Ok(readings)
}

fn f05() -> Readings {
    let right =
        [(1.0, 1.432_414), (2.0, 1.394_415), (5.0, 1.313_208), (10.0, 1.219_952), (20.0, 1.098_614), (50.0, 1.007_469)];
    let mut readings = Vec::new();
    let mut last = f64::INFINITY;
    let mut falls = true;
    for (rate, force) in right {
        let mut sled = Sled::new(lugre(), PAIR, 1e-4);
        let mut most = 0.0f64;
        // until it slides: then viscosity would make a new peak
        while sled.v < 0.01 && sled.time < 3.0 / rate {
            sled.pull(rate * (sled.time + sled.h));
            most = most.max(sled.friction);
        }
        readings.push(Reading::relative(&format!("F_b({rate} N/s)"), most, force, 0.03));
        falls &= most < last;
        last = most;
    }
    readings.push(Reading::holds("monotone decreasing", falls));
    Ok(readings)
}

/// What a limit cycle is read by.
struct Cycle {
    period: f64,
    most: f64,
    least: f64,
    fastest: f64,
    /// Spring force as it comes to rest. Less than that it is before, from v = V on: 1 − √(0.5² + 0.14²) N.
    stuck: f64,
}

/// A mass dragged by a spring of 2 N/m whose end moves with 0.1 m/s.
fn stick_slip(law: Law) -> Cycle {
    let mut sled = Sled::new(law, PAIR, 1e-3);
    let mut cycle = Cycle { period: f64::NAN, most: 0.0, least: f64::INFINITY, fastest: 0.0, stuck: f64::NAN };
    let (mut starts, mut was) = (Vec::new(), 0.0);
    // the first cycles are not yet the limit
    while sled.time < 60.0 {
        let spring = 2.0 * (0.1 * (sled.time + sled.h) - sled.x);
        sled.pull(spring);
        if sled.time > 20.0 {
            cycle.most = cycle.most.max(spring);
            cycle.least = cycle.least.min(spring);
            cycle.fastest = cycle.fastest.max(sled.v);
            if was <= 0.1 && sled.v > 0.1 {
                starts.push(sled.time);
            }
            if was > 0.0 && sled.v == 0.0 {
                cycle.stuck = spring;
            }
        }
        was = sled.v;
    }
    if let [first, .., last] = starts[..] {
        cycle.period = (last - first) / (starts.len() - 1) as f64;
    }
    cycle
}

fn f06_lugre() -> Readings {
    let c = stick_slip(lugre());
    Ok(vec![
        Reading::relative("LuGre period", c.period, 6.362_606, 0.03),
        Reading::relative("LuGre spring force max", c.most, 1.507_988, 0.03),
        Reading::relative("LuGre spring force min", c.least, 0.741_239_2, 0.03),
        Reading::relative("LuGre max v", c.fastest, 0.369_816, 0.03),
    ])
}

fn f06_karnopp(law: Law) -> Readings {
    let c = stick_slip(law);
    Ok(vec![
        Reading::relative("Karnopp period (no viscous)", c.period, 7.611_259, 0.03),
        Reading::relative("Karnopp F min = 2Fc-Fs", c.stuck, 0.5, 0.03),
        Reading::relative("Karnopp v max", c.fastest, 0.467_423_5, 0.03),
    ])
}

/// Friction at the middle of a swing of the velocity: accelerating less decelerating [N].
fn lag(w: f64) -> f64 {
    // a step of 1/20,000 of a turn: the law is of first order, and the loop is thin
    let mut sled = Sled::new(lugre(), PAIR, TAU / w / 20_000.0);
    let (mut up, mut down) = (f64::NAN, f64::NAN);
    for k in 0..60_000 {
        let before = sled.friction;
        sled.slide(1.55e-3 + 1.45e-3 * (w * (sled.time + sled.h)).sin());
        let mean = 0.5 * (before + sled.friction);
        match (k + 1) % 20_000 {
            0 => up = mean,
            10_000 => down = mean,
            _ => {}
        }
    }
    up - down
}

fn f07() -> Readings {
    let lags = [1.0, 10.0, 25.0].map(lag);
    let mut sled = Sled::new(lugre(), PAIR, 1e-3);
    for _ in 0..1000 {
        sled.slide(1.55e-3);
    }
    Ok(vec![
        Reading::relative("F_acc-F_dec w=1", lags[0], 0.001_458_211, 0.1),
        Reading::relative("F_acc-F_dec w=10", lags[1], 0.016_172_15, 0.1),
        Reading::relative("F_acc-F_dec w=25", lags[2], 0.047_943_86, 0.1),
        Reading::relative("steady F(1.55e-3)", sled.friction, 1.045_866, 0.1),
    ])
}

/// Place at 2 s and at 12 s under 1 N ± 0.3 N, and at 1 s under 1 N.
fn shaken(law: Law) -> [f64; 3] {
    let mut sled = Sled::new(law, PAIR, 1e-3);
    let mut places = [f64::NAN; 3];
    for k in 0..12_000 {
        let t = sled.time + sled.h;
        sled.pull(if t <= 1.0 { t } else { 1.0 + 0.3 * (TAU * (t - 1.0)).sin() });
        match k + 1 {
            1000 => places[2] = sled.x,
            2000 => places[0] = sled.x,
            12_000 => places[1] = sled.x,
            _ => {}
        }
    }
    places
}

fn f08() -> Readings {
    let creeps = shaken(lugre());
    let stays = shaken(Law::ElastoPlastic(ElastoPlastic::default()));
    Ok(vec![
        Reading::relative("LuGre drift in 10 cycles", creeps[1] - creeps[0], 1.731_024e-4, 0.1),
        Reading::at_most("elasto-plastic drift in 10 cycles", stays[1] - stays[0], 1e-8),
        // the ramp still moves it with 10 µm/s: damping and viscosity hold 3 mN of the pull
        Reading::relative("EP elastic displacement at 1 N", stays[2], 1e-5, 0.01),
    ])
}
