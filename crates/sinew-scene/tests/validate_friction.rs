//! All cases of friction, run as tests: they are short.

use sinew_scene::validate::cases;

#[test]
fn every_case_of_friction_passes() {
    let mut seen = std::collections::BTreeSet::new();
    for case in cases().filter(|c| c.group == "friction" && c.known.is_none()) {
        let readings = (case.run)().unwrap_or_else(|e| panic!("{} [{}] could not run: {e}", case.id, case.model));
        let failed: Vec<_> = readings.iter().filter(|r| r.pass == Some(false)).collect();
        assert!(!readings.is_empty() && failed.is_empty(), "{} [{}]: {failed:#?}", case.id, case.model);
        seen.insert(case.id);
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
}
