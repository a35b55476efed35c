//! The fast cases of R14 to R26, as a user of the library runs them: every reading passes.

use super::{passes, passes_in};

#[test]
fn r14_rod_and_dominoes_fall_as_they_should() {
    passes("R14");
}

#[test]
fn r16_mass_ratio_stands_at_1_ms() {
    passes_in("R16", |r| !r.quantity.ends_with("(60 Hz)"));
}

#[test]
fn r17_cards_stand_and_collapse() {
    passes("R17");
}

#[test]
fn r18_bricks_hang_over() {
    passes("R18");
}

#[test]
fn r20_painleve_stays_finite_and_gains_no_energy() {
    passes_in("R20", |r| r.quantity.starts_with("finite") || r.quantity.starts_with("energy"));
}

#[test]
fn r21_periods_in_the_bowl() {
    passes_in("R21", |r| r.quantity.starts_with('T'));
}

#[test]
fn r23_block_on_a_free_wedge() {
    passes("R23");
}

#[test]
fn r24_rolling_on_a_plank() {
    passes("R24");
}

#[test]
fn r25_grip_and_rebound() {
    passes_in("R25", |r| r.quantity.ends_with("grip") || r.quantity.starts_with("v_n"));
}
