//! Islands: bodies linked by contacts and constraints, their number of substeps, and the substep loop of each kind of
//! island.

pub(crate) mod air;
pub(crate) mod cloth_substeps;
pub(crate) mod compliance;
pub(crate) mod free_motion;
pub(crate) mod impact_substeps;
pub(crate) mod implicit;
pub(crate) mod joints;
pub(crate) mod loads;
pub(crate) mod momentum;
pub(crate) mod reaction;
pub(crate) mod soft_body;
mod union;

pub(crate) use union::Islands;
