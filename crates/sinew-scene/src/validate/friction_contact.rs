//! Friction through contacts of the engine (F09).

use super::tools::{block, floor, num, settings, track_body, vec3};
use super::{Case, Reading, Readings};
use sinew::{Material, World};

/// F09.
pub const CASES: &[Case] = &[Case::friction("F09", "Friction isotropy", "rigid contact", f09)];

fn f09() -> Readings {
    let right = 9.0 / (2.0 * 0.4 * super::tools::G);
    let mut readings = Vec::new();
    let mut reaches = Vec::new();
    for degrees in [0.0f64, 22.5, 45.0] {
        let mut world = World::new(settings())?;
        floor(&mut world, Material::friction(0.4))?;
        // flat: a tall box would tip on its edge
        let (s, c) = degrees.to_radians().sin_cos();
        let body = block([0.2, 0.02, 0.2], 1.0).material(Material::friction(0.4)).at(vec3(0.0, 0.01, 0.0));
        let id = world.add_rigid(body.velocity(vec3(3.0 * c, 0.0, 3.0 * s)))?;
        let [x, z] = track_body(&mut world, id, 1.0, |b| [num(b.position().x), num(b.position().z)])?;
        let (x, z) = (x.last(), z.last());
        reaches.push(x * c + z * s);
        readings.push(Reading::relative(&format!("distance at {degrees} deg"), x * c + z * s, right, 0.01));
        readings.push(Reading::at_most(&format!("lateral deviation at {degrees} deg"), z * c - x * s, 0.01 * right));
    }
    let spread =
        (reaches.iter().copied().fold(f64::MIN, f64::max) - reaches.iter().copied().fold(f64::MAX, f64::min)) / right;
    readings.push(Reading::at_most("spread", spread, 0.01));
    Ok(readings)
}
