//! Tools that a hand moves.

use super::passes;

#[test]
fn a_virtual_wall_is_stable_to_its_limit() {
    passes("H05");
    passes("H06");
    passes("H07");
}

#[test]
fn couplings_stand_in_series_and_wrenches_have_their_arms() {
    passes("H08");
    passes("H09");
    passes("H15");
}

#[test]
fn the_force_is_bounded_at_first_touch_and_after_a_stall() {
    passes("H12");
    passes("H14");
}
