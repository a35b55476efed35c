//! The fast cases of R14 to R26, as a user of the library runs them: every reading passes.

use sinew_scene::validate::{Reading, cases};

/// Runs a case and keeps the readings that the filter wants.
fn readings(id: &str, wanted: impl Fn(&Reading) -> bool) -> Vec<Reading> {
    let case = cases().find(|c| c.id == id).expect("the case is in the list");
    let all = (case.run)().expect("its worlds can be built");
    all.into_iter().filter(wanted).collect()
}

fn assert_all(id: &str, wanted: impl Fn(&Reading) -> bool) {
    let readings = readings(id, wanted);
    assert!(!readings.is_empty(), "{id} measures nothing");
    let failed: Vec<_> = readings.iter().filter(|r| r.pass != Some(true)).collect();
    assert!(failed.is_empty(), "{id}: {failed:#?}");
}

#[test]
fn r14_rod_and_dominoes_fall_as_they_should() {
    assert_all("R14", |_| true);
}

#[test]
fn r16_mass_ratio_stands_at_1_ms() {
    assert_all("R16", |r| !r.quantity.ends_with("(60 Hz)"));
}

#[test]
fn r17_cards_stand_and_collapse() {
    assert_all("R17", |_| true);
}

#[test]
fn r18_bricks_hang_over() {
    assert_all("R18", |_| true);
}

#[test]
fn r20_painleve_stays_finite_and_gains_no_energy() {
    assert_all("R20", |r| r.quantity.starts_with("finite") || r.quantity.starts_with("energy"));
}

#[test]
fn r21_periods_in_the_bowl() {
    assert_all("R21", |r| r.quantity.starts_with('T'));
}

#[test]
fn r23_block_on_a_free_wedge() {
    assert_all("R23", |_| true);
}

#[test]
fn r24_rolling_on_a_plank() {
    assert_all("R24", |_| true);
}

#[test]
fn r25_grip_and_rebound() {
    assert_all("R25", |r| r.quantity.ends_with("grip") || r.quantity.starts_with("v_n"));
}
