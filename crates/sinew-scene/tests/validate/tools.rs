//! Tools that a hand moves.

use super::passes;

#[test]
fn probes_have_the_force_of_hertz_and_boussinesq() {
    passes("H01");
    passes("H02");
}

#[test]
fn a_virtual_wall_is_passive_and_stable_to_its_limit() {
    passes("H03");
    passes("H05");
    passes("H06");
    passes("H07");
}

#[test]
fn couplings_stand_in_series_and_grips_carry_the_weight() {
    passes("H08");
    passes("H09");
    passes("H10");
    passes("H15");
}

#[test]
fn the_force_is_continuous_at_first_touch_across_updates_and_after_a_stall() {
    passes("H04");
    passes("H12");
    passes("H13");
    passes("H14");
}
