//! Friction through contacts of the engine: a rigid box of 1 kg on a floor, under a weight of 1 N (F04, F08, F09).

use super::tools::{block, floor, num, real, settings, sleepless, track_body, vec3};
use super::{Case, Reading, Readings};
use sinew::friction::{Curve, ElastoPlastic, Karnopp, Law, LuGre};
use sinew::{BodyId, Error, Input, Settings, SurfaceMaterial, World};
use std::f64::consts::TAU;

/// The stick point is held by a spring, `docs/accuracy.md`.
const GIVES: &str = "the stick point is held by a spring of at most a 24th of the substep rate: it gives way by less than a micrometre, and takes it back; the law alone does not move at all";

const HOLD: &str = "Coulomb/Karnopp break-away and stick";
const DRIFT: &str = "Drift under sub-limit oscillation: LuGre drifts, elasto-plastic does not";
const EVEN: &str = "Friction isotropy";

/// F04, F08, F09.
pub const CASES: &[Case] = &[
    Case::friction("F04", HOLD, "rigid contact", || f04(Law::default())).known(GIVES),
    Case::friction("F04", HOLD, "karnopp contact", || f04(karnopp())).known(GIVES),
    Case::friction("F08", DRIFT, "laws contact", f08),
    Case::friction("F09", EVEN, "rigid contact", || f09(Law::default())),
    Case::friction("F09", EVEN, "elasto-plastic contact", || f09(dry_bristle())),
];

/// Without viscosity and damping: the closed form has neither, and damping takes 12 mm/s as slip begins.
fn dry_bristle() -> Law {
    let curve = Curve { viscosity: 0.0, ..Curve::default() };
    let bristle = LuGre { curve, damping: 0.0, ..LuGre::default() };
    Law::ElastoPlastic(ElastoPlastic { bristle, ..ElastoPlastic::default() })
}

fn karnopp() -> Law {
    let curve = Curve { speed: 1e-4, exponent: 2.0, viscosity: 0.0 };
    Law::Karnopp(Karnopp { dead_band: 1e-3, curve })
}

/// A box that gravity presses with 1 N; it has come to rest.
fn pressed(law: Law) -> Result<(World, BodyId), Error> {
    let mut world = World::new(Settings { gravity: vec3(0.0, -1.0, 0.0), ..sleepless() })?;
    let material = SurfaceMaterial { static_friction: 1.5, kinetic_friction: 1.0, law, ..SurfaceMaterial::default() };
    floor(&mut world, material)?;
    let id = world.add_rigid(block([0.2, 0.02, 0.2], 1.0).material(material).at(vec3(0.0, 0.01, 0.0)))?;
    super::tools::run(&mut world, 0.2);
    Ok((world, id))
}

/// A step under a pull [N].
fn pull(world: &mut World, pull: f64) -> Result<(), Error> {
    let gravity = vec3(pull, -1.0, 0.0);
    world.set_settings(Settings { gravity, ..world.settings().clone() })?;
    world.step(&Input::none());
    Ok(())
}

fn f04(law: Law) -> Readings {
    let mut readings = Vec::new();
    for rate in [1.0, 10.0] {
        let (mut world, id) = pressed(law)?;
        let start = num(world.body(id)?.position().x);
        let (mut most, mut creep, mut acceleration) = (0.0f64, 0.0f64, f64::NAN);
        let mut was = 0.0;
        for k in 1..=(2.0 / rate * 1000.0) as u32 {
            let force = rate * 1e-3 * f64::from(k);
            pull(&mut world, force)?;
            let (x, v) = (num(world.body(id)?.position().x) - start, num(world.body(id)?.velocity().x));
            // break-away is the most that friction held: what the pull did not make faster
            most = most.max(force - (v - was) / 1e-3);
            if v < 1e-4 && force < 1.1 {
                creep = creep.max(x.abs());
            }
            if was > 5e-3 && acceleration.is_nan() {
                acceleration = (v - was) / 1e-3 - (force - 1.5);
            }
            was = v;
        }
        readings.push(Reading::relative(&format!("break-away, {rate} N/s"), most, 1.5, 0.01));
        readings.push(Reading::relative(&format!("a just after, {rate} N/s"), acceleration, 0.5, 0.01));
        readings.push(Reading::at_most(&format!("creep before, {rate} N/s"), creep, 0.0));
    }
    Ok(readings)
}

/// Drift from 2 s to 12 s under 1 N ± 0.3 N, and place under 1 N [m].
fn shaken(law: Law) -> Result<[f64; 2], Error> {
    let (mut world, id) = pressed(law)?;
    let start = num(world.body(id)?.position().x);
    let mut places = [f64::NAN; 3];
    for k in 1..=12_000 {
        let t = 1e-3 * f64::from(k);
        pull(&mut world, if t <= 1.0 { t } else { 1.0 + 0.3 * (TAU * (t - 1.0)).sin() })?;
        let slot = match k {
            1000 => 0,
            2000 => 1,
            12_000 => 2,
            _ => continue,
        };
        places[slot] = num(world.body(id)?.position().x) - start;
    }
    Ok([places[2] - places[1], places[0]])
}

fn f08() -> Readings {
    let creeps = shaken(Law::LuGre(LuGre::default()))?;
    let stays = shaken(Law::ElastoPlastic(ElastoPlastic::default()))?;
    Ok(vec![
        Reading::relative("LuGre drift in 10 cycles", creeps[0], 1.731_024e-4, 0.1),
        Reading::at_most("elasto-plastic drift in 10 cycles", stays[0], 1e-8),
        Reading::relative("EP elastic displacement at 1 N", stays[1], 1e-5, 0.02),
    ])
}

fn f09(law: Law) -> Readings {
    let right = 9.0 / (2.0 * 0.4 * super::tools::G);
    let mut readings = Vec::new();
    let mut reaches = Vec::new();
    let material = SurfaceMaterial::friction(real(0.4)).law(law);
    for degrees in [0.0f64, 22.5, 45.0] {
        let mut world = World::new(settings())?;
        floor(&mut world, material)?;
        // flat: a tall box would tip on its edge
        let (s, c) = degrees.to_radians().sin_cos();
        let body = block([0.2, 0.02, 0.2], 1.0).material(material).at(vec3(0.0, 0.01, 0.0));
        let id = world.add_rigid(body.velocity(vec3(3.0 * c, 0.0, 3.0 * s)))?;
        let [x, z] = track_body(&mut world, id, 1.0, |b| [num(b.position().x), num(b.position().z)])?;
        let (x, z) = (x.last(), z.last());
        reaches.push(x * c + z * s);
        readings.push(Reading::relative(&format!("distance at {degrees} deg"), x * c + z * s, right, 0.01));
        readings.push(Reading::at_most(&format!("lateral deviation at {degrees} deg"), z * c - x * s, 0.01 * right));
    }
    let (low, high) = reaches.iter().fold((f64::MAX, f64::MIN), |(a, b), &r| (a.min(r), b.max(r)));
    readings.push(Reading::at_most("spread", (high - low) / right, 0.01));
    Ok(readings)
}
