//! Random strokes through random bodies: all invariants after every tick.

#[path = "../examples/support/strokes.rs"]
mod strokes;

#[test]
fn random_strokes_break_no_invariant_and_leave_no_bridge() {
    let tally = strokes::run(200, 2026, true);
    assert_eq!(tally.failures, 0, "{tally:#?}");
    assert!(tally.carried_out * 100 >= tally.strokes * 98, "{tally:#?}");
    assert!(tally.worst_area < 1e-5, "{tally:#?}");
}
