//! All cases of friction, run as tests: they are short.

use super::stands;
use sinew_scene::validate::cases;

#[test]
fn every_case_of_friction_passes() {
    let mut seen = std::collections::BTreeSet::new();
    for case in cases().filter(|c| c.group == "friction" && c.known.is_none()) {
        stands(case, |_| true);
        seen.insert(case.id);
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
}
