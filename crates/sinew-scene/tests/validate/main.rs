//! The cases of `sinew validate` that the engine passes, run as tests, one file a group.
//!
//! Long cases are for `cargo xtask full`. A case that is known to be out is not asserted here: `sinew validate` shows it with
//! its reason.

mod elastic;
mod friction;
mod rigid;
mod rigid_more;
mod thin;
mod tools;

use sinew_scene::validate::{Case, Reading, cases};

/// Every model that claims a case and is not known to be out passes it.
fn passes(id: &str) {
    let mut claimed = cases().filter(|c| c.id == id && c.known.is_none()).peekable();
    assert!(claimed.peek().is_some(), "nobody claims {id}");
    claimed.for_each(|case| stands(case, |_| true));
}

/// The readings that the filter wants pass, of a case of which others may be known to be out.
fn passes_in(id: &str, wanted: impl Fn(&Reading) -> bool) {
    let case = cases().find(|c| c.id == id).unwrap_or_else(|| panic!("no case {id}"));
    stands(case, wanted);
}

/// All readings of a case that are wanted are within their bounds, and there are some.
fn stands(case: &Case, wanted: impl Fn(&Reading) -> bool) {
    let Case { id, model, .. } = case;
    let all = (case.run)().unwrap_or_else(|e| panic!("{id} [{model}] could not run: {e}"));
    let readings: Vec<_> = all.into_iter().filter(wanted).collect();
    assert!(!readings.is_empty(), "{id} [{model}] reads nothing");
    let failed: Vec<_> = readings.iter().filter(|r| r.pass == Some(false)).collect();
    assert!(failed.is_empty(), "{id} [{model}]: {failed:#?}");
}
