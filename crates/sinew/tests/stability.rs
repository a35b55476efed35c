//! No stiffness, step or mass ratio makes a model explode: a sample of the grid. All of it: `examples/stability.rs`.

#[path = "common/grid.rs"]
mod grid;
use grid::{Fate, kinds, points, run};

/// Energy is judged in the default build: in double precision nothing is beyond the digits, so that stiff bodies get no
/// substeps for their sake, and two points of the sample gain some (`docs/stability.md`).
const JUDGES_ENERGY: bool = sinew::Real::EPSILON > 1e-10;

/// Goals that do not see the contact rows push back more than the contact has paid for: energy of these is told in
/// `docs/stability.md` and not judged.
const UNJUDGED: &str = "oriented particles";

/// Points a model; with 21 models they are spread over the whole grid.
const POINTS: usize = 4;

#[test]
fn no_model_explodes_whatever_stiffness_step_and_load() {
    let all = points();
    let mut failures = Vec::new();
    for (k, kind) in kinds().iter().enumerate() {
        for n in 0..POINTS {
            // a step without a common divisor meets every value of every axis
            let at = all[((k * POINTS + n) * 251 + 17) % all.len()];
            match run(kind, at, 60) {
                Fate::Held { growth, .. } if growth > 1.0 && JUDGES_ENERGY && kind.name != UNJUDGED => {
                    failures.push(format!("{} at {at:?}: {growth} times the energy allowed", kind.name));
                }
                Fate::Held { .. } => {}
                Fate::Refused(why) => assert!(why.contains("poisson"), "{} at {at:?}: {why}", kind.name),
                Fate::Failed(what) => failures.push(format!("{} at {at:?}: {what}", kind.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
