//! The fast cases of rigid bodies, and the tools they are measured with.

use super::passes;
use sinew_scene::validate::cases;
use sinew_scene::validate::tools::{Track, bisect};

#[test]
fn a_ball_bounces_down_to_rest() {
    passes("R05");
}

#[test]
fn free_fall_is_that_of_its_integrator() {
    passes("R08");
}

#[test]
fn a_thrown_plate_wobbles_twice_as_fast_as_it_spins() {
    passes("R10");
}

#[test]
fn the_order_of_bodies_does_not_change_the_equilibrium() {
    passes("MR06");
}

#[test]
fn two_welded_halves_move_as_one_block() {
    passes("MR07");
}

#[test]
fn halving_the_step_halves_the_error() {
    passes("MR08");
}

#[test]
fn more_friction_stops_sooner_and_more_restitution_bounces_higher() {
    passes("MR14");
}

#[test]
fn every_case_has_its_own_id_and_model() {
    let mut ids: Vec<_> = cases().map(|c| (c.id, c.model)).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

fn sampled(f: impl Fn(f64) -> f64) -> Track {
    let t: Vec<f64> = (0..=2000).map(|i| f64::from(i) * 1e-3).collect();
    let y = t.iter().map(|t| f(*t)).collect();
    Track { t, y }
}

#[test]
fn a_parabola_gives_its_acceleration_and_a_line_its_rate() {
    let fall = sampled(|t| 3.0 - 0.5 * t + 0.5 * 9.81 * t * t);
    assert!((fall.acceleration() - 9.81).abs() < 1e-9);
    assert!((sampled(|t| 1.0 - 4.0 * t).rate() + 4.0).abs() < 1e-9);
}

#[test]
fn a_sine_gives_its_period() {
    let wave = sampled(|t| (12.3 * t + 0.4).sin());
    assert!((wave.period() - std::f64::consts::TAU / 12.3).abs() < 1e-6);
}

#[test]
fn a_question_without_a_change_has_no_answer() {
    let root = bisect(0.0, 2.0, 30, |x| Ok(x * x > 2.0)).unwrap();
    assert!((root - 2f64.sqrt()).abs() < 1e-8);
    assert!(bisect(0.0, 1.0, 30, |_| Ok(true)).unwrap().is_nan());
    assert!(bisect(0.0, 1.0, 30, |_| Ok(false)).unwrap().is_nan());
}
