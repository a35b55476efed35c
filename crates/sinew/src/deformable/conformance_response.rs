//! The declared approximation of `respond`, measured: an impulse on one coordinate, spread over a substep as a force, and
//! the difference of the velocities after the substep with and without it.

use super::super::rotation::{self, SPAN};
use super::{Sample, noise, size, table};
use crate::deformable::alone::Alone;
use crate::deformable::{Approximation, Coordinates};
use crate::math::{Real, Vec3, vec};

/// Velocity that the probing impulses give to one node alone [m/s].
const SPEED: Real = 0.1;

/// One measured response.
struct Probe {
    /// p·Δv / p·respond(p).
    ratio: Real,
    /// Largest |Δv − respond(p)| of a coordinate, as a fraction of the largest |respond(p)|.
    error: Real,
    /// Rounding of velocities, as a fraction of the largest |respond(p)|: positions are rounded, and a substep turns the
    /// forces of that strain into velocities of ε size/h.
    rounding: Real,
}

/// Velocities and angular velocities of all coordinates.
fn velocities(body: &Alone) -> Vec<Vec3> {
    let spins = (0..body.model.ellipsoids().len()).map(|node| rotation::spin(&body.internal_state, node));
    body.v.iter().map(|v| vec(*v)).chain(spins).collect()
}

/// Adds an impulse on a coordinate as a force, or torque, during the next substep of h [s].
fn push(body: &mut Alone, coordinate: usize, impulse: Vec3, h: Real) {
    match coordinate.checked_sub(body.x.len()) {
        None => body.force[coordinate] += impulse / h,
        Some(node) => (impulse / h).write_to_slice(&mut body.internal_state[SPAN * node + 7..]),
    }
}

/// An impulse on one coordinate of a body at rest.
fn probe(sample: &Sample, coordinate: usize) -> Probe {
    let [mut still, mut pushed] = [(sample.make)(3), (sample.make)(3)];
    let (h, nodes) = (sample.step(&still), still.x.len());
    let direction = (noise(coordinate) + Vec3::new(0.0, 0.1, 0.0)).normalize();
    let answer = |impulse: Vec3| {
        let mut change = vec![Vec3::ZERO; velocities(&still).len()];
        still.model.respond(still.body(), &[(coordinate as u32, impulse)], &mut |k, dv| change[k as usize] += dv);
        change
    };
    // the impulse that moves the coordinate, without internal forces, at the speed of the probe at its surface
    let lever = still.model.ellipsoids().get(coordinate.wrapping_sub(nodes)).map_or(1.0, |r| r.max_element());
    let impulse = direction * (SPEED / (lever * answer(direction)[coordinate].length()));
    let expected = answer(impulse);
    push(&mut pushed, coordinate, impulse, h);
    still.step(h);
    pushed.step(h);
    let changes: Vec<Vec3> = velocities(&pushed).iter().zip(velocities(&still)).map(|(a, b)| *a - b).collect();
    let largest = expected.iter().map(|dv| dv.length()).fold(0.0, Real::max);
    let off = changes.iter().zip(&expected).map(|(a, b)| (*a - *b).length()).fold(0.0, Real::max);
    Probe {
        ratio: impulse.dot(changes[coordinate]) / impulse.dot(expected[coordinate]),
        error: off / largest,
        rounding: 20.0 * Real::EPSILON * (1.0 + size(&still) / (h * SPEED)),
    }
}

/// Probes of a sample: a corner, a node inside, and rotations where nodes rotate.
fn probes(sample: &Sample) -> Vec<Probe> {
    let body = (sample.make)(3);
    let nodes = body.x.len();
    let mut coordinates = vec![0, nodes / 2];
    if body.model.traits().coordinates == Coordinates::Ellipsoids {
        coordinates.push(nodes + nodes / 2);
    }
    coordinates.into_iter().map(|k| probe(sample, k)).collect()
}

/// How far a declaration is from the measured responses, as a multiple of what it allows; at most 1 is true. A lumped
/// declaration of a model whose response is exact is not.
fn judge(declared: Approximation, h: Real, probes: &[Probe]) -> Real {
    let exact = probes.iter().map(|p| p.error / p.rounding).fold(0.0, Real::max);
    match declared {
        Approximation::Exact => exact,
        Approximation::Lumped { .. } if exact <= 1.0 => Real::INFINITY,
        Approximation::Lumped { .. } => {
            let least = declared.least(h);
            let of = |p: &Probe| ((p.ratio - 1.0) / p.rounding).max((least - p.ratio) / p.rounding);
            probes.iter().map(of).fold(0.0, Real::max)
        }
    }
}

#[test]
fn the_response_is_as_far_from_the_substep_as_declared() {
    let mut failures = Vec::new();
    for sample in table() {
        let body = (sample.make)(3);
        let (h, probes) = (sample.step(&body), probes(&sample));
        let declared = body.model.traits().response;
        let share = judge(declared, h, &probes);
        let ratios: Vec<Real> = probes.iter().map(|p| p.ratio).collect();
        let least = declared.least(h);
        println!("{}: {declared:?}, at least {least:.4}, measured {ratios:.4?}", sample.name);
        if !(share <= 1.0) {
            failures.push(format!("{}: {share} times what {declared:?} allows, {ratios:?}", sample.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_wrong_declaration_of_the_response_fails() {
    for sample in table() {
        let body = (sample.make)(3);
        let (h, probes) = (sample.step(&body), probes(&sample));
        let wrong = match body.model.traits().response {
            Approximation::Exact => Approximation::Lumped { stiffness: 1e6, damping: 0.0, decay: 0.0 },
            Approximation::Lumped { .. } => Approximation::Exact,
        };
        assert!(!(judge(wrong, h, &probes) <= 1.0), "{}", sample.name);
        // a bound that is too narrow
        if let Approximation::Lumped { .. } = body.model.traits().response {
            let narrow = Approximation::Lumped { stiffness: 0.0, damping: 0.0, decay: 0.0 };
            assert!(!(judge(narrow, h, &probes) <= 1.0), "{}", sample.name);
        }
    }
}

#[test]
fn the_implicit_form_and_the_coordinates_are_as_declared() {
    for sample in table() {
        let mut body = (sample.make)(2);
        let traits = body.model.traits();
        assert_eq!(traits.internal_state_count, body.internal_state.len(), "{}", sample.name);
        let turns = !body.model.ellipsoids().is_empty();
        assert_eq!(traits.coordinates == Coordinates::Ellipsoids, turns, "{}", sample.name);
        assert_eq!(body.model.set_implicit(true), traits.implicit_form, "{}", sample.name);
        assert_eq!(body.model.operator().is_some(), traits.implicit_form, "{}", sample.name);
    }
}
