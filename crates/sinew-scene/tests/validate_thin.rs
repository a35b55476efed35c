//! The cases of ropes, cloth and pressed bodies that the engine passes, run as tests.
//!
//! Long cases are for `cargo xtask full`. A case that is known to be out is not asserted here: `sinew validate` shows it with its reason.

use sinew_scene::validate::cases;

/// Every model that claims a case and is not known to be out passes it.
fn passes(id: &str) {
    let claimed: Vec<_> = cases().filter(|c| c.id == id && c.known.is_none()).collect();
    assert!(!claimed.is_empty(), "nobody claims {id}");
    for case in claimed {
        let readings = (case.run)().unwrap_or_else(|e| panic!("{id} [{}] could not run: {e}", case.model));
        assert!(!readings.is_empty(), "{id} [{}] reads nothing", case.model);
        let failed: Vec<_> = readings.iter().filter(|r| r.pass == Some(false)).collect();
        assert!(failed.is_empty(), "{id} [{}]: {failed:#?}", case.model);
    }
}

#[test]
fn a_rope_hangs_as_a_catenary() {
    passes("C01");
}

#[test]
fn weights_over_a_wheel_fall_as_atwood_found() {
    passes("C02");
}

#[test]
fn a_rope_round_a_post_holds_by_eulers_exponential() {
    passes("C03");
}

#[test]
fn chains_and_strings_swing_in_their_modes() {
    passes("C04");
    passes("C05");
}

#[test]
fn an_elastic_rope_stretches_under_weight_and_load() {
    passes("C06");
}

#[test]
fn a_rope_runs_off_a_table_ever_faster() {
    passes("C07");
}

#[test]
fn a_landing_chain_presses_with_three_times_its_weight() {
    passes("C08");
}

#[test]
fn masses_on_springs_keep_period_and_decrement() {
    passes("C09");
    passes("C10");
}

#[test]
fn a_yo_yo_falls_with_two_thirds_of_gravity() {
    passes("C11");
}

#[test]
fn a_hanging_sheet_stretches_by_half_its_weight() {
    passes("K01");
}

#[test]
fn a_strip_hangs_over_as_the_heavy_elastica() {
    passes("K02");
}

#[test]
fn a_balloon_grows_as_laplace_says() {
    passes("K05");
}

#[test]
fn a_cylinder_with_held_ends_is_stiffer() {
    passes("E29");
}

#[test]
#[ignore = "long: half a minute"]
fn a_cloth_lies_on_a_ball() {
    passes("K03");
}

#[test]
#[ignore = "long: some seconds"]
fn a_held_disc_drapes_as_a_plate() {
    passes("K04");
}
